/* Features, categories and maps, linear models and support vector machines of ai.onnx.ml.
 * cost-semantics 4.16, shape-inference 4.12. Decision trees: ml_trees.c. */
#include "ops/shared_rules.h"

#include <string.h>

/* ---- features ----------------------------------------------------------------------------------------- */

static int shape_float(struct oc_op_ctx *c)
{
    oc_set_out(c, 0, OC_DT_FLOAT, *oc_in_shape(c, 0));
    return 0;
}

static const char lookup_formula[] = "CMP:x = N(x)";

/* (x - offset) * scale */
static int scaler_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    oc_ml_float(c, k);
    return 0;
}
static const char scaler_formula[] = "ADD = N(o); MUL = N(o)";

static int normalizer_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_dim rows, features;
    oc_ml_float(c, k);
    if (strcmp(oc_attr_s(c, "norm", "MAX"), "L2") != 0)
        return 0;
    if (oc_ml_rows(c, &rows, &features))
        return -1;
    oc_add_formula_value(c, "rows", oc_c_dim(c, rows));
    return 0;
}
static const char normalizer_formula[] =
    "MUL = [norm:MAX == L2]*N(o); CMP = [norm:MAX != L2]*N(o); ADD = [norm:MAX != MAX]*N(o); DIV = N(o); "
    "SQRT = rows; rows := 0";

/* The columns of X selected by the indices; [1, indices] for a vector. */
static int shape_extractor(struct oc_op_ctx *c)
{
    const struct oc_shape *x = oc_in_shape(c, 0), *index = oc_in_shape(c, 1);
    struct oc_dim dim[OC_MAX_RANK + 1];
    unsigned n = 0;
    if (!x->ranked || x->rank == 0)
        return oc_out_unranked(c, oc_in_dtype(c, 0));
    if (x->rank == 1)
        dim[n++] = oc_known(1);
    for (unsigned i = 0; i + 1 < x->rank; i++)
        dim[n++] = x->dim[i];
    dim[n++] = index->ranked ? oc_shape_count(c->exprs, index) : oc_op_fresh_dim(c, "columns", -1);
    oc_set_out(c, 0, oc_in_dtype(c, 0), oc_shape_of(c->arena, n, dim));
    return 0;
}

static int extractor_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    k->rd[0] = oc_c_bytes(c, oc_in_dtype(c, 0), oc_c_out(c, 0));
    return 0;
}
static const char extractor_formula[] = "";

/* Width contributed by input i: as given, or its own width. */
static struct oc_dim feature_width(struct oc_op_ctx *c, unsigned i, const int64_t *given, uint32_t n_given)
{
    const struct oc_shape *x = oc_in_shape(c, i);
    if (given && i < n_given && given[i] >= 0)
        return oc_known(given[i]);
    if (!x->ranked)
        return oc_op_fresh_dim(c, "1", -1);
    return x->rank == 0 ? oc_known(1) : oc_shape_count_range(c->exprs, x, x->rank == 1 ? 0 : 1, x->rank);
}

static int shape_features(struct oc_op_ctx *c)
{
    uint32_t n_given;
    const int64_t *given = oc_attr_ints(c, "inputdimensions", &n_given);
    const struct oc_shape *x = oc_in_shape(c, 0);
    struct oc_dim dim[2] = {oc_known(1), oc_known(0)};
    if (!x->ranked)
        dim[0] = oc_op_fresh_dim(c, "0", -1);
    else if (x->rank > 1)
        dim[0] = x->dim[0];
    for (unsigned i = 0; i < c->n_in; i++)
        dim[1] = oc_dim_add(c->exprs, dim[1], feature_width(c, i, given, n_given));
    oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_of(c->arena, 2, dim));
    return 0;
}

/* ---- categories --------------------------------------------------------------------------------------- */

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
    if (!x->ranked || x->rank >= OC_MAX_RANK)
        return oc_out_unranked(c, OC_DT_FLOAT);
    for (unsigned i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    dim[x->rank] = oc_known(ints ? ints : strings);
    oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_of(c->arena, x->rank + 1U, dim));
    return 0;
}

/* ---- maps --------------------------------------------------------------------------------------------- */

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

#define ML(n, cl, sh, co)                                                                                    \
    {                                                                                                        \
        .domain = "ai.onnx.ml", .name = (n), .since = 1, .op_class = (cl), .shape = (sh), co                 \
    }

static const struct oc_op ml_rows[] = {
    ML("ArrayFeatureExtractor", OC_OP_GATHER, shape_extractor, OC_COST(extractor)),
    ML("Binarizer", OC_OP_ELEMENTWISE, oc_shape_same, OC_COST_TEXT(lookup_formula)),
    ML("CastMap", OC_OP_OTHER, shape_cast_map, OC_COST_ASSUMED("", "maps are not modelled")),
    ML("CategoryMapper", OC_OP_ELEMENTWISE, shape_category_mapper, OC_COST_TEXT(lookup_formula)),
    ML("DictVectorizer", OC_OP_OTHER, shape_dict_vectorizer, OC_COST_ASSUMED("", "maps are not modelled")),
    ML("FeatureVectorizer", OC_OP_COPY, shape_features, OC_COST_TEXT("")),
    ML("Imputer", OC_OP_ELEMENTWISE, oc_shape_same, OC_COST_TEXT(lookup_formula)),
    ML("LabelEncoder", OC_OP_ELEMENTWISE, shape_label_encoder, OC_COST_TEXT(lookup_formula)),
    ML("Normalizer", OC_OP_NORM, shape_float, OC_COST(normalizer)),
    ML("OneHotEncoder", OC_OP_GENERATE, shape_one_hot_encoder, OC_COST_TEXT(lookup_formula)),
    ML("Scaler", OC_OP_ELEMENTWISE, shape_float, OC_COST(scaler)),
    ML("ZipMap", OC_OP_OTHER, shape_zip_map, OC_COST_ASSUMED("", "maps are not modelled")),
};
OC_FAMILY(ml, ml_rows);

/* ---- linear models, support vector machines ----------------------------------------------------------- */

/* Linear models and support vector machines of ai.onnx.ml. cost-semantics 4.16, shape-inference 4.12.
 * Their weights are attributes: they count as parameters, and no bytes are read for them. */

int oc_ml_rows(struct oc_op_ctx *c, struct oc_dim *rows, struct oc_dim *features)
{
    const struct oc_shape *x = oc_in_shape(c, 0);
    if (!x->ranked) {
        *rows = oc_op_fresh_dim(c, "rows", -1);
        *features = oc_op_fresh_dim(c, "features", -1);
        return 0;
    }
    if (x->rank != 1 && x->rank != 2)
        return oc_op_fail(c, "the samples must be [N,F] or [F], got rank %u", x->rank);
    *rows = x->rank == 2 ? x->dim[0] : oc_known(1);
    *features = x->dim[x->rank - 1];
    return 0;
}

uint32_t oc_ml_count(const struct oc_op_ctx *c, const char *attr)
{
    const struct oc_attr *a = oc_node_attr(c->node, attr);
    if (!a)
        return 0;
    const struct oc_tensor *t = oc_attr_tensor(c, attr);
    if (t)
        return t->elements < UINT32_MAX ? (uint32_t)t->elements : UINT32_MAX;
    bool list = a->type == OC_ATTR_INTS || a->type == OC_ATTR_FLOATS || a->type == OC_ATTR_STRINGS;
    return list ? a->n : 0;
}

uint32_t oc_ml_labels(struct oc_op_ctx *c, unsigned *dtype)
{
    static const char *const names[] = {"classlabels_strings", "classlabels_ints", "classlabels_int64s"};
    *dtype = OC_DT_INT64;
    for (size_t i = 0; i < OC_COUNT(names); i++) {
        uint32_t n = oc_ml_count(c, names[i]);
        if (n && i == 0)
            *dtype = OC_DT_STRING;
        if (n)
            return n;
    }
    return 0;
}

void oc_ml_float(struct oc_op_ctx *c, struct oc_cost *k)
{
    unsigned dtype = oc_in_dtype(c, 0);
    k->mac_class = k->rest_class = dtype == OC_DT_DOUBLE ? OC_CLASS_F64 : OC_CLASS_F32;
}

void oc_ml_post_transform(struct oc_op_ctx *c, const char *name, uint64_t n)
{
    if (strncmp(name, "SOFTMAX", 7) == 0)
        oc_add_formula_value(c, "soft", n);
    else if (strcmp(name, "LOGISTIC") == 0)
        oc_add_formula_value(c, "logistic", n);
    else if (strcmp(name, "PROBIT") == 0)
        oc_add_formula_value(c, "probit", n);
}

static const char *transform_after(struct oc_op_ctx *c)
{
    return oc_attr_s(c, "post_transform", "NONE");
}

/* Labels [N] and scores [N, classes] */
static int set_classes(struct oc_op_ctx *c, unsigned dtype, uint64_t classes)
{
    struct oc_dim dim[2], features;
    if (oc_ml_rows(c, &dim[0], &features))
        return -1;
    dim[1] = oc_known((int64_t)classes);
    oc_set_out(c, 0, dtype, oc_shape_1d(c->arena, dim[0]));
    oc_set_out(c, 1, OC_DT_FLOAT, oc_shape_of(c->arena, 2, dim));
    return 0;
}

static int set_targets(struct oc_op_ctx *c, int64_t targets)
{
    struct oc_dim dim[2], features;
    if (targets < 1)
        return oc_op_fail(c, "invalid number of targets %lld", (long long)targets);
    if (oc_ml_rows(c, &dim[0], &features))
        return -1;
    dim[1] = oc_known(targets);
    oc_set_out(c, 0, OC_DT_FLOAT, oc_shape_of(c->arena, 2, dim));
    return 0;
}

/* ---- linear models ------------------------------------------------------------------------------------ */

/* A single intercept distinguishes two classes. */
static int shape_linear_classifier(struct oc_op_ctx *c)
{
    unsigned dtype;
    uint32_t labels = oc_ml_labels(c, &dtype), intercepts = oc_ml_count(c, "intercepts");
    return set_classes(c, dtype, intercepts == 0 || (intercepts == 1 && labels == 2) ? labels : intercepts);
}

static int shape_linear_regressor(struct oc_op_ctx *c)
{
    return set_targets(c, oc_attr_i(c, "targets", 1));
}

/* MAC s * coefficients, ADD s * intercepts, then the transformation of the scores */
static int linear_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_dim rows, features;
    uint64_t coefficients = oc_ml_count(c, "coefficients"), intercepts = oc_ml_count(c, "intercepts");
    if (oc_ml_rows(c, &rows, &features))
        return -1;
    uint64_t s = oc_c_dim(c, rows);
    oc_ml_float(c, k);
    oc_add_formula_value(c, "s", s);
    oc_add_formula_value(c, "coefficients", coefficients);
    oc_add_formula_value(c, "intercepts", intercepts);
    oc_ml_post_transform(c, transform_after(c), oc_c_out(c, strcmp(c->op->name, "LinearClassifier") == 0));
    k->attr_params = coefficients + intercepts;
    return 0;
}
static const char linear_formula[] = "MAC = s*coefficients; ADD = s*intercepts"
                                     "; " OC_ML_POST_FORMULA;

/* ---- support vectors ---------------------------------------------------------------------------------- */

/* Without support vectors the coefficients are those of a linear model. */
static uint64_t support_vectors(struct oc_op_ctx *c)
{
    uint32_t n;
    const int64_t *per_class = oc_attr_ints(c, "vectors_per_class", &n);
    int64_t regression = oc_attr_i(c, "n_supports", 0);
    uint64_t sum = regression > 0 ? (uint64_t)regression : 0;
    for (uint32_t i = 0; i < n; i++)
        sum = oc_c_add(c, sum, per_class[i] > 0 ? (uint64_t)per_class[i] : 0);
    return sum;
}

static uint64_t pairs(uint64_t classes)
{
    return classes < 2 ? 0 : classes % 2 ? classes * ((classes - 1) / 2) : classes / 2 * (classes - 1);
}

/* Raw scores are per pair of classes, except for two classes; probabilities are per class. */
static int shape_svm_classifier(struct oc_op_ctx *c)
{
    unsigned dtype;
    uint64_t classes = oc_ml_labels(c, &dtype);
    bool raw = support_vectors(c) && oc_ml_count(c, "prob_a") == 0;
    if (classes == 0)
        return oc_op_fail(c, "class labels are missing");
    return set_classes(c, dtype, !raw ? classes : classes > 2 ? pairs(classes) : 2);
}

static int shape_svm_regressor(struct oc_op_ctx *c)
{
    return set_targets(c, 1);
}

/* Kernel; MAC s*SV for each of classes-1 (a regression: 1) rows of coefficients; a vote for each
 * pair */
static int svm_values(struct oc_op_ctx *c, struct oc_cost *k)
{
    struct oc_dim rows, features;
    unsigned dtype;
    bool classifier = strcmp(c->op->name, "SVMClassifier") == 0;
    uint64_t classes = classifier ? oc_ml_labels(c, &dtype) : 2, vectors = support_vectors(c);
    uint64_t coefficients = oc_ml_count(c, "coefficients");
    if (oc_ml_rows(c, &rows, &features))
        return -1;
    uint64_t s = oc_c_dim(c, rows);
    oc_ml_float(c, k);
    if (vectors) {
        oc_add_formula_value(c, "each", oc_c_mul(c, s, vectors));
        oc_add_formula_value(c, "F", oc_c_dim(c, features));
        oc_add_formula_value(c, "rows", classes > 1 ? classes - 1 : 1);
        oc_add_formula_value(c, "votes", classifier ? oc_c_mul(c, s, pairs(classes)) : 0);
    } else {
        oc_add_formula_value(c, "linear", oc_c_mul(c, s, coefficients));
    }
    oc_ml_post_transform(c, transform_after(c), oc_c_out(c, classifier));
    k->attr_params = oc_c_add(c, coefficients, oc_ml_count(c, "support_vectors"));
    k->attr_params = oc_c_add(c, k->attr_params, oc_ml_count(c, "rho"));
    return 0;
}
static const char svm_formula[] =
    "MAC = each*(F + rows) + linear; ADD = [kernel_type:LINEAR == RBF]*each*F; "
    "EXP = [kernel_type:LINEAR == RBF]*each; POW = [kernel_type:LINEAR == POLY]*each; "
    "TANH = [kernel_type:LINEAR == SIGMOID]*each; CMP = votes; each := 0; F := 0; rows := 0; "
    "linear := 0; "
    "votes := 0; " OC_ML_POST_FORMULA;

#define ML_MODELS_ML(n, sh, co)                                                                              \
    {                                                                                                        \
        .domain = "ai.onnx.ml", .name = (n), .since = 1, .op_class = OC_OP_GEMM, .shape = (sh), co           \
    }

static const struct oc_op ml_models_rows[] = {
    ML_MODELS_ML("LinearClassifier", shape_linear_classifier, OC_COST(linear)),
    ML_MODELS_ML("LinearRegressor", shape_linear_regressor, OC_COST(linear)),
    ML_MODELS_ML("SVMClassifier", shape_svm_classifier, OC_COST(svm)),
    ML_MODELS_ML("SVMRegressor", shape_svm_regressor, OC_COST(svm)),
};
OC_FAMILY(ml_models, ml_models_rows);
