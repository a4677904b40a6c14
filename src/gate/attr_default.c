/* Defaults of attributes of ai.onnx: an exporter may write them or leave them out. */
#include <string.h>

#include "base/str.h"
#include "gate/diff.h"

/* Of each type at most one: a number (of lists: of every element), or a text. */
static const struct attr_default {
    const char *ops; /* " Conv MaxPool "; NULL: all that have the attribute */
    const char *name;
    double number;
    const char *text; /* NULL: number */
    int since;        /* first version of ai.onnx with this default */
} defaults[] = {
    {NULL, "allowzero", 0, NULL, 14},
    {NULL, "antialias", 0, NULL, 18},
    {NULL, "auto_pad", 0, "NOTSET", 1},
    {NULL, "batch_dims", 0, NULL, 12},
    {NULL, "block_size", 0, NULL, 21},
    {NULL, "ceil_mode", 0, NULL, 10},
    {NULL, "count_include_pad", 0, NULL, 7},
    {NULL, "dilations", 1, NULL, 1},
    {NULL, "direction", 0, "forward", 1},
    {NULL, "exclude_outside", 0, NULL, 11},
    {NULL, "extrapolation_value", 0, NULL, 11},
    {NULL, "group", 1, NULL, 1},
    {NULL, "keepdims", 1, NULL, 1},
    {NULL, "layout", 0, NULL, 14},
    {NULL, "linear_before_reset", 0, NULL, 3},
    {NULL, "noop_with_empty_axes", 0, NULL, 13},
    {NULL, "output_padding", 0, NULL, 1},
    {NULL, "pads", 0, NULL, 1},
    {NULL, "saturate", 1, NULL, 19},
    {NULL, "select_last_index", 0, NULL, 12},
    {NULL, "stash_type", 1, NULL, 17},
    {NULL, "storage_order", 0, NULL, 8},
    {NULL, "strides", 1, NULL, 1},
    {NULL, "training_mode", 0, NULL, 14},
    {" BatchNormalization InstanceNormalization LayerNormalization ", "epsilon", 1e-5, NULL, 1},
    {" BatchNormalization ", "momentum", 0.9, NULL, 1},
    {" CumSum ", "exclusive", 0, NULL, 11},
    {" CumSum ", "reverse", 0, NULL, 11},
    {" DepthToSpace ", "mode", 0, "DCR", 11},
    {" Elu ", "alpha", 1, NULL, 1},
    {" Flatten DequantizeLinear QuantizeLinear ", "axis", 1, NULL, 1},
    {" Gather GatherElements ScatterElements Split ArgMax ArgMin ", "axis", 0, NULL, 1},
    {" Gelu ", "approximate", 0, "none", 20},
    {" Gemm ", "alpha", 1, NULL, 1},
    {" Gemm ", "beta", 1, NULL, 1},
    {" Gemm ", "transA", 0, NULL, 1},
    {" Gemm ", "transB", 0, NULL, 1},
    {" HardSigmoid ", "alpha", 0.2, NULL, 1},
    {" HardSigmoid ", "beta", 0.5, NULL, 1},
    {" LSTM ", "input_forget", 0, NULL, 1},
    {" LayerNormalization TopK ", "axis", -1, NULL, 1},
    {" LeakyRelu ", "alpha", 0.01, NULL, 1},
    {" LRN ", "alpha", 1e-4, NULL, 1},
    {" LRN ", "beta", 0.75, NULL, 1},
    {" LRN ", "bias", 1, NULL, 1},
    {" Pad ", "mode", 0, "constant", 1},
    {" Resize ", "coordinate_transformation_mode", 0, "half_pixel", 11},
    {" Resize ", "cubic_coeff_a", -0.75, NULL, 11},
    {" Resize ", "keep_aspect_ratio_policy", 0, "stretch", 18},
    {" Resize ", "nearest_mode", 0, "round_prefer_floor", 11},
    {" Resize Upsample ", "mode", 0, "nearest", 1},
    {" ScatterElements ScatterND ", "reduction", 0, "none", 16},
    {" Softmax LogSoftmax Hardmax ", "axis", -1, NULL, 13},
    {" TopK ", "largest", 1, NULL, 11},
    {" TopK ", "sorted", 1, NULL, 11},
};

static bool has_number(const struct oc_attr *t, double v)
{
    bool same = true;
    switch (t->type) {
    case OC_ATTR_INT:
        return (double)t->i == v;
    case OC_ATTR_FLOAT:
        return t->f == (float)v;
    case OC_ATTR_INTS:
        for (uint32_t i = 0; i < t->n; i++)
            same &= (double)t->ints[i] == v;
        return same;
    default:
        return false;
    }
}

/* Whether the attribute is the size of the kernel that the weight of a convolution has. */
static bool is_kernel_of_weight(const struct oc_analysis *a, const struct oc_node *n, const struct oc_attr *t)
{
    const struct oc_op *op = oc_op_find(n->domain, n->op_type, n->opset);
    uint32_t slot = oc_op_weight_slot(op);
    if (!op || op->op_class != OC_OP_CONV || strcmp(t->name, "kernel_shape") != 0 ||
        t->type != OC_ATTR_INTS || slot >= n->n_in || n->in[slot] == OC_NONE)
        return false;
    const struct oc_shape *w = &a->type[n->in[slot]].shape;
    bool same = w->ranked && w->rank == t->n + 2;
    for (uint32_t i = 0; same && i < t->n; i++)
        same = oc_is_known(w->dim[i + 2]) && w->dim[i + 2].v == t->ints[i];
    return same;
}

bool oc_attr_is_default(const struct oc_analysis *a, const struct oc_node *n, const struct oc_attr *t)
{
    if (*n->domain)
        return false;
    for (size_t i = 0; i < OC_COUNT(defaults); i++) {
        const struct attr_default *d = &defaults[i];
        if (strcmp(d->name, t->name) != 0 || n->opset < d->since ||
            (d->ops && !oc_set_has(d->ops, n->op_type, strlen(n->op_type))))
            continue;
        return d->text ? t->type == OC_ATTR_STRING && t->s.n == strlen(d->text) &&
                             memcmp(t->s.s, d->text, t->s.n) == 0
                       : has_number(t, d->number);
    }
    return is_kernel_of_weight(a, n, t);
}
