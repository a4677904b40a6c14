/* PyTorch's profiler (Kineto), torch.profiler's export_chrome_trace: an object with "schemaVersion": 1 and
 * "traceEvents". Categories of 2020: Operator, Kernel, Memcpy, Memset, Runtime, and tids as text; since
 * 2021: cpu_op, user_annotation, kernel, gpu_memcpy, gpu_memset, cuda_runtime, cuda_driver, cuda_sync,
 * gpu_user_annotation, python_function; other devices: mtia_ccp_events, hpu_op, GCU_MEMCPY, mlu_runtime ...
 * Times are microseconds; "displayTimeUnit" is ignored. A kernel has the "correlation" id of the call that
 * launched it; an operator's kernels are those launched inside it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "profile/core/records.h"
#include "profile/formats/chrome_reader.h"
#include "profile/formats/ranks.h"

enum {
    F_NAME = OC_CH_ARG,
    F_CORRELATION,
    F_EXTERNAL,
    F_STREAM,
    F_DEVICE,
    F_BYTES,
    F_DIMS,
    F_TYPES,
    F_VALUES,
    F_GRID,
    F_BLOCK,
    F_ENGINE
};

static const struct oc_chrome_key arg_of[] = {
    {"External id", F_EXTERNAL},
    {"external id", F_EXTERNAL},
    {"correlation", F_CORRELATION},
    {"Input Dims", F_DIMS},
    {"Input dims", F_DIMS},
    {"Input type", F_TYPES},
    {"Concrete Inputs", F_VALUES},
    {"grid", F_GRID},
    {"block", F_BLOCK},
    {"stream", F_STREAM},
    {"device", F_DEVICE},
    {"bytes", F_BYTES},
    {"size", F_BYTES},
    {"HW event name", F_ENGINE},
    {"name", F_NAME},
};

/* Categories; classify_name() refines the kind. */
static const struct {
    const char *cat;
    uint8_t kind;
    bool old; /* layout of 2020 */
} kind_of[] = {
    {"cpu_op", OC_EV_OPERATOR, false},
    {"Operator", OC_EV_OPERATOR, true},
    {"kernel", OC_EV_KERNEL, false},
    {"Kernel", OC_EV_KERNEL, true},
    {"Runtime", OC_EV_API, true},
    {"user_annotation", OC_EV_USER, false},
    {"python_function", OC_EV_PYTHON, false},
    {"Memcpy", OC_EV_MEMCPY, true},
    {"Memset", OC_EV_MEMSET, true},
    {"overhead", OC_EV_FRAMEWORK, false},
    {"mtia_ccp_events", OC_EV_KERNEL, false},
    {"hpu_op", OC_EV_KERNEL, false},
};

/* Parts of the other categories, in any letter case: cuda_runtime, xpu_driver, mlu_memcpy,
 * GCU_USER_ANNOTATION, cuda_sync. cuda_profiler_range has counters of a kernel at an invented time. */
static const struct {
    const char *part;
    uint8_t kind;
} part_kind[] = {
    {"runtime", OC_EV_API},
    {"driver", OC_EV_API},
    {"memcpy", OC_EV_MEMCPY},
    {"memset", OC_EV_MEMSET},
    {"user_annotation", OC_EV_DEVICE_RANGE},
    {"_sync", OC_EV_SYNC},
    {"kernel", OC_EV_KERNEL},
};

/* Beginnings of the categories of a device. */
static const struct {
    const char *prefix, *device;
} device_of[] = {
    {"mtia_", "MTIA"}, {"xpu_", "XPU"}, {"hpu_", "HPU"},   {"mlu_", "MLU"},
    {"gcu_", "GCU"},   {"npu_", "NPU"}, {"musa_", "MUSA"}, {"privateuse1_", "custom device"},
};

/* Memoised classification of an event by its name and category. */
struct fact {
    uint8_t category, kind, flags; /* category OC_EV_COUNT: not classified yet */
    bool values;                   /* its cost depends on recorded values */
};

struct reading {
    struct oc_chrome c;
    struct oc_chrome_lanes lanes;
    struct oc_timeline *t;
    struct oc_profile *out;
    struct oc_arena scratch;
    struct oc_buf key;
    struct oc_ranks ranks;
    struct fact *fact; /* indexed by timeline name */
    uint32_t n_fact, cap_fact;
    const char *device_name;                          /* NULL: CUDA or ROCm */
    const char *model_name;                           /* "NVIDIA A100-SXM4-80GB", NULL: not recorded */
    bool old, since_2024, hip, device, gpu, training; /* gpu: launches on one */
    bool cut_before_device; /* truncated, and a device is named whose work would follow */
    size_t n_event;
    struct oc_chrome_left_out left_out;
};

/* ---- probe ------------------------------------------------------------------------------------------ */

static bool has_number_version(const struct oc_peek *p)
{
    const char *at = oc_find(p->data, p->n, "\"schemaVersion\"", 15), *end = p->data + p->n;
    for (at = at ? at + 15 : end; at < end && (oc_is_space((unsigned char)*at) || *at == ':'); at++)
        ;
    return at < end && isdigit((unsigned char)*at);
}

static void kineto_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    if (!p->n || oc_peek_has(p, "\"span_indx\"") || oc_peek_has(p, "\"Ascend Hardware\""))
        return;
    bool events = oc_peek_has(p, "\"traceEvents\""), version = has_number_version(p);
    bool launches = oc_peek_has(p, "\"correlation\"") || oc_peek_has(p, "\"External id\"");
    bool cats = oc_peek_has(p, "\"cpu_op\"") || oc_peek_has(p, "\"cuda_runtime\"") ||
                oc_peek_has(p, "\"user_annotation\"") ||
                (oc_peek_has(p, "\"Operator\"") && oc_peek_has(p, "\"Input dims\"")) ||
                (oc_peek_has(p, "\"Runtime\"") && oc_peek_has(p, "\"Kernel\"") && launches) ||
                oc_peek_has(p, "\"Trace iteration\"");
    if (p->data[0] == '[' && cats && launches)
        *bid = (struct oc_bid){.score = 70, .reason = "events with categories of PyTorch"};
    if (p->data[0] != '{')
        return;
    if (version && events)
        *bid = (struct oc_bid){.score = cats ? 95 : 80, .reason = "schemaVersion number and traceEvents"};
    else if (events && cats)
        *bid = (struct oc_bid){.score = 75, .reason = "traceEvents with categories of PyTorch"};
    else if (version && (oc_peek_has(p, "\"deviceProperties\"") || oc_peek_has(p, "\"distributedInfo\"")))
        *bid = (struct oc_bid){.score = 60, .reason = "schemaVersion number and deviceProperties"};
}

/* ---- types of arguments ----------------------------------------------------------------------------- */

enum { MAX_ARGS = 256 };

/* C++ type names that are not ONNX type names. */
static const struct {
    const char *name;
    uint8_t dtype;
} dtype_of[] = {
    {"float", OC_DT_FLOAT},
    {"double", OC_DT_DOUBLE},
    {"c10::Half", OC_DT_FLOAT16},
    {"c10::BFloat16", OC_DT_BFLOAT16},
    {"long int", OC_DT_INT64},
    {"long", OC_DT_INT64},
    {"long long", OC_DT_INT64},
    {"int", OC_DT_INT32},
    {"short", OC_DT_INT16},
    {"short int", OC_DT_INT16},
    {"signed char", OC_DT_INT8},
    {"unsigned char", OC_DT_UINT8},
    {"bool", OC_DT_BOOL},
    {"c10::complex<float>", OC_DT_COMPLEX64},
    {"c10::complex<double>", OC_DT_COMPLEX128},
    {"c10::Float8_e4m3fn", OC_DT_FLOAT8E4M3FN},
    {"c10::Float8_e5m2", OC_DT_FLOAT8E5M2},
    {"__int64", OC_DT_INT64},
    {"unsigned short", OC_DT_UINT16},
    {"unsigned int", OC_DT_UINT32},
    {"unsigned long", OC_DT_UINT64},
    {"c10::qint8", OC_DT_INT8},
    {"c10::quint8", OC_DT_UINT8},
};

struct arg_types {
    uint8_t dtype[MAX_ARGS]; /* OC_DT_UNDEFINED: not a tensor */
    uint32_t n;
};

static void read_kineto_types(struct oc_str text, struct arg_types *out)
{
    struct oc_stream *s = oc_stream_mem(text.s, text.n);
    struct oc_json *j = oc_json_open(s);
    struct oc_str name;
    if (oc_json_enter(j))
        while (oc_json_item(j) && out->n < MAX_ARGS) {
            uint8_t dtype = OC_DT_UNDEFINED;
            if (oc_json_string(j, &name))
                for (size_t i = 0; i < OC_COUNT(dtype_of); i++)
                    if (oc_str_eq(name, dtype_of[i].name))
                        dtype = dtype_of[i].dtype;
            out->dtype[out->n++] = dtype;
        }
    oc_json_close(j);
    oc_stream_close(s);
}

/* PyTorch's profiler: "Input Dims" [[8,3,224,224],[],[]] and "Input type" ["float","Scalar",""], which may be
 * empty. One type per argument, in the arena; arguments that are not tensors are OC_T_NONE. */
static const struct oc_type *kineto_types(struct oc_arena *a, struct oc_str dims, struct oc_str types,
                                          uint32_t *n)
{
    struct arg_types names = {.n = 0};
    struct oc_type type[MAX_ARGS] = {{0}};
    struct oc_stream *s = oc_stream_mem(dims.s, dims.n);
    struct oc_json *j = oc_json_open(s);
    *n = 0;
    if (types.n)
        read_kineto_types(types, &names);
    if (oc_json_enter(j))
        while (oc_json_item(j) && *n < MAX_ARGS) {
            struct oc_shape shape;
            unsigned dtype = *n < names.n ? names.dtype[*n] : OC_DT_UNDEFINED;
            bool tensor =
                oc_recorded_dims(j, a, &shape) && shape.ranked && (dtype != OC_DT_UNDEFINED || shape.rank);
            type[(*n)++] = tensor ? oc_tensor_type(dtype, shape) : (struct oc_type){.kind = OC_T_NONE};
        }
    oc_json_close(j);
    oc_stream_close(s);
    return OC_COPY_ARRAY(a, type, *n);
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Annotations of the profiler and of torch's own classes; the 2020 layout writes them as operators. */
static unsigned annotation_kind(struct oc_str name, unsigned kind)
{
    if (oc_str_starts(name, "ProfilerStep#"))
        return OC_EV_STEP;
    if (oc_str_starts(name, "enumerate(DataLoader)"))
        return OC_EV_DATALOADER;
    if (oc_str_starts(name, "Optimizer."))
        return OC_EV_OPTIMIZATION;
    if (kind == OC_EV_USER &&
        (oc_str_starts(name, "nccl:") || oc_str_starts(name, "gloo:") || oc_str_starts(name, "mpi:")))
        return OC_EV_COMMUNICATION;
    return kind;
}

/* aten::conv2d is a user-level operator; autograd::engine::evaluate_function only wraps others. */
static bool kineto_is_leaf(struct oc_str name)
{
    return oc_str_has(name, "::") && !oc_str_starts(name, "autograd::");
}

/* The kind of the event's category, which also determines the device. */
static unsigned classify_category(struct reading *r)
{
    char cat[48];
    struct oc_str text = oc_chrome_text(&r->c, OC_CH_CAT);
    snprintf(cat, sizeof(cat), "%.*s", (int)(text.n < sizeof(cat) ? text.n : 0), text.n ? text.s : "");
    for (size_t i = 0; i < OC_COUNT(device_of); i++)
        if (oc_ncasecmp(cat, device_of[i].prefix, strlen(device_of[i].prefix)) == 0)
            r->device_name = device_of[i].device;
    for (size_t i = 0; i < OC_COUNT(kind_of); i++)
        if (strcmp(cat, kind_of[i].cat) == 0) {
            r->old |= kind_of[i].old;
            return kind_of[i].kind;
        }
    for (size_t i = 0; i < OC_COUNT(part_kind); i++)
        if (strcasestr(cat, part_kind[i].part))
            return part_kind[i].kind;
    return OC_EV_COUNT;
}

static unsigned kineto_find_kind(struct reading *r)
{
    const struct oc_str cat = r->c.f[OC_CH_CAT];
    uint32_t *note = r->c.note[OC_CH_NOTE_CATEGORY];
    if (note && *note != OC_NONE)
        return *note;
    unsigned kind = classify_category(r);
    if (kind == OC_EV_COUNT && cat.n && !oc_chrome_is(&r->c, OC_CH_CAT, "Trace"))
        oc_chrome_leave_out(&r->left_out, cat);
    else if (note && kind != OC_EV_COUNT)
        *note = kind;
    return kind;
}

/* Of a device: its process is the rank until all is read. */
static uint16_t kineto_lane_of(struct reading *r, bool device, uint32_t rank)
{
    unsigned field[2] = {OC_CH_PID, OC_CH_TID};
    if (device && oc_chrome_has(&r->c, F_DEVICE))
        field[0] = F_DEVICE;
    if (device && oc_chrome_has(&r->c, F_STREAM))
        field[1] = F_STREAM;
    return oc_chrome_lane_at(&r->lanes, &r->c, r->t, device ? (int64_t)rank : OC_NO_ID, device, field);
}

static uint32_t kineto_shapes_of(struct reading *r, bool with_values)
{
    const struct oc_str dims = r->c.f[F_DIMS], types = r->c.f[F_TYPES], values = r->c.f[F_VALUES];
    bool arrays = dims.n && dims.s[0] == '[' && types.n && types.s[0] == '[', new;
    uint32_t *note = arrays ? r->c.note[OC_CH_NOTE_ARRAYS] : NULL;
    if (dims.n <= 2)
        return OC_NONE;
    if (note && *note != OC_NONE)
        return *note;
    oc_buf_clear(&r->key);
    oc_buf_add(&r->key, dims.s, dims.n);
    oc_buf_char(&r->key, '\x1f');
    if (types.n)
        oc_buf_add(&r->key, types.s, types.n);
    if (with_values && values.n) {
        oc_buf_char(&r->key, '\x1f');
        oc_buf_add(&r->key, values.s, values.n);
    }
    uint32_t id = oc_timeline_detail(r->t, r->key.data, r->key.n, &new);
    if (new) {
        struct oc_event_detail *d = &r->t->detail[id];
        d->in = kineto_types(&r->out->arena, dims, types, &d->n_in);
        d->has_in = d->n_in > 0;
        if (with_values && values.n)
            d->values = oc_strndup(&r->out->arena, values.s, values.n);
    }
    if (note)
        *note = id;
    return id;
}

/* Grid and block of a kernel, which distinguish launches with the same name. */
static uint32_t launch_of(struct reading *r)
{
    const struct oc_str grid = r->c.f[F_GRID], block = r->c.f[F_BLOCK];
    bool new;
    if (!grid.n)
        return OC_NONE;
    oc_buf_clear(&r->key);
    oc_buf_add(&r->key, grid.s, grid.n);
    oc_buf_char(&r->key, '\x1e');
    oc_buf_add(&r->key, block.s, block.n);
    uint32_t id = oc_timeline_detail(r->t, r->key.data, r->key.n, &new);
    if (new &&id != OC_NONE)
        r->t->detail[id].text = oc_printf(&r->out->arena, "grid %.*s%s%.*s", (int)grid.n, grid.s,
                                          block.n ? ", block " : "", (int)block.n, block.s);
    return id;
}

static uint32_t kineto_bytes_of(struct reading *r)
{
    uint64_t bytes;
    return oc_chrome_u64(&r->c, F_BYTES, &bytes) ? oc_timeline_bytes(r->t, bytes) : OC_NONE;
}

/* The launch number and the number of its operator. Some versions write the launch number in both. */
static void kineto_ids_of(struct reading *r, bool launches, uint32_t rank, bool device, uint64_t *launch,
                          uint32_t *owner)
{
    uint64_t external;
    *launch = 0;
    *owner = 0;
    if (launches)
        oc_chrome_u64(&r->c, F_CORRELATION, launch);
    if (oc_chrome_u64(&r->c, F_EXTERNAL, &external) && external != *launch && external <= UINT32_MAX)
        *owner = oc_ranks_owner(rank, (uint32_t)external);
    *launch = oc_ranks_launch(&r->ranks, rank, *launch, device);
}

/* Whether the cost of the operator depends on values ("Concrete Inputs"): strides, masks, reduced dims. */
static bool kineto_needs_values(struct oc_str name)
{
    static const char *const part[] = {
        "conv",       "attention", "attn",      "fmha",       "pool",         "batch_norm",
        "aten::to",   "_to_copy",  "aten::sum", "aten::mean", "aten::amax",   "aten::amin",
        "aten::prod", "aten::any", "aten::all", "aten::arg",  "index_select", "embedding_dense_backward"};
    for (size_t i = 0; i < OC_COUNT(part); i++)
        if (oc_str_has(name, part[i]))
            return true;
    return false;
}

/* Classifies by name, and finds the device. */
static struct fact classify_name(struct reading *r, unsigned category, struct oc_str name)
{
    unsigned kind = category;
    if (kind == OC_EV_OPERATOR || kind == OC_EV_USER)
        kind = annotation_kind(name, kind);
    if (kind == OC_EV_API && oc_str_has(name, "Synchronize"))
        kind = OC_EV_SYNC;
    if (kind == OC_EV_KERNEL && (oc_str_eq(name, "event_wait") || oc_str_eq(name, "event_record")))
        kind = OC_EV_SYNC; /* commands of MTIA's control processors that do no work */
    if (kind == OC_EV_KERNEL && oc_str_eq(name, "dma_request"))
        kind = OC_EV_MEMCPY;
    r->device |= kind >= OC_EV_KERNEL;
    r->gpu |= kind == OC_EV_API || kind == OC_EV_SYNC || oc_str_starts(name, "aten::cudnn_conv") ||
              oc_str_starts(name, "aten::cudnn_batch") || oc_str_starts(name, "nccl:") ||
              oc_str_eq(name, "aten::record_stream");
    r->training |= kind == OC_EV_OPTIMIZATION || oc_str_starts(name, "autograd::");
    r->hip |= kind == OC_EV_API && oc_str_starts(name, "hip");
    return (struct fact){.category = (uint8_t)category,
                         .kind = (uint8_t)kind,
                         .flags = kind == OC_EV_OPERATOR && kineto_is_leaf(name) ? OC_EVF_LEAF : 0,
                         .values = kineto_needs_values(name)};
}

static const struct fact *fact_of(struct reading *r, unsigned category, uint32_t id, struct oc_str name)
{
    while (r->n_fact <= id) {
        OC_GROW(r->fact, r->n_fact, r->cap_fact);
        r->fact[r->n_fact++] = (struct fact){.category = OC_EV_COUNT};
    }
    if (r->fact[id].category != category)
        r->fact[id] = classify_name(r, category, name);
    return &r->fact[id];
}

/* hpu_op is a category of both sides: work of the device has an engine, or the process id 0. */
static bool kineto_is_host_side(const struct reading *r)
{
    return oc_chrome_is(&r->c, OC_CH_CAT, "hpu_op") && !oc_chrome_has(&r->c, F_ENGINE) &&
           oc_chrome_id(&r->c, OC_CH_PID) != 0;
}

static const char *kineto_take_event(void *ctx)
{
    struct reading *r = ctx;
    int64_t ts_ns;
    uint64_t launch;
    uint32_t owner;
    struct oc_event e = {.detail = OC_NONE};
    unsigned kind = kineto_find_kind(r);
    if (kind == OC_EV_COUNT)
        return NULL;
    if (kind == OC_EV_KERNEL && r->device_name && kineto_is_host_side(r))
        kind = OC_EV_API;
    if (!oc_chrome_has(&r->c, OC_CH_NAME))
        return "missing \"name\"";
    if (!oc_chrome_ts_ns(&r->c, OC_CH_TS, &ts_ns))
        return "\"ts\" is missing or not a number";
    r->since_2024 = r->since_2024 || memchr(r->c.f[OC_CH_TS].s, '.', r->c.f[OC_CH_TS].n); /* fractions */
    if (!oc_chrome_dur_ns(&r->c, OC_CH_DUR, &e.dur_ns))
        return "\"dur\" is missing or not a number";
    if (e.dur_ns < 0)
        return "\"dur\" is negative";
    struct oc_str name = oc_chrome_text(&r->c, OC_CH_NAME);
    e.name = oc_timeline_name(r->t, name.s, name.n);
    const struct fact *fact = fact_of(r, kind, e.name, name);
    e.kind = fact->kind;
    e.flags = fact->flags;
    bool device = oc_event_on_device(kind) || (kind == OC_EV_SYNC && oc_chrome_has(&r->c, F_STREAM));
    e.start_ns = oc_timeline_at(r->t, ts_ns);
    /* "overhead" and "Trace" have process ids that are none */
    bool of_process = !device && e.kind != OC_EV_FRAMEWORK && e.kind != OC_EV_USER;
    uint32_t rank =
        of_process ? oc_ranks_host(&r->ranks, oc_chrome_id(&r->c, OC_CH_PID)) : oc_ranks_here(&r->ranks);
    e.lane = kineto_lane_of(r, device, rank);
    e.detail = e.kind == OC_EV_MEMCPY || e.kind == OC_EV_MEMSET ? kineto_bytes_of(r)
                                                                : kineto_shapes_of(r, fact->values);
    if (e.kind == OC_EV_KERNEL && e.detail == OC_NONE)
        e.detail = launch_of(r);
    kineto_ids_of(r, oc_event_on_device(e.kind) || (!device && e.kind >= OC_EV_API), rank, device, &launch,
                  &owner);
    oc_timeline_add(r->t, &e, launch, owner);
    r->n_event++;
    return NULL;
}

/* The name in deviceProperties, a list of objects, if it is the same for all devices; otherwise NULL. */
static const char *name_of_devices(struct reading *r, struct oc_str list)
{
    static const char key[] = "\"name\"";
    const char *at = list.s, *end = list.s + list.n;
    struct oc_str first = {NULL, 0};
    while ((at = oc_find(at, (size_t)(end - at), key, sizeof(key) - 1)) != NULL) {
        for (at += sizeof(key) - 1; at < end && (*at == ':' || oc_is_space((unsigned char)*at)); at++)
            ;
        const char *close = at < end && *at == '"' ? memchr(at + 1, '"', (size_t)(end - at - 1)) : NULL;
        if (!close)
            return NULL;
        struct oc_str name = {at + 1, (size_t)(close - at - 1)};
        if (first.s && (first.n != name.n || memcmp(first.s, name.s, name.n) != 0))
            return NULL;
        first = name;
        at = close + 1;
    }
    return first.n && first.n < 200 ? oc_intern(&r->out->names, first.s, first.n) : NULL;
}

static bool kineto_other_member(void *ctx, struct oc_str key, struct oc_json *j)
{
    struct reading *r = ctx;
    struct oc_str value;
    bool devices = oc_str_eq(key, "deviceProperties");
    r->since_2024 |= oc_str_eq(key, "baseTimeNanoseconds");
    if ((!devices && !oc_str_eq(key, "distributedInfo")) || !oc_json_raw(j, &value))
        return false;
    if (devices)
        r->model_name = name_of_devices(r, value);
    else
        r->gpu |= oc_str_has(value, "\"nccl\"");
    return true;
}

/* ---- file ------------------------------------------------------------------------------------------- */

static void kineto_add_warnings(struct reading *r, const struct oc_stream *s)
{
    oc_chrome_describe(&r->c, s, r->t, &r->left_out);
    r->out->producer = r->old          ? "PyTorch Kineto, layout of 2020"
                       : r->since_2024 ? "PyTorch Kineto, layout since 2024"
                                       : "PyTorch Kineto, layout of 2021 to 2023";
    r->out->training = r->training;
    bool known = r->device || r->gpu, cpu = !known && !r->out->truncated;
    r->cut_before_device = r->out->truncated && !r->device && (r->model_name || r->gpu);
    if (r->cut_before_device)
        oc_diag_add(&r->out->diags, OC_WARNING, "W-cut-before-device", "",
                    "the file ends before any work of its device (%s), whose events come last: times of "
                    "operators are host times, of launches if they ran there",
                    r->model_name ? r->model_name : "a GPU");
    else if (r->gpu && !r->device)
        oc_diag_add(
            &r->out->diags, OC_WARNING, "W-no-kernels", "",
            "operators ran on a GPU, but the trace has no kernels: the times of operators are host times "
            "of launches, and no rates follow from them (record with ProfilerActivity.CUDA)");
    r->out->device = cpu              ? "CPU"
                     : r->device_name ? r->device_name
                     : r->model_name  ? r->model_name
                     : r->hip         ? "ROCm"
                     : known          ? "CUDA"
                                      : "";
}

static int read_kineto(const struct oc_source *src, const struct oc_profile_opts *opts,
                       struct oc_profile *out, struct oc_err *err)
{
    static const struct oc_timeline_rules rules = {.find_runs = true,
                                                   .user_are_operators = true,
                                                   .kernel_are_records = true,
                                                   .keep_call_positions = true};
    struct reading r = {.out = out, .t = oc_timeline_new(out)};
    int rc = oc_chrome_open(&r.c, src->file[0].s, arg_of, OC_COUNT(arg_of), err);
    r.c.other = kineto_other_member;
    r.c.ctx = &r;
    if (rc == 0)
        oc_chrome_read(&r.c, &r.lanes, F_NAME, r.t, kineto_take_event, &r);
    if (rc == 0 && !r.n_event)
        rc = oc_fail(err, OC_EFORMAT, "has no events of PyTorch's profiler (offset %llu)",
                     (unsigned long long)oc_json_offset(r.c.j));
    if (rc == 0)
        kineto_add_warnings(&r, src->file[0].s);
    oc_ranks_settle(&r.ranks, r.t);
    rc = oc_chrome_finish(&r.c, &r.lanes, r.t, rc, opts, &rules);
    for (uint32_t i = 0; i < out->n_rec; i++)
        out->rec[i].is_launch |= ((r.gpu && !r.device) || r.cut_before_device) && !out->rec[i].bucket;
    oc_buf_free(&r.key);
    free(r.fact);
    return rc;
}

const struct oc_importer oc_importer_kineto = {
    .name = "kineto",
    .title = "PyTorch profiler trace (Kineto)",
    .seen = "traces of 2020 to 2026 on CPU, CUDA, ROCm, MTIA",
    .lost = "Python stacks; counters",
    .probe = kineto_probe,
    .read = read_kineto,
};
