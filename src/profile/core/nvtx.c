/* NVTX ranges. */
#include "profile/core/nvtx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"

#define MAX_RANGES ((size_t)1 << 30)
#define MAX_DEPTH  256 /* deeper ranges are treated as siblings */

struct range {
    int64_t start_ns, end_ns; /* INT64_MAX: never closed */
    uint32_t thread, name, parent, run;
};

struct name {
    const char *text;
    uint32_t domain, label;
    uint8_t kind;
    bool has_label;
};

struct thread {
    int64_t id;
    uint32_t first, n, at; /* its ranges; at: the last one that began before the previous query */
};

struct oc_ranges {
    struct oc_profile *out;
    struct oc_timeline *launches;
    struct oc_arena scratch;
    struct range *range;
    size_t n, cap;
    struct name *name;
    size_t n_name, name_cap;
    struct thread *thread;
    size_t n_thread, thread_cap;
    const char **domain; /* names, "" */
    size_t n_domain, domain_cap;
    struct oc_map names, threads, domains; /* keys: raw bytes of small structs */
    uint32_t *run;                         /* ranges, sorted by start */
    uint32_t n_run;
};

struct oc_ranges *oc_ranges_new(struct oc_profile *out, struct oc_timeline *launches)
{
    struct oc_ranges *r = oc_xmalloc(sizeof(*r));
    memset(r, 0, sizeof(*r));
    r->out = out;
    r->launches = launches;
    r->names.arena = r->threads.arena = r->domains.arena = &r->scratch;
    return r;
}

void oc_ranges_free(struct oc_ranges *r)
{
    if (!r)
        return;
    free(r->range);
    free(r->name);
    free(r->thread);
    free(r->domain);
    free(r->run);
    oc_map_free(&r->names);
    oc_map_free(&r->threads);
    oc_map_free(&r->domains);
    oc_arena_free(&r->scratch);
    free(r);
}

/* ---- adding ranges ---------------------------------------------------------------------------------- */

static uint32_t domain_of(struct oc_ranges *r, int64_t process, int64_t domain)
{
    int64_t key[2] = {process, domain};
    uint32_t id = (uint32_t)r->n_domain;
    if (oc_map_add(&r->domains, (const char *)key, sizeof(key), &id, NULL)) {
        OC_PUSH(r->domain, r->n_domain, r->domain_cap) = "";
    }
    return id;
}

void oc_ranges_domain(struct oc_ranges *r, int64_t process, int64_t domain, const char *name)
{
    uint32_t id = domain_of(r, process, domain);
    r->domain[id] = oc_strdup(&r->scratch, name);
}

static uint32_t name_of(struct oc_ranges *r, uint32_t domain, const char *text)
{
    struct {
        const char *text;
        uint64_t domain;
    } key = {text, domain};
    uint32_t id = (uint32_t)r->n_name;
    if (oc_map_add(&r->names, (const char *)&key, sizeof(key), &id, NULL)) {
        OC_PUSH(r->name, r->n_name, r->name_cap) = (struct name){.text = text, .domain = domain};
    }
    return id;
}

static uint32_t thread_of(struct oc_ranges *r, int64_t id)
{
    uint32_t at = (uint32_t)r->n_thread;
    if (oc_map_add(&r->threads, (const char *)&id, sizeof(id), &at, NULL)) {
        OC_PUSH(r->thread, r->n_thread, r->thread_cap) = (struct thread){.id = id};
    }
    return at;
}

bool oc_ranges_add(struct oc_ranges *r, int64_t process, int64_t thread, int64_t domain, const char *text,
                   int64_t start_ns, int64_t end_ns)
{
    if (r->n == MAX_RANGES)
        return false;
    uint32_t name = name_of(r, domain_of(r, process, domain), text);
    OC_PUSH(r->range, r->n, r->cap) = (struct range){.start_ns = start_ns,
                                                     .end_ns = end_ns < start_ns ? start_ns : end_ns,
                                                     .thread = thread_of(r, thread),
                                                     .name = name,
                                                     .parent = OC_NONE,
                                                     .run = OC_NONE};
    return true;
}

/* ---- labels from names ------------------------------------------------------------------------------ */

static uint32_t make_label(struct oc_ranges *r, const struct name *x)
{
    struct oc_label label;
    const char *variant = oc_nvtx_label(r->out, r->domain[x->domain], x->text, &label);
    return oc_timeline_label(r->launches, &label, variant);
}

/* ---- nesting ---------------------------------------------------------------------------------------- */

static int by_thread_and_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static void nest_thread(struct oc_ranges *r, struct thread *t)
{
    uint32_t stack[MAX_DEPTH], depth = 0;
    for (uint32_t i = t->first; i < t->first + t->n; i++) {
        struct range *x = &r->range[i];
        while (depth && r->range[stack[depth - 1]].end_ns < x->end_ns)
            depth--;
        x->parent = depth ? stack[depth - 1] : OC_NONE;
        if (depth < MAX_DEPTH)
            stack[depth++] = i;
    }
}

static void nest(struct oc_ranges *r)
{
    bool sorted = true;
    for (size_t i = 1; i < r->n && sorted; i++)
        sorted = by_thread_and_start(&r->range[i - 1], &r->range[i]) <= 0;
    if (!sorted)
        qsort(r->range, r->n, sizeof(*r->range), by_thread_and_start);
    for (size_t i = 0; i < r->n; i++) {
        struct thread *t = &r->thread[r->range[i].thread];
        if (!t->n++)
            t->first = t->at = (uint32_t)i;
    }
    for (size_t i = 0; i < r->n_thread; i++)
        nest_thread(r, &r->thread[i]);
}

/* ---- runs ------------------------------------------------------------------------------------------- */

struct outer { /* top-level ranges of one thread with equal names, ignoring digits */
    double ns;
    uint32_t n, n_parent;
    uint32_t n_inside; /* of n: within the longest range of the process, on another thread */
};

/* The key: the name without digits, and the thread. */
static uint32_t outer_of(struct oc_ranges *r, struct oc_map *of, const struct range *x, uint32_t next)
{
    char key[300];
    size_t n = (size_t)snprintf(key, sizeof(key), "%u/%u/", x->thread, r->name[x->name].domain);
    for (const char *s = r->name[x->name].text; *s && n < sizeof(key); s++)
        if (*s < '0' || *s > '9')
            key[n++] = *s;
    oc_map_add(of, key, n, &next, NULL);
    return next;
}

/* The longest top-level range of each process; OC_NONE: the thread's process has none. Ranges that the
 * runtime opens on threads of its own lie within it and are parts of runs. */
static uint32_t *longest_ranges(struct oc_ranges *r)
{
    struct oc_map of = {.arena = &r->scratch};
    uint32_t *process = oc_xmalloc((r->n_thread + 1) * sizeof(*process)), n = 0;
    uint32_t *longest = oc_xmalloc((r->n_thread + 1) * sizeof(*longest));
    for (size_t i = 0; i < r->n_thread; i++) {
        int64_t id = r->thread[i].id >> 24;
        process[i] = n;
        longest[i] = OC_NONE;
        n += oc_map_add(&of, (const char *)&id, sizeof(id), &process[i], NULL);
    }
    for (uint32_t i = 0; i < r->n; i++) {
        const struct range *x = &r->range[i];
        uint32_t *best = &longest[process[x->thread]];
        if (x->parent == OC_NONE && x->end_ns != INT64_MAX &&
            (*best == OC_NONE || x->end_ns - x->start_ns > r->range[*best].end_ns - r->range[*best].start_ns))
            *best = i;
    }
    for (size_t i = 0; i < r->n_thread; i++) /* from processes to threads: process[i] <= i */
        process[i] = longest[process[i]];
    oc_map_free(&of);
    free(longest);
    return process;
}

static bool lies_inside(const struct range *x, const struct range *around)
{
    return x->thread != around->thread && x->start_ns >= around->start_ns && x->end_ns <= around->end_ns;
}

/* If no range is known to be a run: uses top-level ranges that repeat and contain others. */
static void guess_runs(struct oc_ranges *r)
{
    struct oc_map of = {.arena = &r->scratch};
    struct outer *outer = NULL;
    uint32_t *id = oc_xmalloc((r->n ? r->n : 1) * sizeof(*id)), best = OC_NONE;
    uint32_t *longest = longest_ranges(r);
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct range *x = &r->range[i];
        id[i] = x->parent == OC_NONE ? outer_of(r, &of, x, (uint32_t)n) : OC_NONE;
        if (id[i] != OC_NONE) {
            if (id[i] == n) {
                OC_GROW(outer, n, cap);
                outer[n++] = (struct outer){0};
            }
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a new id was allocated above */
            outer[id[i]].n++;
            outer[id[i]].ns += x->end_ns == INT64_MAX ? 0 : (double)(x->end_ns - x->start_ns);
            uint32_t around = longest[x->thread];
            outer[id[i]].n_inside += around != OC_NONE && lies_inside(x, &r->range[around]);
        } else if (r->range[x->parent].parent == OC_NONE && (uint32_t)i == x->parent + 1) {
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the parent precedes it */
            outer[id[x->parent]].n_parent++;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (outer[i].n > 1 && 2 * outer[i].n_parent > outer[i].n && 2 * outer[i].n_inside <= outer[i].n &&
            (best == OC_NONE || outer[i].ns > outer[best].ns))
            best = i;
    for (size_t i = 0; i < r->n && best != OC_NONE; i++)
        if (id[i] == best)
            r->run[r->n_run++] = (uint32_t)i;
    oc_map_free(&of);
    free(longest);
    free(outer);
    free(id);
}

static int by_range_start(const void *a, const void *b, void *ranges)
{
    const struct range *x = &((const struct oc_ranges *)ranges)->range[*(const uint32_t *)a];
    const struct range *y = &((const struct oc_ranges *)ranges)->range[*(const uint32_t *)b];
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x > y) - (x < y);
}

/* Whether the range is of a kind and no enclosing range is. */
static bool is_outermost(const struct oc_ranges *r, size_t i, enum oc_nvtx_kind kind)
{
    if (r->name[r->range[i].name].kind != kind)
        return false;
    for (uint32_t p = r->range[i].parent; p != OC_NONE; p = r->range[p].parent)
        if (r->name[r->range[p].name].kind == kind)
            return false;
    return true;
}

static void find_runs(struct oc_ranges *r)
{
    r->run = oc_xmalloc((r->n ? r->n : 1) * sizeof(*r->run));
    for (size_t i = 0; i < r->n; i++)
        if (is_outermost(r, i, OC_NVTX_RUN))
            r->run[r->n_run++] = (uint32_t)i;
    if (!r->n_run)
        guess_runs(r);
    if (r->n_run)
        qsort_r(r->run, r->n_run, sizeof(*r->run), by_range_start, r);
    r->run = oc_xrealloc(r->run, (r->n_run ? r->n_run : 1) * sizeof(*r->run));
    for (uint32_t i = 0; i < r->n_run; i++)
        r->range[r->run[i]].run = i;
    for (size_t i = 0; i < r->n; i++) /* a range follows its parent in this order */
        if (r->range[i].run == OC_NONE && r->range[i].parent != OC_NONE)
            r->range[i].run = r->range[r->range[i].parent].run;
}

static bool is_run(const struct oc_ranges *r, uint32_t i)
{
    const struct range *x = &r->range[i];
    return r->name[x->name].kind == OC_NVTX_RUN || (x->run != OC_NONE && r->run[x->run] == i);
}

/* ---- labels ----------------------------------------------------------------------------------------- */

/* The range that labels work launched directly in this one. */
static uint32_t pick(const struct oc_ranges *r, uint32_t range)
{
    uint32_t aten = OC_NONE, other = OC_NONE;
    for (uint32_t i = range; i != OC_NONE && !is_run(r, i); i = r->range[i].parent) {
        switch (r->name[r->range[i].name].kind) {
        case OC_NVTX_NODE:
        case OC_NVTX_LAYER:
            return i;
        case OC_NVTX_ATEN:
            aten = i;
            break;
        default:
            other = other == OC_NONE ? i : other;
        }
    }
    return aten != OC_NONE ? aten : other;
}

static uint32_t label_of(struct oc_ranges *r, uint32_t range)
{
    struct name *x = &r->name[r->range[range].name];
    if (!x->has_label) {
        x->label = make_label(r, x);
        x->has_label = true;
    }
    return x->label;
}

uint32_t oc_ranges_label(struct oc_ranges *r, uint32_t range)
{
    uint32_t named = pick(r, range);
    return named == OC_NONE ? OC_NONE : label_of(r, named);
}

uint32_t oc_ranges_run(const struct oc_ranges *r, uint32_t range)
{
    return r->range[range].run;
}

int64_t oc_ranges_start(const struct oc_ranges *r, uint32_t range)
{
    return r->range[range].start_ns;
}

void oc_ranges_host_times(struct oc_ranges *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct range *x = &r->range[i];
        uint32_t run = r->n_run ? x->run : 0;
        if (x->end_ns != INT64_MAX && run != OC_NONE && pick(r, i) == i)
            oc_timeline_host_time(r->launches, label_of(r, i), run, (double)(x->end_ns - x->start_ns));
    }
}

void oc_ranges_finish(struct oc_ranges *r)
{
    for (size_t i = 0; i < r->n_name; i++)
        r->name[i].kind = (uint8_t)oc_nvtx_kind(r->domain[r->name[i].domain], r->name[i].text);
    nest(r);
    find_runs(r);
}

/* ---- events ----------------------------------------------------------------------------------------- */

static int64_t end_of_step(const struct oc_ranges *r, const struct range *x, int64_t end_ns)
{
    for (uint32_t next = x->run + 1; next < r->n_run; next++)
        if (r->range[r->run[next]].thread == x->thread)
            return r->range[r->run[next]].start_ns;
    return x->end_ns < end_ns ? end_ns : x->end_ns;
}

void oc_ranges_events(const struct oc_ranges *r, struct oc_timeline *t, int64_t end_ns)
{
    static const uint8_t kind_of[] = {[OC_NVTX_OTHER] = OC_EV_USER,
                                      [OC_NVTX_RUN] = OC_EV_USER,
                                      [OC_NVTX_NODE] = OC_EV_OPERATOR,
                                      [OC_NVTX_LAYER] = OC_EV_OPERATOR,
                                      [OC_NVTX_ATEN] = OC_EV_OPERATOR};
    for (uint32_t i = 0; i < r->n; i++) {
        const struct range *x = &r->range[i];
        const struct name *name = &r->name[x->name];
        int64_t thread = r->thread[x->thread].id;
        struct oc_lane lane = oc_lane_of_thread(thread >> 24 & 0xffffff, thread & 0xffffff);
        if (x->end_ns == INT64_MAX)
            continue;
        bool step = x->run != OC_NONE && r->run[x->run] == i;
        int64_t to_ns = step ? end_of_step(r, x, end_ns) : x->end_ns;
        oc_timeline_add(t,
                        &(struct oc_event){.start_ns = oc_timeline_at(t, x->start_ns),
                                           .dur_ns = (double)(to_ns - x->start_ns),
                                           .name = oc_timeline_name(t, name->text, strlen(name->text)),
                                           .detail = OC_NONE,
                                           .lane = oc_timeline_lane(t, &lane),
                                           .kind = step ? OC_EV_STEP : kind_of[name->kind],
                                           .flags = name->kind == OC_NVTX_ATEN ? OC_EVF_LEAF : 0},
                        0, 0);
    }
}

/* ---- queries ---------------------------------------------------------------------------------------- */

/* The last range of the thread that starts at or before the time. */
static uint32_t last_before(struct oc_ranges *r, struct thread *t, int64_t start_ns)
{
    uint32_t end = t->first + t->n, at = t->at;
    if (r->range[at].start_ns > start_ns)
        at = t->first;
    for (unsigned steps = 0; steps < 8 && at + 1 < end && r->range[at + 1].start_ns <= start_ns; steps++)
        at++;
    if (at + 1 < end && r->range[at + 1].start_ns <= start_ns) {
        uint32_t low = at + 1, high = end; /* low starts before, high after */
        while (high - low > 1) {
            uint32_t mid = low + (high - low) / 2;
            *(r->range[mid].start_ns <= start_ns ? &low : &high) = mid;
        }
        at = low;
    }
    return t->at = at;
}

uint32_t oc_ranges_find(struct oc_ranges *r, int64_t thread, int64_t start_ns, int64_t end_ns)
{
    uint32_t id = oc_map_get(&r->threads, (const char *)&thread, sizeof(thread));
    if (id == OC_NONE || !r->thread[id].n)
        return OC_NONE;
    uint32_t i = last_before(r, &r->thread[id], start_ns);
    if (r->range[i].start_ns > start_ns)
        return OC_NONE;
    while (i != OC_NONE && r->range[i].end_ns < end_ns)
        i = r->range[i].parent;
    return i;
}

uint32_t oc_ranges_run_before(const struct oc_ranges *r, int64_t time_ns)
{
    uint32_t low = 0, high = r->n_run; /* first run after the time */
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (r->range[r->run[mid]].start_ns > time_ns)
            high = mid;
        else
            low = mid + 1;
    }
    return low ? low - 1 : OC_NONE;
}

size_t oc_ranges_count(const struct oc_ranges *r)
{
    return r->n;
}

uint32_t oc_ranges_runs(const struct oc_ranges *r)
{
    return r->n_run;
}

/* ---- nvtx names ------------------------------------------------------------------------------------- */

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* ONNX Runtime: <OpType>.<index>(<name>). */
static bool split_node(const char *text, size_t *op_type, int64_t *index, const char **name)
{
    size_t n = strcspn(text, ".");
    const char *digits = text + n + 1, *open = text[n] ? strchr(digits, '(') : NULL;
    if (!n || !open || text[strlen(text) - 1] != ')' ||
        !oc_parse_i64(digits, (size_t)(open - digits), index) || *index < 0)
        return false;
    *op_type = n;
    *name = open + 1;
    return true;
}

enum oc_nvtx_kind oc_nvtx_kind(const char *domain, const char *text)
{
    size_t op_type, n = strlen(text);
    int64_t index;
    const char *name;
    if (starts(text, "ExecutionContext::enqueue") || starts(text, "ExecutionContext::execute") ||
        starts(text, "ProfilerStep#") ||
        (starts(text, "Batch-") && n > 8 && strcmp(text + n - 8, " Forward") == 0))
        return OC_NVTX_RUN;
    if (split_node(text, &op_type, &index, &name))
        return OC_NVTX_NODE;
    if (strcmp(domain, "TensorRT") == 0)
        return OC_NVTX_LAYER;
    return starts(text, "aten::") ? OC_NVTX_ATEN : OC_NVTX_OTHER;
}

const char *oc_nvtx_label(struct oc_profile *p, const char *domain, const char *text, struct oc_label *out)
{
    enum oc_nvtx_kind kind = oc_nvtx_kind(domain, text);
    const char *name, *sizes = NULL;
    size_t n;
    *out = (struct oc_label){.name = text, .op_type = "", .provider = "", .index = -1};
    if (kind == OC_NVTX_NODE && split_node(text, &n, &out->index, &name)) {
        out->op_type = oc_intern(&p->names, text, n);
        out->name = oc_intern(&p->names, name, strlen(name) - 1);
    } else if (kind == OC_NVTX_ATEN) {
        n = strcspn(text, ",");
        out->name = out->op_type = oc_intern(&p->names, text, n);
        sizes = strstr(text, ", sizes = ");
        const char *list = sizes ? sizes + strlen(", sizes = ") : "";
        out->in = oc_recorded_sizes(&p->arena, oc_str(list, strlen(list)), &out->n_in);
        out->has_in = out->in != NULL;
    } else if (kind == OC_NVTX_LAYER) {
        out->provider = "TensorRT";
    }
    return sizes;
}
