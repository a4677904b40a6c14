/* Quantizers of QONNX (qonnx.custom_op.general, fastmachinelearning/qonnx 1.0 at cc2ec17): floats in, floats
 * with the values of integers out. The exporter of Brevitas writes them in the domain onnx.brevitas. */
#include "ops/op.h"

/* The zero point is a float: absent, or known to be zero, it costs nothing. */
static bool has_zero_point(const struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 2);
    double v;
    for (uint32_t i = 0; d && i < d->n; i++)
        if (!oc_elem_known_real(&d->e[i], &v) || v != 0)
            return true;
    return oc_in(c, 2) && !d;
}

static void count_zero_point(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = has_zero_point(c) ? oc_c_mul(c, 2, oc_c_in(c, 0)) : 0; /* added, and subtracted */
    oc_tell(c, "zp", n);
    oc_add(c, k, OC_ADD, n);
}

/* x / scale + zero point, clamped, rounded, and back */
static int cost_quant(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims work[] = {{OC_DIV, 1}, {OC_CMP, 2}, {OC_RND, 1}, {OC_MUL, 1}, {0, 0}};
    oc_add_prims(c, k, work, oc_c_in(c, 0));
    count_zero_point(c, k);
    return 0;
}
static const char cost_quant_formula[] =
    "DIV = N(x); CMP = 2*N(x); RND = N(x); MUL = N(x); ADD = zp; zp := 0";

/* the sign times the scale */
static int cost_bipolar(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims work[] = {{OC_CMP, 1}, {OC_MUL, 1}, {0, 0}};
    oc_add_prims(c, k, work, oc_c_in(c, 0));
    return 0;
}
static const char cost_bipolar_formula[] = "CMP = N(x); MUL = N(x)";

/* Rounded by scale, divided by the scale of the truncation, rounded, and back; version 2, which has an output
 * scale and so 6 inputs, clamps too. */
static int cost_trunc(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims work[] = {{OC_DIV, 2}, {OC_RND, 2}, {OC_MUL, 1}, {0, 0}};
    uint64_t n = oc_c_in(c, 0);
    oc_add_prims(c, k, work, n);
    if (oc_in(c, 5))
        oc_add(c, k, OC_CMP, oc_c_mul(c, 2, n));
    count_zero_point(c, k);
    return 0;
}
static const char cost_trunc_formula[] =
    "DIV = 2*N(x); RND = 2*N(x); MUL = N(x); CMP = 2*[in5]*N(x); ADD = zp; zp := 0";

/* Every element is compared with the T thresholds of its channel, and the results are added. */
static int cost_thresholds(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct oc_shape *t = oc_in_shape(c, 1);
    if (!t->ranked || t->rank != 2) {
        c->unknown = true;
        return 0;
    }
    uint64_t n = oc_c_mul(c, oc_c_in(c, 0), oc_c_dim(c, t->dim[1]));
    oc_add(c, k, OC_CMP, n);
    oc_add(c, k, OC_ADD, n);
    return 0;
}
static const char cost_thresholds_formula[] = "CMP = N(x)*w[1]; ADD = N(x)*w[1]";

#define QUANT(n, s, co)                                                                                      \
    {                                                                                                        \
        .domain = "qonnx.custom_op.general", .name = (n), .since = 1, .op_class = OC_OP_QUANTIZE,            \
        .slots = (s), .shape = oc_shape_same, OC_COST(co)                                                    \
    }

static const struct oc_op rows[] = {
    QUANT("BipolarQuant", ".q", cost_bipolar),      QUANT("IntQuant", ".qqq", cost_quant),
    QUANT("MultiThreshold", "..", cost_thresholds), QUANT("Quant", ".qqq", cost_quant),
    QUANT("Trunc", ".qqqqq", cost_trunc),
};
extern const struct oc_op_family oc_ops_qonnx;
const struct oc_op_family oc_ops_qonnx = OC_FAMILY("qonnx", rows);
