/* Control-flow operators: type inference through their bodies, and how the bodies' cost counts. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"
#include "base/ck.h"
#include "base/str.h"
#include "onnxcost.h"

/* ---- text generation ---------------------------------------------------------------------------------- */

/* Text generation of ONNX Runtime (com.microsoft): BeamSearch, GreedySearch, Sampling, WhisperBeamSearch. An
 * encoder or a first decoder runs once on the prompt, then a decoder once for every new token
 * (cost-semantics 4.15).
 *
 * Inputs of a body that the node does not provide (past states of the layers) have symbols that are bound for
 * each body: the batch with its beams, one token in the decoder's steps, and defaults for the rest. So the
 * result is an estimate. */

struct generation {
    uint32_t encoder, first, decoder; /* bodies, OC_NONE if absent */
    struct oc_dim batch, prompt;      /* of the input */
    int64_t beams, returned, longest; /* maximum length: -1 unknown */
    bool searching;                   /* batch times beams */
};

static void read_node(struct oc_engine *e, const struct oc_node *n, struct generation *g)
{
    struct oc_op_ctx c;
    oc_fill_ctx(e, n, NULL, &c);
    const struct oc_shape *ids = oc_in_shape(&c, 0);
    *g = (struct generation){.encoder = oc_body_of(n, "encoder"),
                             .first = oc_body_of(n, "init_decoder"),
                             .decoder = oc_body_of(n, "decoder"),
                             .beams = 1,
                             .returned = 1,
                             .longest = -1,
                             .searching = strstr(n->op_type, "Beam") != NULL};
    bool ranked = ids->ranked && ids->rank >= 2;
    g->batch = ranked ? ids->dim[0] : oc_op_fresh_dim(&c, "batch", -1);
    g->prompt =
        ranked && ids->rank == 2 ? ids->dim[1] : oc_known(1); /* audio: the decoder starts with a token */
    if (!oc_in_int(&c, 1, &g->longest) || g->longest < 0)
        g->longest = -1;
    if (g->searching && (!oc_in_int(&c, 3, &g->beams) || g->beams < 1))
        g->beams = 1;
    if (g->searching && (!oc_in_int(&c, 4, &g->returned) || g->returned < 1))
        g->returned = 1;
}

/* Unbinds the symbols of a body's inputs, except those of its first input. */
static void rebind(struct oc_engine *e, const struct oc_graph *body, const struct oc_dim *dim, unsigned rank)
{
    for (uint32_t i = 0; i < body->n_input; i++) {
        const struct oc_shape *s = &e->m->value[body->input[i]].declared->shape;
        for (unsigned a = 0; s->ranked && a < s->rank; a++)
            if (s->dim[a].expr)
                e->symbol[s->dim[a].expr - 1].bound = false;
    }
    const struct oc_shape *s = &e->m->value[body->input[0]].declared->shape;
    for (unsigned a = 0; s->ranked && s->rank == rank && a < rank; a++)
        if (s->dim[a].expr)
            e->symbol[s->dim[a].expr - 1] = (struct oc_symbol){.value = dim[a], .bound = true};
}

/* Infers a body whose first input has the given shape. */
static int run_body(struct oc_engine *e, uint32_t graph, const struct oc_dim *dim, unsigned rank)
{
    const struct oc_graph *body = &e->m->graph[graph];
    size_t size = (size_t)e->m->n_symbol * sizeof(*e->symbol);
    if (body->n_input == 0)
        return oc_infer_graph(e, graph);
    struct oc_symbol *kept = oc_xmalloc(size ? size : 1);
    memcpy(kept, e->symbol, size);
    rebind(e, body, dim, rank);
    for (uint32_t i = 0; i < body->n_input; i++)
        if (!e->m->value[body->input[i]].constant)
            oc_bind_input(e, body->input[i]);
    struct oc_type first = e->a->type[body->input[0]];
    if (rank && first.kind == OC_T_TENSOR && (!first.shape.ranked || first.shape.rank == rank)) {
        first.shape = oc_shape_of(&e->a->arena, rank, dim);
        oc_set_value(e, body->input[0], &first);
    }
    int rc = oc_infer_graph(e, graph);
    memcpy(e->symbol, kept, size);
    free(kept);
    return rc;
}

/* sequences [batch, (returned,) max length]; their scores */
static void set_outputs(struct oc_engine *e, const struct oc_node *n, const struct generation *g)
{
    struct oc_dim longest = g->longest >= 0
                                ? oc_known(g->longest)
                                : oc_dim_fresh(e->a->exprs, oc_printf(&e->a->arena, "max_length"), -1);
    struct oc_dim many[3] = {g->batch, oc_known(g->returned), longest}, one[2] = {g->batch, longest};
    struct oc_shape sequences =
        g->searching ? oc_shape_of(&e->a->arena, 3, many) : oc_shape_of(&e->a->arena, 2, one);
    for (uint32_t i = 0; i < n->n_out; i++) {
        struct oc_type t = {.kind = OC_T_NONE};
        if (i == 0)
            t = oc_tensor_type(OC_DT_INT32, sequences);
        else if (i == 1 && g->searching)
            t = oc_tensor_type(OC_DT_FLOAT, oc_shape_of(&e->a->arena, 2, many));
        if (n->out[i] != OC_NONE)
            oc_set_value(e, n->out[i], &t);
    }
}

static int infer_generation(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct generation g;
    read_node(e, n, &g);
    e->a->cost[node].state = OC_NODE_CONTAINER;
    if (g.decoder == OC_NONE || n->n_in == 0 || n->in[0] == OC_NONE)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (%s): the %s is missing", n->name, n->op_type,
                       g.decoder == OC_NONE ? "decoder" : "input");
    const struct oc_type *ids = &e->a->type[n->in[0]];
    const struct oc_dim all = oc_dim_mul(e->a->exprs, g.batch, oc_known(g.beams));
    const struct oc_dim prompt[2] = {all, g.prompt}, step[2] = {all, oc_known(1)};
    bool shaped = ids->kind == OC_T_TENSOR && ids->shape.ranked;
    if (g.encoder != OC_NONE && run_body(e, g.encoder, ids->shape.dim, shaped ? ids->shape.rank : 0))
        return -1;
    if (g.first != OC_NONE && run_body(e, g.first, prompt, 2))
        return -1;
    if (run_body(e, g.decoder, step, 2))
        return -1;
    struct oc_dim trips = oc_dim_fresh(e->a->exprs, "tokens", -1);
    if (g.longest >= 0) /* after an encoder the sequence starts with one token */
        trips = oc_dim_sub(e->a->exprs, oc_known(g.longest), g.encoder != OC_NONE ? oc_known(1) : g.prompt);
    if (g.first != OC_NONE && oc_is_known(trips))
        trips = oc_known(trips.v > 0 ? trips.v - 1 : 0);
    e->loop_quality[g.decoder] = OC_EXACT;
    oc_set_trips(e, node, g.decoder, &trips);
    set_outputs(e, n, &g);
    return 0;
}

static int cost_generation(struct oc_engine *e, uint32_t node, uint64_t trips)
{
    const struct oc_node *n = &e->m->node[node];
    const uint32_t once[2] = {oc_body_of(n, "encoder"), oc_body_of(n, "init_decoder")};
    uint32_t decoder = oc_body_of(n, "decoder");
    const char *note = "generation: each token counted like the first, states of default length";
    uint64_t all;
    for (int i = 0; i < 2; i++) {
        if (once[i] != OC_NONE && oc_cost_graph(e, once[i], trips))
            return -1;
        if (once[i] != OC_NONE)
            oc_mark_graph(e, once[i], OC_EST, note);
    }
    if (!oc_mul_u64(trips, e->loop_trips[decoder], &all)) {
        char buf[256];
        return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): its trips overflow 64 bits",
                       oc_node_label(e->m, n, buf, sizeof(buf)), n->op_type);
    }
    if (oc_cost_graph(e, decoder, all))
        return -1;
    oc_mark_graph(e, decoder, e->loop_quality[decoder] == OC_LOWER ? OC_LOWER : OC_EST,
                  e->loop_quality[decoder] == OC_LOWER ? "one token is counted; their number is unknown"
                                                       : note);
    return 0;
}

/* ---- bodies ------------------------------------------------------------------------------------------- */

struct control {
    int (*infer)(struct oc_engine *e, uint32_t node);
    int (*cost)(struct oc_engine *e, uint32_t node, uint64_t trips);
};

uint32_t oc_body_of(const struct oc_node *n, const char *attr)
{
    const struct oc_attr *a = oc_node_attr(n, attr);
    return a && a->type == OC_ATTR_GRAPH && a->n ? a->graph[0] : OC_NONE;
}

/* ---- If --------------------------------------------------------------------------------------------- */

/* 1 then, 0 else, -1 unknown. */
static int control_condition(struct oc_engine *e, const struct oc_node *n)
{
    struct oc_op_ctx c;
    int64_t v;
    oc_fill_ctx(e, n, NULL, &c);
    if (n->n_in == 0 || n->in[0] == OC_NONE || !oc_in_int(&c, 0, &v))
        return -1;
    return v != 0;
}

static struct oc_dim control_merge_dim(struct oc_engine *e, struct oc_dim a, struct oc_dim b, uint32_t value,
                                       unsigned axis)
{
    if (oc_same_dim(a, b))
        return a;
    int64_t ma = oc_dim_max_value(e->a->exprs, a), mb = oc_dim_max_value(e->a->exprs, b);
    const char *name = oc_printf(&e->a->arena, "%s.%u", e->m->value[value].name, axis);
    return oc_dim_fresh(e->a->exprs, name, ma < 0 || mb < 0 ? -1 : ma > mb ? ma : mb);
}

static struct oc_type merge_type(struct oc_engine *e, const struct oc_type *a, const struct oc_type *b,
                                 uint32_t value, int depth);

static bool control_is_empty(const struct oc_type *t)
{
    return t->kind == OC_T_SEQUENCE && t->shape.ranked && t->shape.rank == 1 && oc_is(t->shape.dim[0], 0);
}

/* Common element type of two sequences or optionals; an empty sequence has no element type. */
static const struct oc_type *merge_elem(struct oc_engine *e, const struct oc_type *a, const struct oc_type *b,
                                        uint32_t value, int depth)
{
    if (a->elem == b->elem || !a->elem || control_is_empty(b))
        return a->elem;
    if (!b->elem || control_is_empty(a))
        return b->elem;
    struct oc_type *t = OC_NEW(&e->a->arena, struct oc_type);
    *t = merge_type(e, a->elem, b->elem, value, depth + 1);
    return t;
}

static struct oc_type merge_type(struct oc_engine *e, const struct oc_type *a, const struct oc_type *b,
                                 uint32_t value, int depth)
{
    struct oc_type t = *a;
    if (a->kind != b->kind || depth > 8)
        return (struct oc_type){.kind = OC_T_NONE};
    t.elem = merge_elem(e, a, b, value, depth);
    t.item = a->item == b->item ? a->item : NULL;
    if (a->dtype != b->dtype)
        t.dtype = OC_DT_UNDEFINED;
    if (!a->shape.ranked || !b->shape.ranked || a->shape.rank != b->shape.rank) {
        t.shape = oc_shape_unranked();
        return t;
    }
    struct oc_dim *dim = OC_NEW_ARRAY(&e->a->arena, a->shape.rank, struct oc_dim);
    for (unsigned i = 0; i < a->shape.rank; i++)
        dim[i] = control_merge_dim(e, a->shape.dim[i], b->shape.dim[i], value, i);
    t.shape.dim = dim;
    return t;
}

struct oc_type oc_merge_type(struct oc_engine *e, const struct oc_type *a, const struct oc_type *b,
                             uint32_t value)
{
    return merge_type(e, a, b, value, 0);
}

static const struct oc_type no_type = {.kind = OC_T_NONE};

const struct oc_type *oc_body_output(struct oc_engine *e, uint32_t graph, uint32_t i)
{
    const struct oc_graph *g = &e->m->graph[graph];
    return i < g->n_output && g->output[i] != OC_NONE ? &e->a->type[g->output[i]] : &no_type;
}

/* A branch that does not run is inferred too, to classify its constants; its errors are dropped. */
static int infer_branch(struct oc_engine *e, uint32_t body)
{
    size_t diags = e->a->diags.n;
    uint32_t failed = e->n_failed;
    if (oc_infer_graph(e, body) && !e->skip[body])
        return -1;
    if (e->skip[body]) {
        e->a->diags.n = diags;
        e->n_failed = failed;
        oc_exprs_clear_overflow(e->a->exprs);
    }
    return 0;
}

/* Branches read values of the graph around them; nothing is passed to an input of theirs. */
static void warn_about_branch_inputs(struct oc_engine *e, const struct oc_node *n, uint32_t body)
{
    static const char code[] = "W-branch-input";
    const struct oc_graph *g = &e->m->graph[body];
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = &e->m->value[g->input[i]];
        char buf[256];
        const char *label = oc_node_label(e->m, n, buf, sizeof(buf));
        if (v->constant || oc_has_warned(e, code, label))
            continue;
        oc_diag_add(
            &e->a->diags, OC_WARNING, code, label,
            "a branch has the input '%s', which ONNX does not allow (ONNX Runtime rejects the model): it "
            "is unknown; the branch must use the value of the graph around it",
            v->name);
    }
}

static int infer_if(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    uint32_t body[2] = {oc_body_of(n, "else_branch"), oc_body_of(n, "then_branch")};
    if (body[0] == OC_NONE || body[1] == OC_NONE)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (If): a branch is missing", n->name);
    e->a->cost[node].state = OC_NODE_CONTAINER;
    int taken = control_condition(e, n);
    const struct oc_control_bind *seen = taken < 0 ? oc_control_seen(e, node) : NULL;
    if (seen && seen->value >= 0) {
        char buf[256];
        taken = seen->value != 0;
        oc_assume(e, "branch", oc_node_label(e->m, n, buf, sizeof(buf)),
                  taken ? "then_branch" : "else_branch", "from the profile");
    }
    for (int i = 0; i < 2; i++) {
        e->skip[body[i]] = taken == !i;
        warn_about_branch_inputs(e, n, body[i]);
        if (infer_branch(e, body[i]))
            return -1;
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        if (taken >= 0) {
            const struct oc_graph *g = &e->m->graph[body[taken]];
            bool given = i < g->n_output && g->output[i] != OC_NONE;
            oc_set_value(e, n->out[i], oc_body_output(e, body[taken], i));
            e->a->data[n->out[i]] = given ? oc_known_data(e, g->output[i]) : NULL;
            e->varies[n->out[i]] = given ? e->varies[g->output[i]] : 0;
            continue;
        }
        e->a->data[n->out[i]] = NULL;
        struct oc_type t =
            oc_merge_type(e, oc_body_output(e, body[1], i), oc_body_output(e, body[0], i), n->out[i]);
        oc_set_value(e, n->out[i], &t);
    }
    return 0;
}

/* Work of a branch, and whether all of it is exact or an upper bound. */
struct work {
    uint64_t macs, flops, ops, bytes;
    bool bounded;
};

static void sum_graph(struct oc_engine *e, uint32_t graph, struct work *w)
{
    const struct oc_graph *g = &e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        const struct oc_node_cost *k = &e->a->cost[g->node[i]];
        w->macs += k->macs;
        w->flops += k->flops;
        w->ops += k->ops;
        w->bytes += k->rd_act + k->rd_wt + k->wr;
        w->bounded &= k->quality == OC_EXACT || k->quality == OC_UPPER;
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++)
                if (e->graph_use[n->attr[a].graph[b]] == OC_G_RUN)
                    sum_graph(e, n->attr[a].graph[b], w);
        if (n->body != OC_NONE && e->graph_use[n->body] == OC_G_RUN)
            sum_graph(e, n->body, w);
    }
}

/* Removes the cost of a branch from the totals. */
static void drop_graph(struct oc_engine *e, uint32_t graph)
{
    const struct oc_graph *g = &e->m->graph[graph];
    e->graph_use[graph] = OC_G_NOT_TAKEN;
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        struct oc_node_cost *k = &e->a->cost[g->node[i]];
        *k = (struct oc_node_cost){.state = OC_NODE_NOT_TAKEN,
                                   .op_class = k->op_class,
                                   .params = k->params,
                                   .note = "in the branch that does not count"};
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++)
                drop_graph(e, n->attr[a].graph[b]);
        if (n->body != OC_NONE)
            drop_graph(e, n->body);
    }
}

/* Remainders of the halving so far, so that the sum over the nodes is half of their sum. */
struct rest {
    bool count[OC_COST_COUNTS], prim[2][OC_PRIM_COUNT];
};

static uint64_t halve(uint64_t v, bool *rest)
{
    bool odd = v & 1, up = odd && *rest;
    *rest ^= odd;
    return v / 2 + up;
}

static void halve_node(struct oc_engine *e, struct oc_node_cost *k, struct rest *r)
{
    struct oc_prim_count *hist = OC_NEW_ARRAY(&e->a->arena, k->n_hist, struct oc_prim_count);
    uint64_t *count[OC_COST_COUNTS];
    for (unsigned i = 0; i < k->n_hist; i++) {
        hist[i] = k->hist[i];
        hist[i].n = halve(hist[i].n, &r->prim[hist[i].is_int][hist[i].prim]);
    }
    k->hist = hist;
    oc_cost_counts(k, count);
    for (unsigned i = 0; i < OC_COST_COUNTS; i++)
        *count[i] = halve(*count[i], &r->count[i]);
}

static void halve_graph(struct oc_engine *e, uint32_t graph, struct rest *r)
{
    const struct oc_graph *g = &e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        halve_node(e, &e->a->cost[g->node[i]], r);
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++)
                halve_graph(e, n->attr[a].graph[b], r);
        if (n->body != OC_NONE)
            halve_graph(e, n->body, r);
    }
}

/* Counts both branches at half of their cost. */
static void average_branches(struct oc_engine *e, const uint32_t *body)
{
    struct rest rest = {0};
    for (int i = 1; i >= 0; i--) {
        halve_graph(e, body[i], &rest);
        oc_mark_graph(e, body[i], OC_EST, "--count if=avg: half of the branch's cost");
    }
}

/* The branch counted by --count if: 1 then, 0 else. */
static int choose_branch(struct oc_engine *e, const struct work *w, const char **why)
{
    if (e->o->if_mode != OC_IF_MAX) {
        *why = e->o->if_mode == OC_IF_THEN ? "--count if=then" : "--count if=else";
        return e->o->if_mode == OC_IF_THEN;
    }
    uint64_t work[2] = {w[0].flops + w[0].ops, w[1].flops + w[1].ops};
    *why = "--count if=max: the branch with more work";
    return work[1] > work[0] || (work[1] == work[0] && w[1].bytes >= w[0].bytes);
}

/* Counts one branch of an If with an unknown condition. Its sum is an upper bound only where the other branch
 * has less of everything. */
static void count_one_branch(struct oc_engine *e, uint32_t node, const uint32_t *body)
{
    struct work w[2] = {{.bounded = true}, {.bounded = true}};
    struct oc_node_cost *k = &e->a->cost[node];
    char buf[256];
    const char *why;
    for (int i = 0; i < 2; i++)
        sum_graph(e, body[i], &w[i]);
    int take = choose_branch(e, w, &why);
    const struct work *more = &w[take], *less = &w[!take];
    bool bound = e->o->if_mode == OC_IF_MAX && more->bounded && less->bounded && less->macs <= more->macs &&
                 less->flops <= more->flops && less->ops <= more->ops && less->bytes <= more->bytes;
    drop_graph(e, body[!take]);
    oc_assume(e, "branch", oc_node_label(e->m, &e->m->node[node], buf, sizeof(buf)),
              take ? "then_branch" : "else_branch", why);
    k->quality = bound ? OC_UPPER : OC_EST;
    k->note = "the condition is unknown";
    if (e->o->if_mode == OC_IF_MAX)
        oc_mark_graph(e, body[take], OC_UPPER, "in a branch that may not run");
}

/* Counts the branches as often as they ran; false: not recorded. */
static bool recorded_branches(struct oc_engine *e, uint32_t node, const uint32_t *body, uint64_t outside,
                              int *rc)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t n;
        bool exact;
        if (!oc_body_executions(e, node, i, outside, &n, &exact))
            return false;
        if ((*rc = oc_cost_graph(e, body[i], n)))
            return true;
        if (!exact)
            oc_mark_graph(e, body[i], OC_EST, "the mean number of recorded executions");
    }
    return true;
}

static int cost_if(struct oc_engine *e, uint32_t node, uint64_t trips)
{
    const struct oc_node *n = &e->m->node[node];
    uint32_t body[2] = {oc_body_of(n, "else_branch"), oc_body_of(n, "then_branch")};
    bool run[2] = {!e->skip[body[0]], !e->skip[body[1]]};
    int rc = 0;
    if (run[0] && run[1] && recorded_branches(e, node, body, trips, &rc))
        return rc;
    for (int i = 0; i < 2; i++) {
        if (!run[i])
            drop_graph(e, body[i]);
        else if (oc_cost_graph(e, body[i], trips))
            return -1;
    }
    if (!run[0] || !run[1] || trips == 0)
        return 0;
    if (e->o->if_mode != OC_IF_AVG) {
        count_one_branch(e, node, body);
        return 0;
    }
    char buf[256];
    average_branches(e, body);
    oc_assume(e, "branch", oc_node_label(e->m, n, buf, sizeof(buf)), "half of each", "--count if=avg");
    e->a->cost[node].quality = OC_EST;
    e->a->cost[node].note = "the condition is unknown";
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------------ */

static const struct control controls[] = {
    [OC_BODY_IF] = {infer_if, cost_if},
    [OC_BODY_LOOP] = {oc_infer_loop, oc_cost_loop},
    [OC_BODY_SCAN] = {oc_infer_scan, oc_cost_loop},
    [OC_BODY_MAP] = {oc_infer_sequence_map, oc_cost_loop},
    [OC_BODY_GENERATION] = {infer_generation, cost_generation},
};

static const struct control *control_of(const struct oc_engine *e, uint32_t node)
{
    const struct oc_op *op = e->a->op[node];
    return op && op->body ? &controls[op->body] : NULL;
}

int oc_infer_control(struct oc_engine *e, uint32_t node)
{
    const struct control *k = control_of(e, node);
    return k ? k->infer(e, node) : 1;
}

int oc_cost_control(struct oc_engine *e, uint32_t node, uint64_t trips)
{
    const struct control *k = control_of(e, node);
    return k ? k->cost(e, node, trips) : 1;
}
