/* Counting conventions of other tools, from their sources: the tables. */
#include "analyze/convention.h"

#include <string.h>

#include "base/str.h"
#include "onnxcost/report.h"

/* Counting conventions of other tools, from their sources. The tools for PyTorch count modules: a rule is for
 * the operator that the module becomes in an export; work outside of modules has no rule where the tool does
 * not see it. */

#define NOTHING         OC_R_NOTHING, 0, 0, 0
#define PER_OUT(a)      OC_R_PER_OUT, a, 0, 0
#define PER_IN(a)       OC_R_PER_IN, a, 0, 0
#define IN_OUT(a, b)    OC_R_IN_OUT, a, b, 0
#define MAC(a)          OC_R_MAC, a, 0, 0
#define MAC_BIAS(a)     OC_R_MAC_BIAS, a, 0, 0
#define WEIGHTED(a, b)  OC_R_WEIGHTED, a, b, 0
#define LEFT(a, slot)   OC_R_LEFT, a, slot, 0
#define LISTED(a, n)    OC_R_MAC_LISTED, a, n, 0
#define RESIZE(a, b, d) OC_R_RESIZE, a, b, d
#define GATES(a, b, d)  OC_R_GATES, a, b, d
#define CLASS(x)        NULL, OC_OP_##x

/* MegEngine/MegEngine at 1.13: src/plugin/impl/opr_footprint.cpp */
static const struct oc_rule mge[] = {
    {"Conv FusedConv", 0, OC_R_MAC_INPUTS, 2, 3, 0},
    {"ConvTranspose", 0, MAC(2)},
    {"MatMul", 0, OC_R_FLAT, 2, 0, 0},
    {"Transpose Concat", 0, PER_OUT(1)},
    {"GlobalAveragePool GlobalMaxPool", 0, PER_IN(1)},
    {"AveragePool", 0, OC_R_NO_DIV, 0, 0, 0},
    {"RoiAlign MaxRoiPool", 0, NOTHING},
    {CLASS(NORM), NOTHING},
    {CLASS(SOFTMAX), NOTHING},
    {CLASS(RESIZE), NOTHING},
    {CLASS(REDUCE), OC_R_NO_DIV, 0, 0, 0},
    {CLASS(ATTENTION), NOTHING},
    {CLASS(ELEMENTWISE), OC_R_INPUTS, 2, 0, 0},
};

/* MegEngine/MegEngine at 1.13: imperative/python/megengine/utils/module_stats.py */
static const struct oc_rule mge_stats[] = {
    {"Gemm", 0, OC_R_MAC_VECTOR, 1, 0, 0}, {CLASS(CONV), MAC_BIAS(1)},
    {"GlobalAveragePool", 0, PER_IN(1)},   {CLASS(NORM), PER_IN(7)},
    {CLASS(POOL), OC_R_NO_DIV, 0, 0, 0},
};

/* ThanatosShinji/onnx-tool 1.0.1 (commit 00f5f0a): onnx_tool/node.py, graph.py. Costs are instructions: DIV
 * 4, EXP 32, LOG 43, SIN 39, SQRT 24. Constants are not folded. An empty input counts as present. An operator
 * without a class there counts 0, with a warning. */
static const struct oc_rule onnx_tool[] = {
    {"Conv", 0, MAC_BIAS(1)},
    {"ConvTranspose", 0, OC_R_POSITIONS, 1, 3, 0},
    {"ConvInteger", 0, MAC(1)},
    {"QLinearConv", 0, MAC_BIAS(1)},
    {"Gemm MatMul MatMulInteger", 0, LISTED(1, 3)},
    {"QLinearMatMul", 0, LEFT(1, 3)},
    {"LSTM", 0, OC_R_STEPS, 1, 180, 0}, /* 3 EXP + 2 tanh of 38 + 8 */
    {"GRU", 0, OC_R_STEPS, 1, 110, 0},  /* 2 EXP + tanh + 8 */
    {"Add Sub Mul Min Max Neg Abs Ceil Floor Round Mod Relu Sign Hardmax CumSum Less LessOrEqual Greater "
     "GreaterOrEqual Equal Not And Or Xor NonZero",
     0, PER_OUT(1)},
    {"Clip PRelu LeakyRelu ImageScaler QuantizeLinear DequantizeLinear", 0, PER_OUT(2)},
    {"Div Reciprocal HardSigmoid", 0, PER_OUT(4)},
    {"HardSwish", 0, PER_OUT(5)},
    {"InstanceNormalization", 0, PER_OUT(7)},
    {"Sqrt", 0, PER_OUT(24)},
    {"BatchNormalization", 0, PER_OUT(31)},
    {"Exp Sigmoid Pow", 0, PER_OUT(32)},
    {"LpNormalization", 0, PER_OUT(33)},
    {"Gelu", 0, PER_OUT(34)},
    {"Elu", 0, PER_OUT(35)},
    {"Softmax", 0, PER_OUT(36)},
    {"Sin Cos", 0, PER_OUT(39)},
    {"Log", 0, PER_OUT(43)},
    {"Atan", 0, PER_OUT(64)},
    {"Tanh Softplus", 0, PER_OUT(76)},
    {"LogSoftmax", 0, PER_OUT(80)},
    {"Sum", 0, OC_R_INPUTS, 1, 0, 0},
    {"LRN", 0, OC_R_LRN, 37, 0, 0},
    {"LayerNormalization", 0, OC_R_AXIS_ROWS, 7, 29, 0},
    {"ReduceMean ReduceSum ReduceProd ReduceMin ReduceMax", 0, PER_IN(1)},
    {"ReduceL2", 0, PER_IN(25)},
    {"MaxPool AveragePool", 0, OC_R_WINDOW, 0, 0, 0},
    {"GlobalAveragePool", 0, IN_OUT(1, 4)},
    {"Resize Upsample", 0, RESIZE(0, 4, 8)},
    {"Einsum", 0, OC_R_NO_DIV, 0, 0, 0},
};

/* facebookresearch/fvcore 0.1.6: fvcore/nn/jit_handles.py, flop_count.py. Also the GMACs of the tables in
 * results/ of huggingface/pytorch-image-models (timm) 1.0: benchmark.py, profile_fvcore. */
static const struct oc_rule fvcore[] = {
    {"BatchNormalization", 0, PER_IN(2)},
    {"GlobalAveragePool", 0, PER_IN(1)},
    {"LayerNormalization GroupNormalization InstanceNormalization", 0, PER_IN(5)},
    {"GridSample", 0, PER_OUT(4)},
    {"Resize Upsample", 0, RESIZE(1, 4, 8)},
};

#define ACTIVATIONS "Relu PRelu Elu LeakyRelu Clip Swish Gelu FastGelu BiasGelu QuickGelu"

/* MrYxJ/calculate-flops.pytorch (calflops 0.3.2, commit 29ca584): calflops/pytorch_ops.py; its FLOPs. It
 * hooks torch.add and torch.mul, but not the operators + and *, which models use: its tables of ResNet and
 * BERT are sums without them. */
static const struct oc_rule calflops[] = {
    {"ConvTranspose", 0, OC_R_TRANSPOSED, 2, 0, 0},
    {CLASS(CONV), MAC_BIAS(2)},
    {"MatMul", 0, LEFT(2, 1)},
    {"LSTM", 0, GATES(2, 2, 8)}, /* 10 - 2 * 4 gates: a product of K terms counts 2K - 1 */
    {"GRU", 0, GATES(2, 1, 6)},
    {"RNN", 0, GATES(2, -1, 2)},
    {"BatchNormalization", 0, PER_IN(2)},
    {CLASS(NORM), PER_IN(5)},
    {"Softmax", 0, PER_IN(1)},
    {CLASS(POOL), PER_IN(1)},
    {ACTIVATIONS, 0, PER_IN(1)},
    {"Resize Upsample", 0, OC_R_SCALED, 0, 0, 0},
};

/* microsoft/DeepSpeed 0.16.5: deepspeed/profiling/flops_profiler/profiler.py; its FLOPs. As calflops, but
 * scales of an interpolation are applied once per image of the batch. */
static const struct oc_rule deepspeed[] = {
    {"ConvTranspose", 0, OC_R_TRANSPOSED, 2, 0, 0},
    {CLASS(CONV), MAC_BIAS(2)},
    {"MatMul", 0, LEFT(2, 1)},
    {"LSTM", 0, GATES(2, 2, 8)},
    {"GRU", 0, GATES(2, 1, 6)},
    {"RNN", 0, GATES(2, -1, 2)},
    {"BatchNormalization", 0, PER_IN(2)},
    {CLASS(NORM), PER_IN(5)},
    {"Softmax", 0, PER_IN(1)},
    {CLASS(POOL), PER_IN(1)},
    {ACTIVATIONS, 0, PER_IN(1)},
    {"Resize Upsample", 0, OC_R_SCALED, 1, 0, 0},
};

/* Lyken17/pytorch-OpCounter (thop 0.1.1, commit 43c064a): thop/vision/basic_hooks.py, calc_func.py,
 * rnn_hooks.py. Modules alone: products of two activations and element-wise work are not seen. */
static const struct oc_rule thop[] = {
    {"ConvTranspose", 0, OC_R_POSITIONS_IN, 1, 0, 0},
    {CLASS(CONV), MAC(1)},
    {"Einsum", 0, NOTHING},
    {CLASS(GEMM), WEIGHTED(1, 0)},
    {"LSTM", 0, GATES(1, 8, 8)},
    {"GRU", 0, GATES(1, 7, 6)},
    {"RNN", 0, GATES(1, 1, 2)},
    {"BatchNormalization LayerNormalization InstanceNormalization", 0, PER_IN(4)}, /* 2, twice if affine */
    {"PRelu", 0, PER_IN(1)},
    {"Softmax", 0, OC_R_AXIS_ROWS, 3, -1, 0},
    {"AveragePool", 0, PER_OUT(1)},
    {"GlobalAveragePool", 0, IN_OUT(1, 1)},
    {"Resize Upsample", 0, OC_R_UPSAMPLE, 1, 0, 0},
};

/* sovrasov/flops-counter.pytorch (ptflops 0.7.6): ptflops/pytorch_ops.py, pytorch_engine.py; backend
 * "pytorch". A module that calls a function of torch.nn.functional is counted by both hooks: twice. */
static const struct oc_rule ptflops[] = {
    {CLASS(CONV), MAC_BIAS(1)},
    {"Einsum", 0, NOTHING},
    {"MatMul", 0, LEFT(1, 1)},
    {CLASS(GEMM), MAC_BIAS(1)},
    {"LSTM", 0, GATES(1, 10, 8)},
    {"GRU", 0, GATES(1, 7, 6)},
    {"RNN", 0, GATES(1, 1, 2)},
    {"BatchNormalization LayerNormalization InstanceNormalization GroupNormalization", 0, PER_IN(2)},
    {"Relu PRelu Elu Gelu FastGelu BiasGelu", 0, PER_OUT(2)},
    {"LeakyRelu Clip Swish", 0, PER_OUT(1)},
    {CLASS(POOL), PER_IN(2)},
    {"Softmax", 0, PER_IN(1)},
    {"Resize Upsample", 0, PER_OUT(2)},
    {CLASS(ATTENTION), OC_R_ATTENTION, 1, 1, 1},
};

/* TylerYep/torchinfo 1.8.0 (commit 5c4164f): torchinfo/layer_info.py, calculate_macs; its mult-adds. Counts
 * parameters: what has none is not seen. */
static const struct oc_rule torchinfo[] = {
    {"ConvTranspose", 0, OC_R_POSITIONS_W, 1, 0, 0},
    {CLASS(CONV), MAC_BIAS(1)},
    {"Einsum", 0, NOTHING},
    {CLASS(GEMM), WEIGHTED(1, 1)},
    {"LSTM GRU RNN", 0, OC_R_STEPS, 1, 0, 0},
    {"BatchNormalization LayerNormalization InstanceNormalization GroupNormalization", 0, OC_R_PARAMS, 1, 2,
     0},
    {"PRelu", 0, OC_R_PARAMS, 1, 1, 0},
    {"Gather", 0, OC_R_PARAMS, 0, 0, 0}, /* an embedding */
};

/* openxla/xla: xla/service/hlo_cost_analysis.cc; transcendentals are a separate column there */
static const struct oc_rule xla[] = {
    {"BatchNormalization", 0, NOTHING},
    {"Softmax", 0, OC_R_ROWS, 4, -2, 0}, /* maximum and sum of n numbers take n - 1 */
};

#define LIST(x)     .rule = (x), .n = OC_COUNT(x)
#define ONLY_MAC(w) [OC_MAC] = (w)
#define EASY        [OC_ADD] = 1, [OC_MUL] = 1, [OC_CMP] = 1, [OC_RND] = 1, [OC_BIT] = 1

const struct oc_convention oc_conventions[] = {
    {.name = "mge",
     LIST(mge),
     .attention_full = true,
     .weight = {ONLY_MAC(2), EASY, [OC_DIV] = 1, [OC_SQRT] = 1, [OC_EXP] = 1, [OC_LOG] = 1, [OC_SIN] = 1,
                [OC_TAN] = 1, [OC_TANH] = 1, [OC_SIG] = 1, [OC_ERF] = 1, [OC_POW] = 1, [OC_RNG] = 1}},
    {.name = "mge-stats", LIST(mge_stats), .weight = {ONLY_MAC(1)}, .attention_full = true},
    {.name = "onnx-tool", .unit = "MAC", LIST(onnx_tool), .attention_full = true, .folded = true},
    {.name = "fvcore", LIST(fvcore), .weight = {ONLY_MAC(1)}, .attention_full = true},
    {.name = "torch", .weight = {ONLY_MAC(2)}, .attention_full = true},
    {.name = "calflops", LIST(calflops), .weight = {ONLY_MAC(2)}, .attention_full = true},
    {.name = "deepspeed", LIST(deepspeed), .weight = {ONLY_MAC(2)}, .attention_full = true},
    {.name = "timm", .unit = "MAC", LIST(fvcore), .weight = {ONLY_MAC(1)}, .attention_full = true},
    {.name = "thop", .unit = "MAC", LIST(thop), .attention_full = true},
    {.name = "ptflops", .unit = "MAC", LIST(ptflops), .attention_full = true},
    {.name = "torchinfo", .unit = "mult-add", LIST(torchinfo), .attention_full = true},
    {.name = "xla",
     LIST(xla),
     .weight = {ONLY_MAC(2), EASY, [OC_DIV] = 1},
     .taps_valid = true,
     .strict_reduce = true,
     .attention_full = true,
     .loops_once = true},
};
const size_t oc_convention_total = OC_COUNT(oc_conventions);

/* By name ("fvcore"), or NULL. */
static const struct oc_convention *convention_find(const char *name)
{
    for (size_t i = 0; i < oc_convention_total; i++)
        if (strcmp(oc_conventions[i].name, name) == 0)
            return &oc_conventions[i];
    return NULL;
}

int oc_convention_set(const char *name, const struct oc_convention **out)
{
    bool ours = !name || strcmp(name, "onnxcost") == 0;
    *out = ours ? NULL : convention_find(name);
    return ours || *out ? 0 : -1;
}

const char *oc_convention_name(size_t index)
{
    return index < oc_convention_total ? oc_conventions[index].name : NULL;
}

const char *oc_convention_unit(const char *name)
{
    const struct oc_convention *v = name ? convention_find(name) : NULL;
    return v && v->unit ? v->unit : "FLOP";
}

bool oc_convention_loops_once(const struct oc_convention *v)
{
    return v && v->loops_once;
}

bool oc_convention_counts_folded(const struct oc_convention *v)
{
    return v && v->folded;
}

void oc_convention_options(const struct oc_convention *v, struct oc_op_ctx *c)
{
    c->opt.taps_valid |= v->taps_valid && c->op->op_class == OC_OP_CONV; /* windows of pools count in full */
    c->opt.strict_reduce |= v->strict_reduce;
    c->opt.attention_full |= v->attention_full;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

static uint64_t weighted(const uint32_t *weight, struct oc_op_ctx *c, const struct oc_cost *k)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        sum = oc_c_add(c, sum, oc_c_mul(c, oc_c_add(c, k->hist_f[p], k->hist_i[p]), weight[p]));
    return sum;
}

static const struct oc_rule *find_rule(const struct oc_convention *v, const struct oc_op *op)
{
    for (size_t i = 0; v && i < v->n; i++) {
        const struct oc_rule *r = &v->rule[i];
        if (r->ops ? oc_has_word(r->ops, op->name) : r->op_class == op->op_class)
            return r;
    }
    return NULL;
}

static uint64_t convention_macs_of(struct oc_op_ctx *c, const struct oc_cost *k)
{
    return oc_c_add(c, k->hist_f[OC_MAC], k->hist_i[OC_MAC]);
}

uint64_t oc_convention_count(const struct oc_convention *v, struct oc_op_ctx *c, const struct oc_cost *k)
{
    const struct oc_rule *r = find_rule(v, c->op);
    if (!r)
        return weighted(v->weight, c, k);
    struct oc_count_parts p = {.macs = convention_macs_of(c, k)};
    oc_rule_count(r, c, k, &p);
    return oc_c_add(c, p.mac_part, p.rest);
}

static bool only_macs(const uint32_t *weight)
{
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (p != OC_MAC && weight[p])
            return false;
    return true;
}

void oc_convention_parts(const struct oc_convention *v, const uint32_t *weight, struct oc_op_ctx *c,
                         const struct oc_cost *k, struct oc_count_parts *out)
{
    const struct oc_rule *r = find_rule(v, c->op);
    *out = (struct oc_count_parts){.macs = convention_macs_of(c, k)};
    if (r) {
        oc_rule_count(r, c, k, out);
        out->rest_text = oc_rule_text(r, c);
        if (out->mac_part != oc_c_mul(c, out->unit, out->macs))
            out->mac_text = oc_rule_mac_text(r);
        return;
    }
    weight = v ? v->weight : weight;
    out->unit = weight[OC_MAC];
    out->mac_part = oc_c_mul(c, out->unit, out->macs);
    out->rest = weighted(weight, c, k) - out->mac_part;
    out->rest_text = only_macs(weight) ? "nothing" : "every primitive";
}
