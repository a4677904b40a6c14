/* What-if steps of a small model on a synthetic device, compared with hand calculations. */
#include "report/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hw/hwdb.h"
#include "support/build.h"
#include "support/json_paths.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

/* Section 8 of cost-semantics: 10 TFLOP/s f32, 100 GB/s, 5 us; and f16 matrix 40, f16 vector 20 TFLOP/s. The
 * other device has twice the bandwidth and an overhead of 1 us. */
static const struct oc_hw_figure f32_peak = {.value = 10e12}, f16_matrix = {.value = 40e12},
                                 f16_vector = {.value = 20e12}, slow = {.value = 100e9},
                                 fast = {.value = 200e9}, five = {.value = 5e-6}, one = {.value = 1e-6};
static const struct oc_hw_level slow_dram = {.name = "DRAM", .bandwidth = &slow},
                                fast_dram = {.name = "DRAM", .bandwidth = &fast};

static struct oc_device device(bool other)
{
    static struct oc_device_info info[] = {
        {.id = "d", .name = "This", .vendor = "", .kind = "cpu", .file = ""},
        {.id = "d", .name = "Other", .vendor = "", .kind = "cpu", .file = ""}};
    struct oc_device d = {.info = &info[other],
                          .level = other ? &fast_dram : &slow_dram,
                          .n_level = 1,
                          .overhead = other ? &one : &five};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &f32_peak;
    d.peak[OC_HW_VECTOR][OC_CLASS_F16] = &f16_vector;
    d.peak[OC_HW_MATRIX][OC_CLASS_F16] = &f16_matrix;
    return d;
}

struct made {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
    struct oc_profile *profile;
    struct oc_join *join;
    struct oc_device device;
};

/* Worked case 15, MatMul {1,128,768} x {768,3072}, followed by a Relu. */
static struct made make(const char *profile)
{
    size_t n;
    struct oc_err err;
    struct made x = {.device = device(false)};
    struct oc_builder *b = oc_b_new(17);
    struct oc_analyze_opts o = {0};
    struct oc_profile_opts po = {.warmup = OC_WARMUP_NONE};
    oc_b_input(b, "x", "float[1,128,768]");
    oc_b_init(b, "w", "float[768,3072]");
    oc_b_node(b, "MatMul", "fc", "x,w", "y", "");
    oc_b_node(b, "Relu", "act", "y", "z", "");
    oc_b_output(b, "z", "float[1,128,3072]");
    x.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(x.bytes, n, NULL, &x.model, &err) || oc_analyze(x.model, &o, &x.analysis, &err))
        fail_msg("%s", err.msg);
    if (profile && (!(x.profile = t_profile_text(profile, &po, &err)) ||
                    oc_join_make(x.model, x.analysis, x.profile, NULL, &x.join, &err)))
        fail_msg("%s", err.msg);
    return x;
}

static void free_made(struct made *x)
{
    oc_join_free(x->join);
    oc_profile_close(x->profile);
    oc_analysis_free(x->analysis);
    oc_model_free(x->model);
    free(x->bytes);
}

static int report(const struct made *x, struct oc_report_opts o, char **text, struct oc_err *err)
{
    size_t n = 0;
    struct oc_report_in in = {.model = x->model,
                              .analysis = x->analysis,
                              .profile = x->profile,
                              .join = x->join,
                              .device = &x->device};
    FILE *f = open_memstream(text, &n);
    int rc = oc_report_write(&in, &o, f, err);
    fclose(f);
    return rc;
}

static struct t_json json_of(const struct made *x, struct oc_report_opts o)
{
    char *text = NULL;
    struct oc_err err;
    o.format = "json";
    if (report(x, o, &text, &err))
        fail_msg("%s", err.msg);
    struct t_json j = t_json_read(text);
    free(text);
    return j;
}

static void check_ns(const struct t_json *j, double want, const char *path)
{
    double got = t_number(j, "what_if.%s", path);
    if (!(fabs(got - want) <= 0.0011)) /* times are given in thousandths of a nanosecond */
        fail_msg("%s is %.6f, not %.6f", path, got, want);
}

/* MatMul: 11,403,264 B / 100 GB/s = 114,032.64 ns, its arithmetic 60,397.978 ns. Relu: 2 x 1,572,864 B =
 * 31,457.28 ns. Each 5,000 ns of overhead: 155,489.92 ns.
 * fused: 11,403,264 B + 3,145,728 B - 2 x 1,572,864 B = 11,403,264 B, one launch: 119,032.64 ns
 * as fp16: half the bytes, 57,016.32 ns; MACs 603,979,776 / 40e12 = 15,099.494 ns; + 5,000
 * MatMul at 50 %: 57,016.32 / 0.5 + 5,000 = 119,032.64 ns
 * on the other: (119,032.64 - 5,000) x 28,508.16 / 57,016.32 + 1,000 = 58,016.32 ns */
static void steps_on_roofline_times(void **state)
{
    (void)state;
    struct made x = make(NULL);
    struct oc_device other = device(true);
    const char *const wish[] = {"MatMul=50%", "fuse=elementwise", "hw=other"}; /* fused first */
    const struct oc_device *const on[] = {NULL, NULL, &other};
    struct t_json j = json_of(
        &x, (struct oc_report_opts){.as = "fp16", .what_if = wish, .what_if_device = on, .n_what_if = 3});
    assert_string_equal(t_text(&j, "what_if.basis"), "roofline");
    check_ns(&j, 155489.92, "now_ns");
    check_ns(&j, 119032.64, "steps[0].after_ns");
    check_ns(&j, 36457.28, "steps[0].saved_ns");
    assert_int_equal(t_whole(&j, "what_if.steps[0].rows"), 1);
    check_ns(&j, 62016.32, "steps[1].after_ns");
    check_ns(&j, 119032.64, "steps[2].after_ns");
    assert_string_equal(t_text(&j, "what_if.steps[2].what"), "MatMul at 50 % of the roofline");
    check_ns(&j, 58016.32, "steps[3].after_ns");
    assert_string_equal(t_text(&j, "what_if.steps[3].what"), "on Other");
    check_ns(&j, 58016.32, "then_ns");
    assert_true(t_number(&j, "nodes[1].what_if_time_ns") == 0); /* part of the MatMul */
    assert_true(t_is_null(&j, "what_if.steps[0].missing"));
    t_json_free(&j);
    free_made(&x);
}

#define EVENT(cat, name, ts, dur, args)                                                                      \
    "{\"cat\" : \"" cat "\",\"pid\" :1,\"tid\" :1,\"dur\" :" #dur ",\"ts\" :" #ts                            \
    ",\"ph\" : \"X\",\"name\" :\"" name "\",\"args\" : {" args "}},\n"
#define NODE(name, type, ts, dur)                                                                            \
    EVENT("Node", name "_kernel_time", ts, dur,                                                              \
          "\"op_name\" : \"" type "\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"0\"")
/* MatMul 200 us, Relu 40 us, 10 us of the run outside operators */
static const char *const measured =
    "[\n" EVENT("Session", "session_initialization", 0, 40, "") EVENT("Session", "model_run", 100, 250, "")
        NODE("fc", "MatMul", 101, 200) NODE("act", "Relu", 302, 40) "]\n";

/* MatMul at 80 %: 114,032.64 / 0.8 = 142,540.8 ns, 57,459.2 ns less. Relu at 10 % would take 314 us: it keeps
 * its 40 us; twice as fast: 20 us. */
static void steps_on_measured_times(void **state)
{
    (void)state;
    struct made x = make(measured);
    const char *const wish[] = {"MatMul=80%", "elementwise=10%", "name:a.t=2x"};
    struct t_json j = json_of(&x, (struct oc_report_opts){.what_if = wish, .n_what_if = 3});
    assert_string_equal(t_text(&j, "what_if.basis"), "measured");
    check_ns(&j, 250000, "now_ns");
    check_ns(&j, 10000, "rest_ns");
    check_ns(&j, 192540.8, "steps[0].after_ns");
    check_ns(&j, 57459.2, "steps[0].saved_ns");
    check_ns(&j, 192540.8, "steps[1].after_ns");
    assert_int_equal(t_whole(&j, "what_if.steps[1].rows"), 1);
    assert_int_equal(t_whole(&j, "what_if.steps[1].rows_as_before"), 1);
    check_ns(&j, 172540.8, "steps[2].after_ns");
    assert_true(fabs(t_number(&j, "what_if.steps[2].speedup_in_all") - 250000 / 172540.8) < 1e-9);
    check_ns(&j, 172540.8, "then_ns");
    assert_true(fabs(t_number(&j, "nodes[0].what_if_time_ns") - 142540.8) < 0.0011);
    t_json_free(&j);
    free_made(&x);
}

/* int8-weights: 9,437,184 B of weights become 2,359,296; 4,325,376 B in total take 43,253.76 ns, then the
 * arithmetic of 60,397.9776 ns is the limit: 200,000 x 60,397.9776 / 114,032.64 = 105,931.0... ns. Relu has
 * no weights. Four bits: the same limit. Fused: MatMul keeps its 200 us because its roofline is unchanged. */
static void measured_times_follow_the_roofline(void **state)
{
    (void)state;
    struct made x = make(measured);
    double matmul = 200000.0 * 60397.9776 / 114032.64;
    static const char *const type[] = {"int8-weights", "int4-weights"};
    for (size_t i = 0; i < 2; i++) {
        struct t_json j = json_of(&x, (struct oc_report_opts){.as = type[i]});
        check_ns(&j, matmul + 50000, "then_ns");
        assert_int_equal(t_whole(&j, "what_if.steps[0].rows_as_before"), 1);
        t_json_free(&j);
    }
    const char *const fuse = "fuse=elementwise";
    struct t_json j = json_of(&x, (struct oc_report_opts){.what_if = &fuse, .n_what_if = 1});
    check_ns(&j, 210000, "then_ns");
    t_json_free(&j);
    free_made(&x);
}

/* No i8 peak: the time of the MatMul and the sum are unknown. Relu moves a quarter of its bytes: 10 us. */
static void missing_peak_makes_the_step_unknown(void **state)
{
    (void)state;
    struct made x = make(measured);
    struct t_json j = json_of(&x, (struct oc_report_opts){.as = "int8"});
    assert_true(t_is_null(&j, "what_if.then_ns") && t_is_null(&j, "what_if.steps[0].after_ns") &&
                t_is_null(&j, "what_if.steps[0].saved_ns"));
    check_ns(&j, 20000, "steps[0].after_at_least_ns");
    assert_int_equal(t_whole(&j, "what_if.steps[0].rows_unknown"), 1);
    assert_string_equal(t_text(&j, "what_if.steps[0].missing"), "vector i8 peak");
    assert_true(t_is_null(&j, "nodes[0].what_if_time_ns"));
    t_json_free(&j);
    free_made(&x);
}

#define TYPED(name, type, ts, dur, in, out)                                                                  \
    EVENT("Node", name "_kernel_time", ts, dur,                                                              \
          "\"op_name\" : \"" type "\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"0\","       \
          "\"input_type_shape\" : [" in "],\"output_type_shape\" : [" out "]")
static const char *const quantized =
    "[\n" EVENT("Session", "session_initialization", 0, 40, "") EVENT("Session", "model_run", 100, 250, "")
        TYPED("fc", "MatMul", 101, 200, "{\"uint8\":[1,128,768]}", "{\"uint8\":[1,128,3072]}") "]\n";

/* The recorded inputs and outputs are 8-bit tensors: the MACs use the i8 peak, 603,979,776 / 40e12 =
 * 15,099.494 ns; 98,304 B are read, 393,216 B written, and the weights, which are not recorded, have the size
 * in the model: 9,437,184 B. */
static void recorded_types_select_the_arithmetic(void **state)
{
    (void)state;
    struct made x = make(quantized);
    x.device.peak[OC_HW_MATRIX][OC_CLASS_I8] = &f16_matrix;
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    assert_true(fabs(t_number(&j, "nodes[0].limits.units[%d].time_ns", OC_HW_MATRIX) - 15099.494) < 0.001);
    assert_int_equal(t_whole(&j, "nodes[0].limits.levels[0].bytes"), 98304 + 9437184 + 393216);
    assert_string_equal(t_text(&j, "nodes[0].bound_by"), "DRAM");
    t_json_free(&j);
    free_made(&x);
}

static void rejects_invalid_steps(void **state)
{
    (void)state;
    static const struct {
        const char *wish, *as, *message;
    } bad[] = {
        {"Conv=80%", NULL, "unknown operator 'Conv' for --what-if"},
        {"MatMul=0%", NULL, "KEY=80% (of the roofline)"},
        {"MatMul=101%", NULL, "KEY=80% (of the roofline)"},
        {"MatMul", NULL, "KEY=80% (of the roofline)"},
        {"=2x", NULL, "KEY=80% (of the roofline)"},
        {"MatMul=nanx", NULL, "KEY=80% (of the roofline)"},
        {"name:(=2x", NULL, ""},
        {NULL, "f32", "valid: fp16, bf16"},
        {"fuse=everything", NULL, "--what-if fuse= takes elementwise"},
    };
    struct made x = make(NULL);
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        char *text = NULL;
        struct oc_err err = {0};
        struct oc_report_opts o = {
            .as = bad[i].as, .what_if = &bad[i].wish, .n_what_if = bad[i].wish != NULL};
        assert_int_equal(report(&x, o, &text, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        if (!strstr(err.msg, bad[i].message))
            fail_msg("%s", err.msg);
        free(text);
    }
    free_made(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_on_roofline_times),
        cmocka_unit_test(steps_on_measured_times),
        cmocka_unit_test(measured_times_follow_the_roofline),
        cmocka_unit_test(missing_peak_makes_the_step_unknown),
        cmocka_unit_test(recorded_types_select_the_arithmetic),
        cmocka_unit_test(rejects_invalid_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
