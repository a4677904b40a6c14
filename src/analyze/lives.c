#include "analyze/lives.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lives_walk.h"

/* Counts the reads of the host, in metadata slots. */
static void count_host_reads(struct oc_live_builder *b)
{
    for (uint32_t i = 0; i < b->m->n_node; i++) {
        const struct oc_op *op = b->a->op[i];
        const struct oc_node *n = &b->m->node[i];
        if (!op || !op->slots || !strchr(op->slots, 'm'))
            continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] != OC_NONE && oc_op_slot(op, k) == 'm')
                b->host_reads[n->in[k]]++;
    }
}

/* Values that a body captures are not its own. */
static void mark_outer(struct oc_live_builder *b, uint32_t graph)
{
    if (b->m->graph[graph].parent_node == OC_NONE)
        return;
    bool *outer = oc_xcalloc((size_t)b->m->n_graph + 1, sizeof(*outer));
    for (uint32_t node = b->m->graph[graph].parent_node; node != OC_NONE;) {
        outer[b->m->node[node].graph] = true;
        node = b->m->graph[b->m->node[node].graph].parent_node;
    }
    for (uint32_t v = 0; v < b->m->n_value; v++)
        if (outer[b->m->value[v].graph] && !b->a->is_const[v])
            b->of[v] = OC_LIFE_CALLER;
    free(outer);
}

static void *lives_copy(struct oc_arena *arena, const void *data, size_t n, size_t size)
{
    void *p = oc_alloc_array(arena, n, size);
    if (n)
        memcpy(p, data, n * size);
    return p;
}

static void pack(struct oc_lives *l, struct oc_live_walk *w)
{
    struct oc_live_builder *b = w->b;
    uint32_t *place = oc_xmalloc(((size_t)b->n + 1) * sizeof(*place));
    struct oc_life *life = OC_NEW_ARRAY(&l->arena, b->n, struct oc_life);
    for (uint32_t i = 0; i < b->n; i++) {
        place[i] = l->n_life;
        if (b->slot[i].into == i)
            life[l->n_life++] = b->slot[i].l;
    }
    for (uint32_t v = 0; v < b->m->n_value; v++) {
        uint32_t i = oc_live_resolve(b, b->of[v]);
        b->of[v] = i < OC_LIFE_CALLER ? place[i] : i;
    }
    l->life = life;
    free(place);
    l->of_value = lives_copy(&l->arena, b->of, b->m->n_value, sizeof(*b->of));
    l->step = lives_copy(&l->arena, w->step, w->n, sizeof(*w->step));
    l->live = lives_copy(&l->arena, w->live, w->n, sizeof(*w->live));
    l->inner = lives_copy(&l->arena, w->inner, w->n, sizeof(*w->inner));
    l->n_step = w->n;
    l->peak = w->peak;
    l->lower = w->lower;
    l->peak_step = w->peak_step;
    l->quality = w->quality;
}

struct oc_lives_opts oc_lives_opts_of(const struct oc_analysis *a)
{
    return (struct oc_lives_opts){.align = a->counting.align_bytes,
                                  .keep_inputs = a->counting.keep_inputs,
                                  .inplace = a->counting.inplace,
                                  .kv_share = a->counting.kv_share};
}

static void *unset(size_t n, size_t size)
{
    void *p = oc_xmalloc((n + 1) * size);
    memset(p, 0xff, n * size);
    return p;
}

/* Ended by end_walk. */
static void walk(const struct oc_analysis *a, uint32_t graph, const struct oc_lives_opts *opts,
                 struct oc_live_builder *b, struct oc_live_walk *w)
{
    *b = (struct oc_live_builder){.a = a, .m = a->model, .o = *opts};
    b->of = unset(b->m->n_value, sizeof(*b->of));
    b->host_reads = oc_xcalloc((size_t)b->m->n_value + 1, sizeof(*b->host_reads));
    b->made_by = opts->order == OC_ORDER_ORT ? unset(b->m->n_value, sizeof(*b->made_by)) : NULL;
    b->cap = b->m->n_value + 1;
    b->slot = oc_xmalloc(b->cap * sizeof(*b->slot));
    count_host_reads(b);
    mark_outer(b, graph);
    oc_live_walk(b, graph, graph == 0, w);
}

static void end_walk(struct oc_live_builder *b, struct oc_live_walk *w)
{
    oc_live_walk_end(w, true);
    free(b->of);
    free(b->host_reads);
    free(b->made_by);
    free(b->slot);
}

struct oc_lives *oc_lives_make(const struct oc_analysis *a, uint32_t graph, const struct oc_lives_opts *opts)
{
    struct oc_lives *l = oc_xmalloc(sizeof(*l));
    struct oc_live_builder b;
    struct oc_live_walk w;
    *l = (struct oc_lives){.a = a, .opts = *opts};
    walk(a, graph, opts, &b, &w);
    pack(l, &w);
    end_walk(&b, &w);
    return l;
}

void oc_lives_free(struct oc_lives *l)
{
    if (!l)
        return;
    oc_arena_free(&l->arena);
    free(l);
}

uint32_t oc_lives_body(const struct oc_lives *l, uint32_t node)
{
    const struct oc_node *n = &l->a->model->node[node];
    uint32_t best = OC_NONE;
    uint64_t most = 0;
    for (uint32_t a = 0; a < n->n_attr; a++)
        for (uint32_t i = 0; n->attr[a].graph && i < n->attr[a].n; i++) {
            uint32_t body = n->attr[a].graph[i];
            if (l->a->graph_use[body] != OC_G_RUN)
                continue;
            struct oc_lives *own = oc_lives_make(l->a, body, &l->opts);
            if (best == OC_NONE || own->peak > most) {
                best = body;
                most = own->peak;
            }
            oc_lives_free(own);
        }
    return best;
}

void oc_find_peak(struct oc_analysis *a)
{
    struct oc_lives_opts o = oc_lives_opts_of(a);
    struct oc_live_builder b;
    struct oc_live_walk w;
    walk(a, 0, &o, &b, &w);
    a->peak = (struct oc_peak){.bytes = w.peak,
                               .lower_bytes = w.lower,
                               .node = w.n ? w.step[w.peak_step] : OC_NONE,
                               .quality = w.quality};
    end_walk(&b, &w);
}
