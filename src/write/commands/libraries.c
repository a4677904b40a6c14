/* Versions of the external libraries found on this system. */
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/xml_read.h"
#include "model/model.h"
#include "onnxcost/record.h"
#include "profile/sqlite_rows.h"
#include "report/select.h"

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
