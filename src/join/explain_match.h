/* Explains the match of a record: the rule that matched it, or the rejected candidates. Text for people,
 * allocated in the given arena. */
#ifndef OC_EXPLAIN_MATCH_H
#define OC_EXPLAIN_MATCH_H

#include "join/join.h"

/* Explains the records of one join: nodes by name and by type, so that many records take linear time. */
struct oc_explainer {
    const struct oc_join *j;
    struct oc_arena *a;
    struct oc_map names, types;      /* to the first node ... */
    uint32_t *next_name, *next_type; /* ... and to the next node of the same name or type */
    struct oc_map lists;             /* what was listed: index in `list` */
    const char **list;
    uint32_t n_list, cap_list;
};
void oc_explainer_init(struct oc_explainer *x, const struct oc_join *j, struct oc_arena *a);
void oc_explainer_free(struct oc_explainer *x); /* not the arena */

/* For a record on nodes: the criterion of its rule. For a record in a bucket: the kind of time and, if no
 * rule found a node, the nodes with its name or type and the reason for their rejection. */
const char *oc_join_explain(struct oc_explainer *x, uint32_t rec);

#endif
