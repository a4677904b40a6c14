/* providers: which execution provider takes which node of a model. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/providers.h"

struct providers_opts {
    const char *provider;
};

#define AT(field) offsetof(struct providers_opts, field)
static const struct cli_option own_options[] = {
    {"provider", 0, CLI_TEXT, AT(provider), "NAME+NAME...",
     .help = "execution providers in order of priority: ids of the command providers, names of ONNX Runtime, "
             "or files",
     .group = "Input", .before = "op-rules"},
};

struct providers_job {
    const struct cli_opts *o;
    const struct providers_opts *own;
    struct cli_side side;
    char *names; /* of --provider, separated by NULs */
    const char **name;
    size_t n;
    struct oc_providers *providers;
    struct oc_analysis *file; /* with the sizes of the model's file alone */
};

/* Without --provider: the lists that there are. */
static int put_provider_lists(const void *opts, const struct cli_output *out, struct oc_err *err)
{
    const struct cli_opts *o = opts;
    return oc_providers_write_lists(o->format, cli_width(out, &o->width), out->f, err);
}

/* "cuda+cpu", also with commas */
static void split_providers(struct providers_job *j)
{
    size_t length = strlen(j->own->provider);
    j->names = cli_xcalloc(length + 1, 1);
    j->name = cli_xcalloc(length + 1, sizeof(*j->name));
    memcpy(j->names, j->own->provider, length);
    char *rest = NULL;
    for (char *word = strtok_r(j->names, "+,", &rest); word; word = strtok_r(NULL, "+,", &rest))
        j->name[j->n++] = word;
}

static int providers_open(struct providers_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (o->word.n != 1 || !j->own->provider)
        return cli_fail(CLI_USAGE, "'providers' needs a model and their order: onnxcost providers MODEL "
                                   "--provider cuda+cpu; alone, it lists them");
    split_providers(j);
    if (!j->n)
        return cli_fail(CLI_USAGE, "--provider needs names: --provider cuda+cpu");
    if (oc_providers_open(j->name, j->n, &j->providers, &err))
        return cli_fail_err(&err);
    cli_side_of(o, &j->side);
    return cli_side_open(o, &j->side);
}

/* A runtime folds what is constant in the file, whatever sizes the options give. */
static int analyze_file(struct providers_job *j)
{
    struct oc_err err;
    struct oc_analyze_opts opts = j->side.opts;
    opts.n_bind = opts.n_shape = opts.n_value = opts.n_trip = opts.n_control = 0;
    opts.default_dim = 0;
    opts.no_defaults = true;
    opts.no_fold = false;
    return oc_analyze(j->side.in.model, &opts, &j->file, &err) ? cli_fail_err(&err) : 0;
}

static int put_assignment(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct providers_job *j = job;
    struct oc_providers_in in = {.providers = j->providers,
                                 .model = j->side.in.model,
                                 .analysis = j->side.in.analysis,
                                 .file = j->file,
                                 .profile = j->side.in.profile,
                                 .join = j->side.in.join,
                                 .device = j->side.in.device};
    return oc_providers_write(&in, j->o->format, cli_width(out, &j->o->width), out->f, err);
}

static int run_providers(const struct cli_opts *o)
{
    const struct providers_opts *own = o->own;
    struct providers_job j = {.o = o, .own = o->own};
    if (!o->word.n && !own->provider)
        return cli_output_write(o->output, put_provider_lists, o);
    int rc = providers_open(&j);
    if (!rc)
        rc = analyze_file(&j);
    if (!rc)
        rc = cli_output_write(o->output, put_assignment, &j);
    oc_analysis_free(j.file);
    cli_side_close(&j.side);
    oc_providers_free(j.providers);
    free(j.names);
    free(j.name);
    return rc;
}

const struct cli_command cmd_providers = {
    .name = "providers",
    .phrase = "what falls back on CUDA, TensorRT, QNN, CoreML, WebNN",
    .use =
        {{"onnxcost providers [MODEL --provider NAME+NAME]",
          "which execution provider takes which node by its published operator list, and what falls back"}},
    .run = run_providers,
    .usual = "provider hw dim shape profile optimized-model format output",
    .sets = CLI_MODEL,
    .options = "profile profile-format optimized-model hw",
    .own = CLI_OWN(own_options, struct providers_opts),
    .example = {{"onnxcost providers", "the lists, with their versions and sources"},
                {"onnxcost providers bert.onnx --provider cuda+cpu", "what falls back from CUDA, and why"},
                {"onnxcost providers resnet50.onnx --provider tensorrt+cuda+cpu -f csv", "a row per node"}},
    .tool =
        {{"providers", "What an execution provider (cuda, tensorrt, qnn, coreml ...) does not take, and why.",
          "model!", "provider! dim", .more = "hw profile" CLI_TOOL_SHAPES,
          .brief =
              "nodes_that_run if_conditions_hold=if_conditions_hold.providers:provider,nodes,partitions,"
              "macs_fraction if_no_condition_holds=if_no_condition_holds.providers:provider,nodes,partitions,"
              "macs_fraction fallbacks:type,nodes,from,provider_otherwise,reason",
          .place = 11}},
};
