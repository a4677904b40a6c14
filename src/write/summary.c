/* The lines above the table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/report.h"
#include "report/headline.h"
#include "report/report.h"
#include "write/report_write.h"

struct sum { /* the context of every part below */
    struct oc_report *r;
    struct oc_arena *arena;
    struct oc_summary *out;
};

static void summary_add_line(struct sum *s, const char *label, const char *text, bool detail)
{
    OC_GROW(s->out->line, s->out->n, s->out->cap);
    s->out->line[s->out->n++] = (struct oc_summary_line){label, text, detail};
}

/* A warning: printed without -v too. */
static void add_warning(struct sum *s, const char *label, const char *text)
{
    summary_add_line(s, label, text, false);
}

static void summary_add(struct sum *s, const char *label, const char *text)
{
    summary_add_line(s, label, text, true);
}

/* ---- the model -------------------------------------------------------------------------------------- */

static const char *opset_text(struct sum *s, const struct oc_model *m)
{
    const char *text = "";
    for (uint32_t i = 0; i < m->n_opset; i++)
        text = oc_printf(s->arena, "%s%s%s%s%" PRId64, text, *text ? ", " : "", m->opset[i].domain,
                         m->opset[i].domain[0] ? " " : "", m->opset[i].version);
    return text;
}

enum { MAX_VALUES = 8 };

static void summary_values(struct sum *s, const char *label, const uint32_t *value, uint32_t n,
                           bool skip_constants)
{
    const struct oc_analysis *a = s->r->in->analysis;
    const struct oc_model *m = a->model;
    uint32_t shown = 0, left = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_value *v = &m->value[value[i]];
        if (skip_constants && v->constant)
            continue;
        if (shown == MAX_VALUES) {
            left++;
            continue;
        }
        shown++;
        summary_add(
            s, label,
            oc_printf(s->arena, "%s  %s", v->name, oc_type_text(s->arena, a->exprs, &a->type[value[i]])));
    }
    if (left)
        summary_add(s, label, oc_printf(s->arena, "and %u more", left));
}

static void model_part(struct sum *s)
{
    const struct oc_model *m = s->r->in->model;
    const struct oc_graph *g = &m->graph[0];
    const char *by = m->producer_name && *m->producer_name
                         ? oc_printf(s->arena, ", by %s%s%s", m->producer_name,
                                     m->producer_version && *m->producer_version ? " " : "",
                                     m->producer_version ? m->producer_version : "")
                         : "";
    summary_add(s, "model file",
                oc_printf(s->arena, "%s  (opset %s; IR %" PRId64 "%s)", m->path, opset_text(s, m),
                          m->ir_version, by));
    summary_values(s, "all inputs", g->input, g->n_input, true);
    summary_values(s, "outputs", g->output, g->n_output, false);
}

/* Node at the peak. */
static void activation_part(struct sum *s)
{
    const struct oc_peak *p = &s->r->in->analysis->peak;
    const struct oc_model *m = s->r->in->model;
    char label[256];
    if (p->quality == OC_UNKNOWN || p->node == OC_NONE)
        return;
    summary_add(s, "peak activation memory",
                oc_printf(s->arena, "%s%s at %s", oc_quality_word(p->quality),
                          oc_bytes_text(s->arena, (double)p->bytes),
                          oc_node_label(m, &m->node[p->node], label, sizeof(label))));
}

static void summary_cost_part(struct sum *s)
{
    const struct oc_totals *t = s->r->in->analysis->total;
    bool none = t->nodes && t->unknown_nodes == t->nodes;
    const char *rough = oc_quality_word(t->quality);
    double moved = (double)t->bytes_read_act + (double)t->bytes_read_weight + (double)t->bytes_written;
    if (none) {
        return;
    }
    if (t->ops)
        summary_add(s, "int OPs",
                    oc_printf(s->arena, "%s%s  (%s)", rough, oc_count_text(s->arena, t->ops),
                              oc_si_text(s->arena, (double)t->ops, "OP")));
    summary_add(s, "bytes moved",
                oc_printf(s->arena, "%s%s: %s %s and %s weights read, %s written",
                          t->bytes_bound ? "at least " : rough, oc_si_text(s->arena, moved, "B"),
                          oc_si_text(s->arena, (double)t->bytes_read_act, "B"),
                          t->bytes_bound ? "inputs" : "activations",
                          oc_si_text(s->arena, (double)t->bytes_read_weight, "B"),
                          oc_si_text(s->arena, (double)t->bytes_written, "B")));
    activation_part(s);
}

enum { MAX_TYPES = 5, MAX_ASSUMED = 12, MAX_NAMES = 8 };

static void type_part(struct sum *s)
{
    const struct oc_analysis *a = s->r->in->analysis;
    double all = (double)a->total->flops + (double)a->total->ops;
    const char *text = "";
    for (uint32_t i = 0; i < a->n_by_type && i < MAX_TYPES && all > 0; i++) {
        const struct oc_type_total *t = &a->by_type[i];
        if (t->flops + t->ops)
            text = oc_printf(s->arena, "%s%s%s %.1f %% (%" PRIu64 ")", text, *text ? ", " : "", t->op_type,
                             100 * ((double)t->flops + (double)t->ops) / all, t->nodes);
    }
    if (*text)
        summary_add(s, oc_work_words(s->r, "FLOPs by type"), text);
}

static void unknown_part(struct sum *s)
{
    const struct oc_analysis *a = s->r->in->analysis;
    const struct oc_model *m = a->model;
    struct oc_map seen = {.arena = s->arena};
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_node; i++) {
        uint32_t old = 0;
        if (a->cost[i].state != OC_NODE_UNKNOWN_OP)
            continue;
        const char *domain = m->node[i].domain;
        const char *name = oc_printf(s->arena, "%s%s%s", domain, *domain ? ":" : "", m->node[i].op_type);
        if (!oc_map_add(&seen, name, strlen(name), &old, NULL))
            continue;
        if (n++ < MAX_NAMES)
            add_warning(s, "warnings",
                        oc_printf(s->arena, "operator %s has no rule: its cost is unknown", name));
    }
    if (n > MAX_NAMES)
        add_warning(s, "warnings", oc_printf(s->arena, "%u more operators have no rule", n - MAX_NAMES));
    oc_map_free(&seen);
}

static void assumption_part(struct sum *s)
{
    const struct oc_analysis *a = s->r->in->analysis;
    for (uint32_t i = 0; i < a->n_assumption && i < MAX_ASSUMED; i++) {
        const struct oc_assumption *q = &a->assumption[i];
        summary_add(s, "assumptions",
                    oc_printf(s->arena, "%s %s = %s%s%s", q->what, q->name, q->value,
                              q->reason && *q->reason ? ": " : "", q->reason ? q->reason : ""));
    }
    if (a->n_assumption > MAX_ASSUMED)
        summary_add(s, "assumptions", oc_printf(s->arena, "and %u more", a->n_assumption - MAX_ASSUMED));
}

/* ---- the profile ------------------------------------------------------------------------------------ */

static void profile_part(struct sum *s)
{
    summary_add(s, "profile file", s->r->in->profile->path);
}

static void time_type_part(struct sum *s)
{
    struct group {
        const char *type;
        double time_s;
        uint32_t n;
    } *group = NULL;
    uint32_t n = 0, cap = 0;
    struct oc_map seen = {.arena = s->arena};
    for (uint32_t i = 0; i < s->r->all.n; i++) {
        const struct oc_row *row = &s->r->all.row[i];
        uint32_t at = n;
        if (isnan(row->time_s))
            continue;
        if (oc_map_add(&seen, row->type, strlen(row->type), &at, NULL)) {
            OC_GROW(group, n, cap);
            group[n++] = (struct group){.type = row->type};
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a type that was seen has its place */
        group[at].time_s += row->time_s;
        group[at].n++;
    }
    const char *text = "";
    for (uint32_t k = 0; k < MAX_TYPES && k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < n; i++)
            if (group[i].time_s > group[best].time_s)
                best = i;
        struct group g = group[best];
        group[best] = group[k];
        text = oc_printf(s->arena, "%s%s%s %.1f %% (%u)", text, *text ? ", " : "", *g.type ? g.type : "?",
                         100 * g.time_s / s->r->total_s, g.n);
    }
    if (*text && s->r->total_s > 0)
        summary_add(s, "time by type", text);
    free(group);
    oc_map_free(&seen);
}

/* Time outside operators; time that the join excludes has its own lines. */
static void bucket_part(struct sum *s)
{
    const struct oc_bucket_sum *b;
    uint32_t n = oc_report_buckets(s->r, &b);
    for (uint32_t i = 0; i < n; i++) {
        if (!b[i].of_profile)
            continue;
        const char *kernel = isnan(b[i].kernel_ns) ? "" : oc_time_text(s->arena, b[i].kernel_ns, "unknown");
        summary_add(
            s, "outside operators",
            isnan(b[i].time_ns) ? oc_printf(s->arena, "%s: %s", b[i].name, *kernel ? kernel : "unknown time")
            : *kernel
                ? oc_printf(s->arena, "%s: %s  (kernels: %s)", b[i].name,
                            oc_time_text(s->arena, b[i].time_ns, "unknown"), kernel)
                : oc_printf(s->arena, "%s: %s", b[i].name, oc_time_text(s->arena, b[i].time_ns, "unknown")));
    }
}

/* "time accounting  1.2 ms = 1 ms operators + 0.1 ms framework + 0.1 ms load": over all calls in the
 * profile. */
static void conserved_part(struct sum *s, bool device)
{
    struct oc_conserved c;
    const struct oc_bucket_sum *b;
    uint32_t n = oc_report_buckets(s->r, &b);
    oc_profile_conserved(s->r->in->profile, device, &c);
    if (isnan(c.lost_ns))
        return;
    const char *text = oc_printf(s->arena, "%s%s =", oc_time_text(s->arena, c.imported_ns, "unknown"),
                                 device ? " on the device" : "");
    const struct oc_join *j = s->r->in->join;
    const struct oc_join_time *t = !j ? NULL : device ? &j->device : &j->host;
    text =
        t ? oc_printf(s->arena, "%s %s nodes + %s groups", text,
                      oc_time_text(s->arena, t->nodes_ns, "unknown"),
                      oc_time_text(s->arena, t->groups_ns, "unknown"))
          : oc_printf(s->arena, "%s %s operators", text, oc_time_text(s->arena, c.operators_ns, "unknown"));
    for (uint32_t i = 0; i < n; i++) {
        double ns = device ? b[i].total_kernel_ns : b[i].total_ns;
        if (!isnan(ns))
            text = oc_printf(s->arena, "%s + %s %s", text, oc_time_text(s->arena, ns, "unknown"), b[i].name);
    }
    if (oc_time_is_lost(c.lost_ns, c.imported_ns))
        text = oc_printf(s->arena, "%s + %s LOST", text, oc_time_text(s->arena, c.lost_ns, "unknown"));
    summary_add(s, "time accounting", text);
}

/* ---- the join --------------------------------------------------------------------------------------- */

static const char *summary_percent(struct sum *s, double fraction)
{
    return isnan(fraction) ? "?" : oc_printf(s->arena, "%.1f %%", 100 * fraction);
}

/* Rows without a node: runtime-inserted and unattributed. */
static void overhead_part(struct sum *s)
{
    const struct oc_bucket_sum *b;
    uint32_t n = oc_report_buckets(s->r, &b);
    for (uint32_t i = 0; i < n; i++) {
        double ns = isnan(b[i].kernel_ns) ? b[i].time_ns : b[i].kernel_ns;
        if (!b[i].of_profile)
            summary_add(s, "runtime-inserted",
                        oc_printf(s->arena, "%s: %s (%u row%s)", b[i].name,
                                  isnan(ns) ? "?" : oc_time_text(s->arena, ns, "unknown"), b[i].records,
                                  oc_plural(b[i].records)));
    }
}

/* Functions are not matched to nodes: compares their classes with those of the operators. */
static void class_part(struct sum *s)
{
    const struct oc_class_share *c;
    uint32_t n = oc_class_shares(s->r->in, s->arena, &c);
    for (uint32_t i = 0; i < n; i++) {
        const char *flops = isnan(c[i].flop_share)
                                ? ""
                                : oc_printf(s->arena, "; FLOPs %.1f %% (%u node%s)", 100 * c[i].flop_share,
                                            c[i].nodes, oc_plural(c[i].nodes));
        summary_add(s, "class",
                    oc_printf(s->arena, "%s: %s %.1f %% (%u functions)%s",
                              *c[i].name ? c[i].name : "(no class by name)",
                              s->r->in->profile->event ? s->r->in->profile->event : "CPU time",
                              100 * c[i].time_share, c[i].functions, flops));
    }
}

/* MACs from the source's own description of its layers. */
static void own_macs_part(struct sum *s)
{
    const struct oc_profile *p = s->r->in->profile;
    uint64_t macs = 0;
    uint32_t n = 0, unknown = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        if (r->has_macs && !oc_add_u64(macs, r->macs, &macs))
            return;
        n += r->has_macs;
        unknown += !r->has_macs && !r->bucket && !r->overhead;
    }
    if (n)
        summary_add(s, "MACs",
                    oc_printf(s->arena, "%s%s", oc_count_text(s->arena, macs),
                              unknown ? oc_printf(s->arena, "  (rows without a count: %u)", unknown) : ""));
}

/* By the profiled shapes, which may differ from those of the model. */
static void executed_part(struct sum *s)
{
    const struct oc_join_executed *e = &s->r->in->join->executed;
    if (!e->known || !e->macs)
        return;
    const char *padding = e->padded
                              ? oc_printf(s->arena, ", %s of them on channels added by padding (%u rows)",
                                          oc_count_text(s->arena, e->padding_macs), e->padded)
                              : "";
    const char *rest =
        e->from_model
            ? oc_printf(s->arena, "; %u rows without shapes, counted as in the model", e->from_model)
            : "";
    summary_add(
        s, "executed MACs",
        oc_printf(s->arena, "%s (profiled shapes)%s%s", oc_count_text(s->arena, e->macs), padding, rest));
}

/* The MACs of the rows are those of the model. */
static void work_part(struct sum *s)
{
    const struct oc_join_work *w = &s->r->in->join->work;
    if (w->known)
        summary_add(
            s, "work",
            oc_printf(s->arena, "MACs: rows %s of the model's %s (%s), %s eliminated, %s not attributed",
                      oc_count_text(s->arena, w->row_macs), oc_count_text(s->arena, w->model_macs),
                      summary_percent(s, (double)w->row_macs / (double)w->model_macs),
                      oc_count_text(s->arena, w->eliminated_macs), oc_count_text(s->arena, w->lost_macs)));
}

static void join_part(struct sum *s)
{
    const struct oc_join *j = s->r->in->join;
    double all_ns = j->mapped_ns + j->overhead_ns + j->unmatched_ns;
    summary_add(
        s, "attribution",
        oc_printf(
            s->arena, "time: %s attributed, %s runtime-inserted, %s unattributed; FLOPs: %s attributed%s",
            summary_percent(s, j->time_matched_fraction), summary_percent(s, j->overhead_ns / all_ns),
            summary_percent(s, j->unmatched_ns / all_ns), summary_percent(s, j->flops_matched_fraction),
            j->nodes_without_time ? oc_printf(s->arena, "; %u nodes without a time", j->nodes_without_time)
                                  : ""));
    work_part(s);
    executed_part(s);
    overhead_part(s);
    for (uint32_t i = 0; i < j->n_unmatched && i < MAX_NAMES; i++) {
        const struct oc_prof_rec *rec = &j->profile->rec[j->unmatched[i]];
        summary_add(s, "unattributed",
                    oc_printf(s->arena, "%s  %s  %s", rec->name, rec->op_type,
                              oc_time_text(s->arena, rec->self_ns, "unknown")));
    }
    if (j->n_unmatched > MAX_NAMES)
        summary_add(s, "unattributed", oc_printf(s->arena, "and %u more", j->n_unmatched - MAX_NAMES));
}

/* ---- the hardware ----------------------------------------------------------------------------------- */

static void peak_part(struct sum *s)
{
    const struct oc_device *d = s->r->in->device;
    unsigned cls = oc_report_class(s->r);
    unsigned unit = d->peak[OC_HW_MATRIX][cls] ? OC_HW_MATRIX : OC_HW_VECTOR;
    const struct oc_hw_figure *peak = d->peak[unit][cls];
    const struct oc_hw_level *dram = oc_device_dram(d);
    if (!peak) {
        summary_add(s, "peak", oc_printf(s->arena, "the hardware file has no %s peak", oc_class_name(cls)));
        return;
    }
    const char *memory = !dram || !dram->bandwidth
                             ? ""
                             : oc_printf(s->arena, ", %s, ridge point %.1f FLOP/B",
                                         oc_si_text(s->arena, dram->bandwidth->value, "B/s"),
                                         peak->value / dram->bandwidth->value);
    summary_add(s, "peak",
                oc_printf(s->arena, "%s %s (%s unit, %s)%s", oc_class_name(cls),
                          oc_si_text(s->arena, peak->value, peak->unit), oc_hw_unit_name(unit),
                          oc_basis_name(peak->basis), memory));
}

/* "efficiency above 100 %: 5 rows (too short for the clock), 2 rows (its bytes fit into a cache)" */
static void too_fast_part(struct sum *s)
{
    const char *text = "", *done[8] = {NULL};
    for (size_t k = 0; k < OC_COUNT(done) && s->r->n_too_fast; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < s->r->all.n; i++) {
            const char *why = s->r->all.row[i].above_roof;
            bool told = !why;
            for (size_t d = 0; d < k && !told; d++)
                told = strcmp(done[d], why) == 0;
            if (told || (done[k] && strcmp(done[k], why) != 0))
                continue;
            done[k] = why;
            n++;
        }
        if (!done[k])
            break;
        text = oc_printf(s->arena, "%s%s%u (%s)", text, k ? ", " : "", n, done[k]);
    }
    if (*text)
        add_warning(s, "warnings",
                    oc_printf(s->arena, "efficiency above 100 %% in %u of %u operators: %s", s->r->n_too_fast,
                              s->r->all.n, text));
}

/* Lists these rows with --count cache=on or --roofline: "Relu_3  109.5 %: too short for the clock". */
static void too_fast_rows(struct sum *s)
{
    uint32_t n = 0;
    if (!s->r->o->cache && !s->r->o->roofline)
        return;
    for (uint32_t i = 0; i < s->r->all.n; i++) {
        const struct oc_row *row = &s->r->all.row[i];
        if (row->above_roof && n++ < MAX_NAMES)
            summary_add(
                s, "efficiency above 100 %",
                oc_printf(s->arena, "%s  %.1f %%: %s", row->name, 100 * row->efficiency, row->above_roof));
    }
    if (n > MAX_NAMES)
        summary_add(s, "efficiency above 100 %",
                    oc_printf(s->arena, "and %u more (--order-by efficiency)", n - MAX_NAMES));
}

/* "time by bound: DRAM 63.1 % (31 rows), compute:vector 36.9 % (24)" */
static void bound_part(struct sum *s, const struct oc_row_bounds *b)
{
    const char *text = "";
    for (uint32_t i = 0; i < b->n_share; i++)
        text = oc_printf(s->arena, "%s%s%s %.1f %% (%u)", text, i ? ", " : "", b->share[i].name,
                         100 * oc_bound_fraction(b, &b->share[i]), b->share[i].rows);
    if (*text && b->roof_s > 0)
        summary_add(s, "bound by",
                    oc_printf(s->arena, "%s%s", isnan(b->time_s) ? "of the roofline time: " : "", text));
}

static void hardware_part(struct sum *s)
{
    struct oc_row_bounds b;
    oc_bounds_of(s->r, &b);
    if (b.time_s > 0)
        summary_add(s, "gap to roofline",
                    oc_printf(s->arena, "%s%s", oc_time_text(s->arena, b.wasted_s * 1e9, "unknown"),
                              s->r->o->cache ? " (transfers at the smallest memory level that fits)" : ""));
    too_fast_part(s);
    too_fast_rows(s);
    bound_part(s, &b);
    peak_part(s);
}

static void set_part(struct sum *s)
{
    const struct oc_device_info *d = oc_device_info(s->r->in->device);
    for (size_t i = 0; i < d->n_set; i++)
        summary_add(s, "assumptions", oc_hw_set_text(s->arena, "hw", &d->set[i]));
}

/* ---- warnings --------------------------------------------------------------------------------------- */

enum { MAX_WARNINGS = 3 }; /* printed without -v */

static uint32_t warnings(struct sum *s, const struct oc_diag *d, size_t n, uint32_t shown)
{
    for (size_t i = 0; i < n; i++) {
        if (d[i].severity == OC_INFO || !strcmp(d[i].code, "W-unknown-op") || /* see unknown_part */
            oc_is_mismatch(&d[i]))                                            /* the first line */
            continue;
        if (shown++ < MAX_NAMES)
            summary_add_line(s, "warnings",
                             oc_printf(s->arena, "%s%s%s [%s]", d[i].where ? d[i].where : "",
                                       d[i].where && *d[i].where ? ": " : "", d[i].text, d[i].code),
                             shown > MAX_WARNINGS);
    }
    return shown;
}

static void warning_part(struct sum *s)
{
    const struct oc_diag *d = NULL;
    uint32_t shown = 0;
    for (unsigned source = 0; source < OC_FINDING_SOURCES; source++) {
        size_t n = oc_findings_of(s->r->in, source, &d);
        shown = warnings(s, d, n, shown);
    }
    if (shown > MAX_WARNINGS && !s->r->o->verbose)
        add_warning(s, "warnings", oc_printf(s->arena, "%u more with -v", shown - MAX_WARNINGS));
    if (shown > MAX_NAMES && s->r->o->verbose)
        summary_add(s, "warnings", oc_printf(s->arena, "%u more with --format json", shown - MAX_NAMES));
}

void oc_report_summary(struct oc_report *r, struct oc_summary *out)
{
    struct sum s = {.r = r, .arena = &r->arena, .out = out};
    oc_main_lines(r, out);
    if (r->in->model && r->in->analysis) {
        model_part(&s);
        summary_cost_part(&s);
    }
    if (r->in->profile) {
        profile_part(&s);
        class_part(&s);
        if (r->in->join && !r->in->profile->functions) {
            join_part(&s);
        } else if (!r->in->join) {
            own_macs_part(&s);
            overhead_part(&s);
        }
        bucket_part(&s);
        conserved_part(&s, false);
        conserved_part(&s, true);
    }
    if (r->in->device)
        hardware_part(&s);
    if (r->has_time && !(r->in->profile && r->in->profile->functions))
        time_type_part(&s);
    if (r->in->analysis) {
        type_part(&s);
        unknown_part(&s);
        assumption_part(&s);
    }
    if (r->in->device)
        set_part(&s);
    warning_part(&s);
}
