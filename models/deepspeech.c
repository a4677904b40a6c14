/* Deep Speech 2 (Amodei et al. 2015) as in the deepspeech.pytorch project: two convolutions over a
 * spectrogram of 161 bins, five bidirectional recurrent layers whose directions are added, one linear layer
 * for 29 letters. Two of its published sizes: LSTMs of 1024 units and GRUs of 800. All sequences of a batch
 * have the same length. */
#include "zoo.h"

enum { BINS = 161, CHANNELS = 32, LAYERS = 5, LETTERS = 29 };
enum { FEATURES = CHANNELS * 41 }; /* bins after two convolutions of stride 2: 161, 81, 41 */

/* Conv, BatchNorm, Hardtanh between 0 and 20: three modules of a Sequential */
static const char *conv(struct zoo *z, int index, const char *x, int in, const struct zoo_window *w)
{
    struct zoo_place p = zoo_enter(z, "seq_module"), q = zoo_child(z, index);
    x = zoo_conv_window(z, x, in, CHANNELS, w);
    zoo_leave(z, q);
    q = zoo_child(z, index + 1);
    x = zoo_batch_norm(z, x, CHANNELS);
    zoo_leave(z, q);
    q = zoo_child(z, index + 2);
    const char *low = zoo_const(z, "float[]{0}"), *high = zoo_const(z, "float[]{20}");
    x = zoo_op(z, "Clip", zoo_text(z, "%s,%s,%s", x, low, high), "");
    zoo_leave(z, q);
    zoo_leave(z, p);
    return x;
}

/* {batch, 32, 41, steps} to {steps, batch, 1312} */
static const char *front(struct zoo *z, const char *x)
{
    static const struct zoo_window tall = {2, {41, 11}, {2, 2}, {20, 5}, {20, 5}},
                                   low = {2, {21, 11}, {2, 1}, {10, 5}, {10, 5}};
    struct zoo_place p = zoo_enter(z, "conv");
    x = conv(z, 3, conv(z, 0, x, 1, &tall), CHANNELS, &low);
    zoo_leave(z, p);
    const char *batch = zoo_size(z, x, 0), *steps = zoo_size(z, x, 3);
    x = ZOO_VIEW(z, x, {batch, 0}, {NULL, FEATURES}, {steps, 0});
    return zoo_transpose(z, x, "2,0,1");
}

/* The rows of all steps concatenated. */
static const char *flat(struct zoo *z, const char *x, const char *steps, const char *batch, int width)
{
    return ZOO_VIEW(z, x, {zoo_op2(z, "Mul", steps, batch, ""), 0}, {NULL, width});
}

static const char *norm_rows(struct zoo *z, const char *x, int width)
{
    const char *steps = zoo_size(z, x, 0), *batch = zoo_size(z, x, 1);
    x = flat(z, x, steps, batch, width);
    struct zoo_place p = zoo_enter(z, "module");
    x = zoo_batch_norm(z, x, width);
    zoo_leave(z, p);
    return ZOO_VIEW(z, x, {steps, 0}, {batch, 0}, {NULL, width});
}

static const char *layer(struct zoo *z, int index, const char *x, const struct zoo_rnn *r)
{
    struct zoo_place p = zoo_child(z, index);
    if (index) {
        struct zoo_place q = zoo_enter(z, "batch_norm");
        x = norm_rows(z, x, r->in);
        zoo_leave(z, q);
    }
    struct zoo_place q = zoo_enter(z, "rnn");
    x = zoo_rnn(z, x, r);
    zoo_leave(z, q);
    const char *steps = zoo_size(z, x, 0), *batch = zoo_size(z, x, 1);
    x = ZOO_VIEW(z, x, {steps, 0}, {batch, 0}, {NULL, 2}, {NULL, r->hidden});
    x = zoo_op2(z, "ReduceSum", x, zoo_const(z, "int64[1]{2}"), "keepdims=0");
    zoo_leave(z, p);
    return x;
}

/* Batch norm and a linear layer without bias, {steps, batch, letters} */
static const char *letters(struct zoo *z, const char *x, int width)
{
    struct zoo_place p = zoo_child(z, 0);
    const char *steps = zoo_size(z, x, 0), *batch = zoo_size(z, x, 1);
    x = flat(z, x, steps, batch, width);
    struct zoo_place q = zoo_enter(z, "module"), r = zoo_child(z, 0);
    x = zoo_batch_norm(z, x, width);
    zoo_leave(z, r);
    x = zoo_linear_bare(z, "module.1", x, width, LETTERS, width);
    zoo_leave(z, q);
    x = ZOO_VIEW(z, x, {steps, 0}, {batch, 0}, {NULL, LETTERS});
    zoo_leave(z, p);
    return x;
}

static void deepspeech(struct zoo *z, bool lstm, int hidden)
{
    oc_b_input(z->b, "spectrogram", zoo_text(z, "float[batch,1,%d,frames]", BINS));
    const char *x = front(z, "spectrogram");
    struct zoo_place p = zoo_enter(z, "rnns");
    for (int i = 0; i < LAYERS; i++)
        x = layer(z, i, x,
                  &(struct zoo_rnn){
                      .lstm = lstm, .both_ways = true, .in = i ? hidden : FEATURES, .hidden = hidden});
    zoo_leave(z, p);
    p = zoo_enter(z, "fc");
    x = letters(z, x, hidden);
    zoo_leave(z, p);
    p = zoo_enter(z, "inference_softmax");
    zoo_op_to(z, "Softmax", zoo_transpose(z, x, "1,0,2"), "output", "axis=-1");
    zoo_leave(z, p);
    oc_b_output(z->b, "output", zoo_text(z, "float[batch,?,%d]", LETTERS));
}

void zoo_deepspeech_lstm(struct zoo *z)
{
    deepspeech(z, true, 1024);
}

void zoo_deepspeech_gru(struct zoo *z)
{
    deepspeech(z, false, 800);
}
