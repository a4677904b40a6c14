/* The tools of `onnxcost mcp`: commands of the program with some of their options. */
#ifndef OC_CLI_MCP_TOOLS_H
#define OC_CLI_MCP_TOOLS_H

#include "onnxcost/mcp.h"

struct cli_mcp_tools {
    struct oc_mcp_tool *tool; /* heap, with what it points to */
    size_t n;
};
void cli_mcp_tools_make(struct cli_mcp_tools *out);
void cli_mcp_tools_free(struct cli_mcp_tools *t);

/* The arguments of main for a call: heap, NULL at the end. `more`: options for every call. */
char **cli_mcp_argv(const struct cli_mcp_tools *t, size_t tool, const struct oc_mcp_value *value, size_t n,
                    const char *const *more, size_t n_more, int *argc);
void cli_mcp_argv_free(char **argv);

#endif
