/* Tables that profilers of frameworks print. Profiler.summary() of paddle.profiler:
 *
 *   -------------Operator Summary-------------
 *   Time unit: ms
 *   ------------  -----  ----------------------------------------  ----------------------------------------
 *   Name          Calls  CPU Total / Avg / Max / Min / Ratio(%)    GPU Total / Avg / Max / Min / Ratio(%)
 *   ------------  -----  ----------------------------------------  ----------------------------------------
 *   conv2d        296    53.70 / 0.18 / 0.40 / 0.14 / 4.34         679.11 / 2.29 / 5.75 / 0.24 / 24.11
 *     conv2d::compute ...                                          (a part of the row above)
 *
 * The row ProfileStep of the other tables has the number of steps and their total time.
 *
 * key_averages().table() of torch.profiler and torch.autograd.profiler:
 *
 *   -----------  ------------  ------------  -----------  ------------  ------------  ------------
 *          Name    Self CPU %      Self CPU    CPU total     Self CUDA    CUDA total    # of Calls
 *   -----------  ------------  ------------  -----------  ------------  ------------  ------------
 *      aten::mm         3.66%        1.322s       4.589s       10.155s       13.633s          7291
 *   ampere_gemm         0.00%       0.000us      0.000us       10.155s       10.155s          7291
 *   -----------  ------------  ------------  -----------  ------------  ------------  ------------
 *   Self CPU time total: 36.1s
 *   Self CUDA time total: 26.1s
 *
 * Rows without time on the CPU are kernels, whose time the operators' rows contain, and ranges that
 * record_function shows on the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost/profile.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/csv_rows.h"
#include "profile/formats/function_tables.h"

enum section { OTHER, OPERATORS, KERNELS };

struct reading {
    struct oc_csv *c;
    struct oc_profile *p;
    const struct oc_profile_opts *opts;
    struct oc_rec_list list;
    struct oc_prof_kernel *kernel;
    size_t n_kernel, cap_kernel;
    enum section section;
    struct oc_text_column span[OC_TEXT_COLUMNS];
    size_t n_span;
    struct oc_recording_count recordings;
    bool cpu, gpu; /* columns of the table */
    double unit_ns, steps_ns;
    uint64_t steps;
    bool any_gpu;
    struct torch_table *torch; /* NULL: a table of Paddle */
};

/* "-----Operator Summary-----" */
static bool is_title(struct oc_str line, const char *title)
{
    struct oc_str s = oc_csv_trim(line);
    return s.n > 6 && memcmp(s.s, "---", 3) == 0 && memcmp(s.s + s.n - 3, "---", 3) == 0 &&
           oc_str_has(s, title);
}

/* The first number of "53.70 / 0.18 / 0.40 / 0.14 / 4.34"; NAN: "-". */
static double summary_tables_total_of(struct oc_str cell, double unit_ns)
{
    double v;
    return oc_csv_number(oc_str_take(&cell, '/'), &v, NULL) && v >= 0 && v < 1e15 ? v * unit_ns : (double)NAN;
}

static struct oc_prof_rec *summary_tables_add_record(struct reading *r, struct oc_str name, uint64_t calls,
                                                     double cpu_ns, double gpu_ns)
{
    struct oc_prof_rec *rec = oc_rec_add(&r->list);
    rec->name = oc_prof_text(r->p, name);
    rec->op_type = rec->name;
    rec->calls = calls;
    rec->total_ns = cpu_ns;
    rec->total_kernel_ns = gpu_ns;
    rec->where = oc_csv_offset(r->c);
    r->p->imported_ns += isnan(cpu_ns) ? 0 : cpu_ns;
    r->p->imported_kernel_ns += isnan(gpu_ns) ? 0 : gpu_ns;
    r->any_gpu |= !isnan(gpu_ns);
    return rec;
}

static void add_operator(struct reading *r, struct oc_str name, uint64_t calls, double cpu_ns, double gpu_ns)
{
    struct oc_prof_rec *rec = summary_tables_add_record(r, name, calls, cpu_ns, gpu_ns);
    struct oc_str type = name; /* "conv2d dygraph", "conv2d_grad grad_node" */
    const char *blank = memrchr(name.s, ' ', name.n);
    if (blank && (oc_csv_same(oc_str_from(name, blank + 1), "dygraph") ||
                  oc_csv_same(oc_str_from(name, blank + 1), "grad_node")))
        type.n = (size_t)(blank - name.s);
    rec->op_type = oc_prof_text(r->p, type);
}

static void summary_tables_add_kernel(struct reading *r, struct oc_str name, uint64_t calls, double gpu_ns)
{
    struct oc_prof_kernel *k = &OC_PUSH(r->kernel, r->n_kernel, r->cap_kernel);
    *k = oc_prof_kernel_new(oc_prof_text(r->p, name), OC_EV_KERNEL);
    k->calls = calls;
    k->total_ns = gpu_ns;
}

static bool too_many(const struct reading *r)
{
    return r->list.n + r->n_kernel >= oc_csv_max_rows(r->c);
}

static void summary_tables_take_row(struct reading *r, struct oc_str line, struct oc_err *err, int *rc)
{
    struct oc_str cell[OC_TEXT_COLUMNS];
    uint64_t calls;
    oc_text_cut(line, r->span, r->n_span, cell);
    bool nested = line.n && line.s[0] == ' ';
    double first = summary_tables_total_of(cell[2], r->unit_ns),
           second = r->n_span > 3 ? summary_tables_total_of(cell[3], r->unit_ns) : (double)NAN;
    if (!cell[0].n || !oc_csv_u64(cell[1], &calls))
        return;
    if (oc_csv_same(cell[0], "ProfileStep") && !r->steps && first > 0) {
        r->steps = calls < UINT32_MAX ? calls : 0;
        r->steps_ns = first;
    }
    r->p->training |= oc_csv_same(cell[0], "Backward") || oc_csv_same(cell[0], "Optimization");
    if (nested || r->section == OTHER)
        return;
    if (too_many(r)) {
        *rc = oc_csv_too_many(r->c, err);
        return;
    }
    if (r->section == OPERATORS)
        add_operator(r, cell[0], calls, r->cpu ? first : (double)NAN,
                     !r->gpu  ? (double)NAN
                     : r->cpu ? second
                              : first);
    else if (!isnan(first))
        summary_tables_add_kernel(r, cell[0], calls, first);
}

static int summary_tables_take_line(struct reading *r, struct oc_str line, struct oc_err *err)
{
    struct oc_text_column found[OC_TEXT_COLUMNS];
    size_t n = oc_text_rule(line, found);
    int rc = 0;
    if (n) {
        memcpy(r->span, found, n * sizeof(*found));
        r->n_span = n;
    } else if (is_title(line, "Summary")) {
        r->section = is_title(line, "Operator Summary") ? OPERATORS
                     : is_title(line, "Kernel Summary") ? KERNELS
                                                        : OTHER;
        if ((r->section == OPERATORS && !oc_recording_begins(&r->recordings, r->c)) || r->recordings.n > 1)
            r->section = OTHER;
        r->n_span = 0;
        r->unit_ns = 1e6;
    } else if (oc_str_has(line, "Time unit:")) {
        oc_csv_time_unit(oc_csv_trim(oc_str_after(line, ":")), &r->unit_ns);
    } else if (oc_str_has(line, "Calls") && r->n_span) {
        r->cpu = oc_str_has(line, "CPU");
        r->gpu = oc_str_has(line, "GPU") || oc_str_has(line, "XPU") || oc_str_has(line, "Device");
    } else if (r->n_span && !is_title(line, "Thread")) {
        summary_tables_take_row(r, line, err, &rc);
    }
    return rc;
}

static void summary_tables_make_times(struct reading *r)
{
    double runs = oc_prof_divide(r->p, r->steps, r->opts->stat);
    for (size_t i = 0; i < r->list.n; i++) {
        struct oc_prof_rec *rec = &r->list.rec[i];
        rec->time_ns = rec->self_ns = rec->host_ns = rec->total_ns / runs;
        rec->kernel_ns = rec->total_kernel_ns / runs;
        rec->runs = r->p->runs_used;
        rec->calls_per_run = rec->calls ? (double)rec->calls / runs : (double)NAN;
    }
    for (size_t i = 0; i < r->n_kernel; i++)
        r->kernel[i].time_ns = r->kernel[i].total_ns / runs;
}

static void summary_tables_finish(struct reading *r)
{
    struct oc_profile *p = r->p;
    oc_recordings_warn(&r->recordings, r->torch ? "tables" : "operator summaries", p);
    summary_tables_make_times(r);
    if (!p->device[0])
        p->device = r->any_gpu ? "GPU" : "CPU";
    p->time_kind = r->any_gpu ? "device time" : "host time";
    if (r->steps)
        p->run_ns = r->steps_ns / (p->stat == OC_STAT_SUM ? 1 : (double)r->steps);
    if (!r->any_gpu)
        p->imported_kernel_ns = NAN;
    p->kernel = OC_COPY_ARRAY(&p->arena, r->kernel, r->n_kernel);
    p->n_kernel = (uint32_t)r->n_kernel;
    oc_rec_list_end(&r->list, p);
}

/* ---- PyTorch ---------------------------------------------------------------------------------------- */

enum { T_NAME, T_SELF, T_TOTAL, T_DEVICE, T_DEVICE_TOTAL, T_CALLS, T_MEAN, T_SHAPES, T_COLUMNS };
enum torch_state { BEFORE, IN_HEADER, IN_TABLE, AFTER };

struct torch_row {
    struct oc_str name, shapes; /* in the arena of the table */
    double self_ns, total_ns, device_ns;
    uint64_t calls, where;
};

struct torch_table {
    enum torch_state state;
    size_t at[T_COLUMNS]; /* OC_CSV_NONE: no such column */
    struct torch_row *row;
    size_t n, cap;
    size_t negative; /* rows with a self time below 0: calls in other threads took longer than the operator */
    bool totals;     /* a table without self times comes first */
    const char *untimed;      /* why the times of the device, which the profiler before Kineto computed from
                               * events, are not those of its work; NULL: they are */
    double step_ns;           /* time of the CPU in steps outside operators */
    double all_ns, device_ns; /* of the lines below the table; NAN: none */
    struct oc_map hosts;      /* names of rows with time on the CPU */
    struct oc_arena arena;
};

static bool is_torch_header(struct oc_str line)
{
    return oc_str_starts(oc_csv_trim(line), "Name ") && oc_str_has(line, "Self CPU") &&
           oc_str_has(line, "CPU total") &&
           (oc_str_has(line, "# of Calls") || oc_str_has(line, "Number of Calls") ||
            oc_str_has(line, "CPU time avg"));
}

/* Of early versions of PyTorch: a total contains those of the operators that an operator called, and none is without. */
static bool is_total_header(struct oc_str line)
{
    static const char *const title[] = {"Name", "CPU time", "CUDA time", "Calls", "CPU total", "CUDA total"};
    struct oc_str cell[OC_TEXT_COLUMNS];
    if (oc_text_cells(line, cell) != OC_COUNT(title))
        return false;
    for (size_t i = 0; i < OC_COUNT(title); i++)
        if (!oc_csv_same(cell[i], title[i]))
            return false;
    return true;
}

/* "Self CUDA", "Self XPU" ..: not "Self CUDA %", "Self CUDA Mem", "Self CPU". */
static bool is_device_column(struct oc_str s)
{
    return oc_str_starts(s, "Self ") && !oc_str_starts(s, "Self CPU") && !memchr(s.s, '%', s.n) &&
           !oc_str_has(s, " Mem");
}

/* "CUDA total", "XPU total" */
static bool is_device_total(struct oc_str s)
{
    return oc_str_ends(s, " total") && !oc_str_starts(s, "Self ") && !oc_str_starts(s, "CPU ");
}

/* The cells of a line; n is the number of columns. Authors of pages emphasize some: "** 59.577ms**". */
static size_t torch_cells(const struct reading *r, struct oc_str line, struct oc_str *cell)
{
    size_t n = oc_text_cells(line, cell);
    if (n != r->n_span) { /* a number may be wider than its column */
        oc_text_cut(line, r->span, r->n_span, cell);
        n = r->n_span;
    }
    for (size_t i = 1; i < n; i++) { /* names may end so */
        if (oc_str_starts(cell[i], "**"))
            cell[i] = oc_csv_trim(oc_str_skip(cell[i], 2));
        if (oc_str_ends(cell[i], "**"))
            cell[i] = oc_csv_trim((struct oc_str){cell[i].s, cell[i].n - 2});
    }
    return n;
}

static void torch_header(struct reading *r, struct oc_str line)
{
    static const char *const title[T_COLUMNS][2] = {
        [T_NAME] = {"Name", NULL},         [T_SELF] = {"Self CPU", "Self CPU total"},
        [T_TOTAL] = {"CPU total", NULL},   [T_CALLS] = {"# of Calls", "Number of Calls"},
        [T_MEAN] = {"CPU time avg", NULL}, [T_SHAPES] = {"Input Shapes", NULL}};
    struct torch_table *t = r->torch;
    struct oc_str cell[OC_TEXT_COLUMNS];
    size_t n = oc_text_cells(line, cell) == r->n_span ? torch_cells(r, line, cell) : 0;
    for (size_t k = 0; k < T_COLUMNS; k++)
        t->at[k] = OC_CSV_NONE;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < T_COLUMNS; k++)
            if (t->at[k] == OC_CSV_NONE &&
                (k == T_DEVICE         ? is_device_column(cell[i])
                 : k == T_DEVICE_TOTAL ? is_device_total(cell[i])
                                       : oc_csv_same(cell[i], title[k][0]) ||
                                             (title[k][1] && oc_csv_same(cell[i], title[k][1]))))
                t->at[k] = i;
    t->state = t->at[T_NAME] != OC_CSV_NONE && t->at[T_SELF] != OC_CSV_NONE &&
                       t->at[T_TOTAL] != OC_CSV_NONE &&
                       (t->at[T_CALLS] != OC_CSV_NONE || t->at[T_MEAN] != OC_CSV_NONE)
                   ? IN_HEADER
                   : BEFORE;
}

/* "129.811ms"; NAN: not a time, or negative. */
static double torch_time(struct oc_str s)
{
    double ns;
    return oc_csv_time(s, &ns) ? ns : (double)NAN;
}

static double torch_signed_time(struct oc_str s)
{
    return s.n && s.s[0] == '-' ? -torch_time(oc_str_skip(s, 1)) : torch_time(s);
}

/* False: not a row. Without a column of calls: total and average of an event of its own are equal; 0: of
 * several events, unknown. */
static bool torch_calls(const struct torch_table *t, const struct oc_str *cell, double total_ns,
                        uint64_t *calls)
{
    if (t->at[T_CALLS] != OC_CSV_NONE)
        return oc_csv_u64(cell[t->at[T_CALLS]], calls);
    double mean_ns = torch_time(cell[t->at[T_MEAN]]);
    *calls = total_ns > 0 && fabs(mean_ns - total_ns) <= 1e-3 * total_ns;
    return !isnan(mean_ns);
}

/* With stacks a row continues in lines without numbers. */
static int torch_row(struct reading *r, struct oc_str line, struct oc_err *err)
{
    struct torch_table *t = r->torch;
    struct oc_str cell[OC_TEXT_COLUMNS];
    struct torch_row row = {.where = oc_csv_offset(r->c), .device_ns = NAN};
    torch_cells(r, line, cell);
    row.self_ns = torch_signed_time(cell[t->at[T_SELF]]);
    row.total_ns = torch_signed_time(cell[t->at[T_TOTAL]]);
    if (t->at[T_DEVICE] != OC_CSV_NONE) {
        row.device_ns = torch_time(cell[t->at[T_DEVICE]]);
        if (isnan(row.device_ns) && cell[t->at[T_DEVICE]].n && cell[t->at[T_DEVICE]].s[0] == '-')
            t->untimed = "device times are negative in some rows, because ranges of the device overlap";
    } else if (t->at[T_DEVICE_TOTAL] != OC_CSV_NONE && torch_time(cell[t->at[T_DEVICE_TOTAL]]) > 0) {
        t->untimed =
            "device times contain those of the operators that an operator called (PyTorch before 1.7)";
    }
    if (isnan(row.self_ns) || isnan(row.total_ns) || !torch_calls(t, cell, row.total_ns, &row.calls))
        return 0;
    if (t->n >= oc_csv_max_rows(r->c))
        return oc_csv_too_many(r->c, err);
    t->negative += row.self_ns < 0;
    row.self_ns = fmax(row.self_ns, 0);
    row.total_ns = fmax(row.total_ns, 0);
    struct oc_str name = cell[t->at[T_NAME]],
                  shapes = t->at[T_SHAPES] != OC_CSV_NONE ? cell[t->at[T_SHAPES]] : (struct oc_str){"", 0};
    row.name = (struct oc_str){oc_strndup(&t->arena, name.s, name.n), name.n};
    row.shapes = (struct oc_str){oc_strndup(&t->arena, shapes.s, shapes.n), shapes.n};
    if (row.total_ns > 0)
        oc_map_add(&t->hosts, row.name.s, row.name.n, &(uint32_t){0}, NULL);
    OC_PUSH(t->row, t->n, t->cap) = row;
    return 0;
}

/* "Self CUDA time total: 128.159ms" */
static void torch_total(struct torch_table *t, struct oc_str line)
{
    double ns = torch_time(oc_csv_trim(oc_str_after(line, ":")));
    double *to = oc_str_has(line, "CPU time total:") ? &t->all_ns : &t->device_ns;
    if (isnan(*to))
        *to = ns;
}

static int torch_line(struct reading *r, struct oc_str line, struct oc_err *err)
{
    struct torch_table *t = r->torch;
    struct oc_text_column found[OC_TEXT_COLUMNS];
    size_t n = oc_text_rule(line, found);
    if (n && t->state == IN_HEADER) {
        t->state = IN_TABLE;
    } else if (n && t->state == IN_TABLE) {
        t->state = t->n ? AFTER : BEFORE;
    } else if (n && t->state == BEFORE) {
        memcpy(r->span, found, n * sizeof(*found));
        r->n_span = n;
    } else if (is_torch_header(line)) {
        if (t->state == BEFORE && r->n_span)
            torch_header(r, line);
        if (t->state == IN_HEADER || t->state == AFTER)
            oc_recording_begins(&r->recordings, r->c);
    } else if (t->state == BEFORE && oc_str_has(line, "approximately max(cuda_time, cpu_time)")) {
        t->untimed = "device times are at least those of the CPU, as torch.utils.bottleneck says";
    } else if (t->state == BEFORE && is_total_header(line)) {
        t->totals = true;
    } else if (t->state == IN_TABLE) {
        return torch_row(r, line, err);
    } else if (t->state == AFTER && r->recordings.n == 1 && oc_str_has(line, " time total: ")) {
        torch_total(t, line);
    }
    return 0;
}

/* "[[1, 3, 224, 224], [64, 3, 7, 7], []]"; a list that the writer cut with "..." has none. */
static void torch_shapes(struct oc_profile *p, struct oc_str s, struct oc_prof_rec *rec)
{
    rec->in = oc_recorded_sizes(&p->arena, s, &rec->n_in);
    rec->has_in = rec->n_in > 0;
}

static bool summary_tables_on_device(const struct torch_row *row)
{
    return row->total_ns == 0 && row->self_ns == 0 && row->device_ns > 0;
}

static bool is_step(const struct torch_row *row)
{
    return oc_str_starts(row->name, "ProfilerStep");
}

static bool is_range(const struct torch_table *t, const struct torch_row *row)
{
    return is_step(row) || row->device_ns > t->device_ns ||
           oc_map_get(&t->hosts, row->name.s, row->name.n) != OC_NONE;
}

/* Calls of the runtime; some versions repeat the time of the kernels that they launch. */
static bool is_launch(struct oc_str name)
{
    static const char *const prefix[] = {"cuda", "hip", "cu"};
    for (size_t i = 0; i < OC_COUNT(prefix); i++) {
        size_t n = strlen(prefix[i]);
        if (name.n > n && oc_str_starts(name, prefix[i]))
            return name.s[n] >= 'A' && name.s[n] <= 'Z';
    }
    return false;
}

static void torch_record(struct reading *r, const struct torch_row *row, double cpu_ns)
{
    struct oc_prof_rec *rec = summary_tables_add_record(r, row->name, row->calls, cpu_ns, row->device_ns);
    rec->where = row->where;
    rec->is_launch = r->torch->untimed != NULL;
    r->p->training |= oc_str_starts(row->name, "autograd::") || oc_str_starts(row->name, "Optimizer.step");
    torch_shapes(r->p, row->shapes, rec);
}

/* Device time is that of the operators; a recording of kernels alone has only their rows. */
static void torch_records(struct reading *r)
{
    struct torch_table *t = r->torch;
    double attributed_ns = 0;
    for (size_t i = 0; i < t->n && !t->untimed; i++)
        attributed_ns +=
            !summary_tables_on_device(&t->row[i]) && t->row[i].device_ns > 0 ? t->row[i].device_ns : 0;
    for (size_t i = 0; i < t->n; i++) {
        struct torch_row *row = &t->row[i];
        if (t->untimed)
            row->device_ns = NAN;
        if (!summary_tables_on_device(row) && row->device_ns > 0 && is_launch(row->name))
            row->device_ns = 0;
        if (is_step(row) && row->total_ns > 0) {
            r->steps = row->calls < UINT32_MAX ? row->calls : 0;
            r->steps_ns = row->total_ns;
            t->step_ns = row->self_ns;
        } else if (!summary_tables_on_device(row)) {
            torch_record(r, row, row->self_ns);
        } else if (!is_range(t, row)) {
            summary_tables_add_kernel(r, row->name, row->calls, row->device_ns);
            if (attributed_ns == 0)
                torch_record(r, row, NAN);
        }
    }
}

static void torch_warnings(const struct reading *r)
{
    const struct torch_table *t = r->torch;
    struct oc_profile *p = r->p;
    double cpu = t->all_ns > 0 ? (p->imported_ns + t->step_ns) / t->all_ns : 1,
           device = t->device_ns > 0 && r->any_gpu ? p->imported_kernel_ns / t->device_ns : 1;
    if (t->untimed) {
        p->device = "GPU";
        oc_diag_add(&p->diags, OC_WARNING, "W-device-time", "", "%s: only times of the CPU are read",
                    t->untimed);
    }
    if (t->negative)
        oc_diag_add(
            &p->diags, OC_WARNING, "W-self-time", "",
            "self times of %zu rows are negative, because what these operators called took longer than they "
            "did: they count 0",
            t->negative);
    if (cpu < 0.99 || device < 0.99)
        oc_diag_add(&p->diags, OC_WARNING, "W-rows", "",
                    "the table has rows for %.1f %% of the CPU time%s: print all with table(row_limit=-1)",
                    cpu * 100,
                    r->any_gpu ? oc_printf(&p->arena, " and %.1f %% of the device time", device * 100) : "");
}

static int finish_torch(struct reading *r, struct oc_err *err)
{
    torch_records(r);
    if (!r->list.n && r->torch->totals)
        return oc_fail(err, OC_EFORMAT,
                       "has no self times, as early versions of PyTorch, and its totals contain those of the "
                       "operators that an operator called: give the file of prof.export_chrome_trace()");
    if (!r->list.n && r->torch->state == BEFORE)
        return oc_fail(
            err, OC_EFORMAT,
            "the header is not between lines of dashes with its columns: keep the table as printed");
    if (!r->list.n)
        return oc_fail(err, OC_EFORMAT,
                       "has no rows with times: print it with "
                       "prof.key_averages().table(row_limit=-1)");
    torch_warnings(r);
    summary_tables_finish(r);
    r->p->producer = "PyTorch profiler";
    return 0;
}

static int finish_paddle(struct reading *r, struct oc_err *err)
{
    if (!r->list.n)
        return oc_fail(
            err, OC_EFORMAT,
            "has no rows under 'Operator Summary': print it with Profiler.summary(op_detail=True)");
    summary_tables_finish(r);
    r->p->producer = "Paddle profiler";
    return 0;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static int read_summary_tables(struct reading *r, const struct oc_source *src, struct oc_profile *out,
                               struct oc_err *err)
{
    struct oc_str line;
    int rc = 0;
    r->c = oc_csv_open(src->file[0].s);
    r->p = out;
    r->unit_ns = 1e6;
    out->imported_ns = out->imported_kernel_ns = 0;
    while (rc == 0 && oc_csv_line(r->c, &line))
        rc = (r->torch ? torch_line : summary_tables_take_line)(r, line, err);
    if (rc == 0 && oc_csv_failed(r->c))
        rc = oc_csv_error(r->c, err);
    if (rc == 0)
        rc = (r->torch ? finish_torch : finish_paddle)(r, err);
    oc_csv_close(r->c);
    free(r->list.rec);
    free(r->kernel);
    return rc;
}

static int read_text_summary(const struct oc_source *src, const struct oc_profile_opts *opts,
                             struct oc_profile *out, struct oc_err *err)
{
    return read_summary_tables(&(struct reading){.opts = opts}, src, out, err);
}

static int read_torch(const struct oc_source *src, const struct oc_profile_opts *opts, struct oc_profile *out,
                      struct oc_err *err)
{
    struct torch_table t = {.all_ns = NAN, .device_ns = NAN};
    t.hosts.arena = &t.arena;
    int rc = read_summary_tables(&(struct reading){.opts = opts, .torch = &t}, src, out, err);
    free(t.row);
    oc_map_free(&t.hosts);
    oc_arena_free(&t.arena);
    return rc;
}

static bool is_summary_title(struct oc_str line)
{
    return is_title(line, "Operator Summary") || is_title(line, "Overview Summary") ||
           is_title(line, "Kernel Summary");
}

static void probe_summary(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has_line(peek, is_summary_title))
        *bid = (struct oc_bid){.score = 84, .reason = "titles of Profiler.summary()"};
}

static void probe_torch(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has_line(peek, is_torch_header) || oc_peek_has_line(peek, is_total_header))
        *bid = (struct oc_bid){.score = 84, .reason = "header of key_averages().table()"};
}

const struct oc_importer oc_importer_paddle_summary = {
    .name = "paddle_summary",
    .title = "Paddle Profiler.summary(): tables as printed",
    .seen = "2.x",
    .lost = "nested rows; long names, which the writer cuts",
    .probe = probe_summary,
    .read = read_text_summary,
    .in_output = true,
};

const struct oc_importer oc_importer_pytorch_table = {
    .name = "pytorch_table",
    .title = "PyTorch key_averages().table(): tables as printed",
    .seen = "1.8 to 2.6 on CPU and CUDA",
    .lost = "long names, which the writer cuts; memory; tables after the first",
    .probe = probe_torch,
    .read = read_torch,
    .in_output = true,
};
