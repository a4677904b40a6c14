/* Any bytes as a model: the advice for it, without and with hardware, keeps its invariants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/advice_checks.h"
#include "wire_mutator.h"
#include "onnxcost/hardware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_WIRE_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct oc_hw_figure f32 = {.value = 10e12}, f16 = {.value = 80e12}, i8 = {.value = 160e12},
                                     dram_rate = {.value = 100e9}, launch = {.value = 5e-6};
    static const struct oc_hw_level dram = {.name = "DRAM", .bandwidth = &dram_rate};
    struct oc_device d = {
        .info =
            &(struct oc_device_info){.id = "d", .name = "D", .vendor = "NVIDIA", .kind = "gpu", .file = ""},
        .level = &dram,
        .n_level = 1,
        .overhead = &launch};
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &f32;
    d.peak[OC_HW_MATRIX][OC_CLASS_F16] = d.peak[OC_HW_VECTOR][OC_CLASS_F16] = &f16;
    d.peak[OC_HW_MATRIX][OC_CLASS_I8] = &i8;
    if (!oc_model_load_mem(data, n, NULL, &m, NULL) &&
        !oc_analyze(m, &(struct oc_analyze_opts){0}, &a, NULL)) {
        fuzz_advice(&(struct oc_report_in){.model = m, .analysis = a});
        fuzz_advice(&(struct oc_report_in){.model = m, .analysis = a, .device = &d});
    }
    oc_analysis_free(a);
    oc_model_free(m);
    return 0;
}
