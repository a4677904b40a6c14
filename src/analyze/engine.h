/* Private to analyze/: the state of one pass. */
#ifndef OC_ENGINE_H
#define OC_ENGINE_H

#include "analyze/analysis.h"
#include "model/model.h"

/* ---- implied size -------------------------------------------------------------------------------------- */

/* Sizes of a model's inputs that its own constants and attributes imply. */

/* Nodes of the main graph by the value in their first slot, as lists. */
struct oc_first_readers {
    uint32_t *first; /* by value: position of a node in the graph, OC_NONE */
    uint32_t *next;  /* by position: another node that reads the same value, OC_NONE */
    uint32_t *stack; /* scratch for a traversal */
};
void oc_first_readers_make(struct oc_first_readers *r, const struct oc_model *m, struct oc_arena *a);

/* Size of an open dimension of a graph input that the weights of the operators which read the input require
 * (channels of Conv, rows of MatMul, the shape of a Reshape ...), also after operators that keep the shape.
 * 0: nothing implies one. *by: the first such operator; *least: it requires at least this size. O(nodes that
 * the traversal reaches): a node has one first input, so all inputs together are linear in the nodes. */
int64_t oc_implied_size(const struct oc_model *m, const struct oc_first_readers *r, uint32_t value,
                        unsigned axis, const char **by, bool *least);

/* ---- engine -------------------------------------------------------------------------------------------- */

#define OC_NEWEST_OPSET 28 /* latest supported opset of ai.onnx */
#define OC_FEW_INPUTS   16 /* number of list entries compared */

struct oc_symbol {       /* a symbolic dim of the model's declarations */
    struct oc_dim value; /* in the analysis' own table */
    bool bound;
};

struct oc_hist_memory { /* an interned list of primitives */
    const struct oc_prim_count *list;
    uint8_t n;
};

enum { OC_VARIES_TRIP = 1, OC_VARIES_INPUT = 2 };

struct oc_engine {
    struct oc_analysis *a;
    const struct oc_model *m;
    const struct oc_analyze_opts *o;
    oc_see_outputs *see; /* NULL: none */
    void *see_ctx;
    struct oc_err *err;
    struct oc_symbol *symbol; /* by model symbol */
    struct oc_map symbol_ids; /* name to model symbol */
    bool *bind_used, *shape_used;
    struct oc_assumption *assumption; /* heap while growing */
    uint32_t n_assumption, cap_assumption;
    uint8_t *graph_use;    /* by graph: enum oc_graph_use */
    uint64_t *trips;       /* by graph: executions in one run of the model */
    bool *skip;            /* by graph: a branch that does not run */
    uint64_t *loop_trips;  /* by graph of a loop body: its own trip count */
    uint8_t *loop_quality; /* by graph of a loop body: quality of that count */
    bool *each_trip;       /* by graph of a loop body: trips differ and are counted one by one */
    bool *mean_trips;      /* by graph of a loop body: recorded executions, which may differ */
    bool *first_trip;      /* by graph of a loop body: it runs at least once */
    uint8_t *varies;       /* by value: known, but not before the run: OC_VARIES_TRIP in this trip only,
                            * OC_VARIES_INPUT by the value that the user gives for an input */
    uint32_t *in_slice;    /* by value: the number of the slice it is in (trips.c), NULL: none was needed */
    uint32_t slice;
    uint32_t in_values; /* the body whose slice was inferred last, OC_NONE */
    uint64_t spare;     /* nodes that may be inferred again to evaluate trips */
    bool *trip_used;
    uint32_t *decider; /* by value: root cause of its unknown value, OC_NONE: not computed yet; NULL: for no
                          value (infer.c) */
    const char **input_reason; /* by value: why costs that depend on this input are unknown; NULL: none is */
    bool *tried;               /* by value: its constant was read (or cannot be) */
    const struct oc_convention *convention; /* NULL: the default counting */
    uint64_t cached_trips; /* trips of the graph being counted; those that find constants in a cache */
    struct oc_op_cache ops;
    struct oc_formula_cache *formulas;
    bool *rule_seen; /* by user rule: already used or skipped, and reported */
    int64_t spatial_default;
    bool used_spatial_default;
    int64_t length_default; /* of sequences and other dimensions; 0: 128 and 1 */
    bool used_length_default;
    const struct oc_bind *fitted; /* sizes instead of defaults that did not fit */
    size_t n_fitted;
    struct oc_first_readers readers;     /* made for the first default of another axis than 0 */
    uint32_t n_failed;                   /* nodes whose shape rule failed */
    uint64_t folded_bytes;               /* bytes of values that were read or computed */
    const struct oc_elem *unknown_elems; /* of the contexts */
    uint64_t n_looked;                   /* nodes analysed; nodes of bodies once per analysis */
    uint64_t most_repeats, most_folded_bytes, most_bytes; /* limits of the input */
    bool any_varies;                                      /* some value varies */
    struct oc_op_ctx blank; /* context of a rule, the part common to all nodes */
    /* scratch for one node, sized for the widest one */
    const struct oc_type **in;
    const struct oc_data **in_data;
    bool *in_const;
    struct oc_type *out;
    const struct oc_data **out_data;
    bool *out_used;
    uint64_t *rd, *wr;
    struct oc_err why;                /* of the rule that runs */
    struct oc_formula_values *values; /* NULL: the values in formulas are not recorded */
    bool *seen; /* by value: read by the current node (only for more than OC_FEW_INPUTS inputs); NULL: no node
                   has that many */
    struct oc_hist_memory hist[32]; /* recent lists, by content */
    uint32_t recent[256];           /* 1 + nodes counted lately, by what their cost depends on; 0: none */
    uint64_t n_loaded;              /* constants that rules requested before they were read */
    uint32_t missed;                /* the first slot whose value a rule requested and did not get, OC_NONE */
};

/* analysis.c: allocates the arrays of *e in the arena of e->a. Needs m, o, a. */
void oc_engine_scratch(struct oc_engine *e);

/* infer.c: what all parts of a pass share */
void oc_assume(struct oc_engine *e, const char *what, const char *name, const char *value,
               const char *reason);
/* Takes n nodes from those that may be inferred again; false: not enough are left. */
bool oc_spend(struct oc_engine *e, uint64_t n);
/* The known value, also of a constant that no rule has read yet; NULL: unknown or too large. */
const struct oc_data *oc_known_data(struct oc_engine *e, uint32_t value);
void oc_set_value(struct oc_engine *e, uint32_t value, const struct oc_type *t);
void oc_blank_ctx(struct oc_engine *e); /* needs the scratch and the options */
/* An empty error for a rule, in e: valid until the next rule. */
struct oc_err *oc_rule_error(struct oc_engine *e);
void oc_fill_ctx(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op, struct oc_op_ctx *c);

/* bind.c: binds symbols and sets the types of the graph inputs */
int oc_bind_inputs(struct oc_engine *e);
/* Whether another one has the name of the i-th. */
bool oc_bind_repeated(const struct oc_bind *b, size_t n, size_t i);
/* A declared type with bound symbols replaced by numbers. */
struct oc_type oc_bind_type(struct oc_engine *e, const struct oc_type *declared);
/* Called when a declared plain symbol was matched with a computed number. */
void oc_bind_learn(struct oc_engine *e, const struct oc_type *declared, const struct oc_type *computed);

/* --value. Needs the types of the inputs; a file replaces the type by its own. */
int oc_bind_values(struct oc_engine *e);                             /* bind_values.c */
uint32_t oc_find_input(const struct oc_engine *e, const char *name); /* of the main graph; OC_NONE: none */

/* infer.c */
int oc_infer_graph(struct oc_engine *e, uint32_t graph);
int oc_infer_node(struct oc_engine *e, uint32_t node);

bool oc_data_fully_known(const struct oc_data *d);

/* "a size depends on 'x'", for a value with a root cause */
const char *oc_cause_text(const struct oc_engine *e, uint32_t value);

/* control.c: bodies. Returns 1 if the node is not a supported control-flow node, else 0 or -1. */
int oc_infer_control(struct oc_engine *e, uint32_t node);
int oc_cost_control(struct oc_engine *e, uint32_t node, uint64_t trips);

/* cost.c: evaluates the rule of one node, with the defaults, for one execution; c->err must be set, k->rd and
 * k->wr are the scratch of e. Marks stay in c. */
void oc_cost_rule(struct oc_engine *e, uint32_t node, const struct oc_op *op, struct oc_op_ctx *c,
                  struct oc_cost *k);
int oc_cost_graph(struct oc_engine *e, uint32_t graph, uint64_t trips);

/* twins.c: the place in e->recent of the nodes that may be twins of this one; NULL: it has none */
uint32_t *oc_twin_place(struct oc_engine *e, uint32_t node);
/* Whether all that rules of cost see of both nodes is equal. */
bool oc_is_twin(const struct oc_engine *e, uint32_t node, uint32_t other);

/* Whether it has a warning already: bodies are inferred several times (infer.c). */
bool oc_has_warned(const struct oc_engine *e, const char *code, const char *where);

/* constants.c */
void oc_count_params(struct oc_engine *e);

/* liveness.c: sets the peak of a finished analysis */
void oc_find_peak(struct oc_analysis *a);

/* totals.c */
int oc_sum_totals(struct oc_engine *e);

enum { OC_COST_COUNTS = 7, OC_COST_RD_WT = 5 };
/* The counts of work and bytes, in a fixed order. */
void oc_cost_counts(struct oc_node_cost *k, uint64_t *count[OC_COST_COUNTS]);

struct oc_cost_sum { /* over executions of a node, or over runs */
    uint64_t count[OC_COST_COUNTS], hist[2][OC_PRIM_COUNT];
};
/* False: overflow. */
bool oc_cost_sum_add(struct oc_cost_sum *s, const struct oc_node_cost *k, uint64_t times);
/* Sets the counts of *k and its histogram to sum / runs. */
void oc_cost_sum_mean(const struct oc_cost_sum *s, uint64_t runs, struct oc_arena *arena,
                      struct oc_node_cost *k);

/* ---- control ------------------------------------------------------------------------------------------ */

/* Private to analyze/: body handling shared by control.c and loop.c. */

/* The graph of a graph attribute, or OC_NONE. */
uint32_t oc_body_of(const struct oc_node *n, const char *attr);
/* Type of the i-th output of a body; kind OC_T_NONE past the end. */
const struct oc_type *oc_body_output(struct oc_engine *e, uint32_t graph, uint32_t i);
/* Common type of both: equal dims stay, others become one new unknown of `value`. */
struct oc_type oc_merge_type(struct oc_engine *e, const struct oc_type *a, const struct oc_type *b,
                             uint32_t value);

/* trips.c */
/* The control flow of the node that a profile recorded; NULL: none. */
const struct oc_control_bind *oc_control_seen(const struct oc_engine *e, uint32_t node);
/* The trips of a loop by --trip, or else by the profile, which win over the model; false: neither. With
 * `mean` also the mean trips of a loop that runs several times. */
bool oc_forced_trips(struct oc_engine *e, uint32_t node, bool mean, int64_t *trips);
/* Recorded executions of a body (of an If: 0 else, 1 then) where the node itself runs `outside` times. Not
 * *exact: a part of the recorded ones, or runs differ. False: not recorded. */
bool oc_body_executions(struct oc_engine *e, uint32_t node, unsigned which, uint64_t outside, uint64_t *n,
                        bool *exact);
/* Sets how often a body counts: --trip; else the profile's; else a known number; else the bound; else one
 * trip, a lower bound. *trips becomes known where possible. */
void oc_set_trips(struct oc_engine *e, uint32_t node, uint32_t body, struct oc_dim *trips);
void oc_set_model_trips(struct oc_engine *e, uint32_t node, uint32_t body, struct oc_dim trips);

/* Lowers the quality of every node of a body, nested bodies included, to at most this one. */
void oc_mark_graph(struct oc_engine *e, uint32_t graph, uint8_t quality, const char *note);
int oc_cost_loop(struct oc_engine *e, uint32_t node, uint64_t trips);

/* loop.c: Loop, Scan, SequenceMap */
int oc_infer_loop(struct oc_engine *e, uint32_t node);
int oc_infer_scan(struct oc_engine *e, uint32_t node);
int oc_infer_sequence_map(struct oc_engine *e, uint32_t node);

/* bind.c: the declared type of a value as that of a graph input; unbound symbols get defaults. */
void oc_bind_input(struct oc_engine *e, uint32_t value);

/* ---- loop ---------------------------------------------------------------------------------------------- */

/* Private to analyze/: one execution of the body of a Loop or Scan after another. */

#define OC_MAX_STATES 64 /* carried values of one node */

struct oc_loop {
    uint32_t node, body;
    uint32_t first_state, n_state; /* carried values among the inputs of the node */
    uint32_t body_state;           /* first carried input of the body */
    uint32_t out_state;            /* first carried output of the body */
    bool counted;                  /* Loop: the body's first inputs are the trip number and the condition */
    bool scan8;                    /* Scan-8: the inputs of the node have a batch axis */
    bool unlimited;                /* Loop: M is absent or the largest integer */
    int64_t most;                  /* M of a Loop, trips of a Scan; -1: none or unknown */
    int go;                        /* the condition before the next trip: 1, 0, -1 unknown */
    struct oc_dim trips;           /* known, or a named unknown */
    struct oc_dim batch;           /* Scan-8 */
    size_t diags;                  /* warnings ... */
    uint32_t failed;               /* ... and failed nodes before the body */
    struct oc_type type[OC_MAX_STATES];        /* current carried types ... */
    const struct oc_data *data[OC_MAX_STATES]; /* ... and values; NULL: unknown */
};

/* loop.c */
/* Reads the inputs of the node: types and known values before the first trip. 0 or -1. */
int oc_loop_begin(struct oc_engine *e, uint32_t node, struct oc_loop *l);
/* Sets the inputs of the body before trip `at`, with the known values; at < 0: any trip, no values. */
void oc_loop_enter(struct oc_engine *e, const struct oc_loop *l, int64_t at);
/* Types, values and condition after a trip. Returns whether a type changed. */
bool oc_loop_leave(struct oc_engine *e, struct oc_loop *l);
/* The carried input i of the body, and the value of its next trip; OC_NONE: missing. */
uint32_t oc_loop_state_in(const struct oc_engine *e, const struct oc_loop *l, uint32_t i);
uint32_t oc_loop_state_out(const struct oc_engine *e, const struct oc_loop *l, uint32_t i);

/* trips.c */
/* The trips of a loop whose condition is computed from the trip number, constants and carried values that
 * follow from them. `trips` < 0: executes until the condition is false or l->most is reached, else that many
 * trips. Returns their number, -1: unknown. On success l has the values after the last trip. The values of
 * the body are left as in the last trip. */
int64_t oc_loop_evaluate(struct oc_engine *e, struct oc_loop *l, int64_t trips);

#endif
