/* The memory report: JSON with exact numbers, text, and its steps as CSV. */
#include <inttypes.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/plain_table.h"

#define VERSION 1 /* keys may be added to a version */

struct mem_json {
    struct oc_json_out w;
    struct oc_arena arena;
    const struct oc_memory *m;
};

static void options(struct mem_json *j)
{
    const struct oc_liveness_opts *l = &j->m->liveness->opts;
    oc_key_text(&j->w, "order", l->order == OC_ORDER_ORT ? "onnxruntime" : "file");
    oc_key_object(&j->w, "options");
    oc_key_u64(&j->w, "align_bytes", l->align > 1 ? l->align : 1);
    oc_key_bool(&j->w, "graph_inputs", !l->without_inputs);
    oc_key_bool(&j->w, "keep_inputs", l->keep_inputs);
    oc_key_bool(&j->w, "inplace", l->inplace);
    oc_key_bool(&j->w, "folded_and_scalars", l->all);
    oc_jw_end_object(&j->w);
}

static void constants(struct mem_json *j)
{
    const struct oc_analysis *a = j->m->a;
    oc_key_object(&j->w, "constants");
    oc_key_u64(&j->w, "bytes", a->total->const_bytes);
    oc_key_array(&j->w, "classes");
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
    const struct oc_liveness *l = j->m->liveness;
    bool known = l->quality != OC_UNKNOWN;
    oc_key_object(&j->w, "activations");
    oc_key_u64_if(&j->w, "peak_bytes", known, l->peak);
    oc_key_u64_if(&j->w, "peak_step", known && l->n_step, l->peak_step);
    oc_key_u64_if(&j->w, "peak_node", known && l->n_step, l->n_step ? l->step[l->peak_step] : 0);
    oc_key_u64_if(&j->w, "lower_bytes", known, l->lower);
    oc_key_u64(&j->w, "known_bytes", l->peak); /* sum over the tensors of known size */
    oc_key_quality(&j->w, l->quality);
    oc_jw_end_object(&j->w);
    oc_key_object(&j->w, "footprint");
    oc_key_u64_if(&j->w, "bytes", j->m->quality != OC_UNKNOWN, j->m->footprint);
    oc_key_null(&j->w, "workspace_bytes"); /* not modelled */
    oc_key_quality(&j->w, j->m->quality);
    oc_jw_end_object(&j->w);
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

void oc_memory_buffer_fields(struct oc_fields *o, const struct oc_memory *m, const struct oc_liveness *l,
                             const struct oc_life *x)
{
    const struct oc_value *v = &m->a->model->value[x->value];
    const struct oc_type *t = &m->a->type[x->value];
    oc_fields_begin(o);
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
    oc_fields_end(o);
}

static void buffers(struct mem_json *j)
{
    const struct oc_liveness *l = j->m->liveness;
    struct oc_fields o = {.json = &j->w};
    oc_key_array(&j->w, "live_at_peak");
    for (uint32_t i = 0; i < j->m->n_row; i++)
        oc_memory_buffer_fields(&o, j->m, j->m->row[i].liveness, j->m->row[i].life);
    oc_jw_end_array(&j->w);
    oc_key_array(&j->w, "buffers");
    for (uint32_t i = 0; i < l->n_life; i++)
        oc_memory_buffer_fields(&o, j->m, l, &l->life[i]);
    oc_jw_end_array(&j->w);
    oc_fields_free(&o);
}

void oc_memory_step_fields(struct oc_fields *o, const struct oc_memory *m, uint32_t step)
{
    const struct oc_liveness *l = m->liveness;
    bool known = step < l->n_step;
    const struct oc_node *n = known ? &m->a->model->node[l->step[step]] : NULL;
    oc_fields_begin(o);
    if (!o->json)
        oc_field_u64(o, "step", step);
    oc_field_u64_if(o, "node", known, known ? l->step[step] : 0);
    oc_field_text(o, "name", n && *n->name ? n->name : NULL);
    oc_field_text(o, "op_type", n ? n->op_type : NULL);
    oc_field_u64_if(o, "live_bytes", known, known ? l->live[step] : 0);
    oc_field_u64_if(o, "inner_bytes", known, known ? l->inner[step] : 0);
    oc_fields_end(o);
}

static void memory_steps(struct mem_json *j)
{
    struct oc_fields o = {.json = &j->w};
    oc_key_array(&j->w, "steps");
    for (uint32_t i = 0; i < j->m->liveness->n_step; i++)
        oc_memory_step_fields(&o, j->m, i);
    oc_jw_end_array(&j->w);
}

static unsigned run_quality(const struct oc_ort_run *r, unsigned sizes)
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
    oc_key_quality(w, run_quality(r, sizes));
    oc_key_quality_of(w, "in_use_quality", oc_worse_quality((uint8_t)sizes, OC_EST));
    oc_key_text(w, "estimate_reason", r->estimate);
}

static void runtime(struct mem_json *j)
{
    if (!oc_key_object_if(&j->w, "arena", j->m->o.as_onnxruntime))
        return;
    memory_run(&j->w, &j->m->run, j->m->liveness->quality);
    oc_jw_end_object(&j->w);
}

static void memory_measured(struct mem_json *j)
{
    const struct oc_memory_measured *c = &j->m->measured;
    if (!oc_key_object_if(&j->w, "measured", c->seen != NULL))
        return;
    oc_key_u64(&j->w, "requested_before_bytes", c->seen->before_requested);
    oc_key_u64(&j->w, "in_use_before_bytes", c->seen->before_in_use);
    oc_key_u64(&j->w, "requested_bytes", c->seen->max_requested);
    oc_key_u64(&j->w, "in_use_bytes", c->seen->max_in_use);
    oc_key_text(&j->w, "requested_at", c->seen->requested_at);
    oc_key_text(&j->w, "in_use_at", c->seen->in_use_at);
    oc_key_bool(&j->w, "other_graph", c->other_graph);
    oc_key_object(&j->w, "predicted");
    memory_run(&j->w, &c->ours, c->quality);
    oc_jw_end_object(&j->w);
    oc_jw_end_object(&j->w);
}

static void memory_fit(struct mem_json *j)
{
    static const char *const says[] = {
        [OC_FITS_YES] = "yes", [OC_FITS_NO] = "no", [OC_FITS_UNKNOWN] = "unknown"};
    const struct oc_memory_fit *f = &j->m->fit;
    if (!oc_key_object_if(&j->w, "fit", f->device != NULL))
        return;
    oc_key_text(&j->w, "fits", says[f->fits]);
    oc_key_text(&j->w, "device", f->device->info->id);
    oc_key_array(&j->w, "assumptions");
    oc_hw_set_json(&j->w, f->device->info);
    oc_jw_end_array(&j->w);
    oc_key_u64_if(&j->w, "needs_bytes", j->m->quality != OC_UNKNOWN, j->m->footprint);
    oc_key_u64(&j->w, "capacity_bytes", f->capacity);
    oc_key_double(&j->w, "share", (double)j->m->footprint / (double)f->capacity);
    oc_key_i64(&j->w, "left_bytes", (int64_t)(f->capacity - j->m->footprint));
    if (oc_key_object_if(&j->w, "largest_batch", f->batch != NULL)) {
        oc_key_text(&j->w, "dimension", f->batch);
        oc_key_u64(&j->w, "size", (uint64_t)f->largest);
        oc_key_u64_if(&j->w, "needs_bytes", f->largest > 0, f->largest_needs);
        oc_key_bool(&j->w, "larger_ones_not_tried", f->bounded);
        oc_jw_end_object(&j->w);
    }
    oc_jw_end_object(&j->w);
}

static void out_memory_json(const struct oc_memory *m, FILE *f)
{
    struct mem_json j = {.m = m};
    oc_json_begin(&j.w, f, "onnxcost.memory", VERSION, m->a->model->path);
    options(&j);
    constants(&j);
    activations(&j);
    runtime(&j);
    memory_measured(&j);
    memory_fit(&j);
    buffers(&j);
    memory_steps(&j);
    oc_json_end(&j.w);
    oc_arena_free(&j.arena);
}

/* ---- text ------------------------------------------------------------------------------------------- */

struct mem_out {
    const struct oc_memory *m;
    struct oc_arena arena;
    FILE *f;
};

static void memory_line(struct mem_out *o, const char *name, const char *text)
{
    oc_plain_say(name, 12, o->m->o.width_chars, text, o->f);
}

static const char *node_label(struct mem_out *o, uint32_t node)
{
    const struct oc_model *m = o->m->a->model;
    char buf[256];
    return node == OC_NONE ? "?" : oc_strdup(&o->arena, oc_node_label(m, &m->node[node], buf, sizeof(buf)));
}

/* ---- totals ----------------------------------------------------------------------------------------- */

static void constant_rows(struct mem_out *o)
{
    const struct oc_analysis *a = o->m->a;
    const char *text = oc_printf(&o->arena, "%s", oc_bytes_text(&o->arena, (double)a->total->const_bytes)),
               *sep = ": ";
    for (unsigned c = OC_PC_COUNT; c-- > 0;) {
        if (!a->class_bytes[c])
            continue;
        text = oc_printf(&o->arena, "%s%s%s %s", text, sep, oc_param_class_name(c),
                         oc_bytes_text(&o->arena, (double)a->class_bytes[c]));
        sep = ", ";
    }
    memory_line(o, "constants", text);
}

/* Execution order and the options that change the result. */
static const char *rules(struct mem_out *o)
{
    const struct oc_liveness_opts *l = &o->m->liveness->opts;
    const char *text = l->order == OC_ORDER_ORT
                           ? "ONNX Runtime's execution order, no constant folding, without graph inputs"
                           : "file order";
    if (l->align > 1)
        text = oc_printf(&o->arena, "%s, buffers in multiples of %" PRIu64 " bytes", text, l->align);
    if (l->keep_inputs)
        text = oc_printf(&o->arena, "%s, graph inputs live to the end", text);
    if (l->inplace)
        text = oc_printf(&o->arena, "%s, element-wise operators in place", text);
    return text;
}

static void print_totals(struct mem_out *o)
{
    const struct oc_liveness *l = o->m->liveness;
    const char *mark = oc_quality_word(o->m->quality);
    memory_line(o, "model", o->m->a->model->path);
    constant_rows(o);
    if (!l->n_step) {
        memory_line(o, "activations", "none: no node is executed");
    } else {
        memory_line(o, "activations",
                    oc_printf(&o->arena, "peak memory %s%s, at %s (step %u of %u)", mark,
                              oc_bytes_text(&o->arena, (double)l->peak), node_label(o, l->step[l->peak_step]),
                              l->peak_step + 1, l->n_step));
        memory_line(o, "", oc_printf(&o->arena, "%s", rules(o)));
        memory_line(o, "lower bound",
                    oc_printf(&o->arena, "%s for any order of the nodes",
                              oc_bytes_text(&o->arena, (double)l->lower)));
    }
    memory_line(o, "footprint",
                oc_printf(&o->arena, "%s%s: constants and activations, without kernel workspace", mark,
                          oc_bytes_text(&o->arena, (double)o->m->footprint)));
    if (o->m->quality == OC_UNKNOWN)
        memory_line(o, "", "tensors of unknown size are excluded");
}

static void print_arena(struct mem_out *o)
{
    const struct oc_ort_run *r = &o->m->run;
    if (!o->m->o.as_onnxruntime)
        return;
    memory_line(o, "arena",
                oc_printf(&o->arena,
                          "peak %s%s requested, at %s; about %s in use with rounding and free gaps, %s "
                          "allocated from the system",
                          oc_quality_word(run_quality(r, o->m->liveness->quality)),
                          oc_bytes_text(&o->arena, (double)r->max_requested), node_label(o, r->requested_at),
                          oc_bytes_text(&o->arena, (double)r->max_in_use),
                          oc_bytes_text(&o->arena, (double)r->held)));
    if (r->estimate)
        memory_line(o, "", oc_printf(&o->arena, "estimate: %s", r->estimate));
}

static void print_comparison(struct mem_out *o, struct oc_plain_table *t, const char *what, uint64_t ours,
                             uint64_t before, uint64_t seen, const char *seen_at, uint32_t at)
{
    uint64_t sum = ours + before;
    double apart = seen ? ((double)sum / (double)seen - 1) * 100 : 0;
    const char *here = node_label(o, at);
    OC_ROW(t, what, oc_count_text(&o->arena, seen), oc_count_text(&o->arena, sum),
           oc_printf(&o->arena, "%+.2f %%", apart > -0.005 && apart < 0.005 ? 0.0 : apart),
           oc_count_text(&o->arena, before),
           strcmp(here, seen_at) == 0 ? seen_at : oc_printf(&o->arena, "%s; model %s", seen_at, here));
}

static void print_measured(struct mem_out *o)
{
    const struct oc_prof_memory *p = o->m->measured.seen;
    const struct oc_ort_run *r = &o->m->measured.ours;
    struct oc_plain_table t = {.width_chars = o->m->o.width_chars};
    if (!p)
        return;
    fputc('\n', o->f);
    OC_ROW(&t, "first run", "measured B", "model B", "diff", "before B", "at");
    print_comparison(o, &t, "requested", r->max_requested, p->before_requested, p->max_requested,
                     p->requested_at, r->requested_at);
    print_comparison(o, &t, "in use", r->max_in_use, p->before_in_use, p->max_in_use, p->in_use_at,
                     r->in_use_at);
    oc_plain_print(&t, 1, o->f);
    if (o->m->measured.other_graph)
        fprintf(
            o->f,
            "the profile is of the graph after runtime optimization, the model of the graph in the file\n");
    if (r->estimate)
        fprintf(o->f, "the model's figures are estimates: %s\n", r->estimate);
    fprintf(o->f,
            "before: in use when the first node started; model: that plus the result of --allocator ort\n");
}

/* ---- fit -------------------------------------------------------------------------------------------- */

static void fit_batch(struct mem_out *o)
{
    const struct oc_memory_fit *f = &o->m->fit;
    if (!f->batch)
        return;
    if (!f->largest)
        memory_line(o, "batch", oc_printf(&o->arena, "%s=1 does not fit", f->batch));
    else
        memory_line(o, "batch",
                    oc_printf(&o->arena, "max %s %s%" PRId64 " (%s)", f->batch, f->bounded ? ">= " : "= ",
                              f->largest, oc_bytes_text(&o->arena, (double)f->largest_needs)));
}

const char *oc_memory_fit_text(const struct oc_memory *m, struct oc_arena *arena)
{
    static const char *const says[] = {
        [OC_FITS_YES] = "fits", [OC_FITS_NO] = "does not fit", [OC_FITS_UNKNOWN] = "inconclusive"};
    const struct oc_memory_fit *f = &m->fit;
    uint64_t needs = m->footprint;
    bool inside = needs <= f->capacity;
    return oc_printf(arena, "%s: needs %s%s, %s has %s (%.2f %%), %s %s", says[f->fits],
                     oc_quality_word(m->quality), oc_bytes_text(arena, (double)needs), f->device->info->name,
                     oc_bytes_text(arena, (double)f->capacity), (double)needs / (double)f->capacity * 100,
                     oc_bytes_text(arena, (double)(inside ? f->capacity - needs : needs - f->capacity)),
                     inside ? "free" : "missing");
}

static void print_fit(struct mem_out *o)
{
    const struct oc_memory_fit *f = &o->m->fit;
    if (!f->device)
        return;
    memory_line(o, "fit", oc_memory_fit_text(o->m, &o->arena));
    for (size_t i = 0; i < f->device->info->n_set; i++)
        memory_line(o, "assumed", oc_hw_set_text(&o->arena, "hw", &f->device->info->set[i]));
    fit_batch(o);
}

void oc_memory_write_fit(const struct oc_memory *m, FILE *out)
{
    OC_C_LOCALE;
    struct mem_out o = {.m = m, .f = out};
    print_fit(&o);
    oc_arena_free(&o.arena);
}

/* ---- tables ----------------------------------------------------------------------------------------- */

static const char *memory_kind_of(const struct oc_memory_row *r)
{
    const struct oc_life *l = r->life;
    bool body = r->liveness->a->model->value[l->value].graph != 0;
    if (l->input && l->output)
        return "input, output";
    return l->input ? (body ? "body input" : "input") : l->output ? "output" : "";
}

static void print_rest(struct mem_out *o, size_t shown, size_t n)
{
    if (shown < n)
        fprintf(o->f, "and %zu more (--top 0 shows all)\n", n - shown);
}

static void live_table(struct mem_out *o)
{
    const struct oc_analysis *a = o->m->a;
    struct oc_plain_table t = {.width_chars = o->m->o.width_chars};
    size_t top = o->m->o.top && o->m->o.top < o->m->n_row ? o->m->o.top : o->m->n_row;
    if (!o->m->n_row)
        return;
    fprintf(o->f, "\nlive at the peak\n");
    OC_ROW(&t, "bytes", "tensor", "type", "", "producer", "last use");
    for (size_t i = 0; i < top; i++) {
        const struct oc_memory_row *r = &o->m->row[i];
        OC_ROW(&t,
               oc_printf(&o->arena, "%s%s", oc_quality_word(r->life->quality),
                         oc_bytes_text(&o->arena, (double)r->life->bytes)),
               a->model->value[r->life->value].name,
               oc_type_text(&o->arena, a->exprs, &a->type[r->life->value]), memory_kind_of(r),
               oc_memory_born(r, &o->arena), oc_memory_dies(r, &o->arena));
    }
    oc_plain_print(&t, 5, o->f);
    print_rest(o, top, o->m->n_row);
}

static void step_table(struct mem_out *o)
{
    const struct oc_liveness *l = o->m->liveness;
    struct oc_plain_table t = {.width_chars = o->m->o.width_chars};
    size_t top = o->m->o.top && o->m->o.top < l->n_step ? o->m->o.top : l->n_step;
    if (!l->n_step)
        return;
    fprintf(o->f, "\nsteps with the most live memory\n");
    OC_ROW(&t, "bytes", "step", "node", "operator");
    for (size_t i = 0; i < top; i++) {
        uint32_t s = o->m->step[i];
        OC_ROW(&t, oc_bytes_text(&o->arena, (double)l->live[s]), oc_printf(&o->arena, "%u", s + 1),
               node_label(o, l->step[s]), o->m->a->model->node[l->step[s]].op_type);
    }
    oc_plain_print(&t, 2, o->f);
    print_rest(o, top, l->n_step);
}

static void memory_write_table(const struct oc_memory *m, FILE *f)
{
    struct mem_out o = {.m = m, .f = f};
    print_totals(&o);
    print_arena(&o);
    print_fit(&o);
    print_measured(&o);
    live_table(&o);
    step_table(&o);
    oc_arena_free(&o.arena);
}

/* ---- csv -------------------------------------------------------------------------------------------- */

static void memory_write_csv(const struct oc_memory *m, FILE *f)
{
    struct oc_fields o = {.head_only = !m->liveness->n_step};
    for (uint32_t i = 0; i < m->liveness->n_step || (o.head_only && !i); i++)
        oc_memory_step_fields(&o, m, i);
    oc_fields_csv(&o, "1", f);
    oc_fields_free(&o);
}

int oc_memory_write(const struct oc_memory *m, const char *format, FILE *f, struct oc_err *err)
{
    static void (*const write[])(const struct oc_memory *, FILE *) = {memory_write_table, memory_write_csv,
                                                                      out_memory_json};
    int form = oc_format_of("memory", format, "table, csv, json, html, fragment", err);
    if (form < 0)
        return -1;
    if ((size_t)form < OC_COUNT(write))
        write[form](m, f);
    else
        oc_memory_page(m, oc_is_fragment(format), f);
    return 0;
}
