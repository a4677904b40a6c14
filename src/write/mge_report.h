/* The report of MegEngine's profile_analyze: summary, device table, host table; byte for byte where the
 * original prints anything. Where it fails (an unknown sort key, an empty selection, no Copy operator) this
 * one goes on: unknowns are printed as N/A and ordered last, empty tables are printed empty. */
#ifndef OC_MGE_REPORT_H
#define OC_MGE_REPORT_H

#include "profile/megengine.h"
#include "report/rows.h"

/* The operators of the dump as rows, in the order of the file. The rows' texts live in `a`. */
void oc_mge_rows(const struct oc_mge *m, struct oc_arena *a, struct oc_rows *out);

/* Writes the report. Errors: OC_EARG (options), OC_ELIMIT, OC_EOUTPUT. Nothing is written after an error in
 * the options. */
int oc_mge_report(const struct oc_mge *m, const struct oc_report_opts *o, FILE *f, struct oc_err *err);

#endif
