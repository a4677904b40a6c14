/* The time of a kernel as a curve of its work (formula in calibrate.h): the point (properties of a kernel
 * on a device) is computed once, and the curve is evaluated on it. Times are seconds. */
#ifndef OC_CURVE_H
#define OC_CURVE_H

#include <stdbool.h>
#include <stddef.h>

#include "estimate/calibrate.h"

enum oc_cal_device { OC_CAL_GPU, OC_CAL_CPU, OC_CAL_NPU, OC_CAL_DEVICE_COUNT };
enum oc_cal_device oc_cal_device_kind(const struct oc_device *device); /* unknown devices count as CPUs */

/* A kernel on a device. tc_s is the time its operations take at the dense peaks, unit after unit; act_s and
 * wt_s are its bytes at DRAM bandwidth. Where the file has no peak for a class of arithmetic (no bandwidth),
 * another one is substituted, which the fitted efficiency compensates; then tc_assumed (tm_assumed) is set,
 * the cap of the efficiency is lifted, and the shipped priors do not apply. */
struct oc_cal_point {
    uint8_t cls, dtype;
    uint8_t unit;       /* enum oc_hw_unit: the busiest */
    double flop, bytes; /* FLOPs and OPs; bytes across the border of the kernel */
    double tc_s, act_s, wt_s;
    double peak_flop_per_s; /* flop / tc_s; for kernels without arithmetic, the peak of their class */
    double dram_bytes_per_s;
    double act_fill, wt_fill; /* its activations, and the weights of the model, relative to the last cache */
    double again_s, again_fill; /* bytes read repeatedly: recurrent weights */
    double llc_gain;            /* bandwidth of the last cache over DRAM; 0: not in the file */
    double near_fill,
        near_wt_fill; /* its activations and the weights of the model, relative to the cache before the last, */
    double near_gain; /* and that cache's bandwidth over the last one's; 1: it retains nothing */
    double roof_s;    /* physical lower bound, with data in the nearest possible level; 0: unknown */
    double ec_cap, em_cap;
    double m, n, k, batch;
    double launches; /* of parallel parts: images of a convolution without blocks, in sequence */
    double units;    /* units that share tiles: multiprocessors; 0: no waves */
    bool tc_assumed, tm_assumed;
    bool unknown; /* counts are unknown: all members above are invalid */
};

/* const_bytes: weights of the kernel's model, which stay in the last cache between runs if they fit;
 * UINT64_MAX: unknown, assumed not to. */
void oc_cal_point_make(const struct oc_device *device, const struct oc_kernel *kernel, uint64_t const_bytes,
                       struct oc_cal_point *out);

struct oc_curve_parts {
    double t0_s, tc_s, tm_s; /* parts of the curve; their combination is at least roof_s */
    bool in_cache;           /* activations are served by the last cache */
};
/* Of one execution, at least 0.95 roof_s; NAN for an unknown point. parts may be NULL. */
double oc_curve_time(const struct oc_cal_curve *curve, const struct oc_cal_point *point,
                     struct oc_curve_parts *parts);

/* The same with precomputed q = q_align q_wave; the point must be known. */
double oc_curve_time_at(const struct oc_cal_curve *curve, const struct oc_cal_point *point, double q,
                        struct oc_curve_parts *parts);
/* Seconds by which the time grows per unit of the logarithm of a parameter; all 0 where the roofline bounds it. */
struct oc_curve_slopes {
    double t0, ec, w_half, em, b_half, wc;
};
/* oc_curve_time_at with its slopes. */
double oc_curve_slopes(const struct oc_cal_curve *curve, const struct oc_cal_point *point, double q,
                       struct oc_curve_slopes *slopes);
/* The plain roofline: the slower of operations at peak and bytes at DRAM bandwidth. */
double oc_curve_roofline(const struct oc_cal_point *point);

/* q_align, in (0, 1]: utilisation of blocks of `align` in each dimension. q_wave: utilisation of the last
 * wave. */
double oc_curve_align(const struct oc_cal_point *point, uint32_t align);
double oc_curve_wave(const struct oc_cal_point *point, uint32_t tile_m, uint32_t tile_n);

/* Prior of a class without measurements, and its sd. NAN: efficiency of a class that hardly computes (it has
 * no effect); curves use 0.3 there. */
struct oc_curve_prior {
    double ec, em, t0_s;
};
struct oc_curve_prior oc_curve_prior(enum oc_cal_device kind, unsigned cls);
#define OC_PRIOR_LN_SD 0.5
#define OC_PRIOR_HALF  0.02 /* w_half / (P t0) and b_half / (W t0): relates half-saturation sizes to t0 */
#define OC_PRIOR_WC    3.0
#define OC_PRIOR_ALPHA 0.6

struct oc_cal_curve oc_curve_shipped(enum oc_cal_device kind, unsigned cls, double peak_flop_per_s,
                                     double dram_bytes_per_s);

/* The reference class of a group's curve. */
unsigned oc_curve_reference(enum oc_kernel_group group);
/* Converts a curve of class `from` to class `to`, with the given peaks. */
struct oc_cal_curve oc_curve_rebase(const struct oc_cal_curve *curve, enum oc_cal_device kind, unsigned from,
                                    unsigned to, double from_peak, double to_peak);
/* Transfers a curve to another device: dimensionless parameters and t0 are unchanged. Peaks in FLOP/s, DRAM
 * in bytes/s. */
struct oc_cal_curve oc_curve_transfer(const struct oc_cal_curve *curve, double from_peak, double to_peak,
                                      double from_dram, double to_dram);

#endif
