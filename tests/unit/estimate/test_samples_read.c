/* Samples from a model and a profile generated here. */
#include "estimate/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/build.h"
#include "onnxcost/estimate.h"

/* Four equal matrix products and a Relu: about 100 us, 3 us, widely varying, an inserted operator. */
enum { RUNS = 12 };

static void add_event(struct oc_buf *b, unsigned *ts, const char *name, const char *type, unsigned us)
{
    oc_buf_printf(b,
                  ",\n{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :%u,\"ts\" :%u,\"ph\" : \"X\","
                  "\"name\" :\"%s_kernel_time\",\"args\" : {\"op_name\" : \"%s\",\"node_index\" : \"0\"}}",
                  us, *ts, name, type);
    *ts += us + 1;
}

static void write_profile(const char *path)
{
    struct oc_buf b = {0};
    unsigned ts = 10;
    oc_buf_str(&b, "[\n{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :5,\"ts\" :0,\"ph\" : \"X\","
                   "\"name\" :\"model_loading_uri\",\"args\" : {}}");
    for (unsigned r = 0; r < RUNS; r++) {
        unsigned from = ts, slow = r < 3 ? 1000 : 0; /* three warm-up runs */
        add_event(&b, &ts, "mm1", "MatMul", 100 + r % 2 + slow);
        add_event(&b, &ts, "mm2", "MatMul", 110 + r % 2 + slow);
        add_event(&b, &ts, "mm3", "MatMul", 130 + slow);
        add_event(&b, &ts, "small", "Relu", 1);
        add_event(&b, &ts, "wild", "Tanh", r % 2 ? 20 : 60);
        oc_buf_printf(&b,
                      ",\n{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :%u,\"ts\" :%u,\"ph\" : \"X\","
                      "\"name\" :\"model_run\",\"args\" : {}}",
                      ts - from + 5, from - 1);
        ts += 20;
    }
    oc_buf_str(&b, "\n]\n");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fwrite(b.data, 1, b.n, f);
    fclose(f);
    oc_buf_free(&b);
}

static void write_model(const char *path)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[40,64]");
    oc_b_init(b, "w", "float[64,64]");
    oc_b_node(b, "MatMul", "mm1", "x,w", "a", "");
    oc_b_node(b, "MatMul", "mm2", "a,w", "b", "");
    oc_b_node(b, "MatMul", "mm3", "b,w", "c", "");
    oc_b_node(b, "Relu", "small", "c", "d", "");
    oc_b_node(b, "Tanh", "wild", "d", "y", "");
    oc_b_output(b, "y", NULL);
    assert_int_equal(oc_b_save(b, path), 0);
    oc_b_free(b);
}

/* A folder with the model; tests write the profile. */
struct recording {
    char folder[32], model[64], profile[64];
};

static int open_recording(void **state)
{
    static struct recording rec;
    snprintf(rec.folder, sizeof(rec.folder), "/tmp/onnxcost-test-XXXXXX");
    assert_non_null(mkdtemp(rec.folder));
    snprintf(rec.model, sizeof(rec.model), "%s/net.onnx", rec.folder);
    snprintf(rec.profile, sizeof(rec.profile), "%s/net.profile.json", rec.folder);
    write_model(rec.model);
    *state = &rec;
    return 0;
}

static int close_recording(void **state)
{
    struct recording *rec = *state;
    unlink(rec->model);
    unlink(rec->profile);
    rmdir(rec->folder);
    return 0;
}

static void samples_from_a_recording(void **state)
{
    struct recording *rec = *state;
    write_profile(rec->profile);
    const char *const path[] = {rec->profile};
    const struct oc_samples_opts opts = {.warmup = 3, .threads = 1, .runtime_version = "1.30"};
    struct oc_samples *s;
    struct oc_err err = {0};
    if (oc_samples_read(path, 1, &opts, &s, &err))
        fail_msg("%s", err.msg);
    /* three equal products are one sample: the median of 100 (or 101), 110 and 130 us, without the warm-up */
    assert_int_equal(s->set.n, 1);
    const struct oc_sample *x = &s->set.item[0];
    assert_int_equal(x->repeats, 3);
    assert_int_equal(x->runs, RUNS - 3);
    assert_true(x->t_s > 109e-6 && x->t_s < 112e-6);
    assert_true(x->p10_s <= x->t_s && x->t_s <= x->p90_s && x->p90_s < 112e-6);
    assert_int_equal(x->kernel.cls, OC_KC_GEMM);
    assert_true(x->kernel.m == 40 && x->kernel.n == 64 && x->kernel.k == 64);
    assert_string_equal(x->kernel.label, "mm1");
    /* 1 us is less than 2 ticks of 1 us; 20 to 60 us vary too much */
    assert_int_equal(s->reject[OC_REJECT_TIMER].n, 1);
    assert_int_equal(s->reject[OC_REJECT_SPREAD].n, 1);
    assert_int_equal(s->n_kernel, 5);
    double sum = (100.5 + 110.5 + 130 + 1) * 1e-6; /* and 20 or 60 of the varying one */
    assert_true(s->kernels_s > sum + 15e-6 && s->kernels_s < sum + 65e-6);
    assert_string_equal(s->set.runtime, "onnxruntime");
    assert_string_equal(s->set.runtime_version, "1.30");
    assert_int_equal(s->set.n_model, 1);
    assert_string_equal(s->set.model[0].model_id, "net");
    assert_int_equal(s->set.model[0].kernels, 5);
    assert_true(s->set.model[0].const_bytes == 64 * 64 * 4);
    assert_true(s->set.model[0].run_s > s->kernels_s);
    oc_samples_free(s);
}

/* OpenVINO writes 0.000 for what took less than half a microsecond. */
static void kernels_without_a_time_are_rejected(void **state)
{
    struct recording *rec = *state;
    static const char *const name[] = {"mm1", "mm2", "mm3", "small", "wild"};
    static const char *const type[] = {"MatMul", "MatMul", "MatMul", "Relu", "Tanh"};
    FILE *f = fopen(rec->profile, "w");
    assert_non_null(f);
    fputs("layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n", f);
    for (size_t i = 0; i < OC_COUNT(name); i++) /* 0, 1, 2, 3, 0 us */
        fprintf(f, "%s;EXECUTED;%s;jit_f32;%.3f;%.3f\n", name[i], type[i], 0.001 * (double)(i % 4),
                0.001 * (double)(i % 4));
    fclose(f);
    const char *const path[] = {rec->profile};
    const struct oc_samples_opts opts = {.threads = 1};
    struct oc_samples *s;
    struct oc_err err = {0};
    if (oc_samples_read(path, 1, &opts, &s, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(s->n_kernel, 5);
    assert_int_equal(s->reject[OC_REJECT_TIMELESS].n, 2);
    assert_int_equal(s->reject[OC_REJECT_TIMER].n, 0);
    assert_int_equal(s->set.n, 2); /* products, Relu */
    oc_samples_free(s);
}

/* A table of functions next to a model. */
static void function_profile_gives_no_samples(void **state)
{
    struct recording *rec = *state;
    FILE *f = fopen(rec->profile, "w");
    assert_non_null(f);
    fputs("Function,CPU Time,Module\nsgemm,1.5s,libonnxruntime.so\n", f);
    fclose(f);
    const char *const path[] = {rec->profile};
    const struct oc_samples_opts opts = {.threads = 1};
    struct oc_samples *s;
    struct oc_err err = {0};
    assert_int_equal(oc_samples_read(path, 1, &opts, &s, &err), -1);
    if (!strstr(err.msg, "is a profile of functions, not of a model's operators"))
        fail_msg("%s", err.msg);
}

static void missing_files_are_an_error(void **state)
{
    (void)state;
    struct oc_samples *s;
    struct oc_err err = {0};
    const struct oc_samples_opts opts = {0};
    const char *const path[] = {"/nowhere/x.profile.json"};
    assert_int_equal(oc_samples_read(path, 1, &opts, &s, &err), -1);
    assert_non_null(strstr(err.msg, "no model for '/nowhere/x.profile.json'"));
    assert_int_equal(oc_samples_read(path, 0, &opts, &s, &err), -1);
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_from_a_recording, open_recording, close_recording),
        cmocka_unit_test_setup_teardown(kernels_without_a_time_are_rejected, open_recording, close_recording),
        cmocka_unit_test_setup_teardown(function_profile_gives_no_samples, open_recording, close_recording),
        cmocka_unit_test(missing_files_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
