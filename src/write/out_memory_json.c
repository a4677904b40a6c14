/* The memory report as JSON, with exact numbers. */
#include "write/json_keys.h"
#include "write/memory_report.h"

#define VERSION 1 /* keys may be added to a version */

struct mem_json {
    struct oc_json_out w;
    struct oc_arena arena;
    const struct oc_memory *m;
};

static void options(struct mem_json *j)
{
    const struct oc_lives_opts *l = &j->m->lives->opts;
    oc_key_text(&j->w, "order", l->order == OC_ORDER_ORT ? "onnxruntime" : "file");
    oc_jw_key(&j->w, "options");
    oc_jw_begin_object(&j->w);
    oc_key_u64(&j->w, "align_bytes", l->align > 1 ? l->align : 1);
    oc_jw_key(&j->w, "graph_inputs");
    oc_jw_bool(&j->w, !l->without_inputs);
    oc_jw_key(&j->w, "keep_inputs");
    oc_jw_bool(&j->w, l->keep_inputs);
    oc_jw_key(&j->w, "inplace");
    oc_jw_bool(&j->w, l->inplace);
    oc_jw_key(&j->w, "folded_and_scalars");
    oc_jw_bool(&j->w, l->all);
    oc_jw_end_object(&j->w);
}

static void constants(struct mem_json *j)
{
    const struct oc_analysis *a = j->m->a;
    oc_jw_key(&j->w, "constants");
    oc_jw_begin_object(&j->w);
    oc_key_u64(&j->w, "bytes", a->total.const_bytes);
    oc_jw_key(&j->w, "classes");
    oc_jw_begin_array(&j->w);
    for (unsigned c = 0; c < OC_PC_COUNT; c++) {
        if (!a->class_elems[c] && !a->class_bytes[c])
            continue;
        oc_jw_begin_object(&j->w);
        oc_key_text(&j->w, "class", oc_param_class_name(c));
        oc_key_u64(&j->w, "elements", a->class_elems[c]);
        oc_key_u64(&j->w, "bytes", a->class_bytes[c]);
        oc_jw_end_object(&j->w);
    }
    oc_jw_end_array(&j->w);
    oc_jw_end_object(&j->w);
}

static void activations(struct mem_json *j)
{
    const struct oc_lives *l = j->m->lives;
    bool known = l->quality != OC_UNKNOWN;
    oc_jw_key(&j->w, "activations");
    oc_jw_begin_object(&j->w);
    oc_key_u64_if(&j->w, "peak_bytes", known, l->peak);
    oc_key_u64_if(&j->w, "peak_step", known && l->n_step, l->peak_step);
    oc_key_u64_if(&j->w, "peak_node", known && l->n_step, l->n_step ? l->step[l->peak_step] : 0);
    oc_key_u64_if(&j->w, "lower_bytes", known, l->lower);
    oc_key_u64(&j->w, "known_bytes", l->peak); /* sum over the tensors of known size */
    oc_key_quality(&j->w, l->quality);
    oc_jw_end_object(&j->w);
    oc_jw_key(&j->w, "footprint");
    oc_jw_begin_object(&j->w);
    oc_key_u64_if(&j->w, "bytes", j->m->quality != OC_UNKNOWN, j->m->footprint);
    oc_key_null(&j->w, "workspace_bytes"); /* not modelled */
    oc_key_quality(&j->w, j->m->quality);
    oc_jw_end_object(&j->w);
}

static void shape(struct mem_json *j, const struct oc_type *t)
{
    oc_jw_key(&j->w, "shape");
    if (t->kind != OC_T_TENSOR || !t->shape.ranked) {
        oc_jw_null(&j->w);
        return;
    }
    oc_jw_begin_array(&j->w);
    for (unsigned i = 0; i < t->shape.rank; i++) {
        struct oc_dim d = t->shape.dim[i];
        int64_t max = oc_dim_max_value(j->m->a->exprs, d);
        if (oc_is_known(d)) {
            oc_jw_i64(&j->w, d.v);
            continue;
        }
        oc_jw_begin_object(&j->w);
        oc_key_text(&j->w, "origin", oc_dim_text(j->m->a->exprs, d));
        oc_key_u64_if(&j->w, "max", max >= 0, (uint64_t)max);
        oc_jw_end_object(&j->w);
    }
    oc_jw_end_array(&j->w);
}

static void step_of(struct mem_json *j, const char *key, const struct oc_lives *l, bool none, uint32_t step)
{
    oc_key_u64_if(&j->w, key, !none && l->n_step, !none && l->n_step ? l->step[step] : 0);
}

static void buffer(struct mem_json *j, const struct oc_lives *l, const struct oc_life *x)
{
    const struct oc_analysis *a = j->m->a;
    const struct oc_value *v = &a->model->value[x->value];
    const struct oc_type *t = &a->type[x->value];
    oc_jw_begin_object(&j->w);
    oc_key_text(&j->w, "name", v->name);
    oc_key_text(&j->w, "scope", a->model->graph[v->graph].scope);
    oc_key_text(&j->w, "dtype",
                t->kind == OC_T_TENSOR ? oc_dtype_info(t->dtype)->name
                                       : oc_type_text(&j->arena, a->exprs, t));
    shape(j, t);
    oc_key_u64_if(&j->w, "bytes", x->quality != OC_UNKNOWN, x->bytes);
    oc_key_u64(&j->w, "first_step", x->first);
    oc_key_u64(&j->w, "last_step", x->last);
    step_of(j, "made_by", l, x->input, x->first);
    step_of(j, "last_used_by", l, x->output, x->last);
    oc_jw_key(&j->w, "input");
    oc_jw_bool(&j->w, x->input);
    oc_jw_key(&j->w, "output");
    oc_jw_bool(&j->w, x->output);
    oc_key_quality(&j->w, x->quality);
    oc_jw_end_object(&j->w);
}

static void buffers(struct mem_json *j)
{
    const struct oc_lives *l = j->m->lives;
    oc_jw_key(&j->w, "live_at_peak");
    oc_jw_begin_array(&j->w);
    for (uint32_t i = 0; i < j->m->n_row; i++)
        buffer(j, j->m->row[i].lives, j->m->row[i].life);
    oc_jw_end_array(&j->w);
    oc_jw_key(&j->w, "buffers");
    oc_jw_begin_array(&j->w);
    for (uint32_t i = 0; i < l->n_life; i++)
        buffer(j, l, &l->life[i]);
    oc_jw_end_array(&j->w);
}

static void steps(struct mem_json *j)
{
    const struct oc_lives *l = j->m->lives;
    oc_jw_key(&j->w, "steps");
    oc_jw_begin_array(&j->w);
    for (uint32_t i = 0; i < l->n_step; i++) {
        const struct oc_node *n = &j->m->a->model->node[l->step[i]];
        oc_jw_begin_object(&j->w);
        oc_key_u64(&j->w, "node", l->step[i]);
        oc_key_text(&j->w, "name", *n->name ? n->name : NULL);
        oc_key_text(&j->w, "op_type", n->op_type);
        oc_key_u64(&j->w, "live_bytes", l->live[i]);
        oc_key_u64(&j->w, "inner_bytes", l->inner[i]);
        oc_jw_end_object(&j->w);
    }
    oc_jw_end_array(&j->w);
}

static void run(struct oc_json_out *w, const struct oc_ort_run *r)
{
    oc_key_u64(w, "requested_bytes", r->max_requested);
    oc_key_u64(w, "in_use_bytes", r->max_in_use);
    oc_key_u64(w, "held_bytes", r->held);
    oc_key_u64_if(w, "requested_node", r->requested_at != OC_NONE, r->requested_at);
    oc_key_u64_if(w, "in_use_node", r->in_use_at != OC_NONE, r->in_use_at);
}

static void runtime(struct mem_json *j)
{
    oc_jw_key(&j->w, "arena");
    if (!j->m->o.as_onnxruntime) {
        oc_jw_null(&j->w);
        return;
    }
    oc_jw_begin_object(&j->w);
    run(&j->w, &j->m->run);
    oc_jw_end_object(&j->w);
}

static void measured(struct mem_json *j)
{
    const struct oc_memory_measured *c = &j->m->measured;
    oc_jw_key(&j->w, "measured");
    if (!c->seen) {
        oc_jw_null(&j->w);
        return;
    }
    oc_jw_begin_object(&j->w);
    oc_key_u64(&j->w, "requested_before_bytes", c->seen->before_requested);
    oc_key_u64(&j->w, "in_use_before_bytes", c->seen->before_in_use);
    oc_key_u64(&j->w, "requested_bytes", c->seen->max_requested);
    oc_key_u64(&j->w, "in_use_bytes", c->seen->max_in_use);
    oc_key_text(&j->w, "requested_at", c->seen->requested_at);
    oc_key_text(&j->w, "in_use_at", c->seen->in_use_at);
    oc_jw_key(&j->w, "other_graph");
    oc_jw_bool(&j->w, c->other_graph);
    oc_jw_key(&j->w, "predicted");
    oc_jw_begin_object(&j->w);
    run(&j->w, &c->ours);
    oc_key_quality(&j->w, c->quality);
    oc_jw_end_object(&j->w);
    oc_jw_end_object(&j->w);
}

static void fit(struct mem_json *j)
{
    static const char *const says[] = {
        [OC_FITS_YES] = "yes", [OC_FITS_NO] = "no", [OC_FITS_UNKNOWN] = "unknown"};
    const struct oc_memory_fit *f = &j->m->fit;
    oc_jw_key(&j->w, "fit");
    if (!f->device) {
        oc_jw_null(&j->w);
        return;
    }
    oc_jw_begin_object(&j->w);
    oc_key_text(&j->w, "fits", says[f->fits]);
    oc_key_text(&j->w, "device", f->device->info.id);
    oc_jw_key(&j->w, "assumptions");
    oc_jw_begin_array(&j->w);
    for (size_t i = 0; i < f->device->info.n_set; i++)
        oc_hw_set_json(&j->w, &f->device->info.set[i]);
    oc_jw_end_array(&j->w);
    oc_key_u64_if(&j->w, "needs_bytes", j->m->quality != OC_UNKNOWN, j->m->footprint);
    oc_key_u64(&j->w, "capacity_bytes", f->capacity);
    oc_key_double(&j->w, "share", (double)j->m->footprint / (double)f->capacity);
    oc_jw_key(&j->w, "left_bytes");
    oc_jw_i64(&j->w, (int64_t)(f->capacity - j->m->footprint));
    oc_jw_key(&j->w, "largest_batch");
    if (!f->batch) {
        oc_jw_null(&j->w);
    } else {
        oc_jw_begin_object(&j->w);
        oc_key_text(&j->w, "dimension", f->batch);
        oc_key_u64(&j->w, "size", (uint64_t)f->largest);
        oc_key_u64_if(&j->w, "needs_bytes", f->largest > 0, f->largest_needs);
        oc_jw_key(&j->w, "larger_ones_not_tried");
        oc_jw_bool(&j->w, f->bounded);
        oc_jw_end_object(&j->w);
    }
    oc_jw_end_object(&j->w);
}

void oc_out_memory_json(const struct oc_memory *m, FILE *f)
{
    struct mem_json j = {.w = {.f = f, .pretty = true}, .m = m};
    oc_jw_begin_object(&j.w);
    oc_json_head(&j.w, "onnxcost.memory", VERSION, m->a->model->path);
    options(&j);
    constants(&j);
    activations(&j);
    runtime(&j);
    measured(&j);
    fit(&j);
    buffers(&j);
    steps(&j);
    oc_jw_end_object(&j.w);
    fputc('\n', f);
    oc_arena_free(&j.arena);
}
