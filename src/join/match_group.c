/* Records of several nodes: groups that grow by the patterns of fusions. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"
#include "join/expansion.h"
#include "join/join.h"

#define MAX_GROUP   512
#define MAX_BACK    12
#define MAX_BEHIND  4
#define MAX_VISITS  256        /* within one backward search */
#define MAX_READERS 64         /* of a value inside a group */
#define MAX_TRIES   (1u << 26) /* of matching by order, over all records */

/* Inputs with several consumers in a wide group may also be produced by members. */
enum width { NARROW, WIDE };

/* Fusion patterns: a record of a type may also contain nodes of these types that no record names and that are
 * connected to it. Types are separated by blanks. Narrow patterns take precedence. */
struct pattern {
    enum width width;
    const char *type, *member; /* NULL: none */
    const char *before;        /* types of the nodes whose results it reads; NULL: `member` */
    /* Types that only occur in this fusion: the node from which the group of an unnamed record is grown. */
    const char *heart;
    bool prefix; /* every type with this prefix */
};

#define QUANTIZERS " QuantizeLinear DequantizeLinear DynamicQuantizeLinear Cast Mul "
/* Activations that only a matrix product can fuse. */
#define GEMM_ACTIVATIONS "Elu Selu Softplus Softsign ScaledTanh ParametricSoftplus ThresholdedRelu "
#define NORMALIZED       " BatchNormalization Mul Add"
#define ATTENTION                                                                                            \
    " MatMul Add Reshape Transpose Split Slice Gather Softmax Mul Div Sub Where IsNaN Cast Squeeze "         \
    "Unsqueeze Concat Shape "

static const struct pattern patterns[] = {
    {NARROW, "Conv", .member = NORMALIZED " ", .before = " Pad "},
    {NARROW, "FusedConv", .member = NORMALIZED OC_MATCH_ACTIVATIONS, .before = " Pad "},
    {NARROW, "BlockedProduct", .member = OC_MATCH_ACTIVATIONS, .before = ""},
    {NARROW, "ConvTranspose", .member = NORMALIZED " ", .before = " Pad "},
    {NARROW, "Gemm", .member = NORMALIZED " Transpose Reshape ", .before = " Transpose Reshape MatMul "},
    {NARROW, "FusedGemm", .member = NORMALIZED " Transpose Reshape" OC_MATCH_ACTIVATIONS GEMM_ACTIVATIONS,
     .before = " Transpose Reshape MatMul Gemm "},
    {NARROW, "FusedMatMul", .member = " Mul Div ", .before = " Transpose Mul Div "},
    {NARROW, "TransposeMatMul", .member = " Mul Div ", .before = " Transpose Mul Div "},
    {NARROW, "MatMulIntegerToFloat", .member = " Cast Mul Add ", .before = " Mul "},
    {NARROW, "DynamicQuantizeMatMul", .member = " Cast Mul Add ",
     .before = " DynamicQuantizeLinear Cast Mul "},
    {NARROW, "QLinear", .member = QUANTIZERS, .prefix = true},
    {NARROW, "QGemm", .member = QUANTIZERS},
    {NARROW, "QuickGelu", .member = " Mul Sigmoid ", .heart = " Sigmoid "},
    {NARROW, "GemmSum", .member = " Sum "},
    {NARROW, "FusedReshape", .member = " Reshape Squeeze Unsqueeze ", .before = ""},
    {NARROW, "BiasSoftmax", .member = " Add ", .heart = " Softmax "},
    {NARROW, "BiasDropout", .member = " Add ", .heart = " Dropout "},
    {NARROW, "SpaceToDepth", .member = " Slice ", .heart = " Concat "},
    {NARROW, "Slice", .member = " Range "},
    {WIDE, "Gelu", .member = " Div Erf Add Mul Pow Tanh Sqrt Cast ", .heart = " Erf Tanh "},
    {WIDE, "FastGelu", .member = " Div Erf Add Mul Pow Tanh Sqrt Gelu Cast ", .heart = " Gelu Erf Tanh "},
    {WIDE, "BiasGelu", .member = " Div Erf Add Mul Pow Tanh Sqrt Gelu Cast ", .heart = " Gelu Erf Tanh "},
    {WIDE, "LayerNormalization", .member = " ReduceMean Sub Pow Mul Add Sqrt Div Cast ", .heart = " Sqrt "},
    {WIDE, "SimplifiedLayerNormalization", .member = " ReduceMean Pow Mul Add Sqrt Div Cast Reciprocal ",
     .heart = " Sqrt "},
    {WIDE, "SkipLayerNormalization",
     .member = " LayerNormalization ReduceMean Sub Pow Mul Add Sqrt Div Cast ",
     .heart = " LayerNormalization Sqrt "},
    {WIDE, "SkipSimplifiedLayerNormalization", .member = " ReduceMean Pow Mul Add Sqrt Div Cast Reciprocal ",
     .heart = " RMSNormalization SimplifiedLayerNormalization Sqrt "},
    {WIDE, "EmbedLayerNormalization",
     .member = " Gather LayerNormalization ReduceMean Sub Pow Mul Add Sqrt Div Cast ReduceSum Shape Expand ",
     .heart = " LayerNormalization Sqrt "},
    {WIDE, "Attention", .member = ATTENTION, .heart = " Softmax "},
    {WIDE, "AttentionWithProjections", .member = " Gemm" ATTENTION},
    {WIDE, "GroupQueryAttention", .member = " SimplifiedLayerNormalization RMSNormalization Reshape "},
    {WIDE, "MatMulNBitsQkv",
     .member = " MatMulNBits SimplifiedLayerNormalization SkipSimplifiedLayerNormalization RMSNormalization ",
     .heart = " MatMulNBits "},
    {WIDE, "MatMulNBitsMlp",
     .member =
         " MatMulNBits SimplifiedLayerNormalization SkipSimplifiedLayerNormalization RMSNormalization Mul "
         "Sigmoid ",
     .heart = " MatMulNBits "},
    {WIDE, "MultiHeadAttention",
     .member =
         " MatMul Add Reshape Transpose Softmax Mul Div Sub Where IsNaN Cast Squeeze Unsqueeze Concat Shape ",
     .heart = " Softmax "},
    {WIDE, "QAttention", .heart = " Softmax "},
};

static const struct pattern *find_pattern(enum width width, const char *type)
{
    for (const struct pattern *p = patterns; p < patterns + OC_COUNT(patterns); p++)
        if (p->width == width && p->member &&
            (p->prefix ? strncmp(type, p->type, strlen(p->type)) == 0 : strcmp(type, p->type) == 0))
            return p;
    return NULL;
}

static const char *heart_of(const char *type)
{
    for (size_t i = 0; i < OC_COUNT(patterns); i++)
        if (strcmp(patterns[i].type, type) == 0)
            return patterns[i].heart;
    return NULL;
}

static const char *type_of(const struct oc_matcher *x, uint32_t rec)
{
    return x->match[rec].as ? x->match[rec].as : x->p->rec[rec].op_type;
}

static bool is_member(const struct pattern *p, const char *type)
{
    return oc_type_set_has(p->member, type);
}

static bool is_free(const struct oc_matcher *x, uint32_t node)
{
    return x->owner[node] == OC_NONE && oc_match_runs(x, node);
}

/* ---- growing a group -------------------------------------------------------------------------------- */

/* A value may be internal to the group of `rec` if it has no consumer outside. */
static bool is_inner(const struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t value)
{
    uint32_t readers = x->x.use_first[value + 1] - x->x.use_first[value];
    if (x->m->value[value].graph_output || readers > MAX_READERS)
        return false;
    for (uint32_t i = x->x.use_first[value]; i < x->x.use_first[value + 1]; i++) {
        uint32_t user = x->x.use[i];
        if (x->owner[user] != rec && !(is_free(x, user) && is_member(p, x->m->node[user].op_type)))
            return false;
    }
    return readers > 0;
}

static bool is_constant(const struct oc_matcher *x, uint32_t value)
{
    const struct oc_value *v = &x->m->value[value];
    return v->constant || (v->producer != OC_NONE && oc_node_is_constant(&x->m->node[v->producer]));
}

static uint32_t only_reader(const struct oc_matcher *x, uint32_t value)
{
    if (value == OC_NONE || x->m->value[value].graph_output ||
        x->x.use_first[value + 1] != x->x.use_first[value] + 1)
        return OC_NONE;
    return x->x.use[x->x.use_first[value]];
}

static uint32_t only_user(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    return only_reader(x, n->n_out ? n->out[0] : OC_NONE);
}

/* ---- products and sums ------------------------------------------------------------------------------ */

static bool is_product(const char *type)
{
    return oc_type_set_has(" MatMul Gemm Conv ConvTranspose MatMulInteger ", type);
}

static bool has_product(const struct oc_matcher *x, uint32_t rec)
{
    for (uint32_t i = 0; i < x->match[rec].n_node; i++)
        if (is_product(x->m->node[x->match[rec].node[i]].op_type))
            return true;
    return false;
}

/* One operator has one product. */
static bool is_other_layer(const struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t node)
{
    return p->width == NARROW && is_product(x->m->node[node].op_type) && has_product(x, rec);
}

/* The result of a product is transposed as it is recorded: with two dimensions. */
static bool has_recorded_rank(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    return !s || !s->ranked || !r->n_out || !r->out[0].shape.ranked || s->rank == r->out[0].shape.rank;
}

/* A convolution that fused the sum of two branches reads the other branch: an input with the shape of its
 * output. If the record shows its inputs and none has that shape, the sum belongs to the convolution of
 * the other branch. */
static bool may_take(const struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    const struct oc_prof_rec *r = &x->p->rec[rec];
    bool product = strstr(p->type, "Gemm") != NULL;
    if (is_other_layer(x, rec, p, node) || oc_match_removed(x, node))
        return false;
    if (product && strcmp(n->op_type, "Transpose") == 0)
        return has_recorded_rank(x, r, node);
    if (strcmp(n->op_type, "Add") != 0 || n->n_in != 2 ||
        (!product && (!strstr(p->type, "Conv") || !r->has_in || !r->n_out)))
        return true;
    for (uint32_t k = 0; k < 2; k++)
        if (n->in[k] == OC_NONE || is_constant(x, n->in[k]))
            return true;
    if (product) /* a sum of two branches is not a bias */
        return false;
    for (uint32_t i = 1; i < r->n_in; i++)
        if (oc_shape_equal(&r->in[i].shape, &r->out[0].shape))
            return true;
    return false;
}

static bool is_quantized(const struct pattern *p)
{
    return strcmp(p->type, "QLinear") == 0 || strcmp(p->type, "QGemm") == 0;
}

/* A quantized operator is [DequantizeLinear..., operator, QuantizeLinear]: nodes on the other side belong
 * to the neighbour. */
static bool other_side(const struct oc_matcher *x, const struct pattern *p, uint32_t node, bool behind)
{
    return is_quantized(p) &&
           strcmp(x->m->node[node].op_type, behind ? "DequantizeLinear" : "QuantizeLinear") == 0;
}

/* A dequantizer with several consumers belongs to the first of them. */
static bool shared_dequantizer(const struct oc_matcher *x, const struct pattern *p, uint32_t node)
{
    return is_quantized(p) && strcmp(x->m->node[node].op_type, "DequantizeLinear") == 0;
}

static bool has_recorded_output(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    return s && r->n_out && oc_shape_known(s) && oc_shape_equal(s, &r->out[0].shape);
}

static bool reads_constant(const struct oc_matcher *x, const struct oc_node *n)
{
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && (is_constant(x, n->in[k]) || (x->a && x->a->is_const[n->in[k]])))
            return true;
    return false;
}

/* A normalization ends with the product with its weights, or the sum with its bias. */
static bool is_end_of_normalization(const struct oc_matcher *x, uint32_t rec, const struct pattern *p,
                                    uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    const char *last = strstr(p->type, "Simplified") ? "Mul" : "Add";
    if (p->width == NARROW || !strstr(p->type, "LayerNormalization"))
        return false;
    return strstr(n->op_type, "Normalization") || (strcmp(n->op_type, last) == 0 && reads_constant(x, n) &&
                                                   has_recorded_output(x, &x->p->rec[rec], node));
}

/* Nothing before the input of a normalization belongs to it, but the sum of a SkipLayerNormalization and its
 * bias. */
static bool is_before_normalization(const struct oc_matcher *x, const struct pattern *p, uint32_t value,
                                    uint32_t user)
{
    const char *first = strstr(p->type, "Simplified") ? "Pow" : "ReduceMean";
    const struct oc_node *from = &x->m->node[x->m->value[value].producer];
    bool sum = strcmp(from->op_type, "Add") == 0, starts = false;
    uint32_t begin = x->x.use_first[value], end = x->x.use_first[value + 1];
    if (p->width == NARROW || !strstr(p->type, "LayerNormalization") || strncmp(p->type, "Embed", 5) == 0)
        return false;
    if (strncmp(p->type, "Skip", 4) == 0 && strcmp(x->m->node[user].op_type, "Add") == 0)
        return strcmp(from->op_type, "Cast") != 0 && !(sum && reads_constant(x, from));
    for (uint32_t i = begin; i < end; i++)
        starts |= end - begin > 1 && strcmp(x->m->node[x->x.use[i]].op_type, first) == 0;
    return starts && !(sum && strncmp(p->type, "Skip", 4) == 0);
}

/* Nothing after the node belongs to the group: ONNX Runtime's products end with their activation. */
static bool is_end(const struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t node)
{
    if (!oc_equal(x->p->format, "onnxruntime"))
        return false;
    return (p->before && oc_type_set_has(OC_MATCH_ACTIVATIONS GEMM_ACTIVATIONS, x->m->node[node].op_type)) ||
           is_end_of_normalization(x, rec, p, node);
}

/* The consumers of the value that belong to the group, and the removed nodes before them. */
static void grow_behind(struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t v)
{
    uint32_t removed[MAX_BEHIND], n = 0, user, before = x->match[rec].n_node;
    while (n < MAX_BEHIND && (user = only_reader(x, v)) != OC_NONE && oc_match_removed(x, user)) {
        removed[n++] = user;
        v = x->m->node[user].out[0];
    }
    if (v == OC_NONE || !is_inner(x, rec, p, v))
        return;
    for (uint32_t i = x->x.use_first[v]; i < x->x.use_first[v + 1]; i++)
        if (x->match[rec].n_node < MAX_GROUP && is_free(x, x->x.use[i]) &&
            !other_side(x, p, x->x.use[i], true) && may_take(x, rec, p, x->x.use[i]))
            oc_match_add(x, rec, x->x.use[i]);
    while (n > 0 && x->match[rec].n_node > before)
        oc_match_add(x, rec, removed[--n]);
}

static void grow_before(struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    const char *before = p->before ? p->before : p->member;
    for (uint32_t k = 0; k < n->n_in; k++) {
        uint32_t v = n->in[k], from = v == OC_NONE ? OC_NONE : x->m->value[v].producer;
        if (from == OC_NONE || !is_free(x, from) || !oc_type_set_has(before, x->m->node[from].op_type) ||
            other_side(x, p, from, false) || is_other_layer(x, rec, p, from) ||
            is_before_normalization(x, p, v, node) || x->match[rec].n_node >= MAX_GROUP)
            continue;
        if (shared_dequantizer(x, p, from) ||
            ((p->width == WIDE || x->m->value[v].n_use == 1) && is_inner(x, rec, p, v)))
            oc_match_add(x, rec, from);
    }
}

static void grow_from(struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    for (uint32_t k = 0; k < n->n_out && !is_end(x, rec, p, node); k++)
        if (n->out[k] != OC_NONE)
            grow_behind(x, rec, p, n->out[k]);
    grow_before(x, rec, p, node);
}

/* Attention from its Softmax: the nodes up to the recorded output, and those before them up to the products
 * with weights. False: the output is not known. */
static bool grow_attention(struct oc_matcher *x, uint32_t rec, const struct pattern *p)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    uint32_t node = x->match[rec].core, path[MAX_BACK], n = 0;
    if (!strstr(p->type, "Attention") || strcmp(x->m->node[node].op_type, "Softmax") != 0)
        return false;
    while (n < MAX_BACK && !has_recorded_output(x, r, node)) {
        node = only_user(x, node);
        if (node == OC_NONE || !is_free(x, node) ||
            !(oc_match_removed(x, node) || is_member(p, x->m->node[node].op_type)))
            return false;
        path[n++] = node;
    }
    if (!has_recorded_output(x, r, node))
        return false;
    while (n > 0)
        oc_match_add(x, rec, path[--n]);
    for (uint32_t i = 0; i < x->match[rec].n_node; i++) { /* the list grows during the iteration */
        const struct oc_node *member = &x->m->node[x->match[rec].node[i]];
        if (!is_product(member->op_type) || !reads_constant(x, member))
            grow_before(x, rec, p, x->match[rec].node[i]);
    }
    return true;
}

/* Several Gathers or Slices of one tensor fused to one Split: they are connected by their common input. */
static void take_siblings(struct oc_matcher *x, uint32_t rec)
{
    const struct oc_node *n = &x->m->node[x->match[rec].core];
    uint32_t v = n->n_in ? n->in[0] : OC_NONE;
    if (strcmp(x->p->rec[rec].op_type, "Split") != 0 || strcmp(n->op_type, "Split") == 0 || v == OC_NONE)
        return;
    for (uint32_t i = x->x.use_first[v]; i < x->x.use_first[v + 1]; i++) {
        uint32_t user = x->x.use[i];
        if (is_free(x, user) && strcmp(x->m->node[user].op_type, n->op_type) == 0 &&
            x->m->node[user].in[0] == v && x->match[rec].n_node < MAX_GROUP)
            oc_match_add(x, rec, user);
    }
}

static void grow_all(struct oc_matcher *x, enum width width)
{
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++) {
        const char *member = x->match[rec].member;
        const struct pattern own = {.type = "", .member = member};
        const struct pattern *hit = member ? &own : find_pattern(width, type_of(x, rec));
        if (x->match[rec].core == OC_NONE || x->match[rec].whole)
            continue;
        take_siblings(x, rec);
        if (hit && grow_attention(x, rec, hit))
            continue;
        for (uint32_t i = 0; hit && i < x->match[rec].n_node; i++) /* the list grows during the iteration */
            grow_from(x, rec, hit, x->match[rec].node[i]);
    }
}

/* ---- backward search from the last node of a group to the node of its type -------------------------- */

static bool is_origin(const char *rec_type, const char *type)
{
    if (strcmp(rec_type, "FusedConv") == 0)
        rec_type = "Conv";
    return strcmp(rec_type, type) == 0 || (strcmp(rec_type, "Upsample") == 0 && strcmp(type, "Resize") == 0);
}

/* Path over nodes that no record names and values with a single consumer; it ends at a node of the type. */
static bool walk_back(struct oc_matcher *x, uint32_t rec, uint32_t node, unsigned depth, unsigned *visits)
{
    const struct oc_node *n = &x->m->node[node];
    if (is_origin(x->p->rec[rec].op_type, n->op_type)) {
        x->match[rec].core = node;
        return true;
    }
    for (uint32_t k = 0; k < n->n_in && depth < MAX_BACK && ++*visits < MAX_VISITS; k++) {
        uint32_t v = n->in[k], from = v == OC_NONE ? OC_NONE : x->m->value[v].producer;
        if (from == OC_NONE || !is_free(x, from) || x->m->value[v].n_use != 1 || x->m->value[v].graph_output)
            continue;
        if (walk_back(x, rec, from, depth + 1, visits)) {
            oc_match_add(x, rec, from);
            return true;
        }
    }
    return false;
}

static void complete_outputs(struct oc_matcher *x)
{
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++) {
        unsigned visits = 0;
        if (x->match[rec].rule && strcmp(x->match[rec].rule, "output tensor") == 0)
            walk_back(x, rec, x->match[rec].core, 0, &visits);
    }
}

/* ---- the recorded output ---------------------------------------------------------------------------- */

/* A node keeps its name when it takes over the work of the nodes after it (1 / a * b becomes the Div b / a):
 * the group extends to the node with the recorded output. */
static void extend_to_output(struct oc_matcher *x, uint32_t rec)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    uint32_t node = x->match[rec].core, path[MAX_BEHIND], n = 0;
    while (node != OC_NONE && !oc_match_output_fits(x, r, node) && n < MAX_BEHIND) {
        node = only_user(x, node);
        if (node == OC_NONE || !is_free(x, node))
            return;
        path[n++] = node;
    }
    for (uint32_t i = 0; i < n && oc_match_output_fits(x, r, path[n - 1]); i++)
        oc_match_add(x, rec, path[i]);
}

static void extend_to_outputs(struct oc_matcher *x)
{
    for (uint32_t rec = 0; rec < x->p->n_rec && oc_equal(x->p->format, "onnxruntime"); rec++)
        if (x->match[rec].n_node == 1 && x->match[rec].core != OC_NONE &&
            !oc_equal(x->match[rec].rule, "function body"))
            extend_to_output(x, rec);
}

/* ---- names without information ---------------------------------------------------------------------- */

static bool may_stand_for(const char *rec_type, const char *type)
{
    const char *heart = heart_of(rec_type);
    /* NOLINTNEXTLINE(readability-suspicious-call-argument): `type` is the original's */
    return oc_match_made_of(rec_type, type) || (heart && oc_type_set_has(heart, type));
}

/* "gemm" (MatMul and Add, up to 1.18), "FusedConv_233" and "/MatMulAddFusion" of unnamed nodes, and
 * "BiasGelu_token_7", which the optimizer created from several nodes: the first node in execution order
 * that has no record, has a type of the pattern, and has the recorded output. */
static bool is_uninformative(const struct oc_prof_rec *r)
{
    size_t n = strlen(r->op_type);
    if (heart_of(r->op_type))
        return true;
    if (oc_match_says_nothing(r->name))
        return true;
    const char *digits = r->name + n + 1;
    return n && strncmp(r->name, r->op_type, n) == 0 && r->name[n] == '_' && digits[0] &&
           digits[strspn(digits, "0123456789")] == '\0';
}

/* The core node of a group may have another shape than the group's output. */
static bool is_inside(const char *type)
{
    return strcmp(type, "Sqrt") == 0 || strcmp(type, "Softmax") == 0;
}

/* MatMul of other than two dimensions became Gemm, between two Reshapes: [..., N] is recorded as [M, N]. */
static bool is_flattened(const struct oc_shape *recorded, const struct oc_shape *s)
{
    return oc_shape_known(recorded) && recorded->rank == 2 && s->rank && s->rank != 2 &&
           recorded->dim[1].v == s->dim[s->rank - 1].v && oc_match_same_shape(recorded, s);
}

/* Order alone proves little: the shapes must be equal, or permuted for an operator in another layout. */
static bool has_output(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    const char *type = x->m->node[node].op_type;
    if ((heart_of(r->op_type) && is_inside(type)) || !s || !r->n_out || !oc_shape_known(s) ||
        oc_shape_equal(s, &r->out[0].shape))
        return true;
    bool other_layout = strncmp(r->name, "_token_", 7) == 0 || strncmp(r->op_type, "QLinear", 7) == 0;
    bool split = strcmp(r->op_type, "Split") == 0;
    bool view = strncmp(r->name, "_new_reshape", 12) == 0; /* fused with the Reshape before the Gemm */
    return other_layout || split || view ? oc_match_same_shape(&r->out[0].shape, s)
                                         : is_product(type) && is_flattened(&r->out[0].shape, s);
}

/* Whether an activation without a record follows the product, after its bias or normalization. */
static bool is_activated(const struct oc_matcher *x, uint32_t node)
{
    for (unsigned i = 0; i < MAX_BEHIND; i++) {
        node = only_user(x, node);
        if (node == OC_NONE || !is_free(x, node))
            return false;
        if (oc_type_set_has(OC_MATCH_ACTIVATIONS, x->m->node[node].op_type))
            return true;
        if (!oc_type_set_has(NORMALIZED " ", x->m->node[node].op_type))
            return false;
    }
    return false;
}

/* A FusedGemm has an activation, a Gemm does not. */
static bool has_activation(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    bool fused = strcmp(r->op_type, "FusedGemm") == 0;
    return (!fused && strcmp(r->op_type, "Gemm") != 0) || is_activated(x, node) == fused;
}

/* A product has the recorded first input; packed weights are not recorded. */
static bool has_input(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    if (!x->a || !is_product(n->op_type) || !r->n_in || !n->n_in || n->in[0] == OC_NONE)
        return true;
    const struct oc_type *t = &x->a->type[n->in[0]];
    return t->kind != OC_T_TENSOR || oc_match_same_shape(&r->in[0].shape, &t->shape);
}

static bool has_shapes(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    return has_output(x, r, node) && has_input(x, r, node) && has_activation(x, r, node);
}

static bool is_unmatched(const struct oc_matcher *x, uint32_t rec)
{
    return !x->p->rec[rec].bucket && !x->match[rec].n_node && x->match[rec].inner_of == OC_NONE &&
           is_uninformative(&x->p->rec[rec]);
}

/* Nodes of the types that records of one type may stand for, in the order in which the runtime visits them.
 */
struct candidates {
    struct oc_map types;
    uint32_t *order; /* of execution, by node */
    struct node_list {
        uint32_t *node, n;
    } * list;
    size_t n, cap;
    bool *open; /* by record: unmatched, and nothing in its name */
};

static int by_rank(const void *a, const void *b, void *order)
{
    const uint32_t *of = order;
    uint32_t i = of[*(const uint32_t *)a], k = of[*(const uint32_t *)b];
    return (i > k) - (i < k);
}

static int by_index(const void *a, const void *b, void *profile)
{
    const struct oc_profile *p = profile;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (p->rec[i].index != p->rec[k].index)
        return p->rec[i].index < p->rec[k].index ? -1 : 1;
    return (i > k) - (i < k);
}

/* Unmatched records without information in their names, in the order in which the runtime created the nodes.
 */
static uint32_t *list_open(const struct oc_matcher *x, const struct candidates *c, uint32_t *n)
{
    uint32_t *list = OC_NEW_ARRAY(x->arena, (size_t)x->p->n_rec + 1, uint32_t);
    *n = 0;
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++)
        if (c->open[rec])
            list[(*n)++] = rec;
    if (*n)
        qsort_r(list, *n, sizeof(*list), by_index, (void *)(uintptr_t)x->p);
    return list;
}

static struct node_list candidates_of(const struct oc_matcher *x, struct candidates *c, const char *rec_type,
                                      uint32_t *tries)
{
    uint32_t at = (uint32_t)c->n, n = 0;
    if (!oc_map_add(&c->types, rec_type, strlen(rec_type), &at, NULL))
        return c->list[at];
    for (uint32_t i = 0; i < x->m->n_node; i++)
        n += may_stand_for(rec_type, x->m->node[i].op_type);
    struct node_list l = {OC_NEW_ARRAY(x->arena, (size_t)n + 1, uint32_t), 0};
    for (uint32_t i = 0; i < x->m->n_node && l.n < n; i++)
        if (may_stand_for(rec_type, x->m->node[i].op_type))
            l.node[l.n++] = i;
    *tries += x->m->n_node;
    if (l.n)
        qsort_r(l.node, l.n, sizeof(uint32_t), by_rank, c->order);
    OC_GROW(c->list, c->n, c->cap);
    c->list[c->n++] = l;
    return l;
}

static bool may_match(const struct oc_matcher *x, uint32_t rec, uint32_t node)
{
    return is_free(x, node) && oc_match_in_scope(x, rec, x->m->node[node].graph);
}

/* Without shapes to compare: whether there are as many nodes for the record as records for the node. */
static bool as_many(const struct oc_matcher *x, uint32_t rec, uint32_t node, const struct candidates *c,
                    const struct node_list *l)
{
    uint32_t nodes = 0, records = 0;
    const char *type = x->p->rec[rec].op_type; /* interned */
    for (uint32_t i = 0; i < l->n; i++)
        nodes += may_match(x, rec, l->node[i]);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        records +=
            c->open[i] && may_match(x, i, node) &&
            (x->p->rec[i].op_type == type || may_stand_for(x->p->rec[i].op_type, x->m->node[node].op_type));
    return nodes == records;
}

static bool proves(const struct oc_matcher *x, uint32_t rec, uint32_t node, const struct candidates *c,
                   const struct node_list *l, uint32_t *tries)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    const struct oc_prof_rec *r = &x->p->rec[rec];
    if (s && oc_shape_known(s) && r->n_out && !is_inside(x->m->node[node].op_type))
        return true;
    *tries += l->n + x->p->n_rec;
    return as_many(x, rec, node, c, l);
}

static void match_by_order(struct oc_matcher *x)
{
    struct candidates c = {.types.arena = x->arena,
                           .open = OC_NEW_ARRAY(x->arena, (size_t)x->p->n_rec + 1, bool)};
    uint32_t tries = 0, n;
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++)
        c.open[rec] = is_unmatched(x, rec);
    const uint32_t *list = list_open(x, &c, &n);
    if (n)
        c.order = oc_index_run_order(&x->x);
    for (uint32_t k = 0; k < n && tries < MAX_TRIES; k++) {
        uint32_t rec = list[k], i = 0;
        struct node_list l = candidates_of(x, &c, x->p->rec[rec].op_type, &tries);
        while (i < l.n && !(may_match(x, rec, l.node[i]) && has_shapes(x, &x->p->rec[rec], l.node[i])))
            i++;
        tries += i;
        if (i == l.n || !proves(x, rec, l.node[i], &c, &l, &tries))
            continue;
        oc_match_core(x, rec, l.node[i], "order", 0.6);
        c.open[rec] = false;
    }
    free(c.list);
    oc_map_free(&c.types);
}

void oc_match_grow(struct oc_matcher *x)
{
    complete_outputs(x);
    extend_to_outputs(x);
    grow_all(x, NARROW);
    grow_all(x, WIDE); /* so that only nodes of unnamed records are left */
    match_by_order(x);
    grow_all(x, NARROW);
    grow_all(x, WIDE);
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++)
        if (x->match[rec].n_node > 1)
            qsort(x->match[rec].node, x->match[rec].n_node, sizeof(uint32_t), oc_by_u32);
}
