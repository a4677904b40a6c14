/* Multiply-adds that the runtime carried out, counted from the shapes that the profile itself recorded: a
 * check of the model's counts against what really ran, and more where channels were padded. */
#ifndef OC_EXECUTED_H
#define OC_EXECUTED_H

#include "join/join.h"

/* Fills executed_macs of every record on nodes, and join->executed. */
void oc_join_executed(struct oc_join *j);

#endif
