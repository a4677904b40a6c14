/* Ranks devices for one model, and the changes of the ranking with the batch. The public functions are in
 * onnxcost.h; this header is for the writers. */
#ifndef OC_RANK_DEVICES_H
#define OC_RANK_DEVICES_H

#include "analyze/closed_form.h"
#include "base/arena.h"
#include "estimate/calibrate.h"
#include "estimate/predict.h"
#include "estimate/recast.h"

/* ---- rank load ----------------------------------------------------------------------------------- */

/* The load of a model at one batch: the work of its operators, with equal ones merged. Counts of most models
 * are linear in the batch: if that holds at both ends and at the midpoint of a range of batches, those in
 * between are interpolated; otherwise each batch is analysed. */

struct oc_rank_item {
    struct oc_work work; /* of one operator */
    uint64_t count;      /* number of operators with this work */
    uint8_t op_class;    /* enum oc_op_class */
};

struct oc_rank_load {
    int64_t batch;
    const struct oc_rank_item *item;
    uint32_t n_item;
    uint64_t unknown_nodes, estimated_nodes;                /* without a cost: not in the items */
    uint64_t class_nodes[OC_OP_CLASS_COUNT];                /* launched ones */
    double operations, class_operations[OC_OP_CLASS_COUNT]; /* FLOPs and OPs */
    uint64_t const_bytes, peak_bytes;                       /* memory: constants, activations */
    uint64_t read_constants;                                /* part of the constants read by a run */
    uint8_t quality, peak_quality;                          /* enum oc_quality */
};

#define OC_RANK_MAX_BATCH (INT64_C(1) << 20)

struct oc_rank_loads;

/* as: the type that the work is assumed to be done in; NULL: the model's types. Memory is always the model's.
 * symbol: the batch dimension, NULL: the model has none and there is one load. The first analysis is made
 * here. The lists of `opts` and the model must outlive the loads. */
int oc_rank_loads_make(const struct oc_model *m, const struct oc_analyze_opts *opts,
                       const struct oc_recast *as, const char *symbol, struct oc_rank_loads **out,
                       struct oc_err *err);
void oc_rank_loads_free(struct oc_rank_loads *l);

/* The first analysis, made with the given options, and its batch: below 1 if that has no size. */
const struct oc_analysis *oc_rank_loads_first(const struct oc_rank_loads *l);
int64_t oc_rank_loads_batch(const struct oc_rank_loads *l);

/* Searches for linear ranges from 1 to `most`. Returns the largest batch, up to most, whose analysis succeeds
 * with no more operators without a cost than the first one; 0: none. */
int64_t oc_rank_loads_span(struct oc_rank_loads *l, int64_t most);

/* Valid until the next call. NULL: the analysis failed, or the limit of analyses was exceeded. */
const struct oc_rank_load *oc_rank_load_at(struct oc_rank_loads *l, int64_t batch, struct oc_err *err);

/* An analysis at this batch, valid until the next call. NULL as above. */
const struct oc_analysis *oc_rank_analysis_at(struct oc_rank_loads *l, int64_t batch, struct oc_err *err);

unsigned oc_rank_loads_analyses(const struct oc_rank_loads *l); /* made so far */

/* ---- rank span ----------------------------------------------------------------------------------- */

/* Time of a device for a load, for the comparison of devices: with a calibration its estimate; of a GPU the
 * estimate from published latencies (pooled.c); of other devices an interval: kernels reach between 30 % and
 * 90 % of their roofline speed (an assumption, not a figure of a vendor), plus the launch overhead in the
 * device's file for every operator. NPUs (oc_bound_keeps_tensors) may hold what is between operators on the
 * chip and run a model as one program: the shortest time is without both. Times are in seconds, NAN is
 * "unknown". */

#define OC_BAND_LEAST 0.3
#define OC_BAND_MOST  0.9

/* Breakdown of the time: each operator's time counts for its bound, launches separately. */
enum oc_span_part {
    OC_SPAN_VECTOR,
    OC_SPAN_MATRIX,
    OC_SPAN_SPECIAL,
    OC_SPAN_MEMORY, /* DRAM */
    OC_SPAN_CACHE,  /* a memory level before it */
    OC_SPAN_OVERHEAD,
    OC_SPAN_PARTS
};
const char *oc_span_part_name(unsigned part); /* "compute:vector", "DRAM" ... */

enum oc_span_evidence { OC_SPAN_BAND, OC_SPAN_CALIBRATED, OC_SPAN_PUBLISHED };
const char *oc_span_evidence_name(unsigned evidence); /* "roofline band", "calibration" ... */

struct oc_span {
    uint8_t evidence; /* enum oc_span_evidence */
    /* Of an interval, mid is the geometric mean, an efficiency of 52 %. With a calibration: the estimate and
     * its 80 % interval; classes have the sums of their kernels. */
    double lo_s, mid_s, hi_s;
    double part_s[OC_SPAN_PARTS]; /* of mid */
    /* Arithmetic without a peak in the device's file that the times exclude: its classes as a bit set, and
     * its share of the operations. Never multiply-adds; more than OC_SPAN_LEFT_OUT makes the times unknown.
     */
    uint32_t left_out;
    double left_out_part;
    uint32_t unknown_kernels; /* kernels without a prediction, not in the estimate */
    char missing[48];         /* why the times are not known; "": they are */
};
#define OC_SPAN_LEFT_OUT 0.01

double oc_band_middle(void); /* the efficiency of mid */

struct oc_span_in {
    const struct oc_device *device;
    const struct oc_rank_load *load;
    bool cache; /* of an interval: bytes count at the nearest level that can contain them, as in struct
                 * oc_roof_opts
                 */
    const struct oc_pooled_load *pooled; /* kernels of the load, for oc_pooled_covers; NULL: not requested */
    double bound_s;                      /* of the load on the device, with `pooled`; NAN: unknown */
    const struct oc_calibration *cal;    /* of this device; NULL: interval only */
    const struct oc_analysis *analysis;  /* at the batch of the load; needed with cal only */
};

/* by_class: one for each enum oc_op_class, or NULL. */
void oc_span_of(const struct oc_span_in *in, struct oc_span *whole, struct oc_span *by_class);

/* Private: the result with a calibration (rank_span.c), and an unknown one with its reason. */
void oc_span_unknown(struct oc_span *s, const char *what);

/* The part with the most time; OC_SPAN_PARTS: none, or unknown. */
unsigned oc_span_limit(const struct oc_span *s);

/* ---- rank phases ------------------------------------------------------------------------------------ */

/* Finds changes of a property as the batch grows: evaluates 1, 2, 4 ..., and bisects between two of these
 * that differ. A change that is reverted between two of them is not found. */

struct oc_rank_phases;

/* Value of the property at a batch. */
typedef int (*oc_phase_fn)(void *ctx, int64_t batch);

#define OC_MOST_PHASES 64 /* further changes are not reported */
void oc_find_phases(oc_phase_fn what, void *ctx, int64_t most, struct oc_arena *arena,
                    struct oc_rank_phases *out);

/* ---- rank devices -------------------------------------------------------------------------------- */

#define OC_RANK_PAIR_DEVICES 16
#define OC_RANK_BATCHES      1024 /* upper end of the search for changes: this, or the largest requested batch */
#define OC_RANK_MAX_TABLES   64

struct oc_rank_phases {
    const struct oc_rank_phase *item;
    size_t n;
};

struct oc_rank_table { /* one batch */
    int64_t batch;
    struct oc_rank_load total;      /* without its items */
    const struct oc_rank_row *row;  /* in order */
    const uint32_t *device;         /* index of the device of each row */
    const struct oc_span *whole;    /* by device */
    const struct oc_span *by_class; /* by device, then by enum oc_op_class */
};

struct oc_rank {
    struct oc_arena arena;
    const struct oc_model *model;
    const struct oc_device **device;
    size_t n_device;
    const char *sort;
    bool cache;
    const struct oc_recast *as; /* NULL: the model's own types */
    size_t calibrated;          /* index of the calibrated device; n_device: none */
    const char *calibration;    /* description of the calibration, one line; NULL: none */
    const char *symbol;         /* symbol of the batch; NULL: there is none */
    int64_t samples;            /* inferences per run; 0: equal to the batch */
    const char *no_batch;       /* reason why there is none */
    const char *no_larger;      /* reason why max_batch is smaller than requested; NULL: it is not */
    const struct oc_assumption *assumption; /* of the analysis with the given options */
    uint32_t n_assumption;
    const struct oc_rank_table *table;
    size_t n_table;
    int64_t max_batch;
    unsigned analyses;
    struct oc_rank_phases fastest;
    const struct oc_rank_phases *limit; /* by device */
    const struct oc_rank_phases *fits;  /* by device: changes of enum oc_fits */
    const struct oc_rank_phases *pair;  /* first * n_device + second, first < second; NULL: not computed */
};

/* The fastest device for a class of operators; n_device: none has a time, or one fuses them into others. */
size_t oc_rank_best_for(const struct oc_rank *r, const struct oc_rank_table *t, unsigned op_class);

/* Inferences per run. */
double oc_rank_samples(const struct oc_rank *r, int64_t batch);

#endif
