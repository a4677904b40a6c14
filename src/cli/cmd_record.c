#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/arguments.h"
#include "onnxcost/record.h"

/* Set by the first SIGINT or SIGTERM, so that no partial recording remains. */
static volatile int stopped;

struct job {
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

static int check_options(struct job *j)
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

static int load(struct job *j)
{
    cli_progress_say(j->progress, "loading", j->path);
    return cli_load_model(j->path, j->o, &j->model);
}

static int analyze(struct job *j)
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
    const struct job *j = arg;
    char text[160];
    snprintf(text, sizeof(text), "%s:", what);
    cli_progress_say(j->progress, text, j->path);
}

static void stop(int signal_number)
{
    stopped = signal_number;
}

static void on_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART: waiting ends */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int record(struct job *j)
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
    on_signals(stop);
    int rc = oc_record(j->model, j->analysis, &opts, &j->recording, &err);
    on_signals(SIG_DFL);
    if (rc && stopped)
        raise(stopped);
    return rc ? cli_fail_err(&err) : 0;
}

/* Prints the command for the table. Readers drop one run at the start by default. */
static void print_hint(const struct job *j, FILE *f)
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
static int print_summary(struct job *j)
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
static int report(const struct job *j)
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
    static int (*const steps[])(struct job *) = {check_options, load, analyze, record};
    struct job j = {.o = o, .progress = cli_progress_start()};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    cli_progress_stop(j.progress);
    rc = rc ? rc : print_summary(&j);
    rc = rc || !o->report ? rc : report(&j);
    oc_recording_free(j.recording);
    oc_analysis_free(j.analysis);
    cli_shapes_free(&j.shapes);
    oc_model_free(j.model);
    return rc;
}
