/* Why a record of a profile stands where it stands: the rule that put it there, or what the rules looked for
 * in vain. For people; texts live in the arena given. */
#ifndef OC_EXPLAIN_MATCH_H
#define OC_EXPLAIN_MATCH_H

#include "join/join.h"

/* A record on nodes: what its rule goes by. In a bucket: what kind of time that is, and, where no rule found
 * a node, which nodes have its name or type and what became of them. */
const char *oc_join_explain(const struct oc_join *j, uint32_t rec, struct oc_arena *a);

#endif
