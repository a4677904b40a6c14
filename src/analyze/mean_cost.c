#include "analyze/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"
#include "base/ck.h"
#include "onnxcost.h"

enum { COUNTS = 7 };

struct node_sum {
    uint64_t count[COUNTS], hist[2][OC_PRIM_COUNT];
    struct oc_node_cost shape; /* a cost with state, classes and note, of the first analysis that runs it */
    uint8_t quality;
    bool overflow;
};

struct oc_cost_sums {
    const struct oc_model *m;
    struct node_sum *node;
    uint8_t *graph_use; /* by graph */
    uint64_t runs, graph_bytes[3];
    struct oc_peak peak; /* the highest */
};

struct oc_cost_sums *oc_cost_sums_new(const struct oc_model *m)
{
    struct oc_cost_sums *s = oc_xcalloc(1, sizeof(*s));
    s->m = m;
    s->node = oc_xcalloc((size_t)m->n_node + 1, sizeof(*s->node));
    s->graph_use = oc_xcalloc((size_t)m->n_graph + 1, 1);
    return s;
}

static void mean_cost_counts_of(struct oc_node_cost *k, uint64_t *count[COUNTS])
{
    uint64_t *const all[COUNTS] = {&k->macs,   &k->flops, &k->ops, &k->transcendentals,
                                   &k->rd_act, &k->rd_wt, &k->wr};
    memcpy(count, all, sizeof(all));
}

static bool mean_cost_add_times(uint64_t *sum, uint64_t v, uint64_t runs)
{
    return oc_mul_u64(v, runs, &v) && oc_add_u64(*sum, v, sum);
}

static void mean_cost_add_node(struct node_sum *s, const struct oc_node_cost *cost, uint64_t runs)
{
    struct oc_node_cost k = *cost;
    uint64_t *count[COUNTS];
    bool runs_here = k.state != OC_NODE_NOT_TAKEN, ran_before = s->shape.state != OC_NODE_NOT_TAKEN;
    mean_cost_counts_of(&k, count);
    for (unsigned i = 0; i < COUNTS; i++)
        s->overflow |= !mean_cost_add_times(&s->count[i], *count[i], runs);
    for (unsigned i = 0; i < k.n_hist; i++)
        s->overflow |= !mean_cost_add_times(&s->hist[k.hist[i].is_int][k.hist[i].prim], k.hist[i].n, runs);
    if (!s->shape.trips || (runs_here && !ran_before))
        s->shape = k;
    if (!s->shape.note)
        s->shape.note = k.note;
    s->quality = oc_worse_quality(s->quality, k.quality);
}

void oc_cost_sums_add(struct oc_cost_sums *s, const struct oc_analysis *a, uint64_t runs)
{
    const uint64_t bytes[] = {a->total->bytes_read_act, a->total->bytes_read_weight, a->total->bytes_written};
    for (uint32_t i = 0; i < s->m->n_node; i++)
        mean_cost_add_node(&s->node[i], &a->cost[i], runs);
    for (uint32_t i = 0; i < s->m->n_graph; i++)
        s->graph_use[i] = a->graph_use[i] == OC_G_RUN ? OC_G_RUN : s->graph_use[i];
    for (unsigned i = 0; i < OC_COUNT(bytes); i++)
        mean_cost_add_times(&s->graph_bytes[i], bytes[i], runs);
    bool higher =
        s->peak.quality != OC_UNKNOWN && (a->peak.quality == OC_UNKNOWN || a->peak.bytes > s->peak.bytes);
    if (!s->runs || higher)
        s->peak = a->peak;
    s->runs += runs;
}

static const struct oc_prim_count *mean_cost_histogram(const struct node_sum *s, uint64_t runs,
                                                       struct oc_arena *arena, uint8_t *n)
{
    struct oc_prim_count all[2 * OC_PRIM_COUNT] = {{0}};
    unsigned used = 0;
    for (unsigned i = 0; i < 2 * OC_PRIM_COUNT; i++) {
        uint64_t sum = s->hist[i / OC_PRIM_COUNT][i % OC_PRIM_COUNT];
        if (sum)
            all[used++] = (struct oc_prim_count){oc_mean_count(sum, runs), (uint8_t)(i % OC_PRIM_COUNT),
                                                 i >= OC_PRIM_COUNT};
    }
    struct oc_prim_count *kept = OC_NEW_ARRAY(arena, used + 1, struct oc_prim_count);
    memcpy(kept, all, used * sizeof(*kept));
    *n = (uint8_t)used;
    return kept;
}

static void set_node(const struct node_sum *s, uint64_t runs, struct oc_arena *arena, struct oc_node_cost *k)
{
    uint64_t *count[COUNTS];
    *k = s->shape;
    mean_cost_counts_of(k, count);
    for (unsigned i = 0; i < COUNTS; i++)
        *count[i] = oc_mean_count(s->count[i], runs);
    k->hist = mean_cost_histogram(s, runs, arena, &k->n_hist);
    k->quality = s->overflow ? OC_UNKNOWN : s->quality;
}

void oc_cost_sums_apply(const struct oc_cost_sums *s, struct oc_analysis *a)
{
    uint8_t *use = OC_NEW_ARRAY(&a->arena, s->m->n_graph, uint8_t);
    for (uint32_t i = 0; i < s->m->n_graph; i++)
        use[i] = s->graph_use[i] == OC_G_RUN ? OC_G_RUN : a->graph_use[i];
    a->graph_use = use;
    for (uint32_t i = 0; i < s->m->n_node; i++)
        set_node(&s->node[i], s->runs, &a->arena, &a->cost[i]);
    a->peak = s->peak;
    oc_sum_nodes(a);
    if (!a->counting->graph_bytes)
        return;
    a->total->bytes_read_act = oc_mean_count(s->graph_bytes[0], s->runs);
    a->total->bytes_read_weight = oc_mean_count(s->graph_bytes[1], s->runs);
    a->total->bytes_written = oc_mean_count(s->graph_bytes[2], s->runs);
}

void oc_cost_sums_free(struct oc_cost_sums *s)
{
    if (!s)
        return;
    free(s->node);
    free(s->graph_use);
    free(s);
}
