/* Reports of Nsight Systems: sums and launches of kernels, NVTX ranges. Several reports of a recording contain the same work:
 * the one with the most detail about layers counts, which has the lowest level of those in the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost/profile.h"
#include "profile/core/nvtx.h"
#include "profile/core/timeline.h"
#include "profile/printed/finish.h"

struct range { /* a range instance from a trace of ranges */
    int64_t id, parent;
    double start_ns, dur_ns, self_ns;
    const char *domain, *text;
    uint32_t outer; /* index of its parent, OC_NONE */
};

struct reading {
    struct oc_printed_values *x;
    struct oc_profile *out;
    const struct oc_profile_opts *opts;
    struct oc_arena scratch;
    const char *report;
    struct oc_sum_rows sums;
    uint64_t run_instances;    /* number of ranges that are runs */
    double run_ns, kernels_ns; /* kernels_ns: of the report of all kernels */
    struct oc_timeline *launches;
    struct range *range;
    size_t n_range, range_cap;
};

static bool is_report(const struct reading *r, const char *name)
{
    return strcmp(r->report, name) == 0;
}

static double number_of(const struct reading *r, const struct oc_printed_row *row, int role)
{
    return oc_printed_value(r->x->r, row, role);
}

static uint64_t count_of(const struct reading *r, const struct oc_printed_row *row, int role)
{
    double v = number_of(r, row, role);
    return v > 0 && v < 0x1p52 ? (uint64_t)v : 0;
}

static uint64_t id_of(const struct oc_printed_row *row, int role)
{
    uint64_t v;
    return oc_csv_u64(oc_printed_text(row, role), &v) && v < (uint64_t)1 << 52 ? v : 0;
}

/* Parses "TensorRT:Conv_0 + Relu_1", ":text" (default domain), and "aten::add" of versions without
 * domains. */
static const char *split_domain(struct reading *r, struct oc_str s, const char **domain)
{
    const char *colon = memchr(s.s, ':', s.n);
    size_t n = colon ? (size_t)(colon - s.s) : 0;
    *domain = "";
    if (!colon || (n && n + 1 < s.n && colon[1] == ':'))
        return oc_prof_text(r->out, s);
    *domain = oc_strndup(&r->scratch, s.s, n);
    return oc_prof_text(r->out, (struct oc_str){colon + 1, s.n - n - 1});
}

static double time_of(const struct oc_printed_value *v)
{
    return isnan(v->device_ns) ? v->total_ns : v->device_ns;
}

static void take_sum(struct reading *r, const struct oc_printed_value *v)
{
    const struct oc_printed_row *row = v->row;
    struct oc_str name = oc_printed_text(row, OC_ROLE_NAME);
    struct oc_sum_row x = {.total_ns = time_of(v),
                           .min_ns = number_of(r, row, OC_ROLE_MIN),
                           .max_ns = number_of(r, row, OC_ROLE_MAX),
                           .calls = count_of(r, row, OC_ROLE_CALLS),
                           .instances = count_of(r, row, OC_ROLE_INSTANCES),
                           .kind = oc_cuda_kind(name),
                           .name = name.n ? oc_prof_text(r->out, name) : NULL,
                           .where = row->where};
    if (oc_printed_has(row, OC_ROLE_RANGE)) {
        const char *domain, *text = split_domain(r, oc_printed_text(row, OC_ROLE_RANGE), &domain);
        if (oc_nvtx_kind(domain, text) == OC_NVTX_RUN) { /* encloses the layers */
            r->run_instances = x.instances;
            r->run_ns += x.total_ns;
            return;
        }
        if (number_of(r, row, OC_ROLE_CHILDREN) > 0)
            return;
        x.variant = oc_nvtx_label(r->out, domain, text, &x.label);
        x.calls = x.calls ? x.calls : x.instances;
    }
    OC_PUSH(r->sums.row, r->sums.n, r->sums.cap) = x;
}

static const char *nsys_csv_device_of(struct reading *r, struct oc_str text, int64_t *id)
{
    size_t n = text.n;
    *id = OC_NO_ID;
    if (n && text.s[n - 1] == ')') { /* "NVIDIA A100 (0)" */
        while (n && text.s[n - 1] != '(')
            n--;
        uint64_t v;
        if (n && oc_csv_u64((struct oc_str){text.s + n, text.n - n - 1}, &v))
            *id = (int64_t)(v & INT32_MAX);
        n -= n > 0;
    }
    return oc_prof_text(r->out, oc_csv_trim((struct oc_str){text.s, n}));
}

static void take_launch(struct reading *r, const struct oc_printed_value *v)
{
    const struct oc_printed_row *row = v->row;
    struct oc_str name = oc_printed_text(row, OC_ROLE_NAME);
    double bytes = number_of(r, row, OC_ROLE_BYTES);
    struct oc_launch x = {.label = OC_NONE,
                          .run = OC_NONE,
                          .flop = NAN,
                          .kind = oc_cuda_kind(name),
                          .name = oc_prof_text(r->out, name),
                          .where = row->where,
                          .start_ns = number_of(r, row, OC_ROLE_START),
                          .dur_ns = time_of(v)};
    uint64_t process = id_of(row, OC_ROLE_PROCESS);
    int64_t device;
    if (isnan(x.start_ns) || !name.n)
        return;
    if (!r->launches)
        r->launches = oc_timeline_new(r->out);
    const char *device_name = nsys_csv_device_of(r, oc_printed_text(row, OC_ROLE_PLACE), &device);
    if (is_report(r, "cuda_gpu_trace") && device_name[0] && !r->out->device[0])
        r->out->device = device_name;
    x.bytes = x.kind != OC_EV_KERNEL && bytes > 0 ? bytes : (double)NAN;
    x.lane = oc_timeline_stream(r->launches, process ? (int64_t)process : OC_NO_ID, device,
                                (int64_t)id_of(row, OC_ROLE_STREAM));
    if (!oc_timeline_launch(r->launches, &x))
        oc_prof_over(r->out, OC_LIMIT_EVENTS);
}

static void take_range(struct reading *r, const struct oc_printed_value *v)
{
    struct range x = {
        .outer = OC_NONE, .start_ns = number_of(r, v->row, OC_ROLE_START), .dur_ns = time_of(v)};
    if (isnan(x.start_ns))
        return;
    x.text = split_domain(r, oc_printed_text(v->row, OC_ROLE_RANGE), &x.domain);
    x.id = (int64_t)id_of(v->row, OC_ROLE_ID);
    x.parent = (int64_t)id_of(v->row, OC_ROLE_PARENT);
    x.self_ns = x.dur_ns;
    OC_PUSH(r->range, r->n_range, r->range_cap) = x;
}

/* ---- traces of ranges ------------------------------------------------------------------------------- */

/* Self times: the duration of a range minus its direct children. */
static void nest_ranges(struct reading *r)
{
    struct oc_map ids = {.arena = &r->scratch};
    for (size_t i = 0; i < r->n_range; i++) {
        struct range *x = &r->range[i];
        if (x->id)
            oc_map_set(&ids, (const char *)&x->id, sizeof(x->id), (uint32_t)i);
    }
    for (size_t i = 0; i < r->n_range; i++) {
        struct range *x = &r->range[i];
        x->outer = x->parent && x->parent != x->id
                       ? oc_map_get(&ids, (const char *)&x->parent, sizeof(x->parent))
                       : OC_NONE;
        if (x->outer != OC_NONE)
            r->range[x->outer].self_ns -= x->dur_ns;
    }
    oc_map_free(&ids);
}

static int nsys_csv_by_start(const void *a, const void *b)
{
    const struct range *const *x = a, *const *y = b;
    if ((*x)->start_ns != (*y)->start_ns)
        return (*x)->start_ns < (*y)->start_ns ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* Numbers the ranges that are runs by start time; returns their count. run: per range, OC_NONE. */
static uint32_t number_runs(struct reading *r, uint32_t *run)
{
    const struct range **order = oc_xmalloc((r->n_range + 1) * sizeof(const struct range *));
    uint32_t n = 0;
    for (size_t i = 0; i < r->n_range; i++) {
        run[i] = OC_NONE;
        if (oc_nvtx_kind(r->range[i].domain, r->range[i].text) == OC_NVTX_RUN)
            order[n++] = &r->range[i];
    }
    if (n)
        qsort(order, n, sizeof(*order), nsys_csv_by_start);
    for (uint32_t i = 0; i < n; i++)
        run[order[i] - r->range] = i;
    free(order);
    return n;
}

static void launch_range(struct reading *r, struct oc_timeline *l, size_t i, uint32_t run)
{
    const struct range *x = &r->range[i];
    struct oc_label label;
    bool is_run = oc_nvtx_kind(x->domain, x->text) == OC_NVTX_RUN;
    const char *variant = is_run ? NULL : oc_nvtx_label(r->out, x->domain, x->text, &label);
    double self_ns = x->self_ns > 0 ? x->self_ns : 0; /* child ranges may overlap */
    if (is_run && self_ns <= 0)
        return;
    oc_timeline_launch(l,
                       &(struct oc_launch){.name = x->text,
                                           .start_ns = x->start_ns,
                                           .dur_ns = self_ns,
                                           .label = is_run ? OC_NONE : oc_timeline_label(l, &label, variant),
                                           .run = run,
                                           .kind = OC_EV_KERNEL,
                                           .bytes = NAN,
                                           .flop = NAN});
}

/* Marks the times as host times: moves the values from device time. */
static void make_host_times(struct oc_profile *p)
{
    p->time_kind = "host time";
    p->imported_ns = p->imported_kernel_ns;
    p->imported_kernel_ns = NAN;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_prof_rec *rec = &p->rec[i];
        rec->total_ns = rec->total_kernel_ns;
        rec->kernel_ns = rec->total_kernel_ns = NAN;
        if (rec->rest) {
            rec->bucket = "framework";
            rec->name = "(framework)";
            rec->op_type = "";
            rec->rest = NULL;
        }
    }
}

static void finish_ranges(struct reading *r)
{
    struct oc_profile *p = r->out;
    struct oc_timeline *l = oc_timeline_new(p);
    uint32_t *run = oc_xmalloc((r->n_range + 1) * sizeof(*run));
    nest_ranges(r);
    uint32_t n_run = number_runs(r, run);
    for (size_t i = 0; i < r->n_range; i++) {
        uint32_t found = OC_NONE, outer = (uint32_t)i;
        for (unsigned depth = 0; outer != OC_NONE && found == OC_NONE && depth < 256; depth++) {
            found = run[outer];
            outer = r->range[outer].outer;
        }
        launch_range(r, l, i, found);
    }
    oc_timeline_launches_end(l, r->opts, n_run, false);
    p->n_kernel = 0; /* ranges, not kernels */
    if (is_report(r, "nvtx_pushpop_trace"))
        make_host_times(p);
    oc_timeline_free(l);
    free(run);
}

/* ---- all -------------------------------------------------------------------------------------------- */

static double kernels_of(const struct oc_sum_rows *rows)
{
    double ns = 0;
    for (size_t i = 0; i < rows->n; i++)
        ns += rows->row[i].kind == OC_EV_KERNEL ? rows->row[i].total_ns : 0;
    return ns;
}

/* Copies have a report of their own. */
static void add_copies(struct reading *r)
{
    for (size_t i = 0; i < r->x->n_all; i++)
        if (strcmp(r->x->all[i].row->t->report, "cuda_gpu_mem_time_sum") == 0)
            take_sum(r, &r->x->all[i]);
}

static void finish_sums(struct reading *r)
{
    bool by_range = is_report(r, "nvtx_kern_sum") || is_report(r, "nvtx_gpu_proj_sum");
    r->sums.runs = r->run_instances;
    r->sums.host = is_report(r, "nvtx_sum");
    if (by_range) {
        double layers_ns = kernels_of(&r->sums), all_ns = r->kernels_ns > 0 ? r->kernels_ns : r->run_ns;
        r->sums.unlabelled_ns = all_ns > layers_ns ? all_ns - layers_ns : 0;
    }
    if (r->sums.host)
        oc_diag_add(&r->out->diags, OC_WARNING, "W-nested-ranges", "",
                    "the report does not show which ranges are nested: their time counts in both "
                    "(nvtx_kern_sum reports kernel times by range)");
    if (is_report(r, "nvtx_kern_sum") || is_report(r, "cuda_gpu_kern_sum"))
        add_copies(r);
    oc_sum_rows_finish(&r->sums, r->out, r->opts);
}

static void take_rows(struct reading *r)
{
    bool launches = is_report(r, "cuda_gpu_trace") || is_report(r, "cuda_kern_exec_trace"),
         ranges = is_report(r, "nvtx_gpu_proj_trace") || is_report(r, "nvtx_pushpop_trace");
    for (size_t i = 0; i < r->x->n_all; i++)
        if (strcmp(r->x->all[i].row->t->report, "cuda_gpu_kern_sum") == 0 &&
            oc_cuda_kind(oc_printed_text(r->x->all[i].row, OC_ROLE_NAME)) == OC_EV_KERNEL)
            r->kernels_ns += time_of(&r->x->all[i]);
    for (size_t i = 0; i < r->x->n && !r->out->over; i++) {
        if (launches)
            take_launch(r, &r->x->v[i]);
        else if (ranges)
            take_range(r, &r->x->v[i]);
        else
            take_sum(r, &r->x->v[i]);
    }
    if (launches && r->launches)
        oc_timeline_launches_end(r->launches, r->opts, 0, true);
    else if (ranges)
        finish_ranges(r);
    else if (!launches)
        finish_sums(r);
}

int oc_printed_nsys(struct oc_printed_values *x, struct oc_err *err)
{
    static const char *const kernels[] = {"cuda_gpu_trace", "cuda_kern_exec_trace", "cuda_gpu_kern_sum",
                                          "cuda_gpu_sum"};
    struct reading r = {.x = x, .out = x->p, .opts = x->opts};
    if (!x->n)
        return oc_fail(err, OC_EFORMAT, "no row of an nsys stats report about kernels or NVTX ranges");
    const struct oc_printed_table *t = x->v[0].row->t;
    bool console = false;
    for (size_t i = 0; i < x->r->n; i++)
        console |= x->r->row[i].t->cells != OC_CELLS_CSV;
    r.report = t->report;
    x->p->producer =
        oc_printf(&x->p->arena, "Nsight Systems, report %s%s", t->report, console ? " as printed" : "");
    take_rows(&r);
    for (size_t i = 0; i < OC_COUNT(kernels); i++)
        if (is_report(&r, kernels[i]))
            oc_diag_add(&x->p->diags, OC_INFO, "I-kernels-only", "",
                        "this report has kernels only: for times of layers export nvtx_kern_sum, or SQLite");
    free(r.sums.row);
    free(r.range);
    oc_timeline_free(r.launches);
    oc_arena_free(&r.scratch);
    return 0;
}
