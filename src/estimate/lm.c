/* Least squares for a few parameters by Levenberg-Marquardt. */
#include "estimate/lm.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define ITERATIONS 50
#define ENOUGH     1e-6 /* relative gain at which a fit ends */
#define DAMP_START 1e-2
#define DAMP_MAX   1e8
#define BAD        1e3 /* replaces a residual that is not finite */

static double lm_residual(double r)
{
    return isfinite(r) ? r : BAD;
}

static double huber_loss(double r, double limit)
{
    double a = fabs(r);
    return limit <= 0 || a <= limit ? r * r : 2 * limit * a - limit * limit;
}

static double huber_weight(double r, double limit)
{
    double a = fabs(r);
    return limit <= 0 || a <= limit ? 1 : limit / a;
}

static double weight_of(const struct oc_lm_problem *p, size_t i)
{
    return p->weight ? p->weight[i] : 1;
}

static bool lm_is_free(const struct oc_lm_problem *p, unsigned j)
{
    return !p->sd || p->sd[j] > 0;
}

static bool has_prior(const struct oc_lm_problem *p, unsigned j)
{
    return p->prior && p->sd && p->sd[j] > 0;
}

static double prior_loss(const struct oc_lm_problem *p, const double *x)
{
    double sum = 0;
    for (unsigned j = 0; j < p->k; j++)
        if (has_prior(p, j)) {
            double z = (x[j] - p->prior[j]) / p->sd[j];
            sum += z * z;
        }
    return p->lambda * sum;
}

static double data_loss(const struct oc_lm_problem *p, const double *r)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += weight_of(p, i) * huber_loss(lm_residual(r[i]), p->huber);
    return sum;
}

/* loss = sum weight * huber(r) + lambda * sum ((x - prior) / sd)^2; huber(r) = r^2 up to the limit. */
/* work[n] */
static double lm_loss(const struct oc_lm_problem *p, const double *x, double *work)
{
    p->residuals(p->user, x, work, NULL);
    return data_loss(p, work) + prior_loss(p, x);
}

static double bounded(const struct oc_lm_problem *p, unsigned j, double x)
{
    if (p->lo && x < p->lo[j])
        return p->lo[j];
    return p->hi && x > p->hi[j] ? p->hi[j] : x;
}

struct normal { /* J'WJ and J'Wr of half the loss */
    double a[OC_LM_MAX][OC_LM_MAX], g[OC_LM_MAX];
};

/* Columns of fixed parameters, and rows whose residual is not finite, become 0. */
static void jacobian(const struct oc_lm_problem *p, const double *x, double *r, double *jac)
{
    p->residuals(p->user, x, r, jac);
    for (unsigned j = 0; j < p->k; j++)
        for (size_t i = 0; i < p->n; i++) {
            double *d = &jac[j * p->n + i];
            *d = lm_is_free(p, j) && isfinite(r[i]) && isfinite(*d) ? *d : 0;
        }
}

static void normal_equations(const struct oc_lm_problem *p, const double *x, const double *r,
                             const double *jac, struct normal *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < p->n; i++) {
        double ri = lm_residual(r[i]), w = weight_of(p, i) * huber_weight(ri, p->huber);
        for (unsigned j = 0; j < p->k; j++) {
            double wj = w * jac[j * p->n + i];
            out->g[j] += wj * ri;
            for (unsigned l = 0; l <= j; l++)
                out->a[j][l] += wj * jac[l * p->n + i];
        }
    }
    for (unsigned j = 0; j < p->k; j++)
        if (has_prior(p, j)) {
            double w = p->lambda / (p->sd[j] * p->sd[j]);
            out->a[j][j] += w;
            out->g[j] += w * (x[j] - p->prior[j]);
        }
}

/* L L' = a (lower triangle), then step = -(L L')^-1 g. false: not positive definite. */
static bool cholesky_step(double a[OC_LM_MAX][OC_LM_MAX], const double *g, unsigned k, double *step)
{
    for (unsigned j = 0; j < k; j++)
        for (unsigned i = j; i < k; i++) {
            double s = a[i][j];
            for (unsigned l = 0; l < j; l++)
                s -= a[i][l] * a[j][l];
            if (i == j && !(s > 0))
                return false;
            a[i][j] = i == j ? sqrt(s) : s / a[j][j];
        }
    for (unsigned i = 0; i < k; i++) {
        double s = -g[i];
        for (unsigned l = 0; l < i; l++)
            s -= a[i][l] * step[l];
        step[i] = s / a[i][i];
    }
    for (unsigned i = k; i-- > 0;) {
        double s = step[i];
        for (unsigned l = i + 1; l < k; l++)
            s -= a[l][i] * step[l];
        step[i] = s / a[i][i];
    }
    return true;
}

static bool propose(const struct oc_lm_problem *p, const struct normal *eq, const double *x, double damp,
                    double *next)
{
    double a[OC_LM_MAX][OC_LM_MAX], step[OC_LM_MAX] = {0};
    memcpy(a, eq->a, sizeof(a));
    for (unsigned j = 0; j < p->k; j++)
        a[j][j] += damp * (a[j][j] + 1e-6);
    if (!cholesky_step(a, eq->g, p->k, step))
        return false;
    for (unsigned j = 0; j < p->k; j++) {
        double limited = fmax(-3, fmin(3, step[j])); /* a factor of 20 at a time is enough */
        next[j] = lm_is_free(p, j) ? bounded(p, j, x[j] + limited) : x[j];
    }
    return true;
}

/* One step that lowers the loss, with the smallest sufficient damping. */
static bool lm_improve(const struct oc_lm_problem *p, const struct normal *eq, double *x, double *r,
                       double *loss, double *damp)
{
    double next[OC_LM_MAX];
    while (*damp < DAMP_MAX) {
        double l = propose(p, eq, x, *damp, next) ? lm_loss(p, next, r) : (double)INFINITY;
        if (l < *loss) {
            memcpy(x, next, p->k * sizeof(*x));
            bool enough = *loss - l <= ENOUGH * *loss;
            *loss = l;
            *damp = fmax(*damp / 10, 1e-12);
            return !enough;
        }
        *damp *= 10;
    }
    return false;
}

double oc_lm_fit(const struct oc_lm_problem *p, double *x, double *work)
{
    double *r = work, *jac = work + p->n;
    struct normal eq;
    double loss = lm_loss(p, x, r), damp = DAMP_START;
    unsigned limit = p->max_iterations ? p->max_iterations : ITERATIONS;
    for (unsigned i = 0; i < limit; i++) {
        jacobian(p, x, r, jac);
        normal_equations(p, x, r, jac, &eq);
        if (!lm_improve(p, &eq, x, r, &loss, &damp))
            break;
    }
    return loss;
}

/* Signs of the parameters in each start: rows of a Hadamard matrix, so that any two starts differ in half of
 * them. */
static double start_sign(unsigned start, unsigned j)
{
    return start == 0 ? 0 : __builtin_parity((start - 1) & (j + 1)) ? -1 : 1;
}

double oc_lm_fit_multi(const struct oc_lm_problem *p, const double *start, unsigned starts, double *x,
                       double *work)
{
    double best = INFINITY, best_x[OC_LM_MAX];
    memcpy(best_x, start, p->k * sizeof(*x));
    for (unsigned s = 0; s < starts && s < 8; s++) {
        for (unsigned j = 0; j < p->k; j++) {
            double sd = p->sd ? p->sd[j] : 0;
            x[j] = lm_is_free(p, j) ? bounded(p, j, start[j] + start_sign(s, j) * sd) : start[j];
        }
        double loss = oc_lm_fit(p, x, work);
        if (loss < best) {
            best = loss;
            memcpy(best_x, x, p->k * sizeof(*x));
        }
    }
    memcpy(x, best_x, p->k * sizeof(*x));
    return best;
}
