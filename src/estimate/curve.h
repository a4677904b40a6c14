/* The time of a kernel as a curve of its work (the formula stands in calibration.h): what the device says of
 * a kernel, worked out once, and the curve over that. Knows nothing of samples and fits. Times are seconds.
 */
#ifndef OC_CURVE_H
#define OC_CURVE_H

#include "estimate/calibration.h"

enum oc_cal_device { OC_CAL_GPU, OC_CAL_CPU, OC_CAL_NPU, OC_CAL_DEVICE_COUNT };
enum oc_cal_device oc_cal_device_kind(const struct oc_device *device); /* what is not known counts as a CPU */

/* A kernel on a device. tc_s is the time its operations take at the dense peaks, unit after unit; act_s and
 * wt_s are its bytes at DRAM bandwidth. Where the file has no peak for a class of arithmetic (no bandwidth),
 * another one stands in for it, which an efficiency fitted against it makes good; then tc_assumed
 * (tm_assumed) is set, the cap of the efficiency is lifted, and the shipped priors have nothing to say. */
struct oc_cal_point {
    uint8_t cls, dtype;
    uint8_t unit;       /* enum oc_hw_unit: the busiest */
    double flop, bytes; /* FLOPs and OPs; across the border of the kernel */
    double tc_s, act_s, wt_s;
    double peak_flop_per_s; /* flop / tc_s; of the class of its arithmetic where it computes nothing */
    double dram_bytes_per_s;
    double act_fill, wt_fill;   /* its activations, and the weights of the model, over the last cache */
    double again_s, again_fill; /* bytes that it reads again and again: recurrent weights */
    double llc_gain;            /* bandwidth of the last cache over DRAM; 0: not in the file */
    double near_fill;           /* its activations over the cache before the last one, */
    double near_gain;           /* and what that one copies a second over the last; 1: it keeps nothing */
    double roof_s;              /* what physics allows, data being as near as they may be; 0: not known */
    double ec_cap, em_cap;
    double m, n, k, batch;
    double units; /* that share tiles: multiprocessors; 0: no waves */
    bool tc_assumed, tm_assumed;
    bool unknown; /* counts are not known: nothing above is */
};

/* const_bytes: weights of the model that the kernel is in, which stay in the last cache from run to run if
 * they fit; UINT64_MAX: not known, they do not. */
void oc_cal_point_make(const struct oc_device *device, const struct oc_kernel *kernel, uint64_t const_bytes,
                       struct oc_cal_point *out);

struct oc_curve_parts {
    double t0_s, tc_s, tm_s; /* what the curve says of each; not smaller than roof_s together */
    bool in_cache;           /* activations count as served by the last cache */
};
/* Of one execution, never below 0.95 roof_s; NAN for a point that is not known. parts may be NULL. */
double oc_curve_time(const struct oc_cal_curve *curve, const struct oc_cal_point *point,
                     struct oc_curve_parts *parts);

/* The same with q = q_align q_wave worked out before; the point must be known. */
double oc_curve_time_at(const struct oc_cal_curve *curve, const struct oc_cal_point *point, double q,
                        struct oc_curve_parts *parts);
/* The plain roofline: the slower of operations at peak and bytes at DRAM bandwidth. */
double oc_curve_roofline(const struct oc_cal_point *point);

/* q_align, in (0, 1]: how full blocks of `align` are in each dimension. q_wave: how full the last wave. */
double oc_curve_align(const struct oc_cal_point *point, uint32_t align);
double oc_curve_wave(const struct oc_cal_point *point, uint32_t tile_m, uint32_t tile_n);

/* What is assumed of a class as long as nothing was measured, and how sure that is. NAN: efficiency of a
 * class that hardly computes (no one would notice); curves have 0.3 there. */
struct oc_curve_prior {
    double ec, em, t0_s;
};
struct oc_curve_prior oc_curve_prior(enum oc_cal_device kind, unsigned cls);
#define OC_PRIOR_LN_SD 0.5
#define OC_PRIOR_HALF  0.02 /* w_half / (P t0) and b_half / (W t0): what small kernels lose is t0 first */
#define OC_PRIOR_WC    3.0
#define OC_PRIOR_ALPHA 0.6

struct oc_cal_curve oc_curve_shipped(enum oc_cal_device kind, unsigned cls, double peak_flop_per_s,
                                     double dram_bytes_per_s);

/* The class that the curve of a group is written for. */
unsigned oc_curve_reference(enum oc_kernel_group group);
/* A curve of class `from` as one of class `to`, which have the peaks given. */
struct oc_cal_curve oc_curve_rebase(const struct oc_cal_curve *curve, enum oc_cal_device kind, unsigned from,
                                    unsigned to, double from_peak, double to_peak);
/* A curve of one device on another: dimensionless parameters stay, t0 too. Peaks in FLOP/s, DRAM in bytes/s.
 */
struct oc_cal_curve oc_curve_transfer(const struct oc_cal_curve *curve, double from_peak, double to_peak,
                                      double from_dram, double to_dram);

#endif
