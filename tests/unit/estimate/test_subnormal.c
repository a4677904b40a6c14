#include "estimate/predict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/fusion_plan.h"
#include "hw/hwdb.h"
#include "support/run_model.h"
#include "onnxcost/hardware.h"
#include "onnxcost.h"

static double share_of(const char *weight)
{
    size_t n;
    struct oc_err err;
    struct oc_model *m;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4]");
    oc_b_init(b, "w", weight);
    oc_b_node(b, "MatMul", "product", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), 0);
    const uint32_t node = 0;
    double share = oc_subnormal_share(m, &node, 1);
    oc_model_free(m);
    free(bytes);
    return share;
}

static void numbers_below_the_normal_range_are_counted(void **state)
{
    (void)state;
    assert_true(share_of("float[4,2]{1e-40,0,1,2,-1e-40,-3,1e-37,1e30}") == 0.25);
    assert_true(share_of("float[4,2]{*0}") == 0);
    assert_true(share_of("float[4,2]{*1.2e-38}") == 0); /* the smallest normal number is 1.17549e-38 */
    assert_true(share_of("float[4,2]{*1.1e-38}") == 1);
}

/* Without values, of another type, or without elements: none. */
static void other_weights_have_none(void **state)
{
    (void)state;
    assert_true(share_of("float[4,2]") == 0);
    assert_true(share_of("double[4,2]{*1e-40}") == 0);
    assert_true(share_of("float[4,0]{}") == 0);
}

static void large_weights_are_sampled(void **state)
{
    (void)state;
    assert_true(share_of("float[4,100000]{*1e-40}") == 1);
    assert_true(share_of("float[4,100000]{*1}") == 0);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

/* Four cores of 2 GHz with AVX-512. */
static struct oc_device *processor(const char *vendor)
{
    static struct oc_hw_figure figure[] = {
        {.group = "count", .what = "core", .value = 4},
        {.group = "clock", .what = "base", .value = 2e9},
        {.group = "vector", .what = "f32", .isa = "avx512", .value = 1e12}};
    static struct oc_device_info info;
    static struct oc_device d = {.info = &info, .figure = figure, .n_figure = OC_COUNT(figure)};
    info = (struct oc_device_info){.kind = "cpu", .vendor = vendor, .id = "made"};
    return &d;
}

struct marked {
    struct oc_run r;
    struct oc_arena arena;
    struct oc_kernel_list list;
    const struct oc_kernel *kernel; /* the only one with MACs */
};

static struct marked mark(struct oc_builder *b, const struct oc_device *d)
{
    struct marked k = {.r = oc_run_model(b, NULL)};
    assert_non_null(k.r.a);
    oc_fusion_plan(k.r.m, k.r.a, OC_FUSE_ORT_CPU, &k.arena, &k.list);
    oc_subnormal_mark(k.r.m, d, &k.list);
    for (size_t i = 0; i < k.list.n; i++)
        if (k.list.item[i].kernel.work.macs[OC_CLASS_F32])
            k.kernel = &k.list.item[i].kernel;
    assert_non_null(k.kernel);
    return k;
}

static void marked_free(struct marked *k)
{
    oc_arena_free(&k->arena);
    oc_run_free(&k->r);
}

/* A convolution of 16 to 32 channels, whose weights are `small` in the first output channel and 1 in the others. */
static struct oc_builder *convolution(const char *before, const char *small, const char *scale)
{
    char weights[64 * 1024] = "float[32,16,1,1]{", *end = weights + strlen(weights);
    struct oc_builder *b = oc_b_new(17);
    for (unsigned i = 0; i < 32 * 16; i++)
        end += sprintf(end, "%s%s", i ? "," : "", i < 16 ? small : "1");
    strcpy(end, "}");
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "w", weights);
    oc_b_node(b, before, "before", "x", "a", "");
    oc_b_node(b, "Conv", "conv", "a,w", scale ? "c" : "y", "");
    if (scale) {
        oc_b_init(b, "s", scale);
        oc_b_init(b, "one", "float[32]{*1}");
        oc_b_node(b, "BatchNormalization", "norm", "c,s,one,one,one", "y", "");
    }
    oc_b_output(b, "y", NULL);
    return b;
}

/* Blocks of 16 output channels: the first of two has a subnormal weight in each of its vectors. */
static void vectors_with_subnormal_weights_take_150_cycles(void **state)
{
    (void)state;
    const struct oc_device *d = processor("Intel");
    struct marked k = mark(convolution("Sigmoid", "1e-40", NULL), d);
    assert_true(k.kernel->assisted == 0.5 && !k.kernel->rectified);
    struct oc_assists t = oc_subnormal_assists(k.kernel, d);
    double vectors = 0.5 * 32 * 16 * 64 / 16;
    assert_true(fabs(t.usual_s - vectors * 150 / (4 * 2e9)) < 1e-12);
    assert_true(fabs(t.most_s - vectors * 200 / (4 * 2e9)) < 1e-12);
    marked_free(&k);
}

static void zeros_after_relu_are_exact(void **state)
{
    (void)state;
    const struct oc_device *d = processor("Intel");
    struct marked signs = mark(convolution("Sigmoid", "1e-40", NULL), d),
                  relu = mark(convolution("Relu", "1e-40", NULL), d);
    assert_true(relu.kernel->rectified);
    assert_true(oc_subnormal_assists(relu.kernel, d).usual_s <
                0.5 * oc_subnormal_assists(signs.kernel, d).usual_s);
    assert_true(oc_subnormal_assists(relu.kernel, d).most_s == oc_subnormal_assists(signs.kernel, d).most_s);
    marked_free(&signs);
    marked_free(&relu);
}

/* The runtime multiplies the weights by the scale before the run. */
/* x of the convolution comes from Relu through operators that move elements; other arithmetic ends the search. */
static void zeros_pass_what_moves_elements(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *more_inputs, *attributes;
        bool rectified;
    } c[] = {{"Relu", "Reshape", ",shape", "", true},
             {"Clip", "Transpose", "", "perm=[0,1,3,2]", true},
             {"LeakyRelu", "MaxPool", "", "kernel_shape=[1,1]", true},
             {"PRelu", "Identity", "", "", true},
             {"Sigmoid", "Reshape", ",shape", "", false},
             {"Relu", "Exp", "", "", false},
             {"Relu", "Add", ",one", "", false}};
    const struct oc_device *d = processor("Intel");
    for (size_t i = 0; i < OC_COUNT(c); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1,16,8,8]");
        oc_b_init(b, "w", "float[32,16,1,1]{*1e-40}");
        oc_b_init(b, "shape", "int64[4]{1,16,8,8}");
        oc_b_init(b, "one", "float[1]{1}");
        char inputs[16];
        snprintf(inputs, sizeof(inputs), "a%s", c[i].more_inputs);
        oc_b_node(b, c[i].first, "first", strcmp(c[i].first, "PRelu") == 0 ? "x,one" : "x", "a", "");
        oc_b_node(b, c[i].second, "second", inputs, "b", c[i].attributes);
        oc_b_node(b, "Conv", "conv", "b,w", "y", "");
        oc_b_output(b, "y", NULL);
        struct marked k = mark(b, d);
        assert_true(k.kernel->assisted > 0.9);
        assert_int_equal(k.kernel->rectified, c[i].rectified);
        marked_free(&k);
    }
}

static void folded_weights_count(void **state)
{
    (void)state;
    const struct oc_device *d = processor("Intel");
    struct marked zero = mark(convolution("Sigmoid", "1e-40", "float[32]{*0}"), d),
                  large = mark(convolution("Sigmoid", "1e-40", "float[32]{*1e20}"), d),
                  small = mark(convolution("Sigmoid", "1", "float[32]{*1e-40}"), d);
    assert_true(zero.kernel->assisted == 0 && large.kernel->assisted == 0);
    assert_true(small.kernel->assisted == 1);
    marked_free(&zero);
    marked_free(&large);
    marked_free(&small);
}

static void products_have_vectors_of_columns(void **state)
{
    (void)state;
    const struct oc_device *d = processor("Intel");
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[8,2]");
    oc_b_init(b, "w", "float[2,16]{1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1e-40,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}");
    oc_b_node(b, "MatMul", "product", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct marked k = mark(b, d);
    assert_true(k.kernel->assisted == 0.5); /* the first of two rows */
    marked_free(&k);
}

/* Products of 1e-25 and inputs of that size are subnormal: those of a depthwise convolution, but not sums over channels. */
static void depthwise_convolutions_multiply_small_numbers(void **state)
{
    (void)state;
    for (int depthwise = 0; depthwise < 2; depthwise++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1,32,8,8]");
        oc_b_init(b, "w", depthwise ? "float[32,1,3,3]{*1e-25}" : "float[32,32,1,1]{*1e-25}");
        oc_b_node(b, "Conv", "conv", "x,w", "y", depthwise ? "pads=1,1,1,1 group=32" : "");
        oc_b_output(b, "y", NULL);
        struct marked k = mark(b, processor("Intel"));
        assert_true(k.kernel->assisted == depthwise);
        marked_free(&k);
    }
}

static void other_processors_are_not_slow(void **state)
{
    (void)state;
    struct marked k = mark(convolution("Sigmoid", "1e-40", NULL), processor("Ampere"));
    assert_true(k.kernel->assisted == 0);
    marked_free(&k);
    const struct oc_device *amd = processor("AMD"); /* not measured: an upper end, no prediction */
    k = mark(convolution("Sigmoid", "1e-40", NULL), amd);
    assert_true(oc_subnormal_assists(k.kernel, amd).usual_s == 0);
    assert_true(oc_subnormal_assists(k.kernel, amd).most_s > 0);
    marked_free(&k);
    k = mark(convolution("Sigmoid", "1", NULL), processor("Intel"));
    assert_true(k.kernel->assisted == 0 && oc_subnormal_assists(k.kernel, processor("Intel")).most_s == 0);
    marked_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_below_the_normal_range_are_counted),
                                       cmocka_unit_test(other_weights_have_none),
                                       cmocka_unit_test(large_weights_are_sampled),
                                       cmocka_unit_test(vectors_with_subnormal_weights_take_150_cycles),
                                       cmocka_unit_test(zeros_after_relu_are_exact),
                                       cmocka_unit_test(zeros_pass_what_moves_elements),
                                       cmocka_unit_test(folded_weights_count),
                                       cmocka_unit_test(products_have_vectors_of_columns),
                                       cmocka_unit_test(depthwise_convolutions_multiply_small_numbers),
                                       cmocka_unit_test(other_processors_are_not_slow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
