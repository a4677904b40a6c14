/* Notations of shapes and element types in fields of printed rows. */
#ifndef OC_PRINTED_SHAPES_H
#define OC_PRINTED_SHAPES_H

#include "profile/core/records.h"
#include "profile/printed/read.h"

struct oc_printed_shapes {
    const struct oc_printed_format *format;
    const struct oc_printed_row *row;
};

/* Sets the types of a row in the notation of its format; ctx: struct oc_printed_shapes. */
void oc_printed_types(struct oc_arena *a, const void *ctx, struct oc_op_row *row);

#endif
