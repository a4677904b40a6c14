/* Sizes of a profile whose runs differ in them: image widths, lengths of sequences. Each run has the work of
 * the model at its own sizes. */
#ifndef OC_RUN_SIZES_H
#define OC_RUN_SIZES_H

#include "join/join.h"

/* Runs with the same values of all open dimensions of the inputs. */
struct oc_size_set {
    const int64_t *value; /* by oc_sizes.name; -1: not known */
    uint32_t runs;
    double min_ns, median_ns, max_ns, mean_ns; /* of the durations of the runs */
    const struct oc_totals *total;             /* of the model, one run */
    /* Of the operators that have a time, as in the headline. NAN: not known. */
    double flops, ops, bytes;             /* sums over the runs */
    uint8_t flops_quality, bytes_quality; /* enum oc_quality */
};

/* Work of a record in all used runs: at each run the cost at its sizes. Valid as in struct oc_join_rec. */
struct oc_size_rec {
    uint64_t macs, flops, ops, rd_act, rd_wt, wr, executed_macs;
    struct oc_prof_types low, high; /* smallest and largest recorded sizes; not ranked: ranks differ */
    double work_min, work_median, work_max; /* FLOPs and integer operations of a run in which it ran */
};

struct oc_sizes {
    const char **name; /* open dimensions: "sequence", "x.3" */
    bool *varies;      /* by name */
    uint32_t n_name;
    struct oc_open_dim { /* of inputs of the main graph */
        uint32_t input, axis, name;
    } * dim;
    uint32_t n_dim;
    struct oc_size_set *set; /* sorted by values */
    uint32_t n_set, runs;
    uint32_t n_shapes;       /* sets of recorded shapes */
    struct oc_size_rec *rec; /* by record of the profile */
};

/* "sequence = 16", the values that vary. */
const char *oc_size_text(const struct oc_sizes *s, const struct oc_size_set *set, struct oc_arena *a);

#endif
