/* Parses one event of an ONNX Runtime trace. Private to the importer. */
#ifndef OC_ORT_EVENT_H
#define OC_ORT_EVENT_H

#include "base/buf.h"
#include "base/json_read.h"
#include "profile/formats/chrome_reader.h"
#include "profile/formats/ort_trace.h"

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
    F_COUNT
};

/* Allocator statistics of an event. */
enum ort_mem { MEM_REQUESTED, MEM_REQUESTED_DELTA, MEM_IN_USE, MEM_IN_USE_DELTA, MEM_COUNT };

/* A node's events have the same arguments in every run, unless they carry thread or memory statistics. The
 * parser memoises the last arguments of each event name and skips parsing when the next ones have the same
 * text. */
struct ort_args {
    const char *text; /* as written; NULL: none yet */
    size_t n;
    bool has_key, fence; /* fence: this is a fence event, without a key */
    uint32_t key;        /* index of the event name */
    uint32_t next;       /* arguments of the event that followed last time (prediction) */
    const char *name;    /* offset of the event */
    size_t n_name;
    const char *fields; /* concatenated texts */
    uint32_t at[F_COUNT], len[F_COUNT], bytes;
};

struct ort_memo {
    struct oc_arena arena;
    struct oc_map names; /* event name to index */
    struct ort_args *item;
    uint32_t n, cap, last; /* last: arguments of the previous event */
    size_t tries, hits;
    bool off; /* memoisation does not pay off in this file */
};
struct ort_reading {
    struct ort_trace *t;
    struct oc_json *j;
    struct oc_map keys, lanes;
    struct oc_buf text, key_text;
    struct {
        uint32_t at, n;
    } field[F_COUNT];
    int64_t ts_us, dur_us, tid, pid;
    int64_t mem[MEM_COUNT];
    unsigned mem_seen; /* bit 1 << enum ort_mem; none for arguments from the memo */
    bool has_ts, has_dur, has_name;
    uint64_t where; /* byte offset of the event */
    struct ort_memo memo;
    uint32_t args; /* index of the event's arguments in the memo, OC_NONE */
    bool args_loaded;
    int64_t lane_pid, lane_tid; /* key of the lane looked up last */
    uint32_t lane;              /* that lane, OC_NONE: none yet */
    struct oc_event_faults faults;
    bool left_out; /* shapes of some nodes are not kept: too many sets differ */
};

/* The text of a field of the event read last, "" if absent. Valid until the next event. */
static inline struct oc_str ort_field(const struct ort_reading *r, unsigned f)
{
    return (struct oc_str){r->text.data ? r->text.data + r->field[f].at : "", r->field[f].n};
}

/* Reads the event at the cursor into r. False: the event is incomplete. */
bool ort_read_event(struct ort_reading *r);
/* Reads the event at the cursor into the times and r->args if it is a node event whose arguments are in
 * the memo. False: it is not, and nothing is consumed. */
bool ort_read_alike(struct ort_reading *r);
/* Loads the fields of memoised arguments into r; moves the texts. */
void ort_load_args(struct ort_reading *r);
void ort_memo_init(struct ort_memo *m);
void ort_memo_free(struct ort_memo *m);

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
bool ort_describe_work(const struct ort_reading *r, struct oc_str name, struct ort_work *w);

/* Whether node events of the provider end when the work is launched, not when it is done. has_device_work:
 * the trace has events of a device. */
bool ort_node_is_launch(const char *provider, bool has_device_work);

#endif
