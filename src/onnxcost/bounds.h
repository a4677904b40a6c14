/* Figures of a model over ranges of its dimensions: proven intervals; lower bounds of its time, for searches.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_BOUNDS_H
#define ONNXCOST_BOUNDS_H

#include "onnxcost_types.h"

OC_API_BEGIN

enum oc_range_figure {
    OC_RANGE_MACS,
    OC_RANGE_FLOPS,
    OC_RANGE_OPS,
    OC_RANGE_BYTES,  /* read and written */
    OC_RANGE_PEAK,   /* peak activation memory */
    OC_RANGE_MEMORY, /* with the constants */
    OC_RANGE_PARAMS,
    OC_RANGE_COUNT
};

struct oc_range_bound {
    const char *key; /* "macs", "peak_activation_bytes" */
    bool proven;     /* for all sizes in the ranges figure <= high, and low <= figure if has_low */
    bool has_low;    /* false: no lower bound is known, low is 0 */
    uint64_t low, high;
    uint64_t least, most;              /* smallest and largest figure found */
    const int64_t *at_least, *at_most; /* sizes where; NULL: no size has a figure */
    const char *why;                   /* reason if not proven; NULL */
};

struct oc_range_bind; /* onnxcost.h */

/* Bounds by interval arithmetic over the dimensions, in exact integers: an analysis in which each dimension
 * is an interval gives bounds of all figures; boxes of sizes are divided until their bounds are those of
 * sizes that were evaluated, down to single sizes. Assumption: the counts of an operator grow with its sizes
 * (oc_bounds_assumption; a box whose evaluated ends contradict it proves nothing). Bytes and memory have no
 * lower bound unless every size is evaluated, as some data need not move where a size is 1. Sizes that the
 * model does not allow have no figure and are left out. Fails if no size has figures. The model must outlive
 * the result. */
struct oc_bounds;
int oc_bounds_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                   const struct oc_range_bind *range, size_t n_range, struct oc_bounds **out,
                   struct oc_err *err);
void oc_bounds_free(struct oc_bounds *b);
const char *oc_bounds_assumption(void);
const struct oc_range_bound *oc_bounds_figure(const struct oc_bounds *b, enum oc_range_figure f);
/* "batch = 8, sequence = 128" */
const char *oc_bounds_sizes(const struct oc_bounds *b, const int64_t *at);
/* format: "table" (NULL), "csv" or "json" */
int oc_bounds_write(const struct oc_bounds *b, const char *format, unsigned width_chars, FILE *f,
                    struct oc_err *err);

/* ---- lower bounds of the time ----------------------------------------------------------------------- */

struct oc_time_bound_opts {
    size_t size; /* sizeof(struct oc_time_bound_opts) */
    const struct oc_analyze_opts
        *analyze; /* counting options, and sizes of other dimensions; NULL: the defaults */
    const struct oc_range_bind *range; /* the open sizes, at least one */
    size_t n_range;
    const char *as; /* assumed type of the work: "fp16" ...; NULL: the model's own */
    const char
        *module; /* "/model/layers.3": only the products whose names begin with it; NULL: the whole model */
    bool cache;  /* bytes count at the nearest memory level that can contain them, not at DRAM */
};

/* The lower bound of a run on a device ("at least" of the commands: no runtime is faster) as closed forms of the
 * sizes in the ranges: about a thousand analyses first, then well under a microsecond a size, for the search of a
 * planner. Closed forms are found exactly and checked at further sizes; a size that none covers is analysed. The
 * model, the device and what `analyze` refers to must outlive the result. Of a module: the sum of its products, which
 * run one after another. OC_EARG: no such dimension or module; no figures at the smallest sizes. */
struct oc_time_bound;
int oc_time_bound_make(const struct oc_model *model, const struct oc_device *device,
                       const struct oc_time_bound_opts *opts, struct oc_time_bound **out, struct oc_err *err);
void oc_time_bound_free(struct oc_time_bound *b);
/* Nanoseconds, within a billionth of the analysis's; size: by range. NAN: unknown. Several threads may ask at once. */
double oc_time_bound_at(const struct oc_time_bound *b, const int64_t *size);
/* n points, each with its sizes. */
void oc_time_bound_all(const struct oc_time_bound *b, const int64_t *size, size_t n, double *out_ns);
/* Whether a closed form covers the size, so that nothing is analysed. */
bool oc_time_bound_is_closed(const struct oc_time_bound *b, const int64_t *size);

OC_API_END

#endif
