/* Multiply-adds of matrix products, convolutions and attention, forward and backward. The formulas agree with
 * torch/utils/flop_counter.py, PyTorch's own counter (which counts 2 per multiply-add, as here), with three
 * differences: a bias adds one operation per output, the weight gradient of a grouped convolution counts only
 * the channels of its group, and causal attention counts only the scores that are not masked. */
#include <string.h>

#include "join/record_cost.h"

enum { MAX_SPATIAL = 3 };

static unsigned rank_of(const struct oc_type *t)
{
    return t ? t->shape.rank : 0;
}

/* ---- matrix products -------------------------------------------------------------------------------- */

/* The product of the leading dims of A and B, which broadcast. False: they do not. */
static bool batch_of(struct aten_work *w, const struct oc_type *a, const struct oc_type *b, uint64_t *out)
{
    unsigned na = rank_of(a) > 2 ? rank_of(a) - 2 : 0, nb = rank_of(b) > 2 ? rank_of(b) - 2 : 0;
    *out = 1;
    for (unsigned i = 0; i < na || i < nb; i++) {
        uint64_t x = i < na ? oc_aten_size(a, (int)(na - 1 - i)) : 1,
                 y = i < nb ? oc_aten_size(b, (int)(nb - 1 - i)) : 1;
        if (x != y && x != 1 && y != 1)
            return false;
        *out = oc_aten_mul(w, *out, x == 1 ? y : x);
    }
    return true;
}

void oc_aten_matmul(struct aten_work *w)
{
    const struct oc_type *a = oc_aten_arg(w, 0), *b = oc_aten_arg(w, 1), *bias = oc_aten_arg(w, 2);
    uint64_t batch;
    if (!rank_of(a) || !rank_of(b)) {
        oc_aten_unknown(w, "the shapes of A and B are not recorded");
        return;
    }
    bool flip = w->row->flags & ATEN_TRANSPOSED && rank_of(b) > 1;
    uint64_t m = rank_of(a) > 1 ? oc_aten_size(a, -2) : 1, depth = oc_aten_size(a, -1);
    uint64_t other = rank_of(b) == 1 || flip ? oc_aten_size(b, -1) : oc_aten_size(b, -2);
    uint64_t n = rank_of(b) == 1 ? 1 : flip ? oc_aten_size(b, -2) : oc_aten_size(b, -1);
    if (other != depth || !batch_of(w, a, b, &batch)) {
        oc_aten_unknown(w, "the recorded shapes do not match the operator");
        return;
    }
    uint64_t outputs = oc_aten_mul(w, batch, oc_aten_mul(w, m, n));
    oc_aten_products(w, a, oc_aten_mul(w, outputs, depth), bias ? outputs : 0);
    oc_aten_read(w, a);
    oc_aten_read(w, b);
    oc_aten_read(w, bias);
    oc_aten_write(w, a, outputs);
    if (w->row->flags & ATEN_OTHER_TYPE)
        w->out->bytes_known = false;
}

/* ---- convolutions ----------------------------------------------------------------------------------- */

/* One value for each spatial dim: a single value stands for all, an empty list keeps the values. */
static bool read_window(const struct aten_work *w, int at, unsigned n, int64_t *v)
{
    unsigned found = 0;
    if (at < 0)
        return true;
    if (!oc_aten_ints(w, at, v, n, &found) || (found > 1 && found != n))
        return false;
    for (unsigned i = 1; i < n && found == 1; i++)
        v[i] = v[0];
    return true;
}

static bool is_value(const struct aten_work *w, int at, const char *text)
{
    return at >= 0 && (unsigned)at < w->n_value && oc_str_eq(w->value[at], text);
}

/* Product of the spatial sizes of the output of a window of n sizes that slides over the last n dims of X.
 * The stride is argument 3, otherwise *stride; the padding 4, the dilation 5. */
static bool output_size(struct aten_work *w, const struct oc_type *x, const int64_t *window, int64_t *stride,
                        unsigned n, uint64_t *out)
{
    unsigned first = rank_of(x) - n;
    int64_t pad[MAX_SPATIAL] = {0}, step[MAX_SPATIAL] = {1, 1, 1};
    bool same = is_value(w, oc_aten_at(w, 4), "same"), valid = is_value(w, oc_aten_at(w, 4), "valid");
    if (!read_window(w, oc_aten_at(w, 3), n, stride) ||
        !read_window(w, same || valid ? -1 : oc_aten_at(w, 4), n, pad) ||
        !read_window(w, oc_aten_at(w, 5), n, step))
        return false;
    *out = 1;
    for (unsigned i = 0; i < n; i++) {
        int64_t in = x->shape.dim[first + i].v, reach = window[i] - 1;
        if (stride[i] < 1 || step[i] < 1 || pad[i] < 0 || pad[i] > INT32_MAX || step[i] > INT32_MAX ||
            reach < 0 || reach > INT32_MAX || in > INT64_MAX / 4)
            return false;
        int64_t room = in + 2 * pad[i] - step[i] * reach - 1;
        *out = oc_aten_mul(w, *out, same ? (uint64_t)in : room < 0 ? 0 : (uint64_t)(room / stride[i]) + 1);
    }
    return true;
}

void oc_aten_conv(struct aten_work *w)
{
    const struct oc_type *x = oc_aten_arg(w, 0), *k = oc_aten_arg(w, 1), *bias = oc_aten_arg(w, 2);
    int flag = oc_aten_at(w, 6) < 0 ? 0 : oc_aten_bool(w, oc_aten_at(w, 6), 0);
    bool flipped = w->row->flags & ATEN_TRANSPOSED || flag == 1;
    unsigned rank = rank_of(k);
    if (rank < 3 || rank > 2 + MAX_SPATIAL || (rank_of(x) != rank && rank_of(x) != rank - 1)) {
        oc_aten_unknown(w, "the shapes of X and W are not recorded");
        return;
    }
    int64_t window[MAX_SPATIAL] = {0}, stride[MAX_SPATIAL] = {1, 1, 1};
    for (unsigned i = 2; i < rank; i++)
        window[i - 2] = k->shape.dim[i].v;
    uint64_t batch = rank_of(x) == rank ? oc_aten_size(x, 0) : 1, outputs, taps = oc_aten_span(w, k, 1, rank),
             space;
    uint64_t channels = oc_aten_size(x, (int)(rank_of(x) - rank) + 1),
             inner = oc_aten_size(k, flipped ? 0 : 1);
    if (!inner || channels % inner || (flipped && channels != inner)) {
        oc_aten_unknown(w, "the recorded shapes do not match the operator");
        return;
    }
    oc_aten_read(w, x);
    oc_aten_read(w, k);
    oc_aten_read(w, bias);
    if (flipped) { /* each input meets the kernel of every output channel of its group */
        oc_aten_products(w, x, oc_aten_mul(w, oc_aten_elements(w, x), taps), 0);
        w->out->bytes_known = false;
        return;
    }
    if (flag < 0 || !output_size(w, x, window, stride, rank - 2, &space)) {
        oc_aten_unknown(w, "stride and padding are not recorded (PyTorch 1.13 and later record them)");
        w->out->bytes_known = false;
        return;
    }
    outputs = oc_aten_mul(w, batch, oc_aten_mul(w, oc_aten_size(k, 0), space));
    oc_aten_products(w, x, oc_aten_mul(w, outputs, taps), bias ? outputs : 0);
    oc_aten_write(w, x, outputs);
}

/* The gradients of X and W take as many multiply-adds as the forward pass each. */
void oc_aten_conv_backward(struct aten_work *w)
{
    const struct oc_type *y = oc_aten_arg(w, 0), *x = oc_aten_arg(w, 1), *k = oc_aten_arg(w, 2);
    int flipped = oc_aten_at(w, 4) < 0 ? 0 : oc_aten_bool(w, oc_aten_at(w, 4), 0),
        of_x = oc_aten_bool(w, oc_aten_at(w, 3), 0), of_w = oc_aten_bool(w, oc_aten_at(w, 3), 1),
        of_bias = oc_aten_bool(w, oc_aten_at(w, 3), 2);
    if (!y || !x || rank_of(k) < 3 || rank_of(x) != rank_of(k) || rank_of(y) != rank_of(k)) {
        oc_aten_unknown(w, "the shapes of the gradient, X and W are not recorded");
        return;
    }
    uint64_t each =
        oc_aten_mul(w, oc_aten_elements(w, flipped == 1 ? x : y), oc_aten_span(w, k, 1, rank_of(k)));
    uint64_t parts = (uint64_t)(of_x != 0) + (of_w != 0);
    oc_aten_products(w, y, oc_aten_mul(w, each, parts), of_bias == 1 ? oc_aten_elements(w, y) : 0);
    oc_aten_read(w, y);
    if (of_x) {
        oc_aten_read(w, k);
        oc_aten_write(w, x, oc_aten_elements(w, x));
    }
    if (of_w) {
        oc_aten_read(w, x);
        oc_aten_write(w, k, oc_aten_elements(w, k));
    }
    if (of_bias == 1)
        oc_aten_write(w, y, oc_aten_size(y, 1));
    if (of_x < 0)
        oc_aten_qualify(w, OC_UPPER, "which gradients are computed is not recorded: both are counted");
}

void oc_aten_pool(struct aten_work *w)
{
    const struct oc_type *x = oc_aten_arg(w, 0);
    int64_t window[MAX_SPATIAL], stride[MAX_SPATIAL];
    unsigned n = (unsigned)oc_aten_at(w, 2);
    uint64_t taps = 1, space;
    for (unsigned i = 0; i < n; i++)
        window[i] = 1;
    bool good = rank_of(x) > n && w->n_value && read_window(w, oc_aten_at(w, 1), n, window);
    memcpy(stride, window, sizeof(stride)); /* the default */
    if (!good || !output_size(w, x, window, stride, n, &space) || oc_aten_bool(w, oc_aten_at(w, 6), 0) == 1) {
        oc_aten_unknown(w, "the window is not recorded, or ceil_mode is set");
        w->out->bytes_known = false;
        return;
    }
    for (unsigned i = 0; i < n; i++)
        taps = oc_aten_mul(w, taps, (uint64_t)window[i]);
    uint64_t outputs = oc_aten_mul(w, oc_aten_span(w, x, 0, rank_of(x) - n), space);
    oc_aten_products(w, x, 0, oc_aten_mul(w, outputs, taps));
    oc_aten_qualify(w, OC_UPPER, "padding is counted");
    oc_aten_read(w, x);
    oc_aten_write(w, x, outputs);
}

/* ---- attention -------------------------------------------------------------------------------------- */

struct heads {
    uint64_t queries, keys; /* sequence lengths */
    uint64_t heads;         /* batch times heads of Q; K and V may have fewer (grouped-query attention) */
    uint64_t size, size_v;  /* of a head */
};

static bool read_heads(struct aten_work *w, const struct oc_type *q, const struct oc_type *k,
                       const struct oc_type *v, struct heads *h)
{
    bool last = w->row->flags & ATEN_HEADS_LAST;
    unsigned rank = rank_of(q);
    if (rank < (last ? 4U : 2U) || oc_aten_arg(w, 4) || rank_of(k) != rank || rank_of(v) != rank)
        return false;
    int sequence = last ? -3 : -2, head = last ? -2 : -3;
    uint64_t q_heads = rank > 2 ? oc_aten_size(q, head) : 1, k_heads = rank > 2 ? oc_aten_size(k, head) : 1;
    *h = (struct heads){.queries = oc_aten_size(q, sequence),
                        .keys = oc_aten_size(k, sequence),
                        .size = oc_aten_size(q, -1),
                        .size_v = oc_aten_size(v, -1)};
    h->heads = rank > 2 ? oc_aten_mul(w, oc_aten_span(w, q, 0, rank - 3), q_heads) : 1;
    return k_heads && q_heads % k_heads == 0 && oc_aten_size(k, -1) == h->size &&
           oc_aten_size(v, sequence) == h->keys;
}

/* Sequences of different lengths in one tensor [tokens, heads, size]: no query has more than the longest
 * sequence of keys. */
static bool read_packed(struct aten_work *w, const struct oc_type *q, const struct oc_type *k,
                        const struct oc_type *v, struct heads *h)
{
    int64_t longest;
    unsigned n;
    if (rank_of(q) != 3 || rank_of(k) != 3 || rank_of(v) != 3 || oc_aten_at(w, 5) < 0 || !oc_aten_arg(w, 4) ||
        !oc_aten_ints(w, oc_aten_at(w, 5), &longest, 1, &n) || n != 1 || longest < 0)
        return false;
    *h = (struct heads){.queries = oc_aten_size(q, 0),
                        .keys = (uint64_t)longest,
                        .heads = oc_aten_size(q, 1),
                        .size = oc_aten_size(q, 2),
                        .size_v = oc_aten_size(v, 2)};
    return oc_aten_size(k, 2) == h->size;
}

static uint64_t triangle(struct aten_work *w, uint64_t n)
{
    return n % 2 ? oc_aten_mul(w, n, n / 2 + 1) : oc_aten_mul(w, n / 2, n + 1);
}

/* Scores of one head that a causal mask leaves. */
static uint64_t causal_scores(struct aten_work *w, const struct heads *h)
{
    uint64_t q = h->queries, k = h->keys;
    if (w->row->flags & ATEN_ENDS_ALIGN)
        return k >= q ? oc_aten_mul(w, q, k - q) + triangle(w, q) : triangle(w, k);
    return k >= q ? triangle(w, q) : triangle(w, k) + oc_aten_mul(w, q - k, k);
}

/* Products only: the softmax is not counted. Forward: QK' and PV; backward: QK' again, and the gradients of
 * V, P, Q and K. */
void oc_aten_attention(struct aten_work *w)
{
    const struct oc_type *q = oc_aten_arg(w, 0), *k = oc_aten_arg(w, 1), *v = oc_aten_arg(w, 2);
    bool backward = w->row->flags & ATEN_BACKWARD, packed = false;
    int causal = oc_aten_bool(w, oc_aten_at(w, 3), 0);
    struct heads h;
    if (!q || !k || !v || (!read_heads(w, q, k, v, &h) && !(packed = read_packed(w, q, k, v, &h)))) {
        oc_aten_unknown(w, "the shapes of Q, K and V are not recorded");
        return;
    }
    uint64_t scores = causal == 1 && !packed ? causal_scores(w, &h) : oc_aten_mul(w, h.queries, h.keys);
    uint64_t depth = backward ? 3 * h.size + 2 * h.size_v : h.size + h.size_v;
    uint64_t outputs = oc_aten_mul(w, h.heads, oc_aten_mul(w, h.queries, h.size_v));
    oc_aten_products(w, q, oc_aten_mul(w, h.heads, oc_aten_mul(w, scores, depth)), 0);
    oc_aten_read(w, q);
    oc_aten_read(w, k);
    oc_aten_read(w, v);
    if (backward) { /* also reads the output and its gradient */
        const struct oc_type *y = oc_aten_arg(w, 6);
        oc_aten_read(w, y);
        oc_aten_read(w, y);
        oc_aten_write(w, q, oc_aten_elements(w, q));
        oc_aten_write(w, k, oc_aten_elements(w, k));
        oc_aten_write(w, v, oc_aten_elements(w, v));
    } else {
        oc_aten_write(w, q, outputs);
    }
    if (packed)
        oc_aten_qualify(w, OC_UPPER, "sequences of different lengths: each is counted with the longest keys");
    else if (causal < 0)
        oc_aten_qualify(w, OC_UPPER, "is_causal is not recorded: all scores are counted");
    else if (causal == 1)
        oc_aten_qualify(w, OC_LOWER,
                        "causal: masked scores are not counted, kernels may compute some of them");
}
