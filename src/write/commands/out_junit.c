/* A check as JUnit XML: a test suite with one test case per limit. The time of a latency test case is the
 * latency; of others 0. */
#include <string.h>

#include "base/units.h"
#include "onnxcost.h"
#include "write/commands/out_check.h"
#include "write/tables/grid.h"

static void junit_seconds(struct oc_buf *b, double ns)
{
    char text[40];
    oc_format_repr(ns / 1e9, text, sizeof(text));
    oc_xml_attribute(b, "time", strchr(text, 'e') || strchr(text, 'n') ? "0" : text);
}

static double junit_time_of(const struct oc_limit_verdict *v)
{
    bool known = v->limit->metric == OC_GATE_LATENCY && v->span.bounded && v->span.exact;
    return known ? v->span.hi.v : 0;
}

static void junit_counts(struct oc_buf *b, const struct oc_check *c)
{
    double longest = 0;
    for (size_t i = 0; i < c->n; i++)
        longest = junit_time_of(&c->verdict[i]) > longest ? junit_time_of(&c->verdict[i]) : longest;
    oc_buf_printf(b, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\"", c->counts.limits,
                  c->counts.failed + c->counts.unclear);
    junit_seconds(b, longest);
}

static void property(struct oc_buf *b, const char *name, const char *value)
{
    oc_buf_str(b, "      <property");
    oc_xml_attribute(b, "name", name);
    oc_xml_attribute(b, "value", value);
    oc_buf_str(b, "/>\n");
}

static void properties(struct oc_buf *b, const struct oc_check *c, struct oc_arena *a)
{
    const struct oc_report_in *in = c->in;
    const char *text;
    oc_buf_str(b, "    <properties>\n");
    property(b, "model", in->model->path);
    if (in->profile)
        property(b, "profile", in->profile->path);
    if (in->device)
        property(b, "hardware", oc_device_info(in->device)->id);
    for (uint32_t i = 0; (text = oc_check_assumption(a, c, i)); i++)
        property(b, "assumption", text);
    oc_buf_str(b, "    </properties>\n");
}

static void test_case(struct oc_buf *b, const struct oc_limit_verdict *v, struct oc_arena *a)
{
    oc_buf_str(b, "    <testcase classname=\"onnxcost.check\"");
    oc_xml_attribute(b, "name", oc_printf(a, "%s %s", v->title, v->bound));
    junit_seconds(b, junit_time_of(v));
    if (v->result == OC_CHECK_PASSED) {
        oc_buf_str(b, ">\n      <system-out>");
        oc_xml_text(b, v->reason);
        oc_buf_str(b, "</system-out>\n    </testcase>\n");
        return;
    }
    oc_buf_str(b, ">\n      <failure");
    oc_xml_attribute(b, "type", oc_check_result_name(v->result));
    oc_xml_attribute(b, "message", v->reason);
    oc_buf_char(b, '>');
    oc_xml_text(b, v->reason);
    oc_buf_str(b, "</failure>\n    </testcase>\n");
}

void oc_check_junit(const struct oc_check *c, FILE *f)
{
    struct oc_buf b = {0};
    struct oc_arena a = {0};
    oc_buf_str(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"onnxcost check\"");
    junit_counts(&b, c);
    oc_buf_str(&b, ">\n  <testsuite");
    oc_xml_attribute(&b, "name", *c->in->model->path ? c->in->model->path : "model");
    junit_counts(&b, c);
    oc_buf_str(&b, ">\n");
    properties(&b, c, &a);
    for (size_t i = 0; i < c->n; i++)
        test_case(&b, &c->verdict[i], &a);
    oc_buf_str(&b, "  </testsuite>\n</testsuites>\n");
    fwrite(b.data, 1, b.n, f);
    oc_buf_free(&b);
    oc_arena_free(&a);
}
