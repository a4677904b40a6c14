/* Nsight Systems, `nsys stats -f json`: each report is an array of objects whose keys are the titles of the CSV form.
 * The objects become rows of CSV, and imp_nsys_csv.c reads them. */
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "profile/profile.h"

extern const struct oc_importer oc_importer_nsys_csv;

enum { MAX_TITLES = 64 };

/* ---- conversion ------------------------------------------------------------------------------------- */

struct table {
    struct oc_arena scratch;
    struct oc_str title[MAX_TITLES], value[MAX_TITLES];
    size_t n, rows;
    uint64_t most;
    struct oc_buf csv;
};

static void write_cell(struct oc_buf *csv, struct oc_str text, bool last)
{
    oc_buf_char(csv, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] == '"')
            oc_buf_char(csv, '"');
        oc_buf_char(csv, (char)(text.s[i] == '\n' || text.s[i] == '\r' ? ' ' : text.s[i]));
    }
    oc_buf_str(csv, last ? "\"\n" : "\",");
}

/* The next value as text; null is empty. */
static bool read_value(struct oc_json *j, struct oc_arena *a, struct oc_str *out)
{
    bool text = oc_json_peek(j) == OC_JSON_STRING, ok = text ? oc_json_string(j, out) : oc_json_raw(j, out);
    if (ok)
        *out = oc_str(oc_strndup(a, out->s, out->n), out->n);
    if (ok && !text && oc_str_eq(*out, "null"))
        out->n = 0;
    return ok;
}

/* The titles of a report are the keys of its first object. */
static bool read_object(struct oc_json *j, struct table *t, bool first)
{
    struct oc_str key;
    t->n = first ? 0 : t->n;
    memset(t->value, 0, sizeof(t->value));
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return false;
    while (oc_json_member(j, &key)) {
        size_t at = 0;
        while (at < t->n && (t->title[at].n != key.n || memcmp(t->title[at].s, key.s, key.n) != 0))
            at++;
        if (at == t->n && first && t->n < MAX_TITLES)
            t->title[t->n++] = oc_str(oc_strndup(&t->scratch, key.s, key.n), key.n);
        if (at == t->n)
            oc_json_skip(j);
        else if (!read_value(j, &t->scratch, &t->value[at]))
            return false;
    }
    return !oc_json_truncated(j); /* the last value may be cut */
}

static void read_report(struct oc_json *j, struct table *t)
{
    bool first = true;
    while (oc_json_item(j) && t->rows < t->most) {
        if (!read_object(j, t, first) || !t->n)
            continue;
        for (size_t i = 0; i < t->n && first; i++)
            write_cell(&t->csv, t->title[i], i + 1 == t->n);
        for (size_t i = 0; i < t->n; i++)
            write_cell(&t->csv, t->value[i].n ? t->value[i] : oc_str("", 0), i + 1 == t->n);
        first = false;
        t->rows++;
    }
    oc_buf_char(&t->csv, '\n');
}

/* One report after the other. */
static void to_csv(struct oc_json *j, struct table *t)
{
    while (t->rows < t->most && oc_json_peek(j) == OC_JSON_ARRAY && oc_json_enter(j))
        read_report(j, t);
}

static void free_table(struct table *t)
{
    oc_arena_free(&t->scratch);
    oc_buf_free(&t->csv);
}

/* ---- importer --------------------------------------------------------------------------------------- */

static void nsys_json_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    struct table t = {.most = 2};
    if (!p->n || p->data[0] != '[' || !oc_peek_has(p, "(ns)\""))
        return;
    struct oc_stream *s = oc_stream_mem(p->data, p->n);
    struct oc_json *j = oc_json_open(s);
    to_csv(j, &t);
    struct oc_peek inside = {
        .path = p->path, .data = t.csv.data, .n = t.csv.n, .raw = t.csv.data, .n_raw = t.csv.n};
    if (t.rows)
        oc_importer_nsys_csv.probe(&inside, bid);
    if (bid->score)
        bid->reason = "keys of a report of nsys stats";
    oc_json_close(j);
    oc_stream_close(s);
    free_table(&t);
}

static int nsys_json_read(const struct oc_source *src, const struct oc_profile_opts *opts,
                          struct oc_profile *out, struct oc_err *err)
{
    struct table t = {.most = oc_input_limit(&out->limits, OC_LIMIT_EVENTS)};
    struct oc_json *j = oc_json_open(src->file[0].s);
    to_csv(j, &t);
    uint64_t where = oc_json_offset(j);
    bool cut = oc_json_truncated(j) || oc_json_error(j, &where);
    int rc = t.rows ? 0
                    : oc_fail(err, OC_EFORMAT, "has no rows of a report of nsys stats (offset %llu)",
                              (unsigned long long)where);
    if (t.rows == t.most)
        oc_prof_over(out, OC_LIMIT_EVENTS);
    struct oc_stream *s = oc_stream_mem(t.csv.data, t.csv.n);
    const struct oc_source_file file = {.path = src->file[0].path, .s = s};
    if (rc == 0)
        rc = oc_importer_nsys_csv.read(&(struct oc_source){.file = &file, .n = 1}, opts, out, err);
    if (rc == 0 && cut) {
        out->truncated = true;
        oc_diag_add(&out->diags, OC_WARNING, "W-truncated", "",
                    "the file is truncated: %zu rows are used (offset %llu)", t.rows,
                    (unsigned long long)where);
    }
    oc_stream_close(s);
    oc_json_close(j);
    free_table(&t);
    return rc;
}

const struct oc_importer oc_importer_nsys_json = {
    .name = "nsys_json",
    .title = "Nsight Systems reports: nsys stats -f json",
    .seen = "the layout of the user guide of 2024",
    .lost = "runs of tables of sums",
    .probe = nsys_json_probe,
    .read = nsys_json_read,
};
