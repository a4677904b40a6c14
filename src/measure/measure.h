/* All measurements of this machine, and the device file made from them: kernels, threads, rates, levels of memory. */
#ifndef OC_MEASURE_H
#define OC_MEASURE_H

#include "base/arena.h"
#include "base/diag.h"
#include "hw/hwdb.h"
#include "onnxcost_types.h"

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

/* ---- kernels of arithmetic -------------------------------------------------------------------------- */

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

/* ---- kernels of memory ------------------------------------------------------------------------------ */

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

/* ---- machine ---------------------------------------------------------------------------------------- */

/* Machine description of the operating system. On a virtual machine it may be wrong: these are hints for the
 * measurement, not results. */

#define OC_CACHE_LEVELS 4

struct oc_cache_claim {
    uint64_t bytes;     /* size of one; 0: there is none */
    unsigned instances; /* number among the measured processors */
    unsigned threads;   /* largest number of these processors that share one */
};

struct oc_machine {
    const char *model, *vendor; /* "Intel Xeon Processor", "Intel" */
    const char *system;         /* "Linux 6.1.0 x86_64" */
    bool is_virtual;
    unsigned processors;                          /* processors available to the process */
    struct oc_cache_claim cache[OC_CACHE_LEVELS]; /* data, by level: [0] is L1 */
    uint64_t memory_bytes, available_bytes;       /* 0: unknown */
};

/* threads: only the first so many processors count. Texts are in the arena. */
void oc_machine_ask(struct oc_arena *a, unsigned threads, struct oc_machine *out);

/* ---- team ------------------------------------------------------------------------------------------- */

/* Thread team for measurements: each thread pinned to a processor, working in lockstep. Between two regions
 * the threads sleep or spin. */

struct oc_team;
/* The caller is thread 0, and stays pinned to the first processor until the team is freed. threads: 1 to
 * oc_os_processors(). */
int oc_team_make(unsigned threads, struct oc_team **out, struct oc_err *err);
void oc_team_free(struct oc_team *t);

/* awake: waiting threads spin; else they sleep and leave the machine to the others. */
void oc_team_awake(struct oc_team *t, bool awake);

/* A parallel region: work(user, 0) ... work(user, active - 1), one per thread; returns when all are done. */
void oc_team_run(struct oc_team *t, unsigned active, void (*work)(void *user, unsigned index), void *user);

double oc_seconds(void); /* monotonic clock */

/* ---- rates ------------------------------------------------------------------------------------------ */

/* Best rate of a workload: repeats it for a while and takes the fastest time, since interference only makes
 * it slower. The other samples show whether the speed is sustained. */

struct oc_rate {
    double best;   /* units of work per second */
    double median; /* of all samples */
    double late;   /* median of the last third: below the best if the machine slows down under load */
    unsigned samples;
};

struct oc_effort {   /* duration of sampling */
    double sample_s; /* minimum duration of one sample */
    double total_s;
    double more_s; /* extra time while most samples are far from the best: other programs are running */
};

/* Each of `active` threads runs `rounds` rounds of the work, `units` per round. */
struct oc_task {
    void (*work)(const struct oc_task *task, unsigned index, uint64_t rounds);
    const void *what; /* argument of `work` */
    double units;     /* per round of one thread */
};
struct oc_rate oc_rate_of(struct oc_team *team, unsigned active, const struct oc_task *task,
                          const struct oc_effort *effort);

struct oc_rate oc_rate_of_peak(struct oc_team *team, unsigned active, const struct oc_peak_kernel *kernel,
                               const struct oc_effort *effort);
struct oc_rate oc_rate_of_clock(struct oc_team *team, unsigned active, const struct oc_effort *effort);

/* Arrays of a stream: thread i uses block + i * stride, with consecutive arrays of `bytes`. */
struct oc_stream_place {
    char *block;
    size_t stride, bytes;
};

/* Seconds of an empty parallel region, median of `n`. idle_s: pause between two regions. */
double oc_region_time(struct oc_team *team, unsigned n, double idle_s);

struct oc_timer {
    double step_s, read_s; /* clock resolution, time of one reading */
};
struct oc_timer oc_timer_of(void);

/* ---- levels ----------------------------------------------------------------------------------------- */

/* Memory hierarchy: size and bandwidth of each level. The reported cache sizes are a hint where to search; a
 * growing working set shows where one core's bandwidth drops. */

#define OC_MEMORY_LEVELS (OC_CACHE_LEVELS + 1)
#define OC_LEVEL_MODES   (2 * OC_STREAM_MODES) /* non-temporal stores, in the second half */

struct oc_level_rates {
    char name[8];                /* "L1" ... "DRAM" */
    struct oc_cache_claim claim; /* none for DRAM */
    uint64_t border_bytes;       /* of one cache: where the bandwidth drops; 0: nowhere, or DRAM */
    bool agrees;                 /* the measured size agrees with the reported one */
    uint64_t size_bytes; /* of one cache: the reported size if it agrees or none was measured, else the
                            measured size */
    struct oc_stream_place one, all;
    struct oc_rate rate[2][OC_LEVEL_MODES]; /* [0] one core, [1] all; best 0: not measured */
};

struct oc_level_effort {
    size_t most_bytes, least_bytes; /* memory for the DRAM measurement, all threads together */
    double touch_s;                 /* time limit of the allocation; then less memory is used */
    struct oc_effort sweep, cache, dram;
};

struct oc_levels {
    struct oc_level_rates level[OC_MEMORY_LEVELS];
    unsigned n;
    size_t block_bytes; /* working set used */
    double flatness;    /* rate of one core with all of it to the rate with half of it: near 1 outside of all
                           caches */
};

/* progress may be NULL. */
int oc_levels_measure(struct oc_team *team, unsigned threads, const struct oc_machine *machine,
                      uint32_t features, const struct oc_level_effort *effort,
                      void (*progress)(void *user, const char *what), void *user, struct oc_levels *out,
                      struct oc_err *err);

const char *oc_level_mode_name(unsigned mode); /* "copy-nt" */

/* ---- measure ---------------------------------------------------------------------------------------- */

#define OC_MAX_PEAKS 64

struct oc_peak_rate {
    const struct oc_peak_kernel *kernel;
    struct oc_rate one, all;
};

struct oc_measured {
    unsigned threads;
    bool quick;
    struct oc_machine machine;
    uint32_t features;
    struct oc_peak_rate peak[OC_MAX_PEAKS];
    unsigned n_peak;
    struct oc_rate clock[2]; /* core clock in Hz: one core busy, all cores busy */
    struct oc_levels levels;
    double region_awake_s, region_asleep_s; /* 0 with one thread */
    struct oc_timer timer;
    char when[32]; /* "2026-05-04 13:30 UTC" */
};

/* Writes the device file: XML as in hwdb/hwdb.rng. */
void oc_measured_write_xml(const struct oc_measured *m, struct oc_buf *out);

/* Number of peaks whose samples are mostly far below the best: other programs were running. */
unsigned oc_measured_noisy(const struct oc_measured *m);

/* Why a peak cannot be right, or is not the machine's: "more operations per cycle than avx2 has". NULL: no
 * doubt. */
const char *oc_measured_doubt(const struct oc_measured *m, unsigned peak);
/* Takes the better of two measurements of a peak, the lower one if the first is above the limit. */
void oc_measured_again(struct oc_measured *m, unsigned peak, const struct oc_peak_rate *again);

/* Warnings about the figures: slow-down, other load, reported values that do not agree. */
void oc_measured_judge(const struct oc_measured *m, struct oc_diags *out);

#endif
