#include "unit/advice/advice_case.h"

/* Flattens x with a computed shape: Shape, Gather, Unsqueeze, Concat, Reshape. */
static struct oc_builder *flatten(const char *type)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", type);
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_init(b, "axis", "int64[1]{0}");
    oc_b_init(b, "rest", "int64[1]{-1}");
    oc_b_node(b, "Shape", "shape", "x", "a", "");
    oc_b_node(b, "Gather", "gather", "a,zero", "n", "");
    oc_b_node(b, "Unsqueeze", "unsqueeze", "n,axis", "m", "");
    oc_b_node(b, "Concat", "concat", "m,rest", "c", "axis=0");
    oc_b_node(b, "Exp", "exp", "x", "e", "");
    oc_b_node(b, "Reshape", "reshape", "e,c", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static const char times[] =
    "shape,Shape,,5\ngather,Gather,,6\nunsqueeze,Unsqueeze,,7\nconcat,Concat,,8\nexp,Exp,,70\n"
    "reshape,Reshape,,4\n";

static void dynamic_dimensions_are_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, flatten("float[batch,16,4]"), times, NULL);
    const struct oc_advice_item *f = finding(&x, "dynamic-shapes");
    assert_non_null(f);
    assert_non_null(strstr(f->found, "dynamic dimensions (batch)"));
    expect_finding(&x, "dynamic-shapes", 4, 26e3, 26e3); /* not Exp, not Reshape: these process data */
    advise_case(&x, flatten("float[?,16,4]"), times, NULL);
    f = finding(&x, "dynamic-shapes");
    assert_non_null(f);
    assert_non_null(strstr(f->found, "x.0"));
    advised_free(&x);
    advise_case(&x, flatten("float[batch,16,4]"), NULL, NULL);
    expect_finding(&x, "dynamic-shapes", 4, NAN, NAN);
}

static void fixed_dimensions_are_not_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, flatten("float[2,16,4]"), times, NULL);
    expect_none(&x, "dynamic-shapes");
}

/* Data-dependent sizes would not become constants. */
static void data_dependent_shapes_are_not_reported(void **state)
{
    struct advised x;
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "x", "float[batch,16]");
    oc_b_input(b, "k", "int64[1]");
    oc_b_init(b, "two", "int64[1]{2}");
    oc_b_node(b, "Mul", "mul", "k,two", "c", "");
    oc_b_node(b, "Expand", "expand", "x,c", "y", "");
    oc_b_output(b, "y", NULL);
    advise_case(&x, b, "mul,Mul,,20\nexpand,Expand,,80\n", NULL);
    expect_none(&x, "dynamic-shapes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dynamic_dimensions_are_reported),
                                       cmocka_unit_test(fixed_dimensions_are_not_reported),
                                       cmocka_unit_test(data_dependent_shapes_are_not_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
