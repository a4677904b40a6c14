/* Matches records of a profile to nodes of a model with an ordered list of rules. Each record gets a set
 * of nodes (several if the runtime fused them) with the rule and a confidence, or a bucket that names the
 * kind of time. Cost is never split silently: a group has the cost of the whole group, its bytes are those
 * that cross its border. Independent of output formats. */
#ifndef OC_JOIN_H
#define OC_JOIN_H

#include "analyze/analysis.h"
#include "profile/profile.h"

struct oc_join_rec {
    const uint32_t *node; /* nodes covered by the record, in topological order where possible */
    uint32_t n_node;      /* 0: none, then `bucket` is set */
    const char *rule;     /* "name", "output tensor", ... ; NULL without nodes */
    double confidence;    /* 0..1 */
    const char *bucket;   /* NULL: matched to nodes. "layout", "inserted", "copies", "casts", "unmatched",
                           * or the
                           *                              profile's own: "framework", "load", ... */
    /* Cost of one execution of the nodes of the record. A runtime-inserted row has 0 operations and the
     * bytes of its recorded shapes. quality OC_UNKNOWN: the counts are not valid. */
    uint64_t macs, flops, ops, params;
    uint64_t rd_act, rd_wt, wr; /* bytes: inputs from outside the group, outputs that leave it */
    uint8_t quality;            /* enum oc_quality */
    bool bytes_known;
    uint32_t part_of;       /* another record on the same nodes that has their cost; OC_NONE: this one */
    bool executed_known;    /* the recorded shapes determine the executed MACs ... */
    uint64_t executed_macs; /* ... per run, padding included */
    const char *note;       /* reason for the quality; NULL */
    /* enum oc_class in which 32-bit floating-point tensors of the model ran, F16 or BF16; OC_CLASS_NONE: as in the
     * model */
    uint8_t float_class;
    bool other_shapes; /* the recorded shapes contradict the model: no counts */
    bool from_profile; /* counts and bytes are those of the recorded shapes and types, not of the nodes */
};

struct oc_join_bucket {
    const char *name;
    double time_ns;                   /* self time (self_ns) of its records */
    double total_ns, total_kernel_ns; /* over all calls, as in struct oc_prof_rec */
    uint32_t records;
};

/* Partition of all imported time; lost_ns: imported minus the sum of the others, 0 unless there is a bug.
 * NAN: the source has no such time. */
struct oc_join_time {
    double imported_ns, nodes_ns, groups_ns, buckets_ns, lost_ns;
};

/* Executed MACs (profiled shapes), per run. */
struct oc_join_executed {
    bool known;            /* some record determines them; otherwise the rest is 0 */
    uint64_t macs;         /* sum over records on nodes */
    uint64_t padding_macs; /* part of them on padded channels */
    uint32_t recorded;     /* records whose shapes determine MACs */
    uint32_t from_model;   /* records with MACs whose shapes do not determine them: the model's count is in
                            * `macs` */
    uint32_t padded, more; /* records that executed more MACs than the model has: padded channels, other
                            * reasons */
};

/* Conservation of work: the MACs of the rows on nodes against those of the model, per run. */
struct oc_join_work {
    bool known; /* the model has MACs, and so have all rows on its nodes */
    uint64_t model_macs, row_macs;
    uint64_t eliminated_macs; /* of nodes without a row, equal to one that ran */
    uint64_t lost_macs;       /* of other nodes without a row */
    uint32_t lost;            /* the largest of those nodes, OC_NONE */
};

struct oc_sizes;

struct oc_join {
    struct oc_arena arena;
    const struct oc_sizes *sizes; /* of runs with different sizes (below); NULL: all have the same */
    const struct oc_model *model;
    const struct oc_analysis *analysis; /* may be NULL: then costs are unknown */
    const struct oc_profile *profile;
    struct oc_join_rec *rec; /* one per record of the profile */
    uint32_t *node_rec; /* by node: the record that covers it (the longest of several), OC_NONE: no time */
    /* Self time of the profile's operator records (without its buckets): attributed to nodes,
     * runtime-inserted, unattributed. */
    double mapped_ns, overhead_ns, unmatched_ns;
    struct oc_join_time host, device; /* over all calls: on single nodes, on fused groups, in buckets */
    double time_matched_fraction;     /* attributed time / sum of all three; NAN without times */
    struct oc_join_executed executed;
    struct oc_join_work work;
    double flops_matched_fraction; /* flops + ops of covered nodes / of all nodes; NAN without costs */
    struct oc_join_bucket *bucket;
    uint32_t n_bucket;
    uint32_t *unmatched; /* records, sorted by time, longest first */
    uint32_t n_unmatched;
    uint32_t nodes_without_time; /* executed nodes with their own cost that no record covers */
    struct oc_diags diags;
};

/* ---- private to join/ ------------------------------------------------------------------------------- */

struct oc_match {
    uint32_t *node; /* arena */
    uint32_t n_node, cap;
    uint32_t core; /* the node that determined the name or the type, OC_NONE */
    const char *rule, *bucket;
    double confidence;
    const char *as, *member; /* type and members for growing the group (expansion.h); NULL: the record's
                              * own */
    uint32_t repeats;        /* executions of the nodes per run if more than in the model; 0: one */
    bool whole;              /* the nodes are known: the group does not grow */
    uint32_t calls;          /* number of nodes, if the record sums calls of one node each; 0: one call */
    uint32_t inner_of;       /* record that contains this one, on the same nodes; OC_NONE */
};

/* What the profile recorded of input v of the model: by name, or the only input of both. NULL: nothing. */
const struct oc_prof_input *oc_join_input(const struct oc_model *m, const struct oc_profile *p,
                                          uint32_t v); /* recorded_inputs.c */
/* Adds the warning that profile and model do not belong together, and takes the counts from records whose
 * shapes contradict the model. After oc_join_executed. */
void oc_join_check_model(struct oc_join *j); /* match_evidence.c */
/* Replaces the counts of a record by those that follow from its recorded shapes. */
void oc_join_recorded_cost(struct oc_join *j, uint32_t rec);
/* The record has other shapes than the nodes: takes its counts. */
void oc_join_set_other_shapes(struct oc_join_rec *r);

/* Indexes over a model, for name lookup and graph traversal in both directions. */
struct oc_graph_index {
    const struct oc_model *m;
    struct oc_arena *arena;
    struct oc_map inlined_nodes, inlined_values; /* names that ONNX Runtime gives in bodies (graph_index.c) */
    struct oc_map nodes, values;                 /* name to the first node ... */
    uint32_t *next_node, *next_value;            /* ... and to the next node with the same name */
    uint32_t *use_first, *use;     /* consumers of value v: use[use_first[v] .. use_first[v + 1]] */
    uint32_t *equal, *equal_value; /* the first node or value that is the same, or itself (oc_index_equal) */
    uint32_t *counted, *counted_first; /* nodes of a graph without Constants, in file order */
};
void oc_index_make(struct oc_graph_index *x, const struct oc_model *m, struct oc_arena *a);
/* The same without names, which need most of the memory. */
void oc_index_edges(struct oc_graph_index *x, const struct oc_model *m, struct oc_arena *a);
void oc_index_free(struct oc_graph_index *x); /* on the heap */
/* Finds nodes that compute the same from the same: a runtime computes one of them. */
void oc_index_equal(struct oc_graph_index *x);
/* A key that equal nodes have in common; false: not comparable. source(arg, v): what stands for the value v. */
bool oc_index_key(const struct oc_model *m, uint32_t node, uint32_t (*source)(const void *, uint32_t),
                  const void *arg, struct oc_arena *a, struct oc_buf *key);
/* The first node or value with the name. *next: the others by name; NULL: the name determines it. */
uint32_t oc_index_node(const struct oc_graph_index *x, const char *name, size_t n, const uint32_t **next);
uint32_t oc_index_value(const struct oc_graph_index *x, const char *name, size_t n, const uint32_t **next);
/* By node: its place in the order in which ONNX Runtime executes the model without optimization, and in which
 * its graph transformers visit it. Arena. */
uint32_t *oc_index_run_order(const struct oc_graph_index *x);
/* Whether the record is named "<OpType>_<index>". */
bool oc_match_numbered(const struct oc_prof_rec *r);
/* the index-th node of a graph without Constants, OC_NONE after the end */
uint32_t oc_index_nth(const struct oc_graph_index *x, uint32_t graph, int64_t index);

struct oc_matcher {
    uint32_t n_strange; /* operator records that are not in the optimized model */
    const struct oc_model *m;
    const struct oc_profile *p;
    const struct oc_analysis *a;      /* may be NULL */
    const struct oc_analysis *shapes; /* of both branches of an If without names of nodes; else NULL */
    struct oc_arena *arena;
    struct oc_graph_index x;
    struct oc_match *match; /* indexed by record */
    uint32_t *owner;        /* by node: record, OC_NONE */
    uint32_t *equal_owner;  /* by the first of equal nodes (x.equal): a record of one of them, OC_NONE */
    struct oc_expansion *expansion; /* by graph (graph_index.c), NULL: not ONNX Runtime */
    struct oc_map bodies;           /* prefixes of names in bodies of function operators to the operator */
    struct oc_map plain;            /* plain names to nodes, built on first use */
    bool has_plain;
    uint32_t *branch; /* by record of an If: the graph that ran, OC_NONE: unknown, 0: not computed yet */
};
/* Matches by names, types and order; `optimized` may be NULL. */
void oc_match_all(struct oc_matcher *x, const struct oc_model *optimized);
void oc_match_free(struct oc_matcher *x);

void oc_match_add(struct oc_matcher *x, uint32_t rec, uint32_t node);
void oc_match_core(struct oc_matcher *x, uint32_t rec, uint32_t node, const char *rule, double confidence);
/* False for nodes that never appear in a profile: constants, folded nodes, branches not taken. */
bool oc_match_runs(const struct oc_matcher *x, uint32_t node);
/* ONNX Runtime removes the node (Identity, the sum with 0): no record executes it, unless it has its own. */
bool oc_match_removed(const struct oc_matcher *x, uint32_t node);
bool oc_ids_have(const uint32_t *id, uint32_t n, uint32_t wanted);
/* The only record that reads the results of the node; `into` (by node; NULL: none) is the record of a node without one.
 * OC_NONE: no record, several, or an output of the graph. */
uint32_t oc_match_reading_record(const struct oc_matcher *x, uint32_t node, const uint32_t *into);
/* Takes back the nodes that were added to a record last, before others were added. */
void oc_match_drop(struct oc_matcher *x, uint32_t rec);
/* The node has no record, but an equal node has one: the runtime computed their results once. */
bool oc_match_ran_as_equal(const struct oc_matcher *x, uint32_t node);
/* The first recorded input with the most dimensions (addmm has its bias first), NULL: none. */
const struct oc_type *oc_match_main_input(const struct oc_prof_rec *r);
/* Whether nodes of type `original` may be (part of) an operator that the runtime calls `type`. */
bool oc_match_made_of(const char *type, const char *original);
/* Whether the record may refer to nodes of the graph: the main graph, or a body of its parent's nodes. */
bool oc_match_in_scope(const struct oc_matcher *x, uint32_t rec, uint32_t graph);
/* Whether the graph, a body of the node, may be what ran within its record `outer`. */
bool oc_match_in_branch(const struct oc_matcher *x, uint32_t outer, uint32_t node,
                        uint32_t graph); /* graph_index.c */
/* Blocked layouts have at most this many channels in a block. */
#define OC_MATCH_MAX_BLOCK 16
/* Activations that a convolution can fuse. */
#define OC_MATCH_ACTIVATIONS " Relu LeakyRelu Clip Sigmoid Tanh HardSigmoid HardSwish "
/* ... and those that only a matrix product can fuse. */
#define OC_MATCH_GEMM_ACTIVATIONS "Elu Selu Softplus Softsign ScaledTanh ParametricSoftplus ThresholdedRelu "
/* Nodes that the runtime copies to each reader: several records may have them. */
#define OC_MATCH_COPIED " QuantizeLinear DequantizeLinear Cast Identity Shape "
/* "<tensor>_bn_nchwc": the type of the node that ONNX Runtime runs as a depthwise convolution, and the length
 * of its output tensor's name; NULL: another name. */
const char *oc_match_as_product(const char *name, size_t *n);
/* A name that the optimizer generated without the name of a node or tensor. */
bool oc_match_says_nothing(const char *name);
/* Whether the optimizer gives this name to nodes that it inserts. */
bool oc_match_inserted(const char *name, const char *op_type);
void oc_match_expand(struct oc_matcher *x); /* graph_index.c */
void oc_match_expand_free(struct oc_matcher *x);
bool oc_match_by_index(struct oc_matcher *x, uint32_t rec); /* graph_index.c: "<OpType>_<index>" */
uint32_t oc_match_node_at_index(const struct oc_matcher *x, uint32_t rec, bool *part);
bool oc_match_by_body(struct oc_matcher *x, uint32_t rec); /* graph_index.c: "_inlfunc_<OpType>_..." */
/* Whether both may be the same tensor, in any layout: permuted axes, or channels padded to blocks. True if
 * one of them is not known. */
bool oc_match_same_shape(const struct oc_shape *recorded, const struct oc_shape *model);
/* Of the node's first output, NULL: not known. */
const struct oc_shape *oc_match_output_shape(const struct oc_matcher *x, uint32_t node);
/* Whether the recorded output may be that of the node: false only if both are known and differ. */
bool oc_match_output_fits(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node);
bool oc_match_by_name(struct oc_matcher *x, uint32_t rec); /* match_name.c */
/* The node that computes the value: of an If whose branch is known, and of a call, a node in its body. */
uint32_t oc_match_producer(const struct oc_matcher *x, uint32_t value);
/* The node that the record's name determines, without a match; OC_NONE: none. */
uint32_t oc_match_by_plain_name(struct oc_matcher *x, uint32_t rec);
void oc_match_overhead(struct oc_matcher *x, uint32_t rec); /* match_name.c */
void oc_match_order(struct oc_matcher *x);                  /* match_order.c */
/* Names in timelines that list the nodes of a record: layers of TensorRT, markers, NVTX ranges. */
void oc_match_by_parts(struct oc_matcher *x, uint32_t rec); /* match_trt.c */
void oc_match_tensorrt(struct oc_matcher *x);               /* match_trt.c: nothing for other profiles */
/* The name after "InsertedPrecisionFreeCast_", NULL without that prefix. */
const char *oc_match_without_cast(const char *name);
/* The node with that name that matches the record best, OC_NONE. */
uint32_t oc_match_node_named(const struct oc_matcher *x, uint32_t rec, const char *name, size_t len);
/* Maps the plain form of every node name to the node: letters and digits unchanged,
 * characters that tools replace or append normalised. OC_NONE: none, or several. */
uint32_t oc_match_plain_name(struct oc_matcher *x, const char *name, size_t len);
/* Whether the record read 8-bit integers in a shape that is not recorded, and its nodes have 32-bit
 * floating-point tensors and no such integers. */
bool oc_ran_quantized(const struct oc_matcher *x, uint32_t rec);
/* The 16-bit class of (nearly) all work whose types are recorded, OC_CLASS_NONE (group_cost.c). */
uint8_t oc_ran_all(const struct oc_matcher *x);
/* The 16-bit class in which the record ran nodes with 32-bit floating-point tensors, OC_CLASS_NONE. `all`,
 * *assumed: without recorded types of its own. */
uint8_t oc_ran_class(const struct oc_matcher *x, uint32_t rec, uint8_t all, bool *assumed);
void oc_match_grow(struct oc_matcher *x); /* match_group.c */
/* No record has the node, and it runs. */
bool oc_match_open(const struct oc_matcher *x, uint32_t node);
/* The only node that reads the node's result, OC_NONE: none or several, or it is a result of the graph. */
uint32_t oc_match_only_user(const struct oc_matcher *x, uint32_t node);
bool oc_match_product(const char *type); /* of matrices, a convolution */
/* Types that only occur in this fusion, of which the record of an unnamed node has one; NULL: no such fusion. */
const char *oc_match_heart(const char *type);
/* Records whose names say nothing get nodes by type, shapes and order. `hearts`: only fusions that have a heart. */
void oc_match_unnamed(struct oc_matcher *x, bool hearts); /* match_unnamed.c */
/* Whether a record of the type may be made of a node of that type. */
bool oc_match_may_stand_for(const char *rec_type, const char *type);
/* The record is the node of the model itself, which a fusion of several nodes would have replaced. */
bool oc_match_unfused(const struct oc_matcher *x, uint32_t rec);
/* Whether the fusion that the record is may contain the node. */
bool oc_match_may_contain(const struct oc_matcher *x, uint32_t rec, uint32_t node);
void oc_match_rest(struct oc_matcher *x);                                        /* match_rest.c */
void oc_match_companion(struct oc_matcher *x, const struct oc_model *optimized); /* companion.c */

/* ---- executed --------------------------------------------------------------------------------------- */

/* Executed MACs: multiply-adds computed from the shapes that the profile recorded. They check the model's
 * counts, and are larger where the runtime pads channels. */

/* Sets executed_macs of every record on nodes, and join->executed. */
void oc_join_executed(struct oc_join *j);

/* ---- explain match ---------------------------------------------------------------------------------- */

/* Explains the match of a record: the rule that matched it, or the rejected candidates. Text for people,
 * allocated in the given arena. */

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

/* ---- group cost ------------------------------------------------------------------------------------- */

/* Cost of a set of nodes as one operator: the operations of its members and the bytes that cross its
 * border. */

struct oc_group_costs {
    const struct oc_model *m;
    const struct oc_analysis *a;
    const struct oc_graph_index *x;
    uint32_t *seen, mark; /* by value: the last group that counted it */
};
void oc_group_costs_init(struct oc_group_costs *c, const struct oc_model *m, const struct oc_analysis *a,
                         const struct oc_graph_index *x, struct oc_arena *arena);

/* Adds the cost of r->node to r, whose counts must be 0. */
void oc_group_cost(struct oc_group_costs *c, struct oc_join_rec *r);
/* Counts the 32-bit floating-point tensors of r with 16 bits, for one execution; r has the cost of its nodes. */
void oc_group_halve(struct oc_group_costs *c, struct oc_join_rec *r);

/* Whether the node is counted by itself: false for containers, whose bodies are counted, and for branches
 * that are not taken. */
bool oc_carries_cost(const struct oc_node_cost *c);

/* ---- sizes of runs ---------------------------------------------------------------------------------- */

/* Sizes of a profile whose runs differ in them: image widths, lengths of sequences. Each run has the work of
 * the model at its own sizes. */

/* Runs with the same values of all open dimensions of the inputs. */
struct oc_size_set {
    const int64_t *value; /* by oc_sizes.name; -1: not known */
    uint32_t runs;
    double min_ns, median_ns, max_ns, mean_ns; /* of the durations of the runs */
    const struct oc_totals *total;             /* of the model, one run */
    /* Of the operators that have a time, as in the headline. NAN: not known. */
    double flops, ops, bytes;             /* sums over the runs */
    uint8_t flops_quality, bytes_quality; /* enum oc_quality */
};

/* Work of a record in all used runs: at each run the cost at its sizes. Valid as in struct oc_join_rec. */
struct oc_size_rec {
    uint64_t macs, flops, ops, rd_act, rd_wt, wr, executed_macs;
    struct oc_prof_types low, high; /* smallest and largest recorded sizes; not ranked: ranks differ */
    double work_min, work_median, work_max; /* FLOPs and integer operations of a run in which it ran */
};

struct oc_sizes {
    const char **name; /* open dimensions: "sequence", "x.3" */
    bool *varies;      /* by name */
    uint32_t n_name;
    struct oc_open_dim { /* of inputs of the main graph */
        uint32_t input, axis, name;
    } * dim;
    uint32_t n_dim;
    struct oc_size_set *set; /* sorted by values */
    uint32_t n_set, runs;
    uint32_t n_shapes;       /* sets of recorded shapes */
    struct oc_size_rec *rec; /* by record of the profile */
};

/* "sequence = 16", the values that vary. */
const char *oc_size_text(const struct oc_sizes *s, const struct oc_size_set *set, struct oc_arena *a);

#endif
