/* "batch=4;sequence=128": numbers for symbolic dimensions, the format in lists of recordings. */
#ifndef OC_SAMPLE_DIMS_H
#define OC_SAMPLE_DIMS_H

#include "base/arena.h"

struct oc_sample_dims {
    struct oc_bind *bind; /* arena */
    size_t n;
};
int oc_sample_dims_parse(const char *text, struct oc_arena *a, struct oc_sample_dims *out,
                         struct oc_err *err);

#endif
