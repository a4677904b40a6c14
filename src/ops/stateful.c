/* Operators that carry a small state instead of a cache: LinearAttention, CausalConvWithState.
 * cost-semantics 4.1, 4.12. Over packed tokens: packed_state.c. */
#include "ops/attention.h"

#include <string.h>

/* ---- LinearAttention -------------------------------------------------------------------------------- */

/* query, key, value, past_state, decay, beta -> output, present_state */
struct linear_dims {
    struct oc_dim batch, tokens, dk, dv;
    int64_t hq, hkv;
};

/* 1: known, 0: a rank is missing, -1: error */
static int read_linear(struct oc_op_ctx *c, struct linear_dims *d)
{
    const struct oc_shape *q = oc_in_shape(c, 0), *v = oc_in_shape(c, 2);
    *d = (struct linear_dims){.hq = oc_attr_i(c, "q_num_heads", 0), .hkv = oc_attr_i(c, "kv_num_heads", 0)};
    if (d->hq < 1 || d->hkv < 1)
        return oc_op_fail(c, "invalid q_num_heads %lld, kv_num_heads %lld", (long long)d->hq,
                          (long long)d->hkv);
    if (!q->ranked || !v->ranked)
        return 0;
    if (q->rank != 3 || v->rank != 3)
        return oc_op_fail(c, "invalid query rank %u and value rank %u", q->rank, v->rank);
    d->batch = q->dim[0];
    d->tokens = q->dim[1];
    if (!oc_split_dim(c, q->dim[2], d->hq, &d->dk) || !oc_split_dim(c, v->dim[2], d->hkv, &d->dv))
        return oc_op_fail(c, "widths %s and %s are not divisible by %lld and %lld heads",
                          oc_dim_text(c->exprs, q->dim[2]), oc_dim_text(c->exprs, v->dim[2]),
                          (long long)d->hq, (long long)d->hkv);
    return 1;
}

static int shape_linear(struct oc_op_ctx *c)
{
    struct linear_dims d;
    int known = read_linear(c, &d);
    unsigned state = oc_in(c, 3) ? oc_in_dtype(c, 3) : oc_in_dtype(c, 0);
    if (known <= 0) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_unranked());
        oc_set_out(c, 1, state, oc_shape_unranked());
        return known;
    }
    int64_t heads = d.hq > d.hkv ? d.hq : d.hkv, window = oc_attr_i(c, "state_window", 0);
    struct oc_dim out[3] = {d.batch, d.tokens, oc_dim_mul(c->exprs, oc_known(heads), d.dv)};
    struct oc_dim kept[5] = {oc_known(window), d.batch, oc_known(d.hkv), d.dk, d.dv};
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 3, out));
    oc_set_out(c, 1, state, window > 0 ? oc_shape_of(c->arena, 5, kept) : oc_shape_of(c->arena, 4, kept + 1));
    return 0;
}

/* Per token: MAC of the update (Hkv*dk*dv), of the read-out (Hq*dk*dv) and, with the delta rule, of the
 * retrieval; MUL Hq*dv (scale); delta: ADD and MUL Hkv*dv; gated: EXP of the decays, MUL of the state. */
static int stateful_cost_linear(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct linear_dims d;
    int known = read_linear(c, &d);
    const char *rule = oc_attr_s(c, "update_rule", "gated_delta");
    bool delta = strstr(rule, "delta") != NULL, gated = strncmp(rule, "gated", 5) == 0;
    if (known <= 0) {
        c->unknown = true;
        return known;
    }
    uint64_t tokens = oc_c_mul(c, oc_c_dim(c, d.batch), oc_c_dim(c, d.tokens));
    uint64_t dv = oc_c_dim(c, d.dv), cell = oc_c_mul(c, oc_c_dim(c, d.dk), dv);
    /* with more states than queries, each state is read out */
    uint64_t hq = oc_c_mul(c, tokens, (uint64_t)(d.hq > d.hkv ? d.hq : d.hkv)),
             hkv = oc_c_mul(c, tokens, (uint64_t)d.hkv);
    uint64_t state = oc_c_mul(c, hkv, cell);
    oc_tell(c, "delta", delta);
    oc_tell(c, "gated", gated);
    oc_tell(c, "state", state);
    oc_tell(c, "read", oc_c_mul(c, hq, cell));
    oc_tell(c, "scale", oc_c_mul(c, hq, dv));
    oc_tell(c, "dv", oc_c_mul(c, hkv, dv));
    oc_tell(c, "decays", !gated ? 0 : oc_in(c, 4) ? oc_c_in(c, 4) : hkv);
    oc_add(c, k, OC_MAC, oc_c_add(c, oc_c_mul(c, delta ? 2 : 1, state), oc_c_mul(c, hq, cell)));
    oc_add(c, k, OC_MUL, oc_c_mul(c, hq, dv));
    if (delta) {
        oc_add(c, k, OC_ADD, oc_c_mul(c, hkv, dv));
        oc_add(c, k, OC_MUL, oc_c_mul(c, hkv, dv));
    }
    if (gated) {
        oc_add(c, k, OC_EXP, oc_in(c, 4) ? oc_c_in(c, 4) : hkv);
        oc_add(c, k, OC_MUL, state);
    }
    return 0;
}
static const char stateful_cost_linear_formula[] = "MAC = (1 + delta)*state + read; MUL = scale + delta*dv + "
                                                   "gated*state; ADD = delta*dv; EXP = decays; decays := 0";

/* ---- CausalConvWithState ---------------------------------------------------------------------------- */

/* X [B, C, L], W [C, 1, k], B, past_state [B, C, k-1] -> Y, present_state */
static int shape_causal_conv(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    struct oc_shape state = oc_shape_unranked();
    if ((x->ranked && x->rank < 3) || (w->ranked && w->rank < 2))
        return oc_op_fail(c, "invalid input rank %u and weight rank %u", x->rank, w->rank);
    oc_set_out_type(c, 0, oc_in(c, 0));
    if (x->ranked && w->ranked) {
        struct oc_dim dim[3] = {x->dim[0], x->dim[1], oc_dim_sub(c->exprs, w->dim[w->rank - 1], oc_known(1))};
        state = oc_shape_of(c->arena, 3, dim);
    }
    oc_set_out(c, 1, oc_in(c, 3) ? oc_in_dtype(c, 3) : oc_in_dtype(c, 0), state);
    return 0;
}

/* MAC B*C*L*k, bias, activation */
static int cost_causal_conv(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *w = oc_in_shape(c, 1);
    uint64_t n = oc_c_in(c, 0);
    if (!w->ranked || w->rank < 2) {
        c->unknown = true;
        return 0;
    }
    oc_add(c, k, OC_MAC, oc_c_mul(c, n, oc_c_dim(c, w->dim[w->rank - 1])));
    if (oc_in(c, 2))
        oc_add(c, k, OC_ADD, n);
    oc_add_activation(c, k, "activation", n);
    return 0;
}
static const char cost_causal_conv_formula[] =
    "MAC = N(x)*k; ADD = [in2]*N(x); activation = N(x); k := w[-1]";

#define ROW(d, n, v, cls, s, sh, co)                                                                         \
    .domain = (d), .name = (n), .since = (v), .op_class = (cls), .slots = (s), .shape = (sh), OC_COST(co)

static const struct oc_op rows[] = {
    {ROW("", "CausalConvWithState", 27, OC_OP_CONV, "..b.", shape_causal_conv, cost_causal_conv),
     .flags = OC_F_FUNCTION},
    {ROW("com.microsoft", "CausalConvWithState", 1, OC_OP_CONV, "..b.", shape_causal_conv, cost_causal_conv)},
    {ROW("", "LinearAttention", 27, OC_OP_ATTENTION, NULL, shape_linear, stateful_cost_linear),
     .flags = OC_F_FUNCTION},
    {ROW("com.microsoft", "LinearAttention", 1, OC_OP_ATTENTION, NULL, shape_linear, stateful_cost_linear)},
};
extern const struct oc_op_family oc_ops_stateful;
const struct oc_op_family oc_ops_stateful = OC_FAMILY("stateful", rows);
