/* The packed cells of the rows "nodes" and "profiles", from the rows of a report. */
#ifndef OC_SCAN_CELLS_H
#define OC_SCAN_CELLS_H

#include "base/buf.h"
#include "onnxcost.h"

/* Cells that are known without the report's rows. */
struct oc_scan_source {
    const char *model; /* path; NULL: none */
    struct oc_report_in in;
};

/* One row for each row of the report, in the order of the nodes or records. */
void oc_scan_pack_nodes(const struct oc_scan_source *source, struct oc_buf *out);
/* One row. */
void oc_scan_pack_profile(const struct oc_scan_source *source, struct oc_buf *out);

#endif
