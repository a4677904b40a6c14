/* Networks of single operators for calibration: operators and sizes that few networks contain, drawn at
 * random over the range of sizes that networks use. Each operator reads a tensor that another kernel has just
 * written, as in a network. The same kind and seed give the same network. */
#include "zoo.h"

#include <stdlib.h>
#include <string.h>

struct micro {
    struct zoo *z;
    uint64_t random;
    int index; /* of the operator under construction */
};

/* splitmix64 */
static uint64_t next_random(struct micro *m)
{
    uint64_t v = m->random += 0x9e3779b97f4a7c15u;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

static int pick_of(struct micro *m, const int *list, size_t n)
{
    return list[next_random(m) % n];
}
#define PICK(m, ...)                                                                                         \
    pick_of((m), (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static const char *pick_text(struct micro *m, const char *const *list, size_t n)
{
    return list[next_random(m) % n];
}
#define PICK_TEXT(m, ...)                                                                                    \
    pick_text((m), (const char *const[]){__VA_ARGS__},                                                       \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Log-uniform between the limits, rounded to two significant binary digits in half of the draws. */
static int size_between(struct micro *m, int low, int high)
{
    double v = low, top = high, at = (double)(next_random(m) % 1000) / 1000;
    int steps = 0;
    while (v * 2 <= top) {
        v *= 2;
        steps++;
    }
    double where = at * (steps + 1);
    int whole = (int)where;
    double size = low * (double)(UINT64_C(1) << whole) * (1 + (where - whole));
    int n = size < high ? (int)size : high;
    int unit = 1;
    while (unit * 4 <= n)
        unit *= 2;
    return next_random(m) % 2 && n / unit * unit >= low ? n / unit * unit : n;
}

/* A tensor that a kernel has just written: the caches hold it as in a network. */
static const char *source(struct micro *m, const char *shape)
{
    struct zoo *z = m->z;
    int rank = 1;
    for (const char *s = shape; *s; s++)
        rank += *s == ',';
    return zoo_op2(z, "Expand", "x", zoo_const(z, zoo_text(z, "int64[%d]{%s}", rank, shape)), "");
}

static const char *source_u8(struct micro *m, const char *shape)
{
    struct zoo *z = m->z;
    const char *zero = zoo_const(z, "uint8[]{0}"), *scale = zoo_const(z, "float[]{0.0078125}");
    return zoo_op(z, "QuantizeLinear", zoo_text(z, "%s,%s,%s", source(m, shape), scale, zero), "");
}

/* Only one element is an output: the memory of the tensor is used again, as in a network. */
static void sink(struct micro *m, const char *y)
{
    struct zoo *z = m->z;
    const char *flat = zoo_op2(z, "Reshape", y, zoo_const(z, "int64[1]{-1}"), "");
    const char *zero = zoo_const(z, "int64[1]{0}"), *one = zoo_const(z, "int64[1]{1}");
    oc_b_output(z->b, zoo_op(z, "Slice", zoo_text(z, "%s,%s,%s", flat, zero, one), ""), NULL);
}

/* ---- convolutions -------------------------------------------------------------------------------------- */

#define MOST_MACS 3e8

struct window {
    int rank, in, out, group, side, kernel, stride, dilation;
};

static double macs_of(const struct window *w)
{
    double positions = 1, taps = 1;
    for (int i = 0; i < w->rank; i++) {
        positions *= (double)w->side / w->stride;
        taps *= w->kernel;
    }
    return positions * taps * w->in / w->group * w->out;
}

static const char *times(struct zoo *z, int rank, int v)
{
    const char *s = zoo_text(z, "%d", v);
    for (int i = 1; i < rank; i++)
        s = zoo_text(z, "%s,%d", s, v);
    return s;
}

static const char *attributes_of(struct zoo *z, const struct window *w)
{
    int pad = (w->kernel - 1) * w->dilation / 2;
    return zoo_text(z, "dilations=[%s] group=%d kernel_shape=[%s] pads=[%s] strides=[%s]",
                    times(z, w->rank, w->dilation), w->group, times(z, w->rank, w->kernel),
                    times(z, 2 * w->rank, pad), times(z, w->rank, w->stride));
}

static const char *weight_of(struct zoo *z, const struct window *w, const char *type)
{
    return zoo_param(
        z, "weight",
        zoo_text(z, "%s[%d,%d,%s]", type, w->out, w->in / w->group, times(z, w->rank, w->kernel)), ZOO_WEIGHT,
        (int64_t)w->in / w->group * w->kernel * w->kernel);
}

static const char *convolution(struct zoo *z, const char *x, const struct window *w, const char *activation)
{
    struct zoo_place p = zoo_child(z, (int)z->next_id++);
    const char *bias = zoo_param(z, "bias", zoo_text(z, "float[%d]", w->out), ZOO_SMALL, 0);
    x = zoo_op(z, "Conv", zoo_text(z, "%s,%s,%s", x, weight_of(z, w, "float"), bias), attributes_of(z, w));
    x = activation ? zoo_op(z, activation, x, "") : x;
    zoo_leave(z, p);
    return x;
}

static const char *image_of(struct zoo *z, const struct window *w)
{
    return zoo_text(z, "1,%d,%s", w->in, times(z, w->rank, w->side));
}

static int side_after(const struct window *w)
{
    int pad = (w->kernel - 1) * w->dilation / 2, extent = (w->kernel - 1) * w->dilation + 1;
    return (w->side + 2 * pad - extent) / w->stride + 1;
}

/* Chains of convolutions: channels that fill vectors. */
static void conv_chain(struct micro *m)
{
    struct window w = {.rank = 2, .group = 1, .dilation = 1};
    w.in = PICK(m, 1, 3, 16, 32, 48, 64, 96, 128, 256, 512);
    w.side = w.in <= 3 ? size_between(m, 64, 320) : size_between(m, 5, 12000 / (w.in + 60));
    const char *x = source(m, image_of(m->z, &w));
    for (int i = 0; i < 3; i++) {
        do {
            w.out = 16 * size_between(m, 1, 40);
            w.kernel = PICK(m, 1, 1, 3, 3, 3, 5, 7);
            w.stride = w.side > 8 ? PICK(m, 1, 1, 1, 2) : 1;
            w.dilation = PICK(m, 1, 1, 1, 1, 1, 1, 2);
        } while (macs_of(&w) > MOST_MACS);
        x = convolution(m->z, x, &w, PICK_TEXT(m, "Relu", "Relu", NULL, "Sigmoid"));
        w.side = side_after(&w);
        w.in = w.out;
    }
    sink(m, x);
}

/* One or three spatial dimensions, channels that do not fill vectors, groups. */
static void conv_other(struct micro *m)
{
    struct window w;
    do {
        w = (struct window){.rank = PICK(m, 1, 1, 2, 2, 2, 3), .group = 1, .dilation = 1};
        w.in = size_between(m, 1, 300);
        w.out = size_between(m, 1, 300);
        w.side = w.rank == 1 ? size_between(m, 16, 4096) : size_between(m, 6, w.rank == 2 ? 200 : 32);
        w.kernel = PICK(m, 1, 2, 3, 3, 3, 5, 7, 9);
        w.stride = PICK(m, 1, 1, 1, 2);
        w.dilation = PICK(m, 1, 1, 1, 2, 4);
        if (next_random(m) % 4 == 0) {
            w.group = PICK(m, 2, 3, 4, 8, 32);
            w.in = w.group * (1 + w.in / w.group);
            w.out = w.group * (1 + w.out / w.group);
        }
    } while (macs_of(&w) > MOST_MACS || w.side < (w.kernel - 1) * w.dilation + 1);
    int images = PICK(m, 1, 1, 1, 0);
    images = images ? images : size_between(m, 2, 512);
    while (macs_of(&w) * images > MOST_MACS)
        images = (images + 1) / 2;
    const char *shape = zoo_text(m->z, "%d,%d,%s", images, w.in, times(m->z, w.rank, w.side));
    sink(m, convolution(m->z, source(m, shape), &w, PICK_TEXT(m, "Relu", NULL)));
}

static void conv_depthwise(struct micro *m)
{
    struct window w = {.rank = PICK(m, 2, 2, 2, 2, 1), .dilation = PICK(m, 1, 1, 1, 2)};
    bool full = next_random(m) % 2;
    w.out = w.in = w.group = full ? 16 * size_between(m, 1, 60) : size_between(m, 4, 700);
    w.side = w.rank == 1 ? size_between(m, 16, 2048) : size_between(m, 7, 120);
    w.kernel = PICK(m, 3, 3, 3, 5, 5, 7);
    w.stride = PICK(m, 1, 1, 2);
    while ((double)w.in * w.side * (w.rank == 2 ? w.side : 1) > 2e6)
        w.side /= 2;
    const char *x = source(m, image_of(m->z, &w));
    x = convolution(m->z, x, &w, PICK_TEXT(m, "Relu", NULL));
    struct window point = {.rank = w.rank, .in = w.in, .out = 16 * size_between(m, 1, 20), .group = 1};
    point.side = side_after(&w);
    point.kernel = point.stride = point.dilation = 1;
    sink(m, macs_of(&point) < MOST_MACS ? convolution(m->z, x, &point, NULL) : x);
}

static void conv_transposed(struct micro *m)
{
    struct window w;
    do {
        w = (struct window){.rank = PICK(m, 2, 2, 2, 1), .group = 1, .dilation = 1};
        w.in = size_between(m, 4, 512);
        w.out = size_between(m, 1, 256);
        w.side = size_between(m, 4, 128);
        w.kernel = PICK(m, 2, 3, 4, 4, 5, 8);
        w.stride = PICK(m, 1, 2, 2, 2);
        w.stride = w.kernel < 2 ? 1 : w.stride;
    } while (macs_of(&w) * w.stride * w.stride > MOST_MACS);
    struct zoo *z = m->z;
    const char *weight =
        zoo_param(z, "weight", zoo_text(z, "float[%d,%d,%s]", w.in, w.out, times(z, w.rank, w.kernel)),
                  ZOO_WEIGHT, w.in);
    sink(m, zoo_op2(z, "ConvTranspose", source(m, image_of(z, &w)), weight,
                    zoo_text(z, "kernel_shape=[%s] strides=[%s]", times(z, w.rank, w.kernel),
                             times(z, w.rank, w.stride))));
}

/* ---- products and recurrent layers --------------------------------------------------------------------- */

static void product(struct micro *m)
{
    struct zoo *z = m->z;
    int rows, in, out, batch;
    do {
        rows = PICK(m, 1, 1, 2, 4, 8, 0);
        rows = rows ? rows : size_between(m, 12, 1500);
        out = next_random(m) % 8 ? size_between(m, 2, 4096) : 1;
        in = size_between(m, 8, out == 1 ? 500000 : 4096);
        batch = PICK(m, 1, 1, 1, 2, 8, 12, 48);
    } while ((double)rows * in * out * batch > MOST_MACS || (double)in * out * batch > 6e6 ||
             (double)in * rows * batch > 6e6);
    if (batch > 1 && next_random(m) % 2) { /* both factors computed, as in attention */
        const char *a = source(m, zoo_text(z, "%d,%d,%d", batch, rows, in));
        const char *b = source(m, zoo_text(z, "%d,%d,%d", batch, in, out));
        sink(m, zoo_op2(z, "MatMul", a, b, ""));
        return;
    }
    if (next_random(m) % 2) {
        const char *w = zoo_param(z, "weight", zoo_text(z, "float[%d,%d]", in, out), ZOO_WEIGHT, in);
        sink(m, zoo_op2(z, "MatMul", source(m, zoo_text(z, "1,%d,%d", rows, in)), w, ""));
        return;
    }
    sink(m, zoo_op(z, "Relu", zoo_gemm(z, source(m, zoo_text(z, "%d,%d", rows, in)), NULL, in, out), ""));
}

/* The kernels of an attention layer. */
static void attention(struct micro *m)
{
    struct zoo *z = m->z;
    int batch, heads, queries, keys, width;
    do {
        batch = PICK(m, 1, 1, 1, 2, 4);
        heads = PICK(m, 1, 2, 4, 6, 8, 12, 16);
        keys = size_between(m, 4, 1024);
        queries = next_random(m) % 4 ? keys : 1;
        width = PICK(m, 8, 16, 32, 64, 64, 80, 128);
    } while ((double)batch * heads * queries * keys * width > MOST_MACS);
    const char *q = source(m, zoo_text(z, "%d,%d,%d,%d", batch, queries, heads, width));
    const char *k = source(m, zoo_text(z, "%d,%d,%d,%d", batch, keys, heads, width));
    const char *v = source(m, zoo_text(z, "%d,%d,%d,%d", batch, keys, heads, width));
    q = zoo_transpose(z, q, "0,2,1,3");
    const char *scores = zoo_op2(z, "MatMul", q, zoo_transpose(z, k, "0,2,3,1"), "");
    scores = zoo_op2(z, "Mul", scores, zoo_const(z, "float[]{0.125}"), "");
    if (next_random(m) % 2)
        scores = zoo_op2(z, "Add", scores, source(m, zoo_text(z, "%d,1,1,%d", batch, keys)), "");
    scores = zoo_op(z, "Softmax", scores, "axis=-1");
    sink(m, zoo_transpose(z, zoo_op2(z, "MatMul", scores, zoo_transpose(z, v, "0,2,1,3"), ""), "0,2,1,3"));
}

static void recurrent(struct micro *m)
{
    struct zoo_rnn r = {.lstm = next_random(m) % 2, .both_ways = next_random(m) % 3 == 0};
    int steps, batch;
    do {
        r.in = size_between(m, 4, 512);
        r.hidden = size_between(m, 8, 512);
        steps = size_between(m, 1, 200);
        batch = PICK(m, 1, 1, 1, 4, 16);
    } while ((double)(r.in + r.hidden) * r.hidden * 4 * steps * batch > MOST_MACS);
    sink(m, zoo_rnn(m->z, source(m, zoo_text(m->z, "%d,%d,%d", steps, batch, r.in)), &r));
}

/* ---- quantized ----------------------------------------------------------------------------------------- */

static struct window integer_window(struct micro *m)
{
    struct window w;
    do {
        w = (struct window){.rank = PICK(m, 2, 2, 2, 1), .group = 1, .dilation = 1};
        w.in = PICK(m, 1, 3, 0, 0, 0, 0);
        w.in = w.in ? w.in : 4 * size_between(m, 1, 128);
        w.out = 4 * size_between(m, 1, 128);
        w.side = w.rank == 1 ? size_between(m, 16, 1024) : size_between(m, 7, 160);
        w.kernel = PICK(m, 1, 1, 3, 3, 5, 7);
        w.stride = PICK(m, 1, 1, 2);
        if (next_random(m) % 3 == 0)
            w.out = w.group = w.in;
    } while (macs_of(&w) > MOST_MACS || (double)w.in * w.side * (w.rank == 2 ? w.side : 1) > 1e6);
    return w;
}

static void integer_conv(struct micro *m)
{
    struct zoo *z = m->z;
    struct window w = integer_window(m);
    const char *x = source_u8(m, image_of(z, &w)), *zero = zoo_const(z, "uint8[]{0}");
    const char *scale = zoo_const(z, "float[]{0.0078125}"), *weight_zero = zoo_const(z, "int8[]{0}");
    const char *weight = weight_of(z, &w, "int8");
    if (next_random(m) % 3 == 0) {
        const char *in = zoo_text(
            z, "%s,%s,%s", x,
            zoo_param(z, "u",
                      zoo_text(z, "uint8[%d,%d,%s]", w.out, w.in / w.group, times(z, w.rank, w.kernel)),
                      ZOO_WEIGHT, 1),
            zero);
        sink(m, zoo_op(z, "Cast", zoo_op(z, "ConvInteger", in, attributes_of(z, &w)), "to=1"));
        return;
    }
    const char *in = zoo_text(z, "%s,%s,%s,%s,%s,%s,%s,%s", x, scale, zero, weight, scale, weight_zero,
                              zoo_const(z, "float[]{0.25}"), zero);
    x = zoo_op(z, "QLinearConv", in, attributes_of(z, &w));
    sink(m, zoo_op(z, "DequantizeLinear", zoo_text(z, "%s,%s,%s", x, scale, zero), ""));
}

static void integer_product(struct micro *m)
{
    struct zoo *z = m->z;
    int rows, in, out;
    do {
        rows = PICK(m, 1, 1, 4, 0, 0);
        rows = rows ? rows : size_between(m, 12, 1000);
        in = 4 * size_between(m, 2, 1024);
        out = 4 * size_between(m, 1, 1024);
    } while ((double)rows * in * out > MOST_MACS || (double)in * out > 6e6);
    const char *shape = zoo_text(z, "%d,%d", rows, in), *zero = zoo_const(z, "uint8[]{0}");
    const char *weight = zoo_param(z, "weight", zoo_text(z, "int8[%d,%d]", in, out), ZOO_WEIGHT, in);
    const char *weight_zero = zoo_const(z, "int8[]{0}"), *scale = zoo_const(z, "float[]{0.0078125}");
    if (next_random(m) % 2) {
        const char *x = source_u8(m, shape);
        x = zoo_op(z, "QLinearMatMul",
                   zoo_text(z, "%s,%s,%s,%s,%s,%s,%s,%s", x, scale, zero, weight, scale, weight_zero,
                            zoo_const(z, "float[]{0.25}"), zero),
                   "");
        sink(m, zoo_op(z, "DequantizeLinear", zoo_text(z, "%s,%s,%s", x, scale, zero), ""));
        return;
    }
    const char *y = zoo_text(z, "%s/q", z->scope), *s = zoo_text(z, "%s/s", z->scope),
               *p = zoo_text(z, "%s/p", z->scope);
    zoo_op_to(z, "DynamicQuantizeLinear", source(m, shape), zoo_text(z, "%s,%s,%s", y, s, p), "");
    const char *sum = zoo_op(z, "MatMulInteger", zoo_text(z, "%s,%s,%s,%s", y, weight, p, weight_zero), "");
    sink(m, zoo_op2(z, "Mul", zoo_op(z, "Cast", sum, "to=1"), s, ""));
}

/* ---- other kernels ------------------------------------------------------------------------------------- */

/* Batch, channels, height and width with about `elements` elements. */
struct tensor {
    int n, c, h, w;
    const char *shape;
};

static struct tensor tensor_of(struct micro *m, int most)
{
    struct tensor t;
    do {
        t.n = PICK(m, 1, 1, 1, 2, 8);
        t.c = size_between(m, 1, 800);
        t.h = size_between(m, 1, 256);
        t.w = next_random(m) % 2 ? t.h : size_between(m, 1, 512);
    } while ((double)t.n * t.c * t.h * t.w > most || (double)t.n * t.c * t.h * t.w < 200);
    t.shape = zoo_text(m->z, "%d,%d,%d,%d", t.n, t.c, t.h, t.w);
    return t;
}

static void elementwise(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t = tensor_of(m, 4000000);
    const char *x = source(m, t.shape);
    const char *op = PICK_TEXT(m, "Add", "Mul", "Sub", "Div", "Max", "Pow", "Greater", "Where", "PRelu");
    const char *y = PICK_TEXT(m, "same", "same", "channel", "row", "column", "one");
    const char *shape = !strcmp(y, "same")      ? t.shape
                        : !strcmp(y, "channel") ? zoo_text(z, "1,%d,1,1", t.c)
                        : !strcmp(y, "row")     ? zoo_text(z, "%d", t.w)
                        : !strcmp(y, "column")  ? zoo_text(z, "%d,%d,%d,1", t.n, t.c, t.h)
                                                : "1";
    const char *other = !strcmp(op, "Pow")
                            ? zoo_const(z, PICK_TEXT(m, "float[]{2}", "float[]{0.5}", "float[]{3}"))
                            : source(m, shape);
    if (!strcmp(op, "Where")) {
        const char *less = zoo_op2(z, "Less", x, other, "");
        sink(m, zoo_op(z, "Where", zoo_text(z, "%s,%s,%s", less, x, zoo_const(z, "float[]{0}")), ""));
        return;
    }
    x = zoo_op2(z, op, x, other, "");
    sink(m, !strcmp(op, "Greater") ? zoo_op(z, "Cast", x, "to=1") : x);
}

static void function(struct micro *m)
{
    static const struct {
        const char *op, *attributes;
    } table[] = {
        {"Sigmoid", ""},  {"Tanh", ""},     {"Exp", ""},       {"Erf", ""},         {"Sqrt", ""},
        {"Log", ""},      {"Softplus", ""}, {"LeakyRelu", ""}, {"HardSigmoid", ""}, {"HardSwish", ""},
        {"Relu", ""},     {"Elu", ""},      {"Neg", ""},       {"Reciprocal", ""},  {"Sin", ""},
        {"Cast", "to=7"}, {"Cast", "to=9"}, {"Cast", "to=10"}, {"Floor", ""},       {"Identity", ""},
    };
    struct tensor t = tensor_of(m, 4000000);
    size_t i = next_random(m) % OC_COUNT(table);
    sink(m, zoo_op(m->z, table[i].op, source(m, t.shape), table[i].attributes));
}

static void reduce(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t = tensor_of(m, 3000000);
    const char *x = source(m, t.shape);
    switch (next_random(m) % 8) {
    case 0:
        sink(m, zoo_op(z, "ArgMax", x, zoo_text(z, "axis=%d keepdims=1", PICK(m, 1, 3, -1))));
        return;
    case 1:
    case 2:
        sink(m, zoo_op(z, "Softmax", x, zoo_text(z, "axis=%d", PICK(m, 1, 2, 3, 3, -1))));
        return;
    case 3:
        sink(m, zoo_op2(z, "ReduceSum", x,
                        zoo_const(z, PICK_TEXT(m, "int64[1]{1}", "int64[2]{2,3}", "int64[1]{3}")),
                        "keepdims=1"));
        return;
    default: {
        const char *op = PICK_TEXT(m, "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2");
        const char *axes = PICK_TEXT(m, "1", "2", "3", "2,3", "1,2,3", "0,2,3", "1,2");
        sink(m, zoo_op(z, op, x, zoo_text(z, "axes=[%s] keepdims=%d", axes, PICK(m, 0, 1))));
    }
    }
}

static void norm(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t = tensor_of(m, 3000000);
    const char *x = source(m, t.shape);
    switch (next_random(m) % 5) {
    case 0: {
        const char *type = zoo_text(z, "float[%d]", t.c);
        const char *in = zoo_text(z, "%s,%s,%s", x, zoo_param(z, "weight", type, ZOO_ONE, 0),
                                  zoo_param(z, "bias", type, ZOO_SMALL, 0));
        sink(m, zoo_op(z, "InstanceNormalization", in, "epsilon=0.00001"));
        return;
    }
    case 1:
        z->norm_attributes = "epsilon=0.00001";
        sink(m, zoo_batch_norm(z, x, t.c));
        return;
    case 2:
        sink(m, zoo_op(z, "LRN", x,
                       zoo_text(z, "size=%d alpha=0.0001 beta=0.75 bias=1.0", PICK(m, 3, 5, 5, 9))));
        return;
    case 3:
        sink(m, zoo_op(z, "LpNormalization", x, zoo_text(z, "axis=%d p=2", PICK(m, 1, 3))));
        return;
    default:
        sink(m, zoo_layer_norm(z, x, t.w, "0.00001"));
    }
}

static void pool(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t;
    do
        t = tensor_of(m, 2000000);
    while (t.h < 4 || t.w < 4);
    const char *x = source(m, t.shape), *op = PICK_TEXT(m, "MaxPool", "MaxPool", "AveragePool", "Global");
    if (!strcmp(op, "Global")) {
        sink(m, zoo_op(z, PICK_TEXT(m, "GlobalAveragePool", "GlobalMaxPool"), x, ""));
        return;
    }
    int k = PICK(m, 2, 2, 3, 3), s = PICK(m, 1, 2, 2);
    sink(m, zoo_op(z, op, x, zoo_text(z, "kernel_shape=%d,%d strides=%d,%d", k, k, s, s)));
}

static void resize(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t;
    do
        t = tensor_of(m, 400000);
    while (t.h < 4 || t.w < 4);
    int up = PICK(m, 2, 2, 3, 4);
    const char *mode = PICK_TEXT(m, "nearest", "nearest", "linear", "linear", "cubic");
    if (!strcmp(mode, "cubic") && (double)t.c * t.n > 64)
        mode = "linear";
    const char *sizes = zoo_const(z, zoo_text(z, "int64[4]{%d,%d,%d,%d}", t.n, t.c, up * t.h, up * t.w));
    const char *in = zoo_text(z, "%s,,,%s", source(m, t.shape), sizes);
    const char *how = PICK_TEXT(m, "asymmetric", "half_pixel", "align_corners");
    sink(m, zoo_op(z, "Resize", in,
                   zoo_text(z, "mode='%s' coordinate_transformation_mode='%s' nearest_mode='floor'", mode,
                            how)));
}

static void transpose(struct micro *m)
{
    struct tensor t = tensor_of(m, 3000000);
    const char *perm = PICK_TEXT(m, "0,2,3,1", "0,3,1,2", "0,2,1,3", "0,1,3,2", "0,3,2,1", "1,0,2,3",
                                 "3,2,1,0", "0,2,1,3", "2,0,1,3");
    sink(m, zoo_transpose(m->z, source(m, t.shape), perm));
}

static void copy(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t;
    do
        t = tensor_of(m, 3000000);
    while (t.c < 4 || t.w < 4);
    const char *x = source(m, t.shape);
    int axis = PICK(m, 1, 1, 2, 3);
    switch (next_random(m) % 6) {
    case 0:
        sink(m,
             zoo_op(z, "Concat", zoo_text(z, "%s,%s", x, source(m, t.shape)), zoo_text(z, "axis=%d", axis)));
        return;
    case 1: {
        const char *a = zoo_text(z, "%s/a", z->scope), *b = zoo_text(z, "%s/b", z->scope);
        int half = t.c / 2;
        zoo_op_to(z, "Split",
                  zoo_text(z, "%s,%s", x, zoo_const(z, zoo_text(z, "int64[2]{%d,%d}", half, t.c - half))),
                  zoo_text(z, "%s,%s", a, b), "axis=1");
        sink(m, a);
        sink(m, b);
        return;
    }
    case 2:
        sink(m, zoo_slice(z, x, zoo_const(z, "int64[1]{1}"), zoo_const(z, "int64[1]{-1}"), PICK(m, 1, 3)));
        return;
    case 3: {
        const char *pads = zoo_const(z, "int64[8]{0,0,1,1,0,0,1,1}");
        sink(m, zoo_op2(z, "Pad", x, pads, PICK_TEXT(m, "mode='constant'", "mode='edge'")));
        return;
    }
    case 4: {
        const char *type = PICK_TEXT(m, "int64[4]{1,2,1,1}", "int64[4]{1,1,2,2}", "int64[4]{1,1,1,3}");
        sink(m, zoo_op2(z, "Tile", x, zoo_const(z, type), ""));
        return;
    }
    default:
        t.c = t.c / 4 * 4;
        x = source(m, zoo_text(z, "%d,%d,%d,%d", t.n, t.c, t.h, t.w));
        sink(m, zoo_op(z, "DepthToSpace", x, PICK_TEXT(m, "blocksize=2 mode='CRD'", "blocksize=2")));
    }
}

static const char *positions(struct micro *m, int count, int below)
{
    struct zoo *z = m->z;
    const char *x = zoo_text(z, "i%d_%u", m->index, z->next_id++);
    oc_b_input(z->b, x, zoo_text(z, "float[%d]", count));
    const char *most = zoo_const(z, zoo_text(z, "float[]{%d.0}", below - 1));
    return zoo_op(z, "Cast", zoo_op2(z, "Mul", zoo_op(z, "Abs", x, ""), most, ""), "to=7");
}

static void gather(struct micro *m)
{
    struct zoo *z = m->z;
    int rows = size_between(m, 10, 20000), width = size_between(m, 1, 800), count = size_between(m, 1, 3000);
    while ((double)rows * width > 4e6)
        rows /= 2;
    while ((double)count * width > 2e6)
        count /= 2;
    switch (next_random(m) % 4) {
    case 0:
        count = count > 400 ? 400 : count;
        rows = rows > 2000 ? 2000 : rows;
        sink(m,
             zoo_op(z, "OneHot",
                    zoo_text(z, "%s,%s,%s", positions(m, count, rows),
                             zoo_const(z, zoo_text(z, "int64[]{%d}", rows)), zoo_const(z, "float[2]{0,1}")),
                    "axis=-1"));
        return;
    case 1: {
        const char *x = source(m, zoo_text(z, "%d,%d", rows, width));
        const char *v = zoo_text(z, "%s/v", z->scope), *i = zoo_text(z, "%s/i", z->scope);
        zoo_op_to(z, "TopK", zoo_text(z, "%s,%s", x, zoo_const(z, "int64[1]{1}")), zoo_text(z, "%s,%s", v, i),
                  "axis=-1");
        sink(m, v);
        return;
    }
    default:
        sink(m, zoo_op2(z, "Gather", source(m, zoo_text(z, "%d,%d", rows, width)), positions(m, count, rows),
                        "axis=0"));
    }
}

/* ---- kernels whose time depends on the values ---------------------------------------------------------- */

/* Values of both signs in no order, as after a convolution: branches cannot be predicted. */
static const char *source_mixed(struct micro *m, const char *shape)
{
    return zoo_op(m->z, "RandomUniform", "", zoo_text(m->z, "high=1.0 low=-1.0 seed=1.0 shape=[%s]", shape));
}

static void mixed_prelu(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t = tensor_of(m, 1000000);
    const char *y = PICK_TEXT(m, "channel", "channel", "channel", "same", "row", "one");
    const char *type = !strcmp(y, "channel") ? zoo_text(z, "float[%d,1,1]", t.c)
                       : !strcmp(y, "same")  ? zoo_text(z, "float[%d,%d,%d]", t.c, t.h, t.w)
                       : !strcmp(y, "row")   ? zoo_text(z, "float[%d]", t.w)
                                             : "float[1]";
    const char *slope = zoo_param(z, "slope", type, ZOO_SMALL, 0);
    sink(m, zoo_op2(z, "PRelu", source_mixed(m, t.shape), slope, ""));
}

static void mixed_other(struct micro *m)
{
    struct zoo *z = m->z;
    struct tensor t = tensor_of(m, 1000000);
    const char *x = source_mixed(m, t.shape);
    const char *op = PICK_TEXT(m, "LeakyRelu", "ReduceMax", "ReduceMean", "ArgMax", "Softmax", "Erf",
                               "Softplus", "Abs", "Elu", "GlobalMaxPool");
    const char *attributes =
        !strncmp(op, "Reduce", 6) ? zoo_text(z, "axes=[%s] keepdims=1", PICK_TEXT(m, "1", "2", "3", "2,3"))
        : !strcmp(op, "ArgMax") || !strcmp(op, "Softmax") ? zoo_text(z, "axis=%d", PICK(m, 1, 3))
                                                          : "";
    sink(m, zoo_op(z, op, x, attributes));
}

/* ---- kernels without the usual layout -------------------------------------------------------------------
 */

/* Weights that are not constants: ONNX Runtime does not block the channels. */
static void computed_weights(struct micro *m)
{
    struct zoo *z = m->z;
    struct window w;
    do {
        w = (struct window){.rank = 2, .group = 1, .dilation = 1};
        w.in = w.out = 8 * size_between(m, 1, 80);
        if (next_random(m) % 3)
            w.group = w.in;
        else
            w.out = 8 * size_between(m, 1, 40);
        w.side = size_between(m, 7, 130);
        w.kernel = w.group > 1 ? PICK(m, 3, 3, 3, 5, 5, 7, 9) : PICK(m, 1, 1, 3, 3);
        w.stride = PICK(m, 1, 1, 1, 2);
        w.dilation = PICK(m, 1, 1, 1, 2);
    } while (macs_of(&w) > 2e8 || (double)w.in * w.side * w.side > 2e6);
    const char *type = zoo_text(z, "%d,%d,%d,%d", w.out, w.in / w.group, w.kernel, w.kernel);
    sink(m, zoo_op2(z, "Conv", source(m, image_of(z, &w)), source(m, type), attributes_of(z, &w)));
}

/* In groups: one for each channel, or few. */
static void grouped_transposed(struct micro *m)
{
    struct zoo *z = m->z;
    struct window w;
    do {
        w = (struct window){.rank = 2, .dilation = 1, .in = 4 * size_between(m, 1, 64)};
        w.group = PICK(m, 1, 2, 0, 0);
        w.group = w.group ? w.group : w.in;
        w.side = size_between(m, 3, 64);
        w.kernel = PICK(m, 2, 3, 3, 4, 5);
        w.stride = PICK(m, 1, 1, 2);
    } while (macs_of(&w) * w.in / w.group > 1e8);
    const char *weight =
        zoo_param(z, "weight", zoo_text(z, "float[%d,%d,%d,%d]", w.in, w.in / w.group, w.kernel, w.kernel),
                  ZOO_WEIGHT, w.in);
    sink(m, zoo_op2(z, "ConvTranspose", source(m, image_of(z, &w)), weight,
                    zoo_text(z, "group=%d kernel_shape=%d,%d strides=%d,%d", w.group, w.kernel, w.kernel,
                             w.stride, w.stride)));
}

/* Dynamic quantization: 8-bit weights of either sign, 32-bit sums. */
static void dynamic_conv(struct micro *m)
{
    struct zoo *z = m->z;
    struct window w = integer_window(m);
    if (next_random(m) % 2 && (double)w.in * w.side * w.side * w.kernel * w.kernel < 1e7)
        w.out = w.group = w.in;
    const char *type = PICK_TEXT(m, "int8", "uint8");
    const char *in = zoo_text(z, "%s,%s,%s,%s", source_u8(m, image_of(z, &w)), weight_of(z, &w, type),
                              zoo_const(z, "uint8[]{0}"), zoo_const(z, zoo_text(z, "%s[]{0}", type)));
    sink(m, zoo_op(z, "Cast", zoo_op(z, "ConvInteger", in, attributes_of(z, &w)), "to=1"));
}

/* ---- networks ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    int operators; /* of each function */
    void (*add[4])(struct micro *m);
} kinds[] = {
    {"conv", 40, {conv_chain}},
    {"conv_other", 90, {conv_other}},
    {"depthwise", 60, {conv_depthwise}},
    {"transposed", 40, {conv_transposed}},
    {"product", 110, {product}},
    {"attention", 40, {attention}},
    {"recurrent", 30, {recurrent}},
    {"integer", 50, {integer_conv, integer_product}},
    {"elementwise", 60, {elementwise, function}},
    {"reduce", 40, {reduce, norm, pool}},
    {"move", 30, {transpose, copy, gather, resize}},
    {"mixed", 40, {mixed_prelu, mixed_other}},
    {"layout", 40, {computed_weights, grouped_transposed}},
    {"dynamic", 60, {dynamic_conv}},
};

/* false: no such kind */
bool zoo_micro(struct zoo *z, const char *kind, uint64_t seed)
{
    struct micro m = {.z = z, .random = (seed + 1) * 0xd1342543de82ef95u};
    size_t k = 0;
    while (k < OC_COUNT(kinds) && strcmp(kinds[k].name, kind) != 0)
        k++;
    if (k == OC_COUNT(kinds))
        return false;
    oc_b_input(z->b, "x", "float[1]");
    for (int i = 0; i < kinds[k].operators; i++)
        for (size_t f = 0; f < OC_COUNT(kinds[k].add) && kinds[k].add[f]; f++) {
            struct zoo_place p = zoo_enter(z, zoo_text(z, "op%d", m.index));
            kinds[k].add[f](&m);
            zoo_leave(z, p);
            m.index++;
        }
    return true;
}
