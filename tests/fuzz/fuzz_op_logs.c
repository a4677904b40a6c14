/* Printed lines and tables: nvprof, OpenVINO -pc, oneDNN verbose, DeepSpeed, ONNX Runtime Web, TensorFlow
 * Lite, MNN, RKNN, MACE, ggml, Paddle, PyTorch, TVM. */
#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_nvprof, oc_importer_openvino_pc, oc_importer_onednn,
    oc_importer_ort_web, oc_importer_tflite, oc_importer_deepspeed, oc_importer_paddle_summary,
    oc_importer_pytorch_table, oc_importer_tvm, oc_importer_tvm_json, oc_importer_mnn, oc_importer_rknn,
    oc_importer_mace, oc_importer_ggml_vulkan;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct oc_importer *const importer[] = {
        &oc_importer_nvprof,         &oc_importer_openvino_pc,   &oc_importer_onednn,
        &oc_importer_ort_web,        &oc_importer_tflite,        &oc_importer_deepspeed,
        &oc_importer_paddle_summary, &oc_importer_pytorch_table, &oc_importer_tvm,
        &oc_importer_tvm_json,       &oc_importer_mnn,           &oc_importer_rknn,
        &oc_importer_mace,           &oc_importer_ggml_vulkan};
    for (size_t i = 0; i < OC_COUNT(importer); i++) {
        fuzz_importer(importer[i], data, n, &(struct oc_profile_opts){0});
        fuzz_importer(importer[i], data, n, &(struct oc_profile_opts){.stat = OC_STAT_SUM});
    }
    return 0;
}
