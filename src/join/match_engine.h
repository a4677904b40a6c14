#ifndef OC_MATCH_ENGINE_H
#define OC_MATCH_ENGINE_H

#include "join/join.h"

/* Matches the unmatched layers of a TensorRT engine by type, shapes and neighbours. */
void oc_match_engine(struct oc_matcher *x);

#endif
