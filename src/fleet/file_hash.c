/* The algorithm is that of the xxHash specification, version 0.1.1, section "XXH64". */
#include "fleet/file_hash.h"

#include "base/little_endian.h"

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t rotate(uint64_t v, unsigned bits)
{
    return v << bits | v >> (64 - bits);
}

static uint64_t one_round(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * P2, 31) * P1;
}

static uint64_t merge(uint64_t h, uint64_t lane)
{
    return (h ^ one_round(0, lane)) * P1 + P4;
}

/* Stripes of 32 bytes in four lanes. Advances *p past the last whole one. */
static uint64_t stripes(const uint8_t **p, const uint8_t *end, uint64_t seed)
{
    uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
    const uint8_t *q = *p;
    for (; end - q >= 32; q += 32) {
        a = one_round(a, oc_load_le(q, 8));
        b = one_round(b, oc_load_le(q + 8, 8));
        c = one_round(c, oc_load_le(q + 16, 8));
        d = one_round(d, oc_load_le(q + 24, 8));
    }
    *p = q;
    uint64_t h = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return merge(merge(merge(merge(h, a), b), c), d);
}

uint64_t oc_xxh64(const void *data, size_t n, uint64_t seed)
{
    static const uint8_t nothing[1];
    const uint8_t *p = n ? data : nothing, *end = p + n;
    uint64_t h = n >= 32 ? stripes(&p, end, seed) : seed + P5;
    h += n;
    for (; end - p >= 8; p += 8)
        h = rotate(h ^ one_round(0, oc_load_le(p, 8)), 27) * P1 + P4;
    if (end - p >= 4) {
        h = rotate(h ^ oc_load_le(p, 4) * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++)
        h = rotate(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}
