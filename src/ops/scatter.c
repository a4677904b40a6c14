/* Writing by index. cost-semantics 4.9 and 5.4: data, indices and updates are read and the whole output is
 * written, unless the operator updates a buffer shared with its output. */
#include "ops/fold.h"
#include "ops/move.h"

#include <string.h>

static int shape_scatter(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0), *index = oc_in_shape(c, 1), *updates = oc_in_shape(c, 2);
    unsigned axis;
    if (in->ranked && oc_attr_axis(c, 0, in->rank, &axis))
        return -1;
    if (index->ranked && updates->ranked && index->rank != updates->rank)
        return oc_op_fail(c, "indices {%s} and updates {%s} differ in rank", oc_text_of(c, index),
                          oc_text_of(c, updates));
    return oc_shape_same(c);
}

static int shape_scatter_nd(struct oc_op_ctx *c)
{
    const struct oc_shape *in = oc_in_shape(c, 0), *index = oc_in_shape(c, 1);
    if (in->ranked && index->ranked && index->rank && oc_is_known(index->dim[index->rank - 1]) &&
        index->dim[index->rank - 1].v > in->rank)
        return oc_op_fail(c, "indices {%s} have more index components than data {%s} has axes",
                          oc_text_of(c, index), oc_text_of(c, in));
    return oc_shape_same(c);
}

/* Vectors without a reduction: element by element, in order. */
static int fold_scatter(struct oc_op_ctx *c)
{
    const struct oc_data *d = oc_in_value(c, 0), *index = oc_in_value(c, 1), *updates = oc_in_value(c, 2);
    const struct oc_shape *in = oc_in_shape(c, 0), *at_shape = oc_in_shape(c, 1);
    bool nd = strcmp(c->op->name, "ScatterND") == 0;
    if (!d || !index || !updates || !in->ranked || in->rank != 1 || index->n != updates->n ||
        strcmp(oc_attr_s(c, "reduction", "none"), "none") != 0)
        return 0;
    if (nd && (!at_shape->ranked || at_shape->rank == 0 || !oc_is(at_shape->dim[at_shape->rank - 1], 1)))
        return 0;
    struct oc_elem *e = oc_new_elems(c, d->n);
    memcpy(e, d->e, d->n * sizeof(*e));
    for (uint32_t i = 0; i < index->n; i++) {
        int64_t at;
        if (!oc_elem_known_int(&index->e[i], &at))
            return 0;
        at += at < 0 ? d->n : 0;
        if (at < 0 || at >= d->n)
            return 0;
        e[at] = updates->e[i];
    }
    oc_set_data(c, 0, e, d->n);
    return 0;
}

/* In place, only the updates move. */
static void write_updates(struct oc_op_ctx *c, struct oc_cost *k, unsigned updates)
{
    k->rd[0] = 0;
    k->wr[0] = oc_c_part(c, updates, oc_c_in(c, updates));
}

/* With a reduction: one operation per element of the updates. */
static int cost_scatter(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct {
        const char *name;
        uint8_t prim;
    } how[] = {{"add", OC_ADD}, {"mul", OC_MUL}, {"max", OC_CMP}, {"min", OC_CMP}};
    const char *reduction = oc_attr_s(c, "reduction", "none");
    for (size_t i = 0; i < OC_COUNT(how); i++)
        if (strcmp(reduction, how[i].name) == 0)
            oc_add(c, k, (enum oc_prim)how[i].prim, oc_c_in(c, 2));
    if (c->opt.inplace)
        write_updates(c, k, 2);
    return 0;
}
static const char cost_scatter_formula[] =
    "ADD = [reduction:none == add]*n; MUL = [reduction:none == mul]*n; "
    "CMP = ([reduction:none == max] + [reduction:none == min])*n; n := N(in2)";

/* Past and present share one buffer. */
static int cost_tensor_scatter(struct oc_op_ctx *c, struct oc_cost *k)
{
    write_updates(c, k, 1);
    return 0;
}
static const char cost_tensor_scatter_formula[] = "";

#define SCATTER(n, v, s)                                                                                     \
    .domain = "", .name = (n), .since = (v), .op_class = OC_OP_GATHER, .shape = (s), .fold = fold_scatter,   \
    OC_COST(cost_scatter)

static const struct oc_op rows[] = {
    {SCATTER("Scatter", 9, shape_scatter), .flags = OC_F_UPDATES},
    {SCATTER("ScatterElements", 11, shape_scatter), .flags = OC_F_UPDATES},
    {SCATTER("ScatterND", 11, shape_scatter_nd), .flags = OC_F_UPDATES},
    {.domain = "",
     .name = "TensorScatter",
     .since = 24,
     .op_class = OC_OP_GATHER,
     .shape = oc_shape_same,
     OC_COST(cost_tensor_scatter),
     .kv = &(const struct oc_op_kv){.pair = {{0, 0}, {0, 0}}, .shared = OC_KV_SHARED_IN_PLACE}},
};
extern const struct oc_op_family oc_ops_scatter;
const struct oc_op_family oc_ops_scatter = OC_FAMILY("scatter", rows);
