#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_paddle_report;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_importer(&oc_importer_paddle_report, data, n, &(struct oc_profile_opts){0});
    return 0;
}
