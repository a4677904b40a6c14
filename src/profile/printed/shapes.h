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

/* What separates records of equal names: the shapes; of a program that only helps a kernel of the web its name. */
struct oc_str oc_printed_shape_key(const struct oc_printed_row *row, const char *notation);

/* Private: shapes_onednn.c. */
void oc_printed_onednn_types(struct oc_arena *a, const struct oc_printed_row *x, struct oc_op_row *row);

#endif
