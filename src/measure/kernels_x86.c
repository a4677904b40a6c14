/* x86-64: AVX to AVX-512 with its dot products, and AMX. */
#include "measure/cpu_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define TARGET(isa) __attribute__((target(isa), noinline))

typedef double f64x2 __attribute__((vector_size(16)));
typedef uint64_t u64x2 __attribute__((vector_size(16)));
typedef double f64x4 __attribute__((vector_size(32)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef int64_t i64x4 __attribute__((vector_size(32)));
typedef uint64_t u64x4 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int16_t i16x16 __attribute__((vector_size(32)));
typedef int8_t i8x32 __attribute__((vector_size(32)));
typedef double f64x8 __attribute__((vector_size(64)));
typedef float f32x16 __attribute__((vector_size(64)));
typedef int64_t i64x8 __attribute__((vector_size(64)));
typedef uint64_t u64x8 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef int16_t i16x32 __attribute__((vector_size(64)));
typedef int8_t i8x64 __attribute__((vector_size(64)));

#define AVX      TARGET("avx")
#define AVX2     TARGET("avx2,fma")
#define AVX512   TARGET("avx512f,avx512bw,avx512dq,avx512vl")
#define VNNI     TARGET("avx512f,avx512bw,avx512vnni")
#define BF16     TARGET("avx512f,avx512bw,avx512bf16")
#define AVXVNNI  TARGET("avx2,avxvnni")
#define AMX_INT8 TARGET("amx-tile,amx-int8")
#define AMX_BF16 TARGET("amx-tile,amx-bf16")
#define PLAIN    __attribute__((noinline))

/* _Float16 needs gcc 12 or clang 15 */
#if (defined(__clang__) && __clang_major__ >= 15) || (!defined(__clang__) && __GNUC__ >= 12)
#define HAVE_FLOAT16
#define FP16 TARGET("avx512f,avx512bw,avx512fp16")
typedef _Float16 f16x32 __attribute__((vector_size(64)));
#endif

static int32_t bf16_bits(double v)
{
    const float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return (int32_t)(bits >> 16);
}

FMA_KERNEL(avx_f64, AVX, f64x4, double, 12)
FMA_KERNEL(avx_f32, AVX, f32x8, float, 12)
FMA_KERNEL(avx2_f64, AVX2, f64x4, double, 12)
FMA_KERNEL(avx2_f32, AVX2, f32x8, float, 12)
FMA_KERNEL(avx512_f64, AVX512, f64x8, double, 24)
FMA_KERNEL(avx512_f32, AVX512, f32x16, float, 24)
ADD_KERNEL(avx2_i64, AVX2, i64x4, int64_t, 12)
ADD_KERNEL(avx2_i32, AVX2, i32x8, int32_t, 12)
ADD_KERNEL(avx512_i64, AVX512, i64x8, int64_t, 24)
ADD_KERNEL(avx512_i32, AVX512, i32x16, int32_t, 24)

/* ---- dot products ----------------------------------------------------------------------------------- */

#define OPERANDS(vec, elem) const vec x = (vec){0} + (elem)xd, y = (vec){0} + (elem)yd

/* No instruction adds to an accumulator without multiplying: the accumulator is an operand instead (for small
 * numbers the upper parts of its lanes are 0), so that the products differ in every round. */
PEAK_KERNEL(avx2_i16, AVX2, i32x8, int32_t, 12, const i16x16 x = (i16x16){0} + (int16_t)xd;
            const i32x8 y = (i32x8){0} + 2 * (int32_t)yd,
            acc[i] = (i32x8)_mm256_madd_epi16((__m256i)acc[i], (__m256i)x) + y)
PEAK_KERNEL(avx2_i8, AVX2, i32x8, int32_t, 12, const i8x32 x = (i8x32){0} + (int8_t)xd;
            const i16x16 one = (i16x16){0} + (int16_t)xd;
            const i32x8 y = (i32x8){0} + 4 * (int32_t)yd,
            acc[i] = (i32x8)_mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)x, (__m256i)acc[i]),
                                              (__m256i)one) +
                     y)
PEAK_KERNEL(avx512_i16, AVX512, i32x16, int32_t, 24, const i16x32 x = (i16x32){0} + (int16_t)xd;
            const i32x16 y = (i32x16){0} + 2 * (int32_t)yd,
            acc[i] = (i32x16)_mm512_madd_epi16((__m512i)acc[i], (__m512i)x) + y)
PEAK_KERNEL(avx512_i8, AVX512, i32x16, int32_t, 24, const i8x64 x = (i8x64){0} + (int8_t)xd;
            const i16x32 one = (i16x32){0} + (int16_t)xd;
            const i32x16 y = (i32x16){0} + 4 * (int32_t)yd,
            acc[i] = (i32x16)_mm512_madd_epi16(_mm512_maddubs_epi16((__m512i)x, (__m512i)acc[i]),
                                               (__m512i)one) +
                     y)
PEAK_KERNEL(vnni_i16, VNNI, i32x16, int32_t, 24, OPERANDS(i16x32, int16_t),
            acc[i] = (i32x16)_mm512_dpwssd_epi32((__m512i)acc[i], (__m512i)x, (__m512i)y))
PEAK_KERNEL(vnni_i8, VNNI, i32x16, int32_t, 24, OPERANDS(i8x64, int8_t),
            acc[i] = (i32x16)_mm512_dpbusd_epi32((__m512i)acc[i], (__m512i)x, (__m512i)y))
PEAK_KERNEL(avxvnni_i16, AVXVNNI, i32x8, int32_t, 12, OPERANDS(i16x16, int16_t),
            acc[i] = (i32x8)_mm256_dpwssd_avx_epi32((__m256i)acc[i], (__m256i)x, (__m256i)y))
PEAK_KERNEL(avxvnni_i8, AVXVNNI, i32x8, int32_t, 12, OPERANDS(i8x32, int8_t),
            acc[i] = (i32x8)_mm256_dpbusd_avx_epi32((__m256i)acc[i], (__m256i)x, (__m256i)y))
/* bfloat16: the upper half of a float */
#define BF16_PAIRS(v) ((__m512bh)(((i32x16){0} + bf16_bits(v)) * 0x10001))
PEAK_KERNEL(bf16_bf16, BF16, f32x16, float, 24, const __m512bh x = BF16_PAIRS(xd);
            const __m512bh y = BF16_PAIRS(yd), acc[i] = (f32x16)_mm512_dpbf16_ps((__m512)acc[i], x, y))
#ifdef HAVE_FLOAT16
FMA_KERNEL(fp16_f16, FP16, f16x32, _Float16, 24)
#endif

/* ---- tiles ------------------------------------------------------------------------------------------ */

#define TILE_ACC 6

struct tile_config { /* layout of the instruction: eight tiles of 16 rows of 64 bytes */
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Tiles 0 to 5 accumulate, 6 and 7 are the factors. Tile numbers are immediate operands. */
#define TILE_KERNEL(name, target, elem, x_bits, y_bits, dot)                                                 \
    target static double name(uint64_t rounds, double xd, double yd, double zero)                            \
    {                                                                                                        \
        struct tile_config config = {.palette = 1};                                                          \
        int32_t a[256], b[256];                                                                              \
        elem c[256];                                                                                         \
        for (size_t i = 0; i < 8; i++) {                                                                     \
            config.row_bytes[i] = 64;                                                                        \
            config.rows[i] = 16;                                                                             \
        }                                                                                                    \
        for (size_t i = 0; i < 256; i++) {                                                                   \
            a[i] = (int32_t)(x_bits);                                                                        \
            b[i] = (int32_t)(y_bits);                                                                        \
            c[i] = (elem)zero;                                                                               \
        }                                                                                                    \
        _tile_loadconfig(&config);                                                                           \
        _tile_loadd(0, c, 64);                                                                               \
        _tile_loadd(1, c, 64);                                                                               \
        _tile_loadd(2, c, 64);                                                                               \
        _tile_loadd(3, c, 64);                                                                               \
        _tile_loadd(4, c, 64);                                                                               \
        _tile_loadd(5, c, 64);                                                                               \
        _tile_loadd(6, a, 64);                                                                               \
        _tile_loadd(7, b, 64);                                                                               \
        while (rounds--) {                                                                                   \
            dot(0, 6, 7);                                                                                    \
            dot(1, 6, 7);                                                                                    \
            dot(2, 6, 7);                                                                                    \
            dot(3, 6, 7);                                                                                    \
            dot(4, 6, 7);                                                                                    \
            dot(5, 6, 7);                                                                                    \
        }                                                                                                    \
        double sum = 0;                                                                                      \
        TILE_SUM(0, c, sum);                                                                                 \
        TILE_SUM(1, c, sum);                                                                                 \
        TILE_SUM(2, c, sum);                                                                                 \
        TILE_SUM(3, c, sum);                                                                                 \
        TILE_SUM(4, c, sum);                                                                                 \
        TILE_SUM(5, c, sum);                                                                                 \
        _tile_release();                                                                                     \
        return sum;                                                                                          \
    }
/* NOLINTBEGIN(bugprone-macro-parentheses): a tile number must be a literal */
#define TILE_SUM(tile, c, sum)                                                                               \
    _tile_stored(tile, c, 64);                                                                               \
    for (size_t i = 0; i < 256; i++)                                                                         \
    sum += (double)(c)[i]
/* NOLINTEND(bugprone-macro-parentheses) */

TILE_KERNEL(amx_i8, AMX_INT8, int32_t, (int8_t)xd * 0x01010101, (int8_t)yd * 0x01010101, _tile_dpbssd)
TILE_KERNEL(amx_bf16, AMX_BF16, float, bf16_bits(xd) * 0x10001, bf16_bits(yd) * 0x10001, _tile_dpbf16ps)

/* ---- streams ---------------------------------------------------------------------------------------- */

STREAM_KERNELS(avx, AVX, u64x4, f64x4)
STREAM_KERNELS(avx512, AVX512, u64x8, f64x8)

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types */
/* Non-temporal stores: the line is not read first and bypasses the caches. */
#define PAST_KERNELS(suffix, target, bits, reals, store, kind)                                               \
    target static uint64_t write_past_##suffix(void *a, const void *b, const void *c, size_t bytes)          \
    {                                                                                                        \
        bits *p = a;                                                                                         \
        const bits v = (bits){0} + (uint64_t)0x3ff0000000000000u;                                            \
        (void)b, (void)c;                                                                                    \
        for (size_t i = 0; i < bytes / sizeof(*p); i++)                                                      \
            store((void *)&p[i], (kind)v);                                                                   \
        _mm_sfence();                                                                                        \
        return 0;                                                                                            \
    }                                                                                                        \
    target static uint64_t copy_past_##suffix(void *a, const void *b, const void *c, size_t bytes)           \
    {                                                                                                        \
        bits *p = a;                                                                                         \
        const bits *q = b;                                                                                   \
        (void)c;                                                                                             \
        for (size_t i = 0; i < bytes / sizeof(*p); i++)                                                      \
            store((void *)&p[i], (kind)q[i]);                                                                \
        _mm_sfence();                                                                                        \
        return 0;                                                                                            \
    }                                                                                                        \
    target static uint64_t triad_past_##suffix(void *a, const void *b, const void *c, size_t bytes)          \
    {                                                                                                        \
        reals *p = a;                                                                                        \
        const reals *q = b, *r = c;                                                                          \
        const reals s = (reals){0} + 0.5;                                                                    \
        for (size_t i = 0; i < bytes / sizeof(*p); i++)                                                      \
            store((void *)&p[i], (kind)(q[i] + s * r[i]));                                                   \
        _mm_sfence();                                                                                        \
        return 0;                                                                                            \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
PAST_KERNELS(sse2, PLAIN, u64x2, f64x2, _mm_stream_si128, __m128i)
PAST_KERNELS(avx, AVX, u64x4, f64x4, _mm256_stream_si256, __m256i)
PAST_KERNELS(avx512, AVX512, u64x8, f64x8, _mm512_stream_si512, __m512i)

/* ---- the lists -------------------------------------------------------------------------------------- */

#define MULTIPLY_ADD "fused multiply-adds"
#define VEC(isa, how, cls, acc, needs, ops, adds, run)                                                       \
    {                                                                                                        \
        isa, how, OC_HW_VECTOR, OC_CLASS_##cls, OC_CLASS_##acc, needs, ops, adds, run                        \
    }
#define TILE(isa, how, cls, acc, needs, ops, run)                                                            \
    {                                                                                                        \
        isa, how, OC_HW_MATRIX, OC_CLASS_##cls, OC_CLASS_##acc, needs, ops, false, run                       \
    }

/* NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): products of small numbers */
static const struct oc_peak_kernel peaks[] = {
    VEC("avx512", MULTIPLY_ADD, F64, NONE, OC_CPU_AVX512, 2 * 24 * 8, false, avx512_f64),
    VEC("avx2", MULTIPLY_ADD, F64, NONE, OC_CPU_AVX2, 2 * 12 * 4, false, avx2_f64),
    VEC("avx", "multiply and add", F64, NONE, OC_CPU_AVX, 2 * 12 * 4, false, avx_f64),
    VEC("avx512", MULTIPLY_ADD, F32, NONE, OC_CPU_AVX512, 2 * 24 * 16, false, avx512_f32),
    VEC("avx2", MULTIPLY_ADD, F32, NONE, OC_CPU_AVX2, 2 * 12 * 8, false, avx2_f32),
    VEC("avx", "multiply and add", F32, NONE, OC_CPU_AVX, 2 * 12 * 8, false, avx_f32),
#ifdef HAVE_FLOAT16
    VEC("avx512-fp16", MULTIPLY_ADD, F16, F16, OC_CPU_AVX512_FP16, 2 * 24 * 32, false, fp16_f16),
#endif
    VEC("avx512-bf16", "vdpbf16ps", BF16, F32, OC_CPU_AVX512_BF16, 2 * 24 * 32, false, bf16_bf16),
    VEC("avx512", "additions", I64, NONE, OC_CPU_AVX512, 24 * 8, true, avx512_i64),
    VEC("avx2", "additions", I64, NONE, OC_CPU_AVX2, 12 * 4, true, avx2_i64),
    VEC("avx512", "additions", I32, NONE, OC_CPU_AVX512, 24 * 16, true, avx512_i32),
    VEC("avx2", "additions", I32, NONE, OC_CPU_AVX2, 12 * 8, true, avx2_i32),
    VEC("avx512-vnni", "vpdpwssd", I16, I32, OC_CPU_AVX512_VNNI, 2 * 24 * 32, false, vnni_i16),
    VEC("avx512", "vpmaddwd, vpaddd", I16, I32, OC_CPU_AVX512, 2 * 24 * 32, false, avx512_i16),
    VEC("avx-vnni", "vpdpwssd", I16, I32, OC_CPU_AVX_VNNI, 2 * 12 * 16, false, avxvnni_i16),
    VEC("avx2", "vpmaddwd, vpaddd", I16, I32, OC_CPU_AVX2, 2 * 12 * 16, false, avx2_i16),
    VEC("avx512-vnni", "vpdpbusd", I8, I32, OC_CPU_AVX512_VNNI, 2 * 24 * 64, false, vnni_i8),
    VEC("avx512", "vpmaddubsw, vpmaddwd, vpaddd", I8, I32, OC_CPU_AVX512, 2 * 24 * 64, false, avx512_i8),
    VEC("avx-vnni", "vpdpbusd", I8, I32, OC_CPU_AVX_VNNI, 2 * 12 * 32, false, avxvnni_i8),
    VEC("avx2", "vpmaddubsw, vpmaddwd, vpaddd", I8, I32, OC_CPU_AVX2, 2 * 12 * 32, false, avx2_i8),
    TILE("amx-bf16", "tdpbf16ps", BF16, F32, OC_CPU_AMX_BF16, 2 * TILE_ACC * 16 * 16 * 32, amx_bf16),
    TILE("amx-int8", "tdpbssd", I8, I32, OC_CPU_AMX_INT8, 2 * TILE_ACC * 16 * 16 * 64, amx_i8),
};
/* NOLINTEND(bugprone-implicit-widening-of-multiplication-result) */

#define PAST_ROWS(suffix, isa, needs)                                                                        \
    {isa, OC_STREAM_WRITE, true, needs, write_past_##suffix},                                                \
        {isa, OC_STREAM_COPY, true, needs, copy_past_##suffix},                                              \
    {                                                                                                        \
        isa, OC_STREAM_TRIAD, true, needs, triad_past_##suffix                                               \
    }

static const struct oc_stream_kernel streams[] = {
    STREAM_ROWS(avx512, "avx512", OC_CPU_AVX512),
    PAST_ROWS(avx512, "avx512", OC_CPU_AVX512),
    STREAM_ROWS(avx, "avx", OC_CPU_AVX),
    PAST_ROWS(avx, "avx", OC_CPU_AVX),
    PAST_ROWS(sse2, "sse2", 0),
};

const struct oc_cpu_kernel_list oc_kernels_x86 = {peaks, sizeof(peaks) / sizeof(peaks[0]), streams,
                                                  sizeof(streams) / sizeof(streams[0])};

#else
const struct oc_cpu_kernel_list oc_kernels_x86 = {0};
#endif
