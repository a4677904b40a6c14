#include <string.h>

#include "base/diag.h"
#include "base/str.h"
#include "mcp/mcp.h"

/* ---- shared ----------------------------------------------------------------------------------------- */

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
    oc_jw_raw(w, oc_json_compact(raw.s, raw.n, &text) ? text.data : "null");
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
