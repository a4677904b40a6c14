/* What a rule sees of its node: attributes, inputs, outputs, sizes, counts; and the rules that all families
 * share, with histograms of activations. */
#include "ops/op.h"

#include <stdarg.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"
#include "ops/shared_rules.h"

/* ---- attributes --------------------------------------------------------------------------------------- */

static void note_read(const struct oc_op_ctx *c)
{
    if (c->reads_more)
        *c->reads_more = true;
}

static const struct oc_attr *find_attr(const struct oc_op_ctx *c, const char *name)
{
    note_read(c);
    const struct oc_attr *a = oc_node_attr(c->node, name);
    return a && a->type != OC_ATTR_NONE ? a : NULL;
}

bool oc_has_attr(const struct oc_op_ctx *c, const char *name)
{
    return find_attr(c, name) != NULL;
}

int64_t oc_attr_i(const struct oc_op_ctx *c, const char *name, int64_t otherwise)
{
    note_read(c);
    return oc_node_int(c->node, name, otherwise);
}

float oc_attr_f(const struct oc_op_ctx *c, const char *name, float otherwise)
{
    const struct oc_attr *a = find_attr(c, name);
    if (a && a->type == OC_ATTR_FLOAT)
        return a->f;
    return a && a->type == OC_ATTR_INT ? (float)a->i : otherwise;
}

const char *oc_attr_s(const struct oc_op_ctx *c, const char *name, const char *otherwise)
{
    const struct oc_attr *a = find_attr(c, name);
    return a && a->type == OC_ATTR_STRING && a->s.s ? a->s.s : otherwise;
}

const int64_t *oc_attr_ints(const struct oc_op_ctx *c, const char *name, uint32_t *n)
{
    static const int64_t empty[1] = {0};
    const struct oc_attr *a = find_attr(c, name);
    *n = 0;
    if (a && a->type == OC_ATTR_INT) {
        *n = 1;
        return &a->i;
    }
    if (!a || a->type != OC_ATTR_INTS)
        return NULL;
    *n = a->n;
    return a->n ? a->ints : empty;
}

const float *oc_attr_floats(const struct oc_op_ctx *c, const char *name, uint32_t *n)
{
    static const float empty[1] = {0};
    const struct oc_attr *a = find_attr(c, name);
    *n = 0;
    if (!a || a->type != OC_ATTR_FLOATS)
        return NULL;
    *n = a->n;
    return a->n ? a->floats : empty;
}

const struct oc_tensor *oc_attr_tensor(const struct oc_op_ctx *c, const char *name)
{
    const struct oc_attr *a = find_attr(c, name);
    return a && (a->type == OC_ATTR_TENSOR || a->type == OC_ATTR_SPARSE_TENSOR) ? oc_attr_tensor_at(a, 0)
                                                                                : NULL;
}

/* ---- inputs ------------------------------------------------------------------------------------------- */

const struct oc_type *oc_in(const struct oc_op_ctx *c, unsigned slot)
{
    return slot < c->n_in ? c->in[slot] : NULL;
}

const struct oc_shape *oc_in_shape(const struct oc_op_ctx *c, unsigned slot)
{
    static const struct oc_shape unranked = {0};
    const struct oc_type *t = oc_in(c, slot);
    return t && (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE) ? &t->shape : &unranked;
}

unsigned oc_in_dtype(const struct oc_op_ctx *c, unsigned slot)
{
    const struct oc_type *t = oc_in(c, slot);
    return t && (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE) ? t->dtype : OC_DT_UNDEFINED;
}

const struct oc_data *oc_in_value(const struct oc_op_ctx *c, unsigned slot)
{
    if (!oc_in(c, slot))
        return NULL;
    note_read(c);
    if (c->in_data && c->in_data[slot])
        return c->in_data[slot];
    return c->load_data ? c->load_data(c, slot) : NULL;
}

bool oc_in_is_const(const struct oc_op_ctx *c, unsigned slot)
{
    return oc_in(c, slot) && c->in_const && c->in_const[slot];
}

const int64_t *oc_in_ints(const struct oc_op_ctx *c, unsigned slot, uint32_t *n)
{
    const struct oc_data *d = oc_in_value(c, slot);
    *n = 0;
    if (!d)
        return NULL;
    int64_t *v = OC_NEW_ARRAY(c->arena, d->n ? d->n : 1, int64_t);
    for (uint32_t i = 0; i < d->n; i++)
        if (!oc_elem_known_int(&d->e[i], &v[i]))
            return NULL;
    *n = d->n;
    return v;
}

bool oc_in_int(const struct oc_op_ctx *c, unsigned slot, int64_t *v)
{
    const struct oc_data *d = oc_in_value(c, slot);
    return d && d->n == 1 && oc_elem_known_int(&d->e[0], v);
}

int oc_attr_or_input_ints(const struct oc_op_ctx *c, const char *attr, unsigned slot, const int64_t **v,
                          uint32_t *n)
{
    *v = oc_attr_ints(c, attr, n);
    if (*v)
        return 1;
    if (!oc_in(c, slot))
        return 0;
    *v = oc_in_ints(c, slot, n);
    return *v ? 1 : -1;
}

/* ---- outputs ------------------------------------------------------------------------------------------ */

static bool out_present(const struct oc_op_ctx *c, unsigned slot)
{
    return slot < c->n_out && c->node->out[slot] != OC_NONE;
}

void oc_set_out(struct oc_op_ctx *c, unsigned slot, unsigned dtype, struct oc_shape shape)
{
    if (out_present(c, slot))
        c->out[slot] = oc_tensor_type(dtype, shape);
}

int oc_out_unranked(struct oc_op_ctx *c, unsigned dtype)
{
    oc_set_out(c, 0, dtype, oc_shape_unranked());
    return 0;
}

struct oc_shape oc_shape_with(struct oc_op_ctx *c, const struct oc_shape *s, unsigned axis, struct oc_dim d)
{
    struct oc_dim dim[OC_MAX_RANK];
    for (unsigned i = 0; i < s->rank; i++)
        dim[i] = i == axis ? d : s->dim[i];
    return oc_shape_of(c->arena, s->rank, dim);
}

void oc_set_out_type(struct oc_op_ctx *c, unsigned slot, const struct oc_type *t)
{
    if (out_present(c, slot))
        c->out[slot] = t ? *t : (struct oc_type){0};
}

const struct oc_type *oc_out(const struct oc_op_ctx *c, unsigned slot)
{
    return out_present(c, slot) ? &c->out[slot] : NULL;
}

bool oc_out_wanted(const struct oc_op_ctx *c, unsigned slot)
{
    return out_present(c, slot) && (!c->out_used || c->out_used[slot]);
}

int oc_op_infer(struct oc_op_ctx *c)
{
    if (c->op->shape(c))
        return -1;
    for (uint32_t i = 0; i < c->n_out; i++) {
        const struct oc_shape *s = &c->out[i].shape;
        for (unsigned k = 0; c->out[i].kind == OC_T_TENSOR && s->ranked && k < s->rank; k++)
            if (oc_is_known(s->dim[k]) && s->dim[k].v < 0)
                return oc_op_fail(c, "output %u has invalid size %lld along axis %u", (unsigned)i,
                                  (long long)s->dim[k].v, k);
    }
    return 0;
}

struct oc_elem *oc_new_elems(struct oc_op_ctx *c, uint32_t n)
{
    return OC_NEW_ARRAY(c->arena, n ? n : 1, struct oc_elem);
}

void oc_set_data(struct oc_op_ctx *c, unsigned slot, const struct oc_elem *e, uint32_t n)
{
    uint32_t count;
    if (!out_present(c, slot) || n > OC_MAX_DATA)
        return;
    const struct oc_type *t = &c->out[slot];
    bool known = t->kind == OC_T_TENSOR && oc_shape_known(&t->shape);
    if (known && (!oc_fold_count(&t->shape, &count) || count != n))
        return; /* the model contradicts itself */
    for (unsigned i = 0; n && t->kind == OC_T_TENSOR && t->shape.ranked && i < t->shape.rank; i++)
        if (oc_is(t->shape.dim[i], 0))
            return;
    struct oc_data *d = OC_NEW(c->arena, struct oc_data);
    d->e = e;
    d->n = n;
    c->out_data[slot] = d;
}

struct oc_elem oc_elem_int(int64_t v)
{
    return (struct oc_elem){.kind = OC_E_INT, .i = oc_known(v)};
}

struct oc_elem oc_elem_dim(struct oc_dim d)
{
    return (struct oc_elem){.kind = OC_E_INT, .i = d};
}

struct oc_elem oc_elem_real(double v)
{
    return (struct oc_elem){.kind = OC_E_REAL, .r = v};
}

bool oc_elem_known_int(const struct oc_elem *e, int64_t *v)
{
    if (e->kind != OC_E_INT || !oc_is_known(e->i))
        return false;
    *v = e->i.v;
    return true;
}

bool oc_elem_known_real(const struct oc_elem *e, double *v)
{
    if (e->kind == OC_E_REAL)
        *v = e->r;
    else if (e->kind == OC_E_INT && oc_is_known(e->i))
        *v = (double)e->i.v;
    else if (e->kind == OC_E_RATIO && oc_is_known(e->i))
        *v = (double)e->i.v * e->r + e->add;
    else
        return false;
    return true;
}

int(oc_op_fail)(struct oc_op_ctx *c, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return oc_fail(c->err, OC_EFORMAT, "%s", text);
}

struct oc_dim oc_op_fresh_dim(struct oc_op_ctx *c, const char *what, int64_t max)
{
    if (what && strspn(what, "0123456789") < strlen(what))
        return oc_dim_fresh(c->exprs, what, max);
    char label[256], text[256]; /* longer ones are truncated anyway */
    const char *node = oc_node_label(c->model, c->node, label, sizeof(label));
    snprintf(text, sizeof(text), "%s.%s", node, what ? what : "0");
    return oc_dim_fresh(c->exprs, text, max);
}

/* ---- cost arithmetic ---------------------------------------------------------------------------------- */

uint64_t oc_c_mul(struct oc_op_ctx *c, uint64_t a, uint64_t b)
{
    uint64_t r;
    if (oc_mul_u64(a, b, &r))
        return r;
    c->overflow = true;
    return 0;
}

uint64_t oc_c_add(struct oc_op_ctx *c, uint64_t a, uint64_t b)
{
    uint64_t r;
    if (oc_add_u64(a, b, &r))
        return r;
    c->overflow = true;
    return 0;
}

uint64_t oc_c_dim(struct oc_op_ctx *c, struct oc_dim d)
{
    if (oc_is_known(d) && d.v >= 0)
        return (uint64_t)d.v;
    int64_t max = oc_is_known(d) ? -1 : oc_dim_max_value(c->exprs, d);
    if (max < 0)
        c->unknown = true;
    else
        c->upper = true;
    return max < 0 ? 0 : (uint64_t)max;
}

uint64_t oc_c_range(struct oc_op_ctx *c, const struct oc_shape *s, unsigned from, unsigned to)
{
    if (!s->ranked || to > s->rank) {
        c->unknown = true;
        return 0;
    }
    /* An empty axis makes the product 0, even with unknown axes. */
    for (unsigned i = from; i < to; i++)
        if (oc_is(s->dim[i], 0))
            return 0;
    uint64_t n = 1;
    for (unsigned i = from; i < to; i++)
        n = oc_c_mul(c, n, oc_c_dim(c, s->dim[i]));
    return n;
}

uint64_t oc_c_elems(struct oc_op_ctx *c, const struct oc_type *t)
{
    if (!t)
        return 0;
    if (t->kind == OC_T_TENSOR || t->kind == OC_T_SPARSE)
        return oc_c_range(c, &t->shape, 0, t->shape.rank);
    c->unknown = true;
    return 0;
}

uint64_t oc_c_in(struct oc_op_ctx *c, unsigned slot)
{
    return oc_c_elems(c, oc_in(c, slot));
}

uint64_t oc_c_out(struct oc_op_ctx *c, unsigned slot)
{
    return oc_c_elems(c, oc_out(c, slot));
}

uint64_t oc_c_bytes(struct oc_op_ctx *c, unsigned dtype, uint64_t elements)
{
    uint64_t bytes;
    if (oc_bytes_of(dtype, elements, &bytes))
        return bytes;
    c->overflow = true;
    return 0;
}

void oc_add_formula_value(struct oc_op_ctx *c, const char *name, uint64_t v)
{
    struct oc_formula_values *t = c->values;
    unsigned i = 0;
    while (t && i < t->n && strcmp(t->item[i].name, name) != 0)
        i++;
    if (!t || i == OC_COUNT(t->item))
        return;
    if (i == t->n) {
        t->item[t->n].name = name;
        t->item[t->n++].v = 0;
    }
    t->item[i].v = oc_c_add(c, t->item[i].v, v);
}

void oc_add_float(struct oc_op_ctx *c, struct oc_cost *k, enum oc_prim p, uint64_t n)
{
    k->hist_f[p] = oc_c_add(c, k->hist_f[p], n);
}

void oc_add_int(struct oc_op_ctx *c, struct oc_cost *k, enum oc_prim p, uint64_t n)
{
    k->hist_i[p] = oc_c_add(c, k->hist_i[p], n);
}

void oc_add(struct oc_op_ctx *c, struct oc_cost *k, enum oc_prim p, uint64_t n)
{
    unsigned cls = p == OC_MAC ? k->mac_class : k->rest_class;
    if (oc_class_is_int(cls) || cls == OC_CLASS_B1)
        oc_add_int(c, k, p, n);
    else
        oc_add_float(c, k, p, n);
}

void oc_add_functions(struct oc_op_ctx *c, const struct oc_prims *list, uint64_t elements)
{
    for (const struct oc_prims *p = list; p && p->n; p++)
        oc_add_formula_value(c, oc_prim_name(p->prim), oc_c_mul(c, p->n, elements));
}

void oc_add_prims(struct oc_op_ctx *c, struct oc_cost *k, const struct oc_prims *list, uint64_t elements)
{
    for (; list && list->n; list++)
        oc_add(c, k, (enum oc_prim)list->prim, oc_c_mul(c, list->n, elements));
}

/* ---- shared rules: shapes ----------------------------------------------------------------------------- */

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

/* ---- shared rules: small values ----------------------------------------------------------------------- */

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

/* ---- shared rules: cost ------------------------------------------------------------------------------- */

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

static bool same_name(const char *a, const char *b)
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
        if (same_name(activations[i].name, name))
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
