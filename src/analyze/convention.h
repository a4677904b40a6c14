/* How other tools count (cost-semantics section 9), as data: weights of primitives and overrides by operator. */
#ifndef OC_CONVENTION_H
#define OC_CONVENTION_H

#include "ops/op.h"

struct oc_convention;

/* By name ("fvcore"), or NULL. */
const struct oc_convention *oc_convention_find(const char *name);
/* The names; NULL past the end. */
const char *oc_convention_name(size_t index);

/* Options of the counting that belong to the convention (taps on data only, n - 1 reductions, attention in full). */
void oc_convention_options(const struct oc_convention *v, struct oc_op_ctx *c);

/* What the tool would print for one execution of the node, from the finished histogram. Overflow is noted in c. */
uint64_t oc_convention_count(const struct oc_convention *v, struct oc_op_ctx *c, const struct oc_cost *k);

#endif
