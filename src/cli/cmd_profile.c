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
    struct cli_side side;
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
    j->side.model_path = o->word.item[0];
    int rc = take_count("runs", &o->runs, 1, 0, &j->runs);
    rc = rc ? rc : take_count("warmup", &o->warmup, 0, 1, &j->warmup);
    return rc ? rc : take_count("threads", &o->threads, 1, 0, &j->threads);
}

static int open_recorded(struct record_job *j)
{
    return cli_side_open(j->o, &j->side);
}

static void on_progress(void *arg, const char *what)
{
    const struct record_job *j = arg;
    char text[160];
    snprintf(text, sizeof(text), "%s:", what);
    cli_progress_say(j->side.progress, text, j->side.model_path);
}

static void stop_recording(int signal_number)
{
    stopped = signal_number;
}

static int run_record(struct record_job *j)
{
    struct oc_err err;
    const struct cli_opts *o = j->o;
    struct oc_record_opts opts = {
        .library = o->ort_lib,
        .output = o->output,
        .level = o->opt_level,
        .value = j->side.shapes.value,
        .n_value = j->side.shapes.n_value,
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
        .keeps = cli_is_input,
    };
    cli_fault_handle(stop_recording, 0); /* without SA_RESTART: waiting ends */
    int rc = oc_record(j->side.model, j->side.analysis, &opts, &j->recording, &err);
    cli_fault_handle(SIG_DFL, 0);
    if (rc && stopped)
        raise(stopped);
    return rc ? cli_fail_err(&err) : 0;
}

/* Prints the command for the table. Readers drop one run at the start by default. */
static void print_hint(const struct record_job *j, FILE *f)
{
    struct oc_record_info info = *oc_recording_info(j->recording);
    char text[3 * 4096 + 64]; /* paths */
    snprintf(text, sizeof(text), "%s -p %s --optimized-model %s", j->side.model_path, info.profile,
             info.optimized);
    fprintf(f, "table       onnxcost %s", oc_make_visible(text));
    if (j->warmup != 1)
        fprintf(f, " --warmup %u", j->warmup);
    fputc('\n', f);
}

static int put_recorded(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct record_job *j = job;
    (void)err;
    oc_recording_write(j->recording, out->f);
    if (j->o->report)
        fputc('\n', out->f);
    else
        print_hint(j, out->f);
    return 0;
}

/* Prints the summary on standard output, above a table but not inside of other formats. */
static int print_recorded(struct record_job *j)
{
    const char *format = j->o->format;
    if (!j->o->report || !format || !strcmp(format, "table"))
        return cli_output_write(NULL, put_recorded, j);
    oc_recording_write(j->recording, stderr);
    return 0;
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
    static int (*const steps[])(struct record_job *) = {check_record_options, open_recorded, run_record};
    struct record_job j = {.o = o, .side.progress = cli_progress_start()};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    cli_progress_stop(j.side.progress);
    rc = rc ? rc : print_recorded(&j);
    rc = rc || !o->report ? rc : report_recorded(&j);
    oc_recording_free(j.recording);
    cli_side_close(&j.side);
    return rc;
}

/* ---- summary ---------------------------------------------------------------------------------------- */

struct summary_job {
    const struct cli_opts *o;
    struct cli_profiles profiles;
    char *made; /* NULL: no page */
};

/* Unlike reports on a model, all runs count unless --warmup says otherwise: that is how the profilers whose
 * tables these are count. */
static int read_profiles(struct summary_job *j)
{
    const struct cli_list *path = &j->o->word;
    const struct oc_profile_opts own = {.warmup = cli_warmup(j->o, OC_WARMUP_NONE), .keep_events = true};
    if (!path->n)
        return cli_fail(CLI_USAGE, "'summary' needs a profile: onnxcost summary PROFILE...");
    struct cli_progress *progress = cli_progress_start();
    cli_progress_say(progress, "reading", path->item[0]);
    int rc = cli_profiles_open(j->o, path->item, path->n, own, &j->profiles);
    cli_progress_stop(progress);
    return rc;
}

static void summary_print_warnings(const struct oc_profile *p)
{
    const struct oc_diag *d;
    size_t n = oc_profile_diags(p, &d);
    for (size_t i = 0; i < n; i++)
        if (d[i].severity != OC_INFO)
            cli_warn_diag(&d[i], false);
}

static int put_summary(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct summary_job *j = job;
    const struct cli_opts *o = j->o;
    const struct oc_summary_opts opts = {.format = o->format,
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
                                         .width_chars = cli_width(out, &o->width),
                                         .kernel_names = j->profiles.kernel_names,
                                         .made = j->made};
    return oc_summary_write((const struct oc_profile *const *)j->profiles.item, j->profiles.n, &opts, out->f,
                            err);
}

int cmd_summary(const struct cli_opts *o)
{
    struct summary_job j = {.o = o, .made = cli_page_made(o)};
    int rc = read_profiles(&j);
    rc = rc ? rc : cli_output_write(o->output, put_summary, &j);
    for (size_t i = 0; i < j.profiles.n && !rc; i++)
        summary_print_warnings(j.profiles.item[i]);
    cli_profiles_close(&j.profiles);
    free(j.made);
    return rc;
}
