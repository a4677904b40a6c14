/* Pages of a document: its rows in parts, the rest of it on every page. The document is JSON that a command wrote; a page
 * goes to the client as one text, so its size counts the escapes of a JSON string. */
#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 256, MAX_NAME = 120 };

struct row {
    size_t from, to; /* in the text without blanks */
    size_t cost;     /* bytes in the answer, with the comma */
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

/* ---- text ------------------------------------------------------------------------------------------- */

/* The character after a string that begins at `at`; n: there is no end. */
size_t oc_mcp_skip_string(const char *s, size_t n, size_t at)
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
        size_t end = s[i] == '"' ? oc_mcp_skip_string(s, n, i) : i + 1;
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
size_t oc_mcp_skip_value(const char *s, size_t n, size_t at)
{
    for (size_t depth = 0; at < n;) {
        if (!depth && strchr(",]}", s[at]))
            break;
        depth += s[at] == '{' || s[at] == '[';
        depth -= s[at] == '}' || s[at] == ']';
        at = s[at] == '"' ? oc_mcp_skip_string(s, n, at) : at + 1;
    }
    return at;
}

/* At most so many bytes has a text as a string of JSON: a control character becomes six, a byte above ASCII at most
 * three. */
static size_t cost_of(const char *s, size_t n)
{
    size_t cost = n;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        cost += c < 0x20 || c == 0x7f ? 5 : c > 0x7f ? 2 : c == '"' || c == '\\';
    }
    return cost;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

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
        size_t end = oc_mcp_skip_value(s, to, at);
        OC_GROW(p->row, p->n_row, p->cap_row);
        p->row[p->n_row++] = (struct row){at, end, cost_of(s + at, end - at) + 1};
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
        size_t end = s[i] == '"' ? oc_mcp_skip_string(s, n, i) : i + 1;
        if (s[i] == '{' && path.n < MAX_DEPTH)
            path.key[path.n++].n = 0;
        else if (s[i] == '}' && path.n)
            path.n--;
        if (s[i] == '"' && key && path.n) {
            path.key[path.n - 1].s = s + i + 1;
            path.key[path.n - 1].n = end - i - 2;
        }
        if (s[i] == '[') {
            end = oc_mcp_skip_value(s, n, i);
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

/* ---- choice of rows -------------------------------------------------------------------------- */

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
    if (p->rest_cost > most)
        return oc_fail(err, OC_ELIMIT,
                       "the document has more than %zu bytes without its rows: use the program", most);
    size_t end = fill_page(p, first, most - p->rest_cost);
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

int oc_page_make(struct oc_str document, const char *members, size_t first, size_t most_bytes,
                 struct oc_page *out, struct oc_err *err)
{
    struct pages p = {.n_row = 0};
    struct oc_buf whole = {0};
    int rc = -1;
    *out = (struct oc_page){.note = {.max = OC_PAGE_NOTE_BYTES}};
    if (!json_compact(document.s, document.n, &whole) || whole.data[0] != '{') {
        oc_fail(err, OC_EFORMAT, "the result is not a JSON object");
    } else {
        if (!members || !oc_mcp_write_brief(oc_str(whole.data, whole.n), members, &p.text))
            oc_buf_add(&p.text, whole.data, whole.n);
        find_rows(&p);
        out->hash = hash_of(p.text.data, p.text.n);
        rc = make_page(&p, first < p.n_row ? first : p.n_row, most_bytes, out, err);
    }
    oc_buf_free(&whole);
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
