#include "fuzz/device_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    check_importer(oc_importer_named("nsys_csv"), data, n);
    return 0;
}
