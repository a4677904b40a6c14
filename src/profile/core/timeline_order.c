/* Order of a timeline and what follows from it: sorting, linking and nesting, all in place, because a trace of
 * gigabytes has no room for copies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost/profile.h"
#include "profile/core/timeline.h"

enum { SMALL = 24, UNEVEN = 1024, MAX_LOOK = 64, NEAR = 8 };

#define SLACK_NS 1000.0 /* tools that truncate to microseconds let a child end after its parent */

/* ---- sorting ---------------------------------------------------------------------------------------- */

/* The number that an event was added with. */
static uint64_t timeline_order_number_of(const struct oc_event *e, bool launch)
{
    uint64_t v;
    memcpy(&v, &e->self_ns, sizeof(v));
    return launch ? v : e->link;
}

/* Equal starts: launches, the only events with a parent before nesting, in the order of the file; others with the
 * outer one first. */
static bool starts_before(const struct oc_event *a, const struct oc_event *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->parent != OC_NONE)
        return timeline_order_number_of(a, true) < timeline_order_number_of(b, true);
    if (a->dur_ns != b->dur_ns)
        return a->dur_ns > b->dur_ns;
    return a->kind == OC_EV_STEP && b->kind != OC_EV_STEP;
}

static void swap(struct oc_event *a, struct oc_event *b)
{
    struct oc_event c = *a;
    *a = *b;
    *b = c;
}

static void insertion_sort(struct oc_event *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct oc_event moved = e[i];
        size_t k = i;
        for (; k > 0 && starts_before(&moved, &e[k - 1]); k--)
            e[k] = e[k - 1];
        e[k] = moved;
    }
}

static void timeline_order_sift(struct oc_event *e, size_t root, size_t n)
{
    struct oc_event moved = e[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && starts_before(&e[child], &e[child + 1]))
            child++;
        if (!starts_before(&moved, &e[child]))
            break;
        e[root] = e[child];
    }
    e[root] = moved;
}

static void timeline_order_heap_sort(struct oc_event *e, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        timeline_order_sift(e, i, n);
    for (size_t i = n; i-- > 1;) {
        swap(&e[0], &e[i]);
        timeline_order_sift(e, 0, i);
    }
}

static const struct oc_event *timeline_order_median(const struct oc_event *a, const struct oc_event *b,
                                                    const struct oc_event *c)
{
    if (starts_before(a, b))
        return starts_before(b, c) ? b : starts_before(a, c) ? c : a;
    return starts_before(a, c) ? a : starts_before(b, c) ? c : b;
}

/* Median of three events, or of three such medians: the ends mislead where sorted tables follow each other. */
static struct oc_event timeline_order_pivot(const struct oc_event *e, size_t n, bool many)
{
    size_t k = n / 8;
    if (!many)
        return *timeline_order_median(&e[0], &e[n / 2], &e[n - 1]);
    return *timeline_order_median(timeline_order_median(&e[0], &e[k], &e[2 * k]),
                                  timeline_order_median(&e[3 * k], &e[n / 2], &e[5 * k]),
                                  timeline_order_median(&e[6 * k], &e[7 * k], &e[n - 1]));
}

/* Introsort: quicksort, heap sort when the recursion gets too deep. uneven: a part was much smaller than the other. */
static void sort(struct oc_event *e, size_t n, unsigned depth, bool uneven)
{
    while (n > SMALL) {
        if (!depth--) {
            timeline_order_heap_sort(e, n);
            return;
        }
        struct oc_event pivot = timeline_order_pivot(e, n, uneven);
        size_t i = 0, k = n - 1;
        for (;; i++, k--) {
            while (starts_before(&e[i], &pivot))
                i++;
            while (starts_before(&pivot, &e[k]))
                k--;
            if (i >= k)
                break;
            swap(&e[i], &e[k]);
        }
        bool first = k + 1 < n - k - 1; /* the smaller part on the stack */
        size_t less = first ? k + 1 : n - k - 1;
        uneven |= less < n / UNEVEN;
        sort(first ? e : e + k + 1, less, depth, uneven);
        e += first ? less : 0;
        n -= less;
    }
    insertion_sort(e, n);
}

/* Insertion sort with a bound on moves: many traces are nearly sorted. False: the bound is exceeded and
 * the order is undefined. Subtracts first_ns from all starts. */
static bool insert_all(struct oc_event *e, size_t n, double first_ns)
{
    size_t budget = 4 * n + 1000;
    bool pays = true;
    for (size_t i = 0; i < n; i++) {
        e[i].start_ns -= first_ns;
        if (!pays || !i || !starts_before(&e[i], &e[i - 1]))
            continue;
        struct oc_event moved = e[i];
        size_t k = i;
        for (; k > 0 && i - k <= budget && starts_before(&moved, &e[k - 1]); k--)
            e[k] = e[k - 1];
        e[k] = moved;
        pays = i - k <= budget;
        budget -= pays ? i - k : 0;
    }
    return pays;
}

void oc_timeline_sort(struct oc_timeline *t, double first_ns)
{
    if (!insert_all(t->event, t->n_event, first_ns))
        sort(t->event, t->n_event, 96, false);
}

/* ---- links ------------------------------------------------------------------------------------------ */

/* Host events sorted by a number: their indices are stored in the parent fields of the first events, which
 * are unused before nesting. */
struct by_number {
    struct oc_event *e;
    size_t n, found; /* found: by the previous query */
    bool launch;     /* keyed by launch number, otherwise by owner number */
};

static uint64_t timeline_order_number_at(const struct by_number *b, size_t i)
{
    return timeline_order_number_of(&b->e[b->e[i].parent], b->launch);
}

/* Equal numbers in time order. */
static bool index_before(const struct by_number *b, uint32_t x, uint32_t y)
{
    uint64_t nx = timeline_order_number_of(&b->e[x], b->launch),
             ny = timeline_order_number_of(&b->e[y], b->launch);
    return nx != ny ? nx < ny : x < y;
}

static void sift_index(const struct by_number *b, size_t root, size_t n)
{
    struct oc_event *e = b->e;
    uint32_t moved = e[root].parent;
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && index_before(b, e[child].parent, e[child + 1].parent))
            child++;
        if (!index_before(b, moved, e[child].parent))
            break;
        e[root].parent = e[child].parent;
    }
    e[root].parent = moved;
}

/* Numbers usually ascend: insertion sort with a bound on moves. */
static void sort_index(const struct by_number *b)
{
    struct oc_event *e = b->e;
    size_t budget = 8 * b->n + 1000;
    for (size_t i = 1; i < b->n; i++) {
        uint32_t moved = e[i].parent;
        size_t k = i;
        for (; k > 0 && i - k <= budget && index_before(b, moved, e[k - 1].parent); k--)
            e[k].parent = e[k - 1].parent;
        e[k].parent = moved;
        if (i - k > budget)
            break;
        budget -= i - k;
        if (i + 1 == b->n)
            return;
    }
    for (size_t i = b->n / 2; i-- > 0;)
        sift_index(b, i, b->n);
    for (size_t i = b->n; i-- > 1;) {
        uint32_t top = e[0].parent;
        e[0].parent = e[i].parent;
        e[i].parent = top;
        sift_index(b, 0, i);
    }
}

static bool timeline_order_is_host_side(const struct oc_event *e, bool launch)
{
    if (launch)
        return e->kind == OC_EV_API || e->kind == OC_EV_SYNC;
    return !oc_event_on_device(e->kind) && e->kind != OC_EV_API && e->kind != OC_EV_SYNC;
}

static void index_host(struct oc_timeline *t, struct by_number *b)
{
    for (size_t i = 0; i < t->n_event; i++)
        if (timeline_order_is_host_side(&t->event[i], b->launch) &&
            timeline_order_number_of(&t->event[i], b->launch))
            t->event[b->n++].parent = (uint32_t)i;
    sort_index(b);
}

/* First host event with the number, OC_NONE. The device usually works in the order of the calls: starts
 * from the previous match. */
static uint32_t timeline_order_look_up(struct by_number *b, uint64_t number)
{
    size_t low = 0, high = b->n;
    uint64_t last = b->found < b->n ? timeline_order_number_at(b, b->found) : UINT64_MAX;
    if (last == number) {
        low = high = b->found;
    } else if (last < number) {
        low = b->found + 1;
        size_t near = low + NEAR < high ? low + NEAR : high;
        while (low < near && timeline_order_number_at(b, low) < number)
            low++;
        high = low < near ? low : high;
    }
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (timeline_order_number_at(b, mid) < number)
            low = mid + 1;
        else
            high = mid;
    }
    b->found = low;
    return number && low < b->n && timeline_order_number_at(b, low) == number ? b->e[low].parent : OC_NONE;
}

/* Device events that are linked carry the flag LINKED, and their link is final. */
enum { LINKED = 128 };

static bool wants_link(const struct oc_event *e, bool launch)
{
    return oc_event_on_device(e->kind) && !(e->flags & LINKED) && timeline_order_number_of(e, launch);
}

/* Returns whether unlinked device work is left that the other number may link. */
static bool link_device(struct oc_timeline *t, bool launch)
{
    struct by_number b = {.e = t->event, .launch = launch};
    bool any = false, left = false;
    for (size_t i = 0; i < t->n_event && t->kinds >> OC_EV_KERNEL && !any; i++)
        any = wants_link(&t->event[i], launch);
    if (any)
        index_host(t, &b);
    for (size_t i = 0; i < t->n_event && b.n; i++) {
        struct oc_event *e = &t->event[i];
        if (!wants_link(e, launch)) {
            left |= wants_link(e, !launch);
            continue;
        }
        uint32_t host = timeline_order_look_up(&b, timeline_order_number_of(e, launch));
        if (host != OC_NONE) {
            e->link = host;
            e->flags |= LINKED;
        }
        left |= host == OC_NONE;
    }
    return left || !b.n;
}

void oc_timeline_link(struct oc_timeline *t)
{
    if (link_device(t, true))
        link_device(t, false);
}

/* Clears the temporary values of reading. */
void oc_timeline_settle(struct oc_timeline *t, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct oc_event *e = &t->event[i];
        if (!(e->flags & LINKED))
            e->link = OC_NONE;
        e->flags &= (uint8_t)~LINKED;
        e->parent = OC_NONE;
        e->self_ns = e->dur_ns;
    }
}

/* ---- nesting ---------------------------------------------------------------------------------------- */

struct open_events { /* of one lane */
    uint32_t *event;
    size_t n, cap;
    double reached_ns; /* time before it is already assigned */
};

struct oc_nesting {
    struct oc_timeline *t;
    struct open_events *lane;
    uint32_t kinds;
    unsigned flags;
    bool parents;
};

static double timeline_order_end_of(const struct oc_event *e)
{
    return e->start_ns + e->dur_ns;
}

/* Assigns the time up to `to` to the innermost open event. */
static void spend(struct oc_timeline *t, struct open_events *o, double to_ns)
{
    if (o->n && to_ns > o->reached_ns)
        t->event[o->event[o->n - 1]].self_ns += to_ns - o->reached_ns;
    o->reached_ns = to_ns > o->reached_ns ? to_ns : o->reached_ns;
}

static void close_until(struct oc_timeline *t, struct open_events *o, double ns)
{
    while (o->n && timeline_order_end_of(&t->event[o->event[o->n - 1]]) <= ns) {
        spend(t, o, timeline_order_end_of(&t->event[o->event[o->n - 1]]));
        o->n--;
    }
}

static uint32_t find_parent(const struct oc_timeline *t, const struct open_events *o,
                            const struct oc_event *e)
{
    size_t last = o->n > MAX_LOOK ? o->n - MAX_LOOK : 0;
    for (size_t i = o->n; i-- > last;) {
        const struct oc_event *p = &t->event[o->event[i]];
        if (timeline_order_end_of(e) <= timeline_order_end_of(p) ||
            (timeline_order_end_of(e) <= timeline_order_end_of(p) + SLACK_NS && e->dur_ns <= p->dur_ns))
            return o->event[i];
    }
    return OC_NONE;
}

struct oc_nesting *oc_nesting_begin(struct oc_timeline *t, uint32_t kinds, unsigned flags, bool parents)
{
    struct oc_nesting *x = oc_xmalloc(sizeof(*x));
    *x = (struct oc_nesting){.t = t, .kinds = kinds, .flags = flags, .parents = parents};
    x->lane = oc_xcalloc(t->n_lane, sizeof(*x->lane));
    return x;
}

/* An instant belongs to the event that began last: the self times of a lane sum to its interval union. */
void oc_nesting_go_on(struct oc_nesting *x, size_t from, size_t to)
{
    struct oc_timeline *t = x->t;
    for (size_t i = from; i < to; i++) {
        struct oc_event *e = &t->event[i];
        struct open_events *o = &x->lane[e->lane];
        bool step = e->kind == OC_EV_STEP && x->kinds >> OC_EV_STEP & 1;
        if (!(x->kinds >> e->kind & 1) || (!step && (e->flags & x->flags) != x->flags))
            continue;
        close_until(t, o, e->start_ns);
        spend(t, o, e->start_ns);
        if (x->parents)
            e->parent = find_parent(t, o, e);
        e->self_ns = 0;
        OC_PUSH(o->event, o->n, o->cap) = (uint32_t)i;
    }
}

void oc_nesting_end(struct oc_nesting *x)
{
    for (uint32_t l = 0; l < x->t->n_lane; l++) {
        close_until(x->t, &x->lane[l], (double)INFINITY);
        free(x->lane[l].event);
    }
    free(x->lane);
    free(x);
}
