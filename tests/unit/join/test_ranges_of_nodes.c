/* Annotations with the names of nodes (record_function of PyTorch): records, runs, shapes, and the bytes of work that ran in
 * 16 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "base/arena.h"
#include "join/join.h"
#include "support/build.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

/* ---- a trace: "fc act" is a run of two ranges ------------------------------------------------------- */

struct tracing {
    struct oc_buf b;
    unsigned us, launch;
};

static void add_event(struct tracing *t, const char *cat, const char *name, unsigned us, unsigned dur,
                      const char *args)
{
    bool device = strcmp(cat, "kernel") == 0;
    oc_buf_printf(&t->b,
                  "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": 7, \"ts\": %u, "
                  "\"dur\": %u, "
                  "\"args\": {%s}}",
                  t->b.data[t->b.n - 1] == '[' ? "" : ",\n", cat, name, device ? 0 : 9, us, dur, args);
}

/* An operator that launches one kernel. */
static void add_operator(struct tracing *t, const char *name, const char *shapes, unsigned kernel_us)
{
    char args[200];
    t->launch++;
    snprintf(args, sizeof(args), "\"Input Dims\": [%s], \"Input type\": [\"c10::Half\", \"c10::Half\"]",
             shapes);
    add_event(t, "cpu_op", name, t->us + 1, 8, args);
    snprintf(args, sizeof(args), "\"correlation\": %u", t->launch);
    add_event(t, "cuda_runtime", "cudaLaunchKernel", t->us + 2, 1, args);
    snprintf(args, sizeof(args), "\"correlation\": %u, \"device\": 0, \"stream\": 7", t->launch);
    add_event(t, "kernel", name + 6, t->us + 20, kernel_us, args);
    t->us += 10;
}

/* The ranges of a text such as "fc act fc": fc has a product, act two operators; in other ones one operator. */
static void add_ranges(struct tracing *t, const char *text)
{
    char copy[200], *save = NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        bool act = strcmp(name, "act") == 0;
        add_event(t, "user_annotation", name, t->us, act ? 22 : 12, "");
        add_operator(t, act ? "aten::relu" : "aten::mm", act ? "[4, 8]" : "[4, 8], [8, 8]", 3);
        if (act)
            add_operator(t, "aten::copy", "[4, 8], [4, 8]", 2);
        t->us += 30;
    }
}

/* ---- its join with MatMul, Relu --------------------------------------------------------------------- */

struct joined {
    struct oc_model *m;
    struct oc_profile *p;
    struct oc_analysis *a;
    struct oc_join *j;
    uint8_t *bytes;
};

/* MatMul with weights in float32, or in int8 with a scale. */
static struct oc_builder *build(const char *second_name, bool quantized)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,8]");
    oc_b_init(b, quantized ? "q" : "w", quantized ? "int8[8,8]" : "float[8,8]");
    if (quantized) {
        oc_b_init(b, "s", "float[]{0.5}");
        oc_b_node(b, "DequantizeLinear", "dq", "q,s", "w", "");
    }
    oc_b_node(b, "MatMul", "fc", "x,w", "y", "");
    oc_b_node(b, "Relu", second_name, "y", "z", "");
    oc_b_output(b, "z", NULL);
    return b;
}

static struct joined join_model(struct oc_builder *b, const char *ranges, bool with_names)
{
    struct joined x;
    struct tracing t = {.us = 100};
    struct oc_err err = {0};
    size_t n;
    x.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(x.bytes, n, NULL, &x.m, &err), 0);
    oc_buf_str(&t.b, "{\"schemaVersion\": 1, \"traceEvents\": [");
    add_ranges(&t, ranges);
    oc_buf_str(&t.b, "]}");
    struct oc_operator_names *names = with_names ? oc_operator_names_make(x.m) : NULL;
    const struct oc_profile_opts opts = {.operators = names, .warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEAN};
    x.p = t_profile_text(t.b.data, &opts, &err);
    oc_operator_names_free(names);
    oc_buf_free(&t.b);
    if (!x.p || oc_analyze(x.m, NULL, &x.a, &err) || oc_join_make(x.m, x.a, x.p, NULL, &x.j, &err))
        fail_msg("%s", err.msg);
    return x;
}

static struct joined join(const char *ranges, const char *second_name, bool with_names)
{
    return join_model(build(second_name, false), ranges, with_names);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_analysis_free(x->a);
    oc_profile_close(x->p);
    oc_model_free(x->m);
    free(x->bytes);
}

/* A kernel that no operator launched has the name of a node: the source does not say that it is of this node. */
static void kernels_without_an_operator_match_no_node(void **state)
{
    (void)state;
    static const char trace[] = "{\"schemaVersion\": 1, \"traceEvents\": ["
                                "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 5, "
                                "\"tid\": 5, \"ts\": 10, \"dur\": 9},"
                                "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
                                "\"pid\": 5, \"tid\": 5, \"ts\": 12, "
                                "\"dur\": 2, \"args\": {\"correlation\": 1}},"
                                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, "
                                "\"tid\": 7, \"ts\": 20, \"dur\": 50, "
                                "\"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 1}},"
                                "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"act\", \"pid\": 0, "
                                "\"tid\": 7, \"ts\": 80, \"dur\": 5, "
                                "\"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 2}}]}";
    struct oc_builder *b = build("act", false);
    struct joined x = {NULL, NULL, NULL, NULL, NULL};
    struct oc_err err = {0};
    size_t n;
    x.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(x.bytes, n, NULL, &x.m, &err), 0);
    x.p = t_profile_text(trace, NULL, &err);
    if (!x.p || oc_analyze(x.m, NULL, &x.a, &err) || oc_join_make(x.m, x.a, x.p, NULL, &x.j, &err))
        fail_msg("%s", err.msg);
    const struct oc_prof_rec *act = t_rec(x.p, "act");
    assert_string_equal(act->rest, "(kernels without an operator)");
    assert_int_equal(x.j->rec[act - x.p->rec].n_node, 0);
    assert_string_equal(x.j->rec[act - x.p->rec].bucket, "unmatched");
    assert_true(x.j->unmatched_ns == 5000);
    joined_free(&x);
}

static void ranges_are_nodes_and_show_the_runs(void **state)
{
    (void)state;
    struct joined x = join("fc act fc act fc act", "act", true);
    const struct oc_prof_rec *fc = t_rec(x.p, "fc"), *act = t_rec(x.p, "act");
    assert_non_null(fc);
    assert_non_null(act);
    assert_null(t_rec(x.p, "aten::mm"));
    assert_string_equal(fc->op_type, "MatMul");
    assert_string_equal(act->op_type, "Relu");
    assert_int_equal(x.p->runs_total, 3);
    assert_int_equal(x.p->runs_from, OC_RUNS_MARKED);
    assert_true(fc->kernel_ns == 3000 && act->kernel_ns == 5000);
    assert_true(fc->calls == 3 && fc->calls_per_run == 1);
    /* the shapes of the only operator inside; there are two in act */
    assert_true(fc->has_in && fc->n_in == 2 && fc->in[0].dtype == OC_DT_FLOAT16);
    assert_false(act->has_in);
    assert_true(x.j->time_matched_fraction == 1);
    joined_free(&x);
}

/* The model has float32: 4 bytes for each element. */
static void tensors_that_ran_in_float16_have_two_bytes_per_element(void **state)
{
    (void)state;
    struct joined x = join("fc act fc act", "act", true);
    const struct oc_join_rec *fc = &x.j->rec[t_rec(x.p, "fc") - x.p->rec];
    const struct oc_join_rec *act = &x.j->rec[t_rec(x.p, "act") - x.p->rec];
    assert_int_equal(fc->rd_act, 4 * 8 * 2);
    assert_int_equal(fc->rd_wt, 8 * 8 * 2);
    assert_int_equal(fc->wr, 4 * 8 * 2);
    assert_int_equal(fc->macs, 4 * 8 * 8);
    assert_int_equal(fc->float_class, OC_CLASS_F16);
    assert_string_equal(fc->note, "bytes of float16, as recorded");
    /* no types of its own: those of all others */
    assert_string_equal(act->note, "bytes of float16, assumed: the recorded type of other operators");
    assert_int_equal(act->rd_act + act->wr, 2 * 4 * 8 * 2);
    joined_free(&x);
}

/* Weights are read as they are stored: 8 x 8 bytes and the scale. */
static void quantized_weights_keep_their_bytes(void **state)
{
    (void)state;
    struct joined x = join_model(build("act", true), "fc act fc act", true);
    const struct oc_join_rec *fc = &x.j->rec[t_rec(x.p, "fc") - x.p->rec];
    assert_int_equal(fc->rd_act, 4 * 8 * 2);
    assert_int_equal(fc->rd_wt, 8 * 8 + 4);
    joined_free(&x);
}

static void runs_need_the_same_nodes_in_the_same_order(void **state)
{
    static const struct {
        const char *ranges;
        unsigned runs;
    } row[] = {
        {"fc act", 1},
        {"fc act fc act fc", 2}, /* the third is cut short */
        {"fc fc act fc fc act", 0},
        {"fc act act fc act act", 0},
        {"fc act fc fc act", 0},
        {"fc", 1},
        {"fc act forward fc act forward", 0}, /* a run has more work than the nodes */
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct joined x = join(row[i].ranges, "act", true);
        if (x.p->runs_total != row[i].runs)
            fail_msg("%s: %u runs", row[i].ranges, x.p->runs_total);
        assert_non_null(t_rec(x.p, "fc"));
        joined_free(&x);
    }
}

static void other_ranges_are_annotations(void **state)
{
    (void)state;
    struct joined x = join("forward fc", "act", true); /* one of them is a node */
    assert_non_null(t_rec(x.p, "aten::mm"));
    assert_non_null(t_rec(x.p, "fc"));
    assert_null(t_rec(x.p, "forward"));
    joined_free(&x);
    x = join("fc fc", "fc", true); /* two nodes have this name */
    assert_null(t_rec(x.p, "fc"));
    joined_free(&x);
    x = join("fc act", "act", false);
    assert_null(t_rec(x.p, "fc"));
    assert_non_null(t_rec(x.p, "aten::mm"));
    joined_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_without_an_operator_match_no_node),
        cmocka_unit_test(ranges_are_nodes_and_show_the_runs),
        cmocka_unit_test(tensors_that_ran_in_float16_have_two_bytes_per_element),
        cmocka_unit_test(quantized_weights_keep_their_bytes),
        cmocka_unit_test(runs_need_the_same_nodes_in_the_same_order),
        cmocka_unit_test(other_ranges_are_annotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
