/* Rules of all families, and histograms of activations. */
#include "base/str.h"
#include "ops/elem.h"

#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------------- */

int oc_shape_same(struct oc_op_ctx *c)
{
    const struct oc_type *t = oc_in(c, 0);
    oc_set_out_type(c, 0, t);
    return 0;
}

int oc_shape_same_bool(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_BOOL, *oc_in_shape(c, 0));
    return 0;
}

/* Before opset 7 the second operand was broadcast to the first; before 8 the variadic operators took equal
 * shapes. */
static bool old_broadcast(const struct oc_op_ctx *c)
{
    return c->node->domain[0] == '\0' && c->opset >= 1 && c->opset < 7;
}

static int broadcast_all(struct oc_op_ctx *c, struct oc_shape *out)
{
    *out = *oc_in_shape(c, 0);
    if (old_broadcast(c))
        return 0;
    for (unsigned i = 1; i < c->n_in; i++) {
        const struct oc_shape *s = oc_in_shape(c, i);
        struct oc_shape both = oc_shape_unranked();
        bool assumed = false;
        if (!oc_in(c, i))
            continue;
        if (!out->ranked || !s->ranked) {
            *out = oc_shape_unranked();
            return 0;
        }
        if (oc_broadcast(c->arena, c->exprs, out, s, &both, &assumed))
            return oc_op_fail(c, "shapes {%s} and {%s} do not broadcast",
                              oc_shape_text(c->arena, c->exprs, out, ","),
                              oc_shape_text(c->arena, c->exprs, s, ","));
        *out = both;
    }
    return 0;
}

int oc_shape_broadcast(struct oc_op_ctx *c)
{
    struct oc_shape s;
    if (broadcast_all(c, &s))
        return -1;
    oc_set_out(c, 0, oc_in_dtype(c, 0), s);
    return 0;
}

int oc_shape_broadcast_bool(struct oc_op_ctx *c)
{
    struct oc_shape s;
    if (broadcast_all(c, &s))
        return -1;
    oc_set_out(c, 0, OC_DT_BOOL, s);
    return 0;
}

/* ---- small values ------------------------------------------------------------------------------------- */

bool oc_fold_count(const struct oc_shape *s, uint32_t *n)
{
    if (!s->ranked || !oc_shape_known(s))
        return false;
    uint64_t count = 1;
    for (unsigned i = 0; i < s->rank; i++) {
        if (s->dim[i].v < 0)
            return false;
        count = s->dim[i].v > OC_MAX_DATA ? OC_MAX_DATA + 1 : count * (uint64_t)s->dim[i].v;
        if (count > OC_MAX_DATA)
            return false;
    }
    *n = (uint32_t)count;
    return true;
}

int oc_fold_same(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0);
    const struct oc_type *o = oc_out(c, 0);
    uint32_t n;
    /* A Reshape to a size that does not match its value is an error of the model. */
    bool fits = o && (!oc_shape_known(&o->shape) || (oc_fold_count(&o->shape, &n) && d && n == d->n));
    if (d && fits)
        oc_set_data(c, 0, d->e, d->n);
    return 0;
}

/* Position in `s` of the element at row-major position `at` of `out` (trailing axes aligned). */
static uint32_t source_index(const struct oc_shape *out, const struct oc_shape *s, uint32_t at)
{
    uint32_t index = 0, stride = 1;
    for (unsigned k = 1; k <= out->rank && k <= s->rank; k++) {
        uint32_t d = (uint32_t)out->dim[out->rank - k].v, own = (uint32_t)s->dim[s->rank - k].v;
        uint32_t i = at % d;
        at /= d;
        if (own != 1)
            index += i * stride;
        stride *= own;
    }
    return index;
}

struct operand {
    const struct oc_data *data;
    const struct oc_shape *shape;
};

static bool read_operands(struct oc_op_ctx *c, struct operand *p, uint32_t n_out)
{
    bool any = false;
    for (unsigned i = 0; i < c->n_in; i++) {
        uint32_t n;
        p[i] = (struct operand){.data = oc_in_value(c, i), .shape = oc_in_shape(c, i)};
        if (!p[i].data)
            continue;
        if (!oc_fold_count(p[i].shape, &n) || n != p[i].data->n)
            return false;
        if (old_broadcast(c) && n != 1 && n != n_out)
            return false;
        any = any || oc_in(c, i);
    }
    return any;
}

static void broadcast_values(struct oc_op_ctx *c, oc_fold_fn *fn, uint32_t n, struct operand *p,
                             const struct oc_elem **arg)
{
    static const struct oc_elem unknown = {.kind = OC_E_UNKNOWN};
    const struct oc_type *out = oc_out(c, 0);
    if (!read_operands(c, p, n))
        return;
    struct oc_elem *e = oc_new_elems(c, n);
    for (uint32_t at = 0; at < n; at++) {
        for (unsigned i = 0; i < c->n_in; i++) {
            uint32_t j = p[i].data && p[i].data->n != 1 ? source_index(&out->shape, p[i].shape, at) : 0;
            arg[i] = p[i].data && j < p[i].data->n ? &p[i].data->e[j] : &unknown;
        }
        e[at] = fn(c, arg, c->n_in);
    }
    oc_set_data(c, 0, e, n);
}

void oc_fold_broadcast(struct oc_op_ctx *c, oc_fold_fn *fn)
{
    enum { FEW = 4 };
    const struct oc_type *out = oc_out(c, 0);
    struct operand p[FEW] = {{.data = NULL}};
    const struct oc_elem *arg[FEW];
    uint32_t n;
    if (!out || !oc_fold_count(&out->shape, &n) || c->n_in == 0)
        return;
    if (c->n_in <= FEW)
        broadcast_values(c, fn, n, p, arg);
    else
        broadcast_values(c, fn, n, OC_NEW_ARRAY(c->arena, c->n_in, struct operand),
                         OC_NEW_ARRAY(c->arena, c->n_in, const struct oc_elem *));
}

/* ---- cost --------------------------------------------------------------------------------------------- */

const char oc_cost_none_formula[] = "";

int oc_cost_named(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add_prims(c, k, oc_activation_prims(c->op->name), oc_c_out(c, 0));
    return 0;
}
const char oc_cost_named_formula[] = "this = N(o)";
const char oc_cost_elementwise_formula[] = "this = N(o)";

int oc_cost_none(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)c;
    (void)k;
    return 0;
}

int oc_cost_elementwise(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_out(c, 0);
    if (c->op->param)
        oc_add_prims(c, k, c->op->param, n);
    else
        oc_add(c, k, (enum oc_prim)c->op->prim, oc_c_mul(c, c->op->n_prim ? c->op->n_prim : 1, n));
    return 0;
}

/* ---- activations -------------------------------------------------------------------------------------- */

struct activation {
    const char *name;
    struct oc_prims prims[5];
};

/* cost-semantics 4.5. The names are attribute values of fused operators and RNNs. */
static const struct activation activations[] = {
    {"Affine", {{OC_MUL, 1}, {OC_ADD, 1}}},
    {"Celu", {{OC_CMP, 1}, {OC_EXP, 1}, {OC_ADD, 1}, {OC_MUL, 1}, {OC_DIV, 1}}},
    {"Clip", {{OC_CMP, 2}}},
    {"Elu", {{OC_CMP, 1}, {OC_EXP, 1}, {OC_ADD, 1}, {OC_MUL, 1}}},
    {"FastGelu", {{OC_MUL, 6}, {OC_ADD, 2}, {OC_TANH, 1}}},
    {"Gelu", {{OC_MUL, 3}, {OC_ERF, 1}, {OC_ADD, 1}}},
    {"HardSigmoid", {{OC_MUL, 1}, {OC_ADD, 1}, {OC_CMP, 2}}},
    {"HardSwish", {{OC_MUL, 2}, {OC_ADD, 1}, {OC_CMP, 2}}},
    {"Identity", {{0, 0}}},
    {"LeakyRelu", {{OC_CMP, 1}, {OC_MUL, 1}}},
    {"Mish", {{OC_EXP, 1}, {OC_ADD, 1}, {OC_LOG, 1}, {OC_TANH, 1}, {OC_MUL, 1}}},
    {"None", {{0, 0}}},
    {"QuickGelu", {{OC_MUL, 2}, {OC_SIG, 1}}},
    {"Relu", {{OC_CMP, 1}}},
    {"Relu6", {{OC_CMP, 2}}},
    {"ScaledTanh", {{OC_MUL, 2}, {OC_TANH, 1}}},
    {"Selu", {{OC_CMP, 1}, {OC_EXP, 1}, {OC_ADD, 1}, {OC_MUL, 2}}},
    {"Sigmoid", {{OC_SIG, 1}}},
    {"Silu", {{OC_SIG, 1}, {OC_MUL, 1}}},
    {"Softplus", {{OC_EXP, 1}, {OC_ADD, 1}, {OC_LOG, 1}}},
    {"Softsign", {{OC_CMP, 1}, {OC_ADD, 1}, {OC_DIV, 1}}},
    {"Swish", {{OC_SIG, 1}, {OC_MUL, 1}}},
    {"Tanh", {{OC_TANH, 1}}},
    {"ThresholdedRelu", {{OC_CMP, 1}}},
};

static bool op_rules_same_name(const char *a, const char *b)
{
    while (*a && oc_lower((unsigned char)*a) == oc_lower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

const struct oc_prims *oc_activation_prims(const char *name)
{
    for (size_t i = 0; name && i < OC_COUNT(activations); i++)
        if (op_rules_same_name(activations[i].name, name))
            return activations[i].prims;
    return NULL;
}

void oc_add_activation(struct oc_op_ctx *c, struct oc_cost *k, const char *attr, uint64_t n)
{
    const char *name = oc_attr_s(c, attr, "");
    const struct oc_prims *list = oc_activation_prims(name);
    if (list)
        oc_add_prims(c, k, list, n);
    else if (name[0])
        c->assumption = "an unknown activation counts 0";
}

const struct oc_prims oc_prims_requantize[] = {{OC_MUL, 1}, {OC_RND, 1}, {OC_ADD, 1}, {OC_CMP, 2}, {0, 0}};
const struct oc_prims oc_prims_dequantize[] = {{OC_ADD, 1}, {OC_MUL, 1}, {0, 0}};
const struct oc_prims oc_prims_dynamic_quantize[] = {
    {OC_CMP, 4}, {OC_DIV, 1}, {OC_RND, 1}, {OC_ADD, 1}, {0, 0}};

bool oc_zero_point_counts(const struct oc_op_ctx *c, unsigned slot)
{
    const struct oc_data *d = oc_in_value(c, slot);
    int64_t v;
    if (!d || d->n == 0)
        return oc_in(c, slot) != NULL;
    for (uint32_t i = 0; i < d->n; i++)
        if (!oc_elem_known_int(&d->e[i], &v) || v != 0)
            return true;
    return false;
}
