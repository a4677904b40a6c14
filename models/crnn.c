/* CRNN, text recognition on grey lines of 32 rows: Shi et al. 2015, table 1, for 26 letters, 10 digits and
 * the blank. Convolutions reduce an image to one row; its columns are the steps of two bidirectional LSTMs.
 */
#include "zoo.h"

enum { HIDDEN = 256, CLASSES = 37 };

struct layer {
    int out, kernel, pad;
    bool batch_norm;
    const char *pool; /* attributes of the MaxPool after it, or NULL */
};

#define HALVE      "ceil_mode=0 dilations=1,1 kernel_shape=2,2 pads=0,0,0,0 strides=2,2"
#define HALVE_ROWS "ceil_mode=0 dilations=1,1 kernel_shape=2,2 pads=0,1,0,1 strides=2,1"

static const struct layer layers[] = {
    {64, 3, 1, false, HALVE},       {128, 3, 1, false, HALVE}, {256, 3, 1, true, NULL},
    {256, 3, 1, false, HALVE_ROWS}, {512, 3, 1, true, NULL},   {512, 3, 1, false, HALVE_ROWS},
    {512, 2, 0, true, NULL},
};

static const char *in_module(struct zoo *z, const char *module, const char *op_type, const char *x,
                             const char *attributes)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_op(z, op_type, x, attributes);
    zoo_leave(z, p);
    return x;
}

static const char *columns(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "cnn");
    int in = 1, pools = 0;
    for (size_t i = 0; i < OC_COUNT(layers); i++) {
        const struct layer *l = &layers[i];
        struct zoo_place q = zoo_enter(z, zoo_text(z, "conv%zu", i));
        x = zoo_conv(z, x, &(struct zoo_conv){in, l->out, l->kernel, 1, l->pad, 1, true});
        zoo_leave(z, q);
        if (l->batch_norm) {
            q = zoo_enter(z, zoo_text(z, "batchnorm%zu", i));
            x = zoo_batch_norm(z, x, l->out);
            zoo_leave(z, q);
        }
        x = in_module(z, zoo_text(z, "relu%zu", i), "Relu", x, "");
        if (l->pool)
            x = in_module(z, zoo_text(z, "pooling%d", pools++), "MaxPool", x, l->pool);
        in = l->out;
    }
    zoo_leave(z, p);
    return x;
}

/* A bidirectional LSTM and a linear layer over all steps. */
static const char *recurrent(struct zoo *z, int index, const char *x, int in, int out)
{
    struct zoo_place p = zoo_child(z, index), q = zoo_enter(z, "rnn");
    x = zoo_rnn(z, x, &(struct zoo_rnn){.lstm = true, .both_ways = true, .in = in, .hidden = HIDDEN});
    zoo_leave(z, q);
    const char *steps = zoo_size(z, x, 0), *batch = zoo_size(z, x, 1);
    const char *rows = zoo_op2(z, "Mul", steps, batch, "");
    q = zoo_enter(z, "embedding");
    x = zoo_gemm(z, ZOO_VIEW(z, x, {rows, 0}, {NULL, 2 * HIDDEN}), NULL, 2 * HIDDEN, out);
    zoo_leave(z, q);
    x = ZOO_VIEW(z, x, {steps, 0}, {batch, 0}, {NULL, out});
    zoo_leave(z, p);
    return x;
}

void zoo_crnn(struct zoo *z)
{
    oc_b_input(z->b, "input", "float[batch,1,32,width]");
    const char *axis = zoo_const(z, "int64[1]{2}");
    const char *x = zoo_op2(z, "Squeeze", columns(z, "input"), axis, "");
    x = zoo_transpose(z, x, "2,0,1");
    struct zoo_place p = zoo_enter(z, "rnn");
    x = recurrent(z, 0, x, layers[OC_COUNT(layers) - 1].out, HIDDEN);
    x = recurrent(z, 1, x, HIDDEN, CLASSES);
    zoo_leave(z, p);
    zoo_op_to(z, "LogSoftmax", x, "output", "axis=2");
    oc_b_output(z->b, "output", zoo_text(z, "float[?,batch,%d]", CLASSES));
}
