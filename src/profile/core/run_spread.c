#include "profile/core/run_spread.h"

#include <math.h>

#include "profile/profile.h"

static const double FENCE = 3;        /* interquartile ranges, Tukey's outer fence */
static const double NORMAL_95 = 1.96; /* two-sided 95 % quantile of the normal distribution */
static const size_t LEAST_FOR_95 = 6; /* runs */

/* Order statistics around the median by the normal approximation of the binomial distribution. */
static void run_spread_set_interval(const double *sorted, size_t n, struct oc_run_spread *out)
{
    double half = NORMAL_95 * sqrt((double)n) / 2, middle = (double)n / 2;
    size_t low = 0, high = n - 1;
    if (n >= LEAST_FOR_95 && middle - half >= 1) {
        low = (size_t)floor(middle - half) - 1;
        high = (size_t)ceil(middle + half);
    }
    out->low_ns = sorted[low];
    out->high_ns = sorted[high < n ? high : n - 1];
}

void oc_run_spread_of(double *ns, size_t n, struct oc_run_spread *out)
{
    const double none = (double)NAN;
    *out = (struct oc_run_spread){0, none, none, none, none, none, none, none, 0, 0};
    if (!n)
        return;
    out->n = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    out->median_ns = oc_stat_of(OC_STAT_MEDIAN, ns, n); /* sorts */
    out->min_ns = ns[0];
    out->p25_ns = oc_percentile_of(ns, n, 0.25);
    out->p75_ns = oc_percentile_of(ns, n, 0.75);
    out->max_ns = ns[n - 1];
    run_spread_set_interval(ns, n, out);
    double range = out->p75_ns - out->p25_ns;
    for (size_t i = 0; i < n; i++)
        out->outliers += ns[i] < out->p25_ns - FENCE * range || ns[i] > out->p75_ns + FENCE * range;
}

double oc_run_spread_share(const struct oc_run_spread *s)
{
    return s->n > 1 && s->median_ns > 0 ? (s->p75_ns - s->p25_ns) / s->median_ns : (double)NAN;
}

double oc_run_spread_error(const struct oc_run_spread *s)
{
    return s->n > 1 && s->median_ns > 0 ? (s->high_ns - s->low_ns) / 2 / s->median_ns : (double)NAN;
}

bool oc_run_spread_noisy(const struct oc_run_spread *s)
{
    return s->shapes < 2 && oc_run_spread_share(s) > OC_NOISY_SPREAD;
}

static enum oc_stat stat_of_shapes(const struct oc_run_spread *s, enum oc_stat wanted, struct oc_diags *diags)
{
    if (wanted == OC_STAT_SUM || wanted == OC_STAT_MEAN)
        return wanted;
    if (wanted != OC_STAT_AUTO)
        oc_diag_add(
            diags, OC_WARNING, "W-shapes-stat", "",
            "the runs have %u different sets of shapes: times and work are means over the runs, not %s",
            s->shapes, oc_stat_name(wanted));
    return OC_STAT_MEAN;
}

enum oc_stat oc_run_spread_stat(const struct oc_run_spread *s, enum oc_stat wanted, struct oc_diags *diags)
{
    bool noisy = oc_run_spread_noisy(s);
    if (s->shapes > 1)
        return stat_of_shapes(s, wanted, diags);
    enum oc_stat used = wanted != OC_STAT_AUTO ? wanted : noisy ? OC_STAT_MIN : OC_STAT_MEDIAN;
    if (noisy)
        oc_diag_add(
            diags, OC_WARNING, "W-noisy-runs", "",
            "noisy measurement: the times of %u runs spread by %.0f %% (interquartile range / median, "
            "limit %.0f %%); %s; measure again on an idle machine",
            s->n, 100 * oc_run_spread_share(s), 100 * OC_NOISY_SPREAD,
            wanted == OC_STAT_AUTO
                ? "times and rates are minima over the runs"
                : oc_printf(diags->arena, "times and rates use the %s", oc_stat_name(used)));
    return used;
}
