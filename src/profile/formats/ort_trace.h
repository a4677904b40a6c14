/* The two stages of the ONNX Runtime importer: imp_onnxruntime.c reads the events (ort_event.c: one event),
 * ort_runs.c computes runs and statistics (ort_groups.c: nesting, device kernels). Times here are microseconds as
 * in the file.
 *
 * The file is an array with one object per line, in any order:
 *
 *   {"cat" : "Node","pid" :1,"tid" :1,"dur" :4,"ts" :5,"ph" : "X","name" :"conv1_kernel_time","args" :
 *
 *   cat Session  loading, initialising, model_run (one per call), SequentialExecutor::Execute (one per graph)
 *   cat Node     <node>_kernel_time, up to 1.20 also <node>_fence_before and <node>_fence_after
 *   cat Kernel   device work, linked to its node by args.parent_name
 *   cat Api      device work of WebGPU (ort_event.c) */
#ifndef OC_ORT_TRACE_H
#define OC_ORT_TRACE_H

#include "base/arena.h"
#include "base/json_read.h"
#include "onnxcost_types.h"
#include "profile/core/records.h"
#include "profile/core/run_spread.h"
#include "profile/formats/chrome_reader.h"
#include "profile/profile.h"

#define NS_PER_US 1000

enum ort_kind { ORT_NODE, ORT_FENCE, ORT_KERNEL };

/* What events share: name, type, shapes. Texts are interned. */
struct ort_key {
    const char *text;      /* all that makes it, to compare an event with; NULL: not kept */
    struct oc_str in, out; /* recorded types as written; s NULL: not recorded */
    uint32_t n_text;
    uint32_t next;                         /* the key that followed last time, OC_NONE: none yet */
    const char *name, *op_type, *provider; /* kernel: name, parent node, name with launch grid */
    int64_t index;
    uint64_t param_bytes, act_bytes, out_bytes;
    int64_t waited_us,
        told_us; /* the first thread waited for the others; durations of the events that say so */
    uint64_t where;
    const char *part, *part_type, *graph; /* kernel: see struct ort_work; part NULL: of the node itself */
    bool encloses, own_clock;
    bool bare;                        /* its shapes are not kept */
    uint8_t kind;                     /* enum ort_kind */
    bool has_body;                    /* control flow: contains the events of its subgraphs */
    uint32_t last_parent, last_group; /* during nesting: position of its last event */
};

/* At most 32 bytes: a trace holds 10^6 of them. */
struct ort_event {
    int64_t ts_us, dur_us;
    int64_t self_us; /* duration without nested events */
    uint32_t key;    /* key index, later the group */
    uint32_t lane;   /* thread, later the run (OC_NONE: in no complete run) */
};

struct ort_run {
    int64_t start_us, dur_us;
    double busy_us, reached_us; /* interval union of its top-level events, and how far it is computed */
    uint32_t lane;              /* OC_NONE: of all */
    uint32_t next;              /* the next run of the lane, OC_NONE */
    bool used;
};

static inline int64_t ort_run_end(const struct ort_run *r)
{
    return r->start_us + r->dur_us;
}

struct ort_session { /* another event of the session */
    const char *name;
    int64_t ts_us, dur_us;
    uint64_t where;
};

struct ort_trace {
    struct oc_profile *out;
    struct ort_event *event, *kernel; /* on the heap */
    size_t n_event, event_cap, n_kernel, kernel_cap;
    size_t n_first; /* events before the end of the first run */
    struct ort_key *key;
    size_t n_key, key_cap;
    struct ort_run *run;
    size_t n_run, run_cap;
    struct ort_session *session;
    size_t n_session, session_cap;
    struct oc_lane *lane; /* on the heap */
    uint32_t n_lane, lane_cap;
    int64_t read_us, read_kernel_us; /* sum of the durations of all events, computed while reading */
    int64_t twice_us;                /* the part of it that is counted twice because events are nested */
    bool in_disorder;                /* events are not in nesting order */
    bool saw_fence, saw_node_index, saw_graph_index, saw_shapes, saw_memory;
};

/* Computes runs, nesting and statistics: fills out->rec and the totals. */
void oc_ort_summarise(struct ort_trace *t, const struct oc_profile_opts *opts);

/* Adds the events to the profile's timeline. Call before the statistics, which reuse fields of the events. */
void oc_ort_keep_timeline(const struct ort_trace *t, const struct oc_profile_opts *opts);

/* One group of events: a key inside a parent group. */
struct ort_group {
    uint32_t key, parent; /* parent group, OC_NONE */
    uint32_t first, n;    /* range in ort_groups.order */
    uint32_t same_name;   /* next group of that node name, OC_NONE */
    uint32_t rec;         /* its record, OC_NONE: in no used run */
    uint32_t lane;        /* of the first event */
};

struct ort_groups {
    struct ort_group *group;
    size_t n, cap;
    struct oc_map of;      /* (key, parent) to group */
    struct oc_map by_name; /* node name to its last group */
    struct oc_arena arena;
    uint32_t *order; /* events by group, sorted by lane and start */
};

/* Sorts and nests the events and assigns them to runs: afterwards event.key is the group and event.lane
 * the run. */
void oc_ort_nest(struct ort_trace *t, struct ort_groups *g);
void oc_ort_groups_free(struct ort_groups *g);

/* Time of events that are in no used run, and their number. */
struct ort_left {
    int64_t us;
    uint64_t n;
};

int64_t oc_ort_last_end(const struct ort_trace *t); /* of the runs, INT64_MIN: none */
/* Device time: sets kernel_ns of the records and adds buckets for kernels without a node. */
void oc_ort_attribute_kernels(struct ort_trace *t, const struct ort_groups *g, struct oc_rec_list *recs,
                              struct oc_run_sums *sums, const struct oc_run_choice *choice);

/* Sorts by lane, start, longest first, control flow first. */
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

/* ---- ort event -------------------------------------------------------------------------------------- */

/* Parses one event of an ONNX Runtime trace. Private to the importer. */

/* Texts of an event stored until it is complete: copied, because a view is valid only until the next call. */
enum ort_field {
    F_CAT,
    F_NAME,
    F_OP,
    F_PROVIDER,
    F_INDEX,
    F_PARAM,
    F_ACT,
    F_OUT_SIZE,
    F_IN,
    F_OUT,
    F_PARENT,
    F_STREAM,
    F_GRID_X,
    F_GRID_Y,
    F_GRID_Z,
    F_BLOCK_X,
    F_BLOCK_Y,
    F_BLOCK_Z,
    F_NODE_NAME,
    F_OV_TYPE,
    F_OV_STATUS,
    F_QNN_TYPE,
    F_QNN_LEVEL,
    F_QNN_GRAPH,
    F_QNN_UNIT,
    F_CACHE_KEY,
    F_STARTED, /* written by run/record_files.c: struct oc_prof_machine */
    F_TURNS_ID,
    F_TURN_NS,
    F_PROCESSORS,
    F_THREADS,
    F_OTHERS,
    F_PROBE_NS,
    F_PROBE_FASTEST_NS,
    F_SESSION_NS,
    F_FIRST_RUN_NS,
    F_THREAD_STATS,
    F_COUNT
};

/* Allocator statistics of an event. */
enum ort_mem { MEM_REQUESTED, MEM_REQUESTED_DELTA, MEM_IN_USE, MEM_IN_USE_DELTA, MEM_COUNT };

struct ort_reading {
    struct ort_trace *t;
    struct oc_json *j;
    struct oc_map keys, lanes;
    struct oc_buf text, key_text;
    struct oc_str field[F_COUNT]; /* valid until the next event; n 0: absent */
    size_t at[F_COUNT];           /* while the reader collects the texts: position in `text` */
    size_t most_text;             /* longest text that is accepted */
    int64_t ts_us, dur_us, tid, pid;
    int64_t mem[MEM_COUNT];
    unsigned mem_seen; /* bit 1 << enum ort_mem */
    bool has_ts, has_dur, has_name;
    uint64_t where;             /* byte offset of the event */
    uint32_t last_key;          /* of the node event before, OC_NONE */
    int64_t lane_pid, lane_tid; /* key of the lane looked up last */
    uint32_t lane;              /* that lane, OC_NONE: none yet */
    struct oc_event_faults faults;
    bool left_out; /* shapes of some nodes are not kept: too many sets differ */
};

/* The text of a field of the event read last, "" if absent. Valid until the next event. */
static inline struct oc_str ort_field(const struct ort_reading *r, unsigned f)
{
    return r->field[f].n ? r->field[f] : (struct oc_str){"", 0};
}

/* Reads the event at the cursor into r. False: the event is incomplete. */
bool oc_ort_read_event(struct ort_reading *r);
/* The same, if it has the layout that the runtime writes: its length, of which nothing is consumed; 0: it has not. */
size_t oc_ort_scan_event(struct ort_reading *r);

/* Recorded types, [{"float":[1,3,48,192]},{"int64":[]}]: one object with one member per tensor. */
struct ort_types {
    const struct oc_type *type;
    uint32_t n;
};
struct ort_types oc_ort_parse_types(struct oc_arena *a, const char *text);

/* ---- ort providers ---------------------------------------------------------------------------------- */

/* Meaning of the device work that execution providers add to an ONNX Runtime trace. Private to the importer.
 */

struct ort_work {
    struct oc_str parent; /* name of the node's event, "" if not recorded */
    struct oc_str graph;  /* otherwise: op type of the node (a partition), "" if not recorded */
    struct oc_str part,
        part_type;  /* operator of the provider inside the node, "": the work of the node itself */
    bool encloses;  /* contains the parts */
    bool own_clock; /* ts may be on another clock than the host events */
};

/* False: the event has no time of its own. */
bool oc_ort_describe_work(const struct ort_reading *r, struct oc_str name, struct ort_work *w);

/* Whether node events of the provider end when the work is launched, not when it is done. has_device_work:
 * the trace has events of a device. */
bool oc_ort_node_is_launch(const char *provider, bool has_device_work);

#endif
