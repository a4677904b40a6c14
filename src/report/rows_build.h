/* Private to the builders of rows (rows_build.c, rows_join.c). */
#ifndef OC_ROWS_BUILD_H
#define OC_ROWS_BUILD_H

#include "report/report.h"

/* Appends a row to r->all for a record of the profile: names, times, recorded shapes, the source's own
 * figures. */
struct oc_row *oc_report_record_row(struct oc_report *r, uint32_t record);
void oc_report_node_shapes(struct oc_report *r, struct oc_row *row, const struct oc_node *n);

/* Nodes that do work when the model runs: not folded, absorbed or in a branch not taken. */
bool oc_report_node_executes(const struct oc_node_cost *k);
double oc_report_node_flo(const struct oc_node_cost *k);

/* Sets the figures of a node in a blank row or in one for another node, and its name if it has one. */
void oc_report_node_row(const struct oc_report *r, uint32_t node, struct oc_row *row);
/* Further inputs of row selection: a label for a node without a name, types and shapes. Once per row. */
void oc_report_node_texts(struct oc_report *r, struct oc_row *row);

void oc_report_no_rows(struct oc_report *r); /* r->all, empty */
void oc_report_rows_of_join(struct oc_report *r);

#endif
