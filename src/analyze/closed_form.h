/* Totals as functions of the open dimensions, for sweeps and the reports. */
#ifndef OC_CLOSED_FORM_H
#define OC_CLOSED_FORM_H

#include "analyze/analysis.h"
#include "analyze/fit.h"
#include "onnxcost.h"
#include "onnxcost/sweep.h"

struct oc_metric_info {
    const char *key, *title, *unit; /* "bytes_written", "bytes written", "B" */
};
const struct oc_metric_info *oc_metric_info(enum oc_metric m);
uint64_t oc_metric_of(const struct oc_analysis *a, enum oc_metric m);

/* Quality of the totals; must be equal at all points of one formula. */
struct oc_trust {
    uint64_t unknown_nodes;
    size_t findings;  /* warnings and errors: shapes that contradict each other */
    unsigned quality; /* of the totals; bit 1 << enum oc_quality */
    uint8_t peak;     /* enum oc_quality */
};
struct oc_trust oc_trust_of(const struct oc_analysis *a);
bool oc_trust_equal(const struct oc_trust *a, const struct oc_trust *b);
enum oc_quality oc_trust_quality(const struct oc_trust *t, enum oc_metric m); /* OC_UNKNOWN: meaningless */

struct oc_closed_form {
    struct oc_arena arena;
    const struct oc_model *model;
    unsigned n_symbol;
    const char **symbol; /* open dimensions */
    int64_t *base;       /* base point of the search */
    struct oc_trust trust;
    struct oc_fit *fit; /* NULL: no open dimension */
    unsigned n_slot;
    const char **slot_name; /* by free variable */
    struct oc_fit_result result[OC_METRIC_COUNT];
    const char *text[OC_METRIC_COUNT]; /* NULL: none found */
    uint32_t analyses;
};

/* The open dimensions and their roles (oc_fit_vars), without formulas. Returns as oc_closed_form_make. */
int oc_closed_form_open(const struct oc_model *model, const struct oc_analyze_opts *opts,
                        struct oc_closed_form **out, struct oc_err *err);

struct oc_sweep {
    struct oc_arena arena;
    const struct oc_model *model;
    struct oc_sweep_axis *axis; /* copies */
    size_t n_axis, n_row;
    struct oc_sweep_row *row;
};

/* ---- batch dim ---------------------------------------------------------------------------------------- */

/* The batch dimension, the options of an analysis at another batch size, and whether the result fits into a
 * memory. */

/* The symbol of the first dimension of the first input that has dimensions; NULL: that one is a number or a
 * formula. */
const char *oc_batch_symbol(const struct oc_model *m);

/* Whether a dimension of an input has this name. */
bool oc_batch_has_symbol(const struct oc_model *m, const char *symbol);

/* Its size in an analysis, -1: unknown. */
int64_t oc_batch_now(const struct oc_analysis *a, const char *symbol);

/* Options with another batch size: the symbol is bound, and given shapes that contain it are adjusted. */
struct oc_batch_opts {
    struct oc_analyze_opts opts;
    const struct oc_model *model;
    struct oc_bind *bind; /* the first binding is the batch */
    int64_t **dim;        /* sizes of the shapes, copied */
};
/* Memory is from the arena; the lists of `o` must outlive it. */
void oc_batch_opts_init(struct oc_batch_opts *b, struct oc_arena *arena, const struct oc_model *m,
                        const struct oc_analyze_opts *o, const char *symbol);
void oc_batch_opts_set(struct oc_batch_opts *b, int64_t batch);

/* Compares a size with a capacity: an upper bound may prove that it fits, a lower bound that it does not; an
 * estimate proves nothing. */
enum oc_fits oc_fits_in(uint64_t needs, uint8_t quality, uint64_t capacity);

#endif
