/* Choosing rows: filter, aggregate, sort, cut. Generic over struct oc_rows, so that the options of
 * MegEngine's tool work on every source. Rows of which the sort key is not known come last, in both
 * directions. */
#ifndef OC_SELECT_H
#define OC_SELECT_H

#include "report/aggregate.h"
#include "report/columns.h"
#include "report/group_keys.h"
#include "report/pattern.h"
#include "report/rows.h"

enum oc_time_of {
    OC_TIME_NONE,   /* the rows have no times: bounds on times do not apply */
    OC_TIME_DEVICE, /* time_s, or kern_time_s with --top-end-key kern */
    OC_TIME_HOST    /* host_time_s, host_kern_time_s */
};

/* One key of --order-by: a quantity of MegEngine's tool, or any column. */
struct oc_order {
    const struct oc_order_column *own; /* NULL: `column` */
    const struct oc_column *column;
    bool ascending;
};
enum { OC_MAX_ORDER = 8 };

/* The options that choose, checked and read. Texts are borrowed from the options. */
struct oc_select {
    struct oc_pattern **pattern; /* heap */
    size_t n_pattern;
    const char *const *type, *const *input_dtype;
    size_t n_type, n_input_dtype;
    struct oc_report *report; /* what columns and groups are about; NULL: rows without a report */
    struct oc_reduction aggregate;
    struct oc_group_by by[OC_MAX_GROUP_KEYS];
    size_t n_by;                         /* 0: all together */
    struct oc_order order[OC_MAX_ORDER]; /* the first decides, ties by the next */
    size_t n_order;                      /* 0: as the rows stand */
    bool kern;
    double min_time_s, max_time_s;
    int64_t top;
};

/* default_order NULL: as the rows stand. Errors: OC_EARG naming the option and its choices.
 * Freed by oc_select_free, also after an error. */
int oc_select_init(struct oc_select *s, const struct oc_report_opts *o, struct oc_report *report,
                   int64_t default_top, const char *default_order, struct oc_err *err);
void oc_select_free(struct oc_select *s);

/* The rows that pass --type, --opr-name and --input-dtype, in their order. out->arena must be set; the rows
 * in `out` share texts and shapes with `all`. */
int oc_select_filter(const struct oc_select *s, const struct oc_rows *all, struct oc_rows *out,
                     struct oc_err *err);

/* Whether a row passes them: 1, 0, or -1 when a pattern gave up. */
int oc_select_passes(const struct oc_select *s, const struct oc_row *row, struct oc_err *err);

/* True if, of two rows that pass, `first`, which came earlier, surely stands before the other one. */
bool oc_select_before(const struct oc_select *s, const struct oc_row *first, const struct oc_row *row);

/* Puts n rows into the order and cuts the list; returns how many are left. Rows that are equal in all keys
 * stay as they stand, so that of rows in parts the first of each part, and then of these, are the first of
 * all. */
uint32_t oc_select_first(const struct oc_select *s, const struct oc_row **row, uint32_t n);

/* Everything: filter, time bounds, aggregation, order, top. In `out` time_s is the chosen time. */
int oc_select_rows(const struct oc_select *s, const struct oc_rows *all, enum oc_time_of time,
                   struct oc_rows *out, struct oc_err *err);

/* Name of a column that --order-by takes; NULL past the end. */
const char *oc_order_column_name(size_t index);

#endif
