/* Decomposed operators that runtimes recognise: layer normalisation, GELU with its two approximations. Each
 * is searched from its rarest node. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "estimate/fusion_plan.h"

/* Nodes matched so far. */
struct found {
    const struct oc_fuse *f;
    uint32_t node[16];
    unsigned n;
};

static uint32_t fusion_rules_producer(const struct oc_fuse *f, uint32_t value, const char *types)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer;
    return node != OC_NONE && f->owner[node] != OC_NONE && oc_fuse_is(f, node, types) ? node : OC_NONE;
}

/* Adds the producer of the value. */
static uint32_t match_producer(struct found *x, uint32_t value, const char *types)
{
    uint32_t node = fusion_rules_producer(x->f, value, types);
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

static bool fusion_rules_take_all(struct oc_fuse *f, const struct found *x, uint32_t last, const char *rule,
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
    fusion_rules_take_all(f, &x, end, "layer norm", "LayerNormalization");
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
    if (end != OC_NONE && fusion_rules_take_all(f, &x, end, "gelu", "Gelu")) {
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
    uint32_t a = fusion_rules_producer(f, oc_fuse_input(f, sum, 0), " Mul "),
             b = fusion_rules_producer(f, oc_fuse_input(f, sum, 1), " Mul ");
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
    if (end != OC_NONE && fusion_rules_take_all(f, &x, end, "fast gelu", "FastGelu")) {
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

static void fusion_rules_split(struct oc_fuse *f, uint32_t node)
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
    } pattern[] = {
        {" Sqrt ", layer_norm}, {" Erf ", gelu}, {" Tanh ", fast_gelu}, {" Gather ", fusion_rules_split}};
    for (uint32_t i = 0; i < f->m->n_node; i++)
        for (size_t p = 0; p < OC_COUNT(pattern); p++)
            if (f->owner[i] != OC_NONE && oc_fuse_is(f, i, pattern[p].type))
                pattern[p].find(f, i);
}

/* ---- fusion simplify -------------------------------------------------------------------------------- */

/* Simplifications before fusion: common subexpressions are merged, shapes computed from sizes of their own
 * data become constants, and dead nodes are removed. */

static bool is_plain_op(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_op *op = f->a->op[node];
    return op && !(op->flags & (OC_F_NO_FOLD | OC_F_CONTROL)) && op->op_class != OC_OP_GENERATE;
}

/* Key of nodes that compute the same; false: not comparable. */
static bool fusion_rules_key_of(const struct oc_fuse *f, uint32_t node, struct oc_buf *key)
{
    const struct oc_node *n = &f->m->node[node];
    oc_buf_clear(key);
    oc_buf_printf(key, "%s %s %u %u", n->op_type, n->domain, n->graph, n->n_out);
    for (uint32_t i = 0; i < n->n_in; i++)
        oc_buf_printf(key, " %u", n->in[i] == OC_NONE ? OC_NONE : oc_fuse_source(f, n->in[i]));
    for (uint32_t i = 0; i < n->n_attr; i++) {
        const struct oc_attr *a = &n->attr[i];
        oc_buf_printf(key, " %s", a->name);
        if (a->type == OC_ATTR_INT)
            oc_buf_add(key, &a->i, sizeof(a->i));
        else if (a->type == OC_ATTR_FLOAT)
            oc_buf_add(key, &a->f, sizeof(a->f));
        else if (a->type == OC_ATTR_STRING)
            oc_buf_add(key, a->s.s, a->s.n);
        else if (a->type == OC_ATTR_INTS)
            oc_buf_add(key, a->ints, a->n * sizeof(*a->ints));
        else
            return false;
    }
    return true;
}

static bool leaves_graph(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && f->m->value[n->out[i]].graph_output)
            return true;
    return false;
}

static void make_twins(struct oc_fuse *f, uint32_t first, uint32_t second)
{
    const struct oc_node *a = &f->m->node[first], *b = &f->m->node[second];
    for (uint32_t i = 0; i < a->n_out; i++) {
        uint32_t v = a->out[i], w = b->out[i];
        if (v == OC_NONE || w == OC_NONE)
            continue;
        f->twin_of[w] = v;
        f->next_twin[w] = f->next_twin[v];
        f->next_twin[v] = w;
    }
    f->dead[second] = true;
}

static void merge_equal(struct oc_fuse *f)
{
    struct oc_arena a = {0};
    struct oc_map seen = {.arena = &a};
    struct oc_buf key = {.max = 1 << 16};
    for (uint32_t g = 0; g < f->m->n_graph; g++)
        for (uint32_t k = 0; k < f->m->graph[g].n_node; k++) {
            uint32_t node = f->m->graph[g].node[k], first = node;
            key.overflowed = false;
            if (!oc_fuse_launched(f, node) || f->dropped[node] || !is_plain_op(f, node) ||
                leaves_graph(f, node) || !fusion_rules_key_of(f, node, &key) || key.overflowed)
                continue;
            if (!oc_map_add(&seen, key.data, key.n, &first, NULL))
                make_twins(f, first, node);
        }
    oc_buf_free(&key);
    oc_map_free(&seen);
    oc_arena_free(&a);
}

/* ---- shapes from sizes ------------------------------------------------------------------------------ */

static uint32_t made_by(const struct oc_fuse *f, uint32_t value, const char *types)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer;
    return node != OC_NONE && oc_fuse_is(f, node, types) ? node : OC_NONE;
}

/* Whether the value is the size of dimension `axis` of a tensor with the same size there as `data`. */
static bool is_size_of(const struct oc_fuse *f, uint32_t value, uint32_t data, unsigned axis)
{
    uint32_t unsqueeze = made_by(f, value, " Unsqueeze ");
    uint32_t gather = unsqueeze == OC_NONE ? OC_NONE : made_by(f, oc_fuse_input(f, unsqueeze, 0), " Gather ");
    uint32_t shape = gather == OC_NONE ? OC_NONE : made_by(f, oc_fuse_input(f, gather, 0), " Shape ");
    if (shape == OC_NONE)
        return false;
    uint32_t index = oc_fuse_input(f, gather, 1), of = oc_fuse_input(f, shape, 0);
    const struct oc_data *d = index == OC_NONE ? NULL : f->a->data[index];
    const struct oc_shape *s = oc_fuse_shape(f, of), *t = oc_fuse_shape(f, data);
    int64_t i;
    if (!d || d->n != 1 || !oc_elem_known_int(&d->e[0], &i) || i != (int64_t)axis)
        return false;
    return of == data || (s && t && s->rank > axis && t->rank > axis && s->dim[axis].v == t->dim[axis].v);
}

static bool is_foldable_shape(const struct oc_fuse *f, uint32_t concat, uint32_t data)
{
    const struct oc_node *n = &f->m->node[concat];
    unsigned others = 0, axis = 0;
    for (uint32_t i = 0; i < n->n_in; i++, axis++) {
        uint32_t v = oc_fuse_input(f, concat, i);
        double elements = oc_fuse_elements(f, v);
        if (elements < 1)
            return false;
        if (oc_fuse_const(f, v))
            axis += (unsigned)elements - 1;
        else if (!is_size_of(f, v, data, axis) && (elements != 1 || ++others > 1))
            return false;
    }
    return n->n_in > 0;
}

static void fold_shapes(struct oc_fuse *f)
{
    for (uint32_t i = 0; i < f->m->n_node; i++) {
        const struct oc_node *n = &f->m->node[i];
        uint32_t concat = n->n_in == 2 && oc_fuse_is(f, i, " Reshape ") && oc_fuse_launched(f, i)
                              ? made_by(f, oc_fuse_input(f, i, 1), " Concat ")
                              : OC_NONE;
        if (concat != OC_NONE && !f->dead[i] && is_foldable_shape(f, concat, oc_fuse_input(f, i, 0)))
            f->constant_shape[i] = true;
    }
}

/* ---- dead nodes ------------------------------------------------------------------------------------- */

static bool is_read(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && oc_fuse_users(f, n->out[i]))
            return true;
    return n->n_out == 0;
}

void oc_fuse_simplify(struct oc_fuse *f)
{
    merge_equal(f);
    fold_shapes(f);
    for (uint32_t g = 0; g < f->m->n_graph; g++)
        for (uint32_t k = f->m->graph[g].n_node; k-- > 0;) {
            uint32_t node = f->m->graph[g].node[k];
            if (!f->dead[node] && oc_fuse_launched(f, node) && !is_read(f, node))
                f->dead[node] = true;
        }
}

/* ---- fusion rules ----------------------------------------------------------------------------------- */

/* Producer-consumer fusion: rules with two links, applied along every chain of single users. */

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
static bool fusion_rules_constant_weights(const struct link *l)
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
    return fusion_rules_constant_weights(l) && in_first_slot(l) && !l->g->activated && !l->g->summed;
}

static bool conv_scale(const struct link *l)
{
    return fusion_rules_constant_weights(l) && !l->g->activated && per_channel(l);
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

static bool fusion_rules_same_shape(const struct link *l)
{
    const struct oc_shape *s = oc_fuse_shape(l->f, l->other), *y = oc_fuse_shape(l->f, l->g->out);
    return s && y && oc_shape_equal(s, y);
}

static bool fusion_rules_residual(const struct link *l)
{
    return !l->g->activated && !l->g->summed && l->other != OC_NONE && !oc_fuse_const(l->f, l->other) &&
           fusion_rules_same_shape(l);
}

static bool one_number(const struct link *l)
{
    return oc_fuse_const(l->f, l->other) && oc_fuse_elements(l->f, l->other) == 1;
}

static bool fusion_rules_is_float(const struct link *l)
{
    return l->g->out != OC_NONE && l->f->a->type[l->g->out].dtype == OC_DT_FLOAT;
}

/* C = A B + c with two-dimensional matrices is a Gemm. */
static bool matrix_bias(const struct link *l)
{
    const struct oc_shape *a = oc_fuse_shape(l->f, oc_fuse_input(l->f, l->g->core, 0));
    const struct oc_shape *b = oc_fuse_shape(l->f, oc_fuse_input(l->f, l->g->core, 1));
    const struct oc_shape *c = oc_fuse_shape(l->f, l->other);
    return a && b && c && a->rank == 2 && b->rank == 2 && c->rank <= 2 && fusion_rules_is_float(l) &&
           oc_fuse_elements(l->f, l->other) <= oc_fuse_elements(l->f, l->g->out);
}

static bool foldable_matrix(const struct link *l)
{
    const struct oc_shape *a = oc_fuse_shape(l->f, oc_fuse_input(l->f, l->g->core, 0));
    return foldable(l) && a && a->rank == 2;
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
    return one_number(l) && fusion_rules_is_float(l);
}

static bool swaps_last_two(const struct link *l)
{
    const struct oc_attr *p = oc_node_attr(&l->f->m->node[l->g->core], "perm");
    if (!p || p->type != OC_ATTR_INTS || p->n < 2 || !fusion_rules_is_float(l))
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
    return n->n_in == 2 && fusion_rules_is_float(l) && oc_fuse_const(l->f, c) &&
           oc_fuse_elements(l->f, c) == 1;
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

#define ORT         (1u << OC_FUSE_ORT_CPU | 1u << OC_FUSE_ORT_EXTENDED)
#define BLOCKED     (1u << OC_FUSE_ORT_CPU)
#define BASIC       (ORT | 1u << OC_FUSE_ORT_BASIC)
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
    {0, BASIC | GEN, "conv+bn", " Conv ", " BatchNormalization ", foldable, NULL, false, false, false},
    {0, BASIC, "conv*scale", " Conv ", " Mul ", conv_scale, NULL, false, false, false},
    {0, BASIC, "conv+bias", " Conv ", " Add ", conv_shift, NULL, false, false, false},
    {0, GEN, "conv+bias", " Conv ConvTranspose ", " Add Mul ", per_channel, NULL, false, false, false},
    {0, GEN, "conv+bn", " ConvTranspose ", " BatchNormalization ", foldable, NULL, false, false, false},
    {0, BASIC, "matmul+bn", " MatMul ", " BatchNormalization ", foldable_matrix, "Gemm", false, false, false},
    {0, BASIC, "matmul+bias", " MatMul ", " Add ", matrix_bias, "Gemm", false, false, false},
    {0, GEN, "matmul+bias", " MatMul Gemm ", " Add ", any_bias, NULL, false, false, false},
    {1, ORT, "bias+gelu", " Add ", " Gelu ", bias_of_gelu, "BiasGelu", true, false, true},
    {1, ORT, "bias+gelu", " Add ", " FastGelu ", bias_of_gelu, "FastGelu", true, false, true},
    {1, BOTH, "x*sigmoid", " Sigmoid ", " Mul ", gates_itself, "QuickGelu", true, false, false},
    {1, ORT, "conv+act", " Conv ", ACTIVATIONS, accepts_activation, "FusedConv", true, false, false},
    {1, BLOCKED, "conv+act", " Conv ", " HardSwish ", accepts_activation, "FusedConv", true, false, false},
    {1, ORT, "conv+act", " Conv ", " Clip ", clip_is_constant, "FusedConv", true, false, false},
    {1, ORT, "gemm+act", " Gemm ", ACTIVATIONS " Elu Selu Softplus Softsign ", accepts_activation,
     "FusedGemm", true, false, false},
    {1, ORT, "matmul*scale", " MatMul FusedMatMul ", " Mul Div ", scaled_product, "FusedMatMul", false, false,
     false},
    {1, ORT, "scale*matmul", " Mul Div ", " MatMul FusedMatMul ", factor_before, "FusedMatMul", false, false,
     true},
    {1, ORT, "transpose+matmul", " Transpose ", " MatMul FusedMatMul ", swaps_last_two, "FusedMatMul", false,
     false, true},
    {1, GEN, "conv+residual", " Conv ", " Add ", fusion_rules_residual, NULL, false, true, false},
    {1, GEN, "gemm+residual", " MatMul Gemm ", " Add ", fusion_rules_residual, NULL, false, true, false},
    {1, GEN, "conv+act", " Conv ConvTranspose ", ACTIVATIONS " HardSwish Elu ", accepts_activation, NULL,
     true, false, false},
    {1, GEN, "conv+act", " Conv ConvTranspose ", " Clip ", clip_is_constant, NULL, true, false, false},
    {1, GEN, "gemm+act", " MatMul Gemm ", ACTIVATIONS " Clip Gelu ", accepts_activation, NULL, true, false,
     false},
    {2, GEN, "pointwise", POINTWISE, POINTWISE, pointwise, NULL, false, false, false},
};

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

static bool fusion_rules_extend(struct oc_fuse *f, uint32_t at, unsigned pass)
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
            !oc_fuse_group_is(g, table[i].from) || !oc_fuse_group_is(&f->group[from], table[i].to) ||
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
            while (fusion_rules_extend(f, i, pass)) {
            }
}
