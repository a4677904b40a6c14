/* measure/: Measures peak rates and bandwidths of this machine (hw measure). An instruction set is a kernel
 * in kernels_*.c and a bit in cpu_kernels.c. Rates that the instruction set cannot reach are measured
 * again, never reported.
 * Private to the folder: cpu_kernels.h measure.h. */

#include "measure/cpu_kernels.h"

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

/* ---- cpu kernels ------------------------------------------------------------------------------------ */

static const struct oc_cpu_kernel_list *const lists[] = {&oc_kernels_x86, &oc_kernels_arm, &oc_kernels_plain};

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
