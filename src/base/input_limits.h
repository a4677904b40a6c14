/* Resource limits for untrusted input: one table of names, defaults and ranges. Readers decide where each
 * limit applies; every failure has the same form, with the name of the limit and the option that raises it.
 * (gate/limits.h has the limits of a budget: those apply to a report.) */
#ifndef OC_INPUT_LIMITS_H
#define OC_INPUT_LIMITS_H

#include "onnxcost_types.h"

/* The value in force; limits may be NULL. */
uint64_t oc_input_limit(const struct oc_input_limits *limits, enum oc_input_limit which);

/* Formats "1000001 nodes: more than 1000000 (--limit nodes=N)"; with found 0 (counting stopped early) "more
 * than 1000000 nodes (--limit nodes=N)". Returns buf. */
enum { OC_INPUT_LIMIT_TEXT = 192 };
const char *oc_input_limit_text(const struct oc_input_limits *limits, enum oc_input_limit which,
                                uint64_t found, char buf[OC_INPUT_LIMIT_TEXT]);

/* Fails with OC_ELIMIT and that text. Returns -1. */
int oc_input_limit_fail(const struct oc_input_limits *limits, enum oc_input_limit which, uint64_t found,
                        struct oc_err *err);

#endif
