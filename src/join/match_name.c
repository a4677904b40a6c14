#include <string.h>

#include "base/str.h"
#include "join/join.h"

/* Names of ONNX Runtime's events and the nodes they refer to (profile-formats 2.4): the node's own name, or
 * one that a graph transformer generates (table `generated`), a name in an inlined branch or function
 * (inlined.c), or <OpType>_<index>. */

#define MAX_SAME_NAME 1024

bool oc_match_made_of(const char *type, const char *original)
{
    static const struct {
        const char *type, *original;
    } row[] = {
        {"Convolution", "Conv"}, /* of OpenVINO */
        {"GroupConvolution", "Conv"},
        {"FullyConnected", "MatMul"},
        {"FullyConnected", "Gemm"},
        {"FusedConv", "Conv"},
        {"NhwcConv", "Conv"},
        {"NhwcFusedConv", "Conv"},
        {"QLinearConv", "Conv"},
        {"QLinearConv", "ConvInteger"},
        {"NhwcMaxPool", "MaxPool"},
        {"FusedGemm", "Gemm"},
        {"FusedGemm", "MatMul"},
        {"Gemm", "MatMul"},
        {"FusedMatMul", "MatMul"},
        {"TransposeMatMul", "MatMul"},
        {"MatMulNBits", "MatMul"},
        {"QLinearMatMul", "MatMul"},
        {"MatMulIntegerToFloat", "MatMulInteger"},
        {"DynamicQuantizeMatMul", "MatMulInteger"},
        {"QGemm", "Gemm"},
        {"FastGelu", "Gelu"},
        {"BiasGelu", "Gelu"},
        {"Upsample", "Resize"},
        {"Resize", "Upsample"},
        {"MemcpyFromHost", "Memcpy"},
    };
    if (oc_equal(type, original))
        return true;
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (oc_equal(type, row[i].type) && oc_equal(original, row[i].original))
            return true;
    return strncmp(type, "QLinear", 7) == 0 && oc_equal(type + 7, original);
}

/* ---- scope: graphs that a record may refer to ------------------------------------------------------- */

bool oc_match_in_scope(const struct oc_matcher *x, uint32_t rec, uint32_t graph)
{
    const struct oc_model *m = x->m;
    uint32_t outer = x->p->rec[rec].parent, parent;
    while ((parent = m->graph[graph].parent_node) != OC_NONE && m->node[parent].kind == OC_NODE_CALL)
        graph = m->node[parent].graph; /* the runtime inlines functions */
    if (outer == OC_NONE)
        return parent == OC_NONE;
    const struct oc_match *o = &x->match[outer];
    for (uint32_t i = 0; i < o->n_node; i++)
        if (o->node[i] == parent)
            return true;
    return o->n_node == 0;
}

/* Score of a candidate; 0: not acceptable. */
static int score_candidate(const struct oc_matcher *x, uint32_t rec, uint32_t node)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    const struct oc_node *n = &x->m->node[node];
    int w = 1;
    w += oc_match_in_scope(x, rec, n->graph) ? 16 : 0;
    w += oc_equal(r->op_type, n->op_type) ? 8 : oc_match_made_of(r->op_type, n->op_type) ? 4 : 0;
    w += x->owner[node] == OC_NONE ? 2 : 0;
    if (r->index >= 0 && oc_index_nth(&x->x, n->graph, r->index) == node)
        w += 1;
    return w;
}

static uint32_t find_node(const struct oc_matcher *x, uint32_t rec, const char *name, size_t len, int *best)
{
    uint32_t found = OC_NONE, tries = 0;
    const uint32_t *next;
    *best = 0;
    if (!len)
        return OC_NONE;
    for (uint32_t i = oc_index_node(&x->x, name, len, &next); i != OC_NONE && tries < MAX_SAME_NAME;
         i = next ? next[i] : OC_NONE, tries++) {
        int w = score_candidate(x, rec, i);
        if (w > *best) {
            *best = w;
            found = i;
        }
    }
    return found;
}

uint32_t oc_match_node_named(const struct oc_matcher *x, uint32_t rec, const char *name, size_t len)
{
    int w;
    return find_node(x, rec, name, len, &w);
}

static bool take_node(struct oc_matcher *x, uint32_t rec, const char *name, size_t len, const char *rule,
                      double confidence)
{
    int w;
    uint32_t node = find_node(x, rec, name, len, &w);
    if (node == OC_NONE)
        return false;
    bool type = w & 12, scope = w & 16;
    if (!type && !scope)
        return false;
    oc_match_core(x, rec, node, rule, confidence * (type ? 1 : 0.7) * (scope ? 1 : 0.8));
    return true;
}

static bool take_output(struct oc_matcher *x, uint32_t rec, const char *name, size_t len, double confidence)
{
    uint32_t found = OC_NONE, tries = 0;
    const uint32_t *next;
    int best = 0;
    for (uint32_t v = oc_index_value(&x->x, name, len, &next); v != OC_NONE && tries < MAX_SAME_NAME;
         v = next ? next[v] : OC_NONE, tries++) {
        uint32_t node = x->m->value[v].producer;
        int w = node == OC_NONE ? 0 : score_candidate(x, rec, node);
        if (w > best) {
            best = w;
            found = node;
        }
    }
    if (found == OC_NONE)
        return false;
    oc_match_core(x, rec, found, "output tensor", confidence * (best & 16 ? 1 : 0.8));
    return true;
}

/* ---- generated names -------------------------------------------------------------------------------- */

enum of { NODE, OUTPUT, PRODUCT, NOTHING };

/* Names that ONNX Runtime's graph transformers generate: text before and after the name of a node or tensor.
 * GenerateNodeName appends "_token_<n>" to a name that is taken; an unnamed node leaves only the texts. */
static const struct generated {
    const char *before, *after;
    uint8_t of;       /* NODE; OUTPUT: its output tensor; PRODUCT: of a node that became a convolution */
    const char *type; /* PRODUCT: type of that node */
    const char *as;   /* fusion pattern (match_group.c), NULL: that of the record's type */
    const char *source, *versions; /* below onnxruntime/core/optimizer; src/doc/runtime-names.md lists them */
} generated[] = {
    {"fused ", "", NODE, NULL, NULL, "gemm_activation_fusion.cc, conv_activation_fusion.cc",
     "seen in 1.30; of Conv up to 1.10"},
    {"", "_FusedMatMulAndScale", NODE, NULL, NULL, "matmul_scale_fusion.cc", "from the source"},
    {"", "_FusedActivation", NODE, NULL, NULL, "matmul_activation_fusion.cc", "in the library 1.30"},
    {"", "_sum_transformed", NODE, NULL, NULL, "gemm_sum_fusion.cc",
     "from the source; before /GemmSumFusion"},
    {"", "_transformed", NODE, NULL, NULL, "gemm_transpose_fusion.cc",
     "from the source; before /GemmTransposeFusion"},
    {"", "_nhwc", NODE, NULL, NULL, "nhwc_transformer.cc", "up to 1.13"},
    {"", "_new_reshape", NODE, NULL, "FusedReshape", "reshape_fusion.cc", "seen in 1.30"},
    {"", "_bn_nchwc", PRODUCT, "BatchNormalization", "BlockedProduct", "nchwc_transformer.cc",
     "seen in 1.30"},
    {"", "_mul_nchwc", PRODUCT, "Mul", "BlockedProduct", "nchwc_transformer.cc", "seen in 1.30"},
    {"", "_pre_q_nchwc", OUTPUT, NULL, "FusedConv",
     "nchwc_transformer.cc after qdq_transformer/qdq_propagation.cc", "in the library 1.30"},
    {"", "_nchwc", OUTPUT, NULL, "FusedConv", "nchwc_transformer.cc", "seen in 1.30"},
    {"gemm", "", NOTHING, NULL, NULL, "matmul_add_fusion.cc", "up to 1.18"},
    {"MatMulBnFusion_Gemm", "", NOTHING, NULL, NULL, "matmul_bn_fusion.cc", "in the library 1.30"},
    {"MatMul_With_Scale", "", NOTHING, NULL, NULL, "matmul_scale_fusion.cc", "before _FusedMatMulAndScale"},
    {"matmul_bias", "", NOTHING, NULL, NULL, "fusion to MatMulBias", "not known"},
};

/* Length without "_token_<n>". */
static size_t without_token(const char *name, size_t len)
{
    size_t digits = 0;
    while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
        digits++;
    size_t rest = len - digits;
    return digits && rest >= 7 && memcmp(name + rest - 7, "_token_", 7) == 0 ? rest - 7 : len;
}

static bool has_form(const struct generated *g, const char *name, size_t len, struct oc_str *stem)
{
    size_t before = strlen(g->before), after = strlen(g->after);
    if (len < before + after || strncmp(name, g->before, before) != 0 ||
        !oc_str_ends(oc_str(name + before, len - before), g->after))
        return false;
    *stem = (struct oc_str){name + before, len - before - after};
    return true;
}

const char *oc_match_as_product(const char *name, size_t *n)
{
    struct oc_str stem;
    for (size_t i = 0; i < OC_COUNT(generated); i++)
        if (generated[i].of == PRODUCT && has_form(&generated[i], name, strlen(name), &stem)) {
            *n = stem.n;
            return generated[i].type;
        }
    return NULL;
}

/* "<node>/<X>Fusion" with or without a slash at the end: length of <node>, 0 if it has another form. */
static size_t fusion_stem(const char *s, size_t len)
{
    if (len && s[len - 1] == '/')
        len--;
    if (!oc_str_ends(oc_str(s, len), "Fusion"))
        return 0;
    while (len > 0 && s[len - 1] != '/')
        len--;
    return len ? len - 1 : 0;
}

/* The text after the last "__Inline_<k>__"; NULL: not inlined. */
static const char *inlined_name(const char *s)
{
    const char *rest = NULL;
    for (const char *at = s; (at = strstr(at, "__Inline_")) != NULL;) {
        const char *digit = at + 9, *end = digit + strspn(digit, "0123456789");
        at += 9;
        if (end > digit && strncmp(end, "__", 2) == 0)
            rest = end + 2;
    }
    return rest;
}

/* "<node>_token_<n>": a node created again in another layout (QLinearConv in NHWC). A name that contains
 * only the type is an inserted node. */
static bool take_renamed(struct oc_matcher *x, uint32_t rec, const char *name, double confidence)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    const char *token = strstr(name, "_token_");
    size_t n = token ? (size_t)(token - name) : 0;
    if (!n || !token[7] || token[7 + strspn(token + 7, "0123456789")] ||
        (strlen(r->op_type) == n && memcmp(name, r->op_type, n) == 0))
        return false;
    uint32_t node = oc_match_node_named(x, rec, name, n);
    return node != OC_NONE && x->owner[node] == OC_NONE &&
           oc_match_made_of(r->op_type, x->m->node[node].op_type) &&
           take_node(x, rec, name, n, "fused name", 0.9 * confidence);
}

/* A BatchNormalization or a product with constants that cannot be fused into a convolution becomes a
 * depthwise convolution in the blocked layout. */
static bool take_product(struct oc_matcher *x, uint32_t rec, struct oc_str tensor, const char *type,
                         double confidence)
{
    const uint32_t *next;
    for (uint32_t v = oc_index_value(&x->x, tensor.s, tensor.n, &next); v != OC_NONE;
         v = next ? next[v] : OC_NONE) {
        uint32_t node = x->m->value[v].producer;
        if (node == OC_NONE || !oc_equal(x->m->node[node].op_type, type) ||
            !oc_match_in_scope(x, rec, x->m->node[node].graph))
            continue;
        oc_match_core(x, rec, node, "fused name", 0.95 * confidence);
        return true;
    }
    return false;
}

static bool take_generated(struct oc_matcher *x, uint32_t rec, const char *name, size_t len,
                           double confidence)
{
    struct oc_str stem;
    size_t node = fusion_stem(name, len);
    for (size_t i = 0; i < OC_COUNT(generated); i++) {
        const struct generated *g = &generated[i];
        if (!has_form(g, name, len, &stem) || !stem.n)
            continue;
        if ((g->of == NODE && (take_node(x, rec, stem.s, stem.n, "fused name", 0.95 * confidence) ||
                               take_generated(x, rec, stem.s, stem.n, 0.95 * confidence))) ||
            (g->of == OUTPUT && take_output(x, rec, stem.s, stem.n, 0.95 * confidence)) ||
            (g->of == PRODUCT && take_product(x, rec, stem, g->type, confidence))) {
            if (g->as && (g->of != OUTPUT || oc_equal(x->p->rec[rec].op_type, "Conv")))
                x->match[rec].as = g->as;
            return true;
        }
    }
    return node && (take_node(x, rec, name, node, "fused name", 0.9 * confidence) ||
                    take_generated(x, rec, name, node, 0.9 * confidence));
}

static bool says_nothing(const char *name, size_t len)
{
    struct oc_str stem;
    len = without_token(name, len);
    if (len && name[0] == '/' && oc_str_ends(oc_str(name, len), "Fusion"))
        return true;
    for (size_t i = 0; i < OC_COUNT(generated); i++)
        if (has_form(&generated[i], name, len, &stem) &&
            (!stem.n || (generated[i].of == NODE && says_nothing(stem.s, stem.n))))
            return true;
    return false;
}

bool oc_match_says_nothing(const char *name)
{
    return says_nothing(name, strlen(name));
}

static bool by_plain_name(struct oc_matcher *x, uint32_t rec, const char *name, double confidence)
{
    size_t len = strlen(name), unique = without_token(name, len);
    if (take_node(x, rec, name, len, confidence < 1 ? "inlined name" : "name", confidence))
        return true;
    if (take_generated(x, rec, name, len, confidence) || take_renamed(x, rec, name, confidence))
        return true;
    if (unique < len && take_generated(x, rec, name, unique, 0.9 * confidence))
        return true;
    return take_output(x, rec, name, len, 0.9 * confidence);
}

uint32_t oc_match_by_plain_name(struct oc_matcher *x, uint32_t rec)
{
    struct oc_match *m = &x->match[rec], before = *m;
    uint32_t node = by_plain_name(x, rec, x->p->rec[rec].name, 1) ? m->core : OC_NONE;
    for (uint32_t i = 0; i < m->n_node; i++)
        x->owner[m->node[i]] = OC_NONE;
    *m = before;
    return node;
}

/* If a provider computes in float32 what the model has in float16, tensors get this prefix, and nodes that
 * are named after their outputs. */
const char *oc_match_without_cast(const char *name)
{
    static const char mark[] = "InsertedPrecisionFreeCast_";
    return strncmp(name, mark, sizeof(mark) - 1) ? NULL : name + sizeof(mark) - 1;
}

bool oc_match_by_name(struct oc_matcher *x, uint32_t rec)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    if (by_plain_name(x, rec, r->name, 1))
        return true;
    const char *made = oc_equal(r->op_type, "Cast") ? NULL : oc_match_without_cast(r->name);
    if (made && by_plain_name(x, rec, made, 0.95))
        return true;
    const char *inner = inlined_name(r->name);
    if (inner && by_plain_name(x, rec, inner, 0.9))
        return true;
    return oc_match_by_index(x, rec) || oc_match_by_body(x, rec);
}

/* ---- nodes inserted by the optimizer ---------------------------------------------------------------- */

static bool is_token(const char *name)
{
    const char *at = strstr(name, "_token_");
    return at && at[7] && at[7 + strspn(at + 7, "0123456789")] == '\0';
}

bool oc_match_inserted(const char *name, const char *op_type)
{
    static const char *const made[] = {"gemm_input_reshape",
                                       "gemm_output_reshape"}; /* around a Gemm of MatMul */
    for (size_t i = 0; i < OC_COUNT(made); i++)
        if (strncmp(name, made[i], strlen(made[i])) == 0)
            return true;
    static const struct {
        const char *type, *after;
    } around[] = {{"QuantizeLinear", "_q"}, {"DequantizeLinear", "_dq"}}; /* QDQPropagation: of tensors */
    if (oc_match_without_cast(name))
        return oc_equal(op_type, "Cast");
    for (size_t i = 0; i < OC_COUNT(around); i++)
        if (oc_equal(op_type, around[i].type) &&
            oc_str_ends(oc_str(name, without_token(name, strlen(name))), around[i].after))
            return true;
    /* "<DequantizeLinear>/duplicated": one copy per consumer */
    return is_token(name) || oc_equal(name, op_type) || strncmp(name, "Inserted", 8) == 0 ||
           strstr(name, "/duplicated");
}

/* Part of a training step: the model has only the forward pass. */
static bool is_training(const struct oc_prof_rec *r)
{
    static const char *const mark[] = {"_backward", "Backward", "_grad", "Grad", "optimizer", "Optimizer"};
    for (size_t i = 0; i < OC_COUNT(mark); i++)
        if (strstr(r->name, mark[i]) || strstr(r->op_type, mark[i]))
            return true;
    return false;
}

/* Between NCHW and the blocked layout NCHWc, whose last dimension is the block: such a view moves no bytes
 * and exists only for the layout. */
static bool is_blocked_view(const struct oc_prof_rec *r)
{
    if (!oc_equal(r->op_type, "Reshape") || !r->has_in || !r->has_out || !r->n_in || !r->n_out)
        return false;
    const struct oc_shape *in = &r->in[0].shape, *out = &r->out[0].shape;
    if (!in->ranked || !out->ranked || in->rank + out->rank != 9 || in->rank < 4 || out->rank < 4)
        return false;
    const struct oc_shape *blocked = in->rank == 5 ? in : out, *plain = in->rank == 5 ? out : in;
    int64_t block = blocked->dim[4].v, n = 1, m = 1;
    for (unsigned i = 0; i < 5; i++)
        if (!oc_is_known(blocked->dim[i]) || __builtin_mul_overflow(n, blocked->dim[i].v, &n))
            return false;
    for (unsigned i = 0; i < 4; i++)
        if (!oc_is_known(plain->dim[i]) || __builtin_mul_overflow(m, plain->dim[i].v, &m))
            return false;
    /* [N, C / block, H, W, block] and [N, C, H, W]: heights and widths are equal */
    for (unsigned i = 2; i < 4; i++)
        if (blocked->dim[i].v != plain->dim[i].v)
            return false;
    return n == m && (block == 4 || block == 8 || block == 16 || block == 32);
}

void oc_match_overhead(struct oc_matcher *x, uint32_t rec)
{
    const struct oc_prof_rec *r = &x->p->rec[rec];
    struct oc_match *m = &x->match[rec];
    bool inserted = oc_match_inserted(r->name, r->op_type) && oc_equal(x->p->format, "onnxruntime");
    if (oc_equal(r->op_type, "ReorderInput") || oc_equal(r->op_type, "ReorderOutput"))
        /* NOLINTNEXTLINE(bugprone-branch-clone): the order of the conditions matters */
        m->bucket = "layout";
    else if (strncmp(r->op_type, "Memcpy", 6) == 0)
        m->bucket = "copies";
    else if (inserted && oc_equal(r->op_type, "Cast"))
        m->bucket = "casts";
    else if (inserted && (oc_equal(r->op_type, "Transpose") || is_blocked_view(r)))
        m->bucket = "layout";
    else if (!oc_equal(x->p->format, "onnxruntime") && is_training(r))
        m->bucket = "training";
    else
        m->bucket = inserted ? "inserted" : "unmatched";
}
