/* Costs of the bodies of Loop, Scan and SequenceMap. */
#include <stdlib.h>
#include <string.h>

#include "analyze/convention.h"
#include "analyze/engine.h"
#include "base/ck.h"
#include "onnxcost.h"

#define MOST_OF_A_BOUND ((uint64_t)1 << 60) /* so that the totals of several loops fit 64 bits */

void oc_mark_graph(struct oc_engine *e, uint32_t graph, uint8_t quality, const char *note)
{
    const struct oc_graph *g = &e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        struct oc_node_cost *k = &e->a->cost[g->node[i]];
        if (k->state == OC_NODE_NORMAL && k->quality != OC_UNKNOWN && k->quality != quality) {
            k->quality = k->quality == OC_EXACT ? quality : OC_EST;
            k->note = note;
        }
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++)
                oc_mark_graph(e, n->attr[a].graph[b], quality, note);
        if (n->body != OC_NONE)
            oc_mark_graph(e, n->body, quality, note);
    }
}

/* ---- the nodes of a body, nested bodies included ---------------------------------------------------- */

struct node_sum {
    struct oc_node_cost k; /* without hist */
    uint64_t hist[2][OC_PRIM_COUNT];
};

struct body_nodes {
    uint32_t *node, *graph;
    uint32_t n_node, n_graph, cap_node, cap_graph;
    struct oc_node_cost *cost; /* as they were, by index */
    uint8_t *use;
    struct node_sum *sum;
    uint8_t *sum_use;
};

static void list_graph(struct oc_engine *e, uint32_t graph, struct body_nodes *b)
{
    const struct oc_graph *g = &e->m->graph[graph];
    OC_GROW(b->graph, b->n_graph, b->cap_graph);
    b->graph[b->n_graph++] = graph;
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        OC_GROW(b->node, b->n_node, b->cap_node);
        b->node[b->n_node++] = g->node[i];
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t k = 0; n->attr[a].graph && k < n->attr[a].n; k++)
                list_graph(e, n->attr[a].graph[k], b);
        if (n->body != OC_NONE)
            list_graph(e, n->body, b);
    }
}

static void save_body(struct oc_engine *e, uint32_t body, struct body_nodes *b)
{
    *b = (struct body_nodes){0};
    list_graph(e, body, b);
    b->cost = oc_xcalloc((size_t)b->n_node + 1, sizeof(*b->cost));
    b->use = oc_xcalloc(b->n_graph, sizeof(*b->use));
    for (uint32_t i = 0; i < b->n_node; i++)
        b->cost[i] = e->a->cost[b->node[i]];
    for (uint32_t i = 0; i < b->n_graph; i++)
        b->use[i] = e->graph_use[b->graph[i]];
}

static void restore_body(struct oc_engine *e, const struct body_nodes *b)
{
    for (uint32_t i = 0; i < b->n_node; i++)
        e->a->cost[b->node[i]] = b->cost[i];
    for (uint32_t i = 0; i < b->n_graph; i++)
        e->graph_use[b->graph[i]] = b->use[i];
}

static void free_body(struct body_nodes *b)
{
    free(b->node);
    free(b->graph);
    free(b->cost);
    free(b->use);
    free(b->sum);
    free(b->sum_use);
}

/* ---- trips that differ: the sum over them ----------------------------------------------------------- */

static bool add_hist(struct node_sum *s, const struct oc_node_cost *k)
{
    bool ok = true;
    for (unsigned i = 0; i < k->n_hist; i++) {
        uint64_t *to = &s->hist[k->hist[i].is_int][k->hist[i].prim];
        ok &= oc_add_u64(*to, k->hist[i].n, to);
    }
    return ok;
}

static bool add_trip(struct oc_engine *e, struct node_sum *s, const struct oc_node_cost *k, bool first)
{
    struct oc_node_cost *t = &s->k;
    uint64_t weights = t->rd_wt;
    if (first || t->state == OC_NODE_NOT_TAKEN || t->state == OC_NODE_FOLDED) {
        t->state = k->state;
        t->op_class = k->op_class;
        t->mac_class = k->mac_class;
        t->rest_class = k->rest_class;
        t->alias = k->alias;
        t->note = k->note;
    }
    if (k->macs)
        t->mac_class = k->mac_class;
    if (k->quality != OC_EXACT)
        t->note = k->note;
    t->quality = oc_worse_quality(t->quality, k->quality);
    bool ok = oc_add_u64(t->macs, k->macs, &t->macs) && oc_add_u64(t->flops, k->flops, &t->flops) &&
              oc_add_u64(t->ops, k->ops, &t->ops) && oc_add_u64(t->rd_act, k->rd_act, &t->rd_act) &&
              oc_add_u64(t->rd_wt, k->rd_wt, &t->rd_wt) && oc_add_u64(t->wr, k->wr, &t->wr) &&
              oc_add_u64(t->transcendentals, k->transcendentals, &t->transcendentals) &&
              oc_add_u64(t->trips, k->trips, &t->trips);
    if (e->o->loop_cached) /* the first trip that reads them fills the cache */
        t->rd_wt = weights > k->rd_wt ? weights : k->rd_wt;
    return ok && add_hist(s, k);
}

static void store_sum(struct oc_engine *e, const struct node_sum *s, struct oc_node_cost *k)
{
    struct oc_prim_count list[2 * OC_PRIM_COUNT];
    uint64_t params = k->params;
    *k = s->k;
    k->params = params;
    k->n_hist = 0;
    for (unsigned is_int = 0; is_int < 2; is_int++)
        for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
            if (s->hist[is_int][p])
                list[k->n_hist++] =
                    (struct oc_prim_count){.n = s->hist[is_int][p], .prim = (uint8_t)p, .is_int = is_int};
    struct oc_prim_count *kept = OC_NEW_ARRAY(&e->a->arena, k->n_hist, struct oc_prim_count);
    if (k->n_hist)
        memcpy(kept, list, k->n_hist * sizeof(*kept));
    k->hist = kept;
}

static int cost_trip(struct oc_engine *e, struct oc_loop *l, int64_t at, uint64_t outside,
                     struct body_nodes *b)
{
    uint64_t weights = e->a->class_elems[OC_PC_WEIGHT];
    bool ok = true;
    e->a->diags.n = l->diags;
    e->n_failed = l->failed;
    oc_loop_enter(e, l, at);
    if (oc_infer_graph(e, l->body) || oc_cost_graph(e, l->body, outside))
        return -1;
    if (at) /* parameters in attributes count once */
        e->a->class_elems[OC_PC_WEIGHT] = weights;
    for (uint32_t i = 0; i < b->n_node; i++)
        ok &= add_trip(e, &b->sum[i], &e->a->cost[b->node[i]], at == 0);
    for (uint32_t i = 0; i < b->n_graph; i++)
        if (at == 0 || e->graph_use[b->graph[i]] == OC_G_RUN)
            b->sum_use[i] = e->graph_use[b->graph[i]];
    for (uint32_t i = 0; at == 0 && i < b->n_node; i++)
        b->cost[i].params += e->a->cost[b->node[i]].params;
    oc_loop_leave(e, l);
    return ok ? 0 : oc_fail(e->err, OC_ELIMIT, "the counts of a loop overflow 64 bits");
}

/* Infers and counts each trip, with the values known in it. */
static int cost_each_trip(struct oc_engine *e, uint32_t node, uint64_t outside)
{
    uint32_t body = oc_body_of(&e->m->node[node], "body");
    uint8_t quality = e->loop_quality[body];
    struct body_nodes b;
    struct oc_loop l;
    int rc = oc_loop_begin(e, node, &l);
    save_body(e, body, &b);
    b.sum = oc_xcalloc((size_t)b.n_node + 1, sizeof(*b.sum));
    b.sum_use = oc_xcalloc(b.n_graph, sizeof(*b.sum_use));
    for (uint64_t at = 0; !rc && at < e->loop_trips[body]; at++)
        rc = cost_trip(e, &l, (int64_t)at, outside, &b);
    e->loop_quality[body] = quality;
    e->each_trip[body] = true;
    for (uint32_t i = 0; i < b.n_node; i++) {
        e->a->cost[b.node[i]].params = b.cost[i].params;
        store_sum(e, &b.sum[i], &e->a->cost[b.node[i]]);
    }
    for (uint32_t i = 0; i < b.n_graph; i++)
        e->graph_use[b.graph[i]] = b.sum_use[i];
    free_body(&b);
    return rc;
}

/* ---- equal trips ------------------------------------------------------------------------------------ */

/* Whether the counts of a body leave no room for other sums. */
static bool is_huge(const struct oc_engine *e, const struct body_nodes *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->n_node; i++) {
        const struct oc_node_cost *k = &e->a->cost[b->node[i]];
        const uint64_t part[] = {k->flops, k->ops, k->rd_act, k->rd_wt, k->wr};
        for (size_t p = 0; p < OC_COUNT(part); p++)
            if (!oc_add_u64(sum, part[p], &sum) || sum > MOST_OF_A_BOUND)
                return true;
    }
    return false;
}

static int cost_times(struct oc_engine *e, uint32_t body, uint64_t outside, uint64_t trips)
{
    uint64_t all, cached = e->cached_trips;
    if (!oc_mul_u64(outside, trips, &all))
        return -1;
    if (e->o->loop_cached) /* a factor of `all`: it wraps only where that is 0 */
        e->cached_trips *= trips;
    int rc = oc_cost_graph(e, body, all);
    e->cached_trips = cached;
    return rc;
}

/* A number of trips beyond 64 bits does not bound anything: one is counted. */
static int cost_one_trip(struct oc_engine *e, uint32_t node, uint32_t body, uint64_t outside)
{
    char buf[256];
    *e->err = (struct oc_err){0};
    e->loop_trips[body] = 1;
    e->loop_quality[body] = e->first_trip[body] || e->loop_quality[body] == OC_EXACT ? OC_LOWER : OC_EST;
    oc_assume(e, "trip", oc_node_label(e->m, &e->m->node[node], buf, sizeof(buf)), "1",
              "the largest number of trips is beyond 64 bits: one is counted (set it with --trip)");
    return cost_times(e, body, outside, 1);
}

static int cost_body(struct oc_engine *e, uint32_t node, uint32_t body, uint64_t outside)
{
    bool once = oc_convention_loops_once(e->convention);
    uint64_t trips = once ? 1 : e->loop_trips[body];
    struct body_nodes b;
    if (e->each_trip[body] && !once)
        return cost_each_trip(e, node, outside);
    uint64_t weights = e->a->class_elems[OC_PC_WEIGHT];
    save_body(e, body, &b);
    int rc = cost_times(e, body, outside, trips);
    if (trips > 1 && (rc || (e->loop_quality[body] == OC_UPPER && is_huge(e, &b)))) {
        restore_body(e, &b);
        e->a->class_elems[OC_PC_WEIGHT] = weights;
        rc = cost_one_trip(e, node, body, outside);
    }
    free_body(&b);
    return rc;
}

int oc_cost_loop(struct oc_engine *e, uint32_t node, uint64_t outside)
{
    uint32_t body = oc_body_of(&e->m->node[node], "body");
    uint64_t n;
    bool exact;
    if ((e->loop_quality[body] != OC_EXACT || e->mean_trips[body]) &&
        !oc_convention_loops_once(e->convention) && oc_body_executions(e, node, 0, outside, &n, &exact)) {
        if (oc_cost_graph(e, body, n))
            return -1;
        if ((!exact || e->loop_quality[body] == OC_EST) && outside)
            oc_mark_graph(e, body, OC_EST, "the mean number of recorded trips");
        return 0;
    }
    if (cost_body(e, node, body, outside))
        return -1;
    uint8_t quality = e->loop_quality[body];
    if (quality != OC_EXACT && outside)
        oc_mark_graph(e, body, quality,
                      quality == OC_UPPER ? "counted at the maximum number of trips"
                                          : "one trip is counted; the number is unknown");
    return 0;
}
