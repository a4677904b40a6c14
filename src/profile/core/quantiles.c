#include "profile/core/quantiles.h"

#include <string.h>

#include "profile/profile.h"

enum { FEW = 64, BUCKET_BITS = 8, BUCKETS = 1 << BUCKET_BITS, LARGEST = 8 };

/* Order-preserving map to integers, with nearly equal steps for equal ratios. */
static inline uint64_t quantiles_key_of(double v)
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
static void quantiles_find(double *v, size_t n, double *scratch, size_t base, const struct wanted *w)
{
    uint64_t low = UINT64_MAX, high = 0;
    size_t end[BUCKETS] = {0}, at = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < n && n > FEW; i++) {
        uint64_t key = quantiles_key_of(v[i]);
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
        end[(quantiles_key_of(v[i]) - low) >> shift]++;
    for (unsigned b = 0; b < BUCKETS; b++) {
        size_t count = end[b];
        end[b] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        scratch[end[(quantiles_key_of(v[i]) - low) >> shift]++] = v[i];
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
        quantiles_find(scratch + from, end[b] - from, v + from, base + from, &in);
    }
}

static void request_rank(struct wanted *w, size_t rank, double *value)
{
    w->rank[w->n] = rank;
    w->value[w->n++] = value;
}

/* As oc_percentile_of. */
static double quantiles_between(double at, const double *value)
{
    return value[0] + (at - (double)(size_t)at) * (value[1] - value[0]);
}

double oc_median_of(double *v, size_t n, double *scratch)
{
    double a, b;
    struct wanted w = {.n = 0};
    request_rank(&w, n % 2 ? n / 2 : n / 2 - 1, &a);
    request_rank(&w, n / 2, &b);
    quantiles_find(v, n, scratch, 0, &w);
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
    quantiles_find(v, n, scratch, 0, &w);
    out->p10 = quantiles_between(at10, tenth);
    out->median = n % 2 ? middle[1] : (middle[0] + middle[1]) / 2;
    out->p90 = quantiles_between(at90, ninetieth);
}
