/* profile/core/: Engines that the readers of event traces and tables share: events, launches, order, runs, records,
 * sums, names of kernels. No format is known here: a special case of one format belongs in its reader.
 * Private to the folder: run_fold.h timeline_parts.h. */

#include "profile/core/kernel_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/map.h"
#include "base/xml_read.h"
#include "onnxcost/profile.h"

/* ---- patterns --------------------------------------------------------------------------------------- */

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool kernel_names_is_word(char c)
{
    return oc_is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
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
        if (part[i] == '#' ? !oc_is_digit(*s) : lower(part[i]) != lower(*s))
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
    *s = (struct seen){.name = name};
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
        const char *behind = match_part_at(part, len, name, s);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a name is never NULL */
        for (; !behind && *s; behind = match_part_at(part, len, name, ++s))
            ;
        if (!behind)
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
    {"e4m3|e5m2|fp8|qgmma|nvjet_qq|nvjet_sm*_qq", NULL, NULL, {.precision = "f8", .unit = TENSOR}},
    {"i8816|i16832|imma|tensor8x8x16|int8x32|tensorop_i16832|tensorop_i8816|igmma|s8s8*tensor",
     NULL,
     NULL,
     {.precision = "i8", .unit = TENSOR}},
    {"i8i8_i8i32|i8f16_i8i32|i8f32_i8i32", "tensor#", NULL, {.precision = "i8", .unit = TENSOR}},
    {"int8x4|i8f32_f32|_i8", "icudnn|simt", NULL, {.precision = "i8", .unit = CUDA}}, /* dp4a */
    {"int8x4|i8i8_i8i32|i8f16_i8i32|i8f32_i8i32|s8s8", NULL, NULL, {.precision = "i8"}},
    {"interleaved_fp32|_i8", "icudnn|xmma", NULL, {.precision = "i8"}},
    {"bf16|s16816gemm_bf16|_bf16f32|nvjet_ts|nvjet_sm*_ts|bfloat16_t",
     "gemm|conv|xmma|cutlass|cudnn|mma|nvjet|flash|fmha|attn|s1688",
     NULL,
     {.precision = "bf16", .unit = TENSOR}},
    {"tensor16x8x16|h884|s884|h1688|s1688*f16|s1688*fp16|f16_s1688|fp16_s1688|h16816|s16816*f16|s16816*fp16|"
     "f16_s16816|fp16_s16816|f16f16_f16f16|f16f16_f32f32|hgmma|hmma|nvjet_hs|nvjet_hh|"
     "nvjet_sm*_hs|nvjet_sm*_hh",
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
    /* ggml (llama.cpp): products with quantized weights, recurrences over the tokens, and names that other rows
     * would take for something else */
    {.match = "^mul_mat_|dequantize_mul_mat", .says = {.op_class = "gemm"}},
    {.match = "^gated_delta_net|^ssm_scan_f|^ssm_ssd_|^rwkv_wkv", .says = {.op_class = "rnn"}},
    {.match = "^conv2d_transpose_kernel|^conv_transpose_1d_kernel", .says = {.op_class = "conv"}},
    {.match = "^convert_unary", .says = {.op_class = "elementwise"}},
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
    /* ggml's other names, and copies that ROCm does by a kernel */
    {.match = "^soft_max_", .says = {.op_class = "softmax"}},
    {.match = "^pool2d_nchw", .says = {.op_class = "pool"}},
    {.match = "^k_get_rows|^k_set_rows|^k_repeat|^cpy_scalar|^cpy_f32_q|^cpy_q_f32",
     .says = {.op_class = "move"}},
    {.match = "^k_bin_bcast|^scale_f32|^rope_neox|^rope_norm|^rope_multi|^rope_vision|^op_clamp_kernel|"
              "^softcap_f32|^diag_mask_inf|^add_id_kernel|^acc_f32|^swiglu_oai",
     .says = {.op_class = "elementwise"}},
    {.match = "^__amd_rocclr_copy", .says = {.op_class = "copy"}},
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
    {.match = "^mul_mat_q|^mul_mat_vec_|^mul_mat_f<|ggml_|mmq_q8_1|^quantize_q8_1|^k_bin_bcast|^k_get_rows|"
              "^k_set_rows|^gated_delta_net_cuda",
     .says = {.library = "ggml"}},
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

/* ---- kernel name file ------------------------------------------------------------------------------- */

/* Reads files of kernel names:
 *
 *   kernel-names version="1"
 *     kernel match [with] [without] [precision] [unit] [class] [library] [algorithm] */

#define MAX_ROWS 10000

struct oc_kernel_names {
    struct oc_arena arena;
    struct oc_kernel_row *row; /* on the heap */
    size_t n, cap;
};

struct reader {
    const struct oc_xml *xml;
    struct oc_kernel_names *names;
};

enum { E_NAMES, E_KERNEL, E_KINDS };

static bool is_class(const char *text)
{
    const char *name;
    for (size_t i = 0; (name = oc_kernel_class(i)); i++)
        if (strcmp(name, text) == 0)
            return true;
    return false;
}

/* NULL: attribute is absent; "": explicitly unknown. */
static const char *fact(const struct oc_xml_elem *e, const char *name)
{
    const char *text = oc_xml_get(e, name);
    return text && strcmp(text, "unknown") == 0 ? "" : text;
}

static int check_row(struct reader *r, const struct oc_kernel_row *row)
{
    const struct oc_kernel_facts *f = &row->says;
    if (!row->match[strspn(row->match, "*|^")])
        return oc_xml_fail(r->xml, "the pattern matches every name");
    if (!f->precision && !f->unit && !f->op_class && !f->library && !f->algorithm)
        return oc_xml_fail(r->xml, "sets nothing: add precision, unit, class, library or algorithm");
    if (f->precision && f->precision[0] && oc_class_by_name(f->precision) == OC_CLASS_NONE)
        return oc_xml_fail(r->xml, "unknown precision '%.40s' (f64, f32, tf32, f16, bf16, f8, f4, i8 ...)",
                           f->precision);
    if (f->unit && f->unit[0] && oc_kernel_unit(f->unit) == OC_UNIT_UNKNOWN)
        return oc_xml_fail(
            r->xml, "unknown unit '%.40s' (tensor core, matrix core, tile unit, CUDA core, vector)", f->unit);
    if (f->op_class && f->op_class[0] && !is_class(f->op_class))
        return oc_xml_fail(r->xml, "unknown class '%.40s' (conv, gemm, pool, elementwise ...)", f->op_class);
    return 0;
}

static int start_kernel_name(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_kernel_names *names = r->names;
    struct oc_kernel_row row = {.match = oc_xml_get(e, "match"),
                                .with = oc_xml_get(e, "with"),
                                .without = oc_xml_get(e, "without"),
                                .says = {.precision = fact(e, "precision"),
                                         .unit = fact(e, "unit"),
                                         .op_class = fact(e, "class"),
                                         .library = fact(e, "library"),
                                         .algorithm = fact(e, "algorithm")}};
    if (names->n == MAX_ROWS)
        return oc_xml_fail(r->xml, "more than %d rows", MAX_ROWS);
    if (check_row(r, &row))
        return -1;
    OC_PUSH(names->row, names->n, names->cap) = row;
    return 0;
}

static const struct oc_xml_spec specs[E_KINDS] = {
    [E_NAMES] = {"kernel-names", OC_XML_ROOT, NULL, false, "version", "", NULL, NULL},
    [E_KERNEL] = {"kernel", E_NAMES, "match", false, "match",
                  "with without precision unit class library algorithm", start_kernel_name, NULL},
};
static const struct oc_xml_format format = {specs, E_KINDS, "1", OC_KERNEL_NAMES_MAX_FILE_BYTES};

int oc_kernel_names_read_mem(const char *name, const void *data, size_t n, struct oc_kernel_names **out,
                             struct oc_err *err)
{
    struct oc_kernel_names *names = oc_xmalloc(sizeof(*names));
    *names = (struct oc_kernel_names){.n = 0};
    struct reader r = {.names = names};
    int rc = oc_xml_read(&format, name, data, n, &names->arena, &r, &r.xml, err);
    if (rc)
        oc_kernel_names_free(names);
    *out = rc ? NULL : names;
    return rc;
}

int oc_kernel_names_load(const char *path, struct oc_kernel_names **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_file file;
    *out = NULL;
    if (oc_file_map(path, OC_KERNEL_NAMES_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_kernel_names_read_mem(path, file.data, (size_t)file.size_bytes, out, err);
    oc_file_unmap(&file);
    return rc;
}

void oc_kernel_names_free(struct oc_kernel_names *names)
{
    if (!names)
        return;
    free(names->row);
    oc_arena_free(&names->arena);
    free(names);
}

const struct oc_kernel_row *oc_kernel_names_rows(const struct oc_kernel_names *own, size_t *n)
{
    *n = own->n;
    return own->row;
}

/* ---- kernel shares ---------------------------------------------------------------------------------- */

/* Derives precision, unit and type of a record from the kernels that take most of its time. */

struct share {
    uint32_t rec;
    const char *kernel, *precision, *unit, *op_class;
    double ns;
};

static int by_record(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->rec != y->rec)
        return x->rec < y->rec ? -1 : 1;
    int order = strcmp(x->precision, y->precision);
    return order ? order : strcmp(x->unit, y->unit);
}

/* Shares of one record: the value with more than half of the time. */
static void set_record_facts(struct oc_prof_rec *rec, const struct share *share, size_t n)
{
    double whole = 0, same = 0;
    for (size_t i = 0; i < n; i++)
        whole += share[i].ns;
    for (size_t i = 0; i < n; i++) {
        same = i && by_record(&share[i - 1], &share[i]) == 0 ? same + share[i].ns : share[i].ns;
        if (2 * same > whole) {
            rec->precision = share[i].precision;
            rec->unit = share[i].unit;
            return;
        }
    }
}

static bool has_no_share(const char *s)
{
    return !s || !*s;
}

/* The class with more than half of the time: majority vote, then a check of the winner. "": none. */
static const char *main_class(const struct share *share, size_t n)
{
    const char *best = "";
    double lead = 0, whole = 0, same = 0;
    for (size_t i = 0; i < n; i++) {
        bool equal = strcmp(share[i].op_class, best) == 0;
        if (!equal && share[i].ns > lead)
            best = share[i].op_class;
        lead = equal ? lead + share[i].ns : fabs(lead - share[i].ns);
        whole += share[i].ns;
    }
    for (size_t i = 0; i < n; i++)
        same += strcmp(share[i].op_class, best) == 0 ? share[i].ns : 0;
    return 2 * same > whole ? best : "";
}

/* A record without a type: that in the name of its range, which TensorRT names after the layer, otherwise the
 * class of its kernels. */
static void set_record_type(struct oc_profile *p, struct oc_prof_rec *rec, const struct share *share,
                            size_t n)
{
    bool is_kernel = false;
    for (size_t i = 0; i < n; i++)
        is_kernel = is_kernel || strcmp(share[i].kernel, rec->name) == 0;
    struct oc_str named = is_kernel ? (struct oc_str){"", 0}
                                    : oc_trt_layer_type(&(struct trt_typed){
                                          .name = rec->name, .type = "", .param_type = "", .pooling = ""});
    rec->op_type = named.n ? oc_intern(&p->names, named.s, named.n) : main_class(share, n);
    rec->type_by_name = *rec->op_type != '\0';
}

/* One kernel works for many records: facts are memoised per name. */
struct known {
    struct oc_arena arena;
    struct oc_map index_of; /* indexed by name */
    struct oc_kernel_facts *facts;
    uint32_t n, cap;
};

static const struct oc_kernel_facts *facts_of(struct known *known, const struct oc_kernel_names *own,
                                              const char *name)
{
    uint32_t index = known->n;
    if (oc_map_add(&known->index_of, name, strlen(name), &index, NULL)) {
        OC_GROW(known->facts, known->n, known->cap);
        oc_kernel_facts(own, name, &known->facts[known->n++]);
    }
    return &known->facts[index];
}

static void set_kernel_facts(struct oc_prof_kernel *k, const struct oc_kernel_facts *f)
{
    if (has_no_share(k->precision) && has_no_share(k->unit)) {
        k->precision = f->precision;
        k->unit = f->unit;
    }
    if (has_no_share(k->library))
        k->library = f->library;
}

void oc_profile_name_kernels(struct oc_profile *p, const struct oc_kernel_names *own)
{
    struct share *share = oc_xmalloc((p->n_kernel + (size_t)1) * sizeof(*share));
    struct known known = {.index_of.arena = &known.arena};
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        struct oc_prof_kernel *k = &p->kernel[i];
        set_kernel_facts(k, facts_of(&known, own, k->name));
        if (k->rec < p->n_rec && k->total_ns > 0)
            share[n++] = (struct share){
                .rec = k->rec,
                .kernel = k->name,
                .precision = k->precision,
                .unit = k->unit,
                .op_class = facts_of(&known, own, k->name)->op_class,
                .ns = k->total_ns,
            };
    }
    if (n)
        qsort(share, n, sizeof(*share), by_record);
    for (size_t i = 0, end; i < n; i = end) {
        struct oc_prof_rec *rec = &p->rec[share[i].rec];
        for (end = i + 1; end < n && share[end].rec == share[i].rec;)
            end++;
        if (has_no_share(rec->precision) && has_no_share(rec->unit))
            set_record_facts(rec, share + i, end - i);
        if (has_no_share(rec->op_type) && !rec->bucket)
            set_record_type(p, rec, share + i, end - i);
    }
    free(share);
    free(known.facts);
    oc_map_free(&known.index_of);
    oc_arena_free(&known.arena);
}
