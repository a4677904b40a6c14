#include "gate/lcs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MAX_CELLS = 1 << 18, ALL_CELLS = 1 << 22, MAX_DEPTH = 48 };

/* Longest increasing subsequence by patience sorting; each element links to the top of the previous pile. */
void oc_ascending(const uint32_t *value, uint32_t n, uint8_t *keep)
{
    uint32_t *top = oc_xmalloc(((size_t)n + 1) * sizeof(*top)),
             *before = oc_xmalloc(((size_t)n + 1) * sizeof(*before));
    uint32_t piles = 0;
    memset(keep, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lo = 0, hi = piles;
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (value[top[mid]] < value[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        before[i] = lo ? top[lo - 1] : UINT32_MAX;
        top[lo] = i;
        piles += lo == piles;
    }
    for (uint32_t i = piles ? top[piles - 1] : UINT32_MAX; i != UINT32_MAX; i = before[i])
        keep[i] = 1;
    free(top);
    free(before);
}

/* ---- one range of both sequences -------------------------------------------------------------------- */

struct range {
    uint32_t a, a_end, b, b_end;
    unsigned depth;
};

struct lcs {
    const uint64_t *a, *b;
    oc_lcs_fn tell;
    void *user;
    size_t cells; /* budget for exact tables */
    struct range *todo;
    size_t n, cap;
};

static void lcs_push(struct lcs *x, struct range r)
{
    OC_GROW(x->todo, x->n, x->cap);
    x->todo[x->n++] = r;
}

static void trim(struct lcs *x, struct range *r)
{
    while (r->a < r->a_end && r->b < r->b_end && x->a[r->a] == x->b[r->b])
        x->tell(x->user, r->a++, r->b++);
    while (r->a < r->a_end && r->b < r->b_end && x->a[r->a_end - 1] == x->b[r->b_end - 1])
        x->tell(x->user, --r->a_end, --r->b_end);
}

/* Dynamic programming from the ends with two rows of lengths and a byte of direction per cell. */
static void lcs_exact(struct lcs *x, const struct range *r)
{
    uint32_t n = r->a_end - r->a, m = r->b_end - r->b, i = 0, j = 0;
    uint32_t *below = oc_xmalloc(((size_t)m + 1) * sizeof(*below)),
             *row = oc_xmalloc(((size_t)m + 1) * sizeof(*row));
    uint8_t *step = oc_xmalloc((size_t)n * m);
    memset(below, 0, ((size_t)m + 1) * sizeof(*below));
    for (uint32_t k = n; k-- > 0;) {
        row[m] = 0;
        for (uint32_t l = m; l-- > 0;) {
            bool same = x->a[r->a + k] == x->b[r->b + l];
            row[l] = same ? below[l + 1] + 1 : below[l] >= row[l + 1] ? below[l] : row[l + 1];
            step[(size_t)k * m + l] = same ? 0 : below[l] >= row[l + 1] ? 1 : 2;
        }
        uint32_t *swap = below;
        below = row;
        row = swap;
    }
    while (i < n && j < m) {
        uint8_t s = step[(size_t)i * m + j];
        if (!s)
            x->tell(x->user, r->a + i, r->b + j);
        i += s != 2;
        j += s != 1;
    }
    x->cells -= (size_t)n * m < x->cells ? (size_t)n * m : x->cells;
    free(below);
    free(row);
    free(step);
}

/* ---- long ranges: keys that occur equally often on both sides --------------------------------------- */

struct place {
    uint64_t key;
    uint32_t at;
    bool of_b;
};

static int lcs_by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->of_b != y->of_b)
        return x->of_b - y->of_b;
    return (x->at > y->at) - (x->at < y->at);
}

static struct place *sorted_places(const struct lcs *x, const struct range *r, uint32_t *n)
{
    struct place *p = oc_xmalloc(((size_t)(r->a_end - r->a) + (r->b_end - r->b)) * sizeof(*p));
    *n = 0;
    for (uint32_t i = r->a; i < r->a_end; i++)
        p[(*n)++] = (struct place){x->a[i], i, false};
    for (uint32_t i = r->b; i < r->b_end; i++)
        p[(*n)++] = (struct place){x->b[i], i, true};
    qsort(p, *n, sizeof(*p), lcs_by_key);
    return p;
}

/* partner[i]: candidate position in b for a[i], UINT32_MAX: none. unique: only keys that occur once on
 * each side; otherwise the n-th occurrence on one side pairs with the n-th on the other. */
static uint32_t find_partners(const struct place *p, uint32_t n, uint32_t from, uint32_t *partner,
                              bool unique)
{
    uint32_t found = 0;
    for (uint32_t i = 0, end; i < n; i = end) {
        uint32_t split = i;
        for (end = i; end < n && p[end].key == p[i].key; end++)
            split += !p[end].of_b;
        uint32_t of_a = split - i, of_b = end - split;
        if (!of_a || !of_b || (unique && (of_a > 1 || of_b > 1)))
            continue;
        for (uint32_t k = 0; k < of_a && k < of_b; k++, found++)
            partner[p[i + k].at - from] = p[split + k].at;
    }
    return found;
}

/* Splits the range at the order-preserving pairs. False: there are none. */
static bool lcs_split(struct lcs *x, const struct range *r, const uint32_t *partner, uint32_t found)
{
    uint32_t n = r->a_end - r->a, k = 0;
    uint32_t *at = oc_xmalloc(((size_t)found + 1) * sizeof(*at)),
             *value = oc_xmalloc(((size_t)found + 1) * sizeof(*value));
    uint8_t *keep = oc_xmalloc((size_t)found + 1);
    for (uint32_t i = 0; i < n; i++)
        if (partner[i] != UINT32_MAX) {
            at[k] = r->a + i;
            value[k++] = partner[i];
        }
    oc_ascending(value, k, keep);
    struct range next = {r->a, r->a, r->b, r->b, r->depth + 1};
    for (uint32_t i = 0; i < k; i++) {
        if (!keep[i])
            continue;
        x->tell(x->user, at[i], value[i]);
        next.a_end = at[i];
        next.b_end = value[i];
        lcs_push(x, next);
        next.a = at[i] + 1;
        next.b = value[i] + 1;
    }
    next.a_end = r->a_end;
    next.b_end = r->b_end;
    if (k)
        lcs_push(x, next);
    free(at);
    free(value);
    free(keep);
    return k > 0;
}

static bool lcs_divide(struct lcs *x, const struct range *r, bool unique)
{
    uint32_t n_place, n = r->a_end - r->a;
    uint32_t *partner = oc_xmalloc((size_t)n * sizeof(*partner));
    struct place *p = sorted_places(x, r, &n_place);
    memset(partner, 0xff, (size_t)n * sizeof(*partner));
    uint32_t found = find_partners(p, n_place, r->a, partner, unique);
    bool any = found && lcs_split(x, r, partner, found);
    free(p);
    free(partner);
    return any;
}

static void lcs_solve(struct lcs *x, struct range r)
{
    trim(x, &r);
    size_t cells = (size_t)(r.a_end - r.a) * (r.b_end - r.b);
    if (!cells)
        return;
    if (cells <= 4096 || (r.depth && cells <= MAX_CELLS && cells <= x->cells)) {
        lcs_exact(x, &r);
        return;
    }
    if (r.depth < MAX_DEPTH && lcs_divide(x, &r, true))
        return;
    if (cells <= MAX_CELLS && cells <= x->cells)
        lcs_exact(x, &r);
    else if (r.depth < MAX_DEPTH)
        lcs_divide(x, &r, false);
}

void oc_lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, oc_lcs_fn tell, void *user)
{
    struct lcs x = {.a = a, .b = b, .tell = tell, .user = user, .cells = ALL_CELLS};
    lcs_push(&x, (struct range){0, n, 0, m, 0});
    while (x.n)
        lcs_solve(&x, x.todo[--x.n]);
    free(x.todo);
}
