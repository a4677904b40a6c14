/* summary says where the time of a profile goes. */
#include <stdlib.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct summary_opts {
    struct oc_summary_opts summary; /* what the options set directly */
    struct cli_list view;
};

static const char *summary_view(size_t i)
{
    const char *name, *title;
    return oc_summary_view(i, &name, &title) ? name : NULL;
}

#define AT(field) offsetof(struct summary_opts, field)
static const struct cli_option own_options[] = {
    {"view", 0, CLI_LIST, AT(view), "NAME",
     .help = "device, overview, runs, model, distribution, type, operator, event, kernel, memory, copies, "
             "user, lanes, benchmark, or all that there is data for (repeatable)",
     .otherwise = "in tables: runs and the two lists that fit the screen; else all", .names = summary_view,
     .group = "Summaries of profiles", .before = "order-by"},
    {"opr-name", 0, CLI_TEXT, AT(summary.search), "TEXT",
     .help = "only rows whose name or type contains this text", .group = "Summaries of profiles"},
    {"time-unit", 0, CLI_CHOICE, AT(summary.time_unit), "s|ms|us|ns", .help = "unit of times",
     .otherwise = "ms"},
    {"op-detail", 0, CLI_FLAG, AT(summary.op_detail), .help = "parts and kernels below each operator"},
    {"per-thread", 0, CLI_FLAG, AT(summary.per_thread), .help = "operators of each thread apart"},
};

struct summary_job {
    const struct cli_opts *o;
    struct cli_profiles profiles;
    int64_t batch; /* samples per step; 0: unknown */
};

/* Unlike reports on a model, all runs count unless --warmup says otherwise: that is how the profilers whose
 * tables these are count. */
static int read_profiles(struct summary_job *j)
{
    const struct cli_list *path = &j->o->word;
    if (!path->n)
        return cli_fail(CLI_USAGE, "'summary' needs a profile: onnxcost summary PROFILE...");
    struct cli_progress *progress = cli_progress_start();
    const struct oc_profile_opts own = {.warmup = cli_warmup(j->o, OC_WARMUP_NONE),
                                        .keep_events = true,
                                        .reading = cli_progress_reading(progress)};
    cli_progress_say(progress, "reading", path->item[0]);
    int rc = cli_profiles_open(j->o, path->item, path->n, own, &j->profiles);
    cli_progress_stop(progress);
    return rc;
}

static void summary_print_warnings(const struct oc_profile *p)
{
    const struct oc_diag *d;
    size_t n = oc_profile_diags(p, &d);
    for (size_t i = 0; i < n; i++)
        if (d[i].severity != OC_INFO)
            cli_warn_diag(&d[i], false);
}

static int put_summary(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct summary_job *j = job;
    const struct cli_opts *o = j->o;
    const struct summary_opts *own = o->own;
    struct oc_summary_opts opts = own->summary;
    opts.format = o->format;
    opts.view = own->view.item;
    opts.n_view = own->view.n;
    opts.sort = o->sort;
    opts.has_top = o->top.set;
    opts.top = o->top.v;
    opts.samples_per_step = (double)j->batch;
    opts.width_chars = cli_width(out, &o->width);
    opts.kernel_names = j->profiles.kernel_names;
    opts.made = o->made;
    return oc_summary_write((const struct oc_profile *const *)j->profiles.item, j->profiles.n, &opts, out->f,
                            err);
}

static int run_summary(const struct cli_opts *o)
{
    struct summary_job j = {.o = o};
    int rc = cli_batch(o, &j.batch);
    rc = rc ? rc : read_profiles(&j);
    rc = rc ? rc : cli_output_write(o->output, put_summary, &j);
    for (size_t i = 0; i < j.profiles.n && !rc; i++)
        summary_print_warnings(j.profiles.item[i]);
    cli_profiles_close(&j.profiles);
    return rc;
}

const struct cli_command cmd_summary = {
    .name = "summary",
    .phrase = "summary tables of a profile",
    .use = {{"onnxcost summary PROFILE...",
             "where the time of a profile goes: devices, runs, operators, kernels"}},
    .run = run_summary,
    .usual = "top view order-by opr-name time-unit profile-format warmup format output",
    .sets = CLI_READS,
    .options = "profile-format map kernel-names warmup iterations partial top format batch order-by",
    .own = CLI_OWN(own_options, struct summary_opts),
    .formats = "table|csv|json|html|fragment|parquet|paddle",
    .example = {{"onnxcost summary trace.json.gz", "where the time of a profile goes"},
                {"onnxcost summary ort_profile.json --view operator --order-by CPUMax -t 5",
                 "the operators with the longest calls"},
                {"onnxcost summary trace.json.gz --view runs", "the runs and their spread"}},
    .tool = {{"summary", "A profile without its model: runs, operator types, kernels.", "profile!", "top",
              .more = "profile-format warmup iterations",
              .brief =
                  "format=profiles.0.format total_ns=profiles.0.total_ns total_is=profiles.0.total_is "
                  "runs=profiles.0.runs type=profiles.0.type:name,calls=both.calls,total_ns=both.total_ns,"
                  "ratio=both.ratio kernel=profiles.0.kernel:name,calls=both.calls,total_ns=both.total_ns",
              .top = "10", .place = 10}},
};
