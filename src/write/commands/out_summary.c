/* Summaries of profiles: the available tables, and their text format. */
#include "write/commands/summary_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/c_locale.h"
#include "base/unicode.h"
#include "base/units.h"
#include "write/tables/table.h"

const struct oc_view_info oc_views[OC_VIEW_COUNT] = {
    [OC_VIEW_DEVICE] = {"device", "Devices: utilization"},
    [OC_VIEW_OVERVIEW] = {"overview", "Overview: time by kind of event (kinds overlap)"},
    [OC_VIEW_RUNS] = {"runs", "Runs"},
    [OC_VIEW_MODEL] = {"model", "Model: phases of a step"},
    [OC_VIEW_DISTRIBUTION] = {"distribution", "Distribution: communication and computation"},
    [OC_VIEW_TYPE] = {"type", "Operator types"},
    [OC_VIEW_OPERATOR] = {"operator", "Operators"},
    [OC_VIEW_EVENT] = {"event", "Events: host plus device time"},
    [OC_VIEW_KERNEL] = {"kernel", "Kernels"},
    [OC_VIEW_MEMORY] = {"memory", "Memory manipulation: annotated copies"},
    [OC_VIEW_COPIES] = {"copies", "Copies of the device"},
    [OC_VIEW_USER] = {"user", "Annotations of the user"},
    [OC_VIEW_LANES] = {"lanes", "Threads and streams: busy and idle"},
    [OC_VIEW_BENCHMARK] = {"benchmark", "Benchmark"},
};

bool oc_summary_view(size_t index, const char **name, const char **title)
{
    if (index >= OC_VIEW_COUNT)
        return false;
    *name = oc_views[index].name;
    *title = oc_views[index].title;
    return true;
}

const struct oc_sum_list *oc_view_list(const struct oc_time_summary *s, enum oc_view v)
{
    switch (v) {
    case OC_VIEW_MODEL:
        return &s->model;
    case OC_VIEW_TYPE:
        return &s->types;
    case OC_VIEW_OPERATOR:
    case OC_VIEW_EVENT:
        return &s->operators;
    case OC_VIEW_KERNEL:
        return &s->kernels;
    case OC_VIEW_MEMORY:
        return &s->memory;
    case OC_VIEW_COPIES:
        return &s->copies;
    case OC_VIEW_USER:
        return &s->user;
    default:
        return NULL;
    }
}

#define ALL_VIEWS "all"

/* Events are printed only on request by their name. */
bool oc_view_wanted(const struct oc_summary_opts *o, enum oc_view v)
{
    for (size_t i = 0; i < o->n_view; i++)
        if (strcmp(o->view[i], oc_views[v].name) == 0 ||
            (v != OC_VIEW_EVENT && strcmp(o->view[i], ALL_VIEWS) == 0))
            return true;
    return !o->n_view && v != OC_VIEW_EVENT;
}

static double summary_sum_of(const struct oc_sum_list *list, bool device)
{
    double sum = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct oc_times *t = device ? &list->item[i].device : &list->item[i].host;
        sum += list->item[i].depth == 0 && t->known ? t->total_ns : 0;
    }
    return sum;
}

void oc_view_base_init(struct oc_view_base *b, const struct oc_time_summary *s, enum oc_view v,
                       const struct oc_sum_list *list)
{
    bool own = isnan(s->total_ns) || v == OC_VIEW_TYPE || v == OC_VIEW_OPERATOR || v == OC_VIEW_KERNEL;
    *b = (struct oc_view_base){.own = own};
    for (unsigned d = 0; d < 2; d++)
        for (unsigned i = 0; i <= OC_VIEW_DEPTH; i++)
            b->whole[d][i] = (own || (d && v == OC_VIEW_MODEL)) && !i ? summary_sum_of(list, d) : s->total_ns;
}

double oc_view_base_next(struct oc_view_base *b, const struct oc_sum_item *item, bool device)
{
    const struct oc_times *t = device ? &item->device : &item->host;
    unsigned depth = item->depth < OC_VIEW_DEPTH ? item->depth : OC_VIEW_DEPTH - 1;
    if (b->own)
        b->whole[device][depth + 1] = t->known ? t->total_ns : NAN;
    return b->whole[device][depth];
}

uint32_t oc_view_cut(const struct oc_summary_opts *o, enum oc_view v, const struct oc_sum_list *list)
{
    bool people = !o->format || strcmp(o->format, "table") == 0;
    uint64_t top = o->has_top ? (uint64_t)o->top : !people ? 0 : v == OC_VIEW_KERNEL ? 15 : 20;
    uint32_t i = 0;
    for (uint64_t rows = 0; top && i < list->n; i++)
        if (list->item[i].depth == 0 && ++rows > top)
            return i;
    return list->n;
}

const char *oc_lane_text(const struct oc_profile *p, uint32_t lane, struct oc_arena *a)
{
    if (lane >= p->n_lane)
        return "";
    const struct oc_lane *l = &p->lane[lane];
    if (l->device && l->device_id != OC_NO_ID && l->id != OC_NO_ID)
        return oc_printf(a, "device %" PRId64 " stream %" PRId64, l->device_id, l->id);
    if (l->device)
        return oc_printf(a, "device%s%s", l->name[0] ? " " : "", l->name);
    if (l->id == OC_NO_ID)
        return l->name[0] ? l->name : "thread";
    return oc_printf(a, "thread %" PRId64 "%s%s%s", l->id, l->name[0] ? " (" : "", l->name,
                     l->name[0] ? ")" : "");
}

/* ---- text ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    double ns;
} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};

double oc_summary_unit_ns(const char *name)
{
    for (size_t i = 0; i < OC_COUNT(units); i++)
        if (strcmp(units[i].name, name ? name : "ms") == 0)
            return units[i].ns;
    return 0;
}

/* Two digits at least that are not 0, down to a nanosecond: a mean of 1.5 us does not read as 0.002 ms. */
static const char *summary_time_text(struct summary_printer *p, double ns)
{
    int most = p->unit_ns >= 1e9 ? 9 : p->unit_ns >= 1e6 ? 6 : p->unit_ns > 1 ? 3 : 0;
    int digits = p->unit_ns >= 1e9 ? 6 : p->unit_ns >= 1e6 ? 3 : p->unit_ns > 1 ? 2 : 0;
    double v = ns / p->unit_ns;
    if (isnan(v))
        return "-";
    while (digits < most && v != 0 && fabs(v) * pow(10, digits) < 9.5)
        digits++;
    return oc_printf(&p->arena, "%.*f", digits, v);
}

static const char *summary_share_text(struct summary_printer *p, double part, double whole)
{
    return isnan(part) || !(whole > 0) ? "-" : oc_printf(&p->arena, "%.2f", part / whole * 100);
}

static const char *calls_text(struct summary_printer *p, const struct oc_times *t)
{
    return oc_times_calls(t) ? oc_u64_text(&p->arena, t->calls) : "-";
}

static const char *summary_bytes_text(struct summary_printer *p, double bytes)
{
    char buf[48];
    return isnan(bytes) ? "-" : oc_strdup(&p->arena, oc_format_bytes(bytes, buf, sizeof(buf)));
}

/* The name below that of its parent. */
static const char *name_text(struct summary_printer *p, const struct oc_sum_item *item)
{
    return oc_printf(&p->arena, "%*s%s", (int)(2 * item->depth), "", item->name);
}

static void summary_heading(struct summary_printer *p, enum oc_view v)
{
    fprintf(p->f, "\n%s\n", oc_views[v].title);
}

/* The column of all kernels is empty, and not printed, where every kernel is in a run. */
static void device_row(struct summary_printer *p, struct oc_table *table, const struct oc_sum_lane *l)
{
    bool outside = l->recording_kernel_ns > l->kernel_ns;
    OC_ROW(table, summary_share_text(p, l->kernel_ns, p->s->total_ns), summary_time_text(p, l->kernel_ns),
           outside ? summary_time_text(p, l->recording_kernel_ns) : "",
           l->place                   ? l->place
           : l->device_id == OC_NO_ID ? "device"
                                      : oc_printf(&p->arena, "device %" PRId64, l->device_id));
}

static void print_devices(struct summary_printer *p)
{
    const struct oc_time_summary *s = p->s;
    const struct oc_timeline *t = s->profile->timeline;
    struct oc_table table = {.kinds = "nnnt"};
    bool outside = false;
    for (uint32_t i = 0; i < s->n_lane; i++)
        outside |= s->lane[i].lane == OC_NONE && s->lane[i].recording_kernel_ns > s->lane[i].kernel_ns;
    OC_ROW(&table, "utilization %",
           oc_printf(&p->arena, outside ? "kernels in runs %s" : "kernels %s", p->unit),
           outside ? oc_printf(&p->arena, "all kernels %s", p->unit) : "", "device");
    if (s->has_events && !isnan(t->cpu_process_share))
        OC_ROW(&table, summary_share_text(p, t->cpu_process_share, 1), "-", "",
               "CPU, this process (100 is one core)");
    if (s->has_events && !isnan(t->cpu_system_share))
        OC_ROW(&table, summary_share_text(p, t->cpu_system_share, 1), "-", "", "CPU, the whole system");
    for (size_t i = 0; i < s->profile->n_table_row; i++)
        if (strcmp(s->profile->table_row[i].table, "device") == 0)
            OC_ROW(&table, oc_printf(&p->arena, "%.2f", s->profile->table_row[i].host.total_ns), "-", "",
                   s->profile->table_row[i].name);
    for (uint32_t i = 0; i < s->n_lane; i++)
        if (s->lane[i].lane == OC_NONE)
            device_row(p, &table, &s->lane[i]);
    if (table.n_row > 1) {
        summary_heading(p, OC_VIEW_DEVICE);
        oc_table_print(&table, p->f);
    }
    oc_table_free(&table);
}

static void overview_rows(struct summary_printer *p, struct oc_table *t, const char *where,
                          const struct oc_sum_kind *k, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        OC_ROW(t, oc_u64_text(&p->arena, k[i].calls), summary_time_text(p, k[i].union_ns),
               summary_share_text(p, k[i].union_ns, p->s->total_ns), where, oc_event_kind_name(k[i].kind));
}

static void print_overview(struct summary_printer *p)
{
    struct oc_table t = {.kinds = "nnntt"};
    if (!p->s->n_host && !p->s->n_device)
        return;
    summary_heading(p, OC_VIEW_OVERVIEW);
    OC_ROW(&t, "events", oc_printf(&p->arena, "time %s", p->unit), "%", "where", "kind");
    overview_rows(p, &t, "host", p->s->host, p->s->n_host);
    overview_rows(p, &t, "device", p->s->device, p->s->n_device);
    oc_table_print(&t, p->f);
}

static void spread_row(struct summary_printer *p, struct oc_table *t, const char *what,
                       const struct oc_spread *s)
{
    if (s->n)
        OC_ROW(t, oc_u64_text(&p->arena, s->n), summary_time_text(p, s->median),
               summary_time_text(p, s->mean), summary_time_text(p, s->min), summary_time_text(p, s->max),
               summary_time_text(p, s->p90), summary_time_text(p, s->p99), summary_time_text(p, s->stddev),
               what);
}

void oc_summary_print_runs(struct summary_printer *p)
{
    const struct oc_time_summary *s = p->s;
    static const uint8_t drop[] = {0, 0, 1, 0, 0, 3, 2, 4, 0};
    struct oc_table t = {.kinds = "nnnnnnnnt", .width_chars = p->o->width_chars, .drop = drop};
    OC_ROW(&t, "runs", oc_printf(&p->arena, "median %s", p->unit), "mean", "min", "max", "p90", "p99",
           "stddev", "what");
    spread_row(p, &t, "duration", &s->run);
    spread_row(p, &t, "device time (sum)", &s->device_run);
    if (t.n_row > 1) {
        summary_heading(p, OC_VIEW_RUNS);
        oc_table_print(&t, p->f);
        if (s->run.n > 1 && s->run.max > 1.5 * s->run.median)
            fprintf(p->f, "run %" PRIu32 " took longest, %.1f times the median%s\n", s->slowest_run,
                    s->run.max / s->run.median,
                    s->slowest_run == 0 ? ": possibly a warm-up; --warmup 1 excludes it" : "");
        if (s->runs_dropped)
            fprintf(p->f, "%" PRIu32 " warm-up run%s excluded\n", s->runs_dropped,
                    s->runs_dropped > 1 ? "s" : "");
    }
    oc_table_free(&t);
}

static void print_distribution(struct summary_printer *p)
{
    const struct oc_time_summary *s = p->s;
    if (isnan(s->communication_ns))
        return;
    struct oc_table t = {.kinds = "nnt"};
    const struct {
        const char *name;
        double ns;
    } row[] = {{"communication", s->communication_ns},
               {"computation", s->computation_ns},
               {"overlap", s->overlap_ns}};
    summary_heading(p, OC_VIEW_DISTRIBUTION);
    OC_ROW(&t, oc_printf(&p->arena, "time %s", p->unit), "%", "what");
    for (size_t i = 0; i < OC_COUNT(row); i++)
        OC_ROW(&t, summary_time_text(p, row[i].ns), summary_share_text(p, row[i].ns, s->total_ns),
               row[i].name);
    oc_table_print(&t, p->f);
}

static double summary_known(const struct oc_times *t, double v)
{
    return t->known ? v : NAN;
}

/* total, avg, max, min, share: five cells */
static void times_cells(struct summary_printer *p, const struct oc_times *t, double whole, const char **cell)
{
    cell[0] = summary_time_text(p, summary_known(t, t->total_ns));
    cell[1] = summary_time_text(p, oc_times_avg(t));
    cell[2] = summary_time_text(p, summary_known(t, t->max_ns));
    cell[3] = summary_time_text(p, summary_known(t, t->min_ns));
    cell[4] = summary_share_text(p, summary_known(t, t->total_ns), whole);
}

static bool summary_has_times(const struct oc_sum_list *list, bool device)
{
    for (uint32_t i = 0; i < list->n; i++)
        if ((device ? &list->item[i].device : &list->item[i].host)->known)
            return true;
    return false;
}

enum { MAX_CELLS = 16, MIN_NAME = 28 };

/* Titles, and the order in which columns go where the terminal is narrow: extremes first, of the host before the
 * device. Titles of the two sides differ, so that the line of what is not shown names each. */
static size_t list_header(struct summary_printer *p, const char **cell, uint8_t *drop, bool host, bool device,
                          bool threads, bool places)
{
    static const struct {
        const char *title;
        uint8_t drop;
    } figure[] = {{"avg", 2}, {"max", 5}, {"min", 6}, {"%", 0}};
    size_t n = 0;
    drop[n] = 1;
    cell[n++] = "calls";
    for (unsigned d = 0; d < 2; d++) {
        if (!(d ? device : host))
            continue;
        drop[n] = 0;
        cell[n++] = oc_printf(&p->arena, "%s %s", d ? "device" : "host", p->unit);
        for (size_t i = 0; i < OC_COUNT(figure); i++) {
            drop[n] = (uint8_t)(figure[i].drop + (device && !d ? 2 : 0));
            cell[n++] = device && !d ? oc_printf(&p->arena, "host %s", figure[i].title) : figure[i].title;
        }
    }
    if (threads)
        cell[n] = "thread", drop[n++] = 0;
    if (places)
        cell[n] = "device", drop[n++] = 0;
    drop[n] = 0;
    cell[n++] = "name";
    return n;
}

/* Calls and times of both sides. */
void oc_summary_print_list(struct summary_printer *p, enum oc_view v, const struct oc_sum_list *list)
{
    bool host = summary_has_times(list, false), device = summary_has_times(list, true), threads = false,
         places = false;
    const char *cell[MAX_CELLS];
    uint8_t drop[MAX_CELLS];
    if (!list->n)
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        threads |= list->item[i].lane != OC_NONE;
        places |= list->item[i].place != NULL;
    }
    size_t n_col = list_header(p, cell, drop, host, device, threads, places), n_text = 1u + threads + places;
    struct oc_table t = {.kinds = oc_table_kinds(&p->arena, n_col - n_text, n_text),
                         .width_chars = p->o->width_chars,
                         .drop = drop,
                         .min_text = MIN_NAME};
    struct oc_view_base base;
    oc_view_base_init(&base, p->s, v, list);
    oc_table_row(&t, cell);
    uint32_t end = p->most ? oc_least_u32(p->most, list->n) : oc_view_cut(p->o, v, list), rows = 0, all = 0;
    for (uint32_t i = 0; i < list->n; i++)
        all += list->item[i].depth == 0;
    for (uint32_t i = 0; i < end; i++) {
        const struct oc_sum_item *item = &list->item[i];
        size_t n = 0;
        const struct oc_times *counted = item->host.known ? &item->host : &item->device;
        cell[n++] = item->kind == OC_EV_COUNT ? "-" : calls_text(p, counted);
        for (unsigned d = 0; d < 2; d++) {
            double whole = oc_view_base_next(&base, item, d);
            if (d ? device : host)
                times_cells(p, d ? &item->device : &item->host, whole, cell + n), n += 5;
        }
        if (threads)
            cell[n++] = item->depth ? "" : oc_lane_text(p->s->profile, item->lane, &p->arena);
        if (places)
            cell[n++] = item->place ? item->place : "";
        cell[n++] = name_text(p, item);
        oc_table_row(&t, cell);
        rows += item->depth == 0;
    }
    summary_heading(p, v);
    oc_table_print(&t, p->f);
    if (rows < all)
        fprintf(p->f, "%" PRIu32 " of %" PRIu32 " rows; --top 0 shows all\n", rows, all);
}

static void print_events(struct summary_printer *p)
{
    const struct oc_sum_list *list = &p->s->operators;
    static const uint8_t drop[] = {1, 0, 3, 2, 5, 4, 0, 6, 0};
    struct oc_table t = {
        .kinds = "nnnnnnnnt", .width_chars = p->o->width_chars, .drop = drop, .min_text = MIN_NAME};
    uint32_t end = oc_view_cut(p->o, OC_VIEW_EVENT, list);
    double whole = 0;
    for (uint32_t i = 0; i < list->n; i++)
        whole += list->item[i].depth == 0 ? list->item[i].both.total_ns : 0;
    if (!list->n)
        return;
    summary_heading(p, OC_VIEW_EVENT);
    OC_ROW(&t, "calls", oc_printf(&p->arena, "total %s", p->unit), "CPU", "GPU", "min", "max", "avg", "ratio",
           "event");
    for (uint32_t i = 0; i < end; i++) {
        const struct oc_sum_item *item = &list->item[i];
        if (!item->both.known)
            continue;
        OC_ROW(&t, calls_text(p, &item->both), summary_time_text(p, item->both.total_ns),
               summary_time_text(p, summary_known(&item->host, item->host.total_ns)),
               summary_time_text(p, summary_known(&item->device, item->device.total_ns)),
               summary_time_text(p, item->both.min_ns), summary_time_text(p, item->both.max_ns),
               summary_time_text(p, oc_times_avg(&item->both)),
               oc_printf(&p->arena, "%.6f", item->both.total_ns / whole), name_text(p, item));
    }
    oc_table_print(&t, p->f);
}

static void print_copies(struct summary_printer *p)
{
    const struct oc_sum_list *list = &p->s->copies;
    static const uint8_t drop[] = {1, 0, 3, 2, 0, 0};
    struct oc_table t = {.kinds = "nnnnnt", .width_chars = p->o->width_chars, .drop = drop};
    if (!list->n)
        return;
    summary_heading(p, OC_VIEW_COPIES);
    OC_ROW(&t, "calls", oc_printf(&p->arena, "total %s", p->unit), "avg", "bytes", "GB/s", "name");
    for (uint32_t i = 0; i < oc_view_cut(p->o, OC_VIEW_COPIES, list); i++) {
        const struct oc_sum_item *item = &list->item[i];
        double bytes = item->bytes == UINT64_MAX ? NAN : (double)item->bytes;
        const char *rate = isnan(bytes) || !(item->device.total_ns > 0)
                               ? "-"
                               : oc_printf(&p->arena, "%.2f", bytes / item->device.total_ns);
        OC_ROW(&t, calls_text(p, &item->device), summary_time_text(p, item->device.total_ns),
               summary_time_text(p, oc_times_avg(&item->device)), summary_bytes_text(p, bytes), rate,
               name_text(p, item));
    }
    oc_table_print(&t, p->f);
}

static void print_lanes(struct summary_printer *p)
{
    const struct oc_time_summary *s = p->s;
    static const uint8_t drop[] = {1, 0, 0, 2, 3, 0};
    struct oc_table t = {.kinds = "nnnnnt", .width_chars = p->o->width_chars, .drop = drop};
    if (!s->n_lane)
        return;
    summary_heading(p, OC_VIEW_LANES);
    OC_ROW(&t, "events", oc_printf(&p->arena, "busy %s", p->unit), "%", "idle", "longest gap", "where");
    for (uint32_t i = 0; i < s->n_lane; i++) {
        const struct oc_sum_lane *l = &s->lane[i];
        const char *where = l->lane != OC_NONE && l->place ? oc_printf(&p->arena, "%s stream %" PRId64,
                                                                       l->place, s->profile->lane[l->lane].id)
                            : l->lane != OC_NONE           ? oc_lane_text(s->profile, l->lane, &p->arena)
                            : l->place                     ? oc_printf(&p->arena, "%s, all streams", l->place)
                            : l->device_id == OC_NO_ID
                                ? "device, all streams"
                                : oc_printf(&p->arena, "device %" PRId64 ", all streams", l->device_id);
        OC_ROW(&t, oc_u64_text(&p->arena, l->events), summary_time_text(p, l->busy_ns),
               summary_share_text(p, l->busy_ns, l->busy_ns + l->idle_ns), summary_time_text(p, l->idle_ns),
               summary_time_text(p, l->longest_gap_ns), where);
    }
    oc_table_print(&t, p->f);
}

static void print_benchmark(struct summary_printer *p)
{
    const struct oc_time_summary *s = p->s;
    struct oc_table t = {.kinds = "nnnt"};
    OC_ROW(&t, "avg", "max", "min", "what");
    const struct {
        const struct oc_spread *s;
        const char *name;
    } row[] = {{&s->reader_cost, "reader_cost"}, {&s->batch_cost, "batch_cost"}};
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (row[i].s->n)
            OC_ROW(&t, summary_time_text(p, row[i].s->mean), summary_time_text(p, row[i].s->max),
                   summary_time_text(p, row[i].s->min),
                   oc_printf(&p->arena, "%s (%s)", row[i].name, p->unit));
    if (s->ips.n)
        OC_ROW(&t, oc_printf(&p->arena, "%.3f", s->ips.mean), oc_printf(&p->arena, "%.3f", s->ips.max),
               oc_printf(&p->arena, "%.3f", s->ips.min), "ips (samples/s)");
    if (t.n_row > 1 && (s->reader_cost.n || s->ips.n)) {
        summary_heading(p, OC_VIEW_BENCHMARK);
        oc_table_print(&t, p->f);
        if (s->reader_cost.n)
            fprintf(p->f, "reader ratio %.2f %%: share of a step that waits for data\n",
                    s->reader_cost.mean / s->batch_cost.mean * 100);
    }
    oc_table_free(&t);
}

void oc_summary_print_head(struct summary_printer *p)
{
    const struct oc_profile *pr = p->s->profile;
    char buf[48];
    struct oc_buf b = {0};
    oc_buf_printf(&b, "%s: %s%s%s%s%s", pr->path, pr->format, pr->producer[0] ? ", " : "", pr->producer,
                  pr->device[0] ? ", " : "", pr->device);
    oc_plain_wrap(0, p->o->width_chars, b.data, p->f);
    oc_buf_free(&b);
    if (!isnan(p->s->total_ns))
        fprintf(p->f, "total %s (%s)", oc_format_time_ns(p->s->total_ns, buf, sizeof(buf)), p->s->total_is);
    else
        fprintf(p->f, "the source has sums only, no events");
    if (p->s->run.n)
        fprintf(p->f, ", %" PRIu32 " run%s", p->s->run.n, p->s->run.n > 1 ? "s" : "");
    fputc('\n', p->f);
}

void oc_summary_print_view(struct summary_printer *p, enum oc_view v)
{
    static void (*const print[OC_VIEW_COUNT])(struct summary_printer *) = {
        [OC_VIEW_DEVICE] = print_devices,       [OC_VIEW_OVERVIEW] = print_overview,
        [OC_VIEW_RUNS] = oc_summary_print_runs, [OC_VIEW_DISTRIBUTION] = print_distribution,
        [OC_VIEW_EVENT] = print_events,         [OC_VIEW_COPIES] = print_copies,
        [OC_VIEW_LANES] = print_lanes,          [OC_VIEW_BENCHMARK] = print_benchmark,
    };
    if (print[v])
        print[v](p);
    else
        oc_summary_print_list(p, v, oc_view_list(p->s, v));
}

static bool summary_is_screen(const struct oc_summary_opts *o)
{
    return !o->n_view && !o->has_top && !o->sort && !o->search && !o->op_detail && !o->per_thread;
}

static void summary_table(const struct oc_time_summary *s, const struct oc_summary_opts *o, FILE *f)
{
    struct summary_printer p = {.s = s, .o = o, .f = f, .unit = o->time_unit ? o->time_unit : "ms"};
    p.unit_ns = oc_summary_unit_ns(p.unit);
    if (summary_is_screen(o)) {
        oc_summary_print_screen(&p);
    } else {
        oc_summary_print_head(&p);
        for (unsigned v = 0; v < OC_VIEW_COUNT; v++)
            if (oc_view_wanted(o, v))
                oc_summary_print_view(&p, v);
    }
    oc_arena_free(&p.arena);
}

static void summary_tables(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                           FILE *f)
{
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "\n\n" : "", f);
        summary_table(s[i], o, f);
    }
}

/* ---- report ----------------------------------------------------------------------------------------- */

#define SUMMARY_FORMATS "table, csv, json, html, parquet, fragment, paddle"

static int unknown_view(const char *name, struct oc_err *err)
{
    const char *names[OC_VIEW_COUNT + 1] = {[OC_VIEW_COUNT] = ALL_VIEWS};
    for (unsigned v = 0; v < OC_VIEW_COUNT; v++)
        names[v] = oc_views[v].name;
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){.what = "view", .given = name, .valid = names, .n = OC_COUNT(names)});
}

static int summary_check(const struct oc_summary_opts *o, struct oc_err *err)
{
    if (oc_format_of("a summary", o->format, SUMMARY_FORMATS, err) < 0)
        return -1;
    if (!(oc_summary_unit_ns(o->time_unit) > 0))
        return oc_fail(err, OC_EARG, "unknown unit of time '%s'; valid: s, ms, us, ns", o->time_unit);
    if (o->sort && oc_summary_sort_check(o->sort, err))
        return -1;
    if (o->has_top && o->top < 0)
        return oc_fail(err, OC_EARG, "a summary cannot leave out the last %" PRId64 " rows", -o->top);
    if (!(o->samples_per_step >= 0))
        return oc_fail(err, OC_EARG, "%g samples per step are not possible", o->samples_per_step);
    for (size_t i = 0; i < o->n_view; i++) {
        unsigned v = 0;
        while (v < OC_VIEW_COUNT && strcmp(oc_views[v].name, o->view[i]))
            v++;
        if (v == OC_VIEW_COUNT && strcmp(ALL_VIEWS, o->view[i]))
            return unknown_view(o->view[i], err);
    }
    return 0;
}

int oc_summary_write(const struct oc_profile *const *profile, size_t n, const struct oc_summary_opts *given,
                     FILE *f, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_summary_opts full, *const o = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_sum_table_opts tables = {.per_thread = o->per_thread,
                                       .op_detail = o->op_detail,
                                       .sort = o->sort,
                                       .search = o->search,
                                       .samples_per_step = o->samples_per_step,
                                       .kernel_names = o->kernel_names};
    if (summary_check(o, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (profile[i]->event)
            return oc_fail(err, OC_EFORMAT,
                           "'%s' has shares of %s and no times to summarize: onnxcost %s shows them",
                           profile[i]->path, profile[i]->event, profile[i]->path);
    struct oc_time_summary **s = oc_xmalloc((n + 1) * sizeof(*s));
    for (size_t i = 0; i < n; i++)
        s[i] = oc_time_summary_make(profile[i], &tables);
    const struct oc_time_summary *const *all = (const struct oc_time_summary *const *)s;
    static void (*const write[])(const struct oc_time_summary *const *, size_t,
                                 const struct oc_summary_opts *, FILE *) = {
        summary_tables,     oc_summary_csv,  oc_summary_json,  oc_summary_page,
        oc_summary_parquet, oc_summary_page, oc_summary_paddle};
    write[oc_format_of("a summary", o->format, SUMMARY_FORMATS, err)](all, n, o, f);
    for (size_t i = 0; i < n; i++)
        oc_time_summary_free(s[i]);
    free(s);
    return 0;
}
