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
    const char *form;    /* of its value: "NAME=N"; NULL: nothing to say */
    const char *choices; /* "a|b", NULL: any text */
    enum oc_mcp_kind kind;
    bool required;
    bool rare; /* not in the list of tools: the tool `help`, which the server adds, describes it */
};

/* `brief`: the members of its documents that an answer has, NULL: all. They are separated by blanks, a member in another
 * one is a.b, a number is the index of an item, and NAME= in front gives the value another name. After a colon are the
 * columns of an array of objects, or the members of an object: "verdict=verdict.text rows:name,time_ns". An array whose items
 * have none of the first column is left out. */
struct oc_mcp_tool {
    const char *name, *about;
    const struct oc_mcp_param *param;
    size_t n_param;
    const char *brief;
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

/* The result of a call: a JSON document (an object), or why there is none. The answer has its brief form in at most 4,000
 * bytes, or with the argument `full` the whole of it in at most 20,000: the rows of a document with more are answered in
 * pages, on further calls with a cursor. */
struct oc_mcp_result {
    const char *document; /* NULL: the call failed */
    size_t n;
    const char *messages; /* warnings, or what failed */
    bool usage;           /* it failed because of the arguments: the answer names the tool `help` */
};
void oc_mcp_done(struct oc_mcp *m, uint64_t call, const struct oc_mcp_result *result);

OC_API_END

#endif
