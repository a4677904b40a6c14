/* The texts of build.h (types, tensors, attributes, name lists) as ONNX messages in an arena. */
#ifndef OC_BUILD_TEXT_H
#define OC_BUILD_TEXT_H

#include "base/arena.h"
#include "onnx.pb-c.h"

/* An empty message. */
void *oc_bt_new(struct oc_arena *a, const ProtobufCMessageDescriptor *kind);

/* Appends a message to a repeated member of a protobuf-c message; the array lives in the arena and doubles.
 */
void oc_bt_append(struct oc_arena *a, void *array_member, size_t *n, void *message);
#define OC_BT_APPEND(a, msg, member, item) oc_bt_append((a), &(msg)->member, &(msg)->n_##member, (item))

char **oc_bt_names(struct oc_arena *a, const char *text, size_t *n);
Onnx__TypeProto *oc_bt_type(struct oc_arena *a, const char *text);
/* fields: use the typed lists instead of raw_data */
Onnx__TensorProto *oc_bt_tensor(struct oc_arena *a, const char *text, int fields);
/* Calls `take` for each attribute of the text. A bare word gives a message with the name alone. */
void oc_bt_attributes(struct oc_arena *a, const char *text, void (*take)(void *, Onnx__AttributeProto *),
                      void *ctx);

/* A mistake of the caller: prints it with the text and aborts. */
_Noreturn void oc_bt_bug(const char *what, const char *text);

#endif
