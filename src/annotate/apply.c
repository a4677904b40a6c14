/* Writes a copy of the model in which one suggestion is carried out: a few nodes of the main graph are replaced, all other bytes
 * are copied. A rewrite is local and can be read in the result: nodes have names, weights are not touched and stay where they
 * are. What must hold: the outputs of the model are the same numbers up to rounding, for all inputs; a node for which that is
 * not sure is left as it is. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotate.h"
#include "annotate/apply.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "base/wire.h"
#include "onnxcost.h"
#include "onnxcost/report.h"

enum { MODEL_GRAPH = 7, GRAPH_NODE = 1, GRAPH_VALUE_INFO = 13 };
enum { ATTR_NAME = 1, ATTR_INT = 3, ATTR_INTS = 8, ATTR_TYPE = 20, TYPE_INT = 2, TYPE_INTS = 7 };

/* ---- new nodes ---------------------------------------------------------------------------------------- */

const char *oc_apply_new_name(struct oc_apply *x, const char *base, const char *suffix)
{
    const char *name = oc_printf(&x->r.arena, "%s%s", base, suffix);
    for (uint32_t i = 2; !oc_map_add(&x->names, name, strlen(name), &(uint32_t){0}, NULL); i++)
        name = oc_printf(&x->r.arena, "%s%s_%u", base, suffix, i);
    return name;
}

void oc_apply_ints(struct oc_buf *node, const char *name, const int64_t *v, uint32_t n)
{
    struct oc_buf b = {0};
    oc_wire_add_text(&b, ATTR_NAME, name);
    for (uint32_t i = 0; i < n; i++)
        oc_wire_add_int(&b, ATTR_INTS, (uint64_t)v[i]);
    oc_wire_add_int(&b, ATTR_TYPE, TYPE_INTS);
    oc_wire_add_bytes(node, OC_NODE_ATTR, b.data, b.n);
    oc_buf_free(&b);
}

void oc_apply_int(struct oc_buf *node, const char *name, int64_t v)
{
    struct oc_buf b = {0};
    oc_wire_add_text(&b, ATTR_NAME, name);
    oc_wire_add_int(&b, ATTR_INT, (uint64_t)v);
    oc_wire_add_int(&b, ATTR_TYPE, TYPE_INT);
    oc_wire_add_bytes(node, OC_NODE_ATTR, b.data, b.n);
    oc_buf_free(&b);
}

void oc_apply_begin(struct oc_buf *b, const char *in, const char *out, const char *name, const char *type)
{
    if (in)
        oc_wire_add_text(b, OC_NODE_IN, in);
    oc_wire_add_text(b, OC_NODE_OUT, out);
    oc_wire_add_text(b, OC_NODE_NAME, name);
    oc_wire_add_text(b, OC_NODE_TYPE, type);
}

void oc_apply_end(struct oc_buf *graph, struct oc_buf *b)
{
    oc_wire_add_bytes(graph, GRAPH_NODE, b->data, b->n);
    oc_buf_free(b);
}

struct oc_buf *oc_apply_replace(struct oc_apply *x, uint64_t where)
{
    struct oc_replaced *r = &OC_PUSH(x->replaced, x->n_replaced, x->cap_replaced);
    *r = (struct oc_replaced){.where = where};
    return &r->by;
}

const uint8_t *oc_apply_file(const struct oc_apply *x, size_t *n)
{
    *n = x->m->built.n ? x->m->built.n : x->m->file.size_bytes;
    return x->m->built.n ? (const uint8_t *)x->m->built.data : x->m->file.data;
}

bool oc_apply_graph(const struct oc_apply *x, struct oc_wire_field *graph)
{
    size_t n;
    const uint8_t *data = oc_apply_file(x, &n);
    struct oc_wire in = oc_wire_of(data, n);
    while (oc_wire_next(&in, graph))
        if (graph->num == MODEL_GRAPH && graph->type == OC_WIRE_LEN)
            return true;
    return false;
}

/* ---- a softmax whose axis is not the last -------------------------------------------------------------- */

/* The Transpose that writes its input, if nothing else reads it. OC_NONE: there is none, and x->why says so. */
static uint32_t own_transpose(struct oc_apply *x, uint32_t softmax)
{
    uint32_t v = x->m->node[softmax].in[0], t = v == OC_NONE ? OC_NONE : x->m->value[v].producer;
    if (t == OC_NONE || strcmp(x->m->node[t].op_type, "Transpose") != 0 || *x->m->node[t].domain)
        x->why = "no Transpose is directly before it, and a runtime removes new ones";
    else if (x->m->value[v].n_use != 1 || x->m->value[v].graph_output)
        x->why = "others read the result of the Transpose before it";
    else if (x->m->node[t].graph || x->m->node[softmax].graph || !x->m->node[t].where ||
             !x->m->node[softmax].where)
        x->why = "it is in a body or function";
    else
        return t;
    return OC_NONE;
}

/* Transpose, Softmax: the Transpose moves the axis to the end, and a second one moves it back afterwards. ONNX Runtime
 * combines both with the one that was there. */
static bool move_softmax_axis(struct oc_apply *x, uint32_t softmax)
{
    const struct oc_node *n = &x->m->node[softmax];
    const struct oc_attr *axis_attr = oc_node_attr(n, "axis");
    uint32_t t = n->n_in == 1 ? own_transpose(x, softmax) : OC_NONE;
    if (t == OC_NONE)
        return false;
    const struct oc_attr *perm = oc_node_attr(&x->m->node[t], "perm");
    int64_t axis = axis_attr ? axis_attr->i : -1, before[OC_MAX_RANK], after[OC_MAX_RANK];
    uint32_t rank = perm && perm->type == OC_ATTR_INTS ? perm->n : 0;
    axis += axis < 0 ? rank : 0;
    if (!rank || rank > OC_MAX_RANK || axis < 0 || axis >= rank) {
        x->why = "its Transpose has no attribute perm";
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        before[i] = perm->ints[i + 1 == rank ? (uint32_t)axis : i < axis ? i : i + 1];
        after[i] = i == axis ? rank - 1 : i < axis ? i : i - 1;
    }
    const char *moved = x->m->value[n->in[0]].name, *result = x->m->value[n->out[0]].name;
    const char *in = oc_apply_new_name(x, moved, "_axis_last"),
               *out = oc_apply_new_name(x, result, "_axis_last");
    struct oc_buf b = {0};
    oc_apply_begin(&b, x->m->value[x->m->node[t].in[0]].name, in, x->m->node[t].name, "Transpose");
    oc_apply_ints(&b, "perm", before, rank);
    oc_apply_end(oc_apply_replace(x, x->m->node[t].where), &b);
    struct oc_buf *graph = oc_apply_replace(x, n->where);
    oc_apply_begin(&b, in, out, n->name, n->op_type);
    oc_apply_int(&b, "axis", -1);
    oc_apply_end(graph, &b);
    oc_apply_begin(&b, out, result, oc_apply_new_name(x, n->name, "_axis_back"), "Transpose");
    oc_apply_ints(&b, "perm", after, rank);
    oc_apply_end(graph, &b);
    oc_map_add(&x->dropped, moved, strlen(moved), &(uint32_t){0}, NULL);
    return true;
}

static const struct rewrite {
    const char *id;                                  /* of the suggestion */
    bool (*node)(struct oc_apply *x, uint32_t node); /* of each operator of the suggestion, or ... */
    void (*all)(struct oc_apply *x, const struct oc_advice_item *s); /* ... of all; counts them in x->out */
} rewrites[] = {
    {"softmax-axis", .node = move_softmax_axis},
    {"conv-not-2d", .all = oc_apply_axis},
    {"dynamic-shapes", .all = oc_apply_sizes},
};

/* ---- the file ------------------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct oc_replaced *)a)->where, y = ((const struct oc_replaced *)b)->where;
    return (x > y) - (x < y);
}

/* The new fields for the message; NULL: it stays. */
static const struct oc_buf *replacement(const struct oc_apply *x, uint64_t where)
{
    const struct oc_replaced key = {.where = where}, *found;
    found = x->n_replaced ? bsearch(&key, x->replaced, x->n_replaced, sizeof(key), by_place) : NULL;
    return found ? &found->by : NULL;
}

static bool is_dropped(struct oc_apply *x, const struct oc_wire_field *f)
{
    struct oc_wire in = oc_wire_of(f->data, f->n);
    struct oc_wire_field name;
    while (oc_wire_next(&in, &name))
        if (name.num == 1 && name.type == OC_WIRE_LEN)
            return oc_map_get(&x->dropped, (const char *)name.data, name.n) != OC_NONE;
    return false;
}

/* Bytes of the model's file, or of the graph that was made of a description. */
static void copy_file(struct oc_apply *x, const uint8_t *from, size_t n, FILE *f)
{
    x->cut = x->cut || !oc_copy_mapped(x->m->built.n ? NULL : &x->m->file, from, n, f);
}

/* The fields of the graph, with the replaced nodes; f NULL: only their size. */
static uint64_t write_graph(struct oc_apply *x, const uint8_t *file, const struct oc_wire_field *graph,
                            FILE *f)
{
    struct oc_wire in = oc_wire_of(graph->data, graph->n);
    struct oc_wire_field field;
    uint64_t size = 0;
    for (const uint8_t *at = in.p; oc_wire_next(&in, &field); at = in.p) {
        const struct oc_buf *by =
            field.type == OC_WIRE_LEN ? replacement(x, (uint64_t)(field.data - file)) : NULL;
        if (field.num == GRAPH_VALUE_INFO && field.type == OC_WIRE_LEN && is_dropped(x, &field))
            continue;
        size += by ? by->n : (size_t)(in.p - at);
        if (by && by->n && f)
            fwrite(by->data, 1, by->n, f);
        else if (!by && f)
            copy_file(x, at, (size_t)(in.p - at), f);
    }
    return size;
}

static int write_model(struct oc_apply *x, FILE *f)
{
    size_t n;
    const uint8_t *data = oc_apply_file(x, &n);
    struct oc_wire in = oc_wire_of(data, n);
    struct oc_wire_field field;
    uint8_t head[20];
    if (x->n_replaced)
        qsort(x->replaced, x->n_replaced, sizeof(*x->replaced), by_place);
    for (const uint8_t *at = in.p; oc_wire_next(&in, &field); at = in.p) {
        if (field.num != MODEL_GRAPH || field.type != OC_WIRE_LEN) {
            copy_file(x, at, (size_t)(in.p - at), f);
            continue;
        }
        size_t head_n = oc_wire_put_head(head, MODEL_GRAPH, write_graph(x, data, &field, NULL));
        fwrite(head, 1, head_n, f);
        (void)write_graph(x, data, &field, f);
    }
    if (x->cut)
        return oc_fail_cut(x->err);
    return in.bad ? oc_fail(x->err, OC_EFORMAT, "%s (offset %" PRIu64 ")", in.why, (uint64_t)(in.bad - data))
                  : 0;
}

const char *oc_apply_name(size_t index)
{
    return index < OC_COUNT(rewrites) ? rewrites[index].id : NULL;
}

/* ---- the suggestion ------------------------------------------------------------------------------------ */

static int fail_id(struct oc_apply *x, const char *id)
{
    struct oc_buf b = {0};
    for (size_t i = 0; i < OC_COUNT(rewrites); i++)
        oc_buf_printf(&b, "%s%s", i ? ", " : "", rewrites[i].id);
    oc_fail(x->err, OC_EARG, "no rewrite is known for '%.80s'; --apply takes the name of a suggestion: %s",
            id, b.data);
    oc_buf_free(&b);
    return -1;
}

static void collect_names(struct oc_apply *x)
{
    for (uint32_t i = 0; i < x->m->n_value; i++)
        oc_map_add(&x->names, x->m->value[i].name, strlen(x->m->value[i].name), &(uint32_t){0}, NULL);
    for (uint32_t i = 0; i < x->m->n_node; i++)
        oc_map_add(&x->names, x->m->node[i].name, strlen(x->m->node[i].name), &(uint32_t){0}, NULL);
}

static const struct oc_advice_item *find_suggestion(struct oc_apply *x, const char *id)
{
    oc_report_rows(&x->r);
    if (x->r.in->device)
        oc_report_roofs(&x->r);
    const struct oc_advice *a = oc_advice_make(&x->r);
    for (uint32_t i = 0; i < a->n; i++)
        if (!strcmp(a->item[i]->id, id))
            return a->item[i];
    return NULL;
}

static void describe(struct oc_apply *x, const struct oc_advice_item *s)
{
    struct oc_applied *o = x->out;
    struct oc_arena *a = &x->r.arena;
    struct oc_buf b = {0};
    oc_buf_printf(&b, "%-9s%u operator%s: %s\n", "changed", o->changed, oc_plural(o->changed), s->title);
    if (x->what)
        oc_buf_printf(&b, "%-9s%s\n", "", x->what);
    if (o->unchanged)
        oc_buf_printf(&b, "%-9s%u more stay: %s\n", "", o->unchanged, x->why);
    if (o->high_ns > 0)
        oc_buf_printf(&b, "%-9s%s to %s less per run, not measured\n", "expected",
                      oc_time_text(a, o->low_ns, "0"), oc_time_text(a, o->high_ns, "unknown"));
    snprintf(o->text, sizeof(o->text), "%s", b.data);
    oc_buf_free(&b);
}

static int apply(struct oc_apply *x, const char *id, const char *path, FILE *f)
{
    const struct rewrite *how = NULL;
    for (size_t i = 0; i < OC_COUNT(rewrites); i++)
        how = strcmp(rewrites[i].id, id) ? how : &rewrites[i];
    if (!how && f)
        return fail_id(x, id);
    const struct oc_advice_item *s = find_suggestion(x, id);
    if (!s)
        return oc_fail(x->err, OC_EARG, "--apply %s: --advise does not suggest it for this model", id);
    x->out->low_ns = s->low_ns;
    x->out->high_ns = s->high_ns;
    if (!f)
        return 0;
    collect_names(x);
    for (uint32_t i = 0; i < s->n_proof && how->node; i++) {
        bool done = s->proof[i].node != OC_NONE && how->node(x, s->proof[i].node);
        *(done ? &x->out->changed : &x->out->unchanged) += 1;
    }
    if (how->all)
        how->all(x, s);
    if (!x->out->changed)
        return oc_fail(x->err, OC_EUNSUPPORTED, "cannot apply '%s' to '%.160s': %s", id, s->proof[0].name,
                       x->why);
    for (uint32_t i = 0; path && i < x->m->n_value; i++) {
        const struct oc_tensor *t = x->m->value[i].constant;
        if (t && t->external_path && oc_check_external_place(x->m, t, path, &x->r.arena, x->err))
            return -1;
    }
    if (x->out->unchanged)
        x->out->low_ns = x->out->high_ns = (double)NAN;
    describe(x, s);
    return write_model(x, f);
}

int oc_apply_write(const struct oc_report_in *in, const struct oc_report_opts *given, const char *id,
                   const char *path, FILE *f, struct oc_applied *out, struct oc_err *err)
{
    struct oc_report_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    *out = (struct oc_applied){.low_ns = (double)NAN, .high_ns = (double)NAN};
    if (!in->model || !in->analysis)
        return oc_fail(err, OC_EARG, "--apply needs a model");
    struct oc_apply x = {
        .r = {.in = in, .o = opts}, .m = in->model, .a = in->analysis, .out = out, .err = err};
    x.names.arena = x.dropped.arena = &x.r.arena;
    int rc = apply(&x, id, path, f);
    for (uint32_t i = 0; i < x.n_replaced; i++)
        oc_buf_free(&x.replaced[i].by);
    free(x.replaced);
    oc_map_free(&x.names);
    oc_map_free(&x.dropped);
    oc_arena_free(&x.r.arena);
    return rc;
}
