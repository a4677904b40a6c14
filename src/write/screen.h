/* The default tables of a report: where the time goes (without times: roofline time or operations), by
 * group of operators, and the largest operators. */
#ifndef OC_SCREEN_H
#define OC_SCREEN_H

#include "report/report.h"

/* Whether the options select no particular rows. */
bool oc_screen_is_default(const struct oc_report_opts *o);

/* Whether there are no times but a device: the tables show roofline times. */
bool oc_screen_by_roofline(const struct oc_report *r);

/* r->shown: the largest operators. If r->all has no rows (few_rows.h), the groups come from the totals of
 * the analysis by operator type. */
void oc_screen_print(struct oc_report *r, FILE *f);

/* Reports with more rows are not grouped by signature, which needs a text per row. */
enum { OC_SCREEN_MOST_SIGNATURES = 5000 };

#endif
