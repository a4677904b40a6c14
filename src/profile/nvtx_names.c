#include "profile/nvtx_names.h"

#include <string.h>

#include "base/units.h"
#include "profile/recorded_types.h"

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* ONNX Runtime: <OpType>.<index>(<name>). */
static bool split_node(const char *text, size_t *op_type, int64_t *index, const char **name)
{
    size_t n = strcspn(text, ".");
    const char *digits = text + n + 1, *open = text[n] ? strchr(digits, '(') : NULL;
    if (!n || !open || text[strlen(text) - 1] != ')' ||
        !oc_parse_i64(digits, (size_t)(open - digits), index) || *index < 0)
        return false;
    *op_type = n;
    *name = open + 1;
    return true;
}

enum oc_nvtx_kind oc_nvtx_kind(const char *domain, const char *text)
{
    size_t op_type, n = strlen(text);
    int64_t index;
    const char *name;
    if (starts(text, "ExecutionContext::enqueue") || starts(text, "ExecutionContext::execute") ||
        starts(text, "ProfilerStep#") ||
        (starts(text, "Batch-") && n > 8 && strcmp(text + n - 8, " Forward") == 0))
        return OC_NVTX_RUN;
    if (split_node(text, &op_type, &index, &name))
        return OC_NVTX_NODE;
    if (strcmp(domain, "TensorRT") == 0)
        return OC_NVTX_LAYER;
    return starts(text, "aten::") ? OC_NVTX_ATEN : OC_NVTX_OTHER;
}

const char *oc_nvtx_label(struct oc_profile *p, const char *domain, const char *text, struct oc_label *out)
{
    enum oc_nvtx_kind kind = oc_nvtx_kind(domain, text);
    const char *name, *sizes = NULL;
    size_t n;
    *out = (struct oc_label){.name = text, .op_type = "", .provider = "", .index = -1};
    if (kind == OC_NVTX_NODE && split_node(text, &n, &out->index, &name)) {
        out->op_type = oc_intern(&p->names, text, n);
        out->name = oc_intern(&p->names, name, strlen(name) - 1);
    } else if (kind == OC_NVTX_ATEN) {
        n = strcspn(text, ",");
        out->name = out->op_type = oc_intern(&p->names, text, n);
        sizes = strstr(text, ", sizes = ");
        const char *list = sizes ? sizes + strlen(", sizes = ") : "";
        out->in = oc_recorded_sizes(&p->arena, oc_str(list, strlen(list)), &out->n_in);
        out->has_in = out->in != NULL;
    } else if (kind == OC_NVTX_LAYER) {
        out->provider = "TensorRT";
    }
    return sizes;
}
