/* The trace of ONNX Runtime as a table: pandas.read_json(trace).to_csv(), where args is one column with the
 * text of a Python dictionary, or one column for each member (args_op_name, args.op_name):
 *
 *   ,cat,pid,tid,dur,ts,ph,name,args
 *   5,Node,1,1,120,400,X,conv_kernel_time,"{'op_name': 'Conv', 'input_type_shape': [{'float': [1, 3]}]}"
 *
 * The rows become the JSON text of the trace again, which the importer of the trace reads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "profile/core/records.h"
#include "profile/csv_rows.h"
#include "profile/formats/ort_trace.h"
#include "profile/profile.h"

/* ONNX Runtime's memory statistics of nodes (session.collect_node_memory_stats_to_file): bytes, no times,
 * rows in any order. Header: #name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations;
 * the name is that of the node, '_' and a decimal hash. */

enum { NAME, INPUTS, INITIALIZERS, DYNAMIC, TEMP, N_COLUMN };
static const char *const column_name[N_COLUMN] = {"#name", "input_sizes", "initializers_sizes",
                                                  "total_dynamic_sizes", "total_temp_allocations"};

struct reading {
    struct oc_csv *c;
    struct oc_profile *p;
    struct oc_rec_list list;
    struct oc_columns of;
};

static bool memory_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    (void)ctx;
    for (unsigned i = 0; i < N_COLUMN; i++)
        if (oc_csv_column(f, n, column_name[i]) == OC_CSV_NONE)
            return false;
    return true;
}

/* Removes the last '_' and the digits after it. */
static struct oc_str memory_node_name(struct oc_str s)
{
    size_t n = s.n;
    while (n && oc_is_digit(s.s[n - 1]))
        n--;
    return n && n < s.n && s.s[n - 1] == '_' ? (struct oc_str){s.s, n - 1} : s;
}

static int memory_take_row(struct reading *r, const struct oc_str *f, size_t n, struct oc_err *err)
{
    uint64_t bytes[N_COLUMN];
    for (unsigned i = INPUTS; i < N_COLUMN; i++) {
        struct oc_str s = oc_columns_cell(&r->of, f, n, i);
        if (!oc_csv_u64(s, &bytes[i]))
            return oc_csv_fail(r->c, err, "column '%s': '%.*s' is not a number of bytes", column_name[i],
                               (int)(s.n < 80 ? s.n : 80), s.s);
    }
    if (r->list.n >= oc_csv_max_rows(r->c))
        return oc_csv_too_many(r->c, err);
    struct oc_prof_rec *rec = oc_rec_add(&r->list);
    rec->name = oc_prof_text(r->p, memory_node_name(oc_columns_cell(&r->of, f, n, NAME)));
    rec->param_bytes = bytes[INITIALIZERS];
    rec->act_bytes = bytes[INPUTS];
    rec->out_bytes = bytes[DYNAMIC];
    rec->where = oc_csv_offset(r->c);
    return 0;
}

static int memory_read_rows(struct reading *r, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    int rc = oc_csv_need(r->c, memory_is_header, NULL, &f, &n, "with #name and total_dynamic_sizes", err);
    r->of = (struct oc_columns){.c = r->c, .title = column_name, .n = N_COLUMN, .first_time = N_COLUMN};
    if (rc == 0)
        oc_columns_find(&r->of, f, n, 0);
    while (rc == 0 && oc_csv_row(r->c, &f, &n)) {
        if (n && n < N_COLUMN && oc_csv_cut(r->c))
            oc_prof_cut(r->p, r->c);
        else if (n)
            rc = memory_take_row(r, f, n, err);
    }
    return rc == 0 && oc_csv_failed(r->c) ? oc_csv_error(r->c, err) : rc;
}

static void memory_finish(struct reading *r)
{
    struct oc_profile *p = r->p;
    p->producer = "ONNX Runtime, memory of nodes";
    p->time_kind = "no times";
    p->runs_used = 0;
    oc_rec_list_end(&r->list, p);
    oc_diag_add(&p->diags, OC_INFO, "I-no-times", "",
                "memory of nodes without times: pass the session's profile as well to get times");
}

static int read_memory(const struct oc_source *src, const struct oc_profile_opts *opts,
                       struct oc_profile *out, struct oc_err *err)
{
    struct reading r = {.c = oc_csv_open(src->file[0].s), .p = out};
    (void)opts;
    int rc = memory_read_rows(&r, err);
    if (rc == 0)
        memory_finish(&r);
    oc_csv_close(r.c);
    free(r.list.rec);
    return rc;
}

static void probe_memory(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has(peek, "total_dynamic_sizes") &&
        oc_csv_peek_header(peek->data, peek->n, memory_is_header, NULL))
        *bid = (struct oc_bid){.score = 95, .reason = "header of ONNX Runtime's memory statistics"};
}

const struct oc_importer oc_importer_onnxruntime_memory = {
    .name = "onnxruntime_memory",
    .title = "ONNX Runtime memory statistics of nodes (CSV)",
    .seen = "1.30",
    .lost = "times; runs after the first",
    .probe = probe_memory,
    .may_lack_time = true,
    .read = read_memory,
};

enum { MAX_COLUMNS = 256 };

extern const struct oc_importer oc_importer_onnxruntime;

struct columns {
    enum { TEXT, NUMBER, ARGS, ARG, OTHER } kind[MAX_COLUMNS];
    struct oc_str name[MAX_COLUMNS]; /* of ARG: without "args_" */
    size_t n;
};

/* "args_op_name" or "args.op_name", as pandas.json_normalize names it */
static bool is_arg(struct oc_str s)
{
    return s.n > 5 && oc_str_starts(s, "args") && (s.s[4] == '_' || s.s[4] == '.');
}

static bool is_header(void *ctx, const struct oc_str *field, size_t n)
{
    static const char *const required[] = {"cat", "dur", "ts", "name"};
    bool args = false;
    (void)ctx;
    for (size_t i = 0; i < OC_COUNT(required); i++)
        if (oc_csv_column(field, n, required[i]) == OC_CSV_NONE)
            return false;
    for (size_t i = 0; i < n; i++)
        args |= oc_str_eq(field[i], "args") || oc_csv_same(field[i], "args_op_name") ||
                oc_csv_same(field[i], "args.op_name");
    return args;
}

static void find_columns(const struct oc_str *field, size_t n, struct oc_arena *a, struct columns *c)
{
    static const char *const text[] = {"cat", "ph", "name"}, *const number[] = {"pid", "tid", "dur", "ts"};
    c->n = n < MAX_COLUMNS ? n : MAX_COLUMNS;
    for (size_t i = 0; i < c->n; i++) {
        struct oc_str s = field[i];
        c->kind[i] = oc_str_eq(s, "args") ? ARGS : is_arg(s) ? ARG : OTHER;
        for (size_t k = 0; k < OC_COUNT(text); k++)
            c->kind[i] = oc_str_eq(s, text[k]) ? TEXT : c->kind[i];
        for (size_t k = 0; k < OC_COUNT(number); k++)
            c->kind[i] = oc_str_eq(s, number[k]) ? NUMBER : c->kind[i];
        s = c->kind[i] == ARG ? oc_str_skip(s, 5) : s;
        c->name[i] = oc_str(oc_strndup(a, s.s, s.n), s.n);
    }
}

/* The text of a Python object: strings may have single quotes. */
static void add_python(struct oc_buf *out, struct oc_str s)
{
    static const char *const word[][2] = {
        {"None", "\"\""}, {"True", "true"}, {"False", "false"}, {"nan", "\"\""}};
    for (size_t i = 0; i < s.n; i++) {
        size_t k = 0, n = 0;
        while (k < OC_COUNT(word) && !oc_str_starts(oc_str_skip(s, i), word[k][0]))
            k++;
        if (k < OC_COUNT(word)) {
            oc_buf_str(out, word[k][1]);
            i += strlen(word[k][0]) - 1;
        } else if (s.s[i] == '\'' || s.s[i] == '"') {
            struct oc_buf text = {0};
            char quote = s.s[i];
            while (++i < s.n && s.s[i] != quote) {
                i += s.s[i] == '\\' && i + 1 < s.n;
                oc_buf_char(&text, s.s[i]);
                n++;
            }
            oc_buf_json(out, n ? text.data : "", n);
            oc_buf_free(&text);
        } else {
            oc_buf_char(out, s.s[i]);
        }
    }
}

static void add_value(struct oc_buf *out, struct oc_str s, bool may_be_list)
{
    if (may_be_list && s.n > 1 && (s.s[0] == '[' || s.s[0] == '{'))
        add_python(out, s);
    else
        oc_buf_json(out, s.s, s.n);
}

static void add_key(struct oc_buf *out, struct oc_str key)
{
    oc_buf_str(out, out->data[out->n - 1] == '{' ? "" : ",");
    oc_buf_json(out, key.s, key.n);
    oc_buf_char(out, ':');
}

/* Empty cells are members that the event does not have. */
static void add_event(const struct columns *c, const struct oc_str *field, size_t n, struct oc_buf *out)
{
    double v;
    oc_buf_str(out, out->n > 1 ? ",\n{" : "{");
    for (size_t i = 0; i < c->n && i < n; i++) {
        if (!field[i].n || c->kind[i] == OTHER || c->kind[i] == ARG ||
            (c->kind[i] == NUMBER && (!oc_csv_number(field[i], &v, NULL) || !(fabs(v) < 0x1p53))))
            continue;
        add_key(out, c->name[i]);
        if (c->kind[i] == NUMBER)
            oc_buf_printf(out, "%.17g", v);
        else
            add_value(out, field[i], c->kind[i] == ARGS);
    }
    if (oc_csv_column(c->name, c->n, "args") == OC_CSV_NONE) {
        add_key(out, oc_str("args", 4));
        oc_buf_char(out, '{');
        for (size_t i = 0; i < c->n && i < n; i++)
            if (c->kind[i] == ARG && field[i].n) {
                add_key(out, c->name[i]);
                add_value(out, field[i], true);
            }
        oc_buf_char(out, '}');
    }
    oc_buf_char(out, '}');
}

static int read_events(struct oc_csv *c, struct columns *columns, struct oc_arena *a, struct oc_buf *out,
                       struct oc_err *err)
{
    const struct oc_str *field;
    size_t n, rows = 0;
    oc_buf_char(out, '[');
    if (oc_csv_find(c, is_header, NULL, &field, &n))
        find_columns(field, n, a, columns);
    while (oc_csv_row(c, &field, &n)) {
        if (++rows > oc_csv_max_rows(c))
            return oc_csv_too_many(c, err);
        if (n)
            add_event(columns, field, n, out);
    }
    oc_buf_str(out, "]\n");
    return oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
}

static int read_ort_table(const struct oc_source *src, const struct oc_profile_opts *opts,
                          struct oc_profile *out, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_buf json = {0};
    struct columns *columns = OC_NEW(&a, struct columns);
    struct oc_csv *c = oc_csv_open(src->file[0].s);
    int rc = read_events(c, columns, &a, &json, err);
    if (rc == 0) {
        struct oc_stream *s = oc_stream_mem(json.data, json.n);
        struct oc_source_file file = {.path = src->file[0].path, .s = s};
        rc = oc_importer_onnxruntime.read(&(struct oc_source){.file = &file, .n = 1}, opts, out, err);
        oc_stream_close(s);
    }
    oc_csv_close(c);
    oc_buf_free(&json);
    oc_arena_free(&a);
    return rc;
}

static void probe_ort_table(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_csv_peek_header(peek->data, peek->n, is_header, NULL))
        *bid = (struct oc_bid){.score = 88, .reason = "columns cat, dur, ts, name, args"};
}

const struct oc_importer oc_importer_onnxruntime_csv = {
    .name = "onnxruntime_csv",
    .title = "ONNX Runtime profiling JSON as a pandas table (CSV)",
    .seen = "none; from pandas itself",
    .lost = "printed tables, which pandas shortens with \"...\"",
    .probe = probe_ort_table,
    .read = read_ort_table,
};
