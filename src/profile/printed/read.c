/* The engine: finds the tables and lines of a description in a text and makes rows of them, in one pass. */
#include "profile/printed/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/printed/cells.h"
#include "profile/printed/row.h"

#define LEAST_HINT 12 /* characters of a title that show a format without rows */

/* ---- headers ---------------------------------------------------------------------------------------- */

struct found { /* a header that fits */
    const struct oc_printed_table *t;
    struct oc_open_column open[OC_PRINTED_CELLS];
    size_t n_open, n_cell, titles; /* titles: their characters */
    char delimiter;
    size_t n_span;
    struct oc_text_column span[OC_PRINTED_CELLS];
};

static bool is_open_cell(const struct found *h, size_t cell)
{
    for (size_t i = 0; i < h->n_open; i++)
        if (h->open[i].cell == cell)
            return true;
    return false;
}

/* Gives each column the first cell that fits. False: one that must be there is missing. */
static bool fit_columns(const struct oc_printed_table *t, const struct oc_str *cell, size_t n,
                        struct found *h)
{
    h->t = t;
    h->n_open = h->titles = 0;
    h->n_cell = n;
    for (const struct oc_printed_column *c = t->column; c && n > 1; c = c->next) {
        size_t i = 0;
        while (i < n && (is_open_cell(h, i) || !oc_title_fits(c, cell[i])))
            i++;
        if (i == n && !c->optional)
            return false;
        if (i == n)
            continue;
        double unit;
        h->open[h->n_open++] =
            (struct oc_open_column){.c = c,
                                    .cell = i,
                                    .unit_ns = oc_printed_unit(oc_title_unit(cell[i]), &unit) ||
                                                       oc_printed_size(oc_title_unit(cell[i]), &unit)
                                                   ? unit
                                                   : 0};
        h->titles += cell[i].n;
    }
    return n > 1;
}

static bool fit_csv(const struct oc_printed_table *t, struct oc_str line, struct oc_str *cell,
                    struct found *h)
{
    for (const char *d = ",\t;|"; *d; d++) {
        h->delimiter = *d;
        if (oc_str_chr(line, *d) && fit_columns(t, cell, oc_cells_csv(line, *d, cell), h))
            return true;
    }
    return false;
}

/* Titles of columns that end where their titles end. */
static bool fit_ends(const struct oc_printed_table *t, struct oc_str *cell, struct oc_str line,
                     struct found *h)
{
    h->n_span = oc_cells_gaps(line, cell);
    for (size_t i = 1; i < h->n_span; i++)
        h->span[i].to = (size_t)(cell[i].s + cell[i].n - line.s);
    h->span[0].to = 0;
    return fit_columns(t, cell, h->n_span, h);
}

/* The title line above a rule: cells two blanks apart, or where the dashes are. */
static bool fit_rule(const struct oc_printed_table *t, struct oc_str rule, struct oc_str before,
                     struct found *h)
{
    struct oc_str cell[OC_PRINTED_CELLS];
    size_t n = oc_cells_rule(rule, h->span), gaps = n ? oc_cells_gaps(before, cell) : 0;
    h->n_span = n;
    if (!n)
        return false;
    if (gaps == n && fit_columns(t, cell, n, h))
        return true;
    oc_text_cut(before, h->span, n, cell);
    if (fit_columns(t, cell, n, h))
        return true;
    gaps = oc_cells_gaps(before, cell); /* text before the titles */
    return gaps > n && fit_columns(t, cell + gaps - n, n, h);
}

static bool fit_header(const struct oc_printed_reading *r, const struct oc_printed_table *t,
                       struct oc_str line, bool rule, struct found *h)
{
    struct oc_str cell[OC_PRINTED_CELLS], before = {r->before.n ? r->before.data : "", r->before.n};
    if (t->cells == OC_CELLS_LINE || rule != (t->cells == OC_CELLS_RULE) ||
        (t->after.n && (t->after.n != r->mark.n || memcmp(t->after.s, r->mark.s, t->after.n) != 0)))
        return false;
    const struct oc_printed_column *c = t->column;
    while (c && c->optional)
        c = c->next;
    bool any = !c;
    for (size_t i = 0; c && i < c->header.n && !any; i++)
        any = oc_has_title(rule ? before : line, c->header.word[i]);
    if (!any)
        return false;
    switch (t->cells) {
    case OC_CELLS_CSV:
        return fit_csv(t, line, r->title, h);
    case OC_CELLS_RULE:
        return fit_rule(t, line, before, h);
    case OC_CELLS_GAPS:
        line = oc_str_starts(line, "#") ? oc_str_skip(line, 1) : line; /* "#    Overhead  Symbol" */
        return fit_columns(t, cell, oc_cells_gaps(line, cell), h);
    case OC_CELLS_BARS:
        return fit_columns(t, cell, oc_cells_bars(line, cell), h);
    case OC_CELLS_ENDS:
        return fit_ends(t, cell, line, h);
    default:
        return fit_columns(t, cell, oc_cells_titles(t, line, cell), h);
    }
}

static void open_columns(struct oc_printed_reading *r, const struct found *h)
{
    memcpy(r->open, h->open, h->n_open * sizeof(*h->open));
    r->n_open = h->n_open;
    r->n_cell = h->n_cell;
    r->delimiter = h->delimiter;
    r->low = 0;
    r->wide = h->n_cell - 1;
    for (size_t i = 0; i < h->n_open; i++) {
        r->low = h->open[i].c->optional || h->open[i].cell < r->low ? r->low : h->open[i].cell;
        r->wide = h->open[i].c->wide ? h->open[i].cell : r->wide;
    }
    if (h->n_span) {
        r->span = r->span ? r->span : OC_NEW_ARRAY(r->arena, OC_PRINTED_CELLS, struct oc_text_column);
        memcpy(r->span, h->span, h->n_span * sizeof(*h->span));
    }
}

/* A second table of a kind that had rows is another recording; `again="add"`: a part of the same. */
static void begin_table(struct oc_printed_reading *r, const struct found *h, struct oc_str header)
{
    uint64_t bit = (uint64_t)1 << (h->t->id % 64);
    r->t = h->t;
    r->score += r->begun & bit ? 0 : h->titles;
    r->no_rows = NULL;
    r->skipping = (!h->t->add_again || !(r->begun & bit)) && !oc_printed_begins(r, h->t, false);
    r->begun |= bit;
    if (r->skipping)
        return;
    r->marks += h->t->counts_runs;
    r->gap &= !r->f->first_table;
    r->table_rows = 0;
    r->wait_units = h->t->units_row;
    r->base = (size_t)(oc_csv_trim(header).s - header.s);
    open_columns(r, h);
}

/* Whether the line, or the one above this rule, is the header of a table: the one with the most titles. */
static bool find_header(const struct oc_printed_reading *r, struct oc_str line, bool rule, struct found *best)
{
    *best = (struct found){.t = NULL};
    for (const struct oc_printed_table *t = r->f->table; t; t = t->next) {
        struct found h = {.t = NULL};
        if (fit_header(r, t, line, rule, &h) && h.titles > best->titles)
            *best = h;
    }
    return best->t;
}

static bool take_header(struct oc_printed_reading *r, struct oc_str line)
{
    struct found best;
    struct oc_text_column span[OC_PRINTED_CELLS];
    bool rule = r->has_headers && oc_cells_rule(line, span) > 0;
    if (!r->has_headers || !find_header(r, line, rule, &best) || !best.t)
        return false;
    struct oc_str header = rule ? (struct oc_str){r->before.data, r->before.n} : line;
    bool same = r->t == best.t && r->header.n == header.n && memcmp(r->header.data, header.s, header.n) == 0;
    if (same && r->table_rows) { /* the same header inside of a table */
        r->no_rows = NULL;
        return true;
    }
    oc_buf_clear(&r->header);
    oc_buf_add(&r->header, header.s, header.n);
    begin_table(r, &best, header);
    return true;
}

/* ---- rows of a table -------------------------------------------------------------------------------- */

/* A name without quotes may have the delimiter: fields that no title has belong to the wide column. Returns the number of
 * cells that are left. */
static size_t join_surplus(const struct oc_printed_reading *r, struct oc_str *cell, size_t n)
{
    struct oc_str *wide = &cell[r->wide];
    size_t more = 0;
    if (n <= r->n_cell)
        return n;
    for (; r->n_cell + more < n; more++) {
        size_t gap = (size_t)((uintptr_t)wide[more + 1].s - (uintptr_t)(wide->s + wide->n));
        if (!gap || gap > 8 || memchr(wide->s + wide->n, '"', gap))
            break;
        wide->n += gap + wide[more + 1].n;
    }
    memmove(wide + 1, wide + 1 + more, (n - r->wide - 1 - more) * sizeof(*cell));
    return n - more;
}

/* Reads the line again as delimited fields, which may go on in the lines below it. */
static size_t csv_cells(struct oc_printed_reading *r, struct oc_str *cell)
{
    const struct oc_str *f;
    size_t n;
    oc_csv_unread(r->c);
    oc_csv_delimiter(r->c, r->delimiter);
    bool any = oc_csv_row(r->c, &f, &n);
    oc_csv_delimiter(r->c, '\0');
    if (!any)
        return SIZE_MAX;
    while (n > r->n_cell && !f[n - 1].n)
        n--;
    if (n > OC_PRINTED_CSV_CELLS)
        n = OC_PRINTED_CSV_CELLS;
    if (n)
        memcpy(cell, f, n * sizeof(*cell));
    return r->n_cell > 1 ? join_surplus(r, cell, n) : n;
}

/* A cell over the end of its column: the row was edited, as on pages. Every cell but the last is then a word. */
static size_t cut_cells(const struct oc_printed_reading *r, struct oc_str line, struct oc_str *cell)
{
    bool crosses = false;
    oc_text_cut(line, r->span, r->n_cell, cell);
    for (size_t i = 0; i + 1 < r->n_cell; i++)
        crosses |= cell[i].n && cell[i + 1].n && cell[i].s + cell[i].n == cell[i + 1].s;
    size_t n = crosses ? oc_cells_words(line, cell) : r->n_cell;
    return crosses ? oc_cells_join(cell, n, r->n_cell, r->n_cell - 1) : n;
}

/* The first column ends at the last blank before the second one. */
static size_t end_cells(const struct oc_printed_reading *r, struct oc_str line, struct oc_str *cell)
{
    oc_text_cut(line, r->span, r->n_cell, cell);
    const char *blank = cell[1].n ? memrchr(cell[1].s, ' ', cell[1].n) : NULL;
    if (!blank)
        return 0;
    cell[0] = oc_csv_trim(oc_str_before(cell[1], blank));
    cell[1] = oc_str_from(cell[1], blank + 1);
    return r->n_cell;
}

static size_t cells_of(struct oc_printed_reading *r, struct oc_str line, struct oc_str *cell)
{
    size_t n;
    switch (r->t->cells) {
    case OC_CELLS_CSV:
        return csv_cells(r, cell);
    case OC_CELLS_ENDS:
        return end_cells(r, line, cell);
    case OC_CELLS_BARS: /* names may have bars */
        return oc_cells_join(cell, oc_cells_bars(line, cell), r->n_cell, r->wide);
    case OC_CELLS_WORDS:
        n = oc_cells_words(line, cell);
        return n < r->n_cell ? n < r->low + 1 ? n : r->low : oc_cells_join(cell, n, r->n_cell, r->wide);
    case OC_CELLS_RULE:
        n = oc_cells_gaps(line, cell);
        return n == r->n_cell ? n : cut_cells(r, line, cell);
    default:
        n = oc_cells_gaps(line, cell);
        return oc_cells_join(cell, n, r->n_cell, r->wide);
    }
}

/* The row below the header may have the units. */
static bool take_units(struct oc_printed_reading *r, const struct oc_str *cell, size_t n)
{
    bool any = false, numbers = false;
    double v;
    struct oc_str rest;
    for (size_t i = 0; i < r->n_open; i++) {
        struct oc_str s = r->open[i].cell < n ? cell[r->open[i].cell] : oc_str("", 0);
        numbers |= s.n && oc_printed_plain(s, &v, &rest);
        if (oc_printed_unit(s, &v)) {
            r->open[i].unit_ns = v;
            any = true;
        }
    }
    r->wait_units = false;
    return any || !numbers;
}

static void end_table(struct oc_printed_reading *r)
{
    r->t = NULL;
}

/* A line in the table that is not a row of it. */
static int bad_row(struct oc_printed_reading *r, const struct oc_str *cell, size_t n)
{
    double id;
    struct oc_str rest;
    bool like_a_row = r->t->cells == OC_CELLS_WORDS ? n && oc_printed_plain(cell[0], &id, &rest) && !rest.n
                      : r->t->cells == OC_CELLS_CSV ? n > r->low
                                                    : n == r->n_cell;
    if (r->t->bad_damaged && like_a_row) {
        r->bad[r->t->level]++;
        return 1;
    }
    if (!r->t->bad_skip) {
        end_table(r);
        return 0;
    }
    return 1;
}

static bool is_gap(struct oc_str line)
{
    struct oc_str s = oc_csv_trim(line);
    return oc_str_eq(s, "...") || oc_str_eq(s, "\u2026");
}

/* Lines inside of a table that are not rows: frames, empty ones. 1: it is one, 0: it is not. */
static int take_frame(struct oc_printed_reading *r, struct oc_str line)
{
    const struct oc_printed_table *t = r->t;
    bool blank = oc_cells_is_empty(line), frame = t->cells != OC_CELLS_CSV && oc_cells_is_frame(line);
    frame |= t->cells == OC_CELLS_BARS && !oc_str_chr(line, '|') &&
             oc_str_has(line, "-----"); /* after the prefix of a log */
    if (!blank && !frame) {
        r->frames = 0;
        return 0;
    }
    bool closed = t->cells == OC_CELLS_RULE ||
                  (t->cells == OC_CELLS_BARS && r->frames++); /* of two frames the second is of another */
    bool ends = r->table_rows && (blank ? !t->blank_skip : closed);
    if (ends)
        end_table(r);
    return 1;
}

static bool is_time(const struct oc_printed_column *c)
{
    return c->n_role && c->role[0] >= OC_ROLE_FIRST_TIME && c->role[0] < OC_ROLE_NUMBERS;
}

static bool is_calls(const struct oc_printed_column *c)
{
    return c->n_role && c->role[0] == OC_ROLE_CALLS;
}

static int fail_unit(struct oc_printed_reading *r, const struct oc_printed_column *c)
{
    const char *name = "NAME";
    for (size_t i = 0; i < r->n_open; i++)
        if (r->open[i].c->n_role && r->open[i].c->role[0] == OC_ROLE_NAME)
            name = r->open[i].c->title;
    return oc_csv_fail(r->c, r->err,
                       "column '%s' has no unit of time: give it with --profile-format generic_csv --map "
                       "'name=%s,time=%s:ms' (or another unit)",
                       c->title, name, c->title);
}

/* A cell of a table of CSV that should be a time: a shorter line ends the table, else the file is damaged there. */
static int bad_cell(struct oc_printed_reading *r, struct oc_str line, const struct oc_str *cell, size_t n)
{
    struct found header;
    bool other = n >= r->n_cell && r->t->bad_fail && find_header(r, line, false, &header);
    for (size_t i = 0; i < r->n_open && n >= r->n_cell && r->t->bad_fail && !other; i++) {
        const struct oc_open_column *o = &r->open[i];
        struct oc_str s = cell[o->cell], rest;
        struct oc_printed_number number;
        double v;
        if (is_calls(o->c) && s.n && !oc_csv_number(s, &v, NULL))
            return oc_csv_fail(r->c, r->err, "column '%s': '%.*s' is not a count", o->c->title,
                               (int)(s.n < 80 ? s.n : 80), s.s);
        if (!is_time(o->c) || !s.n || oc_str_eq(s, "N/A") || oc_str_eq(s, "-") || oc_csv_time(s, &v))
            continue;
        bool good = oc_printed_number(s, false, &number, &rest);
        if (good && o->unit_ns == 0 && o->c->unit_ns == 0 && !r->table_rows)
            return fail_unit(r, o->c);
        return oc_csv_fail(r->c, r->err, "column '%s': '%.*s' is not a time%s", o->c->title,
                           (int)(s.n < 80 ? s.n : 80), s.s, good ? " with a unit" : "");
    }
    return bad_row(r, cell, n);
}

/* A row of units without one for a column of times. */
static int check_units(struct oc_printed_reading *r, const struct oc_str *cell, size_t n)
{
    for (size_t i = 0; i < r->n_open; i++) {
        const struct oc_open_column *o = &r->open[i];
        if (is_time(o->c) && o->unit_ns == 0 && o->c->unit_ns == 0 && o->cell < n && cell[o->cell].n)
            return fail_unit(r, o->c);
    }
    return 1;
}

/* Between bars a line that has a cell in one column only goes on with that of the row above. */
static bool take_wrapped(struct oc_printed_reading *r, const struct oc_str *cell, size_t n)
{
    size_t full = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        full += cell[i].n > 0;
        at = cell[i].n ? i : at;
    }
    for (size_t i = 0; i < r->n_open && full == 1; i++)
        if (r->open[i].cell == at && r->open[i].c->n_role && r->open[i].c->role[0] == r->t->wrap) {
            oc_printed_wrap(r, cell[at]);
            return true;
        }
    return false;
}

static int take_cells(struct oc_printed_reading *r, struct oc_str line, struct oc_str *cell, size_t n)
{
    const struct oc_printed_table *t = r->t;
    if (r->wait_units && take_units(r, cell, n))
        return check_units(r, cell, n);
    if (t->cells == OC_CELLS_CSV && n && oc_str_starts(cell[n > 1], "---"))
        return 1; /* below the titles of a table in Markdown */
    /* the last line of a file that was cut: its last number may be a part of one */
    if (t->cells != OC_CELLS_CSV && oc_csv_cut(r->c) && n > 1 && (n < r->n_cell || !cell[n - 1].n)) {
        r->cut = true;
        return 1;
    }
    if (t->cells == OC_CELLS_BARS && t->wrap >= 0 && r->table_rows && take_wrapped(r, cell, n))
        return 1;
    if (n <= r->low || n < 2) {
        if (t->wrap >= 0 && n == 1 && r->table_rows && line.n && line.s[0] == ' ') {
            oc_printed_wrap(r, cell[0]);
            return 1;
        }
        if (t->cells == OC_CELLS_CSV && n > 1 && oc_csv_cut(r->c)) {
            r->cut = true;
            return 1;
        }
        return bad_row(r, cell, n);
    }
    int took = oc_printed_take_cells(r, cell, n, (size_t)(oc_csv_trim(line).s - line.s));
    if (took > 0 && t->cells == OC_CELLS_CSV && n < r->n_cell && oc_csv_cut(r->c))
        r->cut = true; /* the row has what is needed, and the file ends in it */
    return took ? took : bad_cell(r, line, cell, n);
}

/* 1: the line belongs to the table; 0: it does not, and may be anything; -1: an error. */
static int take_row(struct oc_printed_reading *r, struct oc_str line)
{
    struct oc_str *cell = r->cell;
    if (r->t->has_end) {
        struct oc_str got[OC_TEMPLATE_ITEMS];
        if (oc_template_match(&r->t->end, line, got)) {
            end_table(r);
            return 1;
        }
    }
    if (take_frame(r, line))
        return 1;
    if (r->skipping)
        return 0;
    if (is_gap(line)) {
        r->gap = true;
        return 1;
    }
    size_t n = cells_of(r, line, cell);
    if (n == SIZE_MAX) { /* inside of quotes */
        r->cut = true;
        return 1;
    }
    return take_cells(r, line, cell, n);
}

/* ---- lines ------------------------------------------------------------------------------------------ */

static void take_fact(struct oc_printed_reading *r, const struct oc_printed_note *note,
                      const struct oc_str *got)
{
    for (unsigned i = 0; i < note->line.n; i++) {
        const struct oc_template_item *item = &note->line.item[i];
        if (item->field >= 0 && got[i].s)
            oc_printed_set_fact(r, item->field, got[i], item->unit_ns, note->last, note->sum);
    }
    for (const struct oc_printed_set *s = note->set; s; s = s->next)
        oc_printed_set_fact(r, s->field, s->value, 0, note->last, note->sum);
}

static void take_context(struct oc_printed_reading *r, const struct oc_printed_note *note,
                         const struct oc_str *got)
{
    r->marks += note->counts_runs;
    r->ends_recording |= note->new_recording;
    r->unread = note->mark.n && note->hint && r->no_rows ? r->no_rows : r->unread;
    r->no_rows = note->hint ? note->hint : r->no_rows;
    r->hint |= note->mark.n && note->line.fixed >= LEAST_HINT;
    for (unsigned i = 0; i < note->line.n; i++) {
        int field = note->line.item[i].field;
        if (field < 0 || !got[i].s)
            continue;
        struct oc_str was = r->carry[field];
        r->carry[field] = oc_printed_keep(r, got[i]);
        r->ends_recording |= note->new_if_changed && was.s && was.s != r->carry[field].s;
    }
    for (const struct oc_printed_set *s = note->set; s; s = s->next)
        r->carry[s->field] = s->value;
    if (!note->goes_on)
        r->t = NULL;
    if (!note->goes_on || note->mark.n)
        r->mark = note->mark;
}

/* Facts and contexts. False: the line is neither. */
static bool take_notes(struct oc_printed_reading *r, struct oc_str line)
{
    struct oc_str got[OC_TEMPLATE_ITEMS];
    bool context = false, any = false;
    for (const struct oc_printed_note *note = r->f->note; note; note = note->next) {
        if ((!note->fact && context) || (note->before && r->n) || (note->later && !r->n) ||
            !oc_template_match(&note->line, line, got))
            continue;
        if (note->fact)
            take_fact(r, note, got);
        else
            take_context(r, note, got);
        context |= !note->fact && !note->goes_on;
        any = true;
    }
    return any;
}

static int take_line(struct oc_printed_reading *r, struct oc_str line)
{
    struct oc_str got[OC_TEMPLATE_ITEMS];
    for (const struct oc_printed_table *t = r->f->table; t; t = t->next) {
        if (t->cells != OC_CELLS_LINE ||
            (t->after.n && (t->after.n != r->mark.n || memcmp(t->after.s, r->mark.s, t->after.n) != 0)) ||
            !oc_template_match(&t->line, line, got))
            continue;
        return oc_printed_take_line(r, t, got, (size_t)(oc_csv_trim(line).s - line.s));
    }
    return 0;
}

/* ---- all lines -------------------------------------------------------------------------------------- */

static void keep_before(struct oc_printed_reading *r, struct oc_str line)
{
    if (!oc_csv_trim(line).n || line.n > 65536)
        return;
    oc_buf_clear(&r->before);
    oc_buf_add(&r->before, line.s, line.n);
}

static bool has_tables(const struct oc_printed_format *f, bool rules)
{
    for (const struct oc_printed_table *t = f->table; t; t = t->next)
        if (rules ? t->cells == OC_CELLS_RULE : t->cells != OC_CELLS_LINE)
            return true;
    return false;
}

static int one_line(struct oc_printed_reading *r, struct oc_str line)
{
    const struct oc_printed_table *t = r->t;
    bool note = take_notes(r, line);
    /* a row of CSV is not a header; the titles of another table inside of a printed one are looked for first */
    if (t && r->t == t && t->cells != OC_CELLS_CSV && take_header(r, line))
        return 0;
    if (r->t) {
        int took = take_row(r, line);
        if (took)
            return took < 0 ? -1 : 0;
    }
    if ((!t || t->cells == OC_CELLS_CSV || !r->t) && take_header(r, line))
        return 0;
    size_t had = r->n;
    bool after_row = had && r->row[had - 1].t->cells == OC_CELLS_LINE && r->row_above;
    int rc = take_line(r, line) < 0 ? -1 : 0;
    r->row_above = r->n > had;
    /* the file ends in a line that is none, below a row: it was cut in a row */
    r->cut |= after_row && !r->row_above && !note && oc_csv_cut(r->c) && !oc_cells_is_empty(line);
    return rc;
}

int oc_printed_read(struct oc_printed_reading *r, const struct oc_printed_format *f, struct oc_csv *c,
                    struct oc_arena *a, size_t most, struct oc_err *err)
{
    struct oc_str line;
    bool rules = has_tables(f, true);
    *r = (struct oc_printed_reading){.f = f, .c = c, .arena = a, .most = most, .err = err, .mark = {"", 0}};
    r->has_headers = has_tables(f, false);
    r->cell = oc_xmalloc(OC_PRINTED_CSV_CELLS * sizeof(*r->cell));
    r->title = oc_xmalloc(OC_PRINTED_CSV_CELLS * sizeof(*r->title));
    r->names.arena = r->once.arena = a;
    r->column_votes = OC_NEW_ARRAY(a, (size_t)f->n_table * OC_ROLE_NUMBERS * OC_DECIMALS + 1, unsigned);
    while (r->rc == 0 && oc_csv_line(c, &line)) {
        if (r->t && r->t->cells == OC_CELLS_CSV &&
            oc_str_chr(line, '"')) { /* reading it as a row may move the window */
            oc_buf_clear(&r->line);
            oc_buf_add(&r->line, line.s, line.n);
            line = (struct oc_str){r->line.data, r->line.n};
        }
        r->rc = one_line(r, line);
        if (rules)
            keep_before(r, line);
    }
    if (r->rc == 0 && r->t && r->wait_units && !r->n)
        r->rc = oc_csv_fail(c, err, "the row of units is missing");
    return r->rc == 0 && oc_csv_failed(c) ? oc_csv_error(c, err) : r->rc;
}

const char *oc_printed_report(const struct oc_printed_reading *r)
{
    const struct oc_printed_table *t = r->f->table;
    while (!r->n && t->next && !(r->begun >> (t->id % 64) & 1))
        t = t->next;
    return r->n ? r->row[0].t->report : t->report;
}

void oc_printed_look(const struct oc_printed_format *f, struct oc_stream *s, struct oc_printed_look *out)
{
    struct oc_csv *c = oc_csv_open(s);
    struct oc_arena a = {0};
    struct oc_err err;
    struct oc_printed_reading *r = oc_xcalloc(1, sizeof(*r));
    oc_printed_read(r, f, c, &a, 0, &err);
    *out = (struct oc_printed_look){
        .header = r->begun != 0, .hint = r->hint, .rows = r->n || r->rc, .score = r->score};
    oc_printed_read_free(r);
    free(r);
    oc_arena_free(&a);
    oc_csv_close(c);
}

void oc_printed_read_free(struct oc_printed_reading *r)
{
    free(r->row);
    free(r->cell);
    free(r->title);
    oc_buf_free(&r->header);
    oc_buf_free(&r->before);
    oc_buf_free(&r->line);
    oc_map_free(&r->names);
    oc_map_free(&r->once);
}
