/* Text generation of ONNX Runtime (com.microsoft): BeamSearch, GreedySearch, Sampling, WhisperBeamSearch. An
 * encoder or a first decoder runs once on the prompt, then a decoder once for every new token
 * (cost-semantics 4.15).
 *
 * Inputs of a body that the node does not provide (past states of the layers) have symbols that are bound for
 * each body: the batch with its beams, one token in the decoder's steps, and defaults for the rest. So the
 * result is an estimate. */
#include <stdlib.h>
#include <string.h>

#include "analyze/engine.h"
#include "base/ck.h"

struct generation {
    uint32_t encoder, first, decoder; /* bodies, OC_NONE if absent */
    struct oc_dim batch, prompt;      /* of the input */
    int64_t beams, returned, longest; /* maximum length: -1 unknown */
    bool searching;                   /* batch times beams */
};

static void text_generation_read_node(struct oc_engine *e, const struct oc_node *n, struct generation *g)
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
static int text_generation_run_body(struct oc_engine *e, uint32_t graph, const struct oc_dim *dim,
                                    unsigned rank)
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
static void text_generation_set_outputs(struct oc_engine *e, const struct oc_node *n,
                                        const struct generation *g)
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

int oc_infer_generation(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct generation g;
    text_generation_read_node(e, n, &g);
    e->a->cost[node].state = OC_NODE_CONTAINER;
    if (g.decoder == OC_NONE || n->n_in == 0 || n->in[0] == OC_NONE)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (%s): the %s is missing", n->name, n->op_type,
                       g.decoder == OC_NONE ? "decoder" : "input");
    const struct oc_type *ids = &e->a->type[n->in[0]];
    const struct oc_dim all = oc_dim_mul(e->a->exprs, g.batch, oc_known(g.beams));
    const struct oc_dim prompt[2] = {all, g.prompt}, step[2] = {all, oc_known(1)};
    bool shaped = ids->kind == OC_T_TENSOR && ids->shape.ranked;
    if (g.encoder != OC_NONE &&
        text_generation_run_body(e, g.encoder, ids->shape.dim, shaped ? ids->shape.rank : 0))
        return -1;
    if (g.first != OC_NONE && text_generation_run_body(e, g.first, prompt, 2))
        return -1;
    if (text_generation_run_body(e, g.decoder, step, 2))
        return -1;
    struct oc_dim trips = oc_dim_fresh(e->a->exprs, "tokens", -1);
    if (g.longest >= 0) /* after an encoder the sequence starts with one token */
        trips = oc_dim_sub(e->a->exprs, oc_known(g.longest), g.encoder != OC_NONE ? oc_known(1) : g.prompt);
    if (g.first != OC_NONE && oc_is_known(trips))
        trips = oc_known(trips.v > 0 ? trips.v - 1 : 0);
    e->loop_quality[g.decoder] = OC_EXACT;
    oc_set_trips(e, node, g.decoder, &trips);
    text_generation_set_outputs(e, n, &g);
    return 0;
}

int oc_cost_generation(struct oc_engine *e, uint32_t node, uint64_t trips)
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
