/* Arithmetic, comparison and logic with broadcasting; Where and the variadic operators. cost-semantics 4.5.
 */
#include "ops/fold.h"

/* ---- small values ----------------------------------------------------------------------------------- */

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

/* ---- shapes ----------------------------------------------------------------------------------------- */

static int shape_where(struct oc_op_ctx *c)
{
    if (oc_shape_broadcast(c))
        return -1;
    const struct oc_type *t = oc_out(c, 0);
    if (t)
        oc_set_out(c, 0, oc_in_dtype(c, 1) ? oc_in_dtype(c, 1) : oc_in_dtype(c, 2), t->shape);
    return 0;
}

/* ---- cost ------------------------------------------------------------------------------------------- */

/* k inputs: k-1 operations per element. */
static int cost_variadic(struct oc_op_ctx *c, struct oc_cost *k)
{
    unsigned steps = c->n_in > 1 ? c->n_in - 1 : 0;
    oc_add(c, k, (enum oc_prim)c->op->prim, oc_c_mul(c, steps, oc_c_out(c, 0)));
    return 0;
}
static const char cost_variadic_formula[] = "prim = (max(inputs, 1) - 1)*N(o)";

static int cost_mean(struct oc_op_ctx *c, struct oc_cost *k)
{
    cost_variadic(c, k);
    if (c->n_in > 1)
        oc_add(c, k, OC_DIV, oc_c_out(c, 0));
    return 0;
}
static const char cost_mean_formula[] = "ADD = (max(inputs, 1) - 1)*N(o); DIV = [in1]*N(o)";

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

static int cost_pow(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct {
        double exponent;
        uint8_t prim, n;
        const char *name;
    } cheap[] = {{2, OC_MUL, 1, "mul"},
                 {3, OC_MUL, 2, "mul"},
                 {0.5, OC_SQRT, 1, "sqrt"},
                 {-1, OC_DIV, 1, "div"},
                 {1, OC_MUL, 0, "mul"}};
    uint64_t n = oc_c_out(c, 0);
    double v = 0;
    bool constant = constant_exponent(c, &v);
    for (size_t i = 0; constant && i < OC_COUNT(cheap); i++)
        if (cheap[i].exponent == v) {
            oc_tell(c, "pow", 0);
            oc_tell(c, cheap[i].name, cheap[i].n);
            oc_add(c, k, (enum oc_prim)cheap[i].prim, oc_c_mul(c, cheap[i].n, n));
            return 0;
        }
    oc_add(c, k, OC_POW, n);
    return 0;
}
static const char cost_pow_formula[] = "POW = pow*N(o); MUL = mul*N(o); SQRT = sqrt*N(o); DIV = div*N(o); "
                                       "pow := 1; mul := 0; sqrt := 0; div := 0";

static const struct oc_prims prelu[] = {{OC_CMP, 1}, {OC_MUL, 1}, {0, 0}};
static const struct oc_prims swiglu[] = {{OC_SIG, 1}, {OC_MUL, 2}, {0, 0}};

/* SwiGLU: Swish(gate, alpha) * up */
static int cost_swiglu(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_out(c, 0);
    oc_add_prims(c, k, swiglu, n);
    if (oc_attr_f(c, "alpha", 1.0F) != 1.0F)
        oc_add(c, k, OC_MUL, n);
    return 0;
}
static const char cost_swiglu_formula[] = "SIG = N(o); MUL = (2 + [alpha:1 != 1])*N(o)";

#define ARITH(n, v, p, code)                                                                                 \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_broadcast, .fold = fold_combine, OC_COST(cost_variadic), .param = CODE(code)
#define DECIDE(n, v, p, code)                                                                                \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = (p),                     \
    .shape = oc_shape_broadcast_bool, .fold = fold_combine, OC_COST(cost_variadic), .param = CODE(code)
#define BITWISE(n, v)                                                                                        \
    {                                                                                                        \
        .domain = "", .name = (n), .since = (v), .op_class = OC_OP_ELEMENTWISE, .prim = OC_BIT,              \
        .shape = oc_shape_broadcast, OC_COST(cost_variadic)                                                  \
    }

static const struct oc_op rows[] = {
    {ARITH("Add", 1, OC_ADD, OC_EL_ADD), .in_place = OC_SLOT_0 | OC_SLOT_1},
    {DECIDE("And", 1, OC_BIT, OC_EL_AND)},
    BITWISE("BitShift", 11),
    BITWISE("BitwiseAnd", 18),
    BITWISE("BitwiseOr", 18),
    BITWISE("BitwiseXor", 18),
    {ARITH("Div", 1, OC_DIV, OC_EL_DIV), .in_place = OC_SLOT_0 | OC_SLOT_1},
    {DECIDE("Equal", 1, OC_CMP, OC_EL_EQ)},
    {DECIDE("Greater", 1, OC_CMP, OC_EL_GT)},
    {DECIDE("GreaterOrEqual", 12, OC_CMP, OC_EL_GE), .flags = OC_F_FUNCTION},
    {DECIDE("Less", 1, OC_CMP, OC_EL_LT)},
    {DECIDE("LessOrEqual", 12, OC_CMP, OC_EL_LE), .flags = OC_F_FUNCTION},
    {ARITH("Max", 1, OC_CMP, OC_EL_MAX), .flags = OC_F_SELECTS},
    {.domain = "",
     .name = "Mean",
     .since = 1,
     .op_class = OC_OP_ELEMENTWISE,
     .prim = OC_ADD,
     .shape = oc_shape_broadcast,
     OC_COST(cost_mean)},
    {ARITH("Min", 1, OC_CMP, OC_EL_MIN), .flags = OC_F_SELECTS},
    {ARITH("Mod", 10, OC_DIV, OC_EL_MOD)},
    {ARITH("Mul", 1, OC_MUL, OC_EL_MUL), .in_place = OC_SLOT_0 | OC_SLOT_1},
    {DECIDE("Or", 1, OC_BIT, OC_EL_OR)},
    {.domain = "",
     .name = "PRelu",
     .since = 1,
     .op_class = OC_OP_ELEMENTWISE,
     .shape = oc_shape_same,
     .cost = oc_cost_elementwise,
     .param = prelu,
     .flags = OC_F_FUNCTION | OC_F_COUNT_BY_TYPES,
     .n_required = 2},
    {.domain = "",
     .name = "Pow",
     .since = 1,
     .op_class = OC_OP_ELEMENTWISE,
     .shape = oc_shape_broadcast,
     .fold = fold_combine,
     OC_COST(cost_pow),
     .param = CODE(OC_EL_POW),
     .kernel = OC_KC_ACTIVATION,
     .flags = OC_F_COUNT_BY_DEFAULTS,
     .n_required = 2},
    {ARITH("Sub", 1, OC_ADD, OC_EL_SUB), .in_place = OC_SLOT_0 | OC_SLOT_1},
    {ARITH("Sum", 1, OC_ADD, OC_EL_ADD), .in_place = OC_SLOT_0 | OC_SLOT_1},
    {.domain = "",
     .name = "SwiGLU",
     .since = 28,
     .op_class = OC_OP_ELEMENTWISE,
     .shape = oc_shape_same,
     OC_COST(cost_swiglu),
     .kernel = OC_KC_ACTIVATION,
     .flags = OC_F_FUNCTION},
    {.domain = "",
     .name = "Where",
     .since = 9,
     .op_class = OC_OP_ELEMENTWISE,
     .prim = OC_CMP,
     .shape = shape_where,
     .fold = fold_where,
     .cost = oc_cost_elementwise,
     .flags = OC_F_SELECTS | OC_F_BROADCASTS | OC_F_COUNT_BY_TYPES,
     .n_required = 3},
    {DECIDE("Xor", 1, OC_BIT, OC_EL_XOR)},
};
extern const struct oc_op_family oc_ops_binary;
const struct oc_op_family oc_ops_binary = OC_FAMILY("binary", rows);
