/* Compares several profiles of one model. Runtimes fuse differently, so the rows are the smallest sets of
 * nodes that no source splits: two nodes are in one set if some source has both in one record
 * (union-find). Every record on nodes belongs to exactly one set, and no time is split. */
#ifndef OC_COMPARE_H
#define OC_COMPARE_H

#include "join/join.h"

struct oc_compare_cell {     /* time of one source on one set of nodes, per run */
    double time_ns;          /* device time if any record of the set has it, otherwise host time; NAN: none */
    double host_ns;          /* self time on the host; NAN: none */
    bool device;             /* time_ns is device time */
    bool is_launch;          /* time_ns is host time, and that of launches: not comparable with the work */
    uint32_t records, first; /* number of records; the first one, OC_NONE */
    double flop, bytes;      /* measured by counters, NAN: not measured */
};

struct oc_compare_row {
    struct oc_join_rec cost;      /* nodes and their cost as one operator */
    struct oc_compare_cell *cell; /* indexed by source */
    uint32_t chosen;              /* source with the shortest time, device counters before host clocks;
                                   * OC_NONE */
};

struct oc_compare {
    struct oc_arena arena;
    const struct oc_compare_source *source;
    uint32_t n_source;
    struct oc_compare_row *row; /* sorted by their first nodes */
    uint32_t n;
    double *total_ns;  /* by source: time attributed to nodes */
    double *beside_ns; /* runtime-inserted, or unattributed */
};

/* The sources' joins must be of this model and analysis. */
void oc_compare_make(const struct oc_model *m, const struct oc_analysis *a,
                     const struct oc_compare_source *source, uint32_t n, struct oc_compare *out);
void oc_compare_free(struct oc_compare *c);

/* Rank of a source's times: kernels of Nsight Systems, TensorRT's own times, device times of a runtime,
 * host times; 0: replayed kernels (Nsight Compute) or no times. */
unsigned oc_compare_rank(const struct oc_profile *p, bool device);

#endif
