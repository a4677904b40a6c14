/* The load of a model at one batch: the work of its operators, with equal ones merged. Counts of most models
 * are linear in the batch: if that holds at both ends and at the midpoint of a range of batches, those in
 * between are interpolated; otherwise each batch is analysed. */
#ifndef OC_RANK_LOAD_H
#define OC_RANK_LOAD_H

#include "analyze/batch_dim.h"
#include "estimate/recast.h"
#include "estimate/predict.h"

struct oc_rank_item {
    struct oc_work work; /* of one operator */
    uint64_t count;      /* number of operators with this work */
    uint8_t op_class;    /* enum oc_op_class */
};

struct oc_rank_load {
    int64_t batch;
    const struct oc_rank_item *item;
    uint32_t n_item;
    uint64_t unknown_nodes, estimated_nodes;                /* without a cost: not in the items */
    uint64_t class_nodes[OC_OP_CLASS_COUNT];                /* launched ones */
    double operations, class_operations[OC_OP_CLASS_COUNT]; /* FLOPs and OPs */
    uint64_t const_bytes, peak_bytes;                       /* memory: constants, activations */
    uint64_t read_constants;                                /* part of the constants read by a run */
    uint8_t quality, peak_quality;                          /* enum oc_quality */
};

#define OC_RANK_MAX_BATCH (INT64_C(1) << 20)

struct oc_rank_loads;

/* as: the type that the work is assumed to be done in; NULL: the model's types. Memory is always the model's.
 * symbol: the batch dimension, NULL: the model has none and there is one load. The first analysis is made
 * here. The lists of `opts` and the model must outlive the loads. */
int oc_rank_loads_make(const struct oc_model *m, const struct oc_analyze_opts *opts,
                       const struct oc_recast *as, const char *symbol, struct oc_rank_loads **out,
                       struct oc_err *err);
void oc_rank_loads_free(struct oc_rank_loads *l);

/* The first analysis, made with the given options, and its batch: below 1 if that has no size. */
const struct oc_analysis *oc_rank_loads_first(const struct oc_rank_loads *l);
int64_t oc_rank_loads_batch(const struct oc_rank_loads *l);

/* Searches for linear ranges from 1 to `most`. Returns the largest batch, up to most, whose analysis succeeds
 * with no more operators without a cost than the first one; 0: none. */
int64_t oc_rank_loads_span(struct oc_rank_loads *l, int64_t most);

/* Valid until the next call. NULL: the analysis failed, or the limit of analyses was exceeded. */
const struct oc_rank_load *oc_rank_load_at(struct oc_rank_loads *l, int64_t batch, struct oc_err *err);

/* An analysis at this batch, valid until the next call. NULL as above. */
const struct oc_analysis *oc_rank_analysis_at(struct oc_rank_loads *l, int64_t batch, struct oc_err *err);

unsigned oc_rank_loads_analyses(const struct oc_rank_loads *l); /* made so far */

#endif
