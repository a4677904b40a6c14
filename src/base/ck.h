/* Numbers: checked 64-bit arithmetic, orders for qsort, disjoint sets of indices. */
#ifndef OC_CK_H
#define OC_CK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- checked arithmetic: false on overflow, *out is then of no use ----------------------------------- */

static inline bool oc_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool oc_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool oc_add_times(uint64_t *sum, uint64_t v, uint64_t times)
{
    return oc_mul_u64(v, times, &v) && oc_add_u64(*sum, v, sum);
}

static inline bool oc_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool oc_add_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool oc_sub_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_sub_overflow(a, b, out);
}

/* Floor and ceiling division; the divisor is positive. */
static inline int64_t oc_floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-(a + 1)) / b) - 1;
}

static inline int64_t oc_ceil_div(int64_t a, int64_t b)
{
    return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

/* ---- ascending orders for qsort ---------------------------------------------------------------------- */

static inline int oc_by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of n numbers, which are sorted; n > 0. */
static inline double oc_sort_median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), oc_by_double);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static inline int oc_by_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline int oc_by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static inline int oc_by_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Defines an order of structs by one member, or by two; the largest first member first. */
#define OC_BY(name, type, member)                                                                            \
    static int name(const void *a, const void *b)                                                            \
    {                                                                                                        \
        const type *x = a, *y = b;                                                                           \
        return (x->member > y->member) - (x->member < y->member);                                            \
    }
#define OC_BY_TWO(name, type, first, second)                                                                 \
    static int name(const void *a, const void *b)                                                            \
    {                                                                                                        \
        const type *x = a, *y = b;                                                                           \
        if (x->first != y->first)                                                                            \
            return x->first < y->first ? -1 : 1;                                                             \
        return (x->second > y->second) - (x->second < y->second);                                            \
    }
#define OC_BY_LARGEST(name, type, first, second)                                                             \
    static int name(const void *a, const void *b)                                                            \
    {                                                                                                        \
        const type *x = a, *y = b;                                                                           \
        if (x->first != y->first)                                                                            \
            return x->first > y->first ? -1 : 1;                                                             \
        return (x->second > y->second) - (x->second < y->second);                                            \
    }

/* ---- union-find: up[i] is i, or an index of the same set that is nearer to the root ------------------ */

static inline uint32_t oc_set_root(uint32_t *up, uint32_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

/* Returns the root, which is the smaller of both: sets are in the order of their first members. */
static inline uint32_t oc_set_unite(uint32_t *up, uint32_t a, uint32_t b)
{
    a = oc_set_root(up, a);
    b = oc_set_root(up, b);
    return a < b ? (up[b] = a) : (up[a] = b);
}

#endif
