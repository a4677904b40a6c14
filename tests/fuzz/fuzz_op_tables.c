/* Printed tables and lines: every description, and the CSV of ONNX Runtime. */
#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"
#include "profile/printed/printed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_onnxruntime_csv;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t count;
    const struct oc_importer *printed = oc_printed_importers(&count);
    fuzz_importer(&oc_importer_onnxruntime_csv, data, n, &(struct oc_profile_opts){0});
    for (size_t i = 0; i < count; i++) {
        fuzz_importer(&printed[i], data, n, &(struct oc_profile_opts){0});
        fuzz_importer(&printed[i], data, n, &(struct oc_profile_opts){.stat = OC_STAT_SUM});
    }
    return 0;
}
