/* The writer of the Trace Event Format. */
#include "write/trace_doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "write/tables/json_keys.h"

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

/* ---- arrows ----------------------------------------------------------------------------------------- */

struct arrows {             /* by slice, OC_NONE: none; on the heap */
    uint32_t *from;         /* where its arrow begins */
    uint32_t *first, *next; /* its first arrow ends there; where the next one ends that begins with it */
};

static uint32_t *list_of_none(size_t n)
{
    uint32_t *list = oc_xmalloc((n + 1) * sizeof(*list));
    memset(list, 0xff, (n + 1) * sizeof(*list));
    return list;
}

/* Of slices with a cause that is in the document. */
static struct arrows find_arrows(const struct oc_trace *t)
{
    struct arrows a = {list_of_none(t->n_slice), list_of_none(t->n_slice), list_of_none(t->n_slice)};
    uint32_t n_event = 0;
    for (size_t i = 0; i < t->n_slice; i++)
        if (t->slice[i].event != OC_NONE && t->slice[i].event >= n_event)
            n_event = t->slice[i].event + 1;
    uint32_t *slice_of = list_of_none(n_event);
    for (size_t i = 0; i < t->n_slice; i++)
        if (t->slice[i].event != OC_NONE)
            slice_of[t->slice[i].event] = (uint32_t)i;
    for (uint32_t i = (uint32_t)t->n_slice; i-- > 0;) {
        uint32_t from = t->slice[i].cause < n_event ? slice_of[t->slice[i].cause] : OC_NONE;
        a.from[i] = from;
        if (from == OC_NONE)
            continue;
        a.next[i] = a.first[from];
        a.first[from] = i;
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

static void write_arrows(const struct oc_trace *t, struct out *o, const struct arrows *a, uint32_t i)
{
    for (uint32_t to = a->first[i]; to != OC_NONE; to = a->next[to])
        arrow_end(t, o, &t->slice[i], to, true);
    if (a->from[i] != OC_NONE)
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
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
    metadata(t, &o);
    for (size_t i = 0; i < t->n_slice; i++) {
        if (t->slice[i].category)
            slice(t, &o, &t->slice[i], how);
        else
            counter(&o, &t->slice[i]);
        write_arrows(t, &o, &arrows, (uint32_t)i);
    }
    free(arrows.from);
    free(arrows.first);
    free(arrows.next);
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
