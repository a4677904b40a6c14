/* Any name stays in its cell and has no effect there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "write/tables/table.h"

static void check(void (*put)(struct oc_buf *, const char *), const char *in, const char *want)
{
    struct oc_buf b = {0};
    put(&b, in);
    assert_string_equal(b.data, want);
    oc_buf_free(&b);
}

static void plain_names_are_code(void **state)
{
    (void)state;
    check(oc_md_code, "/layer1/conv_2/Conv", "`/layer1/conv_2/Conv`");
    check(oc_md_code, "", "-");
    check(oc_md_code, "@user #12 http://a.b <b> *x* _y_ [l](u)", "`@user #12 http://a.b <b> *x* _y_ [l](u)`");
}

/* A bar would end the cell and a backtick the span, so everything except letters and digits is an entity
 * reference. */
static void hostile_names_are_entity_references(void **state)
{
    (void)state;
    check(oc_md_code, "a|b", "<code>a&#124;b</code>");
    check(oc_md_code, "`x`", "<code>&#96;x&#96;</code>");
    check(oc_md_code, "a\\", "<code>a&#92;</code>");
    check(oc_md_code, "|</code><script>", "<code>&#124;&#60;&#47;code&#62;&#60;script&#62;</code>");
    check(oc_md_code, " x", "<code>&#32;x</code>");
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    check(oc_md_code, "a\nb\r\tc\x7f", "`a?b??c?`");
    check(oc_md_code,
          "\xe2\x80\xae"
          "abc",
          "`?abc`"); /* U+202E reverses the direction */
    check(oc_md_code,
          "a\xff"
          "b",
          "`a?b`");                              /* not UTF-8 */
    check(oc_md_code, "\xc3\xa4", "`\xc3\xa4`"); /* a letter is kept */
}

/* 53 columns from the start, an ellipsis, 106 from the end: 160 in total. */
static void long_names_are_shortened_in_the_middle(void **state)
{
    (void)state;
    char name[1001], want[200];
    for (size_t i = 0; i < 1000; i++)
        name[i] = (char)('a' + i % 26);
    name[1000] = '\0';
    snprintf(want, sizeof(want), "`%.53s…%s`", name, name + 1000 - 106);
    check(oc_md_code, name, want);
}

static void text_is_escaped(void **state)
{
    (void)state;
    check(oc_md_text, "73.7 ms  (13.57 inferences/s, operators busy 98.8 %)",
          "73.7 ms  (13.57 inferences/s, operators busy 98.8 %)");
    check(oc_md_text, "zoo/bert_base.onnx's", "zoo/bert_base.onnx's");
    check(oc_md_text, "an _emphasis_", "`an _emphasis_`");
    check(oc_md_text, "x  float[1,3]", "`x  float[1,3]`");
    check(oc_md_text, "ask @user", "`ask @user`");
    check(oc_md_text, "see https://example.org", "`see https://example.org`");
    check(oc_md_text, "a | b", "<code>a&#32;&#124;&#32;b</code>");
    check(oc_md_text, "", "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_are_code),
        cmocka_unit_test(hostile_names_are_entity_references),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(long_names_are_shortened_in_the_middle),
        cmocka_unit_test(text_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
