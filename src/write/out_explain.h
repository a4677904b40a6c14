/* The report of --explain-match: for each record of a profile, or the named ones, the rule that matched it to
 * nodes, or the rejected candidates. */
#ifndef OC_OUT_EXPLAIN_H
#define OC_OUT_EXPLAIN_H

#include "onnxcost.h"
#include "report/report.h"

int oc_out_match(const struct oc_join *j, const struct oc_report_opts *o, struct oc_arena *a, FILE *f,
                 struct oc_err *err);

#endif
