/* Decomposed operators that runtimes recognise: layer normalisation, GELU with its two approximations. Each
 * is searched from its rarest node. */
#include <string.h>

#include "estimate/fusion_plan.h"

/* Nodes matched so far. */
struct found {
    const struct oc_fuse *f;
    uint32_t node[16];
    unsigned n;
};

static uint32_t producer(const struct oc_fuse *f, uint32_t value, const char *types)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer;
    return node != OC_NONE && f->owner[node] != OC_NONE && oc_fuse_is(f, node, types) ? node : OC_NONE;
}

/* Adds the producer of the value. */
static uint32_t match_producer(struct found *x, uint32_t value, const char *types)
{
    uint32_t node = producer(x->f, value, types);
    if (node != OC_NONE)
        x->node[x->n++] = node;
    return node;
}

/* Adds the only user of the node's output. */
static uint32_t match_user(struct found *x, uint32_t node, const char *types)
{
    uint32_t user = node == OC_NONE ? OC_NONE : oc_fuse_user(x->f, x->f->m->node[node].out[0]);
    if (user == OC_NONE || !oc_fuse_is(x->f, user, types))
        return OC_NONE;
    x->node[x->n++] = user;
    return user;
}

/* The operand that is not a constant; OC_NONE unless exactly one is. */
static uint32_t variable(const struct oc_fuse *f, uint32_t node)
{
    if (node == OC_NONE || f->m->node[node].n_in != 2)
        return OC_NONE;
    uint32_t a = oc_fuse_input(f, node, 0), b = oc_fuse_input(f, node, 1);
    if (oc_fuse_const(f, a) == oc_fuse_const(f, b))
        return OC_NONE;
    return oc_fuse_const(f, a) ? b : a;
}

/* The operand that is not `value`. */
static uint32_t partner(const struct oc_fuse *f, uint32_t node, uint32_t value)
{
    uint32_t a = oc_fuse_input(f, node, 0), b = oc_fuse_input(f, node, 1);
    return a == value ? b : b == value ? a : OC_NONE;
}

static bool take_all(struct oc_fuse *f, const struct found *x, uint32_t last, const char *rule,
                     const char *type)
{
    uint32_t into = f->owner[last], out = f->m->node[last].out[0];
    for (unsigned i = 0; i < x->n; i++)
        if (f->group[f->owner[x->node[i]]].rule || f->owner[x->node[i]] == OC_NONE)
            return false; /* already in another pattern */
    for (unsigned i = 0; i < x->n; i++)
        if (f->owner[x->node[i]] != into)
            oc_fuse_merge(f, into, f->owner[x->node[i]], out, rule, type);
    f->group[into].type = type;
    f->group[into].rule = rule;
    return true;
}

/* (x - mean) / sqrt(mean((x - mean)^2) + e) * scale + bias, from the Sqrt */
static void layer_norm(struct oc_fuse *f, uint32_t sqrt_node)
{
    struct found x = {.f = f, .node = {sqrt_node}, .n = 1};
    uint32_t sum = match_producer(&x, oc_fuse_input(f, sqrt_node, 0), " Add ");
    uint32_t mean = sum == OC_NONE ? OC_NONE : match_producer(&x, variable(f, sum), " ReduceMean ");
    uint32_t square = mean == OC_NONE ? OC_NONE : match_producer(&x, oc_fuse_input(f, mean, 0), " Pow Mul ");
    uint32_t away = square == OC_NONE ? OC_NONE : match_producer(&x, oc_fuse_input(f, square, 0), " Sub ");
    if (away == OC_NONE || match_producer(&x, oc_fuse_input(f, away, 1), " ReduceMean ") == OC_NONE)
        return;
    uint32_t quotient = match_user(&x, sqrt_node, " Div ");
    uint32_t product = match_user(&x, quotient, " Mul "), end = match_user(&x, product, " Add ");
    if (end == OC_NONE || oc_fuse_input(f, quotient, 0) != f->m->node[away].out[0] ||
        variable(f, product) == OC_NONE || variable(f, end) == OC_NONE)
        return;
    take_all(f, &x, end, "layer norm", "LayerNormalization");
}

/* After 1 + erf(..) or 1 + tanh(..): times x and one half, in any order. Returns the last node. */
static uint32_t half_of(struct found *x, uint32_t one_more, uint32_t in)
{
    const struct oc_fuse *f = x->f;
    uint32_t product = match_user(x, one_more, " Mul ");
    if (product == OC_NONE)
        return OC_NONE;
    uint32_t other = partner(f, product, f->m->node[one_more].out[0]);
    if (other == in || oc_fuse_const(f, other)) {
        uint32_t next = match_user(x, product, " Mul ");
        return next != OC_NONE && (variable(f, next) != OC_NONE || other != in) ? next : OC_NONE;
    }
    uint32_t half = match_producer(x, other, " Mul ");
    return half != OC_NONE && variable(f, half) == in ? product : OC_NONE;
}

/* x * (1 + erf(x / sqrt 2)) / 2 */
static void gelu(struct oc_fuse *f, uint32_t erf)
{
    struct found x = {.f = f, .node = {erf}, .n = 1};
    uint32_t scaled = match_producer(&x, oc_fuse_input(f, erf, 0), " Div Mul "), in = variable(f, scaled);
    uint32_t one_more = in == OC_NONE ? OC_NONE : match_user(&x, erf, " Add ");
    uint32_t end = one_more == OC_NONE ? OC_NONE : half_of(&x, one_more, in);
    if (end != OC_NONE && take_all(f, &x, end, "gelu", "Gelu")) {
        f->group[f->owner[end]].core = scaled;
        f->group[f->owner[end]].activated = true;
    }
}

/* x * (1 + tanh(c * (x + d * x^3))) / 2 */
static void fast_gelu(struct oc_fuse *f, uint32_t tanh_node)
{
    struct found x = {.f = f, .node = {tanh_node}, .n = 1};
    uint32_t scaled = match_producer(&x, oc_fuse_input(f, tanh_node, 0), " Mul ");
    uint32_t sum = scaled == OC_NONE ? OC_NONE : match_producer(&x, variable(f, scaled), " Add ");
    if (sum == OC_NONE)
        return;
    uint32_t a = producer(f, oc_fuse_input(f, sum, 0), " Mul "),
             b = producer(f, oc_fuse_input(f, sum, 1), " Mul ");
    uint32_t cubic = b != OC_NONE && variable(f, b) != OC_NONE ? b : a;
    if (cubic == OC_NONE || variable(f, cubic) == OC_NONE)
        return;
    x.node[x.n++] = cubic;
    uint32_t in = partner(f, sum, f->m->node[cubic].out[0]);
    uint32_t power = match_producer(&x, variable(f, cubic), " Pow Mul ");
    if (power == OC_NONE)
        return;
    if (oc_fuse_is(f, power, " Mul ")) { /* x * (x * x) */
        uint32_t square = partner(f, power, in);
        if (square == OC_NONE || match_producer(&x, square, " Mul ") == OC_NONE)
            return;
    }
    uint32_t one_more = match_user(&x, tanh_node, " Add ");
    uint32_t end = one_more == OC_NONE ? OC_NONE : half_of(&x, one_more, in);
    if (end != OC_NONE && take_all(f, &x, end, "fast gelu", "FastGelu")) {
        f->group[f->owner[end]].core = power;
        f->group[f->owner[end]].activated = true;
    }
}

/* Gathers with the indices 0, 1, 2 ... that cover an axis: one Split. */
static bool takes_one(const struct oc_fuse *f, uint32_t node, uint32_t from, int64_t *axis, int64_t *index)
{
    const struct oc_attr *at = oc_node_attr(&f->m->node[node], "axis");
    uint32_t i = oc_fuse_input(f, node, 1);
    const struct oc_data *d = i == OC_NONE ? NULL : f->a->data[i];
    *axis = at ? at->i : 0;
    return oc_fuse_is(f, node, " Gather ") && oc_fuse_input(f, node, 0) == from && oc_fuse_const(f, i) && d &&
           d->n == 1 && oc_elem_known_int(&d->e[0], index);
}

static void split(struct oc_fuse *f, uint32_t node)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t from = oc_fuse_input(f, node, 0), taken[16], n = 0;
    const struct oc_shape *s = oc_fuse_shape(f, from);
    int64_t axis, index;
    if (!s || !takes_one(f, node, from, &axis, &index) || index != 0 || axis < 0 || axis >= s->rank)
        return;
    for (uint32_t u = x->use_first[from]; u < x->use_first[from + 1]; u++) {
        int64_t other;
        if (n == OC_COUNT(taken) || f->owner[x->use[u]] == OC_NONE ||
            !takes_one(f, x->use[u], from, &other, &index) || other != axis || index != (int64_t)n)
            return;
        taken[n++] = x->use[u];
    }
    if (n < 2 || (int64_t)n != s->dim[axis].v || f->m->value[from].graph_output)
        return;
    for (uint32_t k = 1; k < n; k++)
        oc_fuse_merge(f, f->owner[taken[0]], f->owner[taken[k]], OC_NONE, "gathers", "Split");
}

void oc_fuse_patterns(struct oc_fuse *f)
{
    static const struct {
        const char *type;
        void (*find)(struct oc_fuse *f, uint32_t node);
    } pattern[] = {{" Sqrt ", layer_norm}, {" Erf ", gelu}, {" Tanh ", fast_gelu}, {" Gather ", split}};
    for (uint32_t i = 0; i < f->m->n_node; i++)
        for (size_t p = 0; p < OC_COUNT(pattern); p++)
            if (f->owner[i] != OC_NONE && oc_fuse_is(f, i, pattern[p].type))
                pattern[p].find(f, i);
}
