/* The kernels of a run: measured ones from a join, and any set of nodes as one kernel. It decides what a
 * kernel is made of and how large it is; times are in samples_read.h, guesses about fusion in fusion_plan.h.
 */
#ifndef OC_KERNELS_H
#define OC_KERNELS_H

#include "estimate/kernel.h"
#include "join/group_cost.h"

/* A kernel with its place in the model. */
struct oc_kernel_use {
    struct oc_kernel kernel; /* of one execution */
    const uint32_t *node;    /* that it computes, in the order of the model; none: the runtime inserted it */
    uint32_t n_node;
    uint32_t record;  /* of the profile, OC_NONE */
    double calls;     /* executions in a run */
    const char *rule; /* of the fusion plan that made it; NULL */
    bool known;       /* false: counts are missing or contradict the profile; the kernel is no use */
    const char *why;  /* not known; NULL */
};

struct oc_kernel_list {
    struct oc_kernel_use *item; /* arena */
    size_t n;
};

/* What the kernels of a model are made with. The analysis and the model must outlive it. */
struct oc_kernel_maker {
    const struct oc_model *m;
    const struct oc_analysis *a;
    struct oc_arena *arena;
    struct oc_graph_index x;
    struct oc_group_costs costs;
};
void oc_kernel_maker_open(struct oc_kernel_maker *k, const struct oc_model *m, const struct oc_analysis *a,
                          struct oc_arena *arena);
void oc_kernel_maker_close(struct oc_kernel_maker *k); /* heap parts; what was made stays in the arena */

/* The nodes as one kernel of the operator type `type` (what the runtime calls it; NULL: the type of the node
 * that has the most MACs). `node` is kept. */
void oc_kernel_make(struct oc_kernel_maker *k, const uint32_t *node, uint32_t n_node, const char *type,
                    struct oc_kernel_use *out);

/* A float16 kernel on a provider that computes it in float: other peaks, twice the bytes. */
void oc_kernel_in_float(struct oc_kernel *k);

/* One for each operator record of the join's profile that has a time, in the profile's order; the join must
 * have an analysis. */
void oc_kernels_of_join(const struct oc_join *j, struct oc_arena *a, struct oc_kernel_list *out);

#endif
