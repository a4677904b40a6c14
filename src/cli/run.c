/* From the arguments to a command. */
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/devices.h"

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
