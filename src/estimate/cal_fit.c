#include "estimate/cal_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/conformal.h"
#include "estimate/lm.h"

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
