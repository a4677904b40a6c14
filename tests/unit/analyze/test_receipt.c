/* Cost breakdowns: the numbers from which the counts of one node follow. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/receipt.h"
#include "support/build.h"
#include "zoo.h"
#include "onnxcost.h"

struct run {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_arena arena;
    struct oc_err err;
};

static struct run run_with(struct oc_builder *b, const struct oc_analyze_opts *o)
{
    struct run r = {0};
    size_t n;
    r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &r.err) || oc_analyze(r.m, o, &r.a, &r.err))
        fail_msg("%s", r.err.msg);
    return r;
}

static void run_free(struct run *r)
{
    oc_arena_free(&r->arena);
    oc_analysis_free(r->a);
    oc_model_free(r->m);
    free(r->bytes);
}

/* By its label. */
static uint32_t find_node(struct run *r, const char *name)
{
    char label[64];
    for (uint32_t i = 0; i < r->m->n_node; i++)
        if (!strcmp(oc_node_label(r->m, &r->m->node[i], label, sizeof(label)), name))
            return i;
    fail_msg("no node %s", name);
    return 0;
}

static const struct oc_formula_term *find_term(const struct oc_receipt *x, unsigned prim)
{
    for (uint32_t i = 0; i < x->formula.n_term; i++)
        if (x->formula.term[i].prim == prim)
            return &x->formula.term[i];
    return NULL;
}

static struct oc_builder *conv_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,3,?,32]");
    oc_b_init(b, "w", "float[8,3,3,3]");
    oc_b_init(b, "b", "float[8]");
    oc_b_init(b, "shape", "int64[2]{0,-1}");
    oc_b_node(b, "Conv", "conv", "x,w,b", "y", "pads=1,1,1,1");
    oc_b_node(b, "Add", "twice", "y,y", "z", "");
    oc_b_node(b, "Reshape", "flat", "z,shape", "f", "");
    oc_b_node(b, "Relu", NULL, "f", "o", "");
    oc_b_output(b, "o", NULL);
    return b;
}

/* x {2,3,16,32}: MAC = 2*8*(16*32*9)*3 = 221,184, ADD = 2*8*16*32 = 8192 */
static void breakdown_contains_the_formula_with_numbers(void **state)
{
    const struct oc_bind bind[] = {{"N", 2}, {"x.2", 16}};
    const struct oc_analyze_opts o = {.bind = bind, .n_bind = 2};
    struct run r = run_with(conv_model(), &o);
    struct oc_recount *recount = oc_recount_new(r.a);
    struct oc_receipt x;
    (void)state;
    assert_true(oc_recount_node(recount, find_node(&r, "conv"), true, &x));
    assert_string_equal(find_term(&x, OC_MAC)->expr, "N*M*taps*Cg");
    assert_string_equal(find_term(&x, OC_MAC)->numbers, "2*8*4608*3");
    assert_int_equal(find_term(&x, OC_MAC)->value, 221184);
    assert_string_equal(find_term(&x, OC_ADD)->numbers, "1*8192");
    assert_int_equal(x.flops, 2 * 221184 + 8192);
    assert_int_equal(x.flops, r.a->cost[find_node(&r, "conv")].flops);
    oc_recount_free(recount);
    run_free(&r);
}

static void breakdown_contains_the_bytes_of_each_tensor(void **state)
{
    const struct oc_bind bind[] = {{"N", 2}, {"x.2", 16}};
    const struct oc_analyze_opts o = {.bind = bind, .n_bind = 2};
    struct run r = run_with(conv_model(), &o);
    struct oc_recount *recount = oc_recount_new(r.a);
    struct oc_receipt x;
    (void)state;
    assert_true(oc_recount_node(recount, find_node(&r, "conv"), true, &x));
    assert_int_equal(x.in[0].moved, 2 * 3 * 16 * 32 * 4);
    assert_int_equal(x.in[1].moved, 8 * 27 * 4);
    assert_null(x.in[0].why);
    assert_true(oc_recount_node(recount, find_node(&r, "twice"), true, &x)); /* reads y once */
    assert_int_equal(x.in[0].moved, 32768);
    assert_int_equal(x.in[1].moved, 0);
    assert_int_equal(x.in[1].whole, 32768);
    assert_string_equal(x.in[1].why, "the same tensor as input 0");
    assert_true(oc_recount_node(recount, find_node(&r, "flat"), true, &x));
    assert_string_equal(x.in[0].why, "a view: no bytes move");
    assert_int_equal(x.formula.n_term, 0);
    oc_recount_free(recount);
    run_free(&r);
}

static void breakdown_names_the_sources_of_dimensions(void **state)
{
    const struct oc_bind bind[] = {{"x.2", 16}};
    const struct oc_analyze_opts o = {.bind = bind, .n_bind = 1};
    struct run r = run_with(conv_model(), &o);
    const struct oc_node *conv = &r.m->node[find_node(&r, "conv")];
    static const char *const x[] = {"N: default for a batch", "declared", "x.2: --dim", "declared"};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(oc_dim_source(r.a, &r.arena, conv->in[0], i), x[i]);
    assert_string_equal(oc_dim_source(r.a, &r.arena, conv->in[1], 0), "of the initializer");
    assert_string_equal(oc_dim_source(r.a, &r.arena, conv->out[0], 0), "inferred by conv");
    assert_string_equal(oc_value_source(r.a, &r.arena, conv->in[0]), "graph input");
    run_free(&r);
    const int64_t dim[] = {1, 3, 8, 32};
    const struct oc_shape_bind shape = {.input = "x", .rank = 4, .dim = dim};
    const struct oc_analyze_opts s = {.shape = &shape, .n_shape = 1};
    r = run_with(conv_model(), &s);
    assert_string_equal(oc_dim_source(r.a, &r.arena, r.m->node[0].in[0], 0), "--shape");
    run_free(&r);
}

/* w int8 {4,6} with a float scale: read as 24 + 4 bytes instead of 96, 24 DEQ; in a Loop of 5. */
static void breakdown_of_stored_weights_in_loops(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,4]");
    oc_b_init(b, "w", "int8[4,6]");
    oc_b_init(b, "s", "float[]{0.5}");
    oc_b_init(b, "five", "int64[]{5}");
    oc_b_init(b, "true", "bool[]{1}");
    oc_b_node(b, "DequantizeLinear", "dq", "w,s", "wf", "");
    oc_b_node(b, "Loop", "loop", "five,true", "all", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "Identity", "id", "c", "c2", "");
    oc_b_node(b, "MatMul", "mm", "x,wf", "y", "");
    oc_b_output(b, "c2", NULL);
    oc_b_output(b, "y", NULL);
    oc_b_close(b);
    oc_b_output(b, "all", NULL);
    struct run r = run_with(b, NULL);
    struct oc_recount *recount = oc_recount_new(r.a);
    struct oc_receipt x;
    assert_true(oc_recount_node(recount, find_node(&r, "mm"), true, &x));
    assert_int_equal(x.dequantized, 24);
    assert_int_equal(x.in[1].moved, 28);
    assert_int_equal(x.in[1].whole, 96);
    assert_string_equal(x.in[1].why, "in its stored form, before dq");
    assert_int_equal(x.flops, 2 * 2 * 4 * 6);
    assert_int_equal(r.a->cost[find_node(&r, "mm")].flops, 5 * x.flops);
    assert_int_equal(r.a->cost[find_node(&r, "mm")].trips, 5);
    assert_false(oc_recount_node(recount, find_node(&r, "dq"), true, &x));
    assert_string_equal(oc_node_reason(&r.a->cost[find_node(&r, "dq")]),
                        "weights are dequantized by their consumers");
    assert_string_equal(oc_node_reason(&r.a->cost[find_node(&r, "loop")]), "its cost is that of its body");
    oc_recount_free(recount);
    run_free(&r);
}

/* Every node of the zoo, counted again: equal to the analysis; every formula equals its histogram. */
static void check_equals_analysis(struct run *r)
{
    struct oc_recount *recount = oc_recount_new(r->a);
    uint64_t total = 0;
    for (uint32_t i = 0; i < r->m->n_node; i++) {
        struct oc_receipt x;
        if (!oc_recount_node(recount, i, true, &x))
            continue;
        uint64_t rd = 0, wr = 0, sum[OC_PRIM_COUNT] = {0};
        for (uint32_t k = 0; k < r->m->node[i].n_in; k++)
            rd += x.in[k].moved;
        for (uint32_t k = 0; k < r->m->node[i].n_out; k++)
            wr += x.out[k].moved;
        assert_int_equal(rd, r->a->cost[i].rd_act + r->a->cost[i].rd_wt);
        assert_int_equal(wr, r->a->cost[i].wr);
        assert_int_equal(x.flops, r->a->cost[i].flops + r->a->cost[i].ops);
        assert_int_equal(x.flops, x.parts.mac_part + x.parts.rest);
        for (uint32_t k = 0; k < x.formula.n_term; k++) {
            assert_true(x.formula.term[k].known);
            sum[x.formula.term[k].prim] += x.formula.term[k].value;
        }
        for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
            assert_int_equal(sum[p], x.cost.hist_f[p] + x.cost.hist_i[p] - (p == OC_DEQ ? x.dequantized : 0));
        total += x.flops;
    }
    assert_int_equal(total, r->a->total->flops + r->a->total->ops);
    oc_recount_free(recount);
}

static void breakdowns_of_all_zoo_models_equal_the_analysis(void **state)
{
    static const char *const convention[] = {NULL, "onnxcost", "mge", "onnx-tool", "fvcore", "xla"};
    (void)state;
    for (size_t i = 0; i < zoo_model_count; i++) {
        struct zoo z;
        zoo_init(&z, 17);
        zoo_models[i].build(&z);
        const struct oc_analyze_opts o = {.convention = convention[i % OC_COUNT(convention)]};
        struct run r = {0};
        size_t n;
        r.bytes = oc_b_pack(z.b, &n);
        zoo_free(&z);
        if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &r.err) || oc_analyze(r.m, &o, &r.a, &r.err))
            fail_msg("%s: %s", zoo_models[i].name, r.err.msg);
        check_equals_analysis(&r);
        run_free(&r);
    }
}

/* The same for real models. */
static void breakdowns_of_sample_models_equal_the_analysis(void **state)
{
    static const char *const pattern[] = {"../shared/samples/*/*.onnx", "../shared/samples/*/*/*.onnx"};
    glob_t found = {0};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(pattern); i++)
        glob(pattern[i], i ? GLOB_APPEND : 0, NULL, &found);
    if (!found.gl_pathc) {
        globfree(&found);
        print_message("SKIPPED: no samples in ../shared/samples\n");
        skip();
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct run r = {0};
        if (oc_model_load(found.gl_pathv[i], NULL, &r.m, &r.err) || oc_analyze(r.m, NULL, &r.a, &r.err))
            fail_msg("%s", r.err.msg);
        check_equals_analysis(&r);
        run_free(&r);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breakdown_contains_the_formula_with_numbers),
        cmocka_unit_test(breakdown_contains_the_bytes_of_each_tensor),
        cmocka_unit_test(breakdown_names_the_sources_of_dimensions),
        cmocka_unit_test(breakdowns_of_all_zoo_models_equal_the_analysis),
        cmocka_unit_test(breakdowns_of_sample_models_equal_the_analysis),
        cmocka_unit_test(breakdown_of_stored_weights_in_loops),
    };
    return cmocka_run_group_tests_name("analyze/breakdown", tests, NULL, NULL);
}
