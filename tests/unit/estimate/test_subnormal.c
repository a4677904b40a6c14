#include "estimate/subnormal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/build.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_below_the_normal_range_are_counted),
                                       cmocka_unit_test(other_weights_have_none),
                                       cmocka_unit_test(large_weights_are_sampled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
