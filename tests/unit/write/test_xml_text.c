#include "write/tables/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_escaped(const char *from, const char *to)
{
    struct oc_buf b = {0};
    oc_xml_text(&b, from);
    assert_string_equal(b.data ? b.data : "", to);
    oc_buf_free(&b);
}

static void markup_is_escaped(void **state)
{
    (void)state;
    check_escaped("", "");
    check_escaped("plain text", "plain text");
    check_escaped("<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;'");
    check_escaped("]]>", "]]&gt;");
    check_escaped("&lt;", "&amp;lt;");
}

static void line_ends_are_preserved(void **state)
{
    (void)state;
    check_escaped("a\nb\tc\rd", "a&#10;b&#9;c&#13;d");
}

/* XML 1.0 allows none of these, not even as references. */
static void characters_invalid_in_xml_are_replaced(void **state)
{
    (void)state;
    check_escaped("\x01\x1b[31m\x7f", "\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd");
    check_escaped("\xc2\x85", "\xef\xbf\xbd");                             /* U+0085 */
    check_escaped("\xef\xbf\xbe", "\xef\xbf\xbd");                         /* U+FFFE */
    check_escaped("\xed\xa0\x80", "\xef\xbf\xbd");                         /* half of a surrogate pair */
    check_escaped("\xff\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* invalid UTF-8 */
    check_escaped("a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd");               /* truncated */
}

static void other_alphabets_are_unchanged(void **state)
{
    (void)state;
    check_escaped("\xc3\xa9 \xe5\x8d\xb7 \xf0\x9f\x98\x80", "\xc3\xa9 \xe5\x8d\xb7 \xf0\x9f\x98\x80");
}

static void attribute_is_quoted(void **state)
{
    (void)state;
    struct oc_buf b = {0};
    oc_xml_attribute(&b, "name", "\"><x y=\"");
    assert_string_equal(b.data, " name=\"&quot;&gt;&lt;x y=&quot;\"");
    oc_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(line_ends_are_preserved),
        cmocka_unit_test(characters_invalid_in_xml_are_replaced),
        cmocka_unit_test(other_alphabets_are_unchanged),
        cmocka_unit_test(attribute_is_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
