#include "support/op_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static int order(const struct oc_op *a, const struct oc_op *b)
{
    int n = strcmp(a->name, b->name), d = n ? n : strcmp(a->domain, b->domain);
    return d ? d : a->since - b->since;
}

/* The index takes the rows of one operator from neighbours. */
static void op_table_rows_are_sorted(void **state)
{
    size_t n;
    const struct oc_op_family *const *f = oc_op_families(&n);
    (void)state;
    size_t rows = 0;
    for (size_t i = 0; i < n; i++)
        rows += f[i]->n;
    assert_true(rows < 2048); /* more than half of the index of 4,096 is free */
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 1; k < f[i]->n; k++)
            if (order(&f[i]->op[k - 1], &f[i]->op[k]) >= 0)
                fail_msg("family %s: %s before %s", f[i]->name, f[i]->op[k - 1].name, f[i]->op[k].name);
}

/* Two rows of one operator never cover the same version, within a family or across families. */
static void op_table_versions_do_not_overlap(void **state)
{
    size_t n;
    const struct oc_op_family *const *f = oc_op_families(&n);
    (void)state;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < f[i]->n; k++) {
            const struct oc_op *op = &f[i]->op[k];
            assert_true(op->since >= 1 && (op->until == 0 || op->until >= op->since));
            assert_ptr_equal(oc_op_find(op->domain, op->name, op->since), op);
            assert_ptr_equal(oc_op_find(op->domain, op->name, op->until ? op->until : 1000), op);
        }
}

static void op_table_rows_are_complete(void **state)
{
    size_t n;
    const struct oc_op_family *const *f = oc_op_families(&n);
    (void)state;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < f[i]->n; k++) {
            const struct oc_op *op = &f[i]->op[k];
            assert_true(op->shape || op->flags & OC_F_CONTROL);
            if (op->op_class == OC_OP_NONE || op->op_class >= OC_OP_CLASS_COUNT)
                fail_msg("%s has no class", op->name);
            assert_true(op->kernel < OC_KC_COUNT);
            if (!(op->flags & OC_F_CONTROL) != (op->body == OC_BODY_NONE))
                fail_msg("%s: its flags and its bodies contradict each other", op->name);
            if (op->slots && (!op->slots[0] || strspn(op->slots, ".mqbnset") != strlen(op->slots)))
                fail_msg("%s: slots '%s'", op->name, op->slots);
        }
}

/* Variants of an operator (versions, layouts, domains of runtimes) do the same work. */
static void rows_of_one_name_have_one_class(void **state)
{
    size_t n;
    const struct oc_op_family *const *f = oc_op_families(&n);
    static const char *const domains[] = {"", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"};
    (void)state;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < f[i]->n; k++)
            for (size_t d = 0; d < OC_COUNT(domains); d++) {
                const struct oc_op *op = &f[i]->op[k], *other = oc_op_find(domains[d], op->name, 0);
                if (other && (op->op_class != other->op_class || op->kernel != other->kernel))
                    fail_msg("%s differs between '%s' and '%s'", op->name, op->domain, other->domain);
                if (other && strcmp(op->domain, other->domain) == 0 && op->flags != other->flags)
                    fail_msg("%s: flags differ between versions", op->name);
            }
}

/* What rows say beyond shape and cost, by one operator that has the property and one that has not. */
static void rows_say_what_runtimes_do(void **state)
{
    static const struct {
        bool (*has)(const struct oc_op *op);
        const char *yes[3], *no[3];
    } want[] = {
        {oc_op_keeps_shape, {"Relu", "Cast", "Softmax"}, {"Reshape", "MatMul", "Shape"}},
        {oc_op_selects, {"Gather", "Clip", "Squeeze"}, {"Add", "Shape", "Size"}},
        {oc_op_has_channels, {"Conv", "BatchNormalization", "Resize"}, {"MatMul", "Relu", "Transpose"}},
        {oc_op_broadcasts, {"Add", "Where", "Less"}, {"Relu", "PRelu", "MatMul"}},
    };
    static const struct {
        unsigned flag;
        const char *yes[2], *no[2];
    } flags[] = {
        {OC_F_TYPE_ONLY, {"Shape", "SequenceLength"}, {"Reshape", "Identity"}},
        {OC_F_NO_EFFECT, {"Identity", "Dropout"}, {"Reshape", "Relu"}},
        {OC_F_UPDATES, {"ScatterElements", "ScatterND"}, {"Gather", "Add"}},
        {OC_F_FUNCTION, {"Celu", "LayerNormalization"}, {"Conv", "MatMul"}},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(want); i++)
        for (unsigned k = 0; k < 3; k++)
            if (!want[i].has(oc_op_find("", want[i].yes[k], 0)) ||
                want[i].has(oc_op_find("", want[i].no[k], 0)))
                fail_msg("%s, %s", want[i].yes[k], want[i].no[k]);
    for (size_t i = 0; i < OC_COUNT(flags); i++)
        for (unsigned k = 0; k < 2; k++)
            if (!oc_op_is(oc_op_find("", flags[i].yes[k], 0), flags[i].flag) ||
                oc_op_is(oc_op_find("", flags[i].no[k], 0), flags[i].flag))
                fail_msg("%s, %s", flags[i].yes[k], flags[i].no[k]);
    assert_false(oc_op_is(NULL, OC_F_FUNCTION) || oc_op_selects(NULL) || oc_op_keeps_shape(NULL));
    assert_int_equal(oc_op_required(oc_op_find("", "BatchNormalization", 0)), 5);
    assert_int_equal(oc_op_required(oc_op_find("", "Mul", 0)), 2);
    assert_int_equal(oc_op_required(oc_op_find("", "Relu", 0)), 1);
    assert_int_equal(oc_op_weight_slot(oc_op_find("", "Conv", 0)), 1);
    assert_int_equal(oc_op_weight_slot(oc_op_find("", "QLinearConv", 0)), 3);
    assert_int_equal(oc_op_weight_slot(oc_op_find("com.microsoft", "QGemm", 0)), 3);
    assert_int_equal(oc_op_weight_slot(NULL), 1);
}

static void op_table_finds_the_row_of_a_version(void **state)
{
    (void)state;
    assert_null(oc_op_find("", "NoSuchOperator", 13));
    assert_null(oc_op_find("no.such.domain", "Conv", 13));
    assert_null(oc_op_find("", "Gelu", 19)); /* Gelu was added in version 20 */
    assert_int_equal(oc_op_find("", "Gelu", 20)->since, 20);
    assert_int_equal(oc_op_find("", "Gelu", 9999)->since, 20);
    assert_int_equal(oc_op_find("", "Clip", 10)->until, 10);
    assert_int_equal(oc_op_find("", "Clip", 11)->until, 0);
    assert_int_equal(oc_op_find("", "Clip", 0)->until, 0); /* domain not imported: the newest version */
    assert_ptr_equal(oc_op_find("ai.onnx", "Conv", 11), oc_op_find("", "Conv", 11));
    assert_ptr_not_equal(oc_op_find("com.microsoft.nchwc", "Conv", 1), oc_op_find("", "Conv", 11));
}

static void op_table_cache_returns_the_same_row(void **state)
{
    struct oc_op_cache cache = {0};
    static const char *const names[] = {"Conv", "Clip", "NoSuchOperator", "Softmax", "Add"};
    (void)state;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < OC_COUNT(names); i++)
            for (int opset = 6; opset < 14; opset++)
                assert_ptr_equal(oc_op_find_cached(&cache, "", names[i], opset),
                                 oc_op_find("", names[i], opset));
}

static void op_table_names_primitives_and_classes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < OC_PRIM_COUNT; i++)
        assert_non_null(oc_prim_name(i));
    for (unsigned i = 0; i < OC_OP_CLASS_COUNT; i++)
        assert_non_null(oc_op_class_name(i));
    assert_string_equal(oc_prim_name(OC_PRIM_COUNT), "?");
    assert_string_equal(oc_op_class_name(OC_OP_CLASS_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(op_table_rows_are_sorted),
        cmocka_unit_test(op_table_versions_do_not_overlap),
        cmocka_unit_test(op_table_rows_are_complete),
        cmocka_unit_test(rows_of_one_name_have_one_class),
        cmocka_unit_test(rows_say_what_runtimes_do),
        cmocka_unit_test(op_table_finds_the_row_of_a_version),
        cmocka_unit_test(op_table_cache_returns_the_same_row),
        cmocka_unit_test(op_table_names_primitives_and_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
