/* MindSpore's CSV files of one device: GPU and CPU operators, operator types, CUDA activities, Ascend AI
 * core and AI CPU operators, and their shapes (section shapes). One row of `layouts` per kind of file.
 * Units are in the headers; Ascend files without a unit are in milliseconds. Times are sums of the whole
 * recording, and the files do not say how many steps it has; only AI core tables without a column
 * execution_frequency are averages per step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "onnxcost/profile.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"

/* ---- shapes ----------------------------------------------------------------------------------------- */

#define MAX_SLOTS 256

static bool is_shapes_header(const struct oc_str *f, size_t n)
{
    return oc_csv_column(f, n, "op_info") != OC_CSV_NONE &&
           (oc_csv_column(f, n, "full_kernel_name") != OC_CSV_NONE ||
            oc_csv_column(f, n, "full_op_name") != OC_CSV_NONE);
}

static bool shapes_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    (void)ctx;
    return is_shapes_header(f, n);
}

struct slots {
    struct oc_type type[MAX_SLOTS];
    uint32_t n;
};

/* The shape is a list, or a text "2,3,227,227"; the writer uses the empty text for both "no shape" and a
 * scalar. */
static struct oc_type read_tensor(struct oc_json *j, struct oc_arena *a)
{
    struct oc_type t = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked());
    struct oc_str key, text;
    unsigned dtype = OC_DT_UNDEFINED;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        if (oc_str_eq(key, "data_type") && oc_json_string(j, &text))
            dtype = oc_recorded_dtype(text); /* UNKNOWN and END are not types */
        else if (!oc_str_eq(key, "shape"))
            oc_json_skip(j);
        else if (oc_json_peek(j) == OC_JSON_ARRAY)
            oc_recorded_dims(j, a, &t.shape);
        else if (oc_json_string(j, &text) && text.n && !oc_recorded_shape(a, text, dtype, &t))
            t.shape = oc_shape_unranked();
    }
    return oc_tensor_type(dtype, t.shape);
}

/* "input_12": input slot 12. False: another key. */
static bool slot_of(struct oc_str key, const char *what, uint32_t *slot)
{
    size_t n = strlen(what);
    uint64_t v;
    if (key.n <= n || memcmp(key.s, what, n) != 0 || !oc_parse_u64(key.s + n, key.n - n, &v) ||
        v >= MAX_SLOTS)
        return false;
    *slot = (uint32_t)v;
    return true;
}

static void set_slot(struct slots *s, uint32_t slot, struct oc_type type)
{
    while (s->n <= slot)
        s->type[s->n++] = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked());
    s->type[slot] = type;
}

/* False: invalid JSON. */
static bool read_op_info(struct oc_str text, struct oc_arena *a, struct oc_prof_rec *rec)
{
    static const struct slots none;
    struct slots in = none, out = none;
    struct oc_stream *s = oc_stream_mem(text.s, text.n);
    struct oc_json *j = oc_json_open(s);
    struct oc_str key;
    uint64_t offset;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        uint32_t slot;
        if (slot_of(key, "input_", &slot))
            set_slot(&in, slot, read_tensor(j, a));
        else if (slot_of(key, "output_", &slot))
            set_slot(&out, slot, read_tensor(j, a));
        else
            oc_json_skip(j);
    }
    bool ok = !oc_json_error(j, &offset) && !oc_json_truncated(j);
    if (ok && in.n) {
        rec->in = OC_COPY_ARRAY(a, in.type, in.n);
        rec->n_in = in.n;
        rec->has_in = true;
    }
    if (ok && out.n) {
        rec->out = OC_COPY_ARRAY(a, out.type, out.n);
        rec->n_out = out.n;
        rec->has_out = true;
    }
    oc_json_close(j);
    oc_stream_close(s);
    return ok;
}

struct columns {
    size_t name, type, info;
};

static void take_shapes_row(const struct oc_csv *c, const struct columns *col, const struct oc_str *f,
                            size_t n, const struct oc_map *by_name, struct oc_profile *p,
                            struct oc_prof_rec *rec)
{
    struct oc_str name = oc_csv_at(f, n, col->name), type = oc_csv_at(f, n, col->type);
    uint32_t i = oc_map_get(by_name, name.s, name.n);
    if (i == OC_NONE || rec[i].has_in || rec[i].has_out) /* several tasks of one operator: use the first */
        return;
    if (type.n)
        rec[i].op_type = oc_prof_text(p, type);
    if (!read_op_info(oc_csv_at(f, n, col->info), &p->arena, &rec[i]))
        oc_diag_add(&p->diags, OC_WARNING, "W-shapes", rec[i].name, "line %u: op_info is not valid JSON",
                    oc_csv_line_number(c));
}

static int read_shapes_rows(struct oc_csv *c, const struct oc_map *by_name, struct oc_profile *p,
                            struct oc_prof_rec *rec, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    if (oc_csv_need(c, shapes_is_header, NULL, &f, &n, "with full_kernel_name and op_info", err) != 0)
        return -1;
    struct columns col = {oc_csv_column(f, n, "full_kernel_name"), oc_csv_column(f, n, "kernel_type"),
                          oc_csv_column(f, n, "op_info")};
    if (col.name == OC_CSV_NONE)
        col.name = oc_csv_column(f, n, "full_op_name");
    if (col.type == OC_CSV_NONE)
        col.type = oc_csv_column(f, n, "op_type");
    while (oc_csv_row(c, &f, &n))
        if (n > col.info && n > col.name)
            take_shapes_row(c, &col, f, n, by_name, p, rec);
    return oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
}

/* framework_raw_<n>.csv: operator shapes by full operator name, from the JSON text in column op_info:
 *
 *   {"input_0": {"format": "NC1HWC0", "data_type": "FLOAT16", "shape": [..] or "2,3,227,227"}, "output_0":
 * ..}
 *
 * Shapes are in the device's own layout where the format says so. Sets in and out of the records with that
 * name; texts and types are allocated in the profile's arena. A broken row is a warning, not an error. */
static int read_shapes(struct oc_stream *s, struct oc_profile *p, struct oc_prof_rec *rec, size_t n,
                       struct oc_err *err)
{
    struct oc_arena keys = {0};
    struct oc_map by_name = {.arena = &keys};
    struct oc_csv *c = oc_csv_open(s);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)i;
        oc_map_add(&by_name, rec[i].name, strlen(rec[i].name), &at, NULL);
    }
    int rc = read_shapes_rows(c, &by_name, p, rec, err);
    oc_csv_close(c);
    oc_map_free(&by_name);
    oc_arena_free(&keys);
    return rc;
}

enum { OPERATORS, TYPES, ACTIVITIES, SHAPES, AICPU, STEPS };
static const struct oc_part parts[] = {
    [OPERATORS] = {"operators", "_detail.csv", false},
    [TYPES] = {"operator types", "_type.csv", false},
    [ACTIVITIES] = {"activities", NULL, false},
    [SHAPES] = {"shapes", NULL, true},
    [AICPU] = {"AI CPU", NULL, false},
    [STEPS] = {"step trace", NULL, false},
};

#define STEP_COUNT_NS 10 /* a count of the system counter of 100 MHz */

enum { NAME, TYPE, CALLS, TOTAL, MEAN, DEVICE, MIN, MAX, STREAM, N_COLUMN };

struct layout {
    unsigned part;
    const char *device; /* "": determined by the columns */
    const char *column[N_COLUMN];
    const char *also; /* a column that only this file has */
    bool on_device;   /* the times are device times */
};

/* clang-format off */
static const struct layout layouts[] = {
    {OPERATORS, "GPU", {[NAME] = "op_full_name", [TYPE] = "op_type", [CALLS] = "op_occurrences",
     [TOTAL] = "op_total_time", [DEVICE] = "cuda_activity_cost_time"}, "cuda_activity_cost_time", false},
    {OPERATORS, "CPU", {[NAME] = "full_op_name", [TYPE] = "op_type", [CALLS] = "op_occurrences",
     [TOTAL] = "op_total_time"}, "op_side", false},
    {OPERATORS, "", {[NAME] = "op_full_name", [TYPE] = "op_type", [CALLS] = "op_occurrences",
     [TOTAL] = "op_total_time"}, "op_side", false},
    {ACTIVITIES, "GPU", {[NAME] = "name", [TYPE] = "type", [CALLS] = "occurrences", [TOTAL] = "total_duration",
     [MIN] = "min_duration", [MAX] = "max_duration", [STREAM] = "stream_id"}, "op_full_name", true},
    {TYPES, "GPU", {[NAME] = "op_type", [CALLS] = "type_occurrences", [TOTAL] = "total_time"},
     "total_proportion", false},
    {AICPU, "Ascend", {[NAME] = "kernel_type", [TOTAL] = "total_time"}, "dispatch_time", true},
    {TYPES, "Ascend", {[NAME] = "kernel_type", [CALLS] = "execution_frequency", [TOTAL] = "total_time"},
     "percent", true},
    {TYPES, "Ascend", {[NAME] = "op_type", [CALLS] = "execution_frequency", [TOTAL] = "execution_time"},
     "percent", true},
    {OPERATORS, "Ascend", {[NAME] = "full_kernel_name", [CALLS] = "execution_frequency", [MEAN] = "task_duration"},
     "task_duration", true},
    {OPERATORS, "Ascend", {[NAME] = "full_kernel_name", [CALLS] = "execution_frequency", [MEAN] = "execution_time"},
     "execution_time", true},
    {OPERATORS, "Ascend", {[NAME] = "full_kernel_time", [CALLS] = "execution_frequency", [MEAN] = "execution_time"},
     "execution_time", true}, /* an older version misspells the column */
    {STEPS, "Ascend", {[NAME] = "step_num", [TOTAL] = "total"}, "iteration_interval", true},
    {OPERATORS, "Ascend", {[NAME] = "full_op_name", [MEAN] = "execution_time"}, "execution_time", true},
};
/* clang-format on */

static const struct layout *mindspore_layout_of(const struct oc_str *f, size_t n)
{
    for (size_t i = 0; i < OC_COUNT(layouts); i++) {
        bool all = oc_csv_column(f, n, layouts[i].also) != OC_CSV_NONE;
        for (unsigned k = 0; k < N_COLUMN && all; k++)
            all = !layouts[i].column[k] || oc_csv_column(f, n, layouts[i].column[k]) != OC_CSV_NONE;
        if (all)
            return &layouts[i];
    }
    return NULL;
}

/* *ctx: the layout, NULL for a table of shapes. */
static bool mindspore_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    const struct layout *l = mindspore_layout_of(f, n);
    *(const struct layout **)ctx = l;
    return l || is_shapes_header(f, n);
}

/* ---- one table -------------------------------------------------------------------------------------- */

struct row {
    struct oc_str name, type;
    uint64_t calls;
    double total_ns, device_ns, min_ns, max_ns; /* NAN: no such column */
    int64_t stream;
};

struct table {
    struct oc_csv *c;
    const struct layout *layout;
    struct oc_columns of;
    size_t rows, width;
};

static int mindspore_open_table(struct table *t, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    if (oc_csv_need(t->c, mindspore_is_header, &t->layout, &f, &n, "of a known MindSpore table", err) != 0)
        return -1;
    if (!t->layout)
        return oc_fail(err, OC_EFORMAT, "no header line of a known MindSpore table");
    t->of = (struct oc_columns){
        .c = t->c, .title = t->layout->column, .n = N_COLUMN, .first_time = TOTAL, .last_time = MAX};
    unsigned bad = oc_columns_find(&t->of, f, n, t->layout->part == STEPS ? STEP_COUNT_NS : 1e6);
    for (unsigned i = 0; i < N_COLUMN; i++)
        if (t->of.at[i] != OC_CSV_NONE && t->of.at[i] + 1 > t->width)
            t->width = t->of.at[i] + 1;
    if (bad == N_COLUMN)
        return 0;
    struct oc_str unit;
    oc_csv_split_unit(f[t->of.at[bad]], &unit);
    return oc_csv_fail(t->c, err, "column '%s': unknown unit '%.*s'", t->layout->column[bad],
                       (int)(unit.n < 40 ? unit.n : 40), unit.s);
}

/* 1: a row, 0: end of table, -1: error. */
static int next_row(struct table *t, struct oc_profile *p, struct row *r, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    double ns[N_COLUMN];
    uint64_t stream;
    do {
        if (!oc_csv_row(t->c, &f, &n)) {
            if (oc_csv_failed(t->c))
                return oc_csv_error(t->c, err);
            if (oc_csv_cut(t->c) && !p->truncated && oc_csv_offset(t->c))
                oc_prof_cut(p, t->c);
            return 0;
        }
    } while (!n);
    if (n < t->width && oc_csv_cut(t->c)) {
        oc_prof_cut(p, t->c);
        return 0;
    }
    if (++t->rows > oc_csv_max_rows(t->c))
        return oc_csv_too_many(t->c, err);
    if (n < t->width)
        return oc_csv_fail(t->c, err, "%zu fields, but the header has %zu or more", n, t->width);
    *r = (struct row){
        .name = oc_columns_cell(&t->of, f, n, NAME), .type = oc_columns_cell(&t->of, f, n, TYPE), .calls = 1};
    if (t->of.at[CALLS] != OC_CSV_NONE &&
        oc_csv_cell_count(t->c, t->layout->column[CALLS], oc_columns_cell(&t->of, f, n, CALLS), &r->calls,
                          err))
        return -1;
    for (unsigned k = TOTAL; k <= MAX; k++)
        if (oc_columns_time(&t->of, f, n, k, &ns[k], err))
            return -1;
    r->total_ns = isnan(ns[TOTAL]) ? ns[MEAN] * (double)r->calls : ns[TOTAL];
    r->device_ns = t->layout->on_device ? r->total_ns : ns[DEVICE];
    r->min_ns = ns[MIN];
    r->max_ns = ns[MAX];
    r->stream = oc_csv_u64(oc_columns_cell(&t->of, f, n, STREAM), &stream) && stream < INT64_MAX
                    ? (int64_t)stream
                    : OC_NO_ID;
    return 1;
}

/* ---- tables to records ------------------------------------------------------------------------------ */

struct reading {
    struct oc_profile *p;
    const struct oc_profile_opts *opts;
    struct oc_rec_list list;
    struct oc_prof_kernel *kernel;
    size_t n_kernel, cap_kernel;
    struct oc_map names; /* labels of AI CPU types, and of streams */
    const char *device;
    bool on_device, has_device;
    bool have_operators; /* their times are already in other tables */
    uint32_t steps;      /* of a step trace */
    bool averages;       /* of a step: the table has no number of calls */
    bool has_aicpu;
};

/* Parses the type: "Default/network/conv1-Conv2d/Conv2D-op17" is a Conv2D. */
static struct oc_str type_in_name(struct oc_str name)
{
    const char *slash = name.n ? memrchr(name.s, '/', name.n) : NULL;
    struct oc_str last = slash ? oc_str_from(name, slash + 1) : name;
    const char *op = last.n ? memrchr(last.s, '-', last.n) : NULL;
    size_t tail = op ? (size_t)(last.s + last.n - op) : 0;
    if (tail < 4 || memcmp(op, "-op", 3) != 0)
        return (struct oc_str){"", 0};
    for (const char *d = op + 3; d < last.s + last.n; d++)
        if (!oc_is_digit(*d))
            return (struct oc_str){"", 0};
    return oc_str_before(last, op);
}

static struct oc_prof_rec *mindspore_add_record(struct reading *m, const struct table *t, const struct row *r)
{
    struct oc_prof_rec *rec = oc_rec_add(&m->list);
    rec->name = oc_prof_text(m->p, r->name);
    rec->calls = r->calls;
    rec->total_ns = r->total_ns;
    rec->total_kernel_ns = r->device_ns;
    rec->where = oc_csv_offset(t->c);
    return rec;
}

static void count_time(struct reading *m, const struct row *r)
{
    m->p->imported_ns += r->total_ns;
    if (isnan(r->device_ns))
        return;
    m->p->imported_kernel_ns += r->device_ns;
    m->has_device = true;
}

static int mindspore_read_operators(struct reading *m, struct table *t, struct oc_err *err)
{
    struct row r = {.calls = 0};
    int rc;
    while ((rc = next_row(t, m->p, &r, err)) > 0) {
        struct oc_prof_rec *rec = mindspore_add_record(m, t, &r);
        rec->op_type = oc_prof_text(m->p, r.type.n ? r.type : type_in_name(r.name));
        rec->provider = t->layout->part == OPERATORS && t->layout->on_device ? "AI Core" : "";
        count_time(m, &r);
    }
    m->averages |= t->of.at[CALLS] == OC_CSV_NONE;
    m->have_operators = true;
    return rc;
}

/* One row per execution, one record per type. */
static int read_aicpu(struct reading *m, struct table *t, struct oc_err *err)
{
    struct row r = {.calls = 0};
    int rc;
    while ((rc = next_row(t, m->p, &r, err)) > 0) {
        uint32_t i = (uint32_t)m->list.n;
        if (oc_map_add(&m->names, r.name.s, r.name.n, &i, NULL)) {
            struct oc_prof_rec *rec = mindspore_add_record(m, t, &r);
            rec->op_type = rec->name;
            rec->provider = "AI CPU";
        } else {
            m->list.rec[i].calls++;
            m->list.rec[i].total_ns += r.total_ns;
            m->list.rec[i].total_kernel_ns += r.device_ns;
        }
        count_time(m, &r);
    }
    m->has_aicpu = true;
    return rc;
}

/* Records after `from` replace those before it. */
static void drop_operators(struct reading *m, size_t from)
{
    m->list.n -= from;
    if (m->list.n)
        memmove(m->list.rec, m->list.rec + from, m->list.n * sizeof(*m->list.rec));
    m->averages = false;
}

/* Sums per type become records if there are no operators; otherwise they are a check. Where the two differ,
 * they are of two recordings, and the file that the user named counts. */
static int mindspore_read_types(struct reading *m, struct table *t, bool named, struct oc_err *err)
{
    struct row r = {.calls = 0};
    size_t from = m->list.n;
    double operators_ns = m->p->imported_ns, operators_device_ns = m->p->imported_kernel_ns, sum_ns;
    int rc;
    m->p->imported_ns = m->p->imported_kernel_ns = 0;
    while ((rc = next_row(t, m->p, &r, err)) > 0) {
        mindspore_add_record(m, t, &r)->op_type = oc_prof_text(m->p, r.name);
        count_time(m, &r);
    }
    sum_ns = m->p->imported_ns;
    bool differ = m->have_operators && fabs(sum_ns - operators_ns) > 1e-3 * operators_ns;
    if (rc == 0 && differ)
        oc_diag_add(&m->p->diags, OC_WARNING, "W-types-differ", "",
                    "the operator types add up to %.3f ms, the operators to %.3f ms: the %s are shown",
                    sum_ns / 1e6, operators_ns / 1e6, named ? "types" : "operators");
    if (m->have_operators && !(differ && named)) {
        m->list.n = from;
        m->p->imported_ns = operators_ns;
        m->p->imported_kernel_ns = operators_device_ns;
        return rc;
    }
    drop_operators(m, from);
    m->have_operators = true;
    oc_diag_add(&m->p->diags, OC_WARNING, "W-types-only", "",
                "the %s sums per operator type only: times cannot be attributed to single nodes",
                differ ? "table shown has" : "file has");
    return rc;
}

/* A row per step; the last row, without a number, has the means. */
static int read_steps(struct reading *m, struct table *t, struct oc_err *err)
{
    struct row r = {.calls = 0};
    struct oc_prof_rec *rec = NULL;
    uint64_t step;
    int rc;
    while ((rc = next_row(t, m->p, &r, err)) > 0) {
        if (!oc_csv_u64(r.name, &step) || !step)
            continue;
        r.name = (struct oc_str){"step", 4};
        if (!rec) {
            rec = mindspore_add_record(m, t, &r);
            rec->op_type = rec->name;
        } else {
            rec->calls++;
            rec->total_ns += r.total_ns;
            rec->total_kernel_ns += r.device_ns;
        }
        m->steps++;
        m->p->training = true;
        count_time(m, &r);
    }
    m->have_operators = true;
    return rc;
}

static uint32_t stream_lane(struct reading *m, int64_t stream)
{
    char key[40];
    int n = snprintf(key, sizeof(key), "\x1f%lld", (long long)stream);
    uint32_t lane = m->p->n_lane;
    if (oc_map_add(&m->names, key, (size_t)n, &lane, NULL))
        oc_prof_lane(m->p, oc_lane_of_stream(OC_NO_ID, OC_NO_ID, stream));
    return lane;
}

/* Each row is a kernel, listed under the first operator that used it: its time cannot be attributed to one
 * operator. */
static int read_activities(struct reading *m, struct table *t, struct oc_err *err)
{
    struct row r = {.calls = 0};
    double sum_ns = 0;
    int rc;
    while ((rc = next_row(t, m->p, &r, err)) > 0) {
        bool copy = r.type.n >= 8 && oc_str_has(r.type, "Memcpy");
        struct oc_prof_kernel *k = &OC_PUSH(m->kernel, m->n_kernel, m->cap_kernel);
        *k = oc_prof_kernel_new(oc_prof_text(m->p, r.name), copy ? OC_EV_MEMCPY : OC_EV_KERNEL);
        k->lane = stream_lane(m, r.stream);
        k->calls = r.calls;
        k->total_ns = r.total_ns;
        k->min_ns = r.min_ns;
        k->max_ns = r.max_ns;
        k->time_ns = r.total_ns;
        sum_ns += r.total_ns;
    }
    if (rc == 0 && !m->have_operators && m->n_kernel) {
        struct oc_prof_rec *rec = oc_rec_add(&m->list);
        rec->name = "(kernels without operator)";
        rec->bucket = "kernels without operator";
        rec->calls = m->n_kernel;
        rec->total_ns = rec->total_kernel_ns = sum_ns;
        m->p->imported_ns += sum_ns;
        m->p->imported_kernel_ns += sum_ns;
        m->has_device = true;
    }
    return rc;
}

/* ---- runs ------------------------------------------------------------------------------------------- */

/* The only source with the number of steps is the step trace, read without other tables. */
static void mindspore_make_times(struct reading *m)
{
    double runs = oc_prof_divide(m->p, m->steps, m->opts->stat);
    for (size_t i = 0; i < m->list.n; i++) {
        struct oc_prof_rec *rec = &m->list.rec[i];
        oc_rec_time(rec, rec->total_ns / runs);
        if (m->steps > 1)
            rec->min_ns = rec->max_ns = rec->median_ns = NAN;
        rec->kernel_ns = rec->total_kernel_ns / runs;
        rec->host_ns = m->on_device ? (double)NAN : rec->time_ns;
        rec->runs = m->p->runs_used;
        rec->calls_per_run = rec->calls ? (double)rec->calls / m->p->runs_used : (double)NAN;
    }
    m->p->stat = m->averages || (m->steps && runs > 1) ? OC_STAT_MEAN : OC_STAT_SUM;
    if (m->steps)
        return;
    /* AI core kernels are not all of a step: an average of them is not a latency */
    oc_diag_add(&m->p->diags, OC_INFO, "I-runs", "",
                m->averages ? "times are averages over all steps: the file does not report their number"
                            : "times are sums over all steps: the file does not report their number");
    if (m->averages && m->has_aicpu)
        oc_diag_add(&m->p->diags, OC_WARNING, "W-mixed", "",
                    "times of AI core are averages of a step, times of AI CPU sums of the recording: do not "
                    "compare them");
}

/* ---- importer --------------------------------------------------------------------------------------- */

static const struct oc_source_file *file_of(const struct oc_source *src, unsigned part)
{
    for (size_t i = 0; i < src->n; i++)
        if (src->file[i].part == part)
            return &src->file[i];
    return NULL;
}

static int mindspore_read_table(struct reading *m, const struct oc_source_file *file, bool named,
                                struct oc_err *err)
{
    struct table t = {.c = oc_csv_open(file->s)};
    int rc = mindspore_open_table(&t, err);
    /* NOLINTBEGIN(clang-analyzer-core.NullDereference): open_table() sets a layout or fails */
    if (rc == 0 && !(m->device && *m->device))
        m->device = t.layout->device;
    if (rc == 0 && !m->have_operators)
        m->on_device |= t.layout->on_device;
    if (rc == 0 && t.layout->part == OPERATORS)
        rc = mindspore_read_operators(m, &t, err);
    else if (rc == 0 && t.layout->part == AICPU)
        rc = read_aicpu(m, &t, err);
    else if (rc == 0 && t.layout->part == TYPES)
        rc = mindspore_read_types(m, &t, named, err);
    else if (rc == 0 && t.layout->part == STEPS)
        rc = read_steps(m, &t, err);
    else if (rc == 0)
        rc = read_activities(m, &t, err);
    /* NOLINTEND(clang-analyzer-core.NullDereference) */
    oc_csv_close(t.c);
    return rc != 0 ? oc_err_at(err, file->path, err ? err->line : 0, err ? err->offset_bytes : 0) : 0;
}

static int read_parts(struct reading *m, const struct oc_source *src, struct oc_err *err)
{
    static const unsigned order[] = {OPERATORS, TYPES, ACTIVITIES, STEPS,
                                     AICPU}; /* the check of types runs before AI CPU */
    const struct oc_source_file *shapes = file_of(src, SHAPES), *f;
    if (shapes && !file_of(src, OPERATORS))
        return oc_fail(err, OC_EFORMAT,
                       "has shapes of operators but no times: pass it together with "
                       "aicore_intermediate_<n>_detail.csv");
    for (size_t i = 0; i < OC_COUNT(order); i++) {
        f = file_of(src, order[i]);
        if (f && order[i] == STEPS && m->have_operators)
            continue;
        if (f && mindspore_read_table(m, f, f == src->file, err) != 0)
            return -1;
    }
    return shapes ? read_shapes(shapes->s, m->p, m->list.rec, m->list.n, err) : 0;
}

static void mindspore_finish(struct reading *m)
{
    struct oc_profile *p = m->p;
    p->producer = "MindSpore";
    p->device = m->device ? m->device : "";
    p->time_kind = m->on_device || m->has_device ? "device time" : "host time";
    mindspore_make_times(m);
    if (!m->has_device)
        p->imported_kernel_ns = NAN;
    p->kernel = OC_COPY_ARRAY(&p->arena, m->kernel, m->n_kernel);
    p->n_kernel = (uint32_t)m->n_kernel;
    oc_rec_list_end(&m->list, p);
}

static int read_mindspore(const struct oc_source *src, const struct oc_profile_opts *opts,
                          struct oc_profile *out, struct oc_err *err)
{
    struct reading m = {.p = out, .opts = opts};
    struct oc_arena keys = {0};
    m.names.arena = &keys;
    out->imported_ns = out->imported_kernel_ns = 0;
    int rc = read_parts(&m, src, err);
    if (rc == 0)
        mindspore_finish(&m);
    oc_map_free(&m.names);
    oc_arena_free(&keys);
    free(m.list.rec);
    free(m.kernel);
    return rc;
}

static void probe_mindspore(const struct oc_peek *peek, struct oc_bid *bid)
{
    const struct layout *l;
    if (oc_csv_peek_header(peek->data, peek->n, mindspore_is_header, &l))
        *bid = (struct oc_bid){
            .score = 90, .reason = "header of a MindSpore table", .part = l ? l->part : SHAPES};
}

const struct oc_importer oc_importer_mindspore = {
    .name = "mindspore",
    .title = "MindSpore profiler: operators, types, activities, AI core, AI CPU (CSV)",
    .seen = "1.x on Ascend; GPU from the writer",
    .lost = "runs, unless the step trace is given; kernels of one operator",
    .part = parts,
    .n_part = OC_COUNT(parts),
    .probe = probe_mindspore,
    .read = read_mindspore,
};
