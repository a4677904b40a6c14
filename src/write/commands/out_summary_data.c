/* Summaries of profiles as JSON, CSV and Parquet (unknown values are null or empty), and as a page:
 * figures, phases, and the tables of the text format. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/json_keys.h"

enum { VERSION = 1 };

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void summary_data_times(struct oc_json_out *w, const char *key, const struct oc_times *t, double whole)
{
    if (!oc_key_object_if(w, key, t->known))
        return;
    oc_key_u64_if(w, "calls", oc_times_calls(t) > 0, t->calls);
    oc_key_time(w, "total_ns", t->total_ns);
    oc_key_time(w, "avg_ns", oc_times_avg(t));
    oc_key_time(w, "max_ns", t->max_ns);
    oc_key_time(w, "min_ns", t->min_ns);
    oc_key_double(w, "ratio", whole > 0 ? t->total_ns / whole : NAN);
    oc_jw_end_object(w);
}

static void item(struct oc_json_out *w, const struct oc_time_summary *s, const struct oc_sum_item *i,
                 struct oc_view_base *base)
{
    struct oc_arena a = {0};
    oc_jw_begin_object(w);
    oc_key_text(w, "name", i->name);
    oc_key_text(w, "type", i->type[0] ? i->type : NULL);
    oc_key_text(w, "precision", i->precision[0] ? i->precision : NULL);
    oc_key_text(w, "kind", i->kind < OC_EV_COUNT ? oc_event_kind_name(i->kind) : NULL);
    oc_key_u64(w, "depth", i->depth);
    oc_key_text(w, "thread", i->lane == OC_NONE ? NULL : oc_lane_text(s->profile, i->lane, &a));
    if (i->place)
        oc_key_text(w, "place", i->place);
    summary_data_times(w, "host", &i->host, oc_view_base_next(base, i, false));
    summary_data_times(w, "device", &i->device, oc_view_base_next(base, i, true));
    summary_data_times(w, "both", &i->both, s->total_ns);
    oc_key_u64_if(w, "bytes", i->bytes != UINT64_MAX, i->bytes);
    oc_jw_end_object(w);
    oc_arena_free(&a);
}

static void summary_data_list(struct oc_json_out *w, const struct oc_time_summary *s,
                              const struct oc_summary_opts *o, enum oc_view v)
{
    const struct oc_sum_list *l = oc_view_list(s, v);
    uint32_t end = oc_view_cut(o, v, l);
    struct oc_view_base base;
    oc_view_base_init(&base, s, v, l);
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < end; i++)
        item(w, s, &l->item[i], &base);
    oc_jw_end_array(w);
}

static void device_field(struct oc_fields *o, int64_t id)
{
    if (id == OC_NO_ID)
        oc_field_text(o, "device", NULL);
    else
        oc_field_i64(o, "device", id);
}

static void summary_device_fields(struct oc_fields *o, const struct oc_time_summary *s,
                                  const struct oc_sum_lane *l)
{
    oc_fields_begin(o);
    device_field(o, l->device_id);
    if (l->place)
        oc_field_text(o, "place", l->place);
    oc_field_time(o, "kernel_ns", l->kernel_ns);
    oc_field_time(o, "recording_kernel_ns", l->recording_kernel_ns);
    oc_field_double(o, "utilization", oc_summary_part(s, l->kernel_ns));
    oc_fields_end(o);
}

static void devices(struct oc_json_out *w, const struct oc_time_summary *s)
{
    const struct oc_timeline *t = s->has_events ? s->profile->timeline : NULL;
    oc_jw_begin_object(w);
    oc_key_double(w, "cpu_process", t ? t->cpu_process_share : NAN);
    oc_key_double(w, "cpu_system", t ? t->cpu_system_share : NAN);
    oc_key_array(w, "devices");
    for (uint32_t i = 0; i < s->n_lane; i++)
        if (s->lane[i].lane == OC_NONE)
            summary_device_fields(&(struct oc_fields){.json = w}, s, &s->lane[i]);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void summary_kind_fields(struct oc_fields *o, const struct oc_time_summary *s,
                                const struct oc_sum_kind *k)
{
    oc_fields_begin(o);
    oc_field_text(o, "kind", oc_event_kind_name(k->kind));
    oc_field_u64(o, "calls", k->calls);
    oc_field_time(o, "time_ns", k->union_ns);
    oc_field_double(o, "ratio", oc_summary_part(s, k->union_ns));
    oc_fields_end(o);
}

static void kinds(struct oc_json_out *w, const struct oc_time_summary *s, const char *key,
                  const struct oc_sum_kind *k, uint32_t n)
{
    oc_key_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        summary_kind_fields(&(struct oc_fields){.json = w}, s, &k[i]);
    oc_jw_end_array(w);
}

/* what: in CSV and on the page. */
static void summary_spread_fields(struct oc_fields *o, const struct oc_spread *s, const char *what)
{
    oc_fields_begin(o);
    if (!o->json)
        oc_field_text(o, "what", what);
    oc_field_u64(o, "n", s->n);
    const struct {
        const char *key;
        double v;
    } figure[] = {{"mean", s->mean}, {"median", s->median}, {"min", s->min},      {"max", s->max},
                  {"p90", s->p90},   {"p99", s->p99},       {"stddev", s->stddev}};
    for (size_t i = 0; i < OC_COUNT(figure); i++)
        oc_field_double(o, figure[i].key, figure[i].v);
    oc_fields_end(o);
}

static void spread(struct oc_json_out *w, const char *key, const struct oc_spread *s)
{
    oc_jw_key(w, key);
    if (s->n)
        summary_spread_fields(&(struct oc_fields){.json = w}, s, NULL);
    else
        oc_jw_null(w);
}

static void summary_data_runs(struct oc_json_out *w, const struct oc_time_summary *s)
{
    bool known = s->run.n > 0; /* the source has sums only */
    oc_jw_begin_object(w);
    oc_key_u64_if(w, "used", known, s->run.n);
    oc_key_u64_if(w, "dropped", known, s->runs_dropped);
    spread(w, "duration_ns", &s->run);
    spread(w, "device_ns", &s->device_run);
    oc_jw_end_object(w);
}

static void distribution(struct oc_json_out *w, const struct oc_time_summary *s)
{
    if (isnan(s->communication_ns)) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_object(w);
    oc_key_time(w, "communication_ns", s->communication_ns);
    oc_key_time(w, "computation_ns", s->computation_ns);
    oc_key_time(w, "overlap_ns", s->overlap_ns);
    oc_jw_end_object(w);
}

static void summary_lane_fields(struct oc_fields *o, const struct oc_time_summary *s,
                                const struct oc_sum_lane *l)
{
    oc_fields_begin(o);
    oc_field_text(o, "name", l->lane == OC_NONE ? NULL : oc_lane_text(s->profile, l->lane, &o->arena));
    oc_field_bool(o, "on_device", l->device);
    device_field(o, l->device_id);
    oc_field_u64(o, "events", l->events);
    oc_field_time(o, "busy_ns", l->busy_ns);
    oc_field_time(o, "idle_ns", l->idle_ns);
    oc_field_time(o, "longest_gap_ns", l->longest_gap_ns);
    oc_fields_end(o);
}

static void summary_data_lanes(struct oc_json_out *w, const struct oc_time_summary *s)
{
    struct oc_fields o = {.json = w};
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < s->n_lane; i++)
        summary_lane_fields(&o, s, &s->lane[i]);
    oc_jw_end_array(w);
    oc_fields_free(&o);
}

static void benchmark(struct oc_json_out *w, const struct oc_time_summary *s)
{
    oc_jw_begin_object(w);
    spread(w, "reader_cost_ns", &s->reader_cost);
    spread(w, "batch_cost_ns", &s->batch_cost);
    spread(w, "samples_per_s", &s->ips);
    oc_jw_end_object(w);
}

static void view(struct oc_json_out *w, const struct oc_time_summary *s, const struct oc_summary_opts *o,
                 enum oc_view v)
{
    static void (*const write[OC_VIEW_COUNT])(struct oc_json_out *, const struct oc_time_summary *) = {
        [OC_VIEW_DEVICE] = devices,
        [OC_VIEW_RUNS] = summary_data_runs,
        [OC_VIEW_DISTRIBUTION] = distribution,
        [OC_VIEW_LANES] = summary_data_lanes,
        [OC_VIEW_BENCHMARK] = benchmark,
    };
    oc_jw_key(w, oc_views[v].name);
    if (v == OC_VIEW_OVERVIEW) {
        oc_jw_begin_object(w);
        kinds(w, s, "host", s->host, s->n_host);
        kinds(w, s, "device", s->device, s->n_device);
        oc_jw_end_object(w);
    } else if (write[v]) {
        write[v](w, s);
    } else {
        summary_data_list(w, s, o, v);
    }
}

void oc_summary_json(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                     FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.summary", VERSION, NULL);
    oc_key_array(&w, "profiles");
    for (size_t i = 0; i < n; i++) {
        const struct oc_profile *p = s[i]->profile;
        oc_jw_begin_object(&w);
        oc_key_text(&w, "path", p->path);
        oc_key_text(&w, "format", p->format);
        oc_key_text(&w, "producer", p->producer[0] ? p->producer : NULL);
        oc_key_text(&w, "device_name", p->device[0] ? p->device : NULL);
        oc_key_time(&w, "total_ns", s[i]->total_ns);
        oc_key_text(&w, "total_is", s[i]->total_is[0] ? s[i]->total_is : NULL);
        for (unsigned v = 0; v < OC_VIEW_COUNT; v++)
            if (oc_view_wanted(o, v) && v != OC_VIEW_EVENT)
                view(&w, s[i], o, v);
        oc_jw_end_object(&w);
    }
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

/* ---- CSV and Parquet -------------------------------------------------------------------------------- */

/* In the order of summary_item_fields. */
/* clang-format off */
static const struct oc_cell_column summary_columns[] = {
    {"profile", OC_DATUM_TEXT, true, "", "path of the profile"},
    {"view", OC_DATUM_TEXT, true, "", "table of the summary: operator, kernel ... (--view)"},
    {"depth", OC_DATUM_U64, true, "", "0; 1: part of the row with depth 0 above; 2: kernel of a part"},
    {"name", OC_DATUM_TEXT, false, "", "operator, kernel, phase, kind of event ..."},
    {"type", OC_DATUM_TEXT, false, "", "operator type, or kind of device work"},
    {"kind", OC_DATUM_TEXT, false, "", "kind of event"},
    {"thread", OC_DATUM_TEXT, false, "", "with --per-thread"},
    {"place", OC_DATUM_TEXT, false, "", "process and device, where several worked"},
    {"calls", OC_DATUM_U64, false, "", "calls in the used runs"},
    {"host_total_ns", OC_DATUM_DOUBLE, false, "ns", "time on the host: sum of the calls"},
    {"host_avg_ns", OC_DATUM_DOUBLE, false, "ns", "mean of the calls"},
    {"host_max_ns", OC_DATUM_DOUBLE, false, "ns", "longest call"},
    {"host_min_ns", OC_DATUM_DOUBLE, false, "ns", "shortest call"},
    {"device_total_ns", OC_DATUM_DOUBLE, false, "ns", "time on the device: sum of the calls"},
    {"device_avg_ns", OC_DATUM_DOUBLE, false, "ns", "mean of the calls"},
    {"device_max_ns", OC_DATUM_DOUBLE, false, "ns", "longest call"},
    {"device_min_ns", OC_DATUM_DOUBLE, false, "ns", "shortest call"},
    {"host_ratio", OC_DATUM_DOUBLE, false, "1", "part of the host time of the table, or of the row above"},
    {"device_ratio", OC_DATUM_DOUBLE, false, "1", "part of the device time likewise"},
    {"bytes", OC_DATUM_U64, false, "B", "bytes copied"},
};
/* clang-format on */

const struct oc_cell_table oc_summary_table = {"summary", 1, summary_columns, OC_COUNT(summary_columns)};

struct csv {
    struct oc_fields fields;
    const struct oc_time_summary *s;
    const char *view;
};

static void time_fields(struct oc_fields *o, const char *side, const struct oc_times *t)
{
    const struct {
        const char *name;
        double ns;
    } figure[] = {{"total", t->total_ns}, {"avg", oc_times_avg(t)}, {"max", t->max_ns}, {"min", t->min_ns}};
    for (size_t i = 0; i < OC_COUNT(figure); i++)
        oc_field_time(o, oc_printf(&o->arena, "%s_%s_ns", side, figure[i].name),
                      t->known ? figure[i].ns : NAN);
}

static void ratio_field(struct oc_fields *o, const char *name, const struct oc_times *t, double whole)
{
    oc_field_double(o, name, t->known && whole > 0 ? t->total_ns / whole : NAN);
}

/* A row of the machine-readable formats and of the page; `base` as in oc_view_base_next. */
static void summary_item_fields(struct oc_fields *o, const struct oc_time_summary *s, const char *view,
                                const struct oc_sum_item *i, struct oc_view_base *base)
{
    uint64_t calls = oc_times_calls(i->host.known ? &i->host : &i->device);
    oc_fields_begin(o);
    oc_field_text(o, "profile", s ? s->profile->path : NULL);
    oc_field_text(o, "view", view);
    oc_field_u64(o, "depth", i->depth);
    oc_field_text(o, "name", i->name);
    oc_field_text(o, "type", i->type);
    oc_field_text(o, "kind", i->kind < OC_EV_COUNT ? oc_event_kind_name(i->kind) : NULL);
    oc_field_text(o, "thread",
                  !s || i->lane == OC_NONE ? NULL : oc_lane_text(s->profile, i->lane, &o->arena));
    oc_field_text(o, "place", i->place);
    oc_field_u64_if(o, "calls", i->kind != OC_EV_COUNT && calls, calls);
    time_fields(o, "host", &i->host);
    time_fields(o, "device", &i->device);
    ratio_field(o, "host_ratio", &i->host, oc_view_base_next(base, i, false));
    ratio_field(o, "device_ratio", &i->device, oc_view_base_next(base, i, true));
    oc_field_u64_if(o, "bytes", i->bytes != UINT64_MAX, i->bytes);
    oc_fields_end(o);
}

static void csv_item(struct csv *c, const struct oc_sum_item *i, struct oc_view_base *base)
{
    summary_item_fields(&c->fields, c->s, c->view, i, base);
}

static void csv_kinds(struct csv *c, const struct oc_sum_kind *k, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct oc_sum_item row = {
            .name = oc_event_kind_name(k[i].kind), .type = "", .precision = "", .lane = OC_NONE};
        struct oc_times t = {.calls = k[i].calls,
                             .total_ns = k[i].union_ns,
                             .min_ns = NAN,
                             .max_ns = NAN,
                             .known = k[i].calls > 0};
        row.kind = k[i].kind;
        *(oc_event_on_device(k[i].kind) ? &row.device : &row.host) = t;
        csv_item(c, &row, &(struct oc_view_base){.whole = {{c->s->total_ns}, {c->s->total_ns}}});
    }
}

static void csv_views(struct csv *c, const struct oc_time_summary *const *s, size_t n,
                      const struct oc_summary_opts *o)
{
    for (size_t i = 0; i < n; i++) {
        c->s = s[i];
        for (unsigned v = 0; v < OC_VIEW_COUNT; v++) {
            const struct oc_sum_list *l = oc_view_list(s[i], v);
            c->view = oc_views[v].name;
            if (!oc_view_wanted(o, v) || v == OC_VIEW_EVENT)
                continue;
            if (v == OC_VIEW_OVERVIEW) {
                csv_kinds(c, s[i]->host, s[i]->n_host);
                csv_kinds(c, s[i]->device, s[i]->n_device);
            }
            struct oc_view_base base;
            if (l)
                oc_view_base_init(&base, s[i], v, l);
            for (uint32_t k = 0; l && k < oc_view_cut(o, v, l); k++)
                csv_item(c, &l->item[k], &base);
        }
    }
}

void oc_summary_csv(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                    FILE *f)
{
    const struct oc_sum_item none = {.lane = OC_NONE, .kind = OC_EV_COUNT};
    struct csv c = {.fields.head_only = true};
    csv_item(&c, &none, &(struct oc_view_base){0});
    c.fields.head_only = false;
    csv_views(&c, s, n, o);
    oc_table_csv(&c.fields.table, "1", f);
    oc_fields_free(&c.fields);
}

void oc_summary_parquet(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                        FILE *f)
{
    struct csv c = {.fields.parquet = oc_parquet_open(&oc_summary_table, f)};
    csv_views(&c, s, n, o);
    oc_parquet_close(c.fields.parquet);
    oc_fields_free(&c.fields);
}

/* ---- page ------------------------------------------------------------------------------------------- */

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

/* ---- page: figures ---------------------------------------------------------------------------------- */

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

/* ---- page: tables ----------------------------------------------------------------------------------- */

static void page_devices(struct summary_page *p)
{
    static const struct oc_html_column column[] = {
        {.field = "device", .title = "Device", .kind = OC_HTML_COUNT},
        {.field = "utilization", .title = "Utilization", .kind = OC_HTML_PERCENT, .bar = true},
        {.field = "kernel_ns", .title = "Kernels in runs", .kind = OC_HTML_NS},
        {.field = "recording_kernel_ns", .title = "All kernels", .kind = OC_HTML_NS},
    };
    struct oc_fields o = {0};
    for (uint32_t i = 0; i < p->s->n_lane; i++)
        if (p->s->lane[i].lane == OC_NONE)
            summary_device_fields(&o, p->s, &p->s->lane[i]);
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
        summary_kind_fields(&o, p->s, &k[i]);
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
            summary_spread_fields(&o, spread[i], what[i]);
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
        summary_lane_fields(&o, p->s, &p->s->lane[i]);
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
        {.field = "place", .title = "Device", .kind = OC_HTML_CODE},
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
        summary_item_fields(&o, p->s, oc_views[v].name, &list->item[i], &base);
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
