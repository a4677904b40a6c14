/* Models with operators that only a user's rule file defines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "ops/user_rules.h"
#include "support/run_model.h"
#include "onnxcost.h"

/* Twice the rows, one MAC per output element. */
static const char twice[] =
    "<op-rules version=\"1\"><op domain=\"acme\" name=\"Twice\" since=\"1\" class=\"gemm\">\n"
    "<output shape=\"[in0[0]*2] + in0[1:]\"/>\n"
    "<count prim=\"MAC\" n=\"N(out0)*attr.k|1\"/></op>\n"
    "<op domain=\"ai.onnx\" name=\"Relu\" since=\"1\"%s><output shape=\"in0\"/>\n"
    "<count prim=\"EXP\" n=\"N(in0)\"/></op></op-rules>";

static struct oc_op_rules *rules_with(const char *attributes)
{
    char text[1000];
    struct oc_op_rules *rules;
    struct oc_err err = {0};
    snprintf(text, sizeof(text), twice, attributes);
    if (oc_op_rules_read_mem("r.xml", text, strlen(text), &rules, &err))
        fail_msg("%s", err.msg);
    return rules;
}

static struct oc_builder *chain(const char *type)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "acme", 1);
    oc_b_input(b, "x", type);
    oc_b_node(b, "acme::Twice", "t1", "x", "y", "k=3");
    oc_b_node(b, "acme::Twice", "t2", "y", "z", "");
    oc_b_node(b, "Relu", "r", "z", "o", "");
    oc_b_output(b, "o", NULL);
    return b;
}

static void operators_are_unknown_without_the_rule_file(void **state)
{
    (void)state;
    struct oc_run r = oc_run_model(chain("float[5,4]"), NULL);
    assert_int_equal(r.a->total->unknown_nodes, 3);
    assert_int_equal(oc_run_diags(&r, "W-unknown-op"), 2);
    oc_run_free(&r);
}

/* x[5,4]: y[10,4] with 40*3 MACs, z[20,4] with 80, and 80 compares of Relu: 2*(120 + 80) + 80. */
static void rules_of_the_file_are_used(void **state)
{
    (void)state;
    struct oc_op_rules *rules = rules_with("");
    struct oc_analyze_opts o = {.rules = rules};
    struct oc_run r = oc_run_model(chain("float[5,4]"), &o);
    assert_string_equal(oc_run_type(&r, "o"), "float[20,4]");
    assert_int_equal(r.a->total->macs, 200);
    assert_int_equal(r.a->total->flops, 480);
    assert_int_equal(r.a->total->unknown_nodes, 0);
    assert_int_equal(r.a->total->quality, OC_EXACT);
    assert_int_equal(r.a->cost[oc_run_node(&r, "t1")].rd_act, 80);
    assert_int_equal(r.a->cost[oc_run_node(&r, "t1")].wr, 160);
    assert_int_equal(r.a->cost[oc_run_node(&r, "t1")].op_class, OC_OP_GEMM);
    assert_int_equal(r.a->n_assumption, 1); /* once for both nodes */
    assert_string_equal(r.a->assumption[0].what, "operator");
    assert_string_equal(r.a->assumption[0].name, "acme:Twice");
    assert_string_equal(r.a->assumption[0].reason, "r.xml:1");
    assert_int_equal(oc_run_diags(&r, "I-rule-unused"), 1); /* Relu is built in */
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

static void override_replaces_a_built_in_rule(void **state)
{
    (void)state;
    struct oc_op_rules *rules = rules_with(" override=\"yes\"");
    struct oc_analyze_opts o = {.rules = rules, .weights = "hw"};
    struct oc_run r = oc_run_model(chain("float[5,4]"), &o);
    assert_int_equal(r.a->cost[oc_run_node(&r, "r")].transcendentals, 80);
    assert_int_equal(r.a->cost[oc_run_node(&r, "r")].flops, 80 * 16);
    assert_int_equal(r.a->n_assumption, 2);
    assert_int_equal(oc_run_diags(&r, "I-rule-unused"), 0);
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

static void unbound_sizes_stay_symbolic(void **state)
{
    (void)state;
    struct oc_op_rules *rules = rules_with("");
    struct oc_analyze_opts o = {.rules = rules, .no_defaults = true};
    struct oc_run r = oc_run_model(chain("float[N,4]"), &o);
    assert_string_equal(oc_run_type(&r, "o"), "float[4*N,4]");
    assert_int_equal(r.a->total->unknown_nodes, 3);
    assert_int_equal(r.a->cost[oc_run_node(&r, "t1")].quality, OC_UNKNOWN);
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

/* 2^61 rows, doubled twice: 2^63 exceeds a size. */
static void overflow_names_the_node(void **state)
{
    (void)state;
    struct oc_op_rules *rules = rules_with("");
    struct oc_analyze_opts o = {.rules = rules};
    struct oc_run r = oc_run_model(chain("float[2305843009213693952]"), &o);
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "node 't2' (Twice): its shape overflows 64 bits"));
    oc_run_free(&r);
    r = oc_run_model(chain("float[1152921504606846976]"),
                     &o); /* 3*2^61 MACs are 6*2^61 operations; * 4 bytes */
    assert_null(r.a);
    assert_non_null(strstr(r.err.msg, "node 't2' (Twice): its counts overflow 64 bits"));
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

static void rule_failures_are_warnings(void **state)
{
    (void)state;
    struct oc_op_rules *rules = rules_with("");
    struct oc_analyze_opts o = {.rules = rules};
    struct oc_run r = oc_run_model(chain("float[]"), &o);
    assert_int_equal(oc_run_diags(&r, "E-shape"),
                     1); /* the second node has no rank to check an axis against */
    assert_string_equal(r.a->diags.item[0].text,
                        "Twice: r.xml:2: output 0: in0 has no axis 0: its rank is 0");
    assert_int_equal(r.a->total->unknown_nodes, 3);
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

/* The model's own definition of a function takes precedence. */
static struct oc_builder *with_function(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "acme", 1);
    oc_b_input(b, "x", "float[5,4]");
    oc_b_node(b, "acme::Twice", "call", "x", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_function(b, "acme", "Twice", "a", "b", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Sqrt", "s", "a", "b", "");
    oc_b_close(b);
    return b;
}

static void functions_of_the_model_take_precedence(void **state)
{
    (void)state;
    struct oc_op_rules *rules = rules_with("");
    struct oc_analyze_opts o = {.rules = rules};
    struct oc_run r = oc_run_model(with_function(), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[5,4]");
    assert_int_equal(r.a->total->flops, 20);
    assert_int_equal(oc_run_diags(&r, "I-rule-unused"), 1);
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

static void override_replaces_functions_of_the_model(void **state)
{
    (void)state;
    static const char text[] =
        "<op-rules version=\"1\"><op domain=\"acme\" name=\"Twice\" since=\"1\" override=\"yes\">"
        "<output shape=\"[7]\"/><count prim=\"ADD\" n=\"3\"/></op></op-rules>";
    struct oc_op_rules *rules;
    assert_int_equal(oc_op_rules_read_mem("r.xml", text, strlen(text), &rules, NULL), 0);
    struct oc_analyze_opts o = {.rules = rules};
    struct oc_run r = oc_run_model(with_function(), &o);
    assert_string_equal(oc_run_type(&r, "y"), "float[7]");
    assert_int_equal(r.a->total->flops, 3);
    assert_int_equal(r.a->total->nodes, 1);
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

/* Without inputs everything is constant: such a node is folded unless the rule forbids it. */
static void node_without_inputs_is_folded_unless_the_rule_forbids_it(void **state)
{
    (void)state;
    static const char *const fold[] = {"", " fold=\"no\""};
    for (unsigned i = 0; i < 2; i++) {
        char text[400];
        struct oc_op_rules *rules;
        snprintf(text, sizeof(text),
                 "<op-rules version=\"1\"><op domain=\"acme\" name=\"Noise\" since=\"1\"%s>"
                 "<output dtype=\"float\" shape=\"[6]\"/><count prim=\"RNG\" n=\"N(out0)\"/></op></op-rules>",
                 fold[i]);
        assert_int_equal(oc_op_rules_read_mem("r.xml", text, strlen(text), &rules, NULL), 0);
        struct oc_builder *b = oc_b_new(17);
        oc_b_opset(b, "acme", 1);
        oc_b_node(b, "acme::Noise", "n", "", "y", "");
        oc_b_output(b, "y", NULL);
        struct oc_analyze_opts o = {.rules = rules};
        struct oc_run r = oc_run_model(b, &o);
        assert_string_equal(oc_run_type(&r, "y"), "float[6]");
        assert_int_equal(r.a->total->flops, i ? 6 : 0);
        oc_run_free(&r);
        oc_op_rules_free(rules);
    }
}

/* The model of tests/golden/op_rules and others: two operators of hwdb/op-rules/example.xml and one unknown
 * operator. */
static struct oc_builder *golden_model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "mmcv", 1);
    oc_b_opset(b, "acme", 1);
    oc_b_input(b, "image", "float[batch,16,32,32]");
    oc_b_init(b, "w_offset", "float[27,16,3,3]");
    oc_b_init(b, "w", "float[32,16,3,3]");
    oc_b_init(b, "codes", "uint8[2560]");
    oc_b_init(b, "scales", "float[160]");
    oc_b_init(b, "parts", "int64[2]{18,9}");
    oc_b_node(b, "Conv", "offsets", "image,w_offset", "om", "kernel_shape=3,3 pads=1,1,1,1");
    oc_b_node(b, "Split", "split", "om,parts", "offset,mask", "axis=1");
    oc_b_node(b, "Sigmoid", "gate", "mask", "gated", "");
    oc_b_node(b, "mmcv::MMCVModulatedDeformConv2d", "deform", "image,offset,gated,w", "features",
              "stride=1,1 padding=1,1 dilation=1,1 groups=1 deform_groups=1");
    oc_b_node(b, "Relu", "relu", "features", "active", "");
    oc_b_node(b, "GlobalAveragePool", "pool", "active", "pooled", "");
    oc_b_node(b, "Flatten", "flatten", "pooled", "flat", "");
    oc_b_node(b, "acme::PackedDense", "dense", "flat,codes,scales", "logits", "units=160");
    oc_b_output(b, "logits", "float[batch,160]");
    return b;
}

/* The file that the golden tests read is this model. */
static void golden_test_file_is_current(void **state)
{
    (void)state;
    struct oc_file file;
    struct oc_builder *b = golden_model();
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_file_map("tests/data/op_rules/custom.onnx", 0, &file, NULL), 0);
    assert_int_equal(file.size_bytes, n);
    assert_memory_equal(file.data, bytes, n);
    oc_file_unmap(&file);
    free(bytes);
}

/* Batch 2: offsets 2*27*1024*144 = 7,962,624 MACs, deform 2*32*1024*144 = 9,437,184, dense 2*32*160 = 10,240.
 */
static void example_rules_count_in_a_model(void **state)
{
    (void)state;
    struct oc_op_rules *rules;
    assert_int_equal(oc_op_rules_load("hwdb/op-rules/example.xml", &rules, NULL), 0);
    const struct oc_bind bind = {"batch", 2};
    struct oc_analyze_opts o = {.rules = rules, .bind = &bind, .n_bind = 1};
    struct oc_run r = oc_run_model(golden_model(), &o);
    assert_string_equal(oc_run_type(&r, "features"), "float[2,32,32,32]");
    assert_string_equal(oc_run_type(&r, "logits"), "float[2,160]");
    assert_int_equal(r.a->total->macs, 7962624 + 9437184 + 10240);
    assert_int_equal(r.a->total->unknown_nodes, 0);
    /* codes: half a byte for each of 32*160 weights; scales: 160 floats */
    assert_int_equal(r.a->cost[oc_run_node(&r, "dense")].rd_wt, 2560 + 640);
    oc_run_free(&r);
    oc_op_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_unknown_without_the_rule_file),
        cmocka_unit_test(rules_of_the_file_are_used),
        cmocka_unit_test(override_replaces_a_built_in_rule),
        cmocka_unit_test(unbound_sizes_stay_symbolic),
        cmocka_unit_test(overflow_names_the_node),
        cmocka_unit_test(rule_failures_are_warnings),
        cmocka_unit_test(functions_of_the_model_take_precedence),
        cmocka_unit_test(override_replaces_functions_of_the_model),
        cmocka_unit_test(node_without_inputs_is_folded_unless_the_rule_forbids_it),
        cmocka_unit_test(golden_test_file_is_current),
        cmocka_unit_test(example_rules_count_in_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
