/* Order of a timeline and what follows from it: sorting, linking and nesting, all in place, because a trace of
 * gigabytes has no room for copies, and unmarked runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost/profile.h"
#include "profile/core/run_fold.h"
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
        OC_GROW(o->event, o->n, o->cap);
        o->event[o->n++] = (uint32_t)i;
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

/* ---- unmarked runs ---------------------------------------------------------------------------------- */

/* Detects unmarked runs: iterations that repeat in the sequence of device work (or of operators). */

/* The sequence: device work of the lane with the most events, otherwise top-level operators likewise. */
struct sequence {
    struct oc_timeline *t;
    uint16_t lane;
    bool device;
    size_t n;
};

static bool is_in_sequence(const struct oc_timeline *t, const struct oc_event *e, bool device)
{
    if (device)
        return e->kind >= OC_EV_KERNEL && e->kind <= OC_EV_MEMSET;
    return e->flags & OC_EVF_RECORD && (e->parent == OC_NONE || t->event[e->parent].link == OC_NONE);
}

static bool timeline_runs_in_sequence(const struct sequence *s, const struct oc_event *e)
{
    return e->lane == s->lane && is_in_sequence(s->t, e, s->device);
}

static void choose_lane(struct sequence *s)
{
    const struct oc_timeline *t = s->t;
    size_t *count = oc_xcalloc((size_t)t->n_lane + 1, sizeof(*count)); /* launches may have no lane: 0 */
    for (size_t i = 0; i < t->n_event; i++)
        count[t->event[i].lane] += is_in_sequence(t, &t->event[i], s->device);
    for (uint32_t l = 0; l <= t->n_lane; l++)
        if (count[l] > s->n) {
            s->n = count[l];
            s->lane = (uint16_t)l;
        }
    free(count);
}

/* ---- input of the search ---------------------------------------------------------------------------- */

/* The sequence of work in which run_fold.h searches for runs. */
struct work_sequence {
    uint32_t *index; /* of the events */
    uint32_t *symbol, *name;
    uint8_t *flags;
    double *start_ns, *end_ns;
    size_t n;
    uint32_t n_symbol;
    struct oc_map symbols;
    struct oc_arena scratch;
};

static void sequence_init(struct work_sequence *s, size_t most)
{
    *s = (struct work_sequence){.index = oc_xmalloc(most * sizeof(uint32_t)),
                                .symbol = oc_xmalloc(most * sizeof(uint32_t)),
                                .name = oc_xmalloc(most * sizeof(uint32_t)),
                                .flags = oc_xmalloc(most),
                                .start_ns = oc_xmalloc(most * sizeof(double)),
                                .end_ns = oc_xmalloc(most * sizeof(double))};
}

static void sequence_free(struct work_sequence *s)
{
    free(s->index);
    free(s->symbol);
    free(s->name);
    free(s->flags);
    free(s->start_ns);
    free(s->end_ns);
    oc_map_free(&s->symbols);
    oc_arena_free(&s->scratch);
}

/* What the name of a copy says about its direction: enum oc_fold_flag, 0. */
static uint8_t flag_of_copy(const char *name)
{
    if (strstr(name, "HtoD") || strstr(name, "Host-to-Device"))
        return OC_FOLD_TO_DEVICE;
    return strstr(name, "DtoH") || strstr(name, "Device-to-Host") ? OC_FOLD_TO_HOST : 0;
}

/* Appends work; equal `name` and `shape`: equal work. The text of the name distinguishes copies and graphs.
 */
static void sequence_add(struct work_sequence *s, uint32_t index, uint32_t name, uint32_t shape,
                         unsigned kind, const char *text, double start_ns, double dur_ns)
{
    uint32_t key[2] = {name, shape}, symbol = s->n_symbol;
    s->symbols.arena = &s->scratch;
    s->n_symbol += oc_map_add(&s->symbols, (const char *)key, sizeof(key), &symbol, NULL);
    s->index[s->n] = index;
    s->symbol[s->n] = symbol;
    s->name[s->n] = name;
    static const char backward[] = "autograd::engine::evaluate_function: "; /* PyTorch */
    s->flags[s->n] = kind == OC_EV_MEMCPY                                 ? flag_of_copy(text)
                     : strncmp(text, "CUDA graph ", 11) == 0              ? OC_FOLD_GRAPH
                     : strncmp(text, backward, sizeof(backward) - 1) == 0 ? OC_FOLD_BACKWARD
                                                                          : 0;
    s->start_ns[s->n] = start_ns;
    s->end_ns[s->n++] = start_ns + dur_ns;
}

static void report_fold(const struct oc_fold *f, bool given, const char *what, struct oc_profile *p)
{
    p->runs_from = given ? OC_RUNS_GIVEN : OC_RUNS_REPEAT;
    p->runs_confidence = given ? NULL : f->confidence;
    const char *layers = f->layers ? oc_printf(p->diags.arena, ", with %u repeated layers", f->layers) : "";
    const char *uneven =
        f->uneven ? oc_printf(p->diags.arena, "; %u of them differ from the others", f->uneven) : "";
    oc_diag_add(&p->diags, OC_INFO, "I-runs-by-repetition", "",
                "the file marks no runs: %u repetitions of %zu %s%s count as runs (confidence %s: %s)%s",
                f->n_run, f->length, what, layers, given ? "high" : f->confidence,
                given ? "--iterations gives their number" : f->evidence, uneven);
}

/* Engines of language models annotate each step: several runs inside one are its layers. */
static bool is_step_of_engine(const struct oc_timeline *t, const struct oc_event *e)
{
    const char *name = t->name[e->name];
    return e->kind == OC_EV_USER &&
           (strncmp(name, "execute_", 8) == 0 /* vLLM */ || strncmp(name, "step[", 5) == 0 /* SGLang */);
}

/* Whether one step of an engine launched the first work of two runs. O(n). */
static bool split_a_step(const struct oc_timeline *t, const struct work_sequence *x, const struct oc_fold *f)
{
    uint32_t *step = oc_xmalloc((t->n_event + 1) * sizeof(*step)),
             last = OC_NONE; /* outermost one of each event */
    bool split = false;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t up = oc_event_on_device(e->kind) || e->parent == OC_NONE ? OC_NONE : step[e->parent];
        step[i] = up == OC_NONE && is_step_of_engine(t, e) ? (uint32_t)i : up;
    }
    for (uint32_t k = 0; k < f->n_run && !split; k++) {
        const struct oc_event *e = &t->event[x->index[f->start[k]]];
        uint32_t of = oc_event_on_device(e->kind) ? (e->link == OC_NONE ? OC_NONE : step[e->link])
                                                  : step[x->index[f->start[k]]];
        split = of != OC_NONE && of == last;
        last = of;
    }
    free(step);
    return split;
}

/* Finds the runs and reports them. evidence: what shows that there are that many iterations, NULL: the user says so.
 * False: none. The caller frees out->start. */
static bool sequence_fold(const struct oc_timeline *t, const struct work_sequence *s, uint32_t iterations,
                          const char *evidence, const char *what, struct oc_fold *out)
{
    struct oc_fold_in in = {s->symbol, s->name, s->flags, s->start_ns, s->end_ns, s->n, iterations};
    bool found = oc_fold_find(&in, out) && (iterations || !split_a_step(t, s, out));
    if (found && evidence) {
        out->confidence = "high";
        out->evidence = evidence;
    }
    if (found)
        report_fold(out, iterations && !evidence, what, t->profile);
    return found;
}

static void timeline_runs_add_events(const struct sequence *s, struct work_sequence *x)
{
    const struct oc_timeline *t = s->t;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        uint32_t shape = s->device && e->kind != OC_EV_KERNEL ? OC_NONE : e->detail;
        if (timeline_runs_in_sequence(s, e))
            sequence_add(x, (uint32_t)i, e->name, shape, e->kind, t->name[e->name], e->start_ns, e->dur_ns);
    }
}

/* ---- marking runs ----------------------------------------------------------------------------------- */

static void mark_runs(struct oc_timeline *t, const struct work_sequence *x, const struct oc_fold *f)
{
    for (uint32_t k = 0; k < f->n_run; k++) {
        struct oc_interval run = {x->start_ns[f->start[k]], 0};
        for (size_t i = f->start[k]; i < f->start[k + 1]; i++) {
            t->event[x->index[i]].run = k;
            run.end_ns = fmax(run.end_ns, x->end_ns[i]);
        }
        OC_GROW(t->run, t->n_run, t->cap_run);
        t->run[t->n_run++] = run;
    }
    size_t last = f->start[f->n_run];
    t->runs_end_ns = t->cut_ns = t->run[t->n_run - 1].end_ns;
    if (!t->launches)
        return;
    t->runs_end_ns = last < x->n ? x->start_ns[last] : (double)INFINITY;
    t->cut_ns = f->cut < x->n ? x->start_ns[f->cut] : (double)INFINITY;
}

/* Of host events, until their runs are known: they enclose launches of several runs. */
#define SEVERAL_RUNS (OC_NONE - 1)

/* Marks a host event that launched work of a run, and what encloses it: amortised O(1), an event changes at
 * most twice. */
static void mark_launching(struct oc_timeline *t, uint32_t host, uint32_t run)
{
    for (uint32_t i = host; i != OC_NONE; i = t->event[i].parent) {
        struct oc_event *e = &t->event[i];
        if (e->run == run || e->run == SEVERAL_RUNS)
            return;
        run = e->run == OC_NONE ? run : SEVERAL_RUNS;
        e->run = run;
    }
}

/* The host runs ahead of the device: its part of a run is what launched the run's work, what encloses that
 * and nothing of other runs, and what follows until the next run. */
static void mark_host(struct oc_timeline *t)
{
    double *start = oc_xmalloc((t->n_run + 1) * sizeof(*start));
    for (uint32_t k = 0; k <= t->n_run; k++)
        start[k] = (double)INFINITY;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!oc_event_on_device(e->kind) || e->run == OC_NONE || e->link == OC_NONE)
            continue;
        uint32_t owner = oc_timeline_owner(t, e->link);
        mark_launching(t, owner == OC_NONE ? e->link : owner, e->run);
    }
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        if (oc_event_on_device(e->kind) || e->run == OC_NONE)
            continue;
        if (e->run == SEVERAL_RUNS)
            e->run = OC_NONE;
        else
            start[e->run] = fmin(start[e->run], e->start_ns);
    }
    for (uint32_t k = t->n_run; k-- > 0;)
        start[k] = fmin(start[k], start[k + 1]);
    uint32_t run = OC_NONE;
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        while ((run == OC_NONE ? 0 : run + 1) < t->n_run &&
               start[run == OC_NONE ? 0 : run + 1] <= e->start_ns)
            run++; /* OC_NONE + 1 is 0 */
        if (!oc_event_on_device(e->kind) && e->run == OC_NONE && start[0] < (double)INFINITY)
            e->run = run;
    }
    free(start);
}

void oc_timeline_find_runs(struct oc_timeline *t, const struct oc_profile_opts *opts)
{
    struct sequence s = {.t = t, .device = true};
    struct work_sequence x;
    struct oc_fold f;
    choose_lane(&s);
    if (!s.n) {
        s.device = false;
        choose_lane(&s);
    }
    if (!s.n)
        return;
    sequence_init(&x, s.n);
    timeline_runs_add_events(&s, &x);
    const char *what = t->launches ? "launches" : s.device ? "kernels and copies" : "operators";
    bool found = sequence_fold(t, &x, opts->iterations, NULL, what, &f);
    uint32_t runs = found || opts->iterations ? 0 : oc_timeline_runs_of_model(t, opts->operators);
    if (runs > 1) {
        free(f.start);
        found =
            sequence_fold(t, &x, runs, "as many products as in that number of runs of the model", what, &f);
    }
    if (found) {
        mark_runs(t, &x, &f);
        if (s.device && !t->launches)
            mark_host(t);
        t->runs_found = true;
    }
    free(f.start);
    sequence_free(&x);
}
