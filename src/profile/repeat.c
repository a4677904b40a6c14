#include "profile/repeat.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define CANDIDATES 8
#define LOOK_AT    ((size_t)1 << 20) /* number of elements that candidates are taken from */

/* Candidate periods: the most frequent distances from an element to its next occurrence. In a loop,
 * elements that occur once per iteration are one period apart. */
static size_t candidates(const uint32_t *v, size_t n, size_t *out)
{
    uint32_t top = 0;
    for (size_t i = 0; i < n; i++)
        top = v[i] > top ? v[i] : top;
    if (top >= n) /* elements are numbered from 0 in order of appearance */
        return 0;
    uint32_t *last = oc_xmalloc(((size_t)top + 1) * sizeof(*last)), *votes = calloc(n + 1, sizeof(*votes));
    if (!votes)
        oc_out_of_memory(n);
    memset(last, 0xff, ((size_t)top + 1) * sizeof(*last));
    for (size_t i = 0; i < n; i++) {
        if (last[v[i]] != UINT32_MAX)
            votes[i - last[v[i]]]++;
        last[v[i]] = (uint32_t)i;
    }
    size_t n_out = 0;
    for (; n_out < CANDIDATES; n_out++) {
        size_t best = 0;
        for (size_t d = 1; d <= n; d++)
            best = votes[d] > votes[best] ? d : best;
        if (!votes[best])
            break;
        votes[best] = 0;
        out[n_out] = best;
    }
    free(last);
    free(votes);
    return n_out;
}

/* Longest stretch with v[i] == v[i + period]; its length includes the last period. */
static size_t stretch(const uint32_t *v, size_t n, size_t period, size_t *first)
{
    size_t best = 0, from = 0;
    for (size_t i = period; i <= n; i++) {
        if (i < n && v[i] == v[i - period])
            continue;
        size_t len = i - period - from;
        if (len > best) {
            best = len;
            *first = from;
        }
        from = i - period + 1;
    }
    return best ? best + period : 0;
}

bool oc_find_repeat(const uint32_t *v, size_t n, struct oc_repeat *out)
{
    size_t period[CANDIDATES], found = 0, first = 0;
    size_t k = n < 2 ? 0 : candidates(v, n < LOOK_AT ? n : LOOK_AT, period);
    for (size_t i = 0; i < k; i++) {
        size_t at = 0, len = stretch(v, n, period[i], &at);
        /* a multiple of the period covers no more than the period itself */
        bool better = len > found || (len + out->period >= found && period[i] < out->period);
        if (len < 2 * period[i] || !better)
            continue;
        found = len;
        first = at;
        out->period = period[i];
    }
    if (2 * found < n || !found || (out->period == 1 && 10 * found < 9 * n))
        return false;
    out->first = first;
    out->count = found / out->period;
    out->rest = found % out->period;
    return true;
}
