/* Cost of a record from the shapes in the profile, without a model. Sets only what those shapes determine:
 * ONNX Runtime does not record pre-packed weights and attributes, and counts that depend on them are
 * unknown, never guessed. The counts use the same rules as models. */
#ifndef OC_RECORD_COST_H
#define OC_RECORD_COST_H

#include "ops/op.h"
#include "profile/profile.h"

struct oc_record_cost {
    uint64_t macs, flops, ops; /* flops: float classes, 2 per MAC; ops: integer and boolean classes */
    uint64_t rd, wr;           /* bytes of the recorded inputs and outputs */
    bool bytes_known;          /* all inputs are recorded */
    uint8_t quality;           /* enum oc_quality; OC_UNKNOWN: the counts are not valid */
    const char *note;          /* reason; NULL when exact */
};

/* Cost of one call of the record. Scratch memory and texts are allocated in the arena. */
void oc_record_cost(const struct oc_profile *p, const struct oc_prof_rec *r, struct oc_arena *a,
                    struct oc_record_cost *out);

/* Adds the counts of the operator's rule, with default attributes, for the types in the record; an unknown
 * count sets the quality. */
void oc_record_rule_cost(const struct oc_prof_rec *r, struct oc_arena *a, struct oc_record_cost *out);

#endif
