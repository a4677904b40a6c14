/* What names do not say: order of execution, equal nodes, nodes with a record of their own, conservation of work. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join.h"
#include "support/profiles.h"
#include "support/run_model.h"
#include "onnxcost.h"

#define F(shape) "{\"float\":[" shape "]}"
#define RUN      "{\"cat\":\"Session\",\"tid\":1,\"dur\":1000,\"ts\":0,\"name\":\"model_run\",\"args\":{}}"
#define EVENT(ts, name, type, index, in, out)                                                                \
    ",{\"cat\":\"Node\",\"tid\":1,\"dur\":10,\"ts\":" #ts ",\"name\":\"" name                                \
    "_kernel_time\",\"args\":{\"op_name\":\"" type "\",\"node_index\":\"" #index                             \
    "\",\"input_type_shape\":[" in "],\"output_type_shape\":[" out "]}}"

struct joined {
    struct oc_run r;
    struct oc_profile *p;
    struct oc_join *j;
    struct oc_model *optimized;
    uint8_t *optimized_bytes;
    uint32_t removed, unmatched, warnings; /* nodes without time, records without nodes */
};

static void join(struct joined *x, struct oc_builder *b, struct oc_builder *optimized, const char *trace)
{
    struct oc_err e;
    size_t n;
    x->r = oc_run_model(b, NULL);
    x->p = t_profile_text(trace, NULL, &e);
    assert_non_null(x->p);
    if (optimized) {
        x->optimized_bytes = oc_b_pack(optimized, &n);
        oc_b_free(optimized);
        assert_int_equal(oc_model_load_mem(x->optimized_bytes, n, NULL, &x->optimized, &e), 0);
    }
    assert_int_equal(oc_join_make(x->r.m, x->r.a, x->p, x->optimized, &x->j, &e), 0);
    assert_int_equal(x->j->n_unmatched, x->unmatched);
    assert_int_equal(x->j->nodes_without_time, x->removed);
    assert_int_equal(x->j->diags.n, x->unmatched + x->warnings);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_profile_close(x->p);
    oc_model_free(x->optimized);
    oc_run_free(&x->r);
    free(x->optimized_bytes);
}

static const struct oc_join_rec *find_record(const struct joined *x, const char *name)
{
    const struct oc_prof_rec *r = t_rec(x->p, name);
    assert_non_null(r);
    return &x->j->rec[r - x->p->rec];
}

static void assert_nodes(const struct joined *x, const char *name, const char *want)
{
    const struct oc_join_rec *r = find_record(x, name);
    char text[200] = "", label[64];
    for (uint32_t i = 0; i < r->n_node; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
                 oc_node_label(x->r.m, &x->r.m->node[r->node[i]], label, sizeof(label)));
    assert_string_equal(text, want);
}

/* Without names: x * Sigmoid(x) after each convolution is a QuickGelu of its own, and no activation. */
static void unnamed_fusions_of_their_own_type_do_not_join_the_convolution(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "w0", "float[16,16,1,1]");
    oc_b_init(b, "w1", "float[16,16,1,1]");
    oc_b_node(b, "Conv", NULL, "x,w0", "c0", "");
    oc_b_node(b, "Sigmoid", NULL, "c0", "s0", "");
    oc_b_node(b, "Mul", NULL, "c0,s0", "m0", "");
    oc_b_node(b, "Conv", NULL, "m0,w1", "c1", "");
    oc_b_node(b, "Sigmoid", NULL, "c1", "s1", "");
    oc_b_node(b, "Mul", NULL, "c1,s1", "m1", "");
    oc_b_output(b, "m1", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "c0_nchwc", "Conv", 10, F("1,16,8,8"), F("1,16,8,8"))
             EVENT(30, "/QuickGeluFusion/", "QuickGelu", 8, F("1,16,8,8"),
                   F("1,16,8,8")) EVENT(50, "c1_nchwc", "Conv", 11, F("1,16,8,8"), F("1,16,8,8"))
                 EVENT(70, "/QuickGeluFusion/_token_0", "QuickGelu", 9, F("1,16,8,8"), F("1,16,8,8")) "]");
    assert_nodes(&x, "c0_nchwc", "Conv_0");
    assert_nodes(&x, "/QuickGeluFusion/", "Sigmoid_1 Mul_2");
    assert_nodes(&x, "c1_nchwc", "Conv_3");
    assert_nodes(&x, "/QuickGeluFusion/_token_0", "Sigmoid_4 Mul_5");
    joined_free(&x);
}

/* A product runs after the nodes that it depends on, whatever the numbers in the names. */
static void products_without_names_run_after_what_they_read(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "k", "float[8]");
    oc_b_node(b, "MatMul", NULL, "x,w", "a", "");
    oc_b_node(b, "Add", NULL, "a,k", "b", "");
    oc_b_node(b, "Tanh", NULL, "b", "c", "");
    oc_b_node(b, "MatMul", NULL, "c,w", "d", "");
    oc_b_node(b, "Add", NULL, "d,k", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "/MatMulAddFusion_token_1", "Gemm", 8, F("4,8"), F("4,8"))
             EVENT(30, "Tanh_2", "Tanh", 2, F("4,8"), F("4,8"))
                 EVENT(50, "/MatMulAddFusion", "Gemm", 5, F("4,8"), F("4,8")) "]");
    assert_nodes(&x, "/MatMulAddFusion_token_1", "MatMul_0 Add_1");
    assert_nodes(&x, "/MatMulAddFusion", "MatMul_3 Add_4");
    joined_free(&x);
}

/* 4 x 8 x 8 MACs each; `second` reads the weights of the first product, or others. */
static struct oc_builder *two_products(const char *second)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,8]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "v", "float[8,8]");
    oc_b_node(b, "MatMul", "one", "x,w", "a", "");
    oc_b_node(b, "MatMul", "two", second, "b", "");
    oc_b_node(b, "Add", "sum", "a,b", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static const char two_products_trace[] = "[" RUN EVENT(10, "one", "MatMul", 0, F("4,8"), F("4,8"))
    EVENT(30, "sum", "Add", 2, F("4,8") "," F("4,8"), F("4,8")) "]";

static void equal_nodes_are_eliminated_not_lost(void **state)
{
    (void)state;
    struct joined x = {.removed = 1};
    join(&x, two_products("x,w"), NULL, two_products_trace);
    assert_true(x.j->work.known);
    assert_int_equal(x.j->work.model_macs, 512);
    assert_int_equal(x.j->work.row_macs, 256);
    assert_int_equal(x.j->work.eliminated_macs, 256);
    assert_int_equal(x.j->work.lost_macs, 0);
    joined_free(&x);
}

/* The runtime may keep the later of equal nodes: what reads the other one does not compute it. */
static void the_later_of_equal_nodes_may_be_the_one_that_ran(void **state)
{
    (void)state;
    static const char trace[] = "[" RUN EVENT(10, "two", "MatMul", 1, F("4,8"), F("4,8"))
        EVENT(30, "sum", "Add", 2, F("4,8") "," F("4,8"), F("4,8")) "]";
    for (int saved = 0; saved < 2; saved++) {
        struct joined x = {.removed = 1};
        struct oc_builder *o = saved ? oc_b_new(17) : NULL;
        if (saved) {
            oc_b_input(o, "x", "float[4,8]");
            oc_b_init(o, "w", "float[8,8]");
            oc_b_node(o, "MatMul", "two", "x,w", "b", "");
            oc_b_node(o, "Add", "sum", "b,b", "y", "");
            oc_b_output(o, "y", NULL);
        }
        join(&x, two_products("x,w"), o, trace);
        assert_nodes(&x, "two", "two");
        assert_nodes(&x, "sum", "sum");
        assert_int_equal(x.j->work.row_macs, 256);
        assert_int_equal(x.j->work.eliminated_macs, 256);
        joined_free(&x);
    }
}

/* Weights that are computed in the same way are equal: the same shape, filled with the same number. */
static void products_of_equal_computed_weights_are_equal(void **state)
{
    (void)state;
    struct joined x = {.removed = 1};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4,8]");
    oc_b_init(b, "s", "int64[2]{8,8}");
    oc_b_init(b, "s2", "int64[2]{8,8}");
    oc_b_node(b, "ConstantOfShape", "fill", "s", "w", "");
    oc_b_node(b, "ConstantOfShape", "fill2", "s2", "v", "");
    oc_b_node(b, "MatMul", "one", "x,w", "a", "");
    oc_b_node(b, "MatMul", "two", "x,v", "b", "");
    oc_b_node(b, "Add", "sum", "a,b", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, NULL, two_products_trace);
    assert_int_equal(x.j->work.row_macs, 256);
    assert_int_equal(x.j->work.eliminated_macs, 256);
    joined_free(&x);
}

/* The runtime moves a Transpose to a place after other operators: it does not say when the nodes after it run. */
static void a_transpose_that_was_moved_says_nothing_about_times(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[8,4]");
    oc_b_init(b, "w", "float[8,8]");
    oc_b_init(b, "k", "float[8]");
    oc_b_node(b, "Transpose", "turn", "x", "t", "perm=1,0");
    oc_b_node(b, "MatMul", NULL, "t,w", "a", "");
    oc_b_node(b, "Add", NULL, "a,k", "y", "");
    oc_b_output(b, "y", NULL);
    join(&x, b, NULL,
         "[" RUN EVENT(10, "/MatMulAddFusion", "Gemm", 5, F("4,8"), F("4,8"))
             EVENT(30, "turn", "Transpose", 0, F("8,4"), F("4,8")) "]");
    assert_nodes(&x, "/MatMulAddFusion", "MatMul_1 Add_2");
    joined_free(&x);
}

static void work_without_a_row_is_a_warning(void **state)
{
    (void)state;
    struct joined x = {.removed = 1, .warnings = 1};
    join(&x, two_products("x,v"), NULL, two_products_trace);
    assert_int_equal(x.j->work.row_macs, 256);
    assert_int_equal(x.j->work.lost_macs, 256);
    assert_string_equal(x.j->diags.item[0].code, "W-work");
    assert_non_null(strstr(x.j->diags.item[0].text, "(50.0 %)"));
    assert_non_null(strstr(x.j->diags.item[0].text, "two"));
    joined_free(&x);
}

/* The saved tensors around HardSigmoid and Mul have other names: they stay in their own records. */
static void saved_nodes_leave_others_what_their_index_says(void **state)
{
    (void)state;
    struct joined x = {0};
    struct oc_builder *b = oc_b_new(17), *o = oc_b_new(17);
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "w", "float[16,16,1,1]");
    oc_b_node(b, "Conv", NULL, "x,w", "c", "");
    oc_b_node(b, "HardSigmoid", NULL, "c", "h", "");
    oc_b_node(b, "Mul", NULL, "c,h", "m", "");
    oc_b_node(b, "Conv", NULL, "m,w", "d", "");
    oc_b_output(b, "d", NULL);
    oc_b_input(o, "x", "float[1,16,8,8]");
    oc_b_init(o, "w", "float[16,16,1,1]");
    oc_b_node(o, "com.microsoft.nchwc::Conv", "c_nchwc", "x,w", "t1", "");
    oc_b_node(o, "HardSigmoid", NULL, "t1", "t2", "");
    oc_b_node(o, "Mul", NULL, "t1,t2", "t3", "");
    oc_b_node(o, "com.microsoft.nchwc::Conv", "d_nchwc", "t3,w", "d", "");
    oc_b_output(o, "d", NULL);
    join(&x, b, o,
         "[" RUN EVENT(10, "c_nchwc", "Conv", 8, F("1,16,8,8"), F("1,16,8,8"))
             EVENT(30, "HardSigmoid_1", "HardSigmoid", 1, F("1,16,8,8"), F("1,16,8,8"))
                 EVENT(50, "Mul_2", "Mul", 2, F("1,16,8,8") "," F("1,16,8,8"), F("1,16,8,8"))
                     EVENT(70, "d_nchwc", "Conv", 9, F("1,16,8,8"), F("1,16,8,8")) "]");
    assert_nodes(&x, "HardSigmoid_1", "HardSigmoid_1");
    assert_nodes(&x, "Mul_2", "Mul_2");
    assert_nodes(&x, "d_nchwc", "Conv_3");
    assert_int_equal(x.j->work.row_macs, x.j->work.model_macs);
    joined_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unnamed_fusions_of_their_own_type_do_not_join_the_convolution),
        cmocka_unit_test(products_without_names_run_after_what_they_read),
        cmocka_unit_test(equal_nodes_are_eliminated_not_lost),
        cmocka_unit_test(the_later_of_equal_nodes_may_be_the_one_that_ran),
        cmocka_unit_test(products_of_equal_computed_weights_are_equal),
        cmocka_unit_test(a_transpose_that_was_moved_says_nothing_about_times),
        cmocka_unit_test(work_without_a_row_is_a_warning),
        cmocka_unit_test(saved_nodes_leave_others_what_their_index_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
