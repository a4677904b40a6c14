/* Executed MACs: multiply-adds computed from the shapes that the profile recorded. They check the model's
 * counts, and are larger where the runtime pads channels. */
#ifndef OC_EXECUTED_H
#define OC_EXECUTED_H

#include "join/join.h"

/* Sets executed_macs of every record on nodes, and join->executed. */
void oc_join_executed(struct oc_join *j);

#endif
