/* Cost breakdown of single nodes: evaluates the cost rule again on a finished analysis, which it does not
 * change, for details that an analysis does not store: the values in the rule's formula, and the bytes of
 * every tensor. */
#ifndef OC_RECEIPT_H
#define OC_RECEIPT_H

#include "analyze/analysis.h"
#include "analyze/convention.h"
#include "ops/op.h"

struct oc_recount; /* for one analysis, any number of nodes */
struct oc_recount *oc_recount_new(const struct oc_analysis *a);
void oc_recount_free(struct oc_recount *r);

struct oc_slot_bytes {
    uint64_t moved;  /* bytes, in one execution */
    uint64_t whole;  /* bytes of the whole tensor */
    const char *why; /* why moved is less than the whole tensor; NULL */
};

/* Counts of one execution of a node. Valid until the next node or the end of the recount. */
struct oc_receipt {
    const struct oc_op *op;
    struct oc_cost cost; /* hist_f, hist_i, classes; see `in`, `out` for bytes */
    struct oc_formula formula;
    uint64_t dequantized;                 /* DEQ of stored weights: counted by the pass, not by the rule */
    const struct oc_slot_bytes *in, *out; /* by slot */
    const uint32_t *weight;               /* of the primitives */
    uint64_t flops; /* weighted sum, or the count of the convention; float and integer together */
    struct oc_count_parts parts; /* of that count */
};

/* Without details: no formula, no slots. False: the node has no counts of its own (folded, unknown, a
 * container ...; see its oc_node_cost). */
bool oc_recount_node(struct oc_recount *r, uint32_t node, bool details, struct oc_receipt *out);
/* The rule of the node alone: its context and the cost of one execution, valid until the next node. */
bool oc_recount_rule(struct oc_recount *r, uint32_t node, struct oc_op_ctx *c, struct oc_cost *k);
/* Bytes that one execution of a node moves of its input in that slot, or of an output. False: as
 * oc_recount_node. */
bool oc_recount_bytes(struct oc_recount *r, uint32_t node, bool output, uint32_t slot, uint64_t *bytes);

/* Origin of a dimension of a value: "declared", "batch: --dim". Arena or static text. */
const char *oc_dim_source(const struct oc_analysis *a, struct oc_arena *arena, uint32_t value, unsigned axis);
/* Producer of the value: "graph input", "initializer", "output of <node>" ... */
const char *oc_value_source(const struct oc_analysis *a, struct oc_arena *arena, uint32_t value);
/* Why the node has no counts, or none of its own; NULL: it has. */
const char *oc_node_reason(const struct oc_node_cost *k);

/* ---- explain ------------------------------------------------------------------------------------------ */

/* The difference between two counting conventions, term by term. */

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
