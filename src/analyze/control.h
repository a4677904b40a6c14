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

#endif
