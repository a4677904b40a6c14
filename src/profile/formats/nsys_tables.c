#include "profile/formats/nsys_tables.h"

#include <stdio.h>
#include <string.h>

/* Titles of columns in all versions, separated by '|'; '?': the table may lack it. The set of columns
 * identifies the report. */
struct spec {
    enum oc_nsys_table table;
    const char *without; /* a title that other tables share */
    const char *column[OC_NSYS_COLUMNS];
};

/* clang-format off */
#define SUM_COLUMNS \
    [OC_NSYS_TOTAL] = "Total Time", [OC_NSYS_MIN] = "?Min|Minimum", [OC_NSYS_MAX] = "?Max|Maximum"
static const struct spec specs[] = {
    {OC_NSYS_GPU_TRACE, NULL, {[OC_NSYS_START] = "Start", [OC_NSYS_DUR] = "Duration", [OC_NSYS_NAME] = "Name",
     [OC_NSYS_CALLS] = "CorrId", [OC_NSYS_STREAM] = "?Strm|Stream", [OC_NSYS_DEVICE] = "?Device",
     [OC_NSYS_BYTES] = "?Bytes"}},
    {OC_NSYS_EXEC_TRACE, NULL, {[OC_NSYS_START] = "Kernel Start", [OC_NSYS_DUR] = "Kernel Dur",
     [OC_NSYS_NAME] = "Kernel Name", [OC_NSYS_DEVICE] = "?DevId", [OC_NSYS_PROCESS] = "?PID"}},
    {OC_NSYS_NVTX_KERN, NULL, {SUM_COLUMNS, [OC_NSYS_RANGE] = "NVTX Range", [OC_NSYS_NAME] = "Kernel Name",
     [OC_NSYS_CALLS] = "Kern Inst", [OC_NSYS_INSTANCES] = "?NVTX Inst"}},
    {OC_NSYS_PROJ_TRACE, NULL, {[OC_NSYS_START] = "Projected Start", [OC_NSYS_DUR] = "Projected Duration",
     [OC_NSYS_RANGE] = "Name", [OC_NSYS_ID] = "?RangeId", [OC_NSYS_PARENT] = "?ParentId"}},
    {OC_NSYS_PROJ_SUM, NULL, {[OC_NSYS_RANGE] = "Range", [OC_NSYS_TOTAL] = "Total Proj Time",
     [OC_NSYS_INSTANCES] = "Range Instances", [OC_NSYS_CALLS] = "?Total GPU Ops",
     [OC_NSYS_CHILDREN] = "?Avg Num Child"}},
    {OC_NSYS_PUSHPOP, NULL, {[OC_NSYS_START] = "Start", [OC_NSYS_DUR] = "Duration", [OC_NSYS_RANGE] = "Name",
     [OC_NSYS_CHILDREN] = "NumChild", [OC_NSYS_ID] = "?RangeId", [OC_NSYS_PARENT] = "?ParentId"}},
    {OC_NSYS_GPU_SUM, NULL, {SUM_COLUMNS, [OC_NSYS_CALLS] = "Instances", [OC_NSYS_RANGE] = "Category",
     [OC_NSYS_NAME] = "Operation"}},
    {OC_NSYS_MEM_SUM, "Instances", {SUM_COLUMNS, [OC_NSYS_CALLS] = "Count|Operations",
     [OC_NSYS_NAME] = "Operation|Name"}},
    {OC_NSYS_MEM_SUM, NULL, {SUM_COLUMNS, [OC_NSYS_CALLS] = "Instances", [OC_NSYS_NAME] = "Operation"}},
    {OC_NSYS_KERN_SUM, "Range", {SUM_COLUMNS, [OC_NSYS_CALLS] = "Instances", [OC_NSYS_NAME] = "Name"}},
    {OC_NSYS_NVTX_SUM, NULL, {[OC_NSYS_RANGE] = "Range", [OC_NSYS_TOTAL] = "Total Time",
     [OC_NSYS_INSTANCES] = "Instances"}},
};
/* clang-format on */

static size_t nsys_tables_find(const struct oc_str *field, size_t n, const char *titles)
{
    size_t at = OC_CSV_NONE;
    while (*titles && at == OC_CSV_NONE) {
        char title[32];
        size_t k = strcspn(titles, "|");
        snprintf(title, sizeof(title), "%.*s", (int)k, titles);
        at = oc_csv_column(field, n, title);
        titles += k + (titles[k] == '|');
    }
    return at;
}

static bool match_columns(const struct spec *s, const struct oc_str *field, size_t n,
                          struct oc_nsys_header *out)
{
    if (s->without && oc_csv_column(field, n, s->without) != OC_CSV_NONE)
        return false;
    for (size_t i = 0; i < OC_NSYS_COLUMNS; i++) {
        const char *titles = s->column[i] ? s->column[i] : "?";
        bool required = *titles != '?';
        out->at[i] = nsys_tables_find(field, n, titles + !required);
        if (out->at[i] == OC_CSV_NONE && required)
            return false;
    }
    out->table = s->table;
    return true;
}

static double unit_of_bytes(struct oc_str unit)
{
    static const struct {
        const char *name;
        double bytes;
    } known[] = {{"B", 1},        {"KB", 1e3},        {"MB", 1e6},          {"GB", 1e9},
                 {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (oc_csv_same(unit, known[i].name))
            return known[i].bytes;
    return 0;
}

void oc_nsys_header(const struct oc_str *field, size_t n, double title_ns, struct oc_nsys_header *out)
{
    struct oc_str unit;
    *out = (struct oc_nsys_header){.table = OC_NSYS_NONE};
    for (size_t i = 0; i < OC_COUNT(specs); i++)
        if (match_columns(&specs[i], field, n, out))
            break;
    if (out->table == OC_NSYS_NONE)
        return;
    size_t at = out->at[OC_NSYS_TOTAL] != OC_CSV_NONE ? out->at[OC_NSYS_TOTAL] : out->at[OC_NSYS_DUR];
    oc_csv_split_unit(field[at], &unit);
    if (!oc_csv_time_unit(unit, &out->ns))
        out->ns = title_ns > 0 ? title_ns : 1;
    if (out->at[OC_NSYS_BYTES] != OC_CSV_NONE) {
        oc_csv_split_unit(field[out->at[OC_NSYS_BYTES]], &unit);
        out->bytes = unit_of_bytes(unit);
    }
}

struct oc_str oc_nsys_text(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                           enum oc_nsys_column column)
{
    return oc_csv_at(field, n, h->at[column]);
}

bool oc_nsys_number(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                    enum oc_nsys_column column, double *out)
{
    struct oc_str s = oc_nsys_text(h, field, n, column);
    return s.n && oc_csv_number(s, out, NULL);
}
