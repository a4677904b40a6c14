#include <stdint.h>
#include <stdlib.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

/* Unlike reports on a model, all runs count unless --warmup says otherwise: that is how the profilers whose
 * tables these are count. */
static int read_profiles(const struct cli_opts *o, const struct oc_kernel_names *names,
                         struct oc_profile ***list, size_t *n)
{
    struct oc_err err;
    struct oc_profile_opts opts = {.format = o->profile_format,
                                   .warmup = cli_warmup(o, OC_WARMUP_NONE),
                                   .iterations = (uint32_t)o->iterations.v,
                                   .keep_events = true,
                                   .kernel_names = names,
                                   .map = o->map,
                                   .limits = &o->limits};
    if (!o->word.n)
        return cli_fail(CLI_USAGE, "'summary' needs a profile: onnxcost summary PROFILE...");
    if (o->profile_format && oc_profile_format_check(o->profile_format, &err))
        return cli_fail_err(&err);
    if (o->partial)
        opts.stop = cli_fault_stop_begin();
    struct cli_progress *progress = cli_progress_start();
    cli_progress_say(progress, "reading", o->word.item[0]);
    int rc = oc_profile_open_all(o->word.item, o->word.n, &opts, list, n, &err);
    cli_fault_stop_over();
    cli_progress_stop(progress);
    return rc ? cli_fail_err(&err) : 0;
}

static void summary_print_warnings(const struct oc_profile *p)
{
    const struct oc_diag *d;
    size_t n = oc_profile_diags(p, &d);
    for (size_t i = 0; i < n; i++)
        if (d[i].severity != OC_INFO)
            cli_warn("%s%s%s", d[i].where[0] ? d[i].where : "", d[i].where[0] ? ": " : "", d[i].text);
}

static int write_summary(const struct cli_opts *o, const struct oc_kernel_names *names,
                         const struct oc_profile *const *list, size_t n)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    char *made = cli_page_made(o);
    struct oc_summary_opts opts = {.format = o->format,
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
                                   .width_chars = cli_width(&out, &o->width),
                                   .kernel_names = names,
                                   .made = made};
    int failed = oc_summary_write(list, n, &opts, out.f, &err);
    free(made);
    return cli_output_finish(&out, failed, &err);
}

int cmd_summary(const struct cli_opts *o)
{
    struct oc_profile **list = NULL;
    size_t n = 0;
    struct oc_kernel_names *names = NULL;
    struct oc_err err;
    if (o->kernel_names && oc_kernel_names_load(o->kernel_names, &names, &err))
        return cli_fail_err(&err);
    int rc = read_profiles(o, names, &list, &n);
    if (!rc)
        rc = write_summary(o, names, (const struct oc_profile *const *)list, n);
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            summary_print_warnings(list[i]);
        oc_profile_close(list[i]);
    }
    free(list);
    oc_kernel_names_free(names);
    return rc;
}
