/* ViT-B/16 at 224x224: Dosovitskiy et al. 2020, as in torchvision (packed in-projection, sequence-first
 * attention, scaled dot-product attention with the scale computed in the graph). */
#include "zoo.h"

enum { WIDTH = 768, HEADS = 12, HEAD = 64, MLP = 3072, LAYERS = 12, PATCHES = 196 };

/* 1 / head^(1/4), applied to both factors of the product, from the run-time size of the head. */
static const char *root_scale(struct zoo *z, const char *q)
{
    const char *minus_one = zoo_const(z, "int64[1]{-1}"),
               *end = zoo_const(z, "int64[1]{9223372036854775807}");
    const char *head =
        zoo_op(z, "Slice", zoo_text(z, "%s,%s,%s", zoo_op(z, "Shape", q, ""), minus_one, end), "");
    const char *root = zoo_op(z, "Sqrt", zoo_op(z, "Cast", head, "to=1"), "");
    return zoo_op(z, "Sqrt", zoo_op2(z, "Div", zoo_const(z, "float[1]{1}"), root, ""), "");
}

static const char *heads(struct zoo *z, const char *qkv, int index, const char *seq, const char *batch)
{
    const char *x = zoo_op2(z, "Gather", qkv, zoo_const(z, zoo_text(z, "int64[]{%d}", index)), "axis=0");
    const char *rows = zoo_op2(z, "Mul", batch, zoo_const(z, zoo_text(z, "int64[]{%d}", HEADS)), "");
    x = zoo_transpose(z, ZOO_VIEW(z, x, {seq, 0}, {rows, 0}, {NULL, HEAD}), "1,0,2");
    return ZOO_VIEW(z, x, {batch, 0}, {NULL, HEADS}, {seq, 0}, {NULL, HEAD});
}

/* [seq, batch, 3 * width] to [3, seq, batch, width] */
static const char *unpack(struct zoo *z, const char *x, const char *seq, const char *batch)
{
    x = ZOO_VIEW(z, x, {seq, 0}, {batch, 0}, {NULL, 3}, {NULL, WIDTH});
    x = zoo_transpose(z, zoo_unsqueeze(z, x, 0), "3,1,2,0,4");
    return zoo_op2(z, "Squeeze", x, zoo_const(z, "int64[1]{3}"), "");
}

static const char *in_projection(struct zoo *z, const char *x)
{
    const char *bias = zoo_param(z, "in_proj_bias", zoo_text(z, "float[%d]", 3 * WIDTH), ZOO_SMALL, 0);
    const char *w = zoo_param_named(z, zoo_text(z, "onnx::MatMul_%u", z->next_id++),
                                    zoo_text(z, "float[%d,%d]", WIDTH, 3 * WIDTH), ZOO_WEIGHT, WIDTH);
    return zoo_op2(z, "Add", bias, zoo_op2(z, "MatMul", x, w, ""), "");
}

static const char *out_projection(struct zoo *z, const char *x)
{
    const char *w =
        zoo_param(z, "out_proj.weight", zoo_text(z, "float[%d,%d]", WIDTH, WIDTH), ZOO_WEIGHT, WIDTH);
    const char *bias = zoo_param(z, "out_proj.bias", zoo_text(z, "float[%d]", WIDTH), ZOO_SMALL, 0);
    return zoo_op(z, "Gemm", zoo_text(z, "%s,%s,%s", x, w, bias), "alpha=1.0 beta=1.0 transB=1");
}

static const char *attention(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "self_attention");
    x = zoo_transpose(z, x, "1,0,2");
    const char *seq = zoo_size(z, x, 0), *batch = zoo_size(z, x, 1);
    const char *qkv = unpack(z, in_projection(z, x), seq, batch);
    const char *q = heads(z, qkv, 0, seq, batch), *k = heads(z, qkv, 1, seq, batch);
    const char *v = heads(z, qkv, 2, seq, batch), *scale = root_scale(z, q);
    k = zoo_op2(z, "Mul", zoo_transpose(z, k, "0,1,3,2"), scale, "");
    const char *scores = zoo_op2(z, "MatMul", zoo_op2(z, "Mul", q, scale, ""), k, "");
    const char *y = zoo_op2(z, "MatMul", zoo_op(z, "Softmax", scores, "axis=-1"), v, "");
    const char *rows = zoo_op2(z, "Mul", batch, seq, "");
    y = ZOO_VIEW(z, zoo_transpose(z, y, "2,0,1,3"), {rows, 0}, {NULL, WIDTH});
    y = ZOO_VIEW(z, out_projection(z, y), {seq, 0}, {batch, 0}, {NULL, WIDTH});
    y = zoo_transpose(z, y, "1,0,2");
    zoo_leave(z, p);
    return y;
}

static const char *norm(struct zoo *z, const char *x, const char *module)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_layer_norm(z, x, WIDTH, "1e-6");
    zoo_leave(z, p);
    return x;
}

static const char *mlp(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "mlp"), q = zoo_child(z, 0);
    x = zoo_linear(z, x, WIDTH, MLP);
    zoo_leave(z, q);
    q = zoo_child(z, 1);
    x = zoo_gelu_erf(z, x);
    zoo_leave(z, q);
    q = zoo_child(z, 3);
    x = zoo_linear(z, x, MLP, WIDTH);
    zoo_leave(z, q);
    zoo_leave(z, p);
    return x;
}

static const char *encoder(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "encoder");
    const char *type = zoo_text(z, "float[1,%d,%d]", PATCHES + 1, WIDTH);
    x = zoo_op2(z, "Add", x, zoo_param(z, "pos_embedding", type, ZOO_SMALL, 0), "");
    struct zoo_place q = zoo_enter(z, "layers");
    for (int i = 0; i < LAYERS; i++) {
        struct zoo_place r = zoo_enter(z, zoo_text(z, "encoder_layer_%d", i));
        x = zoo_op2(z, "Add", attention(z, norm(z, x, "ln_1")), x, "");
        x = zoo_op2(z, "Add", x, mlp(z, norm(z, x, "ln_2")), "");
        zoo_leave(z, r);
    }
    zoo_leave(z, q);
    x = norm(z, x, "ln");
    zoo_leave(z, p);
    return x;
}

static const char *patches(struct zoo *z, const char *image)
{
    const char *batch = zoo_size(z, image, 0);
    struct zoo_place p = zoo_enter(z, "conv_proj");
    const char *x = zoo_conv(z, image, &(struct zoo_conv){3, WIDTH, 16, 16, 0, 1, true});
    zoo_leave(z, p);
    x = zoo_transpose(z, ZOO_VIEW(z, x, {batch, 0}, {NULL, WIDTH}, {NULL, PATCHES}), "0,2,1");
    const char *token = zoo_param(z, "class_token", zoo_text(z, "float[1,1,%d]", WIDTH), ZOO_SMALL, 0);
    const char *one = zoo_const(z, "int64[1]{1}"), *width = zoo_const(z, zoo_text(z, "int64[1]{%d}", WIDTH));
    const char *shape =
        zoo_op(z, "Concat", zoo_text(z, "%s,%s,%s", zoo_unsqueeze(z, batch, 0), one, width), "axis=0");
    return zoo_op2(z, "Concat", zoo_op2(z, "Expand", token, shape, ""), x, "axis=1");
}

void zoo_vit_b_16(struct zoo *z)
{
    oc_b_input(z->b, "input", "float[batch,3,224,224]");
    const char *x = encoder(z, patches(z, "input"));
    x = zoo_op2(z, "Gather", x, zoo_const(z, "int64[]{0}"), "axis=1");
    struct zoo_place p = zoo_enter(z, "heads"), q = zoo_enter(z, "head");
    zoo_gemm(z, x, "output", WIDTH, 1000);
    zoo_leave(z, q);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}
