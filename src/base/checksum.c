/* CRC-32 by folding: V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction, Intel 2009. A 16-byte block x is replaced by x_low * (x^(d + 32) mod P) + x_high * (x^(d - 32)
 * mod P), added to the block that follows it by d bits. Bits are reflected. */
#include "base/checksum.h"

#include <zlib.h>

static uint32_t crc_of_zlib(uint32_t before, const unsigned char *p, size_t n)
{
    enum { PIECE = 1 << 30 };
    for (; n > PIECE; p += PIECE, n -= PIECE)
        before = (uint32_t)crc32(before, p, PIECE);
    return (uint32_t)crc32(before, p, (uInt)n);
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("pclmul,sse2")))

bool oc_crc_is_wide(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_PCLMUL;
}

static inline __m128i load(const unsigned char *p)
{
    return _mm_loadu_si128((const void *)p);
}

TARGET static inline __m128i fold(__m128i x, __m128i powers, __m128i behind)
{
    __m128i low = _mm_clmulepi64_si128(x, powers, 0x00), high = _mm_clmulepi64_si128(x, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), behind);
}

/* For at least 64 bytes: folds all of them into one 16-byte block, whose CRC zlib computes. */
TARGET static uint32_t wide_crc(uint32_t before, const unsigned char *p, size_t n)
{
    const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4); /* x^480, x^544 mod P */
    const __m128i by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0); /* x^96, x^160 mod P */
    unsigned char left[16];
    __m128i x[4];
    for (int i = 0; i < 4; i++)
        x[i] = load(p + (ptrdiff_t)(16 * i));
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)~before));
    for (p += 64, n -= 64; n >= 64; p += 64, n -= 64)
        for (int i = 0; i < 4; i++)
            x[i] = fold(x[i], by_64, load(p + (ptrdiff_t)(16 * i)));
    for (int i = 1; i < 4; i++)
        x[0] = fold(x[0], by_16, x[i]);
    _mm_storeu_si128((void *)left, x[0]);
    return crc_of_zlib(crc_of_zlib(UINT32_MAX, left, sizeof(left)), p, n); /* UINT32_MAX: start of a sum */
}

uint32_t oc_crc(bool wide, uint32_t before, const void *data, size_t n)
{
    return (wide && n >= 64 ? wide_crc : crc_of_zlib)(before, data, n);
}

#else

bool oc_crc_is_wide(void)
{
    return false;
}

uint32_t oc_crc(bool wide, uint32_t before, const void *data, size_t n)
{
    (void)wide;
    return crc_of_zlib(before, data, n);
}

#endif
