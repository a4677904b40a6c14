/* CSV tables of rocprof, nvprof, msprof, QNN, unitrace and ONNX Runtime. */
#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_rocprof, oc_importer_nvprof_csv, oc_importer_msprof,
    oc_importer_qnn, oc_importer_unitrace, oc_importer_onnxruntime_csv;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct oc_importer *const importer[] = {&oc_importer_rocprof,  &oc_importer_nvprof_csv,
                                                         &oc_importer_msprof,   &oc_importer_qnn,
                                                         &oc_importer_unitrace, &oc_importer_onnxruntime_csv};
    for (size_t i = 0; i < OC_COUNT(importer); i++)
        fuzz_importer(importer[i], data, n, &(struct oc_profile_opts){0});
    return 0;
}
