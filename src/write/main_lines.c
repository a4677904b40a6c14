/* write/: The report in every format: out_NAME.c, a row in report_write.c. Nothing is computed here but
 * widths and texts: a figure that an output lacks belongs in report/. JSON and CSV are versioned; a changed
 * member needs the schema and the test of both.
 * Private to the folder: trace_doc.h. */

/* The first lines of a report: at most eight, each fits 80 columns with names of usual length. */
#include "write/report_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/headline.h"
#include "report/report.h"

struct lines {
    struct oc_report *r;
    struct oc_headline h; /* unknown without a profile */
    struct oc_arena *arena;
    struct oc_summary *out;
};

static void main_lines_add(struct lines *l, const char *label, const char *text)
{
    OC_GROW(l->out->line, l->out->n, l->out->cap);
    l->out->line[l->out->n++] = (struct oc_summary_line){label, text, false};
}

static const char *giga(struct lines *l, double v)
{
    return oc_printf(l->arena, v < 1e12 ? "%.4g" : "%.0f", v * 1e-9);
}

/* ---- the model -------------------------------------------------------------------------------------- */

/* "; assumed: batch = 1, sequence = 128". Input shapes given as a whole precede it. */
static const char *assumed(struct lines *l)
{
    const struct oc_analysis *a = l->r->in->analysis;
    enum { MOST = 3 };
    const char *text = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_assumption; i++) {
        const struct oc_assumption *q = &a->assumption[i];
        if (strcmp(q->what, "shape") != 0 && n++ < MOST)
            text = oc_printf(l->arena, "%s%s%s = %s", text, n > 1 ? ", " : "; assumed: ", q->name, q->value);
    }
    return n > MOST ? oc_printf(l->arena, "%s, %u more", text, n - MOST) : text;
}

/* "float[1,3,48,48..320]": with the sizes of all runs. */
static const char *input_type(struct lines *l, uint32_t value)
{
    const struct oc_analysis *a = l->r->in->analysis;
    const struct oc_sizes *sizes = oc_report_sizes(l->r);
    const struct oc_type *t = &a->type[value];
    if (!sizes || t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape))
        return oc_type_text(l->arena, a->exprs, t);
    const char *text = oc_printf(l->arena, "%s[", oc_dtype_info(t->dtype)->name);
    for (unsigned i = 0; i < t->shape.rank; i++) {
        const char *range = oc_sizes_range(sizes, value, i, l->arena), *sep = i ? "," : "";
        text = range ? oc_printf(l->arena, "%s%s%s", text, sep, range)
                     : oc_printf(l->arena, "%s%s%" PRId64, text, sep, t->shape.dim[i].v);
    }
    return oc_printf(l->arena, "%s]", text);
}

/* "input float[1,3,224,224]; assumed: batch = 1" */
static const char *inputs_text(struct lines *l)
{
    const struct oc_analysis *a = l->r->in->analysis;
    const struct oc_graph *g = &a->model->graph[0];
    enum { MOST = 2 };
    const char *text = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = &a->model->value[g->input[i]];
        if (v->constant || n++ >= MOST)
            continue;
        text = oc_printf(l->arena, "%s%s%s %s", text, n > 1 ? ", " : "", v->name, input_type(l, g->input[i]));
    }
    if (n > MOST)
        text = oc_printf(l->arena, "%s, %u more", text, n - MOST);
    return oc_printf(l->arena, "%s%s", n ? text : "no inputs", assumed(l));
}

static void main_lines_add_model(struct lines *l)
{
    const struct oc_model *m = l->r->in->model;
    const struct oc_totals *t = l->r->in->analysis->total;
    const char *opset = "";
    for (uint32_t i = 0; i < m->n_opset; i++)
        if (!*m->opset[i].domain)
            opset = oc_printf(l->arena, ", opset %" PRId64, m->opset[i].version);
    const char *unknown = t->unknown_nodes ? oc_printf(l->arena, " (%s of unknown cost)",
                                                       oc_count_text(l->arena, t->unknown_nodes))
                                           : "";
    const char *computed = t->params_computed ? oc_printf(l->arena, " stored and %s computed from constants",
                                                          oc_count_text(l->arena, t->params_computed))
                                              : "";
    main_lines_add(l, "model",
                   oc_printf(l->arena, "%s: %s node%s%s, %s parameter%s%s%s; %s", oc_base_name(m->path),
                             oc_count_text(l->arena, t->nodes), oc_plural(t->nodes), unknown,
                             oc_count_text(l->arena, t->params), oc_plural(t->params), computed, opset,
                             inputs_text(l)));
}

/* "FLOPs", "FLOPs as fvcore counts" */
static const char *counts_text(struct lines *l)
{
    const char *convention = l->r->in->analysis->counting->convention, *word = oc_work_words(l->r, "FLOPs");
    return convention ? oc_printf(l->arena, "%s as %s counts", word, convention) : word;
}

/* Lower bounds: a figure of 0 is unknown and left out. */
static void add_least_cost(struct lines *l, const struct oc_totals *t, double moved)
{
    const char *text = "", *unknown = t->flops || t->ops ? "MACs" : "MACs and FLOPs";
    if (t->macs)
        text = oc_printf(l->arena, "%s MACs", oc_count_text(l->arena, t->macs));
    if (t->flops)
        text = oc_printf(l->arena, "%s%s%s %s", text, *text ? ", " : "", oc_count_text(l->arena, t->flops),
                         counts_text(l));
    if (t->ops)
        text = oc_printf(l->arena, "%s%s%s (integer)", text, *text ? ", " : "",
                         oc_si_text(l->arena, (double)t->ops, "OP"));
    text = oc_printf(l->arena, "%s%s%s moved unfused", text, *text ? ", " : "",
                     oc_si_text(l->arena, moved, "B"));
    main_lines_add(l, "cost",
                   t->macs ? oc_printf(l->arena, "at least %s", text)
                           : oc_printf(l->arena, "%s unknown; at least %s", unknown, text));
}

/* ", 216.21 MB as the runtime fused them": what the rows of one run move, where it is less. */
static const char *fused_text(struct lines *l, double unfused)
{
    const struct oc_report_in *in = l->r->in;
    const struct oc_headline *h = &l->h;
    if (!in->join || in->profile->stat == OC_STAT_SUM || oc_report_sizes(l->r))
        return "";
    double bytes = h->bytes_per_s * h->run_ns * 1e-9;
    return bytes > 0 && bytes < 0.999 * unfused
               ? oc_printf(l->arena, ", %s%s as the runtime fused them", oc_quality_word(h->bytes_quality),
                           oc_si_text(l->arena, bytes, "B"))
               : "";
}

static void main_lines_add_cost(struct lines *l)
{
    const struct oc_totals *t = l->r->in->analysis->total;
    double moved = (double)t->bytes_read_act + (double)t->bytes_read_weight + (double)t->bytes_written;
    bool nothing = t->unknown_nodes && !(t->macs || t->flops || t->ops || moved > 0);
    if (nothing) {
        main_lines_add(l, "cost", "unknown");
        return;
    }
    if (t->unknown_nodes || t->quality == OC_LOWER) {
        add_least_cost(l, t, moved);
        return;
    }
    const char *word = oc_quality_word(t->quality), *ops = oc_si_text(l->arena, (double)t->ops, "OP");
    main_lines_add(l, "cost", /* the word precedes the first figure that it concerns */
                   oc_printf(l->arena, "%s%s%s MACs, %s%s %s%s, %s%s moved unfused%s",
                             oc_report_sizes(l->r) ? "mean " : "", t->macs_exact ? "" : word,
                             oc_count_text(l->arena, t->macs), t->macs_exact && !t->work_exact ? word : "",
                             oc_count_text(l->arena, t->flops), counts_text(l),
                             t->ops ? oc_printf(l->arena, ", %s (integer)", ops) : "",
                             t->bytes_bound  ? "at least "
                             : t->work_exact ? word
                                             : "",
                             oc_si_text(l->arena, moved, "B"), fused_text(l, moved)));
}

static void add_memory(struct lines *l)
{
    const struct oc_analysis *a = l->r->in->analysis;
    const struct oc_totals *t = a->total;
    const char *peak =
        a->peak.quality == OC_UNKNOWN || a->peak.node == OC_NONE
            ? ""
            : oc_printf(l->arena, "peak activation memory %s%s%s, ", oc_quality_word(a->peak.quality),
                        oc_bytes_text(l->arena, (double)a->peak.bytes),
                        oc_report_sizes(l->r) ? " (largest)" : "");
    const char *computed = t->const_bytes_computed
                               ? oc_printf(l->arena, " stored and %s computed",
                                           oc_bytes_text(l->arena, (double)t->const_bytes_computed))
                               : "";
    main_lines_add(l, "memory",
                   oc_printf(l->arena, "%sconstants %s%s", peak,
                             oc_bytes_text(l->arena, (double)t->const_bytes), computed));
    l->out->line[l->out->n - 1].detail = l->r->in->profile != NULL; /* the question is where the time goes */
}

/* ---- the profile ------------------------------------------------------------------------------------ */

static void main_lines_add_profile(struct lines *l)
{
    const struct oc_profile *p = l->r->in->profile;
    main_lines_add(l, "profile",
                   oc_printf(l->arena, "%s: %s%s%s, %s%s", oc_base_name(p->path),
                             *p->producer ? p->producer : p->format, *p->device ? ", " : "", p->device,
                             p->time_kind ? p->time_kind : "time", p->truncated ? "; truncated" : ""));
}

static void add_latency(struct lines *l, const struct oc_headline *h)
{
    if (h->total_ns > 0 && !l->r->in->profile->functions)
        main_lines_add(l,
                       isnan(h->run_ns)              ? "total time"
                       : l->r->in->profile->training ? "step time"
                                                     : "latency",
                       oc_headline_latency_text(l->r, l->arena));
}

#define LEAST_PART   1e-4 /* of the FLOP/s: a smaller rate of integer operations is left out */
#define PAUSED       0.9  /* of the inverse of the latency: a smaller rate counts the time between the runs */
#define WELL_COUNTED 0.75 /* below this share of the time, a lower bound may be far from the rate */

/* FLOP/s, integer operations and bytes per second; what is not exact is marked by a word. */
static const char *rates(struct lines *l, const struct oc_headline *h)
{
    const char *flops = oc_quality_word(h->flops_quality), *bytes = oc_quality_word(h->bytes_quality),
               *text = "";
    if (h->flops_per_s > 0)
        text = oc_printf(l->arena, "%s%s GFLOP/s", flops, giga(l, h->flops_per_s));
    if (h->ops_per_s > 0 && !(h->ops_per_s < LEAST_PART * h->flops_per_s))
        text = oc_printf(l->arena, "%s%s%s GOP/s", *text ? text : flops, *text ? " + " : "",
                         giga(l, h->ops_per_s));
    if (*text && h->bytes_per_s > 0)
        text =
            oc_printf(l->arena, "%s, %s%s GB/s", text, bytes == flops ? "" : bytes, giga(l, h->bytes_per_s));
    if (*text && h->counted_share < WELL_COUNTED)
        text = oc_printf(l->arena, "%s; FLOPs known for %.1f %% of the time", text, 100 * h->counted_share);
    return oc_work_words(l->r, text);
}

/* Rates over the whole run; the table has rates over operator time. */
static void add_achieved(struct lines *l, const struct oc_headline *h)
{
    const char *text = "", *work = rates(l, h);
    const struct oc_profile *p = l->r->in->profile;
    bool found = p->runs_from == OC_RUNS_REPEAT || p->runs_from == OC_RUNS_GIVEN;
    bool paused = found && h->inferences_per_s * h->run_ns < PAUSED * 1e9;
    if (h->inferences_per_s > 0)
        text =
            oc_printf(l->arena, "%s %s/s%s", oc_number_text(l->arena, h->inferences_per_s, 4),
                      p->training ? "steps" : "inferences", paused ? " with the time between the runs" : "");
    if (*work)
        text = oc_printf(l->arena, "%s%s%s", text, *text ? ", " : "", work);
    if (!isnan(h->busy_ns) && h->run_ns > 0)
        text = oc_printf(l->arena, "%s%s%soperator time %.1f %%", text, *text ? "; " : "",
                         h->busy_host ? "host " : "", 100 * h->busy_ns / h->run_ns);
    if (!isnan(h->energy_j))
        text = oc_printf(
            l->arena, "%s%s%s%s measured%s", text, *text ? "; " : "", oc_quality_word(h->energy_quality),
            oc_joule_text(l->arena, h->energy_j),
            h->power_w > 0 ? oc_printf(l->arena, ", %s W", oc_number_text(l->arena, h->power_w, 3)) : "");
    if (*text && !l->r->in->profile->functions)
        main_lines_add(l, "achieved", text);
}

/* ---- the hardware ----------------------------------------------------------------------------------- */

/* ", efficiency 40.1 %" of the recorded kernels; of a model alone, what it takes without fusion. */
static const char *roofline_text(struct lines *l, const struct oc_row_bounds *b)
{
    const char *but = b->missing ? oc_printf(l->arena, " (%u row%s without a limit)", b->missing,
                                             oc_plural(b->missing))
                                 : "",
               *time = oc_time_text(l->arena, b->roof_s * 1e9, "unknown"),
               *least = b->partial || b->missing ? "at least " : "";
    if (!(b->time_s > 0))
        return isnan(l->r->bound_s) ? oc_printf(l->arena, "roofline time %s%s%s", least, time, but)
                                    : oc_printf(l->arena, "unfused: roofline time %s%s%s", least, time, but);
    return oc_printf(l->arena, "roofline time of the kernels %s%s, efficiency %s%.1f %%%s", least, time,
                     b->partial ? "at least " : "", 100 * b->roof_s / b->time_s, but);
}

static void add_hardware(struct lines *l)
{
    const struct oc_device_info *d = oc_device_info(l->r->in->device);
    const char *set = d->n_set ? ", changed by --hw-set" : "";
    struct oc_row_bounds b;
    oc_bounds_of(l->r, &b);
    const char *rows = isnan(b.roof_s) ? "no operator has a limit in its figures" : roofline_text(l, &b);
    const char *least = isnan(l->r->bound_s)
                            ? ""
                            : oc_printf(l->arena, "at least %s (any fusion); ",
                                        oc_time_text(l->arena, l->r->bound_s * 1e9, "unknown"));
    main_lines_add(l, "hardware", oc_printf(l->arena, "%s%s: %s%s", d->name, set, least, rows));
}

/* What makes figures of the report meaningless comes first. */
static void add_mismatch(struct lines *l)
{
    const char *text[OC_MAX_MISMATCHES];
    size_t n = oc_mismatches(l->r->in, text);
    for (size_t i = 0; i < n; i++)
        main_lines_add(l, "mismatch", text[i]);
}

void oc_main_lines(struct oc_report *r, struct oc_summary *out)
{
    struct lines l = {.r = r, .arena = &r->arena, .out = out};
    struct oc_verdict v;
    oc_headline_of(r, &l.h);
    add_mismatch(&l);
    oc_verdict_of(r, &v);
    if (v.text)
        main_lines_add(&l, "verdict", v.text);
    if (r->in->model && r->in->analysis) {
        main_lines_add_model(&l);
        main_lines_add_cost(&l);
        add_memory(&l);
    }
    if (r->in->profile) {
        main_lines_add_profile(&l);
        add_latency(&l, &l.h);
        add_achieved(&l, &l.h);
    }
    if (r->in->device)
        add_hardware(&l);
    else if (r->o->recorded_hw)
        main_lines_add(
            &l, "hardware",
            oc_printf(l.arena, "recorded on %s: --hw auto compares with its limits", r->o->recorded_hw));
}
