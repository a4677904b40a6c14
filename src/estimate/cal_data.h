/* Samples made ready for fitting: put against a device, merged by signature, in an order that depends on what
 * they are and not on where they stood, weighted, and dealt to folds. */
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
    double spread; /* sd of ln t within the recording; NAN: not known */
    double weight; /* root of its share of the time of its model; 1 in all for a model */
};

struct oc_cal_model {
    const struct oc_sample_model *model;
    uint32_t index; /* in the sample set */
    uint32_t fold;
    double kernels_s; /* of its data */
    uint32_t kernels;
};

struct oc_cal_data {
    struct oc_cal_datum *item; /* by model and what the kernel is */
    size_t n;
    struct oc_cal_model *model; /* by name */
    size_t n_model;
    uint32_t n_fold, n_rejected;
    enum oc_cal_device kind;
    uint64_t checksum;
};

/* folds 0: one a network (a family). Everything is in the arena, which may hold more; the set and the device
 * must outlive it. */
void oc_cal_data_make(struct oc_arena *a, const struct oc_sample_set *set, const struct oc_device *device,
                      uint32_t folds, bool by_family, struct oc_cal_data *out);

/* Its time and counts are known. */
bool oc_cal_usable(const struct oc_sample *s, const struct oc_sample_set *set);
/* In half the time that physics takes: it is not the kernel that it is said to be (or not the device). */
bool oc_cal_too_fast(const struct oc_sample *s, const struct oc_cal_point *point);

/* Who is left out together: model_id or family_id, or the name where there is none. */
const char *oc_cal_fold_name(const struct oc_sample_model *m, bool by_family);

#endif
