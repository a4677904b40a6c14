#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "onnxcost.h"

void oc_model_free(struct oc_model *m)
{
    if (!m)
        return;
    oc_file_unmap(&m->file);
    oc_diags_free(&m->diags);
    oc_map_free(&m->names);
    oc_buf_free(&m->built);
    free(m->graph);
    free(m->node);
    free(m->value);
    free(m->symbol);
    oc_arena_free(&m->arena);
    free(m);
}

size_t oc_model_diags(const struct oc_model *m, const struct oc_diag **out)
{
    *out = m->diags.item;
    return m->diags.n;
}

const struct oc_attr *oc_node_attr(const struct oc_node *n, const char *name)
{
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (oc_equal(n->attr[i].name, name))
            return &n->attr[i];
    return NULL;
}

const struct oc_tensor *oc_attr_tensor_at(const struct oc_attr *a, uint32_t i)
{
    return a && a->tensors_or_null && i < a->n ? &a->tensors_or_null[i] : NULL;
}

bool oc_node_is_constant(const struct oc_node *n)
{
    return !*n->domain && strcmp(n->op_type, "Constant") == 0;
}

const struct oc_tensor *oc_node_constant(const struct oc_node *n)
{
    const struct oc_attr *a = oc_node_is_constant(n) ? oc_node_attr(n, "value") : NULL;
    return a && a->type == OC_ATTR_TENSOR ? oc_attr_tensor_at(a, 0) : NULL;
}

const char *oc_node_label(const struct oc_model *m, const struct oc_node *n, char *buf, size_t cap)
{
    (void)m;
    if (n->name[0])
        return n->name;
    snprintf(buf, cap, "%s_%u", n->op_type, n->file_index);
    return buf;
}

uint32_t oc_first_capture(const struct oc_capture *list, uint32_t n, uint32_t node)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (list[mid].node < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}
