/* Records whose names say nothing: nodes that ONNX Runtime made of unnamed ones, or named after the fusion alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ck.h"
#include "base/str.h"
#include "join/expansion.h"
#include "join/join.h"

#define MAX_BEHIND 4
#define MAX_TRIES  (1u << 26) /* of matching by order, over all records */
#define NORMALIZED " BatchNormalization Mul Add"

bool oc_match_may_stand_for(const char *rec_type, const char *type)
{
    const char *heart = oc_match_heart(rec_type);
    /* NOLINTNEXTLINE(readability-suspicious-call-argument): `type` is the original's */
    return oc_match_made_of(rec_type, type) || (heart && oc_type_set_has(heart, type));
}

/* "gemm" (MatMul and Add, up to 1.18), "FusedConv_233" and "/MatMulAddFusion" of unnamed nodes, and
 * "BiasGelu_token_7", which the optimizer created from several nodes: the first node in execution order
 * that has no record, has a type of the pattern, and has the recorded output. */
static bool is_uninformative(const struct oc_prof_rec *r)
{
    size_t n = strlen(r->op_type);
    if (oc_match_heart(r->op_type))
        return true;
    if (oc_match_says_nothing(r->name))
        return true;
    if (strncmp(r->name, r->op_type, n) == 0 && (!r->name[n] || strncmp(r->name + n, "_token_", 7) == 0))
        return true; /* named after its type: QLinearConv with channels last, up to 1.17 */
    const char *digits = r->name + n + 1;
    return n && strncmp(r->name, r->op_type, n) == 0 && r->name[n] == '_' && digits[0] &&
           digits[strspn(digits, "0123456789")] == '\0';
}

/* The core node of a group may have another shape than the group's output. */
static bool is_inside(const char *type)
{
    return strcmp(type, "Sqrt") == 0 || strcmp(type, "Softmax") == 0;
}

/* MatMul of other than two dimensions became Gemm, between two Reshapes: [..., N] is recorded as [M, N]. */
static bool is_flattened(const struct oc_shape *recorded, const struct oc_shape *s)
{
    return oc_shape_known(recorded) && recorded->rank == 2 && s->rank && s->rank != 2 &&
           recorded->dim[1].v == s->dim[s->rank - 1].v && oc_match_same_shape(recorded, s);
}

/* Order alone proves little: the shapes must be equal, or permuted for an operator in another layout. */
static bool has_output(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    const char *type = x->m->node[node].op_type;
    if ((oc_match_heart(r->op_type) && is_inside(type)) || !s || !r->n_out || !oc_shape_known(s) ||
        oc_shape_equal(s, &r->out[0].shape))
        return true;
    bool blocked = oc_match_heart(r->op_type) != NULL; /* between convolutions, with padded channels */
    bool other_layout = strncmp(r->name, "_token_", 7) == 0 || strncmp(r->op_type, "QLinear", 7) == 0;
    bool split = strcmp(r->op_type, "Split") == 0;
    bool view = strncmp(r->name, "_new_reshape", 12) == 0; /* fused with the Reshape before the Gemm */
    return other_layout || blocked || split || view
               ? oc_match_same_shape(&r->out[0].shape, s)
               : oc_match_product(type) && is_flattened(&r->out[0].shape, s);
}

/* A Sigmoid is certainly part of QuickGelu if it is multiplied with what it is computed from: x * Sigmoid(a * x). */
static bool is_heart(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    if (!oc_equal(r->op_type, "QuickGelu") || !oc_equal(n->op_type, "Sigmoid"))
        return true;
    uint32_t last = oc_match_only_user(x, node), in = n->in[0],
             from = in == OC_NONE ? in : x->m->value[in].producer;
    const struct oc_node *scale = from == OC_NONE ? NULL : &x->m->node[from];
    if (last == OC_NONE || !oc_equal(x->m->node[last].op_type, "Mul"))
        return false;
    bool scaled = scale && oc_equal(scale->op_type, "Mul") && scale->n_in == 2;
    return oc_ids_have(x->m->node[last].in, x->m->node[last].n_in, in) ||
           (scaled && (oc_ids_have(x->m->node[last].in, x->m->node[last].n_in, scale->in[0]) ||
                       oc_ids_have(x->m->node[last].in, x->m->node[last].n_in, scale->in[1])));
}

/* Whether an activation without a record follows the product, after its bias or normalization. */
static bool is_activated(const struct oc_matcher *x, uint32_t node)
{
    for (unsigned i = 0; i < MAX_BEHIND; i++) {
        node = oc_match_only_user(x, node);
        if (node == OC_NONE || !oc_match_open(x, node))
            return false;
        if (oc_type_set_has(OC_MATCH_ACTIVATIONS OC_MATCH_GEMM_ACTIVATIONS, x->m->node[node].op_type))
            return true;
        if (!oc_type_set_has(NORMALIZED " ", x->m->node[node].op_type))
            return false;
    }
    return false;
}

/* A FusedGemm has an activation, a Gemm does not. */
static bool has_activation(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    bool fused = strcmp(r->op_type, "FusedGemm") == 0;
    return (!fused && strcmp(r->op_type, "Gemm") != 0) || is_activated(x, node) == fused;
}

/* A product has the recorded first input; packed weights are not recorded. */
static bool has_input(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    if (!x->a || !oc_match_product(n->op_type) || !r->n_in || !n->n_in || n->in[0] == OC_NONE)
        return true;
    uint32_t v = n->in[0], from = x->m->value[v].producer;
    if (from != OC_NONE && oc_equal(x->m->node[from].op_type, "Pad") && oc_match_open(x, from) &&
        x->m->node[from].in[0] != OC_NONE) /* a convolution with the padding of the node before it */
        v = x->m->node[from].in[0];
    const struct oc_type *t = &x->a->type[v];
    return t->kind != OC_T_TENSOR || oc_match_same_shape(&r->in[0].shape, &t->shape);
}

static bool has_shapes(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    return has_output(x, r, node) && has_input(x, r, node) && has_activation(x, r, node);
}

static bool is_unmatched(const struct oc_matcher *x, uint32_t rec)
{
    return !x->p->rec[rec].bucket && !x->match[rec].n_node && x->match[rec].inner_of == OC_NONE &&
           is_uninformative(&x->p->rec[rec]);
}

/* Nodes of the types that records of one type may stand for, in the order in which the runtime visits them.
 */
struct candidates {
    struct oc_map types;
    uint32_t *order; /* of execution, by node */
    struct node_list {
        uint32_t *node, n;
    } * list;
    size_t n, cap;
    bool *open;           /* by record: unmatched, and nothing in its name */
    struct oc_when *span; /* by node: when it can run, by the nodes that have records */
    double *start_ns;     /* by node: when it ran, NAN: no record */
    uint32_t tries, spent;
    bool hearts;
};

static int by_rank(const void *a, const void *b, void *order)
{
    const uint32_t *of = order;
    uint32_t i = of[*(const uint32_t *)a], k = of[*(const uint32_t *)b];
    return (i > k) - (i < k);
}

static int by_index(const void *a, const void *b, void *profile)
{
    const struct oc_profile *p = profile;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (p->rec[i].index != p->rec[k].index)
        return p->rec[i].index < p->rec[k].index ? -1 : 1;
    return (i > k) - (i < k);
}

/* Unmatched records without information in their names, in the order in which the runtime created the nodes.
 */
static uint32_t *list_open(const struct oc_matcher *x, const struct candidates *c, uint32_t *n)
{
    uint32_t *list = OC_NEW_ARRAY(x->arena, (size_t)x->p->n_rec + 1, uint32_t);
    *n = 0;
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++)
        if (c->open[rec])
            list[(*n)++] = rec;
    if (*n)
        qsort_r(list, *n, sizeof(*list), by_index, (void *)(uintptr_t)x->p);
    return list;
}

/* The runtime creates operators with channels last when it has fused all others, in the order of the file. */
static bool is_moved(const struct oc_prof_rec *r)
{
    bool type = oc_equal(r->op_type, "QLinearConv") || strncmp(r->op_type, "Nhwc", 4) == 0;
    return type && !oc_match_numbered(r);
}

static struct node_list candidates_of(const struct oc_matcher *x, struct candidates *c,
                                      const struct oc_prof_rec *r)
{
    const char *rec_type = r->op_type;
    uint32_t at = (uint32_t)c->n, n = 0;
    if (!oc_map_add(&c->types, rec_type, strlen(rec_type) + is_moved(r), &at, NULL)) /* two lists of a type */
        return c->list[at];
    for (uint32_t i = 0; i < x->m->n_node; i++)
        n += oc_match_may_stand_for(rec_type, x->m->node[i].op_type);
    struct node_list l = {OC_NEW_ARRAY(x->arena, (size_t)n + 1, uint32_t), 0};
    for (uint32_t i = 0; i < x->m->n_node && l.n < n; i++)
        if (oc_match_may_stand_for(rec_type, x->m->node[i].op_type))
            l.node[l.n++] = i;
    c->tries += x->m->n_node;
    if (l.n && !is_moved(r)) /* else in the order of the file */
        qsort_r(l.node, l.n, sizeof(uint32_t), by_rank, c->order);
    OC_GROW(c->list, c->n, c->cap);
    c->list[c->n++] = l;
    return l;
}

/* A node runs after those that it depends on, and before those that depend on it. */
static bool may_match(const struct oc_matcher *x, const struct candidates *c, uint32_t rec, uint32_t node)
{
    const struct oc_when *w = &c->span[node];
    double start_ns = x->p->rec[rec].start_ns;
    return oc_match_open(x, node) && oc_match_in_scope(x, rec, x->m->node[node].graph) &&
           !(start_ns < w->from_ns) && !(start_ns > w->to_ns);
}

/* Without shapes to compare: whether there are as many nodes for the record as records for the node. */
static bool as_many(const struct oc_matcher *x, uint32_t rec, uint32_t node, const struct candidates *c,
                    const struct node_list *l)
{
    uint32_t nodes = 0, records = 0;
    const char *type = x->p->rec[rec].op_type; /* interned */
    for (uint32_t i = 0; i < l->n; i++)
        nodes += may_match(x, c, rec, l->node[i]);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        records += c->open[i] && may_match(x, c, i, node) &&
                   (x->p->rec[i].op_type == type ||
                    oc_match_may_stand_for(x->p->rec[i].op_type, x->m->node[node].op_type));
    return nodes == records;
}

static bool proves(const struct oc_matcher *x, uint32_t rec, uint32_t node, struct candidates *c,
                   const struct node_list *l)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    const struct oc_prof_rec *r = &x->p->rec[rec];
    if (s && oc_shape_known(s) && r->n_out && !is_inside(x->m->node[node].op_type))
        return true;
    c->tries += l->n + x->p->n_rec;
    return as_many(x, rec, node, c, l);
}

/* Again after each match, as long as that costs little: more are then known. What the runtime copies to each reader or
 * moves through the graph does not run where the model has it. */
static void find_spans(const struct oc_matcher *x, struct candidates *c)
{
    if (c->spent > MAX_TRIES / 4)
        return;
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        bool elsewhere = oc_type_set_has(OC_MATCH_COPIED "Transpose ", x->m->node[i].op_type);
        c->start_ns[i] = x->owner[i] == OC_NONE || elsewhere ? (double)NAN : x->p->rec[x->owner[i]].start_ns;
    }
    oc_when_find(x, 0, c->start_ns, true, c->span);
    c->spent += x->m->n_node + x->m->n_value;
}

/* The first node in order that the record may be; *several: there is another one. OC_NONE: none. */
static uint32_t first_candidate(const struct oc_matcher *x, struct candidates *c, uint32_t rec, bool *several)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    struct node_list l = candidates_of(x, c, r);
    uint32_t found = OC_NONE;
    *several = false;
    for (uint32_t i = 0; i < l.n && !*several && c->tries < MAX_TRIES; i++, c->tries++) {
        if (!may_match(x, c, rec, l.node[i]) || !has_shapes(x, r, l.node[i]) ||
            (c->hearts && !is_heart(x, r, l.node[i])))
            continue;
        *several = found != OC_NONE;
        found = *several ? found : l.node[i];
    }
    return found != OC_NONE && proves(x, rec, found, c, &l) ? found : OC_NONE;
}

/* Gives nodes to the records that can be only one; `first`: to the first of the others. Returns the number. */
static uint32_t take_nodes(struct oc_matcher *x, struct candidates *c, const uint32_t *list, uint32_t n,
                           bool first)
{
    uint32_t taken = 0;
    for (uint32_t k = 0; k < n && !(first && taken) && c->tries < MAX_TRIES; k++) {
        bool several;
        uint32_t node = c->open[list[k]] ? first_candidate(x, c, list[k], &several) : OC_NONE;
        if (node == OC_NONE || (several && !first))
            continue;
        oc_match_core(x, list[k], node, "order", several ? 0.6 : 0.8);
        c->open[list[k]] = false;
        find_spans(x, c);
        taken++;
    }
    return taken;
}

void oc_match_unnamed(struct oc_matcher *x, bool hearts)
{
    struct candidates c = {.types.arena = x->arena,
                           .open = OC_NEW_ARRAY(x->arena, (size_t)x->p->n_rec + 1, bool),
                           .hearts = hearts};
    uint32_t n;
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++)
        c.open[rec] = is_unmatched(x, rec) && (!hearts || oc_match_heart(x->p->rec[rec].op_type));
    const uint32_t *list = list_open(x, &c, &n);
    if (n) {
        c.order = oc_index_run_order(&x->x);
        c.span = oc_when_new(x);
        c.start_ns = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, double);
        find_spans(x, &c);
    }
    while (n && (take_nodes(x, &c, list, n, false) || take_nodes(x, &c, list, n, true)))
        ;
    free(c.list);
    oc_map_free(&c.types);
}
