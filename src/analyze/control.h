/* Private to analyze/: body handling shared by control.c and loop.c. */
#ifndef OC_CONTROL_H
#define OC_CONTROL_H

#include "analyze/engine.h"

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

/* loop_cost.c */
/* Lowers the quality of every node of a body, nested bodies included, to at most this one. */
void oc_mark_graph(struct oc_engine *e, uint32_t graph, uint8_t quality, const char *note);
int oc_cost_loop(struct oc_engine *e, uint32_t node, uint64_t trips);

/* loop.c: Loop, Scan, SequenceMap */
int oc_infer_loop(struct oc_engine *e, uint32_t node);
int oc_infer_scan(struct oc_engine *e, uint32_t node);
int oc_infer_sequence_map(struct oc_engine *e, uint32_t node);

/* bind.c: the declared type of a value as that of a graph input; unbound symbols get defaults. */
void oc_bind_input(struct oc_engine *e, uint32_t value);

/* text_generation.c: BeamSearch, GreedySearch, Sampling, WhisperBeamSearch */
int oc_infer_generation(struct oc_engine *e, uint32_t node);
int oc_cost_generation(struct oc_engine *e, uint32_t node, uint64_t trips);

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
