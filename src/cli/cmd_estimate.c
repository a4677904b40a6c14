#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"

enum { TOP = 20 };

struct job {
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

static int check_options(struct job *j)
{
    const struct cli_opts *o = j->o;
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

static int open_side(struct job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (o->calibration && oc_calibration_load(o->calibration, &j->cal, &err))
        return cli_fail_err(&err);
    j->side.model_path = has_own_kernels(o) ? o->optimized_model : o->word.item[0];
    j->side.profile_path = o->profile.n ? o->profile.item[0] : NULL;
    j->side.optimized_path = o->profile.n ? o->optimized_model : NULL;
    j->side.hw = cli_hw(o);
    j->side.any_device = true;
    return cli_side_open(o, &j->side);
}

static int make(struct job *j)
{
    struct oc_err err;
    const struct oc_estimate_opts opts = {.calibration = j->cal,
                                          .join = j->side.join,
                                          .fusion = fusion_of(j->o),
                                          .simd = j->o->simd,
                                          .width_chars = cli_width_of(j->o),
                                          .as = j->o->as,
                                          .made = j->made};
    return oc_estimate_make(j->side.analysis, j->side.in.device, &opts, &j->estimate, &err)
               ? cli_fail_err(&err)
               : 0;
}

static int write_estimate(struct job *j)
{
    const struct cli_opts *o = j->o;
    const char *format = cli_format(o);
    size_t top = !o->top.set ? TOP : o->top.v > 0 ? (size_t)o->top.v : 0;
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_estimate_write(j->estimate, format, top, out.f, &err), &err);
}

int cmd_estimate(const struct cli_opts *o)
{
    static int (*const steps[])(struct job *) = {check_options, open_side, make, write_estimate};
    struct job j = {.o = o, .made = cli_page_made(o)};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_estimate_free(j.estimate);
    free(j.made);
    cli_side_close(&j.side);
    oc_calibration_free(j.cal);
    return rc;
}
