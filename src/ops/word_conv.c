/* WordConvEmbedding of ONNX Runtime (com.microsoft): word embeddings from characters. cost-semantics 4.1. */
#include "ops/move.h"

#include <string.h>

/* words [..., characters], W [filters, 1, window, size], B [filters], C [alphabet, size] -> [..., filters] */
static int shape_word_conv(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    struct oc_dim dim[OC_MAX_RANK];
    if (x->ranked && x->rank == 0)
        return oc_op_fail(c, "words have rank 0");
    if (w->ranked && w->rank != 4)
        return oc_op_fail(c, "invalid weight rank %u", w->rank);
    if (!x->ranked) {
        oc_set_out(c, 0, oc_in_dtype(c, 1), oc_shape_unranked());
        return 0;
    }
    memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
    dim[x->rank - 1] = w->ranked ? w->dim[0] : oc_fresh_axis(c, x->rank - 1U, -1);
    oc_set_out(c, 0, oc_in_dtype(c, 1), oc_shape_of(c->arena, x->rank, dim));
    return 0;
}

/* A convolution over the characters of each word, tanh, the maximum over all positions */
static int cost_word_conv(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims after[] = {{OC_ADD, 1}, {OC_TANH, 1}, {OC_CMP, 1}, {0, 0}};
    const struct oc_shape *x = oc_in_shape(c, 0), *w = oc_in_shape(c, 1);
    if (!x->ranked || !w->ranked) {
        c->unknown = true;
        return 0;
    }
    uint64_t characters = oc_c_dim(c, x->dim[x->rank - 1U]), window = oc_c_dim(c, w->dim[2]);
    uint64_t positions = characters >= window ? characters - window + 1 : 0;
    uint64_t n = oc_c_mul(c, oc_c_out(c, 0), positions);
    k->mac_class = oc_dtype_info(oc_in_dtype(c, 1))->cls;
    oc_add(c, k, OC_MAC, oc_c_mul(c, n, oc_c_mul(c, window, oc_c_dim(c, w->dim[3]))));
    oc_tell(c, "positions", positions);
    oc_add_prims(c, k, after, n);
    uint64_t rows = oc_c_part(c, 3, oc_c_mul(c, oc_c_in(c, 0), oc_c_dim(c, w->dim[3])));
    if (c->n_in > 3 && rows < k->rd[3])
        k->rd[3] = rows;
    return 0;
}
static const char cost_word_conv_formula[] =
    "MAC = n*w[2]*w[3]; ADD = n; TANH = n; CMP = n; n := N(o)*positions";

static const struct oc_op rows[] = {
    {.domain = "com.microsoft",
     .name = "WordConvEmbedding",
     .since = 1,
     .op_class = OC_OP_CONV,
     .slots = "..be",
     .shape = shape_word_conv,
     OC_COST(cost_word_conv),
     .kernel = OC_KC_GATHER},
};
extern const struct oc_op_family oc_ops_word_conv;
const struct oc_op_family oc_ops_word_conv = OC_FAMILY("word_conv", rows);
