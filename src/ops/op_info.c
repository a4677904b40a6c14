#include "ops/op.h"

size_t oc_op_count(void)
{
    size_t n_families, n = 0;
    const struct oc_op_family *const *family = oc_op_families(&n_families);
    for (size_t i = 0; i < n_families; i++)
        n += family[i]->n;
    return n;
}

const char *oc_op_family_name(const struct oc_op *op)
{
    size_t n;
    const struct oc_op_family *const *family = oc_op_families(&n);
    for (size_t i = 0; i < n; i++)
        if (op >= family[i]->op && op < family[i]->op + family[i]->n)
            return family[i]->name;
    return "";
}

void oc_op_get(size_t index, struct oc_op_info *out)
{
    size_t n_families;
    const struct oc_op_family *const *family = oc_op_families(&n_families);
    *out = (struct oc_op_info){.domain = "", .name = "", .family = "", .op_class = ""};
    for (size_t i = 0; i < n_families; index -= family[i]->n, i++) {
        if (index >= family[i]->n)
            continue;
        const struct oc_op *op = &family[i]->op[index];
        *out = (struct oc_op_info){.domain = op->domain,
                                   .name = op->name,
                                   .family = family[i]->name,
                                   .op_class = oc_op_class_name(op->op_class),
                                   .since = op->since,
                                   .until = op->until};
        return;
    }
}
