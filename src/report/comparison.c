/* Comparison of recordings; see comparison.h for the method. */
#include "report/comparison.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/units.h"
#include "profile/profile.h"

/* Measured on 1,088 recordings of 10 models with ONNX Runtime 1.30 and 1.17, 1 and 2 threads, on one virtual machine
 * with 2 processors, models below 40 ms. GPUs and other machines are to be measured again. */
static const struct {
    double process;       /* standard deviation of ln(latency) between processes that ran undisturbed */
    double of_spread;     /* what the spread of the runs adds to it */
    double freedom;       /* degrees of freedom of this prior */
    double pair;          /* standard deviation of the difference between two processes that took turns ... */
    double of_turns;      /* ... and what the spread of the differences between their turns adds to it */
    uint32_t least_turns; /* with fewer that is not known */
    double drift[4]; /* by enum oc_recorded_order: standard deviation of a side, from drift of the machine */
    double most_spread;  /* above it a recording is disturbed */
    uint32_t least_runs; /* below it a recording is too short */
    uint32_t
        least_kept; /* recordings on each side, alternated, that carry a verdict even where some are disturbed */
    double at_once_s, minute_s; /* starts within these: of one recording each, of all */
    double least_row_ns; /* shorter rows have the variance of this time: traces have whole microseconds */
} measured = {0.015, 0.35, 4, 0.01, 1, 8, {0, 0.02, 0.05, 0}, OC_NOISY_SPREAD, 10, 3, 5, 60, 500};

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

/* The two-sided p value of t. */
static double p_value(double t, double freedom)
{
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The two-sided quantile of OC_COMPARISON_LEVEL by bisection. */
static double t_quantile(double freedom)
{
    double low = 0, high = 1e3;
    for (int i = 0; i < 100; i++) {
        double t = (low + high) / 2;
        bool outside = p_value(t, freedom) > 1 - OC_COMPARISON_LEVEL;
        *(outside ? &low : &high) = t;
    }
    return high;
}

/* ---- comparison ------------------------------------------------------------------------------------- */

static const double *logs_of(const double *ns, size_t n, double *log_ns)
{
    for (size_t i = 0; i < n; i++)
        log_ns[i] = log(ns[i]);
    return log_ns;
}

static double mean_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (double)n;
}

static double squares_around_mean(const double *v, size_t n)
{
    double mean = mean_of(v, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sum;
}

struct moderated {
    double change;   /* mean of B - mean of A, of logarithms */
    double variance; /* between recordings */
    double error;    /* standard error of the change, with the drift between the sides */
    double freedom;
};

/* weight: degrees of freedom of the prior. */
static struct moderated compare_logs(const double *a, size_t n_a, const double *b, size_t n_b, double prior,
                                     double weight, unsigned order)
{
    struct moderated m = {.change = mean_of(b, n_b) - mean_of(a, n_a),
                          .freedom = weight + (double)(n_a + n_b) - 2};
    m.variance = (weight * prior + squares_around_mean(a, n_a) + squares_around_mean(b, n_b)) / m.freedom;
    m.error = sqrt(m.variance * (1 / (double)n_a + 1 / (double)n_b) + 2 * pow(measured.drift[order], 2));
    return m;
}

/* The same of the differences of n pairs. */
static struct moderated compare_pairs(const double *a, const double *b, size_t n, double prior)
{
    double *d = oc_xcalloc(n + 1, sizeof(*d));
    for (size_t i = 0; i < n; i++)
        d[i] = b[i] - a[i];
    struct moderated m = {.change = mean_of(d, n), .freedom = measured.freedom + (double)n - 1};
    m.variance = (measured.freedom * prior + squares_around_mean(d, n)) / m.freedom;
    m.error = sqrt(m.variance / (double)n);
    free(d);
    return m;
}

/* The fastest probe of all recordings; 0: none has one. */
static double fastest_probe(const struct oc_recorded *r, size_t n, double so_far)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].probe_fastest_ns > 0 && (so_far <= 0 || r[i].probe_fastest_ns < so_far))
            so_far = r[i].probe_fastest_ns;
    return so_far;
}

static void count_doubtful(const struct oc_recorded *r, size_t n, double fastest_ns,
                           struct oc_comparison *out)
{
    for (size_t i = 0; i < n; i++) {
        bool loaded = r[i].loaded || oc_is_slowed(r[i].probe_ns, fastest_ns);
        out->disturbed += loaded || r[i].spread > measured.most_spread;
        out->loaded += loaded;
        out->brief += r[i].runs < measured.least_runs;
    }
}

/* A disturbed or short recording carries no verdict, unless enough alternated ones surround it. What disturbs recordings that
 * take turns disturbs both. */
static bool is_doubtful(const struct oc_comparison *c)
{
    uint32_t least = c->n[0] < c->n[1] ? c->n[0] : c->n[1];
    if (c->order == OC_RECORDED_TURNS)
        return c->brief && least < measured.least_kept;
    return (c->disturbed || c->brief) && (least < measured.least_kept || c->order != OC_RECORDED_ALTERNATED);
}

static uint32_t recordings_needed(double variance, double weight, bool turns)
{
    double sides = turns ? 1 : 2; /* variances in a difference */
    for (uint32_t k = weight > 0 ? 1 : 2; k <= MOST_NEEDED; k++)
        if (t_quantile(weight + sides * (k - 1)) * sqrt(sides * variance / k) <= log1p(SHOWN))
            return k;
    return 0;
}

bool oc_recorded_of(const struct oc_profile *p, double latency_ns, struct oc_recorded *out)
{
    double spread = oc_run_spread_share(&p->spread);
    *out = (struct oc_recorded){.latency_ns = latency_ns,
                                .spread = isnan(spread) ? OC_ASSUMED_SPREAD : spread,
                                .runs = p->spread.n,
                                .started_s = p->machine.started_s,
                                .turns_id = p->machine.turns_id,
                                .turn_ns = p->machine.turn_ns,
                                .n_turn = p->machine.n_turn,
                                .loaded = oc_machine_is_loaded(&p->machine),
                                .probe_ns = p->machine.probe_ns,
                                .probe_fastest_ns = p->machine.probe_fastest_ns};
    return latency_ns > 0 && isfinite(latency_ns);
}

struct oc_recorded oc_recorded_once(double ns, double started_s, double turns_id, bool loaded)
{
    return (struct oc_recorded){.latency_ns = ns,
                                .spread = OC_ASSUMED_SPREAD,
                                .runs = 1,
                                .started_s = started_s,
                                .turns_id = turns_id,
                                .once = true,
                                .loaded = loaded};
}

/* ---- order in time ---------------------------------------------------------------------------------- */

struct start {
    double at_s;
    unsigned side;
};

static int by_start(const void *a, const void *b)
{
    const struct start *x = a, *y = b;
    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* Pairs in the order of time have one recording of each side, and each side is the first of as many, but for one. */
static bool is_balanced(const struct start *s, size_t n)
{
    long a_first = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        if (s[i].side == s[i + 1].side)
            return false;
        a_first += s[i].side ? -1 : 1;
    }
    return n > 2 && n % 2 == 0 && labs(a_first) <= 1;
}

static bool took_turns(const struct oc_recorded *a, size_t n_a, const struct oc_recorded *b, size_t n_b)
{
    bool turns = n_a && n_a == n_b;
    for (size_t i = 0; i < n_a && turns; i++)
        turns = a[i].turns_id > 0 && a[i].turns_id <= b[i].turns_id && a[i].turns_id >= b[i].turns_id;
    return turns;
}

enum oc_recorded_order oc_recorded_order(const struct oc_recorded *a, size_t n_a, const struct oc_recorded *b,
                                         size_t n_b)
{
    size_t n = n_a + n_b;
    bool known = n_a && n_b;
    if (took_turns(a, n_a, b, n_b))
        return a[0].once && b[0].once ? OC_RECORDED_ALTERNATED : OC_RECORDED_TURNS;
    struct start *s = oc_xcalloc(n + 1, sizeof(*s));
    for (size_t i = 0; i < n; i++) {
        s[i] = (struct start){i < n_a ? a[i].started_s : b[i - n_a].started_s, i >= n_a};
        known &= s[i].at_s > 0;
    }
    qsort(s, n, sizeof(*s), by_start);
    double within_s = known ? s[n - 1].at_s - s[0].at_s : INFINITY;
    bool alternated = known && (n == 2 ? within_s <= measured.at_once_s : is_balanced(s, n));
    free(s);
    return alternated                      ? OC_RECORDED_ALTERNATED
           : within_s <= measured.minute_s ? OC_RECORDED_MINUTE
                                           : OC_RECORDED_APART;
}

/* ---- the latency ------------------------------------------------------------------------------------ */

static double *latency_logs(const struct oc_recorded *r, size_t n, double *spread)
{
    double *y = oc_xcalloc(n + 1, sizeof(*y));
    for (size_t i = 0; i < n; i++) {
        y[i] = log(r[i].latency_ns);
        *spread += r[i].spread * r[i].spread;
    }
    return y;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between single recordings: of different processes, and of what their runs say about them. */
static double prior_of(const struct oc_recorded *a, const struct oc_recorded *b)
{
    return pow(measured.process, 2) +
           pow(measured.of_spread, 2) * (a->spread * a->spread + b->spread * b->spread) / 2;
}

/* Of the difference between two that took turns. The turns of one follow those of the other at once, so that the differences between
 * them say how far the machine changed meanwhile. */
static double pair_prior(const struct oc_recorded *a, const struct oc_recorded *b)
{
    size_t n = a->n_turn < b->n_turn ? a->n_turn : b->n_turn;
    if (n < measured.least_turns)
        return 2 * prior_of(a, b);
    double *d = oc_xcalloc(n, sizeof(*d));
    for (size_t i = 0; i < n; i++)
        d[i] = log(b->turn_ns[i] / a->turn_ns[i]);
    qsort(d, n, sizeof(*d), by_value);
    double width = d[3 * n / 4] - d[n / 4];
    free(d);
    return pow(measured.pair, 2) + pow(measured.of_turns * width, 2) / (double)n;
}

static double mean_pair_prior(const struct oc_recorded *a, const struct oc_recorded *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pair_prior(&a[i], &b[i]);
    return sum / (double)n;
}

void oc_compare_recorded(const struct oc_recorded *a, size_t n_a, const struct oc_recorded *b, size_t n_b,
                         enum oc_recorded_order order, struct oc_comparison *out)
{
    *out = (struct oc_comparison){.ratio = NAN,
                                  .low = NAN,
                                  .high = NAN,
                                  .smallest = NAN,
                                  .verdict = OC_COMPARED_INCONCLUSIVE,
                                  .order = (uint8_t)order,
                                  .n = {(uint32_t)n_a, (uint32_t)n_b}};
    if (!n_a || !n_b)
        return;
    double spread = 0, *x = latency_logs(a, n_a, &spread), *y = latency_logs(b, n_b, &spread);
    bool turns = order == OC_RECORDED_TURNS;
    out->prior = turns ? mean_pair_prior(a, b, n_a)
                       : pow(measured.process, 2) + pow(measured.of_spread, 2) * spread / (double)(n_a + n_b);
    /* the prior was measured for latencies: it says little about what a process does once, where there are several recordings */
    double weight = a[0].once && n_a + n_b > 2 ? 0 : measured.freedom;
    struct moderated m = turns ? compare_pairs(x, y, n_a, out->prior)
                               : compare_logs(x, n_a, y, n_b, out->prior, weight, order);
    free(x);
    free(y);
    double fastest_ns = fastest_probe(b, n_b, fastest_probe(a, n_a, 0));
    count_doubtful(a, n_a, fastest_ns, out);
    count_doubtful(b, n_b, fastest_ns, out);
    double half = t_quantile(m.freedom) * m.error;
    out->error = m.error;
    out->freedom = m.freedom;
    out->ratio = exp(m.change);
    out->low = exp(m.change - half);
    out->high = exp(m.change + half);
    out->smallest = expm1(half);
    out->needed = recordings_needed(m.variance, weight, turns);
    if (!is_doubtful(out))
        out->verdict = out->low > 1    ? OC_COMPARED_SLOWER
                       : out->high < 1 ? OC_COMPARED_FASTER
                                       : OC_COMPARED_SAME;
}

bool oc_compared_shows(const struct oc_comparison *c, double level)
{
    return !isnan(c->ratio) && !is_doubtful(c) && p_value(log(c->ratio) / c->error, c->freedom) < 1 - level;
}

int oc_compared_within(const struct oc_comparison *c, double limit)
{
    if (is_doubtful(c) || isnan(c->ratio))
        return -1;
    return c->low > 1 + limit ? 0 : c->high <= 1 + limit ? 1 : -1;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The two-sided p value of a row, and its ratio; NAN: a recording has no time of it. */
static double compare_row(const struct oc_comparison *c, struct oc_compared_row *row, double *scratch)
{
    row->ratio = NAN;
    row->verdict = OC_COMPARED_INCONCLUSIVE;
    for (unsigned s = 0; s < 2; s++)
        for (uint32_t i = 0; i < c->n[s]; i++)
            if (!(row->ns[s][i] > 0))
                return NAN;
    const double *a = logs_of(row->ns[0], c->n[0], scratch),
                 *b = logs_of(row->ns[1], c->n[1], scratch + c->n[0]);
    struct moderated m =
        c->order == OC_RECORDED_TURNS
            ? compare_pairs(a, b, c->n[0], c->prior + 2 * row->variance)
            : compare_logs(a, c->n[0], b, c->n[1], c->prior + row->variance, measured.freedom, c->order);
    row->ratio = exp(m.change);
    row->verdict = OC_COMPARED_SAME;
    return p_value(m.change / m.error, m.freedom);
}

void oc_compare_rows(const struct oc_comparison *c, struct oc_compared_row *row, size_t n)
{
    double *p = oc_xcalloc(n + 1, sizeof(*p)), *sorted = oc_xcalloc(n + 1, sizeof(*p));
    double *scratch = oc_xcalloc((size_t)c->n[0] + c->n[1], sizeof(*p)), most = -1;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        p[i] = compare_row(c, &row[i], scratch);
        if (!isnan(p[i]))
            sorted[known++] = p[i];
    }
    qsort(sorted, known, sizeof(*sorted), by_value);
    for (size_t i = 0; i < known; i++)
        if (sorted[i] <= (1 - OC_COMPARISON_LEVEL) * (double)(i + 1) / (double)known)
            most = sorted[i];
    for (size_t i = 0; i < n; i++)
        if (p[i] <= most)
            row[i].verdict = row[i].ratio > 1 ? OC_COMPARED_SLOWER : OC_COMPARED_FASTER;
    free(scratch);
    free(sorted);
    free(p);
}

double oc_row_error_share(double error_ns, double ns)
{
    return error_ns / fmax(ns, measured.least_row_ns);
}

/* ---- text ------------------------------------------------------------------------------------------- */

const char *oc_compared_name(unsigned verdict)
{
    static const char *const name[] = {"no difference shown", "faster", "slower", "inconclusive"};
    return verdict < OC_COUNT(name) ? name[verdict] : "?";
}

const char *oc_recorded_order_name(unsigned order)
{
    static const char *const name[] = {"alternated", "recorded within a minute",
                                       "recorded at times that are far apart or not known",
                                       "recorded in turns"};
    return order < OC_COUNT(name) ? name[order] : "?";
}

const char *oc_compared_row_text(double ratio, unsigned verdict, struct oc_arena *a)
{
    if (verdict == OC_COMPARED_INCONCLUSIVE)
        return "";
    return verdict == OC_COMPARED_SAME
               ? oc_compared_name(verdict)
               : oc_printf(a, "%s by %.1f %%", oc_compared_name(verdict), 100 * fabs(ratio - 1));
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
    uint32_t all = c->n[0] + c->n[1];
    const char *text = "";
    bool apart = c->order != OC_RECORDED_TURNS; /* else both sides were disturbed */
    if (c->disturbed && apart)
        text = oc_printf(a, "%u of %u recordings disturbed (spread above %.0f %%", c->disturbed, all,
                         100 * measured.most_spread);
    if (c->disturbed && apart)
        text = c->loaded ? oc_printf(a, "%s; %u by other processes or machines); ", text, c->loaded)
                         : oc_printf(a, "%s); ", text);
    if (c->brief)
        text = oc_printf(a, "%s%u of %u with fewer than %u runs; ", text, c->brief, all, measured.least_runs);
    if (all > 2)
        text = oc_printf(a, "%s%u and %u recordings, ", text, c->n[0], c->n[1]);
    const char *more = c->needed ? oc_printf(a, "%u", c->needed) : oc_printf(a, "more than %d", MOST_NEEDED);
    return oc_printf(a,
                     "%s%s; these recordings show differences from %.1f %% on, %s %srecording%s of each "
                     "side%s would show 3 %%",
                     text, oc_recorded_order_name(c->order), 100 * c->smallest, more,
                     apart ? "alternated " : "", oc_plural(c->needed), apart ? "" : " in turns");
}
