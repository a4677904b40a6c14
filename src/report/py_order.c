#include "report/py_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* A natural merge sort with galloping: ascending (or strictly descending) runs are found, short ones are
 * filled up by binary insertion, and neighbours are merged in the order of their "power", the depth of their
 * border in a nearly optimal merge tree (J. Munro and S. Wild, "Nearly-Optimal Mergesorts", 2018). The order
 * of comparisons is that of CPython 3.11, described in its Objects/listsort.txt. Only `<` is used. */

#define MIN_GALLOP 7
#define MAX_RUNS   64 /* powers on the stack ascend and stay below 34 for 32-bit lengths */

struct item {
    double key;
    uint32_t index;
};

struct run {
    size_t at, n;
    int power; /* of the border to the next run */
};

struct sorter {
    struct item *item, *spare; /* spare: buffer for half of the array */
    size_t total;
    size_t gallop; /* consecutive wins that start galloping */
    struct run run[MAX_RUNS];
    unsigned n_run;
};

/* ---- runs ------------------------------------------------------------------------------------------------
 */

static bool item_less(const struct item *a, const struct item *b)
{
    return a->key < b->key;
}

static void reverse(struct item *a, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct item t = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = t;
    }
}

/* Length of the run at the start of a[0..n), made ascending. */
static size_t take_run(struct item *a, size_t n)
{
    if (n < 2)
        return n;
    size_t i = 2;
    bool down = item_less(&a[1], &a[0]);
    while (i < n && item_less(&a[i], &a[i - 1]) == down)
        i++;
    if (down)
        reverse(a, i);
    return i;
}

/* a[0..sorted) is sorted: inserts the rest by binary insertion. */
static void insert_rest(struct item *a, size_t n, size_t sorted)
{
    for (size_t i = sorted ? sorted : 1; i < n; i++) {
        struct item pivot = a[i];
        size_t lo = 0, hi = i;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (item_less(&pivot, &a[mid]))
                hi = mid;
            else
                lo = mid + 1;
        }
        memmove(&a[lo + 1], &a[lo], (i - lo) * sizeof(*a));
        a[lo] = pivot;
    }
}

static size_t shortest_run(size_t n)
{
    size_t odd = 0;
    for (; n >= 64; n >>= 1)
        odd |= n & 1;
    return n + odd;
}

/* ---- galloping -------------------------------------------------------------------------------------------
 */

/* Whether a[i] is left of the position of the key. Equal items are left of it only when searching for the
 * right end. */
static bool is_left(const struct item *a, size_t i, const struct item *key, bool right_end)
{
    return right_end ? !item_less(key, &a[i]) : item_less(&a[i], key);
}

/* Number of items of a[0..n) before the key: exponential search from `hint` in steps 1, 3, 7, ... */
static size_t gallop(const struct item *key, const struct item *a, size_t n, size_t hint, bool right_end)
{
    size_t step = 1, done = 0, lo, hi;
    bool up = is_left(a, hint, key, right_end);
    size_t most = up ? n - hint : hint + 1;
    while (step < most && is_left(a, up ? hint + step : hint - step, key, right_end) == up) {
        done = step;
        step = step * 2 + 1;
    }
    step = step < most ? step : most;
    lo = up ? hint + done + 1 : hint + 1 - step;
    hi = up ? hint + step : hint - done;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (is_left(a, mid, key, right_end))
            lo = mid + 1;
        else
            hi = mid;
    }
    return hi;
}

/* ---- merging ---------------------------------------------------------------------------------------------
 */

/* State of a merge. Upwards: the first run was moved to the spare buffer and the output starts at its place;
 * downwards: the second run was moved, the output starts at the end, and everything is mirrored. */
struct merge {
    struct item *a, *b, *out; /* rest of the two runs: a[0..na), b[0..nb) */
    size_t na, nb;
};

static void take_a_up(struct merge *m, size_t k)
{
    memmove(m->out, m->a, k * sizeof(*m->a));
    m->out += k;
    m->a += k;
    m->na -= k;
}

static void take_b_up(struct merge *m, size_t k)
{
    memmove(m->out, m->b, k * sizeof(*m->b));
    m->out += k;
    m->b += k;
    m->nb -= k;
}

/* Downwards, `out` points after the next free place. */
static void take_a_down(struct merge *m, size_t k)
{
    m->na -= k;
    m->out -= k;
    memmove(m->out, m->a + m->na, k * sizeof(*m->a));
}

static void take_b_down(struct merge *m, size_t k)
{
    m->nb -= k;
    m->out -= k;
    memmove(m->out, m->b + m->nb, k * sizeof(*m->b));
}

/* Merges one by one until one side wins `gallop` times in a row. False: finished. */
static bool step_up(struct sorter *s, struct merge *m)
{
    size_t won_a = 0, won_b = 0;
    while (won_a < s->gallop && won_b < s->gallop) {
        if (item_less(m->b, m->a)) {
            take_b_up(m, 1);
            won_b++;
            won_a = 0;
            if (m->nb == 0)
                return false;
        } else {
            take_a_up(m, 1);
            won_a++;
            won_b = 0;
            if (m->na == 1)
                return false;
        }
    }
    return true;
}

static bool step_down(struct sorter *s, struct merge *m)
{
    size_t won_a = 0, won_b = 0;
    while (won_a < s->gallop && won_b < s->gallop) {
        if (item_less(&m->b[m->nb - 1], &m->a[m->na - 1])) {
            take_a_down(m, 1);
            won_a++;
            won_b = 0;
            if (m->na == 0)
                return false;
        } else {
            take_b_down(m, 1);
            won_b++;
            won_a = 0;
            if (m->nb == 1)
                return false;
        }
    }
    return true;
}

/* Gallops: moves whole stretches while that pays off. False: finished. */
static bool gallop_up(struct sorter *s, struct merge *m)
{
    size_t from_a, from_b;
    s->gallop++;
    do {
        s->gallop -= s->gallop > 1;
        from_a = gallop(m->b, m->a, m->na, 0, true);
        take_a_up(m, from_a);
        if (from_a && m->na <= 1)
            return false;
        take_b_up(m, 1);
        if (m->nb == 0)
            return false;
        from_b = gallop(m->a, m->b, m->nb, 0, false);
        take_b_up(m, from_b);
        if (from_b && m->nb == 0)
            return false;
        take_a_up(m, 1);
        if (m->na == 1)
            return false;
    } while (from_a >= MIN_GALLOP || from_b >= MIN_GALLOP);
    s->gallop++;
    return true;
}

static bool gallop_down(struct sorter *s, struct merge *m)
{
    size_t from_a, from_b;
    s->gallop++;
    do {
        s->gallop -= s->gallop > 1;
        from_a = m->na - gallop(&m->b[m->nb - 1], m->a, m->na, m->na - 1, true);
        take_a_down(m, from_a);
        if (from_a && m->na == 0)
            return false;
        take_b_down(m, 1);
        if (m->nb == 1)
            return false;
        from_b = m->nb - gallop(&m->a[m->na - 1], m->b, m->nb, m->nb - 1, false);
        take_b_down(m, from_b);
        if (from_b && m->nb <= 1)
            return false;
        take_a_down(m, 1);
        if (m->na == 0)
            return false;
    } while (from_a >= MIN_GALLOP || from_b >= MIN_GALLOP);
    s->gallop++;
    return true;
}

/* na <= nb. The last item of a belongs after all of b. */
static void merge_up(struct sorter *s, struct item *a, size_t na, struct item *b, size_t nb)
{
    memcpy(s->spare, a, na * sizeof(*a));
    struct merge m = {.a = s->spare, .b = b, .out = a, .na = na, .nb = nb};
    take_b_up(&m, 1);
    if (m.nb > 0 && m.na > 1)
        while (step_up(s, &m) && gallop_up(s, &m))
            ;
    if (m.nb > 0)
        take_b_up(&m, m.nb);
    take_a_up(&m, m.na);
}

/* na > nb. The first item of b belongs before all of a. */
static void merge_down(struct sorter *s, struct item *a, size_t na, struct item *b, size_t nb)
{
    memcpy(s->spare, b, nb * sizeof(*b));
    struct merge m = {.a = a, .b = s->spare, .out = b + nb, .na = na, .nb = nb};
    take_a_down(&m, 1);
    if (m.na > 0 && m.nb > 1)
        while (step_down(s, &m) && gallop_down(s, &m))
            ;
    if (m.na > 0)
        take_a_down(&m, m.na);
    take_b_down(&m, m.nb);
}

static void merge_at(struct sorter *s, unsigned i)
{
    struct item *a = s->item + s->run[i].at, *b = s->item + s->run[i + 1].at;
    size_t na = s->run[i].n, nb = s->run[i + 1].n;
    s->run[i].n += nb;
    memmove(&s->run[i + 1], &s->run[i + 2], (s->n_run - i - 2) * sizeof(s->run[0]));
    s->n_run--;
    size_t settled = gallop(b, a, na, 0, true);
    a += settled;
    na -= settled;
    if (na == 0)
        return;
    nb = gallop(&a[na - 1], b, nb, nb - 1, false);
    if (nb == 0)
        return;
    if (na <= nb)
        merge_up(s, a, na, b, nb);
    else
        merge_down(s, a, na, b, nb);
}

/* ---- the order of merges ---------------------------------------------------------------------------------
 */

/* Power of a border: number of leading bits, plus one, that the midpoints of two neighbouring runs have in
 * common as fractions of the whole. */
static int border_power(size_t at, size_t n, size_t next, size_t total)
{
    size_t a = 2 * at + n, b = a + n + next;
    int power = 1;
    for (;; power++) {
        if (a >= total) {
            a -= total;
            b -= total;
        } else if (b >= total) {
            return power;
        }
        a *= 2;
        b *= 2;
    }
}

static void push_run(struct sorter *s, size_t at, size_t n)
{
    if (s->n_run) {
        const struct run *last = &s->run[s->n_run - 1];
        int power = border_power(last->at, last->n, n, s->total);
        while (s->n_run > 1 && s->run[s->n_run - 2].power > power)
            merge_at(s, s->n_run - 2);
        s->run[s->n_run - 1].power = power;
    }
    s->run[s->n_run++] = (struct run){.at = at, .n = n};
}

static void merge_all(struct sorter *s)
{
    while (s->n_run > 1) {
        unsigned i = s->n_run - 2;
        if (i > 0 && s->run[i - 1].n < s->run[i + 1].n)
            i--;
        merge_at(s, i);
    }
}

static void sort(struct item *item, size_t n)
{
    struct sorter s = {.item = item, .total = n, .gallop = MIN_GALLOP};
    s.spare = oc_xmalloc((n / 2 + 1) * sizeof(*s.spare));
    size_t least = shortest_run(n);
    for (size_t at = 0; at < n;) {
        size_t left = n - at, run = take_run(item + at, left);
        if (run < least) {
            size_t want = left < least ? left : least;
            insert_rest(item + at, want, run);
            run = want;
        }
        push_run(&s, at, run);
        at += run;
    }
    merge_all(&s);
    free(s.spare);
}

void oc_order_by(const double *key, uint32_t n, uint32_t *order)
{
    struct item *item = oc_xmalloc(((size_t)n + 1) * sizeof(*item));
    for (uint32_t i = 0; i < n; i++)
        item[i] = (struct item){key[i], i};
    sort(item, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = item[i].index;
    free(item);
}
