/* Several profiles of one model side by side. Runtimes fuse differently, so the rows are the smallest sets of
 * nodes that no source cuts through: two nodes are in one set when some source has both in one record. Every
 * record on nodes belongs to exactly one set, and no time is split. */
#ifndef OC_COMPARE_H
#define OC_COMPARE_H

#include "join/join.h"

struct oc_compare_cell {     /* what one source has on one set of nodes, of one run */
    double time_ns;          /* device time where it has any there, else the host's own; NAN: none */
    double host_ns;          /* own time on the host; NAN: none */
    bool device;             /* time_ns is of the device */
    uint32_t records, first; /* how many; the first one, OC_NONE */
    double flop, bytes;      /* measured by counters, NAN: not */
};

struct oc_compare_row {
    struct oc_join_rec cost;      /* nodes and their cost as one operator */
    struct oc_compare_cell *cell; /* by source */
    uint32_t chosen;              /* source of the best time: device counters before host clocks; OC_NONE */
};

struct oc_compare {
    struct oc_arena arena;
    const struct oc_compare_source *source;
    uint32_t n_source;
    struct oc_compare_row *row; /* in the order of their first nodes */
    uint32_t n;
    double *total_ns;  /* by source: on nodes */
    double *beside_ns; /* in rows that the runtime added, or unmatched */
};

/* The sources' joins must be of this model and analysis. */
void oc_compare_make(const struct oc_model *m, const struct oc_analysis *a,
                     const struct oc_compare_source *source, uint32_t n, struct oc_compare *out);
void oc_compare_free(struct oc_compare *c);

/* How good a source's times are: kernels of Nsight Systems, TensorRT's own, device times of a runtime, its
 * host times; 0: replayed kernels, no times at all (Nsight Compute). */
unsigned oc_compare_rank(const struct oc_profile *p, bool device);

#endif
