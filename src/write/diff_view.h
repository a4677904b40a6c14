/* What of a diff is shown, and as what texts; the same for all forms for people. */
#ifndef OC_DIFF_VIEW_H
#define OC_DIFF_VIEW_H

#include "gate/diff.h"
#include "write/sheet.h"

struct oc_diff_view {
    const struct oc_diff *d;
    const struct oc_diff_write_opts *o;
    struct oc_arena arena;
    bool has[OC_DIFF_METRICS];    /* the metric is not 0, or not known, somewhere */
    bool column[OC_DIFF_METRICS]; /* it is told of every row: some have a difference */
    uint32_t *row;                /* indices, in the order wanted */
    uint32_t n_row;               /* shown */
    uint32_t n_wanted;            /* before --top */
};

/* whole: unchanged rows too, and all of them, in their own order, unless the options say otherwise. */
int oc_diff_view_make(struct oc_diff_view *v, const struct oc_diff *d, const struct oc_diff_write_opts *o,
                      bool whole, struct oc_err *err);
void oc_diff_view_free(struct oc_diff_view *v);

struct oc_metric_name {
    const char *key, *title;
    bool bytes, time;
};
extern const struct oc_metric_name oc_diff_metric_names[OC_DIFF_METRICS];

/* The sheets, each freed by oc_sheet_free; heads and cells live in the view. */
void oc_diff_sides(struct oc_diff_view *v, struct oc_sheet *s);  /* what A and B are */
void oc_diff_totals(struct oc_diff_view *v, struct oc_sheet *s); /* exact, with the differences */
void oc_diff_kinds(struct oc_diff_view *v, struct oc_sheet *s);  /* by operator type */
void oc_diff_list(struct oc_diff_view *v, struct oc_sheet *s);   /* the rows */
void oc_diff_beside(struct oc_diff_view *v, struct oc_sheet *s); /* time outside of the runs */
/* "69 rows: 12 same ...", and what the sums leave out. Arena text. */
const char *oc_diff_sentence(struct oc_diff_view *v);
const char *oc_diff_gaps(struct oc_diff_view *v); /* NULL: none */

#endif
