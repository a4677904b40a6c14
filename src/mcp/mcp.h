/* mcp/: Server of the Model Context Protocol: messages and pages of documents. Commands are not named here:
 * the tools are made by cli/cmd_mcp.c.
 * Private to the folder: mcp.h. */

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
    OC_MCP_LINE_BYTES = 1 << 20, /* "mcp-request" in base/diag.c */
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

/* ---- page ---------------------------------------------------------------------------------------------- */

/* Pages of a JSON document: its rows in parts, the rest of it on every page. */

/* Rows are the items of arrays that are not in other arrays and have more than OC_PAGE_KEPT_BYTES. They are
 * numbered through the document. */
enum { OC_PAGE_KEPT_BYTES = 512, OC_PAGE_NOTE_BYTES = 1300 };

struct oc_page {
    struct oc_buf json; /* the document without blanks, with the rows of this page */
    struct oc_buf note; /* "nodes 1 to 12 of 175, warnings 0 of 3"; empty: all rows are on this page */
    size_t next;        /* first row of the next page, 0: none */
    size_t n_rows;
    uint64_t hash; /* of the document */
    bool twice;    /* the JSON fits a second time, inside a string */
};

/* The page that begins with row `first` and fits most_bytes, together with its copy as a JSON string if
 * possible. A row that does not fit at all is left out, which the note says. OC_EFORMAT: the text is not a
 * JSON object; OC_ELIMIT: the document does not fit without rows. */
int oc_page_make(const char *document, size_t n, size_t first, size_t most_bytes, struct oc_page *out,
                 struct oc_err *err);
void oc_page_free(struct oc_page *p);

#endif
