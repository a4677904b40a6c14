#include "base/buf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/units.h"

static bool buf_reserve(struct oc_buf *b, size_t more)
{
    if (b->max && more > b->max - (b->n < b->max ? b->n : b->max)) {
        b->overflowed = true;
        return false;
    }
    size_t need = b->n + more + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 256;
        while (cap < need)
            cap *= 2;
        b->data = oc_xrealloc(b->data, cap);
        b->cap = cap;
    }
    return true;
}

static ssize_t add_some(void *buf, const char *data, size_t n)
{
    oc_buf_add(buf, data, n);
    return (ssize_t)n;
}

FILE *oc_buf_stream(struct oc_buf *b)
{
    FILE *f = fopencookie(b, "w", (cookie_io_functions_t){.write = add_some});
    if (!f)
        oc_out_of_memory(0);
    return f;
}

void oc_buf_add(struct oc_buf *b, const void *data, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
    b->data[b->n] = '\0';
}

void oc_buf_str(struct oc_buf *b, const char *s)
{
    oc_buf_add(b, s, strlen(s));
}

void oc_buf_char(struct oc_buf *b, char c)
{
    if (!buf_reserve(b, 1))
        return;
    b->data[b->n++] = c;
    b->data[b->n] = '\0';
}

void oc_buf_pad(struct oc_buf *b, char c, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    memset(b->data + b->n, c, n);
    b->n += n;
    b->data[b->n] = '\0';
}

void oc_buf_int(struct oc_buf *b, int64_t v)
{
    char text[24], *end = text + sizeof(text);
    char *p = oc_put_digits(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    if (v < 0)
        *--p = '-';
    oc_buf_add(b, p, (size_t)(end - p));
}

static void buf_vprintf(struct oc_buf *b, const char *fmt, va_list ap)
{
    char text[256]; /* most texts are short: format once */
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    if (n > 0 && (size_t)n < sizeof(text)) {
        oc_buf_add(b, text, (size_t)n);
    } else if (n > 0 && buf_reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void oc_buf_printf(struct oc_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void oc_buf_clear(struct oc_buf *b)
{
    b->n = 0;
    b->overflowed = false;
    if (b->data)
        b->data[0] = '\0';
}

void oc_buf_free(struct oc_buf *b)
{
    free(b->data);
    *b = (struct oc_buf){.max = b->max};
}

void oc_print_line(FILE *f, const char *fmt, ...)
{
    struct oc_buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    fprintf(f, "%s\n", b.data ? oc_make_visible(b.data) : "");
    oc_buf_free(&b);
}
