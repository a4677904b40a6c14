#include "cli/cmd_memory.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cmd_plan.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "cli/arguments.h"

enum { TOP = 10 };

struct memory_job {
    const struct cli_opts *o;
    struct oc_model *model;
    struct oc_profile *profile;
    struct oc_shape_bind *profile_shape;
    size_t n_profile_shape;
    struct oc_control_bind *control;
    struct cli_shapes shapes;
    struct oc_analyze_opts opts;
    struct oc_analysis *analysis;
    struct oc_hwdb *hwdb;
    const struct oc_device *device;
    struct oc_memory *memory;
    struct oc_memory_plan *plan; /* NULL: not requested */
};

int cli_check_memory(const struct cli_opts *o)
{
    if (o->fit && !o->hw.n)
        return cli_fail(CLI_USAGE, "--fit needs --hw NAME; onnxcost hw list shows the names");
    if (o->hw_set.n && !o->hw.n)
        return cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    if (o->align.set && o->align.v < 1)
        return cli_fail(CLI_USAGE, "--align needs a number of bytes of at least 1, not %lld",
                        (long long)o->align.v);
    if (o->default_dim.set && o->default_dim.v < 1)
        return cli_fail(CLI_USAGE, "--default-dim needs a number of at least 1, not %lld",
                        (long long)o->default_dim.v);
    return 0;
}

static int fit_result(const struct oc_memory *m)
{
    enum oc_fits fits = oc_memory_info(m).fits;
    return fits == OC_FITS_NO || fits == OC_FITS_UNKNOWN ? CLI_FINDINGS : CLI_OK;
}

int cli_write_fit(const struct oc_analysis *analysis, const struct oc_analyze_opts *opts,
                  const struct oc_device *device, FILE *out)
{
    struct oc_memory_opts o = {.device = device, .analyze = opts};
    struct oc_memory *m;
    struct oc_err err;
    if (oc_memory_make(analysis, &o, &m, &err))
        return cli_fail_err(&err);
    oc_memory_write_fit(m, out);
    int rc = fit_result(m);
    oc_memory_free(m);
    return rc;
}

static int read_files(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "'memory' needs one model: onnxcost memory MODEL [options]");
    int rc = cli_load_model(o->word.item[0], o, &j->model);
    if (rc)
        return rc;
    const struct oc_profile_opts opts = {.format = o->profile_format, .warmup = -1, .caps = &o->caps};
    if (o->profile.n && oc_profile_open(o->profile.item[o->profile.n - 1], &opts, &j->profile, &err))
        return cli_fail_err(&err);
    return o->hw.n ? cli_find_recorded_device(o, cli_hw(o), j->profile, &j->hwdb, &j->device) : 0;
}

static int analyze(struct memory_job *j)
{
    struct oc_err err;
    if (j->profile)
        j->n_profile_shape = oc_profile_input_shapes(j->model, j->profile, &j->profile_shape);
    int rc = cli_shapes_parse(j->o, j->profile_shape, j->n_profile_shape, &j->shapes);
    if (rc)
        return rc;
    j->opts = cli_analyze_opts(j->o, &j->shapes);
    if (j->profile)
        j->opts.n_control = oc_profile_control(j->model, j->profile, &j->control);
    j->opts.control = j->control;
    return oc_analyze(j->model, &j->opts, &j->analysis, &err) ? cli_fail_err(&err) : 0;
}

/* Whether the profile is one of the model; the report needs no join. */
static int check_pair(struct memory_job *j)
{
    struct oc_join *join;
    struct oc_err err;
    if (!j->profile)
        return 0;
    if (oc_join_make(j->model, j->analysis, j->profile, NULL, &join, &err))
        return cli_fail_err(&err);
    int rc = cli_check_pair(
        j->o, &(struct oc_report_in){
                  .model = j->model, .analysis = j->analysis, .profile = j->profile, .join = join});
    oc_join_free(join);
    return rc;
}

static int make(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    struct oc_memory_opts opts = {.as_onnxruntime = o->allocator && strcmp(o->allocator, "ort") == 0,
                                  .profile = j->profile,
                                  .device = o->fit ? j->device : NULL,
                                  .analyze = &j->opts,
                                  .width_chars = cli_width_of(o),
                                  .top = !o->top.set    ? TOP
                                         : o->top.v > 0 ? (size_t)o->top.v
                                                        : 0};
    return oc_memory_make(j->analysis, &opts, &j->memory, &err) ? cli_fail_err(&err) : 0;
}

static int plan(struct memory_job *j)
{
    int rc = cli_make_plan(j->o, j->analysis, &j->plan);
    return rc ? rc : cli_save_plan(j->o, j->plan);
}

/* The plan is printed below the tables. As CSV and JSON, --reorder prints the order instead of the report. */
static int write_parts(const struct memory_job *j, const char *format, FILE *f)
{
    struct oc_err err;
    bool table = !format || strcmp(format, "table") == 0;
    if ((table || !j->o->reorder) && oc_memory_write(j->memory, format, f, &err))
        return cli_fail_err(&err);
    if (table && j->plan)
        fputc('\n', f);
    if (j->plan && (table || j->o->reorder) && oc_memory_order_write(j->plan, format, f, &err))
        return cli_fail_err(&err);
    return 0;
}

static int write_report(struct memory_job *j)
{
    struct cli_output out;
    const char *format = j->o->format && strcmp(j->o->format, "compact") == 0 ? "table" : j->o->format;
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    int failed = write_parts(j, format, out.f);
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc ? rc : fit_result(j->memory);
}

int cmd_memory(const struct cli_opts *o)
{
    struct memory_job j = {.o = o};
    int rc = cli_check_memory(o);
    rc = rc ? rc : cli_check_plan(o);
    static int (*const steps[])(struct memory_job *) = {read_files, analyze, check_pair,
                                                        make,       plan,    write_report};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_memory_free(j.memory);
    oc_memory_plan_free(j.plan);
    cli_shapes_free(&j.shapes);
    oc_profile_input_shapes_free(j.profile_shape, j.n_profile_shape);
    free(j.control);
    oc_analysis_free(j.analysis);
    oc_profile_close(j.profile);
    oc_model_free(j.model);
    oc_hwdb_free(j.hwdb);
    return rc;
}
