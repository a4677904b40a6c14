#include "profile/nsys_tables.h"

#include <string.h>

#define TITLES 4

/* Names of a column in different versions; the set of columns identifies the report. */
struct spec {
    enum oc_nsys_table table;
    struct {
        enum oc_nsys_column column;
        bool required;
        const char *title[TITLES];
    } column[12];
    const char *without; /* a title that other tables share */
};

static const struct spec specs[] = {
    {OC_NSYS_GPU_TRACE,
     {{OC_NSYS_START, true, {"Start"}},
      {OC_NSYS_DUR, true, {"Duration"}},
      {OC_NSYS_NAME, true, {"Name"}},
      {OC_NSYS_CALLS, true, {"CorrId", "CorrID"}},
      {OC_NSYS_STREAM, false, {"Strm", "Stream"}},
      {OC_NSYS_DEVICE, false, {"Device"}},
      {OC_NSYS_BYTES, false, {"Bytes"}}},
     NULL},
    {OC_NSYS_EXEC_TRACE,
     {{OC_NSYS_START, true, {"Kernel Start"}},
      {OC_NSYS_DUR, true, {"Kernel Dur"}},
      {OC_NSYS_NAME, true, {"Kernel Name"}},
      {OC_NSYS_DEVICE, false, {"DevId"}},
      {OC_NSYS_PROCESS, false, {"PID"}}},
     NULL},
    {OC_NSYS_NVTX_KERN,
     {{OC_NSYS_RANGE, true, {"NVTX Range"}},
      {OC_NSYS_NAME, true, {"Kernel Name"}},
      {OC_NSYS_TOTAL, true, {"Total Time"}},
      {OC_NSYS_CALLS, true, {"Kern Inst"}},
      {OC_NSYS_INSTANCES, false, {"NVTX Inst"}},
      {OC_NSYS_MIN, false, {"Min", "Minimum"}},
      {OC_NSYS_MAX, false, {"Max", "Maximum"}}},
     NULL},
    {OC_NSYS_PROJ_TRACE,
     {{OC_NSYS_START, true, {"Projected Start"}},
      {OC_NSYS_DUR, true, {"Projected Duration"}},
      {OC_NSYS_RANGE, true, {"Name"}},
      {OC_NSYS_ID, false, {"RangeId"}},
      {OC_NSYS_PARENT, false, {"ParentId"}}},
     NULL},
    {OC_NSYS_PROJ_SUM,
     {{OC_NSYS_RANGE, true, {"Range"}},
      {OC_NSYS_TOTAL, true, {"Total Proj Time"}},
      {OC_NSYS_INSTANCES, true, {"Range Instances"}},
      {OC_NSYS_CALLS, false, {"Total GPU Ops"}},
      {OC_NSYS_CHILDREN, false, {"Avg Num Child"}}},
     NULL},
    {OC_NSYS_PUSHPOP,
     {{OC_NSYS_START, true, {"Start"}},
      {OC_NSYS_DUR, true, {"Duration"}},
      {OC_NSYS_RANGE, true, {"Name"}},
      {OC_NSYS_CHILDREN, true, {"NumChild"}},
      {OC_NSYS_ID, false, {"RangeId"}},
      {OC_NSYS_PARENT, false, {"ParentId"}}},
     NULL},
    {OC_NSYS_GPU_SUM,
     {{OC_NSYS_TOTAL, true, {"Total Time"}},
      {OC_NSYS_CALLS, true, {"Instances"}},
      {OC_NSYS_RANGE, true, {"Category"}},
      {OC_NSYS_NAME, true, {"Operation"}},
      {OC_NSYS_MIN, false, {"Min", "Minimum"}},
      {OC_NSYS_MAX, false, {"Max", "Maximum"}}},
     NULL},
    {OC_NSYS_MEM_SUM,
     {{OC_NSYS_TOTAL, true, {"Total Time"}},
      {OC_NSYS_CALLS, true, {"Count", "Operations", "Instances"}},
      {OC_NSYS_NAME, true, {"Operation", "Name"}},
      {OC_NSYS_MIN, false, {"Min", "Minimum"}},
      {OC_NSYS_MAX, false, {"Max", "Maximum"}}},
     "Instances"},
    {OC_NSYS_MEM_SUM,
     {{OC_NSYS_TOTAL, true, {"Total Time"}},
      {OC_NSYS_CALLS, true, {"Instances"}},
      {OC_NSYS_NAME, true, {"Operation"}},
      {OC_NSYS_MIN, false, {"Min", "Minimum"}},
      {OC_NSYS_MAX, false, {"Max", "Maximum"}}},
     NULL},
    {OC_NSYS_KERN_SUM,
     {{OC_NSYS_TOTAL, true, {"Total Time"}},
      {OC_NSYS_CALLS, true, {"Instances"}},
      {OC_NSYS_NAME, true, {"Name"}},
      {OC_NSYS_MIN, false, {"Min", "Minimum"}},
      {OC_NSYS_MAX, false, {"Max", "Maximum"}}},
     "Range"},
    {OC_NSYS_NVTX_SUM,
     {{OC_NSYS_RANGE, true, {"Range"}},
      {OC_NSYS_TOTAL, true, {"Total Time"}},
      {OC_NSYS_INSTANCES, true, {"Instances"}}},
     NULL},
};

static size_t nsys_tables_find(const struct oc_str *field, size_t n, const char *const *title)
{
    for (size_t i = 0; i < TITLES && title[i]; i++) {
        size_t at = oc_csv_column(field, n, title[i]);
        if (at != OC_CSV_NONE)
            return at;
    }
    return OC_CSV_NONE;
}

static bool match_columns(const struct spec *s, const struct oc_str *field, size_t n,
                          struct oc_nsys_header *out)
{
    if (s->without && oc_csv_column(field, n, s->without) != OC_CSV_NONE)
        return false;
    for (size_t i = 0; i < OC_NSYS_COLUMNS; i++)
        out->at[i] = OC_CSV_NONE;
    for (size_t i = 0; i < OC_COUNT(s->column) && s->column[i].title[0]; i++) {
        size_t at = nsys_tables_find(field, n, s->column[i].title);
        if (at == OC_CSV_NONE && s->column[i].required)
            return false;
        out->at[s->column[i].column] = at;
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
