/* The kernels of a run: measured ones from a join, and any set of nodes as one kernel. It determines the
 * nodes and sizes of a kernel; times are in samples.h, fusion in fusion_plan.h.
 */
#ifndef OC_KERNELS_H
#define OC_KERNELS_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"
#include "join/group_cost.h"

/* A kernel with its nodes and its record. */
struct oc_kernel_use {
    struct oc_kernel kernel; /* of one execution */
    const uint32_t *node;    /* nodes it computes, in model order; none: inserted by the runtime */
    uint32_t n_node;
    uint32_t record;  /* record of the profile, OC_NONE */
    double calls;     /* executions in a run */
    const char *rule; /* rule of the fusion plan that made it; NULL */
    const char *type; /* of a fusion plan: the runtime's operator, "FusedConv", "nchwc.Conv"; NULL */
    bool planned;     /* recorded, and in the fusion plan */
    bool known;       /* false: counts are missing or contradict the profile; the kernel is unusable */
    const char *why;  /* unknown; NULL */
};

struct oc_kernel_list {
    struct oc_kernel_use *item; /* arena */
    size_t n;
    const uint32_t *same; /* of a fusion plan: by node, the equal node that runs instead, or itself; OC_NONE:
                             * none does; NULL */
};

/* Inputs for building the kernels of a model. The analysis and the model must outlive it. */
struct oc_kernel_maker {
    const struct oc_model *m;
    const struct oc_analysis *a;
    struct oc_arena *arena;
    struct oc_graph_index x;
    struct oc_group_costs costs;
};
void oc_kernel_maker_open(struct oc_kernel_maker *k, const struct oc_model *m, const struct oc_analysis *a,
                          struct oc_arena *arena);
void oc_kernel_maker_close(struct oc_kernel_maker *k); /* heap parts; the kernels stay in the arena */

/* The nodes as one kernel of the operator type `type` (the runtime's name; NULL: the type of the node with
 * the most MACs). `node` is referenced, not copied. */
void oc_kernel_make(struct oc_kernel_maker *k, const uint32_t *node, uint32_t n_node, const char *type,
                    struct oc_kernel_use *out);

void oc_work_divide(struct oc_work *w, uint64_t by); /* all but `bytes` */

/* A float16 kernel on a provider that computes it in float: other peaks, twice the bytes. */
void oc_kernel_in_float(struct oc_kernel *k);

/* One per operator record of the join's profile that has a time, in the profile's order; the join must have
 * an analysis. */
void oc_kernels_of_join(const struct oc_join *j, struct oc_arena *a, struct oc_kernel_list *out);

/* ---- signature -------------------------------------------------------------------------------------- */

/* Hash of a kernel: class, element type, sizes, attributes that determine the work, bytes and fused
 * operators. Equal for a node of the model and for its optimized form if both do the same work. Stored in
 * calibration files: a change of the hash is a change of their format. Here: signature and operator type of a
 * kernel without a node in the model. */
void oc_kernel_sign_inserted(struct oc_kernel *k, const char *type);

#endif
