#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/diag.h"

#define FUNCTIONS(X) X(version, zlibVersion) X(bound, compressBound)
struct library {
    void *handle;
    FUNCTIONS(OC_LIBRARY_MEMBER)
};
static const struct oc_library_symbol symbols[] = {FUNCTIONS(OC_LIBRARY_SYMBOL)};

static void loads_functions(void **state)
{
    (void)state;
    const struct oc_library_table libz = {
        .soname = {"libno-such-library.so.0", "libz.so.1"}, .symbol = symbols, .n_symbol = OC_COUNT(symbols)};
    struct library lib;
    struct oc_err err;
    char file[256];
    assert_int_equal(oc_library_open(&libz, &lib, &err), 0);
    assert_true(lib.version()[0] == '1' && lib.bound(1000) > 1000);
    oc_library_file((void *)(uintptr_t)lib.version, file, sizeof(file));
    assert_non_null(strstr(file, "libz"));
    oc_library_close(&lib);
    assert_null(lib.handle);
}

static void missing_library_or_function_is_named(void **state)
{
    (void)state;
    const struct oc_library_symbol none[] = {{"no_such_function", offsetof(struct library, bound)}};
    struct oc_library_table t = {
        .name = "libz", .use = "gzip files", .package = "zlib1g", .symbol = none, .n_symbol = 1};
    struct library lib;
    struct oc_err err;
    t.soname[0] = "libz.so.1";
    assert_int_equal(oc_library_open(&t, &lib, &err), -1);
    assert_int_equal(err.code, OC_ELIBRARY);
    assert_string_equal(err.msg,
                        "the installed libz has no function 'no_such_function': install a newer one");
    t.soname[0] = "libno-such-library.so.0";
    assert_int_equal(oc_library_open(&t, &lib, &err), -1);
    assert_string_equal(err.msg, "gzip files need libz, which cannot be loaded: install the package zlib1g");
    assert_null(lib.handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_functions),
        cmocka_unit_test(missing_library_or_function_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
