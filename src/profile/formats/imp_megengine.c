/* The dump is one JSON object; members come in any order; their order within an object is significant:
 *
 *   graph_exec.operator.<id> = {id, name, type, input: [var ids], output: [var ids], ...}
 *   graph_exec.var.<id>      = {mem_plan: null | {layout: {shape, stride, dtype}, ...}, ...}
 *   profiler.device.<opr id>.<computing node> = {start, kern, end}     seconds; only the last run
 *   profiler.host.<opr id>.<thread>           = {start, kern, end}     kern -1: no kernel was launched
 *   profiler.opr_footprint.<opr id> = {computation: FLOPs | null, memory: bytes, in_shapes, out_shapes,
 *                                      in_layouts?}
 *
 * Some operators of the graph may not have run. Writer: MegEngine, src/plugin/impl/profiler.cpp and
 * opr_footprint.cpp. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/units.h"
#include "profile/core/records.h"
#include "profile/formats/native_reports.h"

struct var {
    const char *dtype; /* NULL: no memory plan */
};

struct slot { /* all data of one operator id, from anywhere in the file */
    struct oc_mge_opr opr;
    const uint32_t *input; /* indices into vars */
    uint32_t n_input;
    bool is_opr, has_times[OC_MGE_SIDES];
};

struct reader {
    struct oc_json *j;
    struct oc_profile *p;
    struct oc_map opr_ids, var_ids;
    struct slot *slot;
    size_t n_slot, cap_slot;
    struct var *var;
    size_t n_var, cap_var;
    uint32_t *order; /* operators in file order */
    size_t n_order, cap_order;
    bool has_graph, has_profiler, has_device;
};

/* ---- values ----------------------------------------------------------------------------------------- */

/* A number, or a number in a string; null and anything else is unknown. */
static struct oc_mge_time megengine_read_number(struct oc_json *j)
{
    struct oc_mge_time v = {.s = NAN};
    struct oc_str text;
    enum oc_json_type type = oc_json_peek(j);
    bool ok = type == OC_JSON_NUMBER   ? oc_json_raw(j, &text)
              : type == OC_JSON_STRING ? oc_json_string(j, &text)
                                       : (oc_json_skip(j), false);
    if (!ok || !oc_parse_double(text.s, text.n, &v.s))
        return v;
    v.known = true;
    v.integer = isfinite(v.s);
    for (size_t i = 0; i < text.n; i++)
        if (strchr(".eE", text.s[i]))
            v.integer = false;
    return v;
}

static const char *megengine_read_text(struct reader *r)
{
    struct oc_str text;
    enum oc_json_type type = oc_json_peek(r->j);
    if (type == OC_JSON_STRING ? oc_json_string(r->j, &text) : oc_json_raw(r->j, &text))
        return oc_intern(&r->p->names, text.s, text.n);
    return "";
}

/* A list of integers. False: the list contains something else. */
static bool megengine_read_ints(struct reader *r, const int64_t **out, uint32_t *n)
{
    int64_t *v = NULL;
    size_t count = 0, cap = 0;
    bool entered = oc_json_enter_type(r->j, OC_JSON_ARRAY), ok = entered;
    while (entered && oc_json_item(r->j)) {
        OC_GROW(v, count, cap);
        ok = oc_json_i64(r->j, &v[count++]) && ok;
    }
    *out = OC_COPY_ARRAY(&r->p->arena, v, count);
    free(v);
    *n = (uint32_t)count;
    return ok;
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

struct shape_list {
    struct oc_mge_shape *item;
    size_t n, cap;
    bool bad;
};

static void read_shape_items(struct reader *r, bool strides, struct shape_list *l)
{
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY)) {
        l->bad = true;
        return;
    }
    while (oc_json_item(r->j)) {
        struct oc_mge_shape s = {0};
        if (strides && oc_json_peek(r->j) == OC_JSON_NULL)
            oc_json_skip(r->j);
        else if (!megengine_read_ints(r, strides ? &s.stride : &s.dim, strides ? &s.n_stride : &s.rank))
            l->bad = true;
        OC_PUSH(l->item, l->n, l->cap) = s;
    }
}

/* [[..], ..] or null */
static struct oc_mge_shapes megengine_read_shapes(struct reader *r, bool strides)
{
    struct oc_mge_shapes out = {.state = OC_MGE_NULL};
    if (oc_json_peek(r->j) == OC_JSON_NULL) {
        oc_json_skip(r->j);
        return out;
    }
    struct shape_list l = {0};
    read_shape_items(r, strides, &l);
    if (l.bad) {
        out.state = OC_MGE_ABSENT;
    } else {
        out = (struct oc_mge_shapes){
            .item = OC_COPY_ARRAY(&r->p->arena, l.item, l.n), .n = (uint32_t)l.n, .state = OC_MGE_GIVEN};
    }
    free(l.item);
    return out;
}

/* Strides are paired with shapes; the shorter list determines the length, as in Python's zip. */
static void add_strides(struct reader *r, struct oc_mge_shapes *shapes, const struct oc_mge_shapes *strides)
{
    if (shapes->state != OC_MGE_GIVEN || strides->state != OC_MGE_GIVEN)
        return;
    if (strides->n < shapes->n)
        shapes->n = strides->n;
    struct oc_mge_shape *item = OC_NEW_ARRAY(&r->p->arena, shapes->n, struct oc_mge_shape);
    for (uint32_t i = 0; i < shapes->n; i++) {
        item[i] = shapes->item[i];
        item[i].stride = strides->item[i].stride;
        item[i].n_stride = strides->item[i].n_stride;
    }
    shapes->item = item;
}

/* ---- graph_exec ------------------------------------------------------------------------------------- */

static uint32_t megengine_slot_of(struct reader *r, struct oc_str id)
{
    uint32_t at = (uint32_t)r->n_slot;
    if (oc_map_add(&r->opr_ids, id.s, id.n, &at, NULL)) {
        OC_PUSH(r->slot, r->n_slot, r->cap_slot) = (struct slot){
            .opr = {.name = "", .type = "", .id = "", .start_s = NAN, .computation = NAN, .memory = NAN}};
    }
    return at;
}

static uint32_t var_of(struct reader *r, struct oc_str id)
{
    uint32_t at = (uint32_t)r->n_var;
    if (oc_map_add(&r->var_ids, id.s, id.n, &at, NULL)) {
        OC_PUSH(r->var, r->n_var, r->cap_var) = (struct var){0};
    }
    return at;
}

static void megengine_read_inputs(struct reader *r, struct slot *s)
{
    uint32_t *v = NULL;
    size_t n = 0, cap = 0;
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(r->j)) {
        struct oc_str id;
        bool ok = oc_json_peek(r->j) == OC_JSON_STRING ? oc_json_string(r->j, &id) : oc_json_raw(r->j, &id);
        if (!ok)
            break;
        OC_PUSH(v, n, cap) = var_of(r, id);
    }
    s->input = OC_COPY_ARRAY(&r->p->arena, v, n);
    free(v);
    s->n_input = (uint32_t)n;
}

static void read_operator(struct reader *r, struct slot *s)
{
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "name"))
            s->opr.name = megengine_read_text(r);
        else if (oc_str_eq(key, "type"))
            s->opr.type = megengine_read_text(r);
        else if (oc_str_eq(key, "id"))
            s->opr.id = megengine_read_text(r);
        else if (oc_str_eq(key, "input"))
            megengine_read_inputs(r, s);
        else
            oc_json_skip(r->j);
    }
}

static void megengine_read_operators(struct reader *r)
{
    struct oc_str id;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &id)) {
        uint32_t at = megengine_slot_of(r, id);
        struct slot s = r->slot[at];
        s.opr.where = oc_json_offset(r->j);
        read_operator(r, &s);
        if (oc_json_truncated(r->j))
            return;
        if (!s.is_opr) {
            OC_PUSH(r->order, r->n_order, r->cap_order) = at;
        }
        s.is_opr = true;
        r->slot[at] = s;
    }
}

/* The dtype in mem_plan.layout; NULL if absent. */
static const char *read_dtype(struct reader *r, const char *inner)
{
    const char *dtype = NULL;
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return NULL;
    while (oc_json_member(r->j, &key)) {
        if (!oc_str_eq(key, inner))
            oc_json_skip(r->j);
        else if (strcmp(inner, "layout") == 0)
            dtype = read_dtype(r, "dtype");
        else
            dtype = megengine_read_text(r);
    }
    return dtype;
}

static void read_vars(struct reader *r)
{
    struct oc_str id, key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &id)) {
        uint32_t at = var_of(r, id);
        if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
            continue;
        while (oc_json_member(r->j, &key)) {
            if (oc_str_eq(key, "mem_plan"))
                r->var[at].dtype = read_dtype(r, "layout");
            else
                oc_json_skip(r->j);
        }
    }
}

static void read_graph(struct reader *r)
{
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    r->has_graph = true;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "operator"))
            megengine_read_operators(r);
        else if (oc_str_eq(key, "var"))
            read_vars(r);
        else
            oc_json_skip(r->j);
    }
}

/* ---- profiler --------------------------------------------------------------------------------------- */

/* numpy's max: nan propagates. */
static void update_longest(struct oc_mge_time *best, struct oc_mge_time start, struct oc_mge_time end)
{
    if (!start.known || !end.known)
        return;
    struct oc_mge_time t = {.s = end.s - start.s, .known = true, .integer = start.integer && end.integer};
    bool old_integer = !best->known || best->integer;
    if (!best->known || !(isnan(best->s) || best->s > t.s))
        *best = t;
    best->integer = old_integer && t.integer;
}

static void megengine_read_entry(struct reader *r, struct oc_mge_time *time, double *start_s)
{
    struct oc_mge_time start = {0}, kern = {0}, end = {0};
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "start"))
            start = megengine_read_number(r->j);
        else if (oc_str_eq(key, "kern"))
            kern = megengine_read_number(r->j);
        else if (oc_str_eq(key, "end"))
            end = megengine_read_number(r->j);
        else
            oc_json_skip(r->j);
    }
    update_longest(&time[OC_MGE_END], start, end);
    update_longest(&time[OC_MGE_KERN], start, kern);
    if (start.known && !(*start_s <= start.s))
        *start_s = start.s;
}

static void megengine_read_times(struct reader *r, enum oc_mge_side side)
{
    struct oc_str id, node;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &id)) {
        uint32_t at = megengine_slot_of(r, id);
        struct oc_mge_time time[OC_MGE_ENDS] = {0};
        double start_s = NAN;
        if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
            continue;
        while (oc_json_member(r->j, &node))
            megengine_read_entry(r, time, &start_s);
        if (oc_json_truncated(r->j))
            return;
        memcpy(r->slot[at].opr.time[side], time, sizeof(time));
        if (side == OC_MGE_DEVICE || isnan(r->slot[at].opr.start_s))
            r->slot[at].opr.start_s = start_s;
    }
}

static void read_footprint(struct reader *r, struct oc_mge_opr *opr)
{
    struct oc_mge_shapes strides = {0};
    struct oc_str key;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "computation"))
            opr->computation = megengine_read_number(r->j).s;
        else if (oc_str_eq(key, "memory"))
            opr->memory = megengine_read_number(r->j).s;
        else if (oc_str_eq(key, "in_shapes"))
            opr->in = megengine_read_shapes(r, false);
        else if (oc_str_eq(key, "out_shapes"))
            opr->out = megengine_read_shapes(r, false);
        else if (oc_str_eq(key, "in_layouts"))
            strides = megengine_read_shapes(r, true);
        else
            oc_json_skip(r->j);
    }
    if (opr->computation == 0)
        opr->computation = NAN;
    add_strides(r, &opr->in, &strides);
}

static void read_footprints(struct reader *r)
{
    struct oc_str id;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &id)) {
        uint32_t at = megengine_slot_of(r, id);
        struct oc_mge_opr opr = r->slot[at].opr;
        if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
            continue;
        read_footprint(r, &opr);
        if (oc_json_truncated(r->j))
            return;
        r->slot[at].opr = opr;
    }
}

static void read_profiler(struct reader *r)
{
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    r->has_profiler = true;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "device")) {
            r->has_device = oc_json_peek(r->j) == OC_JSON_OBJECT;
            megengine_read_times(r, OC_MGE_DEVICE);
        } else if (oc_str_eq(key, "host")) {
            megengine_read_times(r, OC_MGE_HOST);
        } else if (oc_str_eq(key, "opr_footprint")) {
            read_footprints(r);
        } else {
            oc_json_skip(r->j);
        }
    }
}

static void read_dump(struct reader *r)
{
    struct oc_str key;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "graph_exec"))
            read_graph(r);
        else if (oc_str_eq(key, "profiler"))
            read_profiler(r);
        else
            oc_json_skip(r->j);
    }
}

/* ---- records ---------------------------------------------------------------------------------------- */

static unsigned megengine_dtype_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t dtype;
    } known[] = {
        {"Float32", OC_DT_FLOAT},      {"Float16", OC_DT_FLOAT16},  {"BFloat16", OC_DT_BFLOAT16},
        {"Int32", OC_DT_INT32},        {"Int16", OC_DT_INT16},      {"Int8", OC_DT_INT8},
        {"Uint8", OC_DT_UINT8},        {"Uint16", OC_DT_UINT16},    {"Bool", OC_DT_BOOL},
        {"Byte", OC_DT_UINT8},         {"QuantizedS8", OC_DT_INT8}, {"Quantized8Asymm", OC_DT_UINT8},
        {"QuantizedS32", OC_DT_INT32},
    };
    for (size_t i = 0; name && i < OC_COUNT(known); i++) {
        size_t n = strlen(known[i].name);
        if (strncmp(name, known[i].name, n) == 0 && (!name[n] || name[n] == '('))
            return known[i].dtype;
    }
    return OC_DT_UNDEFINED;
}

static const struct oc_type *make_types(struct oc_arena *a, const struct oc_mge_shapes *s,
                                        const char *const *dtype, uint32_t n_dtype)
{
    struct oc_type *type = OC_NEW_ARRAY(a, s->n, struct oc_type);
    for (uint32_t i = 0; i < s->n; i++) {
        struct oc_shape shape = oc_shape_unranked();
        if (s->item[i].rank <= OC_MAX_RANK) {
            struct oc_dim dim[OC_MAX_RANK];
            for (uint32_t k = 0; k < s->item[i].rank; k++)
                dim[k] = oc_known(s->item[i].dim[k]);
            shape = oc_shape_of(a, s->item[i].rank, dim);
        }
        type[i] = oc_tensor_type(i < n_dtype ? megengine_dtype_of(dtype[i]) : OC_DT_UNDEFINED, shape);
    }
    return type;
}

/* A measured nan has its sign set, unlike one that means "no time". */
static double ns_of(struct oc_mge_time t)
{
    return !t.known ? (double)NAN : isnan(t.s) ? copysign(t.s, -1.0) : t.s * 1e9;
}

/* Time of the operator on the device, else on the host; NAN: none. */
static double own_ns(const struct oc_mge_opr *o)
{
    bool device = o->time[OC_MGE_DEVICE][OC_MGE_END].known;
    return ns_of(o->time[device ? OC_MGE_DEVICE : OC_MGE_HOST][OC_MGE_END]);
}

static int64_t megengine_index_of(const char *id)
{
    int64_t v;
    return oc_parse_i64(id, strlen(id), &v) && v >= 0 ? v : -1;
}

static struct oc_prof_rec megengine_make_record(struct oc_arena *a, const struct oc_mge_opr *o)
{
    bool device = o->time[OC_MGE_DEVICE][OC_MGE_END].known;
    double ns = own_ns(o), total_ns = isfinite(ns) ? ns : (double)NAN;
    struct oc_prof_rec rec = oc_prof_rec_new(o->name);
    rec.op_type = o->type;
    rec.index = megengine_index_of(o->id);
    oc_rec_time(&rec, ns);
    rec.total_ns = total_ns;
    rec.host_ns = ns_of(o->time[OC_MGE_HOST][OC_MGE_END]);
    if (device) {
        rec.kernel_ns = ns;
        rec.total_kernel_ns = total_ns;
        rec.wait_ns = ns_of(o->time[OC_MGE_DEVICE][OC_MGE_KERN]);
    }
    rec.start_ns = o->start_s * 1e9;
    rec.calls = rec.runs = 1;
    rec.calls_per_run = 1;
    rec.in = make_types(a, &o->in, o->in_dtype, o->n_in_dtype);
    rec.n_in = o->in.n;
    rec.has_in = o->in.state == OC_MGE_GIVEN;
    rec.out = make_types(a, &o->out, NULL, 0);
    rec.n_out = o->out.n;
    rec.has_out = o->out.state == OC_MGE_GIVEN;
    rec.flop = o->computation;
    rec.bytes = o->memory;
    rec.where = o->where;
    return rec;
}

/* Times under an id without an operator in the graph. */
static struct oc_prof_rec stray_record(const struct oc_mge *m)
{
    struct oc_prof_rec rec = oc_prof_rec_new("(times of no operator)");
    rec.bucket = "times of no operator";
    rec.time_ns = rec.self_ns = rec.total_ns = m->stray_ns;
    rec.kernel_ns = rec.total_kernel_ns = m->stray_kernel_ns;
    rec.calls = m->n_stray;
    return rec;
}

/* Stores the dump as the profile's native form and converts its executed operators to common records. */
static void fill_profile(struct oc_profile *p, const struct oc_mge *m)
{
    p->native = m;
    p->producer = "MegEngine";
    p->device = "";
    p->time_kind = m->n_device ? "device time" : "host time";
    p->runs_from = OC_RUNS_MARKED;
    p->runs_total = p->runs_used = 1; /* events are overwritten: the file holds only the last run */
    p->rec = OC_NEW_ARRAY(&p->arena, (size_t)m->n + 1, struct oc_prof_rec);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct oc_mge_opr *o = &m->opr[i];
        if (o->time[OC_MGE_DEVICE][OC_MGE_END].known || o->time[OC_MGE_HOST][OC_MGE_END].known)
            p->rec[p->n_rec++] = megengine_make_record(&p->arena, o);
    }
    if (m->n_stray)
        p->rec[p->n_rec++] = stray_record(m);
    if (!m->n_device)
        oc_diag_add(&p->diags, OC_WARNING, m->has_device ? "W-host-times-only" : "W-no-device-time", "",
                    m->has_device ? "the profile has no device times, only host times"
                                  : "the profile has no device times: the host table is shown");
}

/* ---- conversion to the profile ---------------------------------------------------------------------- */

/* All times in the file, matched or not. */
static void megengine_sum_times(const struct reader *r, struct oc_mge *m)
{
    double all_ns = 0, kernel_ns = 0;
    for (size_t i = 0; i < r->n_slot; i++) {
        const struct slot *s = &r->slot[i];
        double ns = own_ns(&s->opr);
        bool device = s->opr.time[OC_MGE_DEVICE][OC_MGE_END].known;
        if (!isfinite(ns))
            continue;
        all_ns += ns;
        kernel_ns += device ? ns : 0;
        if (s->is_opr)
            continue;
        m->n_stray++;
        m->stray_ns += ns;
        m->stray_kernel_ns += device ? ns : 0;
    }
    r->p->imported_ns = isfinite(all_ns) ? all_ns : NAN;
    r->p->imported_kernel_ns = r->has_device && isfinite(kernel_ns) ? kernel_ns : NAN;
}

static const struct oc_mge *make_native(struct reader *r)
{
    struct oc_arena *a = &r->p->arena;
    struct oc_mge *m = OC_NEW(a, struct oc_mge);
    struct oc_mge_opr *opr = OC_NEW_ARRAY(a, r->n_order, struct oc_mge_opr);
    for (size_t i = 0; i < r->n_order; i++) {
        const struct slot *s = &r->slot[r->order[i]];
        const char **dtype = OC_NEW_ARRAY(a, s->n_input, const char *);
        for (uint32_t k = 0; k < s->n_input; k++)
            dtype[k] = r->var[s->input[k]].dtype;
        opr[i] = s->opr;
        opr[i].in_dtype = dtype;
        opr[i].n_in_dtype = s->n_input;
        m->n_device += s->opr.time[OC_MGE_DEVICE][OC_MGE_END].known;
        m->n_host += s->opr.time[OC_MGE_HOST][OC_MGE_END].known;
    }
    m->opr = opr;
    m->n = (uint32_t)r->n_order;
    m->has_device = r->has_device;
    megengine_sum_times(r, m);
    return m;
}

/* ---- importer --------------------------------------------------------------------------------------- */

static int megengine_check(struct reader *r, const char *path, struct oc_err *err)
{
    uint64_t offset = 0;
    const char *error = oc_json_error(r->j, &offset);
    if (error)
        oc_fail(err, OC_EFORMAT, "%s", error);
    else if (!r->has_graph || !r->has_profiler)
        oc_fail(err, OC_EFORMAT, "missing \"%s\"", r->has_graph ? "profiler" : "graph_exec");
    else
        return 0;
    return oc_err_at(err, path, 0, offset);
}

static int read_megengine(const struct oc_source *src, const struct oc_profile_opts *opts,
                          struct oc_profile *out, struct oc_err *err)
{
    (void)opts; /* one run, one value: every statistic is equal */
    struct reader r = {.j = oc_json_open(src->file[0].s), .p = out};
    r.opr_ids.arena = r.var_ids.arena = &out->arena;
    read_dump(&r);
    int rc = megengine_check(&r, src->file[0].path, err);
    if (rc == 0) {
        fill_profile(out, make_native(&r));
        out->truncated = oc_json_truncated(r.j);
    }
    if (out->truncated)
        oc_diag_add(
            &out->diags, OC_WARNING, "W-truncated", "",
            "the file is truncated inside a value (offset %llu): the complete values before it are used",
            (unsigned long long)oc_json_offset(r.j));
    oc_json_close(r.j);
    oc_map_free(&r.opr_ids);
    oc_map_free(&r.var_ids);
    free(r.slot);
    free(r.var);
    free(r.order);
    return rc;
}

static void probe_megengine(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (!peek->n || peek->data[0] != '{')
        return;
    bool graph = oc_peek_has(peek, "\"graph_exec\""), profiler = oc_peek_has(peek, "\"profiler\"");
    bool nodes = oc_peek_has(peek, "\"node_type\""), footprint = oc_peek_has(peek, "\"opr_footprint\"");
    if (graph && profiler)
        *bid = (struct oc_bid){.score = 100, .reason = "graph_exec and profiler"};
    else if (graph && nodes)
        *bid = (struct oc_bid){.score = 90, .reason = "graph_exec with nodes"};
    else if (profiler && footprint)
        *bid = (struct oc_bid){.score = 90, .reason = "profiler with opr_footprint"};
    else if (graph)
        *bid = (struct oc_bid){.score = 40, .reason = "graph_exec"};
}

const struct oc_importer oc_importer_megengine = {
    .name = "megengine",
    .title = "MegEngine load_and_run --profile (JSON)",
    .seen = "none; from the writer",
    .lost = "all runs but the last, which the file has",
    .probe = probe_megengine,
    .may_lack_time = true,
    .read = read_megengine,
};
