/* Timelines of Ascend devices: msprof_*.json, task_time_*.json and hccl_*.json of CANN's msprof,
 * trace_view.json of torch_npu, and MindSpore's ascend_timeline_display_<n>.json. Arrays of Chrome events;
 * work is recognised by its arguments, because the names of processes may follow the events:
 *
 *   "Task Type"           a task of a stream ("Ascend Hardware"): AI_CORE, AI_CPU, MEMCPY_ASYNC, NOTIFY_WAIT
 * ... "task type"           a task of a plane of the communication library ("HCCL"), which is also in the
 * streams "type", "fullname"    an operator of MindSpore's display "Iteration Time(ns)"  one run
 *
 * A name with '@' is a call of the host (Model@ModelExecute). All other lanes show the same time again:
 * Overlap Analysis, Communication, Step Trace, scopes. Waits, records and envelopes of whole models are tasks
 * without work. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "profile/core/records.h"
#include "profile/formats/chrome_reader.h"

enum { F_NAME = OC_CH_ARG, F_TASK, F_PLANE, F_TYPE, F_FULL, F_ITERATION, F_STAGE };

static const struct oc_chrome_key arg_of[] = {
    {"name", F_NAME},
    {"Task Type", F_TASK},
    {"task type", F_PLANE},
    {"type", F_TYPE},
    {"fullname", F_FULL},
    {"Iteration Time(ns)", F_ITERATION},
    {"FP_BP Time(ns)", F_STAGE},
    {"Iteration Refresh(ns)", F_STAGE},
};

/* Where the time of the device is, best first: a file may have several, which show the same time. */
enum { STREAMS, PLANES, STAGES, SOURCES };

struct tasks {
    struct oc_event *event; /* on the heap */
    size_t n, cap;
};

struct reading {
    struct oc_chrome c;
    struct oc_chrome_lanes lanes;
    struct oc_timeline *t;
    struct tasks tasks[SOURCES];
    size_t overlays, waits;
    double wait_ns;
};

/* ---- probe ------------------------------------------------------------------------------------------ */

/* torch_npu writes an array with all operators of PyTorch first, each with these arguments. PyTorch itself
 * writes an object, and numbers the operators with "External id". */
static bool begins_as_torch_npu(const struct oc_peek *p)
{
    return p->data[0] == '[' && oc_peek_has(p, "\"cpu_op\"") && oc_peek_has(p, "\"Sequence number\"") &&
           oc_peek_has(p, "\"Fwd thread id\"") && !oc_peek_has(p, "\"External id\"");
}

static void ascend_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    bool tasks = oc_peek_has(p, "\"Task Type\"") && oc_peek_has(p, "\"Stream Id\"");
    bool display = oc_peek_has(p, "\"fullname\"") && oc_peek_has(p, "\"type\"");
    if (!p->n || (p->data[0] != '[' && p->data[0] != '{') || !oc_peek_has(p, "\"ph\""))
        return;
    if (tasks || oc_peek_has(p, "\"Iteration Time(ns)\"") || oc_peek_has(p, "\"Ascend Hardware\"") ||
        oc_peek_has(p, "\"HCCL\""))
        *bid = (struct oc_bid){.score = 96, .reason = "tasks of Ascend streams or HCCL planes"};
    else if (display && p->data[0] == '[')
        *bid = (struct oc_bid){.score = 85, .reason = "events with type and fullname"};
    else if (begins_as_torch_npu(p) && oc_peek_has_later(p, "\"Task Type\""))
        *bid = (struct oc_bid){.score = 96, .reason = "operators of torch_npu, then tasks of Ascend streams"};
}

/* ---- events ----------------------------------------------------------------------------------------- */

static void add_task(struct reading *r, struct oc_event *e, unsigned source, unsigned kind,
                     unsigned name_field)
{
    static const unsigned ids[2] = {OC_CH_PID, OC_CH_TID};
    struct tasks *to = &r->tasks[source];
    if (kind == OC_EV_COUNT) {
        r->waits++;
        r->wait_ns += e->dur_ns;
        return;
    }
    if (to->n == r->t->max_events)
        return;
    struct oc_str name = oc_chrome_text(&r->c, name_field);
    e->name = oc_timeline_name(r->t, name.n ? name.s : "", name.n); /* no category: NULL */
    e->kind = (uint8_t)kind;
    e->lane = oc_chrome_lane_at(&r->lanes, &r->c, r->t, OC_NO_ID, true, ids);
    OC_PUSH(to->event, to->n, to->cap) = *e;
}

static void add_host(struct reading *r, struct oc_event *e, struct oc_str name)
{
    static const unsigned ids[2] = {OC_CH_PID, OC_CH_TID};
    bool step = name.n > 13 && memcmp(name.s, "ProfilerStep#", 13) == 0;
    r->t->profile->training |= oc_str_starts(name, "autograd::") || oc_str_starts(name, "Optimizer.step");
    if (step) {
        oc_timeline_add_run(r->t, e->start_ns, e->dur_ns);
        return;
    }
    if (!memchr(name.s, '@', name.n)) {
        r->overlays++;
        return;
    }
    e->name = oc_timeline_name(r->t, name.s, name.n);
    e->kind = OC_EV_API;
    e->lane = oc_chrome_lane_at(&r->lanes, &r->c, r->t, OC_NO_ID, false, ids);
    oc_timeline_add(r->t, e, 0, 0);
}

static const char *ascend_take_event(void *ctx)
{
    struct reading *r = ctx;
    struct oc_event e = {.detail = OC_NONE};
    int64_t ts_ns;
    if (!oc_chrome_has(&r->c, OC_CH_NAME))
        return "missing \"name\"";
    if (!oc_chrome_ts_ns(&r->c, OC_CH_TS, &ts_ns))
        return "\"ts\" is missing or not a number";
    if (!oc_chrome_dur_ns(&r->c, OC_CH_DUR, &e.dur_ns) || e.dur_ns < 0)
        return "\"dur\" is missing or not a positive number";
    e.start_ns = oc_timeline_at(r->t, ts_ns);
    if (oc_chrome_has(&r->c, F_TASK))
        add_task(r, &e, STREAMS, oc_ascend_kind(oc_chrome_text(&r->c, F_TASK)), OC_CH_NAME);
    else if (oc_chrome_has(&r->c, F_PLANE))
        add_task(r, &e, PLANES, oc_ascend_kind(oc_chrome_text(&r->c, F_PLANE)), OC_CH_NAME);
    else if (oc_chrome_has(&r->c, F_TYPE) && oc_chrome_has(&r->c, F_FULL))
        add_task(r, &e, STREAMS, oc_ascend_kind(oc_chrome_text(&r->c, F_TYPE)), F_FULL);
    else if (oc_chrome_has(&r->c, F_STAGE))
        add_task(r, &e, STAGES, OC_EV_KERNEL, OC_CH_CAT);
    else if (oc_chrome_has(&r->c, F_ITERATION))
        oc_timeline_add_run(r->t, e.start_ns, e.dur_ns);
    else
        add_host(r, &e, oc_chrome_text(&r->c, OC_CH_NAME));
    return NULL;
}

/* ---- file ------------------------------------------------------------------------------------------- */

static void ascend_add_warnings(struct reading *r, const struct oc_stream *s)
{
    struct oc_profile *p = r->t->profile;
    oc_chrome_describe(&r->c, s, r->t, NULL);
    if (r->waits)
        oc_diag_add(&p->diags, OC_INFO, "I-waits", "",
                    "%zu waits and other tasks without work (%.3f ms) are not device time", r->waits,
                    r->wait_ns / 1e6);
    if (r->overlays)
        oc_diag_add(&p->diags, OC_INFO, "I-overlay", "",
                    "%zu events of lanes that show the same time again were skipped", r->overlays);
    p->producer = "Ascend timeline";
    p->device = "Ascend";
}

/* Default/network-Net/conv1-Conv2d/Conv2D-op17 is a Conv2D, aclnnMatmul_MatMulCommon_MatMulV2 a MatMulV2. */
static void ascend_set_types(struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const char *name = p->rec[i].name, *from = oc_base_name(name);
        const char *end = strstr(from, "-op"), *part = strrchr(from, '_');
        if (strncmp(from, "aclnn", 5) == 0 && part && part[1])
            from = part + 1;
        p->training |= strncmp(name, "Gradients/", 10) == 0;
        if (!p->rec[i].bucket)
            p->rec[i].op_type =
                oc_intern(&p->names, from, end && end > from ? (size_t)(end - from) : strlen(from));
    }
}

/* Adds the tasks of the best source to the timeline; those of the others show the same time again. */
static void ascend_choose_source(struct reading *r)
{
    unsigned best = SOURCES;
    for (unsigned s = SOURCES; s-- > 0;)
        best = r->tasks[s].n ? s : best;
    for (unsigned s = 0; s < SOURCES; s++) {
        for (size_t i = 0; i < r->tasks[s].n && s == best; i++)
            oc_timeline_add(r->t, &r->tasks[s].event[i], 0, 0);
        r->overlays += s == best ? 0 : r->tasks[s].n;
    }
}

static int read_ascend(const struct oc_source *src, const struct oc_profile_opts *opts,
                       struct oc_profile *out, struct oc_err *err)
{
    /* Runs are marked. Repetition on one of many parallel streams does not bound a run. */
    static const struct oc_timeline_rules rules = {.kernel_are_records = true};
    struct reading r = {.t = oc_timeline_new(out)};
    int rc = oc_chrome_open(&r.c, src->file[0].s, arg_of, OC_COUNT(arg_of), err);
    if (rc == 0)
        oc_chrome_read(&r.c, &r.lanes, F_NAME, r.t, ascend_take_event, &r);
    if (rc == 0)
        ascend_choose_source(&r);
    if (rc == 0 && !(r.t->device_ns > 0))
        rc = oc_fail(err, OC_EFORMAT, "has no work of an Ascend device (offset %llu)",
                     (unsigned long long)oc_json_offset(r.c.j));
    if (rc == 0)
        ascend_add_warnings(&r, src->file[0].s);
    rc = oc_chrome_finish(&r.c, &r.lanes, r.t, rc, opts, &rules);
    ascend_set_types(out);
    for (unsigned i = 0; i < SOURCES; i++)
        free(r.tasks[i].event);
    return rc;
}

const struct oc_importer oc_importer_ascend_timeline = {
    .name = "ascend_timeline",
    .title = "Ascend timeline (msprof, torch_npu, MindSpore)",
    .seen = "msprof of 2023, MindSpore 1.x",
    .lost = "lanes that overlay others",
    .probe = ascend_probe,
    .read = read_ascend,
};
