/* Node data for Model Explorer: its format, ids of nodes, and sums of bodies and functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "support/build.h"
#include "onnxcost/report.h"

static int report_as(const char *format, struct oc_builder *b, const char *order_by, char **text,
                     struct oc_err *err)
{
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    const struct oc_analyze_opts opts = {.if_mode = OC_IF_THEN};
    if (oc_model_load_mem(bytes, n, NULL, &m, err) || oc_analyze(m, &opts, &a, err))
        fail_msg("%s", err->msg);
    const struct oc_report_in in = {.model = m, .analysis = a};
    const struct oc_report_opts o = {.format = format, .order_by = order_by};
    FILE *f = open_memstream(text, &n);
    int rc = oc_report_write(&in, &o, f, err);
    fclose(f);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
    return rc;
}

static int report(struct oc_builder *b, const char *order_by, char **text, struct oc_err *err)
{
    return report_as("model-explorer", b, order_by, text, err);
}

/* x is 2 by 3. MatMul with 3 by 4: 24 MACs. Both nodes of the body: 24 + 24. The function: 24 in each call.
 */
static struct oc_builder *graph(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my.domain", 1);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "c", "bool[]");
    oc_b_init(b, "w", "float[3,4]");
    oc_b_node(b, "MatMul", "same", "x,w", "first", "");
    oc_b_node(b, "MatMul", "same", "x,w", "second", "");
    oc_b_node(b, "MatMul", "", "x,w", "third", "");
    oc_b_node(b, "If", "choice", "c", "z", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "MatMul", "inner1", "x,w", "t1", "");
    oc_b_node(b, "MatMul", "inner2", "x,w", "t2", "");
    oc_b_output(b, "t2", "float[2,4]");
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "MatMul", "inner3", "x,w", "e", "");
    oc_b_output(b, "e", "float[2,4]");
    oc_b_close(b);
    oc_b_node(b, "my.domain::F", "call\"1", "x,w", "u", "");
    oc_b_node(b, "my.domain::Mystery", "unknown", "u", "v", "");
    oc_b_output(b, "v", "float");
    oc_b_function(b, "my.domain", "F", "a,b", "y", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "MatMul", "m", "a,b", "y", "");
    oc_b_close(b);
    return b;
}

static void document_has_the_format_of_model_explorer(void **state)
{
    (void)state;
    char *text = NULL, *p;
    struct oc_err err;
    assert_int_equal(report(graph(), "macs", &text, &err), 0);
    /* blanks and newlines are not significant */
    char *packed = malloc(strlen(text) + 1);
    assert_non_null(packed);
    p = packed;
    for (const char *q = text; *q; q++)
        if (*q != ' ' && *q != '\n')
            *p++ = *q;
    *p = '\0';
    assert_string_equal(packed,
                        "{\"g\":{\"name\":\"MACs\",\"results\":{"
                        "\"same\":{\"value\":24},"
                        "\"same_1\":{\"value\":24}," /* the name is not unique */
                        "\"node\":{\"value\":24},"   /* no name */
                        "\"call\\\"1\":{\"value\":24},"
                        "\"choice/then_branch/inner1\":{\"value\":24}," /* the body that runs */
                        "\"choice/then_branch/inner2\":{\"value\":24}},"
                        "\"gradient\":[{\"stop\":0.0,\"bgColor\":\"#ffffff\"},"
                        "{\"stop\":0.5,\"bgColor\":\"#ffd54f\"},{\"stop\":1.0,\"bgColor\":\"#d32f2f\"}]},"
                        "\"[function]my.domain::F\":{\"name\":\"MACs\",\"results\":{"
                        "\"m\":{\"value\":24}},"
                        "\"gradient\":[{\"stop\":0.0,\"bgColor\":\"#ffffff\"},"
                        "{\"stop\":0.5,\"bgColor\":\"#ffd54f\"},{\"stop\":1.0,\"bgColor\":\"#d32f2f\"}]}}");
    free(packed);
    free(text);
}

/* Netron finds a node by its name: names of several nodes, and nodes without a name, have no numbers. The
 * body that is not executed has none. */
static void attachment_has_the_numbers_of_nodes_with_their_own_name(void **state)
{
    (void)state;
    static const char *const there[] = {"choice", "inner1", "inner2", "call\\\"1"}, *const absent[] = {
                                                                                        "same", "\"\"",
                                                                                        "inner3"};
    char *text = NULL, item[200];
    struct oc_err err;
    assert_int_equal(report_as("netron", graph(), NULL, &text, &err), 0);
    assert_non_null(strstr(text, "\"signature\": \"netron:attachment\""));
    for (size_t i = 0; i < sizeof(there) / sizeof(*there); i++) {
        snprintf(item, sizeof(item), "\"target\": \"%s\",\n      \"name\": \"macs\",\n      \"value\": %d",
                 there[i], i ? 24 : 48);
        assert_non_null(strstr(text, item));
    }
    for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++) {
        snprintf(item, sizeof(item), "\"target\": \"%s\"", absent[i]);
        assert_null(strstr(text, item));
    }
    assert_null(strstr(text, "time_ns"));
    free(text);
}

/* Ratios do not add up: a call has none, the nodes of its body have theirs. 48 FLOPs over 24 + 48 + 32 bytes. */
static void ratios_of_bodies_are_omitted(void **state)
{
    (void)state;
    char *text = NULL;
    struct oc_err err;
    assert_int_equal(report(graph(), "+intensity,name", &text, &err), 0);
    assert_non_null(strstr(text, "\"same\""));
    assert_non_null(strstr(text, "0.46153846153846156"));
    assert_null(strstr(text, "\"call"));
    assert_non_null(strstr(text, "\"m\""));
    free(text);
}

/* Three iterations of a loop: its graph has the sum over them, and so has the loop. Of a loop inside the loop only
 * that one has a value. A function that is called twice has the sum of both calls. */
static void bodies_have_graphs(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    char *text = NULL;
    struct oc_err err;
    oc_b_opset(b, "d", 1);
    oc_b_input(b, "x", "float[4,4]");
    oc_b_init(b, "trips", "int64[]{3}");
    oc_b_node(b, "Loop", "", "trips,,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[4,4]");
    oc_b_node(b, "Identity", "", "go", "go_on", "");
    oc_b_node(b, "MatMul", "", "s,s", "t", "");
    oc_b_node(b, "Loop", "inner", "trips,,t", "u", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i2", "int64[]");
    oc_b_input(b, "go2", "bool[]");
    oc_b_input(b, "s2", "float[4,4]");
    oc_b_node(b, "Identity", "", "go2", "go_on2", "");
    oc_b_node(b, "MatMul", "not drawn", "s2,s2", "t2", "");
    oc_b_output(b, "go_on2", "bool[]");
    oc_b_output(b, "t2", "float[4,4]");
    oc_b_close(b);
    oc_b_output(b, "go_on", "bool[]");
    oc_b_output(b, "u", "float[4,4]");
    oc_b_close(b);
    oc_b_node(b, "d::F", "call", "y", "z1", "");
    oc_b_node(b, "d::F", "call2", "z1", "z", "");
    oc_b_output(b, "z", "float[4,4]");
    oc_b_function(b, "d", "F", "a", "b", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "MatMul", "m", "a,a", "b", "");
    oc_b_close(b);
    assert_int_equal(report(b, "macs", &text, &err), 0);
    static const char *const want[] = {
        "\"node\": {\n        \"value\": 768\n", /* 3 * (64 + 3 * 64) */
        "\"call\": {\n        \"value\": 64\n",
        "\"node/body\": {\n    \"name\": \"MACs\",\n",
        "\"node_1\": {\n        \"value\": 192\n",
        "\"inner\": {\n        \"value\": 576\n",
        "\"[function]d::F\": {\n    \"name\": \"MACs\",\n",
        "\"m\": {\n        \"value\": 128\n",
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        if (!strstr(text, want[i]))
            fail_msg("%s is not in %s", want[i], text);
    assert_null(strstr(text, "not drawn"));
    free(text);
}

/* Both calls have an intensity; their node in the function has none. */
static void ratios_of_several_calls_are_omitted(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    char *text = NULL;
    struct oc_err err;
    oc_b_opset(b, "d", 1);
    oc_b_input(b, "x", "float[4,4]");
    oc_b_node(b, "d::F", "call", "x", "y", "");
    oc_b_node(b, "d::F", "call2", "y", "z", "");
    oc_b_output(b, "z", "float[4,4]");
    oc_b_function(b, "d", "F", "a", "b", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "MatMul", "m", "a,a", "b", "");
    oc_b_close(b);
    assert_int_equal(report(b, "intensity", &text, &err), 0);
    assert_null(strstr(text, "\"value\""));
    free(text);
}

static void rejects_orders_without_numbers(void **state)
{
    (void)state;
    char *text = NULL;
    struct oc_err err;
    assert_int_equal(report(graph(), "name", &text, &err), -1);
    assert_non_null(strstr(err.msg, "by --order-by: time, computation"));
    free(text);
    assert_int_equal(report(graph(), "time", &text, &err), -1);
    assert_string_equal(err.msg, "time needs a profile");
    free(text);
    assert_int_equal(report(graph(), "roofline", &text, &err), -1);
    assert_string_equal(err.msg, "roofline needs a device: name it with --hw");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_has_the_format_of_model_explorer),
        cmocka_unit_test(attachment_has_the_numbers_of_nodes_with_their_own_name),
        cmocka_unit_test(ratios_of_bodies_are_omitted),
        cmocka_unit_test(bodies_have_graphs),
        cmocka_unit_test(ratios_of_several_calls_are_omitted),
        cmocka_unit_test(rejects_orders_without_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
