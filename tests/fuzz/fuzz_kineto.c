#include "timeline_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_kineto;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_trace(&oc_importer_kineto, data, n);
    return 0;
}
