/* Private to analyze/: what control.c and loop.c share about bodies. */
#ifndef OC_CONTROL_H
#define OC_CONTROL_H

#include "analyze/engine.h"

/* The graph of a graph attribute, or OC_NONE. */
uint32_t oc_body_of(const struct oc_node *n, const char *attr);
/* Type of the i-th output of a body; kind OC_T_NONE past the end. */
const struct oc_type *oc_body_output(struct oc_engine *e, uint32_t graph, uint32_t i);
/* What is common to both: equal dims stay, others become one fresh unknown of `value`. */
struct oc_type oc_merge_type(struct oc_engine *e, const struct oc_type *a, const struct oc_type *b,
                             uint32_t value);

/* What a profile shows of the node: branch or trips. */
bool oc_control_seen(const struct oc_engine *e, uint32_t node, int64_t *value);

/* loop.c: Loop, Scan, SequenceMap */
/* Fixes how often a body counts: a known number; else --trip; else what the profile shows; else its bound;
 * else one trip, a lower bound. *trips becomes known where it can. */
void oc_set_trips(struct oc_engine *e, uint32_t node, uint32_t body, struct oc_dim *trips);
/* Every node of a body, and of the bodies in it, has at best this quality. */
void oc_mark_graph(struct oc_engine *e, uint32_t graph, uint8_t quality, const char *note);
int oc_infer_loop(struct oc_engine *e, uint32_t node);
int oc_infer_scan(struct oc_engine *e, uint32_t node);
int oc_infer_sequence_map(struct oc_engine *e, uint32_t node);
int oc_cost_loop(struct oc_engine *e, uint32_t node, uint64_t trips);

/* bind.c: the declared type of one value as that of a graph input; symbols not bound yet get defaults. */
void oc_bind_input(struct oc_engine *e, uint32_t value);

/* text_generation.c: BeamSearch, GreedySearch, Sampling, WhisperBeamSearch */
int oc_infer_generation(struct oc_engine *e, uint32_t node);
int oc_cost_generation(struct oc_engine *e, uint32_t node, uint64_t trips);

#endif
