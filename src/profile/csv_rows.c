/* profile/: Profiles in one common form, independent of formats: records, runs, buckets, time summary; text
 * tables, CSV and SQLite as streams. Time is conserved: what is not a record is a bucket. */

#include "profile/csv_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"

size_t oc_text_rule(struct oc_str line, struct oc_text_column *out)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n;) {
        if (line.s[i] == ' ' || line.s[i] == '\t' || line.s[i] == '\r') {
            i++;
            continue;
        }
        size_t from = i;
        while (i < line.n && line.s[i] == '-')
            i++;
        if (i == from || n == OC_TEXT_COLUMNS)
            return 0;
        out[n++] = (struct oc_text_column){from, i};
    }
    return n >= 3 ? n : 0;
}

void oc_text_cut(struct oc_str line, const struct oc_text_column *span, size_t n, struct oc_str *out)
{
    const char *p = line.n ? line.s : "", *end = p + line.n;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const char *from = p;
        for (; p < end && (at < span[i].to || i + 1 == n); at++)
            oc_utf8_next(&p, end);
        out[i] = oc_csv_trim((struct oc_str){from, (size_t)(p - from)});
    }
}

bool oc_recording_begins(struct oc_recording_count *r, const struct oc_csv *c)
{
    if (r->n < OC_COUNT(r->line))
        r->line[r->n] = oc_csv_line_number(c);
    return r->n++ == 0;
}

void oc_recordings_warn(const struct oc_recording_count *r, const char *what, struct oc_profile *p)
{
    if (r->n > 1)
        oc_diag_add(&p->diags, OC_WARNING, "W-several-profiles", "",
                    "the file has %u %s, at lines %u and %u%s: only the first is read; save each to its own "
                    "file",
                    r->n, what, (unsigned)r->line[0], (unsigned)r->line[1], r->n > 2 ? " .." : "");
}

/* Field values of csv_rows.h: numbers, units, column names. */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

struct oc_str oc_csv_trim(struct oc_str s)
{
    while (s.n && is_blank(s.s[s.n - 1]))
        s.n--;
    while (s.n && is_blank(s.s[0])) {
        s.s++;
        s.n--;
    }
    return s;
}

struct oc_str oc_csv_word(struct oc_str *s)
{
    *s = oc_csv_trim(*s);
    size_t n = 0;
    while (n < s->n && s->s[n] != ' ' && s->s[n] != '\t')
        n++;
    struct oc_str w = {s->s, n};
    *s = oc_csv_trim(oc_str_skip(*s, n));
    return w;
}

bool oc_csv_same(struct oc_str s, const char *text)
{
    return s.n == strlen(text) && oc_ncasecmp(s.s, text, s.n) == 0;
}

struct oc_str oc_csv_split_unit(struct oc_str header, struct oc_str *unit)
{
    struct oc_str h = oc_csv_trim(header);
    *unit = (struct oc_str){"", 0};
    if (h.n < 2 || h.s[h.n - 1] != ')')
        return h;
    const char *open = memrchr(h.s, '(', h.n);
    if (!open)
        return h;
    *unit = oc_csv_trim((struct oc_str){open + 1, (size_t)(h.s + h.n - 1 - (open + 1))});
    return oc_csv_trim(oc_str_before(h, open));
}

size_t oc_csv_column(const struct oc_str *field, size_t n, const char *name)
{
    struct oc_str unit;
    for (size_t i = 0; i < n; i++)
        if (oc_csv_same(oc_csv_trim(field[i]), name))
            return i;
    for (size_t i = 0; i < n; i++)
        if (oc_csv_same(oc_csv_split_unit(field[i], &unit), name))
            return i;
    return OC_CSV_NONE;
}

/* Copies the number at the start of `s` without its thousands separators. Returns its length in `s`, 0: no
 * number, or too long. */
static size_t bare_number(struct oc_str s, char *out, size_t cap, size_t *n)
{
    size_t i = 0, digits = 0, k = 0;
    bool grouped = false;
    if (i < s.n && (s.s[i] == '-' || s.s[i] == '+'))
        out[k++] = s.s[i++];
    for (; i < s.n && k + 1 < cap; i++) {
        bool group = s.s[i] == ',' && digits && digits <= 3 && i + 3 < s.n && oc_is_digit(s.s[i + 1]) &&
                     oc_is_digit(s.s[i + 2]) && oc_is_digit(s.s[i + 3]) &&
                     !(i + 4 < s.n && oc_is_digit(s.s[i + 4]));
        if (group && (!grouped || digits == 3)) {
            grouped = true;
            digits = 0;
            continue;
        }
        if (!oc_is_digit(s.s[i]))
            break;
        out[k++] = s.s[i];
        digits++;
    }
    size_t whole = i;
    if (i < s.n && s.s[i] == '.') {
        out[k++] = '.';
        for (i++; i < s.n && oc_is_digit(s.s[i]) && k + 1 < cap; i++)
            out[k++] = s.s[i];
    }
    if (!digits && i <= whole + 1)
        return 0;
    size_t e = i;
    if (e < s.n && (s.s[e] == 'e' || s.s[e] == 'E') && k + 8 < cap) {
        char exponent[8];
        size_t m = 0;
        exponent[m++] = s.s[e++];
        if (e < s.n && (s.s[e] == '-' || s.s[e] == '+'))
            exponent[m++] = s.s[e++];
        size_t first = e;
        while (e < s.n && oc_is_digit(s.s[e]) && m < sizeof(exponent))
            exponent[m++] = s.s[e++];
        if (e > first) {
            memcpy(out + k, exponent, m);
            k += m;
            i = e;
        }
    }
    *n = k;
    return k + 1 < cap ? i : 0;
}

bool oc_csv_number(struct oc_str s, double *out, struct oc_str *unit)
{
    char text[400];
    size_t n;
    s = oc_csv_trim(s);
    size_t used = bare_number(s, text, sizeof(text), &n);
    if (!used) {
        if (unit)
            *unit = (struct oc_str){"", 0};
        return oc_parse_double(s.s, s.n, out); /* inf, nan */
    }
    struct oc_str rest = oc_csv_trim(oc_str_skip(s, used));
    if (rest.n && (!unit || oc_is_digit(rest.s[0]) || rest.s[0] == ',' || rest.s[0] == '.'))
        return false;
    if (unit)
        *unit = rest;
    return oc_parse_double(text, n, out);
}

bool oc_csv_u64(struct oc_str s, uint64_t *out)
{
    char text[40];
    size_t n;
    s = oc_csv_trim(s);
    size_t used = bare_number(s, text, sizeof(text), &n);
    return used && used == s.n && oc_parse_u64(text, n, out);
}

bool oc_csv_time_unit(struct oc_str unit, double *ns)
{
    static const struct {
        const char *name;
        double ns;
    } known[] = {
        {"ns", 1},          {"nsec", 1},           {"nsecond", 1},
        {"nanosecond", 1},  {"us", 1e3},           {"usec", 1e3},
        {"usecond", 1e3},   {"microsecond", 1e3},  {"\xc2\xb5s", 1e3},
        {"\xce\xbcs", 1e3}, {"ms", 1e6},           {"msec", 1e6},
        {"msecond", 1e6},   {"millisecond", 1e6},  {"s", 1e9},
        {"sec", 1e9},       {"second", 1e9},       {"nsecs", 1},
        {"nseconds", 1},    {"nanoseconds", 1},    {"usecs", 1e3},
        {"useconds", 1e3},  {"microseconds", 1e3}, {"msecs", 1e6},
        {"mseconds", 1e6},  {"milliseconds", 1e6}, {"secs", 1e9},
        {"seconds", 1e9},
    };
    for (size_t i = 0; i < OC_COUNT(known); i++) {
        if (oc_csv_same(unit, known[i].name)) {
            *ns = known[i].ns;
            return true;
        }
    }
    return false;
}

bool oc_csv_time(struct oc_str s, double *ns)
{
    struct oc_str unit;
    double scale;
    if (!oc_csv_number(s, ns, &unit) || !(*ns >= 0 && *ns < 1e15) || !oc_csv_time_unit(unit, &scale))
        return false;
    *ns *= scale;
    return true;
}

static int fail_cell(const struct oc_csv *c, const char *column, struct oc_str cell, const char *what,
                     struct oc_err *err)
{
    return oc_csv_fail(c, err, "column '%s': '%.*s' is not a %s", column, (int)(cell.n < 80 ? cell.n : 80),
                       cell.s, what);
}

int oc_csv_cell_time(const struct oc_csv *c, const char *column, struct oc_str cell, double unit_ns,
                     double *ns, struct oc_err *err)
{
    if (!oc_csv_number(cell, ns, NULL) || !(*ns >= 0 && *ns < 1e19))
        return fail_cell(c, column, cell, "time", err);
    *ns *= unit_ns;
    return 0;
}

int oc_csv_cell_count(const struct oc_csv *c, const char *column, struct oc_str cell, uint64_t *n,
                      struct oc_err *err)
{
    return oc_csv_u64(cell, n) ? 0 : fail_cell(c, column, cell, "count", err);
}

struct place {
    size_t at; /* position in the window */
    uint32_t line;
};

struct oc_csv {
    struct oc_stream *s;
    const char *data; /* buffered part of the text */
    size_t n;
    uint64_t offset_bytes;   /* offset of the window in the text */
    struct place now, start; /* start: of the row read last */
    char delimiter;
    bool started, cut, failed;
    size_t max_field, max_row, max_rows; /* max_row: bytes */
    struct oc_err err;
    struct oc_str *field;
    size_t n_field, cap_field;
    struct oc_buf text; /* storage of fields with doubled quotes */
};

struct oc_csv *oc_csv_open(struct oc_stream *s)
{
    struct oc_csv *c = oc_xmalloc(sizeof(*c));
    *c = (struct oc_csv){.s = s,
                         .data = "",
                         .now = {0, 1},
                         .start = {0, 1},
                         .max_field = (size_t)oc_stream_limit(s, OC_LIMIT_CSV_COLUMNS),
                         .max_row = (size_t)oc_stream_limit(s, OC_LIMIT_CSV_ROW_BYTES),
                         .max_rows = (size_t)oc_stream_limit(s, OC_LIMIT_TABLE_ROWS)};
    return c;
}

void oc_csv_close(struct oc_csv *c)
{
    if (!c)
        return;
    free(c->field);
    oc_buf_free(&c->text);
    free(c);
}

void oc_csv_delimiter(struct oc_csv *c, char delimiter)
{
    c->delimiter = delimiter;
}

/* ---- errors and positions --------------------------------------------------------------------------- */

uint32_t oc_csv_line_number(const struct oc_csv *c)
{
    return c->start.line;
}

uint64_t oc_csv_offset(const struct oc_csv *c)
{
    return c->offset_bytes + c->start.at;
}

bool oc_csv_cut(const struct oc_csv *c)
{
    return c->cut || oc_stream_error(c->s);
}

bool oc_csv_failed(const struct oc_csv *c)
{
    return c->failed;
}

int oc_csv_error(const struct oc_csv *c, struct oc_err *err)
{
    if (err)
        *err = c->err;
    return -1;
}

int oc_csv_fail(const struct oc_csv *c, struct oc_err *err, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    oc_fail(err, OC_EFORMAT, "line %u: %s", c->start.line, text);
    return oc_err_at(err, oc_stream_path(c->s), c->start.line, oc_csv_offset(c));
}

static int fail_limit(const struct oc_csv *c, enum oc_input_limit which, struct oc_err *err)
{
    oc_stream_limit_fail(c->s, which, 0, err);
    oc_err_prefix(err, "line %u", c->start.line);
    return oc_err_at(err, oc_stream_path(c->s), c->start.line, oc_csv_offset(c));
}

static bool csv_rows_fail(struct oc_csv *c, enum oc_input_limit which)
{
    c->failed = true;
    fail_limit(c, which, &c->err);
    return false;
}

size_t oc_csv_max_rows(const struct oc_csv *c)
{
    return c->max_rows;
}

int oc_csv_too_many(const struct oc_csv *c, struct oc_err *err)
{
    return fail_limit(c, OC_LIMIT_TABLE_ROWS, err);
}

/* ---- row end detection ------------------------------------------------------------------------------ */

/* Drops the text before the row and reads more after it. */
static bool csv_rows_fill(struct oc_csv *c)
{
    size_t had = c->n - c->start.at;
    bool more = oc_stream_fill(c->s, c->start.at, &c->data, &c->n, &c->offset_bytes) || c->n > had;
    c->start.at = 0;
    if (more && !c->started && c->n >= 3 && memcmp(c->data, "\xef\xbb\xbf", 3) == 0)
        c->start.at = 3;
    c->started |= more;
    return more;
}

/* State of the row scanner: a row that spans several windows is not scanned again from its start. */
struct scan {
    size_t i;
    bool in_quotes, field_start, was_quote; /* was_quote: the previous character closed a quote */
    uint32_t lines;
};

/* Advances to the line end that closes the row. False: the window ends first. */
static bool scan_row(const struct oc_csv *c, struct scan *k)
{
    while (k->i < c->n) {
        const char *p = c->data + k->i, *lf;
        size_t left = c->n - k->i;
        if (k->in_quotes) {
            const char *q = memchr(p, '"', left);
            size_t end = q ? (size_t)(q - p) : left;
            for (lf = p; (lf = memchr(lf, '\n', (size_t)(p + end - lf))); lf++)
                k->lines++;
            k->i += end + (q != NULL);
            k->in_quotes = !q;
            k->was_quote = q != NULL;
            k->field_start = false;
            continue;
        }
        if (*p == '\n')
            return true;
        if (*p == '"' && (k->field_start || k->was_quote)) /* a doubled quote is one quote character */
            k->in_quotes = true;
        else if (*p != ' ')
            k->field_start = *p == c->delimiter;
        k->was_quote = false;
        k->i++;
    }
    return false;
}

/* Fast path: a line without quotes is a row. */
static bool plain_row(const struct oc_csv *c, struct scan *k)
{
    const char *p = c->data + k->i, *lf = k->i < c->n ? memchr(p, '\n', c->n - k->i) : NULL;
    if (!lf || memchr(p, '"', (size_t)(lf - p)))
        return false;
    k->i = (size_t)(lf - c->data);
    return true;
}

static bool scan_line(const struct oc_csv *c, struct scan *k)
{
    const char *lf = k->i < c->n ? memchr(c->data + k->i, '\n', c->n - k->i) : NULL;
    k->i = lf ? (size_t)(lf - c->data) : c->n;
    return lf != NULL;
}

/* Advances `k` to the end of the row that starts at c->start, and refills the window. False: end of the
 * text. */
static bool find_end(struct oc_csv *c, bool quoting, struct scan *k)
{
    for (;;) {
        bool fresh = !k->in_quotes && k->i == c->start.at;
        if (!quoting ? scan_line(c, k) : (fresh && plain_row(c, k)) || scan_row(c, k))
            return true;
        size_t done = k->i - c->start.at;
        if (done > c->max_row)
            return true;
        bool more = csv_rows_fill(c);
        k->i = c->start.at + done; /* the window moved */
        if (!more)
            return false;
    }
}

/* Finds the bounds of the next row in the window, without its line end. */
static bool csv_rows_take(struct oc_csv *c, bool quoting, struct oc_str *text)
{
    if (c->failed)
        return false;
    c->start = c->now;
    struct scan k = {.i = c->now.at, .field_start = true};
    bool ended = !find_end(c, quoting, &k);
    size_t first = c->start.at;
    if (k.i - first > c->max_row)
        return csv_rows_fail(c, OC_LIMIT_CSV_ROW_BYTES);
    c->cut = ended && k.i > first;
    c->now.at = k.i + !ended;
    c->now.line = c->start.line + k.lines + !ended;
    uint64_t read_bytes, all_bytes;
    if ((ended && k.i == first) || k.in_quotes)
        return false;
    if (ended && oc_stream_stopped(c->s, &read_bytes, &all_bytes)) /* an incomplete row has no defined
                                                                    * fields */
        return false;
    *text = (struct oc_str){c->data + first, k.i - first};
    if (text->n && text->s[text->n - 1] == '\r')
        text->n--;
    return true;
}

bool oc_csv_line(struct oc_csv *c, struct oc_str *line)
{
    return csv_rows_take(c, false, line);
}

void oc_csv_unread(struct oc_csv *c)
{
    c->now = c->start;
}

/* ---- splitting -------------------------------------------------------------------------------------- */

struct split {
    struct oc_str *field;
    size_t n, cap, most;
    struct oc_buf *text;
};

static const char *find_quote(const char *p, const char *end)
{
    return memchr(p, '"', (size_t)(end - p));
}

/* Parses a quoted field from `p` (after the opening quote). Returns its end: a delimiter or the end of the
 * row. Copies the text to the buffer only if it contains doubled quotes. */
static const char *csv_rows_quoted(struct split *s, const char *p, const char *end, char delimiter,
                                   struct oc_str *out)
{
    const char *q = find_quote(p, end);
    const char *close = q ? q : end;
    bool plain = !q || q + 1 == end || q[1] == delimiter;
    if (plain) {
        *out = (struct oc_str){p, (size_t)(close - p)};
        return q ? q + 1 : end;
    }
    size_t from = s->text->n;
    while (q && q + 1 < end && q[1] == '"') {
        oc_buf_add(s->text, p, (size_t)(q + 1 - p));
        p = q + 2;
        q = find_quote(p, end);
    }
    close = q ? q : end;
    oc_buf_add(s->text, p, (size_t)(close - p));
    p = q ? q + 1 : end;
    const char *next = delimiter ? memchr(p, delimiter, (size_t)(end - p)) : NULL;
    if (!next)
        next = end;
    struct oc_str rest = oc_csv_trim((struct oc_str){p, (size_t)(next - p)});
    oc_buf_add(s->text, rest.s, rest.n);
    *out = (struct oc_str){NULL, s->text->n - from}; /* the buffer may still be reallocated */
    return next;
}

static bool add_field(struct split *s, struct oc_str f)
{
    if (s->n == s->most)
        return false;
    OC_PUSH(s->field, s->n, s->cap) = f;
    return true;
}

/* False: too many fields. */
static bool split_row(struct split *s, struct oc_str row, char delimiter)
{
    const char *p = row.s, *end = row.s + row.n;
    s->n = 0;
    oc_buf_clear(s->text);
    if (!oc_csv_trim(row).n)
        return true;
    for (;;) {
        struct oc_str f;
        const char *b = p;
        while (b < end && *b == ' ')
            b++;
        if (b < end && *b == '"') {
            p = csv_rows_quoted(s, b + 1, end, delimiter, &f);
        } else {
            const char *next = delimiter ? memchr(p, delimiter, (size_t)(end - p)) : NULL;
            next = next ? next : end;
            f = oc_csv_trim((struct oc_str){p, (size_t)(next - p)});
            p = next;
        }
        if (!add_field(s, f))
            return false;
        if (p == end)
            break;
        p++;
    }
    size_t at = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->field[i].s)
            continue;
        s->field[i].s = s->text->data + at;
        at += s->field[i].n;
    }
    return true;
}

static bool csv_rows_split(struct oc_csv *c, struct oc_str row, char delimiter)
{
    struct split s = {c->field, 0, c->cap_field, c->max_field, &c->text};
    bool ok = split_row(&s, row, delimiter);
    c->field = s.field;
    c->n_field = s.n;
    c->cap_field = s.cap;
    return ok;
}

bool oc_csv_row(struct oc_csv *c, const struct oc_str **field, size_t *n)
{
    struct oc_str row;
    *field = NULL;
    *n = 0;
    if (!csv_rows_take(c, true, &row))
        return false;
    if (!csv_rows_split(c, row, c->delimiter))
        return csv_rows_fail(c, OC_LIMIT_CSV_COLUMNS);
    *field = c->field;
    *n = c->n_field;
    return true;
}

static const char delimiters[] = {',', '\t', ';', '|'};

bool oc_csv_find(struct oc_csv *c, oc_csv_is_header *is_header, void *ctx, const struct oc_str **field,
                 size_t *n)
{
    struct oc_str line;
    bool wide = false;
    while (oc_csv_line(c, &line)) {
        for (size_t i = 0; i < sizeof(delimiters); i++) {
            if (!line.n || !memchr(line.s, delimiters[i], line.n))
                continue;
            bool fits = csv_rows_split(c, line, delimiters[i]);
            wide |= !fits;
            if (!fits || !is_header(ctx, c->field, c->n_field))
                continue;
            c->delimiter = delimiters[i];
            *field = c->field;
            *n = c->n_field;
            return true;
        }
    }
    return wide && !c->failed ? csv_rows_fail(c, OC_LIMIT_CSV_COLUMNS) : false;
}

int oc_csv_need(struct oc_csv *c, oc_csv_is_header *is_header, void *ctx, const struct oc_str **field,
                size_t *n, const char *what, struct oc_err *err)
{
    if (oc_csv_find(c, is_header, ctx, field, n))
        return 0;
    return oc_csv_failed(c) ? oc_csv_error(c, err) : oc_fail(err, OC_EFORMAT, "no header line %s", what);
}

/* Detects JSON: an object, or an array of objects. Tools that write tables begin with other text (also
 * "[3/8] Executing ..."). Searching every row of a large trace for a table header is slow. */
static bool begins_as_json(const char *data, size_t n)
{
    size_t i = n && data[0] == '[';
    while (i && i < n && oc_is_space((unsigned char)data[i]))
        i++;
    return i < n && data[i] == '{';
}

bool oc_csv_peek_header(const char *data, size_t n, oc_csv_is_header *is_header, void *ctx)
{
    if (begins_as_json(data, n))
        return false;
    struct oc_stream *s = oc_stream_mem(data, n);
    struct oc_csv *c = oc_csv_open(s);
    const struct oc_str *field;
    bool found = oc_csv_find(c, is_header, ctx, &field, &n);
    oc_csv_close(c);
    oc_stream_close(s);
    return found;
}
