/* The text report of Paddle Inference (config.EnableProfile()), unmodified, for a summary with the same
 * columns. It is oc_profile.native of the importer "paddle_report"; times in nanoseconds, NAN: not in the
 * report. */
#ifndef OC_PADDLE_REPORT_H
#define OC_PADDLE_REPORT_H

#include "profile/profile.h"

struct oc_paddle_row { /* row i belongs to record i of the profile */
    uint32_t report;   /* index into report */
    uint32_t depth;    /* nesting depth: rows of depth 0 add up, deeper rows are part of the row above */
    double calls, total_ns, cpu_ns, gpu_ns;
    double min_ns, max_ns, ave_ns; /* per call */
    double ratio;                  /* fraction, as printed */
};

struct oc_paddle_copy { /* of "GpuMemCpy Summary" */
    const char *name;
    uint32_t depth;
    double calls, total_ns, ratio; /* ratio: a fraction of the total time */
};

struct oc_paddle_head { /* one report; a file may contain several */
    const char *place;  /* "All", "CPU", "GPU"; "": unknown */
    const char *order;  /* "Sorted by ..." */
    bool merged;        /* all threads merged */
    double total_ns, computation_ns, overhead_ns;
    double computation_ratio, overhead_ratio; /* fractions */
    const struct oc_paddle_copy *copy;
    uint32_t n_copy;
    uint32_t line;
};

struct oc_paddle_report {
    const struct oc_paddle_head *report;
    uint32_t n_report;
    const struct oc_paddle_row *row;
    uint32_t n_row;
};

#endif
