#include "fuzz/device_profile.h"

extern const struct oc_importer oc_importer_nsys_csv, oc_importer_nsys_json;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    check_importer(&oc_importer_nsys_csv, data, n);
    check_importer(&oc_importer_nsys_json, data, n);
    return 0;
}
