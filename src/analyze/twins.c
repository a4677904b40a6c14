/* Nodes that repeat. Most networks consist of a few blocks, many times: a node with the operator, the attributes and the
 * types of an earlier one has its cost too, and what follows from them, such as the work in another data type. The
 * cost pass finds these twins among the nodes that it counted lately, with a small hash table.
 *
 * A rule sees types, constants that it requests, and attributes (ops/op.h). A node is a twin only if all of these are
 * equal, and only of a node whose cost is exact, has no note, and was counted without reading a constant. */
#include <string.h>

#include "analyze/engine.h"

static bool same_shape_and_type(const struct oc_type *a, const struct oc_type *b)
{
    const struct oc_shape *s = &a->shape, *t = &b->shape; /* many share their sizes */
    if (a->kind != OC_T_TENSOR || b->kind != OC_T_TENSOR || a->dtype != b->dtype || !s->ranked ||
        !t->ranked || s->rank != t->rank)
        return false;
    for (unsigned i = 0; s->dim != t->dim && i < s->rank; i++)
        if (!oc_is_known(s->dim[i]) || !oc_is_known(t->dim[i]) || s->dim[i].v != t->dim[i].v)
            return false;
    return true;
}

static bool same_bytes(const void *a, const void *b, size_t n)
{
    return a == b || !n || (a && b && !memcmp(a, b, n));
}

/* Names are interned. Tensors, graphs and lists of texts are never equal: such nodes are seldom repeated. */
static bool same_attribute(const struct oc_attr *a, const struct oc_attr *b)
{
    bool plain = a->type == OC_ATTR_INT || a->type == OC_ATTR_FLOAT || a->type == OC_ATTR_STRING ||
                 a->type == OC_ATTR_INTS || a->type == OC_ATTR_FLOATS;
    return plain && a->name == b->name && a->type == b->type && a->n == b->n && a->i == b->i &&
           a->s.n == b->s.n && same_bytes(&a->f, &b->f, sizeof(a->f)) && same_bytes(a->s.s, b->s.s, a->s.n) &&
           (a->type != OC_ATTR_INTS || same_bytes(a->ints, b->ints, a->n * sizeof(*a->ints))) &&
           (a->type != OC_ATTR_FLOATS || same_bytes(a->floats, b->floats, a->n * sizeof(*a->floats)));
}

bool oc_same_attributes(const struct oc_node *n, const struct oc_node *other)
{
    if (n->n_attr != other->n_attr)
        return false;
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (!same_attribute(&n->attr[i], &other->attr[i]))
            return false;
    return true;
}

static bool same_inputs(const struct oc_analysis *a, const struct oc_node *n, const struct oc_node *other)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i], w = other->in[i];
        if (v == OC_NONE && w == OC_NONE)
            continue;
        if (v == OC_NONE || w == OC_NONE || a->is_const[v] != a->is_const[w] || a->data[v] != a->data[w] ||
            !same_shape_and_type(&a->type[v], &a->type[w]))
            return false;
        for (uint32_t k = 0; k < i; k++) /* a value that is read twice moves once */
            if ((v == n->in[k]) != (w == other->in[k]))
                return false;
    }
    return true;
}

static bool is_read(const struct oc_model *m, uint32_t value)
{
    return m->value[value].n_use || m->value[value].graph_output;
}

static bool same_outputs(const struct oc_analysis *a, const struct oc_node *n, const struct oc_node *other)
{
    for (uint32_t i = 0; i < n->n_out; i++) {
        uint32_t v = n->out[i], w = other->out[i];
        if (v == OC_NONE && w == OC_NONE)
            continue;
        if (v == OC_NONE || w == OC_NONE || !same_shape_and_type(&a->type[v], &a->type[w]) ||
            (i && is_read(a->model, v) != is_read(a->model, w)))
            return false;
    }
    return true;
}

/* Constants that are stored in another form are read in that form, by the node that restores them. */
static bool reads_plain_constants(const struct oc_engine *e, const struct oc_node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && e->a->is_const[n->in[i]] && e->m->value[n->in[i]].producer != OC_NONE &&
            oc_weight_dequantizer(e->a, n->in[i]) != OC_NONE)
            return false;
    return true;
}

static size_t twins_add_type(size_t hash, const struct oc_analysis *a, uint32_t value)
{
    const struct oc_shape *s = &a->type[value].shape;
    for (unsigned i = 0; i < s->rank; i++)
        hash = hash * 31 + (size_t)s->dim[i].v;
    return hash * 31 + a->type[value].dtype;
}

uint32_t *oc_twin_place(struct oc_engine *e, uint32_t node)
{
    const struct oc_node *n = &e->m->node[node];
    if (n->graph || n->n_in > OC_FEW_INPUTS || e->convention || e->values || !reads_plain_constants(e, n))
        return NULL;
    size_t hash = 0; /* of the name, not of an address: the same twins in every run */
    for (const char *p = n->op_type; *p; p++)
        hash = hash * 31 + (unsigned char)*p;
    uint32_t weight = n->n_in > 1 ? n->in[1] : OC_NONE;
    if (weight != OC_NONE)
        hash = twins_add_type(hash, e->a, weight);
    if (n->n_out && n->out[0] != OC_NONE)
        hash = twins_add_type(hash, e->a, n->out[0]);
    return &e->recent[hash * 0x9e3779b97f4a7c15u >> 56];
}

bool oc_is_twin(const struct oc_engine *e, uint32_t node, uint32_t other)
{
    const struct oc_node *n = &e->m->node[node], *o = &e->m->node[other];
    return e->a->op[node] == e->a->op[other] && n->opset == o->opset && n->n_in == o->n_in &&
           n->n_out == o->n_out && same_inputs(e->a, n, o) && same_outputs(e->a, n, o) &&
           oc_same_attributes(n, o);
}
