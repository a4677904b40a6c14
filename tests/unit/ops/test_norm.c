#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void norm_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"BatchNormalization", 9, "", "float[2,3,4] float[3] float[3] float[3] float[3]", "y",
         "float[2,3,4]"},
        {"BatchNormalization", 1, "", "float[2,3,4] float[3] float[3] float[3] float[3]", "yyyyy",
         "float[2,3,4] float[3] float[3] float[3] float[3]"},
        {"BatchNormalization", 14, "training_mode=1",
         "float16[2,3,4] float16[3] float16[3] float[3] float[3]", "yyy", "float16[2,3,4] float[3] float[3]"},
        {"InstanceNormalization", 6, "", "float[2,3,4] float[3] float[3]", "y", "float[2,3,4]"},
        {"GroupNormalization", 18, "num_groups=2", "float[2,4,5] float[2] float[2]", "y", "float[2,4,5]"},
        {"LayerNormalization", 17, "", "float16[2,3,4] float16[4] float16[4]", "yyy",
         "float16[2,3,4] float[2,3,1] float[2,3,1]"},
        {"LayerNormalization", 17, "axis=1 stash_type=11", "float[2,3,4] float[3,4]", "yyy",
         "float[2,3,4] double[2,1,1] double[2,1,1]"},
        {"LayerNormalization", 17, "axis=5", "float[2,3,4] float[4]", "y",
         "error: axis 5 is out of range for rank 3"},
        {"LayerNormalization", 9, "", "float[2,3,4] float[4] float[4]", "y", "float[2,3,4]"},
        /* ONNX Runtime's own operator, below 17 and in its domain: the type of the scale */
        {"LayerNormalization", 12, "", "float16[2,3,4] float[4]", "y", "float[2,3,4]"},
        {"com.microsoft:LayerNormalization", 1, "", "float16[2,3,4] float[4]", "y", "float[2,3,4]"},
        {"SimplifiedLayerNormalization", 1, "", "float16[2,4] float[4]", "y", "float[2,4]"},
        {"RMSNormalization", 23, "", "float16[2,4] float[4]", "y", "float[2,4]"},
        {"SimplifiedLayerNormalization", 1, "", "float[2,4] float[4]", "y", "float[2,4]"},
        {"MeanVarianceNormalization", 13, "", "float[2,3,4,5]", "y", "float[2,3,4,5]"},
        {"com.microsoft:SkipLayerNormalization", 1, "", "float[1,8,16] float[1,8,16] float[16] float[16]",
         "yyyy", "float[1,8,16] float[1,8,1] float[1,8,1] float[1,8,16]"},
        {"com.microsoft:SkipLayerNormalization", 1, "", "float[1,8,16] float[1,8,16] float[16] float[16]",
         "y--y", "float[1,8,16] - - float[1,8,16]"},
        {"com.microsoft:EmbedLayerNormalization", 1, "",
         "int32[2,8] int32[2,8] float[100,16] float[32,16] float[2,16] float[16] float[16] int32[2,8]", "yyy",
         "float[2,8,16] int32[2] float[2,8,16]"},
        {"com.microsoft:GroupNorm", 1, "groups=2 activation=1", "float16[2,4,4,8] float[8] float[8]", "y",
         "float16[2,4,4,8]"},
        {"com.microsoft:SkipGroupNorm", 1, "groups=2 activation=0",
         "float[2,4,4,8] float[8] float[8] float[2,4,4,8] float[8]", "yy", "float[2,4,4,8] float[2,4,4,8]"},
        {"com.microsoft:GatedRMSNorm", 1, "", "float16[2,3,32] float16[8] float16[2,3,32]", "y",
         "float16[2,3,32]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

/* n = 24 elements */
static void norm_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        /* 3 channels: MUL + 2 ADD + SQRT + DIV each */
        {"BatchNormalization", 9, "", "float[2,3,4] float[3] float[3] float[3] float[3]", "y",
         "ADD 30, MUL 27, DIV 3, SQRT 3"},
        /* training: 4 ADD + 2 MUL per element; 3 DIV, SQRT, 5 MUL, 4 ADD per channel */
        {"BatchNormalization", 14, "training_mode=1", "float[2,3,4] float[3] float[3] float[3] float[3]",
         "yyy", "ADD 108, MUL 63, DIV 9, SQRT 3"},
        {"BatchNormalization", 9, "", "float[2,3,4] float[3] float[3] float[3] float[3]", "yyyyy",
         "ADD 108, MUL 63, DIV 9, SQRT 3"},
        {"LayerNormalization", 17, "", "float[2,3,4] float[4]", "y", "ADD 78, MUL 72, DIV 18, SQRT 6"},
        {"LayerNormalization", 17, "", "float[2,3,4] float[4] float[4]", "y",
         "ADD 102, MUL 72, DIV 18, SQRT 6"},
        {"LayerNormalization", 17, "axis=1", "float[2,3,4] float[3,4] float[3,4]", "y",
         "ADD 98, MUL 72, DIV 6, SQRT 2"},
        {"InstanceNormalization", 6, "", "float[2,3,4] float[3] float[3]", "y",
         "ADD 102, MUL 72, DIV 18, SQRT 6"},
        {"GroupNormalization", 21, "num_groups=3", "float[2,3,4] float[3] float[3]", "y",
         "ADD 102, MUL 72, DIV 18, SQRT 6"},
        {"RMSNormalization", 23, "", "float[2,3,4] float[4]", "y", "ADD 30, MUL 72, DIV 12, SQRT 6"},
        {"com.microsoft:SimplifiedLayerNormalization", 1, "", "float[2,3,4] float[4]", "y",
         "ADD 30, MUL 72, DIV 12, SQRT 6"},
        /* per channel: 3 rows; ADD 3n + 2R, MUL n + R, DIV n + 2R, SQRT R */
        {"MeanVarianceNormalization", 13, "axes=[0,2]", "float[2,3,4]", "y",
         "ADD 78, MUL 27, DIV 30, SQRT 3"},
        {"LpNormalization", 1, "axis=1", "float[2,3,4]", "y", "ADD 24, MUL 24, DIV 24, SQRT 8"},
        {"LpNormalization", 1, "p=1", "float[2,3,4]", "y", "ADD 24, CMP 24, DIV 24"},
        /* (s + 5) n */
        {"LRN", 1, "size=5", "float[2,3,4]", "y", "ADD 144, MUL 48, DIV 24, POW 24"},
        {"com.microsoft:SkipLayerNormalization", 1, "", "float[2,3,4] float[2,3,4] float[4] - float[4]", "y",
         "ADD 126, MUL 72, DIV 18, SQRT 6"},
        {"com.microsoft:SkipSimplifiedLayerNormalization", 1, "", "float[2,3,4] float[2,3,4] float[4]", "y",
         "ADD 54, MUL 72, DIV 12, SQRT 6"},
        {"com.microsoft:SkipSimplifiedLayerNormalization", 1, "",
         "float[2,3,4] float[2,3,4] float[4] float[4]", "y", "ADD 78, MUL 72, DIV 12, SQRT 6"},
        {"com.microsoft:EmbedLayerNormalization", 1, "",
         "int32[2,3] int32[2,3] float[9,4] float[9,4] float[2,4] float[4] float[4]", "y",
         "ADD 150, MUL 72, DIV 18, SQRT 6"},
        {"com.microsoft:GroupNorm", 1, "groups=3 activation=1", "float[2,4,3] float[3] float[3]", "y",
         "ADD 102, MUL 96, DIV 18, SQRT 6, SIG 24"},
        {"com.microsoft:SkipGroupNorm", 1, "groups=3", "float[2,4,3] float[3] float[3] float[2,4,3]", "y",
         "ADD 126, MUL 72, DIV 18, SQRT 6"},
        {"com.microsoft:GatedRMSNorm", 1, "", "float[2,3,4] float[2] float[2,3,4]", "y",
         "ADD 36, MUL 120, DIV 24, SQRT 12, SIG 24"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

/* Statistics are computed in the stash type: its class counts, not that of the data. */
static void norm_statistics_use_the_stash_type(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, "LayerNormalization", 17, "", "float16[2,4] float16[4]", "y");
    assert_int_equal(t.cost.rest_class, OC_CLASS_F32);
    op_case_free(&t);
    op_case_run(&t, "RMSNormalization", 23, "stash_type=16", "float16[2,4] float16[4]", "y");
    assert_int_equal(t.cost.rest_class, OC_CLASS_BF16);
    op_case_free(&t);
    op_case_run(&t, "InstanceNormalization", 6, "", "float16[2,3,4] float16[3] float16[3]", "y");
    assert_int_equal(t.cost.rest_class, OC_CLASS_F16);
    op_case_free(&t);
}

/* Only the used rows of the tables: words and segments per token, positions once for all sentences. */
static void norm_embedding_reads_only_used_rows(void **state)
{
    struct op_case t;
    (void)state;
    op_case_run(&t, "com.microsoft:EmbedLayerNormalization", 1, "",
                "int32[2,8] int32[2,8] float[1000,16]! float[512,16]! float[2,16]! float[16]! float[16]!",
                "y");
    assert_int_equal(t.rd_act, 2 * 2 * 8 * 4);
    assert_int_equal(t.rd_const, 4 * (2 * 8 * 16 + 8 * 16 + 2 * 16 + 2 * 16));
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_infers_shapes),
        cmocka_unit_test(norm_counts_operations),
        cmocka_unit_test(norm_statistics_use_the_stash_type),
        cmocka_unit_test(norm_embedding_reads_only_used_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
