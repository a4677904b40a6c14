#include "estimate/kernel_class.h"

#include <string.h>

static const struct {
    const char *name;
    enum oc_kernel_group group;
} classes[] = {
    [OC_KC_GEMM] = {"gemm", OC_KG_COMPUTE},
    [OC_KC_GEMV] = {"gemv", OC_KG_MEMORY},
    [OC_KC_BATCHED_GEMM] = {"batched_gemm", OC_KG_COMPUTE},
    [OC_KC_CONV_1X1] = {"conv_1x1", OC_KG_COMPUTE},
    [OC_KC_CONV_KXK] = {"conv_kxk", OC_KG_COMPUTE},
    [OC_KC_CONV_DEPTHWISE] = {"conv_depthwise", OC_KG_COMPUTE},
    [OC_KC_CONV_GROUPED] = {"conv_grouped", OC_KG_COMPUTE},
    [OC_KC_CONV_TRANSPOSED] = {"conv_transposed", OC_KG_COMPUTE},
    [OC_KC_ATTENTION_PREFILL] = {"attention_prefill", OC_KG_COMPUTE},
    [OC_KC_ATTENTION_DECODE] = {"attention_decode", OC_KG_MEMORY},
    [OC_KC_RNN] = {"rnn", OC_KG_COMPUTE},
    [OC_KC_ELEMENTWISE] = {"elementwise", OC_KG_MEMORY},
    [OC_KC_ACTIVATION] = {"activation", OC_KG_MEMORY},
    [OC_KC_SOFTMAX] = {"softmax", OC_KG_MEMORY},
    [OC_KC_NORM] = {"norm", OC_KG_MEMORY},
    [OC_KC_REDUCE] = {"reduce", OC_KG_MEMORY},
    [OC_KC_POOL] = {"pool", OC_KG_MEMORY},
    [OC_KC_RESIZE] = {"resize", OC_KG_MEMORY},
    [OC_KC_TRANSPOSE] = {"transpose", OC_KG_MEMORY},
    [OC_KC_COPY] = {"copy", OC_KG_MEMORY},
    [OC_KC_GATHER] = {"gather", OC_KG_IRREGULAR},
    [OC_KC_SORT] = {"sort", OC_KG_IRREGULAR},
    [OC_KC_CONTROL] = {"control", OC_KG_IRREGULAR},
    [OC_KC_REORDER] = {"reorder", OC_KG_MEMORY},
    [OC_KC_OTHER] = {"other", OC_KG_IRREGULAR},
};
_Static_assert(OC_COUNT(classes) == OC_KC_COUNT, "a row for each class");

const char *oc_kernel_class_name(unsigned cls)
{
    return cls < OC_KC_COUNT ? classes[cls].name : "none";
}

unsigned oc_kernel_class_by_name(const char *name)
{
    unsigned i = 0;
    while (i < OC_KC_COUNT && strcmp(classes[i].name, name) != 0)
        i++;
    return i;
}

enum oc_kernel_group oc_kernel_class_group(unsigned cls)
{
    return cls < OC_KC_COUNT ? classes[cls].group : OC_KG_IRREGULAR;
}

const char *oc_kernel_group_name(unsigned group)
{
    static const char *const name[OC_KG_COUNT] = {"compute", "memory", "irregular"};
    return group < OC_KG_COUNT ? name[group] : "none";
}

/* Maps the class of an operator's table row; sizes and attributes refine contractions. */
static const uint8_t of_op_class[OC_OP_CLASS_COUNT] = {
    [OC_OP_OTHER] = OC_KC_OTHER,
    [OC_OP_VIEW] = OC_KC_CONTROL, /* no bytes move: only launch overhead */
    [OC_OP_COPY] = OC_KC_COPY,
    [OC_OP_ELEMENTWISE] = OC_KC_ELEMENTWISE,
    [OC_OP_REDUCE] = OC_KC_REDUCE,
    [OC_OP_GEMM] = OC_KC_GEMM,
    [OC_OP_CONV] = OC_KC_CONV_KXK,
    [OC_OP_POOL] = OC_KC_POOL,
    [OC_OP_NORM] = OC_KC_NORM,
    [OC_OP_SOFTMAX] = OC_KC_SOFTMAX,
    [OC_OP_ATTENTION] = OC_KC_ATTENTION_PREFILL,
    [OC_OP_RNN] = OC_KC_RNN,
    [OC_OP_GATHER] = OC_KC_GATHER,
    [OC_OP_RESIZE] = OC_KC_RESIZE,
    [OC_OP_QUANTIZE] = OC_KC_ELEMENTWISE,
    [OC_OP_GENERATE] = OC_KC_COPY,
    [OC_OP_SORT] = OC_KC_SORT,
    [OC_OP_CONTROL] = OC_KC_CONTROL,
    [OC_OP_LAYOUT] = OC_KC_TRANSPOSE,
};

/* Operators whose kernels differ from others of their class; by name in any domain. */
static const struct {
    uint8_t cls;
    const char *names; /* separated by blanks, with one at both ends */
} exceptions[] = {
    {OC_KC_ACTIVATION,
     " Acos Acosh Asin Asinh Atan Atanh BiasGelu BiasSplitGelu Celu Cos Cosh Elu Erf Exp FastGelu Gelu Log "
     "Mish ParametricSoftplus Pow QLinearSigmoid QOrderedGelu QuickGelu ScaledTanh Selu Sigmoid Sin Sinh "
     "Softplus SwiGLU Swish Tan Tanh "},
    {OC_KC_ELEMENTWISE, " RotaryEmbedding GemmaRotaryEmbedding MRotaryEmbedding GatedRelativePositionBias "},
    {OC_KC_REORDER, " ReorderInput ReorderOutput "},
    {OC_KC_GATHER, " EmbedLayerNormalization QEmbedLayerNormalization RoiAlign MaxRoiPool CropAndResize "
                   "MaxUnpool ReverseSequence "},
    {OC_KC_CONV_TRANSPOSED, " ConvTranspose ConvTransposeWithDynamicPads "},
    {OC_KC_GATHER, " DeformConv WordConvEmbedding "},
    {OC_KC_ATTENTION_DECODE, " DecoderMaskedSelfAttention DecoderMaskedMultiHeadAttention PagedAttention "},
    {OC_KC_REDUCE, " DynamicQuantizeLinear "},
};

static bool is_listed(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strstr(names, name); n && p; p = strstr(p + 1, name))
        if (p > names && p[-1] == ' ' && p[n] == ' ')
            return true;
    return false;
}

unsigned oc_kernel_class_of_op(const struct oc_op *op)
{
    if (!op || op->op_class >= OC_OP_CLASS_COUNT)
        return OC_KC_OTHER;
    for (size_t i = 0; i < OC_COUNT(exceptions); i++)
        if (is_listed(exceptions[i].names, op->name))
            return exceptions[i].cls;
    return of_op_class[op->op_class];
}
