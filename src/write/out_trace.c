/* A report as a timeline for chrome://tracing and Perfetto. Lanes:
 *   measured    events of the used runs by thread and stream, if the source has events
 *               (oc_profile_opts.keep_events); otherwise the rows of one run, back to back
 *   estimated   with hardware: the roofline time of each row, back to back in execution order
 *   steps       without hardware: the nodes in execution order, one microsecond each
 * A counter shows live activation bytes along the estimated lane, otherwise a measured run, otherwise the
 * steps. The arguments of a slice are its costs, with the names and units of the CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lives.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "profile/core/timeline.h"
#include "report/columns.h"
#include "write/tables/json_keys.h"
#include "write/trace_doc.h"
#include "onnxcost.h"

enum { MAX_COPIES = 64 };

uint32_t oc_trace_process(struct oc_trace *t, const char *name)
{
    OC_GROW(t->process, t->n_process, t->cap_process);
    t->process[t->n_process] = name;
    return t->n_process++;
}

uint32_t oc_trace_lane(struct oc_trace *t, uint32_t process, const char *name)
{
    OC_GROW(t->lane, t->n_lane, t->cap_lane);
    t->lane[t->n_lane] =
        (struct oc_trace_lane){.name = name, .process = process, .copy_of = t->n_lane, .next_copy = OC_NONE};
    return t->n_lane++;
}

/* Rounds both ends, not the length, so that containment and disjointness are preserved. */
static struct oc_trace_slice *trace_doc_add(struct oc_trace *t, double start_ns, double end_ns,
                                            struct oc_trace_slice s)
{
    const double limit = 4e18;
    if (!(fabs(start_ns) < limit) || !(fabs(end_ns) < limit) || end_ns < start_ns || t->n_slice >= UINT32_MAX)
        return NULL;
    OC_GROW(t->slice, t->n_slice, t->cap_slice);
    s.start_ns = llround(start_ns);
    s.end_ns = llround(end_ns);
    s.order = (uint32_t)t->n_slice;
    s.event = s.cause = OC_NONE;
    t->slice[t->n_slice] = s;
    return &t->slice[t->n_slice++];
}

struct oc_trace_slice *oc_trace_add(struct oc_trace *t, uint32_t lane, double start_ns, double dur_ns,
                                    const char *name, const char *category, uint64_t tag, uint32_t depth)
{
    return trace_doc_add(t, start_ns, start_ns + dur_ns,
                         (struct oc_trace_slice){
                             .name = name, .category = category, .tag = tag, .lane = lane, .depth = depth});
}

void oc_trace_count(struct oc_trace *t, uint32_t process, double at_ns, const char *name, uint64_t value)
{
    trace_doc_add(t, at_ns, at_ns, (struct oc_trace_slice){.name = name, .tag = value, .lane = process});
}

/* ---- order and nesting ------------------------------------------------------------------------------ */

/* By time; of two slices with equal start the longer one is the parent. */
static int trace_doc_by_time(const void *pa, const void *pb)
{
    const struct oc_trace_slice *a = pa, *b = pb;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Whether the slice is nested in the open slices of the lane or disjoint from them; then opens it. */
static bool takes(struct oc_trace_lane *l, const struct oc_trace_slice *s)
{
    while (l->n_open && l->open[l->n_open - 1] <= s->start_ns)
        l->n_open--;
    if (l->n_open && l->open[l->n_open - 1] < s->end_ns)
        return false;
    OC_GROW(l->open, l->n_open, l->cap_open);
    l->open[l->n_open++] = s->end_ns;
    return true;
}

/* The lane, or its first copy, that can hold the slice; OC_NONE: the maximum number of copies is reached. */
static uint32_t trace_doc_place(struct oc_trace *t, const struct oc_trace_slice *s)
{
    uint32_t at = s->lane, last = at;
    for (unsigned n = 0; n < MAX_COPIES; n++, at = t->lane[at].next_copy) {
        if (at == OC_NONE) {
            at = oc_trace_lane(t, t->lane[s->lane].process, t->lane[s->lane].name);
            t->lane[at].copy_of = s->lane;
            t->lane[last].next_copy = at;
        }
        if (takes(&t->lane[at], s))
            return at;
        last = at;
    }
    return OC_NONE;
}

/* ---- the document ----------------------------------------------------------------------------------- */

struct out {
    FILE *f;
    bool more; /* not the first event */
};

static struct oc_json_out trace_doc_begin(struct out *o, const char *phase, uint64_t process)
{
    struct oc_json_out w = {.f = o->f};
    fputs(o->more ? ",\n" : "\n", o->f);
    o->more = true;
    oc_jw_begin_object(&w);
    oc_key_text(&w, "ph", phase);
    oc_key_u64(&w, "pid", process + 1);
    return w;
}

static void micro(struct oc_json_out *w, const char *key, int64_t ns)
{
    char text[40];
    uint64_t size = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;
    snprintf(text, sizeof(text), size % 1000 ? "%s%" PRIu64 ".%03u" : "%s%" PRIu64, ns < 0 ? "-" : "",
             size / 1000, (unsigned)(size % 1000));
    oc_jw_key(w, key);
    oc_jw_raw(w, text);
}

static void named(struct out *o, uint32_t process, uint32_t lane, const char *what, const char *text,
                  uint64_t number)
{
    struct oc_json_out w = trace_doc_begin(o, "M", process);
    oc_key_u64(&w, "tid", lane == OC_NONE ? 0 : lane + 1);
    oc_key_text(&w, "name", what);
    oc_key_object(&w, "args");
    if (text)
        oc_key_text(&w, "name", text);
    else
        oc_key_u64(&w, "sort_index", number);
    oc_jw_end_object(&w);
    oc_jw_end_object(&w);
}

static uint32_t copies_before(const struct oc_trace *t, uint32_t lane)
{
    uint32_t n = 0;
    for (uint32_t at = t->lane[lane].copy_of; at != lane; at = t->lane[at].next_copy)
        n++;
    return n;
}

static void metadata(const struct oc_trace *t, struct out *o)
{
    for (uint32_t p = 0; p < t->n_process; p++) {
        named(o, p, OC_NONE, "process_name", t->process[p], 0);
        named(o, p, OC_NONE, "process_sort_index", NULL, p);
    }
    for (uint32_t l = 0; l < t->n_lane; l++) {
        struct oc_arena a = {0};
        uint32_t copy = copies_before(t, l);
        const char *name = copy ? oc_printf(&a, "%s (%u)", t->lane[l].name, copy + 1) : t->lane[l].name;
        named(o, t->lane[l].process, l, "thread_name", name, 0);
        named(o, t->lane[l].process, l, "thread_sort_index", NULL,
              (uint64_t)t->lane[l].copy_of * MAX_COPIES + copy);
        oc_arena_free(&a);
    }
}

static void counter(struct out *o, const struct oc_trace_slice *s)
{
    struct oc_json_out w = trace_doc_begin(o, "C", s->lane);
    oc_key_text(&w, "name", s->name);
    micro(&w, "ts", s->start_ns);
    oc_key_object(&w, "args");
    oc_key_u64(&w, "bytes", s->tag);
    oc_jw_end_object(&w);
    oc_jw_end_object(&w);
}

static void slice(const struct oc_trace *t, struct out *o, const struct oc_trace_slice *s,
                  const struct oc_trace_writer *how)
{
    struct oc_json_out w = trace_doc_begin(o, "X", t->lane[s->lane].process);
    oc_key_u64(&w, "tid", s->lane + 1);
    micro(&w, "ts", s->start_ns);
    micro(&w, "dur", s->end_ns - s->start_ns);
    oc_key_text(&w, "cat", s->category);
    oc_key_text(&w, "name", s->name);
    oc_key_object(&w, "args");
    if (how->args)
        how->args(how->ctx, &w, s);
    oc_jw_end_object(&w);
    oc_jw_end_object(&w);
}

/* ---- arrows ----------------------------------------------------------------------------------------------- */

struct arrows { /* by slice: those that leave it are to[first[i] .. first[i + 1]]; on the heap */
    uint32_t *first, *to;
};

/* Slices with a cause that is in the document. */
static struct arrows find_arrows(const struct oc_trace *t)
{
    uint32_t n_event = 0, *slice_of;
    struct arrows a = {.first = oc_xcalloc(t->n_slice + 2, sizeof(uint32_t))};
    for (size_t i = 0; i < t->n_slice; i++)
        if (t->slice[i].category && t->slice[i].event != OC_NONE && t->slice[i].event >= n_event)
            n_event = t->slice[i].event + 1;
    slice_of = oc_xmalloc(((size_t)n_event + 1) * sizeof(*slice_of));
    memset(slice_of, 0xff, ((size_t)n_event + 1) * sizeof(*slice_of));
    for (size_t i = 0; i < t->n_slice; i++)
        if (t->slice[i].category && t->slice[i].event != OC_NONE)
            slice_of[t->slice[i].event] = (uint32_t)i;
    for (int fill = 0; fill < 2; fill++) {
        for (size_t i = 0; i < t->n_slice; i++) {
            const struct oc_trace_slice *s = &t->slice[i];
            uint32_t from = s->category && s->cause < n_event ? slice_of[s->cause] : OC_NONE;
            if (from == OC_NONE)
                continue;
            if (fill)
                a.to[a.first[from + 1]++] = (uint32_t)i;
            else
                a.first[from + 2]++;
        }
        for (size_t i = 2; i < t->n_slice + 2 && !fill; i++)
            a.first[i] += a.first[i - 1];
        a.to = fill ? a.to : oc_xcalloc((size_t)a.first[t->n_slice + 1] + 1, sizeof(*a.to));
    }
    free(slice_of);
    return a;
}

/* One end of the arrow to the slice `to`; the other end has the same number. */
static void arrow_end(const struct oc_trace *t, struct out *o, const struct oc_trace_slice *s, uint32_t to,
                      bool start)
{
    struct oc_json_out w = trace_doc_begin(o, start ? "s" : "f", t->lane[s->lane].process);
    oc_key_u64(&w, "tid", s->lane + 1);
    micro(&w, "ts", s->start_ns);
    oc_key_text(&w, "cat", "launch");
    oc_key_text(&w, "name", "launch");
    oc_key_u64(&w, "id", to + 1);
    if (!start)
        oc_key_text(&w, "bp", "e"); /* to the slice around this time */
    oc_jw_end_object(&w);
}

static void write_arrows(const struct oc_trace *t, struct out *o, const struct arrows *a, uint32_t i,
                         bool arrives)
{
    for (uint32_t k = a->first[i]; k < a->first[i + 1]; k++)
        arrow_end(t, o, &t->slice[i], a->to[k], true);
    if (arrives)
        arrow_end(t, o, &t->slice[i], i, false);
}

/* Assigns every slice to its lane or a copy of it; slices without a lane are dropped. */
static void trace_doc_settle(struct oc_trace *t)
{
    size_t n = 0;
    if (t->n_slice)
        qsort(t->slice, t->n_slice, sizeof(*t->slice), trace_doc_by_time);
    for (size_t i = 0; i < t->n_slice; i++) {
        struct oc_trace_slice s = t->slice[i];
        if (s.category)
            s.lane = trace_doc_place(t, &s);
        if (s.lane != OC_NONE)
            t->slice[n++] = s;
    }
    t->left_out = t->n_slice - n;
    t->n_slice = n;
}

void oc_trace_write(struct oc_trace *t, const struct oc_trace_writer *how, FILE *f)
{
    struct out o = {.f = f};
    trace_doc_settle(t);
    struct arrows arrows = find_arrows(t);
    bool *arrives = oc_xcalloc(t->n_slice + 1, sizeof(bool));
    for (uint32_t k = 0; k < arrows.first[t->n_slice]; k++)
        arrives[arrows.to[k]] = true;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
    metadata(t, &o);
    for (size_t i = 0; i < t->n_slice; i++) {
        if (t->slice[i].category)
            slice(t, &o, &t->slice[i], how);
        else
            counter(&o, &t->slice[i]);
        write_arrows(t, &o, &arrows, (uint32_t)i, arrives[i]);
    }
    free(arrives);
    free(arrows.first);
    free(arrows.to);
    fputs("\n],\"otherData\":", f);
    struct oc_json_out w = {.f = f};
    oc_jw_begin_object(&w);
    how->about(how->ctx, &w);
    oc_jw_end_object(&w);
    fputs("}\n", f);
}

void oc_trace_free(struct oc_trace *t)
{
    for (uint32_t l = 0; l < t->n_lane; l++)
        free(t->lane[l].open);
    free(t->lane);
    free(t->process);
    free(t->slice);
    *t = (struct oc_trace){0};
}

/* What a slice represents: a row, a part of a row (a kernel that it launched), or none. */
enum { NO_ROW = UINT32_MAX };
#define PART_OF (UINT64_C(1) << 32)

struct telling {
    struct oc_report *r;
    struct oc_trace doc;
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t n_column;
    uint32_t *row_of_record, *row_of_node; /* shown rows, NO_ROW */
    double *at_ns;                         /* by node: its start in the lane that the memory counter
                                            * follows */
    uint32_t memory_process;               /* OC_NONE: no lane yet */
    const char *along;                     /* that lane */
    uint32_t without_time;                 /* number of rows without an estimate */
};

static const char *trace_text(struct telling *t, const char *s)
{
    return oc_strdup(&t->r->arena, s);
}

static void *number_list(struct telling *t, uint32_t n)
{
    uint32_t *list = OC_NEW_ARRAY(&t->r->arena, (size_t)n + 1, uint32_t);
    for (uint32_t i = 0; i < n; i++)
        list[i] = NO_ROW;
    return list;
}

/* ---- rows of nodes and records ---------------------------------------------------------------------- */

static void trace_index_rows(struct telling *t)
{
    const struct oc_report_in *in = t->r->in;
    uint32_t n_rec = in->profile ? in->profile->n_rec : 0, n_node = in->analysis ? in->model->n_node : 0;
    t->row_of_record = number_list(t, n_rec);
    t->row_of_node = number_list(t, n_node);
    for (uint32_t i = 0; i < t->r->shown.n; i++) {
        const struct oc_row *row = &t->r->shown.row[i];
        if (row->record != OC_NONE)
            t->row_of_record[row->record] = i;
        else if (row->node != OC_NONE)
            t->row_of_node[row->node] = i;
    }
    t->at_ns = OC_NEW_ARRAY(&t->r->arena, (size_t)n_node + 1, double);
    for (uint32_t i = 0; i < n_node; i++)
        t->at_ns[i] = NAN;
}

static void start_of_node(struct telling *t, uint32_t node, double at_ns)
{
    if (!(t->at_ns[node] <= at_ns))
        t->at_ns[node] = at_ns;
}

/* Nodes of a row start with the row. */
static void start_of_row(struct telling *t, uint32_t row, double at_ns)
{
    const struct oc_row *w = &t->r->shown.row[row];
    const struct oc_join *j = t->r->in->join;
    if (!t->r->in->analysis)
        return;
    if (!j || w->record == OC_NONE) {
        if (w->node != OC_NONE)
            start_of_node(t, w->node, at_ns);
        return;
    }
    for (uint32_t i = 0; i < j->rec[w->record].n_node; i++)
        start_of_node(t, j->rec[w->record].node[i], at_ns);
}

static void trace_remember(struct telling *t, uint32_t process, const char *along)
{
    t->memory_process = process;
    t->along = along;
    for (uint32_t i = 0; t->r->in->analysis && i < t->r->in->model->n_node; i++)
        t->at_ns[i] = NAN;
}

static const char *category(const struct oc_row *row)
{
    return row->type && *row->type ? row->type : "operator";
}

/* ---- measured events -------------------------------------------------------------------------------- */

/* The row of the record with a name; NO_ROW if there are several. */
static void rows_by_name(struct telling *t, struct oc_map *names)
{
    const struct oc_profile *p = t->r->in->profile;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        uint32_t row = t->row_of_record[i];
        size_t n = strlen(p->rec[i].name);
        if (!p->rec[i].bucket && !oc_map_add(names, p->rec[i].name, n, &row, NULL))
            oc_map_set(names, p->rec[i].name, n, NO_ROW);
    }
}

static const char *lane_name(struct telling *t, const struct oc_lane *l)
{
    const char *what = l->device ? "stream" : "thread";
    if (l->name && *l->name)
        return l->name;
    return l->id == OC_NO_ID ? what : oc_printf(&t->r->arena, "%s %lld", what, (long long)l->id);
}

static const char *process_name(struct telling *t, const struct oc_lane *l)
{
    int64_t id = l->device ? l->device_id : l->process;
    const char *what = l->device ? "device" : "process";
    return id == OC_NO_ID ? oc_printf(&t->r->arena, "measured: %s", what)
                          : oc_printf(&t->r->arena, "measured: %s %lld", what, (long long)id);
}

/* Creates a lane of the document for each lane of the profile, grouped by process. */
static uint32_t *measured_lanes(struct telling *t)
{
    const struct oc_profile *p = t->r->in->profile;
    uint32_t *lane = number_list(t, p->n_lane), *process = number_list(t, p->n_lane);
    struct oc_map seen = {.arena = &t->r->arena};
    for (uint32_t i = 0; i < p->n_lane; i++) {
        const char *name = process_name(t, &p->lane[i]);
        process[i] = t->doc.n_process;
        if (oc_map_add(&seen, name, strlen(name), &process[i], NULL))
            oc_trace_process(&t->doc, name);
        lane[i] = oc_trace_lane(&t->doc, process[i], lane_name(t, &p->lane[i]));
    }
    oc_map_free(&seen);
    return lane;
}

/* The row of an event with its own record, or of the record it belongs to. */
static uint32_t row_of_event(const struct oc_timeline *tl, const struct oc_map *names, uint32_t i, bool *own)
{
    uint32_t owner = oc_timeline_owner(tl, i);
    *own = owner == i;
    if (owner == OC_NONE)
        return NO_ROW;
    const char *name = tl->name[tl->event[owner].name];
    return oc_map_get(names, name, strlen(name));
}

static void one_event(struct telling *t, const struct oc_map *names, const uint32_t *lane, uint32_t i)
{
    const struct oc_timeline *tl = t->r->in->profile->timeline;
    const struct oc_event *e = &tl->event[i];
    double at_ns = e->start_ns - tl->run[tl->first_used_run].start_ns;
    bool own;
    uint32_t row = row_of_event(tl, names, i, &own);
    if (row == NO_ROW && oc_json_narrowed(t->r))
        return;
    if (row != NO_ROW && own && e->run == tl->first_used_run)
        start_of_row(t, row, at_ns);
    struct oc_trace_slice *s =
        oc_trace_add(&t->doc, lane[e->lane], at_ns, e->dur_ns, tl->name[e->name],
                     row != NO_ROW && own ? category(&t->r->shown.row[row]) : oc_event_kind_name(e->kind),
                     row == NO_ROW || own ? row : PART_OF | row, 0);
    if (s)
        s->event = i;
    if (s && oc_event_on_device(e->kind))
        s->cause = e->link;
}

static void measured_events(struct telling *t)
{
    const struct oc_timeline *tl = t->r->in->profile->timeline;
    struct oc_map names = {.arena = &t->r->arena};
    uint32_t *lane = measured_lanes(t);
    trace_remember(t, 0, "the first measured run");
    rows_by_name(t, &names);
    for (uint32_t i = 0; i < tl->n_event; i++)
        if (oc_timeline_used(tl, tl->event[i].run) && tl->event[i].lane < t->r->in->profile->n_lane)
            one_event(t, &names, lane, i);
    oc_map_free(&names);
}

/* ---- rows back to back ------------------------------------------------------------------------------ */

struct placed { /* a row and its sort key */
    double key;
    uint32_t row;
};

static int trace_by_key(const void *pa, const void *pb)
{
    const struct placed *a = pa, *b = pb;
    return a->key != b->key ? (a->key < b->key ? -1 : 1) : a->row < b->row ? -1 : a->row > b->row;
}

/* The rows by start time of their records, or in the order of the profile. */
static struct placed *rows_in_order(struct telling *t)
{
    const struct oc_profile *p = t->r->in->profile;
    struct placed *list = OC_NEW_ARRAY(&t->r->arena, (size_t)t->r->shown.n + 1, struct placed);
    bool starts = true;
    for (uint32_t i = 0; i < t->r->shown.n; i++) {
        list[i] = (struct placed){p->rec[t->r->shown.row[i].record].start_ns, i};
        starts = starts && !isnan(list[i].key);
    }
    for (uint32_t i = 0; i < t->r->shown.n && !starts; i++)
        list[i].key = t->r->shown.row[i].record;
    if (t->r->shown.n)
        qsort(list, t->r->shown.n, sizeof(*list), trace_by_key);
    return list;
}

/* One run built from the statistics, for sources without start times. */
static void measured_rows(struct telling *t)
{
    const struct oc_profile *p = t->r->in->profile;
    struct placed *list = rows_in_order(t);
    uint32_t process = oc_trace_process(
        &t->doc, p->runs_total > 1 ? oc_printf(&t->r->arena, "measured: %s of %u of %u runs",
                                               oc_stat_name(p->stat), p->runs_used, p->runs_total)
                                   : "measured");
    uint32_t lane = oc_trace_lane(&t->doc, process, "operators back to back (no start times)");
    double at_ns = 0;
    trace_remember(t, process, "the measured operators");
    for (uint32_t i = 0; i < t->r->shown.n; i++) {
        const struct oc_row *row = &t->r->shown.row[list[i].row];
        if (isnan(row->time_s) || row->time_s < 0)
            continue;
        start_of_row(t, list[i].row, at_ns);
        oc_trace_add(&t->doc, lane, at_ns, row->time_s * 1e9, row->name, category(row), list[i].row, 0);
        at_ns += row->time_s * 1e9;
    }
}

/* ---- estimated, and steps --------------------------------------------------------------------------- */

struct lane { /* lane under construction */
    struct telling *t;
    uint32_t lane;
    double at_ns;
    uint32_t depth;
    bool steps;
};

static void trace_append(struct lane *l, uint32_t row)
{
    struct telling *t = l->t;
    const struct oc_row *w = &t->r->shown.row[row];
    double dur_ns = l->steps ? 1000 : w->roofline_s * 1e9;
    start_of_row(t, row, l->at_ns);
    if (!isfinite(dur_ns)) {
        t->without_time++;
        return;
    }
    oc_trace_add(&t->doc, l->lane, l->at_ns, dur_ns, w->name, category(w), row, l->depth);
    l->at_ns += dur_ns;
}

static void graph(struct lane *l, uint32_t g);

/* Slice around its subgraphs. */
static void trace_bodies(struct lane *l, uint32_t node)
{
    const struct oc_model *m = l->t->r->in->model;
    const struct oc_node *n = &m->node[node];
    double from_ns = l->at_ns;
    char label[512];
    l->depth++;
    if (n->kind == OC_NODE_CALL)
        graph(l, n->body);
    for (uint32_t i = 0; i < n->n_attr; i++)
        for (uint32_t k = 0; n->attr[i].graph && k < n->attr[i].n; k++)
            graph(l, n->attr[i].graph[k]);
    l->depth--;
    if (l->at_ns > from_ns)
        oc_trace_add(&l->t->doc, l->lane, from_ns, l->at_ns - from_ns,
                     trace_text(l->t, oc_node_label(m, n, label, sizeof(label))), n->op_type, NO_ROW,
                     l->depth);
}

static void graph(struct lane *l, uint32_t g)
{
    const struct oc_graph *gr = &l->t->r->in->model->graph[g];
    for (uint32_t i = 0; i < gr->n_node; i++) {
        uint32_t row = l->t->row_of_node[gr->node[i]];
        if (row != NO_ROW)
            trace_append(l, row);
        trace_bodies(l, gr->node[i]);
    }
}

static void estimated(struct telling *t)
{
    const struct oc_report_in *in = t->r->in;
    bool steps = !in->device;
    const char *title =
        steps ? "execution order, one microsecond per node, not a time"
              : oc_printf(&t->r->arena, "estimated: roofline time on %s", oc_device_info(in->device)->name);
    uint32_t process = oc_trace_process(&t->doc, title);
    struct lane l = {.t = t,
                     .lane = oc_trace_lane(&t->doc, process, steps ? "nodes" : "operators back to back"),
                     .steps = steps};
    trace_remember(t, process, title);
    struct placed *list = in->profile ? rows_in_order(t) : NULL;
    for (uint32_t i = 0; list && i < t->r->shown.n; i++)
        trace_append(&l, list[i].row);
    if (!list)
        graph(&l, 0);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Live memory while a step runs, from the start of its node; the maximum of steps that start together. */
static void memory(struct telling *t)
{
    const struct oc_analysis *a = t->r->in->analysis;
    if (!a || t->memory_process == OC_NONE || oc_json_narrowed(t->r))
        return;
    struct oc_lives_opts opts = oc_lives_opts_of(a);
    struct oc_lives *l = oc_lives_make(a, 0, &opts);
    double at_ns = NAN;
    uint64_t most = 0;
    for (uint32_t s = 0; s <= l->n_step && l->quality != OC_UNKNOWN; s++) {
        double next_ns = s < l->n_step ? t->at_ns[l->step[s]] : NAN;
        bool together = next_ns == at_ns;
        if (s < l->n_step && isnan(next_ns))
            continue;
        if (!together && !isnan(at_ns))
            oc_trace_count(&t->doc, t->memory_process, at_ns, "live activation bytes", most);
        most = together && most > l->live[s] ? most : s < l->n_step ? l->live[s] : 0;
        at_ns = next_ns;
    }
    oc_lives_free(l);
}

/* ---- the document ----------------------------------------------------------------------------------- */

static bool is_left_out(const char *key)
{
    static const char *const list[] = {"rank", "cumulative_fraction", "name", "id"};
    for (size_t i = 0; i < OC_COUNT(list); i++)
        if (!strcmp(key, list[i]))
            return true;
    return false;
}

static void one_arg(const struct oc_column *c, const struct oc_line *l, struct oc_json_out *w,
                    struct oc_buf *b)
{
    struct oc_field f = {.number = NAN};
    struct oc_line at = *l;
    at.column = c;
    if (c->kind == OC_FIELD_TEXT) {
        c->get(&at, &f);
        if (f.text && *f.text)
            oc_key_text(w, c->key, f.text);
        return;
    }
    oc_buf_clear(b);
    oc_field_exact(c, l, b);
    if (!b->n)
        return;
    oc_jw_key(w, c->key);
    oc_jw_raw(w, b->data);
}

/* What the source says of the event: grid and block of a kernel, size and direction of a copy. */
static void event_args(const struct telling *t, struct oc_json_out *w, const struct oc_trace_slice *s)
{
    const struct oc_timeline *tl = t->r->in->profile ? t->r->in->profile->timeline : NULL;
    const struct oc_event *e = s->event != OC_NONE && tl ? &tl->event[s->event] : NULL;
    if (!e || !oc_event_on_device(e->kind) || e->detail == OC_NONE)
        return;
    const struct oc_event_detail *d = &tl->detail[e->detail];
    if (d->text && *d->text)
        oc_key_text(w, e->kind == OC_EV_KERNEL ? "launch" : "kind", d->text);
    if (d->bytes != UINT64_MAX)
        oc_key_u64(w, "copied_bytes", d->bytes);
}

static void args(void *ctx, struct oc_json_out *w, const struct oc_trace_slice *s)
{
    struct telling *t = ctx;
    struct oc_arena scratch = {0};
    struct oc_buf b = {0};
    event_args(t, w, s);
    if (s->tag == NO_ROW)
        return;
    const struct oc_row *row = &t->r->shown.row[(uint32_t)s->tag];
    if (s->tag & PART_OF) {
        oc_key_text(w, "part_of", row->name);
        return;
    }
    struct oc_line l = {.r = t->r, .arena = &scratch, .row = row};
    for (size_t i = 0; i < t->n_column; i++)
        if (!is_left_out(t->column[i]->key))
            one_arg(t->column[i], &l, w, &b);
    oc_buf_free(&b);
    oc_arena_free(&scratch);
}

static void trace_about(void *ctx, struct oc_json_out *w)
{
    const struct telling *t = ctx;
    const struct oc_report_in *in = t->r->in;
    oc_key_text(w, "tool", "onnxcost " ONNXCOST_VERSION);
    oc_key_text(w, "model", in->model ? in->model->path : "");
    oc_key_text(w, "profile", in->profile ? in->profile->path : "");
    oc_key_text(w, "hardware", in->device ? oc_device_info(in->device)->name : "");
    oc_key_text(w, "arguments", "sum of all calls in one run; times in nanoseconds, sizes in bytes");
    if (t->along && in->analysis)
        oc_key_text(w, "memory", oc_printf(&t->r->arena, "live activation bytes along: %s", t->along));
    if (t->without_time)
        oc_key_text(w, "left_out",
                    oc_printf(&t->r->arena, "%u rows without a limit in the hardware file", t->without_time));
    if (t->doc.left_out)
        oc_key_text(w, "overlapping",
                    oc_printf(&t->r->arena, "%zu events dropped: too many overlap", t->doc.left_out));
}

void oc_out_trace(struct oc_report *r, FILE *f)
{
    struct telling t = {.r = r, .memory_process = OC_NONE};
    const struct oc_profile *p = r->in->profile;
    t.n_column = oc_columns_for(r, OC_COL_CSV, t.column);
    trace_index_rows(&t);
    if (p && p->timeline && p->timeline->n_run)
        measured_events(&t);
    else if (p)
        measured_rows(&t);
    if (r->in->device || (r->in->analysis && !p))
        estimated(&t);
    memory(&t);
    struct oc_trace_writer how = {.args = args, .about = trace_about, .ctx = &t};
    oc_trace_write(&t.doc, &how, f);
    oc_trace_free(&t.doc);
}
