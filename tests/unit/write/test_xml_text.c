#include "write/xml_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void becomes(const char *from, const char *to)
{
    struct oc_buf b = {0};
    oc_xml_text(&b, from);
    assert_string_equal(b.data ? b.data : "", to);
    oc_buf_free(&b);
}

static void markup_is_escaped(void **state)
{
    (void)state;
    becomes("", "");
    becomes("plain text", "plain text");
    becomes("<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;'");
    becomes("]]>", "]]&gt;");
    becomes("&lt;", "&amp;lt;");
}

static void line_ends_survive(void **state)
{
    (void)state;
    becomes("a\nb\tc\rd", "a&#10;b&#9;c&#13;d");
}

/* XML 1.0 may hold none of these, not even as references. */
static void what_xml_may_not_hold(void **state)
{
    (void)state;
    becomes("\x01\x1b[31m\x7f", "\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd");
    becomes("\xc2\x85", "\xef\xbf\xbd");                             /* U+0085 */
    becomes("\xef\xbf\xbe", "\xef\xbf\xbd");                         /* U+FFFE */
    becomes("\xed\xa0\x80", "\xef\xbf\xbd");                         /* half of a surrogate pair */
    becomes("\xff\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* broken UTF-8 */
    becomes("a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd");               /* cut off */
}

static void other_alphabets(void **state)
{
    (void)state;
    becomes("\xc3\xa9 \xe5\x8d\xb7 \xf0\x9f\x98\x80", "\xc3\xa9 \xe5\x8d\xb7 \xf0\x9f\x98\x80");
}

static void an_attribute(void **state)
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
        cmocka_unit_test(markup_is_escaped),     cmocka_unit_test(line_ends_survive),
        cmocka_unit_test(what_xml_may_not_hold), cmocka_unit_test(other_alphabets),
        cmocka_unit_test(an_attribute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
