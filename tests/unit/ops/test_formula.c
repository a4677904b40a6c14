/* The notation of formulas. tests/support/op_case.c checks, whenever a test runs a row, that each change of its text
 * changes the count and the explanation together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "support/op_case.h"

static void for_each_row(void (*check)(const struct oc_op *op))
{
    size_t n;
    const struct oc_op_family *const *family = oc_op_families(&n);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < family[i]->n; k++)
            check(&family[i]->op[k]);
}

/* Without any tensor every name must still be readable. */
static void check_row(const struct oc_op *op)
{
    struct oc_arena arena = {0};
    struct oc_node node = {.op_type = op->name, .domain = op->domain, .name = ""};
    struct oc_op_ctx c = {.node = &node, .op = op, .arena = &arena};
    struct oc_formula f;
    if (op->cost && !oc_formula_text(op))
        fail_msg("%s:%s has a cost rule and no formula", op->domain, op->name);
    if (op->cost && op->cost != oc_cost_text && strcmp(oc_formula_text(op), "functions = 1") != 0)
        fail_msg("%s:%s counts in C, and its text does not say so", op->domain, op->name);
    if (!op->cost && oc_formula_text(op))
        assert_string_equal(oc_formula_text(op), "");
    if (oc_formula_text(op) && oc_formula_read(&c, &f))
        fail_msg("%s: malformed: %s", op->name, oc_formula_text(op));
    oc_arena_free(&arena);
}

static void every_cost_rule_has_a_formula(void **state)
{
    (void)state;
    for_each_row(check_row);
}

struct reading {
    struct oc_arena arena;
    struct oc_formula_cache cache;
    unsigned times, left;
};
static struct reading reading;

static void read_row(const struct oc_op *op)
{
    struct oc_node node = {.op_type = op->name, .domain = op->domain, .name = ""};
    struct oc_op_ctx c = {.node = &node, .op = op, .arena = &reading.arena, .formulas = &reading.cache};
    struct oc_formula f;
    if (!oc_formula_text(op) || !reading.left)
        return;
    reading.left--;
    for (unsigned i = 0; i < reading.times; i++)
        assert_int_equal(oc_formula_read(&c, &f), 0);
}

/* Reads the first rows, as many as there are places, `rounds` times in turn, each `times` times in a row. */
static size_t bytes_of_reading(unsigned rounds, unsigned times)
{
    memset(&reading, 0, sizeof(reading));
    reading.times = times;
    while (rounds--) {
        reading.left = OC_COUNT(reading.cache.op);
        for_each_row(read_row);
    }
    size_t n = reading.arena.used_bytes;
    oc_arena_free(&reading.arena);
    return n;
}

/* A model uses its operators in turn: no row takes the place of another one, whatever their addresses are. */
static void formulas_are_compiled_once(void **state)
{
    (void)state;
    assert_int_equal(bytes_of_reading(2, 1), bytes_of_reading(1, 2));
}

static void gemm(struct op_case *t) /* a case points into itself: it cannot be returned by value */
{
    op_case_run(t, "Gemm", 13, "alpha=2.0 transB=1", "float[2,3] float[5,3]! float[5]!", "y");
}

static const struct oc_formula *read_text(struct op_case *t, const char *text)
{
    static struct oc_formula f;
    static struct oc_op op;
    struct oc_formula_values values = {.n = 1};
    values.item[0].name = "seen";
    values.item[0].v = 7;
    op = *t->ctx.op;
    op.formula = text;
    t->ctx.op = &op;
    t->ctx.values = &values;
    int rc = oc_formula_read(&t->ctx, &f);
    t->ctx.values = NULL;
    return rc ? NULL : &f;
}

/* x is [2,3], w [5,3], in2 the bias [5], o [2,5] */
static void formula_values_are_computed(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
        const char *numbers;
    } row[] = {
        {"MAC = N(o)*x[-1]", 30, "10*3"},
        {"MAC = N(x)+2*(N(w) - 1)", 34, "6 + 2*(15 - 1)"},
        {"ADD = [in2]*N(o) + [in3]*1000", 10, "1*10 + 0*1000"},
        {"ADD = [B]*N(B)", 5, "1*5"},
        {"MUL = [alpha:1 != 1]*N(o) + [beta:1 != 1]*7", 10, "1*10 + 0*7"},
        {"MUL = [transB:0 == 1] + [transA:0 == 1]", 1, "1 + 0"},
        {"ADD = o[0]*o[1:] + o[:-1] + x[0:2]", 18, "2*5 + 2 + 6"},
        {"CMP = clog2(N(w)) + max(2, 3) + min(2, 3) + ceil(7, 2)", 13,
         "clog2(15) + max(2, 3) + min(2, 3) + ceil(7, 2)"},
        {"ADD = K*inputs; K := x[1]", 9, "3*3"},
        {"ADD = seen + 1; seen := 1000", 8, "7 + 1"},
        {"ADD = a; a := b/2; b := 9", 4, "4"},
        {"prim = 4", 4, "4"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct op_case t;
        gemm(&t);
        const struct oc_formula *f = read_text(&t, row[i].text);
        if (!f || f->n_term != 1 || !f->term[0].known || f->term[0].value != row[i].value)
            fail_msg("%s: %llu", row[i].text, f ? (unsigned long long)f->term[0].value : 0ULL);
        assert_string_equal(f->term[0].numbers, row[i].numbers);
        op_case_free(&t);
    }
}

static void formula_histograms_are_expanded(void **state)
{
    struct op_case t;
    gemm(&t);
    const struct oc_formula *f = read_text(&t, "Gelu = N(o); requantize = 2; activation = N(o)");
    (void)state;
    assert_non_null(f); /* Gelu: 3 MUL, ERF, ADD; requantize: MUL, RND, ADD, 2 CMP; no attribute: nothing */
    uint64_t sum[OC_PRIM_COUNT] = {0};
    for (uint32_t i = 0; i < f->n_term; i++)
        sum[f->term[i].prim] += f->term[i].value;
    assert_int_equal(sum[OC_MUL], 32);
    assert_int_equal(sum[OC_ERF], 10);
    assert_int_equal(sum[OC_ADD], 12);
    assert_int_equal(sum[OC_RND], 2);
    assert_int_equal(sum[OC_CMP], 4);
    op_case_free(&t);
}

/* A type on the left side decides between float and integer work; without one the class of the row does. */
static void formula_types_decide_the_kind_of_work(void **state)
{
    static struct oc_op op;
    struct op_case t;
    (void)state;
    gemm(&t);
    op = *t.ctx.op;
    op.values = NULL;
    op.formula = "ADD:int = 3; MUL:float = 4; CMP:x = 5; DIV = 6";
    t.ctx.op = &op;
    struct oc_cost k = {.rest_class = OC_CLASS_I8};
    assert_int_equal(op.cost(&t.ctx, &k), 0);
    assert_int_equal(k.hist_i[OC_ADD], 3);
    assert_int_equal(k.hist_f[OC_MUL], 4);
    assert_int_equal(k.hist_f[OC_CMP], 5);
    assert_int_equal(k.hist_i[OC_DIV], 6);
    op_case_free(&t);
}

/* Zero points and biases of quantized convolutions are added as integers, whatever the type of the output. */
static void quantized_convolutions_add_integers(void **state)
{
    static const char *const name[] = {"QLinearConv", "com.microsoft:QLinearConvTranspose"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(name); i++) {
        struct op_case t;
        op_case_run(&t, name[i], i ? 1 : 10, "",
                    "uint8[1,2,4,4] float[]! uint8[]!{3} uint8[2,2,1,1]! float[]! uint8[]!{0} float[]! "
                    "uint8[]!{0} int32[2]!",
                    "y");
        if (t.rc)
            fail_msg("%s", t.err.msg);
        assert_int_equal(t.cost.hist_i[OC_ADD], 32 + 32); /* x and the bias; requantization is float: 32 */
        assert_int_equal(t.cost.hist_f[OC_ADD], 32);
        op_case_free(&t);
    }
}

/* Negative differences, division by 0, overflow, missing axes, unknown names: no value. */
static void formula_without_a_value_is_unknown(void **state)
{
    static const char *const text[] = {
        "ADD = 1 - 2",        "ADD = 1/(N(x) - N(x))",           "ADD = x[5]",
        "ADD = unknown_name", "ADD = 999999999999*999999999999", "ADD = N(x) + a; a := out7[0]"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct op_case t;
        gemm(&t);
        const struct oc_formula *f = read_text(&t, text[i]);
        assert_non_null(f);
        assert_int_equal(f->n_term, 1);
        if (f->term[0].known)
            fail_msg("%s", text[i]);
        op_case_free(&t);
    }
}

static void rejects_malformed_formulas(void **state)
{
    static const char *const text[] = {
        "MAC",
        "MAC =",
        "FOO = 1",
        "MAC = N(q)",
        "MAC = x[",
        "MAC = x[]",
        "MAC = (1",
        "MAC = [alpha",
        "MAC = 1 2",
        "MAC = a; a := a",
        "MAC = foo(1)",
        "= 1",
        "MAC = ((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))",
        "CMP:int = N(o); Gelu:int = N(o)"};
    (void)state;
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct op_case t;
        gemm(&t);
        if (read_text(&t, text[i]))
            fail_msg("%s", text[i]);
        op_case_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cost_rule_has_a_formula),
        cmocka_unit_test(formulas_are_compiled_once),
        cmocka_unit_test(formula_values_are_computed),
        cmocka_unit_test(formula_histograms_are_expanded),
        cmocka_unit_test(formula_types_decide_the_kind_of_work),
        cmocka_unit_test(quantized_convolutions_add_integers),
        cmocka_unit_test(formula_without_a_value_is_unknown),
        cmocka_unit_test(rejects_malformed_formulas),
    };
    return cmocka_run_group_tests_name("ops/formula", tests, NULL, NULL);
}
