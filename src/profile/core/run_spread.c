/* Quantiles of runs and their spread; pauses between runs. */
#include "profile/core/run_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "profile/core/run_fold.h"
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
    *out = (struct oc_run_spread){.min_ns = none,
                                  .p25_ns = none,
                                  .median_ns = none,
                                  .p75_ns = none,
                                  .max_ns = none,
                                  .half_low_ns = none,
                                  .half_high_ns = none,
                                  .typical_ns = none,
                                  .low_ns = none,
                                  .high_ns = none};
    if (!n)
        return;
    out->n = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    out->median_ns = oc_stat_of(OC_STAT_MEDIAN, ns, n); /* sorts */
    out->min_ns = ns[0];
    out->p25_ns = oc_percentile_of(ns, n, 0.25);
    out->p75_ns = oc_percentile_of(ns, n, 0.75);
    out->max_ns = ns[n - 1];
    out->typical_ns = oc_stat_of(OC_STAT_TYPICAL, ns, n);
    out->half_low_ns = ns[n / 4];
    out->half_high_ns = ns[n - n / 4 - 1];
    run_spread_set_interval(ns, n, out);
    double range = out->p75_ns - out->p25_ns;
    for (size_t i = 0; i < n; i++)
        out->outliers += ns[i] < out->p25_ns - FENCE * range || ns[i] > out->p75_ns + FENCE * range;
}

double oc_run_spread_share(const struct oc_run_spread *s)
{
    if (s->n < 2 || !(s->median_ns > 0))
        return (double)NAN;
    return s->n < OC_LEAST_FOR_SPREAD ? OC_ASSUMED_SPREAD : (s->half_high_ns - s->half_low_ns) / s->median_ns;
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
    if (wanted != OC_STAT_TYPICAL)
        oc_diag_add(
            diags, OC_WARNING, "W-shapes-stat", "",
            "the runs have %u different sets of shapes: times and work are means over the runs, not %s",
            s->shapes, oc_stat_name(wanted));
    return OC_STAT_MEAN;
}

enum oc_stat oc_run_spread_stat(const struct oc_run_spread *s, enum oc_stat wanted, struct oc_diags *diags)
{
    if (s->shapes > 1)
        return stat_of_shapes(s, wanted, diags);
    if (oc_run_spread_noisy(s))
        oc_diag_add(
            diags, OC_WARNING, "W-noisy-runs", "",
            "noisy measurement: the central half of %u runs spreads over %.0f %% of the median (limit "
            "%.0f %%); measure again on an idle machine",
            s->n, 100 * oc_run_spread_share(s), 100 * OC_NOISY_SPREAD);
    return wanted;
}

/* Without profiling the 25 of 54 recordings of ONNX Runtime 1.30 below 20 us were 1.4 to 12 times as fast. */
void oc_run_spread_warn_short(const struct oc_run_spread *s, double operators, struct oc_diags *diags)
{
    double us = s->median_ns / 1e3;
    if (s->n && operators >= 1 && us < 20 * operators)
        oc_diag_add(
            diags, OC_WARNING, "W-short-operators", "",
            "a run takes %.1f us for each of its %.0f operator%s, of which profiling is a part (5 to 9 us "
            "in measurements): without profiling it is faster; onnxcost record measures both",
            us / operators, operators, operators > 1 ? "s" : "");
}

void oc_run_sums_init(struct oc_run_sums *s, size_t n_run)
{
    *s = (struct oc_run_sums){.sum = oc_xcalloc(n_run, sizeof(double)),
                              .value = oc_xcalloc(n_run, sizeof(double)),
                              .scratch = oc_xcalloc(n_run, sizeof(double)),
                              .touched = oc_xcalloc(n_run, sizeof(uint32_t)),
                              .seen = oc_xcalloc(n_run, 1)};
}

void oc_run_sums_free(struct oc_run_sums *s)
{
    free(s->sum);
    free(s->value);
    free(s->scratch);
    free(s->touched);
    free(s->seen);
}

void oc_run_sums_clear(struct oc_run_sums *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->seen[s->touched[i]] = 0;
    s->n = 0;
}

static void collect_runs(struct oc_run_sums *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->value[i] = s->sum[s->touched[i]];
}

struct timed_run {
    double ns;
    uint32_t at; /* in the list of used runs */
};

static int by_run_time(const void *a, const void *b)
{
    const struct timed_run *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The part [*from, *to) of n runs in the order of their times. */
static void range_of_stat(enum oc_stat stat, uint32_t n, uint32_t *from, uint32_t *to)
{
    uint32_t drop = stat == OC_STAT_TYPICAL ? n / 4 : stat == OC_STAT_MEDIAN ? (n - 1) / 2 : 0;
    *from = stat == OC_STAT_MAX ? n - 1 : drop;
    *to = stat == OC_STAT_MIN ? 1 : n - drop;
}

void oc_run_choice_make(struct oc_run_choice *c, enum oc_stat stat, const double *run_ns, const uint32_t *id,
                        uint32_t n, size_t n_run)
{
    uint32_t from = 0, to = 0;
    struct timed_run *v = oc_xmalloc(((size_t)n + 1) * sizeof(*v));
    *c = (struct oc_run_choice){.in = oc_xcalloc(n_run + 1, 1)};
    for (uint32_t i = 0; i < n; i++)
        v[i] = (struct timed_run){run_ns[i], i};
    if (n) {
        qsort(v, n, sizeof(*v), by_run_time);
        range_of_stat(stat, n, &from, &to);
    }
    for (uint32_t i = from; i < to; i++)
        c->in[id[v[i].at]] = 1;
    c->n = to - from;
    c->divisor = stat == OC_STAT_SUM || !c->n ? 1 : c->n;
    free(v);
}

void oc_run_choice_free(struct oc_run_choice *c)
{
    free(c->in);
    *c = (struct oc_run_choice){0};
}

void oc_run_sums_choose(struct oc_run_sums *s, enum oc_stat stat, size_t n_run, struct oc_run_choice *c)
{
    collect_runs(s);
    oc_run_choice_make(c, stat, s->value, s->touched, s->n, n_run);
}

double oc_run_sums_stat(const struct oc_run_sums *s, const struct oc_run_choice *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += c->in[s->touched[i]] ? s->sum[s->touched[i]] : 0;
    return s->n ? sum / c->divisor : (double)NAN;
}

/* The standard error of that mean, scaled as it is. A run without a value counts 0. */
static double error_of_stat(const struct oc_run_sums *s, const struct oc_run_choice *c)
{
    double mean = oc_run_sums_stat(s, c) * c->divisor / c->n, squares = 0;
    uint32_t with = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (c->in[s->touched[i]]) {
            squares += (s->sum[s->touched[i]] - mean) * (s->sum[s->touched[i]] - mean);
            with++;
        }
    squares += (c->n - with) * mean * mean;
    return c->n > 1 ? sqrt(squares / (c->n - 1) / c->n) * c->n / c->divisor : 0;
}

void oc_run_sums_quantiles(struct oc_run_sums *s, struct oc_prof_rec *rec)
{
    struct oc_quantiles q;
    rec->median_ns = (double)NAN;
    if (!s->n)
        return;
    collect_runs(s);
    oc_quantiles_of(s->value, s->n, s->scratch, &q);
    rec->min_ns = q.min;
    rec->p10_ns = q.p10;
    rec->median_ns = q.median;
    rec->p90_ns = q.p90;
    rec->max_ns = q.max;
}

void oc_run_sums_store(struct oc_run_sums *s, const struct oc_run_choice *c, struct oc_prof_rec *rec)
{
    rec->runs = s->n;
    oc_run_sums_quantiles(s, rec);
    if (s->n)
        rec->time_ns = oc_run_sums_stat(s, c);
    rec->error_ns = s->n ? error_of_stat(s, c) : 0;
}

void oc_run_sums_spread(struct oc_run_sums *s, struct oc_run_spread *out)
{
    collect_runs(s);
    oc_run_spread_of(s->value, s->n, out);
}

double oc_run_sums_total(const struct oc_run_sums *s)
{
    double total_ns = 0;
    for (uint32_t i = 0; i < s->n; i++)
        total_ns += s->sum[s->touched[i]];
    return total_ns;
}

enum { FEW = 64, BUCKET_BITS = 8, BUCKETS = 1 << BUCKET_BITS, LARGEST = 8 };

/* Order-preserving map to integers, with nearly equal steps for equal ratios. */
static inline uint64_t key_of(double v)
{
    uint64_t bits;
    v += 0.0; /* -0 is 0 */
    memcpy(&bits, &v, sizeof(bits));
    return bits ^ (bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
}

void oc_sort_few(double *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double moved = v[i];
        size_t k = i;
        for (; k > 0 && moved < v[k - 1]; k--)
            v[k] = v[k - 1];
        v[k] = moved;
    }
}

/* Ranks ascend and count from the first of all values; v holds the values from rank `base` on. */
struct wanted {
    size_t rank[LARGEST];
    double *value[LARGEST];
    size_t n;
};

/* Radix selection: distributes the values to buckets by the leading bits in which they differ and recurses
 * only into buckets with a requested rank. Each level fixes eight bits. */
static void find_quantiles(double *v, size_t n, double *scratch, size_t base, const struct wanted *w)
{
    uint64_t low = UINT64_MAX, high = 0;
    size_t end[BUCKETS] = {0}, at = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < n && n > FEW; i++) {
        uint64_t key = key_of(v[i]);
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    if (n <= FEW || low == high) {
        oc_sort_few(v, n <= FEW ? n : 0);
        for (size_t i = 0; i < w->n; i++)
            *w->value[i] = v[w->rank[i] - base];
        return;
    }
    while ((high - low) >> shift >= BUCKETS)
        shift++;
    for (size_t i = 0; i < n; i++)
        end[(key_of(v[i]) - low) >> shift]++;
    for (unsigned b = 0; b < BUCKETS; b++) {
        size_t count = end[b];
        end[b] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        scratch[end[(key_of(v[i]) - low) >> shift]++] = v[i];
    unsigned b = 0;
    for (size_t i = 0; i < w->n;) {
        struct wanted in = {.n = 0};
        while (base + end[b] <= w->rank[i])
            b++;
        for (; i < w->n && w->rank[i] < base + end[b]; i++) {
            in.rank[in.n] = w->rank[i];
            in.value[in.n++] = w->value[i];
        }
        size_t from = b ? end[b - 1] : 0;
        find_quantiles(scratch + from, end[b] - from, v + from, base + from, &in);
    }
}

static void request_rank(struct wanted *w, size_t rank, double *value)
{
    w->rank[w->n] = rank;
    w->value[w->n++] = value;
}

/* As oc_percentile_of. */
static double between_values(double at, const double *value)
{
    return value[0] + (at - (double)(size_t)at) * (value[1] - value[0]);
}

double oc_median_of(double *v, size_t n, double *scratch)
{
    double a, b;
    struct wanted w = {.n = 0};
    request_rank(&w, n % 2 ? n / 2 : n / 2 - 1, &a);
    request_rank(&w, n / 2, &b);
    find_quantiles(v, n, scratch, 0, &w);
    return n % 2 ? b : (a + b) / 2;
}

void oc_quantiles_of(double *v, size_t n, double *scratch, struct oc_quantiles *out)
{
    double tenth[2], ninetieth[2], middle[2];
    double at10 = 0.1 * (double)(n - 1), at90 = 0.9 * (double)(n - 1);
    struct wanted w = {.n = 0};
    if (n <= FEW) {
        oc_sort_few(v, n);
        *out = (struct oc_quantiles){v[0], oc_percentile_of(v, n, 0.1),
                                     n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2,
                                     oc_percentile_of(v, n, 0.9), v[n - 1]};
        return;
    }
    request_rank(&w, 0, &out->min);
    request_rank(&w, (size_t)at10, &tenth[0]);
    request_rank(&w, (size_t)at10 + 1, &tenth[1]);
    request_rank(&w, n % 2 ? n / 2 : n / 2 - 1, &middle[0]);
    request_rank(&w, n / 2, &middle[1]);
    request_rank(&w, (size_t)at90, &ninetieth[0]);
    request_rank(&w, (size_t)at90 + 1, &ninetieth[1]);
    request_rank(&w, n - 1, &out->max);
    find_quantiles(v, n, scratch, 0, &w);
    out->p10 = between_values(at10, tenth);
    out->median = n % 2 ? middle[1] : (middle[0] + middle[1]) / 2;
    out->p90 = between_values(at90, ninetieth);
}

bool oc_machine_is_loaded(const struct oc_prof_machine *m)
{
    return oc_is_slowed(m->probe_ns, m->probe_fastest_ns) ||
           (m->processors > 0 && m->threads + m->others > m->processors + OC_SPARE_PROCESSORS);
}

/* ---- pauses ------------------------------------------------------------------------------------------- */

/* Pauses in a sequence of work: the longest of each segment, and whether those separate runs. */

#define CLEAR_PAUSE 2.5 /* times the second longest pause of the run */

void oc_fold_find_gaps(struct oc_folding *f)
{
    double reached = -(double)INFINITY;
    for (size_t i = 0; i < f->in->n; i++) {
        double gap = f->in->start_ns[i] - reached;
        f->gap[i] = gap > 0 && isfinite(gap) ? gap : 0;
        reached = fmax(reached, f->in->end_ns[i]);
    }
}

void oc_fold_free_pauses(struct oc_fold_pauses *p)
{
    free(p->at);
    free(p->ns);
    free(p->ratio);
}

void oc_fold_find_pauses(const struct oc_folding *f, const struct oc_fold_level *l, struct oc_fold_pauses *p)
{
    const uint32_t *v = f->in->symbol;
    *p = (struct oc_fold_pauses){.at = oc_xmalloc(l->n * sizeof(*p->at)),
                                 .ns = oc_xmalloc(l->n * sizeof(*p->ns)),
                                 .ratio = oc_xmalloc(l->n * sizeof(*p->ratio))};
    size_t votes = 0;
    for (size_t j = 1; j < l->n; j++) {
        size_t best = l->at[j];
        double second = 0;
        if (l->at[j] - l->at[j - 1] > 2 * l->spacing)
            continue;
        for (size_t i = l->at[j - 1] + 1; i <= l->at[j]; i++)
            best = f->gap[i] > f->gap[best] ? i : best;
        for (size_t i = l->at[j - 1] + 1; i <= l->at[j]; i++)
            second = i != best && f->gap[i] > second ? f->gap[i] : second;
        p->at[p->n] = best;
        p->ns[p->n] = f->gap[best];
        p->ratio[p->n++] = f->gap[best] / (second > 0 ? second : 1e-3);
        if (!votes) {
            p->before = v[best - 1];
            p->after = v[best];
        }
        votes = votes == 0 || (p->before == v[best - 1] && p->after == v[best]) ? votes + 1 : votes - 1;
    }
    for (size_t i = 0; i < p->n; i++)
        p->same += v[p->at[i] - 1] == p->before || v[p->at[i]] == p->after; /* one may be missing */
}

double oc_fold_median(const double *v, size_t n)
{
    double *copy = oc_xmalloc(2 * n * sizeof(*copy));
    memcpy(copy, v, n * sizeof(*copy));
    double median = oc_median_of(copy, n, copy + n);
    free(copy);
    return median;
}

/* A pause that is the longest in most segments, by far, and always at the same place. */
bool oc_fold_is_clear(const struct oc_fold_pauses *p)
{
    bool same_place = (double)p->same >= OC_FOLD_MOST * (double)p->n || (p->n >= 4 && p->same + 1 == p->n);
    return p->n >= 2 && same_place && oc_fold_median(p->ratio, p->n) >= CLEAR_PAUSE;
}

struct oc_fold_long_pauses oc_fold_find_long_pauses(const struct oc_fold_pauses *p, size_t spacing)
{
    struct oc_fold_long_pauses x = {0};
    double median = p->n ? oc_fold_median(p->ns, p->n) : 0;
    size_t last = 0, same = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!(p->ns[i] > OC_FOLD_LONGER * median && p->ns[i] > 0))
            continue;
        size_t segments = (p->at[i] - last + spacing / 2) / spacing;
        if (x.n == 1)
            x.every = segments;
        same += x.n && segments == x.every;
        last = p->at[i];
        x.n++;
    }
    x.doubtful = x.n >= OC_FOLD_MIN_RUNS && x.every >= 2 && 2 * same >= x.n - 1;
    bool regular = x.n >= OC_FOLD_MIN_RUNS && x.every >= 2 &&
                   (double)same >= OC_FOLD_MOST * (double)(x.n - 1) && x.n * x.every * 10 >= p->n * 7;
    x.every = regular ? x.every : 0;
    return x;
}
