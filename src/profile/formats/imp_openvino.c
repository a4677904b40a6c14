/* OpenVINO benchmark_app -report_type average_counters|detailed_counters: a table of layers, separated by
 * ';', with a trailing ';' in every row, closed by a row "Total". detailed_counters writes one table per
 * request: each is a run. Header: layerName;execStatus;layerType;execType;[numaId;]realTime (ms);cpuTime
 * (ms); */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "onnxcost/profile.h"
#include "profile/core/kernel_names.h"
#include "profile/core/records.h"
#include "profile/formats/function_tables.h"

enum { NAME, STATUS, TYPE, EXEC, REAL, CPU, N_COLUMN };
static const char *const column_name[N_COLUMN] = {"layerName", "execStatus", "layerType",
                                                  "execType",  "realTime",   "cpuTime"};

struct layer {    /* one row */
    uint32_t key; /* index of the layer */
    uint32_t run;
    double real_ns, cpu_ns;
    uint64_t where;
};

struct key { /* a layer: its name, type and kernel, and its number of earlier occurrences in the table */
    const char *name, *type, *exec;
    bool ran;
    uint32_t last_run, times; /* of the base key: number of occurrences in that run */
};

struct reading {
    struct oc_csv *c;
    struct oc_profile *p;
    struct oc_columns of;
    struct layer *layer;
    size_t n, cap;
    struct key *key;
    size_t n_key, cap_key;
    struct oc_map keys;
    struct oc_buf text;
    uint32_t runs;
    double sum_ns; /* of the current table */
    struct oc_run_sums sums;
    struct oc_run_choice choice; /* the runs that times are means of */
};

/* *ctx: whether the table has the kernels; NULL is accepted. */
static bool openvino_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    if (ctx)
        *(bool *)ctx = oc_csv_column(f, n, "execType") != OC_CSV_NONE;
    return oc_csv_column(f, n, "layerName") != OC_CSV_NONE &&
           oc_csv_column(f, n, "realTime") != OC_CSV_NONE && oc_csv_column(f, n, "layerType") != OC_CSV_NONE;
}

static int take_header(struct reading *r, const struct oc_str *f, size_t n, struct oc_err *err)
{
    r->of = (struct oc_columns){
        .c = r->c, .title = column_name, .n = N_COLUMN, .first_time = REAL, .last_time = CPU};
    /* the first versions had no unit: milliseconds */
    unsigned bad = oc_columns_find(&r->of, f, n, 1e6);
    r->runs++;
    r->sum_ns = 0;
    return bad == N_COLUMN ? 0 : oc_csv_fail(r->c, err, "column '%s': unknown unit", column_name[bad]);
}

static void openvino_key_part(struct reading *r, struct oc_str s)
{
    oc_buf_add(&r->text, s.s, s.n);
    oc_buf_char(&r->text, '\x1f');
}

/* Looks up the key with the collected text; *fresh: new, to be filled. */
static uint32_t openvino_find_key(struct reading *r, bool *fresh)
{
    uint32_t id = (uint32_t)r->n_key;
    *fresh = oc_map_add(&r->keys, r->text.data, r->text.n, &id, NULL);
    if (*fresh) {
        OC_PUSH(r->key, r->n_key, r->cap_key) = (struct key){0};
    }
    return id;
}

/* Layers with equal names in one table are separate: the second is the second in every table. */
static uint32_t openvino_key_of(struct reading *r, const struct oc_str *f, size_t n)
{
    bool fresh;
    oc_buf_clear(&r->text);
    for (unsigned i = NAME; i <= EXEC; i++)
        if (i != STATUS)
            openvino_key_part(r, oc_columns_cell(&r->of, f, n, i));
    uint32_t base = openvino_find_key(r, &fresh), id = base;
    struct key *k = &r->key[base];
    if (k->last_run != r->runs) {
        k->last_run = r->runs;
        k->times = 0;
    }
    if (k->times++) {
        oc_buf_printf(&r->text, "%u", k->times);
        id = openvino_find_key(r, &fresh);
    }
    if (fresh) {
        k = &r->key[id];
        k->name = oc_prof_text(r->p, oc_columns_cell(&r->of, f, n, NAME));
        k->type = oc_prof_text(r->p, oc_columns_cell(&r->of, f, n, TYPE));
        k->exec = oc_prof_text(r->p, oc_columns_cell(&r->of, f, n, EXEC));
        if (id != base)
            k->last_run = 0;
    }
    return id;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The last row of a table repeats the sum, rounded to microseconds per layer. */
static void check_total(struct reading *r, double total_ns)
{
    if (!(fabs(total_ns - r->sum_ns) <= 1e3 * (double)(r->n + 1)))
        oc_diag_add(&r->p->diags, OC_WARNING, "W-total", "",
                    "line %u: the total is %.3f ms, the rows above it add up to %.3f ms",
                    oc_csv_line_number(r->c), total_ns / 1e6, r->sum_ns / 1e6);
}

static int openvino_take_row(struct reading *r, const struct oc_str *f, size_t n, struct oc_err *err)
{
    struct layer l = {.run = r->runs - 1, .where = oc_csv_offset(r->c)};
    struct oc_str status = oc_columns_cell(&r->of, f, n, STATUS);
    if (oc_columns_time(&r->of, f, n, REAL, &l.real_ns, err) != 0 ||
        oc_columns_time(&r->of, f, n, CPU, &l.cpu_ns, err) != 0)
        return -1;
    if (oc_str_eq(oc_columns_cell(&r->of, f, n, NAME), "Total") && !oc_columns_cell(&r->of, f, n, TYPE).n &&
        !status.n) {
        check_total(r, l.real_ns);
        return 0;
    }
    if (r->n >= oc_csv_max_rows(r->c))
        return oc_csv_too_many(r->c, err);
    l.key = openvino_key_of(r, f, n);
    r->key[l.key].ran |= !oc_csv_same(status, "NOT_RUN") && !oc_csv_same(status, "OPTIMIZED_OUT");
    r->sum_ns += l.real_ns;
    r->p->imported_ns += l.real_ns;
    OC_PUSH(r->layer, r->n, r->cap) = l;
    return 0;
}

static int openvino_read_tables(struct reading *r, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    int rc =
        oc_csv_need(r->c, openvino_is_header, NULL, &f, &n, "with layerName, layerType and realTime", err);
    if (rc == 0)
        rc = take_header(r, f, n, err);
    while (rc == 0 && oc_csv_row(r->c, &f, &n)) {
        if (openvino_is_header(NULL, f, n))
            rc = take_header(r, f, n, err);
        else if (n && oc_csv_cut(r->c) && n <= r->of.at[REAL])
            oc_prof_cut(r->p, r->c);
        else if (n > 1) /* one field: a note between the tables */
            rc = openvino_take_row(r, f, n, err);
    }
    return rc == 0 && oc_csv_failed(r->c) ? oc_csv_error(r->c, err) : rc;
}

/* ---- records ---------------------------------------------------------------------------------------- */

/* Precision from the kernel type: in "brgconv_avx512_f32" the text after the last '_', if it is a
 * precision. */
static const char *precision_of(const char *exec)
{
    const char *last = strrchr(exec, '_');
    return last && oc_precision_class(last + 1) != OC_CLASS_NONE ? last + 1 : "";
}

static void name_record(const struct key *k, const struct oc_profile_opts *opts, struct oc_prof_rec *rec)
{
    struct oc_kernel_facts facts;
    oc_kernel_facts(opts->kernel_names, k->exec, &facts);
    rec->name = k->name;
    rec->op_type = k->type;
    rec->precision = precision_of(k->exec);
    if (!*rec->precision)
        rec->precision = facts.precision;
    rec->unit = facts.unit;
}

static int openvino_by_key(const void *a, const void *b)
{
    const struct layer *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

/* Creates one record from the rows [0, n) of one layer: one row per run. */
static void openvino_make_record(struct reading *r, const struct layer *l, size_t n, struct oc_prof_rec *rec,
                                 bool ran)
{
    oc_run_sums_clear(&r->sums);
    for (size_t i = 0; i < n; i++)
        oc_run_sums_add(&r->sums, l[i].run, l[i].cpu_ns);
    rec->host_ns = oc_run_sums_stat(&r->sums, &r->choice);
    oc_run_sums_clear(&r->sums);
    for (size_t i = 0; i < n; i++)
        oc_run_sums_add(&r->sums, l[i].run, l[i].real_ns);
    oc_run_sums_store(&r->sums, &r->choice, rec);
    rec->self_ns = rec->time_ns;
    rec->total_ns = oc_run_sums_total(&r->sums);
    rec->calls = ran ? n : 0;
    rec->calls_per_run = ran ? 1 : 0;
    rec->where = l[0].where;
}

static void openvino_make_records(struct reading *r, const struct oc_profile_opts *opts, uint32_t warmup)
{
    struct oc_rec_list list = {0};
    double warm_ns = 0;
    if (r->n)
        qsort(r->layer, r->n, sizeof(*r->layer), openvino_by_key);
    for (size_t i = 0, end; i < r->n; i = end) {
        for (end = i; end < r->n && r->layer[end].key == r->layer[i].key; end++)
            if (r->layer[end].run < warmup)
                warm_ns += r->layer[end].real_ns;
        size_t first = i;
        while (first < end && r->layer[first].run < warmup)
            first++;
        if (first == end)
            continue;
        const struct key *k = &r->key[r->layer[i].key];
        struct oc_prof_rec *rec = oc_rec_add(&list);
        name_record(k, opts, rec);
        openvino_make_record(r, r->layer + first, end - first, rec, k->ran);
    }
    if (warmup) {
        struct oc_prof_rec *rec = oc_rec_add(&list);
        rec->name = "(warm-up runs)";
        rec->bucket = "warm-up runs";
        oc_rec_time(rec, warm_ns);
        rec->total_ns = warm_ns;
        rec->calls = warmup;
    }
    oc_rec_list_end(&list, r->p);
}

/* The runs that the times are means of; the time of a run is the sum of its layers. */
static void openvino_choose_runs(struct reading *r, enum oc_stat wanted, uint32_t warmup)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->layer[i].run >= warmup)
            oc_run_sums_add(&r->sums, r->layer[i].run, r->layer[i].real_ns);
    if (r->runs > 1) {
        oc_run_sums_spread(&r->sums, &r->p->spread);
        r->p->stat = oc_run_spread_stat(&r->p->spread, wanted, &r->p->diags);
    }
    oc_run_sums_choose(&r->sums, r->p->stat, r->runs, &r->choice);
    r->p->runs_selected = r->choice.n;
}

static void openvino_finish(struct reading *r, const struct oc_profile_opts *opts)
{
    struct oc_profile *p = r->p;
    /* every table is the last inference of its request: no warm-up run unless requested */
    uint32_t warmup = opts->warmup > 0 && r->runs > 1 ? (uint32_t)opts->warmup : 0;
    if (warmup >= r->runs)
        warmup = r->runs - 1;
    p->producer = "OpenVINO benchmark_app";
    p->time_kind = "host time";
    p->runs_total = r->runs > 1 ? r->runs : 0; /* one table: averages over an unknown number of runs */
    p->runs_used = r->runs > 1 ? r->runs - warmup : 1;
    p->runs_from = r->runs > 1 ? OC_RUNS_MARKED : OC_RUNS_MEAN;
    p->stat = OC_STAT_MEAN;
    oc_run_sums_init(&r->sums, r->runs);
    openvino_choose_runs(r, opts->stat, warmup);
    openvino_make_records(r, opts, warmup);
    oc_run_sums_free(&r->sums);
    oc_run_choice_free(&r->choice);
    oc_diag_add(&p->diags, OC_INFO, "I-runs", "",
                r->runs > 1 ? "%u tables, one per request: each counts as a run"
                            : "times are averages over all runs: the file does not report their number",
                r->runs);
}

static int read_openvino(const struct oc_source *src, const struct oc_profile_opts *opts,
                         struct oc_profile *out, struct oc_err *err)
{
    struct reading r = {.c = oc_csv_open(src->file[0].s), .p = out};
    struct oc_arena keys = {0};
    r.keys.arena = &keys;
    out->imported_ns = 0;
    int rc = openvino_read_tables(&r, err);
    if (rc == 0)
        openvino_finish(&r, opts);
    oc_csv_close(r.c);
    oc_map_free(&r.keys);
    oc_arena_free(&keys);
    oc_buf_free(&r.text);
    free(r.layer);
    free(r.key);
    return rc;
}

static void probe_openvino(const struct oc_peek *peek, struct oc_bid *bid)
{
    bool kernels;
    if (oc_peek_has(peek, "layerName") &&
        oc_csv_peek_header(peek->data, peek->n, openvino_is_header, &kernels))
        *bid = (struct oc_bid){.score = kernels ? 95 : 80, .reason = "header layerName, layerType, realTime"};
}

const struct oc_importer oc_importer_openvino = {
    .name = "openvino",
    .title = "OpenVINO benchmark_app average_counters, detailed_counters (CSV)",
    .seen = "none; from the writer",
    .lost = "number of runs of average_counters",
    .probe = probe_openvino,
    .read = read_openvino,
};
