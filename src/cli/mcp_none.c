/* Where the system has no fork, there is no process of its own for each call. */
#include "cli/cli.h"
#include "cli/mcp_tools.h"

int mcp_serve(const struct cli_opts *o, const char *root)
{
    (void)o;
    (void)root;
    return cli_fail(CLI_ENVIRONMENT, "mcp needs processes of the operating system: run it under Linux");
}
