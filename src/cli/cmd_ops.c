#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/report.h"

int cmd_ops(const struct cli_opts *o)
{
    struct cli_output out;
    struct oc_err err;
    int rc = o->word.n ? cli_fail(CLI_USAGE, "'ops' takes no argument, not '%s'", o->word.item[0]) : 0;
    if (rc || (rc = cli_output_open(o->output, &out)))
        return rc;
    return cli_output_finish(&out, oc_ops_write(o->format, cli_width(&out, &o->width), out.f, &err), &err);
}

int cmd_schema(const struct cli_opts *o)
{
    struct cli_output out;
    struct oc_err err;
    int rc = o->word.n > 1 ? cli_fail(CLI_USAGE, "one schema at a time, not '%s' too", o->word.item[1]) : 0;
    if (rc || (rc = cli_output_open(o->output, &out)))
        return rc;
    return cli_output_finish(&out, oc_schema_write(o->word.n ? o->word.item[0] : NULL, out.f, &err), &err);
}
