/* Reads measured kernels from recordings: model, profile and, if available, the optimized model saved by the
 * runtime. Kernels of the same signature in one recording are one sample; rejected kernels are counted. */
#ifndef OC_SAMPLES_READ_H
#define OC_SAMPLES_READ_H

#include "base/diag.h"
#include "estimate/kernels.h"
#include "estimate/recordings.h"
#include "estimate/samples.h"

enum oc_reject_reason {
    OC_REJECT_UNMATCHED, /* on no node, and not a layout change with recorded shapes */
    OC_REJECT_UNKNOWN,   /* its counts are unknown, or contradict the profile */
    OC_REJECT_PART,      /* one of several kernels of the same nodes */
    OC_REJECT_CONTROL,   /* contains other kernels */
    OC_REJECT_TIMER,     /* shorter than five ticks of the timer */
    OC_REJECT_SPREAD,    /* (p90 - p10) / median over one half */
    OC_REJECT_TIMELESS,  /* no time, or no time of its own */
    OC_REJECT_COUNT
};
const char *oc_reject_reason_name(unsigned reason);

struct oc_reject {
    uint32_t n;
    double time_s; /* per run of each recording, summed */
};

struct oc_samples {
    struct oc_arena arena;
    struct oc_sample_set set;
    const struct oc_device *device; /* NULL: not given */
    struct oc_reject reject[OC_REJECT_COUNT];
    double kernels_s; /* of all kernels of all recordings, per run */
    uint32_t n_kernel;
    struct oc_diags diags;
};

/* oc_samples_read, oc_samples_free, struct oc_samples_opts: see onnxcost.h. */

/* Clock resolution of a profile format (1 us for ONNX Runtime), by the name of the importer, in seconds; 0:
 * negligible. */
double oc_timer_tick_s(const char *importer);

#endif
