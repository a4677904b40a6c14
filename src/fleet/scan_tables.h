/* The tables of a scan: names, types, units and meaning of their columns, for every format. A cell is a
 * member of struct oc_scan_row, or follows from the bytes that a worker process made. */
#ifndef OC_SCAN_TABLES_H
#define OC_SCAN_TABLES_H

#include "base/row_cells.h"
#include "onnxcost/scan.h"

#define OC_SCAN_PACKED SIZE_MAX
enum { OC_SCAN_COLUMNS = 64 }; /* no table has more */

struct oc_scan_table {
    struct oc_cell_table cells;
    const size_t *offset; /* in struct oc_scan_row; OC_SCAN_PACKED: among the packed cells */
    /* The cells that are packed, in order; n 0: none. A row of the scan then has 0 or more rows of the table.
     */
    struct oc_cell_table packed;
};

extern const struct oc_scan_table oc_scan_models, oc_scan_nodes, oc_scan_profiles;

/* The table of the rows of a scan; NULL: the scan has none of this name ("profiles" of models). */
const struct oc_scan_table *oc_scan_table_of(const char *rows, bool profiles);

/* Sets the cells of `row` that are members of it. */
void oc_scan_row_cells(const struct oc_scan_table *t, const struct oc_scan_row *row, struct oc_datum *cell);

/* The next table row in the bytes of `row`. An error is one table row. False: there is none. */
struct oc_scan_cursor {
    const char *at;
    bool begun;
};
bool oc_scan_next_cells(const struct oc_scan_table *t, const struct oc_scan_row *row,
                        struct oc_scan_cursor *cursor, struct oc_datum *cell);

#endif
