/* The warnings of all sources of a report: its model, analysis, profile and join, in this order. */
#ifndef OC_FINDINGS_H
#define OC_FINDINGS_H

#include "onnxcost.h"

enum { OC_FINDING_SOURCES = 5 };

/* Number of warnings of a source, and in *d the list, valid as long as the source. 0: *d is not set. */
size_t oc_findings_of(const struct oc_report_in *in, unsigned source, const struct oc_diag **d);

/* Texts of those that say that profile and model do not belong together: the first line of every output. */
enum { OC_MAX_MISMATCHES = 4 };
size_t oc_mismatches(const struct oc_report_in *in, const char *text[OC_MAX_MISMATCHES]);
bool oc_is_mismatch(const struct oc_diag *d);

const char *oc_severity_name(const struct oc_diag *d); /* "warning" */

#endif
