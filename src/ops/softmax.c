/* Softmax, related operators and the losses based on it. cost-semantics 4.4, shape-inference 4.4. */
#include "ops/shared_rules.h"

#include <string.h>

void oc_add_softmax(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n)
{
    static const struct oc_prims each[] = {{OC_CMP, 1}, {OC_ADD, 2}, {OC_EXP, 1}, {OC_DIV, 1}, {0, 0}};
    oc_add_prims(c, k, each, n);
}

/* Before version 13 the axes from `axis` (1 by default) on are flattened to one; since then one axis (-1). */
static bool is_flat(const struct oc_op_ctx *c)
{
    return c->node->domain[0] == '\0' && c->opset >= 1 && c->opset < 13;
}

static int softmax_axis(struct oc_op_ctx *c, unsigned *axis)
{
    unsigned rank = oc_in_shape(c, 0)->rank;
    int64_t a = oc_attr_i(c, "axis", is_flat(c) ? 1 : -1);
    *axis = is_flat(c) ? rank : 0;
    if (rank == 0 || (is_flat(c) && a == rank) || oc_axis(a, rank, axis))
        return 0;
    return oc_op_fail(c, "axis %lld is out of range for rank %u", (long long)a, rank);
}

static int shape_softmax(struct oc_op_ctx *c)
{
    unsigned axis;
    return softmax_axis(c, &axis) ? -1 : oc_shape_same(c);
}

static int softmax_rows(struct oc_op_ctx *c, uint64_t *rows)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    unsigned axis;
    if (softmax_axis(c, &axis))
        return -1;
    *rows = oc_c_range(c, x, 0, axis);
    if (!is_flat(c) && x->rank)
        *rows = oc_c_mul(c, *rows, oc_c_range(c, x, axis + 1, x->rank));
    return 0;
}

static int cost_softmax(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add_softmax(c, k, oc_c_out(c, 0));
    return 0;
}
static const char cost_softmax_formula[] = "CMP = N(o); ADD = 2*N(o); EXP = N(o); DIV = N(o)";

static int cost_bias_softmax(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add_softmax(c, k, oc_c_out(c, 0));
    oc_add(c, k, OC_ADD, oc_c_out(c, 0));
    return 0;
}
static const char cost_bias_softmax_formula[] = "CMP = N(o); ADD = 3*N(o); EXP = N(o); DIV = N(o)";

static int cost_qlinear_softmax(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_out(c, 0);
    oc_add_prims(c, k, oc_prims_dequantize, n);
    oc_add_softmax(c, k, n);
    oc_add_prims(c, k, oc_prims_requantize, n);
    return 0;
}
static const char cost_qlinear_softmax_formula[] =
    "dequantize = N(o); CMP = N(o); ADD = 2*N(o); EXP = N(o); DIV = N(o); requantize = N(o)";

static void add_log_softmax(struct oc_op_ctx *c, struct oc_cost *k, uint64_t n, uint64_t rows)
{
    oc_add(c, k, OC_CMP, n);
    oc_add(c, k, OC_ADD, oc_c_mul(c, 3, n));
    oc_add(c, k, OC_EXP, n);
    oc_add(c, k, OC_LOG, rows);
}

static int cost_log_softmax(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t rows;
    if (softmax_rows(c, &rows))
        return -1;
    oc_add_formula_value(c, "R", rows);
    add_log_softmax(c, k, oc_c_out(c, 0), rows);
    return 0;
}
static const char cost_log_softmax_formula[] = "CMP = n; ADD = 3*n; EXP = n; LOG = R; n := N(o)";

static int cost_hardmax(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add(c, k, OC_CMP, oc_c_out(c, 0));
    return 0;
}
static const char cost_hardmax_formula[] = "CMP = N(o)";

/* ---- losses ------------------------------------------------------------------------------------------- */

static int shape_loss(struct oc_op_ctx *c)
{
    bool each = strcmp(oc_attr_s(c, "reduction", "mean"), "none") == 0;
    oc_set_out(c, 0, oc_in_dtype(c, 0), each ? *oc_in_shape(c, 1) : oc_shape_scalar());
    oc_set_out_type(c, 1, oc_in(c, 0)); /* log_prob */
    return 0;
}

/* Selects and sums over r labels. `weight_mul`: multiplications per label when weights are given. */
static void add_loss(struct oc_op_ctx *c, struct oc_cost *k, unsigned weight_mul, bool weight_sum)
{
    uint64_t r = oc_c_in(c, 1);
    const char *reduction = oc_attr_s(c, "reduction", "mean");
    bool mean = strcmp(reduction, "mean") == 0, weights = oc_in(c, 2) != NULL;
    oc_add(c, k, OC_CMP, r);
    if (weights)
        oc_add(c, k, OC_MUL, oc_c_mul(c, weight_mul, r));
    if (strcmp(reduction, "none") != 0)
        oc_add(c, k, OC_ADD, r);
    if (mean && weights && weight_sum)
        oc_add(c, k, OC_ADD, r);
    if (mean)
        oc_add(c, k, OC_DIV, 1);
}

static int cost_cross_entropy(struct oc_op_ctx *c, struct oc_cost *k)
{
    add_log_softmax(c, k, oc_c_in(c, 0), oc_c_in(c, 1));
    add_loss(c, k, 2, false);
    return 0;
}
static const char cost_cross_entropy_formula[] =
    "CMP = n + r; ADD = 3*n + [reduction:mean != none]*r; EXP = n; LOG = r; MUL = 2*[in2]*r; "
    "DIV = [reduction:mean == mean]; n := N(x); r := N(w)";

static int cost_nll(struct oc_op_ctx *c, struct oc_cost *k)
{
    add_loss(c, k, 1, true);
    return 0;
}
static const char cost_nll_formula[] =
    "CMP = r; MUL = [in2]*r; ADD = [reduction:mean != none]*r + [in2]*[reduction:mean == mean]*r; "
    "DIV = [reduction:mean == mean]; r := N(w)";

#define SOFTMAX(d, n, s, co)                                                                                 \
    .domain = (d), .name = (n), .since = 1, .op_class = OC_OP_SOFTMAX, .slots = (s), .shape = shape_softmax, \
    OC_COST(co)

static const struct oc_op rows[] = {
    {OC_OP_ROW("com.microsoft", "BiasSoftmax", 1, SOFTMAX, NULL, oc_shape_same), OC_COST(cost_bias_softmax)},
    {SOFTMAX("", "Hardmax", NULL, cost_hardmax)},
    {SOFTMAX("", "LogSoftmax", NULL, cost_log_softmax), .flags = OC_F_FUNCTION | OC_F_COUNT_BY_DEFAULTS,
     .in_place = OC_SLOT_0},
    {OC_OP_ROW("", "NegativeLogLikelihoodLoss", 12, REDUCE, NULL, shape_loss), OC_COST(cost_nll),
     .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "QLinearSoftmax", 1, SOFTMAX, ".q", oc_shape_same),
     OC_COST(cost_qlinear_softmax)},
    {SOFTMAX("", "Softmax", NULL, cost_softmax),
     .flags = OC_F_FUNCTION | OC_F_KEEPS_SHAPE | OC_F_COUNT_BY_TYPES, .in_place = OC_SLOT_0},
    {OC_OP_ROW("", "SoftmaxCrossEntropyLoss", 12, SOFTMAX, NULL, shape_loss), OC_COST(cost_cross_entropy),
     .flags = OC_F_FUNCTION},
    {OC_OP_ROW("com.microsoft", "SoftmaxCrossEntropyLossInternal", 1, SOFTMAX, "...m", shape_loss),
     OC_COST(cost_cross_entropy)},
};
OC_FAMILY(softmax, rows);
