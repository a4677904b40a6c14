/* CSV tables of operators and kernels: rocprof (ROCm), nvprof (CUDA), msprof and torch_npu (Ascend), QNN, unitrace. One
 * row of `layouts` per kind of table: which columns have the name, the type, the number of calls and the
 * time, and what the time means. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"

enum {
    NAME,
    TYPE,
    PLACE,
    CALLS,
    TOTAL,
    MIN,
    MAX,
    START,
    END,
    IN,
    IN_TYPE,
    OUT,
    OUT_TYPE,
    STEP,
    DEVICE,
    N_COLUMN
};

enum source { ROCPROF, NVPROF, MSPROF, QNN, UNITRACE, N_SOURCE };

static const char *const producer_name[N_SOURCE] = {
    [ROCPROF] = "rocprof", [NVPROF] = "nvprof", [MSPROF] = "msprof", [QNN] = "QNN", [UNITRACE] = "unitrace"};
static const char *const device_name[N_SOURCE] = {
    [ROCPROF] = "ROCm", [NVPROF] = "CUDA", [MSPROF] = "Ascend", [QNN] = "QNN", [UNITRACE] = "Intel GPU"};

struct step {
    double start_ns, end_ns; /* of the first and the last work */
};

struct reading;
struct layout {
    enum source source;
    /* NULL: none. Time columns: TOTAL of all calls; or START and END */
    const char *column[N_COLUMN];
    const char *also;      /* a column that only this table has */
    double unit_ns;        /* 0: the unit is in the header, or in the row below it */
    uint8_t kind;          /* enum oc_event_kind of a row */
    bool units_row, trace; /* trace: a row is a launch with a start */
    bool calls;            /* its rows may be calls of the runtime: read if no table has work of the device */
    bool (*take)(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row);
};

struct reading {
    struct oc_csv *c;
    struct oc_profile *p;
    const struct oc_profile_opts *opts;
    const struct layout *layout;
    struct oc_columns of; /* unit_ns NAN: in each cell */
    size_t width;         /* number of columns */
    struct oc_op_rows rows;
    struct oc_timeline *launches;
    size_t n;
    struct oc_map seen; /* launches of a table of counters; steps, by their ids */
    struct step *step;  /* on the heap */
    size_t n_step, cap_step;
    bool outside; /* rows are in no step */
    struct oc_buf key;
    double run_ns;           /* sum over the runs that the file marks */
    struct oc_str shapes[4]; /* IN .. OUT_TYPE of the row */
    struct oc_recording_count tables;
    bool shortened; /* a page replaced rows with "..." */
};

/* ---- what is special in a source -------------------------------------------------------------------- */

/* Kernels, copies, and calls of the runtime have the same header; copies and calls are known by their names.
 */
static bool take_rocprof(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    static const char *const api[] = {"hip", "hsa_", "roctx", "__hip", "HIP_", "HSA_", "MARKER_"};
    (void)r, (void)field, (void)n;
    bool call = !oc_str_has(row->name, "(") && !oc_str_has(row->name, ".kd");
    for (size_t i = 0; i < OC_COUNT(api) && call; i++)
        if (oc_str_starts(row->name, api[i])) {
            row->device = false;
            row->kind = OC_EV_OPERATOR;
        }
    if (oc_csv_same(row->name, "async-copy") || oc_str_starts(row->name, "MEMORY_COPY") ||
        oc_str_starts(row->name, "CopyHostTo") || oc_str_starts(row->name, "CopyDeviceTo"))
        row->kind = OC_EV_MEMCPY;
    return true;
}

/* Work of the device replaces calls of the runtime, which run at the same time. */
static bool prefer_device(struct reading *r, const struct oc_op_row *row)
{
    if (row->device && !r->rows.device)
        oc_op_rows_clear(&r->rows);
    return row->device || !r->rows.device;
}

/* Printed by rocprofv3 -S: kernels, copies, and calls on several levels. */
static bool take_rocprof_summary(struct reading *r, const struct oc_str *field, size_t n,
                                 struct oc_op_row *row)
{
    struct oc_str domain = row->provider;
    (void)field, (void)n;
    row->provider = (struct oc_str){"", 0};
    row->device = oc_csv_same(domain, "KERNEL_DISPATCH") || oc_csv_same(domain, "MEMORY_COPY");
    row->kind = !row->device ? OC_EV_OPERATOR : oc_str_starts(domain, "MEMORY") ? OC_EV_MEMCPY : OC_EV_KERNEL;
    return prefer_device(r, row) && (row->device || oc_str_starts(domain, "HIP"));
}

/* "zeCommandListAppendMemoryCopy(M2D)", "clEnqueueWriteBuffer", "zeCommandListAppendMemoryFill" */
static bool take_unitrace(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    (void)field, (void)n;
    row->device = r->layout->kind == OC_EV_KERNEL;
    if (row->device && (oc_str_starts(row->name, "zeCommandList") || oc_str_starts(row->name, "clEnqueue")))
        row->kind = oc_str_has(row->name, "Fill") ? OC_EV_MEMSET : OC_EV_MEMCPY;
    return prefer_device(r, row);
}

/* "cudaMalloc", "cuLaunchKernel" */
static bool is_cuda_call(struct oc_str name)
{
    size_t n = oc_str_starts(name, "cuda") ? 4 : 2;
    return oc_str_starts(name, "cu") && name.n > n && name.s[n] >= 'A' && name.s[n] <= 'Z' &&
           !memchr(name.s, '(', name.n);
}

/* "GPU activities", "API calls": calls of the runtime run at the same time as the device. */
static bool take_nvprof(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    struct oc_str section = oc_columns_cell(&r->of, field, n, TYPE);
    row->type = (struct oc_str){"", 0};
    row->device = r->of.at[TYPE] != OC_CSV_NONE ? !oc_str_starts(section, "API") : !is_cuda_call(row->name);
    row->kind = row->device ? oc_cuda_kind(row->name) : OC_EV_OPERATOR;
    row->name = oc_cuda_name(row->name);
    return (row->device || !r->rows.device) && !oc_is_page_migration(row->name);
}

static bool is_none(struct oc_str s)
{
    return !s.n || oc_csv_same(s, "N/A");
}

/* "\"1,3,224,224;64,3,7,7;64\"" and "FLOAT16;FLOAT16;FLOAT" */
static const struct oc_type *device_tables_types_of(struct oc_arena *a, struct oc_str shapes,
                                                    struct oc_str names, uint32_t *n)
{
    enum { MAX_TYPES = 64 };
    struct oc_type type[MAX_TYPES];
    *n = 0;
    while (shapes.n && (shapes.s[0] == '"' || shapes.s[0] == '['))
        shapes = oc_str_skip(shapes, 1);
    while (shapes.n && (shapes.s[shapes.n - 1] == '"' || shapes.s[shapes.n - 1] == ']'))
        shapes.n--;
    while (names.n && names.s[0] == '"')
        names = oc_str_skip(names, 1);
    if (is_none(shapes))
        return NULL;
    for (bool more = true; more && *n < MAX_TYPES;) {
        struct oc_str name = oc_str_take(&names, ';');
        while (name.n && name.s[name.n - 1] == '"')
            name.n--;
        more = oc_str_chr(shapes, ';') != NULL;
        if (!oc_recorded_shape(a, oc_str_take(&shapes, ';'), oc_recorded_dtype(name), &type[(*n)++])) {
            *n = 0;
            return NULL;
        }
    }
    return OC_COPY_ARRAY(a, type, *n);
}

static void msprof_types(struct oc_arena *a, const void *ctx, struct oc_op_row *row)
{
    const struct reading *r = ctx;
    row->in = device_tables_types_of(a, r->shapes[0], r->shapes[1], &row->n_in);
    row->out = device_tables_types_of(a, r->shapes[2], r->shapes[3], &row->n_out);
}

/* torch_npu numbers the steps of its schedule: these are the runs, if all rows are in one. */
static void take_step_id(struct reading *r, struct oc_str id, double start_ns, double dur_ns)
{
    uint32_t i = (uint32_t)r->n_step;
    if (r->of.at[STEP] == OC_CSV_NONE || is_none(id)) {
        r->outside |= r->of.at[STEP] != OC_CSV_NONE;
        return;
    }
    if (oc_map_add(&r->seen, id.s, id.n, &i, NULL)) {
        OC_PUSH(r->step, r->n_step, r->cap_step) = (struct step){start_ns, start_ns + dur_ns};
    }
    struct step *step = &r->step[i];
    step->start_ns = fmin(step->start_ns, start_ns);
    step->end_ns = fmax(step->end_ns, start_ns + dur_ns);
}

static void set_step_runs(struct reading *r)
{
    for (size_t i = 0; i < r->n_step && !r->outside; i++) {
        r->rows.runs++;
        r->run_ns += r->step[i].end_ns - r->step[i].start_ns;
    }
}

static bool take_msprof(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    for (unsigned k = IN; k <= OUT_TYPE; k++)
        r->shapes[k - IN] = oc_columns_cell(&r->of, field, n, k);
    row->shapes = r->shapes[0];
    row->types = msprof_types;
    row->ctx = r;
    if (is_none(row->type))
        row->type = (struct oc_str){"", 0};
    r->p->training |= oc_str_has(row->type, "Grad") || oc_str_starts(row->type, "ApplyAdam");
    if (!row->calls)
        row->calls = 1;
    return true;
}

/* task_time: all tasks of the streams. Those without a name have that of their type. */
static bool take_task(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    (void)r, (void)field, (void)n;
    row->kind = oc_ascend_kind(row->provider);
    row->calls = 1;
    if (is_none(row->name))
        row->name = row->provider;
    return row->kind != OC_EV_COUNT;
}

/* A launch has a row for each counter. */
static bool take_counter(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    struct oc_str id = row->type, start = oc_columns_cell(&r->of, field, n, START);
    row->type = (struct oc_str){"", 0};
    oc_buf_clear(&r->key);
    oc_buf_add(&r->key, id.s, id.n);
    oc_buf_char(&r->key, ' ');
    oc_buf_add(&r->key, start.s, start.n);
    return oc_map_add(&r->seen, r->key.data, r->key.n, &(uint32_t){0}, NULL);
}

/* One row per run. */
static bool take_step(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    (void)field, (void)n;
    row->name = (struct oc_str){"step", 4};
    row->calls = 1;
    r->rows.runs++;
    return true;
}

/* EXECUTE is a run. Its nodes are sub-events, in microseconds or cycles; other sub-events contain them. The
 * backend appends ":OpId_7 (cycles)" to a name. */
static bool is_qnn_time(struct oc_str unit)
{
    double ns;
    return oc_csv_same(unit, "CYCLES") || oc_csv_time_unit(unit, &ns);
}

static bool take_qnn(struct reading *r, const struct oc_str *field, size_t n, struct oc_op_row *row)
{
    struct oc_str unit = oc_columns_cell(&r->of, field, n, TYPE), what = row->provider;
    bool cycles = oc_csv_same(unit, "CYCLES");
    double ns = 1;
    row->type = row->provider = (struct oc_str){"", 0};
    row->calls = 1;
    if (!cycles && oc_csv_time_unit(unit, &ns))
        row->total_ns *= ns;
    if (oc_csv_same(what, "EXECUTE") && !cycles) {
        r->rows.runs++;
        r->run_ns += row->total_ns;
    }
    if (!oc_csv_same(what, "NODE"))
        return false;
    r->rows.event = cycles ? "cycles" : r->rows.event;
    const char *tail = oc_find(row->name.s, row->name.n, ":OpId_", 6);
    if (!tail)
        tail = oc_find(row->name.s, row->name.n, " (cycles)", 9);
    if (tail && tail > row->name.s)
        row->name.n = (size_t)(tail - row->name.s);
    row->min_ns = row->max_ns = row->total_ns;
    return true;
}

/* ---- layouts ---------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct layout layouts[] = {
    {.source = ROCPROF, .also = "AverageNs", .unit_ns = 1, .kind = OC_EV_KERNEL, .take = take_rocprof, .column = {
     [NAME] = "Name", [CALLS] = "Calls", [TOTAL] = "TotalDurationNs", [MIN] = "MinNs", [MAX] = "MaxNs"}},
    {.source = ROCPROF, .also = "DOMAIN", .kind = OC_EV_KERNEL, .calls = true, .take = take_rocprof_summary, .column = {
     [NAME] = "NAME", [PLACE] = "DOMAIN", [CALLS] = "CALLS", [TOTAL] = "DURATION", [MIN] = "MIN", [MAX] = "MAX"}},
    {.source = ROCPROF, .also = "EndNs", .unit_ns = 1, .kind = OC_EV_KERNEL, .trace = true, .column = {
     [NAME] = "KernelName", [TOTAL] = "DurationNs", [START] = "BeginNs", [END] = "EndNs", [DEVICE] = "gpu-id"}},
    {.source = ROCPROF, .also = "DispatchNs", .unit_ns = 1, .kind = OC_EV_KERNEL, .trace = true, .column = {
     [NAME] = "KernelName", [START] = "BeginNs", [END] = "EndNs", [DEVICE] = "gpu-id"}},
    {.source = ROCPROF, .also = "Counter_Name", .unit_ns = 1, .kind = OC_EV_KERNEL, .trace = true,
     .take = take_counter, .column = {[NAME] = "Kernel_Name", [TYPE] = "Dispatch_Id",
     [START] = "Start_Timestamp", [END] = "End_Timestamp", [DEVICE] = "Agent_Id"}},
    {.source = ROCPROF, .also = "Kernel_Name", .unit_ns = 1, .kind = OC_EV_KERNEL, .trace = true, .column = {
     [NAME] = "Kernel_Name", [START] = "Start_Timestamp", [END] = "End_Timestamp", [DEVICE] = "Agent_Id"}},
    {.source = ROCPROF, .also = "Pct", .kind = OC_EV_KERNEL, .column = {
     [NAME] = "Kernel_Name", [CALLS] = "Count", [TOTAL] = "Sum"}},
    {.source = ROCPROF, .also = "Pct", .kind = OC_EV_KERNEL, .column = {
     [NAME] = "KernelName", [CALLS] = "Count", [TOTAL] = "Sum"}},
    {.source = ROCPROF, .also = "Direction", .unit_ns = 1, .kind = OC_EV_MEMCPY, .trace = true, .column = {
     [NAME] = "Direction", [START] = "Start_Timestamp", [END] = "End_Timestamp"}},
    {.source = ROCPROF, .also = "Domain", .unit_ns = 1, .kind = OC_EV_OPERATOR, .take = take_rocprof, .column = {
     [NAME] = "Function", [START] = "Start_Timestamp", [END] = "End_Timestamp"}},
    {.source = NVPROF, .also = "Time(%)", .kind = OC_EV_KERNEL, .units_row = true, .take = take_nvprof, .column = {
     [NAME] = "Name", [TYPE] = "Type", [CALLS] = "Calls", [TOTAL] = "Time", [MIN] = "Min", [MAX] = "Max"}},
    {.source = NVPROF, .also = "Registers Per Thread", .kind = OC_EV_KERNEL, .units_row = true, .trace = true,
     .take = take_nvprof, .column = {[NAME] = "Name", [START] = "Start", [TOTAL] = "Duration", [DEVICE] = "Device"}},
    {.source = MSPROF, .also = "Op Name", .kind = OC_EV_OPERATOR, .take = take_msprof, .column = {
     [NAME] = "Op Name", [TYPE] = "OP Type", [PLACE] = "Task Type", [TOTAL] = "Task Duration", [DEVICE] = "Device_id",
     [IN] = "Input Shapes", [IN_TYPE] = "Input Data Types", [OUT] = "Output Shapes", [OUT_TYPE] = "Output Data Types"}},
    {.source = MSPROF, .also = "Accelerator Core", .kind = OC_EV_OPERATOR, .take = take_msprof, .column = {
     [STEP] = "Step Id", [NAME] = "Name", [TYPE] = "Type", [PLACE] = "Accelerator Core", [DEVICE] = "Device_id",
     [START] = "Start Time", [TOTAL] = "Duration",
     [IN] = "Input Shapes", [IN_TYPE] = "Input Data Types", [OUT] = "Output Shapes", [OUT_TYPE] = "Output Data Types"}},
    {.source = MSPROF, .also = "Core Type", .kind = OC_EV_OPERATOR, .take = take_msprof, .column = {
     [NAME] = "OP Type", [TYPE] = "OP Type", [PLACE] = "Core Type", [DEVICE] = "Device_id", [CALLS] = "Count", [TOTAL] = "Total Time",
     [MIN] = "Min Time", [MAX] = "Max Time"}},
    {.source = MSPROF, .also = "task_start", .kind = OC_EV_KERNEL, .take = take_task, .column = {
     [NAME] = "kernel_name", [PLACE] = "kernel_type", [DEVICE] = "Device_id", [TOTAL] = "task_time"}},
    {.source = MSPROF, .also = "Iteration End", .kind = OC_EV_OPERATOR, .take = take_step, .column = {
     [NAME] = "Iteration ID", [TOTAL] = "Iteration Time"}},
    {.source = QNN, .also = "Timing Source", .unit_ns = 1, .kind = OC_EV_OPERATOR, .take = take_qnn, .column = {
     [NAME] = "Event Identifier", [TYPE] = "Unit of Measurement", [PLACE] = "Message", [TOTAL] = "Time"}},
    {.source = UNITRACE, .also = "Average", .kind = OC_EV_KERNEL, .calls = true, .take = take_unitrace, .column = {
     [NAME] = "Kernel", [CALLS] = "Calls", [TOTAL] = "Time", [MIN] = "Min", [MAX] = "Max"}},
    {.source = UNITRACE, .also = "Average", .kind = OC_EV_OPERATOR, .calls = true, .take = take_unitrace, .column = {
     [NAME] = "Function", [CALLS] = "Calls", [TOTAL] = "Time", [MIN] = "Min", [MAX] = "Max"}},
};
/* clang-format on */

static bool device_tables_fits(const struct layout *l, const struct oc_str *f, size_t n)
{
    static const unsigned needed[] = {NAME, TOTAL, START, END};
    if (oc_csv_column(f, n, l->also) == OC_CSV_NONE)
        return false;
    for (size_t i = 0; i < OC_COUNT(needed); i++)
        if (l->column[needed[i]] && oc_csv_column(f, n, l->column[needed[i]]) == OC_CSV_NONE)
            return false;
    return true;
}

static const struct layout *device_tables_layout_of(const struct oc_str *f, size_t n, enum source source)
{
    for (size_t i = 0; i < OC_COUNT(layouts); i++)
        if (layouts[i].source == source && device_tables_fits(&layouts[i], f, n))
            return &layouts[i];
    return NULL;
}

static bool device_tables_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    return n > 2 && device_tables_layout_of(f, n, *(const enum source *)ctx) != NULL;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static int no_unit(const struct reading *r, unsigned column, struct oc_err *err)
{
    const char *name = r->layout->column[column];
    return oc_csv_fail(r->c, err,
                       "column '%s' has no unit of time: give it with --profile-format generic_csv --map "
                       "'name=%s,time=%s:ms' (or another unit)",
                       name, r->layout->column[NAME], name);
}

/* ",%,ms,,us,us,us,"; a table made of the printed one has no such row, but units in its cells. */
static int read_units(struct reading *r, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    double ns;
    if (!oc_csv_row(r->c, &f, &n))
        return oc_csv_fail(r->c, err, "the row of units is missing");
    bool in_cells = oc_csv_time(oc_columns_cell(&r->of, f, n, TOTAL), &ns);
    for (unsigned k = TOTAL; k <= END; k++) {
        r->of.unit_ns[k] = NAN;
        if (!in_cells && r->of.at[k] != OC_CSV_NONE &&
            !oc_csv_time_unit(oc_columns_cell(&r->of, f, n, k), &r->of.unit_ns[k]))
            return no_unit(r, k, err);
    }
    if (in_cells)
        oc_csv_unread(r->c);
    return 0;
}

/* NAN: no such column, or no value in it. */
static int device_tables_time_of(struct reading *r, const struct oc_str *f, size_t n, unsigned k, double *ns,
                                 struct oc_err *err)
{
    struct oc_str s = oc_columns_cell(&r->of, f, n, k);
    *ns = NAN;
    if (is_none(s) || (isnan(r->of.unit_ns[k]) && oc_csv_time(s, ns)))
        return 0;
    if (isnan(r->of.unit_ns[k]))
        return oc_csv_fail(r->c, err, "column '%s': '%.*s' is not a time with a unit", r->layout->column[k],
                           (int)(s.n < 80 ? s.n : 80), s.s);
    return oc_columns_time(&r->of, f, n, k, ns, err);
}

/* 4 of "4", "Agent 4" and "GeForce GTX 950 (4)". */
static int64_t device_number(struct oc_str s)
{
    int64_t id;
    while (s.n && !oc_is_digit(s.s[s.n - 1]))
        s.n--;
    size_t from = s.n;
    while (from && oc_is_digit(s.s[from - 1]))
        from--;
    return from < s.n && oc_parse_i64(s.s + from, s.n - from, &id) ? id : OC_NO_ID;
}

static int launch(struct reading *r, const struct oc_op_row *row, double start_ns, struct oc_err *err)
{
    struct oc_launch x = {
        .start_ns = start_ns,
        .dur_ns = row->total_ns,
        .name = oc_prof_text(r->p, row->name),
        .label = OC_NONE,
        .run = OC_NONE,
        .lane = oc_timeline_stream(r->launches, OC_NO_ID, device_number(row->device_name), OC_NO_ID),
        .kind = row->kind,
        .bytes = (double)NAN,
        .flop = (double)NAN,
        .where = row->where};
    return oc_timeline_launch(r->launches, &x) ? 0 : oc_csv_too_many(r->c, err);
}

/* Exact where both are integers: a clock may count more than 2^53 ns. */
static double device_tables_between(struct oc_str start, struct oc_str end, double unit_ns,
                                    double otherwise_ns)
{
    uint64_t from, to;
    return oc_csv_u64(start, &from) && oc_csv_u64(end, &to) && to >= from ? (double)(to - from) * unit_ns
                                                                          : otherwise_ns;
}

/* The field of the name; in the last column without quotes it may have commas. */
static struct oc_str name_of(const struct reading *r, const struct oc_str *f, size_t n)
{
    struct oc_str name = oc_columns_cell(&r->of, f, n, NAME);
    while (n > r->width && !f[n - 1].n)
        n--;
    for (size_t i = r->width; i < n && r->of.at[NAME] + 1 == r->width; i++) {
        size_t gap = (size_t)((uintptr_t)f[i].s - (uintptr_t)(name.s + name.n));
        if (!gap || gap > 8 || memchr(name.s + name.n, '"', gap))
            break;
        name.n += gap + f[i].n;
    }
    return name;
}

static int device_tables_take_row(struct reading *r, const struct oc_str *f, size_t n, struct oc_err *err)
{
    const struct layout *l = r->layout;
    struct oc_op_row row = {.name = name_of(r, f, n),
                            .type = oc_columns_cell(&r->of, f, n, TYPE),
                            .provider = oc_columns_cell(&r->of, f, n, PLACE),
                            .device_name = oc_columns_cell(&r->of, f, n, DEVICE),
                            .kind = l->kind,
                            .device = true,
                            .where = oc_csv_offset(r->c)};
    double ns[N_COLUMN];
    struct oc_str calls = oc_columns_cell(&r->of, f, n, CALLS);
    if (l->source == QNN && !is_qnn_time(row.type))
        return 0;
    for (unsigned k = TOTAL; k <= END; k++)
        if (device_tables_time_of(r, f, n, k, &ns[k], err))
            return -1;
    row.total_ns = ns[TOTAL];
    row.min_ns = ns[MIN];
    row.max_ns = ns[MAX];
    if (l->column[END]) /* DurationNs of rocprof is from dispatch to completion */
        row.total_ns =
            device_tables_between(oc_columns_cell(&r->of, f, n, START), oc_columns_cell(&r->of, f, n, END),
                                  r->of.unit_ns[END], ns[END] - ns[START]);
    if (l->column[START])
        row.calls = 1;
    if (calls.n && oc_csv_cell_count(r->c, l->column[CALLS], calls, &row.calls, err) != 0)
        return -1;
    if (!row.name.n || (l->take && !l->take(r, f, n, &row)) || !(row.total_ns >= 0))
        return 0;
    if (++r->n > oc_csv_max_rows(r->c))
        return oc_csv_too_many(r->c, err);
    take_step_id(r, oc_columns_cell(&r->of, f, n, STEP), ns[START], row.total_ns);
    if (l->trace && !isnan(ns[START]))
        return launch(r, &row, ns[START], err);
    oc_op_rows_add(&r->rows, &row);
    return 0;
}

/* Rows that a page does not show. */
static bool is_gap(const struct oc_str *f, size_t n)
{
    return n == 1 && (oc_str_eq(oc_csv_trim(f[0]), "...") || oc_str_eq(oc_csv_trim(f[0]), "\u2026"));
}

/* "|------|------|" below the titles */
static bool is_rule(const struct reading *r, const struct oc_str *f, size_t n)
{
    return oc_str_starts(oc_columns_cell(&r->of, f, n, TOTAL), "---");
}

/* In a log or a README other text follows a table, or the next one. */
static bool ends_table(const struct reading *r, enum source source, const struct oc_str *f, size_t n)
{
    double v;
    struct oc_str unit, time = oc_columns_cell(&r->of, f, n, r->of.at[TOTAL] != OC_CSV_NONE ? TOTAL : END);
    return n && !oc_csv_number(time, &v, &unit) && (n < r->width || device_tables_is_header(&source, f, n));
}

static int device_tables_read_table(struct reading *r, enum source source, const struct oc_str *f, size_t n,
                                    struct oc_err *err)
{
    r->layout = device_tables_layout_of(f, n, source);
    r->width = n;
    r->of = (struct oc_columns){
        .c = r->c, .title = r->layout->column, .n = N_COLUMN, .first_time = TOTAL, .last_time = END};
    unsigned bad = oc_columns_find(&r->of, f, n, r->layout->unit_ns);
    int rc = r->layout->units_row ? read_units(r, err) : bad < N_COLUMN ? no_unit(r, bad, err) : 0;
    while (rc == 0 && oc_csv_row(r->c, &f, &n)) {
        if (n && n < r->width && oc_csv_cut(r->c)) {
            oc_prof_cut(r->p, r->c);
        } else if (is_gap(f, n)) {
            r->shortened = true;
        } else if (ends_table(r, source, f, n)) {
            oc_csv_unread(r->c);
            break;
        } else if (n > 2 && !is_rule(r, f, n)) {
            rc = device_tables_take_row(r, f, n, err);
        }
    }
    return rc == 0 && oc_csv_failed(r->c) ? oc_csv_error(r->c, err) : rc;
}

/* The first table that has rows, of the device if possible. */
static int read_tables(struct reading *r, enum source source, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    int rc = oc_csv_need(r->c, device_tables_is_header, &source, &f, &n,
                         oc_printf(&r->rows.scratch, "of a table of %s", producer_name[source]), err);
    for (bool found = rc == 0; rc == 0 && found;
         found = rc == 0 && oc_csv_find(r->c, device_tables_is_header, &source, &f, &n)) {
        if (r->n && (r->rows.device || !r->layout->calls)) {
            oc_recording_begins(&r->tables, r->c);
            continue;
        }
        r->tables.n = 0;
        r->shortened = false;
        oc_recording_begins(&r->tables, r->c);
        rc = device_tables_read_table(r, source, f, n, err);
    }
    oc_recordings_warn(&r->tables, "tables", r->p);
    if (r->shortened)
        oc_diag_add(&r->p->diags, OC_WARNING, "W-rows", "",
                    "the text leaves out rows of the table with '...': their time is missing");
    return rc;
}

static int device_tables_read_source(enum source source, const struct oc_source *src,
                                     const struct oc_profile_opts *opts, struct oc_profile *out,
                                     struct oc_err *err)
{
    struct reading r = {.c = oc_csv_open(src->file[0].s), .p = out, .opts = opts};
    oc_op_rows_init(&r.rows, out, opts);
    r.launches = oc_timeline_new(out);
    r.seen.arena = &r.rows.scratch;
    int rc = read_tables(&r, source, err);
    out->producer = producer_name[source];
    if (rc == 0 && r.launches->n_event) {
        out->imported_ns = NAN;
        oc_timeline_launches_end(r.launches, opts, 0, true);
    } else if (rc == 0) {
        set_step_runs(&r);
        r.rows.run_ns = r.run_ns > 0 ? r.run_ns / (double)r.rows.runs : (double)NAN;
        oc_op_rows_finish(&r.rows);
    }
    out->device = device_name[source];
    oc_timeline_free(r.launches);
    oc_map_free(&r.seen);
    oc_buf_free(&r.key);
    oc_op_rows_free(&r.rows);
    free(r.step);
    oc_csv_close(r.c);
    return rc;
}

static void probe_source(enum source source, const struct oc_peek *peek, struct oc_bid *bid)
{
    static const char *const reason[N_SOURCE] = {[ROCPROF] = "header of a table of rocprof",
                                                 [NVPROF] = "header of a table of nvprof",
                                                 [MSPROF] = "header of a table of msprof",
                                                 [QNN] = "header of a QNN profile",
                                                 [UNITRACE] = "header of a table of unitrace"};
    if (oc_csv_peek_header(peek->data, peek->n, device_tables_is_header, &source))
        *bid = (struct oc_bid){.score = 88, .reason = reason[source]};
}

#define TABLE_SOURCE(id, SOURCE, TITLE, SEEN, LOST)                                                          \
    static void probe_##id(const struct oc_peek *peek, struct oc_bid *bid)                                   \
    {                                                                                                        \
        probe_source(SOURCE, peek, bid);                                                                     \
    }                                                                                                        \
    static int read_##id(const struct oc_source *src, const struct oc_profile_opts *opts,                    \
                         struct oc_profile *out, struct oc_err *err)                                         \
    {                                                                                                        \
        return device_tables_read_source(SOURCE, src, opts, out, err);                                       \
    }                                                                                                        \
    const struct oc_importer oc_importer_##id = {.name = #id,                                                \
                                                 .title = (TITLE),                                           \
                                                 .seen = (SEEN),                                             \
                                                 .lost = (LOST),                                             \
                                                 .probe = probe_##id,                                        \
                                                 .read = read_##id}

TABLE_SOURCE(rocprof, ROCPROF,
             "ROCm rocprof, rocprofv3: stats, kernel and copy trace (CSV), summary as printed",
             "rocprof, rocprofv3 on MI100 to MI300: stats, kernels, counters; top kernels of rocprof-compute",
             "counters; calls of the runtime, where there are kernels; grid sizes");
TABLE_SOURCE(nvprof_csv, NVPROF, "CUDA nvprof --csv: summary, GPU trace",
             "files of 2016 to 2019 (GTX 950, TITAN Xp); CUDA 8 to 11 from quoted output",
             "calls of the runtime, where there are kernels; grid sizes");
TABLE_SOURCE(
    msprof, MSPROF,
    "Ascend msprof, torch_npu: op_summary, op_statistic, kernel_details, task_time, step_trace (CSV)",
    "kernel_details of 2023 to 2025, op_summary, op_statistic and task_time of 2026; step_trace from the "
    "writer",
    "pipe utilization; runs, which only kernel_details and step_trace have");
TABLE_SOURCE(qnn, QNN, "Qualcomm QNN profile of ONNX Runtime (CSV)",
             "HTP of 2025 (cycles); microseconds from the writer",
             "times of nodes where QNN counts cycles: shares");
TABLE_SOURCE(unitrace, UNITRACE,
             "Intel unitrace, onetrace, ze_tracer, cl_tracer: device and API timing as printed",
             "unitrace of 2025 on Level Zero; others from their documents",
             "calls of the runtime, where there are kernels; backends after the first");
