/* Execution order of ONNX Runtime's sequential executor: reverse depth-first search from the nodes whose
 * outputs no other node reads, the input whose producer is last in the file first (1.0 to 1.30: GraphViewer's
 * default order, Graph::ReverseDFSFrom with the nodes' indices). */
#include <stdlib.h>
#include <string.h>

#include "analyze/lives_walk.h"

struct search {
    struct oc_live_walk *w;
    uint32_t *made_by; /* by value: step in file order */
    bool *visited;     /* by step */
    struct entry {
        uint32_t step;
        bool leave;
    } * stack;
    uint32_t n, cap;
    uint32_t *source, n_source, cap_source; /* of one step */
};

static int lives_order_by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void lives_order_push(struct search *s, uint32_t step, bool leave)
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
    s->source[s->n_source++] = step;
}

static void lives_order_find_sources(struct search *s, uint32_t node)
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

static void lives_order_enter(struct search *s, uint32_t step)
{
    if (s->visited[step])
        return;
    s->visited[step] = true;
    lives_order_push(s, step, true);
    lives_order_find_sources(s, s->w->step[step]);
    if (s->n_source)
        qsort(s->source, s->n_source, sizeof(*s->source), lives_order_by_place);
    for (uint32_t i = 0; i < s->n_source; i++)
        if (!s->visited[s->source[i]])
            lives_order_push(s, s->source[i], false);
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
        lives_order_find_sources(s, s->w->step[i]);
        for (uint32_t k = 0; k < s->n_source; k++)
            read[s->source[k]] = true;
    }
    for (uint32_t i = 0; i < s->w->n; i++)
        if (!read[i])
            lives_order_push(s, i, false);
    free(read);
}

void oc_live_order(struct oc_live_walk *w)
{
    struct search s = {.w = w, .made_by = w->b->made_by, .visited = calloc((size_t)w->n + 1, sizeof(bool))};
    uint32_t *order = oc_xmalloc(((size_t)w->n + 1) * sizeof(*order)), n = 0;
    if (!s.visited)
        oc_out_of_memory(w->n);
    set_makers(&s, false);
    push_leaves(&s);
    while (s.n) {
        struct entry e = s.stack[--s.n];
        if (e.leave)
            order[n++] = w->step[e.step];
        else
            lives_order_enter(&s, e.step);
    }
    set_makers(&s, true);
    if (n && n == w->n) /* a graph without cycles */
        memcpy(w->step, order, n * sizeof(*order));
    free(order);
    free(s.visited);
    free(s.stack);
    free(s.source);
}
