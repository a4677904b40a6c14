/* mcp/: Server of the Model Context Protocol: messages and pages of documents. Commands are not named here:
 * the tools are made by cli/cmd_mcp.c.
 * server.c reads messages, tools.c describes tools and reads arguments, pages.c divides documents, brief.c shortens them.
 * Private to the folder: mcp.h. */

/* The brief form of a document: the members that a tool lists, in the order of the list. An agent pays for every byte of an
 * answer, so rows are lists of values under one list of columns, members and columns without values are left out, and
 * numbers with a fraction have six digits. Whole numbers are exact. The text that is read here has balanced brackets, at
 * most 256 deep, and no blanks (pages.c); nothing else is taken for granted. */
#include "mcp/mcp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

enum { MOST_COLUMNS = 24, MOST_NUMBER = 40 };

/* "name=a.b": the name in the brief form, and the members that lead to the value. */
struct member {
    struct oc_str name, path;
};

static struct member read_member(struct oc_str text)
{
    const char *is = oc_str_chr(text, '=');
    struct oc_str path = is ? oc_str_from(text, is + 1) : text;
    return (struct member){is ? oc_str_before(text, is) : text, path};
}

static bool has_value(struct oc_str value)
{
    return value.n && !oc_str_eq(value, "null") && !oc_str_eq(value, "[]") && !oc_str_eq(value, "{}") &&
           !oc_str_eq(value, "\"\"");
}

/* ---- values ----------------------------------------------------------------------------------------- */

/* The next item of an array or member of an object, from *at on. False: there is none. */
static bool next_item(struct oc_str s, size_t *at, struct oc_str *key, struct oc_str *value)
{
    size_t i = *at ? *at : 1;
    *key = oc_str(NULL, 0);
    if (i + 1 >= s.n)
        return false;
    if (s.s[0] == '{') {
        size_t end = s.s[i] == '"' ? oc_mcp_skip_string(s.s, s.n, i) : i;
        if (end < i + 2 || end >= s.n || s.s[end] != ':')
            return false;
        *key = oc_str(s.s + i + 1, end - i - 2);
        i = end + 1;
    }
    if (i >= s.n)
        return false;
    size_t end = oc_mcp_skip_value(s.s, s.n, i);
    *value = oc_str(s.s + i, end - i);
    *at = end + 1;
    return true;
}

static bool is_number(struct oc_str s)
{
    return s.n && s.n < MOST_NUMBER && (s.s[0] == '-' || (s.s[0] >= '0' && s.s[0] <= '9'));
}

static void write_number(struct oc_str s, struct oc_buf *out)
{
    double v;
    bool fraction = oc_str_chr(s, '.') || oc_str_chr(s, 'e') || oc_str_chr(s, 'E');
    if (!fraction || !oc_parse_double(s.s, s.n, &v) || !isfinite(v))
        oc_buf_add(out, s.s, s.n);
    else
        oc_buf_printf(out, fabs(v) < 1e15 && v == floor(v) ? "%.0f" : "%.6g", v);
}

/* Recursion ends at the depth of the text. */
static void write_value(struct oc_str s, struct oc_buf *out)
{
    struct oc_str key, value;
    if (is_number(s)) {
        write_number(s, out);
        return;
    }
    if (s.s[0] != '{' && s.s[0] != '[') {
        oc_buf_add(out, s.s, s.n);
        return;
    }
    bool any = false, object = s.s[0] == '{';
    oc_buf_char(out, s.s[0]);
    for (size_t at = 0; next_item(s, &at, &key, &value);) {
        if (!value.n || (object && !has_value(value)))
            continue;
        if (any)
            oc_buf_char(out, ',');
        if (object)
            oc_buf_printf(out, "\"%.*s\":", (int)key.n, key.s);
        write_value(value, out);
        any = true;
    }
    oc_buf_char(out, object ? '}' : ']');
}

/* The value at a path such as "a.b"; a number in it is the index of an item. Empty: there is none. */
static struct oc_str value_at(struct oc_str s, struct oc_str path)
{
    while (path.n && s.n) {
        struct oc_str step = oc_str_take(&path, '.'), key, value, found = oc_str(NULL, 0);
        bool array = s.s[0] == '[';
        size_t index = array ? (size_t)strtoul(step.s, NULL, 10) : 0, i = 0;
        if (!array && s.s[0] != '{')
            return oc_str(NULL, 0);
        for (size_t at = 0; !found.n && next_item(s, &at, &key, &value); i++)
            if (array ? i == index : key.n == step.n && !memcmp(key.s, step.s, step.n))
                found = value;
        s = found;
    }
    return s;
}

/* ---- tables ----------------------------------------------------------------------------------------- */

struct columns {
    struct member of[MOST_COLUMNS];
    bool used[MOST_COLUMNS];
    size_t n;
};

/* False: there are columns and the first one of an array, or each of an object, has no value. */
static bool read_columns(struct oc_str list, struct oc_str value, struct columns *out)
{
    struct oc_str key, row;
    bool array = value.s[0] == '[', any = false;
    *out = (struct columns){.n = 0};
    while (list.n && out->n < MOST_COLUMNS)
        out->of[out->n++] = read_member(oc_str_take(&list, ','));
    for (size_t at = 0; array && next_item(value, &at, &key, &row);)
        for (size_t i = 0; i < out->n; i++)
            out->used[i] = out->used[i] || has_value(value_at(row, out->of[i].path));
    for (size_t i = 0; !array && i < out->n; i++) {
        out->used[i] = has_value(value_at(value, out->of[i].path));
        any |= out->used[i];
    }
    return !out->n || (array ? out->used[0] : any);
}

static void write_row(struct oc_str row, const struct columns *c, struct oc_buf *out)
{
    char mark = '[';
    for (size_t i = 0; i < c->n; i++) {
        if (!c->used[i])
            continue;
        struct oc_str value = value_at(row, c->of[i].path);
        oc_buf_char(out, mark);
        mark = ',';
        if (has_value(value))
            write_value(value, out);
        else
            oc_buf_str(out, "null");
    }
    oc_buf_char(out, ']');
}

static void write_table(struct oc_str table, const struct columns *c, struct oc_buf *out)
{
    struct oc_str key, row;
    const char *mark = "";
    oc_buf_str(out, "{\"columns\":[");
    for (size_t i = 0; i < c->n; i++)
        if (c->used[i]) {
            oc_buf_printf(out, "%s\"%.*s\"", mark, (int)c->of[i].name.n, c->of[i].name.s);
            mark = ",";
        }
    oc_buf_str(out, "],\"rows\":[");
    mark = "";
    for (size_t at = 0; next_item(table, &at, &key, &row); mark = ",") {
        oc_buf_str(out, mark);
        write_row(row, c, out);
    }
    oc_buf_str(out, "]}");
}

static void write_chosen(struct oc_str object, const struct columns *c, struct oc_buf *out)
{
    char mark = '{';
    for (size_t i = 0; i < c->n; i++) {
        if (!c->used[i])
            continue;
        oc_buf_printf(out, "%c\"%.*s\":", mark, (int)c->of[i].name.n, c->of[i].name.s);
        write_value(value_at(object, c->of[i].path), out);
        mark = ',';
    }
    oc_buf_char(out, '}');
}

/* ---- the document ----------------------------------------------------------------------------------- */

bool oc_mcp_write_brief(struct oc_str document, const char *members, struct oc_buf *out)
{
    struct oc_str list = oc_str(members, strlen(members));
    char mark = '{';
    while (list.n) {
        struct oc_str columns_text = oc_str_take(&list, ' ');
        struct member m = read_member(oc_str_take(&columns_text, ':'));
        struct oc_str value = value_at(document, m.path);
        struct columns c;
        if (!has_value(value) || !read_columns(columns_text, value, &c))
            continue;
        oc_buf_printf(out, "%c\"%.*s\":", mark, (int)m.name.n, m.name.s);
        mark = ',';
        if (!c.n)
            write_value(value, out);
        else if (value.s[0] == '[')
            write_table(value, &c, out);
        else
            write_chosen(value, &c, out);
    }
    if (mark == ',')
        oc_buf_char(out, '}');
    return mark == ',';
}
