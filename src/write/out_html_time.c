/* Data of the page along the time axis: device work by kernel, events of one run, memory per step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/liveness.h"
#include "base/ck.h"
#include "profile/core/timeline.h"
#include "write/out_html.h"
#include "write/commands/page_views.h"
#include "onnxcost.h"

/* ---- kernels ---------------------------------------------------------------------------------------- */

static void kernel_texts(struct oc_json_out *w, struct oc_report *r, const char *key, size_t offset)
{
    const struct oc_profile *p = r->in->profile;
    const char **text = OC_NEW_ARRAY(&r->arena, p->n_kernel, const char *);
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        const char *s;
        memcpy(&s, (const char *)&p->kernel[i] + offset, sizeof(s));
        text[i] = s && *s ? s : NULL;
    }
    oc_page_key_texts(w, key, text, p->n_kernel, &r->arena);
}

static void kernel_numbers(struct oc_json_out *w, struct oc_report *r, const char *key, size_t offset)
{
    const struct oc_profile *p = r->in->profile;
    double *v = OC_NEW_ARRAY(&r->arena, p->n_kernel, double);
    for (uint32_t i = 0; i < p->n_kernel; i++)
        memcpy(&v[i], (const char *)&p->kernel[i] + offset, sizeof(double));
    oc_jw_key(w, key);
    oc_page_numbers(w, v, p->n_kernel);
}

/* Per kernel: calls, kind of device work, and the row that launched it (-1: none). */
static void kernel_whole(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    uint32_t *row_of = OC_NEW_ARRAY(&r->arena, p->n_rec, uint32_t);
    for (uint32_t i = 0; i < r->shown.n; i++)
        if (r->shown.row[i].record != OC_NONE && r->shown.row[i].count == 1)
            row_of[r->shown.row[i].record] = i + 1;
    oc_key_array(w, "calls");
    for (uint32_t i = 0; i < p->n_kernel; i++)
        oc_page_u64(w, p->kernel[i].calls);
    oc_jw_end_array(w);
    oc_key_array(w, "row");
    for (uint32_t i = 0; i < p->n_kernel; i++)
        oc_jw_i64(w, p->kernel[i].rec == OC_NONE ? -1 : (int64_t)row_of[p->kernel[i].rec] - 1);
    oc_jw_end_array(w);
    const char **kind = OC_NEW_ARRAY(&r->arena, p->n_kernel, const char *);
    for (uint32_t i = 0; i < p->n_kernel; i++)
        kind[i] = oc_event_kind_name(p->kernel[i].kind);
    oc_page_key_texts(w, "kind", kind, p->n_kernel, &r->arena);
}

void oc_page_kernels(struct oc_json_out *w, struct oc_report *r)
{
    static const struct {
        const char *key;
        size_t offset;
    } texts[] = {{"name", offsetof(struct oc_prof_kernel, name)},
                 {"precision", offsetof(struct oc_prof_kernel, precision)},
                 {"unit", offsetof(struct oc_prof_kernel, unit)},
                 {"library", offsetof(struct oc_prof_kernel, library)}},
      numbers[] = {{"time_ns", offsetof(struct oc_prof_kernel, time_ns)},
                   {"min_ns", offsetof(struct oc_prof_kernel, min_ns)},
                   {"max_ns", offsetof(struct oc_prof_kernel, max_ns)},
                   {"total_ns", offsetof(struct oc_prof_kernel, total_ns)},
                   {"flop", offsetof(struct oc_prof_kernel, flop)},
                   {"bytes", offsetof(struct oc_prof_kernel, bytes)}};
    const struct oc_profile *p = r->in->profile;
    if (!oc_key_object_if(w, "kernels", p && p->n_kernel))
        return;
    oc_key_u64(w, "n", p->n_kernel);
    for (size_t i = 0; i < OC_COUNT(texts); i++)
        kernel_texts(w, r, texts[i].key, texts[i].offset);
    for (size_t i = 0; i < OC_COUNT(numbers); i++)
        kernel_numbers(w, r, numbers[i].key, numbers[i].offset);
    kernel_whole(w, r);
    oc_jw_end_object(w);
}

/* ---- timeline --------------------------------------------------------------------------------------- */

/* The longest events up to this number are written; more would enlarge the file without visible effect. */
enum { MAX_EVENTS = 100000 };

struct chosen {
    const struct oc_timeline *t;
    struct oc_arena *arena;
    uint32_t run; /* OC_NONE: all events */
    double from_ns, to_ns;
    uint32_t *event;
    size_t n, left_out;
};

/* The used run with the median length. */
static uint32_t middle_run(const struct oc_timeline *t, struct oc_arena *arena)
{
    uint32_t n = t->n_run - t->first_used_run, best = t->first_used_run;
    if (t->first_used_run >= t->n_run)
        return OC_NONE;
    double *length = OC_NEW_ARRAY(arena, n, double);
    for (uint32_t i = 0; i < n; i++)
        length[i] = t->run[best + i].end_ns - t->run[best + i].start_ns;
    qsort(length, n, sizeof(*length), oc_by_double);
    double middle = length[(n - 1) / 2];
    for (uint32_t i = best; i < t->n_run; i++)
        if (t->run[i].end_ns - t->run[i].start_ns == middle)
            return i;
    return best;
}

static bool html_time_in_run(const struct chosen *c, const struct oc_event *e)
{
    return c->run == OC_NONE || e->run == c->run;
}

/* Events shorter than this are omitted if there are too many. */
static double shortest_kept(const struct chosen *c, size_t n)
{
    double *d = oc_xmalloc(n * sizeof(*d));
    size_t at = 0;
    for (size_t i = 0; i < c->t->n_event; i++)
        if (html_time_in_run(c, &c->t->event[i]))
            d[at++] = c->t->event[i].dur_ns;
    qsort(d, n, sizeof(*d), oc_by_double);
    double limit = d[n - MAX_EVENTS];
    free(d);
    return limit;
}

static void choose_events(struct chosen *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->t->n_event; i++)
        n += html_time_in_run(c, &c->t->event[i]);
    double limit = n > MAX_EVENTS ? shortest_kept(c, n) : -1;
    c->event = OC_NEW_ARRAY(c->arena, n < MAX_EVENTS ? n : MAX_EVENTS, uint32_t);
    for (size_t i = 0; i < c->t->n_event; i++) {
        const struct oc_event *e = &c->t->event[i];
        if (!html_time_in_run(c, e))
            continue;
        if (e->dur_ns >= limit && c->n < MAX_EVENTS)
            c->event[c->n++] = (uint32_t)i;
        else
            c->left_out++;
    }
}

static void extent(struct chosen *c)
{
    c->from_ns = INFINITY;
    c->to_ns = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct oc_event *e = &c->t->event[c->event[i]];
        c->from_ns = fmin(c->from_ns, e->start_ns);
        c->to_ns = fmax(c->to_ns, e->start_ns + e->dur_ns);
    }
    if (!c->n)
        c->from_ns = 0;
}

static void html_time_lanes(struct oc_json_out *w, const struct chosen *c)
{
    const struct oc_profile *p = c->t->profile;
    oc_key_array(w, "lanes");
    for (uint32_t i = 0; i < p->n_lane; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", oc_lane_text(p, i, c->arena));
        oc_key_text(w, "own_name", p->lane[i].name);
        oc_key_bool(w, "device", p->lane[i].device);
        oc_key_i64(w, "process",
                   p->lane[i].device                ? p->lane[i].device_id
                   : p->lane[i].process == OC_NO_ID ? 0
                                                    : p->lane[i].process);
        oc_key_i64(w, "id", p->lane[i].id == OC_NO_ID ? (int64_t)i : p->lane[i].id);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void event_times(struct oc_json_out *w, const struct chosen *c)
{
    double *v = OC_NEW_ARRAY(c->arena, c->n, double);
    for (size_t i = 0; i < c->n; i++)
        v[i] = c->t->event[c->event[i]].start_ns - c->from_ns;
    oc_jw_key(w, "start");
    oc_page_numbers(w, v, c->n);
    for (size_t i = 0; i < c->n; i++)
        v[i] = c->t->event[c->event[i]].dur_ns;
    oc_jw_key(w, "dur");
    oc_page_numbers(w, v, c->n);
}

static void event_texts(struct oc_json_out *w, const struct chosen *c)
{
    const char **text = OC_NEW_ARRAY(c->arena, c->n, const char *);
    for (size_t i = 0; i < c->n; i++)
        text[i] = c->t->name[c->t->event[c->event[i]].name];
    oc_page_key_texts(w, "name", text, (uint32_t)c->n, c->arena);
    for (size_t i = 0; i < c->n; i++)
        text[i] = oc_event_kind_name(c->t->event[c->event[i]].kind);
    oc_page_key_texts(w, "kind", text, (uint32_t)c->n, c->arena);
    oc_key_array(w, "lane");
    for (size_t i = 0; i < c->n; i++)
        oc_jw_u64(w, c->t->event[c->event[i]].lane);
    oc_jw_end_array(w);
}

void oc_page_timeline(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_timeline *t = r->in->profile ? r->in->profile->timeline : NULL;
    if (!oc_key_object_if(w, "timeline", t && t->n_event))
        return;
    struct chosen c = {.t = t, .arena = &r->arena, .run = middle_run(t, &r->arena)};
    choose_events(&c);
    extent(&c);
    oc_key_u64_if(w, "run", c.run != OC_NONE, (uint64_t)c.run + 1);
    oc_key_u64(w, "runs", t->n_run);
    oc_key_bool(w, "implicit", t->runs_implicit);
    oc_key_time(w, "length_ns", c.to_ns - c.from_ns);
    oc_key_u64(w, "n", c.n);
    oc_key_u64(w, "left_out", c.left_out);
    html_time_lanes(w, &c);
    event_times(w, &c);
    event_texts(w, &c);
    oc_jw_end_object(w);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

enum { MAX_LIVE = 40 };

static int html_time_by_bytes(const void *a, const void *b)
{
    const struct oc_life *x = *(const struct oc_life *const *)a, *y = *(const struct oc_life *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                                : (x->value > y->value) - (x->value < y->value);
}

static void live_at_peak(struct oc_json_out *w, struct oc_report *r, const struct oc_liveness *l)
{
    const struct oc_life **live = NULL;
    uint32_t n = 0, cap = 0;
    for (uint32_t i = 0; i < l->n_life; i++)
        if (l->life[i].first <= l->peak_step && l->life[i].last >= l->peak_step)
            OC_PUSH(live, n, cap) = &l->life[i];
    if (n)
        qsort(live, n, sizeof(*live), html_time_by_bytes);
    oc_key_u64(w, "n_live", n);
    oc_key_array(w, "at_peak");
    for (uint32_t i = 0; i < n && i < MAX_LIVE; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", r->in->model->value[live[i]->value].name);
        oc_key_text(w, "type",
                    oc_type_text(&r->arena, r->in->analysis->exprs, &r->in->analysis->type[live[i]->value]));
        oc_page_key_u64(w, "bytes", live[i]->quality != OC_UNKNOWN, live[i]->bytes);
        oc_key_u64(w, "first", live[i]->first);
        oc_key_u64(w, "last", live[i]->last);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    free(live);
}

static void html_time_steps(struct oc_json_out *w, struct oc_report *r, const struct oc_liveness *l)
{
    oc_key_array(w, "live");
    for (uint32_t i = 0; i < l->n_step; i++)
        oc_page_u64(w, l->live[i]);
    oc_jw_end_array(w);
    int64_t *node = OC_NEW_ARRAY(&r->arena, l->n_step, int64_t);
    for (uint32_t i = 0; i < l->n_step; i++)
        node[i] = l->step[i];
    oc_page_steps(w, "node_steps", node, l->n_step);
}

void oc_page_memory(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    if (!oc_key_object_if(w, "memory", a != NULL))
        return;
    struct oc_liveness_opts opts = oc_liveness_opts_of(a);
    struct oc_liveness *l = oc_liveness_make(a, 0, &opts);
    oc_page_key_u64(w, "const_bytes", true, a->total->const_bytes);
    oc_page_key_u64(w, "peak", l->n_step > 0, l->peak);
    oc_page_key_u64(w, "lower", l->n_step > 0, l->lower);
    oc_key_u64_if(w, "peak_step", l->n_step > 0, l->peak_step);
    oc_key_quality(w, l->quality);
    oc_key_u64(w, "steps", l->n_step);
    html_time_steps(w, r, l);
    live_at_peak(w, r, l);
    oc_jw_end_object(w);
    oc_liveness_free(l);
}
