/* schema: the JSON Schema of the report. */
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/report.h"

static int put_schema(const void *opts, const struct cli_output *out, struct oc_err *err)
{
    (void)opts;
    return oc_schema_write(out->f, err);
}

static int run_schema(const struct cli_opts *o)
{
    return o->word.n ? cli_fail(CLI_USAGE, "'schema' takes no argument, not '%s'", o->word.item[0])
                     : cli_output_write(o->output, put_schema, o);
}

const struct cli_command cmd_schema = {
    .name = "schema",
    .phrase = "JSON Schema of --format json",
    .use = {{"onnxcost schema", "the JSON Schema of --format json of the report"}},
    .run = run_schema,
    .example = {{"onnxcost schema", "the JSON Schema of the report"},
                {"onnxcost schema | head -n 20", "its beginning"},
                {"onnxcost schema -o report.schema.json", "into a file"}},
};
