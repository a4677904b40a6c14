/* Sums over the executed nodes, their quality, and means over analyses of several sizes. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/engine.h"
#include "base/ck.h"
#include "base/units.h"
#include "onnxcost.h"

/* ---- sums of a model ---------------------------------------------------------------------------------- */

uint8_t oc_worse_quality(uint8_t a, uint8_t b)
{
    return a == OC_UNKNOWN || b == OC_UNKNOWN ? OC_UNKNOWN : (uint8_t)oc_quality_add(a, b);
}

/* Not of control flow: an assumption about it concerns its bodies. */
uint8_t oc_work_quality(const struct oc_op *op, const struct oc_node_cost *k, enum oc_work_kind work)
{
    const uint64_t count[] = {k->macs, k->flops, k->ops};
    bool control = oc_op_is(op, OC_F_CONTROL), no_work = op && !control && op->formula && !*op->formula;
    if (k->quality == OC_UNKNOWN || count[work])
        return k->quality;
    bool exact =
        k->quality == OC_UPPER || no_work || (k->quality == OC_EST && work == OC_WORK_MACS && op && !control);
    return exact ? OC_EXACT : k->quality;
}

struct counts {
    uint64_t macs, flops, ops, rd_act, rd_wt, wr;
};

struct tally {
    struct counts least, rest; /* of nodes that are exact or lower bounds; of all others */
    struct counts all;         /* of both, when they are settled */
    unsigned seen;             /* 1 << quality */
    unsigned seen_work[OC_WORK_COUNT];
    bool beyond; /* upper bounds beyond 64 bits: `all` is invalid */
};

static bool totals_add(uint64_t *sum, uint64_t v)
{
    return oc_add_u64(*sum, v, sum);
}

static bool totals_add_node(struct counts *c, const struct oc_node_cost *k)
{
    return totals_add(&c->macs, k->macs) && totals_add(&c->flops, k->flops) && totals_add(&c->ops, k->ops) &&
           totals_add(&c->rd_act, k->rd_act) && totals_add(&c->rd_wt, k->rd_wt) && totals_add(&c->wr, k->wr);
}

static bool totals_add_counts(struct counts *c, const struct counts *more)
{
    return totals_add(&c->macs, more->macs) && totals_add(&c->flops, more->flops) &&
           totals_add(&c->ops, more->ops) && totals_add(&c->rd_act, more->rd_act) &&
           totals_add(&c->rd_wt, more->rd_wt) && totals_add(&c->wr, more->wr);
}

static uint64_t moved(const struct counts *c)
{
    uint64_t bytes;
    return oc_add_u64(c->rd_act, c->rd_wt, &bytes) && oc_add_u64(bytes, c->wr, &bytes) ? bytes : UINT64_MAX;
}

/* False: a sum that must be known exceeds 64 bits. */
static bool tally(struct tally *t, const struct oc_op *op, const struct oc_node_cost *k)
{
    t->seen |= 1u << k->quality;
    for (unsigned w = 0; w < OC_WORK_COUNT; w++)
        t->seen_work[w] |= 1u << (k->quality == OC_EXACT ? OC_EXACT : oc_work_quality(op, k, w));
    if (k->quality == OC_EXACT || k->quality == OC_LOWER)
        return totals_add_node(&t->least, k);
    t->beyond |= !totals_add_node(&t->rest, k);
    return true;
}

/* Adds the nodes of one type to those of all. False as above. */
static bool tally_type(struct tally *t, const struct tally *type)
{
    t->seen |= type->seen;
    for (unsigned w = 0; w < OC_WORK_COUNT; w++)
        t->seen_work[w] |= type->seen_work[w];
    t->beyond |= type->beyond || !totals_add_counts(&t->rest, &type->rest);
    return totals_add_counts(&t->least, &type->least);
}

static void tally_end(struct tally *t)
{
    t->all = t->least;
    t->beyond = t->beyond || !totals_add_counts(&t->all, &t->rest);
}

/* What the sum is. An upper bound together with a lower one, or with a node of unknown cost, bounds nothing:
 * then the sum is that of the exact nodes and lower bounds, which bounds the whole from below. */
static const struct counts *totals_settle(const struct tally *t, uint8_t *quality)
{
    bool up = t->seen & 1u << OC_UPPER, down = t->seen & 1u << OC_LOWER, est = t->seen & 1u << OC_EST,
         unknown = t->seen & 1u << OC_UNKNOWN, least = unknown || t->beyond || (up && down && !est);
    *quality = unknown                   ? OC_UNKNOWN
               : least || (down && !est) ? OC_LOWER
               : est                     ? OC_EST
               : up                      ? OC_UPPER
                                         : OC_EXACT;
    return least ? &t->least : &t->all;
}

static void add_inexact(struct oc_totals *t, const struct oc_node_cost *k)
{
    const uint64_t bytes = k->rd_act + k->rd_wt + k->wr, from[] = {k->macs, k->flops, k->ops, bytes};
    uint64_t *to[] = {&t->not_exact.macs, &t->not_exact.flops, &t->not_exact.ops, &t->not_exact.bytes};
    t->not_exact.nodes++;
    for (size_t i = 0; i < OC_COUNT(to); i++)
        if (!totals_add(to[i], from[i]))
            *to[i] = UINT64_MAX;
}

static void count_node(struct oc_totals *t, const struct oc_node_cost *k)
{
    t->nodes++;
    t->unknown_nodes += k->quality == OC_UNKNOWN;
    t->estimated_nodes += k->quality == OC_EST || k->quality == OC_LOWER;
    if (k->quality != OC_EXACT)
        add_inexact(t, k);
}

static int totals_by_work(const void *a, const void *b)
{
    const struct oc_type_total *x = a, *y = b;
    uint64_t wx = x->flops + x->ops, wy = y->flops + y->ops;
    if (wx != wy)
        return wx < wy ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    int names = strcmp(x->op_type, y->op_type);
    return names ? names : strcmp(x->domain, y->domain);
}

struct type_rows { /* rows by operator type */
    struct oc_map index;
    struct tally *tally; /* by row */
    uint32_t cap, cap_tally;
    struct {
        const char *domain, *op_type;
        uint32_t row;
    } recent[64]; /* by address of the interned texts */
};

static uint32_t totals_find_row(struct oc_analysis *a, struct type_rows *t, const struct oc_node *n)
{
    char key[512];
    int len = snprintf(key, sizeof(key), "%s\x1f%s", n->domain, n->op_type);
    uint32_t row = a->n_by_type;
    size_t used = len < 0 ? 0 : (size_t)len < sizeof(key) ? (size_t)len : sizeof(key) - 1;
    if (oc_map_add(&t->index, key, used, &row, NULL)) {
        OC_GROW(t->tally, a->n_by_type, t->cap_tally);
        t->tally[a->n_by_type] = (struct tally){0};
        OC_GROW(a->by_type, a->n_by_type, t->cap);
        a->by_type[a->n_by_type++] = (struct oc_type_total){.domain = n->domain, .op_type = n->op_type};
    }
    return row;
}

/* Index of the row for this node's operator type. */
static uint32_t type_row(struct oc_analysis *a, struct type_rows *t, const struct oc_node *n)
{
    size_t at = ((uintptr_t)n->op_type >> 4) % OC_COUNT(t->recent);
    if (t->recent[at].op_type != n->op_type || t->recent[at].domain != n->domain) {
        t->recent[at].row = totals_find_row(a, t, n);
        t->recent[at].op_type = n->op_type;
        t->recent[at].domain = n->domain;
    }
    return t->recent[at].row;
}

static void settle_type(struct oc_type_total *t, const struct tally *sum)
{
    const struct counts *c = totals_settle(sum, &t->quality);
    t->macs = c->macs;
    t->flops = c->flops;
    t->ops = c->ops;
    t->bytes = moved(c);
}

static void settle_all(struct oc_totals *t, const struct tally *sum)
{
    const unsigned exact = 1u << OC_EXACT;
    uint8_t quality;
    const struct counts *c = totals_settle(sum, &quality), *least = &sum->least;
    t->quality = (enum oc_quality)quality;
    t->macs_exact = !(sum->seen_work[OC_WORK_MACS] & ~exact);
    t->work_exact =
        t->macs_exact && !((sum->seen_work[OC_WORK_FLOPS] | sum->seen_work[OC_WORK_OPS]) & ~exact);
    t->macs = c->macs;
    t->flops = c->flops;
    t->ops = c->ops;
    t->bytes_read_act = c->rd_act;
    t->bytes_read_weight = c->rd_wt;
    t->bytes_written = c->wr;
    t->least.macs = least->macs;
    t->least.flops = least->flops;
    t->least.ops = least->ops;
    t->least.bytes = moved(least);
}

bool oc_sum_known(const struct oc_totals *t, uint64_t sum, bool exact)
{
    return exact || sum || (!t->unknown_nodes && t->quality != OC_UNKNOWN && t->quality != OC_LOWER);
}

/* Sums the costs of the nodes again: total and by_type. False: beyond 64 bits. */
static bool sum_node_costs(struct oc_analysis *a)
{
    const struct oc_totals *t = a->total;
    struct type_rows rows = {.index = {.arena = &a->arena}};
    struct tally all = {0};
    bool ok = true;
    *a->total = (struct oc_totals){.params = t->params,
                                   .params_all = t->params_all,
                                   .params_computed = t->params_computed,
                                   .const_bytes = t->const_bytes,
                                   .const_bytes_computed = t->const_bytes_computed,
                                   .bytes_bound = t->bytes_bound};
    free(a->by_type);
    a->by_type = NULL;
    a->n_by_type = 0;
    for (uint32_t i = 0; i < a->model->n_node && ok; i++) {
        const struct oc_node *n = &a->model->node[i];
        const struct oc_node_cost *k = &a->cost[i];
        if (a->graph_use[n->graph] != OC_G_RUN || k->state == OC_NODE_NOT_TAKEN)
            continue;
        uint32_t row = type_row(a, &rows, n);
        struct oc_type_total *type = &a->by_type[row];
        type->nodes++; /* NOLINT(clang-analyzer-core.NullDereference): type_row() adds the row */
        count_node(a->total, k);
        ok = tally(&rows.tally[row], a->op[i], k) && totals_add(&type->params, k->params);
    }
    for (uint32_t i = 0; i < a->n_by_type; i++) {
        ok = tally_type(&all, &rows.tally[i]) && ok;
        tally_end(&rows.tally[i]);
    }
    tally_end(&all);
    settle_all(a->total, &all);
    ok = ok && (!all.beyond || all.seen & (1u << OC_UPPER | 1u << OC_EST));
    for (uint32_t i = 0; i < a->n_by_type; i++)
        settle_type(&a->by_type[i], &rows.tally[i]);
    oc_map_free(&rows.index);
    free(rows.tally);
    if (a->n_by_type)
        qsort(a->by_type, a->n_by_type, sizeof(*a->by_type), totals_by_work);
    return ok;
}

/* ---- --count bytes=graph: what must move if everything between inputs and outputs stays on chip ----------- */

/* Stored or computed size of a value of the main graph; 0 for non-tensors. False: beyond 64 bits. */
static bool totals_value_bytes(const struct oc_analysis *a, uint32_t value, uint64_t *bytes, uint8_t *quality)
{
    const struct oc_type *t = value == OC_NONE ? NULL : &a->type[value];
    uint64_t count = 1;
    *bytes = 0;
    if (!t || (t->kind != OC_T_TENSOR && t->kind != OC_T_NONE))
        return true;
    if (t->kind == OC_T_NONE || !t->shape.ranked || t->dtype == OC_DT_UNDEFINED) {
        *quality = OC_UNKNOWN;
        return true;
    }
    for (unsigned i = 0; i < t->shape.rank; i++) {
        int64_t d = oc_dim_max_value(a->exprs, t->shape.dim[i]);
        if (!oc_is_known(t->shape.dim[i]))
            *quality = oc_worse_quality(*quality, d < 0 ? OC_UNKNOWN : OC_UPPER);
        if (!oc_mul_u64(count, d < 0 ? 0 : (uint64_t)d, &count))
            return false;
    }
    return oc_bytes_of(t->dtype, count, bytes);
}

static bool sum_values(const struct oc_analysis *a, const uint32_t *value, uint32_t n, bool inputs,
                       uint64_t *sum, uint8_t *quality)
{
    uint64_t bytes;
    *sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_value *v = value[i] == OC_NONE ? NULL : &a->model->value[value[i]];
        if (!v || (inputs && (v->constant || (!v->n_use && !v->graph_output))))
            continue;
        if (!totals_value_bytes(a, value[i], &bytes, quality) || !totals_add(sum, bytes))
            return false;
    }
    return true;
}

bool oc_graph_bytes(const struct oc_analysis *a, struct oc_graph_bytes *out, uint8_t *quality)
{
    const struct oc_graph *g = &a->model->graph[0];
    out->constants = 0;
    for (unsigned c = 0; c < OC_PC_COUNT; c++)
        if (c != OC_PC_UNUSED && c != OC_PC_META && !totals_add(&out->constants, a->class_bytes[c]))
            return false;
    return sum_values(a, g->input, g->n_input, true, &out->inputs, quality) &&
           sum_values(a, g->output, g->n_output, false, &out->outputs, quality);
}

static bool take_graph_bytes(struct oc_analysis *a)
{
    struct oc_totals *t = a->total;
    struct oc_graph_bytes b;
    uint8_t quality = (uint8_t)t->quality;
    if (!oc_graph_bytes(a, &b, &quality))
        return false;
    t->quality = (enum oc_quality)quality;
    t->bytes_read_act = b.inputs;
    t->bytes_read_weight = b.constants;
    t->bytes_written = b.outputs;
    t->not_exact.bytes = 0;
    t->bytes_bound = true;
    return true;
}

int oc_sum_totals(struct oc_engine *e)
{
    const uint64_t *el = e->a->class_elems;
    struct oc_totals *t = e->a->total;
    e->a->graph_use = e->graph_use;
    if (!sum_node_costs(e->a) || (e->o->graph_bytes && !take_graph_bytes(e->a)))
        return oc_fail(e->err, OC_ELIMIT, "the totals overflow 64 bits");
    t->params = el[OC_PC_WEIGHT] + el[OC_PC_BIAS] + el[OC_PC_NORM] + el[OC_PC_EMBED];
    t->params_all = t->params + el[OC_PC_STAT] + el[OC_PC_TABLE];
    for (unsigned c = 0; c < OC_PC_COUNT; c++)
        t->const_bytes += e->a->class_bytes[c];
    return 0;
}

/* ---- mean costs --------------------------------------------------------------------------------------- */

void oc_cost_counts(struct oc_node_cost *k, uint64_t *count[OC_COST_COUNTS])
{
    uint64_t *const all[OC_COST_COUNTS] = {&k->macs,   &k->flops, &k->ops, &k->transcendentals,
                                           &k->rd_act, &k->rd_wt, &k->wr};
    memcpy(count, all, sizeof(all));
}

bool oc_cost_sum_add(struct oc_cost_sum *s, const struct oc_node_cost *cost, uint64_t times)
{
    struct oc_node_cost k = *cost;
    uint64_t *count[OC_COST_COUNTS];
    bool fits = true;
    oc_cost_counts(&k, count);
    for (unsigned i = 0; i < OC_COST_COUNTS; i++)
        fits &= oc_add_times(&s->count[i], *count[i], times);
    for (unsigned i = 0; i < k.n_hist; i++)
        fits &= oc_add_times(&s->hist[k.hist[i].is_int][k.hist[i].prim], k.hist[i].n, times);
    return fits;
}

void oc_cost_sum_mean(const struct oc_cost_sum *s, uint64_t runs, struct oc_arena *arena,
                      struct oc_node_cost *k)
{
    struct oc_prim_count all[2 * OC_PRIM_COUNT] = {{0}};
    uint64_t *count[OC_COST_COUNTS];
    unsigned used = 0;
    oc_cost_counts(k, count);
    for (unsigned i = 0; i < OC_COST_COUNTS; i++)
        *count[i] = oc_mean_count(s->count[i], runs);
    for (unsigned i = 0; i < 2 * OC_PRIM_COUNT; i++) {
        uint64_t sum = s->hist[i / OC_PRIM_COUNT][i % OC_PRIM_COUNT];
        if (sum)
            all[used++] = (struct oc_prim_count){oc_mean_count(sum, runs), (uint8_t)(i % OC_PRIM_COUNT),
                                                 i >= OC_PRIM_COUNT};
    }
    struct oc_prim_count *kept = OC_NEW_ARRAY(arena, used + 1, struct oc_prim_count);
    memcpy(kept, all, used * sizeof(*kept));
    k->hist = kept;
    k->n_hist = (uint8_t)used;
}

struct node_sum {
    struct oc_cost_sum sum;
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

static void add_node(struct node_sum *s, const struct oc_node_cost *k, uint64_t runs)
{
    bool runs_here = k->state != OC_NODE_NOT_TAKEN, ran_before = s->shape.state != OC_NODE_NOT_TAKEN;
    s->overflow |= !oc_cost_sum_add(&s->sum, k, runs);
    if (!s->shape.trips || (runs_here && !ran_before))
        s->shape = *k;
    if (!s->shape.note)
        s->shape.note = k->note;
    s->quality = oc_worse_quality(s->quality, k->quality);
}

void oc_cost_sums_add(struct oc_cost_sums *s, const struct oc_analysis *a, uint64_t runs)
{
    const uint64_t bytes[] = {a->total->bytes_read_act, a->total->bytes_read_weight, a->total->bytes_written};
    for (uint32_t i = 0; i < s->m->n_node; i++)
        add_node(&s->node[i], &a->cost[i], runs);
    for (uint32_t i = 0; i < s->m->n_graph; i++)
        s->graph_use[i] = a->graph_use[i] == OC_G_RUN ? OC_G_RUN : s->graph_use[i];
    for (unsigned i = 0; i < OC_COUNT(bytes); i++)
        oc_add_times(&s->graph_bytes[i], bytes[i], runs);
    bool higher =
        s->peak.quality != OC_UNKNOWN && (a->peak.quality == OC_UNKNOWN || a->peak.bytes > s->peak.bytes);
    if (!s->runs || higher)
        s->peak = a->peak;
    s->runs += runs;
}

void oc_cost_sums_apply(const struct oc_cost_sums *s, struct oc_analysis *a)
{
    uint8_t *use = OC_NEW_ARRAY(&a->arena, s->m->n_graph, uint8_t);
    for (uint32_t i = 0; i < s->m->n_graph; i++)
        use[i] = s->graph_use[i] == OC_G_RUN ? OC_G_RUN : a->graph_use[i];
    a->graph_use = use;
    for (uint32_t i = 0; i < s->m->n_node; i++) {
        const struct node_sum *n = &s->node[i];
        a->cost[i] = n->shape;
        a->twin[i] = i;
        oc_cost_sum_mean(&n->sum, s->runs, &a->arena, &a->cost[i]);
        a->cost[i].quality = n->overflow ? OC_UNKNOWN : n->quality;
    }
    a->peak = s->peak;
    sum_node_costs(a);
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
