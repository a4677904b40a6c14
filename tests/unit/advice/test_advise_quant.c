#include "unit/advice/advice_case.h"

static struct oc_builder *begin_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "in", "float[1,8,8,8]");
    oc_b_init(b, "s", "float[]{0.1}");
    oc_b_init(b, "t", "float[]{0.2}");
    oc_b_init(b, "wq", "int8[8,8,1,1]");
    oc_b_init(b, "wf", "float[8,8,1,1]");
    oc_b_node(b, "QuantizeLinear", "q0", "in,s", "x0", "");
    oc_b_node(b, "DequantizeLinear", "d0", "x0,s", "x", "");
    oc_b_node(b, "DequantizeLinear", "dw", "wq,s", "w", "");
    return b;
}

/* Recommended placement: before a convolution and after its activation. */
static void recommended_placement_is_not_reported(void **state)
{
    struct advised x;
    struct oc_builder *b = begin_model();
    (void)state;
    oc_b_node(b, "Conv", "conv", "x,w", "y", "");
    oc_b_node(b, "Relu", "relu", "y", "r", "");
    oc_b_node(b, "QuantizeLinear", "q1", "r,t", "z", "");
    oc_b_node(b, "DequantizeLinear", "d1", "z,t", "out", "");
    oc_b_output(b, "out", NULL);
    advise_case(&x, b, NULL, NULL);
    assert_null(finding(&x, "qdq-pair"));
    assert_null(finding(&x, "qdq-half"));
    expect_none(&x, "qdq-cuts-fusion");
}

/* Integer weights alone are compression; one operand in integers is not. */
static void quantized_weights_alone_are_not_reported(void **state)
{
    struct advised x;
    struct oc_builder *b = begin_model();
    (void)state;
    oc_b_node(b, "Conv", "conv", "in,w", "out", "");
    oc_b_output(b, "out", NULL);
    oc_b_output(b, "x", NULL);
    advise_case(&x, b, NULL, NULL);
    expect_none(&x, "qdq-half");
    b = begin_model();
    oc_b_node(b, "Conv", "conv", "x,wf", "out", "");
    oc_b_output(b, "out", NULL);
    advise_case(&x, b, NULL, NULL);
    const struct oc_advice_item *f = finding(&x, "qdq-half");
    assert_non_null(f);
    assert_string_equal(f->proof[0].name, "conv");
    assert_int_equal(f->severity, OC_ADVICE_INFO);
    expect_finding(&x, "qdq-half", 1, NAN, NAN);
}

static void separate_qdq_kernels_are_reported(void **state)
{
    struct advised x;
    struct oc_builder *b = begin_model();
    (void)state;
    oc_b_node(b, "Softmax", "soft", "x", "y", "");
    oc_b_node(b, "QuantizeLinear", "q1", "y,t", "z", "");
    oc_b_node(b, "DequantizeLinear", "d1", "z,t", "v", "");
    oc_b_node(b, "Conv", "conv", "v,w", "out", "");
    oc_b_output(b, "out", NULL);
    /* q0 reads the model's input: it is needed */
    advise_case(&x, b,
                "q0,QuantizeLinear,,10\nd0,DequantizeLinear,,10\nsoft,Softmax,,20\nq1,QuantizeLinear,,10\n"
                "conv,QLinearConv,,50\n",
                NULL);
    const struct oc_advice_item *f = finding(&x, "qdq-kernels");
    assert_non_null(f);
    assert_non_null(strstr(f->proof[0].text, "Softmax"));
    expect_finding(&x, "qdq-kernels", 2, 0, 20e3);
    advise_case(&x, NULL, "conv,QLinearConv,,50\n", NULL);
    expect_none(&x, "qdq-kernels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recommended_placement_is_not_reported),
                                       cmocka_unit_test(quantized_weights_alone_are_not_reported),
                                       cmocka_unit_test(separate_qdq_kernels_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
