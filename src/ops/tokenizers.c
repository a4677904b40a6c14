/* ai.onnx.contrib: tokenizers and string operators of onnxruntime-extensions 0.14 (operators/tokenizer,
 * operators/text). The number of tokens depends on the text: an attribute fixes or bounds it, else it is
 * unknown. Work on byte strings is not modelled. */
#include "ops/op.h"

#include <string.h>

static int tokenizers_cost_text(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->assumption = "byte strings are not modelled";
    return 0;
}
static const char tokenizers_cost_text_formula[] = "";

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
static int tokenizers_shape_split(struct oc_op_ctx *c)
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

#define TEXT(n, sh)                                                                                          \
    {                                                                                                        \
        .domain = "ai.onnx.contrib", .name = (n), .since = 1, .op_class = OC_OP_OTHER, .shape = (sh),        \
        OC_COST(tokenizers_cost_text)                                                                        \
    }

static const struct oc_op rows[] = {
    TEXT("BasicTokenizer", shape_texts),
    TEXT("BertTokenizer", shape_bert),
    TEXT("BertTokenizerDecoder", shape_texts),
    TEXT("BlingFireSentenceBreaker", shape_texts),
    TEXT("BpeDecoder", shape_bpe_decoder),
    TEXT("CLIPTokenizer", shape_bpe),
    TEXT("GPT2Tokenizer", shape_bpe),
    TEXT("HfBertTokenizer", shape_bert),
    TEXT("RobertaTokenizer", shape_bpe),
    TEXT("SentencepieceDecoder", shape_one_text),
    TEXT("SentencepieceTokenizer", shape_sentencepiece),
    TEXT("StringConcat", oc_shape_broadcast),
    TEXT("StringECMARegexReplace", oc_shape_same),
    TEXT("StringECMARegexSplitWithOffsets", shape_regex_split),
    TEXT("StringEqual", oc_shape_broadcast_bool),
    TEXT("StringHash", shape_numbers),
    TEXT("StringHashFast", shape_numbers),
    TEXT("StringJoin", shape_join),
    TEXT("StringLength", shape_numbers),
    TEXT("StringLower", oc_shape_same),
    TEXT("StringMapping", oc_shape_same),
    TEXT("StringRegexReplace", oc_shape_same),
    TEXT("StringRegexSplitWithOffsets", shape_regex_split),
    TEXT("StringSplit", tokenizers_shape_split),
    TEXT("StringStrip", oc_shape_same),
    TEXT("StringUpper", oc_shape_same),
    TEXT("WordpieceTokenizer", shape_wordpiece),
};
extern const struct oc_op_family oc_ops_tokenizers;
const struct oc_op_family oc_ops_tokenizers = OC_FAMILY("tokenizers", rows);
