/* An ONNX Runtime trace between its two stages: imp_onnxruntime.c reads the events, ort_runs.c makes runs,
 * nesting and statistics of them (ort_kernels.c those of the device). Times here are the file's microseconds.
 *
 * The file is an array with one object a line, in any order:
 *   {"cat" : "Node","pid" :1,"tid" :1,"dur" :4,"ts" :5,"ph" : "X","name" :"conv1_kernel_time","args" :
 * {...}}, cat Session: loading, initialising, model_run (one a call), SequentialExecutor::Execute (one a
 * graph); cat Node: <node>_kernel_time, up to 1.20 also <node>_fence_before and <node>_fence_after; cat
 * Kernel: device work, linked to its node by args.parent_name. */
#ifndef OC_ORT_TRACE_H
#define OC_ORT_TRACE_H

#include "profile/run_sums.h"

enum ort_kind { ORT_NODE, ORT_FENCE, ORT_KERNEL };

/* What events share: name, type, shapes. Texts are interned. */
struct ort_key {
    const char *name, *op_type, *provider; /* kernel: name, parent node, name with launch grid */
    const char *in_text, *out_text;        /* recorded types as written, NULL: not recorded */
    int64_t index;
    uint64_t param_bytes, act_bytes, out_bytes;
    uint64_t where;
    uint8_t kind;                     /* enum ort_kind */
    bool has_body;                    /* control flow: contains the events of its subgraphs */
    uint32_t last_parent, last_group; /* where its last event stood, while events are nested */
};

/* At most 32 bytes: a trace holds a million of them. */
struct ort_event {
    int64_t ts_us, dur_us;
    int64_t self_us; /* without the events nested in it */
    uint32_t key;    /* key, later its group */
    uint32_t lane;   /* thread, later its run (OC_NONE: in no complete run) */
};

struct ort_run {
    int64_t start_us, dur_us;
    uint32_t lane;
    bool used;
};

struct ort_session { /* another event of the session */
    const char *name;
    int64_t ts_us, dur_us;
    uint64_t where;
};

struct ort_trace {
    struct oc_profile *out;
    struct ort_event *event, *kernel; /* heap */
    size_t n_event, event_cap, n_kernel, kernel_cap;
    struct ort_key *key;
    size_t n_key, key_cap;
    struct ort_run *run;
    size_t n_run, run_cap;
    struct ort_session *session;
    size_t n_session, session_cap;
    struct ort_thread {
        int64_t pid, tid;
    } * lane_id; /* heap */
    uint32_t n_lane, lane_cap;
    int64_t read_us, read_kernel_us; /* durations of all events, summed while they are read */
    int64_t twice_us;                /* of these, what events hold of each other */
    uint64_t last_offset;            /* behind the last complete event */
    bool in_disorder;                /* events stand in another order than the nesting takes them */
    bool saw_fence, saw_node_index, saw_graph_index, saw_shapes, saw_memory;
};

/* Runs, nesting, statistics: fills out->rec and the totals. */
int ort_summarise(struct ort_trace *t, const struct oc_profile_opts *opts, struct oc_err *err);

/* The events in time, kept in the profile; before the statistics, which reuse fields of events. */
void ort_keep_timeline(const struct ort_trace *t, const struct oc_profile_opts *opts);

/* One group of events: a key inside a parent group. */
struct ort_group {
    uint32_t key, parent; /* parent group, OC_NONE */
    uint32_t first, n;    /* range in ort_groups.order */
    uint32_t same_name;   /* next group of that node name, OC_NONE */
    uint32_t rec;         /* its record, OC_NONE: in no used run */
    uint32_t lane;        /* of the first event */
    uint32_t start_run;   /* first used run it appears in, OC_NONE: none ... */
    int64_t start_us;     /* ... and its first start in it, from the start of the run */
};

struct ort_groups {
    struct ort_group *group;
    size_t n, cap;
    struct oc_map of;      /* (key, parent) to group */
    struct oc_map by_name; /* node name to its last group */
    struct oc_arena arena;
    uint32_t *order; /* events by group, in order of lane and start */
};

/* Busy time of runs: the union of their top-level events. */
struct ort_busy {
    int64_t busy_us, end_us;
    uint32_t lane;
    bool many_lanes;
};

/* What lies in no used run. */
struct ort_unused {
    int64_t held_us, outside_us, cut_us; /* in warm-up runs; before the last run's end; behind it */
    uint64_t n_outside, n_cut;
};

/* Sorts, nests, assigns to runs: afterwards event.key is its group and event.lane its run. busy: one a run.
 */
void ort_nest(struct ort_trace *t, struct ort_groups *g, struct ort_busy *busy, struct ort_unused *unused);
void ort_groups_free(struct ort_groups *g);

/* Index of the last run that starts at or before ts (runs in order of start), OC_NONE: none. */
uint32_t ort_run_before(const struct ort_trace *t, int64_t ts_us);

/* Records while they are made. A new one is an empty bucket. */
struct ort_recs {
    struct oc_prof_rec *rec; /* heap */
    size_t n, cap;
};
struct oc_prof_rec *ort_add_bucket(struct ort_recs *r, const char *bucket, const char *name);

/* Device time: fills kernel_ns of the records and adds the buckets of kernels that belong to none. */
void ort_attribute_kernels(struct ort_trace *t, const struct ort_groups *g, struct ort_recs *recs,
                           struct oc_run_sums *sums);

/* By lane, start, longest first, control flow first. */
static inline bool ort_before(const struct ort_event *a, const struct ort_event *b, const struct ort_key *key)
{
    if (a->lane != b->lane)
        return a->lane < b->lane;
    if (a->ts_us != b->ts_us)
        return a->ts_us < b->ts_us;
    if (a->dur_us != b->dur_us)
        return a->dur_us > b->dur_us;
    return key[a->key].has_body && !key[b->key].has_body;
}

/* In place. Fast for nearly sorted events. */
void ort_sort_events(struct ort_event *e, size_t n, const struct ort_key *key);

#endif
