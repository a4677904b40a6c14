/* check: a model against limits. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/bounds.h"
#include "onnxcost/estimate.h"
#include "onnxcost/gate.h"
#include "onnxcost/report.h"

struct check_opts {
    struct cli_list budget, forbid_op, tolerance;
    const char *max_macs, *max_flops, *max_params, *max_weight_bytes, *max_peak_memory, *max_latency,
        *max_opset, *max_unknown, *min_efficiency, *baseline, *save_baseline;
};

#define AT(field) offsetof(struct check_opts, field)
static const struct cli_option own_options[] = {
    {"budget", 0, CLI_LIST, AT(budget), "FILE",
     .help = "XML file with limits, also of operator types and modules (repeatable)", .group = "Limits"},
    {"max", 0, CLI_KEYS, 0, "METRIC=N,...",
     .help = "largest value of a metric; several: with commas, or repeated"},
    {"macs", 0, CLI_TEXT, AT(max_macs), "N", .help = "multiply-adds: 4.1G", .of = "max"},
    {"flops", 0, CLI_TEXT, AT(max_flops), "N", .help = "floating-point operations", .of = "max"},
    {"params", 0, CLI_TEXT, AT(max_params), "N", .help = "parameters", .of = "max"},
    {"weight-bytes", 0, CLI_TEXT, AT(max_weight_bytes), "SIZE", .help = "bytes of constants: 80MiB",
     .of = "max"},
    {"peak-memory", 0, CLI_TEXT, AT(max_peak_memory), "SIZE", .help = "peak activation memory: 10MiB",
     .of = "max"},
    {"latency", 0, CLI_TEXT, AT(max_latency), "TIME",
     .help = "latency: 12ms; measured (--profile) or else estimated (--hw)", .of = "max"},
    {"opset", 0, CLI_TEXT, AT(max_opset), "N", .help = "operator set", .of = "max"},
    {"unknown", 0, CLI_TEXT, AT(max_unknown), "N", .help = "operators without a cost: 0", .of = "max"},
    {"min", 0, CLI_KEYS, 0, "METRIC=N,...", .help = "smallest value of a metric"},
    {"efficiency", 0, CLI_TEXT, AT(min_efficiency), "SHARE",
     .help = "roofline time / measured time: 30%; needs a profile and a device", .of = "min"},
    {"forbid-op", 0, CLI_LIST, AT(forbid_op), "TYPE",
     .help = "no operator of this type: Loop, Sequence*, com.microsoft:* (repeatable)"},
    {"baseline", 0, CLI_TEXT, AT(baseline), "FILE",
     .help = "no figure may be worse than in this file (see --save-baseline)"},
    {"tolerance", 0, CLI_LIST, AT(tolerance), "LIST",
     .help =
         "how much worse than the baseline a figure may be: 2% for all, or macs=1000,latency=5% (repeatable)",
     .otherwise = "that of the baseline, else 0 for counts, 10% for latency and efficiency"},
    {"save-baseline", 0, CLI_TEXT, AT(save_baseline), "FILE",
     .help = "write the present figures there; of an existing baseline tolerances, limits and comments stay"},
};

struct check_job {
    const struct cli_opts *o;
    const struct check_opts *own;
    struct oc_budget *budget;
    struct cli_side side;
    struct oc_calibration *calibration;
    struct oc_estimate *estimate;
    struct oc_bounds *bounds; /* with ranges of --dim; NULL */
    struct oc_check *check;
};

/* ---- limits ---------------------------------------------------------------------------------------- */

static int add_limit(struct check_job *j, const char *metric, const char *limit, const char *type)
{
    struct oc_err err;
    return limit && oc_budget_limit(j->budget, metric, limit, type, NULL, &err) ? cli_fail_err(&err) : 0;
}

static int take_check_limits(struct check_job *j)
{
    int rc = 0;
    for (size_t i = 0; i < sizeof(own_options) / sizeof(own_options[0]) && !rc; i++) {
        const struct cli_option *p = &own_options[i]; /* keys of --max and --min are metrics */
        const char *const *limit = (const void *)((const char *)j->own + p->offset);
        if (p->of)
            rc = add_limit(j, p->name, *limit, NULL);
    }
    for (size_t i = 0; i < j->own->forbid_op.n && !rc; i++)
        rc = add_limit(j, "forbid", "0", j->own->forbid_op.item[i]);
    return rc;
}

static int read_check_limits(struct check_job *j)
{
    struct oc_err err;
    for (size_t i = 0; i < j->own->budget.n; i++)
        if (oc_budget_read(j->budget, j->own->budget.item[i], &err))
            return cli_fail_err(&err);
    if (j->own->tolerance.n && !j->own->baseline)
        return cli_fail(
            CLI_USAGE,
            "--tolerance needs --baseline FILE; onnxcost check MODEL --save-baseline FILE writes one");
    if (j->own->baseline &&
        oc_baseline_read(j->budget, j->own->baseline, j->own->tolerance.item, j->own->tolerance.n, &err))
        return cli_fail_err(&err);
    return 0;
}

static int make_budget(struct check_job *j)
{
    struct oc_err err;
    if (j->o->word.n != 1)
        return cli_fail(CLI_USAGE, "'check' needs one model: onnxcost check MODEL --max macs=4G");
    if (j->o->profile.n > 1)
        return cli_fail(CLI_USAGE, "'check' takes one profile");
    if (oc_budget_make(&j->budget, &err))
        return cli_fail_err(&err);
    if (cli_has_range(j->o) && (j->own->save_baseline || j->o->profile.n || j->o->hw.n))
        return cli_fail(CLI_USAGE, "--dim with a range does not go with --profile, --hw and --save-baseline");
    int rc = take_check_limits(j);
    if (!rc)
        rc = read_check_limits(j);
    if (!rc && !oc_budget_limits(j->budget) && !j->own->save_baseline)
        return cli_fail(
            CLI_USAGE,
            "there is no limit to check: give --baseline, --budget, --max macs=N,latency=TIME ...");
    return rc;
}

/* ---- figures --------------------------------------------------------------------------------------- */

static int open_check_side(struct check_job *j)
{
    cli_side_of(j->o, &j->side);
    j->side.any_device = false;
    return cli_side_open(j->o, &j->side);
}

static int find_bounds(struct check_job *j)
{
    const struct oc_analyze_opts *o = &j->side.opts;
    struct oc_err err;
    if (!o->n_range)
        return 0;
    return oc_bounds_make(j->side.in.model, o, o->range, o->n_range, &j->bounds, &err) ? cli_fail_err(&err)
                                                                                       : 0;
}

/* Without a profile the time is estimated. */
static int estimate_latency(struct check_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (j->side.in.profile || !j->side.in.device ||
        (!oc_budget_has(j->budget, "latency") && !j->own->save_baseline))
        return 0;
    int rc = cli_load_calibration(o, &j->calibration);
    if (rc)
        return rc;
    const struct oc_estimate_opts opts = {.calibration = j->calibration, .fusion = o->fusion};
    return oc_estimate_make(j->side.analysis, j->side.in.device, &opts, &j->estimate, &err)
               ? cli_fail_err(&err)
               : 0;
}

struct baseline_job {
    const struct check_job *check;
    struct oc_baseline_kept *kept;
};

static int put_baseline(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct baseline_job *b = job;
    const struct check_job *j = b->check;
    int failed = oc_baseline_write(&j->side.in, j->estimate, j->own->save_baseline, b->kept, out->f, err);
    cli_input_forget(j->own->save_baseline); /* it was read as a baseline, or writing failed */
    return failed;
}

static int save_baseline(struct check_job *j)
{
    const char *path = j->own->save_baseline;
    struct oc_baseline_kept kept = {.n = 0};
    const struct baseline_job b = {j, &kept};
    if (path)
        cli_input_forget(path); /* of --baseline: it is updated */
    int rc = path ? cli_output_write(path, put_baseline, &b) : 0;
    if (path && !rc && kept.n)
        cli_warn("'%s' keeps the old value of %s: unknown without a profile and a device", path, kept.names);
    return rc;
}

static int make_check(struct check_job *j)
{
    struct oc_err err;
    if (!oc_budget_limits(j->budget))
        return 0; /* only --save-baseline */
    return oc_check_make_over(&j->side.in, j->estimate, j->budget, j->bounds, &j->check, &err)
               ? cli_fail_err(&err)
               : 0;
}

/* ---- output ---------------------------------------------------------------------------------------- */

/* A report for programs, or one in a file, has the reasons on standard error. */
static void print_reasons(const struct check_job *j)
{
    enum oc_check_result result;
    const char *reason;
    for (size_t i = 0; (reason = oc_check_reason(j->check, i, &result)); i++)
        if (result != OC_CHECK_PASSED)
            cli_fail(CLI_FINDINGS, "%s", reason);
}

static int write_check_markdown(const void *check, FILE *f, struct oc_err *err)
{
    return oc_check_write(check, "markdown", 0, f, err);
}

static int put_check(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct check_job *j = job;
    return oc_check_write(j->check, j->o->format, cli_width(out, &j->o->width), out->f, err);
}

static int write_check(struct check_job *j)
{
    const struct cli_opts *o = j->o;
    const char *format = o->format;
    if (!j->check)
        return 0;
    int rc = cli_output_write(o->output, put_check, j);
    rc = rc ? rc : cli_step_summary(o, write_check_markdown, j->check);
    if (rc)
        return rc;
    struct oc_check_counts n = *oc_check_counts(j->check);
    if (o->output || (format && strcmp(format, "table") != 0 && strcmp(format, "github") != 0))
        print_reasons(j);
    return n.failed || n.unclear ? CLI_FINDINGS : CLI_OK;
}

static int run_check(const struct cli_opts *o)
{
    static int (*const steps[])(struct check_job *) = {
        make_budget, open_check_side, find_bounds, estimate_latency, make_check, save_baseline, write_check};
    struct check_job j = {.o = o, .own = o->own};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_check_free(j.check);
    oc_bounds_free(j.bounds);
    oc_estimate_free(j.estimate);
    oc_calibration_free(j.calibration);
    cli_side_close(&j.side);
    oc_budget_free(j.budget);
    return rc;
}

const struct cli_command cmd_check = {
    .name = "check",
    .phrase = "compare a model with limits or a baseline, for CI",
    .use = {{"onnxcost check MODEL --budget FILE | --max macs=N | --baseline FILE | ...",
             "compares a model with limits: exit code 1 and the reasons when one fails"}},
    .run = run_check,
    .usual = "budget max min forbid-op baseline save-baseline tolerance profile hw dim format output",
    .sets = CLI_MODEL,
    .options = "profile profile-format optimized-model warmup iterations stat hw hw-set calibration fusion",
    .own = CLI_OWN(own_options, struct check_opts),
    .formats = "table|csv|json|markdown|md|junit|sarif|github",
    .ranges = true,
    .example = {{"onnxcost check resnet50.onnx --max macs=5G", "exit code 1 above the limit"},
                {"onnxcost check resnet50.onnx --save-baseline base.xml", "store the present figures"},
                {"onnxcost check resnet50.onnx --max params=30M -f junit", "a JUnit report for CI"}},
    .tool = {{"check", "Does a model keep limits, or those of a baseline?", "model!", "max dim",
              .more = "min forbid-op budget baseline tolerance profile hw calibration" CLI_TOOL_SHAPES
                  CLI_TOOL_COUNTS,
              .brief =
                  "passed limits failed inconclusive checks:metric,result,limit,low,high,reason assumptions",
              .ranges = true, .place = 7}},
};
