#include "gate/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"

typedef __int128 wide;

const char *oc_diff_status_name(unsigned status)
{
    static const char *const name[] = {"same", "renamed", "changed", "added", "removed", "bucket"};
    return status < OC_DIFF_STATUSES ? name[status] : "?";
}

static double time_of(const struct oc_diff_cell *c, unsigned metric)
{
    return metric == OC_DIFF_TIME ? c->time_ns : c->roof_ns;
}

static bool is_count(unsigned metric)
{
    return metric < OC_DIFF_COUNTS;
}

bool oc_diff_known(const struct oc_diff_row *r, unsigned side, unsigned metric)
{
    const struct oc_diff_cell *c = &r->side[side];
    if (is_count(metric))
        return metric == OC_DIFF_PARAMS || !c->n_unknown;
    return !isnan(time_of(c, metric));
}

double oc_diff_delta(const struct oc_diff_row *r, unsigned metric)
{
    if (!oc_diff_known(r, 0, metric) || !oc_diff_known(r, 1, metric))
        return NAN;
    if (!is_count(metric))
        return time_of(&r->side[1], metric) - time_of(&r->side[0], metric);
    uint64_t a = r->side[0].count[metric], b = r->side[1].count[metric];
    return a > b ? -(double)(a - b) : (double)(b - a);
}

/* ---- totals -------------------------------------------------------------------------------------------- */

static void set_model_totals(struct oc_diff *d, unsigned s)
{
    const struct oc_analysis *a = d->in[s].analysis;
    const struct oc_totals *t = &a->total;
    const uint64_t n[OC_DIFF_METRICS] = {[OC_DIFF_MACS] = t->macs,
                                         [OC_DIFF_FLOPS] = t->flops,
                                         [OC_DIFF_OPS] = t->ops,
                                         [OC_DIFF_BYTES] =
                                             t->bytes_read_act + t->bytes_read_weight + t->bytes_written,
                                         [OC_DIFF_PARAMS] = t->params,
                                         [OC_DIFF_PEAK] = a->peak.bytes,
                                         [OC_DIFF_WEIGHT_BYTES] = t->const_bytes};
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++) {
        d->total[m].n[s] = n[m];
        d->total[m].known[s] = m != OC_DIFF_PEAK || a->peak.quality != OC_UNKNOWN;
    }
}

/* Sums over the records and over the buckets of the run. */
static void set_times(struct oc_diff *d, unsigned s)
{
    const struct oc_report *r = &d->side[s].report;
    double time_ns = 0, roof_ns = 0;
    for (uint32_t i = 0; i < r->all.n; i++) {
        time_ns += isnan(r->all.row[i].time_s) ? 0 : oc_ns_of(r->all.row[i].time_s / r->runs);
        roof_ns += isnan(r->all.row[i].roofline_s) ? 0 : oc_ns_of(r->all.row[i].roofline_s / r->runs);
    }
    for (uint32_t i = 0; d->in[s].profile && i < d->in[s].profile->n_rec; i++)
        if (oc_diff_in_run(d, s, &d->in[s].profile->rec[i]))
            time_ns += d->in[s].profile->rec[i].self_ns / r->runs;
    double run_ns = d->in[s].profile ? d->in[s].profile->run_ns / r->runs : NAN;
    d->total[OC_DIFF_TIME].is_time = d->total[OC_DIFF_ROOFLINE].is_time = true;
    d->total[OC_DIFF_LATENCY].is_time = true;
    d->total[OC_DIFF_LATENCY].known[s] = !isnan(run_ns);
    d->total[OC_DIFF_LATENCY].v[s] = run_ns;
    d->total[OC_DIFF_TIME].known[s] = r->has_time;
    d->total[OC_DIFF_TIME].v[s] = r->has_time ? time_ns : NAN;
    d->total[OC_DIFF_ROOFLINE].known[s] = r->in->device != NULL;
    d->total[OC_DIFF_ROOFLINE].v[s] = r->in->device ? roof_ns : NAN;
}

static void sum_counts(const struct oc_diff *d, unsigned m, struct oc_diff_total *t, wide all[2])
{
    wide delta = 0;
    for (uint32_t i = 0; i < d->n_row; i++) {
        const struct oc_diff_row *r = &d->row[i];
        bool known = oc_diff_known(r, 0, m) && oc_diff_known(r, 1, m);
        for (unsigned s = 0; s < 2; s++) {
            all[s] += r->side[s].count[m];
            t->unknown_n[s] += known ? 0 : r->side[s].count[m];
        }
        t->unknown_rows += !known;
        if (known)
            delta += (wide)r->side[1].count[m] - (wide)r->side[0].count[m];
    }
    t->rows_negative = delta < 0;
    t->rows_delta = (uint64_t)(delta < 0 ? -delta : delta);
}

static void sum_times(const struct oc_diff *d, unsigned m, struct oc_diff_total *t)
{
    for (uint32_t i = 0; i < d->n_row && t->known[0] && t->known[1]; i++) {
        const struct oc_diff_row *r = &d->row[i];
        double delta = oc_diff_delta(r, m);
        if (!isnan(delta)) {
            t->rows_delta_v += delta;
            continue;
        }
        t->unknown_rows++;
        for (unsigned s = 0; s < 2; s++)
            t->unknown_v[s] += isnan(time_of(&r->side[s], m)) ? 0 : time_of(&r->side[s], m);
    }
}

/* Invariant: rows add up to the totals. */
static int conserve(struct oc_diff *d, struct oc_err *err)
{
    static const char *const name[] = {"MACs", "FLOPs", "OPs", "bytes", "parameters"};
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++) {
        struct oc_diff_total *t = &d->total[m];
        wide all[2] = {0, 0};
        sum_counts(d, m, t, all);
        wide delta = t->rows_negative ? -(wide)t->rows_delta : (wide)t->rows_delta;
        if (all[0] != t->n[0] || all[1] != t->n[1] ||
            delta + t->unknown_n[1] - t->unknown_n[0] != (wide)t->n[1] - t->n[0])
            return oc_fail(err, OC_EFORMAT, "the %s of the rows do not add up to those of the models",
                           name[m]);
    }
    for (unsigned m = OC_DIFF_TIME; m <= OC_DIFF_ROOFLINE; m++) {
        struct oc_diff_total *t = &d->total[m];
        sum_times(d, m, t);
        double sum = t->rows_delta_v + t->unknown_v[1] - t->unknown_v[0], delta = t->v[1] - t->v[0];
        if (t->known[0] && t->known[1] && !t->unknown_rows &&
            !(fabs(sum - delta) <= 1e-9 * (t->v[0] + t->v[1])))
            return oc_fail(err, OC_EFORMAT, "the times of the rows do not add up to those of the profiles");
    }
    return 0;
}

/* ---- public -------------------------------------------------------------------------------------------- */

static void count_rows(struct oc_diff *d)
{
    struct oc_diff_info *i = &d->info;
    size_t *const by_status[] = {&i->same, &i->renamed, &i->changed, &i->added, &i->removed};
    for (uint32_t k = 0; k < d->n_operator; k++) {
        oc_diff_describe(d, &d->row[k]);
        ++*by_status[d->row[k].status];
    }
    i->different = i->changed || i->added || i->removed;
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        if (!d->total[m].is_time &&
            (d->total[m].n[0] != d->total[m].n[1] || d->total[m].known[0] != d->total[m].known[1]))
            i->different = true;
}

static int check_sides(const struct oc_report_in *const in[2], struct oc_err *err)
{
    for (unsigned s = 0; s < 2; s++) {
        if (!in[s]->model || !in[s]->analysis || (in[s]->profile && !in[s]->join))
            return oc_fail(err, OC_EARG, "a diff needs models, and profiles need to be joined to them");
        if (in[s]->analysis->total.bytes_bound)
            return oc_fail(err, OC_EARG, "the bytes of a whole model belong to no operator: no diff of them");
    }
    return 0;
}

int oc_diff_make(const struct oc_report_in *a, const struct oc_report_in *b, const struct oc_diff_opts *opts,
                 struct oc_diff **out, struct oc_err *err)
{
    OC_C_LOCALE;
    const struct oc_report_in *const in[] = {a, b};
    if (check_sides(in, err))
        return -1;
    struct oc_diff *d = oc_xmalloc(sizeof(*d));
    *d = (struct oc_diff){.in = {*a, *b}};
    for (unsigned s = 0; s < 2; s++)
        oc_figures_make(&d->side[s], &d->in[s], NULL, opts && opts->cache);
    oc_align(a->analysis, b->analysis, &d->arena, &d->align);
    oc_diff_rows(d);
    for (unsigned s = 0; s < 2; s++) {
        set_model_totals(d, s);
        set_times(d, s);
    }
    if (conserve(d, err)) {
        oc_diff_free(d);
        return -1;
    }
    count_rows(d);
    oc_diff_types(d);
    *out = d;
    return 0;
}

void oc_diff_free(struct oc_diff *d)
{
    if (!d)
        return;
    for (unsigned s = 0; s < 2; s++)
        oc_figures_free(&d->side[s]);
    oc_arena_free(&d->arena);
    free(d);
}

struct oc_diff_info oc_diff_info(const struct oc_diff *d)
{
    return d->info;
}

void oc_diff_total(const struct oc_diff *d, enum oc_diff_metric m, struct oc_diff_total *out)
{
    *out = d->total[m];
}
