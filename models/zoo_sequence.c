/* Layers of text and speech: linear layers as modules, embedding tables, windows of one or two sides,
 * recurrent layers. */
#include "zoo.h"

#include "base/arena.h"

const char *zoo_linear_in(struct zoo *z, const char *module, const char *x, int in, int out)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_linear(z, x, in, out);
    zoo_leave(z, p);
    return x;
}

const char *zoo_linear_bare(struct zoo *z, const char *module, const char *x, int in, int out, int64_t fan_in)
{
    struct zoo_place p = zoo_enter(z, module);
    const char *w = zoo_param_named(z, zoo_text(z, "onnx::MatMul_%u", z->next_id++),
                                    zoo_text(z, "float[%d,%d]", in, out), ZOO_WEIGHT, fan_in);
    x = zoo_op2(z, "MatMul", x, w, "");
    zoo_leave(z, p);
    return x;
}

const char *zoo_embedding(struct zoo *z, const char *module, int rows, int width, const char *ids)
{
    struct zoo_place p = zoo_enter(z, module);
    const char *w = zoo_param(z, "weight", zoo_text(z, "float[%d,%d]", rows, width), ZOO_SMALL, 0);
    const char *x = zoo_op2(z, "Gather", w, ids, "");
    zoo_leave(z, p);
    return x;
}

/* ---- convolutions with separate sizes per side ---- */

/* " name=1,2" or, with the window's second ends, " name=1,2,3,4" */
static void put_sides(struct oc_buf *b, const char *name, const int *first, const int *second, int rank)
{
    oc_buf_printf(b, " %s", name);
    for (int i = 0; i < rank; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the lists have `rank` elements */
        oc_buf_printf(b, "%s%d", i ? "," : rank > 1 || second ? "=" : "=[", first[i]);
    for (int i = 0; second && i < rank; i++)
        oc_buf_printf(b, ",%d", second[i]);
    if (rank == 1 && !second)
        oc_buf_printf(b, "]");
}

const char *zoo_conv_window(struct zoo *z, const char *x, int in, int out, const struct zoo_window *w)
{
    struct oc_buf b = {0};
    int64_t fan_in = in;
    oc_buf_printf(&b, "float[%d,%d", out, in);
    for (int i = 0; i < w->rank; i++) {
        oc_buf_printf(&b, ",%d", w->kernel[i]);
        fan_in *= w->kernel[i];
    }
    oc_buf_printf(&b, "]");
    const char *weight = zoo_param(z, "weight", b.data, ZOO_WEIGHT, fan_in);
    const char *bias = zoo_param(z, "bias", zoo_text(z, "float[%d]", out), ZOO_SMALL, 0);
    oc_buf_free(&b);
    b = (struct oc_buf){0};
    oc_buf_printf(&b, "group=1");
    put_sides(&b, "dilations", (const int[]){1, 1}, NULL, w->rank);
    put_sides(&b, "kernel_shape", w->kernel, NULL, w->rank);
    put_sides(&b, "pads", w->before, w->after, w->rank);
    put_sides(&b, "strides", w->stride, NULL, w->rank);
    x = zoo_op(z, "Conv", zoo_text(z, "%s,%s,%s", x, weight, bias), b.data);
    oc_buf_free(&b);
    return x;
}

/* ---- recurrent layers ---------------------------------------------------------------------------------- */

/* Zeros {directions, batch, hidden}: the initial state of a sequence. x: {steps, batch, input} */
static const char *first_state(struct zoo *z, const char *x, int directions, int hidden)
{
    const char *one = zoo_const(z, zoo_text(z, "int64[1]{%d}", directions));
    const char *batch = zoo_unsqueeze(z, zoo_size(z, x, 1), 0);
    const char *width = zoo_const(z, zoo_text(z, "int64[1]{%d}", hidden));
    const char *shape = zoo_op(z, "Concat", zoo_text(z, "%s,%s,%s", one, batch, width), "axis=0");
    return zoo_op(z, "ConstantOfShape", shape, "value=float[1]{0}");
}

static const char *rnn_weight(struct zoo *z, const char *op_type, const char *type, enum zoo_fill fill,
                              int64_t fan_in)
{
    return zoo_param_named(z, zoo_text(z, "onnx::%s_%u", op_type, z->next_id++), type, fill, fan_in);
}

const char *zoo_rnn(struct zoo *z, const char *x, const struct zoo_rnn *r)
{
    int d = r->both_ways ? 2 : 1, rows = (r->lstm ? 4 : 3) * r->hidden;
    const char *op = r->lstm ? "LSTM" : "GRU", *h = first_state(z, x, d, r->hidden);
    const char *c = r->lstm ? first_state(z, x, d, r->hidden) : NULL;
    const char *w = rnn_weight(z, op, zoo_text(z, "float[%d,%d,%d]", d, rows, r->in), ZOO_WEIGHT, r->in);
    const char *u =
        rnn_weight(z, op, zoo_text(z, "float[%d,%d,%d]", d, rows, r->hidden), ZOO_WEIGHT, r->hidden);
    const char *bias = rnn_weight(z, op, zoo_text(z, "float[%d,%d]", d, 2 * rows), ZOO_SMALL, 0);
    const char *y =
        zoo_op(z, op, zoo_text(z, "%s,%s,%s,%s,,%s%s%s", x, w, u, bias, h, c ? "," : "", c ? c : ""),
               zoo_text(z, "direction='%s' hidden_size=%d%s", r->both_ways ? "bidirectional" : "forward",
                        r->hidden, r->lstm ? "" : " linear_before_reset=1"));
    if (!r->both_ways)
        return zoo_op2(z, "Squeeze", y, zoo_const(z, "int64[1]{1}"), "");
    y = zoo_transpose(z, y, "0,2,1,3");
    return zoo_op2(z, "Reshape", y, zoo_const(z, "int64[3]{0,0,-1}"), "allowzero=0");
}
