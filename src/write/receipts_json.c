#include <string.h>

#include "analyze/receipt.h"
#include "write/json_keys.h"
#include "report/receipts.h"

static void dimensions(struct oc_json_out *w, const struct oc_analysis *a, struct oc_arena *arena,
                       uint32_t value)
{
    const struct oc_shape *s = &a->type[value].shape;
    oc_jw_key(w, "dims");
    if (!s->ranked) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_array(w);
    for (unsigned i = 0; i < s->rank; i++) {
        oc_jw_begin_object(w);
        oc_jw_key(w, "value");
        if (oc_is_known(s->dim[i]))
            oc_jw_i64(w, s->dim[i].v);
        else
            oc_jw_null(w);
        if (!oc_is_known(s->dim[i]))
            oc_key_text(w, "origin", oc_dim_text(a->exprs, s->dim[i]));
        oc_key_text(w, "from", oc_dim_source(a, arena, value, i));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void operand(struct oc_json_out *w, const struct oc_report_in *in, struct oc_arena *arena,
                    uint32_t value, const struct oc_slot_bytes *b)
{
    const struct oc_analysis *a = in->analysis;
    if (value == OC_NONE) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_object(w);
    oc_key_text(w, "name", in->model->value[value].name);
    oc_key_text(w, "type", oc_type_text(arena, a->exprs, &a->type[value]));
    oc_key_text(w, "source", oc_value_source(a, arena, value));
    oc_jw_key(w, "constant");
    oc_jw_bool(w, a->is_const[value]);
    dimensions(w, a, arena, value);
    oc_key_u64_if(w, "bytes_moved", b != NULL, b ? b->moved : 0);
    oc_key_u64_if(w, "bytes_whole", b != NULL, b ? b->whole : 0);
    oc_key_text(w, "why", b ? b->why : NULL);
    oc_jw_end_object(w);
}

static void operands(struct oc_json_out *w, const struct oc_report_in *in, struct oc_arena *arena,
                     const char *key, const uint32_t *id, uint32_t n, const struct oc_slot_bytes *b)
{
    oc_jw_key(w, key);
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < n; i++)
        operand(w, in, arena, id[i], b ? &b[i] : NULL);
    oc_jw_end_array(w);
}

static void formula(struct oc_json_out *w, const struct oc_receipt *r)
{
    oc_jw_key(w, "terms");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < r->formula.n_term; i++) {
        const struct oc_formula_term *t = &r->formula.term[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "primitive", oc_prim_name(t->prim));
        oc_key_text(w, "formula", t->expr);
        oc_key_text(w, "numbers", t->numbers);
        oc_key_u64_if(w, "value", t->known, t->value);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_key(w, "where");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < r->formula.n_name; i++) {
        const struct oc_formula_name *x = &r->formula.name[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "name", x->name);
        oc_key_text(w, "formula", x->expr);
        oc_key_u64_if(w, "value", x->known, x->value);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void histogram(struct oc_json_out *w, const struct oc_receipt *r)
{
    oc_jw_key(w, "primitives");
    oc_jw_begin_array(w);
    for (unsigned i = 0; i < 2 * OC_PRIM_COUNT; i++) {
        unsigned p = i / 2;
        uint64_t n = i % 2 ? r->cost.hist_i[p] : r->cost.hist_f[p];
        if (!n)
            continue;
        oc_jw_begin_object(w);
        oc_key_text(w, "primitive", oc_prim_name(p));
        oc_key_text(w, "kind", i % 2 ? "integer" : "float");
        oc_key_u64(w, "count", n);
        oc_key_u64(w, "weight", r->weight[p]);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void one(struct oc_json_out *w, const struct oc_report_in *in, struct oc_recount *recount,
                struct oc_arena *arena, uint32_t node)
{
    const struct oc_node *n = &in->model->node[node];
    const struct oc_node_cost *k = &in->analysis->cost[node];
    const struct oc_op *op = in->analysis->op[node];
    struct oc_receipt r;
    bool counted = oc_recount_node(recount, node, true, &r);
    oc_jw_begin_object(w);
    oc_key_u64(w, "index", node);
    oc_key_text(w, "name", n->name[0] ? n->name : NULL);
    oc_key_text(w, "op_type", n->op_type);
    oc_key_text(w, "domain", n->domain);
    oc_jw_key(w, "opset");
    oc_jw_i64(w, n->opset);
    oc_key_u64_if(w, "rule_since", op != NULL, op ? (uint64_t)op->since : 0);
    oc_key_text(w, "family", op ? oc_op_family_name(op) : NULL);
    oc_key_text(w, "rule", op ? oc_formula_text(op) : NULL);
    oc_jw_key(w, "attributes");
    oc_jw_begin_object(w);
    for (uint32_t i = 0; i < n->n_attr; i++)
        oc_key_text(w, n->attr[i].name, oc_attr_text(arena, &n->attr[i]));
    oc_jw_end_object(w);
    operands(w, in, arena, "inputs", n->in, n->n_in, counted ? r.in : NULL);
    operands(w, in, arena, "outputs", n->out, n->n_out, counted ? r.out : NULL);
    if (counted) {
        formula(w, &r);
        histogram(w, &r);
    }
    oc_key_u64_if(w, "flops_per_execution", counted, counted ? r.flops : 0);
    oc_key_u64(w, "trips", k->trips);
    oc_key_u64(w, "params", k->params);
    oc_key_quality(w, k->quality);
    oc_key_text(w, "reason", k->note ? k->note : oc_node_reason(k));
    oc_jw_end_object(w);
}

void oc_receipts_json(const struct oc_report_in *in, const uint32_t *node, size_t n, struct oc_arena *arena,
                      struct oc_json_out *w)
{
    struct oc_recount *recount = oc_recount_new(in->analysis);
    oc_jw_begin_array(w);
    for (size_t i = 0; i < n; i++)
        one(w, in, recount, arena, node[i]);
    oc_jw_end_array(w);
    oc_recount_free(recount);
}
