/* Limits for what a file may ask for: one table with names, defaults and ranges. Which of them applies where
 * is the readers' business; they all fail with the same words, that name the limit and how to raise it.
 * (gate/limits.h has limits of another kind: those that a model is held against.) */
#ifndef OC_CAPS_H
#define OC_CAPS_H

#include "onnxcost.h"

/* The limit in force; caps may be NULL. */
uint64_t oc_cap(const struct oc_caps *caps, enum oc_cap which);

/* "1000001 nodes: more than 1000000 (--limit nodes=N)"; found 0: not counted to the end, "more than 1000000
 * nodes (--limit nodes=N)". Returns buf. */
enum { OC_CAP_TEXT = 192 };
const char *oc_cap_text(const struct oc_caps *caps, enum oc_cap which, uint64_t found, char buf[OC_CAP_TEXT]);

/* Fails with OC_ELIMIT and that text. Returns -1. */
int oc_cap_fail(const struct oc_caps *caps, enum oc_cap which, uint64_t found, struct oc_err *err);

#endif
