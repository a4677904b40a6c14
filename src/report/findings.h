/* The findings of all that a report is about: its model, analysis, profile and join, one source after the
 * other. */
#ifndef OC_FINDINGS_H
#define OC_FINDINGS_H

#include "onnxcost.h"

enum { OC_FINDING_SOURCES = 4 };

/* How many findings a source has, and in *d where they are, valid as long as the source. 0: *d is not set. */
size_t oc_findings_of(const struct oc_report_in *in, unsigned source, const struct oc_diag **d);

const char *oc_severity_name(const struct oc_diag *d); /* "warning" */

#endif
