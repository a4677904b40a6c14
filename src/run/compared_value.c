/* Allowed values of a scalar: constants that the model compares it with (a sampling rate, a mode). */
#include <string.h>

#include "run/make_inputs.h"

static bool constant_int(const struct oc_model *m, uint32_t value, int64_t *out)
{
    const struct oc_value *v = &m->value[value];
    const struct oc_tensor *t = v->constant              ? v->constant
                                : v->producer != OC_NONE ? oc_node_constant(&m->node[v->producer])
                                                         : NULL;
    struct oc_tensor_bytes b;
    if (!t || t->elements != 1 || t->dtype != OC_DT_INT64 || !oc_tensor_bytes_open(m, t, &b))
        return false;
    bool whole = b.size_bytes == sizeof(*out);
    if (whole)
        memcpy(out, b.data, sizeof(*out));
    oc_tensor_bytes_close(&b);
    return whole;
}

bool oc_compared_value(const struct oc_model *m, uint32_t value, int64_t *out)
{
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &m->node[i];
        if (strcmp(n->op_type, "Equal") != 0 || n->n_in != 2 || n->in[0] == OC_NONE || n->in[1] == OC_NONE)
            continue;
        for (unsigned slot = 0; slot < 2; slot++)
            if (n->in[slot] == value && constant_int(m, n->in[1 - slot], out))
                return true;
    }
    return false;
}
