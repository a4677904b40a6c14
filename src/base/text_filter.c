/* Text as programs write it into files: encodings to UTF-8, and without prefixes of log lines (log_prefix.c). */
#include "base/file.h"
#include "base/log_prefix.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/os.h"
#include "base/unicode.h"

#define PIECE_BYTES ((size_t)256 << 10) /* of the source, converted at a time */
#define LONG_LINE   ((size_t)1 << 20)   /* is passed on in pieces */

/* ---- encoding --------------------------------------------------------------------------------------- */

enum oc_text_encoding oc_text_encoding(const void *src, size_t n)
{
    const unsigned char *p = src;
    if (n >= 2 && p[0] == 0xff && p[1] == 0xfe)
        return OC_TEXT_UTF16LE;
    if (n >= 2 && p[0] == 0xfe && p[1] == 0xff)
        return OC_TEXT_UTF16BE;
    if (n < 16)
        return OC_TEXT_BYTES;
    bool low = true, high = true;
    for (size_t i = 0; i < 16 && (low || high); i += 2) {
        low = low && p[i + 1] == 0 && (oc_is_space(p[i]) || (p[i] >= ' ' && p[i] < 0x7f));
        high = high && p[i] == 0 && (oc_is_space(p[i + 1]) || (p[i + 1] >= ' ' && p[i + 1] < 0x7f));
    }
    return low ? OC_TEXT_UTF16LE : high ? OC_TEXT_UTF16BE : OC_TEXT_BYTES;
}

/* ---- the filter ------------------------------------------------------------------------------------- */

struct oc_text_filter {
    const unsigned char *src;
    size_t n, at;
    enum oc_text_encoding encoding;
    struct oc_log_prefix prefix;
    struct oc_buf unpacked; /* the text of a line of JSON */
    struct oc_buf line;     /* an incomplete line whose prefix is not yet removed */
    struct oc_buf out;
};

struct oc_text_filter *oc_text_filter_open(const void *src, size_t n, enum oc_text_encoding encoding,
                                           const struct oc_log_prefix *prefix)
{
    struct oc_text_filter *f = oc_xmalloc(sizeof(*f));
    *f = (struct oc_text_filter){.src = src, .n = n, .encoding = encoding};
    if (prefix)
        f->prefix = *prefix;
    return f;
}

void oc_text_filter_close(struct oc_text_filter *f)
{
    if (!f)
        return;
    oc_buf_free(&f->line);
    oc_buf_free(&f->unpacked);
    oc_buf_free(&f->out);
    free(f);
}

static uint32_t unit_at(const struct oc_text_filter *f, size_t at)
{
    const unsigned char *p = f->src + at;
    return f->encoding == OC_TEXT_UTF16LE ? (uint32_t)p[0] | (uint32_t)p[1] << 8
                                          : (uint32_t)p[1] | (uint32_t)p[0] << 8;
}

/* One code point; an unpaired surrogate becomes U+FFFD. */
static void decode_one(struct oc_text_filter *f, struct oc_buf *to)
{
    char utf8[4];
    uint32_t cp = unit_at(f, f->at);
    bool first = f->at == 0;
    f->at += 2;
    if (cp >= 0xd800 && cp < 0xdc00 && f->at + 2 <= f->n) {
        uint32_t low = unit_at(f, f->at);
        if (low >= 0xdc00 && low < 0xe000) {
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
            f->at += 2;
        }
    }
    if (cp >= 0xd800 && cp < 0xe000)
        cp = 0xfffd;
    if (!(first && cp == 0xfeff))
        oc_buf_add(to, utf8, oc_utf8_put(utf8, cp));
}

static void text_filter_decode(struct oc_text_filter *f, struct oc_buf *to)
{
    size_t end = f->n - f->at > PIECE_BYTES ? f->at + PIECE_BYTES : f->n;
    oc_os_need(f->src + f->at, end - f->at);
    if (f->encoding == OC_TEXT_BYTES) {
        oc_buf_add(to, (const char *)f->src + f->at, end - f->at);
        f->at = end;
        return;
    }
    while (f->at + 2 <= end)
        decode_one(f, to);
    if (f->n - f->at < 2)
        f->at = f->n;
}

/* Moves complete lines, without their prefix, to the window; at the end of the source also the last one. */
static void move_lines(struct oc_text_filter *f)
{
    const char *s = f->line.data, *end = s + f->line.n;
    while (s < end) {
        const char *stop = oc_line_end(s, end);
        if (stop == end && f->at < f->n && end - s < (ptrdiff_t)LONG_LINE)
            break;
        struct oc_log_prefix found;
        struct oc_str line = oc_str(s, (size_t)(stop - s)), text;
        oc_log_split(line, &f->prefix, f->prefix.colors, &found, &f->unpacked, &text);
        if (found.n != f->prefix.n || !f->prefix.label[0] || strcmp(found.label, f->prefix.label) == 0) {
            oc_buf_add(&f->out, text.s, text.n);
            if (stop < end)
                oc_buf_char(&f->out, '\n');
        }
        stop += stop < end;
        s = stop;
    }
    size_t left = (size_t)(end - s);
    if (left)
        memmove(f->line.data, s, left);
    f->line.n = left;
}

bool oc_text_filter_more(struct oc_text_filter *f, size_t used, bool add, const char **data, size_t *n)
{
    used = used < f->out.n ? used : f->out.n;
    if (used) {
        memmove(f->out.data, f->out.data + used, f->out.n - used);
        f->out.n -= used;
    }
    size_t had = f->out.n;
    while (add && f->at < f->n && f->out.n == had) {
        text_filter_decode(f, oc_log_prefix_any(&f->prefix) ? &f->line : &f->out);
        if (oc_log_prefix_any(&f->prefix) && f->line.n)
            move_lines(f);
    }
    *data = f->out.n ? f->out.data : "";
    *n = f->out.n;
    return f->out.n > had;
}

size_t oc_text_filter_taken(const struct oc_text_filter *f)
{
    return f->at;
}
