/* Resource limits for untrusted input: one table of names, defaults and ranges. Readers decide where each
 * limit applies; every failure has the same form, with the name of the limit and the option that raises it.
 * (gate/limits.h has the limits of a budget: those apply to a report.) */
#ifndef OC_CAPS_H
#define OC_CAPS_H

#include "onnxcost_types.h"

/* The value in force; caps may be NULL. */
uint64_t oc_cap(const struct oc_caps *caps, enum oc_cap which);

/* Formats "1000001 nodes: more than 1000000 (--limit nodes=N)"; with found 0 (counting stopped early) "more
 * than 1000000 nodes (--limit nodes=N)". Returns buf. */
enum { OC_CAP_TEXT = 192 };
const char *oc_cap_text(const struct oc_caps *caps, enum oc_cap which, uint64_t found, char buf[OC_CAP_TEXT]);

/* Fails with OC_ELIMIT and that text. Returns -1. */
int oc_cap_fail(const struct oc_caps *caps, enum oc_cap which, uint64_t found, struct oc_err *err);

#endif
