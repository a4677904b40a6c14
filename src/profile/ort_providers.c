#include "profile/ort_providers.h"

#include <string.h>

#include "base/str.h"

/* What execution providers write as device work:
 *   CUDA, ROCm, plug-ins  "Kernel", linked by parent_name, parent_ort_event_name or ort_event_name (1.26 and
 *                         later of the CUDA plug-in; before, its kernels have no link)
 *   OpenVINO              "Kernel" for each of its own operators in a partition: node_name, or the name
 * "OV::..." with ov_node_type QNN                   "Kernel" for each execution of a graph (level ROOT) and,
 * inside it, for its operators (qnn_event_type NODE) and summary figures; values in cycles have no time
 *   WebGPU                "Api", named <node>&<OpType>&<program> */

static bool is_microseconds(struct oc_str unit)
{
    return unit.n >= 2 && (oc_ncasecmp(unit.s, "us", 2) == 0 || oc_ncasecmp(unit.s, "mi", 2) == 0);
}

/* "conv1:OpId_17 (us)" is conv1. */
static struct oc_str qnn_operator(struct oc_str name)
{
    const char *id = name.n ? memmem(name.s, name.n, ":OpId_", 6) : NULL;
    return id ? oc_str_before(name, id) : name;
}

static bool describe_qnn(const struct ort_reading *r, struct oc_str name, struct ort_work *w)
{
    w->graph = ort_field(r, F_QNN_GRAPH);
    if (!is_microseconds(ort_field(r, F_QNN_UNIT)))
        return false;
    if (oc_str_eq(ort_field(r, F_QNN_TYPE), "NODE")) {
        w->part = qnn_operator(name);
        return true;
    }
    w->encloses = oc_str_eq(ort_field(r, F_QNN_LEVEL), "ROOT");
    return w->encloses;
}

static bool describe_openvino(const struct ort_reading *r, struct oc_str name, struct ort_work *w)
{
    struct oc_str node = ort_field(r, F_NODE_NAME), type = ort_field(r, F_OV_TYPE),
                  status = ort_field(r, F_OV_STATUS);
    bool prefixed = oc_str_starts(name, "OV::");
    w->part = node.n ? node : prefixed ? oc_str_skip(name, 4) : name;
    w->part_type = type.n ? type : ort_field(r, F_OP);
    return !status.n || oc_str_eq(status, "EXECUTED");
}

static bool describe_webgpu(struct oc_str name, struct ort_work *w)
{
    const char *and = oc_str_chr(name, '&');
    w->own_clock = true;
    w->parent = (struct oc_str){name.s, and? (size_t)(and-name.s) : 0};
    return true;
}

bool ort_describe_work(const struct ort_reading *r, struct oc_str name, struct ort_work *w)
{
    const struct oc_str none = {"", 0};
    *w = (struct ort_work){ort_field(r, F_PARENT), none, none, none, false, false};
    if (oc_str_eq(ort_field(r, F_CAT), "Api"))
        return ort_field(r, F_CACHE_KEY).n && describe_webgpu(name, w);
    if (ort_field(r, F_QNN_TYPE).n)
        return describe_qnn(r, name, w);
    if (ort_field(r, F_NODE_NAME).n || ort_field(r, F_OV_TYPE).n || oc_str_starts(name, "OV::"))
        return describe_openvino(r, name, w);
    return true;
}

/* A node event covers the provider's Compute(): complete where that waits for the result. */
bool ort_node_is_launch(const char *provider, bool has_device_work)
{
    static const struct {
        const char *prefix; /* in any case: "CUDA", "CudaPlugin" */
        bool launches;
    } known[] = {
        {"CPU", false},     {"Dnnl", false},    {"OpenVINO", false}, {"Xnnpack", false}, {"ACL", false},
        {"ArmNN", false},   {"QNN", false},     {"CoreML", false},   {"Nnapi", false},   {"SNPE", false},
        {"VitisAI", false}, {"Rknpu", false},   {"VSINPU", false},   {"Tvm", false},     {"Azure", false},
        {"CUDA", true},     {"Tensorrt", true}, {"NvTensor", true},  {"ROCM", true},     {"MIGraphX", true},
        {"Dml", true},      {"WebGpu", true},   {"Js", true},        {"WebNN", true},    {"CANN", true},
    };
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (oc_ncasecmp(provider, known[i].prefix, strlen(known[i].prefix)) == 0)
            return known[i].launches;
    return has_device_work && *provider;
}
