/* The log of trtexec: inputs, the summary of all iterations, and the table of --dumpProfile
 * (samples/common/sampleReporting.cpp):
 *
 *   [05/08/2024-14:05:14] [I] === Profile (2094 iterations ) ===
 *   [05/08/2024-14:05:14] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
 *   [05/08/2024-14:05:14] [I]       16.15       0.0077       0.0075       0.5   name
 *
 * Up to 8.5 the name is the first column; the median may be absent. Layer information: trt_log.c. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "profile/core/records.h"
#include "profile/csv_rows.h"
#include "profile/formats/trt_reading.h"

/* The text form of layer information (trtexec --dumpLayerInfo, verbose logs of the builder): one layer a
 * line,
 *
 *   Name: a + b, LayerType: CaskConvolution, Inputs: [ { Name: x, Location: Device, Dimensions: [1,3,8,8],
 *   Format/Datatype: Half }], ..., Weights: {"Type": "Half", "Count": 23232}, Metadata: [ONNX Layer: a]
 *
 * is rewritten as the JSON of --exportLayerInfo, which has the same keys. TensorRT 8.0 to 8.2 prints
 *
 *   Layer(CaskConvolution): a + b, Tactic: 0x4727434768e46395, x[Half(1,3,8,8)], y[Half(1,8)] ->
 * z[Int8(1,-1)]
 */

enum { MAX_DEPTH = 6 };

struct text {
    const char *s, *end;
    struct oc_buf *out;
    unsigned depth;
};

static struct oc_str trt_layer_text_rest_of(const struct text *t)
{
    return oc_str(t->s, (size_t)(t->end - t->s));
}

static void trt_layer_text_skip_blanks(struct text *t)
{
    while (t->s < t->end && *t->s == ' ')
        t->s++;
}

static bool trt_layer_text_take(struct text *t, char c)
{
    trt_layer_text_skip_blanks(t);
    bool found = t->s < t->end && *t->s == c;
    t->s += found;
    return found;
}

/* Length of "Key: " at s, without the separator; 0: none. */
static size_t key_length(const char *s, const char *end)
{
    size_t n = 0, left = (size_t)(end - s);
    if (!left || ((*s < 'A' || *s > 'Z') && *s != '"'))
        return 0;
    while (n < left && (oc_is_alpha((unsigned char)s[n]) || s[n] == '/' || s[n] == '"'))
        n++;
    return n < left && s[n] == ':' && (n + 1 == left || s[n + 1] == ' ') ? n : 0;
}

/* End of a text: before the next key, or the end of the object. */
static const char *text_end(const struct text *t, bool nested)
{
    const char *s = t->s;
    for (; s < t->end; s++) {
        struct oc_str rest = oc_str(s, (size_t)(t->end - s));
        if ((nested && oc_str_starts(rest, " }")) || (oc_str_starts(rest, ", ") && key_length(s + 2, t->end)))
            break;
    }
    return s;
}

static void trt_layer_text_put_text(struct oc_buf *out, const char *s, size_t n)
{
    oc_buf_char(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"' || s[i] == '\\')
            oc_buf_char(out, '\\');
        oc_buf_char(out, s[i]);
    }
    oc_buf_char(out, '"');
}

/* A number, if that is the value. */
static bool put_number(struct text *t)
{
    const char *s = t->s;
    s += s < t->end && *s == '-';
    while (s < t->end && ((*s >= '0' && *s <= '9') || *s == '.'))
        s++;
    if (s == t->s || s[-1] == '-' || s[-1] == '.' ||
        (s < t->end && *s != ',' && *s != ']' && *s != '}' && *s != ' '))
        return false;
    oc_buf_add(t->out, t->s, (size_t)(s - t->s));
    t->s = s;
    return true;
}

static bool put_value(struct text *t, bool is_text, bool nested);

/* Key: value, Key: value */
static bool put_members(struct text *t, bool nested)
{
    oc_buf_char(t->out, '{');
    for (bool first = true; first || trt_layer_text_take(t, ','); first = false) {
        trt_layer_text_skip_blanks(t);
        size_t n = key_length(t->s, t->end), quote = n && *t->s == '"';
        struct oc_str key = oc_str(t->s + quote, n > 2 * quote ? n - 2 * quote : 0);
        bool is_text = oc_str_eq(key, "Name") || oc_str_eq(key, "TacticName") || oc_str_eq(key, "Metadata");
        if (!key.n)
            return false;
        if (!first)
            oc_buf_char(t->out, ',');
        trt_layer_text_put_text(t->out, key.s, key.n);
        oc_buf_char(t->out, ':');
        t->s += n + 1;
        trt_layer_text_skip_blanks(t);
        if (!put_value(t, is_text, nested))
            return false;
    }
    oc_buf_char(t->out, '}');
    return true;
}

static bool put_list(struct text *t)
{
    oc_buf_char(t->out, '[');
    for (bool first = true; !trt_layer_text_take(t, ']'); first = false) {
        if (!first && !trt_layer_text_take(t, ','))
            return false;
        if (!first)
            oc_buf_char(t->out, ',');
        trt_layer_text_skip_blanks(t);
        if (t->s == t->end || !put_value(t, false, true))
            return false;
    }
    oc_buf_char(t->out, ']');
    return true;
}

static bool put_value(struct text *t, bool is_text, bool nested)
{
    char open = '\0';
    if (t->s < t->end)
        open = *t->s;
    if (!is_text && put_number(t))
        return true;
    if (is_text || (open != '[' && open != '{')) {
        bool quoted = !is_text && open == '"';
        t->s += quoted;
        const char *end = quoted ? memchr(t->s, '"', (size_t)(t->end - t->s)) : text_end(t, nested);
        if (!end)
            return false;
        trt_layer_text_put_text(t->out, t->s, (size_t)(end - t->s));
        t->s = end + quoted;
        return true;
    }
    if (t->depth == MAX_DEPTH)
        return false;
    t->depth++;
    t->s++;
    bool ok = open == '[' ? put_list(t) : put_members(t, true) && trt_layer_text_take(t, '}');
    t->depth--;
    return ok;
}

/* ---- TensorRT 8.0 to 8.2 ---------------------------------------------------------------------------- */

/* "x[Half(1,3,8,8)], y[Half(1,8)]": names may contain brackets and commas. */
static bool put_tensors(struct oc_str s, struct oc_buf *out)
{
    oc_buf_char(out, '[');
    for (bool first = true; s.n; first = false) {
        const char *close = oc_str_find(s, ")], "), *dims, *bracket;
        bool last = !close;
        if (last && (s.n < 4 || !oc_str_ends(s, ")]")))
            return false;
        close = last ? s.s + s.n - 2 : close;
        dims = memrchr(s.s, '(', (size_t)(close - s.s));
        bracket = dims ? memrchr(s.s, '[', (size_t)(dims - s.s)) : NULL;
        if (!bracket || strspn(dims + 1, "0123456789,-") < (size_t)(close - dims - 1))
            return false;
        oc_buf_str(out, first ? "{\"Name\":" : ",{\"Name\":");
        trt_layer_text_put_text(out, s.s, (size_t)(bracket - s.s));
        oc_buf_printf(out, ",\"Dimensions\":[%.*s],\"Format/Datatype\":", (int)(close - dims - 1), dims + 1);
        trt_layer_text_put_text(out, bracket + 1, (size_t)(dims - bracket - 1));
        oc_buf_char(out, '}');
        s = last ? oc_str_skip(s, s.n) : oc_str_from(s, close + 4);
    }
    oc_buf_char(out, ']');
    return true;
}

static bool put_layer_of_8_0(struct oc_str line, struct oc_buf *out)
{
    const char *type_end = oc_str_find(line, "): "), *tactic = oc_str_find(line, ", Tactic: ");
    if (!type_end || !tactic || type_end > tactic)
        return false;
    struct oc_str type = oc_str_skip(oc_str_before(line, type_end), strlen("Layer(")),
                  name = oc_str_before(oc_str_from(line, type_end + 3), tactic),
                  rest = oc_str_from(line, tactic + strlen(", Tactic: "));
    const char *tensors = oc_str_find(rest, ", "), *arrow = oc_str_find(rest, " -> ");
    if (!tensors || !arrow)
        return false;
    struct oc_str in = arrow > tensors ? oc_str_before(oc_str_from(rest, tensors + 2), arrow) : oc_str("", 0);
    oc_buf_str(out, "{\"Name\":");
    trt_layer_text_put_text(out, name.s, name.n);
    oc_buf_str(out, ",\"LayerType\":");
    trt_layer_text_put_text(out, type.s, type.n);
    oc_buf_str(out, ",\"Inputs\":");
    bool ok = put_tensors(in, out);
    oc_buf_str(out, ",\"Outputs\":");
    ok = ok && put_tensors(oc_str_from(rest, arrow + 4), out);
    oc_buf_char(out, '}');
    return ok;
}

bool trt_layer_line(struct oc_str line, struct oc_buf *json)
{
    struct text t = {line.s, line.s + line.n, json, 0};
    size_t before = json->n;
    if (oc_str_starts(line, "Layer(")) {
        if (before)
            oc_buf_char(json, ',');
        bool ok = put_layer_of_8_0(line, json);
        json->n = ok ? json->n : before;
        return ok;
    }
    if (!oc_str_starts(trt_layer_text_rest_of(&t), "Name: ") || !oc_str_has(line, ", LayerType: "))
        return false;
    if (before)
        oc_buf_char(json, ',');
    if (put_members(&t, false))
        return true;
    json->n = before;
    return false;
}

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
        bool level = end == line.s + 2, date = line.s[1] >= '0' && line.s[1] <= '9';
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

static bool trt_log_number(struct oc_str word, double *out)
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
static bool trt_log_read_row(const struct table *t, struct oc_str rest, struct trt_time *out,
                             struct oc_str *name)
{
    double v[MAX_NUMBERS] = {0};
    for (unsigned i = 0; i < t->numbers; i++) {
        unsigned at = t->name_first ? t->numbers - 1 - i : i;
        if (!trt_log_number(t->name_first ? last_word_of(&rest) : oc_csv_word(&rest), &v[at]))
            return false;
    }
    *name = oc_csv_trim(rest);
    *out = (struct trt_time){.total_ms = valid_ms(v[0]),
                             .average_ms = valid_ms(v[1]),
                             .median_ms = t->has_median ? valid_ms(v[2]) : (double)NAN};
    return name->n > 0;
}

static void trt_log_open_table(struct table *t, struct oc_str header)
{
    t->name_first = header.n > 5 && memcmp(header.s, "Layer", 5) == 0;
    t->has_median = oc_str_find(header, "Median") != NULL;
    t->numbers = t->has_median ? 4 : 3;
    t->open = true;
}

/* ---- inputs ----------------------------------------------------------------------------------------- */

void trt_add_input(struct trt_reading *r, struct oc_profile *p, struct oc_str name, struct oc_str dims)
{
    struct oc_str none = {"", 0};
    struct oc_prof_input input;
    bool scalar = oc_str_eq(dims, "scalar");
    if (!name.n || !dims.n ||
        !oc_recorded_shape(&p->arena, scalar ? none : dims, OC_DT_UNDEFINED, &input.type))
        return;
    input.name = oc_intern(&p->names, name.s, name.n);
    OC_GROW(r->input, r->n_input, r->cap_input);
    r->input[r->n_input++] = input;
}

void trt_add_inputs(struct trt_reading *r, struct oc_profile *p, struct oc_str list)
{
    while (list.n) {
        const char *end = memchr(list.s, '+', list.n);
        struct oc_str one = oc_csv_trim((struct oc_str){list.s, end ? (size_t)(end - list.s) : list.n});
        const char *equal = one.n ? memrchr(one.s, '=', one.n) : NULL;
        size_t used = end ? (size_t)(end + 1 - list.s) : list.n;
        if (equal)
            trt_add_input(r, p, oc_str_before(one, equal), oc_str_from(one, equal + 1));
        list = oc_str_skip(list, used);
    }
}

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
        trt_add_input(r, p, name, oc_csv_word(&rest));
        return true;
    }
    return false;
}

/* ---- summary ---------------------------------------------------------------------------------------- */

/* "min = 1.1 ms, max = 3 ms, mean = 1.5 ms, median = 1.25 ms": the number after the word. */
static double trt_log_number_after(struct oc_str s, const char *word)
{
    struct oc_str rest = oc_str_after(s, word), value = oc_csv_word(&rest);
    double ms;
    return oc_parse_double(value.s, value.n, &ms) ? valid_ms(ms) : (double)NAN;
}

const char *const trt_times_name[TRT_TIMES] = {[TRT_COMPUTE] = "GPU Compute Time",
                                               [TRT_COPY_IN] = "H2D Latency",
                                               [TRT_COPY_OUT] = "D2H Latency",
                                               [TRT_ENQUEUE] = "Enqueue Time"};

static void trt_log_read_times(struct oc_str s, struct trt_summary *out)
{
    *out = (struct trt_summary){.min_ms = trt_log_number_after(s, "min = "),
                                .max_ms = trt_log_number_after(s, "max = "),
                                .mean_ms = trt_log_number_after(s, "mean = "),
                                .median_ms = trt_log_number_after(s, "median = ")};
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
            *value[i] = trt_log_number_after(s, figure[i]);
            return true;
        }
    if (oc_str_starts(s, "total compute time: ") && to->mean_ms > 0 && !r->n_query)
        n = trt_log_number_after(s, "total compute time: ") * 1e3 / to->mean_ms;
    r->n_query = n >= 1 && n < 1e9 ? llround(n) : r->n_query;
    return false;
}

static void trt_log_read_facts(struct oc_str s, struct oc_profile *p, struct trt_reading *r)
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
        trt_add_inputs(r, p, oc_str_after(s, shape));
    } else if (!read_binding(s, p, r) && !read_block(s, r)) {
        for (unsigned i = 0; i < TRT_TIMES; i++)
            if (oc_str_starts(s, trt_times_name[i]) &&
                oc_str_starts(oc_str_after(s, trt_times_name[i]), ": min = "))
                trt_log_read_times(s, &r->summary[i]);
    }
}

/* ---- the table -------------------------------------------------------------------------------------- */

/* "=== Profile (2094 iterations ) ===" */
static void trt_log_read_title(struct oc_str s, struct trt_reading *r)
{
    struct oc_str rest = oc_str_after(s, "("), word = oc_csv_word(&rest);
    int64_t count;
    r->has_count = oc_parse_i64(word.s, word.n, &count) && count > 0;
    r->count = r->has_count ? count : 0;
}

static void trt_log_add_row(struct trt_reading *r, struct oc_profile *p, struct trt_time time,
                            struct oc_str name)
{
    time.name = oc_intern(&p->names, name.s, name.n);
    r->has_times = true;
    OC_GROW(r->time, r->n_time, r->cap_time);
    r->time[r->n_time++] = time;
}

/* A line of the table. The row "Total" ends it. */
static void trt_log_read_line(struct table *t, struct oc_str text, uint64_t where, struct oc_profile *p,
                              struct trt_reading *r)
{
    struct trt_time time;
    struct oc_str name;
    if (!t->open) {
        if (oc_str_has(text, "Layer"))
            trt_log_open_table(t, text);
        return;
    }
    if (!trt_log_read_row(t, text, &time, &name))
        return; /* blank, or of another writer */
    t->ended = oc_str_eq(name, "Total");
    time.where = where;
    if (!t->ended)
        trt_log_add_row(r, p, time, name);
}

/* Layer information in the text. A builder's verbose log repeats it: the first list counts. */
struct layer_list {
    struct oc_buf json;
    bool open, ended;
};

static bool trt_log_read_layer(struct layer_list *l, struct oc_str text)
{
    if (l->ended || !text.n)
        return false;
    bool read = trt_layer_line(text, &l->json);
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
            trt_read_engine(j, key, p, &r->engine);
        oc_json_close(j);
        oc_stream_close(s);
        oc_buf_free(&all);
    }
    oc_buf_free(&l->json);
}

int trt_read_log(struct oc_stream *s, struct oc_profile *p, struct trt_reading *r, struct oc_err *err)
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
        if (trt_log_read_layer(&layers, text))
            continue;
        if (title)
            trt_log_read_title(text, r);
        else if (r->has_count && !t.ended)
            trt_log_read_line(&t, text, oc_csv_offset(c), p, r);
        else
            trt_log_read_facts(text, p, r);
    }
    int rc = oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
    oc_recordings_warn(engines.n > tables.n ? &engines : &tables, "runs of trtexec", p);
    p->truncated |= rc == 0 && t.open && !t.ended;
    take_layers(&layers, p, r);
    oc_csv_close(c);
    return rc;
}
