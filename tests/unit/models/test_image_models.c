/* Multiply-accumulates and parameters of the image models from the layer tables of their papers, compared
 * with the counts that torchvision, timm and Ultralytics publish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zoo.h"
#include "onnxcost.h"

/* norms: channels of batch norms. Two numbers per channel are parameters; mean and variance are in the file
 * too. */
struct sum {
    uint64_t macs, weights, biases, norms;
};

/* A convolution at `side` x `side` output pixels: every weight is multiplied once per pixel. */
static void conv(struct sum *s, uint64_t side, uint64_t in, uint64_t out, uint64_t kernel, uint64_t group)
{
    uint64_t weights = in / group * out * kernel * kernel;
    s->weights += weights;
    s->macs += weights * side * side;
}

static void conv_norm(struct sum *s, uint64_t side, uint64_t in, uint64_t out, uint64_t kernel,
                      uint64_t group)
{
    conv(s, side, in, out, kernel, group);
    s->norms += out;
}

static void conv_bias(struct sum *s, uint64_t side, uint64_t in, uint64_t out, uint64_t kernel,
                      uint64_t group)
{
    conv(s, side, in, out, kernel, group);
    s->biases += out;
}

/* On `rows` vectors. */
static void linear(struct sum *s, uint64_t rows, uint64_t in, uint64_t out)
{
    s->weights += in * out;
    s->biases += out;
    s->macs += rows * in * out;
}

static void layer_norm(struct sum *s, uint64_t width)
{
    s->biases += 2 * width;
}

static void check(const char *name, const struct sum *s, uint64_t parameters)
{
    struct zoo z;
    const struct zoo_model *m = zoo_find(name);
    assert_non_null(m);
    assert_int_equal(m->macs, s->macs);
    assert_int_equal(s->weights + s->biases + 2 * s->norms, parameters);
    zoo_init(&z, 17);
    m->build(&z);
    assert_int_equal(zoo_param_elements(&z), parameters + 2 * s->norms);
    zoo_free(&z);
}

/* ---- convolutional networks at 224 x 224 ---- */

/* The first layer leaves (224 - 3) / 2 + 1 = 111 pixels per side, the poolings (side - 3) / 2 + 1: 55,
 * 27, 13. The last convolution gives the classes: 512 x 1000 x 13 x 13. Published: 1,235,496; 0.35 G. */
static void squeezenet_matches_published_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t side, in, squeeze, expand;
    } fire[] = {{55, 64, 16, 64},   {55, 128, 16, 64},  {27, 128, 32, 128}, {27, 256, 32, 128},
                {13, 256, 48, 192}, {13, 384, 48, 192}, {13, 384, 64, 256}, {13, 512, 64, 256}};
    struct sum s = {0};
    conv_bias(&s, 111, 3, 64, 3, 1);
    for (size_t i = 0; i < OC_COUNT(fire); i++) {
        conv_bias(&s, fire[i].side, fire[i].in, fire[i].squeeze, 1, 1);
        conv_bias(&s, fire[i].side, fire[i].squeeze, fire[i].expand, 1, 1);
        conv_bias(&s, fire[i].side, fire[i].squeeze, fire[i].expand, 3, 1);
    }
    conv_bias(&s, 13, 512, 1000, 1, 1);
    assert_int_equal(s.macs, 349151936);
    check("squeezenet1_1", &s, 1235496);
}

/* Each unit works on half of its channels: 1x1, depthwise 3x3, 1x1. The first unit of a stage also computes
 * the other half with depthwise 3x3 and 1x1, and its 1x1 in the main branch is still at the larger size.
 * Published: 2,278,604; 146 M in the paper. */
static void shufflenet_matches_published_counts(void **state)
{
    (void)state;
    static const uint64_t units[] = {4, 8, 4}, channels[] = {116, 232, 464};
    struct sum s = {0};
    uint64_t in = 24, side = 28;
    conv_norm(&s, 112, 3, 24, 3, 1);
    for (size_t k = 0; k < 3; k++, side /= 2) {
        uint64_t half = channels[k] / 2;
        conv_norm(&s, side, in, in, 3, in);
        conv_norm(&s, side, in, half, 1, 1);
        for (uint64_t i = 0; i < units[k]; i++) {
            conv_norm(&s, i ? side : 2 * side, i ? half : in, half, 1, 1);
            conv_norm(&s, side, half, half, 3, half);
            conv_norm(&s, side, half, half, 1, 1);
        }
        in = channels[k];
    }
    conv_norm(&s, 7, 464, 1024, 1, 1);
    linear(&s, 1, 1024, 1000);
    assert_int_equal(s.macs, 144907992);
    check("shufflenetv2", &s, 2278604);
}

/* A layer normalizes all features so far, computes 128 of them with 1x1, normalizes those, and adds 32 with
 * 3x3. Published: 7,978,856; 2.834 G. */
static void densenet_matches_published_counts(void **state)
{
    (void)state;
    static const uint64_t layers[] = {6, 12, 24, 16};
    struct sum s = {0};
    uint64_t channels = 64, side = 56;
    conv_norm(&s, 112, 3, 64, 7, 1);
    for (size_t k = 0; k < 4; k++, side /= 2) {
        for (uint64_t i = 0; i < layers[k]; i++, channels += 32) {
            s.norms += channels;
            conv_norm(&s, side, channels, 128, 1, 1);
            conv(&s, side, 128, 32, 3, 1);
        }
        s.norms += channels;
        if (k < 3)
            conv(&s, side, channels, channels / 2, 1, 1);
        channels = k < 3 ? channels / 2 : channels;
    }
    linear(&s, 1, 1024, 1000);
    assert_int_equal(channels, 1024);
    assert_int_equal(s.macs, 2834161664);
    check("densenet121", &s, 7978856);
}

/* 1x1 to `wide`, depthwise, squeeze and excitation (two 1x1 convolutions on one pixel), 1x1 to `out`. */
static void inverted(struct sum *s, uint64_t side, uint64_t stride, uint64_t in, uint64_t wide, uint64_t out,
                     uint64_t kernel, uint64_t squeezed)
{
    if (wide != in)
        conv_norm(s, side * stride, in, wide, 1, 1);
    conv_norm(s, side, wide, wide, kernel, wide);
    if (squeezed) {
        conv_bias(s, 1, wide, squeezed, 1, 1);
        conv_bias(s, 1, squeezed, wide, 1, 1);
    }
    conv_norm(s, side, wide, out, 1, 1);
}

/* Published: 5,288,548; 0.386 G. */
static void efficientnet_matches_published_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t expand, kernel, stride, out, blocks, side;
    } stage[] = {{1, 3, 1, 16, 1, 112}, {6, 3, 2, 24, 2, 56}, {6, 5, 2, 40, 2, 28}, {6, 3, 2, 80, 3, 14},
                 {6, 5, 1, 112, 3, 14}, {6, 5, 2, 192, 4, 7}, {6, 3, 1, 320, 1, 7}};
    struct sum s = {0};
    uint64_t in = 32;
    conv_norm(&s, 112, 3, 32, 3, 1);
    for (size_t k = 0; k < OC_COUNT(stage); k++)
        for (uint64_t i = 0; i < stage[k].blocks; i++, in = stage[k].out)
            inverted(&s, stage[k].side, i ? 1 : stage[k].stride, in, in * stage[k].expand, stage[k].out,
                     stage[k].kernel, in / 4);
    conv_norm(&s, 7, 320, 1280, 1, 1);
    linear(&s, 1, 1280, 1000);
    assert_int_equal(s.macs, 385814752);
    check("efficientnet_b0", &s, 5288548);
}

/* The squeezed widths are wide / 4 rounded to a multiple of 8. Published: 5,483,032; 0.217 G. */
static void mobilenetv3_matches_published_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t side, stride, kernel, wide, out, squeezed;
    } block[] = {{112, 1, 3, 16, 16, 0},   {56, 2, 3, 64, 24, 0},     {56, 1, 3, 72, 24, 0},
                 {28, 2, 5, 72, 40, 24},   {28, 1, 5, 120, 40, 32},   {28, 1, 5, 120, 40, 32},
                 {14, 2, 3, 240, 80, 0},   {14, 1, 3, 200, 80, 0},    {14, 1, 3, 184, 80, 0},
                 {14, 1, 3, 184, 80, 0},   {14, 1, 3, 480, 112, 120}, {14, 1, 3, 672, 112, 168},
                 {7, 2, 5, 672, 160, 168}, {7, 1, 5, 960, 160, 240},  {7, 1, 5, 960, 160, 240}};
    struct sum s = {0};
    uint64_t in = 16;
    conv_norm(&s, 112, 3, 16, 3, 1);
    for (size_t i = 0; i < OC_COUNT(block); i++) {
        inverted(&s, block[i].side, block[i].stride, in, block[i].wide, block[i].out, block[i].kernel,
                 block[i].squeezed);
        in = block[i].out;
    }
    conv_norm(&s, 7, 160, 960, 1, 1);
    linear(&s, 1, 960, 1280);
    linear(&s, 1, 1280, 1000);
    assert_int_equal(s.macs, 216589760);
    check("mobilenetv3", &s, 5483032);
}

/* A block: depthwise 7x7, norm, two linear layers on every pixel, one scale per channel. Before each later
 * stage a norm and 2x2 with stride 2. Published: 28,589,128; 4.456 G. */
static void convnext_matches_published_counts(void **state)
{
    (void)state;
    static const uint64_t blocks[] = {3, 3, 9, 3};
    struct sum s = {0};
    for (uint64_t k = 0; k < 4; k++) {
        uint64_t width = 96u << k, side = 56u >> k, before = width / 2;
        conv_bias(&s, side, k ? before : 3, width, k ? 2 : 4, 1);
        layer_norm(&s, k ? before : width);
        for (uint64_t i = 0; i < blocks[k]; i++) {
            conv_bias(&s, side, width, width, 7, width);
            layer_norm(&s, width);
            linear(&s, side * side, width, 4 * width);
            linear(&s, side * side, 4 * width, width);
            s.biases += width;
        }
    }
    layer_norm(&s, 768);
    linear(&s, 1, 768, 1000);
    assert_int_equal(s.macs, 4455531264);
    check("convnext_tiny", &s, 28589128);
}

/* 14 x 14 patches of 16 x 16 pixels; in each of 12 blocks an MLP over the 196 patches for every channel and
 * one over the 768 channels for every patch. Published: 59 M in the paper, 59,880,472 in timm; 12.6 G. */
static void mixer_matches_published_counts(void **state)
{
    (void)state;
    struct sum s = {0};
    conv_bias(&s, 14, 3, 768, 16, 1);
    for (int i = 0; i < 12; i++) {
        layer_norm(&s, 768);
        linear(&s, 768, 196, 384);
        linear(&s, 768, 384, 196);
        layer_norm(&s, 768);
        linear(&s, 196, 768, 3072);
        linear(&s, 196, 3072, 768);
    }
    layer_norm(&s, 768);
    linear(&s, 1, 768, 1000);
    assert_int_equal(s.macs, 12601767936);
    check("mixer_b_16", &s, 59880472);
}

/* ---- image to image ---- */

/* Two 3x3 convolutions per level, 32 features at 256 x 256, 512 at 16 x 16. In the decoder a transposed 2x2
 * convolution of stride 2 multiplies every weight once per pixel of its input and halves the features; half
 * of the next convolution's input comes from the encoder. Published: 7,763,041. */
static void unet_matches_published_counts(void **state)
{
    (void)state;
    struct sum s = {0};
    uint64_t in = 3;
    for (uint64_t k = 0; k <= 4; k++, in = 16u << k) {
        conv_norm(&s, 256u >> k, in, 32u << k, 3, 1);
        conv_norm(&s, 256u >> k, 32u << k, 32u << k, 3, 1);
    }
    for (uint64_t k = 4; k-- > 0;) {
        uint64_t width = 32u << k, side = 256u >> k;
        conv_bias(&s, side / 2, 2 * width, width, 2, 1);
        conv_norm(&s, side, 2 * width, width, 3, 1);
        conv_norm(&s, side, width, width, 3, 1);
    }
    conv_bias(&s, 256, 32, 1, 1, 1);
    assert_int_equal(s.macs, 12071206912);
    check("unet", &s, 7763041);
}

/* Sub-pixel network: 64 x 25 + 64, 64 x 64 x 9 + 64, 32 x 64 x 9 + 32, 9 x 32 x 9 + 9 parameters, 59,657, the
 * 240 kB of the file in ONNX's own collection. */
static void espcn_matches_published_counts(void **state)
{
    (void)state;
    struct sum s = {0};
    conv_bias(&s, 224, 1, 64, 5, 1);
    conv_bias(&s, 224, 64, 64, 3, 1);
    conv_bias(&s, 224, 64, 32, 3, 1);
    conv_bias(&s, 224, 32, 9, 3, 1);
    assert_int_equal(s.macs, 2984869888);
    check("espcn", &s, 1664 + 36928 + 18464 + 2601);
}

/* 1,369,859 is published without the two 1x1 convolutions for the mean colours, 3 x 3 + 3 each. */
static void edsr_matches_published_counts(void **state)
{
    (void)state;
    struct sum s = {0};
    conv_bias(&s, 128, 3, 3, 1, 1);
    conv_bias(&s, 128, 3, 64, 3, 1);
    for (int i = 0; i < 2 * 16 + 1; i++)
        conv_bias(&s, 128, 64, 64, 3, 1);
    conv_bias(&s, 128, 64, 256, 3, 1);
    conv_bias(&s, 256, 64, 3, 3, 1);
    conv_bias(&s, 256, 3, 3, 1, 1);
    assert_int_equal(s.macs, 22489546752);
    check("edsr", &s, 1369859 + 24);
}

/* ---- a detector ---- */

static void c2f(struct sum *s, uint64_t side, uint64_t in, uint64_t out, uint64_t n)
{
    conv_bias(s, side, in, out, 1, 1);
    for (uint64_t i = 0; i < 2 * n; i++)
        conv_bias(s, side, out / 2, out / 2, 3, 1);
    conv_bias(s, side, (2 + n) * out / 2, out, 1, 1);
}

/* Boxes: 3x3, 3x3, 1x1 to 4 x 16 distances; classes: the same to 80. */
static void detection_head(struct sum *s, uint64_t side, uint64_t in)
{
    for (uint64_t k = 0; k < 2; k++) {
        uint64_t width = k ? 80 : 64;
        conv_bias(s, side, in, width, 3, 1);
        conv_bias(s, side, width, width, 3, 1);
        conv_bias(s, side, width, width, 1, 1);
    }
}

/* 640 / 2 / 2 = 160 pixels per side for the first C2f, then 80, 40, 20, and up again. The mean of 16
 * distances is a 1x1 convolution over 4 x 8400 positions. Published, norms fused: 3,151,904; 8.7 G
 * operations, two per MAC. */
static void yolov8_matches_published_counts(void **state)
{
    (void)state;
    struct sum s = {0};
    conv_bias(&s, 320, 3, 16, 3, 1);
    for (uint64_t k = 0; k < 4; k++) {
        conv_bias(&s, 160u >> k, 16u << k, 32u << k, 3, 1);
        c2f(&s, 160u >> k, 32u << k, 32u << k, k == 1 || k == 2 ? 2 : 1);
    }
    conv_bias(&s, 20, 256, 128, 1, 1);
    conv_bias(&s, 20, 4 * 128, 256, 1, 1);
    c2f(&s, 40, 256 + 128, 128, 1);
    c2f(&s, 80, 128 + 64, 64, 1);
    conv_bias(&s, 40, 64, 64, 3, 1);
    c2f(&s, 40, 64 + 128, 128, 1);
    conv_bias(&s, 20, 128, 128, 3, 1);
    c2f(&s, 20, 128 + 256, 256, 1);
    for (uint64_t k = 0; k < 3; k++)
        detection_head(&s, 80u >> k, 64u << k);
    s.weights += 16;
    s.macs += UINT64_C(16) * 4 * (80 * 80 + 40 * 40 + 20 * 20);
    assert_int_equal(s.macs, 4371993600);
    check("yolov8n", &s, 3151904);
}

/* ---- nodes ---- */

static size_t count_nodes(const Onnx__GraphProto *g, const char *op_type)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        n += !strcmp(g->node[i]->op_type, op_type);
    return n;
}

/* SqueezeNet concatenates in 8 fire modules; ShuffleNet shuffles in 16 units, of which the 13 that keep their
 * size split first. EfficientNet has an SiLU after 49 convolutions except the 16 projections and, in each of
 * 16 blocks, one and a sigmoid of squeezing. ConvNeXt has a GELU in 18 blocks; a norm there, before 3 stages,
 * after the first layer and the last. A Mixer block has 2 GELUs. In YOLO all convolutions except the last 6
 * of the head and the mean of distances have an SiLU; the classes have a sigmoid. */
static void node_counts_match_the_architectures(void **state)
{
    (void)state;
    static const struct {
        const char *name, *op_type;
        size_t n;
    } rows[] = {
        {"squeezenet1_1", "Conv", 26},
        {"squeezenet1_1", "Concat", 8},
        {"shufflenetv2", "Conv", 56},
        {"shufflenetv2", "Split", 13},
        {"shufflenetv2", "Transpose", 16},
        {"densenet121", "Conv", 120},
        {"densenet121", "BatchNormalization", 121},
        {"efficientnet_b0", "Conv", 81},
        {"efficientnet_b0", "Sigmoid", 49 - 16 + 32},
        {"efficientnet_b0", "Add", 9},
        {"mobilenetv3", "HardSwish", 21},
        {"mobilenetv3", "HardSigmoid", 8},
        {"mobilenetv3", "Relu", 19},
        {"convnext_tiny", "Erf", 18},
        {"convnext_tiny", "LayerNormalization", 23},
        {"mixer_b_16", "Erf", 24},
        {"mixer_b_16", "MatMul", 48},
        {"unet", "ConvTranspose", 4},
        {"unet", "Concat", 4},
        {"yolov8n", "Conv", 64},
        {"yolov8n", "Sigmoid", 64 - 7 + 1},
        {"yolov8n", "Resize", 2},
        {"espcn", "DepthToSpace", 1},
        {"edsr", "Add", 17},
    };
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct zoo z;
        zoo_init(&z, 17);
        zoo_find(rows[i].name)->build(&z);
        size_t n = count_nodes(oc_b_model(z.b)->graph, rows[i].op_type);
        if (n != rows[i].n)
            fail_msg("%s: %zu %s, expected %zu", rows[i].name, n, rows[i].op_type, rows[i].n);
        zoo_free(&z);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squeezenet_matches_published_counts),
        cmocka_unit_test(shufflenet_matches_published_counts),
        cmocka_unit_test(densenet_matches_published_counts),
        cmocka_unit_test(efficientnet_matches_published_counts),
        cmocka_unit_test(mobilenetv3_matches_published_counts),
        cmocka_unit_test(convnext_matches_published_counts),
        cmocka_unit_test(mixer_matches_published_counts),
        cmocka_unit_test(unet_matches_published_counts),
        cmocka_unit_test(espcn_matches_published_counts),
        cmocka_unit_test(edsr_matches_published_counts),
        cmocka_unit_test(yolov8_matches_published_counts),
        cmocka_unit_test(node_counts_match_the_architectures),
    };
    return cmocka_run_group_tests_name("image_models", tests, NULL, NULL);
}
