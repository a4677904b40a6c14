/* A tool of the server: pages of the document that it returns, its description, the arguments of a call. */
#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

/* ---- pages ------------------------------------------------------------------------------------------ */

enum { MAX_DEPTH = 256, MAX_NAME = 120 };

struct row {
    size_t from, to; /* in the text without blanks */
    size_t cost;     /* bytes of both copies, with the comma */
};

struct table {       /* an array whose items are rows */
    size_t from, to; /* of the text between the brackets */
    size_t first, n; /* rows */
    char name[MAX_NAME];
};

struct pages {
    struct oc_buf text; /* without blanks */
    struct row *row;
    struct table *table;
    size_t n_row, cap_row, n_table, cap_table;
    size_t rest_cost; /* of the text without rows */
};

/* ---- pages: text ------------------------------------------------------------------------------------ */

/* The character after a string that begins at `at`; n: there is no end. */
static size_t skip_string(const char *s, size_t n, size_t at)
{
    for (at++; at < n && s[at] != '"'; at++)
        at += s[at] == '\\';
    return at < n ? at + 1 : n;
}

/* Appends the text without blanks between its parts. False: strings or brackets are not complete, or a line
 * ends in a string. */
static bool json_compact(const char *s, size_t n, struct oc_buf *out)
{
    char open[MAX_DEPTH];
    size_t depth = 0;
    bool closed = false;
    for (size_t i = 0; i < n;) {
        size_t end = s[i] == '"' ? skip_string(s, n, i) : i + 1;
        if ((s[i] == '"' && (end - i < 2 || s[end - 1] != '"')) || (closed && !strchr(" \t\r\n", s[i])))
            return false;
        if ((s[i] == '{' || s[i] == '[') && depth < MAX_DEPTH)
            open[depth++] = s[i] == '{' ? '}' : ']';
        else if (s[i] == '{' || s[i] == '[' ||
                 ((s[i] == '}' || s[i] == ']') && (!depth || open[--depth] != s[i])))
            return false;
        if (!strchr(" \t\r\n", s[i]) || !s[i])
            oc_buf_add(out, s + i, end - i);
        closed |= strchr("]}", s[i]) && !depth;
        i = end;
    }
    return depth == 0 && out->n && !memchr(out->data, '\n', out->n);
}

/* The character after a value: a comma, a closing bracket or the end. */
static size_t skip_value(const char *s, size_t n, size_t at)
{
    for (size_t depth = 0; at < n;) {
        if (!depth && strchr(",]}", s[at]))
            break;
        depth += s[at] == '{' || s[at] == '[';
        depth -= s[at] == '}' || s[at] == ']';
        at = s[at] == '"' ? skip_string(s, n, at) : at + 1;
    }
    return at;
}

/* Bytes of a text, and of the same text inside a JSON string. */
static size_t cost_of(const char *s, size_t n)
{
    size_t cost = 2 * n;
    for (size_t i = 0; i < n; i++)
        cost += s[i] == '"' || s[i] == '\\';
    return cost;
}

/* ---- pages: rows ------------------------------------------------------------------------------------ */

/* "model.inputs": the members that lead to an array. */
struct path {
    size_t n;
    struct {
        const char *s;
        size_t n;
    } key[MAX_DEPTH];
};

static void name_table(struct table *t, const struct path *path)
{
    for (size_t i = 0, at = 0; i < path->n && at < MAX_NAME; i++)
        at += (size_t)snprintf(t->name + at, MAX_NAME - at, "%s%.*s", i ? "." : "", (int)path->key[i].n,
                               path->key[i].s);
}

static void add_table(struct pages *p, const struct path *path, size_t from, size_t to)
{
    const char *s = p->text.data;
    OC_GROW(p->table, p->n_table, p->cap_table);
    struct table *t = &p->table[p->n_table++];
    *t = (struct table){.from = from, .to = to, .first = p->n_row};
    name_table(t, path);
    for (size_t at = from; at < to; at++) {
        size_t end = skip_value(s, to, at);
        OC_GROW(p->row, p->n_row, p->cap_row);
        p->row[p->n_row++] = (struct row){at, end, cost_of(s + at, end - at) + 2};
        at = end;
    }
    t->n = p->n_row - t->first;
}

static void find_rows(struct pages *p)
{
    static struct path none;
    struct path path = none;
    const char *s = p->text.data;
    size_t n = p->text.n;
    bool key = false; /* a name follows */
    for (size_t i = 0; i < n;) {
        size_t end = s[i] == '"' ? skip_string(s, n, i) : i + 1;
        if (s[i] == '{' && path.n < MAX_DEPTH)
            path.key[path.n++].n = 0;
        else if (s[i] == '}' && path.n)
            path.n--;
        if (s[i] == '"' && key && path.n) {
            path.key[path.n - 1].s = s + i + 1;
            path.key[path.n - 1].n = end - i - 2;
        }
        if (s[i] == '[') {
            end = skip_value(s, n, i);
            if (end - i > OC_PAGE_KEPT_BYTES)
                add_table(p, &path, i + 1, end - 1);
        }
        key = s[i] == '{' || s[i] == ',';
        i = end;
    }
    p->rest_cost = cost_of(s, n);
    for (size_t i = 0; i < p->n_table; i++)
        p->rest_cost -= cost_of(s + p->table[i].from, p->table[i].to - p->table[i].from);
}

/* ---- pages: choice of rows -------------------------------------------------------------------------- */

/* The row after the last one that fits. */
static size_t fill_page(const struct pages *p, size_t first, size_t room)
{
    size_t i = first;
    for (; i < p->n_row && p->row[i].cost <= room; i++)
        room -= p->row[i].cost;
    return i;
}

static void write_page(const struct pages *p, size_t first, size_t end, struct oc_buf *out)
{
    size_t at = 0;
    for (size_t k = 0; k < p->n_table; k++) {
        const struct table *t = &p->table[k];
        oc_buf_add(out, p->text.data + at, t->from - at);
        at = t->to;
        size_t i = first > t->first ? first : t->first, last = end < t->first + t->n ? end : t->first + t->n;
        for (bool comma = false; i < last; i++, comma = true) {
            if (comma)
                oc_buf_char(out, ',');
            oc_buf_add(out, p->text.data + p->row[i].from, p->row[i].to - p->row[i].from);
        }
    }
    oc_buf_add(out, p->text.data + at, p->text.n - at);
}

static void describe_page(const struct pages *p, size_t first, size_t end, struct oc_buf *note)
{
    for (size_t k = 0; k < p->n_table && (first || end < p->n_row); k++) {
        const struct table *t = &p->table[k];
        size_t i = first > t->first ? first : t->first, last = end < t->first + t->n ? end : t->first + t->n;
        oc_buf_printf(note, "%s%s ", k ? ", " : "", t->name);
        if (i < last)
            oc_buf_printf(note, "%zu to %zu of %zu", i - t->first + 1, last - t->first, t->n);
        else
            oc_buf_printf(note, "0 of %zu", t->n);
    }
}

static uint64_t hash_of(const char *s, size_t n) /* FNV-1a */
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return h;
}

static int make_page(const struct pages *p, size_t first, size_t most, struct oc_page *out,
                     struct oc_err *err)
{
    size_t room = most > p->rest_cost ? most - p->rest_cost : 0, end = fill_page(p, first, room);
    out->twice = p->rest_cost <= most && (end > first || first >= p->n_row);
    if (!out->twice) { /* half of the cost, or less */
        room = 2 * most > p->rest_cost ? 2 * most - p->rest_cost : 0;
        end = fill_page(p, first, room);
        if (p->rest_cost > 2 * most)
            return oc_fail(err, OC_ELIMIT,
                           "the document has more than %zu bytes without its rows: use the program", most);
    }
    write_page(p, first, end, &out->json);
    if (end == first && first < p->n_row) { /* too large for any page */
        oc_buf_printf(&out->note, "row left out because it has %zu bytes: use the program; ",
                      p->row[first].to - p->row[first].from);
        end++;
    }
    describe_page(p, first, end, &out->note);
    out->next = end < p->n_row ? end : 0;
    out->n_rows = p->n_row;
    return 0;
}

int oc_page_make(const char *document, size_t n, size_t first, size_t most_bytes, struct oc_page *out,
                 struct oc_err *err)
{
    struct pages p = {.n_row = 0};
    int rc = -1;
    *out = (struct oc_page){.note = {.max = OC_PAGE_NOTE_BYTES}};
    if (!json_compact(document, n, &p.text) || p.text.data[0] != '{') {
        oc_fail(err, OC_EFORMAT, "the result is not a JSON object");
    } else {
        find_rows(&p);
        out->hash = hash_of(p.text.data, p.text.n);
        rc = make_page(&p, first < p.n_row ? first : p.n_row, most_bytes, out, err);
    }
    oc_buf_free(&p.text);
    free(p.row);
    free(p.table);
    return rc;
}

void oc_page_free(struct oc_page *p)
{
    oc_buf_free(&p->json);
    oc_buf_free(&p->note);
}

/* ---- texts of JSON ---------------------------------------------------------------------------------- */

struct oc_mcp_text oc_mcp_text_open(struct oc_str s)
{
    struct oc_stream *stream = oc_stream_mem(s.s, s.n);
    return (struct oc_mcp_text){stream, oc_json_open(stream)};
}

void oc_mcp_text_close(struct oc_mcp_text *t)
{
    oc_json_close(t->json);
    oc_stream_close(t->stream);
}

struct oc_str oc_mcp_keep(struct oc_arena *arena, struct oc_str s)
{
    return oc_str(oc_strndup(arena, s.n ? s.s : "", s.n), s.n);
}

const char *oc_mcp_scalar(struct oc_json *j, struct oc_arena *arena)
{
    struct oc_str s;
    enum oc_json_type type = oc_json_peek(j);
    if (type == OC_JSON_STRING && oc_json_string(j, &s) && !(s.n && memchr(s.s, '\0', s.n)))
        return oc_mcp_keep(arena, s).s;
    if (type == OC_JSON_NUMBER && oc_json_raw(j, &s))
        return oc_mcp_keep(arena, s).s;
    if (type != OC_JSON_STRING && type != OC_JSON_NUMBER)
        oc_json_skip(j);
    return NULL;
}

void oc_mcp_key_text(struct oc_json_out *w, const char *key, const char *s)
{
    oc_jw_key(w, key);
    oc_jw_string(w, s);
}

/* ---- descriptions ----------------------------------------------------------------------------------- */

static void write_choices(struct oc_json_out *w, const char *choices)
{
    struct oc_arena arena = {0};
    oc_jw_key(w, "enum");
    oc_jw_begin_array(w);
    for (const char *p = choices; *p;) {
        size_t n = strcspn(p, "|");
        oc_jw_string(w, oc_strndup(&arena, p, n));
        p += n + (p[n] == '|');
    }
    oc_jw_end_array(w);
    oc_arena_free(&arena);
}

static void write_param(struct oc_json_out *w, const struct oc_mcp_param *p)
{
    static const char *const type[] = {[OC_MCP_TEXT] = "string",
                                       [OC_MCP_LIST] = "array",
                                       [OC_MCP_FLAG] = "boolean",
                                       [OC_MCP_INT] = "integer"};
    oc_jw_key(w, p->name);
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "type", type[p->kind]);
    oc_mcp_key_text(w, "description", p->about);
    if (p->kind == OC_MCP_LIST) {
        oc_jw_key(w, "items");
        oc_jw_raw(w, "{\"type\":\"string\"}");
    }
    if (p->choices)
        write_choices(w, p->choices);
    oc_jw_end_object(w);
}

static void write_input_schema(struct oc_json_out *w, const struct oc_mcp_tool *tool)
{
    static const struct oc_mcp_param cursor = {
        .name = OC_MCP_CURSOR, .about = "the next page of an answer, with the same other arguments"};
    oc_jw_key(w, "inputSchema");
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "type", "object");
    oc_jw_key(w, "properties");
    oc_jw_begin_object(w);
    for (size_t i = 0; i < tool->n_param; i++)
        write_param(w, &tool->param[i]);
    write_param(w, &cursor);
    oc_jw_end_object(w);
    oc_jw_key(w, "required");
    oc_jw_begin_array(w);
    for (size_t i = 0; i < tool->n_param; i++)
        if (tool->param[i].required)
            oc_jw_string(w, tool->param[i].name);
    oc_jw_end_array(w);
    oc_jw_key(w, "additionalProperties");
    oc_jw_bool(w, false);
    oc_jw_end_object(w);
}

/* A message is one line, so a value with line breaks is written without them. */
static void copy_value(struct oc_json_out *w, const char *key, struct oc_str raw)
{
    struct oc_buf text = {0};
    oc_jw_key(w, key);
    oc_jw_raw(w, json_compact(raw.s, raw.n, &text) ? text.data : "null");
    oc_buf_free(&text);
}

/* Copies members of the current object whose name is listed. */
static void copy_members(struct oc_json_out *w, struct oc_json *j, const char *const *name, size_t n)
{
    struct oc_str key, raw;
    for (oc_jw_begin_object(w); oc_json_member(j, &key);) {
        size_t i = 0;
        while (i < n && !oc_str_eq(key, name[i]))
            i++;
        if (i == n || !oc_json_raw(j, &raw)) {
            oc_json_skip(j);
            continue;
        }
        copy_value(w, name[i], raw);
    }
    oc_jw_end_object(w);
}

/* The members of a document with their type and description: a whole schema is larger than an answer may be.
 */
static void write_output_schema(struct oc_json_out *w, const char *schema)
{
    static const char *const wanted[] = {"type", "description"};
    struct oc_mcp_text t = oc_mcp_text_open(oc_str(schema, strlen(schema)));
    struct oc_str key, raw;
    oc_jw_key(w, "outputSchema");
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "type", "object");
    for (oc_json_enter(t.json); oc_json_member(t.json, &key);) {
        struct oc_arena arena = {0};
        if (oc_str_eq(key, "required") && oc_json_raw(t.json, &raw)) {
            copy_value(w, "required", raw);
        } else if (oc_str_eq(key, "properties") && oc_json_enter(t.json)) {
            oc_jw_key(w, "properties");
            for (oc_jw_begin_object(w); oc_json_member(t.json, &key);) {
                oc_jw_key(w, oc_mcp_keep(&arena, key).s);
                if (oc_json_enter_type(t.json, OC_JSON_OBJECT))
                    copy_members(w, t.json, wanted, OC_COUNT(wanted));
                else
                    oc_jw_raw(w, "{}");
            }
            oc_jw_end_object(w);
        } else {
            oc_json_skip(t.json);
        }
        oc_arena_free(&arena);
    }
    oc_jw_end_object(w);
    oc_mcp_text_close(&t);
}

void oc_mcp_describe(struct oc_json_out *w, const struct oc_mcp_tool *tool)
{
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "name", tool->name);
    oc_mcp_key_text(w, "title", tool->title);
    oc_mcp_key_text(w, "description", tool->about);
    write_input_schema(w, tool);
    if (tool->schema)
        write_output_schema(w, tool->schema);
    oc_jw_key(w, "annotations");
    oc_jw_raw(w, "{\"readOnlyHint\":true}");
    oc_jw_end_object(w);
}

/* ---- arguments -------------------------------------------------------------------------------------- */

static void add_value(struct oc_mcp_arguments *a, size_t param, const char *text, struct oc_arena *arena)
{
    if (a->n == a->cap) {
        struct oc_mcp_value *old = a->value;
        a->cap = a->cap ? 2 * a->cap : 16;
        a->value = OC_NEW_ARRAY(arena, a->cap, struct oc_mcp_value);
        if (a->n)
            memcpy(a->value, old, a->n * sizeof(*old));
    }
    a->value[a->n++] = (struct oc_mcp_value){param, text};
}

static int fail_type(const struct oc_mcp_param *p, struct oc_err *err)
{
    static const char *const what[] = {[OC_MCP_TEXT] = "a string",
                                       [OC_MCP_LIST] = "an array of strings",
                                       [OC_MCP_FLAG] = "true or false",
                                       [OC_MCP_INT] = "an integer"};
    return oc_fail(err, OC_EARG, "argument '%s' must be %s", p->name, what[p->kind]);
}

static int read_value(const struct oc_mcp_tool *tool, size_t param, struct oc_json *j, struct oc_arena *arena,
                      struct oc_mcp_arguments *out, struct oc_err *err)
{
    const struct oc_mcp_param *p = &tool->param[param];
    enum oc_json_type type = oc_json_peek(j);
    if (type == OC_JSON_NULL) {
        oc_json_skip(j);
        return 0;
    }
    if (p->kind == OC_MCP_FLAG) {
        if (type == OC_JSON_TRUE)
            add_value(out, param, "", arena);
        oc_json_skip(j);
        return type == OC_JSON_TRUE || type == OC_JSON_FALSE ? 0 : fail_type(p, err);
    }
    if (p->kind == OC_MCP_LIST && type == OC_JSON_ARRAY) {
        for (oc_json_enter(j); oc_json_item(j);) {
            const char *text = oc_mcp_scalar(j, arena);
            if (!text)
                return fail_type(p, err);
            add_value(out, param, text, arena);
        }
        return 0;
    }
    const char *text = oc_mcp_scalar(j, arena);
    if (!text || (p->kind == OC_MCP_INT && (!*text || text[strspn(text, "0123456789-")])))
        return fail_type(p, err);
    add_value(out, param, text, arena);
    return 0;
}

static int fail_no_param(const struct oc_mcp_tool *tool, struct oc_str key, struct oc_arena *arena,
                         struct oc_err *err)
{
    const char **names = OC_NEW_ARRAY(arena, tool->n_param + 1, const char *);
    for (size_t i = 0; i < tool->n_param; i++)
        names[i] = tool->param[i].name;
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "argument",
                                                .given = oc_mcp_keep(arena, key).s,
                                                .given_n = key.n,
                                                .valid = names,
                                                .n = tool->n_param});
}

static int check_required(const struct oc_mcp_tool *tool, const struct oc_mcp_arguments *a,
                          struct oc_err *err)
{
    for (size_t i = 0; i < tool->n_param; i++) {
        bool given = !tool->param[i].required;
        for (size_t k = 0; k < a->n && !given; k++)
            given = a->value[k].param == i;
        if (!given)
            return oc_fail(err, OC_EARG, "tool '%s' needs the argument '%s'", tool->name,
                           tool->param[i].name);
    }
    return 0;
}

int oc_mcp_read_arguments(const struct oc_mcp_tool *tool, struct oc_str json, struct oc_arena *arena,
                          struct oc_mcp_arguments *out, struct oc_err *err)
{
    struct oc_mcp_text t = oc_mcp_text_open(json);
    struct oc_str key;
    int rc = 0;
    *out = (struct oc_mcp_arguments){.n = 0};
    if (json.n && !oc_json_enter_type(t.json, OC_JSON_OBJECT))
        rc = oc_fail(err, OC_EARG, "the arguments must be an object");
    while (!rc && json.n && oc_json_member(t.json, &key)) {
        size_t i = 0;
        while (i < tool->n_param && !oc_str_eq(key, tool->param[i].name))
            i++;
        if (i < tool->n_param)
            rc = read_value(tool, i, t.json, arena, out, err);
        else if (!oc_str_eq(key, OC_MCP_CURSOR))
            rc = fail_no_param(tool, key, arena, err);
        else
            out->cursor = oc_mcp_scalar(t.json, arena);
    }
    oc_mcp_text_close(&t);
    return rc ? rc : check_required(tool, out, err);
}
