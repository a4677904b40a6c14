/* Summaries of profiles as JSON, CSV and Parquet. Unknown values are null or empty. */
#include <math.h>

#include "write/tables/json_keys.h"
#include "write/commands/out_summary.h"

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

void oc_summary_device_fields(struct oc_fields *o, const struct oc_time_summary *s,
                              const struct oc_sum_lane *l)
{
    oc_fields_begin(o);
    device_field(o, l->device_id);
    oc_field_time(o, "kernel_ns", l->kernel_ns);
    oc_field_double(o, "utilization", s->total_ns > 0 ? l->kernel_ns / s->total_ns : NAN);
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
            oc_summary_device_fields(&(struct oc_fields){.json = w}, s, &s->lane[i]);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

void oc_summary_kind_fields(struct oc_fields *o, const struct oc_time_summary *s, const struct oc_sum_kind *k)
{
    oc_fields_begin(o);
    oc_field_text(o, "kind", oc_event_kind_name(k->kind));
    oc_field_u64(o, "calls", k->calls);
    oc_field_time(o, "time_ns", k->union_ns);
    oc_field_double(o, "ratio", s->total_ns > 0 ? k->union_ns / s->total_ns : NAN);
    oc_fields_end(o);
}

static void kinds(struct oc_json_out *w, const struct oc_time_summary *s, const char *key,
                  const struct oc_sum_kind *k, uint32_t n)
{
    oc_key_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        oc_summary_kind_fields(&(struct oc_fields){.json = w}, s, &k[i]);
    oc_jw_end_array(w);
}

void oc_summary_spread_fields(struct oc_fields *o, const struct oc_spread *s, const char *what)
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
        oc_summary_spread_fields(&(struct oc_fields){.json = w}, s, NULL);
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

void oc_summary_lane_fields(struct oc_fields *o, const struct oc_time_summary *s, const struct oc_sum_lane *l)
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
        oc_summary_lane_fields(&o, s, &s->lane[i]);
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

/* ---- CSV and Parquet -------------------------------------------------------------------------------------- */

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

void oc_summary_item_fields(struct oc_fields *o, const struct oc_time_summary *s, const char *view,
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
    oc_summary_item_fields(&c->fields, c->s, c->view, i, base);
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
    oc_fields_csv(&c.fields, "1", f);
    oc_fields_free(&c.fields);
}

void oc_summary_parquet(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                        FILE *f)
{
    struct csv c = {.fields.parquet = oc_parquet_open(&oc_summary_table, f)};
    csv_views(&c, s, n, o);
    oc_parquet_close(c.fields.parquet, NULL);
    oc_fields_free(&c.fields);
}
