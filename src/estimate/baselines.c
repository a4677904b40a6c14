#include "estimate/baselines.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/validate.h"

static double ln_factor(const struct oc_baseline_row *r)
{
    double roof = oc_curve_roofline(&r->point);
    return roof > 0 ? log(r->t_s / roof) : NAN;
}

static int by_factor(const void *a, const void *b)
{
    const struct oc_baseline_row *x = *(const struct oc_baseline_row *const *)a,
                                 *y = *(const struct oc_baseline_row *const *)b;
    double u = ln_factor(x), v = ln_factor(y);
    if (isnan(u) || isnan(v))
        return isnan(u) - isnan(v);
    if (u != v)
        return u < v ? -1 : 1;
    return (x->t_s > y->t_s) - (x->t_s < y->t_s);
}

/* Weighted median of the rows of a class (OC_KC_COUNT: of all); rows are sorted by factor. */
static double middle(const struct oc_baseline_row *const *row, size_t n, unsigned cls)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        if ((cls == OC_KC_COUNT || row[i]->point.cls == cls) && !isnan(ln_factor(row[i])))
            total += row[i]->weight;
    for (size_t i = 0; i < n; i++) {
        if ((cls != OC_KC_COUNT && row[i]->point.cls != cls) || isnan(ln_factor(row[i])))
            continue;
        sum += row[i]->weight;
        if (sum >= total / 2)
            return ln_factor(row[i]);
    }
    return NAN;
}

void oc_baselines_fit(const struct oc_baseline_row **train, size_t n, struct oc_baselines *out)
{
    qsort(train, n, sizeof(*train), by_factor);
    out->global = middle(train, n, OC_KC_COUNT);
    for (unsigned c = 0; c < OC_KC_COUNT; c++)
        out->cls[c] = middle(train, n, c);
}

static double ln_size(double v)
{
    return v > 1 ? log(v) : 0;
}

static double nearest(const struct oc_baseline_row *const *train, size_t n, const struct oc_cal_point *p)
{
    double best = INFINITY, t = NAN, flop = ln_size(p->flop), bytes = ln_size(p->bytes);
    for (size_t i = 0; i < n; i++) {
        const struct oc_cal_point *q = &train[i]->point;
        if (q->cls != p->cls)
            continue;
        double d = hypot(ln_size(q->flop) - flop, ln_size(q->bytes) - bytes);
        if (d < best) {
            best = d;
            t = train[i]->t_s;
        }
    }
    return t;
}

double oc_baseline_time(const struct oc_baselines *b, const struct oc_baseline_row *const *train, size_t n,
                        unsigned predictor, const struct oc_cal_point *p)
{
    double roof = oc_curve_roofline(p), global = roof * exp(b->global);
    double cls = p->cls < OC_KC_COUNT && !isnan(b->cls[p->cls]) ? roof * exp(b->cls[p->cls]) : global;
    switch (predictor) {
    case OC_PREDICTOR_ROOFLINE:
        return roof;
    case OC_PREDICTOR_GLOBAL:
        return global;
    case OC_PREDICTOR_CLASS:
        return cls;
    default: {
        double t = nearest(train, n, p);
        return isnan(t) ? cls : t;
    }
    }
}
