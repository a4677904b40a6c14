/* Shared by all rules of the join: which types of operators are the same, and the assignment of nodes to a record. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "join/expansion.h"
#include "join/join.h"
#include "profile/core/kernel_names.h"

/* ---- types of other frameworks ---------------------------------------------------------------------- */

/* Names: Paddle (phi/ops/yaml and the fused operators of its inference passes), MindSpore (mindspore.ops),
 * PyTorch (aten/native_functions.yaml), TVM (relay operators with dots replaced), OpenVINO (opset names).
 * In-place variants of PyTorch ("relu_") are looked up without the underscore, versions of CANN (MatMulV3)
 * without their number. */
struct row {
    const char *source, *core, *as;
    bool heavy; /* of several fused operators, the one that determines the name */
};

static const struct row rows[] = {
    {" conv2d depthwise_conv2d conv3d fused_conv2d conv2d_fusion fused_conv2d_add_act Conv2D Conv3D "
     "DepthwiseConv2dNative Conv2DFusion aten::convolution aten::conv1d aten::conv2d aten::conv3d "
     "aten::_convolution aten::cudnn_convolution aten::mkldnn_convolution aten::miopen_convolution "
     "aten::thnn_conv2d aten::_conv_depthwise2d aten::cudnn_convolution_relu "
     "aten::cudnn_convolution_add_relu nn_conv2d nn_conv3d nn_conv1d nn_contrib_conv2d_NCHWc "
     "nn_contrib_depthwise_conv2d_NCHWc nn_contrib_conv2d_winograd_without_weight_transform Convolution "
     "GroupConvolution ",
     " Conv QLinearConv ConvInteger ", "FusedConv", true},
    {" conv2d_transpose depthwise_conv2d_transpose conv3d_transpose Conv2DTranspose Conv2DBackpropInput "
     "aten::conv_transpose1d aten::conv_transpose2d aten::conv_transpose3d nn_conv2d_transpose "
     "ConvolutionBackpropData ",
     " ConvTranspose ", "ConvTranspose", true},
    {" fc mul fused_fc fused_gemm_epilogue gemm_epilogue linear Dense MatMulBiasAdd aten::linear aten::addmm "
     "aten::_addmm_activation nn_dense nn_contrib_dense_pack FullyConnected ",
     " Gemm MatMul ", "FusedGemm", true},
    {" matmul matmul_v2 bmm fused_matmul matmul_with_flatten MatMul BatchMatMul aten::mm aten::bmm "
     "aten::matmul aten::baddbmm nn_batch_matmul nn_matmul ",
     " MatMul Gemm ", NULL, true},
    {" multihead_matmul fused_multihead_attention flash_attn self_dp_attention FlashAttentionScore "
     "aten::scaled_dot_product_attention aten::_scaled_dot_product_flash_attention "
     "aten::_scaled_dot_product_efficient_attention aten::_scaled_dot_product_attention_math "
     "ScaledDotProductAttention ",
     " Attention MultiHeadAttention Softmax ", "Attention", true},
    {" aten::_native_multi_head_attention ", " Attention MultiHeadAttention Softmax ",
     "AttentionWithProjections", true},
    {" skip_layernorm fused_fc_elementwise_layernorm fused_skip_layernorm ", " LayerNormalization Sqrt ",
     "SkipLayerNormalization", true},
    {" fused_embedding_eltwise_layernorm ", " LayerNormalization Sqrt ", "EmbedLayerNormalization", true},
    {" layer_norm LayerNorm aten::layer_norm aten::native_layer_norm nn_layer_norm MVN ",
     " LayerNormalization Sqrt ", "LayerNormalization", true},
    {" rms_norm RmsNorm aten::rms_norm aten::_fused_rms_norm ",
     " RMSNormalization SimplifiedLayerNormalization Sqrt ", "SimplifiedLayerNormalization", true},
    {" batch_norm batch_norm_ sync_batch_norm fused_batch_norm_act BatchNorm BatchNormWithActivation "
     "FusedBatchNorm "
     "FusedBatchNormEx BatchNormInfer BNInfer aten::batch_norm aten::cudnn_batch_norm "
     "aten::native_batch_norm aten::_native_batch_norm_legit aten::_native_batch_norm_legit_no_training "
     "aten::miopen_batch_norm nn_batch_norm BatchNormInference ",
     " BatchNormalization ", NULL, true},
    {" instance_norm InstanceNorm aten::instance_norm nn_instance_norm ", " InstanceNormalization ", NULL,
     true},
    {" group_norm GroupNorm aten::group_norm aten::native_group_norm nn_group_norm ",
     " GroupNormalization InstanceNormalization ", NULL, true},
    {" pool2d max_pool2d max_pool2d_with_index MaxPool MaxPoolWithArgmax aten::max_pool2d "
     "aten::max_pool2d_with_indices "
     "aten::max_pool1d aten::max_pool3d nn_max_pool2d nn_max_pool3d ",
     " MaxPool GlobalAveragePool AveragePool GlobalMaxPool ", NULL, true},
    {" avg_pool2d adaptive_avg_pool2d AvgPool AvgPool3D AdaptiveAvgPool2D aten::avg_pool2d "
     "aten::adaptive_avg_pool2d aten::avg_pool1d "
     "aten::_adaptive_avg_pool2d nn_avg_pool2d nn_global_avg_pool2d nn_adaptive_avg_pool2d ",
     " AveragePool GlobalAveragePool ReduceMean ", NULL, true},
    {" lstm cudnn_lstm LSTM CudnnLSTM aten::lstm aten::_cudnn_rnn aten::mkldnn_rnn_layer LSTMSequence ",
     " LSTM ", NULL, true},
    {" gru fusion_gru GRU CudnnGRU aten::gru GRUSequence ", " GRU ", NULL, true},
    {" gelu GeLU Gelu aten::gelu ", " Gelu Erf Tanh ", "Gelu", false},
    {" swish silu SiLU SiLu aten::silu Swish ", " Swish Sigmoid ", "QuickGelu", false},
    {" hard_swish HSwish aten::hardswish ", " HardSwish HardSigmoid ", "QuickGelu", false},
    {" hard_sigmoid HSigmoid aten::hardsigmoid ", " HardSigmoid ", NULL, false},
    {" elementwise_add add add_n sum_op fused_elemwise_add_activation fused_elementwise_add Add AddN "
     "TensorAdd "
     "BiasAdd aten::add add nn_bias_add ",
     " Add Sum ", NULL, false},
    {" elementwise_sub subtract Sub aten::sub aten::rsub subtract Subtract ", " Sub ", NULL, false},
    {" elementwise_mul multiply fused_elementwise_mul Mul scale aten::mul Multiply ", " Mul ", NULL, false},
    {" elementwise_div divide Div RealDiv aten::div Divide ", " Div ", NULL, false},
    {" elementwise_pow pow Pow aten::pow power Power ", " Pow ", NULL, false},
    {" elementwise_max maximum Maximum aten::maximum ", " Max ", NULL, false},
    {" elementwise_min minimum Minimum aten::minimum ", " Min ", NULL, false},
    {" relu relu6 ReLU Relu ReLU6 aten::relu aten::relu6 aten::clamp_min nn_relu ", " Relu Clip ", NULL,
     false},
    {" leaky_relu LeakyRelu aten::leaky_relu nn_leaky_relu ", " LeakyRelu ", NULL, false},
    {" prelu PReLU aten::prelu nn_prelu PRelu ", " PRelu ", NULL, false},
    {" clip Clip ClipByValue aten::clamp aten::hardtanh clip Clamp ", " Clip ", NULL, false},
    {" sigmoid Sigmoid aten::sigmoid ", " Sigmoid ", NULL, false},
    {" tanh Tanh aten::tanh ", " Tanh ", NULL, false},
    {" exp Exp aten::exp ", " Exp ", NULL, false},
    {" log Log aten::log ", " Log ", NULL, false},
    {" sqrt Sqrt aten::sqrt ", " Sqrt ", NULL, false},
    {" erf Erf aten::erf ", " Erf ", NULL, false},
    {" softmax softmax_with_cross_entropy Softmax SoftMax aten::softmax aten::_softmax aten::_safe_softmax "
     "nn_softmax nn_fast_softmax ",
     " Softmax ", NULL, true},
    {" log_softmax LogSoftmax aten::log_softmax aten::_log_softmax nn_log_softmax ", " LogSoftmax ", NULL,
     true},
    {" reduce_mean mean ReduceMean aten::mean ", " ReduceMean GlobalAveragePool ", NULL, true},
    {" reduce_sum sum ReduceSum aten::sum ", " ReduceSum ", NULL, true},
    {" reduce_max max ReduceMax aten::amax ", " ReduceMax ", NULL, true},
    {" concat Concat aten::cat concatenate ", " Concat ", NULL, true},
    {" split Split SplitV aten::split aten::chunk aten::split_with_sizes VariadicSplit ", " Split ", NULL,
     true},
    {" slice strided_slice Slice StridedSlice aten::slice strided_slice ", " Slice ", NULL, false},
    {" transpose transpose2 Transpose aten::permute aten::transpose ", " Transpose ", NULL, false},
    {" reshape reshape2 Reshape aten::reshape aten::view aten::_unsafe_view ", " Reshape Flatten ", NULL,
     false},
    {" flatten flatten2 flatten_contiguous_range Flatten aten::flatten nn_batch_flatten ",
     " Flatten Reshape ", NULL, false},
    {" squeeze squeeze2 Squeeze aten::squeeze ", " Squeeze ", NULL, false},
    {" unsqueeze unsqueeze2 ExpandDims aten::unsqueeze expand_dims Unsqueeze ", " Unsqueeze ", NULL, false},
    {" cast Cast aten::_to_copy cast Convert ", " Cast ", NULL, false},
    {" gather gather_nd Gather aten::index_select aten::index take ", " Gather GatherND ", NULL, true},
    {" lookup_table lookup_table_v2 embedding EmbeddingLookup aten::embedding ", " Gather ", NULL, true},
    {" pad pad2d pad3d Pad aten::constant_pad_nd aten::pad nn_pad ", " Pad ", NULL, false},
    {" nearest_interp nearest_interp_v2 bilinear_interp bilinear_interp_v2 ResizeBilinear "
     "ResizeNearestNeighbor "
     "aten::upsample_nearest2d aten::upsample_bilinear2d nn_upsampling image_resize2d Interpolate ",
     " Resize Upsample ", NULL, true},
    {" arg_max ArgMax ArgMaxWithValue aten::argmax argmax ", " ArgMax ", NULL, true},
    {" top_k top_k_v2 TopK aten::topk topk ", " TopK ", NULL, true},
    {" where Select aten::where ", " Where ", NULL, false},
    {" expand expand_v2 BroadcastTo aten::expand broadcast_to Broadcast ", " Expand ", NULL, false},
};

/* Extracts "conv2d" from "conv2d dygraph", "Default/network-Net/Conv2D-op12" and "Conv2D-op12". */
struct text {
    const char *s;
    size_t n;
};

static struct text strip_decoration(const char *s)
{
    const char *slash = strrchr(s, '/');
    if (slash && slash[1])
        s = slash + 1;
    size_t n = strcspn(s, " ");
    const char *op = oc_find(s, n, "-op", 3);
    if (op)
        n = (size_t)(op - s);
    return (struct text){s, n};
}

bool oc_type_set_has(const char *set, const char *type)
{
    return oc_set_has(set, type, strlen(type));
}

bool oc_type_set_has_product(const char *set)
{
    return oc_type_set_has(set, "Conv") || oc_type_set_has(set, "ConvTranspose") ||
           oc_type_set_has(set, "MatMul");
}

/* The words of all rows: a hash table with linear probing, filled at the first search. A trace may have
 * thousands of kernels, and the name of a fused one is searched for each of its parts. */
struct source_word {
    uint16_t row, at, n; /* the word is n bytes from source + at; n 0: free */
};
static struct source_word source_words[2048];
static pthread_once_t source_words_once = PTHREAD_ONCE_INIT;

static struct source_word *source_word_find(const char *s, size_t n)
{
    static const struct oc_hash_secret open = {{1, 0x9e3779b97f4a7c15u}}; /* the keys are ours */
    for (uint32_t h = oc_hash(&open, s, n);; h++) {
        struct source_word *w = &source_words[h % OC_COUNT(source_words)];
        if (!w->n || (w->n == n && memcmp(rows[w->row].source + w->at, s, n) == 0))
            return w;
    }
}

static void fill_source_words(void)
{
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        const char *set = rows[i].source;
        for (size_t at = 1, n; n = strcspn(set + at, " "), n; at += n + 1) {
            struct source_word *w = source_word_find(set + at, n);
            if (!w->n)
                *w = (struct source_word){(uint16_t)i, (uint16_t)at, (uint16_t)n};
        }
    }
}

static const struct row *find(const char *s, size_t n)
{
    pthread_once(&source_words_once, fill_source_words);
    const struct source_word *w = n ? source_word_find(s, n) : NULL;
    if (w && w->n)
        return &rows[w->row];
    if (n > 7 && memcmp(s, "aten::", 6) == 0 && s[n - 1] == '_')
        return find(s, n - 1);
    size_t first = oc_type_without_version(s, n);
    return first < n ? find(s, first) : NULL;
}

/* ---- fused functions of TVM and TorchInductor ------------------------------------------------------- */

/* Pointwise kernels and reductions of TorchInductor, which names operators as PyTorch without "aten::". A
 * product in such a name is that of its bias or layout: products have kernels of their own. */
static bool is_inductor(const char *name)
{
    static const char *const kinds[] = {"triton_poi_", "triton_red_", "triton_per_"};
    for (size_t i = 0; i < OC_COUNT(kinds); i++)
        if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

static const struct row *find_aten(const char *s, size_t n)
{
    char name[128];
    int len = n < sizeof(name) ? snprintf(name, sizeof(name), "aten::%.*s", (int)n, s) : 0;
    const struct row *r = len > 0 && (size_t)len < sizeof(name) ? find(name, (size_t)len) : NULL;
    return r && oc_type_set_has_product(r->core) ? NULL : r;
}

/* Longest operator name that is a prefix of the text, followed by an underscore or the end. */
static const struct row *longest_prefix(const char *s, bool inductor, size_t *used)
{
    for (size_t n = strlen(s); n > 0; n--) {
        if (s[n] != '\0' && s[n] != '_')
            continue;
        const struct row *r = inductor ? find_aten(s, n) : find(s, n);
        if (r) {
            *used = n;
            return r;
        }
    }
    return NULL;
}

/* The exporter folds a normalization into the convolution before it: a kernel that also adds or applies Relu
 * is that node. NULL: it does more, or nothing else. */
static const char *after_normalization(const char *members)
{
    static const char *const types[] = {" BatchNormalization ", " Add Sum ", " Relu Clip "};
    bool has[OC_COUNT(types)] = {false};
    while (*members) {
        size_t i = 0;
        while (i < OC_COUNT(types) && strncmp(members, types[i], strlen(types[i])) != 0)
            i++;
        if (i == OC_COUNT(types))
            return NULL;
        has[i] = true;
        members += strlen(types[i]);
    }
    return !has[0] ? NULL : has[1] ? types[1] : has[2] ? types[2] : NULL;
}

static bool fused_functions(const char *name, struct oc_arena *a, struct oc_source_type *out)
{
    const char *at = strstr(name, "fused_");
    const struct row *core = NULL;
    struct oc_buf member = {0};
    const bool inductor = is_inductor(name);
    unsigned n = 0;
    if (!at || (at != name && at[-1] != '_'))
        return false;
    for (at += 6; *at; at += *at == '_') {
        size_t used;
        const struct row *r = longest_prefix(at, inductor, &used);
        if (!r) {
            at += strcspn(at, "_");
            continue;
        }
        at += used;
        n++;
        if (!core || (r->heavy && !core->heavy))
            core = r;
        oc_buf_str(&member, r->core);
    }
    if (oc_type_set_has(member.n ? member.data : "", "Conv")) /* a normalization becomes multiply and add */
        oc_buf_str(&member, " BatchNormalization ");
    if (core)
        *out = (struct oc_source_type){.core = core->core,
                                       .member = n > 1 ? oc_strndup(a, member.data, member.n) : NULL};
    const char *after = core && inductor && out->member ? after_normalization(out->member) : NULL;
    out->core = after ? after : out->core;
    oc_buf_free(&member);
    return core != NULL;
}

bool oc_source_type(const char *op_type, const char *name, struct oc_arena *a, struct oc_source_type *out)
{
    const char *text[] = {op_type, name};
    for (size_t i = 0; i < OC_COUNT(text); i++) {
        struct text s = strip_decoration(text[i]);
        const struct row *r = s.n && s.n < 200 ? find(s.s, s.n) : NULL;
        if (!r)
            continue;
        *out = (struct oc_source_type){.core = r->core, .as = r->as};
        return true;
    }
    for (size_t i = 0; i < OC_COUNT(text); i++)
        if (strlen(text[i]) < 1000 && fused_functions(text[i], a, out))
            return true;
    return false;
}

/* ---- assignment ------------------------------------------------------------------------------------- */

/* Tools change names: a kernel's suffix (_myl109_2), an event's suffix (_kernel_time), the index of a
 * shape profile, a domain prefix, and '.' or '/' replaced by '_'. */
enum { AMBIGUOUS = OC_NONE - 1 };

static size_t digits_back(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && s[n - 1 - k] >= '0' && s[n - 1 - k] <= '9')
        k++;
    return k;
}

/* Length without "_myl<digits>_<digits>". */
static size_t without_region(const char *s, size_t n)
{
    size_t a = digits_back(s, n);
    if (!a || a + 1 > n || s[n - a - 1] != '_')
        return n;
    size_t b = digits_back(s, n - a - 1), left = n - a - 1 - b;
    return b && left >= 4 && memcmp(s + left - 4, "_myl", 4) == 0 ? left - 4 : n;
}

static size_t without_ending(const char *s, size_t n)
{
    static const char event[] = "_kernel_time";
    if (n > sizeof(event) - 1 && memcmp(s + n - (sizeof(event) - 1), event, sizeof(event) - 1) == 0)
        n -= sizeof(event) - 1;
    const char *profile = n && s[n - 1] == ']' ? oc_find(s, n, " [profile ", 10) : NULL;
    return without_region(s, profile ? (size_t)(profile - s) : n);
}

static void plain_form(struct oc_buf *out, const char *s, size_t n)
{
    oc_buf_clear(out);
    n = without_ending(s, n);
    const char *colon = memchr(s, ':', n);
    if (colon && colon > s && (size_t)(colon - s) + 1 < n && colon[1] != ':' && colon[1] != '/') {
        n -= (size_t)(colon + 1 - s);
        s = colon + 1;
    }
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '.' || c == '/' || c == ':')
            c = '_';
        if (c != '_' || out->n)
            oc_buf_char(out, c);
    }
}

static void index_names(struct oc_matcher *x)
{
    struct oc_buf b = {0};
    x->plain.arena = x->arena;
    x->has_plain = true;
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        uint32_t at = i;
        const char *name = x->m->node[i].name;
        plain_form(&b, name, strlen(name));
        if (b.n && !oc_map_add(&x->plain, b.data, b.n, &at, NULL))
            oc_map_set(&x->plain, b.data, b.n, AMBIGUOUS);
    }
    oc_buf_free(&b);
}

uint32_t oc_match_plain_name(struct oc_matcher *x, const char *name, size_t len)
{
    struct oc_buf b = {0};
    if (!x->has_plain)
        index_names(x);
    plain_form(&b, name, len);
    uint32_t node = b.n ? oc_map_get(&x->plain, b.data, b.n) : OC_NONE;
    oc_buf_free(&b);
    return node == AMBIGUOUS ? OC_NONE : node;
}

/* The rules in order of confidence. */

void oc_match_all(struct oc_matcher *x, const struct oc_model *optimized)
{
    const struct oc_profile *p = x->p;
    oc_index_make(&x->x, x->m, x->arena);
    oc_index_equal(&x->x);
    x->match = OC_NEW_ARRAY(x->arena, (size_t)p->n_rec + 1, struct oc_match);
    x->owner = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    x->branch = OC_NEW_ARRAY(x->arena, (size_t)p->n_rec + 1, uint32_t);
    x->equal_owner = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    memset(x->owner, 0xff, x->m->n_node * sizeof(*x->owner));
    memset(x->equal_owner, 0xff, x->m->n_node * sizeof(*x->equal_owner));
    for (uint32_t i = 0; i < p->n_rec; i++)
        x->match[i].core = x->match[i].inner_of = OC_NONE;
    if (p->functions) { /* relu() is not a Relu node, whatever its name */
        for (uint32_t i = 0; i < p->n_rec; i++)
            x->match[i].bucket = p->rec[i].bucket ? NULL : "functions";
        return;
    }
    for (uint32_t i = 0; i < p->n_rec; i++) /* the source does not say which operator they are of */
        x->match[i].bucket = p->rec[i].rest ? "unmatched" : NULL;
    if (strcmp(p->format, "onnxruntime") == 0)
        oc_match_expand(x);
    if (optimized)
        oc_match_companion(x, optimized);
    oc_match_tensorrt(x);
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket &&
            x->match[i].inner_of == OC_NONE)
            oc_match_by_name(x, i);
    oc_match_grow(x);
    if (strcmp(p->format, "onnxruntime") != 0) { /* names that are absent or not from the model */
        for (uint32_t i = 0; i < p->n_rec; i++)
            if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket)
                oc_match_by_parts(x, i);
        oc_match_order(x);
        oc_match_grow(x);
    }
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && !x->match[i].n_node && !x->match[i].bucket &&
            x->match[i].inner_of == OC_NONE)
            oc_match_overhead(x, i);
}

void oc_match_free(struct oc_matcher *x)
{
    oc_match_expand_free(x);
    oc_index_free(&x->x);
    oc_map_free(&x->plain);
}

bool oc_ids_have(const uint32_t *id, uint32_t n, uint32_t wanted)
{
    while (n > 0 && id[n - 1] != wanted)
        n--;
    return n > 0;
}

void oc_match_add(struct oc_matcher *x, uint32_t rec, uint32_t node)
{
    struct oc_match *m = &x->match[rec];
    if (oc_ids_have(m->node, m->n_node, node))
        return;
    if (m->n_node == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 2;
        uint32_t *more = OC_NEW_ARRAY(x->arena, cap, uint32_t);
        if (m->n_node)
            memcpy(more, m->node, m->n_node * sizeof(*more));
        m->node = more;
        m->cap = cap;
    }
    m->node[m->n_node++] = node;
    if (x->owner[node] == OC_NONE)
        x->owner[node] = rec;
    uint32_t *equal = &x->equal_owner[x->x.equal[node]];
    *equal = *equal == OC_NONE ? rec : *equal;
}

void oc_match_drop(struct oc_matcher *x, uint32_t rec)
{
    struct oc_match *m = &x->match[rec];
    for (uint32_t i = 0; i < m->n_node; i++) {
        uint32_t *owner = &x->owner[m->node[i]], *equal = &x->equal_owner[x->x.equal[m->node[i]]];
        *owner = *owner == rec ? OC_NONE : *owner;
        *equal = *equal == rec ? OC_NONE : *equal;
    }
    m->n_node = 0;
}

bool oc_match_ran_as_equal(const struct oc_matcher *x, uint32_t node)
{
    return x->owner[node] == OC_NONE && x->equal_owner[x->x.equal[node]] != OC_NONE;
}

void oc_match_core(struct oc_matcher *x, uint32_t rec, uint32_t node, const char *rule, double confidence)
{
    struct oc_match *m = &x->match[rec];
    m->core = node;
    m->rule = rule;
    m->confidence = confidence;
    oc_match_add(x, rec, node);
}

bool oc_match_runs(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    if (x->a) {
        uint8_t state = x->a->cost[node].state;
        return state != OC_NODE_FOLDED && state != OC_NODE_NOT_TAKEN && state != OC_NODE_ABSORBED;
    }
    if (n->n_in == 0) /* without an analysis: constants, and nodes that read only initializers */
        return !oc_node_is_constant(n);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k] != OC_NONE && !x->m->value[n->in[k]].constant)
            return true;
    return false;
}

static bool is_number(const struct oc_matcher *x, uint32_t value, int number)
{
    const struct oc_tensor *t = value == OC_NONE || !x->a ? NULL : oc_analysis_constant(x->a, value);
    struct oc_elem e;
    if (!t || t->elements != 1 || t->storage == OC_STORE_EXTERNAL ||
        !oc_tensor_elems(x->m, t, 1, &e, x->arena))
        return false;
    return e.kind == OC_E_REAL ? fabs(e.r - number) == 0
                               : e.kind == OC_E_INT && oc_is_known(e.i) && e.i.v == number;
}

/* The sum with 0, the product with 1. */
static bool is_neutral(const struct oc_matcher *x, const struct oc_node *n)
{
    bool sum = oc_type_set_has(" Add Sub ", n->op_type), product = oc_type_set_has(" Mul Div ", n->op_type);
    bool ordered = oc_type_set_has(" Sub Div ", n->op_type);
    return (sum || product) && n->n_in == 2 &&
           (is_number(x, n->in[1], product) || (!ordered && is_number(x, n->in[0], product)));
}

bool oc_match_removed(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    return x->owner[node] == OC_NONE && oc_match_runs(x, node) && oc_equal(x->p->format, "onnxruntime") &&
           (strcmp(n->op_type, "Identity") == 0 || (strcmp(n->op_type, "Dropout") == 0 && n->n_in < 3) ||
            is_neutral(x, n));
}

const struct oc_type *oc_match_main_input(const struct oc_prof_rec *r)
{
    const struct oc_type *best = r->n_in ? &r->in[0] : NULL;
    for (uint32_t i = 1; i < r->n_in; i++)
        if (r->in[i].kind == OC_T_TENSOR && r->in[i].shape.ranked && r->in[i].shape.rank > best->shape.rank)
            best = &r->in[i];
    return best;
}

/* ---- recorded shapes -------------------------------------------------------------------------------- */

static bool same_dims(const struct oc_shape *a, const struct oc_shape *b)
{
    bool taken[OC_MAX_RANK] = {false};
    for (unsigned i = 0; i < a->rank; i++) {
        unsigned k = 0;
        while (k < b->rank && (taken[k] || b->dim[k].v != a->dim[i].v))
            k++;
        if (k == b->rank)
            return false;
        taken[k] = true;
    }
    return true;
}

/* Blocked layouts pad the channels. */
static bool is_padded(const struct oc_shape *recorded, const struct oc_shape *model)
{
    for (unsigned i = 0; i < model->rank; i++)
        if (i != 1 && recorded->dim[i].v != model->dim[i].v)
            return false;
    int64_t more = model->rank == 4 ? recorded->dim[1].v - model->dim[1].v : -1; /* images only */
    return more >= 0 && more < OC_MATCH_MAX_BLOCK && recorded->dim[1].v % 4 == 0;
}

static int64_t elements(const struct oc_shape *s)
{
    int64_t n = 1;
    for (unsigned i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(n, s->dim[i].v, &n))
            return -1;
    return n;
}

/* [N, C / block, H, W, block] as [N, C, H, W]. */
static struct oc_shape unblocked(const struct oc_shape *s, struct oc_dim *dim)
{
    struct oc_shape plain = {.dim = dim, .rank = 4, .ranked = true};
    memcpy(dim, s->dim, 4 * sizeof(*dim));
    if (__builtin_mul_overflow(dim[1].v, s->dim[4].v, &dim[1].v))
        dim[1].v = -1;
    return plain;
}

bool oc_match_same_shape(const struct oc_shape *recorded, const struct oc_shape *model)
{
    struct oc_dim dim[4];
    if (!oc_shape_known(recorded) || !oc_shape_known(model))
        return true;
    if (recorded->rank == model->rank)
        return same_dims(recorded, model) || is_padded(recorded, model);
    if (elements(recorded) == elements(model))
        return true;
    if (recorded->rank != 5 || model->rank != 4)
        return false;
    struct oc_shape plain = unblocked(recorded, dim);
    return is_padded(&plain, model);
}

const struct oc_shape *oc_match_output_shape(const struct oc_matcher *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    uint32_t v = n->n_out ? n->out[0] : OC_NONE;
    return x->a && v != OC_NONE && x->a->type[v].kind == OC_T_TENSOR ? &x->a->type[v].shape : NULL;
}

bool oc_match_output_fits(const struct oc_matcher *x, const struct oc_prof_rec *r, uint32_t node)
{
    const struct oc_shape *s = oc_match_output_shape(x, node);
    return !s || !r->n_out || oc_match_same_shape(&r->out[0].shape, s);
}
