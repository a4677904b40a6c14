/* VGG-16 without batch normalisation: Simonyan and Zisserman 2014, as in torchvision. */
#include "zoo.h"

static const char *features(struct zoo *z, const char *x)
{
    static const int widths[] = {64, 64,  0,   128, 128, 0,   256, 256, 256,
                                 0,  512, 512, 512, 0,   512, 512, 512, 0};
    int in = 3, index = 0;
    struct zoo_place p = zoo_enter(z, "features");
    for (size_t i = 0; i < OC_COUNT(widths); i++) {
        struct zoo_place q = zoo_child(z, index++);
        if (!widths[i]) {
            x = zoo_op(z, "MaxPool", x,
                       "ceil_mode=0 dilations=1,1 kernel_shape=2,2 pads=0,0,0,0 strides=2,2");
            zoo_leave(z, q);
            continue;
        }
        x = zoo_conv(z, x, &(struct zoo_conv){in, widths[i], 3, 1, 1, 1, true});
        in = widths[i];
        zoo_leave(z, q);
        q = zoo_child(z, index++);
        x = zoo_op(z, "Relu", x, "");
        zoo_leave(z, q);
    }
    zoo_leave(z, p);
    return x;
}

/* Modules 0, 3 and 6 are linear; 1 and 4 their activations; 2 and 5 dropout, absent at inference. */
static void classifier(struct zoo *z, const char *x)
{
    struct zoo_place p = zoo_enter(z, "classifier");
    for (int i = 0; i < 2; i++) {
        struct zoo_place q = zoo_child(z, 3 * i);
        x = zoo_gemm(z, x, NULL, i ? 4096 : 512 * 7 * 7, 4096);
        zoo_leave(z, q);
        q = zoo_child(z, 3 * i + 1);
        x = zoo_op(z, "Relu", x, "");
        zoo_leave(z, q);
    }
    struct zoo_place q = zoo_child(z, 6);
    zoo_gemm(z, x, "output", 4096, 1000);
    zoo_leave(z, q);
    zoo_leave(z, p);
}

void zoo_vgg16(struct zoo *z)
{
    oc_b_input(z->b, "input", "float[batch,3,224,224]");
    const char *x = features(z, "input");
    struct zoo_place p = zoo_enter(z, "avgpool");
    x = zoo_op(z, "AveragePool", x,
               "ceil_mode=0 count_include_pad=1 kernel_shape=1,1 pads=0,0,0,0 strides=1,1");
    zoo_leave(z, p);
    classifier(z, zoo_op(z, "Flatten", x, "axis=1"));
    oc_b_output(z->b, "output", "float[batch,1000]");
}
