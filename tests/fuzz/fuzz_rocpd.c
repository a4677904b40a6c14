#include "timeline_checks.h"

extern const struct oc_importer oc_importer_rocpd;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_trace(&oc_importer_rocpd, data, n);
    return 0;
}
