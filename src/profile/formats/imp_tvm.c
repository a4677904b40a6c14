/* Reports of TVM's profilers (debug_executor, VirtualMachineProfiler, Relax: src/runtime/profiling.cc), of one run
 * each. As print(report) writes it, sorted by time, calls of one function summed, right-aligned after the name;
 * the columns after Percent come in any order:
 *
 *   Name                  Duration (us)  Percent  Device  Count                            Argument Shapes
 *   fused_nn_dense_add         1,529.66    64.48    cpu0      2  float32[1, 64], float32[10, 64], float32[1, 10]
 *   ----------
 *   Sum                        1,529.66    64.48              2
 *   Total                      2,372.23             cpu0      1
 *
 * As debug_executor.run() prints it, left-aligned, means of a run, a row for each output of a node:
 *
 *   Node Name             Ops                   Time(us)  Time(%)  Shape    Inputs  Outputs  Measurements(us)
 *   ---------             ---                   --------  -------  -----    ------  -------  ----------------
 *   fused_nn_dense_add_1  fused_nn_dense_add_1  764.83    32.24    (1, 10)  3       1        [764.83]
 *   Total_time            -                     2372.23   -        -        -       -        -
 *
 * report.csv(): a row for each call, in their order, without totals; texts are quoted. report.json():
 *
 *   {"calls":[{"Name":{"string":"fused_nn_dense_add"},"Duration (us)":{"microseconds":764.83}, ...}, ...],
 *    "device_metrics":{"cpu0":{"Duration (us)":{"microseconds":2372.23}, ...}}}
 *
 * Functions write to their last arguments. A number at the end of an operator's name (dense_1, conv2d2) distinguishes
 * functions of equal operators. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "profile/core/records.h"
#include "profile/core/timeline.h"
#include "profile/csv_rows.h"

enum { MAX_CALLS = 1 << 16 }; /* with a record each; further ones are summed */

enum { NAME, DURATION, DEVICE, COUNT, SHAPES, PERCENT, N_COLUMN };
static const char *const title[N_COLUMN] = {"Name",  "Duration (us)",   "Device",
                                            "Count", "Argument Shapes", "Percent"};

struct tvm_reading {
    struct oc_profile *p;
    struct oc_op_rows rows;
    struct oc_buf type, key, last; /* of the row; name of the last one */
    size_t n, at[N_COLUMN];
    size_t end[OC_TEXT_COLUMNS]; /* printed table: where the columns end */
    bool nodes;                  /* a table of debug_executor.run() */
    double total_ns, sum_ns;     /* of the run, the longest of all devices; of the rows */
    double percent;              /* of the rows of a printed table, of which pages quote the first ones */
    struct oc_recording_count recordings;
};

/* ---- rows ------------------------------------------------------------------------------------------- */

/* "tvmgen_default_fused_nn_conv2d_add_1" and "fused_conv2d2_add2": "fused_nn_conv2d_add", "fused_conv2d_add". */
static struct oc_str tvm_type(struct tvm_reading *r, struct oc_str name)
{
    static const char prefix[] = "tvmgen_default_";
    oc_buf_clear(&r->type);
    if (oc_str_starts(name, prefix))
        name = oc_str_skip(name, sizeof(prefix) - 1);
    while (name.n) {
        struct oc_str word = oc_str_take(&name, '_');
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a word with characters has a text */
        while (word.n && oc_is_digit(word.s[word.n - 1]))
            word.n--;
        if (r->type.n && word.n)
            oc_buf_char(&r->type, '_');
        oc_buf_add(&r->type, word.s, word.n);
    }
    return oc_str(r->type.data ? r->type.data : "", r->type.n);
}

/* "float32[1, 64], float32[64, 32, 3, 3], float32[]"; "(1, 10)" is the output alone. */
static void tvm_types(struct oc_arena *a, const void *ctx, struct oc_op_row *row)
{
    enum { MAX_TYPES = 64 };
    struct oc_type type[MAX_TYPES];
    struct oc_str s = *(const struct oc_str *)ctx;
    uint32_t n = 0;
    const char *open, *close;
    if (s.n > 2 && s.s[0] == '(' &&
        oc_recorded_shape(a, (struct oc_str){s.s + 1, s.n - 2}, OC_DT_UNDEFINED, type)) {
        row->out = OC_COPY_ARRAY(a, type, 1);
        row->n_out = 1;
        return;
    }
    while (n < MAX_TYPES && (open = oc_str_chr(s, '[')) && (close = oc_str_chr(s, ']')) && close > open) {
        struct oc_str dims = {open + 1, (size_t)(close - open - 1)};
        unsigned dtype = oc_recorded_dtype(oc_csv_trim(oc_str_before(s, open)));
        if (!dims.n)
            type[n] = oc_tensor_type(dtype, oc_shape_of(a, 0, NULL));
        else if (!oc_recorded_shape(a, dims, dtype, &type[n]))
            return;
        n++;
        s = oc_str_from(s, close + 1);
        while (s.n && (s.s[0] == ',' || s.s[0] == ' '))
            s = oc_str_skip(s, 1);
    }
    if (n < 2 || s.n)
        return;
    row->in = OC_COPY_ARRAY(a, type, n - 1);
    row->n_in = n - 1;
    row->out = OC_COPY_ARRAY(a, &type[n - 1], 1);
    row->n_out = 1;
}

/* `call`: the number of the call; 0: the row sums calls. */
static void tvm_take(struct tvm_reading *r, const struct oc_str cell[N_COLUMN], struct oc_str function,
                     double ns, uint64_t calls, uint64_t call, uint64_t where)
{
    bool builtin = oc_str_starts(cell[NAME], "vm."); /* of the virtual machine: makes views, checks shapes */
    struct oc_op_row row = {.name = cell[NAME],
                            .type = builtin ? function : tvm_type(r, function),
                            .provider = cell[DEVICE],
                            .kind = OC_EV_OPERATOR,
                            .device = cell[DEVICE].n && !oc_str_starts(cell[DEVICE], "cpu"),
                            .total_ns = ns,
                            .min_ns = NAN,
                            .max_ns = NAN,
                            .calls = calls,
                            .where = where};
    oc_buf_clear(&r->key);
    oc_buf_add(&r->key, cell[SHAPES].s, cell[SHAPES].n);
    if (call && call <= MAX_CALLS)
        oc_buf_printf(&r->key, " %llu", (unsigned long long)call);
    row.shapes = oc_str(r->key.data ? r->key.data : "", r->key.n);
    row.types = builtin ? NULL : tvm_types;
    row.ctx = &cell[SHAPES];
    if (!*r->p->device || (row.device && !r->rows.device))
        r->p->device = oc_prof_text(r->p, cell[DEVICE]);
    oc_op_rows_add(&r->rows, &row);
    r->sum_ns += ns;
}

static void tvm_add_total(struct tvm_reading *r, double ns)
{
    r->total_ns = ns > r->total_ns ? ns : r->total_ns;
}

/* ---- printed table ---------------------------------------------------------------------------------- */

static bool tvm_has_titles(struct oc_str line)
{
    return oc_str_has(line, title[NAME]) && oc_str_has(line, title[DURATION]) &&
           oc_str_has(line, "Percent") && oc_str_has(line, title[COUNT]) && oc_str_has(line, title[DEVICE]);
}

static bool tvm_is_header(struct oc_str line)
{
    return oc_str_starts(oc_csv_trim(line), title[NAME]) && tvm_has_titles(line);
}

static bool tvm_is_node_header(struct oc_str line)
{
    return oc_str_starts(oc_csv_trim(line), "Node Name") && oc_str_has(line, "Ops") &&
           oc_str_has(line, "Time(us)") && oc_str_has(line, "Outputs");
}

static bool tvm_is_table(struct oc_str line)
{
    return tvm_is_header(line) || tvm_is_node_header(line);
}

/* Titles end where their columns end. */
static void tvm_find_columns(struct tvm_reading *r, struct oc_str line)
{
    struct oc_str cell[OC_TEXT_COLUMNS];
    r->n = oc_text_cells(line, cell);
    for (unsigned k = 0; k < N_COLUMN; k++)
        r->at[k] = oc_csv_column(cell, r->n, title[k]);
    for (size_t i = 0; i < r->n; i++)
        r->end[i] = (size_t)(cell[i].s + cell[i].n - line.s);
}

static struct oc_str tvm_cell(const struct tvm_reading *r, struct oc_str line, unsigned column)
{
    size_t k = r->at[column], from = k != OC_CSV_NONE && k > 1 ? r->end[k - 1] : 0;
    size_t to = k == OC_CSV_NONE ? 0 : k + 1 == r->n || r->end[k] > line.n ? line.n : r->end[k];
    return from < to ? oc_csv_trim((struct oc_str){line.s + from, to - from}) : (struct oc_str){"", 0};
}

/* False: not a row, the table has ended. */
static bool tvm_row(struct tvm_reading *r, struct oc_str line, uint64_t where)
{
    struct oc_str cell[N_COLUMN];
    double us, percent;
    uint64_t calls = 0;
    for (unsigned k = 0; k < N_COLUMN; k++)
        cell[k] = tvm_cell(r, line, k);
    if (oc_str_starts(line, "----------"))
        return true;
    /* the name has no column of its own: it ends before the duration, which has no blanks */
    const char *blank = cell[DURATION].n ? memrchr(cell[DURATION].s, ' ', cell[DURATION].n) : NULL;
    if (!blank || !oc_csv_number(oc_str_from(cell[DURATION], blank + 1), &us, NULL) ||
        !(us >= 0 && us < 1e15))
        return false;
    cell[NAME] = oc_csv_trim(oc_str_before(cell[DURATION], blank));
    if (oc_csv_same(cell[NAME], "Sum"))
        return true;
    if (oc_csv_same(cell[NAME], "Total"))
        tvm_add_total(r, us * 1e3);
    else if (oc_csv_u64(cell[COUNT], &calls) && calls) {
        r->percent += oc_csv_number(cell[PERCENT], &percent, NULL) ? percent : 0;
        tvm_take(r, cell, cell[NAME], us * 1e3, calls, 0, where);
    }
    return true;
}

/* The same of a table of nodes. */
static bool tvm_node(struct tvm_reading *r, struct oc_str line, uint64_t where)
{
    enum { OPS = 1, TIME, SHAPE = 4, OUTPUTS = 6, NEEDED };
    struct oc_str text[OC_TEXT_COLUMNS],
        cell[N_COLUMN] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}};
    size_t n = oc_text_cells(line, text);
    double us;
    if (n && oc_str_starts(text[0], "---"))
        return true;
    if (n < NEEDED || !oc_csv_number(text[TIME], &us, NULL) || !(us >= 0 && us < 1e15))
        return false;
    cell[NAME] = text[0];
    cell[SHAPES] = text[SHAPE];
    if (oc_str_eq(text[0], "Total_time"))
        tvm_add_total(r, us * 1e3);
    else if (r->last.n != text[0].n ||
             memcmp(r->last.data, text[0].s, text[0].n) != 0) /* not another output */
        tvm_take(r, cell, text[OPS], us * 1e3, 1, 0, where);
    oc_buf_clear(&r->last);
    oc_buf_add(&r->last, text[0].s, text[0].n);
    return true;
}

static int tvm_read_table(struct tvm_reading *r, struct oc_csv *c, struct oc_err *err)
{
    struct oc_str line;
    bool inside = false;
    for (size_t rows = 0; oc_csv_line(c, &line);) {
        if (tvm_is_table(line)) {
            inside = oc_recording_begins(&r->recordings, c);
            if (inside)
                tvm_find_columns(r, line);
            r->nodes = inside && tvm_is_node_header(line);
        } else if (inside) {
            inside = (r->nodes ? tvm_node : tvm_row)(r, line, oc_csv_offset(c));
        }
        if (++rows > oc_csv_max_rows(c))
            return oc_csv_too_many(c, err);
    }
    oc_recordings_warn(&r->recordings, "tables", r->p);
    return oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
}

/* ---- CSV -------------------------------------------------------------------------------------------- */

static bool tvm_is_csv(void *ctx, const struct oc_str *f, size_t n)
{
    (void)ctx;
    for (unsigned k = 0; k < SHAPES; k++) /* the virtual machine's own functions may have no shapes */
        if (oc_csv_column(f, n, title[k]) == OC_CSV_NONE)
            return false;
    return oc_csv_column(f, n, "Percent") != OC_CSV_NONE;
}

static int tvm_read_csv(struct tvm_reading *r, struct oc_csv *c, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    if (oc_csv_need(c, tvm_is_csv, NULL, &f, &n, "of a report of TVM", err) != 0)
        return -1;
    for (unsigned k = 0; k < N_COLUMN; k++)
        r->at[k] = oc_csv_column(f, n, title[k]);
    for (uint64_t call = 1; oc_csv_row(c, &f, &n); call++) {
        struct oc_str cell[N_COLUMN];
        double ns;
        uint64_t calls;
        for (unsigned k = 0; k < N_COLUMN; k++)
            cell[k] = oc_csv_at(f, n, r->at[k]);
        if (!n)
            continue;
        if (call > oc_csv_max_rows(c))
            return oc_csv_too_many(c, err);
        if (oc_csv_cell_time(c, title[DURATION], cell[DURATION], 1e3, &ns, err) != 0 ||
            oc_csv_cell_count(c, title[COUNT], cell[COUNT], &calls, err) != 0)
            return -1;
        tvm_take(r, cell, cell[NAME], ns, calls, call, oc_csv_offset(c));
    }
    if (oc_csv_cut(c))
        oc_prof_cut(r->p, c);
    return oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static struct oc_str tvm_scalar(struct oc_json *j, struct oc_arena *a)
{
    struct oc_str text = {"", 0};
    bool found = oc_json_peek(j) == OC_JSON_STRING ? oc_json_string(j, &text) : oc_json_raw(j, &text);
    return found ? (struct oc_str){oc_strndup(a, text.s, text.n), text.n} : (struct oc_str){"", 0};
}

/* "text", or an object with one member that is named after its unit: {"count":1}. */
static struct oc_str tvm_value(struct oc_json *j, struct oc_arena *a)
{
    struct oc_str text = {"", 0}, key;
    if (oc_json_peek(j) != OC_JSON_OBJECT)
        return tvm_scalar(j, a);
    oc_json_enter(j);
    while (oc_json_member(j, &key))
        text = tvm_scalar(j, a);
    return text;
}

/* The members of a call or of a device. False: it has no time. */
static bool tvm_read_metrics(struct oc_json *j, struct oc_arena *a, struct oc_str cell[N_COLUMN], double *ns)
{
    struct oc_str key;
    for (unsigned k = 0; k < N_COLUMN; k++)
        cell[k] = (struct oc_str){"", 0};
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return false;
    while (oc_json_member(j, &key)) {
        unsigned k = 0;
        while (k < N_COLUMN && !oc_str_eq(key, title[k]))
            k++;
        if (k < N_COLUMN)
            cell[k] = tvm_value(j, a);
        else
            oc_json_skip(j);
    }
    if (!oc_csv_number(cell[DURATION], ns, NULL) || !(*ns >= 0 && *ns < 1e15))
        return false;
    *ns *= 1e3;
    return true;
}

static void tvm_read_calls(struct tvm_reading *r, struct oc_json *j)
{
    uint64_t call = 0, most = oc_input_limit(&r->p->limits, OC_LIMIT_TABLE_ROWS);
    if (!oc_json_enter_type(j, OC_JSON_ARRAY))
        return;
    while (oc_json_item(j)) {
        if (call >= most) {
            oc_prof_over(r->p, OC_LIMIT_TABLE_ROWS);
            return;
        }
        struct oc_arena a = {0};
        struct oc_str cell[N_COLUMN];
        uint64_t calls = 1, where = oc_json_offset(j);
        double ns;
        bool timed = tvm_read_metrics(j, &a, cell, &ns);
        if (timed && cell[COUNT].n)
            timed = oc_csv_u64(cell[COUNT], &calls) && calls;
        if (timed && cell[NAME].n)
            tvm_take(r, cell, cell[NAME], ns, calls, ++call, where);
        oc_arena_free(&a);
    }
}

static void tvm_read_devices(struct tvm_reading *r, struct oc_json *j)
{
    struct oc_str key;
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(j, &key)) {
        struct oc_arena a = {0};
        struct oc_str cell[N_COLUMN];
        double ns;
        if (tvm_read_metrics(j, &a, cell, &ns))
            tvm_add_total(r, ns);
        oc_arena_free(&a);
    }
}

static void tvm_read_report(struct tvm_reading *r, struct oc_json *j)
{
    struct oc_str key;
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "calls"))
            tvm_read_calls(r, j);
        else if (oc_str_eq(key, "device_metrics"))
            tvm_read_devices(r, j);
        else
            oc_json_skip(j);
    }
    oc_prof_cut_json(r->p, j);
}

/* ---- importers -------------------------------------------------------------------------------------- */

static void tvm_begin(struct tvm_reading *r, struct oc_profile *p, const struct oc_profile_opts *opts)
{
    *r = (struct tvm_reading){.p = p};
    oc_op_rows_init(&r->rows, p, opts);
    p->producer = "TVM";
    p->device = "";
}

/* A report is of one run. Devices work asynchronously: a total below the sum of the calls is not its time. */
static int tvm_end(struct tvm_reading *r, int rc)
{
    bool part = !(r->total_ns > 0) && r->percent > 0 && r->percent < 95;
    r->rows.runs = !part;
    if (part)
        oc_diag_add(&r->p->diags, OC_WARNING, "W-rows", "",
                    "the table has rows for %.1f %% of the time and no total: the time of the run is unknown",
                    r->percent);
    r->rows.run_ns = r->total_ns >= r->sum_ns ? r->total_ns : (double)NAN;
    if (rc == 0)
        oc_op_rows_finish(&r->rows);
    oc_op_rows_free(&r->rows);
    oc_buf_free(&r->type);
    oc_buf_free(&r->key);
    oc_buf_free(&r->last);
    return rc;
}

static bool tvm_peek_csv(const struct oc_peek *peek)
{
    return oc_csv_peek_header(peek->data, peek->n, tvm_is_csv, NULL);
}

static void probe_tvm(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has_line(peek, tvm_is_table))
        *bid = (struct oc_bid){.score = 88, .reason = "table of TVM's profiler"};
    else if (tvm_peek_csv(peek))
        *bid = (struct oc_bid){.score = 90, .reason = "header of a report of TVM"};
}

static void probe_tvm_json(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has(peek, "\"calls\"") && oc_peek_has(peek, "\"Duration (us)\"") &&
        oc_peek_has(peek, "\"microseconds\""))
        *bid = (struct oc_bid){.score = 92, .reason = "calls with \"Duration (us)\""};
}

/* At the header of a table, or of CSV. */
static int tvm_read_text(struct tvm_reading *r, struct oc_csv *c, struct oc_err *err)
{
    struct oc_str line;
    while (oc_csv_line(c, &line)) {
        bool table = tvm_is_table(line), csv = tvm_has_titles(line) && oc_str_has(line, ",");
        if (!table && !csv)
            continue;
        oc_csv_unread(c);
        return table ? tvm_read_table(r, c, err) : tvm_read_csv(r, c, err);
    }
    return oc_csv_failed(c) ? oc_csv_error(c, err)
                            : oc_fail(err, OC_EFORMAT, "no header line of a report of TVM");
}

static int read_tvm(const struct oc_source *src, const struct oc_profile_opts *opts, struct oc_profile *out,
                    struct oc_err *err)
{
    struct tvm_reading r;
    struct oc_csv *c = oc_csv_open(src->file[0].s);
    tvm_begin(&r, out, opts);
    int rc = tvm_end(&r, tvm_read_text(&r, c, err));
    oc_csv_close(c);
    return rc;
}

static int read_tvm_json(const struct oc_source *src, const struct oc_profile_opts *opts,
                         struct oc_profile *out, struct oc_err *err)
{
    struct tvm_reading r;
    struct oc_json *j = oc_json_open(src->file[0].s);
    (void)err; /* a report without calls has no time: opening it fails */
    tvm_begin(&r, out, opts);
    tvm_read_report(&r, j);
    oc_json_close(j);
    return tvm_end(&r, 0);
}

const struct oc_importer oc_importer_tvm = {
    .name = "tvm",
    .title = "TVM: report of its profilers, debug_executor.run() (tables as printed, CSV), with shapes",
    .seen = "Relay of 2021 to 2023, Relax of 2026: tables; CSV from the writer",
    .lost = "layouts; order of calls in tables; totals in CSV",
    .probe = probe_tvm,
    .read = read_tvm,
    .in_output = true,
};

const struct oc_importer oc_importer_tvm_json = {
    .name = "tvm_json",
    .title = "TVM: report of its profilers (JSON), with shapes",
    .seen = "none; from the writer",
    .lost = "layouts; counters of PAPI",
    .probe = probe_tvm_json,
    .read = read_tvm_json,
};
