#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "shape/type.h"

static struct oc_arena arena;
static struct oc_exprs *x;

static int setup(void **state)
{
    (void)state;
    x = oc_exprs_new(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    oc_exprs_free(x);
    oc_arena_free(&arena);
    return 0;
}

static struct oc_shape shape(const char *dims) /* one letter or digit per dimension; a letter is a symbol */
{
    struct oc_dim d[16];
    unsigned n = (unsigned)strlen(dims);
    for (unsigned i = 0; i < n; i++)
        d[i] = dims[i] >= '0' && dims[i] <= '9' ? oc_known(dims[i] - '0')
                                                : oc_dim_symbol(x, (char[]){dims[i], 0}, -1);
    return oc_shape_of(&arena, n, d);
}

static void looks_up_data_types(void **state)
{
    (void)state;
    assert_string_equal(oc_dtype_info(OC_DT_INT4)->name, "int4");
    assert_string_equal(oc_dtype_info(999)->name, "undefined");
    assert_int_equal(oc_dtype_by_name("FLOAT", 5), OC_DT_FLOAT);
    assert_int_equal(oc_dtype_by_name("bfloat16 ", 8), OC_DT_BFLOAT16);
    assert_int_equal(oc_dtype_by_name("Float64", 7), OC_DT_DOUBLE);
    assert_int_equal(oc_dtype_by_name("floa", 4), OC_DT_UNDEFINED);
    for (unsigned i = 1; i < OC_DT_COUNT; i++) {
        const char *name = oc_dtype_info(i)->name;
        assert_int_equal(oc_dtype_by_name(name, strlen(name)), i);
    }
    for (unsigned i = 1; i < OC_CLASS_COUNT; i++)
        assert_int_equal(oc_class_by_name(oc_class_name(i)), i);
    assert_int_equal(oc_class_by_name("f17"), OC_CLASS_NONE);
    assert_true(oc_class_is_int(oc_dtype_info(OC_DT_BOOL)->cls));
    assert_false(oc_class_is_int(oc_dtype_info(OC_DT_FLOAT4E2M1)->cls));
}

/* shape-inference section 8 m: 5 x int4 are 3 bytes; cost-semantics section 5: 7 x int2 are 2 */
static void bytes_of_elements_are_rounded_up(void **state)
{
    (void)state;
    static const struct {
        unsigned dtype;
        uint64_t n, want;
    } row[] = {{OC_DT_INT4, 5, 3},       {OC_DT_UINT2, 7, 2},
               {OC_DT_FLOAT4E2M1, 0, 0}, {OC_DT_BOOL, 9, 9},
               {OC_DT_FLOAT16, 3, 6},    {OC_DT_COMPLEX128, 2, 32},
               {OC_DT_STRING, 100, 0},   {OC_DT_INT4, UINT64_MAX, (uint64_t)1 << 63}};
    uint64_t b;
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        assert_true(oc_bytes_of(row[i].dtype, row[i].n, &b));
        assert_int_equal(b, row[i].want);
    }
    assert_false(oc_bytes_of(OC_DT_DOUBLE, UINT64_MAX / 4, &b));
}

static void counts_elements(void **state)
{
    (void)state;
    struct oc_shape s = shape("B34");
    assert_string_equal(oc_dim_text(x, oc_shape_count(x, &s)), "12*B");
    assert_true(oc_is(oc_shape_count_range(x, &s, 1, 3), 12));
    assert_true(oc_is(oc_shape_count_range(x, &s, 1, 1), 1));
    s = oc_shape_scalar();
    assert_true(oc_is(oc_shape_count(x, &s), 1));
    struct oc_dim d[3] = {oc_known(INT64_MAX), oc_known(INT64_MAX), oc_known(0)};
    s = oc_shape_of(&arena, 3, d);
    assert_true(oc_is(oc_shape_count(x, &s), 0));
    assert_false(oc_exprs_overflowed(x));
    s = oc_shape_unranked();
    assert_false(oc_is_known(oc_shape_count(x, &s)));
}

static void compares_shapes(void **state)
{
    (void)state;
    struct oc_shape s = shape("B3"), t = shape("B3"), u = shape("33"), n = oc_shape_unranked();
    assert_true(oc_shape_equal(&s, &t));
    assert_false(oc_shape_equal(&s, &u));
    assert_false(oc_shape_equal(&s, &n));
    assert_true(oc_shape_known(&u));
    assert_false(oc_shape_known(&s));
    assert_false(oc_shape_known(&n));
    unsigned axis;
    assert_true(oc_axis(-1, 3, &axis) && axis == 2);
    assert_false(oc_axis(3, 3, &axis));
    assert_false(oc_axis(-4, 3, &axis));
    assert_false(oc_axis(0, 0, &axis));
}

static void prints_types_and_shapes(void **state)
{
    (void)state;
    struct oc_type t = oc_tensor_type(OC_DT_FLOAT, shape("N34"));
    assert_string_equal(oc_type_text(&arena, x, &t), "float[N,3,4]");
    assert_string_equal(oc_shape_text(&arena, x, &t.shape, "x"), "Nx3x4");
    struct oc_type seq = {.kind = OC_T_SEQUENCE, .elem = &t};
    assert_string_equal(oc_type_text(&arena, x, &seq), "seq(float[N,3,4])");
    struct oc_type map = {.kind = OC_T_MAP, .dtype = OC_DT_INT64, .elem = &seq};
    assert_string_equal(oc_type_text(&arena, x, &map), "map(int64,seq(float[N,3,4]))");
    t = oc_tensor_type(OC_DT_BOOL, oc_shape_unranked());
    assert_string_equal(oc_type_text(&arena, x, &t), "bool[...]");
    assert_string_equal(oc_shape_text(&arena, x, &t.shape, "x"), "?");
    t = oc_tensor_type(OC_DT_INT64, oc_shape_scalar());
    assert_string_equal(oc_type_text(&arena, x, &t), "int64[]");
    assert_string_equal(oc_shape_text(&arena, x, &t.shape, "x"), "scalar");
    t = (struct oc_type){0};
    assert_string_equal(oc_type_text(&arena, x, &t), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(looks_up_data_types, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_of_elements_are_rounded_up, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_elements, setup, teardown),
        cmocka_unit_test_setup_teardown(compares_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(prints_types_and_shapes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
