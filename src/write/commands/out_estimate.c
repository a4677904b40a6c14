/* An estimate: as text the longest kernels and the total, as CSV and JSON every kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "estimate/predict.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"
#include "write/tables/html_page.h"
#include "write/tables/table.h"

enum { LABEL = 12 };

struct estimate_out {
    const struct oc_estimate *e;
    struct oc_arena arena;
    size_t top;
    double all_s; /* sum over all kernels; midpoints of intervals. 0: unknown */
};

static const char *estimate_label_of(const struct oc_estimate *e, const struct oc_kernel_use *u,
                                     struct oc_arena *a)
{
    char buf[256];
    if (u->kernel.label && *u->kernel.label)
        return u->kernel.label;
    if (u->kernel.node == OC_NONE)
        return "";
    const struct oc_model *m = e->analysis->model;
    return oc_strdup(a, oc_node_label(m, &m->node[u->kernel.node], buf, sizeof(buf)));
}

/* "Conv+BatchNormalization+Relu"; runtime-inserted kernels have no nodes. */
static const char *estimate_types_of(const struct oc_estimate *e, const struct oc_kernel_use *u,
                                     struct oc_arena *a)
{
    const struct oc_model *m = e->analysis->model;
    const char *text = "";
    if (!u->n_node)
        return "(inserted)";
    for (uint32_t i = 0; i < u->n_node && i < 4; i++)
        text = oc_printf(a, "%s%s%s", text, i ? "+" : "", m->node[u->node[i]].op_type);
    return u->n_node > 4 ? oc_printf(a, "%s+%" PRIu32, text, u->n_node - 4) : text;
}

static double estimate_calls_of(const struct oc_kernel_use *u)
{
    return u->calls > 0 ? u->calls : 1;
}

/* ---- for people ------------------------------------------------------------------------------------- */

struct place {
    double s;
    size_t i;
};

static int longest_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->s != y->s)
        return x->s > y->s ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static void head_row(const struct estimate_out *o, struct oc_table *t)
{
    static const char *const head[] = {"time",  "from",     "to",    "%",    "measured", "err %",
                                       "class", "bound by", "basis", "type", "kernel"};
    static const char *const alone[] = {"time",     "from",  "to",   "%",     "class",
                                        "bound by", "basis", "type", "kernel"};
    static const uint8_t drop[] = {0, 0, 0, 0, 0, 1, 3, 4, 5, 2, 0},
                         drop_alone[] = {0, 0, 0, 0, 3, 4, 5, 2, 0};
    t->kinds = o->e->measured_s ? "nnnnnnttttt" : "nnnnttttt";
    t->drop = o->e->measured_s ? drop : drop_alone;
    oc_table_row(t, o->e->measured_s ? head : alone);
}

static void kernel_row(struct estimate_out *o, struct oc_table *t, size_t i)
{
    const struct oc_estimate *e = o->e;
    const struct oc_kernel_use *u = &e->list.item[i];
    const struct oc_prediction *p = &e->prediction[i];
    double n = estimate_calls_of(u), s = oc_estimate_kernel_s(e, i);
    const char *cell[11];
    size_t k = 0;
    cell[k++] = oc_seconds_text(&o->arena, p->t_s * n, "-");
    cell[k++] = oc_seconds_text(&o->arena, p->lo80_s * n, "-");
    cell[k++] = oc_seconds_text(&o->arena, p->hi80_s * n, "-");
    cell[k++] = isfinite(s) && o->all_s > 0 ? oc_printf(&o->arena, "%.1f", 100 * s / o->all_s) : "-";
    if (e->measured_s) {
        double err = e->measured_s[i] > 0 ? p->t_s / e->measured_s[i] - 1 : (double)NAN;
        cell[k++] = oc_seconds_text(&o->arena, e->measured_s[i] * n, "-");
        cell[k++] = isfinite(err) ? oc_printf(&o->arena, "%+.1f", 100 * err) : "-";
    }
    cell[k++] = oc_kernel_class_name(u->kernel.cls);
    cell[k++] = oc_bound_name(p->bound);
    cell[k++] = p->extrapolated ? oc_printf(&o->arena, "%s, extrapolated", oc_evidence_name(p->evidence))
                                : oc_evidence_name(p->evidence);
    cell[k++] = estimate_types_of(e, u, &o->arena);
    cell[k++] = estimate_label_of(e, u, &o->arena);
    oc_table_row(t, cell);
}

/* Below so many lines. */
static void write_kernels(struct estimate_out *o, size_t lines, FILE *f)
{
    enum {
        BESIDE = 4
    }; /* names of the columns, two lines of those that are not shown, rows that are not shown */
    size_t n = o->e->list.n, top = oc_top_rows(o->top, lines + BESIDE);
    struct place *place = OC_NEW_ARRAY(&o->arena, n, struct place);
    struct oc_table t = {.width_chars = o->e->width_chars};
    for (size_t i = 0; i < n; i++) {
        double s = oc_estimate_kernel_s(o->e, i);
        place[i] = (struct place){isfinite(s) ? s : -1, i};
    }
    qsort(place, n, sizeof(*place), longest_first);
    head_row(o, &t);
    for (size_t i = 0; i < n && (!top || i < top); i++)
        kernel_row(o, &t, place[i].i);
    oc_table_print(&t, f);
    if (top && n > top)
        fprintf(f, "and %zu more\n", n - top);
}

static void estimate_put_line(struct estimate_out *o, FILE *f, const char *label, const char *text)
{
    oc_plain_say(label, LABEL, o->e->width_chars, text, f);
}

static const char *unpredicted_verdict(struct estimate_out *o)
{
    const struct oc_estimate *e = o->e;
    const char *on = e->device->info->id;
    const char *why = e->missing ? oc_printf(&o->arena, "the device file has %s", e->missing)
                                 : "no kernel has a known time";
    return isnan(e->info->bound_ns)
               ? oc_printf(&o->arena, "no prediction on %s: %s", on, why)
               : oc_printf(&o->arena, "at least %s per run on %s; no prediction: %s",
                           oc_seconds_text(&o->arena, e->info->bound_ns * 1e-9, "-"), on, why);
}

static const char *estimate_verdict(struct estimate_out *o)
{
    const struct oc_estimate *e = o->e;
    const struct oc_model_prediction *t = &e->total;
    struct oc_arena *a = &o->arena;
    const char *on = e->device->info->id;
    bool ranges = !e->cal && !e->pooled;
    if (e->n_unknown == e->list.n || (ranges && e->missing))
        return unpredicted_verdict(o);
    if (ranges)
        return oc_printf(a,
                         "%s%s to %s per run on %s%s: efficiency 90 %% to 30 %% of the roofline plus launch "
                         "overhead; no calibration",
                         e->n_unknown ? "unknown; " : "", oc_seconds_text(a, e->band_lo_s, "-"),
                         oc_seconds_text(a, e->band_hi_s, "-"), on,
                         e->n_unknown ? " for the other kernels" : "");
    return oc_printf(a, "%s per run on %s; 80 %%: %s to %s, 95 %%: %s to %s", oc_seconds_text(a, t->t_s, "-"),
                     on, oc_seconds_text(a, t->lo80_s, "-"), oc_seconds_text(a, t->hi80_s, "-"),
                     oc_seconds_text(a, t->lo95_s, "-"), oc_seconds_text(a, t->hi95_s, "-"));
}

static void write_prediction(struct estimate_out *o, FILE *f)
{
    const struct oc_estimate *e = o->e;
    const struct oc_model_prediction *t = &e->total;
    if (!isnan(e->info->bound_ns))
        estimate_put_line(o, f, "at least",
                          oc_printf(&o->arena, "%s per run, for any runtime",
                                    oc_seconds_text(&o->arena, e->info->bound_ns * 1e-9, "-")));
    if (e->n_unknown == e->list.n || (!e->cal && !e->pooled))
        return;
    if (e->cal)
        estimate_put_line(o, f, "parts",
                          oc_printf(&o->arena, "%s kernels, %s between kernels, %s outside kernels",
                                    oc_seconds_text(&o->arena, t->kernels_s, "-"),
                                    oc_seconds_text(&o->arena, t->gaps_s, "-"),
                                    oc_seconds_text(&o->arena, t->fix_s, "-")));
    const char *basis =
        e->cal ? "" : "published latencies of other devices (hwdb/published.tsv); no calibration";
    for (unsigned i = 0; e->cal && i < OC_EVIDENCE_COUNT; i++)
        if (t->share[i] > 0)
            basis = oc_printf(&o->arena, "%s%s%s %.1f %%", basis, *basis ? ", " : "", oc_evidence_name(i),
                              100 * t->share[i]);
    if (t->extrapolated > 0)
        basis = oc_printf(&o->arena, "%s; extrapolated sizes %.1f %%", basis, 100 * t->extrapolated);
    estimate_put_line(o, f, "basis", basis);
    double parts = t->compute_s + t->memory_s + t->t0_s;
    if (parts > 0)
        estimate_put_line(o, f, "bound by",
                          oc_printf(&o->arena, "compute %.1f %%, memory %.1f %%, launches %.1f %%",
                                    100 * t->compute_s / parts, 100 * t->memory_s / parts,
                                    100 * t->t0_s / parts));
}

static void write_subnormal(struct estimate_out *o, FILE *f)
{
    const struct oc_estimate *e = o->e;
    bool known = e->subnormal_added_s > 0;
    double added_s = known ? e->subnormal_added_s : e->subnormal_most_s;
    if (!e->n_subnormal)
        return;
    estimate_put_line(o, f, "subnormal",
                      oc_printf(&o->arena,
                                "weights of %u kernel%s add %s %s, less where inputs are zero; flush them "
                                "(ONNX Runtime: session.set_denormal_as_zero=1)",
                                e->n_subnormal, e->n_subnormal == 1 ? "" : "s",
                                known ? "about" : "an unknown time, in the upper ends only: at most",
                                oc_seconds_text(&o->arena, added_s, "-")));
}

static void write_measured(struct estimate_out *o, FILE *f)
{
    const struct oc_estimate *e = o->e;
    if (!e->measured_s)
        return;
    const char *error = "", *sizes = "";
    if (e->join && e->join->sizes && e->join->sizes->n_set > 1)
        sizes = oc_printf(&o->arena, "; all figures are means over %u runs of %u sizes", e->join->sizes->runs,
                          e->join->sizes->n_set);
    if (e->cal && e->total.kernels_s > 0 && e->measured_kernels_s > 0)
        error = oc_printf(&o->arena, "; predicted kernels %+.1f %%",
                          100 * (e->total.kernels_s / e->measured_kernels_s - 1));
    estimate_put_line(o, f, "measured",
                      oc_printf(&o->arena, "%s kernels, %s per run with the profiler%s%s",
                                oc_seconds_text(&o->arena, e->measured_kernels_s, "-"),
                                oc_seconds_text(&o->arena, e->measured_run_s, "-"), error, sizes));
}

static uint32_t estimate_fused(const struct oc_kernel_list *l)
{
    uint32_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->item[i].n_node > 1;
    return n;
}

static const char *threads_of(struct estimate_out *o, const struct oc_calibration *cal)
{
    return cal->threads ? oc_printf(&o->arena, ", %u thread%s", cal->threads, cal->threads == 1 ? "" : "s")
                        : "";
}

static const char *transfer_text(struct estimate_out *o)
{
    const struct oc_estimate *e = o->e;
    return e->transfer == OC_TRANSFER_MOVED
               ? oc_printf(&o->arena,
                           "from %s, by these recordings: the interval is as wide as such predictions missed",
                           e->cal->from)
           : e->transfer == OC_TRANSFER_THREADS
               ? "from another number of threads: the interval is as wide as such predictions missed; "
                 "calibrate --calibration moves it here"
               : "from another device: the interval is as wide as such predictions missed; "
                 "calibrate --calibration moves it here";
}

/* "onnxruntime, avx2" */
static const char *plan_name(struct estimate_out *o)
{
    const char *simd = oc_fusion_simd(o->e->rules), *rules = oc_fusion_rules_name(o->e->rules);
    return simd ? oc_printf(&o->arena, "%s, %s", rules, simd) : rules;
}

static void estimate_write_head(void *of, FILE *f)
{
    struct estimate_out *o = of;
    const struct oc_estimate *e = o->e;
    struct oc_arena *a = &o->arena;
    estimate_put_line(o, f, "model", e->analysis->model->path);
    estimate_put_line(o, f, "device", e->device->info->id);
    for (size_t i = 0; i < e->device->info->n_set; i++)
        estimate_put_line(o, f, "assumed", oc_hw_set_text(a, "hw", &e->device->info->set[i]));
    if (e->cal) {
        estimate_put_line(o, f, "calibration",
                          oc_printf(a, "%s, %s%s%s%s; %" PRIu32 " kernels from %" PRIu32 " recordings",
                                    e->cal->device, e->cal->runtime, *e->cal->runtime_version ? " " : "",
                                    e->cal->runtime_version, threads_of(o, e->cal), e->cal->n_sample,
                                    e->cal->n_model));
        if (e->transfer)
            estimate_put_line(o, f, "transfer", transfer_text(o));
    }
    estimate_put_line(
        o, f, "kernels",
        e->join
            ? oc_printf(
                  a, "%zu recorded, %u fused; the fusion plan (%s) predicts %u of them, %.1f %% of the time",
                  e->list.n, estimate_fused(&e->list), plan_name(o), e->match.equal,
                  100 * e->match.equal_time)
        : e->rules == OC_FUSE_NONE ? oc_printf(a, "%zu: one per node of the model", e->list.n)
                                   : oc_printf(a, "%zu predicted (fusion rules: %s), %u fused", e->list.n,
                                               plan_name(o), estimate_fused(&e->list)));
    if (e->n_unknown)
        estimate_put_line(
            o, f, "unknown",
            oc_printf(a, "%u kernel%s: excluded from the sums", e->n_unknown, oc_plural(e->n_unknown)));
    if (e->left_out > 0 && !e->pooled)
        estimate_put_line(o, f, "excluded",
                          oc_printf(a,
                                    "%s operations in %s and other types without a peak in the device file",
                                    oc_si_text(a, e->left_out, ""), oc_class_name(e->left_out_class)));
    if (e->asynchronous && !e->pooled)
        estimate_put_line(o, f, "assumed", e->asynchronous);
    write_prediction(o, f);
    write_subnormal(o, f);
    write_measured(o, f);
    fputc('\n', f);
}

static void write_verdict_and_head(void *of, FILE *f)
{
    struct estimate_out *o = of;
    estimate_put_line(o, f, "verdict", estimate_verdict(o));
    estimate_write_head(o, f);
}

static void estimate_text(void *of, FILE *f)
{
    struct estimate_out *o = of;
    for (size_t i = 0; i < o->e->list.n; i++) {
        double s = oc_estimate_kernel_s(o->e, i);
        o->all_s += isfinite(s) && !o->e->missing ? s : 0;
    }
    write_kernels(o, oc_print_counted(write_verdict_and_head, o, f), f);
}

/* ---- for machines ----------------------------------------------------------------------------------- */

static void kernel_fields(struct oc_fields *f, const void *of, size_t i)
{
    const struct oc_estimate *e = of;
    const struct oc_kernel_use *u = &e->list.item[i];
    const struct oc_prediction *p = &e->prediction[i];
    oc_field_text(f, "label", estimate_label_of(e, u, &f->arena));
    oc_field_text(f, "types", estimate_types_of(e, u, &f->arena));
    oc_field_text(f, "rule", u->rule);
    oc_field_double(f, "calls", estimate_calls_of(u));
    oc_field_double(f, "time_s", p->t_s);
    oc_field_double(f, "low80_s", p->lo80_s);
    oc_field_double(f, "high80_s", p->hi80_s);
    oc_field_double(f, "low95_s", p->lo95_s);
    oc_field_double(f, "high95_s", p->hi95_s);
    oc_field_text(f, "evidence", oc_evidence_name(p->evidence));
    oc_field_text(f, "bound_by", oc_bound_name(p->bound));
    oc_field_double(f, "decades_outside", p->decades);
    oc_field_double(f, "launch_part_s", p->t0_s);
    oc_field_double(f, "compute_part_s", p->tc_s);
    oc_field_double(f, "memory_part_s", p->tm_s);
    oc_field_double(f, "roofline_s", p->roof_s > 0 ? p->roof_s : (double)NAN);
    oc_field_double(f, "measured_s", e->measured_s ? e->measured_s[i] : (double)NAN);
    oc_kernel_fields(f, &u->kernel);
    oc_field_text(f, "operator", u->type);
    if (e->join)
        oc_field_bool(f, "planned", u->planned);
    else
        oc_field_text(f, "planned", NULL);
}

static void estimate_total_json(struct oc_json_out *w, const struct oc_estimate *e)
{
    const struct oc_model_prediction *t = &e->total;
    bool point = (e->cal || e->pooled) && t->t_s > 0;
    double none = (double)NAN;
    oc_key_object(w, "total");
    oc_key_double(w, "bound_s", e->info->bound_ns * 1e-9);
    oc_key_double(w, "time_s", point ? t->t_s : none);
    oc_key_double(w, "low80_s", point ? t->lo80_s : none);
    oc_key_double(w, "high80_s", point ? t->hi80_s : none);
    oc_key_double(w, "low95_s", point ? t->lo95_s : none);
    oc_key_double(w, "high95_s", point ? t->hi95_s : none);
    oc_key_double(w, "band_low_s", point ? none : e->band_lo_s);
    oc_key_double(w, "band_high_s", point ? none : e->band_hi_s);
    oc_key_double(w, "kernels_s", point ? t->kernels_s : none);
    oc_key_double(w, "gaps_s", point ? t->gaps_s : none);
    oc_key_double(w, "fix_s", point ? t->fix_s : none);
    oc_key_u64(w, "unknown_kernels", e->n_unknown);
    oc_key_u64(w, "subnormal_kernels", e->n_subnormal);
    oc_key_double(w, "subnormal_s", e->subnormal_s);
    oc_key_double(w, "subnormal_added_s",
                  e->n_subnormal && !(e->subnormal_added_s > 0) ? none : e->subnormal_added_s);
    oc_key_double(w, "outside_fraction", point ? t->extrapolated : none);
    oc_key_object(w, "evidence");
    for (unsigned i = 0; i < OC_EVIDENCE_COUNT; i++)
        oc_key_double(w, oc_evidence_name(i), point ? t->share[i] : none);
    oc_jw_end_object(w);
    oc_key_double(w, "compute_s", point ? t->compute_s : none);
    oc_key_double(w, "memory_s", point ? t->memory_s : none);
    oc_key_double(w, "launches_s", point ? t->t0_s : none);
    oc_key_double(w, "measured_kernels_s", e->measured_kernels_s);
    oc_key_double(w, "measured_run_s", e->measured_run_s);
    oc_jw_end_object(w);
}

static void estimate_plan_json(struct oc_json_out *w, const struct oc_estimate *e)
{
    oc_key_object(w, "plan");
    oc_key_text(w, "rules", oc_fusion_rules_name(e->rules));
    oc_key_text(w, "simd", oc_fusion_simd(e->rules));
    oc_key_text(w, "kernels_from", e->join ? "profile" : "plan");
    oc_key_u64_if(w, "recorded", e->match.recorded, e->match.recorded);
    oc_key_u64_if(w, "planned", e->match.recorded, e->match.planned);
    oc_key_u64_if(w, "equal", e->match.recorded, e->match.equal);
    oc_key_double(w, "equal_time_fraction", e->match.recorded ? e->match.equal_time : (double)NAN);
    oc_jw_end_object(w);
}

static void estimate_members(void *of, struct oc_json_out *w)
{
    static const char *const transfer[] = {[OC_TRANSFER_NONE] = NULL,
                                           [OC_TRANSFER_DEVICE] = "device",
                                           [OC_TRANSFER_THREADS] = "threads",
                                           [OC_TRANSFER_MOVED] = "moved"};
    const struct oc_estimate *e = ((const struct estimate_out *)of)->e;
    oc_key_text(w, "device", e->device->info->id);
    oc_key_array(w, "assumptions");
    oc_hw_set_json(w, e->device->info);
    oc_jw_end_array(w);
    oc_key_text(w, "calibration_device", e->cal ? e->cal->device : NULL);
    oc_key_text(w, "calibration_runtime", e->cal ? e->cal->runtime : NULL);
    oc_key_text(w, "calibration_transfer", transfer[e->transfer]);
    estimate_plan_json(w, e);
    estimate_total_json(w, e);
}

/* ---- page ------------------------------------------------------------------------------------------- */

static const struct oc_html_column estimate_columns[] = {
    {.field = "label", .title = "Kernel", .kind = OC_HTML_CODE},
    {.field = "types", .title = "Operators", .kind = OC_HTML_CODE},
    {.field = "class", .title = "Class"},
    {.field = "low80_s", .title = "80 % interval", .kind = OC_HTML_SECONDS, .high = "high80_s"},
    {.field = "time_s", .title = "Time", .kind = OC_HTML_SECONDS},
    {.field = "low80_s", .title = "Low", .kind = OC_HTML_SECONDS},
    {.field = "high80_s", .title = "High", .kind = OC_HTML_SECONDS},
    {.field = "measured_s", .title = "Measured", .kind = OC_HTML_SECONDS, .bar = true},
    {.field = "roofline_s", .title = "Roofline", .kind = OC_HTML_SECONDS},
    {.field = "calls", .title = "Calls", .kind = OC_HTML_NUMBER},
    {.field = "bound_by", .title = "Bound by"},
    {.field = "evidence", .title = "Basis"},
    {.field = "macs", .title = "MACs", .kind = OC_HTML_SI},
    {.field = "bytes_read_act", .title = "Activations read", .kind = OC_HTML_TRAFFIC},
    {.field = "bytes_read_weight", .title = "Weights read", .kind = OC_HTML_TRAFFIC},
    {.field = "bytes_written", .title = "Written", .kind = OC_HTML_TRAFFIC},
    {.field = "rule", .title = "Rule", .kind = OC_HTML_CODE},
};

static void estimate_facts(struct oc_html *h, const struct oc_estimate *e)
{
    const struct oc_model_prediction *t = &e->total;
    bool point = (e->cal || e->pooled) && t->t_s > 0;
    const struct {
        const char *title, *key;
        double s;
        bool wanted;
    } fact[] = {
        {"Prediction", "total.time_s", t->t_s, point},
        {"80 % from", "total.low80_s", t->lo80_s, point},
        {"80 % to", "total.high80_s", t->hi80_s, point},
        {"95 % from", "total.low95_s", t->lo95_s, point},
        {"95 % to", "total.high95_s", t->hi95_s, point},
        {"From (90 % of the roofline)", "total.band_low_s", e->band_lo_s, !point},
        {"To (30 % of the roofline)", "total.band_high_s", e->band_hi_s, !point},
        {"At least", "total.bound_s", e->info->bound_ns * 1e-9, true},
        {"Measured kernels", "total.measured_kernels_s", e->measured_kernels_s, e->measured_s != NULL},
        {"Measured run", "total.measured_run_s", e->measured_run_s, e->measured_s != NULL}};
    oc_html_facts_begin(h);
    for (size_t i = 0; i < OC_COUNT(fact); i++)
        if (fact[i].wanted)
            oc_html_fact_double(h, fact[i].title, fact[i].key, OC_HTML_SECONDS, fact[i].s, NULL);
    oc_html_fact_u64(h, "Kernels without a prediction", "total.unknown_kernels", OC_HTML_COUNT, e->n_unknown,
                     NULL, NULL);
    oc_html_facts_end(h);
    if (e->cal && point) {
        const struct oc_html_part part[] = {{"kernels", t->kernels_s, 0},
                                            {"between kernels", t->gaps_s, 1},
                                            {"outside kernels", t->fix_s, 2}};
        oc_html_begin(h, "parts", "Parts of the prediction");
        oc_html_strip(h, "Parts of the prediction", OC_HTML_SECONDS, part, OC_COUNT(part),
                      t->kernels_s + t->gaps_s + t->fix_s);
        oc_html_end(h);
    }
}

static void estimate_page(void *of, bool fragment, FILE *f)
{
    struct estimate_out *o = of;
    const struct oc_estimate *e = o->e;
    struct oc_html h = {.fragment = fragment};
    const struct oc_html_table t = {.id = "kernels",
                                    .title = "Kernels in execution order",
                                    .json = "kernels",
                                    .column = estimate_columns,
                                    .n_column = OC_COUNT(estimate_columns)};
    oc_html_sentence(&h, oc_printf(&h.arena, "%s.", estimate_verdict(o)));
    estimate_facts(&h, e);
    oc_html_text_of(&h, estimate_write_head, of);
    oc_html_list(&h, &t, &OC_ROWS(e->list.n, e, kernel_fields));
    oc_html_write(&h, e->analysis->model->path, "estimate", e->made, f);
}

int oc_estimate_write(const struct oc_estimate *e, const char *format, size_t top, FILE *f,
                      struct oc_err *err)
{
    struct estimate_out o = {.e = e, .top = top};
    const struct oc_output out = {.what = "an estimate",
                                  .of = &o,
                                  .text = estimate_text,
                                  .rows = OC_ROWS(e->list.n, e, kernel_fields),
                                  .key = "kernels",
                                  .schema = "onnxcost.estimate",
                                  .model = e->analysis->model->path,
                                  .members = estimate_members,
                                  .page = estimate_page};
    int rc = oc_output_write(&out, format, f, err);
    oc_arena_free(&o.arena);
    return rc;
}
