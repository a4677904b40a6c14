/* Output of programs with their own statements about runs: TensorFlow Lite and LiteRT. */
#include "profile/core/records.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "support/profiles.h"
#include "onnxcost.h"

static struct oc_profile *read_text(const char *text)
{
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text(text, NULL, &err);
    struct oc_conserved c;
    if (!p)
        fail_msg("%s", err.msg);
    oc_profile_conserved(p, false, &c);
    assert_true(isnan(c.lost_ns) || fabs(c.lost_ns) < 1e-3);
    return p;
}

/* ---- TensorFlow Lite ---------------------------------------------------------------------------------- */

#define LITE_TABLE(SHARE)                                                                                    \
    "============================== Run Order ==============================\n"                              \
    "\t[node type]\t[first]\t[avg ms]\t" SHARE "\t[times called]\t[Name]\n"                                  \
    "\tGEMM\t4.000\t3.000\t100%\t1\tfc:1\n"                                                                  \
    "\tAllocateTensors\t0.300\t0.300\t0.010%\t0\tAllocateTensors/0\n\n"
#define LITE_TIMINGS                                                                                         \
    "Timings (microseconds): count=1000 first=3400 curr=3000 min=2990 max=3400 avg=3000.3 std=9\n"

/* AllocateTensors ran in one of 1000 runs: 0.3 ms / 1000. Of two runs of the program the last one before the
 * table counts, and none after it. */
static void rows_of_litert_that_ran_in_a_part_of_the_runs_have_their_share(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("INFO: [a.h:88] Inference (avg):      9.00 ms (7 runs)\n"
                  "INFO: [a.h:86] Warmup (avg):         3.19 ms (200 runs)\n"
                  "INFO: [a.h:88] Inference (avg):      3.20 ms (800 runs)\n\n" LITE_TABLE("[%]") LITE_TIMINGS
                  "Inference (avg):      8.00 ms (7 runs)\n");
    const struct oc_prof_rec *rare = t_rec(p, "AllocateTensors/0");
    assert_int_equal(p->runs_total, 800);
    assert_true(fabs(p->run_ns - 3.2e6) < 1e-3);
    assert_true(fabs(t_rec(p, "fc:1")->time_ns - 3e6) < 1e-3);
    assert_true(fabs(rare->time_ns - 0.0001 * 3000.3e3) < 1e-3 && rare->calls == 0 &&
                isnan(rare->calls_per_run));
    assert_true(t_finding(p, "I-warm-up"));
    assert_null(t_finding(p, "W-row"));
    oc_profile_close(p);
}

/* A share of 0.000 % is at least one call; the latency of TensorFlow Lite is in microseconds. */
static void rows_of_litert_with_a_share_of_0_are_one_call(void **state)
{
    (void)state;
    struct oc_profile *p = read_text(
        "Inference timings in us: Init: 99, First inference: 34, Warmup (avg): 9.5, Inference (avg): 3100.5\n"
        "====== Run Order ======\n"
        "\t[node type]\t[avg ms]\t[%]\t[times called]\t[Name]\n"
        "\tGEMM\t3.000\t100%\t1\tfc:1\n\tResize\t0.002\t0.000%\t0\tr:2\n\n" LITE_TIMINGS);
    assert_true(fabs(t_rec(p, "r:2")->time_ns - 2) < 1e-6);
    assert_true(p->runs_total == 1000 && fabs(p->run_ns - 3100.5e3) < 1e-3);
    assert_null(t_finding(p, "I-warm-up"));
    oc_profile_close(p);
}

/* Without the shares, or the time of a run, the number of calls is between 1 and that of the runs. */
static void rows_of_litert_with_an_unknown_number_of_calls_are_left_out(void **state)
{
    static const char *const text[] = {LITE_TABLE("[x]") LITE_TIMINGS, LITE_TABLE("[%]")};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct oc_profile *p = read_text(text[i]);
        assert_int_equal(p->n_rec, 1);
        assert_non_null(strstr(t_finding(p, "W-row"), "1 rows ran in a part of the runs"));
        oc_profile_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_litert_that_ran_in_a_part_of_the_runs_have_their_share),
        cmocka_unit_test(rows_of_litert_with_a_share_of_0_are_one_call),
        cmocka_unit_test(rows_of_litert_with_an_unknown_number_of_calls_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
