/* Producer-consumer fusion: rules with two links, applied along every chain of single users. */
#include <string.h>

#include "estimate/fusion_plan.h"

struct link {
    const struct oc_fuse *f;
    const struct oc_fuse_group *g; /* the producer */
    uint32_t next;                 /* the only user of its result */
    uint32_t other;                /* for two operands: the other operand; OC_NONE */
};

static bool in_first_slot(const struct link *l)
{
    return oc_fuse_input(l->f, l->next, 0) == l->g->out;
}

/* Constant weights: a following scale can be folded into them. */
static bool constant_weights(const struct link *l)
{
    return oc_fuse_const(l->f, oc_fuse_input(l->f, l->g->core, 1));
}

static bool has_bias(const struct link *l)
{
    const struct oc_node *n = &l->f->m->node[l->g->core];
    return n->n_in > 2 && n->in[2] != OC_NONE;
}

/* One number per output channel, or a single one: [C,1,1] or [1,C,1,1]. */
static bool per_channel(const struct link *l)
{
    const struct oc_shape *s = oc_fuse_shape(l->f, l->other), *y = oc_fuse_shape(l->f, l->g->out);
    if (!oc_fuse_const(l->f, l->other) || !s || !y || y->rank < 3 || s->rank > y->rank)
        return false;
    unsigned channel = s->rank + 1u > y->rank ? s->rank + 1u - y->rank : 0;
    for (unsigned i = 0; i < s->rank; i++)
        if (s->dim[i].v != 1 && !(i == channel && s->rank >= y->rank - 1 && s->dim[i].v == y->dim[1].v))
            return false;
    return s->rank >= y->rank - 1 && s->dim[channel].v == y->dim[1].v;
}

static bool foldable(const struct link *l)
{
    return constant_weights(l) && in_first_slot(l) && !l->g->activated && !l->g->summed;
}

static bool conv_scale(const struct link *l)
{
    return constant_weights(l) && !l->g->activated && per_channel(l);
}

/* ONNX Runtime folds an Add into an absent or constant bias. */
static bool conv_shift(const struct link *l)
{
    return conv_scale(l) && (!has_bias(l) || oc_fuse_const(l->f, oc_fuse_input(l->f, l->g->core, 2)));
}

static bool accepts_activation(const struct link *l)
{
    return !l->g->activated && in_first_slot(l);
}

static bool clip_is_constant(const struct link *l)
{
    const struct oc_node *n = &l->f->m->node[l->next];
    for (uint32_t i = 1; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && !oc_fuse_const(l->f, n->in[i]))
            return false;
    return accepts_activation(l);
}

static bool same_shape(const struct link *l)
{
    const struct oc_shape *s = oc_fuse_shape(l->f, l->other), *y = oc_fuse_shape(l->f, l->g->out);
    return s && y && oc_shape_equal(s, y);
}

static bool residual(const struct link *l)
{
    return !l->g->activated && !l->g->summed && l->other != OC_NONE && !oc_fuse_const(l->f, l->other) &&
           same_shape(l);
}

static bool one_number(const struct link *l)
{
    return oc_fuse_const(l->f, l->other) && oc_fuse_elements(l->f, l->other) == 1;
}

static bool is_float(const struct link *l)
{
    return l->g->out != OC_NONE && l->f->a->type[l->g->out].dtype == OC_DT_FLOAT;
}

/* C = A B + c with two-dimensional matrices is a Gemm. */
static bool matrix_bias(const struct link *l)
{
    const struct oc_shape *a = oc_fuse_shape(l->f, oc_fuse_input(l->f, l->g->core, 0));
    const struct oc_shape *b = oc_fuse_shape(l->f, oc_fuse_input(l->f, l->g->core, 1));
    const struct oc_shape *c = oc_fuse_shape(l->f, l->other);
    return a && b && c && a->rank == 2 && b->rank == 2 && c->rank <= 2 && is_float(l) &&
           oc_fuse_elements(l->f, l->other) <= oc_fuse_elements(l->f, l->g->out);
}

static bool any_bias(const struct link *l)
{
    const struct oc_shape *s = oc_fuse_shape(l->f, l->other);
    return oc_fuse_const(l->f, l->other) && s && s->rank <= 1 && !l->g->activated;
}

/* x * Sigmoid(x), optionally with a factor before. */
static bool gates_itself(const struct link *l)
{
    uint32_t x = oc_fuse_input(l->f, l->g->core, 0);
    uint32_t from = x == OC_NONE ? OC_NONE : l->f->m->value[x].producer;
    bool scaled = from != OC_NONE && oc_fuse_is(l->f, from, " Mul ") &&
                  (oc_fuse_input(l->f, from, 0) == l->other || oc_fuse_input(l->f, from, 1) == l->other);
    return l->other == x || scaled;
}

static bool scaled_product(const struct link *l)
{
    return one_number(l) && is_float(l);
}

static bool swaps_last_two(const struct link *l)
{
    const struct oc_attr *p = oc_node_attr(&l->f->m->node[l->g->core], "perm");
    if (!p || p->type != OC_ATTR_INTS || p->n < 2 || !is_float(l))
        return false;
    for (uint32_t i = 0; i + 2 < p->n; i++)
        if (p->ints[i] != i)
            return false;
    return p->ints[p->n - 2] == p->n - 1 && p->ints[p->n - 1] == p->n - 2;
}

static bool factor_before(const struct link *l)
{
    const struct oc_node *n = &l->f->m->node[l->g->core];
    uint32_t c = oc_fuse_input(l->f, l->g->core, 1);
    return n->n_in == 2 && is_float(l) && oc_fuse_const(l->f, c) && oc_fuse_elements(l->f, c) == 1;
}

static bool bias_of_gelu(const struct link *l)
{
    const struct oc_fuse *f = l->f;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t b = oc_fuse_input(f, l->g->core, i);
        const struct oc_shape *s = oc_fuse_shape(f, b);
        if (oc_fuse_const(f, b) && s && s->rank == 1)
            return true;
    }
    return false;
}

static bool pointwise(const struct link *l)
{
    return oc_fuse_elements(l->f, l->g->out) > 0 &&
           oc_fuse_elements(l->f, l->f->m->node[l->next].out[0]) == oc_fuse_elements(l->f, l->g->out);
}

#define ORT         (1u << OC_FUSE_ORT_CPU)
#define GEN         (1u << OC_FUSE_GENERIC)
#define BOTH        (ORT | GEN)
#define ACTIVATIONS " Relu Sigmoid Tanh LeakyRelu HardSigmoid "
#define POINTWISE                                                                                            \
    " Relu Sigmoid Tanh LeakyRelu Clip HardSigmoid HardSwish Elu Gelu Erf Exp Neg Abs Sqrt Add Mul Sub Div " \
    "Pow "                                                                                                   \
    "Cast "

/* The first matching row applies; rows of one pass are tried along a chain until none matches. becomes NULL:
 * the type is unchanged; core: the fused node becomes the main node. */
static const struct {
    unsigned pass, rules;
    const char *rule, *from, *to; /* from: type of the group */
    bool (*fits)(const struct link *l);
    const char *becomes;
    bool activates, sums, core;
} table[] = {
    {0, BOTH, "conv+bn", " Conv ", " BatchNormalization ", foldable, NULL, false, false, false},
    {0, ORT, "conv*scale", " Conv ", " Mul ", conv_scale, NULL, false, false, false},
    {0, ORT, "conv+bias", " Conv ", " Add ", conv_shift, NULL, false, false, false},
    {0, GEN, "conv+bias", " Conv ConvTranspose ", " Add Mul ", per_channel, NULL, false, false, false},
    {0, GEN, "conv+bn", " ConvTranspose ", " BatchNormalization ", foldable, NULL, false, false, false},
    {0, ORT, "matmul+bias", " MatMul ", " Add ", matrix_bias, "Gemm", false, false, false},
    {0, GEN, "matmul+bias", " MatMul Gemm ", " Add ", any_bias, NULL, false, false, false},
    {1, ORT, "bias+gelu", " Add ", " Gelu ", bias_of_gelu, "BiasGelu", true, false, true},
    {1, ORT, "bias+gelu", " Add ", " FastGelu ", bias_of_gelu, "FastGelu", true, false, true},
    {1, BOTH, "x*sigmoid", " Sigmoid ", " Mul ", gates_itself, "QuickGelu", true, false, false},
    {1, ORT, "conv+act", " Conv ", ACTIVATIONS, accepts_activation, "FusedConv", true, false, false},
    {1, ORT, "conv+act", " Conv ", " Clip ", clip_is_constant, "FusedConv", true, false, false},
    {1, ORT, "gemm+act", " Gemm ", ACTIVATIONS, accepts_activation, "FusedGemm", true, false, false},
    {1, ORT, "matmul*scale", " MatMul FusedMatMul ", " Mul Div ", scaled_product, "FusedMatMul", false, false,
     false},
    {1, ORT, "scale*matmul", " Mul Div ", " MatMul FusedMatMul ", factor_before, "FusedMatMul", false, false,
     true},
    {1, ORT, "transpose+matmul", " Transpose ", " MatMul FusedMatMul ", swaps_last_two, "FusedMatMul", false,
     false, true},
    {1, GEN, "conv+residual", " Conv ", " Add ", residual, NULL, false, true, false},
    {1, GEN, "gemm+residual", " MatMul Gemm ", " Add ", residual, NULL, false, true, false},
    {1, GEN, "conv+act", " Conv ConvTranspose ", ACTIVATIONS " HardSwish Elu ", accepts_activation, NULL,
     true, false, false},
    {1, GEN, "conv+act", " Conv ConvTranspose ", " Clip ", clip_is_constant, NULL, true, false, false},
    {1, GEN, "gemm+act", " MatMul Gemm ", ACTIVATIONS " Clip Gelu ", accepts_activation, NULL, true, false,
     false},
    {2, GEN, "pointwise", POINTWISE, POINTWISE, pointwise, NULL, false, false, false},
};

static bool is_listed(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strstr(names, name); n && p; p = strstr(p + 1, name))
        if (p > names && p[-1] == ' ' && p[n] == ' ')
            return true;
    return false;
}

static bool make_link(const struct oc_fuse *f, const struct oc_fuse_group *g, struct link *l)
{
    uint32_t next = oc_fuse_user(f, g->out);
    if (next == OC_NONE || f->m->node[next].graph != f->m->node[g->core].graph || !f->m->node[next].n_out)
        return false;
    *l = (struct link){.f = f, .g = g, .next = next, .other = OC_NONE};
    uint32_t a = oc_fuse_input(f, next, 0), b = oc_fuse_input(f, next, 1);
    if (f->m->node[next].n_in == 2)
        l->other = a == g->out ? b : a;
    return true;
}

static bool extend(struct oc_fuse *f, uint32_t at, unsigned pass)
{
    struct oc_fuse_group *g = &f->group[at];
    struct link l;
    if (g->gone || g->n_node >= OC_FUSE_MAX || !make_link(f, g, &l))
        return false;
    uint32_t from = f->owner[l.next];
    if (from == at)
        return false;
    for (size_t i = 0; i < OC_COUNT(table); i++) {
        if (table[i].pass != pass || !(table[i].rules & 1u << f->rules) ||
            !is_listed(table[i].from, g->type) || !is_listed(table[i].to, f->group[from].type) ||
            !table[i].fits(&l))
            continue;
        uint32_t core = f->group[from].core, out = f->group[from].out;
        oc_fuse_merge(f, at, from, out, table[i].rule, table[i].becomes);
        g->activated |= table[i].activates;
        g->summed |= table[i].sums;
        g->core = table[i].core ? core : g->core;
        return true;
    }
    return false;
}

void oc_fuse_chains(struct oc_fuse *f)
{
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < f->n_group; i++)
            while (extend(f, i, pass)) {
            }
}
