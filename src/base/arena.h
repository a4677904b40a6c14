/* Memory: arenas, the heap, growable buffers.
 *
 * Bump arena: many allocations, one free. Memory is zeroed and aligned to 16 bytes. Running out of memory
 * never returns (see oc_set_oom_handler); sizes that come from input must have been checked against limits
 * before. */
#ifndef OC_ARENA_H
#define OC_ARENA_H

#include <stdarg.h>

#include "onnxcost_types.h"

struct oc_arena_block;
struct oc_arena {
    struct oc_arena_block *head;
    size_t used_bytes; /* sum of all requests */
};

void *oc_alloc(struct oc_arena *a, size_t bytes);
void *oc_alloc_array(struct oc_arena *a, size_t n,
                     size_t elem_bytes); /* the product is checked for overflow */
void *oc_copy_array(struct oc_arena *a, const void *v, size_t n, size_t elem_bytes);
char *oc_strndup(struct oc_arena *a, const char *s, size_t n);
char *oc_strdup(struct oc_arena *a, const char *s);
char *oc_printf(struct oc_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void oc_arena_free(struct oc_arena *a); /* frees everything; the arena may be used again */

/* Heap memory outside arenas, same out-of-memory rule. Freed with free(). */
void *oc_xmalloc(size_t bytes);
void *oc_xcalloc(size_t n, size_t bytes); /* n zeroed objects */
void *oc_xrealloc(void *p, size_t bytes);
_Noreturn void oc_out_of_memory(size_t bytes); /* 0: unknown */
/* The same rule for errors of other libraries and the system: ends the program when `error` is ENOMEM. */
void oc_check_memory(int error);

#define OC_NEW(a, type)          ((type *)oc_alloc((a), sizeof(type)))
#define OC_NEW_ARRAY(a, n, type) ((type *)oc_alloc_array((a), (n), sizeof(type)))
#define OC_COPY_ARRAY(a, v, n)   oc_copy_array((a), (v), (n), sizeof(*(v)))
#define OC_COUNT(x)              (sizeof(x) / sizeof((x)[0]))

/* Grows a heap array of T kept as (ptr, n, cap) by room for one more element. */
#define OC_GROW(ptr, n, cap)                                                                                 \
    ((n) == (cap)                                                                                            \
         ? (void)((cap) = (cap) ? (cap)*2 : 16, (ptr) = oc_xrealloc((ptr), (size_t)(cap) * sizeof(*(ptr))))  \
         : (void)0)

/* A new element at the end of such an array: OC_PUSH(ptr, n, cap) = value; the value may not depend on n. */
#define OC_PUSH(ptr, n, cap) (*(OC_GROW(ptr, n, cap), (ptr) + (n)++))

/* ---- growable buffers --------------------------------------------------------------------------------- */

/* Bytes with a maximum size. Always NUL-terminated after an append. */
struct oc_buf {
    char *data;      /* NULL until the first append */
    size_t n, cap;   /* bytes used, bytes allocated */
    size_t max;      /* 0: no maximum */
    bool overflowed; /* an append would have exceeded max and was dropped */
};

void oc_buf_add(struct oc_buf *b, const void *data, size_t n);
void oc_buf_str(struct oc_buf *b, const char *s);
void oc_buf_json(struct oc_buf *b, const char *s, size_t n); /* as a string of JSON */
void oc_buf_char(struct oc_buf *b, char c);
void oc_buf_pad(struct oc_buf *b, char c, size_t n);
void oc_buf_int(struct oc_buf *b, int64_t v);
void oc_buf_printf(struct oc_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void oc_buf_clear(struct oc_buf *b); /* keeps the allocation */
void oc_buf_free(struct oc_buf *b);

/* Appends one line for the terminal; control characters and line breaks of its texts are replaced
 * (oc_make_visible). */
void oc_print_line(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A stream that appends to the buffer; complete after fclose. Unlike open_memstream, a failed write is always
 * reported. */
FILE *oc_buf_stream(struct oc_buf *b);

#endif
