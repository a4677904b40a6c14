/* Roofline of one piece of work on a device (cost-semantics section 8): its bound and its minimum time. It
 * takes only counts, so it applies to one operator, a fused group or a whole model. Times are in seconds,
 * rates per second; NAN is "unknown". A figure missing in the device's file never voids the bound: the work
 * that needs it takes no time, and the largest known time is still a lower bound. No other class is
 * substituted for a missing peak, except for f16 on devices marked as running it at the f32 rate, and for f16
 * and bf16 on CPUs whose f32 peak is of AVX2 or older. */
#ifndef OC_ROOFLINE_H
#define OC_ROOFLINE_H

#include "hw/hwdb.h"

struct oc_work {
    uint64_t macs[OC_CLASS_COUNT];  /* of contractions; 2 FLOPs each */
    uint64_t flops[OC_CLASS_COUNT]; /* other operations, weighted; FLOPs or, for integer classes, OPs */
    /* Transcendental primitives (SQRT EXP LOG SIN TAN TANH SIG ERF POW DIV): their number, and their weight
     * in flops if the device has no rate for them. Not in `flops`. */
    uint64_t special[OC_CLASS_COUNT], special_flops[OC_CLASS_COUNT];
    uint64_t bytes;        /* read and written */
    uint64_t weight_bytes; /* constants read, included above; 0 if unknown */
    uint64_t written;      /* constants written, included above; 0 if unknown */
    uint64_t launches;     /* launched operators: 1 for a node, 0 for a view or a folded node */
    bool unknown;          /* a count is unknown */
    bool vector_macs;      /* the MACs are known to run on the vector unit */
};

struct oc_node_cost;
/* Adds one node. Nodes of a fused group add up to the group's operations; the caller then sets its bytes and
 * launches. The unit of operations, in counts, rates and peaks of float and integer types: 2 for a MAC, 0 for a type
 * conversion, 1 for the rest. FLOP names operations of float types, OP those of integer types. An overflow makes the work
 * unknown. */
void oc_work_add(struct oc_work *work, const struct oc_node_cost *cost);
bool oc_is_launched(const struct oc_node_cost *cost); /* not a view, folded or absorbed */

/* Memory levels that serve the bytes. Without caches all go to DRAM. With caches each byte counts at the
 * nearest level that can contain it, which is a lower bound for any run:
 *  - what one launch reads of activations, and what it writes, fills the levels from the nearest on, each up
 *    to its size (as if no cache held what another one holds);
 *  - constants are read once in every run, and between two runs all others are read: of `const_bytes` a level
 *    can retain its size, so that share of every node's constants is read from it. The retained ones are
 *    unknown: the share is the same for all nodes.
 * So constants come from DRAM as const_bytes grows beyond the largest cache, and activations whose working set
 * does. A cache reads and writes at once, as measured: Relu in place is 1.2 times as fast as the sum of both. A
 * level without a size in the device's file is skipped; the bytes of one with a size and without a bandwidth
 * take no time. */
struct oc_roof_opts {
    bool cache;
    uint64_t const_bytes; /* constants read by a run of the whole model; 0: only those of this work */
};

struct oc_roof_traffic {
    uint64_t bytes, weight_bytes, written, launches; /* as in struct oc_work */
};
enum { OC_ROOF_LEVELS = 6 }; /* maximum number of distinct memory levels; further ones count as DRAM */

/* t_mem(m) = bytes_m / bw(m). The bytes of a cache of unknown bandwidth take no time: what is left is a lower bound. */
struct oc_roof_placed { /* by level, nearest first */
    uint64_t bytes[OC_ROOF_LEVELS];
    uint64_t written[OC_ROOF_LEVELS]; /* part of bytes, of caches */
    double level_s[OC_ROOF_LEVELS];   /* of those with bytes */
    double slowest_s;                 /* NAN: no level with bytes has a bandwidth */
    unsigned n;
};
void oc_roof_place(const struct oc_device *device, const struct oc_roof_traffic *t,
                   const struct oc_roof_opts *opts, struct oc_roof_placed *out);
/* No traffic takes longer than its bytes at this rate; INFINITY: no level has a bandwidth. */
double oc_roof_slowest_bandwidth(const struct oc_device *device);

unsigned oc_roof_levels(const struct oc_device *device);
const struct oc_hw_level *oc_roof_level(const struct oc_device *device, unsigned i);

enum oc_bound {
    OC_BOUND_VECTOR,
    OC_BOUND_MATRIX,
    OC_BOUND_SPECIAL,
    OC_BOUND_DRAM,
    OC_BOUND_OVERHEAD,
    OC_BOUND_BALANCED,
    OC_BOUND_NONE, /* nothing is launched */
    OC_BOUND_UNKNOWN,
    OC_BOUND_CACHE, /* a memory level before DRAM */
    OC_BOUND_COUNT
};
const char *oc_bound_name(unsigned bound); /* "compute:matrix", "DRAM" ... */

struct oc_roof {
    double unit_s[OC_HW_UNIT_COUNT];        /* 0: no work on the unit; NAN: no peak for any of it */
    double comp_s, mem_s, roof_s;           /* roofline time: the larger of the two, NAN: neither is known */
    uint64_t level_bytes[OC_ROOF_LEVELS];   /* by level of the device, nearest first */
    uint64_t level_written[OC_ROOF_LEVELS]; /* part of level_bytes, of caches */
    double level_s[OC_ROOF_LEVELS];         /* t_mem of each; mem_s is the largest */
    /* roof_s with each cache of unknown bandwidth at that of the next level that has one: it determines what
     * limits, and intervals and forecasts. */
    double slow_s;
    unsigned n_level;
    double overhead_s;
    double flops;     /* FLOPs and OPs in total */
    double intensity; /* per byte; infinite if no byte moves */
    enum oc_bound bound;
    const char *bound_name; /* with the name of the memory level: "L2" */
    /* The first missing figure, of a peak or of DRAM: "vector f8 peak"; roof_s is then only a lower bound of
     * the roofline time. "": none. */
    char missing[32];
    bool fallback; /* f16 work uses the f32 peak */
};

/* The dense peak for the roofline: of the unit and class, or the fallback in the device's file (then
 * *fallback is set to true); NULL: not in the file. */
const struct oc_hw_figure *oc_roof_peak(const struct oc_device *device, unsigned unit, unsigned cls,
                                        bool *fallback);
bool oc_roof_has_vector_peak(const struct oc_device *device, unsigned cls);
bool oc_roof_has_peak(const struct oc_device *device, unsigned cls); /* of products, without a fallback */
/* Products in a float type without a peak are not free: they run in one that the device has and that holds the
 * numbers, here the fastest. Without any, their time is unknown. */
void oc_roof_take_known_types(const struct oc_device *device, struct oc_work *work);

/* Operations of all classes; a multiply-add is two. */
static inline double oc_work_operations(const struct oc_work *w)
{
    double sum = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        sum += 2.0 * (double)w->macs[c] + (double)w->flops[c] + (double)w->special_flops[c];
    return sum;
}

/* Assigns operations to units and classes: MACs to the matrix unit if it has the class (f32 also in TF32,
 * which runtimes use by default; --hw-set matrix.tf32=none removes its peak from the device), transcendentals to the special
 * unit, all others to the vector unit. */
typedef void (*oc_unit_work_fn)(void *user, unsigned unit, unsigned cls, double operations);
void oc_unit_work(const struct oc_device *device, const struct oc_work *work, oc_unit_work_fn report,
                  void *user);

/* measured_s: time of one execution, NAN if not measured; used only to determine the bound. */
void oc_roofline_of(const struct oc_device *device, const struct oc_work *work,
                    const struct oc_roof_opts *opts, double measured_s, struct oc_roof *out);
/* The same without caches. */
void oc_roofline(const struct oc_device *device, const struct oc_work *work, double measured_s,
                 struct oc_roof *out);

#endif
