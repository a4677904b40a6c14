/* From the arguments to a command. */
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < cli_n_commands; i++)
        if (!strcmp(cli_commands[i].name, name))
            return &cli_commands[i];
    return NULL;
}

/* The first word is a command, or the file of the default command. */
static const struct cli_command *take_command(struct cli_opts *o)
{
    const struct cli_command *c = o->word.n ? find_command(o->word.item[0]) : NULL;
    if (!c)
        return &cli_commands[0];
    o->word.n--;
    memmove(o->word.item, o->word.item + 1, o->word.n * sizeof(*o->word.item));
    return c;
}

static int run_command(int argc, char **argv, struct cli_opts *o)
{
    char why[512];
    if (cli_parse(argc, argv, o, why, sizeof(why)))
        return cli_fail(CLI_USAGE, "%s", why);
    if (o->version)
        return cli_version(o);
    if (o->help)
        return cmd_help(o);
    if (!o->word.n && !o->profile.n)
        return cli_fail(CLI_USAGE, "no file is given; try: onnxcost model.onnx, or onnxcost --help");
    const struct cli_command *c = take_command(o);
    const char *value, *foreign = cli_foreign_option(argc, argv, c->mask, &value);
    int rc = c == &cli_commands[0] && o->word.n ? cli_check_command(o->word.item[0]) : 0;
    if (!rc && foreign)
        rc = cli_fail_foreign_option(foreign, value, c->mask);
    if (!rc)
        rc = cli_check_format(o->format, c->mask);
    if (!rc)
        rc = cli_take_embed(o);
    if (!rc)
        rc = cli_check_numbers(o);
    if (!rc)
        rc = cli_take_limits(o);
    if (!rc)
        rc = cli_take_stdin(o);
    o->ranges = c->run == cmd_cost || c->run == cmd_check;
    return rc ? rc : c->run(o);
}

int cli_run(int argc, char **argv)
{
    struct cli_opts o = {.argc = argc, .argv = argv};
    int rc = run_command(argc, argv, &o);
    cli_opts_free(&o);
    return rc;
}

/* ---- commands ----------------------------------------------------------------------------------------- */

/* The commands in the order of the help: add a command here, its function in cmd_NAME.c. */

const struct cli_command cli_commands[] = {
    {"cost", "onnxcost MODEL [options]", "costs of every operator of an ONNX model, with --profile its times",
     CLI_COST, cmd_cost, "FLOPs, bytes, memory and time of every operator"},
    {"cost", "onnxcost PROFILE [options]", "a measured profile alone", CLI_COST, cmd_cost, NULL},
    {"explain", "onnxcost explain MODEL --convention A --convention B",
     "the difference between two ways of counting, term by term", CLI_EXPLAIN, cmd_explain,
     "the difference between two ways of counting FLOPs"},
    {"compare", "onnxcost compare MODEL --hw NAME --hw NAME... [--batch LIST] [--sort KEY]",
     "ranks devices for a model: time, energy, memory, operator classes, crossover batches", CLI_COMPARE,
     cmd_compare, "rank devices for a model, by batch"},
    {"llm", "onnxcost llm MODEL [--batch N] [--prompt N] [--generate N] [--hw NAME,NAME]",
     "a decoder with a KV cache: cost of prefill and of a decode step, lower bounds on devices", CLI_LLM,
     cmd_llm, "decoders with a KV cache: prefill, decode, devices"},
    {"scan", "onnxcost scan DIR|FILE... [-j N] [-f ndjson] [--resume -o FILE]",
     "many models, one row per model; a model that cannot be read is a row too", CLI_SCAN, cmd_scan,
     "many models, one row per model"},
    {"memory", "onnxcost memory MODEL [options]",
     "peak activation memory, liveness and arena offsets, and whether the model fits a device", CLI_MEMORY,
     cmd_memory, "peak activation memory, liveness, arena offsets, fit"},
    {"providers", "onnxcost providers [MODEL --providers NAME,NAME]",
     "which execution provider takes which node by its published operator list, and what falls back",
     CLI_PROVIDERS, cmd_providers, "what falls back on CUDA, TensorRT, QNN, CoreML, WebNN"},
    {"summary", "onnxcost summary PROFILE...",
     "where the time of a profile goes: devices, runs, operators, kernels", CLI_SUMMARY, cmd_summary,
     "summary tables of a profile"},
    {"record", "onnxcost record MODEL [--runs N] [--threads N] [--report]",
     "runs a model on ONNX Runtime and writes its profile", CLI_RECORD | CLI_COST, cmd_record,
     "run a model on ONNX Runtime and write its profile"},
    {"calibrate", "onnxcost calibrate RECORDING... --hw NAME [-o FILE.xml]",
     "per-kernel cost curves fitted from recorded profiles", CLI_CALIBRATE, cmd_calibrate,
     "fit per-kernel cost curves from recorded profiles"},
    {"estimate", "onnxcost estimate MODEL --hw NAME [--calibration FILE.xml]",
     "predicted latency of a model, its interval and its basis", CLI_ESTIMATE, cmd_estimate,
     "predict the latency of a model on a device"},
    {"validate", "onnxcost validate RECORDING... --hw NAME",
     "errors of estimates for networks that were left out", CLI_VALIDATE, cmd_validate,
     "errors of estimates, measured by leaving models out"},
    {"hw", "onnxcost hw list | show NAME | diff NAME NAME | lint [FILE...]",
     "the devices that --hw accepts: list, figures, comparison, check of hardware files", CLI_HW, cmd_hw,
     "devices: list, show, diff, lint, measure"},
    {"hw", "onnxcost hw measure [-o FILE.xml] [--threads N]",
     "measures this machine and makes a hardware file of it", CLI_HW, cmd_hw, NULL},
    {"diff", "onnxcost diff A.onnx B.onnx | MODEL -p A.json -p B.json | MODEL --hw A --hw B",
     "two models, or one with two profiles, devices or shapes: what was added, removed and changed", CLI_DIFF,
     cmd_diff, "compare two models, profiles, devices or shapes"},
    {"check", "onnxcost check MODEL --budget FILE | --max-macs N | --baseline FILE | ...",
     "compares a model with limits: exit code 1 and the reasons when one fails", CLI_CHECK, cmd_check,
     "compare a model with limits or a baseline, for CI"},
    {"ops", "onnxcost ops", "supported operators and their cost formulas", CLI_OPS, cmd_ops,
     "supported operators and their cost formulas"},
    {"mcp", "onnxcost mcp [--root DIR]",
     "a server of the Model Context Protocol on standard input and output: tools for agents", CLI_MCP,
     cmd_mcp, "tools for agents (Model Context Protocol)"},
    {"completion", "onnxcost completion bash | zsh | fish",
     "a script with which a shell completes commands, options, devices and files", CLI_COMPLETION,
     cmd_completion, "shell completion for bash, zsh and fish"},
    {"schema", "onnxcost schema [report | compare]",
     "the JSON Schema of --format json; compare: of several profiles", CLI_SCHEMA, cmd_schema,
     "JSON Schema of --format json"},
    {"help", "onnxcost help [COMMAND | options | TOPIC]",
     "examples and options of a command, all options, or a topic", CLI_HELP, cmd_help,
     "help on a command or topic"},
};
const size_t cli_n_commands = sizeof(cli_commands) / sizeof(cli_commands[0]);
