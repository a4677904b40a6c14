/* Dynamic dimensions: shapes that every run computes although they never change. */
#include <string.h>

#include "advice/advisor.h"

/* Numbers, or expressions in the dimensions of inputs. */
static bool advise_shapes_all_known(const struct oc_data *d)
{
    for (uint32_t i = 0; d && i < d->n; i++)
        if (d->e[i].kind == OC_E_UNKNOWN ||
            (d->e[i].kind == OC_E_INT && !oc_is_known(d->e[i].i) && !d->e[i].i.expr))
            return false;
    return d != NULL;
}

/* By value: whether it depends on an input of the model, at least on its shape. */
static bool *from_inputs(struct oc_advisor *x)
{
    const struct oc_model *m = x->m;
    bool *from = OC_NEW_ARRAY(x->arena, (size_t)m->n_value + 1, bool);
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        from[m->graph[0].input[i]] = !m->value[m->graph[0].input[i]].constant;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = 0; i < m->graph[g].n_node; i++) {
            const struct oc_node *n = &m->node[m->graph[g].node[i]];
            bool any = false;
            for (uint32_t k = 0; k < n->n_in; k++)
                any = any || (n->in[k] != OC_NONE && from[n->in[k]]);
            for (uint32_t k = 0; k < n->n_out; k++)
                if (n->out[k] != OC_NONE)
                    from[n->out[k]] = any;
        }
    return from;
}

/* Whether the value is constant only because the analysis fixes the dimensions of inputs, which the
 * runtime does not. */
static bool follows_from_sizes(const struct oc_advisor *x, const bool *from, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    bool any = false;
    for (uint32_t k = 0; k < n->n_out; k++) {
        if (n->out[k] == OC_NONE)
            continue;
        if (!from[n->out[k]] || !advise_shapes_all_known(x->a->data[n->out[k]]))
            return false;
        any = true;
    }
    return any;
}

enum { NAMED = 5 }; /* maximum number of named dynamic dimensions */

/* "batch, x.2, ...": the dynamic dimensions of the inputs. NULL: none. */
static const char *open_dimensions(struct oc_advisor *x)
{
    const struct oc_graph *g = &x->m->graph[0];
    const char *text = NULL, *told[NAMED];
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_input && n <= NAMED; i++) {
        const struct oc_value *v = &x->m->value[g->input[i]];
        for (unsigned k = 0; !v->constant && v->declared->shape.ranked && k < v->declared->shape.rank; k++) {
            struct oc_dim d = v->declared->shape.dim[k];
            if ((!d.expr && d.v >= 0) || n > NAMED)
                continue;
            const char *one = d.expr ? x->m->symbol[d.expr - 1] : oc_printf(x->arena, "%s.%u", v->name, k);
            bool again = false;
            for (uint32_t t = 0; t < n; t++)
                again = again || !strcmp(told[t], one);
            if (again)
                continue;
            if (n < NAMED)
                told[n] = one;
            else
                one = "...";
            text = text ? oc_printf(x->arena, "%s, %s", text, one) : one;
            n++;
        }
    }
    return text;
}

static bool advise_shapes_is_shape_work(const struct oc_advisor *x, const bool *from,
                                        const struct oc_piece *p)
{
    bool all = p->n_node > 0 && !p->bucket && oc_piece_timed(p);
    for (uint32_t k = 0; all && k < p->n_node; k++)
        all = follows_from_sizes(x, from, p->node[k]);
    return all;
}

void oc_advise_dynamic(struct oc_advisor *x)
{
    static const char why[] = "depends on input dimensions only";
    struct oc_advice_item *f = oc_advice_new(x, "dynamic-shapes", "Shape computations in every run");
    const char *open = open_dimensions(x);
    double sum = 0;
    if (!open || (x->p && !x->j))
        return;
    bool *from = from_inputs(x);
    for (uint32_t i = 0; i < x->n_piece && x->p; i++) {
        if (!advise_shapes_is_shape_work(x, from, &x->piece[i]))
            continue;
        oc_advice_prove(x, f, &x->piece[i], x->piece[i].time_ns, why);
        sum += x->piece[i].time_ns;
    }
    for (uint32_t i = 0; i < x->m->n_node && !x->p; i++)
        if (x->a->graph_use[x->m->node[i].graph] == OC_G_RUN && follows_from_sizes(x, from, i))
            oc_advice_prove_node(x, f, i, why);
    f->low_ns = f->high_ns = x->p ? sum : (double)NAN;
    f->basis =
        x->p ? "the time of these operators; further fusions and memory planning are not counted" : NULL;
    f->found = oc_printf(x->arena, "dynamic dimensions (%s): %u operator%s compute%s shapes%s%s", open,
                         f->n_proof, f->n_proof == 1 ? "" : "s", f->n_proof == 1 ? "s" : "", x->p ? ": " : "",
                         x->p ? oc_advice_time(x, sum) : "");
    f->todo =
        "fix the dimensions if they do not change (python -m onnxruntime.tools.make_dynamic_shape_fixed; "
        "ONNX Runtime: add_free_dimension_override_by_name; TensorRT: min = opt = max): then these are "
        "constants, and reshapes, fusions and memory can be planned";
    oc_advice_keep(x, f);
}
