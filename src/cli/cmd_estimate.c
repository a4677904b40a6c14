/* Commands for times on devices: calibrate, which reads recordings; estimate and llm, which take models. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"
#include "onnxcost/llm.h"

/* ---- recordings ------------------------------------------------------------------------------------- */

/* RECORDINGS... on the command line, with --hw and related options. */
struct measured {
    const struct cli_opts *o;
    struct oc_hwdb *hwdb;
    const struct oc_device *device; /* NULL: without --hw */
    struct oc_samples *samples;
    struct oc_calibration *calibration; /* that is fitted to them */
};

static void on_recording(void *arg, const char *name)
{
    cli_progress_say(arg, "reading", name);
}

static int read_samples(const struct cli_opts *o, struct measured *m)
{
    struct oc_err err;
    struct cli_progress *p = cli_progress_start();
    const struct oc_samples_opts opts = {.device = m->device,
                                         .profile_format = o->profile_format,
                                         .runtime_version = o->runtime_version,
                                         .threads = o->threads.set ? (uint32_t)o->threads.v : 0,
                                         .warmup = cli_warmup(o, 0),
                                         .progress = on_recording,
                                         .progress_arg = p,
                                         .limits = &o->limits};
    int rc = oc_samples_read(o->word.item, o->word.n, &opts, &m->samples, &err);
    cli_progress_stop(p);
    return rc ? cli_fail_err(&err) : 0;
}

static void print_sample_warnings(const struct oc_samples *samples)
{
    const struct oc_diag *d;
    size_t n = oc_samples_diags(samples, &d);
    for (size_t i = 0; i < n; i++)
        cli_warn_diag(&d[i], false);
}

/* Reads the measured kernels. What is wrong with single recordings goes to stderr. */
static int measured_read(const struct cli_opts *o, struct measured *out)
{
    const int64_t most = 1000000;
    if (!o->word.n)
        return cli_fail(CLI_USAGE,
                        "calibrate needs recordings: profiles next to their models, or lists of them");
    if (o->threads.set && (o->threads.v < 1 || o->threads.v > most))
        return cli_fail(CLI_USAGE, "--threads needs a number of at least 1, not %lld",
                        (long long)o->threads.v);
    if (o->warmup.set && (o->warmup.v < 0 || o->warmup.v > most))
        return cli_fail(CLI_USAGE, "--warmup needs a number from 0 to %lld, not %lld", (long long)most,
                        (long long)o->warmup.v);
    int rc = o->hw.n ? cli_find_device(o, cli_hw(o), &out->hwdb, &out->device) : 0;
    rc = rc ? rc : read_samples(o, out);
    if (!rc)
        print_sample_warnings(out->samples);
    return rc;
}

static void measured_free(struct measured *m)
{
    oc_calibration_free(m->calibration);
    oc_samples_free(m->samples);
    oc_hwdb_free(m->hwdb);
}

/* ---- calibrate -------------------------------------------------------------------------------------- */

static int put_check(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct measured *m = job;
    return oc_calibration_check(m->samples, m->o->format, out->f, err);
}

static int put_calibration(const void *cal, const struct cli_output *out, struct oc_err *err)
{
    (void)err;
    oc_calibration_write(cal, out->f);
    return 0;
}

static int put_calibration_report(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct measured *m = job;
    return oc_calibration_report(m->calibration, m->samples, m->o->format, out->f, err);
}

static void today_text(char *buf, size_t cap)
{
    time_t now = time(NULL);
    struct tm t;
    if (!gmtime_r(&now, &t) || !strftime(buf, cap, "%Y-%m-%d", &t))
        buf[0] = '\0';
}

/* The table goes to standard output, unless the file does. */
static int make_calibration(struct measured *m)
{
    char date[16];
    const struct cli_opts *o = m->o;
    struct oc_err err;
    today_text(date, sizeof(date));
    const struct oc_calibration_opts opts = {.created = date};
    if (oc_calibration_make(m->samples, &opts, &m->calibration, &err))
        return cli_fail_err(&err);
    int rc = o->output ? cli_output_write(o->output, put_calibration, m->calibration) : 0;
    if (rc || cli_is(o->output, "-"))
        return rc;
    return cli_output_write(NULL, put_calibration_report, m);
}

int cmd_calibrate(const struct cli_opts *o)
{
    struct measured m = {.o = o};
    int rc = !o->hw.n ? cli_fail(CLI_USAGE, "calibrate needs the device that was measured: --hw NAME")
                      : measured_read(o, &m);
    if (!rc)
        rc = o->check ? cli_output_write(o->output, put_check, &m) : make_calibration(&m);
    measured_free(&m);
    return rc;
}

/* ---- estimate --------------------------------------------------------------------------------------- */

enum { TOP = 20 };

struct estimate_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_calibration *cal;
    struct oc_estimate *estimate;
    char *made; /* NULL: no page */
};

/* The runtime's own model, without a profile, is the model: its nodes are the kernels. */
static bool has_own_kernels(const struct cli_opts *o)
{
    return o->optimized_model && !o->profile.n;
}

static int check_estimate_options(const struct cli_opts *o)
{
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "estimate needs one model: onnxcost estimate MODEL --hw NAME");
    if (!o->hw.n)
        return cli_fail(CLI_USAGE, "estimate needs the device: --hw NAME");
    if (o->profile.n > 1)
        return cli_fail(CLI_USAGE, "estimate takes one profile");
    if (has_own_kernels(o) && o->fusion && strcmp(o->fusion, "none") != 0)
        return cli_fail(CLI_USAGE, "the optimized model has its kernels: there is nothing to fuse");
    if (o->opt_level && o->fusion && strcmp(o->fusion, "onnxruntime") != 0)
        return cli_fail(CLI_USAGE, "--opt-level is of the fusion rules of ONNX Runtime, not of '%s'",
                        o->fusion);
    return 0;
}

/* Fusion rules: those of --fusion; of ONNX Runtime at --opt-level. */
static const char *fusion_of(const struct cli_opts *o)
{
    static const char *const level[][2] = {{"disabled", "none"},
                                           {"basic", "onnxruntime-basic"},
                                           {"extended", "onnxruntime-extended"},
                                           {"all", "onnxruntime"}};
    if (has_own_kernels(o))
        return "none";
    for (size_t i = 0; i < sizeof(level) / sizeof(level[0]) && o->opt_level; i++)
        if (!strcmp(level[i][0], o->opt_level))
            return level[i][1];
    return o->fusion;
}

static int open_estimate_side(struct estimate_job *j)
{
    const struct cli_opts *o = j->o;
    int rc = cli_load_calibration(o, &j->cal);
    if (rc)
        return rc;
    cli_side_of(o, &j->side);
    if (has_own_kernels(o)) {
        j->side.model_path = o->optimized_model;
        j->side.optimized_path = NULL;
    }
    return cli_side_open(o, &j->side);
}

static int make_estimate(struct estimate_job *j)
{
    struct oc_err err;
    const struct oc_estimate_opts opts = {.calibration = j->cal,
                                          .join = j->side.in.join,
                                          .fusion = fusion_of(j->o),
                                          .simd = j->o->simd,
                                          .width_chars = cli_width_of(j->o),
                                          .as = j->o->as,
                                          .made = j->made};
    return oc_estimate_make(j->side.analysis, j->side.in.device, &opts, &j->estimate, &err)
               ? cli_fail_err(&err)
               : 0;
}

/* 0: all. */
static size_t rows_of_top(const struct cli_opts *o)
{
    return !o->top.set ? TOP : o->top.v > 0 ? (size_t)o->top.v : 0;
}

static int put_estimate(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct estimate_job *j = job;
    return oc_estimate_write(j->estimate, j->o->format, rows_of_top(j->o), out->f, err);
}

static int write_estimate(struct estimate_job *j)
{
    return cli_output_write(j->o->output, put_estimate, j);
}

/* ---- several devices -------------------------------------------------------------------------------- */

struct device_list {
    struct oc_hwdb *db; /* NULL until one is requested */
    const struct oc_device **item;
    size_t n, cap;
};

static void devices_add(struct device_list *d, const struct oc_device *device)
{
    if (d->n == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->item = cli_xrealloc(d->item, d->cap * sizeof(*d->item));
    }
    d->item[d->n++] = device;
}

/* The same device, maybe with other figures. */
static bool devices_has(const struct device_list *d, const struct oc_device *device)
{
    const struct oc_device_info *a = oc_device_info(device);
    for (size_t i = 0; i < d->n; i++) {
        const struct oc_device_info *b = oc_device_info(d->item[i]);
        if (!strcmp(a->id, b->id) && !strcmp(a->file, b->file))
            return true;
    }
    return false;
}

static int add_filtered(const struct cli_opts *o, const char *filter, struct device_list *d)
{
    const struct oc_device *const *list;
    size_t n;
    struct oc_err err;
    if (!d->db && oc_hwdb_open(NULL, &d->db, &err))
        return cli_fail_err(&err);
    if (oc_hwdb_select(d->db, filter, &list, &n, &err))
        return cli_fail_err(&err);
    for (size_t i = 0; i < n; i++) {
        const struct oc_device *device = list[i];
        if (devices_has(d, device))
            continue;
        int rc = cli_change_device(o, d->db, &device);
        if (rc)
            return rc;
        devices_add(d, device);
    }
    return 0;
}

static int add_name(const struct cli_opts *o, bool filters, const char *name, struct device_list *d)
{
    const struct oc_device *device = NULL;
    if (filters && oc_hwdb_is_filter(name))
        return add_filtered(o, name, d);
    int rc = cli_find_device(o, name, &d->db, &device);
    if (!rc)
        devices_add(d, device);
    return rc;
}

/* One --hw may have several, separated by commas. */
static int add_names(const struct cli_opts *o, bool filters, const char *names, struct device_list *d)
{
    for (const char *p = names; p;) {
        size_t n = strcspn(p, ",");
        char *name = cli_xstrndup(p, n);
        int rc = add_name(o, filters, name, d);
        free(name);
        if (rc)
            return rc;
        p = p[n] ? p + n + 1 : NULL;
    }
    return 0;
}

/* The devices of --hw, in the order given, with what --hw-set changes. `filters`: "all" and "kind=gpu" stand
 * for many, each of which is taken once. Returns 0, or the exit code after a message. */
static int collect_devices(const struct cli_opts *o, bool filters, struct device_list *out)
{
    *out = (struct device_list){0};
    for (size_t i = 0; i < o->hw.n; i++) {
        int rc = add_names(o, filters, o->hw.item[i], out);
        if (rc)
            return rc;
    }
    return 0;
}

static void devices_free(struct device_list *d)
{
    free(d->item);
    oc_hwdb_free(d->db);
}

/* ---- estimate of several devices or batches ---------------------------------------------------------- */

struct ranking {
    const struct cli_opts *o;
    struct cli_side side;
    struct device_list devices;
    struct cli_sizes batches;
    char *dimension; /* of the batch, NULL: not named */
    struct oc_calibration *calibration;
    struct oc_rank *rank;
    char *made; /* NULL: no page */
};

static bool is_ranking(const struct cli_opts *o)
{
    const char *first = o->hw.n ? o->hw.item[0] : "";
    return o->batch || o->sort || o->hw.n > 1 || strchr(first, ',') || oc_hwdb_is_filter(first);
}

/* --batch [NAME=]LIST */
static int take_batches(struct ranking *c)
{
    const char *text = c->o->batch, *eq = text ? strrchr(text, '=') : NULL;
    if (!text)
        return 0;
    if (eq == text || !cli_sizes_parse(eq ? eq + 1 : text, &c->batches))
        return cli_fail(CLI_USAGE, "--batch needs 1,8,64 or 1..64*2 or NAME=1,8,64, not '%s'", text);
    if (eq)
        c->dimension = cli_xstrndup(text, (size_t)(eq - text));
    return 0;
}

static int rank_devices(struct ranking *c)
{
    const struct cli_opts *o = c->o;
    struct oc_err err;
    if (o->profile.n || o->optimized_model)
        return cli_fail(CLI_USAGE,
                        "recorded kernels are of one device and one batch: give one --hw, without --batch");
    c->side.model_path = o->word.item[0];
    int rc = collect_devices(o, true, &c->devices);
    rc = rc ? rc : take_batches(c);
    rc = rc ? rc : cli_load_calibration(o, &c->calibration);
    rc = rc ? rc : cli_side_read(o, &c->side);
    if (rc)
        return rc;
    struct oc_analyze_opts analyze = cli_analyze_opts(o, &c->side.shapes);
    const struct oc_rank_opts opts = {.analyze = &analyze,
                                      .device = c->devices.item,
                                      .n_device = c->devices.n,
                                      .batch_dim = c->dimension,
                                      .batch = c->batches.v,
                                      .n_batch = c->batches.n,
                                      .sort = o->sort,
                                      .as = o->as,
                                      .fusion = fusion_of(o),
                                      .simd = o->simd,
                                      .calibration = c->calibration};
    return oc_rank_make(c->side.model, &opts, &c->rank, &err) ? cli_fail_err(&err) : 0;
}

static int put_rank(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct ranking *c = job;
    const struct cli_opts *o = c->o;
    const struct oc_rank_write_opts opts = {.format = o->format,
                                            .width_chars = cli_width(out, &o->width),
                                            .color = cli_color(out, o->color),
                                            .top = rows_of_top(o),
                                            .made = c->made};
    return oc_rank_write(c->rank, &opts, out->f, err);
}

static int estimate_several(const struct cli_opts *o)
{
    struct ranking c = {.o = o, .made = cli_page_made(o)};
    int rc = rank_devices(&c);
    if (!rc)
        rc = cli_output_write(o->output, put_rank, &c);
    oc_rank_free(c.rank);
    oc_calibration_free(c.calibration);
    devices_free(&c.devices);
    free(c.batches.v);
    free(c.dimension);
    free(c.made);
    cli_side_close(&c.side);
    return rc;
}

int cmd_estimate(const struct cli_opts *o)
{
    static int (*const steps[])(struct estimate_job *) = {open_estimate_side, make_estimate, write_estimate};
    struct estimate_job j = {.o = o};
    int rc = check_estimate_options(o);
    if (rc || is_ranking(o))
        return rc ? rc : estimate_several(o);
    j.made = cli_page_made(o);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_estimate_free(j.estimate);
    free(j.made);
    cli_side_close(&j.side);
    oc_calibration_free(j.cal);
    return rc;
}

/* ---- llm -------------------------------------------------------------------------------------------- */

enum { MAX_DEVICES = 64 };

struct llm_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_model *draft;
    struct device_list devices;
    struct oc_calibration *calibration;
    struct oc_llm *llm;
    char *made; /* NULL: no page */
};

static int find_llm_devices(struct llm_job *v)
{
    int rc = collect_devices(v->o, false, &v->devices);
    if (!rc && v->devices.n > MAX_DEVICES)
        rc = cli_fail(CLI_USAGE, "--hw: more than %d devices", MAX_DEVICES);
    return rc;
}

/* Of --batch, which has other forms elsewhere. */
static int take_llm_batch(const struct llm_job *v, int64_t *batch)
{
    const char *text = v->o->batch;
    char *end;
    *batch = 1;
    if (!text)
        return 0;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    *batch = n;
    if (end == text || *end || errno)
        return cli_fail(CLI_USAGE, "--batch needs an integer, not '%s'", text);
    return n < 1 ? cli_fail(CLI_USAGE, "--batch needs a number of at least 1, not %lld", n) : 0;
}

/* "180", tokens per second. */
static int take_rate(const char *option, const char *text, double *out)
{
    char *end;
    *out = 0;
    if (!text)
        return 0;
    *out = strtod(text, &end);
    return end == text || *end || !(*out > 0) || !isfinite(*out)
               ? cli_fail(CLI_USAGE, "%s needs tokens per second such as 180, not '%s'", option, text)
               : 0;
}

static int llm_make(struct llm_job *v)
{
    struct oc_err err;
    int64_t batch;
    double measured, reach;
    if (v->o->word.n != 1)
        return cli_fail(CLI_USAGE, "'llm' needs one model: onnxcost llm MODEL");
    if ((v->o->link || v->o->draft) && !v->o->parallel)
        return cli_fail(CLI_USAGE, "--link and --draft need --parallel N");
    if (v->o->parallel && !v->o->hw.n)
        return cli_fail(CLI_USAGE, "--parallel needs devices: give them with --hw NAME");
    if ((v->o->draft != NULL) != (v->o->acceptance != NULL))
        return cli_fail(CLI_USAGE, "--draft and --acceptance go together");
    if (!v->o->hw.n && (v->o->as || v->o->calibration || v->o->cache || v->o->measured || v->o->reach))
        return cli_fail(
            CLI_USAGE,
            "--as, --cache, --calibration, --measured and --reach need a device: name it with --hw");
    v->side.model_path = v->o->word.item[0];
    int rc = find_llm_devices(v);
    rc = rc ? rc : take_llm_batch(v, &batch);
    rc = rc ? rc : take_rate("--measured", v->o->measured, &measured);
    rc = rc ? rc : take_rate("--reach", v->o->reach, &reach);
    rc = rc ? rc : cli_side_read(v->o, &v->side);
    rc = rc || !v->o->draft ? rc : cli_load_model(v->o->draft, v->o, &v->draft);
    rc = rc ? rc : cli_load_calibration(v->o, &v->calibration);
    if (rc)
        return rc;
    struct oc_analyze_opts analyze = cli_analyze_opts(v->o, &v->side.shapes);
    struct oc_llm_opts opts = {.analyze = &analyze,
                               .batch = batch,
                               .prompt = v->o->prompt.v,
                               .generate = v->o->generate.v,
                               .device = v->devices.item,
                               .n_device = v->devices.n,
                               .width_chars = cli_width_of(v->o),
                               .parallel = v->o->parallel,
                               .link = v->o->link,
                               .draft = v->draft,
                               .acceptance = v->o->acceptance,
                               .draft_tokens = v->o->draft_tokens.v,
                               .as = v->o->as,
                               .cache = !cli_is(v->o->cache, "off"),
                               .calibration = v->calibration,
                               .made = v->made,
                               .measured = measured,
                               .reach = reach};
    return oc_llm_make(v->side.model, &opts, &v->llm, &err) ? cli_fail_err(&err) : 0;
}

static int put_llm(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct llm_job *v = job;
    return oc_llm_write(v->llm, v->o->format, out->f, err);
}

int cmd_llm(const struct cli_opts *o)
{
    struct llm_job v = {.o = o, .made = cli_page_made(o)};
    int rc = llm_make(&v);
    if (!rc)
        rc = cli_output_write(o->output, put_llm, &v);
    oc_llm_free(v.llm);
    free(v.made);
    cli_side_close(&v.side);
    oc_model_free(v.draft);
    oc_calibration_free(v.calibration);
    devices_free(&v.devices);
    return rc;
}
