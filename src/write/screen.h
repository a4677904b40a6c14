/* The tables that a report starts with when nothing is asked for: where the time goes (without times: the
 * roofline time, or the operations), by kind of operator, and the largest operators. */
#ifndef OC_SCREEN_H
#define OC_SCREEN_H

#include "report/report.h"

/* Whether the options ask for no rows in particular. */
bool oc_screen_is_default(const struct oc_report_opts *o);

/* Whether there is no time, but a device: the tables are about roofline times. */
bool oc_screen_by_roofline(const struct oc_report *r);

/* r->shown: the largest operators. Where r->all has no rows (few_rows.h), the totals of the analysis by
 * operator type serve. */
void oc_screen_print(struct oc_report *r, FILE *f);

/* Rows with more than this many are not grouped by signature, which costs a text each. */
enum { OC_SCREEN_MOST_SIGNATURES = 5000 };

#endif
