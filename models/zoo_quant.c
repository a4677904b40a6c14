/* The layers of networks that exist in floating point and quantized: in floating point, between pairs of
 * QuantizeLinear and DequantizeLinear (QDQ), as integer operators (QOperator), or with scales computed at run
 * time (dynamic: only convolutions, one scale for all weights). Names, types and the order of inputs follow
 * onnxruntime.quantization: activations uint8, weights int8 with per-channel scales, biases int32; batch norm
 * is folded into the convolution, and an activation that only clips is expressed by the range of its tensor.
 */
#include <math.h>
#include <string.h>

#include "zoo.h"

static const struct {
    double low, high;
} ranges[] = {
    [ZOO_RANGE_INPUT] = {-1, 1}, [ZOO_RANGE_LINEAR] = {-4, 4}, [ZOO_RANGE_RELU] = {0, 4},
    [ZOO_RANGE_RELU6] = {0, 6},  [ZOO_RANGE_SUM] = {-8, 8},    [ZOO_RANGE_SUM_RELU] = {0, 8},
    [ZOO_RANGE_MEAN] = {0, 2},
};

static struct zoo_value value_of(const char *name)
{
    return (struct zoo_value){.name = name};
}

/* ---- floating point ------------------------------------------------------------------------------------ */

static struct zoo_value float_input(struct zoo *z, const char *x)
{
    (void)z;
    return value_of(x);
}

static struct zoo_value float_conv(struct zoo *z, struct zoo_value x, const struct zoo_conv *c,
                                   enum zoo_range range)
{
    (void)range;
    return value_of(zoo_conv(z, x.name, c));
}

static struct zoo_value float_norm(struct zoo *z, struct zoo_value x, int channels)
{
    return value_of(zoo_batch_norm(z, x.name, channels));
}

static struct zoo_value float_relu(struct zoo *z, struct zoo_value x)
{
    return value_of(zoo_op(z, "Relu", x.name, ""));
}

static struct zoo_value float_relu6(struct zoo *z, struct zoo_value x)
{
    const char *low = zoo_const(z, "float[]{0}"), *high = zoo_const(z, "float[]{6}");
    return value_of(zoo_op(z, "Clip", zoo_text(z, "%s,%s,%s", x.name, low, high), ""));
}

static struct zoo_value float_add(struct zoo *z, struct zoo_value x, struct zoo_value y, enum zoo_range range)
{
    (void)range;
    return value_of(zoo_op2(z, "Add", x.name, y.name, ""));
}

static struct zoo_value float_moved(struct zoo *z, const char *op_type, struct zoo_value x,
                                    const char *attributes)
{
    return value_of(zoo_op(z, op_type, x.name, attributes));
}

static struct zoo_value float_mean(struct zoo *z, struct zoo_value x)
{
    return value_of(zoo_op(z, "GlobalAveragePool", x.name, ""));
}

static void float_gemm(struct zoo *z, struct zoo_value x, const char *output, int in, int out)
{
    zoo_gemm(z, x.name, output, in, out);
}

const struct zoo_net zoo_float_net = {float_input, float_conv,  float_norm, float_relu, float_relu6,
                                      float_add,   float_moved, float_mean, float_gemm};

/* ---- scales and weights of both kinds ------------------------------------------------------------------ */

static struct zoo_value same_value(struct zoo *z, struct zoo_value x, int channels)
{
    (void)z;
    (void)channels;
    return x;
}

static struct zoo_value clipped(struct zoo *z, struct zoo_value x)
{
    (void)z;
    return x;
}

static const char *constant(struct zoo *z, const char *name, const char *tensor)
{
    oc_b_init(z->b, name, tensor);
    return name;
}

/* Scale and zero point of an activation tensor; its integer tensor is not named yet. */
static struct zoo_value scaled(struct zoo *z, const char *tensor, enum zoo_range range)
{
    double low = ranges[range].low, step = (ranges[range].high - low) / 255;
    struct zoo_value v = {.step = step, .clipped = low >= 0};
    v.scale = constant(z, zoo_text(z, "%s_scale", tensor), zoo_text(z, "float[]{%.9g}", step));
    v.zero = constant(z, zoo_text(z, "%s_zero_point", tensor),
                      zoo_text(z, "uint8[]{%d}", (int)floor(-low / step + 0.5)));
    return v;
}

/* An integer parameter. base: its name in floating point; infix: the text between base and "_scale" */
struct quantized {
    const char *base, *infix, *type, *ints;
    int channels;
    double step;
};

static struct quantized quantized(struct zoo *z, struct quantized q, const char *sizes)
{
    q.ints = zoo_text(z, "%s_quantized", q.base);
    zoo_param_named(z, q.ints, zoo_text(z, "%s[%s]", q.type, sizes), ZOO_WEIGHT, 0);
    return q;
}

/* The integers with a scale and a zero point per channel. */
static const char *with_scales(struct zoo *z, const struct quantized *q)
{
    const char *scale = constant(z, zoo_text(z, "%s%s_scale", q->base, q->infix),
                                 zoo_text(z, "float[%d]{*%.9g}", q->channels, q->step));
    const char *zero = constant(z, zoo_text(z, "%s%s_zero_point", q->base, q->infix),
                                zoo_text(z, "%s[%d]{*0}", q->type, q->channels));
    return zoo_text(z, "%s,%s,%s", q->ints, scale, zero);
}

/* 127 steps cover the range of the uniform floating-point weights. A Relu removes half of the power: twice
 * the variance. */
static struct quantized weight(struct zoo *z, const char *base, const char *type, struct zoo_value x, int out,
                               int fan_in, const char *sizes)
{
    double half = sqrt((x.clipped ? 6.0 : 3.0) / fan_in);
    struct quantized q = {.base = base, .infix = "", .type = type, .channels = out, .step = half / 127};
    return quantized(z, q, zoo_text(z, "%d,%s", out, sizes));
}

/* The step of a bias is the product of the steps of activation and weight. */
static struct quantized bias(struct zoo *z, const char *base, struct zoo_value x, double weight_step, int out)
{
    struct quantized q = {.base = base, .infix = "_quantized", .type = "int32", .channels = out};
    q.step = x.step * weight_step;
    return quantized(z, q, zoo_text(z, "%d", out));
}

/* Batch norm is folded: weight and bias are constants of the exporter. */
static void conv_params(struct zoo *z, struct zoo_value x, const struct zoo_conv *c, struct quantized *w,
                        struct quantized *b)
{
    int per_group = c->in / c->group, k = c->kernel;
    unsigned id = z->next_id;
    z->next_id += 2;
    *w = weight(z, zoo_text(z, "onnx::Conv_%u", id), "int8", x, c->out, per_group * k * k,
                zoo_text(z, "%d,%d,%d", per_group, k, k));
    *b = bias(z, zoo_text(z, "onnx::Conv_%u", id + 1), x, w->step, c->out);
}

static void gemm_params(struct zoo *z, struct zoo_value x, int in, int out, struct quantized *w,
                        struct quantized *b)
{
    *w = weight(z, zoo_text(z, "%sweight", z->prefix), "int8", x, out, in, zoo_text(z, "%d", in));
    *b = bias(z, zoo_text(z, "%sbias", z->prefix), x, w->step, out);
}

static const char *triple(struct zoo *z, const struct zoo_value *x)
{
    return zoo_text(z, "%s,%s,%s", x->name, x->scale, x->zero);
}

/* ---- QDQ ----------------------------------------------------------------------------------------------- */

/* QuantizeLinear and DequantizeLinear after `tensor`, with the scale of `v`. */
static struct zoo_value pair_to(struct zoo *z, const char *tensor, const char *from, const char *to,
                                struct zoo_value v)
{
    const char *ints = zoo_text(z, "%s_QuantizeLinear_Output", tensor);
    oc_b_node(z->b, "QuantizeLinear", zoo_text(z, "%s_QuantizeLinear", tensor),
              zoo_text(z, "%s,%s,%s", from, v.scale, v.zero), ints, "");
    oc_b_node(z->b, "DequantizeLinear", zoo_text(z, "%s_DequantizeLinear", tensor),
              zoo_text(z, "%s,%s,%s", ints, v.scale, v.zero), to, "");
    v.name = to;
    return v;
}

static struct zoo_value pair(struct zoo *z, const char *tensor, struct zoo_value v)
{
    return pair_to(z, tensor, tensor, zoo_text(z, "%s_DequantizeLinear_Output", tensor), v);
}

static const char *dequantized(struct zoo *z, const struct quantized *q)
{
    const char *out = zoo_text(z, "%s_DequantizeLinear_Output", q->base);
    oc_b_node(z->b, "DequantizeLinear", zoo_text(z, "%s_DequantizeLinear", q->base), with_scales(z, q), out,
              "axis=0");
    return out;
}

static struct zoo_value qdq_input(struct zoo *z, const char *x)
{
    return pair(z, x, scaled(z, x, ZOO_RANGE_INPUT));
}

static struct zoo_value qdq_conv(struct zoo *z, struct zoo_value x, const struct zoo_conv *c,
                                 enum zoo_range range)
{
    struct quantized w, b;
    conv_params(z, x, c, &w, &b);
    const char *real_w = dequantized(z, &w), *real_b = dequantized(z, &b);
    const char *y =
        zoo_op(z, "Conv", zoo_text(z, "%s,%s,%s", x.name, real_w, real_b), zoo_conv_attributes(z, c));
    return pair(z, y, scaled(z, y, range));
}

static struct zoo_value qdq_add(struct zoo *z, struct zoo_value x, struct zoo_value y, enum zoo_range range)
{
    const char *sum = zoo_op2(z, "Add", x.name, y.name, "");
    return pair(z, sum, scaled(z, sum, range));
}

static struct zoo_value qdq_moved(struct zoo *z, const char *op_type, struct zoo_value x,
                                  const char *attributes)
{
    return pair(z, zoo_op(z, op_type, x.name, attributes), x);
}

static struct zoo_value qdq_mean(struct zoo *z, struct zoo_value x)
{
    const char *y = zoo_op(z, "GlobalAveragePool", x.name, "");
    return pair(z, y, scaled(z, y, ZOO_RANGE_MEAN));
}

static void qdq_gemm(struct zoo *z, struct zoo_value x, const char *output, int in, int out)
{
    struct quantized w, b;
    gemm_params(z, x, in, out, &w, &b);
    const char *real_w = dequantized(z, &w), *real_b = dequantized(z, &b);
    const char *y = zoo_text(z, "%s_QuantizeLinear_Input", output);
    zoo_op_to(z, "Gemm", zoo_text(z, "%s,%s,%s", x.name, real_w, real_b), y, "alpha=1.0 beta=1.0 transB=1");
    pair_to(z, output, y, output, scaled(z, output, ZOO_RANGE_LINEAR));
}

const struct zoo_net zoo_qdq_net = {qdq_input, qdq_conv,  same_value, clipped, clipped,
                                    qdq_add,   qdq_moved, qdq_mean,   qdq_gemm};

/* ---- QOperator ----------------------------------------------------------------------------------------- */

/* A node named after the one in floating point; `v` gets its output's name. */
static struct zoo_value on_ints(struct zoo *z, const char *op_type, const char *node, const char *inputs,
                                const char *attributes, struct zoo_value v)
{
    v.name = zoo_text(z, "%s_output_0_quantized", node);
    oc_b_node(z->b, op_type, zoo_text(z, "%s_quant", node), inputs, v.name, attributes);
    return v;
}

static struct zoo_value scaled_output(struct zoo *z, const char *node, enum zoo_range range)
{
    return scaled(z, zoo_text(z, "%s_output_0", node), range);
}

static struct zoo_value qop_input(struct zoo *z, const char *x)
{
    struct zoo_value v = scaled(z, x, ZOO_RANGE_INPUT);
    oc_b_opset(z->b, "com.microsoft", 1);
    v.name = zoo_text(z, "%s_quantized", x);
    oc_b_node(z->b, "QuantizeLinear", zoo_text(z, "%s_QuantizeLinear", x),
              zoo_text(z, "%s,%s,%s", x, v.scale, v.zero), v.name, "");
    return v;
}

static struct zoo_value qop_conv(struct zoo *z, struct zoo_value x, const struct zoo_conv *c,
                                 enum zoo_range range)
{
    const char *node = zoo_node_name(z, "Conv");
    struct zoo_value y = scaled_output(z, node, range);
    struct quantized w, b;
    conv_params(z, x, c, &w, &b);
    return on_ints(z, "QLinearConv", node,
                   zoo_text(z, "%s,%s,%s,%s,%s", triple(z, &x), with_scales(z, &w), y.scale, y.zero, b.ints),
                   zoo_conv_attributes(z, c), y);
}

static struct zoo_value qop_add(struct zoo *z, struct zoo_value x, struct zoo_value y, enum zoo_range range)
{
    const char *node = zoo_node_name(z, "Add");
    struct zoo_value sum = scaled_output(z, node, range);
    return on_ints(z, "com.microsoft::QLinearAdd", node,
                   zoo_text(z, "%s,%s,%s,%s", triple(z, &x), triple(z, &y), sum.scale, sum.zero), "", sum);
}

static struct zoo_value qop_moved(struct zoo *z, const char *op_type, struct zoo_value x,
                                  const char *attributes)
{
    const char *node = zoo_node_name(z, op_type);
    struct zoo_value y = x;
    y.name = zoo_text(z, "%s_output_0_quantized", node);
    oc_b_node(z->b, op_type, node, x.name, y.name, attributes);
    return y;
}

static struct zoo_value qop_mean(struct zoo *z, struct zoo_value x)
{
    const char *node = zoo_node_name(z, "GlobalAveragePool");
    struct zoo_value y = scaled_output(z, node, ZOO_RANGE_MEAN);
    return on_ints(z, "com.microsoft::QLinearGlobalAveragePool", node,
                   zoo_text(z, "%s,%s,%s", triple(z, &x), y.scale, y.zero), "channels_last=0", y);
}

static void qop_gemm(struct zoo *z, struct zoo_value x, const char *output, int in, int out)
{
    const char *node = zoo_node_name(z, "Gemm"), *ints = zoo_text(z, "%s_quantized", output);
    struct zoo_value y = scaled(z, output, ZOO_RANGE_LINEAR);
    struct quantized w, b;
    gemm_params(z, x, in, out, &w, &b);
    oc_b_node(z->b, "com.microsoft::QGemm", zoo_text(z, "%s_quant", node),
              zoo_text(z, "%s,%s,%s,%s,%s", triple(z, &x), with_scales(z, &w), b.ints, y.scale, y.zero), ints,
              "alpha=1.0 transB=1");
    oc_b_node(z->b, "DequantizeLinear", zoo_text(z, "%s_DequantizeLinear", output),
              zoo_text(z, "%s,%s,%s", ints, y.scale, y.zero), output, "");
}

const struct zoo_net zoo_qoperator_net = {qop_input, qop_conv,  same_value, clipped, clipped,
                                          qop_add,   qop_moved, qop_mean,   qop_gemm};

/* ---- dynamic ------------------------------------------------------------------------------------------- */

/* The integers of a tensor; a second reader reuses those of the first. */
static const char *integers(struct zoo *z, const char *x)
{
    const char *node = zoo_text(z, "%s_QuantizeLinear", x), *ints = zoo_text(z, "%s_quantized", x);
    uint32_t one = 1;
    if (!oc_map_add(&z->counts, node, strlen(node), &one, NULL))
        return ints;
    oc_b_node(z->b, "DynamicQuantizeLinear", node, x, zoo_text(z, "%s,%s_scale,%s_zero_point", ints, x, x),
              "");
    return ints;
}

static struct zoo_value dynamic_conv(struct zoo *z, struct zoo_value x, const struct zoo_conv *c,
                                     enum zoo_range range)
{
    int per_group = c->in / c->group, k = c->kernel;
    const char *node = zoo_node_name(z, "Conv"), *y = zoo_text(z, "%s_output_0", node);
    const char *ints = integers(z, x.name), *w = zoo_text(z, "onnx::Conv_%u", z->next_id++);
    const char *b = zoo_text(z, "onnx::Conv_%u", z->next_id++), *sum = zoo_text(z, "%s_output_quantized", y);
    struct quantized q = weight(z, w, "uint8", (struct zoo_value){.clipped = range != ZOO_RANGE_LINEAR},
                                c->out, per_group * k * k, zoo_text(z, "%d,%d,%d", per_group, k, k));
    const char *scale = constant(z, zoo_text(z, "%s_scale", w), zoo_text(z, "float[]{%.9g}", q.step));
    const char *zero = constant(z, zoo_text(z, "%s_zero_point", w), "uint8[]{128}");
    const char *shape = constant(z, zoo_text(z, "%s_bias_reshape_shape", y), "int64[4]{1,-1,1,1}");
    zoo_param_named(z, b, zoo_text(z, "float[%d]", c->out), ZOO_SMALL, (int64_t)per_group * k * k);
    oc_b_node(z->b, "ConvInteger", zoo_text(z, "%s_quant", node),
              zoo_text(z, "%s,%s,%s_zero_point,%s", ints, q.ints, x.name, zero), sum,
              zoo_conv_attributes(z, c));
    oc_b_node(z->b, "Cast", zoo_text(z, "%s_cast", sum), sum, zoo_text(z, "%s_cast_output", sum), "to=1");
    oc_b_node(z->b, "Mul", zoo_text(z, "%s_quant_scales_mul", node),
              zoo_text(z, "%s_scale,%s", x.name, scale), zoo_text(z, "%s_quant_scales_mul:0", node), "");
    oc_b_node(z->b, "Mul", zoo_text(z, "%s_quant_output_scale_mul", node),
              zoo_text(z, "%s_cast_output,%s_quant_scales_mul:0", sum, node),
              zoo_text(z, "%s_quant_output_scale_mul:0", node), "");
    oc_b_node(z->b, "Reshape", zoo_text(z, "%s_bias_reshape", y), zoo_text(z, "%s,%s", b, shape),
              zoo_text(z, "%s_bias_reshape_output", y), "");
    oc_b_node(z->b, "Add", zoo_text(z, "%s_bias_add", y),
              zoo_text(z, "%s_quant_output_scale_mul:0,%s_bias_reshape_output", node, y), y, "");
    return value_of(y);
}

const struct zoo_net zoo_dynamic_net = {float_input, dynamic_conv, same_value, float_relu, float_relu6,
                                        float_add,   float_moved,  float_mean, float_gemm};
