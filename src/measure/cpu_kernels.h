/* Benchmark kernels: arithmetic of one class with the instructions of one set, and memory streams. Written
 * with the compiler's vectors; intrinsics only where these cannot express the instruction (dot products,
 * tiles, non-temporal stores). CPU features are detected at run time. Timing is done in levels.c. */
#ifndef OC_CPU_KERNELS_H
#define OC_CPU_KERNELS_H

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

#endif
