/* The memory report as JSON with exact numbers and as CSV of its steps; a memory plan as JSON and CSV. */
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/memory.h"
#include "write/commands/page_views.h"
#include "write/tables/table.h"

static void options(struct oc_json_out *w, const struct oc_memory *m)
{
    const struct oc_liveness_opts *l = &m->liveness->opts;
    oc_key_text(w, "order", l->order == OC_ORDER_ORT ? "onnxruntime" : "file");
    oc_key_object(w, "options");
    oc_key_u64(w, "align_bytes", l->align > 1 ? l->align : 1);
    oc_key_bool(w, "graph_inputs", !l->without_inputs);
    oc_key_bool(w, "keep_inputs", l->keep_inputs);
    oc_key_bool(w, "inplace", l->inplace);
    oc_key_bool(w, "folded_and_scalars", l->all);
    oc_jw_end_object(w);
}

static void constants(struct oc_json_out *w, const struct oc_memory *m)
{
    const struct oc_analysis *a = m->a;
    oc_key_object(w, "constants");
    oc_key_u64(w, "bytes", a->total->const_bytes);
    oc_key_array(w, "classes");
    for (unsigned c = 0; c < OC_PC_COUNT; c++) {
        if (!a->class_elems[c] && !a->class_bytes[c])
            continue;
        oc_jw_begin_object(w);
        oc_key_text(w, "class", oc_param_class_name(c));
        oc_key_u64(w, "elements", a->class_elems[c]);
        oc_key_u64(w, "bytes", a->class_bytes[c]);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void activations(struct oc_json_out *w, const struct oc_memory *m)
{
    const struct oc_liveness *l = m->liveness;
    bool known = l->quality != OC_UNKNOWN;
    oc_key_object(w, "activations");
    oc_key_u64_if(w, "peak_bytes", known, l->peak);
    oc_key_u64_if(w, "peak_step", known && l->n_step, l->peak_step);
    oc_key_u64_if(w, "peak_node", known && l->n_step, l->n_step ? l->step[l->peak_step] : 0);
    oc_key_u64_if(w, "lower_bytes", known, l->lower);
    oc_key_u64(w, "known_bytes", l->peak); /* sum over the tensors of known size */
    oc_key_quality(w, l->quality);
    oc_jw_end_object(w);
    oc_key_object(w, "footprint");
    oc_key_u64_if(w, "bytes", m->quality != OC_UNKNOWN, m->footprint);
    oc_key_null(w, "workspace_bytes"); /* not modelled */
    oc_key_quality(w, m->quality);
    oc_jw_end_object(w);
}

static void memory_shape(struct oc_json_out *w, const struct oc_analysis *a, const struct oc_type *t)
{
    if (!oc_key_array_if(w, "shape", t->kind == OC_T_TENSOR && t->shape.ranked))
        return;
    for (unsigned i = 0; i < t->shape.rank; i++) {
        struct oc_dim d = t->shape.dim[i];
        int64_t max = oc_dim_max_value(a->exprs, d);
        if (oc_is_known(d)) {
            oc_jw_i64(w, d.v);
            continue;
        }
        oc_jw_begin_object(w);
        oc_key_text(w, "origin", oc_dim_text(a->exprs, d));
        oc_key_u64_if(w, "max", max >= 0, (uint64_t)max);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void step_field(struct oc_fields *o, const char *name, const struct oc_liveness *l, bool none,
                       uint32_t step)
{
    oc_field_u64_if(o, name, !none && l->n_step, !none && l->n_step ? l->step[step] : 0);
}

static void buffer_fields(struct oc_fields *o, const struct oc_memory *m, const struct oc_liveness *l,
                          const struct oc_life *x)
{
    const struct oc_value *v = &m->a->model->value[x->value];
    const struct oc_type *t = &m->a->type[x->value];
    oc_field_text(o, "name", v->name);
    oc_field_text(o, "scope", m->a->model->graph[v->graph].scope);
    oc_field_text(o, "dtype",
                  t->kind == OC_T_TENSOR ? oc_dtype_info(t->dtype)->name
                                         : oc_type_text(&o->arena, m->a->exprs, t));
    if (o->json)
        memory_shape(o->json, m->a, t);
    else
        oc_field_text(o, "type", oc_type_text(&o->arena, m->a->exprs, t));
    oc_field_u64_if(o, "bytes", x->quality != OC_UNKNOWN, x->bytes);
    oc_field_u64(o, "first_step", x->first);
    oc_field_u64(o, "last_step", x->last);
    step_field(o, "made_by", l, x->input, x->first);
    step_field(o, "last_used_by", l, x->output, x->last);
    oc_field_bool(o, "input", x->input);
    oc_field_bool(o, "output", x->output);
    oc_field_text(o, "quality", oc_quality_name(x->quality));
}

void oc_memory_live_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_memory *m = of;
    buffer_fields(o, m, m->row[i].liveness, m->row[i].life);
}

void oc_memory_buffer_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_memory *m = of;
    buffer_fields(o, m, m->liveness, &m->liveness->life[i]);
}

void oc_memory_step_fields(struct oc_fields *o, const void *of, size_t step)
{
    const struct oc_memory *m = of;
    const struct oc_liveness *l = m->liveness;
    bool known = step < l->n_step;
    const struct oc_node *n = known ? &m->a->model->node[l->step[step]] : NULL;
    if (!o->json)
        oc_field_u64(o, "step", step);
    oc_field_u64_if(o, "node", known, known ? l->step[step] : 0);
    oc_field_text(o, "name", n && *n->name ? n->name : NULL);
    oc_field_text(o, "op_type", n ? n->op_type : NULL);
    oc_field_u64_if(o, "live_bytes", known, known ? l->live[step] : 0);
    oc_field_u64_if(o, "inner_bytes", known, known ? l->inner[step] : 0);
}

unsigned oc_memory_run_quality(const struct oc_ort_run *r, unsigned sizes)
{
    return oc_worse_quality((uint8_t)sizes, r->estimate ? OC_EST : OC_EXACT);
}

static void memory_run(struct oc_json_out *w, const struct oc_ort_run *r, unsigned sizes)
{
    oc_key_u64(w, "requested_bytes", r->max_requested);
    oc_key_u64(w, "in_use_bytes", r->max_in_use);
    oc_key_u64(w, "held_bytes", r->held);
    oc_key_u64_if(w, "requested_node", r->requested_at != OC_NONE, r->requested_at);
    oc_key_u64_if(w, "in_use_node", r->in_use_at != OC_NONE, r->in_use_at);
    oc_key_quality(w, oc_memory_run_quality(r, sizes));
    oc_key_quality_of(w, "in_use_quality", oc_worse_quality((uint8_t)sizes, OC_EST));
    oc_key_text(w, "estimate_reason", r->estimate);
}

static void runtime(struct oc_json_out *w, const struct oc_memory *m)
{
    if (!oc_key_object_if(w, "arena", m->o.as_onnxruntime))
        return;
    memory_run(w, &m->run, m->liveness->quality);
    oc_jw_end_object(w);
}

static void memory_measured(struct oc_json_out *w, const struct oc_memory *m)
{
    const struct oc_memory_measured *c = &m->measured;
    if (!oc_key_object_if(w, "measured", c->seen != NULL))
        return;
    oc_key_u64(w, "requested_before_bytes", c->seen->before_requested);
    oc_key_u64(w, "in_use_before_bytes", c->seen->before_in_use);
    oc_key_u64(w, "requested_bytes", c->seen->max_requested);
    oc_key_u64(w, "in_use_bytes", c->seen->max_in_use);
    oc_key_text(w, "requested_at", c->seen->requested_at);
    oc_key_text(w, "in_use_at", c->seen->in_use_at);
    oc_key_bool(w, "other_graph", c->other_graph);
    oc_key_object(w, "predicted");
    memory_run(w, &c->ours, c->quality);
    oc_jw_end_object(w);
    oc_jw_end_object(w);
}

static void memory_fit(struct oc_json_out *w, const struct oc_memory *m)
{
    static const char *const says[] = {
        [OC_FITS_YES] = "yes", [OC_FITS_NO] = "no", [OC_FITS_UNKNOWN] = "unknown"};
    const struct oc_memory_fit *f = &m->fit;
    if (!oc_key_object_if(w, "fit", f->device != NULL))
        return;
    oc_key_text(w, "fits", says[f->fits]);
    oc_key_text(w, "device", f->device->info->id);
    oc_key_array(w, "assumptions");
    oc_hw_set_json(w, f->device->info);
    oc_jw_end_array(w);
    oc_key_u64_if(w, "needs_bytes", m->quality != OC_UNKNOWN, m->footprint);
    oc_key_u64(w, "capacity_bytes", f->capacity);
    oc_key_double(w, "share", (double)m->footprint / (double)f->capacity);
    oc_key_i64(w, "left_bytes", (int64_t)(f->capacity - m->footprint));
    if (oc_key_object_if(w, "largest_batch", f->batch != NULL)) {
        oc_key_text(w, "dimension", f->batch);
        oc_key_u64(w, "size", (uint64_t)f->largest);
        oc_key_u64_if(w, "needs_bytes", f->largest > 0, f->largest_needs);
        oc_key_bool(w, "larger_ones_not_tried", f->bounded);
        oc_jw_end_object(w);
    }
    oc_jw_end_object(w);
}

void oc_memory_members(void *of, struct oc_json_out *w)
{
    const struct oc_memory *m = of;
    options(w, m);
    constants(w, m);
    activations(w, m);
    runtime(w, m);
    memory_measured(w, m);
    memory_fit(w, m);
    oc_row_list_json(&OC_ROWS(m->n_row, m, oc_memory_live_fields), "live_at_peak", w);
    oc_row_list_json(&OC_ROWS(m->liveness->n_life, m, oc_memory_buffer_fields), "buffers", w);
}

/* ---- memory plan ------------------------------------------------------------------------------------ */

/* Steps are positions in the order of the plan (in a subgraph: its own order); node numbers are the same in all
 * reports. */

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

void oc_plan_buffer_fields(struct oc_fields *o, const void *of, size_t i)
{
    static const struct oc_planned_buffer none = {
        .value = OC_NONE, .first_node = OC_NONE, .last_node = OC_NONE};
    const struct oc_memory_plan *p = of;
    const struct oc_planned_buffer *b = i < p->n_buffer ? &p->buffer[i] : &none;
    const struct oc_analysis *a = p->a;
    const struct oc_model *m = a->model;
    bool bodies = b->value == OC_NONE;
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
}

double oc_plan_ratio(const struct oc_memory_plan *p)
{
    uint64_t live = p->liveness->peak;
    return live ? (double)p->size / (double)live : 1;
}

static void plan_json(const struct oc_memory_plan *p, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.plan", 1, p->a->model->path);
    oc_key_u64(&w, "size_bytes", p->size);
    oc_key_u64(&w, "live_bytes", p->liveness->peak);
    oc_key_double(&w, "ratio", oc_plan_ratio(p));
    oc_key_bool(&w, "optimal", p->optimal);
    oc_key_text(&w, "method", p->method);
    oc_key_u64(&w, "align_bytes", p->align > 1 ? p->align : 1);
    oc_key_quality(&w, p->quality);
    oc_row_list_json(&OC_ROWS(p->n_buffer, p, oc_plan_buffer_fields), "buffers", &w);
    oc_key_array(&w, "order");
    for (uint32_t i = 0; i < p->liveness->n_step; i++)
        oc_jw_u64(&w, p->liveness->step[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

int oc_memory_plan_write(const struct oc_memory_plan *p, const char *format, FILE *f, struct oc_err *err)
{
    int form = oc_format_of("the plan", format, "json, csv", err);
    if (form == 1)
        oc_row_list_csv(&OC_HEADED_ROWS(p->n_buffer, p, oc_plan_buffer_fields), f);
    else if (form == 0)
        plan_json(p, f);
    return form < 0 ? -1 : 0;
}
