#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/side.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "cli/arguments.h"

enum { TOP = 20 };

struct job {
    const struct cli_opts *o;
    struct oc_hwdb *hwdb;
    const struct oc_device *device;
    struct oc_calibration *cal;
    struct oc_model *model, *optimized;
    struct oc_profile *profile;
    struct oc_shape_bind *profile_shape;
    size_t n_profile_shape;
    struct oc_control_bind *control;
    struct cli_shapes shapes;
    struct oc_analysis *analysis;
    struct oc_join *join;
    struct oc_estimate *estimate;
};

static int check_options(struct job *j)
{
    const struct cli_opts *o = j->o;
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "estimate needs one model: onnxcost estimate MODEL --hw NAME");
    if (!o->hw.n)
        return cli_fail(CLI_USAGE, "estimate needs the device: --hw NAME");
    if (o->profile.n > 1)
        return cli_fail(CLI_USAGE, "estimate takes one profile");
    if (o->optimized_model && !o->profile.n && o->fusion && strcmp(o->fusion, "none") != 0)
        return cli_fail(CLI_USAGE, "the optimized model has its kernels: there is nothing to fuse");
    if (o->default_dim.set && o->default_dim.v < 1)
        return cli_fail(CLI_USAGE, "--default-dim needs a number of at least 1, not %lld",
                        (long long)o->default_dim.v);
    return cli_find_device(o, cli_hw(o), &j->hwdb, &j->device);
}

/* The runtime's own model, without a profile, is the model: its nodes are the kernels. */
static const char *model_path(const struct cli_opts *o)
{
    return o->optimized_model && !o->profile.n ? o->optimized_model : o->word.item[0];
}

static int read_files(struct job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    const struct oc_profile_opts opts = {.format = o->profile_format,
                                         .warmup = o->warmup.set ? (int32_t)o->warmup.v : -1,
                                         .iterations = (uint32_t)o->iterations.v,
                                         .by_node = true,
                                         .caps = &o->caps};
    if (cli_check_runs(o))
        return CLI_USAGE;
    if (o->calibration && oc_calibration_load(o->calibration, &j->cal, &err))
        return cli_fail_err(&err);
    int rc = cli_load_model(model_path(o), o, &j->model);
    if (!rc && o->profile.n && o->optimized_model)
        rc = cli_load_model(o->optimized_model, o, &j->optimized);
    if (!rc && o->profile.n && oc_profile_open(o->profile.item[0], &opts, &j->profile, &err))
        rc = cli_fail_err(&err);
    return rc;
}

static int analyze(struct job *j)
{
    struct oc_err err;
    if (j->profile)
        j->n_profile_shape = oc_profile_input_shapes(j->model, j->profile, &j->profile_shape);
    int rc = cli_shapes_parse(j->o, j->profile_shape, j->n_profile_shape, &j->shapes);
    if (rc)
        return rc;
    struct oc_analyze_opts opts = cli_analyze_opts(j->o, &j->shapes);
    if (j->profile)
        opts.n_control = oc_profile_control(j->model, j->profile, &j->control);
    opts.control = j->control;
    if (oc_analyze(j->model, &opts, &j->analysis, &err))
        return cli_fail_err(&err);
    if (j->profile && oc_join_make(j->model, j->analysis, j->profile, j->optimized, &j->join, &err))
        return cli_fail_err(&err);
    if (j->join && oc_join_sizes(j->analysis, &opts, j->optimized, j->join, &err))
        return cli_fail_err(&err);
    return j->join ? cli_check_pair(j->o, &(struct oc_report_in){.model = j->model,
                                                                 .analysis = j->analysis,
                                                                 .profile = j->profile,
                                                                 .join = j->join})
                   : 0;
}

static int make(struct job *j)
{
    struct oc_err err;
    bool own_kernels = j->o->optimized_model && !j->profile;
    const struct oc_estimate_opts opts = {.calibration = j->cal,
                                          .join = j->join,
                                          .fusion = own_kernels ? "none" : j->o->fusion,
                                          .width_chars = cli_width_of(j->o)};
    return oc_estimate_make(j->analysis, j->device, &opts, &j->estimate, &err) ? cli_fail_err(&err) : 0;
}

static int write_estimate(struct job *j)
{
    const struct cli_opts *o = j->o;
    const char *format = o->format && !strcmp(o->format, "compact") ? "table" : o->format;
    size_t top = !o->top.set ? TOP : o->top.v > 0 ? (size_t)o->top.v : 0;
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    int failed = oc_estimate_write(j->estimate, format, top, out.f, &err) ? cli_fail_err(&err) : 0;
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc;
}

int cmd_estimate(const struct cli_opts *o)
{
    static int (*const steps[])(struct job *) = {check_options, read_files, analyze, make, write_estimate};
    struct job j = {.o = o};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_estimate_free(j.estimate);
    oc_join_free(j.join);
    cli_shapes_free(&j.shapes);
    oc_profile_input_shapes_free(j.profile_shape, j.n_profile_shape);
    free(j.control);
    oc_analysis_free(j.analysis);
    oc_profile_close(j.profile);
    oc_model_free(j.optimized);
    oc_model_free(j.model);
    oc_calibration_free(j.cal);
    oc_hwdb_free(j.hwdb);
    return rc;
}
