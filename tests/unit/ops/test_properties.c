#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Properties of many operators at once (cost-semantics section 12). */

/* Rows whose inputs have a batch, %d, and no operations per channel or per weight. */
static const struct {
    const char *op;
    int opset;
    const char *attrs, *in, *out;
} rows[] = {
    {"Relu", 14, "", "float[%d,3,8,8]", "y"},
    {"Add", 14, "", "float[%d,3,8,8] float[3,1,1]", "y"},
    {"Conv", 11, "pads=[1,1,1,1]", "float[%d,3,8,8] float[4,3,3,3]! float[4]!", "y"},
    {"ConvTranspose", 11, "strides=[2,2]", "float[%d,3,8,8] float[3,4,3,3]! float[4]!", "y"},
    {"DeformConv", 19, "", "float[%d,3,8,8] float[4,3,3,3]! float[%d,18,6,6]", "y"},
    {"MatMul", 13, "", "float[%d,5,6] float[6,7]!", "y"},
    {"Gemm", 13, "", "float[%d,6] float[6,7]! float[7]!", "y"},
    {"Einsum", 12, "equation=bij,bjk->bik", "float[%d,2,3] float[%d,3,4]", "y"},
    {"MaxPool", 12, "kernel_shape=[3,3] pads=[1,1,1,1]", "float[%d,3,8,8]", "y"},
    {"AveragePool", 11, "kernel_shape=[2,2] strides=[2,2]", "float[%d,3,8,8]", "y"},
    {"GlobalAveragePool", 1, "", "float[%d,3,8,8]", "y"},
    {"LayerNormalization", 17, "", "float[%d,5,8] float[8]! float[8]!", "y"},
    {"InstanceNormalization", 6, "", "float[%d,3,8] float[3]! float[3]!", "y"},
    {"GroupNormalization", 21, "num_groups=3", "float[%d,6,8] float[6]! float[6]!", "y"},
    {"Softmax", 13, "", "float[%d,10]", "y"},
    {"LogSoftmax", 13, "", "float[%d,10]", "y"},
    {"LRN", 13, "size=5", "float[%d,6,4,4]", "y"},
    {"ReduceMean", 11, "axes=[1]", "float[%d,10]", "y"},
    {"ReduceL2", 11, "axes=[1]", "float[%d,10]", "y"},
    {"ArgMax", 13, "axis=1", "float[%d,10]", "y"},
    {"TopK", 11, "", "float[%d,10] int64[1]{3}", "yy"},
    {"CumSum", 11, "", "float[%d,10] int64[]{1}", "y"},
    {"Attention", 23, "is_causal=1", "float[%d,4,5,8] float[%d,2,5,8] float[%d,2,5,8]", "y"},
    {"com.microsoft:MultiHeadAttention", 1, "num_heads=2", "float[%d,5,8] float[%d,5,8] float[%d,5,8]", "y"},
    {"com.microsoft:Attention", 1, "num_heads=2", "float[%d,5,8] float[8,24]! float[24]!", "y"},
    {"com.microsoft:SkipLayerNormalization", 1, "", "float[%d,5,8] float[%d,5,8] float[8]! float[8]!", "y"},
    {"com.microsoft:GroupNorm", 1, "groups=2 activation=1", "float[%d,4,4,8] float[8]! float[8]!", "y"},
    {"com.microsoft:FusedMatMul", 1, "alpha=0.5", "float[%d,5,6] float[6,7]!", "y"},
    {"QLinearMatMul", 10, "",
     "uint8[%d,6] float[]! uint8[]{3} int8[6,7]! float[]! int8[]{0} float[]! uint8[]{3}", "y"},
    {"MatMulInteger", 10, "", "uint8[%d,6] int8[6,7]! uint8[]{3}", "y"},
    {"Dropout", 13, "", "float[%d,10] float[]{0.5} bool[]{true}", "yy"},
    {"LinearAttention", 27, "q_num_heads=2 kv_num_heads=2",
     "float[%d,3,8] float[%d,3,8] float[%d,3,8] - float[%d,3,2] float[%d,3,2]", "yy"},
    {"CausalConvWithState", 27, "activation=silu", "float[%d,8,5] float[8,1,4]! float[8]!", "yy"},
    {"SoftmaxCrossEntropyLoss", 13, "reduction=none", "float[%d,10] int64[%d]", "y"},
    {"Det", 11, "", "float[%d,3,3]", "y"},
};

static void run(struct op_case *t, size_t i, int batch)
{
    char in[512];
    const char *s = rows[i].in;
    size_t n = 0;
    for (; *s && n + 16 < sizeof(in); s++) {
        if (s[0] == '%' && s[1] == 'd') {
            n += (size_t)snprintf(in + n, sizeof(in) - n, "%d", batch);
            s++;
        } else {
            in[n++] = *s;
        }
    }
    in[n] = '\0';
    op_case_run(t, rows[i].op, rows[i].opset, rows[i].attrs, in, rows[i].out);
    if (t->rc)
        fail_msg("%s: %s", rows[i].op, t->err.msg);
    assert_false(t->ctx.unknown || t->ctx.overflow);
}

/* 2: twice the batch, twice of everything that is not a constant. */
static void cost_is_linear_in_the_batch(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct op_case one, two;
        run(&one, i, 3);
        run(&two, i, 6);
        for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
            if (op_case_prim(&two, p) != 2 * op_case_prim(&one, p))
                fail_msg("%s: %s is %llu and %llu", rows[i].op, oc_prim_name(p),
                         (unsigned long long)op_case_prim(&one, p),
                         (unsigned long long)op_case_prim(&two, p));
        assert_int_equal(two.wr, 2 * one.wr);
        assert_int_equal(two.rd_const, one.rd_const);
        op_case_free(&one);
        op_case_free(&two);
    }
}

/* 8: an empty batch costs nothing and divides by zero nowhere. */
static void empty_batch_costs_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct op_case t;
        run(&t, i, 0);
        if (t.total || t.macs || t.wr)
            fail_msg("%s: %llu operations, %llu bytes written", rows[i].op, (unsigned long long)t.total,
                     (unsigned long long)t.wr);
        op_case_free(&t);
    }
}

/* The same counts whatever the options are where they do not apply; fewer or the same where they do. */
static void counting_options_never_increase_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct op_case all, less;
        run(&all, i, 2);
        run(&less, i, 2);
        less.ctx.opt.taps_valid = less.ctx.opt.strict_reduce = true;
        less.macs = less.flops = less.ops = less.total = less.hw = less.rd_act = less.rd_const = less.wr = 0;
        assert_int_equal(op_case_cost(&less), 0);
        assert_true(less.total <= all.total);
        assert_int_equal(less.wr, all.wr);
        op_case_free(&all);
        op_case_free(&less);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cost_is_linear_in_the_batch),
        cmocka_unit_test(empty_batch_costs_nothing),
        cmocka_unit_test(counting_options_never_increase_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
