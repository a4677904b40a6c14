/* Top-k selection for reports that show only a few of a model's nodes: rows are made in sequence, and only
 * the best so far are kept. The result equals that of making all rows and selecting from them, without the
 * memory for a row per node. */
#ifndef OC_FEW_ROWS_H
#define OC_FEW_ROWS_H

#include "report/report.h"
#include "report/select.h"

/* Whether the report can be made this way: from an analysis alone, without hardware, groups and what-if
 * steps. The format must not use r->all.row, which stays empty; r->all.n is the number of rows. */
bool oc_few_rows_do(const struct oc_report *r);

/* Fills r->shown and, instead of oc_report_rows, the number and the sums of all rows. */
int oc_few_rows_choose(struct oc_report *r, const struct oc_select *s, struct oc_err *err);

#endif
