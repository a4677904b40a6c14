/* Running the cost rule of single nodes again, on a finished analysis that stays as it is, for what an
 * analysis does not keep: the numbers in the rule's formula, and the bytes of every tensor. */
#ifndef OC_RECEIPT_H
#define OC_RECEIPT_H

#include "analyze/analysis.h"
#include "analyze/convention.h"
#include "ops/formula.h"

struct oc_recount; /* for one analysis, any number of nodes */
struct oc_recount *oc_recount_new(const struct oc_analysis *a);
void oc_recount_free(struct oc_recount *r);

struct oc_slot_bytes {
    uint64_t moved;  /* bytes, in one execution */
    uint64_t whole;  /* bytes of the whole tensor */
    const char *why; /* moved is not whole: why; NULL */
};

/* What one execution of a node counts. Valid until the next node or the end of the recount. */
struct oc_receipt {
    const struct oc_op *op;
    struct oc_cost cost; /* hist_f, hist_i, classes; see `in`, `out` for bytes */
    struct oc_formula formula;
    uint64_t dequantized;                 /* DEQ of stored weights: counted by the pass, not by the rule */
    const struct oc_slot_bytes *in, *out; /* by slot */
    const uint32_t *weight;               /* of the primitives */
    uint64_t flops;              /* weighted sum, or what the convention counts; float and integer together */
    struct oc_count_parts parts; /* of that count */
};

/* Without details: no formula, no slots. false: the node has no counts of its own (folded, unknown, a
 * container ...; see its oc_node_cost). */
bool oc_recount_node(struct oc_recount *r, uint32_t node, bool details, struct oc_receipt *out);

/* Where a dimension of a value is from, as text for people: "declared", "batch: --dim". Arena or static. */
const char *oc_dim_source(const struct oc_analysis *a, struct oc_arena *arena, uint32_t value, unsigned axis);
/* Who made the value: "graph input", "initializer", "output of <node>" ... */
const char *oc_value_source(const struct oc_analysis *a, struct oc_arena *arena, uint32_t value);
/* Why the node counts nothing, or does not count itself; NULL: it does. */
const char *oc_node_reason(const struct oc_node_cost *k);

/* A node by its name, its label "<OpType>_<index in the file>", or its index in the report. OC_ENOTFOUND, or
 * OC_EARG if several have the name. */
int oc_find_node(const struct oc_model *m, const char *text, uint32_t *node, struct oc_err *err);

#endif
