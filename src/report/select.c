/* Selection of rows. */
#include "report/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"
#include "onnxcost/report.h"
#include "report/order.h"
#include "report/python.h"

/* ---- reading the options ---------------------------------------------------------------------------- */

static int select_choose(const char *option, const char *value, const char *const *choice, size_t n,
                         size_t *out, struct oc_err *err)
{
    char where[60];
    for (size_t i = 0; i < n; i++)
        if (strcmp(value, choice[i]) == 0) {
            *out = i;
            return 0;
        }
    snprintf(where, sizeof(where), "for %s", option);
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){.what = "value", .where = where, .given = value, .valid = choice, .n = n});
}

static int read_bound(const char *option, const char *text, double *out, struct oc_err *err)
{
    size_t n = text ? strlen(text) : 0;
    double ns;
    if (!text || oc_py_float(text, n, out))
        return 0;
    if (text[n - (n > 0)] != 's' || !oc_parse_scaled(text, "s", &ns))
        return oc_fail(err, OC_EARG,
                       "invalid value '%.80s' for %s: give a time such as 5us, 1.5ms or 0.001 (seconds)",
                       text, option);
    *out = ns;
    return 0;
}

static int fail_column(const struct oc_select *s, const char *name, size_t n, struct oc_err *err)
{
    const char *names[OC_N_ORDER_COLUMNS];
    for (size_t i = 0; i < OC_COUNT(names); i++)
        names[i] = oc_order_columns[i].name;
    if (!n)
        return oc_fail(err, OC_EARG, "--order-by: the name of a column is missing, such as time or macs");
    return oc_fail_unknown(
        err, OC_EARG,
        &(struct oc_unknown){.what = "column",
                             .where = "for --order-by",
                             .given = name,
                             .given_n = n,
                             .valid = names,
                             .n = OC_COUNT(names),
                             .more = s->report ? "and the columns of --format csv" : NULL});
}

static bool select_same_name(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && oc_ncasecmp(name, text, n) == 0;
}

static bool select_find_order(const struct oc_select *s, const char *name, size_t n, struct oc_row_order *out)
{
    for (size_t i = 0; i < OC_N_ORDER_COLUMNS; i++)
        if (select_same_name(oc_order_columns[i].name, name, n))
            out->own = &oc_order_columns[i];
    for (size_t i = 0; s->report && !out->own && i < oc_n_columns; i++)
        if (select_same_name(oc_columns[i].key, name, n))
            out->column = &oc_columns[i];
    for (size_t i = 0; s->report && !out->own && !out->column && i < s->report->n_extra; i++)
        if (select_same_name(s->report->extra[i].key, name, n))
            out->column = &s->report->extra[i];
    return out->own || out->column;
}

/* Parses "type,+time": each key may have its own direction. */
static int read_order(struct oc_select *s, const char *text, struct oc_err *err)
{
    for (const char *at = text; at; at = *at ? at + 1 : NULL) {
        struct oc_row_order *o = &s->order[s->n_order];
        if (s->n_order == OC_MAX_ORDER)
            return oc_fail(err, OC_EARG, "more than %d columns for --order-by", OC_MAX_ORDER);
        *o = (struct oc_row_order){.ascending = *at == '+'};
        at += o->ascending;
        size_t n = strcspn(at, ",");
        if (!select_find_order(s, at, n, o))
            return fail_column(s, at, n, err);
        s->n_order++;
        at += n;
    }
    return 0;
}

static int read_aggregate(struct oc_select *s, const struct oc_report_opts *o, struct oc_err *err)
{
    static const char *const reductions[] = {"max", "min", "sum", "mean", "median", "count"};
    if (o->aggregate && !oc_reduction_read(o->aggregate, &s->aggregate))
        return oc_fail_unknown(err, OC_EARG,
                               &(struct oc_unknown){.what = "value",
                                                    .where = "for --aggregate",
                                                    .given = o->aggregate,
                                                    .valid = reductions,
                                                    .n = OC_COUNT(reductions),
                                                    .more = "and percentiles such as p90"});
    if (!o->group_by)
        return 0;
    if (oc_group_by_read("--group-by", o->group_by, s->by, &s->n_by, err) != 0)
        return -1;
    if (!o->aggregate)
        s->aggregate = (struct oc_reduction){.how = OC_AGG_SUM};
    return 0;
}

int oc_select_init(struct oc_select *s, const struct oc_report_opts *o, struct oc_report *report,
                   int64_t default_top, const char *default_order, struct oc_err *err)
{
    static const char *const end_key[] = {"end", "kern"};
    size_t key = 0;
    *s = (struct oc_select){
        .report = report,
        .outcome = o->outcome,
        .name = o->name_pattern,
        .n_name = o->n_name_pattern,
        .type = o->type,
        .n_type = o->n_type,
        .input_dtype = o->input_dtype,
        .n_input_dtype = o->n_input_dtype,
        .min_time_s = -INFINITY,
        .max_time_s = INFINITY,
        .top = o->has_top ? o->top : default_top,
        .order_given = o->order_by != NULL,
    };
    if (o->top_end_key &&
        select_choose("--megengine top-end-key", o->top_end_key, end_key, OC_COUNT(end_key), &key, err) != 0)
        return -1;
    s->kern = key == 1;
    if (read_bound("--min-time", o->min_time, &s->min_time_s, err) != 0 ||
        read_bound("--max-time", o->max_time, &s->max_time_s, err) != 0 || read_aggregate(s, o, err) != 0)
        return -1;
    const char *order = o->order_by                                         ? o->order_by
                        : default_order && s->aggregate.how == OC_AGG_COUNT ? "count"
                                                                            : default_order;
    return read_order(s, order, err);
}

/* ---- filtering -------------------------------------------------------------------------------------- */

static bool select_is_listed(const char *text, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text && strcmp(text, list[i]) == 0)
            return true;
    return false;
}

/* Element type names of other tools. */
static const char *usual_name(const char *dtype)
{
    static const char *const names[][2] = {{"float", "float32"}, {"double", "float64"}};
    for (size_t i = 0; dtype && i < OC_COUNT(names); i++)
        if (strcmp(dtype, names[i][0]) == 0)
            return names[i][1];
    return dtype;
}

static bool has_dtype(const struct oc_row *row, const char *dtype)
{
    for (uint32_t i = 0; i < row->n_in_dtype; i++)
        if (row->in_dtype[i] &&
            (!strcmp(row->in_dtype[i], dtype) || !strcmp(usual_name(row->in_dtype[i]), dtype)))
            return true;
    return !*dtype; /* an empty name matches every row */
}

/* Selected rows, by address: rows are large, and a report may show a few of a million. */
struct chosen {
    const struct oc_row **row;
    uint32_t n;
};

static void keep_hits(struct chosen *rows, const bool *hit)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        if (hit[i])
            rows->row[n++] = rows->row[i];
    rows->n = n;
}

static int fail_dtype(const struct chosen *rows, const char *dtype, struct oc_err *err)
{
    const char *valid[16];
    size_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        for (uint32_t k = 0; k < rows->row[i]->n_in_dtype; k++)
            if (n < OC_COUNT(valid) && rows->row[i]->in_dtype[k] &&
                !select_is_listed(rows->row[i]->in_dtype[k], valid, n))
                valid[n++] = rows->row[i]->in_dtype[k];
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "element type",
                                                .where = "for --input-dtype",
                                                .given = dtype,
                                                .valid = valid,
                                                .n = n,
                                                .more = n ? NULL : "no input has a recorded type"});
}

/* MegEngine's own table stays as its tool prints it, empty; the program says why. */
static int note_missing(const struct oc_select *s, const struct oc_err *err)
{
    if (s->outcome)
        snprintf(s->outcome->missing, sizeof(s->outcome->missing), "%.199s", err->msg);
    return 0;
}

static int keep_dtypes(const struct oc_select *s, struct chosen *rows, bool *hit, struct oc_err *err)
{
    for (size_t i = 0; i < s->n_input_dtype; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < rows->n; k++)
            if (has_dtype(rows->row[k], s->input_dtype[i])) {
                hit[k] = true;
                n++;
            }
        if (!n && fail_dtype(rows, s->input_dtype[i], err) && (!s->megengine || note_missing(s, err)))
            return -1;
    }
    keep_hits(rows, hit);
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------------ */

const char *oc_table_order(const struct oc_rows *rows)
{
    bool share = false;
    for (uint32_t i = 0; i < rows->n; i++) {
        if (!isnan(rows->row[i].time_s))
            return "time";
        share |= !isnan(rows->row[i].share);
    }
    return share ? "share" : "computation";
}

/* The rows in the order of the printed table: that of the options, or its own. */
static const struct oc_row *const *table_of(const struct oc_select *s, const struct oc_rows *all,
                                            const struct chosen *rows, struct oc_arena *arena)
{
    struct oc_select whole = *s;
    struct oc_err err;
    const struct oc_row **table = OC_NEW_ARRAY(arena, rows->n, const struct oc_row *);
    if (!s->n_order && read_order(&whole, oc_table_order(all), &err) != 0)
        return NULL;
    if (rows->n)
        memcpy(table, rows->row, rows->n * sizeof(*table));
    whole.top = 0;
    oc_select_first(&whole, table, rows->n);
    return table;
}

/* The rows that one of the texts selects. */
static int keep_named(const struct oc_select *s, const struct oc_rows *all, enum oc_name_rule rule,
                      struct chosen *rows, bool *hit, struct oc_err *err)
{
    bool type = rule == OC_NAME_TYPE || rule == OC_NAME_MEGENGINE_TYPE;
    const char *const *text = type ? s->type : s->name;
    struct oc_arena scratch = {0};
    struct oc_names names = {.report = s->report,
                             .row = rows->row,
                             .n = rows->n,
                             .n_table = rows->n,
                             .option = type ? "--type" : "--opr-name"};
    int rc = 0;
    for (size_t i = 0; i < (type ? s->n_type : s->n_name) && !rc; i++) {
        if (!names.table && oc_name_is_position(text[i]))
            names.table = table_of(s, all, rows, &scratch);
        if (!*text[i] && !type) /* an empty expression matches every row */
            memset(hit, true, rows->n);
        else
            rc = oc_names_find(&names, rule, text[i], hit, err);
        rc = rc > 0 ? note_missing(s, err) : rc;
    }
    oc_arena_free(&scratch);
    if (!rc)
        keep_hits(rows, hit);
    return rc;
}

int oc_report_find(struct oc_report *r, enum oc_name_rule rule, const char *option, const char *text,
                   const struct oc_row *more, uint32_t n_more, bool *hit, struct oc_err *err)
{
    struct oc_arena scratch = {0};
    struct oc_select s;
    uint32_t n = OC_ALL_ROWS(r);
    struct chosen rows = {OC_NEW_ARRAY(&scratch, (size_t)n + n_more, const struct oc_row *), n};
    for (uint32_t i = 0; i < n; i++)
        rows.row[i] = &r->all.row[i];
    int rc = oc_select_init(&s, r->o, r, 0, oc_table_order(&r->all), err);
    struct oc_names names = {.report = r, .row = rows.row, .n = n + n_more, .n_table = n, .option = option};
    if (!rc && oc_name_is_position(text))
        names.table = table_of(&s, &r->all, &rows, &scratch);
    for (uint32_t i = 0; i < n_more; i++)
        rows.row[n + i] = &more[i];
    rc = rc ? rc : oc_names_find(&names, rule, text, hit, err);
    oc_arena_free(&scratch);
    return rc;
}

static int filter(const struct oc_select *s, const struct oc_rows *all, struct oc_arena *arena,
                  struct chosen *out, struct oc_err *err)
{
    uint32_t n = all->n + all->n_rest;
    *out = (struct chosen){OC_NEW_ARRAY(arena, n, const struct oc_row *), n};
    for (uint32_t i = 0; i < n; i++)
        out->row[i] = &all->row[i];
    struct oc_arena scratch = {0};
    int rc = 0;
    if (s->n_type)
        rc = keep_named(s, all, s->megengine ? OC_NAME_MEGENGINE_TYPE : OC_NAME_TYPE, out,
                        OC_NEW_ARRAY(&scratch, n, bool), err);
    if (!rc && s->n_input_dtype)
        rc = keep_dtypes(s, out, OC_NEW_ARRAY(&scratch, n, bool), err);
    if (!rc && s->n_name)
        rc = keep_named(s, all, s->megengine ? OC_NAME_MEGENGINE : OC_NAME_OPERATOR, out,
                        OC_NEW_ARRAY(&scratch, n, bool), err);
    oc_arena_free(&scratch);
    return rc;
}

static void copy_rows(const struct chosen *from, struct oc_rows *out)
{
    out->row = OC_NEW_ARRAY(out->arena, from->n, struct oc_row);
    out->n = from->n;
    for (uint32_t i = 0; i < from->n; i++)
        out->row[i] = *from->row[i];
}

int oc_select_filter(const struct oc_select *s, const struct oc_rows *all, struct oc_rows *out,
                     struct oc_err *err)
{
    struct chosen rows;
    if (filter(s, all, out->arena, &rows, err) != 0)
        return -1;
    copy_rows(&rows, out);
    out->info_key = all->info_key;
    return 0;
}

/* ---- times, order, cut ------------------------------------------------------------------------------ */

static double chosen_time(const struct oc_select *s, const struct oc_row *row, enum oc_time_of time)
{
    if (time == OC_TIME_HOST)
        return s->kern ? row->host_kern_time_s : row->host_time_s;
    return s->kern ? row->kern_time_s : row->time_s;
}

/* Sets time_s to the selected time; drops rows without one or outside the bounds. */
static void keep_timed(const struct oc_select *s, enum oc_time_of time, struct oc_arena *arena,
                       struct chosen *rows)
{
    bool own = time == OC_TIME_DEVICE && !s->kern; /* already in time_s */
    struct oc_row *copy = own ? NULL : OC_NEW_ARRAY(arena, rows->n, struct oc_row);
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        double t = chosen_time(s, rows->row[i], time);
        if (!oc_num_known(t) || t < s->min_time_s || t > s->max_time_s)
            continue;
        rows->row[n] = rows->row[i];
        if (!own) {
            copy[n] = *rows->row[i];
            copy[n].time_s = t;
            rows->row[n] = &copy[n];
        }
        n++;
    }
    rows->n = n;
}

struct ranking {
    const struct oc_order_column *column; /* NULL: by `text` */
    const struct oc_row *const *row;
    const uint32_t *at; /* rows with a key */
    const char *const *text;
};

static int compare_keys(const struct ranking *r, uint32_t i, uint32_t k)
{
    return r->column ? r->column->compare(r->row[r->at[i]], r->row[r->at[k]])
                     : strcmp(r->text[r->at[i]], r->text[r->at[k]]);
}

static int compare_ranked(const void *x, const void *y, void *arg)
{
    uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    int c = compare_keys(arg, i, k);
    return c ? c : (i > k) - (i < k);
}

/* Ranks of the rows by a non-numeric ordering: equal rows get equal keys. */
static void rank_by_compare(const struct ranking *r, uint32_t n, double *key)
{
    struct ranking copy = *r;
    uint32_t *sorted = oc_xmalloc(((size_t)n + 1) * sizeof(*sorted));
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = i;
    qsort_r(sorted, n, sizeof(*sorted), compare_ranked, &copy);
    double rank = 0;
    for (uint32_t i = 0; i < n; i++) {
        rank += i && compare_keys(r, sorted[i - 1], sorted[i]) < 0;
        key[sorted[i]] = rank;
    }
    free(sorted);
}

bool oc_select_before(const struct oc_select *s, const struct oc_row *first, const struct oc_row *row)
{
    const struct oc_order_column *c = s->n_order ? s->order[0].own : NULL;
    if (!s->n_order)
        return true;
    if (!c || c->compare)
        return false;
    double x = oc_order_key(c, first), y = oc_order_key(c, row);
    if (x == y)
        return s->n_order == 1;
    return s->order[0].ascending ? x < y : x > y;
}

/* Cells of a column: texts or numbers; neither for a row without a value. */
struct cells {
    const char **text;
    double *number;
};

static struct cells cells_of(const struct oc_select *s, const struct oc_column *c, struct oc_arena *arena,
                             const struct chosen *rows)
{
    struct cells out = {.text = OC_NEW_ARRAY(arena, rows->n, const char *),
                        .number = OC_NEW_ARRAY(arena, rows->n, double)};
    for (uint32_t i = 0; i < rows->n; i++) {
        struct oc_line line = {.r = s->report, .arena = arena, .row = rows->row[i], .column = c};
        struct oc_field f = {.number = NAN};
        c->get(&line, &f);
        out.text[i] = f.text;
        out.number[i] = f.number;
    }
    return out;
}

/* Collects the rows that have a key into `at`, and their keys. */
static uint32_t find_keys(const struct oc_select *s, const struct oc_row_order *o, struct oc_arena *arena,
                          const struct chosen *rows, uint32_t *at, double *key)
{
    uint32_t n = 0;
    struct cells c = {0};
    if (o->column)
        c = cells_of(s, o->column, arena, rows);
    const char **text = o->column && o->column->kind == OC_FIELD_TEXT ? c.text : NULL;
    for (uint32_t i = 0; i < rows->n; i++)
        if (text        ? text[i] != NULL
            : !c.number ? oc_order_known(o->own, rows->row[i])
                        : oc_num_known(c.number[i]))
            at[n++] = i;
    if (text || (o->own && o->own->compare))
        rank_by_compare(&(struct ranking){text ? NULL : o->own, rows->row, at, text}, n, key);
    else
        for (uint32_t i = 0; i < n; i++)
            key[i] = c.number ? c.number[at[i]] : oc_order_key(o->own, rows->row[at[i]]);
    return n;
}

static int compare_numbers(const void *x, const void *y, void *keys)
{
    const double *key = keys;
    uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    if (isnan(key[i]) != isnan(key[k]))
        return isnan(key[i]) ? 1 : -1;
    if (key[i] < key[k] || key[i] > key[k])
        return key[i] < key[k] ? -1 : 1;
    return (i > k) - (i < k);
}

/* Rows with a key first, sorted, those whose key is not a number after them; then the others. Stable. */
static void select_sort_rows(const struct oc_select *s, const struct oc_row_order *o, struct oc_arena *arena,
                             const struct chosen *rows)
{
    uint32_t tail = 0, cap = rows->n;
    uint32_t *at = OC_NEW_ARRAY(arena, cap, uint32_t), *order = OC_NEW_ARRAY(arena, cap, uint32_t);
    double *key = OC_NEW_ARRAY(arena, cap, double);
    bool *placed = OC_NEW_ARRAY(arena, cap, bool);
    const struct oc_row **sorted = OC_NEW_ARRAY(arena, cap, const struct oc_row *);
    uint32_t n = find_keys(s, o, arena, rows, at, key);
    for (uint32_t i = 0; i < n && !o->ascending; i++)
        key[i] = -key[i];
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    if (n)
        qsort_r(order, n, sizeof(*order), compare_numbers, key);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = rows->row[at[order[i]]];
        placed[at[i]] = true;
    }
    for (uint32_t i = 0; i < cap; i++)
        if (!placed[i])
            sorted[n + tail++] = rows->row[i];
    if (cap)
        memcpy(rows->row, sorted, cap * sizeof(*sorted));
}

/* 0 keeps all, a negative number drops the last ones. */
static uint32_t cut_to(int64_t top, uint32_t n)
{
    if (top < 0)
        top = top < -(int64_t)n ? 0 : (int64_t)n + top;
    else if (top == 0)
        top = n;
    return top < (int64_t)n ? (uint32_t)top : n;
}

uint32_t oc_select_first(const struct oc_select *s, const struct oc_row **row, uint32_t n)
{
    struct oc_arena scratch = {0};
    for (size_t i = s->n_order; i-- > 0;) /* stable sort */
        select_sort_rows(s, &s->order[i], &scratch, &(struct chosen){row, n});
    oc_arena_free(&scratch);
    return cut_to(s->top, n);
}

bool oc_select_has_key(const struct oc_select *s, const struct oc_row *row)
{
    struct oc_arena scratch = {0};
    uint32_t at;
    double key;
    uint32_t n = s->n_order ? find_keys(s, &s->order[0], &scratch, &(struct chosen){&row, 1}, &at, &key) : 1;
    oc_arena_free(&scratch);
    return n > 0;
}

/* Whether the chosen rows are the list, in its order. */
static bool are_all(const struct chosen *rows, const struct oc_rows *all)
{
    uint32_t i = 0;
    while (i < rows->n && rows->row[i] == &all->row[i])
        i++;
    return i == rows->n && i == all->n + all->n_rest;
}

/* Replaces the selected rows by their groups. */
static void reduce_chosen(const struct oc_select *s, struct chosen *rows, struct oc_rows *out)
{
    struct oc_rows in = *out;
    copy_rows(rows, &in);
    oc_group_keys(s->report, s->by, s->n_by, &in); /* none: one group */
    oc_rows_aggregate(&in, s->aggregate, out);
    *rows = (struct chosen){OC_NEW_ARRAY(out->arena, out->n, const struct oc_row *), out->n};
    for (uint32_t i = 0; i < out->n; i++)
        rows->row[i] = &out->row[i];
}

int oc_select_rows(const struct oc_select *s, const struct oc_rows *all, enum oc_time_of time,
                   struct oc_rows *out, struct oc_err *err)
{
    struct chosen rows;
    if (filter(s, all, out->arena, &rows, err) != 0)
        return -1;
    out->info_key = all->info_key;
    if (time != OC_TIME_NONE)
        keep_timed(s, time, out->arena, &rows);
    if (s->aggregate.how)
        reduce_chosen(s, &rows, out);
    for (uint32_t i = 0; s->order_given && i < rows.n; i++)
        out->n_unordered += !rows.row[i]->remainder && !oc_select_has_key(s, rows.row[i]);
    rows.n = oc_select_first(s, rows.row, rows.n);
    if (are_all(&rows, all)) {
        out->row = all->row;
        out->n = rows.n;
    } else {
        copy_rows(&rows, out);
    }
    return 0;
}
