/* Fields of ONNX messages that are appended to a buffer: values with their types, tensors. What must hold: a field is
 * whole, and nothing is written that is not known. */
#ifndef OC_ONNX_FIELDS_H
#define OC_ONNX_FIELDS_H

#include "analyze/analysis.h"
#include "base/arena.h"

enum { OC_TENSOR_RAW = 9, OC_TENSOR_ENTRY = 13, OC_TENSOR_PLACE = 14 };

/* Whether it is a tensor of a type of ONNX with known sizes. NULL: no. */
bool oc_type_is_complete(const struct oc_type *t);

/* A ValueInfoProto with what is known of the type: all of an input, perhaps no size of an output. */
void oc_put_value(struct oc_buf *out, uint32_t field, const char *name, const struct oc_type *t);

/* Type, shape and name of a TensorProto. */
void oc_put_tensor_head(struct oc_buf *b, const char *name, unsigned dtype, uint32_t rank,
                        const int64_t *dim);
/* An entry of external_data. */
void oc_put_tensor_entry(struct oc_buf *b, const char *key, const char *value);
/* The fields of a tensor's message (OC_STORE_FIELDS: texts, and numbers that are not packed) with another name. */
void oc_put_tensor_fields(struct oc_buf *b, const char *name, const struct oc_tensor *t);

/* Appends the elements of an inferred value, as in raw_data; false: not all are known. */
bool oc_known_bytes(const struct oc_analysis *a, uint32_t value, struct oc_buf *raw);

#endif
