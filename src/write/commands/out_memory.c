/* The memory report for people: lines and tables of text, and a page with figures, a chart of the buffers
 * over the steps and tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/memory.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/table.h"

struct mem_out {
    const struct oc_memory *m;
    struct oc_arena arena;
    FILE *f;
    size_t live_rows; /* of the first table, 0: all */
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
                    oc_printf(&o->arena, "peak memory %s%s, at %s (step %u of %u); %s", mark,
                              oc_bytes_text(&o->arena, (double)l->peak), node_label(o, l->step[l->peak_step]),
                              l->peak_step + 1, l->n_step, rules(o)));
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
                          oc_quality_word(oc_memory_run_quality(r, o->m->liveness->quality)),
                          oc_bytes_text(&o->arena, (double)r->max_requested), node_label(o, r->requested_at),
                          oc_bytes_text(&o->arena, (double)r->max_in_use),
                          oc_bytes_text(&o->arena, (double)r->held)));
    if (r->estimate)
        memory_line(o, "", oc_printf(&o->arena, "estimate: %s", r->estimate));
}

static void print_comparison(struct mem_out *o, struct oc_table *t, const char *what, uint64_t ours,
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
    struct oc_table t = {.kinds = "nnnnnt", .width_chars = o->m->o.width_chars};
    if (!p)
        return;
    fputc('\n', o->f);
    OC_ROW(&t, "first run", "measured B", "model B", "diff", "before B", "at");
    print_comparison(o, &t, "requested", r->max_requested, p->before_requested, p->max_requested,
                     p->requested_at, r->requested_at);
    print_comparison(o, &t, "in use", r->max_in_use, p->before_in_use, p->max_in_use, p->in_use_at,
                     r->in_use_at);
    oc_table_print(&t, o->f);
    if (o->m->measured.other_graph)
        fprintf(
            o->f,
            "the profile is of the graph after runtime optimization, the model of the graph in the file\n");
    if (r->estimate)
        fprintf(o->f, "the model's figures are estimates: %s\n", r->estimate);
    fprintf(
        o->f,
        "before: in use when the first node started; model: that plus the result of --count allocator=ort\n");
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

/* "fits: needs 107 MiB, NVIDIA A100 has 40 GiB (0.26 %), 39.9 GiB free" */
static const char *fit_text(const struct oc_memory *m, struct oc_arena *arena)
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

/* The answer in one line: whether the model fits the device, or without one what it needs. */
static void print_verdict(struct mem_out *o)
{
    const struct oc_memory *m = o->m;
    memory_line(o, "verdict",
                m->fit.device
                    ? fit_text(m, &o->arena)
                    : oc_printf(&o->arena, "needs %s%s: %s of constants, %s of activations at the peak",
                                oc_quality_word(m->quality), oc_bytes_text(&o->arena, (double)m->footprint),
                                oc_bytes_text(&o->arena, (double)m->a->total->const_bytes),
                                oc_bytes_text(&o->arena, (double)m->liveness->peak)));
}

static void print_fit(struct mem_out *o)
{
    const struct oc_memory_fit *f = &o->m->fit;
    if (!f->device)
        return;
    for (size_t i = 0; i < f->device->info->n_set; i++)
        memory_line(o, "assumed", oc_hw_set_text(&o->arena, "hw", &f->device->info->set[i]));
    fit_batch(o);
}

void oc_memory_write_fit(const struct oc_memory *m, FILE *out)
{
    OC_C_LOCALE;
    struct mem_out o = {.m = m, .f = out};
    if (m->fit.device)
        memory_line(&o, "fit", fit_text(m, &o.arena));
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

static void live_table(struct mem_out *o, size_t top)
{
    const struct oc_analysis *a = o->m->a;
    struct oc_table t = {.kinds = "nttttt", .width_chars = o->m->o.width_chars};
    if (!o->m->n_row)
        return;
    top = top && top < o->m->n_row ? top : o->m->n_row;
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
    oc_table_print(&t, o->f);
    print_rest(o, top, o->m->n_row);
}

static void step_table(struct mem_out *o, size_t top)
{
    const struct oc_liveness *l = o->m->liveness;
    struct oc_table t = {.kinds = "nntt", .width_chars = o->m->o.width_chars};
    if (!l->n_step)
        return;
    top = top && top < l->n_step ? top : l->n_step;
    fprintf(o->f, "\nsteps with the most live memory\n");
    OC_ROW(&t, "bytes", "step", "node", "operator");
    for (size_t i = 0; i < top; i++) {
        uint32_t s = o->m->step[i];
        OC_ROW(&t, oc_bytes_text(&o->arena, (double)l->live[s]), oc_printf(&o->arena, "%u", s + 1),
               node_label(o, l->step[s]), o->m->a->model->node[l->step[s]].op_type);
    }
    oc_table_print(&t, o->f);
    print_rest(o, top, l->n_step);
}

static void print_plan(struct mem_out *o)
{
    const struct oc_memory_plan *p = o->m->o.plan;
    if (!p)
        return;
    fputc('\n', o->f);
    memory_line(o, "plan",
                oc_printf(&o->arena,
                          "arena of %s%s for %" PRIu32 " buffers, %.3f times the peak activation memory",
                          oc_quality_word(p->quality), oc_bytes_text(&o->arena, (double)p->size), p->n_buffer,
                          oc_plan_ratio(p)));
    memory_line(o, "",
                oc_printf(&o->arena, "%s (%s)",
                          p->optimal ? "optimal for this order" : "heuristic, may not be optimal",
                          p->method));
}

static void print_figures(void *of, FILE *f)
{
    struct mem_out *o = of;
    o->f = f;
    print_verdict(o);
    print_totals(o);
    print_arena(o);
    print_fit(o);
    print_measured(o);
    print_plan(o);
}

static void memory_live_rows(void *of, FILE *f)
{
    struct mem_out *o = of;
    o->f = f;
    live_table(o, o->live_rows);
}

/* On a screen the first table has half of the lines that are left, the second one what the first leaves. */
static void memory_text(void *of, FILE *f)
{
    /* Lines of a table other than its rows: blank, title, names of the columns, number of rows. */
    enum { BESIDE = 4 };
    struct mem_out o = {.m = of};
    size_t top = o.m->o.top, lines = oc_print_counted(print_figures, &o, f),
           half = oc_rows_left(lines + (size_t)2 * BESIDE) / 2;
    o.live_rows = top != OC_TOP_SCREEN ? top : half > OC_LEAST_ROWS ? half : OC_LEAST_ROWS;
    lines += oc_print_counted(memory_live_rows, &o, f);
    o.f = f;
    step_table(&o, oc_top_rows(top, lines + BESIDE));
    oc_arena_free(&o.arena);
}

/* ---- page ------------------------------------------------------------------------------------------- */

enum { WIDTH = 1000, HEIGHT = 320, BLOCKS = 2000, POINTS = 1000 };

struct memory_page {
    struct oc_html h;
    const struct oc_memory *m;
    const struct oc_memory_plan *plan; /* NULL: no offsets */
    uint32_t n_step, peak_step;
    const uint32_t *order; /* of the planned buffers, the largest first */
    double top;            /* bytes at the upper edge of the chart */
    uint64_t room;         /* of the device, without constants; 0: not known or no device */
};

/* ---- page: figures ---------------------------------------------------------------------------------- */

static const char *step_name(struct memory_page *p, uint32_t node)
{
    char buf[256];
    const struct oc_model *m = p->m->a->model;
    return oc_strdup(&p->h.arena, oc_node_label(m, &m->node[node], buf, sizeof(buf)));
}

static void page_sentence(struct memory_page *p)
{
    const struct oc_liveness *l = p->m->liveness;
    struct oc_arena *a = &p->h.arena;
    const char *text =
        !l->n_step ? "No node is executed"
                   : oc_printf(a, "Peak activation memory %s%s at step %" PRIu32 " of %" PRIu32 ", %s",
                               oc_quality_word(l->quality), oc_bytes_text(a, (double)l->peak),
                               l->peak_step + 1, l->n_step, step_name(p, l->step[l->peak_step]));
    if (p->m->fit.device)
        text = oc_printf(a, "%s; %s", text, fit_text(p->m, a));
    oc_html_sentence(&p->h, oc_printf(a, "%s.", text));
}

static void known_bytes(struct memory_page *p, const char *title, const char *key, bool known, uint64_t v,
                        const char *note)
{
    oc_html_fact(&p->h, title, key, OC_HTML_BYTES, known ? oc_u64_text(&p->h.arena, v) : "",
                 oc_quality_word(p->m->liveness->quality), note);
}

static void page_facts(struct memory_page *p)
{
    const struct oc_memory *m = p->m;
    const struct oc_memory_fit *f = &m->fit;
    bool known = m->liveness->quality != OC_UNKNOWN;
    oc_html_facts_begin(&p->h);
    known_bytes(p, "Peak activation memory", "activations.peak_bytes", known, m->liveness->peak, NULL);
    known_bytes(p, "Lower bound", "activations.lower_bytes", known, m->liveness->lower,
                "for any order of the nodes");
    oc_html_fact_u64(&p->h, "Constants", "constants.bytes", OC_HTML_BYTES, m->a->total->const_bytes, NULL,
                     NULL);
    known_bytes(p, "Footprint", "footprint.bytes", m->quality != OC_UNKNOWN, m->footprint,
                "constants and activations, without kernel workspace");
    if (m->o.as_onnxruntime)
        oc_html_fact_u64(&p->h, "Arena of ONNX Runtime", "arena.requested_bytes", OC_HTML_BYTES,
                         m->run.max_requested, oc_quality_word(m->liveness->quality), m->run.estimate);
    if (p->plan)
        oc_html_fact_u64(&p->h, "Planned arena", "plan:size_bytes", OC_HTML_BYTES, p->plan->size,
                         oc_quality_word(p->plan->quality),
                         p->plan->optimal ? "optimal for this order" : "heuristic, may not be optimal");
    if (f->device)
        oc_html_fact_u64(&p->h, "Device memory", "fit.capacity_bytes", OC_HTML_BYTES, f->capacity, NULL,
                         f->device->info->name);
    if (f->device && f->batch)
        oc_html_fact_u64(&p->h, oc_printf(&p->h.arena, "Largest %s", f->batch), "fit.largest_batch.size",
                         OC_HTML_COUNT, (uint64_t)f->largest, f->bounded ? ">= " : NULL,
                         f->largest ? oc_bytes_text(&p->h.arena, (double)f->largest_needs)
                                    : "1 does not fit");
    oc_html_facts_end(&p->h);
}

/* The last one is for what is free. */
static unsigned part_color(size_t i)
{
    static const unsigned color[] = {1, 0, 3, 4, 2};
    return color[i % OC_COUNT(color)];
}

/* Constants by class, activations and what is free, of the device or of the footprint. */
static void page_parts(struct memory_page *p)
{
    const struct oc_memory *m = p->m;
    struct oc_html_part part[OC_PC_COUNT + 2];
    size_t n = 0;
    uint64_t capacity = m->fit.device ? m->fit.capacity : 0;
    double whole = (double)(capacity > m->footprint ? capacity : m->footprint);
    part[n++] = (struct oc_html_part){"activations", (double)m->liveness->peak, 1};
    for (unsigned c = OC_PC_COUNT; c-- > 0;)
        if (m->a->class_bytes[c]) {
            part[n] =
                (struct oc_html_part){oc_param_class_name(c), (double)m->a->class_bytes[c], part_color(n)};
            n++;
        }
    if (capacity > m->footprint)
        part[n++] = (struct oc_html_part){"free", (double)(capacity - m->footprint), 5};
    oc_html_begin(&p->h, "parts", capacity ? "Device memory" : "Footprint");
    oc_html_strip(&p->h, "Constants by class and peak activation memory", OC_HTML_BYTES, part, n, whole);
    oc_html_end(&p->h);
}

/* ---- page: chart ------------------------------------------------------------------------------------ */

static double at_step(const struct memory_page *p, double step)
{
    return WIDTH * step / p->n_step;
}

static double at_bytes(const struct memory_page *p, double bytes)
{
    return HEIGHT * (1 - bytes / p->top);
}

static bool at_peak(const struct memory_page *p, const struct oc_planned_buffer *b)
{
    return b->graph == 0 && b->first <= p->peak_step && b->last >= p->peak_step;
}

static const char *buffer_name(struct memory_page *p, const struct oc_planned_buffer *b)
{
    const struct oc_analysis *a = p->plan->a;
    return b->value == OC_NONE ? "bodies of a control-flow node"
                               : oc_printf(&p->h.arena, "%s, %s", a->model->value[b->value].name,
                                           oc_type_text(&p->h.arena, a->exprs, &a->type[b->value]));
}

static void block(struct memory_page *p, uint32_t index)
{
    const struct oc_planned_buffer *b = &p->plan->buffer[index];
    double x = at_step(p, b->first), y = at_bytes(p, (double)(b->offset + b->bytes));
    const char *class = at_peak(p, b) ? "peak" : b->input || b->output ? "held" : NULL;
    oc_buf_printf(&p->h.b, "<rect data-at=\"%" PRIu32 "\"", index);
    if (class)
        oc_buf_printf(&p->h.b, " class=\"%s\"", class);
    oc_buf_printf(&p->h.b, " x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>", x, y,
                  at_step(p, (double)b->last + 1) - x, at_bytes(p, (double)b->offset) - y);
    oc_html_escaped(
        &p->h, oc_printf(&p->h.arena, "%s: %s%s at offset %s, steps %" PRIu32 " to %" PRIu32 "%s%s",
                         buffer_name(p, b), oc_quality_word(b->quality),
                         oc_bytes_text(&p->h.arena, (double)b->bytes), oc_count_text(&p->h.arena, b->offset),
                         b->first + 1, b->last + 1, b->input ? ", input" : "", b->output ? ", output" : ""));
    oc_buf_str(&p->h.b, "</title></rect>\n");
}

static int by_bytes(const void *a, const void *b, void *user)
{
    const struct oc_memory_plan *plan = user;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint64_t x = plan->buffer[i].bytes, y = plan->buffer[k].bytes;
    return x != y ? (x < y ? 1 : -1) : i > k ? 1 : -1;
}

/* Indices of the planned buffers, the largest first. */
static uint32_t *largest_first(struct memory_page *p)
{
    uint32_t *order = OC_NEW_ARRAY(&p->h.arena, p->plan->n_buffer + 1, uint32_t);
    for (uint32_t i = 0; i < p->plan->n_buffer; i++)
        order[i] = i;
    qsort_r(order, p->plan->n_buffer, sizeof(*order), by_bytes, (void *)(uintptr_t)p->plan);
    return order;
}

static void page_blocks(struct memory_page *p)
{
    for (uint32_t i = 0; i < p->plan->n_buffer && i < BLOCKS; i++)
        if (!p->plan->buffer[p->order[i]].graph && p->plan->buffer[p->order[i]].bytes)
            block(p, p->order[i]);
}

/* Live bytes by step, the largest of each group of steps. */
static void page_area(struct memory_page *p)
{
    const struct oc_liveness *l = p->m->liveness;
    uint32_t group = (p->n_step + POINTS - 1) / POINTS;
    oc_buf_printf(&p->h.b, "<path class=\"area\" d=\"M0 %d", HEIGHT);
    for (uint32_t s = 0; s < p->n_step; s += group) {
        uint64_t most = 0;
        uint32_t end = p->n_step - s < group ? p->n_step : s + group;
        for (uint32_t i = s; i < end; i++)
            most = l->live[i] > most ? l->live[i] : most;
        oc_buf_printf(&p->h.b, "L%.2f %.2fL%.2f %.2f", at_step(p, s), at_bytes(p, (double)most),
                      at_step(p, end), at_bytes(p, (double)most));
    }
    oc_buf_printf(&p->h.b, "L%d %dZ\"/>\n", WIDTH, HEIGHT);
}

static void page_legend(struct memory_page *p)
{
    static const char *const entry[][2] = {
        {" peak", "live at the peak"}, {" held", "inputs and outputs"}, {"", "other tensors"}};
    oc_buf_str(&p->h.b, "<div class=\"legend\">");
    for (size_t i = 0; i < OC_COUNT(entry) && p->plan; i++)
        oc_buf_printf(&p->h.b, "<span><i class=\"block%s\"></i>%s</span>", entry[i][0], entry[i][1]);
    if (p->room && (double)p->room <= p->top)
        oc_buf_str(&p->h.b,
                   "<span><i class=\"block limit\"></i>limit: device memory without constants</span>");
    oc_buf_str(&p->h.b, "<span>dashed: step of the peak</span></div>\n");
}

static void page_lines(struct memory_page *p)
{
    double x = at_step(p, p->peak_step + 0.5), y = at_bytes(p, (double)p->room);
    oc_buf_printf(&p->h.b, "<line x1=\"%.2f\" x2=\"%.2f\" y1=\"0\" y2=\"%d\"/>\n", x, x, HEIGHT);
    if (p->room && (double)p->room <= p->top)
        oc_buf_printf(&p->h.b, "<line class=\"limit\" x1=\"0\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\"/>\n", WIDTH,
                      y, y);
}

/* The device's limit is in the chart where it is within four times the peak. */
static void set_scale(struct memory_page *p)
{
    const struct oc_memory *m = p->m;
    const struct oc_memory_fit *f = &m->fit;
    uint64_t size = p->plan && p->plan->size > m->liveness->peak ? p->plan->size : m->liveness->peak;
    if (f->device && f->capacity > m->a->total->const_bytes)
        p->room = f->capacity - m->a->total->const_bytes;
    p->top = (double)(p->room > size && p->room / 4 <= size ? p->room : size) * 1.02;
    p->n_step = m->liveness->n_step;
    p->peak_step = m->liveness->peak_step;
}

static void page_chart(struct memory_page *p)
{
    struct oc_arena *a = &p->h.arena;
    oc_html_begin(&p->h, "chart", p->plan ? "Buffers by step and offset" : "Live bytes by step");
    if (p->plan)
        oc_html_note(&p->h, "Offsets of the arena plan: width is the lifetime, height the size.");
    oc_buf_str(&p->h.b, "<div class=\"chart\" data-table=\"buffers\">\n<div class=\"axis\"><span>");
    oc_html_escaped(&p->h, oc_bytes_text(a, p->top));
    oc_buf_printf(&p->h.b,
                  "</span></div>\n<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" tabindex=\"0\" "
                  "role=\"img\" aria-label=\"%s\">\n",
                  WIDTH, HEIGHT,
                  p->plan ? "Buffers over the steps; arrow keys choose one, Enter finds its row in the table"
                          : "Live bytes over the steps");
    if (p->plan)
        page_blocks(p);
    else
        page_area(p);
    page_lines(p);
    oc_buf_printf(&p->h.b,
                  "</svg>\n<div class=\"axis\"><span>step 1</span><span>step %" PRIu32 "</span></div>\n",
                  p->n_step);
    page_legend(p);
    oc_buf_str(&p->h.b, "<p class=\"pick\" aria-live=\"polite\"></p>\n</div>\n");
    if (p->plan && p->plan->n_buffer > BLOCKS)
        oc_html_note(&p->h, oc_printf(a, "The %d largest of %" PRIu32 " buffers are drawn.", BLOCKS,
                                      p->plan->n_buffer));
    if (p->room && (double)p->room > p->top)
        oc_html_note(&p->h, oc_printf(a, "The device has %s for activations, beyond the chart.",
                                      oc_bytes_text(a, (double)p->room)));
    oc_html_end(&p->h);
}

/* ---- page: tables ----------------------------------------------------------------------------------- */

static const struct oc_html_column buffer_columns[] = {
    {.field = "bytes", .title = "Bytes", .kind = OC_HTML_BYTES, .bar = true, .quality = "quality"},
    {.field = "name", .title = "Tensor", .kind = OC_HTML_CODE},
    {.field = "value", .title = "Tensor", .kind = OC_HTML_CODE},
    {.field = "kind", .title = "Kind"},
    {.field = "type", .title = "Type", .kind = OC_HTML_CODE},
    {.field = "scope", .title = "Subgraph", .kind = OC_HTML_CODE},
    {.field = "graph", .title = "Subgraph", .kind = OC_HTML_CODE},
    {.field = "offset", .title = "Offset", .kind = OC_HTML_COUNT},
    {.field = "first_step", .title = "First step", .kind = OC_HTML_STEP},
    {.field = "last_step", .title = "Last step", .kind = OC_HTML_STEP},
    {.field = "input", .title = "Input", .kind = OC_HTML_YES},
    {.field = "output", .title = "Output", .kind = OC_HTML_YES},
    {.field = "first_name", .title = "Producer", .kind = OC_HTML_CODE},
    {.field = "last_name", .title = "Last use", .kind = OC_HTML_CODE},
};

static void buffer_table(struct memory_page *p, struct oc_html_table t, struct oc_row_list rows)
{
    t.column = buffer_columns;
    t.n_column = OC_COUNT(buffer_columns);
    oc_html_list(&p->h, &t, &rows);
}

static void plan_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct memory_page *p = of;
    oc_plan_buffer_fields(o, p->plan, p->order[i]);
}

static void plan_rows(struct memory_page *p)
{
    bool *marked = OC_NEW_ARRAY(&p->h.arena, p->plan->n_buffer + 1, bool);
    for (uint32_t i = 0; i < p->plan->n_buffer; i++)
        marked[i] = at_peak(p, &p->plan->buffer[p->order[i]]);
    const struct oc_html_table t = {
        .id = "buffers", .title = "Buffers", .json = "plan:buffers", .at = p->order, .marked = marked};
    buffer_table(p, t, OC_ROWS(p->plan->n_buffer, p, plan_fields));
}

static void largest_step_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_memory *m = of;
    oc_memory_step_fields(o, m, m->step[i]);
}

static void step_rows(struct memory_page *p)
{
    static const struct oc_html_column columns[] = {
        {.field = "live_bytes", .title = "Live bytes", .kind = OC_HTML_BYTES, .bar = true},
        {.field = "inner_bytes", .title = "In bodies", .kind = OC_HTML_BYTES},
        {.field = "step", .title = "Step", .kind = OC_HTML_STEP},
        {.field = "name", .title = "Node", .kind = OC_HTML_CODE},
        {.field = "op_type", .title = "Operator", .kind = OC_HTML_CODE},
    };
    const struct oc_html_table t = {.id = "steps",
                                    .title = "Steps with the most live memory",
                                    .json = "steps",
                                    .at = p->m->step,
                                    .column = columns,
                                    .n_column = OC_COUNT(columns),
                                    .most = 200};
    oc_html_list(&p->h, &t, &OC_ROWS(p->m->liveness->n_step, p->m, largest_step_fields));
}

/* The page: -f html. */
static void memory_write_page(void *of, bool fragment, FILE *f)
{
    const struct oc_memory *m = of;
    struct memory_page p = {.m = m, .plan = m->o.plan, .h.fragment = fragment};
    p.order = p.plan ? largest_first(&p) : NULL;
    set_scale(&p);
    page_sentence(&p);
    page_facts(&p);
    page_parts(&p);
    if (p.n_step && p.top > 0)
        page_chart(&p);
    buffer_table(&p,
                 (struct oc_html_table){.id = "live", .title = "Live at the peak", .json = "live_at_peak"},
                 OC_ROWS(m->n_row, m, oc_memory_live_fields));
    if (p.plan)
        plan_rows(&p);
    else
        buffer_table(&p, (struct oc_html_table){.id = "buffers", .title = "Buffers", .json = "buffers"},
                     OC_ROWS(m->liveness->n_life, m, oc_memory_buffer_fields));
    step_rows(&p);
    oc_html_write(&p.h, m->a->model->path, "memory", m->o.made, f);
}

/* ---- formats ---------------------------------------------------------------------------------------- */

int oc_memory_write(const struct oc_memory *m, const char *format, FILE *f, struct oc_err *err)
{
    const struct oc_output out = {.what = "memory",
                                  .of = (void *)(uintptr_t)m,
                                  .text = memory_text,
                                  .rows = OC_HEADED_ROWS(m->liveness->n_step, m, oc_memory_step_fields),
                                  .key = "steps",
                                  .schema = "onnxcost.memory",
                                  .model = m->a->model->path,
                                  .members = oc_memory_members,
                                  .page = memory_write_page};
    return oc_output_write(&out, format, f, err);
}
