#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/fit.h"

/* Writes all outputs at x; false: no value. */
typedef bool function(const int64_t *x, uint64_t *value);

static bool call(void *ctx, const int64_t *x, uint64_t *value)
{
    return (*(function **)ctx)(x, value);
}

static void make(function *f, unsigned n_var, const struct oc_box_var *var, size_t n_out,
                 struct oc_boxes *out)
{
    const struct oc_boxes_in in = {.eval = call,
                                   .ctx = &f,
                                   .n_var = n_var,
                                   .var = var,
                                   .n_out = n_out,
                                   .n_group = 1,
                                   .group_end = &n_out,
                                   .step_groups = 1,
                                   .max_evals = 1000};
    assert_true(oc_boxes_make(&in, out));
}

static void expect_at(const struct oc_boxes *b, function *f, size_t n_out, const int64_t *x)
{
    uint64_t expected[8], v;
    assert_true(f(x, expected));
    for (size_t i = 0; i < n_out; i++) {
        assert_true(oc_boxes_at(b, 0, i, x, &v));
        assert_int_equal(v, expected[i]);
    }
}

static const struct oc_box_var two[] = {{1, 1, 4096, 1}, {128, 1, 512, 1}};

/* 3 b s^2 + b; 5 b; 0 */
static bool polynomials(const int64_t *x, uint64_t *v)
{
    v[0] = (uint64_t)(3 * x[0] * x[1] * x[1] + x[0]);
    v[1] = v[2] = (uint64_t)(5 * x[0]);
    v[3] = 0;
    return true;
}

static void polynomials_are_exact_in_one_box(void **state)
{
    (void)state;
    struct oc_boxes b;
    make(polynomials, 2, two, 4, &b);
    assert_int_equal(b.group[0].n_box, 1);
    assert_int_equal(b.group[0].n_class, 3);
    assert_int_equal(b.class_of[1], b.class_of[2]);
    assert_int_equal(b.class_of[3], b.group[0].zero);
    expect_at(&b, polynomials, 4, (int64_t[]){1, 1});
    expect_at(&b, polynomials, 4, (int64_t[]){4096, 512});
    uint64_t v;
    assert_false(oc_boxes_at(&b, 0, 0, (int64_t[]){1, 513}, &v));
    oc_boxes_free(&b);
}

/* b max(64 s, s^2), and a special case for s = 1 */
static bool pieces(const int64_t *x, uint64_t *v)
{
    v[0] = (uint64_t)(x[0] * (x[1] > 64 ? x[1] * x[1] : 64 * x[1]));
    v[1] = x[1] == 1 ? 7 : (uint64_t)x[1];
    return true;
}

static void pieces_of_one_variable_have_boxes(void **state)
{
    (void)state;
    struct oc_boxes b;
    make(pieces, 2, two, 2, &b);
    static const int64_t size[] = {1, 2, 63, 64, 65, 66, 511, 512};
    for (size_t i = 0; i < OC_COUNT(size); i++)
        expect_at(&b, pieces, 2, (int64_t[]){1 + (int64_t)i * 500, size[i]});
    oc_boxes_free(&b);
}

/* min(b s, 4096) rows of a table: the border is a curve */
static bool gather(const int64_t *x, uint64_t *v)
{
    v[0] = 64 * (uint64_t)(x[0] * x[1] < 4096 ? x[0] * x[1] : 4096);
    return true;
}

static void a_border_between_two_variables_is_a_minimum(void **state)
{
    (void)state;
    struct oc_boxes b;
    make(gather, 2, two, 1, &b);
    for (int64_t batch = 1; batch <= 4096; batch = batch * 3 + 1)
        for (int64_t s = 1; s <= 512; s = s * 2 + 1)
            expect_at(&b, gather, 1, (int64_t[]){batch, s});
    oc_boxes_free(&b);
}

/* three polynomials, with curves as borders */
static bool curves(const int64_t *x, uint64_t *v)
{
    int64_t n = x[0] * x[1];
    v[0] = (uint64_t)(n < 256 ? x[0] + 1 : n < 65536 ? n * x[0] : 7 * x[1] * x[1]);
    return true;
}

/* Halves have a polynomial each where the box has none. */
static void boxes_with_several_borders_are_halved(void **state)
{
    (void)state;
    struct oc_boxes b;
    uint64_t v, expected;
    unsigned covered = 0, all = 0;
    make(curves, 2, two, 1, &b);
    for (int64_t batch = 1; batch <= 4096; batch = batch * 2)
        for (int64_t s = 1; s <= 512; s = s * 2, all++)
            if (oc_boxes_at(&b, 0, 0, (int64_t[]){batch, s}, &v)) {
                assert_true(curves((int64_t[]){batch, s}, &expected));
                assert_int_equal(v, expected);
                covered++;
            }
    oc_boxes_free(&b);
    assert_in_range(covered, all / 2, all); /* without halves less than a sixth */
}

/* two outputs that are equal where they are first compared */
static bool late_split(const int64_t *x, uint64_t *v)
{
    v[0] = (uint64_t)x[0];
    v[1] = x[0] < 300 ? v[0] : v[0] + 1;
    return true;
}

static void outputs_that_differ_later_are_distinguished(void **state)
{
    (void)state;
    static const struct oc_box_var one = {1, 1, 4096, 1};
    struct oc_boxes b;
    make(late_split, 1, &one, 2, &b);
    static const int64_t size[] = {1, 299, 300, 4096};
    for (size_t i = 0; i < OC_COUNT(size); i++)
        expect_at(&b, late_split, 2, &size[i]);
    oc_boxes_free(&b);
}

/* images in steps of 32; no value in between or above 640 */
static bool strides(const int64_t *x, uint64_t *v)
{
    v[0] = (uint64_t)(x[0] / 32 * (x[1] / 32));
    return x[0] % 32 == 0 && x[1] % 32 == 0 && x[0] <= 640;
}

static void steps_and_ends_limit_boxes(void **state)
{
    (void)state;
    static const struct oc_box_var var[] = {{224, 32, 4096, 32}, {224, 32, 4096, 32}};
    struct oc_boxes b;
    make(strides, 2, var, 1, &b);
    expect_at(&b, strides, 1, (int64_t[]){640, 4096});
    uint64_t v;
    assert_false(oc_boxes_at(&b, 0, 0, (int64_t[]){672, 224}, &v));
    assert_false(oc_boxes_at(&b, 0, 0, (int64_t[]){225, 224}, &v));
    oc_boxes_free(&b);
}

/* five convolutions of stride 2: sizes are rounded up */
static bool rounded(const int64_t *x, uint64_t *v)
{
    int64_t n = x[0];
    v[0] = 0;
    for (int i = 0; i < 5; i++) {
        n = (n + 1) / 2;
        v[0] += (uint64_t)(n * n);
    }
    return true;
}

static void a_step_with_one_law_is_chosen(void **state)
{
    (void)state;
    static const struct oc_box_var one = {224, 1, 4096, 1};
    struct oc_boxes b;
    make(rounded, 1, &one, 1, &b);
    assert_int_equal(b.step[0], 32);
    assert_int_equal(b.group[0].n_box, 1);
    assert_true(b.evals < 60);
    for (int64_t x = 32; x <= 4096; x += 32)
        expect_at(&b, rounded, 1, &x);
    uint64_t v;
    assert_false(oc_boxes_at(&b, 0, 0, &(int64_t){225}, &v));
    oc_boxes_free(&b);
}

/* not piecewise polynomial */
static bool noise(const int64_t *x, uint64_t *v)
{
    v[0] = (uint64_t)x[0] * 0x9e3779b97f4a7c15u >> 40;
    return true;
}

static void what_has_no_closed_form_is_in_no_box_or_alone(void **state)
{
    (void)state;
    static const struct oc_box_var one = {1, 1, 4096, 1};
    struct oc_boxes b;
    make(noise, 1, &one, 1, &b);
    for (uint32_t i = 0; i < b.group[0].n_box; i++)
        assert_int_equal(b.group[0].box[i].from[0], b.group[0].box[i].to[0]);
    uint64_t v;
    assert_false(oc_boxes_at(&b, 0, 0, &(int64_t){1000}, &v));
    expect_at(&b, noise, 1, &(int64_t){1});
    oc_boxes_free(&b);
}

static bool none(const int64_t *x, uint64_t *v)
{
    (void)x;
    (void)v;
    return false;
}

static void a_function_without_a_value_has_no_boxes(void **state)
{
    (void)state;
    function *f = none;
    static const size_t end = 1;
    const struct oc_boxes_in in = {
        .eval = call, .ctx = &f, .n_out = 1, .n_group = 1, .group_end = &end, .max_evals = 10};
    struct oc_boxes b;
    assert_false(oc_boxes_make(&in, &b));
    oc_boxes_free(&b);
}

static bool constant(const int64_t *x, uint64_t *v)
{
    (void)x;
    v[0] = 42;
    return true;
}

static void without_variables_there_is_one_value(void **state)
{
    (void)state;
    struct oc_boxes b;
    make(constant, 0, NULL, 1, &b);
    uint64_t v;
    assert_true(oc_boxes_at(&b, 0, 0, NULL, &v));
    assert_int_equal(v, 42);
    oc_boxes_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polynomials_are_exact_in_one_box),
        cmocka_unit_test(pieces_of_one_variable_have_boxes),
        cmocka_unit_test(a_border_between_two_variables_is_a_minimum),
        cmocka_unit_test(boxes_with_several_borders_are_halved),
        cmocka_unit_test(outputs_that_differ_later_are_distinguished),
        cmocka_unit_test(steps_and_ends_limit_boxes),
        cmocka_unit_test(a_step_with_one_law_is_chosen),
        cmocka_unit_test(what_has_no_closed_form_is_in_no_box_or_alone),
        cmocka_unit_test(a_function_without_a_value_has_no_boxes),
        cmocka_unit_test(without_variables_there_is_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
