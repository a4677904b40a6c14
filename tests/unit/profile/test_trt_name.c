#include "profile/core/kernel_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

#define MAX_PARTS 64

static bool one_of(const void *ctx, const char *s, size_t n)
{
    for (const char *const *name = ctx; *name; name++)
        if (strlen(*name) == n && memcmp(*name, s, n) == 0)
            return true;
    return false;
}

/* "A|B": texts of the parts; ranges as first>last. */
static void check_split(const char *name, const char *const *names, const char *want)
{
    struct trt_known known = {one_of, names};
    struct trt_part part[MAX_PARTS];
    char text[1000] = "";
    size_t n = oc_trt_split(name, strlen(name), names ? &known : NULL, part, MAX_PARTS);
    for (size_t i = 0; i < n; i++) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%c%.*s", i ? "|" : "",
                 "ntaurg"[part[i].kind], (int)part[i].n, part[i].s);
        if (part[i].kind == TRT_RANGE)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), ">%.*s", (int)part[i].n_last,
                     part[i].last);
    }
    assert_string_equal(text, want);
}

static void splits_names_into_parts(void **state)
{
    (void)state;
    check_split("Conv_0 + Relu_1", NULL, "nConv_0|nRelu_1");
    check_split("a || b || c", NULL, "na|nb|nc");
    check_split("w + Conv_9 + PWN(Clip_13)", NULL, "nw|nConv_9|nClip_13");
    check_split("PWN((Unnamed Layer* 2) [ElementWise], PWN(PWN(k + (Unnamed Layer* 0) [ElementWise], u), v))",
                NULL, "u(Unnamed Layer* 2) [ElementWise]|nk|u(Unnamed Layer* 0) [ElementWise]|nu|nv");
    check_split("{ForeignNode[/head/Constant_2_output_0.../Unsqueeze_2]}", NULL,
                "r/head/Constant_2_output_0>/Unsqueeze_2");
    check_split("{ForeignNode[only]}", NULL, "ronly>only");
    check_split("reshape_after_Gemm_48", NULL, "aGemm_48");
    check_split("copied_squeeze_after_(Unnamed Layer* 3) [ElementWise]", NULL,
                "a(Unnamed Layer* 3) [ElementWise]");
    check_split("transpose_before_m/MatMul + m/MatMul", NULL, "am/MatMul|nm/MatMul");
    check_split("node_of_relu:0", NULL, "trelu:0");
    check_split("__myl_MulSum", NULL, "g__myl_MulSum");
    check_split("", NULL, "");
    check_split(" + ", NULL, "");
    check_split("a + ", NULL, "na");
    check_split("f(x + y) + g", NULL, "nf(x + y)|ng"); /* no split inside brackets */
    check_split("f(x + y", NULL, "nf(x|ny");           /* unless they do not close */
}

static void known_names_take_precedence(void **state)
{
    (void)state;
    static const char *const names[] = {"a + b", "c, d", "PWN(e)", "reshape_after_f", "g", "a", NULL};
    check_split("a + b", names, "na + b");
    check_split("a + b + g", names, "na + b|ng");
    check_split("g + a + b", names, "ng|na + b");
    check_split("a + g", names, "na|ng");
    check_split("PWN(c, d, g)", names, "nc, d|ng");
    check_split("PWN(e) + g", names, "nPWN(e)|ng");
    check_split("reshape_after_f", names, "nreshape_after_f");
    check_split("z + a + b", names, "nz|na + b");
}

static void check_stem(const char *name, const char *want)
{
    assert_int_equal(oc_trt_stem(name, strlen(name)), strlen(want));
    assert_memory_equal(name, want, strlen(want));
}

static void suffixes_are_removed(void **state)
{
    (void)state;
    check_stem("/m/MatMul_myl109_2", "/m/MatMul");
    check_stem("conv + relu [profile 1]", "conv + relu");
    check_stem("/m/MatMul_myl9_2 [profile 12]", "/m/MatMul");
    check_stem("Conv_2", "Conv_2");
    check_stem("x_myl_2", "x_myl_2");
    check_stem("x [profile ]", "x [profile ]");
    check_stem("", "");
}

static void inserted_layers_have_buckets(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bucket;
    } row[] = {
        {"conv1/7x7_s2 + conv1/relu_7x7 input reformatter 0", "reformat"},
        {"a || b output reformatter 1", "reformat"},
        {"Reformatting CopyNode for Output Tensor 0 to x", "reformat"},
        {"/neck/Concat_/neck/Resize_output_0_clone_0 copy", "copies"},
        {"[HostToDeviceCopy 1]", "copies"},
        {"(Unnamed Layer* 718) [NMS]_1_output[DevicetoShapeHostCopy]", "copies"},
        {"[trainStation12]", "framework"},
        {"head_3 from nvm", "DLA transfers"},
        {"images copy finish", "DLA transfers"},
        {"/q/QuantizeLinear_clone_1", "inserted"},
        {"conv", NULL},
        {"a_clone_", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        const char *b = oc_trt_overhead(row[i].name, strlen(row[i].name));
        assert_true(row[i].bucket ? b && strcmp(b, row[i].bucket) == 0 : !b);
    }
}

/* The parser terminates for deep nesting and many parts. */
static void hostile_names_terminate(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *s = malloc(4 * N + 1);
    static const char *const names[] = {"x", NULL};
    struct trt_known known = {one_of, names};
    struct trt_part part[4];
    for (size_t i = 0; i < N; i++)
        memcpy(s + 4 * i, "PWN(", 4);
    assert_int_equal(oc_trt_split(s, 4 * N, &known, part, 4), 1);
    for (size_t i = 0; i < N; i++)
        memcpy(s + 4 * i, "x + ", 4);
    size_t n = oc_trt_split(s, 4 * N, &known, part, 4);
    assert_true(n > 4 && n <= 1025);
    free(s);
}

/* Counted over the files by regular expressions. */
static const struct engine {
    const char *name;
    unsigned layout, copies, framework, inserted, node, added, unnamed, range;
} engine[] = {
    {"pytorch.resnet.A100.fp16.resnet.onnx.engine", 12, 0, 0, 0, 48, 1, 0, 0},
    {"pytorch.resnet.A100.fp32.resnet.onnx.engine", 8, 0, 0, 0, 48, 1, 0, 0},
    {"pytorch.resnet.A100.qat-residual-qgap.resnet-qat-residual-qgap.onnx.engine", 0, 0, 0, 0, 83, 2, 3, 0},
    {"pytorch.resnet.A100.qat-residual.resnet-qat-residual.onnx.engine", 0, 0, 0, 0, 85, 2, 3, 0},
    {"pytorch.resnet.A100.qat.resnet-qat.onnx.engine", 3, 0, 0, 0, 92, 2, 3, 0},
    {"tensorflow.resnet.RTX-3090.fp16.resnet.onnx.engine", 26, 0, 0, 0, 124, 1, 0, 0},
    {"tensorflow.resnet.RTX-3090.fp32.resnet.onnx.engine", 43, 0, 0, 0, 124, 1, 0, 0},
    {"tensorflow.resnet.RTX-3090.qat.resnet-qat.onnx.engine", 1, 0, 0, 0, 203, 3, 2, 0},
    {"tests.mobilenet.qat.onnx.engine", 1, 0, 0, 0, 223, 2, 3, 0},
    {"tests.mobilenet_v2_residuals.qat.onnx.engine", 1, 0, 0, 0, 208, 2, 3, 0},
    {"trt8.detector.qat", 4, 3, 3, 2, 197, 0, 33, 2},
};

static void count_name(const char *name, struct engine *sum)
{
    struct trt_part part[MAX_PARTS];
    const char *b = oc_trt_overhead(name, strlen(name));
    if (b) {
        sum->layout += strcmp(b, "reformat") == 0;
        sum->copies += strcmp(b, "copies") == 0;
        sum->framework += strcmp(b, "framework") == 0;
        sum->inserted += strcmp(b, "inserted") == 0;
        return;
    }
    size_t n = oc_trt_split(name, strlen(name), NULL, part, MAX_PARTS);
    assert_true(n >= 1 && n <= MAX_PARTS);
    for (size_t i = 0; i < n; i++) {
        sum->node += part[i].kind == TRT_NODE;
        sum->added += part[i].kind == TRT_ADDED;
        sum->unnamed += part[i].kind == TRT_UNNAMED;
        sum->range += part[i].kind == TRT_RANGE;
        if (part[i].kind == TRT_NODE && memchr(part[i].s, ' ', part[i].n))
            fail_msg("a part of '%s' has a blank: '%.*s'", name, (int)part[i].n, part[i].s);
    }
}

static void recorded_names_are_parsed(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(engine); i++) {
        const struct engine *e = &engine[i];
        struct engine sum = {.name = e->name};
        char name[200];
        struct oc_err err;
        struct oc_profile *p;
        snprintf(name, sizeof(name), "tensorrt/%s.profile.json", e->name);
        const char *path = t_sample(name);
        if (!path)
            continue;
        assert_int_equal(oc_profile_open(path, NULL, &p, &err), 0);
        for (uint32_t k = 0; k < p->n_rec; k++)
            count_name(p->rec[k].name, &sum);
        assert_int_equal(sum.layout, e->layout);
        assert_int_equal(sum.copies, e->copies);
        assert_int_equal(sum.framework, e->framework);
        assert_int_equal(sum.inserted, e->inserted);
        assert_int_equal(sum.node, e->node);
        assert_int_equal(sum.added, e->added);
        assert_int_equal(sum.unnamed, e->unnamed);
        assert_int_equal(sum.range, e->range);
        oc_profile_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_names_into_parts), cmocka_unit_test(known_names_take_precedence),
        cmocka_unit_test(suffixes_are_removed),    cmocka_unit_test(inserted_layers_have_buckets),
        cmocka_unit_test(hostile_names_terminate), cmocka_unit_test(recorded_names_are_parsed),
    };
    return cmocka_run_group_tests_name("profile/trt_name", tests, NULL, NULL);
}
