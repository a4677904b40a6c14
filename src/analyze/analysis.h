/* The result of one pass over a model: types and small values of every value, cost of every node, totals.
 * Indexed by the model's ids. Built by infer.c and cost.c, immutable afterwards; the model must outlive it.
 */
#ifndef OC_ANALYSIS_H
#define OC_ANALYSIS_H

#include "model/model.h"
#include "onnxcost_types.h"
#include "ops/op.h"

/* ---- weights ------------------------------------------------------------------------------------------- */

/* Weights of primitives (cost-semantics section 2). */

struct oc_weights {
    uint32_t w[OC_PRIM_COUNT];
};

/* Loads a set by its name ("unit", also for NULL; "hw", "mac"), else the file of that name: one line "KEY
 * value" for each primitive whose weight differs from "unit", integers up to a million; "#" begins a comment.
 * Errors name file and line. */
int oc_weights_get(const char *name_or_file, struct oc_weights *out, struct oc_err *err);

/* Parses the lines of such a file; `file` is its name in messages. */
int oc_weights_read(const char *data, size_t n, const char *file, struct oc_weights *out, struct oc_err *err);

/* ---- analysis ------------------------------------------------------------------------------------------ */

struct oc_totals;

struct oc_prim_count {
    uint64_t n;
    uint8_t prim; /* enum oc_prim */
    bool is_int;  /* integer or boolean work */
};

enum oc_node_state {
    OC_NODE_NORMAL,
    OC_NODE_FOLDED,     /* all inputs constant: cost 0 */
    OC_NODE_ABSORBED,   /* weight dequantization, counted with its consumers */
    OC_NODE_NOT_TAKEN,  /* in a branch that is not executed: cost 0 */
    OC_NODE_UNKNOWN_OP, /* no rule */
    OC_NODE_NO_SHAPE,   /* a required shape is unknown */
    OC_NODE_CONTAINER   /* control flow or function call: its body's nodes carry the cost */
};

/* All counts are for one execution of the model: already multiplied by `trips`. */
struct oc_node_cost {
    uint64_t macs, flops, ops, transcendentals;
    uint64_t rd_act, rd_wt, wr; /* bytes */
    uint64_t params;            /* elements of the parameters first used by this node */
    uint64_t trips;
    const struct oc_prim_count *hist;
    uint8_t n_hist;
    uint8_t mac_class, rest_class; /* enum oc_class */
    uint8_t quality;               /* enum oc_quality; OC_UNKNOWN: counts are meaningless (print null) */
    uint8_t state;                 /* enum oc_node_state */
    uint8_t op_class;              /* enum oc_op_class */
    bool alias;                    /* moves no bytes */
    bool view;                     /* output 0 shares the memory of an input: with alias, or without */
    const char *note;              /* reason of the quality, or why it is unknown; NULL */
};

enum oc_graph_use { OC_G_NOT_RUN, OC_G_RUN, OC_G_NOT_TAKEN };

enum oc_value_state { OC_V_UNKNOWN, OC_V_STATIC, OC_V_BOUNDED, OC_V_DECLARED, OC_V_RANK_ONLY };

enum oc_param_class {
    OC_PC_UNUSED,
    OC_PC_META,
    OC_PC_QUANT,
    OC_PC_CONST,
    OC_PC_TABLE,
    OC_PC_STAT,
    OC_PC_NORM,
    OC_PC_EMBED,
    OC_PC_BIAS,
    OC_PC_WEIGHT,
    OC_PC_COUNT
};
const char *oc_param_class_name(unsigned c);

/* Quality of one of the counts MACs, FLOPs and OPs of a node: the bound or assumption of the node may concern
 * other counts. */
enum oc_work_kind { OC_WORK_MACS, OC_WORK_FLOPS, OC_WORK_OPS, OC_WORK_COUNT };
uint8_t oc_work_quality(const struct oc_op *op, const struct oc_node_cost *k, enum oc_work_kind work);

/* Quality of a sum that is unknown without either figure; oc_quality_add: one that is then a lower bound. */
uint8_t oc_worse_quality(uint8_t a, uint8_t b);
/* Before a figure in a sentence: "at most ", "at least ", "about ", "". Parts of unknown size make a sum a
 * lower bound. */
const char *oc_quality_word(unsigned quality);

struct oc_assumption {
    const char *what; /* "dim", "shape", "branch", "trip", "option" */
    const char *name, *value, *reason;
};
struct oc_analysis;
/* Those of the analysis, in another arena. */
const struct oc_assumption *oc_assumptions_copy(const struct oc_analysis *a, struct oc_arena *to);

/* Whether the name of a dimension is computed from others: "past_length + 1". */
bool oc_is_arithmetic(const char *name);

struct oc_type_total { /* totals of one operator type */
    const char *domain, *op_type;
    uint64_t nodes, macs, flops, ops, bytes, params;
    uint8_t quality;
};

struct oc_peak {          /* activation memory of one run, nodes in execution order */
    uint64_t bytes;       /* peak of the live bytes; quality OC_UNKNOWN: a size is unknown */
    uint64_t lower_bytes; /* lower bound for any order of the nodes */
    uint32_t node;        /* node at the peak, OC_NONE without nodes */
    uint8_t quality;
};

struct oc_analysis {
    struct oc_arena arena;
    const struct oc_model *model;
    uint64_t looked; /* nodes inferred by all tries, those of bodies again and again */
    struct oc_exprs *exprs;
    const struct oc_op **op;   /* by node: NULL unknown operator */
    struct oc_node_cost *cost; /* by node */
    uint32_t *twin; /* by node: an earlier one with its operator, attributes, types and cost, or itself */
    struct oc_type *type;        /* by value */
    const struct oc_data **data; /* by value: small value, NULL unknown */
    bool *is_const;              /* by value: initializer, Constant output, folded */
    uint8_t *value_state;        /* by value: enum oc_value_state */
    uint32_t *root_cause;        /* by value: the value that is the root cause of an unknown, OC_NONE */
    uint8_t *param_class;        /* by value, for constants */
    uint64_t class_elems[OC_PC_COUNT], class_bytes[OC_PC_COUNT];
    const struct oc_assumption *assumption;
    uint32_t n_assumption;
    struct oc_type_total *by_type; /* sorted by flops + ops, descending */
    uint32_t n_by_type;
    struct oc_totals *total;
    struct oc_analyze_opts *counting; /* its options, without the lists */
    struct oc_weights weights;        /* of the primitives */
    const char **symbol_from;         /* by symbol of the model: how it got its number; NULL: it has none */
    struct oc_given_input {           /* inputs of the main graph whose shape is given */
        uint32_t value;
        const char *from; /* "--shape" or "from the profile" */
    } * given_input;
    uint32_t n_given_input;
    const char **input_assumed; /* by input of the main graph: oc_input_info.assumed */
    const uint8_t *graph_use;   /* by graph: enum oc_graph_use */
    struct oc_peak peak;
    struct oc_diags diags;
};

/* What must move if everything between inputs and outputs of the main graph stays on chip. Constants without readers,
 * or read only by the host, do not move. */
struct oc_graph_bytes {
    uint64_t inputs, constants, outputs;
};
/* *quality becomes worse by sizes that are bounds or unknown (these are left out). False: beyond 64 bits. */
bool oc_graph_bytes(const struct oc_analysis *a, struct oc_graph_bytes *out, uint8_t *quality);

/* The constant tensor of a value: its initializer or its Constant node's tensor (does not look through folded
 * identity nodes). */
const struct oc_tensor *oc_analysis_constant(const struct oc_analysis *a, uint32_t value);

/* Called with the results of each node's rules before they are merged with the declarations: what it removes,
 * later nodes do not have. type, data: by output. */
typedef void oc_see_outputs(void *ctx, struct oc_analysis *a, uint32_t node, struct oc_type *type,
                            const struct oc_data **data);
/* oc_analyze with this restriction; see: NULL for none. */
int oc_analyze_seen(const struct oc_model *m, const struct oc_analyze_opts *given, oc_see_outputs *see,
                    void *ctx, struct oc_analysis **out, struct oc_err *err);

/* Whether a sum of these totals is known: one that is only a lower bound says nothing when it is 0. exact: the sum is,
 * whatever the quality of others (macs_exact, work_exact). */
bool oc_sum_known(const struct oc_totals *t, uint64_t sum, bool exact);

/* The weights in an input of packed ones (blobs of MatMulNBits, bytes of GatherBlockQuantized and QMoE); 0: it
 * has none. */
uint64_t oc_packed_elements(const struct oc_model *m, const struct oc_node *n, uint32_t slot);

/* ---- mean cost ----------------------------------------------------------------------------------------- */

/* Mean costs over analyses of one model with different sizes. */

struct oc_cost_sums;
struct oc_cost_sums *oc_cost_sums_new(const struct oc_model *m);
/* Adds the costs of `runs` runs. */
void oc_cost_sums_add(struct oc_cost_sums *s, const struct oc_analysis *a, uint64_t runs);
/* Replaces the costs of the nodes and the totals by the means over the runs, rounded to whole numbers, and
 * the peak by the highest one. Types and values stay. */
void oc_cost_sums_apply(const struct oc_cost_sums *s, struct oc_analysis *a);
void oc_cost_sums_free(struct oc_cost_sums *s);

/* The node that dequantizes or unpacks a constant and has no cost of its own (looks through folded layout nodes), or
 * OC_NONE. */
uint32_t oc_weight_dequantizer(const struct oc_analysis *a, uint32_t value);
/* Whether two nodes have the same attributes, in the same order: numbers and texts; others are never equal. */
bool oc_same_attributes(const struct oc_node *n, const struct oc_node *other);

/* sum / runs, rounded. */
static inline uint64_t oc_mean_count(uint64_t sum, uint64_t runs)
{
    return sum / runs + (sum % runs >= runs - runs / 2);
}

#endif
