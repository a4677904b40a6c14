#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static const char *const names[] = {"Conv", "ConvTranspose", "MatMul", "Relu", "com.microsoft:FusedMatMul"};

static void nearest_name_by_edit_distance(void **state)
{
    (void)state;
    static const struct {
        const char *given, *nearest; /* NULL: none */
    } row[] = {
        {"conv", "Conv"},        /* letter case alone */
        {"Cnov", "Conv"},        /* two letters swapped: one edit */
        {"Convolution", "Conv"}, /* begins with the name */
        {"convtranpose", "ConvTranspose"},
        {"MatMull", "MatMul"},
        {"FusedMatMul", "com.microsoft:FusedMatMul"}, /* after the domain */
        {"ul", NULL},                                 /* inside a word only */
        {"Softmax", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        const char *found = oc_nearest_name(row[i].given, names, OC_COUNT(names));
        if ((found == NULL) != (row[i].nearest == NULL) || (found && strcmp(found, row[i].nearest) != 0))
            fail_msg("'%s': %s", row[i].given, found ? found : "none");
    }
}

static void only_the_nearest_names_are_suggested(void **state)
{
    (void)state;
    static const char *const devices[] = {"h100", "a10", "a100", "v100", "p100"};
    size_t near[5];
    assert_int_equal(oc_suggest("a100o", devices, OC_COUNT(devices), near, 5), 1); /* one edit beats two */
    assert_int_equal(near[0], 2);
    assert_int_equal(oc_suggest("x100", devices, OC_COUNT(devices), near, 3), 3); /* ties, in their order */
    assert_int_equal(near[0], 0);
    assert_int_equal(near[2], 3);
    assert_int_equal(oc_suggest("x100", devices, 0, near, 3), 0);
}

static void message_names_what_where_and_valid_values(void **state)
{
    (void)state;
    struct oc_err err;
    struct oc_unknown u = {
        .what = "type", .where = "for --type", .given = "Rellu,x", .given_n = 5, .valid = names, .n = 4};
    assert_int_equal(oc_fail_unknown(&err, OC_EARG, &u), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_string_equal(err.msg, "unknown type 'Rellu' for --type; did you mean 'Relu'? Valid: Conv, "
                                 "ConvTranspose, MatMul, Relu");
    u = (struct oc_unknown){.what = "type", .given = "Q", .more = "onnxcost ops lists them"};
    oc_fail_unknown(&err, OC_ENOTFOUND, &u);
    assert_string_equal(err.msg, "unknown type 'Q'; onnxcost ops lists them");
    u.more = NULL;
    oc_fail_unknown(&err, OC_ENOTFOUND, &u);
    assert_string_equal(err.msg, "unknown type 'Q'");
}

static void long_names_and_long_lists_are_cut(void **state)
{
    (void)state;
    char given[3000];
    const char *many[200];
    struct oc_err err;
    memset(given, 'a', sizeof(given) - 1);
    given[sizeof(given) - 1] = '\0';
    for (size_t i = 0; i < OC_COUNT(many); i++)
        many[i] = "a name of some length";
    oc_fail_unknown(&err, OC_EARG,
                    &(struct oc_unknown){
                        .what = "name", .given = given, .valid = many, .n = OC_COUNT(many), .more = "see x"});
    assert_null(strstr(err.msg, "a name of"));
    assert_non_null(strstr(err.msg, "; see x"));
    assert_true(strlen(err.msg) < 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_name_by_edit_distance),
        cmocka_unit_test(only_the_nearest_names_are_suggested),
        cmocka_unit_test(message_names_what_where_and_valid_values),
        cmocka_unit_test(long_names_and_long_lists_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
