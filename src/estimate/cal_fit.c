/* The fit of one calibration: rows, curves by key, networks held out. */
#include "estimate/cal_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "estimate/calibrate.h"
#include "estimate/curve.h"
#include "estimate/lm.h"

#define P10_TO_P90_SD 2.5631031310892007 /* of a normal distribution */
#define TOO_FAST      0.5

static const char *known_text(const char *s)
{
    return s ? s : "";
}

static int by_double(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int by_model(const void *a, const void *b)
{
    const struct oc_sample_model *x = ((const struct oc_cal_model *)a)->model,
                                 *y = ((const struct oc_cal_model *)b)->model;
    int c = strcmp(known_text(x->model_id), known_text(y->model_id));
    c = c ? c : strcmp(known_text(x->name), known_text(y->name));
    c = c ? c : strcmp(known_text(x->family_id), known_text(y->family_id));
    c = c ? c : by_double(x->kernels_s, y->kernels_s);
    c = c ? c : by_double(x->run_s, y->run_s);
    return c ? c : by_double(x->plain_s, y->plain_s);
}

/* Compares all properties, so that equal samples are interchangeable. */
static int by_datum(const void *a, const void *b)
{
    const struct oc_cal_datum *x = a, *y = b;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    int c = (x->point.cls > y->point.cls) - (x->point.cls < y->point.cls);
    c = c ? c : (x->point.dtype > y->point.dtype) - (x->point.dtype < y->point.dtype);
    const double p[] = {x->t_s,     x->point.tc_s, x->point.act_s, x->point.wt_s,       x->point.m,
                        x->point.n, x->point.k,    x->point.batch, x->kernel->kernel_h, x->kernel->stride,
                        x->repeats, x->runs,       x->spread,      x->kernel->groups};
    const double q[] = {y->t_s,     y->point.tc_s, y->point.act_s, y->point.wt_s,       y->point.m,
                        y->point.n, y->point.k,    y->point.batch, y->kernel->kernel_h, y->kernel->stride,
                        y->repeats, y->runs,       y->spread,      y->kernel->groups};
    for (size_t i = 0; !c && i < OC_COUNT(p); i++)
        c = by_double(p[i], q[i]);
    return c;
}

/* ---- groups of related networks ------------------------------------------------------------------ */

#define RELATED 0.3 /* part of the time of one of two networks that is spent in shared kernels */

struct relative { /* a name or a kernel of a model; of a pair of models: the time of shared kernels */
    const char *name;
    uint64_t signature;
    uint32_t model, other;
    double t_s;
};

static int by_relation(const void *a, const void *b)
{
    const struct relative *x = a, *y = b;
    int c = x->name && y->name ? strcmp(x->name, y->name) : 0;
    if (c || x->signature != y->signature)
        return c ? c : x->signature < y->signature ? -1 : 1;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    if (x->other != y->other)
        return x->other < y->other ? -1 : 1;
    return (x->t_s > y->t_s) - (x->t_s < y->t_s);
}

static void join_names(const struct oc_cal_model *m, uint32_t n, bool family, struct relative *r,
                       uint32_t *up)
{
    uint32_t n_name = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = family ? m[i].model->family_id : m[i].model->model_id;
        if (name && *name && !(family && oc_sample_is_micro(m[i].model)))
            r[n_name++] = (struct relative){.name = name, .model = i};
    }
    qsort(r, n_name, sizeof(*r), by_relation);
    for (uint32_t i = 1; i < n_name; i++)
        if (!strcmp(r[i - 1].name, r[i].name))
            oc_set_unite(up, r[i - 1].model, r[i].model);
}

/* Pairs of models that are neighbours in the order of those with the same kernel: joining is transitive. */
static size_t pairs_of(const struct relative *use, size_t n, struct relative *pair)
{
    size_t n_pair = 0;
    for (size_t i = 1; i < n; i++)
        if (use[i].signature == use[i - 1].signature && use[i].model != use[i - 1].model)
            pair[n_pair++] = (struct relative){
                .model = use[i - 1].model, .other = use[i].model, .t_s = fmin(use[i - 1].t_s, use[i].t_s)};
    return n_pair;
}

static void join_kernels(const struct oc_sample_set *set, const uint32_t *rank, struct relative *use,
                         uint32_t *up)
{
    double *total = oc_xmalloc((set->n_model + 1) * sizeof(*total));
    struct relative *pair = use + set->n;
    size_t n = 0;
    for (size_t i = 0; i < set->n_model; i++)
        total[i] = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct oc_sample *s = &set->item[i];
        double t = s->t_s * (s->repeats ? s->repeats : 1);
        if (s->model >= set->n_model || !(t > 0) || oc_sample_is_micro(&set->model[s->model]))
            continue;
        total[rank[s->model]] += t;
        if (s->kernel.signature)
            use[n++] = (struct relative){.signature = s->kernel.signature, .model = rank[s->model], .t_s = t};
    }
    qsort(use, n, sizeof(*use), by_relation);
    size_t n_pair = pairs_of(use, n, pair);
    qsort(pair, n_pair, sizeof(*pair), by_relation);
    for (size_t i = 0, end; i < n_pair; i = end) {
        double t = 0;
        for (end = i; end < n_pair && pair[end].model == pair[i].model && pair[end].other == pair[i].other;
             end++)
            t += pair[end].t_s;
        if (t >= RELATED * fmin(total[pair[i].model], total[pair[i].other]))
            oc_set_unite(up, pair[i].model, pair[i].other);
    }
    free(total);
}

static void rank_models(const struct oc_sample_set *set, struct oc_cal_model *m, uint32_t *rank)
{
    for (size_t i = 0; i < set->n_model; i++)
        m[i] = (struct oc_cal_model){.model = &set->model[i], .index = (uint32_t)i};
    qsort(m, set->n_model, sizeof(*m), by_model);
    for (size_t i = 0; i < set->n_model; i++)
        rank[m[i].index] = (uint32_t)i;
}

uint32_t oc_cal_groups(const struct oc_sample_set *set, uint32_t *group)
{
    uint32_t n = (uint32_t)set->n_model, count = 0;
    struct oc_cal_model *m = oc_xmalloc((n + 1) * sizeof(*m));
    uint32_t *rank = oc_xmalloc(3 * ((size_t)n + 1) * sizeof(*rank)), *up = rank + n + 1,
             *number = up + n + 1;
    struct relative *r = oc_xmalloc((2 * set->n + n + 1) * sizeof(*r));
    rank_models(set, m, rank);
    for (uint32_t i = 0; i < n; i++)
        up[i] = i;
    join_names(m, n, true, r, up);
    join_names(m, n, false, r, up);
    join_kernels(set, rank, r, up);
    for (uint32_t i = 0; i < n; i++)
        number[i] = oc_set_root(up, i) == i ? count++ : number[oc_set_root(up, i)];
    for (uint32_t i = 0; i < n; i++)
        group[m[i].index] = number[i];
    free(m);
    free(rank);
    free(r);
    return count;
}

bool oc_sample_is_micro(const struct oc_sample_model *m)
{
    return m->family_id && !strcmp(m->family_id, OC_MICRO_FAMILY);
}

/* Group i is assigned to fold i mod n. */
static void assign_folds(const struct oc_sample_set *set, struct oc_cal_data *d, uint32_t folds)
{
    uint32_t *group = oc_xmalloc((set->n_model + 1) * sizeof(*group)), n = oc_cal_groups(set, group);
    d->n_fold = folds && folds < n ? folds : n;
    for (size_t i = 0; d->n_fold && i < d->n_model; i++)
        d->model[i].fold = group[d->model[i].index] % d->n_fold;
    free(group);
}

static double spread_of(const struct oc_sample *s)
{
    return s->p10_s > 0 && s->p90_s >= s->p10_s ? log(s->p90_s / s->p10_s) / P10_TO_P90_SD : NAN;
}

bool oc_cal_usable(const struct oc_sample *s, const struct oc_sample_set *set)
{
    return s->model < set->n_model && s->t_s > 0 && isfinite(s->t_s) && !s->kernel.work.unknown &&
           s->kernel.cls < OC_KC_COUNT && s->kernel.dtype < OC_CLASS_COUNT;
}

bool oc_cal_too_fast(const struct oc_sample *s, const struct oc_cal_point *p)
{
    return s->t_s < TOO_FAST * p->roof_s;
}

/* Equal signatures of one recording: the median of their times, repeats and runs summed. */
static void merge_rows(struct oc_cal_data *d)
{
    size_t out = 0;
    for (size_t i = 0, end; i < d->n; i = end) {
        struct oc_cal_datum *first = &d->item[i];
        uint32_t repeats = 0, runs = 0;
        for (end = i; end < d->n && (end == i || (first->signature && d->item[end].model == first->model &&
                                                  d->item[end].signature == first->signature));
             end++) {
            repeats += d->item[end].repeats;
            runs += d->item[end].runs;
        }
        struct oc_cal_datum kept = d->item[i + (end - i - 1) / 2]; /* sorted by time */
        double high = d->item[i + (end - i) / 2].t_s;
        kept.t_s += (high - kept.t_s) / 2;
        kept.ln_t = log(kept.t_s);
        kept.repeats = repeats;
        kept.runs = runs;
        d->item[out++] = kept;
    }
    d->n = out;
}

static void set_weights(struct oc_cal_data *d)
{
    for (size_t i = 0, end; i < d->n; i = end) {
        struct oc_cal_model *m = &d->model[d->item[i].model];
        double roots = 0;
        for (end = i; end < d->n && d->item[end].model == d->item[i].model; end++) {
            double t = d->item[end].t_s * d->item[end].repeats;
            m->kernels_s += t;
            m->gap_sum += d->item[end].repeats * oc_cal_gap_part(d->item[end].t_s);
            roots += sqrt(t);
        }
        for (size_t j = i; j < end; j++)
            d->item[j].weight = sqrt(d->item[j].t_s * d->item[j].repeats) / roots;
    }
}

static uint64_t mix_hash(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0xff51afd7ed558ccdu;
    return h ^ (h >> 32);
}

static uint64_t bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof(u));
    return u;
}

static uint64_t checksum(const struct oc_cal_data *d)
{
    uint64_t h = d->n;
    for (size_t i = 0; i < d->n; i++) {
        h = mix_hash(mix_hash(h, d->item[i].signature), bits(d->item[i].t_s));
        h = mix_hash(mix_hash(h, d->item[i].repeats), d->item[i].model);
    }
    return h;
}

static void copy_items(const struct oc_sample_set *set, const struct oc_device *device, const uint32_t *rank,
                       struct oc_cal_data *d)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct oc_sample *s = &set->item[i];
        if (!oc_cal_usable(s, set)) {
            d->n_rejected++;
            continue;
        }
        struct oc_cal_datum *x = &d->item[d->n];
        *x = (struct oc_cal_datum){.kernel = &s->kernel,
                                   .signature = s->kernel.signature,
                                   .model = rank[s->model],
                                   .runs = s->runs,
                                   .repeats = s->repeats ? s->repeats : 1,
                                   .t_s = s->t_s,
                                   .ln_t = log(s->t_s),
                                   .spread = spread_of(s)};
        oc_cal_point_make(device, &s->kernel, set->model[s->model].const_bytes, &x->point);
        if (oc_cal_too_fast(s, &x->point))
            d->n_rejected++;
        else
            d->n++;
    }
}

void oc_cal_data_make(struct oc_arena *a, const struct oc_sample_set *set, const struct oc_device *device,
                      uint32_t folds, struct oc_cal_data *out)
{
    *out = (struct oc_cal_data){.n_model = set->n_model, .kind = oc_cal_device_kind(device)};
    out->model = OC_NEW_ARRAY(a, set->n_model + 1, struct oc_cal_model);
    out->item = OC_NEW_ARRAY(a, set->n + 1, struct oc_cal_datum);
    uint32_t *rank = OC_NEW_ARRAY(a, set->n_model + 1, uint32_t);
    rank_models(set, out->model, rank);
    assign_folds(set, out, folds);
    copy_items(set, device, rank, out);
    qsort(out->item, out->n, sizeof(*out->item), by_datum);
    merge_rows(out);
    set_weights(out);
    for (size_t i = 0; i < out->n; i++)
        out->item[i].fold = out->model[out->item[i].model].fold;
    out->checksum = checksum(out);
}

#define HUBER      0.15
#define COARSE     8 /* iterations per candidate when comparing discrete choices */
#define FINE       40
#define STARTS     4
#define FAR_EC     2.3
#define BETTER     0.98 /* a non-default choice must reduce the loss to this factor */
#define BOUND_BY   2.0  /* Tc / Tm from which a sample constrains Ec */
#define VISIBLE    0.25 /* and its minimum share of the time */
#define KNOWN_FROM 3    /* number of samples */

struct run {
    const struct oc_cfit_set *set;
    const struct oc_cfit_choice *choice;
};

struct oc_cal_curve oc_cfit_curve(const struct oc_cfit_theta *t, const struct oc_cfit_choice *c, double peak,
                                  double dram)
{
    return (struct oc_cal_curve){
        .t0_s = exp(t->x[OC_CFIT_T0]),
        .ec = exp(t->x[OC_CFIT_EC]),
        .w_half_flop = exp(t->x[OC_CFIT_TW]) * peak,
        .em = exp(t->x[OC_CFIT_EM]),
        .b_half_bytes = exp(t->x[OC_CFIT_TB]) * dram,
        .wc = exp(t->x[OC_CFIT_WC]),
        .p = c->p,
        .alpha = c->alpha,
        .align = c->align,
        .tile_m = c->tile_m,
        .tile_n = c->tile_n,
    };
}

/* The row's own curve. base: for peak and DRAM rate of 1. */
static struct oc_cal_curve row_curve(const struct oc_cal_curve *base, const struct oc_cfit_row *r)
{
    struct oc_cal_curve c = *base;
    c.ec *= r->ec_off;
    c.em *= r->em_off;
    c.w_half_flop *= r->peak;
    c.b_half_bytes *= r->datum->point.dram_bytes_per_s;
    return c;
}

double oc_cfit_ln_time(const struct oc_cfit_theta *theta, const struct oc_cfit_choice *choice,
                       const struct oc_cfit_row *row, struct oc_curve_parts *parts)
{
    struct oc_cal_curve base = oc_cfit_curve(theta, choice, 1, 1), c = row_curve(&base, row);
    return log(oc_curve_time_at(&c, &row->datum->point, row->q, parts));
}

void oc_cfit_align_rows(struct oc_cfit_row *row, size_t n, const struct oc_cfit_choice *c)
{
    for (size_t i = 0; i < n; i++) {
        const struct oc_cal_point *p = &row[i].datum->point;
        row[i].q = oc_curve_align(p, c->align) * oc_curve_wave(p, c->tile_m, c->tile_n);
    }
}

static void residuals(void *user, const double *x, double *r, double *jac)
{
    const struct run *run = user;
    struct oc_cfit_theta theta;
    memcpy(theta.x, x, sizeof(theta.x));
    struct oc_cal_curve base = oc_cfit_curve(&theta, run->choice, 1, 1);
    for (size_t i = 0; i < run->set->n; i++) {
        const struct oc_cfit_row *row = &run->set->row[i];
        struct oc_cal_curve c = row_curve(&base, row);
        struct oc_curve_slopes d;
        double t = jac ? oc_curve_slopes(&c, &row->datum->point, row->q, &d)
                       : oc_curve_time_at(&c, &row->datum->point, row->q, NULL);
        r[i] = row->datum->ln_t - log(t);
        if (!jac)
            continue;
        const double slope[OC_CFIT_PARAMS] = {
            [OC_CFIT_T0] = d.t0, [OC_CFIT_EC] = d.ec,     [OC_CFIT_TW] = d.w_half,
            [OC_CFIT_EM] = d.em, [OC_CFIT_TB] = d.b_half, [OC_CFIT_WC] = d.wc};
        for (unsigned j = 0; j < OC_CFIT_PARAMS; j++)
            jac[j * run->set->n + i] = -slope[j] / t;
    }
}

static const double low[OC_CFIT_PARAMS] = {-25, -12, -32, -9, -32, 0};
static const double high[OC_CFIT_PARAMS] = {0, 3.5, 2, 3.5, 2, 2.0794415416798357 /* ln 8 */};

/* Weights of mean 1, so that priors have the same weight for any number of classes. */
static void cal_fit_set_weights(const struct oc_cfit_set *set, double *w)
{
    double sum = 0;
    for (size_t i = 0; i < set->n; i++)
        sum += set->row[i].datum->weight;
    for (size_t i = 0; i < set->n; i++)
        w[i] = sum > 0 ? set->row[i].datum->weight * (double)set->n / sum : 1;
}

static double cal_fit_fit(const struct oc_cfit_set *set, const struct oc_cfit_choice *choice,
                          const struct oc_cfit_prior *prior, unsigned iterations, unsigned starts,
                          struct oc_cfit_theta *theta)
{
    struct run run = {set, choice};
    double *weight = oc_xmalloc((set->n * (OC_CFIT_PARAMS + 2) + 1) * sizeof(*weight)),
           *work = weight + set->n;
    cal_fit_set_weights(set, weight);
    struct oc_lm_problem p = {
        .n = set->n,
        .k = OC_CFIT_PARAMS,
        .residuals = residuals,
        .user = &run,
        .weight = weight,
        .huber = HUBER,
        .prior = prior->mean.x,
        .sd = prior->sd.x,
        .lambda = prior->lambda,
        .lo = low,
        .hi = high,
        .max_iterations = iterations,
    };
    double loss;
    if (starts > 1) {
        struct oc_cfit_theta start = *theta;
        loss = oc_lm_fit_multi(&p, start.x, starts, theta->x, work);
    } else {
        loss = oc_lm_fit(&p, theta->x, work);
    }
    free(weight);
    return loss;
}

double oc_cfit_refine(const struct oc_cfit_set *set, const struct oc_cfit_choice *choice,
                      const struct oc_cfit_prior *prior, unsigned iterations, struct oc_cfit_theta *theta)
{
    return cal_fit_fit(set, choice, prior, iterations, 1, theta);
}

/* ---- discrete choices ------------------------------------------------------------------------------- */

struct best {
    double loss;
    struct oc_cfit_choice choice;
    struct oc_cfit_theta theta;
};

static const double powers[] = {1, 2, 4, INFINITY};

/* Fits from the start and from a point with ten times slower computing: the minimum may be at a low Ec or at
 * a low Em, and local search does not cross between them. */
static void try_choice(struct oc_cfit_row *row, size_t n, const struct oc_cfit_choice *choice,
                       const struct oc_cfit_prior *prior, const struct oc_cfit_theta *start, bool far,
                       double better, struct best *best)
{
    struct oc_cfit_set set = {row, n};
    double limit = better * best->loss;
    oc_cfit_align_rows(row, n, choice);
    for (unsigned s = 0; s < (far ? 2 : 1); s++) {
        struct oc_cfit_theta theta = *start;
        theta.x[OC_CFIT_EC] -= s ? FAR_EC : 0;
        double loss = cal_fit_fit(&set, choice, prior, COARSE, 1, &theta);
        if (loss < limit) {
            *best = (struct best){loss, *choice, theta};
            limit = loss;
        }
    }
}

/* Each p with several starts: the best p differs only in the last per cent of the loss. */
static void choose_power(const struct oc_cfit_row *row, size_t n, const struct oc_cfit_prior *prior,
                         struct best *best)
{
    struct oc_cfit_set set = {row, n};
    struct best from = *best;
    for (size_t i = 0; i < OC_COUNT(powers); i++) {
        struct oc_cfit_choice c = from.choice;
        struct oc_cfit_theta theta = from.theta;
        c.p = powers[i];
        double loss = cal_fit_fit(&set, &c, prior, FINE, 1, &theta);
        if (loss < best->loss)
            *best = (struct best){loss, c, theta};
    }
    struct oc_cfit_theta theta = prior->mean;
    double loss = cal_fit_fit(&set, &best->choice, prior, FINE, STARTS, &theta);
    if (loss < best->loss) {
        best->loss = loss;
        best->theta = theta;
    }
}

static void choose_tiles(struct oc_cfit_row *row, size_t n, const struct oc_cfit_prior *prior,
                         struct best *best)
{
    struct best from = *best;
    for (uint32_t m = 32; m <= 256; m *= 2)
        for (uint32_t k = 32; k <= 256; k *= 2) {
            struct oc_cfit_choice c = from.choice;
            c.tile_m = m;
            c.tile_n = k;
            try_choice(row, n, &c, prior, &from.theta, false, best->choice.tile_m ? 1 : BETTER, best);
        }
}

static void choose_align(struct oc_cfit_row *row, size_t n, const struct oc_cfit_prior *prior,
                         struct best *best)
{
    static const uint32_t align[] = {4, 8, 16, 32, 64};
    struct best from = *best;
    for (size_t i = 0; i < OC_COUNT(align); i++) {
        struct oc_cfit_choice c = from.choice;
        c.align = align[i];
        try_choice(row, n, &c, prior, &from.theta, false, best->choice.align > 1 ? 1 : BETTER, best);
    }
}

double oc_cfit_search(struct oc_cfit_row *row, size_t n, const struct oc_cfit_space *space,
                      const struct oc_cfit_prior *prior, struct oc_cfit_choice *choice,
                      struct oc_cfit_theta *theta)
{
    struct best best = {.loss = INFINITY};
    for (size_t i = 0; i < OC_COUNT(powers); i++) {
        struct oc_cfit_choice c = {.p = powers[i], .alpha = space->alpha[0], .align = 1};
        try_choice(row, n, &c, prior, &prior->mean, true, 1, &best);
    }
    for (unsigned a = 1; a < space->n_alpha; a++) {
        struct oc_cfit_choice c = {.p = best.choice.p, .alpha = space->alpha[a], .align = 1};
        try_choice(row, n, &c, prior, &best.theta, false, a == 1 ? BETTER : 1, &best);
    }
    if (space->align)
        choose_align(row, n, prior, &best);
    if (space->tiles)
        choose_tiles(row, n, prior, &best);
    oc_cfit_align_rows(row, n, &best.choice);
    choose_power(row, n, prior, &best);
    *choice = best.choice;
    *theta = best.theta;
    return best.loss;
}

void oc_cfit_known(const struct oc_cfit_set *set, const struct oc_cfit_choice *choice,
                   const struct oc_cfit_theta *theta, bool *ec_known, bool *em_known)
{
    size_t compute = 0, memory = 0;
    for (size_t i = 0; i < set->n; i++) {
        struct oc_curve_parts part;
        double t = exp(oc_cfit_ln_time(theta, choice, &set->row[i], &part));
        compute += part.tc_s > BOUND_BY * part.tm_s && part.tc_s > VISIBLE * t;
        memory += part.tm_s > BOUND_BY * part.tc_s && part.tm_s > VISIBLE * t;
    }
    *ec_known = compute >= KNOWN_FROM;
    *em_known = memory >= KNOWN_FROM;
}
