#include "profile/core/kernel_names.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "support/many.h"
#include "onnxcost/profile.h"

static void patterns_match_case_insensitively_with_wildcards(void **state)
{
    (void)state;
    assert_true(oc_kernel_match("gemm", "ampere_SGEMM_128x64"));
    assert_false(oc_kernel_match("gemm", "ampere_sgem_m"));
    assert_true(oc_kernel_match("a*c|zz", "xxabbcxx"));
    assert_false(oc_kernel_match("a*c*a", "xxabbcxx"));
    assert_true(oc_kernel_match("mi##x", "MT64_MI16x16"));
    assert_false(oc_kernel_match("mi##x", "MI1x"));
    assert_true(oc_kernel_match("^trt_", "void trt_x"));
    assert_true(oc_kernel_match("^trt_", "trt_x"));
    assert_false(oc_kernel_match("^trt_", "mytrt_x"));
    assert_false(oc_kernel_match("", "x"));
    assert_false(oc_kernel_match("||", "x"));
}

/* The same by testing every position for every character, star by star. */
static bool matches_at(const char *part, const char *name, const char *at)
{
    if (!*part || *part == '|')
        return true;
    if (*part == '*')
        return matches_at(part + 1, name, at) || (*at && matches_at(part, name, at + 1));
    if (*part == '^')
        return !(at > name && isalnum((unsigned char)at[-1])) && matches_at(part + 1, name, at);
    return *at && (*part == '#' ? isdigit((unsigned char)*at) : tolower(*part) == tolower(*at)) &&
           matches_at(part + 1, name, at + 1);
}

static bool slow_match(const char *pattern, const char *name)
{
    for (const char *part = pattern; part; part = strchr(part, '|') ? strchr(part, '|') + 1 : NULL)
        for (const char *at = name; *part && *part != '|'; at++) {
            if (matches_at(part, name, at))
                return true;
            if (!*at)
                break;
        }
    return false;
}

static void random_text(uint64_t *seed, const char *letters, char *out, size_t n)
{
    size_t k = strlen(letters);
    for (size_t i = 0; i < n; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        out[i] = letters[(*seed >> 33) % k];
    }
    out[n] = '\0';
}

/* 'p' and '0', 'a' and 'A', '_' and 0x1f share their last five bits. */
static void patterns_agree_with_a_slow_search(void **state)
{
    (void)state;
    uint64_t seed = 1;
    unsigned yes = 0, no = 0;
    for (unsigned i = 0; i < 20000; i++) {
        char pattern[9], name[25];
        random_text(&seed, "aaapp00__#^*|", pattern, 1 + i % 8);
        random_text(&seed, "aApP0_\x1f", name, i % 25);
        if (oc_kernel_match(pattern, name) != slow_match(pattern, name))
            fail_msg("'%s' in '%s': %d", pattern, name, slow_match(pattern, name));
        slow_match(pattern, name) ? yes++ : no++;
    }
    assert_true(yes > 2000 && no > 2000);
}

static double facts_s(const char *name)
{
    struct oc_kernel_facts facts;
    double least = 1e9;
    for (unsigned round = 0; round < 5; round++) {
        clock_t start = clock();
        for (unsigned i = 0; i < 200; i++)
            oc_kernel_facts(NULL, name, &facts);
        double s = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = s < least ? s : least;
    }
    return least;
}

/* Hundreds of patterns, none of which is searched where it cannot match: 500 characters take less than 50
 * times the time of 10. */
static void long_names_are_not_searched_for_every_pattern(void **state)
{
    (void)state;
    char name[501];
    memset(name, 'q', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    double many = facts_s(name), few = facts_s("qqqqqqqqqq");
    if (many > 12 * few)
        fail_msg("500 characters take %.0f times the time of 10", many / few);
}

struct row {
    const char *name, *precision, *unit, *op_class, *library, *algorithm;
};

/* Names as runtimes print them, with the facts of the vendors' naming scheme: leading h or s before the shape
 * of the instruction (884 Volta, 1688 Turing, 16816 Ampere) is the accumulator, xmma lists input, output,
 * accumulator. */
static const struct row known[] = {
    {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", "f16", "tensor core", "gemm", "cuBLAS", ""},
    {"volta_h884gemm_64x128_ldg8_tn", "f16", "tensor core", "gemm", "cuBLAS", ""},
    {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "f16", "tensor core", "gemm", "cuBLAS", ""},
    {"turing_h1688gemm_128x64_ldg8_stages_32x1_tn", "f16", "tensor core", "gemm", "cuBLAS", ""},
    {"ampere_h16816gemm_64x64_sliced1x2_ldg8_stages_64x5_tn", "f16", "tensor core", "gemm", "cuBLAS", ""},
    {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn", "f16", "tensor core", "gemm", "cuBLAS",
     ""},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "bf16", "tensor core", "gemm", "cuBLAS",
     ""},
    {"ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_stages_32x1_nn", "bf16", "tensor core", "gemm", "cuBLAS",
     ""},
    {"ampere_sgemm_32x32_sliced1x4_tn", "f32", "CUDA core", "gemm", "cuBLAS", ""},
    {"volta_sgemm_128x64_nn", "f32", "CUDA core", "gemm", "cuBLAS", ""},
    {"volta_hgemm_64x64_nn", "f16", "CUDA core", "gemm", "cuBLAS", ""},
    {"volta_dgemm_128x64_nn", "f64", "", "gemm", "cuBLAS", ""},
    {"trt_ampere_h16816cudnn_pool_max_nhwc", "f16", "tensor core", "pool", "TensorRT", ""},
    {"ampere_scudnn_128x64_relu_medium_nn_v1", "f32", "CUDA core", "conv", "cuDNN", ""},
    {"ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "f32", "CUDA core", "conv", "cuDNN",
     "winograd"},
    {"volta_hcudnn_128x128_relu_small_nn_v1", "f16", "CUDA core", "conv", "cuDNN", ""},
    {"volta_int8x4_icudnn_int8x4_128x32_relu_xregs_medium_c32_nn_v1", "i8", "CUDA core", "conv", "cuDNN", ""},
    {"turing_fp32_i8816cudnn_int8_128x128_ldg16_relu_small_nt_v1", "i8", "tensor core", "conv", "cuDNN", ""},
    {"trt_turing_cutlass_image_network_first_layer_hmma_fprop_f16f16f32_nhwc_nhwc_k64r7s7c4_stride2x2", "f16",
     "tensor core", "conv", "TensorRT", ""},
    {"sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize128x64x32_stage4_"
     "warpsize4x1x1"
     "_g1_tensor16x8x16_execute_kernel_trt",
     "f16", "tensor core", "conv", "TensorRT", "implicit GEMM"},
    {"sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x32x64_stage5_g1_tensor16x8x8",
     "tf32", "tensor core", "conv", "", "implicit GEMM"},
    {"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x64x8_stage3_g1_ffma_t1r3s3",
     "f32", "CUDA core", "conv", "", "implicit GEMM"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_simt", "f32",
     "CUDA core", "gemm", "", ""},
    {"sm80_xmma_fprop_implicit_gemm_interleaved_i8i8_i8i32_f32_nchw_vect_c_32kcrs_tilesize96x128x64_g1_"
     "tensor16x8x32",
     "i8", "tensor core", "conv", "", "implicit GEMM"},
    {"sm70_xmma_fprop_conv1x1_i8f32_f32_f32_nchw_vect_c_4kcrs_vect_c_4_nchw_simt_small_batch_bias_relu", "i8",
     "CUDA core", "conv", "", ""},
    {"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x128_warpgroupsize1x1x1_execute_segment_k_off_"
     "kernel",
     "f8", "tensor core", "gemm", "", ""},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "bf16", "tensor core", "gemm", "", ""},
    {"cutlass_80_tensorop_s1688gemm_64x64_32x6_nn_align1", "tf32", "tensor core", "gemm", "CUTLASS", ""},
    {"cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x64_64x4_nn_align8", "f16", "tensor core", "gemm",
     "CUTLASS", ""},
    {"cutlass_80_simt_sgemm_128x64_8x5_nn_align1", "f32", "CUDA core", "gemm", "CUTLASS", ""},
    {"cutlass_tensorop_bf16_s16816fprop_optimized_bf16_128x128_32x4_nhwc", "bf16", "tensor core", "conv",
     "CUTLASS", ""},
    {"cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1", "f64", "tensor core", "gemm", "CUTLASS", ""},
    {"cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_128x128x128", "f8", "tensor core",
     "gemm", "CUTLASS", ""},
    {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT", "bf16", "tensor core", "gemm", "cuBLASLt", ""},
    {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", "f16", "tensor core", "gemm", "cuBLASLt", ""},
    {"nvjet_sm90_hsh_96x128_64x6_2x1_v_bz_NNN", "f16", "tensor core", "gemm", "cuBLASLt", ""},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NTN", "bf16", "tensor core", "gemm", "cuBLASLt", ""},
    {"nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT", "f8", "tensor core", "gemm", "cuBLASLt", ""},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, __half, __half>(cublasLt::cublasSplitKParams<__half>)",
     "", "", "gemm", "cuBLASLt", "split-K"},
    {"void mul_mat_q<(ggml_type)12, 128, false>(char const*, int const*)", "", "", "gemm", "ggml", ""},
    {"mul_mat_vec_q", "", "", "gemm", "ggml", ""},
    {"dequantize_mul_mat_vec_q4_K(void const*, float const*, float*, int, int)", "", "", "gemm", "ggml", ""},
    {"dequantize_block_q4_K<float>(void const*, float*)", "", "", "quantize", "", ""},
    {"void gated_delta_net_cuda<128, false, false>(float const*)", "", "", "rnn", "ggml", ""},
    {"void k_get_rows_float<float, float>(float const*)", "", "", "move", "ggml", ""},
    {"void soft_max_f32<true, 0, 0, float>(float const*)", "", "", "softmax", "", ""},
    {"void convert_unary<__half, float>(void const*)", "", "", "elementwise", "", ""},
    {"tensor_mul_matrix", "", "", "", "", ""},
    {"__amd_rocclr_copyBuffer", "", "", "copy", "", ""},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::half_t>>(Flash_fwd_params)",
     "f16", "tensor core", "attention", "FlashAttention", ""},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t>>(int)",
     "bf16", "tensor core", "attention", "FlashAttention", ""},
    {"fmha_v2_flash_attention_fp16_64_128_S_40_sm80_kernel_nl", "f16", "tensor core", "attention",
     "fused attention", ""},
    {"void genericReformat::copyPackedKernel<float, __half, true, true>(unsigned int, void const*)", "", "",
     "layout", "TensorRT", ""},
    {"__myl_AddResMulMulSum_0x1234", "", "", "", "TensorRT", ""},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "", "",
     "communication", "NCCL", ""},
    {"triton_poi_fused_add_cos_sin_0", "", "", "elementwise", "Triton", ""},
    {"triton_red_fused_native_layer_norm_3", "", "", "norm", "Triton", ""},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)", "", "",
     "elementwise", "PyTorch", ""},
    {"void fft2d_r2c_32x32<float, false, 0u, false>(float2*)", "", "", "conv", "", "FFT"},
    {"void cudnn::winograd::generateWinogradTilesKernel<0, float, float>(int)", "", "", "conv", "cuDNN",
     "winograd"},
    {"[CUDA memcpy Device-to-Host]", "", "", "copy", "", ""},
    {"[CUDA memset]", "", "", "fill", "", ""},
    {"Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SE", "f32", "matrix core", "gemm", "rocBLAS (Tensile)", ""},
    {"Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SE", "f16", "matrix core", "gemm", "rocBLAS (Tensile)",
     ""},
    {"Cijk_Ailk_Bjlk_BBS_BH_MT128x128x32_SN", "bf16", "", "gemm", "rocBLAS (Tensile)", ""},
    {"miopenSp3AsmConv_v21_1_2_gfx9_fp32_stride1", "f32", "", "conv", "MIOpen", "winograd"},
    {"igemm_fwd_gtcx_nhwc_fp16_bx0_ex1_bt256x256x32", "f16", "matrix core", "conv", "MIOpen",
     "implicit GEMM"},
    {"MlasSgemmKernelAvx512F", "f32", "vector", "gemm", "MLAS", ""},
    {"MlasConvDepthwiseFloat_CHW", "f32", "vector", "conv", "MLAS", "depthwise"},
    {"MlasNchwcConv", "f32", "vector", "conv", "MLAS", ""},
    {"MlasGemmU8S8KernelAmx", "i8", "tile unit", "gemm", "MLAS", ""},
    {"brgconv_avx512_f32", "f32", "vector", "conv", "oneDNN", ""},
    {"jit_gemm_avx512_core_bf16", "bf16", "vector", "gemm", "oneDNN", ""},
    {"brg_matmul:avx512_core_amx_int8", "i8", "tile unit", "gemm", "oneDNN", ""},
    {"jit_avx2_dw_conv_f32", "f32", "vector", "conv", "oneDNN", "depthwise"},
    {"sgemm_kernel_HASWELL", "f32", "vector", "gemm", "", ""},
    {"xnn_f32_gemm_minmax_ukernel_6x16__avx512f", "f32", "vector", "gemm", "XNNPACK", ""},
    {"my_kernel(float*, int)", "", "", "", "", ""},
    {"", "", "", "", "", ""},
};

static void well_known_names_are_classified(void **state)
{
    (void)state;
    size_t bad = 0;
    for (size_t i = 0; i < OC_COUNT(known); i++) {
        const struct row *k = &known[i];
        struct oc_kernel_facts f;
        oc_kernel_facts(NULL, k->name, &f);
        if (strcmp(f.precision, k->precision) || strcmp(f.unit, k->unit) || strcmp(f.op_class, k->op_class) ||
            strcmp(f.library, k->library) || strcmp(f.algorithm, k->algorithm)) {
            print_error("%s: %s, %s, %s, %s, %s\n", k->name, f.precision, f.unit, f.op_class, f.library,
                        f.algorithm);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
}

static void facts_have_known_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(known); i++) {
        struct oc_kernel_facts f;
        bool is_class = false;
        oc_kernel_facts(NULL, known[i].name, &f);
        const char *name;
        for (size_t k = 0; (name = oc_kernel_class(k)); k++)
            is_class |= strcmp(name, f.op_class) == 0;
        assert_true(is_class || !f.op_class[0]);
        assert_true(!f.precision[0] || oc_precision_class(f.precision) != OC_CLASS_NONE);
        assert_true(!f.unit[0] || oc_kernel_unit(f.unit) != OC_UNIT_UNKNOWN);
    }
    assert_int_equal(oc_precision_class("FP16"), OC_CLASS_F16);
    assert_int_equal(oc_precision_class("Half"), OC_CLASS_F16);
    assert_int_equal(oc_precision_class("INT8"), OC_CLASS_I8);
    assert_int_equal(oc_precision_class("TF32"), OC_CLASS_TF32);
    assert_int_equal(oc_precision_class(""), OC_CLASS_NONE);
    assert_int_equal(oc_precision_class("a precision with a long name"), OC_CLASS_NONE);
}

/* ---- files ---- */

static void rows_of_the_user_come_first(void **state)
{
    (void)state;
    struct oc_kernel_names *own;
    struct oc_kernel_facts f;
    struct oc_err err = {0};
    if (oc_kernel_names_load("hwdb/kernel-names/example.xml", &own, &err))
        fail_msg("%s", err.msg);
    oc_kernel_facts(own, "acme_conv3x3_h8", &f);
    assert_string_equal(f.precision, "f16");
    assert_string_equal(f.unit, "tensor core");
    assert_string_equal(f.op_class, "conv");
    assert_string_equal(f.library, "acme");
    oc_kernel_facts(own, "acme_sgemm_tc4", &f); /* excluded by without: the built-in row */
    assert_string_equal(f.precision, "f32");
    assert_string_equal(f.unit, "CUDA core");
    assert_string_equal(f.library, "");
    oc_kernel_names_free(own);
}

static void rows_may_say_unknown(void **state)
{
    (void)state;
    const char *text = "<kernel-names version=\"1\"><kernel match=\"sgemm\" precision=\"unknown\" "
                       "unit=\"unknown\"/></kernel-names>";
    struct oc_kernel_names *own;
    struct oc_kernel_facts f;
    assert_int_equal(oc_kernel_names_read_mem("x.xml", text, strlen(text), &own, NULL), 0);
    oc_kernel_facts(own, "volta_sgemm_128x64_nn", &f);
    assert_string_equal(f.precision, "");
    assert_string_equal(f.unit, "");
    assert_string_equal(f.op_class, "gemm");
    oc_kernel_names_free(own);
}

static void expect_read_error(char *text, const char *why)
{
    struct oc_kernel_names *own;
    struct oc_err err = {0};
    assert_int_equal(oc_kernel_names_read_mem("x.xml", text, strlen(text), &own, &err), -1);
    assert_null(own);
    if (!strstr(err.msg, why))
        fail_msg("'%s' has no '%s'", err.msg, why);
    free(text);
}

static void rejects_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *row, *why;
    } bad[] = {
        {"<kernel precision=\"f16\"/>", "missing match"},
        {"<kernel match=\"*|^\" precision=\"f16\"/>", "matches every name"},
        {"<kernel match=\"x\"/>", "sets nothing"},
        {"<kernel match=\"x\" precision=\"f17\"/>", "unknown precision 'f17'"},
        {"<kernel match=\"x\" unit=\"tensor\"/>", "unknown unit 'tensor'"},
        {"<kernel match=\"x\" class=\"Conv\"/>", "unknown class 'Conv'"},
        {"<kernel match=\"x\" clas=\"conv\"/>", "clas"},
        {"<kernels match=\"x\" class=\"conv\"/>", "kernels"},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++)
        expect_read_error(t_many("<kernel-names version=\"1\">", bad[i].row, 1, "</kernel-names>"),
                          bad[i].why);
    expect_read_error(
        t_many("<kernel-names version=\"2\">", "<kernel match=\"x\" class=\"conv\"/>", 1, "</kernel-names>"),
        "version '2' is not supported");
    expect_read_error(t_many("<kernel-names version=\"1\">", "<kernel match=\"x#\" class=\"conv\"/>", 10001,
                             "</kernel-names>"),
                      "more than 10000 rows");
}

/* ---- samples ---- */

/* TensorRT kernel names contain the precision of the engine: the TacticName of an fp32 engine is never f16 or
 * i8, that of an fp16 engine never i8 or tf32. */
static void check_tactics(const char *path, const char *allowed, unsigned at_least)
{
    struct oc_file file;
    struct oc_err err;
    unsigned told = 0;
    if (oc_file_map(path, 0, &file, &err))
        fail_msg("%s", err.msg);
    const char *s = (const char *)file.data, *end = s + file.size_bytes;
    static const char key[] = "\"TacticName\": \"";
    while ((s = memmem(s, (size_t)(end - s), key, strlen(key)))) {
        char name[400];
        struct oc_kernel_facts f;
        s += strlen(key);
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(s, "\""), s);
        oc_kernel_facts(NULL, name, &f);
        if (f.precision[0] && !strstr(allowed, f.precision))
            fail_msg("%s: %s", name, f.precision);
        if (f.precision[0] && !f.unit[0])
            fail_msg("%s: no unit", name);
        told += f.precision[0] != 0;
    }
    oc_file_unmap(&file);
    if (told < at_least)
        fail_msg("%s: only %u names", path, told);
}

static void tactics_of_samples_are_classified(void **state)
{
    (void)state;
#define TRT "../shared/samples/tensorrt/"
    if (access(TRT, R_OK)) {
        print_message("SKIPPED: no samples in '" TRT "'\n");
        skip();
    }
    check_tactics(TRT "pytorch.resnet.A100.fp32.resnet.onnx.engine.graph.json", "tf32", 20);
    check_tactics(TRT "pytorch.resnet.A100.fp16.resnet.onnx.engine.graph.json", "f16", 20);
    check_tactics(TRT "tensorflow.resnet.RTX-3090.fp32.resnet.onnx.engine.graph.json", "tf32", 50);
    check_tactics(TRT "tensorflow.resnet.RTX-3090.fp16.resnet.onnx.engine.graph.json", "f16", 50);
    check_tactics(TRT "tests.mobilenet.qat.onnx.engine.graph.json", "i8 f32 f16", 20);
}

/* Records of a profile that names kernels only: "type of record 0, ...". */
static void records_without_a_type_get_one_from_names(void **state)
{
    struct oc_profile p = {.n_rec = 4, .n_kernel = 7};
    struct oc_prof_rec rec[] = {oc_prof_rec_new("sm80_xmma_fprop_implicit_gemm_f16"),
                                oc_prof_rec_new("Conv_0 + Relu_1"), oc_prof_rec_new("step"),
                                oc_prof_rec_new("typed")};
    struct oc_prof_kernel kernel[] = {{.name = rec[0].name, .rec = 0, .total_ns = 5},
                                      {.name = "volta_sgemm_128x64", .rec = 1, .total_ns = 5},
                                      {.name = "softmax_warp", .rec = 2, .total_ns = 3},
                                      {.name = "ampere_sgemm_128", .rec = 2, .total_ns = 4},
                                      {.name = "ampere_sgemm_64", .rec = 2, .total_ns = 4},
                                      {.name = "softmax_warp", .rec = 3, .total_ns = 4},
                                      {.name = "somekernel", .rec = OC_NONE, .total_ns = 4}};
    static const char *const want[] = {"conv", "Conv", "gemm", "Add"};
    (void)state;
    p.names.arena = &p.arena;
    rec[3].op_type = "Add";
    p.rec = rec;
    p.kernel = kernel;
    oc_profile_name_kernels(&p, NULL);
    for (size_t i = 0; i < p.n_rec; i++) {
        assert_string_equal(rec[i].op_type, want[i]);
        assert_int_equal(rec[i].type_by_name, i < 3);
    }
    oc_map_free(&p.names);
    oc_arena_free(&p.arena);
}

static void a_class_needs_a_majority_of_the_time(void **state)
{
    struct oc_profile p = {.n_rec = 1, .n_kernel = 3};
    struct oc_prof_rec rec = oc_prof_rec_new("range");
    struct oc_prof_kernel kernel[] = {{.name = "softmax_warp", .total_ns = 1},
                                      {.name = "sgemm", .total_ns = 1},
                                      {.name = "maxpool", .total_ns = 1}};
    (void)state;
    p.names.arena = &p.arena;
    p.rec = &rec;
    p.kernel = kernel;
    oc_profile_name_kernels(&p, NULL);
    assert_string_equal(rec.op_type, "");
    oc_map_free(&p.names);
    oc_arena_free(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_case_insensitively_with_wildcards),
        cmocka_unit_test(patterns_agree_with_a_slow_search),
        cmocka_unit_test(long_names_are_not_searched_for_every_pattern),
        cmocka_unit_test(well_known_names_are_classified),
        cmocka_unit_test(facts_have_known_names),
        cmocka_unit_test(rows_of_the_user_come_first),
        cmocka_unit_test(rows_may_say_unknown),
        cmocka_unit_test(rejects_bad_files),
        cmocka_unit_test(tactics_of_samples_are_classified),
        cmocka_unit_test(records_without_a_type_get_one_from_names),
        cmocka_unit_test(a_class_needs_a_majority_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
