#include "report/python.h"
#include "report/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void patterns_match_like_python(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        int match;
    } cases[] = {
        {"conv", "conv1", 1},     {"conv", "aconv", 0},         {".*conv", "aconv", 1},
        {"", "anything", 1},      {".*1$", "x1\n", 1},          {".*1\\Z", "x1\n", 0},
        {".*1\\Z", "x1", 1},      {"a{,2}$", "aa", 1},          {"a{,2}$", "aaa", 0},
        {"[{,2}]+$", "{,2}", 1},  {"\\w+$", "卷积_1", 1},       {"\\w+$", "a-b", 0},
        {"\\d$", "３", 1},        {"(?i)CONV", "conv", 1},      {"\\u5377", "卷", 1},
        {"\\U00005377", "卷", 1}, {"(?P<x>a)(?P=x)$", "aa", 1}, {"[[:alpha:]]+$", "a]", 1},
        {"[]a]+$", "]a", 1},      {"[^]a]$", "b", 1},           {"a\\{,2}", "a{,2}", 1},
        {".", "\xff", 0},         {"a.c", "a\nc", 0},           {"b|a", "ab", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct oc_name_pattern *p;
        struct oc_err err = {0};
        assert_int_equal(oc_pattern_compile(cases[i].pattern, &p, &err), 0);
        if (oc_pattern_match(p, cases[i].text, &err) != cases[i].match)
            fail_msg("'%s' against '%s'", cases[i].pattern, cases[i].text);
        oc_pattern_free(p);
    }
}

static void invalid_patterns_are_named(void **state)
{
    (void)state;
    struct oc_name_pattern *p;
    struct oc_err err = {0};
    assert_int_equal(oc_pattern_compile("[a", &p, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_non_null(strstr(err.msg, "invalid pattern '[a'"));
    oc_pattern_free(NULL);
}

static void catastrophic_backtracking_is_stopped(void **state)
{
    (void)state;
    struct oc_name_pattern *p;
    struct oc_err err = {0};
    char text[64];
    memset(text, 'a', sizeof(text));
    text[62] = '!';
    text[63] = '\0';
    assert_int_equal(oc_pattern_compile("((a|aa)+)+$", &p, &err), 0);
    assert_int_equal(oc_pattern_match(p, text, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    oc_pattern_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_like_python),
        cmocka_unit_test(invalid_patterns_are_named),
        cmocka_unit_test(catastrophic_backtracking_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
