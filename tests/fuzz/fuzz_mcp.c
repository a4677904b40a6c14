/* Any bytes as the client of a server: every answer is one line of JSON of bounded size, whatever the tools
 * return. A page of any bytes as a document: all pages together have each row once. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_read.h"
#include "mcp/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define BRIEF "a d=b.c b:c rows.0.x:a,b y=rows:a,e=b.c"

static const struct oc_mcp_param params[] = {{.name = "model", .about = "a file", .required = true},
                                             {.name = "dim", .about = "sizes", .kind = OC_MCP_LIST},
                                             {.name = "top", .about = "rows", .kind = OC_MCP_INT},
                                             {.name = "advise", .about = "advice", .kind = OC_MCP_FLAG},
                                             {.name = "stat", .about = "statistic", .choices = "min|max"}};
static const struct oc_mcp_tool tools[] = {
    {.name = "analyze", .about = "a", .param = params, .n_param = OC_COUNT(params)},
    {.name = "devices", .about = "b", .brief = BRIEF}};

static const char document[] = "{\"a\": [ 1, 2 ], \"b\": {\"c\": \"\\\"\"} }";

struct client {
    struct oc_mcp *server;
    uint64_t late; /* a call that is answered at the end */
};

static void start(void *arg, uint64_t call, size_t tool, const struct oc_mcp_value *value, size_t n)
{
    struct client *c = arg;
    for (size_t i = 0; i < n; i++)
        if (value[i].param >= tools[tool].n_param || strlen(value[i].text) > OC_MCP_LINE_BYTES)
            abort();
    if (tool)
        oc_mcp_done(
            c->server, call,
            &(struct oc_mcp_result){.document = document, .n = strlen(document), .messages = "warning"});
    else
        c->late = call;
}

static void cancel(void *arg, uint64_t call)
{
    struct client *c = arg;
    if (c->late == call)
        c->late = 0;
}

static void check_lines(const struct oc_buf *out)
{
    for (const char *p = out->data, *end; p && *p; p = end + 1) {
        end = strchr(p, '\n');
        struct oc_stream *s = oc_stream_mem(p, (size_t)(end - p));
        struct oc_json *j = oc_json_open(s);
        uint64_t offset;
        bool many = oc_json_peek(j) == OC_JSON_ARRAY; /* one answer to several requests */
        if (!oc_json_skip(j) || oc_json_error(j, &offset) || oc_json_truncated(j) ||
            (!many && (size_t)(end - p) > OC_MCP_FULL_BYTES))
            abort();
        oc_json_close(j);
        oc_stream_close(s);
    }
}

static void run_server(const char *data, size_t n)
{
    struct oc_buf out = {0};
    struct client c = {.late = 0};
    struct oc_err err;
    const struct oc_mcp_opts opts = {.name = "s",
                                     .version = "1",
                                     .tool = tools,
                                     .n_tool = OC_COUNT(tools),
                                     .out = oc_buf_stream(&out),
                                     .start = start,
                                     .cancel = cancel,
                                     .arg = &c};
    if (oc_mcp_open(&opts, &c.server, &err))
        abort();
    oc_mcp_take(c.server, data, n / 2);
    oc_mcp_take(c.server, data + n / 2, n - n / 2);
    oc_mcp_take(c.server, "\n", 1);
    if (c.late)
        oc_mcp_done(c.server, c.late, &(struct oc_mcp_result){.messages = "failed"});
    oc_mcp_close(c.server);
    fclose(opts.out);
    check_lines(&out);
    oc_buf_free(&out);
}

static void check_pages(const char *data, size_t n, const char *members)
{
    struct oc_err err;
    uint64_t hash = 0;
    for (size_t first = 0, pages = 0;; pages++) {
        struct oc_page p;
        if (oc_page_make(oc_str(data, n), members, first, 1000, &p, &err)) {
            oc_page_free(&p);
            return;
        }
        if (p.json.n > 1000 || (pages && p.hash != hash) || (p.next && p.next <= first) || p.next > p.n_rows)
            abort();
        hash = p.hash;
        first = p.next;
        oc_page_free(&p);
        if (!first)
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    run_server((const char *)data, n);
    check_pages((const char *)data, n, NULL);
    check_pages((const char *)data, n, BRIEF);
    return 0;
}
