/* Device time that the source has already summed: rows of (label, kernel) with total and calls, converted
 * to records and kernels. Such tables have no times of single runs: the number of runs is given, or
 * unknown, and times are means. */
#ifndef OC_SUM_ROWS_H
#define OC_SUM_ROWS_H

#include "profile/launches.h"
#include "onnxcost.h"

struct oc_sum_row {
    const char *name;                /* name of the kernel or copy, interned; NULL: all work of the label */
    struct oc_label label;           /* name NULL: none */
    const char *variant;             /* see oc_nvtx_label */
    uint8_t kind;                    /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    double total_ns, min_ns, max_ns; /* total over calls; NAN: unknown */
    uint64_t calls, instances;       /* number of instances of the label's range, 0: unknown */
    uint64_t where;
};

struct oc_sum_rows {
    struct oc_sum_row *row; /* on the heap, freed by the owner */
    size_t n, cap;
    uint64_t runs;        /* 0: unknown */
    double unlabelled_ns; /* time of kernels that are in no row, for a bucket; 0: none */
    bool host;            /* the times are host times */
};

void oc_sum_rows_finish(const struct oc_sum_rows *rows, struct oc_profile *out,
                        const struct oc_profile_opts *opts);

#endif
