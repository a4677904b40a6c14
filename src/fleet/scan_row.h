/* One row of a scan: loads and analyses a model file; and the table of a row's fields, shared by the writers
 * and the reader of earlier rows. */
#ifndef OC_SCAN_ROW_H
#define OC_SCAN_ROW_H

#include "base/diag.h"
#include "onnxcost/scan.h"

enum oc_scan_kind { OC_SCAN_TEXT, OC_SCAN_U64, OC_SCAN_I64, OC_SCAN_DOUBLE };

struct oc_scan_field {
    const char *name;
    unsigned kind; /* enum oc_scan_kind */
    size_t offset; /* in struct oc_scan_row */
};
extern const struct oc_scan_field oc_scan_fields[];
extern const size_t oc_scan_n_fields;

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

/* Loads and analyses the file; sets numbers and errors. with_hash: also the hash of the whole file. */
void oc_scan_one(const char *path, const struct oc_analyze_opts *opts, const struct oc_caps *caps,
                 bool with_hash, struct oc_scan_result *out);

/* Replaces the result by an error. */
void oc_scan_failed(struct oc_scan_result *r, const struct oc_err *err);

#endif
