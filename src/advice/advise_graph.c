/* Changes of the graph: kernels that could be fused, dynamic dimensions.
 *
 * Fusion: groups that the rules of the runtime, or of every optimizing runtime, fuse (estimate/fusion_plan.h), and
 * chains of element-wise operators. A recorded kernel that is alone where such a group could be is the evidence;
 * without a profile only the groups are reported. */
#include <stdlib.h>
#include <string.h>

#include "advice/advisor.h"
#include "base/units.h"
#include "estimate/fusion_plan.h"

/* ---- groups of a plan ------------------------------------------------------------------------------- */

enum what { FOLDED, ACTIVATED, PATTERN, WHAT_COUNT };

enum { MAX_STEPS = 8 }; /* from a node back to the core */

static const struct {
    const char *id, *title, *found, *todo, *model_only, *of_one; /* of_one: model_only of 1 operator */
} kinds[WHAT_COUNT] = {
    [FOLDED] = {"conv-norm", "Normalizations and scales unfused after a convolution or product",
                "could be multiplied into the weights before them",
                "let the runtime optimize (ONNX Runtime: graph_optimization_level from basic on), or export "
                "the model for inference (model.eval(), do_constant_folding=True)",
                "fold into the weights of the operator before them",
                "folds into the weights of the operator before it"},
    [ACTIVATED] = {"conv-activation", "Activations and residuals unfused after a convolution or product",
                   "could be computed at the end of the operator before them",
                   "let the runtime fuse (ONNX Runtime: graph_optimization_level extended or all; TensorRT "
                   "and OpenVINO do so by themselves)",
                   "can be computed at the end of the operator before them",
                   "can be computed at the end of the operator before it"},
    [PATTERN] = {"fused-pattern", "Subgraphs for which runtimes have one kernel",
                 "could be part of one operator (LayerNormalization, Gelu, attention ...)",
                 "let the runtime fuse (ONNX Runtime: graph_optimization_level extended or all, or "
                 "onnxruntime.transformers.optimizer), or export with an opset that has the operator",
                 "are parts of one operator (LayerNormalization, Gelu ...)",
                 "is part of one operator (LayerNormalization, Gelu ...)"},
};

static bool computes(const struct oc_advisor *x, const struct oc_piece *p)
{
    for (uint32_t i = 0; i < p->n_node; i++)
        if (x->a->cost[p->node[i]].macs)
            return true;
    return false;
}

static bool constant_weights(const struct oc_advisor *x, const struct oc_piece *core)
{
    for (uint32_t i = 0; i < core->n_node; i++) {
        const struct oc_node *n = &x->m->node[core->node[i]];
        if (x->a->cost[core->node[i]].macs && n->n_in > 1 && n->in[1] != OC_NONE && x->a->is_const[n->in[1]])
            return true;
    }
    return false;
}

struct group {
    const uint32_t *node; /* that a runtime computes in one kernel */
    uint32_t n_node;
    uint32_t piece[OC_FUSE_MAX];
    uint32_t n, core;
};

static bool is_one_of(const uint32_t *list, uint32_t n, uint32_t node)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == node)
            return true;
    return false;
}

static bool within(const struct oc_piece *p, const struct group *g)
{
    for (uint32_t i = 0; i < p->n_node; i++)
        if (!is_one_of(g->node, g->n_node, p->node[i]))
            return false;
    return p->n_node > 0;
}

/* The pieces that consist of nodes of a planned kernel only; false: fewer than two, or others. */
static bool find_group_pieces(const struct oc_advisor *x, struct group *g)
{
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t piece = x->piece_of[g->node[i]];
        bool known = piece == OC_NONE;
        for (uint32_t j = 0; j < g->n; j++)
            known = known || g->piece[j] == piece;
        if (known)
            continue;
        const struct oc_piece *p = &x->piece[piece];
        if (g->n == OC_FUSE_MAX || p->bucket || !within(p, g) || (x->p && !oc_piece_timed(p)) ||
            (!x->p && !oc_advisor_runs(x, g->node[i])))
            return false;
        g->piece[g->n++] = piece;
    }
    g->core = 0;
    for (uint32_t i = 1; i < g->n; i++) {
        const struct oc_piece *a = &x->piece[g->piece[g->core]], *b = &x->piece[g->piece[i]];
        if (computes(x, b) != computes(x, a) ? computes(x, b) : b->computation > a->computation)
            g->core = i;
    }
    return g->n > 1;
}

/* ---- what a group does with a node ------------------------------------------------------------------- */

/* One number, or one for each index of an axis. */
static bool is_along_one_axis(const struct oc_advisor *x, uint32_t value)
{
    const struct oc_shape *s = &x->a->type[value].shape;
    unsigned wide = 0;
    for (unsigned i = 0; s->ranked && i < s->rank; i++)
        wide += !oc_is(s->dim[i], 1);
    return s->ranked && wide <= 1;
}

/* Input of a node that adds or multiplies constants; OC_NONE: the node does something else. */
static uint32_t scaled_input(const struct oc_advisor *x, const struct oc_node *n)
{
    uint32_t input = OC_NONE;
    if (!oc_type_in(n->op_type, " BatchNormalization Mul Add Sub Div "))
        return OC_NONE;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        bool constant = v != OC_NONE && x->a->is_const[v];
        if (constant && (!is_along_one_axis(x, v) || (i == 0 && oc_type_in(n->op_type, " Div "))))
            return OC_NONE;
        if (!constant && input != OC_NONE)
            return OC_NONE;
        input = constant ? input : v;
    }
    return n->n_in > 1 ? input : OC_NONE;
}

/* Only such nodes lie between it and the core, and nothing else reads their results. */
static bool folds(const struct oc_advisor *x, const struct group *g, uint32_t node)
{
    const struct oc_piece *core = &x->piece[g->piece[g->core]];
    for (uint32_t steps = 0; steps < g->n_node; steps++) {
        uint32_t v = scaled_input(x, &x->m->node[node]),
                 maker = v == OC_NONE ? OC_NONE : x->m->value[v].producer;
        if (maker == OC_NONE || x->user[v] != node)
            return false;
        if (is_one_of(core->node, core->n_node, maker))
            return true;
        if (!is_one_of(g->node, g->n_node, maker))
            return false;
        node = maker;
    }
    return false;
}

/* Times that nodes of the kernel read a value. */
static unsigned readers(const struct oc_advisor *x, const struct group *g, uint32_t value)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *node = &x->m->node[g->node[i]];
        for (uint32_t j = 0; j < node->n_in; j++)
            n += node->in[j] == value;
    }
    return n;
}

/* A result between the core and the node is read twice: x * erf(x / sqrt(2)), x * sigmoid(x). */
static bool is_after_branch(const struct oc_advisor *x, const struct group *g, uint32_t node, unsigned depth)
{
    const struct oc_node *n = &x->m->node[node];
    for (uint32_t i = 0; i < n->n_in && depth; i++) {
        uint32_t v = n->in[i], maker = v == OC_NONE ? OC_NONE : x->m->value[v].producer;
        if (maker == OC_NONE || !is_one_of(g->node, g->n_node, maker))
            continue;
        if (readers(x, g, v) > 1 || is_after_branch(x, g, maker, depth - 1))
            return true;
    }
    return false;
}

/* Arithmetic with constants on one of the branches: a function that is written as several operators. */
static bool has_subgraph(const struct oc_advisor *x, const struct group *g)
{
    for (uint32_t i = 0; i < g->n_node; i++)
        if (scaled_input(x, &x->m->node[g->node[i]]) != OC_NONE &&
            is_after_branch(x, g, g->node[i], MAX_STEPS))
            return true;
    return false;
}

/* Whether and how it is fused into the core. */
static enum what fusion_kind_of(const struct oc_advisor *x, const struct group *g, const struct oc_piece *p)
{
    const struct oc_piece *core = &x->piece[g->piece[g->core]];
    bool folded = constant_weights(x, core), branch = false;
    if (!computes(x, core))
        return PATTERN;
    for (uint32_t i = 0; i < p->n_node; i++) {
        folded = folded && folds(x, g, p->node[i]);
        branch = branch || is_after_branch(x, g, p->node[i], MAX_STEPS);
    }
    return folded ? FOLDED : branch && has_subgraph(x, g) ? PATTERN : ACTIVATED;
}

/* Fusing saves the write and read of the core's result; a second operand must still be read. */
static double saved_share(const struct oc_advisor *x, const struct oc_piece *p)
{
    double largest = 0, still = 0;
    if (p->n_node != 1 || !(p->bytes > 0))
        return 0;
    const struct oc_node *n = &x->m->node[p->node[0]];
    for (uint32_t i = 0; i < n->n_in; i++) {
        double bytes = n->in[i] == OC_NONE ? 0 : oc_advisor_value_bytes(x, n->in[i]);
        largest = bytes > largest ? bytes : largest;
        still += bytes > 0 ? bytes : 0;
    }
    still -= largest;
    return still < p->bytes ? 1 - still / p->bytes : 0;
}

static enum oc_fusion_rules rules_of(const struct oc_advisor *x)
{
    if (!x->p)
        return OC_FUSE_GENERIC;
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        if (*x->p->rec[i].provider && strncmp(x->p->rec[i].provider, "CPU", 3))
            return OC_FUSE_GENERIC;
    return strcmp(x->p->format, "onnxruntime") ? OC_FUSE_GENERIC : OC_FUSE_ORT_CPU;
}

struct sums {
    struct oc_advisor *x;
    struct oc_advice_item *f[WHAT_COUNT];
    double low[WHAT_COUNT], high[WHAT_COUNT], bytes[WHAT_COUNT];
};

static void add_group(struct oc_advisor *x, const struct group *g, const char *rule, struct sums *s)
{
    struct oc_piece *core = &x->piece[g->piece[g->core]];
    if (!computes(x, core) && (!rule || !strcmp(rule, "pointwise"))) /* a chain, see below */
        return;
    for (uint32_t i = 0; i < g->n; i++) {
        struct oc_piece *p = &x->piece[g->piece[i]];
        if (i == g->core || p->told)
            continue;
        enum what w = fusion_kind_of(x, g, p);
        double share = w == FOLDED ? 1 : saved_share(x, p);
        p->told = true;
        oc_advice_prove(s->f[w], p, p->time_ns, oc_printf(x->arena, "after %s (%s)", core->name, core->type));
        s->low[w] += share * p->time_ns;
        s->high[w] += p->time_ns;
        if (p->bytes > 0)
            s->bytes[w] += share * p->bytes;
    }
}

/* Whether it can be fused at all. */
static bool fuses(const struct oc_advisor *x)
{
    for (uint32_t i = 0; i < x->n_piece; i++)
        if (!x->piece[i].bucket && x->piece[i].n_node > 1 && oc_piece_timed(&x->piece[i]))
            return true;
    return false;
}

static void report_group(struct oc_advisor *x, enum what w, struct sums *s)
{
    struct oc_advice_item *f = s->f[w];
    uint32_t n = f->n_proof;
    f->saved_bytes = s->bytes[w];
    if (x->p) {
        f->low_ns = s->low[w];
        f->high_ns = s->high[w];
        f->basis =
            w == FOLDED
                ? "the time of these kernels: weights are multiplied once, when the model is loaded"
                : "the time of these kernels: at least the share of the bytes saved, at most all of it";
        f->found = oc_printf(x->arena, "%u kernel%s %s: %s", n, oc_plural(n), kinds[w].found,
                             oc_advice_time(x, s->high[w]));
        f->todo = kinds[w].todo;
        if (fuses(x))
            f->todo = "the runtime fuses others in this profile but not these: look for a difference (a "
                      "result that is read twice, types, sizes), or fuse them in the model";
    } else {
        f->basis = "reads and writes of intermediate results";
        f->found = oc_printf(x->arena, "%u operator%s %s, and %s %s", n, oc_plural(n),
                             n == 1 ? kinds[w].of_one : kinds[w].model_only, n == 1 ? "moves" : "move",
                             oc_advice_bytes(x, s->bytes[w]));
        f->todo =
            w == PATTERN
                ? "runtimes that optimize do so when they load the model; a profile shows whether yours does"
                : "nothing, if the runtime optimizes (ONNX Runtime does by default, TensorRT and OpenVINO "
                  "always): it does so when it loads the model; a profile shows it";
    }
    oc_advice_keep(x, f);
}

static void see_fused(void *ctx, const uint32_t *node, uint32_t n_node, const char *rule)
{
    struct sums *s = ctx;
    struct group g = {.node = node, .n_node = n_node};
    if (n_node <= OC_FUSE_MAX && find_group_pieces(s->x, &g))
        add_group(s->x, &g, rule, s);
}

void oc_advise_fusion(struct oc_advisor *x)
{
    struct oc_arena plan = {0};
    struct sums s = {.x = x};
    if (x->p && !x->j)
        return;
    for (unsigned w = 0; w < WHAT_COUNT; w++)
        s.f[w] = oc_advice_new(x, kinds[w].id, kinds[w].title);
    oc_fusion_groups(x->m, x->a, rules_of(x), &plan, see_fused, &s);
    oc_arena_free(&plan);
    for (unsigned w = 0; w < WHAT_COUNT; w++)
        report_group(x, (enum what)w, &s);
}

/* ---- chains of element-wise operators --------------------------------------------------------------- */

/* Element-wise work that no other rule has reported. */
static bool is_link(const struct oc_advisor *x, const struct oc_piece *p)
{
    if (p->told || p->bucket || !p->n_node || !(p->bytes > 0) || (x->p && !oc_piece_timed(p)))
        return false;
    for (uint32_t i = 0; i < p->n_node; i++) {
        const struct oc_node_cost *k = &x->a->cost[p->node[i]];
        if (k->op_class != OC_OP_ELEMENTWISE || k->quality == OC_UNKNOWN || !oc_advisor_runs(x, p->node[i]))
            return false;
    }
    return true;
}

struct chains {
    uint32_t *root;  /* by piece */
    double *between; /* by piece: bytes that it does not read or write if its links are fused */
};

static uint32_t root_of(struct chains *c, uint32_t i)
{
    while (c->root[i] != i)
        i = c->root[i] = c->root[c->root[i]];
    return i;
}

/* Results read by exactly one other link of the same size. */
static void find_links(struct oc_advisor *x, struct chains *c)
{
    for (uint32_t i = 0; i < x->n_piece; i++) {
        const struct oc_piece *p = &x->piece[i];
        uint32_t n_node = is_link(x, p) ? p->n_node : 0;
        for (uint32_t k = 0; k < n_node; k++) {
            const struct oc_node *n = &x->m->node[p->node[k]];
            uint32_t v = n->n_out == 1 ? n->out[0] : OC_NONE, user = v == OC_NONE ? OC_NONE : x->user[v];
            uint32_t next = user == OC_NONE ? OC_NONE : x->piece_of[user];
            if (next == OC_NONE || next == i || !is_link(x, &x->piece[next]))
                continue;
            double bytes = oc_advisor_value_bytes(x, v);
            uint32_t out = x->m->node[user].n_out == 1 ? x->m->node[user].out[0] : OC_NONE;
            if (out == OC_NONE || !(bytes > 0) || x->a->cost[p->node[k]].trips != x->a->cost[user].trips)
                continue;
            uint64_t made, read;
            if (!oc_type_elements(&x->a->type[v], &read) || !oc_type_elements(&x->a->type[out], &made) ||
                made != read)
                continue;
            c->root[root_of(c, i)] = root_of(c, next);
            c->between[i] += bytes * (double)x->a->cost[user].trips;
            c->between[next] += bytes * (double)x->a->cost[user].trips;
        }
    }
}

struct chain {
    double time, longest, between, bound; /* bound: part of the roofline time that fusing saves */
    uint32_t n;
};

/* Roofline time of these bytes of a kernel: that of the memory that serves them, as far as it is the limit. */
static double roofline_of_bytes(const struct oc_advisor *x, const struct oc_piece *p, double bytes)
{
    const struct oc_row_limits *l = p->row->limits;
    if (!l || !(l->mem_s > 0) || !(bytes > 0) || !(p->bytes > 0))
        return 0;
    double rest = l->mem_s * (1 - fmin(bytes / p->bytes, 1));
    return oc_of_one_run(&x->r->m, fmax(l->mem_s - fmax(rest, l->comp_s), 0)) * 1e9;
}

void oc_advise_chains(struct oc_advisor *x)
{
    struct chains c = {OC_NEW_ARRAY(&x->scratch, (size_t)x->n_piece + 1, uint32_t),
                       OC_NEW_ARRAY(&x->scratch, (size_t)x->n_piece + 1, double)};
    struct chain *chain = OC_NEW_ARRAY(&x->scratch, (size_t)x->n_piece + 1, struct chain);
    struct oc_advice_item *f = oc_advice_new(x, "elementwise-chain", "Chains of element-wise operators");
    double between = 0, low = 0, high = 0, time = 0;
    uint32_t n = 0, members = 0;
    if (x->p && !x->j)
        return;
    for (uint32_t i = 0; i < x->n_piece; i++)
        c.root[i] = i;
    find_links(x, &c);
    for (uint32_t i = 0; i < x->n_piece; i++) {
        const struct oc_piece *p = &x->piece[i];
        struct chain *k = &chain[root_of(&c, i)];
        k->n++;
        k->between += c.between[i];
        k->bound += roofline_of_bytes(x, p, c.between[i]);
        k->time += p->time_ns;
        k->longest = p->time_ns > k->longest ? p->time_ns : k->longest;
    }
    for (uint32_t i = 0; i < x->n_piece; i++) {
        const struct oc_piece *p = &x->piece[i];
        const struct chain *k = &chain[root_of(&c, i)];
        if (k->n < 2)
            continue;
        oc_advice_prove(f, p, p->time_ns,
                        oc_printf(x->arena, "one of %u that end at %s", k->n, x->piece[root_of(&c, i)].name));
        members++;
        if (root_of(&c, i) != i)
            continue;
        n++;
        between += k->between;
        time += k->time;
        low += x->p ? fmin(k->bound, k->time - k->longest) : k->bound;
        high += k->time - k->longest;
    }
    f->saved_bytes = between;
    f->low_ns = x->p || low > 0 ? low : (double)NAN;
    f->high_ns = x->p ? high : (double)NAN;
    f->basis =
        x->p ? low > 0 ? "at least the roofline time of the bytes between the kernels, at most the time of "
                         "each chain less its longest kernel"
                       : "at most the time of each chain less its longest kernel"
        : low > 0 ? "roofline time of the bytes between them"
                  : "reads and writes of intermediate results";
    f->found = oc_printf(x->arena, "%u element-wise operators in %u chain%s pass %s to each other%s%s",
                         members, n, n == 1 ? "" : "s", oc_advice_bytes(x, between), x->p ? " and take " : "",
                         x->p ? oc_advice_time(x, time) : "");
    f->todo = "a runtime that compiles fuses each chain (TensorRT, OpenVINO, torch.compile, XLA, TVM); ONNX "
              "Runtime's CPU and CUDA providers do so for some patterns only (Gelu, QuickGelu, bias and "
              "activation)";
    oc_advice_keep(x, f);
}

/* ---- dynamic dimensions: shapes that every run computes although they never change --------------- */

/* Numbers, or expressions in the dimensions of inputs. */
static bool all_known(const struct oc_data *d)
{
    for (uint32_t i = 0; d && i < d->n; i++)
        if (d->e[i].kind == OC_E_UNKNOWN ||
            (d->e[i].kind == OC_E_INT && !oc_is_known(d->e[i].i) && !d->e[i].i.expr))
            return false;
    return d != NULL;
}

/* By value: whether it depends on an input of the model, at least on its shape. */
static bool *from_inputs(struct oc_advisor *x)
{
    const struct oc_model *m = x->m;
    bool *from = OC_NEW_ARRAY(&x->scratch, (size_t)m->n_value + 1, bool);
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        from[m->graph[0].input[i]] = !m->value[m->graph[0].input[i]].constant;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = 0; i < m->graph[g].n_node; i++) {
            const struct oc_node *n = &m->node[m->graph[g].node[i]];
            bool any = false;
            for (uint32_t k = 0; k < n->n_in; k++)
                any = any || (n->in[k] != OC_NONE && from[n->in[k]]);
            for (uint32_t k = 0; k < n->n_out; k++)
                if (n->out[k] != OC_NONE)
                    from[n->out[k]] = any;
        }
    return from;
}

/* Whether the value is constant only because the analysis fixes the dimensions of inputs, which the
 * runtime does not. */
static bool follows_from_sizes(const struct oc_advisor *x, const bool *from, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    bool any = false;
    for (uint32_t k = 0; k < n->n_out; k++) {
        if (n->out[k] == OC_NONE)
            continue;
        if (!from[n->out[k]] || !all_known(x->a->data[n->out[k]]))
            return false;
        any = true;
    }
    return any;
}

enum { NAMED = 5 }; /* maximum number of named dynamic dimensions */

/* "batch, x.2, ...": the dynamic dimensions of the inputs. NULL: none. */
static const char *open_dimensions(struct oc_advisor *x)
{
    const struct oc_graph *g = &x->m->graph[0];
    const char *text = NULL, *told[NAMED];
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_input && n <= NAMED; i++) {
        const struct oc_value *v = &x->m->value[g->input[i]];
        for (unsigned k = 0; !v->constant && v->declared->shape.ranked && k < v->declared->shape.rank; k++) {
            struct oc_dim d = v->declared->shape.dim[k];
            if ((!d.expr && d.v >= 0) || n > NAMED)
                continue;
            const char *one = d.expr ? x->m->symbol[d.expr - 1] : oc_printf(x->arena, "%s.%u", v->name, k);
            bool again = false;
            for (uint32_t t = 0; t < n; t++)
                again = again || !strcmp(told[t], one);
            if (again)
                continue;
            if (n < NAMED)
                told[n] = one;
            else
                one = "...";
            text = text ? oc_printf(x->arena, "%s, %s", text, one) : one;
            n++;
        }
    }
    return text;
}

static bool is_shape_work(const struct oc_advisor *x, const bool *from, const struct oc_piece *p)
{
    bool all = p->n_node > 0 && !p->bucket && oc_piece_timed(p);
    for (uint32_t k = 0; all && k < p->n_node; k++)
        all = follows_from_sizes(x, from, p->node[k]);
    return all;
}

/* What a shape computation takes, ns: ONNX Runtime on a CPU without profiling, of which a recording of so short an operator
 * mainly consists. Three networks with 7, 21 and 78 of them were 0.63, 0.75 and 0.56 us for each faster with fixed sizes. */
#define SHAPE_WORK_LEAST_NS 300
#define SHAPE_WORK_MOST_NS  800

static void set_shape_gain(struct oc_advisor *x, struct oc_advice_item *f, double sum)
{
    bool short_ones = x->p && !strcmp(x->p->format, "onnxruntime") && !strcmp(x->p->device, "CPU");
    f->low_ns = short_ones ? fmin(sum, SHAPE_WORK_LEAST_NS * (double)f->n_proof) : x->p ? sum : (double)NAN;
    f->high_ns = short_ones ? fmin(sum, SHAPE_WORK_MOST_NS * (double)f->n_proof) : f->low_ns;
    f->basis =
        short_ones
            ? "0.3 to 0.8 us for each of these operators, which the profiler lengthens; further fusions and "
              "memory planning are not counted"
        : x->p ? "the time of these operators; further fusions and memory planning are not counted"
               : NULL;
}

/* By value, once: whether it depends on an input; where no dimension is open, none does. */
static const bool *open_values(struct oc_advisor *x)
{
    if (!x->from_inputs)
        x->from_inputs =
            open_dimensions(x) ? from_inputs(x) : OC_NEW_ARRAY(&x->scratch, (size_t)x->m->n_value + 1, bool);
    return x->from_inputs;
}

bool oc_advise_is_shape_work(struct oc_advisor *x, uint32_t node)
{
    return follows_from_sizes(x, open_values(x), node);
}

void oc_advise_dynamic(struct oc_advisor *x)
{
    static const char why[] = "depends on input dimensions only";
    struct oc_advice_item *f = oc_advice_new(x, "dynamic-shapes", "Shape computations in every run");
    const char *open = open_dimensions(x);
    double sum = 0;
    if (!open || (x->p && !x->j))
        return;
    const bool *from = open_values(x);
    for (uint32_t i = 0; i < x->n_piece && x->p; i++) {
        if (!is_shape_work(x, from, &x->piece[i]))
            continue;
        oc_advice_prove(f, &x->piece[i], x->piece[i].time_ns, why);
        sum += x->piece[i].time_ns;
    }
    for (uint32_t i = 0; i < x->m->n_node && !x->p; i++)
        if (x->a->graph_use[x->m->node[i].graph] == OC_G_RUN && follows_from_sizes(x, from, i))
            oc_advice_prove_node(x, f, i, why);
    set_shape_gain(x, f, sum);
    f->found = oc_printf(x->arena, "dynamic dimensions (%s): %u operator%s compute%s shapes%s%s", open,
                         f->n_proof, f->n_proof == 1 ? "" : "s", f->n_proof == 1 ? "s" : "", x->p ? ": " : "",
                         x->p ? oc_advice_time(x, sum) : "");
    f->todo = "fix the dimensions if they do not change (onnxcost --apply dynamic-shapes -o FILE; "
              "ONNX Runtime: add_free_dimension_override_by_name; TensorRT: min = opt = max): then these are "
              "constants, and reshapes, fusions and memory can be planned";
    oc_advice_keep(x, f);
}
