/* The batch dimension, the options of an analysis at another batch size, and whether the result fits into a
 * memory. */
#ifndef OC_BATCH_DIM_H
#define OC_BATCH_DIM_H

#include "analyze/analysis.h"
#include "onnxcost.h"

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
