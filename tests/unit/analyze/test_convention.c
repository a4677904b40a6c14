/* The reference numbers of cost-semantics section 9: what other tools print for one operator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "support/build.h"
#include "zoo.h"

static uint64_t count_model(const uint8_t *bytes, size_t n, const char *convention)
{
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    struct oc_err err = {0};
    struct oc_totals t;
    const struct oc_analyze_opts o = {.convention = convention};
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, &o, &a, &err))
        fail_msg("%s", err.msg);
    oc_analysis_total(a, &t);
    oc_analysis_free(a);
    oc_model_free(m);
    return t.flops + t.ops;
}

struct op {
    const char *type, *attributes, *input; /* type of x */
    const char *const *init;               /* types of the other inputs */
};

static uint64_t count_op(const struct op *op, const char *convention)
{
    struct oc_builder *b = oc_b_new(17);
    char inputs[64] = "x";
    oc_b_input(b, "x", op->input);
    for (size_t i = 0; op->init && op->init[i]; i++) {
        char name[24];
        snprintf(name, sizeof(name), "w%zu", i);
        oc_b_init(b, name, op->init[i]);
        snprintf(inputs + strlen(inputs), sizeof(inputs) - strlen(inputs), ",%s", name);
    }
    oc_b_node(b, op->type, "n", inputs, "y", op->attributes);
    oc_b_output(b, "y", NULL);
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    uint64_t count = count_model(bytes, n, convention);
    free(bytes);
    return count;
}

#define INIT(...) ((const char *const[]){__VA_ARGS__, NULL})
static const uint64_t none = UINT64_MAX; /* the document gives no single number */

static void conventions_match_reference_numbers(void **state)
{
    (void)state;
    static const char *const name[] = {NULL,     "mge",   "mge-stats", "onnx-tool",
                                       "fvcore", "torch", "calflops",  "xla"};
    const struct {
        struct op op;
        uint64_t count[8]; /* onnxcost first, then as in `name` */
    } row[] = {
        /* cases 1 and 2: a 7x7 convolution, without and with bias */
        {{"Conv", "strides=2,2 pads=3,3,3,3", "float[1,3,224,224]", INIT("float[64,3,7,7]")},
         {236027904, 236027904, 118013952, 118013952, 118013952, 236027904, 236027904, 232429056}},
        {{"Conv", "strides=2,2 pads=3,3,3,3", "float[1,3,224,224]", INIT("float[64,3,7,7]", "float[64]")},
         {236830720, 236830720, 118816768, 118816768, 118013952, 236027904, 236830720, none}},
        /* case 12: fully connected, 512 to 1000 */
        {{"Gemm", "transB=1", "float[1,512]", INIT("float[1000,512]", "float[1000]")},
         {1025000, none, 513000, 513000, 512000, 1024000, 1024000, none}},
        /* cases 21, 22, 26, 34 */
        {{"BatchNormalization", "", "float[1,64,56,56]",
          INIT("float[64]", "float[64]", "float[64]", "float[64]")},
         {401728, 0, 1404928, 6221824, 401408, 0, 401408, 0}},
        {{"LayerNormalization", "axis=-1", "float[1,128,768]", INIT("float[768]", "float[768]")},
         {688768, 0, 688128, 691840, 491520, 0, 491520, none}},
        {{"Softmax", "axis=-1", "float[1,12,128,128]", NULL}, {983040, 0, 0, 7077888, 0, 0, 196608, 783360}},
        {{"MaxPool", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1", "float[1,64,112,112]", NULL},
         {1806336, 1806336, 1806336, 1806336, 0, 0, 802816, 1605632}},
        /* case 10: transposed convolution; of 16 x 4 taps per axis 62 fall inside the output, 2*64*32*62*62 =
           15,745,024 without the bias */
        {{"ConvTranspose", "strides=2,2 pads=1,1,1,1", "float[1,64,16,16]",
          INIT("float[64,32,4,4]", "float[32]")},
         {16809984, 16777216, 8421376, 16809984, 8388608, 16777216, none, 15745024 + 32768}},
        {{"ConvTranspose", "strides=2,2 pads=1,1,1,1", "float[1,64,16,16]", INIT("float[64,32,4,4]")},
         {16777216, 16777216, 8388608, 16777216, 8388608, 16777216, none, 15745024}},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        for (size_t k = 0; k < 8; k++) {
            if (row[i].count[k] == none)
                continue;
            uint64_t got = count_op(&row[i].op, name[k]);
            if (got != row[i].count[k])
                fail_msg("%s, row %zu, %s: %llu, not %llu", row[i].op.type, i, name[k] ? name[k] : "ours",
                         (unsigned long long)got, (unsigned long long)row[i].count[k]);
        }
}

/* What fvcore prints for the models of torchvision, batch normalization not folded. */
static void fvcore_convention_matches_fvcore_on_whole_models(void **state)
{
    static const struct {
        const char *name;
        uint64_t count;
    } row[] = {{"resnet18", 1819065856}, {"resnet50", 4111512576}, {"vit_b_16", 17582740224}};
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct zoo z;
        size_t n;
        zoo_init(&z, 17);
        zoo_find(row[i].name)->build(&z);
        uint8_t *bytes = oc_b_pack(z.b, &n);
        zoo_free(&z);
        assert_int_equal(count_model(bytes, n, "fvcore"), row[i].count);
        free(bytes);
    }
}

static void rejects_unknown_convention(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_node(b, "Relu", "n", "x", "y", "");
    oc_b_output(b, "y", NULL);
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    struct oc_err err = {0};
    const struct oc_analyze_opts o = {.convention = "nobody"};
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), 0);
    assert_int_equal(oc_analyze(m, &o, &a, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    oc_model_free(m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conventions_match_reference_numbers),
        cmocka_unit_test(fvcore_convention_matches_fvcore_on_whole_models),
        cmocka_unit_test(rejects_unknown_convention),
    };
    return cmocka_run_group_tests_name("analyze/convention", tests, NULL, NULL);
}
