/* Decomposed operators that runtimes recognise: layer normalisation, GELU with its two approximations. Each
 * is searched from its rarest node. */
#include <string.h>

#include "estimate/fusion_plan.h"

/* Sets of rules */
#define BLOCKED (1u << OC_FUSE_ORT_CPU | 1u << OC_FUSE_ORT_AVX2)
#define ORT     (BLOCKED | 1u << OC_FUSE_ORT_EXTENDED | 1u << OC_FUSE_ORT_NEON)
#define BASIC   (ORT | 1u << OC_FUSE_ORT_BASIC)
#define GEN     (1u << OC_FUSE_GENERIC)
#define BOTH    (ORT | GEN)

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

static unsigned rank_of(const struct oc_fuse *f, uint32_t value)
{
    return value != OC_NONE && f->a->type[value].kind == OC_T_TENSOR ? f->a->type[value].shape.rank : 0;
}

/* Rank of the constant operand. */
static unsigned scale_rank(const struct oc_fuse *f, uint32_t product)
{
    uint32_t a = oc_fuse_input(f, product, 0), b = oc_fuse_input(f, product, 1);
    return rank_of(f, oc_fuse_const(f, a) ? a : b);
}

/* A reduction of the last axis only. */
static bool over_last_axis(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_attr *at = oc_node_attr(n, "axes");
    int64_t axis = 0, rank = rank_of(f, n->in[0]);
    if (at)
        return at->type == OC_ATTR_INTS && at->n == 1 && (at->ints[0] == -1 || at->ints[0] == rank - 1);
    const struct oc_data *d = n->n_in > 1 && n->in[1] != OC_NONE ? f->a->data[n->in[1]] : NULL;
    return d && d->n == 1 && oc_elem_known_int(&d->e[0], &axis) && (axis == -1 || axis == rank - 1);
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
    bool early = f->rules != OC_FUSE_ORT_BASIC || f->m->node[sqrt_node].opset >= 17; /* has the operator */
    if (f->rules == OC_FUSE_GENERIC ||
        (early && over_last_axis(f, mean) &&
         rank_of(f, oc_fuse_input(f, product, 0)) == rank_of(f, oc_fuse_input(f, mean, 0)) &&
         scale_rank(f, product) == 1))
        fusion_rules_take_all(f, &x, end, "layer norm", "LayerNormalization");
}

/* x / sqrt(mean(x^2) + e) * scale, from the Sqrt; or x * (1 / sqrt(..)) */
static void rms_norm(struct oc_fuse *f, uint32_t sqrt_node)
{
    struct found x = {.f = f, .node = {sqrt_node}, .n = 1};
    uint32_t sum = match_producer(&x, oc_fuse_input(f, sqrt_node, 0), " Add ");
    uint32_t mean = sum == OC_NONE ? OC_NONE : match_producer(&x, variable(f, sum), " ReduceMean ");
    uint32_t square = mean == OC_NONE ? OC_NONE : match_producer(&x, oc_fuse_input(f, mean, 0), " Pow ");
    uint32_t quotient = square == OC_NONE ? OC_NONE : match_user(&x, sqrt_node, " Div ");
    uint32_t in = quotient == OC_NONE ? OC_NONE : oc_fuse_input(f, quotient, 0);
    if (in != OC_NONE && oc_fuse_const(f, in)) {
        uint32_t inverse = f->m->node[quotient].out[0];
        quotient = match_user(&x, quotient, " Mul ");
        in = quotient == OC_NONE ? OC_NONE : partner(f, quotient, inverse);
    }
    uint32_t product = match_user(&x, quotient, " Mul ");
    bool casts = in != OC_NONE && f->rules == OC_FUSE_ORT_EXTENDED && f->a->type[in].dtype == OC_DT_FLOAT16;
    if (product != OC_NONE && in == oc_fuse_input(f, square, 0) && variable(f, product) != OC_NONE &&
        !casts && over_last_axis(f, mean) && scale_rank(f, product) == 1)
        fusion_rules_take_all(f, &x, product, "rms norm", "SimplifiedLayerNormalization");
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

/* ONNX Runtime recognises the quotient only. */
#define GELU_SCALE(f) ((f)->rules == OC_FUSE_GENERIC ? " Div Mul " : " Div ")

/* x * (1 + erf(x / sqrt 2)) / 2 */
static void gelu(struct oc_fuse *f, uint32_t erf)
{
    struct found x = {.f = f, .node = {erf}, .n = 1};
    uint32_t scaled = match_producer(&x, oc_fuse_input(f, erf, 0), GELU_SCALE(f)), in = variable(f, scaled);
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
    bool inside = end != OC_NONE && in != OC_NONE && f->m->value[in].producer != OC_NONE &&
                  !f->m->value[f->m->node[end].out[0]].graph_output; /* the runtime requires it */
    if (end != OC_NONE && (inside || f->rules == OC_FUSE_GENERIC) &&
        fusion_rules_take_all(f, &x, end, "fast gelu", "FastGelu")) {
        f->group[f->owner[end]].core = power;
        f->group[f->owner[end]].activated = true;
    }
}

void oc_fuse_patterns(struct oc_fuse *f)
{
    static const struct {
        unsigned rules;
        const char *type;
        void (*find)(struct oc_fuse *f, uint32_t node);
    } pattern[] = {{BASIC | GEN, " Sqrt ", layer_norm},
                   {BOTH, " Sqrt ", rms_norm},
                   {BOTH, " Erf ", gelu},
                   {BOTH, " Tanh ", fast_gelu},
                   {BOTH, " Gather ", oc_fuse_split},
                   {ORT, " Slice ", oc_fuse_split}};
    for (uint32_t i = 0; i < f->m->n_node; i++)
        for (size_t p = 0; p < OC_COUNT(pattern); p++)
            if (pattern[p].rules & 1u << f->rules && f->owner[i] != OC_NONE &&
                oc_fuse_is(f, i, pattern[p].type))
                pattern[p].find(f, i);
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

static bool conv_factor(const struct link *l)
{
    const struct oc_shape *s = oc_fuse_shape(l->f, l->other);
    bool number = oc_fuse_const(l->f, l->other) && s && s->rank == 0;
    return fusion_rules_constant_weights(l) && !l->g->activated && (number || per_channel(l));
}

/* ONNX Runtime folds an Add into an absent or constant bias. */
static bool conv_shift(const struct link *l)
{
    return conv_scale(l) && (!has_bias(l) || oc_fuse_const(l->f, oc_fuse_input(l->f, l->g->core, 2)));
}

static bool fusion_rules_is_float(const struct link *l)
{
    return oc_fuse_is_float(l->f, l->g->out);
}

/* Computed in float. */
static bool is_half(const struct link *l)
{
    return fusion_rules_is_float(l) && l->f->a->type[l->g->out].dtype == OC_DT_FLOAT16;
}

/* Level extended does not fuse what is computed in float between Casts. */
static bool between_casts(const struct link *l)
{
    return is_half(l) && l->f->rules == OC_FUSE_ORT_EXTENDED;
}

static bool accepts_activation(const struct link *l)
{
    return !l->g->activated && in_first_slot(l) && !between_casts(l);
}

/* The value of HardSwish must not leave the graph. */
static bool accepts_hard_swish(const struct link *l)
{
    return !l->f->m->value[l->f->m->node[l->next].out[0]].graph_output && accepts_activation(l);
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

static bool is_bias_shape(const struct oc_shape *c, int64_t rows, int64_t columns)
{
    if (c->rank == 1)
        return c->dim[0].v == columns;
    return c->rank == 2 && (c->dim[0].v == 1 || c->dim[0].v == rows) &&
           (c->dim[1].v == columns || (c->dim[1].v == 1 && c->dim[0].v == rows));
}

/* C = A B + c with two-dimensional matrices is a Gemm. */
static bool matrix_bias(const struct link *l)
{
    const struct oc_shape *a = oc_fuse_shape(l->f, oc_fuse_input(l->f, l->g->core, 0));
    const struct oc_shape *b = oc_fuse_shape(l->f, oc_fuse_input(l->f, l->g->core, 1));
    const struct oc_shape *c = oc_fuse_shape(l->f, l->other);
    return a && b && c && a->rank == 2 && b->rank == 2 && fusion_rules_is_float(l) &&
           is_bias_shape(c, a->dim[0].v, b->dim[1].v);
}

/* Three products read the norm, and a sum with what another sum computes: level basic leaves the products of
 * an attention as they are. Returns that other sum, OC_NONE: not an attention. */
static uint32_t sum_of_attention(const struct oc_fuse *f, uint32_t norm)
{
    const struct oc_graph_index *x = &f->maker.x;
    uint32_t products = 0, others = 0, sum = OC_NONE, v = f->m->node[norm].out[0];
    if (!oc_fuse_has_few_readers(f, v))
        return OC_NONE;
    for (uint32_t i = x->use_first[v]; i < x->use_first[v + 1]; i++) {
        bool add = oc_fuse_is(f, x->use[i], " Add ");
        products += oc_fuse_is(f, x->use[i], " MatMul ");
        others += !oc_fuse_is(f, x->use[i], " MatMul Shape ") && !(add && sum == OC_NONE);
        sum = add ? x->use[i] : sum;
    }
    return products == 3 && !others && sum != OC_NONE ? fusion_rules_producer(f, partner(f, sum, v), " Add ")
                                                      : OC_NONE;
}

static bool in_attention(const struct link *l)
{
    const struct oc_fuse *f = l->f;
    uint32_t norm = fusion_rules_producer(f, oc_fuse_input(f, l->g->core, 0), " LayerNormalization ");
    if (norm != OC_NONE && sum_of_attention(f, norm) != OC_NONE)
        return true;
    uint32_t sum = oc_fuse_user(f, f->m->node[l->next].out[0]);
    for (uint32_t i = 0; i < 2 && sum != OC_NONE && oc_fuse_is(f, sum, " Add "); i++) {
        norm = fusion_rules_producer(f, oc_fuse_input(f, sum, i), " LayerNormalization ");
        if (norm != OC_NONE && sum_of_attention(f, norm) == l->next)
            return true;
    }
    return false;
}

/* With A of one dimension or more than two, all declared: a Gemm between two Reshapes. */
static bool rows_bias(const struct link *l)
{
    const struct oc_fuse *f = l->f;
    uint32_t x = oc_fuse_input(f, l->g->core, 0);
    const struct oc_shape *a = oc_fuse_shape(f, x), *b = oc_fuse_shape(f, oc_fuse_input(f, l->g->core, 1));
    const struct oc_shape *c = oc_fuse_shape(f, l->other);
    return oc_fuse_has_numbers(f, x) && a && b && c && a->rank >= 1 && a->rank != 2 && b->rank == 2 &&
           c->rank == 1 && c->dim[0].v == b->dim[1].v && fusion_rules_is_float(l) &&
           !(f->rules == OC_FUSE_ORT_BASIC && in_attention(l));
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
    return (l->other == x || scaled) && !is_half(l);
}

static bool scaled_product(const struct link *l)
{
    return one_number(l) && fusion_rules_is_float(l) && !between_casts(l);
}

static bool constant_shape(const struct link *l)
{
    return l->f->static_shapes && oc_fuse_const(l->f, oc_fuse_input(l->f, l->next, 1)) &&
           !oc_fuse_takes_zeros(l->f, l->g->core) && !oc_fuse_takes_zeros(l->f, l->next);
}

/* Clipping below includes the Relu. */
static bool clips_below(const struct link *l)
{
    uint32_t least = oc_fuse_input(l->f, l->next, 1);
    return in_first_slot(l) && (least == OC_NONE || oc_fuse_const(l->f, least));
}

/* Before operator set 11 the padding and its value are attributes. */
static bool pads_with_zero(const struct oc_fuse *f, const struct oc_node *n)
{
    const struct oc_attr *pads = oc_node_attr(n, "pads"), *value = oc_node_attr(n, "value");
    double zero;
    if (n->n_in == 1)
        return pads && (!value || (value->type == OC_ATTR_FLOAT && value->f == 0));
    return oc_fuse_const(f, n->in[1]) &&
           (n->n_in == 2 || (n->n_in == 3 && oc_fuse_number(f, n->in[2], &zero) && zero == 0));
}

/* Zeros around the last two dimensions. */
static bool pads_window(const struct link *l)
{
    const struct oc_node *n = &l->f->m->node[l->g->core];
    const struct oc_attr *mode = oc_node_attr(n, "mode");
    return (!mode || (mode->type == OC_ATTR_STRING && !strcmp(mode->s.s, "constant"))) &&
           pads_with_zero(l->f, n);
}

/* x * Sigmoid(c x) with a number c */
static bool scales_gate(const struct link *l)
{
    const struct oc_fuse *f = l->f;
    const struct link gate = {.f = f, .g = l->g, .next = l->next, .other = oc_fuse_input(f, l->g->core, 1)};
    uint32_t product = oc_fuse_user(f, f->m->node[l->next].out[0]), x = oc_fuse_input(f, l->g->core, 0);
    return one_number(&gate) && product != OC_NONE && oc_fuse_is(f, product, " Mul ") &&
           (oc_fuse_input(f, product, 0) == x || oc_fuse_input(f, product, 1) == x);
}

/* The sum of two tensors of the same shape with three dimensions. */
static bool skips(const struct link *l)
{
    uint32_t a = oc_fuse_input(l->f, l->g->core, 0), b = oc_fuse_input(l->f, l->g->core, 1);
    const struct oc_shape *s = oc_fuse_shape(l->f, a), *t = oc_fuse_shape(l->f, b);
    return s && t && s->rank == 3 && oc_shape_equal(s, t) && !oc_fuse_const(l->f, a) &&
           !oc_fuse_const(l->f, b) && oc_fuse_same_size(l->f, a, b, 0) && oc_fuse_same_size(l->f, a, b, 1) &&
           in_first_slot(l);
}

static bool bias_of_skip(const struct link *l)
{
    const struct link add = {
        .f = l->f, .g = l->g, .next = l->g->core, .other = oc_fuse_input(l->f, l->g->core, 1)};
    return any_bias(&add) && !l->g->rule;
}

/* Of the chain of Transposes that is the producer. */
static bool permutation_of(const struct link *l, int64_t *perm, unsigned *n)
{
    oc_fuse_moved(l->f, oc_fuse_input(l->f, l->g->node[0], 0), perm, n);
    for (uint32_t i = 0; i < l->g->n_node; i++)
        if (!oc_fuse_permute(l->f, l->g->node[i], perm, n))
            return false;
    return true;
}

/* ONNX Runtime does not look at Transposes without the attribute. */
static bool merges_transposes(const struct link *l)
{
    int64_t perm[OC_FUSE_RANK];
    unsigned n;
    return oc_node_attr(&l->f->m->node[l->g->core], "perm") &&
           oc_node_attr(&l->f->m->node[l->next], "perm") && permutation_of(l, perm, &n) &&
           oc_fuse_permute(l->f, l->next, perm, &n);
}

/* 1 / x, to be multiplied with y: y / x */
static bool inverts(const struct link *l)
{
    double v;
    return !l->g->rule && oc_fuse_number(l->f, oc_fuse_input(l->f, l->g->core, 0), &v) && v == 1 &&
           l->other != OC_NONE;
}

/* When the model is loaded: before operator set 13, sizes are not followed through operators. */
static bool rank_is_known(const struct link *l)
{
    const struct oc_fuse *f = l->f;
    uint32_t reshape = fusion_rules_producer(f, oc_fuse_input(f, l->g->core, 0), " Reshape ");
    return f->static_shapes || reshape == OC_NONE || f->m->node[reshape].opset >= 13 ||
           f->constant_shape[reshape] || oc_fuse_const(f, oc_fuse_input(f, reshape, 1));
}

/* Swaps the last two dimensions, moves the first one to the end or before the last one. */
static bool transposes_matrix(const struct link *l)
{
    int64_t p[OC_FUSE_RANK];
    unsigned n;
    if (!fusion_rules_is_float(l) || between_casts(l) || !permutation_of(l, p, &n) || n < 2)
        return false;
    int64_t last = n - 1, batch = p[0] == 0 || n == 2 ? 0 : 1;
    for (unsigned i = 0; i + 2 < n; i++)
        if (p[i] != i + batch)
            return false;
    if (!batch)
        return p[last - 1] == last && p[last] == last - 1;
    return ((p[last - 1] == 0 && p[last] == last) || (p[last - 1] == last && p[last] == 0)) &&
           rank_is_known(l) && rank_of(l->f, l->other) == n;
}

static bool factor_before(const struct link *l)
{
    const struct oc_node *n = &l->f->m->node[l->g->core];
    uint32_t c = oc_fuse_input(l->f, l->g->core, 1);
    return n->n_in == 2 && fusion_rules_is_float(l) && !between_casts(l) && oc_fuse_const(l->f, c) &&
           oc_fuse_elements(l->f, c) == 1;
}

static bool bias_of_gelu(const struct link *l)
{
    const struct oc_fuse *f = l->f;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t b = oc_fuse_input(f, l->g->core, i);
        const struct oc_shape *s = oc_fuse_shape(f, b);
        if (b != OC_NONE && (oc_fuse_const(f, b) || f->m->value[b].constant) && s && s->rank == 1)
            return true;
    }
    return false;
}

static bool bias_of_tanh_gelu(const struct link *l)
{
    const struct oc_attr *a = oc_node_attr(&l->f->m->node[l->next], "approximate");
    return a && a->type == OC_ATTR_STRING && !strcmp(a->s.s, "tanh") && bias_of_gelu(l);
}

static bool pointwise(const struct link *l)
{
    return oc_fuse_elements(l->f, l->g->out) > 0 &&
           oc_fuse_elements(l->f, l->f->m->node[l->next].out[0]) == oc_fuse_elements(l->f, l->g->out);
}

#define ACTIVATIONS " Relu Sigmoid Tanh LeakyRelu HardSigmoid "
#define POINTWISE                                                                                            \
    " Relu Sigmoid Tanh LeakyRelu Clip HardSigmoid HardSwish Elu Gelu Erf Exp Neg Abs Sqrt Add Mul Sub Div " \
    "Pow "                                                                                                   \
    "Cast "

enum {
    ACTIVATES = 1, /* it has an activation afterwards: nothing more is fused */
    SUMS = 2,      /* it has a residual */
    CORE = 4,      /* the fused node becomes the main node */
    VIEWS = 8      /* between two Reshapes */
};

/* The first matching row applies; rows of one pass are tried along a chain until none matches. becomes NULL:
 * the type is unchanged. */
static const struct {
    unsigned pass, rules;
    const char *rule, *from, *to; /* from: type of the group */
    bool (*fits)(const struct link *l);
    const char *becomes;
    unsigned flags;
} table[] = {
    {0, BASIC | GEN, "conv+bn", " Conv ", " BatchNormalization ", foldable, NULL, 0},
    {0, BASIC, "conv*scale", " Conv ", " Mul ", conv_factor, NULL, 0},
    {0, BASIC, "conv+bias", " Conv ", " Add ", conv_shift, NULL, 0},
    {0, GEN, "conv+bias", " Conv ConvTranspose ", " Add Mul ", per_channel, NULL, 0},
    {0, GEN, "conv+bn", " ConvTranspose ", " BatchNormalization ", foldable, NULL, 0},
    {0, BASIC, "pad+window", " Pad ", " Conv ", pads_window, "Conv", CORE},
    {0, BASIC, "pad+window", " Pad ", " MaxPool ", pads_window, "MaxPool", CORE},
    {0, BASIC, "pad+window", " Pad ", " AveragePool ", pads_window, "AveragePool", CORE},
    {0, BASIC, "relu+clip", " Relu ", " Clip ", clips_below, "Clip", CORE},
    {0, BASIC, "transpose+gemm", " Transpose ", " Gemm ", transposes_matrix, "Gemm", CORE},
    {0, BASIC, "not+where", " Not ", " Where ", in_first_slot, "Where", CORE},
    {0, BASIC, "transposes", " Transpose ", " Transpose ", merges_transposes, NULL, 0},
    {0, BASIC, "quotient", " Div ", " Mul ", inverts, NULL, 0},
    {0, BASIC, "reshapes", " Reshape ", " Reshape Unsqueeze ", constant_shape, NULL, 0},
    {0, BASIC, "matmul+bias", " MatMul ", " Add ", rows_bias, "Gemm", ACTIVATES | VIEWS},
    {0, BASIC, "matmul+bn", " MatMul ", " BatchNormalization ", foldable_matrix, "Gemm", 0},
    {0, BASIC, "matmul+bias", " MatMul ", " Add ", matrix_bias, "Gemm", 0},
    {0, GEN, "matmul+bias", " MatMul Gemm ", " Add ", any_bias, NULL, 0},
    {1, ORT, "bias+gelu", " Add ", " Gelu ", bias_of_tanh_gelu, "FastGelu", ACTIVATES | CORE},
    {1, ORT, "bias+gelu", " Add ", " Gelu ", bias_of_gelu, "BiasGelu", ACTIVATES | CORE},
    {1, ORT, "bias+gelu", " Add ", " FastGelu ", bias_of_gelu, "FastGelu", ACTIVATES | CORE},
    {1, ORT, "skip+norm", " Add ", " LayerNormalization ", skips, "SkipLayerNormalization", ACTIVATES},
    {1, BOTH, "x*sigmoid", " Mul ", " Sigmoid ", scales_gate, "Sigmoid", 0},
    {1, BOTH, "x*sigmoid", " Sigmoid ", " Mul ", gates_itself, "QuickGelu", ACTIVATES},
    {1, ORT, "conv+act", " Conv ", ACTIVATIONS, accepts_activation, "FusedConv", ACTIVATES},
    {1, BLOCKED, "conv+act", " Conv ", " HardSwish ", accepts_hard_swish, "FusedConv", ACTIVATES},
    {1, ORT, "conv+act", " Conv ", " Clip ", clip_is_constant, "FusedConv", ACTIVATES},
    {1, ORT, "gemm+act", " Gemm ", ACTIVATIONS " Elu Selu Softplus Softsign ", accepts_activation,
     "FusedGemm", ACTIVATES},
    {1, ORT, "matmul*scale", " MatMul FusedMatMul ", " Mul Div ", scaled_product, "FusedMatMul", 0},
    {1, ORT, "scale*matmul", " Mul Div ", " MatMul FusedMatMul ", factor_before, "FusedMatMul", CORE},
    {1, ORT, "transpose+matmul", " Transpose ", " MatMul FusedMatMul ", transposes_matrix, "FusedMatMul",
     CORE},
    {1, GEN, "conv+residual", " Conv ", " Add ", fusion_rules_residual, NULL, SUMS},
    {1, GEN, "gemm+residual", " MatMul Gemm ", " Add ", fusion_rules_residual, NULL, SUMS},
    {1, GEN, "conv+act", " Conv ConvTranspose ", ACTIVATIONS " HardSwish Elu ", accepts_activation, NULL,
     ACTIVATES},
    {1, GEN, "conv+act", " Conv ConvTranspose ", " Clip ", clip_is_constant, NULL, ACTIVATES},
    {1, GEN, "gemm+act", " MatMul Gemm ", ACTIVATIONS " Clip Gelu ", accepts_activation, NULL, ACTIVATES},
    {2, ORT, "skip+norm", " Add ", " SkipLayerNormalization ", bias_of_skip, "SkipLayerNormalization",
     ACTIVATES},
    {2, GEN, "pointwise", POINTWISE, POINTWISE, pointwise, NULL, 0},
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
        g->activated |= (table[i].flags & ACTIVATES) != 0;
        g->summed |= (table[i].flags & SUMS) != 0;
        g->core = table[i].flags & CORE ? core : g->core;
        g->views |= (table[i].flags & VIEWS) != 0;
        if (table[i].flags & VIEWS)
            oc_fuse_insert_views(f, g);
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
