#include "estimate/cal_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static void set_weights(const struct oc_cfit_set *set, double *w)
{
    double sum = 0;
    for (size_t i = 0; i < set->n; i++)
        sum += set->row[i].datum->weight;
    for (size_t i = 0; i < set->n; i++)
        w[i] = sum > 0 ? set->row[i].datum->weight * (double)set->n / sum : 1;
}

static double fit(const struct oc_cfit_set *set, const struct oc_cfit_choice *choice,
                  const struct oc_cfit_prior *prior, unsigned iterations, unsigned starts,
                  struct oc_cfit_theta *theta)
{
    struct run run = {set, choice};
    double *weight = oc_xmalloc((set->n * (OC_CFIT_PARAMS + 2) + 1) * sizeof(*weight)),
           *work = weight + set->n;
    set_weights(set, weight);
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
    return fit(set, choice, prior, iterations, 1, theta);
}

/* ---- discrete choices -----------------------------------------------------------------------------------
 */

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
        double loss = fit(&set, choice, prior, COARSE, 1, &theta);
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
        double loss = fit(&set, &c, prior, FINE, 1, &theta);
        if (loss < best->loss)
            *best = (struct best){loss, c, theta};
    }
    struct oc_cfit_theta theta = prior->mean;
    double loss = fit(&set, &best->choice, prior, FINE, STARTS, &theta);
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
