#include "zoo.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "shape/type.h"

void zoo_init(struct zoo *z, int opset)
{
    *z = (struct zoo){.b = oc_b_new(opset),
                      .net = &zoo_float_net,
                      .next_id = 1000,
                      .norm_attributes = "epsilon=1e-5 momentum=0.9 training_mode=0"};
    z->counts.arena = oc_b_arena(z->b);
    Onnx__ModelProto *m = oc_b_model(z->b);
    m->producer_name = zoo_text(z, "onnxzoo");
    m->graph->name = zoo_text(z, "main_graph");
}

void zoo_free(struct zoo *z)
{
    oc_map_free(&z->counts);
    free(z->param);
    oc_b_free(z->b);
}

char *zoo_text(struct zoo *z, const char *fmt, ...)
{
    struct oc_arena *a = oc_b_arena(z->b);
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, ap) + 1;
    char *s = oc_alloc(a, n);
    vsnprintf(s, n, fmt, again);
    va_end(again);
    va_end(ap);
    return s;
}

/* ---- module path --------------------------------------------------------------------------------------- */

static struct zoo_place descend(struct zoo *z, const char *scope, const char *prefix)
{
    struct zoo_place here = {strlen(z->scope), strlen(z->prefix)};
    snprintf(z->scope + here.scope, sizeof(z->scope) - here.scope, "/%s", scope);
    snprintf(z->prefix + here.prefix, sizeof(z->prefix) - here.prefix, "%s.", prefix);
    return here;
}

struct zoo_place zoo_enter(struct zoo *z, const char *module)
{
    return descend(z, module, module);
}

struct zoo_place zoo_child(struct zoo *z, int index)
{
    const char *last = strrchr(z->scope, '/');
    return descend(z, zoo_text(z, "%s.%d", last ? last + 1 : "", index), zoo_text(z, "%d", index));
}

void zoo_leave(struct zoo *z, struct zoo_place place)
{
    z->scope[place.scope] = '\0';
    z->prefix[place.prefix] = '\0';
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

/* "<scope>/<op>", and from the second on "<scope>/<op>_1". */
const char *zoo_node_name(struct zoo *z, const char *op_type)
{
    const char *base = zoo_text(z, "%s/%s", z->scope, op_type);
    uint32_t used = oc_map_get(&z->counts, base, strlen(base));
    used = used == OC_NONE ? 0 : used;
    oc_map_set(&z->counts, base, strlen(base), used + 1);
    return used ? zoo_text(z, "%s_%u", base, used) : base;
}

const char *zoo_op_to(struct zoo *z, const char *op_type, const char *inputs, const char *outputs,
                      const char *attributes)
{
    oc_b_node(z->b, op_type, zoo_node_name(z, op_type), inputs, outputs, attributes);
    return outputs;
}

const char *zoo_op(struct zoo *z, const char *op_type, const char *inputs, const char *attributes)
{
    const char *name = zoo_node_name(z, op_type);
    const char *out = zoo_text(z, "%s_output_0", name);
    oc_b_node(z->b, op_type, name, inputs, out, attributes);
    return out;
}

const char *zoo_op2(struct zoo *z, const char *op_type, const char *x, const char *y, const char *attributes)
{
    return zoo_op(z, op_type, zoo_text(z, "%s,%s", x, y), attributes);
}

const char *zoo_const(struct zoo *z, const char *tensor)
{
    return zoo_op(z, "Constant", "", zoo_text(z, "value=%s", tensor));
}

const char *zoo_param_named(struct zoo *z, const char *name, const char *type, enum zoo_fill fill,
                            int64_t fan_in)
{
    Onnx__TensorProto *t = oc_b_init(z->b, name, type);
    uint64_t elements = 1;
    for (size_t i = 0; i < t->n_dims; i++)
        elements *= (uint64_t)t->dims[i];
    OC_GROW(z->param, z->n_param, z->cap_param);
    z->param[z->n_param++] = (struct zoo_param){
        t, elements, elements * oc_dtype_info((unsigned)t->data_type)->bits / 8, fan_in, (uint8_t)fill};
    return t->name;
}

const char *zoo_param(struct zoo *z, const char *name, const char *type, enum zoo_fill fill, int64_t fan_in)
{
    return zoo_param_named(z, zoo_text(z, "%s%s", z->prefix, name), type, fill, fan_in);
}

/* ---- layers -------------------------------------------------------------------------------------------- */

void zoo_image_input(struct zoo *z)
{
    oc_b_input(z->b, "input", z->symbolic_hw ? "float[batch,3,height,width]" : "float[batch,3,224,224]");
}

const char *zoo_conv_attributes(struct zoo *z, const struct zoo_conv *c)
{
    int k = c->kernel;
    return zoo_text(z, "dilations=1,1 group=%d kernel_shape=%d,%d pads=%d,%d,%d,%d strides=%d,%d", c->group,
                    k, k, c->pad, c->pad, c->pad, c->pad, c->stride, c->stride);
}

const char *zoo_conv(struct zoo *z, const char *x, const struct zoo_conv *c)
{
    int per_group = c->in / c->group, k = c->kernel;
    const char *w = zoo_param(z, "weight", zoo_text(z, "float[%d,%d,%d,%d]", c->out, per_group, k, k),
                              ZOO_WEIGHT, (int64_t)per_group * k * k);
    const char *in = zoo_text(z, "%s,%s", x, w);
    if (c->bias)
        in = zoo_text(z, "%s,%s", in, zoo_param(z, "bias", zoo_text(z, "float[%d]", c->out), ZOO_SMALL, 0));
    return zoo_op(z, "Conv", in, zoo_conv_attributes(z, c));
}

const char *zoo_batch_norm(struct zoo *z, const char *x, int channels)
{
    const char *type = zoo_text(z, "float[%d]", channels);
    const char *scale = zoo_param(z, "weight", type, ZOO_ONE, 0);
    const char *bias = zoo_param(z, "bias", type, ZOO_SMALL, 0);
    const char *mean = zoo_param(z, "running_mean", type, ZOO_SMALL, 0);
    const char *var = zoo_param(z, "running_var", type, ZOO_ONE, 0);
    return zoo_op(z, "BatchNormalization", zoo_text(z, "%s,%s,%s,%s,%s", x, scale, bias, mean, var),
                  z->norm_attributes);
}

const char *zoo_layer_norm(struct zoo *z, const char *x, int width, const char *epsilon)
{
    const char *type = zoo_text(z, "float[%d]", width);
    const char *scale = zoo_param(z, "weight", type, ZOO_ONE, 0);
    const char *bias = zoo_param(z, "bias", type, ZOO_SMALL, 0);
    return zoo_op(z, "LayerNormalization", zoo_text(z, "%s,%s,%s", x, scale, bias),
                  zoo_text(z, "axis=-1 epsilon=%s", epsilon));
}

const char *zoo_linear(struct zoo *z, const char *x, int in, int out)
{
    const char *bias = zoo_param(z, "bias", zoo_text(z, "float[%d]", out), ZOO_SMALL, 0);
    const char *w = zoo_param_named(z, zoo_text(z, "onnx::MatMul_%u", z->next_id++),
                                    zoo_text(z, "float[%d,%d]", in, out), ZOO_WEIGHT, in);
    return zoo_op2(z, "Add", bias, zoo_op2(z, "MatMul", x, w, ""), "");
}

const char *zoo_gemm(struct zoo *z, const char *x, const char *out_name, int in, int out)
{
    const char *w = zoo_param(z, "weight", zoo_text(z, "float[%d,%d]", out, in), ZOO_WEIGHT, in);
    const char *bias = zoo_param(z, "bias", zoo_text(z, "float[%d]", out), ZOO_SMALL, 0);
    const char *inputs = zoo_text(z, "%s,%s,%s", x, w, bias), *attributes = "alpha=1.0 beta=1.0 transB=1";
    return out_name ? zoo_op_to(z, "Gemm", inputs, out_name, attributes)
                    : zoo_op(z, "Gemm", inputs, attributes);
}

/* x * (1 + erf(x / sqrt 2)) * 0.5 */
const char *zoo_gelu_erf(struct zoo *z, const char *x)
{
    const char *root = zoo_const(z, "float[]{1.4142135381698608}");
    const char *erf = zoo_op(z, "Erf", zoo_op2(z, "Div", x, root, ""), "");
    const char *one = zoo_op2(z, "Add", erf, zoo_const(z, "float[]{1}"), "");
    const char *half = zoo_const(z, "float[]{0.5}");
    return zoo_op2(z, "Mul", zoo_op2(z, "Mul", x, one, ""), half, "");
}

/* ---- shapes -------------------------------------------------------------------------------------------- */

const char *zoo_size(struct zoo *z, const char *x, int axis)
{
    const char *shape = zoo_op(z, "Shape", x, "");
    return zoo_op2(z, "Gather", shape, zoo_const(z, zoo_text(z, "int64[]{%d}", axis)), "axis=0");
}

const char *zoo_unsqueeze(struct zoo *z, const char *x, int axis)
{
    return zoo_op2(z, "Unsqueeze", x, zoo_const(z, zoo_text(z, "int64[1]{%d}", axis)), "");
}

const char *zoo_view(struct zoo *z, const char *x, const struct zoo_dim *dims, size_t n)
{
    struct oc_buf parts = {0};
    for (size_t i = 0; i < n; i++) {
        const char *one = dims[i].scalar ? zoo_unsqueeze(z, dims[i].scalar, 0)
                                         : zoo_const(z, zoo_text(z, "int64[1]{%d}", dims[i].number));
        oc_buf_printf(&parts, "%s%s", i ? "," : "", one);
    }
    const char *shape = zoo_op(z, "Concat", parts.data, "axis=0");
    oc_buf_free(&parts);
    return zoo_op2(z, "Reshape", x, shape, "allowzero=0");
}

const char *zoo_transpose(struct zoo *z, const char *x, const char *perm)
{
    return zoo_op(z, "Transpose", x, zoo_text(z, "perm=%s", perm));
}

const char *zoo_slice(struct zoo *z, const char *x, const char *starts, const char *ends, int axis)
{
    const char *axes = zoo_const(z, zoo_text(z, "int64[1]{%d}", axis));
    const char *steps = zoo_const(z, "int64[1]{1}");
    return zoo_op(z, "Slice", zoo_text(z, "%s,%s,%s,%s,%s", x, starts, ends, axes, steps), "");
}
