/* Shared by all parts of a pass: stores types, reads small constants on demand, fills the context of a rule,
 * records assumptions. */
#include <string.h>

#include "analyze/engine.h"
#include "onnxcost.h"

void oc_assume(struct oc_engine *e, const char *what, const char *name, const char *value, const char *reason)
{
    enum { RECENT = 64 }; /* bodies are analysed repeatedly */
    for (uint32_t i = e->n_assumption; i-- > 0 && e->n_assumption - i <= RECENT;) {
        struct oc_assumption *q = &e->assumption[i];
        if (strcmp(q->what, what) == 0 && strcmp(q->name, name) == 0) {
            if (strcmp(q->value, value) != 0)
                q->value = oc_strdup(&e->a->arena, value);
            q->reason = reason;
            return;
        }
    }
    OC_GROW(e->assumption, e->n_assumption, e->cap_assumption);
    e->assumption[e->n_assumption++] = (struct oc_assumption){.what = what,
                                                              .name = oc_strdup(&e->a->arena, name),
                                                              .value = oc_strdup(&e->a->arena, value),
                                                              .reason = reason};
}

const char *oc_assumed_dims(struct oc_engine *e)
{
    enum { MOST = 3 };
    const char *text = "";
    unsigned n = 0;
    for (uint32_t i = e->n_assumption; i-- > 0 && n < MOST;) {
        const struct oc_assumption *q = &e->assumption[i];
        if (strcmp(q->what, "dim") != 0)
            continue;
        text = oc_printf(&e->a->arena, "%s%s%s is assumed to be %s (--dim %s=N)", text,
                         n ? ", " : "; perhaps because ", q->name, q->value, q->name);
        n++;
    }
    return text;
}

void oc_set_value(struct oc_engine *e, uint32_t value, const struct oc_type *t)
{
    e->a->type[value] = *t;
    uint8_t *state = &e->a->value_state[value];
    if (t->kind == OC_T_NONE || (t->kind <= OC_T_SPARSE && !t->shape.ranked)) {
        *state = OC_V_UNKNOWN;
        return;
    }
    *state = OC_V_STATIC;
    for (unsigned i = 0; t->shape.ranked && i < t->shape.rank; i++)
        if (!oc_is_known(t->shape.dim[i]))
            *state = oc_dim_max_value(e->a->exprs, t->shape.dim[i]) >= 0 && *state != OC_V_RANK_ONLY
                         ? OC_V_BOUNDED
                         : OC_V_RANK_ONLY;
}

bool oc_data_fully_known(const struct oc_data *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (d->e[i].kind == OC_E_UNKNOWN || d->e[i].kind == OC_E_RATIO ||
            (d->e[i].kind == OC_E_INT && !oc_is_known(d->e[i].i)))
            return false;
    return true;
}

/* Reads a constant's elements; the result is cached. */
static const struct oc_data *read_constant(struct oc_engine *e, uint32_t value)
{
    if (e->tried[value])
        return e->a->data[value];
    e->tried[value] = true;
    const struct oc_tensor *t = oc_analysis_constant(e->a, value);
    if (!t || !e->a->is_const[value] || t->elements > OC_MAX_DATA)
        return NULL;
    struct oc_elem *elem = OC_NEW_ARRAY(&e->a->arena, t->elements, struct oc_elem);
    if (!oc_tensor_elems(e->m, t, (uint32_t)t->elements, elem, &e->a->arena))
        return NULL;
    struct oc_data *d = OC_NEW(&e->a->arena, struct oc_data);
    *d = (struct oc_data){.n = (uint32_t)t->elements, .e = elem};
    e->folded_bytes += t->elements * sizeof(*elem);
    return e->a->data[value] = d;
}

const struct oc_data *oc_known_data(struct oc_engine *e, uint32_t value)
{
    return e->a->data[value] ? e->a->data[value] : read_constant(e, value);
}

bool oc_spend(struct oc_engine *e, uint64_t n)
{
    bool enough = n <= e->spare;
    e->spare -= enough ? n : 0;
    return enough;
}

/* Called when a rule requests a value that is not computed yet. */
static const struct oc_data *load_data(const struct oc_op_ctx *c, unsigned slot)
{
    struct oc_engine *e = c->engine;
    const struct oc_data *d = read_constant(e, c->node->in[slot]);
    if (!d && e->missed == OC_NONE)
        e->missed = slot;
    return d;
}

static struct oc_counting counting_of(const struct oc_analyze_opts *o)
{
    return (struct oc_counting){.taps_valid = o->taps_valid,
                                .strict_reduce = o->strict_reduce,
                                .literal_ceil_mode = o->literal_ceil_mode,
                                .attention_full = o->attention_full,
                                .einsum_optimal = o->einsum_optimal,
                                .trees_max = o->trees_max,
                                .moe_expected = o->moe_expected,
                                .lut = o->lut,
                                .inplace = o->inplace,
                                .rnn_reload = o->rnn_reload,
                                .kv_share = (uint8_t)o->kv_share};
}

void oc_blank_ctx(struct oc_engine *e)
{
    e->blank = (struct oc_op_ctx){.arena = &e->a->arena,
                                  .exprs = e->a->exprs,
                                  .model = e->m,
                                  .in = e->in,
                                  .in_data = e->in_data,
                                  .in_const = e->in_const,
                                  .load_data = load_data,
                                  .out = e->out,
                                  .out_data = e->out_data,
                                  .out_used = e->out_used,
                                  .err = e->err,
                                  .engine = e,
                                  .unknown_elems = &e->unknown_elems,
                                  .opt = counting_of(e->o),
                                  .values = e->values};
}

void oc_fill_ctx(struct oc_engine *e, const struct oc_node *n, const struct oc_op *op, struct oc_op_ctx *c)
{
    *c = e->blank;
    c->node = n;
    c->op = op;
    c->opset = n->opset > 0 ? n->opset : OC_NEWEST_OPSET;
    c->n_in = n->n_in;
    c->n_out = n->n_out;
    e->missed = OC_NONE;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        e->in[i] = v == OC_NONE ? NULL : &e->a->type[v];
        e->in_data[i] = v == OC_NONE ? NULL : e->a->data[v];
        e->in_const[i] = v != OC_NONE && e->a->is_const[v];
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t v = n->out[i];
        e->out[i] = (struct oc_type){.kind = OC_T_NONE};
        e->out_data[i] = NULL;
        e->out_used[i] = v != OC_NONE && (e->m->value[v].n_use || e->m->value[v].graph_output || i == 0);
    }
}
