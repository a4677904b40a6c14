#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/fit.h"

/* One output f(x); false: no value. */
typedef bool function(const int64_t *x, uint64_t *value);

static bool call(void *ctx, const int64_t *x, uint64_t *value)
{
    return (*(function **)ctx)(x, value);
}

struct fitted {
    function *f;
    struct oc_fit *fit;
    struct oc_fit_result r;
};

static void fit_start(struct fitted *t, function *f, unsigned n_var, const int64_t *base, uint32_t max_evals)
{
    *t = (struct fitted){.f = f};
    const struct oc_fit_in in = {
        .eval = call, .ctx = &t->f, .n_var = n_var, .n_out = 1, .base = base, .max_evals = max_evals};
    t->fit = oc_fit_new(&in);
    if (t->fit)
        oc_fit_output(t->fit, 0, &t->r);
}

static void fit_end(struct fitted *t)
{
    oc_rpoly_free(&t->r.poly);
    oc_fit_free(t->fit);
}

static const char *text_of(const struct fitted *t)
{
    static const char *const name[] = {"a", "b", "c"};
    static char text[256];
    struct oc_buf b = {0};
    if (t->r.state != OC_FIT_FOUND)
        return "none";
    oc_rpoly_text(&t->r.poly, name, &b);
    snprintf(text, sizeof(text), "%s", b.data);
    oc_buf_free(&b);
    return text;
}

#define BASE(...) ((const int64_t[]){__VA_ARGS__})

static bool attention(const int64_t *x, uint64_t *v) /* batch, sequence */
{
    *v = (uint64_t)(x[0] * (12 * x[1] * x[1] + 100 * x[1] + 7) + 5);
    return true;
}

static void finds_polynomials(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, attention, 2, BASE(1, 128), 1000);
    assert_string_equal(text_of(&t), "a*(12*b^2 + 100*b + 7) + 5");
    assert_int_equal(t.r.fitted, 6); /* a^i b^j, i <= 1, j <= 2 */
    assert_true(t.r.checked > 20);
    assert_int_equal(t.r.axis[0].from, 1);
    assert_int_equal(t.r.axis[0].to, 4096);
    assert_int_equal(t.r.axis[1].from, 1);
    assert_int_equal(t.r.axis[1].above, OC_FIT_OPEN);
    assert_true(oc_fit_covers(&t.r, 2, BASE(1, 1)));
    assert_false(oc_fit_covers(&t.r, 2, BASE(0, 1)));
    fit_end(&t);
}

static bool strides(const int64_t *x, uint64_t *v) /* five halvings that round up: 32 */
{
    int64_t h = x[0];
    for (int i = 0; i < 5; i++)
        h = (h - 1) / 2 + 1;
    *v = (uint64_t)(3 * x[0] + 64 * h * x[1]);
    return true;
}

/* On multiples of 32: 3 a + 64 (a / 32) b = 3 a + 2 a b. */
static void finds_strides(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, strides, 2, BASE(224, 1), 4000);
    assert_string_equal(text_of(&t), "a*(2*b + 3)");
    assert_int_equal(t.r.axis[0].step, 32);
    assert_int_equal(t.r.axis[0].from, 32);
    assert_int_equal(t.r.axis[1].step, 1);
    assert_true(oc_fit_covers(&t.r, 2, BASE(512, 3)));
    assert_false(oc_fit_covers(&t.r, 2, BASE(513, 3)));
    fit_end(&t);
}

static bool patches(const int64_t *x, uint64_t *v)
{
    *v = (uint64_t)(x[0] / 16);
    return true;
}

/* Looks constant from 224 to 239: the search must continue. From 130: a = 16 k + 2. */
static void search_continues_past_a_plateau(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, patches, 1, BASE(224), 2000);
    assert_string_equal(text_of(&t), "a/16");
    assert_int_equal(t.r.axis[0].step, 16);
    fit_end(&t);
    fit_start(&t, patches, 1, BASE(130), 2000);
    assert_string_equal(text_of(&t), "(a - 2)/16");
    assert_int_equal(t.r.axis[0].from, 2);
    fit_end(&t);
}

static bool window(const int64_t *x, uint64_t *v)
{
    *v = (uint64_t)(x[0] * (x[0] < 300 ? x[0] : 300));
    return true;
}

static void finds_the_valid_interval_of_a_piece(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, window, 1, BASE(128), 2000);
    assert_string_equal(text_of(&t), "a^2");
    assert_true(t.r.axis[0].piece);
    assert_int_equal(t.r.axis[0].above, OC_FIT_DIFFERS);
    assert_int_equal(t.r.axis[0].to, 300); /* 300 * 300 in both directions */
    fit_end(&t);
    fit_start(&t, window, 1, BASE(1000), 2000);
    assert_string_equal(text_of(&t), "300*a");
    assert_false(t.r.axis[0].piece);
    assert_int_equal(t.r.axis[0].from, 300);
    assert_int_equal(t.r.axis[0].below, OC_FIT_DIFFERS);
    fit_end(&t);
}

static bool narrow_window(const int64_t *x, uint64_t *v)
{
    *v = (uint64_t)(x[0] * (x[0] < 20 ? x[0] : 20));
    return true;
}

/* Every size of a short piece is tried, none beyond its end. */
static void short_piece_ends_where_the_formula_does(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, narrow_window, 1, BASE(8), 2000);
    assert_string_equal(text_of(&t), "a^2");
    assert_true(t.r.axis[0].piece);
    assert_int_equal(t.r.axis[0].above, OC_FIT_DIFFERS);
    assert_int_equal(t.r.axis[0].to, 20);
    fit_end(&t);
}

static bool bits(const int64_t *x, uint64_t *v)
{
    *v = (uint64_t)(__builtin_popcountll((uint64_t)x[0] * 0x9e3779b97f4a7c15u) + 10 * x[1]);
    return true;
}

static bool exclusive(const int64_t *x, uint64_t *v) /* a formula along each variable, none for both */
{
    *v = (uint64_t)(x[0] + x[1] + (x[0] != 2 && x[1] != 2 ? (x[0] * x[1]) % 7 : 0));
    return true;
}

static void function_without_a_formula_is_reported(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, bits, 2, BASE(128, 1), 4000);
    assert_true(t.r.axis[0].held);
    assert_int_equal(t.r.axis[0].from, 128);
    assert_int_equal(t.r.axis[0].to, 128);
    assert_int_equal(t.r.state, OC_FIT_FOUND); /* in b, for a = 128 */
    fit_end(&t);
    fit_start(&t, exclusive, 2, BASE(1, 1), 4000);
    assert_int_equal(t.r.state, OC_FIT_NO_LAW);
    assert_false(oc_fit_covers(&t.r, 2, BASE(2, 2)));
    fit_end(&t);
}

static bool table(const int64_t *x, uint64_t *v) /* 512 positions; a single one is a special case */
{
    *v = x[0] == 1 ? 0 : (uint64_t)(8 * x[0]);
    return x[0] <= 512;
}

static void interval_ends_where_values_end(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, table, 1, BASE(128), 1000);
    assert_string_equal(text_of(&t), "8*a");
    assert_int_equal(t.r.axis[0].to, 512);
    assert_int_equal(t.r.axis[0].above, OC_FIT_NO_VALUE);
    assert_int_equal(t.r.axis[0].from, 2);
    assert_int_equal(t.r.axis[0].below, OC_FIT_DIFFERS);
    fit_end(&t);
    fit_start(&t, table, 1, BASE(512), 1000); /* no way up: it starts lower */
    assert_string_equal(text_of(&t), "8*a");
    assert_int_equal(t.r.axis[0].to, 512);
    fit_end(&t);
    fit_start(&t, table, 1, BASE(513), 1000);
    assert_null(t.fit);
}

static bool equal_sizes(const int64_t *x, uint64_t *v) /* a and b must be equal, c must be 3 */
{
    *v = (uint64_t)(x[0] * x[1] + 1);
    return x[0] == x[1] && x[2] == 3;
}

static bool broadcast(const int64_t *x, uint64_t *v)
{
    *v = (uint64_t)(x[0] > x[1] ? x[0] : x[1]);
    return x[0] == x[1] || x[0] == 1 || x[1] == 1;
}

static void finds_tied_and_fixed_variables(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, equal_sizes, 3, BASE(128, 128, 3), 8000);
    const struct oc_fit_var *var = oc_fit_vars(t.fit);
    assert_int_equal(oc_fit_slots(t.fit), 1);
    assert_int_equal(var[0].role, OC_FIT_FREE);
    assert_int_equal(var[1].role, OC_FIT_TIED);
    assert_int_equal(var[1].tied_to, 0);
    assert_int_equal(var[2].role, OC_FIT_FIXED);
    assert_string_equal(text_of(&t), "a^2 + 1");
    fit_end(&t);
    /* two names of one batch: the first may grow while the second is 1, but both grow together */
    fit_start(&t, broadcast, 2, BASE(1, 1), 8000);
    var = oc_fit_vars(t.fit);
    assert_int_equal(var[1].role, OC_FIT_TIED);
    assert_string_equal(text_of(&t), "a");
    fit_end(&t);
}

static bool full(const int64_t *x, uint64_t *v)
{
    return !__builtin_mul_overflow((uint64_t)x[0], (uint64_t)1 << 60, v);
}

static bool near_top(const int64_t *x, uint64_t *v)
{
    *v = UINT64_MAX - (uint64_t)x[0];
    return true;
}

static bool no_variable(const int64_t *x, uint64_t *v)
{
    (void)x;
    *v = 42;
    return true;
}

static void limits_of_values_and_variables_are_reported(void **state)
{
    (void)state;
    struct fitted t;
    fit_start(&t, full, 1, BASE(2), 1000); /* 16 * 2^60 does not fit */
    assert_string_equal(text_of(&t), "1152921504606846976*a");
    assert_int_equal(t.r.axis[0].to, 15);
    assert_int_equal(t.r.axis[0].above, OC_FIT_NO_VALUE);
    fit_end(&t);
    fit_start(&t, near_top, 1, BASE(2), 1000);
    assert_int_equal(t.r.state, OC_FIT_TOO_LARGE);
    fit_end(&t);
    fit_start(&t, attention, 2, BASE(1, 128), 25);
    assert_int_equal(t.r.state, OC_FIT_STOPPED);
    assert_int_equal(oc_fit_evals(t.fit), 25);
    fit_end(&t);
    fit_start(&t, no_variable, 0, NULL, 1000);
    assert_string_equal(text_of(&t), "42");
    fit_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_polynomials),
        cmocka_unit_test(finds_strides),
        cmocka_unit_test(search_continues_past_a_plateau),
        cmocka_unit_test(finds_the_valid_interval_of_a_piece),
        cmocka_unit_test(short_piece_ends_where_the_formula_does),
        cmocka_unit_test(function_without_a_formula_is_reported),
        cmocka_unit_test(interval_ends_where_values_end),
        cmocka_unit_test(finds_tied_and_fixed_variables),
        cmocka_unit_test(limits_of_values_and_variables_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
