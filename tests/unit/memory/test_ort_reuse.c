/* Which dead tensors ONNX Runtime reuses. float[256] is 1024 bytes. */
#include "memory/memory_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/run_model.h"
#include "onnxcost.h"

struct planned {
    struct oc_run r;
    struct oc_analysis *open;
    struct oc_liveness *l;
    uint32_t *into;
};

static struct planned make_plan(struct oc_builder *b)
{
    struct planned p = {.r = oc_run_model(b, NULL)};
    struct oc_liveness_opts lo = {.all = true, .without_inputs = true, .order = OC_ORDER_ORT};
    struct oc_ort_shapes s;
    assert_non_null(p.r.a);
    p.open = oc_ort_analyze(p.r.m, NULL);
    assert_non_null(p.open);
    p.l = oc_liveness_make(p.r.a, 0, &lo);
    p.into = malloc((p.l->n_life + 1) * sizeof(*p.into));
    oc_ort_shapes_init(&s, p.open);
    oc_ort_reuse(p.l, &s, p.into);
    oc_ort_shapes_free(&s);
    return p;
}

static void planned_free(struct planned *p)
{
    free(p->into);
    oc_liveness_free(p->l);
    oc_analysis_free(p->open);
    oc_run_free(&p->r);
}

static uint32_t find_buffer(const struct planned *p, const char *name)
{
    for (uint32_t v = 0; v < p->r.m->n_value; v++)
        if (strcmp(p->r.m->value[v].name, name) == 0)
            return p->l->of_value[v];
    fail_msg("no value '%s'", name);
    return 0;
}

static bool shares(const struct planned *p, const char *x, const char *y)
{
    return p->into[find_buffer(p, x)] == p->into[find_buffer(p, y)];
}

/* a = MatMul(x), b = Relu(a) in place of a, c = MatMul(b), d = MatMul(c) reuses the memory of a and b, which
 * is dead after c; y is an output and has its own memory. */
static struct oc_builder *chain(const char *type)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", type);
    oc_b_init(b, "w", "float[16,16]");
    oc_b_node(b, "MatMul", "m1", "x,w", "a", "");
    oc_b_node(b, "Relu", "r", "a", "b", "");
    oc_b_node(b, "MatMul", "m2", "b,w", "c", "");
    oc_b_node(b, "MatMul", "m3", "c,w", "d", "");
    oc_b_node(b, "MatMul", "m4", "d,w", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void reuses_inputs_in_place_and_dead_tensors(void **state)
{
    (void)state;
    struct planned p = make_plan(chain("float[16,16]"));
    assert_true(shares(&p, "a", "b"));
    assert_false(shares(&p, "b", "c"));
    assert_true(shares(&p, "d", "a"));
    assert_int_equal(p.into[find_buffer(&p, "y")], find_buffer(&p, "y"));
    planned_free(&p);
}

/* A symbol is as good as a number as long as nothing is computed with it; without either the size is unknown.
 */
static void named_dimensions_allow_reuse(void **state)
{
    (void)state;
    struct planned p = make_plan(chain("float[N,16]"));
    assert_true(shares(&p, "a", "b") && shares(&p, "d", "a"));
    planned_free(&p);
    p = make_plan(chain("float[?,16]"));
    assert_false(shares(&p, "a", "b") || shares(&p, "d", "a"));
    planned_free(&p);
}

/* A tensor with a later reader is not overwritten: skip reads a. Mul(a,a) reads it twice. */
static void tensor_with_a_later_reader_is_not_reused(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[16,16]");
    oc_b_init(b, "w", "float[16,16]");
    oc_b_node(b, "MatMul", "m", "x,w", "a", "");
    oc_b_node(b, "Relu", "r", "a", "b", "");
    oc_b_node(b, "Mul", "square", "b,b", "c", "");
    oc_b_node(b, "Add", "skip", "c,a", "d", "");
    oc_b_node(b, "MatMul", "m2", "d,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct planned p = make_plan(b);
    assert_false(shares(&p, "a", "b"));
    assert_false(shares(&p, "b", "c"));
    assert_false(shares(&p, "c", "d")); /* arithmetic has no kernel in place */
    planned_free(&p);
}

/* A fused convolution adds its fourth input and may overwrite it; not the first. */
static void fused_sum_is_written_over_its_addend(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_init(b, "w", "float[4,4,1,1]");
    oc_b_init(b, "bias", "float[4]");
    oc_b_node(b, "Conv", "c1", "x,w", "a", "");
    oc_b_node(b, "Conv", "c2", "x,w", "s", "");
    oc_b_node(b, "com.microsoft::FusedConv", "f", "a,w,bias,s", "t", "activation='Relu'");
    oc_b_node(b, "Conv", "c3", "t,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct planned p = make_plan(b);
    assert_true(shares(&p, "s", "t"));
    assert_false(shares(&p, "a", "t"));
    planned_free(&p);
}

/* Reshape follows a shape that is computed from known shapes: t and what is derived from it is reused. A
 * window over a named size and -1 next to one are unknown. */
static void propagated_shapes_are_reused(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[16,16]");
    oc_b_init(b, "w", "float[16,16]");
    oc_b_node(b, "Shape", "s", "x", "shape", "");
    oc_b_node(b, "MatMul", "m", "x,w", "a", "");
    oc_b_node(b, "Reshape", "view", "a,shape", "t", "");
    oc_b_node(b, "Relu", "r", "t", "u", "");
    oc_b_node(b, "MatMul", "m2", "u,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct planned p = make_plan(b);
    assert_true(shares(&p, "a", "t") && shares(&p, "t", "u"));
    planned_free(&p);
}

static void computed_named_sizes_are_not_reused(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,4,H,8]");
    oc_b_init(b, "w", "float[4,4,3,3]");
    oc_b_init(b, "flat", "int64[4]{-1,4,8,8}");
    oc_b_node(b, "Conv", "c", "x,w", "a", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "r", "a", "b", "");
    oc_b_node(b, "Reshape", "view", "x,flat", "t", "");
    oc_b_node(b, "Abs", "two", "t", "u", "");
    oc_b_node(b, "Relu", "r2", "u", "v", "");
    oc_b_node(b, "Abs", "y", "b", "y", "");
    oc_b_node(b, "Abs", "z", "v", "z", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "z", NULL);
    struct planned p = make_plan(b);
    assert_false(shares(&p, "a", "b") || shares(&p, "u", "v"));
    planned_free(&p);
}

/* Memory that is reused later stays allocated until then. p2 [16,16], 1024 bytes, is dead after `two`; r and
 * r2 are [1,256], the same bytes but another shape; s [16,16] reuses p2, the most recent dead one. So at
 * `three` p2, r and r2 are allocated, 3072 bytes, although only two of them are live. */
static void memory_reused_later_stays_allocated(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[16,16]");
    oc_b_init(b, "w", "float[16,16]");
    oc_b_init(b, "row", "int64[2]{1,256}");
    oc_b_init(b, "square", "int64[2]{16,16}");
    oc_b_node(b, "MatMul", "m", "x,w", "p", "");
    oc_b_node(b, "Abs", "one", "p", "p2", "");
    oc_b_node(b, "Reshape", "v", "p2,row", "q", "");
    oc_b_node(b, "Abs", "two", "q", "r", "");
    oc_b_node(b, "Abs", "three", "r", "r2", "");
    oc_b_node(b, "Reshape", "v2", "r2,square", "r3", "");
    oc_b_node(b, "Abs", "four", "r3", "s", "");
    oc_b_node(b, "MatMul", "m2", "s,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct planned p = make_plan(b);
    assert_true(shares(&p, "s", "p2"));
    assert_false(shares(&p, "s", "p") || shares(&p, "r", "p2") || shares(&p, "r2", "p2"));
    assert_int_equal(oc_ort_first_run(p.l, NULL).max_requested, 2048);
    assert_int_equal(oc_ort_first_run(p.l, p.open).max_requested, 3072);
    planned_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reuses_inputs_in_place_and_dead_tensors),
        cmocka_unit_test(named_dimensions_allow_reuse),
        cmocka_unit_test(tensor_with_a_later_reader_is_not_reused),
        cmocka_unit_test(propagated_shapes_are_reused),
        cmocka_unit_test(computed_named_sizes_are_not_reused),
        cmocka_unit_test(fused_sum_is_written_over_its_addend),
        cmocka_unit_test(memory_reused_later_stays_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
