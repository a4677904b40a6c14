/* ASCII letters, case and blanks, independent of the locale: in Turkish "INF" does not match "inf". */
#ifndef OC_ASCII_H
#define OC_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline int oc_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static inline bool oc_is_alpha(int c)
{
    c = oc_lower(c);
    return c >= 'a' && c <= 'z';
}

static inline bool oc_is_alnum(int c)
{
    return oc_is_alpha(c) || (c >= '0' && c <= '9');
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

#endif
