#include "timeline_checks.h"

extern const struct oc_importer oc_importer_rocprof_json;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_trace(&oc_importer_rocprof_json, data, n);
    return 0;
}
