/* How other tools count (cost-semantics section 9), as data: weights of primitives and overrides by operator.
 */
#ifndef OC_CONVENTION_H
#define OC_CONVENTION_H

#include "ops/op.h"

struct oc_convention;

/* By name ("fvcore"), or NULL. */
const struct oc_convention *oc_convention_find(const char *name);
/* The same; NULL and "onnxcost" are our own way: *out is NULL. -1: no such convention. */
int oc_convention_set(const char *name, const struct oc_convention **out);

/* Options of the counting that belong to the convention (taps on data only, n - 1 reductions, attention in
 * full). */
void oc_convention_options(const struct oc_convention *v, struct oc_op_ctx *c);

/* A loop's body counts once, whatever its trips. False for NULL. */
bool oc_convention_loops_once(const struct oc_convention *v);

/* What the tool would print for one execution of the node, from the finished histogram. Overflow is noted in
 * c. */
uint64_t oc_convention_count(const struct oc_convention *v, struct oc_op_ctx *c, const struct oc_cost *k);

/* The same count in parts: mac_part + rest. */
struct oc_count_parts {
    uint64_t macs, unit; /* MACs as seen by the convention's options, and what one of them counts */
    uint64_t mac_part;   /* unit * macs, unless mac_text says what else */
    uint64_t rest;
    const char *mac_text;  /* why mac_part is something else; NULL */
    const char *rest_text; /* how the rest is counted: "7 an input element" */
};
/* v NULL: ours, with the weights. Texts in the arena of c or static. */
void oc_convention_parts(const struct oc_convention *v, const uint32_t *weight, struct oc_op_ctx *c,
                         const struct oc_cost *k, struct oc_count_parts *out);

#endif
