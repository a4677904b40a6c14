/* Paddle's profiler, export_chrome_tracing, schemas 1.0.0 and 1.0.1 (PaddlePaddle/Paddle:
 * paddle/fluid/platform/profiler/chrometracing_logger.cc): an object with "schemaVersion" (text),
 * "span_indx", "traceEvents" that end with an empty object, and "ExtraInfo". Names carry their duration,
 * "conv2d[0.095 ms]"; "ts" is cut to microseconds, args.start_time and end_time are not. "tid" is
 * "4242(C++)" or "4242(Python)" for one thread; the "pid" of device events is the device. Operators have
 * types but no node names. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/records.h"
#include "profile/formats/chrome_reader.h"

enum { F_NAME = OC_CH_ARG, F_CORRELATION, F_START, F_END, F_BYTES, F_SHAPES, F_DTYPES, MAX_INPUTS = 256 };

static const struct oc_chrome_key arg_of[] = {
    {"start_time", F_START}, {"end_time", F_END},        {"correlation id", F_CORRELATION},
    {"bytes", F_BYTES},      {"input_shapes", F_SHAPES}, {"input_dtypes", F_DTYPES},
    {"name", F_NAME},
};

static const struct {
    const char *cat;
    uint8_t kind;
} kind_of[] = {
    {"Operator", OC_EV_OPERATOR},
    {"OperatorInner", OC_EV_INNER},
    {"CudaRuntime", OC_EV_API},
    {"Kernel", OC_EV_KERNEL},
    {"Memcpy", OC_EV_MEMCPY},
    {"Memset", OC_EV_MEMSET},
    {"ProfileStep", OC_EV_STEP},
    {"Dataloader", OC_EV_DATALOADER},
    {"Forward", OC_EV_FORWARD},
    {"Backward", OC_EV_BACKWARD},
    {"Optimization", OC_EV_OPTIMIZATION},
    {"Communication", OC_EV_COMMUNICATION},
    {"UserDefined", OC_EV_USER},
    {"PythonUserDefined", OC_EV_USER},
    {"PythonOp", OC_EV_PYTHON},
    {"DygraphKernelCall", OC_EV_INNER},
    {"StaticKernelCall", OC_EV_INNER},
    {"MluRuntime", OC_EV_API},
};

struct reading {
    struct oc_chrome c;
    struct oc_chrome_lanes lanes;
    struct oc_timeline *t;
    struct oc_profile *out;
    struct oc_buf key;
    char schema[16];
    int64_t clock_ns; /* end of "ts" when start_time is 0 */
    bool has_clock, device, mlu;
    size_t n_event;
    struct oc_chrome_left_out left_out;
};

/* ---- probe ------------------------------------------------------------------------------------------ */

static void paddle_trace_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    if (!p->n || p->data[0] != '{' || !memmem(p->data, p->n, "\"span_indx\"", 11))
        return;
    bool version = memmem(p->data, p->n, "\"schemaVersion\"", 15) != NULL;
    *bid = (struct oc_bid){.score = version ? 96 : 70, .reason = "span_indx of Paddle's profiler"};
}

/* ---- recorded inputs -------------------------------------------------------------------------------- */

/* Early versions write uint16 for bfloat16. */
static unsigned dtype_named(struct oc_str name)
{
    return oc_str_eq(name, "uint16") ? OC_DT_BFLOAT16 : oc_dtype_by_name(name.s, name.n);
}

struct inputs {
    struct oc_type type[MAX_INPUTS];
    struct oc_str slot[MAX_INPUTS]; /* views of the text */
    uint32_t number[MAX_INPUTS];    /* index in its slot */
    uint32_t n;
};

/* {"Input": [[1,3,224,224]], "Filter": [[64,3,7,7]]} */
static void paddle_trace_read_shapes(struct oc_json *j, struct oc_arena *a, struct inputs *in)
{
    struct oc_str slot;
    if (!oc_json_enter(j))
        return;
    while (oc_json_member(j, &slot)) {
        uint32_t number = 0;
        if (!oc_json_enter(j))
            continue;
        while (oc_json_item(j)) {
            struct oc_shape shape;
            if (!oc_recorded_dims(j, a, &shape) || in->n == MAX_INPUTS)
                continue;
            in->type[in->n] = oc_tensor_type(OC_DT_UNDEFINED, shape);
            in->slot[in->n] = slot;
            in->number[in->n++] = number++;
        }
    }
}

/* {"Input": ["float32"]}: by slot and index. */
static void read_dtypes(struct oc_json *j, struct inputs *in)
{
    struct oc_str slot, name;
    if (!oc_json_enter(j))
        return;
    while (oc_json_member(j, &slot)) {
        uint32_t number = 0;
        if (!oc_json_enter(j))
            continue;
        for (; oc_json_item(j); number++) {
            if (!oc_json_string(j, &name))
                continue;
            for (uint32_t i = 0; i < in->n; i++)
                if (in->number[i] == number && in->slot[i].n == slot.n &&
                    memcmp(in->slot[i].s, slot.s, slot.n) == 0)
                    in->type[i].dtype = (uint8_t)dtype_named(name);
        }
    }
}

static void paddle_trace_read_inputs(struct reading *r, struct oc_event_detail *d)
{
    const struct oc_str shapes = r->c.f[F_SHAPES], dtypes = r->c.f[F_DTYPES];
    struct inputs *in = oc_xmalloc(sizeof(*in));
    struct oc_stream *s = oc_stream_mem(shapes.s, shapes.n), *s2 = oc_stream_mem(dtypes.s, dtypes.n);
    struct oc_json *j = oc_json_open(s), *j2 = oc_json_open(s2);
    in->n = 0;
    paddle_trace_read_shapes(j, &r->out->arena, in);
    if (dtypes.n)
        read_dtypes(j2, in);
    d->in = OC_COPY_ARRAY(&r->out->arena, in->type, in->n);
    d->n_in = in->n;
    d->has_in = in->n > 0;
    oc_json_close(j);
    oc_json_close(j2);
    oc_stream_close(s);
    oc_stream_close(s2);
    free(in);
}

static uint32_t paddle_trace_detail_of(struct reading *r, unsigned kind)
{
    const struct oc_str shapes = r->c.f[F_SHAPES], dtypes = r->c.f[F_DTYPES];
    uint64_t bytes;
    uint32_t id;
    bool new;
    if (kind == OC_EV_MEMCPY || kind == OC_EV_MEMSET)
        return oc_chrome_u64(&r->c, F_BYTES, &bytes) ? oc_timeline_bytes(r->t, bytes) : OC_NONE;
    if (shapes.n <= 2)
        return OC_NONE;
    oc_buf_clear(&r->key);
    oc_buf_add(&r->key, shapes.s, shapes.n);
    oc_buf_char(&r->key, '\x1f');
    if (dtypes.n)
        oc_buf_add(&r->key, dtypes.s, dtypes.n);
    id = oc_timeline_detail(r->t, r->key.data, r->key.n, &new);
    if (new)
        paddle_trace_read_inputs(r, &r->t->detail[id]);
    return id;
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Removes the duration that the writer appends: the last "[<number> ms]" or "[<number> us]". */
static struct oc_str paddle_trace_plain_name(struct oc_str name)
{
    size_t n = name.n;
    if (n < 6 || name.s[n - 1] != ']' || name.s[n - 2] != 's' ||
        (name.s[n - 3] != 'm' && name.s[n - 3] != 'u') || name.s[n - 4] != ' ')
        return name;
    for (n -= 4; n && (isdigit((unsigned char)name.s[n - 1]) || name.s[n - 1] == '.'); n--)
        ;
    if (n && name.s[n - 1] == '[')
        name.n = n - 1;
    return name;
}

static unsigned paddle_trace_find_kind(struct reading *r)
{
    for (size_t i = 0; i < OC_COUNT(kind_of); i++)
        if (oc_chrome_is(&r->c, OC_CH_CAT, kind_of[i].cat))
            return kind_of[i].kind;
    oc_chrome_leave_out(&r->left_out, r->c.f[OC_CH_CAT]);
    return OC_EV_COUNT;
}

/* Start and duration from the arguments; without them "ts" (a different clock) and "dur". */
static const char *paddle_trace_times_of(struct reading *r, int64_t *start_ns, double *dur_ns)
{
    int64_t ts_ns, end_ns;
    bool ts = oc_chrome_ts_ns(&r->c, OC_CH_TS, &ts_ns), start = oc_chrome_ts_ns(&r->c, F_START, start_ns);
    if (!ts && !start)
        return "\"ts\" is missing or not a number";
    if (start && ts && !r->has_clock) {
        r->clock_ns = ts_ns - *start_ns / 1000 * 1000;
        r->has_clock = true;
    }
    if (!start)
        *start_ns = ts_ns - r->clock_ns;
    if (start && oc_chrome_ts_ns(&r->c, F_END, &end_ns))
        *dur_ns = (double)(end_ns - *start_ns);
    else if (!oc_chrome_dur_ns(&r->c, OC_CH_DUR, dur_ns))
        return "\"dur\" is missing or not a number";
    return *dur_ns < 0 ? "\"dur\" is negative" : NULL;
}

static uint16_t paddle_trace_lane_of(struct reading *r, bool device)
{
    static const unsigned field[2] = {OC_CH_PID, OC_CH_TID};
    return oc_chrome_lane_at(&r->lanes, &r->c, r->t, device, field);
}

static const char *paddle_trace_take_event(void *ctx)
{
    struct reading *r = ctx;
    int64_t start_ns;
    uint64_t launch = 0;
    struct oc_event e = {.detail = OC_NONE};
    unsigned kind = paddle_trace_find_kind(r);
    if (kind == OC_EV_COUNT)
        return NULL;
    if (!oc_chrome_has(&r->c, OC_CH_NAME))
        return "missing \"name\"";
    const char *why = paddle_trace_times_of(r, &start_ns, &e.dur_ns);
    if (why)
        return why;
    struct oc_str name = paddle_trace_plain_name(oc_chrome_text(&r->c, OC_CH_NAME));
    if (kind == OC_EV_API && memmem(name.s, name.n, "Synchronize", 11))
        kind = OC_EV_SYNC;
    e.name = oc_timeline_name(r->t, name.s, name.n);
    e.start_ns = oc_timeline_at(r->t, start_ns);
    e.kind = (uint8_t)kind;
    e.lane = paddle_trace_lane_of(r, oc_event_on_device(kind));
    e.detail = paddle_trace_detail_of(r, kind);
    if (kind >= OC_EV_API)
        oc_chrome_u64(&r->c, F_CORRELATION, &launch);
    r->device |= oc_event_on_device(kind);
    r->mlu |= oc_chrome_is(&r->c, OC_CH_CAT, "MluRuntime");
    oc_timeline_add(r->t, &e, launch, 0);
    r->n_event++;
    return NULL;
}

/* ---- file ------------------------------------------------------------------------------------------- */

static bool paddle_trace_other_member(void *ctx, struct oc_str key, struct oc_json *j)
{
    struct reading *r = ctx;
    struct oc_str text;
    if (oc_str_eq(key, "schemaVersion")) {
        if (oc_json_string(j, &text))
            snprintf(r->schema, sizeof(r->schema), "%.*s", (int)(text.n < 12 ? text.n : 12), text.s);
        return true;
    }
    if (!oc_str_eq(key, "ExtraInfo") || oc_json_peek(j) != OC_JSON_OBJECT || !oc_json_enter(j))
        return false;
    while (oc_json_member(j, &text)) {
        if (oc_str_eq(text, "Process Cpu Utilization"))
            oc_json_double(j, &r->t->cpu_process_share);
        else if (oc_str_eq(text, "System Cpu Utilization"))
            oc_json_double(j, &r->t->cpu_system_share);
        else
            oc_json_skip(j);
    }
    return true;
}

static void paddle_trace_add_warnings(struct reading *r, const struct oc_stream *s)
{
    struct oc_profile *p = r->out;
    oc_chrome_describe(&r->c, s, r->t, &r->left_out);
    p->producer =
        r->schema[0] ? oc_printf(&p->arena, "Paddle profiler, schema %s", r->schema) : "Paddle profiler";
    p->device = !r->device ? "CPU" : r->mlu ? "MLU" : "CUDA";
}

/* "conv2d dygraph" is the operator conv2d. */
static void clean_types(struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const char *end = strstr(p->rec[i].op_type, " dygraph");
        if (end && !p->rec[i].bucket)
            p->rec[i].op_type = oc_intern(&p->names, p->rec[i].op_type, (size_t)(end - p->rec[i].op_type));
    }
}

static int read_paddle(const struct oc_source *src, const struct oc_profile_opts *opts,
                       struct oc_profile *out, struct oc_err *err)
{
    static const struct oc_timeline_rules rules = {.find_runs = true, .keep_call_positions = true};
    struct reading r = {.out = out, .t = oc_timeline_new(out)};
    int rc = oc_chrome_open(&r.c, src->file[0].s, arg_of, OC_COUNT(arg_of), err);
    r.c.other = paddle_trace_other_member;
    r.c.ctx = &r;
    if (rc == 0)
        oc_chrome_read(&r.c, &r.lanes, F_NAME, r.t, paddle_trace_take_event, &r);
    if (rc == 0 && !r.n_event)
        rc = oc_fail(err, OC_EFORMAT, "has no events of Paddle's profiler (offset %llu)",
                     (unsigned long long)oc_json_offset(r.c.j));
    if (rc == 0)
        paddle_trace_add_warnings(&r, src->file[0].s);
    rc = oc_chrome_finish(&r.c, &r.lanes, r.t, rc, opts, &rules);
    clean_types(out);
    oc_buf_free(&r.key);
    return rc;
}

const struct oc_importer oc_importer_paddle_trace = {
    .name = "paddle_trace",
    .title = "Paddle profiler trace (paddle.profiler)",
    .seen = "none; schemas 1.0.0 and 1.0.1 from the writer",
    .lost = "names of nodes: operators have types only",
    .probe = paddle_trace_probe,
    .read = read_paddle,
};
