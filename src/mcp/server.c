/* The messages: requests of the client, answers, calls that are in progress. */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "mcp/mcp.h"

/* Codes of JSON-RPC 2.0. */
enum { NO_JSON = -32700, NO_REQUEST = -32600, NO_METHOD = -32601, BAD_PARAMS = -32602 };

/* Answers to the messages of an array of messages, which are one array too (protocol version 2025-03-26). */
struct batch {
    struct oc_buf text;
    size_t waiting; /* messages without an answer, and 1 while the array is read */
};

struct call {
    uint64_t number;
    char *id; /* of the request, as JSON */
    size_t tool, first;
    uint64_t hash; /* of the document whose rows from `first` on are wanted */
    bool full;     /* the whole document */
    struct batch *batch;
};

struct oc_mcp {
    struct oc_mcp_opts opts;
    struct oc_buf line; /* the beginning of a message */
    bool skip;          /* to its end: it is too long */
    struct call *call;
    size_t n_call, cap_call;
    uint64_t n_calls;
};

struct request {
    struct oc_arena arena;
    const char *id;     /* as JSON, NULL: a notification */
    bool bad_number;    /* the reader takes the id, JSON does not */
    const char *method; /* NULL: an answer to a request that the server did not send */
    struct oc_str params;
    struct batch *batch;
};

/* ---- answers ---------------------------------------------------------------------------------------- */

struct answer {
    struct oc_buf text;
    struct oc_json_out w;
    const char *id;
    struct batch *batch;
};

static void open_answer(struct answer *a, const char *id, struct batch *batch)
{
    *a = (struct answer){.id = id, .batch = batch};
    a->w.f = oc_buf_stream(&a->text);
    oc_jw_begin_object(&a->w);
    oc_mcp_key_text(&a->w, "jsonrpc", "2.0");
    oc_jw_key(&a->w, "id");
    oc_jw_raw(&a->w, id);
}

static void send_line(struct oc_mcp *m, const char *text)
{
    fputs(text, m->opts.out);
    fputc('\n', m->opts.out);
    fflush(m->opts.out);
}

/* One answer, or one that does not come, less. */
static void batch_less(struct oc_mcp *m, struct batch *b)
{
    if (--b->waiting)
        return;
    oc_buf_char(&b->text, ']');
    if (b->text.n > 1)
        send_line(m, b->text.data);
    oc_buf_free(&b->text);
    free(b);
}

static void close_answer(struct oc_mcp *m, struct answer *a)
{
    oc_jw_end_object(&a->w);
    fclose(a->w.f);
    if (a->batch) {
        oc_buf_char(&a->batch->text, a->batch->text.n ? ',' : '[');
        oc_buf_add(&a->batch->text, a->text.data, a->text.n);
        batch_less(m, a->batch);
    } else {
        send_line(m, a->text.data);
    }
    oc_buf_free(&a->text);
}

static void answer_error(struct oc_mcp *m, const char *id, struct batch *batch, int code, const char *text)
{
    struct answer a;
    open_answer(&a, id ? id : "null", batch);
    oc_jw_key(&a.w, "error");
    oc_jw_begin_object(&a.w);
    oc_jw_key(&a.w, "code");
    oc_jw_i64(&a.w, code);
    oc_mcp_key_text(&a.w, "message", text);
    oc_jw_end_object(&a.w);
    close_answer(m, &a);
}

static void fail_request(struct oc_mcp *m, const struct request *r, int code, const char *text)
{
    answer_error(m, r->id, r->batch, code, text);
}

static void begin_result(struct answer *a, const struct request *r)
{
    open_answer(a, r->id, r->batch);
    oc_jw_key(&a->w, "result");
    oc_jw_begin_object(&a->w);
}

static void end_result(struct oc_mcp *m, struct answer *a)
{
    oc_jw_end_object(&a->w);
    close_answer(m, a);
}

/* ---- results of calls ------------------------------------------------------------------------------- */

static void write_text(struct oc_json_out *w, const char *text)
{
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "type", "text");
    oc_mcp_key_text(w, "text", text);
    oc_jw_end_object(w);
}

static void answer_text(struct oc_mcp *m, const char *id, struct batch *batch, const char *text, bool failed)
{
    struct answer a;
    begin_result(&a, &(struct request){.id = id, .batch = batch});
    oc_jw_key(&a.w, "content");
    oc_jw_begin_array(&a.w);
    write_text(&a.w, text);
    oc_jw_end_array(&a.w);
    if (failed) {
        oc_jw_key(&a.w, "isError");
        oc_jw_bool(&a.w, true);
    }
    end_result(m, &a);
}

static void answer_failure(struct oc_mcp *m, const char *id, struct batch *batch, const char *text)
{
    answer_text(m, id, batch, text, true);
}

/* Wrong arguments of a tool: what is wrong, and where all arguments are described. */
static void answer_usage(struct oc_mcp *m, const char *id, struct batch *batch, size_t tool, const char *text)
{
    struct oc_buf all = {0};
    oc_buf_printf(&all, "%s\nNext: call %s with {\"tool\": \"%s\"}, which lists the arguments.", text,
                  OC_MCP_HELP, m->opts.tool[tool].name);
    answer_failure(m, id, batch, all.data);
    oc_buf_free(&all);
}

static void answer_page(struct oc_mcp *m, const struct call *c, const struct oc_page *page,
                        const char *messages)
{
    char cursor[64];
    struct oc_buf note = {0};
    struct answer a;
    snprintf(cursor, sizeof(cursor), "%zu-%016llx", page->next, (unsigned long long)page->hash);
    begin_result(&a, &(struct request){.id = c->id, .batch = c->batch});
    oc_jw_key(&a.w, "content");
    oc_jw_begin_array(&a.w);
    write_text(&a.w, page->json.data);
    if (page->note.n)
        oc_buf_printf(&note, "This page has: %s.", page->note.data);
    if (page->next)
        oc_buf_printf(&note, " Next page: the same call with \"%s\": \"%s\".", OC_MCP_CURSOR, cursor);
    if (note.n)
        write_text(&a.w, note.data);
    oc_buf_free(&note);
    if (*messages)
        write_text(&a.w, messages);
    oc_jw_end_array(&a.w);
    if (page->next)
        oc_mcp_key_text(&a.w, "nextCursor", cursor);
    end_result(m, &a);
}

enum {
    WARNING_BYTES = 500,  /* of the warnings of an answer; twice as many where all are escaped */
    MESSAGE_BYTES = 1500, /* of an error */
    NOTE_BYTES = OC_PAGE_NOTE_BYTES + 200,
    FRAME_BYTES = 300 /* of an answer without these and without the document */
};

/* "line one\nline two": whole lines, as many as fit. */
static const char *clip_messages(const char *text, char *out, size_t cap)
{
    int n = snprintf(out, cap, "%s", text ? text : "");
    char *end = out + strlen(out);
    if (n >= (int)cap)
        while (end > out && *end != '\n')
            end--;
    while (end > out && end[-1] == '\n')
        end--;
    *end = '\0';
    return out;
}

static void answer_document(struct oc_mcp *m, const struct call *c, const struct oc_mcp_result *result)
{
    char messages[WARNING_BYTES];
    struct oc_page page;
    struct oc_err err;
    clip_messages(result->messages, messages, sizeof(messages));
    size_t most = (size_t)(c->full ? OC_MCP_FULL_BYTES : OC_MCP_ANSWER_BYTES) - FRAME_BYTES - NOTE_BYTES -
                  strlen(c->id) - 2 * strlen(messages);
    const char *members = c->full ? NULL : m->opts.tool[c->tool].brief;
    if (oc_page_make(oc_str(result->document, result->n), members, c->first, most, &page, &err))
        answer_failure(m, c->id, c->batch, err.msg);
    else if (c->first && (page.hash != c->hash || c->first >= page.n_rows))
        answer_failure(
            m, c->id, c->batch,
            "the document changed since the first page, or the arguments did: begin again without cursor");
    else
        answer_page(m, c, &page, messages);
    oc_page_free(&page);
}

static void remove_call(struct oc_mcp *m, size_t i)
{
    free(m->call[i].id);
    m->call[i] = m->call[--m->n_call];
}

void oc_mcp_done(struct oc_mcp *m, uint64_t number, const struct oc_mcp_result *result)
{
    OC_C_LOCALE;
    char messages[MESSAGE_BYTES];
    for (size_t i = 0; i < m->n_call; i++) {
        if (m->call[i].number != number)
            continue;
        const struct call *c = &m->call[i];
        clip_messages(result->messages, messages, sizeof(messages));
        if (result->document)
            answer_document(m, c, result);
        else if (result->usage)
            answer_usage(m, c->id, c->batch, c->tool, messages);
        else
            answer_failure(m, c->id, c->batch, messages);
        remove_call(m, i);
        return;
    }
}

/* ---- methods ---------------------------------------------------------------------------------------- */

/* Member of an object as text; NULL: it is missing, or an object or array. */
static const char *text_member(struct request *r, struct oc_str object, const char *name)
{
    struct oc_mcp_text t = oc_mcp_text_open(object);
    struct oc_str key;
    const char *found = NULL;
    if (object.n && oc_json_enter_type(t.json, OC_JSON_OBJECT))
        while (!found && oc_json_member(t.json, &key)) {
            if (oc_str_eq(key, name))
                found = oc_mcp_scalar(t.json, &r->arena);
            else
                oc_json_skip(t.json);
        }
    oc_mcp_text_close(&t);
    return found;
}

static struct oc_str object_member(struct request *r, struct oc_str object, const char *name)
{
    struct oc_mcp_text t = oc_mcp_text_open(object);
    struct oc_str key, raw, found = oc_str(NULL, 0);
    if (object.n && oc_json_enter_type(t.json, OC_JSON_OBJECT))
        while (!found.n && oc_json_member(t.json, &key)) {
            if (oc_str_eq(key, name) && oc_json_raw(t.json, &raw))
                found = oc_mcp_keep(&r->arena, raw);
            else
                oc_json_skip(t.json);
        }
    oc_mcp_text_close(&t);
    return found;
}

static void do_initialize(struct oc_mcp *m, struct request *r)
{
    static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
    const char *asked = text_member(r, r->params, "protocolVersion"), *version = versions[0];
    struct answer a;
    for (size_t i = 0; asked && i < OC_COUNT(versions); i++)
        if (!strcmp(asked, versions[i]))
            version = versions[i];
    begin_result(&a, r);
    oc_mcp_key_text(&a.w, "protocolVersion", version);
    oc_jw_key(&a.w, "capabilities");
    oc_jw_raw(&a.w, "{\"tools\":{\"listChanged\":false}}");
    oc_jw_key(&a.w, "serverInfo");
    oc_jw_begin_object(&a.w);
    oc_mcp_key_text(&a.w, "name", m->opts.name);
    oc_mcp_key_text(&a.w, "version", m->opts.version);
    oc_jw_end_object(&a.w);
    if (m->opts.instructions)
        oc_mcp_key_text(&a.w, "instructions", m->opts.instructions);
    end_result(m, &a);
}

static void do_ping(struct oc_mcp *m, struct request *r)
{
    struct answer a;
    begin_result(&a, r);
    end_result(m, &a);
}

/* The list has one page: it is in every request that a client sends to its model. */
static void do_list(struct oc_mcp *m, struct request *r)
{
    struct answer a;
    if (text_member(r, r->params, OC_MCP_CURSOR)) {
        fail_request(m, r, BAD_PARAMS, "tools/list has one page: call it without cursor");
        return;
    }
    begin_result(&a, r);
    oc_jw_key(&a.w, "tools");
    oc_jw_begin_array(&a.w);
    for (size_t i = 0; i < m->opts.n_tool; i++)
        oc_mcp_describe(&a.w, &m->opts.tool[i]);
    oc_mcp_describe(&a.w, &oc_mcp_help_tool);
    oc_jw_end_array(&a.w);
    end_result(m, &a);
}

/* The tool of this name; their number: there is none. */
static size_t find_tool(const struct oc_mcp *m, const char *name)
{
    size_t tool = 0;
    while (tool < m->opts.n_tool && !(name && !strcmp(m->opts.tool[tool].name, name)))
        tool++;
    return tool;
}

static void fail_no_tool(struct oc_mcp *m, const struct request *r)
{
    struct oc_buf text = {0};
    oc_buf_str(&text, "there is no tool of this name; tools:");
    for (size_t i = 0; i < m->opts.n_tool; i++)
        oc_buf_printf(&text, " %s,", m->opts.tool[i].name);
    oc_buf_printf(&text, " %s", OC_MCP_HELP);
    fail_request(m, r, BAD_PARAMS, text.data);
    oc_buf_free(&text);
}

static void do_help(struct oc_mcp *m, struct request *r)
{
    struct oc_buf text = {.max = OC_MCP_ANSWER_BYTES - FRAME_BYTES};
    size_t tool = find_tool(m, text_member(r, object_member(r, r->params, "arguments"), "tool"));
    if (tool == m->opts.n_tool) {
        fail_no_tool(m, r);
        return;
    }
    oc_mcp_help(&m->opts.tool[tool], &text);
    answer_text(m, r->id, r->batch, text.data, false);
    oc_buf_free(&text);
}

static bool read_cursor(const char *text, struct call *c)
{
    char *end;
    c->first = text ? (size_t)strtoull(text, &end, 10) : 0;
    if (!text || !*text)
        return true;
    c->hash = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
    return c->first > 0 && !*end;
}

static void do_call(struct oc_mcp *m, struct request *r)
{
    const char *name = text_member(r, r->params, "name");
    struct oc_mcp_arguments arguments;
    struct oc_err err;
    size_t tool = find_tool(m, name);
    if (tool == m->opts.n_tool) {
        if (name && !strcmp(name, OC_MCP_HELP))
            do_help(m, r);
        else
            fail_no_tool(m, r);
        return;
    }
    struct call c = {.number = ++m->n_calls, .tool = tool, .batch = r->batch};
    if (oc_mcp_read_arguments(&m->opts.tool[tool], object_member(r, r->params, "arguments"), &r->arena,
                              &arguments, &err)) {
        answer_usage(m, r->id, r->batch, tool, err.msg);
        return;
    }
    if (!read_cursor(arguments.cursor, &c)) {
        answer_failure(m, r->id, r->batch,
                       "the cursor is not from an answer of this tool: call again without cursor");
        return;
    }
    c.full = arguments.full;
    OC_GROW(m->call, m->n_call, m->cap_call);
    size_t bytes = strlen(r->id) + 1;
    c.id = oc_xmalloc(bytes);
    memcpy(c.id, r->id, bytes);
    m->call[m->n_call++] = c;
    m->opts.start(m->opts.arg, c.number, tool, arguments.value, arguments.n);
}

/* ---- notifications ---------------------------------------------------------------------------------- */

static const char *read_id(struct request *r, struct oc_json *j);

static void do_cancelled(struct oc_mcp *m, struct request *r)
{
    struct oc_str raw = object_member(r, r->params, "requestId");
    struct oc_mcp_text t = oc_mcp_text_open(raw);
    const char *id = raw.n ? read_id(r, t.json) : NULL;
    oc_mcp_text_close(&t);
    for (size_t i = 0; id && i < m->n_call; i++) {
        if (strcmp(m->call[i].id, id) != 0)
            continue;
        struct batch *batch = m->call[i].batch;
        m->opts.cancel(m->opts.arg, m->call[i].number);
        remove_call(m, i);
        if (batch)
            batch_less(m, batch);
        return;
    }
}

static const struct {
    const char *name;
    void (*run)(struct oc_mcp *m, struct request *r);
    bool notification;
} methods[] = {
    {"initialize", do_initialize, false},
    {"ping", do_ping, false},
    {"tools/list", do_list, false},
    {"tools/call", do_call, false},
    {"notifications/cancelled", do_cancelled, true},
};

/* ---- requests --------------------------------------------------------------------------------------- */

static const char *after_digits(const char *s)
{
    return s + strspn(s, "0123456789");
}

/* By the grammar of RFC 8259. */
static bool is_number(const char *s)
{
    s += *s == '-';
    const char *end = *s == '0' ? s + 1 : after_digits(s);
    if (end == s)
        return false;
    if (*end == '.') {
        s = end + 1;
        end = after_digits(s);
        if (end == s)
            return false;
    }
    if (*end == 'e' || *end == 'E') {
        s = end + 1 + (end[1] == '-' || end[1] == '+');
        end = after_digits(s);
        if (end == s)
            return false;
    }
    return !*end;
}

/* A string or an integer as JSON; NULL: something else, or too long. */
static const char *read_id(struct request *r, struct oc_json *j)
{
    enum oc_json_type type = oc_json_peek(j);
    const char *text = oc_mcp_scalar(j, &r->arena);
    if (!text || strlen(text) > OC_MCP_ID_BYTES)
        return NULL;
    if (type == OC_JSON_NUMBER) {
        r->bad_number = !is_number(text);
        size_t digits = strspn(text + (*text == '-'), "0123456789");
        return digits && !text[(*text == '-') + digits] ? text : NULL;
    }
    struct oc_buf quoted = {0};
    struct oc_json_out w = {.f = oc_buf_stream(&quoted)};
    oc_jw_string(&w, text);
    fclose(w.f);
    text = oc_strndup(&r->arena, quoted.data, quoted.n);
    oc_buf_free(&quoted);
    return text;
}

/* Returns NULL, or why it is not a request. */
static const char *read_request(struct request *r, struct oc_json *j)
{
    struct oc_str key, raw;
    bool version = false, id = false, answer = false;
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return "a message is an object";
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "jsonrpc")) {
            const char *text = oc_mcp_scalar(j, &r->arena);
            version = text && !strcmp(text, "2.0");
        } else if (oc_str_eq(key, "method")) {
            r->method = oc_mcp_scalar(j, &r->arena);
        } else if (oc_str_eq(key, "id")) {
            id = true;
            r->id = read_id(r, j);
        } else if (oc_str_eq(key, "params") && oc_json_raw(j, &raw)) {
            r->params = oc_mcp_keep(&r->arena, raw);
        } else {
            answer |= oc_str_eq(key, "result") || oc_str_eq(key, "error");
            oc_json_skip(j);
        }
    }
    if (answer && !r->method)
        return NULL;
    return !version       ? "\"jsonrpc\" must be \"2.0\""
           : !r->method   ? "\"method\" must be a string"
           : id && !r->id ? "\"id\" must be a string of at most 200 bytes, or an integer"
                          : NULL;
}

static void run_request(struct oc_mcp *m, struct request *r)
{
    size_t i = 0;
    while (r->method && i < OC_COUNT(methods) && strcmp(methods[i].name, r->method) != 0)
        i++;
    bool known = r->method && i < OC_COUNT(methods);
    if (!r->id || !r->method) {
        if (known && methods[i].notification)
            methods[i].run(m, r);
        if (r->batch)
            batch_less(m, r->batch);
    } else if (known && !methods[i].notification) {
        methods[i].run(m, r);
    } else {
        fail_request(m, r, NO_METHOD,
                     "the server has the methods initialize, ping, tools/list and tools/call");
    }
}

static void take_message(struct oc_mcp *m, struct oc_json *j, struct batch *batch)
{
    struct request r = {.batch = batch};
    uint64_t offset;
    bool empty = oc_json_peek(j) == OC_JSON_NONE;
    const char *why = read_request(&r, j);
    if (batch)
        batch->waiting++;
    if (empty || r.bad_number || oc_json_error(j, &offset) || oc_json_truncated(j) ||
        (!batch && oc_json_peek(j) != OC_JSON_NONE))
        answer_error(m, NULL, batch, NO_JSON, "the line is not one JSON value");
    else if (why)
        fail_request(m, &r, NO_REQUEST, why);
    else
        run_request(m, &r);
    oc_arena_free(&r.arena);
}

static void take_batch(struct oc_mcp *m, struct oc_json *j)
{
    struct batch *b = oc_xmalloc(sizeof(*b));
    struct oc_str raw;
    *b = (struct batch){.waiting = 1};
    size_t n = 0;
    for (oc_json_enter(j); oc_json_item(j) && oc_json_raw(j, &raw); n++) {
        struct oc_mcp_text t = oc_mcp_text_open(raw);
        take_message(m, t.json, b);
        oc_mcp_text_close(&t);
    }
    if (!n) {
        b->waiting++;
        answer_error(m, NULL, b, NO_REQUEST, "the array has no messages");
    }
    batch_less(m, b);
}

static void take_line(struct oc_mcp *m, struct oc_str line)
{
    while (line.n && strchr(" \t\r", line.s[line.n - 1]) && line.s[line.n - 1])
        line.n--;
    if (!line.n)
        return;
    struct oc_mcp_text t = oc_mcp_text_open(line);
    if (oc_json_peek(t.json) == OC_JSON_ARRAY)
        take_batch(m, t.json);
    else
        take_message(m, t.json, NULL);
    oc_mcp_text_close(&t);
}

void oc_mcp_take(struct oc_mcp *m, const char *data, size_t n)
{
    OC_C_LOCALE;
    while (n) {
        const char *end = memchr(data, '\n', n);
        size_t part = end ? (size_t)(end - data) : n;
        if (!m->skip)
            oc_buf_add(&m->line, data, part);
        if (m->line.n > OC_MCP_LINE_BYTES && !m->skip) {
            answer_error(m, NULL, NULL, NO_REQUEST, "the message has more than 1048576 bytes");
            m->skip = true;
        }
        if (end && !m->skip)
            take_line(m, oc_str(m->line.data, m->line.n));
        if (end || m->skip)
            oc_buf_clear(&m->line);
        m->skip &= !end;
        part += end != NULL;
        data += part;
        n -= part;
    }
}

void oc_mcp_end(struct oc_mcp *m)
{
    if (m->line.n)
        oc_mcp_take(m, "\n", 1);
}

int oc_mcp_open(const struct oc_mcp_opts *opts, struct oc_mcp **out, struct oc_err *err)
{
    struct oc_mcp *m = oc_xmalloc(sizeof(*m));
    *m = (struct oc_mcp){.n_call = 0};
    if (OC_OPTIONS(&m->opts, opts, err)) {
        free(m);
        return -1;
    }
    *out = m;
    return 0;
}

void oc_mcp_close(struct oc_mcp *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_call; i++) {
        struct batch *b = m->call[i].batch;
        free(m->call[i].id);
        if (b && --b->waiting == 0) {
            oc_buf_free(&b->text);
            free(b);
        }
    }
    free(m->call);
    oc_buf_free(&m->line);
    free(m);
}
