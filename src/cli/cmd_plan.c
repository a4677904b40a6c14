#include "cli/cmd_plan.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"

/* By the file name extension, else by --format; default JSON. */
static const char *plan_form_of(const struct cli_opts *o)
{
    const char *dot = strrchr(o->plan, '.'), *slash = strrchr(o->plan, '/');
    if (dot && (!slash || slash < dot) && (!strcmp(dot, ".csv") || !strcmp(dot, ".json")))
        return dot + 1;
    return o->format && !strcmp(o->format, "csv") ? "csv" : "json";
}

int cli_check_plan(const struct cli_opts *o)
{
    if (!o->plan && !o->reorder)
        return 0;
    if (o->allocator && !strcmp(o->allocator, "ort"))
        return cli_fail(CLI_USAGE, "--%s does not go with --allocator ort", o->plan ? "plan" : "reorder");
    if (o->plan && !*o->plan)
        return cli_fail(CLI_USAGE, "--plan needs the name of a file");
    if (o->plan && !strcmp(o->plan, o->output ? o->output : "-"))
        return cli_fail(CLI_USAGE,
                        "the report and --plan go to the same file: give --output or --plan another one");
    return 0;
}

int cli_make_plan(const struct cli_opts *o, const struct oc_analysis *a, struct oc_memory_plan **out)
{
    const struct oc_plan_opts opts = {.reorder = o->reorder};
    struct oc_err err;
    if (!o->plan && !o->reorder)
        return 0;
    return oc_memory_plan_make(a, &opts, out, &err) ? cli_fail_err(&err) : 0;
}

int cli_save_plan(const struct cli_opts *o, const struct oc_memory_plan *p)
{
    struct cli_output out;
    struct oc_err err;
    if (!o->plan || !p)
        return 0;
    int rc = cli_output_open(o->plan, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_memory_plan_write(p, plan_form_of(o), out.f, &err), &err);
}
