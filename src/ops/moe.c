/* Mixtures of experts of ONNX Runtime (com.microsoft). cost-semantics 4.14: k of E experts are active per
 * token, and only the weights of active experts are read. */
#include "ops/norm_cost.h"
#include "ops/op.h"

#include <math.h>
#include <string.h>

/* Slots. MoE: input, router_probs, (weights, bias) x 3. QMoE: input, router_probs, (weights, scales, bias) x
 * 3, zero points x 3. */
struct moe_kind {
    uint8_t step, bias; /* number of slots per layer, including the bias */
    bool quantized;
};
static const struct moe_kind plain = {.step = 2, .bias = 1};
static const struct moe_kind quantized = {.step = 3, .bias = 2, .quantized = true};

#define FIRST_LAYER 2

static unsigned layer_slot(const struct moe_kind *kind, unsigned layer)
{
    return FIRST_LAYER + layer * kind->step;
}

struct experts {
    uint64_t tokens, hidden, inter, n, active; /* n: experts; active: experts per token */
    uint64_t gate;                             /* 2 when a second projection gates the first */
};

/* Elements of a layer's weights, unpacked. */
static uint64_t layer_elements(struct oc_op_ctx *c, const struct moe_kind *kind, unsigned layer)
{
    uint64_t n = oc_c_in(c, layer_slot(kind, layer));
    int64_t bits = oc_attr_i(c, "expert_weight_bits", 4);
    bool packed = kind->quantized && (bits == 2 || bits == 4) &&
                  oc_dtype_info(oc_in_dtype(c, layer_slot(kind, layer)))->bits == 8;
    return packed ? oc_c_mul(c, n, (uint64_t)(8 / bits)) : n;
}

static bool read_experts(struct oc_op_ctx *c, const struct moe_kind *kind, struct experts *e)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, layer_slot(kind, 1));
    int64_t k = oc_attr_i(c, "k", 1);
    if (!x->ranked || x->rank < 1 || !w->ranked || w->rank < 1 || k < 1)
        return false;
    *e = (struct experts){.active = (uint64_t)k};
    e->hidden = oc_c_dim(c, x->dim[x->rank - 1]);
    e->tokens = oc_c_range(c, x, 0, x->rank - 1U);
    e->n = oc_c_dim(c, w->dim[0]);
    uint64_t cell = oc_c_mul(c, e->n, e->hidden);
    e->inter = cell ? layer_elements(c, kind, 1) / cell : 0;
    uint64_t square = oc_c_mul(c, cell, e->inter);
    e->gate = square ? layer_elements(c, kind, 0) / square : 1;
    if (oc_in(c, layer_slot(kind, 2)))
        e->gate = 2;
    return true;
}

static void moe_add_named(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n)
{
    const struct oc_prims *list = oc_activation_prims(oc_attr_s(c, "activation_type", "relu"));
    if (list && oc_has_attr(c, "activation_type"))
        oc_add_functions(c, k, list, n);
    else
        oc_add_activation(c, k, "activation_type", n); /* an unknown name becomes an assumption */
}

static void add_expert_activation(struct oc_op_ctx *c, struct oc_cost *k, const struct experts *e,
                                  uint64_t rows)
{
    static const struct oc_prims product[] = {{OC_MUL, 1}, {0, 0}}, limit[] = {{OC_CMP, 3}, {0, 0}};
    static const struct oc_prims gated[] = {{OC_SIG, 1}, {OC_MUL, 2}, {0, 0}};
    uint64_t n = oc_c_mul(c, rows, e->inter);
    const char *name = oc_attr_s(c, "activation_type", "relu");
    if (e->gate != 2) {
        moe_add_named(c, k, n);
        if (!oc_has_attr(c, "activation_type")) {
            oc_tell(c, "relu", n);
            oc_add(c, k, OC_CMP, n);
        }
        return;
    }
    if (strcmp(name, "swiglu") == 0 || strcmp(name, "silu") == 0) {
        oc_add_functions(c, k, gated, n);
    } else {
        moe_add_named(c, k, n);
        oc_add_functions(c, k, product, n);
    }
    if (oc_has_attr(c, "swiglu_limit"))
        oc_add_functions(c, k, limit, n);
}

static void add_routing(struct oc_op_ctx *c, struct oc_cost *k, const struct experts *e, uint64_t rows)
{
    uint64_t scores = oc_c_mul(c, e->tokens, e->n), steps = 0, top = e->active > 2 ? e->active : 2;
    while (steps < 63 && (UINT64_C(1) << steps) < top)
        steps++;
    oc_tell(c, "scores", scores);
    oc_tell(c, "steps", steps);
    oc_add_softmax(c, k, scores);
    oc_add(c, k, OC_CMP, oc_c_mul(c, scores, steps));
    if (oc_attr_i(c, "normalize_routing_weights", 0)) {
        oc_tell(c, "norm", rows);
        oc_add(c, k, OC_ADD, rows);
        oc_add(c, k, OC_DIV, rows);
    }
}

/* Expected bytes of the experts touched when each token selects `active` experts uniformly: a token skips an
 * expert with probability 1 - k/E. */
static void expect_reads(struct oc_op_ctx *c, struct oc_cost *k, const struct experts *e)
{
    if (e->active >= e->n)
        return;
    long double missed = log1pl(-(long double)e->active / (long double)e->n);
    long double share = -expm1l((long double)e->tokens * missed);
    c->assumption = "experts are assumed to be selected uniformly";
    for (unsigned i = FIRST_LAYER; i < k->n_in; i++) {
        long double bytes = (long double)k->rd[i] * share;
        k->rd[i] = bytes < (long double)k->rd[i] ? (uint64_t)(bytes + 0.5L) : k->rd[i];
    }
}

/* Scales every tensor of the layers by the share of active experts. */
static void limit_reads(struct oc_op_ctx *c, struct oc_cost *k, const struct experts *e)
{
    uint64_t used = oc_c_mul(c, e->tokens, e->active);
    if (c->opt.moe_expected) {
        expect_reads(c, k, e);
        return;
    }
    if (e->n == 0 || used >= e->n)
        return;
    for (unsigned i = FIRST_LAYER; i < k->n_in; i++)
        k->rd[i] = oc_c_mul(c, k->rd[i] / e->n, used);
}

static void add_bias(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n)
{
    oc_tell(c, "biases", n);
    oc_add(c, k, OC_ADD, n);
}

static int cost_moe(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct moe_kind *kind = c->op->param;
    struct experts e;
    if (!read_experts(c, kind, &e)) {
        c->unknown = true;
        return 0;
    }
    uint64_t rows = oc_c_mul(c, e.tokens, e.active), square = oc_c_mul(c, e.hidden, e.inter);
    oc_tell(c, "rows", rows);
    oc_tell(c, "f", e.gate);
    oc_tell(c, "H", e.hidden);
    oc_tell(c, "I", e.inter);
    oc_add(c, k, OC_MAC, oc_c_mul(c, rows, oc_c_mul(c, e.gate + 1, square)));
    oc_add(c, k, OC_MAC, oc_c_mul(c, rows, e.hidden)); /* the weighted sum of the expert outputs */
    add_expert_activation(c, k, &e, rows);
    if (oc_in(c, layer_slot(kind, 0) + kind->bias))
        add_bias(c, k, oc_c_mul(c, rows, oc_c_mul(c, oc_in(c, layer_slot(kind, 2)) ? 1 : e.gate, e.inter)));
    if (oc_in(c, layer_slot(kind, 1) + kind->bias))
        add_bias(c, k, oc_c_mul(c, rows, e.hidden));
    if (oc_in(c, layer_slot(kind, 2) + kind->bias))
        add_bias(c, k, oc_c_mul(c, rows, e.inter));
    add_routing(c, k, &e, rows);
    if (kind->quantized) {
        uint64_t stored = oc_c_mul(c, rows < e.n ? rows : e.n, oc_c_mul(c, e.gate + 1, square));
        oc_tell(c, "stored", stored);
        oc_add(c, k, OC_DEQ, stored);
    }
    limit_reads(c, k, &e);
    return 0;
}
static const char cost_moe_formula[] =
    "MAC = rows*(f + 1)*H*I + rows*H; ADD = biases + 2*scores + norm; CMP = scores*(1 + steps) + relu; EXP = "
    "scores; "
    "DIV = scores + norm; functions = rows*I; DEQ = stored; biases := 0; norm := 0; relu := 0; stored := 0";

static const struct oc_op rows[] = {
    {.domain = "com.microsoft",
     .name = "MoE",
     .since = 1,
     .op_class = OC_OP_GEMM,
     .slots = "...b.b.b",
     .shape = oc_shape_same,
     OC_COST(cost_moe),
     .param = &plain},
    {.domain = "com.microsoft",
     .name = "QMoE",
     .since = 1,
     .op_class = OC_OP_GEMM,
     .slots = "...qb.qb.qbq",
     .shape = oc_shape_same,
     OC_COST(cost_moe),
     .param = &quantized},
};
extern const struct oc_op_family oc_ops_moe;
const struct oc_op_family oc_ops_moe = OC_FAMILY("moe", rows);
