
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "profile/formats/trt_reading.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

extern const struct oc_importer oc_importer_tensorrt;

static const struct oc_profile_opts defaults = {0};

/* One file, without other files of its folder. */
static struct oc_profile *open_alone(const char *path)
{
    struct oc_file f;
    struct oc_err e = {0};
    struct oc_profile *p = NULL;
    assert_int_equal(oc_file_map(path, 0, &f, &e), 0);
    if (oc_profile_from_mem(&oc_importer_tensorrt, f.data, f.size_bytes, &defaults, &p, &e) != 0)
        fail_msg("%s: %s", path, e.msg);
    oc_file_unmap(&f);
    return p;
}

static struct oc_profile *open_with_siblings(const char *path, enum oc_stat stat)
{
    struct oc_profile_opts o = {.stat = stat};
    struct oc_profile *p;
    struct oc_err e = {0};
    if (oc_profile_open(path, &o, &p, &e) != 0)
        fail_msg("%s", e.msg);
    return p;
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-6 * (1 + fabs(b))))
        fail_msg("%.9g is not %.9g", a, b);
}

static uint64_t total_macs(const struct oc_profile *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        sum += p->rec[i].has_macs ? p->rec[i].macs : 0;
    return sum;
}

/* ---- own files ---- */

/* Conv: 9x9 with pads 1, kernel 3, stride 2 gives 5x5; MACs 2 * 25 * 108 = 5,400; results 2 * 4 * 25 = 200:
 * bias 200, Relu 200; the pool: 2 * 4 * 2 * 2 results of 4 taps, 128. FLOPs 10,800 + 528. Bytes, half: 2*3*81
 * = 486 in, 32 out, 108 + 4 weights: 630 * 2. */
static void counts_a_convolution_fused_with_a_pool(void **state)
{
    (void)state;
    struct oc_profile *p = open_with_siblings("tests/data/tensorrt/fused.profile.json", OC_STAT_MEDIAN);
    const struct oc_prof_rec *r = t_rec(p, "stem + relu + pool");
    assert_true(r->has_macs);
    assert_int_equal(r->macs, 5400);
    assert_near(r->flop, 11328);
    assert_near(r->bytes, 1260);
    assert_int_equal(r->param_bytes, 224);
    assert_int_equal(r->quality, OC_EXACT);
    assert_string_equal(r->precision, "f16");
    assert_near(r->time_ns, 1e6);
    assert_near(r->total_ns, 4e6);
    assert_int_equal(r->calls, 4);
    assert_int_equal(r->n_node_name, 3);
    assert_string_equal(r->node_name[0], "stem");
    assert_string_equal(r->node_name[1], "relu[0]");
    assert_string_equal(r->node_name[2], "pool");
    oc_profile_close(p);
}

/* up: each of 2 * 2 * 2 positions uses 4 * 6 * 4 = 96 weights: 768. twin: 2 * 6 * 7 * 16 = 1,344 and 2 * 6 *
 * 7 * 5 = 420, one record: 1,764; 0.2 + 0.3 ms per iteration. */
static void layers_of_one_name_are_one_record(void **state)
{
    (void)state;
    struct oc_profile *p = open_with_siblings("tests/data/tensorrt/fused.graph.json", OC_STAT_MEDIAN);
    assert_string_equal(p->producer, "TensorRT");
    assert_int_equal(t_rec(p, "up")->macs, 768);
    const struct oc_prof_rec *twin = t_rec(p, "twin");
    assert_int_equal(twin->macs, 1764);
    assert_near(twin->time_ns, 500e3);
    assert_near(twin->total_ns, 2e6);
    assert_near(twin->calls_per_run, 2);
    assert_null(t_rec(p, "up [profile 1]"));
    const struct oc_prof_rec *kgen = t_rec(p, "a \"quoted\" name");
    assert_non_null(kgen);
    assert_false(kgen->has_macs);
    assert_true(isnan(kgen->flop) && isnan(kgen->bytes)); /* an unknown dimension */
    assert_near(kgen->time_ns, 400e3);
    oc_profile_close(p);
}

/* Sums 0.4 + 4 + 2 + 1 + 1 + 1.6 ms; the elided layer has no row. The engine takes 2.5 ms (median of three).
 */
static void joins_the_files_of_one_measurement(void **state)
{
    (void)state;
    struct oc_profile *p = open_with_siblings("tests/data/tensorrt/fused.profile.json", OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 6);
    assert_near(p->imported_ns, 10e6);
    assert_int_equal(p->runs_total, 4);
    assert_near(p->run_ns, 2.5e6);
    assert_string_equal(p->device, "NVIDIA Test");
    assert_string_equal(t_rec(p, "flat")->bucket, "no-op");
    assert_string_equal(t_rec(p, "Reformatting CopyNode for Input Tensor 0 to stem")->overhead, "reformat");
    assert_null(t_rec(p, "up")->overhead);
    assert_non_null(t_finding(p, "N-layer-sum"));
    assert_non_null(
        strstr(p->beside, "the layers, timed one by one in 4 other iterations, add up to 2.50 ms"));
    oc_profile_close(p);
}

static void requested_statistic_is_used(void **state)
{
    (void)state;
    static const struct {
        enum oc_stat asked, used;
        double up_ns, stem_ns;
    } row[] = {
        {OC_STAT_TYPICAL, OC_STAT_MEAN, 0.5e6, 1e6},
        {OC_STAT_MEDIAN, OC_STAT_MEAN, 0.5e6, 1e6}, /* medians of layers add up to no total */
        {OC_STAT_MEAN, OC_STAT_MEAN, 0.5e6, 1e6},
        {OC_STAT_SUM, OC_STAT_SUM, 2e6, 4e6},
        {OC_STAT_MAX, OC_STAT_MEAN, 0.5e6, 1e6}, /* not in the file */
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_profile *p = open_with_siblings("tests/data/tensorrt/fused.profile.json", row[i].asked);
        assert_int_equal(p->stat, row[i].used);
        assert_near(t_rec(p, "up")->time_ns, row[i].up_ns);
        assert_near(t_rec(p, "stem + relu + pool")->time_ns, row[i].stem_ns);
        assert_near(p->imported_ns, 10e6);
        assert_int_equal(t_finding(p, "W-no-statistic") != NULL,
                         row[i].asked == OC_STAT_MEDIAN || row[i].asked == OC_STAT_MAX);
        oc_profile_close(p);
    }
}

/* Layers without a profile: shapes and counts, and unknown time, not 0. */
static void reads_layer_information_alone(void **state)
{
    (void)state;
    struct oc_profile *p = open_alone("tests/data/tensorrt/fused.graph.json");
    assert_int_equal(p->n_rec, 6); /* the second optimization profile is skipped, the twins are one record */
    assert_int_equal(total_macs(p), 5400 + 768 + 1764);
    for (uint32_t i = 0; i < p->n_rec; i++)
        assert_true(isnan(p->rec[i].time_ns) && isnan(p->rec[i].total_ns));
    assert_true(isnan(p->imported_ns) && isnan(p->run_ns));
    assert_int_equal(p->runs_total, 0);
    oc_profile_close(p);
}

/* 8 * 4 * 16 */
static void reads_the_layout_of_version_11(void **state)
{
    (void)state;
    struct oc_profile *p = open_with_siblings("tests/data/tensorrt/tensors.graph.json", OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 1);
    assert_int_equal(p->rec[0].macs, 512);
    assert_int_equal(p->rec[0].in[0].dtype, OC_DT_BFLOAT16);
    assert_string_equal(p->rec[0].precision, "bf16");
    oc_profile_close(p);
}

static void reads_names_only(void **state)
{
    (void)state;
    struct oc_profile *p = open_with_siblings("tests/data/tensorrt/names.graph.json", OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 3);
    assert_string_equal(p->rec[0].overhead, "framework");
    assert_string_equal(p->rec[1].name, "conv + PWN(relu)");
    assert_false(p->rec[1].has_in);
    assert_non_null(t_finding(p, "N-names-only"));
    oc_profile_close(p);
}

/* Compute 3 + 2 + 2.5 ms, in 3 * 0.5, out 3 * 0.25. */
static void reads_times_alone(void **state)
{
    (void)state;
    struct oc_profile *p = open_alone("tests/data/tensorrt/fused.timing.json");
    assert_int_equal(p->n_rec, 3);
    assert_near(p->imported_ns, 7.5e6 + 1.5e6 + 0.75e6);
    assert_string_equal(p->rec[0].bucket, "whole engine");
    assert_near(p->rec[0].time_ns, 2.5e6);
    assert_near(p->rec[0].min_ns, 2e6);
    assert_near(p->rec[0].max_ns, 3e6);
    assert_near(p->rec[0].host_ns, 0.125e6);
    assert_string_equal(p->rec[1].bucket, "copies outside the engine");
    assert_near(p->run_ns, 2.5e6);
    assert_int_equal(p->runs_used, 3);
    oc_profile_close(p);
    p = open_with_siblings("tests/data/tensorrt/old.timing.json", OC_STAT_MEDIAN);
    assert_near(p->rec[0].host_ns, 0.125e6); /* named startInMs, endInMs */
    assert_near(p->rec[1].total_ns, 0.5e6);
    assert_near(p->imported_ns, 2.75e6);
    oc_profile_close(p);
}

/* 16.15 + 123.85 + 9 ms in 100 iterations */
static void reads_the_log_of_a_run(void **state)
{
    (void)state;
    struct oc_profile *p = open_with_siblings("tests/data/tensorrt/dump.log", OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 3);
    assert_int_equal(p->runs_used, 100);
    assert_near(p->imported_ns, 149e6);
    assert_near(t_rec(p, "node_of_a + node_of_b")->time_ns, 1.2385e6);
    assert_string_equal(p->rec[0].overhead, "reformat");
    assert_string_equal(p->rec[2].name, "[trainStation1]");
    assert_string_equal(p->device, "NVIDIA Test");
    assert_near(p->run_ns, 1.25e6);
    assert_false(p->truncated);
    oc_profile_close(p);
    p = open_with_siblings("tests/data/tensorrt/old_dump.log", OC_STAT_MEDIAN);
    assert_int_equal(p->n_rec, 2);
    assert_near(p->imported_ns, 10e6);
    assert_string_equal(p->rec[0].name, "conv 1 + relu");
    assert_near(p->rec[0].time_ns, 0.25e6); /* the mean: there are no medians */
    oc_profile_close(p);
}

static bool has_code(const struct oc_profile *p, const char *code)
{
    for (size_t i = 0; i < p->diags.n; i++)
        if (strcmp(p->diags.item[i].code, code) == 0)
            return true;
    return false;
}

#define RUNNING "&&&& RUNNING TensorRT.trtexec [TensorRT v8502] # trtexec --loadEngine=a.plan\n"

/* Without --dumpProfile: 200 iterations with a mean of 1.5 ms. */
static void summary_of_a_log_is_the_time_of_the_engine(void **state)
{
    static const char text[] =
        RUNNING "[01/02/2024-10:00:00] [I] Selected Device: Orin\n"
                "[01/02/2024-10:00:00] [I] Created input binding for images with dimensions 8x3x64x96\n"
                "[01/02/2024-10:00:00] [I] Input binding for mask with dimensions 8x77 is created.\n"
                "[01/02/2024-10:00:04] [I] Timing trace has 200 queries over 0.4 s\n"
                "[01/02/2024-10:00:04] [I] H2D Latency: min = 0.1 ms, max = 0.3 ms, mean = 0.2 ms, median = "
                "0.2 ms, percentile(99%) = 0.3 ms\n"
                "[01/02/2024-10:00:04] [I] GPU Compute Time: min = 1 ms, max = 3 ms, mean = 1.5 ms, median = "
                "1.25 ms, percentile(99%) = 2 ms\n"
                "[01/02/2024-10:00:04] [I] D2H Latency: min = 0 ms, max = 0 ms, mean = 0 ms, median = 0 ms\n";
    struct oc_err e;
    (void)state;
    struct oc_profile *p = t_profile_text(text, NULL, &e);
    assert_non_null(p);
    assert_int_equal(p->n_rec, 2);
    assert_string_equal(p->rec[0].bucket, "whole engine");
    assert_near(p->rec[0].time_ns, 1.25e6);
    assert_near(p->rec[0].total_ns, 300e6);
    assert_near(p->rec[1].total_ns, 40e6);
    assert_near(p->imported_ns, 340e6);
    assert_near(p->run_ns, 1.25e6);
    assert_int_equal(p->runs_used, 200);
    assert_int_equal(p->n_input, 2);
    assert_string_equal(p->input[0].name, "images");
    assert_int_equal(p->input[0].type.shape.dim[3].v, 96);
    assert_string_equal(p->input[1].name, "mask");
    assert_int_equal(p->input[1].type.shape.rank, 2);
    oc_profile_close(p);
}

/* A verbose log is long, and others write between the rows; the second engine is not mixed with the first. */
static void table_at_the_end_of_a_long_log_is_read(void **state)
{
    struct oc_buf b = {0};
    struct oc_err e;
    (void)state;
    oc_buf_str(&b, RUNNING);
    while (b.n < 200000)
        oc_buf_str(&b, "[01/02/2024-10:00:00] [V] [TRT] Registered plugin creator - ::GroupNorm version 1\n");
    oc_buf_str(&b, "[I] === Profile (10 iterations ) ===\n"
                   "[I]      Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %\n\n"
                   "[I]     images to nvm       1.00     0.1000     0.1000      10.0\n\n"
                   "[W] [TRT] a message\n"
                   "[I]     Conv_0 + Relu_1     9.00     0.9000     0.8000      90.0\n"
                   "[I]     Total      10.00     1.0000     0.9000     100.0\n" RUNNING
                   "[I] === Profile (10 iterations ) ===\n"
                   "[I]      Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %\n"
                   "[I]     Conv_0 + Relu_1     7.00     0.7000     0.8000     100.0\n"
                   "[I]     Total      7.00     1.0000     0.9000     100.0\n");
    struct oc_profile *p = t_profile_text(b.data, NULL, &e);
    assert_non_null(p);
    assert_int_equal(p->n_rec, 2);
    assert_near(p->imported_ns, 10e6);
    assert_string_equal(p->rec[0].overhead, "DLA transfers");
    assert_string_equal(p->rec[1].op_type, "Conv");
    assert_near(p->rec[1].time_ns, 0.9e6);
    assert_true(has_code(p, "W-several-profiles"));
    assert_true(has_code(p, "W-dla"));
    assert_false(p->truncated);
    oc_profile_close(p);
    oc_buf_free(&b);
}

/* trtexec 7.x prints a block for each kind of time, and none for the copies. */
static void summary_of_trtexec_7_is_the_time_of_the_engine(void **state)
{
    static const char text[] = RUNNING "[07/01/2021-07:32:09] [I] Host Latency\n"
                                       "[07/01/2021-07:32:09] [I] min: 7 ms (end to end 8 ms)\n"
                                       "[07/01/2021-07:32:09] [I] median: 9 ms (end to end 9 ms)\n"
                                       "[07/01/2021-07:32:09] [I] throughput: 0 qps\n"
                                       "[07/01/2021-07:32:09] [I] Enqueue Time\n"
                                       "[07/01/2021-07:32:09] [I] median: 0.5 ms\n"
                                       "[07/01/2021-07:32:09] [I] GPU Compute\n"
                                       "[07/01/2021-07:32:09] [I] min: 1 ms\n"
                                       "[07/01/2021-07:32:09] [I] max: 3 ms\n"
                                       "[07/01/2021-07:32:09] [I] mean: 1.5 ms\n"
                                       "[07/01/2021-07:32:09] [I] median: 1.25 ms\n"
                                       "[07/01/2021-07:32:09] [I] percentile: 2 ms at 99%\n"
                                       "[07/01/2021-07:32:09] [I] total compute time: 3 s\n";
    struct oc_err e;
    (void)state;
    struct oc_profile *p = t_profile_text(text, NULL, &e);
    assert_non_null(p);
    assert_int_equal(p->n_rec, 1);
    assert_string_equal(p->rec[0].bucket, "whole engine");
    assert_near(p->rec[0].time_ns, 1.25e6);
    assert_near(p->run_ns, 1.25e6);
    assert_int_equal(p->runs_used, 2000); /* 3 s of 1.5 ms */
    oc_profile_close(p);
}

/* The verbose builder of 8.0 to 8.2: names contain commas and brackets, -8 is a dimension of a dynamic shape.
 */
static void layers_of_tensorrt_8_0_have_types_and_tensors(void **state)
{
    static const char text[] = RUNNING
        "[12/04/2021-06:44:31] [V] [TRT] Engine Layer Information:\n"
        "Layer(CaskConvolution): Conv_0 + PWN(a, b), Tactic: 0x4727434768e46395, x[Half(2,3,8,8)], (Unnamed "
        "Layer* 3) [Shuffle]_output[Half(2,4,1,1)] -> y[Int8(2,4,8,8)]\n"
        "Layer(Reformat): z copy, Tactic: -37215280111360163, y[Int8(-8,4)] -> z[Float(-8,4)]\n"
        "Layer(Constant): w, Tactic: 0,  -> w[Float(4)]\n"
        "[12/04/2021-06:44:32] [I] done\n"
        "[I] === Profile (10 iterations ) ===\n"
        "[I]      Layer   Time (ms)   Avg. Time (ms)   Time %\n"
        "[I]     Conv_0 + PWN(a, b)     9.00     0.9000     90.0\n"
        "[I]     z copy     1.00     0.1000     10.0\n"
        "[I]     Total      10.00     1.0000     100.0\n";
    static const char *const damaged[] = {
        "Layer(CaskConvolution): a", "Layer(X): a, Tactic: 1", "Layer(X): a, Tactic: 1, b -> c",
        "Layer(X): a, Tactic: 1, b[Half(] -> c", "Layer(X): a, Tactic: 1, b[Half(1,x)] -> c[Half(1)]"};
    struct oc_err e;
    (void)state;
    struct oc_profile *p = t_profile_text(text, NULL, &e);
    assert_non_null(p);
    assert_string_equal(p->rec[0].name, "Conv_0 + PWN(a, b)");
    assert_string_equal(p->rec[0].op_type, "Conv");
    assert_int_equal(p->rec[0].n_in, 2);
    assert_int_equal(p->rec[0].in[0].dtype, OC_DT_FLOAT16);
    assert_int_equal(p->rec[0].in[0].shape.dim[2].v, 8);
    assert_int_equal(p->rec[0].in[1].shape.dim[1].v, 4);
    assert_int_equal(p->rec[0].out[0].dtype, OC_DT_INT8);
    assert_string_equal(p->rec[1].overhead, "reformat");
    assert_false(oc_shape_known(&p->rec[1].in[0].shape));
    oc_profile_close(p);
    for (size_t i = 0; i < OC_COUNT(damaged); i++) {
        struct oc_buf line = {0};
        assert_false(oc_trt_layer_line(oc_str(damaged[i], strlen(damaged[i])), &line));
        assert_int_equal(line.n, 0);
        oc_buf_free(&line);
    }
}

/* --dumpLayerInfo: the text form of the layer information, which a verbose builder prints too. */
static void layer_information_in_a_log_is_that_of_the_json(void **state)
{
    static const char json[] =
        "{\"Layers\": [{\"Name\": \"a, b + PWN(c, d)\", \"LayerType\": \"CaskConvolution\", \"Inputs\": "
        "[{\"Name\": "
        "\"(Unnamed Layer* 3) [Shuffle]_output\", \"Location\": \"Device\", \"Dimensions\": [2,3,8,8], "
        "\"Format/Datatype\": \"Row major linear FP16 format\"}], \"Outputs\": [{\"Name\": \"y\", "
        "\"Dimensions\": "
        "[2,4,8,8], \"Format/Datatype\": \"Half\"}], \"ParameterType\": \"Convolution\", \"Kernel\": [3,3], "
        "\"OutMaps\": 4, \"Groups\": 1, \"Weights\": {\"Type\": \"Half\", \"Count\": 108}, \"Bias\": "
        "{\"Type\": "
        "\"Float\", \"Count\": 4}, \"Activation\": \"RELU\", \"StreamId\": 1, \"Metadata\": \"[ONNX Layer: "
        "a]\"}, "
        "{\"Name\": \"{ForeignNode[w...z]}\", \"LayerType\": \"Myelin\", \"Inputs\": [], \"Outputs\": "
        "[{\"Name\": "
        "\"z\", \"Dimensions\": [], \"Format/Datatype\": \"Int32\"}]}]}";
    static const char text[] = RUNNING
        "[01/02/2024-10:00:00] [V] [TRT] Layers:\n"
        "Name: a, b + PWN(c, d), LayerType: CaskConvolution, Inputs: [ { Name: (Unnamed Layer* 3) "
        "[Shuffle]_output, Location: Device, Dimensions: [2,3,8,8], Format/Datatype: Row major linear FP16 "
        "format }], Outputs: [ { Name: y, Dimensions: [2,4,8,8], Format/Datatype: Half }], ParameterType: "
        "Convolution, Kernel: [3,3], OutMaps: 4, Groups: 1, Weights: {\"Type\": \"Half\", \"Count\": 108}, "
        "Bias: {\"Type\": \"Float\", \"Count\": 4}, Activation: RELU, ParameterSubType: [0.000000,6.000000], "
        "StreamId: 1, Metadata: [ONNX Layer: a]\n\n"
        "Name: {ForeignNode[w...z]}, LayerType: Myelin, Inputs: [], Outputs: [ { Name: z, Dimensions: [], "
        "Format/Datatype: Int32 }], TacticValue: 0x0\n"
        "Bindings:\nx\n"
        "[01/02/2024-10:00:00] [I] Layers:\n"
        "Name: again, LayerType: NoOp, Inputs: [], Outputs: []\n";
    static const char *const damaged[] = {"Name: a, LayerType: X, Inputs: [ { Name: b, Dimensions: [1,",
                                          "Name: a, LayerType: X, Weights: {\"Type\": \"",
                                          "Name: a, LayerType: X, Inputs: [[[[[[[[[[[[[[1]]]]]]]]]]]]]]",
                                          "Name: a, LayerType: X, Inputs: [1 2], "};
    struct oc_err e;
    (void)state;
    struct oc_profile *a = t_profile_text(json, NULL, &e), *b = t_profile_text(text, NULL, &e);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(b->n_rec, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct oc_prof_rec *x = &a->rec[i], *y = &b->rec[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->op_type, y->op_type);
        assert_int_equal(x->n_in, y->n_in);
        assert_int_equal(x->n_out, y->n_out);
        assert_int_equal(x->out[0].dtype, y->out[0].dtype);
        assert_true(oc_shape_equal(&x->out[0].shape, &y->out[0].shape));
        assert_int_equal(x->n_node_name, y->n_node_name);
        assert_int_equal(x->macs, y->macs);
        assert_true(x->bytes == y->bytes || (isnan(x->bytes) && isnan(y->bytes)));
    }
    assert_int_equal(b->rec[0].macs, 2 * 64 * 108);
    assert_true(isnan(b->rec[1].bytes)); /* weights of a region are not listed */
    oc_profile_close(a);
    oc_profile_close(b);
    for (size_t i = 0; i < OC_COUNT(damaged); i++) {
        struct oc_buf line = {0};
        assert_false(oc_trt_layer_line(oc_str(damaged[i], strlen(damaged[i])), &line));
        assert_int_equal(line.n, 0);
        oc_buf_free(&line);
    }
}

static void reads_unusual_writer_output(void **state)
{
    (void)state;
    struct oc_err e = {0};
    /* no time at all: percentages are nan, and no layer is elided */
    struct oc_profile *p =
        t_profile_text("[ { \"count\" : 2 }\n, { \"name\" : \"a\", \"timeMs\" : 0, \"averageMs\" : 0, "
                       "\"percentage\" : -nan }\n]",
                       NULL, &e);
    assert_non_null(p);
    assert_null(p->rec[0].bucket);
    assert_true(p->rec[0].time_ns == 0);
    assert_int_equal(p->stat, OC_STAT_MEAN); /* up to 8.2 without medians */
    oc_profile_close(p);
    /* truncated: the complete layers count */
    p = t_profile_text(
        "[ { \"count\" : 2 }\n, { \"name\" : \"a\", \"timeMs\" : 3, \"averageMs\" : 1.5, \"medianMs\" "
        ": 1.5 }\n, { \"name\" : \"b\", \"timeMs\" : 3",
        NULL, &e);
    assert_non_null(p);
    assert_true(p->truncated);
    assert_int_equal(p->n_rec, 1);
    assert_near(p->imported_ns, 3e6);
    oc_profile_close(p);
    p = t_profile_text("{\"performance_summary\": {\"Throughput\": 1}}", NULL, &e);
    assert_null(p);
    assert_non_null(strstr(e.msg, "contains no times"));
    p = t_profile_text("&&&& RUNNING TensorRT.trtexec [TensorRT v8401] # trtexec --buildOnly\n", NULL, &e);
    assert_null(p);
    assert_non_null(strstr(e.msg, "--dumpProfile"));
}

/* As trtexec writes it, around one entry. */
#define ENTRIES(entry)                                                                                       \
    "[\n  { \"count\" : 2 }\n, { \"name\" : \"a\", \"timeMs\" : 3 }\n, " entry                               \
    "\n, { \"name\" : \"c\", \"timeMs\" : 1 }\n]\n"

/* Complete entries around a broken one count, and the position is reported. Damage that cannot be in a name
 * is an error. */
static void broken_entries_are_skipped_with_a_position(void **state)
{
    (void)state;
    static const struct {
        const char *text, *code, *says;
        uint32_t n_rec;
    } file[] = {
        {"[{\"count\": 2},\n{\"name\": \"a\", \"timeMs\": 3, \"averageMs\": 1.5},\n{\"name\": \"b\", 5},"
         "\n{\"name\": \"c\", \"timeMs\": 1, \"averageMs\": 0.5}]",
         "W-broken-event", "1 broken entries were skipped, the first: expected a name, found '5' (offset 75)",
         2},
        {ENTRIES("{ \"name\" : \"b\", \"c\", \"timeMs\" : 3 }"), "W-broken-event",
         "1 broken entries were skipped, the first: expected ':', found ',' (offset 74)", 2},
        {ENTRIES("{ \"name\" \"b\", \"timeMs\" : 3 }"), NULL, "entry 3: \"name\": expected ':', found '\"'",
         0},
        {ENTRIES("{ \"name\" : \"b\", \"timeMs\" 3, \"averageMs\" : 1.5 }"), NULL,
         "entry 3: \"timeMs\": expected ':', found '3'", 0},
        {ENTRIES("{ \"name\" : \"b\", \"timeMs\" : , \"averageMs\" : 1.5 }"), NULL,
         "entry 3: \"timeMs\": expected a value, found ','", 0},
        {ENTRIES("{ \"name\" : \"b\", \"timeMs\" : 3, \"percentage\" 50 }"), NULL,
         "entry 3: \"percentage\": expected ':', found '5'", 0},
        {"{\"Layers\": [\"a\", \"b\"], 5}", "W-broken",
         "expected a name, found '5' (offset 23): the complete values before it are used", 2},
        {"{5}", NULL, "expected a name, found '5'", 0},
    };
    for (size_t i = 0; i < OC_COUNT(file); i++) {
        const struct oc_profile_opts opts = {.format = "tensorrt"};
        struct oc_err e = {0};
        struct oc_profile *p = t_profile_text(file[i].text, &opts, &e);
        const char *told = p && file[i].code ? t_finding(p, file[i].code) : e.msg;
        if (!p != !file[i].code || !told || !strstr(told, file[i].says))
            fail_msg("%s: %s", file[i].text, told ? told : "no warning");
        if (p)
            assert_int_equal(p->n_rec, file[i].n_rec);
        oc_profile_close(p);
    }
}

/* ---- recordings ---- */

/* Sums of timeMs and medianMs by decimal arithmetic over the files. MACs: 32 images, ResNet-18 has
 * 1,814,073,344 MACs per image, ResNet-50 v1 3,857,973,248; MobileNet v2 300,774,272 for one. */
static const struct engine {
    const char *name;
    uint32_t layers, elided;
    double total_ns;
    uint64_t macs;
} engine[] = {
    {"pytorch.resnet.A100.fp16.resnet.onnx.engine", 36, 11, 1016832, 58050347008},
    {"pytorch.resnet.A100.fp32.resnet.onnx.engine", 32, 8, 2123776, 58050347008},
    {"pytorch.resnet.A100.qat-residual-qgap.resnet-qat-residual-qgap.onnx.engine", 24, 1, 672768,
     58050347008},
    {"pytorch.resnet.A100.qat-residual.resnet-qat-residual.onnx.engine", 26, 1, 731136, 58050347008},
    {"pytorch.resnet.A100.qat.resnet-qat.onnx.engine", 37, 2, 1095680, 58050347008},
    {"tensorflow.resnet.RTX-3090.fp16.resnet.onnx.engine", 86, 25, 4272736, 123455143936},
    {"tensorflow.resnet.RTX-3090.fp32.resnet.onnx.engine", 103, 31, 12399744, 123455143936},
    {"tensorflow.resnet.RTX-3090.qat.resnet-qat.onnx.engine", 63, 1, 2380608, 123455143936},
    {"tests.mobilenet.qat.onnx.engine", 73, 1, 3109270400, 300774272},
    {"tests.mobilenet_v2_residuals.qat.onnx.engine", 58, 1, 3081208100, 300774272},
    {"trt8.detector.qat", 86, 9, 4441974898, 0}, /* names only */
};

static const char *sample_of(const struct engine *e, const char *suffix)
{
    char name[200];
    snprintf(name, sizeof(name), "tensorrt/%s%s", e->name, suffix);
    return t_sample(name);
}

static void check_engine(const struct engine *e, const struct oc_profile *p)
{
    double iteration_ns = 0, held_ns = 0;
    uint32_t elided = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        iteration_ns += r->time_ns;
        held_ns += r->total_ns;
        elided += r->bucket && strcmp(r->bucket, "no-op") == 0;
        if (r->bucket && strcmp(r->bucket, "no-op") != 0)
            fail_msg("%s: %s is in the bucket %s", e->name, r->name, r->bucket);
    }
    assert_int_equal(p->n_rec, e->layers);
    assert_int_equal(elided, e->elided);
    assert_true(fabs(p->imported_ns - e->total_ns) < 1 && fabs(held_ns - e->total_ns) < 1);
    assert_true(fabs(iteration_ns * p->runs_total - e->total_ns) <
                1e-3 * e->total_ns); /* means of 6 digits */
    if (e->macs)
        assert_int_equal(total_macs(p), e->macs);
}

static void recordings_have_exact_sums_and_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(engine); i++) {
        const char *path = sample_of(&engine[i], ".profile.json");
        if (!path)
            continue;
        struct oc_profile *p = open_with_siblings(path, OC_STAT_MEDIAN);
        check_engine(&engine[i], p);
        oc_profile_close(p);
    }
}

/* Each of the two files alone names the same layers in the same order. */
static void profile_and_layer_information_have_the_same_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(engine); i++) {
        const char *path = sample_of(&engine[i], ".profile.json");
        if (!path)
            continue;
        struct oc_profile *p = open_alone(path);
        struct oc_profile *l =
            open_alone(sample_of(&engine[i], engine[i].macs ? ".graph.json" : ".layer_info.json"));
        assert_int_equal(p->n_rec, l->n_rec);
        for (uint32_t k = 0; k < p->n_rec; k++)
            assert_string_equal(p->rec[k].name, l->rec[k].name);
        if (engine[i].macs)
            assert_int_equal(total_macs(l), engine[i].macs);
        assert_true(!total_macs(p) && isnan(l->rec[0].time_ns));
        oc_profile_close(p);
        oc_profile_close(l);
    }
}

/* Median computeMs of 263 iterations; for the A100 engine the median of the summary. */
static void run_time_comes_from_times_or_summary(void **state)
{
    (void)state;
    const char *path = t_sample("tensorrt/tensorflow.resnet.RTX-3090.fp32.resnet.onnx.engine.profile.json");
    if (!path)
        skip();
    struct oc_profile *p = open_with_siblings(path, OC_STAT_MEDIAN);
    assert_near(p->run_ns, 12168200);
    oc_profile_close(p);
    p = open_with_siblings(t_sample("tensorrt/pytorch.resnet.A100.fp16.resnet.onnx.engine.profile.json"),
                           OC_STAT_MEDIAN);
    assert_near(p->run_ns, 862183);
    assert_string_equal(p->device, "NVIDIA A100 80GB PCIe");
    assert_string_equal(t_rec(p, "Conv_3 + Relu_4")->precision, "f16");
    oc_profile_close(p);
}

static void files_of_two_engines_are_two_profiles(void **state)
{
    (void)state;
    static const char *const path[] = {"tests/data/tensorrt/resnet18.profile.json",
                                       "tests/data/tensorrt/tensors.graph.json"};
    struct oc_profile **list;
    size_t n;
    struct oc_err e = {0};
    if (oc_profile_open_all(path, 2, &defaults, &list, &n, &e) != 0)
        fail_msg("%s", e.msg);
    assert_int_equal(n, 1);
    assert_non_null(t_finding(list[0], "W-other-engine"));
    oc_profile_close(list[0]);
    free(list);
}

static void only_the_first_of_several_profiles_is_read(void **state)
{
    (void)state;
    struct oc_err err = {0};
#define ONE_PROFILE                                                                                          \
    "[ { \"count\" : 10 }, { \"name\" : \"conv1\", \"timeMs\" : 20, \"averageMs\" : 2, \"percentage\" : "    \
    "100 } ]"
    struct oc_profile *p = t_profile_text(ONE_PROFILE "\n" ONE_PROFILE "\n", NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_int_equal(p->n_rec, 1);
    assert_int_equal(p->runs_total, 10);
    assert_non_null(t_finding(p, "W-more-profiles"));
    oc_profile_close(p);
    p = t_profile_text(ONE_PROFILE "\n", NULL, &err);
    assert_null(t_finding(p, "W-more-profiles"));
    oc_profile_close(p);
}

static void layers_without_a_count_are_divided_by_their_means(void **state)
{
    (void)state;
    struct oc_err e = {0};
    struct oc_profile *p = t_profile_text("[\n{ \"name\" : \"a\", \"timeMs\" : 0, \"averageMs\" : 0 }\n, { "
                                          "\"name\" : \"conv1\", \"timeMs\" : 36.6844, "
                                          "\"averageMs\" : 0.058695, \"percentage\" : 1.2 } ]",
                                          NULL, &e);
    assert_true(p && p->runs_total == 625 && fabs(t_rec(p, "conv1")->time_ns - 58695) < 1);
    oc_profile_close(p);
    assert_null(t_profile_text("[{\"name\": \"a\", \"timeMs\": 3}]", NULL, &e));
}

/* 3 / 1.5 = 2, 10 / 1 = 10: which of the two is unknown. */
static void layers_whose_means_disagree_have_no_runs(void **state)
{
    (void)state;
    struct oc_err e = {0};
    struct oc_profile *p = t_profile_text("[\n{ \"name\" : \"a\", \"timeMs\" : 3, \"averageMs\" : 1.5 }\n, { "
                                          "\"name\" : \"b\", \"timeMs\" : 10, \"averageMs\" : 1 } ]",
                                          NULL, &e);
    assert_non_null(p);
    assert_int_equal(p->runs_total, 0);
    assert_int_equal(p->runs_from, OC_RUNS_UNKNOWN);
    oc_profile_close(p);
}

/* The part of a log below the last inference, as documents quote it. */
static void summary_without_the_rest_of_the_log_has_the_latency(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text("[11/01/2024-10:33:09] [I] === Performance summary "
                                          "===\n[11/01/2024-10:33:09] [I] Throughput: 2000 qps\n"
                                          "[11/01/2024-10:33:09] [I] GPU Compute Time: min = 0.4 ms, max = "
                                          "0.6 ms, mean = 0.5 ms, median = 0.5 ms\n",
                                          NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "tensorrt");
    assert_true(p->run_ns == 0.5e6 && p->runs_per_s == 2000);
    oc_profile_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_first_of_several_profiles_is_read),
        cmocka_unit_test(layers_without_a_count_are_divided_by_their_means),
        cmocka_unit_test(layers_whose_means_disagree_have_no_runs),
        cmocka_unit_test(counts_a_convolution_fused_with_a_pool),
        cmocka_unit_test(layers_of_one_name_are_one_record),
        cmocka_unit_test(joins_the_files_of_one_measurement),
        cmocka_unit_test(requested_statistic_is_used),
        cmocka_unit_test(reads_layer_information_alone),
        cmocka_unit_test(reads_the_layout_of_version_11),
        cmocka_unit_test(reads_names_only),
        cmocka_unit_test(files_of_two_engines_are_two_profiles),
        cmocka_unit_test(reads_times_alone),
        cmocka_unit_test(reads_the_log_of_a_run),
        cmocka_unit_test(summary_of_a_log_is_the_time_of_the_engine),
        cmocka_unit_test(table_at_the_end_of_a_long_log_is_read),
        cmocka_unit_test(layer_information_in_a_log_is_that_of_the_json),
        cmocka_unit_test(layers_of_tensorrt_8_0_have_types_and_tensors),
        cmocka_unit_test(summary_of_trtexec_7_is_the_time_of_the_engine),
        cmocka_unit_test(reads_unusual_writer_output),
        cmocka_unit_test(broken_entries_are_skipped_with_a_position),
        cmocka_unit_test(recordings_have_exact_sums_and_counts),
        cmocka_unit_test(profile_and_layer_information_have_the_same_names),
        cmocka_unit_test(run_time_comes_from_times_or_summary),
        cmocka_unit_test(summary_without_the_rest_of_the_log_has_the_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
