/* Growable byte buffer with a maximum size. Always NUL-terminated after an append. */
#ifndef OC_BUF_H
#define OC_BUF_H

#include <stdarg.h>

#include "onnxcost_types.h"

struct oc_buf {
    char *data;      /* NULL until the first append */
    size_t n, cap;   /* bytes used, bytes allocated */
    size_t max;      /* 0: no maximum */
    bool overflowed; /* an append would have exceeded max and was dropped */
};

void oc_buf_add(struct oc_buf *b, const void *data, size_t n);
void oc_buf_str(struct oc_buf *b, const char *s);
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
