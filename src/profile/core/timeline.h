/* The events of a profile on a common clock: the input of records, summaries, gap analysis and drawings.
 * Independent of formats. Times are nanoseconds as double since the first event. A stored event takes 48
 * bytes: names and details are in separate tables, and all steps after reading work in place.
 *
 * An importer of a trace:
 *     struct oc_timeline *t = oc_timeline_new(out);
 *     e.lane = oc_timeline_lane(t, &lane); e.name = oc_timeline_name(t, text, n);
 *     e.start_ns = oc_timeline_at(t, ts_ns); oc_timeline_add(t, &e, launch, owner);     in any order
 *     oc_timeline_finish(t, opts, &rules);        sorts, nests, links, assigns runs
 *     oc_timeline_records(t, opts, &rules);       fills the profile's records, kernels, totals
 *     oc_timeline_keep(t, opts);                  moves it into the profile, or frees it
 *
 * For device work with the names of layers or operators instead of host events: see launches below. */
#ifndef OC_TIMELINE_H
#define OC_TIMELINE_H

#include "base/map.h"
#include "onnxcost_types.h"
#include "profile/profile.h"

enum oc_event_kind {
    /* host */
    OC_EV_OPERATOR,
    OC_EV_INNER, /* a part of an operator: infer_shape, compute */
    OC_EV_STEP,  /* one run: a training step, an inference call */
    OC_EV_DATALOADER,
    OC_EV_FORWARD,
    OC_EV_BACKWARD,
    OC_EV_OPTIMIZATION,
    OC_EV_COMMUNICATION,
    OC_EV_API,  /* a call of the device runtime or driver */
    OC_EV_SYNC, /* such a call that waits (synchronisation) */
    OC_EV_USER, /* an annotation: NVTX, record_function, RecordEvent */
    OC_EV_PYTHON,
    OC_EV_FRAMEWORK, /* other work of the runtime: loading, initialising */
    /* device */
    OC_EV_KERNEL,
    OC_EV_MEMCPY,
    OC_EV_MEMSET,
    OC_EV_DEVICE_RANGE, /* an annotation projected to the device */
    OC_EV_COUNT
};
const char *oc_event_kind_name(unsigned kind);
static inline bool oc_event_on_device(unsigned kind)
{
    return kind >= OC_EV_KERNEL;
}
static inline bool oc_event_is_work(unsigned kind) /* of the device */
{
    return kind >= OC_EV_KERNEL && kind <= OC_EV_MEMSET;
}

enum { OC_RUN_CUT = OC_NONE - 1 }; /* of launches: the last, incomplete repetition of a run */

enum oc_event_flag {
    OC_EVF_LEAF = 1,    /* a user-level operator (aten::conv2d): operators inside it are its parts */
    OC_EVF_RECORD = 2,  /* set by oc_timeline_finish: has its own record */
    OC_EVF_CAPTURED = 4 /* likewise: what it launched was recorded in a graph, not executed */
};

struct oc_event {
    double start_ns, dur_ns;
    double self_ns;  /* host: without events nested in it on its lane; device: equal to dur_ns */
    uint32_t name;   /* index into name */
    uint32_t parent; /* host: innermost event of the same lane that contains it, OC_NONE */
    uint32_t link;   /* device work: the host event that launched it; host: the operator it belongs to (the
                      * nearest one with OC_EVF_RECORD, including itself); OC_NONE: none or unknown */
    uint32_t detail; /* index into detail, OC_NONE */
    uint32_t run;    /* index into run, OC_NONE: in none; OC_RUN_CUT */
    uint16_t lane;   /* index into the profile's lanes */
    uint8_t kind;    /* enum oc_event_kind */
    uint8_t flags;   /* enum oc_event_flag */
};

struct oc_event_detail { /* shared by events with equal details */
    const struct oc_type *in;
    uint32_t n_in;
    bool has_in;
    uint64_t bytes;     /* size of a copy, UINT64_MAX: unknown */
    const char *text;   /* call stack, copy kind ...; NULL */
    const char *values; /* as in struct oc_prof_rec */
};

struct oc_interval {
    double start_ns, end_ns;
};

/* Runs repeat: predicts the name that followed the same two names last time. */
struct oc_likely_name {
    const char *text; /* NULL: none yet */
    size_t n;
    uint32_t name;
};
enum { OC_LIKELY_NAMES = 1024 };

struct oc_timeline {
    struct oc_profile *profile; /* lanes and texts */
    struct oc_event *event;     /* on the heap; after oc_timeline_finish sorted by start, longer ones first */
    size_t n_event, cap_event;
    const char **name; /* heap array of interned texts */
    uint32_t n_name, cap_name;
    /* heap, by name: operator type of the node that an annotation with that name is; NULL: no node, or none is */
    const char **operator_type;
    struct oc_event_detail *detail; /* on the heap */
    uint32_t n_detail, cap_detail;
    uint64_t left_out;       /* events without their detail: too many differ */
    struct oc_interval *run; /* on the heap; the runs of the file in order, warm-up included */
    uint32_t n_run, cap_run, first_used_run;
    bool runs_found;                            /* runs are repeated iterations; otherwise events
                                                 * OC_EV_STEP */
    bool runs_implicit;                         /* neither: the whole file is one run */
    bool owns_kernels;                          /* some operators launched kernels */
    bool runs_follow;                           /* each run ends where the next one starts */
    double end_ns;                              /* end of the last event */
    double cpu_process_share, cpu_system_share; /* utilisation reported by the source, NAN */

    struct oc_launches *launches; /* not NULL: all events are launches (timeline_groups.c) */
    /* device work without a launch was launched before the recording: it is in no run */
    bool launched_before;
    /* runs_found: device work from the first to the second is an incomplete run, and later work is in no run */
    double runs_end_ns, cut_ns;

    struct oc_lane *lane; /* used while reading; the profile gets a copy */
    uint32_t n_lane, cap_lane;
    struct oc_map name_of, detail_of, lane_of; /* used while reading */
    struct oc_likely_name *likely;             /* used while reading; [OC_LIKELY_NAMES] */
    uint32_t last_name, name_before;           /* the two most recent lookups */
    struct oc_arena scratch;
    int64_t base_ns; /* start of the first event added, on the source's clock */
    bool has_base, full;
    size_t max_events;
    uint32_t kinds;           /* bit 1 << kind: kinds of the events added */
    double device_ns;         /* kernels, copies and memsets */
    double first_ns, last_ns; /* first start and last end of the events added */
    bool far;                 /* some events lie days apart from the others */
};

/* What an importer requests from the steps after reading. */
struct oc_timeline_rules {
    bool find_runs;          /* without OC_EV_STEP: detect iterations that repeat */
    bool user_are_operators; /* without OC_EV_OPERATOR: OC_EV_USER events have records */
    bool kernel_are_records; /* without those, or if none launched a kernel: kernels are the operators */
    bool
        keep_call_positions; /* one record per call within a run (the third conv2d) instead of one per name */
};

struct oc_timeline *oc_timeline_new(struct oc_profile *p); /* freed by oc_timeline_free */
void oc_timeline_free(struct oc_timeline *t);              /* NULL is accepted */

uint32_t oc_timeline_name(struct oc_timeline *t, const char *text, size_t n);
/* Finds or adds a lane (a name is added to a known lane that has none); texts are copied. */
uint16_t oc_timeline_lane(struct oc_timeline *t, const struct oc_lane *lane);
/* Finds or adds the detail with that key (any bytes that identify it). *is_new: the caller fills the empty
 * t->detail[result]. OC_NONE: the trace has more different details than are kept. */
uint32_t oc_timeline_detail(struct oc_timeline *t, const void *key, size_t n, bool *is_new);

/* The detail of a copy or memset of that size. */
uint32_t oc_timeline_bytes(struct oc_timeline *t, uint64_t bytes);

/* Converts the source's clock to timeline time; events days apart from the rest are skipped. */
double oc_timeline_at(struct oc_timeline *t, int64_t ns);

/* Adds an event with start_ns, dur_ns, name, detail, lane, kind, flags. `launch` (0: none) links device
 * work to the event of kind OC_EV_API or OC_EV_SYNC with the same number; if there is none, `owner` (0:
 * none) links it to the operator or annotation with the same number. False: the timeline is full and the
 * event is skipped. */
bool oc_timeline_add(struct oc_timeline *t, const struct oc_event *e, uint64_t launch, uint32_t owner);

/* A run that is known otherwise than by an event OC_EV_STEP, on the timeline's clock. */
void oc_timeline_add_run(struct oc_timeline *t, double start_ns, double dur_ns);

void oc_timeline_finish(struct oc_timeline *t, const struct oc_profile_opts *opts,
                        const struct oc_timeline_rules *rules);

/* Fills rec, kernel, lane, totals and runs of the profile. Buckets: "framework" (time of a run outside
 * operators, on its own thread), "copies" (of the used runs), "warm-up runs", "outside runs". A kernel that no
 * operator launched has a record with `rest`. imported_ns is the interval union of operators and runs per thread, computed
 * independently of the records. */
void oc_timeline_records(struct oc_timeline *t, const struct oc_profile_opts *opts,
                         const struct oc_timeline_rules *rules);

/* Moves the timeline into its profile if events are kept, otherwise frees it. */
void oc_timeline_keep(struct oc_timeline *t, const struct oc_profile_opts *opts);

/* The end of an importer: the three calls above, or free if reading failed (rc is not 0). Returns rc. */
int oc_timeline_close(struct oc_timeline *t, int rc, const struct oc_profile_opts *opts,
                      const struct oc_timeline_rules *rules);

/* ---- queries, after oc_timeline_finish -------------------------------------------------------------- */

/* The host event with OC_EVF_RECORD that event i belongs to, OC_NONE. */
uint32_t oc_timeline_owner(const struct oc_timeline *t, uint32_t i);

static inline bool oc_timeline_used(const struct oc_timeline *t, uint32_t run)
{
    return run >= t->first_used_run && run < t->n_run;
}

/* Device work that was launched before the recording. */
static inline bool oc_timeline_is_earlier(const struct oc_timeline *t, const struct oc_event *e)
{
    return t->launched_before && oc_event_is_work(e->kind) && e->link == OC_NONE;
}

/* ---- private to the files of the timeline ----------------------------------------------------------- */

/* The last run that starts at or before a time, OC_NONE; times must not decrease between calls (amortised
 * O(1)). *at: 0 at first. */
static inline uint32_t oc_timeline_run_at(const struct oc_timeline *t, uint32_t *at, double ns)
{
    while (*at < t->n_run && t->run[*at].start_ns <= ns)
        ++*at;
    return *at ? *at - 1 : OC_NONE;
}

void oc_timeline_sort(struct oc_timeline *t, double first_ns); /* also subtracts first_ns from all starts */
void oc_timeline_link(struct oc_timeline *t);
void oc_timeline_settle(struct oc_timeline *t, size_t from, size_t to); /* valid after linking */

/* A pass over all events is bound by memory bandwidth. Steps that do not depend on later events process
 * them in cache-sized blocks of this many events. */
enum { OC_TURN_EVENTS = 1 << 13 };
static inline size_t oc_timeline_turn(const struct oc_timeline *t, size_t from)
{
    return t->n_event - from > OC_TURN_EVENTS ? from + OC_TURN_EVENTS : t->n_event;
}

/* Computes parents (if requested) and self times of the events of these kinds that have all of `flags`,
 * block by block. Self times are complete at the end. */
struct oc_nesting;
struct oc_nesting *oc_nesting_begin(struct oc_timeline *t, uint32_t kinds, unsigned flags, bool parents);
void oc_nesting_go_on(struct oc_nesting *x, size_t from, size_t to);
void oc_nesting_end(struct oc_nesting *x);
void oc_timeline_find_runs(struct oc_timeline *t, const struct oc_profile_opts *opts);

/* Events that mark runs, by start like the runs (timeline_steps.c). */
struct oc_steps {
    uint32_t *event;
    size_t n, cap;
};
void oc_steps_find(const struct oc_timeline *t, struct oc_steps *s, size_t from, size_t to);
/* Drops steps without events, because profilers open one more before they stop, and those that capture a graph.
 * Frees the list. */
void oc_steps_make_runs(struct oc_timeline *t, struct oc_steps *s);
/* Marks records of work that a graph captured. */
void oc_timeline_mark_captured(struct oc_timeline *t);
void oc_timeline_assign_runs(struct oc_timeline *t);
/* A step of the host may end before its device work: it then lasts as long as the device is busy with it. */
void oc_timeline_extend_runs(struct oc_timeline *t);
/* Without steps, by host events (timeline_steps.c): the runs of a loop of training that calls an optimizer. */
void oc_timeline_runs_of_optimizer(struct oc_timeline *t);
/* Whether work is that of a backward pass or of an optimizer, by its names. */
bool oc_timeline_trains(const struct oc_timeline *t);

void oc_launches_free(struct oc_launches *l); /* NULL is accepted */

/* ---- operator names --------------------------------------------------------------------------------- */

/* Names of the nodes of a model, for importers: an annotation with such a name is the operator, and what runs inside
 * it are its parts. The number of its products shows how many runs a recording has. join/recorded_inputs.c makes them:
 * importers never see a model. */

#define OC_PRODUCT_TYPES " Conv ConvTranspose Gemm MatMul "

struct oc_operator_names {
    struct oc_arena arena;
    struct oc_map of;   /* name to the index in type; the keys are texts of the model */
    const char **type;  /* operator types, likewise; NULL: several nodes have the name */
    uint32_t n_product; /* nodes of OC_PRODUCT_TYPES */
};

/* The operator type of the only node with that name, NULL. */
static inline const char *oc_operator_type_named(const struct oc_operator_names *names, const char *name,
                                                 size_t n)
{
    uint32_t i = oc_map_get(&names->of, name, n);
    return i == OC_NONE ? NULL : names->type[i];
}

static inline bool oc_timeline_is_node(const struct oc_timeline *t, const struct oc_event *e)
{
    return e->kind == OC_EV_USER && t->operator_type && t->operator_type[e->name];
}
/* Finds the annotations that are nodes; gives them the shapes of the only operator inside; adds the runs that they show
 * (timeline_steps.c). */
void oc_timeline_name_operators(struct oc_timeline *t, const struct oc_operator_names *names);
void oc_timeline_shapes_of_nodes(struct oc_timeline *t);
void oc_timeline_runs_of_nodes(struct oc_timeline *t);
/* How many times PyTorch executed the products of the model; 0: not a whole number of times, or no names. */
uint32_t oc_timeline_runs_of_model(const struct oc_timeline *t, const struct oc_operator_names *names);

/* ---- timeline launches ------------------------------------------------------------------------------ */

/* Launches: device work whose source says itself what it is for, by a label (layer, node, NVTX range), instead of host
 * events that launched it. They are the only events of their timeline, 48 bytes each. Independent of formats.
 *
 *     struct oc_timeline *t = oc_timeline_new(out);
 *     x.lane = oc_timeline_stream(t, process, device, stream); x.label = oc_timeline_label(t, &label, variant);
 *     oc_timeline_launch(t, &x);                        in any order
 *     oc_timeline_launches_end(t, opts, n_run, ...);    fills the profile
 *     oc_timeline_free(t); */

/* What a launch works for: a layer, a node, an operator. Texts are interned in the profile. */
struct oc_label {
    const char *name, *op_type, *provider;
    int64_t index; /* -1: unknown */
    const struct oc_type *in;
    uint32_t n_in;
    bool has_in;
};

/* Sets name, type, provider, index and inputs of the record. */
void oc_label_describe(const struct oc_label *label, struct oc_prof_rec *rec);

struct oc_launch {
    double start_ns, dur_ns;                 /* on any clock */
    const char *name;                        /* interned */
    uint32_t label;                          /* from oc_timeline_label; OC_NONE: unknown */
    uint32_t run;                            /* index of the run; OC_NONE: in no run */
    uint32_t shape;                          /* equal for equal grids and blocks; 0: unknown */
    uint16_t lane;                           /* index of the lane in the profile */
    uint8_t kind;                            /* OC_EV_KERNEL, OC_EV_MEMCPY, OC_EV_MEMSET */
    double bytes, flop;                      /* measured; NAN: not measured */
    const struct oc_prof_counters *counters; /* NULL: none */
    uint64_t where;
};

/* The number of a label: equal for equal name, type, index and `variant` (NULL: none), a text that
 * separates labels that are otherwise equal. */
uint32_t oc_timeline_label(struct oc_timeline *t, const struct oc_label *label, const char *variant);

/* Adds host time under a label in a run. */
void oc_timeline_host_time(struct oc_timeline *t, uint32_t label, uint32_t run, double dur_ns);

/* False: the timeline is full. */
bool oc_timeline_launch(struct oc_timeline *t, const struct oc_launch *launch);

uint16_t oc_timeline_stream(struct oc_timeline *t, int64_t process, int64_t device, int64_t stream);

/* Fills rec, kernel, lane, runs and totals of the profile: one record per label. n_run: number of runs that the
 * source marks; 0: detect them by repetition of the same launches. The duration of a run is that of its device
 * work. A kernel without a label becomes a record under its own name; kernels_are_records: it is an operator, for
 * sources that report only kernels, otherwise `rest`. */
void oc_timeline_launches_end(struct oc_timeline *t, const struct oc_profile_opts *opts, uint32_t n_run,
                              bool kernels_are_records);

#endif
