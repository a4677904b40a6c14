/* Scans of text with vectors (SIMD) or words (SWAR): structure of JSON, digits. */
#ifndef OC_TEXT_SCAN_H
#define OC_TEXT_SCAN_H

#include <stdbool.h>

#include "base/str.h"

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* SIMD scans of JSON text for json_read.c. Uses compiler vectors, with a portable version for machines
 * without SSE2; reads no byte outside [p, p + n). */

enum oc_byte_class { BLANK = 1, ENDS_STRING = 2, ENDS_SCALAR = 4 };

/* Classes of bytes by what they end. A quote ends a string only when ENDS_STRING follows, possibly after
 * blanks. */
static const uint8_t oc_byte_class_of[256] = {
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

static inline bool oc_byte_is(int c, unsigned what)
{
    return c >= 0 && oc_byte_class_of[c] & what;
}

/* Index of the first quote or backslash, or n. */
static inline size_t oc_find_quote(const char *p, size_t n)
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
static inline size_t oc_blanks_at(const char *p, char also)
{
    oc_v16 v = oc_load16(p);
    uint64_t bits = oc_lanes((oc_v16)((v == ' ') | (v == '\n') | (v == '\t') | (v == '\r') | (v == also)));
    return (size_t)__builtin_ctzll(~bits & 0x1ffff);
}

/* Bit mask of the structural bytes among 64. */
struct oc_scan_block {
    uint64_t quote, escape, structure;
};

/* Setting bit 5 maps brackets to braces, and no other byte to them. */
static inline struct oc_scan_block oc_scan_64(const char *p)
{
    struct oc_scan_block b = {0, 0, 0};
    for (unsigned i = 0; i < 64; i += 16) {
        oc_v16 v = oc_load16(p + i), w = v | 0x20;
        b.quote |= oc_lanes((oc_v16)(v == '"')) << i;
        b.escape |= oc_lanes((oc_v16)(v == '\\')) << i;
        b.structure |= oc_lanes((oc_v16)((w == '{') | (w == '}'))) << i;
    }
    return b;
}

/* End of the number or word at p: the first byte that ends one, or end. */
static inline const char *oc_scalar_end(const char *p, const char *end)
{
    if (end - p >= 16) {
        oc_v16 v = oc_load16(p), w = v | 0x20;
        uint64_t bits = oc_lanes((oc_v16)((v <= '"') | (v == ',') | (v == ':') | (w == '{') | (w == '}')));
        p += bits ? (size_t)__builtin_ctzll(bits) : 16;
    }
    while (p < end && !oc_byte_is((unsigned char)*p, ENDS_SCALAR)) /* control characters end no token */
        p++;
    return p;
}

/* ---- digits ------------------------------------------------------------------------------------------- */

/* Converts whole numbers from text, eight digits at a time (SWAR). Reads no byte outside of the text. */

#define OC_ZEROS 0x3030303030303030u /* eight '0' bytes */

/* Loads eight bytes of text, the first one lowest. */
static inline uint64_t oc_load_digits(const char *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return oc_load8(p);
#else
    return __builtin_bswap64(oc_load8(p));
#endif
}

/* Converts eight digits, the first one lowest. False: not all of them are digits. */
static inline bool oc_eight_digits(uint64_t text, uint64_t *out)
{
    uint64_t d = text - OC_ZEROS;
    if (((text + 0x4646464646464646u) | d) & 0x8080808080808080u)
        return false;
    d = d * 10 + (d >> 8); /* combine pairs, then fours, then all */
    *out = ((d & 0x000000ff000000ffu) * 0x000f424000000064u +
            (d >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >>
           32;
    return true;
}

/* Right-aligns n (1 to 7) digits in eight bytes. Overlapping loads write the same bytes twice. */
static inline uint64_t oc_few_digits(const char *p, size_t n)
{
    unsigned shift = 8 * (8 - (unsigned)n);
    uint64_t v;
    if (n >= 4) {
        uint32_t head, tail;
        memcpy(&head, p, 4);
        memcpy(&tail, p + n - 4, 4);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        head = __builtin_bswap32(head);
        tail = __builtin_bswap32(tail);
#endif
        v = (uint64_t)head << shift | (uint64_t)tail << 32;
    } else {
        const unsigned char *b = (const unsigned char *)p;
        v = (uint64_t)b[0] << shift | (uint64_t)b[n / 2] << (shift + 8 * (n / 2)) | (uint64_t)b[n - 1] << 56;
    }
    return v | OC_ZEROS >> (8 * n);
}

/* Value of exactly n digits, at most 16. False: other characters, or more digits. */
static inline bool oc_digits(const char *p, size_t n, uint64_t *out)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t high, low;
    if (!n || n > 16)
        return false;
    if (n < 8)
        return oc_eight_digits(oc_few_digits(p, n), out);
    if (!oc_eight_digits(oc_load_digits(p), &high))
        return false;
    size_t rest = n - 8; /* the last eight, without those already converted */
    uint64_t seen = rest ? ~(~(uint64_t)0 << (8 * (8 - rest))) : ~(uint64_t)0;
    if (!oc_eight_digits((oc_load_digits(p + rest) & ~seen) | (OC_ZEROS & seen), &low))
        return false;
    *out = high * power[rest] + low;
    return true;
}

/* Counts the digits at p, 0 to 8, and converts them; eight bytes must be readable. */
static inline unsigned oc_digits_at(const char *p, uint64_t *out)
{
    uint64_t v = oc_load_digits(p), x = v ^ OC_ZEROS;
    uint64_t other = ((x + 0x7676767676767676u) | x) &
                     0x8080808080808080u; /* all bytes below the first one that is not a digit */
    unsigned n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    if (!n)
        return 0;
    if (n < 8)
        v = v << (8 * (8 - n)) | OC_ZEROS >> (8 * n);
    oc_eight_digits(v, out);
    return n;
}

#endif
