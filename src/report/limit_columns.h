/* Roofline columns: a time for each unit with work and each memory level of the device, named after it
 * ("vector_ns", "l2_ns"), their shares of the measured time, and the time after all steps of what_if.h. */
#ifndef OC_LIMIT_COLUMNS_H
#define OC_LIMIT_COLUMNS_H

#include "report/columns.h"

/* Fills r->extra, in the report's arena; none without hardware. */
void oc_limit_columns(struct oc_report *r);

#endif
