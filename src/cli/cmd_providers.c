#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "onnxcost/providers.h"

struct providers_job {
    const struct cli_opts *o;
    struct cli_side side;
    char *names; /* of --providers, separated by NULs */
    const char **name;
    size_t n;
    struct oc_providers *providers;
    struct oc_analysis *file; /* with the sizes of the model's file alone */
};

/* Without --providers: the lists that there are. */
static int write_lists(const struct cli_opts *o)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(
        &out, oc_providers_write_lists(o->format, cli_width(&out, &o->width), out.f, &err), &err);
}

/* "cuda,cpu" */
static void split_names(struct providers_job *j)
{
    size_t length = strlen(j->o->providers);
    j->names = cli_xcalloc(length + 1, 1);
    j->name = cli_xcalloc(length + 1, sizeof(*j->name));
    memcpy(j->names, j->o->providers, length);
    char *rest = NULL;
    for (char *word = strtok_r(j->names, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        j->name[j->n++] = word;
}

static int providers_open(struct providers_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (o->word.n != 1 || !o->providers)
        return cli_fail(CLI_USAGE, "'providers' needs a model and their order: onnxcost providers MODEL "
                                   "--providers cuda,cpu; alone, it lists them");
    split_names(j);
    if (!j->n)
        return cli_fail(CLI_USAGE, "--providers needs names: --providers cuda,cpu");
    if (oc_providers_open(j->name, j->n, &j->providers, &err))
        return cli_fail_err(&err);
    j->side.model_path = o->word.item[0];
    j->side.profile_path = o->profile.n ? o->profile.item[o->profile.n - 1] : NULL;
    j->side.optimized_path = o->optimized_model;
    j->side.hw = cli_hw(o);
    j->side.any_device = true;
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

static int write_assignment(struct providers_job *j)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    struct oc_providers_in in = {.providers = j->providers,
                                 .model = j->side.in.model,
                                 .analysis = j->side.in.analysis,
                                 .file = j->file,
                                 .profile = j->side.in.profile,
                                 .join = j->side.in.join,
                                 .device = j->side.in.device};
    return cli_output_finish(
        &out, oc_providers_write(&in, j->o->format, cli_width(&out, &j->o->width), out.f, &err), &err);
}

int cmd_providers(const struct cli_opts *o)
{
    struct providers_job j = {.o = o};
    if (!o->word.n && !o->providers)
        return write_lists(o);
    int rc = providers_open(&j);
    if (!rc)
        rc = analyze_file(&j);
    if (!rc)
        rc = write_assignment(&j);
    oc_analysis_free(j.file);
    cli_side_close(&j.side);
    oc_providers_free(j.providers);
    free(j.names);
    free(j.name);
    return rc;
}
