/* What a report says first: warnings, latency and rates of the run, classes of functions. */
#include "report/headline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/map.h"
#include "base/str.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "model/model.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "profile/core/kernel_names.h"
#include "profile/profile.h"
#include "report/columns.h"
#include "report/names.h"
#include "report/report.h"

/* ---- warnings --------------------------------------------------------------------------------------- */

static bool begins(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* "cpu", "gpu" or NULL: not known. */
static const char *recorded_on(const struct oc_profile *p)
{
    static const char *const gpus[] = {"CUDA", "GPU", "ROCm", "NVIDIA", "Tesla", "GeForce", "Quadro", "AMD"};
    if (begins(p->device, "CPU"))
        return "cpu";
    for (size_t i = 0; i < OC_COUNT(gpus); i++)
        if (begins(p->device, gpus[i]))
            return "gpu";
    return NULL;
}

/* Efficiency and gap compare measured times with the device: they mean nothing on another kind of device. */
static size_t device_findings(const struct oc_report_in *in, const struct oc_diag **d)
{
    static const struct oc_diag on_cpu = {
        OC_WARNING, OC_DIAG_OTHER_DEVICE, "--hw",
        "the profile was recorded on a CPU, but this device is not a CPU: efficiency and gap to roofline are "
        "those of "
        "other hardware; give the CPU, or --what-if hw=NAME for a forecast"};
    static const struct oc_diag on_gpu = {
        OC_WARNING, OC_DIAG_OTHER_DEVICE, "--hw",
        "the profile was recorded on a GPU, but this device is not a GPU: efficiency and gap to roofline are "
        "those of "
        "other hardware; give the GPU, or --what-if hw=NAME for a forecast"};
    const char *on = in->profile && in->device ? recorded_on(in->profile) : NULL;
    const char *kind = on ? in->device->info->kind : NULL;
    if (!kind || !*kind || strcmp(on, kind) == 0)
        return 0;
    *d = strcmp(on, "cpu") == 0 ? &on_cpu : &on_gpu;
    return 1;
}

size_t oc_headlines(const struct oc_report_in *in, struct oc_diag *out, size_t max)
{
    static const char *const first[] = {OC_DIAG_WRONG_MODEL, OC_DIAG_OTHER_MODEL, OC_DIAG_OTHER_DEVICE};
    size_t n = 0;
    for (size_t k = 0; k < OC_COUNT(first); k++)
        for (unsigned source = 0; source < OC_FINDING_SOURCES; source++) {
            const struct oc_diag *d = NULL;
            size_t count = oc_findings_of(in, source, &d);
            for (size_t i = 0; i < count && n < max; i++)
                if (strcmp(d[i].code, first[k]) == 0)
                    out[n++] = d[i];
        }
    return n;
}

bool oc_is_mismatch(const struct oc_diag *d)
{
    return strcmp(d->code, OC_DIAG_WRONG_MODEL) == 0 || strcmp(d->code, OC_DIAG_OTHER_MODEL) == 0;
}

size_t oc_mismatches(const struct oc_report_in *in, const char *text[OC_MAX_MISMATCHES])
{
    struct oc_diag d[OC_MAX_MISMATCHES];
    size_t all = oc_headlines(in, d, OC_MAX_MISMATCHES), n = 0;
    for (size_t i = 0; i < all; i++)
        if (oc_is_mismatch(&d[i]))
            text[n++] = d[i].text;
    return n;
}

size_t oc_findings_of(const struct oc_report_in *in, unsigned source, const struct oc_diag **d)
{
    switch (source) {
    case 0:
        return in->model ? oc_model_diags(in->model, d) : 0;
    case 1:
        return in->analysis ? oc_analysis_diags(in->analysis, d) : 0;
    case 2:
        return in->profile ? oc_profile_diags(in->profile, d) : 0;
    case 4:
        return device_findings(in, d);
    default:
        return in->join ? oc_join_diags(in->join, d) : 0;
    }
}

const char *oc_severity_name(const struct oc_diag *d)
{
    static const char *const name[] = {[OC_INFO] = "info", [OC_WARNING] = "warning", [OC_ERROR] = "error"};
    return name[d->severity <= OC_ERROR ? d->severity : OC_ERROR];
}

/* ---- headline --------------------------------------------------------------------------------------- */

struct work { /* of the operators that have a time */
    double flops, ops, bytes;
    double operations, operations_s; /* of those with operations */
    double time_s;
    bool counted, moved;
    bool launches; /* some of the times are not those of the work */
    unsigned flops_quality, bytes_quality;
};

/* A figure is known where its row's quality is that of another figure. */
static unsigned quality_of(double value, unsigned quality)
{
    return isnan(value) ? OC_UNKNOWN : quality == OC_UNKNOWN ? OC_EXACT : quality;
}

static void headline_add_row(const struct oc_row *row, struct work *w)
{
    bool launch = row->rates == OC_RATES_LAUNCH;
    if (isnan(row->time_s))
        return;
    w->launches |= launch;
    w->time_s += launch ? 0 : row->time_s;
    if (!isnan(row->computation)) {
        w->counted = true;
        w->ops += row->int_ops;
        w->flops += row->computation - row->int_ops;
        w->operations += launch ? 0 : row->computation;
        w->operations_s += launch ? 0 : row->time_s;
    }
    w->flops_quality = oc_quality_add(w->flops_quality, quality_of(row->computation, row->quality));
    w->bytes_quality = oc_quality_add(w->bytes_quality, quality_of(row->memory, row->quality));
    if (!isnan(row->memory)) {
        w->moved = true;
        w->bytes += row->memory;
    }
}

/* The model's work is that of one run, so its rates need the time of one; the work that the profile itself
 * reports was done in the profile's time. */
static void set_rates(const struct oc_report *r, double all_ns, struct oc_headline *out)
{
    struct work w = {0};
    if (!(all_ns > 0) || (r->in->join && !oc_profile_runs_known(r->in->profile)))
        return;
    for (uint32_t i = 0; i < r->all.n; i++)
        headline_add_row(&r->all.row[i], &w);
    if (w.launches && (isnan(r->in->profile->run_ns) || !(w.time_s > 0)))
        return;
    out->flops_quality = (uint8_t)w.flops_quality;
    out->bytes_quality = (uint8_t)w.bytes_quality;
    out->counted_share = w.time_s > 0 ? w.operations_s / w.time_s : (double)NAN;
    /* at least 0 is unknown */
    if (w.counted && (w.operations > 0 || w.flops_quality != OC_LOWER)) {
        out->flops_per_s = w.flops / all_ns * 1e9;
        out->ops_per_s = w.ops / all_ns * 1e9;
        out->operator_flops_per_s = w.operations_s > 0 ? w.operations / w.operations_s : (double)NAN;
    }
    if (w.moved && (w.bytes > 0 || w.bytes_quality != OC_LOWER))
        out->bytes_per_s = w.bytes / all_ns * 1e9;
}

static void set_energy(const struct oc_report *r, struct oc_headline *out)
{
    double energy_j = 0, time_s = 0;
    bool all = true;
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        all = all && (isnan(row->time_s) || !isnan(row->energy_j));
        if (isnan(row->energy_j))
            continue;
        energy_j += row->energy_j;
        time_s += isnan(row->time_s) ? 0 : row->time_s;
    }
    out->energy_j = energy_j;
    out->energy_quality = all ? OC_EXACT : OC_LOWER;
    out->power_w = time_s > 0 ? energy_j / time_s : (double)NAN;
}

void oc_headline_of(const struct oc_report *r, struct oc_headline *out)
{
    const struct oc_profile *p = r->in->profile;
    const double none = (double)NAN;
    *out = (struct oc_headline){.total_ns = none,
                                .run_ns = none,
                                .busy_ns = none,
                                .inferences_per_s = none,
                                .flops_per_s = none,
                                .ops_per_s = none,
                                .bytes_per_s = none,
                                .counted_share = none,
                                .operator_flops_per_s = none,
                                .energy_j = none,
                                .power_w = none};
    if (!p)
        return;
    out->run_ns = r->m.latency_ns;
    out->total_ns = isnan(out->run_ns) ? r->m.total_ns : out->run_ns;
    if (!isnan(out->run_ns)) {
        out->busy_ns = r->m.busy_ns;
        out->busy_host = p->imported_ns > 0 && !p->busy_on_device && oc_equal(p->time_kind, "device time");
        /* runs may overlap: their throughput is not the inverse of the latency */
        out->inferences_per_s = p->runs_per_s > 0 ? p->runs_per_s
                                : out->run_ns > 0 ? 1e9 / oc_of_one_run(&r->m, out->run_ns)
                                                  : none;
    }
    set_rates(r, out->total_ns, out);
    if (r->has_energy)
        set_energy(r, out);
}

const char *oc_headline_runs_text(const struct oc_profile *p, struct oc_arena *a)
{
    if (!oc_profile_runs_known(p))
        return "an unknown number of runs";
    unsigned n = p->spread.n > 1 ? p->spread.n : p->runs_used; /* runs with a time */
    const char *of = p->runs_total > n && !p->beside ? oc_printf(a, " of %u", p->runs_total) : "";
    return oc_printf(a, "%u%s run%s%s%s%s", n, of, n == 1 && !*of ? "" : "s",
                     p->runs_from == OC_RUNS_REPEAT ? " found by repetition, confidence " : "",
                     p->runs_confidence ? p->runs_confidence : "",
                     p->runs_from == OC_RUNS_GIVEN ? " as given" : "");
}

/* "trimmed mean of 4", "fastest": which of the runs the time is. */
static const char *stat_text(const struct oc_profile *p, struct oc_arena *a)
{
    static const char *const name[] = {[OC_STAT_MEAN] = "mean",
                                       [OC_STAT_MEDIAN] = "median",
                                       [OC_STAT_MIN] = "fastest",
                                       [OC_STAT_MAX] = "slowest",
                                       [OC_STAT_SUM] = "sum"};
    if (p->stat != OC_STAT_TYPICAL)
        return name[p->stat];
    return p->runs_selected && p->runs_selected < p->runs_used
               ? oc_printf(a, "trimmed mean of %u", p->runs_selected)
               : "mean";
}

static const char *latency_text(struct oc_report *r, struct oc_arena *a)
{
    const struct oc_profile *p = r->in->profile;
    const struct oc_run_spread *s = &p->spread;
    char run[32], low[32], high[32], middle[32];
    struct oc_headline h;
    oc_headline_of(r, &h);
    if (isnan(h.run_ns) && oc_profile_runs_known(p))
        return oc_printf(a, "%s in the operators before the end of the truncated file",
                         oc_format_time_ns(h.total_ns, run, sizeof(run)));
    if (isnan(h.run_ns))
        return oc_printf(a, "%s%s%s over an unknown number of runs",
                         oc_format_time_ns(h.total_ns, run, sizeof(run)),
                         p->stat == OC_STAT_MEAN ? ", mean" : "",
                         p->n_device > 1 ? oc_printf(a, ", sum over %u devices,", p->n_device) : "");
    oc_format_time_ns(h.run_ns, run, sizeof(run));
    if (isnan(p->run_ns) && oc_equal(p->format, "tensorrt"))
        return oc_printf(a, "%s (sum of layers timed one by one)", run);
    const char *stat = stat_text(p, a);
    const struct oc_sizes *sizes = r->in->join ? r->in->join->sizes : NULL;
    if (s->shapes > 1)
        return oc_printf(a, "%s (%s of %s%s; median %s, %s to %s)", run, stat, oc_headline_runs_text(p, a),
                         sizes && sizes->n_set > 1 ? oc_printf(a, " of %u sizes", sizes->n_set)
                                                   : oc_printf(a, " of %u sets of shapes", s->shapes),
                         oc_format_time_ns(s->median_ns, middle, sizeof(middle)),
                         oc_format_time_ns(s->min_ns, low, sizeof(low)),
                         oc_format_time_ns(s->max_ns, high, sizeof(high)));
    if (s->n < 2)
        return p->runs_from == OC_RUNS_REPEAT
                   ? oc_printf(a, "%s (%s of %s)", run, stat, oc_headline_runs_text(p, a))
                   : oc_strdup(a, run);
    const char *runs =
        p->runs_from == OC_RUNS_REPEAT ? oc_headline_runs_text(p, a) : oc_printf(a, "%u runs", s->n);
    return oc_printf(a, "%s (%s of %s; %s%s to %s, spread %.1f %%%s)", run, stat, runs,
                     oc_run_spread_noisy(s) ? "NOISY: " : "", oc_format_time_ns(s->min_ns, low, sizeof(low)),
                     oc_format_time_ns(s->max_ns, high, sizeof(high)), 100 * oc_run_spread_share(s),
                     s->n < OC_LEAST_FOR_SPREAD ? " assumed" : "");
}

const char *oc_headline_latency_text(struct oc_report *r, struct oc_arena *a)
{
    const char *text = latency_text(r, a), *beside = r->in->profile->beside;
    return beside ? oc_printf(a, "%s; %s", text, beside) : text;
}

double oc_size_total_ns(const struct oc_size_set *s)
{
    return s->mean_ns * s->runs;
}

double oc_size_rate(const struct oc_size_set *s, double work)
{
    double ns = oc_size_total_ns(s);
    return ns > 0 ? work / ns * 1e9 : (double)NAN;
}

/* ---- arithmetic class ------------------------------------------------------------------------------- */

/* The dominant arithmetic class of a report: selects the peak shown in the summary. */

/* Class of the most MACs: selects the peak of the model. */
static unsigned class_of_most_macs(const struct oc_analysis *a)
{
    double macs[OC_CLASS_COUNT] = {0};
    unsigned best = OC_CLASS_F32;
    for (uint32_t i = 0; i < a->model->n_node; i++)
        if (a->cost[i].quality != OC_UNKNOWN && a->cost[i].mac_class < OC_CLASS_COUNT)
            macs[a->cost[i].mac_class] += (double)a->cost[i].macs;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        best = macs[c] > macs[best] ? c : best;
    return best;
}

/* Precision of most of the measured time, if recorded; else OC_CLASS_NONE. */
static unsigned measured_class(const struct oc_profile *p)
{
    double ns[OC_CLASS_COUNT] = {0}, known = 0, all = 0;
    unsigned best = OC_CLASS_F32;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        unsigned cls = r->bucket || r->overhead ? OC_CLASS_NONE : oc_precision_class(r->precision);
        double t = isnan(r->kernel_ns) ? r->self_ns : r->kernel_ns;
        if (r->bucket || r->overhead || !(t > 0))
            continue;
        all += t;
        if (cls == OC_CLASS_NONE || cls >= OC_CLASS_COUNT)
            continue;
        known += t;
        ns[cls] += t;
        best = ns[cls] > ns[best] ? cls : best;
    }
    return 2 * known > all ? best : OC_CLASS_NONE;
}

unsigned oc_report_class(const struct oc_report *r)
{
    unsigned cls = r->in->profile ? measured_class(r->in->profile) : OC_CLASS_NONE;
    if (cls != OC_CLASS_NONE)
        return cls;
    return r->in->analysis ? class_of_most_macs(r->in->analysis) : OC_CLASS_F32;
}

/* ---- class share ------------------------------------------------------------------------------------ */

struct sums {
    struct oc_class_share *share;
    uint32_t n, cap;
    struct oc_map seen;
    double time, flop; /* time: nanoseconds, or shares of an event */
};

static struct oc_class_share *share_of_class(struct sums *s, const char *name)
{
    uint32_t at = s->n;
    const char *stored;
    if (oc_map_add(&s->seen, name, strlen(name), &at, &stored)) {
        OC_GROW(s->share, s->n, s->cap);
        s->share[s->n++] = (struct oc_class_share){.name = stored};
    }
    return &s->share[at];
}

static void add_functions(struct sums *s, const struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        double weight = p->event ? rec->share : rec->self_ns;
        if (isnan(weight))
            continue;
        struct oc_class_share *c = share_of_class(s, rec->bucket ? "" : rec->op_type);
        c->time_share += weight;
        c->functions += !rec->bucket;
        s->time += weight;
    }
}

/* Operator types to their class, by the table of operators. */
static const char *operator_class(const char *type)
{
    for (size_t i = 0; i < oc_op_count(); i++) {
        struct oc_op_info op;
        oc_op_get(i, &op);
        if (strcmp(op.name, type) == 0)
            return op.op_class;
    }
    return "";
}

static void add_nodes(struct sums *s, const struct oc_analysis *a)
{
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        const struct oc_node_cost *cost = &a->cost[i];
        double flop = (double)cost->flops + (double)cost->ops;
        if (cost->quality == OC_UNKNOWN || !(flop > 0))
            continue;
        struct oc_class_share *c = share_of_class(s, operator_class(a->model->node[i].op_type));
        c->flop_share += flop;
        c->nodes++;
        s->flop += flop;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct oc_class_share *x = a, *y = b;
    if (x->time_share != y->time_share)
        return x->time_share < y->time_share ? 1 : -1;
    return (x->flop_share < y->flop_share) - (x->flop_share > y->flop_share);
}

uint32_t oc_class_shares(const struct oc_report_in *in, struct oc_arena *a, const struct oc_class_share **out)
{
    struct sums s = {.seen.arena = a};
    *out = NULL;
    if (!in->profile || !in->profile->functions)
        return 0;
    add_functions(&s, in->profile);
    if (in->analysis)
        add_nodes(&s, in->analysis);
    double all = in->profile->event ? 1 : s.time;
    for (uint32_t i = 0; i < s.n; i++) {
        s.share[i].time_share = all > 0 ? s.share[i].time_share / all : 0;
        s.share[i].flop_share = in->analysis && s.flop > 0 ? s.share[i].flop_share / s.flop : (double)NAN;
    }
    if (s.n)
        qsort(s.share, s.n, sizeof(*s.share), by_time);
    struct oc_class_share *kept = OC_NEW_ARRAY(a, s.n ? s.n : 1, struct oc_class_share);
    if (s.n)
        memcpy(kept, s.share, s.n * sizeof(*kept));
    *out = kept;
    oc_map_free(&s.seen);
    free(s.share);
    return s.n;
}
