/* Data of the page's what-if panel: closed forms of the totals and of the work of the lower bound, for
 * every data type, and the devices. The page evaluates them (page/page_bound.js) as oc_bound_time does. */
#include "write/out_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/closed_form.h"
#include "base/map.h"
#include "estimate/bound.h"
#include "hw/hwdb.h"
#include "llm/llm.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/llm.h"
#include "onnxcost/report.h"

enum {
    LIVE_MAX_NODES = 5000, /* larger models: the present sizes and types only (1.6 s for 4,350 nodes) */
    LIVE_PEAK = 100,       /* analyses for the peak, which is often no polynomial */
    LIVE_MOST = 4096,      /* default upper end of a size */
    LIVE_MOST_PAST = 1 << 17,
    LIVE_VARS = 3
};

struct live_run {
    const char *name; /* "model", "prefill", "decode" */
    const char *label[OC_RPOLY_VARS];
    struct oc_box_var var[OC_RPOLY_VARS];
    struct oc_law_source source;
};

/* ---- analyses of a model ---------------------------------------------------------------------------- */

struct live_model {
    struct oc_report *r;
    struct oc_analyze_opts opts; /* the user's sizes of symbols are start values */
    struct oc_bind *bind;
    int *slot; /* by binding: the variable, or -1 */
    struct oc_llm *llm;
};

static int live_analyze_model(void *ctx, const int64_t *x, struct oc_analysis **out)
{
    struct live_model *m = ctx;
    struct oc_err unused;
    for (size_t i = 0; i < m->opts.n_bind; i++)
        if (m->slot[i] >= 0)
            m->bind[i].value = x[m->slot[i]];
    return oc_analyze(m->r->in->model, &m->opts, out, &unused);
}

/* Shapes of inputs that give sizes to symbols, such as those of a profile, are start values too. */
static const struct oc_shape *live_declared(const struct oc_model *m, const struct oc_shape_bind *s)
{
    const struct oc_graph *g = &m->graph[0];
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = g->input[i] == OC_NONE ? NULL : &m->value[g->input[i]];
        if (v && v->declared && !strcmp(v->name, s->input) && v->declared->shape.ranked &&
            v->declared->shape.rank == s->rank)
            return &v->declared->shape;
    }
    return NULL;
}

static const char *live_symbol(const struct oc_model *m, const struct oc_dim *d)
{
    return d->expr && d->expr <= m->n_symbol ? m->symbol[d->expr - 1] : NULL;
}

static bool live_is_symbolic(const struct oc_model *m, const struct oc_shape_bind *s)
{
    const struct oc_shape *d = live_declared(m, s);
    for (unsigned k = 0; d && k < s->rank; k++)
        if (!live_symbol(m, &d->dim[k]) && !(oc_is_known(d->dim[k]) && d->dim[k].v == s->dim[k]))
            return false;
    return d != NULL;
}

static int64_t live_given(const struct oc_model *m, const struct oc_analyze_opts *o, const char *symbol,
                          int64_t otherwise)
{
    for (size_t i = o->n_bind; i-- > 0;)
        if (!strcmp(o->bind[i].symbol, symbol))
            return o->bind[i].value;
    for (size_t i = 0; i < o->n_shape; i++) {
        const struct oc_shape *d = live_declared(m, &o->shape[i]);
        for (unsigned k = 0; d && k < d->rank; k++) {
            const char *own = live_symbol(m, &d->dim[k]);
            if (own && !strcmp(own, symbol))
                return o->shape[i].dim[k];
        }
    }
    return otherwise;
}

/* The options without sizes of symbols. */
static struct oc_analyze_opts live_without_sizes(const struct oc_model *m, const struct oc_analyze_opts *o,
                                                 struct oc_arena *arena)
{
    struct oc_analyze_opts out = *o;
    struct oc_shape_bind *shape = OC_NEW_ARRAY(arena, o->n_shape + 1, struct oc_shape_bind);
    out.shape = shape;
    out.n_bind = out.n_shape = 0;
    for (size_t i = 0; i < o->n_shape; i++)
        if (!live_is_symbolic(m, &o->shape[i]))
            shape[out.n_shape++] = o->shape[i];
    return out;
}

/* A variable for an open size, through its present value. */
static struct oc_box_var live_var(const struct oc_closed_form *f, unsigned slot, int64_t start, int64_t base)
{
    const struct oc_fit_axis a = oc_fit_axis_of(f->fit, OC_METRIC_MACS, slot);
    int64_t step = a.held ? 1 : a.step, least = base ? 1 : 0,
            most = a.above == OC_FIT_NO_VALUE && !a.held && a.to >= start
                       ? a.to
                       : (start > LIVE_MOST / 4 ? 4 * start : LIVE_MOST);
    return (struct oc_box_var){.start = start,
                               .from = start - (start - least) / step * step,
                               .to = start + (most - start) / step * step,
                               .step = step};
}

/* The open sizes of the model. */
static void live_open_model(struct live_model *m, const struct oc_analyze_opts *given, struct live_run *run)
{
    struct oc_closed_form *f = NULL;
    struct oc_err unused;
    struct oc_arena *arena = &m->r->arena;
    run->name = "model";
    run->source = (struct oc_law_source){.analyze = live_analyze_model, .ctx = m, .var = run->var};
    m->opts = live_without_sizes(m->r->in->model, given, arena);
    if (m->r->in->model->n_node > LIVE_MAX_NODES ||
        oc_closed_form_open(m->r->in->model, &m->opts, &f, &unused)) {
        m->opts = *given;
        m->slot = OC_NEW_ARRAY(arena, given->n_bind + 1, int);
        for (size_t i = 0; i < given->n_bind; i++)
            m->slot[i] = -1;
        return;
    }
    const struct oc_fit_var *var = oc_fit_vars(f->fit);
    m->bind = OC_NEW_ARRAY(arena, f->n_symbol + 1, struct oc_bind);
    m->slot = OC_NEW_ARRAY(arena, f->n_symbol + 1, int);
    m->opts.bind = m->bind;
    m->opts.n_bind = f->n_symbol;
    for (unsigned k = 0; k < f->n_symbol; k++) {
        int64_t start = live_given(m->r->in->model, given, f->symbol[k], f->base[k]);
        m->bind[k] = (struct oc_bind){oc_strdup(arena, f->symbol[k]), start};
        m->slot[k] = -1;
        if (var[k].role != OC_FIT_FREE || run->source.n_var == LIVE_VARS)
            continue;
        m->slot[k] = (int)run->source.n_var++;
        run->label[m->slot[k]] = m->bind[k].symbol;
        run->var[m->slot[k]] = live_var(f, var[k].slot, start, f->base[k]);
    }
    for (unsigned k = 0; k < f->n_symbol; k++)
        if (var[k].role == OC_FIT_TIED)
            m->slot[k] = m->slot[var[k].tied_to];
    oc_closed_form_free(f);
}

static void live_open_decoder(struct live_model *m, struct live_run *prefill, struct live_run *decode)
{
    const struct oc_llm *l = m->llm;
    const int64_t fixed = l->sizes.fixed[OC_LLM_BATCH], prompt = l->opts.prompt;
    const struct oc_box_var batch = {fixed >= 0 ? fixed : 1, fixed >= 0 ? fixed : 1,
                                     fixed >= 0 ? fixed : LIVE_MOST, 1};
    prefill->name = "prefill";
    prefill->label[0] = decode->label[0] = "batch";
    prefill->label[1] = "prompt";
    prefill->var[0] = decode->var[0] = batch;
    prefill->var[1] = (struct oc_box_var){prompt, 1, LIVE_MOST_PAST / 4, 1};
    prefill->source = (struct oc_law_source){.analyze = oc_llm_analyze_prefill,
                                             .ctx = m->llm,
                                             .n_var = 2,
                                             .var = prefill->var,
                                             .keep_steps = true};
    decode->name = "decode";
    decode->label[1] = "past";
    decode->var[1] = (struct oc_box_var){prompt, 1, LIVE_MOST_PAST, 1};
    decode->source = (struct oc_law_source){
        .analyze = oc_llm_analyze_decode, .ctx = m->llm, .n_var = 2, .var = decode->var, .keep_steps = true};
}

/* ---- closed forms ----------------------------------------------------------------------------------- */

/* [den, [num, exponent, exponent ...], ...] */
static void live_poly(struct oc_json_out *w, const struct oc_rpoly *p)
{
    oc_jw_begin_array(w);
    oc_jw_i64(w, p->den);
    for (uint32_t t = 0; t < p->n_term; t++) {
        int64_t num = p->term[t].num;
        oc_jw_begin_array(w);
        if (num > -(INT64_C(1) << 53) && num < INT64_C(1) << 53) {
            oc_jw_i64(w, num);
        } else {
            char text[24];
            snprintf(text, sizeof(text), "%lld", (long long)num);
            oc_jw_string(w, text);
        }
        for (unsigned v = 0; v < p->n_var; v++)
            oc_jw_u64(w, p->term[t].pow.of[v]);
        oc_jw_end_array(w);
    }
    oc_jw_end_array(w);
}

static void live_polys(struct oc_json_out *w, const struct oc_boxes *b)
{
    oc_key_array(w, "polys");
    for (uint32_t i = 0; i < b->n_poly; i++)
        live_poly(w, &b->poly[i]);
    oc_jw_end_array(w);
}

/* A polynomial, or [polynomial, polynomial, 1: the smaller, 2: the larger value]. */
static void live_form(struct oc_json_out *w, const struct oc_box *b, uint32_t c)
{
    if (b->form[c] == OC_BOX_POLY) {
        oc_jw_u64(w, b->poly[c]);
        return;
    }
    oc_jw_begin_array(w);
    oc_jw_u64(w, b->poly[c]);
    oc_jw_u64(w, b->other[c]);
    oc_jw_u64(w, b->form[c]);
    oc_jw_end_array(w);
}

/* [from, to, from, to ..., form of each class of outputs ...] */
static void live_boxes(struct oc_json_out *w, const struct oc_boxes *b, unsigned group)
{
    const struct oc_box_group *g = &b->group[group];
    oc_key_array(w, "boxes");
    for (uint32_t i = 0; i < g->n_box; i++) {
        oc_jw_begin_array(w);
        for (unsigned v = 0; v < b->n_var; v++) {
            oc_jw_i64(w, g->box[i].from[v]);
            oc_jw_i64(w, g->box[i].to[v]);
        }
        for (uint32_t c = 0; c < g->n_class; c++)
            live_form(w, &g->box[i], c);
        oc_jw_end_array(w);
    }
    oc_jw_end_array(w);
}

static void live_outputs(struct oc_json_out *w, const struct oc_bound_law *law, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        oc_jw_u64(w, law->boxes.class_of[first + i]);
}

/* [kind, class of arithmetic, output] ... */
static void live_ops(struct oc_json_out *w, const struct oc_bound_law *law, unsigned type, uint32_t part)
{
    oc_jw_begin_array(w);
    for (unsigned kind = 0; kind < OC_LAW_KINDS; kind++)
        for (unsigned c = 0; c < law->n_cls; c++) {
            size_t output = oc_bound_law_ops(law, type, part, kind, c);
            if (law->boxes.class_of[output] == law->boxes.group[type + 1].zero)
                continue;
            oc_jw_begin_array(w);
            oc_jw_u64(w, kind);
            oc_jw_u64(w, law->cls[c]);
            live_outputs(w, law, output, 1);
            oc_jw_end_array(w);
        }
    oc_jw_end_array(w);
}

/* [[bytes, weights, written, launches], oc_bound_part.also, operations,
 * [[class of arithmetic, output, by] ...]] */
static void live_part(struct oc_json_out *w, const struct oc_bound_law *law, unsigned type, uint32_t part,
                      const uint32_t *fewer, uint32_t n_fewer)
{
    oc_jw_begin_array(w);
    oc_jw_begin_array(w);
    live_outputs(w, law, oc_bound_law_field(law, type, part, 0), OC_LAW_FIELDS);
    oc_jw_end_array(w);
    oc_jw_u64(w, part < law->n_part ? law->also[part] : 0);
    live_ops(w, law, type, part);
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < n_fewer; i++) {
        oc_jw_begin_array(w);
        oc_jw_u64(w, law->fewer[type][fewer[i]].cls);
        live_outputs(w, law, oc_bound_law_fewer(law, type, fewer[i]), 1);
        oc_jw_double(w, law->fewer[type][fewer[i]].by);
        oc_jw_end_array(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_array(w);
}

/* Counting sort: those of part p are list[first[p]] up to list[first[p + 1]]. */
static void live_sort_fewer(const struct oc_bound_law *law, unsigned type, uint32_t *list, uint32_t *first)
{
    const struct oc_bound_fewer *f = law->fewer[type];
    for (uint32_t i = 0; i < law->n_fewer[type]; i++)
        if (f[i].part != OC_NONE)
            first[f[i].part + 2]++;
    for (uint32_t p = 2; p < law->n_part + 2; p++)
        first[p] += first[p - 1];
    for (uint32_t i = 0; i < law->n_fewer[type]; i++)
        if (f[i].part != OC_NONE)
            list[first[f[i].part + 1]++] = i;
}

/* Distinct parts, and which of them each part is. */
static void live_parts(struct oc_json_out *w, const struct oc_bound_law *law, unsigned type)
{
    struct oc_arena arena = {0};
    struct oc_map map = {.arena = &arena};
    uint32_t *list = OC_NEW_ARRAY(&arena, (size_t)law->n_fewer[type] + 1, uint32_t),
             *first = OC_NEW_ARRAY(&arena, (size_t)law->n_part + 3, uint32_t),
             *order = OC_NEW_ARRAY(&arena, (size_t)law->n_part + 1, uint32_t);
    live_sort_fewer(law, type, list, first);
    oc_key_array(w, "parts");
    for (uint32_t p = 0; p < law->n_part; p++) {
        struct oc_buf text = {0};
        struct oc_json_out one = {.f = oc_buf_stream(&text)};
        live_part(&one, law, type, p, list + first[p], first[p + 1] - first[p]);
        fclose(one.f);
        order[p] = map.n;
        if (oc_map_add(&map, text.data, text.n, &order[p], NULL))
            oc_jw_raw(w, text.data);
        oc_buf_free(&text);
    }
    oc_jw_end_array(w);
    oc_key_array(w, "order");
    for (uint32_t p = 0; p < law->n_part; p++)
        oc_jw_u64(w, order[p]);
    oc_jw_end_array(w);
    for (uint32_t i = 0; i < law->n_fewer[type]; i++)
        list[i] = i;
    oc_jw_key(w, "all");
    live_part(w, law, type, law->n_part, list, law->n_fewer[type]);
    oc_map_free(&map);
    oc_arena_free(&arena);
}

static void live_law(struct oc_json_out *w, const struct oc_bound_law *law)
{
    live_polys(w, &law->boxes);
    oc_key_object(w, "totals");
    live_boxes(w, &law->boxes, 0);
    oc_key_array(w, "outputs"); /* enum oc_law_total */
    live_outputs(w, law, 0, OC_LAW_TOTALS);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
    oc_key_array(w, "types");
    for (unsigned t = 0; t < law->n_type; t++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "type", law->as[t] ? law->as[t]->name : NULL);
        live_boxes(w, &law->boxes, t + 1);
        oc_key_array(w, "constants"); /* stored, before, after */
        live_outputs(w, law, oc_bound_law_constant(law, t, 0), OC_LAW_CONSTANTS);
        oc_jw_end_array(w);
        live_parts(w, law, t);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void live_take_step(struct oc_box_var *v, int64_t step)
{
    v->from = v->start - (v->start - v->from) / step * step;
    v->to = v->start + (v->to - v->start) / step * step;
    v->step = step;
}

static void live_write_run(struct oc_json_out *w, struct live_run *run)
{
    struct oc_bound_law law;
    if (!oc_bound_law_make(&run->source, &law))
        return;
    for (unsigned v = 0; v < run->source.n_var; v++)
        live_take_step(&run->var[v], law.boxes.step[v]);
    oc_jw_begin_object(w);
    oc_key_text(w, "run", run->name);
    oc_key_array(w, "vars");
    for (unsigned v = 0; v < run->source.n_var; v++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", run->label[v]);
        oc_key_i64(w, "start", run->var[v].start);
        oc_key_i64(w, "step", run->var[v].step);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    live_law(w, &law);
    struct oc_boxes peak;
    run->source.max_evals = run->source.max_evals < LIVE_PEAK ? run->source.max_evals : LIVE_PEAK;
    if (oc_key_object_if(w, "peak", oc_peak_law_make(&run->source, &law, &peak))) {
        live_polys(w, &peak);
        live_boxes(w, &peak, 0);
        oc_jw_end_object(w);
    }
    oc_boxes_free(&peak);
    oc_bound_law_free(&law);
    oc_jw_end_object(w);
}

/* ---- devices ---------------------------------------------------------------------------------------- */

static void live_figure(struct oc_json_out *w, const struct oc_hw_figure *f)
{
    oc_jw_double(w, f ? f->value : NAN);
}

/* {class: peak} of a unit, as the roofline uses it. */
static void live_peaks(struct oc_json_out *w, const char *key, const struct oc_device *d, unsigned unit)
{
    oc_key_object(w, key);
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        bool unused = false;
        const struct oc_hw_figure *peak = oc_roof_peak(d, unit, c, &unused);
        if (peak)
            oc_key_double(w, oc_class_name(c), peak->value);
    }
    oc_jw_end_object(w);
}

static void live_device(struct oc_json_out *w, const struct oc_device *d, struct oc_arena *arena)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "id", d->info->n_set ? oc_printf(arena, "%s+changed", d->info->id) : d->info->id);
    oc_key_text(w, "name", d->info->name);
    oc_key_bool(w, "changed", d->info->n_set > 0);
    oc_key_double(w, "power_w", d->power ? d->power->value : NAN);
    live_peaks(w, "vector", d, OC_HW_VECTOR);
    live_peaks(w, "matrix", d, OC_HW_MATRIX);
    live_peaks(w, "special", d, OC_HW_SPECIAL);
    oc_key_bool(w, "keeps", oc_bound_keeps_tensors(d));
    oc_key_bool(w, "gpu", !strcmp(d->info->kind, "gpu"));
    oc_key_array(w, "levels"); /* size, bandwidth; nearest first */
    for (unsigned i = 0; i < oc_roof_levels(d); i++) {
        const struct oc_hw_level *level = oc_roof_level(d, i);
        oc_jw_begin_array(w);
        live_figure(w, level->size);
        live_figure(w, level->bandwidth);
        oc_jw_end_array(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

/* The report's device first. */
static void live_devices(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_device *const *list = NULL, *own = r->in->device;
    size_t n = 0;
    struct oc_err unused;
    if (!r->o->hwdb || oc_hwdb_list(r->o->hwdb, &list, &n, &unused))
        n = 0;
    oc_key_array(w, "devices");
    if (own)
        live_device(w, own, &r->arena);
    for (size_t i = 0; i < n; i++)
        if (!own || own->info->n_set || strcmp(list[i]->info->id, own->info->id) != 0)
            live_device(w, list[i], &r->arena);
    oc_jw_end_array(w);
}

/* ---- the member ------------------------------------------------------------------------------------- */

static void live_decoder(struct oc_json_out *w, const struct oc_llm *l)
{
    if (!oc_key_object_if(w, "decoder", l != NULL))
        return;
    oc_key_i64(w, "batch", l->opts.batch);
    oc_key_i64(w, "prompt", l->opts.prompt);
    oc_key_i64(w, "generate", l->opts.generate);
    oc_key_u64(w, "ranges", OC_LLM_STEP_RANGES);
    oc_key_u64_if(w, "kv_bytes_per_token", l->facts.kv_bytes_known, l->facts.kv_bytes_per_token);
    oc_key_u64_if(w, "cross_bytes_per_token", l->facts.kv_bytes_known, l->facts.cross_bytes_per_token);
    oc_key_text(w, "kv_dtype", l->facts.kv_dtype);
    oc_key_array(w, "weight_bytes"); /* by type, as "types" */
    for (size_t i = 0; oc_recast_name(i); i++)
        oc_jw_u64(w, l->weight_bytes_as[i]);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void live_runs(struct oc_json_out *w, struct live_model *m, const struct oc_analyze_opts *given)
{
    struct live_run run[2] = {{.name = NULL}, {.name = NULL}};
    if (m->llm)
        live_open_decoder(m, &run[0], &run[1]);
    else
        live_open_model(m, given, &run[0]);
    oc_key_array(w, "runs");
    for (unsigned i = 0; i < 2 && run[i].name; i++) {
        run[i].source.max_evals = oc_law_evals(m->r->in->model);
        run[i].source.own_type = m->r->in->model->n_node > LIVE_MAX_NODES;
        if (!run[i].source.n_var && !m->r->in->profile) /* a profile may change its costs */
            run[i].source.start = m->r->in->analysis;
        live_write_run(w, &run[i]);
    }
    oc_jw_end_array(w);
}

void oc_page_live(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    const struct oc_analyze_opts *given = r->o->analyze;
    struct oc_err unused;
    if (!oc_key_object_if(w, "live", a && given && !given->no_defaults))
        return;
    struct live_model m = {.r = r};
    const struct oc_llm_opts opts = {.size = sizeof(opts), .analyze = given};
    if (r->in->model->n_node > LIVE_MAX_NODES || oc_llm_make(r->in->model, &opts, &m.llm, &unused))
        m.llm = NULL;
    oc_key_bool(w, "cache", r->o->cache);
    oc_page_key_u64(w, "params", true, a->total->params);
    oc_page_key_u64(w, "const_bytes", true, a->total->const_bytes);
    oc_key_quality(w, a->total->quality);
    oc_key_array(w, "classes");
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        oc_jw_string(w, oc_class_name(c));
    oc_jw_end_array(w);
    oc_key_array(w, "integers"); /* or without a class: not turned into another type */
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        oc_jw_u64(w, oc_class_is_int(c) || c == OC_CLASS_NONE);
    oc_jw_end_array(w);
    oc_key_array(w, "types");
    for (size_t i = 0; oc_recast_name(i) && r->in->model->n_node <= LIVE_MAX_NODES; i++)
        oc_jw_string(w, oc_recast_name(i));
    oc_jw_end_array(w);
    live_decoder(w, m.llm);
    live_runs(w, &m, given);
    live_devices(w, r);
    oc_jw_end_object(w);
    oc_llm_free(m.llm);
}
