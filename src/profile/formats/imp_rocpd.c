/* ROCm's rocpd database, the output of rocprofv3 since ROCm 7 (--output-format rocpd), and the older format
 * of the same name by rocmProfileData (.rpd). Each table of rocprofv3 has a suffix, one per process
 * ("_<guid>"):
 *
 *   rocpd_string(id, string)
 *   rocpd_info_kernel_symbol(id, display_name, kernel_name); rocpd_info_agent(id, type, product_name, ..)
 *   rocpd_event(id, category_id, stack_id, extdata): category "..MARKER..": extdata is {"message":
 * "<range>"}; stack_id: the same for a call and the work that it launched rocpd_region(start, end, pid, tid,
 * name_id, event_id): calls of the runtime, and ranges of roctx rocpd_kernel_dispatch(start, end, agent_id,
 * queue_id, stream_id, kernel_id, event_id) rocpd_memory_copy(start, end, name_id, size, dst_agent_id,
 * stream_id, event_id) rocpd_timestamp(id, value): in schema 4 start_id and end_id replace start and end
 *
 * rocmProfileData: rocpd_op(gpuId, queueId, start, end, description_id, opType_id). Times are nanoseconds.
 *
 * The first rocprof (results.db of --hip-trace, --sys-trace): OPS, COPY(BeginNs, EndNs, Name, dev-id, stream-id,
 * queue-id, pid, Index) and HIP(BeginNs, EndNs, Name, tid, pid, Index); Index is that of the call. */
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "onnxcost/profile.h"
#include "profile/core/timeline.h"
#include "profile/sqlite_rows.h"

#define MAX_NS    ((int64_t)1 << 52) /* sums of doubles stay exact */
#define MAX_AT_NS ((int64_t)1 << 61)
#define MAX_ID    ((int64_t)1 << 27)

struct texts { /* indexed by id, NULL: none; interned */
    const char **at;
    size_t n;
};

struct event {
    int64_t stack;       /* 0: none */
    const char *message; /* of a marker; NULL: not a marker */
};

struct table {
    const char *name; /* without the suffix */
    const struct oc_sqlite_column *column;
    size_t n_column;
    int (*take)(void *user, const struct oc_sqlite_cell *c);
    /* of work of the device */
    uint8_t kind;
    const char *unnamed; /* the name of work without one */
    bool symbols, typed; /* names are those of kernels; a type shows which work copies */
};

struct reading {
    struct oc_sqlite *db;
    struct oc_profile *out;
    struct oc_timeline *t;
    struct oc_arena scratch;
    struct texts strings, kernels;
    struct event *event;
    size_t n_event;
    int64_t *stamp; /* rocpd_timestamp, by id */
    size_t n_stamp;
    uint64_t process; /* number of the suffix, from 1 */
    bool first;       /* a database of the first rocprof: the column of the event is the number of the call */
    uint64_t work, bad;
    const struct table *table; /* that is being read */
};

static const char first_ops[] = "CREATE TABLE OPS (\"BeginNs\"";

static void rocpd_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    if (p->n >= 100 && memcmp(p->data, "SQLite format 3", 16) == 0 &&
        (oc_find(p->data, p->n, "rocpd_", 6) || oc_find(p->data, p->n, "ROCPD", 5)))
        *bid = (struct oc_bid){.score = 96, .reason = "SQLite file with tables of rocpd"};
    else if (p->n >= 100 && memcmp(p->data, "SQLite format 3", 16) == 0 &&
             oc_find(p->data, p->n, first_ops, strlen(first_ops)))
        *bid = (struct oc_bid){.score = 96, .reason = "SQLite file with tables of rocprof"};
}

/* ---- tables by id ----------------------------------------------------------------------------------- */

/* Makes room for the id; ids are dense. False: it is out of range. */
static bool rocpd_reserve(void **at, size_t *n, size_t size, int64_t id)
{
    if (id < 0 || id >= MAX_ID || (uint64_t)id > 2 * *n + 65536)
        return false;
    if ((size_t)id >= *n) {
        size_t more = 2 * (size_t)id + 1024;
        *at = oc_xrealloc(*at, more * size);
        memset((char *)*at + *n * size, 0, (more - *n) * size);
        *n = more;
    }
    return true;
}

static void rocpd_set_text(struct reading *r, struct texts *t, const struct oc_sqlite_cell *id,
                           const struct oc_sqlite_cell *text)
{
    if (id->kind == OC_CELL_INT && text->kind == OC_CELL_TEXT &&
        rocpd_reserve((void **)&t->at, &t->n, sizeof(*t->at), id->i))
        t->at[id->i] = oc_cell_text(text, &r->out->names);
}

static const char *rocpd_text_of(const struct texts *t, const struct oc_sqlite_cell *id)
{
    return id->kind == OC_CELL_INT && id->i >= 0 && (uint64_t)id->i < t->n ? t->at[id->i] : NULL;
}

/* "": none. The first rocprof has names instead of their ids. */
static const char *rocpd_name_of(const struct reading *r, const struct texts *t,
                                 const struct oc_sqlite_cell *id)
{
    const char *name = r->first ? oc_cell_text(id, &r->out->names) : rocpd_text_of(t, id);
    return name ? name : "";
}

static int rocpd_take_string(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    rocpd_set_text(r, &r->strings, &c[0], &c[1]);
    return 0;
}

static int rocpd_take_symbol(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    rocpd_set_text(r, &r->kernels, &c[0], c[1].kind == OC_CELL_TEXT && c[1].n ? &c[1] : &c[2]);
    return 0;
}

static int rocpd_take_agent(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    const struct oc_sqlite_cell *name = c[1].kind == OC_CELL_TEXT && c[1].n ? &c[1] : &c[2];
    if (c[0].kind == OC_CELL_TEXT && oc_str_eq(oc_str(c[0].s, c[0].n), "GPU"))
        oc_prof_add_device(r->out, oc_cell_text(name, &r->out->names));
    return 0;
}

static int take_stamp(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    if (c[0].kind == OC_CELL_INT && c[1].kind == OC_CELL_INT &&
        rocpd_reserve((void **)&r->stamp, &r->n_stamp, sizeof(*r->stamp), c[0].i))
        r->stamp[c[0].i] = c[1].i;
    return 0;
}

/* The text of the member "message"; "": it is compressed or absent. */
static const char *message_of(struct reading *r, const struct oc_sqlite_cell *c)
{
    struct oc_str key, text;
    const char *message = "";
    if (c->kind != OC_CELL_TEXT || !c->n)
        return message;
    struct oc_stream *s = oc_stream_mem(c->s, c->n);
    struct oc_json *j = oc_json_open(s);
    if (oc_json_enter(j))
        while (oc_json_member(j, &key)) {
            bool wanted = oc_str_eq(key, "message");
            if (wanted && oc_json_string(j, &text))
                message = oc_intern(&r->out->names, text.s, text.n);
            else if (!wanted)
                oc_json_skip(j);
        }
    oc_json_close(j);
    oc_stream_close(s);
    return message;
}

static int rocpd_take_event(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    const char *category = rocpd_text_of(&r->strings, &c[1]);
    if (c[0].kind != OC_CELL_INT ||
        !rocpd_reserve((void **)&r->event, &r->n_event, sizeof(*r->event), c[0].i))
        return 0;
    r->event[c[0].i] =
        (struct event){.stack = c[2].kind == OC_CELL_INT ? c[2].i : 0,
                       .message = category && strstr(category, "MARKER") ? message_of(r, &c[3]) : NULL};
    return 0;
}

/* ---- events ----------------------------------------------------------------------------------------- */

enum { START, END, START_ID, END_ID, PROCESS, EVENT, TIMES };
enum { NAME = TIMES, DEVICE, STREAM, QUEUE, BYTES, TYPE = BYTES }; /* of work of the device */
#define TIME_COLUMNS                                                                                         \
    {"start", false}, {"end", false}, {"start_id", false}, {"end_id", false}, {"pid", false},                \
    {                                                                                                        \
        "event_id", false                                                                                    \
    }

static bool rocpd_time_at(const struct reading *r, const struct oc_sqlite_cell *value,
                          const struct oc_sqlite_cell *id, int64_t *ns)
{
    if (value->kind == OC_CELL_INT)
        *ns = value->i;
    else if (id->kind == OC_CELL_INT && id->i >= 0 && (uint64_t)id->i < r->n_stamp)
        *ns = r->stamp[id->i];
    else
        return false;
    return *ns >= -MAX_AT_NS && *ns <= MAX_AT_NS;
}

static const struct event *event_of(const struct reading *r, const struct oc_sqlite_cell *id)
{
    static const struct event none = {0};
    return id->kind == OC_CELL_INT && id->i >= 0 && (uint64_t)id->i < r->n_event ? &r->event[id->i] : &none;
}

static void rocpd_add(struct reading *r, const struct oc_sqlite_cell *c, unsigned kind, const char *name,
                      const struct oc_lane *lane, int64_t bytes)
{
    int64_t start_ns, end_ns;
    const struct event *event = event_of(r, &c[EVENT]);
    struct oc_event e = {.detail = OC_NONE, .kind = (uint8_t)kind};
    if (!rocpd_time_at(r, &c[START], &c[START_ID], &start_ns) ||
        !rocpd_time_at(r, &c[END], &c[END_ID], &end_ns) || end_ns < start_ns || end_ns - start_ns > MAX_NS) {
        r->bad++;
        return;
    }
    e.start_ns = oc_timeline_at(r->t, start_ns);
    e.dur_ns = (double)(end_ns - start_ns);
    e.name = oc_timeline_name(r->t, name, strlen(name));
    e.lane = oc_timeline_lane(r->t, lane);
    if (bytes >= 0)
        e.detail = oc_timeline_bytes(r->t, (uint64_t)bytes);
    uint64_t process = r->first ? (uint64_t)oc_cell_int(&c[PROCESS], 0) : r->process;
    int64_t call = r->first ? oc_cell_int(&c[EVENT], 0) : event->stack;
    bool linked = kind != OC_EV_USER && call > 0;
    oc_timeline_add(r->t, &e, linked ? process << 48 ^ (uint64_t)call : 0, 0);
    r->work += oc_event_on_device(kind);
}

/* A call of the runtime, or a range of roctx. */
static int take_region(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    const char *name = rocpd_name_of(r, &r->strings, &c[TIMES]), *message = event_of(r, &c[EVENT])->message;
    struct oc_lane lane = oc_lane_of_thread(oc_cell_int(&c[PROCESS], (int64_t)r->process),
                                            oc_cell_int(&c[TIMES + 1], oc_cell_int(&c[TIMES + 2], 0)));
    name = message && *message ? message : *name ? name : "(call)";
    unsigned kind = message ? OC_EV_USER : strstr(name, "Synchronize") ? OC_EV_SYNC : OC_EV_API;
    rocpd_add(r, c, kind, name, &lane, -1);
    return 0;
}

/* Work of the device. rocmProfileData: the name of a kernel is its description, a copy has only its type. */
static int take_work(void *user, const struct oc_sqlite_cell *c)
{
    struct reading *r = user;
    const struct table *t = r->table;
    const char *name = rocpd_name_of(r, t->symbols ? &r->kernels : &r->strings, &c[NAME]);
    const char *type = t->typed ? rocpd_name_of(r, &r->strings, &c[TYPE]) : "";
    struct oc_lane lane =
        oc_lane_of_stream(oc_cell_int(&c[PROCESS], (int64_t)r->process), oc_cell_int(&c[DEVICE], OC_NO_ID),
                          oc_cell_int(&c[STREAM], oc_cell_int(&c[QUEUE], OC_NO_ID)));
    unsigned kind = strstr(type, "Copy") ? OC_EV_MEMCPY : strstr(type, "Fill") ? OC_EV_MEMSET : t->kind;
    rocpd_add(r, c, kind,
              *name   ? name
              : *type ? type
                      : t->unnamed,
              &lane, t->typed ? -1 : oc_cell_int(&c[BYTES], -1));
    return 0;
}

/* ---- file ------------------------------------------------------------------------------------------- */

static const struct oc_sqlite_column string_columns[] = {{"id", true}, {"string", true}};
static const struct oc_sqlite_column symbol_columns[] = {
    {"id", true}, {"display_name", false}, {"kernel_name", false}};
static const struct oc_sqlite_column agent_columns[] = {
    {"type", false}, {"product_name", false}, {"name", false}};
static const struct oc_sqlite_column stamp_columns[] = {{"id", true}, {"value", true}};
static const struct oc_sqlite_column event_columns[] = {
    {"id", true}, {"category_id", false}, {"stack_id", false}, {"extdata", false}};
static const struct oc_sqlite_column region_columns[] = {
    TIME_COLUMNS, {"name_id", true}, {"tid", false}, {"track_id", false}};
static const struct oc_sqlite_column kernel_columns[] = {TIME_COLUMNS,        {"kernel_id", true},
                                                         {"agent_id", false}, {"stream_id", false},
                                                         {"queue_id", false}, {"size", false}};
static const struct oc_sqlite_column copy_columns[] = {
    TIME_COLUMNS,         {"name_id", true},   {"dst_agent_id", false},
    {"stream_id", false}, {"queue_id", false}, {"size", false}};
static const struct oc_sqlite_column op_columns[] = {TIME_COLUMNS,       {"description_id", true},
                                                     {"gpuId", false},   {"queueId", false},
                                                     {"queueId", false}, {"opType_id", false}};

#define FIRST_COLUMNS                                                                                        \
    {"BeginNs", true}, {"EndNs", true}, {"start_id", false}, {"end_id", false}, {"pid", false},              \
        {"Index", false},                                                                                    \
    {                                                                                                        \
        "Name", true                                                                                         \
    }
static const struct oc_sqlite_column first_columns[] = {
    FIRST_COLUMNS, {"dev-id", false}, {"stream-id", false}, {"queue-id", false}, {"size", false}};
static const struct oc_sqlite_column first_call_columns[] = {
    FIRST_COLUMNS, {"tid", false}, {"track_id", false}};

#define TABLE(text, columns, ...)                                                                            \
    {                                                                                                        \
        .name = (text), .column = (columns), .n_column = OC_COUNT(columns), __VA_ARGS__                      \
    }
/* In the order of reading: events refer to strings, work to events. */
static const struct table tables[] = {
    TABLE("rocpd_string", string_columns, .take = rocpd_take_string),
    TABLE("rocpd_info_kernel_symbol", symbol_columns, .take = rocpd_take_symbol),
    TABLE("rocpd_info_agent", agent_columns, .take = rocpd_take_agent),
    TABLE("rocpd_timestamp", stamp_columns, .take = take_stamp),
    TABLE("rocpd_event", event_columns, .take = rocpd_take_event),
    TABLE("rocpd_region", region_columns, .take = take_region),
    TABLE("rocpd_kernel_dispatch", kernel_columns, .take = take_work, .kind = OC_EV_KERNEL,
          .unnamed = "(unnamed kernel)", .symbols = true),
    TABLE("rocpd_memory_copy", copy_columns, .take = take_work, .kind = OC_EV_MEMCPY,
          .unnamed = "MEMORY_COPY"),
    TABLE("rocpd_op", op_columns, .take = take_work, .kind = OC_EV_KERNEL, .unnamed = "(unnamed kernel)",
          .typed = true),
};
static const struct table first_tables[] = {
    TABLE("HIP", first_call_columns, .take = take_region),
    TABLE("OPS", first_columns, .take = take_work, .kind = OC_EV_KERNEL, .unnamed = "(unnamed)"),
    TABLE("COPY", first_columns, .take = take_work, .kind = OC_EV_MEMCPY, .unnamed = "(unnamed)"),
};

static void forget_ids(struct reading *r)
{
    free(r->strings.at);
    free(r->kernels.at);
    free(r->event);
    free(r->stamp);
    r->strings = r->kernels = (struct texts){0};
    r->event = NULL;
    r->stamp = NULL;
    r->n_event = r->n_stamp = 0;
}

/* The tables with this suffix. */
static int read_process(struct reading *r, const struct table *table, size_t n, const char *suffix,
                        struct oc_err *err)
{
    int rc = 0;
    r->process++;
    for (size_t i = 0; i < n && rc == 0; i++) {
        r->table = &table[i];
        rc = oc_sqlite_scan(r->db, oc_printf(&r->scratch, "%s%s", table[i].name, suffix), table[i].column,
                            table[i].n_column, table[i].take, r, err);
    }
    forget_ids(r);
    return rc;
}

static int read_first(struct reading *r, struct oc_err *err)
{
    int found = oc_sqlite_has_table(r->db, "OPS", err);
    if (found < 0)
        return -1;
    if (!found)
        return oc_fail(err, OC_EFORMAT, "SQLite file without the tables of rocpd (rocpd_string)");
    r->first = true;
    r->out->producer = "rocprof";
    return read_process(r, first_tables, OC_COUNT(first_tables), "", err);
}

static int rocpd_read_tables(struct reading *r, struct oc_err *err)
{
    static const char prefix[] = "rocpd_string";
    const char *const *name;
    size_t n;
    if (oc_sqlite_tables(r->db, prefix, &r->scratch, &name, &n, err))
        return -1;
    if (!n)
        return read_first(r, err);
    int old = oc_sqlite_has_table(r->db, "rocpd_op", err);
    if (old < 0)
        return -1;
    r->out->producer = old ? "rocmProfileData" : "rocprofv3 (rocpd)";
    for (size_t i = 0; i < n; i++)
        if (read_process(r, tables, OC_COUNT(tables), name[i] + sizeof(prefix) - 1, err))
            return -1;
    return 0;
}

static int rocpd_read_all(struct reading *r, struct oc_err *err)
{
    if (rocpd_read_tables(r, err))
        return -1;
    if (!r->work)
        return oc_fail(err, OC_EFORMAT,
                       "has no device work: the tables of kernels and copies are empty (record with %s)",
                       r->first ? "rocprof --hip-trace" : "rocprofv3 --kernel-trace");
    if (r->bad)
        oc_diag_add(&r->out->diags, OC_WARNING, "W-bad-event", "",
                    "%llu rows without valid times were skipped", (unsigned long long)r->bad);
    if (!*r->out->device)
        r->out->device = "ROCm";
    return 0;
}

static int rocpd_read_file(const struct oc_source *src, const struct oc_profile_opts *opts,
                           struct oc_profile *out, struct oc_err *err)
{
    static const struct oc_timeline_rules rules = {
        .find_runs = true, .user_are_operators = true, .kernel_are_records = true};
    struct reading r = {.out = out, .t = oc_timeline_new(out)};
    int rc = oc_sqlite_open_stream(src->file[0].s, &out->limits, &r.db, err);
    if (rc == 0) {
        oc_sqlite_stop_on(r.db, opts->stop);
        rc = rocpd_read_all(&r, err);
        out->stopped = oc_sqlite_stopped(r.db, &out->stopped_rows);
    }
    oc_sqlite_close(r.db);
    forget_ids(&r);
    oc_arena_free(&r.scratch);
    return oc_timeline_close(r.t, rc, opts, &rules);
}

const struct oc_importer oc_importer_rocpd = {
    .name = "rocpd",
    .title = "ROCm databases: rocprofv3 (rocpd), rocmProfileData, rocprof",
    .seen = "rocprofv3 of 2025 on MI300X; rocprof of 2024; rocmProfileData from the writer",
    .lost = "counters",
    .probe = rocpd_probe,
    .read = rocpd_read_file,
};
