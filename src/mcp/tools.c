/* A tool of the server: its description in the list of tools, its help, the arguments of a call. The list has the usual
 * arguments alone, with the form of their values, because a client sends it with every request to its model; the tool
 * `help` describes all of them. */
#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

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

static const char *const type_name[] = {
    [OC_MCP_TEXT] = "string", [OC_MCP_LIST] = "array", [OC_MCP_FLAG] = "boolean", [OC_MCP_INT] = "integer"};

/* Arguments of every tool but `help`. */
static const struct oc_mcp_param common[] = {
    {.name = OC_MCP_CURSOR, .about = "of an answer: the next page, with the same other arguments"},
    {.name = OC_MCP_FULL, .about = "the whole document, in pages of 20,000 bytes", .kind = OC_MCP_FLAG},
};

static const struct oc_mcp_param help_params[] = {
    {.name = "tool", .about = "name of a tool", .required = true},
};

const struct oc_mcp_tool oc_mcp_help_tool = {
    .name = OC_MCP_HELP,
    .about = "All arguments of a tool, of which this list has the usual ones.",
    .param = help_params,
    .n_param = OC_COUNT(help_params),
};

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
    oc_jw_key(w, p->name);
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "type", type_name[p->kind]);
    if (p->form)
        oc_mcp_key_text(w, "description", p->form);
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
    bool any = false;
    oc_jw_key(w, "inputSchema");
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "type", "object");
    oc_jw_key(w, "properties");
    oc_jw_begin_object(w);
    for (size_t i = 0; i < tool->n_param; i++) {
        any |= tool->param[i].required;
        if (!tool->param[i].rare)
            write_param(w, &tool->param[i]);
    }
    if (tool != &oc_mcp_help_tool)
        write_param(w, &common[0]);
    oc_jw_end_object(w);
    if (any) {
        oc_jw_key(w, "required");
        oc_jw_begin_array(w);
        for (size_t i = 0; i < tool->n_param; i++)
            if (tool->param[i].required)
                oc_jw_string(w, tool->param[i].name);
        oc_jw_end_array(w);
    }
    oc_jw_end_object(w);
}

void oc_mcp_describe(struct oc_json_out *w, const struct oc_mcp_tool *tool)
{
    oc_jw_begin_object(w);
    oc_mcp_key_text(w, "name", tool->name);
    oc_mcp_key_text(w, "description", tool->about);
    write_input_schema(w, tool);
    oc_jw_key(w, "annotations");
    oc_jw_raw(w, "{\"readOnlyHint\":true}");
    oc_jw_end_object(w);
}

static void help_param(const struct oc_mcp_param *p, struct oc_buf *out)
{
    oc_buf_printf(out, "\n%s (%s%s): %s%s%s", p->name, type_name[p->kind], p->required ? ", required" : "",
                  p->about, p->choices ? "; " : "", p->choices ? p->choices : "");
}

void oc_mcp_help(const struct oc_mcp_tool *tool, struct oc_buf *out)
{
    oc_buf_printf(out, "%s: %s", tool->name, tool->about);
    for (size_t i = 0; i < tool->n_param; i++)
        help_param(&tool->param[i], out);
    for (size_t i = 0; tool != &oc_mcp_help_tool && i < OC_COUNT(common); i++)
        help_param(&common[i], out);
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

static int read_full(struct oc_json *j, struct oc_mcp_arguments *out, struct oc_err *err)
{
    enum oc_json_type type = oc_json_peek(j);
    out->full = type == OC_JSON_TRUE;
    oc_json_skip(j);
    return type == OC_JSON_TRUE || type == OC_JSON_FALSE || type == OC_JSON_NULL ? 0
                                                                                 : fail_type(&common[1], err);
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
        else if (oc_str_eq(key, OC_MCP_CURSOR))
            out->cursor = oc_mcp_scalar(t.json, arena);
        else if (oc_str_eq(key, OC_MCP_FULL))
            rc = read_full(t.json, out, err);
        else
            rc = fail_no_param(tool, key, arena, err);
    }
    oc_mcp_text_close(&t);
    return rc ? rc : check_required(tool, out, err);
}
