/* N-grams and windows of ONNX Runtime (com.microsoft). cost-semantics 4.5, 4.9. */
#include "ops/move.h"

#include <string.h>

/* ---- hashes ----------------------------------------------------------------------------------------- */

/* 10 bit operations per hashed element. */
static int hashing_cost_hash(struct oc_op_ctx *c, struct oc_cost *k)
{
    c->assumption = "10 operations per hashed element";
    oc_add_int(c, k, OC_BIT, oc_c_mul(c, 10, oc_c_out(c, 0)));
    return 0;
}
static const char hashing_cost_hash_formula[] = "BIT = 10*N(o)";

/* NGramHashMapping [batch, sequence], VarlenNGramHashMapping [tokens]: hashes with one more axis of length
 * (max_ngram_size - 1) * n_head_per_ngram; the ids carried over [batch, max_ngram_size - 1]. */
static int shape_ngram_hash(struct oc_op_ctx *c)
{
    bool packed = strcmp(c->op->name, "VarlenNGramHashMapping") == 0;
    const struct oc_shape *ids = oc_in_shape(c, 0), *ends = oc_in_shape(c, 3);
    int64_t size = oc_attr_i(c, "max_ngram_size", 0), heads = oc_attr_i(c, "n_head_per_ngram", 0), width;
    unsigned rank = packed ? 1 : 2;
    if (size < 2 || heads < 1 || __builtin_mul_overflow(size - 1, heads, &width))
        return oc_op_fail(c, "invalid max_ngram_size %lld, n_head_per_ngram %lld", (long long)size,
                          (long long)heads);
    if (ids->ranked && ids->rank != rank)
        return oc_op_fail(c, "invalid ids rank %u", ids->rank);
    struct oc_dim dim[3];
    for (unsigned i = 0; i < rank; i++)
        dim[i] = ids->ranked ? ids->dim[i] : oc_fresh_axis(c, i, -1);
    dim[rank] = oc_known(width);
    struct oc_dim carried[2] = {dim[0], oc_known(size - 1)};
    if (packed)
        carried[0] = ends->ranked && ends->rank == 1 ? oc_dim_sub(c->exprs, ends->dim[0], oc_known(1))
                                                     : oc_op_fresh_dim(c, "batch", -1);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, rank + 1, dim));
    oc_set_out(c, 1, oc_in_dtype(c, 0), oc_shape_of(c->arena, 2, carried));
    oc_set_out(c, 2, OC_DT_INT32, oc_shape_of(c->arena, 2, carried));
    return 0;
}

/* ---- others ----------------------------------------------------------------------------------------- */

static int shape_scores(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 1));
    return 0;
}

/* Windows of `size` along an axis, `step` apart: [..., windows, ..., size] */
static int shape_unfold(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    int64_t size = oc_attr_i(c, "size", 0), step = oc_attr_i(c, "step", 1), where = oc_attr_i(c, "dim", -1);
    struct oc_dim dim[OC_MAX_RANK + 1];
    unsigned axis = 0;
    if (!x->ranked || x->rank == 0 || x->rank >= OC_MAX_RANK) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_unranked());
        return 0;
    }
    if (!oc_axis(where, x->rank, &axis))
        return oc_op_fail(c, "dim %lld is out of range for rank %u", (long long)where, x->rank);
    if (size < 1 || step < 1 || (oc_is_known(x->dim[axis]) && size > x->dim[axis].v))
        return oc_op_fail(c, "a window of %lld with step %lld does not fit an axis of %s", (long long)size,
                          (long long)step, oc_dim_text(c->exprs, x->dim[axis]));
    memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
    struct oc_dim rest = oc_dim_sub(c->exprs, x->dim[axis], oc_known(size));
    dim[axis] = oc_dim_add(c->exprs, oc_dim_floordiv(c->exprs, rest, oc_known(step)), oc_known(1));
    dim[x->rank] = oc_known(size);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, x->rank + 1U, dim));
    return 0;
}

#define MS(n, cl, s, sh, co)                                                                                 \
    {                                                                                                        \
        .domain = "com.microsoft", .name = (n), .since = 1, .op_class = (cl), .slots = (s), .shape = (sh),   \
        OC_COST(co)                                                                                          \
    }

static const struct oc_op rows[] = {
    MS("NGramHashMapping", OC_OP_ELEMENTWISE, NULL, shape_ngram_hash, hashing_cost_hash),
    MS("NGramRepeatBlock", OC_OP_COPY, NULL, shape_scores, oc_cost_none),
    MS("UnfoldTensor", OC_OP_COPY, NULL, shape_unfold, oc_cost_none),
    MS("VarlenNGramHashMapping", OC_OP_ELEMENTWISE, NULL, shape_ngram_hash, hashing_cost_hash),
};
extern const struct oc_op_family oc_ops_hashing;
const struct oc_op_family oc_ops_hashing = OC_FAMILY("hashing", rows);
