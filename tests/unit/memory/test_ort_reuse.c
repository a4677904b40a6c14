/* Which dead tensors ONNX Runtime takes again. float[256] is 1024 bytes. */
#include "memory/ort_reuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "memory/ort_run.h"
#include "support/run_model.h"

struct planned {
    struct oc_run r;
    struct oc_analysis *open;
    struct oc_lives *l;
    uint32_t *into;
};

static struct planned plan(struct oc_builder *b)
{
    struct planned p = {.r = oc_run_model(b, NULL)};
    struct oc_analyze_opts o = {.no_defaults = true, .no_fold = true};
    struct oc_lives_opts lo = {.all = true, .without_inputs = true, .order = OC_ORDER_ORT};
    struct oc_ort_shapes s;
    assert_non_null(p.r.a);
    assert_int_equal(oc_analyze(p.r.m, &o, &p.open, &p.r.err), 0);
    p.l = oc_lives_make(p.r.a, 0, &lo);
    p.into = malloc((p.l->n_life + 1) * sizeof(*p.into));
    oc_ort_shapes_init(&s, p.open);
    oc_ort_reuse(p.l, &s, p.into);
    oc_ort_shapes_free(&s);
    return p;
}

static void done(struct planned *p)
{
    free(p->into);
    oc_lives_free(p->l);
    oc_analysis_free(p->open);
    oc_run_free(&p->r);
}

static uint32_t at(const struct planned *p, const char *name)
{
    for (uint32_t v = 0; v < p->r.m->n_value; v++)
        if (strcmp(p->r.m->value[v].name, name) == 0)
            return p->l->of_value[v];
    fail_msg("no value '%s'", name);
    return 0;
}

static bool shares(const struct planned *p, const char *x, const char *y)
{
    return p->into[at(p, x)] == p->into[at(p, y)];
}

/* a = MatMul(x), b = Relu(a) over a, c = MatMul(b), d = MatMul(c) takes the memory of a and b, which died
 * with c; y is an output and has memory of its own. */
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

static void test_over_inputs_and_dead_ones(void **state)
{
    (void)state;
    struct planned p = plan(chain("float[16,16]"));
    assert_true(shares(&p, "a", "b"));
    assert_false(shares(&p, "b", "c"));
    assert_true(shares(&p, "d", "a"));
    assert_int_equal(p.into[at(&p, "y")], at(&p, "y"));
    done(&p);
}

/* A name is as good as a number, as long as nothing is computed with it; without either nothing is known. */
static void test_names(void **state)
{
    (void)state;
    struct planned p = plan(chain("float[N,16]"));
    assert_true(shares(&p, "a", "b") && shares(&p, "d", "a"));
    done(&p);
    p = plan(chain("float[?,16]"));
    assert_false(shares(&p, "a", "b") || shares(&p, "d", "a"));
    done(&p);
}

/* What is read again is not written over: skip reads a. Mul(a,a) reads it twice. */
static void test_still_needed(void **state)
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
    struct planned p = plan(b);
    assert_false(shares(&p, "a", "b"));
    assert_false(shares(&p, "b", "c"));
    assert_true(shares(&p, "c", "d")); /* Add over its first input */
    done(&p);
}

/* A fused convolution adds its fourth input and may write over that; not over the first. */
static void test_fused_sum(void **state)
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
    struct planned p = plan(b);
    assert_true(shares(&p, "s", "t"));
    assert_false(shares(&p, "a", "t"));
    done(&p);
}

/* A shape that is computed when the model runs is not known: t and what comes of it. */
static void test_computed_shapes(void **state)
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
    struct planned p = plan(b);
    assert_true(shares(&p, "a", "t")); /* a view all the same */
    assert_false(shares(&p, "t", "u"));
    done(&p);
}

/* Memory that is taken again later is kept until then. p2 [16,16], 1024 bytes, is dead after `two`; r and r2
 * are [1,256], as many bytes but another shape; s [16,16] takes p2 again, the one that died last. So at
 * `three` there are p2, r and r2, 3072 bytes, although two of them are alive. */
static void test_kept_for_later(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[16,16]");
    oc_b_init(b, "w", "float[16,16]");
    oc_b_init(b, "row", "int64[2]{1,256}");
    oc_b_init(b, "square", "int64[2]{16,16}");
    oc_b_node(b, "MatMul", "m", "x,w", "p", "");
    oc_b_node(b, "Softmax", "one", "p", "p2", "");
    oc_b_node(b, "Reshape", "v", "p2,row", "q", "");
    oc_b_node(b, "Softmax", "two", "q", "r", "");
    oc_b_node(b, "Softmax", "three", "r", "r2", "");
    oc_b_node(b, "Reshape", "v2", "r2,square", "r3", "");
    oc_b_node(b, "Softmax", "four", "r3", "s", "");
    oc_b_node(b, "MatMul", "m2", "s,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct planned p = plan(b);
    assert_true(shares(&p, "s", "p2"));
    assert_false(shares(&p, "s", "p") || shares(&p, "r", "p2") || shares(&p, "r2", "p2"));
    assert_int_equal(oc_ort_first_run(p.l, NULL).max_requested, 2048);
    assert_int_equal(oc_ort_first_run(p.l, p.open).max_requested, 3072);
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over_inputs_and_dead_ones),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_still_needed),
        cmocka_unit_test(test_computed_shapes),
        cmocka_unit_test(test_fused_sum),
        cmocka_unit_test(test_kept_for_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
