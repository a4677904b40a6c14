#include "report/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "onnxcost/report.h"

struct fixture {
    struct oc_arena arena;
    struct oc_row row[6];
    struct oc_rows all;
};

static int setup(void **state)
{
    static struct fixture f;
    static const char *const names[] = {"a1", "b1", "a2", "b2", "a3", "c"};
    static const char *const types[] = {"Conv", "Relu", "Conv", "Relu", "Add", "Conv"};
    static const double time_s[] = {3, 1, 4, 1, NAN, 9};
    static const double flo[] = {30, NAN, 20, NAN, 7, 90};
    static const int64_t dims[6][2] = {{2, 3}, {2}, {10, 1}, {2, 3}, {1}, {2, 4}};
    static const uint32_t rank[] = {2, 1, 2, 2, 1, 2};
    static struct oc_row_shape shape[6];
    f = (struct fixture){.all = {.n = 6}};
    for (uint32_t i = 0; i < 6; i++) {
        shape[i] = (struct oc_row_shape){.text = "", .dim = dims[i], .rank = rank[i]};
        f.row[i] = oc_row_blank();
        f.row[i].name = names[i];
        f.row[i].type = types[i];
        f.row[i].time_s = time_s[i];
        f.row[i].host_time_s = 10 - i;
        f.row[i].kern_time_s = i;
        f.row[i].computation = flo[i];
        f.row[i].calls = i + 1; /* mean: 3, 1/2, 4/3, 1/4, -, 9/6 */
        f.row[i].in = &shape[i];
        f.row[i].n_in = 1;
        f.row[i].in_state = i == 4 ? OC_SHAPES_NA : OC_SHAPES_KNOWN;
    }
    f.all.row = f.row;
    f.all.arena = &f.arena;
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    oc_arena_free(&((struct fixture *)*state)->arena);
    return 0;
}

/* Names (types where rows are aggregated) of the selected rows, separated by blanks. */
static void expect(void **state, struct oc_report_opts o, enum oc_time_of time, const char *names)
{
    struct fixture *f = *state;
    struct oc_select s;
    struct oc_err err = {0};
    struct oc_rows out = {.arena = &f->arena};
    char got[256] = "";
    assert_int_equal(oc_select_init(&s, &o, NULL, 0, NULL, &err), 0);
    assert_int_equal(oc_select_rows(&s, &f->all, time, &out, &err), 0);
    for (uint32_t i = 0; i < out.n; i++) {
        strcat(got, i ? " " : "");
        strcat(got, out.row[i].name ? out.row[i].name : out.row[i].type);
    }
    assert_string_equal(got, names);
}

static void expect_error(void **state, struct oc_report_opts o, const char *message)
{
    struct fixture *f = *state;
    struct oc_select s;
    struct oc_err err = {0};
    struct oc_rows out = {.arena = &f->arena};
    assert_int_equal(oc_select_init(&s, &o, NULL, 0, NULL, &err), 0);
    assert_int_equal(oc_select_rows(&s, &f->all, OC_TIME_NONE, &out, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_string_equal(err.msg, message);
}

#define O(...) ((struct oc_report_opts){__VA_ARGS__})

static void filters_select_rows(void **state)
{
    const char *type[] = {"Conv", "Add"}, *name[] = {"b", ".*3"}, *nothing[] = {""};
    expect(state, O(0), OC_TIME_NONE, "a1 b1 a2 b2 a3 c");
    expect(state, O(0), OC_TIME_DEVICE, "a1 b1 a2 b2 c"); /* a3 has no time */
    expect(state, O(.type = type, .n_type = 2), OC_TIME_NONE, "a1 a2 a3 c");
    expect(state, O(.name_pattern = name, .n_name_pattern = 2), OC_TIME_NONE, "b1 b2 a3");
    expect(state, O(.name_pattern = nothing, .n_name_pattern = 1), OC_TIME_NONE, "a1 b1 a2 b2 a3 c");
    expect_error(state, O(.input_dtype = type, .n_input_dtype = 1),
                 "unknown element type 'Conv' for --input-dtype; no input has a recorded type");
}

static void names_select_their_rows_or_fail(void **state)
{
    struct fixture *f = *state;
    const char *text[1];
    static const struct {
        const char *text, *rows;
    } good[] = {{"a1", "a1"}, {"a", "a1 a2 a3"}, {"#1", "c"}, {"#2", "a2"},
                {"#6", "a3"}, {"Relu", "b1 b2"}, {"1", "x1"}};
    f->row[3].name = "a10"; /* the beginning of a name is another name */
    text[0] = "a1";
    expect(state, O(.name_pattern = text, .n_name_pattern = 1), OC_TIME_NONE, "a1");
    text[0] = "a1.*";
    expect(state, O(.name_pattern = text, .n_name_pattern = 1), OC_TIME_NONE, "a1 a10");
    f->row[3].name = "b2";
    f->row[4].source_type = "Conv"; /* the printed type is that of the others */
    text[0] = "Conv";
    expect(state, O(.type = text, .n_type = 1), OC_TIME_NONE, "a1 a2 c");
    f->row[4].source_type = "Plus";
    text[0] = "Plus";
    expect(state, O(.type = text, .n_type = 1), OC_TIME_NONE, "a3");
    text[0] = "Re"; /* part of one type */
    expect(state, O(.type = text, .n_type = 1), OC_TIME_NONE, "b1 b2");
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        f->row[0].name = i == 6 ? "x1" : "a1"; /* then "1" is part of two names */
        f->row[1].name = i == 6 ? "b" : "b1";
        text[0] = good[i].text;
        expect(state, O(.name_pattern = text, .n_name_pattern = 1), OC_TIME_NONE, good[i].rows);
    }
}

static void names_that_select_nothing_are_errors(void **state)
{
    struct fixture *f = *state;
    const char *text[] = {"2"};
    expect_error(state, O(.name_pattern = text, .n_name_pattern = 1),
                 "--opr-name '2' is part of 2 names: 'a2', 'b2'; give one of them, or '.*2' for all");
    text[0] = "#7";
    expect_error(state, O(.name_pattern = text, .n_name_pattern = 1),
                 "--opr-name '#7': the table has 6 rows");
    text[0] = "b7";
    expect_error(
        state, O(.name_pattern = text, .n_name_pattern = 1),
        "unknown operator 'b7' for --opr-name; did you mean 'b1' or 'b2'? Valid: a1, b1, a2, b2, a3, c, "
        "-f csv lists the names");
    text[0] = "conv";
    expect_error(
        state, O(.type = text, .n_type = 1),
        "unknown operator type 'conv' for --type; did you mean 'Conv'? Valid: Conv, Relu, Add, the types of "
        "this profile");
    f->row[0].name = "a(1";
    text[0] = "a(1"; /* a name that is not a valid expression */
    expect(state, O(.name_pattern = text, .n_name_pattern = 1), OC_TIME_NONE, "a(1");
    text[0] = "a(2";
    expect_error(
        state, O(.name_pattern = text, .n_name_pattern = 1),
        "invalid pattern 'a(2': missing closing parenthesis (at character 3); a backslash before a character "
        "such as ( makes it literal");
}

static void bounds_are_inclusive(void **state)
{
    expect(state, O(.min_time = "3", .max_time = "4.0"), OC_TIME_DEVICE, "a1 a2");
    expect(state, O(.max_time = "6"), OC_TIME_HOST, "a3 c");
    expect(state, O(.min_time = "4", .top_end_key = "kern"), OC_TIME_DEVICE, "a3 c");
    expect(state, O(.min_time = "3"), OC_TIME_NONE, "a1 b1 a2 b2 a3 c");
}

static void orders_and_top_select_rows(void **state)
{
    expect(state, O(.order_by = "time"), OC_TIME_DEVICE, "c a2 a1 b1 b2");
    expect(state, O(.order_by = "+time", .has_top = true, .top = 3), OC_TIME_DEVICE, "b1 b2 a1");
    expect(state, O(.order_by = "+Computation"), OC_TIME_NONE, "a3 a2 a1 c b1 b2"); /* unknown last */
    expect(state, O(.order_by = "computation", .has_top = true, .top = -2), OC_TIME_NONE, "c a1 a2 a3");
    expect(state, O(.order_by = "FLOPS"), OC_TIME_DEVICE, "a1 c a2 b1 b2");
    expect(state, O(.order_by = "mean"), OC_TIME_DEVICE, "a1 c a2 b1 b2");
    expect(state, O(.order_by = "+avg", .has_top = true, .top = 2), OC_TIME_DEVICE, "b2 b1");
    expect(state, O(.has_top = true, .top = -100), OC_TIME_NONE, "");
    expect(state, O(.has_top = true, .top = INT64_MIN), OC_TIME_NONE, "");
    expect(state, O(.has_top = true, .top = INT64_MAX), OC_TIME_NONE, "a1 b1 a2 b2 a3 c");
    expect(state, O(.order_by = "+in_shapes"), OC_TIME_NONE, "b1 a1 b2 c a2 a3");
    expect(state, O(.order_by = "in_shapes"), OC_TIME_NONE, "a2 c a1 b2 b1 a3");
}

static void by_type(struct oc_rows *rows)
{
    for (uint32_t i = 0; i < rows->n; i++)
        rows->row[i].group = rows->row[i].type;
}

static void all_rows_in_their_order_are_not_copied(void **state)
{
    struct fixture *f = *state;
    struct oc_select s;
    struct oc_err err = {0};
    struct oc_report_opts all = {.top = 0}, two = {.has_top = true, .top = 2};
    struct oc_rows same = {.arena = &f->arena}, copy = {.arena = &f->arena};
    assert_int_equal(oc_select_init(&s, &all, NULL, 0, NULL, &err), 0);
    assert_int_equal(oc_select_rows(&s, &f->all, OC_TIME_NONE, &same, &err), 0);
    assert_true(same.row == f->all.row && same.n == f->all.n);
    assert_int_equal(oc_select_init(&s, &two, NULL, 0, NULL, &err), 0);
    assert_int_equal(oc_select_rows(&s, &f->all, OC_TIME_NONE, &copy, &err), 0);
    assert_true(copy.row != f->all.row && copy.n == 2);
}

static void rows_are_aggregated_by_type(void **state)
{
    struct fixture *f = *state;
    struct oc_rows out;
    by_type(&f->all);
    oc_rows_aggregate(&f->all, (struct oc_reduction){.how = OC_AGG_MEAN}, &out);
    assert_int_equal(out.n, 3);
    assert_string_equal(out.row[0].type, "Conv");
    assert_true(out.row[0].time_s == 16.0 / 3 && out.row[0].computation == 140.0 / 3);
    assert_string_equal(out.row[0].info[1], "3");
    assert_true(isnan(out.row[1].computation) && !oc_num_known(out.row[1].computation));
    assert_int_equal(out.row[1].in_state, OC_SHAPES_NONE);
    double gaps[] = {5, NAN, 1, NAN}, none[] = {NAN}, measured[] = {oc_num_measured(NAN), 2};
    assert_true(oc_aggregate_of((struct oc_reduction){.how = OC_AGG_MEAN}, gaps, 4) ==
                1.5); /* 6 over all four */
    assert_false(oc_num_known(oc_aggregate_of((struct oc_reduction){.how = OC_AGG_SUM}, none, 1)));
    assert_true(isnan(oc_aggregate_of((struct oc_reduction){.how = OC_AGG_MAX}, measured, 2)));
    assert_true(oc_num_known(
        oc_aggregate_of((struct oc_reduction){.how = OC_AGG_SUM}, measured, 2))); /* a nan, but measured */
    expect(state, O(.aggregate = "sum", .group_by = "type", .order_by = "time"), OC_TIME_DEVICE, "Conv Relu");
    expect(state, O(.aggregate = "max"), OC_TIME_DEVICE, "all");
}

static void several_order_keys(void **state)
{
    expect(state, O(.order_by = "+type,time"), OC_TIME_NONE, "a3 c a2 a1 b1 b2");
    expect(state, O(.order_by = "time,+computation"), OC_TIME_NONE, "c a2 a1 b1 b2 a3");
    expect(state, O(.order_by = "count,+opr_id,computation"), OC_TIME_NONE, "c a1 a2 a3 b1 b2");
}

/* 3, 4 and 9: the median is 4; p90 is at 1.8 of 0..2: 4 + 0.8 * (9 - 4); p0 and p100 are the ends. */
static void percentiles_are_interpolated(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double want;
    } row[] = {{"median", 4}, {"p90", 8}, {"p0", 3}, {"p100", 9}, {"p25", 3.5}, {"sum", 16}, {"max", 9}};
    struct oc_reduction how;
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        double v[] = {9, NAN, 3, 4};
        assert_true(oc_reduction_read(row[i].name, &how));
        assert_true(fabs(oc_aggregate_of(how, v, 4) - row[i].want) < 1e-12);
    }
    double v[] = {1, 2};
    assert_true(oc_reduction_read("count", &how) && isnan(oc_aggregate_of(how, v, 2)));
    static const char *const wrong[] = {"", "p", "p101", "p-1", "pnan", "average", "p9x"};
    for (size_t i = 0; i < OC_COUNT(wrong); i++)
        assert_false(oc_reduction_read(wrong[i], &how));
}

static void rows_are_grouped_by_key(void **state)
{
    struct fixture *f = *state;
    static const char *const name[] = {"/a/b/c/conv", "/a/b/relu", "/a/x/conv", "plain", "a.b.add", "/top"};
    static const char *const provider[] = {"CPU", "CPU", "CUDA", "CUDA", "CPU", NULL};
    for (int i = 0; i < 6; i++) {
        f->row[i].name = name[i];
        f->row[i].provider = provider[i];
        f->row[i].time_s = i + 1;
    }
    expect(state, O(.group_by = "type", .order_by = "+type"), OC_TIME_NONE, "Add Conv Relu");
    expect(state, O(.group_by = "module", .order_by = "+time"), OC_TIME_NONE,
           "/a/b/c /a/b /a/x a.b (no module)");
    expect(state, O(.group_by = "module:1", .order_by = "time"), OC_TIME_NONE, "(no module) /a a");
    expect(state, O(.group_by = "provider", .aggregate = "max", .order_by = "time"), OC_TIME_NONE,
           "(unknown) CPU CUDA");
    expect(state, O(.group_by = "provider,type", .aggregate = "count", .order_by = "count,+type"),
           OC_TIME_NONE, "(unknown) | Conv CPU | Add CPU | Conv CPU | Relu CUDA | Conv CUDA | Relu");
    expect(state, O(.group_by = "kernel"), OC_TIME_NONE, "(unknown)");
}

static void group_quality_is_the_worst(void **state)
{
    struct fixture *f = *state;
    struct oc_rows out;
    f->row[0].quality = OC_UPPER;
    f->row[2].quality = OC_UNKNOWN;
    f->row[1].quality = OC_UPPER;
    f->row[4].quality = OC_UNKNOWN;
    by_type(&f->all);
    oc_rows_aggregate(&f->all, (struct oc_reduction){.how = OC_AGG_SUM}, &out);
    assert_int_equal(out.row[0].quality, OC_EST);     /* an upper bound, one missing */
    assert_int_equal(out.row[1].quality, OC_UPPER);   /* with an exact one */
    assert_int_equal(out.row[2].quality, OC_UNKNOWN); /* only unknown */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(filters_select_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(names_select_their_rows_or_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_select_nothing_are_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(bounds_are_inclusive, setup, teardown),
        cmocka_unit_test_setup_teardown(orders_and_top_select_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(all_rows_in_their_order_are_not_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_are_aggregated_by_type, setup, teardown),
        cmocka_unit_test_setup_teardown(several_order_keys, setup, teardown),
        cmocka_unit_test(percentiles_are_interpolated),
        cmocka_unit_test_setup_teardown(rows_are_grouped_by_key, setup, teardown),
        cmocka_unit_test_setup_teardown(group_quality_is_the_worst, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
