/* Whether profile and model belong together, by kind of evidence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "join/join.h"
#include "support/build.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

struct joined {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_profile *p;
    struct oc_join *j;
};

/* Six convolutions of 1x4x8x8 with names c0 ... */
static struct oc_builder *make_model(const char *input)
{
    struct oc_builder *b = oc_b_new(17);
    char in[8] = "x", out[8], text[24];
    oc_b_input(b, "x", input);
    oc_b_init(b, "w", "float[4,4,3,3]");
    for (int i = 0; i < 6; i++) {
        snprintf(out, sizeof(out), "t%d", i);
        snprintf(text, sizeof(text), "%s,w", in);
        char name[8];
        snprintf(name, sizeof(name), "c%d", i);
        oc_b_node(b, "Conv", name, text, out, "pads=1,1,1,1");
        snprintf(in, sizeof(in), "t%d", i);
    }
    oc_b_output(b, in, NULL);
    return b;
}

/* The text of the mismatch, NULL: none. Frees the builder. */
static const char *mismatch_in(struct joined *x, struct oc_builder *b, const char *profile)
{
    struct oc_analyze_opts opts = {0};
    struct oc_err e;
    size_t n;
    x->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    x->p = t_profile_text(profile, NULL, &e);
    if (!x->p || oc_model_load_mem(x->bytes, n, NULL, &x->m, &e) || oc_analyze(x->m, &opts, &x->a, &e) ||
        oc_join_make(x->m, x->a, x->p, NULL, &x->j, &e))
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < x->j->diags.n; i++)
        if (strcmp(x->j->diags.item[i].code, OC_DIAG_OTHER_MODEL) == 0)
            return x->j->diags.item[i].text;
    return NULL;
}

static const char *mismatch_of(struct joined *x, const char *input, const char *profile)
{
    return mismatch_in(x, make_model(input), profile);
}

static void joined_free(struct joined *x)
{
    oc_join_free(x->j);
    oc_analysis_free(x->a);
    oc_profile_close(x->p);
    oc_model_free(x->m);
    free(x->bytes);
}

/* Counts of OpenVINO, which records names and types, but no shapes. */
static void number_of_convolutions_decides_without_shapes(void **state)
{
    static const struct {
        int convs, calls;
        bool differs;
    } row[] = {{6, 1, false}, {12, 1, false}, {5, 1, true}, {7, 1, true}, {20, 1, true}, {0, 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct joined x = {0};
        struct oc_buf b = {0};
        oc_buf_str(&b, "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n");
        for (int k = 0; k < row[i].convs; k++)
            oc_buf_printf(&b, "k%d;Status.EXECUTED;Convolution;jit_avx2_FP32;0.5;0.5;\n", k);
        for (int k = 0; k < 4; k++)
            oc_buf_printf(&b, "r%d;Status.EXECUTED;Relu;jit_avx2_FP32;0.1;0.1;\n", k);
        oc_buf_str(&b, "Total;;;;9.0;9.0;\n");
        const char *text = mismatch_of(&x, "float[1,4,8,8]", b.data);
        if ((text != NULL) != row[i].differs)
            fail_msg("%d convolutions: %s", row[i].convs, text ? text : "no mismatch");
        if (text)
            assert_non_null(strstr(text, "Conv calls"));
        oc_buf_free(&b);
        joined_free(&x);
    }
}

/* Six convolutions of 20 channels, which the blocked layout pads to 32: 2.56 times the products, 36 % of them zeros. */
static void padding_to_blocks_is_not_another_model(void **state)
{
    (void)state;
    for (int channels = 32; channels <= 48; channels += 16) {
        struct joined x = {0};
        struct oc_buf text = {0};
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "t", "float[1,20,8,8]");
        oc_b_init(b, "w", "float[20,20,1,1]");
        for (int i = 0; i < 6; i++) {
            char in[8] = "t,w", out[8], name[8];
            if (i)
                snprintf(in, sizeof(in), "t%d,w", i - 1);
            snprintf(out, sizeof(out), "t%d", i);
            snprintf(name, sizeof(name), "c%d", i);
            oc_b_node(b, "Conv", name, in, out, "");
            oc_buf_printf(
                &text,
                "%s{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":10,\"ts\":%d,\"ph\":\"X\","
                "\"name\":\"t%d_nchwc_kernel_time\",\"args\":{\"op_name\":\"Conv\",\"node_index\":\"%d\","
                "\"provider\":\"CPUExecutionProvider\",\"output_type_shape\":[{\"float\":[1,%d,8,8]}],"
                "\"input_type_shape\":[{\"float\":[1,%d,8,8]},{\"float\":[%d,%d,1,1]}]}}",
                i ? "," : "[", 20 * i + 1, i, i, i ? 32 : channels, i ? 32 : channels, i ? 32 : channels,
                i ? 32 : channels);
        }
        oc_b_output(b, "t5", NULL);
        oc_buf_str(&text, "]");
        const char *found = mismatch_in(&x, b, text.data);
        if ((found != NULL) != (channels > 32))
            fail_msg("%d channels: %s", channels, found ? found : "no mismatch");
        oc_buf_free(&text);
        joined_free(&x);
    }
}

/* Shapes that depend on data are bounds: fewer recorded elements fit the model, more do not. */
static void sizes_within_an_upper_bound_fit_the_model(void **state)
{
    (void)state;
    for (int found = 7; found <= 70; found += 63) {
        static const char *const name[] = {"nz", "cast", "mm", "act"},
                                 *const type[] = {"NonZero", "Cast", "MatMul", "Relu"},
                                 *const in[] = {"{\"float\":[10,4]}", "{\"int64\":[2,%1$d]}",
                                                "{\"float\":[3,2]},{\"float\":[2,%1$d]}",
                                                "{\"float\":[3,%1$d]}"},
                                 *const out[] = {"{\"int64\":[2,%1$d]}", "{\"float\":[2,%1$d]}",
                                                 "{\"float\":[3,%1$d]}", "{\"float\":[3,%1$d]}"};
        struct joined x = {0};
        struct oc_buf t = {0};
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[10,4]");
        oc_b_init(b, "w", "float[3,2]");
        oc_b_node(b, "NonZero", "nz", "x", "z", "");
        oc_b_node(b, "Cast", "cast", "z", "f", "to=FLOAT");
        oc_b_node(b, "MatMul", "mm", "w,f", "y", "");
        oc_b_node(b, "Relu", "act", "y", "r", "");
        oc_b_output(b, "r", NULL);
        oc_buf_str(
            &t, "[{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :90,\"ts\" :0,\"ph\" : \"X\",\"name\" "
                ":\"model_run\",\"args\" : {}}");
        for (int k = 0; k < 4; k++) {
            oc_buf_printf(&t,
                          ",\n{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :10,\"ts\" :%d,\"ph\" : "
                          "\"X\",\"name\" :\"%s_kernel_time\",\"args\" : {\"op_name\" : \"%s\"",
                          20 * k, name[k], type[k]);
            oc_buf_str(&t, ",\"input_type_shape\" : [");
            oc_buf_printf(&t, in[k], found);
            oc_buf_str(&t, "],\"output_type_shape\" : [");
            oc_buf_printf(&t, out[k], found);
            oc_buf_str(&t, "]}}");
        }
        oc_buf_str(&t, "\n]\n");
        const char *text = mismatch_in(&x, b, t.data);
        assert_int_equal(text != NULL, found > 40);
        oc_buf_free(&t);
        joined_free(&x);
    }
}

/* Layers of TensorRT with the model's names and a batch of their own. */
static void add_layers(struct oc_buf *b, const char *stem, int batch, int size)
{
    oc_buf_str(b, "{\"Layers\": [");
    for (int i = 0; i < 6; i++)
        oc_buf_printf(
            b,
            "%s{\"Name\": \"%s%d\", \"LayerType\": \"CaskConvolution\", \"ParameterType\": \"Convolution\", "
            "\"Kernel\": [3,3], \"OutMaps\": 4, \"Groups\": 1, \"Inputs\": [{\"Name\": \"i\", "
            "\"Dimensions\": [%d,4,%d,%d], \"Format/Datatype\": \"Half\"}], \"Outputs\": [{\"Name\": \"o\", "
            "\"Dimensions\": [%d,4,%d,%d], \"Format/Datatype\": \"Half\"}]}",
            i ? "," : "", stem, i, batch, size, size, batch, size, size);
    oc_buf_str(b, "], \"Bindings\": [\"x\"]}");
}

static const char *engine_mismatch(struct joined *x, const char *input, const char *stem, int batch, int size)
{
    struct oc_buf b = {0};
    struct oc_analyze_opts opts = {0};
    struct oc_builder *model = make_model(input);
    struct oc_err e;
    size_t n;
    const char *text = NULL;
    add_layers(&b, stem, batch, size);
    x->bytes = oc_b_pack(model, &n);
    oc_b_free(model);
    x->p = t_profile_text(b.data, NULL, &e);
    assert_non_null(x->p);
    for (uint32_t i = 0; i < x->p->n_rec; i++)
        x->p->rec[i].self_ns = x->p->rec[i].kernel_ns = 10;
    if (oc_model_load_mem(x->bytes, n, NULL, &x->m, &e) || oc_analyze(x->m, &opts, &x->a, &e) ||
        oc_join_make(x->m, x->a, x->p, NULL, &x->j, &e))
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < x->j->diags.n && !text; i++)
        if (strcmp(x->j->diags.item[i].code, OC_DIAG_OTHER_MODEL) == 0)
            text = x->j->diags.item[i].text;
    oc_buf_free(&b);
    return text;
}

static void batch_of_the_engine_is_compared_with_the_analysis(void **state)
{
    struct joined x = {0};
    (void)state;
    assert_null(engine_mismatch(&x, "float[1,4,8,8]", "c", 1, 8));
    joined_free(&x);
    x = (struct joined){0};
    const char *text = engine_mismatch(&x, "float[N,4,8,8]", "c", 32, 8);
    assert_non_null(text);
    assert_non_null(strstr(text, "batch 32"));
    assert_non_null(strstr(text, "--dim N=32"));
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(x.j->rec[i].macs, 32 * 4 * 64 * 36);
    joined_free(&x);
    x = (struct joined){0};
    text = engine_mismatch(&x, "float[1,4,8,8]", "other", 16, 8);
    assert_non_null(text);
    assert_non_null(strstr(text, "--shape x=16x4x8x8"));
    joined_free(&x);
}

/* Operations of a layer that its information does not give are those of the nodes, for the engine's batch. */
static void counts_of_nodes_are_those_of_the_engines_batch(void **state)
{
    (void)state;
    static const struct {
        int batch;
        enum oc_quality quality;
        const char *note;
    } row[] = {{1, OC_EXACT, "bytes of float16, as recorded"},
               {32, OC_EST, "the model's count for the engine's batch"}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct joined x = {0};
        struct oc_buf text = {0};
        struct oc_builder *b = oc_b_new(17);
        struct oc_err e;
        size_t n;
        oc_b_input(b, "x", "float[N,4,8]");
        oc_b_node(b, "Softmax", "soft", "x", "y", "axis=-1");
        oc_b_output(b, "y", NULL);
        x.bytes = oc_b_pack(b, &n);
        oc_b_free(b);
        oc_buf_printf(
            &text,
            "{\"Layers\": [{\"Name\": \"soft\", \"LayerType\": \"kgen\", \"Inputs\": [{\"Name\": \"x\", "
            "\"Dimensions\": [%d,4,8], \"Format/Datatype\": \"Half\"}], \"Outputs\": [{\"Name\": \"y\", "
            "\"Dimensions\": [%d,4,8], \"Format/Datatype\": \"Half\"}]}], \"Bindings\": [\"x\"]}",
            row[i].batch, row[i].batch);
        x.p = t_profile_text(text.data, NULL, &e);
        assert_non_null(x.p);
        x.p->rec[0].self_ns = x.p->rec[0].kernel_ns = 10;
        if (oc_model_load_mem(x.bytes, n, NULL, &x.m, &e) || oc_analyze(x.m, NULL, &x.a, &e) ||
            oc_join_make(x.m, x.a, x.p, NULL, &x.j, &e))
            fail_msg("%s", e.msg);
        const struct oc_join_rec *r = &x.j->rec[0];
        assert_int_equal(r->n_node, 1);
        assert_int_equal(r->quality, row[i].quality);
        assert_int_equal(r->flops,
                         row[i].batch * 32 * 5); /* softmax: 5 operations for each of 4 x 8 elements */
        assert_string_equal(r->note, row[i].note);
        oc_buf_free(&text);
        joined_free(&x);
    }
}

#define RKNN_HEAD "ID OpType DataType Target InputShape OutputShape Cycles(DDR/NPU/Total) Time(us) FullName\n"

/* RKNN records the type of the first input: int8 for a float model is its own quantization, not the model's. */
static void bytes_of_a_model_that_the_runtime_quantized_are_unknown(void **state)
{
    struct joined x = {0};
    (void)state;
    assert_null(mismatch_of(&x, "float[1,4,8,8]",
                            RKNN_HEAD "1 ConvRelu INT8 NPU (1,4,8,8) (1,4,8,8) 1/2/2 40 Conv:c0\n"
                                      "2 Conv FLOAT16 NPU (1,4,8,8) (1,4,8,8) 1/2/2 50 Conv:c1\n"));
    assert_true(x.j->rec[0].n_node == 1 && x.j->rec[0].macs == 4 * 64 * 36);
    assert_false(x.j->rec[0].bytes_known);
    assert_string_equal(x.j->rec[0].note, "quantized by the runtime: its bytes are unknown");
    assert_true(x.j->rec[1].bytes_known && x.j->rec[1].rd_act == 2 * 256);
    joined_free(&x);
    x = (struct joined){0};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "int8[1,4,8,8]");
    oc_b_node(b, "MaxPool", "p", "x", "y", "kernel_shape=2,2");
    oc_b_output(b, "y", NULL);
    assert_null(mismatch_in(&x, b, RKNN_HEAD "1 MaxPool INT8 NPU (1,4,8,8) (1,4,7,7) 1/2/2 40 MaxPool:p\n"));
    assert_true(x.j->rec[0].n_node == 1 && x.j->rec[0].bytes_known && x.j->rec[0].rd_act == 256);
    joined_free(&x);
}

static const char *coverage_of(const struct joined *x)
{
    for (size_t i = 0; i < x->j->diags.n; i++)
        if (strcmp(x->j->diags.item[i].code, "W-coverage") == 0)
            return x->j->diags.item[i].text;
    return "";
}

/* The advice names layer information only where there is none. */
static void engine_without_any_node_is_a_mismatch(void **state)
{
    struct joined x = {0};
    (void)state;
    const char *text = engine_mismatch(&x, "float[1,4,8,8]", "other", 1, 64);
    assert_non_null(text);
    assert_non_null(strstr(text, "no operator"));
    assert_non_null(strstr(coverage_of(&x), "pass the ONNX file that the engine was built from"));
    joined_free(&x);
    x = (struct joined){0};
    mismatch_of(&x, "float[1,4,8,8]",
                "[{\"count\": 2}, {\"name\": \"other\", \"timeMs\": 4, \"averageMs\": 2}]");
    assert_non_null(strstr(coverage_of(&x), "--exportLayerInfo"));
    joined_free(&x);
}

/* The log and the summary of trtexec, and layer information, record inputs by name; the only input may have
 * another name. */
static void recorded_inputs_set_dynamic_dimensions(void **state)
{
    static const struct {
        const char *profile, *input;
        int64_t batch; /* 0: the profile says nothing about the input */
    } row[] = {
        {"&&&& RUNNING TensorRT.trtexec [TensorRT v8502] # trtexec\n[I] Input inference shape: x=16x4x8x8\n"
         "[I] GPU Compute Time: min = 1 ms, max = 2 ms, mean = 1.5 ms, median = 1.5 ms\n",
         "float[N,4,8,8]", 16},
        {"{\"performance_summary\": {\"GPU Compute Time\": [1, 2, 1.5, 1.5]}, \"inference_options\": "
         "{\"Input inference shape\": \"m=7+x=32x4x8x8\"}}",
         "float[N,4,8,8]", 32},
        {"{\"Layers\": [{\"Name\": \"c0\", \"Inputs\": [{\"Name\": \"images\", \"Dimensions\": [24,4,8,8]}], "
         "\"Outputs\": [{\"Name\": \"o\", \"Dimensions\": [24,4,8,8]}]}, {\"Name\": \"c1\", \"Inputs\": "
         "[{\"Name\": \"o\", \"Dimensions\": [1,4,8,8]}], \"Outputs\": []}], \"Bindings\": [\"images\", "
         "\"o\"]}",
         "float[N,4,8,8]", 24},
        {"{\"Layers\": [{\"Name\": \"k\", \"Inputs\": [{\"Name\": \"x\", \"Dimensions\": [-1,4,8,8]}]}], "
         "\"Bindings\": [\"x\"]}",
         "float[N,4,8,8]", 0},
        {"&&&& RUNNING TensorRT.trtexec [TensorRT v8502] # trtexec\n[I] Input inference shape: x=16x4x9x8\n"
         "[I] GPU Compute Time: min = 1 ms, max = 2 ms, mean = 1.5 ms, median = 1.5 ms\n",
         "float[N,4,8,8]", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct joined x = {0};
        struct oc_shape_bind *shape;
        mismatch_of(&x, row[i].input, row[i].profile);
        size_t n = oc_profile_input_shapes(x.m, x.p, &shape);
        assert_int_equal(n, row[i].batch != 0);
        if (n) {
            assert_string_equal(shape[0].input, "x");
            assert_int_equal(shape[0].dim[0], row[i].batch);
        }
        oc_profile_input_shapes_free(shape, n);
        joined_free(&x);
    }
}

static void recorded_inputs_are_compared_with_the_analysis(void **state)
{
    static const char layers[] = "[I] === Profile (10 iterations ) ===\n"
                                 "[I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n"
                                 "[I]       10.00       1.0000       1.0000      50.0   c0\n"
                                 "[I]       10.00       1.0000       1.0000      50.0   c1\n"
                                 "[I]       20.00       2.0000       2.0000     100.0   Total\n";
    static const struct {
        const char *line, *says; /* NULL: no mismatch */
        enum oc_quality quality; /* of the rows */
    } row[] = {
        {"Created input binding for x with dimensions 1x4x8x8", NULL, OC_EXACT},
        {"Created input binding for x with dimensions 32x4x8x8", "--shape x=32x4x8x8", OC_UNKNOWN},
        {"Created input binding for x with dimensions 1x4x16x16", "input x is 1x4x16x16 in the profile",
         OC_UNKNOWN},
        {"Created input binding for x with dimensions -1x4x16x16", NULL, OC_EXACT},
        {"Created output binding for y with dimensions 32x4", NULL, OC_EXACT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct joined x = {0};
        struct oc_buf b = {0};
        oc_buf_printf(&b, "[I] %s\n%s", row[i].line, layers);
        const char *text = mismatch_of(&x, "float[1,4,8,8]", b.data);
        assert_int_equal(text != NULL, row[i].says != NULL);
        assert_true(!text || strstr(text, row[i].says));
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(x.j->rec[k].quality, row[i].quality);
        oc_buf_free(&b);
        joined_free(&x);
    }
}

/* A fused kernel whose recorded output is that of none of its nodes. */
static void recorded_output_of_a_group_is_compared_with_its_nodes(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 2; rows++) {
        struct joined x = {0};
        struct oc_buf t = {0};
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1,4,8,8]");
        oc_b_init(b, "w", "float[4,4,3,3]");
        oc_b_node(b, "Conv", "c", "x,w", "t", "pads=1,1,1,1");
        oc_b_node(b, "Relu", "r", "t", "y", "");
        oc_b_output(b, "y", NULL);
        oc_buf_printf(
            &t,
            "[{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :90,\"ts\" :0,\"ph\" : \"X\",\"name\" "
            ":\"model_run\",\"args\" : {}},\n{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :10,\"ts\" :5,"
            "\"ph\" : \"X\",\"name\" :\"c_kernel_time\",\"args\" : {\"op_name\" : \"FusedConv\","
            "\"input_type_shape\" : [{\"float\":[1,4,8,8]}],\"output_type_shape\" : "
            "[{\"float\":[1,4,%d,8]}]}}\n]\n",
            8 * rows);
        mismatch_in(&x, b, t.data);
        const char *text = NULL;
        for (size_t i = 0; i < x.j->diags.n; i++)
            if (!strcmp(x.j->diags.item[i].code, "W-shape-differs"))
                text = x.j->diags.item[i].text;
        assert_int_equal(x.j->rec[0].n_node, 2);
        assert_int_equal(text != NULL, rows == 2);
        assert_true(!text || !strcmp(text, "the profile has output 1x4x16x8, the analysis 1x4x8x8"));
        oc_buf_free(&t);
        joined_free(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_of_convolutions_decides_without_shapes),
        cmocka_unit_test(padding_to_blocks_is_not_another_model),
        cmocka_unit_test(sizes_within_an_upper_bound_fit_the_model),
        cmocka_unit_test(batch_of_the_engine_is_compared_with_the_analysis),
        cmocka_unit_test(counts_of_nodes_are_those_of_the_engines_batch),
        cmocka_unit_test(bytes_of_a_model_that_the_runtime_quantized_are_unknown),
        cmocka_unit_test(engine_without_any_node_is_a_mismatch),
        cmocka_unit_test(recorded_inputs_set_dynamic_dimensions),
        cmocka_unit_test(recorded_output_of_a_group_is_compared_with_its_nodes),
        cmocka_unit_test(recorded_inputs_are_compared_with_the_analysis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
