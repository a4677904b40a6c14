/* Alignment of two models: matches nodes by name where names were given by people, else by structure. */
#ifndef OC_ALIGN_H
#define OC_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/analysis.h"

enum oc_align_rule {
    OC_ALIGN_NONE,
    OC_ALIGN_SAME,      /* one model on both sides */
    OC_ALIGN_NAME,      /* the same name and type */
    OC_ALIGN_PLAIN,     /* the same but for punctuation and letter case */
    OC_ALIGN_OUTPUT,    /* the same name of the first output */
    OC_ALIGN_WEIGHT,    /* reads the constant of the same name */
    OC_ALIGN_STRUCTURE, /* type, attributes and shapes, in their order */
    OC_ALIGN_NEIGHBOUR, /* a neighbour of a matched node */
    OC_ALIGN_TYPE,      /* the type alone, in order, between two matched nodes */
    OC_ALIGN_KIN,       /* likewise, for variants of one type: Conv and FusedConv */
    OC_ALIGN_RULES
};
const char *oc_align_rule_name(unsigned rule); /* "name", "structure" ... */

struct oc_alignment {
    uint32_t *b_of_a, *a_of_b; /* by node: its partner, OC_NONE */
    uint8_t *rule;             /* by node of a: enum oc_align_rule */
    uint32_t *order[2];        /* the compared nodes in order: those with oc_node_counts, without
                                * Constants; with Constants if they are damaged */
    uint32_t n[2];
};

/* Runs in O(n log n) for n nodes. Result allocated in the arena. */
void oc_align(const struct oc_analysis *a, const struct oc_analysis *b, struct oc_arena *arena,
              struct oc_alignment *out);

/* A generated name of type and number ("Conv_12", "p2o.Conv.3", "", "17"): it carries no information,
 * because all later numbers change when a node is inserted. */
bool oc_name_is_made_up(const char *name, const char *op_type);

/* Whether two attributes are equal, except for the contents of tensors. */
bool oc_attr_same(const struct oc_attr *a, const struct oc_attr *b);

/* ---- lcs ----------------------------------------------------------------------------------------------- */

/* Longest common subsequence of two sequences: near-linear time for similar sequences, never quadratic for
 * long ones. Exact for short sequences; for long ones the result is a common subsequence that may be
 * shorter than the longest. */

/* Called for every pair of positions with a[i] == b[j], each position at most once. The pairs are
 * order-preserving as a set, but calls may come in any order. */
typedef void (*oc_lcs_fn)(void *user, uint32_t i, uint32_t j);

void oc_lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, oc_lcs_fn report, void *user);

/* Longest ascending subsequence: marks its members in `keep` (n bytes of 0 or 1). The values are distinct. */
void oc_ascending(const uint32_t *value, uint32_t n, uint8_t *keep);

#endif
