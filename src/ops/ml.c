/* Features, categories and maps of ai.onnx.ml. cost-semantics 4.16, shape-inference 4.12. Models:
 * ml_models.c, ml_trees.c. */
#include "ops/ml.h"

#include <string.h>

/* ---- features --------------------------------------------------------------------------------------- */

static int shape_float(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_FLOAT, *oc_in_shape(c, 0));
    return 0;
}

static int cost_lookup(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_in(c, 0);
    if (oc_dtype_info(oc_in_dtype(c, 0))->kind == OC_KIND_FLOAT)
        oc_add_float(c, k, OC_CMP, n);
    else
        oc_add_int(c, k, OC_CMP, n);
    return 0;
}
static const char cost_lookup_formula[] = "CMP = N(x)";

/* (x - offset) * scale */
static int cost_scaler(struct oc_op_ctx *c, struct oc_cost *k)
{
    uint64_t n = oc_c_out(c, 0);
    oc_ml_float(c, k);
    oc_add(c, k, OC_ADD, n);
    oc_add(c, k, OC_MUL, n);
    return 0;
}
static const char cost_scaler_formula[] = "ADD = N(o); MUL = N(o)";

static int cost_normalizer(struct oc_op_ctx *c, struct oc_cost *k)
{
    static const struct oc_prims l2[] = {{OC_MUL, 1}, {OC_ADD, 1}, {OC_DIV, 1}, {0, 0}};
    static const struct oc_prims l1[] = {{OC_CMP, 1}, {OC_ADD, 1}, {OC_DIV, 1}, {0, 0}};
    static const struct oc_prims max[] = {{OC_CMP, 1}, {OC_DIV, 1}, {0, 0}};
    const char *norm = oc_attr_s(c, "norm", "MAX");
    uint64_t n = oc_c_out(c, 0);
    struct oc_dim rows, features;
    oc_ml_float(c, k);
    if (strcmp(norm, "L2") == 0) {
        if (oc_ml_rows(c, &rows, &features))
            return -1;
        oc_add_prims(c, k, l2, n);
        oc_tell(c, "rows", oc_c_dim(c, rows));
        oc_add(c, k, OC_SQRT, oc_c_dim(c, rows));
    } else {
        oc_add_prims(c, k, strcmp(norm, "L1") == 0 ? l1 : max, n);
    }
    return 0;
}
static const char cost_normalizer_formula[] =
    "MUL = [norm:MAX == L2]*N(o); CMP = [norm:MAX != L2]*N(o); ADD = [norm:MAX != MAX]*N(o); DIV = N(o); "
    "SQRT = rows; rows := 0";

/* The columns of X selected by the indices; [1, indices] for a vector. */
static int shape_extractor(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *index = oc_in_shape(c, 1);
    struct oc_dim dim[OC_MAX_RANK + 1];
    unsigned n = 0;
    if (!x->ranked || x->rank == 0) {
        oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_unranked());
        return 0;
    }
    if (x->rank == 1)
        dim[n++] = oc_known(1);
    for (unsigned i = 0; i + 1 < x->rank; i++)
        dim[n++] = x->dim[i];
    dim[n++] = index->ranked ? oc_shape_count(c->exprs, index) : oc_op_fresh_dim(c, "columns", -1);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

static int cost_extractor(struct oc_op_ctx *c, struct oc_cost *k)
{
    k->rd[0] = oc_c_bytes(c, oc_in_dtype(c, 0), oc_c_out(c, 0));
    return 0;
}
static const char cost_extractor_formula[] = "";

/* Width contributed by input i: as given, or its own width. */
static struct oc_dim feature_width(struct oc_op_ctx *c, unsigned i, const int64_t *told, uint32_t n_told)
{
    const struct oc_shape *x = oc_in_shape(c, i);
    if (told && i < n_told && told[i] >= 0)
        return oc_known(told[i]);
    if (!x->ranked)
        return oc_op_fresh_dim(c, "1", -1);
    return x->rank == 0 ? oc_known(1) : oc_shape_count_range(c->exprs, x, x->rank == 1 ? 0 : 1, x->rank);
}

static int shape_features(struct oc_op_ctx *c)
{
    uint32_t n_told;
    const int64_t *told = oc_attr_ints(c, "inputdimensions", &n_told);
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_dim dim[2] = {oc_known(1), oc_known(0)};
    if (!x->ranked)
        dim[0] = oc_op_fresh_dim(c, "0", -1);
    else if (x->rank > 1)
        dim[0] = x->dim[0];
    for (unsigned i = 0; i < c->n_in; i++)
        dim[1] = oc_dim_add(c->exprs, dim[1], feature_width(c, i, told, n_told));
    oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_of(c->arena, 2, dim));
    return 0;
}

/* ---- categories ------------------------------------------------------------------------------------- */

struct named_dtype {
    const char *attr;
    unsigned dtype;
};

/* Version 1 maps strings to integers and back; later versions derive the types from the attributes. */
static int shape_label_encoder(struct oc_op_ctx *c)
{
    static const struct named_dtype values[] = {
        {"values_strings", OC_DT_STRING}, {"values_int64s", OC_DT_INT64}, {"values_floats", OC_DT_FLOAT}};
    const struct oc_tensor *tensor = oc_attr_tensor(c, "values_tensor");
    unsigned dtype = tensor ? tensor->dtype : OC_DT_UNDEFINED;
    for (size_t i = 0; i < OC_COUNT(values); i++)
        if (oc_has_attr(c, values[i].attr))
            dtype = values[i].dtype;
    if (dtype == OC_DT_UNDEFINED)
        dtype = oc_in_dtype(c, 0) == OC_DT_STRING ? OC_DT_INT64 : OC_DT_STRING;
    oc_set_out(c, 0, dtype, *oc_in_shape(c, 0));
    return 0;
}

static int shape_category_mapper(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, oc_in_dtype(c, 0) == OC_DT_STRING ? OC_DT_INT64 : OC_DT_STRING, *oc_in_shape(c, 0));
    return 0;
}

static int shape_one_hot_encoder(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    uint32_t ints = oc_ml_count(c, "cats_int64s"), strings = oc_ml_count(c, "cats_strings");
    struct oc_dim dim[OC_MAX_RANK + 1];
    if (!ints == !strings)
        return oc_op_fail(c, "needs one of cats_int64s and cats_strings");
    if (!x->ranked || x->rank >= OC_MAX_RANK) {
        oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_unranked());
        return 0;
    }
    for (unsigned i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    dim[x->rank] = oc_known(ints ? ints : strings);
    oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_of(c->arena, x->rank + 1U, dim));
    return 0;
}

/* ---- maps ------------------------------------------------------------------------------------------- */

static void ml_set_row(struct oc_op_ctx *c, unsigned dtype, struct oc_dim width)
{
    struct oc_dim dim[2] = {oc_known(1), width};
    oc_set_out(c, 0, dtype, oc_shape_of(c->arena, 2, dim));
}

static int shape_cast_map(struct oc_op_ctx *c)
{
    static const struct named_dtype to[] = {
        {"TO_FLOAT", OC_DT_FLOAT}, {"TO_STRING", OC_DT_STRING}, {"TO_INT64", OC_DT_INT64}};
    const char *name = oc_attr_s(c, "cast_to", "TO_FLOAT");
    bool sparse = strcmp(oc_attr_s(c, "map_form", "DENSE"), "SPARSE") == 0;
    int64_t width = oc_attr_i(c, "max_map", 1);
    if (sparse && width < 0)
        return oc_op_fail(c, "invalid max_map %lld", (long long)width);
    for (size_t i = 0; i < OC_COUNT(to); i++)
        if (strcmp(to[i].attr, name) == 0) {
            ml_set_row(c, to[i].dtype, sparse ? oc_known(width) : oc_op_fresh_dim(c, "keys", -1));
            return 0;
        }
    return oc_op_fail(c, "cast_to '%s'", name);
}

static int shape_dict_vectorizer(struct oc_op_ctx *c)
{
    const struct oc_type *map = oc_in(c, 0);
    uint32_t ints = oc_ml_count(c, "int64_vocabulary"), strings = oc_ml_count(c, "string_vocabulary");
    bool known = map && map->kind == OC_T_MAP && map->elem && map->elem->kind == OC_T_TENSOR;
    ml_set_row(c, known ? map->elem->dtype : OC_DT_UNDEFINED, oc_known(ints ? ints : strings));
    return 0;
}

/* A map from label to score for each row. */
static int shape_zip_map(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_type *map = OC_NEW(c->arena, struct oc_type), *score = OC_NEW(c->arena, struct oc_type);
    unsigned key = oc_ml_count(c, "classlabels_strings") ? OC_DT_STRING : OC_DT_INT64;
    *score = oc_tensor_type(OC_DT_FLOAT, oc_shape_scalar());
    *map = (struct oc_type){.kind = OC_T_MAP, .dtype = (uint8_t)key, .elem = score};
    struct oc_type out = {.kind = OC_T_SEQUENCE, .elem = map};
    if (x->ranked && x->rank)
        out.shape = oc_shape_1d(c->arena, x->rank == 1 ? oc_known(1) : x->dim[0]);
    oc_set_out_type(c, 0, &out);
    return 0;
}

static int cost_map(struct oc_op_ctx *c, struct oc_cost *k)
{
    (void)k;
    c->assumption = "maps are not modelled";
    return 0;
}
static const char cost_map_formula[] = "";

#define ML(n, cl, sh, co)                                                                                    \
    {                                                                                                        \
        .domain = "ai.onnx.ml", .name = (n), .since = 1, .op_class = (cl), .shape = (sh), OC_COST(co)        \
    }

static const struct oc_op rows[] = {
    ML("ArrayFeatureExtractor", OC_OP_GATHER, shape_extractor, cost_extractor),
    ML("Binarizer", OC_OP_ELEMENTWISE, oc_shape_same, cost_lookup),
    ML("CastMap", OC_OP_OTHER, shape_cast_map, cost_map),
    ML("CategoryMapper", OC_OP_ELEMENTWISE, shape_category_mapper, cost_lookup),
    ML("DictVectorizer", OC_OP_OTHER, shape_dict_vectorizer, cost_map),
    ML("FeatureVectorizer", OC_OP_COPY, shape_features, oc_cost_none),
    ML("Imputer", OC_OP_ELEMENTWISE, oc_shape_same, cost_lookup),
    ML("LabelEncoder", OC_OP_ELEMENTWISE, shape_label_encoder, cost_lookup),
    ML("Normalizer", OC_OP_NORM, shape_float, cost_normalizer),
    ML("OneHotEncoder", OC_OP_GENERATE, shape_one_hot_encoder, cost_lookup),
    ML("Scaler", OC_OP_ELEMENTWISE, shape_float, cost_scaler),
    ML("ZipMap", OC_OP_OTHER, shape_zip_map, cost_map),
};
extern const struct oc_op_family oc_ops_ml;
const struct oc_op_family oc_ops_ml = OC_FAMILY("ml", rows);
