/* Rotary position embeddings. cost-semantics 4.12, 5.6: only the rows of the caches in use are read. */
#include "ops/attention.h"

#include <string.h>

/* Slots: ai.onnx (X, cos, sin, position_ids), com.microsoft (input, position_ids, cos, sin). */
struct rotary_kind {
    uint8_t cos, positions;
};
static const struct rotary_kind onnx = {.cos = 1, .positions = 3};
static const struct rotary_kind ms = {.cos = 2, .positions = 1};

/* Axes of x: [B, H, S, d] or [B, S, H*d]. */
static bool head_size(struct oc_op_ctx *c, const struct oc_shape *x, struct oc_dim *size)
{
    int64_t heads = oc_attr_i(c, "num_heads", 0);
    if (x->rank == 4) {
        *size = x->dim[3];
        return true;
    }
    return x->rank == 3 && heads > 0 && oc_split_dim(c, x->dim[2], heads, size);
}

/* Rotated elements: all, or rotary_embedding_dim of every head. */
static uint64_t rotated_elements(struct oc_op_ctx *c, const struct oc_shape *x)
{
    int64_t part = oc_attr_i(c, "rotary_embedding_dim", 0);
    uint64_t n = oc_c_in(c, 0);
    struct oc_dim head;
    if (part <= 0 || !head_size(c, x, &head))
        return n;
    uint64_t size = oc_c_dim(c, head);
    return size && (uint64_t)part < size ? oc_c_mul(c, n / size, (uint64_t)part) : n;
}

static int cost_rotary(struct oc_op_ctx *c, struct oc_cost *k)
{
    const struct rotary_kind *kind = c->op->param;
    const struct oc_shape *x = oc_in_shape(c, 0), *cache = oc_in_shape(c, kind->cos);
    if (!x->ranked || (x->rank != 3 && x->rank != 4)) {
        c->unknown = true;
        return 0;
    }
    oc_add_rope(c, k, rotated_elements(c, x));
    if (!oc_in(c, kind->positions) || !cache->ranked || cache->rank == 0)
        return 0;
    uint64_t rows = oc_c_mul(c, oc_c_dim(c, x->dim[0]), oc_c_dim(c, x->dim[x->rank == 4 ? 2 : 1]));
    uint64_t n = oc_c_mul(c, rows, oc_c_dim(c, cache->dim[cache->rank - 1]));
    oc_limit_read(c, k, kind->cos, n);
    oc_limit_read(c, k, kind->cos + 1U, n);
    return 0;
}
static const char cost_rotary_formula[] = OC_ROPE_FORMULA;

/* GemmaRotaryEmbedding(emb, q, q_rot, k, k_rot): sin and cos of emb, then the rotation of q and k. */
static int shape_gemma(struct oc_op_ctx *c)
{
    oc_set_out_type(c, 0, oc_in(c, 1));
    oc_set_out_type(c, 1, oc_in(c, 3));
    return 0;
}

static int cost_gemma(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_add(c, k, OC_SIN, oc_c_mul(c, 2, oc_c_in(c, 0)));
    oc_add_rope(c, k, oc_c_add(c, oc_c_in(c, 1), oc_c_in(c, 3)));
    return 0;
}
static const char cost_gemma_formula[] = "SIN = 2*N(x)"
                                         "; " OC_ROPE_FORMULA;

static const struct oc_op rows[] = {
    {.domain = "com.microsoft",
     .name = "GemmaRotaryEmbedding",
     .since = 1,
     .op_class = OC_OP_ATTENTION,
     .shape = shape_gemma,
     OC_COST(cost_gemma),
     .kernel = OC_KC_ELEMENTWISE},
    {.domain = "com.microsoft",
     .name = "MRotaryEmbedding",
     .since = 1,
     .op_class = OC_OP_ATTENTION,
     .slots = "..t",
     .shape = oc_shape_same,
     OC_COST(cost_rotary),
     .param = &ms,
     .kernel = OC_KC_ELEMENTWISE},
    {.domain = "",
     .name = "RotaryEmbedding",
     .since = 23,
     .op_class = OC_OP_ATTENTION,
     .slots = ".tt.",
     .shape = oc_shape_same,
     OC_COST(cost_rotary),
     .param = &onnx,
     .kernel = OC_KC_ELEMENTWISE,
     .flags = OC_F_FUNCTION},
    {.domain = "com.microsoft",
     .name = "RotaryEmbedding",
     .since = 1,
     .op_class = OC_OP_ATTENTION,
     .slots = "..t",
     .shape = oc_shape_same,
     OC_COST(cost_rotary),
     .param = &ms,
     .kernel = OC_KC_ELEMENTWISE},
};
extern const struct oc_op_family oc_ops_rotary;
const struct oc_op_family oc_ops_rotary = OC_FAMILY("rotary", rows);
