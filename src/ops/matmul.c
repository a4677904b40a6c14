/* MatMul, Gemm, their integer forms, Det. cost-semantics 4.2, shape-inference 4.3. */
#include "ops/shared_rules.h"

#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------------- */

int oc_unify(struct oc_op_ctx *c, struct oc_dim a, struct oc_dim b, const char *what, struct oc_dim *out)
{
    *out = oc_is_known(a) ? a : b;
    if (oc_is_known(a) && oc_is_known(b) && a.v != b.v)
        return oc_op_fail(c, "%s: %lld and %lld", what, (long long)a.v, (long long)b.v);
    return 0;
}

void oc_add_product(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n, uint64_t depth)
{
    oc_add_formula_value(c, "K", depth);
    oc_add(c, k, OC_MAC, oc_c_mul(c, n, depth));
}

int oc_matmul_shape(struct oc_op_ctx *c, const struct oc_shape *a, const struct oc_shape *b,
                    struct oc_shape *out, struct oc_dim *depth)
{
    *out = oc_shape_unranked();
    *depth = oc_known(0);
    if (!a->ranked || !b->ranked)
        return 0;
    if (a->rank == 0 || b->rank == 0)
        return oc_op_fail(c, "an operand is a scalar");
    struct oc_dim ka = a->dim[a->rank - 1], kb = b->dim[b->rank == 1 ? 0 : b->rank - 2];
    if (oc_unify(c, ka, kb, "inner dimensions differ", depth))
        return -1;
    struct oc_shape batch_a = {
        .dim = a->dim, .rank = (uint8_t)(a->rank > 2 ? a->rank - 2 : 0), .ranked = true};
    struct oc_shape batch_b = {
        .dim = b->dim, .rank = (uint8_t)(b->rank > 2 ? b->rank - 2 : 0), .ranked = true};
    struct oc_shape batch;
    bool assumed = false;
    if (oc_broadcast(c->arena, c->exprs, &batch_a, &batch_b, &batch, &assumed))
        return oc_op_fail(c, "batch dimensions {%s} and {%s} do not broadcast",
                          oc_shape_text(c->arena, c->exprs, &batch_a, ","),
                          oc_shape_text(c->arena, c->exprs, &batch_b, ","));
    struct oc_dim dim[OC_MAX_RANK + 2];
    unsigned n = batch.rank;
    if (n)
        memcpy(dim, batch.dim, n * sizeof(dim[0]));
    if (a->rank > 1)
        dim[n++] = a->dim[a->rank - 2];
    if (b->rank > 1)
        dim[n++] = b->dim[b->rank - 1];
    *out = oc_shape_of(c->arena, n, dim);
    return 0;
}

static int shape_matmul_at(struct oc_op_ctx *c, unsigned a, unsigned b, unsigned dtype)
{
    struct oc_shape out;
    struct oc_dim depth;
    if (oc_matmul_shape(c, oc_in_shape(c, a), oc_in_shape(c, b), &out, &depth))
        return -1;
    oc_set_out(c, 0, dtype, out);
    return 0;
}

static int shape_matmul(struct oc_op_ctx *c)
{
    return shape_matmul_at(c, 0, 1, oc_in_dtype(c, 0));
}

static int shape_matmul_integer(struct oc_op_ctx *c)
{
    return shape_matmul_at(c, 0, 1, OC_DT_INT32);
}

static int shape_qlinear_matmul(struct oc_op_ctx *c)
{
    return shape_matmul_at(c, 0, 3, oc_in(c, 7) ? oc_in_dtype(c, 7) : oc_in_dtype(c, 0));
}

static int shape_gemm(struct oc_op_ctx *c)
{
    const struct oc_shape *a = oc_in_shape(c, 0), *b = oc_in_shape(c, 1);
    bool ta = oc_attr_i(c, "transA", 0) != 0, tb = oc_attr_i(c, "transB", 0) != 0;
    if ((a->ranked && a->rank != 2) || (b->ranked && b->rank != 2))
        return oc_op_fail(c, "operands must be matrices, got rank %u and %u", a->rank, b->rank);
    struct oc_dim k;
    if (a->ranked && b->ranked &&
        oc_unify(c, a->dim[ta ? 0 : 1], b->dim[tb ? 1 : 0], "inner dimensions differ", &k))
        return -1;
    struct oc_dim dim[2];
    dim[0] = a->ranked ? a->dim[ta ? 1 : 0] : oc_op_fresh_dim(c, "0", -1);
    dim[1] = b->ranked ? b->dim[tb ? 0 : 1] : oc_op_fresh_dim(c, "1", -1);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 2, dim));
    return 0;
}

static int shape_det(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (x->ranked && x->rank < 2)
        return oc_op_fail(c, "needs matrices, got rank %u", x->rank);
    struct oc_shape s = *x;
    s.rank = (uint8_t)(x->ranked ? x->rank - 2 : 0);
    oc_set_out(c, 0, oc_in_dtype(c, 0), s);
    return 0;
}

/* ---- cost --------------------------------------------------------------------------------------------- */

/* MAC = batch * M * N * K */
static void add_product(struct oc_op_ctx *c, struct oc_cost *k, unsigned a)
{
    const struct oc_shape *s = oc_in_shape(c, a);
    uint64_t depth = 0;
    if (s->ranked && s->rank)
        depth = oc_c_dim(c, s->dim[s->rank - 1]);
    else
        c->unknown = true;
    oc_add(c, k, OC_MAC, oc_c_mul(c, oc_c_out(c, 0), depth));
}

/* Subtracts the zero points: of A always, of B only if it is not prepacked. */
static void add_zero_points(struct oc_op_ctx *c, struct oc_cost *k, unsigned a, unsigned a_zp, unsigned b,
                            unsigned b_zp)
{
    if (oc_zero_point_counts(c, a_zp)) {
        oc_add_formula_value(c, "zp", oc_c_in(c, a));
        oc_add_int(c, k, OC_ADD, oc_c_in(c, a));
    }
    if (oc_zero_point_counts(c, b_zp) && !oc_in_is_const(c, b)) {
        oc_add_formula_value(c, "zp", oc_c_in(c, b));
        oc_add_int(c, k, OC_ADD, oc_c_in(c, b));
    }
}

static int cost_matmul(struct oc_op_ctx *c, struct oc_cost *k)
{
    add_product(c, k, 0);
    return 0;
}
static const char cost_matmul_formula[] = "MAC = N(o)*K; K := x[-1]";

static int cost_matmul_integer(struct oc_op_ctx *c, struct oc_cost *k)
{
    add_product(c, k, 0);
    add_zero_points(c, k, 0, 2, 1, 3);
    return 0;
}
static const char cost_matmul_integer_formula[] = "MAC = N(o)*K; ADD = zp; K := x[-1]; zp := 0";

static int cost_qlinear_matmul(struct oc_op_ctx *c, struct oc_cost *k)
{
    add_product(c, k, 0);
    add_zero_points(c, k, 0, 2, 3, 5);
    oc_add_prims(c, k, oc_prims_requantize, oc_c_out(c, 0));
    return 0;
}
static const char cost_qlinear_matmul_formula[] =
    "MAC = N(o)*K; ADD = zp; requantize = N(o); K := x[-1]; zp := 0";

/* A is M x K, transposed by an attribute. */
static void add_gemm_product(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n)
{
    const struct oc_shape *a = oc_in_shape(c, 0);
    bool known = a->ranked && a->rank == 2;
    c->unknown |= !known;
    oc_add_product(c, k, n, known ? oc_c_dim(c, a->dim[oc_attr_i(c, "transA", 0) ? 0 : 1]) : 0);
}

/* MAC = M*N*K; MUL N(o) for alpha; ADD N(o) and, for beta, MUL N(C) */
static int cost_gemm(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_out(c, 0);
    float alpha = oc_attr_f(c, "alpha", 1.0F), beta = oc_attr_f(c, "beta", 1.0F);
    add_gemm_product(c, k, n);
    if (alpha != 1.0F)
        oc_add(c, k, OC_MUL, n);
    if (oc_in(c, 2) && beta != 0.0F) {
        oc_add(c, k, OC_ADD, n);
        if (beta != 1.0F)
            oc_add(c, k, OC_MUL, oc_c_in(c, 2));
    }
    oc_add_activation(c, k, "activation", n); /* FusedGemm */
    return 0;
}
static const char cost_gemm_formula[] =
    "MAC = M*N*K; ADD = c*N(o); MUL = [alpha:1 != 1]*N(o) + c*[beta:1 != 1]*N(in2); activation = N(o); "
    "M := o[0]; N := o[1]; c := [in2]*[beta:1 != 0]";

/* MatMulInteger, a float scale, bias; QGemm requantizes when y_scale is there. */
static int cost_qgemm(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_out(c, 0);
    add_gemm_product(c, k, n);
    add_zero_points(c, k, 0, 2, 3, 5);
    if (oc_in(c, 6))
        oc_add_int(c, k, OC_ADD, n);
    if (oc_in(c, 7))
        oc_add_prims(c, k, oc_prims_requantize, n);
    else
        oc_add(c, k, OC_MUL, n);
    return 0;
}
static const char cost_qgemm_formula[] =
    "MAC = M*N*K; ADD = zp + [in6]*N(o); MUL = (1 - [in7])*N(o); requantize = [in7]*N(o); "
    "M := o[0]; N := o[1]; zp := 0";

static int shape_qgemm(struct oc_op_ctx *c)
{
    const struct oc_shape *a = oc_in_shape(c, 0), *b = oc_in_shape(c, 3);
    bool ta = oc_attr_i(c, "transA", 0) != 0, tb = oc_attr_i(c, "transB", 0) != 0;
    unsigned dtype = oc_in(c, 8) ? oc_in_dtype(c, 8) : oc_in(c, 7) ? oc_in_dtype(c, 0) : OC_DT_FLOAT;
    if ((a->ranked && a->rank != 2) || (b->ranked && b->rank != 2))
        return oc_op_fail(c, "operands must be matrices, got rank %u and %u", a->rank, b->rank);
    struct oc_dim dim[2];
    dim[0] = a->ranked ? a->dim[ta ? 1 : 0] : oc_op_fresh_dim(c, "0", -1);
    dim[1] = b->ranked ? b->dim[tb ? 0 : 1] : oc_op_fresh_dim(c, "1", -1);
    oc_set_out(c, 0, dtype, oc_shape_of(c->arena, 2, dim));
    return 0;
}

/* Elimination: 2m^3/3 operations per matrix, half additions, half multiplications. */
static int cost_det(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint64_t m = x->ranked && x->rank >= 2 ? oc_c_dim(c, x->dim[x->rank - 1]) : 0;
    uint64_t work = oc_c_mul(c, 2, oc_c_mul(c, m, oc_c_mul(c, m, m))) / 3, n = oc_c_out(c, 0);
    oc_add(c, k, OC_ADD, oc_c_mul(c, n, work / 2));
    oc_add(c, k, OC_MUL, oc_c_mul(c, n, work - work / 2));
    return 0;
}
static const char cost_det_formula[] =
    "ADD = N(o)*(work/2); MUL = N(o)*(work - work/2); work := 2*m*m*m/3; m := x[-1]";

static const struct oc_op rows[] = {
    {OC_OP_ROW("", "Det", 11, OTHER, NULL, shape_det), OC_COST(cost_det), .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "FusedGemm", 1, GEMM, "..b.", shape_gemm), OC_COST(cost_gemm)},
    {OC_OP_ROW("", "Gemm", 1, GEMM, "..b.", shape_gemm), OC_COST(cost_gemm)},
    {OC_OP_ROW("", "MatMul", 1, GEMM, NULL, shape_matmul), OC_COST(cost_matmul)},
    {OC_OP_ROW("", "MatMulInteger", 10, GEMM, "..q", shape_matmul_integer), OC_COST(cost_matmul_integer)},
    {OC_OP_ROW("com.microsoft", "MatMulInteger16", 1, GEMM, NULL, shape_matmul_integer),
     OC_COST(cost_matmul)},
    {OC_OP_ROW("com.microsoft", "QGemm", 1, GEMM, ".qq.qqbqq", shape_qgemm), OC_COST(cost_qgemm)},
    {OC_OP_ROW("", "QLinearMatMul", 10, GEMM, ".qq.qqqq", shape_qlinear_matmul),
     OC_COST(cost_qlinear_matmul)},
};
OC_FAMILY(matmul, rows);
