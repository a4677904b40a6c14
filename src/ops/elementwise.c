/* Element-wise functions of one tensor. Weights: cost-semantics 4.5. */
#include <string.h>

#include "ops/shared_rules.h"

/* ---- small values ------------------------------------------------------------------------------------- */

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

/* ---- Clip --------------------------------------------------------------------------------------------- */

/* The bound is an attribute until version 10 and an input from 11. */
static int clip_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    bool old = c->op->until != 0;
    unsigned bounds = old ? oc_has_attr(c, "min") + oc_has_attr(c, "max") : !!oc_in(c, 1) + !!oc_in(c, 2);
    (void)k;
    oc_add_formula_value(c, "bounds", bounds);
    return 0;
}
static const char clip_formula[] = "CMP = bounds*N(o)";

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

/* ---- Dropout ------------------------------------------------------------------------------------------ */

static int shape_dropout(struct oc_op_ctx *c)
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

static int dropout_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    bool trains = dropout_trains(c);
    if (oc_in(c, 2) && !oc_in_value(c, 2))
        c->assumption = "training_mode is unknown: assumed inference";
    oc_add_formula_value(c, "trains", trains);
    k->alias = !trains && !oc_out_wanted(c, 1);
    if (!trains && !k->alias) { /* only the mask of ones is written */
        k->view = true;
        k->rd[0] = 0;
        k->wr[0] = 0;
    }
    return 0;
}
static const char dropout_formula[] = "RNG = trains*N(o); CMP = trains*N(o); MUL = trains*N(o)";

/* ---- others ------------------------------------------------------------------------------------------- */

static const char gelu_formula[] =
    "Gelu = [approximate:none != tanh]*N(o); FastGelu = [approximate:none == tanh]*N(o)";

static const char swish_formula[] = "this = N(o); MUL = [alpha:1 != 1]*N(o)";

static const struct oc_prims parametric_softplus[] = {
    {OC_MUL, 2}, {OC_EXP, 1}, {OC_ADD, 1}, {OC_LOG, 1}, {0, 0}};
static const struct oc_prims shrink[] = {{OC_CMP, 2}, {OC_ADD, 1}, {0, 0}};

/* n primitives of one kind per element */
#define ROW(n, v, p)                                                                                         \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_same, OC_COST_THIS
#define ROW_FOLD(n, v, p, f)                                                                                 \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_same, .fold = (f), OC_COST_THIS
#define ROW_BOOL(n, v)                                                                                       \
    {                                                                                                        \
        .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = OC_CMP,              \
        .shape = oc_shape_same_bool, OC_COST_THIS                                                            \
    }
#define ROW_COST(n, v, f)                                                                                    \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .shape = oc_shape_same, f
#define ROW_LIST(n, v, list)                                                                                 \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .shape = oc_shape_same,          \
    OC_COST_THIS, .param = (list)

static const struct oc_op unary_rows[] = {
    {ROW_FOLD("Abs", 1, OC_CMP, fold_abs)},
    {ROW("Acos", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Acosh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW_COST("Affine", 1, OC_COST_THIS)},
    {ROW("Asin", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Asinh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Atan", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Atanh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("BitwiseNot", 18, OC_BIT)},
    {ROW_FOLD("Ceil", 1, OC_RND, fold_ceil)},
    {ROW_COST("Celu", 12, OC_COST_THIS), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {OC_OP_ROW("", "Clip", 1, ELEMENTWISE, NULL, oc_shape_same), .until = 10, OC_COST(clip),
     .flags = OC_F_FUNCTION | OC_F_SELECTS | OC_F_COUNT_BY_TYPES | OC_F_RECTIFIES, .in_place = OC_SLOT_0,
     .n_required = 2},
    {OC_OP_ROW("", "Clip", 11, ELEMENTWISE, ".m", oc_shape_same), .fold = fold_clip, OC_COST(clip),
     .flags = OC_F_FUNCTION | OC_F_SELECTS | OC_F_COUNT_BY_TYPES | OC_F_RECTIFIES, .in_place = OC_SLOT_0,
     .n_required = 2},
    {ROW("Cos", 7, OC_SIN), .kernel = OC_KC_ACTIVATION},
    {ROW("Cosh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {OC_OP_ROW("", "Dropout", 1, ELEMENTWISE, ".m", shape_dropout), .fold = fold_dropout, OC_COST(dropout),
     .flags = OC_F_NO_EFFECT | OC_F_KEEPS_SHAPE},
    {ROW_COST("Elu", 1, OC_COST_THIS), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {ROW("Erf", 9, OC_ERF), .kernel = OC_KC_ACTIVATION},
    {ROW_FOLD("Exp", 1, OC_EXP, fold_exp), .kernel = OC_KC_ACTIVATION},
    {ROW_FOLD("Floor", 1, OC_RND, fold_floor)},
    {ROW_COST("Gelu", 20, OC_COST_TEXT(gelu_formula)), .kernel = OC_KC_ACTIVATION,
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_DEFAULTS},
    {ROW_COST("HardSigmoid", 1, OC_COST_THIS), .flags = OC_F_FUNCTION, .in_place = OC_SLOT_0},
    {ROW_COST("HardSwish", 14, OC_COST_THIS), .flags = OC_F_FUNCTION},
    {OC_OP_ROW("", "ImageScaler", 1, ELEMENTWISE, NULL, oc_shape_same), OC_COST_THIS,
     .param = (const struct oc_prims[]){{OC_MUL, 1}, {OC_ADD, 1}, {0, 0}}},
    ROW_BOOL("IsInf", 10),
    ROW_BOOL("IsNaN", 9),
    {ROW_COST("LeakyRelu", 1, OC_COST_THIS), .flags = OC_F_FUNCTION | OC_F_RECTIFIES, .in_place = OC_SLOT_0},
    {ROW_FOLD("Log", 1, OC_LOG, fold_log), .kernel = OC_KC_ACTIVATION},
    {ROW_COST("Mish", 18, OC_COST_THIS), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION},
    {ROW_FOLD("Neg", 1, OC_CMP, fold_neg)},
    {ROW_FOLD("Not", 1, OC_BIT, fold_not)},
    {ROW_LIST("ParametricSoftplus", 1, parametric_softplus), .kernel = OC_KC_ACTIVATION},
    {ROW_FOLD("Reciprocal", 1, OC_DIV, fold_reciprocal)},
    {OC_OP_ROW("", "Relu", 1, ELEMENTWISE, NULL, oc_shape_same), .fold = fold_relu, OC_COST_THIS,
     .flags = OC_F_FUNCTION | OC_F_RECTIFIES, .in_place = OC_SLOT_0},
    {ROW_FOLD("Round", 11, OC_RND, fold_round)},
    {ROW_COST("ScaledTanh", 1, OC_COST_THIS), .kernel = OC_KC_ACTIVATION},
    {ROW_COST("Selu", 1, OC_COST_THIS), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {ROW_LIST("Shrink", 9, shrink), .flags = OC_F_FUNCTION, .in_place = OC_SLOT_0},
    {ROW("Sigmoid", 1, OC_SIG), .kernel = OC_KC_ACTIVATION, .in_place = OC_SLOT_0},
    {ROW("Sign", 9, OC_CMP)},
    {ROW("Sin", 7, OC_SIN), .kernel = OC_KC_ACTIVATION},
    {ROW("Sinh", 9, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW_COST("Softplus", 1, OC_COST_THIS), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION,
     .in_place = OC_SLOT_0},
    {ROW_COST("Softsign", 1, OC_COST_THIS), .flags = OC_F_FUNCTION, .in_place = OC_SLOT_0},
    {ROW_FOLD("Sqrt", 1, OC_SQRT, fold_sqrt)},
    {ROW_COST("Swish", 24, OC_COST_TEXT(swish_formula)), .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION},
    {ROW("Tan", 7, OC_TAN), .kernel = OC_KC_ACTIVATION},
    {ROW("Tanh", 1, OC_TANH), .kernel = OC_KC_ACTIVATION, .in_place = OC_SLOT_0},
    {ROW_COST("ThresholdedRelu", 1, OC_COST_THIS), .flags = OC_F_FUNCTION | OC_F_RECTIFIES,
     .in_place = OC_SLOT_0},
};
OC_FAMILY(unary, unary_rows);

/* ---- two operands ------------------------------------------------------------------------------------- */

/* Arithmetic, comparison and logic with broadcasting; Where and the variadic operators. cost-semantics 4.5.
 */

/* The row's param holds the operation; all inputs are combined from left to right. */
static const unsigned op_codes[] = {
    OC_EL_ADD, OC_EL_SUB, OC_EL_MUL, OC_EL_DIV, OC_EL_MOD, OC_EL_FMOD, OC_EL_POW, OC_EL_MIN, OC_EL_MAX,
    OC_EL_EQ,  OC_EL_LT,  OC_EL_LE,  OC_EL_GT,  OC_EL_GE,  OC_EL_AND,  OC_EL_OR,  OC_EL_XOR,
};
#define CODE(op) (&op_codes[op])

static struct oc_elem combine(struct oc_op_ctx *c, const struct oc_elem *const *in, unsigned n)
{
    unsigned op = *(const unsigned *)c->op->param;
    unsigned dtype = oc_in_dtype(c, 0);
    if (op == OC_EL_MOD && oc_attr_i(c, "fmod", 0))
        op = OC_EL_FMOD;
    struct oc_elem e = *in[0];
    for (unsigned i = 1; i < n; i++)
        e = oc_elem_op(c->exprs, op, dtype, &e, in[i]);
    return e;
}

/* Arithmetic with one side unknown before the model runs: the result is unknown. Integers may be a shape,
 * whose number of elements matters. */
static bool nothing_known(const struct oc_op_ctx *c)
{
    const struct oc_type *out = oc_out(c, 0);
    uint32_t n;
    if (!out || !oc_fold_count(&out->shape, &n))
        return true;
    if (n == 0 || *(const unsigned *)c->op->param >= OC_EL_EQ ||
        oc_dtype_info(oc_in_dtype(c, 0))->kind != OC_KIND_FLOAT)
        return false;
    for (unsigned i = 0; i < c->n_in; i++)
        if (!c->in_data[i] && !c->in_const[i]) /* constants are read only when they are needed */
            return true;
    return false;
}

static int fold_combine(struct oc_op_ctx *c)
{
    if (!nothing_known(c))
        oc_fold_broadcast(c, combine);
    return 0;
}

static struct oc_elem choose(struct oc_op_ctx *c, const struct oc_elem *const *in, unsigned n)
{
    int64_t yes;
    (void)c;
    if (n != 3)
        return (struct oc_elem){.kind = OC_E_UNKNOWN};
    if (oc_elem_known_int(in[0], &yes))
        return yes ? *in[1] : *in[2];
    return oc_elem_same(in[1], in[2]) ? *in[1] : (struct oc_elem){.kind = OC_E_UNKNOWN};
}

static int fold_where(struct oc_op_ctx *c)
{
    oc_fold_broadcast(c, choose);
    return 0;
}

/* ---- shapes ------------------------------------------------------------------------------------------- */

static int shape_where(struct oc_op_ctx *c)
{
    if (oc_shape_broadcast(c))
        return -1;
    const struct oc_type *t = oc_out(c, 0);
    if (t)
        oc_set_out(c, 0, oc_in_dtype(c, 1) ? oc_in_dtype(c, 1) : oc_in_dtype(c, 2), t->shape);
    return 0;
}

/* ---- cost --------------------------------------------------------------------------------------------- */

static const char variadic_formula[] = "prim = (max(inputs, 1) - 1)*N(o)";

static const char mean_formula[] = "ADD = (max(inputs, 1) - 1)*N(o); DIV = [in1]*N(o)";

/* The exponent if it is a single known number. */
static bool constant_exponent(struct oc_op_ctx *c, double *v)
{
    const struct oc_data *d = oc_in_value(c, 1);
    if (!d || d->n == 0 || !oc_elem_known_real(&d->e[0], v))
        return false;
    for (uint32_t i = 1; i < d->n; i++)
        if (!oc_elem_same(&d->e[0], &d->e[i]))
            return false;
    return true;
}

static int pow_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct {
        double exponent;
        uint8_t n;
        const char *name;
    } cheap[] = {{2, 1, "mul"}, {3, 2, "mul"}, {0.5, 1, "sqrt"}, {-1, 1, "div"}, {1, 0, "mul"}};
    double v = 0;
    bool constant = constant_exponent(c, &v);
    (void)k;
    for (size_t i = 0; constant && i < OC_COUNT(cheap); i++)
        if (cheap[i].exponent == v) {
            oc_add_formula_value(c, "pow", 0);
            oc_add_formula_value(c, cheap[i].name, cheap[i].n);
        }
    return 0;
}
static const char pow_formula[] = "POW = pow*N(o); MUL = mul*N(o); SQRT = sqrt*N(o); DIV = div*N(o); "
                                  "pow := 1; mul := 0; sqrt := 0; div := 0";

static const struct oc_prims prelu[] = {{OC_CMP, 1}, {OC_MUL, 1}, {0, 0}};

static const char swiglu_formula[] = "SIG = N(o); MUL = (2 + [alpha:1 != 1])*N(o)";

#define ARITH(n, v, p, code)                                                                                 \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_broadcast, .fold = fold_combine, OC_COST_TEXT(variadic_formula), .param = CODE(code)
#define DECIDE(n, v, p, code)                                                                                \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_broadcast_bool, .fold = fold_combine, OC_COST_TEXT(variadic_formula),                  \
    .param = CODE(code)
#define BITWISE(n, v)                                                                                        \
    {                                                                                                        \
        .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = OC_BIT,              \
        .shape = oc_shape_broadcast, OC_COST_TEXT(variadic_formula)                                          \
    }

static const struct oc_op binary_rows[] = {
    {ARITH("Add", 1, OC_ADD, OC_EL_ADD)},
    {DECIDE("And", 1, OC_BIT, OC_EL_AND)},
    BITWISE("BitShift", 11),
    BITWISE("BitwiseAnd", 18),
    BITWISE("BitwiseOr", 18),
    BITWISE("BitwiseXor", 18),
    {ARITH("Div", 1, OC_DIV, OC_EL_DIV)},
    {DECIDE("Equal", 1, OC_CMP, OC_EL_EQ)},
    {DECIDE("Greater", 1, OC_CMP, OC_EL_GT)},
    {DECIDE("GreaterOrEqual", 12, OC_CMP, OC_EL_GE), .flags = OC_F_FUNCTION},
    {DECIDE("Less", 1, OC_CMP, OC_EL_LT)},
    {DECIDE("LessOrEqual", 12, OC_CMP, OC_EL_LE), .flags = OC_F_FUNCTION},
    {ARITH("Max", 1, OC_CMP, OC_EL_MAX), .flags = OC_F_SELECTS},
    {OC_OP_ROW("", "Mean", 1, ELEMENTWISE, NULL, oc_shape_broadcast), .prim = OC_ADD,
     OC_COST_TEXT(mean_formula)},
    {ARITH("Min", 1, OC_CMP, OC_EL_MIN), .flags = OC_F_SELECTS},
    {ARITH("Mod", 10, OC_DIV, OC_EL_MOD)},
    {ARITH("Mul", 1, OC_MUL, OC_EL_MUL)},
    {DECIDE("Or", 1, OC_BIT, OC_EL_OR)},
    {OC_OP_ROW("", "PRelu", 1, ELEMENTWISE, NULL, oc_shape_same), OC_COST_THIS, .param = prelu,
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES | OC_F_RECTIFIES, .n_required = 2},
    {OC_OP_ROW("", "Pow", 1, ELEMENTWISE, NULL, oc_shape_broadcast), .fold = fold_combine, OC_COST(pow),
     .param = CODE(OC_EL_POW), .kernel = OC_KC_ACTIVATION, .flags = OC_F_COUNT_BY_DEFAULTS, .n_required = 2},
    {ARITH("Sub", 1, OC_ADD, OC_EL_SUB)},
    {ARITH("Sum", 1, OC_ADD, OC_EL_ADD)},
    {OC_OP_ROW("", "SwiGLU", 28, ELEMENTWISE, NULL, oc_shape_same), OC_COST_TEXT(swiglu_formula),
     .kernel = OC_KC_ACTIVATION, .flags = OC_F_FUNCTION},
    {OC_OP_ROW("", "Where", 9, ELEMENTWISE, NULL, shape_where), .prim = OC_CMP, .fold = fold_where,
     OC_COST_THIS, .flags = OC_F_SELECTS | OC_F_BROADCASTS | OC_F_COUNT_BY_TYPES, .n_required = 3},
    {DECIDE("Xor", 1, OC_BIT, OC_EL_XOR)},
};
OC_FAMILY(binary, binary_rows);
