/* Pauses in a sequence of work: the longest of each segment, and whether those separate runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "profile/core/run_fold.h"
#include "profile/core/run_spread.h"

enum { MIN_RUNS = 3 };
#define CLEAR_PAUSE 2.5 /* times the second longest pause of the run */
#define MOST        0.8 /* of the runs */
#define LONGER      3.0 /* times the median: a pause of a higher level */

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
    bool same_place = (double)p->same >= MOST * (double)p->n || (p->n >= 4 && p->same + 1 == p->n);
    return p->n >= 2 && same_place && oc_fold_median(p->ratio, p->n) >= CLEAR_PAUSE;
}

struct oc_fold_long_pauses oc_fold_find_long_pauses(const struct oc_fold_pauses *p, size_t spacing)
{
    struct oc_fold_long_pauses x = {0};
    double median = p->n ? oc_fold_median(p->ns, p->n) : 0;
    size_t last = 0, same = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!(p->ns[i] > LONGER * median && p->ns[i] > 0))
            continue;
        size_t segments = (p->at[i] - last + spacing / 2) / spacing;
        if (x.n == 1)
            x.every = segments;
        same += x.n && segments == x.every;
        last = p->at[i];
        x.n++;
    }
    x.doubtful = x.n >= MIN_RUNS && x.every >= 2 && 2 * same >= x.n - 1;
    bool regular = x.n >= MIN_RUNS && x.every >= 2 && (double)same >= MOST * (double)(x.n - 1) &&
                   x.n * x.every * 10 >= p->n * 7;
    x.every = regular ? x.every : 0;
    return x;
}
