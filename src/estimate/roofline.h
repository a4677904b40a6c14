/* Roofline of one piece of work on a device (cost-semantics section 8): what limits it and how long it takes
 * at least. It sees counts only, so one operator, a fused group or a whole model can be asked about. Times
 * are in seconds, rates per second; NAN is "not known". A peak that the device's file does not give makes the
 * result unknown: no other class stands in for it, but for f16 on devices marked as running it at the f32
 * rate. */
#ifndef OC_ROOFLINE_H
#define OC_ROOFLINE_H

#include "hw/hwdb.h"

struct oc_work {
    uint64_t macs[OC_CLASS_COUNT];  /* of contractions; 2 FLOPs each */
    uint64_t flops[OC_CLASS_COUNT]; /* the rest, weighted; FLOPs or, for integer classes, OPs */
    /* Transcendental primitives (SQRT EXP LOG SIN TAN TANH SIG ERF POW DIV): how many, and what they weigh in
     * flops where the device gives no rate for them. Not in `flops`. */
    uint64_t special[OC_CLASS_COUNT], special_flops[OC_CLASS_COUNT];
    uint64_t bytes;        /* read and written */
    uint64_t weight_bytes; /* of these: constants read; 0 if that is not told */
    uint64_t written;      /* of these: written; 0 if that is not told */
    uint64_t launches;     /* operators launched: 1 for a node, 0 for an alias or a folded node */
    bool unknown;          /* some count is not known */
    bool vector_macs;      /* the MACs are known to run on the vector unit */
};

enum oc_overlap { OC_OVERLAP_UNITS /* the slowest unit counts */, OC_OVERLAP_NONE /* their sum */ };

/* Where bytes come from and go to. Without caches all go to DRAM. With them each byte counts at the nearest
 * memory that can have it, so that no run, however well its data stays in caches, is faster:
 *  - what one launch reads of activations, and what it writes, fills the levels from the nearest on, each up
 *    to its size (as if no cache held what another one holds);
 *  - constants are read once in every run, and between two runs all others pass by: of `const_bytes` a level
 *    can have kept its size, so that share of every node's constants is read from it. Which ones stayed is
 *    not known: the share is the same for all nodes.
 * So all constants come from DRAM as const_bytes grows beyond the largest cache, and activations whose
 * working set does. A level without a size in the device's file is passed by; one with a size and without a
 * bandwidth makes the time of what stands in it unknown. */
struct oc_roof_opts {
    enum oc_overlap overlap;
    bool cache;
    uint64_t const_bytes; /* constants that a run of the whole model reads; 0: no more than this work does */
};

enum { OC_ROOF_LEVELS = 6 }; /* memory levels that are told apart; more are taken together with DRAM */

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
    double unit_s[OC_HW_UNIT_COUNT];      /* 0: no work for the unit */
    double comp_s, mem_s, roof_s;         /* roof: the larger of the two */
    uint64_t level_bytes[OC_ROOF_LEVELS]; /* by level of the device, nearest first */
    double level_s[OC_ROOF_LEVELS];       /* t_mem of each; mem_s is the largest */
    unsigned n_level;
    double overhead_s, est_s; /* est: roof + overhead */
    double flops;             /* FLOPs and OPs in all */
    double intensity;         /* per byte; infinite if no byte moves */
    double ridge;             /* intensity at which DRAM and the busiest unit are as slow */
    enum oc_bound bound;
    const char *bound_name; /* with the name of the memory level: "L2" */
    char missing[32];       /* what made the result unknown: "vector f8 peak"; "": nothing */
    bool fallback;          /* f16 work was held against the f32 peak */
};

/* The dense peak that work is held against: of the unit and class, or the fallback of the device's file (then
 * *fallback is set to true); NULL: the file does not say. */
const struct oc_hw_figure *oc_roof_peak(const struct oc_device *device, unsigned unit, unsigned cls,
                                        bool *fallback);

/* Tells which unit has how many operations of which class to do: MACs go to the matrix unit if it has the
 * class, transcendentals to the special unit, all else to the vector unit. */
typedef void (*oc_unit_work_fn)(void *user, unsigned unit, unsigned cls, double operations);
void oc_unit_work(const struct oc_device *device, const struct oc_work *work, oc_unit_work_fn tell,
                  void *user);

/* measured_s: time of one execution, NAN if not measured; it only takes part in telling the bound. */
void oc_roofline_of(const struct oc_device *device, const struct oc_work *work,
                    const struct oc_roof_opts *opts, double measured_s, struct oc_roof *out);
/* The same without caches. */
void oc_roofline(const struct oc_device *device, const struct oc_work *work, enum oc_overlap overlap,
                 double measured_s, struct oc_roof *out);

struct oc_achieved {
    double flops_per_s, bytes_per_s;
    double compute_efficiency, bandwidth_efficiency, roofline_efficiency; /* 1 is the peak; can be above 1 */
};
void oc_roof_achieved(const struct oc_work *work, const struct oc_roof *roof, double measured_s,
                      struct oc_achieved *out);

/* Model FLOPs utilisation: the MACs of one class against the matrix peak of that class. */
double oc_mfu(const struct oc_device *device, unsigned cls, uint64_t macs, double measured_s);

#endif
