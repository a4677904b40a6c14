/* A node with its known tensor sizes, input of kernel_class.c and kernels.c, which share it. */
#ifndef OC_KERNEL_VIEW_H
#define OC_KERNEL_VIEW_H

#include "analyze/analysis.h"

struct oc_kernel_view {
    const struct oc_node *node;
    const struct oc_analysis *a;
    double macs; /* of one execution; 0: none, or unknown */
};

/* NULL: no tensor, or some size is unknown. */
static inline const struct oc_shape *oc_view_shape(const struct oc_kernel_view *v, uint32_t value)
{
    const struct oc_type *t = value == OC_NONE ? NULL : &v->a->type[value];
    return t && t->kind == OC_T_TENSOR && oc_shape_known(&t->shape) ? &t->shape : NULL;
}

static inline const struct oc_shape *oc_view_input(const struct oc_kernel_view *v, uint32_t slot)
{
    return slot < v->node->n_in ? oc_view_shape(v, v->node->in[slot]) : NULL;
}

static inline const struct oc_shape *oc_view_output(const struct oc_kernel_view *v)
{
    return v->node->n_out ? oc_view_shape(v, v->node->out[0]) : NULL;
}

/* Elements of the dimensions from `from` to before `to`. */
static inline double oc_view_product(const struct oc_shape *s, unsigned from, unsigned to)
{
    double n = 1;
    for (unsigned i = from; i < to && i < s->rank; i++)
        n *= (double)s->dim[i].v;
    return n;
}

#endif
