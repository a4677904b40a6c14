#include "timeline_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_chrome, oc_importer_mindspore_timeline,
    oc_importer_ascend_timeline, oc_importer_qnn_optrace;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_trace(&oc_importer_chrome, data, n);
    fuzz_trace(&oc_importer_mindspore_timeline, data, n);
    fuzz_trace(&oc_importer_ascend_timeline, data, n);
    fuzz_trace(&oc_importer_qnn_optrace, data, n);
    return 0;
}
