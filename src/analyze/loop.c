/* Loop, Scan and SequenceMap: one body, executed a number of times. Types of carried values: the body is
 * inferred with the initial types; dims that its output changes become unknown, until a fixed point is
 * reached. Where trips differ (growing shapes, branches that depend on the trip number), they are inferred
 * one by one, each with the values known in it. */
#include <string.h>

#include "analyze/engine.h"
#include "base/str.h"
#include "onnxcost.h"

#define MAX_ROUNDS 12
#define MAX_VALUES 64 /* elements of carried values that are tracked from trip to trip */

static bool same_shallow(const struct oc_type *a, const struct oc_type *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->shape.ranked == b->shape.ranked &&
           (!a->shape.ranked || oc_shape_equal(&a->shape, &b->shape));
}

/* Compares sequences and optionals to one level; `item` lists only by identity. */
static bool loop_same_type(const struct oc_type *a, const struct oc_type *b)
{
    bool elem = a->elem == b->elem || (a->elem && b->elem && same_shallow(a->elem, b->elem));
    return same_shallow(a, b) && elem && a->item == b->item;
}

/* ---- one trip --------------------------------------------------------------------------------------- */

static uint32_t body_input(const struct oc_engine *e, const struct oc_loop *l, uint32_t i)
{
    const struct oc_graph *g = &e->m->graph[l->body];
    return i < g->n_input ? g->input[i] : OC_NONE;
}

uint32_t oc_loop_state_in(const struct oc_engine *e, const struct oc_loop *l, uint32_t i)
{
    return body_input(e, l, l->body_state + i);
}

uint32_t oc_loop_state_out(const struct oc_engine *e, const struct oc_loop *l, uint32_t i)
{
    const struct oc_graph *g = &e->m->graph[l->body];
    return l->out_state + i < g->n_output ? g->output[l->out_state + i] : OC_NONE;
}

static void set_input(struct oc_engine *e, const struct oc_loop *l, uint32_t i, const struct oc_type *t,
                      const struct oc_data *data)
{
    uint32_t v = body_input(e, l, i);
    if (v == OC_NONE)
        return;
    oc_set_value(e, v, t);
    e->a->data[v] = data;
    e->varies[v] = data ? OC_VARIES_TRIP : 0;
    e->any_varies |= data != NULL;
    e->a->is_const[v] = false;
}

static const struct oc_data *one_value(struct oc_engine *e, int64_t v)
{
    struct oc_elem *elem = OC_NEW(&e->a->arena, struct oc_elem);
    struct oc_data *d = OC_NEW(&e->a->arena, struct oc_data);
    *elem = oc_elem_int(v);
    *d = (struct oc_data){.n = 1, .e = elem};
    return d;
}

/* The number of the trip or the condition: a scalar, or a list of one where the body declares a list, as ONNX
 * Runtime passes it. */
static struct oc_type counter_type(struct oc_engine *e, const struct oc_loop *l, uint32_t i, unsigned dtype)
{
    const struct oc_dim one = oc_known(1);
    uint32_t v = body_input(e, l, i);
    const struct oc_shape *s = v == OC_NONE ? NULL : &e->m->value[v].declared->shape;
    return oc_tensor_type(dtype, s && s->ranked && s->rank == 1 ? oc_shape_of(&e->a->arena, 1, &one)
                                                                : oc_shape_scalar());
}

void oc_loop_enter(struct oc_engine *e, const struct oc_loop *l, int64_t at)
{
    if (l->counted) {
        const struct oc_type number = counter_type(e, l, 0, OC_DT_INT64);
        const struct oc_type condition = counter_type(e, l, 1, OC_DT_BOOL);
        set_input(e, l, 0, &number, at >= 0 ? one_value(e, at) : NULL);
        set_input(e, l, 1, &condition, at >= 0 && l->go >= 0 ? one_value(e, l->go) : NULL);
    }
    for (uint32_t i = 0; i < l->n_state; i++)
        set_input(e, l, l->body_state + i, &l->type[i], at >= 0 ? l->data[i] : NULL);
}

/* The type of a carried value after one trip. */
static struct oc_type next_type(struct oc_engine *e, const struct oc_loop *l, uint32_t i)
{
    const struct oc_type *t = oc_body_output(e, l->body, l->out_state + i);
    return t->kind == OC_T_NONE ? l->type[i] : *t;
}

/* A value that the next trips may read: small and fully known. */
static const struct oc_data *known_value(struct oc_engine *e, uint32_t value)
{
    const struct oc_data *d = value == OC_NONE ? NULL : oc_known_data(e, value);
    return d && d->n <= MAX_VALUES && oc_data_fully_known(d) ? d : NULL;
}

bool oc_loop_leave(struct oc_engine *e, struct oc_loop *l)
{
    bool changed = false;
    int64_t go;
    for (uint32_t i = 0; i < l->n_state; i++) {
        struct oc_type t = next_type(e, l, i);
        changed |= !loop_same_type(&t, &l->type[i]);
        l->type[i] = t;
        l->data[i] = known_value(e, oc_loop_state_out(e, l, i));
    }
    if (l->counted) {
        const struct oc_graph *g = &e->m->graph[l->body];
        const struct oc_data *d = g->n_output ? known_value(e, g->output[0]) : NULL;
        l->go = d && d->n == 1 && oc_elem_known_int(&d->e[0], &go) ? go != 0 : -1;
    }
    return changed;
}

/* ---- any trip: a fixed point ------------------------------------------------------------------------ */

/* Infers the body once; the warnings of earlier rounds are dropped. */
static int loop_run_body(struct oc_engine *e, const struct oc_loop *l, int64_t at)
{
    e->n_failed = l->failed;
    e->a->diags.n = l->diags < e->a->diags.n ? l->diags : e->a->diags.n;
    oc_loop_enter(e, l, at);
    return oc_infer_graph(e, l->body);
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

/* Common type of all trips: a dimension that differs between two has no bound. */
static struct oc_type loop_widen(struct oc_engine *e, const struct oc_type *a, const struct oc_type *b,
                                 uint32_t value)
{
    struct oc_type t = oc_merge_type(e, a, b, value);
    if (!t.shape.ranked)
        return t;
    struct oc_dim *dim = OC_NEW_ARRAY(&e->a->arena, t.shape.rank, struct oc_dim);
    for (unsigned i = 0; i < t.shape.rank; i++) {
        bool differs = !oc_is_known(t.shape.dim[i]) && !oc_same_dim(t.shape.dim[i], a->shape.dim[i]);
        const char *name = oc_printf(&e->a->arena, "%s.%u", e->m->value[value].name, i);
        dim[i] = differs ? oc_dim_fresh(e->a->exprs, name, -1) : t.shape.dim[i];
    }
    t.shape.dim = dim;
    return t;
}

static int find_fixed_point(struct oc_engine *e, struct oc_loop *l, bool *widened_any)
{
    const struct oc_node *n = &e->m->node[l->node];
    *widened_any = false;
    for (uint32_t i = 0; i < l->n_state; i++) {
        *widened_any |= l->type[i].item != NULL;
        l->type[i].item = NULL; /* trips may have different elements */
    }
    for (int round = 0; round < MAX_ROUNDS; round++) {
        if (loop_run_body(e, l, -1))
            return -1;
        bool changed = false;
        for (uint32_t i = 0; i < l->n_state; i++) {
            struct oc_type t = next_type(e, l, i);
            uint32_t name =
                i < n->n_out && n->out[i] != OC_NONE ? n->out[i] : body_input(e, l, l->body_state + i);
            if (loop_same_type(&t, &l->type[i]) || name == OC_NONE)
                continue;
            struct oc_type merged = loop_widen(e, &l->type[i], &t, name);
            if (round + 2 >= MAX_ROUNDS)
                merged.shape = oc_shape_unranked();
            bool widened = !loop_same_type(&merged, &l->type[i]);
            if (round > 0)
                widened = widened && is_wider(&l->type[i], &merged);
            if (widened)
                l->type[i] = merged;
            changed |= widened;
            *widened_any |= widened;
        }
        if (!changed)
            return 0;
    }
    return 0;
}

/* ---- trip by trip ----------------------------------------------------------------------------------- */

/* Whether the cost of a body may be another one in each trip: a size, a branch or a nested trip count is not
 * known for all trips. */
static bool is_uncertain(const struct oc_engine *e, uint32_t graph)
{
    const struct oc_graph *g = &e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        unsigned bodies = 0;
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k] != OC_NONE && e->a->value_state[n->out[k]] != OC_V_STATIC &&
                e->a->value_state[n->out[k]] != OC_V_DECLARED)
                return true;
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++) {
                uint32_t body = n->attr[a].graph[b];
                bodies += !e->skip[body];
                if (!e->skip[body] &&
                    (e->loop_quality[body] != OC_EXACT || e->each_trip[body] || is_uncertain(e, body)))
                    return true;
            }
        const struct oc_control_bind *seen = bodies > 1 ? oc_control_seen(e, g->node[i]) : NULL;
        if ((bodies > 1 && (!seen || !seen->calls)) || (n->body != OC_NONE && is_uncertain(e, n->body)))
            return true;
    }
    return false;
}

static uint64_t count_nodes(const struct oc_engine *e, uint32_t graph)
{
    const struct oc_graph *g = &e->m->graph[graph];
    uint64_t sum = g->n_node;
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++)
                sum += count_nodes(e, n->attr[a].graph[b]);
        if (n->body != OC_NONE)
            sum += count_nodes(e, n->body);
    }
    return sum;
}

/* Infers `trips` trips; *l has the types and values after the last one. With `any`, the loop may end after
 * any of them: types are common to all. */
static int run_trips(struct oc_engine *e, struct oc_loop *l, int64_t trips, bool any)
{
    const struct oc_node *n = &e->m->node[l->node];
    struct oc_type common[OC_MAX_STATES];
    memcpy(common, l->type, sizeof(common));
    for (int64_t at = 0; at < trips; at++) {
        if (loop_run_body(e, l, at))
            return -1;
        oc_loop_leave(e, l);
        for (uint32_t i = 0; any && i < l->n_state && i < n->n_out; i++)
            if (n->out[i] != OC_NONE && !loop_same_type(&common[i], &l->type[i]))
                common[i] = oc_merge_type(e, &common[i], &l->type[i], n->out[i]);
    }
    for (uint32_t i = 0; any && i < l->n_state; i++)
        l->data[i] = NULL;
    if (any)
        memcpy(l->type, common, sizeof(common));
    return 0;
}

/* Infers the body for the trips of l: in general, and one by one where they differ and are few. `first` is l
 * before the first trip; `ends` false: the loop may end earlier. */
static int infer_trips(struct oc_engine *e, struct oc_loop *l, const struct oc_loop *first, bool widened,
                       bool ends)
{
    int64_t trips = oc_is_known(l->trips) ? l->trips.v : oc_dim_max_value(e->a->exprs, l->trips);
    if (trips == 0 && ends) {
        memcpy(l->type, first->type, sizeof(l->type));
        memcpy(l->data, first->data, sizeof(l->data));
        return 0;
    }
    uint64_t work = count_nodes(e, l->body) + 1;
    bool differ = trips > 0 && (widened || is_uncertain(e, l->body)) &&
                  (uint64_t)trips <= e->spare / 4 / work && oc_spend(e, (uint64_t)trips * work);
    if (!differ)
        return 0;
    struct oc_loop at = *first;
    if (run_trips(e, &at, trips, !ends))
        return -1;
    e->each_trip[l->body] = true;
    memcpy(l->type, at.type, sizeof(l->type));
    memcpy(l->data, at.data, sizeof(l->data));
    return 0;
}

static struct oc_type loop_with_axis(struct oc_engine *e, const struct oc_type *t, struct oc_dim d,
                                     int64_t axis)
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

static const struct oc_type *in_type(const struct oc_engine *e, const struct oc_node *n, uint32_t slot)
{
    static const struct oc_type none = {.kind = OC_T_NONE};
    return slot < n->n_in && n->in[slot] != OC_NONE ? &e->a->type[n->in[slot]] : &none;
}

/* ---- Loop: inputs M, cond, states; body inputs iteration, cond, states; body outputs cond, states, scans */

/* Whether the condition stays true once it is: the body passes it through, or computes a constant. Needs an
 * inference of the body in general. */
static bool stays_true(struct oc_engine *e, const struct oc_loop *l)
{
    const struct oc_graph *g = &e->m->graph[l->body];
    int64_t v;
    if (g->n_output == 0)
        return false;
    uint32_t out = g->output[0];
    for (int steps = 0; steps < 16 && out != OC_NONE; steps++) {
        const struct oc_data *d = oc_known_data(e, out);
        if (out == body_input(e, l, 1))
            return true;
        if (d)
            return d->n == 1 && oc_elem_known_int(&d->e[0], &v) && v;
        uint32_t p = e->m->value[out].producer;
        if (p == OC_NONE || e->m->node[p].n_in != 1 || strcmp(e->m->node[p].op_type, "Identity") != 0)
            return false;
        out = e->m->node[p].in[0];
    }
    return false;
}

/* M: -1 when it is absent, unknown, or the largest integer ("while" of exporters); *trips is then a symbol.
 */
static int64_t loop_limit(struct oc_engine *e, const struct oc_node *n, struct oc_loop *l)
{
    struct oc_dim *trips = &l->trips;
    struct oc_op_ctx c;
    char buf[256];
    oc_fill_ctx(e, n, NULL, &c);
    const struct oc_data *d = n->n_in && n->in[0] != OC_NONE ? oc_in_value(&c, 0) : NULL;
    *trips = d && d->n == 1 && d->e[0].kind == OC_E_INT ? d->e[0].i : oc_known(INT64_MAX);
    l->unlimited = oc_is_known(*trips) && trips->v == INT64_MAX && (d || !n->n_in || n->in[0] == OC_NONE);
    if (oc_is_known(*trips) && trips->v == INT64_MAX)
        *trips = oc_dim_symbol(
            e->a->exprs, oc_printf(&e->a->arena, "trip(%s)", oc_node_label(e->m, n, buf, sizeof(buf))), -1);
    return !oc_is_known(*trips) ? -1 : trips->v < 0 ? 0 : trips->v;
}

static void begin_loop(struct oc_engine *e, const struct oc_node *n, struct oc_loop *l)
{
    struct oc_op_ctx c;
    int64_t go;
    l->counted = true;
    l->first_state = l->body_state = 2;
    l->out_state = 1;
    l->n_state = n->n_in > 2 ? n->n_in - 2 : 0;
    l->most = loop_limit(e, n, l);
    oc_fill_ctx(e, n, NULL, &c);
    bool given = n->n_in > 1 && n->in[1] != OC_NONE;
    l->go = !given ? 1 : oc_in_int(&c, 1, &go) ? go != 0 : -1;
}

/* Evaluates the carried values after the last trip, where they are numbers that follow from the trip number.
 */
static void evaluate_states(struct oc_engine *e, struct oc_loop *l, const struct oc_loop *first)
{
    const struct oc_node *n = &e->m->node[l->node];
    struct oc_loop at = *first;
    bool any = false;
    for (uint32_t i = 0; i < l->n_state && i < n->n_out; i++)
        any |= first->data[i] && n->out[i] != OC_NONE;
    if (any && oc_is_known(l->trips) && oc_loop_evaluate(e, &at, l->trips.v) >= 0)
        memcpy(l->data, at.data, sizeof(l->data));
}

/* The trips of a Loop: given, or M, less where the condition ends it before. Returns false where they may be
 * fewer than l->trips. Needs an inference of the body in general. */
static bool count_trips(struct oc_engine *e, struct oc_loop *l, const struct oc_loop *first)
{
    struct oc_loop at = *first;
    int64_t trips = 0;
    memset(l->data, 0, sizeof(l->data));
    e->mean_trips[l->body] = false;
    bool given = oc_forced_trips(e, l->node, false, &trips);
    l->trips = given ? oc_known(trips) : l->trips;
    if (given || (first->go == 1 && stays_true(e, l))) {
        evaluate_states(e, l, first);
        return true;
    }
    trips = oc_loop_evaluate(e, &at, -1);
    if (trips >= 0) {
        l->trips = oc_known(trips);
        memcpy(l->data, at.data, sizeof(l->data));
        return true;
    }
    e->mean_trips[l->body] = oc_forced_trips(e, l->node, true, &trips);
    l->trips = e->mean_trips[l->body] ? oc_known(trips) : l->trips;
    return e->mean_trips[l->body];
}

/* How the body counts: a known number of trips, else a bound. */
static void set_loop_trips(struct oc_engine *e, struct oc_loop *l, const struct oc_loop *first, bool ends)
{
    uint8_t *quality = &e->loop_quality[l->body];
    oc_set_model_trips(e, l->node, l->body, l->trips);
    if (!ends && oc_is_known(l->trips))
        *quality = OC_UPPER;
    e->first_trip[l->body] = first->go == 1 && (first->unlimited || first->most > 0);
    if (*quality == OC_LOWER && !e->first_trip[l->body])
        *quality = OC_EST;
}

static void loop_set_outputs(struct oc_engine *e, const struct oc_loop *l, struct oc_dim count)
{
    const struct oc_node *n = &e->m->node[l->node];
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        struct oc_type t =
            i < l->n_state ? l->type[i] : loop_with_axis(e, oc_body_output(e, l->body, 1 + i), count, 0);
        oc_set_value(e, n->out[i], &t);
        e->a->data[n->out[i]] = i < l->n_state ? l->data[i] : NULL;
        e->varies[n->out[i]] = e->a->data[n->out[i]] ? OC_VARIES_TRIP : 0;
        e->any_varies |= e->a->data[n->out[i]] != NULL;
    }
}

/* Whether another number of trips gives other sizes. */
static bool shapes_depend_on_trips(const struct oc_engine *e, const struct oc_loop *l, bool widened)
{
    const struct oc_node *n = &e->m->node[l->node];
    for (uint32_t i = l->n_state; i < n->n_out; i++)
        widened |= n->out[i] != OC_NONE && e->m->value[n->out[i]].n_use > 0;
    return widened;
}

int oc_infer_loop(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_loop l;
    bool widened;
    if (oc_loop_begin(e, node, &l))
        return -1;
    const struct oc_loop first = l;
    if (find_fixed_point(e, &l, &widened))
        return -1;
    e->in_values = OC_NONE;
    bool ends = count_trips(e, &l, &first);
    if (e->in_values == l.body && loop_run_body(e, &l, -1))
        return -1;
    struct oc_dim count = l.trips;
    set_loop_trips(e, &l, &first, ends);
    if (!ends) {
        char buf[256];
        const char *name = oc_node_label(e->m, n, buf, sizeof(buf));
        count = oc_dim_fresh(e->a->exprs, oc_printf(&e->a->arena, "trip(%s)", name),
                             oc_dim_max_value(e->a->exprs, l.trips));
    }
    if (infer_trips(e, &l, &first, widened, ends))
        return -1;
    if (e->mean_trips[l.body] && (e->each_trip[l.body] || shapes_depend_on_trips(e, &l, widened)))
        e->loop_quality[l.body] = OC_EST;
    loop_set_outputs(e, &l, count);
    return 0;
}

/* ---- Scan: Scan-8 has sequence lengths first, and a batch axis on every input ----------------------- */

static int begin_scan(struct oc_engine *e, const struct oc_node *n, struct oc_loop *l)
{
    int64_t count = oc_node_int(n, "num_scan_inputs", -1);
    l->scan8 = n->opset > 0 && n->opset < 9;
    l->first_state = l->scan8 ? 1 : 0;
    uint32_t n_data = n->n_in > l->first_state ? n->n_in - l->first_state : 0;
    if (count < 0 || count > n_data)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (Scan): num_scan_inputs does not match the inputs",
                       n->name);
    l->n_state = n_data - (uint32_t)count;
    l->batch = oc_known(1);
    return 0;
}

int oc_loop_begin(struct oc_engine *e, uint32_t node, struct oc_loop *l)
{
    const struct oc_node *n = &e->m->node[node];
    *l = (struct oc_loop){.node = node,
                          .body = oc_body_of(n, "body"),
                          .trips = {.v = 0},
                          .diags = e->a->diags.n,
                          .failed = e->n_failed};
    e->a->cost[node].state = OC_NODE_CONTAINER;
    if (l->body == OC_NONE)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (%s): the body is missing", n->name, n->op_type);
    e->loop_quality[l->body] = OC_EXACT;
    e->each_trip[l->body] = false;
    if (e->a->op[node]->body == OC_BODY_LOOP)
        begin_loop(e, n, l);
    else if (begin_scan(e, n, l))
        return -1;
    if (l->n_state > OC_MAX_STATES)
        return oc_fail(e->err, OC_ELIMIT, "node '%s' (%s): more than %d carried values", n->name, n->op_type,
                       OC_MAX_STATES);
    for (uint32_t i = 0; i < l->n_state; i++) {
        const struct oc_type *t = in_type(e, n, l->first_state + i);
        uint32_t value = n->in[l->first_state + i];
        l->type[i] = l->scan8 ? without_axis(e, t, 0, &l->batch) : *t;
        l->data[i] = l->scan8 ? NULL : known_value(e, value);
    }
    return 0;
}

int oc_infer_scan(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_loop l;
    struct oc_dim trips = oc_known(0), ignored;
    bool widened;
    if (oc_loop_begin(e, node, &l))
        return -1;
    for (uint32_t i = 0; l.first_state + l.n_state + i < n->n_in; i++) {
        struct oc_type t = *in_type(e, n, l.first_state + l.n_state + i);
        if (l.scan8)
            t = without_axis(e, &t, 0, &l.batch);
        t = without_axis(e, &t, l.scan8 ? 0 : oc_node_int_at(n, "scan_input_axes", i, 0),
                         i ? &ignored : &trips);
        set_input(e, &l, l.n_state + i, &t, NULL);
    }
    const struct oc_loop first = l;
    l.trips = l.scan8 ? oc_dim_mul(e->a->exprs, trips, l.batch) : trips;
    oc_set_trips(e, l.node, l.body, &l.trips);
    if (find_fixed_point(e, &l, &widened) || infer_trips(e, &l, &first, widened, oc_is_known(l.trips)))
        return -1;
    for (uint32_t i = 0; i < n->n_out; i++) {
        if (n->out[i] == OC_NONE)
            continue;
        struct oc_type t = i < l.n_state ? l.type[i] : *oc_body_output(e, l.body, i);
        if (i >= l.n_state)
            t = loop_with_axis(e, &t, trips,
                               l.scan8 ? 0 : oc_node_int_at(n, "scan_output_axes", i - l.n_state, 0));
        if (l.scan8)
            t = loop_with_axis(e, &t, l.batch, 0);
        oc_set_value(e, n->out[i], &t);
    }
    return 0;
}

/* ---- SequenceMap ------------------------------------------------------------------------------------ */

int oc_infer_sequence_map(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    struct oc_loop l = {.node = node, .body = oc_body_of(n, "body")};
    char buf[256];
    e->a->cost[node].state = OC_NODE_CONTAINER;
    if (l.body == OC_NONE)
        return oc_fail(e->err, OC_EFORMAT, "node '%s' (SequenceMap): the body is missing", n->name);
    e->loop_quality[l.body] = OC_EXACT;
    l.trips = oc_dim_symbol(
        e->a->exprs, oc_printf(&e->a->arena, "length(%s)", oc_node_label(e->m, n, buf, sizeof(buf))), -1);
    for (uint32_t i = 0; i < n->n_in; i++) {
        const struct oc_type *t = in_type(e, n, i);
        bool sequence = t->kind == OC_T_SEQUENCE && t->elem;
        set_input(e, &l, i, sequence ? t->elem : t, NULL);
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
