#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void errors_include_file_and_offset(void **state)
{
    (void)state;
    struct oc_err e;
    assert_int_equal(oc_fail(&e, OC_EFORMAT, "missing \"%s\"", "dur"), -1);
    oc_err_prefix(&e, "event %d", 812);
    oc_err_at(&e, "x.json", 0, 90122);
    assert_int_equal(e.code, OC_EFORMAT);
    assert_string_equal(e.msg, "event 812: missing \"dur\"");
    assert_string_equal(e.file, "x.json");
    assert_int_equal(e.offset_bytes, 90122);
    assert_int_equal(oc_fail(NULL, OC_EIO, "x"), -1);
}

static void long_texts_are_truncated_at_the_buffer_end(void **state)
{
    (void)state;
    struct oc_err e;
    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    oc_fail(&e, OC_EIO, "%s", text);
    oc_err_prefix(&e, "%s", "p");
    oc_err_prefix(&e, "%s", text);
    assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
    oc_err_at(&e, text, 1, 2);
    assert_int_equal(strlen(e.file), sizeof(e.file) - 1);
}

static void diagnostic_list_is_bounded(void **state)
{
    (void)state;
    struct oc_arena a = {0};
    struct oc_diags d = {.arena = &a};
    for (int i = 0; i < OC_MAX_DIAGS + 5; i++)
        oc_diag_add(&d, OC_WARNING, "W-x", i ? NULL : "here", "warning %d", i);
    assert_int_equal(d.n, OC_MAX_DIAGS);
    assert_int_equal(d.dropped, 5);
    assert_string_equal(d.item[0].where, "here");
    assert_string_equal(d.item[1].where, "");
    assert_string_equal(d.item[7].text, "warning 7");
    oc_diags_free(&d);
    oc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_include_file_and_offset),
        cmocka_unit_test(long_texts_are_truncated_at_the_buffer_end),
        cmocka_unit_test(diagnostic_list_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
