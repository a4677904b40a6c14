/* The rows of a report that shows a few of a model's nodes and asks nothing of the others: rows are made one
 * after another, and only those that come first so far are kept. The outcome is that of making all rows and
 * choosing from them, without the memory for a row of every node. */
#ifndef OC_FEW_ROWS_H
#define OC_FEW_ROWS_H

#include "report/report.h"
#include "report/select.h"

/* Whether the report can be made so: of an analysis alone, without hardware, groups and questions about what
 * if. The format must not look at r->all.row, which stays empty; r->all.n will be how many rows there are. */
bool oc_few_rows_do(const struct oc_report *r);

/* Fills r->shown, and in place of oc_report_rows the number and the sums of all rows. */
int oc_few_rows_choose(struct oc_report *r, const struct oc_select *s, struct oc_err *err);

#endif
