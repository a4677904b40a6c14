#include "estimate/cal_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/cal_data.h"
#include "estimate/conformal.h"
#include "estimate/lm.h"

#define P10_TO_P90_SD 2.5631031310892007 /* of a normal distribution */
#define TOO_FAST      0.5

static const char *cal_data_text(const char *s)
{
    return s ? s : "";
}

const char *oc_cal_fold_name(const struct oc_sample_model *m, bool by_family)
{
    const char *s = by_family ? m->family_id : m->model_id;
    if (s && *s)
        return s;
    return m->model_id && *m->model_id ? m->model_id : cal_data_text(m->name);
}

static int cal_data_by_double(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int by_model(const void *a, const void *b)
{
    const struct oc_sample_model *x = ((const struct oc_cal_model *)a)->model,
                                 *y = ((const struct oc_cal_model *)b)->model;
    int c = strcmp(cal_data_text(x->model_id), cal_data_text(y->model_id));
    c = c ? c : strcmp(cal_data_text(x->name), cal_data_text(y->name));
    c = c ? c : strcmp(cal_data_text(x->family_id), cal_data_text(y->family_id));
    c = c ? c : cal_data_by_double(x->kernels_s, y->kernels_s);
    c = c ? c : cal_data_by_double(x->run_s, y->run_s);
    return c ? c : cal_data_by_double(x->plain_s, y->plain_s);
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
        c = cal_data_by_double(p[i], q[i]);
    return c;
}

static int cal_data_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The i-th name in order is assigned to fold i mod n: recordings of one name stay together. */
static void assign_folds(struct oc_arena *a, struct oc_cal_data *d, uint32_t folds, bool by_family)
{
    const char **name = OC_NEW_ARRAY(a, d->n_model + 1, const char *);
    for (size_t i = 0; i < d->n_model; i++)
        name[i] = oc_cal_fold_name(d->model[i].model, by_family);
    qsort(name, d->n_model, sizeof(*name), cal_data_by_name);
    size_t n = 0;
    for (size_t i = 0; i < d->n_model; i++)
        if (n == 0 || strcmp(name[n - 1], name[i]))
            name[n++] = name[i];
    d->n_fold = (uint32_t)(folds && folds < n ? folds : n);
    for (size_t i = 0; i < d->n_model; i++) {
        const char *key = oc_cal_fold_name(d->model[i].model, by_family);
        const char **at = bsearch(&key, name, n, sizeof(*name), cal_data_by_name);
        d->model[i].fold = (uint32_t)((size_t)(at - name) % d->n_fold);
    }
}

static double cal_data_spread_of(const struct oc_sample *s)
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
static void cal_data_merge(struct oc_cal_data *d)
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

static void cal_data_set_weights(struct oc_cal_data *d)
{
    for (size_t i = 0, end; i < d->n; i = end) {
        struct oc_cal_model *m = &d->model[d->item[i].model];
        double roots = 0;
        for (end = i; end < d->n && d->item[end].model == d->item[i].model; end++) {
            double t = d->item[end].t_s * d->item[end].repeats;
            m->kernels_s += t;
            m->kernels += d->item[end].repeats;
            roots += sqrt(t);
        }
        for (size_t j = i; j < end; j++)
            d->item[j].weight = sqrt(d->item[j].t_s * d->item[j].repeats) / roots;
    }
}

static uint64_t cal_data_mix(uint64_t h, uint64_t v)
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
        h = cal_data_mix(cal_data_mix(h, d->item[i].signature), bits(d->item[i].t_s));
        h = cal_data_mix(cal_data_mix(h, d->item[i].repeats), d->item[i].model);
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
                                   .spread = cal_data_spread_of(s)};
        oc_cal_point_make(device, &s->kernel, set->model[s->model].const_bytes, &x->point);
        if (oc_cal_too_fast(s, &x->point))
            d->n_rejected++;
        else
            d->n++;
    }
}

void oc_cal_data_make(struct oc_arena *a, const struct oc_sample_set *set, const struct oc_device *device,
                      uint32_t folds, bool by_family, struct oc_cal_data *out)
{
    *out = (struct oc_cal_data){.n_model = set->n_model, .kind = oc_cal_device_kind(device)};
    out->model = OC_NEW_ARRAY(a, set->n_model + 1, struct oc_cal_model);
    out->item = OC_NEW_ARRAY(a, set->n + 1, struct oc_cal_datum);
    uint32_t *rank = OC_NEW_ARRAY(a, set->n_model + 1, uint32_t);
    for (size_t i = 0; i < set->n_model; i++)
        out->model[i] = (struct oc_cal_model){.model = &set->model[i], .index = (uint32_t)i};
    qsort(out->model, out->n_model, sizeof(*out->model), by_model);
    for (size_t i = 0; i < set->n_model; i++)
        rank[out->model[i].index] = (uint32_t)i;
    assign_folds(a, out, folds, by_family);
    copy_items(set, device, rank, out);
    qsort(out->item, out->n, sizeof(*out->item), by_datum);
    cal_data_merge(out);
    cal_data_set_weights(out);
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

/* base: a curve for peak and DRAM rate of 1 */
static double row_time(const struct oc_cal_curve *base, const struct oc_cfit_row *r,
                       struct oc_curve_parts *parts)
{
    struct oc_cal_curve c = *base;
    c.ec *= r->ec_off;
    c.em *= r->em_off;
    c.w_half_flop *= r->peak;
    c.b_half_bytes *= r->datum->point.dram_bytes_per_s;
    return oc_curve_time_at(&c, &r->datum->point, r->q, parts);
}

double oc_cfit_ln_time(const struct oc_cfit_theta *theta, const struct oc_cfit_choice *choice,
                       const struct oc_cfit_row *row, struct oc_curve_parts *parts)
{
    struct oc_cal_curve base = oc_cfit_curve(theta, choice, 1, 1);
    return log(row_time(&base, row, parts));
}

void oc_cfit_align_rows(struct oc_cfit_row *row, size_t n, const struct oc_cfit_choice *c)
{
    for (size_t i = 0; i < n; i++) {
        const struct oc_cal_point *p = &row[i].datum->point;
        row[i].q = oc_curve_align(p, c->align) * oc_curve_wave(p, c->tile_m, c->tile_n);
    }
}

static void residuals(void *user, const double *x, double *r)
{
    const struct run *run = user;
    struct oc_cfit_theta theta;
    memcpy(theta.x, x, sizeof(theta.x));
    struct oc_cal_curve base = oc_cfit_curve(&theta, run->choice, 1, 1);
    for (size_t i = 0; i < run->set->n; i++) {
        const struct oc_cfit_row *row = &run->set->row[i];
        r[i] = row->datum->ln_t - log(row_time(&base, row, NULL));
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

/* ---- cal wall --------------------------------------------------------------------------------------- */

#define ROUNDS       10
#define HUBER_WALL   0.05   /* share of the wall time */
#define GAP_LOWEST   (-0.9) /* of a short kernel: maximum profiling overhead per kernel */
#define SPREAD_LEAST 0.01
#define SPREAD_USUAL 0.05

static int cal_fit_by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- wall = kernels + t_fix + gap * n --------------------------------------------------------------- */

struct wall {
    double n, rest, scale, weight; /* kernel time, wall time minus kernel time, wall time */
};

static size_t collect_walls(const struct oc_cal_data *d, struct wall *out)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_model; i++) {
        const struct oc_cal_model *m = &d->model[i];
        double wall = m->model->plain_s > 0 ? m->model->plain_s : m->model->run_s;
        double sum = m->model->kernels_s > 0 ? m->model->kernels_s : m->kernels_s;
        double count = m->model->kernels ? m->model->kernels : m->kernels;
        if (wall > 0 && isfinite(wall) && sum > 0 && count > 0)
            out[n++] = (struct wall){count, wall - sum, wall, 1};
    }
    return n;
}

/* Weighted least squares of rest / scale; t_fix >= 0. A small ridge regularises the gap when all models have
 * one size. */
static void cal_fit_solve(const struct wall *w, size_t n, double lowest_gap, double *fix, double *gap)
{
    double s11 = 0, s12 = 0, s22 = 0, b1 = 0, b2 = 0;
    for (size_t i = 0; i < n; i++) {
        double q = w[i].weight / (w[i].scale * w[i].scale);
        s11 += q;
        s12 += q * w[i].n;
        s22 += q * w[i].n * w[i].n;
        b1 += q * w[i].rest;
        b2 += q * w[i].rest * w[i].n;
    }
    double det = s11 * s22 - s12 * s12;
    *fix = det > 1e-9 * s11 * s22 ? (b1 * s22 - b2 * s12) / det : 0;
    *fix = fmax(*fix, 0);
    *gap = (b2 - *fix * s12) / s22;
    if (*gap < lowest_gap) {
        *gap = lowest_gap;
        *fix = fmax(0, (b1 - *gap * s12) / s11);
    }
}

static double short_kernel(const struct oc_cal_data *d)
{
    double *t = oc_xmalloc((d->n + 1) * sizeof(*t));
    for (size_t i = 0; i < d->n; i++)
        t[i] = d->item[i].t_s;
    qsort(t, d->n, sizeof(*t), cal_fit_by_double);
    double v = d->n ? t[d->n / 20] : 0;
    free(t);
    return v;
}

void oc_cal_fit_wall(const struct oc_cal_data *d, struct oc_calibration *out)
{
    struct wall *w = oc_xmalloc((d->n_model + 1) * sizeof(*w));
    size_t n = collect_walls(d, w);
    out->t_fix_s = out->gap_s = 0;
    for (int round = 0; n && round < ROUNDS; round++) {
        cal_fit_solve(w, n, GAP_LOWEST * short_kernel(d), &out->t_fix_s, &out->gap_s);
        for (size_t i = 0; i < n; i++) {
            double r = fabs(w[i].rest - out->t_fix_s - out->gap_s * w[i].n) / w[i].scale;
            w[i].weight = r > HUBER_WALL ? HUBER_WALL / r : 1;
        }
    }
    free(w);
}

/* ---- signatures ------------------------------------------------------------------------------------- */

struct seen {
    uint64_t signature;
    double ln_t, spread;
    uint32_t fold, runs;
};

static int cal_fit_by_signature(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    if (x->ln_t != y->ln_t)
        return x->ln_t < y->ln_t ? -1 : 1;
    if (x->fold != y->fold)
        return x->fold < y->fold ? -1 : 1;
    return cal_fit_by_double(&x->spread, &y->spread);
}

static double median_ln(const struct seen *s, size_t n)
{
    return (s[(n - 1) / 2].ln_t + s[n / 2].ln_t) / 2;
}

/* Compares each recording of the signature with the median of those of other networks. */
static size_t held_against(const struct seen *s, size_t n, struct seen *others, double *r, double *t)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;
        for (size_t j = 0; j < n; j++)
            if (s[j].fold != s[i].fold)
                others[m++] = s[j];
        if (!m)
            continue;
        double known = median_ln(others, m);
        r[out] = s[i].ln_t - known;
        t[out++] = exp(known);
    }
    return out;
}

static double cal_fit_spread_of(const struct seen *s, size_t n, double between)
{
    double sum = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(s[i].spread)) {
            sum += s[i].spread * s[i].spread;
            k++;
        }
    double within = k ? sqrt(sum / (double)k) : SPREAD_USUAL;
    return fmax(SPREAD_LEAST, between > 0 ? between : within);
}

static size_t next_signature(const struct seen *s, size_t i, size_t n)
{
    size_t end = i;
    while (end < n && s[end].signature == s[i].signature)
        end++;
    return end;
}

static void cal_fit_fill(const struct seen *s, size_t n, struct oc_calibration *out)
{
    double between = out->again.n >= OC_CONFORMAL_MIN ? out->again.sd : 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = next_signature(s, i, n);
        uint32_t runs = 0;
        for (size_t j = i; j < end; j++)
            runs += s[j].runs;
        out->signature[out->n_signature++] = (struct oc_cal_signature){
            s[i].signature, exp(median_ln(s + i, end - i)), cal_fit_spread_of(s + i, end - i, between), runs};
    }
}

void oc_cal_fit_signatures(const struct oc_cal_data *d, struct oc_calibration *out)
{
    struct seen *s = oc_xmalloc((d->n + 1) * sizeof(*s)), *others = oc_xmalloc((d->n + 1) * sizeof(*s));
    double *r = oc_xmalloc((d->n + 1) * sizeof(*r)), *t = oc_xmalloc((d->n + 1) * sizeof(*t));
    size_t n = 0, k = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->item[i].signature)
            s[n++] = (struct seen){d->item[i].signature, d->item[i].ln_t, d->item[i].spread, d->item[i].fold,
                                   d->item[i].runs};
    qsort(s, n, sizeof(*s), cal_fit_by_signature);
    for (size_t i = 0, end; i < n; i = end) {
        end = next_signature(s, i, n);
        k += held_against(s + i, end - i, others, r + k, t + k);
    }
    oc_conformal_make(r, t, k, NULL, &out->again);
    out->signature = OC_NEW_ARRAY(&out->arena, n + 1, struct oc_cal_signature);
    cal_fit_fill(s, n, out);
    free(s);
    free(others);
    free(r);
    free(t);
}
