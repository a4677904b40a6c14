/* Ranks devices for one model, and the changes of the ranking with the batch. The public functions are in
 * onnxcost.h; this header is for the writers. */
#ifndef OC_RANK_DEVICES_H
#define OC_RANK_DEVICES_H

#include "estimate/rank_span.h"

#define OC_RANK_PAIR_DEVICES 16
#define OC_RANK_BATCHES      1024 /* upper end of the search for changes: this, or the largest requested batch */
#define OC_RANK_MAX_TABLES   64

struct oc_rank_phases {
    const struct oc_rank_phase *item;
    size_t n;
};

struct oc_rank_table { /* one batch */
    int64_t batch;
    struct oc_rank_load total;      /* without its items */
    const struct oc_rank_row *row;  /* in order */
    const uint32_t *device;         /* index of the device of each row */
    const struct oc_span *whole;    /* by device */
    const struct oc_span *by_class; /* by device, then by enum oc_op_class */
};

struct oc_rank {
    struct oc_arena arena;
    const struct oc_model *model;
    const struct oc_device **device;
    size_t n_device;
    const char *sort;
    bool cache;
    const struct oc_recast *as; /* NULL: the model's own types */
    size_t calibrated;          /* index of the calibrated device; n_device: none */
    const char *calibration;    /* description of the calibration, one line; NULL: none */
    const char *symbol;         /* symbol of the batch; NULL: there is none */
    int64_t samples;            /* inferences per run; 0: equal to the batch */
    const char *no_batch;       /* reason why there is none */
    const char *no_larger;      /* reason why max_batch is smaller than requested; NULL: it is not */
    const struct oc_assumption *assumption; /* of the analysis with the given options */
    uint32_t n_assumption;
    const struct oc_rank_table *table;
    size_t n_table;
    int64_t max_batch;
    unsigned analyses;
    struct oc_rank_phases fastest;
    const struct oc_rank_phases *limit; /* by device */
    const struct oc_rank_phases *fits;  /* by device: changes of enum oc_fits */
    const struct oc_rank_phases *pair;  /* first * n_device + second, first < second; NULL: not computed */
};

/* The fastest device for a class of operators; n_device: none has a time. */
size_t oc_rank_best_for(const struct oc_rank *r, const struct oc_rank_table *t, unsigned op_class);

/* Inferences per run. */
double oc_rank_samples(const struct oc_rank *r, int64_t batch);

/* The phase that applies at a batch; NULL: there are none. */
const struct oc_rank_phase *oc_rank_phase_at(const struct oc_rank_phases *p, int64_t batch);

#endif
