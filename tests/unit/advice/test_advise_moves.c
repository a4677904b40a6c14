#include "unit/advice/advice_case.h"

/* ---- layout -------------------------------------------------------------------------------------------- */

/* x, Transpose, Conv: an NHWC model whose convolution is NCHW. */
static struct oc_builder *nhwc(const char *perm)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,8,16]");
    oc_b_init(b, "w", "float[16,16,1,1]");
    oc_b_node(b, "Transpose", "t", "x", "y", perm);
    oc_b_node(b, "Conv", "c", "y,w", "z", "");
    oc_b_output(b, "z", NULL);
    return b;
}

static void channel_transposes_are_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, nhwc("perm=0,3,1,2"), "t,Transpose,,30\nc,Conv,,70\n", NULL);
    expect_finding(&x, "layout", 1, 0, 30e3);
}

/* Of heads, next to a product: not a layout. The same permutation, and one that does not move channels. */
static void other_transposes_are_not_reported(void **state)
{
    struct advised x;
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,8,16]");
    oc_b_init(b, "w", "float[8,4]");
    oc_b_node(b, "Transpose", "t", "x", "y", "perm=0,3,1,2");
    oc_b_node(b, "MatMul", "m", "y,w", "z", "");
    oc_b_output(b, "z", NULL);
    advise_case(&x, b, "t,Transpose,,30\nm,MatMul,,70\n", NULL);
    expect_none(&x, "layout");
    b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "w", "float[16,16,1,1]");
    oc_b_node(b, "Transpose", "t", "x", "y", "perm=0,1,3,2");
    oc_b_node(b, "Conv", "c", "y,w", "z", "");
    oc_b_output(b, "z", NULL);
    advise_case(&x, b, "t,Transpose,,30\nc,Conv,,70\n", NULL);
    expect_none(&x, "layout");
}

static void runtime_conversions_are_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, NULL, "a,ReorderInput,CPU,10\nb,Conv,CPU,80\nc,ReorderOutput,CPU,5\n", NULL);
    const struct oc_advice_item *f = finding(&x, "layout");
    assert_non_null(f);
    assert_int_equal(f->severity, OC_ADVICE_HIGH); /* 15 of 95 */
    assert_string_equal(f->proof[0].name, "a");    /* the longest first */
    expect_finding(&x, "layout", 2, 0, 15e3);
    advise_case(&x, NULL, "b,Conv,CPU,80\n", NULL);
    expect_none(&x, "layout");
    /* a thousandth of a run is not worth reporting */
    advise_case(&x, NULL, "a,ReorderInput,CPU,1\nb,Conv,CPU,2000\n", NULL);
    expect_none(&x, "layout");
}

/* ---- copies and fallbacks ------------------------------------------------------------------------------ */

static void copies_are_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, NULL, "a,MemcpyFromHost,CUDAExecutionProvider,10\nb,Conv,CUDAExecutionProvider,80\n",
                NULL);
    assert_null(finding(&x, "fallback")); /* the copy of an input is not a fallback */
    expect_finding(&x, "copies", 1, 0, 10e3);
    advise_case(&x, NULL, "b,Conv,CUDAExecutionProvider,80\n", NULL);
    expect_none(&x, "copies");
}

static void fallback_operators_are_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, NULL,
                "c,Conv,CUDAExecutionProvider,80\nm,MemcpyToHost,CUDAExecutionProvider,7\n"
                "n,NonMaxSuppression,CPUExecutionProvider,20\nh,MemcpyFromHost,CUDAExecutionProvider,3\n",
                NULL);
    expect_finding(&x, "fallback", 3, 0, 30e3);
    /* an accelerator before the general device */
    advise_case(&x, NULL, "c,TRTKernel,TensorrtExecutionProvider,80\nr,Resize,CUDAExecutionProvider,20\n",
                NULL);
    expect_finding(&x, "fallback", 1, 0, 20e3);
}

static void shape_operators_on_the_cpu_are_not_fallbacks(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, NULL, "c,Conv,CPUExecutionProvider,80\nn,NonMaxSuppression,CPUExecutionProvider,20\n",
                NULL);
    expect_none(&x, "fallback");
    advise_case(&x, NULL, "c,Conv,CUDAExecutionProvider,80\ns,Shape,CPUExecutionProvider,20\n", NULL);
    expect_none(&x, "fallback");
    advise_case(&x, NULL, "c,Conv,,80\ns,Relu,,20\n", NULL); /* no providers are recorded */
    expect_none(&x, "fallback");
    /* shape arithmetic is recognized by its values */
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,16]");
    oc_b_init(b, "one", "int64[]{1}");
    oc_b_init(b, "rest", "int64[1]{-1}");
    oc_b_node(b, "Shape", "s", "x", "a", "");
    oc_b_node(b, "Gather", "g", "a,one", "d", "");
    oc_b_node(b, "Mul", "double", "d,d", "e", "");
    oc_b_node(b, "Unsqueeze", "u", "e,zero", "f", "");
    oc_b_init(b, "zero", "int64[1]{0}");
    oc_b_node(b, "Expand", "big", "x,f", "y", "");
    oc_b_output(b, "y", NULL);
    advise_case(&x, b, "big,Expand,CUDAExecutionProvider,80\ndouble,Mul,CPUExecutionProvider,20\n", NULL);
    expect_none(&x, "fallback");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(channel_transposes_are_reported),
                                       cmocka_unit_test(other_transposes_are_not_reported),
                                       cmocka_unit_test(runtime_conversions_are_reported),
                                       cmocka_unit_test(copies_are_reported),
                                       cmocka_unit_test(fallback_operators_are_reported),
                                       cmocka_unit_test(shape_operators_on_the_cpu_are_not_fallbacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
