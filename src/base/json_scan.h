/* Looking at many bytes of JSON at once: part of json_read.c, where its speed comes from. Compiler vectors
 * with a portable way for machines without SSE2; no byte outside [p, p + n) is touched. */
#ifndef OC_JSON_SCAN_H
#define OC_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef signed char oc_v16 __attribute__((vector_size(16)));

static inline oc_v16 load16(const char *p)
{
    oc_v16 v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* Bit k is set when lane k (0x00 or 0xff) is. */
static inline uint64_t lanes(oc_v16 mask)
{
#ifdef __SSE2__
    typedef char v16c __attribute__((vector_size(16)));
    return (unsigned)__builtin_ia32_pmovmskb128((v16c)mask);
#else
    uint64_t w[2], bits = 0;
    memcpy(w, &mask, sizeof(w));
    for (int i = 0; i < 2; i++) { /* byte k keeps bit k; the product adds the bytes up */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        uint64_t b = w[i] & 0x8040201008040201u;
#else
        uint64_t b = w[i] & 0x0102040810204080u;
#endif
        bits |= (b * 0x0101010101010101u >> 56) << (8 * i);
    }
    return bits;
#endif
}

enum byte_class { BLANK = 1, ENDS_STRING = 2, ENDS_SCALAR = 4 };

/* What a byte may end. A quote ends a string only when one of ENDS_STRING follows, blanks allowed. */
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
    for (; i + 32 <= n; i += 32) { /* most strings end in the first round: one branch, easy to foresee */
        oc_v16 v = load16(p + i), w = load16(p + i + 16);
        uint64_t bits = lanes((oc_v16)((v == '"') | (v == '\\'))) | lanes((oc_v16)((w == '"') | (w == '\\')))
                                                                        << 16;
        if (bits)
            return i + (size_t)__builtin_ctzll(bits);
    }
    while (i < n && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

/* Where the telling bytes of 64 are. */
struct block {
    uint64_t quote, escape, structure;
};

/* Setting bit 5 makes braces of brackets, and of no other byte. */
static inline struct block look_at(const char *p)
{
    struct block b = {0, 0, 0};
    for (unsigned i = 0; i < 64; i += 16) {
        oc_v16 v = load16(p + i), w = v | 0x20;
        b.quote |= lanes((oc_v16)(v == '"')) << i;
        b.escape |= lanes((oc_v16)(v == '\\')) << i;
        b.structure |= lanes((oc_v16)((w == '{') | (w == '}'))) << i;
    }
    return b;
}

#endif
