/* The kernels of a run: measured ones from a join, and any set of nodes as one kernel. It determines the
 * nodes and sizes of a kernel; times are in samples.h, fusion in fusion_plan.h.
 */
#ifndef OC_KERNELS_H
#define OC_KERNELS_H

#include "analyze/analysis.h"
#include "estimate/roofline.h"
#include "join/join.h"
#include "ops/op.h"

/* ---- kernel ------------------------------------------------------------------------------------------- */

/* One kernel launched by a runtime, possibly of several fused nodes, with its class, its work and its sizes.
 * The same type is used for measured kernels (a join) and planned ones (a fusion plan). Sizes are counts of
 * elements, times seconds. */

enum oc_kernel_group { OC_KG_COMPUTE, OC_KG_MEMORY, OC_KG_IRREGULAR, OC_KG_COUNT };

const char *oc_kernel_class_name(unsigned cls);     /* "conv_1x1" */
unsigned oc_kernel_class_by_name(const char *name); /* OC_KC_COUNT if unknown */
enum oc_kernel_group oc_kernel_class_group(unsigned cls);
const char *oc_kernel_group_name(unsigned group); /* "compute" */

enum { OC_VARIANT_UNSIGNED = 1, OC_VARIANT_SIGNED = 2 }; /* of a kernel of integers: its weights */

struct oc_kernel {
    uint8_t cls;   /* enum oc_kernel_class */
    uint8_t dtype; /* enum oc_class of the arithmetic; of the data where there is none; I32 for products of I8
                      with 32-bit results */
    struct oc_work work; /* operations by unit and class; bytes: those that cross its border */
    uint64_t rd_act, rd_wt, wr;
    /* The contraction: C[M,N] = A[M,K] B[K,N], `batch` times. A convolution: M output channels of a group, N
     * output positions of all images, K taps, batch the groups. 0: none, or unknown sizes. */
    double m, n, k, batch;
    double kernel_h, kernel_w, stride, dilation, groups; /* of windows; 0: no window */
    double channels_in;
    /* Memory access pattern: length of contiguous runs of elements. 1: every element of a row is elsewhere;
     * 0: fully contiguous, or unknown (kernels.h). */
    double run;
    uint8_t function;      /* its most frequent transcendental primitive (enum oc_prim), 0: none */
    uint8_t variant;       /* of the operator: order of axes, interpolation (kernels.c); 0: the usual one */
    uint16_t op;           /* hash of its operator type, 0: unknown */
    double steps;          /* in sequence: of a recurrent layer, images of a convolution; else 0 */
    uint64_t reload_bytes; /* weights read again in every step but the first; not in rd_wt */
    uint32_t members;      /* nodes in it */
    double assisted;       /* share of its vectors of weights with a subnormal number (subnormal.c) */
    bool rectified;        /* then: its input comes from Relu */
    uint64_t
        signature;     /* hash of class, type, all sizes and attributes that determine the work; 0: unknown */
    uint32_t node;     /* node that determines its class; OC_NONE */
    const char *label; /* display name; may be NULL */
};

/* ---- kernels ------------------------------------------------------------------------------------------ */

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

/* ---- kernel class ------------------------------------------------------------------------------------- */

/* Class of kernels of an operator, by its row in the operator tables. */

/* ---- kernel view --------------------------------------------------------------------------------------- */

/* A node with its known tensor sizes, input of kernel_class.c and kernels.c, which share it. */

struct oc_kernel_view {
    const struct oc_node *node;
    const struct oc_analysis *a;
    double macs; /* of one execution; 0: none, or unknown */
};

/* NULL: no tensor, or some size is unknown. */
static inline const struct oc_shape *oc_view_shape(const struct oc_kernel_view *v, uint32_t value)
{
    const struct oc_type *t = value == OC_NONE ? NULL : &v->a->type[value];
    return t && t->kind == OC_T_TENSOR && oc_shape_known(&t->shape) ? &t->shape : NULL;
}

static inline const struct oc_shape *oc_view_input(const struct oc_kernel_view *v, uint32_t slot)
{
    return slot < v->node->n_in ? oc_view_shape(v, v->node->in[slot]) : NULL;
}

static inline const struct oc_shape *oc_view_output(const struct oc_kernel_view *v)
{
    return v->node->n_out ? oc_view_shape(v, v->node->out[0]) : NULL;
}

/* Elements of the dimensions from `from` to before `to`. */
static inline double oc_view_product(const struct oc_shape *s, unsigned from, unsigned to)
{
    double n = 1;
    for (unsigned i = from; i < to && i < s->rank; i++)
        n *= (double)s->dim[i].v;
    return n;
}

/* ---- kernel class -------------------------------------------------------------------------------------- */

/* Contractions get their class without special sizes: OC_KC_GEMM, OC_KC_CONV_KXK, OC_KC_ATTENTION_PREFILL;
 * kernel_class.c refines these. NULL, an operator without a row: OC_KC_OTHER. */
unsigned oc_kernel_class_of_op(const struct oc_op *op);

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Sizes of a kernel from its main node: the contraction, the window, and the class refined by them. */

/* k->cls is that of the operator (kernel_class.c) and is refined; m, n, k, batch, the window and channels_in
 * are set, 0 for unknown sizes. For one execution of the node. */
void oc_kernel_dims(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                    struct oc_kernel *k);

#endif
