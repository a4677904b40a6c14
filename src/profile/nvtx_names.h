/* Parses the names of NVTX ranges: each runtime that marks its work uses its own syntax. */
#ifndef OC_NVTX_NAMES_H
#define OC_NVTX_NAMES_H

#include "profile/launches.h"

enum oc_nvtx_kind {
    OC_NVTX_OTHER,
    OC_NVTX_RUN,   /* "ExecutionContext::enqueueV3", "Batch-x Forward", "ProfilerStep#3" */
    OC_NVTX_NODE,  /* ONNX Runtime: "Conv.12(conv1)" */
    OC_NVTX_LAYER, /* any other range in the domain "TensorRT" */
    OC_NVTX_ATEN   /* PyTorch: "aten::conv2d, seq = 3, sizes = [[1, 3, 224, 224], [64, 3, 7, 7], []]" */
};
enum oc_nvtx_kind oc_nvtx_kind(const char *domain, const char *text);

/* The label for work in a range; text: interned. Returns a text that separates labels of equal name
 * (recorded shapes), or NULL. Texts and types stay valid as long as the profile. */
const char *oc_nvtx_label(struct oc_profile *p, const char *domain, const char *text, struct oc_label *out);

#endif
