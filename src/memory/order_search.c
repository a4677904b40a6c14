/* Best-first search over downsets: expands the state with the smallest peak so far, the larger set first
 * among equals. The first full set has the minimum peak of all orders (the peak of a path never decreases).
 * Steps that free at least what they allocate run at once (see oc_order_run_free_steps), so that sets are few
 * where branches are. */
#include "memory/memory_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define MAX_STEPS 4096u
#define MAX_WORDS 12000000u /* total number of sets */

struct state {
    uint64_t peak, live;
    uint32_t parent, step; /* the step that led here; free steps follow it */
    uint32_t done;
    uint32_t spot; /* index in the heap; OC_NONE: it was taken from it */
};

struct search {
    const struct oc_order_graph *g;
    struct oc_order_run run;
    uint32_t words;
    struct state *state;
    uint64_t *set; /* by state: bit set of the executed steps */
    uint32_t n, cap, set_cap;
    uint32_t *heap;
    uint32_t n_heap, heap_cap;
    uint32_t *slot; /* hash table of states, OC_NONE: empty */
    uint32_t n_slot;
    uint64_t *now;       /* the current set */
    uint32_t *path;      /* steps executed since the state was loaded */
    uint64_t work, cost; /* remaining work; cost of loading a state */
    bool full;
    uint32_t beam;   /* beam width: states of one size that are expanded, 0: all */
    uint32_t *taken; /* by size: number of expanded states */
};

static bool comes_first(const struct search *x, uint32_t a, uint32_t b)
{
    const struct state *s = &x->state[a], *t = &x->state[b];
    if (x->beam && s->done != t->done)
        return s->done < t->done;
    if (s->peak != t->peak)
        return s->peak < t->peak;
    if (x->beam && s->live != t->live)
        return s->live < t->live;
    return s->done != t->done ? s->done > t->done : a < b;
}

static void order_search_put(struct search *x, uint32_t i, uint32_t state)
{
    x->heap[i] = state;
    x->state[state].spot = i;
}

/* Sift up from index i: for a new state, and for one whose peak decreased. */
static void order_search_sift_up(struct search *x, uint32_t i, uint32_t state)
{
    for (; i && comes_first(x, state, x->heap[(i - 1) / 2]); i = (i - 1) / 2)
        order_search_put(x, i, x->heap[(i - 1) / 2]);
    order_search_put(x, i, state);
}

static uint32_t order_search_pop(struct search *x)
{
    uint32_t top = x->heap[0], last = x->heap[--x->n_heap], i = 0;
    for (uint32_t k; (k = 2 * i + 1) < x->n_heap; i = k) {
        if (k + 1 < x->n_heap && comes_first(x, x->heap[k + 1], x->heap[k]))
            k++;
        if (!comes_first(x, x->heap[k], last))
            break;
        order_search_put(x, i, x->heap[k]);
    }
    order_search_put(x, i, last);
    x->state[top].spot = OC_NONE;
    return top;
}

static uint64_t *set_of(const struct search *x, uint32_t state)
{
    return x->set + (size_t)state * x->words;
}

static uint32_t order_search_hash(const struct search *x, const uint64_t *set)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < x->words; i++) {
        h = (h ^ set[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static void grow_table(struct search *x)
{
    x->n_slot = x->n_slot ? x->n_slot * 2 : 1024;
    x->slot = oc_xrealloc(x->slot, (size_t)x->n_slot * sizeof(*x->slot));
    memset(x->slot, 0xff, (size_t)x->n_slot * sizeof(*x->slot));
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t h = order_search_hash(x, set_of(x, i)) & (x->n_slot - 1);
        while (x->slot[h] != OC_NONE)
            h = (h + 1) & (x->n_slot - 1);
        x->slot[h] = i;
    }
}

static uint32_t add_state(struct search *x, uint32_t slot)
{
    if (x->n == x->set_cap) {
        x->set_cap = x->set_cap ? x->set_cap * 2 : 64;
        x->set = oc_xrealloc(x->set, (size_t)x->set_cap * x->words * sizeof(*x->set));
    }
    OC_GROW(x->state, x->n, x->cap);
    memcpy(set_of(x, x->n), x->now, x->words * sizeof(*x->now));
    x->slot[slot] = x->n;
    x->full = (uint64_t)(x->n + 1) * x->words >= MAX_WORDS;
    return x->n++;
}

/* Records the current set, unless it was reached before with no higher peak. */
static void order_search_reach(struct search *x, uint64_t peak, uint32_t parent, uint32_t step)
{
    if (x->n * 2 >= x->n_slot)
        grow_table(x);
    uint32_t h = order_search_hash(x, x->now) & (x->n_slot - 1);
    while (x->slot[h] != OC_NONE && memcmp(set_of(x, x->slot[h]), x->now, x->words * sizeof(*x->now)))
        h = (h + 1) & (x->n_slot - 1);
    uint32_t i = x->slot[h], spot = i == OC_NONE ? x->n_heap : x->state[i].spot;
    if (i != OC_NONE && (spot == OC_NONE || x->state[i].peak <= peak))
        return;
    if (i == OC_NONE) {
        i = add_state(x, h);
        OC_GROW(x->heap, x->n_heap, x->heap_cap);
        x->n_heap++;
    }
    x->state[i] = (struct state){peak, x->run.live, parent, step, x->run.done, spot};
    order_search_sift_up(x, spot, i);
}

static void order_search_load(struct search *x, uint32_t state)
{
    const uint64_t *set = set_of(x, state);
    memcpy(x->now, set, x->words * sizeof(*set));
    oc_order_run_reset(&x->run);
    for (uint32_t i = 0; i < x->run.n_ready;) {
        uint32_t s = x->run.ready[i];
        if (set[s / 64] >> (s % 64) & 1)
            oc_order_run_do(&x->run, s);
        else
            i++;
    }
    x->work -= x->work < x->cost ? x->work : x->cost;
}

static void flip(struct search *x, const uint32_t *steps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        x->now[steps[i] / 64] ^= (uint64_t)1 << (steps[i] % 64);
}

/* Runs a step and the free steps after it; returns the peak, with the steps in x->path. */
static uint64_t advance(struct search *x, uint64_t peak, uint32_t step, uint32_t *n)
{
    int64_t delta;
    uint64_t cost = oc_order_run_cost(&x->run, step, &delta);
    peak = cost > peak ? cost : peak;
    x->path[0] = step;
    *n = 1;
    oc_order_run_do(&x->run, step);
    oc_order_run_free_steps(&x->run, peak, x->path, n);
    return peak;
}

static void order_search_expand(struct search *x, uint32_t state, uint64_t below)
{
    order_search_load(x, state);
    uint64_t peak = x->state[state].peak;
    uint32_t n_ready = x->run.n_ready, *ready = oc_xmalloc(n_ready * sizeof(*ready));
    memcpy(ready, x->run.ready, n_ready * sizeof(*ready));
    for (uint32_t i = 0; i < n_ready; i++) {
        int64_t delta;
        if (oc_order_run_cost(&x->run, ready[i], &delta) >= below)
            continue;
        uint32_t n;
        uint64_t reached = advance(x, peak, ready[i], &n);
        flip(x, x->path, n);
        order_search_reach(x, reached, state, ready[i]);
        flip(x, x->path, n);
        x->work -= x->work < 8u * n + x->words ? x->work : 8u * n + x->words;
        while (n)
            oc_order_run_undo(&x->run, x->path[--n]);
    }
    free(ready);
}

/* Reconstructs the order: from the full set back through its predecessors. */
static void trace(struct search *x, uint32_t state, uint32_t *order)
{
    uint32_t end = x->g->n_step, n;
    for (; x->state[state].parent != OC_NONE; state = x->state[state].parent) {
        const struct state *s = &x->state[state];
        order_search_load(x, s->parent);
        advance(x, x->state[s->parent].peak, s->step, &n);
        end -= n;
        memcpy(order + end, x->path, n * sizeof(*order));
    }
    n = 0;
    oc_order_run_reset(&x->run);
    oc_order_run_free_steps(&x->run, x->state[state].peak, x->path, &n);
    memcpy(order, x->path, n * sizeof(*order));
}

static void open_search(struct search *x, const struct oc_order_graph *g, uint64_t work, uint32_t beam)
{
    *x = (struct search){.g = g, .words = g->n_step / 64 + 1, .work = work, .beam = beam};
    x->taken = oc_xmalloc(((size_t)g->n_step + 1) * sizeof(*x->taken));
    memset(x->taken, 0, ((size_t)g->n_step + 1) * sizeof(*x->taken));
    oc_order_run_open(&x->run, g);
    x->now = oc_xmalloc(x->words * sizeof(*x->now));
    x->path = oc_xmalloc(((size_t)g->n_step + 1) * sizeof(*x->path));
    memset(x->now, 0, x->words * sizeof(*x->now));
    x->cost = (uint64_t)g->n_step * 4 + g->touch_at[g->n_step] + g->n_buffer + g->needs_at[g->n_step];
    grow_table(x);
}

static void close_search(struct search *x)
{
    oc_order_run_close(&x->run);
    free(x->now);
    free(x->taken);
    free(x->path);
    free(x->state);
    free(x->set);
    free(x->heap);
    free(x->slot);
}

/* The next state to expand, OC_NONE: there is none. */
static uint32_t next_state(struct search *x)
{
    while (x->n_heap && x->work && !x->full) {
        uint32_t s = order_search_pop(x);
        if (!x->beam || x->taken[x->state[s].done]++ < x->beam)
            return s;
    }
    return OC_NONE;
}

struct oc_order_exact oc_order_search(const struct oc_order_graph *g, uint32_t beam, uint64_t enough,
                                      uint64_t below, uint64_t *work, uint32_t *order)
{
    struct oc_order_exact out = {.lower = oc_order_lower(g)};
    out.lower = out.lower > enough ? out.lower : enough;
    if (out.lower >= below || g->n_step > MAX_STEPS) {
        out.solved = out.lower >= below;
        return out;
    }
    struct search x;
    uint32_t n = 0, s;
    open_search(&x, g, *work, beam);
    oc_order_run_free_steps(&x.run, out.lower, x.path, &n);
    flip(&x, x.path, n);
    order_search_reach(&x, out.lower, OC_NONE, OC_NONE);
    while (!out.found && (s = next_state(&x)) != OC_NONE) {
        if (!beam)
            out.lower = x.state[s].peak;
        if (x.state[s].done == g->n_step) {
            trace(&x, s, order);
            out.found = true;
            out.solved = !beam;
            out.peak = oc_order_peak(g, order, NULL);
        } else {
            order_search_expand(&x, s, below);
        }
    }
    if (!beam && !out.found && !x.n_heap && !x.full && x.work) {
        out.solved = true; /* no state with a smaller peak exists */
        out.lower = below;
    }
    *work = x.work;
    close_search(&x);
    return out;
}

/* ---- order greedy ----------------------------------------------------------------------------------- */

/* Greedy orders by priority rules: the step that frees most, the one that needs the fewest bytes, the most
 * recently started branch, file order; steps that free at least what they allocate always go first. Also on
 * the reversed problem. */

struct key {
    int64_t a, b;
    uint32_t step, version;
};

struct greedy {
    struct oc_order_run run;
    struct key *heap;
    uint32_t n_heap, cap;
    uint32_t *version; /* by step: version; older heap entries are stale */
    uint32_t *rest; /* by buffer: exclusive or of the steps that still touch it; equals the last one when one
                       is left */
    uint32_t age;
    uint64_t peak; /* peak so far */
};

struct pick { /* priority inputs of a ready step */
    int64_t delta, takes;
    uint32_t age, step;
};

static void most_freed(const struct pick *p, struct key *k)
{
    k->a = p->delta;
    k->b = p->takes;
}

static void least_taken(const struct pick *p, struct key *k)
{
    k->a = p->delta <= 0 ? INT64_MIN : p->takes;
    k->b = p->delta;
}

static void newest_touch(const struct pick *p, struct key *k)
{
    k->a = p->delta <= 0 ? INT64_MIN : -(int64_t)p->age;
    k->b = p->delta;
}

static void as_listed(const struct pick *p, struct key *k)
{
    k->a = p->delta <= 0 ? INT64_MIN : (int64_t)p->step;
    k->b = p->delta;
}

typedef void rule_fn(const struct pick *p, struct key *k);
static rule_fn *const rules[] = {most_freed, least_taken, newest_touch, as_listed};

static bool key_less(const struct key *x, const struct key *y)
{
    if (x->a != y->a)
        return x->a < y->a;
    if (x->b != y->b)
        return x->b < y->b;
    return x->step < y->step;
}

static void heap_push(struct greedy *q, struct key k)
{
    OC_GROW(q->heap, q->n_heap, q->cap);
    uint32_t i = q->n_heap++;
    for (; i && key_less(&k, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = k;
}

static struct key heap_pop(struct greedy *q)
{
    struct key top = q->heap[0], last = q->heap[--q->n_heap];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < q->n_heap; i = k) {
        if (k + 1 < q->n_heap && key_less(&q->heap[k + 1], &q->heap[k]))
            k++;
        if (!key_less(&q->heap[k], &last))
            break;
        q->heap[i] = q->heap[k];
    }
    q->heap[i] = last;
    return top;
}

static void order_search_offer(struct greedy *q, rule_fn *rule, uint32_t step)
{
    struct pick p = {.step = step, .age = q->age++};
    p.takes = (int64_t)(oc_order_run_cost(&q->run, step, &p.delta) - q->run.live);
    struct key k = {.step = step, .version = ++q->version[step]};
    rule(&p, &k);
    heap_push(q, k);
}

/* Runs the step; pushes newly ready steps, and updates steps that became the last to touch a buffer. */
static void order_search_take(struct greedy *q, rule_fn *rule, uint32_t step)
{
    const struct oc_order_graph *g = q->run.g;
    int64_t delta;
    uint64_t cost = oc_order_run_cost(&q->run, step, &delta);
    q->peak = cost > q->peak ? cost : q->peak;
    oc_order_run_do(&q->run, step);
    for (uint32_t k = g->user_at[step]; k < g->user_at[step + 1]; k++)
        if (q->run.missing[g->user[k]] == 0)
            order_search_offer(q, rule, g->user[k]);
    for (uint32_t k = g->touch_at[step]; k < g->touch_at[step + 1]; k++) {
        uint32_t b = g->touch[k];
        q->rest[b] ^= step;
        if (q->run.left[b] == 1 && q->run.missing[q->rest[b]] == 0)
            order_search_offer(q, rule, q->rest[b]);
    }
}

static uint64_t order_search_by_rule(struct greedy *q, rule_fn *rule, uint32_t *order)
{
    const struct oc_order_graph *g = q->run.g;
    oc_order_run_reset(&q->run);
    q->n_heap = q->age = 0;
    q->peak = 0;
    memset(q->version, 0, (size_t)g->n_step * sizeof(*q->version));
    memset(q->rest, 0, (size_t)g->n_buffer * sizeof(*q->rest));
    for (uint32_t s = 0; s < g->n_step; s++)
        for (uint32_t k = g->touch_at[s]; k < g->touch_at[s + 1]; k++)
            q->rest[g->touch[k]] ^= s;
    uint32_t n_ready = q->run.n_ready;
    for (uint32_t i = 0; i < n_ready; i++)
        order_search_offer(q, rule, q->run.ready[i]);
    for (uint32_t n = 0; n < g->n_step;) {
        struct key k = heap_pop(q);
        if (k.version != q->version[k.step] || q->run.missing[k.step])
            continue;
        order[n++] = k.step;
        order_search_take(q, rule, k.step);
    }
    return q->peak;
}

static void try_rules(const struct oc_order_graph *g, bool backwards, uint32_t *best, uint64_t *peak)
{
    struct greedy q = {.version = oc_xmalloc(((size_t)g->n_step + 1) * sizeof(*q.version)),
                       .rest = oc_xmalloc(((size_t)g->n_buffer + 1) * sizeof(*q.rest))};
    uint32_t *order = oc_xmalloc(((size_t)g->n_step + 1) * sizeof(*order));
    oc_order_run_open(&q.run, g);
    for (size_t r = 0; r < OC_COUNT(rules); r++) {
        uint64_t size = order_search_by_rule(&q, rules[r], order);
        if (size >= *peak)
            continue;
        *peak = size;
        for (uint32_t i = 0; i < g->n_step; i++)
            best[i] = order[backwards ? g->n_step - 1 - i : i];
    }
    oc_order_run_close(&q.run);
    free(q.heap);
    free(q.version);
    free(q.rest);
    free(order);
}

uint64_t oc_order_greedy(const struct oc_order_graph *g, uint32_t *order)
{
    struct oc_arena arena = {0};
    uint64_t peak = UINT64_MAX;
    struct oc_order_graph back = oc_order_reverse(&arena, g);
    try_rules(g, false, order, &peak);
    try_rules(&back, true, order, &peak);
    oc_arena_free(&arena);
    return oc_order_peak(g, order, NULL);
}
