#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void contrib_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"com.microsoft:FastGelu", 1, "", "float16[2,8] float16[8]", "y", "float16[2,8]"},
        {"com.microsoft:BiasGelu", 1, "", "float[2,8] float[8]", "y", "float[2,8]"},
        {"com.microsoft:BiasSplitGelu", 1, "", "float[2,4,20] float[20]", "y", "float[2,4,10]"},
        {"com.microsoft:BiasAdd", 1, "", "float[2,8] float[8] float[2,8]", "y", "float[2,8]"},
        {"com.microsoft:BiasDropout", 1, "", "float[2,8] float[8]", "yy", "float[2,8] bool[2,8]"},
        {"com.microsoft:BitmaskDropout", 1, "", "float[5,8]", "yy", "float[5,8] uint32[2]"},
        {"com.microsoft:ComplexMul", 1, "", "float[3,2] float[3,2]", "y", "float[3,2]"},
        {"com.microsoft:IsAllFinite", 1, "", "float[3] float[4]", "y", "bool[]"},
        {"com.microsoft:MulInteger", 1, "", "uint8[2,1] uint8[] uint8[3] uint8[]", "y", "int32[2,3]"},
        {"com.microsoft:LinearAttentionGate", 1, "", "float16[1,2,8] float[8] float[8] float16[1,2,8]", "yy",
         "float16[1,2,8] float16[1,2,8]"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

static void contrib_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"com.microsoft:Gelu", 1, "", "float[10]", "y", "ADD 10, MUL 30, ERF 10"},
        {"com.microsoft:FastGelu", 1, "", "float[10]", "y", "ADD 20, MUL 60, TANH 10"},
        {"com.microsoft:FastGelu", 1, "", "float[10] float[10]", "y", "ADD 30, MUL 60, TANH 10"},
        {"com.microsoft:QuickGelu", 1, "", "float[10]", "y", "MUL 20, SIG 10"},
        {"com.microsoft:BiasGelu", 1, "", "float[10] float[10]", "y", "ADD 20, MUL 30, ERF 10"},
        /* width 20: 20 additions, then 10 Gelus and 10 products */
        {"com.microsoft:BiasSplitGelu", 1, "", "float[20] float[20]", "y", "ADD 30, MUL 40, ERF 10"},
        {"com.microsoft:BiasAdd", 1, "", "float[2,5] float[5] float[2,5]", "y", "ADD 20"},
        {"com.microsoft:BiasDropout", 1, "", "float[10] float[10] float[10]", "y", "ADD 20"},
        {"com.microsoft:BiasDropout", 1, "", "float[10] float[10] - float[] bool[]{true}", "yy",
         "ADD 10, MUL 10, CMP 10, RNG 10"},
        {"com.microsoft:BitmaskDropout", 1, "", "float[10]", "y", "nothing, alias"},
        {"com.microsoft:GatedAdd", 1, "", "float[10] float[10] float[10]", "y", "ADD 10, MUL 10, SIG 10"},
        {"com.microsoft:ComplexMul", 1, "", "float[5,2] float[5,2]", "y", "ADD 10, MUL 20"},
        {"com.microsoft:IsAllFinite", 1, "", "float[3] float[4]", "y", "CMP 7"},
        {"com.microsoft:MulInteger", 1, "", "uint8[6] uint8[]{3} uint8[6] uint8[]{0}", "y", "ADD 6, MUL 6"},
        {"com.microsoft:LinearAttentionGate", 1, "", "float16[8] float[8] float[8] float16[8]", "yy",
         "ADD 16, MUL 8, EXP 8, LOG 8, SIG 8"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

static void add(struct op_case *sum, const char *op, int opset, const char *attrs, const char *in)
{
    struct op_case t;
    op_case_run(&t, op, opset, attrs, in, "y");
    assert_int_equal(t.rc, 0);
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        sum->cost.hist_f[p] += op_case_prim(&t, (enum oc_prim)p);
    op_case_free(&t);
}

/* A fused operator counts the same as the nodes it replaces (cost-semantics 1). */
static void contrib_fused_operator_counts_equal_its_parts(void **state)
{
    struct part {
        const char *op;
        int opset;
        const char *attrs, *in;
    };
    static const struct {
        struct part fused, parts[4];
    } rows[] = {
        {{"com.microsoft:FusedConv", 1, "activation=Relu",
          "float[1,3,8,8] float[4,3,3,3] float[4] float[1,4,6,6]"},
         {{"Conv", 11, "", "float[1,3,8,8] float[4,3,3,3] float[4]"},
          {"Add", 14, "", "float[1,4,6,6] float[1,4,6,6]"},
          {"Relu", 14, "", "float[1,4,6,6]"}}},
        {{"com.microsoft:BiasGelu", 1, "", "float[2,8] float[8]"},
         {{"Add", 14, "", "float[2,8] float[8]"}, {"Gelu", 20, "", "float[2,8]"}}},
        {{"com.microsoft:FastGelu", 1, "", "float[2,8] float[8]"},
         {{"Add", 14, "", "float[2,8] float[8]"}, {"Gelu", 20, "approximate=tanh", "float[2,8]"}}},
        {{"com.microsoft:FusedGemm", 1, "activation=Tanh alpha=0.5", "float[2,3] float[3,4] float[4]"},
         {{"Gemm", 13, "alpha=0.5", "float[2,3] float[3,4] float[4]"}, {"Tanh", 13, "", "float[2,4]"}}},
        {{"com.microsoft:FusedMatMul", 1, "alpha=0.5", "float[2,3] float[3,4]"},
         {{"MatMul", 13, "", "float[2,3] float[3,4]"}, {"Mul", 13, "", "float[2,4] float[]"}}},
        {{"com.microsoft:SkipLayerNormalization", 1, "", "float[2,8] float[2,8] float[8] float[8] float[8]"},
         {{"Add", 14, "", "float[2,8] float[2,8]"},
          {"Add", 14, "", "float[2,8] float[8]"},
          {"LayerNormalization", 17, "", "float[2,8] float[8] float[8]"}}},
        {{"com.microsoft:SkipSimplifiedLayerNormalization", 1, "", "float[2,8] float[2,8] float[8]"},
         {{"Add", 14, "", "float[2,8] float[2,8]"}, {"RMSNormalization", 23, "", "float[2,8] float[8]"}}},
        {{"com.microsoft:BiasSoftmax", 1, "", "float[2,8] float[8]"},
         {{"Add", 14, "", "float[2,8] float[8]"}, {"Softmax", 13, "", "float[2,8]"}}},
        {{"HardSwish", 14, "", "float[8]"},
         {{"HardSigmoid", 6, "", "float[8]"}, {"Mul", 13, "", "float[8] float[8]"}}},
        {{"Swish", 24, "", "float[8]"},
         {{"Sigmoid", 13, "", "float[8]"}, {"Mul", 13, "", "float[8] float[8]"}}},
        {{"com.microsoft:GemmFastGelu", 1, "", "float[2,3] float[3,4] float[4]"},
         {{"MatMul", 13, "", "float[2,3] float[3,4]"},
          {"com.microsoft:FastGelu", 1, "", "float[2,4] float[4]"}}},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        struct op_case fused = {0}, parts = {0};
        add(&fused, rows[i].fused.op, rows[i].fused.opset, rows[i].fused.attrs, rows[i].fused.in);
        for (size_t k = 0; k < 4 && rows[i].parts[k].op; k++)
            add(&parts, rows[i].parts[k].op, rows[i].parts[k].opset, rows[i].parts[k].attrs,
                rows[i].parts[k].in);
        for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
            if (fused.cost.hist_f[p] != parts.cost.hist_f[p])
                fail_msg("%s: %s %llu, its parts %llu", rows[i].fused.op, oc_prim_name(p),
                         (unsigned long long)fused.cost.hist_f[p], (unsigned long long)parts.cost.hist_f[p]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contrib_infers_shapes),
        cmocka_unit_test(contrib_counts_operations),
        cmocka_unit_test(contrib_fused_operator_counts_equal_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
