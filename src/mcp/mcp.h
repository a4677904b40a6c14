/* Private to the files of this folder. */
#ifndef OC_MCP_H
#define OC_MCP_H

#include "base/arena.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "onnxcost/mcp.h"

/* Arguments of every tool; the tool that describes the others. */
#define OC_MCP_CURSOR "cursor"
#define OC_MCP_FULL   "full"
#define OC_MCP_HELP   "help"

enum {
    OC_MCP_ANSWER_BYTES = 4000,  /* of the brief form of a document */
    OC_MCP_FULL_BYTES = 20000,   /* of whole documents, on request */
    OC_MCP_LINE_BYTES = 1 << 20, /* "mcp-request" in base/diag.c */
    OC_MCP_ID_BYTES = 200
};

/* The tool as an item of tools/list; the tool `help`; the answer of `help`: all arguments, one a line. */
void oc_mcp_describe(struct oc_json_out *w, const struct oc_mcp_tool *tool);
extern const struct oc_mcp_tool oc_mcp_help_tool;
void oc_mcp_help(const struct oc_mcp_tool *tool, struct oc_buf *out);

struct oc_mcp_arguments {
    struct oc_mcp_value *value; /* in the arena */
    size_t n, cap;
    const char *cursor; /* NULL: none */
    bool full;          /* the whole document */
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
enum { OC_PAGE_KEPT_BYTES = 512, OC_PAGE_NOTE_BYTES = 400 };

struct oc_page {
    struct oc_buf json; /* the document without blanks, with the rows of this page */
    struct oc_buf note; /* "nodes 1 to 12 of 175, warnings 0 of 3"; empty: all rows are on this page */
    size_t next;        /* first row of the next page, 0: none */
    size_t n_rows;
    uint64_t hash; /* of the document */
};

/* The page that begins with row `first` and has most_bytes as a string of JSON. `members`: of the brief form, NULL: the
 * whole document. A row that does not fit at all is left out, which the note says. OC_EFORMAT: the text is not a JSON
 * object; OC_ELIMIT: the document does not fit without rows. */
int oc_page_make(struct oc_str document, const char *members, size_t first, size_t most_bytes,
                 struct oc_page *out, struct oc_err *err);
void oc_page_free(struct oc_page *p);

/* The brief form of a document without blanks (struct oc_mcp_tool: brief). False: it has none of the members, and nothing
 * is written. */
bool oc_mcp_write_brief(struct oc_str document, const char *members, struct oc_buf *out);

/* The character after a string that begins at `at`, and after a value: a comma, a closing bracket or the end. n: the text
 * ends before. */
size_t oc_mcp_skip_string(const char *s, size_t n, size_t at);
size_t oc_mcp_skip_value(const char *s, size_t n, size_t at);

#endif
