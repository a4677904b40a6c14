/* Portable kernels with 16-byte vectors of the compiler. */
#include "measure/cpu_kernels.h"

#define PLAIN __attribute__((noinline))

typedef double f64x2 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));
typedef int64_t i64x2 __attribute__((vector_size(16)));
typedef uint64_t u64x2 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef int16_t i16x8 __attribute__((vector_size(16)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

#if !defined(__aarch64__) /* which has better ones in kernels_arm.c */
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
static const struct oc_peak_kernel peaks[] = {
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
static const struct oc_stream_kernel streams[] = {STREAM_ROWS(plain, ISA, 0)};

const struct oc_cpu_kernel_list oc_kernels_plain = {peaks, sizeof(peaks) / sizeof(peaks[0]), streams,
                                                    sizeof(streams) / sizeof(streams[0])};

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
