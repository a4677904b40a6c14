/* Everything that is measured of this machine, and the device file made of it. */
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
    struct oc_rate clock[2]; /* Hz of a core: one busy, all busy */
    struct oc_levels levels;
    double region_awake_s, region_asleep_s; /* 0: one thread has none */
    struct oc_timer timer;
    double took_s;
    char when[32]; /* "2026-05-04 13:30 UTC" */
};

/* The device file: XML in the form of hwdb/hwdb.rng. */
void oc_measured_write_xml(const struct oc_measured *m, struct oc_buf *out);

/* How many peaks have most samples far below the best: other programs were at work. */
unsigned oc_measured_noisy(const struct oc_measured *m);

/* What a reader of the figures should know: slowing down, other load, claims that do not hold. */
void oc_measured_judge(const struct oc_measured *m, struct oc_diags *out);

#endif
