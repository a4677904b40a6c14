/* Compares the peaks of a device: sparse and dense, narrow and wide classes, accumulators, units, clocks. */
#include "hw/hw_check.h"

#include <math.h>
#include <string.h>

static bool is_peak(const struct oc_hw_figure *f)
{
    return f->clock != NULL;
}

/* A measured figure is not a copying error: skip it. */
static bool is_measured(const struct oc_hw_figure *f)
{
    return f->basis == OC_BASIS_MEASURED;
}

static bool is_unit(const struct oc_hw_figure *f, enum oc_hw_unit unit)
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

/* ---- sparse and dense ------------------------------------------------------------------------------------
 */

static bool source_says(const struct oc_hw_figure *f, const char *text)
{
    bool told = f->section && strstr(f->section, text);
    for (size_t i = 0; i < OC_HW_SOURCES && f->source[i] && !f->section; i++)
        told |= f->source[i]->section && strstr(f->source[i]->section, text);
    return told || (f->note && strstr(f->note, text));
}

/* A source that gives sparse rates requires halving, and only such a source does. */
static void check_sparse_text(const struct oc_hw_check *c, const struct oc_hw_figure *f)
{
    bool halves = f->formula && strstr(f->formula, "sparse");
    bool plain = strcmp(f->what, "f64") == 0 || strcmp(f->what, "f32") == 0; /* have no sparse variant */
    if (is_unit(f, OC_HW_MATRIX) && !plain && !f->sparse && source_says(f, "with sparsity") && !halves)
        oc_hw_check_note(c, oc_hw_check_line(c, f),
                         "%s: the source gives the rate with sparsity, but the figure is declared dense",
                         oc_hw_check_name(c, f));
    if (is_peak(f) && halves && !source_says(f, "with sparsity"))
        oc_hw_check_note(c, oc_hw_check_line(c, f),
                         "%s: the formula halves a sparse rate, but no source gives rates with sparsity",
                         oc_hw_check_name(c, f));
}

static void check_sparse_pair(const struct oc_hw_check *c, const struct oc_hw_figure *f,
                              const struct oc_hw_figure *o)
{
    if (f->sparse || !o->sparse || !same_peak(f, o))
        return;
    if (fabs(f->value - o->value) <= OC_HW_TOLERANCE * o->value)
        oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: the dense figure equals the sparse one of line %u",
                         oc_hw_check_name(c, f), o->line);
    else if (f->value > o->value)
        oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: the dense figure is above the sparse one of line %u",
                         oc_hw_check_name(c, f), o->line);
}

/* ---- narrow and wide classes -----------------------------------------------------------------------------
 */

/* Highest dense rate of the two classes in `list` on the matrix unit at one clock; accumulate NULL: any. */
static double best_of(const struct oc_device *d, const char *const *list, const char *accumulate,
                      const char *clock)
{
    double best = 0;
    for (size_t i = 0; i < d->n_figure; i++)
        for (size_t k = 0; k < 2; k++) {
            const struct oc_hw_figure *f = &d->figure[i];
            if (is_unit(f, OC_HW_MATRIX) && !f->sparse && strcmp(f->what, list[k]) == 0 &&
                strcmp(f->clock, clock) == 0 && (!accumulate || strcmp(accumulator(f), accumulate) == 0))
                best = f->value > best ? f->value : best;
        }
    return best;
}

/* Halving the width at most doubles the rate, for f8 and f16 into the same accumulator. A factor of four
 * indicates a sparse figure, or the other accumulator. (f4 into f32 runs at full rate on GeForce cards.) */
static void check_ladder(const struct oc_hw_check *c, const struct oc_hw_figure *f)
{
    static const struct {
        const char *narrow, *wide[2];
        bool same, any; /* compare with the same accumulator; if there is none, with any */
    } steps[] = {
        {"f16", {"tf32", "tf32"}, true, false}, {"bf16", {"tf32", "tf32"}, true, false},
        {"i8", {"f16", "bf16"}, false, true},   {"f8", {"f16", "bf16"}, true, true},
        {"f4", {"f8", "i8"}, false, true},      {"i4", {"i8", "f8"}, false, true},
    };
    for (size_t s = 0; s < OC_COUNT(steps); s++) {
        if (f->sparse || !is_unit(f, OC_HW_MATRIX) || strcmp(f->what, steps[s].narrow) != 0)
            continue;
        double wide = steps[s].same ? best_of(c->d, steps[s].wide, accumulator(f), f->clock) : 0;
        if (wide <= 0 && steps[s].any)
            wide = best_of(c->d, steps[s].wide, NULL, f->clock);
        if (wide > 0 && f->value > 2 * (1 + 2 * OC_HW_TOLERANCE) * wide)
            oc_hw_check_note(c, oc_hw_check_line(c, f),
                             "%s: %.3g times the rate of %s; is it the sparse one?", oc_hw_check_name(c, f),
                             f->value / wide, steps[s].wide[0]);
    }
}

/* ---- units, accumulators, clocks --------------------------------------------------------------------------
 */

/* GeForce cards halve the rate into f32; none is slower into f16. */
static void check_accumulator(const struct oc_hw_check *c, const struct oc_hw_figure *f,
                              const struct oc_hw_figure *o)
{
    bool swapped = strcmp(accumulator(f), "f32") == 0 && strcmp(accumulator(o), "f16") == 0;
    if (swapped && same_class(f, o) && f->sparse == o->sparse && strcmp(f->clock, o->clock) == 0 &&
        f->value > (1 + OC_HW_TOLERANCE) * o->value)
        oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: above the rate into f16 (%s)",
                         oc_hw_check_name(c, f), o->text);
}

static bool is_base(const char *clock)
{
    return strcmp(clock, "base") == 0;
}

static void check_base_clock(const struct oc_hw_check *c, const struct oc_hw_figure *f,
                             const struct oc_hw_figure *o)
{
    bool clocks = strcmp(f->group, "clock") == 0 && strcmp(o->group, "clock") == 0;
    if (clocks && is_base(o->what) && !is_base(f->what) && f->value < o->value)
        oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: below the base clock (%s)", oc_hw_check_name(c, f),
                         o->text);
    if (same_peak(f, o) && f->sparse == o->sparse && is_base(o->clock) && !is_base(f->clock) &&
        f->value < o->value)
        oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: below the peak at the base clock (%s)",
                         oc_hw_check_name(c, f), o->text);
}

/* A matrix unit is faster than the vector unit: a higher vector rate is most often a misplaced matrix rate.
 */
static void check_units(const struct oc_hw_check *c)
{
    const struct oc_hw_figure *const *vector = c->d->peak[OC_HW_VECTOR], *const *matrix =
                                                                             c->d->peak[OC_HW_MATRIX];
    const struct oc_hw_figure *f64 = vector[OC_CLASS_F64], *f32 = vector[OC_CLASS_F32];
    for (size_t i = 0; i < OC_CLASS_COUNT; i++)
        if (vector[i] && matrix[i] && !is_measured(vector[i]) &&
            vector[i]->value > (1 + OC_HW_TOLERANCE) * matrix[i]->value)
            oc_hw_check_note(c, oc_hw_check_line(c, vector[i]), "%s: above the matrix unit (%s)",
                             oc_hw_check_name(c, vector[i]), matrix[i]->text);
    if (f64 && f32 && !is_measured(f64) && f64->value > (1 + OC_HW_TOLERANCE) * f32->value)
        oc_hw_check_note(c, oc_hw_check_line(c, f64), "vector f64: above f32 (%s)", f32->text);
}

void oc_hw_check_peaks(const struct oc_hw_check *c)
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
