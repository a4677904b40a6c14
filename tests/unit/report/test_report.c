/* Reports as other programs read them: the JSON parses and adds up, the CSV keeps its columns for any name,
 * tables fit the width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"
#include "report/headline.h"
#include "support/build.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct fixture {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

/* Two convolutions, an unknown operator, and a name that every format must quote. */
static void fixture_init(struct fixture *x)
{
    size_t n;
    struct oc_err err;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my.domain", 1);
    oc_b_input(b, "x", "float[1,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_init(b, "v", "float[2,4,1,1]");
    oc_b_node(b, "Conv", "a,\"b\"", "x,w", "y", "pads=1,1,1,1");
    oc_b_node(b, "Conv", "", "y,v", "z", "");
    oc_b_node(b, "my.domain::Mystery", "m", "z", "u", "");
    oc_b_output(b, "z", "float[1,2,8,8]");
    oc_b_output(b, "u", "float");
    x->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    struct oc_analyze_opts o = {0};
    if (oc_model_load_mem(x->bytes, n, NULL, &x->model, &err) || oc_analyze(x->model, &o, &x->analysis, &err))
        fail_msg("%s", err.msg);
}

static void fixture_free(struct fixture *x)
{
    oc_analysis_free(x->analysis);
    oc_model_free(x->model);
    free(x->bytes);
}

static char *report(const struct fixture *x, const struct oc_report_opts *o)
{
    char *text = NULL;
    size_t n = 0;
    struct oc_err err;
    struct oc_report_in in = {.model = x->model, .analysis = x->analysis};
    FILE *f = open_memstream(&text, &n);
    if (oc_report_write(&in, o, f, &err))
        fail_msg("%s", err.msg);
    fclose(f);
    return text;
}

/* The members of the JSON that the test reads. */
struct seen {
    uint64_t n_nodes, n_null, n_unnamed, macs_of_nodes, macs_total, unknown_nodes;
    bool schema, told;
};

static bool number_or_null(struct oc_json *j, uint64_t *v)
{
    int64_t i = 0;
    if (oc_json_peek(j) == OC_JSON_NULL) {
        oc_json_skip(j);
        return false;
    }
    assert_true(oc_json_i64(j, &i));
    *v = (uint64_t)i;
    return true;
}

static void read_node(struct oc_json *j, struct seen *s)
{
    struct oc_str key;
    uint64_t v = 0;
    s->n_nodes++;
    assert_true(oc_json_enter(j));
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "macs")) {
            if (number_or_null(j, &v))
                s->macs_of_nodes += v;
            else
                s->n_null++;
        } else if (oc_str_eq(key, "name")) {
            s->n_unnamed += oc_json_peek(j) == OC_JSON_NULL;
            oc_json_skip(j);
        } else {
            oc_json_skip(j);
        }
    }
}

static void read_totals(struct oc_json *j, struct seen *s)
{
    struct oc_str key;
    assert_true(oc_json_enter(j));
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "macs"))
            assert_true(number_or_null(j, &s->macs_total));
        else if (oc_str_eq(key, "unknown_nodes"))
            assert_true(number_or_null(j, &s->unknown_nodes));
        else
            oc_json_skip(j);
    }
}

static struct seen read_back(const char *text)
{
    struct seen s = {0};
    struct oc_str key, value;
    struct oc_stream *stream = oc_stream_mem(text, strlen(text));
    struct oc_json *j = oc_json_open(stream);
    assert_true(oc_json_enter(j));
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "schema")) {
            assert_true(oc_json_string(j, &value));
            s.schema = oc_str_eq(value, "onnxcost.report");
        } else if (oc_str_eq(key, "totals")) {
            read_totals(j, &s);
        } else if (oc_str_eq(key, "nodes")) {
            assert_true(oc_json_enter(j));
            while (oc_json_item(j))
                read_node(j, &s);
        } else if (oc_str_eq(key, "diagnostics")) {
            assert_true(oc_json_enter(j));
            while (oc_json_item(j)) {
                s.told = true;
                oc_json_skip(j);
            }
        } else {
            oc_json_skip(j);
        }
    }
    assert_null(oc_json_error(j, NULL));
    assert_false(oc_json_truncated(j));
    oc_json_close(j);
    oc_stream_close(stream);
    return s;
}

static void json_parses_back(void **state)
{
    (void)state;
    struct fixture x = {0};
    fixture_init(&x);
    char *text = report(&x, &(struct oc_report_opts){.format = "json"});
    struct seen s = read_back(text);
    assert_true(s.schema);
    assert_int_equal(s.n_nodes, 3);
    assert_int_equal(s.n_unnamed, 0); /* a node without a name has the name that tables print */
    assert_int_equal(s.n_null, 1);    /* the unknown operator: null, not 0 */
    assert_int_equal(s.unknown_nodes, 1);
    /* 8*8 positions * 4 channels * 27 taps + 8*8 * 2 * 4 */
    assert_int_equal(s.macs_total, 6912 + 512);
    assert_int_equal(s.macs_of_nodes, s.macs_total);
    assert_true(s.told);
    free(text);
    fixture_free(&x);
}

static void json_totals_are_independent_of_the_selected_rows(void **state)
{
    (void)state;
    struct fixture x = {0};
    fixture_init(&x);
    char *text = report(&x, &(struct oc_report_opts){.format = "json", .has_top = true, .top = 1});
    struct seen s = read_back(text);
    assert_int_equal(s.n_nodes, 1);
    assert_int_equal(s.macs_of_nodes, 6912);
    assert_int_equal(s.macs_total, 6912 + 512);
    free(text);
    fixture_free(&x);
}

/* Number of fields of the first line of *p, respecting quotes; *p moves to the next line. */
static unsigned count_fields(const char **p)
{
    unsigned n = 1;
    bool quoted = false;
    const char *s = *p;
    for (; *s && (quoted || *s != '\r'); s++) {
        quoted ^= *s == '"';
        n += *s == ',' && !quoted;
    }
    assert_memory_equal(s, "\r\n", 2);
    *p = s + 2;
    return n;
}

static void csv_keeps_its_columns(void **state)
{
    (void)state;
    struct fixture x = {0};
    fixture_init(&x);
    char *text = report(&x, &(struct oc_report_opts){.format = "csv"});
    const char *p = text;
    unsigned header = count_fields(&p), rows = 0;
    for (; *p; rows++)
        assert_int_equal(count_fields(&p), header);
    assert_int_equal(rows, 3);
    assert_non_null(strstr(text, "1,\"a,\"\"b\"\"\",Conv,13824,"));
    assert_non_null(strstr(text, "3,m,Mystery,,")); /* unknown is empty */
    assert_non_null(strstr(text, ",csv_version\r\n"));
    free(text);
    fixture_free(&x);
}

/* Every byte that is not the continuation of a UTF-8 character. */
static unsigned count_characters(const char *s, const char *end)
{
    unsigned n = 0;
    for (; s < end; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void tables_fit_the_width(void **state)
{
    (void)state;
    struct fixture x = {0};
    fixture_init(&x);
    for (unsigned width = 40; width < 160; width += 7) {
        char *text = report(&x, &(struct oc_report_opts){.width_chars = width, .print_only = "device"});
        for (const char *p = text, *end; *p; p = end + 1) {
            end = strchr(p, '\n');
            assert_non_null(end);
            assert_in_range(count_characters(p, end), 1, width);
        }
        free(text);
    }
    fixture_free(&x);
}

static void unknown_options_are_errors(void **state)
{
    (void)state;
    struct fixture x = {0};
    struct oc_err err;
    fixture_init(&x);
    struct oc_report_in in = {.model = x.model, .analysis = x.analysis}, nothing = {0};
    assert_int_equal(oc_report_write(&in, &(struct oc_report_opts){.format = "yaml"}, stdout, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_int_equal(oc_report_write(&in, &(struct oc_report_opts){.order_by = "beauty"}, stdout, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_int_equal(oc_report_write(&nothing, &(struct oc_report_opts){0}, stdout, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    fixture_free(&x);
}

#define TYPES "\"input_type_shape\":[{\"float\":[1,64,8,8]}],\"output_type_shape\":[{\"float\":[1,64,8,8]}]"
#define NODE(ts, name, provider)                                                                             \
    ",{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":20,\"ts\":" ts ",\"ph\":\"X\",\"name\":\"" name          \
    "_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"provider\":\"" provider "ExecutionProvider\"," TYPES    \
    "}}"
#define KERNEL(args)                                                                                         \
    ",{\"cat\":\"Kernel\",\"pid\":1,\"tid\":1,\"dur\":90,\"ts\":15,\"ph\":\"X\",\"name\":\"k0\",\"args\":"   \
    "{" args "}}"

/* A node on the GPU and one on the CPU; the kernel names its node or not. */
static void launches_have_no_rates(void **state)
{
    (void)state;
    static const char run[] = "[{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":200,\"ts\":0,\"ph\":\"X\","
                              "\"name\":\"model_run\",\"args\":{}}";
    static const struct {
        const char *events;
        bool launch, cpu;
    } c[] = {{NODE("10", "gpu", "CUDA") NODE("40", "cpu", "CPU") KERNEL("\"stream\":\"7\""), true, true},
             {NODE("10", "gpu", "CUDA") NODE("40", "cpu", "CPU")
                  KERNEL("\"parent_name\":\"gpu_kernel_time\""),
              false, true},
             {NODE("10", "gpu", "CUDA") KERNEL("\"stream\":\"7\""), true, false}};
    for (size_t i = 0; i < OC_COUNT(c); i++) {
        struct oc_err err = {0};
        char text[2000];
        snprintf(text, sizeof(text), "%s%s]", run, c[i].events);
        struct oc_profile *p = t_profile_text(text, &(struct oc_profile_opts){.stat = OC_STAT_MEDIAN}, &err);
        if (!p)
            fail_msg("%s", err.msg);
        struct oc_report_in in = {.profile = p};
        struct oc_report r = {.in = &in, .o = &(struct oc_report_opts){0}};
        struct oc_headline h;
        oc_report_rows(&r);
        oc_headline_of(&r, &h);
        assert_int_equal(r.all.n, 1 + c[i].cpu);
        for (uint32_t k = 0; k < r.all.n; k++) {
            const struct oc_row *row = &r.all.row[k];
            bool launch = c[i].launch && strcmp(row->name, "gpu") == 0;
            assert_true(row->time_s > 0 && row->computation == 4096 && row->memory == 32768);
            assert_int_equal(isnan(oc_row_flops(row)), launch);
            assert_int_equal(isnan(oc_row_bandwidth(row)), launch);
        }
        assert_int_equal(isnan(h.flops_per_s), !c[i].cpu);
        if (c[i].cpu)
            assert_true(fabs(h.operator_flops_per_s - (c[i].launch ? 4096 / 20e-6 : 8192 / 110e-6)) < 1);
        oc_arena_free(&r.arena);
        oc_profile_close(p);
    }
}

/* The first rows of a table of trtexec, and the whole table. */
static void layers_of_a_truncated_file_have_no_latency(void **state)
{
    (void)state;
    static const char table[] = "[I] === Profile (2094 iterations ) ===\n"
                                "[I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n"
                                "[I]       47.82       0.0228       0.0225       1.6   conv1\n";
    static const char *const rest[] = {"", "[I]     3000.00       1.4327       1.4300     100.0   Total\n"};
    for (size_t i = 0; i < OC_COUNT(rest); i++) {
        struct oc_err err = {0};
        char text[500];
        snprintf(text, sizeof(text), "%s%s", table, rest[i]);
        struct oc_profile *p = t_profile_text(text, &(struct oc_profile_opts){.stat = OC_STAT_TYPICAL}, &err);
        if (!p)
            fail_msg("%s", err.msg);
        struct oc_report_in in = {.profile = p};
        struct oc_report r = {.in = &in, .o = &(struct oc_report_opts){0}};
        struct oc_headline h;
        oc_report_rows(&r);
        oc_headline_of(&r, &h);
        assert_true(h.total_ns > 0);
        assert_int_equal(isnan(h.run_ns), !i);
        assert_int_equal(isnan(h.inferences_per_s), !i);
        assert_int_equal(
            strstr(oc_headline_latency_text(&r, &r.arena), "before the end of the truncated file") != NULL,
            !i);
        oc_arena_free(&r.arena);
        oc_profile_close(p);
    }
}

/* Two steps, in one of which an operator ran. */
static void half_a_call_is_not_zero(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p =
        t_profile_text("{\"schemaVersion\": 1, \"traceEvents\": ["
                       "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": "
                       "1, \"tid\": 1, \"ts\": 0, \"dur\": 90},"
                       "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, "
                       "\"ts\": 10, \"dur\": 30},"
                       "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#2\", \"pid\": "
                       "1, \"tid\": 1, \"ts\": 100, \"dur\": 90},"
                       "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": "
                       "1, \"ts\": 110, \"dur\": 10}]}",
                       &(struct oc_profile_opts){.warmup = OC_WARMUP_NONE}, &err);
    if (!p)
        fail_msg("%s", err.msg);
    struct oc_report_in in = {.profile = p};
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(oc_report_write(&in, &(struct oc_report_opts){.width_chars = 100}, f, &err), 0);
    fclose(f);
    assert_non_null(strstr(text, "<1"));
    free(text);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_parses_back),
        cmocka_unit_test(json_totals_are_independent_of_the_selected_rows),
        cmocka_unit_test(csv_keeps_its_columns),
        cmocka_unit_test(tables_fit_the_width),
        cmocka_unit_test(unknown_options_are_errors),
        cmocka_unit_test(launches_have_no_rates),
        cmocka_unit_test(layers_of_a_truncated_file_have_no_latency),
        cmocka_unit_test(half_a_call_is_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
