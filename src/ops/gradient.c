/* Gradient rules, one row per group of operators: dX, dW ... from dY by the derivative. A reduction of n
 * elements counts n additions, as in the forward pass. */
#include "ops/op.h"

#include <string.h>

#include "base/str.h"

enum { MAX_SLOTS = 32 };

struct grad {
    struct oc_op_ctx *c;
    const struct oc_cost *forward;
    const bool *wants;
    struct oc_gradient *out;
};

/* Work per element for one operand, and the slots that its gradient reads. */
struct side {
    struct oc_prims work[5];
    uint8_t save_in, save_out;
};

enum { IN0 = 1, IN1 = 2, IN2 = 4, OUT0 = 1, OUT1 = 2 };

struct rule {
    const char *ops; /* separated by single spaces; NULL: the class */
    uint8_t op_class;
    bool (*apply)(struct grad *, const struct rule *); /* false: no rule for these attributes */
    struct side side[2];                               /* of operand 0, and of the others */
};

static bool wanted(const struct grad *g, unsigned slot)
{
    return slot < g->c->n_in && g->wants[slot];
}

static void gradient_add(struct grad *g, unsigned prim, uint64_t n)
{
    g->out->hist[prim] = oc_c_add(g->c, g->out->hist[prim], n);
}

static void add_all(struct grad *g, const struct oc_prims *work, uint64_t n)
{
    for (; work->n; work++)
        gradient_add(g, work->prim, oc_c_mul(g->c, n, work->n));
}

static void add_forward(struct grad *g, unsigned prim, uint64_t n)
{
    g->out->forward[prim] = oc_c_add(g->c, g->out->forward[prim], n);
}

static void save(struct grad *g, const struct side *s)
{
    g->out->save_in |= s->save_in;
    g->out->save_out |= s->save_out;
}

static void save_bytes(struct grad *g, uint64_t bytes)
{
    g->out->extra_bytes = oc_c_add(g->c, g->out->extra_bytes, bytes);
}

static uint64_t forward_of(struct grad *g, unsigned prim)
{
    return oc_c_add(g->c, g->forward->hist_f[prim], g->forward->hist_i[prim]);
}

/* The gradient of an operand that was broadcast is summed over its copies. */
static void sum_copies(struct grad *g, unsigned slot)
{
    uint64_t n = oc_c_out(g->c, 0);
    if (oc_c_in(g->c, slot) < n)
        gradient_add(g, OC_ADD, n);
}

/* ---- element by element ----------------------------------------------------------------------------- */

static bool no_work(struct grad *g, const struct rule *r)
{
    save(g, &r->side[0]);
    return true;
}

static bool per_output(struct grad *g, const struct rule *r)
{
    add_all(g, r->side[0].work, oc_c_out(g->c, 0));
    save(g, &r->side[0]);
    return true;
}

static bool per_input(struct grad *g, const struct rule *r)
{
    add_all(g, r->side[0].work, oc_c_in(g->c, 0));
    save(g, &r->side[0]);
    return true;
}

static void one_operand(struct grad *g, unsigned slot, const struct side *s)
{
    if (!wanted(g, slot))
        return;
    add_all(g, s->work, oc_c_out(g->c, 0));
    save(g, s);
    sum_copies(g, slot);
}

static bool two_operands(struct grad *g, const struct rule *r)
{
    one_operand(g, 0, &r->side[0]);
    one_operand(g, 1, &r->side[1]);
    return true;
}

static bool any_operands(struct grad *g, const struct rule *r)
{
    for (unsigned i = 0; i < g->c->n_in; i++)
        one_operand(g, i, &r->side[0]);
    return true;
}

/* The larger or smaller operand has the gradient: all are saved to compare them. */
static bool selected(struct grad *g, const struct rule *r)
{
    if (g->c->n_in > MAX_SLOTS)
        return false;
    for (unsigned i = 0; i < g->c->n_in && g->c->n_in > 1; i++)
        g->out->save_in |= 1U << i;
    return any_operands(g, r);
}

static bool power(struct grad *g, const struct rule *r)
{
    if (wanted(g, 1))
        return false;
    one_operand(g, 0, &r->side[0]);
    return true;
}

/* In training mode elements are dropped at random: the mask is saved, a byte per element. In inference mode
 * it is a view. */
static bool dropout(struct grad *g, const struct rule *r)
{
    (void)r;
    if (g->forward->alias)
        return true;
    gradient_add(g, OC_MUL, oc_c_out(g->c, 0));
    save_bytes(g, oc_c_out(g->c, 0));
    return true;
}

/* As GeluGrad and FastGeluGrad of ONNX Runtime's training graphs. */
static bool gelu(struct grad *g, const struct rule *r)
{
    static const struct oc_prims by_erf[] = {{OC_ERF, 1}, {OC_EXP, 1}, {OC_MUL, 7}, {OC_ADD, 2}, {0, 0}};
    static const struct oc_prims by_tanh[] = {{OC_TANH, 1}, {OC_MUL, 12}, {OC_ADD, 5}, {0, 0}};
    bool tanh = strcmp(g->c->op->name, "FastGelu") == 0 ||
                strcmp(oc_attr_s(g->c, "approximate", "none"), "tanh") == 0;
    if (wanted(g, 1)) /* a bias */
        return false;
    add_all(g, tanh ? by_tanh : by_erf, oc_c_out(g->c, 0));
    save(g, &r->side[0]);
    return true;
}

/* An operand that was repeated: Expand, Tile, Gather, nearest neighbour. */
static bool scatter_add(struct grad *g, const struct rule *r)
{
    gradient_add(g, OC_ADD, oc_c_out(g->c, 0));
    save(g, &r->side[0]);
    return true;
}

static bool resize(struct grad *g, const struct rule *r)
{
    return strcmp(oc_attr_s(g->c, "mode", "nearest"), "nearest") == 0 && scatter_add(g, r);
}

/* ---- products --------------------------------------------------------------------------------------- */

/* Each operand's gradient is a product with the MACs of the forward one, and reads the other operand. */
static bool product(struct grad *g, const struct rule *r)
{
    uint64_t macs = forward_of(g, OC_MAC);
    uint32_t bias = OC_NONE;
    (void)r;
    for (unsigned i = 0; i < 2; i++)
        if (wanted(g, i)) {
            gradient_add(g, OC_MAC, macs);
            g->out->save_in |= 1U << (1 - i);
        }
    for (unsigned i = 2; i < g->c->n_in; i++) {
        if (oc_op_slot(g->c->op, i) == 'b')
            bias = i;
        else if (wanted(g, i))
            return false;
    }
    if (bias != OC_NONE && wanted(g, bias))
        sum_copies(g, bias);
    return true;
}

static bool gemm(struct grad *g, const struct rule *r)
{
    bool scaled = oc_attr_f(g->c, "alpha", 1) != 1;
    if (scaled && (wanted(g, 0) || wanted(g, 1)))
        gradient_add(g, OC_MUL, oc_c_out(g->c, 0));
    if (wanted(g, 2) && oc_attr_f(g->c, "beta", 1) != 1)
        gradient_add(g, OC_MUL, oc_c_in(g->c, 2));
    return product(g, r);
}

static bool einsum(struct grad *g, const struct rule *r)
{
    return g->c->n_in == 2 && forward_of(g, OC_MAC) && product(g, r);
}

/* ---- normalisation ---------------------------------------------------------------------------------- */

static uint64_t norm_rows(struct grad *g)
{
    struct oc_op_ctx *c = g->c;
    return forward_of(g, OC_SQRT) ? forward_of(g, OC_SQRT) : oc_c_in(c, 0);
}

/* x^ = (x - mean)/s: dX = (dx^ - mean(dx^) - x^ mean(dx^ x^))/s with dx^ = dY scale; dscale = sum dY x^,
 * dbias = sum dY. Mean and 1/s of every row are saved in f32. */
static bool centred_norm(struct grad *g, const struct rule *r)
{
    uint64_t n = oc_c_in(g->c, 0), rows = norm_rows(g);
    gradient_add(g, OC_ADD, n); /* x^ */
    gradient_add(g, OC_MUL, n);
    if (wanted(g, 0)) {
        gradient_add(g, OC_MUL, oc_c_mul(g->c, n, 4));
        gradient_add(g, OC_ADD, oc_c_mul(g->c, n, 4));
        gradient_add(g, OC_DIV, oc_c_mul(g->c, rows, 2));
    }
    if (wanted(g, 1)) {
        gradient_add(g, OC_MUL, n);
        gradient_add(g, OC_ADD, n);
    }
    if (wanted(g, 2))
        gradient_add(g, OC_ADD, n);
    save(g, &r->side[0]);
    save_bytes(g, oc_c_mul(g->c, rows, 8));
    return true;
}

/* Statistics of the batch, whatever the exported node uses. */
static bool batch_norm(struct grad *g, const struct rule *r)
{
    uint64_t n = oc_c_in(g->c, 0), channels = oc_c_in(g->c, 1);
    if (oc_attr_i(g->c, "training_mode", 0) == 0) {
        add_forward(g, OC_ADD, oc_c_mul(g->c, n, 3));
        add_forward(g, OC_MUL, n);
        add_forward(g, OC_MUL,
                    oc_c_mul(g->c, channels, 4)); /* moving averages; in total 3 DIV, 5 MUL, 4 ADD */
        add_forward(g, OC_ADD, oc_c_mul(g->c, channels, 2));
        add_forward(g, OC_DIV, oc_c_mul(g->c, channels, 2));
    }
    g->out->assumption = "batch normalization trains with the statistics of the batch";
    return centred_norm(g, r);
}

/* x^ = x/s without a mean. */
static bool rms_norm(struct grad *g, const struct rule *r)
{
    uint64_t n = oc_c_in(g->c, 0), rows = norm_rows(g);
    gradient_add(g, OC_MUL, n); /* x^ */
    if (wanted(g, 0)) {
        gradient_add(g, OC_MUL, oc_c_mul(g->c, n, 4));
        gradient_add(g, OC_ADD, oc_c_mul(g->c, n, 2));
        gradient_add(g, OC_DIV, rows);
    }
    if (wanted(g, 1)) {
        gradient_add(g, OC_MUL, n);
        gradient_add(g, OC_ADD, n);
    }
    save(g, &r->side[0]);
    save_bytes(g, oc_c_mul(g->c, rows, 4));
    return true;
}

/* ---- windows and reductions ------------------------------------------------------------------------- */

/* The place of the maximum is saved: a byte if the window has at most 256, else 4. */
static bool max_pool(struct grad *g, const struct rule *r)
{
    uint64_t n = oc_c_out(g->c, 0), taps = n ? forward_of(g, OC_CMP) / n : 0;
    (void)r;
    gradient_add(g, OC_ADD, n);
    save_bytes(g, oc_c_mul(g->c, n, taps <= 256 ? 1 : 4));
    return true;
}

/* The transposed sum: as many additions and divisions as the forward pass. */
static bool average_pool(struct grad *g, const struct rule *r)
{
    (void)r;
    gradient_add(g, OC_ADD, forward_of(g, OC_ADD));
    gradient_add(g, OC_DIV, forward_of(g, OC_DIV));
    return true;
}

static bool l2(struct grad *g, const struct rule *r)
{
    gradient_add(g, OC_DIV, oc_c_out(g->c, 0));
    return per_input(g, r);
}

static bool sum_square(struct grad *g, const struct rule *r)
{
    gradient_add(g, OC_MUL, oc_c_out(g->c, 0));
    return per_input(g, r);
}

/* ---- attention and recurrence ----------------------------------------------------------------------- */

/* dV = P^T dO, dP = dO V^T, dQ = dS K, dK = dS^T Q: twice the MACs of the forward pass; dS from dP by the
 * softmax, and the scale. */
static bool attention(struct grad *g, const struct rule *r)
{
    uint64_t pairs = forward_of(g, OC_EXP);
    if (!pairs)
        return false;
    gradient_add(g, OC_MAC, oc_c_mul(g->c, forward_of(g, OC_MAC), 2));
    gradient_add(g, OC_MUL, oc_c_mul(g->c, pairs, 3));
    gradient_add(g, OC_ADD, oc_c_mul(g->c, pairs, 2));
    save(g, &r->side[0]);
    save_bytes(g, oc_c_bytes(g->c, oc_in_dtype(g->c, 0), pairs));
    g->out->assumption = "the softmax of the attention is saved";
    return true;
}

/* A rotation: its transpose has the same work. */
static bool rotation(struct grad *g, const struct rule *r)
{
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        gradient_add(g, p, forward_of(g, p));
    save(g, &r->side[0]);
    return true;
}

/* Per step, row of the batch and hidden element, with the default activations; numbers saved for each. */
struct recurrent {
    const char *name;
    uint8_t mul, add, tanh, saved;
};

static const struct recurrent recurrents[] = {
    {"LSTM", 16, 7, 1, 5}, /* i, f, g, o, c; tanh(c) again */
    {"GRU", 11, 7, 0, 4},  /* z, r, h~, R h */
    {"RNN", 2, 2, 0, 1},   /* h */
};

/* Each step: dX and dW of the input product, dH and dR of the recurrent one. */
static bool recurrence(struct grad *g, const struct rule *r)
{
    struct oc_op_ctx *c = g->c;
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 2);
    const struct recurrent *k = recurrents;
    if (!x->ranked || x->rank != 3 || !w->ranked || w->rank != 3 || oc_has_attr(c, "activations") ||
        oc_in(c, 7))
        return false;
    while (strcmp(k->name, c->op->name) != 0)
        k++;
    uint64_t steps = oc_c_range(c, x, 0, 2),
             hidden = oc_c_mul(c, oc_c_dim(c, w->dim[0]), oc_c_dim(c, w->dim[2]));
    uint64_t of_input = oc_c_mul(c, steps, oc_c_in(c, 1)), of_state = oc_c_mul(c, steps, oc_c_in(c, 2));
    uint64_t each = oc_c_mul(c, steps, hidden);
    gradient_add(g, OC_MAC, oc_c_mul(c, of_input, (uint64_t)wanted(g, 0) + wanted(g, 1)));
    gradient_add(g, OC_MAC, oc_c_mul(c, of_state, 1 + (uint64_t)wanted(g, 2)));
    gradient_add(g, OC_MUL, oc_c_mul(c, each, k->mul));
    gradient_add(g, OC_ADD, oc_c_mul(c, each, k->add));
    gradient_add(g, OC_TANH, oc_c_mul(c, each, k->tanh));
    if (wanted(g, 3))
        gradient_add(g, OC_ADD, oc_c_mul(c, steps, oc_c_in(c, 3)));
    save(g, &r->side[0]);
    save_bytes(g, oc_c_bytes(c, oc_in_dtype(c, 0), oc_c_mul(c, each, k->saved)));
    g->out->assumption = "the gates of every step are saved";
    return true;
}

/* ---- the table -------------------------------------------------------------------------------------- */

#define EACH(name, i, o, ...)                                                                                \
    {                                                                                                        \
        (name), 0, per_output,                                                                               \
        {                                                                                                    \
            {                                                                                                \
                .work = {__VA_ARGS__}, .save_in = (i), .save_out = (o)                                       \
            }                                                                                                \
        }                                                                                                    \
    }
#define BY(name, f, i, o)                                                                                    \
    {                                                                                                        \
        (name), 0, f,                                                                                        \
        {                                                                                                    \
            {                                                                                                \
                .save_in = (i), .save_out = (o)                                                              \
            }                                                                                                \
        }                                                                                                    \
    }
#define OF(class, f)                                                                                         \
    {                                                                                                        \
        NULL, OC_OP_##class, f,                                                                              \
        {                                                                                                    \
            {                                                                                                \
                .save_in = 0                                                                                 \
            }                                                                                                \
        }                                                                                                    \
    }
#define ALSO(name, cl, i, o, ...)                                                                            \
    {                                                                                                        \
        (name), 0, cl,                                                                                       \
        {                                                                                                    \
            {                                                                                                \
                .work = {__VA_ARGS__}, .save_in = (i), .save_out = (o)                                       \
            }                                                                                                \
        }                                                                                                    \
    }
#define TWO(name, ...)                                                                                       \
    {                                                                                                        \
        (name), 0, two_operands,                                                                             \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

static const struct rule rules[] = {
    /* products */
    BY("MatMul Conv ConvTranspose", product, 0, 0),
    BY("Gemm", gemm, 0, 0),
    BY("Einsum", einsum, 0, 0),
    /* of the output: y, y' */
    EACH("Relu", 0, OUT0, {OC_CMP, 1}),
    EACH("Sigmoid", 0, OUT0, {OC_MUL, 2}, {OC_ADD, 1}),
    EACH("Tanh", 0, OUT0, {OC_MUL, 2}, {OC_ADD, 1}),
    EACH("Exp", 0, OUT0, {OC_MUL, 1}),
    EACH("Sqrt", 0, OUT0, {OC_MUL, 1}, {OC_DIV, 1}),
    EACH("Reciprocal", 0, OUT0, {OC_MUL, 2}, {OC_CMP, 1}),
    EACH("Elu", 0, OUT0, {OC_CMP, 1}, {OC_ADD, 1}, {OC_MUL, 1}),
    /* of the input */
    EACH("LeakyRelu", IN0, 0, {OC_CMP, 1}, {OC_MUL, 1}),
    EACH("Clip", IN0, 0, {OC_CMP, 2}),
    EACH("Abs", IN0, 0, {OC_CMP, 1}, {OC_MUL, 1}),
    EACH("Log", IN0, 0, {OC_DIV, 1}),
    EACH("Sin", IN0, 0, {OC_SIN, 1}, {OC_MUL, 1}),
    EACH("Cos", IN0, 0, {OC_SIN, 1}, {OC_MUL, 1}, {OC_CMP, 1}),
    EACH("Erf", IN0, 0, {OC_EXP, 1}, {OC_MUL, 3}, {OC_CMP, 1}), /* dY 2/sqrt(pi) exp(-x^2) */
    EACH("Softplus", IN0, 0, {OC_SIG, 1}, {OC_MUL, 1}),
    EACH("HardSigmoid", IN0, 0, {OC_CMP, 2}, {OC_MUL, 1}),
    EACH("HardSwish", IN0, 0, {OC_CMP, 2}, {OC_MUL, 2}, {OC_ADD, 1}),
    EACH("Swish QuickGelu", IN0, 0, {OC_SIG, 1}, {OC_MUL, 4}, {OC_ADD, 2}),
    BY("Gelu FastGelu", gelu, IN0, 0),
    EACH("Neg", 0, 0, {OC_CMP, 1}),
    BY("Dropout", dropout, 0, 0),
    /* operands */
    ALSO("Add Sum", any_operands, 0, 0, {0, 0}),
    ALSO("Mean", any_operands, 0, 0, {OC_DIV, 1}),
    ALSO("Max Min", selected, 0, 0, {OC_CMP, 1}),
    TWO("Sub", {.save_in = 0}, {.work = {{OC_CMP, 1}}}),
    TWO("Mul", {.work = {{OC_MUL, 1}}, .save_in = IN1}, {.work = {{OC_MUL, 1}}, .save_in = IN0}),
    TWO("Div", {.work = {{OC_DIV, 1}}, .save_in = IN1},
        {.work = {{OC_MUL, 1}, {OC_DIV, 1}, {OC_CMP, 1}}, .save_in = IN1, .save_out = OUT0}), /* -dY y/b */
    TWO("PRelu", {.work = {{OC_CMP, 1}, {OC_MUL, 1}}, .save_in = IN0 | IN1},
        {.work = {{OC_CMP, 1}, {OC_MUL, 1}}, .save_in = IN0}),
    ALSO("Pow", power, IN0 | IN1, 0, {OC_POW, 1}, {OC_MUL, 2}, {OC_ADD, 1}), /* dY b x^(b - 1) */
    ALSO("Where", any_operands, IN0, 0, {OC_CMP, 1}),
    /* normalisation, softmax */
    BY("BatchNormalization", batch_norm, IN0, 0),
    BY("LayerNormalization InstanceNormalization GroupNormalization", centred_norm, IN0, 0),
    BY("RMSNormalization SimplifiedLayerNormalization", rms_norm, IN0, 0),
    EACH("Softmax", 0, OUT0, {OC_MUL, 2}, {OC_ADD, 2}),
    EACH("LogSoftmax", 0, OUT0, {OC_EXP, 1}, {OC_MUL, 1}, {OC_ADD, 2}),
    /* windows, reductions */
    BY("MaxPool GlobalMaxPool", max_pool, 0, 0),
    BY("AveragePool", average_pool, 0, 0),
    EACH("GlobalAveragePool ReduceMean", 0, 0, {OC_DIV, 1}),
    BY("ReduceSum", no_work, 0, 0),
    ALSO("ReduceMax ReduceMin", per_input, IN0, OUT0, {OC_CMP, 1}),
    ALSO("ReduceL2", l2, IN0, OUT0, {OC_MUL, 1}),
    ALSO("ReduceSumSquare", sum_square, IN0, 0, {OC_MUL, 1}),
    /* data that moves; indices are saved */
    BY("Expand Tile", scatter_add, 0, 0),
    BY("Gather GatherElements GatherND", scatter_add, IN1, 0),
    BY("Resize Upsample", resize, 0, 0),
    BY("TopK", no_work, 0, OUT1),
    BY("Cast CastLike Identity Concat Split Slice Pad Transpose DepthToSpace SpaceToDepth", no_work, 0, 0),
    OF(VIEW, no_work),
    /* sequences */
    BY("Attention MultiHeadAttention GroupQueryAttention", attention, IN0 | IN1 | IN2, 0),
    BY("RotaryEmbedding", rotation, IN1 | IN2, 0),
    BY("LSTM GRU RNN", recurrence, IN0, 0),
};

/* Real numbers that do not change with their inputs, except in jumps. */
static const char *const steps[] = {"Floor",
                                    "Ceil",
                                    "Round",
                                    "Sign",
                                    "Hardmax",
                                    "EyeLike",
                                    "ConstantOfShape",
                                    "Bernoulli",
                                    "RandomNormalLike",
                                    "Multinomial",
                                    "RandomUniformLike",
                                    "OneHot"};

static bool is_real(const struct oc_type *t)
{
    return t && t->kind == OC_T_TENSOR && oc_dtype_info(t->dtype)->kind == OC_KIND_FLOAT;
}

bool oc_gradient_passes(const struct oc_op *op, unsigned slot, const struct oc_type *in,
                        const struct oc_type *out)
{
    for (size_t i = 0; op && i < OC_COUNT(steps); i++)
        if (strcmp(op->name, steps[i]) == 0)
            return false;
    if (op && op->op_class == OC_OP_QUANTIZE)
        return slot == 0;
    return is_real(in) && (!out || is_real(out)) && !strchr("mqs", oc_op_slot(op, slot));
}

bool oc_gradient_of(struct oc_op_ctx *c, const struct oc_cost *forward, const bool *wants,
                    struct oc_gradient *out)
{
    struct grad g = {.c = c, .forward = forward, .wants = wants, .out = out};
    *out = (struct oc_gradient){0};
    for (size_t i = 0; i < OC_COUNT(rules); i++)
        if (rules[i].ops ? oc_has_word(rules[i].ops, c->op->name) : rules[i].op_class == c->op->op_class)
            return rules[i].apply(&g, &rules[i]);
    return false;
}
