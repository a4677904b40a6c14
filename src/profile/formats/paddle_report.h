/* The text report of Paddle Inference (config.EnableProfile()), unmodified, for a summary with the same
 * columns. It is oc_profile.native of the importer "paddle_report"; times in nanoseconds, NAN: not in the
 * report. */
#ifndef OC_PADDLE_REPORT_H
#define OC_PADDLE_REPORT_H

#include "profile/profile.h"

struct oc_paddle_row { /* row i belongs to record i of the profile */
    uint32_t depth;    /* nesting depth: rows of depth 0 add up, deeper rows are part of the row above */
    double calls, total_ns, cpu_ns, gpu_ns;
    double min_ns, max_ns, ave_ns; /* per call */
    double ratio;                  /* fraction, as printed */
};

struct oc_paddle_report {
    const struct oc_paddle_row *row;
    uint32_t n_row;
};

#endif
