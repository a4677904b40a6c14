/* Search in text. */
#include "base/str.h"

enum { LONG_PART = 64 };

/* Bit k: the part may begin at s + k, of 16 positions. */
static inline uint64_t may_begin(const char *s, const char *part, size_t a, size_t b)
{
    return oc_lanes((oc_v16)(oc_load16(s + a) == part[a]) & (oc_v16)(oc_load16(s + b) == part[b]));
}

/* Compares two bytes of the part at 32 positions at once, and all of it where both are equal; quotes around a key
 * of JSON would be equal too often. That is quadratic for long parts: memmem is not. */
const char *oc_find(const char *s, size_t n, const char *part, size_t part_n)
{
    if (part_n > n)
        return NULL;
    if (part_n < 2)
        return part_n ? memchr(s, *part, n) : s;
    if (part_n > LONG_PART)
        return memmem(s, n, part, part_n);
    size_t a = part_n > 3, b = part_n - 1 - a, i = 0;
    for (; i + part_n + 31 <= n; i += 32) {
        uint64_t bits = may_begin(s + i, part, a, b) | may_begin(s + i + 16, part, a, b) << 16;
        for (; bits; bits &= bits - 1) {
            const char *at = s + i + __builtin_ctzll(bits);
            if (memcmp(at, part, part_n) == 0)
                return at;
        }
    }
    for (; i + part_n <= n; i++)
        if (s[i] == part[0] && memcmp(s + i, part, part_n) == 0)
            return s + i;
    return NULL;
}
