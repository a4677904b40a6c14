#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"NonZero", 9, "", "float[B,S]", "y", "int64[2,node.1]"}, /* section 8 n */
    {"NonZero", 13, "", "bool[3]!{1,0,1}", "y", "int64[1,2]"},
    {"NonZero", 13, "", "float[]", "y", "int64[0,node.1]"},
    {"Compress", 9, "", "float[3,4] bool[5]", "y", "float[node.0]"},
    {"Compress", 9, "axis=1", "float[3,4] bool[3]!{1,0,1}", "y", "float[3,2]"},
    {"Compress", 11, "axis=-1", "float[3,4] bool[3]", "y", "float[3,node.1]"},
    {"Unique", 11, "", "float[3,4]", "yyyy", "float[node.0] int64[node.0] int64[12] int64[node.0]"},
    {"Unique", 11, "axis=1", "float[3,4]", "yyyy", "float[3,node.1] int64[node.1] int64[4] int64[node.1]"},
    {"Unique", 11, "", "int64[4]!{3,1,3,2}", "y", "int64[3]"},
    /* slices [1,2] [3,4] [1,2] and columns [1,3,1] [2,4,2]: two distinct each */
    {"Unique", 11, "axis=0", "float[3,2]~{1,2,3,4,1,2}", "yyyy", "float[2,2] int64[2] int64[3] int64[2]"},
    {"Unique", 11, "axis=-1", "float[3,2]~{1,2,3,4,1,2}", "y", "float[3,2]"},
    {"Unique", 11, "axis=1", "float[2,3,1]~{1,2,1,5,7,5}", "y", "float[2,2,1]"},
    {"Unique", 11, "axis=0", "float[2,2]~{1,2,?,2}", "y", "float[node.0,2]"},
    {"com.microsoft:Unique", 1, "", "int64[N]", "yyy", "int64[node.0] int64[node.0] int64[N]"},
    {"NonMaxSuppression", 10, "", "float[1,100,4] float[1,5,100] int64[1]!{20}", "y", "int64[node.0,3]"},
    {"NonMaxSuppression", 10, "", "float[1,100,4] float[1,5,100]", "y", "int64[0,3]"},
};

static const struct op_fold_row folds[] = {
    {"NonZero", 13, "", "int64[2,3]{0,1,0,2,0,3}", "0,1,1,1,0,2"},
    {"NonZero", 13, "", "int64[2]{0,N}", "none"},
    {"Unique", 11, "", "int64[5]{3,1,3,2,1}", "1,2,3"},
    {"Unique", 11, "sorted=0", "int64[5]{3,1,3,2,1}", "3,1,2"},
    {"Unique", 11, "", "int64[2]{3,N}", "none"},
};

/* NMS: 1*5 lists of s = 100, clog2 = 7: 500*8 compares; 5*20*100 overlaps of 13. Unique: 12*clog2(12). Read:
 * boxes 1600 and scores 2000 bytes; written: at most 1*5*20 rows of 24 bytes. */
static const struct op_cost_row costs[] = {
    {"NonMaxSuppression", 10, "", "float[1,100,4] float[1,5,100] int64[1]!{20}", "y", 0, 4000 + 130000, 3600,
     0, 2400},
    {"Unique", 11, "", "float[3,4]", "y", 0, 48, 48, 0, 48},
    {"NonZero", 13, "", "float[3,4]", "y", 0, 12, 48, 0, 2 * 12 * 8},
    {"Compress", 11, "axis=1", "float[3,4] bool[4]", "y", 0, 0, 48 + 4, 0, 48},
};

static void data_sized_outputs_have_an_upper_bound(void **state)
{
    static const struct {
        const char *op, *in;
        int64_t max;
        unsigned axis;
    } row[] = {{"NonZero", "float[3,4]", 12, 1},
               {"Compress", "float[3,4] bool[5]", 5, 0},
               {"Unique", "float[3,4]", 12, 0},
               {"NonMaxSuppression", "float[2,100,4] float[2,5,100] int64[1]!{20}", 200, 0},
               {"NonMaxSuppression", "float[2,100,4] float[2,5,100] int64[1]!{1000}", 1000, 0},
               {"NonMaxSuppression", "float[2,100,4] float[2,5,100] int64[1]", 1000, 0}};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct op_case t;
        op_case_run(&t, row[i].op, 13, "", row[i].in, "y");
        assert_int_equal(t.rc, 0);
        assert_int_equal(oc_dim_max_value(t.exprs, t.out[0].shape.dim[row[i].axis]), row[i].max);
        assert_true(t.ctx.upper);
        op_case_free(&t);
    }
}

static void data_sized_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void data_sized_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void data_sized_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(data_sized_infers_shapes),
                                       cmocka_unit_test(data_sized_folds_values),
                                       cmocka_unit_test(data_sized_counts_operations),
                                       cmocka_unit_test(data_sized_outputs_have_an_upper_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
