/* MobileNetV3-Large: Howard et al. 2019, as in torchvision. */
#include "zoo.h"

struct row {
    int kernel, wide, out;
    bool squeeze;
    enum zoo_act act;
    int stride;
};

/* A quarter, rounded to a multiple of 8 that is at least nine tenths of it. */
static int squeezed(int wide)
{
    int quarter = wide / 4, n = (quarter + 4) / 8 * 8;
    n = n < 8 ? 8 : n;
    return 10 * n < 9 * quarter ? n + 8 : n;
}

static const char *conv_norm(struct zoo *z, int index, const char *x, const struct zoo_conv *c,
                             enum zoo_act act)
{
    struct zoo_place p = zoo_child(z, index);
    x = zoo_conv_norm_act(z, 0, x, c, act);
    zoo_leave(z, p);
    return x;
}

static const char *block(struct zoo *z, const char *x, const struct row *r, int in)
{
    const char *y = x;
    int step = 0;
    struct zoo_place p = zoo_enter(z, "block");
    if (r->wide != in)
        y = conv_norm(z, step++, y, &(struct zoo_conv){in, r->wide, 1, 1, 0, 1, false}, r->act);
    const struct zoo_conv depthwise = {r->wide, r->wide, r->kernel, r->stride, r->kernel / 2, r->wide, false};
    y = conv_norm(z, step++, y, &depthwise, r->act);
    if (r->squeeze) {
        struct zoo_place q = zoo_child(z, step++);
        y = zoo_squeeze_excite(z, y, r->wide, squeezed(r->wide), ZOO_RELU, ZOO_HARD_SIGMOID);
        zoo_leave(z, q);
    }
    y = conv_norm(z, step, y, &(struct zoo_conv){r->wide, r->out, 1, 1, 0, 1, false}, ZOO_LINEAR);
    zoo_leave(z, p);
    return r->stride == 1 && in == r->out ? zoo_op2(z, "Add", y, x, "") : y;
}

static const char *features(struct zoo *z, const char *x)
{
    static const struct row rows[] = {
        {3, 16, 16, false, ZOO_RELU, 1},        {3, 64, 24, false, ZOO_RELU, 2},
        {3, 72, 24, false, ZOO_RELU, 1},        {5, 72, 40, true, ZOO_RELU, 2},
        {5, 120, 40, true, ZOO_RELU, 1},        {5, 120, 40, true, ZOO_RELU, 1},
        {3, 240, 80, false, ZOO_HARD_SWISH, 2}, {3, 200, 80, false, ZOO_HARD_SWISH, 1},
        {3, 184, 80, false, ZOO_HARD_SWISH, 1}, {3, 184, 80, false, ZOO_HARD_SWISH, 1},
        {3, 480, 112, true, ZOO_HARD_SWISH, 1}, {3, 672, 112, true, ZOO_HARD_SWISH, 1},
        {5, 672, 160, true, ZOO_HARD_SWISH, 2}, {5, 960, 160, true, ZOO_HARD_SWISH, 1},
        {5, 960, 160, true, ZOO_HARD_SWISH, 1},
    };
    int in = 16, index = 1;
    struct zoo_place p = zoo_enter(z, "features");
    x = conv_norm(z, 0, x, &(struct zoo_conv){3, 16, 3, 2, 1, 1, false}, ZOO_HARD_SWISH);
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct zoo_place q = zoo_child(z, index++);
        x = block(z, x, &rows[i], in);
        in = rows[i].out;
        zoo_leave(z, q);
    }
    x = conv_norm(z, index, x, &(struct zoo_conv){in, 960, 1, 1, 0, 1, false}, ZOO_HARD_SWISH);
    zoo_leave(z, p);
    return x;
}

/* Child 2 is dropout, absent at inference. */
static void classifier(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "classifier"), q = zoo_child(z, 0);
    x = zoo_gemm(z, x, NULL, 960, 1280);
    zoo_leave(z, q);
    x = zoo_act_at(z, 1, x, ZOO_HARD_SWISH);
    q = zoo_child(z, 3);
    zoo_gemm(z, x, "output", 1280, 1000);
    zoo_leave(z, q);
    zoo_leave(z, p);
}

void zoo_mobilenetv3(struct zoo *z)
{
    zoo_image_input(z);
    z->norm_attributes = "epsilon=1e-3 momentum=0.99 training_mode=0";
    const char *x = zoo_op_in(z, "avgpool", "GlobalAveragePool", features(z, "input"), "");
    classifier(z, zoo_op(z, "Flatten", x, "axis=1"));
    oc_b_output(z->b, "output", "float[batch,1000]");
}
