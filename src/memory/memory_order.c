#include "memory/memory_order.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    uint32_t step, buffer;
};

struct extra { /* touches that the lists do not contain */
    struct pair *v;
    uint32_t n, cap;
};

static int by_step(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* Elements of a sequence are live as long as the sequence: extends touches of the sequence to its elements.
 */
static void hold_on(const struct oc_order_graph *g, const struct oc_lives *l, uint32_t buffer,
                    struct extra *e)
{
    uint32_t end = l->life[buffer].last;
    OC_GROW(e->v, e->n, e->cap);
    e->v[e->n++] = (struct pair){end, buffer};
    for (uint32_t k = g->touch_at[end]; k < g->touch_at[end + 1]; k++) {
        uint32_t holder = g->touch[k];
        if (l->life[holder].last != end)
            continue;
        for (uint32_t i = g->by_at[holder]; i < g->by_at[holder + 1]; i++)
            if (g->by[i] > l->life[buffer].first) {
                OC_GROW(e->v, e->n, e->cap);
                e->v[e->n++] = (struct pair){g->by[i], buffer};
            }
    }
}

static void add_touches(struct oc_arena *arena, struct oc_order_graph *g, struct extra *e)
{
    uint32_t *at = OC_NEW_ARRAY(arena, (size_t)g->n_step + 1, uint32_t);
    uint32_t *touch = OC_NEW_ARRAY(arena, (size_t)g->touch_at[g->n_step] + e->n + 1, uint32_t), n = 0, k = 0;
    qsort(e->v, e->n, sizeof(*e->v), by_step);
    for (uint32_t s = 0; s < g->n_step; s++) {
        at[s] = n;
        for (uint32_t i = g->touch_at[s]; i < g->touch_at[s + 1]; i++)
            touch[n++] = g->touch[i];
        for (; k < e->n && e->v[k].step == s; k++) {
            bool there = false;
            for (uint32_t i = at[s]; i < n && !there; i++)
                there = touch[i] == e->v[k].buffer;
            if (!there)
                touch[n++] = e->v[k].buffer;
        }
    }
    at[g->n_step] = n;
    g->touch_at = at;
    g->touch = touch;
    oc_order_link(arena, g);
}

struct oc_order_graph oc_order_graph_of(struct oc_arena *arena, struct oc_lives *l)
{
    struct oc_lives_links links = oc_lives_links(l);
    struct oc_order_graph g = {.n_step = l->n_step,
                               .n_buffer = l->n_life,
                               .touch_at = links.touch_at,
                               .touch = links.touch,
                               .needs_at = links.needs_at,
                               .needs = links.needs,
                               .inner = l->inner};
    uint64_t *bytes = OC_NEW_ARRAY(arena, l->n_life, uint64_t);
    bool *input = OC_NEW_ARRAY(arena, l->n_life, bool), *output = OC_NEW_ARRAY(arena, l->n_life, bool);
    for (uint32_t b = 0; b < l->n_life; b++) {
        bytes[b] = l->life[b].bytes;
        input[b] = l->life[b].input;
        output[b] = l->life[b].output || (l->life[b].input && l->opts.keep_inputs);
    }
    g.bytes = bytes;
    g.input = input;
    g.output = output;
    oc_order_link(arena, &g);
    struct extra e = {0};
    for (uint32_t b = 0; b < l->n_life; b++) {
        uint32_t n = g.by_at[b + 1] - g.by_at[b];
        if (!output[b] && n && g.by[g.by_at[b + 1] - 1] < l->life[b].last)
            hold_on(&g, l, b, &e);
    }
    if (e.n)
        add_touches(arena, &g, &e);
    free(e.v);
    return g;
}

void oc_order_lives(const struct oc_order_graph *g, const uint32_t *order, uint32_t *first, uint32_t *last)
{
    uint32_t end = g->n_step ? g->n_step - 1 : 0, *at = oc_xmalloc(((size_t)g->n_step + 1) * sizeof(*at));
    for (uint32_t i = 0; i < g->n_step; i++)
        at[order[i]] = i;
    for (uint32_t b = 0; b < g->n_buffer; b++) {
        first[b] = g->input[b] ? 0 : UINT32_MAX;
        last[b] = g->output[b] ? end : 0;
        for (uint32_t k = g->by_at[b]; k < g->by_at[b + 1]; k++) {
            uint32_t s = at[g->by[k]];
            first[b] = s < first[b] ? s : first[b];
            last[b] = s > last[b] ? s : last[b];
        }
    }
    free(at);
}
