/* The nodes that ONNX Runtime creates when it expands calls of functions, and the records of them. */
#include "join/expansion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* ONNX Runtime replaces calls of local functions, and function operators for which no execution provider has
 * a kernel, by the nodes of their bodies. These are appended to the graph: the bodies in the order of the
 * calls, then the bodies of calls in them, and so on (breadth first). So the index of a record determines its
 * node if the lengths of the bodies are known. Bodies of local functions are in the model. Those of function
 * operators depend on the version of ONNX, attributes, types and optional inputs; their lengths are derived
 * from the records:
 *   - calls of one form have the same body: records at equal positions have equal types;
 *   - a body runs after the nodes before the call and before those after it, except what is computed from
 *     constants;
 *   - a position without a record belongs to a call in the body, or to a node that was optimized away.
 * A depth-first search with an increasing limit finds the lengths with the lowest cost, the sum over all
 * contradictions. A record has a node only where all lengths that are almost as good agree. */

#define MAX_BODY  192
#define MAX_FORMS 256
#define MAX_DEPTH 4 /* functions in functions */
#define MAX_INDEX ((int64_t)1 << 20)
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* of libFuzzer and OSS-Fuzz: many searches a second */
#define MAX_STEPS ((uint64_t)1 << 20)
#else
#define MAX_STEPS ((uint64_t)1 << 25) /* less than a second */
#endif
#define MARGIN   4 /* almost as good: a quarter worse */
#define MAX_COST 32768
#define UNKNOWN  UINT32_MAX
/* EARLY: what is computed from constants may run before everything else. */
enum cost {
    OTHER_TYPE = 160, /* in several calls of one form */
    LATE = 80,
    UNEXPLAINED = 60,  /* a record in no body */
    OTHER_LENGTH = 40, /* than the usual one */
    GAP = 40,
    OTHER_OUTPUT = 20,
    MISSING = 20,
    NESTED = 12,
    EARLY = 4,
    UNUSUAL = 1,
    HOLE = 1 /* a position without any record */
};

/* Function operators without a kernel of the CPU provider, with the usual length of the body; 0: it varies.
 */
static const struct {
    const char *type;
    uint32_t n;
} usual[] = {
    {"Bernoulli", 3},
    {"CastLike", 1},
    {"CenterCropPad", 0},
    {"GroupNormalization", 0},
    {"HardSwish", 2},
    {"Mish", 3},
    {"NegativeLogLikelihoodLoss", 0},
    {"SequenceMap", 0},
    {"SoftmaxCrossEntropyLoss", 0},
    {"SwiGLU", 2},
    {"Swish", 4},
};

struct form { /* one form of a function operator */
    const char *type;
    bool has_kernel;            /* a record shows it */
    uint32_t n[MAX_DEPTH];      /* length of its body by depth */
    const char **op[MAX_DEPTH]; /* types at its positions; NULL: not recorded yet */
};

struct searching {
    struct oc_matcher *x;
    uint32_t graph;
    struct oc_when *window; /* by node */
    const double *start_ns;
    uint32_t *rec_at; /* by index: record, OC_NONE */
    bool *in_bodies;  /* by index: the record may be of a node of a body */
    int64_t n_index;
    struct form form[MAX_FORMS];
    uint32_t n_form;
    struct oc_map forms;
    struct oc_block *block; /* the queue, heap */
    size_t n, cap;
    const char ***set; /* types that were taken over from records, in order: for undoing, heap */
    size_t n_set, set_cap;
    uint32_t *form_of; /* by node: form, OC_NONE: no call of a function operator */
    int64_t limit, best, next_limit;
    uint64_t steps;
    struct oc_expansion *out;
    bool verifying;  /* the best solution is known */
    uint32_t *owner; /* by index, of the best solution */
    bool *unsure;
};

/* ---- times ------------------------------------------------------------------------------------------ */

struct timing {
    const struct oc_model *m;
    const double *start_ns;
    struct oc_when *value, *node;
    bool whole; /* the node itself runs then, not a body of which parts run before all inputs are there */
};

static void forward(struct timing *t, uint32_t graph)
{
    const struct oc_graph *g = &t->m->graph[graph];
    for (uint32_t k = 0; k < g->n_node; k++) {
        const struct oc_node *n = &t->m->node[g->node[k]];
        double from = -INFINITY, first = INFINITY;
        for (uint32_t i = 0; i < n->n_in; i++)
            if (n->in[i] != OC_NONE && !t->m->value[n->in[i]].constant) {
                from = fmax(from, t->value[n->in[i]].from_ns);
                first = fmin(first, t->value[n->in[i]].from_ns);
            }
        t->node[g->node[k]].from_ns = t->whole ? from : first;
        const struct oc_graph *body = n->body != OC_NONE ? &t->m->graph[n->body] : NULL;
        for (uint32_t i = 0; body && i < body->n_input && i < n->n_in; i++)
            if (n->in[i] != OC_NONE)
                t->value[body->input[i]].from_ns = t->value[n->in[i]].from_ns;
        if (body)
            forward(t, n->body);
        for (uint32_t i = 0; i < n->n_out; i++)
            if (n->out[i] != OC_NONE)
                t->value[n->out[i]].from_ns = body && i < body->n_output
                                                  ? t->value[body->output[i]].from_ns
                                                  : fmax(from, t->start_ns[g->node[k]]);
    }
}

static void backward(struct timing *t, uint32_t graph)
{
    const struct oc_graph *g = &t->m->graph[graph];
    for (uint32_t k = g->n_node; k-- > 0;) {
        const struct oc_node *n = &t->m->node[g->node[k]];
        double to = INFINITY, last = -INFINITY;
        const struct oc_graph *body = n->body != OC_NONE ? &t->m->graph[n->body] : NULL;
        for (uint32_t i = 0; i < n->n_out; i++)
            if (n->out[i] != OC_NONE) {
                to = fmin(to, t->value[n->out[i]].to_ns);
                last = fmax(last, t->value[n->out[i]].to_ns);
                if (body && i < body->n_output)
                    t->value[body->output[i]].to_ns =
                        fmin(t->value[body->output[i]].to_ns, t->value[n->out[i]].to_ns);
            }
        t->node[g->node[k]].to_ns = t->whole ? to : last;
        if (body)
            backward(t, n->body);
        for (uint32_t i = 0; i < n->n_in; i++)
            if (n->in[i] != OC_NONE) {
                double before = !body               ? fmin(to, t->start_ns[g->node[k]])
                                : i < body->n_input ? t->value[body->input[i]].to_ns
                                                    : INFINITY;
                t->value[n->in[i]].to_ns = fmin(t->value[n->in[i]].to_ns, before);
            }
    }
}

struct oc_when *oc_when_new(const struct oc_matcher *x)
{
    return OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + x->m->n_value + 1, struct oc_when);
}

void oc_when_find(const struct oc_matcher *x, uint32_t graph, const double *start_ns, bool whole,
                  struct oc_when *node)
{
    struct timing t = {
        .m = x->m, .start_ns = start_ns, .value = node + x->m->n_node, .node = node, .whole = whole};
    for (size_t i = 0; i < (size_t)x->m->n_node + x->m->n_value; i++)
        node[i] = (struct oc_when){-INFINITY, INFINITY};
    forward(&t, graph);
    backward(&t, graph);
}

/* ---- forms ------------------------------------------------------------------------------------------ */

/* Nodes with equal keys have equal bodies: type, version, present inputs and outputs, their element types and
 * ranks, integers and texts of the attributes. */
static const char *key_of(const struct oc_matcher *x, const struct oc_node *n)
{
    struct oc_buf b = {0};
    oc_buf_printf(&b, "%s:%s:%d", n->domain, n->op_type, n->opset);
    for (uint32_t i = 0; i < n->n_in + n->n_out; i++) {
        uint32_t v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        const struct oc_type *t = v == OC_NONE || !x->a ? NULL : &x->a->type[v];
        oc_buf_printf(&b, " %c%d.%d", i < n->n_in ? 'i' : 'o',
                      v == OC_NONE ? -1
                      : t          ? (int)t->dtype
                                   : 0,
                      t && t->shape.ranked ? (int)t->shape.rank : -1);
    }
    for (uint32_t i = 0; i < n->n_attr; i++) {
        const struct oc_attr *a = &n->attr[i];
        oc_buf_printf(&b, " %s=%lld%.*s", a->name, (long long)a->i, (int)a->s.n,
                      a->s.s ? (const char *)a->s.s : "");
    }
    const char *key = oc_printf(x->arena, "%s", b.data ? b.data : "");
    oc_buf_free(&b);
    return key;
}

static uint32_t form_of(struct searching *s, uint32_t node)
{
    const struct oc_node *n = &s->x->m->node[node];
    uint32_t id = s->n_form;
    if (n->body != OC_NONE || !oc_op_is(oc_op_find(n->domain, n->op_type, n->opset), OC_F_FUNCTION) ||
        s->n_form == MAX_FORMS)
        return OC_NONE;
    const char *key = key_of(s->x, n);
    if (oc_map_add(&s->forms, key, strlen(key), &id, NULL)) {
        struct form *f = &s->form[s->n_form++];
        *f = (struct form){.type = n->op_type};
        for (unsigned d = 0; d < MAX_DEPTH; d++)
            f->n[d] = UNKNOWN;
    }
    return id;
}

static unsigned unusual(const struct form *f, uint32_t n, unsigned depth)
{
    for (size_t i = 0; i < OC_COUNT(usual) && !depth; i++)
        if (strcmp(usual[i].type, f->type) == 0)
            return n == 0 ? UNUSUAL : usual[i].n && n != usual[i].n ? OTHER_LENGTH : 0;
    return !n ? 0 : depth ? NESTED : UNUSUAL;
}

/* ---- one record at one position --------------------------------------------------------------------- */

static const struct oc_prof_rec *record_at(const struct searching *s, int64_t index)
{
    uint32_t rec = index < s->n_index ? s->rec_at[index] : OC_NONE;
    return rec == OC_NONE ? NULL : &s->x->p->rec[rec];
}

static int64_t time_cost(const struct searching *s, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_when *w = &s->window[node];
    bool early = r->start_ns < w->from_ns && r->act_bytes != 0;
    return early ? EARLY : r->start_ns > w->to_ns ? LATE : 0;
}

static bool fits_node(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    return !x->m->node[node].name[0] && oc_match_made_of(r->op_type, x->m->node[node].op_type) &&
           oc_match_output_fits(x, r, node);
}

/* Bodies consist of standard operators without convolutions; others were created by fusion. */
static bool in_bodies(const char *type)
{
    return oc_op_find("", type, 0) && strcmp(type, "Conv") != 0 && strcmp(type, "Gemm") != 0;
}

/* Cost of the position of a body. Takes over the type of the first record there. */
static int64_t part_cost(struct searching *s, struct form *f, unsigned depth, uint32_t node, int64_t first,
                         uint32_t k)
{
    const struct oc_prof_rec *r = record_at(s, first + k);
    const char **op = &f->op[depth][k];
    if (r && !s->in_bodies[first + k])
        return INT64_C(2) * UNEXPLAINED;
    if (!r)
        return *op ? MISSING : HOLE;
    if (!*op) {
        *op = r->op_type;
        OC_GROW(s->set, s->n_set, s->set_cap);
        s->set[s->n_set++] = op;
    }
    return (strcmp(*op, r->op_type) ? OTHER_TYPE : 0) + time_cost(s, r, node);
}

/* The last record of a body has the output of the call, unless the body has unused nodes. */
static int64_t output_cost(const struct searching *s, uint32_t node, int64_t first, uint32_t n)
{
    const struct oc_prof_rec *last = NULL;
    for (uint32_t k = 0; k < n; k++) {
        const struct oc_prof_rec *r = record_at(s, first + k);
        if (r && (!last || r->start_ns >= last->start_ns))
            last = r;
    }
    return last && !oc_match_output_fits(s->x, last, node) ? OTHER_OUTPUT : 0;
}

static void undo_types(struct searching *s, size_t n_set)
{
    while (s->n_set > n_set)
        *s->set[--s->n_set] = NULL;
}

/* ---- the queue -------------------------------------------------------------------------------------- */

static int64_t end_of(const struct searching *s)
{
    return s->n ? s->block[s->n - 1].first + s->block[s->n - 1].n : 0;
}

static void add_block(struct searching *s, uint32_t node, uint32_t body, uint32_t n, unsigned depth)
{
    int64_t first = end_of(s);
    OC_GROW(s->block, s->n, s->cap);
    s->block[s->n++] = (struct oc_block){node, body, first, n, depth, false};
}

/* Appends the nodes of a graph; returns the cost of records that contradict them. */
static int64_t add_nodes(struct searching *s, uint32_t graph)
{
    uint32_t node;
    int64_t cost = 0;
    for (int64_t k = 0; (node = oc_index_nth(&s->x->x, graph, k)) != OC_NONE; k++) {
        const struct oc_prof_rec *r = record_at(s, end_of(s));
        if (r && graph != s->graph && !fits_node(s->x, r, node))
            cost += OTHER_TYPE;
        add_block(s, node, OC_NONE, 1, 0);
    }
    return cost;
}

/* ---- the search ------------------------------------------------------------------------------------- */

static void search(struct searching *s, size_t at, int64_t cost);

static void keep_blocks(struct searching *s)
{
    struct oc_expansion *e = s->out;
    e->n = 0;
    for (size_t b = 0; b < s->n; b++) {
        OC_GROW(e->block, e->n, e->cap);
        e->block[e->n++] = s->block[b];
    }
}

static uint32_t owner_at(const struct searching *s, size_t *block, int64_t index)
{
    while (*block < s->n && s->block[*block].first + s->block[*block].n <= index)
        (*block)++;
    return *block < s->n ? s->block[*block].node : OC_NONE;
}

/* Keeps the best solution; when it is known, notes where those that are almost as good differ from it. */
static void take_solution(struct searching *s, int64_t cost)
{
    s->steps += (uint64_t)s->n_index;
    for (int64_t i = end_of(s); i < s->n_index; i++)
        cost += s->rec_at[i] != OC_NONE ? UNEXPLAINED : 0;
    if (cost > s->limit) {
        s->next_limit = cost < s->next_limit ? cost : s->next_limit;
        return;
    }
    bool better = !s->verifying && (s->best < 0 || cost < s->best);
    size_t block = 0;
    for (int64_t i = 0; i < s->n_index && (better || s->verifying); i++) {
        uint32_t owner = owner_at(s, &block, i);
        s->unsure[i] |= s->verifying && owner != s->owner[i];
        s->owner[i] = better ? owner : s->owner[i];
    }
    if (!better)
        return;
    s->best = s->limit = cost;
    keep_blocks(s);
}

static bool has_gap(const struct form *f, unsigned depth)
{
    for (uint32_t k = 0; k < f->n[depth]; k++)
        if (!f->op[depth][k])
            return true;
    return false;
}

/* Continues with a body of the length at the block. */
static int64_t append_body(struct searching *s, size_t at, struct form *f, unsigned depth, uint32_t n)
{
    struct oc_block *b = &s->block[at];
    uint32_t node = b->node, body = (uint32_t)(f - s->form);
    int64_t first = end_of(s), cost = 0;
    s->steps += n;
    b->expanded = n > 0 && depth == 0;
    for (uint32_t k = 0; k < n; k++)
        cost += part_cost(s, f, depth, node, first, k);
    if (depth == 0)
        cost += output_cost(s, node, first, n);
    if (n)
        add_block(s, node, body, n, depth + 1);
    return cost;
}

/* Tries all lengths of a body that is seen for the first time. */
static void try_lengths(struct searching *s, size_t at, struct form *f, unsigned depth, int64_t cost)
{
    const char *ops[MAX_BODY] = {0};
    size_t n_block = s->n, n_set = s->n_set;
    int64_t first = end_of(s), left = s->n_index - first;
    uint32_t max = left < 0 ? 0 : left < MAX_BODY ? (uint32_t)left : MAX_BODY;
    const char **outer = f->op[depth];
    f->op[depth] = ops;
    for (uint32_t n = 0; n <= max && s->steps < MAX_STEPS; n++) {
        f->n[depth] = n;
        int64_t more = append_body(s, at, f, depth, n);
        bool over = cost + more > s->limit + OTHER_OUTPUT;
        if (!over)
            search(s, at + 1, cost + more + unusual(f, n, depth));
        else if (cost + more < s->next_limit)
            s->next_limit = cost + more;
        undo_types(s, n_set);
        s->n = n_block;
        s->block[at].expanded = false;
        if (over)
            break;
    }
    f->n[depth] = UNKNOWN;
    f->op[depth] = outer;
}

/* The call at the block: appends its body. A node with a record ran itself. Returns false if the search went
 * on elsewhere. */
static bool expand_function(struct searching *s, size_t at, int64_t *cost)
{
    struct oc_block *b = &s->block[at];
    uint32_t id = b->depth ? b->body : s->form_of[b->node];
    unsigned depth = b->depth;
    struct form *f = id == OC_NONE ? NULL : &s->form[id];
    if (!f || f->has_kernel || depth == MAX_DEPTH || (depth && !has_gap(f, depth - 1)) ||
        (!depth && record_at(s, b->first)))
        return true;
    if (f->n[depth] == UNKNOWN) {
        try_lengths(s, at, f, depth, *cost);
        return false;
    }
    *cost += append_body(s, at, f, depth, f->n[depth]);
    return true;
}

/* Goes on with the block, depth first. */
static void search(struct searching *s, size_t at, int64_t cost)
{
    size_t n_block = s->n, n_set = s->n_set, from = at;
    for (; at < s->n && cost <= s->limit && s->n < (size_t)MAX_INDEX && s->steps < MAX_STEPS; at++) {
        struct oc_block *b = &s->block[at];
        s->steps++;
        if (b->node == OC_NONE || end_of(s) >= MAX_INDEX)
            continue;
        const struct oc_node *n = &s->x->m->node[b->node];
        if (!b->depth && n->body != OC_NONE) {
            b->expanded = true;
            cost += add_nodes(s, n->body);
        } else if (!expand_function(s, at, &cost)) {
            at = s->n;
            cost = INT64_MAX;
            break;
        }
    }
    if (at >= s->n && cost <= s->limit)
        take_solution(s, cost);
    else if (cost != INT64_MAX && cost < s->next_limit && s->steps < MAX_STEPS)
        s->next_limit = cost;
    undo_types(s, n_set);
    s->n = n_block;
    for (size_t i = from; i < n_block; i++)
        s->block[i].expanded = false;
}

/* ---- public ----------------------------------------------------------------------------------------- */

static void index_records(struct searching *s, const uint32_t *unnamed, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t index = s->x->p->rec[unnamed[i]].index;
        if (index < MAX_INDEX && index >= s->n_index)
            s->n_index = index + 1;
    }
    s->rec_at = OC_NEW_ARRAY(s->x->arena, (size_t)s->n_index + 1, uint32_t);
    memset(s->rec_at, 0xff, ((size_t)s->n_index + 1) * sizeof(*s->rec_at));
    s->in_bodies = OC_NEW_ARRAY(s->x->arena, (size_t)s->n_index + 1, bool);
    for (size_t i = 0; i < n; i++) {
        const struct oc_prof_rec *r = &s->x->p->rec[unnamed[i]];
        if (r->index >= MAX_INDEX)
            continue;
        s->rec_at[r->index] = unnamed[i];
        s->in_bodies[r->index] = in_bodies(r->op_type);
    }
    s->owner = OC_NEW_ARRAY(s->x->arena, (size_t)s->n_index + 1, uint32_t);
    s->unsure = OC_NEW_ARRAY(s->x->arena, (size_t)s->n_index + 1, bool);
}

/* Operators that ran themselves have a kernel. Calls that the analysis folds are among them: the runtime may expand a call of
 * constants after it has folded constants. */
static void find_kernels(struct searching *s)
{
    for (uint32_t i = 0; i < s->x->m->n_node; i++) {
        s->form_of[i] = form_of(s, i);
        if (s->form_of[i] != OC_NONE && !isnan(s->start_ns[i]))
            s->form[s->form_of[i]].has_kernel = true;
    }
}

/* Nodes that the optimizer created before the bodies; then the bodies follow. */
static void search_with_gap(struct searching *s, int64_t gap, int64_t cost)
{
    s->n = 0;
    add_nodes(s, s->graph);
    s->steps += 8 * s->n; /* each with two searches in a table */
    if (gap)
        add_block(s, OC_NONE, OC_NONE, (uint32_t)gap, 0);
    search(s, 0, cost);
}

static bool has_work(const struct searching *s)
{
    for (int64_t i = 0; i < s->n_index; i++)
        if (i >= end_of(s) && s->rec_at[i] != OC_NONE)
            return true;
    return false;
}

static void try_gaps(struct searching *s, int64_t own)
{
    int64_t cost = 0;
    for (int64_t gap = 0; own + gap <= s->n_index && s->steps < MAX_STEPS; gap++) {
        cost += gap == 1 ? GAP : 0;
        cost += gap && s->rec_at[own + gap - 1] != OC_NONE ? UNEXPLAINED : 0;
        if (cost > s->limit) {
            s->next_limit = cost < s->next_limit ? cost : s->next_limit;
            break;
        }
        search_with_gap(s, gap, cost);
    }
}

static void run_search(struct searching *s)
{
    add_nodes(s, s->graph);
    keep_blocks(s);
    int64_t own = end_of(s);
    bool work = has_work(s);
    s->best = -1;
    for (s->limit = 0; s->best < 0 && s->steps < MAX_STEPS && s->limit < MAX_COST;) {
        s->next_limit = MAX_COST;
        if (work)
            try_gaps(s, own);
        else
            search_with_gap(s, 0, 0);
        if (s->best < 0)
            s->limit = s->next_limit > 2 * s->limit ? s->next_limit : 2 * s->limit + 1;
    }
    s->verifying = true;
    s->limit = s->best + (s->best < MARGIN ? s->best : MARGIN) / 4 + UNUSUAL;
    if (s->best >= 0 && work)
        try_gaps(s, own);
    if (s->best < 0 || s->steps >= MAX_STEPS) /* not all were tried: only the nodes of the graph are sure */
        for (int64_t i = own; i < s->n_index; i++)
            s->unsure[i] = true;
}

void oc_expand_graph(struct oc_matcher *x, uint32_t graph, const uint32_t *unnamed, size_t n_unnamed,
                     const double *start_ns, struct oc_expansion *out)
{
    struct searching *s = OC_NEW(x->arena, struct searching);
    *s =
        (struct searching){.x = x, .graph = graph, .start_ns = start_ns, .out = out, .forms.arena = x->arena};
    s->window = oc_when_new(x);
    oc_when_find(x, graph, start_ns, false, s->window);
    s->form_of = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    index_records(s, unnamed, n_unnamed);
    find_kernels(s);
    run_search(s);
    out->unsure = s->unsure;
    out->n_unsure = s->n_index;
    free(s->block);
    free(s->set);
    oc_map_free(&s->forms);
}

const struct oc_block *oc_expansion_at(const struct oc_expansion *e, int64_t index)
{
    size_t a = 0, b = e->n;
    if (index < 0 || (index < e->n_unsure && e->unsure[index]))
        return NULL;
    while (a < b) {
        size_t mid = a + (b - a) / 2;
        if (e->block[mid].first + e->block[mid].n <= index)
            a = mid + 1;
        else
            b = mid;
    }
    return a < e->n && e->block[a].first <= index && e->block[a].node != OC_NONE ? &e->block[a] : NULL;
}
