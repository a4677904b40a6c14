/* rocprofv3 --output-format json. The file has two runs of a copy to the device (1000 ns) and the kernels
 * gemm (20000 ns) and relu (3000 ns), launched inside the ranges layer0 and layer1. */
#include "profile/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static void assert_conserved(const struct oc_profile *p)
{
    struct oc_conserved c;
    oc_profile_conserved(p, true, &c);
    assert_true(fabs(c.lost_ns) < 1);
}

static void kernels_belong_to_the_range_of_their_launch(void **state)
{
    (void)state;
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEAN};
    struct oc_profile *p = NULL;
    struct oc_err err = {0};
    if (oc_profile_open("tests/fuzz/seeds/rocprof_json/markers.json", &opts, &p, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "rocprof_json");
    assert_string_equal(p->device, "AMD Instinct MI300X");
    assert_true(t_rec(p, "layer0")->total_kernel_ns == (double)t_rec(p, "layer0")->calls * 20000);
    assert_true(t_rec(p, "layer1")->total_kernel_ns == (double)t_rec(p, "layer1")->calls * 3000);
    assert_true(p->imported_kernel_ns == 2 * 24000.0);
    bool gemm = false, relu = false, copy = false;
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        gemm |= strcmp(p->kernel[i].name, "gemm(float*)") == 0;
        relu |= strcmp(p->kernel[i].name, "_Z4reluPf.kd") == 0; /* has no other name */
        copy |= p->kernel[i].kind == OC_EV_MEMCPY;
    }
    assert_true(gemm && relu && copy);
    assert_conserved(p);
    oc_profile_close(p);
}

#define KERNELS(list)                                                                                        \
    "{\"rocprofiler-sdk-tool\":[{\"kernel_symbols\":[{\"kernel_id\":8,\"kernel_name\":\"k\"}],\"buffer_"     \
    "records\":{"                                                                                            \
    "\"kernel_dispatch\":[" list "]"

static void truncated_and_damaged_records_are_reported(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(
        KERNELS("{\"start_timestamp\":100,\"end_timestamp\":150,\"dispatch_info\":{\"kernel_id\":8}},"
                "{\"start_timestamp\":300,\"end_timestamp\":200},{\"end_timestamp\":200},7,"
                "{\"start_timestamp\":400,\"end_timestamp\":4"),
        NULL, &err);
    assert_non_null(p);
    assert_true(t_rec(p, "k")->total_kernel_ns == 50);
    assert_non_null(strstr(t_finding(p, "W-bad-event"), "2 records"));
    assert_non_null(t_finding(p, "W-truncated"));
    assert_true(p->truncated);
    oc_profile_close(p);
}

static void a_file_without_device_work_is_an_error(void **state)
{
    (void)state;
    struct oc_err err = {0};
    assert_null(t_profile_text(KERNELS("") "}}]}", NULL, &err));
    assert_non_null(strstr(err.msg, "no device work"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_belong_to_the_range_of_their_launch),
        cmocka_unit_test(truncated_and_damaged_records_are_reported),
        cmocka_unit_test(a_file_without_device_work_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
