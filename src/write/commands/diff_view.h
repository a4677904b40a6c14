/* Selection and texts of a diff, shared by all text formats. */
#ifndef OC_DIFF_VIEW_H
#define OC_DIFF_VIEW_H

#include "gate/diff.h"
#include "write/tables/json_keys.h"

struct oc_diff_view {
    const struct oc_diff *d;
    const struct oc_diff_write_opts *o;
    struct oc_arena arena;
    bool has[OC_DIFF_METRICS];    /* the metric is non-zero or unknown on some side */
    bool column[OC_DIFF_METRICS]; /* the metric has a column: it differs in some row */
    uint32_t *row;                /* indices in output order */
    uint32_t n_row;               /* number of rows printed */
    uint32_t n_wanted;            /* number before --top */
};

/* whole: also unchanged rows, all of them and in model order, unless the options say otherwise. */
int oc_diff_view_make(struct oc_diff_view *v, const struct oc_diff *d, const struct oc_diff_write_opts *o,
                      bool whole, struct oc_err *err);
void oc_diff_view_free(struct oc_diff_view *v);

struct oc_metric_name {
    const char *key, *title;
    bool bytes, time;
};
extern const struct oc_metric_name oc_diff_metric_names[OC_DIFF_METRICS];

/* The sheets, each freed by oc_sheet_free; heads and cells are allocated in the view. */

void oc_diff_sides(struct oc_diff_view *v, struct oc_sheet *s);  /* description of A and B */
void oc_diff_beside(struct oc_diff_view *v, struct oc_sheet *s); /* time outside the runs */
void oc_diff_totals(struct oc_diff_view *v, struct oc_sheet *s); /* exact totals with differences */
void oc_diff_fusions(struct oc_diff_view *v,
                     struct oc_sheet *s); /* whose counts differ between two profiles */
/* "69 rows: 12 equal ...", and the rows excluded from the sums. Arena text. */
const char *oc_diff_sentence(struct oc_diff_view *v);

/* Rows whose metrics are unknown, as text; NULL: none. */
const char *oc_diff_gaps(struct oc_diff_view *v);
bool oc_diff_type_differs(const struct oc_diff_view *v, const struct oc_diff_type *t);
double oc_diff_type_delta(const struct oc_diff_type *t, unsigned metric); /* NAN: unknown */

/* Members of "rows" and "types". */
void oc_diff_row_fields(struct oc_fields *o, const struct oc_diff_row *r);
void oc_diff_type_fields(struct oc_fields *o, const struct oc_diff_type *t);

/* Formats. */
void oc_diff_page(struct oc_diff_view *v, FILE *f);
struct oc_html;
void oc_diff_roofline(struct oc_html *h, const struct oc_diff *d); /* a section of it; none without times */
void oc_diff_csv(struct oc_diff_view *v, FILE *f);
void oc_diff_json(struct oc_diff_view *v, FILE *f);
void oc_diff_github(struct oc_diff_view *v, FILE *f); /* annotations of GitHub Actions */

#endif
