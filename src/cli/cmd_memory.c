/* memory: what a model needs, and whether it fits a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/memory.h"

struct memory_opts {
    const char *allocator, *plan;
};

#define AT(field) offsetof(struct memory_opts, field)
static const struct cli_option own_options[] = {
    {"allocator", 0, CLI_CHOICE, AT(allocator), "plain|ort",
     .help = "ort: as the CPU provider of ONNX Runtime runs the model without optimizations: its order, "
             "nothing folded, its reuse of dead tensors, its arena",
     .otherwise = "plain", .of = "count", .group = "Counting", .before = "cache"},
    {"plan", 0, CLI_TEXT, AT(plan), "FILE",
     .help = "write the arena offset of every buffer to FILE.json or FILE.csv",
     .answer = "the arena offset of every buffer, in place of the report", .group = "Memory"},
};

struct memory_job {
    const struct cli_opts *o;
    const struct memory_opts *own;
    struct cli_side side;
    struct oc_memory *memory;
    struct oc_memory_plan *plan; /* NULL: not requested */
};

int cli_check_memory(const struct cli_opts *o)
{
    return o->fit && !o->hw.n ? cli_fail(CLI_USAGE, "--fit needs --hw NAME; onnxcost hw list shows the names")
                              : 0;
}

static int fit_result(const struct oc_memory *m)
{
    enum oc_fits fits = oc_memory_info(m)->fits;
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

/* ---- --plan ---------------------------------------------------------------------------------------- */

/* By the file name extension, else by --format; default JSON. */
static const char *plan_form_of(const struct cli_opts *o)
{
    const struct memory_opts *own = o->own;
    const char *dot = strrchr(own->plan, '.'), *slash = strrchr(own->plan, '/');
    if (dot && (!slash || slash < dot) && (!strcmp(dot, ".csv") || !strcmp(dot, ".json")))
        return dot + 1;
    return cli_is(o->format, "csv") ? "csv" : "json";
}

/* Whether the plan goes to standard output as a document, in place of the report. */
static bool plan_is_answer(const struct cli_opts *o)
{
    const struct memory_opts *own = o->own;
    bool document = cli_is(o->format, "json") || cli_is(o->format, "csv");
    return own->plan && !strcmp(own->plan, "-") && !o->output && document;
}

static bool wants_node_stats(const struct cli_opts *o)
{
    return cli_is(o->format, "ort-node-stats");
}

static int check_plan(const struct cli_opts *o)
{
    const struct memory_opts *own = o->own;
    if (wants_node_stats(o) && (own->plan || o->fit || own->allocator))
        return cli_fail(CLI_USAGE,
                        "--format ort-node-stats does not go with --plan, --fit and --count allocator");
    if (!own->plan)
        return 0;
    if (cli_is(own->allocator, "ort"))
        return cli_fail(CLI_USAGE, "--plan does not go with --count allocator=ort");
    if (!*own->plan)
        return cli_fail(CLI_USAGE, "--plan needs the name of a file");
    if (!plan_is_answer(o) && !strcmp(own->plan, o->output ? o->output : "-"))
        return cli_fail(CLI_USAGE,
                        "the report and --plan go to the same file: give --output or --plan another one");
    return 0;
}

/* The plan stays NULL when none is requested. A page draws the buffers at their offsets, where sizes allow a
 * plan; of ONNX Runtime's allocator it shows the sums alone. */
static int make_plan(struct memory_job *j)
{
    struct oc_err err;
    if ((!j->own->plan && !j->o->made) || cli_is(j->own->allocator, "ort"))
        return 0;
    return oc_memory_plan_make(j->side.analysis, NULL, &j->plan, &err) && j->own->plan ? cli_fail_err(&err)
                                                                                       : 0;
}

static int put_plan(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct memory_job *j = job;
    return oc_memory_plan_write(j->plan, plan_form_of(j->o), out->f, err);
}

/* Writes the file of --plan, if any. */
static int save_plan(struct memory_job *j)
{
    return j->own->plan ? cli_output_write(j->own->plan, put_plan, j) : 0;
}

/* ---- the command ----------------------------------------------------------------------------------- */

static int open_memory_side(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    if (o->word.n != 1)
        return cli_fail(CLI_USAGE, "'memory' needs one model: onnxcost memory MODEL [options]");
    cli_side_of(o, &j->side);
    return cli_side_open(o, &j->side);
}

static int make_memory(struct memory_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    struct oc_memory_opts opts = {.as_onnxruntime = cli_is(j->own->allocator, "ort"),
                                  .profile = j->side.in.profile,
                                  .device = o->fit ? j->side.in.device : NULL,
                                  .analyze = &j->side.opts,
                                  .width_chars = cli_width_of(o),
                                  .plan = j->plan,
                                  .made = j->o->made,
                                  .top = cli_rows(o, OC_TOP_SCREEN)};
    return oc_memory_make(j->side.analysis, &opts, &j->memory, &err) ? cli_fail_err(&err) : 0;
}

static int put_memory(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct memory_job *j = job;
    return oc_memory_write(j->memory, j->o->format, out->f, err);
}

static int write_memory(struct memory_job *j)
{
    int rc = plan_is_answer(j->o) ? 0 : cli_output_write(j->o->output, put_memory, j);
    return rc ? rc : fit_result(j->memory);
}

static int put_node_stats(const void *job, const struct cli_output *out, struct oc_err *err)
{
    return oc_node_stats_write(((const struct memory_job *)job)->side.analysis, out->f, err);
}

static int run_memory(const struct cli_opts *o)
{
    bool stats = wants_node_stats(o);
    struct cli_opts unfolded = *o;
    unfolded.analyze.no_fold |= stats; /* ONNX Runtime runs what the analysis would fold */
    struct memory_job j = {.o = &unfolded, .own = o->own};
    int rc = cli_check_memory(o);
    rc = rc ? rc : check_plan(o);
    static int (*const steps[])(struct memory_job *) = {open_memory_side, make_plan, make_memory, save_plan,
                                                        write_memory};
    if (!rc && stats && (rc = open_memory_side(&j)) == 0)
        rc = cli_output_write(o->output, put_node_stats, &j);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc && !stats; i++)
        rc = steps[i](&j);
    oc_memory_free(j.memory);
    oc_memory_plan_free(j.plan);
    cli_side_close(&j.side);
    return rc;
}

const struct cli_command cmd_memory = {
    .name = "memory",
    .phrase = "peak activation memory, liveness, arena offsets, fit",
    .use = {{"onnxcost memory MODEL [options]",
             "peak activation memory, liveness and arena offsets, and whether the model fits a device"}},
    .run = run_memory,
    .usual = "hw fit plan dim shape value top profile format output",
    .sets = CLI_MODEL,
    .options = "profile profile-format hw hw-set top decoder fit",
    .own = CLI_OWN(own_options, struct memory_opts),
    .formats = "table|csv|json|html|fragment|ort-node-stats",
    .example = {{"onnxcost memory bert.onnx", "peak activation memory, its node and its lower bound"},
                {"onnxcost memory bert.onnx -d batch=32 --hw t4 --fit", "does it fit, and the max batch"},
                {"onnxcost memory bert.onnx --plan plan.json", "an arena offset for every buffer"}},
    .tool =
        {{"memory",
          "Peak activation memory, what is live then; fit: is hw large enough; plan: arena offsets.",
          "model!", "hw dim fit plan", .more = "hw-set count top" CLI_TOOL_SHAPES,
          .brief =
              "fit constants=constants.bytes activations:peak_bytes,peak_node,lower_bytes,quality "
              "footprint=footprint.bytes live_at_peak:name,bytes,dtype,shape size_bytes live_bytes optimal "
              "buffers:value,bytes,offset,first_step,last_step",
          .top = "10", .place = 5}},
};
