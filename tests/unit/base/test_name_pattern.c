/* Patterns for names: '*', '?', and the regular expressions of quantization files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/pattern.h"

static void stars_stand_for_any_text(void **state)
{
    (void)state;
    assert_true(oc_glob("a*c", "abbc") && oc_glob("*", "") && oc_glob("?b", "ab") && oc_glob("a**b*", "aXb"));
    assert_false(oc_glob("a*c", "abb") || oc_glob("?", "") || oc_glob("a", "ab") || oc_glob("*.b.*", "a.b"));
}

static void expressions_of_quantization_files_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool found;
    } row[] = {
        {".*self_attn.*", "model.layers.0.self_attn.q_proj", true},
        {".*mlp\\.(gate|up|gate_up|down)_proj.*", "layers.1.mlp.gate_up_proj", true},
        {".*mlp\\.(gate|up|gate_up|down)_proj.*", "layers.1.mlp.gate", false},
        {"model\\.layers\\.([0-9]|1[0-2])\\.", "model.layers.12.mlp", true},
        {"model\\.layers\\.([0-9]|1[0-2])\\.", "model.layers.13.mlp", false},
        {"^layers\\.\\d+$", "layers.17", true},
        {"^layers\\.\\d+$", "layers.17.x", false},
        {"x?y+", "ayyb", true},
        {"[^a]c", "ac", false},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
        if (oc_regex_find(row[i].pattern, row[i].text) != row[i].found)
            fail_msg("%s in %s", row[i].pattern, row[i].text);
}

static void other_expressions_are_not_simple(void **state)
{
    (void)state;
    static const char *const no[] = {"(?!x)y", "(a)+", "((a)b)", "a{2}", "(a", "a|b"};
    for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
        if (oc_regex_is_simple(no[i]) || oc_regex_find(no[i], "ab"))
            fail_msg("%s", no[i]);
    char slow[200];
    memset(slow, 0, sizeof(slow));
    for (int i = 0; i < 60; i++)
        memcpy(slow + 3 * i, "a*b", 3); /* ends in time */
    assert_false(
        oc_regex_find(slow, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_stand_for_any_text),
        cmocka_unit_test(expressions_of_quantization_files_are_found),
        cmocka_unit_test(other_expressions_are_not_simple),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
