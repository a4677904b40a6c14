/* Finds ONNX Runtime and its version. The library is loaded in a separate process. */
#include <string.h>

#include "base/c_locale.h"
#include "run/record_files.h"
#include "run/ort_lib.h"
#include "onnxcost/record.h"

enum { FILE_NAME, VERSION };

static int ort_try_work(void *arg, struct oc_child *c, struct oc_err *err)
{
    struct oc_ort ort;
    oc_child_stage(c, "loading ONNX Runtime");
    if (oc_ort_open(arg, &ort, err))
        return -1;
    oc_child_text(c, FILE_NAME, ort.file);
    oc_child_text(c, VERSION, ort.version);
    return 0;
}

static void heard(void *arg, unsigned what, const char *text)
{
    struct oc_library_info *out = arg;
    if (what == FILE_NAME)
        snprintf(out->file, sizeof(out->file), "%s", text);
    else
        snprintf(out->version, sizeof(out->version), "%s", text);
}

int oc_onnxruntime_find(const char *library, struct oc_library_info *out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_child_listener listener = {.text = heard, .arg = out};
    char named[512];
    snprintf(named, sizeof(named), "%s", library ? library : "");
    *out = (struct oc_library_info){.name = "ONNX Runtime", .use = "record", .on_demand = true};
    out->found = oc_child_run("ONNX Runtime", ort_try_work, library ? named : NULL, &listener, err) == 0;
    return out->found ? 0 : -1;
}
