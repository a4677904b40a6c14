/* Control flow in a profile: the branch with times, and the trip count of a body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "join/join.h"
#include "support/build.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static struct oc_model *load(struct oc_builder *b, uint8_t **bytes)
{
    size_t n;
    struct oc_model *m = NULL;
    struct oc_err err = {0};
    *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(*bytes, n, NULL, &m, &err))
        fail_msg("%s", err.msg);
    return m;
}

/* Records with only names, types and calls. */
struct seen {
    const char *name, *type;
    double calls_per_run;
    uint32_t parent;
};

static void make_profile(struct oc_profile *p, const struct seen *seen, uint32_t n)
{
    *p = (struct oc_profile){.format = "onnxruntime", .n_rec = n, .producer = "", .device = "CPU"};
    p->rec = OC_NEW_ARRAY(&p->arena, n, struct oc_prof_rec);
    for (uint32_t i = 0; i < n; i++)
        p->rec[i] = (struct oc_prof_rec){.name = seen[i].name,
                                         .op_type = seen[i].type,
                                         .provider = "",
                                         .precision = "",
                                         .index = -1,
                                         .parent = seen[i].parent,
                                         .calls = 1,
                                         .runs = 1,
                                         .calls_per_run = seen[i].calls_per_run,
                                         .time_ns = 1000,
                                         .self_ns = 1000};
}

static struct oc_builder *if_model(const char *otherwise)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "yes", "x", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, otherwise, "no", "x", "e", strcmp(otherwise, "Cast") == 0 ? "to=1" : "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    return b;
}

static void check_branches(const char *otherwise, const struct seen *seen, uint32_t n, int64_t wanted)
{
    uint8_t *bytes;
    struct oc_profile p;
    struct oc_control_bind *bind;
    struct oc_model *m = load(if_model(otherwise), &bytes);
    make_profile(&p, seen, n);
    size_t k = oc_profile_control(m, &p, &bind);
    assert_int_equal(k, wanted >= 0);
    if (k) {
        assert_int_equal(bind[0].node, 0);
        assert_int_equal(bind[0].value, wanted);
    }
    free(bind);
    oc_arena_free(&p.arena);
    oc_model_free(m);
    free(bytes);
}

static void check_if(const struct seen *seen, uint32_t n, int64_t wanted) /* -1: unknown */
{
    check_branches("Neg", seen, n, wanted);
}

/* Without a record the branch ran that has none: nodes that optimizations remove. */
static void branch_without_work_was_executed(void **state)
{
    (void)state;
    static const struct seen alone[] = {{"if", "If", 1, OC_NONE}};
    check_branches("Identity", alone, 1, 0);
    check_branches("Cast", alone, 1, 0);
    check_branches("Identity", (const struct seen[]){{"if", "If", 1, OC_NONE}, {"yes", "Relu", 1, 0}}, 2, 1);
}

static void branch_with_records_was_executed(void **state)
{
    (void)state;
    check_if((const struct seen[]){{"if", "If", 1, OC_NONE}, {"yes", "Relu", 1, 0}}, 2, 1);
    check_if((const struct seen[]){{"if", "If", 1, OC_NONE}, {"no", "Neg", 1, 0}}, 2, 0);
    check_if((const struct seen[]){{"if", "If", 1, OC_NONE}}, 1, -1);
    check_if((const struct seen[]){{"if", "If", 1, OC_NONE}, {"yes", "Relu", 1, 0}, {"no", "Neg", 1, 0}}, 3,
             -1);
}

/* Branches with the same types of nodes and no names differ in the shapes of their tensors: 3 rows are kept of "y". */
static void shapes_show_which_unnamed_branch_was_executed(void **state)
{
    (void)state;
    static struct oc_dim in[] = {{.v = 4}, {.v = 6}}, out[] = {{.v = 4}, {.v = 3}};
    static struct oc_type read = {.kind = OC_T_TENSOR, .shape = {.dim = in, .rank = 2, .ranked = true}},
                          made = {.kind = OC_T_TENSOR, .shape = {.dim = out, .rank = 2, .ranked = true}};
    static const struct seen seen[] = {
        {"If_0", "If", 1, OC_NONE}, {"Relu_0", "Relu", 1, 0}, {"Split_1", "Split", 1, 0}};
    for (int then = 0; then < 2; then++) {
        uint8_t *bytes;
        struct oc_profile p;
        struct oc_control_bind *bind;
        struct oc_builder *b = oc_b_new(13);
        oc_b_input(b, "x", "float[4,6]");
        oc_b_input(b, "c", "bool[]");
        oc_b_node(b, "If", NULL, "c", "y", "");
        for (int i = 0; i < 2; i++) {
            oc_b_open(b, i ? "else_branch" : "then_branch");
            oc_b_node(b, "Relu", NULL, "x", i ? "r1" : "r0", "");
            oc_b_node(b, "Split", NULL, i ? "r1" : "r0", i ? "s1,u1" : "s0,u0", i ? "axis=0" : "axis=1");
            oc_b_output(b, i ? "s1" : "s0", NULL);
            oc_b_close(b);
        }
        oc_b_output(b, "y", NULL);
        struct oc_model *m = load(b, &bytes);
        make_profile(&p, seen, 3);
        out[0].v = then ? 4 : 2;
        out[1].v = then ? 3 : 6;
        for (int i = 0; i < 3; i++)
            p.rec[i].index = i == 2;
        for (int i = 1; i < 3; i++) {
            p.rec[i].in = &read;
            p.rec[i].out = i == 2 ? &made : &read;
            p.rec[i].n_in = p.rec[i].n_out = 1;
            p.rec[i].has_in = p.rec[i].has_out = true;
        }
        size_t k = oc_profile_control(m, &p, &bind);
        assert_int_equal(k, 1);
        assert_int_equal(bind[0].value, then);
        free(bind);
        oc_arena_free(&p.arena);
        oc_model_free(m);
        free(bytes);
    }
}

static void trip_count_follows_from_calls(void **state)
{
    (void)state;
    uint8_t *bytes;
    struct oc_profile p;
    struct oc_control_bind *bind;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "m", "int64[]");
    oc_b_input(b, "x", "float[4]");
    oc_b_node(b, "Loop", "loop", "m,,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "v", "float[4]");
    oc_b_node(b, "Identity", "pass", "go", "go_on", "");
    oc_b_node(b, "Relu", "work", "v", "w", "");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "w", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct oc_model *m = load(b, &bytes);
    make_profile(&p, (const struct seen[]){{"loop", "Loop", 2, OC_NONE}, {"work", "Relu", 14, 0}}, 2);
    assert_int_equal(oc_profile_control(m, &p, &bind), 1);
    assert_int_equal(bind[0].value, 7); /* 14 calls of the body in 2 runs of the loop */
    assert_int_equal(bind[0].calls, 2);
    assert_int_equal(bind[0].body[0], 14);
    struct oc_control_bind *each;
    p.runs_used = 2;
    assert_int_equal(oc_profile_control(m, &p, &each), 1);
    assert_int_equal(each[0].calls, 1); /* of one run of the model */
    assert_int_equal(each[0].body[0], 7);
    assert_int_equal(each[0].value, 7);
    free(each);
    const struct oc_analyze_opts o = {.control = bind, .n_control = 1};
    struct oc_analysis *a = NULL;
    assert_int_equal(oc_analyze(m, &o, &a, NULL), 0);
    assert_int_equal(a->total->flops, 7 * 4);
    oc_analysis_free(a);
    free(bind);
    oc_arena_free(&p.arena);
    oc_model_free(m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(branch_with_records_was_executed),
                                       cmocka_unit_test(branch_without_work_was_executed),
                                       cmocka_unit_test(shapes_show_which_unnamed_branch_was_executed),
                                       cmocka_unit_test(trip_count_follows_from_calls)};
    return cmocka_run_group_tests_name("join/control_flow", tests, NULL, NULL);
}
