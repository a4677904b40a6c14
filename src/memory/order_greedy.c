/* Greedy orders by priority rules: the step that frees most, the one that needs the fewest bytes, the most
 * recently started branch, file order; steps that free at least what they allocate always go first. Also on
 * the reversed problem. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "memory/order_search.h"

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

static void push(struct greedy *q, struct key k)
{
    OC_GROW(q->heap, q->n_heap, q->cap);
    uint32_t i = q->n_heap++;
    for (; i && key_less(&k, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = k;
}

static struct key pop(struct greedy *q)
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

static void offer(struct greedy *q, rule_fn *rule, uint32_t step)
{
    struct pick p = {.step = step, .age = q->age++};
    p.takes = (int64_t)(oc_order_run_cost(&q->run, step, &p.delta) - q->run.live);
    struct key k = {.step = step, .version = ++q->version[step]};
    rule(&p, &k);
    push(q, k);
}

/* Runs the step; pushes newly ready steps, and updates steps that became the last to touch a buffer. */
static void take(struct greedy *q, rule_fn *rule, uint32_t step)
{
    const struct oc_order_graph *g = q->run.g;
    int64_t delta;
    uint64_t cost = oc_order_run_cost(&q->run, step, &delta);
    q->peak = cost > q->peak ? cost : q->peak;
    oc_order_run_do(&q->run, step);
    for (uint32_t k = g->user_at[step]; k < g->user_at[step + 1]; k++)
        if (q->run.missing[g->user[k]] == 0)
            offer(q, rule, g->user[k]);
    for (uint32_t k = g->touch_at[step]; k < g->touch_at[step + 1]; k++) {
        uint32_t b = g->touch[k];
        q->rest[b] ^= step;
        if (q->run.left[b] == 1 && q->run.missing[q->rest[b]] == 0)
            offer(q, rule, q->rest[b]);
    }
}

static uint64_t by_rule(struct greedy *q, rule_fn *rule, uint32_t *order)
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
        offer(q, rule, q->run.ready[i]);
    for (uint32_t n = 0; n < g->n_step;) {
        struct key k = pop(q);
        if (k.version != q->version[k.step] || q->run.missing[k.step])
            continue;
        order[n++] = k.step;
        take(q, rule, k.step);
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
        uint64_t size = by_rule(&q, rules[r], order);
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
