/* Checks beyond those of the reader, which recomputes every formula (2 %) and requires basis and source:
 * whether peaks are units x operations x clock of the device, whether a sparse rate is used as a dense one,
 * whether names and ranges are plausible. With a list of problems the reader continues after each. */
#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/map.h"
#include "hw/figure.h"
#include "hw/hw_check.h"
#include "hw/hw_table.h"
#include "hw/hwdb.h"

#define WORDS 24 /* number of formula factors examined */

struct oc_hw_lint {
    struct oc_arena arena;
    struct oc_hw_findings findings;
    struct oc_device_list list;
    struct oc_map names;
    size_t n_file, n_figure, n_recomputed;
};

void oc_hw_check_note(const struct oc_hw_check *c, uint32_t line, const char *fmt, ...)
{
    char text[500];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    oc_hw_note(c->findings, c->d->info.file, line, "device '%.60s': %s", c->d->info.id, text);
}

uint32_t oc_hw_check_line(const struct oc_hw_check *c, const struct oc_hw_figure *f)
{
    return f->base ? c->d->line : f->line;
}

const char *oc_hw_check_name(const struct oc_hw_check *c, const struct oc_hw_figure *f)
{
    return oc_printf(c->arena, "%s %s%s%s", f->group, f->what, f->accumulate ? " into " : "",
                     f->accumulate ? f->accumulate : "");
}

static const struct oc_hw_figure *find(const struct oc_device *d, const char *group, const char *what)
{
    for (size_t i = 0; i < d->n_figure; i++)
        if (strcmp(d->figure[i].group, group) == 0 && strcmp(d->figure[i].what, what) == 0)
            return &d->figure[i];
    return NULL;
}

static bool is_peak(const struct oc_hw_figure *f)
{
    return f->clock != NULL;
}

/* ---- peaks are units x operations per cycle x clock -----------------------------------------------------
 */

/* Compares "108 SM * ..." with the device's count of SM, "6912 core" with a multiple of it, "1.41 GHz" with
 * its clock. */
static void check_factor(const struct oc_hw_check *c, const struct oc_hw_figure *f,
                         const struct oc_formula_word *w)
{
    static const char *const blocks[] = {"SM", "CU", "Xe-core"};
    const struct oc_hw_figure *count = find(c->d, "count", w->word), *clock;
    if (count && count->value != w->number)
        oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: formula has %.6g %s, the device has %.6g",
                         oc_hw_check_name(c, f), w->number, w->word, count->value);
    for (size_t i = 0; i < OC_COUNT(blocks) && strcmp(w->word, "core") == 0; i++) {
        count = find(c->d, "count", blocks[i]);
        if (count && fmod(w->number, count->value) != 0)
            oc_hw_check_note(c, oc_hw_check_line(c, f),
                             "%s: formula has %.6g core, not a multiple of %.6g %s", oc_hw_check_name(c, f),
                             w->number, count->value, blocks[i]);
    }
    bool hz = strcmp(w->word, "MHz") == 0 || strcmp(w->word, "GHz") == 0;
    clock = hz && f->clock ? find(c->d, "clock", f->clock) : NULL;
    double value = w->number * (w->word[0] == 'M' ? 1e6 : 1e9);
    if (clock && fabs(clock->value - value) > OC_HW_TOLERANCE * clock->value)
        oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: formula has %.6g %s, the device's %s clock is %s",
                         oc_hw_check_name(c, f), w->number, w->word, f->clock, clock->text);
}

static void check_formula(const struct oc_hw_check *c, const struct oc_hw_figure *f)
{
    struct oc_formula_word word[WORDS];
    if (!f->formula) {
        const struct oc_hw_figure *clock = is_peak(f) ? find(c->d, "clock", f->clock) : NULL;
        bool counted = false;
        for (size_t i = 0; i < c->d->n_figure; i++)
            counted |= strcmp(c->d->figure[i].group, "count") == 0;
        if (clock && counted && f->basis != OC_BASIS_MEASURED)
            oc_hw_check_note(c, oc_hw_check_line(c, f),
                             "%s: needs a formula: the device has units and a %s clock",
                             oc_hw_check_name(c, f), f->clock);
        return;
    }
    size_t n = oc_formula_words(f->formula, word, WORDS);
    bool mixed = strchr(f->formula, '+') != NULL; /* several kinds of cores, each with its own clock */
    for (size_t i = 0; i < n && !mixed; i++)
        check_factor(c, f, &word[i]);
}

/* ---- ranges ----------------------------------------------------------------------------------------------
 */

static const struct {
    const char *unit, *group; /* group NULL: any */
    double min, max;
} ranges[] = {
    {"FLOP/s", NULL, 1e8, 1e18}, {"OP/s", NULL, 1e8, 1e18},    {"Hz", NULL, 5e7, 1e10},
    {"B/s", NULL, 1e8, 1e15},    {"B", "DRAM", 1.6e7, 1.6e13}, {"B", NULL, 1e3, 1e11},
    {"s", "latency", 1e-11, 1},  {"s", NULL, 1e-8, 0.1},       {"W", NULL, 0.1, 5000},
    {"", "count", 1, 1e6},
};

static void check_range(const struct oc_hw_check *c, const struct oc_hw_figure *f)
{
    for (size_t i = 0; i < OC_COUNT(ranges); i++) {
        if (strcmp(ranges[i].unit, f->unit) != 0 ||
            (ranges[i].group && strcmp(ranges[i].group, f->group) != 0))
            continue;
        if (f->value < ranges[i].min || f->value > ranges[i].max)
            oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: %s is not between %g and %g %s",
                             oc_hw_check_name(c, f), f->text, ranges[i].min, ranges[i].max, f->unit);
        return;
    }
}

/* ---- checks of a device, a file, the database --------------------------------------------------------- */

static void check_device(struct oc_hw_lint *l, const struct oc_hw_check *c)
{
    const struct oc_device *d = c->d;
    if (!d->info.sku)
        oc_hw_check_note(c, d->line,
                         "missing sku: name the variant of the product that the figures describe");
    for (size_t i = 0; i < d->n_figure; i++) {
        l->n_recomputed += d->figure[i].formula != NULL;
        check_formula(c, &d->figure[i]);
        check_range(c, &d->figure[i]);
    }
    oc_hw_check_peaks(c);
    oc_hw_check_memory(c);
    l->n_figure += d->n_figure;
}

static void check_name(struct oc_hw_lint *l, const struct oc_hw_check *c, size_t at, const char *name)
{
    const char *key = oc_hw_name_fold(&l->arena, name);
    uint32_t other = (uint32_t)at;
    if (oc_map_add(&l->names, key, strlen(key), &other, NULL))
        return;
    const struct oc_device *d = l->list.item[other];
    if (d != c->d &&
        strcmp(d->info.file, c->d->info.file) != 0) /* the reader reports duplicates within a file */
        oc_hw_check_note(c, c->d->line, "name '%.60s' is taken by device '%.60s' of %.200s:%u", name,
                         d->info.id, d->info.file, d->line);
}

static const struct oc_device *find_base(void *user, const char *id)
{
    const struct oc_device *found;
    return user && oc_hwdb_find(user, id, &found, NULL) == 0 ? found : NULL;
}

static void lint_file(struct oc_hw_lint *l, struct oc_hwdb *bases, const char *path)
{
    struct oc_err err = {0};
    struct oc_hw_reading how = {.arena = &l->arena,
                                .list = &l->list,
                                .find = bases ? find_base : NULL,
                                .user = bases,
                                .findings = &l->findings};
    size_t first = l->list.n;
    l->n_file++;
    if (oc_hw_read_path(&how, path, &err)) {
        const char *place = strstr(err.msg, ": line "), *text = place ? strchr(place + 7, ':') : NULL;
        oc_hw_note(&l->findings, path, err.line, "%s", text ? text + 2 : err.msg);
        return;
    }
    for (size_t i = first; i < l->list.n; i++) {
        struct oc_hw_check c = {&l->arena, &l->findings, l->list.item[i]};
        check_name(l, &c, i, c.d->info.id);
        for (size_t k = 0; k < c.d->info.n_alias; k++)
            check_name(l, &c, i, c.d->info.alias[k]);
        check_device(l, &c);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct oc_hw_finding *x = a, *y = b;
    int c = strcmp(x->file, y->file);
    return c ? c : x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->text, y->text);
}

int oc_hwdb_lint(struct oc_hwdb *db, const char *const *path, size_t n, struct oc_hw_lint **out,
                 struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_hw_lint *l = oc_xmalloc(sizeof(*l));
    *l = (struct oc_hw_lint){0};
    l->findings.arena = l->names.arena = &l->arena;
    for (size_t i = 0; i < n; i++)
        lint_file(l, db, path[i]);
    const char *file;
    for (size_t i = 0; !n && (file = oc_hwdb_file(db, i)); i++)
        lint_file(l, NULL, file);
    *out = NULL;
    if (!l->n_file) {
        oc_hw_lint_free(l);
        return oc_fail(err, OC_ENOTFOUND, "no hardware files found (set ONNXCOST_HWDB to their folder)");
    }
    if (l->findings.n)
        qsort(l->findings.item, l->findings.n, sizeof(*l->findings.item), by_place);
    *out = l;
    return 0;
}

size_t oc_hw_lint_findings(const struct oc_hw_lint *l, const struct oc_hw_finding **out)
{
    *out = l->findings.item;
    return l->findings.n;
}

void oc_hw_lint_free(struct oc_hw_lint *l)
{
    if (!l)
        return;
    oc_map_free(&l->names);
    free(l->findings.item);
    free(l->list.item);
    oc_arena_free(&l->arena);
    free(l);
}

/* ---- as text, CSV and JSON --------------------------------------------------------------------------- */

int oc_hw_lint_write(const struct oc_hw_lint *l, const char *format, FILE *out, struct oc_err *err)
{
    OC_C_LOCALE;
    static const struct oc_hw_column columns[] = {
        {"file", "file", false}, {"line", "line", true}, {"text", "text", false}};
    struct oc_arena arena = {0};
    struct oc_hw_table t = {.arena = &arena, .column = columns, .n_column = OC_COUNT(columns)};
    bool text = !format || (strcmp(format, "csv") != 0 && strcmp(format, "json") != 0);
    for (size_t i = 0; i < l->findings.n; i++) {
        const struct oc_hw_finding *f = &l->findings.item[i];
        struct oc_hw_cell *cell = oc_hw_row(&t);
        cell[0] = oc_hw_text(f->file);
        cell[1] = oc_hw_number(&arena, f->line, "");
        cell[2] = oc_hw_text(f->text);
        if (text)
            oc_print_line(out, "%s:%u: %s", f->file, f->line, f->text);
    }
    if (text)
        fprintf(
            out,
            "%zu devices with %zu figures in %zu files, %zu recomputed from their formulas: %zu problems\n",
            l->list.n, l->n_figure, l->n_file, l->n_recomputed, l->findings.n);
    else
        oc_hw_table_print(&t, format, out);
    oc_hw_table_free(&t);
    oc_arena_free(&arena);
    return ferror(out) ? oc_fail(err, OC_EOUTPUT, "cannot write the problems") : 0;
}
