#include "base/json_write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void sample(struct oc_json_out *w)
{
    oc_jw_begin_object(w);
    oc_jw_key(w, "list");
    oc_jw_begin_array(w);
    oc_jw_u64(w, UINT64_MAX);
    oc_jw_i64(w, INT64_MIN);
    oc_jw_begin_object(w);
    oc_jw_end_object(w);
    oc_jw_end_array(w);
    oc_jw_key(w, "t");
    oc_jw_bool(w, true);
    oc_jw_key(w, "n");
    oc_jw_null(w);
    oc_jw_key(w, "s");
    oc_jw_string(w, NULL);
    oc_jw_end_object(w);
}

static char *written(void (*fill)(struct oc_json_out *), bool pretty)
{
    char *text = NULL;
    size_t n;
    struct oc_json_out w = {.f = open_memstream(&text, &n), .pretty = pretty};
    fill(&w);
    assert_int_equal(w.depth, 0);
    fclose(w.f);
    return text;
}

static void writes_nested_structure(void **state)
{
    (void)state;
    char *text = written(sample, false);
    assert_string_equal(text, "{\"list\":[18446744073709551615,-9223372036854775808,{}],"
                              "\"t\":true,\"n\":null,\"s\":null}");
    free(text);
    text = written(sample, true);
    assert_string_equal(
        text, "{\n  \"list\": [\n    18446744073709551615,\n    -9223372036854775808,\n    {}\n  ],\n"
              "  \"t\": true,\n  \"n\": null,\n  \"s\": null\n}");
    free(text);
}

static void odd_strings(struct oc_json_out *w)
{
    oc_jw_begin_array(w);
    oc_jw_string(w, "q\" b\\ n\n t\t e\x1b d\x7f /");
    oc_jw_string(w, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    oc_jw_string(w, "\xff \xc3 \xed\xa0\x80 \xc0\xaf \xf0\x9f\x98");
    oc_jw_end_array(w);
}

static void escapes_control_characters_and_invalid_utf8(void **state)
{
    (void)state;
    char *text = written(odd_strings, false);
    /* ed a0 80 is half of a surrogate pair and c0 af an overlong slash: three and two invalid bytes */
    assert_string_equal(
        text, "[\"q\\\" b\\\\ n\\n t\\t e\\u001b d\\u007f /\","
              "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\","
              "\"\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd "
              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]");
    free(text);
}

static void numbers(struct oc_json_out *w)
{
    oc_jw_begin_array(w);
    oc_jw_double(w, 0.1);
    oc_jw_double(w, -1e300);
    oc_jw_double(w, 12);
    oc_jw_double(w, (double)NAN);
    oc_jw_double(w, -(double)INFINITY);
    oc_jw_end_array(w);
}

static void writes_doubles(void **state)
{
    (void)state;
    char *text = written(numbers, false);
    assert_string_equal(text, "[0.1,-1e+300,12.0,null,null]");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_nested_structure),
        cmocka_unit_test(escapes_control_characters_and_invalid_utf8),
        cmocka_unit_test(writes_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
