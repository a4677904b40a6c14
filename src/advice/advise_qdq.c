/* Q/DQ nodes that run in separate kernels, and those whose place prevents fusion or integer arithmetic. */
#include <string.h>

#include "advice/advisor.h"
#include "base/units.h"

/* ---- Q/DQ nodes that cost time ------------------------------------------------------------------- */

#define QUANTIZE   " QuantizeLinear "
#define DEQUANTIZE " DequantizeLinear "
#define EITHER     " QuantizeLinear DequantizeLinear "
#define PRODUCTS   " Conv ConvTranspose Gemm MatMul "
/* Fused into a convolution: NVIDIA, "Working with Quantized Types", section "Q/DQ Layer-Placement
 * Recommendations": quantize after them, not before. */
#define FUSABLE " BatchNormalization Relu LeakyRelu Clip Sigmoid HardSwish HardSigmoid "

/* ---- Q/DQ nodes in separate kernels -------------------------------------------------------------- */

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

static void own_kernels(struct oc_advisor *x)
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

/* ---- Q/DQ nodes whose placement prevents fusion or integer arithmetic ---------------------------- */

static uint32_t input_maker(const struct oc_advisor *x, uint32_t node, uint32_t slot)
{
    const struct oc_node *n = &x->m->node[node];
    return slot < n->n_in && n->in[slot] != OC_NONE ? x->m->value[n->in[slot]].producer : OC_NONE;
}

static uint32_t only_user(const struct oc_advisor *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    return n->n_out && n->out[0] != OC_NONE ? x->user[n->out[0]] : OC_NONE;
}

/* Conv, Q, DQ, Relu: the activation cannot become part of the convolution. */
static const char *cuts_a_fusion(struct oc_advisor *x, uint32_t q)
{
    uint32_t before = input_maker(x, q, 0), dq = only_user(x, q);
    uint32_t after = oc_advisor_is(x, dq, DEQUANTIZE) ? only_user(x, dq) : OC_NONE;
    if (!oc_advisor_is(x, q, QUANTIZE) || !oc_advisor_is(x, before, PRODUCTS) ||
        !oc_advisor_is(x, after, FUSABLE))
        return NULL;
    return oc_printf(x->arena,
                     "between %s (%s) and %s (%s): it prevents their fusion; quantize after the second",
                     oc_advisor_name(x, before), x->m->node[before].op_type, oc_advisor_name(x, after),
                     x->m->node[after].op_type);
}

/* Q after a DQ: from integers to integers. */
static const char *goes_in_circles(struct oc_advisor *x, uint32_t q)
{
    uint32_t dq = input_maker(x, q, 0);
    if (!oc_advisor_is(x, q, QUANTIZE) || !oc_advisor_is(x, dq, DEQUANTIZE) ||
        x->a->cost[dq].state != OC_NODE_NORMAL)
        return NULL;
    return oc_printf(x->arena,
                     "directly after %s: no computation between them; one scale for both removes the pair",
                     oc_advisor_name(x, dq));
}

/* One operand in integers, the other in float: the product is computed in float. */
static const char *half_quantized(struct oc_advisor *x, uint32_t node)
{
    if (!oc_advisor_is(x, node, PRODUCTS) || x->m->node[node].n_in < 2)
        return NULL;
    bool first = oc_advisor_is(x, input_maker(x, node, 0), DEQUANTIZE),
         second = oc_advisor_is(x, input_maker(x, node, 1), DEQUANTIZE);
    uint32_t one = x->m->node[node].in[1];
    bool weight = one != OC_NONE && x->a->is_const[one];
    if (first == second || (second && weight)) /* quantized weights alone are compression, not an error */
        return NULL;
    return oc_printf(x->arena,
                     "its %s input comes from a DequantizeLinear, the other does not: it computes in float",
                     first ? "first" : "second");
}

static bool is_quantized_product(const struct oc_advisor *x, uint32_t node)
{
    return oc_advisor_is(x, node, PRODUCTS) && oc_advisor_is(x, input_maker(x, node, 0), DEQUANTIZE) &&
           oc_advisor_is(x, input_maker(x, node, 1), DEQUANTIZE);
}

/* NVIDIA, as above: "Quantize the residual input in skip connections". Neither operand of the sum comes
 * from integers although a quantized convolution produces one of them. */
static const char *float_residual(struct oc_advisor *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    uint32_t a = input_maker(x, node, 0), b = input_maker(x, node, 1);
    if (!oc_advisor_is(x, node, " Add ") || n->n_in != 2 || a == OC_NONE || b == OC_NONE ||
        x->a->is_const[n->in[0]] || x->a->is_const[n->in[1]] ||
        !oc_shape_equal(&x->a->type[n->in[0]].shape, &x->a->type[n->in[1]].shape))
        return NULL;
    if (oc_advisor_is(x, a, DEQUANTIZE) || oc_advisor_is(x, b, DEQUANTIZE) ||
        (!is_quantized_product(x, a) && !is_quantized_product(x, b)))
        return NULL;
    return "adds two float results after a quantized product: quantize the other operand, so that the "
           "product can add it";
}

void oc_advise_qdq(struct oc_advisor *x)
{
    if (x->p && x->r->has_time)
        own_kernels(x);
    if (!x->m)
        return;
    struct oc_advice_item *f = oc_advice_new(x, "qdq-places", "Q/DQ placement that costs speed");
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        if (!oc_advisor_runs(x, i))
            continue;
        const char *why = cuts_a_fusion(x, i);
        why = why ? why : goes_in_circles(x, i);
        why = why ? why : half_quantized(x, i);
        why = why ? why : float_residual(x, i);
        if (why)
            oc_advice_prove_node(x, f, i, why);
    }
    f->found = oc_printf(x->arena, "%u operator%s quantized in a way that prevents integer kernels",
                         f->n_proof, f->n_proof == 1 ? " is" : "s are");
    f->todo = "place Q/DQ before all inputs of convolutions and products, after activations and "
              "normalizations, and nowhere else";
    oc_advice_keep(x, f);
}
