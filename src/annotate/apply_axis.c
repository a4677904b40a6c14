/* Networks over one axis, N x C x L, become networks over images of one row, N x C x 1 x L: their convolutions then have the
 * kernels of images. The new axis is added where a value enters such a part of the graph and removed where it leaves; a part
 * is what convolutions, pooling and element-wise operators of three axes reach from each other. The numbers are the same. */
#include <stdlib.h>
#include <string.h>

#include "annotate/apply.h"
#include "base/ck.h"
#include "base/diag.h"
#include "base/str.h"
#include "onnxcost/report.h"

enum { AXIS = 2 }; /* the new one: before the last */

/* Which operators can have the axis, and what of them changes with it. */
enum role { ROLE_NONE, ROLE_CONV, ROLE_POOL, ROLE_SAME, ROLE_NORM, ROLE_PAIR, ROLE_JOIN };
static const struct {
    enum role role;
    const char *types;
} role_types[] = {
    {ROLE_CONV, " Conv ConvTranspose "},
    {ROLE_POOL, " MaxPool AveragePool GlobalAveragePool GlobalMaxPool "},
    {ROLE_SAME,
     " Relu LeakyRelu Sigmoid HardSigmoid Tanh Clip Elu Selu Softplus Erf Identity Neg Abs Exp Sqrt "},
    {ROLE_NORM, " BatchNormalization "},
    {ROLE_PAIR, " Add Sub Mul Div "},
    {ROLE_JOIN, " Concat "},
};

/* Lists with a number for each axis, and the number of the new one. */
static const struct {
    const char *name;
    int64_t fill;
} axis_lists[] = {
    {"kernel_shape", 1}, {"strides", 1}, {"dilations", 1}, {"output_padding", 0}, {"output_shape", 1}};

struct axis {
    struct oc_apply *x;
    bool *in;           /* by node: it is in a part */
    uint32_t *used;     /* by value: inputs of nodes in parts that read it */
    const char **image; /* by value: its name with the axis; NULL: it has none */
    const char *which;  /* name of the constant with the number of the axis; NULL: not written yet */
};

/* ---- parts of the graph ------------------------------------------------------------------------------- */

static enum role role_of(const struct oc_node *n)
{
    for (size_t i = 0; i < OC_COUNT(role_types); i++)
        if (oc_set_has(role_types[i].types, n->op_type, strlen(n->op_type)))
            return role_types[i].role;
    return ROLE_NONE;
}

/* -1: unknown */
static int rank_of(const struct oc_apply *x, uint32_t v)
{
    return v != OC_NONE && x->a->type[v].shape.ranked ? (int)x->a->type[v].shape.rank : -1;
}

/* Whether input k gets the axis. */
static bool is_image(const struct oc_apply *x, const struct oc_node *n, enum role role, uint32_t k)
{
    bool all = role == ROLE_PAIR || role == ROLE_JOIN;
    return (all || k == 0 || (role == ROLE_CONV && k == 1)) && rank_of(x, n->in[k]) == 3;
}

static bool has_lists_of_one(const struct oc_node *n)
{
    const struct oc_attr *pads = oc_node_attr(n, "pads");
    bool ok = !pads || (pads->type == OC_ATTR_INTS && pads->n == 2);
    for (size_t i = 0; i < OC_COUNT(axis_lists); i++) {
        const struct oc_attr *a = oc_node_attr(n, axis_lists[i].name);
        ok = ok && (!a || (a->type == OC_ATTR_INTS && a->n == 1));
    }
    return ok;
}

/* Weights that are computed, or dequantized, would be so in every run. */
static bool has_stored_weights(const struct oc_apply *x, const struct oc_node *n)
{
    const struct oc_value *w = n->n_in > 1 && n->in[1] != OC_NONE ? &x->m->value[n->in[1]] : NULL;
    return w &&
           (w->constant || (w->producer != OC_NONE && !strcmp(x->m->node[w->producer].op_type, "Constant")));
}

static bool is_dequantized(const struct oc_apply *x, uint32_t v)
{
    uint32_t p = v == OC_NONE ? OC_NONE : x->m->value[v].producer;
    return p != OC_NONE && !strcmp(x->m->node[p].op_type, "DequantizeLinear");
}

/* The other operand of a pair may have fewer axes if they are the last one. */
static bool has_operands(const struct oc_apply *x, const struct oc_node *n, enum role role)
{
    for (uint32_t k = 0; k < n->n_in; k++) {
        int rank = rank_of(x, n->in[k]);
        if (rank != 3 && !(role == ROLE_PAIR && (rank == 0 || rank == 1)))
            return false;
    }
    return true;
}

static bool can_have_axis(const struct oc_apply *x, const struct oc_node *n)
{
    enum role role = role_of(n);
    if (role == ROLE_NONE || *n->domain || n->graph || !n->where || n->n_out != 1 || !n->n_in ||
        rank_of(x, n->out[0]) != 3 || is_dequantized(x, n->in[0]))
        return false;
    if (role == ROLE_PAIR || role == ROLE_JOIN)
        return has_operands(x, n, role);
    return rank_of(x, n->in[0]) == 3 && has_lists_of_one(n) &&
           (role != ROLE_CONV || (has_stored_weights(x, n) && rank_of(x, n->in[1]) == 3)) &&
           (role != ROLE_NORM || !oc_node_attr(n, "spatial"));
}

/* Joins neighbours; by node, a set of oc_set_root. */
static uint32_t *join_neighbours(struct axis *w)
{
    const struct oc_model *m = w->x->m;
    uint32_t *up = OC_NEW_ARRAY(&w->x->r.arena, (size_t)m->n_node + 1, uint32_t);
    for (uint32_t i = 0; i < m->n_node; i++)
        up[i] = i;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; w->in[i] && k < m->node[i].n_in; k++) {
            uint32_t p = m->node[i].in[k] == OC_NONE ? OC_NONE : m->value[m->node[i].in[k]].producer;
            if (p != OC_NONE && w->in[p])
                oc_set_unite(up, i, p);
        }
    return up;
}

/* The parts that have a convolution of the suggestion; other convolutions stay as they are. */
static void find_parts(struct axis *w, const struct oc_advice_item *s)
{
    struct oc_apply *x = w->x;
    const struct oc_model *m = x->m;
    bool *wanted = OC_NEW_ARRAY(&x->r.arena, (size_t)m->n_node + 1, bool);
    for (uint32_t i = 0; i < m->n_node; i++)
        w->in[i] = role_of(&m->node[i]) != ROLE_CONV && can_have_axis(x, &m->node[i]);
    for (uint32_t i = 0; i < s->n_proof; i++) {
        uint32_t node = s->proof[i].node;
        bool fits = node != OC_NONE && can_have_axis(x, &m->node[node]);
        *(fits ? &x->out->changed : &x->out->unchanged) += 1;
        if (fits)
            w->in[node] = true;
        else
            x->why = "weights or sizes are not fixed, or it is in a body or function";
    }
    uint32_t *up = join_neighbours(w);
    for (uint32_t i = 0; i < s->n_proof; i++)
        if (s->proof[i].node != OC_NONE && w->in[s->proof[i].node])
            wanted[oc_set_root(up, s->proof[i].node)] = true;
    for (uint32_t i = 0; i < m->n_node; i++)
        w->in[i] = w->in[i] && wanted[oc_set_root(up, i)];
}

static void count_readers(struct axis *w)
{
    const struct oc_model *m = w->x->m;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; w->in[i] && k < m->node[i].n_in; k++)
            if (is_image(w->x, &m->node[i], role_of(&m->node[i]), k))
                w->used[m->node[i].in[k]]++;
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

/* Unsqueeze or Squeeze; from version 13 on their axes are an input. */
static void put_change(struct axis *w, struct oc_buf *graph, const char *type, const char *in,
                       const char *out, const struct oc_node *near)
{
    static const int64_t axis = AXIS;
    struct oc_buf b = {0};
    bool by_input = near->opset >= 13;
    if (by_input && !w->which) {
        w->which = oc_apply_new_name(w->x, "axis", "_of_images");
        oc_apply_begin(&b, NULL, w->which, w->which, "Constant");
        oc_apply_ints(&b, "value_ints", &axis, 1);
        oc_apply_end(graph, &b);
    }
    oc_wire_add_text(&b, OC_NODE_IN, in);
    oc_apply_begin(&b, by_input ? w->which : NULL, out, oc_apply_new_name(w->x, out, "_axis"), type);
    if (!by_input)
        oc_apply_ints(&b, "axes", &axis, 1);
    oc_apply_end(graph, &b);
}

/* The name of the value with the axis, which is added here if no node in a part computes the value. */
static const char *image_of(struct axis *w, struct oc_buf *graph, uint32_t v, const struct oc_node *reader)
{
    const struct oc_value *value = &w->x->m->value[v];
    if (!w->image[v]) {
        w->image[v] = oc_apply_new_name(w->x, value->name, "_image");
        if (value->producer == OC_NONE || !w->in[value->producer])
            put_change(w, graph, "Unsqueeze", value->name, w->image[v], reader);
    }
    return w->image[v];
}

/* An attribute with a number for each axis; false: it has none. */
static bool put_changed_attr(struct oc_buf *node, const struct oc_attr *a, enum role role)
{
    int64_t list[4] = {0};
    if (role == ROLE_JOIN && !strcmp(a->name, "axis")) {
        oc_apply_int(node, "axis",
                     a->i == -1 || (a->i >= 0 && a->i < AXIS) ? a->i
                     : a->i < 0                               ? a->i - 1
                                                              : a->i + 1);
        return true;
    }
    if (role != ROLE_CONV && role != ROLE_POOL)
        return false;
    if (!strcmp(a->name, "pads")) {
        list[1] = a->ints[0];
        list[3] = a->ints[1];
        oc_apply_ints(node, "pads", list, 4);
        return true;
    }
    for (size_t i = 0; i < OC_COUNT(axis_lists); i++)
        if (!strcmp(a->name, axis_lists[i].name)) {
            list[0] = axis_lists[i].fill;
            list[1] = a->ints[0];
            oc_apply_ints(node, a->name, list, 2);
            return true;
        }
    return false;
}

/* The attribute of the node with this message; NULL: it has no name. */
static const struct oc_attr *attr_of(const struct oc_node *n, const struct oc_wire_field *f)
{
    struct oc_wire in = oc_wire_of(f->data, f->n);
    struct oc_wire_field name = {0};
    while (oc_wire_next(&in, &name) && name.num != 1)
        ;
    for (uint32_t i = 0; i < n->n_attr && name.num == 1 && name.type == OC_WIRE_LEN; i++)
        if (strlen(n->attr[i].name) == name.n && !memcmp(n->attr[i].name, name.data, name.n))
            return oc_node_attr(n, n->attr[i].name); /* the first of this name was checked */
    return NULL;
}

/* All other fields of the node's message as they are. */
static void copy_fields(struct axis *w, const struct oc_node *n, struct oc_buf *node)
{
    size_t all;
    const uint8_t *data = oc_apply_file(w->x, &all) + n->where;
    oc_os_need(data, n->n_bytes);
    struct oc_wire in = oc_wire_of(data, n->n_bytes);
    struct oc_wire_field f;
    for (const uint8_t *at = in.p; oc_wire_next(&in, &f); at = in.p) {
        bool attr = f.num == OC_NODE_ATTR && f.type == OC_WIRE_LEN;
        const struct oc_attr *a = attr ? attr_of(n, &f) : NULL;
        if (f.num != OC_NODE_IN && f.num != OC_NODE_OUT && !(a && put_changed_attr(node, a, role_of(n))))
            oc_buf_add(node, at, (size_t)(in.p - at));
    }
}

static void rewrite_node(struct axis *w, uint32_t node)
{
    struct oc_apply *x = w->x;
    const struct oc_node *n = &x->m->node[node];
    const struct oc_value *out = &x->m->value[n->out[0]];
    enum role role = role_of(n);
    struct oc_buf graph = {0}, b = {0};
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t v = n->in[k];
        oc_wire_add_text(&b, OC_NODE_IN,
                         v == OC_NONE              ? ""
                         : is_image(x, n, role, k) ? image_of(w, &graph, v, n)
                                                   : x->m->value[v].name);
    }
    const char *image = image_of(w, &graph, n->out[0], n);
    oc_wire_add_text(&b, OC_NODE_OUT, image);
    copy_fields(w, n, &b);
    oc_apply_end(&graph, &b);
    if (out->graph_output || out->n_use > w->used[n->out[0]])
        put_change(w, &graph, "Squeeze", image, out->name, n);
    else
        oc_map_add(&x->dropped, out->name, strlen(out->name), &(uint32_t){0}, NULL);
    *oc_apply_replace(x, n->where) = graph;
}

void oc_apply_axis(struct oc_apply *x, const struct oc_advice_item *s)
{
    const struct oc_model *m = x->m;
    struct axis w = {.x = x,
                     .in = OC_NEW_ARRAY(&x->r.arena, (size_t)m->n_node + 1, bool),
                     .used = OC_NEW_ARRAY(&x->r.arena, (size_t)m->n_value + 1, uint32_t),
                     .image = OC_NEW_ARRAY(&x->r.arena, (size_t)m->n_value + 1, const char *)};
    find_parts(&w, s);
    count_readers(&w);
    for (uint32_t i = 0; i < m->n_node; i++)
        if (w.in[i])
            rewrite_node(&w, i);
}
