/* Columns of what the hardware allows: a time for each unit that has work and for each memory level that the
 * device has, named after it ("vector_ns", "l2_ns"), and how much of the measured time they would be busy;
 * and the time after all steps of what_if.h. */
#ifndef OC_LIMIT_COLUMNS_H
#define OC_LIMIT_COLUMNS_H

#include "report/columns.h"

/* Fills r->extra, in the report's arena; none without hardware. */
void oc_limit_columns(struct oc_report *r);

#endif
