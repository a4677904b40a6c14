#include "base/load_library.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct table {
    double (*cosine)(double);
    double (*sine)(double);
};

static void loads_functions(void **state)
{
    (void)state;
    static const struct oc_symbol list[] = {{"cos", offsetof(struct table, cosine)},
                                            {"sin", offsetof(struct table, sine)}};
    struct table t = {0};
    void *handle = oc_load_library("libm.so.6");
    assert_non_null(handle);
    assert_null(oc_load_symbols(handle, list, 2, &t));
    assert_true(t.cosine(0) == 1 && t.sine(0) == 0);
    dlclose(handle);
}

static void missing_library_or_symbol_is_named(void **state)
{
    (void)state;
    static const struct oc_symbol list[] = {{"cos", offsetof(struct table, cosine)},
                                            {"no_such_function", offsetof(struct table, sine)}};
    struct table t = {0};
    void *handle = oc_load_library("libm.so.6");
    assert_non_null(handle);
    assert_string_equal(oc_load_symbols(handle, list, 2, &t), "no_such_function");
    dlclose(handle);
    assert_null(oc_load_library("libno-such-library.so.0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_functions),
        cmocka_unit_test(missing_library_or_symbol_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
