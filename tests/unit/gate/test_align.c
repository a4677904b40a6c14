#include "gate/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/run_model.h"

struct both {
    struct oc_run a, b;
    struct oc_arena arena;
    struct oc_alignment al;
};

static void align_models(struct both *t, struct oc_builder *a, struct oc_builder *b)
{
    *t = (struct both){0};
    t->a = oc_run_model(a, NULL);
    t->b = oc_run_model(b, NULL);
    oc_align(t->a.a, t->b.a, &t->arena, &t->al);
}

static void both_free(struct both *t)
{
    oc_arena_free(&t->arena);
    oc_run_free(&t->a);
    oc_run_free(&t->b);
}

/* The index of b's partner of the i-th node of a; both directions must agree. */
static uint32_t partner(const struct both *t, uint32_t a)
{
    uint32_t b = t->al.b_of_a[a];
    if (b != OC_NONE)
        assert_int_equal(t->al.a_of_b[b], a);
    return b;
}

/* "Relu r1 x y; ..." one node per line: type, name ("-": none), inputs, outputs */
static struct oc_builder *chain(const char *const *line, size_t n)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,8]");
    for (size_t i = 0; i < n; i++) {
        char type[32], name[32], in[32], out[32];
        assert_int_equal(sscanf(line[i], "%31s %31s %31s %31s", type, name, in, out), 4);
        oc_b_node(b, type, strcmp(name, "-") ? name : NULL, in, out, "");
        if (i + 1 == n)
            oc_b_output(b, out, "float[2,8]");
    }
    return b;
}
#define CHAIN(...) chain((const char *const[]){__VA_ARGS__}, OC_COUNT(((const char *const[]){__VA_ARGS__})))

static void names_match_before_structure(void **state)
{
    (void)state;
    struct both t;
    /* another order: the names decide */
    align_models(&t, CHAIN("Relu first x a", "Relu second a b", "Tanh third b c"),
                 CHAIN("Relu second x a", "Relu first a b", "Tanh third b c"));
    assert_int_equal(partner(&t, 0), 1);
    assert_int_equal(partner(&t, 1), 0);
    assert_int_equal(partner(&t, 2), 2);
    assert_int_equal(t.al.rule[0], OC_ALIGN_NAME);
    both_free(&t);
    /* names in the style of other tools */
    align_models(&t, CHAIN("Relu /block/act x a"), CHAIN("Relu block.act x b"));
    assert_int_equal(partner(&t, 0), 0);
    assert_int_equal(t.al.rule[0], OC_ALIGN_PLAIN);
    both_free(&t);
    /* the name stays, the type changes */
    align_models(&t, CHAIN("Relu act x a", "Tanh end a b"), CHAIN("Sigmoid act x a", "Tanh end a b"));
    assert_int_equal(partner(&t, 0), 0);
    assert_int_equal(t.al.rule[0], OC_ALIGN_NAME);
    both_free(&t);
}

/* A node inserted at the front changes all later numbers: they must not decide. */
static void generated_numbers_are_ignored(void **state)
{
    (void)state;
    struct both t;
    align_models(
        &t, CHAIN("Tanh Tanh_0 x 1", "Relu Relu_0 1 2", "Tanh Tanh_1 2 3", "Exp Exp_0 3 4"),
        CHAIN("Tanh Tanh_0 x 1", "Tanh Tanh_1 1 2", "Relu Relu_0 2 3", "Tanh Tanh_2 3 4", "Exp Exp_0 4 5"));
    assert_int_equal(partner(&t, 1), 2); /* Relu */
    assert_int_equal(partner(&t, 2), 3); /* the next Tanh: Tanh_2 */
    assert_int_equal(partner(&t, 3), 4);
    both_free(&t);
}

static void nodes_without_names_match_by_structure(void **state)
{
    (void)state;
    struct both t;
    align_models(&t, CHAIN("Relu - x 1", "Tanh - 1 2", "Exp - 2 3"),
                 CHAIN("Relu - x 9", "Abs - 9 8", "Tanh - 8 7", "Exp - 7 6"));
    assert_int_equal(partner(&t, 0), 0);
    assert_int_equal(partner(&t, 1), 2);
    assert_int_equal(partner(&t, 2), 3);
    assert_int_equal(t.al.a_of_b[1], OC_NONE);
    both_free(&t);
}

/* The weights keep their names when nothing else does. */
static void nodes_match_by_their_weights(void **state)
{
    (void)state;
    struct both t;
    struct oc_builder *m[2];
    for (unsigned s = 0; s < 2; s++) {
        m[s] = oc_b_new(17);
        oc_b_input(m[s], "x", "float[2,8]");
        oc_b_init(m[s], "left.weight", "float[8,8]");
        oc_b_init(m[s], "right.weight", "float[8,8]");
        oc_b_node(m[s], "MatMul", NULL, s ? "x,right.weight" : "x,left.weight", "1", "");
        oc_b_node(m[s], "MatMul", NULL, s ? "x,left.weight" : "x,right.weight", "2", "");
        oc_b_node(m[s], "Add", NULL, "1,2", "3", "");
        oc_b_output(m[s], "3", "float[2,8]");
    }
    align_models(&t, m[0], m[1]);
    assert_int_equal(partner(&t, 0), 1);
    assert_int_equal(partner(&t, 1), 0);
    assert_int_equal(t.al.rule[0], OC_ALIGN_WEIGHT);
    assert_int_equal(partner(&t, 2), 2);
    both_free(&t);
}

static void generated_names_are_recognized(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type;
        bool made_up;
    } t[] = {{"", "Conv", true},           {"17", "Conv", true},           {"Conv_12", "Conv", true},
             {"p2o.Conv.3", "Conv", true}, {"conv12", "Conv", true},       {"/layer1/Conv_1", "Conv", false},
             {"conv1", "Relu", false},     {"layer1.conv", "Conv", false}, {"Conv", "Conv", false}};
    for (size_t i = 0; i < OC_COUNT(t); i++)
        assert_int_equal(oc_name_is_made_up(t[i].name, t[i].type), t[i].made_up);
}

/* Forms of one type after optimization. */
static void fused_and_plain_types_match(void **state)
{
    (void)state;
    struct both t;
    struct oc_builder *m[2];
    for (unsigned s = 0; s < 2; s++) {
        m[s] = oc_b_new(17);
        oc_b_input(m[s], "x", "float[1,3,8,8]");
        oc_b_init(m[s], s ? "p" : "w", "float[4,3,3,3]");
        oc_b_node(m[s], s ? "com.microsoft::FusedConv" : "Conv", NULL, s ? "x,p" : "x,w", s ? "5" : "1", "");
        oc_b_output(m[s], s ? "5" : "1", "float[1,4,6,6]");
    }
    align_models(&t, m[0], m[1]);
    assert_int_equal(partner(&t, 0), 0);
    assert_int_equal(t.al.rule[0], OC_ALIGN_KIN);
    both_free(&t);
}

/* A file may declare an attribute a tensor without giving one: every type, with and without content. */
static void attributes_without_content_are_compared(void **state)
{
    (void)state;
    static const struct oc_tensor tensor = {.dtype = OC_DT_FLOAT, .elements = 3};
    for (unsigned type = OC_ATTR_NONE; type <= OC_ATTR_TYPE_PROTOS; type++) {
        const struct oc_attr none = {.name = "value", .type = (uint8_t)type, .s = {.s = ""}};
        bool tensors = type == OC_ATTR_TENSOR || type == OC_ATTR_TENSORS || type == OC_ATTR_SPARSE_TENSOR ||
                       type == OC_ATTR_SPARSE_TENSORS;
        assert_true(oc_attr_same(&none, &none));
        assert_null(oc_attr_tensor_at(&none, 0));
        if (!tensors)
            continue;
        struct oc_attr one = none;
        one.n = 1;
        assert_null(oc_attr_tensor_at(&one, 0));
        one.tensors_or_null = &tensor;
        assert_ptr_equal(oc_attr_tensor_at(&one, 0), &tensor);
        assert_null(oc_attr_tensor_at(&one, 1));
        assert_false(oc_attr_same(&none, &one));
    }
    assert_null(oc_attr_tensor_at(NULL, 0));
}

static void constant_is_the_dense_tensor_of_a_constant_node(void **state)
{
    (void)state;
    static const struct oc_tensor tensor = {.dtype = OC_DT_FLOAT, .elements = 3};
    struct oc_attr value = {.name = "value", .type = OC_ATTR_TENSOR, .n = 1};
    struct oc_node n = {.op_type = "Constant", .domain = "", .attr = &value, .n_attr = 1};
    assert_null(oc_node_constant(&n));
    value.tensors_or_null = &tensor;
    assert_ptr_equal(oc_node_constant(&n), &tensor);
    value.type = OC_ATTR_SPARSE_TENSOR;
    assert_null(oc_node_constant(&n));
    value.type = OC_ATTR_TENSOR;
    n.op_type = "ConstantOfShape";
    assert_null(oc_node_constant(&n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_without_content_are_compared),
        cmocka_unit_test(constant_is_the_dense_tensor_of_a_constant_node),
        cmocka_unit_test(names_match_before_structure),
        cmocka_unit_test(generated_numbers_are_ignored),
        cmocka_unit_test(nodes_without_names_match_by_structure),
        cmocka_unit_test(nodes_match_by_their_weights),
        cmocka_unit_test(generated_names_are_recognized),
        cmocka_unit_test(fused_and_plain_types_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
