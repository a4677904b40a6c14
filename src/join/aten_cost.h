/* Cost of PyTorch's operators (records "aten::mm") from the shapes, types and values that its profiler
 * records with record_shapes=True, without a model. */
#ifndef OC_ATEN_COST_H
#define OC_ATEN_COST_H

#include "join/record_cost.h"

/* Whether the record is an operator of PyTorch or of an extension: its type has a namespace ("aten::"). */
bool oc_aten_is(const struct oc_prof_rec *r);

/* As oc_record_cost. Work is counted at the record; operators that run inside it have no records. */
void oc_aten_cost(const struct oc_prof_rec *r, struct oc_arena *a, struct oc_record_cost *out);

#endif
