#include "estimate/kernels.h"
#include "estimate/fusion_plan.h"
#include "estimate/predict.h"
#include "estimate/recast.h"
#include "estimate/samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Every row of the operator tables has a class, and it is one that its own class can become. */
static void every_operator_has_a_class(void **state)
{
    (void)state;
    size_t n, rows = 0;
    const struct oc_op_family *const *family = oc_op_families(&n);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < family[i]->n; k++) {
            const struct oc_op *op = &family[i]->op[k];
            unsigned cls = oc_kernel_class_of_op(op);
            rows++;
            if (cls >= OC_KC_COUNT)
                fail_msg("%s has no class", op->name);
            if ((cls == OC_KC_OTHER) != (op->op_class == OC_OP_OTHER))
                fail_msg("%s: class %s", op->name, oc_kernel_class_name(cls));
            /* an attention operator without its own queries is not a contraction */
            if ((op->op_class == OC_OP_GEMM) != (cls == OC_KC_GEMM))
                fail_msg("%s: class %s", op->name, oc_kernel_class_name(cls));
        }
    assert_true(rows > 300);
    assert_int_equal(oc_kernel_class_of_op(NULL), OC_KC_OTHER);
}

static unsigned class_of(const char *domain, const char *name)
{
    const struct oc_op *op = oc_op_find(domain, name, 0);
    if (!op)
        fail_msg("no operator %s", name);
    return oc_kernel_class_of_op(op);
}

static void runtime_operators_have_a_class(void **state)
{
    (void)state;
    static const struct {
        const char *domain, *name;
        unsigned cls;
    } want[] = {
        {"com.microsoft", "FusedConv", OC_KC_CONV_KXK},
        {"com.microsoft", "FusedMatMul", OC_KC_GEMM},
        {"com.microsoft", "QGemm", OC_KC_GEMM},
        {"com.microsoft", "Attention", OC_KC_ATTENTION_PREFILL},
        {"com.microsoft", "SkipLayerNormalization", OC_KC_NORM},
        {"com.microsoft", "BiasGelu", OC_KC_ACTIVATION},
        {"com.microsoft", "FastGelu", OC_KC_ACTIVATION},
        {"com.microsoft", "QLinearAdd", OC_KC_ELEMENTWISE},
        {"com.microsoft", "DynamicQuantizeLSTM", OC_KC_RNN},
        {"com.microsoft.nchwc", "Conv", OC_KC_CONV_KXK},
        {"com.microsoft.nchwc", "MaxPool", OC_KC_POOL},
        {"com.microsoft.nchwc", "ReorderInput", OC_KC_REORDER},
        {"com.microsoft.nchwc", "ReorderOutput", OC_KC_REORDER},
        {"", "QLinearConv", OC_KC_CONV_KXK},
        {"com.microsoft", "QLinearConvTranspose", OC_KC_CONV_TRANSPOSED},
        {"com.ms.internal.nhwc", "DepthToSpace", OC_KC_TRANSPOSE},
        {"", "MatMulInteger", OC_KC_GEMM},
        {"", "DynamicQuantizeLinear", OC_KC_REDUCE},
        {"", "LayerNormalization", OC_KC_NORM},
        {"", "ConvTranspose", OC_KC_CONV_TRANSPOSED},
        {"", "Transpose", OC_KC_TRANSPOSE},
        {"", "Reshape", OC_KC_CONTROL},
        {"", "Relu", OC_KC_ELEMENTWISE},
        {"", "Erf", OC_KC_ACTIVATION},
        {"", "TopK", OC_KC_SORT},
        {"", "Gather", OC_KC_GATHER},
    };
    for (size_t i = 0; i < OC_COUNT(want); i++)
        if (class_of(want[i].domain, want[i].name) != want[i].cls)
            fail_msg("%s: class %s", want[i].name,
                     oc_kernel_class_name(class_of(want[i].domain, want[i].name)));
}

static void class_names_are_unique(void **state)
{
    (void)state;
    for (unsigned i = 0; i < OC_KC_COUNT; i++) {
        assert_int_equal(oc_kernel_class_by_name(oc_kernel_class_name(i)), i);
        assert_true(oc_kernel_class_group(i) < OC_KG_COUNT);
    }
    assert_int_equal(oc_kernel_class_by_name("none"), OC_KC_COUNT);
    assert_string_equal(oc_kernel_group_name(oc_kernel_class_group(OC_KC_CONV_KXK)), "compute");
    assert_string_equal(oc_kernel_group_name(oc_kernel_class_group(OC_KC_COPY)), "memory");
    assert_string_equal(oc_kernel_group_name(oc_kernel_class_group(OC_KC_SORT)), "irregular");
}

static void check_names(const char *name(unsigned), unsigned n, const char *after)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(name(i), name(k));
    assert_string_equal(name(n), after);
}

static void names_are_unique_and_end(void **state)
{
    (void)state;
    check_names(oc_kernel_class_name, OC_KC_COUNT, "none");
    check_names(oc_kernel_group_name, OC_KG_COUNT, "none");
    assert_int_equal(oc_kernel_class_group(OC_KC_COUNT), OC_KG_IRREGULAR);
    assert_string_equal(oc_fusion_rules_name(OC_FUSE_COUNT), "?");
    assert_null(oc_fusion_simd(OC_FUSE_COUNT));
    assert_int_equal(oc_fusion_block(OC_FUSE_COUNT), 1);
    check_names(oc_evidence_name, OC_EVIDENCE_COUNT, oc_evidence_name(OC_EVIDENCE_NONE));
    check_names(oc_reject_reason_name, OC_REJECT_COUNT, "?");
    size_t n = 0;
    while (oc_recast_name(n))
        n++;
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_a_class),
        cmocka_unit_test(runtime_operators_have_a_class),
        cmocka_unit_test(class_names_are_unique),
        cmocka_unit_test(names_are_unique_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
