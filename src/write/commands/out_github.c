/* Annotations of GitHub Actions ("workflow commands"):
 *     ::error file=PATH,line=N,title=TITLE::MESSAGE
 * In all parts '%', CR and LF are written as %25, %0D, %0A; in properties also ':' and ',' as %3A, %2C. */
#include <string.h>

#include "write/commands/out_check.h"
#include "write/commands/page_views.h"

static void add_escaped(struct oc_buf *b, const char *text, const char *special)
{
    for (; *text; text++)
        if (strchr(special, *text))
            oc_buf_printf(b, "%%%02X", (unsigned char)*text);
        else
            oc_buf_char(b, *text);
}

static void add_property(struct oc_buf *b, const char *name, const char *text)
{
    if (!*text)
        return;
    oc_buf_printf(b, "%s%s=", b->data[b->n - 1] == ' ' ? "" : ",", name);
    add_escaped(b, text, "%\r\n:,");
}

/* level: "error", "warning", "notice"; file "": none; line 0: none. */
static void write_annotation(FILE *f, const char *level, const char *file, uint32_t line, const char *title,
                             const char *message)
{
    struct oc_buf b = {0};
    char number[16] = "";
    if (line)
        snprintf(number, sizeof(number), "%u", line);
    oc_buf_printf(&b, "::%s ", level);
    add_property(&b, "file", file);
    add_property(&b, "line", number);
    add_property(&b, "title", title);
    oc_buf_str(&b, "::");
    add_escaped(&b, message, "%\r\n");
    oc_print_line(f, "%s", b.data);
    oc_buf_free(&b);
}

/* A limit from a file is annotated there, one from the command line at the model. */
void oc_check_github(const struct oc_check *c, FILE *f)
{
    struct oc_arena a = {0};
    for (size_t i = 0; i < c->n; i++) {
        const struct oc_limit_verdict *v = &c->verdict[i];
        const struct oc_limit *l = v->limit;
        if (v->result != OC_CHECK_PASSED)
            write_annotation(
                f, v->result == OC_CHECK_FAILED ? "error" : "warning", l->file ? l->file : c->in->model->path,
                l->file ? l->line : 0,
                oc_printf(&a, "onnxcost check: %s %s", v->title, oc_check_result_name(v->result)), v->reason);
    }
    oc_print_line(f, "%s", oc_check_summary(&a, c));
    oc_arena_free(&a);
}

/* Whether B exceeds A by more than the default tolerance of baselines: 0 for counts, 10 % for times. */
static bool is_worse(const struct oc_diff_total *t)
{
    enum oc_gate_metric m = t->is_time ? OC_GATE_LATENCY : OC_GATE_MACS;
    struct oc_tolerance tolerance;
    oc_tolerance_parse(m, oc_gate_info[m].tolerance, &tolerance);
    struct oc_gate_number a = {.n = t->n[0], .v = t->v[0]}, limit = oc_tolerance_limit(m, a, &tolerance);
    return t->is_time ? t->v[1] > limit.v : t->n[1] > limit.n;
}

/* A row of the totals: title, A, B, difference, percent. */
static void annotate_total(struct oc_diff_view *v, const struct oc_diff_total *t, const char *const *cell,
                           FILE *f)
{
    bool known = t->known[0] && t->known[1];
    if (!known || (!t->unknown_rows && (t->is_time ? t->v[0] == t->v[1] : t->n[0] == t->n[1])))
        return;
    const char *message = t->unknown_rows ? oc_printf(&v->arena, "%s -> %s (difference unknown: %u rows)",
                                                      cell[1], cell[2], t->unknown_rows)
                                          : oc_printf(&v->arena, "%s -> %s (%s%s%s)", cell[1], cell[2],
                                                      cell[3], *cell[4] ? ", " : "", cell[4]);
    write_annotation(f, t->unknown_rows || is_worse(t) ? "warning" : "notice", v->d->in[1].model->path, 0,
                     oc_printf(&v->arena, "onnxcost diff: %s", cell[0]), message);
}

void oc_diff_github(struct oc_diff_view *v, FILE *f)
{
    struct oc_sheet s;
    size_t row = 0;
    oc_diff_totals(v, &s);
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        if (v->has[m])
            annotate_total(v, &v->d->total[m], &s.cell[5 * row++], f);
    oc_print_line(f, "%s", oc_diff_sentence(v));
    oc_sheet_free(&s);
}
