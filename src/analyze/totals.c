/* Sums over the executed nodes, and the quality of the sums. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"
#include "base/ck.h"

uint8_t oc_worse_quality(uint8_t a, uint8_t b)
{
    if ((a == OC_UPPER && b == OC_LOWER) || (a == OC_LOWER && b == OC_UPPER))
        return OC_EST;
    return a > b ? a : b;
}

static bool add(uint64_t *sum, uint64_t v)
{
    return oc_add_u64(*sum, v, sum);
}

static bool add_node(struct oc_totals *t, const struct oc_node_cost *k)
{
    bool ok = add(&t->macs, k->macs) && add(&t->flops, k->flops) && add(&t->ops, k->ops) &&
              add(&t->bytes_read_act, k->rd_act) && add(&t->bytes_read_weight, k->rd_wt) &&
              add(&t->bytes_written, k->wr);
    t->nodes++;
    t->unknown_nodes += k->quality == OC_UNKNOWN;
    t->estimated_nodes += k->quality == OC_EST || k->quality == OC_LOWER;
    t->quality = (enum oc_quality)oc_worse_quality((uint8_t)t->quality, k->quality);
    uint64_t bytes = k->rd_act + k->rd_wt + k->wr;
    if (k->quality == OC_EXACT || k->quality == OC_LOWER)
        ok = ok && add(&t->least.macs, k->macs) && add(&t->least.flops, k->flops) &&
             add(&t->least.ops, k->ops) && add(&t->least.bytes, bytes);
    if (k->quality == OC_EXACT || !ok)
        return ok;
    t->not_exact.nodes++;
    return add(&t->not_exact.macs, k->macs) && add(&t->not_exact.flops, k->flops) &&
           add(&t->not_exact.ops, k->ops) && add(&t->not_exact.bytes, bytes);
}

static bool add_type(struct oc_type_total *t, const struct oc_node_cost *k)
{
    t->nodes++;
    t->quality = oc_worse_quality(t->quality, k->quality);
    return add(&t->macs, k->macs) && add(&t->flops, k->flops) && add(&t->ops, k->ops) &&
           add(&t->bytes, k->rd_act + k->rd_wt + k->wr) && add(&t->params, k->params);
}

static int by_work(const void *a, const void *b)
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
    uint32_t cap;
    struct {
        const char *domain, *op_type;
        uint32_t row;
    } recent[64]; /* by address of the interned texts */
};

static uint32_t find_row(struct oc_analysis *a, struct type_rows *t, const struct oc_node *n)
{
    char key[512];
    int len = snprintf(key, sizeof(key), "%s\x1f%s", n->domain, n->op_type);
    uint32_t row = a->n_by_type;
    size_t used = len < 0 ? 0 : (size_t)len < sizeof(key) ? (size_t)len : sizeof(key) - 1;
    if (oc_map_add(&t->index, key, used, &row, NULL)) {
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
        t->recent[at].row = find_row(a, t, n);
        t->recent[at].op_type = n->op_type;
        t->recent[at].domain = n->domain;
    }
    return t->recent[at].row;
}

bool oc_sum_nodes(struct oc_analysis *a)
{
    const struct oc_totals *t = &a->total;
    struct type_rows rows = {.index = {.arena = &a->arena}};
    bool ok = true;
    a->total = (struct oc_totals){.params = t->params,
                                  .params_all = t->params_all,
                                  .params_computed = t->params_computed,
                                  .const_bytes = t->const_bytes,
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
        ok = add_node(&a->total, k) && add_type(&a->by_type[row], k);
    }
    oc_map_free(&rows.index);
    if (a->n_by_type)
        qsort(a->by_type, a->n_by_type, sizeof(*a->by_type), by_work);
    return ok;
}

/* ---- --bytes graph: what must move if everything between inputs and outputs stays on chip ----------------
 */

/* Stored or computed size of a value of the main graph; 0 for non-tensors. False: beyond 64 bits. */
static bool value_bytes(struct oc_engine *e, uint32_t value, uint64_t *bytes)
{
    const struct oc_type *t = value == OC_NONE ? NULL : &e->a->type[value];
    struct oc_totals *total = &e->a->total;
    uint64_t count = 1;
    *bytes = 0;
    if (!t || (t->kind != OC_T_TENSOR && t->kind != OC_T_NONE))
        return true;
    if (t->kind == OC_T_NONE || !t->shape.ranked || t->dtype == OC_DT_UNDEFINED) {
        total->quality = OC_UNKNOWN;
        return true;
    }
    for (unsigned i = 0; i < t->shape.rank; i++) {
        int64_t d = oc_dim_max_value(e->a->exprs, t->shape.dim[i]);
        if (!oc_is_known(t->shape.dim[i]))
            total->quality =
                (enum oc_quality)oc_worse_quality((uint8_t)total->quality, d < 0 ? OC_UNKNOWN : OC_UPPER);
        if (!oc_mul_u64(count, d < 0 ? 0 : (uint64_t)d, &count))
            return false;
    }
    return oc_bytes_of(t->dtype, count, bytes);
}

static bool sum_values(struct oc_engine *e, const uint32_t *value, uint32_t n, bool inputs, uint64_t *sum)
{
    uint64_t bytes;
    *sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_value *v = value[i] == OC_NONE ? NULL : &e->m->value[value[i]];
        if (!v || (inputs && (v->constant || (!v->n_use && !v->graph_output))))
            continue;
        if (!value_bytes(e, value[i], &bytes) || !add(sum, bytes))
            return false;
    }
    return true;
}

/* Constants without readers, or read only by the host, do not move. */
static bool graph_bytes(struct oc_engine *e)
{
    const struct oc_graph *g = &e->m->graph[0];
    struct oc_totals *t = &e->a->total;
    t->bytes_read_weight = 0;
    for (unsigned c = 0; c < OC_PC_COUNT; c++)
        if (c != OC_PC_UNUSED && c != OC_PC_META && !add(&t->bytes_read_weight, e->a->class_bytes[c]))
            return false;
    t->not_exact.bytes = 0;
    t->bytes_bound = true;
    return sum_values(e, g->input, g->n_input, true, &t->bytes_read_act) &&
           sum_values(e, g->output, g->n_output, false, &t->bytes_written);
}

int oc_sum_totals(struct oc_engine *e)
{
    const uint64_t *el = e->a->class_elems;
    struct oc_totals *t = &e->a->total;
    e->a->graph_use = e->graph_use;
    if (!oc_sum_nodes(e->a) || (e->o->graph_bytes && !graph_bytes(e)))
        return oc_fail(e->err, OC_ELIMIT, "the totals overflow 64 bits");
    t->params = el[OC_PC_WEIGHT] + el[OC_PC_BIAS] + el[OC_PC_NORM] + el[OC_PC_EMBED];
    t->params_all = t->params + el[OC_PC_STAT] + el[OC_PC_TABLE];
    for (unsigned c = 0; c < OC_PC_COUNT; c++)
        t->const_bytes += e->a->class_bytes[c];
    return 0;
}
