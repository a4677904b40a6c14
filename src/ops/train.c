/* Gradients and optimizer steps (ai.onnx.preview.training): R, T, then the parameters, the gradients and the
 * states, n of each; outputs are the new parameters and states. cost-semantics 4.15. */
#include "ops/op.h"

struct optimizer {
    uint8_t n_state; /* state tensors per parameter */
    struct oc_prims step[5];
};

static const struct optimizer adam = {2, {{OC_MUL, 6}, {OC_ADD, 6}, {OC_SQRT, 1}, {OC_DIV, 1}}};
static const struct optimizer adagrad = {1, {{OC_MUL, 3}, {OC_ADD, 4}, {OC_SQRT, 1}, {OC_DIV, 1}}};
static const struct optimizer momentum = {1, {{OC_MUL, 3}, {OC_ADD, 2}}};

#define FIRST 2 /* after the learning rate and the update count */

static int n_params(struct oc_op_ctx *c, uint32_t *n)
{
    const struct optimizer *o = c->op->param;
    uint32_t group = o->n_state + 2U;
    if (c->n_in < FIRST + group || (c->n_in - FIRST) % group)
        return oc_op_fail(c, "%u inputs are not %u for every parameter", c->n_in, group);
    *n = (c->n_in - FIRST) / group;
    return 0;
}

static int shape_optimizer(struct oc_op_ctx *c)
{
    const struct optimizer *o = c->op->param;
    uint32_t n;
    if (n_params(c, &n))
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        oc_set_out_type(c, i, oc_in(c, FIRST + i));
        for (uint32_t s = 0; s < o->n_state; s++)
            oc_set_out_type(c, (1 + s) * n + i, oc_in(c, FIRST + (2 + s) * n + i));
    }
    return 0;
}

static int cost_optimizer(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct optimizer *o = c->op->param;
    uint32_t n;
    if (n_params(c, &n))
        return -1;
    k->rest_class = oc_dtype_info(oc_in_dtype(c, FIRST))->cls;
    for (uint32_t i = 0; i < n; i++)
        oc_add_functions(c, k, o->step, oc_c_in(c, FIRST + i));
    c->assumption = "an optimizer step is counted by its usual formula";
    return 0;
}
static const char cost_optimizer_formula[] = "functions = 1";

/* The gradient with respect to the i-th of `xs` has its type. Its cost is not defined in the node. */
static int shape_gradient(struct oc_op_ctx *c)
{
    const struct oc_attr *xs = oc_node_attr(c->node, "xs");
    if (!xs || xs->type != OC_ATTR_STRINGS || xs->n < c->n_out || xs->n > c->n_in)
        return oc_op_fail(c, "xs names %u of %u inputs for %u outputs", xs ? xs->n : 0, c->n_in, c->n_out);
    for (unsigned i = 0; i < c->n_out; i++)
        oc_set_out_type(c, i, oc_in(c, i));
    return 0;
}

static int cost_gradient(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->unknown = true;
    c->assumption = "the node does not define the work of the gradient";
    return 0;
}
static const char cost_gradient_formula[] = "";

#define STEP(n, o)                                                                                           \
    {                                                                                                        \
        .domain = "ai.onnx.preview.training", .name = (n), .since = 1, .op_class = OC_OP_ELEMENTWISE,        \
        .shape = shape_optimizer, OC_COST(cost_optimizer), .param = &(o)                                     \
    }

static const struct oc_op rows[] = {
    STEP("Adagrad", adagrad),
    STEP("Adam", adam),
    {.domain = "ai.onnx.preview.training",
     .name = "Gradient",
     .since = 1,
     .op_class = OC_OP_OTHER,
     .flags = OC_F_NO_FOLD,
     .shape = shape_gradient,
     OC_COST(cost_gradient)},
    STEP("Momentum", momentum),
};
extern const struct oc_op_family oc_ops_train;
const struct oc_op_family oc_ops_train = OC_FAMILY("train", rows);
