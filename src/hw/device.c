#include "base/buf.h"
#include "base/c_locale.h"
#include "hw/hwdb.h"

#include "base/diag.h"
#include "base/wrap.h"

#include <string.h>

struct oc_device_info oc_device_info(const struct oc_device *device)
{
    return device->info;
}

size_t oc_device_figures(const struct oc_device *device, const struct oc_hw_figure **out)
{
    *out = device->figure;
    return device->n_figure;
}

const struct oc_hw_level *oc_device_dram(const struct oc_device *d)
{
    return d->n_level ? &d->level[d->n_level - 1] : NULL;
}

/* ---- as text ----------------------------------------------------------------------------------------- */

enum { COL_FIGURE, COL_VALUE, COL_BASIS, COL_CLOCK, COL_SOURCE, COL_COUNT };

struct text {
    const char *(*line)[COL_COUNT]; /* a heading and one line per figure */
    size_t n_line, width[COL_COUNT];
    unsigned width_chars;
    const struct oc_hw_source **source; /* in the order of first use: [1], [2] ... */
    size_t n_source;
};

static size_t source_number(struct text *t, const struct oc_hw_source *s)
{
    size_t i = 0;
    while (i < t->n_source && t->source[i] != s)
        i++;
    if (i == t->n_source)
        t->source[t->n_source++] = s;
    return i + 1;
}

static const char *source_cell(struct text *t, struct oc_arena *a, const struct oc_hw_figure *f)
{
    const char *cell = "";
    for (size_t i = 0; i < OC_HW_SOURCES && f->source[i]; i++)
        cell = oc_printf(a, "%s[%zu]", cell, source_number(t, f->source[i]));
    return f->section ? oc_printf(a, "%s %s", cell, f->section) : *cell ? cell : "-";
}

static void add_line(struct text *t, const char *const cell[COL_COUNT])
{
    for (size_t c = 0; c < COL_COUNT; c++) {
        size_t n = strlen(cell[c]);
        t->line[t->n_line][c] = cell[c];
        t->width[c] = n > t->width[c] ? n : t->width[c];
    }
    t->n_line++;
}

/* "vector f32, avx2, 1 core" */
static const char *figure_name(struct oc_arena *a, const struct oc_hw_figure *f)
{
    return oc_printf(a, "%s %s%s%s%s%s%s%s%s%s%s%s", f->group, f->what, f->accumulate ? " into " : "",
                     f->accumulate ? f->accumulate : "", f->sparse ? " (sparse)" : "", f->isa ? ", " : "",
                     f->isa ? f->isa : "", f->mode ? ", " : "", f->mode ? f->mode : "", f->cores ? ", " : "",
                     f->cores ? f->cores : "",
                     !f->cores                    ? ""
                     : strcmp(f->cores, "1") == 0 ? " core"
                                                  : " cores");
}

static void layout(struct text *t, struct oc_arena *a, const struct oc_device *d)
{
    static const char *const heading[COL_COUNT] = {"figure", "value", "basis", "clock", "source"};
    t->line = oc_alloc_array(a, d->n_figure + 1, sizeof(*t->line));
    t->source = OC_NEW_ARRAY(a, d->n_figure * OC_HW_SOURCES + 1, const struct oc_hw_source *);
    add_line(t, heading);
    for (size_t i = 0; i < d->n_figure; i++) {
        const struct oc_hw_figure *f = &d->figure[i];
        const char *const cell[COL_COUNT] = {
            [COL_FIGURE] = figure_name(a, f),      [COL_VALUE] = f->text,
            [COL_BASIS] = oc_basis_name(f->basis), [COL_CLOCK] = f->clock ? f->clock : "-",
            [COL_SOURCE] = source_cell(t, a, f),
        };
        add_line(t, cell);
    }
}

static void print_line(FILE *out, const struct text *t, size_t i)
{
    struct oc_buf b = {0};
    size_t indent = 0;
    for (size_t c = 0; c + 1 < COL_COUNT; c++) {
        oc_buf_printf(&b, "%-*s  ", (int)t->width[c], t->line[i][c]);
        indent += t->width[c] + 2;
    }
    oc_plain_say(oc_make_visible(b.data), indent, t->width_chars, t->line[i][COL_COUNT - 1], out);
    oc_buf_free(&b);
}

static void print_figures(const struct oc_device *d, unsigned width_chars, FILE *out, struct oc_arena *a)
{
    struct text t = {.width_chars = width_chars};
    layout(&t, a, d);
    print_line(out, &t, 0);
    for (size_t i = 0; i < d->n_figure; i++) {
        print_line(out, &t, i + 1);
        if (d->figure[i].formula)
            oc_plain_say("    =", 6, width_chars, d->figure[i].formula, out);
        if (d->figure[i].note)
            oc_plain_say("", 4, width_chars, d->figure[i].note, out);
    }
    if (d->f16_fallback)
        oc_plain_say("", 0, width_chars, "f16 work runs on the vector unit at its f32 peak", out);
    fprintf(out, "%s", t.n_source ? "\n" : "");
    for (size_t i = 0; i < t.n_source; i++) {
        const struct oc_hw_source *s = t.source[i];
        oc_plain_say(oc_printf(a, "[%zu]", i + 1), 4, width_chars,
                     oc_printf(a, "%s%s%s", s->title, s->section ? ", " : "", s->section ? s->section : ""),
                     out);
        if (s->url)
            oc_plain_say("", 4, width_chars, s->url, out);
    }
}

int oc_device_describe(const struct oc_device *device, unsigned width_chars, FILE *out, struct oc_err *err)
{
    OC_C_LOCALE;
    const struct oc_device_info *info = &device->info;
    struct oc_arena scratch = {0};
    const char *also = "";
    for (size_t i = 0; i < info->n_alias; i++)
        also = oc_printf(&scratch, "%s%s%s", also, i ? ", " : "", info->alias[i]);
    const struct {
        const char *label, *text;
    } line[] = {
        {"", oc_printf(&scratch, "%s: %s (%s, %s)", info->id, info->name, info->vendor, info->kind)},
        {"also: ", *also ? also : NULL},
        {"sku: ", info->sku},
        {"base: ", info->base},
        {"file: ", info->file},
    };
    for (size_t i = 0; i < OC_COUNT(line); i++)
        if (line[i].text)
            oc_plain_say(line[i].label, strlen(line[i].label), width_chars, line[i].text, out);
    for (size_t i = 0; i < info->n_set; i++)
        oc_plain_say("set: ", 5, width_chars,
                     oc_printf(&scratch, "%s = %s (in the file: %s)", info->set[i].key, info->set[i].value,
                               info->set[i].before ? info->set[i].before : "nothing"),
                     out);
    fprintf(out, "\n");
    print_figures(device, width_chars, out, &scratch);
    oc_arena_free(&scratch);
    return ferror(out) ? oc_fail(err, OC_EOUTPUT, "cannot write the device '%s'", info->id) : 0;
}
