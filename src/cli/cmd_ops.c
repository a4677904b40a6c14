/* ops: the operators and their formulas. */
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/report.h"

static int put_ops(const void *opts, const struct cli_output *out, struct oc_err *err)
{
    const struct cli_opts *o = opts;
    return oc_ops_write(o->format, cli_width(out, &o->width), out->f, err);
}

static int run_ops(const struct cli_opts *o)
{
    return o->word.n ? cli_fail(CLI_USAGE, "'ops' takes no argument, not '%s'", o->word.item[0])
                     : cli_output_write(o->output, put_ops, o);
}

const struct cli_command cmd_ops = {
    .name = "ops",
    .phrase = "supported operators and their cost formulas",
    .use = {{"onnxcost ops", "supported operators and their cost formulas"}},
    .run = run_ops,
    .options = "format",
    .example = {{"onnxcost ops", "the operators, with the formulas of their costs"},
                {"onnxcost ops -f csv", "the same as CSV"},
                {"onnxcost ops -f json -o ops.json", "and as JSON"}},
};
