/* A run of 1000 us on a device, written down by hand:
 *
 *   us       0        100      200       300 ...                    900      1000
 *   thread   |step ----------------------------------------------------------|
 *            load (0-200)
 *   stream            (copy 200-300)  k (300-b)                k (900-1000)
 */
#include "unit/advice/advice_case.h"

#include "profile/core/timeline.h"
#include "onnxcost/hardware.h"

enum { STEP, LOAD, KERNEL, COPY, NAMES };
static const char *names[NAMES] = {"step", "DataLoader", "gemm", "Memcpy HtoD (Pageable -> Device)"};
enum { THREAD, STREAM };

#define US 1e3
static struct oc_lane lane[] = {{.name = "", .id = 7, .device_id = OC_NO_ID, .process = 1},
                                {.name = "", .device = true, .device_id = 0, .id = 1, .process = OC_NO_ID}};
static struct oc_interval run[] = {{0, 1000 * US}};

static void traced(struct advised *x, double busy_until_us, double load_us)
{
    static struct oc_event events[5];
    static struct oc_timeline timeline;
    static struct oc_profile profile;
    static struct oc_prof_rec rec;
    static struct oc_prof_kernel kernel[2];
    const struct oc_event wanted[] = {
        {0, 1000 * US, 0, STEP, OC_NONE, OC_NONE, OC_NONE, 0, THREAD, OC_EV_STEP, 0},
        {0, load_us * US, 0, LOAD, 0, OC_NONE, OC_NONE, 0, THREAD, OC_EV_DATALOADER, 0},
        {200 * US, 100 * US, 0, COPY, OC_NONE, OC_NONE, OC_NONE, 0, STREAM, OC_EV_MEMCPY, 0},
        {300 * US, (busy_until_us - 300) * US, 0, KERNEL, OC_NONE, OC_NONE, OC_NONE, 0, STREAM, OC_EV_KERNEL,
         0},
        {900 * US, 100 * US, 0, KERNEL, OC_NONE, OC_NONE, OC_NONE, 0, STREAM, OC_EV_KERNEL, 0},
    };
    memcpy(events, wanted, sizeof(events));
    timeline = (struct oc_timeline){.event = events,
                                    .n_event = 5,
                                    .name = names,
                                    .n_name = NAMES,
                                    .run = run,
                                    .n_run = 1,
                                    .profile = &profile};
    rec = oc_prof_rec_new("conv");
    rec.op_type = "Conv";
    rec.self_ns = rec.time_ns = rec.kernel_ns = (busy_until_us - 200) * US;
    kernel[0] = (struct oc_prof_kernel){.name = names[COPY],
                                        .kind = OC_EV_MEMCPY,
                                        .rec = OC_NONE,
                                        .time_ns = 100 * US,
                                        .calls = 1,
                                        .bytes = 1e6};
    kernel[1] = (struct oc_prof_kernel){
        .name = names[KERNEL], .kind = OC_EV_KERNEL, .time_ns = rec.time_ns, .calls = 2, .bytes = NAN};
    profile = (struct oc_profile){.path = "",
                                  .format = "kineto",
                                  .producer = "",
                                  .device = "CUDA",
                                  .time_kind = "device time",
                                  .lane = lane,
                                  .n_lane = 2,
                                  .timeline = &timeline,
                                  .rec = &rec,
                                  .n_rec = 1,
                                  .kernel = kernel,
                                  .n_kernel = 2,
                                  .runs_total = 1,
                                  .runs_used = 1,
                                  .run_ns = 1000 * US,
                                  .busy_ns = NAN};
    *x = (struct advised){.in = {.profile = &profile}};
    advised_report(x);
}

static void traced_free(struct advised *x)
{
    oc_arena_free(&x->r.arena);
}

static void check_near(double got, double want)
{
    if (!(fabs(got - want) < 1e-3))
        fail_msg("%.4f, not %.4f", got, want);
}

/* Busy 200-300, 300-400, 900-1000: idle for 700 us of the run, 500 us of them contiguous. */
static void idle_device_is_reported(void **state)
{
    struct advised x;
    (void)state;
    traced(&x, 400, 200);
    const struct oc_advice_item *f = finding(&x, "idle");
    assert_non_null(f);
    check_near(f->high_ns, 700 * US);
    check_near(f->low_ns, 0);
    assert_int_equal(f->severity, OC_ADVICE_HIGH);
    assert_int_equal(f->n_proof, 3); /* the device, and two gaps */
    check_near(f->proof[1].time_ns, 500 * US);
    assert_string_equal(f->proof[1].name, "before gemm");
    assert_string_equal(f->proof[1].text, "after gemm");
    assert_string_equal(f->proof[2].text, "from the start of the run");
    check_near(f->proof[2].time_ns, 200 * US);
    traced_free(&x);
}

static void busy_device_is_not_reported(void **state)
{
    struct advised x;
    (void)state;
    run[0].start_ns = 150 * US; /* 50 of 850 us idle: less than a tenth */
    traced(&x, 900, 0);
    assert_null(finding(&x, "idle"));
    run[0].start_ns = 0;
    traced_free(&x);
}

/* 200 of 1000 us: a fifth of the step. */
static void data_loading_is_reported(void **state)
{
    struct advised x;
    (void)state;
    traced(&x, 900, 200);
    const struct oc_advice_item *f = finding(&x, "dataloader");
    assert_non_null(f);
    check_near(f->high_ns, 200 * US);
    assert_non_null(strstr(f->found, "20.0 % of a step"));
    traced_free(&x);
    traced(&x, 900, 40); /* less than a twentieth */
    assert_null(finding(&x, "dataloader"));
    traced_free(&x);
}

static void device_copies_are_reported(void **state)
{
    struct advised x;
    (void)state;
    traced(&x, 900, 0);
    const struct oc_advice_item *f = finding(&x, "copies");
    assert_non_null(f);
    check_near(f->high_ns, 100 * US);
    assert_non_null(strstr(f->found, "pageable memory"));
    assert_int_equal(f->n_proof, 1);
    traced_free(&x);
}

/* Operators of a CPU: 300 of 1000 us are outside operators. */
static void time_outside_operators_is_reported(void **state)
{
    struct advised x;
    (void)state;
    advise_case(&x, NULL, "a,Conv,CPU,400\nb,Relu,CPU,300\n", NULL);
    assert_null(finding(&x, "idle")); /* the run time is not recorded */
    x.profile->run_ns = 1000 * US;
    x.profile->busy_ns = 700 * US;
    advised_report(&x);
    expect_finding(&x, "idle", 1, 0, 300 * US);
}

/* ---- tiny kernels -------------------------------------------------------------------------------------- */

/* Nine operators on two numbers take 4 us each, one on a million takes 1000 us: a launch is 4 us. */
static void tiny_kernels_are_reported(void **state)
{
    struct advised x;
    char table[2048] = "";
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "x", "float[1000,1000]");
    oc_b_input(b, "s0", "float[2]");
    for (int i = 0; i < 9; i++) {
        char in[8], out[8], name[8];
        snprintf(in, sizeof(in), "s%d", i);
        snprintf(out, sizeof(out), "s%d", i + 1);
        snprintf(name, sizeof(name), "n%d", i);
        oc_b_node(b, "Softmax", name, in, out, "");
        snprintf(table + strlen(table), sizeof(table) - strlen(table), "n%d,Softmax,,4\n", i);
    }
    oc_b_node(b, "Exp", "big", "x", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "s9", NULL);
    snprintf(table + strlen(table), sizeof(table) - strlen(table), "big,Exp,,1000\n");
    advise_case(&x, b, table, NULL);
    expect_finding(&x, "tiny-kernels", 9, 0, 36e3);
}

/* The same time, but real work: 100,000 elements in 4 us are as fast as anything in this run. */
static void short_kernels_with_work_are_not_reported(void **state)
{
    struct advised x;
    char table[2048] = "";
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "s0", "float[100000]");
    for (int i = 0; i < 10; i++) {
        char in[8], out[8], name[8];
        snprintf(in, sizeof(in), "s%d", i);
        snprintf(out, sizeof(out), "s%d", i + 1);
        snprintf(name, sizeof(name), "n%d", i);
        oc_b_node(b, "Softmax", name, in, out, "");
        snprintf(table + strlen(table), sizeof(table) - strlen(table), "n%d,Softmax,,4\n", i);
    }
    oc_b_output(b, "s10", NULL);
    advise_case(&x, b, table, NULL);
    expect_none(&x, "tiny-kernels");
}

/* Device times do not contain the launch (5 us in the hardware file): while a kernel of 2 us runs, the next
 * one is still being launched. Ten of them: 30 us of the 100 us in which the device waits. */
static void short_device_kernels_need_a_launch_time(void **state)
{
    static const struct oc_hw_figure five = {.value = 5e-6, .basis = OC_BASIS_ASSUMED};
    const struct oc_device d = {
        .info = &(struct oc_device_info){.name = "D", .vendor = "", .kind = "gpu", .file = ""},
        .overhead = &five};
    struct advised x;
    (void)state;
    advise_case(
        &x, NULL,
        "a,Add,CUDA,2\nb,Add,CUDA,2\nc,Add,CUDA,2\nd,Add,CUDA,2\ne,Add,CUDA,2\nf,Add,CUDA,2\ng,Add,CUDA,2\n"
        "h,Add,CUDA,2\ni,Add,CUDA,2\nj,Add,CUDA,2\nbig,Conv,CUDA,100\n",
        &d);
    x.profile->time_kind = "device time";
    x.profile->run_ns = 220 * US;
    advised_report(&x);
    const struct oc_advice_item *f = finding(&x, "tiny-kernels");
    assert_non_null(f);
    assert_non_null(strstr(f->basis, "assumed figure"));
    check_near(f->high_ns, 30 * US);
    x.profile->run_ns = 130 * US; /* the device waits only 10 us */
    advised_report(&x);
    expect_finding(&x, "tiny-kernels", 10, 0, 10 * US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(idle_device_is_reported),
                                       cmocka_unit_test(busy_device_is_not_reported),
                                       cmocka_unit_test(data_loading_is_reported),
                                       cmocka_unit_test(device_copies_are_reported),
                                       cmocka_unit_test(time_outside_operators_is_reported),
                                       cmocka_unit_test(tiny_kernels_are_reported),
                                       cmocka_unit_test(short_kernels_with_work_are_not_reported),
                                       cmocka_unit_test(short_device_kernels_need_a_launch_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
