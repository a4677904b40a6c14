/* Weights of primitives (cost-semantics section 2). */
#ifndef OC_WEIGHTS_H
#define OC_WEIGHTS_H

#include "ops/op.h"

struct oc_weights {
    uint32_t w[OC_PRIM_COUNT];
};

/* Loads a set by its name ("unit", also for NULL; "hw", "mac"), else the file of that name: one line "KEY
 * value" for each primitive whose weight differs from "unit", integers up to a million; "#" begins a comment.
 * Errors name file and line. */
int oc_weights_get(const char *name_or_file, struct oc_weights *out, struct oc_err *err);

/* Parses the lines of such a file; `file` is its name in messages. */
int oc_weights_read(const char *data, size_t n, const char *file, struct oc_weights *out, struct oc_err *err);

#endif
