/* YOLOv8n at 640x640 (Ultralytics 2023), batch norms fused into the convolutions as its exporter does, with
 * box decoding: softmax over 16 distances per side, anchors and strides as constants. */
#include "zoo.h"

#include "base/arena.h"

enum { SIDE = 640, CLASSES = 80, DISTANCES = 16, PER_ANCHOR = 4 * DISTANCES + CLASSES, SCALES = 3 };

/* Ultralytics' Conv: convolution, (norm,) SiLU. */
static const char *conv(struct zoo *z, const char *module, const char *x, int in, int out, int kernel,
                        int stride)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_conv_in(z, "conv", x, &(struct zoo_conv){in, out, kernel, stride, kernel / 2, 1, true});
    x = zoo_act_in(z, "act", x, ZOO_SILU);
    zoo_leave(z, p);
    return x;
}

static const char *bottleneck(struct zoo *z, const char *module, const char *x, int width, bool shortcut)
{
    struct zoo_place p = zoo_enter(z, module);
    const char *y = conv(z, "cv1", x, width, width, 3, 1);
    y = conv(z, "cv2", y, width, width, 3, 1);
    y = shortcut ? zoo_op2(z, "Add", x, y, "") : y;
    zoo_leave(z, p);
    return y;
}

/* Two outputs; the names are those that zoo_op gives the first output. */
static void split(struct zoo *z, const char *x, int first, int second, const char *out[2])
{
    const char *sizes = zoo_const(z, zoo_text(z, "int64[2]{%d,%d}", first, second));
    for (int i = 0; i < 2; i++)
        out[i] = zoo_text(z, "%s/Split_output_%d", z->scope, i);
    zoo_op_to(z, "Split", zoo_text(z, "%s,%s", x, sizes), zoo_text(z, "%s,%s", out[0], out[1]), "axis=1");
}

/* Half of the channels pass n bottlenecks in sequence; every intermediate result is concatenated. */
static const char *c2f(struct zoo *z, int index, const char *x, int in, int out, int n, bool shortcut)
{
    const char *part[2];
    struct zoo_place p = zoo_enter(z, zoo_text(z, "model.%d", index));
    split(z, conv(z, "cv1", x, in, out, 1, 1), out / 2, out / 2, part);
    const char *all = zoo_text(z, "%s,%s", part[0], part[1]), *y = part[1];
    for (int i = 0; i < n; i++) {
        y = bottleneck(z, zoo_text(z, "m.%d", i), y, out / 2, shortcut);
        all = zoo_text(z, "%s,%s", all, y);
    }
    x = conv(z, "cv2", zoo_op(z, "Concat", all, "axis=1"), (2 + n) * out / 2, out, 1, 1);
    zoo_leave(z, p);
    return x;
}

static const char *sppf(struct zoo *z, int index, const char *x, int width)
{
    struct zoo_place p = zoo_enter(z, zoo_text(z, "model.%d", index));
    const char *y = conv(z, "cv1", x, width, width / 2, 1, 1), *all = y;
    for (int i = 0; i < 3; i++) {
        y = zoo_op_in(z, i ? zoo_text(z, "m_%d", i) : "m", "MaxPool", y,
                      "ceil_mode=0 dilations=1,1 kernel_shape=5,5 pads=2,2,2,2 strides=1,1");
        all = zoo_text(z, "%s,%s", all, y);
    }
    y = conv(z, "cv2", zoo_op(z, "Concat", all, "axis=1"), 2 * width, width, 1, 1);
    zoo_leave(z, p);
    return y;
}

static const char *down(struct zoo *z, int index, const char *x, int in, int out)
{
    return conv(z, zoo_text(z, "model.%d", index), x, in, out, 3, 2);
}

static const char *up(struct zoo *z, int index, const char *x)
{
    struct zoo_place p = zoo_enter(z, zoo_text(z, "model.%d", index));
    const char *scales = zoo_const(z, "float[4]{1,1,2,2}");
    x = zoo_op(z, "Resize", zoo_text(z, "%s,,%s", x, scales),
               "coordinate_transformation_mode='asymmetric' cubic_coeff_a=-0.75 mode='nearest' "
               "nearest_mode='floor'");
    zoo_leave(z, p);
    return x;
}

static const char *join(struct zoo *z, int index, const char *x, const char *y)
{
    struct zoo_place p = zoo_enter(z, zoo_text(z, "model.%d", index));
    x = zoo_op2(z, "Concat", x, y, "axis=1");
    zoo_leave(z, p);
    return x;
}

/* Features at strides 8, 16 and 32. */
static void backbone(struct zoo *z, const char *x, const char *out[SCALES])
{
    x = down(z, 1, down(z, 0, x, 3, 16), 16, 32);
    x = down(z, 3, c2f(z, 2, x, 32, 32, 1, true), 32, 64);
    out[0] = c2f(z, 4, x, 64, 64, 2, true);
    out[1] = c2f(z, 6, down(z, 5, out[0], 64, 128), 128, 128, 2, true);
    x = c2f(z, 8, down(z, 7, out[1], 128, 256), 256, 256, 1, true);
    out[2] = sppf(z, 9, x, 256);
}

static void neck(struct zoo *z, const char *level[SCALES])
{
    const char *x = join(z, 11, up(z, 10, level[2]), level[1]);
    const char *middle = c2f(z, 12, x, 384, 128, 1, false);
    level[0] = c2f(z, 15, join(z, 14, up(z, 13, middle), level[0]), 192, 64, 1, false);
    level[1] = c2f(z, 18, join(z, 17, down(z, 16, level[0], 64, 64), middle), 192, 128, 1, false);
    level[2] = c2f(z, 21, join(z, 20, down(z, 19, level[1], 128, 128), level[2]), 384, 256, 1, false);
}

/* ---- head ---------------------------------------------------------------------------------------------- */

/* A Sequential of two Convs and a plain convolution. */
static const char *branch(struct zoo *z, const char *module, int scale, const char *x, int in, int width,
                          int out)
{
    struct zoo_place p = zoo_enter(z, zoo_text(z, "%s.%d", module, scale));
    for (int i = 0; i < 2; i++) {
        struct zoo_place q = zoo_child(z, i);
        x = zoo_conv_in(z, "conv", x, &(struct zoo_conv){i ? width : in, width, 3, 1, 1, 1, true});
        x = zoo_act_in(z, "act", x, ZOO_SILU);
        zoo_leave(z, q);
    }
    x = zoo_conv_at(z, 2, x, &(struct zoo_conv){width, out, 1, 1, 0, 1, true});
    zoo_leave(z, p);
    return x;
}

/* The expected value of the 16 distances of each side. */
static const char *distances(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "dfl");
    const char *shape = zoo_op(z, "Shape", x, "");
    const char *axis = zoo_const(z, "int64[]{0}"), *last = zoo_const(z, "int64[]{2}");
    const char *batch = zoo_op2(z, "Gather", shape, axis, "axis=0");
    const char *anchors = zoo_op2(z, "Gather", shape, last, "axis=0");
    x = ZOO_VIEW(z, x, {batch, 0}, {NULL, 4}, {NULL, DISTANCES}, {anchors, 0});
    x = zoo_op(z, "Softmax", zoo_transpose(z, x, "0,2,1,3"), "axis=1");
    x = zoo_conv_in(z, "conv", x, &(struct zoo_conv){DISTANCES, 1, 1, 1, 0, 1, false});
    x = ZOO_VIEW(z, x, {batch, 0}, {NULL, 4}, {anchors, 0});
    zoo_leave(z, p);
    return x;
}

/* Anchors are the centres of the cells, in cells: all x, then all y; then, if `strides`, one row of strides.
 */
static const char *grid(struct zoo *z, bool strides)
{
    struct oc_buf text = {0};
    oc_buf_printf(&text, strides ? "float[1,8400]{" : "float[1,2,8400]{");
    const char *comma = "";
    for (int row = 0; row < (strides ? 1 : 2); row++)
        for (int stride = 8; stride <= 32; stride *= 2)
            for (int i = 0, n = SIDE / stride; i < n * n; i++, comma = ",") {
                if (strides)
                    oc_buf_printf(&text, "%s%d", comma, stride);
                else
                    oc_buf_printf(&text, "%s%d.5", comma, row ? i / n : i % n);
            }
    oc_buf_printf(&text, "}");
    const char *name = zoo_const(z, text.data);
    oc_buf_free(&text);
    return name;
}

/* torch.chunk as the exporter writes it: n-th half of axis 1. */
static const char *half(struct zoo *z, const char *x, const char *size, const char *from, const char *n,
                        const char **end)
{
    *end = zoo_op2(z, "Mul", size, zoo_const(z, n), "");
    return zoo_op(z, "Slice", zoo_text(z, "%s,%s,%s,%s", x, from, *end, zoo_const(z, "int64[1]{1}")), "");
}

/* Distances to the left, top, right, bottom side converted to centre and size, in pixels. */
static const char *boxes(struct zoo *z, const char *x)
{
    const char *anchors = grid(z, false), *end;
    const char *axis = zoo_const(z, "int64[1]{1}");
    const char *size = zoo_op2(z, "Gather", zoo_op(z, "Shape", x, ""), axis, "axis=0");
    const char *halves = zoo_const(z, "int64[1]{2}");
    size = zoo_op2(z, "Div", zoo_op2(z, "Add", size, zoo_const(z, "int64[1]{1}"), ""), halves, "");
    const char *low = half(z, x, size, zoo_const(z, "int64[1]{0}"), "int64[1]{1}", &end);
    const char *high = half(z, x, size, end, "int64[1]{2}", &end);
    low = zoo_op2(z, "Sub", anchors, low, "");
    high = zoo_op2(z, "Add", anchors, high, "");
    const char *two = zoo_const(z, "float[]{2}");
    const char *centre = zoo_op2(z, "Div", zoo_op2(z, "Add", low, high, ""), two, "");
    x = zoo_op2(z, "Concat", centre, zoo_op2(z, "Sub", high, low, ""), "axis=1");
    return zoo_op2(z, "Mul", x, grid(z, true), "");
}

static void detect(struct zoo *z, const char *const level[SCALES])
{
    const char *batch, *all = NULL, *joined[SCALES], *part[2];
    struct zoo_place p = zoo_enter(z, "model.22");
    for (int i = 0; i < SCALES; i++) {
        const char *box = branch(z, "cv2", i, level[i], 64 << i, 64, 4 * DISTANCES);
        joined[i] = zoo_op2(z, "Concat", box, branch(z, "cv3", i, level[i], 64 << i, 80, CLASSES), "axis=1");
    }
    batch = zoo_size(z, joined[0], 0);
    for (int i = 0; i < SCALES; i++) {
        const char *flat = ZOO_VIEW(z, joined[i], {batch, 0}, {NULL, PER_ANCHOR}, {NULL, -1});
        all = all ? zoo_text(z, "%s,%s", all, flat) : flat;
    }
    split(z, zoo_op(z, "Concat", all, "axis=2"), 4 * DISTANCES, CLASSES, part);
    const char *box = boxes(z, distances(z, part[0]));
    zoo_op_to(z, "Concat", zoo_text(z, "%s,%s", box, zoo_op(z, "Sigmoid", part[1], "")), "output0", "axis=1");
    zoo_leave(z, p);
}

void zoo_yolov8n(struct zoo *z)
{
    const char *level[SCALES];
    oc_b_input(z->b, "images", zoo_text(z, "float[batch,3,%d,%d]", SIDE, SIDE));
    backbone(z, "images", level);
    neck(z, level);
    detect(z, level);
    oc_b_output(z->b, "output0", zoo_text(z, "float[batch,%d,8400]", 4 + CLASSES));
}
