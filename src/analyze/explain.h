/* The difference between two counting conventions, term by term. */
#ifndef OC_EXPLAIN_H
#define OC_EXPLAIN_H

#include "analyze/analysis.h"

struct oc_explain_term {
    const char *reason;
    int64_t difference; /* second minus first */
};

struct oc_explain_type { /* one operator type */
    const char *domain, *op_type;
    uint64_t nodes, count[2];
    struct oc_explain_term *term; /* largest first; their sum is count[1] - count[0] */
    uint32_t n_term, cap_term;
};

struct oc_explanation {
    struct oc_arena arena;
    const char *name[2];          /* of the conventions */
    uint64_t count[2];            /* FLOPs and OPs of the whole model */
    struct oc_explain_type *type; /* largest difference first; heap */
    uint32_t n_type, cap_type;
};

/* Compares two analyses of one model that differ in their convention. Returns 0, or -1 with *err filled. */
int oc_explain(const struct oc_analysis *const a[2], struct oc_explanation *out, struct oc_err *err);
void oc_explanation_free(struct oc_explanation *x);

#endif
