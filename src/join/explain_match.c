#include "join/explain_match.h"

#include <string.h>

#include "base/buf.h"
#include "join/type_sets.h"

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
    {"order",
     "no information in the name: the first node in execution order with this type and the recorded output "
     "shape that has no other record"},
    {"optimized model",
     "the original nodes between the input and output tensors of this operator in the optimized model"},
    {"marker", "the record lists the nodes that it was made from"},
    {"name parts", "each part of the name is the name of a node or tensor"},
    {"range", "every node on a path from the first to the last node in the name"},
    {"plain name", "the name of a node, ignoring characters that tools replace or append"},
    {"by order", "no names: operators of the same type were aligned in execution order"},
    {"by type", "the number of calls equals the number of nodes of the type"},
    {"by type and shape", "the number of calls equals the number of nodes of the type with these shapes"},
    {"part of", "executed inside another record that is matched to these nodes"},
};

static const struct {
    const char *bucket, *text;
} buckets[] = {
    {"layout", "a conversion between memory layouts that the runtime inserted"},
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

/* Appends, for example: "2 nodes have this name: conv1 (Conv, in record 'conv1_nchwc')". */
static unsigned list_nodes(const struct oc_join *j, struct oc_buf *out, const char *name, const char *type,
                           const char *set)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < j->model->n_node; i++) {
        const struct oc_node *node = &j->model->node[i];
        if ((name && strcmp(node->name, name) != 0) || (type && strcmp(node->op_type, type) != 0) ||
            (set && !oc_type_set_has(set, node->op_type)))
            continue;
        if (n++ >= MAX_NAMED)
            continue;
        oc_buf_str(out, n > 1 ? ", " : ": ");
        label(j, i, out);
        uint32_t owner = j->node_rec[i];
        if (owner == OC_NONE)
            oc_buf_printf(out, " (%s, no record)", node->op_type);
        else
            oc_buf_printf(out, " (%s, in record '%.60s')", node->op_type, j->profile->rec[owner].name);
    }
    if (n > MAX_NAMED)
        oc_buf_printf(out, ", and %u more", n - MAX_NAMED);
    return n;
}

static void candidates(const struct oc_join *j, struct oc_buf *out, const char *what, const char *name,
                       const char *type, const char *set)
{
    struct oc_buf list = {0};
    unsigned n = list_nodes(j, &list, name, type, set);
    if (n)
        oc_buf_printf(out, "; %u %s%.*s", n, what, (int)list.n, list.data);
    else
        oc_buf_printf(out, "; no %s", what);
    oc_buf_free(&list);
}

static void list_rejected(const struct oc_join *j, const struct oc_prof_rec *p, struct oc_arena *a,
                          struct oc_buf *out)
{
    struct oc_source_type t;
    oc_buf_str(out, "no rule matched a node");
    if (p->name[0])
        candidates(j, out, "nodes with this name", p->name, NULL, NULL);
    if (p->op_type[0])
        candidates(j, out, "nodes of this type", NULL, p->op_type, NULL);
    if (oc_source_type(p->op_type, p->name, a, &t))
        candidates(j, out, "nodes of an equivalent type", NULL, NULL, t.core);
    else if (strcmp(j->profile->format, "onnxruntime") != 0)
        oc_buf_str(out, "; the type is not in the table of types of other frameworks");
}

static const char *finish_text(struct oc_buf *b, struct oc_arena *a)
{
    const char *text = oc_strndup(a, b->n ? b->data : "", b->n);
    oc_buf_free(b);
    return text;
}

const char *oc_join_explain(const struct oc_join *j, uint32_t rec, struct oc_arena *a)
{
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
        list_rejected(j, p, a, &b);
        return finish_text(&b, a);
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
    return finish_text(&b, a);
}
