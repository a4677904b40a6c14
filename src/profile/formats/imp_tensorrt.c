/* Files of trtexec (NVIDIA/TensorRT:samples/common/sampleReporting.cpp, 8.2 to 11). A measurement of an
 * engine has up to four files; each except the last can be read alone:
 *
 *   --exportProfile    [{"count": N}, {"name": layer, "timeMs": sum of all N, "averageMs", "medianMs" (8.4),
 *                      "percentage"}, ...]    names are not escaped
 *   --exportLayerInfo  {"Layers": [object | name, ...], "Bindings" | "I/O Tensors": [...]}
 *   --exportTimes      [{"startComputeMs", "endComputeMs", "computeMs", ...}, ...]
 *   --dumpProfile      a table in the log, as --dumpLayerInfo and the summary
 *   trex's metadata    {"performance_summary": {...}, "device_information": {...}, ...} */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/units.h"
#include "profile/core/records.h"
#include "profile/csv_rows.h"
#include "profile/formats/trt_reading.h"

/* ---- the log ---------------------------------------------------------------------------------------- */

/* The log of trtexec: inputs, the summary of all iterations, and the table of --dumpProfile
 * (samples/common/sampleReporting.cpp):
 *
 *   [05/08/2024-14:05:14] [I] === Profile (2094 iterations ) ===
 *   [05/08/2024-14:05:14] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
 *   [05/08/2024-14:05:14] [I]       16.15       0.0077       0.0075       0.5   name
 *
 * Up to 8.5 the name is the first column; the median may be absent. */

#define MAX_NUMBERS 4

struct table {
    bool open, ended, name_first, has_median;
    unsigned numbers;
};

/* The text after "[date] [I] ", without blanks. */
static struct oc_str content(struct oc_str line)
{
    line = oc_csv_trim(line);
    for (unsigned i = 0; i < 2 && line.n > 2 && line.s[0] == '['; i++) {
        const char *end = memchr(line.s, ']', line.n);
        bool level = end == line.s + 2, date = oc_is_digit(line.s[1]);
        if (!end || !(level || date))
            break;
        size_t used = (size_t)(end + 1 - line.s);
        line = oc_csv_trim(oc_str_skip(line, used));
    }
    return oc_csv_trim(line);
}

static struct oc_str last_word_of(struct oc_str *rest)
{
    *rest = oc_csv_trim(*rest);
    size_t n = rest->n;
    while (n > 0 && rest->s[n - 1] != ' ' && rest->s[n - 1] != '\t')
        n--;
    struct oc_str word = {rest->s + n, rest->n - n};
    rest->n = n;
    return word;
}

static bool word_number(struct oc_str word, double *out)
{
    if (word.n && word.s[word.n - 1] == '%')
        word.n--;
    return oc_parse_double(word.s, word.n, out);
}

static double valid_ms(double ms)
{
    return fabs(ms) < TRT_MAX_MS ? ms : (double)NAN;
}

/* Total, mean, median if present, share. */
static bool read_row(const struct table *t, struct oc_str rest, struct trt_time *out, struct oc_str *name)
{
    double v[MAX_NUMBERS] = {0};
    for (unsigned i = 0; i < t->numbers; i++) {
        unsigned at = t->name_first ? t->numbers - 1 - i : i;
        if (!word_number(t->name_first ? last_word_of(&rest) : oc_csv_word(&rest), &v[at]))
            return false;
    }
    *name = oc_csv_trim(rest);
    *out = (struct trt_time){.total_ms = valid_ms(v[0]),
                             .average_ms = valid_ms(v[1]),
                             .share = v[t->numbers - 1],
                             .median_ms = t->has_median ? valid_ms(v[2]) : (double)NAN};
    return name->n > 0;
}

static void open_table(struct table *t, struct oc_str header)
{
    t->name_first = header.n > 5 && memcmp(header.s, "Layer", 5) == 0;
    t->has_median = oc_str_find(header, "Median") != NULL;
    t->numbers = t->has_median ? 4 : 3;
    t->open = true;
}

/* ---- inputs ----------------------------------------------------------------------------------------- */

/* "Created input binding for images with dimensions 1x3x640x640", from 10 on "Input binding for images with
 * dimensions 1x3x640x640 is created." */
static bool read_binding(struct oc_str s, struct oc_profile *p, struct trt_reading *r)
{
    static const char *const head[] = {"Created input binding for ", "Input binding for "};
    static const char dimensions[] = " with dimensions ";
    for (size_t i = 0; i < OC_COUNT(head); i++) {
        struct oc_str name = oc_str_starts(s, head[i]) ? oc_str_after(s, head[i]) : (struct oc_str){"", 0};
        struct oc_str rest = oc_str_after(name, dimensions);
        if (!rest.n)
            continue;
        name.n -= rest.n + strlen(dimensions);
        oc_trt_add_input(r, p, name, oc_csv_word(&rest));
        return true;
    }
    return false;
}

/* ---- summary ---------------------------------------------------------------------------------------- */

/* "min = 1.1 ms, max = 3 ms, mean = 1.5 ms, median = 1.25 ms": the number after the word. */
static double number_after(struct oc_str s, const char *word)
{
    struct oc_str rest = oc_str_after(s, word), value = oc_csv_word(&rest);
    double ms;
    return oc_parse_double(value.s, value.n, &ms) ? valid_ms(ms) : (double)NAN;
}

const char *const oc_trt_times_name[TRT_TIMES] = {[TRT_COMPUTE] = "GPU Compute Time",
                                                  [TRT_COPY_IN] = "H2D Latency",
                                                  [TRT_COPY_OUT] = "D2H Latency",
                                                  [TRT_ENQUEUE] = "Enqueue Time"};

static void read_times(struct oc_str s, struct trt_summary *out)
{
    *out = (struct trt_summary){.min_ms = number_after(s, "min = "),
                                .max_ms = number_after(s, "max = "),
                                .mean_ms = number_after(s, "mean = "),
                                .median_ms = number_after(s, "median = ")};
}

/* Up to 7.x: a title, and a line for each figure, "min: 1.65186 ms". */
static bool read_block(struct oc_str s, struct trt_reading *r)
{
    static const char *const title[] = {"Host Latency", "GPU Compute", "Enqueue Time"},
                             *const figure[] = {"min: ", "max: ", "mean: ", "median: "};
    static const unsigned of_title[] = {TRT_TIMES, TRT_COMPUTE, TRT_ENQUEUE};
    for (size_t i = 0; i < OC_COUNT(title); i++)
        if (oc_str_eq(s, title[i])) {
            r->block = 1 + of_title[i];
            return true;
        }
    if (!r->block || r->block > TRT_TIMES)
        return false;
    struct trt_summary *to = &r->summary[r->block - 1];
    double *const value[] = {&to->min_ms, &to->max_ms, &to->mean_ms, &to->median_ms}, n = NAN;
    for (size_t i = 0; i < OC_COUNT(figure); i++)
        if (oc_str_starts(s, figure[i])) {
            *value[i] = number_after(s, figure[i]);
            return true;
        }
    if (oc_str_starts(s, "total compute time: ") && to->mean_ms > 0 && !r->n_query)
        n = number_after(s, "total compute time: ") * 1e3 / to->mean_ms;
    r->n_query = n >= 1 && n < 1e9 ? llround(n) : r->n_query;
    return false;
}

static void read_facts(struct oc_str s, struct oc_profile *p, struct trt_reading *r)
{
    static const char device[] = "Selected Device: ", queries[] = "Timing trace has ",
                      shape[] = "Input inference shape: ", throughput[] = "Throughput: ";
    int64_t n;
    double v;
    if (oc_str_starts(s, device)) {
        struct oc_str name = oc_csv_trim(oc_str_after(s, device));
        r->device = oc_intern(&p->names, name.s, name.n);
    } else if (oc_str_starts(s, queries)) {
        struct oc_str rest = oc_str_after(s, queries), word = oc_csv_word(&rest);
        if (oc_parse_i64(word.s, word.n, &n) && n > 0)
            r->n_query = n;
    } else if (oc_str_starts(s, throughput)) {
        struct oc_str rest = oc_str_after(s, throughput);
        p->runs_per_s = oc_csv_number(oc_csv_word(&rest), &v, NULL) && v > 0 && v < 1e12 ? v : 0;
    } else if (oc_str_starts(s, shape)) {
        oc_trt_add_inputs(r, p, oc_str_after(s, shape));
    } else if (!read_binding(s, p, r) && !read_block(s, r)) {
        for (unsigned i = 0; i < TRT_TIMES; i++)
            if (oc_str_starts(s, oc_trt_times_name[i]) &&
                oc_str_starts(oc_str_after(s, oc_trt_times_name[i]), ": min = "))
                read_times(s, &r->summary[i]);
    }
}

/* ---- the table -------------------------------------------------------------------------------------- */

/* "=== Profile (2094 iterations ) ===" */
static void read_title(struct oc_str s, struct trt_reading *r)
{
    struct oc_str rest = oc_str_after(s, "("), word = oc_csv_word(&rest);
    int64_t count;
    r->has_count = oc_parse_i64(word.s, word.n, &count) && count > 0;
    r->count = r->has_count ? count : 0;
}

/* A line of the table. The row "Total" ends it. */
static void read_line(struct table *t, struct oc_str text, uint64_t where, struct oc_profile *p,
                      struct trt_reading *r)
{
    struct trt_time time;
    struct oc_str name;
    if (!t->open) {
        if (oc_str_has(text, "Layer"))
            open_table(t, text);
        return;
    }
    if (!read_row(t, text, &time, &name))
        return; /* blank, or of another writer */
    t->ended = oc_str_eq(name, "Total");
    time.where = where;
    time.name = oc_intern(&p->names, name.s, name.n);
    r->has_times = true;
    if (t->ended)
        r->stated_ms = time.total_ms;
    else
        OC_PUSH(r->time, r->n_time, r->cap_time) = time;
}

/* Layer information in the text. A builder's verbose log repeats it: the first list counts. */
struct layer_list {
    struct oc_buf json;
    bool open, ended;
};

static bool read_layer(struct layer_list *l, struct oc_str text)
{
    if (l->ended || !text.n)
        return false;
    bool read = oc_trt_layer_line(text, &l->json);
    l->ended = l->open && !read && !oc_str_starts(text, "Name: ") && !oc_str_starts(text, "Layer(");
    l->open |= read;
    return read;
}

static void take_layers(struct layer_list *l, struct oc_profile *p, struct trt_reading *r)
{
    struct oc_str key;
    if (l->open && !r->engine.found) {
        struct oc_buf all = {0};
        oc_buf_str(&all, "{\"Layers\":[");
        oc_buf_add(&all, l->json.data, l->json.n);
        oc_buf_str(&all, "]}");
        struct oc_stream *s = oc_stream_mem(all.data, all.n);
        struct oc_json *j = oc_json_open(s);
        if (oc_json_enter(j) && oc_json_member(j, &key))
            oc_trt_read_engine(j, key, p, &r->engine);
        oc_json_close(j);
        oc_stream_close(s);
        oc_buf_free(&all);
    }
    oc_buf_free(&l->json);
}

int oc_trt_read_log(struct oc_stream *s, struct oc_profile *p, struct trt_reading *r, struct oc_err *err)
{
    struct oc_csv *c = oc_csv_open(s);
    struct oc_str line;
    struct table t = {0};
    struct layer_list layers = {0};
    struct oc_recording_count engines = {0}, tables = {0};
    while (oc_csv_line(c, &line)) {
        struct oc_str text = content(line);
        bool title = oc_str_starts(text, "=== Profile (");
        if (title)
            oc_recording_begins(&tables, c);
        if (oc_str_starts(text, "&&&& RUNNING TensorRT.trtexec"))
            oc_recording_begins(&engines, c);
        if (engines.n > 1 || tables.n > 1)
            continue; /* of another engine */
        if (read_layer(&layers, text))
            continue;
        if (title)
            read_title(text, r);
        else if (r->has_count && !t.ended)
            read_line(&t, text, oc_csv_offset(c), p, r);
        else
            read_facts(text, p, r);
    }
    int rc = oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
    oc_recordings_warn(engines.n > tables.n ? &engines : &tables, "runs of trtexec", p);
    p->truncated |= rc == 0 && t.open && !t.ended;
    take_layers(&layers, p, r);
    oc_csv_close(c);
    return rc;
}

/* ---- the files -------------------------------------------------------------------------------------- */

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
    double count, total, average, median, share;
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
    {"percentage", offsetof(struct item, share)},
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
    OC_PUSH(r->time, r->n_time, r->cap_time) = (struct trt_time){.name = x->name,
                                                                 .total_ms = x->total,
                                                                 .average_ms = x->average,
                                                                 .median_ms = x->median,
                                                                 .share = x->share,
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
    OC_PUSH(r->run, r->n_run, r->cap_run) = run;
}

/* Where the entry with the count was cut off: total / average, the same in all rows. Digits are rounded, so that the
 * rows of a long profile differ: then the count is unknown. */
static void note_ratio(struct trt_reading *t, const struct item *x)
{
    if ((t->has_count && !t->by_ratio) || !(x->total > 0 && x->average > 0))
        return;
    int64_t n = llround(fmin(x->total / x->average, 9e15));
    t->count = t->by_ratio && t->count != n ? 0 : n;
    t->has_count = t->by_ratio = true;
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
            note_ratio(r->r, &x);
            tensorrt_add_time(r->r, &x, where);
        } else if (!isnan(x.start_compute) || !isnan(x.compute)) {
            tensorrt_add_run(r->r, &x);
        } else if (!isnan(x.count)) {
            r->r->has_count = true;
            r->r->by_ratio = false;
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
        if (oc_str_eq(key, oc_trt_times_name[i]))
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
            oc_trt_add_inputs(to, r->p, s);
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
        else if (!oc_trt_read_engine(r->j, key, r->p, &r->r->engine))
            oc_json_skip(r->j);
    }
}

/* ---- importer --------------------------------------------------------------------------------------- */

void oc_trt_free_reading(struct trt_reading *r)
{
    free(r->engine.layer);
    free(r->engine.io);
    free(r->time);
    free(r->run);
    free(r->input);
}

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
        return oc_trt_read_log(f->s, r->p, r->r, err);
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
        oc_trt_fill(&all, opts, out);
    oc_trt_free_reading(&all);
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
    bool rows = first_key(peek, "\"name\"") && oc_peek_has(peek, "\"averageMs\"");
    if ((first_key(peek, "\"count\"") || rows) && oc_peek_has(peek, "\"timeMs\""))
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
    if (oc_peek_has(peek, " TensorRT.trtexec ") || /* the table may be at the end of a long log */
        oc_peek_has(peek, "] GPU Compute Time: min = ")) {
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
    .in_output = true,
};
