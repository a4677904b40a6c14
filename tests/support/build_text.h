/* The texts of build.h (types, tensors, attributes, name lists) as ONNX messages in an arena. Private to the
 * builder. A mistake in a text is a mistake of the caller: oc_bt_bug prints it and aborts. */
#ifndef OC_BUILD_TEXT_H
#define OC_BUILD_TEXT_H

#include "base/arena.h"
#include "onnx.pb-c.h"

_Noreturn void oc_bt_bug(const char *what, const char *text);

/* ---- messages ------------------------------------------------------------------------------------------ */

/* An empty message. */
void *oc_bt_new(struct oc_arena *a, const ProtobufCMessageDescriptor *kind);

/* Appends a pointer to a repeated member of a message; the array is in the arena and doubles. */
void oc_bt_append(struct oc_arena *a, void *array_member, size_t *n, void *message);
#define OC_BT_APPEND(a, msg, member, item) oc_bt_append((a), &(msg)->member, &(msg)->n_##member, (item))

/* A copy of the array with twice the capacity when its length n is 0 or a power of two, otherwise NULL. */
void *oc_bt_grown(struct oc_arena *a, const void *old, size_t n, size_t elem);
#define OC_BT_APPEND_VALUE(arena, msg, member, value)                                                        \
    do {                                                                                                     \
        void *now_ = oc_bt_grown((arena), (msg)->member, (msg)->n_##member, sizeof(*(msg)->member));         \
        if (now_)                                                                                            \
            (msg)->member = now_;                                                                            \
        (msg)->member[(msg)->n_##member++] = (value);                                                        \
    } while (0)

/* ---- whole texts --------------------------------------------------------------------------------------- */

char **oc_bt_names(struct oc_arena *a, const char *text, size_t *n);
Onnx__TypeProto *oc_bt_type(struct oc_arena *a, const char *text); /* NULL gives NULL */
/* fields: use the typed lists instead of raw_data */
Onnx__TensorProto *oc_bt_tensor(struct oc_arena *a, const char *text, bool fields);
/* Calls `take` for each attribute of the text. A bare word gives a message with only a name. */
void oc_bt_attributes(struct oc_arena *a, const char *text, void (*take)(void *, Onnx__AttributeProto *),
                      void *ctx);

/* ---- pieces -------------------------------------------------------------------------------------------- */

struct oc_bt_cur { /* a reading position; `text` is kept for messages */
    struct oc_arena *a;
    const char *p, *text;
};

struct oc_bt_span {
    const char *s;
    size_t n;
};

void oc_bt_blanks(struct oc_bt_cur *c);          /* skips them */
bool oc_bt_take(struct oc_bt_cur *c, char want); /* skips blanks and `want`, if it comes next */
void oc_bt_must(struct oc_bt_cur *c, char want);
void oc_bt_at_end(struct oc_bt_cur *c);
struct oc_bt_span oc_bt_until(struct oc_bt_cur *c, const char *stop); /* without the blanks around it */
struct oc_bt_span oc_bt_word(struct oc_bt_cur *c);                    /* letters, digits, _ */
struct oc_bt_span oc_bt_quoted(struct oc_bt_cur *c);                  /* 'text' */
bool oc_bt_is(struct oc_bt_span s, const char *name);
bool oc_bt_read_int(struct oc_bt_span s, int64_t *out); /* decimal or 0x..., signed or up to 2^64 - 1 */
int64_t oc_bt_int_of(struct oc_bt_cur *c, struct oc_bt_span s);
double oc_bt_double_of(struct oc_bt_cur *c, struct oc_bt_span s);
char *oc_bt_dup(struct oc_bt_cur *c, struct oc_bt_span s);
ProtobufCBinaryData oc_bt_bytes_of(struct oc_bt_cur *c, struct oc_bt_span s);
int32_t oc_bt_dtype_of(struct oc_bt_cur *c, struct oc_bt_span name);
Onnx__TensorShapeProto *oc_bt_read_shape(struct oc_bt_cur *c); /* NULL if the next character is not '[' */
Onnx__TypeProto *oc_bt_read_type(struct oc_bt_cur *c);
Onnx__TensorProto *oc_bt_read_tensor(struct oc_bt_cur *c, bool fields);

#endif
