#include "support/fuzz_profile.h"

extern const struct oc_importer oc_importer_kineto;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_profile(&oc_importer_kineto, data, n);
    return 0;
}
