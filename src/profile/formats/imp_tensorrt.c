/* Files of trtexec (NVIDIA/TensorRT:samples/common/sampleReporting.cpp, 8.2 to 11). A measurement of an
 * engine has up to four files; each except the last can be read alone:
 *
 *   --exportProfile    [{"count": N}, {"name": layer, "timeMs": sum of all N, "averageMs", "medianMs" (8.4),
 *                      "percentage"}, ...]    names are not escaped
 *   --exportLayerInfo  {"Layers": [object | name, ...], "Bindings" | "I/O Tensors": [...]}
 *   --exportTimes      [{"startComputeMs", "endComputeMs", "computeMs", ...}, ...]
 *   --dumpProfile      a table in the log (trt_log.c), as --dumpLayerInfo and the summary
 *   trex's metadata    {"performance_summary": {...}, "device_information": {...}, ...} */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/trt_reading.h"

enum { PROFILE, LAYERS, TIMES, EXTRAS, LOG };

static const struct oc_part parts[] = {
    [PROFILE] = {"profile", ".profile.json", false},
    [LAYERS] = {"layer information", ".graph.json", false},
    [TIMES] = {"times", ".timing.json", false},
    [EXTRAS] = {"summary", ".profile.metadata.json", false},
    [LOG] = {"log", NULL, false},
};

struct reader {
    struct oc_json *j;
    struct oc_profile *p;
    struct trt_reading *r;
    size_t entry; /* index in the array, from 1 */
};

static double tensorrt_read_number(struct reader *r)
{
    double v;
    return oc_json_double(r->j, &v) && fabs(v) < TRT_MAX_MS ? v : (double)NAN;
}

/* ---- arrays: a profile, or times -------------------------------------------------------------------- */

/* One object of either array. */
struct item {
    const char *name;
    const char *damaged; /* a key of the format that is not followed by a colon and a value; otherwise NULL */
    double count, total, average, median;
    double compute, start_compute, end_compute, in, out, start_enq, end_enq, start_in, end_in;
    double unused; /* the last key that is not requested */
};

static const struct number {
    const char *key;
    size_t at;
} number[] = {
    {"count", offsetof(struct item, count)},
    {"timeMs", offsetof(struct item, total)},
    {"averageMs", offsetof(struct item, average)},
    {"medianMs", offsetof(struct item, median)},
    {"computeMs", offsetof(struct item, compute)},
    {"startComputeMs", offsetof(struct item, start_compute)},
    {"endComputeMs", offsetof(struct item, end_compute)},
    {"h2dMs", offsetof(struct item, in)},
    {"inMs", offsetof(struct item, in)},
    {"d2hMs", offsetof(struct item, out)},
    {"outMs", offsetof(struct item, out)},
    {"startEnqMs", offsetof(struct item, start_enq)},
    {"endEnqMs", offsetof(struct item, end_enq)},
    {"startInMs", offsetof(struct item, start_in)},
    {"endInMs", offsetof(struct item, end_in)},
    {"percentage", offsetof(struct item, unused)},
    {"latencyMs", offsetof(struct item, unused)},
    {"endToEndMs", offsetof(struct item, unused)},
    {"startH2dMs", offsetof(struct item, unused)},
    {"endH2dMs", offsetof(struct item, unused)},
    {"startD2hMs", offsetof(struct item, unused)},
    {"endD2hMs", offsetof(struct item, unused)},
    {"startOutMs", offsetof(struct item, unused)},
    {"endOutMs", offsetof(struct item, unused)},
};

static const struct number *tensorrt_number_of(struct oc_str key)
{
    for (size_t i = 0; i < OC_COUNT(number); i++)
        if (oc_str_eq(key, number[i].key))
            return &number[i];
    return NULL;
}

static void read_item(struct reader *r, struct item *x)
{
    *x = (struct item){.name = NULL};
    for (size_t i = 0; i < OC_COUNT(number); i++)
        *(double *)(void *)((char *)x + number[i].at) = NAN;
    for (bool more = true; more;) {
        struct oc_str key = {"", 0}, s;
        more = oc_json_member(r->j, &key);
        const struct number *f = tensorrt_number_of(key);
        bool is_name = oc_str_eq(key, "name");
        if (more && f)
            *(double *)(void *)((char *)x + f->at) = tensorrt_read_number(r);
        else if (more && !is_name)
            oc_json_skip(r->j);
        else if (more && oc_json_string(r->j, &s))
            x->name = oc_intern(&r->p->names, s.s, s.n);
        if ((f || is_name) && oc_json_error(r->j, NULL))
            x->damaged = f ? f->key : "name";
    }
}

static void tensorrt_add_time(struct trt_reading *r, const struct item *x, uint64_t where)
{
    r->has_times = true;
    OC_GROW(r->time, r->n_time, r->cap_time);
    r->time[r->n_time++] = (struct trt_time){.name = x->name,
                                             .total_ms = x->total,
                                             .average_ms = x->average,
                                             .median_ms = x->median,
                                             .where = where};
}

/* 7.x wrote the enqueue times as startInMs and endInMs, and the copy times in place of the compute times. */
static void tensorrt_add_run(struct trt_reading *r, const struct item *x)
{
    bool swapped = !isnan(x->start_in);
    double compute = isnan(x->compute) ? x->end_compute - x->start_compute : x->compute;
    struct trt_run run = {
        .ms = {[TRT_COMPUTE] = compute,
               [TRT_COPY_IN] = x->in,
               [TRT_COPY_OUT] = x->out,
               [TRT_ENQUEUE] = swapped ? x->end_in - x->start_in : x->end_enq - x->start_enq}};
    r->has_runs = true;
    OC_GROW(r->run, r->n_run, r->cap_run);
    r->run[r->n_run++] = run;
}

/* -1 with *err where a key of trtexec is damaged. trtexec does not escape names, so syntax errors inside a
 * name are repaired, but not trtexec's own keys: a layer whose time is lost would look like one that takes
 * no time. */
static int read_items(struct reader *r, struct oc_err *err)
{
    for (; oc_json_item(r->j); r->entry++) {
        struct item x;
        uint64_t where = oc_json_offset(r->j);
        if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
            continue;
        read_item(r, &x);
        if (x.damaged)
            return oc_fail(err, OC_EFORMAT, "entry %zu: \"%s\": %s", r->entry, x.damaged,
                           oc_json_error(r->j, NULL));
        if (oc_json_truncated(r->j) || oc_json_error(r->j, NULL))
            return 0;
        if (x.name) {
            tensorrt_add_time(r->r, &x, where);
        } else if (!isnan(x.start_compute) || !isnan(x.compute)) {
            tensorrt_add_run(r->r, &x);
        } else if (!isnan(x.count)) {
            r->r->has_count = true;
            r->r->count = x.count >= 1 && x.count < 9e15 ? (int64_t)x.count : 0;
        }
    }
    return 0;
}

static int read_array(struct reader *r, struct oc_err *err)
{
    uint64_t first = 0;
    size_t broken = 0;
    char why[160] = "";
    if (!oc_json_enter(r->j))
        return 0;
    for (r->entry = 1;; r->entry++) {
        if (read_items(r, err) != 0)
            return -1;
        const char *error = oc_json_error(r->j, broken ? NULL : &first);
        if (!error || oc_json_truncated(r->j))
            break;
        if (!broken++)
            snprintf(why, sizeof(why), "%s", error);
        if (!oc_json_resync(r->j, 1))
            break;
    }
    if (broken)
        oc_diag_add(&r->p->diags, OC_WARNING, "W-broken-event", "",
                    "%zu broken entries were skipped, the first: %s (offset %llu)", broken, why,
                    (unsigned long long)first);
    return 0;
}

/* ---- objects: layer information, or the summary ----------------------------------------------------- */

/* [min, max, mean, median, ...] */
static void tensorrt_read_summary(struct reader *r, struct trt_summary *out)
{
    double *const at[] = {&out->min_ms, &out->max_ms, &out->mean_ms, &out->median_ms};
    if (!oc_json_enter_type(r->j, OC_JSON_ARRAY))
        return;
    for (size_t i = 0; oc_json_item(r->j); i++) {
        double v = tensorrt_read_number(r);
        if (i < OC_COUNT(at))
            *at[i] = v;
    }
}

static struct trt_summary *tensorrt_summary_of(struct trt_reading *r, struct oc_str key)
{
    for (unsigned i = 0; i < TRT_TIMES; i++)
        if (oc_str_eq(key, trt_times_name[i]))
            return &r->summary[i];
    return NULL;
}

static void read_extras(struct reader *r)
{
    struct oc_str key, s;
    struct trt_reading *to = r->r;
    to->has_extras = true;
    if (!oc_json_enter_type(r->j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(r->j, &key)) {
        bool device = oc_str_eq(key, "Selected Device"), shape = oc_str_eq(key, "Input inference shape");
        struct trt_summary *summary = tensorrt_summary_of(to, key);
        if (summary)
            tensorrt_read_summary(r, summary);
        else if (oc_str_eq(key, "Throughput"))
            r->p->runs_per_s = tensorrt_read_number(r);
        else if (!device && !shape)
            oc_json_skip(r->j);
        else if (!oc_json_string(r->j, &s))
            continue;
        else if (device)
            to->device = oc_intern(&r->p->names, s.s, s.n);
        else
            trt_add_inputs(to, r->p, s);
    }
}

static void tensorrt_read_object(struct reader *r)
{
    struct oc_str key;
    if (!oc_json_enter(r->j))
        return;
    while (oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "performance_summary") || oc_str_eq(key, "device_information") ||
            oc_str_eq(key, "inference_options"))
            read_extras(r);
        else if (!trt_read_engine(r->j, key, r->p, &r->r->engine))
            oc_json_skip(r->j);
    }
}

/* ---- importer --------------------------------------------------------------------------------------- */

static bool tensorrt_is_empty(const struct trt_reading *r)
{
    return !r->has_times && !r->has_count && !r->has_runs && !r->engine.found && !trt_has_summary(r);
}

/* Several recordings in one file, for example of several batch sizes. */
static void warn_of_more(struct reader *r)
{
    struct oc_str next = oc_json_ahead(r->j, 64);
    size_t i = 0;
    while (i < next.n && oc_is_space((unsigned char)next.s[i]))
        i++;
    if (i < next.n && next.s[i] == '[')
        oc_diag_add(
            &r->p->diags, OC_WARNING, "W-more-profiles", "",
            "the file has more profiles after the first, which are not read: save each to its own file");
}

static int tensorrt_read_file(struct reader *r, const struct oc_source_file *f, struct oc_err *err)
{
    uint64_t offset = 0;
    if (f->part == LOG)
        return trt_read_log(f->s, r->p, r->r, err);
    r->j = oc_json_open(f->s);
    enum oc_json_type type = oc_json_peek(r->j);
    int rc = 0;
    if (type == OC_JSON_ARRAY)
        rc = read_array(r, err);
    if (rc == 0 && type == OC_JSON_ARRAY && !oc_json_error(r->j, NULL) && !oc_json_truncated(r->j))
        warn_of_more(r);
    else if (type == OC_JSON_OBJECT)
        tensorrt_read_object(r);
    const char *error = oc_json_error(r->j, &offset), *damaged = oc_stream_error(f->s);
    bool cut = oc_json_truncated(r->j) || damaged;
    if (rc == 0 && error && !cut && tensorrt_is_empty(r->r))
        rc = oc_fail(err, OC_EFORMAT, "%s", error);
    else if (rc == 0 && error && !cut)
        oc_diag_add(&r->p->diags, OC_WARNING, "W-broken", "",
                    "%s (offset %llu): the complete values before it are used", error,
                    (unsigned long long)offset);
    if (rc == 0 && cut) {
        r->p->truncated = true;
        oc_diag_add(
            &r->p->diags, OC_WARNING, "W-truncated", "",
            "the file is truncated inside a value (offset %llu): the complete values before it are used",
            (unsigned long long)oc_json_offset(r->j));
    }
    if (rc != 0)
        oc_err_at(err, f->path, 0, offset);
    oc_json_close(r->j);
    return rc;
}

static int read_tensorrt(const struct oc_source *src, const struct oc_profile_opts *opts,
                         struct oc_profile *out, struct oc_err *err)
{
    struct trt_reading all = {.device = ""};
    struct reader r = {.p = out, .r = &all};
    int rc = 0;
    for (unsigned i = 0; i < TRT_TIMES; i++)
        all.summary[i] = (struct trt_summary){NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < src->n && rc == 0; i++)
        rc = tensorrt_read_file(&r, &src->file[i], err);
    if (rc == 0 && tensorrt_is_empty(&all))
        rc =
            oc_fail(err, OC_EFORMAT, "%s",
                    all.has_extras ? "contains no times: pass the profile (.profile.json) as well"
                                   : "contains no layers and no times of a TensorRT engine: run trtexec with "
                                     "--dumpProfile or --exportProfile=FILE");
    if (rc == 0)
        trt_fill(&all, opts, out);
    trt_free_reading(&all);
    return rc;
}

/* ---- probing ---------------------------------------------------------------------------------------- */

/* Whether it is the first key of the first object. */
static bool first_key(const struct oc_peek *peek, const char *key)
{
    const char *open = memchr(peek->data, '{', peek->n < 64 ? peek->n : 64);
    size_t left = open ? (size_t)(peek->data + peek->n - open) : 0, k = strlen(key), i = 1;
    while (i < left && strchr(" \t\r\n", open[i]) && open[i])
        i++;
    return left > i + k && memcmp(open + i, key, k) == 0;
}

static void probe_array(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (first_key(peek, "\"count\"") && oc_peek_has(peek, "\"timeMs\""))
        *bid = (struct oc_bid){.score = 95, .reason = "count and timeMs", .part = PROFILE};
    else if (first_key(peek, "\"count\"") && peek->whole)
        *bid = (struct oc_bid){.score = 50, .reason = "count", .part = PROFILE};
    else if (oc_peek_has(peek, "\"startComputeMs\""))
        *bid = (struct oc_bid){.score = 95, .reason = "startComputeMs", .part = TIMES};
}

static void probe_tensorrt(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has(peek, "=== Profile (") && oc_peek_has(peek, "iterations ) ===")) {
        *bid = (struct oc_bid){.score = 90, .reason = "=== Profile", .part = LOG};
        return;
    }
    if (oc_peek_has(peek, " TensorRT.trtexec ")) { /* the table may be at the end of a long log */
        *bid = (struct oc_bid){.score = 85, .reason = "TensorRT.trtexec", .part = LOG};
        return;
    }
    if (peek->n && peek->data[0] == '[') {
        probe_array(peek, bid);
        return;
    }
    if (!peek->n || peek->data[0] != '{')
        return;
    bool layers = oc_peek_has(peek, "\"Layers\"");
    bool detailed = oc_peek_has(peek, "\"LayerType\"");
    bool io = oc_peek_has(peek, "\"Bindings\"") || oc_peek_has(peek, "\"I/O Tensors\"");
    if (layers && (detailed || io))
        *bid = (struct oc_bid){.score = 90, .reason = "Layers of an engine", .part = LAYERS};
    else if (first_key(peek, "\"Layers\""))
        *bid = (struct oc_bid){.score = 60, .reason = "Layers", .part = LAYERS};
    else if (oc_peek_has(peek, "\"performance_summary\"") || oc_peek_has(peek, "\"device_information\""))
        *bid = (struct oc_bid){.score = 80, .reason = "performance_summary", .part = EXTRAS};
}

const struct oc_importer oc_importer_tensorrt = {
    .name = "tensorrt",
    .title = "TensorRT trtexec profile, layer information, times (JSON), log",
    .seen = "7.1 to 8.6, 10",
    .lost = "single iterations: sums and medians only",
    .part = parts,
    .n_part = OC_COUNT(parts),
    .probe = probe_tensorrt,
    .may_lack_time = true, /* layer information alone */
    .read = read_tensorrt,
};
