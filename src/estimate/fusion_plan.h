/* The kernels that a runtime will make of a model, guessed from the graph: which nodes it fuses, which it
 * drops, which layout changes it inserts. Two sets of rules: those of ONNX Runtime's CPU provider with all
 * optimizations (checked against models that it saved), and a generic one, of what every optimizing runtime
 * does: convolution or matrix product with bias, normalisation, residual and activation, chains of
 * element-wise operators. It knows nothing of times. */
#ifndef OC_FUSION_PLAN_H
#define OC_FUSION_PLAN_H

#include "estimate/kernels.h"

enum oc_fusion_rules { OC_FUSE_ORT_CPU, OC_FUSE_GENERIC, OC_FUSE_NONE, OC_FUSE_COUNT };
const char *oc_fusion_rules_name(unsigned rules);   /* "onnxruntime", "generic", "none" */
unsigned oc_fusion_rules_by_name(const char *name); /* OC_FUSE_COUNT if none */

/* In the order of the model. Items of inserted layout changes have no nodes. */
void oc_fusion_plan(const struct oc_model *m, const struct oc_analysis *a, enum oc_fusion_rules rules,
                    struct oc_arena *arena, struct oc_kernel_list *out);

/* How far a plan is what was recorded: kernels with the same nodes; of inserted ones, with the same bytes. */
struct oc_fusion_match {
    uint32_t recorded, planned, equal; /* kernels; equal: recorded ones that the plan has */
    double equal_time;                 /* share of the recorded time; NAN without */
};
void oc_fusion_compare(const struct oc_model *m, const struct oc_analysis *a,
                       const struct oc_kernel_list *plan, const struct oc_kernel_list *recorded,
                       const double *time_s, struct oc_fusion_match *out);

/* ---- private to the files of the plan --------------------------------------------------------------------
 */

#define OC_FUSE_MAX 40 /* nodes in a group made by a rule */

struct oc_fuse_group {
    uint32_t *node; /* arena */
    uint32_t n_node, cap;
    uint32_t core;    /* node that it is built around */
    uint32_t out;     /* value that leaves it at its end, OC_NONE */
    const char *type; /* what the runtime calls it */
    const char *rule; /* NULL: a node by itself */
    bool activated;   /* has an activation already: nothing more is fused behind */
    bool summed;      /* has a residual */
    bool blocked;     /* computes in the blocked layout */
    bool gone;        /* merged into another one */
};

struct oc_fuse {
    struct oc_kernel_maker maker;
    const struct oc_model *m;
    const struct oc_analysis *a;
    struct oc_arena *arena;
    enum oc_fusion_rules rules;
    struct oc_fuse_group *group; /* one for each launched node at first */
    uint32_t n_group;
    uint32_t *owner;      /* by node: group, OC_NONE: not launched */
    bool *dropped;        /* by node: an operator that changes nothing: its users read what it reads */
    bool *dead;           /* by node: taken out by an optimizer */
    bool *constant_shape; /* by node: a Reshape whose shape an optimizer makes a constant */
    uint32_t *twin_of;    /* by value: the equal one that stays, or itself */
    uint32_t *next_twin;  /* by value: the next equal one, OC_NONE */
    bool *constant;  /* by value: before any input is known, as a runtime sees it when it loads the model */
    bool *plain;     /* by value: also there in the plain layout */
    bool *blocked;   /* by value: made in the blocked layout */
    bool *reordered; /* by value: brought into it */
    bool static_shapes; /* the model declares all sizes of its inputs: sizes are constants to the runtime */
};

/* Through operators that change nothing. */
uint32_t oc_fuse_source(const struct oc_fuse *f, uint32_t value);
/* The only node that reads the value, OC_NONE: several, none, or it leaves the graph. */
uint32_t oc_fuse_user(const struct oc_fuse *f, uint32_t value);
uint32_t oc_fuse_users(const struct oc_fuse *f, uint32_t value); /* how many; a graph output counts as one */
bool oc_fuse_is(const struct oc_fuse *f, uint32_t node, const char *types);    /* " Relu Clip " */
uint32_t oc_fuse_input(const struct oc_fuse *f, uint32_t node, uint32_t slot); /* source of it; OC_NONE */
bool oc_fuse_const(const struct oc_fuse *f, uint32_t value);
const struct oc_shape *oc_fuse_shape(const struct oc_fuse *f, uint32_t value); /* known, or NULL */
double oc_fuse_elements(const struct oc_fuse *f, uint32_t value);              /* -1: not known */
/* `from` and its nodes become part of `into`, whose end is then the value `out`. */
void oc_fuse_merge(struct oc_fuse *f, uint32_t into, uint32_t from, uint32_t out, const char *rule,
                   const char *type);

bool oc_fuse_launched(const struct oc_fuse *f, uint32_t node); /* neither folded nor in a branch not taken */
void oc_fuse_simplify(struct oc_fuse *f);                      /* fusion_simplify.c: before groups are made */
void oc_fuse_patterns(struct oc_fuse *f);                      /* fusion_patterns.c: norms, GELUs */
void oc_fuse_chains(struct oc_fuse *f);                        /* fusion_rules.c: what follows what */
/* fusion_layout.c: blocked convolutions with residuals; inserted kernels are appended to the list */
void oc_fuse_layout(struct oc_fuse *f, struct oc_kernel_list *out);

#endif
