#include "profile/sum_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/timeline.h"

struct making {
    const struct oc_sum_rows *rows;
    struct oc_profile *out;
    const struct oc_profile_opts *opts;
    struct oc_map of; /* texts to records */
    struct oc_arena scratch;
};

static struct oc_prof_rec *sum_rows_add_rec(struct oc_profile *p, const char *name)
{
    struct oc_prof_rec *rec = &p->rec[p->n_rec++];
    *rec = oc_prof_rec_new(name);
    return rec;
}

static uint32_t rec_of(struct making *m, const struct oc_sum_row *x)
{
    struct oc_profile *p = m->out;
    const char *name = x->label.name ? x->label.name : x->name ? x->name : "";
    const char *key = oc_printf(&m->scratch, "%d\x1f%s\x1f%s\x1f%lld\x1f%s", x->label.name != NULL, name,
                                x->label.name ? x->label.op_type : "", (long long)x->label.index,
                                x->variant ? x->variant : "");
    uint32_t id = p->n_rec;
    if (!oc_map_add(&m->of, key, strlen(key), &id, NULL))
        return id;
    struct oc_prof_rec *rec = sum_rows_add_rec(p, name);
    rec->where = x->where;
    rec->total_kernel_ns = 0;
    rec->bucket = !x->label.name && x->kind != OC_EV_KERNEL ? "copies" : NULL;
    if (x->label.name) {
        oc_label_describe(&x->label, rec);
    }
    return id;
}

static void sum_rows_add_kernel(struct making *m, const struct oc_sum_row *x, uint32_t rec, double runs)
{
    struct oc_prof_kernel *k = &m->out->kernel[m->out->n_kernel++];
    *k = oc_prof_kernel_new(x->name, x->kind);
    k->rec = rec;
    k->time_ns = x->total_ns / runs;
    k->min_ns = x->min_ns;
    k->max_ns = x->max_ns;
    k->total_ns = x->total_ns;
    k->calls = x->calls;
}

static void sum_rows_finish_rec(const struct making *m, uint32_t i, double runs)
{
    struct oc_prof_rec *r = &m->out->rec[i];
    bool once = runs == 1;
    r->time_ns = r->self_ns = r->kernel_ns = r->total_kernel_ns / (m->opts->stat == OC_STAT_SUM ? 1 : runs);
    r->min_ns = r->max_ns = r->median_ns = once ? r->time_ns : (double)NAN;
    r->runs = m->out->runs_used;
    r->calls_per_run = (double)r->calls / runs;
    if (!m->rows->host)
        return;
    r->total_ns = r->total_kernel_ns;
    r->kernel_ns = r->total_kernel_ns = (double)NAN;
}

/* The counts of kernels do not show the runs: a kernel may run once or often in each layer. */
static void sum_rows_choose_runs(struct making *m, uint64_t runs)
{
    struct oc_profile *p = m->out;
    bool known = m->rows->runs > 0, sum = m->opts->stat == OC_STAT_SUM || !known;
    p->runs_used = runs < UINT32_MAX ? (uint32_t)runs : UINT32_MAX;
    p->runs_total = known ? p->runs_used : 0;
    p->runs_from = known ? OC_RUNS_MARKED : OC_RUNS_UNKNOWN;
    p->stat = sum ? OC_STAT_SUM : OC_STAT_MEAN;
    p->run_ns = p->busy_ns = (double)NAN;
    if (!known)
        oc_diag_add(
            &p->diags, OC_WARNING, "W-no-run", "",
            "the file has sums over an unknown number of runs: times are those of the whole recording");
    if (p->stat != m->opts->stat && runs > 1)
        oc_diag_add(&p->diags, OC_INFO, "I-mean-only", "",
                    "the file has sums over %llu runs: times are means and include the first runs",
                    (unsigned long long)runs);
    if (m->opts->warmup > 0)
        oc_diag_add(&p->diags, OC_WARNING, "W-warmup", "",
                    "the file has sums only: warm-up runs cannot be excluded");
}

void oc_sum_rows_finish(const struct oc_sum_rows *rows, struct oc_profile *out,
                        const struct oc_profile_opts *opts)
{
    struct making m = {.rows = rows, .out = out, .opts = opts};
    uint64_t runs = rows->runs ? rows->runs : 1;
    m.of.arena = &m.scratch;
    sum_rows_choose_runs(&m, runs);
    out->time_kind = rows->host ? "host time" : "device time";
    out->rec = OC_NEW_ARRAY(&out->arena, rows->n + 1, struct oc_prof_rec);
    out->kernel = OC_NEW_ARRAY(&out->arena, rows->n + 1, struct oc_prof_kernel);
    double sum_ns = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct oc_sum_row *x = &rows->row[i];
        uint32_t rec = rec_of(&m, x);
        sum_ns += x->total_ns;
        out->rec[rec].total_kernel_ns += x->total_ns;
        out->rec[rec].calls += x->calls;
        if (x->name && !rows->host)
            sum_rows_add_kernel(&m, x, rec, opts->stat == OC_STAT_SUM ? 1 : (double)runs);
    }
    for (uint32_t i = 0; i < out->n_rec; i++)
        sum_rows_finish_rec(&m, i, (double)runs);
    if (rows->unlabelled_ns > 0) {
        struct oc_prof_rec *rec = sum_rows_add_rec(out, "(kernels without operator)");
        rec->bucket = "kernels without operator";
        rec->total_kernel_ns = rows->unlabelled_ns;
        rec->time_ns = rec->self_ns = rec->kernel_ns =
            rows->unlabelled_ns / (opts->stat == OC_STAT_SUM ? 1 : (double)runs);
        sum_ns += rows->unlabelled_ns;
    }
    *(rows->host ? &out->imported_ns : &out->imported_kernel_ns) = sum_ns;
    oc_map_free(&m.of);
    oc_arena_free(&m.scratch);
}
