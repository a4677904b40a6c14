/* rocprofv3 --output-format json: {"rocprofiler-sdk-tool": [{..}]}, one object per process:
 *
 *   agents: [{"id": {"handle": 7}, "type": 2 (a GPU), "product_name": ..}]
 *   strings: {"buffer_records": [{"kind": .., "operations": [..]}], "marker_api": [{"key": 5, "value":
 * "range"}]} kernel_symbols: [{"kernel_id": 8, "formatted_kernel_name": .., "kernel_name": ..}]
 *   buffer_records: {"kernel_dispatch": [{"start_timestamp": ns, "end_timestamp": ns, "thread_id": 1,
 *           "correlation_id": {"internal": 5}, "dispatch_info": {"agent_id": {"handle": 7}, "kernel_id": 8,
 * ..}, "stream_id": {"handle": 0}}], "memory_copy": [..], "hip_api": [..], "marker_api": [..] ..}
 *
 * A call and the work that it launched have the same internal correlation id; that of a marker is the key of
 * its text. Names come before the records that refer to them. */
#include <string.h>

#include "base/json_read.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"

#define MAX_NS    ((int64_t)1 << 52) /* sums of doubles stay exact */
#define MAX_AT_NS ((int64_t)1 << 61)
enum { MAX_DEPTH = 4 };

enum field {
    F_START,
    F_END,
    F_THREAD,
    F_CORRELATION,
    F_KERNEL,
    F_AGENT,
    F_QUEUE,
    F_STREAM,
    F_BYTES,
    F_TYPE,
    FIELDS
};

/* A number, or an object with the member "handle". */
static const struct {
    const char *key;
    enum field field;
} field_of[] = {
    {"start_timestamp", F_START}, {"end_timestamp", F_END}, {"thread_id", F_THREAD},
    {"internal", F_CORRELATION},  {"kernel_id", F_KERNEL},  {"agent_id", F_AGENT},
    {"dst_agent_id", F_AGENT},    {"queue_id", F_QUEUE},    {"stream_id", F_STREAM},
    {"bytes", F_BYTES},           {"type", F_TYPE},         {"key", F_CORRELATION},
};

struct item { /* one object of a list */
    int64_t v[FIELDS];
    uint32_t seen;    /* bit 1 << field */
    const char *name; /* interned; NULL: none */
};

struct reading {
    struct oc_json *j;
    struct oc_profile *out;
    struct oc_timeline *t;
    struct oc_arena scratch;
    struct oc_map kernels, markers; /* id to the index of a name */
    uint64_t process, work, bad;
};

static void rocprof_json_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    if (p->n && p->data[0] == '{' && oc_find(p->data, p->n, "\"rocprofiler-sdk-tool\"", 22))
        *bid = (struct oc_bid){.score = 95, .reason = "an object with rocprofiler-sdk-tool"};
}

/* ---- objects ---------------------------------------------------------------------------------------- */

/* A text: the name of the item if no better one is known. */
static void take_text(struct reading *r, struct item *x, const char *key, unsigned *best)
{
    static const char *const by_preference[] = {"formatted_kernel_name", "product_name", "value",
                                                "kernel_name", "name"};
    struct oc_str text;
    unsigned i = 0;
    while (i < OC_COUNT(by_preference) && strcmp(key, by_preference[i]) != 0)
        i++;
    if (i == OC_COUNT(by_preference) || i >= *best) {
        oc_json_skip(r->j);
    } else if (oc_json_string(r->j, &text) && text.n) {
        x->name = oc_intern(&r->out->names, text.s, text.n);
        *best = i;
    }
}

static enum field rocprof_json_field_named(const char *key)
{
    for (size_t i = 0; i < OC_COUNT(field_of); i++)
        if (strcmp(key, field_of[i].key) == 0)
            return field_of[i].field;
    return FIELDS;
}

static void read_members(struct reading *r, struct item *x, const char *parent, unsigned *best,
                         unsigned depth)
{
    struct oc_str name;
    if (!oc_json_enter(r->j))
        return;
    while (oc_json_member(r->j, &name)) {
        char key[32] = "";
        memcpy(key, name.s, name.n < sizeof(key) ? name.n : sizeof(key) - 1);
        enum oc_json_type type = oc_json_peek(r->j);
        enum field field = rocprof_json_field_named(strcmp(key, "handle") == 0 ? parent : key);
        if (type == OC_JSON_OBJECT && depth < MAX_DEPTH)
            read_members(r, x, key, best, depth + 1);
        else if (type == OC_JSON_STRING && depth == 0)
            take_text(r, x, key, best);
        else if (type == OC_JSON_NUMBER && field < FIELDS && oc_json_i64(r->j, &x->v[field]))
            x->seen |= 1u << field;
        else if (type != OC_JSON_NUMBER || field == FIELDS)
            oc_json_skip(r->j);
    }
}

static void each_item(struct reading *r, void (*take)(struct reading *r, const struct item *x))
{
    if (!oc_json_enter(r->j))
        return;
    while (oc_json_item(r->j)) {
        struct item x = {.name = NULL};
        unsigned best = UINT32_MAX;
        if (oc_json_peek(r->j) != OC_JSON_OBJECT) {
            oc_json_skip(r->j);
            continue;
        }
        read_members(r, &x, "", &best, 0);
        if (!oc_json_error(r->j, NULL) && !oc_json_truncated(r->j))
            take(r, &x);
    }
}

/* ---- names ------------------------------------------------------------------------------------------ */

static void rocprof_json_take_agent(struct reading *r, const struct item *x)
{
    if (x->v[F_TYPE] == 2 && x->name)
        oc_prof_add_device(r->out, x->name);
}

static void set_name(struct reading *r, struct oc_map *names, int64_t id, const char *text)
{
    if (text)
        oc_map_set(names, (const char *)&id, sizeof(id), oc_timeline_name(r->t, text, strlen(text)));
}

static void rocprof_json_take_symbol(struct reading *r, const struct item *x)
{
    set_name(r, &r->kernels, x->v[F_KERNEL], x->name);
}

static void take_marker_text(struct reading *r, const struct item *x)
{
    set_name(r, &r->markers, x->v[F_CORRELATION], x->name);
}

/* ---- records ---------------------------------------------------------------------------------------- */

static void rocprof_json_add(struct reading *r, const struct item *x, unsigned kind, uint32_t name,
                             const struct oc_lane *lane)
{
    struct oc_event e = {.detail = OC_NONE, .name = name, .kind = (uint8_t)kind};
    int64_t from = x->v[F_START], to = x->v[F_END];
    uint32_t both = 1u << F_START | 1u << F_END;
    if ((x->seen & both) != both || from < -MAX_AT_NS || to > MAX_AT_NS || to < from || to - from > MAX_NS) {
        r->bad++;
        return;
    }
    e.start_ns = oc_timeline_at(r->t, from);
    e.dur_ns = (double)(to - from);
    e.lane = oc_timeline_lane(r->t, lane);
    if (x->seen >> F_BYTES & 1 && x->v[F_BYTES] >= 0)
        e.detail = oc_timeline_bytes(r->t, (uint64_t)x->v[F_BYTES]);
    bool linked = kind != OC_EV_USER && x->v[F_CORRELATION] > 0;
    oc_timeline_add(r->t, &e, linked ? r->process << 48 ^ (uint64_t)x->v[F_CORRELATION] : 0, 0);
    r->work += oc_event_on_device(kind);
}

static uint32_t rocprof_json_name_of(struct reading *r, const struct oc_map *names, int64_t id,
                                     const char *otherwise)
{
    uint32_t name = oc_map_get(names, (const char *)&id, sizeof(id));
    return name == OC_NONE ? oc_timeline_name(r->t, otherwise, strlen(otherwise)) : name;
}

static struct oc_lane rocprof_json_device_lane(struct reading *r, const struct item *x)
{
    int64_t stream = x->v[x->seen >> F_STREAM & 1 ? F_STREAM : F_QUEUE];
    return oc_lane_of_stream((int64_t)r->process, x->v[F_AGENT], stream);
}

static void rocprof_json_take_kernel(struct reading *r, const struct item *x)
{
    struct oc_lane lane = rocprof_json_device_lane(r, x);
    rocprof_json_add(r, x, OC_EV_KERNEL,
                     rocprof_json_name_of(r, &r->kernels, x->v[F_KERNEL], "(unnamed kernel)"), &lane);
}

static void rocprof_json_take_copy(struct reading *r, const struct item *x)
{
    struct oc_lane lane = rocprof_json_device_lane(r, x);
    rocprof_json_add(r, x, OC_EV_MEMCPY, oc_timeline_name(r->t, "MEMORY_COPY", 11), &lane);
}

static void take_host(struct reading *r, const struct item *x, unsigned kind, uint32_t name)
{
    struct oc_lane lane = oc_lane_of_thread((int64_t)r->process, x->v[F_THREAD]);
    rocprof_json_add(r, x, kind, name, &lane);
}

static void rocprof_json_take_call(struct reading *r, const struct item *x)
{
    take_host(r, x, OC_EV_API, oc_timeline_name(r->t, "(call)", 6));
}

static void take_marker(struct reading *r, const struct item *x)
{
    take_host(r, x, OC_EV_USER, rocprof_json_name_of(r, &r->markers, x->v[F_CORRELATION], "(marker)"));
}

/* ---- file ------------------------------------------------------------------------------------------- */

/* Lists by the path of their keys. */
static const struct {
    const char *of, *key;
    void (*take)(struct reading *r, const struct item *x);
} lists[] = {
    {"", "agents", rocprof_json_take_agent},
    {"strings", "marker_api", take_marker_text},
    {"", "kernel_symbols", rocprof_json_take_symbol},
    {"buffer_records", "kernel_dispatch", rocprof_json_take_kernel},
    {"buffer_records", "memory_copy", rocprof_json_take_copy},
    {"buffer_records", "hip_api", rocprof_json_take_call},
    {"buffer_records", "marker_api", take_marker},
};

static void read_lists(struct reading *r, const char *of)
{
    struct oc_str name;
    if (!oc_json_enter(r->j))
        return;
    while (oc_json_member(r->j, &name)) {
        size_t i = 0;
        while (i < OC_COUNT(lists) && (strcmp(lists[i].of, of) != 0 || !oc_str_eq(name, lists[i].key)))
            i++;
        bool strings = oc_str_eq(name, "strings"), records = oc_str_eq(name, "buffer_records");
        if (i < OC_COUNT(lists) && oc_json_peek(r->j) == OC_JSON_ARRAY)
            each_item(r, lists[i].take);
        else if (!*of && (strings || records) && oc_json_peek(r->j) == OC_JSON_OBJECT)
            read_lists(r, strings ? "strings" : "buffer_records");
        else
            oc_json_skip(r->j);
    }
}

static void read_processes(struct reading *r)
{
    struct oc_str name;
    if (!oc_json_enter(r->j))
        return;
    while (oc_json_member(r->j, &name)) {
        if (!oc_str_eq(name, "rocprofiler-sdk-tool") || oc_json_peek(r->j) != OC_JSON_ARRAY) {
            oc_json_skip(r->j);
            continue;
        }
        if (!oc_json_enter(r->j))
            return;
        while (oc_json_item(r->j)) {
            r->process++;
            if (oc_json_peek(r->j) == OC_JSON_OBJECT)
                read_lists(r, "");
            else
                oc_json_skip(r->j);
            oc_map_free(&r->kernels);
            oc_map_free(&r->markers);
        }
    }
}

static int rocprof_json_finish(struct reading *r, struct oc_err *err)
{
    struct oc_diags *d = &r->out->diags;
    if (!r->work)
        return oc_fail(err, OC_EFORMAT,
                       "has no device work: no kernels and copies in buffer_records (record with "
                       "rocprofv3 --kernel-trace)");
    oc_prof_cut_json(r->out, r->j);
    if (r->bad)
        oc_diag_add(d, OC_WARNING, "W-bad-event", "", "%llu records without valid times were skipped",
                    (unsigned long long)r->bad);
    if (!*r->out->device)
        r->out->device = "ROCm";
    return 0;
}

static int rocprof_json_read_file(const struct oc_source *src, const struct oc_profile_opts *opts,
                                  struct oc_profile *out, struct oc_err *err)
{
    static const struct oc_timeline_rules rules = {
        .find_runs = true, .user_are_operators = true, .kernel_are_records = true};
    struct reading r = {.out = out, .t = oc_timeline_new(out), .j = oc_json_open(src->file[0].s)};
    r.kernels.arena = r.markers.arena = &r.scratch;
    out->producer = "rocprofv3 (JSON)";
    read_processes(&r);
    int rc = rocprof_json_finish(&r, err);
    oc_json_close(r.j);
    oc_map_free(&r.kernels);
    oc_map_free(&r.markers);
    oc_arena_free(&r.scratch);
    return oc_timeline_close(r.t, rc, opts, &rules);
}

const struct oc_importer oc_importer_rocprof_json = {
    .name = "rocprof_json",
    .title = "ROCm rocprofv3 JSON",
    .seen = "rocprofv3 of 2025 on MI350X",
    .lost = "counters; calls of the runtime",
    .probe = rocprof_json_probe,
    .read = rocprof_json_read_file,
};
