/* Time of a model on a GPU without a calibration: its kernels by the fusion plan, each with the efficiency
 * that published latencies of other devices have (hwdb/published.tsv), and the interval by their held-out
 * errors. `estimate` and `compare` use it. Times are in seconds. */
#ifndef OC_POOLED_H
#define OC_POOLED_H

#include "analyze/analysis.h"
#include "estimate/fusion_plan.h"
#include "estimate/recast.h"

struct oc_pooled_kernel {
    struct oc_work work; /* of one execution, in the requested type */
    uint8_t cls;         /* enum oc_kernel_class */
    uint8_t op_class;    /* enum oc_op_class of its main node */
    bool joined;         /* part of the kernel of an attention: no launch */
    double calls;
};

struct oc_pooled_load {
    const struct oc_pooled_kernel *kernel;
    size_t n;
    uint64_t const_bytes; /* constants read by a run */
};

/* Kernels of the list. as: the type that the work is assumed to be done in; NULL: the model's types. */
void oc_pooled_load_make(const struct oc_analysis *a, const struct oc_kernel_list *list,
                         const struct oc_recast *as, struct oc_arena *arena, struct oc_pooled_load *out);

struct oc_pooled_time { /* of one execution of a kernel; or of a run: sums */
    double t_s;
    double launch_s, memory_s, unit_s[OC_HW_UNIT_COUNT]; /* t_s is their sum */
    char missing[32];                                    /* why t_s is NAN: "matrix f8 peak"; "": it is not */
};

/* Whether published latencies apply to the device: GPUs. */
bool oc_pooled_covers(const struct oc_device *device);

void oc_pooled_kernel_time(const struct oc_pooled_load *load, size_t kernel, const struct oc_device *device,
                           struct oc_pooled_time *out);
void oc_pooled_add(struct oc_pooled_time *sum, const struct oc_pooled_time *t, double times);

/* The interval of t: of 80 % of measurements, or of 95 %; never below the bound (bound.h; NAN: unknown). */
struct oc_pooled_interval {
    double lo_s, mid_s, hi_s;
};
struct oc_pooled_interval oc_pooled_interval(const struct oc_pooled_time *t, double bound_s, bool of_95);

/* Sets the kernels and the total of an estimate without a calibration: the run is the sum of the kernels,
 * with the interval of models. The kernels are already in the requested type. */
struct oc_estimate;
void oc_pooled_predict(struct oc_estimate *e);

#endif
