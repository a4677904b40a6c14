/* All measurements of this machine, and the device file made from them. */
#ifndef OC_MEASURE_H
#define OC_MEASURE_H

#include "base/buf.h"
#include "base/diag.h"
#include "measure/levels.h"

#define OC_MAX_PEAKS 64

struct oc_peak_rate {
    const struct oc_peak_kernel *kernel;
    struct oc_rate one, all;
};

struct oc_measured {
    unsigned threads;
    bool quick;
    struct oc_machine machine;
    uint32_t features;
    struct oc_peak_rate peak[OC_MAX_PEAKS];
    unsigned n_peak;
    struct oc_rate clock[2]; /* core clock in Hz: one core busy, all cores busy */
    struct oc_levels levels;
    double region_awake_s, region_asleep_s; /* 0 with one thread */
    struct oc_timer timer;
    double took_s;
    char when[32]; /* "2026-05-04 13:30 UTC" */
};

/* Writes the device file: XML as in hwdb/hwdb.rng. */
void oc_measured_write_xml(const struct oc_measured *m, struct oc_buf *out);

/* Number of peaks whose samples are mostly far below the best: other programs were running. */
unsigned oc_measured_noisy(const struct oc_measured *m);

/* Why a peak cannot be right, or is not the machine's: "more operations per cycle than avx2 has". NULL: no
 * doubt. */
const char *oc_measured_doubt(const struct oc_measured *m, unsigned peak);
/* Takes the better of two measurements of a peak, the lower one if the first is above the limit. */
void oc_measured_again(struct oc_measured *m, unsigned peak, const struct oc_peak_rate *again);

/* Warnings about the figures: slow-down, other load, reported values that do not agree. */
void oc_measured_judge(const struct oc_measured *m, struct oc_diags *out);

#endif
