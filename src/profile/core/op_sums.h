/* Rows of tables and logs of operators, summed into records: rows with equal name, type and shapes are one
 * record. Such sources have no run events: times are sums of the whole recording unless the file says how
 * many runs it has. */
#ifndef OC_OP_SUMS_H
#define OC_OP_SUMS_H

#include "base/buf.h"
#include "onnxcost_types.h"
#include "profile/core/rec_list.h"
#include "profile/core/timeline.h"

struct oc_op_row {
    struct oc_str name, type, provider;
    uint8_t kind;                    /* OC_EV_OPERATOR, OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    bool device;                     /* the time is device time */
    const char *overhead;            /* as in struct oc_prof_rec, static */
    double total_ns, min_ns, max_ns; /* of all calls; of one call, NAN: unknown */
    uint64_t calls;                  /* 0: unknown */
    struct oc_str shapes;            /* text of the shapes: separates records */
    bool has_flop;                   /* flop, of all calls, is the source's estimate; NAN: unknown */
    double flop;
    uint64_t where;
    /* Sets the members below for the first row of a record; types are in the arena. NULL: none. */
    void (*types)(struct oc_arena *a, const void *ctx, struct oc_op_row *row);
    const void *ctx;
    const struct oc_type *in, *out; /* NULL: not recorded */
    uint32_t n_in, n_out;
};

struct oc_op_rows {
    struct oc_profile *p;
    const struct oc_profile_opts *opts;
    struct oc_rec_list list;
    struct oc_map of;
    struct oc_arena scratch;
    struct oc_buf key;
    uint8_t *kind; /* of each record */
    size_t kind_cap;
    uint64_t runs; /* that the file reports; 0: unknown */
    double run_ns; /* duration of a run that the file reports, NAN: unknown */
    bool means;    /* the rows are means of a run: with `runs` they become sums */
    bool device;
    const char *event; /* the rows count this instead of time: records get shares; NULL: time */
};

/* Device work as nsys and nvprof name it: "[CUDA memcpy HtoD]", "f(int) [418]" with the number of the launch.
 */
uint8_t oc_cuda_kind(struct oc_str name);
struct oc_str oc_cuda_name(struct oc_str name); /* without that number */

void oc_op_rows_init(struct oc_op_rows *t, struct oc_profile *p, const struct oc_profile_opts *opts);
void oc_op_rows_add(struct oc_op_rows *t, const struct oc_op_row *row);
void oc_op_rows_clear(struct oc_op_rows *t); /* drops the rows added so far */
/* Moves records and kernels to the profile and sets its totals and runs. */
void oc_op_rows_finish(struct oc_op_rows *t);
void oc_op_rows_free(struct oc_op_rows *t);

/* ---- sum rows --------------------------------------------------------------------------------------- */

/* Device time that the source has already summed: rows of (label, kernel) with total and calls, converted
 * to records and kernels. Such tables have no times of single runs: the number of runs is given, or
 * unknown, and times are means. */

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
