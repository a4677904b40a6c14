/* Explains the match of a record: the rule that matched it, or the rejected candidates. Text for people,
 * allocated in the given arena. */
#ifndef OC_EXPLAIN_MATCH_H
#define OC_EXPLAIN_MATCH_H

#include "join/join.h"

/* For a record on nodes: the criterion of its rule. For a record in a bucket: the kind of time and, if no
 * rule found a node, the nodes with its name or type and the reason for their rejection. */
const char *oc_join_explain(const struct oc_join *j, uint32_t rec, struct oc_arena *a);

#endif
