/* Sequences and optionals in whole models: lengths, elements of different sizes, loops that append. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/build.h"
#include "onnxcost.h"

struct result {
    struct oc_model *m;
    struct oc_analysis *a;
    uint8_t *bytes;
};

static struct result run(struct oc_builder *b)
{
    struct result r;
    struct oc_err err = {0};
    size_t n;
    r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &err) || oc_analyze(r.m, NULL, &r.a, &err))
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < r.a->diags.n; i++)
        if (r.a->diags.item[i].severity == OC_ERROR)
            fail_msg("%s", r.a->diags.item[i].text);
    return r;
}

static void result_free(struct result *r)
{
    oc_analysis_free(r->a);
    oc_model_free(r->m);
    free(r->bytes);
}

static const char *type_of(struct result *r, const char *name)
{
    for (uint32_t i = 0; i < r->m->n_value; i++)
        if (strcmp(r->m->value[i].name, name) == 0)
            return oc_type_text(&r->a->arena, r->a->exprs, &r->a->type[i]);
    return "no such value";
}

/* [7,4] split into 3, 3 and 1; the last part is taken, the rest concatenated again. */
static void split_parts_keep_their_size(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[7,4]");
    oc_b_init(b, "three", "int64[]{3}");
    oc_b_init(b, "minus1", "int64[]{-1}");
    oc_b_node(b, "SplitToSequence", NULL, "x,three", "s", "axis=0");
    oc_b_node(b, "SequenceAt", NULL, "s,minus1", "last", "");
    oc_b_node(b, "SequenceErase", NULL, "s,minus1", "rest", "");
    oc_b_node(b, "ConcatFromSequence", NULL, "rest", "y", "axis=0");
    oc_b_node(b, "SequenceLength", NULL, "rest", "n", "");
    oc_b_node(b, "ConstantOfShape", NULL, "shape", "z", "");
    oc_b_node(b, "Unsqueeze", NULL, "n,first", "shape", "");
    oc_b_init(b, "first", "int64[1]{0}");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "last", NULL);
    oc_b_output(b, "z", NULL);
    struct result r = run(b);
    assert_string_equal(type_of(&r, "last"), "float[1,4]");
    assert_string_equal(type_of(&r, "y"), "float[6,4]");
    assert_string_equal(type_of(&r, "z"), "float[2]"); /* one per element of the sequence */
    result_free(&r);
}

/* for i < M: s.insert(x); then all are stacked */
static struct oc_builder *loop_that_appends(const char *trips)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,3]");
    if (trips)
        oc_b_init(b, "M", trips);
    else
        oc_b_input(b, "M", "int64[]");
    oc_b_node(b, "SequenceEmpty", NULL, "", "s", "");
    oc_b_node(b, "Loop", "loop", "M,,s", "t", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "c", "bool[]");
    oc_b_input(b, "in", "seq(float)");
    oc_b_node(b, "Identity", NULL, "c", "c2", "");
    oc_b_node(b, "Relu", NULL, "x", "r", "");
    oc_b_node(b, "SequenceInsert", NULL, "in,r", "out", "");
    oc_b_output(b, "c2", "bool[]");
    oc_b_output(b, "out", NULL);
    oc_b_close(b);
    oc_b_node(b, "ConcatFromSequence", "stack", "t", "y", "axis=0 new_axis=1");
    oc_b_output(b, "y", NULL);
    return b;
}

static void loop_appends_to_a_sequence(void **state)
{
    (void)state;
    struct result r = run(loop_that_appends("int64[]{5}"));
    assert_string_equal(type_of(&r, "y"), "float[5,2,3]");
    result_free(&r);
    /* too many to unroll, and an unknown trip count: the element type is still known */
    r = run(loop_that_appends("int64[]{1000}"));
    assert_non_null(strstr(type_of(&r, "y"), ",2,3]"));
    result_free(&r);
    r = run(loop_that_appends(NULL));
    assert_non_null(strstr(type_of(&r, "y"), ",2,3]"));
    result_free(&r);
}

/* The body of a SequenceMap runs once per element: 4 products of [2,3] and [3,5]. */
static void sequence_map_runs_once_per_element(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[8,3]");
    oc_b_init(b, "w", "float[3,5]");
    oc_b_init(b, "two", "int64[]{2}");
    oc_b_node(b, "SplitToSequence", NULL, "x,two", "s", "axis=0");
    oc_b_node(b, "SequenceMap", "map", "s", "t", "");
    oc_b_open(b, "body");
    oc_b_input(b, "e", "float[a,b]");
    oc_b_node(b, "MatMul", NULL, "e,w", "p", "");
    oc_b_output(b, "p", NULL);
    oc_b_close(b);
    oc_b_node(b, "ConcatFromSequence", NULL, "t", "y", "axis=0");
    oc_b_output(b, "y", NULL);
    struct result r = run(b);
    struct oc_totals total;
    oc_analysis_total(r.a, &total);
    assert_string_equal(type_of(&r, "y"), "float[8,5]");
    assert_int_equal(total.macs, 4 * 2 * 3 * 5);
    assert_int_equal(total.quality, OC_EXACT);
    result_free(&r);
}

/* A branch on whether an optional has an element is decided when that is known. */
static void optional_has_element_decides_branches(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(18);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_node(b, "Optional", NULL, "x", "o", "");
    oc_b_node(b, "OptionalHasElement", NULL, "o", "has", "");
    oc_b_node(b, "If", "if", "has", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "OptionalGetElement", NULL, "o", "got", "");
    oc_b_output(b, "got", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_init(b, "nothing", "float[0]{}");
    oc_b_node(b, "Identity", NULL, "nothing", "none", "");
    oc_b_output(b, "none", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct result r = run(b);
    assert_string_equal(type_of(&r, "y"), "float[2,3]");
    result_free(&r);
}

/* Branches that give sequences of different lengths: their common properties are kept. */
static void branches_merge_sequence_types(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_input(b, "z", "float[4,3]");
    oc_b_input(b, "cond", "bool[]");
    oc_b_node(b, "If", "if", "cond", "s", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "SequenceConstruct", NULL, "x,z", "two", "");
    oc_b_output(b, "two", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "SequenceConstruct", NULL, "x", "one", "");
    oc_b_output(b, "one", NULL);
    oc_b_close(b);
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_node(b, "SequenceAt", NULL, "s,zero", "y", "");
    oc_b_output(b, "y", NULL);
    struct result r = run(b);
    assert_non_null(strstr(type_of(&r, "y"), ",3]"));
    assert_null(strstr(type_of(&r, "y"), "[2,3]"));
    result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_parts_keep_their_size),
        cmocka_unit_test(loop_appends_to_a_sequence),
        cmocka_unit_test(sequence_map_runs_once_per_element),
        cmocka_unit_test(optional_has_element_decides_branches),
        cmocka_unit_test(branches_merge_sequence_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
