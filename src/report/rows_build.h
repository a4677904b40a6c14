/* Private to rows_build.c and the files that read its rows. */
#ifndef OC_ROWS_BUILD_H
#define OC_ROWS_BUILD_H

#include "report/report.h"

void oc_report_node_shapes(struct oc_report *r, struct oc_row *row, const struct oc_node *n);

/* Nodes that do work when the model runs: not folded, absorbed or in a branch not taken. */
bool oc_report_node_executes(const struct oc_node_cost *k);
double oc_report_node_flo(const struct oc_node_cost *k);

/* Sets the figures of a node in a blank row or in one for another node, and its name if it has one. */
void oc_report_node_row(const struct oc_report *r, uint32_t node, struct oc_row *row);
/* Further inputs of row selection: a label for a node without a name, types and shapes. Once per row. */
void oc_report_node_texts(struct oc_report *r, struct oc_row *row);

void oc_report_no_rows(struct oc_report *r); /* r->all, empty */

/* ---- buckets ---------------------------------------------------------------------------------------- */

/* Unattributed time of a profile, summed by kind: the profile's own buckets (framework, load, ...) and, with
 * a model, the rest of the join (layout, copies, unmatched, ...). Together with the rows outside of buckets
 * they add up to all the time read. */

struct oc_bucket_sum {
    const char *name;
    double time_ns, kernel_ns;        /* own time on the host, time on the device; NAN: no record has it */
    double total_ns, total_kernel_ns; /* the same, of all calls read */
    uint32_t records;
    bool of_profile; /* defined by the profile; else by the join */
};

/* In order of appearance, in the report's arena. Returns their number. */
uint32_t oc_report_buckets(struct oc_report *r, const struct oc_bucket_sum **out);

#endif
