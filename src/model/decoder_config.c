/* From the fields of a config.json to the layers of a decoder. Defaults and what fields mean follow the
 * configuration_*.py and modeling_*.py of transformers. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "model/decoder.h"
#include "shape/type.h"

enum { MAX_LAYERS = 400, MAX_EXPERTS = 65536, MILLION = 1000000 };
#define MAX_WIDTH INT64_C(16777216)

struct maker {
    const struct oc_dec_fields_read *read;
    struct oc_dec_fields *f;
    struct oc_decoder *d;
    struct oc_buf assumed;
    struct oc_err *err;
};
#define GET(m, field, otherwise)   oc_dec_field((m)->f, OC_F_##field, (otherwise))
#define AT(m, field, i, otherwise) oc_dec_field_at((m)->f, OC_F_##field, (i), (otherwise))
/* Kinds of layers may be a pattern that repeats. */
#define KIND(m, i)           AT(m, kinds, (m)->f->of[OC_F_kinds].n > 1 ? (i) % (m)->f->of[OC_F_kinds].n : (i), 0)
#define IS(m, field)         oc_dec_field_is((m)->f, OC_F_##field)
#define GIVEN(m, field)      ((m)->f->of[OC_F_##field].v != INT64_MIN)
#define SET(m, field, value) ((m)->f->of[OC_F_##field].v = (value))
#define LISTED(m, field)     ((m)->f->of[OC_F_##field].list != NULL)

/* A size that the file leaves out; each text once. */
static int64_t assume(struct maker *m, const char *text, int64_t v)
{
    if (!m->assumed.n || !strstr(m->assumed.data, text))
        oc_buf_printf(&m->assumed, "%s%s", m->assumed.n ? "; " : "", text);
    return v;
}

static int check(struct maker *m, struct oc_str name, int64_t v, int64_t least, int64_t most)
{
    if (v == INT64_MIN)
        return oc_fail(m->err, OC_EUNSUPPORTED, "no '%.*s'; give the whole file of the model", (int)name.n,
                       name.s);
    return v < least || v > most
               ? oc_fail(m->err, OC_EFORMAT, "%.*s must be from %lld to %lld, not %lld", (int)name.n, name.s,
                         (long long)least, (long long)most, (long long)v)
               : 0;
}
#define CHECK(m, field, v, least, most) check((m), oc_dec_field_name(OC_F_##field), (v), (least), (most))

/* A field, or what it is otherwise (INT64_MIN: it must be given), and its range. */
static int take(struct maker *m, enum oc_dec_field_id field, int64_t *to, int64_t otherwise, int64_t least,
                int64_t most)
{
    *to = oc_dec_field(m->f, field, otherwise);
    return check(m, oc_dec_field_name(field), *to, least, most);
}
#define TAKE(m, field, to, otherwise, least, most) take((m), OC_F_##field, (to), (otherwise), (least), (most))

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Sizes that may be listed by layer. A list of equal ones is that size; one of another length is of something else: of
 * text and images. */
static void listed_sizes(struct maker *m)
{
    static const uint8_t of_layers[] = {OC_F_heads,   OC_F_kv_heads, OC_F_mlp,
                                        OC_F_experts, OC_F_active,   OC_F_expert_mlp,
                                        OC_F_shared,  OC_F_dense,    OC_F_expert_last};
    for (size_t k = 0; k < OC_COUNT(of_layers); k++) {
        const int64_t *v = m->f->of[of_layers[k]].list;
        uint32_t n = m->f->of[of_layers[k]].n, same = 0;
        while (same < n && v[same] == v[0])
            same++;
        if (n && (same == n || n != m->d->layers))
            m->f->of[of_layers[k]].v = v[0];
        if (n <= 1 || n == m->d->layers)
            continue;
        m->f->of[of_layers[k]].list = NULL;
        const struct oc_str name = oc_dec_field_name((enum oc_dec_field_id)of_layers[k]);
        char text[160];
        snprintf(text, sizeof(text), "'%.*s' has %u values, not one for each of the %lld layers%s",
                 (int)name.n, name.s, n, (long long)m->d->layers, same == n ? "" : ": the first counts");
        assume(m, text, 0);
    }
}

/* embedding_size is the width of the embedding table, or the number of its rows if that is no less than the words. */
static int embeddings(struct maker *m)
{
    struct oc_decoder *d = m->d;
    int64_t given = GET(m, embedding, 0), unit = GET(m, vocabulary_unit, 1);
    bool rows = given >= d->vocabulary;
    if (CHECK(m, embedding, given, 0, MAX_WIDTH) || CHECK(m, vocabulary_unit, unit, 1, MAX_WIDTH))
        return -1;
    d->embedding = given && !rows ? given : d->width;
    d->vocabulary = oc_ceil_div(rows ? given : d->vocabulary, unit) * unit;
    return 0;
}

static int sizes(struct maker *m)
{
    struct oc_decoder *d = m->d;
    const uint32_t listed = m->f->of[OC_F_kinds].n;
    if (!GIVEN(m, width) && GIVEN(m, mlp) && !m->read->family) { /* hidden_dim is one or the other */
        SET(m, width, assume(m, "hidden_dim as the width", GET(m, mlp, 0)));
        SET(m, mlp, INT64_MIN);
    }
    const int64_t blocks = GET(m, blocks, INT64_MIN);
    if (!GIVEN(m, width))
        SET(m, width, GET(m, embedding, INT64_MIN));
    if (!GIVEN(m, layers)) /* LongCat: two layers in a block */
        SET(m, layers, IS(m, both) && blocks > 0 && blocks <= MAX_LAYERS ? 2 * blocks : blocks);
    if (TAKE(m, layers, &d->layers, LISTED(m, kinds) ? listed : INT64_MIN, 1, MAX_LAYERS) ||
        TAKE(m, width, &d->width, INT64_MIN, 1, MAX_WIDTH) ||
        TAKE(m, vocabulary, &d->vocabulary, INT64_MIN, 1, MAX_WIDTH) ||
        TAKE(m, positions, &d->positions, 2048, 0, INT64_C(1) << 40) || embeddings(m) ||
        TAKE(m, segments, &d->segments, 0, 0, MAX_EXPERTS))
        return -1;
    d->positions += GET(m, extra_positions, 0);
    listed_sizes(m);
    if (IS(m, all_mamba) && m->f->of[OC_F_attn_list].n)
        return oc_fail(m->err, OC_EUNSUPPORTED, "attention between layers of mamba_ssm is not built");
    if (listed > 1 && listed < d->layers)
        assume(m, "the list of layers repeats", 0);
    if (listed == 1 && d->layers > 1)
        return oc_fail(m->err, OC_EFORMAT, "layer_types names %u layers of %lld", listed,
                       (long long)d->layers);
    return 0;
}

static int experts(struct maker *m)
{
    struct oc_decoder *d = m->d;
    int64_t last = d->layers - 1, shared = AT(m, shared, last, 0), mlp = AT(m, mlp, 0, INT64_MIN), step;
    if (GET(m, is_moe, 1) == 0)
        SET(m, experts, 0);
    if (TAKE(m, experts, &d->experts, 0, 0, MAX_EXPERTS) || !d->experts)
        return d->experts ? -1 : 0;
    if (mlp == INT64_MIN && !GIVEN(m, expert_mlp) && !LISTED(m, expert_mlp))
        mlp = assume(m, "MLPs of 4 times the width", 4 * d->width);
    if (!GIVEN(m, active))
        SET(m, active, assume(m, "one expert for a token", 1));
    d->expert_mlp = AT(m, expert_mlp, last, mlp);
    if (TAKE(m, active, &d->active, 1, 1, d->experts) || CHECK(m, expert_mlp, d->expert_mlp, 1, MAX_WIDTH) ||
        TAKE(m, expert_width, &d->expert_width, 0, 0, MAX_WIDTH))
        return -1;
    shared = shared > 0 && shared <= MAX_EXPERTS ? shared * d->expert_mlp : 0;
    d->shared_mlp = GET(m, shared_mlp, 0) > 0 ? GET(m, shared_mlp, 0) : shared;
    return CHECK(m, shared_mlp, d->shared_mlp, 0, MAX_WIDTH) ||
           CHECK(m, dense, GET(m, dense, 0), 0, d->layers) || TAKE(m, expert_step, &step, 1, 1, MAX_LAYERS);
}

static int latent(struct maker *m)
{
    struct oc_decoder *d = m->d;
    bool is = GET(m, latent, 1) && (IS(m, kv_rank) || (IS(m, latent) && !m->read->assumed)),
         compressed = IS(m, compressed);
    bool guess = m->read->assumed && !compressed && !GIVEN(m, nope) && !GIVEN(m, rope) && !GIVEN(m, v_head);
    int64_t unused;
    if (TAKE(m, q_rank, &d->q_rank, compressed ? INT64_MIN : 0, compressed, MAX_WIDTH) ||
        (!is && !compressed))
        return d->q_rank < 0 || d->q_rank > MAX_WIDTH;
    if (guess)
        assume(m, "heads of latent attention as in DeepSeek-V2", 0);
    if (compressed)
        return TAKE(m, rope, &d->rope, INT64_MIN, 1, MAX_WIDTH) ||
               TAKE(m, o_groups, &unused, INT64_MIN, 1, MAX_EXPERTS) ||
               TAKE(m, o_rank, &unused, INT64_MIN, 1, MAX_WIDTH) ||
               TAKE(m, streams, &unused, INT64_MIN, 1, 64);
    return TAKE(m, kv_rank, &d->kv_rank, INT64_MIN, 1, MAX_WIDTH) ||
           TAKE(m, rope, &d->rope, guess ? 64 : INT64_MIN, 1, MAX_WIDTH) ||
           TAKE(m, nope, &d->nope, guess ? 128 : INT64_MIN, 1, MAX_WIDTH) ||
           TAKE(m, v_head, &d->v_head, guess ? 128 : INT64_MIN, 1, MAX_WIDTH);
}

/* Linear attention: of a family with it, or with the fields of it. */
static int linear(struct maker *m)
{
    struct oc_decoder *d = m->d;
    return TAKE(m, key_heads, &d->key_heads, INT64_MIN, 1, d->width) ||
           TAKE(m, key_head, &d->key_head, INT64_MIN, 1, d->width) ||
           TAKE(m, value_heads, &d->value_heads, d->key_heads, 1, d->width) ||
           TAKE(m, value_head, &d->value_head, d->key_head, 1, d->width) ||
           TAKE(m, kernel, &d->kernel, 4, 1, d->width);
}

/* State space: without heads every channel is one (Mamba-1). */
static int state_space(struct maker *m)
{
    struct oc_decoder *d = m->d;
    int64_t times = GET(m, ssm_times, INT64_C(2) * MILLION),
            wide = times > 0 && times < 1024 * (int64_t)MILLION ? d->width * times / MILLION : 0, heads;
    bool alone = IS(m, all_mamba); /* heads are of the state space */
    wide = alone ? GET(m, mlp, wide) : wide;
    if (GET(m, ssm_layer, 0) == OC_W_mamba2) {
        SET(m, ssm_head, GET(m, ssm_head, 64));
        SET(m, ssm_state, GET(m, ssm_state, 128));
    }
    if (TAKE(m, ssm_head, &d->ssm_head, alone ? GET(m, head, 64) : 64, 1, MAX_EXPERTS))
        return -1;
    heads = alone && GIVEN(m, heads) ? GET(m, heads, 0) : GIVEN(m, ssm_head) ? wide / d->ssm_head : 0;
    return TAKE(m, ssm_heads, &d->ssm_heads, heads, 0, MAX_EXPERTS) ||
           TAKE(m, ssm_width, &d->ssm_width, d->ssm_heads ? d->ssm_heads * d->ssm_head : wide, 1,
                MAX_WIDTH) ||
           TAKE(m, ssm_groups, &d->ssm_groups, 1, 1, MAX_EXPERTS) ||
           TAKE(m, ssm_state, &d->ssm_state, 16, 1, MAX_EXPERTS) ||
           TAKE(m, ssm_kernel, &d->ssm_kernel, 4, 1, 1024) ||
           TAKE(m, ssm_rank, &d->ssm_rank, (d->width + 15) / 16, 1, MAX_WIDTH);
}

/* ---- layers ----------------------------------------------------------------------------------------- */

static uint16_t attention_kind(const struct maker *m)
{
    return IS(m, compressed) ? OC_MIX_COMPRESSED : m->d->kv_rank > 0 ? OC_MIX_LATENT : OC_MIX_GROUPED;
}

/* What "linear" layers are, by their fields if the family does not say it. */
static uint16_t linear_kind(struct maker *m)
{
    int64_t kind = GET(m, linear_kind,
                       GIVEN(m, full_gate) || LISTED(m, kda_list) ? OC_W_kda
                       : GIVEN(m, key_heads)                      ? OC_W_delta
                       : GIVEN(m, ssm_state)                      ? OC_W_mamba
                                                                  : OC_W_linear);
    return kind == OC_W_kda     ? OC_MIX_KDA
           : kind == OC_W_delta ? OC_MIX_DELTA
           : kind == OC_W_mamba ? OC_MIX_MAMBA
           : kind == OC_W_conv  ? OC_MIX_CONV
                                : OC_MIX_LINEAR;
}

static uint16_t mixers_of(struct maker *m, int64_t i)
{
    int64_t kind = KIND(m, i), interval = GET(m, interval, 0), period = GET(m, attn_period, 0),
            base = GET(m, list_base, 0);
    uint16_t attention = attention_kind(m);
    if (AT(m, no_attention, i, 0) == 1)
        return 0;
    if (AT(m, linear_instead, i, 0) == 1)
        return OC_MIX_PRODUCT;
    if (IS(m, all_mamba))
        return OC_MIX_MAMBA;
    if (IS(m, all_hybrid) || (kind == OC_W_hybrid && (GIVEN(m, ssm_state) || GIVEN(m, ssm_heads))))
        return attention | OC_MIX_MAMBA;
    if (kind == OC_W_mamba || kind == OC_W_conv || kind == OC_W_linear)
        return kind == OC_W_mamba ? OC_MIX_MAMBA : kind == OC_W_conv ? OC_MIX_CONV : linear_kind(m);
    if (kind == OC_W_dense || kind == OC_W_experts)
        return IS(m, single) ? 0 : attention;
    if (LISTED(m, kda_list) && oc_dec_field_lists(m->f, OC_F_kda_list, i + base))
        return OC_MIX_KDA;
    if (kind >= OC_WORDS_FROM)
        return attention;
    bool full = LISTED(m, full_flags)  ? AT(m, full_flags, i, 1) == 1
                : LISTED(m, attn_list) ? oc_dec_field_lists(m->f, OC_F_attn_list, i + base)
                : interval > 0         ? (i + 1) % interval == 0
                : period > 0           ? i % period == GET(m, attn_offset, 0)
                                       : GIVEN(m, heads) || !GIVEN(m, ssm_state);
    return full ? attention : LISTED(m, kda_list) ? OC_MIX_KDA : linear_kind(m);
}

static bool has_experts(const struct maker *m, int64_t i)
{
    int64_t kind = AT(m, ffn_kinds, i, 0), period = GET(m, expert_period, 0), step = GET(m, expert_step, 1);
    if (!m->d->experts || oc_dec_field_lists(m->f, OC_F_dense_list, i))
        return false;
    if (kind >= OC_WORDS_FROM)
        return kind == OC_W_experts;
    if (LISTED(m, expert_list))
        return oc_dec_field_lists(m->f, OC_F_expert_list, i);
    if (LISTED(m, expert_step))
        return AT(m, expert_step, i, 0) != 0;
    if (i < GET(m, dense, 0) || i > GET(m, expert_last, m->d->layers) || GET(m, expert_last, 0) < 0)
        return i >= GET(m, dense, 0) && GET(m, expert_last, 0) < 0;
    return period > 0 ? i % period == GET(m, expert_offset, 0) : (i + 1) % step == 0;
}

static uint8_t ffn_of(const struct maker *m, int64_t i, uint16_t mixers)
{
    int64_t kind = KIND(m, i);
    if (IS(m, single))
        return kind == OC_W_dense ? OC_FFN_DENSE : kind == OC_W_experts ? OC_FFN_EXPERTS : 0;
    if (AT(m, no_ffn, i, 0) == 1)
        return 0;
    if (AT(m, ffn_linear, i, 0) == 1)
        return OC_FFN_PRODUCT;
    if (!(mixers & OC_MIX_ATTENTION) && !m->d->experts && !GIVEN(m, mlp) && !LISTED(m, mlp) &&
        !GIVEN(m, mlp_times) && !LISTED(m, own_mlp) && !LISTED(m, mlp_factor))
        return 0; /* state space layers alone */
    return (uint8_t)(has_experts(m, i) ? OC_FFN_EXPERTS | (IS(m, both) ? OC_FFN_DENSE : 0) : OC_FFN_DENSE);
}

/* LFM2: two thirds of the width, by a factor, to a multiple. */
static int64_t thirds_of(const struct maker *m, int64_t v)
{
    int64_t unit = GET(m, mlp_unit, 1), factor = GET(m, mlp_of_thirds, MILLION);
    if (v <= 0 || v > MAX_WIDTH || unit < 1 || unit > MAX_WIDTH || factor < 0 ||
        factor > INT64_C(100) * MILLION)
        return v;
    return (2 * v / 3 * factor / MILLION + unit - 1) / unit * unit;
}

/* Width of the MLP. A factor is of two thirds of the width, to a multiple of 256 (nemotron-nas). */
static int64_t mlp_of(struct maker *m, int64_t i)
{
    int64_t times = AT(m, mlp_times, i, 0), factor = AT(m, mlp_factor, i, 0), unit = GET(m, mlp_divisor, 1),
            pair = GET(m, mlp_pair, 0); /* of gate and up */
    unit = unit > 0 && unit < MAX_WIDTH ? unit : 1;
    int64_t v = AT(m, mlp, i,
                   pair > 0                         ? pair
                   : times > 0 && times < MAX_WIDTH ? (m->d->width * times / MILLION + unit / 2) / unit * unit
                   : m->d->experts                  ? m->d->expert_mlp
                                                    : INT64_MIN);
    if (factor > 0 && factor < INT64_C(1000) * MILLION)
        v = ((int64_t)((double)(2 * factor) / MILLION * (double)m->d->width / 3) + 255) / 256 * 256;
    if (v == INT64_MIN && !LISTED(m, own_mlp) && factor <= 0)
        v = assume(m, "MLPs of 4 times the width", 4 * m->d->width);
    v = IS(m, mlp_thirds) ? thirds_of(m, v) : v;
    if (m->d->experts && !has_experts(m, i))
        v = GET(m, dense_mlp, v);
    v = AT(m, own_mlp, i, v);
    if (IS(m, wide_shared) && i >= m->d->layers - GET(m, kv_shared, 0))
        v *= 2;
    return (IS(m, halves) || pair > 0) && v > 0 ? v / 2 : v;
}

/* Layers with a window, or with chunks. */
static void reach(const struct maker *m, int64_t i, struct oc_dec_layer *l)
{
    int64_t kind = KIND(m, i), window = GET(m, window, 0), step = GET(m, window_step, 0),
            from = GET(m, window_from, 0);
    bool may = GET(m, use_window, 1) != 0 && window > 0,
         by_rule =
             step > 1 ? (i + 1) % step != 0 : IS(m, window_all) || (!m->read->family && !LISTED(m, kinds));
    if (LISTED(m, window_step) && m->f->of[OC_F_window_step].n) /* "LLLG", repeated */
        by_rule = AT(m, window_step, i % m->f->of[OC_F_window_step].n, 0) == OC_W_window;
    if (GET(m, use_window, 0) == 1 && GIVEN(m, window_from))
        by_rule = i >= from;
    bool windowed = LISTED(m, window_flags) ? AT(m, window_flags, i, 0) == 1
                    : kind >= OC_WORDS_FROM ? kind == OC_W_window
                                            : by_rule;
    l->window = may && windowed ? window : 0;
    bool step_rope = IS(m, rope_step), rotates = LISTED(m, rope_flags)
                                                     ? AT(m, rope_flags, i, 0) != 0
                                                     : !step_rope || (i + 1) % GET(m, rope_step, 1) != 0;
    l->rotary = !IS(m, norotary) && !IS(m, alibi) && !IS(m, learned) &&
                (IS(m, window_rotates) ? l->window > 0 : rotates);
    l->chunk = kind == OC_W_chunk || (step_rope && rotates && !LISTED(m, kinds)) ? GET(m, chunk, 0) : 0;
}

static int64_t kv_heads_of(const struct maker *m, int64_t i, int64_t heads)
{
    int64_t queries = GET(m, multi_query, IS(m, one_head)), group = AT(m, group, i, 0),
            all = queries && queries != OC_W_multihead ? 1 : heads;
    if (IS(m, one_head) && !IS(m, new_decoder) && !(m->read->assumed && GIVEN(m, kv_heads)))
        return all;
    return AT(m, own_kv_heads, i, group > 0 ? heads / group : AT(m, kv_heads, i, all));
}

/* With the window known. Layers with and without one may have other heads. */
static int heads(struct maker *m, int64_t i, struct oc_dec_layer *l)
{
    const struct oc_decoder *d = m->d;
    bool windowed = l->window > 0;
    l->heads = AT(m, heads, i, 0);
    if (!l->heads) {
        int64_t head = GET(m, head, 128);
        l->heads = !GIVEN(m, heads) && head > 0 && !LISTED(m, heads)
                       ? (d->width / head > 0 ? d->width / head : 1)
                       : 0;
        if (i == 0 && l->heads)
            assume(m, "heads of attention with the usual size", 0);
    }
    l->heads = windowed ? GET(m, swa_heads, l->heads) : l->heads;
    if (CHECK(m, heads, l->heads, 1, MAX_EXPERTS))
        return -1;
    int64_t width = d->width / (l->heads > 0 ? l->heads : 1); /* of a head; CHECK has checked them */
    l->kv_heads = kv_heads_of(m, i, l->heads);
    l->kv_heads = windowed ? GET(m, swa_kv_heads, l->kv_heads) : GET(m, global_kv_heads, l->kv_heads);
    l->head = AT(m, head, i, width);
    l->head = windowed ? GET(m, swa_head, l->head) : GET(m, global_head, l->head);
    int64_t v_head =
        IS(m, v_head) ? GET(m, v_head, 0) : l->head; /* 0: that of latent attention, which is off */
    l->v_head = windowed ? GET(m, swa_v_head, v_head) : v_head;
    l->no_value = IS(m, keys_are_values) && !windowed;
    l->shared_kv = i >= d->layers - GET(m, kv_shared, 0);
    if (CHECK(m, kv_heads, l->kv_heads, 1, l->heads) || CHECK(m, head, l->head, 1, MAX_WIDTH) ||
        CHECK(m, v_head, l->v_head, 1, MAX_WIDTH))
        return -1;
    if (l->heads % l->kv_heads)
        return oc_fail(m->err, OC_EFORMAT, "%lld heads cannot share %lld key and value heads",
                       (long long)l->heads, (long long)l->kv_heads);
    int64_t share = GET(m, rotary_share, MILLION), rotary = GET(m, rotary, -1);
    share = share >= 0 && share <= MILLION ? share : MILLION;
    l->rotated = !l->rotary ? 0 : rotary >= 0 && rotary <= l->head ? rotary : l->head * share / MILLION;
    return 0;
}

/* Attention that reads selected keys: an indexer of its own, or that of a layer before. */
static int selection(struct maker *m, int64_t i, struct oc_dec_layer *l)
{
    int64_t kind = AT(m, index_kinds, i, 1), blocks = GET(m, selected_blocks, 0),
            ratio = AT(m, compress, i, 0);
    bool any = IS(m, index_heads) && kind != 0 && (!IS(m, compressed) || ratio == 4);
    l->ratio = IS(m, compressed) && ratio > 0 ? ratio : 0;
    if (l->ratio && (l->ratio > l->head || l->head % l->ratio))
        return oc_fail(m->err, OC_EFORMAT, "compress_ratios: %lld does not divide heads of %lld elements",
                       (long long)l->ratio, (long long)l->head);
    if (!any)
        return 0;
    l->own_index = kind != OC_W_shared;
    l->selected = GET(m, selected, blocks > 0 && blocks < MAX_WIDTH ? blocks * GET(m, block, 1) : 0);
    return CHECK(m, index_heads, GET(m, index_heads, 0), 1, MAX_EXPERTS) ||
           CHECK(m, index_head, GET(m, index_head, INT64_MIN), 1, MAX_WIDTH) ||
           CHECK(m, selected, l->selected, 1, INT64_C(1) << 40);
}

static int layer(struct maker *m, int64_t i, struct oc_dec_layer *l)
{
    *l = (struct oc_dec_layer){.mixers = mixers_of(m, i)};
    l->ffn = ffn_of(m, i, l->mixers);
    l->mlp = l->ffn & OC_FFN_DENSE ? mlp_of(m, i) : 0;
    reach(m, i, l);
    if (l->mixers & OC_MIX_ATTENTION && (heads(m, i, l) || selection(m, i, l)))
        return -1;
    l->sinks = IS(m, sinks) || IS(m, compressed) || (l->window ? IS(m, swa_sinks) : IS(m, full_sinks));
    l->correction = IS(m, correction) && i >= GET(m, hash_layers, 0);
    return l->ffn & OC_FFN_DENSE && CHECK(m, mlp, l->mlp, 1, MAX_WIDTH);
}

static int layers(struct maker *m, struct oc_arena *arena)
{
    struct oc_decoder *d = m->d;
    uint16_t all = 0;
    if (CHECK(m, interval, GET(m, interval, 1), 1, MAX_LAYERS))
        return -1;
    d->layer = OC_NEW_ARRAY(arena, (size_t)d->layers, struct oc_dec_layer);
    for (int64_t i = 0; i < d->layers; i++) {
        if (layer(m, i, &d->layer[i]))
            return -1;
        all |= d->layer[i].mixers;
    }
    if (all & (OC_MIX_DELTA | OC_MIX_KDA) && linear(m))
        return -1;
    if (all & OC_MIX_LINEAR && CHECK(m, heads, GET(m, heads, INT64_MIN), 1, MAX_EXPERTS))
        return -1;
    return all & (OC_MIX_MAMBA | OC_MIX_CONV) ? state_space(m) : 0;
}

/* ---- all together ----------------------------------------------------------------------------------- */

/* Without a family: layer norms where the file has only their epsilon; then an MLP without SiLU has no gate. */
static void norms(struct maker *m)
{
    if (GET(m, affine, 1) == 0)
        SET(m, norm, OC_W_no_weights);
    if (m->read->family || GIVEN(m, norm) || GIVEN(m, rms_epsilon) || !GIVEN(m, layer_epsilon))
        return;
    SET(m, norm, assume(m, "layer norms with a bias", OC_W_layer));
    if (GIVEN(m, act) && GET(m, act, 0) != OC_W_silu && !GIVEN(m, plain_mlp))
        SET(m, plain_mlp, assume(m, "MLPs without a gate", 1));
}

/* attention_bias and `bias` stand for several ones. */
static void biases(struct maker *m)
{
    bool any = GET(m, any_bias, 1), all = IS(m, bias), attention = all || IS(m, attention_bias);
    SET(m, qkv_bias, any && (IS(m, qkv_bias) || attention));
    SET(m, out_bias, any && (IS(m, out_bias) || (attention && GET(m, out_bias, 1) && !IS(m, plain_out))));
    SET(m, mlp_bias, any && (IS(m, mlp_bias) || (all && GET(m, mlp_bias, 1))));
    SET(m, two_norms, GET(m, parallel, 1) && (IS(m, two_norms) || (IS(m, new_decoder) && IS(m, one_head))));
    m->d->tied = IS(m, tied);
}

static int make(struct maker *m, struct oc_arena *arena)
{
    struct oc_decoder *d = m->d;
    int64_t type = GET(m, type,
                       IS(m, brain)  ? OC_W_bf16
                       : IS(m, half) ? OC_W_f16
                                     : 0),
            experts_type = GET(m, expert_type, 0);
    if (IS(m, encoder_decoder))
        return oc_fail(m->err, OC_EUNSUPPORTED,
                       "models with an encoder are not built; export the model to ONNX");
    if (sizes(m) || experts(m) || latent(m) || layers(m, arena))
        return -1;
    biases(m);
    norms(m);
    d->quant = oc_quant_close(m->read->quant, experts_type == OC_W_f4 && d->experts ? OC_DT_MXFP4 : 0);
    bool plain = !d->quant.method || d->quant.unknown ||
                 strstr("gptq awq auto-round intel/auto-round quantization", d->quant.method);
    if (!type) /* float32 is left out, too */
        type = plain && m->read->family ? OC_W_f32 : OC_W_bf16;
    d->dtype = type == OC_W_f16                       ? OC_DT_FLOAT16
               : type == OC_W_bf16 || type == OC_W_f8 ? OC_DT_BFLOAT16
                                                      : OC_DT_FLOAT;
    return 0;
}

static void report(struct maker *m, const char *name, struct oc_diags *diags)
{
    const struct oc_dec_fields_read *r = m->read;
    if (r->part)
        oc_diag_add(diags, OC_WARNING, "W-text-only", name, "only the language model is built");
    if (!r->assumed && m->assumed.n)
        oc_diag_add(diags, OC_WARNING, "W-assumed", name, "the file leaves out sizes: %s", m->assumed.data);
    if (!r->assumed && r->unread)
        oc_diag_add(diags, OC_WARNING, "W-assumed", name, "fields that were not understood: %s", r->unread);
    if (!r->assumed)
        return;
    oc_diag_add(diags, OC_WARNING, "W-assumed", name,
                "no family '%.60s': its fields are read%s%s%s%s%s%s%s%s",
                *r->type ? r->type : "(no model_type)", r->family ? ", the rest as of '" : "",
                r->family ? r->family
                          : " as of a decoder with RMS norms, rotary embeddings and gated MLPs, biases and "
                            "norms of queries and keys only where a field says so",
                r->family ? "'" : "", m->assumed.n ? "; " : "", m->assumed.n ? m->assumed.data : "",
                GET(m, type, 0) || r->family ? "" : "; bfloat16",
                r->unread ? "; fields that were not understood: " : "", r->unread ? r->unread : "");
}

int oc_decoder_read(const struct oc_decoder_source *s, struct oc_arena *arena, struct oc_diags *diags,
                    struct oc_decoder *out, struct oc_err *err)
{
    struct oc_dec_fields_read read;
    struct maker m = {.read = &read, .f = &out->f, .d = out, .err = err};
    if (oc_dec_fields_read(s, arena, diags, &read, err))
        return -1;
    if (read.left_out)
        assume(&m, read.left_out, 0);
    *out = (struct oc_decoder){.type = read.type, .f = read.f, .part = read.part};
    int rc = make(&m, arena);
    if (rc == 0)
        report(&m, s->name, diags);
    oc_buf_free(&m.assumed);
    return rc ? oc_err_prefix(err, "%s", s->name) : 0;
}

void oc_decoder_note_quantization(const struct oc_decoder *d, bool stored, struct oc_diags *diags)
{
    const char *type = d->dtype == 10 ? "float16" : d->dtype == 16 ? "bfloat16" : "float32";
    if (d->quant.unknown)
        oc_diag_add(diags, OC_WARNING, "W-quantization", d->quant.method,
                    stored
                        ? "this quantization is not modelled: weights that the file stores as integers are "
                          "counted as %s, and scales are not; bounds count no bytes of weights then"
                        : "this quantization is not modelled: weights are counted as %s; bounds count no "
                          "bytes of them; safetensors files give the types of floats",
                    type);
    if (d->quant.other_cache)
        oc_diag_add(diags, OC_WARNING, "W-quantization", "kv_cache_scheme",
                    "this type of the cache is not modelled: it is counted as %s, also in bounds", type);
}
