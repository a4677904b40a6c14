/* Attention of ai.onnx (versions 23 to 25), and FlexAttention without its bodies. cost-semantics 4.12,
 * shape-inference 4.11. The operators of ONNX Runtime: ms_attention.c; rotary embeddings: rotary.c. */
#include "ops/attention_cost.h"

#include <string.h>

enum { Q, K, V, MASK, PAST_K, PAST_V, NONPAD };

struct dims {
    struct oc_dim batch, sq, skv, past, total, dk, dv;
    int64_t hq, hkv; /* 0: unknown */
    bool flat;       /* 3-D operands */
};

static int head_error(struct oc_op_ctx *c, const char *what, struct oc_dim width, int64_t heads)
{
    return oc_op_fail(c, "%s width %s is not divisible by %lld heads", what, oc_dim_text(c->exprs, width),
                      (long long)heads);
}

static int flat_dims(struct oc_op_ctx *c, const struct oc_shape *q, const struct oc_shape *k,
                     const struct oc_shape *v, struct dims *d)
{
    d->hq = oc_attr_i(c, "q_num_heads", 0);
    d->hkv = oc_attr_i(c, "kv_num_heads", 0);
    d->sq = q->dim[1];
    d->skv = k->dim[1];
    if (d->hq < 1 || d->hkv < 1)
        return oc_op_fail(c, "invalid q_num_heads %lld, kv_num_heads %lld", (long long)d->hq,
                          (long long)d->hkv);
    if (!oc_split_dim(c, q->dim[2], d->hq, &d->dk))
        return head_error(c, "Q", q->dim[2], d->hq);
    if (!oc_split_dim(c, v->dim[2], d->hkv, &d->dv))
        return head_error(c, "V", v->dim[2], d->hkv);
    return 0;
}

/* 1: all known, 0: a rank is missing, -1: error */
static int read_dims(struct oc_op_ctx *c, struct dims *d)
{
    const struct oc_shape *q = oc_in_shape(c, Q), *k = oc_in_shape(c, K), *v = oc_in_shape(c, V);
    const struct oc_shape *past = oc_in_shape(c, PAST_K);
    if (!q->ranked || !k->ranked || !v->ranked)
        return 0;
    if (q->rank != k->rank || q->rank != v->rank || (q->rank != 3 && q->rank != 4))
        return oc_op_fail(c, "invalid operand ranks %u, %u, %u", q->rank, k->rank, v->rank);
    *d = (struct dims){.batch = q->dim[0], .flat = q->rank == 3};
    if (d->flat) {
        if (flat_dims(c, q, k, v, d))
            return -1;
    } else {
        d->hq = oc_is_known(q->dim[1]) ? q->dim[1].v : 0;
        d->hkv = oc_is_known(k->dim[1]) ? k->dim[1].v : 0;
        d->sq = q->dim[2];
        d->skv = k->dim[2];
        d->dk = q->dim[3];
        d->dv = v->dim[3];
    }
    d->past = oc_in(c, PAST_K)
                  ? past->ranked && past->rank == 4 ? past->dim[2] : oc_op_fresh_dim(c, "past", -1)
                  : oc_known(0);
    d->total = oc_dim_add(c->exprs, d->past, d->skv);
    return 1;
}

static int shape_attention(struct oc_op_ctx *c)
{
    struct dims d = {.hq = 0};
    int known = read_dims(c, &d);
    if (known <= 0) {
        for (unsigned i = 0; i < 4; i++)
            oc_set_out(c, i, oc_in_dtype(c, 0), oc_shape_unranked());
        return known;
    }
    const struct oc_shape *q = oc_in_shape(c, Q), *k = oc_in_shape(c, K);
    struct oc_dim hq = d.flat ? oc_known(d.hq) : q->dim[1], hkv = d.flat ? oc_known(d.hkv) : k->dim[1];
    struct oc_dim flat[3] = {d.batch, d.sq, oc_dim_mul(c->exprs, hq, d.dv)};
    struct oc_dim y[4] = {d.batch, hq, d.sq, d.dv};
    struct oc_dim key[4] = {d.batch, hkv, d.total, d.dk}, value[4] = {d.batch, hkv, d.total, d.dv};
    struct oc_dim scores[4] = {d.batch, hq, d.sq, d.total};
    unsigned kt = oc_in_dtype(c, oc_in(c, PAST_K) ? PAST_K : K),
             vt = oc_in_dtype(c, oc_in(c, PAST_V) ? PAST_V : V);
    oc_set_out(c, 0, oc_in_dtype(c, 0),
               d.flat ? oc_shape_of(c->arena, 3, flat) : oc_shape_of(c->arena, 4, y));
    oc_set_out(c, 1, kt, oc_shape_of(c->arena, 4, key));
    oc_set_out(c, 2, vt, oc_shape_of(c->arena, 4, value));
    oc_set_out(c, 3, oc_in_dtype(c, 0), oc_shape_of(c->arena, 4, scores));
    return 0;
}

/* With an external cache (nonpad_kv_seqlen) every sequence has its own offset: length - Sq. */
static void add_external(struct oc_op_ctx *c, struct oc_cost *k, struct oc_attention *a)
{
    uint32_t n;
    const int64_t *length = oc_in_ints(c, NONPAD, &n);
    if (a->queries > INT64_MAX || a->keys > INT64_MAX) {
        c->overflow = true;
        return;
    }
    if (!length || n != a->batch || c->opt.attention_full) {
        if (!length && a->causal)
            c->assumption = "nonpad_kv_seqlen is unknown: assumed a full cache";
        a->offset = (int64_t)a->keys - (int64_t)a->queries;
        oc_add_attention(c, k, a);
        return;
    }
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < n; i++)
        pairs = oc_c_add(c, pairs,
                         oc_visible_pairs(c, a->queries, a->keys, length[i] - (int64_t)a->queries, a->left,
                                          a->right, a->causal));
    oc_add_attention_pairs(c, k, a, pairs);
}

/* Separate buffers of past and present unless --kv-share says otherwise: the past is read in full, once to
 * attend. */
static void count_past(struct oc_op_ctx *c, struct oc_cost *k, const struct dims *d,
                       const struct oc_attention *a)
{
    struct oc_dim heads = d->flat ? oc_known(d->hkv) : oc_in_shape(c, K)->dim[1];
    uint64_t past = oc_c_dim(c, d->past), rows = oc_c_mul(c, a->batch, oc_c_dim(c, heads));
    bool shared = oc_kv_shared(c, false);
    struct oc_kv_cache v = {.past = past,
                            .seen = shared ? oc_window_keys(past, a->offset, a->left) : past,
                            .fresh = oc_c_dim(c, d->skv),
                            .shared = shared};
    for (unsigned i = 0; i < 2; i++) {
        v.past_slot = PAST_K + i;
        v.present_slot = 1 + i;
        v.token = oc_c_mul(c, rows, i ? a->dv : a->dk);
        oc_count_kv_cache(c, k, &v);
    }
}

static void use_softmax_precision(const struct oc_op_ctx *c, struct oc_cost *k)
{
    int64_t dtype = oc_attr_i(c, "softmax_precision", 0);
    if (dtype > 0 && dtype < OC_DT_COUNT && oc_dtype_info((unsigned)dtype)->kind == OC_KIND_FLOAT)
        k->rest_class = oc_dtype_info((unsigned)dtype)->cls;
}

static int cost_attention(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct dims d = {.hq = 0};
    int known = read_dims(c, &d);
    if (known <= 0 || d.hq < 1) {
        c->unknown = true;
        return known < 0 ? -1 : 0;
    }
    uint64_t past = oc_c_dim(c, d.past);
    struct oc_attention a = {.batch = oc_c_dim(c, d.batch),
                             .heads = (uint64_t)d.hq,
                             .queries = oc_c_dim(c, d.sq),
                             .keys = oc_c_dim(c, d.total),
                             .dk = oc_c_dim(c, d.dk),
                             .dv = oc_c_dim(c, d.dv),
                             .offset = past > INT64_MAX ? 0 : (int64_t)past,
                             .left = oc_attr_i(c, "left_window_size", -1),
                             .right = oc_attr_i(c, "right_window_size", -1),
                             .causal = oc_attr_i(c, "is_causal", 0) != 0,
                             .masked = oc_in(c, MASK) != NULL,
                             .softcap = oc_attr_f(c, "softcap", 0.0F) != 0.0F};
    if (oc_has_attr(c, "score_mod") || oc_has_attr(c, "prob_mod"))
        c->assumption = "the score modification bodies are not counted";
    use_softmax_precision(c, k);
    if (oc_in(c, NONPAD))
        add_external(c, k, &a);
    else
        oc_add_attention(c, k, &a);
    count_past(c, k, &d, &a);
    return 0;
}
static const char cost_attention_formula[] = OC_ATTENTION_FORMULA;

static const struct oc_op rows[] = {
    {.domain = "",
     .name = "Attention",
     .since = 23,
     .op_class = OC_OP_ATTENTION,
     .shape = shape_attention,
     OC_COST(cost_attention)},
    {.domain = "ai.onnx.preview",
     .name = "FlexAttention",
     .since = 1,
     .op_class = OC_OP_ATTENTION,
     .flags = OC_F_LOW_CONFIDENCE,
     .shape = shape_attention,
     OC_COST(cost_attention)},
};
extern const struct oc_op_family oc_ops_attention;
const struct oc_op_family oc_ops_attention = OC_FAMILY("attention", rows);
