/* The memory report as text, and its steps as CSV. */
#include <inttypes.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "write/memory_report.h"
#include "write/plain_table.h"

struct mem_out {
    const struct oc_memory *m;
    struct oc_arena arena;
    FILE *f;
};

static const char *bytes(struct mem_out *o, uint64_t v)
{
    char buf[48];
    return oc_strdup(&o->arena, oc_format_bytes((double)v, buf, sizeof(buf)));
}

static const char *exact(struct mem_out *o, uint64_t v)
{
    char buf[40];
    return oc_strdup(&o->arena, oc_format_count(v, buf, sizeof(buf)));
}

static void line(struct mem_out *o, const char *name, const char *text)
{
    oc_plain_say(name, 12, o->m->o.width_chars, text, o->f);
}

static const char *node_label(struct mem_out *o, uint32_t node)
{
    const struct oc_model *m = o->m->a->model;
    char buf[256];
    return node == OC_NONE ? "?" : oc_strdup(&o->arena, oc_node_label(m, &m->node[node], buf, sizeof(buf)));
}

/* ---- totals -------------------------------------------------------------------------------------------- */

static void constants(struct mem_out *o)
{
    const struct oc_analysis *a = o->m->a;
    const char *text = oc_printf(&o->arena, "%s", bytes(o, a->total.const_bytes)), *sep = ": ";
    for (unsigned c = OC_PC_COUNT; c-- > 0;) {
        if (!a->class_bytes[c])
            continue;
        text =
            oc_printf(&o->arena, "%s%s%s %s", text, sep, oc_param_class_name(c), bytes(o, a->class_bytes[c]));
        sep = ", ";
    }
    line(o, "constants", text);
}

/* Execution order and the options that change the result. */
static const char *rules(struct mem_out *o)
{
    const struct oc_lives_opts *l = &o->m->lives->opts;
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
    const struct oc_lives *l = o->m->lives;
    const char *mark = oc_quality_word(o->m->quality);
    line(o, "model", o->m->a->model->path);
    constants(o);
    if (!l->n_step) {
        line(o, "activations", "none: no node is executed");
    } else {
        line(o, "activations",
             oc_printf(&o->arena, "peak memory %s%s, at %s (step %u of %u)", mark, bytes(o, l->peak),
                       node_label(o, l->step[l->peak_step]), l->peak_step + 1, l->n_step));
        line(o, "", oc_printf(&o->arena, "%s", rules(o)));
        line(o, "lower bound", oc_printf(&o->arena, "%s for any order of the nodes", bytes(o, l->lower)));
    }
    line(o, "footprint",
         oc_printf(&o->arena, "%s%s: constants and activations, without kernel workspace", mark,
                   bytes(o, o->m->footprint)));
    if (o->m->quality == OC_UNKNOWN)
        line(o, "", "tensors of unknown size are excluded");
}

static void print_arena(struct mem_out *o)
{
    const struct oc_ort_run *r = &o->m->run;
    if (!o->m->o.as_onnxruntime)
        return;
    line(o, "arena",
         oc_printf(&o->arena, "peak %s in use, at %s; %s allocated from the system", bytes(o, r->max_in_use),
                   node_label(o, r->in_use_at), bytes(o, r->held)));
}

static void print_comparison(struct mem_out *o, struct oc_plain_table *t, const char *what, uint64_t ours,
                             uint64_t before, uint64_t seen, const char *seen_at, uint32_t at)
{
    uint64_t sum = ours + before;
    double apart = seen ? ((double)sum / (double)seen - 1) * 100 : 0;
    const char *here = node_label(o, at);
    const char *const cell[] = {
        what,
        exact(o, seen),
        exact(o, sum),
        oc_printf(&o->arena, "%+.2f %%", apart > -0.005 && apart < 0.005 ? 0.0 : apart),
        exact(o, before),
        strcmp(here, seen_at) == 0 ? seen_at : oc_printf(&o->arena, "%s; model %s", seen_at, here)};
    oc_plain_row(t, cell);
}

static void print_measured(struct mem_out *o)
{
    static const char *const head[] = {"first run", "measured B", "model B", "diff", "before B", "at"};
    const struct oc_prof_memory *p = o->m->measured.seen;
    const struct oc_ort_run *r = &o->m->measured.ours;
    struct oc_plain_table t = {.n_col = OC_COUNT(head), .width_chars = o->m->o.width_chars};
    if (!p)
        return;
    fputc('\n', o->f);
    oc_plain_row(&t, head);
    print_comparison(o, &t, "requested", r->max_requested, p->before_requested, p->max_requested,
                     p->requested_at, r->requested_at);
    print_comparison(o, &t, "in use", r->max_in_use, p->before_in_use, p->max_in_use, p->in_use_at,
                     r->in_use_at);
    oc_plain_print(&t, 1, o->f);
    oc_plain_free(&t);
    if (o->m->measured.other_graph)
        fprintf(
            o->f,
            "the profile is of the graph after runtime optimization, the model of the graph in the file\n");
    fprintf(o->f,
            "before: in use when the first node started; model: that plus the result of --allocator ort\n");
}

/* ---- fit ----------------------------------------------------------------------------------------------- */

static void fit_batch(struct mem_out *o)
{
    const struct oc_memory_fit *f = &o->m->fit;
    if (!f->batch)
        return;
    if (!f->largest)
        line(o, "batch", oc_printf(&o->arena, "%s=1 does not fit", f->batch));
    else
        line(o, "batch",
             oc_printf(&o->arena, "max %s %s%" PRId64 " (%s)", f->batch, f->bounded ? ">= " : "= ",
                       f->largest, bytes(o, f->largest_needs)));
}

static void print_fit(struct mem_out *o)
{
    static const char *const says[] = {
        [OC_FITS_YES] = "fits", [OC_FITS_NO] = "does not fit", [OC_FITS_UNKNOWN] = "inconclusive"};
    const struct oc_memory_fit *f = &o->m->fit;
    if (!f->device)
        return;
    uint64_t needs = o->m->footprint;
    bool inside = needs <= f->capacity;
    line(o, "fit",
         oc_printf(&o->arena, "%s: needs %s%s, %s has %s (%.2f %%), %s %s", says[f->fits],
                   oc_quality_word(o->m->quality), bytes(o, needs), f->device->info.name,
                   bytes(o, f->capacity), (double)needs / (double)f->capacity * 100,
                   bytes(o, inside ? f->capacity - needs : needs - f->capacity),
                   inside ? "free" : "missing"));
    for (size_t i = 0; i < f->device->info.n_set; i++) {
        const struct oc_hw_set *set = &f->device->info.set[i];
        line(o, "assumed",
             oc_printf(&o->arena, "hw %s = %s: set by --hw-set (hardware file: %s)", set->key, set->value,
                       set->before ? set->before : "nothing"));
    }
    fit_batch(o);
}

void oc_memory_write_fit(const struct oc_memory *m, FILE *out)
{
    OC_C_LOCALE;
    struct mem_out o = {.m = m, .f = out};
    print_fit(&o);
    oc_arena_free(&o.arena);
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const char *kind_of(const struct oc_memory_row *r)
{
    const struct oc_life *l = r->life;
    bool body = r->lives->a->model->value[l->value].graph != 0;
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
    static const char *const head[] = {"bytes", "tensor", "type", "", "producer", "last use"};
    const struct oc_analysis *a = o->m->a;
    struct oc_plain_table t = {.n_col = OC_COUNT(head), .width_chars = o->m->o.width_chars};
    size_t top = o->m->o.top && o->m->o.top < o->m->n_row ? o->m->o.top : o->m->n_row;
    if (!o->m->n_row)
        return;
    fprintf(o->f, "\nlive at the peak\n");
    oc_plain_row(&t, head);
    for (size_t i = 0; i < top; i++) {
        const struct oc_memory_row *r = &o->m->row[i];
        const char *const cell[] = {
            oc_printf(&o->arena, "%s%s", oc_quality_word(r->life->quality), bytes(o, r->life->bytes)),
            a->model->value[r->life->value].name,
            oc_type_text(&o->arena, a->exprs, &a->type[r->life->value]),
            kind_of(r),
            oc_memory_born(r, &o->arena),
            oc_memory_dies(r, &o->arena)};
        oc_plain_row(&t, cell);
    }
    oc_plain_print(&t, 5, o->f);
    oc_plain_free(&t);
    print_rest(o, top, o->m->n_row);
}

static void step_table(struct mem_out *o)
{
    static const char *const head[] = {"bytes", "step", "node", "operator"};
    const struct oc_lives *l = o->m->lives;
    struct oc_plain_table t = {.n_col = OC_COUNT(head), .width_chars = o->m->o.width_chars};
    size_t top = o->m->o.top && o->m->o.top < l->n_step ? o->m->o.top : l->n_step;
    if (!l->n_step)
        return;
    fprintf(o->f, "\nsteps with the most live memory\n");
    oc_plain_row(&t, head);
    for (size_t i = 0; i < top; i++) {
        uint32_t s = o->m->step[i];
        const char *const cell[] = {bytes(o, l->live[s]), oc_printf(&o->arena, "%u", s + 1),
                                    node_label(o, l->step[s]), o->m->a->model->node[l->step[s]].op_type};
        oc_plain_row(&t, cell);
    }
    oc_plain_print(&t, 2, o->f);
    oc_plain_free(&t);
    print_rest(o, top, l->n_step);
}

static void write_table(const struct oc_memory *m, FILE *f)
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

/* ---- csv ----------------------------------------------------------------------------------------------- */

static void write_csv(const struct oc_memory *m, FILE *f)
{
    static const char *const head[] = {"step", "node", "name", "op_type", "live_bytes", "inner_bytes"};
    struct mem_out o = {.m = m};
    const struct oc_lives *l = m->lives;
    struct oc_plain_table t = {.n_col = OC_COUNT(head)};
    oc_plain_row(&t, head);
    for (uint32_t i = 0; i < l->n_step; i++) {
        const struct oc_node *n = &m->a->model->node[l->step[i]];
        const char *const cell[] = {oc_printf(&o.arena, "%u", i),
                                    oc_printf(&o.arena, "%u", l->step[i]),
                                    n->name,
                                    n->op_type,
                                    oc_printf(&o.arena, "%" PRIu64, l->live[i]),
                                    oc_printf(&o.arena, "%" PRIu64, l->inner[i])};
        oc_plain_row(&t, cell);
    }
    oc_plain_csv(&t, "1", f);
    oc_plain_free(&t);
    oc_arena_free(&o.arena);
}

int oc_memory_write(const struct oc_memory *m, const char *format, FILE *f, struct oc_err *err)
{
    static const struct {
        const char *name;
        void (*write)(const struct oc_memory *, FILE *);
    } formats[] = {{"table", write_table}, {"csv", write_csv}, {"json", oc_out_memory_json}};
    for (size_t i = 0; i < OC_COUNT(formats); i++)
        if (!format || strcmp(format, formats[i].name) == 0) {
            formats[i].write(m, f);
            return 0;
        }
    return oc_fail(err, OC_EARG, "memory has no format '%s'; valid: table, csv, json", format);
}
