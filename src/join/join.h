/* Records of a profile put to nodes of a model, rule by rule. Each record gets a set of nodes (several when
 * the runtime fused them) with the rule that found them and a confidence, or a bucket that says what kind of
 * time it is. Nothing is split silently: a group's cost is that of the group, its bytes are those that cross
 * its border. Knows nothing of output formats. */
#ifndef OC_JOIN_H
#define OC_JOIN_H

#include "analyze/analysis.h"
#include "profile/profile.h"

struct oc_join_rec {
    const uint32_t *node; /* nodes it covers, in topological order as far as possible */
    uint32_t n_node;      /* 0: none, then `bucket` says what it is */
    const char *rule;     /* "name", "output tensor", ... ; NULL without nodes */
    double confidence;    /* 0..1 */
    const char *bucket;   /* NULL: on nodes. "layout", "inserted", "copies", "casts", "unmatched", or the
                             profile's own: "framework", "load", ... */
    /* Cost of one execution of the model's part in it; an overhead row has 0 operations and the bytes of its
     * recorded shapes. quality OC_UNKNOWN: the counts are meaningless. */
    uint64_t macs, flops, ops, params;
    uint64_t rd_act, rd_wt, wr; /* bytes: inputs from outside the group, outputs that leave it */
    uint8_t quality;            /* enum oc_quality */
    bool bytes_known;
    uint32_t part_of;       /* record on the same nodes that has their cost, OC_NONE: this one */
    bool executed_known;    /* the recorded shapes tell how many MACs were carried out ... */
    uint64_t executed_macs; /* ... in one run, padding included */
    const char *note;       /* why the quality is what it is; NULL */
};

struct oc_join_bucket {
    const char *name;
    double time_ns;                   /* own time (self_ns) of its records */
    double total_ns, total_kernel_ns; /* of all calls, as in struct oc_prof_rec */
    uint32_t records;
};

/* Where all imported time went; lost_ns: imported less the others, 0 unless there is a mistake. NAN: the
 * source has no such time. */
struct oc_join_time {
    double imported_ns, nodes_ns, groups_ns, buckets_ns, lost_ns;
};

/* MACs by the shapes that the profile recorded, for one run. */
struct oc_join_executed {
    bool known;            /* some record tells; else the rest is 0 */
    uint64_t macs;         /* of all records on nodes */
    uint64_t padding_macs; /* of these, on channels that padding added */
    uint32_t recorded;     /* records whose shapes tell */
    uint32_t from_model;   /* records with MACs whose shapes do not: the model's count stands in `macs` */
    uint32_t padded, more; /* records that executed more than the model has: padded channels, other reasons */
};

struct oc_join {
    struct oc_arena arena;
    const struct oc_model *model;
    const struct oc_analysis *analysis; /* may be NULL: then there are no costs */
    const struct oc_profile *profile;
    struct oc_join_rec *rec; /* one for each record of the profile */
    uint32_t *node_rec; /* by node: the record (the longest of several) that covers it, OC_NONE: no time */
    /* Own time of the profile's operator records (not of its buckets): on nodes, in overhead rows, neither.
     */
    double mapped_ns, overhead_ns, unmatched_ns;
    struct oc_join_time host, device; /* of all calls: on single nodes, on fused groups, in buckets */
    double time_matched_fraction;     /* mapped / all three; NAN without times */
    struct oc_join_executed executed;
    double flops_matched_fraction; /* flops + ops of covered nodes / of all nodes; NAN without costs */
    struct oc_join_bucket *bucket;
    uint32_t n_bucket;
    uint32_t *unmatched; /* records, longest first */
    uint32_t n_unmatched;
    uint32_t nodes_without_time; /* executed nodes with a cost of their own that no record covers */
    struct oc_diags diags;
};

/* ---- private to join/ -----------------------------------------------------------------------------------
 */

struct oc_match {
    uint32_t *node; /* arena */
    uint32_t n_node, cap;
    uint32_t core; /* the node that gave the name or the type, OC_NONE */
    const char *rule, *bucket;
    double confidence;
    const char *as, *member; /* type and members that the group grows by (type_sets.h); NULL: the record's */
    uint32_t repeats;        /* executions of the nodes in a run, more than the model has; 0: one */
    uint32_t inner_of;       /* record that it is a part of, on the same nodes; OC_NONE */
};

/* Indices over a model, for looking names up and walking in both directions. */
struct oc_graph_index {
    const struct oc_model *m;
    struct oc_arena *arena;
    struct oc_map nodes, values;       /* name to the first ... */
    uint32_t *next_node, *next_value;  /* ... and to the next of the same name */
    uint32_t *use_first, *use;         /* consumers of value v: use[use_first[v] .. use_first[v + 1]] */
    uint32_t *counted, *counted_first; /* nodes of a graph without Constants, in file order */
};
void oc_index_make(struct oc_graph_index *x, const struct oc_model *m, struct oc_arena *a);
void oc_index_free(struct oc_graph_index *x); /* heap parts */
/* index-th node of a graph not counting Constants, OC_NONE past the end */
uint32_t oc_index_nth(const struct oc_graph_index *x, uint32_t graph, int64_t index);

struct oc_matcher {
    uint32_t n_strange; /* operator records that the optimized model does not have */
    const struct oc_model *m;
    const struct oc_profile *p;
    const struct oc_analysis *a; /* may be NULL */
    struct oc_arena *arena;
    struct oc_graph_index x;
    struct oc_match *match; /* by record */
    uint32_t *owner;        /* by node: record, OC_NONE */
    struct oc_map plain;    /* plain names to nodes, made when first needed */
    bool has_plain;
};
/* Names, types and order alone; `optimized` may be NULL. */
void oc_match_all(struct oc_matcher *x, const struct oc_model *optimized);
void oc_match_free(struct oc_matcher *x);

void oc_match_add(struct oc_matcher *x, uint32_t rec, uint32_t node);
void oc_match_core(struct oc_matcher *x, uint32_t rec, uint32_t node, const char *rule, double confidence);
/* False for nodes that never appear in a profile: constants, what folds away, branches not taken. */
bool oc_match_runs(const struct oc_matcher *x, uint32_t node);
/* The first of the recorded inputs with the most dimensions (addmm has its bias first), NULL: none. */
const struct oc_type *oc_match_main_input(const struct oc_prof_rec *r);
/* May a node of type `original` be (part of) what the runtime calls `type`? */
bool oc_match_made_of(const char *type, const char *original);
/* May nodes of the graph be meant by the record: those of the main graph, or of the bodies of its parent's
 * nodes? */
bool oc_match_in_scope(const struct oc_matcher *x, uint32_t rec, uint32_t graph);
/* What a convolution can do at its end. */
#define OC_MATCH_ACTIVATIONS " Relu LeakyRelu Clip Sigmoid Tanh HardSigmoid HardSwish "
/* A BatchNormalization that ONNX Runtime made a convolution of: behind the name of what it makes. */
#define OC_MATCH_BLOCKED_NORM "_bn_nchwc"
bool oc_match_is_blocked_norm(const char *name);
/* Is it a name that the optimizer gives to nodes that it inserts? */
bool oc_match_inserted(const char *name, const char *op_type);
bool oc_match_by_name(struct oc_matcher *x, uint32_t rec);  /* match_name.c */
void oc_match_overhead(struct oc_matcher *x, uint32_t rec); /* match_name.c */
void oc_match_order(struct oc_matcher *x);                  /* match_order.c */
bool oc_match_by_parts(struct oc_matcher *x, uint32_t rec); /* match_parts.c */
void oc_match_tensorrt(struct oc_matcher *x);               /* match_trt.c: nothing for other profiles */
/* The name behind "InsertedPrecisionFreeCast_", NULL if it does not begin so. */
const char *oc_match_without_cast(const char *name);
/* The node of that name that fits the record best, OC_NONE. */
uint32_t oc_match_node_named(const struct oc_matcher *x, uint32_t rec, const char *name, size_t len);
/* Every node with a name by its plain form (match_plain.c): letters and digits as they are, what tools
 * replace or append made one; OC_NONE: none, or several. */
uint32_t oc_match_plain_name(struct oc_matcher *x, const char *name, size_t len);
void oc_match_grow(struct oc_matcher *x);                                        /* match_group.c */
void oc_match_companion(struct oc_matcher *x, const struct oc_model *optimized); /* companion.c */

#endif
