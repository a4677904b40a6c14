/* A server of the Model Context Protocol: tools that agents call. The library reads and writes the messages
 * (JSON-RPC 2.0, one a line); the program runs the tools.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_MCP_H
#define ONNXCOST_MCP_H

#include "onnxcost_types.h"

OC_API_BEGIN

enum oc_mcp_kind { OC_MCP_TEXT, OC_MCP_LIST, OC_MCP_FLAG, OC_MCP_INT };

struct oc_mcp_param {
    const char *name, *about;
    const char *choices; /* "a|b", NULL: any text */
    enum oc_mcp_kind kind;
    bool required;
};

struct oc_mcp_tool {
    const char *name, *title, *about;
    const struct oc_mcp_param *param;
    size_t n_param;
    const char *schema; /* JSON Schema of its documents, NULL: none */
};

/* An argument of a call: the index of its parameter, and its value as text; a list has one of these for each
 * item, a flag that is false has none. */
struct oc_mcp_value {
    size_t param;
    const char *text;
};

struct oc_mcp_opts {
    size_t size; /* sizeof(struct oc_mcp_opts) */
    const char *name, *version, *instructions;
    const struct oc_mcp_tool *tool;
    size_t n_tool;
    FILE *out; /* the client's side; flushed after each message */
    /* Starts a call; oc_mcp_done follows for it, at once or later. The values are borrowed for the call of
     * the function. */
    void (*start)(void *arg, uint64_t call, size_t tool, const struct oc_mcp_value *value, size_t n);
    /* The client does not want the result any more: oc_mcp_done must not follow. */
    void (*cancel)(void *arg, uint64_t call);
    void *arg;
};

/* The texts and tools are borrowed as long as the server exists. Protocol versions 2024-11-05 to 2025-11-25.
 */
struct oc_mcp;
int oc_mcp_open(const struct oc_mcp_opts *opts, struct oc_mcp **out, struct oc_err *err);
void oc_mcp_close(struct oc_mcp *m);

/* Bytes from the client, in any pieces. Every request is answered, also a bad one; requests of over 1 MiB are
 * refused. */
void oc_mcp_take(struct oc_mcp *m, const char *data, size_t n);

/* The client has closed its side: a last line without a line end is a message too. */
void oc_mcp_end(struct oc_mcp *m);

/* The result of a call: a JSON document (an object), or why there is none. An answer has at most 20,000
 * bytes: the rows of a document with more are answered in pages, on further calls with a cursor. */
struct oc_mcp_result {
    const char *document; /* NULL: the call failed */
    size_t n;
    const char *messages; /* warnings, or what failed */
};
void oc_mcp_done(struct oc_mcp *m, uint64_t call, const struct oc_mcp_result *result);

OC_API_END

#endif
