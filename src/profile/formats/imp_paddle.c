/* Formats of Paddle: the text report of Paddle Inference, and traces of its profiler.
 *
 * Paddle Inference text report. A file contains one or more reports:
 *
 *   ------------------------->     Profiling Report     <-------------------------
 *   key: value lines
 *   Event  Calls  Total  [CPU Time (Ratio)  GPU Time (Ratio)]  Min.  Max.  Ave.  Ratio.
 *   rows, indented two blanks per level, up to an empty line
 *
 * The first versions had no column Ratio.; a report in a log may be indented as a whole. Only the first
 * report with rows is read.
 *
 * Rows are parsed from the right: the name may contain blanks, and columns may touch after a ')'. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/core/records.h"
#include "profile/csv_rows.h"
#include "profile/formats/chrome_reader.h"
#include "profile/formats/native_reports.h"

#define MAX_DEPTH 64

struct report_reading {
    struct oc_csv *c;
    struct oc_profile *p;
    struct oc_rec_list list;
    struct oc_paddle_row *row;
    size_t n_row, cap_row;
    struct oc_recording_count reports; /* with rows */
    const char *place;
    struct oc_map lanes;
    double unit_ns;
    bool has_ratio;                      /* the first versions had no column Ratio. */
    bool in_report, in_table, had_table; /* had_table: of the current report */
    bool begins;                         /* the next row is the first of its table */
    bool any_gpu;
    struct {
        size_t indent;
        uint32_t rec;
    } open[MAX_DEPTH]; /* records that may contain the next row (nesting stack) */
    size_t n_open;
};

/* ---- parsing of a line ------------------------------------------------------------------------------ */

static bool is_banner(struct oc_str s)
{
    return oc_str_starts(oc_csv_trim(s), "---") && oc_str_has(s, "->     Profiling Report     <-");
}

static bool is_event_header(struct oc_str s)
{
    s = oc_csv_trim(s);
    return oc_str_starts(s, "Event") && oc_str_has(s, "Calls") && oc_str_has(s, "Total") &&
           oc_str_has(s, "Min.") && oc_str_has(s, "Max.") && oc_str_has(s, "Ave.");
}

static size_t indent_of(struct oc_str line)
{
    size_t n = 0;
    while (n < line.n && line.s[n] == ' ')
        n++;
    return n;
}

/* Removes the last number of the line and returns it. */
static bool take_last(struct oc_str *s, double *out)
{
    size_t end = oc_csv_trim(*s).n ? (size_t)(oc_csv_trim(*s).s + oc_csv_trim(*s).n - s->s) : 0, i = end;
    while (i && s->s[i - 1] != ' ' && s->s[i - 1] != '\t' && s->s[i - 1] != ')')
        i--;
    if (!oc_csv_number((struct oc_str){s->s + i, end - i}, out, NULL))
        return false;
    s->n = i;
    return true;
}

/* Parses "14.473088 (0.010160)" at the end; drops the ratio, which follows from the time. */
static bool take_last_share(struct oc_str *s, double *out)
{
    struct oc_str t = oc_csv_trim(*s);
    double ratio;
    if (!t.n || t.s[t.n - 1] != ')')
        return false;
    const char *open = memrchr(t.s, '(', t.n);
    if (!open ||
        !oc_csv_number((struct oc_str){open + 1, (size_t)(t.s + t.n - 1 - (open + 1))}, &ratio, NULL))
        return false;
    s->n = (size_t)(open - s->s);
    return take_last(s, out);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static bool all_times(const struct oc_paddle_row *v)
{
    const double t[] = {v->calls, v->total_ns, v->min_ns, v->max_ns, v->ave_ns};
    for (size_t i = 0; i < OC_COUNT(t); i++)
        if (!(t[i] >= 0 && t[i] < 1e15))
            return false;
    return isnan(v->cpu_ns) || (v->cpu_ns >= 0 && v->cpu_ns < 1e15 && v->gpu_ns >= 0 && v->gpu_ns < 1e15);
}

/* The rest of the line is the name with its indentation. */
static bool parse_row(struct oc_str *line, bool has_ratio, struct oc_paddle_row *v)
{
    v->cpu_ns = v->gpu_ns = v->ratio = NAN;
    if ((has_ratio && !take_last(line, &v->ratio)) || !take_last(line, &v->ave_ns) ||
        !take_last(line, &v->max_ns) || !take_last(line, &v->min_ns))
        return false;
    if (take_last_share(line, &v->gpu_ns) && !take_last_share(line, &v->cpu_ns))
        return false;
    return take_last(line, &v->total_ns) && take_last(line, &v->calls) && oc_csv_trim(*line).n &&
           all_times(v);
}

static void report_scale(struct oc_paddle_row *v, double ns)
{
    double *t[] = {&v->total_ns, &v->cpu_ns, &v->gpu_ns, &v->min_ns, &v->max_ns, &v->ave_ns};
    for (size_t i = 0; i < OC_COUNT(t); i++)
        *t[i] *= ns;
}

/* Removes "thread<k>::"; returns the number, or -1. */
static int64_t take_thread(struct oc_str *name)
{
    uint64_t k;
    const char *colons = name->n ? oc_find(name->s, name->n, "::", 2) : NULL;
    if (!colons || !oc_str_starts(*name, "thread") ||
        !oc_csv_u64((struct oc_str){name->s + 6, (size_t)(colons - name->s) - 6}, &k) || k > UINT32_MAX)
        return -1;
    *name = oc_str_from(*name, colons + 2);
    return (int64_t)k;
}

static uint32_t report_lane_of(struct report_reading *r, int64_t thread)
{
    uint32_t lane = r->p->n_lane;
    if (!oc_map_add(&r->lanes, (const char *)&thread, sizeof(thread), &lane, NULL))
        return lane;
    return oc_prof_lane(
        r->p,
        (struct oc_lane){.name = thread < 0 ? "" : oc_printf(&r->p->arena, "thread%lld", (long long)thread),
                         .process = OC_NO_ID,
                         .device_id = OC_NO_ID,
                         .id = thread < 0 ? OC_NO_ID : thread});
}

/* "conv2d/conv2d3/compute": the type is conv2d; parts of a call (compute, infer_shape ...) have no type. */
static struct oc_str report_type_of(struct oc_str name)
{
    const char *slash = oc_str_chr(name, '/');
    if (!slash)
        return name;
    size_t n = (size_t)(slash - name.s);
    const char *rest = slash + 1, *second = memchr(rest, '/', name.n - n - 1);
    bool instance = !second && name.n - n - 1 > n && memcmp(rest, name.s, n) == 0;
    return instance ? (struct oc_str){name.s, n} : (struct oc_str){"", 0};
}

/* The record that contains a row with this indentation. */
static uint32_t parent_of(struct report_reading *r, size_t indent)
{
    while (r->n_open && r->open[r->n_open - 1].indent >= indent)
        r->n_open--;
    uint32_t parent = r->n_open ? r->open[r->n_open - 1].rec : OC_NONE;
    if (r->n_open < MAX_DEPTH) {
        r->open[r->n_open].indent = indent;
        r->open[r->n_open++].rec = (uint32_t)r->list.n; /* index of the record added next */
    }
    return parent;
}

static void report_add_row(struct report_reading *r, struct oc_str line, struct oc_paddle_row v)
{
    struct oc_str name = oc_csv_trim(line);
    int64_t thread = take_thread(&name);
    uint32_t parent = parent_of(r, indent_of(line));
    struct oc_prof_rec *rec = oc_rec_add(&r->list);
    v.depth = (uint32_t)r->n_open - (r->n_open > 0);
    rec->name = oc_prof_text(r->p, name);
    rec->op_type = oc_prof_text(r->p, report_type_of(name));
    rec->lane = report_lane_of(r, thread);
    rec->parent = parent;
    oc_rec_time(rec, v.total_ns);
    rec->host_ns = v.cpu_ns;
    rec->calls_per_run = v.calls;
    rec->calls = (uint64_t)v.calls;
    rec->runs = 1;
    rec->total_ns = v.total_ns;
    rec->total_kernel_ns = v.gpu_ns;
    rec->where = oc_csv_offset(r->c);
    if (parent == OC_NONE) {
        r->p->imported_ns += v.total_ns;
        r->p->imported_kernel_ns += isnan(v.gpu_ns) ? 0 : v.gpu_ns;
    }
    r->any_gpu |= !isnan(v.gpu_ns);
    OC_PUSH(r->row, r->n_row, r->cap_row) = v;
}

static int table_line(struct report_reading *r, struct oc_str line, struct oc_err *err)
{
    struct oc_paddle_row v = {0};
    struct oc_str rest = line;
    if (!oc_csv_trim(line).n) {
        r->in_table = false;
        return 0;
    }
    if (r->n_row >= oc_csv_max_rows(r->c))
        return oc_csv_too_many(r->c, err);
    if (parse_row(&rest, r->has_ratio, &v)) {
        if (r->begins)
            oc_recording_begins(&r->reports, r->c);
        r->begins = false;
        report_scale(&v, r->unit_ns);
        if (r->reports.n == 1)
            report_add_row(r, rest, v);
    } else if (oc_csv_cut(r->c)) {
        oc_prof_cut(r->p, r->c);
    } else {
        oc_diag_add(&r->p->diags, OC_WARNING, "W-row", "",
                    "line %u is not a row of the table of events and was skipped", oc_csv_line_number(r->c));
    }
    return 0;
}

/* ---- lines above the table -------------------------------------------------------------------------- */

static void new_report(struct report_reading *r)
{
    r->in_report = true;
    r->unit_ns = 1e6; /* the writer's default */
    r->had_table = false;
}

static void head_line(struct report_reading *r, struct oc_str line)
{
    struct oc_str t = oc_csv_trim(line);
    if (oc_str_starts(t, "Place:") && !r->reports.n)
        r->place = oc_prof_text(r->p, oc_csv_trim(oc_str_after(t, "Place:")));
    else if (oc_str_starts(t, "Time unit:") &&
             !oc_csv_time_unit(oc_csv_trim(oc_str_after(t, "Time unit:")), &r->unit_ns))
        oc_diag_add(&r->p->diags, OC_WARNING, "W-unit", "", "line %u: unknown unit of time, ms is used",
                    oc_csv_line_number(r->c));
}

/* "  Computation time       Total: 800      Ratio: 80%": the overhead is a part of the times of operators. */
static void split_line(struct report_reading *r, struct oc_str line)
{
    static const char *const part[] = {"Computation time", "Framework overhead"};
    struct oc_str t = oc_csv_trim(line), total = oc_str_after(t, "Total:"), word = oc_csv_word(&total);
    double v;
    char text[32];
    for (size_t i = 0; i < OC_COUNT(part); i++)
        if (oc_str_starts(t, part[i]) && oc_csv_number(word, &v, NULL) && v >= 0)
            oc_diag_add(&r->p->diags, OC_INFO, "I-split", "", "%s: %s of the times of all operators", part[i],
                        oc_format_time_ns(v * r->unit_ns, text, sizeof(text)));
}

static int report_take_line(struct report_reading *r, struct oc_str line, struct oc_err *err)
{
    if (is_banner(line)) {
        r->in_table = false;
        new_report(r);
    } else if (is_event_header(line)) {
        if (!r->in_report || r->had_table)
            new_report(r); /* an excerpt without a banner */
        r->in_table = r->had_table = r->begins = true;
        r->has_ratio = oc_str_has(line, "Ratio.");
        r->n_open = 0;
    } else if (r->in_table) {
        return table_line(r, line, err);
    } else if (r->in_report && !r->had_table) {
        head_line(r, line);
        split_line(r, line);
    }
    return 0;
}

/* ---- importer --------------------------------------------------------------------------------------- */

/* Self time: the total minus the nested rows. Totals have six digits, so the difference may be below 0. A
 * row's time is its total, CPU and GPU time together, as the report prints it: its GPU time alone would be
 * compared with the host time of rows that use no GPU. */
static void make_self(struct report_reading *r)
{
    for (size_t i = 0; i < r->list.n; i++) {
        const struct oc_prof_rec *rec = &r->list.rec[i];
        if (rec->parent == OC_NONE)
            continue;
        struct oc_prof_rec *parent = &r->list.rec[rec->parent];
        parent->total_ns -= rec->time_ns;
        parent->self_ns -= rec->time_ns;
        if (!isnan(r->row[i].gpu_ns))
            parent->total_kernel_ns =
                (isnan(parent->total_kernel_ns) ? 0 : parent->total_kernel_ns) - r->row[i].gpu_ns;
    }
}

static void report_finish(struct report_reading *r)
{
    struct oc_profile *p = r->p;
    struct oc_paddle_report *native = OC_NEW(&p->arena, struct oc_paddle_report);
    *native = (struct oc_paddle_report){OC_COPY_ARRAY(&p->arena, r->row, r->n_row), (uint32_t)r->n_row};
    p->native = native;
    p->producer = "Paddle Inference";
    p->device = r->any_gpu ? "GPU" : *r->place && strcmp(r->place, "All") != 0 ? r->place : "CPU";
    p->time_kind = r->any_gpu ? "host and device time" : "host time";
    p->stat = OC_STAT_SUM; /* one recording: the report does not mark runs */
    if (!r->any_gpu)
        p->imported_kernel_ns = NAN;
    make_self(r);
    oc_rec_list_end(&r->list, p);
    oc_recordings_warn(&r->reports, "reports", p);
}

static int report_read_lines(struct report_reading *r, struct oc_err *err)
{
    struct oc_str line;
    int rc = 0;
    while (rc == 0 && oc_csv_line(r->c, &line))
        rc = report_take_line(r, line, err);
    if (rc == 0 && oc_csv_failed(r->c))
        return oc_csv_error(r->c, err);
    if (rc == 0 && !r->in_report)
        return oc_fail(err, OC_EFORMAT, "no line 'Profiling Report' and no table of events");
    if (rc == 0 && !r->n_row)
        return oc_fail(err, OC_EFORMAT,
                       "the report has no row of events (header: Event, Calls, Total, Min., Max., Ave.)");
    return rc;
}

static int read_report(const struct oc_source *src, const struct oc_profile_opts *opts,
                       struct oc_profile *out, struct oc_err *err)
{
    struct report_reading r = {.c = oc_csv_open(src->file[0].s), .p = out, .place = "", .unit_ns = 1e6};
    struct oc_arena keys = {0};
    (void)opts; /* sums of one recording: every statistic is equal */
    r.lanes.arena = &keys;
    out->imported_ns = out->imported_kernel_ns = 0;
    int rc = report_read_lines(&r, err);
    if (rc == 0)
        report_finish(&r);
    oc_csv_close(r.c);
    oc_map_free(&r.lanes);
    oc_arena_free(&keys);
    free(r.list.rec);
    free(r.row);
    return rc;
}

static void probe_report(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has_line(peek, is_banner))
        *bid = (struct oc_bid){.score = 95, .reason = "line 'Profiling Report'"};
    else if (oc_peek_has_line(peek, is_event_header))
        *bid = (struct oc_bid){.score = 85, .reason = "header Event, Calls, Total, Min., Max., Ave."};
}

const struct oc_importer oc_importer_paddle_report = {
    .name = "paddle_report",
    .title = "Paddle Inference profiling report (text)",
    .seen = "fluid 1.x",
    .lost = "runs; names of nodes",
    .probe = probe_report,
    .read = read_report,
};

/* ---- traces ----------------------------------------------------------------------------------------- */

/* Paddle's profiler, export_chrome_tracing, schemas 1.0.0 and 1.0.1 (PaddlePaddle/Paddle:
 * paddle/fluid/platform/profiler/chrometracing_logger.cc): an object with "schemaVersion" (text),
 * "span_indx", "traceEvents" that end with an empty object, and "ExtraInfo". Names carry their duration,
 * "conv2d[0.095 ms]"; "ts" is cut to microseconds, args.start_time and end_time are not. "tid" is
 * "4242(C++)" or "4242(Python)" for one thread; the "pid" of device events is the device. Operators have
 * types but no node names. */

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

struct trace_reading {
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

static void trace_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    if (!p->n || p->data[0] != '{' || !oc_find(p->data, p->n, "\"span_indx\"", 11))
        return;
    bool version = oc_find(p->data, p->n, "\"schemaVersion\"", 15) != NULL;
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
static void trace_read_shapes(struct oc_json *j, struct oc_arena *a, struct inputs *in)
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

static void trace_read_inputs(struct trace_reading *r, struct oc_event_detail *d)
{
    const struct oc_str shapes = r->c.f[F_SHAPES], dtypes = r->c.f[F_DTYPES];
    struct inputs *in = oc_xmalloc(sizeof(*in));
    struct oc_stream *s = oc_stream_mem(shapes.s, shapes.n), *s2 = oc_stream_mem(dtypes.s, dtypes.n);
    struct oc_json *j = oc_json_open(s), *j2 = oc_json_open(s2);
    in->n = 0;
    trace_read_shapes(j, &r->out->arena, in);
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

static uint32_t trace_detail_of(struct trace_reading *r, unsigned kind)
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
        trace_read_inputs(r, &r->t->detail[id]);
    return id;
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Removes the duration that the writer appends: the last "[<number> ms]" or "[<number> us]". */
static struct oc_str trace_plain_name(struct oc_str name)
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

static unsigned trace_find_kind(struct trace_reading *r)
{
    for (size_t i = 0; i < OC_COUNT(kind_of); i++)
        if (oc_chrome_is(&r->c, OC_CH_CAT, kind_of[i].cat))
            return kind_of[i].kind;
    oc_chrome_leave_out(&r->left_out, r->c.f[OC_CH_CAT]);
    return OC_EV_COUNT;
}

/* Start and duration from the arguments; without them "ts" (a different clock) and "dur". */
static const char *trace_times_of(struct trace_reading *r, int64_t *start_ns, double *dur_ns)
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

static uint16_t trace_lane_of(struct trace_reading *r, bool device)
{
    static const unsigned field[2] = {OC_CH_PID, OC_CH_TID};
    return oc_chrome_lane_at(&r->lanes, &r->c, r->t, OC_NO_ID, device, field);
}

static const char *trace_take_event(void *ctx)
{
    struct trace_reading *r = ctx;
    int64_t start_ns;
    uint64_t launch = 0;
    struct oc_event e = {.detail = OC_NONE};
    unsigned kind = trace_find_kind(r);
    if (kind == OC_EV_COUNT)
        return NULL;
    if (!oc_chrome_has(&r->c, OC_CH_NAME))
        return "missing \"name\"";
    const char *why = trace_times_of(r, &start_ns, &e.dur_ns);
    if (why)
        return why;
    struct oc_str name = trace_plain_name(oc_chrome_text(&r->c, OC_CH_NAME));
    if (kind == OC_EV_API && oc_find(name.s, name.n, "Synchronize", 11))
        kind = OC_EV_SYNC;
    e.name = oc_timeline_name(r->t, name.s, name.n);
    e.start_ns = oc_timeline_at(r->t, start_ns);
    e.kind = (uint8_t)kind;
    e.lane = trace_lane_of(r, oc_event_on_device(kind));
    e.detail = trace_detail_of(r, kind);
    if (kind >= OC_EV_API)
        oc_chrome_u64(&r->c, F_CORRELATION, &launch);
    r->device |= oc_event_on_device(kind);
    r->mlu |= oc_chrome_is(&r->c, OC_CH_CAT, "MluRuntime");
    oc_timeline_add(r->t, &e, launch, 0);
    r->n_event++;
    return NULL;
}

/* ---- file ------------------------------------------------------------------------------------------- */

static bool trace_other_member(void *ctx, struct oc_str key, struct oc_json *j)
{
    struct trace_reading *r = ctx;
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

static void trace_add_warnings(struct trace_reading *r, const struct oc_stream *s)
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
    struct trace_reading r = {.out = out, .t = oc_timeline_new(out)};
    int rc = oc_chrome_open(&r.c, src->file[0].s, arg_of, OC_COUNT(arg_of), err);
    r.c.other = trace_other_member;
    r.c.ctx = &r;
    if (rc == 0)
        oc_chrome_read(&r.c, &r.lanes, F_NAME, r.t, trace_take_event, &r);
    if (rc == 0 && !r.n_event)
        rc = oc_fail(err, OC_EFORMAT, "has no events of Paddle's profiler (offset %llu)",
                     (unsigned long long)oc_json_offset(r.c.j));
    if (rc == 0)
        trace_add_warnings(&r, src->file[0].s);
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
    .probe = trace_probe,
    .read = read_paddle,
};
