/* A memory plan and its node order as CSV, JSON or text. Steps are positions in that order (in a subgraph:
 * its own order); node numbers are the same in all reports. */
#include <inttypes.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "onnxcost/memory.h"
#include "write/commands/page_views.h"
#include "write/tables/plain_table.h"

enum { VERSION = 1 };

/* ---- the plan --------------------------------------------------------------------------------------- */

/* In JSON an object; in CSV the columns first_node and last_node. */
static void node_field(struct oc_fields *o, const char *name, const struct oc_model *m, uint32_t node)
{
    char buf[256];
    bool known = node != OC_NONE;
    if (!o->json) {
        oc_field_u64_if(o, name, known, node);
    } else if (oc_key_object_if(o->json, name, known)) {
        oc_key_u64(o->json, "index", node);
        oc_key_text(o->json, "name", oc_node_label(m, &m->node[node], buf, sizeof(buf)));
        oc_jw_end_object(o->json);
    }
}

static void label_field(struct oc_fields *o, const char *name, const struct oc_model *m, uint32_t node)
{
    char buf[256];
    oc_field_text(o, name,
                  node == OC_NONE ? NULL
                                  : oc_strdup(&o->arena, oc_node_label(m, &m->node[node], buf, sizeof(buf))));
}

void oc_plan_buffer_fields(struct oc_fields *o, const struct oc_analysis *a,
                           const struct oc_planned_buffer *b)
{
    const struct oc_model *m = a->model;
    bool bodies = b->value == OC_NONE;
    oc_fields_begin(o);
    oc_field_text(o, "value", bodies ? NULL : m->value[b->value].name);
    oc_field_text(o, "kind", bodies ? "bodies" : "tensor");
    oc_field_text(o, "graph", m->graph[b->graph].scope);
    oc_field_u64(o, "bytes", b->bytes);
    oc_field_u64(o, "offset", b->offset);
    oc_field_u64(o, "first_step", b->first);
    oc_field_u64(o, "last_step", b->last);
    node_field(o, "first_node", m, b->first_node);
    node_field(o, "last_node", m, b->last_node);
    if (!o->json) {
        label_field(o, "first_name", m, b->first_node);
        label_field(o, "last_name", m, b->last_node);
    }
    oc_field_bool(o, "input", b->input);
    oc_field_bool(o, "output", b->output);
    oc_field_text(o, "quality", oc_quality_name(b->quality));
    oc_field_text(o, "type", bodies ? NULL : oc_type_text(&o->arena, a->exprs, &a->type[b->value]));
    oc_fields_end(o);
}

static void plan_csv(const struct oc_memory_plan *p, FILE *f)
{
    const struct oc_planned_buffer none = {.value = OC_NONE, .first_node = OC_NONE, .last_node = OC_NONE};
    struct oc_fields o = {.head_only = !p->n_buffer};
    for (uint32_t i = 0; i < p->n_buffer; i++)
        oc_plan_buffer_fields(&o, p->a, &p->buffer[i]);
    if (!p->n_buffer)
        oc_plan_buffer_fields(&o, p->a, &none);
    oc_fields_csv(&o, "1", f);
    oc_fields_free(&o);
}

static void key_order(struct oc_json_out *w, const struct oc_memory_plan *p)
{
    oc_key_array(w, "order");
    for (uint32_t i = 0; i < p->liveness->n_step; i++)
        oc_jw_u64(w, p->liveness->step[p->order[i]]);
    oc_jw_end_array(w);
}

static double plan_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 1;
}

static void plan_json(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_json_out w;
    struct oc_fields o = {.json = &w};
    oc_json_begin(&w, f, "onnxcost.plan", VERSION, p->a->model->path);
    oc_key_u64(&w, "size_bytes", p->size);
    oc_key_u64(&w, "live_bytes", p->lower);
    oc_key_double(&w, "ratio", plan_ratio(p->size, p->lower));
    oc_key_bool(&w, "optimal", p->optimal);
    oc_key_text(&w, "method", p->method);
    oc_key_u64(&w, "align_bytes", p->align > 1 ? p->align : 1);
    oc_key_quality(&w, p->quality);
    oc_key_bool(&w, "reordered", p->reorder.changed);
    oc_key_array(&w, "buffers");
    for (uint32_t i = 0; i < p->n_buffer; i++)
        oc_plan_buffer_fields(&o, p->a, &p->buffer[i]);
    oc_jw_end_array(&w);
    key_order(&w, p);
    oc_json_end(&w);
    oc_fields_free(&o);
}

/* ---- the order -------------------------------------------------------------------------------------- */

static void order_fields(struct oc_fields *o, const struct oc_memory_plan *p, uint32_t position)
{
    bool known = position < p->liveness->n_step;
    uint32_t at = known ? p->order[position] : 0, node = known ? p->liveness->step[at] : OC_NONE;
    oc_fields_begin(o);
    oc_field_u64(o, "position", position);
    oc_field_u64(o, "file_position", at);
    oc_field_u64(o, "node", node);
    label_field(o, "name", p->a->model, node);
    oc_field_text(o, "op_type", known ? p->a->model->node[node].op_type : NULL);
    oc_field_u64(o, "live_bytes", known ? p->live[position] : 0);
    oc_fields_end(o);
}

static void order_csv(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_fields o = {.head_only = !p->liveness->n_step};
    for (uint32_t i = 0; i < p->liveness->n_step || (o.head_only && !i); i++)
        order_fields(&o, p, i);
    oc_fields_csv(&o, "1", f);
    oc_fields_free(&o);
}

static void order_json(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.order", VERSION, p->a->model->path);
    oc_key_u64(&w, "file_order_bytes", p->reorder.before);
    oc_key_u64(&w, "bytes", p->reorder.after);
    oc_key_u64(&w, "lower_bytes", p->reorder.lower);
    oc_key_bool(&w, "optimal", p->reorder.lower == p->reorder.after);
    oc_key_bool(&w, "changed", p->reorder.changed);
    oc_key_quality(&w, p->quality);
    key_order(&w, p);
    oc_key_array(&w, "live_bytes");
    for (uint32_t i = 0; i < p->liveness->n_step; i++)
        oc_jw_u64(&w, p->live[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

static void order_lines(struct oc_arena *arena, const struct oc_memory_plan *p, const char *mark, FILE *f)
{
    const struct oc_reorder *r = &p->reorder;
    if (r->changed)
        fprintf(f, "order       peak activation memory %s%s instead of %s, %.1f %% less\n", mark,
                oc_bytes_text(arena, (double)r->after), oc_bytes_text(arena, (double)r->before),
                100 * (1 - (double)r->after / (double)r->before));
    else
        fprintf(f, "order       file order: peak activation memory %s%s\n", mark,
                oc_bytes_text(arena, (double)r->before));
    if (r->lower == r->after)
        fprintf(f, "            optimal: equal to the lower bound\n");
    else
        fprintf(f, "            heuristic; lower bound %s\n", oc_bytes_text(arena, (double)r->lower));
}

static void order_table(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_arena arena = {0};
    const char *mark = oc_quality_word(p->quality);
    if (p->reordered)
        order_lines(&arena, p, mark, f);
    fprintf(f, "plan        arena of %s%s for %" PRIu32 " buffers, %.3f times the peak activation memory\n",
            mark, oc_bytes_text(&arena, (double)p->size), p->n_buffer, plan_ratio(p->size, p->lower));
    fprintf(f, "            %s (%s)\n",
            p->optimal ? "optimal for this order" : "heuristic, may not be optimal", p->method);
    oc_arena_free(&arena);
}

int oc_memory_plan_write(const struct oc_memory_plan *p, const char *format, FILE *f, struct oc_err *err)
{
    int form = oc_format_of("the plan", format, "json, csv", err);
    if (form < 0)
        return -1;
    (form ? plan_csv : plan_json)(p, f);
    return 0;
}

int oc_memory_order_write(const struct oc_memory_plan *p, const char *format, FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    static void (*const write[])(const struct oc_memory_plan *, FILE *) = {order_table, order_csv,
                                                                           order_json};
    int form = oc_format_of("the order", format, "table, csv, json", err);
    if (form < 0)
        return -1;
    write[form](p, f);
    return 0;
}
