#include "estimate/predict.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct oc_prim_count float_hist[] = {
    {.n = 1000, .prim = OC_MAC}, {.n = 50, .prim = OC_ADD}, {.n = 7, .prim = OC_EXP},
    {.n = 3, .prim = OC_DIV},    {.n = 90, .prim = OC_CVT},
};

/* 1000 MACs; ADD 50; EXP 7 + DIV 3 are special; CVT has weight 0 */
static void work_of_a_float_node(void **state)
{
    (void)state;
    struct oc_node_cost k = {.hist = float_hist,
                             .n_hist = 5,
                             .mac_class = OC_CLASS_F16,
                             .rest_class = OC_CLASS_F32,
                             .rd_act = 10,
                             .rd_wt = 20,
                             .wr = 30,
                             .trips = 4};
    struct oc_work w = {0};
    oc_work_add(&w, &k);
    assert_int_equal(w.macs[OC_CLASS_F16], 1000);
    assert_int_equal(w.flops[OC_CLASS_F32], 50);
    assert_int_equal(w.special[OC_CLASS_F32], 10);
    assert_int_equal(w.special_flops[OC_CLASS_F32], 10);
    assert_int_equal(w.bytes, 60);
    assert_int_equal(w.weight_bytes, 20);
    assert_int_equal(w.written, 30);
    assert_int_equal(w.launches, 4);
    assert_false(w.unknown);
    oc_work_add(&w, &k);
    assert_int_equal(w.macs[OC_CLASS_F16], 2000);
    assert_int_equal(w.launches, 8);
}

/* QLinearConv: integer MACs and adds, float requantization; an integer division is not a transcendental */
static void work_of_a_quantized_node(void **state)
{
    (void)state;
    static const struct oc_prim_count hist[] = {
        {.n = 5, .prim = OC_MUL},
        {.n = 100, .prim = OC_MAC, .is_int = true},
        {.n = 9, .prim = OC_ADD, .is_int = true},
        {.n = 2, .prim = OC_DIV, .is_int = true},
    };
    struct oc_node_cost k = {
        .hist = hist, .n_hist = 4, .mac_class = OC_CLASS_I8, .rest_class = OC_CLASS_F32, .trips = 1};
    struct oc_work w = {0};
    oc_work_add(&w, &k);
    assert_int_equal(w.macs[OC_CLASS_I8], 100);
    assert_int_equal(w.flops[OC_CLASS_I32], 11);
    assert_int_equal(w.flops[OC_CLASS_F32], 5);
    assert_int_equal(w.special[OC_CLASS_I32], 0);
}

static void folded_and_alias_nodes_launch_nothing(void **state)
{
    (void)state;
    struct oc_work w = {0};
    oc_work_add(&w, &(struct oc_node_cost){.alias = true, .trips = 1});
    oc_work_add(&w, &(struct oc_node_cost){.state = OC_NODE_FOLDED, .trips = 1});
    oc_work_add(&w, &(struct oc_node_cost){.state = OC_NODE_CONTAINER, .trips = 1});
    assert_int_equal(w.launches, 0);
    assert_false(w.unknown);
    oc_work_add(&w, &(struct oc_node_cost){.state = OC_NODE_UNKNOWN_OP, .quality = OC_UNKNOWN, .trips = 1});
    assert_int_equal(w.launches, 1);
    assert_true(w.unknown);
}

static void overflow_is_unknown(void **state)
{
    (void)state;
    struct oc_work w = {.bytes = UINT64_MAX};
    oc_work_add(&w, &(struct oc_node_cost){.wr = 1, .trips = 1});
    assert_true(w.unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_of_a_float_node),
        cmocka_unit_test(work_of_a_quantized_node),
        cmocka_unit_test(folded_and_alias_nodes_launch_nothing),
        cmocka_unit_test(overflow_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
