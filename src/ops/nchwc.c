/* Layout operators of ONNX Runtime's blocked graphs (com.microsoft.nchwc). Shapes are written as NCHW with
 * the channels rounded up to the block. Conv and pools of that domain: conv.c, pool.c. */
#include "ops/op.h"

#include <string.h>

/* The block size depends on the processor, 8 or 16 channels, and is not stored in the node. */
#define SMALL_BLOCK 8
#define LARGE_BLOCK 16
#define LOOK_AHEAD  64

static int64_t nchwc_round_up(int64_t v, int64_t block)
{
    return (v + block - 1) / block * block;
}

/* Channels required by the weight of the next convolution that reads this output (one group), or 0. */
static int64_t consumer_channels(const struct oc_op_ctx *c)
{
    const struct oc_model *m = c->model;
    if (!m || c->node < m->node || c->node >= m->node + m->n_node || c->n_out == 0)
        return 0;
    uint32_t first = (uint32_t)(c->node - m->node) + 1;
    for (uint32_t i = first; i < m->n_node && i < first + LOOK_AHEAD; i++) {
        const struct oc_node *n = &m->node[i];
        if (strcmp(n->op_type, "Conv") != 0 || strcmp(n->domain, "com.microsoft.nchwc") != 0 || n->n_in < 2 ||
            n->in[0] != c->node->out[0] || n->in[1] == OC_NONE)
            continue;
        const struct oc_tensor *w = m->value[n->in[1]].constant;
        const struct oc_attr *group = oc_node_attr(n, "group");
        if (w && w->rank >= 2 && (!group || group->i == 1))
            return w->dim[1];
        if (w && w->rank >= 2 && w->dim[1] == 1)
            return w->dim[0]; /* depthwise */
    }
    return 0;
}

static struct oc_dim blocked_channels(struct oc_op_ctx *c, struct oc_dim channels)
{
    if (!oc_is_known(channels) || channels.v < 0 || channels.v > INT64_MAX - LARGE_BLOCK)
        return oc_op_fresh_dim(c, "1", -1);
    int64_t small = nchwc_round_up(channels.v, SMALL_BLOCK), large = nchwc_round_up(channels.v, LARGE_BLOCK);
    int64_t seen = consumer_channels(c);
    if (small == large || seen == small || seen == large)
        return oc_known(seen == small ? small : large);
    return oc_op_fresh_dim(c, "1", large);
}

static int nchwc_check_rank(struct oc_op_ctx *c, const struct oc_shape *x)
{
    return x->ranked && x->rank < 3 ? oc_op_fail(c, "invalid input rank %u", x->rank) : 0;
}

static int shape_reorder_input(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    if (nchwc_check_rank(c, x))
        return -1;
    if (x->ranked) {
        struct oc_dim dim[OC_MAX_RANK];
        bool last = oc_attr_i(c, "channels_last", 0) != 0;
        dim[0] = x->dim[0];
        dim[1] = blocked_channels(c, x->dim[last ? x->rank - 1 : 1]);
        for (unsigned i = 2; i < x->rank; i++)
            dim[i] = x->dim[last ? i - 1 : i];
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

static int shape_reorder_output(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    int64_t channels = oc_attr_i(c, "channels", 0);
    if (nchwc_check_rank(c, x))
        return -1;
    if (channels < 1)
        return oc_op_fail(c, "invalid channels %lld", (long long)channels);
    if (x->ranked) {
        struct oc_dim dim[OC_MAX_RANK];
        bool last = oc_attr_i(c, "channels_last", 0) != 0;
        dim[0] = x->dim[0];
        dim[last ? x->rank - 1 : 1] = oc_known(channels);
        for (unsigned i = 2; i < x->rank; i++)
            dim[last ? i - 1 : i] = x->dim[i];
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

/* ---- Upsample --------------------------------------------------------------------------------------- */

static int shape_upsample(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    uint32_t n;
    const int64_t *scales = oc_attr_ints(c, "scales", &n);
    if (x->ranked) {
        struct oc_dim dim[OC_MAX_RANK];
        if (n && n != x->rank)
            return oc_op_fail(c, "scales has %u elements, expected %u", n, x->rank);
        for (unsigned i = 0; i < x->rank; i++) {
            if (n && scales[i] < 1)
                return oc_op_fail(c, "invalid scale %lld", (long long)scales[i]);
            dim[i] = oc_dim_mul(c->exprs, x->dim[i], oc_known(n ? scales[i] : 1));
        }
        out = oc_shape_of(c->arena, x->rank, dim);
    }
    oc_set_out(c, 0, oc_in_dtype(c, 0), out);
    return 0;
}

/* linear over n axes: T = 2^n MUL and T-1 ADD per output element; nearest: none */
static int cost_upsample(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint32_t n;
    const int64_t *scales = oc_attr_ints(c, "scales", &n);
    unsigned axes = 0;
    for (uint32_t i = 0; i < n; i++)
        axes += scales[i] != 1;
    if (axes == 0) {
        k->alias = true;
        return 0;
    }
    if (strcmp(oc_attr_s(c, "mode", "nearest"), "linear") != 0 || axes > 8)
        return 0;
    uint64_t out = oc_c_out(c, 0), taps = UINT64_C(1) << axes;
    oc_tell(c, "T", taps);
    oc_add(c, k, OC_MUL, oc_c_mul(c, taps, out));
    oc_add(c, k, OC_ADD, oc_c_mul(c, taps - 1, out));
    return 0;
}
static const char cost_upsample_formula[] = "MUL = T*N(o); ADD = (max(T, 1) - 1)*N(o); T := 0";

#define NCHWC(n, cls, sh, co)                                                                                \
    .domain = "com.microsoft.nchwc", .name = (n), .since = 1, .op_class = (cls), .shape = (sh), OC_COST(co)

static const struct oc_op rows[] = {
    {NCHWC("ReorderInput", OC_OP_LAYOUT, shape_reorder_input, oc_cost_none), .kernel = OC_KC_REORDER},
    {NCHWC("ReorderOutput", OC_OP_LAYOUT, shape_reorder_output, oc_cost_none), .kernel = OC_KC_REORDER},
    {NCHWC("Upsample", OC_OP_RESIZE, shape_upsample, cost_upsample)},
};
extern const struct oc_op_family oc_ops_nchwc;
const struct oc_op_family oc_ops_nchwc = OC_FAMILY("nchwc", rows);
