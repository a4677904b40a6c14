/* Matching by names of nodes and of tensors. */
#include <string.h>

#include "base/str.h"
#include "join/expansion.h"
#include "join/join.h"

/* Names of ONNX Runtime's events and the nodes they refer to (profile-formats 2.4): the node's own name, or
 * one that a graph transformer generates (table `generated`), a name in an inlined branch or function
 * (graph_index.c), or <OpType>_<index>. */

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
        {"Slice", "Gather"},
        {"Split", "Gather"},
        {"Split", "Slice"},
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

/* The runtime replaces calls of functions by their bodies, and an If with a constant condition by its branch.
 */
static bool is_inlined(const struct oc_matcher *x, const struct oc_node *n)
{
    uint32_t v = n->n_in ? n->in[0] : OC_NONE, from;
    if (n->kind == OC_NODE_CALL)
        return true;
    if (!oc_equal(n->op_type, "If") || v == OC_NONE)
        return false;
    from = x->m->value[v].producer;
    return from == OC_NONE ? x->m->value[v].constant != NULL : !oc_match_runs(x, from);
}

bool oc_match_in_scope(const struct oc_matcher *x, uint32_t rec, uint32_t graph)
{
    const struct oc_model *m = x->m;
    uint32_t outer = x->p->rec[rec].parent, parent;
    const struct oc_match *o = outer == OC_NONE ? NULL : &x->match[outer];
    if (o && !o->n_node)
        return true;
    while ((parent = m->graph[graph].parent_node) != OC_NONE) {
        for (uint32_t i = 0; o && i < o->n_node; i++)
            if (o->node[i] == parent)
                return oc_match_in_branch(x, outer, parent, graph);
        if (!is_inlined(x, &m->node[parent]))
            return false;
        graph = m->node[parent].graph;
    }
    return !o;
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

/* The k-th result of a body that runs, OC_NONE: a result that no node of it computes. */
static uint32_t body_result(const struct oc_matcher *x, uint32_t graph, uint32_t k)
{
    const struct oc_graph *g = &x->m->graph[graph];
    uint32_t v = k < g->n_output ? g->output[k] : OC_NONE, from = v == OC_NONE ? v : x->m->value[v].producer;
    return from != OC_NONE && oc_match_runs(x, from) ? v : OC_NONE;
}

/* The node that computes the value: of an inlined If or call, a node of the body. */
uint32_t oc_match_producer(const struct oc_matcher *x, uint32_t value)
{
    uint32_t inner = value, k;
    do {
        uint32_t from = x->m->value[value = inner].producer;
        const struct oc_node *n = from == OC_NONE ? NULL : &x->m->node[from];
        if (!n || !is_inlined(x, n))
            break;
        for (k = 0; k < n->n_out && n->out[k] != value; k++)
            ;
        inner = n->body == OC_NONE ? OC_NONE : body_result(x, n->body, k);
        for (uint32_t i = 0; i < n->n_attr && inner == OC_NONE; i++)
            if (n->attr[i].graph && n->attr[i].n)
                inner = body_result(x, n->attr[i].graph[0], k);
    } while (inner != OC_NONE);
    return x->m->value[value].producer;
}

static bool take_output(struct oc_matcher *x, uint32_t rec, const char *name, size_t len, double confidence)
{
    uint32_t found = OC_NONE, tries = 0;
    const uint32_t *next;
    int best = 0;
    for (uint32_t v = oc_index_value(&x->x, name, len, &next); v != OC_NONE && tries < MAX_SAME_NAME;
         v = next ? next[v] : OC_NONE, tries++) {
        uint32_t node = oc_match_producer(x, v);
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

/* What a name is made of. INSERTED_*: of a node without work of the model. */
enum of {
    NODE,
    NODE_NODE, /* a convolution and its activation */
    OUTPUT,    /* the node's output tensor */
    PRODUCT,   /* that of a node that became a convolution */
    NOTHING,
    BRANCH, /* the operator type of a node in a branch */
    BODY,   /* graph_index.c */
    INSERTED,
    INSERTED_NODE,
    INSERTED_TENSOR,
    INSERTED_TYPE /* the operator type */
};

/* Names that ONNX Runtime's graph transformers generate: text before and after the name of a node or tensor.
 * GenerateNodeName appends "_token_<n>" to a name that is taken; an unnamed node leaves only the texts. A
 * slash at the end is not compared: versions differ. */
static const struct generated {
    const char *before, *after;
    uint8_t of;
    const char *type;              /* PRODUCT: of that node; INSERTED: of the record; NULL: any */
    const char *as;                /* fusion pattern (match_group.c), NULL: that of the record's type */
    const char *source, *versions; /* below onnxruntime/core/optimizer; src/doc/runtime-names.md lists them */
} generated[] = {
    {"fused ", "", NODE, NULL, NULL, "gemm_activation_fusion.cc, conv_activation_fusion.cc",
     "0.3 and later; of Conv to 1.10; seen in 1.30"},
    {"", "/MatMulAddFusion", NODE, NULL, NULL, "matmul_add_fusion.cc", "1.19 and later; seen in 1.30"},
    {"", "/MatMulScaleFusion", NODE, NULL, NULL, "matmul_scale_fusion.cc", "1.18 and later; seen in 1.30"},
    {"", "/MatmulTransposeFusion", NODE, NULL, NULL, "matmul_transpose_fusion.cc",
     "1.18 and later; seen in 1.30"},
    {"", "/GemmSumFusion", NODE, NULL, "GemmSum", "gemm_sum_fusion.cc", "1.19 and later; seen in 1.30"},
    {"", "/GemmTransposeFusion", NODE, NULL, NULL, "gemm_transpose_fusion.cc",
     "1.18 and later; seen in 1.30"},
    {"", "/LayerNormFusion", NODE, NULL, NULL, "layer_norm_fusion.cc", "1.18 and later; seen in 1.30"},
    {"", "/SimplifiedLayerNormFusion", NODE, NULL, NULL, "layer_norm_fusion.cc",
     "1.18 and later; seen in 1.30"},
    {"", "/QuickGeluFusion", NODE, NULL, NULL, "quick_gelu_fusion.cc", "1.18 and later; seen in 1.30"},
    {"", "/GatherSliceToSplitFusion", NODE, NULL, NULL, "gather_fusion.cc", "1.18 and later; seen in 1.30"},
    {"", "/MobileClipProjectionGemm", NODE, NULL, NULL, "attention_fusion.cc",
     "1.25 and later; from the source"},
    {"", "_qknorm", NODE, NULL, NULL, "group_query_attention_pre_norm_fusion.cc",
     "1.28 and later; CUDA, WebGPU; from the source"},
    {"", "_replace", NODE, NULL, NULL, "propagate_cast_ops.cc",
     "1.7 and later; if configured; from the source"},
    {"", "_FusedMatMulAndScale", NODE, NULL, NULL, "matmul_scale_fusion.cc", "1.4 to 1.17; from the source"},
    {"", "_FusedActivation", NODE, NULL, NULL, "matmul_activation_fusion.cc",
     "1.15 and later; DirectML; from the source"},
    {"", "_sum_transformed", NODE, NULL, "GemmSum", "gemm_sum_fusion.cc", "1.10 to 1.18; from the source"},
    {"", "_transformed", NODE, NULL, NULL, "matmul_transpose_fusion.cc, gemm_transpose_fusion.cc",
     "1.7 and later; of Gemm to 1.17; from the source"},
    {"", "_new_reshape", NODE, NULL, "FusedReshape", "reshape_fusion.cc", "1.21 and later; seen in 1.30"},
    {"", "_", NODE_NODE, NULL, NULL, "conv_activation_fusion.cc", "1.6 to 1.10; CUDA; from the source"},
    {"", "_bn_nchwc", PRODUCT, "BatchNormalization", "BlockedProduct", "nchwc_transformer.cc",
     "1.1 and later; seen in 1.30"},
    {"", "_mul_nchwc", PRODUCT, "Mul", "BlockedProduct", "nchwc_transformer.cc",
     "1.25 and later; seen in 1.30"},
    {"", "_pre_q_nchwc", OUTPUT, NULL, "FusedConv",
     "nchwc_transformer.cc after qdq_transformer/qdq_propagation.cc", "1.11 and later; seen in 1.30"},
    {"", "_nchwc", OUTPUT, NULL, "FusedConv", "nchwc_transformer.cc", "0.4 and later; seen in 1.30"},
    {"", "_nhwc", OUTPUT, NULL, NULL, "nhwc_transformer.cc", "1.5 to 1.9; from the source"},
    {"gemm", "", NOTHING, NULL, NULL, "matmul_add_fusion.cc", "0.3 to 1.18; from the source"},
    {"MatMulBnFusion_Gemm", "", NOTHING, NULL, NULL, "matmul_bn_fusion.cc", "1.17 and later; seen in 1.30"},
    {"MatMul_With_Transpose", "", NOTHING, NULL, NULL, "matmul_transpose_fusion.cc",
     "1.2 to 1.17; from the source"},
    {"MatMul", "", NOTHING, NULL, NULL, "group_query_attention_fusion.cc",
     "1.22 and later; CUDA; from the source"},
    {"MatMulNBits", "", NOTHING, NULL, NULL, "group_query_attention_fusion.cc",
     "1.22 and later; CUDA; from the source"},
    {"DQFusedMatMulNBits", "", NOTHING, NULL, NULL, "dq_matmulnbits_fusion.cc",
     "1.25 and later; from the source"},
    {"DirectDQFusedMatMulNBits", "", NOTHING, NULL, NULL, "dq_matmulnbits_fusion.cc",
     "1.25 and later; from the source"},
    {"MatMulNBitsQkv", "", NOTHING, NULL, NULL, "matmul_nbits_qkv_fusion.cc",
     "1.27 and later; WebGPU; from the source"},
    {"MatMulNBitsMlp", "", NOTHING, NULL, NULL, "matmul_nbits_mlp_fusion.cc",
     "1.27 and later; WebGPU; from the source"},
    {"DynamicQuantizeMatMul", "", NOTHING, NULL, NULL, "dynamic_quantize_matmul_fusion.cc",
     "1.4; from the source"},
    {"Attention", "", NOTHING, NULL, NULL, "attention_fusion.cc, attention_fusion_helper.h",
     "1.0 and later; from the source"},
    {"MobileClipMultiHeadAttention", "", NOTHING, NULL, NULL, "attention_fusion.cc",
     "1.25 and later; from the source"},
    {"EmbedLayerNormalization", "", NOTHING, NULL, NULL, "embed_layer_norm_fusion.cc",
     "1.0 and later; from the source"},
    {"SkipLayerNormalization", "", NOTHING, NULL, NULL,
     "skip_layer_norm_fusion.cc, bias_skip_layer_norm_fusion.cc", "1.0 and later; seen in 1.30"},
    {"LayerNormalization", "", NOTHING, NULL, NULL, "layer_norm_fusion.cc", "1.0 to 1.17; from the source"},
    {"SimplifiedLayerNormalization", "", NOTHING, NULL, NULL, "layer_norm_fusion.cc",
     "1.5 to 1.17; from the source"},
    {"Gelu", "", NOTHING, NULL, NULL, "gelu_fusion.cc", "0.5 and later; seen in 1.30"},
    {"BiasGelu", "", NOTHING, NULL, NULL, "bias_gelu_fusion.cc", "1.0 and later; seen in 1.30"},
    {"FastGelu", "", NOTHING, NULL, NULL, "gelu_approximation.cc", "1.0 and later; from the source"},
    {"GPT2Gelu", "", NOTHING, NULL, NULL, "fast_gelu_fusion.cc", "1.1 and later; seen in 1.30"},
    {"QuickGelu", "", NOTHING, NULL, NULL, "quick_gelu_fusion.cc", "1.14 to 1.17; from the source"},
    {"BiasSoftmax", "", NOTHING, NULL, NULL, "bias_softmax_fusion.cc",
     "1.5 and later; CUDA; from the source"},
    {"BiasDropout", "", NOTHING, NULL, NULL, "bias_dropout_fusion.cc",
     "1.7 and later; CUDA; from the source"},
    {"SpaceToDepth", "", NOTHING, NULL, NULL, "slice_concat_to_space_to_depth_fusion.cc",
     "1.25 and later; seen in 1.30"},
    {"Slice", "", NOTHING, NULL, NULL, "gather_fusion.cc", "1.14 and later; seen in 1.30"},
    {"_if_then_branch_", "", BRANCH, NULL, NULL, "../graph/graph.cc", "1.17 and later; seen in 1.30"},
    {"_if_else_branch_", "", BRANCH, NULL, NULL, "../graph/graph.cc", "1.17 and later; seen in 1.30"},
    {"_inlfunc_", "", BODY, NULL, NULL, "../graph/function_utils.cc", "1.17 and later; seen in 1.30"},
    {"_inline_", "", BODY, NULL, NULL, "../graph/graph.cc", "to 1.16; seen in 1.16"},
    {"Memcpy", "", INSERTED, NULL, NULL, "transformer_memcpy.cc",
     "0.3 and later; not on CPU; from the source"},
    {"ReorderInput", "", INSERTED, NULL, NULL, "nchwc_transformer.cc, nhwc_transformer.cc",
     "0.4 and later; seen in 1.30"},
    {"ReorderOutput", "", INSERTED, NULL, NULL, "nchwc_transformer.cc, nhwc_transformer.cc",
     "0.4 and later; seen in 1.30"},
    {"InsertedPrecisionFreeCast_", "", INSERTED_TENSOR, "Cast", NULL, "insert_cast_transformer.cc",
     "1.17 and later; seen in 1.30"},
    {"InsertedCast_", "", INSERTED_TENSOR, "Cast", NULL, "insert_cast_transformer.cc",
     "1.8 to 1.16; from the source"},
    {"Inserted_Cast", "", INSERTED, "Cast", NULL, "insert_cast_transformer.cc",
     "1.4 to 1.7; from the source"},
    {"CastDef_", "", INSERTED, "Cast", NULL, "insert_cast_transformer.cc", "0.3 to 1.3; from the source"},
    {"", "_cast", INSERTED_TENSOR, "Cast", NULL, "propagate_cast_ops.cc",
     "1.7 and later; if configured; from the source"},
    {"", "_identity", INSERTED_NODE, "Identity", NULL, "propagate_cast_ops.cc",
     "1.7 and later; if configured; from the source"},
    {"", "_Cast", INSERTED_TENSOR, "Cast", NULL, "embed_layer_norm_fusion.cc, skip_layer_norm_fusion.cc",
     "1.0 and later; from the source"},
    {"MaskCast", "", INSERTED, "Cast", NULL, "attention_fusion_helper.h", "1.0 and later; from the source"},
    {"Cast_Scale", "", INSERTED, "Cast", NULL, "layer_norm_fusion.cc", "1.7 to 1.11; from the source"},
    {"gemm_input_reshape", "", INSERTED, "Reshape", NULL, "matmul_add_fusion.cc",
     "1.21 and later; seen in 1.30"},
    {"gemm_output_reshape", "", INSERTED, "Reshape", NULL, "matmul_add_fusion.cc",
     "1.21 and later; seen in 1.30"},
    {"MobileClipProjGemmInputReshape", "", INSERTED, "Reshape", NULL, "attention_fusion.cc",
     "1.25 and later; from the source"},
    {"MobileClipProjGemmOutputReshape", "", INSERTED, "Reshape", NULL, "attention_fusion.cc",
     "1.25 and later; from the source"},
    {"MobileClipSplitForMHA", "", INSERTED, "Split", NULL, "attention_fusion.cc",
     "1.25 and later; from the source"},
    {"Split", "", INSERTED, "Split", NULL, "gather_fusion.cc", "1.13 to 1.17; from the source"},
    {"Squeeze", "", INSERTED, "Squeeze", NULL, "gather_fusion.cc", "1.13 and later; seen in 1.30"},
    {"Unsqueeze_", "", INSERTED, "Unsqueeze", NULL, "gather_fusion.cc", "1.14 and later; seen in 1.30"},
    {"", "_weight_q", INSERTED_NODE, "QuantizeLinear", NULL, "qdq_transformer/weight_bias_quantization.cc",
     "1.21 and later; from the source"},
    {"", "_weight_dq", INSERTED_NODE, "DequantizeLinear", NULL, "qdq_transformer/weight_bias_quantization.cc",
     "1.21 and later; from the source"},
    {"", "_bias_dq", INSERTED_NODE, "DequantizeLinear", NULL, "qdq_transformer/weight_bias_quantization.cc",
     "1.21 and later; seen in 1.30"},
    {"", "_dummy_dq", INSERTED_NODE, "DequantizeLinear", NULL, "qdq_transformer/where_dummy_dq.cc",
     "1.23 and later; from the source"},
    {"", "_scale", INSERTED_NODE, "Mul", NULL, "qdq_transformer/weight_bias_quantization.cc",
     "1.21 and later; seen in 1.30"},
    {"", "_bias_div", INSERTED_NODE, "Div", NULL, "qdq_transformer/weight_bias_quantization.cc",
     "1.21 and later; seen in 1.30"},
    {"", "_bias_div_round", INSERTED_NODE, "Round", NULL, "qdq_transformer/weight_bias_quantization.cc",
     "1.21 and later; seen in 1.30"},
    {"", "_bias_int32", INSERTED_NODE, "Cast", NULL, "qdq_transformer/weight_bias_quantization.cc",
     "1.21 and later; seen in 1.30"},
    {"", "_q", INSERTED_TENSOR, "QuantizeLinear", NULL, "qdq_transformer/qdq_propagation.cc",
     "1.11 and later; seen in 1.30"},
    {"", "_dq", INSERTED_TENSOR, "DequantizeLinear", NULL, "qdq_transformer/qdq_propagation.cc",
     "1.11 and later; seen in 1.30"},
    {"", "/duplicated", INSERTED_NODE, "DequantizeLinear", NULL,
     "qdq_transformer/ensure_unique_dq_for_node_unit.cc", "1.15 and later; seen in 1.30"},
    {"QDQFinalCleanupTransformer", "", INSERTED, "Identity", NULL, "qdq_transformer/qdq_final_cleanup.cc",
     "1.11 and later; from the source"},
    {"", "", INSERTED_TYPE, NULL, NULL,
     "transpose_optimization/onnx_transpose_optimization.cc, stft_decomposition.cc",
     "1.10 and later; seen in 1.30"},
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

static struct oc_str without_slash(struct oc_str s)
{
    s.n -= oc_str_ends(s, "/");
    return s;
}

static bool has_form(const struct generated *g, const char *name, size_t len, struct oc_str *stem)
{
    size_t before = strlen(g->before), after = strlen(g->after);
    *stem = g->after[0] == '/' ? without_slash(oc_str(name, len)) : oc_str(name, len);
    if (stem->n < before + after || !oc_str_starts(*stem, g->before) || !oc_str_ends(*stem, g->after))
        return false;
    *stem = oc_str(name + before, stem->n - before - after);
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

/* "<node>/<X>Fusion" for every X, with or without a slash at the end: length of <node>, 0 if it has another
 * form. */
static size_t fusion_stem(const char *s, size_t len)
{
    len = without_slash(oc_str(s, len)).n;
    if (!oc_str_ends(oc_str(s, len), "Fusion"))
        return 0;
    while (len > 0 && s[len - 1] != '/')
        len--;
    return len ? len - 1 : 0;
}

static const char *behind_number(const char *s, const char *after)
{
    const char *end = s + strspn(s, "0123456789");
    return end > s && strncmp(end, after, strlen(after)) == 0 ? end + strlen(after) : NULL;
}

/* The text after the last "__Inline_<k>__", or after "_if_then_branch_" if it begins with the name of a
 * tensor; NULL: not inlined. */
static const char *inlined_name(const char *s)
{
    const char *rest = NULL, *inner;
    struct oc_str stem, name = oc_str(s, without_token(s, strlen(s)));
    for (const char *at = s; (at = strstr(at, "__Inline_")) != NULL;)
        if ((inner = behind_number(at += 9, "__")) != NULL)
            rest = inner;
    for (size_t i = 0; i < OC_COUNT(generated) && oc_str_ends(name, "_nchwc"); i++)
        if (generated[i].of == BRANCH && has_form(&generated[i], s, strlen(s), &stem)) {
            inner = oc_str_starts(stem, "token_") ? behind_number(stem.s + 6, "_") : NULL;
            return inner ? inner : stem.s;
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

/* "<convolution>_<activation>", "<convolution>_<sum>_<activation>": the longest name of a convolution. */
static bool take_pair(struct oc_matcher *x, uint32_t rec, const char *name, size_t len, double confidence)
{
    for (; len; len--) {
        uint32_t node = name[len - 1] == '_' ? oc_match_node_named(x, rec, name, len - 1) : OC_NONE;
        if (node != OC_NONE && oc_equal(x->m->node[node].op_type, "Conv"))
            return take_node(x, rec, name, len - 1, "fused name", 0.9 * confidence);
    }
    return false;
}

static bool take_generated(struct oc_matcher *x, uint32_t rec, const char *name, size_t len,
                           double confidence);

static bool take_form(struct oc_matcher *x, uint32_t rec, const struct generated *g, struct oc_str stem,
                      double confidence)
{
    double less = (g->after[0] == '/' ? 0.9 : 0.95) * confidence;
    switch (g->of) {
    case NODE:
        return take_node(x, rec, stem.s, stem.n, "fused name", less) ||
               take_generated(x, rec, stem.s, stem.n, less);
    case OUTPUT:
        return take_output(x, rec, stem.s, stem.n, less);
    case PRODUCT:
        return take_product(x, rec, stem, g->type, confidence);
    default:
        return false;
    }
}

static bool take_generated(struct oc_matcher *x, uint32_t rec, const char *name, size_t len,
                           double confidence)
{
    struct oc_str stem;
    size_t node = fusion_stem(name, len);
    for (size_t i = 0; i < OC_COUNT(generated); i++) {
        const struct generated *g = &generated[i];
        if (!has_form(g, name, len, &stem) || !stem.n || !take_form(x, rec, g, stem, confidence))
            continue;
        if (g->as && (g->of != OUTPUT || oc_equal(x->p->rec[rec].op_type, "Conv")))
            x->match[rec].as = g->as;
        return true;
    }
    if (oc_equal(x->p->rec[rec].op_type, "FusedConv") && take_pair(x, rec, name, len, confidence))
        return true;
    return node && (take_node(x, rec, name, node, "fused name", 0.9 * confidence) ||
                    take_generated(x, rec, name, node, 0.9 * confidence));
}

static bool says_nothing(const char *name, size_t len)
{
    struct oc_str stem;
    len = without_token(name, len);
    if (!len) /* "_token_<n>": an unnamed node in another layout */
        return name[0] != '\0';
    if (name[0] == '/' && oc_str_ends(without_slash(oc_str(name, len)), "Fusion"))
        return true;
    for (size_t i = 0; i < OC_COUNT(generated); i++) {
        const struct generated *g = &generated[i];
        if (g->of <= BRANCH && has_form(g, name, len, &stem) &&
            (g->of == BRANCH ||
             (stem.n ? g->of == NODE && says_nothing(stem.s, stem.n) : g->of == NODE || g->of == NOTHING)))
            return true;
    }
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
    oc_match_drop(x, rec);
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

/* A name without a stem, or a number alone, says only that the runtime made the node. Nodes of these types
 * convert the representation of the same numbers (Gather: the order of dimensions); others compute something.
 */
#define CONVERSIONS                                                                                          \
    " Cast DequantizeLinear Gather Identity QuantizeLinear Reshape Split Squeeze Transpose Unsqueeze "

/* `name` without its number, with the texts of the row. */
static bool is_made_as(const struct generated *g, struct oc_str name, const char *op_type)
{
    struct oc_str stem;
    if (g->of < INSERTED || (g->type && !oc_equal(g->type, op_type)) || !has_form(g, name.s, name.n, &stem))
        return false;
    if (g->of == INSERTED_TYPE)
        return oc_str_eq(stem, op_type) && oc_type_set_has(CONVERSIONS, op_type);
    return g->of != INSERTED || stem.n == 0;
}

bool oc_match_inserted(const char *name, const char *op_type)
{
    struct oc_str s = oc_str(name, without_token(name, strlen(name)));
    /* also "gemm_output_reshape_new_reshape"; an unnamed Reshape that is fused with the one before a Gemm */
    if (strncmp(name, "gemm_output_reshape", 19) == 0 || strncmp(name, "_new_reshape", 12) == 0)
        return oc_equal(op_type, "Reshape");
    if (s.n < strlen(name) && !oc_match_without_cast(name) && oc_type_set_has(CONVERSIONS, op_type))
        return true;
    while (s.n && name[s.n - 1] >= '0' && name[s.n - 1] <= '9') /* "Unsqueeze_0", "<tensor>_dq1" */
        s.n--;
    for (size_t i = 0; i < OC_COUNT(generated); i++)
        if (is_made_as(&generated[i], s, op_type) ||
            is_made_as(&generated[i], oc_str(name, strlen(name)), op_type))
            return true;
    return strncmp(name, "Inserted", 8) == 0 && !oc_match_without_cast(name);
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
