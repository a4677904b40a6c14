/* Layers of TensorRT engines: their nodes, and their cost from the information that the engine gives. */
#ifndef OC_ENGINE_LAYERS_H
#define OC_ENGINE_LAYERS_H

#include "join/join.h"

/* Matches the unmatched layers of a TensorRT engine by type, shapes and neighbours. */
void oc_match_engine(struct oc_matcher *x);

/* Whether the record is a layer of TensorRT with recorded tensors. */
bool oc_engine_has_layers(const struct oc_profile *p, const struct oc_prof_rec *rec);

/* Whether the profile has layer information with tensors. */
bool oc_engine_is_detailed(const struct oc_profile *p);

/* Replaces the counts of the model in r by those of the engine's layer information: operations, bytes,
 * element types and batch of the engine. What it does not determine is the model's count for the engine's
 * batch, or unknown. False: the record has no layer information, or no known shapes; r is unchanged. */
bool oc_engine_cost(const struct oc_join *j, const struct oc_prof_rec *rec, struct oc_join_rec *r);

/* Whether the two shapes differ in the first dimension only: batch[0] is recorded, batch[1] the model's. */
bool oc_other_batch(const struct oc_type *recorded, const struct oc_type *model, int64_t batch[2]);

#endif
