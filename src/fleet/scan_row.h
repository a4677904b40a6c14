/* One row of a scan: loads and analyses a model file; and the reader of earlier rows. */
#ifndef OC_SCAN_ROW_H
#define OC_SCAN_ROW_H

#include "base/buf.h"
#include "base/diag.h"
#include "onnxcost.h"
#include "onnxcost/scan.h"

void oc_scan_row_clear(struct oc_scan_row *row); /* everything unknown */

/* Plain data that can be passed between processes. The texts of `row` are invalid until oc_scan_result_texts.
 */
struct oc_scan_result {
    struct oc_scan_row row;
    char hash[17], producer[200], domains[300], error[800], error_file[256];
    uint8_t error_code, quality,
        peak_quality; /* enum oc_code, OC_OK: no error; enum oc_quality + 1, 0: none */
    bool crashed, no_memory;
};
void oc_scan_result_texts(struct oc_scan_result *r);

struct oc_scan;

/* Loads and analyses a file of the scan; sets numbers and errors, and appends packed cells. with_hash: also
 * the hash of the whole file. */
void oc_scan_one(const struct oc_scan *s, size_t index, bool with_hash, struct oc_scan_result *out,
                 struct oc_buf *cells);

/* Of a profile (scan_profile.c). 0: done; -1: an error, and no cells. */
int oc_scan_read_profile(const struct oc_scan *s, size_t index, struct oc_scan_result *out,
                         struct oc_buf *cells, struct oc_err *err);

/* Whether an error may be temporary: a file that could not be opened, a crash. */
bool oc_scan_may_be_gone(const char *code);

/* Replaces the result by an error. */
void oc_scan_failed(struct oc_scan_result *r, const struct oc_err *err);

/* ---- scan cells ---------------------------------------------------------------------------------------- */

/* The packed cells of the rows "nodes" and "profiles", from the rows of a report. */

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
