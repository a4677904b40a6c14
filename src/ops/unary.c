/* Element-wise functions of one tensor. Weights: cost-semantics 4.5. */
#include "ops/fold.h"

#include <string.h>

/* ---- small values ----------------------------------------------------------------------------------- */

static int fold_fn(struct oc_op_ctx *c, unsigned fn)
{
    const struct oc_data *d = oc_in_value(c, 0);
    if (!d)
        return 0;
    struct oc_elem *e = oc_new_elems(c, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        e[i] = oc_elem_fn(c->exprs, fn, oc_in_dtype(c, 0), &d->e[i]);
    oc_set_data(c, 0, e, d->n);
    return 0;
}

#define FOLD(name, fn)                                                                                       \
    static int fold_##name(struct oc_op_ctx *c)                                                              \
    {                                                                                                        \
        return fold_fn(c, (fn));                                                                             \
    }
FOLD(abs, OC_EL_ABS)
FOLD(ceil, OC_EL_CEIL)
FOLD(exp, OC_EL_EXP)
FOLD(floor, OC_EL_FLOOR)
FOLD(log, OC_EL_LOG)
FOLD(neg, OC_EL_NEG)
FOLD(not, OC_EL_NOT)
FOLD(reciprocal, OC_EL_RECIPROCAL)
FOLD(round, OC_EL_ROUND)
FOLD(sqrt, OC_EL_SQRT)

/* Sizes are propagated through it in decomposed Range operators. */
static int fold_relu(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    unsigned dtype = oc_in_dtype(c, 0);
    struct oc_elem zero = oc_dtype_info(dtype)->kind == OC_KIND_FLOAT ? oc_elem_real(0) : oc_elem_int(0);
    if (!d)
        return 0;
    struct oc_elem *e = oc_new_elems(c, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        e[i] = oc_elem_op(c->exprs, OC_EL_MAX, dtype, &d->e[i], &zero);
    oc_set_data(c, 0, e, d->n);
    return 0;
}

/* ---- Clip ------------------------------------------------------------------------------------------- */

/* The bound is an attribute until version 10 and an input from 11. */
static int cost_clip(struct oc_op_ctx *c, struct oc_cost *k)
{
    bool old = c->op->until != 0;
    unsigned bounds = old ? oc_has_attr(c, "min") + oc_has_attr(c, "max") : !!oc_in(c, 1) + !!oc_in(c, 2);
    oc_tell(c, "bounds", bounds);
    oc_add(c, k, OC_CMP, oc_c_mul(c, bounds, oc_c_out(c, 0)));
    return 0;
}
static const char cost_clip_formula[] = "CMP = bounds*N(o)";

static int fold_clip(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0), *lo = oc_in_value(c, 1), *hi = oc_in_value(c, 2);
    if (!d || c->op->until || (oc_in(c, 1) && (!lo || lo->n != 1)) || (oc_in(c, 2) && (!hi || hi->n != 1)))
        return 0;
    unsigned dtype = oc_in_dtype(c, 0);
    struct oc_elem *e = oc_new_elems(c, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        e[i] = d->e[i];
        if (lo)
            e[i] = oc_elem_op(c->exprs, OC_EL_MAX, dtype, &e[i], &lo->e[0]);
        if (hi)
            e[i] = oc_elem_op(c->exprs, OC_EL_MIN, dtype, &e[i], &hi->e[0]);
    }
    oc_set_data(c, 0, e, d->n);
    return 0;
}

/* ---- Dropout ---------------------------------------------------------------------------------------- */

static int unary_shape_dropout(struct oc_op_ctx *c)
{
    bool old_mask = c->opset >= 1 && c->opset < 10;
    oc_set_out_type(c, 0, oc_in(c, 0));
    oc_set_out(c, 1, old_mask ? oc_in_dtype(c, 0) : OC_DT_BOOL, *oc_in_shape(c, 0));
    return 0;
}

/* Training mode in opsets below 7 unless is_test, and from 12 by its input. */
static bool dropout_trains(const struct oc_op_ctx *c)
{
    int64_t mode = 0;
    if (c->opset >= 1 && c->opset < 7)
        return oc_attr_i(c, "is_test", 0) == 0;
    return oc_in_int(c, 2, &mode) && mode != 0;
}

static int fold_dropout(struct oc_op_ctx *c)
{
    return dropout_trains(c) || (oc_in(c, 2) && !oc_in_value(c, 2)) ? 0 : oc_fold_same(c);
}

static int unary_cost_dropout(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims training[] = {{OC_RNG, 1}, {OC_CMP, 1}, {OC_MUL, 1}, {0, 0}};
    if (oc_in(c, 2) && !oc_in_value(c, 2))
        c->assumption = "training_mode is unknown: assumed inference";
    oc_tell(c, "trains", dropout_trains(c));
    if (dropout_trains(c)) {
        oc_add_prims(c, k, training, oc_c_out(c, 0));
        return 0;
    }
    if (!oc_out_wanted(c, 1)) {
        k->alias = true;
        return 0;
    }
    k->rd[0] = 0; /* only the mask of ones is written */
    k->wr[0] = 0;
    return 0;
}
static const char unary_cost_dropout_formula[] = "RNG = trains*N(o); CMP = trains*N(o); MUL = trains*N(o)";

/* ---- others ----------------------------------------------------------------------------------------- */

static int cost_gelu(struct oc_op_ctx *c, struct oc_cost *k)
{
    bool tanh_form = strcmp(oc_attr_s(c, "approximate", "none"), "tanh") == 0;
    oc_add_prims(c, k, oc_activation_prims(tanh_form ? "FastGelu" : "Gelu"), oc_c_out(c, 0));
    return 0;
}
static const char cost_gelu_formula[] =
    "Gelu = [approximate:none != tanh]*N(o); FastGelu = [approximate:none == tanh]*N(o)";

static int cost_swish(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_out(c, 0);
    oc_add_prims(c, k, oc_activation_prims("Swish"), n);
    if (oc_attr_f(c, "alpha", 1.0F) != 1.0F)
        oc_add(c, k, OC_MUL, n);
    return 0;
}
static const char cost_swish_formula[] = "this = N(o); MUL = [alpha:1 != 1]*N(o)";

/* Functions whose histogram has its own name in the table of activations. */
static int unary_cost_named(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add_prims(c, k, oc_activation_prims(c->op->name), oc_c_out(c, 0));
    return 0;
}
static const char unary_cost_named_formula[] = "this = N(o)";

static const struct oc_prims parametric_softplus[] = {
    {OC_MUL, 2}, {OC_EXP, 1}, {OC_ADD, 1}, {OC_LOG, 1}, {0, 0}};
static const struct oc_prims shrink[] = {{OC_CMP, 2}, {OC_ADD, 1}, {0, 0}};

/* n primitives of one kind per element */
#define ROW(n, v, p)                                                                                         \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_same, .cost = oc_cost_elementwise
#define ROW_FOLD(n, v, p, f)                                                                                 \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_same, .fold = (f), .cost = oc_cost_elementwise
#define ROW_BOOL(n, v)                                                                                       \
    {                                                                                                        \
        .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = OC_CMP,              \
        .shape = oc_shape_same_bool, .cost = oc_cost_elementwise                                             \
    }
#define ROW_COST(n, v, f)                                                                                    \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .shape = oc_shape_same, OC_COST(f)
#define ROW_LIST(n, v, list)                                                                                 \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .shape = oc_shape_same,          \
    .cost = oc_cost_elementwise, .param = (list)

static const struct oc_op rows[] = {
    {ROW_FOLD("Abs", 1, OC_CMP, fold_abs), .in_place = OC_SLOT_0},
    {ROW("Acos", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Acosh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW_COST("Affine", 1, unary_cost_named)},
    {ROW("Asin", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Asinh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Atan", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Atanh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("BitwiseNot", 18, OC_BIT)},
    {ROW_FOLD("Ceil", 1, OC_RND, fold_ceil), .in_place = OC_SLOT_0},
    {ROW_COST("Celu", 12, unary_cost_named), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {.domain = "",
     .name = "Clip",
     .since = 1,
     .until = 10,
     .op_class = OC_OP_ELEMENTWISE,
     .shape = oc_shape_same,
     OC_COST(cost_clip),
     .flags = OC_F_FUNCTION | OC_F_SELECTS | OC_F_COUNT_BY_TYPES,
     .in_place = OC_SLOT_0,
     .n_required = 2},
    {.domain = "",
     .name = "Clip",
     .since = 11,
     .op_class = OC_OP_ELEMENTWISE,
     .slots = ".m",
     .shape = oc_shape_same,
     .fold = fold_clip,
     OC_COST(cost_clip),
     .flags = OC_F_FUNCTION | OC_F_SELECTS | OC_F_COUNT_BY_TYPES,
     .in_place = OC_SLOT_0,
     .n_required = 2},
    {ROW("Cos", 7, OC_SIN), .kernel = OC_KC_ACTIVATION},
    {ROW("Cosh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {.domain = "",
     .name = "Dropout",
     .since = 1,
     .op_class = OC_OP_ELEMENTWISE,
     .slots = ".m",
     .shape = unary_shape_dropout,
     .fold = fold_dropout,
     OC_COST(unary_cost_dropout),
     .flags = OC_F_NO_EFFECT | OC_F_KEEPS_SHAPE,
     .in_place = OC_SLOT_0},
    {ROW_COST("Elu", 1, unary_cost_named), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {ROW("Erf", 9, OC_ERF), .kernel = OC_KC_ACTIVATION},
    {ROW_FOLD("Exp", 1, OC_EXP, fold_exp), .kernel = OC_KC_ACTIVATION, .in_place = OC_SLOT_0},
    {ROW_FOLD("Floor", 1, OC_RND, fold_floor), .in_place = OC_SLOT_0},
    {ROW_COST("Gelu", 20, cost_gelu), .kernel = OC_KC_ACTIVATION,
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_DEFAULTS},
    {ROW_COST("HardSigmoid", 1, unary_cost_named), .flags = OC_F_FUNCTION, .in_place = OC_SLOT_0},
    {ROW_COST("HardSwish", 14, unary_cost_named), .flags = OC_F_FUNCTION},
    {.domain = "",
     .name = "ImageScaler",
     .since = 1,
     .op_class = OC_OP_ELEMENTWISE,
     .shape = oc_shape_same,
     .cost = oc_cost_elementwise,
     .param = (const struct oc_prims[]){{OC_MUL, 1}, {OC_ADD, 1}, {0, 0}}},
    ROW_BOOL("IsInf", 10),
    ROW_BOOL("IsNaN", 9),
    {ROW_COST("LeakyRelu", 1, unary_cost_named), .flags = OC_F_FUNCTION, .in_place = OC_SLOT_0},
    {ROW_FOLD("Log", 1, OC_LOG, fold_log), .kernel = OC_KC_ACTIVATION, .in_place = OC_SLOT_0},
    {ROW_COST("Mish", 18, unary_cost_named), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION},
    {ROW_FOLD("Neg", 1, OC_CMP, fold_neg), .in_place = OC_SLOT_0},
    {ROW_FOLD("Not", 1, OC_BIT, fold_not)},
    {ROW_LIST("ParametricSoftplus", 1, parametric_softplus), .kernel = OC_KC_ACTIVATION},
    {ROW_FOLD("Reciprocal", 1, OC_DIV, fold_reciprocal), .in_place = OC_SLOT_0},
    {.domain = "",
     .name = "Relu",
     .since = 1,
     .op_class = OC_OP_ELEMENTWISE,
     .shape = oc_shape_same,
     .fold = fold_relu,
     OC_COST(unary_cost_named),
     .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {ROW_FOLD("Round", 11, OC_RND, fold_round)},
    {ROW_COST("ScaledTanh", 1, unary_cost_named), .kernel = OC_KC_ACTIVATION},
    {ROW_COST("Selu", 1, unary_cost_named), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {ROW_LIST("Shrink", 9, shrink), .flags = OC_F_FUNCTION},
    {ROW("Sigmoid", 1, OC_SIG), .kernel = OC_KC_ACTIVATION, .in_place = OC_SLOT_0},
    {ROW("Sign", 9, OC_CMP)},
    {ROW("Sin", 7, OC_SIN), .kernel = OC_KC_ACTIVATION},
    {ROW("Sinh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW_COST("Softplus", 1, unary_cost_named), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {ROW_COST("Softsign", 1, unary_cost_named), .flags = OC_F_FUNCTION, .in_place = OC_SLOT_0},
    {ROW_FOLD("Sqrt", 1, OC_SQRT, fold_sqrt), .in_place = OC_SLOT_0},
    {ROW_COST("Swish", 24, cost_swish), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION},
    {ROW("Tan", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Tanh", 1, OC_TANH), .kernel = OC_KC_ACTIVATION, .in_place = OC_SLOT_0},
    {ROW_COST("ThresholdedRelu", 1, unary_cost_named), .flags = OC_F_FUNCTION, .in_place = OC_SLOT_0},
};
extern const struct oc_op_family oc_ops_unary;
const struct oc_op_family oc_ops_unary = OC_FAMILY("unary", rows);
