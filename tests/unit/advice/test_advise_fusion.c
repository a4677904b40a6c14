#include "unit/advice/advice_case.h"
#include "onnxcost/hardware.h"

/* Conv [1,8,16,16] to 8 channels, BatchNormalization, Relu. A tensor: 8 * 16 * 16 * 4 = 8192 bytes. */
static struct oc_builder *conv_bn_relu(bool read_twice)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,16,16]");
    oc_b_init(b, "w", "float[8,8,1,1]");
    for (const char *s = "abcd"; *s; s++)
        oc_b_init(b, (char[]){*s, 0}, "float[8]");
    oc_b_node(b, "Conv", "conv", "x,w", "y", "");
    oc_b_node(b, "BatchNormalization", "bn", "y,a,b,c,d", "z", "");
    oc_b_node(b, "Relu", "relu", "z", "out", "");
    oc_b_output(b, "out", NULL);
    if (read_twice)
        oc_b_output(b, "y", NULL);
    return b;
}

static void unfused_kernels_are_reported(void **state)
{
    struct advised x;
    (void)state;
    const char *table = "conv,Conv,,60\nbn,BatchNormalization,,30\nrelu,Relu,,10\n";
    advise_case(&x, conv_bn_relu(false), table, NULL);
    /* an activation reads and writes what the convolution writes anyway: all of its time */
    const struct oc_advice_item *act = finding(&x, "conv-activation");
    assert_non_null(act);
    assert_int_equal(act->n_proof, 1);
    assert_true(fabs(act->high_ns - 10e3) < 1e-3 && fabs(act->low_ns - 10e3) < 1e-3);
    assert_string_equal(act->proof[0].name, "relu");
    assert_int_equal(finding(&x, "conv-norm")->severity, OC_ADVICE_HIGH);
    expect_finding(&x, "conv-norm", 1, 30e3, 30e3);
}

static void unfoldable_normalization_is_not_reported(void **state)
{
    struct advised x;
    (void)state;
    /* the result of the convolution is also an output */
    advise_case(&x, conv_bn_relu(true), "conv,Conv,,60\nbn,BatchNormalization,,30\nrelu,Relu,,10\n", NULL);
    expect_none(&x, "conv-norm");
}

static void fused_kernels_are_not_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, conv_bn_relu(false), "conv,FusedConv,,60\n", NULL);
    assert_null(finding(&x, "conv-activation"));
    expect_none(&x, "conv-norm");
}

/* Without a profile the fusions of the runtime are unknown: no time, severity info. */
static void model_without_profile_gives_infos(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, conv_bn_relu(false), NULL, NULL);
    const struct oc_advice_item *f = finding(&x, "conv-norm");
    assert_non_null(f);
    assert_int_equal(f->severity, OC_ADVICE_INFO);
    assert_true(f->saved_bytes == 2 * 8192 + 4 * 32); /* in, out, and the four lists */
    assert_non_null(strstr(f->todo, "when it loads the model"));
    expect_finding(&x, "conv-norm", 1, NAN, NAN);
}

/* The residual must still be read: two thirds of the bytes are saved. */
static void residuals_are_reported(void **state)
{
    struct advised x;
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "x", "float[1,8,16,16]");
    oc_b_init(b, "w", "float[8,8,1,1]");
    oc_b_node(b, "Conv", "conv", "x,w", "y", "");
    oc_b_node(b, "Add", "add", "y,x", "z", "");
    oc_b_output(b, "z", NULL);
    advise_case(&x, b, "conv,Conv,,70\nadd,Add,,30\n", NULL);
    expect_finding(&x, "conv-activation", 1, 20e3, 30e3);
}

/* x / sqrt(2), Erf, + 1, * x, * 0.5 */
static void parts_of_gelu_are_reported(void **state)
{
    struct advised x;
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "in", "float[4,256]");
    oc_b_init(b, "root", "float[]{1.4142135}");
    oc_b_init(b, "one", "float[]{1}");
    oc_b_init(b, "half", "float[]{0.5}");
    oc_b_node(b, "Softmax", "before", "in", "x", "");
    oc_b_node(b, "Div", "div", "x,root", "a", "");
    oc_b_node(b, "Erf", "erf", "a", "b", "");
    oc_b_node(b, "Add", "add", "b,one", "c", "");
    oc_b_node(b, "Mul", "mul", "x,c", "d", "");
    oc_b_node(b, "Mul", "scale", "d,half", "e", "");
    oc_b_output(b, "e", NULL);
    advise_case(&x, b,
                "before,Softmax,,10\ndiv,Div,,10\nerf,Erf,,40\nadd,Add,,10\nmul,Mul,,20\nscale,Mul,,10\n",
                NULL);
    const struct oc_advice_item *f = finding(&x, "fused-pattern");
    assert_non_null(f);
    assert_int_equal(f->n_proof, 4);               /* of five kernels, one remains */
    assert_null(finding(&x, "elementwise-chain")); /* they are reported once */
    advised_free(&x);
}

/* The same after a product and its bias: the bias is folded, the branches are not. */
static void parts_of_gelu_do_not_fold_into_weights(void **state)
{
    struct advised x;
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "in", "float[4,256]");
    oc_b_init(b, "w", "float[256,256]");
    oc_b_init(b, "bias", "float[256]");
    oc_b_init(b, "root", "float[]{1.4142135}");
    oc_b_init(b, "one", "float[]{1}");
    oc_b_init(b, "half", "float[]{0.5}");
    oc_b_node(b, "MatMul", "product", "in,w", "y", "");
    oc_b_node(b, "Add", "shift", "y,bias", "x", "");
    oc_b_node(b, "Div", "div", "x,root", "a", "");
    oc_b_node(b, "Erf", "erf", "a", "b", "");
    oc_b_node(b, "Add", "add", "b,one", "c", "");
    oc_b_node(b, "Mul", "mul", "x,c", "d", "");
    oc_b_node(b, "Mul", "scale", "d,half", "e", "");
    oc_b_output(b, "e", NULL);
    advise_case(&x, b, NULL, NULL);
    const struct oc_advice_item *f = finding(&x, "conv-norm");
    assert_non_null(f);
    assert_int_equal(f->n_proof, 1);
    assert_string_equal(f->proof[0].name, "shift");
    f = finding(&x, "fused-pattern");
    assert_non_null(f);
    assert_int_equal(f->n_proof, 5);
    assert_null(finding(&x, "conv-activation"));
    advised_free(&x);
}

/* A scale after an activation, or with a number for each element, is not multiplied into the weights. */
static void scales_after_activations_do_not_fold(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct advised x;
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1,8,16,16]");
        oc_b_init(b, "w", "float[8,8,1,1]");
        oc_b_init(b, "s", i ? "float[1,8,16,16]" : "float[1,8,1,1]");
        oc_b_node(b, "Conv", "conv", "x,w", "y", "");
        if (!i)
            oc_b_node(b, "Relu", "relu", "y", "z", "");
        oc_b_node(b, "Mul", "scale", i ? "y,s" : "z,s", "out", "");
        oc_b_output(b, "out", NULL);
        advise_case(&x, b, NULL, NULL);
        assert_null(finding(&x, "fused-pattern"));
        expect_none(&x, "conv-norm");
    }
}

/* ---- element-wise chains ---- */

/* Three operators on [64,64] floats: 16384 bytes a tensor; after a reduction, which is not element-wise. */
static struct oc_builder *chain(bool read_twice)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[64,64]");
    oc_b_input(b, "s", "float[64,64]");
    oc_b_node(b, "Mul", "mul", "x,s", "a", "");
    oc_b_node(b, "Sub", "sub", "a,s", "b", "");
    oc_b_node(b, "Exp", "exp", "b", "c", "");
    oc_b_node(b, "ReduceSum", "sum", "c", "d", "");
    oc_b_output(b, "d", NULL);
    if (read_twice) {
        oc_b_output(b, "a", NULL);
        oc_b_output(b, "b", NULL);
    }
    return b;
}

static void chains_are_reported_once(void **state)
{
    struct advised x;
    (void)state;
    const char *table = "mul,Mul,,10\nsub,Sub,,20\nexp,Exp,,30\nsum,ReduceSum,,40\n";
    advise_case(&x, chain(false), table, NULL);
    const struct oc_advice_item *f = finding(&x, "elementwise-chain");
    assert_non_null(f);
    assert_true(f->saved_bytes == 4 * 16384);            /* two results, written and read */
    expect_finding(&x, "elementwise-chain", 3, 0, 30e3); /* 60 minus the longest */
    advise_case(&x, chain(true), table, NULL);
    expect_none(&x, "elementwise-chain");
}

/* 65536 bytes at 100 GB/s take 655.36 ns. A cache of 1 TB/s that holds them reads while it writes: shares of
 * 1/3, 2/3 and 1/2 of 32.768, 32.768 and 16.384 ns. */
static void device_bandwidth_bounds_chains(void **state)
{
    static const struct oc_hw_figure bandwidth = {.value = 100e9}, fast = {.value = 1e12},
                                     size = {.value = 1 << 20};
    static const struct oc_hw_level level[] = {{.name = "L2", .bandwidth = &fast, .size = &size},
                                               {.name = "DRAM", .bandwidth = &bandwidth}};
    struct oc_device d = {.info =
                              &(struct oc_device_info){.name = "D", .vendor = "", .kind = "cpu", .file = ""},
                          .level = &level[1],
                          .n_level = 1};
    struct advised x;
    (void)state;
    advise_case(&x, chain(false), "mul,Mul,,10\nsub,Sub,,20\nexp,Exp,,30\nsum,ReduceSum,,40\n", &d);
    expect_finding(&x, "elementwise-chain", 3, 655.36, 30e3);
    advise_case(&x, chain(false), NULL, &d);
    expect_finding(&x, "elementwise-chain", 3, 655.36, NAN);
    d.level = level;
    d.n_level = 2;
    advise_case(&x, chain(false), NULL, &d);
    x.o.cache = true;
    advised_report(&x);
    expect_finding(&x, "elementwise-chain", 3, 40.96, NAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unfused_kernels_are_reported),
                                       cmocka_unit_test(unfoldable_normalization_is_not_reported),
                                       cmocka_unit_test(fused_kernels_are_not_reported),
                                       cmocka_unit_test(model_without_profile_gives_infos),
                                       cmocka_unit_test(residuals_are_reported),
                                       cmocka_unit_test(parts_of_gelu_are_reported),
                                       cmocka_unit_test(parts_of_gelu_do_not_fold_into_weights),
                                       cmocka_unit_test(scales_after_activations_do_not_fold),
                                       cmocka_unit_test(chains_are_reported_once),
                                       cmocka_unit_test(device_bandwidth_bounds_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
