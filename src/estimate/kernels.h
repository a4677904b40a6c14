/* The kernels of a run: measured ones from a join, and any set of nodes as one kernel. It determines the
 * nodes and sizes of a kernel; times are in samples.h, fusion in fusion_plan.h.
 */
#ifndef OC_KERNELS_H
#define OC_KERNELS_H

#include "analyze/analysis.h"
#include "estimate/roofline.h"
#include "join/join.h"
#include "ops/op.h"

/* ---- kernel -------------------------------------------------------------------------------------- */

/* One kernel launched by a runtime, possibly of several fused nodes, with its class, its work and its sizes.
 * The same type is used for measured kernels (a join) and planned ones (a fusion plan). Sizes are counts of
 * elements, times seconds. */

enum oc_kernel_group { OC_KG_COMPUTE, OC_KG_MEMORY, OC_KG_IRREGULAR, OC_KG_COUNT };

const char *oc_kernel_class_name(unsigned cls);     /* "conv_1x1" */
unsigned oc_kernel_class_by_name(const char *name); /* OC_KC_COUNT if unknown */
enum oc_kernel_group oc_kernel_class_group(unsigned cls);
const char *oc_kernel_group_name(unsigned group); /* "compute" */

enum { OC_WEIGHTS_UNSIGNED = 1, OC_WEIGHTS_SIGNED = 2 };

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
    double scalar;         /* time of its operations on a processor, over that of its class; 0: the same */
    uint8_t weight_sign;   /* of a kernel of integers: OC_WEIGHTS_...; 0: unknown, or no integers */
    uint16_t op;           /* hash of its operator type, 0: unknown */
    double steps;          /* in sequence: of a recurrent layer, images of a convolution; else 0 */
    uint64_t reload_bytes; /* weights read again in every step but the first; not in rd_wt */
    uint32_t members;      /* nodes in it */
    double assisted;       /* share of its vectors of weights with a subnormal number */
    bool rectified;        /* then: its input comes from Relu */
    uint64_t
        signature;     /* hash of class, type, all sizes and attributes that determine the work; 0: unknown */
    uint32_t node;     /* node that determines its class; OC_NONE */
    const char *label; /* display name; may be NULL */
};

/* ---- kernels ------------------------------------------------------------------------------------- */

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
    struct oc_kernel_use *item; /* arena; heap if it grows */
    size_t n, cap;              /* cap: of one that grows */
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

/* ---- kernel class -------------------------------------------------------------------------------- */

/* Contractions get their class without special sizes: OC_KC_GEMM, OC_KC_CONV_KXK, OC_KC_ATTENTION_PREFILL;
 * kernel_class.c refines these. NULL, an operator without a row: OC_KC_OTHER. */
unsigned oc_kernel_class_of_op(const struct oc_op *op);

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Sizes of a kernel from its main node: the contraction, the window, and the class refined by them. k->cls is
 * that of the operator and is refined; m, n, k, batch, the window and channels_in are set, 0 for unknown sizes;
 * and the sign of integer weights. For one execution of the node. */
void oc_kernel_dims(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                    struct oc_kernel *k);

/* ---- subnormal weights ------------------------------------------------------------------------------ */

/* Weights that are subnormal floats (below 2^-126). Intel processors multiply with them in microcode: a vector
 * multiply-add with one in it takes 150 cycles. In kernels of 14 public networks, ONNX Runtime 1.30 on AVX-512, the time
 * above that of the same kernel with other weights was 134 to 187 cycles per such instruction where the input has both
 * signs, and less after Relu, since products with zero are exact. */

/* Share of subnormal numbers in the f32 constants that the nodes read, 0 to 1: of a sample of at most 16384
 * elements of each constant, at 16 places. */
double oc_subnormal_share(const struct oc_model *m, const uint32_t *node, uint32_t n_node);

/* A convolution with 0.3 % of such weights took nine times as long. */
#define OC_SUBNORMAL_LEAST 0.001
/* A kernel with such weights takes at most so many times its time: the largest measured ratio, 32, rounded
 * up. */
#define OC_SUBNORMAL_MOST 40

/* Sets `assisted` and `rectified` of kernels that multiply such weights on such a processor. */
void oc_subnormal_mark(const struct oc_model *m, const struct oc_device *d, struct oc_kernel_list *list);

/* Seconds that they add to one execution of a marked kernel: as expected, 0 on processors of AMD, which were not
 * measured; and if no input is zero. */
struct oc_assists {
    double usual_s, most_s;
};
struct oc_assists oc_subnormal_assists(const struct oc_kernel *k, const struct oc_device *d);

#endif
