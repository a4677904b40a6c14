/* Cost of a record from the shapes that the profile itself holds, without a model. Only what those shapes
 * decide: ONNX Runtime leaves pre-packed weights and attributes out, and what they would tell is unknown,
 * never guessed. The counts come from the same rules as those of models. */
#ifndef OC_RECORD_COST_H
#define OC_RECORD_COST_H

#include "ops/op.h"
#include "profile/profile.h"

struct oc_record_cost {
    uint64_t macs, flops, ops; /* flops: float classes, 2 a MAC; ops: integer and boolean ones */
    uint64_t rd, wr;           /* bytes of the recorded inputs and outputs */
    bool bytes_known;          /* every input is recorded */
    uint8_t quality;           /* enum oc_quality; OC_UNKNOWN: the counts are meaningless */
    const char *note;          /* why; NULL when exact */
};

/* One call of the record. Scratch and texts live in the arena. */
void oc_record_cost(const struct oc_profile *p, const struct oc_prof_rec *r, struct oc_arena *a,
                    struct oc_record_cost *out);

#endif
