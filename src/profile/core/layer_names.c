/* Names of layers: the grammar of TensorRT's names of fused layers, and the ONNX type that a name stands for. */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "profile/core/kernel_names.h"

#define MAX_NESTING 64
#define MAX_JOINED  6    /* maximum number of separators in one name */
#define MAX_NAME    1024 /* maximum length of a name with separators */
#define MAX_PARTS   1024

/* Length without trailing digits, n if there are none. */
static size_t before_digits(const char *s, size_t n)
{
    while (n > 0 && oc_is_digit(s[n - 1]))
        n--;
    return n;
}

static bool numbered(const char *s, size_t n, const char *stem)
{
    size_t k = before_digits(s, n);
    return k < n && oc_str_ends(oc_str(s, k), stem);
}

const char *oc_trt_overhead(const char *s, size_t n)
{
    if (oc_str_starts(oc_str(s, n), "Reformatting CopyNode for ") || numbered(s, n, " input reformatter ") ||
        numbered(s, n, " output reformatter ")) /* up to 8.0 */
        return "reformat";
    if (oc_str_ends(oc_str(s, n), " copy") || oc_str_starts(oc_str(s, n), "[HostToDeviceCopy") ||
        oc_str_ends(oc_str(s, n), "[DevicetoShapeHostCopy]"))
        return "copies";
    if (oc_str_ends(oc_str(s, n), " to nvm") || oc_str_ends(oc_str(s, n), " from nvm") ||
        oc_str_ends(oc_str(s, n), " copy finish"))
        return "DLA transfers";
    if (oc_str_starts(oc_str(s, n), "[trainStation"))
        return "framework";
    if (oc_str_starts(oc_str(s, n), "dummy_shape_call__mye"))
        return "inserted";
    return numbered(s, n, "_clone_") ? "inserted" : NULL;
}

size_t oc_trt_stem(const char *s, size_t n)
{
    if (n && s[n - 1] == ']' && numbered(s, n - 1, " [profile "))
        n = before_digits(s, n - 1) - strlen(" [profile ");
    if (!numbered(s, n, "_"))
        return n;
    size_t k = before_digits(s, n) - 1;
    return numbered(s, k, "_myl") ? before_digits(s, k) - strlen("_myl") : n;
}

/* ---- parts ------------------------------------------------------------------------------------------ */

struct split {
    const struct trt_known *known;
    struct trt_part *out;
    size_t n, max;
};

static void add_part(struct split *x, struct trt_part part)
{
    if (x->n < x->max)
        x->out[x->n] = part;
    x->n++;
}

static bool is_trt_name(const struct split *x, const char *s, size_t n)
{
    return x->known && n && n <= MAX_NAME && x->known->is_name(x->known->ctx, s, n);
}

static int depth_of(char c)
{
    return strchr("([{", c) && c ? 1 : strchr(")]}", c) && c ? -1 : 0;
}

/* Length of the separator at s, 0: none. Commas are separators only inside PWN(). */
static size_t separator(const char *s, size_t n, bool commas)
{
    if (oc_str_starts(oc_str(s, n), " + "))
        return 3;
    if (oc_str_starts(oc_str(s, n), " || "))
        return 4;
    return commas && oc_str_starts(oc_str(s, n), ", ") ? 2 : 0;
}

static bool is_balanced(const char *s, size_t n)
{
    long depth = 0;
    for (size_t i = 0; i < n && depth >= 0; i++)
        depth += depth_of(s[i]);
    return depth == 0;
}

/* "{ForeignNode[first...last]}" */
static bool add_range(struct split *x, const char *s, size_t n)
{
    static const char head[] = "{ForeignNode[";
    if (!oc_str_starts(oc_str(s, n), head) || !oc_str_ends(oc_str(s, n), "]}"))
        return false;
    const char *first = s + sizeof(head) - 1, *end = s + n - 2;
    const char *dots = oc_find(first, (size_t)(end - first), "...", 3);
    struct trt_part part = {.kind = TRT_RANGE, .s = first, .n = (size_t)((dots ? dots : end) - first)};
    part.last = dots ? dots + 3 : first;
    part.n_last = (size_t)(end - part.last);
    add_part(x, part);
    return true;
}

/* Layers that the builder inserts around a node. */
static bool add_made(struct split *x, const char *s, size_t n)
{
    static const struct {
        const char *head;
        enum trt_kind kind;
    } row[] = {
        {"node_of_", TRT_TENSOR},           {"reshape_after_", TRT_ADDED},
        {"reshape_before_", TRT_ADDED},     {"unsqueeze_node_after_", TRT_ADDED},
        {"squeeze_node_after_", TRT_ADDED}, {"unsqueeze_after_", TRT_ADDED},
        {"squeeze_after_", TRT_ADDED},      {"copied_squeeze_after_", TRT_ADDED},
        {"transpose_before_", TRT_ADDED},   {"transpose_after_", TRT_ADDED},
    };
    if (oc_str_starts(oc_str(s, n), "(Unnamed Layer*")) {
        add_part(x, (struct trt_part){.kind = TRT_UNNAMED, .s = s, .n = n});
        return true;
    }
    if (oc_str_starts(oc_str(s, n), "__myl_") || oc_str_starts(oc_str(s, n), "__mye")) {
        add_part(x, (struct trt_part){.kind = TRT_GENERATED, .s = s, .n = n});
        return true;
    }
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        size_t k = strlen(row[i].head);
        if (n > k && oc_str_starts(oc_str(s, n), row[i].head)) {
            add_part(x, (struct trt_part){.kind = row[i].kind, .s = s + k, .n = n - k});
            return true;
        }
    }
    return false;
}

static void split_list(struct split *x, const char *s, size_t n, bool commas, unsigned nesting);

static void add_one(struct split *x, const char *s, size_t n, unsigned nesting)
{
    if (!is_trt_name(x, s, n)) {
        if (n > 5 && oc_str_starts(oc_str(s, n), "PWN(") && s[n - 1] == ')' && nesting < MAX_NESTING) {
            split_list(x, s + 4, n - 5, true, nesting + 1);
            return;
        }
        if (add_range(x, s, n) || add_made(x, s, n))
            return;
    }
    add_part(x, (struct trt_part){.kind = TRT_NODE, .s = s, .n = n});
}

/* End of the part that begins at s: the longest known name that ends at one of the next separators,
 * otherwise the first separator outside brackets; n: none. *sep: length of the separator. */
static size_t part_end(const struct split *x, const char *s, size_t n, bool commas, bool balanced,
                       size_t *sep)
{
    size_t first = n, best = n, first_sep = 0, best_sep = 0, seen = 0;
    long depth = 0;
    for (size_t i = 0; i < n && (first == n || (x->known && seen < MAX_JOINED)); i++) {
        size_t k = separator(s + i, n - i, commas);
        if (k && (depth == 0 || !balanced) && first == n) {
            first = i;
            first_sep = k;
        }
        if (k && x->known && seen++ < MAX_JOINED && is_trt_name(x, s, i)) {
            best = i;
            best_sep = k;
        }
        depth += depth_of(s[i]);
    }
    *sep = best < n ? best_sep : first_sep;
    return best < n ? best : first;
}

static void split_list(struct split *x, const char *s, size_t n, bool commas, unsigned nesting)
{
    bool balanced = is_balanced(s, n);
    while (n > 0) {
        size_t sep = 0, end = is_trt_name(x, s, n) ? n : part_end(x, s, n, commas, balanced, &sep);
        if (x->n >= MAX_PARTS)
            end = n;
        if (end > 0)
            add_one(x, s, end, x->n >= MAX_PARTS ? MAX_NESTING : nesting);
        sep = end < n ? sep : 0;
        s += end + sep;
        n -= end + sep;
    }
}

size_t oc_trt_split(const char *s, size_t n, const struct trt_known *known, struct trt_part *out, size_t max)
{
    struct split x = {.known = known, .out = out, .max = max};
    split_list(&x, s, n, false, 0);
    return x.n;
}

/* ---- types ------------------------------------------------------------------------------------------ */

/* ONNX types by rank: the type of a fused layer is the first of the lowest rank. */
enum rank { PRODUCT, WINDOW, POINTWISE, MOVES, RANKS };
static const char *const types[RANKS] = {
    [PRODUCT] = " Conv ConvTranspose ConvInteger DeformConv QLinearConv MatMul Gemm Einsum MatMulInteger "
                "QLinearMatMul FusedMatMul FusedConv Attention MultiHeadAttention GRU LSTM RNN ",
    [WINDOW] =
        " AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool MaxUnpool "
        "RoiAlign Softmax LogSoftmax Hardmax BatchNormalization GroupNormalization InstanceNormalization LRN "
        "LayerNormalization LpNormalization MeanVarianceNormalization RMSNormalization ReduceL1 ReduceL2 "
        "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare "
        "ArgMax ArgMin CumSum CumProd TopK NonMaxSuppression Unique NonZero Resize Upsample GridSample "
        "AffineGrid Det DFT STFT If Loop Scan RotaryEmbedding ",
    [POINTWISE] =
        " Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor "
        "Ceil Celu Clip Cos Cosh Div Dropout Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid "
        "HardSwish IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow "
        "Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan "
        "Tanh "
        "ThresholdedRelu Where Xor ",
    [MOVES] =
        " Cast CastLike QuantizeLinear DequantizeLinear DynamicQuantizeLinear Concat Expand Pad Slice "
        "Split Tile Trilu Col2Im ReverseSequence Gather GatherElements GatherND Scatter ScatterElements "
        "ScatterND Compress Transpose DepthToSpace SpaceToDepth Reshape Flatten Squeeze Unsqueeze Identity "
        "Shape Size Constant ConstantOfShape EyeLike OneHot Range ",
};

/* Names of other frameworks; in lower case they are functions of PyTorch (node_conv2d_1). */
static const struct {
    const char *names, *type;
} aliases[] = {
    {" Conv1D Conv2D Conv3D DepthwiseConv2dNative depthwise convolution conv1d conv2d conv3d ", "Conv"},
    {" Conv2DBackpropInput conv_transpose1d conv_transpose2d conv_transpose3d ", "ConvTranspose"},
    {" linear addmm ", "Gemm"},
    {" BatchMatMul matmul mm bmm baddbmm ", "MatMul"},
    {" einsum ", "Einsum"},
    {" scaled_dot_product_attention mha ", "Attention"},
    {" lstm ", "LSTM"},
    {" gru ", "GRU"},
    {" max_pool1d max_pool2d max_pool3d ", "MaxPool"},
    {" AvgPool avg_pool1d avg_pool2d avg_pool3d ", "AveragePool"},
    {" adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d ", "GlobalAveragePool"},
    {" SoftMax softmax _softmax ", "Softmax"},
    {" log_softmax _log_softmax ", "LogSoftmax"},
    {" FusedBatchNorm batch_norm ", "BatchNormalization"},
    {" layer_norm native_layer_norm ", "LayerNormalization"},
    {" group_norm ", "GroupNormalization"},
    {" instance_norm ", "InstanceNormalization"},
    {" rms_norm ", "RMSNormalization"},
    {" mean ", "ReduceMean"},
    {" argmax ", "ArgMax"},
    {" topk ", "TopK"},
    {" ResizeBilinear ResizeNearestNeighbor upsample_nearest2d upsample_bilinear2d ", "Resize"},
    {" BiasAdd add ", "Add"},
    {" sub rsub ", "Sub"},
    {" mul ", "Mul"},
    {" RealDiv div ", "Div"},
    {" pow ", "Pow"},
    {" relu ", "Relu"},
    {" Relu6 relu6 clamp hardtanh clip ", "Clip"},
    {" leaky_relu ", "LeakyRelu"},
    {" sigmoid ", "Sigmoid"},
    {" hardsigmoid ", "HardSigmoid"},
    {" hardswish ", "HardSwish"},
    {" silu ", "Swish"},
    {" gelu ", "Gelu"},
    {" tanh ", "Tanh"},
    {" erf ", "Erf"},
    {" exp ", "Exp"},
    {" sqrt ", "Sqrt"},
    {" where ", "Where"},
    {" cat concat ", "Concat"},
    {" StridedSlice slice ", "Slice"},
    {" split split_with_sizes chunk ", "Split"},
    {" embedding index_select ", "Gather"},
    {" permute transpose ", "Transpose"},
    {" view reshape ", "Reshape"},
    {" flatten ", "Flatten"},
    {" squeeze ", "Squeeze"},
    {" unsqueeze ExpandDims ", "Unsqueeze"},
    {" expand ", "Expand"},
};

size_t oc_type_without_version(const char *s, size_t n)
{
    bool version = n > 2 && s[n - 2] == 'V' && s[n - 1] >= '1' && s[n - 1] <= '9';
    return version ? n - 2 : n;
}

/* The word in a list that is enclosed in blanks; NULL: not in it. */
static const char *find_word(const char *list, const char *s, size_t n)
{
    for (const char *at = list; (at = oc_find(at, strlen(at), s, n)) != NULL; at++)
        if (at > list && at[-1] == ' ' && at[n] == ' ')
            return at;
    return NULL;
}

struct typed {
    struct oc_str type;
    enum rank rank; /* RANKS: no type */
};

static struct typed type_of_word(const char *s, size_t n)
{
    for (size_t i = 0; n && i < OC_COUNT(aliases); i++)
        if (find_word(aliases[i].names, s, n))
            return type_of_word(aliases[i].type, strlen(aliases[i].type));
    for (unsigned r = 0; n && r < RANKS; r++) {
        const char *word = find_word(types[r], s, n);
        if (word)
            return (struct typed){{word, n}, r};
    }
    size_t first = oc_type_without_version(s, n);
    return first < n ? type_of_word(s, first) : (struct typed){{"", 0}, RANKS};
}

/* ---- names ------------------------------------------------------------------------------------------ */

/* Length without a number at the end and the separator before it: "Conv_12", "Conv2D__6", "Conv.0". */
static size_t without_number(const char *s, size_t n)
{
    size_t k = n;
    while (k && oc_is_digit(s[k - 1]))
        k--;
    size_t word = k;
    while (k && k < n && (s[k - 1] == '_' || s[k - 1] == '.'))
        k--;
    return k < word ? k : n;
}

/* Tensors are named after the node that produces them. */
static size_t without_output(const char *s, size_t n)
{
    static const char mark[] = "_output";
    size_t k = without_number(s, n), m = sizeof(mark) - 1;
    return k > m && memcmp(s + k - m, mark, m) == 0 ? k - m : n;
}

static size_t strspn_of(struct oc_str s, const char *of)
{
    size_t n = 0;
    while (n < s.n && s.s[n] && strchr(of, s.s[n]))
        n++;
    return n;
}

static struct typed type_of_name(const char *s, size_t n)
{
    static const char *const heads[] = {"node_", "aten::", "p2o.", "aten_"};
    const char *slash = n ? memrchr(s, '/', n) : NULL;
    if (oc_str_starts(oc_str(s, n),
                      "onnx::")) /* PyTorch's names of weights: onnx::Conv_123 is read by a Conv */
        return (struct typed){{"", 0}, RANKS};
    n -= slash ? (size_t)(slash + 1 - s) : 0;
    s = slash ? slash + 1 : s;
    for (size_t i = 0; i < OC_COUNT(heads); i++)
        if (oc_str_starts(oc_str(s, n), heads[i])) {
            s += strlen(heads[i]);
            n -= strlen(heads[i]);
        }
    n = without_output(s, n);
    struct typed whole = type_of_word(s, n);
    return whole.rank < RANKS ? whole : type_of_word(s, without_number(s, n));
}

bool oc_type_in_name(const char *name, size_t n, struct oc_str *type)
{
    *type = type_of_name(name, n).type;
    return type->n > 0;
}

/* Names of the ResNets for Caffe: "res3b7_branch2a", "bn3b7_branch2a", "scale2a_branch1", the sum "res3b7",
 * "res3b7_relu". */
static struct typed type_of_caffe_resnet(struct oc_str s)
{
    static const struct {
        const char *word, *type;
        enum rank rank;
    } row[] = {
        {"res", "Conv", PRODUCT}, {"bn", "BatchNormalization", POINTWISE}, {"scale", "Mul", POINTWISE}};
    static const char branch[] = "_branch", relu[] = "_relu";
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_str rest = oc_str_skip(s, oc_str_starts(s, row[i].word) ? strlen(row[i].word) : s.n);
        size_t stage = strspn_of(rest, "2345"),
               block = strspn_of(oc_str_skip(rest, stage), "abcdef0123456789");
        if (stage != 1 || !block)
            continue;
        rest = oc_str_skip(rest, stage + block);
        bool sum = !oc_str_starts(rest, branch);
        rest = oc_str_skip(rest, sum ? 0 : sizeof(branch) - 1);
        rest = oc_str_skip(rest, sum ? 0 : strspn_of(rest, "12abc"));
        if (oc_str_eq(rest, relu))
            return (struct typed){{"Relu", 4}, POINTWISE};
        if (!rest.n && (!sum || i == 0))
            return sum ? (struct typed){{"Add", 3}, POINTWISE}
                       : (struct typed){{row[i].type, strlen(row[i].type)}, row[i].rank};
    }
    return (struct typed){{"", 0}, RANKS};
}

/* Caffe's usual names: "conv4_3", "norm1", "relu_7x7", and sizes of kernels: "pool1/3x3_s2". Its pools do not
 * say of which kind they are. */
static struct typed type_of_caffe(const char *s, size_t n)
{
    static const struct {
        const char *word, *type;
        enum rank rank;
    } row[] = {{"conv", "Conv", PRODUCT},       {"pool_proj", "Conv", PRODUCT}, {"fc", "Gemm", PRODUCT},
               {"classifier", "Gemm", PRODUCT}, {"pool", "Pooling", WINDOW},    {"norm", "LRN", WINDOW},
               {"prob", "Softmax", WINDOW},     {"relu", "Relu", POINTWISE},    {"relu_", "Relu", POINTWISE}};
    const char *slash = n ? memrchr(s, '/', n) : NULL;
    struct oc_str last = slash ? oc_str(slash + 1, (size_t)(s + n - slash - 1)) : oc_str(s, n);
    size_t digits = strspn_of(last, "0123456789"), size = digits;
    if (digits && digits < last.n && last.s[digits] == 'x')
        size += 1 + strspn_of(oc_str_skip(last, digits + 1), "0123456789");
    if (size > digits + 1)
        return oc_str_starts(oc_str(s, n), "pool") ? (struct typed){{"Pooling", 7}, WINDOW}
                                                   : (struct typed){{"Conv", 4}, PRODUCT};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        size_t k = strlen(row[i].word);
        if (oc_str_starts(last, row[i].word) && strspn_of(oc_str_skip(last, k), "0123456789_x") == last.n - k)
            return (struct typed){{row[i].type, strlen(row[i].type)}, row[i].rank};
    }
    return type_of_caffe_resnet(last);
}

/* ---- layers of TensorRT ----------------------------------------------------------------------------- */

enum { MAX_TYPED_PARTS = 256 };

/* Kernels of fused regions are named after their operations, abbreviated: "__myl_FcAddCast", "_gemm_mha_v2".
 */
static struct typed type_of_generated(const char *s, size_t n)
{
    static const char *const words[][2] = {
        {"mha", "Attention"}, {"Conv", "Conv"}, {"Fc", "MatMul"}, {"gemm", "MatMul"}, {"Gemm", "MatMul"}};
    for (size_t i = 0; i < OC_COUNT(words); i++) {
        size_t k = strlen(words[i][0]);
        const char *at = oc_find(s, n, words[i][0], k), *end = s + n;
        if (at && (at + k == end || at[k] < 'a' || at[k] > 'z'))
            return type_of_word(words[i][1], strlen(words[i][1]));
    }
    return (struct typed){{"kgen", 4}, MOVES};
}

static struct typed type_of_part(const struct trt_part *p)
{
    const char *open = p->kind == TRT_UNNAMED ? memrchr(p->s, '[', p->n) : NULL;
    size_t stem = oc_trt_stem(p->s, p->n);
    struct typed named;
    switch (p->kind) {
    case TRT_RANGE:
        return (struct typed){{"ForeignNode", 11}, WINDOW};
    case TRT_GENERATED:
        return type_of_generated(p->s, stem);
    case TRT_UNNAMED: /* "(Unnamed Layer* 360) [Shuffle]" */
        if (!open || p->s[p->n - 1] != ']')
            break;
        return (struct typed){{open + 1, (size_t)(p->s + p->n - 1 - (open + 1))}, MOVES};
    case TRT_ADDED:
        break;
    default:
        if (stem < p->n && oc_find(p->s, stem, "_mha", 4))
            return type_of_word("Attention", 9);
        named = type_of_name(p->s, stem);
        return named.rank < RANKS ? named : type_of_caffe(p->s, stem);
    }
    return (struct typed){{"", 0}, RANKS};
}

/* Layers that the parser inserts: "reshape_before_/fc1/MatMul". */
static const char *const added[][2] = {{"reshape_", "Reshape"},
                                       {"squeeze_", "Squeeze"},
                                       {"copied_squeeze_", "Squeeze"},
                                       {"unsqueeze_", "Unsqueeze"},
                                       {"transpose_", "Transpose"}};

/* Type in a layer's name: the part of the lowest rank, then the first, determines it. Kernels of fused
 * regions list their nodes, if the layer information is detailed. */
static struct typed type_in_layer(const struct trt_typed *l)
{
    const char *name = l->name;
    struct trt_part part[MAX_TYPED_PARTS];
    struct typed best = {{"", 0}, RANKS};
    for (uint32_t i = 0; i < l->n_marker; i++) {
        struct typed t = type_of_name(l->marker[i], strlen(l->marker[i]));
        best = t.rank < best.rank ? t : best;
    }
    if (best.rank < RANKS)
        return best;
    size_t n = oc_trt_split(name, strlen(name), NULL, part, MAX_TYPED_PARTS);
    for (size_t i = 0; i < OC_COUNT(added); i++)
        if (oc_str_starts(oc_str(name, strlen(name)), added[i][0]))
            best = (struct typed){{added[i][1], strlen(added[i][1])}, RANKS};
    for (size_t i = 0; i < n && i < MAX_TYPED_PARTS; i++) {
        struct typed t = type_of_part(&part[i]);
        if (t.rank < best.rank)
            best = t;
    }
    return best;
}

/* Types of layer information: the ONNX types that such a layer can be. The first is the default; without
 * one TensorRT's own stays. */
static const struct {
    const char *layer, *onnx;
} layers[] = {
    {"Convolution", " Conv MatMul Gemm "},
    {"ConvActPool", " Conv "},
    {"Deconvolution", " ConvTranspose "},
    {"FullyConnected", " Gemm MatMul "},
    {"MatrixMultiply", " MatMul Gemm Einsum Attention Conv "},
    {"gemm", " MatMul Gemm Einsum Attention Conv "},
    {"SoftMax", " Softmax LogSoftmax "},
    {"Concatenation", " Concat "},
    {"Padding", " Pad Slice "},
    {"Slice", " Slice Pad Split "},
};
static const struct {
    const char *layer, *onnx; /* without a default */
} moving[] = {
    {"Shuffle", " Transpose Reshape Flatten Squeeze Unsqueeze DepthToSpace SpaceToDepth Identity "},
    {"Reformat", " QuantizeLinear DequantizeLinear Cast "},
    {"NoOp", " "},
    {"Constant", " Constant "},
};

static struct oc_str pool_type(const struct trt_typed *l, const struct typed *named)
{
    static const char pools[] =
        " MaxPool AveragePool GlobalAveragePool GlobalMaxPool LpPool GlobalLpPool ReduceMean ReduceMax ";
    if (named->type.n && find_word(pools, named->type.s, named->type.n))
        return named->type;
    const char *type = oc_equal(l->pooling, "MAX") ? "MaxPool" : "AveragePool";
    return (struct oc_str){type, strlen(type)};
}

static struct oc_str allowed(const char *list, const struct typed *named, struct oc_str other)
{
    return named->type.n && find_word(list, named->type.s, named->type.n) ? named->type : other;
}

/* Layers that the builder inserted are named after their neighbours: "Reformatting CopyNode for ... Conv_0".
 */
static struct typed type_of_inserted(const char *overhead)
{
    static const char *const types_of[][2] = {{"reformat", "Reformat"},
                                              {"copies", "Copy"},
                                              {"DLA transfers", "Copy"},
                                              {"framework", "TrainStation"}};
    for (size_t i = 0; i < OC_COUNT(types_of); i++)
        if (oc_equal(overhead, types_of[i][0]))
            return (struct typed){{types_of[i][1], strlen(types_of[i][1])}, MOVES};
    return (struct typed){{"", 0}, RANKS};
}

struct oc_str oc_trt_layer_type(const struct trt_typed *l)
{
    const char *overhead = oc_trt_overhead(l->name, oc_trt_stem(l->name, strlen(l->name)));
    struct typed named = overhead ? type_of_inserted(overhead) : type_in_layer(l);
    struct oc_str own = {l->type, strlen(l->type)};
    if (oc_equal(l->param_type, "Pooling"))
        return pool_type(l, &named);
    for (size_t i = 0; i < OC_COUNT(layers); i++)
        if (oc_equal(layers[i].layer, l->type) || oc_equal(layers[i].layer, l->param_type)) {
            struct oc_str first = {layers[i].onnx + 1, strcspn(layers[i].onnx + 1, " ")};
            return allowed(layers[i].onnx, &named, first);
        }
    for (size_t i = 0; i < OC_COUNT(moving); i++)
        if (oc_equal(moving[i].layer, l->type))
            return allowed(moving[i].onnx, &named, own);
    return named.type.n ? named.type : own;
}

bool oc_tensorflow_operator(struct oc_str s, struct oc_str *name, struct oc_str *type)
{
    const char *colon = s.n ? memrchr(s.s, ':', s.n) : NULL;
    if (!colon || colon == s.s)
        return false;
    *type = (struct oc_str){colon + 1, s.n - (size_t)(colon + 1 - s.s)};
    *name = (struct oc_str){s.s, (size_t)(colon - s.s)};
    for (size_t i = 0; i < type->n; i++)
        if (!oc_is_alnum((unsigned char)type->s[i]) && type->s[i] != '_')
            return false;
    for (size_t i = name->n; i-- > 1;)
        if (name->s[i] == ':' && name->s[i - 1] == ':') {
            *name = (struct oc_str){name->s + i + 1, name->n - i - 1};
            break;
        }
    return type->n && name->n && !isdigit((unsigned char)type->s[0]);
}
