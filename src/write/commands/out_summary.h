/* Private to the writers of summaries. */
#ifndef OC_OUT_SUMMARY_H
#define OC_OUT_SUMMARY_H

#include "profile/time_summary.h"
#include "write/tables/json_keys.h"
#include "onnxcost/report.h"

enum oc_view {
    OC_VIEW_DEVICE,
    OC_VIEW_OVERVIEW,
    OC_VIEW_RUNS,
    OC_VIEW_MODEL,
    OC_VIEW_DISTRIBUTION,
    OC_VIEW_TYPE,
    OC_VIEW_OPERATOR,
    OC_VIEW_EVENT,
    OC_VIEW_KERNEL,
    OC_VIEW_MEMORY,
    OC_VIEW_COPIES,
    OC_VIEW_USER,
    OC_VIEW_LANES,
    OC_VIEW_BENCHMARK,
    OC_VIEW_COUNT
};

struct oc_view_info {
    const char *name, *title;
};
extern const struct oc_view_info oc_views[OC_VIEW_COUNT];

/* The rows of a view that is a list, NULL: it is none. */
const struct oc_sum_list *oc_view_list(const struct oc_time_summary *s, enum oc_view v);
bool oc_view_wanted(const struct oc_summary_opts *o, enum oc_view v);
/* Rows to write of the list: a part and a kernel never without their operator. */
uint32_t oc_view_cut(const struct oc_summary_opts *o, enum oc_view v, const struct oc_sum_list *list);
/* What the shares of a view refer to. Operators, types and kernels: the sum of the view's rows; a part of an
 * operator: the row that contains it (as in Paddle's tables); other views: the total time. */
#define OC_VIEW_DEPTH 8
struct oc_view_base {
    bool own;                           /* parts refer to the row that contains them */
    double whole[2][OC_VIEW_DEPTH + 1]; /* [host, device][depth] */
};
void oc_view_base_init(struct oc_view_base *b, const struct oc_time_summary *s, enum oc_view v,
                       const struct oc_sum_list *list);
/* For the rows in order: the whole that the shares of this row refer to. */
double oc_view_base_next(struct oc_view_base *b, const struct oc_sum_item *item, bool device);
/* "thread 4242", "stream 7 of device 0" */
const char *oc_lane_text(const struct oc_profile *p, uint32_t lane, struct oc_arena *a);

/* Rows of the machine-readable formats and of the page. An item: `base` as in oc_view_base_next. */
void oc_summary_item_fields(struct oc_fields *o, const struct oc_time_summary *s, const char *view,
                            const struct oc_sum_item *i, struct oc_view_base *base);
void oc_summary_kind_fields(struct oc_fields *o, const struct oc_time_summary *s,
                            const struct oc_sum_kind *k);
void oc_summary_device_fields(struct oc_fields *o, const struct oc_time_summary *s,
                              const struct oc_sum_lane *l);
void oc_summary_lane_fields(struct oc_fields *o, const struct oc_time_summary *s,
                            const struct oc_sum_lane *l);
/* what: in CSV and on the page */
void oc_summary_spread_fields(struct oc_fields *o, const struct oc_spread *s, const char *what);

void oc_summary_page(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                     FILE *f);
void oc_summary_json(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                     FILE *f);
void oc_summary_csv(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                    FILE *f);
/* The rows of CSV. */
extern const struct oc_cell_table oc_summary_table;
void oc_summary_parquet(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                        FILE *f);

#endif
