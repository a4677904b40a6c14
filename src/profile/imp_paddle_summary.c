/* The tables that paddle.profiler's Profiler.summary() prints:
 *
 *   -------------Operator Summary-------------
 *   Time unit: ms
 *   ------------  -----  ----------------------------------------  ----------------------------------------
 *   Name          Calls  CPU Total / Avg / Max / Min / Ratio(%)    GPU Total / Avg / Max / Min / Ratio(%)
 *   ------------  -----  ----------------------------------------  ----------------------------------------
 *   conv2d        296    53.70 / 0.18 / 0.40 / 0.14 / 4.34         679.11 / 2.29 / 5.75 / 0.24 / 24.11
 *     conv2d::compute ...                                          (a part of the row above)
 *
 * The row ProfileStep of the other tables has the number of steps and their total time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/kernel_names.h"
#include "profile/rec_list.h"
#include "profile/text_table.h"
#include "profile/timeline.h"

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
    bool cpu, gpu; /* columns of the table */
    double unit_ns, steps_ns;
    uint64_t steps;
    bool any_gpu;
};

/* "-----Operator Summary-----" */
static bool is_title(struct oc_str line, const char *title)
{
    struct oc_str s = oc_csv_trim(line);
    return s.n > 6 && memcmp(s.s, "---", 3) == 0 && memcmp(s.s + s.n - 3, "---", 3) == 0 &&
           oc_str_has(s, title);
}

/* The first number of "53.70 / 0.18 / 0.40 / 0.14 / 4.34"; NAN: "-". */
static double total_of(struct oc_str cell, double unit_ns)
{
    const char *slash = cell.n ? memchr(cell.s, '/', cell.n) : NULL;
    double v;
    if (slash)
        cell.n = (size_t)(slash - cell.s);
    return oc_csv_number(cell, &v, NULL) && v >= 0 && v < 1e15 ? v * unit_ns : (double)NAN;
}

static void add_operator(struct reading *r, struct oc_str name, uint64_t calls, double cpu_ns, double gpu_ns)
{
    struct oc_prof_rec *rec = oc_rec_add(&r->list);
    rec->name = oc_prof_text(r->p, name);
    struct oc_str type = name; /* "conv2d dygraph", "conv2d_grad grad_node" */
    const char *blank = memrchr(name.s, ' ', name.n);
    if (blank &&
        (oc_csv_same((struct oc_str){blank + 1, (size_t)(name.s + name.n - blank - 1)}, "dygraph") ||
         oc_csv_same((struct oc_str){blank + 1, (size_t)(name.s + name.n - blank - 1)}, "grad_node")))
        type.n = (size_t)(blank - name.s);
    rec->op_type = oc_prof_text(r->p, type);
    rec->calls = calls;
    rec->total_ns = cpu_ns;
    rec->total_kernel_ns = gpu_ns;
    rec->where = oc_csv_offset(r->c);
    r->p->imported_ns += isnan(cpu_ns) ? 0 : cpu_ns;
    r->p->imported_kernel_ns += isnan(gpu_ns) ? 0 : gpu_ns;
    r->any_gpu |= !isnan(gpu_ns);
}

static void add_kernel(struct reading *r, struct oc_str name, uint64_t calls, double gpu_ns)
{
    struct oc_kernel_facts facts;
    OC_GROW(r->kernel, r->n_kernel, r->cap_kernel);
    struct oc_prof_kernel *k = &r->kernel[r->n_kernel++];
    *k = (struct oc_prof_kernel){.name = oc_prof_text(r->p, name),
                                 .rec = OC_NONE,
                                 .kind = OC_EV_KERNEL,
                                 .calls = calls,
                                 .total_ns = gpu_ns,
                                 .min_ns = (double)NAN,
                                 .max_ns = (double)NAN,
                                 .flop = (double)NAN,
                                 .bytes = (double)NAN};
    oc_kernel_facts(r->opts->kernel_names, k->name, &facts);
    k->precision = facts.precision;
    k->unit = facts.unit;
    k->library = facts.library;
}

static void take_row(struct reading *r, struct oc_str line, struct oc_err *err, int *rc)
{
    struct oc_str cell[OC_TEXT_COLUMNS];
    uint64_t calls;
    oc_text_cut(line, r->span, r->n_span, cell);
    bool nested = line.n && line.s[0] == ' ';
    double first = total_of(cell[2], r->unit_ns),
           second = r->n_span > 3 ? total_of(cell[3], r->unit_ns) : (double)NAN;
    if (!cell[0].n || !oc_csv_u64(cell[1], &calls))
        return;
    if (oc_csv_same(cell[0], "ProfileStep") && !r->steps && first > 0) {
        r->steps = calls < UINT32_MAX ? calls : 0;
        r->steps_ns = first;
    }
    r->p->training |= oc_csv_same(cell[0], "Backward") || oc_csv_same(cell[0], "Optimization");
    if (nested || r->section == OTHER)
        return;
    if (r->list.n + r->n_kernel >= oc_csv_max_rows(r->c)) {
        *rc = oc_csv_too_many(r->c, err);
        return;
    }
    if (r->section == OPERATORS)
        add_operator(r, cell[0], calls, r->cpu ? first : (double)NAN,
                     !r->gpu  ? (double)NAN
                     : r->cpu ? second
                              : first);
    else if (!isnan(first))
        add_kernel(r, cell[0], calls, first);
}

static int take_line(struct reading *r, struct oc_str line, struct oc_err *err)
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
        r->n_span = 0;
        r->unit_ns = 1e6;
    } else if (oc_str_has(line, "Time unit:")) {
        const char *colon = memchr(line.s, ':', line.n);
        oc_csv_time_unit(oc_csv_trim((struct oc_str){colon + 1, (size_t)(line.s + line.n - colon - 1)}),
                         &r->unit_ns);
    } else if (oc_str_has(line, "Calls") && r->n_span) {
        r->cpu = oc_str_has(line, "CPU");
        r->gpu = oc_str_has(line, "GPU") || oc_str_has(line, "XPU") || oc_str_has(line, "Device");
    } else if (r->n_span && !is_title(line, "Thread")) {
        take_row(r, line, err, &rc);
    }
    return rc;
}

static void make_times(struct reading *r)
{
    double runs = r->steps && r->opts->stat != OC_STAT_SUM ? (double)r->steps : 1;
    for (size_t i = 0; i < r->list.n; i++) {
        struct oc_prof_rec *rec = &r->list.rec[i];
        rec->time_ns = rec->self_ns = rec->host_ns = rec->total_ns / runs;
        rec->kernel_ns = rec->total_kernel_ns / runs;
        rec->runs = r->p->runs_used;
        rec->calls_per_run = (double)rec->calls / runs;
    }
    for (size_t i = 0; i < r->n_kernel; i++)
        r->kernel[i].time_ns = r->kernel[i].total_ns / runs;
}

static void finish(struct reading *r)
{
    struct oc_profile *p = r->p;
    bool sum = !r->steps || r->opts->stat == OC_STAT_SUM;
    p->producer = "Paddle profiler";
    p->device = r->any_gpu ? "GPU" : "CPU";
    p->time_kind = r->any_gpu ? "device time" : "host time";
    p->runs_total = (uint32_t)r->steps;
    p->runs_used = r->steps ? (uint32_t)r->steps : 1;
    p->runs_from = r->steps ? OC_RUNS_MARKED : OC_RUNS_UNKNOWN;
    p->stat = sum ? OC_STAT_SUM : OC_STAT_MEAN;
    p->run_ns = !r->steps ? (double)NAN : sum ? r->steps_ns : r->steps_ns / (double)r->steps;
    p->busy_ns = NAN;
    make_times(r);
    if (!r->any_gpu)
        p->imported_kernel_ns = NAN;
    p->kernel = OC_NEW_ARRAY(&p->arena, r->n_kernel ? r->n_kernel : 1, struct oc_prof_kernel);
    if (r->n_kernel)
        memcpy(p->kernel, r->kernel, r->n_kernel * sizeof(*r->kernel));
    p->n_kernel = (uint32_t)r->n_kernel;
    oc_rec_list_end(&r->list, p);
}

static int read_summary(const struct oc_source *src, const struct oc_profile_opts *opts,
                        struct oc_profile *out, struct oc_err *err)
{
    struct reading r = {.c = oc_csv_open(src->file[0].s), .p = out, .opts = opts, .unit_ns = 1e6};
    struct oc_str line;
    int rc = 0;
    out->imported_ns = out->imported_kernel_ns = 0;
    while (rc == 0 && oc_csv_line(r.c, &line))
        rc = take_line(&r, line, err);
    if (rc == 0 && oc_csv_failed(r.c))
        rc = oc_csv_error(r.c, err);
    if (rc == 0 && !r.list.n)
        rc = oc_fail(err, OC_EFORMAT,
                     "has no rows under 'Operator Summary': print it with Profiler.summary(op_detail=True)");
    if (rc == 0)
        finish(&r);
    oc_csv_close(r.c);
    free(r.list.rec);
    free(r.kernel);
    return rc;
}

static void probe_summary(const struct oc_peek *peek, struct oc_bid *bid)
{
    for (const char *p = peek->data, *end = p + peek->n, *lf; p && p < end; p = lf ? lf + 1 : NULL) {
        lf = memchr(p, '\n', (size_t)(end - p));
        struct oc_str line = {p, (size_t)((lf ? lf : end) - p)};
        if (is_title(line, "Operator Summary") || is_title(line, "Overview Summary") ||
            is_title(line, "Kernel Summary")) {
            *bid = (struct oc_bid){.score = 84, .reason = "titles of Profiler.summary()"};
            return;
        }
    }
}

const struct oc_importer oc_importer_paddle_summary = {
    .name = "paddle_summary",
    .title = "Paddle Profiler.summary(): tables as printed",
    .seen = "2.x",
    .lost = "nested rows; long names, which the writer cuts",
    .probe = probe_summary,
    .read = read_summary,
};
