/* Class of kernels of an operator, by its row in the operator tables. */
#ifndef OC_KERNEL_CLASS_H
#define OC_KERNEL_CLASS_H

#include "analyze/analysis.h"
#include "estimate/kernel.h"
#include "ops/op.h"

/* ---- kernel view --------------------------------------------------------------------------------------- */

/* A node with its known tensor sizes, input of kernel_class.c and kernels.c, which share it. */

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

/* ---- kernel class -------------------------------------------------------------------------------------- */

/* Contractions get their class without special sizes: OC_KC_GEMM, OC_KC_CONV_KXK, OC_KC_ATTENTION_PREFILL;
 * kernel_class.h refines these. NULL, an operator without a row: OC_KC_OTHER. */
unsigned oc_kernel_class_of_op(const struct oc_op *op);

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Sizes of a kernel from its main node: the contraction, the window, and the class refined by them. */

/* k->cls is that of the operator (kernel_class.h) and is refined; m, n, k, batch, the window and channels_in
 * are set, 0 for unknown sizes. For one execution of the node. */
void oc_kernel_dims(const struct oc_model *m, const struct oc_analysis *a, uint32_t node,
                    struct oc_kernel *k);

#endif
