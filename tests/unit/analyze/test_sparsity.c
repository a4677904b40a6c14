/* Zeros in weights. Random models against numpy: tests/check_training.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "onnxcost/sparsity.h"
#include "support/build.h"

struct zeros {
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_sparsity *s;
    const struct oc_sparsity_info *i;
    const struct oc_sparsity_row *row;
    size_t n_row;
};

static struct zeros zeros_of(struct oc_builder *b, const struct oc_analyze_opts *opts)
{
    struct zeros z = {0};
    struct oc_err err = {0};
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &z.m, &err) || oc_analyze(z.m, opts, &z.a, &err) ||
        oc_sparsity_make(z.a, &z.s, &err))
        fail_msg("%s", err.msg);
    free(bytes);
    z.i = oc_sparsity_info(z.s);
    z.n_row = oc_sparsity_rows(z.s, &z.row);
    return z;
}

static void end(struct zeros *z)
{
    oc_sparsity_free(z->s);
    oc_analysis_free(z->a);
    oc_model_free(z->m);
}

static struct zeros zeros_of_matmul(const char *weight)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,4]");
    oc_b_init(b, "w", weight);
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    return zeros_of(b, NULL);
}

/* 3 rows: each weight takes part in 3 MACs; -0 is zero, and so is the smallest fraction not. */
static void counts_zeros_of_both_signs(void **state)
{
    (void)state;
    struct zeros z = zeros_of_matmul("float[4,2]{0,1,-0.0,2,3,0,4,1e-40}");
    assert_int_equal(z.n_row, 1);
    assert_true(z.row[0].known && z.row[0].counted);
    assert_int_equal(z.row[0].zeros, 3);
    assert_int_equal(z.row[0].macs, 24);
    assert_int_equal(z.row[0].nonzero_macs, 15);
    assert_int_equal(z.row[0].pattern, OC_PATTERN_NONE); /* columns 0 0 3 4 and 1 2 0 1e-40 */
    end(&z);
    z = zeros_of_matmul("float[4,2]{0,1,-0.0,2,3,0,4,0}");
    assert_int_equal(z.row[0].pattern, OC_PATTERN_2_4);
    end(&z);
}

static void weight_without_data_is_unknown(void **state)
{
    (void)state;
    struct zeros z = zeros_of_matmul("float[4,2]");
    assert_false(z.row[0].known || z.row[0].counted);
    assert_string_equal(z.row[0].note, "its data is missing or unreadable");
    assert_int_equal(z.i->unread, 1);
    assert_int_equal(z.i->unknown_operators, 1);
    assert_int_equal(z.i->elements, 0);
    end(&z);
}

/* A weight that two operators read counts once; an operator without a constant weight has no row. */
static void shared_weight_counts_once(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,2]");
    oc_b_init(b, "w", "float[2,2]{0,1,1,1}");
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_node(b, "MatMul", "n", "y,w", "z", "");
    oc_b_node(b, "Transpose", "t", "z", "zt", "perm=1,0");
    oc_b_node(b, "MatMul", "o", "z,zt", "out", "");
    oc_b_output(b, "out", NULL);
    struct zeros z = zeros_of(b, NULL);
    assert_int_equal(z.n_row, 2);
    assert_int_equal(z.i->weights, 1);
    assert_int_equal(z.i->elements, 4);
    assert_int_equal(z.i->zeros, 1);
    assert_int_equal(z.i->macs, 24);
    assert_int_equal(z.i->nonzero_macs, 18);
    end(&z);
}

static struct zeros zeros_of_quantized(const char *zero_point)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,4]");
    oc_b_init(b, "q", "uint8[4,2]{7,1,7,2,3,7,4,0}");
    oc_b_init(b, "s", strchr(zero_point, ']') == zero_point + 6 ? "float[]{0.5}" : "float[2]{0.5,0.5}");
    oc_b_init(b, "z", zero_point);
    oc_b_node(b, "DequantizeLinear", "d", "q,s,z", "w", "axis=1");
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    return zeros_of(b, NULL);
}

static void quantized_weight_is_zero_at_its_zero_point(void **state)
{
    (void)state;
    struct zeros z = zeros_of_quantized("uint8[]{7}");
    assert_int_equal(z.row[0].zeros, 3);
    assert_string_equal(z.row[0].weight, "q");
    end(&z);
    z = zeros_of_quantized("uint8[2]{7,7}");
    assert_int_equal(z.row[0].zeros, 3);
    end(&z);
    z = zeros_of_quantized("uint8[2]{7,6}");
    assert_false(z.row[0].known);
    assert_string_equal(z.row[0].note, "its channels have different zero points");
    end(&z);
}

static struct zeros zeros_of_sparse(const char *values, const char *indices)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,4]");
    oc_b_init_sparse(b, "w", values, indices, "4,2");
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    return zeros_of(b, NULL);
}

/* 3 values of 8, one of them 0: 6 zeros; 12 bytes of values and 24 of indices. */
static void sparse_tensor_counts_what_it_stores(void **state)
{
    (void)state;
    struct zeros z = zeros_of_sparse("float[3]{1,0,2}", "int64[3]{0,3,6}");
    assert_true(z.row[0].sparse);
    assert_int_equal(z.row[0].zeros, 6);
    assert_int_equal(z.row[0].nonzero_macs, 6);
    assert_int_equal(z.row[0].stored_bytes, 36);
    assert_int_equal(z.row[0].pattern, OC_PATTERN_2_4);
    end(&z);
    z = zeros_of_sparse("float[3]{1,1,2}", "int64[3]{0,2,99}");
    assert_false(z.row[0].known);
    assert_string_equal(z.row[0].note, "its indices are not those of the tensor");
    assert_int_equal(z.i->unread, 1);
    end(&z);
}

/* Taps that fall on padding: elements at the edge of the window take part in fewer MACs. */
static void partial_taps_have_no_count_without_zeros(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,1,4,4]");
    oc_b_init(b, "w", "float[1,1,3,3]{0,0,0,0,1,0,0,0,0}");
    oc_b_node(b, "Conv", "c", "x,w", "y", "pads=1,1,1,1");
    oc_b_output(b, "y", NULL);
    struct zeros z = zeros_of(b, &(struct oc_analyze_opts){.taps_valid = true});
    assert_true(z.row[0].known);
    assert_int_equal(z.row[0].zeros, 8);
    assert_false(z.row[0].counted);
    end(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_zeros_of_both_signs),
        cmocka_unit_test(weight_without_data_is_unknown),
        cmocka_unit_test(shared_weight_counts_once),
        cmocka_unit_test(quantized_weight_is_zero_at_its_zero_point),
        cmocka_unit_test(sparse_tensor_counts_what_it_stores),
        cmocka_unit_test(partial_taps_have_no_count_without_zeros),
    };
    return cmocka_run_group_tests_name("analyze/sparsity", tests, NULL, NULL);
}
