/* Tensors generated from attributes and small values. cost-semantics 4.5, 5.5. */
#include "ops/shared_rules.h"

#include <math.h>

/* ---- Constant ----------------------------------------------------------------------------------------- */

static struct oc_type tensor_type(struct oc_op_ctx *c, const struct oc_tensor *t)
{
    struct oc_dim dim[OC_MAX_RANK];
    unsigned rank = t->rank < OC_MAX_RANK ? t->rank : OC_MAX_RANK;
    for (unsigned i = 0; i < rank; i++)
        dim[i] = oc_known(t->dim[i]);
    return oc_tensor_type(t->dtype, oc_shape_of(c->arena, rank, dim));
}

enum { SMALL = 16 }; /* elements: shapes, axes, scales */

static void tensor_data(struct oc_op_ctx *c, const struct oc_tensor *t)
{
    if (t->elements > OC_MAX_DATA)
        return;
    struct oc_elem *e = oc_new_elems(c, (uint32_t)t->elements);
    if (oc_tensor_elems(c->model, t, (uint32_t)t->elements, e, c->arena))
        oc_set_data(c, 0, e, (uint32_t)t->elements);
}

static const struct oc_tensor *constant_tensor(const struct oc_op_ctx *c)
{
    const struct oc_tensor *t = oc_attr_tensor(c, "value");
    return t ? t : oc_attr_tensor(c, "sparse_value");
}

/* The forms without a tensor value (from opset 12). */
static const struct {
    const char *name;
    uint8_t dtype;
    bool list;
} plain_forms[] = {
    {"value_float", OC_DT_FLOAT, false},   {"value_floats", OC_DT_FLOAT, true},
    {"value_int", OC_DT_INT64, false},     {"value_ints", OC_DT_INT64, true},
    {"value_string", OC_DT_STRING, false}, {"value_strings", OC_DT_STRING, true},
};

static const struct oc_attr *plain_attr(const struct oc_op_ctx *c, size_t i)
{
    const struct oc_attr *a = oc_node_attr(c->node, plain_forms[i].name);
    static const uint8_t types[] = {OC_ATTR_FLOAT, OC_ATTR_FLOATS, OC_ATTR_INT,
                                    OC_ATTR_INTS,  OC_ATTR_STRING, OC_ATTR_STRINGS};
    return a && a->type == types[i] ? a : NULL;
}

static int shape_constant(struct oc_op_ctx *c)
{
    const struct oc_tensor *t = constant_tensor(c);
    if (t) {
        struct oc_type type = tensor_type(c, t);
        oc_set_out_type(c, 0, &type);
        return 0;
    }
    for (size_t i = 0; i < OC_COUNT(plain_forms); i++) {
        const struct oc_attr *a = plain_attr(c, i);
        if (!a)
            continue;
        oc_set_out(c, 0, plain_forms[i].dtype,
                   plain_forms[i].list ? oc_shape_1d(c->arena, oc_known(a->n)) : oc_shape_scalar());
        return 0;
    }
    return oc_op_fail(c, "the value attribute is missing");
}

static struct oc_elem plain_elem(const struct oc_attr *a, uint32_t i)
{
    switch (a->type) {
    case OC_ATTR_FLOAT:
        return oc_elem_real((double)a->f);
    case OC_ATTR_FLOATS:
        return oc_elem_real((double)a->floats[i]);
    case OC_ATTR_INT:
        return oc_elem_int(a->i);
    case OC_ATTR_INTS:
        return oc_elem_int(a->ints[i]);
    case OC_ATTR_STRING:
        return (struct oc_elem){.kind = OC_E_STRING, .str = a->s.s};
    default:
        return (struct oc_elem){.kind = OC_E_STRING, .str = a->strings[i].s};
    }
}

static int fold_constant(struct oc_op_ctx *c)
{
    const struct oc_tensor *t = oc_attr_tensor(c, "value");
    if (t && t->elements > SMALL) /* read when a rule requests it, as those of initializers are */
        return 0;
    t = t ? t : oc_attr_tensor(c, "sparse_value");
    if (t) {
        tensor_data(c, t);
        return 0;
    }
    for (size_t i = 0; i < OC_COUNT(plain_forms); i++) {
        const struct oc_attr *a = plain_attr(c, i);
        uint32_t n = a && plain_forms[i].list ? a->n : 1;
        if (!a || n > OC_MAX_DATA)
            continue;
        struct oc_elem *e = oc_new_elems(c, n);
        for (uint32_t k = 0; k < n; k++)
            e[k] = plain_elem(a, k);
        oc_set_data(c, 0, e, n);
        return 0;
    }
    return 0;
}

/* ---- ConstantOfShape ---------------------------------------------------------------------------------- */

static struct oc_shape shape_from_list(struct oc_op_ctx *c, const struct oc_list *l)
{
    struct oc_dim dim[OC_MAX_RANK];
    if (!l->sized || l->n > OC_MAX_RANK)
        return oc_shape_unranked();
    for (unsigned i = 0; i < l->n; i++)
        dim[i] = oc_elem_to_dim(c, &l->e[i], i, -1);
    return oc_shape_of(c->arena, l->n, dim);
}

static int generate_check_sizes(struct oc_op_ctx *c, const struct oc_shape *s)
{
    for (unsigned i = 0; i < s->rank; i++)
        if (oc_is_known(s->dim[i]) && s->dim[i].v < 0)
            return oc_op_fail(c, "axis %u has invalid size %lld", i, (long long)s->dim[i].v);
    return 0;
}

static int shape_constant_of_shape(struct oc_op_ctx *c)
{
    struct oc_list l = oc_list_of(c, NULL, 0);
    const struct oc_tensor *t = oc_attr_tensor(c, "value");
    struct oc_shape s = shape_from_list(c, &l);
    if (generate_check_sizes(c, &s))
        return -1;
    oc_set_out(c, 0, t ? t->dtype : OC_DT_FLOAT, s);
    return 0;
}

static int fold_constant_of_shape(struct oc_op_ctx *c)
{
    const struct oc_type *out = oc_out(c, 0);
    const struct oc_tensor *t = oc_attr_tensor(c, "value");
    struct oc_elem fill = oc_elem_real(0);
    uint32_t n;
    if (!out || !oc_fold_count(&out->shape, &n) ||
        (t && (t->elements != 1 || !oc_tensor_elems(c->model, t, 1, &fill, c->arena))))
        return 0;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++)
        e[i] = fill;
    oc_set_data(c, 0, e, n);
    return 0;
}

/* ---- Range -------------------------------------------------------------------------------------------- */

static const struct oc_elem *scalar(const struct oc_op_ctx *c, unsigned slot)
{
    static const struct oc_elem unknown = {.kind = OC_E_UNKNOWN}, one = {.kind = OC_E_INT, .i = {.v = 1}};
    const struct oc_data *d = oc_in_value(c, slot);
    if (slot == 2 && !oc_in(c, 2)) /* com.microsoft: the step is optional */
        return &one;
    return d && d->n == 1 ? &d->e[0] : &unknown;
}

/* max(ceil((limit - start)/delta), 0) */
static int range_length(struct oc_op_ctx *c, struct oc_dim *n)
{
    const struct oc_elem *start = scalar(c, 0), *limit = scalar(c, 1), *delta = scalar(c, 2);
    double a, b, d;
    if (oc_elem_known_real(delta, &d) && d == 0)
        return oc_op_fail(c, "delta is 0");
    if (start->kind == OC_E_INT && limit->kind == OC_E_INT && delta->kind == OC_E_INT &&
        oc_is_known(delta->i)) {
        struct oc_dim span = oc_dim_sub(c->exprs, limit->i, start->i);
        *n = oc_dim_max(c->exprs, oc_dim_ceildiv(c->exprs, span, delta->i), oc_known(0));
    } else if (oc_elem_known_real(start, &a) && oc_elem_known_real(limit, &b) &&
               oc_elem_known_real(delta, &d)) {
        double count = ceil((b - a) / d);
        if (!(count < 9e15))
            return oc_op_fail(c, "the length is not a number");
        *n = oc_known(count > 0 ? (int64_t)count : 0);
    } else {
        *n = oc_fresh_axis(c, 0, -1);
    }
    return 0;
}

static int generate_shape_range(struct oc_op_ctx *c)
{
    struct oc_dim n;
    if (range_length(c, &n))
        return -1;
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_1d(c->arena, n));
    return 0;
}

static int fold_range(struct oc_op_ctx *c)
{
    const struct oc_elem *start = scalar(c, 0), *delta = scalar(c, 2);
    const struct oc_type *out = oc_out(c, 0);
    double a, d;
    uint32_t n;
    if (!out || !oc_fold_count(&out->shape, &n))
        return 0;
    bool ints = start->kind == OC_E_INT && delta->kind == OC_E_INT;
    bool reals = oc_elem_known_real(start, &a) && oc_elem_known_real(delta, &d);
    if (!ints && !reals)
        return 0;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++) {
        struct oc_dim step = ints ? oc_dim_mul(c->exprs, oc_known(i), delta->i) : oc_known(0);
        e[i] = ints ? oc_elem_dim(oc_dim_add(c->exprs, start->i, step)) : oc_elem_real(a + (double)i * d);
    }
    oc_set_data(c, 0, e, n);
    return 0;
}

/* ---- random numbers ----------------------------------------------------------------------------------- */

static int shape_random(struct oc_op_ctx *c)
{
    struct oc_list l = oc_list_of(c, "shape", UINT32_MAX);
    struct oc_shape s = shape_from_list(c, &l);
    if (!l.present)
        return oc_op_fail(c, "attribute 'shape' is missing");
    if (generate_check_sizes(c, &s))
        return -1;
    oc_set_out(c, 0, (unsigned)oc_attr_i(c, "dtype", OC_DT_FLOAT), s);
    return 0;
}

static int generate_shape_like(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, (unsigned)oc_attr_i(c, "dtype", oc_in_dtype(c, 0)), *oc_in_shape(c, 0));
    return 0;
}

static int shape_multinomial(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0);
    int64_t n = oc_attr_i(c, "sample_size", 1);
    if (in->ranked && in->rank != 2)
        return oc_op_fail(c, "input {%s} must have rank 2", oc_text_of(c, in));
    if (n < 0)
        return oc_op_fail(c, "invalid sample_size %lld", (long long)n);
    struct oc_dim d[2] = {in->ranked ? in->dim[0] : oc_fresh_axis(c, 0, -1), oc_known(n)};
    oc_set_out(c, 0, (unsigned)oc_attr_i(c, "dtype", OC_DT_INT32), oc_shape_of(c->arena, 2, d));
    return 0;
}

static const char multinomial_formula[] =
    "CMP = N(x) + N(o)*clog2(x[1]); ADD = 2*N(x); EXP = N(x); DIV = N(x); RNG = N(o)";

/* ---- EyeLike, windows --------------------------------------------------------------------------------- */

static int fold_eye(struct oc_op_ctx *c)
{
    const struct oc_type *out = oc_out(c, 0);
    int64_t k = oc_attr_i(c, "k", 0);
    uint32_t n;
    if (!out || out->shape.rank != 2 || !oc_fold_count(&out->shape, &n) || k < -OC_MAX_DATA ||
        k > OC_MAX_DATA)
        return 0;
    bool real = oc_dtype_info(out->dtype)->kind == OC_KIND_FLOAT;
    int64_t cols = out->shape.dim[1].v;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t i = 0; i < n; i++) {
        bool on = i % cols - i / cols == k;
        e[i] = real ? oc_elem_real(on) : oc_elem_int(on);
    }
    oc_set_data(c, 0, e, n);
    return 0;
}

static int shape_window(struct oc_op_ctx *c)
{
    struct oc_list l = oc_list_of(c, NULL, 0);
    bool known = l.sized && l.n == 1;
    struct oc_shape s =
        oc_shape_1d(c->arena, known ? oc_elem_to_dim(c, &l.e[0], 0, -1) : oc_fresh_axis(c, 0, -1));
    if (generate_check_sizes(c, &s))
        return -1;
    oc_set_out(c, 0, (unsigned)oc_attr_i(c, "output_datatype", OC_DT_FLOAT), s);
    return 0;
}

/* GivenTensorFill (removed from the standard) */
static int shape_given(struct oc_op_ctx *c)
{
    struct oc_list l = oc_list_of(c, "shape", UINT32_MAX);
    bool plain = !oc_attr_i(c, "input_as_shape", 0) && !oc_has_attr(c, "extra_shape");
    oc_set_out(c, 0, OC_DT_FLOAT, plain ? shape_from_list(c, &l) : oc_shape_unranked());
    return 0;
}

static const struct oc_prims bernoulli[] = {{OC_RNG, 1}, {OC_CMP, 1}, {0, 0}};
static const struct oc_prims blackman[] = {{OC_MUL, 4}, {OC_SIN, 2}, {OC_ADD, 2}, {0, 0}};
static const struct oc_prims hann[] = {{OC_MUL, 2}, {OC_SIN, 1}, {OC_ADD, 1}, {0, 0}};
static const struct oc_prims normal[] = {{OC_RNG, 1}, {OC_MUL, 1}, {OC_ADD, 1}, {0, 0}};
static const struct oc_prims uniform[] = {{OC_RNG, 1}, {0, 0}};
static const struct oc_prims range[] = {{OC_MUL, 1}, {OC_ADD, 1}, {0, 0}};

#define MAKE(n, v, sl, s, f, list)                                                                           \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_GENERATE, .slots = (sl), .shape = (s),        \
    .fold = (f), OC_COST_THIS, .param = (list)
#define DRAW(n, v, fl, sl, s, list)                                                                          \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_GENERATE, .flags = OC_F_NO_FOLD | (fl),       \
    .slots = (sl), .shape = (s), OC_COST_THIS, .param = (list)

static const struct oc_op rows[] = {
    {DRAW("Bernoulli", 15, OC_F_FUNCTION, NULL, generate_shape_like, bernoulli)},
    {MAKE("BlackmanWindow", 17, "m", shape_window, NULL, blackman), .flags = OC_F_FUNCTION},
    {OC_OP_ROW("", "Constant", 1, GENERATE, NULL, shape_constant), .fold = fold_constant},
    {OC_OP_ROW("", "ConstantOfShape", 9, GENERATE, "m", shape_constant_of_shape),
     .fold = fold_constant_of_shape},
    {OC_OP_ROW("", "EyeLike", 9, GENERATE, "m", generate_shape_like), .fold = fold_eye},
    {OC_OP_ROW("", "GivenTensorFill", 1, GENERATE, "m", shape_given)},
    {MAKE("HammingWindow", 17, "m", shape_window, NULL, hann), .flags = OC_F_FUNCTION},
    {MAKE("HannWindow", 17, "m", shape_window, NULL, hann), .flags = OC_F_FUNCTION},
    {OC_OP_ROW("", "Multinomial", 7, GENERATE, NULL, shape_multinomial), .flags = OC_F_NO_FOLD,
     OC_COST_TEXT(multinomial_formula)},
    {DRAW("RandomNormal", 1, 0, NULL, shape_random, normal)},
    {DRAW("RandomNormalLike", 1, 0, "m", generate_shape_like, normal)},
    {DRAW("RandomUniform", 1, 0, NULL, shape_random, uniform)},
    {DRAW("RandomUniformLike", 1, 0, "m", generate_shape_like, uniform)},
    {MAKE("Range", 11, "m", generate_shape_range, fold_range, range), .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "Range", 1, GENERATE, "m", generate_shape_range), .fold = fold_range,
     OC_COST_THIS, .param = range},
};
OC_FAMILY(generate, rows);
