/* Counting conventions of other tools (cost-semantics section 9), as data: weights of primitives and
 * rules by operator. */
#ifndef OC_CONVENTION_H
#define OC_CONVENTION_H

#include "ops/op.h"

struct oc_convention;

/* By name ("fvcore"), or NULL. */
const struct oc_convention *oc_convention_find(const char *name);
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

#endif
