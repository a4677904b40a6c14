/* Lines that runtimes print per operator or kernel: ONNX Runtime Web's console, TensorFlow Lite's benchmark_model,
 * MNN, ggml, nvprof; OpenVINO -pc (imp_openvino.c), oneDNN verbose, DeepSpeed, RKNN (op_lines.c), MACE
 * (function_tables.c). One LOG_SOURCE per source. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/formats/function_tables.h"

/* ---- ONNX Runtime Web ------------------------------------------------------------------------------- */

/* "[profiling] kernel "id|type|name|program" input[0]: [1,3] | float32, output[0]: .., execution time: 9 ns";
 * before 1.17 "id|[type] name", "id|name" or "[type] id". */
static bool is_web_line(struct oc_str line)
{
    return oc_str_find(line, "[profiling] kernel \"") && oc_str_find(line, "execution time: ");
}

static const struct oc_type *web_types(struct oc_arena *a, struct oc_str s, const char *what, uint32_t *n)
{
    enum { MAX_TYPES = 32 };
    struct oc_type type[MAX_TYPES];
    *n = 0;
    const char *p, *end = s.s + s.n;
    while (*n < MAX_TYPES && (p = oc_str_find(s, what))) {
        const char *open = oc_find(p, (size_t)(end - p), ": [", 3);
        const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
        const char *bar = close ? oc_find(close, (size_t)(end - close), " | ", 3) : NULL;
        const char *stop = bar ? memchr(bar, ',', (size_t)(end - bar)) : NULL;
        if (!stop || !oc_recorded_shape(a, (struct oc_str){open + 3, (size_t)(close - open - 3)},
                                        oc_recorded_dtype(oc_csv_between(bar + 3, stop)), &type[*n]))
            break;
        ++*n;
        s = (struct oc_str){stop, (size_t)(end - stop)};
    }
    return *n ? OC_COPY_ARRAY(a, type, *n) : NULL;
}

static void web_shapes(struct oc_arena *a, const void *ctx, struct oc_op_row *row)
{
    const struct oc_str *shapes = ctx;
    row->in = web_types(a, *shapes, "input[", &row->n_in);
    row->out = web_types(a, *shapes, "output[", &row->n_out);
}

/* A kernel may run several programs: the shapes of a helper (a transposition) are not those of the node. */
static bool is_main_program(struct oc_str type, struct oc_str program)
{
    char text[64];
    if (!program.n || !type.n || type.n >= sizeof(text))
        return true;
    memcpy(text, type.s, type.n);
    text[type.n] = '\0';
    bool product = oc_csv_same(type, "Conv") || oc_csv_same(type, "Gemm") || oc_csv_same(type, "MatMul");
    return oc_str_find(program, text) || (product && oc_str_find(program, "MatMul"));
}

static void split_kernel(struct oc_str s, struct oc_op_row *row, struct oc_str *program)
{
    struct oc_str part[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    size_t n = 0;
    while (n < 3 && oc_str_chr(s, '|'))
        part[n++] = oc_str_take(&s, '|');
    part[n] = s;
    *program = part[3];
    if (n >= 2) { /* id|type|name[|program] */
        row->type = part[1];
        row->name = part[2].n ? part[2] : part[1];
        return;
    }
    row->name = row->type = s;
    const char *close = s.n && s.s[0] == '[' ? oc_str_chr(s, ']') : NULL;
    if (close) {
        row->type = oc_csv_between(s.s + 1, close);
        row->name = oc_csv_between(close + 1, s.s + s.n);
    }
}

/* An id names one kernel of a session: if it names another one, the page was loaded again. */
static bool is_first_page(struct oc_op_log *log, struct oc_str id, const struct oc_op_row *row)
{
    struct oc_str part[] = {row->type, row->name};
    uint32_t hash = 2166136261u, known;
    for (size_t i = 0; i < OC_COUNT(part); i++)
        for (size_t k = 0; k < part[i].n; k++)
            hash = (hash ^ (unsigned char)part[i].s[k]) * 16777619u;
    known = hash;
    oc_map_add(&log->kernels, id.s, id.n, &known, NULL);
    if (known != hash) {
        oc_map_free(&log->kernels);
        oc_map_set(&log->kernels, id.s, id.n, hash);
    }
    return oc_log_is_first(log, known != hash);
}

static int take_web(struct oc_op_log *log, struct oc_str line)
{
    struct oc_op_row row = {.kind = OC_EV_OPERATOR, .device = true, .calls = 1};
    struct oc_str program;
    if (!is_web_line(line))
        return 0;
    const char *end = line.s + line.n;
    const char *from = oc_str_find(line, "[profiling] kernel \"") + strlen("[profiling] kernel \"");
    const char *quote = memchr(from, '"', (size_t)(end - from)),
               *time = oc_str_find(line, "execution time: ");
    if (!quote || time < quote)
        return -1;
    struct oc_str value = {time + strlen("execution time: "),
                           (size_t)(end - time) - strlen("execution time: ")};
    struct oc_str number = oc_csv_word(&value), unit = oc_csv_word(&value);
    if (!oc_log_time(number, 1, &row.total_ns) || !oc_str_starts(unit, "ns"))
        return -1;
    row.min_ns = row.max_ns = row.total_ns;
    struct oc_str kernel = {from, (size_t)(quote - from)};
    split_kernel(kernel, &row, &program);
    if (!is_first_page(log, oc_str_take(&kernel, '|'), &row))
        return 0;
    struct oc_str shapes = {quote + 1, (size_t)(time - quote - 1)};
    if (is_main_program(row.type, program)) {
        row.shapes = shapes;
        row.types = web_shapes;
        row.ctx = &row.shapes;
    } else {
        row.shapes = program;
    }
    row.provider = program;
    oc_log_add(log, &row);
    return 0;
}

/* ---- TensorFlow Lite -------------------------------------------------------------------------------- */

/* Tables "Run Order" after "Operator-wise Profiling Info for Regular Benchmark Runs:"; fields separated by
 * tabs, by blanks where a terminal replaced the tabs, or by ", " in CSV. A time is the mean of a call; "times
 * called" is per run; the line "Timings (microseconds): count=50 .. avg=123" has the number of runs. Without "Run
 * Order", as TensorFlow's benchmark_model prints it, "Summary by node type" has all times of each type. */
enum { LITE_TYPE, LITE_AVG, LITE_CALLS, LITE_SHARE, LITE_NAME, LITE_COUNT, LITE_COLUMNS };
static const char *const lite_column[LITE_COLUMNS] = {"node type", "avg ms", "times called",
                                                      "%",         "name",   "count"};

/* "times called" 0: the row had less calls than there are runs, the integer part of their ratio is printed.
 * Its time per run is its share of the mean run, and at least that of one call. */
struct rare_row {
    struct oc_op_row row; /* total_ns: of one call; texts are in rows.scratch */
    double share;         /* NAN: no such column */
    struct rare_row *next;
};

struct oc_lite_log {
    struct rare_row *rare;
    double run_ns; /* mean of the runs after the warm-up; NAN: not stated */
    uint64_t runs; /* their number; 0: not stated */
};

static bool is_lite_header(struct oc_str line)
{
    return (oc_str_find(line, "ode type]") && oc_str_find(line, "[avg ms]")) ||
           (oc_str_starts(oc_csv_trim(line), "node type,") && oc_str_find(line, "avg_ms"));
}

/* The length of the first field. */
static size_t lite_field(struct oc_str s, bool csv)
{
    const char *end = csv ? memchr(s.s, ',', s.n) : NULL;
    size_t k = end ? (size_t)(end - s.s) : 0;
    while (!csv && k < s.n && s.s[k] != '\t' && !(s.s[k] == ' ' && k + 1 < s.n && s.s[k + 1] == ' '))
        k++;
    return csv && !end ? s.n : k;
}

static size_t split_lite(struct oc_str line, bool csv, struct oc_str *field, size_t max)
{
    size_t n = 0;
    line = oc_csv_trim(line);
    while (line.n && n < max) {
        size_t k = n + 1 < max ? lite_field(line, csv) : line.n;
        field[n++] = oc_csv_trim((struct oc_str){line.s, k});
        k += k < line.n;
        line = oc_str_skip(line, k);
        if (!csv)
            line = oc_csv_trim(line);
    }
    return n;
}

static void lite_header(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str field[OC_LOG_FIELDS];
    log->csv = !oc_str_find(line, "ode type]");
    size_t n = split_lite(line, log->csv, field, OC_LOG_FIELDS);
    for (size_t k = 0; k < LITE_COLUMNS; k++) {
        log->at[k] = OC_CSV_NONE;
        for (size_t i = 0; i < n; i++) {
            struct oc_str f = field[i];
            if (f.n > 2 && f.s[0] == '[')
                f = (struct oc_str){f.s + 1, f.n - 2};
            if (oc_csv_same(f, lite_column[k]) || (k == LITE_AVG && oc_csv_same(f, "avg_ms")))
                log->at[k] = i;
        }
    }
    log->width = n;
    if (log->at[LITE_COUNT] != OC_CSV_NONE)
        log->at[LITE_NAME] = log->at[LITE_TYPE];
    log->in_table = log->wanted && log->at[LITE_NAME] != OC_CSV_NONE && log->at[LITE_AVG] != OC_CSV_NONE;
    log->wanted = false;
}

static struct oc_lite_log *lite_log(struct oc_op_log *log)
{
    if (!log->lite) {
        log->lite = OC_NEW(&log->rows.scratch, struct oc_lite_log);
        log->lite->run_ns = NAN;
    }
    return log->lite;
}

static void add_rare(struct oc_op_log *log, const struct oc_op_row *row, struct oc_str share)
{
    struct oc_lite_log *lite = lite_log(log);
    struct rare_row *rare = OC_NEW(&log->rows.scratch, struct rare_row);
    struct oc_str unit;
    *rare = (struct rare_row){.row = *row, .next = lite->rare};
    rare->row.where = oc_csv_offset(log->c);
    if (!oc_csv_number(share, &rare->share, &unit) || !(rare->share >= 0 && rare->share <= 100))
        rare->share = NAN;
    rare->share /= 100;
    rare->row.name.s = oc_strndup(&log->rows.scratch, row->name.s, row->name.n);
    rare->row.type.s = oc_strndup(&log->rows.scratch, row->type.s, row->type.n);
    lite->rare = rare;
}

static int lite_row(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str field[OC_LOG_FIELDS];
    size_t n = split_lite(line, log->csv, field, log->width);
    struct oc_op_row row = {.kind = OC_EV_OPERATOR, .min_ns = NAN, .max_ns = NAN, .calls = 1};
    double calls = 1;
    if (n < log->width || !oc_log_time(field[log->at[LITE_AVG]], 1e6, &row.total_ns))
        return -1;
    if (log->at[LITE_CALLS] != OC_CSV_NONE && oc_csv_number(field[log->at[LITE_CALLS]], &calls, NULL) &&
        calls >= 1 && calls < 1e9)
        row.calls = (uint64_t)calls;
    if (log->at[LITE_COUNT] == OC_CSV_NONE)
        row.total_ns *= (double)row.calls;
    row.name = field[log->at[LITE_NAME]];
    row.type = oc_csv_at(field, n, log->at[LITE_TYPE]);
    if (calls == 0)
        add_rare(log, &row, oc_csv_at(field, n, log->at[LITE_SHARE]));
    else
        oc_log_add(log, &row);
    return 0;
}

/* "Timings (microseconds): count=50 first=130 curr=120 min=117 max=133 avg=123.4 std=12"; "curr=9(all same)" */
static void lite_timings(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str count = oc_str_after(line, "count="), avg = oc_str_after(line, "avg="), rest;
    double v;
    if (!oc_csv_number(oc_csv_word(&count), &v, NULL) || !(v >= 1 && v < 1e9))
        return;
    log->rows.runs = (uint64_t)v;
    if (!avg.n)
        avg = oc_str_after(line, "curr=");
    if (oc_csv_number(oc_csv_word(&avg), &v, &rest) && v > 0 && v < 1e12)
        log->rows.run_ns = v * 1e3;
}

/* Before the table: "Inference timings in us: .. Inference (avg): 12100.0"; LiteRT: "Inference (avg):  1.38 ms
 * (1000 runs)". */
static void lite_latency(struct oc_op_log *log, struct oc_str line)
{
    struct oc_lite_log *lite = lite_log(log);
    struct oc_str rest = oc_str_after(line, "Inference (avg):"), word = oc_csv_word(&rest);
    double value, unit_ns;
    if (word.n && word.s[word.n - 1] == ',')
        word.n--;
    if (!oc_csv_number(word, &value, NULL) || !(value > 0 && value < 1e12))
        return;
    if (!oc_csv_time_unit(oc_csv_word(&rest), &unit_ns))
        unit_ns = oc_str_find(line, "timings in us:") ? 1e3 : NAN;
    lite->run_ns = value * unit_ns;
    lite->runs = 0;
    rest = oc_csv_trim(rest);
    if (oc_str_starts(rest, "(") && oc_str_find(rest, " runs)")) {
        rest = oc_str_skip(rest, 1);
        if (!oc_csv_u64(oc_csv_word(&rest), &lite->runs))
            lite->runs = 0;
    }
}

static void finish_lite(struct oc_op_log *log)
{
    struct oc_lite_log *lite = lite_log(log);
    struct oc_op_rows *rows = &log->rows;
    size_t lost = 0;
    for (struct rare_row *rare = lite->rare; rare; rare = rare->next) {
        struct oc_op_row *row = &rare->row;
        double shared_ns = rare->share * rows->run_ns;
        if (isnan(shared_ns) || !rows->runs) {
            lost++;
            continue;
        }
        row->total_ns = fmax(row->total_ns / (double)rows->runs, shared_ns);
        row->calls = 0; /* fewer than one in a run */
        oc_op_rows_add(rows, row);
    }
    if (lost)
        oc_diag_add(&log->p->diags, OC_WARNING, "W-row", "",
                    "%zu rows ran in a part of the runs, and the file does not show in how many: their time "
                    "is missing",
                    lost);
    if (isnan(lite->run_ns) || !rows->runs)
        return;
    rows->run_ns = lite->run_ns;
    if (lite->runs && lite->runs < rows->runs) {
        oc_diag_add(
            &log->p->diags, OC_INFO, "I-warm-up", "",
            "the rows are means of %llu runs, with those of the warm-up; the latency is the mean of %llu "
            "runs after it",
            (unsigned long long)rows->runs, (unsigned long long)lite->runs);
        rows->runs = lite->runs;
    }
}

static int take_lite(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str s = oc_csv_trim(line);
    bool blank =
        !s.n || (s.s[s.n - 1] == ']' && lite_field(s, log->csv) == s.n); /* or the prefix of a log alone */
    log->rows.means = true;
    if (!log->had_table && oc_str_find(line, "Inference (avg):"))
        lite_latency(log, line);
    if (oc_str_find(line, "Profiling Info for Benchmark Initialization") ||
        oc_str_find(line, "Delegate internal")) {
        log->section = 1;
    } else if (oc_str_find(line, "Regular Benchmark Runs")) {
        log->section = 2;
        oc_recording_begins(&log->recordings, log->c);
    } else if (oc_str_find(line, "=====")) {
        log->wanted = (oc_str_find(line, "Run Order") || oc_str_find(line, "Summary by node type")) &&
                      log->section != 1 && !log->had_table;
        log->in_table = false;
    } else if (is_lite_header(line)) {
        lite_header(log, line);
        log->had_table |= log->in_table;
    } else if (log->in_table && !blank) {
        return lite_row(log, line);
    } else if (log->in_table) {
        log->in_table = false;
    } else if (log->had_table && !log->rows.runs && log->section != 1 &&
               oc_str_find(line, "Timings (microseconds)")) {
        lite_timings(log, line);
    }
    return 0;
}

/* ---- MNN, ggml -------------------------------------------------------------------------------------- */

/* MNNV2Basic.out, ModuleBasic.out: "  /conv/Conv_output_0  [Convolution] run 10 average cost 0.4684 ms, 0.309 %,
 * FlopsRate: 1.763 %", then "Avg= 5.570600 ms, ..": the mean of a run that is not profiled; earlier without the type.
 * timeProfile.out: a table with tabs. */
static bool is_mnn_header(struct oc_str line)
{
    return oc_str_find(line, "Node Name") && oc_str_find(line, "Op Type") && oc_str_find(line, "Avg(ms)");
}

static bool is_mnn_line(struct oc_str line)
{
    return is_mnn_header(line) || (oc_str_find(line, " run ") && oc_str_find(line, " average cost ") &&
                                   oc_str_find(line, "FlopsRate: "));
}

static void mnn_run(struct oc_op_log *log, struct oc_str line)
{
    double ns;
    log->wanted = log->recordings.n > 0; /* another recording begins */
    if (log->recordings.n != 1 || log->rows.run_ns > 0)
        return;
    struct oc_str number = oc_csv_word(&line), unit = oc_csv_word(&line);
    if (oc_csv_number(number, &ns, NULL) && ns > 0 && ns < 1e12 && oc_str_starts(unit, "ms"))
        log->rows.run_ns = ns * 1e6;
}

/* head: "name [type]" */
static int mnn_row(struct oc_op_log *log, struct oc_str head, struct oc_str ms, uint64_t runs)
{
    struct oc_op_row row = {.kind = OC_EV_OPERATOR, .calls = 1, .min_ns = NAN, .max_ns = NAN};
    const char *open = head.n && head.s[head.n - 1] == ']' ? memrchr(head.s, '[', head.n) : NULL;
    if (!oc_log_time(ms, 1e6, &row.total_ns))
        return -1;
    row.type = open ? oc_csv_between(open + 1, head.s + head.n - 1) : (struct oc_str){"", 0};
    row.name = open ? oc_csv_between(head.s, open) : head;
    if (oc_log_is_first(log, log->wanted)) {
        log->rows.runs = runs;
        oc_log_add(log, &row);
    }
    log->wanted = false;
    return 0;
}

static int take_mnn(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str field[OC_LOG_FIELDS], s = oc_csv_trim(line);
    uint64_t runs;
    log->rows.means = true;
    if (oc_str_starts(s, "Avg="))
        mnn_run(log, oc_str_skip(s, 4));
    const char *run = oc_str_find(s, " run ");
    const char *cost = run ? oc_str_find(oc_str_from(s, run + strlen(" run")), " average cost ") : NULL;
    if (is_mnn_header(line)) {
        log->in_table = log->wanted = true;
        return 0;
    }
    log->in_table = log->in_table && split_lite(s, false, field, OC_LOG_FIELDS) == 5;
    if (log->in_table) {
        oc_buf_clear(&log->text);
        oc_buf_printf(&log->text, "%.*s [%.*s]", (int)field[0].n, field[0].s, (int)field[1].n, field[1].s);
        return mnn_row(log, (struct oc_str){log->text.data, log->text.n}, field[2], 0);
    }
    if (!cost || !is_mnn_line(line))
        return 0;
    struct oc_str time = oc_str_from(s, cost + strlen(" average cost ")), number = oc_csv_word(&time);
    if (!oc_csv_u64(oc_csv_between(run + strlen(" run"), cost), &runs) || !runs ||
        !oc_str_starts(oc_csv_word(&time), "ms"))
        return -1;
    return mnn_row(log, oc_csv_between(s.s, run), number, runs);
}

/* GGML_VK_PERF_LOGGER=1 of llama.cpp: after "Vulkan Timings:", for each graph, "MUL_MAT q4_K m=64 n=1 k=32: 24 x
 * 120.5 us = 2892 us (12.3 GFLOPS/s)"; at first without " = 2892 us". */
static bool is_ggml_header(struct oc_str line)
{
    return oc_csv_same(oc_csv_trim(line), "Vulkan Timings:");
}

static int take_ggml(struct oc_op_log *log, struct oc_str line)
{
    struct oc_op_row row = {.kind = OC_EV_OPERATOR, .device = true, .min_ns = NAN, .max_ns = NAN};
    struct oc_str s = oc_csv_trim(line);
    const char *colon = s.n ? memrchr(s.s, ':', s.n) : NULL, *end;
    double rate;
    if (is_ggml_header(line) || !colon || oc_str_starts(s, "Total time:")) {
        log->in_table = is_ggml_header(line);
        return 0;
    }
    struct oc_str rest = oc_str_from(s, colon + 1), calls = oc_csv_word(&rest), times = oc_csv_word(&rest),
                  mean = oc_csv_word(&rest);
    if (!log->in_table || !oc_csv_same(times, "x"))
        return 0;
    if (!oc_csv_u64(calls, &row.calls) || !row.calls || !oc_log_time(mean, 1e3, &row.total_ns) ||
        !oc_csv_same(oc_csv_word(&rest), "us"))
        return -1;
    row.total_ns *= (double)row.calls;
    const char *open = oc_str_chr(rest, '(');
    if (open && (rest = oc_str_from(rest, open + 1), oc_csv_number(oc_csv_word(&rest), &rate, NULL)) &&
        rate >= 0) {
        row.has_flop = true;
        row.flop = rate * row.total_ns;
    }
    row.name = oc_csv_trim(oc_str_before(s, colon));
    for (end = s.s; end < colon && (oc_is_alnum((unsigned char)*end) || *end == '_');)
        end++;
    row.type = oc_str_before(s, end);
    oc_log_add(log, &row);
    return 0;
}

/* ---- nvprof ----------------------------------------------------------------------------------------- */

static bool is_nvprof_summary(struct oc_str line)
{
    return oc_str_find(line, "Time(%)") && oc_str_find(line, "Calls") && oc_str_find(line, "Avg") &&
           !memchr(line.s, ',', line.n) && !memchr(line.s, '|', line.n);
}

static bool is_nvprof_trace(struct oc_str line)
{
    return oc_str_starts(oc_csv_trim(line), "Start ") && oc_str_find(line, "Duration") &&
           oc_str_find(line, "Grid Size") && oc_str_find(line, "Name");
}

static bool is_nvprof_header(struct oc_str line)
{
    return is_nvprof_summary(line) || is_nvprof_trace(line);
}

/* Each process that nvprof followed is a recording. */
static bool is_first_process(struct oc_op_log *log)
{
    bool begins = log->process != log->counted;
    log->counted = log->process;
    return oc_log_is_first(log, begins);
}

/* "GPU activities:  67.08%  8.6348ms  14  616.77us  512ns  3.1952ms  f(int)" */
static int nvprof_row(struct oc_op_log *log, struct oc_str line)
{
    struct oc_op_row row = {.device = true};
    double mean;
    struct oc_str s = oc_csv_trim(line);
    const char *colon =
        oc_str_starts(s, "GPU activities:") || oc_str_starts(s, "API calls:") || oc_str_starts(s, "OpenACC")
            ? memchr(s.s, ':', s.n)
            : NULL;
    if (colon) {
        log->section = oc_str_starts(s, "GPU") ? 1 : 2;
        s = oc_str_from(s, colon + 1);
    }
    struct oc_str percent = oc_csv_word(&s), time = oc_csv_word(&s), calls = oc_csv_word(&s),
                  avg = oc_csv_word(&s), min = oc_csv_word(&s), max = oc_csv_word(&s);
    if (!percent.n || percent.s[percent.n - 1] != '%' || !oc_csv_time(time, &row.total_ns) ||
        !oc_csv_u64(calls, &row.calls) || !oc_csv_time(avg, &mean) || !oc_csv_time(min, &row.min_ns) ||
        !oc_csv_time(max, &row.max_ns) || !s.n)
        return -1;
    row.name = s;
    row.device = log->section != 2;
    row.kind = row.device ? oc_cuda_kind(s) : OC_EV_OPERATOR;
    /* calls of the runtime run at the same time as the device */
    if (row.device && !log->rows.device) {
        oc_op_rows_clear(&log->rows);
        log->recordings.n = 0;
    }
    if ((row.device || !log->rows.device) && is_first_process(log))
        oc_log_add(log, &row);
    return 0;
}

/* "488.05ms  85.106us  (39063 1 1)  (256 1 1)  ..  f(int) [112]": the name begins below the header's. */
static int nvprof_launch(struct oc_op_log *log, struct oc_str line)
{
    struct oc_op_row row = {.device = true, .calls = 1};
    struct oc_str s = line, start = oc_csv_word(&s), duration = oc_csv_word(&s);
    double at_ns;
    if (!oc_csv_time(start, &at_ns))
        return -1;
    if (!oc_csv_time(duration, &row.total_ns) || line.n <= log->name_at)
        return 0; /* a page fault has no duration */
    row.name = oc_cuda_name(oc_csv_trim((struct oc_str){line.s + log->name_at, line.n - log->name_at}));
    if (oc_is_page_migration(row.name))
        return 0;
    row.min_ns = row.max_ns = row.total_ns;
    row.kind = oc_cuda_kind(row.name);
    if (is_first_process(log))
        oc_log_add(log, &row);
    return 0;
}

static int take_nvprof_line(struct oc_op_log *log, struct oc_str line)
{
    struct oc_str s = oc_csv_trim(line);
    if (is_nvprof_header(line)) {
        const char *name = oc_str_find(line, "Name");
        log->in_table = true;
        log->csv = is_nvprof_trace(line);
        log->name_at = (size_t)(name - line.s);
        return 0;
    }
    if (oc_str_starts(s, "==") || !s.n) {
        log->in_table = false;
        if (oc_str_find(s, "API calls:"))
            log->section = 2;
        else if (oc_str_find(s, "Profiling result")) {
            const char *end = oc_find(s.s + 2, s.n - 2, "==", 2);
            log->section = 0;
            if (end)
                oc_csv_u64(oc_csv_between(s.s + 2, end), &log->process);
        }
        return 0;
    }
    if (!log->in_table || (log->csv ? nvprof_launch : nvprof_row)(log, line) == 0)
        return 0;
    log->in_table = false; /* program output after the table */
    return 0;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

struct log {
    const char *producer, *device, *reason;
    bool (*is_line)(struct oc_str line);                    /* a line that only this source has */
    int (*take)(struct oc_op_log *log, struct oc_str line); /* -1: a broken row */
    void (*finish)(struct oc_op_log *log);                  /* after the last line; NULL: nothing to do */
};

static void probe_log(const struct log *l, const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has_line(peek, l->is_line))
        *bid = (struct oc_bid){.score = 86, .reason = l->reason};
}

static int op_logs_read_lines(struct oc_op_log *log, const struct log *l, struct oc_err *err)
{
    struct oc_str line;
    size_t bad = 0, lines = 0;
    while (oc_csv_line(log->c, &line)) {
        if (++lines > oc_csv_max_rows(log->c))
            return oc_csv_too_many(log->c, err);
        if (l->take(log, line) == 0)
            continue;
        if (oc_csv_cut(log->c))
            oc_prof_cut(log->p, log->c);
        else
            bad++;
    }
    oc_recordings_warn(&log->recordings, "recordings", log->p);
    if (bad)
        oc_diag_add(&log->p->diags, OC_WARNING, "W-row", "",
                    "%zu lines are damaged, for example by other output between them: their time is missing",
                    bad);
    return oc_csv_failed(log->c) ? oc_csv_error(log->c, err) : 0;
}

static int read_log(const struct log *l, const struct oc_source *src, const struct oc_profile_opts *opts,
                    struct oc_profile *out, struct oc_err *err)
{
    struct oc_op_log log = {.c = oc_csv_open(src->file[0].s), .p = out};
    struct oc_arena keys = {0};
    log.kernels.arena = &keys;
    oc_op_rows_init(&log.rows, out, opts);
    out->producer = l->producer;
    int rc = op_logs_read_lines(&log, l, err);
    if (rc == 0 && l->finish)
        l->finish(&log);
    if (rc == 0)
        oc_op_rows_finish(&log.rows);
    out->device = log.rows.device && !isnan(out->imported_ns) ? "" : l->device;
    oc_op_rows_free(&log.rows);
    oc_buf_free(&log.text);
    oc_map_free(&log.kernels);
    oc_arena_free(&keys);
    oc_csv_close(log.c);
    return rc;
}

#define LOG_SOURCE(id, TITLE, SEEN, LOST, ...)                                                               \
    static const struct log log_##id = __VA_ARGS__;                                                          \
    static void probe_##id(const struct oc_peek *peek, struct oc_bid *bid)                                   \
    {                                                                                                        \
        probe_log(&log_##id, peek, bid);                                                                     \
    }                                                                                                        \
    static int read_##id(const struct oc_source *src, const struct oc_profile_opts *opts,                    \
                         struct oc_profile *out, struct oc_err *err)                                         \
    {                                                                                                        \
        return read_log(&log_##id, src, opts, out, err);                                                     \
    }                                                                                                        \
    const struct oc_importer oc_importer_##id = {.name = #id,                                                \
                                                 .title = TITLE,                                             \
                                                 .seen = SEEN,                                               \
                                                 .lost = LOST,                                               \
                                                 .probe = probe_##id,                                        \
                                                 .read = read_##id,                                          \
                                                 .in_output = true}

LOG_SOURCE(openvino_pc, "OpenVINO -pc: performance counts as printed",
           "Python tools of 2022; others from quoted output",
           "layers optimized out; names over 30 characters",
           {"OpenVINO", "", "lines with layerType, realTime, execType", oc_openvino_pc_is_line,
            oc_openvino_pc_take, NULL});
LOG_SOURCE(onednn, "oneDNN verbose (ONEDNN_VERBOSE=1), with shapes", "3.1; 0.x to 3.x from its documentation",
           "runs; partitions of the graph API; dilations",
           {"oneDNN", "CPU", "lines of oneDNN verbose", oc_onednn_is_line, oc_onednn_take, NULL});
LOG_SOURCE(ort_web, "ONNX Runtime Web: console with env.webgpu.profiling, with shapes",
           "none; from the writer", "runs; operators that run in WebAssembly",
           {"ONNX Runtime Web", "WebGPU", "lines '[profiling] kernel'", is_web_line, take_web, NULL});
LOG_SOURCE(tflite, "TensorFlow Lite benchmark_model --enable_op_profiling (text, CSV)",
           "TensorFlow 2.x (CSV, text)", "initialization; nodes inside a delegate",
           {"TensorFlow Lite", "", "table of benchmark_model", is_lite_header, take_lite, finish_lite});
LOG_SOURCE(mnn, "MNN: MNNV2Basic.out, ModuleBasic.out, timeProfile.out as printed", "2.x from quoted output",
           "FLOPs, which MNN prints as shares; times of operators on a GPU, which MNN calls inaccurate",
           {"MNN", "", "lines with 'average cost', FlopsRate", is_mnn_line, take_mnn, NULL});
LOG_SOURCE(rknn, "RKNN eval_perf, RKNN_QUERY_PERF_DETAIL: layers, types as printed",
           "1.4 to 2.3 from quoted output", "cycles; shapes; the types of fused layers",
           {"RKNN", "", "table of RKNN", oc_rknn_is_header, oc_rknn_take, oc_op_table_end});
LOG_SOURCE(mace, "MACE: statistics of operators and types as printed (benchmark)", "from quoted output",
           "FLOPs; shapes",
           {"MACE", "", "statistics of MACE", oc_mace_is_header, oc_mace_take, oc_op_table_end});
LOG_SOURCE(ggml_vulkan, "llama.cpp GGML_VK_PERF_LOGGER=1: Vulkan timings as printed",
           "llama.cpp of 2025 from quoted output", "runs: prefill and decode are added",
           {"llama.cpp", "Vulkan", "Vulkan Timings", is_ggml_header, take_ggml, NULL});
LOG_SOURCE(deepspeed, "DeepSpeed flops profiler: module tree as printed (detailed=True)",
           "0.3 to 0.14 from READMEs and its source",
           "backward pass; submodules that a page shortened with (...)",
           {"DeepSpeed flops profiler", "", "figures of DeepSpeed's flops profiler", oc_deepspeed_is_line,
            oc_deepspeed_take, NULL});
LOG_SOURCE(nvprof, "CUDA nvprof: summary and GPU trace as printed",
           "CUDA 9 and 10; 8 to 11 from quoted output",
           "calls of the runtime, where there are kernels; grid sizes",
           {"nvprof", "CUDA", "table of nvprof", is_nvprof_header, take_nvprof_line, NULL});
