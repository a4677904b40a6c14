/* The dimension that counts the batch, options of an analysis with another size of it, and whether what such
 * an analysis needs fits into a memory. */
#ifndef OC_BATCH_DIM_H
#define OC_BATCH_DIM_H

#include "analyze/analysis.h"

/* The symbol of the first dimension of the first input that has dimensions; NULL: that one has a number, or
 * is a formula. */
const char *oc_batch_symbol(const struct oc_model *m);

/* Whether a dimension of an input bears this name. */
bool oc_batch_has_symbol(const struct oc_model *m, const char *symbol);

/* Its size in an analysis, -1: not known. */
int64_t oc_batch_now(const struct oc_analysis *a, const char *symbol);

/* Options that are the same but for the batch: the symbol is bound, and given shapes that have it follow. */
struct oc_batch_opts {
    struct oc_analyze_opts opts;
    const struct oc_model *model;
    struct oc_bind *bind; /* the first is that of the batch */
    int64_t **dim;        /* sizes of the shapes, copies */
};
/* Memory is from the arena; the lists of `o` must outlive it. */
void oc_batch_opts_init(struct oc_batch_opts *b, struct oc_arena *arena, const struct oc_model *m,
                        const struct oc_analyze_opts *o, const char *symbol);
void oc_batch_opts_set(struct oc_batch_opts *b, int64_t batch);

/* An upper bound that fits does fit, a lower one that does not does not; an estimate tells nothing. */
enum oc_fits oc_fits_in(uint64_t needs, uint8_t quality, uint64_t capacity);

#endif
