#include "base/unicode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void decodes_and_encodes(void **state)
{
    (void)state;
    static const uint32_t cps[] = {
        0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFD, 0x10000, 0x10FFFF, OC_BAD_BYTE + 0xFF};
    for (size_t i = 0; i < sizeof(cps) / sizeof(cps[0]); i++) {
        char buf[4];
        size_t n = oc_utf8_put(buf, cps[i]);
        const char *p = buf;
        assert_int_equal(oc_utf8_next(&p, buf + n), cps[i]);
        assert_ptr_equal(p, buf + n);
    }
}

static void each_invalid_byte_counts_as_one_character(void **state)
{
    (void)state;
    static const char *const broken[] = {"\x80",  "\xC0\x80",    "\xE4\xB8", "\xED\xA0", "\xF5\x80\x80\x80",
                                         "\xC3(", "\xE0\x80\x80"};
    static const size_t count[] = {1, 2, 2, 2, 4, 2, 3};
    for (size_t i = 0; i < sizeof(count) / sizeof(count[0]); i++)
        assert_int_equal(oc_utf8_count(broken[i], strlen(broken[i])), count[i]);
    assert_int_equal(oc_utf8_count("a中😀", 8), 3);
}

static void classifies_word_characters(void **state)
{
    (void)state;
    assert_true(oc_uni_is_word('_') && oc_uni_is_word(0x4E2D) && oc_uni_is_word(0xB2));
    assert_false(oc_uni_is_word('-') || oc_uni_is_word(0x1F642) || oc_uni_is_word(0x3001) ||
                 oc_uni_is_word(0x0C40));
    assert_int_equal(oc_uni_digit(0xFF11), 1);
    assert_int_equal(oc_uni_digit(0x1D7FF), 9);
    assert_int_equal(oc_uni_digit(0xB2), -1);
    assert_int_equal(oc_uni_digit('/'), -1);
    assert_true(oc_uni_is_space(0x1C) && oc_uni_is_space(0x3000) && oc_uni_is_space(0xA0));
    assert_false(oc_uni_is_space(0x200B) || oc_uni_is_space(0));
    assert_true(oc_uni_is_line_break(0x2028) && oc_uni_is_line_break(0x85) && !oc_uni_is_line_break(0x1F));
}

static void strips_white_space_at_both_ends(void **state)
{
    (void)state;
    size_t n = strlen("\xE3\x80\x80 a b\t");
    const char *s = oc_utf8_strip("\xE3\x80\x80 a b\t", &n);
    assert_int_equal(n, 3);
    assert_memory_equal(s, "a b", 3);
    n = 2;
    oc_utf8_strip(" \n", &n);
    assert_int_equal(n, 0);
}

static size_t columns(const char *s)
{
    return oc_utf8_columns(s, strlen(s));
}

static void display_width_counts_terminal_columns(void **state)
{
    (void)state;
    assert_int_equal(columns(""), 0);
    assert_int_equal(columns("abc"), 3);
    assert_int_equal(columns("卷积/畳み込み"), 2 * 2 + 1 + 4 * 2);
    assert_int_equal(columns("한글"), 4);
    assert_int_equal(columns("e\xcc\x81t\xc3\xa9"), 3); /* a combining accent takes no column */
    assert_int_equal(columns("\xff\xfe"), 2);           /* not UTF-8: one column each */
    assert_int_equal(columns("Ａ…"), 2 + 1);
}

static void invisible_characters_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"plain /layer.0/Conv", "plain /layer.0/Conv"},
        {"größe 層 \xf0\x9f\x98\x80", "größe 層 \xf0\x9f\x98\x80"},
        {"a\033[31mb\nc\rd\te\177", "a?[31mb?c?d?e?"},
        {"a\xc2\x9b"
         "31mb\xc2\x85",
         "a?31mb?"}, /* CSI and NEL as C1 */
        {"\xe2\x80\xae"
         "evil\xe2\x80\xac\xe2\x81\xa6x\xe2\x81\xa9",
         "?evil??x?"},                                                         /* RLO PDF LRI PDI */
        {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xa9", "?????"}, /* ALM LRM RLM LS PS */
        {"\x9b"
         "31m\xff\xc3",
         "?31m??"},            /* a surrogate */
        {"\xed\xa0\x80", "?"}, /* a surrogate */
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "%s", cases[i].text);
        assert_ptr_equal(oc_make_visible(text), text);
        assert_string_equal(text, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_and_encodes),
        cmocka_unit_test(each_invalid_byte_counts_as_one_character),
        cmocka_unit_test(classifies_word_characters),
        cmocka_unit_test(strips_white_space_at_both_ends),
        cmocka_unit_test(display_width_counts_terminal_columns),
        cmocka_unit_test(invisible_characters_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
