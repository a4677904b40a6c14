/* Device time that the source has summed already: rows of (label, kernel) with total and calls, made into
 * records and kernels. There is no time of single runs in such tables; the number of runs is told or taken
 * from the counts (their greatest common divisor), and times are means. */
#ifndef OC_SUM_ROWS_H
#define OC_SUM_ROWS_H

#include "profile/launches.h"

struct oc_sum_row {
    const char *name;                /* of the kernel or copy, interned; NULL: all work of the label */
    struct oc_label label;           /* name NULL: none */
    const char *variant;             /* see oc_nvtx_label */
    uint8_t kind;                    /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    double total_ns, min_ns, max_ns; /* of calls; NAN: unknown */
    uint64_t calls, instances;       /* instances: of the label's range, 0: unknown */
    uint64_t where;
};

struct oc_sum_rows {
    struct oc_sum_row *row; /* heap, freed by the owner */
    size_t n, cap;
    uint64_t runs;        /* 0: by the counts */
    double unlabelled_ns; /* kernels that are in no row, for a bucket; 0: none */
    bool host;            /* the times are the host's */
};

void oc_sum_rows_finish(const struct oc_sum_rows *rows, struct oc_profile *out,
                        const struct oc_profile_opts *opts);

#endif
