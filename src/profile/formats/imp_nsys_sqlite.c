/* Nsight Systems, `nsys export --type sqlite`. Any table may be missing; newer versions add columns.
 *
 *   StringIds(id, value)
 *   CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, demangledName,
 *                              shortName, graphNodeId ...)
 *   CUPTI_ACTIVITY_KIND_MEMCPY(.., bytes, copyKind), .._MEMSET(.., bytes)
 *   CUPTI_ACTIVITY_KIND_GRAPH_TRACE: graphs launched as a unit, without their kernels
 *   CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId): runtime and driver calls
 *   NVTX_EVENTS(start, end, eventType, text, textId, globalTid, domainId): eventType 59 is a push/pop range,
 *                              60 one between two calls, on any threads, 75 the name of a domain
 *   TARGET_INFO_GPU(name, smCount, clockRate, memoryBandwidth, cuDevice), META_DATA_EXPORT(name, value)
 *
 * Times are nanoseconds; globalTid is process << 24 | thread, globalPid the same with thread 0. Device
 * work belongs to the NVTX range around the call that launched it: same process and correlationId. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost/profile.h"
#include "profile/core/nvtx.h"
#include "profile/core/timeline.h"
#include "profile/sqlite_rows.h"

#define MAX_STRINGS ((int64_t)1 << 26)
#define MAX_NS      ((int64_t)1 << 52) /* sums of doubles stay exact */
#define NVTX_RANGE  59
#define NVTX_SPAN   60
#define NVTX_DOMAIN 75

static void nsys_sqlite_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    static const char *const table[] = {"CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS", "TARGET_INFO_", "StringIds",
                                        "META_DATA_EXPORT"};
    if (p->n < 100 || memcmp(p->data, "SQLite format 3", 16) != 0)
        return;
    *bid = (struct oc_bid){.score = 30, .reason = "SQLite file"};
    for (size_t i = 0; i < OC_COUNT(table); i++)
        if (oc_find(p->data, p->n, table[i], strlen(table[i])))
            *bid = (struct oc_bid){.score = 95, .reason = "SQLite file with tables of Nsight Systems"};
}

/* A call that launched work. Sorted by id; kernels are in nearly the same order, so lookups continue from
 * the last match. */
struct call { /* 12 bytes: there are as many as launches */
    uint32_t correlation;
    uint32_t at; /* index of its range, or of its run if it has no range */
    uint16_t process, in_range;
};

struct reading {
    struct oc_sqlite *db;
    struct oc_profile *out;
    struct oc_timeline *launches;
    struct oc_ranges *ranges;
    struct oc_timeline *timeline; /* NULL: events are not stored */
    const char **string;          /* indexed by id, NULL: none; interned */
    size_t n_string;
    struct oc_map far_strings; /* ids too large for the table, mapped to an index into far */
    const char **far;
    size_t n_far, far_cap;
    struct oc_arena scratch;
    struct call *call;
    size_t n_call, call_cap, at;
    bool unsorted_calls;
    struct oc_map processes; /* global id to a small index */
    int64_t last_process;
    uint32_t last_process_id;
    int64_t last_lane[3];
    uint16_t last_lane_id;
    bool has_lane;
    int64_t end_ns; /* lane of the last launch */
    uint8_t kind;   /* column of the table being read */
    const char *no_name;
    uint64_t in_graph, whole_graphs, bad, spans;
    const char *span; /* the first one */
};

/* ---- cells ------------------------------------------------------------------------------------------ */

/* Reads start and duration. False: not valid times. */
static bool nsys_sqlite_read_times(struct reading *r, const struct oc_sqlite_cell *c, double *start_ns,
                                   double *dur_ns)
{
    if (c[0].kind != OC_CELL_INT || c[1].kind != OC_CELL_INT || c[0].i < -MAX_NS || c[1].i > MAX_NS ||
        c[1].i < c[0].i) {
        r->bad++;
        return false;
    }
    *start_ns = (double)c[0].i;
    *dur_ns = (double)(c[1].i - c[0].i);
    return true;
}

static const char *string_of(const struct reading *r, const struct oc_sqlite_cell *id)
{
    if (id->kind != OC_CELL_INT)
        return NULL;
    if (id->i >= 0 && (uint64_t)id->i < r->n_string)
        return r->string[id->i];
    uint32_t at = oc_map_get(&r->far_strings, (const char *)&id->i, sizeof(id->i));
    return at == OC_NONE ? NULL : r->far[at];
}

/* ---- strings and metadata --------------------------------------------------------------------------- */

static int nsys_sqlite_take_string(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    if (c[0].kind != OC_CELL_INT || c[1].kind != OC_CELL_TEXT)
        return 0;
    const char *text = oc_cell_text(&c[1], &r->out->names);
    if (c[0].i >= 0 && (size_t)c[0].i <= 2 * r->n_string + 1024 && c[0].i < MAX_STRINGS) {
        if ((size_t)c[0].i >= r->n_string) {
            size_t n = 2 * r->n_string + 1025;
            r->string = oc_xrealloc(r->string, n * sizeof(*r->string));
            memset(r->string + r->n_string, 0, (n - r->n_string) * sizeof(*r->string));
            r->n_string = n;
        }
        r->string[c[0].i] = text;
        return 0;
    }
    oc_map_set(&r->far_strings, (const char *)&c[0].i, sizeof(c[0].i), (uint32_t)r->n_far);
    OC_PUSH(r->far, r->n_far, r->far_cap) = text;
    return 0;
}

static int take_version(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    if (c[0].kind == OC_CELL_TEXT && c[1].kind == OC_CELL_TEXT && c[0].n == strlen("EXPORT_SCHEMA_VERSION") &&
        memcmp(c[0].s, "EXPORT_SCHEMA_VERSION", c[0].n) == 0)
        r->out->producer = oc_printf(&r->out->arena, "Nsight Systems, export schema %.*s",
                                     (int)(c[1].n < 40 ? c[1].n : 40), c[1].s);
    return 0;
}

/* Whether device work ran on a CUDA device; all did where the file does not say. */
static bool has_worked(const struct oc_profile *p, int64_t device)
{
    bool known = false;
    for (uint32_t i = 0; i < p->n_lane; i++) {
        if (p->lane[i].device && p->lane[i].device_id == device)
            return true;
        known |= p->lane[i].device && p->lane[i].device_id != OC_NO_ID;
    }
    return !known || device == OC_NO_ID;
}

static int take_gpu(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    struct oc_profile *p = r->out;
    const char *name = oc_cell_text(&c[0], &r->out->names);
    if (!has_worked(p, oc_cell_int(&c[4], OC_NO_ID)) || !oc_prof_add_device(p, name))
        return 0;
    int64_t sms = oc_cell_int(&c[1], 0), hz = oc_cell_int(&c[2], 0), bytes = oc_cell_int(&c[3], 0);
    if (sms > 0 && hz > 0 && bytes > 0)
        oc_diag_add(&p->diags, OC_INFO, "I-device", name,
                    "%lld SMs at up to %.0f MHz, memory bandwidth %.1f GB/s (see also --hw)", (long long)sms,
                    (double)hz / 1e6, (double)bytes / 1e9);
    return 0;
}

static int nsys_sqlite_read_facts(struct reading *r, struct oc_err *err)
{
    static const struct oc_sqlite_column strings[] = {{"id", true}, {"value", true}};
    static const struct oc_sqlite_column versions[] = {{"name", true}, {"value", true}};
    r->out->producer = "Nsight Systems";
    return oc_sqlite_scan(r->db, "StringIds", strings, OC_COUNT(strings), nsys_sqlite_take_string, r, err) ||
                   oc_sqlite_scan(r->db, "META_DATA_EXPORT", versions, OC_COUNT(versions), take_version, r,
                                  err)
               ? -1
               : 0;
}

/* After the device work: of several devices, those that worked. */
static int read_gpus(struct reading *r, struct oc_err *err)
{
    static const struct oc_sqlite_column gpus[] = {{"name", false},
                                                   {"smCount", false},
                                                   {"clockRate", false},
                                                   {"memoryBandwidth", false},
                                                   {"cuDevice", false}};
    return oc_sqlite_scan(r->db, "TARGET_INFO_GPU", gpus, OC_COUNT(gpus), take_gpu, r, err);
}

/* ---- ranges ----------------------------------------------------------------------------------------- */

static int64_t process_of(int64_t global_id)
{
    return global_id & ~(int64_t)0xffffff;
}

/* The launches and the events have the same lanes. */
static uint16_t nsys_sqlite_add_lane(struct reading *r, const struct oc_lane *lane)
{
    uint16_t id = oc_timeline_lane(r->launches, lane);
    return r->timeline ? oc_timeline_lane(r->timeline, lane) : id;
}

/* Ranges that may overlap and end on another thread: they are annotations, and no work is theirs alone. */
static void take_span(struct reading *r, const struct oc_sqlite_cell *c, const char *text, int64_t thread)
{
    int64_t end_ns = oc_cell_int(&c[1], INT64_MAX);
    struct oc_lane lane = oc_lane_of_thread(thread >> 24 & 0xffffff, thread & 0xffffff);
    r->span = r->spans++ ? r->span : text;
    if (!r->timeline || c[0].i < -MAX_NS || end_ns > MAX_NS || end_ns < c[0].i)
        return;
    oc_timeline_add(r->timeline,
                    &(struct oc_event){.start_ns = oc_timeline_at(r->timeline, c[0].i),
                                       .dur_ns = (double)(end_ns - c[0].i),
                                       .name = oc_timeline_name(r->timeline, text, strlen(text)),
                                       .detail = OC_NONE,
                                       .lane = nsys_sqlite_add_lane(r, &lane),
                                       .kind = OC_EV_USER},
                    0, 0);
}

static int nsys_sqlite_take_range(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    int64_t type = oc_cell_int(&c[2], NVTX_RANGE), thread = oc_cell_int(&c[5], 0),
            domain = oc_cell_int(&c[6], 0);
    const char *text = c[3].kind == OC_CELL_TEXT ? oc_cell_text(&c[3], &r->out->names) : string_of(r, &c[4]);
    if (type == NVTX_DOMAIN && text)
        oc_ranges_domain(r->ranges, process_of(thread), domain, text);
    if (type == NVTX_SPAN && text && c[0].kind == OC_CELL_INT)
        take_span(r, c, text, thread);
    if (type != NVTX_RANGE || c[0].kind != OC_CELL_INT || c[0].i < -MAX_NS || c[0].i > MAX_NS)
        return 0;
    int64_t end_ns = oc_cell_int(&c[1], INT64_MAX);
    oc_ranges_add(r->ranges, process_of(thread), thread, domain, text ? text : "", c[0].i,
                  end_ns > MAX_NS ? INT64_MAX : end_ns);
    return 0;
}

static int read_ranges(struct reading *r, struct oc_err *err)
{
    static const struct oc_sqlite_column column[] = {
        {"start", true},   {"end", false},       {"eventType", false}, {"text", false},
        {"textId", false}, {"globalTid", false}, {"domainId", false}};
    return oc_sqlite_scan(r->db, "NVTX_EVENTS", column, OC_COUNT(column), nsys_sqlite_take_range, r, err);
}

/* ---- runtime calls ---------------------------------------------------------------------------------- */

#define MAX_PROCESSES 65535

/* The process number; call ids are 32 bits wide. */
static uint16_t process_number(struct reading *r, int64_t global_id)
{
    int64_t process = process_of(global_id);
    if (process != r->last_process || !r->processes.n) {
        r->last_process_id = r->processes.n < MAX_PROCESSES ? r->processes.n : MAX_PROCESSES;
        r->last_process = process;
        oc_map_add(&r->processes, (const char *)&process, sizeof(process), &r->last_process_id, NULL);
    }
    return (uint16_t)r->last_process_id;
}

static int compare_calls(const struct call *x, const struct call *y)
{
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int nsys_sqlite_by_id(const void *a, const void *b)
{
    return compare_calls(a, b);
}

/* The key that a call and the work it launched share. */
static uint64_t launch_id(struct reading *r, int64_t global_id, int64_t correlation)
{
    return (uint64_t)(process_number(r, global_id) + 1u) << 32 | (uint32_t)correlation;
}

static void nsys_sqlite_add_call(struct reading *r, const struct oc_sqlite_cell *c)
{
    struct oc_timeline *t = r->timeline;
    const char *name = string_of(r, &c[4]);
    struct oc_lane lane = oc_lane_of_thread(c[2].i >> 24 & 0xffffff, c[2].i & 0xffffff);
    int64_t end_ns = oc_cell_int(&c[1], c[0].i);
    if (c[0].i < -MAX_NS || end_ns > MAX_NS || end_ns < c[0].i)
        return;
    name = name ? name : "(call)";
    oc_timeline_add(t,
                    &(struct oc_event){.start_ns = oc_timeline_at(t, c[0].i),
                                       .dur_ns = (double)(end_ns - c[0].i),
                                       .name = oc_timeline_name(t, name, strlen(name)),
                                       .detail = OC_NONE,
                                       .lane = nsys_sqlite_add_lane(r, &lane),
                                       .kind = strstr(name, "Synchronize") ? OC_EV_SYNC : OC_EV_API},
                    launch_id(r, c[2].i, c[3].i), 0);
}

static int nsys_sqlite_take_call(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    if (c[0].kind != OC_CELL_INT || c[2].kind != OC_CELL_INT || c[3].kind != OC_CELL_INT)
        return 0;
    if (r->timeline)
        nsys_sqlite_add_call(r, c);
    if (!oc_ranges_count(r->ranges)) /* no work can be linked through it */
        return 0;
    struct call x = {.correlation = (uint32_t)c[3].i};
    x.at = oc_ranges_find(r->ranges, c[2].i, c[0].i, oc_cell_int(&c[1], c[0].i));
    x.in_range = x.at != OC_NONE;
    if (!x.in_range)
        x.at = oc_ranges_run_before(r->ranges, c[0].i);
    if (x.at == OC_NONE)
        return 0;
    x.process = process_number(r, c[2].i);
    r->unsorted_calls |= r->n_call && compare_calls(&r->call[r->n_call - 1], &x) > 0;
    OC_PUSH(r->call, r->n_call, r->call_cap) = x;
    return 0;
}

static int read_calls(struct reading *r, struct oc_err *err)
{
    static const struct oc_sqlite_column column[] = {
        {"start", true}, {"end", true}, {"globalTid", false}, {"correlationId", false}, {"nameId", false}};
    if (!oc_ranges_count(r->ranges) && !r->timeline) /* no work can be linked through them */
        return 0;
    int rc = oc_sqlite_scan(r->db, "CUPTI_ACTIVITY_KIND_RUNTIME", column, OC_COUNT(column),
                            nsys_sqlite_take_call, r, err);
    if (r->unsorted_calls)
        qsort(r->call, r->n_call, sizeof(*r->call), nsys_sqlite_by_id);
    return rc;
}

/* The first call with the id; continues from the last match, since kernels come in nearly the order of
 * their calls. */
static const struct call *find_call(struct reading *r, int64_t global_id, int64_t correlation)
{
    struct call wanted = {.correlation = (uint32_t)correlation, .process = process_number(r, global_id)};
    size_t low = 0, high = r->n_call;
    for (unsigned i = 0; i < 4 && r->at + i < r->n_call; i++)
        if (compare_calls(&r->call[r->at + i], &wanted) == 0) {
            r->at += i;
            return &r->call[r->at];
        }
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare_calls(&r->call[mid], &wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == r->n_call || compare_calls(&r->call[low], &wanted) != 0)
        return NULL;
    r->at = low;
    return &r->call[low];
}

/* ---- device work ------------------------------------------------------------------------------------ */

enum { START, END, DEVICE, STREAM, CORRELATION, PROCESS, COMMON, SHAPE_COLUMNS = 6 };

static uint16_t nsys_sqlite_lane_of(struct reading *r, const struct oc_sqlite_cell *c)
{
    int64_t id[3] = {oc_cell_int(&c[PROCESS], OC_NO_ID), oc_cell_int(&c[DEVICE], OC_NO_ID),
                     oc_cell_int(&c[STREAM], OC_NO_ID)};
    if (!r->has_lane || memcmp(id, r->last_lane, sizeof(id)) != 0) {
        memcpy(r->last_lane, id, sizeof(id));
        int64_t process = id[0] == OC_NO_ID ? id[0] : id[0] >> 24 & 0xffffff;
        struct oc_lane lane = oc_lane_of_stream(process, id[1], id[2]);
        r->last_lane_id = nsys_sqlite_add_lane(r, &lane);
        r->has_lane = true;
    }
    return r->last_lane_id;
}

static void add_launch_event(struct reading *r, const struct oc_sqlite_cell *c, const struct oc_launch *x)
{
    struct oc_timeline *t = r->timeline;
    uint32_t detail = OC_NONE;
    r->end_ns = c[END].i > r->end_ns ? c[END].i : r->end_ns;
    if (!isnan(x->bytes)) {
        detail = oc_timeline_bytes(t, (uint64_t)x->bytes);
    } else if (x->shape) {
        bool is_new;
        detail = oc_timeline_detail(t, &x->shape, sizeof(x->shape), &is_new);
    }
    oc_timeline_add(
        t,
        &(struct oc_event){.start_ns = oc_timeline_at(t, c[START].i),
                           .dur_ns = x->dur_ns,
                           .name = oc_timeline_name(t, x->name, strlen(x->name)),
                           .detail = detail,
                           .lane = x->lane,
                           .kind = x->kind},
        c[CORRELATION].kind == OC_CELL_INT ? launch_id(r, oc_cell_int(&c[PROCESS], 0), c[CORRELATION].i) : 0,
        0);
}

/* Sorts the events; the records and their runs stay unchanged. */
static void finish_timeline(struct reading *r, const struct oc_profile_opts *opts)
{
    static const struct oc_timeline_rules rules = {.find_runs = true, .kernel_are_records = true};
    struct oc_profile *p = r->out;
    uint32_t total = p->runs_total, used = p->runs_used;
    enum oc_runs_from from = p->runs_from;
    const char *confidence = p->runs_confidence;
    size_t told = p->diags.n;
    if (!r->timeline)
        return;
    oc_timeline_finish(r->timeline, opts, &rules);
    p->runs_total = total;
    p->runs_used = used;
    p->runs_from = from;
    p->runs_confidence = confidence;
    oc_diags_drop(&p->diags, told,
                  " W-no-run W-warmup I-runs-by-repetition "); /* the records have reported them */
    oc_timeline_keep(r->timeline, opts);
    r->timeline = NULL;
}

static int nsys_sqlite_take_launch(struct reading *r, const struct oc_sqlite_cell *c, const char *name,
                                   uint32_t shape, double bytes)
{
    struct oc_launch x = {.name = name,
                          .label = OC_NONE,
                          .run = OC_NONE,
                          .shape = shape,
                          .kind = r->kind,
                          .bytes = bytes,
                          .flop = (double)NAN};
    if (!nsys_sqlite_read_times(r, c, &x.start_ns, &x.dur_ns))
        return 0;
    x.lane = nsys_sqlite_lane_of(r, c);
    const struct call *call = NULL;
    if (c[CORRELATION].kind == OC_CELL_INT && r->n_call)
        call = find_call(r, oc_cell_int(&c[PROCESS], 0), c[CORRELATION].i);
    if (call && call->in_range) {
        x.label = oc_ranges_label(r->ranges, call->at);
        x.run = oc_ranges_run(r->ranges, call->at);
        if (x.run == OC_NONE)
            x.run = oc_ranges_run_before(r->ranges, oc_ranges_start(r->ranges, call->at));
    } else if (call) {
        x.run = call->at;
    }
    oc_timeline_launch(r->launches, &x);
    if (r->timeline)
        add_launch_event(r, c, &x);
    return 0;
}

/* A hash of grid and block, never 0 (FNV-1a). */
static uint32_t shape_of(const struct oc_sqlite_cell *c)
{
    uint32_t hash = 2166136261u;
    for (unsigned i = 0; i < SHAPE_COLUMNS; i++)
        hash = (hash ^ (uint32_t)oc_cell_int(&c[i], 0)) * 16777619u;
    return hash ? hash : 1;
}

static int nsys_sqlite_take_kernel(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    const char *name = string_of(r, &c[COMMON]);
    name = name ? name : string_of(r, &c[COMMON + 1]);
    r->in_graph += c[COMMON + 2].kind == OC_CELL_INT;
    return nsys_sqlite_take_launch(r, c, name ? name : r->no_name, shape_of(c + COMMON + 3), (double)NAN);
}

static int nsys_sqlite_take_copy(void *user, const struct oc_sqlite_cell *c)
{
    /* CUpti_ActivityMemcpyKind */
    static const char *const name[] = {NULL,
                                       "[CUDA memcpy Host-to-Device]",
                                       "[CUDA memcpy Device-to-Host]",
                                       "[CUDA memcpy Host-to-Array]",
                                       "[CUDA memcpy Array-to-Host]",
                                       "[CUDA memcpy Array-to-Array]",
                                       "[CUDA memcpy Array-to-Device]",
                                       "[CUDA memcpy Device-to-Array]",
                                       "[CUDA memcpy Device-to-Device]",
                                       "[CUDA memcpy Host-to-Host]",
                                       "[CUDA memcpy Peer-to-Peer]"};
    struct reading *r = user;
    int64_t kind = oc_cell_int(&c[COMMON + 1], 0), bytes = oc_cell_int(&c[COMMON], -1);
    const char *text = kind > 0 && kind < (int64_t)OC_COUNT(name) ? name[kind] : "[CUDA memcpy]";
    return nsys_sqlite_take_launch(r, c, oc_intern(&r->out->names, text, strlen(text)), 0,
                                   bytes >= 0 ? (double)bytes : (double)NAN);
}

static int take_memset(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    int64_t bytes = oc_cell_int(&c[COMMON], -1);
    return nsys_sqlite_take_launch(r, c, oc_intern(&r->out->names, "[CUDA memset]", 13), 0,
                                   bytes >= 0 ? (double)bytes : (double)NAN);
}

static int take_graph(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    char text[40];
    int n = snprintf(text, sizeof(text), "CUDA graph %lld", (long long)oc_cell_int(&c[COMMON], 0));
    r->whole_graphs++;
    return nsys_sqlite_take_launch(r, c, oc_intern(&r->out->names, text, (size_t)n), 0, (double)NAN);
}

static int read_work(struct reading *r, struct oc_err *err)
{
#define COMMON_COLUMNS                                                                                       \
    {"start", true}, {"end", true}, {"deviceId", false}, {"streamId", false}, {"correlationId", false},      \
    {                                                                                                        \
        "globalPid", false                                                                                   \
    }
    static const struct oc_sqlite_column kernel[] = {
        COMMON_COLUMNS,    {"demangledName", false}, {"shortName", false}, {"graphNodeId", false},
        {"gridX", false},  {"gridY", false},         {"gridZ", false},     {"blockX", false},
        {"blockY", false}, {"blockZ", false}};
    static const struct oc_sqlite_column copy[] = {COMMON_COLUMNS, {"bytes", false}, {"copyKind", false}};
    static const struct oc_sqlite_column fill[] = {COMMON_COLUMNS, {"bytes", false}};
    static const struct oc_sqlite_column graph[] = {COMMON_COLUMNS, {"graphId", false}};
    static const struct {
        const char *table;
        const struct oc_sqlite_column *column;
        size_t n_column;
        int (*take)(void *user, const struct oc_sqlite_cell *c);
        uint8_t kind;
    } tables[] = {
        {"CUPTI_ACTIVITY_KIND_KERNEL", kernel, OC_COUNT(kernel), nsys_sqlite_take_kernel, OC_EV_KERNEL},
        {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph, OC_COUNT(graph), take_graph, OC_EV_KERNEL},
        {"CUPTI_ACTIVITY_KIND_MEMCPY", copy, OC_COUNT(copy), nsys_sqlite_take_copy, OC_EV_MEMCPY},
        {"CUPTI_ACTIVITY_KIND_MEMSET", fill, OC_COUNT(fill), take_memset, OC_EV_MEMSET},
    };
    for (size_t i = 0; i < OC_COUNT(tables); i++) {
        r->kind = tables[i].kind;
        r->at = 0;
        if (oc_sqlite_scan(r->db, tables[i].table, tables[i].column, tables[i].n_column, tables[i].take, r,
                           err))
            return -1;
    }
    return 0;
}

/* ---- file ------------------------------------------------------------------------------------------- */

static void nsys_sqlite_add_warnings(const struct reading *r)
{
    struct oc_diags *d = &r->out->diags;
    if (r->in_graph)
        oc_diag_add(
            d, OC_WARNING, "W-cuda-graph", "",
            "%llu kernels were replayed by CUDA graphs: no runtime call launched them one by one, so they "
            "are attributed to the "
            "launch of the graph and not to layers (record without graphs for times per layer)",
            (unsigned long long)r->in_graph);
    if (r->whole_graphs)
        oc_diag_add(
            d, OC_WARNING, "W-cuda-graph", "",
            "%llu launches of CUDA graphs were recorded as a unit, without their kernels (record with "
            "--cuda-graph-trace=node to see them)",
            (unsigned long long)r->whole_graphs);
    if (r->spans)
        oc_diag_add(
            d, OC_WARNING, "W-start-end-ranges", "",
            "%llu NVTX Start/End ranges ('%s' ...) may overlap and end on another thread: no kernel is "
            "attributed to them (the summary lists them as annotations; push/pop ranges have rows)",
            (unsigned long long)r->spans, r->span);
    if (r->bad)
        oc_diag_add(d, OC_WARNING, "W-bad-event", "", "%llu rows without valid times were skipped",
                    (unsigned long long)r->bad);
    if (r->launches->n_event && !oc_ranges_count(r->ranges))
        oc_diag_add(d, OC_INFO, "I-no-nvtx", "",
                    "no NVTX ranges: kernels cannot be attributed to layers (record with --trace=cuda,nvtx)");
}

static int check_tables(struct reading *r, struct oc_err *err)
{
    static const char *const work[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                       "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"};
    int there = 0;
    for (size_t i = 0; i < OC_COUNT(work) && !there; i++)
        there = oc_sqlite_has_table(r->db, work[i], err);
    if (there)
        return there < 0 ? -1 : 0;
    there = oc_sqlite_has_table(r->db, "StringIds", err);
    int calls = there < 0 ? -1 : oc_sqlite_has_table(r->db, "CUPTI_ACTIVITY_KIND_RUNTIME", err);
    if (calls < 0)
        return -1;
    return oc_fail(
        err, OC_EFORMAT, "%s",
        calls   ? "Nsight Systems recorded no device work, only calls of CUDA: the program launched no "
                  "kernel before it ended, or the driver reported none (see the diagnostics of the report)"
        : there ? "Nsight Systems recorded no device work: the table CUPTI_ACTIVITY_KIND_KERNEL is "
                  "missing (record with --trace=cuda,nvtx)"
                : "SQLite file without the tables of Nsight Systems (StringIds, "
                  "CUPTI_ACTIVITY_KIND_KERNEL)");
}

static int nsys_sqlite_read_all(struct reading *r, const struct oc_profile_opts *opts, struct oc_err *err)
{
    if (check_tables(r, err) || nsys_sqlite_read_facts(r, err) || read_ranges(r, err))
        return -1;
    oc_ranges_finish(r->ranges);
    if (read_calls(r, err) || read_work(r, err))
        return -1;
    if (r->timeline)
        oc_ranges_events(r->ranges, r->timeline, r->end_ns);
    if (!r->launches->n_event)
        return oc_fail(err, OC_EFORMAT, "has no device work: the tables of kernels and copies are empty");
    nsys_sqlite_add_warnings(r);
    free(r->call);
    r->call = NULL;
    uint32_t n_run = oc_ranges_runs(r->ranges);
    bool no_ranges = !oc_ranges_count(r->ranges);
    oc_ranges_host_times(r->ranges);
    oc_ranges_free(r->ranges);
    r->ranges = NULL;
    oc_timeline_launches_end(r->launches, opts, n_run, no_ranges);
    finish_timeline(r, opts);
    return read_gpus(r, err);
}

static int nsys_sqlite_read_file(const struct oc_source *src, const struct oc_profile_opts *opts,
                                 struct oc_profile *out, struct oc_err *err)
{
    struct reading r = {.out = out, .no_name = oc_intern(&out->names, "(unnamed kernel)", 16)};
    r.far_strings.arena = r.processes.arena = &r.scratch;
    r.launches = oc_timeline_new(out);
    r.ranges = oc_ranges_new(out, r.launches);
    r.timeline = opts->keep_events ? oc_timeline_new(out) : NULL;
    int rc = oc_sqlite_open_stream(src->file[0].s, &out->limits, &r.db, err);
    if (rc == 0) {
        oc_sqlite_stop_on(r.db, opts->stop);
        rc = nsys_sqlite_read_all(&r, opts, err);
        out->stopped = oc_sqlite_stopped(r.db, &out->stopped_rows);
    }
    oc_sqlite_close(r.db);
    oc_timeline_free(r.timeline);
    oc_ranges_free(r.ranges);
    oc_timeline_free(r.launches);
    oc_map_free(&r.far_strings);
    oc_map_free(&r.processes);
    oc_arena_free(&r.scratch);
    free(r.string);
    free(r.far);
    free(r.call);
    return rc ? -1 : 0;
}

const struct oc_importer oc_importer_nsys_sqlite = {
    .name = "nsys_sqlite",
    .title = "Nsight Systems SQLite export",
    .seen = "2021, 2023.3 to 2026.1",
    .lost = "CPU samples; events of the operating system",
    .probe = nsys_sqlite_probe,
    .read = nsys_sqlite_read_file,
};
