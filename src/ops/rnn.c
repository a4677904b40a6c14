/* Recurrent layers, and operators that carry a small state instead of a cache. cost-semantics 4.1, 4.5, 4.12,
 * 4.13. */
#include <string.h>

#include "ops/shared_rules.h"

enum rnn_slot {
    X,
    W,
    R,
    BIAS,
    LENGTHS,
    H0,
    C0,
    PEEPHOLES,
    QUERY_W,
    MEMORY_W,
    V,
    MEMORY,
    MEMORY_LENGTHS,
    ATTN_W
};

struct rnn_kind {
    unsigned gates, states; /* states: number of outputs after Y */
    bool quantized; /* weights are int8 and transposed, {D,I,G*H}; x and h are quantized in every step */
    /* number of applications of each function in `activations`, per step and hidden unit */
    unsigned uses[3];
    const char *defaults[3];
};

static const struct rnn_kind plain_rnn = {1, 1, false, {1, 0, 0}, {"Tanh", NULL, NULL}};
static const struct rnn_kind gru = {3, 1, false, {2, 1, 0}, {"Sigmoid", "Tanh", NULL}};
static const struct rnn_kind lstm = {4, 2, false, {3, 1, 1}, {"Sigmoid", "Tanh", "Tanh"}};
/* AttnLSTM: the input is concatenated with the attention of the previous step */
static const struct rnn_kind attn_lstm = {4, 2, false, {3, 1, 1}, {"Sigmoid", "Tanh", "Tanh"}};
static const struct rnn_kind dynamic_lstm = {4, 2, true, {3, 1, 1}, {"Sigmoid", "Tanh", "Tanh"}};

struct rnn_size {
    struct oc_dim steps, batch, input, hidden;
    unsigned directions;
};

static bool batch_first(const struct oc_op_ctx *c)
{
    return oc_attr_i(c, "layout", 0) != 0;
}

static struct rnn_size rnn_sizes(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, X), *w = oc_in_shape(c, W), *r = oc_in_shape(c, R);
    bool two = strcmp(oc_attr_s(c, "direction", "forward"), "bidirectional") == 0;
    bool q = ((const struct rnn_kind *)c->op->param)->quantized;
    int64_t hidden = oc_attr_i(c, "hidden_size", 0);
    struct rnn_size s = {.directions = two ? 2 : 1};
    bool known = x->ranked && x->rank == 3;
    s.steps = known ? x->dim[batch_first(c)] : oc_fresh_axis(c, 0, -1);
    s.batch = known ? x->dim[!batch_first(c)] : oc_fresh_axis(c, 2, -1);
    bool joined = c->op->param == &attn_lstm, weighed = w->ranked && w->rank == 3;
    if (weighed && (joined || !known))
        s.input = w->dim[q ? 1 : 2];
    else
        s.input = known ? x->dim[2] : oc_fresh_axis(c, 4, -1);
    if (hidden > 0)
        s.hidden = oc_known(hidden);
    else
        s.hidden = r->ranked && r->rank == 3 ? r->dim[q ? 1 : 2] : oc_fresh_axis(c, 3, -1);
    return s;
}

static int rnn_check(struct oc_op_ctx *c, const struct rnn_size *s)
{
    const struct rnn_kind *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, X), *w = oc_in_shape(c, W);
    if (x->ranked && x->rank != 3)
        return oc_op_fail(c, "input {%s} must have rank 3", oc_text_of(c, x));
    if (!w->ranked || !oc_shape_known(w) || !oc_is_known(s->hidden) || !oc_is_known(s->input))
        return 0;
    struct oc_dim rows = oc_dim_mul(c->exprs, oc_known(kind->gates), s->hidden);
    struct oc_dim a = kind->quantized ? s->input : rows, b = kind->quantized ? rows : s->input;
    if (w->rank == 3 && w->dim[0].v == s->directions && oc_same_dim(w->dim[1], a) &&
        oc_same_dim(w->dim[2], b))
        return 0;
    return oc_op_fail(c, "weight {%s}, expected {%u,%s,%s}", oc_text_of(c, w), s->directions,
                      oc_dim_text(c->exprs, a), oc_dim_text(c->exprs, b));
}

static int shape_rnn(struct oc_op_ctx *c)
{
    const struct rnn_kind *kind = c->op->param;
    struct rnn_size s = rnn_sizes(c);
    struct oc_dim d = oc_known(s.directions);
    if (rnn_check(c, &s))
        return -1;
    struct oc_dim y[] = {s.steps, d, s.batch, s.hidden}, y_h[] = {d, s.batch, s.hidden};
    struct oc_dim y_first[] = {s.batch, s.steps, d, s.hidden}, y_h_first[] = {s.batch, d, s.hidden};
    oc_set_out(c, 0, oc_in_dtype(c, X), oc_shape_of(c->arena, 4, batch_first(c) ? y_first : y));
    for (unsigned i = 1; i <= kind->states; i++)
        oc_set_out(c, i, oc_in_dtype(c, X), oc_shape_of(c->arena, 3, batch_first(c) ? y_h_first : y_h));
    return 0;
}

/* Steps of all sequences of one direction: S*B, or the sum of the lengths when known. */
static uint64_t rnn_all_steps(struct oc_op_ctx *c, const struct rnn_size *s)
{
    uint32_t n;
    const int64_t *length = oc_in(c, LENGTHS) ? oc_in_ints(c, LENGTHS, &n) : NULL;
    uint64_t sum = 0;
    for (uint32_t i = 0; length && i < n; i++)
        sum = oc_c_add(c, sum, length[i] > 0 ? (uint64_t)length[i] : 0);
    return length ? sum : oc_c_mul(c, oc_c_dim(c, s->steps), oc_c_dim(c, s->batch));
}

/* Weights that do not fit on the chip are read in every step; the longest sequence determines the number of
 * steps. */
static void reload_weights(struct oc_op_ctx *c, struct oc_cost *k, const struct rnn_size *s)
{
    uint32_t n;
    const int64_t *length = oc_in(c, LENGTHS) ? oc_in_ints(c, LENGTHS, &n) : NULL;
    uint64_t steps = length ? 0 : oc_c_dim(c, s->steps);
    for (uint32_t i = 0; length && i < n; i++)
        steps = length[i] > 0 && (uint64_t)length[i] > steps ? (uint64_t)length[i] : steps;
    for (unsigned slot = W; slot <= BIAS && slot < k->n_in; slot++)
        k->rd[slot] = oc_c_mul(c, k->rd[slot], steps);
}

/* Name of function `which` of a direction. */
static const char *function_name(struct oc_op_ctx *c, unsigned direction, unsigned which)
{
    const struct rnn_kind *kind = c->op->param;
    const struct oc_attr *a = oc_node_attr(c->node, "activations");
    unsigned per_direction = 0;
    while (per_direction < 3 && kind->defaults[per_direction])
        per_direction++;
    unsigned i = direction * per_direction + which;
    return a && a->type == OC_ATTR_STRINGS && i < a->n && a->strings[i].s ? a->strings[i].s
                                                                          : kind->defaults[which];
}

/* units: hidden units over all steps of one direction */
static void rnn_report_functions(struct oc_op_ctx *c, unsigned directions, uint64_t units)
{
    const struct rnn_kind *kind = c->op->param;
    bool coupled = kind->states == 2 && oc_attr_i(c, "input_forget", 0) != 0;
    for (unsigned d = 0; d < directions; d++)
        for (unsigned i = 0; i < 3 && kind->defaults[i]; i++) {
            const char *name = function_name(c, d, i);
            const struct oc_prims *p = oc_activation_prims(name);
            if (!p)
                c->assumption = oc_printf(c->arena, "unknown activation '%s': not counted", name);
            oc_add_functions(c, p, oc_c_mul(c, kind->uses[i] - (i == 0 && coupled), units));
        }
}

/* Bahdanau attention of n queries (all steps and directions): keys M*MW once per direction; then per query
 * its product, the sum with all keys, tanh, the product with V, softmax, the weighted memory and the optional
 * layer on both. */
static void report_attention(struct oc_op_ctx *c, const struct rnn_size *s, uint64_t n)
{
    static const struct oc_prims mac[] = {{OC_MAC, 1}, {0, 0}};
    static const struct oc_prims align[] = {{OC_ADD, 1}, {OC_TANH, 1}, {OC_MAC, 1}, {0, 0}};
    static const struct oc_prims softmax[] = {{OC_CMP, 1}, {OC_ADD, 2}, {OC_EXP, 1}, {OC_DIV, 1}, {0, 0}};
    const struct oc_shape *mw = oc_in_shape(c, MEMORY_W), *m = oc_in_shape(c, MEMORY),
                          *aw = oc_in_shape(c, ATTN_W);
    if (!oc_in(c, MEMORY_W) || !oc_in(c, MEMORY))
        return;
    if (!mw->ranked || mw->rank != 3 || !m->ranked || m->rank != 3) {
        c->unknown = true;
        return;
    }
    uint64_t size = oc_c_dim(c, mw->dim[2]), depth = oc_c_dim(c, m->dim[2]), length = oc_c_dim(c, m->dim[1]);
    uint64_t hidden = oc_c_dim(c, s->hidden), seen = oc_c_mul(c, n, length);
    uint64_t keys = oc_c_mul(c, oc_c_mul(c, oc_c_in(c, MEMORY), size), s->directions);
    oc_add_functions(c, mac, oc_c_add(c, keys, oc_c_mul(c, n, oc_c_mul(c, hidden, size))));
    oc_add_functions(c, align, oc_c_mul(c, seen, size));
    oc_add_functions(c, softmax, seen);
    oc_add_functions(c, mac, oc_c_mul(c, seen, depth));
    if (oc_in(c, ATTN_W) && aw->ranked && aw->rank == 3)
        oc_add_functions(c, mac,
                         oc_c_mul(c, n, oc_c_mul(c, oc_c_add(c, depth, hidden), oc_c_dim(c, aw->dim[2]))));
}

/* u = t*H. MAC u*G*(I+H). ADD: gates G (and as many with bias), then the combination: LSTM 1, GRU 2 and one
 * bias more with linear_before_reset. MUL 3 for both. Peepholes 3 MUL + 3 ADD; clip 2 CMP per gate.
 * Quantized: x and h of every step and direction are quantized. */
static int rnn_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct rnn_kind *kind = c->op->param;
    struct rnn_size s = rnn_sizes(c);
    uint64_t bias = oc_in(c, BIAS) != NULL, G = kind->gates;
    uint64_t one = oc_c_mul(c, rnn_all_steps(c, &s), oc_c_dim(c, s.hidden)),
             u = oc_c_mul(c, one, s.directions);
    uint64_t reach = oc_c_add(c, oc_c_dim(c, s.input), oc_c_dim(c, s.hidden));
    uint64_t add = G + G * bias;
    if (kind->states == 2)
        add += 1;
    if (kind == &gru)
        add += oc_attr_i(c, "linear_before_reset", 0) ? 2 + bias : 2;
    uint64_t steps = oc_c_mul(c, rnn_all_steps(c, &s), s.directions);
    if (kind == &attn_lstm)
        report_attention(c, &s, steps);
    if (kind->quantized) {
        k->mac_class = OC_CLASS_I8;
        oc_add_functions(c, oc_prims_dynamic_quantize, oc_c_mul(c, steps, reach));
    }
    oc_add_formula_value(c, "u", u);
    oc_add_formula_value(c, "G", G);
    oc_add_formula_value(c, "I", oc_c_dim(c, s.input));
    oc_add_formula_value(c, "H", oc_c_dim(c, s.hidden));
    oc_add_formula_value(c, "more", add - G - G * bias);
    oc_add_formula_value(c, "m", kind == &plain_rnn ? 0 : 3);
    oc_add_formula_value(c, "P", kind->states == 2 && oc_in(c, PEEPHOLES));
    oc_add_formula_value(c, "clip", oc_has_attr(c, "clip"));
    rnn_report_functions(c, s.directions, one);
    if (c->opt.rnn_reload)
        reload_weights(c, k, &s);
    return 0;
}
static const char rnn_formula[] =
    "MAC = u*G*(I + H); ADD = u*(G + G*[B] + more + 3*P); MUL = u*(m + 3*P); CMP = u*2*G*clip; "
    "functions = u";

#define RNN(d, n, v, sl, kind)                                                                               \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_RNN, .slots = (sl), .shape = shape_rnn,  \
        OC_COST(rnn), .param = &(kind)                                                                       \
    }

static const struct oc_op rnn_rows[] = {
    RNN("com.microsoft", "AttnLSTM", 1, "...b..........", attn_lstm),
    RNN("com.microsoft", "DynamicQuantizeLSTM", 1, "...b....q", dynamic_lstm),
    RNN("", "GRU", 1, "...b.", gru),
    RNN("", "LSTM", 1, "...b.", lstm),
    RNN("", "RNN", 1, "...b.", plain_rnn),
};
OC_FAMILY(rnn, rnn_rows);

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
static int stateful_linear_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    struct linear_dims d;
    int known = read_linear(c, &d);
    const char *rule = oc_attr_s(c, "update_rule", "gated_delta");
    bool delta = strstr(rule, "delta") != NULL, gated = strncmp(rule, "gated", 5) == 0;
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
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
    return 0;
}
static const char stateful_linear_formula[] = "MAC = (1 + delta)*state + read; MUL = scale + delta*dv + "
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

static const char causal_conv_formula[] = "MAC = N(x)*k; ADD = [in2]*N(x); activation = N(x); k := w[-1]";

#define ROW(d, n, v, cls, s, sh, co)                                                                         \
    .domain = (d), .name = (n), .since = (v), .op_class = (cls), .slots = (s), .shape = (sh), co

static const struct oc_op stateful_rows[] = {
    {ROW("", "CausalConvWithState", 27, OC_OP_CONV, "..b.", shape_causal_conv,
         OC_COST_TEXT(causal_conv_formula)),
     .flags = OC_F_FUNCTION},
    {ROW("com.microsoft", "CausalConvWithState", 1, OC_OP_CONV, "..b.", shape_causal_conv,
         OC_COST_TEXT(causal_conv_formula))},
    {ROW("", "LinearAttention", 27, OC_OP_ATTENTION, NULL, shape_linear, OC_COST(stateful_linear)),
     .flags = OC_F_FUNCTION},
    {ROW("com.microsoft", "LinearAttention", 1, OC_OP_ATTENTION, NULL, shape_linear,
         OC_COST(stateful_linear))},
};
OC_FAMILY(stateful, stateful_rows);

/* ---- packed tokens ------------------------------------------------------------------------------------ */

/* Recurrent operators with a state over packed tokens: GatedDeltaNet, VarlenCausalConvWithState; and
 * EngramGate. cost-semantics 4.1, 4.5, 4.12. Forms with a batch axis are above. */

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
static void report_gates(struct oc_op_ctx *c)
{
    static const struct oc_prims softplus[] = {{OC_ADD, 2}, {OC_EXP, 1}, {OC_LOG, 1}, {OC_MUL, 1}, {0, 0}};
    static const struct oc_prims sigmoid[] = {{OC_SIG, 1}, {0, 0}}, root[] = {{OC_SQRT, 1}, {0, 0}};
    static const struct oc_prims unit[] = {{OC_MUL, 1}, {OC_ADD, 1}, {OC_DIV, 1}, {0, 0}};
    if (strcmp(oc_attr_s(c, "gate_activation", "none"), "qwen") == 0)
        oc_add_functions(c, softplus, oc_c_in(c, DECAY));
    if (strcmp(oc_attr_s(c, "beta_activation", "none"), "sigmoid") == 0)
        oc_add_functions(c, sigmoid, oc_c_in(c, BETA));
    for (unsigned slot = QUERY; slot <= KEY && oc_attr_i(c, "qk_l2_norm", 0); slot++) {
        const struct oc_shape *s = oc_in_shape(c, slot);
        oc_add_functions(c, unit, oc_c_in(c, slot));
        oc_add_functions(c, root, s->ranked && s->rank ? oc_c_range(c, s, 0, s->rank - 1U) : 0);
    }
}

/* Per token and value head: MAC dk*dv for the update, the read-out and (delta) the retrieval; MUL dv (scale);
 * delta: ADD and MUL dv; gated: EXP of the decays, MUL dk*dv */
static int delta_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct delta d;
    const char *rule = oc_attr_s(c, "update_rule", "gated_delta");
    bool delta = strstr(rule, "delta") != NULL, gated = strncmp(rule, "gated", 5) == 0;
    int known = read_delta(c, &d);
    if (known <= 0)
        return known ? known : oc_cost_unknown(c);
    uint64_t n = oc_c_in(c, VALUE), state = oc_c_mul(c, n, oc_c_dim(c, d.dk)), dv = oc_c_dim(c, d.dv);
    k->rest_class = OC_CLASS_F32;
    uint64_t decays = !gated ? 0 : oc_in(c, DECAY) ? oc_c_in(c, DECAY) : dv ? n / dv : 0;
    oc_add_formula_value(c, "delta", delta);
    oc_add_formula_value(c, "gated", gated);
    oc_add_formula_value(c, "state", state);
    oc_add_formula_value(c, "decays", decays);
    report_gates(c);
    return 0;
}
static const char delta_formula[] = "MAC = (2 + delta)*state; MUL = (1 + delta)*n + gated*state; ADD = "
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

static const char varlen_conv_formula[] = "MAC = N(x)*k; ADD = [in3]*N(x); activation = N(x); k := w[2]";

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
static int engram_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    static const struct oc_prims product[] = {{OC_MUL, 1}, {0, 0}};
    static const struct oc_prims gate[] = {{OC_MUL, 2}, {OC_CMP, 3}, {OC_SQRT, 1}, {OC_SIG, 1}, {0, 0}};
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (!x->ranked || x->rank == 0)
        return oc_cost_unknown(c);
    uint64_t n = oc_c_in(c, 0), rows = oc_c_range(c, x, 0, x->rank - 1U);
    oc_report_norm(c, n, rows, false);
    oc_report_norm(c, n, rows, false);
    oc_add_functions(c, gate, rows);
    oc_add_functions(c, product, n);
    if (oc_out_wanted(c, 1))
        oc_report_norm(c, n, rows, false);
    return 0;
}
static const char engram_formula[] = "MAC = N(x); functions = gate; " OC_RMS_NORM_FORMULA;

#define MS(n, cl, s, sh, co)                                                                                 \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = (cl), .slots = (s), .shape = (sh),   \
        co                                                                                                   \
    }

static const struct oc_op packed_state_rows[] = {
    MS("EngramGate", OC_OP_NORM, "...n", shape_engram, OC_COST(engram)),
    MS("GatedDeltaNet", OC_OP_ATTENTION, "...m...bbmm", shape_delta, OC_COST(delta)),
    MS("VarlenCausalConvWithState", OC_OP_CONV, "..mb.m", shape_varlen_conv,
       OC_COST_TEXT(varlen_conv_formula)),
};
OC_FAMILY(packed_state, packed_state_rows);
