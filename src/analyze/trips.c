/* Trips of Loop, Scan and SequenceMap: their count, given, recorded, or evaluated from the condition of a Loop;
 * and the cost of all trips. */
#include <stdlib.h>
#include <string.h>

#include "analyze/convention.h"
#include "analyze/engine.h"
#include "base/ck.h"
#include "base/str.h"
#include "onnxcost.h"

/* ---- given and recorded ----------------------------------------------------------------------------- */

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

const struct oc_control_bind *oc_control_seen(const struct oc_engine *e, uint32_t node)
{
    for (size_t i = 0; i < e->o->n_control; i++)
        if (e->o->control[i].node == node)
            return &e->o->control[i];
    return NULL;
}

bool oc_forced_trips(struct oc_engine *e, uint32_t node, bool mean, int64_t *trips)
{
    const struct oc_node *n = &e->m->node[node];
    const struct oc_control_bind *seen = oc_control_seen(e, node);
    char buf[256];
    bool given = given_trips(e, n, trips);
    if (!given && (!seen || seen->value < 0 || (seen->value > 0 && seen->calls > 1 && !mean)))
        return false;
    if (!given)
        *trips = seen->value;
    oc_assume(e, "trip", oc_node_label(e->m, n, buf, sizeof(buf)),
              oc_printf(&e->a->arena, "%lld", (long long)*trips), given ? "--trip" : "from the profile");
    return true;
}

bool oc_body_executions(struct oc_engine *e, uint32_t node, unsigned which, uint64_t outside, uint64_t *n,
                        bool *exact)
{
    const struct oc_control_bind *seen = oc_control_seen(e, node);
    int64_t given;
    uint64_t all;
    if (!seen || !seen->calls || given_trips(e, &e->m->node[node], &given) ||
        !oc_mul_u64(seen->body[which], outside, &all))
        return false;
    *n = (all + seen->calls / 2) / seen->calls;
    *exact = outside == seen->calls && !seen->mean;
    return true;
}

void oc_set_trips(struct oc_engine *e, uint32_t node, uint32_t body, struct oc_dim *trips)
{
    int64_t v;
    if (oc_forced_trips(e, node, true, &v))
        *trips = oc_known(v);
    oc_set_model_trips(e, node, body, *trips);
}

void oc_set_model_trips(struct oc_engine *e, uint32_t node, uint32_t body, struct oc_dim trips)
{
    char buf[256];
    int64_t max = oc_dim_max_value(e->a->exprs, trips);
    if (oc_is_known(trips)) {
        e->loop_trips[body] = trips.v > 0 ? (uint64_t)trips.v : 0;
    } else if (max >= 0) {
        e->loop_trips[body] = (uint64_t)max;
        e->loop_quality[body] = OC_UPPER;
    } else {
        e->loop_trips[body] = 1;
        e->loop_quality[body] = OC_LOWER;
        oc_assume(e, "trip", oc_node_label(e->m, &e->m->node[node], buf, sizeof(buf)), "1",
                  "the number of trips is unknown: one is counted (set it with --trip)");
    }
}

/* ---- the part of the body that the condition is computed from --------------------------------------- */

struct slice {
    struct oc_engine *e;
    const struct oc_loop *l;
    uint32_t *node; /* of the body, in order */
    uint32_t n;
    bool state[OC_MAX_STATES]; /* carried values in it */
    uint32_t *todo;            /* values whose producers are not looked at yet */
    uint32_t n_todo, cap_todo;
};

static void want(struct slice *s, uint32_t value)
{
    const struct oc_model *m = s->e->m;
    if (value == OC_NONE || m->value[value].graph != s->l->body || s->e->in_slice[value] == s->e->slice)
        return;
    s->e->in_slice[value] = s->e->slice;
    OC_GROW(s->todo, s->n_todo, s->cap_todo);
    s->todo[s->n_todo++] = value;
}

static void want_graph(struct slice *s, uint32_t graph);

static void want_inputs(struct slice *s, const struct oc_node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        want(s, n->in[i]);
    for (uint32_t a = 0; a < n->n_attr; a++)
        for (uint32_t b = 0; n->attr[a].graph && b < n->attr[a].n; b++)
            want_graph(s, n->attr[a].graph[b]);
    if (n->body != OC_NONE)
        want_graph(s, n->body);
}

/* Values of the body that a nested body reads. */
static void want_graph(struct slice *s, uint32_t graph)
{
    const struct oc_graph *g = &s->e->m->graph[graph];
    for (uint32_t i = 0; i < g->n_node; i++)
        want_inputs(s, &s->e->m->node[g->node[i]]);
    for (uint32_t i = 0; i < g->n_output; i++)
        want(s, g->output[i]);
}

static void want_source(struct slice *s, uint32_t value)
{
    uint32_t p = s->e->m->value[value].producer;
    if (p != OC_NONE) {
        const struct oc_node *n = &s->e->m->node[p];
        for (uint32_t i = 0; i < n->n_out; i++)
            if (n->out[i] != OC_NONE)
                s->e->in_slice[n->out[i]] = s->e->slice;
        want_inputs(s, n);
        return;
    }
    for (uint32_t i = 0; i < s->l->n_state; i++)
        if (oc_loop_state_in(s->e, s->l, i) == value) {
            s->state[i] = true;
            want(s, oc_loop_state_out(s->e, s->l, i));
        }
}

/* The condition, and the carried values that are numbers. */
static void find_slice(struct slice *s)
{
    struct oc_engine *e = s->e;
    const struct oc_graph *g = &e->m->graph[s->l->body];
    if (!e->in_slice)
        e->in_slice = OC_NEW_ARRAY(&e->a->arena, e->m->n_value, uint32_t);
    e->slice++;
    if (s->l->counted && g->n_output)
        want(s, g->output[0]);
    for (uint32_t i = 0; i < s->l->n_state; i++)
        if (s->l->data[i]) {
            s->state[i] = true;
            want(s, oc_loop_state_out(e, s->l, i));
        }
    while (s->n_todo)
        want_source(s, s->todo[--s->n_todo]);
    s->node = OC_NEW_ARRAY(&e->a->arena, g->n_node, uint32_t);
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        bool in = false;
        for (uint32_t k = 0; k < n->n_out; k++)
            in |= n->out[k] != OC_NONE && e->in_slice[n->out[k]] == e->slice;
        if (in)
            s->node[s->n++] = g->node[i];
    }
    free(s->todo);
}

static int run_slice(struct slice *s, int64_t at)
{
    oc_loop_enter(s->e, s->l, at);
    for (uint32_t i = 0; i < s->n; i++)
        if (oc_infer_node(s->e, s->node[i]))
            return -1;
    return 0;
}

/* ---- many trips at once ----------------------------------------------------------------------------- */

/* Looks through nodes that copy a value. */
static uint32_t copied_from(const struct oc_engine *e, uint32_t value)
{
    for (int steps = 0; value != OC_NONE && steps < 16; steps++) {
        uint32_t p = e->m->value[value].producer;
        if (p == OC_NONE || !oc_equal(e->m->node[p].op_type, "Identity") || e->m->node[p].n_in != 1)
            break;
        value = e->m->node[p].in[0];
    }
    return value;
}

static bool single_int(const struct oc_data *d, int64_t *v)
{
    return d && d->n == 1 && oc_elem_known_int(&d->e[0], v);
}

/* Whether carried value i changes by the same integer in every trip. Needs a run of the slice. */
static bool find_step(struct slice *s, uint32_t i, int64_t *step)
{
    struct oc_engine *e = s->e;
    uint32_t state = oc_loop_state_in(e, s->l, i), value = copied_from(e, oc_loop_state_out(e, s->l, i));
    *step = 0;
    if (value == OC_NONE || value == state)
        return value == state;
    uint32_t p = e->m->value[value].producer;
    const struct oc_node *n = p == OC_NONE ? NULL : &e->m->node[p];
    bool minus = n && oc_equal(n->op_type, "Sub");
    if (!n || n->n_in != 2 || (!minus && !oc_equal(n->op_type, "Add")))
        return false;
    bool second = !minus && copied_from(e, n->in[1]) == state;
    if (!second && copied_from(e, n->in[0]) != state)
        return false;
    struct oc_op_ctx c;
    oc_fill_ctx(e, n, NULL, &c);
    if ((e->varies[n->in[!second]] & OC_VARIES_TRIP) || !oc_in_int(&c, !second, step))
        return false;
    *step = minus ? -*step : *step;
    return true;
}

static bool is_integer_or_bool(const struct oc_engine *e, uint32_t value)
{
    unsigned kind = oc_dtype_info(e->a->type[value].dtype)->kind;
    return kind == OC_KIND_INT || kind == OC_KIND_BOOL;
}

/* Whether the condition of trip t + 1 is a monotonic function of t: sums of integers and one comparison. */
static bool is_monotonic(const struct slice *s)
{
    static const char *const sums[] = {"Add",     "Sub",       "Identity", "Constant", "Cast", "Not",
                                       "Squeeze", "Unsqueeze", "Reshape",  "And",      "Or"};
    static const char *const tests[] = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
    uint32_t n_test = 0, known = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct oc_node *n = &s->e->m->node[s->node[i]];
        for (size_t k = 0; k < OC_COUNT(sums); k++)
            known += oc_equal(n->op_type, sums[k]);
        for (size_t k = 0; k < OC_COUNT(tests); k++)
            n_test += oc_equal(n->op_type, tests[k]);
        if (n->n_out == 0 || n->out[0] == OC_NONE || !is_integer_or_bool(s->e, n->out[0]) ||
            (oc_equal(n->op_type, "Cast") && n->n_in && n->in[0] != OC_NONE &&
             (oc_dtype_info(s->e->a->type[n->in[0]].dtype)->kind == OC_KIND_BOOL) !=
                 (oc_dtype_info(s->e->a->type[n->out[0]].dtype)->kind == OC_KIND_BOOL)))
            return false;
    }
    return n_test <= 1 && known + n_test == s->n;
}

struct jump { /* carried values in trip t: first + t * step */
    int64_t first[OC_MAX_STATES], step[OC_MAX_STATES];
};

static bool states_at(struct slice *s, struct oc_loop *l, const struct jump *j, int64_t at)
{
    for (uint32_t i = 0; i < l->n_state; i++) {
        int64_t v;
        if (!s->state[i])
            continue;
        if (!oc_mul_i64(j->step[i], at, &v) || !oc_add_i64(v, j->first[i], &v))
            return false;
        struct oc_elem *elem = OC_NEW(&s->e->a->arena, struct oc_elem);
        struct oc_data *d = OC_NEW(&s->e->a->arena, struct oc_data);
        *elem = oc_elem_int(v);
        *d = (struct oc_data){.n = 1, .e = elem};
        l->data[i] = d;
    }
    return true;
}

/* The condition after trip `at`: 1, 0, -1 unknown. */
static int condition_after(struct slice *s, const struct jump *j, int64_t at)
{
    struct oc_loop l = *s->l;
    const struct oc_loop *kept = s->l;
    if (!states_at(s, &l, j, at))
        return -1;
    s->l = &l;
    int rc = run_slice(s, at);
    s->l = kept;
    if (rc)
        return -1;
    oc_loop_leave(s->e, &l);
    return l.go;
}

static bool find_jump(struct slice *s, struct jump *j)
{
    if (!is_monotonic(s) || !s->l->counted)
        return false;
    for (uint32_t i = 0; i < s->l->n_state; i++)
        if (s->state[i] && (!single_int(s->l->data[i], &j->first[i]) || !find_step(s, i, &j->step[i])))
            return false;
    return true;
}

/* Bisects for the first trip after which the condition is false. Needs a run of the slice in trip 0, and l as
 * before it. */
static int64_t jump_to_end(struct slice *s, struct oc_loop *l)
{
    struct jump j = {0};
    if (l->go != 1 || !find_jump(s, &j))
        return -1;
    int64_t going = -1, last = l->most >= 0 ? l->most : INT64_MAX / 4, at = 0;
    int go;
    while ((go = condition_after(s, &j, at)) == 1 && at < last) {
        going = at;
        at = at > last / 2 ? last : 2 * at + 1;
    }
    if (go < 0 || (go == 1 && l->most < 0))
        return -1;
    while (go == 0 && going + 1 < at) {
        int64_t middle = going + (at - going) / 2;
        int there = condition_after(s, &j, middle);
        if (there < 0)
            return -1;
        *(there ? &going : &at) = middle;
    }
    int64_t trips = l->most >= 0 && at + 1 > l->most ? l->most : at + 1;
    for (uint32_t i = 0; i < l->n_state; i++)
        if (!s->state[i])
            l->data[i] = NULL;
    return states_at(s, l, &j, trips) ? trips : -1;
}

/* ---- one trip after another ------------------------------------------------------------------------- */

static int64_t trips_walk(struct slice *s, struct oc_loop *l, int64_t trips)
{
    struct oc_engine *e = s->e;
    struct oc_loop start = *l;
    for (int64_t at = 0;; at++) {
        if (at == trips || (trips < 0 && (at == l->most || l->go == 0)))
            return at;
        if (trips < 0 && l->go < 0)
            return -1;
        uint64_t before = e->n_looked;
        if (run_slice(s, at))
            return -1;
        if (at == 0 && trips < 0) {
            s->l = &start;
            int64_t end = jump_to_end(s, &start);
            s->l = l;
            if (end >= 0) {
                *l = start;
                return end;
            }
            if (run_slice(s, at))
                return -1;
        }
        oc_loop_leave(e, l);
        if (!oc_spend(e, e->n_looked - before + 1))
            return -1;
    }
}

int64_t oc_loop_evaluate(struct oc_engine *e, struct oc_loop *l, int64_t trips)
{
    struct slice s = {.e = e, .l = l};
    size_t diags = e->a->diags.n;
    uint32_t failed = e->n_failed, assumed = e->n_assumption;
    find_slice(&s);
    int64_t end = trips_walk(&s, l, trips);
    e->in_values = l->body;
    e->a->diags.n = diags;
    e->n_failed = failed;
    e->n_assumption = assumed;
    if (end < 0)
        oc_exprs_clear_overflow(e->a->exprs);
    return end;
}

/* ---- cost of the trips -------------------------------------------------------------------------------- */

#define MOST_OF_A_BOUND ((uint64_t)1 << 60) /* so that the totals of several loops fit 64 bits */

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

/* ---- the nodes of a body, nested bodies included ---------------------------------------------------- */

struct node_sum {
    struct oc_node_cost k; /* without counts */
    struct oc_cost_sum sum;
};

struct body_nodes {
    uint32_t *node, *graph;
    uint32_t n_node, n_graph, cap_node, cap_graph;
    struct oc_node_cost *cost; /* as they were, by index */
    uint8_t *use;
    struct node_sum *sum;
    uint8_t *sum_use;
};

static void list_graph(struct oc_engine *e, uint32_t graph, struct body_nodes *b)
{
    const struct oc_graph *g = &e->m->graph[graph];
    OC_GROW(b->graph, b->n_graph, b->cap_graph);
    b->graph[b->n_graph++] = graph;
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &e->m->node[g->node[i]];
        OC_GROW(b->node, b->n_node, b->cap_node);
        b->node[b->n_node++] = g->node[i];
        for (uint32_t a = 0; a < n->n_attr; a++)
            for (uint32_t k = 0; n->attr[a].graph && k < n->attr[a].n; k++)
                list_graph(e, n->attr[a].graph[k], b);
        if (n->body != OC_NONE)
            list_graph(e, n->body, b);
    }
}

static void save_body(struct oc_engine *e, uint32_t body, struct body_nodes *b)
{
    *b = (struct body_nodes){0};
    list_graph(e, body, b);
    b->cost = oc_xcalloc((size_t)b->n_node + 1, sizeof(*b->cost));
    b->use = oc_xcalloc(b->n_graph, sizeof(*b->use));
    for (uint32_t i = 0; i < b->n_node; i++)
        b->cost[i] = e->a->cost[b->node[i]];
    for (uint32_t i = 0; i < b->n_graph; i++)
        b->use[i] = e->graph_use[b->graph[i]];
}

static void restore_body(struct oc_engine *e, const struct body_nodes *b)
{
    for (uint32_t i = 0; i < b->n_node; i++)
        e->a->cost[b->node[i]] = b->cost[i];
    for (uint32_t i = 0; i < b->n_graph; i++)
        e->graph_use[b->graph[i]] = b->use[i];
}

static void free_body(struct body_nodes *b)
{
    free(b->node);
    free(b->graph);
    free(b->cost);
    free(b->use);
    free(b->sum);
    free(b->sum_use);
}

/* ---- trips that differ: the sum over them ----------------------------------------------------------- */

static bool add_trip(struct oc_engine *e, struct node_sum *s, const struct oc_node_cost *k, bool first)
{
    struct oc_node_cost *t = &s->k;
    uint64_t *weights = &s->sum.count[OC_COST_RD_WT], before = *weights;
    if (first || t->state == OC_NODE_NOT_TAKEN || t->state == OC_NODE_FOLDED) {
        t->state = k->state;
        t->op_class = k->op_class;
        t->mac_class = k->mac_class;
        t->rest_class = k->rest_class;
        t->alias = k->alias;
        t->view = k->view;
        t->note = k->note;
    }
    if (k->macs)
        t->mac_class = k->mac_class;
    if (k->quality != OC_EXACT)
        t->note = k->note;
    t->quality = oc_worse_quality(t->quality, k->quality);
    bool ok = oc_cost_sum_add(&s->sum, k, 1) && oc_add_u64(t->trips, k->trips, &t->trips);
    if (e->o->loop_cached) /* the first trip that reads them fills the cache */
        *weights = before > k->rd_wt ? before : k->rd_wt;
    return ok;
}

static int cost_trip(struct oc_engine *e, struct oc_loop *l, int64_t at, uint64_t outside,
                     struct body_nodes *b)
{
    uint64_t weights = e->a->class_elems[OC_PC_WEIGHT];
    bool ok = true;
    e->a->diags.n = l->diags;
    e->n_failed = l->failed;
    oc_loop_enter(e, l, at);
    if (oc_infer_graph(e, l->body) || oc_cost_graph(e, l->body, outside))
        return -1;
    if (at) /* parameters in attributes count once */
        e->a->class_elems[OC_PC_WEIGHT] = weights;
    for (uint32_t i = 0; i < b->n_node; i++)
        ok &= add_trip(e, &b->sum[i], &e->a->cost[b->node[i]], at == 0);
    for (uint32_t i = 0; i < b->n_graph; i++)
        if (at == 0 || e->graph_use[b->graph[i]] == OC_G_RUN)
            b->sum_use[i] = e->graph_use[b->graph[i]];
    for (uint32_t i = 0; at == 0 && i < b->n_node; i++)
        b->cost[i].params += e->a->cost[b->node[i]].params;
    oc_loop_leave(e, l);
    return ok ? 0 : oc_fail(e->err, OC_ELIMIT, "the counts of a loop overflow 64 bits");
}

/* Infers and counts each trip, with the values known in it. */
static int cost_each_trip(struct oc_engine *e, uint32_t node, uint64_t outside)
{
    uint32_t body = oc_body_of(&e->m->node[node], "body");
    uint8_t quality = e->loop_quality[body];
    struct body_nodes b;
    struct oc_loop l;
    int rc = oc_loop_begin(e, node, &l);
    save_body(e, body, &b);
    b.sum = oc_xcalloc((size_t)b.n_node + 1, sizeof(*b.sum));
    b.sum_use = oc_xcalloc(b.n_graph, sizeof(*b.sum_use));
    for (uint64_t at = 0; !rc && at < e->loop_trips[body]; at++)
        rc = cost_trip(e, &l, (int64_t)at, outside, &b);
    e->loop_quality[body] = quality;
    e->each_trip[body] = true;
    for (uint32_t i = 0; i < b.n_node; i++) {
        struct oc_node_cost *k = &e->a->cost[b.node[i]];
        *k = b.sum[i].k;
        k->params = b.cost[i].params;
        oc_cost_sum_mean(&b.sum[i].sum, 1, &e->a->arena, k);
    }
    for (uint32_t i = 0; i < b.n_graph; i++)
        e->graph_use[b.graph[i]] = b.sum_use[i];
    free_body(&b);
    return rc;
}

/* ---- equal trips ------------------------------------------------------------------------------------ */

/* Whether the counts of a body leave no room for other sums. */
static bool is_huge(const struct oc_engine *e, const struct body_nodes *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->n_node; i++) {
        const struct oc_node_cost *k = &e->a->cost[b->node[i]];
        const uint64_t part[] = {k->flops, k->ops, k->rd_act, k->rd_wt, k->wr};
        for (size_t p = 0; p < OC_COUNT(part); p++)
            if (!oc_add_u64(sum, part[p], &sum) || sum > MOST_OF_A_BOUND)
                return true;
    }
    return false;
}

static int cost_times(struct oc_engine *e, uint32_t body, uint64_t outside, uint64_t trips)
{
    uint64_t all, cached = e->cached_trips;
    if (!oc_mul_u64(outside, trips, &all))
        return -1;
    if (e->o->loop_cached) /* a factor of `all`: it wraps only where that is 0 */
        e->cached_trips *= trips;
    int rc = oc_cost_graph(e, body, all);
    e->cached_trips = cached;
    return rc;
}

/* A number of trips beyond 64 bits does not bound anything: one is counted. */
static int cost_one_trip(struct oc_engine *e, uint32_t node, uint32_t body, uint64_t outside)
{
    char buf[256];
    *e->err = (struct oc_err){0};
    e->loop_trips[body] = 1;
    e->loop_quality[body] = e->first_trip[body] || e->loop_quality[body] == OC_EXACT ? OC_LOWER : OC_EST;
    oc_assume(e, "trip", oc_node_label(e->m, &e->m->node[node], buf, sizeof(buf)), "1",
              "the largest number of trips is beyond 64 bits: one is counted (set it with --trip)");
    return cost_times(e, body, outside, 1);
}

static int cost_body(struct oc_engine *e, uint32_t node, uint32_t body, uint64_t outside)
{
    bool once = oc_convention_loops_once(e->convention);
    uint64_t trips = once ? 1 : e->loop_trips[body];
    struct body_nodes b;
    if (e->each_trip[body] && !once)
        return cost_each_trip(e, node, outside);
    uint64_t weights = e->a->class_elems[OC_PC_WEIGHT];
    save_body(e, body, &b);
    int rc = cost_times(e, body, outside, trips);
    if (trips > 1 && (rc || (e->loop_quality[body] == OC_UPPER && is_huge(e, &b)))) {
        restore_body(e, &b);
        e->a->class_elems[OC_PC_WEIGHT] = weights;
        rc = cost_one_trip(e, node, body, outside);
    }
    free_body(&b);
    return rc;
}

int oc_cost_loop(struct oc_engine *e, uint32_t node, uint64_t outside)
{
    uint32_t body = oc_body_of(&e->m->node[node], "body");
    uint64_t n;
    bool exact;
    if ((e->loop_quality[body] != OC_EXACT || e->mean_trips[body]) &&
        !oc_convention_loops_once(e->convention) && oc_body_executions(e, node, 0, outside, &n, &exact)) {
        if (oc_cost_graph(e, body, n))
            return -1;
        if ((!exact || e->loop_quality[body] == OC_EST) && outside)
            oc_mark_graph(e, body, OC_EST, "the mean number of recorded trips");
        return 0;
    }
    if (cost_body(e, node, body, outside))
        return -1;
    uint8_t quality = e->loop_quality[body];
    if (quality != OC_EXACT && outside)
        oc_mark_graph(e, body, quality,
                      quality == OC_UPPER ? "counted at the maximum number of trips"
                                          : "one trip is counted; the number is unknown");
    return 0;
}
