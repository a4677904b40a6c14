/* String operators, and decoding of compressed images; their cost is not modelled. shape-inference 4.10,
 * cost-semantics 4.9. */
#include <string.h>

#include "base/str.h"
#include "ops/op.h"
#include "ops/shared_rules.h"

#define MAX_STOP_WORDS 1000 /* limit for comparing stop words with a known value */

#define NOT_MODELLED   "byte strings are not modelled"

/* The shape of x with one more axis at the end. */
static struct oc_shape appended(struct oc_op_ctx *c, const struct oc_shape *x, struct oc_dim d)
{
    struct oc_dim dim[OC_MAX_RANK + 1];
    if (!x->ranked || x->rank >= OC_MAX_RANK)
        return oc_shape_unranked();
    for (unsigned i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    dim[x->rank] = d;
    return oc_shape_of(c->arena, x->rank + 1U, dim);
}

/* Y: the parts, padded to the longest list; Z: their number per string. */
static int shape_string_split(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    oc_set_out(c, 0, OC_DT_STRING, appended(c, x, oc_op_fresh_dim(c, "parts", -1)));
    oc_set_out(c, 1, OC_DT_INT64, *x);
    return 0;
}

/* Case folding beyond ASCII depends on the locale in which the model runs. */
static bool is_ascii(const char *s)
{
    while (*s && (unsigned char)*s < 0x80) /* char is unsigned on ARM, POWER and s390x */
        s++;
    return !*s;
}

static bool is_stop_word(const struct oc_attr *stop, const char *s, bool case_sensitive)
{
    for (uint32_t i = 0; i < stop->n; i++)
        if ((case_sensitive ? strcmp : oc_casecmp)(stop->strings[i].s, s) == 0)
            return true;
    return false;
}

/* Number of strings that are not stop words, -1 if unknown. */
static int64_t words_left(struct oc_op_ctx *c, const struct oc_attr *stop)
{
    const struct oc_data *d = oc_in_value(c, 0);
    bool case_sensitive = oc_attr_i(c, "is_case_sensitive", 0) != 0;
    int64_t left = 0;
    if (!d || stop->type != OC_ATTR_STRINGS || stop->n > MAX_STOP_WORDS)
        return -1;
    for (uint32_t i = 0; i < stop->n; i++)
        if (!is_ascii(stop->strings[i].s) || strlen(stop->strings[i].s) != stop->strings[i].n)
            return -1;
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->e[i].kind != OC_E_STRING || !d->e[i].str || !is_ascii(d->e[i].str))
            return -1;
        left += !is_stop_word(stop, d->e[i].str, case_sensitive);
    }
    return left ? left : 1;
}

/* [C] or [1,C]; stop words shorten the last axis, but at least one string remains (possibly empty). */
static int shape_string_normalizer(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_attr *stop = oc_node_attr(c->node, "stopwords");
    if (!x->ranked || !stop || stop->n == 0) {
        oc_set_out(c, 0, OC_DT_STRING, *x);
        return 0;
    }
    if (x->rank != 1 && x->rank != 2)
        return oc_op_fail(c, "the strings must be [C] or [1,C], got rank %u", x->rank);
    unsigned last = x->rank - 1U;
    int64_t max = oc_dim_max_value(c->exprs, x->dim[last]), left = words_left(c, stop);
    struct oc_dim words = left >= 0 ? oc_known(left) : oc_fresh_axis(c, last, max == 0 ? 1 : max);
    oc_set_out(c, 0, OC_DT_STRING, oc_shape_with(c, x, last, words));
    return 0;
}

/* [C] or [N,C] to the counts of n-grams: the largest index + 1. */
static int shape_tfidf(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_dim dim[2];
    uint32_t n;
    const int64_t *index = oc_attr_ints(c, "ngram_indexes", &n);
    int64_t max = -1;
    for (uint32_t i = 0; i < n; i++)
        max = index[i] > max ? index[i] : max;
    if (max < 0 || max == INT64_MAX)
        return oc_op_fail(c, "ngram_indexes is empty or negative");
    if (!x->ranked)
        return oc_out_unranked(c, OC_DT_FLOAT);
    if (x->rank != 1 && x->rank != 2)
        return oc_op_fail(c, "the words must be [C] or [N,C], got rank %u", x->rank);
    dim[0] = x->dim[0];
    dim[x->rank - 1] = oc_known(max + 1);
    oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_of(c->arena, x->rank, dim));
    return 0;
}

/* com.microsoft: [C] or [N,C] to words, padded to the longest row. */
static int shape_tokenizer(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_STRING, appended(c, oc_in_shape(c, 0), oc_op_fresh_dim(c, "words", -1)));
    return 0;
}

static int shape_image_decoder(struct oc_op_ctx *c)
{
    bool grey = strcmp(oc_attr_s(c, "pixel_format", "RGB"), "Grayscale") == 0;
    struct oc_dim dim[3] = {oc_op_fresh_dim(c, "0", -1), oc_op_fresh_dim(c, "1", -1), oc_known(grey ? 1 : 3)};
    oc_set_out(c, 0, OC_DT_UINT8, oc_shape_of(c->arena, 3, dim));
    return 0;
}

#define TEXT(d, n, v, s, sh, co)                                                                             \
    {                                                                                                        \
        .domain = (d), .name = (n), .since = (v), .op_class = OC_OP_OTHER, .slots = (s), .shape = (sh),      \
        OC_COST_ASSUMED("", co)                                                                              \
    }

static const struct oc_op strings_rows[] = {
    TEXT("", "ImageDecoder", 20, NULL, shape_image_decoder, "decoding of images is not modelled"),
    TEXT("", "RegexFullMatch", 20, NULL, oc_shape_same_bool, NOT_MODELLED),
    TEXT("", "StringConcat", 20, NULL, oc_shape_broadcast, NOT_MODELLED),
    TEXT("", "StringNormalizer", 10, NULL, shape_string_normalizer, NOT_MODELLED),
    TEXT("", "StringSplit", 20, NULL, shape_string_split, NOT_MODELLED),
    TEXT("", "TfIdfVectorizer", 9, NULL, shape_tfidf, NOT_MODELLED),
    TEXT("com.microsoft", "Tokenizer", 1, NULL, shape_tokenizer, NOT_MODELLED),
};
OC_FAMILY(strings, strings_rows);

/* ---- tokenizers --------------------------------------------------------------------------------------- */

/* ai.onnx.contrib: tokenizers and string operators of onnxruntime-extensions 0.14 (operators/tokenizer,
 * operators/text). The number of tokens depends on the text: an attribute fixes or bounds it, else it is
 * unknown. Work on byte strings is not modelled. */

/* Tokens of a text: exactly padding_length, max_length or fewer, or any number. */
static struct oc_dim tokens(struct oc_op_ctx *c)
{
    int64_t padded = oc_attr_i(c, "padding_length", -1), most = oc_attr_i(c, "max_length", -1);
    return padded > 0 ? oc_known(padded) : oc_op_fresh_dim(c, "tokens", most > 0 ? most : -1);
}

/* x with more axes at its end */
static struct oc_shape with_axes(struct oc_op_ctx *c, const struct oc_shape *x, const struct oc_dim *more,
                                 unsigned n)
{
    struct oc_dim dim[OC_MAX_RANK];
    if (!x->ranked || x->rank + n > OC_MAX_RANK)
        return oc_shape_unranked();
    for (unsigned i = 0; i < x->rank + n; i++)
        dim[i] = i < x->rank ? x->dim[i] : more[i - x->rank];
    return oc_shape_of(c->arena, x->rank + n, dim);
}

/* Byte-pair encoders: ids and mask {texts..., tokens}, offsets {texts..., tokens, 2} */
static int shape_bpe(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    const struct oc_dim more[2] = {tokens(c), oc_known(2)};
    oc_set_out(c, 0, OC_DT_INT64, with_axes(c, x, more, 1));
    oc_set_out(c, 1, OC_DT_INT64, with_axes(c, x, more, 1));
    oc_set_out(c, 2, OC_DT_INT64, with_axes(c, x, more, 2));
    return 0;
}

/* WordPiece of BERT, one text or a pair: {tokens} or {1, tokens} three times, offsets {tokens, 2} */
static int shape_bert(struct oc_op_ctx *c)
{
    bool batch = strcmp(c->op->name, "HfBertTokenizer") == 0;
    const struct oc_dim dim[3] = {oc_known(1), tokens(c), oc_known(2)};
    for (unsigned i = 0; i < 3; i++)
        oc_set_out(c, i, OC_DT_INT64, oc_shape_of(c->arena, batch ? 2 : 1, batch ? dim : dim + 1));
    oc_set_out(c, 3, OC_DT_INT64, oc_shape_of(c->arena, 2, dim + 1));
    return 0;
}

/* The elements of x plus one: where each text begins, and the end. */
static struct oc_dim bounds_of(struct oc_op_ctx *c, const struct oc_shape *x)
{
    return x->ranked ? oc_dim_add(c->exprs, oc_shape_count(c->exprs, x), oc_known(1))
                     : oc_op_fresh_dim(c, "rows", -1);
}

/* tokens, where each text begins, positions */
static int shape_sentencepiece(struct oc_op_ctx *c)
{
    struct oc_dim n = tokens(c);
    oc_set_out(c, 0, OC_DT_INT32, oc_shape_1d(c->arena, n));
    oc_set_out(c, 1, OC_DT_INT64, oc_shape_1d(c->arena, bounds_of(c, oc_in_shape(c, 0))));
    oc_set_out(c, 2, OC_DT_INT32, oc_shape_1d(c->arena, n));
    return 0;
}

/* words, their row limits: tokens as strings, their ids, row limits */
static int shape_wordpiece(struct oc_op_ctx *c)
{
    struct oc_dim n = tokens(c);
    const struct oc_shape *rows = oc_in_shape(c, 1);
    oc_set_out(c, 0, OC_DT_STRING, oc_shape_1d(c->arena, n));
    oc_set_out(c, 1, OC_DT_INT32, oc_shape_1d(c->arena, n));
    oc_set_out(c, 2, OC_DT_INT64, *rows);
    return 0;
}

/* ids {..., tokens} to texts {...} */
static int shape_bpe_decoder(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_shape out = oc_shape_unranked();
    if (x->ranked)
        out = x->rank > 1 ? oc_shape_of(c->arena, x->rank - 1U, x->dim) : oc_shape_1d(c->arena, oc_known(1));
    oc_set_out(c, 0, OC_DT_STRING, out);
    return 0;
}

static int shape_one_text(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_STRING, oc_shape_1d(c->arena, oc_known(1)));
    return 0;
}

static int shape_texts(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_STRING, oc_shape_1d(c->arena, oc_op_fresh_dim(c, "texts", -1)));
    return 0;
}

static int shape_numbers(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_INT64, *oc_in_shape(c, 0));
    return 0;
}

/* words, begins, ends, where each text begins */
static int shape_regex_split(struct oc_op_ctx *c)
{
    struct oc_dim n = oc_op_fresh_dim(c, "words", -1);
    oc_set_out(c, 0, OC_DT_STRING, oc_shape_1d(c->arena, n));
    oc_set_out(c, 1, OC_DT_INT64, oc_shape_1d(c->arena, n));
    oc_set_out(c, 2, OC_DT_INT64, oc_shape_1d(c->arena, n));
    oc_set_out(c, 3, OC_DT_INT64, oc_shape_1d(c->arena, bounds_of(c, oc_in_shape(c, 0))));
    return 0;
}

/* The words as a sparse matrix: places {words, 2}, words, size {2} */
static int shape_split(struct oc_op_ctx *c)
{
    const struct oc_dim dim[] = {oc_op_fresh_dim(c, "words", -1), oc_known(2)};
    oc_set_out(c, 0, OC_DT_INT64, oc_shape_of(c->arena, 2, dim));
    oc_set_out(c, 1, OC_DT_STRING, oc_shape_1d(c->arena, dim[0]));
    oc_set_out(c, 2, OC_DT_INT64, oc_shape_1d(c->arena, oc_known(2)));
    return 0;
}

/* Without the axis that input 2 names. */
static int shape_join(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_dim dim[OC_MAX_RANK];
    unsigned n = 0, axis;
    int64_t at;
    struct oc_shape out = oc_shape_unranked();
    if (x->ranked && oc_in_int(c, 2, &at)) {
        if (!oc_axis(at, x->rank, &axis))
            return oc_op_fail(c, "the axis is out of range for rank %u", (unsigned)x->rank);
        for (unsigned i = 0; i < x->rank; i++)
            if (i != axis)
                dim[n++] = x->dim[i];
        out = n ? oc_shape_of(c->arena, n, dim) : oc_shape_1d(c->arena, oc_known(1));
    }
    oc_set_out(c, 0, OC_DT_STRING, out);
    return 0;
}

#define TOKENIZERS_TEXT(n, sh)                                                                               \
    {                                                                                                        \
        .domain = "ai.onnx.contrib", .name = (n), .since = 1, .op_class = OC_OP_OTHER, .shape = (sh),        \
        OC_COST_ASSUMED("", NOT_MODELLED)                                                                    \
    }

static const struct oc_op tokenizers_rows[] = {
    TOKENIZERS_TEXT("BasicTokenizer", shape_texts),
    TOKENIZERS_TEXT("BertTokenizer", shape_bert),
    TOKENIZERS_TEXT("BertTokenizerDecoder", shape_texts),
    TOKENIZERS_TEXT("BlingFireSentenceBreaker", shape_texts),
    TOKENIZERS_TEXT("BpeDecoder", shape_bpe_decoder),
    TOKENIZERS_TEXT("CLIPTokenizer", shape_bpe),
    TOKENIZERS_TEXT("GPT2Tokenizer", shape_bpe),
    TOKENIZERS_TEXT("HfBertTokenizer", shape_bert),
    TOKENIZERS_TEXT("RobertaTokenizer", shape_bpe),
    TOKENIZERS_TEXT("SentencepieceDecoder", shape_one_text),
    TOKENIZERS_TEXT("SentencepieceTokenizer", shape_sentencepiece),
    TOKENIZERS_TEXT("StringConcat", oc_shape_broadcast),
    TOKENIZERS_TEXT("StringECMARegexReplace", oc_shape_same),
    TOKENIZERS_TEXT("StringECMARegexSplitWithOffsets", shape_regex_split),
    TOKENIZERS_TEXT("StringEqual", oc_shape_broadcast_bool),
    TOKENIZERS_TEXT("StringHash", shape_numbers),
    TOKENIZERS_TEXT("StringHashFast", shape_numbers),
    TOKENIZERS_TEXT("StringJoin", shape_join),
    TOKENIZERS_TEXT("StringLength", shape_numbers),
    TOKENIZERS_TEXT("StringLower", oc_shape_same),
    TOKENIZERS_TEXT("StringMapping", oc_shape_same),
    TOKENIZERS_TEXT("StringRegexReplace", oc_shape_same),
    TOKENIZERS_TEXT("StringRegexSplitWithOffsets", shape_regex_split),
    TOKENIZERS_TEXT("StringSplit", shape_split),
    TOKENIZERS_TEXT("StringStrip", oc_shape_same),
    TOKENIZERS_TEXT("StringUpper", oc_shape_same),
    TOKENIZERS_TEXT("WordpieceTokenizer", shape_wordpiece),
};
OC_FAMILY(tokenizers, tokenizers_rows);

/* ---- N-grams and windows: hashes ---------------------------------------------------------------------- */

/* N-grams and windows of ONNX Runtime (com.microsoft). cost-semantics 4.5, 4.9. */

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

/* ---- others ------------------------------------------------------------------------------------------- */

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
    if (!x->ranked || x->rank == 0 || x->rank >= OC_MAX_RANK)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
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
        co                                                                                                   \
    }

static const struct oc_op hashing_rows[] = {
    MS("NGramHashMapping", OC_OP_ELEMENTWISE, NULL, shape_ngram_hash,
       OC_COST_ASSUMED("BIT:int = 10*N(o)", "10 operations per hashed element")),
    MS("NGramRepeatBlock", OC_OP_COPY, NULL, shape_scores, OC_COST_TEXT("")),
    MS("UnfoldTensor", OC_OP_COPY, NULL, shape_unfold, OC_COST_TEXT("")),
    MS("VarlenNGramHashMapping", OC_OP_ELEMENTWISE, NULL, shape_ngram_hash,
       OC_COST_ASSUMED("BIT:int = 10*N(o)", "10 operations per hashed element")),
};
OC_FAMILY(hashing, hashing_rows);
