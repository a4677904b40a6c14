#include "gate/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "join/join.h"
#include "support/profiles.h"
#include "support/run_model.h"
#include "onnxcost/profile.h"

/* x [1,3,8,8] -> conv1 (out channels, 3x3, same size) -> act -> ... */
static struct oc_run make_run(unsigned channels, const char *act, bool tail)
{
    char weight[64];
    struct oc_builder *b = oc_b_new(17);
    snprintf(weight, sizeof(weight), "float[%u,3,3,3]", channels);
    oc_b_input(b, "x", "float[N,3,8,8]");
    oc_b_init(b, "w", weight);
    oc_b_node(b, "Conv", "/conv1", "x,w", "y", "pads=1,1,1,1");
    oc_b_node(b, act, "/act", "y", "z", "");
    if (tail)
        oc_b_node(b, "Tanh", "/tail", "z", "t", "");
    oc_b_output(b, tail ? "t" : "z", NULL);
    return oc_run_model(b, NULL);
}

static struct oc_diff *diff_runs(const struct oc_run *a, const struct oc_run *b)
{
    struct oc_report_in p = {.model = a->m, .analysis = a->a}, q = {.model = b->m, .analysis = b->a};
    struct oc_diff *d = NULL;
    struct oc_err err = {0};
    if (oc_diff_make(&p, &q, NULL, &d, &err))
        fail_msg("%s", err.msg);
    return d;
}

static const struct oc_diff_row *find_row(const struct oc_diff *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_row; i++)
        if (!strcmp(d->row[i].name, name) || !strcmp(d->row[i].name_b, name))
            return &d->row[i];
    fail_msg("no row '%s'", name);
    return NULL;
}

static void free_all(struct oc_diff *d, struct oc_run *a, struct oc_run *b)
{
    oc_diff_free(d);
    oc_run_free(a);
    oc_run_free(b);
}

/* Attributes that one exporter writes and another leaves out: equal where they are the default of the operator
 * and its version, also on both sides. */
static void attributes_at_their_default_are_unchanged(void **state)
{
    (void)state;
    static const struct {
        const char *op, *inputs, *attrs;
        int opset;
        bool same;
    } row[] = {
        {"Conv", "x,w", "auto_pad=NOTSET group=1 strides=[1,1] dilations=[1,1] pads=[0,0,0,0]", 17, true},
        {"Conv", "x,w", "kernel_shape=[3,3]", 17, true},
        {"Conv", "x,w", "pads=[0,0,0,1]", 17, false},
        {"Conv", "x,w", "auto_pad=SAME_UPPER", 17, false},
        {"Gemm", "a,c", "transA=0 alpha=1.0 beta=1.0", 17, true},
        {"Gemm", "a,c", "alpha=2.0", 17, false},
        {"LeakyRelu", "x", "alpha=0.01", 17, true},
        {"Softmax", "x", "axis=-1", 17, true},
        {"Softmax", "x", "axis=-1", 12, false}, /* the default is 1 there */
        {"ReduceMean", "x", "keepdims=0", 17, false},
    };
    for (size_t i = 0; i < 2 * OC_COUNT(row); i++) {
        struct oc_run r[2];
        for (unsigned side = 0; side < 2; side++) {
            struct oc_builder *b = oc_b_new(row[i / 2].opset);
            oc_b_input(b, "x", "float[1,3,8,8]");
            oc_b_input(b, "a", "float[2,4]");
            oc_b_init(b, "w", "float[5,3,3,3]");
            oc_b_init(b, "c", "float[4,4]");
            oc_b_node(b, row[i / 2].op, "n", row[i / 2].inputs, "y", side == i % 2 ? row[i / 2].attrs : "");
            oc_b_output(b, "y", NULL);
            r[side] = oc_run_model(b, NULL);
        }
        struct oc_diff *d = diff_runs(&r[0], &r[1]);
        if (!(find_row(d, "n")->change & OC_DIFF_ATTRS) != row[i / 2].same)
            fail_msg("%s %s: %s", row[i / 2].op, row[i / 2].attrs, find_row(d, "n")->what);
        free_all(d, &r[0], &r[1]);
    }
}

static void equal_models_have_equal_rows(void **state)
{
    (void)state;
    struct oc_run a = make_run(4, "Relu", false), b = make_run(4, "Relu", false);
    struct oc_diff *d = diff_runs(&a, &b);
    assert_int_equal(d->n_row, 2);
    assert_int_equal(oc_diff_info(d)->same, 2);
    assert_false(oc_diff_info(d)->different);
    free_all(d, &a, &b);
}

static void rows_are_changed_added_or_removed(void **state)
{
    (void)state;
    struct oc_run a = make_run(4, "Relu", true), b = make_run(6, "Sigmoid", false);
    struct oc_diff *d = diff_runs(&a, &b);
    struct oc_diff_total t;
    /* 3*3*3 = 27 MACs for each of 8*8 positions and each channel: 64 * 27 = 1728 per channel, two more
     * channels */
    const struct oc_diff_row *r = find_row(d, "/conv1");
    assert_int_equal(r->status, OC_DIFF_CHANGED);
    assert_int_equal(r->change, OC_DIFF_SHAPES | OC_DIFF_COSTS);
    assert_string_equal(r->what, "out0 1x4x8x8 -> 1x6x8x8; in1 4x3x3x3 -> 6x3x3x3");
    assert_true(oc_diff_delta(r, OC_DIFF_MACS) == 2 * 1728);
    /* 2 * 27 parameters of 4 bytes more are read; 2 * 64 floats more are written */
    assert_true(oc_diff_delta(r, OC_DIFF_PARAMS) == 54);
    assert_true(oc_diff_delta(r, OC_DIFF_BYTES) == 54 * 4 + 128 * 4);
    r = find_row(d, "/act");
    assert_int_equal(r->status, OC_DIFF_CHANGED);
    assert_true(r->change & OC_DIFF_TYPE);
    assert_non_null(strstr(r->what, "Relu -> Sigmoid"));
    r = find_row(d, "/tail");
    assert_int_equal(r->status, OC_DIFF_REMOVED);
    /* reads and writes 4 * 64 floats */
    assert_true(oc_diff_delta(r, OC_DIFF_BYTES) == -2048);
    oc_diff_total(d, OC_DIFF_MACS, &t);
    assert_true(t.n[0] == 4 * 1728 && t.n[1] == 6 * 1728);
    assert_true(t.rows_delta == 2 * 1728 && !t.rows_negative && !t.unknown_rows);
    oc_diff_total(d, OC_DIFF_PARAMS, &t);
    assert_true(t.n[0] == 108 && t.n[1] == 162 && t.rows_delta == 54);
    oc_diff_total(d, OC_DIFF_BYTES, &t);
    assert_true(t.n[1] - t.n[0] == (t.rows_negative ? -t.rows_delta : t.rows_delta));
    oc_diff_total(d, OC_DIFF_TIME, &t);
    assert_false(t.known[0] || t.known[1]);
    assert_int_equal(oc_diff_info(d)->changed, 2);
    assert_int_equal(oc_diff_info(d)->removed, 1);
    assert_int_equal(oc_diff_info(d)->added, 0);
    assert_true(oc_diff_info(d)->different);
    free_all(d, &a, &b);
}

/* An unknown value on one side has no difference; the sum reports how many rows it excludes. */
static void unknown_rows_are_counted(void **state)
{
    (void)state;
    struct oc_run a = make_run(4, "Relu", false), b = make_run(6, "acme::Relu", false);
    struct oc_diff *d = diff_runs(&a, &b);
    struct oc_diff_total t;
    const struct oc_diff_row *r = find_row(d, "/act");
    assert_true(oc_diff_known(r, 0, OC_DIFF_FLOPS));
    assert_false(oc_diff_known(r, 1, OC_DIFF_FLOPS));
    assert_true(oc_diff_delta(r, OC_DIFF_FLOPS) != oc_diff_delta(r, OC_DIFF_FLOPS)); /* nan */
    oc_diff_total(d, OC_DIFF_FLOPS, &t);
    assert_int_equal(t.unknown_rows, 1);
    /* Relu on 4 * 64 elements, which only a has */
    assert_true(t.unknown_n[0] == 256 && t.unknown_n[1] == 0);
    assert_true(t.rows_delta == 2 * 2 * 1728);
    assert_true(t.n[1] - t.n[0] == t.rows_delta + t.unknown_n[1] - t.unknown_n[0]);
    free_all(d, &a, &b);
}

/* The branch that is counted has an operator of unknown cost: its other operators are upper bounds, which the
 * total, a lower bound, leaves out. */
static void rows_of_a_branch_of_unknown_cost_add_up_to_more(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "c", "bool[]");
    oc_b_input(b, "x", "float[2,3]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "/act", "x", "t", "");
    oc_b_node(b, "acme::Strange", "/strange", "t", "u", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Identity", "/same", "x", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct oc_run a = oc_run_model(b, NULL), other = make_run(4, "Relu", false);
    struct oc_diff *d = diff_runs(&a, &other);
    struct oc_diff_total t;
    oc_diff_total(d, OC_DIFF_FLOPS, &t);
    assert_true(t.n[0] == 0 && t.n[1] == 2 * 4 * 1728 + 256);
    assert_int_equal(find_row(d, "/act")->side[0].count[OC_DIFF_FLOPS], 6);
    free_all(d, &a, &other);
}

static void two_shapes_of_one_model_differ_in_costs(void **state)
{
    (void)state;
    struct oc_run a = make_run(4, "Relu", false);
    const struct oc_bind bind = {"N", 8};
    const struct oc_analyze_opts opts = {.bind = &bind, .n_bind = 1};
    struct oc_analysis *eight;
    struct oc_err err;
    struct oc_diff *d;
    struct oc_diff_total t;
    assert_int_equal(oc_analyze(a.m, &opts, &eight, &err), 0);
    struct oc_report_in p = {.model = a.m, .analysis = a.a}, q = {.model = a.m, .analysis = eight};
    assert_int_equal(oc_diff_make(&p, &q, NULL, &d, &err), 0);
    oc_diff_total(d, OC_DIFF_MACS, &t);
    assert_true(t.n[0] == 6912 && t.n[1] == 8 * 6912 && t.rows_delta == 7 * 6912);
    oc_diff_total(d, OC_DIFF_PARAMS, &t);
    assert_true(t.n[0] == 108 && t.n[1] == 108 && !t.rows_delta);
    assert_int_equal(oc_diff_info(d)->changed, 2);
    assert_int_equal(find_row(d, "/conv1")->rule, OC_ALIGN_SAME);
    oc_diff_free(d);
    /* exchanged sides change the sign of every difference */
    assert_int_equal(oc_diff_make(&q, &p, NULL, &d, &err), 0);
    oc_diff_total(d, OC_DIFF_MACS, &t);
    assert_true(t.rows_negative && t.rows_delta == 7 * 6912);
    oc_diff_free(d);
    oc_analysis_free(eight);
    oc_run_free(&a);
}

static void rows_follow_both_orders(void **state)
{
    (void)state;
    struct oc_run a = make_run(4, "Relu", false), b = make_run(4, "Relu", true);
    struct oc_diff *d = diff_runs(&a, &b);
    assert_int_equal(d->n_row, 3);
    assert_string_equal(d->row[0].name, "/conv1");
    assert_string_equal(d->row[1].name, "/act");
    assert_string_equal(d->row[2].name_b, "/tail");
    assert_int_equal(d->row[2].status, OC_DIFF_ADDED);
    free_all(d, &a, &b);
}

struct profiled {
    struct oc_run run;
    struct oc_profile *profile;
    struct oc_join *join;
    struct oc_report_in in;
};

static void record(struct profiled *x, struct oc_run run, const char *table)
{
    struct oc_err err = {0};
    const struct oc_profile_opts opts = {.map = "name=name,type=type,time=time:us"};
    x->run = run;
    x->profile = t_profile_text(table, &opts, &err);
    if (!x->profile || oc_join_make(x->run.m, x->run.a, x->profile, NULL, &x->join, &err))
        fail_msg("%s", err.msg);
    x->in = (struct oc_report_in){x->run.m, x->run.a, x->profile, x->join, NULL};
}

/* A: one kernel for convolution and activation. B: one kernel for three nodes, of which the third has no
 * partner in A: it is counted, and the row is named after the pair of the convolution. */
static void fused_rows_report_the_number_of_their_nodes(void **state)
{
    (void)state;
    struct profiled p[2];
    struct oc_diff *d = NULL;
    struct oc_err err = {0};
    record(&p[0], make_run(4, "Relu", false), "name,type,time\n/conv1 + /act,Conv,7\n");
    record(&p[1], make_run(4, "Relu", true), "name,type,time\n/conv1 + /act + /tail,Conv,9\n");
    if (oc_diff_make(&p[0].in, &p[1].in, NULL, &d, &err))
        fail_msg("%s", err.msg);
    const struct oc_diff_row *r = find_row(d, "/conv1");
    assert_int_equal(r->side[0].n_node, 2);
    assert_int_equal(r->side[1].n_node, 3);
    assert_int_equal(r->status, OC_DIFF_CHANGED);
    assert_true(r->change & OC_DIFF_FUSION);
    assert_string_equal(r->what, "2 -> 3 nodes");
    assert_string_equal(r->type, "Conv+Relu");
    assert_string_equal(r->type_b, "Conv+Relu+Tanh");
    assert_int_equal(r->rule, OC_ALIGN_NAME);
    oc_diff_free(d);
    if (oc_diff_make(&p[1].in, &p[0].in, NULL, &d, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(find_row(d, "/conv1")->what, "3 -> 2 nodes");
    oc_diff_free(d);
    if (oc_diff_make(&p[1].in, &p[1].in, NULL, &d, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(find_row(d, "/conv1")->status, OC_DIFF_SAME);
    assert_string_equal(find_row(d, "/conv1")->what, "");
    oc_diff_free(d);
    for (unsigned i = 0; i < 2; i++) {
        oc_join_free(p[i].join);
        oc_profile_close(p[i].profile);
        oc_run_free(&p[i].run);
    }
}

static struct oc_run folded_run(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[8]");
    oc_b_init(b, "one", "float[8]");
    oc_b_init(b, "two", "float[8]");
    oc_b_node(b, "Add", "constant", "one,two", "s", "");
    oc_b_node(b, "Mul", "product", "x,s", "y", "");
    oc_b_output(b, "y", NULL);
    return oc_run_model(b, NULL);
}

/* A run without optimization computes what the model's cost does not count, because any other run has it as a constant. */
static void a_node_that_is_not_counted_has_a_row_if_it_was_recorded(void **state)
{
    (void)state;
    struct profiled p[2];
    struct oc_diff *d = NULL;
    struct oc_err err = {0};
    record(&p[0], folded_run(), "name,type,time\nconstant,Add,2\nproduct,Mul,7\n");
    record(&p[1], folded_run(), "name,type,time\nconstant,Add,3\nproduct,Mul,7\n");
    if (oc_diff_make(&p[0].in, &p[1].in, NULL, &d, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(d->n_row, 2);
    assert_non_null(find_row(d, "constant"));
    oc_diff_free(d);
    p[0].in.profile = p[1].in.profile = NULL;
    p[0].in.join = p[1].in.join = NULL;
    if (oc_diff_make(&p[0].in, &p[1].in, NULL, &d, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(d->n_row, 1);
    oc_diff_free(d);
    for (unsigned i = 0; i < 2; i++) {
        oc_join_free(p[i].join);
        oc_profile_close(p[i].profile);
        oc_run_free(&p[i].run);
    }
}

static void bytes_of_the_whole_graph_are_rejected(void **state)
{
    (void)state;
    struct oc_run a = make_run(4, "Relu", false);
    const struct oc_analyze_opts opts = {.graph_bytes = true};
    struct oc_analysis *other;
    struct oc_err err;
    struct oc_diff *d;
    assert_int_equal(oc_analyze(a.m, &opts, &other, &err), 0);
    struct oc_report_in p = {.model = a.m, .analysis = a.a}, q = {.model = a.m, .analysis = other};
    assert_int_equal(oc_diff_make(&p, &q, NULL, &d, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    oc_analysis_free(other);
    oc_run_free(&a);
}

static void recordings_of_a_side_need_profiles_of_one_model(void **state)
{
    (void)state;
    struct oc_run a = make_run(4, "Relu", false);
    struct oc_err err;
    struct oc_diff *d;
    const struct oc_report_in p = {.model = a.m, .analysis = a.a};
    const struct oc_diff_opts opts = {.more_b = &p, .n_more_b = 1};
    assert_int_equal(oc_diff_make(&p, &p, &opts, &d, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_non_null(strstr(err.msg, "need profiles of one model"));
    oc_run_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_models_have_equal_rows),
        cmocka_unit_test(attributes_at_their_default_are_unchanged),
        cmocka_unit_test(rows_are_changed_added_or_removed),
        cmocka_unit_test(unknown_rows_are_counted),
        cmocka_unit_test(rows_of_a_branch_of_unknown_cost_add_up_to_more),
        cmocka_unit_test(two_shapes_of_one_model_differ_in_costs),
        cmocka_unit_test(rows_follow_both_orders),
        cmocka_unit_test(fused_rows_report_the_number_of_their_nodes),
        cmocka_unit_test(a_node_that_is_not_counted_has_a_row_if_it_was_recorded),
        cmocka_unit_test(bytes_of_the_whole_graph_are_rejected),
        cmocka_unit_test(recordings_of_a_side_need_profiles_of_one_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
