/* The tools of `onnxcost mcp` (cmd_mcp.c), and its server. */
#ifndef OC_MCP_TOOLS_H
#define OC_MCP_TOOLS_H

#include "cli/command.h"
#include "onnxcost/mcp.h"

struct mcp_tools {
    struct oc_mcp_tool *tool; /* heap, with what it points to */
    struct mcp_row {
        const struct cli_tool *tool;
        const struct cli_command *command;
    } * row; /* heap: what each is made of */
    size_t n;
};

void mcp_tools_make(struct mcp_tools *out);
void mcp_tools_free(struct mcp_tools *t);

/* The arguments of main for a call: heap, NULL at the end. `more`: options for every call. */
char **mcp_argv(const struct mcp_tools *t, size_t tool, const struct oc_mcp_value *value, size_t n,
                const char *const *more, size_t n_more, int *argc);
void mcp_argv_free(char **argv);

/* The command; `root`: of --root, NULL without it (mcp_server.c, or mcp_none.c). */
int mcp_serve(const struct cli_opts *o, const char *root);

#endif
