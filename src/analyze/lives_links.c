/* The lists of oc_lives_links: what each step touches, and which steps must precede it. */
#include <stdlib.h>
#include <string.h>

#include "analyze/lives.h"

struct list { /* rows of numbers, one per step */
    uint32_t *at, *v, n, cap;
};

struct visit { /* a use of a buffer by a step; linked list of all uses since it was overwritten */
    uint32_t step, before;
};

struct links {
    const struct oc_lives *l;
    const struct oc_model *m;
    uint32_t *made_by;        /* by value: step, OC_NONE */
    uint32_t *touched_by;     /* by buffer: last step that listed it */
    uint32_t *needed_by;      /* by step: last step that listed it */
    uint32_t *written_by;     /* by buffer: last step that overwrote it */
    uint32_t *in_of, *out_of; /* by buffer: last step that had it as input, as output */
    uint32_t *visited;        /* by buffer: its last use */
    struct visit *visit;
    uint32_t n_visit, cap_visit;
    struct list touch, needs;
};

static uint32_t *alloc_none(size_t n)
{
    uint32_t *p = oc_xmalloc((n + 1) * sizeof(*p));
    memset(p, 0xff, n * sizeof(*p));
    return p;
}

static void lives_links_put(struct list *l, uint32_t v)
{
    OC_GROW(l->v, l->n, l->cap);
    l->v[l->n++] = v;
}

static void add_need(struct links *k, uint32_t step, uint32_t before)
{
    if (before == OC_NONE || before == step || k->needed_by[before] == step)
        return;
    k->needed_by[before] = step;
    lives_links_put(&k->needs, before);
}

static uint32_t life_of(const struct links *k, uint32_t value)
{
    return value == OC_NONE ? OC_LIFE_NONE : k->l->of_value[value];
}

static void lives_links_touch(struct links *k, uint32_t step, uint32_t value)
{
    uint32_t b = life_of(k, value);
    if (b >= OC_LIFE_CALLER || k->touched_by[b] == step)
        return;
    k->touched_by[b] = step;
    lives_links_put(&k->touch, b);
}

static void lives_links_note(const struct links *k, uint32_t *of, uint32_t step, uint32_t value)
{
    uint32_t b = life_of(k, value);
    if (b < OC_LIFE_CALLER)
        of[b] = step;
}

static void add_reads(struct links *k, uint32_t step, uint32_t value)
{
    if (value == OC_NONE)
        return;
    add_need(k, step, k->made_by[value]);
    lives_links_touch(k, step, value);
}

/* Whether the step writes into a buffer that it also reads, except as a view. */
static bool overwrites(const struct links *k, uint32_t step, uint32_t buffer)
{
    return k->in_of[buffer] == step && k->out_of[buffer] == step && !k->l->a->cost[k->l->step[step]].alias;
}

/* Readers of the old content go before, readers of the new content after. */
static void order_writes(struct links *k, uint32_t step, uint32_t buffer)
{
    if (k->written_by[buffer] != OC_NONE)
        add_need(k, step, k->written_by[buffer]);
    if (overwrites(k, step, buffer)) {
        for (uint32_t v = k->visited[buffer]; v != OC_NONE; v = k->visit[v].before)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): visited[] has indices into visit[] */
            add_need(k, step, k->visit[v].step);
        k->visited[buffer] = OC_NONE;
        k->written_by[buffer] = step;
    } else {
        OC_GROW(k->visit, k->n_visit, k->cap_visit);
        k->visit[k->n_visit] = (struct visit){step, k->visited[buffer]};
        k->visited[buffer] = k->n_visit++;
    }
}

static void step_links(struct links *k, uint32_t step)
{
    const struct oc_node *n = &k->m->node[k->l->step[step]];
    uint32_t from = k->touch.n;
    for (uint32_t i = 0; i < n->n_in; i++) {
        add_reads(k, step, n->in[i]);
        lives_links_note(k, k->in_of, step, n->in[i]);
    }
    uint32_t c = oc_first_capture(k->m->capture, k->m->n_capture, k->l->step[step]);
    for (; c < k->m->n_capture && k->m->capture[c].node == k->l->step[step]; c++)
        add_reads(k, step, k->m->capture[c].value);
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] != OC_NONE)
            k->made_by[n->out[i]] = step;
        lives_links_touch(k, step, n->out[i]);
        lives_links_note(k, k->out_of, step, n->out[i]);
    }
    for (uint32_t i = from; i < k->touch.n; i++)
        order_writes(k, step, k->touch.v[i]);
}

static const uint32_t *copy_list(struct oc_lives *l, uint32_t *list, size_t n)
{
    uint32_t *p = OC_NEW_ARRAY(&l->arena, n, uint32_t);
    if (n)
        memcpy(p, list, n * sizeof(*p));
    free(list);
    return p;
}

struct oc_lives_links oc_lives_links(struct oc_lives *l)
{
    const struct oc_model *m = l->a->model;
    struct links k = {.l = l,
                      .m = m,
                      .made_by = alloc_none(m->n_value),
                      .touched_by = alloc_none(l->n_life),
                      .needed_by = alloc_none(l->n_step),
                      .written_by = alloc_none(l->n_life),
                      .in_of = alloc_none(l->n_life),
                      .out_of = alloc_none(l->n_life),
                      .visited = alloc_none(l->n_life)};
    k.touch.at = alloc_none((size_t)l->n_step + 1);
    k.needs.at = alloc_none((size_t)l->n_step + 1);
    for (uint32_t i = 0; i < l->n_step; i++) {
        k.touch.at[i] = k.touch.n;
        k.needs.at[i] = k.needs.n;
        step_links(&k, i);
    }
    k.touch.at[l->n_step] = k.touch.n;
    k.needs.at[l->n_step] = k.needs.n;
    free(k.made_by);
    free(k.touched_by);
    free(k.needed_by);
    free(k.written_by);
    free(k.in_of);
    free(k.out_of);
    free(k.visited);
    free(k.visit);
    return (struct oc_lives_links){.touch_at = copy_list(l, k.touch.at, (size_t)l->n_step + 1),
                                   .touch = copy_list(l, k.touch.v, k.touch.n),
                                   .needs_at = copy_list(l, k.needs.at, (size_t)l->n_step + 1),
                                   .needs = copy_list(l, k.needs.v, k.needs.n)};
}
