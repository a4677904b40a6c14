#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static void every_limit_has_a_name_a_default_and_a_range(void **state)
{
    (void)state;
    struct oc_input_limit_info a, b;
    size_t n = 0;
    for (; oc_input_limit_info(n, &a); n++) {
        assert_true(a.name[0] && a.text[0] && a.least >= 1); /* 0 means the default */
        assert_true(a.least <= a.otherwise && a.otherwise <= a.most);
        assert_int_equal(a.least == a.most, n >= OC_LIMIT_COUNT); /* the other limits are fixed */
        for (size_t i = 0; i < n; i++) {
            assert_true(oc_input_limit_info(i, &b));
            assert_string_not_equal(a.name, b.name);
        }
    }
    assert_true(n > OC_LIMIT_COUNT);
}

static void unset_limits_have_their_default(void **state)
{
    (void)state;
    struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 7}};
    assert_int_equal(oc_input_limit(NULL, OC_LIMIT_NODES), 4000000);
    assert_int_equal(oc_input_limit(&limits, OC_LIMIT_NODES), 7);
    assert_int_equal(oc_input_limit(&limits, OC_LIMIT_DEPTH), 64);
}

static void message_names_the_limit_and_its_option(void **state)
{
    (void)state;
    struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 7, [OC_LIMIT_DEPTH] = 256}};
    struct oc_err err;
    char text[OC_INPUT_LIMIT_TEXT];
    assert_string_equal(oc_input_limit_text(&limits, OC_LIMIT_NODES, 9, text),
                        "9 nodes: more than 7 (--limit nodes=N)");
    assert_string_equal(oc_input_limit_text(NULL, OC_LIMIT_NODES, 0, text),
                        "more than 4000000 nodes (--limit nodes=N)");
    /* 256 is the maximum: no hint */
    assert_string_equal(oc_input_limit_text(&limits, OC_LIMIT_DEPTH, 0, text),
                        "more than 256 levels of nested graphs");
    assert_int_equal(oc_input_limit_fail(&limits, OC_LIMIT_NODES, 9, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    assert_string_equal(err.msg, "9 nodes: more than 7 (--limit nodes=N)");
    for (size_t i = 0; i < OC_LIMIT_COUNT; i++) { /* the longest number leaves room for the name */
        struct oc_input_limits most;
        for (size_t k = 0; k < OC_LIMIT_COUNT; k++)
            most.most[k] = UINT64_MAX / 2;
        assert_true(strlen(oc_input_limit_text(&most, (enum oc_input_limit)i, UINT64_MAX, text)) + 1 <
                    OC_INPUT_LIMIT_TEXT);
    }
}

static void parses_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum oc_input_limit which;
        uint64_t v;
    } good[] = {
        {"nodes=8M", OC_LIMIT_NODES, 8000000},
        {"nodes=1", OC_LIMIT_NODES, 1},
        {"file-bytes=2GiB", OC_LIMIT_FILE_BYTES, (uint64_t)2 << 30},
        {"file-bytes=9223372036854775807", OC_LIMIT_FILE_BYTES, INT64_MAX},
        {"sqlite-seconds=5 s", OC_LIMIT_SQLITE_SECONDS, 5},
        {"gz-ratio=1.5k", OC_LIMIT_COUNT, 0}, /* deflate reaches at most 1032 */
    };
    for (size_t i = 0; i < OC_COUNT(good); i++) {
        struct oc_input_limits limits = {.external_anywhere = true};
        struct oc_err err;
        int rc = oc_input_limits_set(&limits, good[i].text, &err);
        assert_int_equal(rc, good[i].which == OC_LIMIT_COUNT ? -1 : 0);
        if (!rc)
            assert_int_equal(limits.most[good[i].which], good[i].v);
        assert_true(limits.external_anywhere);
    }
}

static void rejects_malformed_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "unknown limit ''; onnxcost help limits explains them"},
        {"=5", "unknown limit ''; onnxcost help limits explains them"},
        {"node=5", "unknown limit 'node'; did you mean 'nodes'? onnxcost help limits explains them"},
        {"nodes5=5", "unknown limit 'nodes5'; did you mean 'nodes'? onnxcost help limits explains them"},
        {"nodes", "--limit nodes needs a value: nodes=N"},
        {"nodes=", "--limit nodes=: not a number"},
        {"nodes=x", "--limit nodes=x: not a number"},
        {"nodes=-1", "--limit nodes=-1: not a number"},
        {"nodes=5B", "--limit nodes=5B: not a number"},
        {"file-bytes=5s", "--limit file-bytes=5s: not a number of B"},
        {"nodes=0", "--limit nodes=0: a number from 1 to 1000000000 is needed"},
        {"depth=257", "--limit depth=257: a number from 1 to 256 is needed"},
        {"nodes=99999999999999999999", "--limit nodes=99999999999999999999: not a number"},
        {"tensor-rank=65", "--limit tensor-rank=65: this limit is fixed and cannot be changed"},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_input_limits limits = {.external_anywhere = false};
        struct oc_err err;
        assert_int_equal(oc_input_limits_set(&limits, bad[i].text, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        assert_memory_equal(err.msg, bad[i].why, strlen(bad[i].why));
        for (size_t k = 0; k < OC_LIMIT_COUNT; k++)
            assert_int_equal(limits.most[k], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit_has_a_name_a_default_and_a_range),
        cmocka_unit_test(unset_limits_have_their_default),
        cmocka_unit_test(message_names_the_limit_and_its_option),
        cmocka_unit_test(parses_limits),
        cmocka_unit_test(rejects_malformed_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
