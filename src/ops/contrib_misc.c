/* Other operators of ONNX Runtime: padding of token batches, hashing, position biases, time warping. */
#include "ops/op.h"

/* ---- token batches without padding ------------------------------------------------------------------ */

/* [B, S, H] -> [tokens, H], token_offset [B, S], ends [B + 1], longest [1] */
static int shape_remove_padding(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked(), offset = oc_shape_unranked(), ends = oc_shape_unranked();
    if (x->ranked && x->rank != 3)
        return oc_op_fail(c, "invalid input rank %u", x->rank);
    if (x->ranked) {
        int64_t most = oc_dim_max_value(c->exprs, oc_dim_mul(c->exprs, x->dim[0], x->dim[1]));
        struct oc_dim dim[2] = {oc_op_fresh_dim(c, "0", most), x->dim[2]};
        out = oc_shape_of(c->arena, 2, dim);
        offset = oc_shape_of(c->arena, 2, x->dim);
        ends = oc_shape_1d(c->arena, oc_dim_add(c->exprs, x->dim[0], oc_known(1)));
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    oc_set_out(c, 1, OC_DT_INT32, offset);
    oc_set_out(c, 2, OC_DT_INT32, ends);
    oc_set_out(c, 3, OC_DT_INT32, oc_shape_1d(c->arena, oc_known(1)));
    return 0;
}

/* [tokens, H], token_offset [B, S] -> [B, S, H] */
static int shape_restore_padding(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *offset = oc_in_shape(c, 1);
    struct oc_shape out = oc_shape_unranked();
    if ((x->ranked && x->rank != 2) || (offset->ranked && offset->rank != 2))
        return oc_op_fail(c, "invalid input rank %u and offsets rank %u", x->rank, offset->rank);
    if (x->ranked && offset->ranked) {
        struct oc_dim dim[3] = {offset->dim[0], offset->dim[1], x->dim[1]};
        out = oc_shape_of(c->arena, 3, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

/* ---- position bias ---------------------------------------------------------------------------------- */

static struct oc_dim scalar_dim(struct oc_op_ctx *c, unsigned slot, const char *axis)
{
    const struct oc_data *d = oc_in_value(c, slot);
    return d && d->n == 1 && d->e[0].kind == OC_E_INT ? d->e[0].i : oc_op_fresh_dim(c, axis, -1);
}

/* table [buckets, heads], query_length, key_length -> [1, heads, query, key]: a gather */
static int shape_position_bias(struct oc_op_ctx *c)
{
    const struct oc_shape *table = oc_in_shape(c, 0);
    if (table->ranked && table->rank != 2)
        return oc_op_fail(c, "invalid table rank %u", table->rank);
    struct oc_dim dim[4] = {oc_known(1), table->ranked ? table->dim[1] : oc_op_fresh_dim(c, "1", -1),
                            scalar_dim(c, 1, "2"), scalar_dim(c, 2, "3")};
    for (unsigned i = 2; i < 4; i++)
        if (oc_is_known(dim[i]) && dim[i].v < 0)
            return oc_op_fail(c, "invalid length %lld", (long long)dim[i].v);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, dim));
    return 0;
}

/* ---- others ----------------------------------------------------------------------------------------- */

static int shape_hash(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_attr_i(c, "positive", 1) ? OC_DT_UINT32 : OC_DT_INT32, *oc_in_shape(c, 0));
    return 0;
}

static int contrib_misc_cost_hash(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add_int(c, k, OC_BIT, oc_c_mul(c, 10, oc_c_in(c, 0)));
    c->assumption = "a hash counts 10 operations per element";
    return 0;
}
static const char contrib_misc_cost_hash_formula[] = "BIT = 10*N(x)";

/* [M, N] (or [1, M, N]) -> the path [2, length], at most M + N steps */
static int shape_warping(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t most = -1;
    if (x->ranked && x->rank < 2)
        return oc_op_fail(c, "invalid input rank %u", x->rank);
    if (x->ranked)
        most = oc_dim_max_value(c->exprs, oc_dim_add(c->exprs, x->dim[x->rank - 2], x->dim[x->rank - 1]));
    struct oc_dim dim[2] = {oc_known(2), oc_op_fresh_dim(c, "1", most)};
    oc_set_out(c, 0, OC_DT_INT32, oc_shape_of(c->arena, 2, dim));
    return 0;
}

static int cost_warping(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t cells = oc_c_in(c, 0);
    oc_add(c, k, OC_CMP, oc_c_mul(c, 3, cells));
    oc_add(c, k, OC_ADD, cells);
    return 0;
}
static const char cost_warping_formula[] = "CMP = 3*N(x); ADD = N(x)";

#define MS(n, cls, s, sh, co)                                                                                \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = (cls), .slots = (s), .shape = (sh),  \
        OC_COST(co)                                                                                          \
    }

static const struct oc_op rows[] = {
    MS("DynamicTimeWarping", OC_OP_OTHER, NULL, shape_warping, cost_warping),
    MS("MurmurHash3", OC_OP_OTHER, NULL, shape_hash, contrib_misc_cost_hash),
    MS("RelativePositionBias", OC_OP_GATHER, "emm", shape_position_bias, oc_cost_none),
    MS("RemovePadding", OC_OP_COPY, NULL, shape_remove_padding, oc_cost_none),
    MS("RestorePadding", OC_OP_COPY, NULL, shape_restore_padding, oc_cost_none),
};
extern const struct oc_op_family oc_ops_contrib_misc;
const struct oc_op_family oc_ops_contrib_misc = OC_FAMILY("contrib_misc", rows);
