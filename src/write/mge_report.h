/* The report of MegEngine's profile_analyze: summary, device table, host table; byte for byte equal to the
 * original's output. Where the original fails (an unknown sort key, an empty selection, no Copy operator)
 * this one continues: unknown values are printed as N/A and sorted last, empty tables are printed empty. */
#ifndef OC_MGE_REPORT_H
#define OC_MGE_REPORT_H

#include "profile/formats/megengine.h"
#include "report/rows.h"
#include "onnxcost_types.h"

/* Writes the report. Errors: OC_EARG (options), OC_ELIMIT, OC_EOUTPUT. Nothing is written if the options
 * are invalid. */
int oc_mge_report(const struct oc_mge *m, const struct oc_report_opts *o, FILE *f, struct oc_err *err);

#endif
