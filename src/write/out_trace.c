/* A report as a timeline for chrome://tracing and Perfetto. Lanes:
 *   measured    events of the used runs by thread and stream, if the source has events
 *               (oc_profile_opts.keep_events); otherwise the rows of one run, a nanosecond apart
 *   estimated   with hardware: the roofline time of each row, a nanosecond apart in execution order
 *   steps       without hardware: the nodes in execution order, one microsecond each
 * A counter shows live activation bytes along the estimated lane, otherwise a measured run, otherwise the
 * steps. The arguments of a slice are its costs, with the names and units of the CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/liveness.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "profile/core/timeline.h"
#include "report/columns.h"
#include "write/tables/json_keys.h"
#include "write/trace_doc.h"
#include "onnxcost.h"

/* What a slice represents: a row, a part of a row (a kernel that it launched), or none. */
enum { NO_ROW = UINT32_MAX };
#define PART_OF (UINT64_C(1) << 32)

/* Between slices back to back. speedscope adds start and length in microseconds as binary fractions: without a nanosecond
 * between them, about one slice in five ends after the next one has begun, and the stacks are wrong. */
#define APART_NS 1

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
        uint32_t record = t->r->shown.row[i].record; /* OC_NONE: a remainder row, after all others */
        list[i] = (struct placed){record == OC_NONE ? INFINITY : p->rec[record].start_ns, i};
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
        at_ns += row->time_s * 1e9 + APART_NS;
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
    if (w->remainder)
        return;
    start_of_row(t, row, l->at_ns);
    if (!isfinite(dur_ns)) {
        t->without_time++;
        return;
    }
    oc_trace_add(&t->doc, l->lane, l->at_ns, dur_ns, w->name, category(w), row, l->depth);
    l->at_ns += l->steps ? dur_ns : dur_ns + APART_NS;
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
    struct oc_liveness_opts opts = oc_liveness_opts_of(a);
    struct oc_liveness *l = oc_liveness_make(a, 0, &opts);
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
    oc_liveness_free(l);
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
                    oc_printf(&t->r->arena, "%u row%s without a limit in the hardware file", t->without_time,
                              oc_plural(t->without_time)));
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
