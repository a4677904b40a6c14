/* estimate/: Time where nothing was measured: roofline, lower bound, kernels of a runtime after fusion,
 * calibrated cost curves, ranking of devices. One planner and one bound: every command uses predict.h and
 * bound.h. A constant names its source; tests compare with published and recorded times.
 * Private to the folder: cal_fit.h curve.h. */

#include "estimate/validate.h"

#include <math.h>
#include <stdlib.h>

static double ln_ratio(const struct oc_baseline_row *r)
{
    double roof = oc_curve_roofline(&r->point);
    return roof > 0 ? log(r->t_s / roof) : NAN;
}

static int by_ratio(const void *a, const void *b)
{
    const struct oc_baseline_row *x = *(const struct oc_baseline_row *const *)a,
                                 *y = *(const struct oc_baseline_row *const *)b;
    double u = ln_ratio(x), v = ln_ratio(y);
    if (isnan(u) || isnan(v))
        return isnan(u) - isnan(v);
    if (u != v)
        return u < v ? -1 : 1;
    return (x->t_s > y->t_s) - (x->t_s < y->t_s);
}

/* Over all classes the weighted median is best: no class dominates. Rows are sorted by ratio. */
static double middle(const struct oc_baseline_row **row, size_t n)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        total += isnan(ln_ratio(row[i])) ? 0 : row[i]->weight;
    for (size_t i = 0; i < n; i++) {
        sum += isnan(ln_ratio(row[i])) ? 0 : row[i]->weight;
        if (sum > 0 && sum >= total / 2)
            return ln_ratio(row[i]);
    }
    return NAN;
}

/* For one class the factor that makes the sums equal. dtype OC_CLASS_COUNT: kernels of all types. */
static double class_sum(const struct oc_baseline_row **row, size_t n, unsigned cls, unsigned dtype)
{
    double time = 0, roof = 0;
    for (size_t i = 0; i < n; i++) {
        const struct oc_cal_point *p = &row[i]->point;
        double r = oc_curve_roofline(p),
               share = row[i]->weight * row[i]->weight; /* share of its network's time */
        if (p->cls != cls || (dtype != OC_CLASS_COUNT && p->dtype != dtype) || !(r > 0))
            continue;
        time += share;
        roof += share * r / row[i]->t_s;
    }
    return roof > 0 ? log(time / roof) : NAN;
}

void oc_baselines_fit(const struct oc_baseline_row **train, size_t n, struct oc_baselines *out)
{
    qsort(train, n, sizeof(*train), by_ratio);
    out->global = middle(train, n);
    for (unsigned c = 0; c < OC_KC_COUNT; c++)
        for (unsigned d = 0; d <= OC_CLASS_COUNT; d++)
            out->cls[c][d] = class_sum(train, n, c, d);
}

static double ln_size(double v)
{
    return v > 1 ? log(v) : 0;
}

/* The nearest kernel of the class, of the same type if possible; its time is scaled with the roofline. */
static double nearest(const struct oc_baseline_row *const *train, size_t n, const struct oc_cal_point *p)
{
    double best = INFINITY, t = NAN, flop = ln_size(p->flop), bytes = ln_size(p->bytes);
    for (size_t i = 0; i < n; i++) {
        const struct oc_cal_point *q = &train[i]->point;
        if (q->cls != p->cls)
            continue;
        double d =
            hypot(ln_size(q->flop) - flop, ln_size(q->bytes) - bytes) + (q->dtype == p->dtype ? 0 : 1e3);
        if (d < best) {
            double mine = oc_curve_roofline(p), its = oc_curve_roofline(q);
            best = d;
            t = train[i]->t_s * (mine > 0 && its > 0 ? mine / its : 1);
        }
    }
    return t;
}

static double class_factor(const struct oc_baselines *b, const struct oc_cal_point *p)
{
    if (p->cls >= OC_KC_COUNT || p->dtype >= OC_CLASS_COUNT)
        return b->global;
    double own = b->cls[p->cls][p->dtype], any = b->cls[p->cls][OC_CLASS_COUNT];
    return !isnan(own) ? own : !isnan(any) ? any : b->global;
}

double oc_baseline_time(const struct oc_baselines *b, const struct oc_baseline_row *const *train, size_t n,
                        unsigned predictor, const struct oc_cal_point *p)
{
    double roof = oc_curve_roofline(p), cls = roof * exp(class_factor(b, p));
    switch (predictor) {
    case OC_PREDICTOR_ROOFLINE:
        return roof;
    case OC_PREDICTOR_GLOBAL:
        return roof * exp(b->global);
    case OC_PREDICTOR_CLASS:
        return cls;
    default: {
        double t = nearest(train, n, p);
        return isnan(t) ? cls : t;
    }
    }
}
