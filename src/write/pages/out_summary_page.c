/* The summary of profiles as a page: figures, phases, and the tables of the text format. */
#include <inttypes.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "write/commands/out_summary.h"
#include "write/tables/html_page.h"

struct summary_page {
    struct oc_html h;
    const struct oc_summary_opts *o;
    const struct oc_time_summary *s;
    size_t index, n; /* of the profile, number of profiles */
};

/* Of this profile: "profiles.0.runs", and ids that differ from those of other profiles. */
static const char *summary_path(struct summary_page *p, const char *rest)
{
    return oc_printf(&p->h.arena, "profiles.%zu.%s", p->index, rest);
}

static const char *summary_id(struct summary_page *p, const char *id)
{
    return p->index ? oc_printf(&p->h.arena, "%s-%zu", id, p->index + 1) : id;
}

static void summary_rows(struct summary_page *p, const char *id, const char *title, const char *json,
                         const struct oc_html_column *column, size_t n_column, struct oc_fields *o)
{
    struct oc_html_table t = {.id = summary_id(p, id),
                              .title = title,
                              .json = summary_path(p, json),
                              .column = column,
                              .n_column = n_column};
    if (p->n > 1)
        t.title = oc_printf(&p->h.arena, "%s (%zu)", title, p->index + 1);
    oc_html_table(&p->h, &t, o);
    oc_fields_free(o);
}
#define SUMMARY_ROWS(p, id, title, json, column, o)                                                          \
    summary_rows((p), (id), (title), (json), (column), OC_COUNT(column), (o))

/* ---- figures ---------------------------------------------------------------------------------------- */

static const char *source_text(struct summary_page *p)
{
    const struct oc_profile *pr = p->s->profile;
    return oc_printf(&p->h.arena, "%s: %s%s%s%s%s", pr->path, pr->format, pr->producer[0] ? ", " : "",
                     pr->producer, pr->device[0] ? ", " : "", pr->device);
}

static void summary_sentence(struct summary_page *p)
{
    const struct oc_time_summary *s = p->s;
    struct oc_arena *a = &p->h.arena;
    const char *text = isnan(s->total_ns)
                           ? "The source has sums only, no events"
                           : oc_printf(a, "Total %s (%s)", oc_time_text(a, s->total_ns, "?"), s->total_is);
    if (s->run.n > 1)
        text = oc_printf(a, "%s; %" PRIu32 " runs, median %s, from %s to %s", text, s->run.n,
                         oc_time_text(a, s->run.median, "?"), oc_time_text(a, s->run.min, "?"),
                         oc_time_text(a, s->run.max, "?"));
    if (s->run.n > 1 && s->run.max > 1.5 * s->run.median)
        text = oc_printf(a, "%s; run %" PRIu32 " took longest, %.1f times the median", text, s->slowest_run,
                         s->run.max / s->run.median);
    oc_html_sentence(&p->h, oc_printf(a, "%s.", text));
    oc_html_note(&p->h, source_text(p));
}

static void summary_facts(struct summary_page *p)
{
    const struct oc_time_summary *s = p->s;
    const bool runs = s->run.n && oc_view_wanted(p->o, OC_VIEW_RUNS);
    const struct {
        const char *title, *key;
        double ns;
        bool wanted;
    } fact[] = {{"Total", "total_ns", s->total_ns, true},
                {"Median run", "runs.duration_ns.median", s->run.median, runs},
                {"Fastest run", "runs.duration_ns.min", s->run.min, runs},
                {"Slowest run", "runs.duration_ns.max", s->run.max, runs},
                {"Standard deviation", "runs.duration_ns.stddev", s->run.stddev, runs && s->run.n > 1}};
    oc_html_facts_begin(&p->h);
    for (size_t i = 0; i < OC_COUNT(fact); i++)
        if (fact[i].wanted)
            oc_html_fact_double(&p->h, fact[i].title, summary_path(p, fact[i].key), OC_HTML_NS, fact[i].ns,
                                NULL);
    if (runs)
        oc_html_fact_u64(
            &p->h, "Runs", summary_path(p, "runs.used"), OC_HTML_COUNT, s->run.n, NULL,
            s->runs_dropped ? oc_printf(&p->h.arena, "%" PRIu32 " warm-up excluded", s->runs_dropped) : NULL);
    oc_html_facts_end(&p->h);
}

/* ---- tables ----------------------------------------------------------------------------------------- */

static void page_devices(struct summary_page *p)
{
    static const struct oc_html_column column[] = {
        {.field = "device", .title = "Device", .kind = OC_HTML_COUNT},
        {.field = "utilization", .title = "Utilization", .kind = OC_HTML_PERCENT, .bar = true},
        {.field = "kernel_ns", .title = "Kernels", .kind = OC_HTML_NS},
    };
    struct oc_fields o = {0};
    for (uint32_t i = 0; i < p->s->n_lane; i++)
        if (p->s->lane[i].lane == OC_NONE)
            oc_summary_device_fields(&o, p->s, &p->s->lane[i]);
    SUMMARY_ROWS(p, "device", "Devices", "device.devices", column, &o);
}

static void page_kinds(struct summary_page *p, bool device)
{
    static const struct oc_html_column column[] = {
        {.field = "kind", .title = "Kind of event"},
        {.field = "calls", .title = "Events", .kind = OC_HTML_COUNT},
        {.field = "time_ns", .title = "Time", .kind = OC_HTML_NS, .bar = true},
        {.field = "ratio", .title = "Of the total", .kind = OC_HTML_PERCENT},
    };
    const struct oc_sum_kind *k = device ? p->s->device : p->s->host;
    struct oc_fields o = {0};
    for (uint32_t i = 0; i < (device ? p->s->n_device : p->s->n_host); i++)
        oc_summary_kind_fields(&o, p->s, &k[i]);
    SUMMARY_ROWS(p, device ? "overview-device" : "overview-host",
                 device ? "Device time by kind of event (kinds overlap)"
                        : "Host time by kind of event (kinds overlap)",
                 device ? "overview.device" : "overview.host", column, &o);
}

static void page_overview(struct summary_page *p)
{
    page_kinds(p, false);
    page_kinds(p, true);
}

static const struct oc_html_column spread_columns[] = {
    {.field = "what", .title = "What"},
    {.field = "min", .title = "Min to max", .kind = OC_HTML_NS, .high = "max"},
    {.field = "n", .title = "Runs", .kind = OC_HTML_COUNT},
    {.field = "median", .title = "Median", .kind = OC_HTML_NS},
    {.field = "mean", .title = "Mean", .kind = OC_HTML_NS},
    {.field = "min", .title = "Min", .kind = OC_HTML_NS},
    {.field = "max", .title = "Max", .kind = OC_HTML_NS},
    {.field = "p90", .title = "p90", .kind = OC_HTML_NS},
    {.field = "p99", .title = "p99", .kind = OC_HTML_NS},
    {.field = "stddev", .title = "Standard deviation", .kind = OC_HTML_NS},
};

static void page_spreads(struct summary_page *p, const char *id, const char *title,
                         const struct oc_spread *const *spread, const char *const *what, size_t n)
{
    struct oc_fields o = {0};
    for (size_t i = 0; i < n; i++)
        if (spread[i]->n)
            oc_summary_spread_fields(&o, spread[i], what[i]);
    SUMMARY_ROWS(p, id, title, id, spread_columns, &o);
}

static void page_runs(struct summary_page *p)
{
    const struct oc_spread *const spread[] = {&p->s->run, &p->s->device_run};
    static const char *const what[] = {"duration", "device time (sum)"};
    page_spreads(p, "runs", "Runs", spread, what, OC_COUNT(what));
}

static void page_benchmark(struct summary_page *p)
{
    const struct oc_spread *const spread[] = {&p->s->reader_cost, &p->s->batch_cost};
    static const char *const what[] = {"reader_cost", "batch_cost"};
    if (!p->s->reader_cost.n && !p->s->ips.n)
        return;
    page_spreads(p, "benchmark", "Benchmark", spread, what, OC_COUNT(what));
    if (p->s->ips.n)
        oc_html_note(&p->h, oc_printf(&p->h.arena, "%.3f samples/s on average", p->s->ips.mean));
}

static void page_distribution(struct summary_page *p)
{
    const struct oc_time_summary *s = p->s;
    const struct {
        const char *title, *key;
        double ns;
    } fact[] = {{"Communication", "distribution.communication_ns", s->communication_ns},
                {"Computation", "distribution.computation_ns", s->computation_ns},
                {"Overlap", "distribution.overlap_ns", s->overlap_ns}};
    if (isnan(s->communication_ns))
        return;
    oc_html_begin(&p->h, summary_id(p, "distribution"), "Communication and computation");
    oc_html_facts_begin(&p->h);
    for (size_t i = 0; i < OC_COUNT(fact); i++)
        oc_html_fact_double(&p->h, fact[i].title, summary_path(p, fact[i].key), OC_HTML_NS, fact[i].ns, NULL);
    oc_html_facts_end(&p->h);
    oc_html_end(&p->h);
}

static void page_lanes(struct summary_page *p)
{
    static const struct oc_html_column column[] = {
        {.field = "name", .title = "Thread or stream", .kind = OC_HTML_CODE},
        {.field = "device", .title = "Device", .kind = OC_HTML_COUNT},
        {.field = "events", .title = "Events", .kind = OC_HTML_COUNT},
        {.field = "busy_ns", .title = "Busy", .kind = OC_HTML_NS, .bar = true},
        {.field = "idle_ns", .title = "Idle", .kind = OC_HTML_NS, .bar = true},
        {.field = "longest_gap_ns", .title = "Longest gap", .kind = OC_HTML_NS},
    };
    struct oc_fields o = {0};
    for (uint32_t i = 0; i < p->s->n_lane; i++)
        oc_summary_lane_fields(&o, p->s, &p->s->lane[i]);
    SUMMARY_ROWS(p, "lanes", oc_views[OC_VIEW_LANES].title, "lanes", column, &o);
}

/* Phases, types, operators, kernels, copies, annotations. */
static void page_list(struct summary_page *p, enum oc_view v)
{
    static const struct oc_html_column column[] = {
        {.field = "name", .title = "Name", .kind = OC_HTML_CODE},
        {.field = "type", .title = "Type", .kind = OC_HTML_CODE},
        {.field = "depth", .title = "Depth", .kind = OC_HTML_COUNT, .nonzero = true},
        {.field = "thread", .title = "Thread", .kind = OC_HTML_CODE},
        {.field = "calls", .title = "Calls", .kind = OC_HTML_COUNT},
        {.field = "host_total_ns", .title = "Host", .kind = OC_HTML_NS, .bar = true},
        {.field = "host_ratio", .title = "Share", .kind = OC_HTML_PERCENT},
        {.field = "host_avg_ns", .title = "Mean", .kind = OC_HTML_NS},
        {.field = "host_max_ns", .title = "Max", .kind = OC_HTML_NS},
        {.field = "host_min_ns", .title = "Min", .kind = OC_HTML_NS},
        {.field = "device_total_ns", .title = "Device", .kind = OC_HTML_NS, .bar = true},
        {.field = "device_ratio", .title = "Share", .kind = OC_HTML_PERCENT},
        {.field = "device_avg_ns", .title = "Mean", .kind = OC_HTML_NS},
        {.field = "device_max_ns", .title = "Max", .kind = OC_HTML_NS},
        {.field = "device_min_ns", .title = "Min", .kind = OC_HTML_NS},
        {.field = "bytes", .title = "Bytes", .kind = OC_HTML_BYTES},
    };
    const struct oc_sum_list *list = oc_view_list(p->s, v);
    struct oc_fields o = {0};
    struct oc_view_base base;
    oc_view_base_init(&base, p->s, v, list);
    for (uint32_t i = 0; i < oc_view_cut(p->o, v, list); i++)
        oc_summary_item_fields(&o, p->s, oc_views[v].name, &list->item[i], &base);
    SUMMARY_ROWS(p, oc_views[v].name, oc_views[v].title, oc_views[v].name, column, &o);
}

/* The phases of a step as one bar. */
static void page_phases(struct summary_page *p)
{
    enum { MOST = 12 };
    const struct oc_sum_list *list = &p->s->model;
    struct oc_html_part part[MOST];
    double whole = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < list->n && n < MOST; i++) {
        const struct oc_sum_item *item = &list->item[i];
        bool others = i + 1 == list->n;
        if (item->depth || !item->host.known)
            continue;
        part[n] = (struct oc_html_part){item->name, item->host.total_ns, others ? 5 : (unsigned)n % 5};
        whole += part[n++].value;
    }
    if (n < 2)
        return;
    oc_html_begin(&p->h, summary_id(p, "phases"), "Phases of a step");
    oc_html_strip(&p->h, "Host time by phase", OC_HTML_NS, part, n, whole);
    oc_html_end(&p->h);
}

static void summary_profile(struct summary_page *p)
{
    static void (*const write[OC_VIEW_COUNT])(struct summary_page *) = {
        [OC_VIEW_DEVICE] = page_devices, [OC_VIEW_OVERVIEW] = page_overview,
        [OC_VIEW_RUNS] = page_runs,      [OC_VIEW_DISTRIBUTION] = page_distribution,
        [OC_VIEW_LANES] = page_lanes,    [OC_VIEW_BENCHMARK] = page_benchmark,
    };
    summary_sentence(p);
    summary_facts(p);
    if (oc_view_wanted(p->o, OC_VIEW_MODEL))
        page_phases(p);
    for (unsigned v = 0; v < OC_VIEW_COUNT; v++) {
        if (!oc_view_wanted(p->o, v) || v == OC_VIEW_EVENT)
            continue;
        if (write[v])
            write[v](p);
        else
            page_list(p, v);
    }
}

void oc_summary_page(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                     FILE *f)
{
    OC_C_LOCALE;
    struct summary_page p = {.o = o, .n = n, .h.fragment = oc_is_fragment(o->format)};
    for (; p.index < n; p.index++) {
        p.s = s[p.index];
        summary_profile(&p);
    }
    oc_html_write(&p.h, n == 1 ? s[0]->profile->path : NULL, n == 1 ? "summary" : "summary of profiles",
                  o->made, f);
}
