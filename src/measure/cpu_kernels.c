/* measure/: Measures peak rates and bandwidths of this machine (hw measure). An instruction set is a kernel
 * and a bit in cpu_kernels.c. Rates that the instruction set cannot reach are measured
 * again, never reported.
 * Private to the folder: measure.h. */

/* Benchmark kernels: arithmetic of one class with the instructions of one set, and memory streams. Written
 * with the compiler's vectors; intrinsics only where these cannot express the instruction (dot products,
 * tiles, non-temporal stores). CPU features are detected at run time. Timing is done in levels.c. */
#include <string.h>

#include "measure/measure.h"

/* ---- features of the processor ---------------------------------------------------------------------- */

#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARCH_REQ_XCOMP_PERM 0x1023 /* asm/prctl.h of Linux 5.16 */
#define XFEATURE_XTILEDATA  18

/* Intel SDM volume 2A, CPUID: bits of leaf 7 that the compiler's cpuid.h may lack */
#define EDX_AMX_BF16     (1u << 22)
#define EDX_AVX512_FP16  (1u << 23)
#define EDX_AMX_TILE     (1u << 24)
#define EDX_AMX_INT8     (1u << 25)
#define ECX_AVX512_VNNI  (1u << 11)
#define EAX1_AVX_VNNI    (1u << 4) /* subleaf 1 */
#define EAX1_AVX512_BF16 (1u << 5)
#define EBX_AVX512       (bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL)

/* XCR0: register state enabled by the system, volume 1, 13.3 */
#define SAVES_AVX    0x06u
#define SAVES_AVX512 0xe6u

/* Tile state is too large to be saved for every process: the system enables it on request. */
static bool may_use_tiles(void)
{
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

static uint32_t tile_features(uint32_t edx)
{
    uint32_t f = (edx & EDX_AMX_INT8 ? OC_CPU_AMX_INT8 : 0) | (edx & EDX_AMX_BF16 ? OC_CPU_AMX_BF16 : 0);
    if (!f || !(edx & EDX_AMX_TILE))
        return 0;
    return may_use_tiles() ? f : OC_CPU_AMX_REFUSED;
}

static uint32_t saved_registers(void)
{
    uint32_t a, d;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}

/* Runs CPUID directly: __builtin_cpu_supports runs it at every program start, and on a virtual machine each
 * CPUID takes tens of microseconds. Extensions of AVX-512 or AVX2 are usable where these are. */
uint32_t oc_cpu_features(void)
{
    uint32_t f = 0, a, b, c, d, c1;
    if (!__get_cpuid(1, &a, &b, &c1, &d) || !(c1 & bit_OSXSAVE) || !(c1 & bit_AVX))
        return 0;
    uint32_t saved = saved_registers();
    if ((saved & SAVES_AVX) != SAVES_AVX)
        return 0;
    f |= OC_CPU_AVX;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return f;
    f |= (b & bit_AVX2) && (c1 & bit_FMA) ? OC_CPU_AVX2 : 0;
    f |= (b & EBX_AVX512) == EBX_AVX512 && (saved & SAVES_AVX512) == SAVES_AVX512 ? OC_CPU_AVX512 : 0;
    if (f & OC_CPU_AVX512)
        f |= (c & ECX_AVX512_VNNI ? OC_CPU_AVX512_VNNI : 0) | (d & EDX_AVX512_FP16 ? OC_CPU_AVX512_FP16 : 0);
    f |= tile_features(d);
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) {
        f |= (f & OC_CPU_AVX2) && (a & EAX1_AVX_VNNI) ? OC_CPU_AVX_VNNI : 0;
        f |= (f & OC_CPU_AVX512) && (a & EAX1_AVX512_BF16) ? OC_CPU_AVX512_BF16 : 0;
    }
    return f;
}

#elif defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

/* asm/hwcap.h */
#define HWCAP_FP16    (1ul << 10) /* ASIMDHP */
#define HWCAP_DOTPROD (1ul << 20) /* ASIMDDP */
#define HWCAP2_I8     (1ul << 13)
#define HWCAP2_BF     (1ul << 14)

uint32_t oc_cpu_features(void)
{
    unsigned long a = getauxval(AT_HWCAP), b = getauxval(AT_HWCAP2);
    return (a & HWCAP_FP16 ? OC_CPU_FP16 : 0) | (a & HWCAP_DOTPROD ? OC_CPU_DOTPROD : 0) |
           (b & HWCAP2_I8 ? OC_CPU_I8MM : 0) | (b & HWCAP2_BF ? OC_CPU_BF16 : 0);
}

#else

uint32_t oc_cpu_features(void)
{
    return 0;
}

#endif

/* ---- kernel forms ----------------------------------------------------------------------------------- */

/* Macro templates of kernels, instantiated for each width and instruction set. */

/* Expands the statement for i = 0, 1 ... as constants: keeps the accumulators in registers. */
/* NOLINTBEGIN(bugprone-macro-parentheses): arguments are types and statements */
#define ONE(k, ...)                                                                                          \
    {                                                                                                        \
        enum { i = (k) };                                                                                    \
        __VA_ARGS__;                                                                                         \
    }
#define REPEAT_4(k, ...)                                                                                     \
    ONE(k, __VA_ARGS__) ONE(k + 1, __VA_ARGS__) ONE(k + 2, __VA_ARGS__) ONE(k + 3, __VA_ARGS__)
#define REPEAT_12(...) REPEAT_4(0, __VA_ARGS__) REPEAT_4(4, __VA_ARGS__) REPEAT_4(8, __VA_ARGS__)
#define REPEAT_24(...)                                                                                       \
    REPEAT_12(__VA_ARGS__) REPEAT_4(12, __VA_ARGS__) REPEAT_4(16, __VA_ARGS__) REPEAT_4(20, __VA_ARGS__)

/* A vector of equal elements. Adding a scalar to a vector does not compile where floats are evaluated as
 * double (FLT_EVAL_METHOD 1 or 2: s390x, i686). */
#define SPLAT(vec, elem, value)                                                                              \
    ({                                                                                                       \
        elem lanes_[sizeof(vec) / sizeof(elem)] = {0};                                                       \
        for (size_t k_ = 0; k_ < sizeof(vec) / sizeof(elem); k_++)                                           \
            lanes_[k_] = (elem)(value);                                                                      \
        vec v_;                                                                                              \
        memcpy(&v_, lanes_, sizeof(v_));                                                                     \
        v_;                                                                                                  \
    })

/* Equal start values, hidden from the compiler, or it would keep only one accumulator. */
#define PEAK_KERNEL(name, target, vec, elem, n_acc, setup, update)                                           \
    target static double name(uint64_t rounds, double xd, double yd, double zero)                            \
    {                                                                                                        \
        vec acc[n_acc], start = SPLAT(vec, elem, zero);                                                      \
        setup;                                                                                               \
        REPEAT_##n_acc(acc[i] = start * (i));                                                                \
        while (rounds--) {                                                                                   \
            REPEAT_##n_acc(update)                                                                           \
        }                                                                                                    \
        elem lane[n_acc * sizeof(vec) / sizeof(elem)];                                                       \
        REPEAT_##n_acc(memcpy((char *)lane + i * sizeof(vec), &acc[i], sizeof(vec)));                        \
        double sum = 0;                                                                                      \
        for (size_t k = 0; k < sizeof(lane) / sizeof(lane[0]); k++)                                          \
            sum += (double)lane[k];                                                                          \
        return sum;                                                                                          \
    }

/* acc = acc * x + y, contracted to one instruction where available */
#define FMA_KERNEL(name, target, vec, elem, n_acc)                                                           \
    PEAK_KERNEL(name, target, vec, elem, n_acc, vec x = SPLAT(vec, elem, xd);                                \
                vec y = SPLAT(vec, elem, yd), acc[i] = acc[i] * x + y)

#define ADD_KERNEL(name, target, vec, elem, n_acc)                                                           \
    PEAK_KERNEL(name, target, vec, elem, n_acc, (void)xd; vec y = SPLAT(vec, elem, yd), acc[i] += y)

/* Four memory streams with vectors `bits` (of 64-bit numbers) and `reals` (of doubles). */
#define STREAM_KERNELS(suffix, target, bits, reals)                                                          \
    target static uint64_t read_##suffix(void *a, const void *b, const void *c, size_t bytes)                \
    {                                                                                                        \
        const bits *p = a;                                                                                   \
        bits s0 = {0}, s1 = s0, s2 = s0, s3 = s0;                                                            \
        (void)b, (void)c;                                                                                    \
        for (size_t i = 0; i < bytes / sizeof(*p); i += 8) {                                                 \
            s0 ^= p[i] ^ p[i + 4];                                                                           \
            s1 ^= p[i + 1] ^ p[i + 5];                                                                       \
            s2 ^= p[i + 2] ^ p[i + 6];                                                                       \
            s3 ^= p[i + 3] ^ p[i + 7];                                                                       \
        }                                                                                                    \
        s0 ^= s1 ^ s2 ^ s3;                                                                                  \
        uint64_t all = 0;                                                                                    \
        for (size_t k = 0; k < sizeof(bits) / sizeof(all); k++)                                              \
            all ^= s0[k];                                                                                    \
        return all;                                                                                          \
    }                                                                                                        \
    target static uint64_t write_##suffix(void *a, const void *b, const void *c, size_t bytes)               \
    {                                                                                                        \
        bits *p = a;                                                                                         \
        const bits v = (bits){0} + (uint64_t)0x3ff0000000000000u; /* 1.0 */                                  \
        (void)b, (void)c;                                                                                    \
        for (size_t i = 0; i < bytes / sizeof(*p); i += 4) {                                                 \
            p[i] = v;                                                                                        \
            p[i + 1] = v;                                                                                    \
            p[i + 2] = v;                                                                                    \
            p[i + 3] = v;                                                                                    \
        }                                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    target static uint64_t copy_##suffix(void *a, const void *b, const void *c, size_t bytes)                \
    {                                                                                                        \
        bits *p = a;                                                                                         \
        const bits *q = b;                                                                                   \
        (void)c;                                                                                             \
        for (size_t i = 0; i < bytes / sizeof(*p); i += 4) {                                                 \
            const bits v0 = q[i], v1 = q[i + 1], v2 = q[i + 2], v3 = q[i + 3];                               \
            p[i] = v0;                                                                                       \
            p[i + 1] = v1;                                                                                   \
            p[i + 2] = v2;                                                                                   \
            p[i + 3] = v3;                                                                                   \
        }                                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    target static uint64_t triad_##suffix(void *a, const void *b, const void *c, size_t bytes)               \
    {                                                                                                        \
        reals *p = a;                                                                                        \
        const reals *q = b, *r = c;                                                                          \
        const reals s = (reals){0} + 0.5;                                                                    \
        for (size_t i = 0; i < bytes / sizeof(*p); i += 2) {                                                 \
            const reals v0 = q[i] + s * r[i], v1 = q[i + 1] + s * r[i + 1];                                  \
            p[i] = v0;                                                                                       \
            p[i + 1] = v1;                                                                                   \
        }                                                                                                    \
        return 0;                                                                                            \
    }

#define STREAM_ROWS(suffix, isa, needs)                                                                      \
    {isa, OC_STREAM_READ, false, needs, read_##suffix},                                                      \
        {isa, OC_STREAM_WRITE, false, needs, write_##suffix},                                                \
        {isa, OC_STREAM_COPY, false, needs, copy_##suffix},                                                  \
    {                                                                                                        \
        isa, OC_STREAM_TRIAD, false, needs, triad_##suffix                                                   \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

struct oc_cpu_kernel_list {
    const struct oc_peak_kernel *peak;
    size_t n_peak;
    const struct oc_stream_kernel *stream;
    size_t n_stream;
};

/* ---- vectors of the compiler ------------------------------------------------------------------------ */

#define PLAIN __attribute__((noinline))

typedef double f64x2 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));
typedef int64_t i64x2 __attribute__((vector_size(16)));
typedef uint64_t u64x2 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef int16_t i16x8 __attribute__((vector_size(16)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

/* ---- x86-64 ----------------------------------------------------------------------------------------- */

/* x86-64: AVX to AVX-512 with its dot products, and AMX. */

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define TARGET(isa) __attribute__((target(isa), noinline))

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
static const struct oc_peak_kernel x86_peaks[] = {
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

static const struct oc_stream_kernel x86_streams[] = {
    STREAM_ROWS(avx512, "avx512", OC_CPU_AVX512),
    PAST_ROWS(avx512, "avx512", OC_CPU_AVX512),
    STREAM_ROWS(avx, "avx", OC_CPU_AVX),
    PAST_ROWS(avx, "avx", OC_CPU_AVX),
    PAST_ROWS(sse2, "sse2", 0),
};

static const struct oc_cpu_kernel_list kernels_x86 = {x86_peaks, sizeof(x86_peaks) / sizeof(x86_peaks[0]),
                                                      x86_streams,
                                                      sizeof(x86_streams) / sizeof(x86_streams[0])};

#else
static const struct oc_cpu_kernel_list kernels_x86 = {0};
#endif

/* ---- AArch64 ---------------------------------------------------------------------------------------- */

/* AArch64: fused multiply-adds (the compiler's vectors would copy the addend first), half precision, dot
 * products and small matrix products of NEON. */

#if defined(__aarch64__)

#include <arm_neon.h>

#define TARGET(isa) __attribute__((target(isa), noinline))

#define NEON        __attribute__((noinline))
#define FP16        TARGET("arch=armv8.2-a+fp16")
#define DOTPROD     TARGET("arch=armv8.2-a+dotprod")
#define I8MM        TARGET("arch=armv8.2-a+i8mm")
#define BF16        TARGET("arch=armv8.2-a+bf16")

PEAK_KERNEL(neon_f64, NEON, float64x2_t, double, 24, const float64x2_t x = vdupq_n_f64(xd);
            const float64x2_t y = vdupq_n_f64(yd), acc[i] = vfmaq_f64(acc[i], x, y))
PEAK_KERNEL(neon_f32, NEON, float32x4_t, float, 24, const float32x4_t x = vdupq_n_f32((float)xd);
            const float32x4_t y = vdupq_n_f32((float)yd), acc[i] = vfmaq_f32(acc[i], x, y))
PEAK_KERNEL(neon_i16, NEON, int32x4_t, int32_t, 24, const int16x4_t x = vdup_n_s16((int16_t)xd);
            const int16x4_t y = vdup_n_s16((int16_t)yd), acc[i] = vmlal_s16(acc[i], x, y))
PEAK_KERNEL(fp16_f16, FP16, float16x8_t, float16_t, 24, const float16x8_t x = vdupq_n_f16((float16_t)xd);
            const float16x8_t y = vdupq_n_f16((float16_t)yd), acc[i] = vfmaq_f16(acc[i], x, y))
PEAK_KERNEL(dot_i8, DOTPROD, int32x4_t, int32_t, 24, const int8x16_t x = vdupq_n_s8((int8_t)xd);
            const int8x16_t y = vdupq_n_s8((int8_t)yd), acc[i] = vdotq_s32(acc[i], x, y))
PEAK_KERNEL(mm_i8, I8MM, int32x4_t, int32_t, 24, const int8x16_t x = vdupq_n_s8((int8_t)xd);
            const int8x16_t y = vdupq_n_s8((int8_t)yd), acc[i] = vmmlaq_s32(acc[i], x, y))
/* bfloat16: the upper half of a float */
#define BF16_PAIRS(v)                                                                                        \
    vreinterpretq_bf16_u32(vsriq_n_u32(vreinterpretq_u32_f32(vdupq_n_f32((float)(v))),                       \
                                       vreinterpretq_u32_f32(vdupq_n_f32((float)(v))), 16))
PEAK_KERNEL(mm_bf16, BF16, float32x4_t, float, 24, const bfloat16x8_t x = BF16_PAIRS(xd);
            const bfloat16x8_t y = BF16_PAIRS(yd), acc[i] = vbfmmlaq_f32(acc[i], x, y))
PEAK_KERNEL(dot_bf16, BF16, float32x4_t, float, 24, const bfloat16x8_t x = BF16_PAIRS(xd);
            const bfloat16x8_t y = BF16_PAIRS(yd), acc[i] = vbfdotq_f32(acc[i], x, y))

#define VEC(isa, how, cls, acc, needs, ops, run)                                                             \
    {                                                                                                        \
        isa, how, OC_HW_VECTOR, OC_CLASS_##cls, OC_CLASS_##acc, needs, ops, false, run                       \
    }

static const struct oc_peak_kernel arm_peaks[] = {
    VEC("neon", "fused multiply-adds", F64, NONE, 0, 2 * 24 * 2, neon_f64),
    VEC("neon", "fused multiply-adds", F32, NONE, 0, 2 * 24 * 4, neon_f32),
    VEC("fp16", "fused multiply-adds", F16, F16, OC_CPU_FP16, 2 * 24 * 8, fp16_f16),
    VEC("bf16", "bfmmla", BF16, F32, OC_CPU_BF16, 2 * 24 * 16, mm_bf16),
    VEC("bf16-dot", "bfdot", BF16, F32, OC_CPU_BF16, 2 * 24 * 8, dot_bf16),
    VEC("neon", "smlal", I16, I32, 0, 2 * 24 * 4, neon_i16),
    VEC("i8mm", "smmla", I8, I32, OC_CPU_I8MM, 2 * 24 * 32, mm_i8),
    VEC("dotprod", "sdot", I8, I32, OC_CPU_DOTPROD, 2 * 24 * 16, dot_i8),
};

static const struct oc_cpu_kernel_list kernels_arm = {arm_peaks, sizeof(arm_peaks) / sizeof(arm_peaks[0]),
                                                      NULL, 0};

#else
static const struct oc_cpu_kernel_list kernels_arm = {0};
#endif

/* ---- any processor ---------------------------------------------------------------------------------- */

/* Portable kernels with 16-byte vectors of the compiler. */

#if !defined(__aarch64__) /* which has better ones above */
FMA_KERNEL(fma_f64, PLAIN, f64x2, double, 12)
FMA_KERNEL(fma_f32, PLAIN, f32x4, float, 12)
#endif
ADD_KERNEL(add_i64, PLAIN, i64x2, int64_t, 12)
ADD_KERNEL(add_i32, PLAIN, i32x4, int32_t, 12)
ADD_KERNEL(add_i16, PLAIN, i16x8, int16_t, 12)
ADD_KERNEL(add_i8, PLAIN, i8x16, int8_t, 12)
STREAM_KERNELS(plain, PLAIN, u64x2, f64x2)

#if defined(__x86_64__)
#define ISA "sse2"
#elif defined(__aarch64__)
#define ISA "neon"
#else
#define ISA "baseline"
#endif

/* NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): products of small numbers */
static const struct oc_peak_kernel plain_peaks[] = {
#if !defined(__aarch64__)
    {ISA, "multiply and add", OC_HW_VECTOR, OC_CLASS_F64, 0, 0, 2 * 12 * 2, false, fma_f64},
    {ISA, "multiply and add", OC_HW_VECTOR, OC_CLASS_F32, 0, 0, 2 * 12 * 4, false, fma_f32},
#endif
    {ISA, "additions", OC_HW_VECTOR, OC_CLASS_I64, 0, 0, 12 * 2, true, add_i64},
    {ISA, "additions", OC_HW_VECTOR, OC_CLASS_I32, 0, 0, 12 * 4, true, add_i32},
    {ISA, "additions", OC_HW_VECTOR, OC_CLASS_I16, 0, 0, 12 * 8, true, add_i16},
    {ISA, "additions", OC_HW_VECTOR, OC_CLASS_I8, 0, 0, 12 * 16, true, add_i8},
};
/* NOLINTEND(bugprone-implicit-widening-of-multiplication-result) */
static const struct oc_stream_kernel plain_streams[] = {STREAM_ROWS(plain, ISA, 0)};

static const struct oc_cpu_kernel_list kernels_plain = {
    plain_peaks, sizeof(plain_peaks) / sizeof(plain_peaks[0]), plain_streams,
    sizeof(plain_streams) / sizeof(plain_streams[0])};

uint64_t oc_chain_run(uint64_t rounds, uint64_t a, uint64_t b)
{
    uint64_t x = rounds;
    while (rounds--) {
        _Pragma("GCC unroll 32") for (int i = 0; i < OC_CHAIN_CYCLES / 4; i++)
        {
            x = (x + a) ^ b;
            x = (x + b) ^ a;
        }
    }
    return x;
}

/* ---- all kernels ------------------------------------------------------------------------------------ */

static const struct oc_cpu_kernel_list *const lists[] = {&kernels_x86, &kernels_arm, &kernels_plain};

const struct oc_peak_kernel *oc_peak_kernel(size_t index)
{
    for (size_t i = 0; i < OC_COUNT(lists); i++) {
        if (index < lists[i]->n_peak)
            return &lists[i]->peak[index];
        index -= lists[i]->n_peak;
    }
    return NULL;
}

const struct oc_stream_kernel *oc_stream_kernel(size_t index)
{
    for (size_t i = 0; i < OC_COUNT(lists); i++) {
        if (index < lists[i]->n_stream)
            return &lists[i]->stream[index];
        index -= lists[i]->n_stream;
    }
    return NULL;
}

static const struct {
    const char *name;
    unsigned arrays;
} modes[OC_STREAM_MODES] = {
    [OC_STREAM_READ] = {"read", 1},
    [OC_STREAM_WRITE] = {"write", 1},
    [OC_STREAM_COPY] = {"copy", 2},
    [OC_STREAM_TRIAD] = {"triad", 3},
};

const char *oc_stream_mode_name(unsigned mode)
{
    return mode < OC_STREAM_MODES ? modes[mode].name : "unknown";
}

unsigned oc_stream_arrays(unsigned mode)
{
    return mode < OC_STREAM_MODES ? modes[mode].arrays : 0;
}
