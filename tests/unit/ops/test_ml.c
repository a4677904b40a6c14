#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ML "ai.onnx.ml:"

static const struct op_shape_row shapes[] = {
    {ML "ArrayFeatureExtractor", 1, "", "float[N,7] int64[3]", "y", "float[N,3]"},
    {ML "ArrayFeatureExtractor", 1, "", "string[7] int64[1,3]", "y", "string[1,3]"},
    {ML "ArrayFeatureExtractor", 1, "", "float[2,N,7] int64[K]", "y", "float[2,N,K]"},
    {ML "ArrayFeatureExtractor", 1, "", "float[2,7] int64", "y", "float[2,columns]"},
    {ML "Binarizer", 1, "", "int64[N,7]", "y", "int64[N,7]"},
    {ML "Imputer", 1, "", "float[N,7]", "y", "float[N,7]"},
    {ML "Scaler", 1, "", "int64[N,7]", "y", "float[N,7]"},
    {ML "Normalizer", 1, "", "double[N,7]", "y", "float[N,7]"},
    {ML "LabelEncoder", 1, "", "string[N]", "y", "int64[N]"},
    {ML "LabelEncoder", 1, "", "int64[N]", "y", "string[N]"},
    {ML "LabelEncoder", 2, "keys_int64s=[1,2] values_floats=[0.5,1.5]", "int64[3]", "y", "float[3]"},
    {ML "LabelEncoder", 2, "keys_strings=[\"a\"] values_int64s=[1]", "string[3]", "y", "int64[3]"},
    {ML "LabelEncoder", 2, "keys_strings=[\"a\"] values_strings=[\"b\"]", "string[3]", "y", "string[3]"},
    {ML "LabelEncoder", 4, "keys_int64s=[1] values_tensor=int16[1]{7}", "int64[3]", "y", "int16[3]"},
    {ML "CategoryMapper", 1, "", "string[N]", "y", "int64[N]"},
    {ML "CategoryMapper", 1, "", "int64[N]", "y", "string[N]"},
    {ML "OneHotEncoder", 1, "cats_int64s=[1,2,5]", "int64[N,2]", "y", "float[N,2,3]"},
    {ML "OneHotEncoder", 1, "cats_strings=[\"a\",\"b\"]", "string[N]", "y", "float[N,2]"},
    {ML "OneHotEncoder", 1, "", "string[N]", "y", "error: needs one of cats_int64s and cats_strings"},
    {ML "FeatureVectorizer", 1, "inputdimensions=[2,3]", "float[N,2] int64[N,3]", "y", "float[N,5]"},
    {ML "FeatureVectorizer", 1, "", "float[2] int64[3]", "y", "float[1,5]"},
    {ML "FeatureVectorizer", 1, "", "float[N,2] int64[N,3]", "y", "float[N,5]"},
    {ML "DictVectorizer", 1, "string_vocabulary=[\"a\",\"b\",\"c\"]", "map(string,int64[])", "y",
     "int64[1,3]"},
    {ML "DictVectorizer", 1, "int64_vocabulary=[1,2]", "map(int64,float[])", "y", "float[1,2]"},
    {ML "CastMap", 1, "map_form=SPARSE max_map=9", "map(int64,float[])", "y", "float[1,9]"},
    {ML "CastMap", 1, "cast_to=TO_STRING", "map(int64,float[])", "y", "string[1,keys]"},
    {ML "CastMap", 1, "cast_to=TO_BLOB", "map(int64,float[])", "y", "error: cast_to 'TO_BLOB'"},
    {ML "ZipMap", 1, "classlabels_strings=[\"a\",\"b\"]", "float[N,2]", "y", "seq(map(string,float[]))"},
    {ML "ZipMap", 1, "classlabels_int64s=[0,1]", "float[N,2]", "y", "seq(map(int64,float[]))"},
    {ML "LinearClassifier", 1, "classlabels_ints=[0,1,2] intercepts=[0.5,0.5,0.5]", "float[N,4]", "yy",
     "int64[N] float[N,3]"},
    /* one intercept: two classes */
    {ML "LinearClassifier", 1, "classlabels_strings=[\"a\",\"b\"] intercepts=[0.5]", "float[4]", "yy",
     "string[1] float[1,2]"},
    {ML "LinearClassifier", 1, "classlabels_ints=[0,1,2]", "float[2,3,4]", "yy",
     "error: the samples must be [N,F] or [F], got rank 3"},
    {ML "LinearRegressor", 1, "", "float[N,4]", "y", "float[N,1]"},
    {ML "LinearRegressor", 1, "targets=3", "int64[N,4]", "y", "float[N,3]"},
    {ML "LinearRegressor", 1, "targets=0", "int64[N,4]", "y", "error: invalid number of targets 0"},
    {ML "SVMClassifier", 1, "classlabels_ints=[0,1,2,3]", "float[N,4]", "yy", "int64[N] float[N,4]"},
    /* raw scores of the 6 pairs of 4 classes; probabilities are per class */
    {ML "SVMClassifier", 1, "classlabels_ints=[0,1,2,3] vectors_per_class=[1,1,2,1]", "float[N,4]", "yy",
     "int64[N] float[N,6]"},
    {ML "SVMClassifier", 1, "classlabels_ints=[0,1,2,3] vectors_per_class=[1,1,2,1] prob_a=[0.5]",
     "float[N,4]", "yy", "int64[N] float[N,4]"},
    {ML "SVMClassifier", 1, "classlabels_ints=[0,1] vectors_per_class=[1,1]", "float[N,4]", "yy",
     "int64[N] float[N,2]"},
    {ML "SVMClassifier", 1, "", "float[N,4]", "yy", "error: class labels are missing"},
    {ML "SVMRegressor", 1, "", "float[N,4]", "y", "float[N,1]"},
};

static const struct op_cost_row costs[] = {
    {ML "ArrayFeatureExtractor", 1, "", "float[5,7] int64[3]", "y", 0, 0, 5 * 3 * 4 + 24, 0, 60},
    {ML "Binarizer", 1, "", "float[5,7]", "y", 0, 35, 140, 0, 140},
    {ML "Imputer", 1, "", "float[5,7]", "y", 0, 35, 140, 0, 140},
    {ML "Scaler", 1, "", "float[5,7]", "y", 0, 70, 140, 0, 140},
    {ML "Normalizer", 1, "norm=L2", "float[5,7]", "y", 0, 3 * 35 + 5, 140, 0, 140},
    {ML "Normalizer", 1, "norm=L1", "float[5,7]", "y", 0, 3 * 35, 140, 0, 140},
    {ML "Normalizer", 1, "", "float[5,7]", "y", 0, 2 * 35, 140, 0, 140},
    {ML "LabelEncoder", 2, "keys_int64s=[1] values_floats=[0.5]", "int64[9]", "y", 0, 9, 72, 0, 36},
    {ML "OneHotEncoder", 1, "cats_int64s=[1,2,5]", "int64[9]", "y", 0, 9, 72, 0, 9 * 3 * 4},
    /* 3 rows of 4 coefficients on 5 samples, 3 intercepts, softmax over 5 * 3 scores */
    {ML "LinearClassifier", 1,
     "classlabels_ints=[0,1,2] intercepts=[0.5,0.5,0.5] post_transform=SOFTMAX "
     "coefficients=[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5]",
     "float[5,4]", "yy", 60, 120 + 15 + 75, 80, 0, 40 + 60},
    /* two classes from one row: the number of coefficients gives the products; the logistic of both scores */
    {ML "LinearClassifier", 1,
     "classlabels_ints=[0,1] intercepts=[0.5] post_transform=LOGISTIC coefficients=[0.5,0.5,0.5,0.5]",
     "float[5,4]", "yy", 20, 40 + 5 + 10, 80, 0, 40 + 40},
    {ML "LinearRegressor", 1, "coefficients=[0.5,0.5,0.5,0.5]", "float[5,4]", "y", 20, 40, 80, 0, 20},
    /* 5 samples, 5 support vectors of 4 features: 100 products, 100 differences, 25 exponentials; then
     * 5*5*(4-1) = 75 products with coefficients and 5*6 votes */
    {ML "SVMClassifier", 1, "classlabels_ints=[0,1,2,3] vectors_per_class=[1,1,2,1] kernel_type=RBF",
     "float[5,4]", "yy", 175, 350 + 100 + 25 + 30, 80, 0, 40 + 5 * 6 * 4},
    {ML "SVMRegressor", 1, "n_supports=6 kernel_type=POLY", "float[5,4]", "y", 120 + 30, 300 + 30, 80, 0, 20},
    {ML "SVMRegressor", 1, "n_supports=6 kernel_type=SIGMOID", "float[5,4]", "y", 120 + 30, 300 + 30, 80, 0,
     20},
    /* without support vectors: a linear model */
    {ML "SVMRegressor", 1, "coefficients=[0.5,0.5,0.5,0.5]", "float[5,4]", "y", 20, 40, 80, 0, 20},
};

static void ml_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void ml_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

static void ml_integer_samples_are_multiplied_as_floats(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, ML "LinearRegressor", 1, "coefficients=[0.5,0.5]", "int64[5,2]", "y");
    assert_int_equal(t.flops, 20);
    assert_int_equal(t.ops, 0);
    assert_int_equal(t.cost.mac_class, OC_CLASS_F32);
    assert_int_equal(t.cost.attr_params, 2);
    op_case_free(&t);
}

static void ml_zip_map_has_one_entry_per_row(void **state)
{
    (void)state;
    struct op_case t;
    op_case_run(&t, ML "ZipMap", 1, "classlabels_int64s=[0,1]", "float[7,2]", "y");
    assert_true(t.out[0].shape.ranked);
    assert_int_equal(t.out[0].shape.dim[0].v, 7);
    assert_string_equal(t.ctx.assumption, "maps are not modelled");
    op_case_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ml_infers_shapes),
        cmocka_unit_test(ml_counts_operations),
        cmocka_unit_test(ml_integer_samples_are_multiplied_as_floats),
        cmocka_unit_test(ml_zip_map_has_one_entry_per_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
