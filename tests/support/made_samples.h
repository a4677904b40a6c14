/* Measured kernels generated from a known cost curve and known noise, for tests of the fit. */
#ifndef OC_MADE_SAMPLES_H
#define OC_MADE_SAMPLES_H

#include "estimate/curve.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

/* A processor of 200 GFLOP/s f32, 20 GB/s DRAM, 100 GB/s last cache of 8 MB. */
struct oc_made_device {
    struct oc_device device;
    struct oc_device_info info;
    struct oc_hw_figure f32, i8, dram_bw, llc_size, llc_bw;
    struct oc_hw_level level[2];
};
void oc_made_device(struct oc_made_device *d);

struct oc_made {
    struct oc_arena arena;
    struct oc_sample_set set;
    size_t cap, cap_model;
    uint64_t random;
};
void oc_made_start(struct oc_made *m, uint64_t seed);
void oc_made_free(struct oc_made *m);
double oc_made_uniform(struct oc_made *m);                       /* in (0, 1) */
double oc_made_between(struct oc_made *m, double lo, double hi); /* log-uniform */
double oc_made_normal(struct oc_made *m);

uint32_t oc_made_model(struct oc_made *m, const char *name); /* its index; id and family are the name */
/* A kernel with this number of MACs (f32) and bytes; the signature follows from class, work and sizes. */
struct oc_kernel oc_made_kernel(unsigned cls, double flop, double bytes);
void oc_made_add(struct oc_made *m, uint32_t model, const struct oc_kernel *k, double t_s, uint32_t repeats);
/* The plan of each model: the kernels that were added to it. */
void oc_made_plans(struct oc_made *m);

#endif
