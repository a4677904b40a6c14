/* The analysis as a whole: binding of symbols, merging with declarations, control flow, functions, constants,
 * totals. Formulas of single operators are tested in tests/unit/ops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/engine.h"
#include "support/run_model.h"
#include "onnxcost.h"

static struct oc_builder *relu_of(const char *type)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", type);
    oc_b_node(b, "Relu", "n", "x", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* Documented defaults: batch-like and leading 1, heights and widths 224, sequences 128, pasts 0, others 1. */
static void unbound_symbols_take_documented_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *declared, *bound;
        unsigned assumptions;
    } row[] = {
        {"float[N,3,H,W]", "float[1,3,224,224]", 3},
        {"float[?,3,?,?]", "float[1,3,224,224]", 3},
        {"int64[batch,sequence]", "int64[1,128]", 2},
        {"float[batch,8,past_len,64]", "float[1,8,0,64]", 2},
        {"float[3,K]", "float[3,1]", 1},
        {"float[s,s]", "float[1,1]", 1},
        {"float[2,3]", "float[2,3]", 0},
        {"float[]", "float[]", 0},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_run r = oc_run_model(relu_of(row[i].declared), NULL);
        assert_string_equal(oc_run_type(&r, "y"), row[i].bound);
        assert_int_equal(r.a->n_assumption, row[i].assumptions);
        oc_run_free(&r);
    }
}

static void dim_and_shape_options_bind_symbols(void **state)
{
    (void)state;
    const struct oc_bind bind[] = {{"N", 4}, {"x.2", 48}};
    struct oc_analyze_opts o = {.bind = bind, .n_bind = 2};
    struct oc_run r = oc_run_model(relu_of("float[N,3,?,N]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[4,3,48,4]");
    assert_int_equal(r.a->n_assumption, 0);
    oc_run_free(&r);
    o = (struct oc_analyze_opts){.bind = bind, .n_bind = 1};
    r = oc_run_model(relu_of("float[M,?]"), &o);
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "no dimension is named 'N'; open dimensions: 'M' 'x.1'"));
    oc_run_free(&r);
    r = oc_run_model(relu_of("float[M,M]"), &o); /* once each */
    assert_string_equal(strstr(r.err.msg, "open dimensions:"), "open dimensions: 'M'");
    oc_run_free(&r);
    const struct oc_bind twice[] = {{"N", 4}, {"N", 8}};
    r = oc_run_model(relu_of("float[N,3]"), &(struct oc_analyze_opts){.bind = twice, .n_bind = 2});
    assert_non_null(strstr(r.err.msg, "dimension 'N' is given more than once"));
    oc_run_free(&r);
    static const int64_t dims[] = {2, 3};
    const struct oc_shape_bind both[] = {{.input = "x", .rank = 2, .dim = dims},
                                         {.input = "x", .rank = 2, .dim = dims}};
    r = oc_run_model(relu_of("float[N,3]"), &(struct oc_analyze_opts){.shape = both, .n_shape = 2});
    assert_non_null(strstr(r.err.msg, "the shape of input 'x' is given more than once"));
    oc_run_free(&r);
    r = oc_run_model(relu_of("float[2,3]"), &o);
    assert_non_null(strstr(r.err.msg, "no dimension is named 'N': all dimensions of the inputs are numbers"));
    oc_run_free(&r);
    r = oc_run_model(relu_of("float[N,3]"),
                     &(struct oc_analyze_opts){.bind = &(struct oc_bind){"N", -1}, .n_bind = 1});
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "dimension 'N' cannot be -1"));
    oc_run_free(&r);
    const int64_t dim[] = {2, 3};
    const struct oc_shape_bind shape = {.input = "x", .rank = 2, .dim = dim};
    o = (struct oc_analyze_opts){.shape = &shape, .n_shape = 1};
    r = oc_run_model(relu_of("float[M,?]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,3]");
    oc_run_free(&r);
    r = oc_run_model(relu_of("float[M,4]"), &o); /* 3 is not the declared 4 */
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "dimension 1 is 4 in the model, not 3"));
    oc_run_free(&r);
    o.force_shapes = true;
    r = oc_run_model(relu_of("float[M,4]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,3]");
    oc_run_free(&r);
    struct oc_shape_bind from_profile = shape;
    from_profile.from_profile = true; /* does not fit: ignored */
    o = (struct oc_analyze_opts){.shape = &from_profile, .n_shape = 1};
    r = oc_run_model(relu_of("float[M,4]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[1,4]");
    oc_run_free(&r);
    const struct oc_bind given = {.symbol = "M", .value = 7}; /* outweighs what the profile recorded */
    r = oc_run_model(relu_of("float[M,3]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,3]");
    oc_run_free(&r);
    o.bind = &given;
    o.n_bind = 1;
    r = oc_run_model(relu_of("float[M,3]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[7,3]");
    oc_run_free(&r);
    o.shape = &shape; /* of the user: neither gives way */
    r = oc_run_model(relu_of("float[M,3]"), &o);
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "dimension 'M' cannot be 2 (--shape): it is already 7"));
    oc_run_free(&r);
    struct oc_builder *b =
        relu_of("float[M,3]"); /* two inputs do not agree: for runtimes too each has its own */
    oc_b_input(b, "other", "float[M]");
    const int64_t five = 5;
    const struct oc_shape_bind two[] = {shape, {.input = "other", .dim = &five, .rank = 1}};
    o = (struct oc_analyze_opts){.shape = two, .n_shape = 2};
    r = oc_run_model(b, &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,3]");
    assert_string_equal(oc_run_type(&r, "other"), "float[5]");
    assert_string_equal(r.a->diags.item[0].code, "W-two-sizes");
    oc_run_free(&r);
    struct oc_shape_bind other = shape;
    other.input = "z";
    o = (struct oc_analyze_opts){.shape = &other, .n_shape = 1};
    r = oc_run_model(relu_of("float[M,3]"), &o);
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "no graph input is named 'z'; inputs: 'x'"));
    oc_run_free(&r);
    o.skip_unused = true;
    r = oc_run_model(relu_of("float[M,3]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[1,3]");
    oc_run_free(&r);
}

static void symbols_stay_unknown_without_defaults(void **state)
{
    (void)state;
    const struct oc_analyze_opts o = {.no_defaults = true};
    struct oc_run r = oc_run_model(relu_of("float[N,3,?]"), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[N,3,x.2]");
    assert_int_equal(r.a->cost[0].quality, OC_UNKNOWN);
    assert_int_equal(r.a->total->unknown_nodes, 1);
    oc_run_free(&r);
}

/* A dim_param that is an expression of other names follows their values. */
static void dim_param_expressions_are_evaluated(void **state)
{
    (void)state;
    const struct oc_bind bind[] = {{"past", 5}, {"seq", 2}};
    const struct oc_analyze_opts o = {.bind = bind, .n_bind = 2};
    struct oc_builder *b = oc_b_new(17);
    Onnx__ValueInfoProto *sum = oc_b_input(b, "t", "float[total,half]");
    sum->type->tensor_type->shape->dim[0]->dim_param = (char *)"past + seq";
    sum->type->tensor_type->shape->dim[1]->dim_param = (char *)"floor(past/2)*(seq + 1)";
    oc_b_input(b, "x", "float[past,seq]");
    oc_b_node(b, "Relu", "n", "t", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[7,6]");
    oc_run_free(&r);
}

static void declared_type_conflict_is_a_warning(void **state)
{
    (void)state;
    struct oc_builder *b = relu_of("float[2,3]");
    oc_b_node(b, "Relu", "m", "y", "z", "");
    oc_b_value(b, "z", "float[2,5]");
    struct oc_run r = oc_run_model(b, NULL);
    assert_string_equal(oc_run_type(&r, "z"), "float[2,3]"); /* the computed type wins */
    assert_int_equal(oc_run_diags(&r, "W-shape-conflict"), 1);
    oc_run_free(&r);
    const struct oc_analyze_opts strict = {.strict = true};
    b = relu_of("float[2,3]");
    oc_b_value(b, "y2", "float[2,5]");
    oc_b_node(b, "Relu", "m", "y", "y2", "");
    r = oc_run_model(b, &strict);
    assert_non_null(r.a);
    assert_int_equal(oc_run_diags(&r, "W-shape-conflict"), 1);
    assert_int_equal(r.a->diags.item[0].severity, OC_ERROR);
    assert_string_equal(r.a->diags.item[0].text,
                        "'y2': inferred float[2,3] from its inputs, declared float[2,5]");
    oc_run_free(&r);
}

static void unknown_operator_leaves_costs_unknown(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "acme", 1);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_node(b, "acme::Magic", "magic", "x", "y", "");
    oc_b_node(b, "acme::Magic", "more", "x", "z", "");
    oc_b_value(b, "z", "float[4]");
    oc_b_node(b, "Relu", "lost", "y", "u", "");
    oc_b_node(b, "Relu", "kept", "z", "v", "");
    oc_b_output(b, "u", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_non_null(r.a);
    assert_int_equal(r.a->cost[oc_run_node(&r, "magic")].state, OC_NODE_UNKNOWN_OP);
    assert_int_equal(r.a->cost[oc_run_node(&r, "lost")].quality, OC_UNKNOWN);
    assert_int_equal(r.a->cost[oc_run_node(&r, "kept")].quality, OC_EXACT); /* the declared type is used */
    assert_int_equal(r.a->cost[oc_run_node(&r, "kept")].flops, 4);
    assert_int_equal(r.a->total->unknown_nodes, 3);
    assert_int_equal(r.a->total->quality, OC_UNKNOWN);
    assert_int_equal(oc_run_diags(&r, "W-unknown-op"), 2);
    oc_run_free(&r);
}

static struct oc_builder *if_model(const char *condition)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "w", "float[3,5]");
    if (strcmp(condition, "c") == 0)
        oc_b_input(b, "c", "bool[]");
    else
        oc_b_init(b, "k", condition);
    oc_b_node(b, "If", "if", strcmp(condition, "c") == 0 ? "c" : "k", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "MatMul", "big", "x,w", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Relu", "small", "x", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    return b;
}

static void if_counts_one_branch_or_an_upper_bound(void **state)
{
    (void)state;
    /* unknown condition: the branch with more operations counts, 2*3*5 MACs, as an upper bound */
    struct oc_run r = oc_run_model(if_model("c"), NULL);
    assert_int_equal(r.a->total->macs, 30);
    assert_int_equal(r.a->total->flops, 60);
    assert_int_equal(r.a->total->quality, OC_UPPER);
    assert_int_equal(r.a->cost[oc_run_node(&r, "small")].state, OC_NODE_NOT_TAKEN);
    assert_int_equal(r.a->n_assumption, 1);
    assert_string_equal(r.a->assumption[0].value, "then_branch");
    oc_run_free(&r);
    const struct oc_analyze_opts o = {.if_mode = OC_IF_ELSE};
    r = oc_run_model(if_model("c"), &o);
    assert_int_equal(r.a->total->flops, 6);
    oc_run_free(&r);
    /* constant conditions: exact, and the output has the branch's shape */
    r = oc_run_model(if_model("bool[]{1}"), NULL);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,5]");
    assert_int_equal(r.a->total->quality, OC_EXACT);
    oc_run_free(&r);
    r = oc_run_model(if_model("bool[]{0}"), NULL);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,3]");
    assert_int_equal(r.a->total->flops, 6);
    assert_int_equal(r.a->n_assumption, 0);
    oc_run_free(&r);
}

/* A function costs what its body costs at each call; the call node itself costs nothing. */
static void function_call_costs_its_body(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my", 1);
    oc_b_function(b, "my", "Twice", "a", "r", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Relu", "p", "a", "t", "");
    oc_b_node(b, "Neg", "q", "t", "r", "");
    oc_b_close(b);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_node(b, "my::Twice", "one", "x", "y", "");
    oc_b_node(b, "my::Twice", "two", "y", "z", "");
    oc_b_output(b, "z", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_string_equal(oc_run_type(&r, "z"), "float[2,3]");
    assert_int_equal(r.a->total->flops, 4 * 6);
    assert_int_equal(r.a->cost[oc_run_node(&r, "one")].state, OC_NODE_CONTAINER);
    assert_int_equal(r.a->total->nodes, 6);
    oc_run_free(&r);
}

static void test_distinct_inputs_are_read_once(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[10]");
    oc_b_init(b, "k", "float[10]");
    oc_b_node(b, "Mul", "square", "x,x", "y", "");
    oc_b_node(b, "Add", "shift", "y,k", "z", "");
    oc_b_output(b, "z", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_int_equal(r.a->cost[0].rd_act, 40);
    assert_int_equal(r.a->cost[0].wr, 40);
    assert_int_equal(r.a->cost[1].rd_act, 40);
    assert_int_equal(r.a->cost[1].rd_wt, 40);
    oc_run_free(&r);
    const struct oc_analyze_opts naive = {.naive_bytes = true};
    b = oc_b_new(17);
    oc_b_input(b, "x", "float[10]");
    oc_b_node(b, "Mul", "square", "x,x", "y", "");
    oc_b_output(b, "y", NULL);
    r = oc_run_model(b, &naive);
    assert_int_equal(r.a->cost[0].rd_act, 80);
    oc_run_free(&r);
}

/* The same for nodes with many inputs in sequence: 4 + 8 bytes of x and y, and the first again. */
static void test_many_inputs_are_read_once(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_input(b, "y", "float[2]");
    oc_b_node(b, "Concat", "a", "x,y,x,y,x,y,x,y,x,y,x,y,x,y,x,y,x,y", "z", "axis=0"); /* 18 of them */
    oc_b_node(b, "Concat", "b", "x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x", "u", "axis=0");
    oc_b_output(b, "z", NULL);
    oc_b_output(b, "u", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_int_equal(r.a->cost[0].rd_act, 12);
    assert_int_equal(r.a->cost[0].wr, 108); /* 9 * (4 + 8) */
    assert_int_equal(r.a->cost[1].rd_act, 4);
    assert_int_equal(r.a->cost[1].wr, 68);
    oc_run_free(&r);
}

/* Section 8 of cost-semantics.md, the example network: params 448 + 40,970, FLOPs 1,015,818, MACs 483,328. */
static void example_network_matches_the_documented_counts(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,3,32,32]");
    oc_b_init(b, "w", "float[16,3,3,3]");
    oc_b_init(b, "wb", "float[16]");
    oc_b_init(b, "g", "float[10,4096]");
    oc_b_init(b, "gb", "float[10]");
    oc_b_init(b, "nobody", "float[100]");
    oc_b_node(b, "Conv", "conv", "x,w,wb", "c", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "relu", "c", "r", "");
    oc_b_node(b, "MaxPool", "pool", "r", "p", "kernel_shape=2,2 strides=2,2");
    oc_b_node(b, "Flatten", "flat", "p", "f", "");
    oc_b_node(b, "Gemm", "fc", "f,g,gb", "y", "transB=1");
    oc_b_output(b, "y", "float[1,10]");
    struct oc_run r = oc_run_model(b, NULL);
    assert_string_equal(oc_run_type(&r, "y"), "float[1,10]");
    assert_int_equal(r.a->total->macs, 483328);
    assert_int_equal(r.a->total->flops, 1015818);
    assert_int_equal(r.a->total->params, 41418);
    assert_int_equal(r.a->class_elems[OC_PC_BIAS], 26);
    assert_int_equal(r.a->class_elems[OC_PC_UNUSED], 100);
    assert_int_equal(r.a->cost[oc_run_node(&r, "conv")].params, 448);
    assert_true(r.a->cost[oc_run_node(&r, "flat")].alias);
    assert_int_equal(r.a->total->quality, OC_EXACT);
    /* live while it runs: conv 77,824, relu 131,072, pool 81,920, gemm 16,424 bytes */
    assert_int_equal(r.a->peak.bytes, 131072);
    assert_int_equal(r.a->peak.lower_bytes, 131072);
    assert_int_equal(r.a->peak.node, oc_run_node(&r, "relu"));
    assert_int_equal(r.a->peak.quality, OC_EXACT);
    oc_run_free(&r);
}

/* A value that waits for a late reader stays in memory until then; a view is not a second copy. */
static void peak_of_parallel_branches_keeps_waiting_values(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_init(b, "shape", "int64[2]{16,16}");
    oc_b_node(b, "Relu", "a", "x", "skip", "");
    oc_b_node(b, "Neg", "b", "skip", "t", "");
    oc_b_node(b, "Reshape", "view", "t,shape", "u", "");
    oc_b_node(b, "Abs", "c", "u", "v", "");
    oc_b_node(b, "Reshape", "back", "v,flat", "w", "");
    oc_b_init(b, "flat", "int64[1]{256}");
    oc_b_node(b, "Add", "d", "w,skip", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_int_equal(r.a->peak.bytes, 3 * 1024);       /* at c: skip, t (= u), v; at d: v (= w), skip, y */
    assert_int_equal(r.a->peak.lower_bytes, 3 * 1024); /* d reads two and writes one */
    oc_run_free(&r);
}

/* The branches of an If need memory only while it runs; the larger one counts. x, c: 24 bytes + a scalar; the
 * branch's own result is the result of the If. */
static void peak_of_an_if_counts_the_larger_branch(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(if_model("c"), NULL);
    /* x 2x3, w 3x5, y at most 2x5 floats */
    assert_int_equal(r.a->peak.bytes, 4 * (6 + 15 + 10));
    oc_run_free(&r);
}

/* Huge dimensions: an error that names the node, never a wrapped number. */
static void overflow_is_an_error_that_names_the_node(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(relu_of("float[4611686018427387904,4]"), NULL);
    assert_null(r.a);
    assert_int_equal(r.err.code, OC_ELIMIT);
    assert_non_null(strstr(r.err.msg, "node 'n' (Relu)"));
    oc_run_free(&r);
}

struct with_bodies {
    const char *type, *inputs, *attributes, *body[3];
};

/* A function or an operator with bodies. The body `at` has the node "large", the others have Relu(small). */
static struct oc_builder *large_in_a_body(const struct with_bodies *k, int at, const char *type,
                                          const char *big)
{
    const char *attributes = strcmp(type, "Flatten") ? "" : "axis=0";
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_opset(b, "my", 1);
    if (!k->body[0]) {
        oc_b_function(b, "my", "Square", "a", "r", "");
        oc_b_opset(b, "", 17);
        oc_b_node(b, type, "large", *attributes ? "a" : "a,a", "r", attributes);
        oc_b_close(b);
    }
    oc_b_input(b, "big", big);
    oc_b_input(b, "small", "float[2,3]");
    oc_b_input(b, "c", "bool[]");
    oc_b_input(b, "ids", "int32[1,4]");
    oc_b_init(b, "three", "int64[]{3}");
    oc_b_init(b, "longest", "int32[1]{9}");
    oc_b_node(b, "SequenceConstruct", NULL, "small", "s", "");
    oc_b_node(b, k->type, "outer", k->inputs, "y", k->attributes);
    for (int i = 0; i < 3 && k->body[i]; i++) {
        const char *out = oc_printf(oc_b_arena(b), "out%d", i);
        oc_b_open(b, k->body[i]);
        if (!strcmp(k->type, "Loop")) {
            oc_b_input(b, "i", "int64[]");
            oc_b_input(b, "go", "bool[]");
            oc_b_output(b, "go", "bool[]");
        }
        if (i == at)
            oc_b_node(b, type, "large", *attributes ? "big" : "big,big", out, attributes);
        else
            oc_b_node(b, "Relu", NULL, "small", out, "");
        oc_b_output(b, out, NULL);
        oc_b_close(b);
    }
    oc_b_output(b, "y", NULL);
    return b;
}

/* 2^80 elements in an axis, and 2^66 MACs: no body hides the error. */
static void overflow_in_a_body_is_an_error(void **state)
{
    (void)state;
    static const struct with_bodies row[] = {
        {"my::Square", "big", "", {NULL}},
        {"If", "c", "", {"then_branch", "else_branch"}},
        {"Loop", "three,,", "", {"body"}},
        {"Loop", ",c,", "", {"body"}},
        {"Scan", "small", "num_scan_inputs=1", {"body"}},
        {"SequenceMap", "s", "", {"body"}},
        {"com.microsoft::BeamSearch", "ids,longest", "", {"encoder", "init_decoder", "decoder"}},
    };
    static const struct {
        const char *type, *big, *error;
    } large[] = {
        {"Flatten", "float[1099511627776,1099511627776]",
         "node '%slarge' (Flatten): its shape overflows 64 bits"},
        {"MatMul", "float[4194304,4194304]", "node '%slarge' (MatMul): its counts overflow 64 bits"},
        {"MatMul", "float[3,3]", NULL},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++)
        for (int at = 0; at < 3 && (at == 0 || row[i].body[at]); at++)
            for (size_t k = 0; k < OC_COUNT(large); k++) {
                struct oc_run r =
                    oc_run_model(large_in_a_body(&row[i], at, large[k].type, large[k].big), NULL);
                char text[80];
                snprintf(text, sizeof(text), large[k].error ? large[k].error : "",
                         row[i].body[0] ? "" : "outer/");
                if (!r.a == !large[k].error ||
                    (!r.a && (r.err.code != OC_ELIMIT || !strstr(r.err.msg, text))))
                    fail_msg("%s, body %d, %s: %s", row[i].type, at, large[k].big, r.a ? "" : r.err.msg);
                oc_run_free(&r);
            }
}

static void malformed_bodies_are_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *type, *inputs, *attributes, *body, *error;
    } row[] = {
        {"Loop", "three,,small", "", NULL, "node 'n' (Loop): the body is missing"},
        {"Scan", "small", "num_scan_inputs=1", NULL, "node 'n' (Scan): the body is missing"},
        {"SequenceMap", "s", "", NULL, "node 'n' (SequenceMap): the body is missing"},
        {"If", "c", "", NULL, "node 'n' (If): a branch is missing"},
        {"If", "c", "", "then_branch", "node 'n' (If): a branch is missing"},
        {"If", "c", "", "else_branch", "node 'n' (If): a branch is missing"},
        {"Scan", "small", "", "body", "node 'n' (Scan): num_scan_inputs does not match the inputs"},
        {"Scan", "small", "num_scan_inputs=-1", "body", "num_scan_inputs does not match the inputs"},
        {"Scan", "small", "num_scan_inputs=2", "body", "num_scan_inputs does not match the inputs"},
        {"Scan", "small", "num_scan_inputs=1", "body", NULL},
        {"Scan", "small", "num_scan_inputs=0", "body", NULL},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "c", "bool[]");
        oc_b_input(b, "small", "float[2,3]");
        oc_b_init(b, "three", "int64[]{3}");
        oc_b_node(b, "SequenceConstruct", NULL, "small", "s", "");
        oc_b_node(b, row[i].type, "n", row[i].inputs, "y", row[i].attributes);
        if (row[i].body) {
            oc_b_open(b, row[i].body);
            oc_b_node(b, "Relu", NULL, "small", "r", "");
            oc_b_output(b, "r", NULL);
            oc_b_close(b);
        }
        oc_b_output(b, "y", NULL);
        struct oc_run r = oc_run_model(b, NULL);
        if (!r.a != !!row[i].error ||
            (!r.a && (r.err.code != OC_EFORMAT || !strstr(r.err.msg, row[i].error))))
            fail_msg("%zu: %s", i, r.a ? "no error" : r.err.msg);
        oc_run_free(&r);
    }
}

/* 64 carried values are the most. */
static void too_many_carried_values_are_an_error(void **state)
{
    (void)state;
    for (unsigned n = OC_MAX_STATES; n <= OC_MAX_STATES + 1; n++) {
        char inputs[8 * OC_MAX_STATES] = "three,";
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[2]");
        oc_b_init(b, "three", "int64[]{3}");
        for (unsigned i = 0; i < n; i++)
            strcat(inputs, ",x");
        oc_b_node(b, "Loop", "n", inputs, "y", "");
        oc_b_open(b, "body");
        oc_b_input(b, "i", "int64[]");
        oc_b_input(b, "go", "bool[]");
        oc_b_output(b, "go", "bool[]");
        oc_b_close(b);
        oc_b_output(b, "y", NULL);
        struct oc_run r = oc_run_model(b, NULL);
        assert_int_equal(!r.a, n > OC_MAX_STATES);
        if (!r.a)
            assert_non_null(strstr(r.err.msg, "node 'n' (Loop): more than "));
        oc_run_free(&r);
    }
}

/* A Loop over [1], [1,1] ... whose body is inferred for every trip, and a constant that is folded. */
static void limits_end_the_analysis(void **state)
{
    (void)state;
    static const struct {
        enum oc_input_limit which;
        uint64_t most;
        const char *name; /* NULL: enough */
    } row[] = {
        {OC_LIMIT_REPEATS, 1, "repeats"},
        {OC_LIMIT_REPEATS, 1000, NULL},
        {OC_LIMIT_FOLDED_BYTES, 16, "folded-bytes"},
        {OC_LIMIT_FOLDED_BYTES, 100000, NULL},
        {OC_LIMIT_ANALYSIS_MEMORY, 1000, "analysis-memory"},
        {OC_LIMIT_ANALYSIS_MEMORY, 10000000, NULL},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_input_limits limits = {0};
        struct oc_model *m;
        struct oc_analysis *a;
        struct oc_err err = {0};
        size_t n;
        struct oc_builder *b = oc_b_new(17);
        oc_b_init(b, "trips", "int64[]{9}");
        oc_b_init(b, "one", "int64[1]{1}");
        oc_b_input(b, "s", "float[1]");
        oc_b_node(b, "Add", "two", "one,one", "k", "");
        oc_b_node(b, "Expand", "wide", "s,k", "w", "");
        oc_b_node(b, "Loop", "loop", "trips,,w", "t", "");
        oc_b_open(b, "body");
        oc_b_input(b, "i", "int64[]");
        oc_b_input(b, "go", "bool[]");
        oc_b_input(b, "v", "float[x]");
        oc_b_node(b, "Abs", NULL, "v", "v1", "");
        oc_b_node(b, "Neg", NULL, "v1", "v2", "");
        oc_b_node(b, "Concat", "grow", "v,v2", "u", "axis=0");
        oc_b_output(b, "go", "bool[]");
        oc_b_output(b, "u", NULL);
        oc_b_close(b);
        oc_b_output(b, "t", NULL);
        uint8_t *bytes = oc_b_pack(b, &n);
        oc_b_free(b);
        limits.most[row[i].which] = row[i].most;
        assert_int_equal(oc_model_load_mem(bytes, n, &limits, &m, &err), 0);
        int rc = oc_analyze(m, NULL, &a, &err);
        if (rc != (row[i].name ? -1 : 0) || (rc && (err.code != OC_ELIMIT || !strstr(err.msg, row[i].name))))
            fail_msg("%zu: %d %s", i, rc, err.msg);
        oc_analysis_free(a);
        oc_model_free(m);
        free(bytes);
    }
}

/* NonZero has at most 64 rows: the product with them is an upper bound, the one with x is unknown. */
static void upper_bounds_are_not_summed_into_a_lower_bound(void **state)
{
    (void)state;
    static const struct {
        const char *x; /* of the second product */
        uint64_t macs;
        enum oc_quality quality;
    } row[] = {{"float[N,8]", 4 * 8 * 2, OC_UNKNOWN},
               {"float[6,8]", 4 * 8 * 2 + 6 * 8 * 2 + 64 * 8 * 2, OC_UPPER}};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct oc_builder *b = oc_b_new(17);
        struct oc_analyze_opts o = {.no_defaults = true};
        struct oc_model *m;
        struct oc_analysis *a = NULL;
        struct oc_err e;
        size_t n;
        oc_b_input(b, "mask", "float[64]");
        oc_b_input(b, "table", "float[64,8]");
        oc_b_input(b, "known", "float[4,8]");
        oc_b_input(b, "x", row[i].x);
        oc_b_init(b, "w", "float[8,2]");
        oc_b_node(b, "NonZero", "which", "mask", "at", "");
        oc_b_init(b, "flat", "int64[1]{-1}");
        oc_b_node(b, "Reshape", "rows", "at,flat", "index", "");
        oc_b_node(b, "Gather", "take", "table,index", "taken", "");
        oc_b_node(b, "MatMul", "bounded", "taken,w", "p", "");
        oc_b_node(b, "MatMul", "exact", "known,w", "q", "");
        oc_b_node(b, "MatMul", "open", "x,w", "r", "");
        oc_b_output(b, "p", "float");
        oc_b_output(b, "q", "float");
        oc_b_output(b, "r", "float");
        uint8_t *bytes = oc_b_pack(b, &n);
        oc_b_free(b);
        if (oc_model_load_mem(bytes, n, NULL, &m, &e) || oc_analyze(m, &o, &a, &e))
            fail_msg("%s", e.msg);
        assert_int_equal(a->total->quality, row[i].quality);
        assert_int_equal(a->total->macs, row[i].macs);
        assert_int_equal(a->total->least.macs, row[i].quality == OC_UNKNOWN ? row[i].macs : 64 + 96);
        assert_true(a->total->not_exact.macs >= 64 * 8 * 2);
        oc_analysis_free(a);
        oc_model_free(m);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unbound_symbols_take_documented_defaults),
        cmocka_unit_test(dim_and_shape_options_bind_symbols),
        cmocka_unit_test(symbols_stay_unknown_without_defaults),
        cmocka_unit_test(dim_param_expressions_are_evaluated),
        cmocka_unit_test(declared_type_conflict_is_a_warning),
        cmocka_unit_test(unknown_operator_leaves_costs_unknown),
        cmocka_unit_test(if_counts_one_branch_or_an_upper_bound),
        cmocka_unit_test(function_call_costs_its_body),
        cmocka_unit_test(test_distinct_inputs_are_read_once),
        cmocka_unit_test(test_many_inputs_are_read_once),
        cmocka_unit_test(example_network_matches_the_documented_counts),
        cmocka_unit_test(peak_of_parallel_branches_keeps_waiting_values),
        cmocka_unit_test(peak_of_an_if_counts_the_larger_branch),
        cmocka_unit_test(upper_bounds_are_not_summed_into_a_lower_bound),
        cmocka_unit_test(overflow_is_an_error_that_names_the_node),
        cmocka_unit_test(overflow_in_a_body_is_an_error),
        cmocka_unit_test(malformed_bodies_are_an_error),
        cmocka_unit_test(too_many_carried_values_are_an_error),
        cmocka_unit_test(limits_end_the_analysis),
    };
    return cmocka_run_group_tests_name("analyze/analyze", tests, NULL, NULL);
}
