/* Checks beyond those of the reader, which recomputes every formula (2 %) and requires basis and source:
 * whether peaks are units x operations x clock of the device, whether a sparse rate is used as a dense one,
 * whether names and ranges are plausible. With a list of problems the reader continues after each. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/str.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

#define TOLERANCE 0.02

struct hw_check {
    struct oc_arena *arena;
    struct oc_hw_findings *findings;
    const struct oc_device *d;
};

#define WORDS 24 /* number of formula factors examined */

/* f: the figure, NULL: the device. Inherited figures are checked at their base; their problems here are those of the
 * derived device. */
static void __attribute__((format(printf, 3, 4)))
hw_check_note(const struct hw_check *c, const struct oc_hw_figure *f, const char *fmt, ...)
{
    char text[500];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    bool into = f && f->accumulate; /* "matrix f16 into f32: " */
    oc_hw_note(c->findings, c->d->info->file, f && !f->base ? f->line : c->d->line,
               "device '%.60s': %s%s%s%s%s%s%s", c->d->info->id, f ? f->group : "", f ? " " : "",
               f ? f->what : "", into ? " into " : "", into ? f->accumulate : "", f ? ": " : "", text);
}

static bool is_peak(const struct oc_hw_figure *f)
{
    return f->clock != NULL;
}

/* ---- peaks are units x operations per cycle x clock ------------------------------------------------- */

/* Compares "108 SM * ..." with the device's count of SM, "6912 core" with a multiple of it, "1.41 GHz" with
 * its clock. */
static void check_factor(const struct hw_check *c, const struct oc_hw_figure *f,
                         const struct oc_formula_word *w)
{
    static const char *const blocks[] = {"SM", "CU", "Xe-core"};
    const struct oc_hw_figure *count = oc_hw_figure_of(c->d, "count", w->word), *clock;
    if (count && count->value != w->number)
        hw_check_note(c, f, "formula has %.6g %s, the device has %.6g", w->number, w->word, count->value);
    for (size_t i = 0; i < OC_COUNT(blocks) && strcmp(w->word, "core") == 0; i++) {
        count = oc_hw_figure_of(c->d, "count", blocks[i]);
        if (count && fmod(w->number, count->value) != 0)
            hw_check_note(c, f, "formula has %.6g core, not a multiple of %.6g %s", w->number, count->value,
                          blocks[i]);
    }
    bool hz = strcmp(w->word, "MHz") == 0 || strcmp(w->word, "GHz") == 0;
    clock = hz && f->clock ? oc_hw_figure_of(c->d, "clock", f->clock) : NULL;
    double value = w->number * (w->word[0] == 'M' ? 1e6 : 1e9);
    if (clock && fabs(clock->value - value) > TOLERANCE * clock->value)
        hw_check_note(c, f, "formula has %.6g %s, the device's %s clock is %s", w->number, w->word, f->clock,
                      clock->text);
}

static void hw_lint_check_formula(const struct hw_check *c, const struct oc_hw_figure *f)
{
    struct oc_formula_word word[WORDS];
    if (!f->formula) {
        const struct oc_hw_figure *clock = is_peak(f) ? oc_hw_figure_of(c->d, "clock", f->clock) : NULL;
        bool counted = false;
        for (size_t i = 0; i < c->d->n_figure; i++)
            counted |= strcmp(c->d->figure[i].group, "count") == 0;
        if (clock && counted && f->basis != OC_BASIS_MEASURED)
            hw_check_note(c, f, "needs a formula: the device has units and a %s clock", f->clock);
        return;
    }
    size_t n = oc_formula_words(f->formula, word, WORDS);
    bool mixed = strchr(f->formula, '+') != NULL; /* several kinds of cores, each with its own clock */
    for (size_t i = 0; i < n && !mixed; i++)
        check_factor(c, f, &word[i]);
}

/* ---- the limit of an instruction set ------------------------------------------------------------------- */

double oc_isa_ops_per_cycle(const char *isa, unsigned cls)
{
    static const struct {
        const char *name; /* or its beginning */
        double bits, multiply_adds;
    } sets[] = {{"avx512", 512, 2}, {"avx", 256, 2}, {"sse", 128, 2}, {"neon", 128, 4}, {"asimd", 128, 4}};
    static const unsigned bits_of[OC_CLASS_COUNT] = {
        [OC_CLASS_F64] = 64, [OC_CLASS_F32] = 32,  [OC_CLASS_I32] = 32, [OC_CLASS_I64] = 64,
        [OC_CLASS_F16] = 16, [OC_CLASS_BF16] = 16, [OC_CLASS_I16] = 16, [OC_CLASS_I8] = 8};
    unsigned bits = isa && cls < OC_CLASS_COUNT ? bits_of[cls] : 0;
    if (bits && !strncmp(isa, "amx", 3))
        return 16.0 * 16 * 64 * 8 / bits * 2 / 16;
    for (size_t i = 0; bits && i < OC_COUNT(sets); i++)
        if (!strncmp(isa, sets[i].name, strlen(sets[i].name)))
            return 2 * sets[i].multiply_adds * sets[i].bits / bits;
    return 0;
}

/* Measured peaks: cores x operations per cycle x the highest clock, which may have been higher while the peak
 * was measured. */
#define CLOCK_CHANGES 1.5

static void check_isa(const struct hw_check *c, const struct oc_hw_figure *f)
{
    const struct oc_device *d = c->d;
    double limit = oc_isa_ops_per_cycle(f->isa, oc_class_by_name(f->what)), clock = 0;
    const struct oc_hw_figure *cores = oc_hw_figure_of(d, "count", "core");
    cores = cores ? cores : oc_hw_figure_of(d, "count", "thread");
    for (size_t i = 0; i < d->n_figure; i++)
        clock = !strcmp(d->figure[i].group, "clock") ? fmax(clock, d->figure[i].value) : clock;
    double n = f->cores ? (double)strtol(f->cores, NULL, 10) : cores ? cores->value : 0;
    if (limit > 0 && n > 0 && clock > 0 && f->value > CLOCK_CHANGES * limit * n * clock)
        hw_check_note(c, f, "%.3g operations per cycle and core; the limit of %s is %g", f->value / n / clock,
                      f->isa, limit);
}

/* ---- ranges ----------------------------------------------------------------------------------------- */

static const struct {
    const char *unit, *group; /* group NULL: any */
    double min, max;
} ranges[] = {
    {"FLOP/s", NULL, 1e8, 1e18}, {"OP/s", NULL, 1e8, 1e18},    {"Hz", NULL, 5e7, 1e10},
    {"B/s", NULL, 1e8, 1e15},    {"B", "DRAM", 1.6e7, 1.6e13}, {"B", NULL, 1e3, 1e11},
    {"s", "latency", 1e-11, 1},  {"s", NULL, 1e-8, 0.1},       {"W", NULL, 0.1, 5000},
    {"", "count", 1, 1e6},
};

static void check_range(const struct hw_check *c, const struct oc_hw_figure *f)
{
    for (size_t i = 0; i < OC_COUNT(ranges); i++) {
        if (strcmp(ranges[i].unit, f->unit) != 0 ||
            (ranges[i].group && strcmp(ranges[i].group, f->group) != 0))
            continue;
        if (f->value < ranges[i].min || f->value > ranges[i].max)
            hw_check_note(c, f, "%s is not between %g and %g %s", f->text, ranges[i].min, ranges[i].max,
                          f->unit);
        return;
    }
}

/* ---- checks of a device, a file, the database ------------------------------------------------------- */

static void check_peaks(const struct hw_check *c);

static void check_memory(const struct hw_check *c);

static void check_device(struct oc_hw_lint *l, const struct hw_check *c)
{
    const struct oc_device *d = c->d;
    if (!d->info->sku)
        hw_check_note(c, NULL, "missing sku: name the variant of the product that the figures describe");
    for (size_t i = 0; i < d->n_figure; i++) {
        l->n_recomputed += d->figure[i].formula != NULL;
        hw_lint_check_formula(c, &d->figure[i]);
        check_isa(c, &d->figure[i]);
        check_range(c, &d->figure[i]);
    }
    check_peaks(c);
    check_memory(c);
    l->n_figure += d->n_figure;
}

static void check_name(struct oc_hw_lint *l, const struct hw_check *c, size_t at, const char *name)
{
    const char *key = oc_hw_name_fold(&l->arena, name);
    uint32_t other = (uint32_t)at;
    if (oc_map_add(&l->names, key, strlen(key), &other, NULL))
        return;
    const struct oc_device *d = l->list.item[other];
    if (d != c->d &&
        strcmp(d->info->file, c->d->info->file) != 0) /* the reader reports duplicates within a file */
        hw_check_note(c, NULL, "name '%.60s' is taken by device '%.60s' of %.200s:%u", name, d->info->id,
                      d->info->file, d->line);
}

static const struct oc_device *hw_lint_find_base(void *user, const char *id)
{
    const struct oc_device *found;
    return user && oc_hwdb_find(user, id, &found, NULL) == 0 ? found : NULL;
}

static void lint_file(struct oc_hw_lint *l, struct oc_hwdb *bases, const char *path)
{
    struct oc_err err = {0};
    struct oc_hw_reading how = {.arena = &l->arena,
                                .list = &l->list,
                                .find = bases ? hw_lint_find_base : NULL,
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
        struct hw_check c = {&l->arena, &l->findings, l->list.item[i]};
        check_name(l, &c, i, c.d->info->id);
        for (size_t k = 0; k < c.d->info->n_alias; k++)
            check_name(l, &c, i, c.d->info->alias[k]);
        check_device(l, &c);
    }
}

static int hw_lint_by_place(const void *a, const void *b)
{
    const struct oc_hw_finding *x = a, *y = b;
    int c = strcmp(x->file, y->file);
    return c ? c : x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->text, y->text);
}

int oc_hwdb_lint(struct oc_hwdb *db, const char *const *path, size_t n, struct oc_hw_lint **out,
                 struct oc_err *err)
{
    OC_ENTRY(err);
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
        qsort(l->findings.item, l->findings.n, sizeof(*l->findings.item), hw_lint_by_place);
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

/* ---- memories --------------------------------------------------------------------------------------- */

/* Memories: compares the bandwidth implied by the name of the type, and checks data rates against the type's
 * maximum. */

#define ROUNDING 0.03 /* Intel writes 41.6 GB/s for two channels of DDR4-2666 */

/* Highest data rate per pin of parts of the type on sale, Gbit/s. Longer names first. */
static const struct {
    const char *type;
    double max;
} rates[] = {
    {"LPDDR5X", 10.7}, {"LPDDR5", 6.4}, {"LPDDR4", 4.267}, {"GDDR5X", 12}, {"GDDR6X", 24},
    {"GDDR5", 9},      {"GDDR6", 24},   {"GDDR7", 36},     {"DDR4", 3.2},  {"DDR5", 8.8},
    {"HBM2e", 3.6},    {"HBM3e", 9.8},  {"HBM2", 2.43},    {"HBM3", 6.4},
};

static bool hw_lint_starts_with(const char *text, const char *with)
{
    size_t n = strlen(with);
    for (size_t i = 0; i < n; i++)
        if (oc_fold_char(text[i]) != oc_fold_char(with[i]))
            return false;
    return true;
}

/* The number before the word: ", 8 channels" is 8 for " channel"; 0 if there is none. */
static double number_before(const char *text, const char *word)
{
    const char *end = strstr(text, word), *p = end;
    while (p && p > text && oc_is_digit(p[-1]))
        p--;
    return p && p < end ? (double)strtol(p, NULL, 10) : 0;
}

/* Bandwidth implied by "DDR5-4800, 8 channels" or "LPDDR4X-4267, 32 bit". */
static void check_type(const struct hw_check *c, const struct oc_hw_level *level)
{
    const struct oc_hw_figure *f = level->bandwidth;
    const char *dash = strchr(level->type, '-');
    double rate = dash ? (double)strtol(dash + 1, NULL, 10) * 1e6 : 0;
    double bytes = 8 * number_before(level->type, " channel") + number_before(level->type, " bit") / 8;
    if (rate <= 0 || bytes <= 0 || fabs(rate * bytes - f->value) <= ROUNDING * f->value)
        return;
    hw_check_note(c, f, "%s gives %.6g GB/s, value is %s", level->type, rate * bytes / 1e9, f->text);
}

static double most_of(const char *type)
{
    for (size_t i = 0; i < OC_COUNT(rates); i++)
        if (hw_lint_starts_with(type, rates[i].type))
            return rates[i].max;
    return 0;
}

/* A rate above the type's maximum belongs to another generation, or is counted twice. */
static void check_rate(const struct hw_check *c, const struct oc_hw_level *level)
{
    const struct oc_hw_figure *f = level->bandwidth;
    struct oc_formula_word word[WORDS];
    size_t n = f->formula ? oc_formula_words(f->formula, word, WORDS) : 0;
    double most = most_of(level->type);
    for (size_t i = 0; i < n && most > 0; i++) {
        bool giga = strcmp(word[i].word, "Gbit/s") == 0 || strcmp(word[i].word, "GT/s") == 0;
        bool mega = strcmp(word[i].word, "Mbit/s") == 0 || strcmp(word[i].word, "MT/s") == 0;
        if ((giga || mega) && word[i].number > (1 + TOLERANCE) * most * (mega ? 1000 : 1))
            hw_check_note(c, f, "formula has %.6g %s; the maximum of %s is %.6g Gbit/s", word[i].number,
                          word[i].word, level->type, most);
    }
}

static void check_memory(const struct hw_check *c)
{
    for (size_t i = 0; i < c->d->n_level; i++) {
        const struct oc_hw_level *level = &c->d->level[i];
        if (!level->type || !level->bandwidth)
            continue;
        check_type(c, level);
        check_rate(c, level);
    }
}

/* ---- hw check peaks --------------------------------------------------------------------------------- */

/* Compares the peaks of a device: sparse and dense, narrow and wide classes, accumulators, units, clocks. */

/* A measured figure is not a copying error: skip it. */
static bool is_measured(const struct oc_hw_figure *f)
{
    return f->basis == OC_BASIS_MEASURED;
}

static bool hw_lint_is_unit(const struct oc_hw_figure *f, enum oc_hw_unit unit)
{
    return is_peak(f) && strcmp(f->group, oc_hw_unit_name(unit)) == 0;
}

static const char *accumulator(const struct oc_hw_figure *f)
{
    return f->accumulate ? f->accumulate : "";
}

static bool same_class(const struct oc_hw_figure *a, const struct oc_hw_figure *b)
{
    return is_peak(a) && is_peak(b) && strcmp(a->group, b->group) == 0 && strcmp(a->what, b->what) == 0;
}

static bool same_peak(const struct oc_hw_figure *a, const struct oc_hw_figure *b)
{
    return same_class(a, b) && strcmp(accumulator(a), accumulator(b)) == 0;
}

/* ---- sparse and dense ------------------------------------------------------------------------------- */

static bool source_says(const struct oc_hw_figure *f, const char *text)
{
    bool told = f->section && strstr(f->section, text);
    for (size_t i = 0; i < OC_HW_SOURCES && f->source[i] && !f->section; i++)
        told |= f->source[i]->section && strstr(f->source[i]->section, text);
    return told || (f->note && strstr(f->note, text));
}

/* A source that gives sparse rates requires halving, and only such a source does. */
static void check_sparse_text(const struct hw_check *c, const struct oc_hw_figure *f)
{
    bool halves = f->formula && strstr(f->formula, "sparse");
    bool plain = strcmp(f->what, "f64") == 0 || strcmp(f->what, "f32") == 0; /* have no sparse variant */
    if (hw_lint_is_unit(f, OC_HW_MATRIX) && !plain && !f->sparse && source_says(f, "with sparsity") &&
        !halves)
        hw_check_note(c, f, "the source gives the rate with sparsity, but the figure is declared dense");
    if (is_peak(f) && halves && !source_says(f, "with sparsity"))
        hw_check_note(c, f, "the formula halves a sparse rate, but no source gives rates with sparsity");
}

static void check_sparse_pair(const struct hw_check *c, const struct oc_hw_figure *f,
                              const struct oc_hw_figure *o)
{
    if (f->sparse || !o->sparse || !same_peak(f, o))
        return;
    if (fabs(f->value - o->value) <= TOLERANCE * o->value)
        hw_check_note(c, f, "the dense figure equals the sparse one of line %u", o->line);
    else if (f->value > o->value)
        hw_check_note(c, f, "the dense figure is above the sparse one of line %u", o->line);
}

/* ---- narrow and wide classes ------------------------------------------------------------------------ */

/* Highest dense rate of the two classes in `list` on the matrix unit at one clock; accumulate NULL: any. */
static double hw_lint_best_of(const struct oc_device *d, const char *const *list, const char *accumulate,
                              const char *clock)
{
    double best = 0;
    for (size_t i = 0; i < d->n_figure; i++)
        for (size_t k = 0; k < 2; k++) {
            const struct oc_hw_figure *f = &d->figure[i];
            if (hw_lint_is_unit(f, OC_HW_MATRIX) && !f->sparse && strcmp(f->what, list[k]) == 0 &&
                strcmp(f->clock, clock) == 0 && (!accumulate || strcmp(accumulator(f), accumulate) == 0))
                best = f->value > best ? f->value : best;
        }
    return best;
}

/* Halving the width at most doubles the rate, for f8 and f16 into the same accumulator. A factor of four
 * indicates a sparse figure, or the other accumulator. (f4 into f32 runs at full rate on GeForce cards; a
 * note "without sparsity" confirms a higher ratio.) */
static void check_ladder(const struct hw_check *c, const struct oc_hw_figure *f)
{
    static const struct {
        const char *narrow, *wide[2];
        bool same, any; /* compare with the same accumulator; if there is none, with any */
    } steps[] = {
        {"f16", {"tf32", "tf32"}, true, false}, {"bf16", {"tf32", "tf32"}, true, false},
        {"i8", {"f16", "bf16"}, false, true},   {"f8", {"f16", "bf16"}, true, true},
        {"f4", {"f8", "i8"}, false, true},      {"i4", {"i8", "f8"}, false, true},
    };
    bool confirmed = f->note && strstr(f->note, "without sparsity");
    for (size_t s = 0; s < OC_COUNT(steps) && !confirmed; s++) {
        if (f->sparse || !hw_lint_is_unit(f, OC_HW_MATRIX) || strcmp(f->what, steps[s].narrow) != 0)
            continue;
        double wide = steps[s].same ? hw_lint_best_of(c->d, steps[s].wide, accumulator(f), f->clock) : 0;
        if (wide <= 0 && steps[s].any)
            wide = hw_lint_best_of(c->d, steps[s].wide, NULL, f->clock);
        if (wide > 0 && f->value > 2 * (1 + 2 * TOLERANCE) * wide)
            hw_check_note(c, f, "%.3g times the rate of %s; is it the sparse one?", f->value / wide,
                          steps[s].wide[0]);
    }
}

/* ---- units, accumulators, clocks -------------------------------------------------------------------- */

/* GeForce cards halve the rate into f32; none is slower into f16. */
static void check_accumulator(const struct hw_check *c, const struct oc_hw_figure *f,
                              const struct oc_hw_figure *o)
{
    bool swapped = strcmp(accumulator(f), "f32") == 0 && strcmp(accumulator(o), "f16") == 0;
    if (swapped && same_class(f, o) && f->sparse == o->sparse && strcmp(f->clock, o->clock) == 0 &&
        f->value > (1 + TOLERANCE) * o->value)
        hw_check_note(c, f, "above the rate into f16 (%s)", o->text);
}

static bool is_base(const char *clock)
{
    return strcmp(clock, "base") == 0;
}

static void check_base_clock(const struct hw_check *c, const struct oc_hw_figure *f,
                             const struct oc_hw_figure *o)
{
    bool clocks = strcmp(f->group, "clock") == 0 && strcmp(o->group, "clock") == 0;
    if (clocks && is_base(o->what) && !is_base(f->what) && f->value < o->value)
        hw_check_note(c, f, "below the base clock (%s)", o->text);
    if (same_peak(f, o) && f->sparse == o->sparse && is_base(o->clock) && !is_base(f->clock) &&
        f->value < o->value)
        hw_check_note(c, f, "below the peak at the base clock (%s)", o->text);
}

/* A matrix unit is faster than the vector unit: a higher vector rate is most often a misplaced matrix rate.
 */
static void check_units(const struct hw_check *c)
{
    const struct oc_hw_figure *const *vector = c->d->peak[OC_HW_VECTOR], *const *matrix =
                                                                             c->d->peak[OC_HW_MATRIX];
    const struct oc_hw_figure *f64 = vector[OC_CLASS_F64], *f32 = vector[OC_CLASS_F32];
    for (size_t i = 0; i < OC_CLASS_COUNT; i++)
        if (vector[i] && matrix[i] && !is_measured(vector[i]) &&
            vector[i]->value > (1 + TOLERANCE) * matrix[i]->value)
            hw_check_note(c, vector[i], "above the matrix unit (%s)", matrix[i]->text);
    if (f64 && f32 && !is_measured(f64) && f64->value > (1 + TOLERANCE) * f32->value)
        hw_check_note(c, f64, "above f32 (%s)", f32->text);
}

static void check_peaks(const struct hw_check *c)
{
    for (size_t i = 0; i < c->d->n_figure; i++) {
        const struct oc_hw_figure *f = &c->d->figure[i];
        if (is_measured(f))
            continue;
        check_sparse_text(c, f);
        check_ladder(c, f);
        for (size_t k = 0; k < c->d->n_figure; k++) {
            const struct oc_hw_figure *o = &c->d->figure[k];
            check_sparse_pair(c, f, o);
            check_accumulator(c, f, o);
            check_base_clock(c, f, o);
        }
    }
    check_units(c);
}
