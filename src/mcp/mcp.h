/* mcp/: Server of the Model Context Protocol: messages and pages of documents. Commands are not named here:
 * the tools are rows of cli/mcp_tools.c.
 * Private to the folder: mcp.h page.h. */

/* Private to the files of this folder. */
#ifndef OC_MCP_H
#define OC_MCP_H

#include "base/arena.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "onnxcost/mcp.h"

#define OC_MCP_CURSOR "cursor" /* argument of every tool */

enum {
    OC_MCP_ANSWER_BYTES = 20000,
    OC_MCP_LINE_BYTES = 1 << 20, /* "mcp-request" in base/input_limits.c */
    OC_MCP_ID_BYTES = 200
};

/* The tool as an item of tools/list. */
void oc_mcp_describe(struct oc_json_out *w, const struct oc_mcp_tool *tool);

struct oc_mcp_arguments {
    struct oc_mcp_value *value; /* in the arena */
    size_t n, cap;
    const char *cursor; /* NULL: none */
};

/* Reads an object of arguments. OC_EARG: the tool has no such parameter, the type is wrong, or a required one
 * is missing. */
int oc_mcp_read_arguments(const struct oc_mcp_tool *tool, struct oc_str json, struct oc_arena *arena,
                          struct oc_mcp_arguments *out, struct oc_err *err);

/* A reader of a text in memory. */
struct oc_mcp_text {
    struct oc_stream *stream;
    struct oc_json *json;
};
struct oc_mcp_text oc_mcp_text_open(struct oc_str s);
void oc_mcp_text_close(struct oc_mcp_text *t);

/* Copies in the arena; the second reads a string, or a number as its text, NULL: another type. */
struct oc_str oc_mcp_keep(struct oc_arena *arena, struct oc_str s);
const char *oc_mcp_scalar(struct oc_json *j, struct oc_arena *arena);

void oc_mcp_key_text(struct oc_json_out *w, const char *key, const char *s);

#endif
