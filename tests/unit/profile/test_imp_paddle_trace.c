#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static struct oc_profile *open_kept(const char *path, int32_t warmup)
{
    struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .keep_events = true};
    struct oc_profile *p;
    struct oc_err err;
    if (oc_profile_open(path, &opts, &p, &err) != 0)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "paddle_trace");
    return p;
}

static const char small[] = "tests/data/paddle/small.paddle_trace.json";

/* Second step, [300.25, 1550.25) us: conv2d [350.75, 446.25), conv2d dygraph [500, 510). The first step is
 * empty, so there is one run. The process and the device have the same number. */
static void reads_names_and_fractional_times(void **state)
{
    (void)state;
    struct oc_profile *p = open_kept(small, -1);
    const struct oc_prof_rec *conv = t_rec(p, "conv2d"), *dygraph = t_rec(p, "conv2d dygraph");
    assert_non_null(conv);
    assert_non_null(dygraph);
    assert_true(conv->time_ns == 95500 && conv->start_ns == 50500);
    assert_true(conv->kernel_ns == 312125 && dygraph->kernel_ns == 0);
    assert_string_equal(dygraph->op_type, "conv2d");
    assert_null(t_rec(p, "compute"));
    assert_int_equal(p->runs_total, 1);
    assert_true(p->run_ns == 1250000);
    assert_true(p->imported_ns == 1250000); /* operators are inside the step, on its thread */
    assert_true(t_rec(p, "(framework)")->total_ns == 1250000 - 95500 - 10000);
    assert_true(p->imported_kernel_ns == 312125 + 3100);
    assert_int_equal(p->n_kernel, 2);
    assert_string_equal(p->kernel[0].name, "kernel<a[1]>");
    assert_string_equal(p->producer, "Paddle profiler, schema 1.0.1");
    oc_profile_close(p);
}

static void reads_inputs_and_lanes(void **state)
{
    (void)state;
    struct oc_profile *p = open_kept(small, -1);
    const struct oc_prof_rec *conv = t_rec(p, "conv2d");
    assert_int_equal(conv->n_in, 2);
    assert_int_equal(conv->in[0].dtype, OC_DT_FLOAT);
    assert_int_equal(conv->in[1].dtype, OC_DT_FLOAT16);
    assert_true(conv->in[1].shape.rank == 4 && conv->in[1].shape.dim[0].v == 64);
    assert_int_equal(p->n_lane, 2);
    assert_true(p->lane[0].device != p->lane[1].device);
    const struct oc_lane *host = &p->lane[p->lane[0].device];
    assert_true(host->process == 0 && host->id == 5);
    assert_string_equal(host->name, "thread 5:MainThread(C++)");
    assert_true(p->timeline->cpu_process_share == 0.98 && p->timeline->cpu_system_share == 0.12);
    assert_null(t_finding(p, "W-bad-event")); /* the empty object at the end is skipped */
    oc_profile_close(p);
}

/* Two steps of 4.2 ms with six operators of 95 us and kernels of 312, 21.5, 9.8, 15.1, 41 and 4.3 us, a copy
 * of 3.1 us each. The step is on the thread of the operators: 6 * 95 us of 4200 us are operators. */
static void samples_have_the_expected_times(void **state)
{
    (void)state;
    static const char *const file[] = {"paddle/paddle_trace.schema1.0.0.synthetic.paddle_trace.json",
                                       "paddle/paddle_trace.schema1.0.1.synthetic.paddle_trace.json"};
    for (size_t i = 0; i < OC_COUNT(file); i++) {
        const char *path = t_sample(file[i]);
        if (!path)
            continue;
        struct oc_profile *p = open_kept(path, -1);
        assert_int_equal(p->runs_total, 2);
        assert_int_equal(p->runs_used, 1);
        assert_true(t_rec(p, "conv2d")->kernel_ns == 312000 && t_rec(p, "softmax")->kernel_ns == 4300);
        assert_true(t_rec(p, "batch_norm")->time_ns == 95000);
        assert_true(t_rec(p, "(framework)")->total_ns == 4200000 - 6 * 95000);
        assert_true(t_rec(p, "(warm-up runs)")->total_ns == 4200000);
        assert_true(t_rec(p, "(copies)")->total_kernel_ns == 3100); /* of the used run */
        assert_true(p->imported_ns == 8400000);
        assert_true(fabs(p->imported_kernel_ns - 2 * 406800) < 1);
        oc_profile_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_names_and_fractional_times),
        cmocka_unit_test(reads_inputs_and_lanes),
        cmocka_unit_test(samples_have_the_expected_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
