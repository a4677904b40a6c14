/* Live ranges of buffers and their peak. The walk over nodes and bodies is liveness_walk.c. */
#include "analyze/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "onnxcost.h"

/* Execution order of ONNX Runtime's sequential executor: reverse depth-first search from the nodes whose
 * outputs no other node reads, the input whose producer is last in the file first (1.0 to 1.30: GraphViewer's
 * default order, Graph::ReverseDFSFrom with the nodes' indices). */

struct search {
    struct oc_live_walk *w;
    uint32_t *made_by; /* by value: step in file order */
    bool *visited;     /* by step */
    struct entry {
        uint32_t step;
        bool leave;
    } * stack;
    uint32_t n, cap;
    struct source {
        uint32_t node, step;
    } * source; /* of one step */
    uint32_t n_source, cap_source;
};

/* The runtime's index of a node is its place in the file; nodes that it adds follow those of the file. */
OC_BY(by_index, struct source, node)

static void liveness_order_push(struct search *s, uint32_t step, bool leave)
{
    OC_GROW(s->stack, s->n, s->cap);
    s->stack[s->n++] = (struct entry){step, leave};
}

static void add_source(struct search *s, uint32_t value)
{
    uint32_t step = value == OC_NONE ? OC_NONE : s->made_by[value];
    if (step == OC_NONE)
        return;
    OC_GROW(s->source, s->n_source, s->cap_source);
    s->source[s->n_source++] = (struct source){s->w->step[step], step};
}

static void liveness_order_find_sources(struct search *s, uint32_t node)
{
    const struct oc_model *m = s->w->b->m;
    const struct oc_node *n = &m->node[node];
    s->n_source = 0;
    for (uint32_t k = 0; k < n->n_in; k++)
        add_source(s, n->in[k]);
    uint32_t c = oc_first_capture(m->capture, m->n_capture, node);
    for (; c < m->n_capture && m->capture[c].node == node; c++)
        add_source(s, m->capture[c].value);
}

static void liveness_order_enter(struct search *s, uint32_t step)
{
    if (s->visited[step])
        return;
    s->visited[step] = true;
    liveness_order_push(s, step, true);
    liveness_order_find_sources(s, s->w->step[step]);
    if (s->n_source)
        qsort(s->source, s->n_source, sizeof(*s->source), by_index);
    for (uint32_t i = 0; i < s->n_source; i++)
        if (!s->visited[s->source[i].step])
            liveness_order_push(s, s->source[i].step, false);
}

static void set_makers(struct search *s, bool forget)
{
    for (uint32_t i = 0; i < s->w->n; i++) {
        const struct oc_node *n = &s->w->b->m->node[s->w->step[i]];
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k] != OC_NONE)
                s->made_by[n->out[k]] = forget ? OC_NONE : i;
    }
}

static void push_leaves(struct search *s)
{
    bool *read = calloc((size_t)s->w->n + 1, sizeof(*read));
    if (!read)
        oc_out_of_memory(s->w->n);
    for (uint32_t i = 0; i < s->w->n; i++) {
        liveness_order_find_sources(s, s->w->step[i]);
        for (uint32_t k = 0; k < s->n_source; k++)
            read[s->source[k].step] = true;
    }
    for (uint32_t i = 0; i < s->w->n; i++)
        if (!read[i])
            liveness_order_push(s, i, false);
    free(read);
}

struct recorded {
    uint32_t place, node;
};

OC_BY(by_recorded_place, struct recorded, place)

/* Whether each step is after those that make its inputs. */
static bool is_executable(struct search *s)
{
    bool ok = true;
    set_makers(s, false);
    for (uint32_t i = 0; i < s->w->n && ok; i++) {
        liveness_order_find_sources(s, s->w->step[i]);
        for (uint32_t k = 0; k < s->n_source; k++)
            ok &= s->source[k].step < i;
    }
    set_makers(s, true);
    return ok;
}

/* Unless a step was not recorded or precedes one that it needs. */
static bool sort_as_recorded(struct search *s, const uint32_t *place)
{
    struct oc_live_walk *w = s->w;
    struct recorded *as = oc_xmalloc(((size_t)w->n + 1) * sizeof(*as));
    uint32_t *steps = oc_xmalloc(((size_t)w->n + 1) * sizeof(*steps)), *file = w->step;
    bool ok = w->n > 0;
    for (uint32_t i = 0; i < w->n; i++) {
        as[i] = (struct recorded){place[file[i]], file[i]};
        ok &= as[i].place != OC_NONE;
    }
    if (ok)
        qsort(as, w->n, sizeof(*as), by_recorded_place);
    for (uint32_t i = 0; i < w->n; i++)
        steps[i] = as[i].node;
    w->step = steps;
    ok = ok && is_executable(s);
    if (ok)
        memcpy(file, steps, w->n * sizeof(*steps));
    w->step = file;
    free(steps);
    free(as);
    return ok;
}

/* Reverse depth-first search. */
static void sort_as_executed(struct search *s)
{
    struct oc_live_walk *w = s->w;
    uint32_t *order = oc_xmalloc(((size_t)w->n + 1) * sizeof(*order)), n = 0;
    s->visited = oc_xcalloc((size_t)w->n + 1, sizeof(bool));
    set_makers(s, false);
    push_leaves(s);
    while (s->n) {
        struct entry e = s->stack[--s->n];
        if (e.leave)
            order[n++] = w->step[e.step];
        else
            liveness_order_enter(s, e.step);
    }
    set_makers(s, true);
    if (n && n == w->n) /* a graph without cycles */
        memcpy(w->step, order, n * sizeof(*order));
    free(order);
    free(s->visited);
    free(s->stack);
}

void oc_live_order(struct oc_live_walk *w, bool main_graph)
{
    struct search s = {.w = w, .made_by = w->b->made_by};
    const uint32_t *place = main_graph ? w->b->o.place : NULL;
    if (!place || !sort_as_recorded(&s, place))
        sort_as_executed(&s);
    free(s.source);
}

/* Counts the reads of the host, in metadata slots, and looks for caches. */
static void look_at_operators(struct oc_live_builder *b)
{
    for (uint32_t i = 0; i < b->m->n_node; i++) {
        const struct oc_op *op = b->a->op[i];
        const struct oc_node *n = &b->m->node[i];
        b->has_caches |= op && op->kv;
        if (!op || !op->slots || !strchr(op->slots, 'm'))
            continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k] != OC_NONE && oc_op_slot(op, k) == 'm')
                b->host_reads[n->in[k]]++;
    }
}

/* What bodies of one model share while their liveness is made in turn: arrays by value, and marks on the values
 * of the graphs around the last body, which mostly are around the next one too. */
struct oc_liveness_maker {
    struct oc_live_builder b;
    uint32_t *outer; /* graphs whose values are the caller's, from the main graph inwards */
    uint32_t n_outer, cap_outer;
};

static void mark_value(struct oc_live_builder *b, uint32_t value, uint32_t life)
{
    if (value != OC_NONE && !b->a->is_const[value])
        b->of[value] = life;
}

static void mark_graph(struct oc_live_builder *b, uint32_t graph, uint32_t life)
{
    const struct oc_graph *g = &b->m->graph[graph];
    for (uint32_t i = 0; i < g->n_input; i++)
        mark_value(b, g->input[i], life);
    for (uint32_t i = 0; i < g->n_node; i++)
        for (uint32_t k = 0; k < b->m->node[g->node[i]].n_out; k++)
            mark_value(b, b->m->node[g->node[i]].out[k], life);
}

/* The graph around a body; OC_NONE: it is the main graph. */
static uint32_t graph_around(const struct oc_model *m, uint32_t graph)
{
    uint32_t node = m->graph[graph].parent_node;
    return node == OC_NONE ? OC_NONE : m->node[node].graph;
}

/* Values that a body captures are not its own: the marks become those for this graph. */
static void mark_outer(struct oc_liveness_maker *k, uint32_t graph)
{
    const struct oc_model *m = k->b.m;
    uint32_t depth = 0, same = 0;
    for (uint32_t g = graph_around(m, graph); g != OC_NONE; g = graph_around(m, g))
        depth++;
    uint32_t *around = oc_xmalloc(((size_t)depth + 1) * sizeof(*around)), i = depth;
    for (uint32_t g = graph_around(m, graph); g != OC_NONE; g = graph_around(m, g))
        around[--i] = g;
    while (same < depth && same < k->n_outer && around[same] == k->outer[same])
        same++;
    while (k->n_outer > same)
        mark_graph(&k->b, k->outer[--k->n_outer], OC_LIFE_NONE);
    for (i = same; i < depth; i++) {
        OC_PUSH(k->outer, k->n_outer, k->cap_outer) = around[i];
        mark_graph(&k->b, around[i], OC_LIFE_CALLER);
    }
    free(around);
}

static void add_own(struct oc_own_life *own, uint32_t *n, uint32_t value)
{
    if (value != OC_NONE)
        own[(*n)++].value = value;
}

OC_BY(by_value, struct oc_own_life, value)

/* The values of a body's inputs and of its steps' outputs. */
static struct oc_own_life *own_values(struct oc_liveness *l, const struct oc_live_walk *w, uint32_t *n)
{
    const struct oc_model *m = w->b->m;
    size_t most = w->g->n_input;
    for (uint32_t i = 0; i < w->n; i++)
        most += m->node[w->step[i]].n_out;
    struct oc_own_life *own = OC_NEW_ARRAY(&l->arena, most + 1, struct oc_own_life);
    for (uint32_t i = 0; i < w->g->n_input; i++)
        add_own(own, n, w->g->input[i]);
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < m->node[w->step[i]].n_out; k++)
            add_own(own, n, m->node[w->step[i]].out[k]);
    qsort(own, *n, sizeof(*own), by_value);
    return own;
}

/* place: by slot, its index in life */
static uint32_t packed_life(struct oc_live_builder *b, const uint32_t *place, uint32_t value)
{
    uint32_t i = oc_live_resolve(b, b->of[value]);
    return i < OC_LIFE_CALLER ? place[i] : i;
}

static void pack_values(struct oc_liveness *l, struct oc_live_walk *w, const uint32_t *place, bool body)
{
    struct oc_live_builder *b = w->b;
    if (body) {
        struct oc_own_life *own = own_values(l, w, &l->n_own);
        for (uint32_t i = 0; i < l->n_own; i++)
            own[i].life = packed_life(b, place, own[i].value);
        l->own = own;
        return;
    }
    uint32_t *of = OC_NEW_ARRAY(&l->arena, b->m->n_value, uint32_t);
    for (uint32_t v = 0; v < b->m->n_value; v++)
        of[v] = packed_life(b, place, v);
    l->of_value = of;
}

static void pack(struct oc_liveness *l, struct oc_live_walk *w, bool body)
{
    struct oc_live_builder *b = w->b;
    uint32_t *place = oc_xmalloc(((size_t)b->n + 1) * sizeof(*place));
    struct oc_life *life = OC_NEW_ARRAY(&l->arena, b->n, struct oc_life);
    for (uint32_t i = 0; i < b->n; i++) {
        place[i] = l->n_life;
        if (b->slot[i].into == i)
            life[l->n_life++] = b->slot[i].l;
    }
    l->life = life;
    pack_values(l, w, place, body);
    free(place);
    l->step = oc_copy_array(&l->arena, w->step, w->n, sizeof(*w->step));
    l->live = oc_copy_array(&l->arena, w->live, w->n, sizeof(*w->live));
    l->inner = oc_copy_array(&l->arena, w->inner, w->n, sizeof(*w->inner));
    l->n_step = w->n;
    l->peak = w->peak;
    l->lower = w->lower;
    l->peak_step = w->peak_step;
    l->quality = w->quality;
}

uint32_t oc_life_of(const struct oc_liveness *l, uint32_t value)
{
    if (value == OC_NONE)
        return OC_LIFE_NONE;
    if (l->of_value)
        return l->of_value[value];
    const struct oc_own_life key = {.value = value};
    const struct oc_own_life *own = l->n_own ? bsearch(&key, l->own, l->n_own, sizeof(key), by_value) : NULL;
    return own ? own->life : l->a->is_const[value] ? OC_LIFE_NONE : OC_LIFE_CALLER; /* of a graph around it */
}

struct oc_liveness_opts oc_liveness_opts_of(const struct oc_analysis *a)
{
    return (struct oc_liveness_opts){.align = a->counting->align_bytes,
                                     .keep_inputs = a->counting->keep_inputs,
                                     .inplace = a->counting->inplace,
                                     .kv_share = (uint8_t)a->counting->kv_share};
}

static void *unset(size_t n, size_t size)
{
    void *p = oc_xmalloc((n + 1) * size);
    memset(p, 0xff, n * size);
    return p;
}

static void begin(struct oc_live_builder *b, const struct oc_analysis *a, const struct oc_liveness_opts *opts)
{
    *b = (struct oc_live_builder){.a = a, .m = a->model, .o = *opts};
    b->of = unset(b->m->n_value, sizeof(*b->of));
    b->host_reads = oc_xcalloc((size_t)b->m->n_value + 1, sizeof(*b->host_reads));
    b->made_by = opts->order == OC_ORDER_ORT ? unset(b->m->n_value, sizeof(*b->made_by)) : NULL;
    b->cap = b->m->n_value + 1;
    b->slot = oc_xmalloc(b->cap * sizeof(*b->slot));
    look_at_operators(b);
}

static void end(struct oc_live_builder *b)
{
    free(b->of);
    free(b->host_reads);
    free(b->made_by);
    free(b->slot);
}

struct oc_liveness_maker *oc_liveness_maker_new(const struct oc_analysis *a,
                                                const struct oc_liveness_opts *opts)
{
    struct oc_liveness_maker *k = oc_xcalloc(1, sizeof(*k));
    begin(&k->b, a, opts);
    return k;
}

void oc_liveness_maker_free(struct oc_liveness_maker *k)
{
    end(&k->b);
    free(k->outer);
    free(k);
}

static struct oc_liveness *make(struct oc_liveness_maker *k, uint32_t graph)
{
    struct oc_liveness *l = oc_xmalloc(sizeof(*l));
    struct oc_live_walk w;
    *l = (struct oc_liveness){.a = k->b.a, .opts = k->b.o};
    mark_outer(k, graph);
    oc_live_walk(&k->b, graph, graph == 0, &w);
    pack(l, &w, graph != 0);
    oc_live_walk_end(&w, false);
    return l;
}

struct oc_liveness *oc_liveness_of_body(struct oc_liveness_maker *k, uint32_t body)
{
    return make(k, body);
}

struct oc_liveness *oc_liveness_make(const struct oc_analysis *a, uint32_t graph,
                                     const struct oc_liveness_opts *opts)
{
    struct oc_liveness_maker *k = oc_liveness_maker_new(a, opts);
    struct oc_liveness *l = make(k, graph);
    oc_liveness_maker_free(k);
    return l;
}

void oc_liveness_free(struct oc_liveness *l)
{
    if (!l)
        return;
    oc_arena_free(&l->arena);
    free(l);
}

struct oc_liveness *oc_liveness_of_largest(struct oc_liveness_maker *k, uint32_t node)
{
    const struct oc_node *n = &k->b.m->node[node];
    struct oc_liveness *best = NULL;
    for (uint32_t a = 0; a < n->n_attr; a++)
        for (uint32_t i = 0; n->attr[a].graph && i < n->attr[a].n; i++) {
            uint32_t body = n->attr[a].graph[i];
            if (k->b.a->graph_use[body] != OC_G_RUN)
                continue;
            struct oc_liveness *own = make(k, body), *worse = own;
            if (!best || own->peak > best->peak) {
                worse = best;
                best = own;
            }
            oc_liveness_free(worse);
        }
    return best;
}

void oc_find_peak(struct oc_analysis *a)
{
    struct oc_liveness_opts o = oc_liveness_opts_of(a);
    struct oc_live_builder b;
    struct oc_live_walk w;
    begin(&b, a, &o);
    oc_live_walk(&b, 0, true, &w);
    a->peak = (struct oc_peak){.bytes = w.peak,
                               .lower_bytes = w.lower,
                               .node = w.n ? w.step[w.peak_step] : OC_NONE,
                               .quality = w.quality};
    oc_live_walk_end(&w, true);
    end(&b);
}

/* ---- liveness bytes ----------------------------------------------------------------------------------- */

/* Bytes of a buffer. */

static uint64_t unknown_bytes(uint8_t *quality)
{
    *quality = OC_UNKNOWN;
    return 0;
}

static uint64_t live_tensor_bytes(const struct oc_analysis *a, const struct oc_type *t, uint8_t *quality)
{
    uint64_t bytes = 0, count = 1;
    if (!t->shape.ranked || t->dtype == OC_DT_UNDEFINED)
        return unknown_bytes(quality);
    for (unsigned i = 0; i < t->shape.rank; i++) {
        int64_t d = oc_dim_max_value(a->exprs, t->shape.dim[i]);
        if (d < 0 || !oc_mul_u64(count, (uint64_t)d, &count))
            return unknown_bytes(quality);
        if (!oc_is_known(t->shape.dim[i]))
            *quality = oc_worse_quality(*quality, OC_UPPER);
    }
    if (t->dtype == OC_DT_STRING && count)
        *quality = oc_worse_quality(*quality, OC_LOWER);
    return oc_bytes_of(t->dtype, count, &bytes) ? bytes : unknown_bytes(quality);
}

static uint64_t live_type_bytes(const struct oc_analysis *a, const struct oc_type *t, uint8_t *quality);

static uint64_t sequence_bytes(const struct oc_analysis *a, const struct oc_type *t, uint8_t *quality)
{
    uint64_t bytes = 0;
    int64_t n = t->shape.ranked && t->shape.rank == 1 ? oc_dim_max_value(a->exprs, t->shape.dim[0]) : -1;
    if (n < 0 || (n > 0 && !t->elem))
        return unknown_bytes(quality);
    if (!oc_is_known(t->shape.dim[0]))
        *quality = oc_worse_quality(*quality, OC_UPPER);
    for (int64_t i = 0; t->item && i < n; i++)
        if (!oc_add_u64(bytes, live_type_bytes(a, &t->item[i], quality), &bytes))
            return unknown_bytes(quality);
    if (!t->item && n > 0 && !oc_mul_u64((uint64_t)n, live_type_bytes(a, t->elem, quality), &bytes))
        return unknown_bytes(quality);
    return bytes;
}

static uint64_t live_type_bytes(const struct oc_analysis *a, const struct oc_type *t, uint8_t *quality)
{
    switch (t->kind) {
    case OC_T_TENSOR:
        return live_tensor_bytes(a, t, quality);
    case OC_T_SEQUENCE:
        return sequence_bytes(a, t, quality);
    case OC_T_OPTIONAL:
        return t->elem ? live_type_bytes(a, t->elem, quality) : unknown_bytes(quality);
    case OC_T_MAP: /* strings count as 0, with quality OC_LOWER */
        *quality = oc_worse_quality(*quality, OC_LOWER);
        return 0;
    default:
        return unknown_bytes(quality);
    }
}

uint64_t oc_live_bytes(const struct oc_live_builder *b, uint32_t value, uint8_t *quality)
{
    const struct oc_type *t = &b->a->type[value];
    const struct oc_value *v = &b->m->value[value];
    uint64_t bytes, rest;
    *quality = OC_EXACT;
    if (t->kind == OC_T_NONE && !v->n_use && !v->graph_output) /* an output without readers */
        return 0;
    bytes = live_type_bytes(b->a, t, quality);
    rest = b->o.align > 1 ? bytes % b->o.align : 0;
    return rest && !oc_add_u64(bytes, b->o.align - rest, &bytes) ? unknown_bytes(quality) : bytes;
}

/* ---- buffer reuse: caches ----------------------------------------------------------------------------- */

/* Buffer reuse: outputs that take over an input buffer that dies (caches, element-wise operators in place).
 */

static bool asks_to_share(const struct oc_op_kv *kv, const struct oc_node *n)
{
    return oc_node_int(n, "past_present_share_buffer", 0) ||
           (kv->length && kv->length < n->n_in && n->in[kv->length] != OC_NONE);
}

static bool cache_is_shared(const struct oc_op_kv *kv, const struct oc_node *n, unsigned share)
{
    if (kv->shared == OC_KV_SHARED_IN_PLACE)
        return true;
    if (share != OC_KV_AUTO)
        return share == OC_KV_ON;
    return kv->shared == OC_KV_SHARED_ALWAYS || (kv->shared == OC_KV_SHARED_IF_ASKED && asks_to_share(kv, n));
}

/* The input slot that shares its buffer with the output by definition of the operator (KV caches,
 * TensorScatter), or OC_NONE. */
static uint32_t cache_slot(const struct oc_op *op, const struct oc_node *n, uint32_t output, unsigned share)
{
    const struct oc_op_kv *kv = op ? op->kv : NULL;
    for (unsigned k = 0; kv && k < 2; k++)
        if (kv->pair[k].out == output && kv->pair[k].in < n->n_in && n->in[kv->pair[k].in] != OC_NONE)
            return cache_is_shared(kv, n, share) ? kv->pair[k].in : OC_NONE;
    return OC_NONE;
}

bool oc_cache_slots(const struct oc_node *n, unsigned k, uint32_t *in, uint32_t *out)
{
    const struct oc_op *op = oc_op_find(n->domain, n->op_type, n->opset);
    const struct oc_op_kv *kv = op ? op->kv : NULL;
    if (!kv || kv->pair[0].in == kv->pair[1].in)
        return false;
    *in = kv->pair[k].in;
    *out = kv->pair[k].out;
    return *in < n->n_in && *out < n->n_out;
}

/* ---- operators in place ----------------------------------------------------------------------------- */

static bool writes_in_place(const struct oc_op *op)
{
    return oc_op_is(op, OC_F_UPDATES) || (op && op->op_class == OC_OP_ELEMENTWISE);
}

bool oc_live_may_reuse(const struct oc_live_walk *w, uint32_t step, uint32_t value)
{
    const struct oc_node *n = &w->b->m->node[w->step[step]];
    if (!w->b->o.inplace || !n->n_out || !writes_in_place(w->b->a->op[w->step[step]]))
        return false;
    uint32_t in = oc_live_own(w, value), out = oc_live_own(w, n->out[0]);
    if (in >= OC_LIFE_CALLER || out >= OC_LIFE_CALLER || in == out)
        return false;
    const struct oc_live_slot *x = &w->b->slot[in], *y = &w->b->slot[out];
    return x->l.bytes == y->l.bytes && x->l.quality != OC_UNKNOWN && y->l.quality != OC_UNKNOWN &&
           !x->fixed && !x->l.output && !x->tied && !y->tied && !(x->l.input && w->b->o.keep_inputs);
}

static void move_into(struct oc_live_builder *b, uint32_t from, uint32_t to)
{
    struct oc_life *x = &b->slot[to].l;
    const struct oc_life *y = &b->slot[from].l;
    x->last = y->last > x->last ? y->last : x->last;
    x->bytes = y->bytes > x->bytes ? y->bytes : x->bytes;
    x->quality = oc_worse_quality(x->quality, y->quality);
    x->output |= y->output;
    b->slot[from].into = to;
}

/* An output that updates its input in place, unless the input is still needed. */
static void keep_cache(struct oc_live_walk *w, const struct oc_node *n, uint32_t k, uint32_t step)
{
    uint32_t slot = cache_slot(w->b->a->op[w->step[step]], n, k, w->b->o.kv_share);
    uint32_t out = oc_live_own(w, n->out[k]),
             in = slot == OC_NONE ? OC_LIFE_NONE : oc_live_own(w, n->in[slot]);
    if (out >= OC_LIFE_CALLER || in == OC_LIFE_NONE || in == out)
        return;
    if (in == OC_LIFE_CALLER) {
        w->b->slot[out].into = OC_LIFE_CALLER;
        return;
    }
    const struct oc_live_slot *x = &w->b->slot[in];
    if (x->l.last == step && !x->l.output && !x->tied && !x->fixed && !w->b->slot[out].tied)
        move_into(w->b, out, in);
}

static void work_in_place(struct oc_live_walk *w, const struct oc_node *n, uint32_t step)
{
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t in = oc_live_own(w, n->in[k]);
        if (oc_live_may_reuse(w, step, n->in[k]) && w->b->slot[in].l.last == step) {
            move_into(w->b, oc_live_own(w, n->out[0]), in);
            return;
        }
    }
}

void oc_live_reuse(struct oc_live_walk *w)
{
    if (!w->b->has_caches && !w->b->o.inplace)
        return;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct oc_node *n = &w->b->m->node[w->step[i]];
        const struct oc_op *op = w->b->a->op[w->step[i]];
        for (uint32_t k = 0; op && op->kv && k < n->n_out; k++)
            if (n->out[k] != OC_NONE)
                keep_cache(w, n, k, i);
        if (w->b->o.inplace)
            work_in_place(w, n, i);
    }
}
