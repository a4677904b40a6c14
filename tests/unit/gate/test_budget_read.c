#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/limits.h"
#include "support/many.h"
#include "onnxcost/gate.h"

static struct oc_budget *empty_budget(void)
{
    struct oc_budget *b;
    struct oc_err err;
    assert_int_equal(oc_budget_make(&b, &err), 0);
    return b;
}

static void budget_file_sets_limits(void **state)
{
    (void)state;
    static const char text[] = "<budget version=\"1\">\n"
                               "  <limit metric=\"macs\" max=\"4.1G\"/>\n"
                               "  <limit metric=\"efficiency\" min=\"30%\" type=\"Conv\"/>\n"
                               "  <!-- why -->\n"
                               "  <limit metric=\"params\" max=\"15M\" module=\"layer4\"/>\n"
                               "  <forbid type=\"Sequence*\"/>\n"
                               "</budget>\n";
    struct oc_budget *b = empty_budget();
    struct oc_err err = {0};
    if (oc_budget_read_mem(b, "b.xml", text, strlen(text), &err))
        fail_msg("%s", err.msg);
    assert_int_equal(b->n, 4);
    assert_int_equal(b->limit[0].metric, OC_GATE_MACS);
    assert_true(b->limit[0].at.n == 4100000000u);
    assert_string_equal(b->limit[0].file, "b.xml");
    assert_int_equal(b->limit[0].line, 2);
    assert_string_equal(b->limit[1].type, "Conv");
    assert_true(b->limit[1].at.v == 0.3);
    assert_string_equal(b->limit[2].module, "layer4");
    assert_int_equal(b->limit[2].line, 5);
    assert_int_equal(b->limit[3].metric, OC_GATE_PRESENT);
    assert_true(oc_budget_has(b, "efficiency"));
    assert_false(oc_budget_has(b, "latency"));
    oc_budget_free(b);
}

static void errors_name_file_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *inside, *message;
    } bad[] = {
        {"<limit metric=\"speed\" max=\"1\"/>", "line 2: limit 'speed': unknown metric 'speed'"},
        {"<limit metric=\"macs\" max=\"many\"/>", "'many' is not a limit for macs (such as 4.1G)"},
        {"<limit metric=\"macs\" min=\"1\"/>", "the limit of macs is given by max=\"4.1G\""},
        {"<limit metric=\"macs\"/>", "the limit of macs is given by max=\"4.1G\""},
        {"<limit metric=\"efficiency\" max=\"1\"/>", "the limit of efficiency is given by min="},
        {"<limit metric=\"latency\" max=\"12\"/>", "'12' is not a limit for latency (such as 12ms)"},
        {"<limit metric=\"peak-memory\" max=\"1\" type=\"Conv\"/>",
         "peak-memory is a figure of the whole model"},
        {"<limit metric=\"macs\" max=\"1\" type=\"\"/>", "attribute 'type' is empty"},
        {"<limit metric=\"macs\" max=\"1\" size=\"2\"/>", "size"},
        {"<limit max=\"1\"/>", "metric"},
        {"<forbid/>", "type"},
        {"<allow type=\"Conv\"/>", "allow"},
        {"<limit metric=\"macs\" max=\"1\">text</limit>", ""},
        {"<limit metric=\"macs\" max=\"1\"", ""},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_budget *b = empty_budget();
        struct oc_err err = {0};
        char text[512];
        snprintf(text, sizeof(text), "<budget version=\"1\">\n%s\n</budget>\n", bad[i].inside);
        assert_int_equal(oc_budget_read_mem(b, "b.xml", text, strlen(text), &err), -1);
        if (!strstr(err.msg, bad[i].message) || !strstr(err.msg, "b.xml"))
            fail_msg("%s", err.msg);
        assert_int_equal(b->n, 0);
        oc_budget_free(b);
    }
}

static void too_many_limits_are_refused(void **state)
{
    (void)state;
    struct oc_budget *b = empty_budget();
    struct oc_err err = {0};
    char *text = t_many("<budget version=\"1\">", "<limit metric=\"macs\" max=\"1\"/>", 10001, "</budget>");
    assert_int_equal(oc_budget_read_mem(b, "b.xml", text, strlen(text), &err), -1);
    assert_non_null(strstr(err.msg, "more than 10000 limits"));
    free(text);
    oc_budget_free(b);
}

static int baseline(struct oc_budget *b, const char *values, const char *tolerance, struct oc_err *err)
{
    char text[1024];
    snprintf(text, sizeof(text), "<baseline version=\"1\" model=\"m\" tool=\"0\">%s</baseline>", values);
    return oc_baseline_read_mem(b, "b.xml", text, strlen(text), &tolerance, tolerance ? 1 : 0, err);
}

static void baseline_sets_limits_with_tolerance(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_budget *b = empty_budget();
    assert_int_equal(baseline(b,
                              "<value metric=\"macs\" is=\"1000\"/>"
                              "<value metric=\"params\" is=\"1000\" tolerance=\"5%\"/>"
                              "<value metric=\"latency\" is=\"2000000.0 ns\" from=\"measured\"/>"
                              "<value metric=\"efficiency\" is=\"0.5\"/>",
                              NULL, &err),
                     0);
    assert_int_equal(b->n, 4);
    assert_true(b->limit[0].at.n == 1000 && b->limit[0].base.n == 1000);
    assert_true(b->limit[1].at.n == 1050);
    assert_true(b->limit[2].at.v == 2.2e6); /* 10 % by default */
    assert_true(b->limit[3].at.v == 0.45);
    oc_budget_free(b);
    b = empty_budget(); /* the command line takes precedence */
    assert_int_equal(
        baseline(b, "<value metric=\"latency\" is=\"2 ms\" tolerance=\"5%\"/>", "latency=1ms", &err), 0);
    assert_true(b->limit[0].at.v == 3e6);
    oc_budget_free(b);
}

static uint64_t macs_limit(const char *in_file, const char *given)
{
    char value[128];
    struct oc_err err;
    struct oc_budget *b = empty_budget();
    snprintf(value, sizeof(value), "<value metric=\"macs\" is=\"1000\"%s/>", in_file);
    if (baseline(b, value, given, &err))
        fail_msg("%s", err.msg);
    uint64_t n = b->limit[0].at.n;
    oc_budget_free(b);
    return n;
}

static void tolerance_of_the_metric_overrides_that_of_all_and_that_of_the_file(void **state)
{
    (void)state;
    assert_int_equal(macs_limit("", NULL), 1000);
    assert_int_equal(macs_limit("", "2%"), 1020);
    assert_int_equal(macs_limit(" tolerance=\"5%\"", NULL), 1050);
    assert_int_equal(macs_limit(" tolerance=\"5%\"", "2%"), 1020);
    assert_int_equal(macs_limit(" tolerance=\"5%\"", "latency=2%"), 1050);
    assert_int_equal(macs_limit("", "2%,macs=7"), 1007);
    assert_int_equal(macs_limit("", "macs=7,2%"), 1007);
    assert_int_equal(macs_limit("", "macs=7,latency=5%,macs=8"), 1008);
    assert_int_equal(macs_limit(" tolerance=\"5%\"", "0"), 1000);
}

static void baseline_preserves_limits_set_by_hand(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_budget *b = empty_budget();
    assert_int_equal(baseline(b,
                              "<value metric=\"macs\" is=\"1000\"/><limit metric=\"latency\" max=\"80ms\"/>"
                              "<forbid type=\"Loop\"/>",
                              "2%", &err),
                     0);
    assert_int_equal(b->n, 3);
    assert_true(b->limit[0].at.n == 1020);
    assert_null(b->limit[1].tolerance);
    assert_true(b->limit[1].at.v == 80e6);
    assert_int_equal(b->limit[2].metric, OC_GATE_PRESENT);
    oc_budget_free(b);
}

static void wrong_baselines_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *values, *tolerance, *message;
    } bad[] = {
        {"<value metric=\"macs\" is=\"1\"/><value metric=\"macs\" is=\"2\"/>", NULL,
         "a second value for macs"},
        {"<value metric=\"macs\" is=\"x\"/>", NULL, "'x' is not a figure of macs"},
        {"<value metric=\"macs\" is=\"1\" tolerance=\"x\"/>", NULL, "'x' is not a tolerance"},
        {"<value metric=\"nodes\" is=\"1\"/>", NULL, "a baseline has no value for nodes"},
        {"<value metric=\"macs\" is=\"1\"/>", "macs", "'macs' has no tolerance: write macs=5%"},
        {"<value metric=\"macs\" is=\"1\"/>", "speed=1%", "unknown metric 'speed'"},
        {"<value metric=\"macs\" is=\"1\"/>", "latency=5", "'5' is not a tolerance of latency"},
        {"<value metric=\"macs\" is=\"1\"/>", "", "'' is not a tolerance for all metrics"},
        {"<value metric=\"macs\" is=\"1\"/>", "1%,", "'' is not a tolerance for all metrics"},
        {"<value metric=\"macs\" is=\"1\"/>", "1000", "'1000' is not a tolerance for all metrics"},
        {"<value metric=\"macs\" is=\"1\"/>", "peak", "unknown metric 'peak'"},
        {"<value metric=\"macs\" is=\"1\"/>", "opset=1", "unknown metric 'opset'; "},
        {"<limit metric=\"macs\" min=\"1\"/>", NULL, "the limit of macs is given by max="},
        {"<forbid/>", NULL, "type"},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_budget *b = empty_budget();
        struct oc_err err = {0};
        assert_int_equal(baseline(b, bad[i].values, bad[i].tolerance, &err), -1);
        if (!strstr(err.msg, bad[i].message))
            fail_msg("%s", err.msg);
        assert_int_equal(b->n, 0);
        oc_budget_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_file_sets_limits),
        cmocka_unit_test(errors_name_file_and_line),
        cmocka_unit_test(too_many_limits_are_refused),
        cmocka_unit_test(baseline_sets_limits_with_tolerance),
        cmocka_unit_test(wrong_baselines_are_refused),
        cmocka_unit_test(tolerance_of_the_metric_overrides_that_of_all_and_that_of_the_file),
        cmocka_unit_test(baseline_preserves_limits_set_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
