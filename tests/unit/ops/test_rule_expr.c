/* The expressions of user rules: values for known and unknown sizes, and rejected texts. */
#include "support/op_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "ops/user_rules.h"

/* in0 is float[2,3,N,7] with N of at most 9, in1 absent, in2 int64[3] with the value 4, N, ?, in3 of unknown
 * shape; out0 is half[N,5] */
static const char node_in[] = "float[2,3,N,7] - int64[3]{4,N,?} float int64[]{6} float[5,1] float[N,2]";
static const char node_attrs[] =
    "k=3 minus=-2 whole=2.0 half=0.5 mode=linear pads=[1,2,3] scales=[1.0,2.0,0.5] "
    "to=10 names=[\"a\",\"b\"] zero=0 last=26 after=27 larger=9007199254740992.0";

static int copy_input(struct oc_op_ctx *c)
{
    (void)c;
    return 0;
}
static const struct oc_op row = {.domain = "t", .name = "T", .shape = copy_input};

struct bench {
    struct op_case t;
    struct oc_expr_scope scope;
    struct oc_dim_env env;
    char text[1200];
};

static void bench_init(struct bench *b)
{
    op_case_init_row(&b->t, &row, 1, node_attrs, node_in, "y");
    struct oc_dim dim[] = {oc_dim_symbol(b->t.exprs, "N", -1), oc_known(5)};
    b->t.out[0] = oc_tensor_type(OC_DT_FLOAT16, oc_shape_of(&b->t.arena, 2, dim));
    b->scope = (struct oc_expr_scope){.arena = &b->t.arena, .outputs = 1};
    b->env = oc_rule_env(&b->t.ctx, NULL);
}

static const char *error_text(struct bench *b, const char *prefix, const char *text)
{
    snprintf(b->text, sizeof(b->text), "%s%s", prefix, text);
    op_case_free(&b->t);
    return b->text;
}

/* The number as text, "wrong: ..." for a rejected text, "error: ..." for a failure at the node. */
static const char *number(struct bench *b, const char *text)
{
    struct oc_dim d;
    bench_init(b);
    const struct oc_expr *e = oc_expr_parse_number(&b->scope, text);
    if (!e)
        return error_text(b, "wrong: ", b->scope.why);
    if (oc_expr_dim(&b->env, e, &d))
        return error_text(b, "error: ", b->t.err.msg);
    return error_text(b, oc_exprs_overflowed(b->t.exprs) ? "overflow " : "", oc_dim_text(b->t.exprs, d));
}

static const char *shape(struct bench *b, const char *text)
{
    struct oc_shape s;
    bench_init(b);
    const struct oc_expr *e = oc_expr_parse_shape(&b->scope, text);
    if (!e)
        return error_text(b, "wrong: ", b->scope.why);
    if (oc_rule_shape(&b->env, e, &s))
        return error_text(b, "error: ", b->t.err.msg);
    return error_text(b, "", s.ranked ? oc_shape_text(&b->t.arena, b->t.exprs, &s, ",") : "unranked");
}

static const char *dtype(struct bench *b, const char *text)
{
    unsigned code;
    bench_init(b);
    const struct oc_expr *e = oc_expr_parse_dtype(&b->scope, text);
    if (!e)
        return error_text(b, "wrong: ", b->scope.why);
    if (oc_rule_dtype(&b->env, e, &code))
        return error_text(b, "error: ", b->t.err.msg);
    return error_text(b, "", oc_dtype_info(code)->name);
}

struct expected {
    const char *text, *result;
};

static void check_all(const char *(*run)(struct bench *, const char *), const struct expected *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bench b;
        const char *got = run(&b, list[i].text);
        if (strcmp(got, list[i].result) != 0)
            fail_msg("%s: %s, not %s", list[i].text, got, list[i].result);
    }
}

static void evaluates_numbers(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"17", "17"},
        {" 1 + 2*3 ", "7"},
        {"(1 + 2)*3", "9"},
        {"10 - 4 - 3", "3"},
        {"7/2", "3"},
        {"-7/2", "-4"}, /* rounded down, not towards 0 */
        {"24/4/3", "2"},
        {"ceil(7/2)", "4"},
        {"ceil(7, 2)", "4"},
        {"floor(7/2)", "3"},
        {"-3 + 5", "2"},
        {"--3", "3"},
        {"min(4, 9) + max(4, 9)", "13"},
        {"mod(-1 + 4, 4)", "3"},
        {"mod(9, 4)", "1"},
        {"clog2(1) + clog2(8) + clog2(9)", "7"}, /* 0 + 3 + 4 */
        {"1 < 2", "1"},
        {"2 <= 1", "0"},
        {"2 >= 2", "1"},
        {"1 > 2", "0"},
        {"3 == 3", "1"},
        {"3 != 3", "0"},
        {"if(2 > 1, 5, 1/0)", "5"}, /* the other operand is not evaluated */
        {"9223372036854775807", "9223372036854775807"},
    };
    check_all(number, list, OC_COUNT(list));
}

static void evaluates_names(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"in0[1]", "3"},
        {"in0.1", "3"},
        {"in0.0*in0.1*attr.k", "18"},
        {"in0[-1]", "7"},
        {"in0[attr.minus + 4]", "N"},
        {"in0[:2]", "6"}, /* 2*3 */
        {"in0[-1:]", "7"},
        {"in0[4:]", "1"}, /* of nothing */
        {"in0[1:3]", "3*N"},
        {"out0[1]", "5"},
        {"N(in0)", "42*N"}, /* 2*3*7 */
        {"N(in1)", "0"},
        {"bytes(out0)", "10*N"}, /* 5*N of 2 bytes */
        {"bytes(in1)", "0"},
        {"rank(in0) + rank(out0)", "6"},
        {"has(in0) + has(in1) + has(in9) + has(out0)", "2"},
        {"value(in2, 0)", "4"},
        {"value(in2, 1)", "N"},
        {"value(in4)", "6"},
        {"attr.k + attr.minus", "1"},
        {"attr.whole", "2"},
        {"attr.none|-1", "-1"},
        {"attr.none|2*3", "6"},
        {"attr.pads[0] + attr.pads[-1]", "4"},
        {"attr.scales[1]", "2"},
        {"attr.none[3]|8", "8"},
        {"len(attr.pads) + len(attr.names) + len(attr.none)", "5"},
        {"attr.mode == 'linear'", "1"},
        {"attr.mode != 'linear'", "0"},
        {"attr.mode|'cubic' == 'cubic'", "0"},
        {"attr.none|'cubic' == 'cubic'", "1"},
        {"if(has(in1), in1[0], 12)", "12"},
        {"2*(attr.mode == 'linear') + 1", "3"},
    };
    check_all(number, list, OC_COUNT(list));
}

/* Unknown values stay unknown and keep their known bounds. */
static void unknown_values_keep_their_bounds(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"in0[2]*2 - in0[2]", "N"},
        {"in0[2] - in0[2]", "0"},
        {"0*in3[0]", "0"},
        {"in3[0]", "in3[0]"},
        {"in3[1:]", "in3[1:]"},
        {"N(in3)", "N(in3)"},
        {"rank(in3)", "rank(in3)"},
        {"bytes(in3)", "bytes(in3)"},
        {"value(in2, 2)", "value(in2, 2)"},
        {"value(in0)", "value(in0)"},
        {"in0[rank(in3)]", "in0[rank(in3)]"},
        {"attr.pads[in3[0]]", "attr.pads[in3[0]]"},
        {"clog2(in0[2])", "clog2(in0[2])"},
        {"in0[2] < in0[2] + 1", "1"},
        {"in0[2] < in0[2]", "0"},
        {"in0[2] >= 0", "1"},
        {"in0[2] == in0[2]", "1"},
        {"in0[2] == in0[2] + 1", "0"},
        {"in0[2] > 4", "in0[2] > 4"},
        {"in0[2] == 3", "in0[2] == 3"},
        {"in0[2] != 3", "in0[2] != 3"},
        {"in0[2] + 4 == 3", "0"}, /* at least 4 */
        {"if(in0[2] > 4, 8, 8)", "8"},
        {"if(in0[2] > attr.none|4, len(attr.pads), in0[:2])",
         "if(in0[2] > attr.none|4, len(attr.pads), in0[:2])"},
        {"if(in0[2] > 4, attr.mode|'a' == 'b', value(in4) - attr.pads[1]|1)",
         "if(in0[2] > 4, (attr.mode|'a' == 'b'), value(in4) - attr.pads[1]|1)"},
        {"if(in0[2] > 4, 8, in0[0])", "if(in0[2] > 4, 8, in0[0])"},
    };
    check_all(number, list, OC_COUNT(list));
}

static void failures_at_the_node_name_the_operand(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"in0[4]", "error: in0 has no axis 4: its rank is 4"},
        {"in0[-5]", "error: in0 has no axis -5: its rank is 4"},
        {"in0[3:2]", "error: in0 has no axes 3 to 2: its rank is 4"},
        {"in0[:5]", "error: in0 has no axes 0 to 5: its rank is 4"},
        {"value(in2, -1)", "error: in2: element -1 is out of range, it has 3"},
        {"attr.pads[-4]", "error: attribute 'pads' has 3 elements"},
        {"attr.larger", "error: attribute 'larger' is 9.0072e+15, not a whole number"},
        {"1/(0-1)", "error: division by -1"},
        {"in1[0]", "error: in1 is absent"},
        {"rank(in9)", "error: in9 is absent"},
        {"value(in1)", "error: in1 is absent"},
        {"value(in2)", "error: in2 has 3 elements, expected one"},
        {"value(in2, 3)", "error: in2: element 3 is out of range, it has 3"},
        {"1/0", "error: division by 0"},
        {"mod(1, attr.minus)", "error: division by -2"},
        {"ceil(1, 0)", "error: division by 0"},
        {"attr.none", "error: the node has no attribute 'none'"},
        {"attr.half", "error: attribute 'half' is 0.5, not a whole number"},
        {"attr.scales[2]", "error: attribute 'scales' is 0.5, not a whole number"},
        {"attr.mode", "error: attribute 'mode' is not an integer"},
        {"attr.pads", "error: attribute 'pads' is not an integer"},
        {"attr.pads[3]", "error: attribute 'pads' has 3 elements"},
        {"attr.k[0]", "error: attribute 'k' is not a list of numbers"},
        {"len(attr.k)", "error: attribute 'k' is not a list"},
        {"attr.k == 'x'", "error: attribute 'k' is not a string"},
        {"attr.none == 'x'", "error: the node has no attribute 'none'"},
        {"9223372036854775807 + 1", "overflow overflow"},
        {"-9223372036854775807 - 2", "overflow overflow"},
        {"4294967296*4294967296", "overflow overflow"},
    };
    check_all(number, list, OC_COUNT(list));
}

static void rejects_malformed_expressions(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"", "wrong: a number is missing at the end"},
        {"1 +", "wrong: a number is missing at the end"},
        {"1 2", "wrong: syntax error at '2'"},
        {"(1", "wrong: ')' is missing at the end"},
        {"1)", "wrong: syntax error at ')'"},
        {"*1", "wrong: expected a number before '*1'"},
        {"foo", "wrong: unknown name 'foo'"},
        {"in", "wrong: unknown name 'in'"},
        {"inx", "wrong: unknown name 'inx'"},
        {"foo(1)", "wrong: unknown function 'foo'"},
        {"N(5)", "wrong: '5' is not an input or output, such as in0"},
        {"N(in4096)", "wrong: 'in4096' is not an input or output, such as in0"},
        {"N(in0", "wrong: ')' is missing at the end"},
        {"in0", "wrong: in0 is a shape; write in0[0] for one of its sizes"},
        {"in0[", "wrong: a number is missing at the end"},
        {"in0[1", "wrong: ']' is missing at the end"},
        {"in0.x", "wrong: expected an axis after 'in0.'"},
        {"out1[0]", "wrong: out1 is not available yet"},
        {"N(out1)", "wrong: out1 is not available yet"},
        {"value(out0)", "wrong: value() takes an input"},
        {"attr", "wrong: unknown name 'attr'"},
        {"attr.", "wrong: expected an attribute name after 'attr.'"},
        {"attr.mode|'x'", "wrong: attribute 'mode' is a string: it can only be compared with a string"},
        {"attr.mode|'x' + 1", "wrong: attribute 'mode' is a string: it can only be compared with a string"},
        {"attr.k|1 == 'x'",
         "wrong: attribute 'k' is compared with a string: its default must be a string, too"},
        {"attr.mode == 'x", "wrong: ''' is missing at the end"},
        {"floor(3)", "wrong: floor needs a quotient, such as floor(in0[2]/2)"},
        {"ceil(3)", "wrong: ceil needs a quotient, such as ceil(in0[2]/2)"},
        {"min(3)", "wrong: ',' is expected before ')'"},
        {"if(1, 2)", "wrong: ',' is expected before ')'"},
        {"1 < 2 < 3", "wrong: syntax error at '< 3'"},
        {"9223372036854775808", "wrong: '9223372036854775808' is not a whole number below 2^63"},
        {"1e3", "wrong: '1e3' is not a whole number below 2^63"},
        {"1.5", "wrong: syntax error at '.5'"},
        {"1\t+ 1", "wrong: syntax error at '\t+ 1'"},
    };
    check_all(number, list, OC_COUNT(list));
}

static void evaluates_shapes(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"in0", "2,3,N,7"},
        {"[]", "scalar"},
        {"[in0.0, in0.1, floor(in0.2/2), attr.k]", "2,3,floor(N/2),3"},
        {"in0[:-1] + [attr.k]", "2,3,N,3"},
        {"in0[:1] + in0[2:]", "2,N,7"},
        {"[1] + in0[1:2] + [4, 5]", "1,3,4,5"},
        {"in0[4:]", "scalar"},
        {"out0", "N,5"},
        {"value(in2)", "4,N,value(in2, 2)"},
        {"value(in4)", "6"},
        {"broadcast(in1, in5, in6)", "5,2"}, /* {5,1} and {N,2}: N is 1 or 5 */
        {"broadcast(in1)", "scalar"},
        {"broadcast(in5, in3)", "unranked"},
        {"in3", "unranked"},
        {"[1] + in3[1:]", "unranked"},
        {"in0[rank(in3):]", "unranked"},
        {"[in3[0], 2]", "in3[0],2"},
        {"value(in3)", "unranked"},
        {"in1", "error: in1 is absent"},
        {"in0[5:]", "error: in0 has no axes 5 to 4: its rank is 4"},
        {"in0[4:]", "scalar"},
        {"in0[-4:1]", "2"},
        {"in0[-5:]", "error: in0 has no axes -5 to 4: its rank is 4"},
        {"value(in0)", "error: in0 is not one-dimensional"},
        {"value(out0)", "wrong: value() takes an input"},
        {"in0[1]", "wrong: write a size inside a shape in brackets: [in0[...]]"},
        {"12", "wrong: expected a shape, such as [in0[0], 64] or in0[:-1] + [64]"},
        {"[1,", "wrong: a number is missing at the end"},
        {"[1", "wrong: ']' is missing at the end"},
        {"[1] +", "wrong: expected a shape, such as [in0[0], 64] or in0[:-1] + [64]"},
        {"[1] [2]", "wrong: syntax error at '[2]'"},
        {"out1", "wrong: out1 is not available yet"},
        {"broadcast()", "wrong: broadcast() needs an argument"},
        {"broadcast(in0, in1, in5)", "2,3,5,7"},
        {"broadcast(in0, in2)", "error: shapes {2,3,N,7} and {3} do not broadcast"},
    };
    check_all(shape, list, OC_COUNT(list));
}

static void evaluates_types(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"in0", "float"},
        {"in2", "int64"},
        {"out0", "float16"},
        {"int4", "int4"},
        {"attr.to", "float16"},
        {"attr.none|bool", "bool"},
        {"attr.none", "error: the node has no attribute 'none'"},
        {"attr.k", "int8"}, /* code 3 */
        {"attr.minus", "error: -2 is not an element type"},
        {"attr.zero", "error: 0 is not an element type"},
        {"attr.last", "int2"},
        {"attr.after", "error: 27 is not an element type"},
        {"attr.mode", "error: attribute 'mode' is not an integer"},
        {"in1", "error: in1 is absent"},
        {"floaty", "wrong: unknown element type 'floaty'"},
        {"", "wrong: unknown element type ''"},
        {"int8 ]", "wrong: syntax error at ']'"},
    };
    check_all(dtype, list, OC_COUNT(list));
}

static const char *repeated(char *text, size_t cap, const char *piece, unsigned times, const char *rest)
{
    size_t used = 0;
    for (unsigned i = 0; i < times; i++)
        used += (size_t)snprintf(text + used, cap - used, "%s", piece);
    snprintf(text + used, cap - used, "%s", rest);
    return text;
}

/* Depth costs stack: of brackets, of sums, and of names that refer to names. */
static void nesting_depth_is_limited(void **state)
{
    (void)state;
    struct bench b;
    char text[4096];
    assert_string_equal(number(&b, repeated(text, sizeof(text), "(", 40, "1")),
                        "wrong: nested deeper than 32 levels");
    assert_string_equal(number(&b, repeated(text, sizeof(text), "-", 40, "1")),
                        "wrong: nested deeper than 32 levels");
    assert_string_equal(number(&b, repeated(text, sizeof(text), "in0[", 40, "1")),
                        "wrong: nested deeper than 32 levels");
    assert_string_equal(number(&b, repeated(text, sizeof(text), "attr.none|", 40, "1")),
                        "wrong: nested deeper than 32 levels");
    assert_string_equal(number(&b, repeated(text, sizeof(text), "1+", 500, "1")), "501");
    assert_string_equal(number(&b, repeated(text, sizeof(text), "1+", 1500, "1")),
                        "wrong: nested too deeply, including the names it uses");
    assert_string_equal(shape(&b, repeated(text, sizeof(text), "[1]+", 64, "[1]")),
                        "wrong: more than 64 sizes or parts");
    repeated(text, sizeof(text), "1,", 63, "1]+[1]");
    char list[4200];
    snprintf(list, sizeof(list), "[%s", text);
    assert_string_equal(shape(&b, list), "error: a shape of more than 64 axes");
    snprintf(list, sizeof(list), "[%s", text + 2);
    assert_int_equal(strlen(shape(&b, list)), 64 + 63);
}

/* n0 = N; n1 = n0*n0 - n0*n0 + n0; ...: 2^32 evaluations if names were substituted as text. */
static void names_are_computed_once(void **state)
{
    (void)state;
    struct bench b;
    struct oc_expr_name let[OC_EXPR_NAMES];
    char text[64], name[OC_EXPR_NAMES][16];
    struct oc_dim d;
    bench_init(&b);
    b.scope.name = let;
    b.env.name = let;
    for (unsigned i = 0; i < OC_EXPR_NAMES; i++) {
        snprintf(name[i], sizeof(name[i]), "n%u", i);
        snprintf(text, sizeof(text), i ? "n%u + n%u - n%u" : "in0[2]", i - 1, i - 1, i - 1);
        let[i] = (struct oc_expr_name){.name = name[i], .expr = oc_expr_parse_number(&b.scope, text)};
        assert_non_null(let[i].expr);
        let[i].depth = b.scope.depth;
        b.scope.n_name = i + 1;
    }
    const struct oc_expr *e = oc_expr_parse_number(&b.scope, "n31*2");
    assert_int_equal(oc_expr_dim(&b.env, e, &d), 0);
    assert_string_equal(oc_dim_text(b.t.exprs, d), "2*N");
    assert_true(b.env.done[0]);
    op_case_free(&b.t);
}

static void prints_expressions_with_numbers(void **state)
{
    (void)state;
    static const struct expected list[] = {
        {"in0[0]*in0[1]*(attr.k + 1)", "2*3*(3 + 1)"},
        {"N(out0) - in3[0]", "? - ?"},
        {"10 - (4 - in0[1])", "10 - (4 - 3)"},
        {"ceil(in0[3]/2)*8", "ceil(7, 2)*8"},
        {"in0[:2]/(2*2)", "6/(2*2)"},
        {"-in0[1] + clog2(in0[3])", "-3 + clog2(7)"},
        {"if(has(in1), in1[0], 5) < 3", "if(0, ?, 5) < 3"},
        {"3*(attr.mode == 'linear')", "3*1"},
        {"min(attr.none|4, 2)", "min(4, 2)"},
    };
    for (size_t i = 0; i < OC_COUNT(list); i++) {
        struct bench b;
        struct oc_buf out = {0};
        bench_init(&b);
        const struct oc_expr *e = oc_expr_parse_number(&b.scope, list[i].text);
        assert_non_null(e);
        oc_rule_print_numbers(&b.env, e, &out);
        assert_string_equal(out.data, list[i].result);
        assert_string_equal(b.t.err.msg, ""); /* a failing part prints "?" */
        oc_buf_free(&out);
        op_case_free(&b.t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluates_numbers),
        cmocka_unit_test(evaluates_names),
        cmocka_unit_test(unknown_values_keep_their_bounds),
        cmocka_unit_test(failures_at_the_node_name_the_operand),
        cmocka_unit_test(rejects_malformed_expressions),
        cmocka_unit_test(evaluates_shapes),
        cmocka_unit_test(evaluates_types),
        cmocka_unit_test(nesting_depth_is_limited),
        cmocka_unit_test(names_are_computed_once),
        cmocka_unit_test(prints_expressions_with_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
