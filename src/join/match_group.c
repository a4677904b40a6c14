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
#define MAX_VISITS  256 /* within one backward search */
#define MAX_READERS 64  /* of a value inside a group */

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
#define NORMALIZED " BatchNormalization Mul Add"
#define ATTENTION                                                                                            \
    " MatMul Add Reshape Transpose Split Slice Gather Softmax Mul Div Sub Where IsNaN Cast Squeeze "         \
    "Unsqueeze Concat Shape "

static const struct pattern patterns[] = {
    {NARROW, "Conv", .member = NORMALIZED " ", .before = " Pad "},
    {NARROW, "FusedConv", .member = NORMALIZED OC_MATCH_ACTIVATIONS, .before = " Pad "},
    {NARROW, "BlockedProduct", .member = OC_MATCH_ACTIVATIONS, .before = ""},
    {NARROW, "ConvTranspose", .member = NORMALIZED " ", .before = " Pad "},
    {NARROW, "Gemm", .member = NORMALIZED " Transpose Reshape ", .before = " Transpose Reshape MatMul "},
    {NARROW, "FusedGemm",
     .member = NORMALIZED " Transpose Reshape" OC_MATCH_ACTIVATIONS OC_MATCH_GEMM_ACTIVATIONS,
     .before = " Transpose Reshape MatMul Gemm "},
    {NARROW, "FusedMatMul", .member = " Mul Div ", .before = " Transpose Mul Div "},
    {NARROW, "TransposeMatMul", .member = " Mul Div ", .before = " Transpose Mul Div "},
    {NARROW, "MatMulIntegerToFloat", .member = " Cast Mul Add ", .before = " Mul "},
    {NARROW, "DynamicQuantizeMatMul", .member = " Cast Mul Add ",
     .before = " DynamicQuantizeLinear Cast Mul "},
    {NARROW, "QLinear", .member = QUANTIZERS "Relu Clip ", .prefix = true},
    {NARROW, "QGemm", .member = QUANTIZERS "Relu Clip "},
    {NARROW, "NhwcMaxPool", .member = QUANTIZERS},
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

const char *oc_match_heart(const char *type)
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

bool oc_match_open(const struct oc_matcher *x, uint32_t node)
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
        if (!oc_match_runs(x, user))
            continue; /* its result was known when the model was loaded, such as a size */
        if (x->owner[user] != rec && !(oc_match_open(x, user) && is_member(p, x->m->node[user].op_type)))
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
        x->x.use_first[value + 1] == x->x.use_first[value])
        return OC_NONE;
    uint32_t only = x->x.equal[x->x.use[x->x.use_first[value]]];
    for (uint32_t i = x->x.use_first[value] + 1; i < x->x.use_first[value + 1]; i++)
        if (x->x.equal[x->x.use[i]] != only)
            return OC_NONE;
    return only;
}

uint32_t oc_match_only_user(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    return only_reader(x, n->n_out ? n->out[0] : OC_NONE);
}

/* ---- products and sums ------------------------------------------------------------------------------ */

bool oc_match_product(const char *type)
{
    return oc_type_set_has(" MatMul Gemm Conv ConvTranspose MatMulInteger ", type);
}

static bool has_product(const struct oc_matcher *x, uint32_t rec)
{
    for (uint32_t i = 0; i < x->match[rec].n_node; i++)
        if (oc_match_product(x->m->node[x->match[rec].node[i]].op_type))
            return true;
    return false;
}

/* One operator has one product. */
static bool is_other_layer(const struct oc_matcher *x, uint32_t rec, const struct pattern *p, uint32_t node)
{
    return p->width == NARROW && oc_match_product(x->m->node[node].op_type) && has_product(x, rec);
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
    return oc_type_set_has(" QLinear QGemm NhwcMaxPool ", p->type);
}

/* A quantized operator is [DequantizeLinear..., operator, QuantizeLinear]: nodes on the other side belong
 * to the neighbour. */
static bool other_side(const struct oc_matcher *x, const struct pattern *p, uint32_t node, bool behind)
{
    return is_quantized(p) &&
           strcmp(x->m->node[node].op_type, behind ? "DequantizeLinear" : "QuantizeLinear") == 0;
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
    return (p->before &&
            oc_type_set_has(OC_MATCH_ACTIVATIONS OC_MATCH_GEMM_ACTIVATIONS, x->m->node[node].op_type)) ||
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
        if (x->match[rec].n_node < MAX_GROUP && oc_match_open(x, x->x.use[i]) &&
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
        if (from == OC_NONE || !oc_match_open(x, from) ||
            !oc_type_set_has(before, x->m->node[from].op_type) || other_side(x, p, from, false) ||
            is_other_layer(x, rec, p, from) || is_before_normalization(x, p, v, node) ||
            x->match[rec].n_node >= MAX_GROUP)
            continue;
        bool dequantizer = oc_equal(x->m->node[from].op_type, "DequantizeLinear");
        if ((is_quantized(p) && dequantizer) || /* of several consumers it belongs to the first */
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
        node = oc_match_only_user(x, node);
        if (node == OC_NONE || !oc_match_open(x, node) ||
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
        if (!oc_match_product(member->op_type) || !reads_constant(x, member))
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
        if (oc_match_open(x, user) && strcmp(x->m->node[user].op_type, n->op_type) == 0 &&
            x->m->node[user].in[0] == v && x->match[rec].n_node < MAX_GROUP)
            oc_match_add(x, rec, user);
    }
}

/* The record is the node of the model itself, which a fusion of several nodes would have replaced. */
bool oc_match_unfused(const struct oc_matcher *x, uint32_t rec)
{
    const struct oc_match *m = &x->match[rec];
    return m->core != OC_NONE && oc_equal(x->p->rec[rec].op_type, x->m->node[m->core].op_type) &&
           (oc_equal(m->rule, "name") || oc_equal(m->rule, "index") || oc_equal(m->rule, "inlined name"));
}

bool oc_match_may_contain(const struct oc_matcher *x, uint32_t rec, uint32_t node)
{
    const char *type = x->m->node[node].op_type;
    const struct pattern *p = find_pattern(NARROW, type_of(x, rec)),
                         *wide = find_pattern(WIDE, type_of(x, rec));
    p = p ? p : wide;
    return !p || ((is_member(p, type) || (p->before && oc_type_set_has(p->before, type))) &&
                  !is_other_layer(x, rec, p, node) && !other_side(x, p, node, false));
}

static void grow_all(struct oc_matcher *x, enum width width)
{
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++) {
        const char *member = x->match[rec].member;
        const struct pattern own = {.type = "", .member = member};
        const struct pattern *hit = member ? &own : find_pattern(width, type_of(x, rec));
        if (x->match[rec].core == OC_NONE || x->match[rec].whole ||
            (width == WIDE && oc_match_unfused(x, rec)))
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
        if (from == OC_NONE || !oc_match_open(x, from) || only_reader(x, v) == OC_NONE)
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
        node = oc_match_only_user(x, node);
        if (node == OC_NONE || !oc_match_open(x, node))
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

void oc_match_grow(struct oc_matcher *x)
{
    complete_outputs(x);
    extend_to_outputs(x);
    oc_match_unnamed(x, true);
    grow_all(x, NARROW);
    grow_all(x, WIDE); /* so that only nodes of unnamed records are left */
    oc_match_unnamed(x, false);
    grow_all(x, NARROW);
    grow_all(x, WIDE);
    oc_match_rest(x);
    for (uint32_t rec = 0; rec < x->p->n_rec; rec++)
        if (x->match[rec].n_node > 1)
            qsort(x->match[rec].node, x->match[rec].n_node, sizeof(uint32_t), oc_by_u32);
}
