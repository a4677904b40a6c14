/* Several ranks and devices, work that no operator owns, and events that an in-order stream cannot have: traces of
 * PyTorch whose figures follow from the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "profile/profile.h"
#include "profile/time_summary.h"
#include "support/profiles.h"

/* ---- a trace under construction --------------------------------------------------------------------- */

struct trace {
    char text[32768];
    size_t n;
};

static void begin(struct trace *t)
{
    t->n = (size_t)snprintf(t->text, sizeof(t->text), "{\"schemaVersion\": 1, \"traceEvents\": [\n");
}

/* number: of the launch, 0: none; device: of kernels */
static void add(struct trace *t, const char *cat, const char *name, unsigned pid, unsigned tid, unsigned ts,
                unsigned dur, unsigned number)
{
    bool device = strcmp(cat, "kernel") == 0 || strcmp(cat, "gpu_memcpy") == 0;
    t->n += (size_t)snprintf(t->text + t->n, sizeof(t->text) - t->n,
                             "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u, "
                             "\"ts\": %u, \"dur\": %u, \"args\": {\"correlation\": %u",
                             t->text[t->n - 2] == '[' ? "" : ",\n", cat, name, pid, tid, ts, dur, number);
    t->n += (size_t)snprintf(t->text + t->n, sizeof(t->text) - t->n,
                             device ? ", \"device\": %u, \"stream\": %u}}" : "}}", pid, tid);
}

/* aten::mm at `ts` in the process, whose kernel runs on the device. */
static void add_mm(struct trace *t, unsigned pid, unsigned device, unsigned ts, unsigned dur, unsigned number)
{
    add(t, "cpu_op", "aten::mm", pid, pid, ts, 5, 0);
    add(t, "cuda_runtime", "cudaLaunchKernel", pid, pid, ts + 1, 2, number);
    add(t, "kernel", "gemm", device, 7, ts + 10, dur, number);
}

static struct oc_profile *finish(struct trace *t)
{
    struct oc_err err = {0};
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_SUM, .keep_events = true};
    snprintf(t->text + t->n, sizeof(t->text) - t->n, "\n]}\n");
    struct oc_profile *p = t_profile_text(t->text, &opts, &err);
    if (!p)
        fail_msg("%s", err.msg);
    return p;
}

/* Device time of the records with that name, in all places or in one. */
static double kernel_ns(const struct oc_profile *p, const char *name, const char *place)
{
    double ns = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *r = &p->rec[i];
        if (strcmp(r->name, name) == 0 && (!place || (r->place && strcmp(r->place, place) == 0)))
            ns += r->kernel_ns;
    }
    return ns;
}

/* ---- devices and ranks ------------------------------------------------------------------------------ */

static void devices_of_one_process_have_their_own_rows(void **state)
{
    (void)state;
    struct trace t;
    begin(&t);
    for (unsigned k = 0; k < 4; k++)
        add_mm(&t, 50, k % 2, 1000 * k, k % 2 ? 300 : 100, k + 1);
    struct oc_profile *p = finish(&t);
    assert_true(kernel_ns(p, "aten::mm", "device 0") == 200e3);
    assert_true(kernel_ns(p, "aten::mm", "device 1") == 600e3);
    assert_non_null(strstr(t_finding(p, "W-several-devices"), "(device 0: 200 us; device 1: 600 us)"));
    struct oc_time_summary *s = oc_time_summary_make(p, NULL);
    assert_int_equal(s->operators.n, 2);
    assert_int_equal(s->types.n, 2);
    assert_int_equal(s->kernels.n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct oc_sum_item *item = &s->operators.item[i];
        assert_true(item->device.total_ns == (strcmp(item->place, "device 1") == 0 ? 600e3 : 200e3));
    }
    oc_time_summary_free(s);
    oc_profile_close(p);
}

/* The same numbers of launches in both ranks; both may call their device 0. */
static void kernels_of_a_rank_belong_to_its_operators(void **state)
{
    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        struct trace t;
        begin(&t);
        for (unsigned rank = 0; rank < 2; rank++)
            for (unsigned k = 0; k < 3; k++)
                add_mm(&t, 100 + rank, own * rank, 1000 * k, rank ? 400 : 100, k + 1);
        struct oc_profile *p = finish(&t);
        const char *first = own ? "process 100, device 0" : "process 100",
                   *second = own ? "process 101, device 1" : "process 101";
        assert_true(kernel_ns(p, "aten::mm", first) == 300e3);
        assert_true(kernel_ns(p, "aten::mm", second) == 1200e3);
        assert_true(kernel_ns(p, "aten::mm", NULL) == 1500e3);
        struct oc_time_summary *s = oc_time_summary_make(p, NULL);
        unsigned devices = 0;
        for (uint32_t i = 0; i < s->n_lane; i++)
            devices += s->lane[i].lane == OC_NONE && s->lane[i].place;
        assert_int_equal(devices, 2);
        oc_time_summary_free(s);
        oc_profile_close(p);
    }
}

/* Events of two ranks in the order of time. Numbers that only one rank has show the rank of a device; if there is
 * none, kernels are in no operator rather than in that of another rank. */
static void ranks_whose_events_alternate_are_not_guessed(void **state)
{
    (void)state;
    for (unsigned other = 0; other < 2; other++) {
        struct trace t;
        begin(&t);
        for (unsigned k = 0; k < 3; k++)
            for (unsigned rank = 0; rank < 2; rank++) {
                unsigned number = k == 2 && other ? 10 + rank : k + 1;
                add(&t, "cpu_op", "aten::mm", 100 + rank, 1, 1000 * k + rank, 5, 0);
                add(&t, "cuda_runtime", "cudaLaunchKernel", 100 + rank, 1, 1000 * k + rank + 1, 2, number);
            }
        for (unsigned k = 0; k < 3; k++)
            for (unsigned rank = 0; rank < 2; rank++)
                add(&t, "kernel", "gemm", rank, 7, 1000 * k + 100, rank ? 400 : 100,
                    k == 2 && other ? 10 + rank : k + 1);
        struct oc_profile *p = finish(&t);
        assert_true(kernel_ns(p, "aten::mm", "process 100, device 0") == (other ? 300e3 : 0));
        assert_true(kernel_ns(p, "aten::mm", "process 101, device 1") == (other ? 1200e3 : 0));
        assert_true(kernel_ns(p, "gemm", NULL) == (other ? 0 : 1500e3));
        assert_true((t_finding(p, "W-rank-unknown") != NULL) == !other);
        oc_profile_close(p);
    }
}

/* ---- work without an operator ----------------------------------------------------------------------- */

/* One launch of a graph with two kernels, twice; argmax is an operator. A collective without one. */
static void kernels_of_graphs_have_rows(void **state)
{
    (void)state;
    struct trace t;
    begin(&t);
    for (unsigned k = 0; k < 2; k++) {
        add(&t, "cuda_runtime", "cudaGraphLaunch", 50, 50, 1000 * k, 5, 10 + k);
        add(&t, "kernel", "attention", 0, 7, 1000 * k + 10, 300, 10 + k);
        add(&t, "kernel", "mlp", 0, 7, 1000 * k + 310, 100, 10 + k);
        add(&t, "kernel", "ncclDevKernel_AllReduce", 0, 9, 1000 * k + 410, 50, 10 + k);
        add(&t, "cpu_op", "aten::argmax", 50, 50, 1000 * k + 500, 10, 0);
        add(&t, "cuda_runtime", "cudaLaunchKernel", 50, 50, 1000 * k + 501, 2, 20 + k);
        add(&t, "kernel", "reduce_kernel", 0, 7, 1000 * k + 510, 20, 20 + k);
        add(&t, "cuda_runtime", "cudaMemcpyAsync", 50, 50, 1000 * k + 600, 2, 30 + k);
        add(&t, "gpu_memcpy", "Memcpy DtoH", 0, 7, 1000 * k + 610, 30, 30 + k);
    }
    struct oc_profile *p = finish(&t);
    assert_true(kernel_ns(p, "attention", NULL) == 600e3 && kernel_ns(p, "mlp", NULL) == 200e3);
    assert_string_equal(t_rec(p, "mlp")->op_type, "(kernels without an operator)");
    assert_string_equal(t_rec(p, "ncclDevKernel_AllReduce")->op_type, "(communication)");
    assert_true(!t_rec(p, "mlp")->bucket && !t_rec(p, "aten::argmax")->rest && !t_rec(p, "mlp")->place);
    struct oc_time_summary *s = oc_time_summary_make(p, NULL);
    double operators = 0, types = 0;
    for (uint32_t i = 0; i < s->operators.n; i++)
        operators += s->operators.item[i].device.total_ns;
    for (uint32_t i = 0; i < s->types.n; i++)
        types += s->types.item[i].device.total_ns;
    assert_true(operators == 1000e3 && types == 1000e3); /* 2 * (300 + 100 + 50 + 20 + 30) us */
    oc_time_summary_free(s);
    oc_profile_close(p);
}

/* c10d::allreduce_ owns what record_param_comms inside it launched. */
static void kernels_are_of_one_operator(void **state)
{
    (void)state;
    struct trace t;
    begin(&t);
    add(&t, "cpu_op", "c10d::allreduce_", 50, 50, 0, 50, 0);
    add(&t, "cpu_op", "record_param_comms", 50, 50, 10, 30, 0);
    add(&t, "cuda_runtime", "cudaLaunchKernelExC", 50, 50, 20, 5, 1);
    add(&t, "kernel", "ncclDevKernel_AllReduce", 0, 22, 60, 800, 1);
    add_mm(&t, 50, 0, 1000, 200, 2);
    struct oc_profile *p = finish(&t);
    struct oc_time_summary *s = oc_time_summary_make(p, NULL);
    double sum = 0;
    for (uint32_t i = 0; i < s->operators.n; i++) {
        const struct oc_sum_item *item = &s->operators.item[i];
        sum += item->device.total_ns;
        assert_int_equal(item->device.known, strcmp(item->name, "record_param_comms") != 0);
    }
    assert_true(sum == 1000e3);
    oc_time_summary_free(s);
    oc_profile_close(p);
}

/* ---- overlapping work ------------------------------------------------------------------------------- */

/* A kernel of 5 s over later kernels of its stream. Kernels of one graph, and one later kernel, may overlap it. */
static void work_that_its_stream_cannot_have_is_cut(void **state)
{
    (void)state;
    static const struct {
        unsigned later, number; /* number: of the later ones, 0: their own */
        unsigned stream;
        bool cut;
    } c[] = {{5, 0, 7, true}, {2, 0, 7, true}, {1, 0, 7, false}, {5, 1, 7, false}, {5, 0, 8, false}};
    for (size_t i = 0; i < OC_COUNT(c); i++) {
        struct trace t;
        begin(&t);
        add(&t, "cpu_op", "aten::attention", 50, 50, 0, 5, 0);
        add(&t, "cuda_runtime", "cudaLaunchKernel", 50, 50, 1, 2, 1);
        add(&t, "kernel", "attention", 0, 7, 10, 5000000, 1);
        for (unsigned k = 0; k < c[i].later; k++) {
            unsigned number = c[i].number ? c[i].number : 2 + k;
            add(&t, "cpu_op", "aten::mm", 50, 50, 100 + 10 * k, 5, 0);
            add(&t, "cuda_runtime", "cudaLaunchKernel", 50, 50, 101 + 10 * k, 2, number);
            add(&t, "kernel", "gemm", 0, c[i].stream, 500 + 100 * k, 50, number);
        }
        struct oc_profile *p = finish(&t);
        double ns = 0;
        for (uint32_t k = 0; k < p->n_kernel; k++)
            ns += strcmp(p->kernel[k].name, "attention") == 0 ? p->kernel[k].total_ns : 0;
        assert_true(ns == (c[i].cut ? 490e3 : 5e9));
        assert_true((t_finding(p, "W-overlapping-kernels") != NULL) == c[i].cut);
        if (c[i].cut) {
            const char *told = t_finding(p, "W-overlapping-kernels");
            assert_non_null(strstr(told, "'attention', 5.00 s over"));
            assert_non_null(strstr(told, "of stream 7 of device 0, cut to 490 us"));
            assert_true(p->imported_kernel_ns == 490e3 + 50e3 * c[i].later);
        }
        oc_profile_close(p);
    }
}

/* ---- truncated files -------------------------------------------------------------------------------- */

/* The events of the device come last: their absence from a truncated file does not make it a CPU. */
static void a_truncated_file_keeps_its_device(void **state)
{
    (void)state;
    static const struct {
        const char *properties, *end, *device;
        bool launch;
    } c[] = {{"\"deviceProperties\": [{\"id\": 0, \"name\": \"AMD Instinct MI300X\"}], ", ", {\"ph\": \"X",
              "AMD Instinct MI300X", true},
             {"", ", {\"ph\": \"X", "", false},
             {"", "]}", "CPU", false}};
    for (size_t i = 0; i < OC_COUNT(c); i++) {
        char text[1024];
        struct oc_err err = {0};
        snprintf(text, sizeof(text),
                 "{\"schemaVersion\": 1, %s\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
                 "\"aten::relu\", \"pid\": 5, \"tid\": 5, \"ts\": 10, \"dur\": 7}%s",
                 c[i].properties, c[i].end);
        struct oc_profile *p = t_profile_text(text, NULL, &err);
        assert_non_null(p);
        assert_string_equal(p->device, c[i].device);
        assert_int_equal(t_rec(p, "aten::relu")->is_launch, c[i].launch);
        assert_true((t_finding(p, "W-cut-before-device") != NULL) == c[i].launch);
        oc_profile_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_of_one_process_have_their_own_rows),
        cmocka_unit_test(kernels_of_a_rank_belong_to_its_operators),
        cmocka_unit_test(ranks_whose_events_alternate_are_not_guessed),
        cmocka_unit_test(kernels_of_graphs_have_rows),
        cmocka_unit_test(kernels_are_of_one_operator),
        cmocka_unit_test(work_that_its_stream_cannot_have_is_cut),
        cmocka_unit_test(a_truncated_file_keeps_its_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
