/* What one primitive counts (cost-semantics section 2). */
#ifndef OC_WEIGHTS_H
#define OC_WEIGHTS_H

#include "ops/op.h"

struct oc_weights {
    uint32_t w[OC_PRIM_COUNT];
};

/* A set by its name ("unit", also for NULL; "hw", "mac"), else the file of that name: a line "KEY value" for
 * each primitive that counts otherwise than in "unit", values whole numbers up to a million; "#" begins a
 * comment. Errors name file and line. */
int oc_weights_get(const char *name_or_file, struct oc_weights *out, struct oc_err *err);

/* The lines of such a file; `file` is its name for messages. */
int oc_weights_read(const char *data, size_t n, const char *file, struct oc_weights *out, struct oc_err *err);

#endif
