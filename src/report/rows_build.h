/* Private to the builders of rows (rows_build.c, rows_join.c). */
#ifndef OC_ROWS_BUILD_H
#define OC_ROWS_BUILD_H

#include "report/report.h"

/* A new row of r->all for a record of the profile: names, times, shapes as recorded, the source's own
 * figures. */
struct oc_row *oc_report_record_row(struct oc_report *r, uint32_t record);
void oc_report_node_shapes(struct oc_report *r, struct oc_row *row, const struct oc_node *n);

void oc_report_rows_of_join(struct oc_report *r);

#endif
