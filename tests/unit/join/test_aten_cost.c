/* Costs of PyTorch's operators from recorded shapes. Multiply-adds agree with the
 * formulas of torch/utils/flop_counter.py (2 per multiply-add), but for causal masks. */
#include "join/record_cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

struct row {
    const char *op, *dims, *types, *values; /* values NULL: not recorded */
    uint64_t macs, flops, ops;
    uint8_t quality;
    bool bytes_known;
    uint64_t rd, wr;
};

/* A trace with one operator; device_ns < 0: without device events. */
static struct oc_profile *trace_of(const struct row *r, int device_us)
{
    char text[3000], kernel[600] = "";
    struct oc_err e;
    if (device_us >= 0)
        snprintf(kernel, sizeof(kernel),
                 ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
                 "\"ts\":12,\"dur\":1,\"args\":{\"correlation\":7}},"
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":%d,"
                 "\"args\":{\"correlation\":7,\"device\":0,\"stream\":7,\"bytes\":4}}",
                 device_us ? "kernel" : "gpu_memcpy", device_us ? device_us : 1);
    snprintf(
        text, sizeof(text),
        "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,"
        "\"tid\":1,\"ts\":10,\"dur\":5,\"args\":{\"External id\":1,\"Input Dims\":%s%s%s%s%s}}%s]}",
        r->op, r->dims, r->types ? ",\"Input type\":" : "", r->types ? r->types : "",
        r->values ? ",\"Concrete Inputs\":" : "", r->values ? r->values : "", kernel);
    struct oc_profile *p = t_profile_text(text, NULL, &e);
    assert_non_null(p);
    return p;
}

static void check(const struct row *r, int device_us)
{
    struct oc_arena a = {0};
    struct oc_record_cost k;
    struct oc_profile *p = trace_of(r, device_us);
    print_message("%s %s\n", r->op, r->dims);
    oc_record_cost(p, t_rec(p, r->op), &a, NULL, &k);
    assert_int_equal(k.quality, r->quality);
    assert_int_equal(k.note == NULL, r->quality == OC_EXACT);
    assert_int_equal(k.macs, r->macs);
    assert_int_equal(k.flops, r->flops);
    assert_int_equal(k.ops, r->ops);
    assert_int_equal(k.bytes_known, r->bytes_known);
    if (r->bytes_known) {
        assert_int_equal(k.rd, r->rd);
        assert_int_equal(k.wr, r->wr);
    }
    oc_profile_close(p);
    oc_arena_free(&a);
}

#define F2 "[\"float\",\"float\"]"
#define F3 "[\"float\",\"float\",\"float\"]"
#define H3 "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"\",\"Scalar\",\"Scalar\"]"

static const struct row rows[] = {
    /* 3*5*4 multiply-adds */
    {"aten::mm", "[[3,4],[4,5]]", F2, NULL, 60, 120, 0, OC_EXACT, true, (12 + 20) * 4, 60},
    {"aten::mm", "[[3,4],[4,5]]", "[\"long int\",\"long int\"]", NULL, 60, 0, 120, OC_EXACT, true, 32 * 8,
     120},
    {"aten::mm", "[[3,4],[4,5]]", NULL, NULL, 60, 120, 0, OC_EST, false, 0, 0},
    {"aten::mm", "[[3,4],[3,5]]", F2, NULL, 0, 0, 0, OC_UNKNOWN, true, 0, 0},
    {"aten::addmm", "[[5],[3,4],[4,5],[],[]]", F3, NULL, 60, 135, 0, OC_EXACT, true, (5 + 12 + 20) * 4, 60},
    {"aten::bmm", "[[2,3,4],[2,4,5]]", F2, NULL, 120, 240, 0, OC_EXACT, true, (24 + 40) * 4, 120},
    {"aten::baddbmm", "[[2,3,5],[2,3,4],[2,4,5],[],[]]", F3, NULL, 120, 270, 0, OC_EXACT, true,
     (30 + 24 + 40) * 4, 120},
    /* W is N x K; the bias adds 2*3*5 */
    {"aten::linear", "[[2,3,4],[5,4],[5]]", F3, NULL, 120, 270, 0, OC_EXACT, true, (24 + 20 + 5) * 4, 120},
    /* batches broadcast: 2*7 products of 3x4 and 4x5 */
    {"aten::matmul", "[[2,1,3,4],[7,4,5]]", F2, NULL, 840, 1680, 0, OC_EXACT, true, (24 + 140) * 4, 840},
    {"aten::matmul", "[[4],[4]]", F2, NULL, 4, 8, 0, OC_EXACT, true, 32, 4},
    /* 5*64*112*112 outputs of 3*7*7 */
    {"aten::conv2d", "[[5,3,224,224],[64,3,7,7],[],[],[],[],[]]",
     "[\"float\",\"float\",\"\",\"ScalarList\",\"ScalarList\",\"ScalarList\",\"Scalar\"]",
     "[\"\",\"\",\"\",\"[2, 2]\",\"[3, 3]\",\"[1, 1]\",\"1\"]", 590069760, 1180139520, 0, OC_EXACT, true,
     (752640 + 9408) * 4, 4014080 * 4},
    /* grouped: 1*8*6*6 outputs of 2*3*3, and a bias */
    {"aten::conv2d", "[[1,8,8,8],[8,2,3,3],[8],[],[],[],[]]", F3,
     "[\"\",\"\",\"\",\"[1]\",\"valid\",\"[1]\",\"4\"]", 5184, 10656, 0, OC_EXACT, true, (512 + 144 + 8) * 4,
     1152},
    {"aten::conv2d", "[[1,8,8,8],[8,2,3,3],[8],[],[],[],[]]", F3,
     "[\"\",\"\",\"\",\"[1]\",\"same\",\"[1]\",\"4\"]", 9216, 18944, 0, OC_EXACT, true, (512 + 144 + 8) * 4,
     2048},
    {"aten::conv2d", "[[1,8,8,8],[8,2,3,3],[8],[],[],[],[]]", F3, NULL, 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    /* dilation 2 reaches 5: 8 - 4 = 4 outputs a side */
    {"aten::cudnn_convolution", "[[1,1,8,8],[1,1,3,3],[],[],[],[],[],[],[]]", F2,
     "[\"\",\"\",\"[0, 0]\",\"[1, 1]\",\"[2, 2]\",\"1\",\"False\",\"False\",\"True\"]", 144, 288, 0, OC_EXACT,
     true, (64 + 9) * 4, 64},
    /* each of 4*5*5 inputs meets 3*2*2 weights */
    {"aten::conv_transpose2d", "[[1,4,5,5],[4,3,2,2],[],[],[],[],[],[]]", F2, NULL, 1200, 2400, 0, OC_EXACT,
     false, 0, 0},
    /* 2 * 4*6*6 * 3*3*3, and the bias 4*6*6 */
    {"aten::convolution_backward", "[[1,4,6,6],[1,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]]", F3,
     "[\"\",\"\",\"\",\"[4]\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\",\"[True, True, "
     "True]\"]",
     7776, 15552 + 144, 0, OC_EXACT, true, (144 + 192 + 108) * 4, (192 + 108 + 4) * 4},
    {"aten::convolution_backward", "[[1,4,6,6],[1,3,8,8],[4,3,3,3],[],[],[],[],[],[],[],[]]", F3,
     "[\"\",\"\",\"\",\"[4]\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\",\"[False, True, "
     "False]\"]",
     3888, 7776, 0, OC_EXACT, true, (144 + 192) * 4, 108 * 4},
    {"aten::cudnn_convolution_backward", "[[1,3,8,8],[1,4,6,6],[4,3,3,3],[],[],[],[],[],[],[],[]]", F3, NULL,
     7776, 15552, 0, OC_UPPER, true, (144 + 192 + 108) * 4, (192 + 108) * 4},
    /* 4 heads of Q on 2 of K and V: 2*4 * 3*5 * (8+8) */
    {"aten::scaled_dot_product_attention", "[[2,4,3,8],[2,2,5,8],[2,2,5,8],[],[],[]]", H3,
     "[\"\",\"\",\"\",\"\",\"0.\",\"False\"]", 1920, 3840, 0, OC_EXACT, true, (192 + 160 + 160) * 2, 192 * 2},
    /* causal: 1+2+3 of 3*5 scores */
    {"aten::scaled_dot_product_attention", "[[2,4,3,8],[2,2,5,8],[2,2,5,8],[],[],[]]", H3,
     "[\"\",\"\",\"\",\"\",\"0.\",\"True\"]", 768, 1536, 0, OC_LOWER, true, 512 * 2, 192 * 2},
    {"aten::scaled_dot_product_attention", "[[2,4,3,8],[2,2,5,8],[2,2,5,8],[],[],[]]", H3, NULL, 1920, 3840,
     0, OC_UPPER, true, 512 * 2, 192 * 2},
    /* the last query sees the last key: 3+4+5 scores; sizes [batch, sequence, heads, size] */
    {"flash_attn::_flash_attn_forward", "[[2,3,4,8],[2,5,2,8],[2,5,2,8],[],[],[]]", H3,
     "[\"\",\"\",\"\",\"0.\",\"0.35\",\"True\"]", 1536, 3072, 0, OC_LOWER, true, 512 * 2, 192 * 2},
    /* one decode step: its query sees all keys */
    {"flash_attn::_flash_attn_forward", "[[1,1,4,8],[1,5,4,8],[1,5,4,8],[],[],[]]", H3,
     "[\"\",\"\",\"\",\"0.\",\"0.35\",\"True\"]", 320, 640, 0, OC_LOWER, true, (32 + 160 + 160) * 2, 64},
    /* 9 queries on at most 4 keys */
    {"flash_attn::_flash_attn_varlen_forward", "[[9,2,8],[9,2,8],[9,2,8],[4],[4],[],[],[],[],[]]",
     "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"int\",\"int\"]",
     "[\"\",\"\",\"\",\"\",\"\",\"4\",\"4\",\"0.\",\"0.3\",\"True\"]", 1152, 2304, 0, OC_UPPER, true, 864,
     288},
    /* five products: 2*3 * 4*4 * (3*8 + 2*8) */
    {"aten::_scaled_dot_product_flash_attention_backward",
     "[[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,3,4],[],[],[],[],[],[]]",
     "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"c10::Half\",\"c10::Half\",\"float\"]",
     "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"4\",\"4\",\"0.\",\"False\"]", 3840, 7680, 0, OC_EXACT, true,
     5 * 192 * 2, 3 * 192 * 2},
    /* 64*128 rows of 512 floats */
    {"aten::_scaled_mm", "[[3,4],[4,5],[],[],[],[],[],[]]", "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\"]",
     NULL, 60, 120, 0, OC_EXACT, false, 0, 0},
    {"aiter::gemm_a16w16", "[[3,4],[5,4],[],[]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]", NULL, 60, 120, 0,
     OC_EXACT, true, 64, 30},
    {"aiter::fmha_v3_fwd", "[[2,3,4,8],[2,5,2,8],[2,5,2,8],[],[],[]]", H3,
     "[\"\",\"\",\"\",\"0.\",\"0.35\",\"False\"]", 1920, 3840, 0, OC_EXACT, true, 512 * 2, 192 * 2},
    {"aten::embedding", "[[8192,512],[64,128],[],[],[]]", "[\"float\",\"long int\",\"Scalar\"]", NULL, 0, 0,
     0, OC_EXACT, true, 4194304 * 4 + 8192 * 8, 4194304 * 4},
    {"aten::index_select", "[[10,4],[],[3]]", "[\"float\",\"Scalar\",\"long int\"]", "[\"\",\"1\",\"\"]", 0,
     0, 0, OC_EXACT, true, 30 * 4 + 24, 120},
    {"aten::relu_", "[[2,8]]", "[\"c10::BFloat16\"]", NULL, 0, 16, 0, OC_EXACT, true, 32, 32},
    {"aten::add", "[[2,1,8],[4,8],[]]", "[\"c10::Half\",\"float\",\"Scalar\"]", NULL, 0, 64, 0, OC_EXACT,
     true, 16 * 2 + 32 * 4, 64 * 4},
    {"aten::mul", "[[2,8],[]]", "[\"float\",\"Scalar\"]", NULL, 0, 16, 0, OC_EXACT, true, 64, 64},
    /* a tensor without dims does not widen the type */
    {"aten::mul", "[[2,8],[]]", "[\"c10::Half\",\"double\"]", NULL, 0, 16, 0, OC_EXACT, true, 32 + 8, 32},
    {"aten::eq", "[[2,8],[2,8]]", F2, NULL, 0, 16, 0, OC_EXACT, true, 128, 16},
    {"aten::silu", "[[2,8]]", "[\"float\"]", NULL, 0, 32, 0, OC_EXACT, true, 64, 64},
    {"aten::add", "[[2,3],[4,5],[]]", F2, NULL, 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    /* maximum, subtraction, exp, sum, division */
    {"aten::softmax", "[[4,8],[],[]]", "[\"float\",\"Scalar\",\"\"]", NULL, 0, 160, 0, OC_EXACT, true, 128,
     128},
    {"aten::gelu_backward", "[[2,8],[2,8],[]]", F2, NULL, 0, 0, 0, OC_UNKNOWN, true, 128, 64},
    /* 4 results of 8 values: 28 additions */
    {"aten::sum", "[[4,8],[],[],[]]", "[\"float\",\"ScalarList\",\"Scalar\",\"\"]",
     "[\"\",\"[-1]\",\"False\",\"\"]", 0, 28, 0, OC_EXACT, true, 128, 16},
    {"aten::sum", "[[4,8],[]]", "[\"float\",\"\"]", "[\"\",\"\"]", 0, 31, 0, OC_EXACT, true, 128, 4},
    {"aten::sum", "[[4,8],[]]", "[\"float\",\"\"]", NULL, 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"aten::max_pool2d", "[[1,2,8,8],[],[],[],[],[]]", "[\"float\"]",
     "[\"\",\"[2, 2]\",\"[]\",\"[0, 0]\",\"[1, 1]\",\"False\"]", 0, 128, 0, OC_UPPER, true, 512, 128},
    {"aten::copy_", "[[4,8],[8],[]]", "[\"c10::Half\",\"float\",\"Scalar\"]", NULL, 0, 0, 0, OC_EXACT, true,
     32, 64},
    {"aten::zero_", "[[4,8]]", "[\"float\"]", NULL, 0, 0, 0, OC_EXACT, true, 0, 128},
    {"aten::transpose", "[[4,8],[],[]]", "[\"float\"]", NULL, 0, 0, 0, OC_EXACT, true, 0, 0},
    /* may return its input */
    {"aten::contiguous", "[[4,8],[]]", "[\"float\"]", NULL, 0, 0, 0, OC_EXACT, false, 0, 0},
    {"mylib::op", "[[4,8]]", "[\"float\"]", NULL, 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"aten::mm", "[[4294967296,4294967296],[4294967296,4]]", F2, NULL, 0, 0, 0, OC_UNKNOWN, false, 0, 0},
};

static void costs_follow_from_recorded_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        check(&rows[i], strstr(rows[i].op, "cudnn") ? 5 : -1); /* only a GPU runs it */
}

/* aten::to(self, dtype): 6 is float. A copy to the host is not a kernel. */
static void conversions_move_bytes_only_if_a_kernel_ran(void **state)
{
    (void)state;
    struct row r = {.op = "aten::to",
                    .dims = "[[4,8],[],[],[],[]]",
                    .types = "[\"c10::Half\",\"Scalar\",\"Scalar\",\"Scalar\",\"\"]",
                    .values = "[\"\",\"6\",\"False\",\"False\",\"\"]",
                    .quality = OC_EXACT,
                    .bytes_known = true};
    check(&r, 0);
    r.rd = 64;
    r.wr = 128;
    check(&r, 3);
}

/* Its device time is 0: the work ran elsewhere (a CUDA graph, a copy engine, the host), or not at all. */
static void operators_without_kernels_have_no_cost(void **state)
{
    (void)state;
    struct row r = {.op = "aten::mm", .dims = "[[3,4],[4,5]]", .types = F2, .quality = OC_UNKNOWN};
    check(&r, 0);
}

static void host_times_of_launches_have_no_rates(void **state)
{
    (void)state;
    static const char text[] =
        "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\","
        "\"pid\":1,"
        "\"tid\":1,\"ts\":10,\"dur\":5,\"args\":{\"Input Dims\":[[3,4],[4,5]],\"Input "
        "type\":[\"float\",\"float\"]}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":12,"
        "\"dur\":1,\"args\":{\"correlation\":7}}]}";
    struct oc_err e;
    struct oc_arena a = {0};
    struct oc_record_cost k;
    struct oc_profile *p = t_profile_text(text, NULL, &e);
    assert_non_null(p);
    assert_non_null(t_finding(p, "W-no-kernels"));
    oc_record_cost(p, t_rec(p, "aten::mm"), &a, NULL, &k);
    assert_int_equal(k.quality, OC_UNKNOWN);
    assert_false(k.bytes_known);
    oc_profile_close(p);
    oc_arena_free(&a);
}

/* Training of ResNet-50 with batch 32: the convolutions have 4,087,136,256 multiply-adds per image, which is
 * the published number, and each of the two gradients takes as many. */
static void gradients_of_resnet50_have_the_published_count(void **state)
{
    (void)state;
    const char *path = t_sample("pytorch/resnet50_train_v100.pt.trace.json.gz");
    struct oc_profile *p;
    struct oc_arena a = {0};
    struct oc_err e;
    double macs = 0;
    if (!path)
        skip();
    assert_int_equal(oc_profile_open(path, NULL, &p, &e), 0);
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_record_cost k;
        if (strcmp(p->rec[i].op_type, "aten::cudnn_convolution_backward") != 0)
            continue;
        oc_record_cost(p, &p->rec[i], &a, NULL, &k);
        assert_int_equal(k.quality, OC_UPPER); /* the trace does not say which gradients were computed */
        macs += p->rec[i].calls_per_run * (double)k.macs;
    }
    assert_true(macs == 2 * 32 * 4087136256.0);
    oc_profile_close(p);
    oc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_follow_from_recorded_shapes),
        cmocka_unit_test(conversions_move_bytes_only_if_a_kernel_ran),
        cmocka_unit_test(operators_without_kernels_have_no_cost),
        cmocka_unit_test(host_times_of_launches_have_no_rates),
        cmocka_unit_test(gradients_of_resnet50_have_the_published_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
