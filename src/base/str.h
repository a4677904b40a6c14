/* Text by address and length, and its comparisons with literal text. */
#ifndef OC_STR_H
#define OC_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct oc_str {
    const char *s; /* not NUL-terminated */
    size_t n;
};

static inline struct oc_str oc_str(const char *s, size_t n)
{
    return (struct oc_str){s, n};
}

static inline bool oc_str_eq(struct oc_str a, const char *b)
{
    return a.n == strlen(b) && memcmp(a.s, b, a.n) == 0;
}

static inline bool oc_str_starts(struct oc_str a, const char *with)
{
    size_t n = strlen(with);
    return a.n >= n && memcmp(a.s, with, n) == 0;
}

static inline bool oc_str_ends(struct oc_str a, const char *with)
{
    size_t n = strlen(with);
    return a.n >= n && memcmp(a.s + a.n - n, with, n) == 0;
}

static inline bool oc_str_has(struct oc_str a, const char *part)
{
    return a.n && memmem(a.s, a.n, part, strlen(part));
}

static inline bool oc_text_eq(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

#endif
