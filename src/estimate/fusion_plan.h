/* Fusion plan: predicts from the graph the kernels of a runtime: which nodes it fuses, which it removes,
 * which layout changes it inserts. Two sets of rules: those of ONNX Runtime's CPU provider with all
 * optimizations (verified with models that it saved), and a generic one with the fusions common to optimizing
 * runtimes: convolution or matrix product with bias, normalisation, residual and activation, chains of
 * element-wise operators. */
#ifndef OC_FUSION_PLAN_H
#define OC_FUSION_PLAN_H

#include "estimate/kernels.h"

enum oc_fusion_rules {
    OC_FUSE_ORT_CPU, /* with all optimizations; blocks of 16 channels: AVX-512 */
    OC_FUSE_GENERIC,
    OC_FUSE_NONE,
    OC_FUSE_ORT_BASIC,    /* folded constants, folded scales and biases, equal nodes merged */
    OC_FUSE_ORT_EXTENDED, /* all fusions, no blocked layout */
    OC_FUSE_ORT_AVX2,     /* with all optimizations; blocks of 8 channels: AVX2 and older */
    OC_FUSE_ORT_NEON,     /* with all optimizations, no blocked layout: ARM64 */
    OC_FUSE_COUNT
};
const char *oc_fusion_rules_name(unsigned rules);   /* "onnxruntime", "onnxruntime-basic" */
unsigned oc_fusion_rules_by_name(const char *name); /* OC_FUSE_COUNT if unknown */

/* Channels in a block of ONNX Runtime's blocked layout (MlasNchwcGetBlockSize): 16 with AVX-512, 8 with older
 * instruction sets of x86; 1: no such kernels, as on ARM64 and at lower levels. */
unsigned oc_fusion_block(unsigned rules);
/* "avx512", "avx2", "neon"; NULL: the rules do not depend on the instruction set. */
const char *oc_fusion_simd(unsigned rules);
unsigned oc_fusion_rules_by_simd(const char *simd); /* OC_FUSE_COUNT if unknown */

/* In model order. Inserted layout changes have no nodes. */
void oc_fusion_plan(const struct oc_model *m, const struct oc_analysis *a, enum oc_fusion_rules rules,
                    struct oc_arena *arena, struct oc_kernel_list *out);

/* The kernels of several nodes, in model order, without their costs: nodes sorted, rule that made it. The arena may be
 * freed afterwards. */
typedef void oc_see_fused(void *ctx, const uint32_t *node, uint32_t n_node, const char *rule);
void oc_fusion_groups(const struct oc_model *m, const struct oc_analysis *a, enum oc_fusion_rules rules,
                      struct oc_arena *arena, oc_see_fused *see, void *ctx);

/* Agreement of a plan with recorded kernels: those with the same nodes; of inserted ones, with the same
 * bytes. Sets `planned` of those. */
struct oc_fusion_match {
    uint32_t recorded, planned, equal; /* kernels; equal: recorded ones that are in the plan */
    double equal_time;                 /* share of the recorded time; NAN without */
};
void oc_fusion_compare(const struct oc_model *m, const struct oc_analysis *a,
                       const struct oc_kernel_list *plan, struct oc_kernel_list *recorded,
                       const double *time_s, struct oc_fusion_match *out);

/* ---- private to the files of the plan --------------------------------------------------------------- */

#define OC_FUSE_MAX 40 /* limit of nodes in a group made by a rule */

struct oc_fuse_group {
    uint32_t *node; /* arena */
    uint32_t n_node, cap;
    uint32_t core;    /* its main node */
    uint32_t out;     /* its output value, OC_NONE */
    const char *type; /* the runtime's name for it */
    const char *rule; /* name of the rule; NULL: a single node */
    bool activated;   /* already has an activation: nothing more is fused after it */
    bool summed;      /* has a residual */
    bool blocked;     /* computes in the blocked layout */
    bool views;       /* between two Reshapes */
    bool integers;    /* a kernel of a quantized model */
    bool gone;        /* merged into another group */
};

struct oc_fuse {
    struct oc_kernel_maker maker;
    const struct oc_model *m;
    const struct oc_analysis *a;
    struct oc_arena *arena;
    enum oc_fusion_rules rules;
    struct oc_fuse_group *group; /* initially one per launched node */
    uint32_t n_group;
    uint32_t *owner;      /* by node: group, OC_NONE: not launched */
    bool *dropped;        /* by node: an identity operator: its users read its input */
    bool *dead;           /* by node: removed by an optimizer */
    bool *constant_shape; /* by node: a Reshape whose shape an optimizer makes constant */
    uint32_t *same_node;  /* by node: the equal node that runs instead of it, or itself */
    uint32_t *twin_of;    /* by value: its representative among equal values, or itself */
    uint32_t *next_twin;  /* by value: the next equal value, OC_NONE */
    bool *constant; /* by value: shapes without known inputs, as available when the runtime loads the model */
    bool *plain;    /* by value: also available in the plain layout */
    bool *blocked;  /* by value: produced in the blocked layout */
    bool *reordered;    /* by value: converted to it */
    bool static_shapes; /* the model declares all input sizes: they are constants for the runtime */
    bool static_images; /* all but the first size of each input, the batch */
    struct oc_kernel_list *inserted;
};

#define OC_FUSE_RANK 8 /* limit of dimensions of permutations */

/* Follows identity operators. */
uint32_t oc_fuse_source(const struct oc_fuse *f, uint32_t value);
/* The only reader of the value, OC_NONE: none, several, or it is a graph output. */
uint32_t oc_fuse_user(const struct oc_fuse *f, uint32_t value);
uint32_t oc_fuse_users(const struct oc_fuse *f,
                       uint32_t value); /* number of readers; a graph output counts as one */
/* Rules that look at all readers of a value look at few, so that all together are linear. */
static inline bool oc_fuse_has_few_readers(const struct oc_fuse *f, uint32_t value)
{
    return f->maker.x.use_first[value + 1] - f->maker.x.use_first[value] <= 64;
}
bool oc_fuse_is(const struct oc_fuse *f, uint32_t node, const char *types);    /* " Relu Clip " */
bool oc_fuse_group_is(const struct oc_fuse_group *g, const char *types);       /* by the type of the group */
uint32_t oc_fuse_input(const struct oc_fuse *f, uint32_t node, uint32_t slot); /* its producer; OC_NONE */
uint32_t oc_fuse_group_of(const struct oc_fuse *f, uint32_t value);            /* of its producer; OC_NONE */
bool oc_fuse_const(const struct oc_fuse *f, uint32_t value);
/* Of a constant with one element. */
bool oc_fuse_number(const struct oc_fuse *f, uint32_t value, double *v);
const struct oc_shape *oc_fuse_shape(const struct oc_fuse *f, uint32_t value); /* the constant, or NULL */
double oc_fuse_elements(const struct oc_fuse *f, uint32_t value);              /* -1: unknown */
void oc_fuse_add_node(struct oc_fuse *f, struct oc_fuse_group *g, uint32_t node);
/* Merges `from` into `into`, whose output becomes the value `out`. */
void oc_fuse_merge(struct oc_fuse *f, uint32_t into, uint32_t from, uint32_t out, const char *rule,
                   const char *type);

bool oc_fuse_launched(const struct oc_fuse *f, uint32_t node); /* neither folded nor in a branch not taken */
void oc_fuse_simplify(struct oc_fuse *f); /* fusion_simplify.c: runs before groups are made */
/* Sizes that are equal for the runtime: declared ones, also of the tensors that they come from. */
bool oc_fuse_same_size(const struct oc_fuse *f, uint32_t a, uint32_t b, unsigned axis);
void oc_fuse_split(struct oc_fuse *f, uint32_t node); /* Gathers and Slices of one axis */
void oc_fuse_qdq(struct oc_fuse *f); /* fusion_types.c: integer kernels of quantized models */
/* and the Transposes around those with channels last; appended to the list */
void oc_fuse_qdq_layout(struct oc_fuse *f, struct oc_kernel_list *out);
/* Of a Transpose after the permutation `perm` of n dimensions; n 0: after none. */
bool oc_fuse_permute(const struct oc_fuse *f, uint32_t node, int64_t *perm, unsigned *n);
void oc_fuse_patterns(struct oc_fuse *f); /* fusion_rules.c: norms, GELUs */
void oc_fuse_chains(struct oc_fuse *f);   /* fusion_rules.c: producer-consumer rules */
/* The permutation of a value that an operator with fewer dimensions makes from a transposed
 * one, n 0: of another value; Transposes go after such operators */
void oc_fuse_moved(const struct oc_fuse *f, uint32_t value, int64_t *perm, unsigned *n);
void oc_fuse_move(struct oc_fuse *f);
/* Whether the runtime has numbers for all sizes of the value when it loads the model. */
bool oc_fuse_has_numbers(const struct oc_fuse *f, uint32_t value);
bool oc_fuse_takes_zeros(const struct oc_fuse *f, uint32_t reshape); /* 0 is a size: allowzero */
/* The Reshapes around a Gemm, unless there is another one that they become a part of. */
void oc_fuse_insert_views(struct oc_fuse *f, const struct oc_fuse_group *g);
/* fusion_types.c: number of kernels of the group; appends them if they are several */
size_t oc_fuse_function_size(const struct oc_fuse *f, const struct oc_fuse_group *g);
bool oc_fuse_function(struct oc_fuse *f, const struct oc_fuse_group *g, struct oc_kernel_list *out);
/* Of float, or of half precision that is computed in float; kernels that do so; the Casts */
bool oc_fuse_is_float(const struct oc_fuse *f, uint32_t value);
bool oc_fuse_in_float(const struct oc_fuse *f, uint32_t group);
void oc_fuse_casts(const struct oc_fuse *f, struct oc_kernel_list *out);
/* fusion_layout.c: blocked convolutions with residuals; inserted kernels are appended to the list */
void oc_fuse_layout(struct oc_fuse *f, struct oc_kernel_list *out);
/* A kernel that copies or views a tensor, with no node: a layout change, a Reshape. Bytes < 0: unknown. */
void oc_fuse_insert(const struct oc_fuse *f, const char *type, uint32_t value, double read_bytes,
                    double written_bytes, struct oc_kernel_list *out);

#endif
