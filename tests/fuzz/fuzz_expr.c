/* Any text as a number, a shape and a type of the --op-rules language: read, or rejected with a reason; the
 * result can be evaluated for a node with known and unknown sizes, and printed. */
#include <stdlib.h>
#include <string.h>

#include "ops/user_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void compute(struct oc_op_ctx *c, const struct oc_expr_name *let, const struct oc_expr *const e[3])
{
    struct oc_dim_env env = oc_rule_env(c, let);
    struct oc_buf text = {0};
    struct oc_dim number;
    struct oc_shape shape;
    unsigned dtype;
    if (e[0] && oc_expr_dim(&env, e[0], &number) == 0)
        oc_rule_print_numbers(&env, e[0], &text);
    if (e[1] && oc_rule_shape(&env, e[1], &shape) == 0 && shape.ranked && shape.rank > OC_MAX_RANK)
        abort();
    if (e[2] && oc_rule_dtype(&env, e[2], &dtype) == 0 && dtype >= OC_DT_COUNT)
        abort();
    oc_buf_free(&text);
}

static void with_node(struct oc_arena *a, const struct oc_expr_name *let, const struct oc_expr *const e[3])
{
    struct oc_exprs *x = oc_exprs_new(a);
    const struct oc_dim d[3] = {oc_known(6), oc_dim_symbol(x, "N", -1), oc_known(INT64_C(1) << 61)};
    struct oc_type known = oc_tensor_type(OC_DT_FLOAT, oc_shape_of(a, 3, d)), none = {0};
    const struct oc_type *in[3] = {&known, &none, NULL};
    const struct oc_elem elem[2] = {oc_elem_int(2), oc_elem_int(-3)};
    const struct oc_data value = {.n = 2, .e = elem};
    const struct oc_data *in_data[3] = {NULL, &value, NULL}, *out_data[1] = {NULL};
    struct oc_type out[1] = {known};
    const bool in_const[3] = {false}, out_used[1] = {true};
    const uint32_t id[3] = {0, 1, OC_NONE};
    const int64_t ints[2] = {1, 2};
    const struct oc_attr attr[3] = {{.name = "k", .type = OC_ATTR_INT, .n = 1, .i = 5},
                                    {.name = "pads", .type = OC_ATTR_INTS, .n = 2, .ints = ints},
                                    {.name = "mode", .type = OC_ATTR_STRING, .n = 1, .s = {"a", 1}}};
    const struct oc_node node = {.name = "n",
                                 .op_type = "X",
                                 .domain = "d",
                                 .overload = "",
                                 .attr = attr,
                                 .in = id,
                                 .out = id,
                                 .n_in = 3,
                                 .n_out = 1,
                                 .n_attr = 3,
                                 .opset = 1};
    static const struct oc_op op = {.domain = "d", .name = "X", .since = 1};
    struct oc_err err = {0};
    struct oc_op_ctx c = {.node = &node,
                          .op = &op,
                          .opset = 1,
                          .arena = a,
                          .exprs = x,
                          .in = in,
                          .in_data = in_data,
                          .in_const = in_const,
                          .n_in = 3,
                          .n_out = 1,
                          .out = out,
                          .out_data = out_data,
                          .out_used = out_used,
                          .err = &err};
    compute(&c, let, e);
    oc_exprs_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_arena a = {0};
    struct oc_expr_name let = {.name = "n"};
    struct oc_expr_scope scope = {.arena = &a, .name = &let, .outputs = 1};
    char *text = malloc(n + 1);
    if (!text)
        abort();
    memcpy(text, data, n);
    text[n] = '\0';
    let.expr = oc_expr_parse_number(&scope, "in0[1] + 1");
    if (!let.expr)
        abort();
    let.depth = scope.depth;
    scope.n_name = 1;
    const struct oc_expr *e[3];
    for (int i = 0; i < 3; i++) {
        scope.why[0] = '\0';
        e[i] = (i == 0   ? oc_expr_parse_number
                : i == 1 ? oc_expr_parse_shape
                         : oc_expr_parse_dtype)(&scope, text);
        if (!e[i] && !scope.why[0])
            abort();
    }
    with_node(&a, &let, e);
    free(text);
    oc_arena_free(&a);
    return 0;
}
