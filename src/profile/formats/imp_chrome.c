/* Chrome traces of any other producer, and MindSpore's gpu_timeline_display_<dev>.json, a bare array of X
 * events: operators on the thread "Ops", and device work on numbered streams with args.op_full_name. For
 * unknown producers, events nest by time and each is an operator with its event name. B and E events are
 * paired per thread, last begun first (a stack). In traces of XLA and TensorFlow (trace.json.gz) the process
 * "/device:GPU:0" has the device's work on its streams, or on the thread "XLA Ops" where there are none; its
 * thread "Steps" marks runs, and its other threads show the same time again; annotations of kernels name
 * TensorFlow's operators. rocprof's results.json has the
 * processes "GPU0" .. and "COPY" for the device and "CPU HIP API" for the host. In traces that programs write
 * from CUPTI's activities, an event with a correlation is the call of the runtime or the work that it
 * launched. A thread whose spans, all of one name, contain all events of the other threads shows the runs (onert's
 * "Graph" on the thread "runtime"). */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "profile/core/kernel_names.h"
#include "profile/formats/chrome_reader.h"

enum { F_NAME = OC_CH_ARG, F_OP, F_TYPE, F_LAUNCH, F_OPERATOR, MAX_OPEN = 1 << 20, MAX_PLACES = 256 };

static const struct oc_chrome_key arg_of[] = {
    {"name", F_NAME},           {"op_full_name", F_OP},      {"type", F_TYPE},
    {"correlation", F_LAUNCH},  {"correlationId", F_LAUNCH}, {"correlation_id", F_LAUNCH},
    {"annotation", F_OPERATOR}, {"tf_op", F_OPERATOR}};

struct begun { /* a B event that waits for its E event */
    uint32_t name, before;
    double start_ns;
};

/* A device process of XLA, or one of its threads. */
enum role { ROLE_HOST, ROLE_DEVICE, ROLE_STREAM, ROLE_OPS, ROLE_STEPS, ROLE_OVERLAY };
struct place {
    int64_t pid, tid; /* tid OC_NO_ID: the process */
    uint8_t role;
};

struct reading {
    struct place place[MAX_PLACES];
    size_t n_place, overlays;
    struct oc_chrome c;
    struct oc_chrome_lanes lanes;
    struct oc_timeline *t;
    struct oc_profile *out;
    struct begun *begun;                /* on the heap; entries of one lane form a linked list */
    uint32_t n_begun, cap_begun, spare; /* spare: free list */
    uint32_t *last, n_last;             /* per lane: top of the stack of open events */
    struct oc_map type_of;              /* of operators of TensorFlow, by name: index into type */
    const char **type;                  /* on the heap */
    size_t n_type, cap_type;
    size_t unpaired, async;
    bool mindspore, device;
};

/* ---- probes ----------------------------------------------------------------------------------------- */

static bool looks_like_events(const struct oc_peek *p)
{
    return p->n && (p->data[0] == '[' || (p->data[0] == '{' && oc_peek_has(p, "\"traceEvents\""))) &&
           oc_peek_has(p, "\"ph\"") && oc_peek_has(p, "\"ts\"");
}

static void probe_chrome(const struct oc_peek *p, struct oc_bid *bid)
{
    if (looks_like_events(p))
        *bid = (struct oc_bid){.score = 20, .reason = "events with \"ph\" and \"ts\""};
}

static void chrome_probe_mindspore(const struct oc_peek *p, struct oc_bid *bid)
{
    if (looks_like_events(p) && p->data[0] == '[' &&
        (oc_peek_has(p, "\"op_full_name\"") || oc_peek_has(p, "\"Ops\"")))
        *bid = (struct oc_bid){.score = 80, .reason = "events with op_full_name, or on the thread Ops"};
}

/* ---- events ----------------------------------------------------------------------------------------- */

static uint16_t chrome_lane_of(struct reading *r, bool device)
{
    struct oc_str tid = oc_chrome_text(&r->c, OC_CH_TID);
    int64_t pid = oc_chrome_id(&r->c, OC_CH_PID);
    struct oc_lane lane = {.device = device,
                           .process = device ? OC_NO_ID : pid,
                           .device_id = device ? pid : OC_NO_ID,
                           .id = oc_chrome_id(&r->c, OC_CH_TID)};
    if (lane.id < 0 && tid.n) /* a text instead of a number */
        lane.name = oc_intern(&r->out->names, tid.s, tid.n);
    return oc_chrome_lane(&r->lanes, r->t, &lane);
}

/* MindSpore puts the operator's name on each kernel; a hash of the name links the two. */
static uint32_t chrome_number_of(struct oc_str name)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < name.n; i++)
        h = (h ^ (unsigned char)name.s[i]) * 16777619u;
    return h ? h : 1;
}

static bool names(struct oc_str s, const char *lower, const char *upper)
{
    return oc_find(s.s, s.n, lower, strlen(lower)) || oc_find(s.s, s.n, upper, strlen(upper));
}

static unsigned device_kind(struct oc_str name)
{
    if (names(name, "emcpy", "EMCPY") || names(name, "CopyHostTo", "CopyDeviceTo"))
        return OC_EV_MEMCPY;
    return names(name, "emset", "EMSET") ? OC_EV_MEMSET : OC_EV_KERNEL;
}

static void chrome_add(struct reading *r, uint32_t name, uint16_t lane, unsigned kind, double start_ns,
                       double dur_ns, uint32_t owner)
{
    struct oc_event e = {.start_ns = start_ns,
                         .dur_ns = dur_ns,
                         .name = name,
                         .detail = OC_NONE,
                         .lane = lane,
                         .kind = (uint8_t)kind};
    oc_timeline_add(r->t, &e, 0, owner);
}

/* ---- device processes of XLA ------------------------------------------------------------------------ */

static const struct place *chrome_place_of(const struct reading *r, int64_t pid, int64_t tid)
{
    for (size_t i = 0; i < r->n_place; i++)
        if (r->place[i].pid == pid && r->place[i].tid == tid)
            return &r->place[i];
    return NULL;
}

/* The device part of the name of a process of XLA or rocprof; n 0: a process of the host. */
static struct oc_str chrome_device_of(struct oc_str process)
{
    if (process.n > 8 && oc_str_starts(process, "/device:"))
        return oc_str_skip(process, 8);
    bool gpu = process.n > 3 && oc_str_starts(process, "GPU");
    for (size_t i = 3; i < process.n && gpu; i++)
        gpu = oc_is_digit(process.s[i]);
    return gpu || oc_str_eq(process, "COPY") ? (struct oc_str){"GPU", 3} : (struct oc_str){"", 0};
}

static void note_place(struct reading *r)
{
    static const struct {
        const char *thread;
        uint8_t role;
    } role[] = {{"Stream ", ROLE_STREAM}, {"XLA Ops", ROLE_OPS}, {"Steps", ROLE_STEPS}};
    struct oc_str name = oc_chrome_text(&r->c, F_NAME);
    struct place p = {oc_chrome_id(&r->c, OC_CH_PID), oc_chrome_id(&r->c, OC_CH_TID), ROLE_OVERLAY};
    bool process = oc_chrome_is(&r->c, OC_CH_NAME, "process_name");
    if (r->n_place == MAX_PLACES || r->mindspore)
        return;
    struct oc_str device = process ? chrome_device_of(name) : (struct oc_str){"", 0};
    if (device.n) {
        r->out->device = oc_strndup(&r->out->arena, device.s, device.n);
        r->place[r->n_place++] = (struct place){p.pid, OC_NO_ID, ROLE_DEVICE};
    } else if (!process && oc_chrome_is(&r->c, OC_CH_NAME, "thread_name") &&
               chrome_place_of(r, p.pid, OC_NO_ID)) {
        for (size_t i = 0; i < OC_COUNT(role); i++)
            if (name.n >= strlen(role[i].thread) &&
                memcmp(name.s, role[i].thread, strlen(role[i].thread)) == 0)
                p.role = role[i].role;
        r->place[r->n_place++] = p;
    }
}

/* Threads without a name are streams. */
static unsigned role_here(const struct reading *r)
{
    int64_t pid = oc_chrome_id(&r->c, OC_CH_PID);
    if (!chrome_place_of(r, pid, OC_NO_ID))
        return ROLE_HOST;
    const struct place *p = chrome_place_of(r, pid, oc_chrome_id(&r->c, OC_CH_TID));
    unsigned role = p ? p->role : ROLE_STREAM;
    for (size_t i = 0; i < r->n_place && role == ROLE_OPS; i++)
        if (r->place[i].pid == pid && r->place[i].role == ROLE_STREAM)
            role = ROLE_OVERLAY;
    return role;
}

/* A kernel of TensorFlow has the name and type of the operator that launched it. */
static uint32_t kernel_name(struct reading *r, uint32_t name)
{
    struct oc_str op, type;
    uint32_t id = (uint32_t)r->n_type;
    if (!oc_tensorflow_operator(oc_chrome_text(&r->c, F_OPERATOR), &op, &type))
        return name;
    r->out->training |= oc_is_tensorflow_gradient(op);
    if (oc_map_add(&r->type_of, op.s, op.n, &id, NULL))
        OC_PUSH(r->type, r->n_type, r->cap_type) = oc_intern(&r->out->names, type.s, type.n);
    return oc_timeline_name(r->t, op.s, op.n);
}

static void set_operator_types(const struct reading *r)
{
    for (uint32_t i = 0; i < r->out->n_rec; i++) {
        struct oc_prof_rec *rec = &r->out->rec[i];
        uint32_t id = rec->bucket ? OC_NONE : oc_map_get(&r->type_of, rec->name, strlen(rec->name));
        if (id != OC_NONE)
            rec->op_type = r->type[id];
    }
}

static void add_placed(struct reading *r, uint32_t name, double start_ns, double dur_ns)
{
    unsigned role = role_here(r);
    bool device = role == ROLE_STREAM || role == ROLE_OPS;
    unsigned kind = device ? device_kind(oc_chrome_text(&r->c, OC_CH_NAME)) : OC_EV_USER;
    if (kind == OC_EV_KERNEL)
        name = kernel_name(r, name);
    if (role == ROLE_STEPS)
        oc_timeline_add_run(r->t, start_ns, dur_ns);
    else if (role == ROLE_OVERLAY)
        r->overlays++;
    else
        chrome_add(r, name, chrome_lane_of(r, device), kind, start_ns, dur_ns, 0);
}

/* ---- complete events, and pairs --------------------------------------------------------------------- */

/* "cudaLaunchKernel", "cuMemcpyAsync", "hipLaunchKernel" */
static bool is_runtime_call(struct oc_str name)
{
    size_t n = oc_str_starts(name, "cuda")  ? 4
               : oc_str_starts(name, "hip") ? 3
               : oc_str_starts(name, "cu")  ? 2
                                            : 0;
    return n && n < name.n && name.s[n] >= 'A' && name.s[n] <= 'Z';
}

static bool is_device_work(struct reading *r)
{
    if (r->mindspore)
        return oc_chrome_has(&r->c, F_TYPE);
    return oc_chrome_has(&r->c, F_LAUNCH) && !is_runtime_call(oc_chrome_text(&r->c, OC_CH_NAME));
}

static const char *chrome_complete(struct reading *r, uint32_t name, double start_ns)
{
    double dur_ns;
    bool device = is_device_work(r);
    if (!oc_chrome_dur_ns(&r->c, OC_CH_DUR, &dur_ns))
        return "\"dur\" is missing or not a number";
    if (dur_ns < 0)
        return "\"dur\" is negative";
    if (r->n_place) {
        add_placed(r, name, start_ns, dur_ns);
        return NULL;
    }
    struct oc_str text = oc_chrome_text(&r->c, device && r->mindspore ? F_OP : OC_CH_NAME);
    uint32_t owner = r->mindspore ? chrome_number_of(text) : 0;
    unsigned kind = device ? device_kind(oc_chrome_text(&r->c, OC_CH_NAME)) : OC_EV_OPERATOR;
    r->device |= device;
    chrome_add(r, name, chrome_lane_of(r, device), kind, start_ns, dur_ns, owner);
    return NULL;
}

static uint32_t *last_begun(struct reading *r, uint16_t lane)
{
    if (lane >= r->n_last) {
        uint32_t n = lane + 16u;
        r->last = oc_xrealloc(r->last, n * sizeof(*r->last));
        while (r->n_last < n)
            r->last[r->n_last++] = OC_NONE;
    }
    return &r->last[lane];
}

static void chrome_begin(struct reading *r, uint32_t name, double start_ns)
{
    uint16_t lane = chrome_lane_of(r, false);
    uint32_t *last = last_begun(r, lane), at = r->spare;
    if (at == OC_NONE && r->n_begun == MAX_OPEN) {
        r->unpaired++;
        return;
    }
    if (at == OC_NONE) {
        OC_GROW(r->begun, r->n_begun, r->cap_begun);
        at = r->n_begun++;
    } else {
        r->spare = r->begun[at].before;
    }
    r->begun[at] = (struct begun){name, *last, start_ns};
    *last = at;
}

static void chrome_end(struct reading *r, double end_ns)
{
    uint16_t lane = chrome_lane_of(r, false);
    uint32_t *last = last_begun(r, lane), at = *last;
    if (at == OC_NONE || r->begun[at].start_ns > end_ns) {
        r->unpaired++;
        return;
    }
    struct begun *b = &r->begun[at];
    chrome_add(r, b->name, lane, OC_EV_OPERATOR, b->start_ns, end_ns - b->start_ns, 0);
    *last = b->before;
    b->before = r->spare;
    r->spare = at;
}

static const char *chrome_take_event(struct reading *r, char ph)
{
    int64_t ts_ns;
    if (!oc_chrome_ts_ns(&r->c, OC_CH_TS, &ts_ns))
        return "\"ts\" is missing or not a number";
    double at_ns = oc_timeline_at(r->t, ts_ns);
    if (ph == 'E') {
        chrome_end(r, at_ns);
        return NULL;
    }
    if (!oc_chrome_has(&r->c, OC_CH_NAME))
        return "missing \"name\"";
    struct oc_str text = oc_chrome_text(&r->c, OC_CH_NAME);
    uint32_t name = oc_timeline_name(r->t, text.s, text.n);
    if (ph == 'X')
        return chrome_complete(r, name, at_ns);
    chrome_begin(r, name, at_ns);
    return NULL;
}

/* ---- spans around all others ------------------------------------------------------------------------ */

#define SPAN_SLACK_NS 1000.0 /* tools truncate times to microseconds */

static int chrome_by_start(const void *a, const void *b)
{
    const struct oc_interval *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Of the longest of the first events. */
static const struct oc_event *first_event(const struct oc_timeline *t)
{
    const struct oc_event *first = &t->event[0];
    for (size_t i = 1; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->start_ns < first->start_ns || (e->start_ns <= first->start_ns && e->dur_ns > first->dur_ns))
            first = e;
    }
    return first;
}

/* The spans of a thread, sorted; n 0: they have other names, or one begins before another ends. */
static struct oc_interval *spans_of(const struct oc_timeline *t, const struct oc_event *like, size_t *n)
{
    struct oc_interval *span = NULL;
    size_t cap = 0;
    bool same = true;
    *n = 0;
    for (size_t i = 0; i < t->n_event && same; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->lane != like->lane)
            continue;
        same = e->name == like->name && e->kind == OC_EV_OPERATOR;
        OC_GROW(span, *n, cap);
        span[(*n)++] = (struct oc_interval){e->start_ns, e->start_ns + e->dur_ns};
    }
    if (*n)
        qsort(span, *n, sizeof(*span), chrome_by_start);
    for (size_t i = 1; i < *n; i++)
        same &= span[i].start_ns >= span[i - 1].end_ns - SPAN_SLACK_NS;
    *n = same ? *n : 0;
    return span;
}

/* Whether each span contains several events of other threads, and all of these are in one. */
static bool contain_others(const struct oc_timeline *t, uint16_t lane, const struct oc_interval *span,
                           size_t n)
{
    uint32_t *inside = oc_xcalloc(n + 1, sizeof(*inside));
    bool all = true;
    for (size_t i = 0; i < t->n_event && all; i++) {
        const struct oc_event *e = &t->event[i];
        size_t low = 0, high = n;
        if (e->lane == lane)
            continue;
        while (high - low > 1) {
            size_t mid = low + (high - low) / 2;
            *(span[mid].start_ns <= e->start_ns + SPAN_SLACK_NS ? &low : &high) = mid;
        }
        all = e->start_ns + SPAN_SLACK_NS >= span[low].start_ns &&
              e->start_ns + e->dur_ns <= span[low].end_ns + SPAN_SLACK_NS;
        inside[low]++;
    }
    for (size_t i = 0; i < n; i++)
        all &= inside[i] > 1;
    free(inside);
    return all;
}

static void mark_runs(struct oc_timeline *t)
{
    if (!t->n_event)
        return;
    const struct oc_event like = *first_event(t);
    size_t n;
    struct oc_interval *span = spans_of(t, &like, &n);
    bool runs = n && n < t->n_event && contain_others(t, like.lane, span, n);
    for (size_t i = 0; i < t->n_event && runs; i++)
        t->event[i].kind = t->event[i].lane == like.lane ? OC_EV_STEP : t->event[i].kind;
    t->kinds |= runs ? 1u << OC_EV_STEP : 0;
    free(span);
}

/* ---- file ------------------------------------------------------------------------------------------- */

static void chrome_read_all(struct reading *r)
{
    while (oc_chrome_next(&r->c) && !r->t->full) {
        struct oc_str ph = oc_chrome_text(&r->c, OC_CH_PH);
        char c = (char)(ph.n == 1 ? ph.s[0] : 0);
        const char *why = c == 'X' || c == 'B' || c == 'E' ? chrome_take_event(r, c) : NULL;
        if (why)
            oc_chrome_bad(&r->c, why);
        if (c == 'M') {
            oc_chrome_note_thread(&r->lanes, &r->c, F_NAME, r->out);
            note_place(r);
        }
        r->async += c == 'b' || c == 'S';
    }
}

static void chrome_add_warnings(struct reading *r, const struct oc_stream *s)
{
    struct oc_diags *d = &r->out->diags;
    for (uint32_t l = 0; l < r->n_last; l++)
        for (uint32_t at = r->last[l]; at != OC_NONE; at = r->begun[at].before)
            r->unpaired++;
    oc_chrome_describe(&r->c, s, r->t, NULL);
    if (r->unpaired)
        oc_diag_add(d, OC_WARNING, "W-unpaired", "", "%zu events were skipped: B without E, or E without B",
                    r->unpaired);
    if (r->async)
        oc_diag_add(d, OC_INFO, "I-async", "", "%zu asynchronous events were skipped", r->async);
    if (r->overlays)
        oc_diag_add(d, OC_INFO, "I-overlay", "",
                    "%zu events of threads that show the same time again were skipped", r->overlays);
    r->out->producer = r->mindspore                         ? "MindSpore profiler"
                       : !r->n_place                        ? ""
                       : strcmp(r->out->device, "GPU") == 0 ? "rocprof"
                                                            : "XLA or TensorFlow";
    r->out->device = r->device ? r->mindspore ? "CUDA" : "GPU" : r->n_place ? r->out->device : "";
}

/* Parses the type: Default/network-Net/conv1-Conv2d/Conv2D-op17 is a Conv2D. */
static void chrome_set_types(struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const char *from = oc_base_name(p->rec[i].name), *op = strstr(from, "-op");
        if (!p->rec[i].bucket)
            p->rec[i].op_type = oc_intern(&p->names, from, op ? (size_t)(op - from) : strlen(from));
    }
}

static int chrome_read_events(struct reading *r, const struct oc_source *src,
                              const struct oc_profile_opts *opts, const struct oc_timeline_rules *rules,
                              struct oc_err *err)
{
    int rc = oc_chrome_open(&r->c, src->file[0].s, arg_of, OC_COUNT(arg_of), err);
    if (rc == 0)
        chrome_read_all(r);
    if (rc == 0 && !r->t->n_event)
        rc = oc_fail(err, OC_EFORMAT, "has no events with a duration (offset %llu)",
                     (unsigned long long)oc_json_offset(r->c.j));
    if (rc == 0)
        chrome_add_warnings(r, src->file[0].s);
    if (rc == 0 && !r->n_place && !r->mindspore)
        mark_runs(r->t);
    rc = oc_chrome_finish(&r->c, &r->lanes, r->t, rc, opts, rules);
    free(r->begun);
    free(r->last);
    return rc;
}

static int read_chrome(const struct oc_source *src, const struct oc_profile_opts *opts,
                       struct oc_profile *out, struct oc_err *err)
{
    static const struct oc_timeline_rules rules = {.find_runs = true, .kernel_are_records = true};
    struct reading r = {.out = out, .t = oc_timeline_new(out), .spare = OC_NONE};
    struct oc_arena keys = {0};
    r.type_of.arena = &keys;
    int rc = chrome_read_events(&r, src, opts, &rules, err);
    if (rc == 0)
        set_operator_types(&r);
    free(r.type);
    oc_map_free(&r.type_of);
    oc_arena_free(&keys);
    return rc;
}

/* One record per operator: a kernel does not report which of the operator's calls launched it. */
static int chrome_read_mindspore(const struct oc_source *src, const struct oc_profile_opts *opts,
                                 struct oc_profile *out, struct oc_err *err)
{
    static const struct oc_timeline_rules rules = {.kernel_are_records = true};
    struct reading r = {.out = out, .t = oc_timeline_new(out), .spare = OC_NONE, .mindspore = true};
    int rc = chrome_read_events(&r, src, opts, &rules, err);
    if (rc == 0)
        chrome_set_types(out);
    return rc;
}

const struct oc_importer oc_importer_chrome = {
    .name = "chrome",
    .title = "Chrome trace of XLA, TensorFlow or another producer",
    .seen = "traces of several producers",
    .lost = "arguments of events, except operators; flows",
    .probe = probe_chrome,
    .read = read_chrome,
};

const struct oc_importer oc_importer_mindspore_timeline = {
    .name = "mindspore_timeline",
    .title = "MindSpore timeline (gpu_timeline_display)",
    .seen = "MindSpore 1.x",
    .lost = "runs",
    .probe = chrome_probe_mindspore,
    .read = chrome_read_mindspore,
};
