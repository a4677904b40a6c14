/* Printed lines and tables that readers in C take: DeepSpeed, TVM. */
#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_deepspeed, oc_importer_tvm, oc_importer_tvm_json;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct oc_importer *const importer[] = {&oc_importer_deepspeed, &oc_importer_tvm,
                                                         &oc_importer_tvm_json};
    for (size_t i = 0; i < OC_COUNT(importer); i++) {
        fuzz_importer(importer[i], data, n, &(struct oc_profile_opts){0});
        fuzz_importer(importer[i], data, n, &(struct oc_profile_opts){.stat = OC_STAT_SUM});
    }
    return 0;
}
