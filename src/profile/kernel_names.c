#include "profile/kernel_names.h"

#include <string.h>

/* ---- patterns --------------------------------------------------------------------------------------- */

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool kernel_names_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool kernel_names_is_word(char c)
{
    return kernel_names_is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

/* Matches one part (without '*') at s. Returns its end in the name, or NULL. */
static const char *match_part_at(const char *part, size_t n, const char *name, const char *s)
{
    for (size_t i = 0; i < n; i++) {
        if (part[i] == '^') {
            if (s > name && kernel_names_is_word(s[-1]))
                return NULL;
            continue;
        }
        if (part[i] == '#' ? !kernel_names_is_digit(*s) : lower(part[i]) != lower(*s))
            return NULL;
        s++;
    }
    return s;
}

/* A Bloom filter over the trigrams of a name, built from the low five bits of each character (independent
 * of case): it may contain extra trigrams, never miss one. */
#define TRIPLES (1u << 15)

struct seen {
    const char *name;
    uint64_t triple[TRIPLES / 64];
};

static unsigned next_triple(unsigned last, char c)
{
    return (last << 5 | ((unsigned char)c & 31)) & (TRIPLES - 1);
}

static void set_trigrams(struct seen *s, const char *name)
{
    unsigned last = 0;
    s->name = name;
    memset(s->triple, 0, sizeof(s->triple));
    for (size_t i = 0; name[i]; i++) {
        last = next_triple(last, name[i]);
        if (i >= 2)
            s->triple[last / 64] |= (uint64_t)1 << last % 64;
    }
}

/* False: the name lacks a trigram of the pattern. Rejects nearly all patterns without a scan of the name. */
static bool may_contain(const char *part, size_t n, const struct seen *s)
{
    unsigned last = 0, run = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_text = part[i] != '*' && part[i] != '#' && part[i] != '^';
        run = is_text ? run + 1 : 0;
        last = next_triple(last, part[i]);
        if (run >= 3 && !(s->triple[last / 64] >> last % 64 & 1))
            return false;
    }
    return true;
}

/* Leftmost match of each part leaves the most text for the rest, so no backtracking is needed. */
static bool matches_pattern(const char *part, size_t n, const char *name)
{
    const char *s = name, *end = part + n;
    while (part < end) {
        const char *star = memchr(part, '*', (size_t)(end - part));
        size_t len = (size_t)((star ? star : end) - part);
        const char *behind = NULL;
        for (; !(behind = match_part_at(part, len, name, s)); s++)
            if (!*s)
                return false;
        s = behind;
        part += len + (star ? 1 : 0);
    }
    return true;
}

static bool matches(const char *pattern, const struct seen *s)
{
    while (*pattern) {
        size_t n = (size_t)(strchrnul(pattern, '|') - pattern);
        if (n && may_contain(pattern, n, s) && matches_pattern(pattern, n, s->name))
            return true;
        pattern += n + (pattern[n] == '|');
    }
    return false;
}

bool oc_kernel_match(const char *pattern, const char *name)
{
    struct seen s;
    set_trigrams(&s, name);
    return matches(pattern, &s);
}

/* ---- pattern table ---------------------------------------------------------------------------------- */

#define TENSOR  "tensor core"
#define MATRIX  "matrix core"
#define TILE    "tile unit"
#define CUDA    "CUDA core"
#define VECTOR  "vector"
#define UNKNOWN ""

/* Kernel names of oneDNN and OpenVINO. */
#define CPU_JIT "avx|sse4|_neon|_sve|jit_|brg_|brgemm|brgconv|ref_any|jit:"
/* Kernels that move, convert or exchange data have types in their names but do no arithmetic in them. */
#define MOVES                                                                                                \
    "nccl|rccl|elementwise|copypacked|genericreformat|memcpy|memset|rowwise|quantize|qparam|transpose"

static const struct oc_kernel_row precisions[] = {
    {.match = MOVES, .says = {.precision = UNKNOWN, .unit = UNKNOWN}},

    /* CPU: the instruction set is part of the name */
    {"amx", "int8|u8|s8", NULL, {.precision = "i8", .unit = TILE}},
    {"amx", "bf16", NULL, {.precision = "bf16", .unit = TILE}},
    {"amx", "f16|fp16", NULL, {.precision = "f16", .unit = TILE}},
    {"mlasgemmu8|mlasgemms8|mlasqgemm|mlasconvsym|mlasgemmquant",
     NULL,
     NULL,
     {.precision = "i8", .unit = VECTOR}},
    {CPU_JIT, "i8|u8|s8", NULL, {.precision = "i8", .unit = VECTOR}},
    {CPU_JIT, "bf16", NULL, {.precision = "bf16", .unit = VECTOR}},
    {CPU_JIT, "_f16|fp16", NULL, {.precision = "f16", .unit = VECTOR}},
    {CPU_JIT, "_f32|fp32", NULL, {.precision = "f32", .unit = VECTOR}},
    {"mlashgemm|mlashalfgemm|mlashalfconv", NULL, NULL, {.precision = "f16", .unit = VECTOR}},
    {"mlassbgemm|mlasbf16gemm", NULL, NULL, {.precision = "bf16", .unit = VECTOR}},
    {"mlasdgemm|mlasgemmdouble", NULL, NULL, {.precision = "f64", .unit = VECTOR}},
    {"mlassgemm|mlasgemmfloat|mlasconv|mlasnchwc|mlassgemv",
     NULL,
     NULL,
     {.precision = "f32", .unit = VECTOR}},
    {"sgemm_kernel|cblas_sgemm|mkl_*sgemm|xnn_f32|gebp_kernel<float",
     NULL,
     NULL,
     {.precision = "f32", .unit = VECTOR}},
    {"dgemm_kernel|cblas_dgemm|mkl_*dgemm|gebp_kernel<double",
     NULL,
     NULL,
     {.precision = "f64", .unit = VECTOR}},
    {"xnn_f16", NULL, NULL, {.precision = "f16", .unit = VECTOR}},
    {"xnn_q|xnn_x8", NULL, NULL, {.precision = "i8", .unit = VECTOR}},

    /* AMD: Tensile encodes the problem's types; MI is a matrix instruction */
    {"^cijk_*_mi##", NULL, NULL, {.unit = MATRIX}},
    {"^cijk_*_sb_|^cijk_*_s_b_", NULL, NULL, {.precision = "f32"}},
    {"^cijk_*_hb_|^cijk_*_hhs_|^cijk_*_hss_", NULL, NULL, {.precision = "f16"}},
    {"^cijk_*_bb_|^cijk_*_bbs_|^cijk_*_bss_", NULL, NULL, {.precision = "bf16"}},
    {"^cijk_*_db_", NULL, NULL, {.precision = "f64"}},
    {"^cijk_*_i8", NULL, NULL, {.precision = "i8"}},
    {"^cijk_*_f8|^cijk_*_b8", NULL, NULL, {.precision = "f8"}},
    {"gtcx|xdlops|mfma", NULL, NULL, {.unit = MATRIX}},
    {"miopen|igemm_fwd|igemm_bwd|igemm_wrw|gridwise_conv|sp3asm",
     "fp16|_f16|half",
     NULL,
     {.precision = "f16"}},
    {"miopen|igemm_fwd|igemm_bwd|igemm_wrw|gridwise_conv|sp3asm", "bf16", NULL, {.precision = "bf16"}},
    {"miopen|igemm_fwd|igemm_bwd|igemm_wrw|gridwise_conv|sp3asm", "fp32|_f32", NULL, {.precision = "f32"}},

    /* NVIDIA; the order is significant */
    {"e2m1|nvfp4", NULL, NULL, {.precision = "f4", .unit = TENSOR}},
    {"e4m3|e5m2|fp8|qgmma|nvjet_qq", NULL, NULL, {.precision = "f8", .unit = TENSOR}},
    {"i8816|i16832|imma|tensor8x8x16|int8x32|tensorop_i16832|tensorop_i8816|igmma|s8s8*tensor",
     NULL,
     NULL,
     {.precision = "i8", .unit = TENSOR}},
    {"i8i8_i8i32|i8f16_i8i32|i8f32_i8i32", "tensor#", NULL, {.precision = "i8", .unit = TENSOR}},
    {"int8x4|i8f32_f32|_i8", "icudnn|simt", NULL, {.precision = "i8", .unit = CUDA}}, /* dp4a */
    {"int8x4|i8i8_i8i32|i8f16_i8i32|i8f32_i8i32|s8s8", NULL, NULL, {.precision = "i8"}},
    {"interleaved_fp32|_i8", "icudnn|xmma", NULL, {.precision = "i8"}},
    {"bf16|s16816gemm_bf16|_bf16f32|nvjet_ts|bfloat16_t",
     "gemm|conv|xmma|cutlass|cudnn|mma|nvjet|flash|fmha|attn|s1688",
     NULL,
     {.precision = "bf16", .unit = TENSOR}},
    {"tensor16x8x16|h884|s884|h1688|s1688*f16|s1688*fp16|f16_s1688|fp16_s1688|h16816|s16816*f16|s16816*fp16|"
     "f16_s16816|fp16_s16816|f16f16_f16f16|f16f16_f32f32|hgmma|hmma|nvjet_hs|nvjet_hh",
     NULL,
     "tf32|simt|bf16",
     {.precision = "f16", .unit = TENSOR}},
    {"flash|fmha", "half_t|f16|fp16", "simt", {.precision = "f16", .unit = TENSOR}},
    {"fmha|flash|cutlass", "half_t", NULL, {.precision = "f16"}},
    {"tf32|tensorop_s1688|s1688gemm|s1688*cudnn|f32f32_tf32f32",
     NULL,
     "f16|fp16",
     {.precision = "tf32", .unit = TENSOR}},
    {"dmma|^d884|_d884", NULL, NULL, {.precision = "f64", .unit = TENSOR}},
    {"^dgemm|_dgemm|^zgemm|_zgemm", NULL, NULL, {.precision = "f64"}},
    {"sgemm|scudnn|ffma|fp32*simt|f32f32_f32f32*simt|^cgemm|_cgemm|gcgemm",
     NULL,
     NULL,
     {.precision = "f32", .unit = CUDA}},
    {"hgemm|hcudnn|fp16*simt|f16f16*simt", NULL, NULL, {.precision = "f16", .unit = CUDA}},
    {"simt", NULL, NULL, {.unit = CUDA}},
    {"tensorop|tensor16x8|wgmma|cutlass_tensor", NULL, NULL, {.unit = TENSOR}},
};

static const struct oc_kernel_row classes[] = {
    {.match = "nccl|rccl|allreduce|all_gather|allgather|reduce_scatter|sendrecv|broadcast_kernel_nccl|"
              "onecclkernel",
     .says = {.op_class = "communication"}},
    {.match = "^memcpy|^__memcpy|^memmove|^__memmove|memmove_avx|memcpy_avx|[cuda memcpy|memcpy htod|memcpy "
              "dtoh|memcpy dtod|memcpyasync",
     .says = {.op_class = "copy"}},
    {.match = "[cuda memset|memset", .says = {.op_class = "fill"}},
    {.match = "flash|fmha|attention|^attn|_attn|paged_kv|masked_multihead",
     .says = {.op_class = "attention"}},
    {.match = "genericreformat|copypacked|reformat|nchwtonhwc|nhwctonchw|transpose|permute|tensor_transform|"
              "mlastranspose|mlasreorder|reorder|im2col|col2im|padtensor|cudnn::ops::nchw|shuffle",
     .says = {.op_class = "layout"}},
    {.match = "dequantize|quantize|qparam", .says = {.op_class = "quantize"}},
    {.match = "depthwise|_dw_|^dw_|dwconv|conv_depthwise",
     .says = {.op_class = "conv", .algorithm = "depthwise"}},
    {.match = "winograd|winocnv|winconv|sp3asmconv", .says = {.op_class = "conv", .algorithm = "winograd"}},
    {.match = "fft2d|fft1d|flip_filter|regular_fft|vector_fft|fft_r2c|fft_c2r|compute_gemm_pointers|gcgemm",
     .says = {.op_class = "conv", .algorithm = "FFT"}},
    {.match =
         "implicit_gemm|implicit_convolve|igemm_fwd|igemm_bwd|igemm_wrw|cudnn_*_scudnn|precomputed_convolve",
     .says = {.op_class = "conv", .algorithm = "implicit GEMM"}},
    {.match = "explicit_convolve", .says = {.op_class = "conv", .algorithm = "explicit GEMM"}},
    {.match = "fprop|dgrad|wgrad", .says = {.op_class = "conv"}},
    {.match = "pooling|_pool|pool_|max_pool|avg_pool|maxpool|avgpool|mlaspool|jit_pool|poolfw|poolbw",
     .says = {.op_class = "pool"}},
    {.match = "softmax", .says = {.op_class = "softmax"}},
    {.match =
         "batch_norm|batchnorm|bnforward|bn_fw|bn_bw|bnbackward|layer_norm|layernorm|group_norm|groupnorm|"
         "rms_norm|rmsnorm|instance_norm|instancenorm|rowwisemoments|^norm_",
     .says = {.op_class = "norm"}},
    {.match = "scudnn|hcudnn|icudnn|816cudnn|1688cudnn|884cudnn|6832cudnn|convolv|conv2d|conv3d|_conv_|^conv|"
              "conv1x1|"
              "jit_*conv|brgconv|mlasconv|mlasnchwcconv|mlasnchwc|gridwise_conv|miopenconv",
     .says = {.op_class = "conv"}},
    {.match = "splitkreduce|splitk_reduce|splitkreduce_kernel",
     .says = {.op_class = "gemm", .algorithm = "split-K"}},
    {.match =
         "gemm|gemv|brgemm|brg_matmul|matmul|nvjet|^cijk_|gebp_kernel|dot_kernel|_mm_|globalkernel*cublaslt|"
         "^mlas*gemm|cublasgemv",
     .without = "fbgemm_gpu",
     .says = {.op_class = "gemm"}},
    {.match = "lstm|gru_|^gru|rnn|elemwisergates", .says = {.op_class = "rnn"}},
    {.match = "embedding|embs_kernel", .says = {.op_class = "embedding"}},
    {.match = "radixsort|radix_sort|topk|bitonic|sort_", .says = {.op_class = "sort"}},
    {.match = "optimizer|adam|adagrad|^sgd|multi_tensor_apply|foreach", .says = {.op_class = "optimizer"}},
    {.match = "distribution|philox|random|dropout|curand", .says = {.op_class = "random"}},
    {.match =
         "gather|scatter|index_|indexing|indexselect|_index|slice|catarray|concat|split|stack|unfold|expand",
     .says = {.op_class = "move"}},
    {.match = "reduce|reduction|cub::device|scan_", .says = {.op_class = "reduce"}},
    {.match = "elementwise|broadcast|pointwise|unary|binary|activation|relu|gelu|sigmoid|tanh|silu|eltwise|"
              "addfunctor|fill|triton_poi|scal_kernel|cast|mlascompute|op_generic|copy_kernel|copyif",
     .says = {.op_class = "elementwise"}},
    {.match = "triton_red|triton_per", .says = {.op_class = "reduce"}},
};

static const struct oc_kernel_row libraries[] = {
    {.match = "execute_kernel_trt|^trt_|tensorrt|genericreformat|__myl|^myelin|trt_",
     .says = {.library = "TensorRT"}},
    {.match = "cublaslt|nvjet", .says = {.library = "cuBLASLt"}},
    {.match = "execute_kernel_cublas|cublas|splitkreduce|gemmk1_kernel|gemmsn_|gemv2|gemvnsp|^dot_kernel",
     .says = {.library = "cuBLAS"}},
    {.match = "execute_kernel_cudnn|cudnn", .says = {.library = "cuDNN"}},
    {.match = "flash_attn|flash_fwd|flash_bwd|flashattn|^flash::", .says = {.library = "FlashAttention"}},
    {.match = "fmha", .says = {.library = "fused attention"}},
    {.match = "nccl", .says = {.library = "NCCL"}},
    {.match = "rccl", .says = {.library = "RCCL"}},
    {.match = "^triton_|triton__|triton_kernel", .says = {.library = "Triton"}},
    {.match = "cutlass", .says = {.library = "CUTLASS"}},
    {.match = "^ampere_*gemm|^volta_*gemm|^turing_*gemm|^maxwell_*gemm|^hopper_*gemm",
     .says = {.library = "cuBLAS"}},
    {.match = "implicit_convolve|explicit_convolve", .says = {.library = "cuDNN"}},
    {.match = "^cijk_", .says = {.library = "rocBLAS (Tensile)"}},
    {.match = "miopen|igemm_fwd|igemm_bwd|igemm_wrw|gridwise_|sp3asm|^naive_conv",
     .says = {.library = "MIOpen"}},
    {.match = "ck::", .says = {.library = "Composable Kernel"}},
    {.match = "^mlas|onnxruntime::mlas", .says = {.library = "MLAS"}},
    {.match = "jit_avx|jit_uni|jit_sse|jit_gemm|jit_bnorm|jit_*conv|brgconv|brgemm|brg_matmul|brg_conv|dnnl::"
              "|mkldnn|jit:",
     .says = {.library = "oneDNN"}},
    {.match = "mkl_", .says = {.library = "oneMKL"}},
    {.match = "^xnn_", .says = {.library = "XNNPACK"}},
    {.match = "eigen::", .says = {.library = "Eigen"}},
    {.match = "fbgemm", .says = {.library = "FBGEMM"}},
    {.match = "phi::|paddle::", .says = {.library = "Paddle"}},
    {.match = "onnxruntime::", .says = {.library = "ONNX Runtime"}},
    {.match = "cub::", .says = {.library = "CUB"}},
    {.match = "at::native|c10::", .says = {.library = "PyTorch"}},
};

/* ---- lookup ----------------------------------------------------------------------------------------- */

static bool row_matches(const struct oc_kernel_row *row, const struct seen *s)
{
    return matches(row->match, s) && (!row->with || matches(row->with, s)) &&
           (!row->without || !matches(row->without, s));
}

static void kernel_names_take(const char **fact, const char *said)
{
    if (!*fact)
        *fact = said;
}

static void apply_rows(const struct oc_kernel_row *row, size_t n, const struct seen *s,
                       struct oc_kernel_facts *out)
{
    for (size_t i = 0; i < n; i++) {
        if (!row_matches(&row[i], s))
            continue;
        kernel_names_take(&out->precision, row[i].says.precision);
        kernel_names_take(&out->unit, row[i].says.unit);
        kernel_names_take(&out->op_class, row[i].says.op_class);
        kernel_names_take(&out->library, row[i].says.library);
        kernel_names_take(&out->algorithm, row[i].says.algorithm);
    }
}

void oc_kernel_facts(const struct oc_kernel_names *own, const char *name, struct oc_kernel_facts *out)
{
    size_t n = 0;
    const struct oc_kernel_row *row = own ? oc_kernel_names_rows(own, &n) : NULL;
    struct seen s;
    set_trigrams(&s, name);
    *out = (struct oc_kernel_facts){NULL, NULL, NULL, NULL, NULL};
    apply_rows(row, n, &s, out);
    apply_rows(precisions, OC_COUNT(precisions), &s, out);
    apply_rows(classes, OC_COUNT(classes), &s, out);
    apply_rows(libraries, OC_COUNT(libraries), &s, out);
    kernel_names_take(&out->precision, "");
    kernel_names_take(&out->unit, "");
    kernel_names_take(&out->op_class, "");
    kernel_names_take(&out->library, "");
    kernel_names_take(&out->algorithm, "");
}

/* ---- names of facts --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum oc_kernel_unit unit;
} units[] = {{TENSOR, OC_UNIT_MATRIX},
             {MATRIX, OC_UNIT_MATRIX},
             {TILE, OC_UNIT_MATRIX},
             {CUDA, OC_UNIT_VECTOR},
             {VECTOR, OC_UNIT_VECTOR}};

enum oc_kernel_unit oc_kernel_unit(const char *unit)
{
    for (size_t i = 0; i < OC_COUNT(units); i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].unit;
    return OC_UNIT_UNKNOWN;
}

static const struct {
    const char *name;
    unsigned cls;
} written[] = {{"fp64", OC_CLASS_F64},    {"double", OC_CLASS_F64},  {"fp32", OC_CLASS_F32},
               {"float", OC_CLASS_F32},   {"fp16", OC_CLASS_F16},    {"half", OC_CLASS_F16},
               {"float16", OC_CLASS_F16}, {"float32", OC_CLASS_F32}, {"bfloat16", OC_CLASS_BF16},
               {"fp8", OC_CLASS_F8},      {"fp4", OC_CLASS_F4},      {"int8", OC_CLASS_I8},
               {"uint8", OC_CLASS_I8},    {"int4", OC_CLASS_I4},     {"int32", OC_CLASS_I32}};

unsigned oc_precision_class(const char *precision)
{
    char text[16];
    size_t n = strlen(precision);
    if (n >= sizeof(text))
        return OC_CLASS_NONE;
    for (size_t i = 0; i <= n; i++)
        text[i] = lower(precision[i]);
    for (size_t i = 0; i < OC_COUNT(written); i++)
        if (strcmp(written[i].name, text) == 0)
            return written[i].cls;
    return oc_class_by_name(text);
}

static const char *const class_names[] = {"attention", "communication", "conv",    "copy",     "elementwise",
                                          "embedding", "fill",          "gemm",    "layout",   "move",
                                          "norm",      "optimizer",     "pool",    "quantize", "random",
                                          "reduce",    "rnn",           "softmax", "sort"};

const char *oc_kernel_class(size_t index)
{
    return index < OC_COUNT(class_names) ? class_names[index] : NULL;
}
