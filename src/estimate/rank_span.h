/* Time of a device for a load, for the comparison of devices: with a calibration its estimate; of a GPU the
 * estimate from published latencies (pooled.h); of other devices an interval: kernels reach between 30 % and
 * 90 % of their roofline speed (an assumption, not a figure of a vendor), plus the launch overhead in the
 * device's file for every operator. Times are in seconds, NAN is "unknown". */
#ifndef OC_RANK_SPAN_H
#define OC_RANK_SPAN_H

#include "base/arena.h"
#include "estimate/calibrate.h"
#include "estimate/pooled.h"
#include "estimate/rank_load.h"

#define OC_BAND_LEAST 0.3
#define OC_BAND_MOST  0.9

/* Breakdown of the time: each operator's time counts for its bound, launches separately. */
enum oc_span_part {
    OC_SPAN_VECTOR,
    OC_SPAN_MATRIX,
    OC_SPAN_SPECIAL,
    OC_SPAN_MEMORY, /* DRAM */
    OC_SPAN_CACHE,  /* a memory level before it */
    OC_SPAN_OVERHEAD,
    OC_SPAN_PARTS
};
const char *oc_span_part_name(unsigned part); /* "compute:vector", "DRAM" ... */

enum oc_span_evidence { OC_SPAN_BAND, OC_SPAN_CALIBRATED, OC_SPAN_PUBLISHED };
const char *oc_span_evidence_name(unsigned evidence); /* "roofline band", "calibration" ... */

struct oc_span {
    uint8_t evidence; /* enum oc_span_evidence */
    /* Of an interval, mid is the geometric mean, an efficiency of 52 %. With a calibration: the estimate and
     * its 80 % interval; classes have the sums of their kernels. */
    double lo_s, mid_s, hi_s;
    double part_s[OC_SPAN_PARTS]; /* of mid */
    /* Arithmetic without a peak in the device's file that the times exclude: its classes as a bit set, and
     * its share of the operations. Never multiply-adds; more than OC_SPAN_LEFT_OUT makes the times unknown.
     */
    uint32_t left_out;
    double left_out_part;
    uint32_t unknown_kernels; /* kernels without a prediction, not in the estimate */
    char missing[48];         /* why the times are not known; "": they are */
};
#define OC_SPAN_LEFT_OUT 0.01

double oc_band_middle(void); /* the efficiency of mid */

struct oc_span_in {
    const struct oc_device *device;
    const struct oc_rank_load *load;
    bool cache; /* of an interval: bytes count at the nearest level that can contain them, as in struct
                 * oc_roof_opts
                 */
    const struct oc_pooled_load *pooled; /* kernels of the load, for oc_pooled_covers; NULL: not requested */
    double bound_s;                      /* of the load on the device, with `pooled`; NAN: unknown */
    const struct oc_calibration *cal;    /* of this device; NULL: interval only */
    const struct oc_analysis *analysis;  /* at the batch of the load; needed with cal only */
};

/* by_class: one for each enum oc_op_class, or NULL. */
void oc_span_of(const struct oc_span_in *in, struct oc_span *whole, struct oc_span *by_class);

/* Private: the result with a calibration (rank_span.c), and an unknown one with its reason. */
void oc_span_unknown(struct oc_span *s, const char *what);

/* The part with the most time; OC_SPAN_PARTS: none, or unknown. */
unsigned oc_span_limit(const struct oc_span *s);

/* ---- rank phases ------------------------------------------------------------------------------------ */

/* Finds changes of a property as the batch grows: evaluates 1, 2, 4 ..., and bisects between two of these
 * that differ. A change that is reverted between two of them is not found. */

struct oc_rank_phases;

/* Value of the property at a batch. */
typedef int (*oc_phase_fn)(void *ctx, int64_t batch);

#define OC_MOST_PHASES 64 /* further changes are not reported */
void oc_find_phases(oc_phase_fn what, void *ctx, int64_t most, struct oc_arena *arena,
                    struct oc_rank_phases *out);

#endif
