/* State of a scan: its files, the rows reused from an earlier one, and duplicates. */
#ifndef OC_FLEET_SCAN_H
#define OC_FLEET_SCAN_H

#include "base/file.h"
#include "fleet/model_files.h"
#include "fleet/scan_row.h"
#include "fleet/scan_tables.h"
#include "onnxcost.h"
#include "onnxcost/scan.h"

struct oc_scan {
    struct oc_scan_opts opts;
    struct oc_analyze_opts analyze;
    struct oc_model_files files;
    const struct oc_scan_table *table;
    const char **model_of;           /* of profiles, by file: path, NULL: none; otherwise NULL */
    char settings[17], mark[17];     /* mark: of the files, their state, and the settings */
    struct oc_map by_path;           /* index of a file */
    const struct oc_scan_row **kept; /* by file, NULL: none */
    bool *shares_size;               /* by file: has a duplicate */
    struct oc_arena arena;           /* of the reused rows and of first_of */
    struct oc_map first_of;          /* index of the first file with this size and hash */
    int (*row)(void *arg, const struct oc_scan_row *row);
    void *row_arg;
    size_t n_done;
};

/* A name of a profile in a folder. */
bool oc_scan_is_profile_name(const char *name);
/* Sets model_of. */
void oc_scan_find_models(struct oc_scan *s);

/* oc_scan_keep from any source. */
int oc_scan_keep_from(struct oc_scan *s, struct oc_stream *text, struct oc_err *err);

#endif
