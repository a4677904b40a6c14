/* The report about several profiles of one model: one row per set of nodes that no profile splits, one group
 * of columns per profile. */
#ifndef OC_OUT_COMPARE_H
#define OC_OUT_COMPARE_H

#include "join/compare.h"
#include "report/report.h"

/* A report under construction: `rows` are the selected ones, row.record is the index of the set in `c`. */
struct oc_comparing {
    struct oc_compare c;
    const struct oc_model *model;
    const struct oc_device *device;
    const struct oc_report_opts *o;
    struct oc_arena arena;
    struct oc_rows rows;
    bool combine; /* adds the shortest time of each row to the times of the sources */
};

#endif
