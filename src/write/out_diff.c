#include "write/out_diff.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "write/plain_table.h"

static void plain(struct oc_diff_view *v, void (*make)(struct oc_diff_view *, struct oc_sheet *), bool gap,
                  FILE *f)
{
    struct oc_sheet s;
    make(v, &s);
    s.changes = true;
    if (s.n_row && gap)
        fputc('\n', f);
    if (s.n_row)
        oc_sheet_plain(&s, v->o->width_chars, v->o->color, f);
    oc_sheet_free(&s);
}

static void sides(struct oc_diff_view *v, FILE *f)
{
    struct oc_sheet s;
    oc_diff_sides(v, &s);
    for (size_t i = 0; i < s.n_row; i++)
        oc_plain_say(s.cell[2 * i], 12, v->o->width_chars, s.cell[2 * i + 1], f);
    oc_sheet_free(&s);
}

static void write_table(struct oc_diff_view *v, FILE *f)
{
    const char *gaps = oc_diff_gaps(v);
    sides(v, f);
    plain(v, oc_diff_totals, true, f);
    fputc('\n', f);
    oc_print_line(f, "%s", oc_diff_sentence(v));
    if (gaps)
        oc_print_line(f, "%s", gaps);
    plain(v, oc_diff_kinds, true, f);
    plain(v, oc_diff_fusions, true, f);
    plain(v, oc_diff_list, true, f);
    if (v->n_row < v->n_wanted)
        fprintf(f, "%u of %u rows that differ; --top 0 shows all\n", v->n_row, v->n_wanted);
    plain(v, oc_diff_beside, true, f);
}

static void markdown(struct oc_diff_view *v, void (*make)(struct oc_diff_view *, struct oc_sheet *), FILE *f)
{
    struct oc_sheet s;
    make(v, &s);
    if (s.n_row)
        oc_sheet_markdown(&s, f);
    oc_sheet_free(&s);
}

static void write_markdown(struct oc_diff_view *v, FILE *f)
{
    const char *gaps = oc_diff_gaps(v);
    fputs("### onnxcost diff\n\n", f);
    markdown(v, oc_diff_sides, f);
    markdown(v, oc_diff_totals, f);
    fprintf(f, "%s\n\n", oc_diff_sentence(v));
    if (gaps)
        fprintf(f, "%s\n\n", gaps);
    markdown(v, oc_diff_kinds, f);
    markdown(v, oc_diff_fusions, f);
    markdown(v, oc_diff_list, f);
    if (v->n_row < v->n_wanted)
        fprintf(f, "%u of %u rows that differ\n\n", v->n_row, v->n_wanted);
    markdown(v, oc_diff_beside, f);
}

int oc_diff_write(const struct oc_diff *d, const struct oc_diff_write_opts *opts, FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    static const struct {
        const char *name;
        void (*write)(struct oc_diff_view *v, FILE *f);
        bool whole;
    } forms[] = {{"table", write_table, false},    {"csv", oc_diff_csv, true},
                 {"json", oc_diff_json, true},     {"markdown", write_markdown, false},
                 {"md", write_markdown, false},    {"html", oc_diff_html, false},
                 {"github", oc_diff_github, false}};
    for (size_t i = 0; i < OC_COUNT(forms); i++) {
        struct oc_diff_view v;
        if (opts->format && strcmp(forms[i].name, opts->format) != 0)
            continue;
        if (oc_diff_view_make(&v, d, opts, forms[i].whole, err))
            return -1;
        forms[i].write(&v, f);
        oc_diff_view_free(&v);
        return 0;
    }
    return oc_fail(err, OC_EARG, "diff has no format '%s'", opts->format);
}
