#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_openvino;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_importer(&oc_importer_openvino, data, n, &(struct oc_profile_opts){0});
    fuzz_importer(&oc_importer_openvino, data, n,
                  &(struct oc_profile_opts){.warmup = 1, .stat = OC_STAT_SUM});
    return 0;
}
