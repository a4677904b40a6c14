#include "estimate/scores.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
    double v;
    size_t i;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static void ranks(const double *v, size_t n, double *out)
{
    struct ranked *r = oc_xmalloc((n + 1) * sizeof(*r));
    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){v[i], i};
    qsort(r, n, sizeof(*r), by_rank);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && r[end].v == r[i].v;)
            end++;
        for (size_t j = i; j < end; j++)
            out[r[j].i] = (double)(i + end - 1) / 2;
    }
    free(r);
}

double oc_spearman(const double *a, const double *b, size_t n)
{
    if (n < 2)
        return NAN;
    double *x = oc_xmalloc(2 * n * sizeof(*x)), *y = x + n, mean = (double)(n - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    ranks(a, n, x);
    ranks(b, n, y);
    for (size_t i = 0; i < n; i++) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    free(x);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile with linear interpolation between the two nearest values. */
static double quantile(double *v, size_t n, double q)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof(*v), by_value);
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

static bool counts(const struct oc_score_item *x)
{
    return x->predicted > 0 && x->measured > 0;
}

struct coverage {
    size_t n, in80, in95;
};

static void add_coverage(struct coverage *c, const struct oc_score_item *x)
{
    if (isnan(x->lo80) || isnan(x->lo95))
        return;
    c->n++;
    c->in80 += x->measured >= x->lo80 && x->measured <= x->hi80;
    c->in95 += x->measured >= x->lo95 && x->measured <= x->hi95;
}

static double part(size_t k, size_t n)
{
    return n ? (double)k / (double)n : NAN;
}

struct columns {
    double *measured, *predicted, *work; /* number of items that count */
    size_t n;
};

static struct columns columns_of(const struct oc_score_item *item, size_t n)
{
    struct columns c = {.measured = oc_xmalloc((3 * n + 1) * sizeof(double))};
    c.predicted = c.measured + n;
    c.work = c.predicted + n;
    for (size_t i = 0; i < n; i++)
        if (counts(&item[i])) {
            c.measured[c.n] = item[i].measured;
            c.predicted[c.n++] = item[i].predicted;
        }
    return c;
}

static double mean_ln(const struct columns *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += log(c->predicted[i] / c->measured[i]);
    return c->n ? sum / (double)c->n : NAN;
}

void oc_score_kernels(const struct oc_score_item *item, const double *repeats, size_t n,
                      struct oc_kernel_scores *out)
{
    struct columns c = columns_of(item, n);
    struct coverage cover = {0};
    double off = 0, total = 0;
    for (size_t i = 0; i < n; i++)
        if (counts(&item[i])) {
            off += repeats[i] * fabs(item[i].predicted - item[i].measured);
            total += repeats[i] * item[i].measured;
            add_coverage(&cover, &item[i]);
        }
    for (size_t i = 0; i < c.n; i++)
        c.work[i] = fabs(log(c.predicted[i] / c.measured[i]));
    *out = (struct oc_kernel_scores){
        .n = c.n,
        .wmape = total > 0 ? off / total : NAN,
        .median_abs_ln = quantile(c.work, c.n, 0.5),
        .bias = mean_ln(&c),
        .spearman = oc_spearman(c.measured, c.predicted, c.n),
        .cover80 = part(cover.in80, cover.n),
        .cover95 = part(cover.in95, cover.n),
    };
    free(c.measured);
}

void oc_score_models(const struct oc_score_item *item, size_t n, struct oc_model_scores *out)
{
    struct columns c = columns_of(item, n);
    struct coverage cover = {0};
    size_t in10 = 0, in20 = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (counts(&item[i]))
            add_coverage(&cover, &item[i]);
    for (size_t i = 0; i < c.n; i++) {
        c.work[i] = fabs(c.predicted[i] / c.measured[i] - 1);
        sum += c.work[i];
        in10 += c.work[i] <= 0.10;
        in20 += c.work[i] <= 0.20;
    }
    *out = (struct oc_model_scores){
        .n = c.n,
        .ape_mean = c.n ? sum / (double)c.n : NAN,
        .ape_median = quantile(c.work, c.n, 0.5),
        .ape_p90 = quantile(c.work, c.n, 0.9),
        .within10 = part(in10, c.n),
        .within20 = part(in20, c.n),
        .spearman = oc_spearman(c.measured, c.predicted, c.n),
        .bias = mean_ln(&c),
        .cover80 = part(cover.in80, cover.n),
        .cover95 = part(cover.in95, cover.n),
    };
    free(c.measured);
}
