/* Values of the metrics that limits and baselines are about. */
#include "gate/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/bounds.h"
#include "onnxcost/estimate.h"
#include "onnxcost/report.h"
#include "report/columns.h"

void oc_figures_make(struct oc_figures *f, const struct oc_report_in *in, const struct oc_estimate *estimate,
                     bool cache)
{
    *f = (struct oc_figures){.in = in, .estimate = estimate, .opts = {.cache = cache}};
    f->report = (struct oc_report){.in = in};
    f->report.o = &f->opts;
    if (!in->profile && !in->device) {
        oc_measure(&f->report);
        return;
    }
    oc_report_rows(&f->report);
    oc_report_roofs(&f->report);
}

void oc_figures_free(struct oc_figures *f)
{
    oc_arena_free(&f->report.arena);
}

bool oc_node_counts(const struct oc_analysis *a, uint32_t node)
{
    return a->graph_use[a->model->node[node].graph] == OC_G_RUN && a->cost[node].state != OC_NODE_NOT_TAKEN;
}

bool oc_node_has_work(const struct oc_node_cost *k)
{
    return k->state == OC_NODE_NORMAL || k->state == OC_NODE_UNKNOWN_OP || k->state == OC_NODE_NO_SHAPE ||
           k->quality == OC_UNKNOWN || k->macs || k->flops || k->ops || k->rd_act || k->rd_wt || k->wr ||
           k->params;
}

/* ---- selection of nodes ----------------------------------------------------------------------------- */

struct part {
    const char *type, *module;
};

static bool has_node(const struct part *p, const struct oc_node *n)
{
    return (!p->type || oc_type_matches(p->type, n->domain, n->op_type)) &&
           (!p->module || oc_module_has(p->module, n->name));
}

static void figures_note(struct oc_figure_span *s, uint32_t node)
{
    s->all_node++;
    if (s->n_node == OC_FIGURE_NODES)
        return;
    OC_GROW(s->node, s->n_node, s->cap_node);
    s->node[s->n_node++] = node;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

static uint64_t figures_count_of(const struct oc_node_cost *k, enum oc_gate_metric m)
{
    switch (m) {
    case OC_GATE_MACS:
        return k->macs;
    case OC_GATE_FLOPS:
        return k->flops;
    case OC_GATE_OPS:
        return k->ops;
    case OC_GATE_PARAMS:
        return k->params;
    case OC_GATE_BYTES:
        return k->rd_act + k->rd_wt + k->wr;
    default:
        return 1;
    }
}

/* Parameters and nodes are counted also where sizes are unknown. */
static bool always_known(enum oc_gate_metric m)
{
    return m == OC_GATE_PARAMS || m == OC_GATE_NODES || m == OC_GATE_UNKNOWN;
}

static unsigned figures_quality_of(const struct oc_analysis *a, uint32_t node, enum oc_gate_metric m)
{
    const struct oc_node_cost *k = &a->cost[node];
    switch (m) {
    case OC_GATE_MACS:
        return oc_work_quality(a->op[node], k, OC_WORK_MACS);
    case OC_GATE_FLOPS:
        return oc_work_quality(a->op[node], k, OC_WORK_FLOPS);
    case OC_GATE_OPS:
        return oc_work_quality(a->op[node], k, OC_WORK_OPS);
    default:
        return always_known(m) ? OC_EXACT : k->quality;
    }
}

/* Sums cannot overflow: the larger sums of the analysis did not. */
static void sum_nodes(struct oc_figures *f, enum oc_gate_metric m, const struct part *p,
                      struct oc_figure_span *s)
{
    const struct oc_analysis *a = f->in->analysis;
    uint64_t most = 0, unknown = 0, other = 0;
    uint32_t largest = OC_NONE;
    s->bounded = true;
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        const struct oc_node_cost *k = &a->cost[i];
        if (!oc_node_counts(a, i) || !has_node(p, &a->model->node[i]))
            continue;
        unsigned quality = figures_quality_of(a, i, m);
        if (m == OC_GATE_UNKNOWN && k->quality != OC_UNKNOWN)
            continue;
        uint64_t v = quality == OC_UNKNOWN ? 0 : figures_count_of(k, m);
        s->lo.n += quality == OC_EXACT || quality == OC_LOWER ? v : 0;
        s->hi.n += v;
        s->bounded &= quality == OC_EXACT || quality == OC_UPPER;
        unknown += quality == OC_UNKNOWN;
        other += quality != OC_UNKNOWN && quality != OC_EXACT;
        if (m == OC_GATE_UNKNOWN)
            figures_note(s, i);
        else if (v > most) {
            most = v;
            largest = i;
        }
    }
    s->exact = !unknown && !other;
    if (largest != OC_NONE)
        figures_note(s, largest);
    if (!s->exact)
        s->why = oc_printf(&f->report.arena, "%llu node%s without a cost, %llu with a bound or an estimate",
                           (unsigned long long)unknown, oc_plural(unknown), (unsigned long long)other);
}

static void find_present(struct oc_figures *f, const struct part *p, struct oc_figure_span *s)
{
    const struct oc_model *m = f->in->model;
    for (uint32_t i = 0; i < m->n_node; i++)
        if (has_node(p, &m->node[i]))
            figures_note(s, i);
    s->lo.n = s->hi.n = s->all_node;
    s->bounded = s->exact = true;
}

static void set_exact(struct oc_figure_span *s, uint64_t n)
{
    s->lo.n = s->hi.n = n;
    s->bounded = s->exact = true;
}

static void set_by_quality(struct oc_figure_span *s, uint64_t n, unsigned quality, const char *why)
{
    s->exact = quality == OC_EXACT;
    s->bounded = s->exact || quality == OC_UPPER;
    s->lo.n = s->exact || quality == OC_LOWER ? n : 0;
    s->hi.n = n;
    s->why = s->exact ? NULL : why;
}

static void figures_set_memory(const struct oc_analysis *a, bool constants, struct oc_figure_span *s)
{
    set_by_quality(s, a->peak.bytes, a->peak.quality, "some sizes are bounds or unknown");
    if (constants) {
        s->lo.n += a->total->const_bytes;
        s->hi.n += a->total->const_bytes;
    }
    if (a->peak.node != OC_NONE)
        figures_note(s, a->peak.node);
}

/* With --count bytes=graph the totals are not sums over nodes. */
static void set_graph_bytes(const struct oc_analysis *a, struct oc_figure_span *s)
{
    const struct oc_totals *t = a->total;
    set_by_quality(s, t->bytes_read_act + t->bytes_read_weight + t->bytes_written, t->quality,
                   "some sizes are bounds or unknown");
}

static void set_opset(const struct oc_model *m, struct oc_figure_span *s)
{
    for (uint32_t i = 0; i < m->n_opset; i++)
        if (!*m->opset[i].domain && m->opset[i].version > 0)
            set_exact(s, (uint64_t)m->opset[i].version);
    s->bounded = s->exact = true; /* without an import no operator of it is used */
}

/* ---- times ------------------------------------------------------------------------------------------ */

static const struct oc_node *first_node(const struct oc_figures *f, const struct oc_row *row)
{
    const struct oc_join_rec *j = &f->in->join->rec[row->record];
    return j->n_node ? &f->in->model->node[j->node[0]] : NULL;
}

/* A record is selected by the runtime's type or by the type of its first node; and by that node's module. */
static bool has_row(const struct oc_figures *f, const struct part *p, const struct oc_row *row)
{
    const struct oc_node *n = first_node(f, row);
    bool typed = !p->type || (row->type && oc_type_matches(p->type, "", row->type)) ||
                 (n && oc_type_matches(p->type, n->domain, n->op_type));
    return typed && (!p->module || oc_module_has(p->module, n && *n->name ? n->name : row->name));
}

struct times {
    double time_s, roof_s, without_s; /* without: number of records without a roofline */
    const struct oc_row *longest, *worst;
    uint32_t n, without, launches;
};

static void figures_sum_times(const struct oc_figures *f, const struct part *p, struct times *t)
{
    *t = (struct times){0};
    for (uint32_t i = 0; i < f->report.all.n; i++) {
        const struct oc_row *row = &f->report.all.row[i];
        if (isnan(row->time_s) || !has_row(f, p, row))
            continue;
        double s = row->time_s;
        if (row->rates == OC_RATES_LAUNCH) {
            t->launches++;
            continue;
        }
        t->n++;
        t->time_s += s;
        if (!t->longest || row->time_s > t->longest->time_s)
            t->longest = row;
        if (isnan(row->roofline_s)) {
            t->without++;
            t->without_s += s;
            continue;
        }
        double roof_s = row->roofline_s;
        t->roof_s += roof_s;
        if (row->roof_partial) {
            t->without++;
            t->without_s += fmax(0, s - roof_s);
            continue;
        }
        if (!t->worst || row->wasted_s > t->worst->wasted_s)
            t->worst = row;
    }
}

static void point_at(struct oc_figures *f, const struct oc_row *row, struct oc_figure_span *s)
{
    const struct oc_join_rec *j = row ? &f->in->join->rec[row->record] : NULL;
    s->name = row ? row->name : NULL;
    if (j && j->n_node)
        figures_note(s, j->node[0]);
}

static void set_estimate(struct oc_figures *f, const struct part *p, struct oc_figure_span *s)
{
    if (!f->estimate || p->type || p->module) {
        s->why = f->estimate || f->in->device ? "no profile measures these operators"
                                              : "needs a profile (--profile) or a device (--hw)";
        return;
    }
    struct oc_estimate_info e = *oc_estimate_info(f->estimate);
    bool calibrated = !isnan(e.time_ns);
    s->from = calibrated ? "estimate, 80 % interval" : "estimate, interval of the roofline";
    s->lo.v = fmax(e.low_ns > 0 ? e.low_ns : 0, e.bound_ns); /* ignores an unknown bound */
    s->hi.v = e.high_ns;
    s->bounded = isfinite(e.high_ns) && !e.unknown_kernels;
    if (e.unknown_kernels)
        s->why = oc_printf(&f->report.arena, "%zu kernels cannot be estimated", e.unknown_kernels);
    else
        s->why = s->bounded ? "an estimate" : "the device file lacks figures";
}

/* A run's work and time cannot be compared with the time of an unknown number of runs. */
static bool lacks_runs(const struct oc_profile *p, struct oc_figure_span *s)
{
    if (oc_profile_runs_known(p))
        return false;
    s->why = "the profile has an unknown number of runs (--iterations N)";
    return true;
}

/* Where the profile has device times, an operator without one launched nothing that was recorded. */
static bool lacks_device_times(const struct oc_profile *p, const struct times *t, struct oc_figure_span *s)
{
    if (!t->launches || strcmp(p->time_kind, "device time") == 0)
        return false;
    s->why = "the profile has host times of launches, not device times";
    return true;
}

static void set_latency(struct oc_figures *f, const struct part *p, struct oc_figure_span *s)
{
    const struct oc_profile *prof = f->in->profile;
    struct times t;
    if (!prof) {
        set_estimate(f, p, s);
        return;
    }
    if (lacks_runs(prof, s))
        return;
    figures_sum_times(f, p, &t);
    bool whole = !p->type && !p->module && !isnan(f->report.m.latency_ns);
    if (!whole && lacks_device_times(prof, &t, s))
        return;
    if (!t.n && !whole && !p->type && !p->module) {
        s->why = "the profile has no times";
        return;
    }
    s->lo.v = s->hi.v = whole ? f->report.m.latency_ns : oc_ns_of(t.time_s);
    s->bounded = s->exact = true;
    if (whole)
        oc_recorded_of(prof, f->report.m.latency_ns, &s->recorded);
    s->from = oc_printf(&f->report.arena, "measured, %s of %u runs%s", oc_stat_name(prof->stat),
                        prof->runs_used, whole ? "" : ", sum of the operators");
    point_at(f, t.longest, s);
}

/* Operators without a roofline may have an efficiency of 0 to 1. */
static void set_efficiency(struct oc_figures *f, const struct part *p, struct oc_figure_span *s)
{
    struct times t;
    if (!f->in->profile || !f->in->device) {
        s->why = f->in->device ? "needs a profile (--profile)" : "needs a device (--hw)";
        return;
    }
    if (lacks_runs(f->in->profile, s))
        return;
    figures_sum_times(f, p, &t);
    if (lacks_device_times(f->in->profile, &t, s))
        return;
    if (!(t.time_s > 0)) {
        s->why = "the profile has no times of these operators";
        return;
    }
    s->lo.v = t.roof_s / t.time_s;
    s->hi.v = (t.roof_s + t.without_s) / t.time_s;
    s->bounded = true;
    s->exact = !t.without;
    s->from = "roofline / measured";
    if (t.without)
        s->why = oc_printf(&f->report.arena, "%u record%s no roofline", t.without,
                           t.without == 1 ? " has" : "s have");
    point_at(f, t.worst, s);
}

/* ---- one figure ------------------------------------------------------------------------------------- */

static void set_figure(struct oc_figures *f, enum oc_gate_metric m, const struct part *p,
                       struct oc_figure_span *s)
{
    const struct oc_analysis *a = f->in->analysis;
    bool whole = !p->type && !p->module;
    switch (m) {
    case OC_GATE_PRESENT:
        find_present(f, p, s);
        break;
    case OC_GATE_WEIGHT_BYTES:
        set_exact(s, a->total->const_bytes);
        break;
    case OC_GATE_PEAK:
    case OC_GATE_MEMORY:
        figures_set_memory(a, m == OC_GATE_MEMORY, s);
        break;
    case OC_GATE_OPSET:
        set_opset(a->model, s);
        break;
    case OC_GATE_LATENCY:
        set_latency(f, p, s);
        break;
    case OC_GATE_EFFICIENCY:
        set_efficiency(f, p, s);
        break;
    default:
        if (m == OC_GATE_BYTES && whole && a->total->bytes_bound)
            set_graph_bytes(a, s);
        else
            sum_nodes(f, m, p, s);
        if (m == OC_GATE_PARAMS && whole) /* some records may belong to no node */
            s->lo.n = s->hi.n = a->total->params;
    }
}

/* Largest figure of the whole model over the ranges: that of a size that was evaluated, and its proven bound.
 */
static bool set_over_ranges(const struct oc_figures *f, enum oc_gate_metric m, struct oc_figure_span *s)
{
    static const uint8_t figure[OC_GATE_METRICS] = {
        [OC_GATE_MACS] = OC_RANGE_MACS + 1,    [OC_GATE_FLOPS] = OC_RANGE_FLOPS + 1,
        [OC_GATE_OPS] = OC_RANGE_OPS + 1,      [OC_GATE_BYTES] = OC_RANGE_BYTES + 1,
        [OC_GATE_PEAK] = OC_RANGE_PEAK + 1,    [OC_GATE_MEMORY] = OC_RANGE_MEMORY + 1,
        [OC_GATE_PARAMS] = OC_RANGE_PARAMS + 1};
    if (!f->bounds || !figure[m])
        return false;
    const struct oc_range_bound *b = oc_bounds_figure(f->bounds, (enum oc_range_figure)(figure[m] - 1));
    s->lo.n = b->most;
    s->hi.n = b->high;
    s->bounded = b->proven;
    s->exact = b->proven && b->high == b->most;
    s->at = oc_bounds_sizes(f->bounds, b->at_most);
    s->why = b->proven ? "no size that was evaluated has the bound" : b->why;
    return true;
}

void oc_figure(struct oc_figures *f, enum oc_gate_metric m, const char *type, const char *module,
               struct oc_figure_span *out)
{
    const struct part p = {type, module};
    char label[512];
    *out = (struct oc_figure_span){0};
    if (type || module || !set_over_ranges(f, m, out))
        set_figure(f, m, &p, out);
    if (!out->name && out->n_node)
        out->name = oc_strdup(&f->report.arena, oc_node_label(f->in->model, &f->in->model->node[out->node[0]],
                                                              label, sizeof(label)));
}

bool oc_figures_has(const struct oc_figures *f, const char *type, const char *module)
{
    const struct part p = {type, module};
    const struct oc_model *m = f->in->model;
    for (uint32_t i = 0; i < m->n_node; i++)
        if (has_node(&p, &m->node[i]))
            return true;
    for (uint32_t i = 0; i < f->report.all.n && f->in->join; i++)
        if (has_row(f, &p, &f->report.all.row[i]))
            return true;
    return false;
}
