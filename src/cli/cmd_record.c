/* record: runs a model on ONNX Runtime and writes its profile, or those of several runtimes, settings or models in
 * turns, for a comparison. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/cost.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/record.h"
#include "onnxcost/report.h"
#include "onnxcost/trial.h"

struct record_opts {
    struct cost_opts cost; /* first: the options of the report */
    bool report;
};

#define AT(field) offsetof(struct record_opts, field)
static const struct cli_option own_options[] = {
    {"report", 0, CLI_FLAG, AT(report), .help = "print the table of the recording; table options apply",
     .group = "Recordings", .before = "runs"},
};

/* Set by the first SIGINT or SIGTERM, so that no partial recording remains. */
static volatile int stopped;

enum {
    MOST_VARIANTS = 26, /* named by letters */
    MOST_REPEATS = 100,
    USUAL_REPEATS = 5,
    LEAST_REPEATS_OF_TRIALS = 3, /* fewer carry no verdict where a process was disturbed */
    LEAST_RUNS = 12,             /* a comparison leaves out two and needs ten */
};

struct record_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_recording *recording;
    uint32_t warmup;
    char tag[32]; /* of the files; "": none */
    bool no_optimized;
    double fastest_probe_ns; /* see oc_record_opts */
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
        return cli_fail(CLI_USAGE, "record needs a model");
    if (o->profile.n || o->optimized_model)
        return cli_fail(CLI_USAGE,
                        "record makes the profile itself: --profile and --optimized-model are not for it");
    j->side.model_path = o->word.item[0];
    return take_count("warmup", &o->warmup, 0, 1, &j->warmup);
}

static int open_recorded(struct record_job *j)
{
    return cli_side_open(j->o, &j->side);
}

static void on_progress(void *arg, const char *what)
{
    const struct cli_side *side = arg;
    char text[256];
    snprintf(text, sizeof(text), "%s%s%s:", side->part, side->part[0] ? ": " : "", what);
    cli_progress_say(side->progress, text, side->model_path);
}

static void stop_recording(int signal_number)
{
    stopped = signal_number;
}

int cli_record_options(const struct cli_opts *o, struct cli_side *side, struct oc_record_opts *out)
{
    uint32_t runs, warmup, threads;
    int rc = take_count("runs", &o->runs, 1, 0, &runs);
    rc = rc ? rc : take_count("warmup", &o->warmup, 0, 1, &warmup);
    rc = rc ? rc : take_count("threads", &o->threads, 1, 0, &threads);
    if (rc)
        return rc;
    *out = (struct oc_record_opts){
        .size = sizeof(*out),
        .library = o->ort_lib,
        .level = o->opt_level,
        .provider = o->provider,
        .value = side->shapes.value,
        .n_value = side->shapes.n_value,
        .threads = threads,
        .runs = runs,
        .time_budget = o->time_budget,
        .warmup = warmup,
        .seed = o->seed.set ? (uint64_t)o->seed.v : 1,
        .session_config = o->session_config.item,
        .n_session_config = o->session_config.n,
        .progress = on_progress,
        .progress_arg = side,
        .stop = &stopped,
        .keeps = cli_is_input,
    };
    return 0;
}

int cli_record_rounds(const struct cli_opts *o, uint32_t *out)
{
    int rc = take_count("repeat", &o->repeat, LEAST_REPEATS_OF_TRIALS, 0, out);
    return !rc && *out > MOST_REPEATS ? cli_fail(CLI_USAGE, "--repeat: at most %d processes", MOST_REPEATS)
                                      : rc;
}

void cli_record_begin(struct cli_side *side)
{
    side->progress = cli_progress_start();
    cli_fault_handle(stop_recording, 0); /* without SA_RESTART: waiting ends */
}

int cli_record_end(struct cli_side *side, int rc, const struct oc_err *err)
{
    cli_fault_handle(SIG_DFL, 0);
    cli_progress_stop(side->progress);
    side->progress = NULL;
    if (rc && stopped)
        raise(stopped);
    return rc ? cli_fail_err(err) : 0;
}

static int take_record_options(struct record_job *j, struct oc_record_opts *opts)
{
    int rc = cli_record_options(j->o, &j->side, opts);
    opts->output = j->o->output;
    opts->tag = *j->tag ? j->tag : NULL;
    opts->no_optimized = j->no_optimized;
    opts->fastest_probe_ns = j->fastest_probe_ns;
    return rc;
}

static int make_recording(struct record_job *j)
{
    struct oc_err err;
    struct oc_record_opts opts;
    int rc = take_record_options(j, &opts);
    if (rc)
        return rc;
    cli_record_begin(&j->side);
    rc = oc_record(j->side.model, j->side.analysis, &opts, &j->recording, &err);
    return cli_record_end(&j->side, rc, &err);
}

/* Prints the command for the table. Readers drop one run at the start by default. */
static void print_hint(const struct record_job *j, FILE *f)
{
    struct oc_record_info info = *oc_recording_info(j->recording);
    char text[3 * 4096 + 64]; /* paths */
    snprintf(text, sizeof(text), "%s -p %s%s%s", j->side.model_path, info.profile,
             info.optimized ? " --optimized-model " : "", info.optimized ? info.optimized : "");
    fprintf(f, "table       onnxcost %s", oc_make_visible(text));
    if (j->warmup != 1)
        fprintf(f, " --warmup %u", j->warmup);
    fputc('\n', f);
}

static int put_recorded(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct record_job *j = job;
    const struct record_opts *own = j->o->own;
    (void)err;
    oc_recording_write(j->recording, out->f);
    if (own->report)
        fputc('\n', out->f);
    else
        print_hint(j, out->f);
    return 0;
}

/* Prints the summary on standard output, above a table but not inside of other formats. */
static int print_recorded(struct record_job *j)
{
    const struct record_opts *own = j->o->own;
    const char *format = j->o->format;
    if (!own->report || !format || !strcmp(format, "table") || !strcmp(format, "compact"))
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
    return cmd_cost.run(&o);
}

static int record_once(const struct cli_opts *o)
{
    const struct record_opts *own = o->own;
    static int (*const steps[])(struct record_job *) = {check_record_options, open_recorded, make_recording};
    struct record_job j = {.o = o};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    rc = rc ? rc : print_recorded(&j);
    rc = rc || !own->report ? rc : report_recorded(&j);
    oc_recording_free(j.recording);
    cli_side_close(&j.side);
    return rc;
}

/* ---- several recordings ------------------------------------------------------------------------------ */

/* One of the things that are compared: the command line with one value of every option that has several. */
struct variant {
    struct cli_opts o;
    struct record_job job;
    char *profiles; /* heap: the files, separated by commas */
    char *optimized;
};

/* Options of which each variant may have its own value. */
enum { LIBRARY, LEVEL, THREADS, PROVIDER, N_VARIED };
static const char *const varied[N_VARIED] = {"ort-lib", "opt-level", "threads", "provider"};

struct variants {
    const struct cli_opts *o;
    struct cli_list value[N_VARIED]; /* all that are given */
    struct variant *item;            /* heap */
    size_t n;
    double fastest_probe_ns; /* see oc_record_opts */
    uint32_t repeat, again;  /* recordings of each; those that were repeated */
};

static bool same_key(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && !strncmp(a, b, n);
}

/* How many of the first `end` entries have the key of this one. */
static size_t entries_like(const struct cli_list *l, const char *entry, size_t end)
{
    size_t n = 0;
    for (size_t k = 0; k < end; k++)
        n += same_key(l->item[k], entry);
    return n;
}

/* How many values the model, an option of `varied`, or the key of a session entry has. */
static size_t n_values(const struct variants *v, size_t i)
{
    const struct cli_list *config = &v->o->session_config;
    if (i < N_VARIED)
        return v->value[i].n;
    return i == N_VARIED ? v->o->word.n : entries_like(config, config->item[i - N_VARIED - 1], config->n);
}

/* Each has one value, or as many as there are variants. */
static int count_variants(struct variants *v)
{
    size_t n = N_VARIED + 1 + v->o->session_config.n;
    v->n = 1;
    for (size_t i = 0; i < n; i++)
        v->n = n_values(v, i) > v->n ? n_values(v, i) : v->n;
    for (size_t i = 0; i < n; i++)
        if (n_values(v, i) > 1 && n_values(v, i) != v->n)
            return cli_fail(CLI_USAGE, "%zu values of %s%s and %zu of another option: give one, or as many",
                            n_values(v, i), i == N_VARIED ? "the model" : "--",
                            i < N_VARIED   ? varied[i]
                            : i > N_VARIED ? "session-config"
                                           : "",
                            v->n);
    return 0;
}

static const char *value_for(const struct cli_list *l, size_t i)
{
    return l->n ? l->item[l->n > 1 ? i : 0] : NULL;
}

/* Entries of one key differ between the variants; others belong to all. */
static void take_config(const struct variants *v, size_t at, struct cli_list *out)
{
    const struct cli_list *all = &v->o->session_config;
    *out = (struct cli_list){.item = cli_xcalloc(all->n + 1, sizeof(*out->item))};
    for (size_t i = 0; i < all->n; i++)
        if (entries_like(all, all->item[i], all->n) == 1 || entries_like(all, all->item[i], i) == at)
            out->item[out->n++] = all->item[i];
}

static int make_variants(struct variants *v)
{
    const struct cli_opts *o = v->o;
    int rc = 0;
    v->item = cli_xcalloc(v->n, sizeof(*v->item));
    for (size_t i = 0; i < v->n && !rc; i++) {
        struct variant *x = &v->item[i];
        x->o = *o;
        x->o.word = (struct cli_list){.item = &o->word.item[o->word.n > 1 ? i : 0], .n = o->word.n > 0};
        x->o.ort_lib = value_for(&v->value[LIBRARY], i);
        x->o.opt_level = value_for(&v->value[LEVEL], i);
        x->o.provider = value_for(&v->value[PROVIDER], i);
        x->o.threads.v = v->value[THREADS].n ? strtoll(value_for(&v->value[THREADS], i), NULL, 10) : 0;
        take_config(v, i, &x->o.session_config);
        x->job = (struct record_job){.o = &x->o};
        rc = check_record_options(&x->job);
        rc = rc ? rc : open_recorded(&x->job);
    }
    return rc;
}

static int check_variants(const struct variants *v)
{
    const struct cli_opts *o = v->o;
    const struct record_opts *own = o->own;
    if (v->n > MOST_VARIANTS)
        return cli_fail(CLI_USAGE, "at most %d variants are compared, not %zu", MOST_VARIANTS, v->n);
    if (o->runs.set && o->runs.v < LEAST_RUNS)
        return cli_fail(CLI_USAGE, "recordings for a comparison need --runs %d or more, not %lld", LEAST_RUNS,
                        (long long)o->runs.v);
    if (v->n == 1 && own->report)
        return cli_fail(CLI_USAGE,
                        "--report of several recordings compares two models, libraries or settings");
    for (size_t i = 0; i < o->word.n; i++)
        if (strchr(o->word.item[i], ','))
            return cli_fail(CLI_USAGE, "'%s' has a comma, which separates recordings", o->word.item[i]);
    return o->output && strchr(o->output, ',')
               ? cli_fail(CLI_USAGE, "--output '%s' has a comma, which separates recordings", o->output)
               : 0;
}

static int put_line(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct record_job *j = job;
    (void)err;
    oc_recording_write_line(j->recording, j->tag + 1, out->f);
    if (!j->no_optimized) /* the first of its variant */
        oc_recording_write_providers(j->recording, "", out->f);
    return 0;
}

static void add_profile(struct variant *x, const char *path)
{
    size_t n = x->profiles ? strlen(x->profiles) : 0, cap = n + strlen(path) + 2;
    x->profiles = cli_xrealloc(x->profiles, cap);
    snprintf(x->profiles + n, cap - n, "%s%s", n ? "," : "", path);
}

static void begin_round(struct variants *v, uint32_t round)
{
    for (size_t i = 0; i < v->n; i++) {
        struct record_job *j = &v->item[i].job;
        snprintf(j->tag, sizeof(j->tag), "-%c%u", 'a' + (int)i, round + 1);
        j->no_optimized = round > 0;
        j->fastest_probe_ns = v->fastest_probe_ns;
    }
}

/* One recording of each variant, in turns, if there is memory for all of them; in reverse order in every other round. */
static int record_together(struct variants *v, uint32_t round, struct oc_recording **made)
{
    struct oc_record_opts opts[MOST_VARIANTS];
    struct oc_record_side side[MOST_VARIANTS];
    struct oc_err err;
    size_t failed;
    bool reversed = oc_trial_is_reversed(round);
    int rc = 0;
    for (size_t i = 0; i < v->n && !rc; i++) {
        struct record_job *j = &v->item[reversed ? v->n - 1 - i : i].job;
        rc = take_record_options(j, &opts[i]);
        opts[i].progress_arg = &v->item[0].job.side;
        side[i] = (struct oc_record_side){j->side.model, j->side.analysis, &opts[i]};
    }
    if (rc)
        return rc;
    cli_record_begin(&v->item[0].job.side);
    rc = oc_record_in_turns(side, v->n, made, &failed, &err);
    return cli_record_end(&v->item[0].job.side, rc, &err);
}

/* Whether the recording has to be made once more: other processes disturbed it while it ran alone. At most as many are as there are
 * of each variant. */
static bool is_to_repeat(const struct variants *v, const struct oc_record_info *info)
{
    return info->loaded && info->turns_id <= 0 && v->again < v->repeat;
}

/* Prints a recording and keeps its files, or makes it again. */
static int keep_recording(struct variants *v, struct variant *x, struct oc_recording *made)
{
    struct record_job *j = &x->job;
    int rc = 0;
    for (bool again = true; again && !rc;) {
        j->recording = made;
        rc = cli_output_write(NULL, put_line, j);
        const struct oc_record_info *info = oc_recording_info(made);
        v->fastest_probe_ns = info->fastest_probe_ns;
        again = !rc && is_to_repeat(v, info);
        v->again += again;
        if (!rc && !again)
            add_profile(x, info->profile);
        if (!rc && !again && info->optimized)
            x->optimized = cli_xstrndup(info->optimized, strlen(info->optimized));
        oc_recording_free(made);
        j->recording = NULL;
        if (again) {
            j->fastest_probe_ns = v->fastest_probe_ns;
            rc = make_recording(j);
            made = j->recording;
        }
    }
    return rc;
}

static int record_rounds(struct variants *v)
{
    int rc = 0;
    double from_s = oc_now_s();
    for (uint32_t round = 0; round < v->repeat && !rc; round++) {
        struct oc_recording *made[MOST_VARIANTS] = {0};
        struct cli_side *side = &v->item[0].job.side;
        oc_part_text(v->n > 1 ? "round" : "recording", round, v->repeat, from_s, side->part,
                     sizeof(side->part));
        begin_round(v, round);
        rc = record_together(v, round, made);
        for (size_t i = 0; i < v->n && made[i]; i++) {
            struct oc_recording *r = made[oc_trial_is_reversed(round) ? v->n - 1 - i : i];
            if (!rc)
                rc = keep_recording(v, &v->item[i], r);
            else
                oc_recording_free(r);
        }
    }
    return rc;
}

static void put_word(const char *before, const char *word, FILE *f)
{
    char *copy = cli_xstrndup(word, strlen(word));
    fprintf(f, "%s%s", before, oc_make_visible(copy));
    free(copy);
}

/* "A           --threads 1 -p a1.profile.json,a2.profile.json" */
static void put_variant(const struct variants *v, size_t at, FILE *f)
{
    const struct variant *x = &v->item[at];
    const struct cli_list *config = &x->o.session_config, *all = &v->o->session_config;
    fprintf(f, "%-11c", 'A' + (int)at);
    if (v->o->word.n > 1)
        put_word(" ", x->o.word.item[0], f);
    for (size_t i = 0; i < N_VARIED; i++)
        if (v->value[i].n > 1) {
            fprintf(f, " --%s", varied[i]);
            put_word(" ", value_for(&v->value[i], at), f);
        }
    for (size_t i = 0; i < config->n; i++)
        if (entries_like(all, config->item[i], all->n) > 1)
            put_word(" --session-config ", config->item[i], f);
    put_word(" -p ", x->profiles, f);
    fputc('\n', f);
}

static int put_repeated(const void *variants, const struct cli_output *out, struct oc_err *err)
{
    const struct variants *v = variants;
    (void)err;
    if (v->again)
        fprintf(out->f, "%-12s%u disturbed by load of other processes\n", "repeated", v->again);
    for (size_t i = 0; i < v->n; i++)
        put_variant(v, i, out->f);
    return 0;
}

/* Variant b against the first, as `diff` compares their files. */
static int compare_variants(const struct variants *v, size_t b)
{
    const struct variant *x = &v->item[0], *y = &v->item[b];
    const char *word[] = {x->o.word.item[0], y->o.word.item[0]}, *profile[] = {x->profiles, y->profiles};
    const struct record_opts *own = v->o->own;
    char label[8];
    struct cli_opts o = *v->o;
    o.word = (struct cli_list){.item = word, .n = v->o->word.n > 1 ? 2 : 1};
    o.profile = (struct cli_list){.item = profile, .n = 2};
    o.profile_format = "onnxruntime";
    o.warmup.set = false;
    o.output = NULL;
    snprintf(label, sizeof(label), "%c", 'A' + (int)b);
    return cli_diff_recordings(&o, x->optimized, y->optimized, own->report ? NULL : label);
}

static int record_several(struct variants *v)
{
    int rc = check_variants(v);
    rc = rc ? rc : take_count("repeat", &v->o->repeat, 1, USUAL_REPEATS, &v->repeat);
    if (!rc && v->repeat > MOST_REPEATS)
        rc = cli_fail(CLI_USAGE, "--repeat: at most %d recordings", MOST_REPEATS);
    rc = rc ? rc : make_variants(v);
    rc = rc ? rc : record_rounds(v);
    rc = rc ? rc : cli_output_write(NULL, put_repeated, v);
    for (size_t i = 1; i < v->n && !rc; i++)
        rc = compare_variants(v, i);
    for (size_t i = 0; i < v->n && v->item; i++) {
        oc_recording_free(v->item[i].job.recording);
        cli_side_close(&v->item[i].job.side);
        free(v->item[i].o.session_config.item);
        free(v->item[i].profiles);
        free(v->item[i].optimized);
    }
    free(v->item);
    return rc;
}

int cli_record_libraries(const struct cli_opts *given, const char *const *library, size_t n)
{
    struct record_opts own = {.report = true};
    struct cli_opts o = *given;
    o.own = &own;
    o.runs.set = o.repeat.set = false;
    struct variants v = {.o = &o};
    for (size_t i = 0; i < N_VARIED; i++)
        if (i != LIBRARY)
            cli_option_values(&o, varied[i], &v.value[i]);
    v.value[LIBRARY] = (struct cli_list){.item = cli_xcalloc(n, sizeof(*library)), .n = n};
    memcpy(v.value[LIBRARY].item, library, n * sizeof(*library));
    int rc = count_variants(&v);
    rc = rc ? rc : record_several(&v);
    for (size_t i = 0; i < N_VARIED; i++)
        free(v.value[i].item);
    return rc;
}

static int run_record(const struct cli_opts *o)
{
    struct variants v = {.o = o};
    for (size_t i = 0; i < N_VARIED; i++)
        cli_option_values(o, varied[i], &v.value[i]);
    int rc = count_variants(&v);
    rc = rc ? rc : v.n > 1 || o->repeat.set ? record_several(&v) : record_once(o);
    for (size_t i = 0; i < N_VARIED; i++)
        free(v.value[i].item);
    return rc;
}

const struct cli_command cmd_record = {
    .name = "record",
    .phrase = "run a model on ONNX Runtime and write its profile",
    .use = {{"onnxcost record MODEL... [--runs N] [--threads N]... [--repeat K] [--report]",
             "runs a model on ONNX Runtime and writes its profile"}},
    .run = run_record,
    .usual = "report dim shape value runs repeat threads provider opt-level ort-lib output",
    .sets = CLI_READS | CLI_RECORDS,
    .own = CLI_OWN(own_options, struct record_opts),
    .also = &cmd_cost,
    .formats = "table|csv|json|markdown|md|html|fragment|trace|model-explorer|netron",
    .example = {{"onnxcost record resnet50.onnx --report", "run the model and show where the time goes"},
                {"onnxcost record resnet50.onnx --threads 1 -o run", "one thread, files that begin with run"},
                {"onnxcost record bert.onnx -d sequence=128 --report", "inputs of this size"}},
};
