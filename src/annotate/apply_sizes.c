/* Inputs of a model get the sizes of the analysis in place of dimensions that are open: a runtime then computes shapes once,
 * when it loads the model. The result takes inputs of these sizes alone. */
#include <inttypes.h>
#include <string.h>

#include "annotate/apply.h"
#include "annotate/onnx_fields.h"
#include "onnxcost/report.h"

enum { GRAPH_INPUT = 11, GRAPH_VALUE = 13, VALUE_NAME = 1 };

static bool is_open(const struct oc_type *t)
{
    for (unsigned i = 0; t->shape.ranked && i < t->shape.rank; i++)
        if (t->shape.dim[i].expr || t->shape.dim[i].v < 0)
            return true;
    return false;
}

enum { MOST_NAMED_BYTES = 240 }; /* of struct oc_applied.text; more dimensions are "..." */

/* "batch = 8, x.1 = 224" of the open dimensions; named: those that are there already. */
static void report_sizes(struct oc_apply *x, const struct oc_value *v, const struct oc_shape *s,
                         struct oc_map *named)
{
    for (unsigned i = 0; i < s->rank; i++) {
        struct oc_dim d = v->declared->shape.dim[i];
        const char *name = d.expr ? x->m->symbol[d.expr - 1] : oc_printf(&x->r.arena, "%s.%u", v->name, i);
        if ((!d.expr && d.v >= 0) || (x->what && strlen(x->what) > MOST_NAMED_BYTES) ||
            !oc_map_add(named, name, strlen(name), &(uint32_t){0}, NULL))
            continue;
        const char *before = x->what ? oc_printf(&x->r.arena, "%s, ", x->what) : "for inputs of ";
        x->what = oc_printf(&x->r.arena, "%s%s = %" PRId64, before, name, s->dim[i].v);
        if (strlen(x->what) > MOST_NAMED_BYTES)
            x->what = oc_printf(&x->r.arena, "%.*s ...", MOST_NAMED_BYTES, x->what);
    }
}

/* An input, or a recorded type, which the runtime infers again. */
static void fix_message(struct oc_apply *x, const struct oc_map *open, const struct oc_wire_field *f,
                        uint64_t where)
{
    struct oc_wire in = oc_wire_of(f->data, f->n);
    struct oc_wire_field name = {0};
    while (oc_wire_next(&in, &name) && name.num != VALUE_NAME)
        ;
    uint32_t v = name.num == VALUE_NAME && name.type == OC_WIRE_LEN
                     ? oc_map_get(open, (const char *)name.data, name.n)
                     : OC_NONE;
    if (v == OC_NONE)
        return;
    struct oc_buf *by = oc_apply_replace(x, where);
    if (f->num == GRAPH_INPUT)
        oc_put_value(by, GRAPH_INPUT, x->m->value[v].name, &x->a->type[v]);
}

/* Values of the main graph with open dimensions, by name; false: the sizes of an input are not known. */
static bool find_open(struct oc_apply *x, struct oc_map *open)
{
    struct oc_map named = {.arena = &x->r.arena};
    bool known = true;
    for (uint32_t i = 0; i < x->m->n_value && known; i++) {
        const struct oc_value *v = &x->m->value[i];
        if (v->graph || v->constant || !is_open(v->declared))
            continue;
        if (v->graph_input) {
            known = oc_type_is_complete(&x->a->type[i]);
            if (known)
                report_sizes(x, v, &x->a->type[i].shape, &named);
        }
        oc_map_set(open, v->name, strlen(v->name), i);
    }
    oc_map_free(&named);
    return known;
}

void oc_apply_sizes(struct oc_apply *x, const struct oc_advice_item *s)
{
    struct oc_map open = {.arena = &x->r.arena};
    struct oc_wire_field graph, f;
    size_t n;
    const uint8_t *data = oc_apply_file(x, &n);
    if (!find_open(x, &open)) {
        x->why = "the sizes of an input are not known: give them with --dim or --shape";
        x->out->unchanged = s->n_proof;
    } else if (oc_apply_graph(x, &graph)) {
        struct oc_wire in = oc_wire_of(graph.data, graph.n);
        while (oc_wire_next(&in, &f))
            if (f.type == OC_WIRE_LEN && (f.num == GRAPH_INPUT || f.num == GRAPH_VALUE))
                fix_message(x, &open, &f, (uint64_t)(f.data - data));
        x->out->changed = s->n_proof;
    }
    oc_map_free(&open);
}
