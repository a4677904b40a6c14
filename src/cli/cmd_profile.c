/* Commands for profiles: record makes one, summary says where the time goes. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/record.h"
#include "onnxcost/report.h"

/* ---- record ----------------------------------------------------------------------------------------- */

/* Set by the first SIGINT or SIGTERM, so that no partial recording remains. */
static volatile int stopped;

struct record_job {
    const struct cli_opts *o;
    const char *path;
    struct cli_progress *progress;
    struct cli_shapes shapes;
    struct oc_model *model;
    struct oc_analysis *analysis;
    struct oc_recording *recording;
    uint32_t runs, warmup, threads;
};

/* A number from `least` to `most`, or `otherwise` when it is not given. */
static int take_count(const char *name, const struct cli_int *given, int64_t least, uint32_t otherwise,
                      uint32_t *out)
{
    const int64_t most = 1000000;
    *out = given->set ? (uint32_t)given->v : otherwise;
    if (given->set && (given->v < least || given->v > most))
        return cli_fail(CLI_USAGE, "--%s needs a number from %lld to %lld, not %lld", name, (long long)least,
                        (long long)most, (long long)given->v);
    return 0;
}

static int check_record_options(struct record_job *j)
{
    const struct cli_opts *o = j->o;
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "record needs one model");
    if (o->profile.n || o->optimized_model)
        return cli_fail(CLI_USAGE,
                        "record makes the profile itself: --profile and --optimized-model are not for it");
    j->path = o->word.item[0];
    int rc = take_count("runs", &o->runs, 1, 0, &j->runs);
    rc = rc ? rc : take_count("warmup", &o->warmup, 0, 1, &j->warmup);
    return rc ? rc : take_count("threads", &o->threads, 1, 0, &j->threads);
}

static int load_recorded(struct record_job *j)
{
    cli_progress_say(j->progress, "loading", j->path);
    return cli_load_model(j->path, j->o, &j->model);
}

static int analyze_recorded(struct record_job *j)
{
    struct oc_err err;
    int rc = cli_shapes_parse(j->o, NULL, 0, &j->shapes);
    if (rc)
        return rc;
    struct oc_analyze_opts opts = cli_analyze_opts(j->o, &j->shapes);
    cli_progress_say(j->progress, "analysing", j->path);
    return oc_analyze(j->model, &opts, &j->analysis, &err) ? cli_fail_err(&err) : 0;
}

static void on_progress(void *arg, const char *what)
{
    const struct record_job *j = arg;
    char text[160];
    snprintf(text, sizeof(text), "%s:", what);
    cli_progress_say(j->progress, text, j->path);
}

static void stop_recording(int signal_number)
{
    stopped = signal_number;
}

static void on_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART: waiting ends */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int run_record(struct record_job *j)
{
    struct oc_err err;
    const struct cli_opts *o = j->o;
    struct oc_record_opts opts = {
        .library = o->ort_lib,
        .output = o->output,
        .level = o->opt_level,
        .value = j->shapes.value,
        .n_value = j->shapes.n_value,
        .threads = j->threads,
        .runs = j->runs,
        .time_budget = o->time_budget,
        .warmup = j->warmup,
        .seed = o->seed.set ? (uint64_t)o->seed.v : 1,
        .session_config = o->session_config.item,
        .n_session_config = o->session_config.n,
        .progress = on_progress,
        .progress_arg = j,
        .stop = &stopped,
    };
    on_signals(stop_recording);
    int rc = oc_record(j->model, j->analysis, &opts, &j->recording, &err);
    on_signals(SIG_DFL);
    if (rc && stopped)
        raise(stopped);
    return rc ? cli_fail_err(&err) : 0;
}

/* Prints the command for the table. Readers drop one run at the start by default. */
static void print_hint(const struct record_job *j, FILE *f)
{
    struct oc_record_info info = *oc_recording_info(j->recording);
    char text[3 * 4096 + 64]; /* paths */
    snprintf(text, sizeof(text), "%s -p %s --optimized-model %s", j->path, info.profile, info.optimized);
    fprintf(f, "table       onnxcost %s", oc_make_visible(text));
    if (j->warmup != 1)
        fprintf(f, " --warmup %u", j->warmup);
    fputc('\n', f);
}

/* Prints the summary on standard output, above a table but not inside of other formats. */
static int print_recorded(struct record_job *j)
{
    const char *format = j->o->format;
    bool apart = j->o->report && format && strcmp(format, "table") && strcmp(format, "compact");
    struct cli_output out;
    if (apart) {
        oc_recording_write(j->recording, stderr);
        return 0;
    }
    int rc = cli_output_open(NULL, &out);
    if (rc)
        return rc;
    oc_recording_write(j->recording, out.f);
    if (j->o->report)
        fputc('\n', out.f);
    else
        print_hint(j, out.f);
    return cli_output_close(&out, true);
}

/* The report of any profile: the command line with the files that were made. */
static int report_recorded(const struct record_job *j)
{
    struct oc_record_info info = *oc_recording_info(j->recording);
    struct cli_opts o = *j->o;
    o.profile = (struct cli_list){.item = &info.profile, .n = 1, .cap = 1};
    o.profile_format = "onnxruntime";
    o.optimized_model = info.optimized;
    o.warmup = (struct cli_int){.set = true, .v = j->warmup};
    o.output = NULL;
    return cmd_cost(&o);
}

int cmd_record(const struct cli_opts *o)
{
    static int (*const steps[])(struct record_job *) = {check_record_options, load_recorded, analyze_recorded,
                                                        run_record};
    struct record_job j = {.o = o, .progress = cli_progress_start()};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    cli_progress_stop(j.progress);
    rc = rc ? rc : print_recorded(&j);
    rc = rc || !o->report ? rc : report_recorded(&j);
    oc_recording_free(j.recording);
    oc_analysis_free(j.analysis);
    cli_shapes_free(&j.shapes);
    oc_model_free(j.model);
    return rc;
}

/* ---- summary ---------------------------------------------------------------------------------------- */

/* Unlike reports on a model, all runs count unless --warmup says otherwise: that is how the profilers whose
 * tables these are count. */
static int read_profiles(const struct cli_opts *o, const struct oc_kernel_names *names,
                         struct oc_profile ***list, size_t *n)
{
    struct oc_err err;
    struct oc_profile_opts opts = {.format = o->profile_format,
                                   .warmup = cli_warmup(o, OC_WARMUP_NONE),
                                   .iterations = (uint32_t)o->iterations.v,
                                   .keep_events = true,
                                   .kernel_names = names,
                                   .map = o->map,
                                   .limits = &o->limits};
    if (!o->word.n)
        return cli_fail(CLI_USAGE, "'summary' needs a profile: onnxcost summary PROFILE...");
    if (o->profile_format && oc_profile_format_check(o->profile_format, &err))
        return cli_fail_err(&err);
    if (o->partial)
        opts.stop = cli_fault_stop_begin();
    struct cli_progress *progress = cli_progress_start();
    cli_progress_say(progress, "reading", o->word.item[0]);
    int rc = oc_profile_open_all(o->word.item, o->word.n, &opts, list, n, &err);
    cli_fault_stop_over();
    cli_progress_stop(progress);
    return rc ? cli_fail_err(&err) : 0;
}

static void summary_print_warnings(const struct oc_profile *p)
{
    const struct oc_diag *d;
    size_t n = oc_profile_diags(p, &d);
    for (size_t i = 0; i < n; i++)
        if (d[i].severity != OC_INFO)
            cli_warn_diag(&d[i], false);
}

static int write_summary(const struct cli_opts *o, const struct oc_kernel_names *names,
                         const struct oc_profile *const *list, size_t n)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    char *made = cli_page_made(o);
    struct oc_summary_opts opts = {.format = o->format,
                                   .view = o->view.item,
                                   .n_view = o->view.n,
                                   .sort = o->sort,
                                   .search = o->search,
                                   .time_unit = o->time_unit,
                                   .op_detail = o->op_detail,
                                   .per_thread = o->per_thread,
                                   .has_top = o->top.set,
                                   .top = o->top.v,
                                   .samples_per_step = (double)o->samples_per_step.v,
                                   .width_chars = cli_width(&out, &o->width),
                                   .kernel_names = names,
                                   .made = made};
    int failed = oc_summary_write(list, n, &opts, out.f, &err);
    free(made);
    return cli_output_finish(&out, failed, &err);
}

int cmd_summary(const struct cli_opts *o)
{
    struct oc_profile **list = NULL;
    size_t n = 0;
    struct oc_kernel_names *names = NULL;
    struct oc_err err;
    if (o->kernel_names && oc_kernel_names_load(o->kernel_names, &names, &err))
        return cli_fail_err(&err);
    int rc = read_profiles(o, names, &list, &n);
    if (!rc)
        rc = write_summary(o, names, (const struct oc_profile *const *)list, n);
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            summary_print_warnings(list[i]);
        oc_profile_close(list[i]);
    }
    free(list);
    oc_kernel_names_free(names);
    return rc;
}
