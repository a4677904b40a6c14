/* Keyword spotting: Arik et al. 2017, "Convolutional Recurrent Neural Networks for Small-Footprint Keyword
 * Spotting", the network of 229 thousand parameters (section 3.1: 32 filters of 20 x 5 with strides 8 x 2,
 * two bidirectional GRUs of 32 units, a layer of 64). 1.5 seconds of audio are 151 columns of 40 mel bins.
 */
#include "zoo.h"

enum { BANDS = 40, COLUMNS = 151, FILTERS = 32, HIDDEN = 32, DENSE = 64, CLASSES = 2 };
enum { ROWS = 20, STEPS = 19 }; /* 40 / 2 and 151 / 8, rounded up */

static const char *gru(struct zoo *z, const char *module, const char *x, int in)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_rnn(z, x, &(struct zoo_rnn){.both_ways = true, .in = in, .hidden = HIDDEN});
    zoo_leave(z, p);
    return x;
}

static const char *dense(struct zoo *z, const char *module, const char *x, int in, int out)
{
    struct zoo_place p = zoo_enter(z, module);
    x = zoo_gemm(z, x, NULL, in, out);
    zoo_leave(z, p);
    return x;
}

void zoo_keyword(struct zoo *z)
{
    static const struct zoo_window window = {2, {5, 20}, {2, 8}, {1, 6}, {2, 7}};
    oc_b_input(z->b, "mel", zoo_text(z, "float[batch,1,%d,%d]", BANDS, COLUMNS));
    struct zoo_place p = zoo_enter(z, "conv");
    const char *x = zoo_conv_window(z, "mel", 1, FILTERS, &window);
    zoo_leave(z, p);
    x = zoo_op(z, "Relu", x, "");
    x = ZOO_VIEW(z, x, {zoo_size(z, "mel", 0), 0}, {NULL, FILTERS * ROWS}, {NULL, STEPS});
    x = gru(z, "gru1", zoo_transpose(z, x, "2,0,1"), FILTERS * ROWS);
    x = gru(z, "gru2", x, 2 * HIDDEN);
    x = zoo_op(z, "Flatten", zoo_transpose(z, x, "1,0,2"), "axis=1");
    x = zoo_op(z, "Relu", dense(z, "dense", x, 2 * HIDDEN * STEPS, DENSE), "");
    zoo_op_to(z, "Softmax", dense(z, "classes", x, DENSE, CLASSES), "output", "axis=1");
    oc_b_output(z->b, "output", zoo_text(z, "float[batch,%d]", CLASSES));
}
