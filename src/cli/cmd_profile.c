/* summary says where the time of a profile goes. */
#include <stdlib.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct summary_job {
    const struct cli_opts *o;
    struct cli_profiles profiles;
    char *made; /* NULL: no page */
};

/* Unlike reports on a model, all runs count unless --warmup says otherwise: that is how the profilers whose
 * tables these are count. */
static int read_profiles(struct summary_job *j)
{
    const struct cli_list *path = &j->o->word;
    const struct oc_profile_opts own = {.warmup = cli_warmup(j->o, OC_WARMUP_NONE), .keep_events = true};
    if (!path->n)
        return cli_fail(CLI_USAGE, "'summary' needs a profile: onnxcost summary PROFILE...");
    struct cli_progress *progress = cli_progress_start();
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
    const struct oc_summary_opts opts = {.format = o->format,
                                         .view = o->view.item,
                                         .n_view = o->view.n,
                                         .sort = o->sort,
                                         .search = o->search,
                                         .time_unit = o->time_unit,
                                         .op_detail = o->op_detail,
                                         .per_thread = o->per_thread,
                                         .has_top = o->top.set,
                                         .top = o->top.v,
                                         .samples_per_step = (double)o->samples_per_step.v,
                                         .width_chars = cli_width(out, &o->width),
                                         .kernel_names = j->profiles.kernel_names,
                                         .made = j->made};
    return oc_summary_write((const struct oc_profile *const *)j->profiles.item, j->profiles.n, &opts, out->f,
                            err);
}

int cmd_summary(const struct cli_opts *o)
{
    struct summary_job j = {.o = o, .made = cli_page_made(o)};
    int rc = read_profiles(&j);
    rc = rc ? rc : cli_output_write(o->output, put_summary, &j);
    for (size_t i = 0; i < j.profiles.n && !rc; i++)
        summary_print_warnings(j.profiles.item[i]);
    cli_profiles_close(&j.profiles);
    free(j.made);
    return rc;
}
