/* Markdown tables keep their columns for any name, and contain the numbers of the report. */
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

struct fixture {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

static void fixture_init(struct fixture *x)
{
    size_t n;
    struct oc_err err;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my.domain", 1);
    oc_b_input(b, "x", "float[N,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_node(b, "Conv", "a|b\n| --- |\n</details>", "x,w", "y", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "`r`", "y", "z", "");
    oc_b_node(b, "my.domain::Mystery", "@everybody", "z", "|u|", "");
    oc_b_output(b, "z", "float");
    oc_b_output(b, "|u|", "float");
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

static char *report(const struct fixture *x, struct oc_report_opts o)
{
    char *text = NULL;
    size_t n = 0;
    struct oc_err err;
    struct oc_report_in in = {.model = x->model, .analysis = x->analysis};
    FILE *f = open_memstream(&text, &n);
    if (oc_report_write(&in, &o, f, &err))
        fail_msg("%s", err.msg);
    fclose(f);
    return text;
}

/* Bars of one line as GitHub's parser sees them: a bar after a backslash is text. */
static size_t count_bars(const char *line, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += line[i] == '|' && !(i && line[i - 1] == '\\');
    return count;
}

/* Lines outside tables are ignored; all lines of a table have the same number of bars. */
static size_t check_tables(const char *text)
{
    size_t tables = 0, width = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        if (n && p[0] == '|') {
            tables += !width;
            width = width ? width : count_bars(p, n);
            assert_int_equal(count_bars(p, n), width);
            assert_int_equal(p[n - 1], '|');
        } else {
            assert_int_equal(count_bars(p, n), 0);
            width = 0;
        }
        p += n + (p[n] == '\n');
    }
    return tables;
}

/* summary, rows, more, assumptions (N = 1), warnings */
static void tables_keep_their_columns(void **state)
{
    (void)state;
    struct fixture x;
    fixture_init(&x);
    char *text = report(&x, (struct oc_report_opts){.format = "markdown"});
    assert_int_equal(check_tables(text), 5);
    assert_non_null(strstr(text, "`@everybody`"));
    assert_non_null(strstr(text, "<code>&#96;r&#96;</code>"));
    assert_null(strstr(text, "\n@everybody"));
    const char *end = strstr(text, "</details>"); /* the bar of the name is escaped */
    assert_non_null(end);
    assert_string_equal(end, "</details>\n");
    free(text);
    fixture_free(&x);
}

/* Conv: 4*8*8 outputs of 3*3*3 taps: 6,912 MACs; without bias 13,824 FLOPs; Relu adds 256. */
static void numbers_equal_the_report(void **state)
{
    (void)state;
    struct fixture x;
    fixture_init(&x);
    char *text = report(&x, (struct oc_report_opts){.format = "md"});
    assert_non_null(strstr(text, "| cost | at least 6,912 MACs, 14,080 FLOPs, "));
    assert_non_null(strstr(text, "| counts are | "));
    assert_non_null(strstr(text, "1 of 3 nodes are not exact"));
    free(text);
    fixture_free(&x);
}

static void parts_and_rows_can_be_selected(void **state)
{
    (void)state;
    struct fixture x;
    fixture_init(&x);
    char *text = report(
        &x, (struct oc_report_opts){.format = "md", .print_only = "device", .has_top = true, .top = 1});
    assert_int_equal(check_tables(text), 1);
    assert_non_null(strstr(text, "\n1 of 3 rows\n"));
    assert_null(strstr(text, "<details"));
    free(text);
    text = report(&x, (struct oc_report_opts){.format = "md", .print_only = "summary"});
    assert_int_equal(check_tables(text), 4);
    assert_null(strstr(text, "operator |"));
    free(text);
    fixture_free(&x);
}

/* Older files list their weights as inputs too. */
static void constants_are_not_listed_as_inputs(void **state)
{
    (void)state;
    struct fixture x;
    size_t n;
    struct oc_err err;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "first", "float[2,3]");
    oc_b_input(b, "w", "float[3,4]");
    oc_b_input(b, "second", "float[2,4]");
    oc_b_init(b, "w", "float[3,4]");
    oc_b_node(b, "MatMul", "a", "first,w", "y", "");
    oc_b_node(b, "Add", "b", "y,second", "z", "");
    oc_b_output(b, "z", "float");
    x.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(x.bytes, n, NULL, &x.model, &err) || oc_analyze(x.model, NULL, &x.analysis, &err))
        fail_msg("%s", err.msg);
    char *text = report(&x, (struct oc_report_opts){.format = "markdown"});
    assert_non_null(strstr(text, "| all inputs | `first  float[2,3]` |"));
    assert_non_null(strstr(text, "| all inputs | `second  float[2,4]` |"));
    assert_null(strstr(text, "`w  float"));
    free(text);
    fixture_free(&x);
}

static void breakdowns_are_rejected(void **state)
{
    (void)state;
    struct fixture x;
    struct oc_err err;
    const char *why[] = {"0"};
    fixture_init(&x);
    struct oc_report_opts o = {.format = "markdown", .why = why, .n_why = 1};
    struct oc_report_in in = {.model = x.model, .analysis = x.analysis};
    assert_int_equal(oc_report_write(&in, &o, stderr, &err), -1);
    assert_string_equal(err.msg, "--why supports the formats table and json, not markdown");
    fixture_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_keep_their_columns),
        cmocka_unit_test(numbers_equal_the_report),
        cmocka_unit_test(parts_and_rows_can_be_selected),
        cmocka_unit_test(constants_are_not_listed_as_inputs),
        cmocka_unit_test(breakdowns_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
