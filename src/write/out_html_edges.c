/* The edges of the page's graphs: which node reads the result of which other, with type and bytes. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/map.h"
#include "write/out_html.h"
#include "onnxcost.h"

struct edges {
    struct oc_report *r;
    struct oc_map types; /* text of a type to its index */
    const char **text;   /* of the types */
    uint64_t *bytes;     /* of a value of the type, OC_NO_BYTES: unknown */
    int64_t *to, *back;  /* by edge; back: how many nodes before the reader; beyond the first: an input */
    int64_t *type;
    uint32_t *of_value; /* by value: the index of its type + 1 */
    uint32_t n_type, cap_text, cap_bytes, n, cap_to, cap_back, cap_type;
};

#define OC_NO_BYTES UINT64_MAX

static uint32_t type_of(struct edges *e, uint32_t value)
{
    const struct oc_analysis *a = e->r->in->analysis;
    const struct oc_type *t = &a->type[value];
    if (e->of_value[value])
        return e->of_value[value] - 1;
    const char *text = oc_type_text(&e->r->arena, a->exprs, t);
    uint32_t at = e->n_type, n = at;
    bool added = oc_map_add(&e->types, text, strlen(text), &at, NULL);
    e->of_value[value] = at + 1;
    if (!added)
        return at;
    OC_GROW(e->text, n, e->cap_text);
    OC_GROW(e->bytes, n, e->cap_bytes);
    e->text[n] = text;
    if (!oc_type_bytes(t, &e->bytes[n]))
        e->bytes[n] = OC_NO_BYTES;
    e->n_type++;
    return at;
}

static void add_edge(struct edges *e, uint32_t reader, uint32_t value, const uint32_t *input_no)
{
    const struct oc_value *v = &e->r->in->model->value[value];
    bool input = v->producer == OC_NONE && v->graph == 0 && v->graph_input;
    uint32_t n = e->n;
    if (v->constant || (v->producer == OC_NONE && !input))
        return;
    OC_GROW(e->to, n, e->cap_to);
    OC_GROW(e->back, n, e->cap_back);
    OC_GROW(e->type, n, e->cap_type);
    e->to[n] = reader;
    e->back[n] = input ? (int64_t)reader + 1 + input_no[value] : (int64_t)reader - v->producer;
    e->type[n] = type_of(e, value);
    e->n++;
}

/* The values that a node reads, each once; of a node with bodies also what these read. */
static void edges_of_node(struct edges *e, uint32_t node, const uint32_t *input_no)
{
    const struct oc_model *m = e->r->in->model;
    const struct oc_node *n = &m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++) {
        bool again = n->in[i] == OC_NONE;
        for (uint32_t k = 0; k < i && k < 16 && !again; k++)
            again = n->in[k] == n->in[i];
        if (!again)
            add_edge(e, node, n->in[i], input_no);
    }
    for (uint32_t c = oc_first_capture(m->capture, m->n_capture, node);
         c < m->n_capture && m->capture[c].node == node; c++)
        add_edge(e, node, m->capture[c].value, input_no);
}

static void write_edges(struct oc_json_out *w, struct edges *e)
{
    const struct oc_model *m = e->r->in->model;
    oc_key_array(w, "inputs");
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        oc_jw_string(w, m->value[m->graph[0].input[i]].name);
    oc_jw_end_array(w);
    oc_key_array(w, "types");
    for (uint32_t i = 0; i < e->n_type; i++)
        oc_jw_string(w, e->text[i]);
    oc_jw_end_array(w);
    oc_key_array(w, "bytes");
    for (uint32_t i = 0; i < e->n_type; i++)
        if (e->bytes[i] == OC_NO_BYTES)
            oc_jw_null(w);
        else
            oc_page_u64(w, e->bytes[i]);
    oc_jw_end_array(w);
    oc_page_steps(w, "to_steps", e->to, e->n);
    oc_page_integers(w, "back", e->back, e->n);
    oc_page_integers(w, "type", e->type, e->n);
}

void oc_page_edges(struct oc_json_out *w, struct oc_report *r)
{
    struct edges e = {.r = r, .types.arena = &r->arena};
    if (!r->in->analysis || oc_report_grouped(r->o))
        return;
    const struct oc_model *m = r->in->model;
    e.of_value = OC_NEW_ARRAY(&r->arena, (size_t)m->n_value + 1, uint32_t);
    uint32_t *input_no = OC_NEW_ARRAY(&r->arena, (size_t)m->n_value + 1, uint32_t);
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        input_no[m->graph[0].input[i]] = i;
    for (uint32_t i = 0; i < m->n_node; i++)
        edges_of_node(&e, i, input_no);
    oc_key_object(w, "edges");
    write_edges(w, &e);
    oc_jw_end_object(w);
    oc_map_free(&e.types);
    free(e.text);
    free(e.bytes);
    free(e.to);
    free(e.back);
    free(e.type);
}
