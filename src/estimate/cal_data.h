/* Training data: samples evaluated for a device, merged by signature, in an order independent of the input
 * order, weighted, and assigned to folds (cross-validation). */
#ifndef OC_CAL_DATA_H
#define OC_CAL_DATA_H

#include "estimate/curve.h"

struct oc_cal_datum {
    struct oc_cal_point point;
    const struct oc_kernel *kernel;
    uint64_t signature;
    uint32_t model, fold; /* model: index in oc_cal_data.model */
    uint32_t runs, repeats;
    double t_s, ln_t;
    double spread; /* sd of ln t within the recording; NAN: unknown */
    double weight; /* square root of its share of its model's time; sums to 1 per model */
};

struct oc_cal_model {
    const struct oc_sample_model *model;
    uint32_t index; /* index in the sample set */
    uint32_t fold;
    double kernels_s; /* total weight of its data */
    double gap_sum;   /* as in struct oc_sample_model */
};

struct oc_cal_data {
    struct oc_cal_datum *item; /* sorted by model and kernel */
    size_t n;
    struct oc_cal_model *model; /* sorted by name */
    size_t n_model;
    uint32_t n_fold, n_rejected;
    enum oc_cal_device kind;
    uint64_t checksum;
};

/* folds 0: one per group. Everything is in the arena, which may be shared; the set and the device must
 * outlive it. */
void oc_cal_data_make(struct oc_arena *a, const struct oc_sample_set *set, const struct oc_device *device,
                      uint32_t folds, struct oc_cal_data *out);

/* Whether its time and counts are known. */
bool oc_cal_usable(const struct oc_sample *s, const struct oc_sample_set *set);
/* Faster than twice the roofline: the kernel (or the device) is misidentified. */
bool oc_cal_too_fast(const struct oc_sample *s, const struct oc_cal_point *point);

/* Networks that are left out together, because one would help to predict the other: those of one network or
 * family, and those that share kernels of a part of the time of either. group: of each model of the set,
 * [n_model], numbered by the first name in it. Returns the number of groups. */
uint32_t oc_cal_groups(const struct oc_sample_set *set, uint32_t *group);

#endif
