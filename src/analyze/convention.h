/* Counting conventions of other tools (cost-semantics section 9), as data: weights of primitives and
 * rules by operator. */
#ifndef OC_CONVENTION_H
#define OC_CONVENTION_H

#include "ops/op.h"

struct oc_convention;

/* The same; for NULL and "onnxcost" (the default counting) *out is NULL. -1: no such convention. */
int oc_convention_set(const char *name, const struct oc_convention **out);

/* Counting options that belong to the convention (taps on data only, n - 1 reductions, full attention). */
void oc_convention_options(const struct oc_convention *v, struct oc_op_ctx *c);

/* Whether a loop's body counts once, whatever its trips. False for NULL. */
bool oc_convention_loops_once(const struct oc_convention *v);
/* Whether nodes of constants count. False for NULL. */
bool oc_convention_counts_folded(const struct oc_convention *v);

/* The count that the tool prints for one execution of the node, from its histogram. Overflow is recorded in
 * c. */
uint64_t oc_convention_count(const struct oc_convention *v, struct oc_op_ctx *c, const struct oc_cost *k);

/* The same count in parts: mac_part + rest. */
struct oc_count_parts {
    uint64_t macs, unit; /* MACs under the convention's options, and the weight of one MAC */
    uint64_t mac_part;   /* unit * macs, unless mac_text is set */
    uint64_t rest;
    const char *mac_text;  /* explains another mac_part; NULL */
    const char *rest_text; /* how the rest is counted: "7 per input element" */
};
/* v NULL: the default counting, with the weights. Texts are static or in the arena of c. */
void oc_convention_parts(const struct oc_convention *v, const uint32_t *weight, struct oc_op_ctx *c,
                         const struct oc_cost *k, struct oc_count_parts *out);

/* ---- convention rules ---------------------------------------------------------------------------------- */

/* How the tables of counting conventions describe the count of an operator. */

/* N(x), N(o): elements of input 0 and of output 0. */
enum oc_rule_kind {
    OC_R_NOTHING,
    OC_R_PER_OUT,   /* a * N(o) */
    OC_R_PER_IN,    /* a * N(x) */
    OC_R_IN_OUT,    /* a * N(x) + b * N(o) */
    OC_R_ROWS,      /* a * N(x) + b * product of the dimensions before the axis; b may be negative */
    OC_R_AXIS_ROWS, /* a * N(x) + b * N(x) / dimension at the axis; b may be negative */
    OC_R_INPUTS,    /* N(o) * (max(inputs, a) - 1) */
    OC_R_WINDOW,    /* pools: N(o) * the first two sizes of the window */
    OC_R_LRN,       /* (a + size) * N(o) */
    OC_R_RESIZE,    /* a * N(o) nearest, b * N(o) linear, d * N(o) cubic */
    OC_R_UPSAMPLE,  /* a * N(o) nearest, 5 linear, 11 bilinear, 0 trilinear, 259 bicubic */
    OC_R_SCALED,    /* sizes given: their product; else N(x) * scale ^ (a * batch) */
    OC_R_NO_DIV,    /* the histogram without divisions */
    OC_R_PARAMS,    /* first dimension of the output * elements of the constant inputs a to b */
    /* a per MAC, and more */
    OC_R_MAC,          /* nothing more */
    OC_R_MAC_BIAS,     /* N(o) for the bias */
    OC_R_MAC_VECTOR,   /* the elements of the bias */
    OC_R_MAC_INPUTS,   /* N(o) if exactly b inputs are present */
    OC_R_MAC_LISTED,   /* N(o) if exactly b inputs are listed, present or not */
    OC_R_FLAT,         /* nothing at all for more than two dimensions */
    OC_R_WEIGHTED,     /* nothing at all if no input after the first is constant; with b, N(o) for the bias */
    OC_R_LEFT,         /* products: N(x) * last dimension of input b, whatever the other one's batch */
    OC_R_ATTENTION,    /* b per exponential, d * N(x) */
    OC_R_GATES,        /* recurrent: b, and d with a bias, per step, direction, and hidden element */
    OC_R_STEPS,        /* recurrent: bias elements per step, b per step and hidden element of one direction */
    OC_R_POSITIONS,    /* transposed convolution by output positions: N(o) * M/g * k; and as MAC_LISTED */
    OC_R_POSITIONS_IN, /* the same with the channels of the input: N(o) * C/g * k */
    OC_R_POSITIONS_W,  /* the same with all weights: positions * (N(w) + N(bias)) */
    OC_R_TRANSPOSED    /* M/g^2 instead of M/g; the bias at the positions of a convolution of the input */
};

struct oc_rule {
    const char *ops;  /* operator types, separated by spaces, or NULL: the class below */
    uint8_t op_class; /* enum oc_op_class */
    uint8_t kind;     /* enum oc_rule_kind */
    int16_t a, b, d;
};

struct oc_convention {
    const char *name;
    const char *unit;               /* what the tool calls a count; NULL: "FLOP" */
    uint32_t weight[OC_PRIM_COUNT]; /* of operators without a rule */
    const struct oc_rule *rule;     /* the first match applies */
    size_t n;
    bool taps_valid, strict_reduce, attention_full, loops_once;
    bool folded; /* nodes of constants count too */
};

extern const struct oc_convention oc_conventions[];
extern const size_t oc_convention_total;

/* Fills unit, mac_part and rest of the parts, of which macs is set. */
void oc_rule_count(const struct oc_rule *r, struct oc_op_ctx *c, const struct oc_cost *k,
                   struct oc_count_parts *p);
/* How the rule counts what is not a MAC, and why its MACs differ from the operator's. */
const char *oc_rule_text(const struct oc_rule *r, struct oc_op_ctx *c);
const char *oc_rule_mac_text(const struct oc_rule *r);

#endif
