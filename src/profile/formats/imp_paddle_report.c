/* Paddle Inference text report. A file contains one or more reports:
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
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/records.h"
#include "profile/csv_rows.h"
#include "profile/formats/paddle_report.h"

#define MAX_DEPTH 64

struct reading {
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

static void paddle_report_scale(struct oc_paddle_row *v, double ns)
{
    double *t[] = {&v->total_ns, &v->cpu_ns, &v->gpu_ns, &v->min_ns, &v->max_ns, &v->ave_ns};
    for (size_t i = 0; i < OC_COUNT(t); i++)
        *t[i] *= ns;
}

/* Removes "thread<k>::"; returns the number, or -1. */
static int64_t take_thread(struct oc_str *name)
{
    uint64_t k;
    const char *colons = name->n ? memmem(name->s, name->n, "::", 2) : NULL;
    if (!colons || !oc_str_starts(*name, "thread") ||
        !oc_csv_u64((struct oc_str){name->s + 6, (size_t)(colons - name->s) - 6}, &k) || k > UINT32_MAX)
        return -1;
    *name = oc_str_from(*name, colons + 2);
    return (int64_t)k;
}

static uint32_t paddle_report_lane_of(struct reading *r, int64_t thread)
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
static struct oc_str paddle_report_type_of(struct oc_str name)
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
static uint32_t parent_of(struct reading *r, size_t indent)
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

static void paddle_report_add_row(struct reading *r, struct oc_str line, struct oc_paddle_row v)
{
    struct oc_str name = oc_csv_trim(line);
    int64_t thread = take_thread(&name);
    uint32_t parent = parent_of(r, indent_of(line));
    struct oc_prof_rec *rec = oc_rec_add(&r->list);
    v.depth = (uint32_t)r->n_open - (r->n_open > 0);
    rec->name = oc_prof_text(r->p, name);
    rec->op_type = oc_prof_text(r->p, paddle_report_type_of(name));
    rec->lane = paddle_report_lane_of(r, thread);
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
    OC_GROW(r->row, r->n_row, r->cap_row);
    r->row[r->n_row++] = v;
}

static int table_line(struct reading *r, struct oc_str line, struct oc_err *err)
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
        paddle_report_scale(&v, r->unit_ns);
        if (r->reports.n == 1)
            paddle_report_add_row(r, rest, v);
    } else if (oc_csv_cut(r->c)) {
        oc_prof_cut(r->p, r->c);
    } else {
        oc_diag_add(&r->p->diags, OC_WARNING, "W-row", "",
                    "line %u is not a row of the table of events and was skipped", oc_csv_line_number(r->c));
    }
    return 0;
}

/* ---- lines above the table -------------------------------------------------------------------------- */

static void new_report(struct reading *r)
{
    r->in_report = true;
    r->unit_ns = 1e6; /* the writer's default */
    r->had_table = false;
}

static void head_line(struct reading *r, struct oc_str line)
{
    struct oc_str t = oc_csv_trim(line);
    if (oc_str_starts(t, "Place:") && !r->reports.n)
        r->place = oc_prof_text(r->p, oc_csv_trim(oc_str_after(t, "Place:")));
    else if (oc_str_starts(t, "Time unit:") &&
             !oc_csv_time_unit(oc_csv_trim(oc_str_after(t, "Time unit:")), &r->unit_ns))
        oc_diag_add(&r->p->diags, OC_WARNING, "W-unit", "", "line %u: unknown unit of time, ms is used",
                    oc_csv_line_number(r->c));
}

static int paddle_report_take_line(struct reading *r, struct oc_str line, struct oc_err *err)
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
    }
    return 0;
}

/* ---- importer --------------------------------------------------------------------------------------- */

/* Self time: the total minus the nested rows. Totals have six digits, so the difference may be below 0. A
 * row's time is its total, CPU and GPU time together, as the report prints it: its GPU time alone would be
 * compared with the host time of rows that use no GPU. */
static void make_self(struct reading *r)
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

static void paddle_report_finish(struct reading *r)
{
    struct oc_profile *p = r->p;
    struct oc_paddle_report *native = OC_NEW(&p->arena, struct oc_paddle_report);
    *native = (struct oc_paddle_report){OC_COPY_ARRAY(&p->arena, r->row, r->n_row), (uint32_t)r->n_row};
    p->native = native;
    p->producer = "Paddle Inference";
    p->device = r->any_gpu ? "GPU" : *r->place && strcmp(r->place, "All") != 0 ? r->place : "CPU";
    p->time_kind = r->any_gpu ? "host and device time" : "host time";
    p->stat = OC_STAT_SUM;
    p->runs_used = 1; /* one recording: the report does not mark runs */
    p->run_ns = p->busy_ns = NAN;
    if (!r->any_gpu)
        p->imported_kernel_ns = NAN;
    make_self(r);
    oc_rec_list_end(&r->list, p);
    oc_recordings_warn(&r->reports, "reports", p);
}

static int paddle_report_read_lines(struct reading *r, struct oc_err *err)
{
    struct oc_str line;
    int rc = 0;
    while (rc == 0 && oc_csv_line(r->c, &line))
        rc = paddle_report_take_line(r, line, err);
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
    struct reading r = {.c = oc_csv_open(src->file[0].s), .p = out, .place = "", .unit_ns = 1e6};
    struct oc_arena keys = {0};
    (void)opts; /* sums of one recording: every statistic is equal */
    r.lanes.arena = &keys;
    out->imported_ns = out->imported_kernel_ns = 0;
    int rc = paddle_report_read_lines(&r, err);
    if (rc == 0)
        paddle_report_finish(&r);
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
