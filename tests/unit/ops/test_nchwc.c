#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void nchwc_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        /* blocks of 8 and of 16 give the same */
        {"com.microsoft.nchwc:ReorderInput", 1, "", "float[1,32,56,56]", "y", "float[1,32,56,56]"},
        {"com.microsoft.nchwc:ReorderInput", 1, "", "float[1,30,56,56]", "y", "float[1,32,56,56]"},
        {"com.microsoft.nchwc:ReorderInput", 1, "channels_last=1", "float[1,56,57,16]", "y",
         "float[1,16,56,57]"},
        /* they differ, and no convolution decides */
        {"com.microsoft.nchwc:ReorderInput", 1, "", "float[1,24,56,56]", "y", "float[1,node.1,56,56]"},
        {"com.microsoft.nchwc:ReorderOutput", 1, "channels=24", "float[1,32,56,56]", "y",
         "float[1,24,56,56]"},
        {"com.microsoft.nchwc:ReorderOutput", 1, "channels=24 channels_last=1", "float[1,32,56,57]", "y",
         "float[1,56,57,24]"},
        {"com.microsoft.nchwc:ReorderOutput", 1, "", "float[1,32,56,56]", "y", "error: invalid channels 0"},
        {"com.microsoft.nchwc:Upsample", 1, "scales=[1,1,2,3]", "float[1,16,5,5]", "y", "float[1,16,10,15]"},
        {"com.microsoft.nchwc:Upsample", 1, "scales=[1,1,2]", "float[1,16,5,5]", "y",
         "error: scales has 3 elements, expected 4"},
    };
    static const struct op_hist_row costs[] = {
        {"com.microsoft.nchwc:ReorderInput", 1, "", "float[1,24,5,5]", "y",
         "nothing, upper"}, /* at most 32 */
        {"com.microsoft.nchwc:Upsample", 1, "scales=[1,1,2,2]", "float[1,16,5,5]", "y", "nothing"},
        {"com.microsoft.nchwc:Upsample", 1, "scales=[1,1,2,2] mode=linear", "float[1,16,5,5]", "y",
         "ADD 4800, MUL 6400"},
        {"com.microsoft.nchwc:Upsample", 1, "scales=[1,1,1,1]", "float[1,16,5,5]", "y", "nothing, alias"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
    op_check_hists(costs, OC_COUNT(costs));
}

/* ReorderInput followed by a convolution whose weight has `channels` channels. */
static void check_consumer(int64_t channels, int64_t group, const char *types, uint64_t wr)
{
    struct op_case t;
    const int64_t dim[4] = {32, channels, 3, 3};
    const struct oc_tensor weight = {.name = "w", .dtype = OC_DT_FLOAT, .rank = 4, .dim = dim};
    struct oc_value value[2] = {{.name = "x"}, {.name = "w", .constant = &weight}};
    const uint32_t conv_in[2] = {1000, 1};
    const struct oc_attr attr = {.name = "group", .type = OC_ATTR_INT, .i = group, .n = 1};
    struct oc_node node[2] = {{0},
                              {.op_type = "Conv",
                               .domain = "com.microsoft.nchwc",
                               .in = conv_in,
                               .n_in = 2,
                               .attr = &attr,
                               .n_attr = 1}};
    struct oc_model model = {.node = node, .n_node = 2, .value = value, .n_value = 2};
    op_case_init(&t, "com.microsoft.nchwc:ReorderInput", 1, "", "float[1,24,56,56]", "y");
    node[0] = t.node;
    t.ctx.node = &node[0];
    t.ctx.model = &model;
    assert_int_equal(op_case_shape(&t), 0);
    assert_string_equal(op_case_types(&t), types);
    op_case_cost(&t);
    assert_int_equal(t.rd_act, 301056);
    assert_int_equal(t.wr, wr);
    op_case_free(&t);
}

/* Case 73 of cost-semantics: 24 channels in blocks of 16 are padded to 32; in blocks of 8 they stay 24. */
static void nchwc_block_size_follows_the_consumer(void **state)
{
    (void)state;
    check_consumer(32, 1, "float[1,32,56,56]", 401408);
    check_consumer(24, 1, "float[1,24,56,56]", 301056);
    check_consumer(1, 32, "float[1,32,56,56]", 401408); /* depthwise */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nchwc_infers_shapes),
                                       cmocka_unit_test(nchwc_block_size_follows_the_consumer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
