#include "report/what_if.h"

#include <math.h>

#include "base/ck.h"
#include "onnxcost.h"

/* The row of a node; OC_NONE. */
static uint32_t *rows_of_nodes(struct oc_report *r)
{
    uint32_t *of = OC_NEW_ARRAY(&r->arena, r->in->model->n_node, uint32_t);
    for (uint32_t i = 0; i < r->in->model->n_node; i++)
        of[i] = OC_NONE;
    for (uint32_t i = 0; i < r->all.n; i++) {
        uint32_t n, one;
        const uint32_t *node = oc_what_if_nodes(r, i, &one, &n);
        for (uint32_t k = 0; k < n; k++)
            if (of[node[k]] == OC_NONE)
                of[node[k]] = i;
    }
    return of;
}

static bool is_elementwise(const struct oc_analysis *a, const uint32_t *node, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node_cost *k = &a->cost[node[i]];
        if (k->op_class != OC_OP_ELEMENTWISE || k->state != OC_NODE_NORMAL || k->quality == OC_UNKNOWN ||
            k->alias)
            return false;
    }
    return n > 0;
}

/* Nodes that another one can be fused to: those that compute or copy, executed as often as that one. */
static bool can_take(const struct oc_analysis *a, uint32_t node, uint64_t trips)
{
    const struct oc_node_cost *k = &a->cost[node];
    return k->state == OC_NODE_NORMAL && k->quality != OC_UNKNOWN && !k->alias && k->trips == trips &&
           k->op_class != OC_OP_CONTROL && k->op_class != OC_OP_OTHER;
}

struct link {      /* a tensor between two rows */
    uint32_t from; /* row that produces it */
    uint64_t bytes;
};

/* Number of reads of a value by these nodes. */
static uint32_t count_reads(const struct oc_model *m, const uint32_t *node, uint32_t n, uint32_t value)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m->node[node[i]].n_in; k++)
            count += m->node[node[i]].in[k] == value;
    return count;
}

/* Follows views to the value that owns the memory. Stops where another node reads it. */
static uint32_t memory_of(const struct oc_analysis *a, uint32_t value)
{
    const struct oc_model *m = a->model;
    for (;;) {
        const struct oc_value *v = &m->value[value];
        if (v->producer == OC_NONE || !a->cost[v->producer].alias || m->node[v->producer].n_in == 0)
            return value;
        uint32_t before = m->node[v->producer].in[0];
        if (before == OC_NONE || m->value[before].n_use != 1 || m->value[before].graph_output)
            return value;
        value = before;
    }
}

/* The latest row that produces a value which these nodes only read, in the size that they write. */
static struct link link_of(const struct oc_what_if *x, const uint32_t *row_of, uint32_t row,
                           const uint32_t *node, uint32_t n)
{
    const struct oc_analysis *a = x->r->in->analysis;
    const struct oc_model *m = a->model;
    struct link best = {.from = OC_NONE};
    uint64_t written, bytes;
    const struct oc_node *last = &m->node[node[n - 1]];
    if (last->n_out != 1 || last->out[0] == OC_NONE || !oc_type_bytes(&a->type[last->out[0]], &written))
        return best;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m->node[node[i]].n_in; k++) {
            uint32_t v = m->node[node[i]].in[k];
            if (v == OC_NONE || m->value[v].graph_output || count_reads(m, node, n, v) != m->value[v].n_use)
                continue;
            uint32_t producer = m->value[memory_of(a, v)].producer;
            if (producer == OC_NONE || row_of[producer] == OC_NONE ||
                !can_take(a, producer, a->cost[node[0]].trips))
                continue;
            uint32_t from = oc_what_if_root(x, row_of[producer]);
            if (from == row || !x->row[from].limited || !oc_type_bytes(&a->type[v], &bytes) ||
                bytes != written)
                continue;
            if (best.from == OC_NONE || from > best.from)
                best = (struct link){from, bytes};
        }
    return best;
}

static bool fuse_rows_add_work(struct oc_work *to, const struct oc_work *w)
{
    bool ok = oc_add_u64(to->bytes, w->bytes, &to->bytes) &&
              oc_add_u64(to->weight_bytes, w->weight_bytes, &to->weight_bytes) &&
              oc_add_u64(to->written, w->written, &to->written);
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        ok = ok && oc_add_u64(to->macs[c], w->macs[c], &to->macs[c]) &&
             oc_add_u64(to->flops[c], w->flops[c], &to->flops[c]) &&
             oc_add_u64(to->special[c], w->special[c], &to->special[c]) &&
             oc_add_u64(to->special_flops[c], w->special_flops[c], &to->special_flops[c]);
    return ok;
}

/* Both rows as one launch, without writing and reading the intermediate. */
static bool join_work(const struct oc_work *a, const struct oc_work *b, uint64_t between, struct oc_work *out)
{
    *out = *a;
    if (a->unknown || b->unknown || a->written < between ||
        b->bytes - b->weight_bytes - b->written < between || !fuse_rows_add_work(out, b))
        return false;
    out->written -= between;
    out->bytes -= 2 * between;
    return true;
}

/* The producer's time scales with its roofline, and does not exceed the sum of both. */
static void join_time(struct oc_what_if *x, struct oc_what_if_row *to, struct oc_what_if_row *from,
                      const struct oc_work *work)
{
    struct oc_what_if_row was = *to;
    double both = to->time_s + from->time_s;
    to->work = *work;
    oc_what_if_limit(x, to);
    double t = !x->r->has_time                   ? oc_what_if_moved(to->time_s, &was, to)
               : was.roof_s > 0 && !to->overhead ? to->time_s * (to->roof_s / was.roof_s)
                                                 : to->time_s;
    to->time_s = isnan(to->roof_s) || isnan(both) ? NAN : fmin(t, both);
    from->time_s = 0;
}

uint32_t oc_fuse_rows(struct oc_what_if *x)
{
    struct oc_report *r = x->r;
    uint32_t *row_of = rows_of_nodes(r), fused = 0;
    for (uint32_t i = 0; i < r->all.n; i++) {
        uint32_t n, one;
        struct oc_work work;
        const uint32_t *node = oc_what_if_nodes(r, i, &one, &n);
        if (!x->row[i].counted || !x->row[i].limited || x->row[i].into != i ||
            !is_elementwise(r->in->analysis, node, n))
            continue;
        struct link l = link_of(x, row_of, i, node, n);
        uint64_t between;
        if (l.from == OC_NONE || !x->row[l.from].counted ||
            !oc_mul_u64(l.bytes, r->in->analysis->cost[node[0]].trips, &between) ||
            !join_work(&x->row[l.from].work, &x->row[i].work, between, &work))
            continue;
        join_time(x, &x->row[l.from], &x->row[i], &work);
        x->row[i].into = l.from;
        fused++;
    }
    return fused;
}
