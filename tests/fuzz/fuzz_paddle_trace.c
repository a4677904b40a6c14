#include "timeline_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_paddle_trace;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_trace(&oc_importer_paddle_trace, data, n);
    return 0;
}
