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
#include "profile/printed/printed.h"
#include "profile/printed/read.h"

enum { MAX_CALLS = 1 << 16 }; /* with a record each; further ones are summed */

enum { NAME, DURATION, DEVICE, COUNT, SHAPES, PERCENT, N_COLUMN };
static const char *const title[N_COLUMN] = {"Name",  "Duration (us)",   "Device",
                                            "Count", "Argument Shapes", "Percent"};

struct tvm_reading {
    struct oc_profile *p;
    struct oc_op_rows rows;
    struct oc_buf type, key; /* of the row */
    const char *last;        /* the name of the one before */
    double total_ns, sum_ns; /* of the run, the longest of all devices; of the rows */
    double percent;          /* of the rows of a printed table, of which pages quote the first ones */
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

/* ---- tables, CSV ------------------------------------------------------------------------------------ */

/* A row of a table or of CSV, whose calls have numbers. */
static void tvm_row(struct tvm_reading *r, const struct oc_printed_reading *x,
                    const struct oc_printed_row *row, uint64_t number)
{
    bool node = strcmp(row->t->report, "nodes") == 0, csv = strcmp(row->t->report, "csv") == 0;
    double ns = oc_printed_value(x, row, OC_ROLE_TOTAL), calls = oc_printed_value(x, row, OC_ROLE_CALLS),
           percent = oc_printed_value(x, row, OC_ROLE_SHARE);
    const struct oc_str cell[N_COLUMN] = {[NAME] = oc_printed_text(row, OC_ROLE_NAME),
                                          [DEVICE] = oc_printed_text(row, OC_ROLE_PLACE),
                                          [SHAPES] = oc_printed_text(row, OC_ROLE_SHAPES)};
    if (!(ns >= 0 && ns < 1e18))
        return;
    if (!csv && oc_csv_same(cell[NAME], node ? "Total_time" : "Total"))
        tvm_add_total(r, ns);
    else if (node && cell[NAME].s != r->last) /* not another output; names are interned */
        tvm_take(r, cell, oc_printed_text(row, OC_ROLE_TYPE), ns, 1, 0, row->where);
    else if (!node && calls > 0)
        tvm_take(r, cell, cell[NAME], ns, (uint64_t)calls, csv ? number : 0, row->where);
    r->percent += !csv && !node && calls > 0 && percent > 0 ? percent : 0;
    r->last = cell[NAME].s;
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
    return rc;
}

static void probe_tvm(const struct oc_peek *peek, struct oc_bid *bid)
{
    oc_printed_bid("tvm_tables", peek, 90, bid);
}

static void probe_tvm_json(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has(peek, "\"calls\"") && oc_peek_has(peek, "\"Duration (us)\"") &&
        oc_peek_has(peek, "\"microseconds\""))
        *bid = (struct oc_bid){.score = 92, .reason = "calls with \"Duration (us)\""};
}

static int read_tvm(const struct oc_source *src, const struct oc_profile_opts *opts, struct oc_profile *out,
                    struct oc_err *err)
{
    struct tvm_reading r;
    struct oc_arena a = {0};
    struct oc_printed_reading *x = oc_xcalloc(1, sizeof(*x));
    struct oc_csv *c = oc_csv_open(src->file[0].s);
    tvm_begin(&r, out, opts);
    int rc = oc_printed_read(x, oc_printed_named("tvm_tables"), c, &a, oc_csv_max_rows(c), err);
    if (rc == 0 && !x->begun)
        rc = oc_fail(err, OC_EFORMAT, "no header line of a report of TVM");
    for (size_t i = 0; i < x->n && rc == 0; i++)
        tvm_row(&r, x, &x->row[i], i + 1);
    oc_recordings_warn(&x->recordings, "tables", out);
    if (x->cut)
        oc_prof_cut(out, c);
    rc = tvm_end(&r, rc);
    oc_printed_read_free(x);
    free(x);
    oc_arena_free(&a);
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
