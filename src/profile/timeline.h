/* The events of a profile in time: what records, summaries, gaps and drawings are made of. Knows nothing of
 * formats. Times are double nanoseconds from the first event. A kept event takes 48 bytes: names and details
 * stand in tables of their own, and all work after reading happens in place.
 *
 * An importer of a trace:
 *     struct oc_timeline *t = oc_timeline_new(out);
 *     e.lane = oc_timeline_lane(t, &lane); e.name = oc_timeline_name(t, text, n);
 *     e.start_ns = oc_timeline_at(t, ts_ns); oc_timeline_add(t, &e, launch, owner);     in any order
 *     oc_timeline_finish(t, opts, &rules);        sorted, nested, linked, in runs
 *     oc_timeline_records(t, opts, &rules);       fills the profile's records, kernels, totals
 *     oc_timeline_keep(t, opts);                  into the profile, or freed */
#ifndef OC_TIMELINE_H
#define OC_TIMELINE_H

#include "profile/profile.h"

enum oc_event_kind {
    /* host */
    OC_EV_OPERATOR,
    OC_EV_INNER, /* a part of an operator: infer_shape, compute */
    OC_EV_STEP,  /* one run: a step of training, a call of inference */
    OC_EV_DATALOADER,
    OC_EV_FORWARD,
    OC_EV_BACKWARD,
    OC_EV_OPTIMIZATION,
    OC_EV_COMMUNICATION,
    OC_EV_API,  /* a call of the device runtime or driver */
    OC_EV_SYNC, /* such a call that waits */
    OC_EV_USER, /* an annotation: NVTX, record_function, RecordEvent */
    OC_EV_PYTHON,
    OC_EV_FRAMEWORK, /* other work of the runtime: loading, initialising */
    /* device */
    OC_EV_KERNEL,
    OC_EV_MEMCPY,
    OC_EV_MEMSET,
    OC_EV_DEVICE_RANGE, /* an annotation as seen by the device */
    OC_EV_COUNT
};
const char *oc_event_kind_name(unsigned kind);
static inline bool oc_event_on_device(unsigned kind)
{
    return kind >= OC_EV_KERNEL;
}

enum oc_event_flag {
    OC_EVF_LEAF = 1,  /* an operator that users know (aten::conv2d): operators inside it are its parts */
    OC_EVF_RECORD = 2 /* set by oc_timeline_finish: has a record of its own */
};

struct oc_event {
    double start_ns, dur_ns;
    double self_ns;  /* host: without events nested in it on its lane; device: as dur_ns */
    uint32_t name;   /* index into name */
    uint32_t parent; /* host: innermost event of the same lane that contains it, OC_NONE */
    uint32_t link;   /* device work: the host event that launched it; host: the operator it belongs to (the
                        nearest one with OC_EVF_RECORD, itself included); OC_NONE: none or unknown */
    uint32_t detail; /* index into detail, OC_NONE */
    uint32_t run;    /* index into run, OC_NONE: in none */
    uint16_t lane;   /* index into the profile's lanes */
    uint8_t kind;    /* enum oc_event_kind */
    uint8_t flags;   /* enum oc_event_flag */
};

struct oc_event_detail { /* shared by events with the same */
    const struct oc_type *in;
    uint32_t n_in;
    bool has_in;
    uint32_t device_index; /* launch geometry etc. are not kept; see oc_prof_kernel */
    uint64_t bytes;        /* of a copy, UINT64_MAX: unknown */
    const char *text;      /* call stack, copy kind ...; NULL */
};

struct oc_interval {
    double start_ns, end_ns;
};

/* Runs are alike: the name that followed two others last time. */
struct oc_likely_name {
    const char *text; /* NULL: none yet */
    size_t n;
    uint32_t name;
};
enum { OC_LIKELY_NAMES = 1024 };

struct oc_timeline {
    struct oc_profile *profile; /* lanes and texts */
    struct oc_event *event;     /* heap; by start, longer ones first, after oc_timeline_finish */
    size_t n_event, cap_event;
    const char **name; /* heap array of interned texts */
    uint32_t n_name, cap_name;
    struct oc_event_detail *detail; /* heap */
    uint32_t n_detail, cap_detail;
    struct oc_interval *run; /* heap; the runs of the file in order, warm-up included */
    uint32_t n_run, cap_run, first_used_run;
    bool runs_found;                            /* repeated iterations; else from events OC_EV_STEP */
    bool runs_implicit;                         /* neither: everything is one run */
    double end_ns;                              /* of the last event */
    double cpu_process_share, cpu_system_share; /* utilisation as the source says, NAN */

    struct oc_lane *lane; /* while reading; the profile gets a copy */
    uint32_t n_lane, cap_lane;
    struct oc_map name_of, detail_of, lane_of; /* while reading */
    struct oc_likely_name *likely;             /* while reading; [OC_LIKELY_NAMES] */
    uint32_t last_name, name_before;           /* the last two that were asked for */
    struct oc_arena scratch;
    int64_t base_ns; /* of the source's clock: where the first event added began */
    bool has_base, full;
    size_t max_events;
    uint32_t kinds;           /* bit 1 << kind: of the events added */
    double device_ns;         /* kernels, copies and memsets */
    double first_ns, last_ns; /* first start and last end of the events added */
    bool far;                 /* some of them lie days away */
};

/* What an importer wants of the steps after reading. */
struct oc_timeline_rules {
    bool find_runs;          /* without OC_EV_STEP: look for iterations that repeat */
    bool user_are_operators; /* without OC_EV_OPERATOR: OC_EV_USER have records */
    bool kernel_are_records; /* without those: kernels have records of their own */
    bool
        keep_call_positions; /* one record for each call within a run (the third conv2d), not for each name */
};

struct oc_timeline *oc_timeline_new(struct oc_profile *p); /* freed with oc_timeline_free */
void oc_timeline_free(struct oc_timeline *t);              /* NULL is fine */

uint32_t oc_timeline_name(struct oc_timeline *t, const char *text, size_t n);
/* The lane like this one (its name is taken over if the known one has none); texts are copied. */
uint16_t oc_timeline_lane(struct oc_timeline *t, const struct oc_lane *lane);
/* The detail of that key (any bytes that tell details apart). *is_new: the caller fills t->detail[result],
 * which is empty now. */
uint32_t oc_timeline_detail(struct oc_timeline *t, const void *key, size_t n, bool *is_new);

/* The source's clock as time of the timeline; events days away from the rest are left out. */
double oc_timeline_at(struct oc_timeline *t, int64_t ns);

/* An event with start_ns, dur_ns, name, detail, lane, kind, flags. `launch` (0: none) ties device work to the
 * event of kind OC_EV_API or OC_EV_SYNC with the same number; where there is none, `owner` (0: none) ties it
 * to the operator or annotation with the same number. False: the timeline is full, the event left out. */
bool oc_timeline_add(struct oc_timeline *t, const struct oc_event *e, uint64_t launch, uint32_t owner);

void oc_timeline_finish(struct oc_timeline *t, const struct oc_profile_opts *opts,
                        const struct oc_timeline_rules *rules);

/* Fills rec, kernel, lane, totals and runs of the profile. Buckets: "framework" (a run outside operators, on
 * its own thread), "kernels without operator" and "copies" (of the whole file), "warm-up runs", "outside
 * runs". imported_ns is the union of operators and runs by thread, computed apart from the records. */
void oc_timeline_records(struct oc_timeline *t, const struct oc_profile_opts *opts,
                         const struct oc_timeline_rules *rules);

/* Hands the timeline to its profile when events are to be kept, else frees it. */
void oc_timeline_keep(struct oc_timeline *t, const struct oc_profile_opts *opts);

/* ---- questions, after oc_timeline_finish ------------------------------------------------------------- */

/* The host event with OC_EVF_RECORD that event i belongs to, OC_NONE. */
uint32_t oc_timeline_owner(const struct oc_timeline *t, uint32_t i);

/* Which events a union is over: all bits of kinds that are set, on the lane, in the run (OC_NONE: any),
 * inside [from_ns, to_ns), to which they are cut. */
struct oc_union_of {
    uint32_t kinds; /* bit 1 << kind */
    uint32_t lane, run;
    uint32_t device; /* index of a device (lane.device_id), OC_NONE: any */
    double from_ns, to_ns;
};
/* Time in which at least one of them ran: overlaps count once. */
double oc_timeline_union(const struct oc_timeline *t, const struct oc_union_of *of);

static inline bool oc_timeline_used(const struct oc_timeline *t, uint32_t run)
{
    return run != OC_NONE && run >= t->first_used_run;
}

/* ---- inside: shared by the timeline's own files ---------------------------------------------------------
 */

/* Of a time not before the last one asked for, faster than a search: the last run that starts at or before
 * it, OC_NONE. *at: 0 at first. */
static inline uint32_t oc_timeline_run_at(const struct oc_timeline *t, uint32_t *at, double ns)
{
    while (*at < t->n_run && t->run[*at].start_ns <= ns)
        ++*at;
    return *at ? *at - 1 : OC_NONE;
}

void oc_timeline_sort(struct oc_timeline *t, double first_ns); /* and takes first_ns off all starts */
void oc_timeline_link(struct oc_timeline *t);
void oc_timeline_settle(struct oc_timeline *t, size_t from, size_t to); /* once linked */

/* A look at all events costs what it takes to bring them from memory. Steps that need nothing of later events
 * take turns with so many, which stay in the cache. */
enum { OC_TURN_EVENTS = 1 << 13 };
static inline size_t oc_timeline_turn(const struct oc_timeline *t, size_t from)
{
    return t->n_event - from > OC_TURN_EVENTS ? from + OC_TURN_EVENTS : t->n_event;
}

/* Parents (if asked for) and self times among events of these kinds that have all of `flags`: of all events
 * in turns. Self times are known at the end. */
struct oc_nesting;
struct oc_nesting *oc_nesting_begin(struct oc_timeline *t, uint32_t kinds, unsigned flags, bool parents);
void oc_nesting_go_on(struct oc_nesting *x, size_t from, size_t to);
void oc_nesting_end(struct oc_nesting *x);
void oc_timeline_find_runs(struct oc_timeline *t);

#endif
