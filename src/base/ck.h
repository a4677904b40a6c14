/* Checked 64-bit arithmetic. Each function returns false on overflow and leaves *out unset. */
#ifndef OC_CK_H
#define OC_CK_H

#include <stdbool.h>
#include <stdint.h>

static inline bool oc_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool oc_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
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

#endif
