/* Bodies that run several times: carried types, trip counts, costs (shape-inference 4.10 and 8 j, k;
 * cost-semantics 4.15, case 67 and property 7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/run_model.h"
#include "onnxcost.h"

/* Loop over state x W with `trips` as initializer text, or as a graph input when NULL; the condition is
 * passed through. */
static struct oc_builder *matmul_loop(const char *trips)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[64,64]");
    if (trips)
        oc_b_init(b, "m", trips);
    else
        oc_b_input(b, "m", "int64[]");
    oc_b_init(b, "w", "float[64,64]");
    oc_b_node(b, "Loop", "loop", "m,,x", "y,all", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[64,64]");
    oc_b_node(b, "Identity", "pass", "go", "go_on", "");
    oc_b_node(b, "MatMul", "mm", "s,w", "t", "");
    oc_b_node(b, "Identity", "scan", "t", "u", "");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_output(b, "u", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "all", NULL);
    return b;
}

/* Case 67: 10 trips of a 64x64x64 product: 2,621,440 MACs, 163,840 bytes of each kind. */
static void known_trip_count_multiplies_the_body(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(matmul_loop("int64[]{10}"), NULL);
    const struct oc_node_cost *mm = &r.a->cost[oc_run_node(&r, "mm")];
    assert_string_equal(oc_run_type(&r, "y"), "float[64,64]");
    assert_string_equal(oc_run_type(&r, "all"), "float[10,64,64]");
    assert_int_equal(mm->trips, 10);
    assert_int_equal(mm->macs, 2621440);
    assert_int_equal(mm->flops, 5242880);
    assert_int_equal(mm->rd_act, 163840);
    assert_int_equal(mm->rd_wt, 163840);
    assert_int_equal(mm->wr, 163840);
    assert_int_equal(r.a->total->quality, OC_EXACT);
    assert_int_equal(r.a->total->params, 4096); /* once, however often it is read */
    oc_run_free(&r);
}

/* A body may declare the number of the trip as a list of one, which the runtime then passes. */
static void trip_number_has_the_declared_rank(void **state)
{
    (void)state;
    static const char *const declared[][2] = {{"int64[1]", "int64[3,1]"}, {"int64[]", "int64[3]"}};
    for (size_t i = 0; i < 2; i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_init(b, "m", "int64[]{3}");
        oc_b_node(b, "Loop", "loop", "m,", "all", "");
        oc_b_open(b, "body");
        oc_b_input(b, "i", declared[i][0]);
        oc_b_input(b, "go", "bool[1]");
        oc_b_node(b, "Identity", "pass", "go", "go_on", "");
        oc_b_node(b, "Identity", "scan", "i", "u", "");
        oc_b_output(b, "go_on", NULL);
        oc_b_output(b, "u", NULL);
        oc_b_close(b);
        oc_b_output(b, "all", NULL);
        struct oc_run r = oc_run_model(b, NULL);
        assert_string_equal(oc_run_type(&r, "all"), declared[i][1]);
        oc_run_free(&r);
    }
}

/* Property 7: k trips cost k times the body. */
static void cost_is_linear_in_trips(void **state)
{
    (void)state;
    struct oc_run one = oc_run_model(matmul_loop("int64[]{1}"), NULL);
    struct oc_run seven = oc_run_model(matmul_loop("int64[]{7}"), NULL);
    assert_int_equal(seven.a->total->flops, 7 * one.a->total->flops);
    assert_int_equal(seven.a->total->bytes_written, 7 * one.a->total->bytes_written);
    oc_run_free(&one);
    oc_run_free(&seven);
    struct oc_run none = oc_run_model(matmul_loop("int64[]{0}"), NULL);
    assert_int_equal(none.a->total->flops, 0);
    assert_string_equal(oc_run_type(&none, "all"), "float[0,64,64]");
    oc_run_free(&none);
}

/* XLA's cost analysis counts the body of a loop once. */
static void test_convention_that_counts_once(void **state)
{
    (void)state;
    const struct oc_analyze_opts o = {.convention = "xla"};
    struct oc_run r = oc_run_model(matmul_loop("int64[]{10}"), &o);
    assert_int_equal(r.a->total->flops, 2 * 262144);
    oc_run_free(&r);
}

static void one_of_an_unknown_number_of_trips_is_an_assumption(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(matmul_loop(NULL), NULL); /* M may be 0: not a lower bound */
    assert_int_equal(r.a->total->macs, 262144);
    assert_int_equal(r.a->total->quality, OC_EST);
    assert_int_equal(r.a->n_assumption, 1);
    assert_string_equal(oc_run_type(&r, "all"), "float[trip(loop),64,64]");
    oc_run_free(&r);
    const struct oc_bind trip = {"loop", 3};
    struct oc_analyze_opts o = {.trip = &trip, .n_trip = 1};
    r = oc_run_model(matmul_loop(NULL), &o);
    assert_int_equal(r.a->total->macs, 3 * 262144);
    assert_string_equal(oc_run_type(&r, "all"), "float[3,64,64]");
    oc_run_free(&r);
    const struct oc_bind wrong = {"no_loop", 3};
    const struct oc_bind twice[] = {{"loop", 3}, {"loop", 4}};
    o = (struct oc_analyze_opts){.trip = twice, .n_trip = 2};
    r = oc_run_model(matmul_loop(NULL), &o);
    assert_non_null(strstr(r.err.msg, "--trip: 'loop' is given more than once"));
    oc_run_free(&r);
    o = (struct oc_analyze_opts){.n_trip = 1};
    o.trip = &wrong;
    r = oc_run_model(matmul_loop(NULL), &o);
    assert_null(r.a);
    assert_int_equal(r.err.code, OC_EARG);
    oc_run_free(&r);
    const struct oc_value_bind value = {"m", "4"};
    o = (struct oc_analyze_opts){.value = &value, .n_value = 1};
    r = oc_run_model(matmul_loop(NULL), &o);
    assert_int_equal(r.a->total->macs, 4 * 262144);
    assert_int_equal(r.a->total->quality, OC_EXACT);
    oc_run_free(&r);
}

/* A condition computed by the body can end the loop earlier: trips are at most M. */
static void computed_condition_makes_trips_an_upper_bound(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4]");
    oc_b_init(b, "m", "int64[]{5}");
    oc_b_init(b, "limit", "float[]{1}");
    oc_b_node(b, "Loop", "loop", "m,,x", "y,all", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[4]");
    oc_b_node(b, "Relu", "work", "s", "t", "");
    oc_b_node(b, "ReduceSum", "sum", "t", "r", "keepdims=0");
    oc_b_node(b, "Less", "test", "r,limit", "go_on", "");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_output(b, "r", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "all", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_int_equal(r.a->cost[oc_run_node(&r, "work")].flops, 5 * 4);
    assert_int_equal(r.a->total->quality, OC_UPPER);
    assert_string_equal(oc_run_type(&r, "all"), "float[trip(loop)]");
    oc_run_free(&r);
}

/* while (i < limit) with M = INT64_MAX; the limit is a constant, or an input where limit is NULL. */
static struct oc_builder *while_loop(const char *limit)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[8,8]");
    oc_b_init(b, "m", "int64[]{9223372036854775807}");
    oc_b_init(b, "w", "float[8,8]");
    if (limit)
        oc_b_init(b, "limit", limit);
    else
        oc_b_input(b, "limit", "int64[]");
    oc_b_node(b, "Loop", "loop", "m,,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[8,8]");
    oc_b_node(b, "MatMul", "mm", "s,w", "t", "");
    oc_b_node(b, "Less", "less", "i,limit", "go_on", "");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    return b;
}

/* The condition after trip i is i < limit: limit + 1 trips, found without executing them. */
static void while_loop_over_its_counter_is_exact(void **state)
{
    (void)state;
    static const struct {
        const char *limit;
        uint64_t trips;
    } cases[] = {{"int64[]{4}", 5}, {"int64[]{-7}", 1}, {"int64[]{1000000007}", 1000000008}};
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        struct oc_run r = oc_run_model(while_loop(cases[i].limit), NULL);
        assert_int_equal(r.a->total->macs, 512 * cases[i].trips);
        assert_int_equal(r.a->total->quality, OC_EXACT);
        oc_run_free(&r);
    }
}

/* Carried values after a loop are those of its last trip, n = i + 1 and a constant, also where it was not
 * walked; without a limit the condition is passed through. */
static void carried_values_are_those_of_the_last_trip(void **state)
{
    (void)state;
    static const char *const endless = "int64[]{9223372036854775807}";
    const struct {
        const char *most, *limit;
        int64_t given; /* trips; 0: not */
        const char *counted;
    } cases[] = {{endless, "int64[]{4}", 0, "float[5]"},       {endless, "int64[]{-7}", 0, "float[1]"},
                 {endless, "int64[]{1007}", 0, "float[1008]"}, {"int64[]{7}", NULL, 0, "float[7]"},
                 {"int64[]{7}", NULL, 3, "float[3]"},          {endless, "int64[]{4}", 2, "float[2]"}};
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_init(b, "m", cases[i].most);
        if (cases[i].limit)
            oc_b_init(b, "limit", cases[i].limit);
        oc_b_init(b, "one", "int64[]{1}");
        oc_b_init(b, "axis", "int64[1]{0}");
        oc_b_init(b, "three", "int64[]{3}");
        oc_b_node(b, "Loop", "loop", "m,,one,three", "n,k", "");
        oc_b_open(b, "body");
        oc_b_input(b, "i", "int64[]");
        oc_b_input(b, "go", "bool[]");
        oc_b_input(b, "s", "int64[]");
        oc_b_input(b, "c", "int64[]");
        oc_b_node(b, "Add", "next", "i,one", "t", "");
        oc_b_node(b, "Identity", "same", "c", "d", "");
        oc_b_node(b, cases[i].limit ? "Less" : "Identity", "less", cases[i].limit ? "i,limit" : "go", "go_on",
                  "");
        oc_b_output(b, "go_on", NULL);
        oc_b_output(b, "t", NULL);
        oc_b_output(b, "d", NULL);
        oc_b_close(b);
        oc_b_node(b, "Unsqueeze", "vector", "n,axis", "size", "");
        oc_b_node(b, "ConstantOfShape", "fill", "size", "y", "");
        oc_b_node(b, "Unsqueeze", "vector2", "k,axis", "size2", "");
        oc_b_node(b, "ConstantOfShape", "fill2", "size2", "z", "");
        oc_b_output(b, "y", NULL);
        oc_b_output(b, "z", NULL);
        const struct oc_bind trip = {"loop", cases[i].given};
        const struct oc_analyze_opts o = {.trip = &trip, .n_trip = cases[i].given > 0};
        struct oc_run r = oc_run_model(b, &o);
        assert_string_equal(oc_run_type(&r, "y"), cases[i].counted);
        assert_string_equal(oc_run_type(&r, "z"), "float[3]");
        oc_run_free(&r);
    }
}

/* M = INT64_MAX does not bound the trips: one is counted, and at least one runs. */
static void while_loop_of_unknown_length_is_a_lower_bound(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(while_loop(NULL), NULL);
    assert_int_equal(r.a->total->macs, 512);
    assert_int_equal(r.a->total->quality, OC_LOWER);
    oc_run_free(&r);
}

static void given_trips_win_over_the_models(void **state)
{
    (void)state;
    const struct oc_bind trip = {"loop", 3};
    const struct oc_analyze_opts o = {.trip = &trip, .n_trip = 1};
    struct oc_run r = oc_run_model(matmul_loop("int64[]{10}"), &o);
    assert_int_equal(r.a->total->macs, 3 * 262144);
    assert_int_equal(r.a->total->quality, OC_EXACT);
    oc_run_free(&r);
}

/* A bound whose counts exceed 64 bits is none: 2^62 trips of 262,144 MACs. */
static void bound_beyond_64_bits_counts_one_trip(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(matmul_loop("int64[]{4611686018427387904}"), NULL);
    assert_int_equal(r.a->total->macs, 262144);
    assert_int_equal(r.a->total->quality, OC_LOWER);
    oc_run_free(&r);
}

/* At most 2^41 trips of 2^19 FLOPs leave no room for the sum of several loops: one trip is counted. Of 2^39, all are. */
static void bound_near_64_bits_counts_one_trip(void **state)
{
    (void)state;
    static const struct {
        const char *most;
        uint64_t macs;
        enum oc_quality quality;
    } row[] = {{"int64[]{549755813888}", (uint64_t)262144 << 39, OC_UPPER},
               {"int64[]{2199023255552}", 262144, OC_LOWER}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[64,64]");
        oc_b_init(b, "m", row[i].most);
        oc_b_init(b, "w", "float[64,64]");
        oc_b_init(b, "limit", "float[]{1}");
        oc_b_node(b, "Loop", "loop", "m,,x", "y", "");
        oc_b_open(b, "body");
        oc_b_input(b, "i", "int64[]");
        oc_b_input(b, "go", "bool[]");
        oc_b_input(b, "s", "float[64,64]");
        oc_b_node(b, "MatMul", "mm", "s,w", "t", "");
        oc_b_node(b, "ReduceSum", "sum", "t", "r", "keepdims=0");
        oc_b_node(b, "Less", "test", "r,limit", "go_on", "");
        oc_b_output(b, "go_on", NULL);
        oc_b_output(b, "t", NULL);
        oc_b_close(b);
        oc_b_output(b, "y", NULL);
        struct oc_run r = oc_run_model(b, NULL);
        assert_int_equal(r.a->total->macs, row[i].macs);
        assert_int_equal(r.a->total->quality, row[i].quality);
        assert_string_equal(r.a->cost[oc_run_node(&r, "mm")].note,
                            row[i].quality == OC_UPPER ? "counted at the maximum number of trips"
                                                       : "one trip is counted; the number is unknown");
        oc_run_free(&r);
    }
}

/* Concatenation in a loop: unrolled where the trip count is known, otherwise of unknown length. */
static struct oc_builder *growing(const char *trips)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4]");
    oc_b_input(b, "one", "float[1,4]");
    if (trips)
        oc_b_init(b, "m", trips);
    else
        oc_b_input(b, "m", "int64[]");
    oc_b_node(b, "Loop", "loop", "m,,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[?,4]");
    oc_b_node(b, "Identity", "pass", "go", "go_on", "");
    oc_b_node(b, "Concat", "grow", "s,one", "t", "axis=0");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    return b;
}

static void growing_state_is_unrolled_for_known_trips(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(growing("int64[]{5}"), NULL);
    assert_string_equal(oc_run_type(&r, "y"), "float[6,4]");
    assert_int_equal(r.a->total->quality, OC_EXACT);
    assert_int_equal(r.a->total->bytes_written, 16 * (2 + 3 + 4 + 5 + 6)); /* each trip with its own size */
    oc_run_free(&r);
    r = oc_run_model(growing(NULL), NULL);
    assert_string_equal(oc_run_type(&r, "y"), "float[y.0,4]");
    oc_run_free(&r);
}

/* Trips of different sizes: nodes of a branch that no trip takes are not taken. */
static void nodes_of_unrolled_trips_have_their_state(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,4]");
    oc_b_input(b, "one", "float[1,4]");
    oc_b_init(b, "m", "int64[]{3}");
    oc_b_init(b, "never", "bool[]{0}");
    oc_b_node(b, "Loop", "loop", "m,,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[?,4]");
    oc_b_node(b, "Identity", "pass", "go", "go_on", "");
    oc_b_node(b, "Concat", "grow", "s,one", "g", "axis=0");
    oc_b_node(b, "If", "if", "never", "t", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Neg", "neg", "g", "p", "");
    oc_b_output(b, "p", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Abs", "abs", "g", "q", "");
    oc_b_output(b, "q", NULL);
    oc_b_close(b);
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_string_equal(oc_run_type(&r, "y"), "float[4,4]");
    assert_int_equal(r.a->cost[oc_run_node(&r, "neg")].state, OC_NODE_NOT_TAKEN);
    assert_int_equal(r.a->cost[oc_run_node(&r, "abs")].state, OC_NODE_NORMAL);
    assert_int_equal(r.a->cost[oc_run_node(&r, "if")].state, OC_NODE_CONTAINER);
    assert_int_equal(r.a->cost[oc_run_node(&r, "abs")].flops, 4 * (2 + 3 + 4));
    oc_run_free(&r);
}

/* Scan: the body adds a slice of x to the state h; `last` is the last state, `all` are all states. */
static struct oc_run run_scan(int opset, const char *h, const char *x, const char *state, const char *slice,
                              const char *inputs, const char *outputs, const char *attributes)
{
    struct oc_builder *b = oc_b_new(opset);
    oc_b_input(b, "h", h);
    oc_b_input(b, "x", x);
    oc_b_node(b, "Scan", "scan", inputs, outputs, attributes);
    oc_b_open(b, "body");
    oc_b_input(b, "s", state);
    oc_b_input(b, "slice", slice);
    oc_b_node(b, "Add", "add", "s,slice", "t", "");
    oc_b_node(b, "Identity", "copy", "t", "u", "");
    oc_b_output(b, "t", NULL);
    oc_b_output(b, "u", NULL);
    oc_b_close(b);
    if (*outputs != ',')
        oc_b_output(b, "last", NULL);
    oc_b_output(b, "all", NULL);
    return oc_run_model(b, NULL);
}

/* Without the axis that the slices are taken from, nothing is known of their shape. */
static void slices_of_an_axis_that_is_not_there_have_no_shape(void **state)
{
    (void)state;
    struct oc_run r = run_scan(17, "float[2,3]", "float[2,7,3]", "float[2,3]", "float", "h,x", "last,all",
                               "num_scan_inputs=1 scan_input_axes=[5] scan_output_axes=[9]");
    assert_string_equal(oc_run_type(&r, "slice"), "float[...]");
    assert_string_equal(oc_run_type(&r, "all"), "float[...]");
    oc_run_free(&r);
}

/* Scan runs once per slice; axes are removed from the inputs and inserted into the outputs. */
static void scan_runs_once_per_slice(void **state)
{
    (void)state;
    struct oc_run r = run_scan(17, "float[2,3]", "float[2,7,3]", "float[2,3]", "float[2,3]", "h,x",
                               "last,all", "num_scan_inputs=1 scan_input_axes=[1] scan_output_axes=[-1]");
    assert_string_equal(oc_run_type(&r, "slice"), "float[2,3]");
    assert_string_equal(oc_run_type(&r, "last"), "float[2,3]");
    assert_string_equal(oc_run_type(&r, "all"), "float[2,3,7]");
    assert_int_equal(r.a->total->flops, 7 * 6);
    assert_int_equal(r.a->total->quality, OC_EXACT);
    oc_run_free(&r);
}

/* A result that nothing reads has no name; those after it have their types. */
static void scan_without_its_first_result(void **state)
{
    (void)state;
    struct oc_run r =
        run_scan(17, "float[3]", "float[7,3]", "float[3]", "float[3]", "h,x", ",all", "num_scan_inputs=1");
    assert_string_equal(oc_run_type(&r, "all"), "float[7,3]");
    oc_run_free(&r);
}

/* Operators that read lists of thousands of unknown numbers in every trip share one list of them. */
static void long_unknown_lists_in_a_body_take_little_memory(void **state)
{
    (void)state;
    static const char *const node[][2] = {{"Slice", "x,list,list"}, {"Slice", "x,list,list,list,list"},
                                          {"Pad", "x,list"},        {"Resize", "x,,,list"},
                                          {"Tile", "x,list"},       {"Split", "x,list"},
                                          {"ReduceSum", "x,list"},  {"Unsqueeze", "x,list"}};
    for (size_t i = 0; i < sizeof(node) / sizeof(node[0]); i++) {
        struct oc_builder *b = oc_b_new(18);
        oc_b_input(b, "x", "float[8,8]");
        oc_b_input(b, "list", "int64[4000]");
        oc_b_input(b, "rows", "float[500,4]");
        oc_b_node(b, "Scan", "scan", "rows", "all", "num_scan_inputs=1");
        oc_b_open(b, "body");
        oc_b_input(b, "row", "float[4]");
        oc_b_node(b, node[i][0], "reader", node[i][1], "t", "");
        oc_b_node(b, "Shape", "size", "t", "u", "");
        oc_b_output(b, "u", NULL);
        oc_b_close(b);
        oc_b_output(b, "all", NULL);
        struct oc_run r = oc_run_model(b, NULL);
        if (r.a->arena.used_bytes > 16 << 20)
            fail_msg("%s takes %zu bytes", node[i][0], r.a->arena.used_bytes);
        oc_run_free(&r);
    }
}

/* Before opset 9 axis 0 of every value is a batch of 2 sequences, axis 1 of the scanned ones the 7 steps. */
static void scan_of_opset_8_has_a_batch(void **state)
{
    (void)state;
    struct oc_run r = run_scan(8, "float[2,3]", "float[2,7,3]", "float[3]", "float[3]", ",h,x", "last,all",
                               "num_scan_inputs=1");
    assert_string_equal(oc_run_type(&r, "slice"), "float[3]");
    assert_string_equal(oc_run_type(&r, "last"), "float[2,3]");
    assert_string_equal(oc_run_type(&r, "all"), "float[2,7,3]");
    assert_int_equal(r.a->total->flops, 2 * 7 * 3);
    oc_run_free(&r);
}

/* x float[6] reshaped to the numbers of input s, which are in a file. */
static void expect_file_shape(const char *type, const unsigned char *tensor, size_t n, const char *want)
{
    char path[] = "/tmp/onnxcost_test_XXXXXX", text[64];
    int fd = mkstemp(path);
    assert_int_equal(write(fd, tensor, n), n);
    close(fd);
    snprintf(text, sizeof(text), "@%s", path);
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[6]");
    oc_b_input(b, "s", type);
    oc_b_node(b, "Cast", "c", "s", "t", "to=7");
    oc_b_node(b, "Reshape", "r", "x,t", "y", "");
    oc_b_output(b, "y", NULL);
    const struct oc_value_bind value = {"s", text};
    struct oc_run r = oc_run_model(b, &(struct oc_analyze_opts){.value = &value, .n_value = 1});
    assert_string_equal(oc_run_type(&r, "y"), want);
    oc_run_free(&r);
    unlink(path);
}

/* The contents of a file determine shapes like those of a text: TensorProto {dims 2, type, raw_data}. */
static void value_from_a_file_determines_shapes(void **state)
{
    (void)state;
    static const unsigned char integers[] = {0x08, 2, 0x10, 7, 0x4a, 16, 3, 0, 0, 0, 0,
                                             0,    0, 0,    2, 0,    0,  0, 0, 0, 0, 0};
    /* 2 and 3 as bfloat16, which tools without this type store as the unsigned integers of its bits */
    static const unsigned char bits[] = {0x08, 2, 0x10, 4, 0x4a, 4, 0x00, 0x40, 0x40, 0x40};
    expect_file_shape("int64[2]", integers, sizeof(integers), "float[3,2]");
    expect_file_shape("bfloat16[2]", bits, sizeof(bits), "float[2,3]");
}

/* Branches of different shapes: equal dimensions are kept, others become one unknown bounded by the larger.
 */
static void if_merges_branch_shapes(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "c", "bool[]");
    oc_b_input(b, "p", "float[2,3]");
    oc_b_input(b, "q", "float[2,5]");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "a", "p", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Relu", "b", "q", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_node(b, "Neg", "after", "y", "z", "");
    oc_b_output(b, "z", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_string_equal(oc_run_type(&r, "y"), "float[2,y.1]");
    assert_int_equal(r.a->cost[oc_run_node(&r, "after")].flops, 10); /* at the bound, 2x5 */
    assert_int_equal(r.a->cost[oc_run_node(&r, "after")].quality, OC_UPPER);
    oc_run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_trip_count_multiplies_the_body),
        cmocka_unit_test(trip_number_has_the_declared_rank),
        cmocka_unit_test(cost_is_linear_in_trips),
        cmocka_unit_test(one_of_an_unknown_number_of_trips_is_an_assumption),
        cmocka_unit_test(test_convention_that_counts_once),
        cmocka_unit_test(computed_condition_makes_trips_an_upper_bound),
        cmocka_unit_test(while_loop_over_its_counter_is_exact),
        cmocka_unit_test(carried_values_are_those_of_the_last_trip),
        cmocka_unit_test(while_loop_of_unknown_length_is_a_lower_bound),
        cmocka_unit_test(given_trips_win_over_the_models),
        cmocka_unit_test(bound_beyond_64_bits_counts_one_trip),
        cmocka_unit_test(bound_near_64_bits_counts_one_trip),
        cmocka_unit_test(growing_state_is_unrolled_for_known_trips),
        cmocka_unit_test(nodes_of_unrolled_trips_have_their_state),
        cmocka_unit_test(slices_of_an_axis_that_is_not_there_have_no_shape),
        cmocka_unit_test(scan_runs_once_per_slice),
        cmocka_unit_test(scan_without_its_first_result),
        cmocka_unit_test(long_unknown_lists_in_a_body_take_little_memory),
        cmocka_unit_test(scan_of_opset_8_has_a_batch),
        cmocka_unit_test(value_from_a_file_determines_shapes),
        cmocka_unit_test(if_merges_branch_shapes),
    };
    return cmocka_run_group_tests_name("analyze/loop", tests, NULL, NULL);
}
