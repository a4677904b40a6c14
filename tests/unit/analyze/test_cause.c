/* Which value of a model is named as the reason of an unknown size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/build.h"
#include "onnxcost.h"

/* The name of the root cause of value y, or "known". Frees the builder. */
static const char *cause_name(struct oc_builder *b)
{
    static char name[64];
    const struct oc_analyze_opts o = {.no_defaults = true};
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err err = {0};
    size_t n;
    oc_b_output(b, "y", "float");
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, &o, &a, &err))
        fail_msg("%s", err.msg);
    strcpy(name, "no such value");
    for (uint32_t i = 0; i < m->n_value; i++)
        if (strcmp(m->value[i].name, "y") == 0 && m->value[i].graph == 0) {
            uint32_t c = a->root_cause[i];
            snprintf(name, sizeof(name), "%s", c == OC_NONE ? "known" : m->value[c].name);
        }
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
    return name;
}

static struct oc_builder *model(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,12]");
    oc_b_input(b, "k", "int32[1]");
    return b;
}

/* The shape is computed from a graph input, through nodes whose constants are irrelevant. */
static void cause_is_the_input_that_a_shape_is_computed_from(void **state)
{
    (void)state;
    struct oc_builder *b = model();
    oc_b_init(b, "four", "int64[1]{4}");
    oc_b_node(b, "Cast", NULL, "k", "k64", "to=7");
    oc_b_node(b, "Concat", NULL, "k64,four,k64", "shape", "axis=0");
    oc_b_node(b, "Reshape", NULL, "x,shape", "r", "");
    oc_b_node(b, "Relu", NULL, "r", "y", "");
    assert_string_equal(cause_name(b), "k");
}

/* NonZero counts elements of x; Compress depends on its second operand, not on the first unknown one. */
static void cause_is_the_operand_that_decides_the_size(void **state)
{
    (void)state;
    struct oc_builder *b = model();
    oc_b_node(b, "NonZero", NULL, "x", "at", "");
    oc_b_node(b, "Cast", NULL, "at", "y", "to=1");
    assert_string_equal(cause_name(b), "x");
    b = model();
    oc_b_input(b, "which", "bool[2]");
    oc_b_node(b, "Compress", NULL, "x,which", "y", "axis=0");
    assert_string_equal(cause_name(b), "which");
}

/* An unknown size of an input, also when it is used as a value. */
static void cause_is_the_input_with_an_unknown_type(void **state)
{
    (void)state;
    struct oc_builder *b = model();
    oc_b_input(b, "any", "float");
    oc_b_node(b, "Shape", NULL, "any", "s", "");
    oc_b_node(b, "Expand", NULL, "x,s", "y", "");
    assert_string_equal(cause_name(b), "any");
    b = model();
    oc_b_input(b, "batch", "float[N,12]");
    oc_b_node(b, "Concat", NULL, "x,batch", "y", "axis=0");
    assert_string_equal(cause_name(b), "batch");
}

/* The trip count; and a size that becomes unknown inside a body because of a value from outside. */
static void cause_is_found_across_loop_bodies(void **state)
{
    (void)state;
    struct oc_builder *b = model();
    oc_b_input(b, "trips", "int64[]");
    oc_b_init(b, "true", "bool[]{1}");
    oc_b_node(b, "Loop", NULL, "trips,true", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "c", "bool[]");
    oc_b_node(b, "Identity", NULL, "c", "c2", "");
    oc_b_node(b, "Identity", NULL, "x", "z", "");
    oc_b_output(b, "c2", "bool[]");
    oc_b_output(b, "z", "float");
    oc_b_close(b);
    assert_string_equal(cause_name(b), "trips");
    b = model();
    oc_b_init(b, "true", "bool[]{1}");
    oc_b_node(b, "If", NULL, "true", "y", "");
    for (int i = 0; i < 2; i++) {
        oc_b_open(b, i ? "then_branch" : "else_branch");
        oc_b_node(b, "Cast", NULL, "k", i ? "t" : "e", "to=7");
        oc_b_node(b, "ConstantOfShape", NULL, i ? "t" : "e", i ? "tx" : "ex", "");
        oc_b_output(b, i ? "tx" : "ex", "float");
        oc_b_close(b);
    }
    assert_string_equal(cause_name(b), "k");
}

/* "code where: text" of all warnings, one a line. Frees the builder. */
static const char *warnings_of(struct oc_builder *b)
{
    static char text[1024];
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err err = {0};
    const struct oc_diag *d;
    size_t n, at = 0;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, NULL, &a, &err))
        fail_msg("%s", err.msg);
    n = oc_analysis_diags(a, &d);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s: %s\n", d[i].code, d[i].where, d[i].text);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
    return text;
}

static void unknown_costs_name_the_option_that_helps(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "from", "int64[]");
    oc_b_input(b, "to", "int64[]");
    oc_b_init(b, "one", "int64[]{1}");
    oc_b_node(b, "Range", NULL, "from,to,one", "y", "");
    oc_b_node(b, "Neg", NULL, "y", "z", "");
    oc_b_output(b, "z", NULL);
    assert_string_equal(
        warnings_of(b),
        "W-unknown-input from: a size depends on its value; give it with --value from=...\n"); /* once */
    b = oc_b_new(17);
    oc_b_input(b, "x", "int8[2,3]");
    oc_b_input(b, "scale", "float[]");
    oc_b_input(b, "zero", "int8");
    oc_b_node(b, "DequantizeLinear", NULL, "x,scale,zero", "y", "");
    oc_b_output(b, "y", NULL);
    assert_non_null(strstr(warnings_of(b), "--shape zero=scalar"));
    /* no value of an image helps a convolution that does not fit */
    b = oc_b_new(17);
    oc_b_input(b, "image", "float[1,1,2,2]");
    oc_b_init(b, "w", "float[1,1,3,3]");
    oc_b_node(b, "Conv", NULL, "image,w", "y", "");
    oc_b_node(b, "Relu", NULL, "y", "z", "");
    oc_b_output(b, "z", NULL);
    assert_null(strstr(warnings_of(b), "W-unknown-input"));
    /* no value helps an operator without a rule */
    b = oc_b_new(17);
    oc_b_opset(b, "test.foreign", 1);
    oc_b_input(b, "x", "float[4]");
    oc_b_node(b, "test.foreign::Whale", NULL, "x", "y", "");
    oc_b_node(b, "Relu", NULL, "y", "z", "");
    oc_b_output(b, "z", NULL);
    assert_null(strstr(warnings_of(b), "W-unknown-input"));
}

/* ONNX: then_branch and else_branch have no inputs. */
static void branches_with_inputs_are_reported(void **state)
{
    (void)state;
    for (int formal = 0; formal < 2; formal++) {
        struct oc_builder *b = model();
        oc_b_input(b, "c", "bool[]");
        oc_b_node(b, "If", "choice", "c", "y", "");
        for (int i = 0; i < 2; i++) {
            oc_b_open(b, i ? "then_branch" : "else_branch");
            if (formal)
                oc_b_input(b, i ? "then_x" : "else_x", "float[2,12]");
            oc_b_node(b, "Relu", NULL, !formal ? "x" : i ? "then_x" : "else_x", i ? "t" : "e", "");
            oc_b_output(b, i ? "t" : "e", "float");
            oc_b_close(b);
        }
        oc_b_output(b, "y", NULL);
        const char *text = warnings_of(b);
        const char *found = strstr(text, "W-branch-input choice: ");
        assert_true(formal ? found && !strstr(found + 1, "W-branch-input") : !found);
    }
}

/* An empty list has no unknown value. */
static void empty_list_is_not_a_cause(void **state)
{
    (void)state;
    struct oc_builder *b = model();
    oc_b_input(b, "axes", "int64[0]");
    oc_b_node(b, "ReduceSum", NULL, "x,axes", "y", "keepdims=1");
    assert_string_equal(cause_name(b), "known");
}

/* Strings count as zero bytes, so an unknown number of words leaves no cost unknown. */
static void unknown_number_of_strings_leaves_costs_known(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(20);
    struct oc_model *m;
    struct oc_analysis *a = NULL;
    struct oc_err err = {0};
    size_t n;
    oc_b_input(b, "x", "string[3]");
    oc_b_node(b, "StringSplit", NULL, "x", "y,count", "");
    oc_b_output(b, "y", "string");
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, NULL, &a, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(a->total->unknown_nodes, 0);
    assert_int_equal(a->cost[0].quality, OC_EST);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cause_is_the_input_that_a_shape_is_computed_from),
        cmocka_unit_test(cause_is_the_operand_that_decides_the_size),
        cmocka_unit_test(cause_is_the_input_with_an_unknown_type),
        cmocka_unit_test(cause_is_found_across_loop_bodies),
        cmocka_unit_test(unknown_costs_name_the_option_that_helps),
        cmocka_unit_test(branches_with_inputs_are_reported),
        cmocka_unit_test(empty_list_is_not_a_cause),
        cmocka_unit_test(unknown_number_of_strings_leaves_costs_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
