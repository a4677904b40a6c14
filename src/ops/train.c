/* Gradients and optimizer steps (ai.onnx.preview.training): R, T, then the parameters, the gradients and the
 * states, n of each; outputs are the new parameters and states. cost-semantics 4.15. */
#include <string.h>

#include "ops/op.h"
#include "ops/shared_rules.h"

struct optimizer {
    uint8_t n_state; /* state tensors per parameter */
    struct oc_prims step[5];
};

static const struct optimizer adam = {2, {{OC_MUL, 6}, {OC_ADD, 6}, {OC_SQRT, 1}, {OC_DIV, 1}}};
static const struct optimizer adagrad = {1, {{OC_MUL, 3}, {OC_ADD, 4}, {OC_SQRT, 1}, {OC_DIV, 1}}};
static const struct optimizer momentum = {1, {{OC_MUL, 3}, {OC_ADD, 2}}};

#define FIRST 2 /* after the learning rate and the update count */

static int n_params(struct oc_op_ctx *c, uint32_t *n)
{
    const struct optimizer *o = c->op->param;
    uint32_t group = o->n_state + 2U;
    if (c->n_in < FIRST + group || (c->n_in - FIRST) % group)
        return oc_op_fail(c, "%u inputs are not %u for every parameter", c->n_in, group);
    *n = (c->n_in - FIRST) / group;
    return 0;
}

static int shape_optimizer(struct oc_op_ctx *c)
{
    const struct optimizer *o = c->op->param;
    uint32_t n;
    if (n_params(c, &n))
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        oc_set_out_type(c, i, oc_in(c, FIRST + i));
        for (uint32_t s = 0; s < o->n_state; s++)
            oc_set_out_type(c, (1 + s) * n + i, oc_in(c, FIRST + (2 + s) * n + i));
    }
    return 0;
}

static int optimizer_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct optimizer *o = c->op->param;
    uint32_t n;
    if (n_params(c, &n))
        return -1;
    k->rest_class = oc_dtype_info(oc_in_dtype(c, FIRST))->cls;
    for (uint32_t i = 0; i < n; i++)
        oc_add_functions(c, o->step, oc_c_in(c, FIRST + i));
    c->assumption = "an optimizer step is counted by its usual formula";
    return 0;
}
static const char optimizer_formula[] = "functions = 1";

const struct oc_prims *oc_optimizer_step(const char *name, unsigned *n_state)
{
    static const struct optimizer plain = {0, {{OC_MUL, 1}, {OC_ADD, 1}}};
    const struct {
        const char *name;
        const struct optimizer *o;
    } known[] = {{"sgd", &plain}, {"momentum", &momentum}, {"adam", &adam}};
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (strcmp(known[i].name, name) == 0) {
            *n_state = known[i].o->n_state;
            return known[i].o->step;
        }
    return NULL;
}

/* The gradient with respect to the i-th of `xs` has its type. Its cost is not defined in the node. */
static int shape_gradient(struct oc_op_ctx *c)
{
    const struct oc_attr *xs = oc_node_attr(c->node, "xs");
    if (!xs || xs->type != OC_ATTR_STRINGS || xs->n < c->n_out || xs->n > c->n_in)
        return oc_op_fail(c, "xs names %u of %u inputs for %u outputs", xs ? xs->n : 0, c->n_in, c->n_out);
    for (unsigned i = 0; i < c->n_out; i++)
        oc_set_out_type(c, i, oc_in(c, i));
    return 0;
}

static int gradient_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->assumption = "the node does not define the work of the gradient";
    return oc_cost_unknown(c);
}
static const char gradient_formula[] = "";

#define STEP(n, o)                                                                                           \
    {                                                                                                        \
        .domain = "ai.onnx.preview.training", .name = (n), .since = 1, .op_class = OC_OP_ELEMENTWISE,        \
        .shape = shape_optimizer, OC_COST(optimizer), .param = &(o)                                          \
    }

static const struct oc_op train_rows[] = {
    STEP("Adagrad", adagrad),
    STEP("Adam", adam),
    {OC_OP_ROW("ai.onnx.preview.training", "Gradient", 1, OTHER, NULL, shape_gradient), .flags = OC_F_NO_FOLD,
     OC_COST(gradient)},
    STEP("Momentum", momentum),
};
OC_FAMILY(train, train_rows);

/* ---- training graphs of ONNX Runtime ------------------------------------------------------------------ */

/* Gradients, optimizers and accumulators of ONNX Runtime's training graphs (training_op_defs.cc, 1.5
 * to 1.19). Every output has the type of one input; the work is an amount per element of one input. */

#define NO 255 /* no such output */

struct step {
    uint8_t like[6];  /* by output: the input that has its type */
    uint8_t elements; /* the input whose elements count */
    bool plain;       /* exact: no choice of formula */
    struct oc_prims work[5];
};

static int shape_like(struct oc_op_ctx *c)
{
    const struct step *s = c->op->param;
    for (uint32_t i = 0; i < c->n_out && i < OC_COUNT(s->like) && s->like[i] != NO; i++)
        oc_set_out_type(c, i, oc_in(c, s->like[i]));
    return 0;
}

static int step_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct step *s = c->op->param;
    k->rest_class = oc_dtype_info(oc_in_dtype(c, s->elements))->cls;
    oc_add_functions(c, s->work, oc_c_in(c, s->elements));
    if (!s->plain)
        c->assumption = "a training step is counted by its usual formula";
    return 0;
}
static const char step_formula[] = "functions = 1";

#define TRAIN_GRAD_FIRST                                                                                     \
    {                                                                                                        \
        0, NO                                                                                                \
    }
#define NORM                                                                                                 \
    {                                                                                                        \
        1, 2, 2, NO                                                                                          \
    }

static const struct step relu = {TRAIN_GRAD_FIRST, 0, true, {{OC_CMP, 1}}};
static const struct step leaky_relu = {TRAIN_GRAD_FIRST, 0, true, {{OC_CMP, 1}, {OC_MUL, 1}}};
static const struct step one_minus = {
    TRAIN_GRAD_FIRST, 0, true, {{OC_MUL, 2}, {OC_ADD, 1}}}; /* dY Y (1 - Y), dY (1 - Y^2) */
static const struct step sine = {TRAIN_GRAD_FIRST, 0, true, {{OC_SIN, 1}, {OC_MUL, 1}}};
static const struct step dropout = {TRAIN_GRAD_FIRST, 0, true, {{OC_CMP, 1}, {OC_MUL, 1}}};
static const struct step gelu = {
    TRAIN_GRAD_FIRST, 0, false, {{OC_ERF, 1}, {OC_EXP, 1}, {OC_MUL, 7}, {OC_ADD, 2}}};
static const struct step bias_gelu = {
    TRAIN_GRAD_FIRST, 0, false, {{OC_ERF, 1}, {OC_EXP, 1}, {OC_MUL, 7}, {OC_ADD, 3}}};
static const struct step fast_gelu = {TRAIN_GRAD_FIRST, 0, false, {{OC_TANH, 1}, {OC_MUL, 12}, {OC_ADD, 5}}};
static const struct step bias_fast_gelu = {
    TRAIN_GRAD_FIRST, 0, false, {{OC_TANH, 1}, {OC_MUL, 12}, {OC_ADD, 6}}};
static const struct step quick_gelu = {TRAIN_GRAD_FIRST, 0, false, {{OC_SIG, 1}, {OC_MUL, 4}, {OC_ADD, 2}}};
/* Y (dY - sum dY Y), dY - exp(Y) sum dY, (exp(log p) - label) dY */
static const struct step softmax = {TRAIN_GRAD_FIRST, 0, true, {{OC_MUL, 2}, {OC_ADD, 2}}};
static const struct step log_softmax = {TRAIN_GRAD_FIRST, 0, true, {{OC_EXP, 1}, {OC_MUL, 1}, {OC_ADD, 2}}};
static const struct step loss = {{1, NO}, 1, false, {{OC_EXP, 1}, {OC_ADD, 1}, {OC_MUL, 1}}};
static const struct step norm = {NORM, 1, false, {{OC_MUL, 6}, {OC_ADD, 7}}};
static const struct step rms_norm = {{1, 2, NO}, 1, false, {{OC_MUL, 6}, {OC_ADD, 3}}};
static const struct step from_output = {NORM, 1, false, {{OC_MUL, 5}, {OC_DIV, 1}, {OC_ADD, 7}}};
static const struct step division = {{1, 2, NO}, 0, false, {{OC_DIV, 2}, {OC_MUL, 2}}};
static const struct step train_grad_adam = {
    {1, 4, 5, 2, 3, 6}, 2, false, {{OC_MUL, 6}, {OC_ADD, 6}, {OC_SQRT, 1}, {OC_DIV, 1}}};
static const struct step sgd = {{1, 2, NO}, 1, true, {{OC_MUL, 1}, {OC_ADD, 1}}};
static const struct step accumulate = {TRAIN_GRAD_FIRST, 0, true, {{OC_ADD, 1}}};
static const struct step clear = {TRAIN_GRAD_FIRST, 0, true, {{0, 0}}};
static const struct step scale = {TRAIN_GRAD_FIRST, 0, true, {{OC_MUL, 1}}};

/* ---- shapes that are inputs --------------------------------------------------------------------------- */

/* Gradients of gathers and slices: a tensor of the shape that input `shape` gives, to which dY is added. */
struct scattered {
    uint8_t shape, dy;
};
static const struct scattered shape_first = {0, 2}, shape_second = {1, 0};

static int shape_scattered(struct oc_op_ctx *c)
{
    const struct scattered *s = c->op->param;
    const struct oc_data *d = oc_in_value(c, s->shape);
    struct oc_dim dim[OC_MAX_RANK];
    if (!d || d->n > OC_MAX_RANK)
        return oc_out_unranked(c, oc_in_dtype(c, s->dy));
    for (uint32_t i = 0; i < d->n; i++)
        dim[i] = d->e[i].kind == OC_E_INT ? d->e[i].i : oc_fresh_axis(c, (unsigned)i, -1);
    oc_set_out(c, 0, oc_in_dtype(c, s->dy), oc_shape_of(c->arena, d->n, dim));
    return 0;
}

static int scattered_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct scattered *s = c->op->param;
    uint64_t n = oc_c_in(c, s->dy);
    k->rest_class = oc_dtype_info(oc_in_dtype(c, s->dy))->cls;
    oc_add_formula_value(c, "n", n);
    return 0;
}
static const char scattered_formula[] = "ADD = n; n := 0";

/* ---- convolution -------------------------------------------------------------------------------------- */

/* dY, X, W: dX, dW, dB {M} */
static int shape_conv_grad(struct oc_op_ctx *c)
{
    const struct oc_shape *w = oc_in_shape(c, 2);
    oc_set_out_type(c, 0, oc_in(c, 1));
    oc_set_out_type(c, 1, oc_in(c, 2));
    oc_set_out(c, 2, oc_in_dtype(c, 2),
               oc_shape_1d(c->arena, w->ranked && w->rank ? w->dim[0] : oc_op_fresh_dim(c, "bias", -1)));
    return 0;
}

static const char conv_grad_formula[] =
    "MAC = times*N(x)*in2[1:]; ADD = bias; times := [out0] + [out1]; bias := [out2]*N(x)";

/* ---- several tensors ---------------------------------------------------------------------------------- */

static void report_elements(struct oc_op_ctx *c, uint32_t from)
{
    for (uint32_t i = from; i < c->n_in; i++)
        oc_add_formula_value(c, "n", oc_c_in(c, i));
}

static int shape_all_l2(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_scalar());
    return 0;
}

static int all_l2_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    report_elements(c, 0);
    return 0;
}
static const char all_l2_formula[] = "MUL = n; ADD = n; SQRT = 1; n := 0";

/* scale, tensors: the tensors in the type `to`, or all elements in one with fuse_outputs. */
static int shape_mixed_scale(struct oc_op_ctx *c)
{
    unsigned to = (unsigned)oc_attr_i(c, "to", OC_DT_UNDEFINED);
    if (oc_attr_i(c, "fuse_outputs", 0)) {
        struct oc_dim n = oc_known(0);
        for (uint32_t i = 1; i < c->n_in; i++)
            n = oc_dim_add(c->exprs, n, oc_shape_count(c->exprs, oc_in_shape(c, i)));
        oc_set_out(c, 0, to, oc_shape_1d(c->arena, n));
        return 0;
    }
    for (uint32_t i = 0; i < c->n_out; i++)
        oc_set_out(c, i, to, *oc_in_shape(c, i + 1));
    return 0;
}

static int mixed_scale_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    report_elements(c, 1);
    return 0;
}
static const char mixed_scale_formula[] = "MUL = n; n := 0";

static const char is_finite_formula[] = "CMP:float = N(x)";

/* update signal, loss scale, norm, rate, step; then weights, gradients, both moments and half-precision
 * weights of each parameter. Outputs: the step, and the tensors in the same order. */
#define LAMB_FIRST 5

static int shape_lamb(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, LAMB_FIRST - 1));
    for (uint32_t i = 1; i < c->n_out; i++)
        oc_set_out_type(c, i, oc_in(c, LAMB_FIRST - 1 + i));
    return 0;
}

/* The step of Adam with its weight decay, and the norms of weights and of the step. */
static int lamb_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims work[] = {{OC_MUL, 10}, {OC_ADD, 9}, {OC_SQRT, 1}, {OC_DIV, 1}, {0, 0}};
    k->rest_class = oc_dtype_info(oc_in_dtype(c, LAMB_FIRST))->cls;
    for (uint32_t i = LAMB_FIRST; i < c->n_in; i += 5)
        oc_add_functions(c, work, oc_c_in(c, i));
    c->assumption = "a training step is counted by its usual formula";
    return 0;
}
static const char lamb_formula[] = "functions = 1";

/* The flag that the buffer was updated, and the buffer. */
static int shape_accumulate_v2(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_BOOL, oc_shape_1d(c->arena, oc_known(1)));
    oc_set_out_type(c, 1, oc_in(c, 0));
    return 0;
}

/* Axes to reduce for each operand of a broadcast. */
static int shape_broadcast_axes(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_1d(c->arena, oc_op_fresh_dim(c, "a_axes", -1)));
    oc_set_out(c, 1, OC_DT_INT64, oc_shape_1d(c->arena, oc_op_fresh_dim(c, "b_axes", -1)));
    return 0;
}

/* Pools keep the declared shape of dX: the node does not have that of X. */
static int shape_pool_grad(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_unranked());
    return 0;
}

static const char sum_x_formula[] = "ADD = N(x)";

/* Scaled, rounded, clamped and scaled back; the mask marks elements inside of the range. */
static int shape_fake_quant(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out(c, 1, OC_DT_BOOL, *oc_in_shape(c, 0));
    return 0;
}

static const char fake_quant_formula[] = "DIV = N(x); RND = N(x); ADD = 2*N(x); CMP = 2*N(x); MUL = N(x)";

#define MS "com.microsoft"
#define TRAIN_GRAD_STEP(n, cl, s)                                                                            \
    {                                                                                                        \
        .domain = MS, .name = (n), .since = 1, .op_class = (cl), .shape = shape_like, OC_COST(step),         \
        .param = &(s)                                                                                        \
    }
#define SCATTERED(n, sl, s)                                                                                  \
    {                                                                                                        \
        .domain = MS, .name = (n), .since = 1, .op_class = OC_OP_GATHER, .slots = (sl),                      \
        .shape = shape_scattered, OC_COST(scattered), .param = &(s)                                          \
    }
#define ROW(d, n, cl, sh, co)                                                                                \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = (cl), .shape = (sh), co                          \
    }

static const struct oc_op train_grad_rows[] = {
    TRAIN_GRAD_STEP("AdamOptimizer", OC_OP_ELEMENTWISE, train_grad_adam),
    ROW("", "AveragePoolGrad", OC_OP_POOL, shape_pool_grad, OC_COST_TEXT(sum_x_formula)),
    ROW(MS, "AveragePoolGrad", OC_OP_POOL, shape_pool_grad, OC_COST_TEXT(sum_x_formula)),
    TRAIN_GRAD_STEP("BatchNormalizationGrad", OC_OP_NORM, norm),
    TRAIN_GRAD_STEP("BiasFastGeluGrad_dX", OC_OP_ELEMENTWISE, bias_fast_gelu),
    TRAIN_GRAD_STEP("BiasGeluGrad_dX", OC_OP_ELEMENTWISE, bias_gelu),
    TRAIN_GRAD_STEP("BitmaskDropoutGrad", OC_OP_ELEMENTWISE, dropout),
    {OC_OP_ROW(MS, "BroadcastGradientArgs", 1, OTHER, "m", shape_broadcast_axes)},
    ROW("", "ConvGrad", OC_OP_CONV, shape_conv_grad, OC_COST_TEXT(conv_grad_formula)),
    ROW(MS, "ConvGrad", OC_OP_CONV, shape_conv_grad, OC_COST_TEXT(conv_grad_formula)),
    TRAIN_GRAD_STEP("DivGrad", OC_OP_ELEMENTWISE, division),
    TRAIN_GRAD_STEP("DropoutGrad", OC_OP_ELEMENTWISE, dropout),
    ROW(MS, "FakeQuant", OC_OP_QUANTIZE, shape_fake_quant, OC_COST_TEXT(fake_quant_formula)),
    TRAIN_GRAD_STEP("FakeQuantGrad", OC_OP_ELEMENTWISE, relu),
    TRAIN_GRAD_STEP("FastGeluGrad", OC_OP_ELEMENTWISE, fast_gelu),
    SCATTERED("GatherElementsGrad", ".m.", shape_second),
    SCATTERED("GatherGrad", "m..", shape_first),
    SCATTERED("GatherNDGrad", "m..", shape_first),
    TRAIN_GRAD_STEP("GeluGrad", OC_OP_ELEMENTWISE, gelu),
    TRAIN_GRAD_STEP("InPlaceAccumulator", OC_OP_ELEMENTWISE, accumulate),
    ROW(MS, "InPlaceAccumulatorV2", OC_OP_ELEMENTWISE, shape_accumulate_v2, OC_COST_TEXT(sum_x_formula)),
    TRAIN_GRAD_STEP("InvertibleLayerNormalizationGrad", OC_OP_NORM, from_output),
    ROW(MS, "IsFinite", OC_OP_ELEMENTWISE, oc_shape_same_bool, OC_COST_TEXT(is_finite_formula)),
    ROW(MS, "LambOptimizer", OC_OP_ELEMENTWISE, shape_lamb, OC_COST(lamb)),
    TRAIN_GRAD_STEP("LayerNormalizationGrad", OC_OP_NORM, norm),
    TRAIN_GRAD_STEP("LeakyReluGrad", OC_OP_ELEMENTWISE, leaky_relu),
    TRAIN_GRAD_STEP("LogSoftmaxGrad", OC_OP_SOFTMAX, log_softmax),
    TRAIN_GRAD_STEP("LogSoftmaxGrad_13", OC_OP_SOFTMAX, log_softmax),
    ROW("", "MaxPoolGrad", OC_OP_POOL, shape_pool_grad, OC_COST_TEXT(sum_x_formula)),
    ROW(MS, "MaxPoolGrad", OC_OP_POOL, shape_pool_grad, OC_COST_TEXT(sum_x_formula)),
    ROW(MS, "MixedPrecisionScale", OC_OP_ELEMENTWISE, shape_mixed_scale, OC_COST(mixed_scale)),
    TRAIN_GRAD_STEP("QuickGeluGrad", OC_OP_ELEMENTWISE, quick_gelu),
    ROW(MS, "ReduceAllL2", OC_OP_REDUCE, shape_all_l2, OC_COST(all_l2)),
    TRAIN_GRAD_STEP("ReluGrad", OC_OP_ELEMENTWISE, relu),
    TRAIN_GRAD_STEP("SGDOptimizer", OC_OP_ELEMENTWISE, sgd),
    TRAIN_GRAD_STEP("Scale", OC_OP_ELEMENTWISE, scale),
    TRAIN_GRAD_STEP("SigmoidGrad", OC_OP_ELEMENTWISE, one_minus),
    TRAIN_GRAD_STEP("SimplifiedLayerNormalizationGrad", OC_OP_NORM, rms_norm),
    TRAIN_GRAD_STEP("SinGrad", OC_OP_ELEMENTWISE, sine),
    SCATTERED("SliceGrad", ".mmmmm", shape_second),
    TRAIN_GRAD_STEP("SoftmaxCrossEntropyGrad", OC_OP_SOFTMAX, loss),
    TRAIN_GRAD_STEP("SoftmaxCrossEntropyLossGrad", OC_OP_SOFTMAX, loss),
    TRAIN_GRAD_STEP("SoftmaxCrossEntropyLossInternalGrad", OC_OP_SOFTMAX, loss),
    TRAIN_GRAD_STEP("SoftmaxGrad", OC_OP_SOFTMAX, softmax),
    TRAIN_GRAD_STEP("SoftmaxGrad_13", OC_OP_SOFTMAX, softmax),
    TRAIN_GRAD_STEP("TanhGrad", OC_OP_ELEMENTWISE, one_minus),
    TRAIN_GRAD_STEP("ZeroGradient", OC_OP_COPY, clear),
};
OC_FAMILY(train_grad, train_grad_rows);

/* ---- collectives -------------------------------------------------------------------------------------- */

/* Collectives of ONNX Runtime: com.microsoft (collective_defs.cc, 1.16 and newer) and those of its training
 * graphs (training_op_defs.cc). Sizes and counts are those of one device. */

static int shape_each(struct oc_op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_out; i++)
        oc_set_out_type(c, i, oc_in(c, i));
    return 0;
}

/* The axis is group_size times as long. */
static int shape_all_gather(struct oc_op_ctx *c)
{
    int64_t group = oc_attr_i(c, "group_size", 1);
    if (group < 1)
        return oc_op_fail(c, "group_size is %lld", (long long)group);
    for (uint32_t i = 0; i < c->n_out; i++) {
        const struct oc_shape *x = oc_in_shape(c, i);
        unsigned axis;
        if (!x->ranked) {
            oc_set_out(c, i, oc_in_dtype(c, i), *x);
            continue;
        }
        if (!oc_axis(oc_attr_i(c, "axis", 0), x->rank, &axis))
            return oc_op_fail(c, "axis is out of range for rank %u", (unsigned)x->rank);
        struct oc_dim all = oc_dim_mul(c->exprs, x->dim[axis], oc_known(group));
        oc_set_out(c, i, oc_in_dtype(c, i), oc_shape_with(c, x, axis, all));
    }
    return 0;
}

/* In a ring of p devices, each adds (p - 1)/p of the elements: an upper bound is one addition per element. */
static int collective_reduce_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->n_in; i++)
        n = oc_c_add(c, n, oc_c_in(c, i));
    oc_add_formula_value(c, "n", n);
    c->upper = true;
    return 0;
}
static const char collective_reduce_formula[] = "ADD = n; n := 0";

/* output, and a scalar: whether it is ready */
static int shape_horovod(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out(c, 1, OC_DT_BOOL, oc_shape_scalar());
    return 0;
}

/* A signal; received tensors keep their declared types. */
static int shape_signal(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_BOOL, oc_shape_scalar());
    return 0;
}

#define REDUCE(d, n, sh)                                                                                     \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_REDUCE, .flags = OC_F_NO_FOLD,             \
        .shape = (sh), OC_COST(collective_reduce)                                                            \
    }
#define MOVE(d, n, sh, f)                                                                                    \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_COPY, .flags = OC_F_NO_FOLD | (f),         \
        .shape = (sh)                                                                                        \
    }

static const struct oc_op collective_rows[] = {
    REDUCE(MS, "AdasumAllReduce", shape_each),
    MOVE(MS, "AllGather", shape_all_gather, 0),
    REDUCE(MS, "AllReduce", shape_each),
    MOVE(MS, "AllToAll", shape_each, 0),
    MOVE(MS, "Group", shape_signal, 0),
    REDUCE("", "HorovodAllReduce", shape_horovod),
    MOVE("", "HorovodBarrier", shape_horovod, 0),
    MOVE(MS, "NcclAllGather", shape_each, 0),
    REDUCE(MS, "NcclAllReduce", shape_each),
    REDUCE(MS, "NcclReduceScatter", shape_each),
    MOVE(MS, "PassThrough", shape_each, 0),
    MOVE(MS, "Recv", shape_signal, OC_F_LOW_CONFIDENCE),
    MOVE(MS, "Send", shape_signal, 0),
};
OC_FAMILY(collective, collective_rows);
