/* bisect: searches for the version of ONNX Runtime that made a model slower or faster, and records what it finds for a
 * comparison of the operators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/trial.h"

struct bisect_opts {
    const char *figure;
};

#define AT(field) offsetof(struct bisect_opts, field)
static const struct cli_option own_options[] = {
    {"figure", 0, CLI_CHOICE, AT(figure), "latency|session|first-run",
     .help = "what is compared: the latency, the creation of the session, or its first run",
     .otherwise = "latency", .group = "Recordings"},
};

struct bisect_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct cli_list library; /* heap */
    enum oc_trial_figure figure;
    struct oc_bisect *bisect;
};

static enum oc_trial_figure figure_of(const char *name)
{
    return cli_is(name, "session")     ? OC_TRIAL_SESSION
           : cli_is(name, "first-run") ? OC_TRIAL_FIRST_RUN
                                       : OC_TRIAL_LATENCY;
}

static int search(struct bisect_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    struct oc_record_opts record;
    struct oc_bisect_opts opts = {.size = sizeof(opts),
                                  .record = &record,
                                  .library = j->library.item,
                                  .n_library = j->library.n,
                                  .figure = j->figure,
                                  .all = o->all};
    int rc = cli_record_rounds(o, &opts.most);
    rc = rc ? rc : cli_record_options(o, &j->side, &record);
    if (rc)
        return rc;
    cli_record_begin(&j->side);
    rc = oc_bisect_make(j->side.model, j->side.analysis, &opts, &j->bisect, &err);
    return cli_record_end(&j->side, rc, &err);
}

static int put_bisect(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct bisect_job *j = job;
    return oc_bisect_write(j->bisect, j->o->format, cli_width(out, &j->o->width), out->f, err);
}

/* The operators of what was found: recordings of both versions, compared. Each further change has its own files, in a
 * folder below that of --output, or with a longer prefix. */
static int record_found(const struct bisect_job *j)
{
    const char *version[2], *given = j->o->output ? j->o->output : "";
    size_t n = strlen(given), cap = n + 32;
    char *output = cli_xcalloc(1, cap);
    int rc = 0;
    for (size_t i = 0; oc_bisect_found(j->bisect, i, &version[0], &version[1]) && !rc; i++) {
        struct cli_opts o = *j->o;
        bool in_folder = !n || given[n - 1] == '/';
        snprintf(output, cap, in_folder ? "%schange%zu/" : "%s-change%zu", given, i + 1);
        o.output = i ? output : j->o->output;
        rc = cli_record_libraries(&o, version, 2);
    }
    free(output);
    return rc;
}

static int run_bisect(const struct cli_opts *o)
{
    const struct bisect_opts *own = o->own;
    struct bisect_job j = {.o = o, .figure = figure_of(own->figure)};
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE,
                        "bisect needs a model: onnxcost bisect MODEL --ort-lib FILE --ort-lib FILE...");
    j.side.model_path = o->word.item[0];
    cli_option_values(o, "ort-lib", &j.library);
    int rc =
        j.library.n
            ? 0
            : cli_fail(CLI_USAGE,
                       "bisect needs versions of ONNX Runtime: --ort-lib several times, or a folder of them");
    rc = rc ? rc : cli_side_open(o, &j.side);
    rc = rc ? rc : search(&j);
    bool is_table = !o->format || cli_is(o->format, "table");
    rc = rc ? rc : cli_output_write(is_table ? NULL : o->output, put_bisect, &j);
    rc = rc || !is_table || j.figure != OC_TRIAL_LATENCY ? rc : record_found(&j);
    oc_bisect_free(j.bisect);
    cli_side_close(&j.side);
    free(j.library.item);
    return rc;
}

const struct cli_command cmd_bisect = {
    .name = "bisect",
    .phrase = "find the runtime version that changed the time",
    .use = {{"onnxcost bisect MODEL --ort-lib FOLDER | --ort-lib FILE --ort-lib FILE...",
             "which version of ONNX Runtime made a model slower or faster, and in which operators"}},
    .run = run_bisect,
    .usual = "ort-lib figure runs repeat time-budget threads provider dim shape value format output",
    .sets = CLI_SHAPED | CLI_RECORDS,
    .options = "all format",
    .own = CLI_OWN(own_options, struct bisect_opts),
    .example = {{"onnxcost bisect model.onnx --threads 1 --ort-lib versions/",
                 "which of the versions in a folder made it slower"},
                {"onnxcost bisect model.onnx --figure session --ort-lib versions/",
                 "since when loading takes longer"}},
};
