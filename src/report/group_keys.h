/* Keys of --group-by: type, module path, class and source line of the module, signature (type and shapes),
 * provider, precision, kernel, bound, join rule; several can be combined. */
#ifndef OC_GROUP_KEYS_H
#define OC_GROUP_KEYS_H

#include "report/report.h"
#include "report/rows.h"

enum { OC_MAX_GROUP_KEYS = 8 };

struct oc_group_by {
    uint8_t what;
    uint8_t depth; /* of module paths, 0: the whole path */
};

/* Parses "type,module:2". OC_EARG names the option and its choices. */
int oc_group_by_read(const char *option, const char *text, struct oc_group_by out[OC_MAX_GROUP_KEYS],
                     size_t *n, struct oc_err *err);

/* Sets `group` of the rows; unknown keys are "(unknown)". r NULL: only the rows are available (MegEngine's
 * own report). */
void oc_group_keys(struct oc_report *r, const struct oc_group_by *by, size_t n, struct oc_rows *rows);

/* ---- row label -------------------------------------------------------------------------------------- */

/* What a person calls a row. */

/* The model's name of the row's operator; of several fused ones that with the most operations, and how many
 * others: "/layer1/conv2/Conv +2". Rows that cover no node keep the runtime's name. Arena text. */
const char *oc_row_label(struct oc_report *r, const struct oc_row *row);

/* "Conv /conv1/Conv, Relu /relu/Relu; runtime name: Conv_fused_1": the nodes of the row, where they are
 * several or the runtime calls the row otherwise; else NULL. Arena text. */
const char *oc_row_members(struct oc_report *r, const struct oc_row *row);

/* The row's type; without one, that of the same operator of the model, else "(unknown)". */
const char *oc_row_type(const struct oc_report *r, const struct oc_row *row);

/* ---- aggregate ----------------------------------------------------------------------------------------- */

/* Aggregates rows to one row per group. */

enum oc_aggregate {
    OC_AGG_NONE,
    OC_AGG_MAX,
    OC_AGG_MIN,
    OC_AGG_SUM,
    OC_AGG_MEAN,
    OC_AGG_PERCENTILE, /* of the known values, interpolated linearly */
    OC_AGG_COUNT       /* number of rows; no other figure */
};

struct oc_reduction {
    enum oc_aggregate how;
    double percent; /* of OC_AGG_PERCENTILE: 50 is the median */
};

/* "sum", "median", "p90", "p99.9" ... False: none of these. */
bool oc_reduction_read(const char *text, struct oc_reduction *out);

/* Sum, mean, ... of the known values; NAN if none. A mean divides by all n (n >= 1). Reorders `v`. */
double oc_aggregate_of(struct oc_reduction how, double *v, size_t n);

/* One row per group (row.group; NULL: all rows are one group, named "all"), in order of first appearance, in
 * in->arena. Figures are aggregated by `how`, shapes are dropped, the info cell is group, count and "N/A". */
void oc_rows_aggregate(const struct oc_rows *in, struct oc_reduction how, struct oc_rows *out);

#endif
