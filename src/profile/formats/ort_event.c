/* One event of ONNX Runtime's profile, and its arguments with a cache. */
#include "profile/formats/ort_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_scan.h"
#include "base/str.h"
#include "base/units.h"

enum { MEMO_TRIAL = 4096, MEMO_BYTES = 16 << 20, AT_HAND = 1 << 14 };

static const struct {
    const char *key;
    uint8_t n, field;
} arg_of[] = {
#define ARG(text, f)                                                                                         \
    {                                                                                                        \
        .key = (text), .n = sizeof(text) - 1, .field = (f)                                                   \
    }
    ARG("op_name", F_OP),
    ARG("provider", F_PROVIDER),
    ARG("node_index", F_INDEX),
    ARG("graph_index", F_INDEX),
    ARG("parameter_size", F_PARAM),
    ARG("activation_size", F_ACT),
    ARG("output_size", F_OUT_SIZE),
    ARG("input_type_shape", F_IN),
    ARG("output_type_shape", F_OUT),
    ARG("parent_name", F_PARENT),
    ARG("parent_ort_event_name", F_PARENT),
    ARG("parent_ort_node", F_PARENT),
    ARG("ort_event_name", F_PARENT),
    ARG("stream", F_STREAM),
    ARG("grid_x", F_GRID_X),
    ARG("grid_y", F_GRID_Y),
    ARG("grid_z", F_GRID_Z),
    ARG("block_x", F_BLOCK_X),
    ARG("block_y", F_BLOCK_Y),
    ARG("block_z", F_BLOCK_Z),
    ARG("node_name", F_NODE_NAME),
    ARG("ov_node_type", F_OV_TYPE),
    ARG("ov_status", F_OV_STATUS),
    ARG("qnn_event_type", F_QNN_TYPE),
    ARG("level", F_QNN_LEVEL),
    ARG("qnn_graph_name", F_QNN_GRAPH),
    ARG("unit", F_QNN_UNIT),
    ARG("cache_key", F_CACHE_KEY),
    ARG("started_s", F_STARTED),
    ARG("processors", F_PROCESSORS),
    ARG("threads", F_THREADS),
    ARG("processors_of_others", F_OTHERS),
    ARG("vector_probe_ns", F_PROBE_NS),
    ARG("vector_probe_fastest_ns", F_PROBE_FASTEST_NS),
    ARG("session_ns", F_SESSION_NS),
    ARG("first_run_ns", F_FIRST_RUN_NS),
#undef ARG
};

static void store_text(struct ort_reading *r, unsigned field, struct oc_str s)
{
    if (s.n >= 2 && s.s[0] == '"') { /* as written: this runtime does not escape */
        s.s++;
        s.n -= 2;
    }
    r->field[field].at = (uint32_t)r->text.n;
    r->field[field].n = (uint32_t)s.n;
    oc_buf_add(&r->text, s.s, s.n);
    if (r->text.overflowed)
        r->field[field].n = 0;
}

static unsigned ort_event_arg_field(struct oc_str key)
{
    if (!key.n || key.s[0] == 'm' ||
        key.s[0] == 't') /* memory and thread statistics: the bulk of recent traces */
        return F_COUNT;
    for (size_t i = 0; i < OC_COUNT(arg_of); i++)
        if (arg_of[i].n == key.n && memcmp(arg_of[i].key, key.s, key.n) == 0)
            return arg_of[i].field;
    return F_COUNT;
}

static void note_version(struct ort_reading *r, struct oc_str key)
{
    struct ort_trace *t = r->t;
    t->saw_node_index |= oc_str_eq(key, "node_index");
    t->saw_graph_index |= oc_str_eq(key, "graph_index");
    t->saw_memory |= oc_str_eq(key, "mem_in_use_peak");
}

static unsigned mem_field(struct oc_str key)
{
    static const char *const name[] = {[MEM_REQUESTED] = "mem_bytes_requested_in_use",
                                       [MEM_REQUESTED_DELTA] = "mem_requested_in_use_delta",
                                       [MEM_IN_USE] = "mem_bytes_in_use",
                                       [MEM_IN_USE_DELTA] = "mem_in_use_delta"};
    for (unsigned i = 0; i < MEM_COUNT; i++)
        if (oc_str_eq(key, name[i]))
            return i;
    return MEM_COUNT;
}

/* A number, usually written as text. */
static void ort_event_read_mem(struct ort_reading *r, unsigned m)
{
    struct oc_str s;
    if (!oc_json_raw(r->j, &s))
        return;
    if (s.n >= 2 && s.s[0] == '"') {
        s.s++;
        s.n -= 2;
    }
    if (oc_parse_i64(s.s, s.n, &r->mem[m]))
        r->mem_seen |= 1u << m;
}

static void read_args(struct ort_reading *r)
{
    struct oc_str key, value;
    if (!oc_json_enter(r->j))
        return;
    while (oc_json_member(r->j, &key)) {
        unsigned f = ort_event_arg_field(key);
        if (f == F_INDEX || (f == F_COUNT && key.n > 3 && key.s[0] == 'm'))
            note_version(r, key);
        unsigned m = f == F_COUNT && key.n > 4 && key.s[0] == 'm' ? mem_field(key) : MEM_COUNT;
        if (m < MEM_COUNT)
            ort_event_read_mem(r, m);
        else if (f == F_COUNT)
            oc_json_skip(r->j);
        else if (oc_json_raw(r->j, &value))
            store_text(r, f, value);
    }
}

static void ort_event_remember(struct ort_reading *r, struct ort_args *k, struct oc_str text, uint32_t at)
{
    struct ort_memo *m = &r->memo;
    k->text = text.s;
    k->n = text.n;
    k->has_key = k->fence = false;
    k->bytes = (uint32_t)r->text.n - at;
    k->fields = oc_strndup(&m->arena, r->text.data ? r->text.data + at : "", k->bytes);
    for (unsigned f = 0; f < F_COUNT; f++) {
        bool here = r->field[f].n && r->field[f].at >= at;
        k->at[f] = here ? r->field[f].at - at : 0;
        k->len[f] = here ? r->field[f].n : 0;
    }
}

/* Parses arguments that differ from those of the last event with this name. */
static void new_args(struct ort_reading *r, uint32_t id)
{
    struct ort_memo *m = &r->memo;
    struct oc_str text;
    uint32_t at = (uint32_t)r->text.n;
    if (oc_json_peek(r->j) != OC_JSON_OBJECT || !oc_json_raw(r->j, &text)) {
        read_args(r);
        return;
    }
    const char *copy = oc_strndup(&m->arena, text.s, text.n);
    oc_json_unread(r->j, text);
    read_args(r);
    if (oc_json_error(r->j, NULL) || oc_json_truncated(r->j) || r->text.overflowed) {
        m->off = true;
        return;
    }
    ort_event_remember(r, &m->item[id], (struct oc_str){copy, text.n}, at);
    r->args = id;
    r->args_loaded = true;
}

/* The arguments through the memo: cached, or parsed and stored. */
static void take_args(struct ort_reading *r)
{
    struct ort_memo *m = &r->memo;
    struct oc_str name = ort_field(r, F_NAME);
    uint32_t id = m->n;
    if (m->off || !r->has_name || !oc_str_eq(ort_field(r, F_CAT), "Node")) {
        read_args(r);
        return;
    }
    if (oc_map_add(&m->names, name.s, name.n, &id, NULL)) {
        OC_PUSH(m->item, m->n, m->cap) = (struct ort_args){
            .text = NULL, .next = OC_NONE, .name = oc_strndup(&m->arena, name.s, name.n), .n_name = name.n};
    }
    const struct ort_args *k = &m->item[id];
    m->tries++;
    if (oc_json_match(r->j, (struct oc_str){k->text, k->n})) {
        m->hits++;
        r->args = id;
        r->args_loaded = false;
        return;
    }
    m->off |= (m->tries > MEMO_TRIAL && m->hits * 2 < m->tries) || m->arena.used_bytes > MEMO_BYTES;
    new_args(r, id);
}

/* Decodes the fields of memoised arguments. */
void oc_ort_load_args(struct ort_reading *r)
{
    if (r->args == OC_NONE || r->args_loaded)
        return;
    const struct ort_args *k = &r->memo.item[r->args];
    uint32_t at = (uint32_t)r->text.n;
    oc_buf_add(&r->text, k->fields, k->bytes);
    for (unsigned f = 0; f < F_COUNT && !r->text.overflowed; f++)
        if (k->len[f]) {
            r->field[f].at = k->at[f] + at;
            r->field[f].n = k->len[f];
        }
    r->args_loaded = true;
}

static void ort_event_read_member(struct ort_reading *r, struct oc_str key)
{
    struct oc_str value;
    if (oc_str_eq(key, "args")) {
        take_args(r);
    } else if (oc_str_eq(key, "ts")) {
        r->has_ts = oc_json_i64(r->j, &r->ts_us);
    } else if (oc_str_eq(key, "dur")) {
        r->has_dur = oc_json_i64(r->j, &r->dur_us);
    } else if (oc_str_eq(key, "tid")) {
        oc_json_i64(r->j, &r->tid);
    } else if (oc_str_eq(key, "pid")) {
        oc_json_i64(r->j, &r->pid);
    } else if (oc_str_eq(key, "name")) {
        r->has_name = oc_json_raw(r->j, &value);
        if (r->has_name)
            store_text(r, F_NAME, value);
    } else if (oc_str_eq(key, "cat")) {
        if (oc_json_raw(r->j, &value))
            store_text(r, F_CAT, value);
    } else {
        oc_json_skip(r->j);
    }
}

/* False: the event is incomplete. */
bool oc_ort_read_event(struct ort_reading *r)
{
    struct oc_str key;
    oc_json_peek(r->j); /* to the closing brace */
    r->where = oc_json_offset(r->j);
    oc_buf_clear(&r->text);
    memset(r->field, 0, sizeof(r->field));
    r->has_ts = r->has_dur = r->has_name = false;
    r->tid = r->pid = 0;
    r->args = OC_NONE;
    r->mem_seen = 0;
    if (!oc_json_enter(r->j)) /* not an object: skipped */
        return !oc_json_error(r->j, NULL);
    while (oc_json_member(r->j, &key))
        ort_event_read_member(r, key);
    return !oc_json_error(r->j, NULL) && !oc_json_truncated(r->j);
}

/* ---- fast path for the layout that every version of the runtime writes ------------------------------ */

struct ahead {
    const char *p, *end;
};

static bool ort_event_literal(struct ahead *a, const char *text, size_t n)
{
    if ((size_t)(a->end - a->p) < n || !oc_same(a->p, text, n))
        return false;
    a->p += n;
    return true;
}

#define LITERAL(a, text) ort_event_literal((a), (text), sizeof(text) - 1)

/* An integer of at most 18 digits. The caller checks the text after it together with the next literal. */
static bool ort_event_number(struct ahead *a, int64_t *out)
{
    const char *p = a->p, *end = a->end - a->p > 19 ? a->p + 19 : a->end;
    uint64_t few = 0;
    unsigned n = end - p >= 8 ? oc_digits_at(p, &few) : 0;
    if (n && n < 8) {
        a->p += n;
        *out = (int64_t)few;
        return true;
    }
    bool minus = p < end && *p == '-';
    const char *from = p += minus;
    int64_t v = (int64_t)few;
    for (p += n; p < end && (unsigned)(*p - '0') <= 9 && p - from < 18; p++)
        v = v * 10 + (*p - '0');
    *out = minus ? -v : v;
    a->p = p;
    return p > from;
}

/* Parses name and arguments, from after the opening quote of the name. */
static bool is_args(struct ahead *a, const struct ort_args *k)
{
    const char *start = a->p;
    if (k->text && ort_event_literal(a, k->name, k->n_name) && LITERAL(a, "\",\"args\" : ") &&
        ort_event_literal(a, k->text, k->n) && LITERAL(a, "}"))
        return true;
    a->p = start;
    return false;
}

/* Tries the arguments that followed last time, then those of the name. */
static uint32_t find_args(struct ort_memo *m, struct ahead *a)
{
    uint32_t id = m->last == OC_NONE ? OC_NONE : m->item[m->last].next;
    if (id != OC_NONE && is_args(a, &m->item[id]))
        return id;
    const char *quote = a->end > a->p ? memchr(a->p, '"', (size_t)(a->end - a->p)) : NULL;
    id = quote ? oc_map_get(&m->names, a->p, (size_t)(quote - a->p)) : OC_NONE;
    return id != OC_NONE && is_args(a, &m->item[id]) ? id : OC_NONE;
}

bool oc_ort_read_alike(struct ort_reading *r)
{
    struct ort_memo *m = &r->memo;
    if (m->off || !m->n || oc_json_peek(r->j) != OC_JSON_OBJECT)
        return false;
    struct oc_str text = oc_json_ahead(r->j, AT_HAND);
    struct ahead a = {text.s, text.s + text.n};
    if (!LITERAL(&a, "{\"cat\" : \"Node\",\"pid\" :") || !ort_event_number(&a, &r->pid) ||
        !LITERAL(&a, ",\"tid\" :") || !ort_event_number(&a, &r->tid) || !LITERAL(&a, ",\"dur\" :") ||
        !ort_event_number(&a, &r->dur_us) || !LITERAL(&a, ",\"ts\" :") || !ort_event_number(&a, &r->ts_us) ||
        !LITERAL(&a, ",\"ph\" : \"X\",\"name\" :\""))
        return false;
    uint32_t id = find_args(m, &a);
    if (id == OC_NONE || !(m->item[id].has_key || (m->item[id].fence && !r->dur_us)))
        return false;
    if (m->last != OC_NONE)
        m->item[m->last].next = id;
    m->last = r->args = id;
    m->tries++;
    m->hits++;
    r->mem_seen = 0;
    oc_json_step(r->j, (size_t)(a.p - text.s));
    return true;
}

void oc_ort_memo_init(struct ort_memo *m)
{
    *m = (struct ort_memo){.last = OC_NONE};
    m->names.arena = &m->arena;
}

void oc_ort_memo_free(struct ort_memo *m)
{
    oc_map_free(&m->names);
    oc_arena_free(&m->arena);
    free(m->item);
}

/* ---- recorded types --------------------------------------------------------------------------------- */

#define MAX_TYPES 4096

struct ort_types oc_ort_parse_types(struct oc_arena *a, const char *text)
{
    struct oc_stream *s = oc_stream_mem(text, strlen(text));
    struct oc_json *j = oc_json_open(s);
    struct oc_type *all = NULL;
    size_t n = 0, cap = 0;
    struct oc_shape shape;
    struct oc_str key;
    if (oc_json_enter(j))
        while (oc_json_item(j) && oc_json_enter(j))
            while (oc_json_member(j, &key)) {
                unsigned dtype = oc_dtype_by_name(key.s, key.n);
                if (n == MAX_TYPES || !oc_recorded_dims(j, a, &shape))
                    continue;
                OC_PUSH(all, n, cap) = oc_tensor_type(dtype, shape);
            }
    oc_json_close(j);
    oc_stream_close(s);
    struct ort_types out = {OC_COPY_ARRAY(a, all, n), (uint32_t)n};
    free(all);
    return out;
}

/* ---- ort providers ---------------------------------------------------------------------------------- */

/* What execution providers write as device work:
 *   CUDA, ROCm, plug-ins  "Kernel", linked by parent_name, parent_ort_event_name or ort_event_name (1.26 and
 *                         later of the CUDA plug-in; before, its kernels have no link)
 *   OpenVINO              "Kernel" for each of its own operators in a partition: node_name, or the name
 * "OV::..." with ov_node_type QNN                   "Kernel" for each execution of a graph (level ROOT) and,
 * inside it, for its operators (qnn_event_type NODE) and summary figures; values in cycles have no time
 *   WebGPU                "Api", named <node>&<OpType>&<program> */

static bool is_microseconds(struct oc_str unit)
{
    return unit.n >= 2 && (oc_ncasecmp(unit.s, "us", 2) == 0 || oc_ncasecmp(unit.s, "mi", 2) == 0);
}

/* "conv1:OpId_17 (us)" is conv1. */
static struct oc_str qnn_operator(struct oc_str name)
{
    const char *id = name.n ? oc_find(name.s, name.n, ":OpId_", 6) : NULL;
    return id ? oc_str_before(name, id) : name;
}

static bool describe_qnn(const struct ort_reading *r, struct oc_str name, struct ort_work *w)
{
    w->graph = ort_field(r, F_QNN_GRAPH);
    if (!is_microseconds(ort_field(r, F_QNN_UNIT)))
        return false;
    if (oc_str_eq(ort_field(r, F_QNN_TYPE), "NODE")) {
        w->part = qnn_operator(name);
        return true;
    }
    w->encloses = oc_str_eq(ort_field(r, F_QNN_LEVEL), "ROOT");
    return w->encloses;
}

static bool describe_openvino(const struct ort_reading *r, struct oc_str name, struct ort_work *w)
{
    struct oc_str node = ort_field(r, F_NODE_NAME), type = ort_field(r, F_OV_TYPE),
                  status = ort_field(r, F_OV_STATUS);
    bool prefixed = oc_str_starts(name, "OV::");
    w->part = node.n ? node : prefixed ? oc_str_skip(name, 4) : name;
    w->part_type = type.n ? type : ort_field(r, F_OP);
    return !status.n || oc_str_eq(status, "EXECUTED");
}

static bool describe_webgpu(struct oc_str name, struct ort_work *w)
{
    const char *and = oc_str_chr(name, '&');
    w->own_clock = true;
    w->parent = (struct oc_str){name.s, and? (size_t)(and-name.s) : 0};
    return true;
}

bool oc_ort_describe_work(const struct ort_reading *r, struct oc_str name, struct ort_work *w)
{
    const struct oc_str none = {"", 0};
    *w = (struct ort_work){ort_field(r, F_PARENT), none, none, none, false, false};
    if (oc_str_eq(ort_field(r, F_CAT), "Api"))
        return ort_field(r, F_CACHE_KEY).n && describe_webgpu(name, w);
    if (ort_field(r, F_QNN_TYPE).n)
        return describe_qnn(r, name, w);
    if (ort_field(r, F_NODE_NAME).n || ort_field(r, F_OV_TYPE).n || oc_str_starts(name, "OV::"))
        return describe_openvino(r, name, w);
    return true;
}

/* A node event covers the provider's Compute(): complete where that waits for the result. */
bool oc_ort_node_is_launch(const char *provider, bool has_device_work)
{
    static const struct {
        const char *prefix; /* in any case: "CUDA", "CudaPlugin" */
        bool launches;
    } known[] = {
        {"CPU", false},     {"Dnnl", false},    {"OpenVINO", false}, {"Xnnpack", false}, {"ACL", false},
        {"ArmNN", false},   {"QNN", false},     {"CoreML", false},   {"Nnapi", false},   {"SNPE", false},
        {"VitisAI", false}, {"Rknpu", false},   {"VSINPU", false},   {"Tvm", false},     {"Azure", false},
        {"CUDA", true},     {"Tensorrt", true}, {"NvTensor", true},  {"ROCM", true},     {"MIGraphX", true},
        {"Dml", true},      {"WebGpu", true},   {"Js", true},        {"WebNN", true},    {"CANN", true},
    };
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (oc_ncasecmp(provider, known[i].prefix, strlen(known[i].prefix)) == 0)
            return known[i].launches;
    return has_device_work && *provider;
}
