/* Comparison of recordings; see comparison.h for the method. */
#include "report/comparison.h"

#include <float.h>
#include <math.h>

#include "base/arena.h"
#include "base/str.h"
#include "profile/profile.h"

/* Measured on 1,088 recordings of 10 models with ONNX Runtime 1.30 and 1.17, 1 and 2 threads, on one virtual machine
 * with 2 processors, models below 40 ms. GPUs and other machines are to be measured again. */
static const struct {
    double process;   /* standard deviation of ln(latency) between processes that ran undisturbed */
    double of_spread; /* what the spread of the runs adds to it */
    double freedom;   /* degrees of freedom of this prior */
    double drift[3];  /* by enum oc_recorded_order: standard deviation of a side, from drift of the machine */
    double most_spread;  /* above it a recording is disturbed */
    uint32_t least_runs; /* below it a recording is too short */
    uint32_t
        least_kept; /* recordings on each side, alternated, that carry a verdict even where some are disturbed */
} measured = {0.015, 0.35, 4, {0, 0.02, 0.05}, OC_NOISY_SPREAD, 10, 3};

static const double SHOWN = 0.03; /* the difference that `needed` is about */
enum { MOST_NEEDED = 100 };

/* ---- Student's t ------------------------------------------------------------------------------------ */

/* Regularized incomplete beta function by its continued fraction (Lentz's method). */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    if (x > (a + 1) / (a + b + 2))
        return 1 - incomplete_beta(b, a, 1 - x);
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-13)
            break;
    }
    return front * h;
}

/* The two-sided quantile of OC_COMPARISON_LEVEL by bisection. */
static double t_quantile(double freedom)
{
    double low = 0, high = 1e3;
    for (int i = 0; i < 100; i++) {
        double t = (low + high) / 2;
        bool outside =
            incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) > 1 - OC_COMPARISON_LEVEL;
        *(outside ? &low : &high) = t;
    }
    return high;
}

/* ---- comparison ------------------------------------------------------------------------------------- */

struct sums {
    double mean, squares; /* of ln(latency); squares around the mean */
    double spread;        /* sum of squares */
    size_t n;
};

static void add_side(const struct oc_recorded *r, size_t n, struct sums *s, struct oc_comparison *out)
{
    *s = (struct sums){.n = n};
    for (size_t i = 0; i < n; i++) {
        s->mean += log(r[i].latency_ns) / (double)n;
        s->spread += r[i].spread * r[i].spread;
        out->disturbed += r[i].spread > measured.most_spread;
        out->brief += r[i].runs < measured.least_runs;
    }
    for (size_t i = 0; i < n; i++)
        s->squares += pow(log(r[i].latency_ns) - s->mean, 2);
}

/* A disturbed or short recording carries no verdict, unless enough alternated ones surround it. */
static bool is_doubtful(const struct oc_comparison *c)
{
    uint32_t least = c->n[0] < c->n[1] ? c->n[0] : c->n[1];
    return (c->disturbed || c->brief) && (least < measured.least_kept || c->order != OC_RECORDED_ALTERNATED);
}

static uint32_t recordings_needed(double variance)
{
    for (uint32_t k = 1; k <= MOST_NEEDED; k++)
        if (t_quantile(measured.freedom + 2 * k - 2) * sqrt(2 * variance / k) <= log1p(SHOWN))
            return k;
    return 0;
}

bool oc_recorded_of(const struct oc_profile *p, double latency_ns, struct oc_recorded *out)
{
    double spread = oc_run_spread_share(&p->spread);
    *out = (struct oc_recorded){
        .latency_ns = latency_ns, .spread = isnan(spread) ? OC_ASSUMED_SPREAD : spread, .runs = p->spread.n};
    return latency_ns > 0 && isfinite(latency_ns);
}

void oc_compare_recorded(const struct oc_recorded *a, size_t n_a, const struct oc_recorded *b, size_t n_b,
                         enum oc_recorded_order order, struct oc_comparison *out)
{
    struct sums x, y;
    *out = (struct oc_comparison){.ratio = NAN,
                                  .low = NAN,
                                  .high = NAN,
                                  .smallest = NAN,
                                  .verdict = OC_COMPARED_INCONCLUSIVE,
                                  .order = (uint8_t)order,
                                  .n = {(uint32_t)n_a, (uint32_t)n_b}};
    if (!n_a || !n_b)
        return;
    add_side(a, n_a, &x, out);
    add_side(b, n_b, &y, out);
    double n = (double)(n_a + n_b), freedom = measured.freedom + n - 2;
    double prior = pow(measured.process, 2) + pow(measured.of_spread, 2) * (x.spread + y.spread) / n;
    double variance = (measured.freedom * prior + x.squares + y.squares) / freedom;
    double drift = measured.drift[order];
    double half =
        t_quantile(freedom) * sqrt(variance * (1 / (double)n_a + 1 / (double)n_b) + 2 * drift * drift);
    double change = y.mean - x.mean;
    out->ratio = exp(change);
    out->low = exp(change - half);
    out->high = exp(change + half);
    out->smallest = expm1(half);
    out->needed = recordings_needed(variance);
    if (!is_doubtful(out))
        out->verdict = out->low > 1    ? OC_COMPARED_SLOWER
                       : out->high < 1 ? OC_COMPARED_FASTER
                                       : OC_COMPARED_SAME;
}

int oc_compared_within(const struct oc_comparison *c, double limit)
{
    if (is_doubtful(c) || isnan(c->ratio))
        return -1;
    return c->low > 1 + limit ? 0 : c->high <= 1 + limit ? 1 : -1;
}

/* ---- text ------------------------------------------------------------------------------------------- */

const char *oc_compared_name(unsigned verdict)
{
    static const char *const name[] = {"no difference shown", "faster", "slower", "inconclusive"};
    return verdict < OC_COUNT(name) ? name[verdict] : "?";
}

const char *oc_compared_text(const struct oc_comparison *c, struct oc_arena *a)
{
    double low = 100 * (c->low - 1), high = 100 * (c->high - 1);
    const char *name = oc_compared_name(c->verdict);
    if (isnan(c->ratio))
        return "no latency on one side";
    if (c->verdict == OC_COMPARED_SLOWER || c->verdict == OC_COMPARED_FASTER) {
        double near = fmin(fabs(low), fabs(high)), far = fmax(fabs(low), fabs(high));
        return oc_printf(a, "%s by %.1f %% (%.1f to %.1f)", name, 100 * fabs(c->ratio - 1), near, far);
    }
    if (c->verdict == OC_COMPARED_INCONCLUSIVE)
        return oc_printf(a, "%s: %+.1f %% (%+.1f to %+.1f)", name, 100 * (c->ratio - 1), low, high);
    return oc_printf(a, "%s (%+.1f to %+.1f %%)", name, low, high);
}

const char *oc_compared_note(const struct oc_comparison *c, struct oc_arena *a)
{
    static const char *const order[] = {"alternated", "recorded within a minute",
                                        "recorded at times that are far apart or not known"};
    const char *doubt = "";
    if (c->disturbed)
        doubt = oc_printf(a, "%u of %u recordings disturbed (spread above %.0f %%); ", c->disturbed,
                          c->n[0] + c->n[1], 100 * measured.most_spread);
    if (c->brief)
        doubt = oc_printf(a, "%s%u of %u with fewer than %u runs; ", doubt, c->brief, c->n[0] + c->n[1],
                          measured.least_runs);
    const char *more = c->needed ? oc_printf(a, "%u", c->needed) : oc_printf(a, "more than %d", MOST_NEEDED);
    return oc_printf(
        a,
        "%s%s; these recordings show differences from %.1f %% on, %s alternated recordings of each side "
        "would show 3 %%",
        doubt, order[c->order], 100 * c->smallest, more);
}
