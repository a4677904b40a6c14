#include "fuzz/device_profile.h"

extern const struct oc_importer oc_importer_ncu;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    check_importer(&oc_importer_ncu, data, n);
    return 0;
}
