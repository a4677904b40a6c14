/* Operators that carry a small state instead of a cache: LinearAttention, CausalConvWithState.
 * cost-semantics 4.1, 4.12. */
#include <string.h>

#include "ops/shared_rules.h"

/* ---- LinearAttention ---------------------------------------------------------------------------------- */

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
    oc_add_formula_value(c, "delta", delta);
    oc_add_formula_value(c, "gated", gated);
    oc_add_formula_value(c, "state", state);
    oc_add_formula_value(c, "read", oc_c_mul(c, hq, cell));
    oc_add_formula_value(c, "scale", oc_c_mul(c, hq, dv));
    oc_add_formula_value(c, "dv", oc_c_mul(c, hkv, dv));
    oc_add_formula_value(c, "decays", !gated ? 0 : oc_in(c, 4) ? oc_c_in(c, 4) : hkv);
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

/* ---- CausalConvWithState ------------------------------------------------------------------------------ */

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

static const struct oc_op stateful_rows[] = {
    {ROW("", "CausalConvWithState", 27, OC_OP_CONV, "..b.", shape_causal_conv, cost_causal_conv),
     .flags = OC_F_FUNCTION},
    {ROW("com.microsoft", "CausalConvWithState", 1, OC_OP_CONV, "..b.", shape_causal_conv, cost_causal_conv)},
    {ROW("", "LinearAttention", 27, OC_OP_ATTENTION, NULL, shape_linear, stateful_cost_linear),
     .flags = OC_F_FUNCTION},
    {ROW("com.microsoft", "LinearAttention", 1, OC_OP_ATTENTION, NULL, shape_linear, stateful_cost_linear)},
};
OC_FAMILY(stateful, stateful_rows);

/* ---- packed tokens ------------------------------------------------------------------------------------ */

/* Recurrent operators with a state over packed tokens: GatedDeltaNet, VarlenCausalConvWithState; and
 * EngramGate. cost-semantics 4.1, 4.5, 4.12. Forms with a batch axis: stateful.c. */

/* Sequences in a batch, from the list of ends [batch + 1]. */
static struct oc_dim batch_of_ends(struct oc_op_ctx *c, unsigned slot)
{
    const struct oc_shape *s = oc_in_shape(c, slot);
    return s->ranked && s->rank == 1 ? oc_dim_sub(c->exprs, s->dim[0], oc_known(1))
                                     : oc_op_fresh_dim(c, "batch", -1);
}

static int capacity(struct oc_op_ctx *c, int64_t *v)
{
    *v = oc_attr_i(c, "state_update_capacity", 0);
    return *v < 0 ? oc_op_fail(c, "invalid state_update_capacity %lld", (long long)*v) : 0;
}

/* ---- GatedDeltaNet ------------------------------------------------------------------------------------ */

enum { QUERY, KEY, VALUE, ENDS, DECAY, BETA, STATE, A_LOG, DT_BIAS };

struct delta {
    struct oc_dim hk, hv, dk, dv, batch;
};

/* [tokens, heads, size], or [batch, sequence, heads, size] */
static int read_delta(struct oc_op_ctx *c, struct delta *d)
{
    const struct oc_shape *key = oc_in_shape(c, KEY), *v = oc_in_shape(c, VALUE),
                          *state = oc_in_shape(c, STATE);
    if (!key->ranked || !v->ranked)
        return 0;
    if (key->rank != v->rank || (v->rank != 3 && v->rank != 4))
        return oc_op_fail(c, "invalid key rank %u and value rank %u", key->rank, v->rank);
    *d = (struct delta){.hk = key->dim[key->rank - 2U],
                        .dk = key->dim[key->rank - 1U],
                        .hv = v->dim[v->rank - 2U],
                        .dv = v->dim[v->rank - 1U]};
    if (v->rank == 4)
        d->batch = v->dim[0];
    else
        d->batch = state->ranked && state->rank == 4 ? state->dim[0] : batch_of_ends(c, ENDS);
    return 1;
}

static int shape_delta(struct oc_op_ctx *c)
{
    struct delta d;
    int64_t kept;
    int known = read_delta(c, &d);
    if (known < 0 || capacity(c, &kept))
        return -1;
    oc_set_out(c, 0, oc_in_dtype(c, VALUE), *oc_in_shape(c, VALUE));
    if (!known) {
        oc_set_out(c, 1, OC_DT_FLOAT, oc_fresh_shape(c, 4));
        oc_set_out(c, 2, OC_DT_FLOAT, oc_fresh_shape(c, 2));
        return 0;
    }
    struct oc_dim state[4] = {d.batch, d.hv, d.dv, d.dk};
    struct oc_dim one =
        oc_dim_add(c->exprs, d.hv,
                   oc_dim_add(c->exprs, oc_dim_mul(c->exprs, d.hk, d.dk), oc_dim_mul(c->exprs, d.hv, d.dv)));
    struct oc_dim update[2] = {d.batch, oc_dim_mul(c->exprs, oc_known(kept), one)};
    oc_set_out(c, 1, OC_DT_FLOAT, oc_shape_of(c->arena, 4, state));
    oc_set_out(c, 2, OC_DT_FLOAT, oc_shape_of(c->arena, 2, update));
    return 0;
}

/* Gates computed in the operator: a * Softplus(decay + bias) with -exp(a_log) computed once, Sigmoid(beta),
 * unit vectors */
static void add_gates(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims softplus[] = {{OC_ADD, 2}, {OC_EXP, 1}, {OC_LOG, 1}, {OC_MUL, 1}, {0, 0}};
    static const struct oc_prims sigmoid[] = {{OC_SIG, 1}, {0, 0}}, root[] = {{OC_SQRT, 1}, {0, 0}};
    static const struct oc_prims unit[] = {{OC_MUL, 1}, {OC_ADD, 1}, {OC_DIV, 1}, {0, 0}};
    if (strcmp(oc_attr_s(c, "gate_activation", "none"), "qwen") == 0)
        oc_add_functions(c, k, softplus, oc_c_in(c, DECAY));
    if (strcmp(oc_attr_s(c, "beta_activation", "none"), "sigmoid") == 0)
        oc_add_functions(c, k, sigmoid, oc_c_in(c, BETA));
    for (unsigned slot = QUERY; slot <= KEY && oc_attr_i(c, "qk_l2_norm", 0); slot++) {
        const struct oc_shape *s = oc_in_shape(c, slot);
        oc_add_functions(c, k, unit, oc_c_in(c, slot));
        oc_add_functions(c, k, root, s->ranked && s->rank ? oc_c_range(c, s, 0, s->rank - 1U) : 0);
    }
}

/* Per token and value head: MAC dk*dv for the update, the read-out and (delta) the retrieval; MUL dv (scale);
 * delta: ADD and MUL dv; gated: EXP of the decays, MUL dk*dv */
static int cost_delta(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct delta d;
    const char *rule = oc_attr_s(c, "update_rule", "gated_delta");
    bool delta = strstr(rule, "delta") != NULL, gated = strncmp(rule, "gated", 5) == 0;
    int known = read_delta(c, &d);
    if (known <= 0) {
        c->unknown = true;
        return known;
    }
    uint64_t n = oc_c_in(c, VALUE), state = oc_c_mul(c, n, oc_c_dim(c, d.dk)), dv = oc_c_dim(c, d.dv);
    k->rest_class = OC_CLASS_F32;
    uint64_t decays = !gated ? 0 : oc_in(c, DECAY) ? oc_c_in(c, DECAY) : dv ? n / dv : 0;
    oc_add_formula_value(c, "delta", delta);
    oc_add_formula_value(c, "gated", gated);
    oc_add_formula_value(c, "state", state);
    oc_add_formula_value(c, "decays", decays);
    oc_add(c, k, OC_MAC, oc_c_mul(c, delta ? 3 : 2, state));
    oc_add(c, k, OC_MUL, oc_c_mul(c, delta ? 2 : 1, n));
    oc_add(c, k, OC_ADD, delta ? n : 0);
    if (gated) {
        oc_add(c, k, OC_EXP, decays);
        oc_add(c, k, OC_MUL, state);
    }
    add_gates(c, k);
    return 0;
}
static const char cost_delta_formula[] = "MAC = (2 + delta)*state; MUL = (1 + delta)*n + gated*state; ADD = "
                                         "delta*n; EXP = decays; functions = gates; "
                                         "n := N(in2)";

/* ---- VarlenCausalConvWithState ------------------------------------------------------------------------ */

/* input [tokens, C], weight [C, 1, k], ends, bias, state [batch, C, (k - 1) * dilation] */
static int shape_varlen_conv(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    int64_t kept, dilation = oc_attr_i(c, "dilation", 1);
    if ((x->ranked && x->rank != 2) || (w->ranked && w->rank != 3))
        return oc_op_fail(c, "invalid input rank %u and weight rank %u", x->rank, w->rank);
    if (dilation < 1)
        return oc_op_fail(c, "invalid dilation %lld", (long long)dilation);
    if (capacity(c, &kept))
        return -1;
    struct oc_dim batch = batch_of_ends(c, 2), channels = w->ranked ? w->dim[0] : oc_fresh_axis(c, 1, -1);
    struct oc_dim taps = w->ranked ? w->dim[2] : oc_op_fresh_dim(c, "taps", -1);
    struct oc_dim state[3] = {
        batch, channels, oc_dim_mul(c->exprs, oc_known(dilation), oc_dim_sub(c->exprs, taps, oc_known(1)))};
    struct oc_dim update[3] = {batch, oc_known(kept), channels};
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out(c, 1, oc_in_dtype(c, 0), oc_shape_of(c->arena, 3, state));
    oc_set_out(c, 2, oc_in_dtype(c, 0), oc_shape_of(c->arena, 3, update));
    return 0;
}

/* MAC tokens*C*k, bias, activation */
static int cost_varlen_conv(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *w = oc_in_shape(c, 1);
    uint64_t n = oc_c_in(c, 0);
    if (!w->ranked) {
        c->unknown = true;
        return 0;
    }
    oc_add(c, k, OC_MAC, oc_c_mul(c, n, oc_c_dim(c, w->dim[2])));
    if (oc_in(c, 3))
        oc_add(c, k, OC_ADD, n);
    oc_add_activation(c, k, "activation", n);
    return 0;
}
static const char cost_varlen_conv_formula[] = "MAC = N(x)*k; ADD = [in3]*N(x); activation = N(x); k := w[2]";

/* ---- EngramGate --------------------------------------------------------------------------------------- */

/* key, query [B, S, M, H], value [B, S, H], scales -> gated value, its norm */
static int shape_engram(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out_type(c, 1, oc_in(c, 0));
    return 0;
}

/* sigmoid(sign(dot) * sqrt(max(|dot|, eps))), dot = sum(norm(key) * norm(query)) / sqrt(H), times the value
 */
static int cost_engram(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims product[] = {{OC_MUL, 1}, {0, 0}};
    static const struct oc_prims gate[] = {{OC_MUL, 2}, {OC_CMP, 3}, {OC_SQRT, 1}, {OC_SIG, 1}, {0, 0}};
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (!x->ranked || x->rank == 0) {
        c->unknown = true;
        return 0;
    }
    uint64_t n = oc_c_in(c, 0), rows = oc_c_range(c, x, 0, x->rank - 1U);
    oc_add_rms_norm(c, k, n, rows);
    oc_add_rms_norm(c, k, n, rows);
    oc_add(c, k, OC_MAC, n);
    oc_add_functions(c, k, gate, rows);
    oc_add_functions(c, k, product, n);
    if (oc_out_wanted(c, 1))
        oc_add_rms_norm(c, k, n, rows);
    return 0;
}
static const char cost_engram_formula[] = "MAC = N(x); functions = gate; " OC_RMS_NORM_FORMULA;

#define MS(n, cl, s, sh, co)                                                                                 \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = (cl), .slots = (s), .shape = (sh),   \
        OC_COST(co)                                                                                          \
    }

static const struct oc_op packed_state_rows[] = {
    MS("EngramGate", OC_OP_NORM, "...n", shape_engram, cost_engram),
    MS("GatedDeltaNet", OC_OP_ATTENTION, "...m...bbmm", shape_delta, cost_delta),
    MS("VarlenCausalConvWithState", OC_OP_CONV, "..mb.m", shape_varlen_conv, cost_varlen_conv),
};
OC_FAMILY(packed_state, packed_state_rows);
