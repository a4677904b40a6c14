/* Rows of a diff: groups corresponding nodes, orders the rows, and sums the values of each side. */
#include "gate/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"
#include "join/join.h"

/* ---- times ------------------------------------------------------------------------------------------ */

/* Rows by the name of a bucket, after those of operators. */
struct buckets {
    struct oc_diff *d;
    struct oc_map names;
    struct oc_diff_row *row; /* heap */
    uint32_t n, cap;
};

static void diff_start(struct oc_diff *d, struct oc_diff_row *r)
{
    r->verdict = OC_COMPARED_INCONCLUSIVE;
    r->kind = OC_DIFF_KIND_UNKNOWN;
    for (unsigned s = 0; s < 2; s++) {
        struct oc_diff_cell *c = &r->side[s];
        c->time_ns = d->of[s][0].figures.report.has_time ? 0 : (double)NAN;
        c->roof_ns = d->in[s].device ? 0 : (double)NAN;
        c->each_ns = d->has_verdicts ? OC_NEW_ARRAY(&d->arena, d->n_of[s], double) : NULL;
        c->error_ns = d->has_verdicts ? OC_NEW_ARRAY(&d->arena, d->n_of[s], double) : NULL;
    }
}

static struct oc_diff_row *bucket_row(struct buckets *b, const char *name)
{
    uint32_t at = b->n;
    if (oc_map_add(&b->names, name, strlen(name), &at, NULL)) {
        OC_GROW(b->row, b->n, b->cap);
        b->row[b->n] = (struct oc_diff_row){
            .status = OC_DIFF_BUCKET, .name = name, .name_b = name, .type = "", .type_b = "", .what = ""};
        diff_start(b->d, &b->row[b->n++]);
    }
    return &b->row[at];
}

/* Adds a row of recording k to the means. A record without a time makes that of its row unknown. */
static void diff_add_times(struct oc_diff *d, unsigned s, size_t k, struct oc_diff_cell *c,
                           const struct oc_row *row)
{
    const struct oc_report *r = &d->of[s][k].figures.report;
    c->records += row->record != OC_NONE;
    if (r->has_time)
        c->time_ns += oc_ns_of(row->time_s) / (double)d->n_of[s];
    if (r->in->device)
        c->roof_ns += oc_ns_of(row->roofline_s) / (double)d->n_of[s];
    if (!c->each_ns)
        return;
    c->each_ns[k] += oc_ns_of(row->time_s);
    if (row->record != OC_NONE) /* records of one row vary together at most */
        c->error_ns[k] += r->in->profile->rec[row->record].error_ns;
}

static void diff_fill_times(struct oc_diff_ran *ran, unsigned s, size_t k, struct buckets *b)
{
    struct oc_diff *d = ran->d;
    const struct oc_report *r = &d->of[s][k].figures.report;
    const struct oc_join *j = r->in->join;
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        uint32_t at = d->of[s][k].row_of[i];
        if (at == OC_NONE && !j)
            continue; /* folded, or in a body that does not run */
        const char *name = at == OC_NONE ? j->rec[row->record].bucket : NULL;
        struct oc_diff_row *to = at != OC_NONE ? &d->row[at] : bucket_row(b, name ? name : "unmatched");
        diff_add_times(d, s, k, &to->side[s], row);
        oc_diff_add_ran(ran, s, k, to, at, row);
    }
}

/* The remainder rows of a recording are part of its run; loading and excluded runs are not. */
static void diff_fill_buckets(struct oc_diff_ran *ran, unsigned s, size_t k, struct buckets *in_run,
                              struct buckets *beside)
{
    struct oc_diff *d = ran->d;
    const struct oc_report *r = &d->of[s][k].figures.report;
    const struct oc_profile *p = r->in->profile;
    for (uint32_t i = r->all.n; i < OC_ALL_ROWS(r); i++) {
        struct oc_diff_row *to = bucket_row(in_run, r->all.row[i].name);
        diff_add_times(d, s, k, &to->side[s], &r->all.row[i]);
        oc_diff_add_ran(ran, s, k, to, OC_NONE, &r->all.row[i]);
    }
    for (uint32_t i = 0; p && i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        if (!rec->bucket || isnan(rec->self_ns) || !oc_bucket_is_excluded(rec->bucket))
            continue;
        if (oc_equal(rec->bucket, "framework")) { /* the row of this name */
            if (d->has_verdicts)
                bucket_row(in_run, OC_OUTSIDE_OPERATORS)->side[s].error_ns[k] = rec->error_ns;
            continue;
        }
        struct oc_diff_cell *c = &bucket_row(beside, rec->bucket)->side[s];
        c->time_ns = (isnan(c->time_ns) ? 0 : c->time_ns) + rec->self_ns / (double)d->n_of[s];
        c->records++;
    }
}

static struct oc_diff_row *diff_keep(struct oc_diff *d, struct buckets *b)
{
    struct oc_diff_row *row = OC_NEW_ARRAY(&d->arena, (size_t)b->n + 1, struct oc_diff_row);
    if (b->n)
        memcpy(row, b->row, b->n * sizeof(*row));
    free(b->row);
    oc_map_free(&b->names);
    return row;
}

/* ---- parameters of no node -------------------------------------------------------------------------- */

static void diff_add_rest(struct oc_diff *d, struct buckets *b)
{
    for (unsigned s = 0; s < 2; s++) {
        uint64_t on_nodes = 0, all = d->in[s].analysis->total->params;
        for (uint32_t i = 0; i < d->n_row; i++)
            on_nodes += d->row[i].side[s].count[OC_DIFF_PARAMS];
        if (on_nodes < all)
            bucket_row(b, "constants of no operator")->side[s].count[OC_DIFF_PARAMS] = all - on_nodes;
    }
}

static void diff_rows(struct oc_diff *d)
{
    struct oc_diff_ran ran = {.d = d, .seen = {.arena = &d->arena}, .names = {.arena = &d->arena}};
    struct buckets in_run = {.d = d, .names = {.arena = &d->arena}}, beside = in_run;
    if (d->by_name)
        oc_diff_rows_by_name(d);
    else
        oc_diff_rows_of_nodes(d);
    for (uint32_t i = 0; i < d->n_row; i++)
        diff_start(d, &d->row[i]);
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < d->n_of[s]; k++) {
            diff_fill_times(&ran, s, k, &in_run);
            diff_fill_buckets(&ran, s, k, &in_run, &beside);
        }
    oc_diff_add_kernels(&ran);
    if (!d->by_name)
        diff_add_rest(d, &in_run);
    d->n_operator = d->n_row;
    struct oc_diff_row *all = OC_NEW_ARRAY(&d->arena, (size_t)d->n_row + in_run.n + 1, struct oc_diff_row);
    memcpy(all, d->row, d->n_row * sizeof(*all));
    uint32_t n = in_run.n;
    memcpy(all + d->n_row, diff_keep(d, &in_run), n * sizeof(*all));
    d->row = all;
    d->n_row += n;
    d->n_beside = beside.n;
    d->beside = diff_keep(d, &beside);
}

/* ---- diff ------------------------------------------------------------------------------------------- */

typedef __int128 wide;

const char *oc_diff_status_name(unsigned status)
{
    static const char *const name[] = {"same", "renamed", "changed", "added", "removed", "bucket"};
    return status < OC_DIFF_STATUSES ? name[status] : "?";
}

static double diff_time_of(const struct oc_diff_cell *c, unsigned metric)
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
        return !c->unknown[metric];
    return !isnan(diff_time_of(c, metric));
}

double oc_diff_delta(const struct oc_diff_row *r, unsigned metric)
{
    if (!oc_diff_known(r, 0, metric) || !oc_diff_known(r, 1, metric))
        return NAN;
    if (!is_count(metric))
        return diff_time_of(&r->side[1], metric) - diff_time_of(&r->side[0], metric);
    uint64_t a = r->side[0].count[metric], b = r->side[1].count[metric];
    return a > b ? -(double)(a - b) : (double)(b - a);
}

/* ---- totals ----------------------------------------------------------------------------------------- */

static void set_model_totals(struct oc_diff *d, unsigned s)
{
    const struct oc_analysis *a = d->in[s].analysis;
    const struct oc_totals *t = a->total;
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

/* Without a model: what the rows of the reports have, a mean over the recordings, as they have it. */
static void set_recorded_totals(struct oc_diff *d, unsigned s)
{
    double sum[OC_DIFF_COUNTS] = {0};
    bool known[OC_DIFF_COUNTS] = {false};
    for (size_t k = 0; k < d->n_of[s]; k++) {
        const struct oc_rows *all = &d->of[s][k].figures.report.all;
        for (uint32_t i = 0; i < all->n; i++)
            for (unsigned m = 0; m < OC_DIFF_COUNTS; m++) {
                double n = oc_diff_recorded_count(&all->row[i], m);
                known[m] |= !isnan(n);
                sum[m] += isnan(n) ? 0 : n / (double)d->n_of[s];
            }
    }
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++) {
        d->total[m].known[s] = known[m];
        d->total[m].n[s] = (uint64_t)llround(sum[m]);
    }
}

static double roofline_ns(const struct oc_report *r)
{
    double sum_ns = 0;
    for (uint32_t i = 0; i < r->all.n; i++)
        sum_ns += isnan(r->all.row[i].roofline_s) ? 0 : oc_ns_of(r->all.row[i].roofline_s);
    return r->in->device ? sum_ns : (double)NAN;
}

/* Means over the recordings, so that the rows add up to them. */
static void diff_set_times(struct oc_diff *d, unsigned s)
{
    static const unsigned metric[] = {OC_DIFF_TIME, OC_DIFF_ROOFLINE, OC_DIFF_LATENCY};
    double sum[OC_COUNT(metric)] = {0};
    for (size_t k = 0; k < d->n_of[s]; k++) {
        const struct oc_report *r = &d->of[s][k].figures.report;
        sum[0] += r->has_time ? r->m.total_ns : (double)NAN;
        sum[1] += roofline_ns(r);
        sum[2] += r->m.latency_ns;
    }
    for (size_t i = 0; i < OC_COUNT(metric); i++) {
        struct oc_diff_total *t = &d->total[metric[i]];
        t->is_time = true;
        t->v[s] = sum[i] / (double)d->n_of[s];
        t->known[s] = !isnan(t->v[s]);
    }
}

/* ---- the recordings --------------------------------------------------------------------------------- */

static size_t recordings_of(const struct oc_diff *d, unsigned s, struct oc_recorded *out)
{
    size_t n = 0;
    for (size_t k = 0; k < d->n_of[s]; k++) {
        const struct oc_report *r = &d->of[s][k].figures.report;
        n += r->in->profile && oc_recorded_of(r->in->profile, r->m.latency_ns, &out[n]);
    }
    return n == d->n_of[s] ? n : 0;
}

static void compare_latencies(struct oc_diff *d)
{
    struct oc_recorded *a = OC_NEW_ARRAY(&d->arena, d->n_of[0], struct oc_recorded);
    struct oc_recorded *b = OC_NEW_ARRAY(&d->arena, d->n_of[1], struct oc_recorded);
    size_t n_a = recordings_of(d, 0, a), n_b = recordings_of(d, 1, b);
    oc_compare_recorded(a, n_a, b, n_b, oc_recorded_order(a, n_a, b, n_b), &d->latency);
    if (isnan(d->latency.ratio))
        return;
    d->verdict = oc_compared_text(&d->latency, &d->arena);
    d->note = oc_compared_note(&d->latency, &d->arena);
}

static double start_of(const struct oc_profile *p, unsigned which)
{
    return which == OC_DIFF_SESSION ? p->machine.session_ns : p->machine.first_run_ns;
}

/* The recordings of a side with their creation of the session or their first run. Returns how many; 0: one has none. */
static size_t starts_of(const struct oc_diff *d, unsigned s, unsigned which, struct oc_recorded *out,
                        double *mean_ns)
{
    double sum = 0;
    for (size_t k = 0; k < d->n_of[s]; k++) {
        const struct oc_profile *p = d->of[s][k].in.profile;
        if (!p || !(start_of(p, which) > 0))
            return 0;
        out[k] = oc_recorded_once(start_of(p, which), p->machine.started_s, p->machine.turns_id,
                                  oc_machine_is_loaded(&p->machine));
        sum += log(out[k].latency_ns);
    }
    *mean_ns = exp(sum / (double)d->n_of[s]);
    return d->n_of[s];
}

static void compare_starts(struct oc_diff *d)
{
    struct oc_recorded *a = OC_NEW_ARRAY(&d->arena, d->n_of[0], struct oc_recorded);
    struct oc_recorded *b = OC_NEW_ARRAY(&d->arena, d->n_of[1], struct oc_recorded);
    for (unsigned i = 0; i < OC_DIFF_STARTS; i++) {
        struct oc_diff_start *x = &d->start[i];
        size_t n_a = starts_of(d, 0, i, a, &x->ns[0]), n_b = starts_of(d, 1, i, b, &x->ns[1]);
        oc_compare_recorded(a, n_a, b, n_b, oc_recorded_order(a, n_a, b, n_b), &x->c);
        char before[32], after[32];
        if (!isnan(x->c.ratio))
            x->text = oc_printf(
                &d->arena, "%s to %s: %s", oc_format_time_ns(x->ns[0], before, sizeof(before)),
                oc_format_time_ns(x->ns[1], after, sizeof(after)), oc_compared_text(&x->c, &d->arena));
    }
}

static void compare_rows(struct oc_diff *d)
{
    struct oc_compared_row *row = OC_NEW_ARRAY(&d->arena, (size_t)d->n_row + 1, struct oc_compared_row);
    double all = (double)(d->n_of[0] + d->n_of[1]);
    for (uint32_t i = 0; i < d->n_row; i++)
        for (unsigned s = 0; s < 2; s++) {
            const struct oc_diff_cell *c = &d->row[i].side[s];
            row[i].ns[s] = c->each_ns;
            for (size_t k = 0; k < d->n_of[s]; k++)
                row[i].variance += pow(oc_row_error_share(c->error_ns[k], c->each_ns[k]), 2) / all;
        }
    oc_compare_rows(&d->latency, row, d->n_row);
    for (uint32_t i = 0; i < d->n_row; i++) {
        d->row[i].ratio = row[i].ratio;
        d->row[i].verdict = row[i].verdict;
    }
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

static void diff_sum_times(const struct oc_diff *d, unsigned m, struct oc_diff_total *t)
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
            t->unknown_v[s] += isnan(diff_time_of(&r->side[s], m)) ? 0 : diff_time_of(&r->side[s], m);
    }
}

/* Whether a total leaves out upper bounds and estimates (analyze/totals.c), so that rows add up to more. */
static bool is_partial(const struct oc_diff *d, unsigned s, wide rows, uint64_t total)
{
    enum oc_quality quality = d->by_name ? OC_EXACT : d->in[s].analysis->total->quality;
    return rows > (wide)total && (quality == OC_LOWER || quality == OC_UNKNOWN);
}

static bool is_near(wide a, wide b, wide most)
{
    return a - b <= most && b - a <= most;
}

/* Invariant: rows add up to the totals. */
static int conserve(struct oc_diff *d, struct oc_err *err)
{
    static const char *const name[] = {"MACs", "FLOPs", "OPs", "bytes", "parameters"};
    wide rounding = d->by_name ? d->n_row + 1 : 0; /* means over recordings are not integers */
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++) {
        struct oc_diff_total *t = &d->total[m];
        wide all[2] = {0, 0};
        sum_counts(d, m, t, all);
        wide delta = t->rows_negative ? -(wide)t->rows_delta : (wide)t->rows_delta;
        bool partial = is_partial(d, 0, all[0], t->n[0]) || is_partial(d, 1, all[1], t->n[1]);
        if (!partial && !(is_near(all[0], t->n[0], rounding) && is_near(all[1], t->n[1], rounding) &&
                          delta + t->unknown_n[1] - t->unknown_n[0] == all[1] - all[0]))
            return oc_fail(err, OC_EFORMAT, "the %s of the rows do not add up to those of the %s", name[m],
                           d->by_name ? "profiles" : "models");
        for (unsigned s = 0; s < 2 && d->by_name; s++)
            t->n[s] = (uint64_t)all[s]; /* so that the rows add up to it */
    }
    for (unsigned m = OC_DIFF_TIME; m <= OC_DIFF_ROOFLINE; m++) {
        struct oc_diff_total *t = &d->total[m];
        diff_sum_times(d, m, t);
        double sum = t->rows_delta_v + t->unknown_v[1] - t->unknown_v[0], delta = t->v[1] - t->v[0];
        if (t->known[0] && t->known[1] && !t->unknown_rows &&
            !(fabs(sum - delta) <= 1e-9 * (t->v[0] + t->v[1]) + 2 * OC_ROUNDING_NS * (d->n_row + 1)))
            return oc_fail(err, OC_EFORMAT, "the times of the rows do not add up to those of the profiles");
    }
    return 0;
}

/* ---- public ----------------------------------------------------------------------------------------- */

static void count_rows(struct oc_diff *d)
{
    struct oc_diff_info *i = &d->info;
    size_t *const by_status[] = {&i->same, &i->renamed, &i->changed, &i->added, &i->removed};
    for (uint32_t k = 0; k < d->n_operator; k++)
        ++*by_status[d->row[k].status];
    i->different = i->changed || i->added || i->removed;
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        if (!d->total[m].is_time &&
            (d->total[m].n[0] != d->total[m].n[1] || d->total[m].known[0] != d->total[m].known[1]))
            i->different = true;
}

static int check_recording(const struct oc_report_in *first, const struct oc_report_in *in, bool more,
                           struct oc_err *err)
{
    if (!in->model && !in->profile)
        return oc_fail(err, OC_EARG, "a diff needs a model or a profile on each side");
    if (!in->model != !first->model)
        return oc_fail(err, OC_EARG, "a diff needs models on both sides, or on none");
    if (in->model && (!in->analysis || (in->profile && !in->join)))
        return oc_fail(err, OC_EARG, "a diff needs an analysis of a model, and its profiles joined to it");
    if (!in->model && in->profile->event)
        return oc_fail(err, OC_EARG, "'%s' has no times, it counts %s: a diff of profiles compares times",
                       in->profile->path, in->profile->event);
    if (more && (in->model != first->model || !in->profile || !first->profile))
        return oc_fail(err, OC_EARG, "the recordings of one side need profiles of one model");
    if (in->model && in->analysis->total->bytes_bound)
        return oc_fail(err, OC_EARG, "the bytes of a whole model belong to no operator: no diff of them");
    return 0;
}

/* The first recording of a side, and more[0] ... more[n - 1]. */
static int take_recordings(struct oc_diff *d, unsigned s, const struct oc_report_in *first,
                           const struct oc_report_in *more, size_t n, bool cache, struct oc_err *err)
{
    d->in[s] = *first;
    d->of[s] = OC_NEW_ARRAY(&d->arena, n + 1, struct oc_diff_recording);
    for (size_t k = 0; k <= n; k++) {
        if (check_recording(first, k ? &more[k - 1] : first, k > 0, err))
            return -1;
        d->of[s][k].in = k ? more[k - 1] : *first;
        oc_figures_make(&d->of[s][k].figures, &d->of[s][k].in, NULL, cache);
        d->has_places |= d->of[s][k].figures.report.has_places;
        d->n_of[s]++;
    }
    return 0;
}

/* Without a model there is nothing but the times, so that they must have one unit. */
static int check_units(const struct oc_diff *d, struct oc_err *err)
{
    const struct oc_profile *first = d->in[0].profile;
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < d->n_of[s]; k++) {
            const struct oc_profile *p = d->of[s][k].in.profile, *runs = p, *whole = first;
            if (oc_profile_runs_known(p) == oc_profile_runs_known(first))
                continue;
            if (oc_profile_runs_known(first)) {
                runs = first;
                whole = p;
            }
            return oc_fail(
                err, OC_EARG,
                "the times of '%s' are of one run, those of '%s' of an unknown number of runs: give "
                "--iterations N",
                runs->path, whole->path);
        }
    return 0;
}

static int make_rows(struct oc_diff *d, struct oc_err *err)
{
    d->by_name = !d->in[0].model;
    if (d->by_name && check_units(d, err))
        return -1;
    compare_latencies(d);
    compare_starts(d);
    d->has_verdicts = d->latency.n[0] >= OC_RECORDINGS_FOR_ROWS && d->latency.n[1] >= OC_RECORDINGS_FOR_ROWS;
    diff_rows(d);
    for (unsigned s = 0; s < 2; s++) {
        if (d->by_name)
            set_recorded_totals(d, s);
        else
            set_model_totals(d, s);
        diff_set_times(d, s);
    }
    if (conserve(d, err))
        return -1;
    if (d->has_verdicts)
        compare_rows(d);
    count_rows(d);
    if (oc_diff_decompose(d, err))
        return -1;
    oc_diff_types(d);
    return 0;
}

int oc_diff_make(const struct oc_report_in *a, const struct oc_report_in *b, const struct oc_diff_opts *given,
                 struct oc_diff **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_diff_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_diff *d = oc_xcalloc(1, sizeof(*d));
    if (take_recordings(d, 0, a, opts->more_a, opts->n_more_a, opts->cache, err) ||
        take_recordings(d, 1, b, opts->more_b, opts->n_more_b, opts->cache, err) || make_rows(d, err)) {
        oc_diff_free(d);
        return -1;
    }
    *out = d;
    return 0;
}

void oc_diff_free(struct oc_diff *d)
{
    if (!d)
        return;
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < d->n_of[s]; k++)
            oc_figures_free(&d->of[s][k].figures);
    oc_arena_free(&d->arena);
    free(d);
}

const char *oc_diff_verdict(const struct oc_diff *d, const char **note)
{
    *note = d->note;
    return d->verdict;
}

const char *oc_diff_start(const struct oc_diff *d, bool first_run)
{
    return d->start[first_run ? OC_DIFF_FIRST_RUN : OC_DIFF_SESSION].text;
}

const struct oc_diff_info *oc_diff_info(const struct oc_diff *d)
{
    return &d->info;
}

void oc_diff_total(const struct oc_diff *d, enum oc_diff_metric m, struct oc_diff_total *out)
{
    *out = d->total[m];
}
