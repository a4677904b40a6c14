/* Open dimensions of inputs: sizes that weights require, sizes that fit, and what a failure says about them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "base/ck.h"
#include "onnxcost.h"
#include "support/build.h"

struct made {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

static void analyze(struct made *m, struct oc_builder *b)
{
    size_t n;
    struct oc_err err;
    m->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(m->bytes, n, NULL, &m->model, &err) ||
        oc_analyze(m->model, NULL, &m->analysis, &err))
        fail_msg("%s", err.msg);
}

static void drop(struct made *m)
{
    oc_analysis_free(m->analysis);
    oc_model_free(m->model);
    free(m->bytes);
}

/* One operator with a weight, after another: the input's open dimension `axis` gets the size and the reason.
 */
static void expect_size_after(const char *keeper, const char *op, const char *input, const char *weight,
                              const char *attr, unsigned axis, int64_t size)
{
    struct made m;
    struct oc_builder *b = oc_b_new(17);
    int64_t dim[64];
    struct oc_input_info in;
    char type[64];
    const bool rnn = !strcmp(op, "LSTM"), quantized = !strncmp(op, "QLinear", 7);
    oc_b_input(b, "x", input);
    oc_b_init(b, "w", weight);
    oc_b_init(b, "r", "float[1,32,8]");
    oc_b_init(b, "s", "float");
    oc_b_init(b, "zp", "uint8");
    oc_b_node(b, keeper, "keeps", "x", "y", !strcmp(keeper, "Cast") ? "to=1" : "");
    oc_b_node(b, op, "n", quantized ? "y,s,zp,w,s,zp,s,zp" : rnn ? "y,w,r" : "y,w", "z", attr);
    oc_b_output(b, "z", quantized ? "uint8" : "float");
    analyze(&m, b);
    assert_true(oc_analysis_input(m.analysis, 0, dim, &in));
    if (dim[axis] != size)
        fail_msg("%s: %lld", op, (long long)dim[axis]);
    snprintf(type, sizeof(type), "c = %lld (required by the weights of a %s)", (long long)size, op);
    assert_non_null(strstr(in.assumed, type));
    drop(&m);
}

static void expect_size(const char *op, const char *input, const char *weight, const char *attr,
                        unsigned axis, int64_t size)
{
    expect_size_after("Relu", op, input, weight, attr, axis, size);
}

/* Features up to the largest that a node compares, here 5; the ids of leaves mean nothing. Not the rows. */
static void trees_need_the_features_that_they_compare(void **state)
{
    (void)state;
    static const char *const input[] = {"float[N,c]", "float[1,c]", "float[N,9]"};
    for (size_t i = 0; i < OC_COUNT(input); i++) {
        struct made m;
        struct oc_builder *b = oc_b_new(17);
        int64_t dim[64];
        struct oc_input_info in;
        oc_b_opset(b, "ai.onnx.ml", 3);
        oc_b_input(b, "x", input[i]);
        oc_b_node(b, "ai.onnx.ml::TreeEnsembleRegressor", "tree", "x", "y",
                  "nodes_treeids=[0,0,0] nodes_nodeids=[0,1,2] nodes_featureids=[5,7,0] "
                  "nodes_modes=[BRANCH_LEQ,LEAF,LEAF] nodes_truenodeids=[1,0,0] "
                  "nodes_falsenodeids=[2,0,0] target_treeids=[0,0] target_nodeids=[1,2] "
                  "target_ids=[0,0] target_weights=[1.0,2.0]");
        oc_b_output(b, "y", "float");
        analyze(&m, b);
        assert_true(oc_analysis_input(m.analysis, 0, dim, &in));
        assert_int_equal(dim[0], 1);
        assert_int_equal(dim[1], i == 2 ? 9 : 6);
        if (i < 2)
            assert_non_null(strstr(in.assumed, "6 (the smallest size that a TreeEnsembleRegressor accepts)"));
        drop(&m);
    }
}

static void sizes_pass_operators_that_keep_the_shape(void **state)
{
    (void)state;
    static const char *const keeper[] = {"Identity", "Cast", "Softmax", "Dropout", "Exp", "Erf", "HardSwish"};
    for (size_t i = 0; i < OC_COUNT(keeper); i++)
        expect_size_after(keeper[i], "MatMul", "float[1,4,c]", "float[24,7]", "", 2, 24);
}

static void weights_decide_open_dimensions(void **state)
{
    (void)state;
    expect_size("Conv", "float[1,c,9,9]", "float[8,6,3,3]", "", 1, 6);
    expect_size("Conv", "float[1,c,9,9]", "float[8,2,3,3]", "group=4", 1, 8);
    expect_size("ConvTranspose", "float[1,c,9,9]", "float[5,6,3,3]", "", 1, 5);
    expect_size("QLinearConv", "uint8[1,c,9,9]", "uint8[8,6,3,3]", "", 1, 6);
    expect_size("MatMul", "float[1,4,c]", "float[24,7]", "", 2, 24);
    expect_size("QLinearMatMul", "uint8[1,4,c]", "uint8[24,7]", "", 2, 24);
    expect_size("Gemm", "float[1,c]", "float[7,40]", "transB=1", 1, 40);
    expect_size("Gemm", "float[1,c]", "float[40,7]", "", 1, 40);
    expect_size("LSTM", "float[5,1,c]", "float[1,32,10]", "hidden_size=8", 2, 10);
    expect_size("Reshape", "float[1,c]", "int64[3]{-1,3,8}", "", 1, 24);
}

/* Exporters of PyTorch share equal weights by Identity, and keep the fake quantization of training. */
static void weights_are_found_after_nodes_that_keep_their_shape(void **state)
{
    (void)state;
    static const char *const keeper[] = {"Identity", "Cast", "QuantizeLinear"};
    for (size_t i = 0; i < OC_COUNT(keeper); i++) {
        struct made m;
        struct oc_builder *b = oc_b_new(17);
        int64_t dim[64];
        struct oc_input_info in;
        oc_b_input(b, "x", "float[1,c,9,9]");
        oc_b_init(b, "w", "float[8,6,3,3]");
        oc_b_init(b, "s", "float");
        oc_b_init(b, "zp", "uint8");
        oc_b_node(b, keeper[i], "keeps", i == 2 ? "w,s,zp" : "w", "v", i == 1 ? "to=1" : "");
        if (i == 2)
            oc_b_node(b, "DequantizeLinear", "back", "v,s,zp", "u", "");
        oc_b_node(b, "Conv", "n", i == 2 ? "x,u" : "x,v", "y", "");
        oc_b_output(b, "y", "float");
        analyze(&m, b);
        assert_true(oc_analysis_input(m.analysis, 0, dim, &in));
        if (dim[1] != 6 || !strstr(in.assumed, "required by the weights of a Conv"))
            fail_msg("%s: %lld, %s", keeper[i], (long long)dim[1], in.assumed);
        drop(&m);
    }
}

/* The window does not fit into one element: a longer input is tried. */
static void lengths_that_do_not_fit_are_revised(void **state)
{
    (void)state;
    struct made m;
    struct oc_builder *b = oc_b_new(17);
    int64_t dim[64];
    struct oc_input_info in;
    oc_b_input(b, "x", "float[batch,1,samples]");
    oc_b_init(b, "w", "float[4,1,400]");
    oc_b_node(b, "Conv", "stft", "x,w", "z", "strides=160");
    oc_b_output(b, "z", "float");
    analyze(&m, b);
    assert_true(oc_analysis_input(m.analysis, 0, dim, &in));
    assert_int_equal(dim[2], 512);
    assert_string_equal(in.assumed,
                        "batch = 1 (default for a batch), samples = 512 (first tried size that fits the "
                        "model)");
    drop(&m);
}

/* 77 positions: not a multiple of the default; 8 patches are the first that 4 divides after sizes of the
 * node.
 */
static void sizes_at_failing_nodes_and_multiples_are_tried(void **state)
{
    (void)state;
    static const struct {
        const char *input, *weight, *op;
        unsigned axis;
        int64_t size;
    } row[] = {{"float[batch,sequence]", "float[77]", "Add", 1, 77},
               {"float[num_patches,3]", "int64[2]{-1,12}", "Reshape", 0, 4}};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct made m;
        int64_t dim[64];
        struct oc_input_info in;
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", row[i].input);
        oc_b_init(b, "w", row[i].weight);
        oc_b_node(b, "Relu", "keeps", "x", "y", "");
        oc_b_node(b, row[i].op, "n", "y,w", "z", "");
        oc_b_output(b, "z", "float");
        analyze(&m, b);
        assert_true(oc_analysis_input(m.analysis, 0, dim, &in));
        assert_int_equal(dim[row[i].axis], row[i].size);
        assert_non_null(strstr(in.assumed, "first tried size that fits the model"));
        assert_int_equal(m.analysis->total->quality, OC_EXACT);
        drop(&m);
    }
}

static void failure_names_the_assumed_dimensions(void **state)
{
    (void)state;
    struct made m;
    const struct oc_diag *d;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[batch,samples]");
    oc_b_init(b, "v", "float[500]");
    oc_b_init(b, "w", "float[600]"); /* no size fits both */
    oc_b_node(b, "Add", "five", "x,v", "y", "");
    oc_b_node(b, "Add", "six", "y,w", "z", "");
    oc_b_output(b, "z", "float");
    analyze(&m, b);
    size_t n = oc_analysis_diags(m.analysis, &d);
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found |= !strcmp(d[i].code, "E-shape") && strstr(d[i].text, "do not broadcast") &&
                 strstr(d[i].text, "; perhaps because samples is assumed to be ");
    assert_true(found);
    drop(&m);
}

/* n inputs with an open dimension each, read by chains of their own. */
static size_t bytes_of_analysis(unsigned n)
{
    struct made m;
    struct oc_builder *b = oc_b_new(17);
    char name[16], type[32], out[16];
    oc_b_init(b, "w", "float[6,4]");
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        snprintf(type, sizeof(type), "float[b,d%u]", i);
        oc_b_input(b, name, type);
        snprintf(out, sizeof(out), "y%u", i);
        oc_b_node(b, "Relu", out, name, out, "");
        snprintf(type, sizeof(type), "y%u,w", i);
        snprintf(out, sizeof(out), "z%u", i);
        oc_b_node(b, "MatMul", out, type, out, "");
        oc_b_output(b, out, "float");
    }
    analyze(&m, b);
    for (unsigned i = 0; i < n; i++) {
        struct oc_input_info in;
        int64_t dim[64];
        assert_true(oc_analysis_input(m.analysis, i, dim, &in));
        assert_int_equal(dim[1], 6);
    }
    size_t bytes = m.analysis->arena.used_bytes;
    drop(&m);
    return bytes;
}

static void many_open_dimensions_take_linear_memory(void **state)
{
    (void)state;
    size_t few = bytes_of_analysis(200), many = bytes_of_analysis(3200);
    if (many > 17 * few)
        fail_msg("%zu bytes for 200, %zu for 3200 dimensions", few, many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_decide_open_dimensions),
        cmocka_unit_test(weights_are_found_after_nodes_that_keep_their_shape),
        cmocka_unit_test(trees_need_the_features_that_they_compare),
        cmocka_unit_test(sizes_pass_operators_that_keep_the_shape),
        cmocka_unit_test(lengths_that_do_not_fit_are_revised),
        cmocka_unit_test(sizes_at_failing_nodes_and_multiples_are_tried),
        cmocka_unit_test(failure_names_the_assumed_dimensions),
        cmocka_unit_test(many_open_dimensions_take_linear_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
