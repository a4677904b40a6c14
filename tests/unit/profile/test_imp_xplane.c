/* XPlane. The files are in tests/fuzz/seeds/xplane; see each test for their contents. */
#include "profile/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

extern const struct oc_importer oc_importer_xplane;

static void assert_conserved(const struct oc_profile *p)
{
    for (int device = 0; device < 2; device++) {
        struct oc_conserved c;
        oc_profile_conserved(p, device, &c);
        assert_true(isnan(c.lost_ns) || fabs(c.lost_ns) < 1);
    }
}

static struct oc_profile *open_file(const char *path)
{
    struct oc_profile *p = NULL;
    struct oc_err err = {0};
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEAN};
    if (oc_profile_open(path, &opts, &p, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "xplane");
    assert_conserved(p);
    return p;
}

/* Two cores and three steps of 900 us. Per core and step: a convolution of 400 us, and a loop of 300 us with
 * two executions of fusion.7, 100 us each. XLA's figures of the convolution are 80e6 FLOPs and 500,000 bytes.
 */
static void steps_of_a_tpu_are_runs_and_loops_have_self_time(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/fuzz/seeds/xplane/tpu.xplane.pb");
    const struct oc_prof_rec *conv = t_rec(p, "convolution.3"), *loop = t_rec(p, "while.1"),
                             *fusion = t_rec(p, "fusion.7"); /* each core has its own */
    assert_string_equal(p->device, "TPU v6 Lite");
    assert_string_equal(p->time_kind, "device time");
    assert_true(p->busy_on_device && fabs(p->busy_ns - 700e3) < 1e-3);
    assert_int_equal(p->runs_total, 3);
    assert_true(fabs(p->run_ns - 900e3) < 1e-3);
    assert_true(fabs(conv->total_ns - 3 * 400e3) < 1e-3);
    assert_true(fabs(loop->total_ns - 3 * 100e3) < 1e-3);
    assert_true(fabs(fusion->total_ns - 6 * 100e3) < 1e-3);
    assert_string_equal(conv->place, "device 0");
    unsigned cores = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        cores += strcmp(p->rec[i].name, "convolution.3") == 0;
    assert_int_equal(cores, 2);
    assert_string_equal(conv->op_type, "convolution");
    assert_string_equal(fusion->op_type, "loop fusion"); /* by reference to a name */
    assert_true(conv->flop == 80e6 && conv->bytes == 500e3);
    assert_true(isnan(loop->flop)); /* includes its body */
    for (uint32_t i = 0; i < p->n_lane; i++)
        assert_true(p->lane[i].device && p->lane[i].device_id == (int64_t)i);
    oc_profile_close(p);
}

/* Three times: a kernel of the operator custom-call.2 (30 us), one of loop_add_fusion.3 (5 us), a copy (2
 * us). */
static void kernels_of_a_gpu_have_the_name_of_their_operator(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/fuzz/seeds/xplane/gpu.xplane.pb");
    double copied_ns = 0;
    assert_true(fabs(t_rec(p, "custom-call.2")->total_kernel_ns - 90e3) < 1e-3);
    assert_true(fabs(t_rec(p, "loop_add_fusion.3")->total_kernel_ns - 15e3) < 1e-3);
    for (uint32_t i = 0; i < p->n_kernel; i++)
        copied_ns += p->kernel[i].kind == OC_EV_MEMCPY ? p->kernel[i].total_ns : 0;
    assert_true(fabs(p->imported_kernel_ns - 111e3) < 1e-3);
    assert_true(copied_ns > 0);
    oc_profile_close(p);
}

/* Four executions of dot.4 (30 us) and add_fusion (4 us) inside an event that is not an operator. */
static void operators_of_a_cpu_are_events_with_hlo_op(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/fuzz/seeds/xplane/cpu.xplane.pb");
    assert_string_equal(p->device, "CPU");
    assert_string_equal(p->time_kind, "host time");
    assert_true(fabs(t_rec(p, "dot.4")->total_ns - 120e3) < 1e-3);
    assert_true(fabs(t_rec(p, "add_fusion")->total_ns - 16e3) < 1e-3);
    assert_null(t_rec(p, "ThunkExecutor::Execute (sequential)"));
    oc_profile_close(p);
}

/* "/host:CPU" with a line, without operators; and every prefix of a good file. */
static void files_without_operators_and_truncated_files(void **state)
{
    (void)state;
    static const unsigned char empty[] = "\x0a\x11\x08\x01\x12\x09/host:CPU\x1a\x02\x08\x05";
    struct oc_profile *p;
    struct oc_err err = {0};
    unsigned char data[4096];
    const struct oc_profile_opts opts = {0};
    assert_int_equal(oc_profile_from_mem(&oc_importer_xplane, empty, sizeof(empty) - 1, &opts, &p, &err), -1);
    assert_non_null(strstr(err.msg, "no operators of XLA"));
    FILE *f = fopen("tests/fuzz/seeds/xplane/tpu.xplane.pb", "rb");
    size_t n = f ? fread(data, 1, sizeof(data), f) : 0, read = 0;
    assert_true(n > 1000 && n < sizeof(data));
    fclose(f);
    for (size_t i = 0; i < n; i++)
        if (oc_profile_from_mem(&oc_importer_xplane, data, i, &opts, &p, &err) == 0) {
            assert_true(i + 1 == n || p->truncated || t_finding(p, "W-truncated") == NULL);
            assert_conserved(p);
            oc_profile_close(p);
            read++;
        }
    assert_true(read > 0); /* the first plane is whole */
}

static void put(struct oc_buf *b, unsigned field, const void *data, size_t n)
{
    assert_true(n < 128);
    oc_buf_char(b, (char)(field << 3 | 2));
    oc_buf_char(b, (char)n);
    oc_buf_add(b, data, n);
}

/* A plane of a TPU with an event of 2 us, and one that sums 3 occurrences. */
static void events_that_are_sums_are_skipped(void **state)
{
    (void)state;
    static const char once[] = "\x08\x01\x18\x80\x89\x7a", sum[] = "\x08\x01\x18\x80\x89\x7a\x28\x03";
    static const char kind[] = "\x08\x01\x12\x07\x08\x01\x12\x03"
                               "dot";
    struct oc_buf line = {0}, plane = {0}, space = {0};
    struct oc_profile *p;
    struct oc_err err = {0};
    const struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE};
    put(&line, 2, "XLA Ops", 7);
    put(&line, 4, once, sizeof(once) - 1);
    put(&line, 4, sum, sizeof(sum) - 1);
    put(&plane, 2, "/device:TPU:0", 13);
    put(&plane, 3, line.data, line.n);
    put(&plane, 4, kind, sizeof(kind) - 1);
    put(&space, 1, plane.data, plane.n);
    put(&space, 2, "no counters", 11);
    if (oc_profile_from_mem(&oc_importer_xplane, space.data, space.n, &opts, &p, &err))
        fail_msg("%s", err.msg);
    assert_true(fabs(t_rec(p, "dot")->total_ns - 2e3) < 1e-3);
    assert_non_null(strstr(t_finding(p, "W-aggregated"), "1 events are sums of several occurrences"));
    assert_non_null(strstr(t_finding(p, "W-source"), "the profiler reported: no counters"));
    assert_conserved(p);
    oc_profile_close(p);
    oc_buf_free(&line);
    oc_buf_free(&plane);
    oc_buf_free(&space);
}

/* One step of 4 us on the device, with a kernel of 2 us: the host recorded no operators, so the rest of the step is not
 * time of a framework. */
static void steps_of_a_gpu_have_device_time_only(void **state)
{
    (void)state;
    static const char kernel[] = "\x08\x01\x18\x80\x89\x7a", step[] = "\x08\x02\x18\x80\x92\xf4\x01";
    static const char kind[] = "\x08\x01\x12\x07\x08\x01\x12\x03"
                               "dot";
    struct oc_buf stream = {0}, steps = {0}, plane = {0}, space = {0};
    struct oc_profile *p;
    struct oc_err err = {0};
    const struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE};
    put(&stream, 2, "Stream #7(Compute)", 18);
    put(&stream, 4, kernel, sizeof(kernel) - 1);
    put(&steps, 2, "Steps", 5);
    put(&steps, 4, step, sizeof(step) - 1);
    put(&plane, 2, "/device:GPU:0", 13);
    put(&plane, 3, stream.data, stream.n);
    put(&plane, 3, steps.data, steps.n);
    put(&plane, 4, kind, sizeof(kind) - 1);
    put(&space, 1, plane.data, plane.n);
    if (oc_profile_from_mem(&oc_importer_xplane, space.data, space.n, &opts, &p, &err))
        fail_msg("%s", err.msg);
    assert_true(fabs(p->run_ns - 4e3) < 1e-3 && fabs(p->busy_ns - 2e3) < 1e-3 && p->busy_on_device);
    assert_true(isnan(p->imported_ns) && !t_rec(p, "(framework)"));
    assert_conserved(p);
    oc_profile_close(p);
    oc_buf_free(&stream);
    oc_buf_free(&steps);
    oc_buf_free(&plane);
    oc_buf_free(&space);
}

/* A kernel "dot" of 2 us with the annotation. */
static struct oc_profile *open_annotated(const char *annotation)
{
    static const char times[] = "\x08\x01\x18\x80\x89\x7a", name[] = "\x08\x01\x12\x0c\x12\x0a"
                                                                     "annotation";
    static const char kind[] = "\x08\x01\x12\x07\x08\x01\x12\x03"
                               "dot";
    struct oc_buf stat = {0}, event = {0}, stream = {0}, plane = {0}, space = {0};
    struct oc_profile *p;
    struct oc_err err = {0};
    const struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE};
    oc_buf_add(&stat, "\x08\x01", 2);
    put(&stat, 5, annotation, strlen(annotation));
    oc_buf_add(&event, times, sizeof(times) - 1);
    put(&event, 4, stat.data, stat.n);
    put(&stream, 2, "Stream #7", 9);
    put(&stream, 4, event.data, event.n);
    put(&plane, 2, "/device:GPU:0", 13);
    put(&plane, 3, stream.data, stream.n);
    put(&plane, 4, kind, sizeof(kind) - 1);
    put(&plane, 5, name, sizeof(name) - 1);
    oc_buf_str(&space, "\x0a");
    oc_buf_char(&space, (char)(plane.n < 128 ? plane.n : (plane.n & 127) | 128));
    if (plane.n >= 128)
        oc_buf_char(&space, (char)(plane.n >> 7));
    oc_buf_add(&space, plane.data, plane.n);
    if (oc_profile_from_mem(&oc_importer_xplane, space.data, space.n, &opts, &p, &err))
        fail_msg("%s", err.msg);
    oc_buf_free(&stat);
    oc_buf_free(&event);
    oc_buf_free(&stream);
    oc_buf_free(&plane);
    oc_buf_free(&space);
    return p;
}

static void annotations_of_tensorflow_name_the_operator(void **state)
{
    (void)state;
    static const struct {
        const char *annotation, *name, *type;
        bool training;
    } row[] = {
        {"net/conv/Relu:_FusedConv2D", "net/conv/Relu", "_FusedConv2D", false},
        {"train::gradient_tape/conv/Conv2D:Conv2D", "gradient_tape/conv/Conv2D", "Conv2D", true},
        {"XlaModule:", "dot", "dot", false},
        {"Conv2D", "dot", "dot", false},
        {"#edge_name=edge_1#", "dot", "dot", false},
        {"copy:#edge_name=edge_1#", "dot", "dot", false},
        {":Conv2D", "dot", "dot", false},
        {"level:0", "dot", "dot", false},
        {"a::", "dot", "dot", false},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_profile *p = open_annotated(row[i].annotation);
        const struct oc_prof_rec *rec = t_rec(p, row[i].name);
        assert_true(rec && rec->total_kernel_ns > 1999);
        assert_string_equal(rec->op_type, row[i].type);
        assert_int_equal(p->training, row[i].training);
        oc_profile_close(p);
    }
}

static void a_device_trace_is_recognized_by_its_first_plane(void **state)
{
    (void)state;
    static const char other[] = "\x0a\x20\x08\x01\x12\x09onnx-mode\x1a\x02\x08\x05,,,,,,,,,,,,,";
    static const char plane[] = "\x0a\xff\xff\x7f\x08\x01\x12\x0d/device:TPU:0";
    struct oc_bid bid = {0};
    oc_importer_xplane.probe(&(struct oc_peek){.path = "", .raw = other, .n_raw = sizeof(other) - 1}, &bid);
    assert_int_equal(bid.score, 0);
    oc_importer_xplane.probe(&(struct oc_peek){.path = "", .raw = plane, .n_raw = sizeof(plane) - 1}, &bid);
    assert_true(bid.score > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_a_tpu_are_runs_and_loops_have_self_time),
        cmocka_unit_test(kernels_of_a_gpu_have_the_name_of_their_operator),
        cmocka_unit_test(operators_of_a_cpu_are_events_with_hlo_op),
        cmocka_unit_test(files_without_operators_and_truncated_files),
        cmocka_unit_test(events_that_are_sums_are_skipped),
        cmocka_unit_test(steps_of_a_gpu_have_device_time_only),
        cmocka_unit_test(annotations_of_tensorflow_name_the_operator),
        cmocka_unit_test(a_device_trace_is_recognized_by_its_first_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
