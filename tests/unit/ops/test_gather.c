#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"Gather", 1, "", "float[5,4] int64[2,3]", "y", "float[2,3,4]"},
    {"Gather", 11, "axis=-1", "float[5,4] int64[]", "y", "float[5]"},
    {"Gather", 13, "axis=1", "float[B,S,8] int64[1]", "y", "float[B,1,8]"},
    {"Gather", 13, "axis=2", "float[5,4] int64[]", "y", "error: axis 2 is out of range for rank 2"},
    {"GatherElements", 11, "axis=1", "float[3,3] int64[3,N]", "y", "float[3,N]"},
    {"GatherElements", 11, "axis=1", "float[3,3] int64[3]", "y",
     "error: data {3,3} and indices {3} differ in *"},
    {"GatherND", 11, "", "float[2,3,4] int64[5,2]", "y", "float[5,4]"},
    {"GatherND", 12, "batch_dims=1", "float[2,3,4] int64[2,5,1]", "y", "float[2,5,4]"},
    {"GatherND", 13, "", "float[2,3] int64[2]", "y", "float[]"},
    {"GatherND", 13, "", "float[2,3] int64[2,3]", "y", "error: indices {2,3} do not match data {2,3} with *"},
    {"GatherND", 13, "", "float[2,3] int64[2,N]", "y", "float[...]"},
    {"com.microsoft:GatherND", 1, "", "float[2,3] int32[4,1]", "y", "float[4,3]"},
    {"OneHot", 9, "", "int64[2,3] int64[]!{10} float[2]!{0,1}", "y", "float[2,3,10]"},
    {"OneHot", 11, "axis=0", "int64[2,3] int64[1]{N} float[2]", "y", "float[N,2,3]"},
    {"OneHot", 11, "axis=1", "int64[2,3] int64[] int32[2]", "y", "int32[2,node.1,3]"},
    {"OneHot", 9, "", "int64[3] float[]!{4.0} float[2]!{0,1}", "y", "float[3,4]"},
    {"com.microsoft:TorchEmbedding", 1, "", "float[50,8] int64[2,3] int64[] bool[]", "y", "float[2,3,8]"},
};

static const struct op_fold_row folds[] = {
    {"Gather", 13, "", "int64[4]{B,3,H,W} int64[]!{2}", "H"},
    {"Gather", 13, "", "int64[4]{B,3,H,W} int64[3]!{-1,0,1}", "W,B,3"},
    {"Gather", 13, "", "int64[4]{B,3,H,W} int64[2]{?,0}", "?,B"},
    {"Gather", 13, "", "int64[4]{B,3,H,W} int64[2]", "?,?"},
    {"Gather", 13, "axis=1", "int64[2,2]{1,2,3,N} int64[1]!{1}", "2,N"},
    {"Gather", 13, "", "int64[3,2]{1,2,3,4,5,N} int64[2]!{2,0}", "5,N,1,2"},
    {"Gather", 13, "axis=-2", "int64[2,2,3]{1,2,3,4,5,6,7,8,9,10,11,N} int64[1]!{1}", "4,5,6,10,11,N"},
    {"GatherElements", 13, "", "int64[3]{1,2,N} int64[2]!{2,0}", "N,1"},
    {"GatherND", 13, "", "int64[3]{1,2,N} int64[2,1]!{-1,0}", "N,1"},
    {"OneHot", 11, "", "int64[2]{1,-1} int64[]!{3} int64[2]!{0,5}", "0,5,0,0,0,5"},
};

static const struct op_cost_row costs[] = {
    {"Gather", 13, "", "float[5,4]! int64[2]", "y", 0, 0, 16, 32, 32},
    {"GatherElements", 13, "", "float[5,4] int64[1,4]", "y", 0, 0, 16 + 32, 0, 16},
    {"GatherND", 13, "", "float[5,4] int64[1,1]", "y", 0, 0, 16 + 8, 0, 16},
    {"OneHot", 11, "", "int64[2] int64[]!{3} float[2]!{0,1}", "y", 0, 0, 16, 0, 24},
};

static void gather_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void gather_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void gather_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gather_infers_shapes),
                                       cmocka_unit_test(gather_folds_values),
                                       cmocka_unit_test(gather_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
