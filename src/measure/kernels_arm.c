/* AArch64: fused multiply-adds (the compiler's vectors would copy the addend first), half precision, dot
 * products and small matrix products of NEON. */
#include "measure/cpu_kernels.h"

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

static const struct oc_peak_kernel peaks[] = {
    VEC("neon", "fused multiply-adds", F64, NONE, 0, 2 * 24 * 2, neon_f64),
    VEC("neon", "fused multiply-adds", F32, NONE, 0, 2 * 24 * 4, neon_f32),
    VEC("fp16", "fused multiply-adds", F16, F16, OC_CPU_FP16, 2 * 24 * 8, fp16_f16),
    VEC("bf16", "bfmmla", BF16, F32, OC_CPU_BF16, 2 * 24 * 16, mm_bf16),
    VEC("bf16-dot", "bfdot", BF16, F32, OC_CPU_BF16, 2 * 24 * 8, dot_bf16),
    VEC("neon", "smlal", I16, I32, 0, 2 * 24 * 4, neon_i16),
    VEC("i8mm", "smmla", I8, I32, OC_CPU_I8MM, 2 * 24 * 32, mm_i8),
    VEC("dotprod", "sdot", I8, I32, OC_CPU_DOTPROD, 2 * 24 * 16, dot_i8),
};

const struct oc_cpu_kernel_list oc_kernels_arm = {peaks, sizeof(peaks) / sizeof(peaks[0]), NULL, 0};

#else
const struct oc_cpu_kernel_list oc_kernels_arm = {0};
#endif
