/* String operators, and decoding of compressed images; their cost is not modelled. shape-inference 4.10,
 * cost-semantics 4.9. */
#include "base/str.h"
#include "ops/op.h"

#include <string.h>

#define MAX_STOP_WORDS 1000 /* limit for comparing stop words with a known value */

static int strings_cost_text(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->assumption = "byte strings are not modelled";
    return 0;
}
static const char strings_cost_text_formula[] = "";

static int cost_image(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->assumption = "decoding of images is not modelled";
    return 0;
}
static const char cost_image_formula[] = "";

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
    while (*s > 0)
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
    struct oc_dim dim[2];
    if (!x->ranked || !stop || stop->n == 0) {
        oc_set_out(c, 0, OC_DT_STRING, *x);
        return 0;
    }
    if (x->rank != 1 && x->rank != 2)
        return oc_op_fail(c, "the strings must be [C] or [1,C], got rank %u", x->rank);
    memcpy(dim, x->dim, x->rank * sizeof(dim[0]));
    int64_t max = oc_dim_max_value(c->exprs, dim[x->rank - 1]);
    int64_t left = words_left(c, stop);
    dim[x->rank - 1] = left >= 0
                           ? oc_known(left)
                           : oc_op_fresh_dim(c, oc_printf(c->arena, "%u", x->rank - 1U), max == 0 ? 1 : max);
    oc_set_out(c, 0, OC_DT_STRING, oc_shape_of(c->arena, x->rank, dim));
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
    if (!x->ranked) {
        oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_unranked());
        return 0;
    }
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
        OC_COST(co)                                                                                          \
    }

static const struct oc_op rows[] = {
    TEXT("", "ImageDecoder", 20, NULL, shape_image_decoder, cost_image),
    TEXT("", "RegexFullMatch", 20, NULL, oc_shape_same_bool, strings_cost_text),
    TEXT("", "StringConcat", 20, NULL, oc_shape_broadcast, strings_cost_text),
    TEXT("", "StringNormalizer", 10, NULL, shape_string_normalizer, strings_cost_text),
    TEXT("", "StringSplit", 20, NULL, shape_string_split, strings_cost_text),
    TEXT("", "TfIdfVectorizer", 9, NULL, shape_tfidf, strings_cost_text),
    TEXT("com.microsoft", "Tokenizer", 1, NULL, shape_tokenizer, strings_cost_text),
};
extern const struct oc_op_family oc_ops_strings;
const struct oc_op_family oc_ops_strings = OC_FAMILY("strings", rows);
