/* Loop, Scan and SequenceMap: one body, executed a number of times. Types of carried values: the body is
 * inferred with the initial types; dims that its output changes become unknown, until a fixed point is
 * reached. A small known number of trips is unrolled instead, so that growing shapes are exact. */
#include <string.h>

#include "analyze/control.h"
#include "analyze/convention.h"
#include "base/ck.h"

#define MAX_ROUNDS 12
#define MAX_UNROLL 64

struct loop {
    uint32_t node, body;
    uint32_t first_state, n_state; /* of the node's inputs */
    uint32_t body_state;           /* first carried input of the body */
    uint32_t out_state;            /* first carried output of the body */
    struct oc_dim trips;           /* known, or a named unknown */
    struct oc_type type[64];       /* current carried types */
};

static bool same_shallow(const struct oc_type *a, const struct oc_type *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->shape.ranked == b->shape.ranked &&
           (!a->shape.ranked || oc_shape_equal(&a->shape, &b->shape));
}

/* Compares sequences and optionals to one level; `item` lists only by identity. */
static bool same_type(const struct oc_type *a, const struct oc_type *b)
{
    bool elem = a->elem == b->elem || (a->elem && b->elem && same_shallow(a->elem, b->elem));
    return same_shallow(a, b) && elem && a->item == b->item;
}

static uint32_t body_input(const struct oc_engine *e, const struct loop *l, uint32_t i)
{
    const struct oc_graph *g = &e->m->graph[l->body];
    return i < g->n_input ? g->input[i] : OC_NONE;
}

static void set_input(struct oc_engine *e, const struct loop *l, uint32_t i, const struct oc_type *t)
{
    uint32_t v = body_input(e, l, i);
    if (v == OC_NONE)
        return;
    oc_set_value(e, v, t);
    e->a->data[v] = NULL;
    e->a->is_const[v] = false;
}

/* Infers the body once; warnings of repeated rounds are dropped. */
static int run_body(struct oc_engine *e, struct loop *l, size_t diags_before)
{
    e->a->diags.n = diags_before < e->a->diags.n ? diags_before : e->a->diags.n;
    for (uint32_t i = 0; i < l->n_state; i++)
        set_input(e, l, l->body_state + i, &l->type[i]);
    return oc_infer_graph(e, l->body);
}

/* Carried types after one trip. */
static struct oc_type next_type(struct oc_engine *e, const struct loop *l, uint32_t i)
{
    const struct oc_type *t = oc_body_output(e, l->body, l->out_state + i);
    return t->kind == OC_T_NONE ? l->type[i] : *t;
}

static int unroll(struct oc_engine *e, struct loop *l)
{
    size_t diags = e->a->diags.n;
    uint32_t failed = e->n_failed;
    for (int64_t trip = 0; trip < l->trips.v; trip++) {
        e->n_failed = failed;
        if (run_body(e, l, diags))
            return -1;
        bool changed = false;
        for (uint32_t i = 0; i < l->n_state; i++) {
            struct oc_type t = next_type(e, l, i);
            changed |= !same_type(&t, &l->type[i]);
            l->type[i] = t;
        }
        if (!changed)
            break;
        if (trip + 1 == l->trips.v && trip > 0) {
            e->loop_quality[l->body] = OC_UPPER; /* the costs are those of the last trip */
        }
    }
    return 0;
}

/* Dims already unknown need no new name. */
static bool is_wider(const struct oc_type *a, const struct oc_type *b)
{
    if (a->kind != b->kind || a->dtype != b->dtype || a->shape.ranked != b->shape.ranked)
        return true;
    for (unsigned k = 0; a->shape.ranked && k < a->shape.rank && k < b->shape.rank; k++)
        if (oc_is_known(a->shape.dim[k]) && !oc_is_known(b->shape.dim[k]))
            return true;
    return a->elem && b->elem && a->elem != b->elem && is_wider(a->elem, b->elem);
}

static int find_fixed_point(struct oc_engine *e, struct loop *l)
{
    size_t diags = e->a->diags.n;
    uint32_t failed = e->n_failed;
    const struct oc_node *n = &e->m->node[l->node];
    for (uint32_t i = 0; i < l->n_state; i++)
        l->type[i].item = NULL; /* trips may have different elements */
    for (int round = 0; round < MAX_ROUNDS; round++) {
        e->n_failed = failed;
        if (run_body(e, l, diags))
            return -1;
        bool changed = false;
        for (uint32_t i = 0; i < l->n_state; i++) {
            struct oc_type t = next_type(e, l, i);
            uint32_t name =
                i < n->n_out && n->out[i] != OC_NONE ? n->out[i] : body_input(e, l, l->body_state + i);
            if (same_type(&t, &l->type[i]) || name == OC_NONE)
                continue;
            struct oc_type merged = oc_merge_type(e, &l->type[i], &t, name);
            if (round + 2 >= MAX_ROUNDS)
                merged.shape = oc_shape_unranked();
            bool widened = !same_type(&merged, &l->type[i]);
            if (round > 0)
                widened = widened && is_wider(&l->type[i], &merged);
            if (widened)
                l->type[i] = merged;
            changed |= widened;
        }
        if (!changed)
            return 0;
    }
    return 0;
}

static int infer_body(struct oc_engine *e, struct loop *l)
{
    bool few = oc_is_known(l->trips) && l->trips.v > 0 && l->trips.v <= MAX_UNROLL;
    return few ? unroll(e, l) : find_fixed_point(e, l);
}

/* The trip count given by --trip for this node. */
static bool given_trips(struct oc_engine *e, const struct oc_node *n, int64_t *v)
{
    char buf[256];
    const char *name = oc_node_label(e->m, n, buf, sizeof(buf));
    for (size_t i = 0; i < e->o->n_trip; i++)
        if (strcmp(e->o->trip[i].symbol, name) == 0) {
            e->trip_used[i] = true;
            *v = e->o->trip[i].value;
            return true;
        }
    return false;
}

void oc_set_trips(struct oc_engine *e, uint32_t node, uint32_t body, struct oc_dim *trips)
{
    const struct oc_node *n = &e->m->node[node];
    char buf[256];
    const char *name = oc_node_label(e->m, n, buf, sizeof(buf));
    int64_t v, max = oc_dim_max_value(e->a->exprs, *trips);
    if (!oc_is_known(*trips) && given_trips(e, n, &v)) {
        *trips = oc_known(v);
        oc_assume(e, "trip", name, oc_printf(&e->a->arena, "%lld", (long long)v), "--trip");
    }
    if (!oc_is_known(*trips) && oc_control_seen(e, node, &v)) {
        *trips = oc_known(v);
        oc_assume(e, "trip", name, oc_printf(&e->a->arena, "%lld", (long long)v), "from the profile");
    }
    if (oc_is_known(*trips)) {
        e->loop_trips[body] = trips->v > 0 ? (uint64_t)trips->v : 0;
    } else if (max >= 0) {
        e->loop_trips[body] = (uint64_t)max;
        e->loop_quality[body] = OC_UPPER;
    } else {
        e->loop_trips[body] = 1;
        e->loop_quality[body] = OC_LOWER;
        oc_assume(e, "trip", name, "1",
                  "the number of trips is unknown: one is counted (set it with --trip)");
    }
}

static struct oc_type with_axis(struct oc_engine *e, const struct oc_type *t, struct oc_dim d, int64_t axis)
{
    struct oc_type r = *t;
    unsigned at;
    if (t->kind != OC_T_TENSOR || !t->shape.ranked || t->shape.rank + 1 > OC_MAX_RANK ||
        !oc_axis(axis, t->shape.rank + 1U, &at)) {
        r.shape = oc_shape_unranked();
        return r;
    }
    struct oc_dim dim[OC_MAX_RANK];
    for (unsigned i = 0; i <= t->shape.rank; i++)
        dim[i] = i < at ? t->shape.dim[i] : i == at ? d : t->shape.dim[i - 1];
    r.shape = oc_shape_of(&e->a->arena, t->shape.rank + 1U, dim);
    return r;
}

static struct oc_type without_axis(struct oc_engine *e, const struct oc_type *t, int64_t axis,
                                   struct oc_dim *d)
{
    struct oc_type r = *t;
    unsigned at;
    if (t->kind != OC_T_TENSOR || !t->shape.ranked || !oc_axis(axis, t->shape.rank, &at)) {
        r.shape = oc_shape_unranked();
        return r;
    }
    struct oc_dim dim[OC_MAX_RANK];
    *d = t->shape.dim[at];
    for (unsigned i = 0; i + 1 < t->shape.rank; i++)
        dim[i] = t->shape.dim[i + (i >= at)];
    r.shape = oc_shape_of(&e->a->arena, t->shape.rank - 1U, dim);
    return r;
}

static int begin(struct oc_engine *e, uint32_t node, struct loop *l)
{
    const struct oc_node *n = &e->m->node[node];
    *l = (struct loop){.node = node, .body = oc_body_of(n, "body"), .trips = {.v = 0}};
    e->a->cost[node].state = OC_NODE_CONTAINER;
    if (l->body == OC_NONE)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (%s): the body is missing", n->name, n->op_type);
    e->loop_quality[l->body] = OC_EXACT;
    return 0;
}

static int too_many(struct oc_engine *e, const struct oc_node *n)
{
    return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): more than %zu carried values", n->name, n->op_type,
                   OC_COUNT(((struct loop *)0)->type));
}

static const struct oc_type *in_type(const struct oc_engine *e, const struct oc_node *n, uint32_t slot)
{
    static const struct oc_type none = {.kind = OC_T_NONE};
    return slot < n->n_in && n->in[slot] != OC_NONE ? &e->a->type[n->in[slot]] : &none;
}

/* ---- Loop: inputs M, cond, states; body inputs iteration, cond, states; body outputs cond, states, scans */

/* Whether the condition is always true: given as true or omitted, and passed through by the body. */
static bool always_true(struct oc_engine *e, const struct oc_node *n, const struct loop *l)
{
    const struct oc_graph *g = &e->m->graph[l->body];
    struct oc_op_ctx c;
    int64_t start = 1, v;
    oc_fill_ctx(e, n, NULL, &c);
    if (n->n_in > 1 && n->in[1] != OC_NONE && !(oc_in_int(&c, 1, &start) && start))
        return false;
    if (g->n_output == 0)
        return false;
    uint32_t out = g->output[0];
    for (int steps = 0; steps < 16 && out != OC_NONE; steps++) {
        const struct oc_data *d = e->a->data[out];
        if (out == body_input(e, l, 1) || (d && d->n == 1 && oc_elem_known_int(&d->e[0], &v) && v))
            return true;
        const struct oc_tensor *t = oc_analysis_constant(e->a, out);
        struct oc_elem elem;
        if (t && t->elements == 1 && oc_tensor_elems(e->m, t, 1, &elem, &e->a->arena))
            return oc_elem_known_int(&elem, &v) && v;
        uint32_t p = e->m->value[out].producer;
        if (p == OC_NONE || e->m->node[p].n_in != 1 || strcmp(e->m->node[p].op_type, "Identity") != 0)
            return false;
        out = e->m->node[p].in[0];
    }
    return false;
}

static struct oc_dim loop_count(struct oc_engine *e, const struct oc_node *n)
{
    struct oc_op_ctx c;
    char buf[256];
    oc_fill_ctx(e, n, NULL, &c);
    const struct oc_data *d = n->n_in && n->in[0] != OC_NONE ? oc_in_value(&c, 0) : NULL;
    if (d && d->n == 1 && d->e[0].kind == OC_E_INT)
        return d->e[0].i;
    return oc_dim_symbol(e->a->exprs,
                         oc_printf(&e->a->arena, "trip(%s)", oc_node_label(e->m, n, buf, sizeof(buf))), -1);
}

int oc_infer_loop(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct loop l;
    if (begin(e, node, &l))
        return -1;
    const struct oc_type iteration = oc_tensor_type(OC_DT_INT64, oc_shape_scalar());
    const struct oc_type condition = oc_tensor_type(OC_DT_BOOL, oc_shape_scalar());
    l.first_state = l.body_state = 2;
    l.out_state = 1;
    l.n_state = n->n_in > 2 ? n->n_in - 2 : 0;
    if (l.n_state > OC_COUNT(l.type))
        return too_many(e, n);
    for (uint32_t i = 0; i < l.n_state; i++)
        l.type[i] = *in_type(e, n, 2 + i);
    l.trips = loop_count(e, n);
    oc_set_trips(e, l.node, l.body, &l.trips);
    set_input(e, &l, 0, &iteration);
    set_input(e, &l, 1, &condition);
    if (infer_body(e, &l))
        return -1;
    struct oc_dim count = l.trips;
    if (!always_true(e, n, &l)) {
        char buf[256];
        const char *name = oc_printf(&e->a->arena, "trip(%s)", oc_node_label(e->m, n, buf, sizeof(buf)));
        if (oc_is_known(l.trips) && e->loop_quality[l.body] == OC_EXACT && !given_trips(e, n, &(int64_t){0}))
            e->loop_quality[l.body] = OC_UPPER;
        count = oc_dim_fresh(e->a->exprs, name, oc_dim_max_value(e->a->exprs, l.trips));
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        struct oc_type t =
            i < l.n_state ? l.type[i] : with_axis(e, oc_body_output(e, l.body, 1 + i), count, 0);
        oc_set_value(e, n->out[i], &t);
    }
    return 0;
}

/* ---- Scan ------------------------------------------------------------------------------------------------
 */

static int64_t axis_of(const struct oc_node *n, const char *name, uint32_t i, int64_t otherwise)
{
    const struct oc_attr *a = oc_node_attr(n, name);
    return a && a->type == OC_ATTR_INTS && i < a->n ? a->ints[i] : otherwise;
}

/* Scan-8 has sequence lengths first, and a batch axis on every input. */
int oc_infer_scan(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct loop l;
    if (begin(e, node, &l))
        return -1;
    bool old = n->opset > 0 && n->opset < 9;
    const struct oc_attr *count = oc_node_attr(n, "num_scan_inputs");
    uint32_t first = old ? 1 : 0, n_data = n->n_in > first ? n->n_in - first : 0;
    if (!count || count->i < 0 || count->i > n_data)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (Scan): num_scan_inputs does not match the inputs",
                       n->name);
    uint32_t n_scan = (uint32_t)count->i;
    struct oc_dim batch = oc_known(1), trips = oc_known(0), ignored;
    l.first_state = first;
    l.n_state = n_data - n_scan;
    if (l.n_state > OC_COUNT(l.type))
        return too_many(e, n);
    for (uint32_t i = 0; i < l.n_state; i++) {
        const struct oc_type *t = in_type(e, n, first + i);
        l.type[i] = old ? without_axis(e, t, 0, &batch) : *t;
    }
    for (uint32_t i = 0; i < n_scan; i++) {
        struct oc_type t = *in_type(e, n, first + l.n_state + i);
        if (old)
            t = without_axis(e, &t, 0, &batch);
        t = without_axis(e, &t, old ? 0 : axis_of(n, "scan_input_axes", i, 0), i ? &ignored : &trips);
        set_input(e, &l, l.n_state + i, &t);
    }
    l.trips = old ? oc_dim_mul(e->a->exprs, trips, batch) : trips;
    oc_set_trips(e, l.node, l.body, &l.trips);
    if (infer_body(e, &l))
        return -1;
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        struct oc_type t = i < l.n_state ? l.type[i] : *oc_body_output(e, l.body, i);
        if (i >= l.n_state)
            t = with_axis(e, &t, trips, old ? 0 : axis_of(n, "scan_output_axes", i - l.n_state, 0));
        if (old)
            t = with_axis(e, &t, batch, 0);
        oc_set_value(e, n->out[i], &t);
    }
    return 0;
}

/* ---- SequenceMap -----------------------------------------------------------------------------------------
 */

int oc_infer_sequence_map(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct loop l;
    char buf[256];
    if (begin(e, node, &l))
        return -1;
    l.trips = oc_dim_symbol(
        e->a->exprs, oc_printf(&e->a->arena, "length(%s)", oc_node_label(e->m, n, buf, sizeof(buf))), -1);
    for (uint32_t i = 0; i < n->n_in; i++) {
        const struct oc_type *t = in_type(e, n, i);
        bool sequence = t->kind == OC_T_SEQUENCE && t->elem;
        set_input(e, &l, i, sequence ? t->elem : t);
        if (sequence && t->shape.ranked && t->shape.rank == 1 && !oc_is_known(l.trips))
            l.trips = t->shape.dim[0];
    }
    oc_set_trips(e, l.node, l.body, &l.trips);
    if (oc_infer_graph(e, l.body))
        return -1;
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        struct oc_type *elem = OC_NEW(&e->a->arena, struct oc_type);
        *elem = *oc_body_output(e, l.body, i);
        const struct oc_type t = {
            .kind = OC_T_SEQUENCE, .elem = elem, .shape = oc_shape_1d(&e->a->arena, l.trips)};
        oc_set_value(e, n->out[i], &t);
    }
    return 0;
}

/* ---- cost -------------------------------------------------------------------------------------------------
 */

void oc_mark_graph(struct oc_engine *e, uint32_t graph, uint8_t quality, const char *note)
{
    const struct oc_graph *g = &e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        struct oc_node_cost *k = &e->a->cost[g->node[i]];
        if (k->state == OC_NODE_NORMAL && k->quality != OC_UNKNOWN && k->quality != quality) {
            k->quality = k->quality == OC_EXACT ? quality : OC_EST;
            k->note = note;
        }
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++)
                oc_mark_graph(e, n->attr[a].graph[b], quality, note);
        if (n->body != OC_NONE)
            oc_mark_graph(e, n->body, quality, note);
    }
}

int oc_cost_loop(struct oc_engine *e, uint32_t node, uint64_t trips)
{
    const struct oc_node *n = &e->m->node[node];
    uint32_t body = oc_body_of(n, "body");
    uint64_t all;
    if (!oc_mul_u64(trips, oc_convention_loops_once(e->convention) ? 1 : e->loop_trips[body], &all)) {
        char buf[256];
        return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): its trips overflow 64 bits",
                       oc_node_label(e->m, n, buf, sizeof(buf)), n->op_type);
    }
    uint64_t outside = e->cached_trips;
    if (e->o->loop_cached) /* a factor of `all`: it wraps only where that is 0 */
        e->cached_trips *= e->loop_trips[body];
    if (oc_cost_graph(e, body, all))
        return -1;
    e->cached_trips = outside;
    if (e->loop_quality[body] != OC_EXACT)
        oc_mark_graph(e, body, e->loop_quality[body],
                      e->loop_quality[body] == OC_UPPER ? "counted at the maximum number of trips"
                                                        : "one trip is counted; the number is unknown");
    return 0;
}
