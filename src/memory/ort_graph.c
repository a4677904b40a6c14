/* The graph that ONNX Runtime runs without optimizations: every reader of a DequantizeLinear has its own copy of the
 * node (core/optimizer/ensure_unique_dq_for_node_unit.cc, a required transformer). */
#include <stdlib.h>
#include <string.h>

#include "memory/ort_run.h"

struct read {              /* an input of a node, connected to a DequantizeLinear of its graph */
    uint32_t place, value; /* of that node in the runtime's order; its output */
    uint32_t node, slot;
};

struct copying {
    const struct oc_model *m;
    struct oc_ort_graph *out;
    uint32_t *place; /* by node */
    bool *kept;      /* by value: a graph output, or read by a body: the original node stays for these */
    struct read *read;
    uint32_t n, cap;
    uint32_t **in;    /* by node: its inputs, if they differ from the model's */
    uint32_t n_token; /* numbers in names so far */
};

static bool is_dequantized(const struct oc_model *m, uint32_t value)
{
    uint32_t maker = value == OC_NONE ? OC_NONE : m->value[value].producer;
    const struct oc_node *n = maker == OC_NONE ? NULL : &m->node[maker];
    return n && n->n_out && n->out[0] == value && strcmp(n->op_type, "DequantizeLinear") == 0 &&
           (!*n->domain || strcmp(n->domain, "com.microsoft") == 0);
}

static int by_maker(const void *a, const void *b)
{
    const struct read *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static void find_reads(struct copying *c)
{
    const struct oc_model *m = c->m;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++) {
            uint32_t v = m->node[i].in[k];
            if (!is_dequantized(m, v))
                continue;
            if (m->node[i].graph != m->value[v].graph) {
                c->kept[v] = true;
                continue;
            }
            OC_GROW(c->read, c->n, c->cap);
            c->read[c->n++] = (struct read){c->place[m->value[v].producer], v, i, k};
        }
    for (uint32_t v = 0; v < m->n_value; v++)
        c->kept[v] |= m->value[v].graph_output;
    if (c->n)
        qsort(c->read, c->n, sizeof(*c->read), by_maker);
}

/* Whether the original node serves this read: the first one, unless it is kept for others. */
static bool has_original(const struct copying *c, uint32_t i)
{
    return !c->kept[c->read[i].value] && (i == 0 || c->read[i - 1].value != c->read[i].value);
}

/* Whether it is the first copy: later ones have names with a number, which the runtime counts up in the graph, by one
 * for the tensor and by one for the node. */
static bool is_first_copy(const struct copying *c, uint32_t i)
{
    uint32_t v = c->read[i].value;
    return i == 0 || c->read[i - 1].value != v || has_original(c, i - 1);
}

static const char *name_of_copy(struct copying *c, uint32_t i, const char *name)
{
    struct oc_arena *a = &c->out->arena;
    return is_first_copy(c, i) ? oc_printf(a, "%s/duplicated", name)
                               : oc_printf(a, "%s/duplicated_token_%u", name, 2 * c->n_token++ + 1);
}

/* The node and the value have ids after those of the model. */
static void copy_node(struct copying *c, uint32_t i)
{
    struct oc_model *to = &c->out->model;
    const struct read *r = &c->read[i];
    uint32_t maker = c->m->value[r->value].producer, value = to->n_value++, node = to->n_node++;
    struct oc_node *n = &to->node[node], *reader = &to->node[r->node];
    *n = c->m->node[maker];
    n->name = *n->name ? name_of_copy(c, i, n->name) : n->name;
    uint32_t *out = OC_NEW_ARRAY(&c->out->arena, n->n_out, uint32_t), *in = c->in[r->node];
    for (uint32_t k = 1; k < n->n_out; k++)
        out[k] = OC_NONE;
    out[0] = value;
    n->out = out;
    to->value[value] = to->value[r->value];
    to->value[value].producer = node;
    to->value[value].n_use = 1;
    to->value[value].graph_output = false;
    to->value[r->value].n_use--;
    if (!in) {
        in = c->in[r->node] = OC_NEW_ARRAY(&c->out->arena, reader->n_in, uint32_t);
        memcpy(in, reader->in, reader->n_in * sizeof(*in));
        reader->in = in;
    }
    in[r->slot] = value;
}

/* Lists of nodes with the copies after their originals. */
static void list_nodes(struct copying *c, const uint32_t *first, const uint32_t *count)
{
    struct oc_model *to = &c->out->model;
    for (uint32_t g = 0; g < to->n_graph; g++) {
        struct oc_graph *graph = &to->graph[g];
        uint32_t more = 0, n = 0;
        for (uint32_t i = 0; i < graph->n_node; i++)
            more += count[graph->node[i]];
        uint32_t *node = OC_NEW_ARRAY(&c->out->arena, graph->n_node + more, uint32_t);
        for (uint32_t i = 0; i < graph->n_node; i++) {
            uint32_t id = graph->node[i];
            node[n++] = id;
            for (uint32_t k = 0; k < count[id]; k++)
                node[n++] = first[id] + k;
        }
        graph->node = node;
        graph->n_node = n;
    }
}

static void copy_model(struct copying *c, uint32_t n_copy)
{
    const struct oc_model *m = c->m;
    struct oc_arena *a = &c->out->arena;
    struct oc_model *to = &c->out->model;
    *to = *m;
    to->node = OC_NEW_ARRAY(a, (size_t)m->n_node + n_copy, struct oc_node);
    to->value = OC_NEW_ARRAY(a, (size_t)m->n_value + n_copy, struct oc_value);
    to->graph = OC_NEW_ARRAY(a, m->n_graph, struct oc_graph);
    memcpy(to->node, m->node, m->n_node * sizeof(*to->node));
    memcpy(to->value, m->value, m->n_value * sizeof(*to->value));
    memcpy(to->graph, m->graph, m->n_graph * sizeof(*to->graph));
    uint32_t *first = oc_xcalloc((size_t)m->n_node + 1, sizeof(*first)),
             *count = oc_xcalloc((size_t)m->n_node + 1, sizeof(*count));
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t maker = m->value[c->read[i].value].producer;
        if (has_original(c, i))
            continue;
        first[maker] = count[maker]++ ? first[maker] : to->n_node;
        copy_node(c, i);
    }
    list_nodes(c, first, count);
    free(first);
    free(count);
}

/* Places in the runtime's order; nodes of bodies are not in it and follow, in the order of the file. */
static void set_places(struct copying *c, const uint32_t *step, uint32_t n_step)
{
    for (uint32_t i = 0; i < c->m->n_node; i++)
        c->place[i] = n_step + i;
    for (uint32_t i = 0; i < n_step; i++)
        c->place[step[i]] = i;
}

struct oc_ort_graph *oc_ort_graph_make(const struct oc_model *m, const uint32_t *step, uint32_t n_step)
{
    struct copying c = {.m = m,
                        .place = oc_xcalloc((size_t)m->n_node + 1, sizeof(*c.place)),
                        .kept = oc_xcalloc((size_t)m->n_value + 1, sizeof(*c.kept))};
    uint32_t n_copy = 0;
    set_places(&c, step, n_step);
    find_reads(&c);
    for (uint32_t i = 0; i < c.n; i++)
        n_copy += !has_original(&c, i);
    if (n_copy) {
        c.out = oc_xcalloc(1, sizeof(*c.out));
        c.in = oc_xcalloc((size_t)m->n_node + 1, sizeof(*c.in));
        copy_model(&c, n_copy);
    }
    free(c.in);
    free(c.place);
    free(c.kept);
    free(c.read);
    return c.out;
}

void oc_ort_graph_free(struct oc_ort_graph *g)
{
    if (!g)
        return;
    oc_arena_free(&g->arena);
    free(g);
}
