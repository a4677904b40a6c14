/* The columns of tables with one row for each file, node or item of a profile. */
#include <string.h>

#include "base/row_cells.h"
#include "fleet/scan.h"

/* The order of oc_summary_item_fields. */
/* clang-format off */
static const struct oc_cell_column summary_columns[] = {
    {"profile", OC_DATUM_TEXT, true, "", "path of the profile"},
    {"view", OC_DATUM_TEXT, true, "", "table of the summary: operator, kernel ... (--view)"},
    {"depth", OC_DATUM_U64, true, "", "0; 1: part of the row with depth 0 above; 2: kernel of a part"},
    {"name", OC_DATUM_TEXT, false, "", "operator, kernel, phase, kind of event ..."},
    {"type", OC_DATUM_TEXT, false, "", "operator type, or kind of device work"},
    {"kind", OC_DATUM_TEXT, false, "", "kind of event"},
    {"thread", OC_DATUM_TEXT, false, "", "with --per-thread"},
    {"calls", OC_DATUM_U64, false, "", "calls in the used runs"},
    {"host_total_ns", OC_DATUM_DOUBLE, false, "ns", "time on the host: sum of the calls"},
    {"host_avg_ns", OC_DATUM_DOUBLE, false, "ns", "mean of the calls"},
    {"host_max_ns", OC_DATUM_DOUBLE, false, "ns", "longest call"},
    {"host_min_ns", OC_DATUM_DOUBLE, false, "ns", "shortest call"},
    {"device_total_ns", OC_DATUM_DOUBLE, false, "ns", "time on the device: sum of the calls"},
    {"device_avg_ns", OC_DATUM_DOUBLE, false, "ns", "mean of the calls"},
    {"device_max_ns", OC_DATUM_DOUBLE, false, "ns", "longest call"},
    {"device_min_ns", OC_DATUM_DOUBLE, false, "ns", "shortest call"},
    {"host_ratio", OC_DATUM_DOUBLE, false, "1", "part of the host time of the table, or of the row above"},
    {"device_ratio", OC_DATUM_DOUBLE, false, "1", "part of the device time likewise"},
    {"bytes", OC_DATUM_U64, false, "B", "bytes copied"},
};
/* clang-format on */

const struct oc_cell_table oc_summary_table = {"summary", 1, summary_columns, OC_COUNT(summary_columns)};

bool oc_row_column(const char *rows, size_t index, struct oc_row_column *out)
{
    static const char *const type[] = {[OC_DATUM_TEXT] = "text",
                                       [OC_DATUM_U64] = "u64",
                                       [OC_DATUM_I64] = "i64",
                                       [OC_DATUM_DOUBLE] = "double"};
    const struct oc_cell_table *const tables[] = {&oc_scan_models.cells, &oc_scan_nodes.cells,
                                                  &oc_scan_profiles.cells, &oc_summary_table};
    for (size_t i = 0; i < OC_COUNT(tables); i++) {
        if (strcmp(tables[i]->name, rows) != 0 || index >= tables[i]->n)
            continue;
        const struct oc_cell_column *c = &tables[i]->column[index];
        *out = (struct oc_row_column){c->name, type[c->kind], c->unit, c->what, c->required};
        return true;
    }
    return false;
}
