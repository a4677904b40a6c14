/* Row selection: filter, aggregate, sort, truncate. Generic over struct oc_rows, so that the options of
 * MegEngine's tool work on every source. Rows with an unknown sort key come last, in both directions. */
#ifndef OC_SELECT_H
#define OC_SELECT_H

#include "onnxcost_types.h"
#include "report/columns.h"
#include "report/names.h"
#include "report/report.h"

/* ---- select ------------------------------------------------------------------------------------------- */

enum oc_time_of {
    OC_TIME_NONE,   /* the rows have no times: ignore bounds on times */
    OC_TIME_DEVICE, /* time_s, or kern_time_s with --megengine top-end-key=kern */
    OC_TIME_HOST    /* host_time_s, host_kern_time_s */
};

/* One key of --order-by: a quantity of MegEngine's tool, or any column. */
struct oc_row_order {
    const struct oc_order_column *own; /* NULL: `column` */
    const struct oc_column *column;
    bool ascending;
};
enum { OC_MAX_ORDER = 8 };

/* The order of the printed table, largest first: by time, by share, else by operations. */
const char *oc_table_order(const struct oc_rows *rows);

/* The parsed selection options. Texts are borrowed from the options. */
struct oc_select {
    const char *const *name, *const *type, *const *input_dtype;
    size_t n_name, n_type, n_input_dtype;
    bool megengine;                    /* the rules of MegEngine's tool for names */
    struct oc_report_outcome *outcome; /* NULL: not wanted */
    struct oc_report *report;          /* source of columns and groups; NULL: rows without a report */
    struct oc_reduction aggregate;
    struct oc_group_by by[OC_MAX_GROUP_KEYS];
    size_t n_by;                             /* 0: one group */
    struct oc_row_order order[OC_MAX_ORDER]; /* the first is the primary key, later ones break ties */
    size_t n_order;                          /* 0: keep the order of the rows */
    bool order_given;                        /* by --order-by */
    bool kern;
    double min_time_s, max_time_s;
    int64_t top;
};

/* default_order NULL: keep the order of the rows. Errors: OC_EARG naming the option and its choices. */
int oc_select_init(struct oc_select *s, const struct oc_report_opts *o, struct oc_report *report,
                   int64_t default_top, const char *default_order, struct oc_err *err);
/* The rows that pass --type, --opr-name and --input-dtype, in their order. out->arena must be set; the rows
 * in `out` share texts and shapes with `all`. Each text must select a row (names.h), else OC_EARG. */
int oc_select_filter(const struct oc_select *s, const struct oc_rows *all, struct oc_rows *out,
                     struct oc_err *err);

/* True if `first`, which came earlier, is certain to precede the other row. */
bool oc_select_before(const struct oc_select *s, const struct oc_row *first, const struct oc_row *row);

/* Whether the row has a value of the first key of the order. */
bool oc_select_has_key(const struct oc_select *s, const struct oc_row *row);

/* Sorts n rows and truncates the list; returns the number left. Stable, so that selecting from the first rows
 * of each part gives the first rows of all. */
uint32_t oc_select_first(const struct oc_select *s, const struct oc_row **row, uint32_t n);

/* Complete selection: filter, time bounds, aggregation, order, top. In `out` time_s is the selected time; it shares
 * the rows of `all` if it has all of them in their order. */
int oc_select_rows(const struct oc_select *s, const struct oc_rows *all, enum oc_time_of time,
                   struct oc_rows *out, struct oc_err *err);

/* Sets hit[r->all.n + n_more] for the rows that the text selects among all rows of the report and, after them, rows
 * that were made only to be found. #N is the position in the table of all rows. Errors: as oc_names_find. */
int oc_report_find(struct oc_report *r, enum oc_name_rule rule, const char *option, const char *text,
                   const struct oc_row *more, uint32_t n_more, bool *hit, struct oc_err *err);

/* ---- few rows ------------------------------------------------------------------------------------------ */

/* Top-k selection for reports that show only a few of a model's nodes: rows are made in sequence, and only
 * the best so far are kept. The result equals that of making all rows and selecting from them, without the
 * memory for a row per node. */

/* Whether the report can be made this way: from an analysis alone, without hardware, groups and what-if
 * steps. The format must not use r->all.row, which stays empty; r->all.n is the number of rows. */
bool oc_few_rows_do(const struct oc_report *r);

/* Fills r->shown and, instead of oc_report_rows, the number and the sums of all rows. */
void oc_few_rows_choose(struct oc_report *r, const struct oc_select *s);

#endif
