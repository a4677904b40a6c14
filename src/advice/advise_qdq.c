/* Q/DQ nodes that run in separate kernels. Places that prevent integer kernels are causes (cause_table.c). */
#include <string.h>

#include "advice/advisor.h"
#include "base/units.h"

#define EITHER " QuantizeLinear DequantizeLinear "

/* At the ends of the graph a conversion is necessary. */
static bool at_an_end(const struct oc_advisor *x, const struct oc_piece *p)
{
    for (uint32_t i = 0; x->m && i < p->n_node; i++) {
        const struct oc_node *n = &x->m->node[p->node[i]];
        uint32_t in = n->n_in ? n->in[0] : OC_NONE, out = n->n_out ? n->out[0] : OC_NONE;
        if ((in != OC_NONE && x->m->value[in].graph_input) ||
            (out != OC_NONE && x->m->value[out].graph_output))
            return true;
    }
    return false;
}

static const char *neighbours(struct oc_advisor *x, const struct oc_piece *p)
{
    if (!x->m || p->n_node != 1)
        return "";
    const struct oc_node *n = &x->m->node[p->node[0]];
    if (!n->n_in || n->in[0] == OC_NONE)
        return "";
    uint32_t before = oc_advisor_producer(x, n->in[0]);
    uint32_t after = n->n_out && n->out[0] != OC_NONE ? x->user[n->out[0]] : OC_NONE;
    return oc_printf(x->arena, "between %s and %s",
                     x->a->is_const[n->in[0]] ? "a constant"
                     : before == OC_NONE      ? "an input"
                                              : x->m->node[before].op_type,
                     after == OC_NONE ? "several" : x->m->node[after].op_type);
}

void oc_advise_qdq(struct oc_advisor *x)
{
    struct oc_advice_item *f =
        oc_advice_new(x, "qdq-kernels", "Separate kernels for quantizing and dequantizing");
    double sum = 0;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        struct oc_piece *p = &x->piece[i];
        if (!oc_piece_timed(p) || !oc_type_in(p->type, EITHER) || at_an_end(x, p))
            continue;
        oc_advice_prove(f, p, p->time_ns, neighbours(x, p));
        sum += p->time_ns;
    }
    f->low_ns = 0;
    f->high_ns = sum;
    f->basis = "at most the time of these kernels";
    f->found = oc_printf(x->arena, "%u kernel%s only %s: %s", f->n_proof, oc_plural(f->n_proof),
                         f->n_proof == 1 ? "quantizes or dequantizes" : "quantize or dequantize",
                         oc_advice_time(x, sum));
    f->todo = "let the runtime optimize; then quantize the operators between the remaining ones too, or none "
              "of them: a Q or DQ is fused into a neighbour that has an integer kernel";
    oc_advice_keep(x, f);
}
