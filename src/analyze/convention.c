#include "analyze/convention.h"

#include <string.h>

/* Formulas of overrides, over elements of input 0 (x), of output 0 (o), and rows (R = normalised rows). */
enum kind {
    NOTHING,
    PER_OUT,    /* a * N(o) */
    PER_IN,     /* a * N(x) */
    ROWS,       /* a * N(x) + b * R */
    LESS_ROWS,  /* a * N(x) - b * R */
    INPUTS,     /* N(o) * (max(inputs, 2) - 1) */
    IN_OUT,     /* a * N(x) + b * N(o) */
    POSITIONS,  /* transposed convolution by output positions: N(o) * M/g * k, and the bias */
    MAC_ONLY,   /* a per MAC */
    MAC_BIAS,   /* a per MAC and N(o) for the bias */
    MAC_VECTOR, /* a per MAC and the elements of the bias */
    MAC_THREE,  /* MegEngine: a per MAC, N(o) only if the operator has exactly three inputs */
    FLAT_MAC,   /* a per MAC, nothing for more than two dimensions */
    NO_DIV,     /* the histogram without divisions */
    SCALE_OUT   /* resize: a * N(o) nearest, b * N(o) linear, 2b cubic */
};

struct override {
    const char *op;   /* operator type, or NULL: the class below */
    uint8_t op_class; /* enum oc_op_class */
    uint8_t kind;
    uint8_t a, b;
};

struct oc_convention {
    const char *name;
    uint32_t weight[OC_PRIM_COUNT];
    const struct override *list; /* the first match applies */
    size_t n;
    bool taps_valid, strict_reduce, attention_full, loops_once;
};

#define ONLY_MAC(w) [OC_MAC] = (w)

/* MegEngine/MegEngine: src/plugin/impl/opr_footprint.cpp */
static const struct override mge[] = {
    {"Conv", 0, MAC_THREE, 2, 0},
    {"FusedConv", 0, MAC_THREE, 2, 0},
    {"ConvTranspose", 0, MAC_ONLY, 2, 0},
    {"MatMul", 0, FLAT_MAC, 2, 0},
    {"Transpose", 0, PER_OUT, 1, 0},
    {"Concat", 0, PER_OUT, 1, 0},
    {"GlobalAveragePool", 0, PER_IN, 1, 0},
    {"GlobalMaxPool", 0, PER_IN, 1, 0},
    {"AveragePool", 0, NO_DIV, 0, 0},
    {NULL, OC_OP_NORM, NOTHING, 0, 0},
    {NULL, OC_OP_SOFTMAX, NOTHING, 0, 0},
    {NULL, OC_OP_RESIZE, NOTHING, 0, 0},
    {"RoiAlign", 0, NOTHING, 0, 0},
    {"MaxRoiPool", 0, NOTHING, 0, 0},
    {NULL, OC_OP_REDUCE, NO_DIV, 0, 0},
    {NULL, OC_OP_ATTENTION, NOTHING, 0, 0},
    {NULL, OC_OP_ELEMENTWISE, INPUTS, 0, 0},
};

/* MegEngine/MegEngine: imperative/python/megengine/utils/module_stats.py */
static const struct override mge_stats[] = {
    {"Gemm", 0, MAC_VECTOR, 1, 0},          {NULL, OC_OP_CONV, MAC_BIAS, 1, 0},
    {"GlobalAveragePool", 0, PER_IN, 1, 0}, {NULL, OC_OP_NORM, PER_IN, 7, 0},
    {NULL, OC_OP_POOL, NO_DIV, 0, 0},
};

/* ThanatosShinji/onnx-tool: onnx_tool/node.py */
static const struct override onnx_tool[] = {
    {"ConvTranspose", 0, POSITIONS, 1, 0},
    {"BatchNormalization", 0, PER_OUT, 31, 0},
    {"LayerNormalization", 0, ROWS, 7, 29},
    {"Softmax", 0, PER_OUT, 36, 0},
    {"Sigmoid", 0, PER_OUT, 32, 0},
    {"Tanh", 0, PER_OUT, 76, 0},
    {"Gelu", 0, PER_OUT, 34, 0},
    {"Erf", 0, NOTHING, 0, 0},
    {"Floor", 0, PER_OUT, 1, 0},
    {"Resize", 0, SCALE_OUT, 0, 4},
    {"QuantizeLinear", 0, PER_OUT, 2, 0},
    {"DequantizeLinear", 0, PER_OUT, 2, 0},
    {"GlobalAveragePool", 0, IN_OUT, 1, 4},
};

/* facebookresearch/fvcore: fvcore/nn/jit_handles.py, flop_count.py */
static const struct override fvcore[] = {
    {"BatchNormalization", 0, PER_IN, 2, 0},
    {"GlobalAveragePool", 0, PER_IN, 1, 0},
    {"LayerNormalization", 0, PER_IN, 5, 0},
    {"GroupNormalization", 0, PER_IN, 5, 0},
    {"InstanceNormalization", 0, PER_IN, 5, 0},
    {"GridSample", 0, PER_OUT, 4, 0},
    {"Resize", 0, SCALE_OUT, 1, 4},
    {"Upsample", 0, SCALE_OUT, 1, 4},
};

/* MrYxJ/calculate-flops.pytorch: calflops/pytorch_ops.py */
static const struct override calflops[] = {
    {"Conv", 0, MAC_BIAS, 2, 0},      {"BatchNormalization", 0, PER_IN, 2, 0},
    {NULL, OC_OP_NORM, PER_IN, 5, 0}, {NULL, OC_OP_SOFTMAX, PER_IN, 1, 0},
    {NULL, OC_OP_POOL, PER_IN, 1, 0}, {NULL, OC_OP_ELEMENTWISE, PER_OUT, 1, 0},
    {"Resize", 0, SCALE_OUT, 1, 1},
};

/* openxla/xla: xla/service/hlo_cost_analysis.cc; transcendentals are a separate column there */
static const struct override xla[] = {
    {"BatchNormalization", 0, NOTHING, 0, 0},
    {"Softmax", 0, LESS_ROWS, 4, 2}, /* maximum and sum of n numbers take n - 1; exponentials are separate */
};

#define LIST(x) .list = (x), .n = OC_COUNT(x)
#define EASY    [OC_ADD] = 1, [OC_MUL] = 1, [OC_CMP] = 1, [OC_RND] = 1, [OC_BIT] = 1

static const struct oc_convention conventions[] = {
    {.name = "mge",
     LIST(mge),
     .attention_full = true,
     .weight = {ONLY_MAC(2), EASY, [OC_DIV] = 1, [OC_SQRT] = 1, [OC_EXP] = 1, [OC_LOG] = 1, [OC_SIN] = 1,
                [OC_TAN] = 1, [OC_TANH] = 1, [OC_SIG] = 1, [OC_ERF] = 1, [OC_POW] = 1, [OC_RNG] = 1}},
    {.name = "mge-stats", LIST(mge_stats), .weight = {ONLY_MAC(1)}, .attention_full = true},
    {.name = "onnx-tool",
     LIST(onnx_tool),
     .attention_full = true,
     .weight = {ONLY_MAC(1), EASY, [OC_DIV] = 4, [OC_SQRT] = 24, [OC_EXP] = 32, [OC_LOG] = 43, [OC_SIN] = 39,
                [OC_TAN] = 39, [OC_TANH] = 76, [OC_SIG] = 32, [OC_POW] = 32}},
    {.name = "fvcore", LIST(fvcore), .weight = {ONLY_MAC(1)}, .attention_full = true},
    {.name = "torch", .weight = {ONLY_MAC(2)}, .attention_full = true},
    {.name = "calflops", LIST(calflops), .weight = {ONLY_MAC(2)}, .attention_full = true},
    {.name = "xla",
     LIST(xla),
     .weight = {ONLY_MAC(2), EASY, [OC_DIV] = 1},
     .taps_valid = true,
     .strict_reduce = true,
     .attention_full = true,
     .loops_once = true},
};

const struct oc_convention *oc_convention_find(const char *name)
{
    for (size_t i = 0; i < OC_COUNT(conventions); i++)
        if (strcmp(conventions[i].name, name) == 0)
            return &conventions[i];
    return NULL;
}

int oc_convention_set(const char *name, const struct oc_convention **out)
{
    bool ours = !name || strcmp(name, "onnxcost") == 0;
    *out = ours ? NULL : oc_convention_find(name);
    return ours || *out ? 0 : -1;
}

const char *oc_convention_name(size_t index)
{
    return index < OC_COUNT(conventions) ? conventions[index].name : NULL;
}

bool oc_convention_loops_once(const struct oc_convention *v)
{
    return v && v->loops_once;
}

void oc_convention_options(const struct oc_convention *v, struct oc_op_ctx *c)
{
    c->opt.taps_valid |= v->taps_valid && c->op->op_class == OC_OP_CONV; /* windows of pools count in full */
    c->opt.strict_reduce |= v->strict_reduce;
    c->opt.attention_full |= v->attention_full;
}

static uint64_t weighted(const uint32_t *weight, struct oc_op_ctx *c, const struct oc_cost *k)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        sum = oc_c_add(c, sum, oc_c_mul(c, oc_c_add(c, k->hist_f[p], k->hist_i[p]), weight[p]));
    return sum;
}

/* Every primitive once, except divisions. */
static uint64_t without_div(struct oc_op_ctx *c, const struct oc_cost *k)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (p != OC_DIV)
            sum = oc_c_add(c, sum, oc_c_add(c, k->hist_f[p], k->hist_i[p]));
    return sum;
}

static uint64_t bias_of(struct oc_op_ctx *c)
{
    const struct oc_op *op = c->op;
    const char *b = op->slots ? strchr(op->slots, 'b') : NULL;
    return b ? oc_c_in(c, (unsigned)(b - op->slots)) : 0;
}

/* Output positions x (M/g) x window, as if every output element used a whole window; and the bias. */
static uint64_t positions(struct oc_op_ctx *c)
{
    const struct oc_shape *w = oc_in_shape(c, 1);
    uint64_t n = oc_c_mul(c, oc_c_out(c, 0), w->ranked && w->rank > 1 ? oc_c_range(c, w, 1, w->rank) : 0);
    return oc_c_add(c, n, bias_of(c) ? oc_c_out(c, 0) : 0);
}

/* Normalised rows: product of the dimensions before the axis. */
static uint64_t rows(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    unsigned axis;
    if (!x->ranked || !oc_axis(oc_attr_i(c, "axis", -1), x->rank, &axis))
        return 0;
    return oc_c_range(c, x, 0, axis);
}

static uint64_t resize(struct oc_op_ctx *c, const struct override *r)
{
    const char *mode = oc_attr_s(c, "mode", "nearest");
    unsigned per = strcmp(mode, "nearest") == 0 ? r->a : strcmp(mode, "cubic") == 0 ? 2U * r->b : r->b;
    return oc_c_mul(c, oc_c_out(c, 0), per);
}

static uint64_t present_inputs(const struct oc_op_ctx *c)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < c->n_in; i++)
        n += oc_in(c, i) != NULL;
    return n;
}

static uint64_t macs_and_bias(struct oc_op_ctx *c, const struct oc_cost *k, const struct override *r)
{
    uint64_t mac = oc_c_mul(c, oc_c_add(c, k->hist_f[OC_MAC], k->hist_i[OC_MAC]), r->a), n = 0;
    const struct oc_shape *o = oc_out(c, 0) ? &oc_out(c, 0)->shape : NULL;
    if (r->kind == FLAT_MAC && o && o->rank > 2)
        return 0;
    if (r->kind == MAC_BIAS || (r->kind == MAC_THREE && present_inputs(c) == 3))
        n = bias_of(c) ? oc_c_out(c, 0) : 0;
    if (r->kind == MAC_VECTOR)
        n = bias_of(c);
    return oc_c_add(c, mac, n);
}

static uint64_t apply(const struct override *r, struct oc_op_ctx *c, const struct oc_cost *k)
{
    uint64_t inputs = present_inputs(c);
    switch (r->kind) {
    case PER_OUT:
        return oc_c_mul(c, oc_c_out(c, 0), r->a);
    case PER_IN:
        return oc_c_mul(c, oc_c_in(c, 0), r->a);
    case ROWS:
        return oc_c_add(c, oc_c_mul(c, oc_c_in(c, 0), r->a), oc_c_mul(c, rows(c), r->b));
    case LESS_ROWS:
        return oc_c_mul(c, oc_c_in(c, 0), r->a) - oc_c_mul(c, rows(c), r->b);
    case INPUTS:
        return oc_c_mul(c, oc_c_out(c, 0), (inputs > 2 ? inputs : 2) - 1);
    case IN_OUT:
        return oc_c_add(c, oc_c_mul(c, oc_c_in(c, 0), r->a), oc_c_mul(c, oc_c_out(c, 0), r->b));
    case POSITIONS:
        return positions(c);
    case MAC_ONLY:
    case MAC_BIAS:
    case MAC_VECTOR:
    case MAC_THREE:
    case FLAT_MAC:
        return macs_and_bias(c, k, r);
    case NO_DIV:
        return without_div(c, k);
    case SCALE_OUT:
        return resize(c, r);
    default:
        return 0;
    }
}

static const struct override *find_override(const struct oc_convention *v, const struct oc_op *op)
{
    for (size_t i = 0; v && i < v->n; i++) {
        const struct override *r = &v->list[i];
        if (r->op ? strcmp(r->op, op->name) == 0 : r->op_class == op->op_class)
            return r;
    }
    return NULL;
}

uint64_t oc_convention_count(const struct oc_convention *v, struct oc_op_ctx *c, const struct oc_cost *k)
{
    const struct override *r = find_override(v, c->op);
    return !r ? weighted(v->weight, c, k) : k->alias ? 0 : apply(r, c, k);
}

/* ---- parts ----------------------------------------------------------------------------------------------
 */

static const char *override_text(struct oc_op_ctx *c, const struct override *r)
{
    struct oc_arena *a = c->arena;
    switch (r->kind) {
    case PER_OUT:
        return oc_printf(a, "%u per output element", r->a);
    case PER_IN:
        return oc_printf(a, "%u per input element", r->a);
    case ROWS:
        return oc_printf(a, "%u per element and %u per row", r->a, r->b);
    case LESS_ROWS:
        return oc_printf(a, "%u per element minus %u per row", r->a, r->b);
    case INPUTS:
        return "inputs - 1 per output element";
    case IN_OUT:
        return oc_printf(a, "%u per input and %u per output element", r->a, r->b);
    case SCALE_OUT:
        return oc_printf(a, "%u (nearest) or %u (linear) per output element", r->a, r->b);
    case NO_DIV:
        return "every primitive except divisions";
    case POSITIONS:
    case MAC_BIAS:
        return "the bias at every output element";
    case MAC_VECTOR:
        return "the elements of the bias";
    case MAC_THREE:
        return "the bias of operators with three inputs";
    default:
        return "nothing";
    }
}

static bool by_mac(const struct override *r)
{
    return r->kind == POSITIONS || (r->kind >= MAC_ONLY && r->kind <= FLAT_MAC);
}

static void override_parts(const struct override *r, struct oc_op_ctx *c, const struct oc_cost *k,
                           struct oc_count_parts *p)
{
    uint64_t total = k->alias ? 0 : apply(r, c, k);
    p->rest_text = override_text(c, r);
    p->unit = by_mac(r) ? r->a : 0;
    p->mac_part =
        p->unit * p->macs; /* cannot overflow: apply() counted at least as much; the rest is checked */
    if (r->kind == POSITIONS) {
        p->mac_part = total - (bias_of(c) ? oc_c_out(c, 0) : 0);
        p->mac_text = "every output element uses a whole window";
    } else if (total < p->mac_part) {
        p->mac_part = 0;
        p->mac_text = "products of more than two dimensions are not counted";
    }
    p->rest = total - p->mac_part;
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
    const struct override *r = find_override(v, c->op);
    *out = (struct oc_count_parts){.macs = oc_c_add(c, k->hist_f[OC_MAC], k->hist_i[OC_MAC])};
    if (r) {
        override_parts(r, c, k, out);
        return;
    }
    weight = v ? v->weight : weight;
    out->unit = weight[OC_MAC];
    out->mac_part = oc_c_mul(c, out->unit, out->macs);
    out->rest = weighted(weight, c, k) - out->mac_part;
    out->rest_text = only_macs(weight) ? "nothing" : "every primitive";
}
