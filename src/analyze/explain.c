#include "analyze/receipt.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "onnxcost.h"

struct pass {
    struct oc_explanation *x;
    const struct oc_analysis *const *a;
    struct oc_recount *recount[2];
    struct oc_map index; /* of types */
    bool overflow;
};

/* ---- sums ------------------------------------------------------------------------------------------- */

static int64_t minus(struct pass *p, uint64_t a, uint64_t b)
{
    if (a > INT64_MAX || b > INT64_MAX) {
        p->overflow = true;
        return 0;
    }
    return (int64_t)a - (int64_t)b;
}

static uint64_t explain_times(struct pass *p, uint64_t a, uint64_t b)
{
    uint64_t v = 0;
    if (!oc_mul_u64(a, b, &v))
        p->overflow = true;
    return v;
}

static void explain_add_term(struct pass *p, struct oc_explain_type *t, const char *reason,
                             int64_t difference)
{
    uint32_t i = 0;
    if (difference == 0)
        return;
    while (i < t->n_term && strcmp(t->term[i].reason, reason))
        i++;
    if (i == t->n_term) {
        OC_GROW(t->term, t->n_term, t->cap_term);
        t->term[t->n_term++] = (struct oc_explain_term){.reason = oc_strdup(&p->x->arena, reason)};
    }
    if (!oc_add_i64(t->term[i].difference, difference, &t->term[i].difference))
        p->overflow = true;
}

static struct oc_explain_type *explain_type_of(struct pass *p, const struct oc_node *n)
{
    const char *key = oc_printf(&p->x->arena, "%s\x1f%s", n->domain, n->op_type);
    uint32_t i = p->x->n_type;
    if (oc_map_add(&p->index, key, strlen(key), &i, NULL)) {
        OC_GROW(p->x->type, p->x->n_type, p->x->cap_type);
        p->x->type[p->x->n_type++] = (struct oc_explain_type){.domain = n->domain, .op_type = n->op_type};
    }
    return &p->x->type[i];
}

/* ---- reasons ---------------------------------------------------------------------------------------- */

/* Name of the non-MAC work of an operator class. */
static const char *rest_name(const struct oc_op *op)
{
    static const char *const name[OC_OP_CLASS_COUNT] = {
        [OC_OP_ELEMENTWISE] = "element-wise work",
        [OC_OP_REDUCE] = "reductions",
        [OC_OP_GEMM] = "bias and scales",
        [OC_OP_CONV] = "bias",
        [OC_OP_POOL] = "pooling windows",
        [OC_OP_NORM] = "normalisations",
        [OC_OP_SOFTMAX] = "softmax",
        [OC_OP_ATTENTION] = "scale, mask and softmax",
        [OC_OP_RNN] = "gates",
        [OC_OP_RESIZE] = "resampling",
        [OC_OP_QUANTIZE] = "quantization",
        [OC_OP_COPY] = "data movement",
        [OC_OP_LAYOUT] = "data movement",
        [OC_OP_GATHER] = "data movement",
    };
    return op->op_class < OC_OP_CLASS_COUNT && name[op->op_class] ? name[op->op_class] : "other work";
}

static const char *option_name(const struct oc_op *op)
{
    return op->op_class == OC_OP_CONV        ? "taps on padding"
           : op->op_class == OC_OP_ATTENTION ? "pairs hidden by causal masks and windows"
                                             : "counting options";
}

/* mac_part = unit*macs + special, and rest: the differences term by term. */
static void explain_compare(struct pass *p, struct oc_explain_type *t, const struct oc_receipt r[2],
                            uint64_t trips)
{
    const struct oc_count_parts *a = &r[0].parts, *b = &r[1].parts;
    struct oc_arena *arena = &p->x->arena;
    uint64_t seen_a = explain_times(p, explain_times(p, a->unit, a->macs), trips),
             seen_b = explain_times(p, explain_times(p, b->unit, b->macs), trips);
    uint64_t middle = explain_times(p, explain_times(p, a->unit, b->macs), trips); /* A's weight, B's MACs */
    explain_add_term(p, t, option_name(r[0].op), minus(p, middle, seen_a));
    explain_add_term(p, t, oc_printf(arena, "one MAC counts %u -> %u", (unsigned)a->unit, (unsigned)b->unit),
                     minus(p, seen_b, middle));
    if (a->mac_text)
        explain_add_term(p, t, oc_printf(arena, "%s: %s", p->x->name[0], a->mac_text),
                         minus(p, seen_a, explain_times(p, a->mac_part, trips)));
    if (b->mac_text)
        explain_add_term(p, t, oc_printf(arena, "%s: %s", p->x->name[1], b->mac_text),
                         minus(p, explain_times(p, b->mac_part, trips), seen_b));
    explain_add_term(p, t, oc_printf(arena, "%s: %s -> %s", rest_name(r[0].op), a->rest_text, b->rest_text),
                     minus(p, explain_times(p, b->rest, trips), explain_times(p, a->rest, trips)));
}

static uint64_t explain_counted(const struct oc_analysis *a, uint32_t node)
{
    return a->cost[node].quality == OC_UNKNOWN ? 0 : a->cost[node].flops + a->cost[node].ops;
}

/* Why only one convention counts the node. */
static const char *one_sided(const struct oc_node_cost *k)
{
    return k->state == OC_NODE_FOLDED || k->state == OC_NODE_ABSORBED ? "nodes of constants"
                                                                      : "another branch is counted";
}

static void explain_node(struct pass *p, uint32_t node)
{
    const struct oc_analysis *const *a = p->a;
    uint64_t count[2] = {explain_counted(a[0], node), explain_counted(a[1], node)};
    struct oc_receipt r[2];
    bool known[2];
    for (int i = 0; i < 2; i++)
        known[i] = oc_recount_node(p->recount[i], node, false, &r[i]);
    if (!known[0] && !known[1])
        return;
    struct oc_explain_type *t = explain_type_of(p, &a[0]->model->node[node]);
    t->nodes++;
    for (int i = 0; i < 2; i++)
        if (!oc_add_u64(t->count[i], count[i], &t->count[i]))
            p->overflow = true;
    if (!known[0] || !known[1]) {
        explain_add_term(p, t, one_sided(&a[known[0] ? 0 : 1]->cost[node]), minus(p, count[1], count[0]));
        return;
    }
    uint64_t trips[2] = {a[0]->cost[node].trips, a[1]->cost[node].trips};
    explain_add_term(p, t, "executions", minus(p, explain_times(p, r[0].flops, trips[1]), count[0]));
    explain_compare(p, t, r, trips[1]);
    explain_add_term(p, t, "executions",
                     minus(p, count[1], explain_times(p, r[1].flops, trips[1]))); /* --if avg counts half */
}

/* ---- order ------------------------------------------------------------------------------------------ */

static uint64_t explain_size_of(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static int explain_by_difference(const void *a, const void *b)
{
    const struct oc_explain_term *x = a, *y = b;
    uint64_t p = explain_size_of(x->difference), q = explain_size_of(y->difference);
    return p != q ? (p < q ? 1 : -1) : strcmp(x->reason, y->reason);
}

static int by_type_difference(const void *a, const void *b)
{
    const struct oc_explain_type *x = a, *y = b;
    uint64_t p = x->count[1] > x->count[0] ? x->count[1] - x->count[0] : x->count[0] - x->count[1];
    uint64_t q = y->count[1] > y->count[0] ? y->count[1] - y->count[0] : y->count[0] - y->count[1];
    if (p != q)
        return p < q ? 1 : -1;
    if (x->count[0] != y->count[0])
        return x->count[0] < y->count[0] ? 1 : -1;
    int names = strcmp(x->op_type, y->op_type);
    return names ? names : strcmp(x->domain, y->domain);
}

static void explain_order(struct oc_explanation *x)
{
    for (uint32_t i = 0; i < x->n_type; i++)
        if (x->type[i].n_term)
            qsort(x->type[i].term, x->type[i].n_term, sizeof(*x->type[i].term), explain_by_difference);
    if (x->n_type)
        qsort(x->type, x->n_type, sizeof(*x->type), by_type_difference);
}

int oc_explain(const struct oc_analysis *const a[2], struct oc_explanation *out, struct oc_err *err)
{
    *out = (struct oc_explanation){.name = {"onnxcost", "onnxcost"}};
    struct pass p = {.x = out, .a = a, .index = {.arena = &out->arena}};
    for (int i = 0; i < 2; i++) {
        if (a[i]->counting->convention)
            out->name[i] = oc_strdup(&out->arena, a[i]->counting->convention);
        if (!oc_add_u64(a[i]->total->flops, a[i]->total->ops, &out->count[i]))
            p.overflow = true;
        p.recount[i] = oc_recount_new(a[i]);
    }
    for (uint32_t i = 0; i < a[0]->model->n_node && !p.overflow; i++)
        explain_node(&p, i);
    for (int i = 0; i < 2; i++)
        oc_recount_free(p.recount[i]);
    oc_map_free(&p.index);
    explain_order(out);
    if (!p.overflow)
        return 0;
    oc_explanation_free(out);
    return oc_fail(err, OC_ELIMIT, "the differences overflow 64 bits");
}

void oc_explanation_free(struct oc_explanation *x)
{
    for (uint32_t i = 0; i < x->n_type; i++)
        free(x->type[i].term);
    free(x->type);
    oc_arena_free(&x->arena);
    *x = (struct oc_explanation){0};
}
