/* Recurrent layers. cost-semantics 4.13. */
#include "ops/shared_rules.h"

#include <string.h>

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
static void rnn_add_functions(struct oc_op_ctx *c, struct oc_cost *k, unsigned directions, uint64_t units)
{
    const struct rnn_kind *kind = c->op->param;
    bool coupled = kind->states == 2 && oc_attr_i(c, "input_forget", 0) != 0;
    for (unsigned d = 0; d < directions; d++)
        for (unsigned i = 0; i < 3 && kind->defaults[i]; i++) {
            const char *name = function_name(c, d, i);
            const struct oc_prims *p = oc_activation_prims(name);
            if (!p)
                c->assumption = oc_printf(c->arena, "unknown activation '%s': not counted", name);
            oc_add_functions(c, k, p, oc_c_mul(c, kind->uses[i] - (i == 0 && coupled), units));
        }
}

/* Bahdanau attention of n queries (all steps and directions): keys M*MW once per direction; then per query
 * its product, the sum with all keys, tanh, the product with V, softmax, the weighted memory and the optional
 * layer on both. */
static void add_attention(struct oc_op_ctx *c, struct oc_cost *k, const struct rnn_size *s, uint64_t n)
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
    oc_add_functions(c, k, mac, oc_c_add(c, keys, oc_c_mul(c, n, oc_c_mul(c, hidden, size))));
    oc_add_functions(c, k, align, oc_c_mul(c, seen, size));
    oc_add_functions(c, k, softmax, seen);
    oc_add_functions(c, k, mac, oc_c_mul(c, seen, depth));
    if (oc_in(c, ATTN_W) && aw->ranked && aw->rank == 3)
        oc_add_functions(c, k, mac,
                         oc_c_mul(c, n, oc_c_mul(c, oc_c_add(c, depth, hidden), oc_c_dim(c, aw->dim[2]))));
}

/* u = t*H. MAC u*G*(I+H). ADD: gates G (and as many with bias), then the combination: LSTM 1, GRU 2 and one
 * bias more with linear_before_reset. MUL 3 for both. Peepholes 3 MUL + 3 ADD; clip 2 CMP per gate.
 * Quantized: x and h of every step and direction are quantized. */
static int cost_rnn(struct oc_op_ctx *c, struct oc_cost *k)
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
        add_attention(c, k, &s, steps);
    if (kind->quantized) {
        k->mac_class = OC_CLASS_I8;
        oc_add_functions(c, k, oc_prims_dynamic_quantize, oc_c_mul(c, steps, reach));
    }
    oc_add_formula_value(c, "u", u);
    oc_add_formula_value(c, "G", G);
    oc_add_formula_value(c, "I", oc_c_dim(c, s.input));
    oc_add_formula_value(c, "H", oc_c_dim(c, s.hidden));
    oc_add_formula_value(c, "more", add - G - G * bias);
    oc_add_formula_value(c, "m", kind == &plain_rnn ? 0 : 3);
    oc_add_formula_value(c, "P", kind->states == 2 && oc_in(c, PEEPHOLES));
    oc_add_formula_value(c, "clip", oc_has_attr(c, "clip"));
    oc_add(c, k, OC_MAC, oc_c_mul(c, oc_c_mul(c, u, G), reach));
    oc_add(c, k, OC_ADD, oc_c_mul(c, add, u));
    oc_add(c, k, OC_MUL, oc_c_mul(c, kind == &plain_rnn ? 0 : 3, u));
    if (kind->states == 2 && oc_in(c, PEEPHOLES)) {
        oc_add(c, k, OC_MUL, oc_c_mul(c, 3, u));
        oc_add(c, k, OC_ADD, oc_c_mul(c, 3, u));
    }
    if (oc_has_attr(c, "clip"))
        oc_add(c, k, OC_CMP, oc_c_mul(c, 2 * G, u));
    rnn_add_functions(c, k, s.directions, one);
    if (c->opt.rnn_reload)
        reload_weights(c, k, &s);
    return 0;
}
static const char cost_rnn_formula[] =
    "MAC = u*G*(I + H); ADD = u*(G + G*[B] + more + 3*P); MUL = u*(m + 3*P); CMP = u*2*G*clip; "
    "functions = u";

#define RNN(d, n, v, sl, kind)                                                                               \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_RNN, .slots = (sl), .shape = shape_rnn,  \
        OC_COST(cost_rnn), .param = &(kind)                                                                  \
    }

static const struct oc_op rows[] = {
    RNN("com.microsoft", "AttnLSTM", 1, "...b..........", attn_lstm),
    RNN("com.microsoft", "DynamicQuantizeLSTM", 1, "...b....q", dynamic_lstm),
    RNN("", "GRU", 1, "...b.", gru),
    RNN("", "LSTM", 1, "...b.", lstm),
    RNN("", "RNN", 1, "...b.", plain_rnn),
};
OC_FAMILY(rnn, rows);
