/* Devices in order for one model, and how the order changes with the batch. The public functions are in
 * onnxcost.h; here is what the writers see beyond them. */
#ifndef OC_RANK_DEVICES_H
#define OC_RANK_DEVICES_H

#include "estimate/rank_span.h"

#define OC_RANK_PAIR_DEVICES 16
#define OC_RANK_BATCHES      1024 /* looked at for changes: up to this, or to the largest one asked for */
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
    size_t calibrated;          /* index of the device that the calibration is of; n_device: none */
    const char *calibration;    /* what it was made of, one line; NULL: none */
    const char *symbol;         /* of the batch; NULL: there is none */
    int64_t samples;            /* inferences in a run; 0: as many as the batch */
    const char *no_batch;       /* why there is none */
    const char *no_larger;      /* why max_batch is smaller than what was asked for; NULL: it is not */
    const struct oc_assumption *assumption; /* of the analysis with the options as they are */
    uint32_t n_assumption;
    const struct oc_rank_table *table;
    size_t n_table;
    int64_t max_batch;
    unsigned analyses;
    struct oc_rank_phases fastest;
    const struct oc_rank_phases *limit; /* by device */
    const struct oc_rank_phases *fits;  /* by device: what is an enum oc_fits */
    const struct oc_rank_phases *pair;  /* first * n_device + second, first < second; NULL: not looked at */
};

/* The fastest device for a class of operators; n_device: none has a time. */
size_t oc_rank_best_for(const struct oc_rank *r, const struct oc_rank_table *t, unsigned op_class);

/* Inferences in a run. */
double oc_rank_samples(const struct oc_rank *r, int64_t batch);

/* The phase that holds at a batch; NULL: there are none. */
const struct oc_rank_phase *oc_rank_phase_at(const struct oc_rank_phases *p, int64_t batch);

#endif
