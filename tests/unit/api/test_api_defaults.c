/* Every function with options: NULL and zeros mean the defaults, options of other versions are accepted or
 * rejected by their size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "estimate/samples.h"
#include "support/profiles.h"
#include "support/run_model.h"
#include "onnxcost.h"
#include "onnxcost/bounds.h"
#include "onnxcost/estimate.h"
#include "onnxcost/gate.h"
#include "onnxcost/hardware.h"
#include "onnxcost/llm.h"
#include "onnxcost/memory.h"
#include "onnxcost/profile.h"
#include "onnxcost/record.h"
#include "onnxcost/report.h"
#include "onnxcost/scan.h"
#include "onnxcost/sweep.h"
#include "onnxcost/training.h"

struct world {
    struct oc_run run;
    uint8_t *bytes;
    size_t n_bytes;
    struct oc_hwdb *db;
    const struct oc_device *device;
    struct oc_profile *profile;
    struct oc_join *join;
    struct oc_report_in in;
    struct oc_diff *diff;
    struct oc_rank *rank;
    FILE *f; /* what writers write */
};

#define MADE(type, make)                                                                                     \
    type *made = NULL;                                                                                       \
    int rc = make

static int load_mem(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_model, oc_model_load_mem(w->bytes, w->n_bytes, o, &made, err));
    oc_model_free(made);
    return rc;
}

static int analyze(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_analysis, oc_analyze(w->run.m, o, &made, err));
    struct oc_totals t = {0};
    if (!rc)
        oc_analysis_total(made, &t);
    fprintf(w->f, "%llu", (unsigned long long)t.macs);
    oc_analysis_free(made);
    return rc;
}

static int closed_form(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_closed_form, oc_closed_form_make(w->run.m, o, &made, err));
    fputs(rc ? "" : oc_closed_form_text(made, OC_METRIC_MACS), w->f);
    oc_closed_form_free(made);
    return rc;
}

static int training(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_training, oc_training_make(w->run.a, o, &made, err));
    rc = rc ? rc : oc_training_write(made, "json", w->f, err);
    oc_training_free(made);
    return rc;
}

static int bounds(struct world *w, const void *o, struct oc_err *err)
{
    const struct oc_range_bind range = {.symbol = "N", .from = 1, .to = 2};
    MADE(struct oc_bounds, oc_bounds_make(w->run.m, o, &range, 1, &made, err));
    rc = rc ? rc : oc_bounds_write(made, "csv", 0, w->f, err);
    oc_bounds_free(made);
    return rc;
}

static int time_bound(struct world *w, const void *o, struct oc_err *err) /* no range */
{
    MADE(struct oc_time_bound, oc_time_bound_make(w->run.m, w->device, o, &made, err));
    oc_time_bound_free(made);
    return rc;
}

static int sweep(struct world *w, const void *o, struct oc_err *err)
{
    const int64_t value[] = {1, 2};
    const struct oc_sweep_axis axis = {"N", value, 2};
    MADE(struct oc_sweep, oc_sweep_make(w->run.m, o, &axis, 1, &made, err));
    rc = rc ? rc : oc_sweep_write(made, "csv", 0, w->f, err);
    oc_sweep_free(made);
    return rc;
}

static int llm(struct world *w, const void *o, struct oc_err *err) /* the model has no cache */
{
    MADE(struct oc_llm, oc_llm_make(w->run.m, o, &made, err));
    oc_llm_free(made);
    return rc;
}

static int memory(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_memory, oc_memory_make(w->run.a, o, &made, err));
    rc = rc ? rc : oc_memory_write(made, NULL, w->f, err);
    oc_memory_free(made);
    return rc;
}

static int memory_plan(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_memory_plan, oc_memory_plan_make(w->run.a, o, &made, err));
    rc = rc ? rc : oc_memory_plan_write(made, "csv", w->f, err);
    oc_memory_plan_free(made);
    return rc;
}

static int profile_open(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_profile, oc_profile_open("models/profiles/resnet50.disabled.t1.json.gz", o, &made, err));
    if (!rc)
        fprintf(w->f, "%u of %u runs", made->runs_used, made->runs_total);
    oc_profile_close(made);
    return rc;
}

static int summary(struct world *w, const void *o, struct oc_err *err)
{
    const struct oc_profile *p = w->profile;
    return oc_summary_write(&p, 1, o, w->f, err);
}

static int join_sizes(struct world *w, const void *o, struct oc_err *err)
{
    return oc_join_sizes(w->run.a, o, NULL, w->join, err);
}

static int record(struct world *w, const void *o, struct oc_err *err) /* the model is in memory */
{
    MADE(struct oc_recording, oc_record(w->run.m, w->run.a, o, &made, err));
    oc_recording_free(made);
    return rc;
}

static int samples(struct world *w, const void *o, struct oc_err *err) /* no such file */
{
    static const char *const path[] = {"/does/not/exist.csv"};
    (void)w;
    MADE(struct oc_samples, oc_samples_read(path, 1, o, &made, err));
    oc_samples_free(made);
    return rc;
}

static int calibration(struct world *w, const void *o, struct oc_err *err) /* no device */
{
    const struct oc_samples none = {0};
    (void)w;
    MADE(struct oc_calibration, oc_calibration_make(&none, o, &made, err));
    oc_calibration_free(made);
    return rc;
}

static int estimate(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_estimate, oc_estimate_make(w->run.a, w->device, o, &made, err));
    rc = rc ? rc : oc_estimate_write(made, NULL, 0, w->f, err);
    oc_estimate_free(made);
    return rc;
}

static int rank(struct world *w, const void *o, struct oc_err *err) /* no device */
{
    MADE(struct oc_rank, oc_rank_make(w->run.m, o, &made, err));
    oc_rank_free(made);
    return rc;
}

static int rank_write(struct world *w, const void *o, struct oc_err *err)
{
    return oc_rank_write(w->rank, o, w->f, err);
}

static int report(struct world *w, const void *o, struct oc_err *err)
{
    return oc_report_write(&w->in, o, w->f, err);
}

static int annotate(struct world *w, const void *o, struct oc_err *err)
{
    return oc_annotate_write(&w->in, o, NULL, w->f, err);
}

static int diff(struct world *w, const void *o, struct oc_err *err)
{
    MADE(struct oc_diff, oc_diff_make(&w->in, &w->in, o, &made, err));
    oc_diff_free(made);
    return rc;
}

static int diff_write(struct world *w, const void *o, struct oc_err *err)
{
    return oc_diff_write(w->diff, o, w->f, err);
}

static int scan(struct world *w, const void *o, struct oc_err *err)
{
    static const char *const path[] = {"/does/not/exist.onnx"};
    MADE(struct oc_scan, oc_scan_open(path, 1, o, &made, err));
    fprintf(w->f, "%zu files", rc ? 0 : oc_scan_files(made));
    oc_scan_free(made);
    return rc;
}

static int hw_measure(struct world *w, const void *o, struct oc_err *err) /* takes 20 s with the defaults */
{
    MADE(struct oc_hw_measurement, oc_hw_measure(o, &made, err));
    (void)w;
    oc_hw_measurement_free(made);
    return rc;
}

static const struct function {
    const char *name;
    size_t bytes; /* of its options */
    int (*call)(struct world *w, const void *options, struct oc_err *err);
    enum oc_code fails; /* with defaults; OC_OK: it succeeds */
    bool slow;
} functions[] = {
    {"model_load_mem", sizeof(struct oc_input_limits), load_mem, OC_OK, false},
    {"analyze", sizeof(struct oc_analyze_opts), analyze, OC_OK, false},
    {"closed_form", sizeof(struct oc_analyze_opts), closed_form, OC_OK, false},
    {"bounds", sizeof(struct oc_analyze_opts), bounds, OC_OK, false},
    {"time_bound", sizeof(struct oc_time_bound_opts), time_bound, OC_EARG, false},
    {"sweep", sizeof(struct oc_analyze_opts), sweep, OC_OK, false},
    {"training", sizeof(struct oc_training_opts), training, OC_OK, false},
    {"llm", sizeof(struct oc_llm_opts), llm, OC_EUNSUPPORTED, false},
    {"memory", sizeof(struct oc_memory_opts), memory, OC_OK, false},
    {"memory_plan", sizeof(struct oc_plan_opts), memory_plan, OC_OK, false},
    {"profile_open", sizeof(struct oc_profile_opts), profile_open, OC_OK, false},
    {"summary", sizeof(struct oc_summary_opts), summary, OC_OK, false},
    {"join_sizes", sizeof(struct oc_analyze_opts), join_sizes, OC_OK, false},
    {"record", sizeof(struct oc_record_opts), record, OC_EARG, false},
    {"samples", sizeof(struct oc_samples_opts), samples, OC_EIO, false},
    {"calibration", sizeof(struct oc_calibration_opts), calibration, OC_EARG, false},
    {"estimate", sizeof(struct oc_estimate_opts), estimate, OC_OK, false},
    {"rank", sizeof(struct oc_rank_opts), rank, OC_EARG, false},
    {"rank_write", sizeof(struct oc_rank_write_opts), rank_write, OC_OK, false},
    {"report", sizeof(struct oc_report_opts), report, OC_OK, false},
    {"annotate", sizeof(struct oc_report_opts), annotate, OC_OK, false},
    {"diff", sizeof(struct oc_diff_opts), diff, OC_OK, false},
    {"diff_write", sizeof(struct oc_diff_write_opts), diff_write, OC_OK, false},
    {"scan", sizeof(struct oc_scan_opts), scan, OC_OK, false},
    {"hw_measure", sizeof(struct oc_hw_measure_opts), hw_measure, OC_OK, true},
};
#define EACH_FUNCTION(f)                                                                                     \
    const struct function *f = functions;                                                                    \
    f < functions + OC_COUNT(functions);                                                                     \
    f++

static int set_up(void **state)
{
    static struct world w;
    struct oc_err err;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_node(b, "Conv", "/conv1", "x,w", "y", "pads=1,1,1,1");
    oc_b_node(b, "Relu", "/act", "y", "z", "");
    oc_b_output(b, "z", NULL);
    w.run = oc_run_model(b, NULL);
    w.bytes = w.run.bytes;
    w.n_bytes = w.run.m->file.size_bytes;
    w.profile = t_profile_text("name,type,time\n/conv1,Conv,30\n/act,Relu,10\n",
                               &(struct oc_profile_opts){.map = "name=name,type=type,time=time:us"}, &err);
    if (!w.profile || oc_hwdb_open("hwdb", &w.db, &err) || oc_hwdb_find(w.db, "a100", &w.device, &err) ||
        oc_join_make(w.run.m, w.run.a, w.profile, NULL, &w.join, &err))
        fail_msg("%s", err.msg);
    w.in = (struct oc_report_in){.model = w.run.m, .analysis = w.run.a};
    if (oc_diff_make(&w.in, &w.in, NULL, &w.diff, &err) ||
        oc_rank_make(w.run.m, &(struct oc_rank_opts){.device = &w.device, .n_device = 1}, &w.rank, &err))
        fail_msg("%s", err.msg);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    oc_rank_free(w->rank);
    oc_diff_free(w->diff);
    oc_join_free(w->join);
    oc_profile_close(w->profile);
    oc_hwdb_free(w->db);
    oc_run_free(&w->run);
    return 0;
}

/* What the function wrote; free() it. */
static char *call(struct world *w, const struct function *f, const void *options, int *rc, struct oc_err *err)
{
    char *text = NULL;
    size_t n;
    *err = (struct oc_err){0};
    w->f = open_memstream(&text, &n);
    *rc = f->call(w, options, err);
    fclose(w->f);
    return text;
}

static void null_and_zero_options_are_the_defaults(void **state)
{
    for (EACH_FUNCTION(f)) {
        struct oc_err err, same;
        int rc, again;
        void *zeros = calloc(1, f->bytes);
        if (!f->slow) {
            char *first = call(*state, f, NULL, &rc, &err), *second = call(*state, f, zeros, &again, &same);
            if (err.code != f->fails || rc != (f->fails ? -1 : 0) || again != rc ||
                strcmp(first, second) != 0)
                fail_msg("%s: %d (%s) with NULL, %d (%s) with zeros:\n%s\n%s", f->name, rc, err.msg, again,
                         same.msg, first, second);
            free(first);
            free(second);
        }
        free(zeros);
    }
}

/* The block ends after the size: AddressSanitizer finds reads after it. */
static void options_of_an_older_version_are_the_defaults_for_the_rest(void **state)
{
    for (EACH_FUNCTION(f)) {
        const size_t size = sizeof(size);
        struct oc_err err, same;
        int rc, again;
        void *old = malloc(size);
        memcpy(old, &size, size);
        if (!f->slow) {
            char *first = call(*state, f, NULL, &rc, &err), *second = call(*state, f, old, &again, &same);
            if (again != rc || strcmp(first, second) != 0)
                fail_msg("%s: %s", f->name, same.msg);
            free(first);
            free(second);
        }
        free(old);
    }
}

static void options_of_a_newer_version_are_rejected_unless_zero(void **state)
{
    for (EACH_FUNCTION(f)) {
        struct oc_err err;
        int rc;
        const size_t size = f->bytes + 8;
        char *newer = calloc(1, size);
        memcpy(newer, &size, sizeof(size));
        newer[size - 1] = 1;
        free(call(*state, f, newer, &rc, &err));
        if (rc != -1 || err.code != OC_EARG || !strstr(err.msg, "newer version"))
            fail_msg("%s: %d (%s)", f->name, rc, err.msg);
        newer[size - 1] = 0;
        if (!f->slow) {
            free(call(*state, f, newer, &rc, &err));
            if (rc != (f->fails ? -1 : 0))
                fail_msg("%s: %d (%s)", f->name, rc, err.msg);
        }
        free(newer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_and_zero_options_are_the_defaults),
        cmocka_unit_test(options_of_an_older_version_are_the_defaults_for_the_rest),
        cmocka_unit_test(options_of_a_newer_version_are_rejected_unless_zero),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
