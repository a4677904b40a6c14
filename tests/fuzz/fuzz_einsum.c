/* Any text as the equation of an Einsum, with operands whose ranks come from its terms or from the first
 * bytes: its shape and its cost, with known, unknown and absurd sizes. byte 0: operands; byte 1: sizes and
 * orders; then a rank for each operand (128 and more: unknown) */
#include <stdlib.h>
#include <string.h>

#include "ops/op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_IN = 9 };

static const struct oc_op *einsum(void)
{
    size_t n;
    const struct oc_op_family *const *f = oc_op_families(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f[i]->n; k++)
            if (!strcmp(f[i]->op[k].name, "Einsum"))
                return &f[i]->op[k];
    abort();
}

static struct oc_dim size(struct oc_exprs *x, unsigned how, unsigned i)
{
    static const int64_t sizes[] = {2, 1, 3, 0, 2, INT64_MAX, 7, INT64_C(1) << 40};
    return how & 1 && i % 3 == 0 ? oc_dim_symbol(x, "N", -1) : oc_known(sizes[how & 2 ? i % 8 : 0]);
}

static void operand(struct oc_op_ctx *c, struct oc_type *t, unsigned rank, unsigned how, unsigned i)
{
    struct oc_dim d[OC_MAX_RANK];
    for (unsigned k = 0; k < rank % (OC_MAX_RANK + 1); k++)
        d[k] = size(c->exprs, how, i + k);
    *t = oc_tensor_type(OC_DT_FLOAT, rank >= 128 ? oc_shape_unranked()
                                                 : oc_shape_of(c->arena, rank % (OC_MAX_RANK + 1), d));
}

static void run(struct oc_op_ctx *c)
{
    uint64_t rd[MAX_IN + 1] = {0}, wr[1] = {0};
    if (oc_op_infer(c) || oc_exprs_overflowed(c->exprs))
        return;
    if (c->out[0].kind != OC_T_TENSOR || c->out[0].shape.rank > OC_MAX_RANK)
        abort();
    struct oc_cost k = {.rd = rd, .wr = wr, .n_in = c->n_in, .n_out = 1, .mac_class = OC_CLASS_F32};
    c->op->cost(c, &k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    unsigned n_in = n ? data[0] % (MAX_IN + 1) : 0, how = n > 1 ? data[1] : 0;
    if (n < 2 + n_in)
        return 0;
    struct oc_arena a = {0};
    struct oc_exprs *x = oc_exprs_new(&a);
    struct oc_type type[MAX_IN + 1], out[1] = {{0}};
    const struct oc_type *in[MAX_IN + 1];
    const struct oc_data *in_data[MAX_IN + 1] = {0}, *out_data[1] = {0};
    bool in_const[MAX_IN + 1] = {0}, out_used[1] = {true};
    uint32_t in_id[MAX_IN + 1], out_id[1] = {100};
    struct oc_err err = {0};
    char *text = malloc(n - 2 - n_in + 1);
    if (!text)
        abort();
    memcpy(text, data + 2 + n_in, n - 2 - n_in);
    text[n - 2 - n_in] = '\0';
    struct oc_attr attr = {.name = "equation", .type = OC_ATTR_STRING, .n = 1, .s = {text, strlen(text)}};
    struct oc_node node = {.name = "n",
                           .op_type = "Einsum",
                           .domain = "",
                           .overload = "",
                           .attr = &attr,
                           .in = in_id,
                           .out = out_id,
                           .n_in = n_in,
                           .n_out = 1,
                           .n_attr = 1,
                           .opset = 12};
    struct oc_op_ctx c = {.node = &node,
                          .op = einsum(),
                          .opset = 12,
                          .arena = &a,
                          .exprs = x,
                          .in = in,
                          .in_data = in_data,
                          .in_const = in_const,
                          .n_in = n_in,
                          .n_out = 1,
                          .out = out,
                          .out_data = out_data,
                          .out_used = out_used,
                          .err = &err,
                          .opt = {.einsum_optimal = how & 4}};
    for (unsigned i = 0; i < n_in; i++) {
        operand(&c, &type[i], data[2 + i], how >> 3, i);
        in[i] = &type[i];
        in_id[i] = i;
    }
    run(&c);
    free(text);
    oc_exprs_free(x);
    oc_arena_free(&a);
    return 0;
}
