/* Rows that are created and dropped in sequence: the result must equal that of selecting from all rows. */
#include "report/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/build.h"
#include "onnxcost.h"
#include "onnxcost/report.h"

/* More rows than are stored at once, repeated sizes, nodes without a name, an unknown operator and a folded
 * one. */
enum { NODES = 700 };

struct fixture {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

static int setup(void **state)
{
    static struct fixture f;
    static const char *const type[] = {"Add", "Relu", "Exp", "Add", "Sigmoid"};
    struct oc_builder *b = oc_b_new(17);
    struct oc_err err;
    size_t n;
    oc_b_opset(b, "my.domain", 1);
    oc_b_init(b, "folded", "float[4]");
    oc_b_node(b, "Neg", "constant", "folded", "gone", "");
    for (unsigned i = 0; i < NODES; i++) {
        char in[40], out[20], shape[40], name[20];
        unsigned t = i * 7 % 5;
        snprintf(in, sizeof(in), t % 3 ? "x%u" : "x%u,x%u", i, i);
        snprintf(out, sizeof(out), "y%u", i);
        snprintf(shape, sizeof(shape), "float[%u,%u]", 1 + i * 31 % 97, 1 + i * i % 13);
        snprintf(name, sizeof(name), "n%u", i * 89 % NODES);
        name[i % 4 ? 1 : 0] = i % 4 ? name[1] : '\0';
        oc_b_input(b, strtok(in, ","), shape);
        snprintf(in, sizeof(in), t % 3 ? "x%u" : "x%u,x%u", i, i);
        oc_b_node(b, i == 500 ? "my.domain::Mystery" : type[t], name, in, out, "");
        oc_b_output(b, out, shape);
    }
    f.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(f.bytes, n, NULL, &f.model, &err) || oc_analyze(f.model, NULL, &f.analysis, &err))
        fail_msg("%s", err.msg);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    oc_analysis_free(f->analysis);
    oc_model_free(f->model);
    free(f->bytes);
    return 0;
}

static void check_equal_rows(const struct oc_row *x, const struct oc_row *y)
{
    assert_int_equal(x->node, y->node);
    assert_string_equal(x->name, y->name);
    assert_string_equal(x->type, y->type);
    assert_int_equal(x->n_in_dtype, y->n_in_dtype);
    assert_int_equal(x->n_in, y->n_in);
    assert_int_equal(x->quality, y->quality);
    assert_memory_equal(&x->computation, &y->computation, sizeof(double));
    assert_memory_equal(&x->memory, &y->memory, sizeof(double));
}

static void compare(const struct fixture *f, const struct oc_report_opts *o, uint32_t least)
{
    struct oc_err err;
    struct oc_select s;
    struct oc_report_in in = {.model = f->model, .analysis = f->analysis};
    struct oc_report all = {.in = &in, .o = o}, few = all;
    all.shown.arena = &all.arena;
    oc_report_rows(&all);
    assert_int_equal(oc_select_init(&s, o, &all, 20, "computation", &err), 0);
    assert_int_equal(oc_select_rows(&s, &all.all, OC_TIME_NONE, &all.shown, &err), 0);
    assert_true(oc_few_rows_do(&few));
    assert_int_equal(oc_select_init(&s, o, &few, 20, "computation", &err), 0);
    oc_few_rows_choose(&few, &s);
    assert_int_equal(few.all.n, NODES); /* all except the folded one */
    assert_int_equal(few.all.n, all.all.n);
    assert_null(few.all.row);
    assert_memory_equal(&few.total_flo, &all.total_flo, sizeof(double));
    assert_true(few.shown.n >= least);
    assert_int_equal(few.shown.n, all.shown.n);
    for (uint32_t i = 0; i < few.shown.n; i++)
        check_equal_rows(&few.shown.row[i], &all.shown.row[i]);
    oc_arena_free(&all.arena);
    oc_arena_free(&few.arena);
}

#define O(...) &((struct oc_report_opts){__VA_ARGS__})

static void orders_equal_those_of_all_rows(void **state)
{
    static const char *const order[] = {"computation",  "+computation", "memory",       "+opr_id",
                                        "opr_id",       "name",         "+name",        "type",
                                        "+in_shapes",   "flops",        "type,+memory", "intensity",
                                        "flo_fraction", "+type,name",   "trips",        "quality,bytes"};
    static const int64_t top[] = {1, 3, 20, 64, 300, 4096};
    for (size_t i = 0; i < OC_COUNT(order); i++)
        for (size_t k = 0; k < OC_COUNT(top); k++)
            compare(*state, O(.order_by = order[i], .has_top = true, .top = top[k]), 1);
    compare(*state, O(0), 20);
}

static void requests_that_need_all_rows_are_declined(void **state)
{
    const struct fixture *f = *state;
    struct oc_report_in in = {.model = f->model, .analysis = f->analysis};
    struct oc_report r = {.in = &in, .o = O(.has_top = true)};
    assert_false(oc_few_rows_do(&r)); /* --top 0: all of them */
    r.o = O(.n_name_pattern = 1);     /* whether a name is that of one row only */
    assert_false(oc_few_rows_do(&r));
    r.o = O(.has_top = true, .top = -3);
    assert_false(oc_few_rows_do(&r));
    r.o = O(.has_top = true, .top = 5000);
    assert_false(oc_few_rows_do(&r));
    r.o = O(.group_by = "type");
    assert_false(oc_few_rows_do(&r));
    r.o = O(.aggregate = "sum");
    assert_false(oc_few_rows_do(&r));
    r.o = O(.advise = true);
    assert_false(oc_few_rows_do(&r));
    r.o = O(.top_end_key = "kern");
    assert_false(oc_few_rows_do(&r));
    r.o = O(.as = "fp16");
    assert_false(oc_few_rows_do(&r));
}

static char *written(const struct fixture *f, const struct oc_report_opts *o)
{
    struct oc_err err;
    struct oc_buf text = {0};
    FILE *stream = oc_buf_stream(&text);
    struct oc_report_in in = {.model = f->model, .analysis = f->analysis};
    if (oc_report_write(&in, o, stream, &err))
        fail_msg("%s", err.msg);
    fclose(stream);
    return text.data;
}

/* A bound of times, which a model does not have, is a request that needs all rows. */
static void reports_of_rows_made_one_at_a_time_equal_those_of_stored_rows(void **state)
{
    static const char *const format[] = {"csv", "html"};
    for (size_t i = 0; i < OC_COUNT(format); i++) {
        char *made = written(*state, O(.format = format[i])),
             *stored = written(*state, O(.format = format[i], .min_time = "0"));
        assert_string_equal(made, stored);
        free(made);
        free(stored);
    }
}

static void requests_that_select_or_sort_have_their_rows_stored(void **state)
{
    const struct fixture *f = *state;
    struct oc_report_in in = {.model = f->model, .analysis = f->analysis};
    struct oc_report r = {.in = &in, .o = O(0)};
    assert_true(oc_rows_on_demand(&r));
    r.o = O(.has_top = true, .top = 3);
    assert_false(oc_rows_on_demand(&r));
    r.o = O(.order_by = "macs");
    assert_false(oc_rows_on_demand(&r));
    r.o = O(.max_time = "1us");
    assert_false(oc_rows_on_demand(&r));
    r.o = O(.n_type = 1);
    assert_false(oc_rows_on_demand(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_equal_those_of_all_rows),
        cmocka_unit_test(reports_of_rows_made_one_at_a_time_equal_those_of_stored_rows),
        cmocka_unit_test(requests_that_select_or_sort_have_their_rows_stored),
        cmocka_unit_test(requests_that_need_all_rows_are_declined)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
