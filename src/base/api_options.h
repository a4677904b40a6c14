/* Options of callers that were compiled with an older or a newer version of the public headers. */
#ifndef OC_API_OPTIONS_H
#define OC_API_OPTIONS_H

#include "onnxcost_types.h"

/* Fills `full`, a struct of options as this version has it, with those of the caller, whose first member is
 * `size_t size`: NULL is all zero; size 0 is the size of version 1.0, which is sizeof(*full) as long as the
 * struct has not grown. Members after a smaller size are zero. OC_EARG: bytes after the members of this
 * version are not zero, or the size is not possible. */
int oc_options_read(void *full, size_t bytes, const void *given, struct oc_err *err);
#define OC_OPTIONS(full, given, err) oc_options_read((full), sizeof(*(full)), (given), (err))

#endif
