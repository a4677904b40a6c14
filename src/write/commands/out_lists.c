/* What the program has: the operators with rules, the external libraries on this system. */
#include <string.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/xml_read.h"
#include "model/model.h"
#include "onnxcost/record.h"
#include "onnxcost/report.h"
#include "profile/sqlite_rows.h"
#include "report/python.h"
#include "report/select.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

/* ---- operators -------------------------------------------------------------------------------------- */

static const char *domain_of(const struct oc_op_info *op)
{
    return op->domain[0] ? op->domain : "ai.onnx";
}

/* A test is a set of inputs, a program with one of our models that contains the operator, or a model of
 * the ONNX backend tests. */
static unsigned tests_of(const struct oc_op_info *op)
{
    return op->cases + op->models + op->node_tests;
}

static const char *opsets(struct oc_arena *a, const struct oc_op_info *op)
{
    return op->until ? oc_printf(a, "%d-%d", op->since, op->until) : oc_printf(a, "%d-", op->since);
}

static void fill_ops(struct oc_table *t, struct oc_arena *a)
{
    OC_ROW(t, "domain", "operator", "opset", "class", "family", "tests", "formula");
    for (size_t i = 0; i < oc_op_count(); i++) {
        struct oc_op_info op;
        oc_op_get(i, &op);
        OC_ROW(t, domain_of(&op), op.name, opsets(a, &op), op.op_class, op.family,
               oc_printf(a, "%u", tests_of(&op)), op.formula ? op.formula : "");
    }
}

static void op_fields(struct oc_fields *o, const void *of, size_t i)
{
    struct oc_op_info op;
    (void)of;
    oc_op_get(i, &op);
    oc_field_text(o, "domain", domain_of(&op));
    oc_field_text(o, "name", op.name);
    oc_field_text(o, "family", op.family);
    oc_field_text(o, "class", op.op_class);
    oc_field_u64(o, "since", (uint64_t)op.since);
    oc_field_u64_if(o, "until", op.until > 0, (uint64_t)op.until);
    oc_field_text(o, "formula", op.formula);
    oc_field_u64(o, "tests", tests_of(&op));
    oc_field_u64(o, "cases", op.cases);
    oc_field_u64(o, "costs", op.costs);
    oc_field_u64(o, "models", op.models);
    oc_field_u64(o, "node_tests", op.node_tests);
}

int oc_ops_write(const char *format, unsigned width_chars, FILE *f, struct oc_err *err)
{
    OC_ENTRY(err);
    static const uint8_t drop[] = {0, 0, 0, 0, 1, 2, 3};
    struct oc_table t = {.kinds = "ttttttt", .width_chars = width_chars, .drop = drop, .min_text = UINT8_MAX};
    struct oc_arena a = {0};
    struct oc_json_out w;
    int form = oc_format_of("ops", format, "table, csv, json", err);
    if (form == 2) {
        oc_json_begin(&w, f, "onnxcost.ops", 1, NULL);
        oc_row_list_json(&OC_ROWS(oc_op_count(), NULL, op_fields), "operators", &w);
        oc_json_end(&w);
    } else if (form >= 0) {
        fill_ops(&t, &a);
        if (form == 1)
            oc_table_csv(&t, "1", f);
        else
            oc_table_print(&t, f);
    }
    oc_arena_free(&a);
    return form < 0 ? -1 : 0;
}

/* ---- libraries -------------------------------------------------------------------------------------- */

static bool find_protobuf_c(struct oc_library_info *out)
{
    snprintf(out->version, sizeof(out->version), "%s", oc_protobuf_version());
    return true;
}

static bool find_zlib(struct oc_library_info *out)
{
    snprintf(out->version, sizeof(out->version), "%s", oc_zlib_version());
    return true;
}

static bool find_pcre2(struct oc_library_info *out)
{
    struct oc_err err;
    return oc_pattern_version(out->version, sizeof(out->version), out->file, sizeof(out->file), &err) == 0;
}

static bool find_libxml2(struct oc_library_info *out)
{
    struct oc_err err;
    return oc_xml_version(out->version, sizeof(out->version), out->file, sizeof(out->file), &err) == 0;
}

static bool find_sqlite(struct oc_library_info *out)
{
    struct oc_err err;
    return oc_sqlite_version(out->version, sizeof(out->version), out->file, sizeof(out->file), &err) == 0;
}

static bool find_onnxruntime(struct oc_library_info *out)
{
    struct oc_err err;
    struct oc_library_info there;
    if (oc_onnxruntime_find(NULL, &there, &err))
        return false;
    memcpy(out->version, there.version, sizeof(out->version));
    memcpy(out->file, there.file, sizeof(out->file));
    return true;
}

static const struct {
    const char *name, *use;
    bool on_demand;
    bool (*find)(struct oc_library_info *out);
} libraries[] = {
    {"protobuf-c", "models", false, find_protobuf_c},
    {"zlib", "compressed traces", false, find_zlib},
    {"PCRE2", "patterns of names", true, find_pcre2},
    {"libxml2", "hardware files, calibrations, rules of operators, names of kernels", true, find_libxml2},
    {"SQLite", "recordings of Nsight Systems", true, find_sqlite},
    {"ONNX Runtime", "record", true, find_onnxruntime},
};

bool oc_library(size_t index, struct oc_library_info *out)
{
    if (index >= OC_COUNT(libraries))
        return false;
    *out = (struct oc_library_info){
        .name = libraries[index].name, .use = libraries[index].use, .on_demand = libraries[index].on_demand};
    out->found = libraries[index].find(out);
    return true;
}
