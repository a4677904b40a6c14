/* XPlane, `<host>.xplane.pb` of the profilers of JAX, TensorFlow and PyTorch/XLA: a protobuf message XSpace
 * (tsl/profiler/protobuf/xplane.proto). A plane is a device or the host, a line one of its timelines:
 *
 *   XSpace  1 planes, 2 errors, 3 warnings
 *   XPlane  2 name, 3 lines, 4 event_metadata (map), 5 stat_metadata (map), 6 stats
 *   XLine   1 id, 2 name, 3 timestamp_ns, 4 events, 11 display_name
 *   XEvent  1 metadata_id, 2 offset_ps, 3 duration_ps, 4 stats, 5 num_occurrences
 *   XStat   1 metadata_id, 2 double, 3 uint64, 4 int64, 5 string, 7 reference to the name of a stat
 *   XEventMetadata  1 id, 2 name, 4 display_name, 5 stats      XStatMetadata  1 id, 2 name
 *
 * "/device:TPU:0" has the lines "XLA Ops" (nested: a loop contains the operators of its body), "XLA Modules"
 * and "Steps". "/device:GPU:0" has a line for each stream, "Stream #7(Compute)", with kernels. On a CPU the
 * operators are events of "/host:CPU" with the stat "hlo_op". XLA's cost analysis is in the stats "flops" and
 * "bytes_accessed" of the metadata. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "profile/core/kernel_names.h"
#include "profile/core/timeline.h"

#define MAX_PS ((uint64_t)1 << 62)

enum xplane_stat {
    S_OTHER,
    S_HLO_OP,
    S_CATEGORY,
    S_FLOPS,
    S_BYTES,
    S_DEVICE,
    S_VENDOR,
    S_MEMCPY,
    S_MEMSET,
    S_TF_OP
};
static const struct {
    const char *name;
    enum xplane_stat stat;
} stat_of[] = {
    {"hlo_op", S_HLO_OP},
    {"hlo_category", S_CATEGORY},
    {"flops", S_FLOPS},
    {"bytes_accessed", S_BYTES},
    {"device_type_string", S_DEVICE},
    {"device_vendor", S_VENDOR},
    {"annotation", S_TF_OP},
    {"tf_op", S_TF_OP},
    {"memcpy_details", S_MEMCPY},
    {"memset_details", S_MEMSET},
    {"Memset_details", S_MEMSET},
};

struct stat_name {
    enum xplane_stat stat;
    struct oc_str name;
};

/* What the stats of an event or of its metadata say; absent: empty or NAN. */
struct facts {
    struct oc_str hlo_op, tf_op, category, device, vendor;
    double flops, bytes;
    bool memcpy, memset;
};

struct kind { /* an entry of event_metadata */
    struct oc_str name;
    struct facts facts;
};

/* XLA's figures for the records of one name. */
struct figure {
    const char *type;
    double flops, bytes;
    bool differ; /* several programs have an operator of that name with other figures */
};

struct line {
    struct oc_str name, data;
    int64_t id, timestamp_ns;
};

enum role { R_NONE, R_OPS, R_STEPS, R_MODULES, R_STREAM, R_HOST };

struct reading {
    struct oc_profile *out;
    struct oc_timeline *t;
    struct oc_arena scratch;
    struct oc_map figure_of;
    struct figure *figure;
    size_t n_figure, cap_figure;
    bool steps; /* of an earlier plane: the planes of one program run the same steps */
    uint64_t events, bad, aggregated;
    const char *damage;
    /* of the plane */
    struct oc_map stat_of, kind_of;
    struct stat_name *stat;
    struct kind *kind;
    size_t n_stat, cap_stat, n_kind, cap_kind;
    int64_t plane; /* number of the device */
    uint32_t planes;
    bool device;
};

/* ---- probe ------------------------------------------------------------------------------------------ */

static struct oc_str xplane_text_of(const struct oc_wire_field *f)
{
    return f->type == OC_WIRE_LEN ? oc_str((const char *)f->data, f->n) : oc_str(NULL, 0);
}

static struct oc_wire wire_of(struct oc_str s)
{
    return oc_wire_of((const uint8_t *)s.s, s.n);
}

/* The name of a plane is one of its first fields; the file may end inside the plane. */
static void xplane_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    static const char *const name[] = {"/device:",  "/host:",   "#Chip",
                                       "Host CPUs", "Syscalls", "Task Environment"};
    const uint8_t *data = (const uint8_t *)p->raw;
    if (p->n_raw < 16 || data[0] != 0x0a)
        return;
    const uint8_t *end = data + p->n_raw;
    for (data++; data < end && *data & 0x80; data++)
        ;
    struct oc_wire w = oc_wire_of(data + 1, data < end ? (size_t)(end - data) - 1 : 0);
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f) && f.num <= 2)
        for (size_t i = 0; i < OC_COUNT(name) && f.num == 2 && f.type == OC_WIRE_LEN; i++)
            if (oc_str_starts(xplane_text_of(&f), name[i]))
                *bid = (struct oc_bid){.score = 92, .reason = "protobuf message with the planes of XPlane"};
}

/* ---- metadata --------------------------------------------------------------------------------------- */

static double real_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* The fields 1 (key) and 2 (value) of an entry of a map. */
static bool map_entry(const struct oc_wire_field *f, uint64_t *key, struct oc_str *value)
{
    struct oc_wire w = oc_wire_of(f->data, f->type == OC_WIRE_LEN ? f->n : 0);
    struct oc_wire_field x;
    *key = 0;
    *value = (struct oc_str){NULL, 0};
    while (oc_wire_next(&w, &x))
        if (x.num == 1)
            *key = x.v;
        else if (x.num == 2)
            *value = xplane_text_of(&x);
    return !w.bad && value->s;
}

static void add_stat_name(struct reading *r, const struct oc_wire_field *f)
{
    uint64_t key;
    struct oc_str value;
    struct oc_wire_field x;
    uint32_t id = (uint32_t)r->n_stat;
    if (!map_entry(f, &key, &value) || !oc_map_add(&r->stat_of, (const char *)&key, sizeof(key), &id, NULL))
        return;
    struct stat_name s = {.stat = S_OTHER};
    struct oc_wire w = wire_of(value);
    while (oc_wire_next(&w, &x))
        if (x.num == 2)
            s.name = xplane_text_of(&x);
    for (size_t i = 0; i < OC_COUNT(stat_of); i++)
        if (oc_str_eq(s.name, stat_of[i].name))
            s.stat = stat_of[i].stat;
    OC_PUSH(r->stat, r->n_stat, r->cap_stat) = s;
}

static const struct stat_name *stat_named(const struct reading *r, uint64_t key)
{
    uint32_t id = oc_map_get(&r->stat_of, (const char *)&key, sizeof(key));
    return id == OC_NONE ? NULL : &r->stat[id];
}

static void read_stat(const struct reading *r, struct oc_str data, struct facts *out)
{
    const struct stat_name *s = NULL, *ref = NULL;
    struct oc_str text = {NULL, 0};
    double number = (double)NAN;
    struct oc_wire w = wire_of(data);
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f)) {
        if (f.num == 1)
            s = stat_named(r, f.v);
        else if (f.num == 2 && f.type == OC_WIRE_I64)
            number = real_of(f.v);
        else if (f.num == 3)
            number = (double)f.v;
        else if (f.num == 4)
            number = (double)(int64_t)f.v;
        else if (f.num == 5)
            text = xplane_text_of(&f);
        else if (f.num == 7 && (ref = stat_named(r, f.v)))
            text = ref->name;
    }
    enum xplane_stat stat = s ? s->stat : S_OTHER;
    out->hlo_op = stat == S_HLO_OP ? text : out->hlo_op;
    out->tf_op = stat == S_TF_OP ? text : out->tf_op;
    out->category = stat == S_CATEGORY ? text : out->category;
    out->device = stat == S_DEVICE ? text : out->device;
    out->vendor = stat == S_VENDOR ? text : out->vendor;
    out->flops = stat == S_FLOPS && number >= 0 ? number : out->flops;
    out->bytes = stat == S_BYTES && number >= 0 ? number : out->bytes;
    out->memcpy |= stat == S_MEMCPY;
    out->memset |= stat == S_MEMSET;
}

static const struct facts no_facts = {.flops = (double)NAN, .bytes = (double)NAN};

static void add_kind(struct reading *r, const struct oc_wire_field *f)
{
    uint64_t key;
    struct oc_str value, display = {NULL, 0};
    struct oc_wire_field x;
    uint32_t id = (uint32_t)r->n_kind;
    if (!map_entry(f, &key, &value) || !oc_map_add(&r->kind_of, (const char *)&key, sizeof(key), &id, NULL))
        return;
    struct kind k = {.facts = no_facts};
    struct oc_wire w = wire_of(value);
    while (oc_wire_next(&w, &x))
        if (x.num == 2)
            k.name = xplane_text_of(&x);
        else if (x.num == 4)
            display = xplane_text_of(&x);
        else if (x.num == 5)
            read_stat(r, xplane_text_of(&x), &k.facts);
    k.name = display.n ? display : k.name;
    OC_PUSH(r->kind, r->n_kind, r->cap_kind) = k;
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* "%fusion.1 = f32[8]{0} fusion(...)" is fusion.1. */
static struct oc_str short_name(struct oc_str s)
{
    const char *cut = s.n ? oc_find(s.s, s.n, " = ", 3) : NULL;
    if (s.n && *s.s == '%' && cut)
        s = (struct oc_str){s.s + 1, (size_t)(cut - s.s) - 1};
    return s;
}

/* The name without its numbers: fusion.12 and fusion.12.0 are a fusion. */
static struct oc_str xplane_type_of(struct oc_str name)
{
    for (size_t n = name.n; n; n--) {
        if (name.s[n - 1] == '.' && n < name.n)
            name.n = n - 1;
        else if (!isdigit(name.s[n - 1]))
            break;
    }
    return name;
}

/* Equal, or both unknown. */
static bool is_same_figure(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void note_figure(struct reading *r, struct oc_str text, const struct facts *facts)
{
    uint32_t id = (uint32_t)r->n_figure;
    struct oc_str type = facts->category.n ? facts->category : xplane_type_of(text);
    struct figure x = {oc_intern(&r->out->names, type.s, type.n), facts->flops, facts->bytes, false};
    if (oc_map_add(&r->figure_of, text.s, text.n, &id, NULL)) {
        OC_PUSH(r->figure, r->n_figure, r->cap_figure) = x;
        return;
    }
    struct figure *f = &r->figure[id];
    f->differ |= !is_same_figure(f->flops, x.flops) || !is_same_figure(f->bytes, x.bytes);
}

struct times {
    uint64_t kind, offset_ps, dur_ps;
    bool aggregated;
};

static bool xplane_read_event(struct reading *r, struct oc_str data, struct times *out, struct facts *facts)
{
    struct oc_wire w = wire_of(data);
    struct oc_wire_field f;
    *out = (struct times){0};
    while (oc_wire_next(&w, &f))
        if (f.num == 1)
            out->kind = f.v;
        else if (f.num == 2)
            out->offset_ps = f.v;
        else if (f.num == 3)
            out->dur_ps = f.v;
        else if (f.num == 4)
            read_stat(r, xplane_text_of(&f), facts);
        else if (f.num == 5)
            out->aggregated = f.v > 1;
    return !w.bad && out->offset_ps <= MAX_PS && out->dur_ps <= MAX_PS;
}

static unsigned kind_on(enum role role, struct oc_str name, const struct facts *facts)
{
    if (role == R_STEPS || role == R_MODULES)
        return OC_EV_STEP;
    if (role != R_STREAM)
        return OC_EV_OPERATOR;
    return facts->memcpy || oc_str_starts(name, "Memcpy")   ? OC_EV_MEMCPY
           : facts->memset || oc_str_starts(name, "Memset") ? OC_EV_MEMSET
                                                            : OC_EV_KERNEL;
}

static void xplane_take_event(struct reading *r, const struct line *l, enum role role, uint16_t lane,
                              struct oc_str data)
{
    struct times time;
    struct facts facts = no_facts;
    struct oc_str op, type;
    struct oc_event e = {.detail = OC_NONE, .lane = lane};
    if (!xplane_read_event(r, data, &time, &facts)) {
        r->bad++;
        return;
    }
    uint32_t id = oc_map_get(&r->kind_of, (const char *)&time.kind, sizeof(time.kind));
    const struct kind *k = id == OC_NONE ? NULL : &r->kind[id];
    struct oc_str name = k ? short_name(k->name) : (struct oc_str){"(unnamed)", 9};
    if (role == R_HOST && !facts.hlo_op.n && !(k && k->facts.hlo_op.n))
        return;
    if (time.aggregated) {
        r->aggregated++;
        return;
    }
    e.kind = (uint8_t)kind_on(role, name, &facts);
    struct facts figure = k ? k->facts : facts;
    bool copy = e.kind == OC_EV_MEMCPY || e.kind == OC_EV_MEMSET;
    if (facts.hlo_op.n && !copy)
        name = facts.hlo_op;
    if (!facts.hlo_op.n && e.kind == OC_EV_KERNEL && oc_tensorflow_operator(facts.tf_op, &op, &type)) {
        name = op;
        r->out->training |= oc_is_tensorflow_gradient(name);
        figure.category = type;
    }
    if (!name.n)
        name = (struct oc_str){"(unnamed)", 9};
    e.name = oc_timeline_name(r->t, name.s, name.n);
    e.start_ns = oc_timeline_at(r->t, l->timestamp_ns) + (double)time.offset_ps / 1000;
    e.dur_ns = (double)time.dur_ps / 1000;
    if (e.kind == OC_EV_OPERATOR || e.kind == OC_EV_KERNEL) {
        note_figure(r, name, &figure);
        r->events++;
    }
    oc_timeline_add(r->t, &e, 0, 0);
}

/* ---- planes ----------------------------------------------------------------------------------------- */

static bool xplane_read_line(struct oc_str data, struct line *out)
{
    struct oc_wire w = wire_of(data);
    struct oc_wire_field f;
    struct oc_str display = {NULL, 0};
    *out = (struct line){.data = data};
    while (oc_wire_next(&w, &f))
        if (f.num == 1)
            out->id = (int64_t)f.v;
        else if (f.num == 2)
            out->name = xplane_text_of(&f);
        else if (f.num == 3)
            out->timestamp_ns = (int64_t)f.v;
        else if (f.num == 11)
            display = xplane_text_of(&f);
    out->name = out->name.n ? out->name : display;
    return !w.bad;
}

/* Operators and steps of a plane share a lane: a step contains its operators. */
static uint16_t xplane_lane_of(struct reading *r, const struct line *l, enum role role)
{
    bool shared = role == R_OPS || role == R_STEPS || role == R_MODULES;
    const char *name = shared ? "XLA Ops" : l->name.n ? oc_strndup(&r->scratch, l->name.s, l->name.n) : "";
    return oc_timeline_lane(r->t, &(struct oc_lane){.name = name,
                                                    .device = r->device,
                                                    .process = r->device ? OC_NO_ID : r->plane,
                                                    .device_id = r->device ? r->plane : OC_NO_ID,
                                                    .id = shared ? 0 : l->id});
}

static void xplane_read_events(struct reading *r, const struct line *l, enum role role)
{
    struct oc_wire w = wire_of(l->data);
    struct oc_wire_field f;
    uint16_t lane = xplane_lane_of(r, l, role);
    while (oc_wire_next(&w, &f) && !r->t->full)
        if (f.num == 4 && f.type == OC_WIRE_LEN)
            xplane_take_event(r, l, role, lane, xplane_text_of(&f));
}

/* Executions of one program are runs; those of several are not. */
static bool is_one_module(const struct line *l)
{
    struct oc_wire w = wire_of(l->data);
    struct oc_wire_field f, x;
    uint64_t first = 0, n = 0;
    while (oc_wire_next(&w, &f)) {
        if (f.num != 4 || f.type != OC_WIRE_LEN)
            continue;
        struct oc_wire e = oc_wire_of(f.data, f.n);
        while (oc_wire_next(&e, &x) && x.num != 1)
            ;
        if (n++ && x.v != first)
            return false;
        first = x.v;
    }
    return n > 0;
}

struct plane {
    struct oc_str name;
    struct line *line;
    size_t n_line, cap_line;
    const struct line *ops, *steps, *modules; /* NULL: none */
    bool streams;
    struct oc_str type, vendor;
};

static void xplane_find_lines(struct plane *p)
{
    for (size_t i = 0; i < p->n_line; i++) {
        const struct line *l = &p->line[i];
        p->ops = !p->ops && oc_str_eq(l->name, "XLA Ops") ? l : p->ops;
        p->steps = !p->steps && oc_str_eq(l->name, "Steps") ? l : p->steps;
        p->modules = !p->modules && oc_str_eq(l->name, "XLA Modules") ? l : p->modules;
        p->streams |= oc_str_starts(l->name, "Stream");
    }
}

static bool read_plane(struct reading *r, struct oc_str data, struct plane *p)
{
    struct oc_wire w = wire_of(data);
    struct oc_wire_field f;
    struct facts facts = no_facts;
    *p = (struct plane){.n_line = 0};
    for (unsigned pass = 0; pass < 2; pass++) { /* names of stats first: other fields refer to them */
        for (w = wire_of(data); oc_wire_next(&w, &f);)
            if (pass == 0 && f.num == 5)
                add_stat_name(r, &f);
            else if (pass == 1 && f.num == 2)
                p->name = xplane_text_of(&f);
            else if (pass == 1 && f.num == 3 && f.type == OC_WIRE_LEN) {
                OC_GROW(p->line, p->n_line, p->cap_line);
                if (!xplane_read_line(xplane_text_of(&f), &p->line[p->n_line++]))
                    r->bad++;
            } else if (pass == 1 && f.num == 4)
                add_kind(r, &f);
            else if (pass == 1 && f.num == 6)
                read_stat(r, xplane_text_of(&f), &facts);
        if (w.bad)
            return false;
    }
    p->type = facts.device;
    p->vendor = facts.vendor;
    xplane_find_lines(p);
    return true;
}

static void forget_plane(struct reading *r, struct plane *p)
{
    free(p->line);
    oc_map_free(&r->stat_of);
    oc_map_free(&r->kind_of);
    r->stat_of.arena = r->kind_of.arena = &r->scratch;
    r->n_stat = r->n_kind = 0;
}

static void xplane_name_device(struct reading *r, const struct plane *p)
{
    struct oc_profile *out = r->out;
    if (*out->device)
        return;
    if (p->type.n)
        out->device = oc_intern(&out->names, p->type.s, p->type.n);
    else if (p->vendor.n && p->vendor.n < 64)
        out->device = oc_printf(&out->arena, "%.*s GPU", (int)p->vendor.n, p->vendor.s);
    else
        out->device = oc_intern(&out->names, p->name.s, p->name.n);
}

static void take_device(struct reading *r, const struct plane *p)
{
    uint64_t before = r->events;
    if (p->streams) {
        for (size_t i = 0; i < p->n_line; i++)
            if (oc_str_starts(p->line[i].name, "Stream"))
                xplane_read_events(r, &p->line[i], R_STREAM);
    } else if (p->ops) {
        xplane_read_events(r, p->ops, R_OPS);
    }
    if (r->events == before)
        return;
    xplane_name_device(r, p);
    if (!r->steps && p->steps)
        xplane_read_events(r, p->steps, R_STEPS);
    else if (!r->steps && p->modules && is_one_module(p->modules))
        xplane_read_events(r, p->modules, R_MODULES);
    r->steps |= (r->t->kinds >> OC_EV_STEP & 1) != 0;
}

/* "/device:TPU:3" is 3, a name without a number the count of planes. */
static int64_t xplane_number_of(const struct reading *r, struct oc_str name)
{
    size_t at = name.n;
    int64_t id = 0;
    while (at && name.n - at < 9 && isdigit(name.s[at - 1]))
        at--;
    for (size_t i = at; i < name.n; i++)
        id = 10 * id + (name.s[i] - '0');
    return at < name.n ? id : (int64_t)r->planes;
}

static void take_plane(struct reading *r, struct oc_str data, bool host)
{
    struct plane p;
    r->planes++;
    r->device = !host;
    bool good = read_plane(r, data, &p);
    r->plane = xplane_number_of(r, p.name);
    if (!good)
        r->damage = "a plane is damaged";
    else if (!host && oc_str_starts(p.name, "/device:"))
        take_device(r, &p);
    else if (host && oc_str_eq(p.name, "/host:CPU"))
        for (size_t i = 0; i < p.n_line; i++)
            xplane_read_events(r, &p.line[i], R_HOST);
    forget_plane(r, &p);
}

/* ---- file ------------------------------------------------------------------------------------------- */

static void take_planes(struct reading *r, struct oc_str data, bool host)
{
    struct oc_wire w = wire_of(data);
    struct oc_wire_field f;
    while (oc_wire_next(&w, &f))
        if (f.num == 1 && f.type == OC_WIRE_LEN)
            take_plane(r, xplane_text_of(&f), host);
        else if (!host && (f.num == 2 || f.num == 3) && f.type == OC_WIRE_LEN && r->out->diags.n < 8)
            oc_diag_add(&r->out->diags, OC_WARNING, "W-source", "", "the profiler reported: %.*s",
                        (int)(f.n < 200 ? f.n : 200), (const char *)f.data);
    if (w.bad)
        r->damage = w.why;
}

/* Types and XLA's own figures; those of an operator that contains others include them. */
static void set_figures(struct reading *r)
{
    struct oc_profile *p = r->out;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_prof_rec *rec = &p->rec[i];
        uint32_t id = rec->bucket ? OC_NONE : oc_map_get(&r->figure_of, rec->name, strlen(rec->name));
        if (id == OC_NONE || id >= r->n_figure)
            continue;
        const struct figure *f = &r->figure[id];
        rec->op_type = f->type;
        if (f->differ || rec->self_ns < rec->time_ns)
            continue;
        rec->flop = f->flops * rec->calls_per_run;
        rec->bytes = f->bytes * rec->calls_per_run;
        rec->quality = OC_EST;
    }
}

static void xplane_add_warnings(struct reading *r)
{
    struct oc_diags *d = &r->out->diags;
    if (r->bad)
        oc_diag_add(d, OC_WARNING, "W-bad-event", "", "%llu damaged events were skipped",
                    (unsigned long long)r->bad);
    if (r->aggregated)
        oc_diag_add(d, OC_WARNING, "W-aggregated", "",
                    "%llu events are sums of several occurrences without times of their own and were skipped",
                    (unsigned long long)r->aggregated);
    if (r->damage) {
        oc_diag_add(d, OC_WARNING, "W-truncated", "", "the file is truncated or damaged: %s", r->damage);
        r->out->truncated = true;
    }
}

static int xplane_read_all(struct reading *r, struct oc_stream *s, struct oc_err *err)
{
    const char *data = NULL;
    uint64_t offset;
    size_t n = 0;
    while (oc_stream_fill(s, 0, &data, &n, &offset))
        continue;
    struct oc_str all = {data, n};
    take_planes(r, all, false);
    if (!r->events) {
        r->planes = 0;
        take_planes(r, all, true);
        r->out->device = "CPU";
    }
    if (!r->events)
        return oc_fail(
            err, OC_EFORMAT,
            "has no operators of XLA: no events on the lines 'XLA Ops' and 'Stream ..' of a device, none "
            "with the stat 'hlo_op' on the host%s%s",
            r->damage ? "; the file is damaged: " : "", r->damage ? r->damage : "");
    xplane_add_warnings(r);
    return 0;
}

static int xplane_read_file(const struct oc_source *src, const struct oc_profile_opts *opts,
                            struct oc_profile *out, struct oc_err *err)
{
    static const struct oc_timeline_rules rules = {.find_runs = true, .kernel_are_records = true};
    struct reading r = {.out = out, .t = oc_timeline_new(out)};
    r.figure_of.arena = r.stat_of.arena = r.kind_of.arena = &r.scratch;
    out->producer = "XLA profiler (XPlane)";
    int rc = xplane_read_all(&r, src->file[0].s, err);
    rc = oc_timeline_close(r.t, rc, opts, &rules);
    if (rc == 0 && strcmp(out->device, "CPU") != 0) {
        out->time_kind = "device time";
        out->busy_on_device = true;
    }
    set_figures(&r);
    oc_map_free(&r.figure_of);
    oc_arena_free(&r.scratch);
    free(r.figure);
    free(r.stat);
    free(r.kind);
    return rc;
}

const struct oc_importer oc_importer_xplane = {
    .name = "xplane",
    .title = "XPlane of JAX, TensorFlow and PyTorch/XLA",
    .seen = "JAX on MI300X; TensorFlow from the protobuf definition",
    .lost = "host planes of Python",
    .probe = xplane_probe,
    .read = xplane_read_file,
};
