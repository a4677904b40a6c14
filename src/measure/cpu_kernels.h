/* Benchmark kernels: arithmetic of one class with the instructions of one set, and memory streams. Written
 * with the compiler's vectors; intrinsics only where these cannot express the instruction (dot products,
 * tiles, non-temporal stores). CPU features are detected at run time. Timing is done in levels.c. */
#ifndef OC_CPU_KERNELS_H
#define OC_CPU_KERNELS_H

#include <string.h>

#include "hw/hwdb.h"

/* ---- processor features ----------------------------------------------------------------------------- */

enum oc_cpu_feature {
    OC_CPU_AVX = 1 << 0,
    OC_CPU_AVX2 = 1 << 1,   /* with FMA */
    OC_CPU_AVX512 = 1 << 2, /* F, BW, DQ and VL */
    OC_CPU_AVX512_VNNI = 1 << 3,
    OC_CPU_AVX_VNNI = 1 << 4,
    OC_CPU_AVX512_BF16 = 1 << 5,
    OC_CPU_AVX512_FP16 = 1 << 6,
    OC_CPU_AMX_INT8 = 1 << 7,
    OC_CPU_AMX_BF16 = 1 << 8,
    OC_CPU_FP16 = 1 << 9, /* from here on: AArch64 */
    OC_CPU_DOTPROD = 1 << 10,
    OC_CPU_I8MM = 1 << 11,
    OC_CPU_BF16 = 1 << 12,
    OC_CPU_AMX_REFUSED = 1 << 30 /* the processor has tiles, the system does not enable them */
};

/* Detects features; for tiles it also requests the operating system's permission, which then applies to the
 * process. */
uint32_t oc_cpu_features(void);

/* ---- arithmetic ------------------------------------------------------------------------------------- */

struct oc_peak_kernel {
    const char *isa;     /* "avx512-vnni" */
    const char *how;     /* name of the instructions */
    unsigned unit, cls;  /* enum oc_hw_unit, enum oc_class */
    unsigned accumulate; /* class, OC_CLASS_NONE: that of the operands */
    uint32_t needs;      /* bits of enum oc_cpu_feature */
    uint64_t ops;        /* operations of one round; a multiply-add is two */
    bool adds;           /* plain additions, one operation each */
    /* Every lane of many accumulators starts at `zero` (0, unknown to the compiler) and is updated `rounds`
     * times: multiplied by x and increased by y, increased by a sum of products x * y, or increased by y
     * (adds). Returns the sum of all lanes: with x and y 1, the number of multiply-adds done. */
    double (*run)(uint64_t rounds, double x, double y, double zero);
};

/* All compiled-in kernels, the best for each unit and class first. */
const struct oc_peak_kernel *oc_peak_kernel(size_t index); /* NULL after the last */

/* ---- memory ----------------------------------------------------------------------------------------- */

enum oc_stream_mode { OC_STREAM_READ, OC_STREAM_WRITE, OC_STREAM_COPY, OC_STREAM_TRIAD, OC_STREAM_MODES };
const char *oc_stream_mode_name(unsigned mode); /* "triad" */
unsigned oc_stream_arrays(unsigned mode);       /* 1 to 3: number of arrays whose bytes are moved */

#define OC_STREAM_STEP 1024 /* array sizes are multiples of it, aligned to 64 bytes */

struct oc_stream_kernel {
    const char *isa;
    unsigned mode;
    bool past_caches; /* non-temporal stores */
    uint32_t needs;
    /* read: all of a; write: a = constant; copy: a = b; triad: a = b + q * c, of doubles. `bytes`: per array.
     * Returns the exclusive or of all words for reading, else 0. */
    uint64_t (*run)(void *a, const void *b, const void *c, size_t bytes);
};
const struct oc_stream_kernel *oc_stream_kernel(size_t index); /* the widest first; NULL after the last */

/* A dependent chain of additions and exclusive ors: 1 cycle each on every known processor. 64 of them per
 * round. */
#define OC_CHAIN_CYCLES 64
uint64_t oc_chain_run(uint64_t rounds, uint64_t a, uint64_t b);

/* ---- for the files that hold kernels ---------------------------------------------------------------- */

struct oc_cpu_kernel_list {
    const struct oc_peak_kernel *peak;
    size_t n_peak;
    const struct oc_stream_kernel *stream;
    size_t n_stream;
};
extern const struct oc_cpu_kernel_list oc_kernels_x86, oc_kernels_arm,
    oc_kernels_plain; /* empty on other architectures */

/* ---- kernel forms ------------------------------------------------------------------------------------- */

/* Macro templates of kernels, instantiated for each width and instruction set. Private to the files
 * kernels_*.c. */

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

#endif
