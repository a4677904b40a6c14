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
        d[i] = dims[i] >= '0' && dims[i] <= '9'
                   ? oc_known(dims[i] - '0')
                   : oc_dim_symbol(x, (char[]){dims[i], 0}, dims[i] == 'M' ? 9 : -1);
    return oc_shape_of(&arena, n, d);
}

/* The text of the result: "!" when the shapes are incompatible, a trailing "?" when something was assumed. */
static const char *broadcast(const char *a, const char *b)
{
    struct oc_shape s = shape(a), t = shape(b), out, back;
    bool assumed = false;
    int rc = oc_broadcast(&arena, x, &s, &t, &out, &assumed);
    assert_int_equal(oc_broadcast(&arena, x, &t, &s, &back, NULL), rc);
    if (rc)
        return "!";
    assert_true(oc_shape_equal(&out, &back));
    return oc_printf(&arena, "%s%s", oc_shape_text(&arena, x, &out, ","), assumed ? "?" : "");
}

static void broadcasts_known_sizes(void **state)
{
    (void)state;
    assert_string_equal(broadcast("418", "31"), "4,3,8");
    assert_string_equal(broadcast("234", ""), "2,3,4");
    assert_string_equal(broadcast("", ""), "scalar");
    assert_string_equal(broadcast("5", "11115"), "1,1,1,1,5");
    assert_string_equal(broadcast("30", "31"), "3,0");
    assert_string_equal(broadcast("23", "32"), "!");
    assert_string_equal(broadcast("20", "23"), "!");
}

static void broadcasts_symbolic_sizes(void **state)
{
    (void)state;
    assert_string_equal(broadcast("B3", "B1"), "B,3");
    assert_string_equal(broadcast("B3", "1"), "B,3");
    assert_string_equal(broadcast("B", "4"), "4");
    assert_string_equal(broadcast("MB", "NB"), "max(N, M),B?");
    struct oc_shape s = shape("M"), t = oc_shape_unranked(), out;
    struct oc_dim n =
        oc_dim_add(x, oc_dim_symbol(x, "N", -1), oc_known(2)); /* at least 2: the other one must equal it */
    assert_int_equal(oc_broadcast(&arena, x, &s, &t, &out, NULL), 0);
    assert_false(out.ranked);
    t = oc_shape_1d(&arena, n);
    assert_int_equal(oc_broadcast(&arena, x, &s, &t, &out, NULL), 0);
    assert_string_equal(oc_shape_text(&arena, x, &out, ","), "N + 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(broadcasts_known_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(broadcasts_symbolic_sizes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
