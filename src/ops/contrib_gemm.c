/* Fused and weight-quantized matrix products of ONNX Runtime (com.microsoft). cost-semantics 4.2. */
#include <math.h>
#include <string.h>

#include "ops/op.h"
#include "ops/shared_rules.h"

/* ---- FusedMatMul -------------------------------------------------------------------------------------- */

/* The operand's shape after its transpositions. trans_batch moves axis 0 after the batch axes. */
static struct oc_shape contrib_gemm_transposed(struct oc_op_ctx *c, const struct oc_shape *s, bool trans,
                                               bool trans_batch)
{
    struct oc_dim dim[OC_MAX_RANK];
    if (!s->ranked || s->rank < 2)
        return *s;
    unsigned n = 0, r = s->rank;
    for (unsigned i = trans_batch ? 1 : 0; i < (trans_batch ? r - 1 : r - 2); i++)
        dim[n++] = s->dim[i];
    dim[n++] = trans_batch ? s->dim[0] : s->dim[r - 2];
    dim[n] = s->dim[r - 1];
    if (trans) {
        struct oc_dim last = dim[n];
        dim[n] = dim[n - 1];
        dim[n - 1] = last;
    }
    return oc_shape_of(c->arena, r, dim);
}

static int fused_shape(struct oc_op_ctx *c, struct oc_shape *out, struct oc_dim *depth)
{
    struct oc_shape a = contrib_gemm_transposed(c, oc_in_shape(c, 0), oc_attr_i(c, "transA", 0) != 0,
                                                oc_attr_i(c, "transBatchA", 0) != 0);
    struct oc_shape b = contrib_gemm_transposed(c, oc_in_shape(c, 1), oc_attr_i(c, "transB", 0) != 0,
                                                oc_attr_i(c, "transBatchB", 0) != 0);
    return oc_matmul_shape(c, &a, &b, out, depth);
}

static int shape_fused_matmul(struct oc_op_ctx *c)
{
    struct oc_shape out;
    struct oc_dim depth;
    int64_t dtype = oc_attr_i(c, "dtype", 0); /* GemmFloat8 */
    if (fused_shape(c, &out, &depth))
        return -1;
    oc_set_out(c, 0, dtype > 0 && dtype < OC_DT_COUNT ? (unsigned)dtype : oc_in_dtype(c, 0), out);
    return 0;
}

static int fused_matmul_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_shape out;
    struct oc_dim depth;
    (void)k;
    if (fused_shape(c, &out, &depth))
        return -1;
    oc_add_formula_value(c, "K", oc_c_dim(c, depth));
    return 0;
}
static const char fused_matmul_formula[] = "MAC = N(o)*K; MUL = [alpha:1 != 1]*N(o); activation = N(o)";

static const char gemm_float8_formula[] =
    "MAC = N(o)*K; MUL = [alpha:1 != 1]*N(o); ADD = c*N(o); MUL = c*[beta:0 != 1]*N(in2); "
    "activation = N(o); c := [in2]*[beta:0 != 0]";

static const char gemm_fast_gelu_formula[] =
    "MAC = N(o)*K; MUL = [alpha:1 != 1]*N(o); ADD = [in2]*N(o); FastGelu = N(o)";

static int shape_same_rank(struct oc_op_ctx *c, struct oc_dim last)
{
    const struct oc_shape *a = oc_in_shape(c, 0);
    if (!a->ranked || a->rank == 0)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_with(c, a, a->rank - 1U, last));
    return 0;
}

/* ---- weights in blocks of few bits -------------------------------------------------------------------- */

struct weight_form {
    uint8_t bias, a_scale; /* slots; 0: none */
    bool from_shape;       /* [N, K / per_byte] of input 1, else attributes N and K */
    uint8_t per_byte;
};
static const struct weight_form nbits = {.bias = 5};
static const struct weight_form bnb4 = {.bias = 0};
static const struct weight_form fp4 = {.bias = 5, .from_shape = true, .per_byte = 2};
static const struct weight_form fp8 = {.bias = 4, .a_scale = 3, .from_shape = true, .per_byte = 1};

/* Sizes of the contracted (K) and of the new axis (N). */
static int weight_dims(struct oc_op_ctx *c, struct oc_dim *depth, struct oc_dim *width)
{
    const struct weight_form *f = c->op->param;
    const struct oc_shape *a = oc_in_shape(c, 0), *b = oc_in_shape(c, 1);
    int64_t attr_k = oc_attr_i(c, "K", 0), attr_n = oc_attr_i(c, "N", 0);
    bool back = strcmp(c->op->name, "MatMulBnb4") == 0 && oc_attr_i(c, "transB", 1) == 0;
    if (f->from_shape) {
        bool known = b->ranked && b->rank == 2;
        *width = known ? b->dim[0] : oc_op_fresh_dim(c, "N", -1);
        *depth = known ? oc_dim_mul(c->exprs, b->dim[1], oc_known(f->per_byte)) : oc_op_fresh_dim(c, "K", -1);
    } else {
        if (attr_k < 1 || attr_n < 1)
            return oc_op_fail(c, "invalid K %lld, N %lld", (long long)attr_k, (long long)attr_n);
        *depth = oc_known(back ? attr_n : attr_k);
        *width = oc_known(back ? attr_k : attr_n);
    }
    struct oc_dim last;
    if (a->ranked && a->rank &&
        oc_unify(c, a->dim[a->rank - 1], *depth, "the last axis of the input differs from K", &last))
        return -1;
    return 0;
}

static int shape_block_matmul(struct oc_op_ctx *c)
{
    struct oc_dim depth = oc_known(0), width = oc_known(0);
    return weight_dims(c, &depth, &width) ? -1 : shape_same_rank(c, width);
}

/* MAC rows*K*N, DEQ K*N, bias; the input is quantized for accuracy_level 4 or a given scale of
 * A. */
static int block_matmul_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct weight_form *f = c->op->param;
    struct oc_dim depth = oc_known(0), width = oc_known(0);
    if (weight_dims(c, &depth, &width))
        return -1;
    if (oc_attr_i(c, "accuracy_level", 0) == 4) {
        k->mac_class = OC_CLASS_I8;
    } else if (f->a_scale && oc_in(c, f->a_scale)) {
        k->mac_class = OC_CLASS_F8;
        oc_add_formula_value(c, "f8", 1);
    }
    oc_add_formula_value(c, "K", oc_c_dim(c, depth));
    oc_add_formula_value(c, "W", oc_c_dim(c, width));
    oc_add_formula_value(c, "bias", f->bias && oc_in(c, f->bias));
    return 0;
}
static const char block_matmul_formula[] =
    "MAC = N(o)*K; DEQ = K*W; ADD = bias*N(o); dynamic_quantize = [accuracy_level:0 == 4]*N(x); "
    "DIV = f8*N(x); RND = f8*N(x); CMP = 2*f8*N(x); bias := 0; f8 := 0";

/* MatMulFpQ4(A, B blob, B_shape) */
static int fpq4_dims(struct oc_op_ctx *c, struct oc_dim *depth, struct oc_dim *width)
{
    const struct oc_data *d = oc_in_value(c, 2);
    bool known = d && d->n == 2 && d->e[0].kind == OC_E_INT && d->e[1].kind == OC_E_INT;
    *depth = known ? d->e[0].i : oc_op_fresh_dim(c, "K", -1);
    *width = known ? d->e[1].i : oc_op_fresh_dim(c, "N", -1);
    return 0;
}

static int shape_fpq4(struct oc_op_ctx *c)
{
    struct oc_dim depth = oc_known(0), width = oc_known(0);
    fpq4_dims(c, &depth, &width);
    return shape_same_rank(c, width);
}

static int fpq4_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    struct oc_dim depth = oc_known(0), width = oc_known(0);
    fpq4_dims(c, &depth, &width);
    oc_add_formula_value(c, "K", oc_c_dim(c, depth));
    oc_add_formula_value(c, "W", oc_c_dim(c, width));
    return 0;
}
static const char fpq4_formula[] = "MAC = N(o)*K; DEQ = K*W";

/* ---- MatMulNBitsMlp ----------------------------------------------------------------------------------- */

/* A, skip, norm_scale, gate_B, gate_scales, gate_bias, up_B, up_scales, up_bias -> Y, input_skip_bias_sum */
static int shape_mlp(struct oc_op_ctx *c)
{
    struct oc_dim depth = oc_known(0), width = oc_known(0);
    if (weight_dims(c, &depth, &width) || shape_same_rank(c, width))
        return -1;
    oc_set_out_type(c, 1, oc_in(c, 0));
    return 0;
}

static int mlp_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_dim depth = oc_known(0), width = oc_known(0);
    uint64_t in = oc_c_in(c, 0);
    if (weight_dims(c, &depth, &width))
        return -1;
    uint64_t length = oc_c_dim(c, depth);
    oc_add_formula_value(c, "K", length);
    oc_add_formula_value(c, "W", oc_c_dim(c, width));
    if (oc_attr_i(c, "accuracy_level", 0) == 4)
        k->mac_class = OC_CLASS_I8;
    if (oc_in(c, 2))
        oc_report_norm(c, in, length ? in / length : 0, false);
    return 0;
}
static const char mlp_formula[] =
    "MAC = 2*N(o)*K; DEQ = 2*K*W; ADD = ([in5] + [in8])*N(o); activation = N(o); MUL = N(o); "
    "dynamic_quantize = [accuracy_level:0 == 4]*N(x); ADD = [in1]*N(x); n := 0; R := 0; " OC_RMS_NORM_FORMULA;

/* MatMulNBitsQkv: A, skip, norm_scale, then weight, scales, bias of Q, K and V -> Q, K, V,
 * input_skip_bias_sum */
static int shape_qkv(struct oc_op_ctx *c)
{
    const struct oc_shape *a = oc_in_shape(c, 0);
    int64_t n[3] = {oc_attr_i(c, "Nq", 0), oc_attr_i(c, "Nkv", 0), oc_attr_i(c, "Nkv", 0)};
    int64_t depth = oc_attr_i(c, "K", 0);
    struct oc_dim last;
    if (depth < 1 || n[0] < 1 || n[1] < 1)
        return oc_op_fail(c, "invalid K %lld, Nq %lld, Nkv %lld", (long long)depth, (long long)n[0],
                          (long long)n[1]);
    if (a->ranked && a->rank &&
        oc_unify(c, a->dim[a->rank - 1], oc_known(depth), "the last axis of the input differs from K", &last))
        return -1;
    for (unsigned i = 0; i < 3; i++)
        oc_set_out(c, i, oc_in_dtype(c, 0),
                   a->ranked && a->rank ? oc_shape_with(c, a, a->rank - 1U, oc_known(n[i]))
                                        : oc_shape_unranked());
    oc_set_out_type(c, 3, oc_in(c, 0));
    return 0;
}

static int qkv_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t in = oc_c_in(c, 0), depth = (uint64_t)oc_attr_i(c, "K", 1);
    if (oc_attr_i(c, "accuracy_level", 0) == 4)
        k->mac_class = OC_CLASS_I8;
    oc_report_norm(c, in, in / (depth ? depth : 1), false);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t n = (uint64_t)oc_attr_i(c, i ? "Nkv" : "Nq", 0);
        oc_add_formula_value(c, "width", n);
        oc_add_formula_value(c, "biased", oc_in(c, 5 + 3 * i) ? n : 0);
    }
    return 0;
}

static const char qkv_formula[] =
    "MAC = R*width*K; DEQ = width*K; ADD = R*biased + [in1]*n; "
    "dynamic_quantize = [accuracy_level:0 == 4]*n; K := n/R; " OC_RMS_NORM_FORMULA;

/* ---- integer products with a float result ----------------------------------------------------------- */

/* MatMulIntegerToFloat(A, B, a_scale, b_scale, a_zp, b_zp, bias), DynamicQuantizeMatMul(A, B, b_scale, b_zp,
 * bias) */
static bool contrib_gemm_is_dynamic(const struct oc_op_ctx *c)
{
    return strcmp(c->op->name, "DynamicQuantizeMatMul") == 0;
}

static int shape_integer_to_float(struct oc_op_ctx *c)
{
    struct oc_shape out;
    struct oc_dim depth;
    if (oc_matmul_shape(c, oc_in_shape(c, 0), oc_in_shape(c, 1), &out, &depth))
        return -1;
    oc_set_out(c, 0, oc_in_dtype(c, contrib_gemm_is_dynamic(c) ? 0 : 2), out);
    return 0;
}

static int integer_to_float_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_shape out;
    struct oc_dim depth;
    bool dynamic = contrib_gemm_is_dynamic(c);
    if (oc_matmul_shape(c, oc_in_shape(c, 0), oc_in_shape(c, 1), &out, &depth))
        return -1;
    k->mac_class = OC_CLASS_I8;
    oc_add_formula_value(c, "K", oc_c_dim(c, depth));
    oc_add_formula_value(c, "dynamic", dynamic);
    if (dynamic || oc_zero_point_counts(c, 4)) /* operands quantized at run time have a zero point */
        oc_add_formula_value(c, "zp", oc_c_in(c, 0));
    if (oc_zero_point_counts(c, dynamic ? 3 : 5) && !oc_in_is_const(c, 1))
        oc_add_formula_value(c, "zp", oc_c_in(c, 1));
    return 0;
}
static const char integer_to_float_formula[] =
    "MAC = N(o)*K; dynamic_quantize = dynamic*N(x); ADD:int = zp; MUL = N(o); ADD = [B]*N(o); zp := 0";

/* SparseToDenseMatMul: only the stored elements of A are multiplied; their number is not in its type. */
static int sparse_matmul_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    c->upper = true;
    return fused_matmul_values(c, k);
}
static const char sparse_matmul_formula[] = "MAC = N(o)*K; MUL = [alpha:1 != 1]*N(o)";

#define MS(n, s, sh, co, p)                                                                                  \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = OC_OP_GEMM, .slots = (s),            \
        .shape = (sh), co, .param = (p)                                                                      \
    }

static const struct oc_op contrib_gemm_rows[] = {
    MS("DynamicQuantizeMatMul", "..qqb", shape_integer_to_float, OC_COST(integer_to_float), NULL),
    MS("FusedMatMul", NULL, shape_fused_matmul, OC_COST(fused_matmul), NULL),
    MS("FusedMatMulActivation", NULL, shape_fused_matmul, OC_COST(fused_matmul), NULL),
    MS("GemmFastGelu", "..b", shape_fused_matmul,
       OC_COST_TEXT_WITH(gemm_fast_gelu_formula, fused_matmul_values), NULL),
    MS("GemmFloat8", "..bq", shape_fused_matmul, OC_COST_TEXT_WITH(gemm_float8_formula, fused_matmul_values),
       NULL),
    MS("MatMulBlockQuantizedFp4Weight", "..qqqb", shape_block_matmul, OC_COST(block_matmul), &fp4),
    MS("MatMulBlockQuantizedFp8Weight", "..qqb", shape_block_matmul, OC_COST(block_matmul), &fp8),
    MS("MatMulBnb4", "..q", shape_block_matmul, OC_COST(block_matmul), &bnb4),
    MS("MatMulFpQ4", "..m", shape_fpq4, OC_COST(fpq4), NULL),
    MS("MatMulIntegerToFloat", "..qqqqb", shape_integer_to_float, OC_COST(integer_to_float), NULL),
    MS("MatMulNBits", "..qqqb", shape_block_matmul, OC_COST(block_matmul), &nbits),
    MS("MatMulNBitsMlp", "..n.qb.qb", shape_mlp, OC_COST(mlp), &nbits),
    MS("MatMulNBitsQkv", "..n.qb.qb.qb", shape_qkv, OC_COST(qkv), NULL),
    MS("SparseToDenseMatMul", NULL, shape_fused_matmul, OC_COST(sparse_matmul), NULL),
    MS("TransposeMatMul", NULL, shape_fused_matmul, OC_COST(fused_matmul), NULL),
};
OC_FAMILY(contrib_gemm, contrib_gemm_rows);

/* ---- mixtures of experts ------------------------------------------------------------------------------ */

/* Mixtures of experts of ONNX Runtime (com.microsoft). cost-semantics 4.14: k of E experts are active per
 * token, and only the weights of active experts are read. */

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

static void moe_report_named(struct oc_op_ctx *c, uint64_t n)
{
    const struct oc_prims *list = oc_activation_prims(oc_attr_s(c, "activation_type", ""));
    oc_add_functions(c, list, n);
    if (!list && oc_has_attr(c, "activation_type"))
        c->assumption = "an unknown activation counts 0";
}

static void report_expert_activation(struct oc_op_ctx *c, const struct experts *e, uint64_t rows)
{
    static const struct oc_prims product[] = {{OC_MUL, 1}, {0, 0}}, limit[] = {{OC_CMP, 3}, {0, 0}};
    static const struct oc_prims gated[] = {{OC_SIG, 1}, {OC_MUL, 2}, {0, 0}};
    uint64_t n = oc_c_mul(c, rows, e->inter);
    const char *name = oc_attr_s(c, "activation_type", "relu");
    if (e->gate != 2) {
        moe_report_named(c, n);
        if (!oc_has_attr(c, "activation_type"))
            oc_add_formula_value(c, "relu", n);
        return;
    }
    if (strcmp(name, "swiglu") == 0 || strcmp(name, "silu") == 0) {
        oc_add_functions(c, gated, n);
    } else {
        moe_report_named(c, n);
        oc_add_functions(c, product, n);
    }
    if (oc_has_attr(c, "swiglu_limit"))
        oc_add_functions(c, limit, n);
}

static void report_routing(struct oc_op_ctx *c, const struct experts *e, uint64_t rows)
{
    oc_add_formula_value(c, "scores", oc_c_mul(c, e->tokens, e->n));
    oc_add_formula_value(c, "steps", oc_clog2(e->active > 2 ? e->active : 2));
    if (oc_attr_i(c, "normalize_routing_weights", 0))
        oc_add_formula_value(c, "norm", rows);
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

static int moe_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct moe_kind *kind = c->op->param;
    struct experts e;
    if (!read_experts(c, kind, &e))
        return oc_cost_unknown(c);
    uint64_t rows = oc_c_mul(c, e.tokens, e.active), square = oc_c_mul(c, e.hidden, e.inter);
    oc_add_formula_value(c, "rows", rows);
    oc_add_formula_value(c, "f", e.gate);
    oc_add_formula_value(c, "H", e.hidden);
    oc_add_formula_value(c, "I", e.inter);
    report_expert_activation(c, &e, rows);
    if (oc_in(c, layer_slot(kind, 0) + kind->bias))
        oc_add_formula_value(
            c, "biases", oc_c_mul(c, rows, oc_c_mul(c, oc_in(c, layer_slot(kind, 2)) ? 1 : e.gate, e.inter)));
    if (oc_in(c, layer_slot(kind, 1) + kind->bias))
        oc_add_formula_value(c, "biases", oc_c_mul(c, rows, e.hidden));
    if (oc_in(c, layer_slot(kind, 2) + kind->bias))
        oc_add_formula_value(c, "biases", oc_c_mul(c, rows, e.inter));
    report_routing(c, &e, rows);
    if (kind->quantized) {
        uint64_t stored = oc_c_mul(c, rows < e.n ? rows : e.n, oc_c_mul(c, e.gate + 1, square));
        oc_add_formula_value(c, "stored", stored);
    }
    limit_reads(c, k, &e);
    return 0;
}
static const char moe_formula[] = "MAC = rows*(f + 1)*H*I + rows*H; ADD = biases + 2*scores + "
                                  "norm; CMP = scores*(1 + steps) + relu; EXP = "
                                  "scores; "
                                  "DIV = scores + norm; functions = rows*I; DEQ = stored; biases := "
                                  "0; norm := 0; relu := 0; stored := 0";

static const struct oc_op moe_rows[] = {
    {OC_OP_ROW("com.microsoft", "MoE", 1, GEMM, "...b.b.b", oc_shape_same), OC_COST(moe),
     .flags = OC_F_EXPERTS, .param = &plain},
    {OC_OP_ROW("com.microsoft", "QMoE", 1, GEMM, "...qb.qb.qbq", oc_shape_same), OC_COST(moe),
     .flags = OC_F_EXPERTS, .param = &quantized},
};
OC_FAMILY(moe, moe_rows);
