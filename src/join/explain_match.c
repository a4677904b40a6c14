#include "join/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "join/expansion.h"

#define MAX_NAMED 3

static const struct {
    const char *rule, *text;
} rules[] = {
    {"name", "the node has this name"},
    {"inlined name", "the text after '__Inline_<k>__' is the name of a node in an inlined branch"},
    {"fused name", "the name without the fusion's suffix is the name of a node; the group was grown from it"},
    {"output tensor", "the name is the name of an output tensor of the group"},
    {"tensor name", "the name is the name of an output tensor of the node"},
    {"index", "an unnamed node at this position, counted without Constants, functions expanded"},
    {"function body", "a node of the body of this function operator, which the runtime has no kernel for"},
    {"type and shape",
     "a layer and a node of the same type, multiply-adds and shapes without the batch, in order "
     "or between matched neighbours"},
    {"order",
     "no information in the name: the first node in execution order with this type and the recorded output "
     "shape that has no other record"},
    {"optimized model",
     "the original nodes between the input and output tensors of this operator in the optimized model"},
    {"marker", "the record lists the nodes that it was made from"},
    {"name parts", "each part of the name is the name of a node or tensor"},
    {"range", "every node on a path from the first to the last node in the name"},
    {"plain name", "the name of a node, ignoring characters that tools replace or append"},
    {"by size", "no names: as many products of this size as nodes, in execution order"},
    {"by order", "no names: operators of the same type were aligned in execution order"},
    {"by type", "the number of calls equals the number of nodes of the type"},
    {"by type and shape", "the number of calls equals the number of nodes of the type with these shapes"},
    {"part of", "executed inside another record that is matched to these nodes"},
};

static const struct {
    const char *bucket, *text;
} buckets[] = {
    {"layout", "a conversion between memory layouts that the runtime inserted"},
    {"reformat",
     "a layer of the engine that converts the memory layout or the element type; no node matches"},
    {"DLA transfers", "a copy to or from the DLA; waiting for the DLA counts as a copy from it"},
    {"copies", "a copy between devices or buffers that the runtime inserted"},
    {"casts", "a conversion of element types that the runtime inserted"},
    {"inserted", "the runtime gives this name to operators that it inserts; no node matches"},
    {"training", "part of the backward pass or of the weight update, which the model does not have"},
    {"generated kernels", "a compiler generated this kernel from several operators and did not record which"},
};

static void label(const struct oc_join *j, uint32_t node, struct oc_buf *out)
{
    char text[256];
    oc_buf_str(out, oc_node_label(j->model, &j->model->node[node], text, sizeof(text)));
}

/* Appends a node as the n-th of a list: ": conv1 (Conv, in record 'conv1_nchwc')". */
static void list_node(const struct oc_join *j, struct oc_buf *out, uint32_t node, unsigned n)
{
    const char *type = j->model->node[node].op_type;
    uint32_t owner = j->node_rec[node];
    oc_buf_str(out, n > 1 ? ", " : ": ");
    label(j, node, out);
    if (owner == OC_NONE)
        oc_buf_printf(out, " (%s, no record)", type);
    else
        oc_buf_printf(out, " (%s, in record '%.60s')", type, j->profile->rec[owner].name);
}

/* Appends, for example: "; 2 nodes with this name: conv1 (Conv, no record), ...". The nodes are all nodes, or
 * those of a chain; set: only types of this set. */
static void candidates(const struct oc_join *j, struct oc_buf *out, const char *what, uint32_t first,
                       const uint32_t *next, const char *set)
{
    struct oc_buf list = {0};
    unsigned n = 0;
    for (uint32_t i = first; i < j->model->n_node; i = next ? next[i] : i + 1) {
        if (set && !oc_type_set_has(set, j->model->node[i].op_type))
            continue;
        if (n++ < MAX_NAMED)
            list_node(j, &list, i, n);
    }
    if (n > MAX_NAMED)
        oc_buf_printf(&list, ", and %u more", n - MAX_NAMED);
    if (n)
        oc_buf_printf(out, "; %u %s%.*s", n, what, (int)list.n, list.data);
    else
        oc_buf_printf(out, "; no %s", what);
    oc_buf_free(&list);
}

static void link_node(struct oc_map *map, uint32_t *next, const char *key, uint32_t node)
{
    uint32_t old = node;
    next[node] = OC_NONE;
    if (oc_map_add_kept(map, key, strlen(key), &old))
        return;
    next[node] = old;
    oc_map_set(map, key, strlen(key), node);
}

void oc_explainer_init(struct oc_explainer *x, const struct oc_join *j, struct oc_arena *a)
{
    uint32_t n = j->model->n_node;
    *x = (struct oc_explainer){.j = j,
                               .a = a,
                               .names.arena = a,
                               .types.arena = a,
                               .lists.arena = a,
                               .next_name = OC_NEW_ARRAY(a, n, uint32_t),
                               .next_type = OC_NEW_ARRAY(a, n, uint32_t)};
    while (n-- > 0) { /* backwards: chains are in order */
        link_node(&x->names, x->next_name, j->model->node[n].name, n);
        link_node(&x->types, x->next_type, j->model->node[n].op_type, n);
    }
}

void oc_explainer_free(struct oc_explainer *x)
{
    oc_map_free(&x->names);
    oc_map_free(&x->types);
    oc_map_free(&x->lists);
    free(x->list);
}

static const char *finish_text(struct oc_buf *b, struct oc_arena *a)
{
    const char *text = oc_strndup(a, b->n ? b->data : "", b->n);
    oc_buf_free(b);
    return text;
}

/* The candidates of a name, a type or a set of types: listed once. */
static const char *listed(struct oc_explainer *x, const char *what, const char *key, const struct oc_map *map,
                          const uint32_t *next)
{
    uint32_t at = x->n_list;
    char *name = oc_printf(x->a, "%s %s", what, key);
    if (!oc_map_add_kept(&x->lists, name, strlen(name), &at))
        return x->list[at];
    struct oc_buf b = {0};
    if (map)
        candidates(x->j, &b, what, oc_map_get(map, key, strlen(key)), next, NULL);
    else
        candidates(x->j, &b, what, 0, NULL, key);
    OC_GROW(x->list, x->n_list, x->cap_list);
    x->list[x->n_list++] = finish_text(&b, x->a);
    return x->list[at];
}

static void list_rejected(struct oc_explainer *x, const struct oc_prof_rec *p, struct oc_buf *out)
{
    struct oc_source_type t;
    oc_buf_str(out, "no rule matched a node");
    if (p->name[0])
        oc_buf_str(out, listed(x, "nodes with this name", p->name, &x->names, x->next_name));
    if (p->op_type[0])
        oc_buf_str(out, listed(x, "nodes of this type", p->op_type, &x->types, x->next_type));
    if (oc_source_type(p->op_type, p->name, x->a, &t))
        oc_buf_str(out, listed(x, "nodes of an equivalent type", t.core, NULL, NULL));
    else if (strcmp(x->j->profile->format, "onnxruntime") != 0)
        oc_buf_str(out, "; the type is not in the table of types of other frameworks");
}

const char *oc_join_explain(struct oc_explainer *x, uint32_t rec)
{
    const struct oc_join *j = x->j;
    const struct oc_join_rec *r = &j->rec[rec];
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    struct oc_buf b = {0};
    if (p->bucket)
        return "time that the profile reports outside operators";
    if (!r->n_node) {
        size_t i = 0;
        while (i < OC_COUNT(buckets) && strcmp(buckets[i].bucket, r->bucket ? r->bucket : "") != 0)
            i++;
        if (i < OC_COUNT(buckets))
            return buckets[i].text;
        list_rejected(x, p, &b);
        return finish_text(&b, x->a);
    }
    for (size_t i = 0; i < OC_COUNT(rules); i++)
        if (strcmp(rules[i].rule, r->rule) == 0)
            oc_buf_str(&b, rules[i].text);
    if (r->part_of != OC_NONE)
        oc_buf_printf(&b, ", '%.80s'", j->profile->rec[r->part_of].name);
    if (r->confidence < 1 && r->n_node == 1 && p->op_type[0] &&
        strcmp(p->op_type, j->model->node[r->node[0]].op_type) != 0)
        oc_buf_printf(&b, "; types differ: %s here, %s in the model", p->op_type,
                      j->model->node[r->node[0]].op_type);
    if (r->note)
        oc_buf_printf(&b, "; %s", r->note);
    return finish_text(&b, x->a);
}
