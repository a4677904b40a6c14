#ifndef OC_MAIN_LINES_H
#define OC_MAIN_LINES_H

#include "report/report.h"

/* Adds the lines of the summary that stand there without -v, warnings apart. */
void oc_main_lines(struct oc_report *r, struct oc_summary *out);

#endif
