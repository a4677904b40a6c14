/* One event of ONNX Runtime's profile: in the layout that every version of the runtime writes by a scan of its own, in
 * any other by the JSON reader. Both give the same texts; what has another form is left to the reader. */
#include "profile/formats/ort_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_scan.h"
#include "base/str.h"
#include "base/units.h"

enum { AT_HAND = 1 << 14 }; /* an event with the statistics of 64 threads has 8 kB */

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
    ARG("in_turns", F_TURNS_ID),
    ARG("in_turns_ns", F_TURN_NS),
    ARG("processors", F_PROCESSORS),
    ARG("processors_of_others", F_OTHERS),
    ARG("vector_probe_ns", F_PROBE_NS),
    ARG("vector_probe_fastest_ns", F_PROBE_FASTEST_NS),
    ARG("session_ns", F_SESSION_NS),
    ARG("first_run_ns", F_FIRST_RUN_NS),
#undef ARG
};

static struct oc_str without_quotes(struct oc_str s) /* as written: this runtime does not escape */
{
    return s.n >= 2 && s.s[0] == '"' ? (struct oc_str){s.s + 1, s.n - 2} : s;
}

/* A view of the reader lasts until its next call: the text is copied. */
static void store_text(struct ort_reading *r, unsigned field, struct oc_str s)
{
    s = without_quotes(s);
    r->at[field] = r->text.n;
    r->field[field].n = s.n;
    oc_buf_add(&r->text, s.s, s.n);
    if (r->text.overflowed)
        r->field[field].n = 0;
}

static unsigned ort_event_arg_field(struct oc_str key)
{
    if (!key.n || key.s[0] == 'm') /* memory statistics: the bulk of recent traces */
        return F_COUNT;
    if (key.s[0] == 't')
        return oc_str_eq(key, "thread_scheduling_stats") ? F_THREAD_STATS
               : oc_str_eq(key, "threads")               ? F_THREADS
                                                         : F_COUNT;
    for (size_t i = 0; i < OC_COUNT(arg_of); i++)
        if (arg_of[i].n == key.n && oc_same(arg_of[i].key, key.s, key.n))
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
    s = without_quotes(s);
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

static void ort_event_read_member(struct ort_reading *r, struct oc_str key)
{
    struct oc_str value;
    if (oc_str_eq(key, "args")) {
        read_args(r);
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

static void clear_event(struct ort_reading *r)
{
    memset(r->field, 0, sizeof(r->field));
    r->has_ts = r->has_dur = r->has_name = false;
    r->tid = r->pid = 0;
    r->mem_seen = 0;
}

/* False: the event is incomplete. */
bool oc_ort_read_event(struct ort_reading *r)
{
    struct oc_str key;
    oc_buf_clear(&r->text);
    clear_event(r);
    if (!oc_json_enter(r->j)) /* not an object: skipped */
        return !oc_json_error(r->j, NULL);
    while (oc_json_member(r->j, &key))
        ort_event_read_member(r, key);
    for (unsigned f = 0; f < F_COUNT; f++)
        if (r->field[f].n)
            r->field[f].s = r->text.data + r->at[f];
    return !oc_json_error(r->j, NULL) && !oc_json_truncated(r->j);
}

/* ---- the layout that every version of the runtime writes ---------------------------------------------- */

/* {"cat" : "Node","pid" :1,"tid" :1,"dur" :4,"ts" :5,"ph" : "X","name" :"conv1_kernel_time","args" : {"op_name" : "Conv",...}}
 * The order of the arguments is that of a hash table and differs from event to event: each is found by its key. */

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

/* A text up to its closing quote, from after the opening one. False: it has an escape, or does not end here. */
static inline bool plain_text(struct ahead *a, struct oc_str *out)
{
    size_t n = oc_find_quote(a->p, (size_t)(a->end - a->p));
    *out = (struct oc_str){a->p, n};
    a->p += n;
    return LITERAL(a, "\"");
}

/* An array or object up to its end. Only its brackets are checked: those who read the text parse it. */
static bool nested_text(struct ahead *a, struct oc_str *out)
{
    const char *from = a->p;
    struct oc_str inner;
    uint64_t braces = 1; /* a bit for each open bracket, 1: a brace; above them a 1 */
    while (a->p < a->end) {
        char c = *a->p++;
        bool brace = c == '{' || c == '}';
        if (c == '[' || c == '{') {
            if (braces >> 63)
                return false;
            braces = braces << 1 | brace;
        } else if (c == ']' || c == '}') {
            if ((braces & 1) != brace)
                return false;
            braces >>= 1;
            if (braces == 1) {
                *out = (struct oc_str){from, (size_t)(a->p - from)};
                return true;
            }
        } else if (c == '"' && !plain_text(a, &inner)) {
            return false;
        }
    }
    return false;
}

/* A value that is written like that of the key expected next needs no scan. */
static bool expected_value(struct ahead *a, struct oc_str expected, struct oc_str *out)
{
    if (!expected.n || (size_t)(a->end - a->p) <= expected.n || !oc_same(a->p, expected.s, expected.n) ||
        (a->p[expected.n] != ',' && a->p[expected.n] != '}'))
        return false;
    *out = (struct oc_str){a->p, expected.n};
    a->p += expected.n;
    return true;
}

static bool plain_value(struct ahead *a, struct oc_str *out)
{
    if (a->p == a->end)
        return false;
    char c = *a->p;
    if (c == '"') {
        a->p++;
        return plain_text(a, out);
    }
    if (c == '[' || c == '{')
        return nested_text(a, out);
    const char *from = a->p;
    while (a->p < a->end && ((unsigned)(*a->p - '0') <= 9 || *a->p == '-' || *a->p == '.'))
        a->p++;
    *out = (struct oc_str){from, (size_t)(a->p - from)};
    return out->n > 0;
}

/* Figures of the allocator count in the first run only: there the reader takes them. */
static bool plain_argument(struct ort_reading *r, struct ahead *a, const struct ort_key *next)
{
    struct oc_str key, value;
    if (!LITERAL(a, "\"") || !plain_text(a, &key) || !LITERAL(a, " : "))
        return false;
    unsigned f = ort_event_arg_field(key);
    struct oc_str expected = f == F_IN ? next->in : f == F_OUT ? next->out : (struct oc_str){"", 0};
    if ((!expected_value(a, expected, &value) && !plain_value(a, &value)) || value.n > r->most_text)
        return false;
    bool memory = f == F_COUNT && key.n > 4 && memcmp(key.s, "mem_", 4) == 0;
    if (f == F_INDEX || (memory && !r->t->saw_memory))
        note_version(r, key);
    if (f < F_COUNT)
        r->field[f] = value;
    return !memory || r->t->n_run;
}

static bool plain_event(struct ort_reading *r, struct ahead *a)
{
    static const struct ort_key none;
    uint32_t id = r->last_key == OC_NONE ? OC_NONE : r->t->key[r->last_key].next;
    const struct ort_key *next = id == OC_NONE ? &none : &r->t->key[id];
    if (!LITERAL(a, "{\"cat\" : \"") || !plain_text(a, &r->field[F_CAT]) || !LITERAL(a, ",\"pid\" :") ||
        !ort_event_number(a, &r->pid) || !LITERAL(a, ",\"tid\" :") || !ort_event_number(a, &r->tid) ||
        !LITERAL(a, ",\"dur\" :") || !ort_event_number(a, &r->dur_us) || !LITERAL(a, ",\"ts\" :") ||
        !ort_event_number(a, &r->ts_us) || !LITERAL(a, ",\"ph\" : \"X\",\"name\" :\"") ||
        !plain_text(a, &r->field[F_NAME]) || !LITERAL(a, ",\"args\" : {"))
        return false;
    if (!LITERAL(a, "}"))
        do {
            if (!plain_argument(r, a, next))
                return false;
        } while (LITERAL(a, ","));
    else
        a->p--;
    return LITERAL(a, "}}") && r->field[F_NAME].n <= r->most_text;
}

size_t oc_ort_scan_event(struct ort_reading *r)
{
    if (oc_json_peek(r->j) != OC_JSON_OBJECT)
        return 0;
    struct oc_str text = oc_json_ahead(r->j, AT_HAND);
    struct ahead a = {text.s, text.s + text.n};
    clear_event(r);
    if (!plain_event(r, &a))
        return 0;
    r->has_ts = r->has_dur = r->has_name = true;
    return (size_t)(a.p - text.s);
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
