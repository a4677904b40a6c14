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

/* The recorded control flow of the node in a profile: branch or trips. */
bool oc_control_seen(const struct oc_engine *e, uint32_t node, int64_t *value);

/* loop.c: Loop, Scan, SequenceMap */
/* Sets how often a body counts: a known number; else --trip; else the profile's; else the bound; else one
 * trip, a lower bound. *trips becomes known where possible. */
void oc_set_trips(struct oc_engine *e, uint32_t node, uint32_t body, struct oc_dim *trips);
/* Lowers the quality of every node of a body, nested bodies included, to at most this one. */
void oc_mark_graph(struct oc_engine *e, uint32_t graph, uint8_t quality, const char *note);
int oc_infer_loop(struct oc_engine *e, uint32_t node);
int oc_infer_scan(struct oc_engine *e, uint32_t node);
int oc_infer_sequence_map(struct oc_engine *e, uint32_t node);
int oc_cost_loop(struct oc_engine *e, uint32_t node, uint64_t trips);

/* bind.c: the declared type of a value as that of a graph input; unbound symbols get defaults. */
void oc_bind_input(struct oc_engine *e, uint32_t value);

/* text_generation.c: BeamSearch, GreedySearch, Sampling, WhisperBeamSearch */
int oc_infer_generation(struct oc_engine *e, uint32_t node);
int oc_cost_generation(struct oc_engine *e, uint32_t node, uint64_t trips);

#endif
