/* Where the system has no fork, there is no process of its own for each call. */
#include "cli/cli.h"

int cmd_mcp(const struct cli_opts *o)
{
    (void)o;
    return cli_fail(CLI_ENVIRONMENT, "mcp needs processes of the operating system: run it under Linux");
}
