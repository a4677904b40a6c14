#ifndef OC_MAIN_LINES_H
#define OC_MAIN_LINES_H

#include "report/report.h"

/* Adds the summary lines that are printed without -v, except warnings. */
void oc_main_lines(struct oc_report *r, struct oc_summary *out);

#endif
