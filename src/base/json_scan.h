/* SIMD scans of JSON text for json_read.c. Uses compiler vectors, with a portable version for machines
 * without SSE2; reads no byte outside [p, p + n). */
#ifndef OC_JSON_SCAN_H
#define OC_JSON_SCAN_H

#include "base/str.h"

enum byte_class { BLANK = 1, ENDS_STRING = 2, ENDS_SCALAR = 4 };

/* Classes of bytes by what they end. A quote ends a string only when ENDS_STRING follows, possibly after
 * blanks. */
static const uint8_t class_of[256] = {
    [' '] = BLANK | ENDS_SCALAR,
    ['\n'] = BLANK | ENDS_SCALAR,
    ['\t'] = BLANK | ENDS_SCALAR,
    ['\r'] = BLANK | ENDS_SCALAR,
    [','] = ENDS_STRING | ENDS_SCALAR,
    [':'] = ENDS_STRING | ENDS_SCALAR,
    ['}'] = ENDS_STRING | ENDS_SCALAR,
    [']'] = ENDS_STRING | ENDS_SCALAR,
    ['"'] = ENDS_STRING | ENDS_SCALAR,
    ['{'] = ENDS_SCALAR,
    ['['] = ENDS_SCALAR,
};

static inline bool is(int c, unsigned what)
{
    return c >= 0 && class_of[c] & what;
}

/* Index of the first quote or backslash, or n. */
static inline size_t find_quote(const char *p, size_t n)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) { /* most strings end in the first iteration: one well-predicted branch */
        oc_v16 v = oc_load16(p + i), w = oc_load16(p + i + 16);
        uint64_t bits =
            oc_lanes((oc_v16)((v == '"') | (v == '\\'))) | oc_lanes((oc_v16)((w == '"') | (w == '\\'))) << 16;
        if (bits)
            return i + (size_t)__builtin_ctzll(bits);
    }
    while (i < n && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

/* Counts the leading bytes among the 16 at p that are blanks or `also`. */
static inline size_t blanks_at(const char *p, char also)
{
    oc_v16 v = oc_load16(p);
    uint64_t bits = oc_lanes((oc_v16)((v == ' ') | (v == '\n') | (v == '\t') | (v == '\r') | (v == also)));
    return (size_t)__builtin_ctzll(~bits & 0x1ffff);
}

/* Bit mask of the structural bytes among 64. */
struct block {
    uint64_t quote, escape, structure;
};

/* Setting bit 5 maps brackets to braces, and no other byte to them. */
static inline struct block look_at(const char *p)
{
    struct block b = {0, 0, 0};
    for (unsigned i = 0; i < 64; i += 16) {
        oc_v16 v = oc_load16(p + i), w = v | 0x20;
        b.quote |= oc_lanes((oc_v16)(v == '"')) << i;
        b.escape |= oc_lanes((oc_v16)(v == '\\')) << i;
        b.structure |= oc_lanes((oc_v16)((w == '{') | (w == '}'))) << i;
    }
    return b;
}

/* End of the number or word at p: the first byte that ends one, or end. */
static inline const char *scalar_end(const char *p, const char *end)
{
    if (end - p >= 16) {
        oc_v16 v = oc_load16(p), w = v | 0x20;
        uint64_t bits = oc_lanes((oc_v16)((v <= '"') | (v == ',') | (v == ':') | (w == '{') | (w == '}')));
        p += bits ? (size_t)__builtin_ctzll(bits) : 16;
    }
    while (p < end && !is((unsigned char)*p, ENDS_SCALAR)) /* control characters end no token */
        p++;
    return p;
}

#endif
