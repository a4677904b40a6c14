/* Sizes that ONNX Runtime 1.30 infers when it loads a model, as its sessions report them for the outputs of
 * such graphs. */
#include "memory/memory_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "support/run_model.h"
#include "onnxcost.h"

struct step {
    const char *type, *in, *out, *attrs;
};

struct chain { /* ConstantOfShape of `last` */
    int opset;
    bool known;
    const char *x, *last;
    struct step step[4];
};

static bool has_sizes(struct oc_run *r, const char *name)
{
    struct oc_analysis *a = oc_ort_analyze(r->m, NULL);
    struct oc_ort_shapes s;
    assert_non_null(a);
    oc_ort_shapes_init(&s, a);
    bool known = false;
    for (uint32_t v = 0; v < r->m->n_value; v++)
        if (strcmp(r->m->value[v].name, name) == 0)
            known = oc_ort_has_sizes(&s, v);
    oc_ort_shapes_free(&s);
    oc_analysis_free(a);
    return known;
}

static struct oc_builder *build(const struct chain *c)
{
    struct oc_builder *b = oc_b_new(c->opset);
    oc_b_input(b, "x", c->x);
    oc_b_init(b, "one", "int64[]{1}");
    oc_b_init(b, "list", "int64[1]{1}");
    oc_b_init(b, "two", "int64[2]{0,1}");
    oc_b_init(b, "axis", "int64[1]{0}");
    for (size_t i = 0; i < OC_COUNT(c->step) && c->step[i].type; i++) {
        const struct step *s = &c->step[i];
        oc_b_node(b, s->type, s->out, s->in, s->out, s->attrs ? s->attrs : "");
    }
    oc_b_node(b, "ConstantOfShape", "fill", c->last, "out", "");
    oc_b_node(b, "Abs", "last", "out", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

#define SHAPE                                                                                                \
    {                                                                                                        \
        "Shape", "x", "s", NULL                                                                              \
    }
#define PICK                                                                                                 \
    {                                                                                                        \
        "Gather", "s,one", "a", NULL                                                                         \
    }
#define WRAP(of)                                                                                             \
    {                                                                                                        \
        "Unsqueeze", of ",axis", "b", NULL                                                                   \
    }

static void numbers_are_propagated_as_the_runtime_does(void **state)
{
    static const struct chain chains[] = {
        {9, true, "float[2,3,4]", "s", {SHAPE}},
        {17, false, "float[N,3,4]", "s", {SHAPE}},
        {17, true, "float[N,3,4]", "s", {{"Shape", "x", "s", "start=1"}}},
        {12, false, "float[2,3,4]", "a", {SHAPE, {"Cast", "s", "a", "to=7"}}},
        {13, true, "float[2,3,4]", "a", {SHAPE, {"Cast", "s", "a", "to=7"}}},
        {17, true, "float[2,3,4]", "a", {SHAPE, {"Gather", "s,list", "a", NULL}}},
        {17, false, "float[2,3,4]", "a", {SHAPE, {"Gather", "s,two", "a", NULL}}},
        {11, true, "float[2,3,4]", "b", {SHAPE, PICK, {"Unsqueeze", "a", "b", "axes=0"}}},
        {17, true, "float[2,3,4]", "b", {SHAPE, PICK, WRAP("a")}},
        {17, false, "float[N,3,4]", "b", {SHAPE, PICK, WRAP("a")}},
        {11, false, "float[2,3,4]", "c", {SHAPE, {"Concat", "s,s", "c", "axis=0"}}},
        {13, true, "float[2,3,4]", "c", {SHAPE, {"Concat", "s,s", "c", "axis=0"}}},
        {17, false, "float[2,3,4]", "c", {SHAPE, {"Concat", "s,list", "c", "axis=0"}}},
        {17, false, "float[2,3,4]", "c", {{"Concat", "list,list", "c", "axis=0"}}},
        {17, false, "float[2,3,4]", "a", {SHAPE, {"Slice", "s,axis,list", "a", NULL}}},
        {13, false, "float[2,3,4]", "a", {SHAPE, {"Add", "s,s", "a", NULL}}},
        {14, true, "float[2,3,4]", "a", {SHAPE, {"Add", "s,s", "a", NULL}}},
        {17, false, "float[2,3,4]", "a", {SHAPE, {"Mul", "s,list", "a", NULL}}},
        {17, true, "float[2,3,4]", "b", {SHAPE, PICK, {"Mul", "a,a", "m", NULL}, WRAP("m")}},
        {17, true, "float[2,3,4]", "b", {SHAPE, PICK, {"Div", "a,a", "m", NULL}, WRAP("m")}},
        {17, false, "float[2,3,4]", "b", {SHAPE, PICK, {"Mul", "a,one", "m", NULL}, WRAP("m")}},
        {17, false, "float[2,3,4]", "b", {SHAPE, PICK, {"Cast", "a", "m", "to=7"}, WRAP("m")}},
        {17, false, "float[2,3,4]", "b", {WRAP("one")}},
        {17, false, "float[2,3,4]", "a", {SHAPE, {"Identity", "s", "a", NULL}}},
        {17, true, "float[2,3,4]", "list", {SHAPE}},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(chains); i++) {
        struct oc_run r = oc_run_model(build(&chains[i]), NULL);
        assert_non_null(r.m);
        if (has_sizes(&r, "out") != chains[i].known)
            fail_msg("chain %zu, opset %d: expected %s", i, chains[i].opset,
                     chains[i].known ? "sizes" : "no sizes");
        oc_run_free(&r);
    }
}

/* Sizes that follow from a named one are unknown, Concat takes the name of any part, and operators without a
 * shape rule lose the rank. */
static void names_are_kept_only_as_they_are(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,4,H,8]");
    oc_b_init(b, "w", "float[4,4,3,3]");
    oc_b_init(b, "flat", "int64[2]{-1,32}");
    oc_b_init(b, "one", "int64[4]{-1,4,8,8}");
    oc_b_init(b, "scales", "float[4]{1,1,1,1}");
    oc_b_node(b, "Conv", "c", "x,w", "conv", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "r", "x", "relu", "");
    oc_b_node(b, "Resize", "up", "x,,scales", "resized", "");
    oc_b_node(b, "Concat", "both", "resized,relu", "joined", "axis=1");
    oc_b_node(b, "Reshape", "view", "x,flat", "flattened", "");
    oc_b_node(b, "Reshape", "view2", "x,one", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    assert_non_null(r.m);
    assert_true(has_sizes(&r, "relu") && has_sizes(&r, "joined"));
    assert_false(has_sizes(&r, "conv") || has_sizes(&r, "resized") || has_sizes(&r, "flattened"));
    oc_run_free(&r);
    b = oc_b_new(17); /* of two declarations the last one counts */
    oc_b_input(b, "x", "float[N,4]");
    oc_b_init(b, "shape", "int64[2]{-1,8}");
    oc_b_node(b, "Reshape", "view", "x,shape", "t", "");
    oc_b_node(b, "Abs", "last", "t", "y", "");
    oc_b_value(b, "t", "float[?,8]");
    oc_b_value(b, "t", "float[half,8]");
    oc_b_output(b, "y", NULL);
    r = oc_run_model(b, NULL);
    assert_non_null(r.m);
    assert_true(has_sizes(&r, "t") && has_sizes(&r, "y"));
    oc_run_free(&r);
    b = oc_b_new(7);
    oc_b_input(b, "x", "float[1,4,9,9]");
    oc_b_node(b, "Affine", "a", "x", "affine", "");
    oc_b_node(b, "Relu", "r", "affine", "y", "");
    oc_b_output(b, "y", NULL);
    r = oc_run_model(b, NULL);
    assert_non_null(r.m);
    assert_false(has_sizes(&r, "affine") || has_sizes(&r, "y"));
    oc_run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_propagated_as_the_runtime_does),
        cmocka_unit_test(names_are_kept_only_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
