/* Text by address and length, and its comparisons with literal text. */
#ifndef OC_STR_H
#define OC_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "onnxcost_types.h"

struct oc_str {
    const char *s; /* not NUL-terminated; NULL: n is 0 */
    size_t n;
};

static inline struct oc_str oc_str(const char *s, size_t n)
{
    return (struct oc_str){s, n};
}

static inline bool oc_str_eq(struct oc_str a, const char *b)
{
    return a.n == strlen(b) && (!a.s || memcmp(a.s, b, a.n) == 0);
}

static inline bool oc_str_starts(struct oc_str a, const char *with)
{
    size_t n = strlen(with);
    return a.s && a.n >= n && memcmp(a.s, with, n) == 0;
}

static inline bool oc_str_ends(struct oc_str a, const char *with)
{
    size_t n = strlen(with);
    return a.s && a.n >= n && memcmp(a.s + a.n - n, with, n) == 0;
}

/* Where the part begins in the n bytes from s; NULL: it is not there. As memmem, and faster for short parts. */
const char *oc_find(const char *s, size_t n, const char *part, size_t part_n);

static inline bool oc_str_has(struct oc_str a, const char *part)
{
    return a.s && a.n && oc_find(a.s, a.n, part, strlen(part));
}

/* Where `part` or the character begins; NULL: it is not in the text. */
static inline const char *oc_str_find(struct oc_str a, const char *part)
{
    return a.n ? oc_find(a.s, a.n, part, strlen(part)) : NULL;
}

static inline const char *oc_str_chr(struct oc_str a, char c)
{
    return a.n ? (const char *)memchr(a.s, c, a.n) : NULL;
}

/* Parts of a text: from a position in it, before a position, and without its first n characters. */
static inline struct oc_str oc_str_from(struct oc_str a, const char *at)
{
    return (struct oc_str){at, (size_t)(a.s + a.n - at)};
}

static inline struct oc_str oc_str_before(struct oc_str a, const char *at)
{
    return (struct oc_str){a.s, (size_t)(at - a.s)};
}

static inline struct oc_str oc_str_skip(struct oc_str a, size_t n)
{
    return (struct oc_str){a.s + n, a.n - n};
}

/* What follows the first `part`; empty if it is not in the text. */
static inline struct oc_str oc_str_after(struct oc_str a, const char *part)
{
    const char *at = oc_str_find(a, part);
    return at ? oc_str_from(a, at + strlen(part)) : oc_str_skip(a, a.n);
}

/* Removes the part up to the first `end`, which goes too, and returns it; all of it if there is none. */
static inline struct oc_str oc_str_take(struct oc_str *text, char end)
{
    const char *at = oc_str_chr(*text, end);
    struct oc_str part = at ? oc_str_before(*text, at) : *text;
    if (text->n)
        *text = oc_str_skip(*text, part.n + (at != NULL));
    return part;
}

/* Removes the first line. False: the text was empty. */
static inline bool oc_str_line(struct oc_str *text, struct oc_str *line)
{
    bool any = text->n > 0;
    *line = oc_str_take(text, '\n');
    return any;
}

/* ---- equality --------------------------------------------------------------------------------------- */

/* Equality of two texts, without a call for short ones. Uses compiler vectors, with a portable version for
 * machines without SSE2; reads no byte outside of either text. */

typedef signed char oc_v16 __attribute__((vector_size(16)));

static inline oc_v16 oc_load16(const char *p)
{
    oc_v16 v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint64_t oc_load8(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* Bit k is set when lane k (0x00 or 0xff) is. */
static inline uint64_t oc_lanes(oc_v16 mask)
{
#ifdef __SSE2__
    typedef char v16c __attribute__((vector_size(16)));
    return (unsigned)__builtin_ia32_pmovmskb128((v16c)mask);
#else
    uint64_t w[2], bits = 0;
    memcpy(w, &mask, sizeof(w));
    for (int i = 0; i < 2; i++) { /* byte k keeps bit k; the product sums the bytes */
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

/* Whether two strings are equal; most unequal ones differ in the first byte. */
static inline bool oc_equal(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

/* Texts of up to 32 bytes: two overlapping loads. */
static inline bool oc_same(const char *a, const char *b, size_t n)
{
    if (n > 32)
        return memcmp(a, b, n) == 0;
    if (n >= 16) {
        oc_v16 head = (oc_v16)(oc_load16(a) == oc_load16(b));
        oc_v16 tail = (oc_v16)(oc_load16(a + (n - 16)) == oc_load16(b + (n - 16)));
        return oc_lanes(head & tail) == 0xffff;
    }
    if (n >= 8)
        return ((oc_load8(a) ^ oc_load8(b)) | (oc_load8(a + (n - 8)) ^ oc_load8(b + (n - 8)))) == 0;
    size_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i == n;
}

/* ---- case and blanks -------------------------------------------------------------------------------- */

/* ASCII letters, case and blanks, independent of the locale: in Turkish "INF" does not match "inf". */

static inline int oc_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static inline bool oc_is_alpha(int c)
{
    c = oc_lower(c);
    return c >= 'a' && c <= 'z';
}

static inline bool oc_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool oc_is_alnum(int c)
{
    return oc_is_alpha(c) || oc_is_digit(c);
}

static inline bool oc_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Like strncasecmp and strcasecmp. */
static inline int oc_ncasecmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int difference = oc_lower((unsigned char)a[i]) - oc_lower((unsigned char)b[i]);
        if (difference || !a[i])
            return difference;
    }
    return 0;
}

static inline int oc_casecmp(const char *a, const char *b)
{
    return oc_ncasecmp(a, b, (size_t)-1);
}

/* Whether a set of words, each between blanks (" Relu Clip "), has the word. */
static inline bool oc_set_has(const char *set, const char *word, size_t n)
{
    const char *end = set + strlen(set);
    for (const char *at = set; n && (at = oc_find(at, (size_t)(end - at), word, n)) != NULL; at++)
        if (at > set && at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

/* ---- C strings --------------------------------------------------------------------------------------- */

/* The last component of a path; all of it if it ends with '/'. */
static inline const char *oc_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Whether the text has the word, in upper or lower case of ASCII. */
static inline bool oc_has_nocase(const char *text, const char *word)
{
    for (; *text; text++)
        if (oc_ncasecmp(text, word, strlen(word)) == 0)
            return true;
    return false;
}

/* Whether a list of words, separated by single blanks, has the word. */
static inline bool oc_has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

#endif
