#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/arguments.h"

static int write_result(const struct cli_opts *o, const struct oc_validation_result *v)
{
    const char *format = cli_format(o);
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out, oc_validation_write(v, format, out.f, &err), &err);
}

int cmd_validate(const struct cli_opts *o)
{
    struct cli_measured m = {0};
    struct oc_validation_result *v = NULL;
    struct oc_err err;
    const struct oc_validation_opts opts = {.by_family = o->by_family, .no_forest = o->curves_only};
    int rc = !o->hw.n ? cli_fail(CLI_USAGE, "validate needs the device that was measured: --hw NAME")
                      : cli_measured_read(o, "validate", &m);
    if (!rc && oc_validation_make(m.samples, &opts, &v, &err))
        rc = cli_fail_err(&err);
    rc = rc ? rc : write_result(o, v);
    oc_validation_result_free(v);
    cli_measured_free(&m);
    return rc;
}
