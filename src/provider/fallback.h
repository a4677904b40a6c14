/* What falls back, by operator and reason, and how far a profile that names providers agrees. */
#ifndef OC_FALLBACK_H
#define OC_FALLBACK_H

#include "join/join.h"
#include "provider/provider.h"

struct oc_fallback {     /* nodes of one operator type with one reason */
    uint8_t from;        /* the provider that does not take them, or is not sure to */
    uint8_t best, worst; /* where they run instead */
    const char *domain, *op_type, *reason;
    uint32_t nodes, unknown; /* unknown: nodes whose MACs are unknown */
    uint64_t macs;
};

enum oc_agreement { OC_AGREE_NOT_MEASURED, OC_AGREES, OC_AGREES_IF, OC_DIFFERS, OC_AGREE_COUNT };
const char *oc_agreement_name(unsigned agreement); /* "agrees" */

struct oc_fallbacks {
    struct oc_fallback *item; /* heap; most nodes first */
    uint32_t n, cap;
    const char **measured; /* by node: name of the provider in the profile, NULL: none */
    uint8_t *agrees;       /* by node: enum oc_agreement */
    uint32_t count[OC_AGREE_COUNT];
};

/* join NULL: no profile. The assignment must outlive the result. */
void oc_fallbacks_make(struct oc_assignment *x, const struct oc_join *join, struct oc_fallbacks *out);
void oc_fallbacks_free(struct oc_fallbacks *f);

#endif
