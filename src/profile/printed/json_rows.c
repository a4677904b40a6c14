/* A table in JSON, an array of flat objects, as lines of cells: what nsys stats prints with -f json. */
#include <string.h>

#include "base/json_read.h"
#include "profile/printed/cells.h"

struct table {
    struct oc_buf name[OC_PRINTED_CELLS];
    size_t n;
};

static size_t column_of(struct table *t, struct oc_str name, bool first)
{
    size_t i = 0;
    while (i < t->n && (t->name[i].n != name.n || memcmp(t->name[i].data, name.s, name.n) != 0))
        i++;
    if (i == t->n && first && t->n < OC_PRINTED_CELLS && name.n)
        oc_buf_add(&t->name[t->n++], name.s, name.n);
    return i < t->n ? i : OC_PRINTED_CELLS;
}

/* A cell has no tab and no line end. */
static void add_cell(struct oc_buf *to, struct oc_str s)
{
    oc_buf_clear(to);
    for (size_t i = 0; i < s.n; i++)
        oc_buf_char(to, (char)(s.s[i] == '\t' || s.s[i] == '\n' || s.s[i] == '\r' ? ' ' : s.s[i]));
}

static void take_value(struct oc_json *j, struct oc_buf *cell)
{
    struct oc_str s;
    enum oc_json_type type = oc_json_peek(j);
    if (type == OC_JSON_STRING ? oc_json_string(j, &s) : type == OC_JSON_NUMBER && oc_json_raw(j, &s))
        add_cell(cell, s);
    else if (type != OC_JSON_STRING && type != OC_JSON_NUMBER)
        oc_json_skip(j);
}

static void add_line(struct oc_buf *out, const struct oc_buf *cell, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (cell[i].n)
            oc_buf_add(out, cell[i].data, cell[i].n);
        oc_buf_char(out, i + 1 < n ? '\t' : '\n');
    }
}

/* The columns are those of the first object. A cut text gives the whole objects before its end, and a line that ends
 * early. */
void oc_printed_json_rows(struct oc_stream *s, struct oc_buf *out)
{
    struct oc_json *j = oc_json_open(s);
    struct table t = {.n = 0};
    struct oc_buf cell[OC_PRINTED_CELLS] = {{0}};
    bool first = true;
    for (bool in = oc_json_enter_type(j, OC_JSON_ARRAY); in && oc_json_item(j);) {
        struct oc_str key;
        for (size_t i = 0; i < t.n; i++)
            oc_buf_clear(&cell[i]);
        if (!oc_json_enter_type(j, OC_JSON_OBJECT))
            continue;
        while (oc_json_member(j, &key)) {
            size_t column = column_of(&t, key, first);
            if (column < OC_PRINTED_CELLS)
                take_value(j, &cell[column]);
            else
                oc_json_skip(j);
        }
        if (oc_json_truncated(j) || oc_json_error(j, NULL)) {
            oc_buf_str(out, "-\t-"); /* a line that ends early: the table is cut in this row */
            break;
        }
        if (first)
            add_line(out, t.name, t.n);
        first = false;
        add_line(out, cell, t.n);
    }
    for (size_t i = 0; i < OC_PRINTED_CELLS; i++) {
        oc_buf_free(&t.name[i]);
        oc_buf_free(&cell[i]);
    }
    oc_json_close(j);
}
