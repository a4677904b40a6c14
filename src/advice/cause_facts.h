/* What the condition of a cause may ask about a node, beyond what the formula language says of its sizes, values and
 * attributes. Every word is a whole number; what is not known makes the condition false.
 *
 *   const1 type1 size1   input 1: is it constant, its element type, its number of elements. Also `typeout`
 *   zero1                input 1 is absent, or a constant whose bytes are all 0
 *   float16, int64 ...   element types, as numbers
 *   users output outputs readers of output 0; is it an output of the model; number of outputs
 *   after_axis           product of the sizes after attribute axis; `on_axis`: the size there
 *   reduce_blocks reduce_last   of a reduction: runs of kept and reduced axes in turn; is the last axis reduced
 *   swaps_last           a Transpose exchanges the last two axes and no other
 *   trips body_trips     executions of the node in a run; of a node in its body for each of its own
 *   folded               it computes a constant from constants
 *   duplicate            an earlier node has the same type, inputs and attributes
 *   same_inputs          input 0 and 1 have the same shape
 *   subnormal            per mille of subnormal numbers in its f32 constants
 *   opset micros         version of its operators; microseconds of its row in a run
 *   waits                per mille of its time in which its first thread waits for the others, as recorded
 *   Conv, Relu ...       is it of this type
 *   from1_FACT to_FACT   the same of the node that writes input 1, of the only reader of output 0. There is none: a type
 *                        is 0, anything else is not known
 * Private to advice/. */
#ifndef OC_CAUSE_FACTS_H
#define OC_CAUSE_FACTS_H

#include "advice/advisor.h"
#include "advice/cause.h"

struct oc_cause_facts;

struct oc_cause_facts *oc_cause_facts_new(struct oc_advisor *x);
/* Whether all conditions hold for the node. */
bool oc_cause_holds(struct oc_cause_facts *f, const struct oc_cause *c, uint32_t node);
/* The first error of the condition's text, in `why`; NULL: it is well formed. For tests. */
const char *oc_cause_error(const struct oc_cause *c, char *why, size_t cap);

#endif
