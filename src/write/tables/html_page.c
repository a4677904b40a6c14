/* Parts of HTML pages: figures, bars, tables; text from files in Markdown and HTML. */
#include "write/tables/html_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "write/tables/table.h"

const char *oc_page_until(const char *at, const char *end, const char *mark, FILE *f)
{
    const char *hit = oc_find(at, (size_t)(end - at), mark, strlen(mark));
    fwrite(at, 1, (size_t)((hit ? hit : end) - at), f);
    return hit ? hit + strlen(mark) : end;
}

static void put_escaped(const char *text, FILE *f)
{
    struct oc_buf b = {0};
    oc_xml_text(&b, text);
    fwrite(b.data ? b.data : "", 1, b.n, f);
    oc_buf_free(&b);
}

bool oc_is_fragment(const char *format)
{
    return format && strcmp(format, "fragment") == 0;
}

void oc_html_write(struct oc_html *h, const char *path, const char *what, const char *made, FILE *f)
{
    const char *name = path ? oc_base_name(path) : NULL;
    const char *title = name ? oc_printf(&h->arena, "%s: %s", name, what) : what;
    const char *at = (const char *)(h->fragment ? oc_fragment : oc_shell);
    const char *end = at + (h->fragment ? oc_fragment_bytes : oc_shell_bytes);
    at = oc_page_until(at, end, "@title@", f);
    put_escaped(title, f);
    if (!h->fragment) {
        at = oc_page_until(at, end, "@heading@", f);
        put_escaped(title, f);
    }
    at = oc_page_until(at, end, "@body@", f);
    fwrite(h->b.data ? h->b.data : "", 1, h->b.n, f);
    at = oc_page_until(at, end, "@made@", f);
    put_escaped(made ? made : "onnxcost " ONNXCOST_VERSION, f);
    oc_page_until(at, end, "@end@", f);
    oc_buf_free(&h->b);
    oc_arena_free(&h->arena);
}

void oc_html_escaped(struct oc_html *h, const char *text)
{
    oc_xml_text(&h->b, text);
}

static void element(struct oc_html *h, const char *tag, const char *class, const char *text)
{
    oc_buf_printf(&h->b, "<%s class=\"%s\">", tag, class);
    oc_html_escaped(h, text);
    oc_buf_printf(&h->b, "</%s>\n", tag);
}

void oc_html_sentence(struct oc_html *h, const char *text)
{
    element(h, "p", "verdict", text);
}

void oc_html_note(struct oc_html *h, const char *text)
{
    element(h, "p", "note", text);
}

void oc_html_begin(struct oc_html *h, const char *id, const char *title)
{
    if (h->fragment) {
        oc_buf_str(&h->b, "<section");
        oc_xml_attribute(&h->b, "aria-label", title);
        oc_buf_str(&h->b, "><p class=\"oc-head\">");
        oc_html_escaped(h, title);
        oc_buf_str(&h->b, "</p>\n");
        return;
    }
    oc_buf_printf(&h->b, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<header><h2 id=\"%s-title\">", id,
                  id, id);
    oc_html_escaped(h, title);
    oc_buf_str(&h->b, "</h2></header>\n");
}

void oc_html_end(struct oc_html *h)
{
    oc_buf_str(&h->b, "</section>\n");
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

static bool is_text(enum oc_html_kind kind)
{
    return kind == OC_HTML_TEXT || kind == OC_HTML_CODE;
}

static const char *percent_text(struct oc_arena *a, double fraction)
{
    bool tiny = fraction > 0 && fraction < 0.0001;
    return tiny ? "<0.01 %" : oc_printf(a, "%s %%", oc_number_text(a, 100 * fraction, 3));
}

static const char *number_text(struct oc_arena *a, enum oc_html_kind kind, double v)
{
    switch (kind) {
    case OC_HTML_SI:
        return oc_si_text(a, v, "");
    case OC_HTML_TRAFFIC:
        return oc_si_text(a, v, "B");
    case OC_HTML_BYTES:
        return v < 0 ? oc_printf(a, "-%s", oc_bytes_text(a, -v)) : oc_bytes_text(a, v);
    case OC_HTML_NS:
        return oc_time_text(a, v, "-");
    case OC_HTML_SECONDS:
        return oc_seconds_text(a, v, "-");
    case OC_HTML_PERCENT:
        return percent_text(a, v);
    case OC_HTML_STEP:
        return oc_printf(a, "%.0f", v + 1);
    case OC_HTML_YES:
        return v > 0 ? "yes" : "";
    default:
        return v == floor(v) && v >= 0 && v < 0x1p63 ? oc_count_text(a, (uint64_t)v)
                                                     : oc_number_text(a, v, 4);
    }
}

/* The number of a kind as text; "" (unknown): "-". Arena or static. */
static const char *html_shown(struct oc_arena *a, enum oc_html_kind kind, const char *cell)
{
    double v = 0;
    uint64_t u = 0;
    if (is_text(kind))
        return cell;
    if (kind == OC_HTML_COUNT && oc_parse_u64(cell, strlen(cell), &u))
        return oc_count_text(a, u);
    return oc_parse_double(cell, strlen(cell), &v) ? number_text(a, kind, v) : "-";
}

/* The same number as the machine-readable formats have it. */
static void exact_attribute(struct oc_html *h, enum oc_html_kind kind, const char *cell)
{
    if (!is_text(kind) && *cell)
        oc_xml_attribute(&h->b, "data-v", cell);
}

/* ---- figures ---------------------------------------------------------------------------------------- */

void oc_html_facts_begin(struct oc_html *h)
{
    oc_buf_str(&h->b, "<dl class=\"cards\">\n");
}

void oc_html_facts_end(struct oc_html *h)
{
    oc_buf_str(&h->b, "</dl>\n");
}

void oc_html_fact(struct oc_html *h, const char *title, const char *key, enum oc_html_kind kind,
                  const char *cell, const char *mark, const char *note)
{
    oc_buf_str(&h->b, "<div class=\"card\"><dt>");
    oc_html_escaped(h, title);
    oc_buf_str(&h->b, "</dt><dd class=\"value\"");
    if (key)
        oc_xml_attribute(&h->b, "data-key", key);
    exact_attribute(h, kind, cell);
    oc_buf_char(&h->b, '>');
    oc_html_escaped(h, *cell && mark ? mark : "");
    oc_html_escaped(h, *cell ? html_shown(&h->arena, kind, cell) : "unknown");
    oc_buf_str(&h->b, "</dd>");
    if (note)
        element(h, "dd", "sub", note);
    oc_buf_str(&h->b, "</div>\n");
}

void oc_html_fact_u64(struct oc_html *h, const char *title, const char *key, enum oc_html_kind kind,
                      uint64_t v, const char *mark, const char *note)
{
    oc_html_fact(h, title, key, kind, oc_u64_text(&h->arena, v), mark, note);
}

void oc_html_fact_double(struct oc_html *h, const char *title, const char *key, enum oc_html_kind kind,
                         double v, const char *note)
{
    char buf[40] = "";
    if (isfinite(v))
        oc_format_repr(v, buf, sizeof(buf));
    oc_html_fact(h, title, key, kind, buf, NULL, note);
}

/* ---- bars ------------------------------------------------------------------------------------------- */

static const char *part_text(struct oc_html *h, enum oc_html_kind kind, const struct oc_html_part *p,
                             double whole)
{
    return oc_printf(&h->arena, "%s %s (%.3g %%)", p->name, number_text(&h->arena, kind, p->value),
                     100 * p->value / whole);
}

void oc_html_strip(struct oc_html *h, const char *label, enum oc_html_kind kind,
                   const struct oc_html_part *part, size_t n, double whole)
{
    if (!(whole > 0))
        return;
    oc_buf_str(&h->b, "<div class=\"strip\" role=\"img\"");
    oc_xml_attribute(&h->b, "aria-label", label);
    oc_buf_char(&h->b, '>');
    for (size_t i = 0; i < n; i++)
        if (part[i].value > 0)
            oc_buf_printf(&h->b, "<span class=\"part%u\" style=\"width:%.3f%%\"></span>", part[i].color % 6,
                          100 * part[i].value / whole);
    oc_buf_str(&h->b, "</div>\n<div class=\"legend\">");
    for (size_t i = 0; i < n; i++) {
        if (!(part[i].value > 0))
            continue;
        oc_buf_printf(&h->b, "<span><i class=\"part%u\"></i>", part[i].color % 6);
        oc_html_escaped(h, part_text(h, kind, &part[i], whole));
        oc_buf_str(&h->b, "</span>");
    }
    oc_buf_str(&h->b, "</div>\n");
}

static void html_lines(struct oc_html *h, const struct oc_buf *text)
{
    const char *at = text->data, *end = at + text->n;
    oc_buf_str(&h->b, "<pre>");
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = stop ? stop : end;
        oc_html_escaped(h, oc_strndup(&h->arena, at, (size_t)(line_end - at)));
        oc_buf_char(&h->b, '\n');
        at = line_end + 1;
    }
    oc_buf_str(&h->b, "</pre>\n");
}

void oc_html_text_of(struct oc_html *h, void (*write)(void *of, FILE *f), void *of)
{
    struct oc_buf b = {0};
    FILE *f = oc_buf_stream(&b);
    write(of, f);
    fclose(f);
    if (b.n)
        html_lines(h, &b);
    oc_buf_free(&b);
}

/* ---- tables ----------------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 40, NO_FIELD = -1 };

struct shown_column {
    const struct oc_html_column *spec;
    int field, high, quality, pair; /* columns of the rows, or NO_FIELD */
    double most;                    /* largest value, for bars */
};

struct table {
    struct oc_html *h;
    const struct oc_html_table *spec;
    const struct oc_table *cells; /* the first row has the names */
    struct shown_column column[MOST_COLUMNS];
    size_t n;
};

static int field_of(const struct oc_table *cells, const char *name)
{
    for (size_t c = 0; name && c < cells->n_col; c++)
        if (strcmp(cells->cell[c], name) == 0)
            return (int)c;
    return NO_FIELD;
}

/* row counts from 0, below the names */
static const char *cell_of(const struct table *t, size_t row, int field)
{
    return field == NO_FIELD ? "" : t->cells->cell[(row + 1) * t->cells->n_col + (size_t)field];
}

static double value_of(const struct table *t, size_t row, int field)
{
    double v = 0;
    const char *cell = cell_of(t, row, field);
    return oc_parse_double(cell, strlen(cell), &v) ? v : (double)NAN;
}

static void add_column(struct table *t, const struct oc_html_column *spec)
{
    struct shown_column c = {.spec = spec,
                             .field = field_of(t->cells, spec->field),
                             .high = field_of(t->cells, spec->high),
                             .quality = field_of(t->cells, spec->quality),
                             .pair = field_of(t->cells, spec->pair)};
    bool known = false, own = !spec->unlike;
    int other = field_of(t->cells, spec->unlike);
    for (size_t r = 0; r + 1 < t->cells->n_row; r++) {
        own = own || strcmp(cell_of(t, r, c.field), cell_of(t, r, other)) != 0;
        double v = value_of(t, r, spec->high ? c.high : c.field);
        const char *text = cell_of(t, r, c.field);
        known |= *text && !((spec->kind == OC_HTML_YES || spec->nonzero) && !strcmp(text, "0"));
        c.most = v > c.most ? v : c.most;
        v = value_of(t, r, c.pair);
        known |= v > 0;
        c.most = v > c.most ? v : c.most;
    }
    if (known && own && t->n < MOST_COLUMNS)
        t->column[t->n++] = c;
}

static const char *class_of(const struct shown_column *c)
{
    return c->spec->high                   ? "track"
           : c->spec->pair                 ? "track two"
           : c->spec->kind == OC_HTML_CODE ? "left mono"
           : c->spec->kind == OC_HTML_TEXT ? "left"
           : c->spec->bar                  ? "barred"
                                           : "";
}

static void head_row(struct table *t)
{
    oc_buf_str(&t->h->b, "<thead><tr>");
    for (size_t i = 0; i < t->n; i++) {
        const struct oc_html_column *c = t->column[i].spec;
        const char *end = c->high ? c->high : c->pair;
        oc_buf_printf(&t->h->b, "<th scope=\"col\" class=\"%s\" data-field=\"%s%s%s\"><span>",
                      is_text(c->kind) || end ? "left" : "", c->json ? c->json : c->field, end ? "-" : "",
                      end ? end : "");
        oc_html_escaped(t->h, c->title);
        oc_buf_str(&t->h->b, "</span></th>");
    }
    oc_buf_str(&t->h->b, "</tr></thead>\n<tbody>\n");
}

static void range_bar(struct table *t, const struct shown_column *c, size_t row)
{
    double low = value_of(t, row, c->field), high = value_of(t, row, c->high);
    if (c->most > 0 && high >= low)
        oc_buf_printf(&t->h->b, "<div><span class=\"part0\" style=\"left:%.2f%%;width:%.2f%%\"></span></div>",
                      100 * low / c->most, 100 * (high - low) / c->most);
}

static void pair_of_bars(struct table *t, const struct shown_column *c, size_t row)
{
    const int field[] = {c->field, c->pair};
    oc_buf_str(&t->h->b, "<div>");
    for (unsigned i = 0; i < 2 && c->most > 0; i++) {
        double v = value_of(t, row, field[i]);
        if (v > 0)
            oc_buf_printf(&t->h->b, "<span class=\"side%u\" style=\"width:%.2f%%\"></span>", i,
                          100 * v / c->most);
    }
    oc_buf_str(&t->h->b, "</div>");
}

/* With its sign: growth is worse. */
static void difference(struct table *t, enum oc_html_kind kind, const char *cell)
{
    double v = 0;
    if (!oc_parse_double(cell, strlen(cell), &v)) {
        oc_buf_char(&t->h->b, '-');
        return;
    }
    if (v == 0) {
        oc_buf_char(&t->h->b, '0');
        return;
    }
    oc_buf_printf(&t->h->b, "<span class=\"%s\">%c", v > 0 ? "bad" : "good", v > 0 ? '+' : '-');
    oc_html_escaped(t->h, number_text(&t->h->arena, kind, fabs(v)));
    oc_buf_str(&t->h->b, "</span>");
}

static const char *mark_of_quality(const char *quality)
{
    for (unsigned q = OC_EXACT; q < OC_UNKNOWN; q++)
        if (strcmp(oc_quality_name(q), quality) == 0)
            return oc_quality_mark(q);
    return "";
}

static void table_cell(struct table *t, const struct shown_column *c, size_t row)
{
    const char *cell = cell_of(t, row, c->field);
    oc_buf_printf(&t->h->b, "<td class=\"%s\"", class_of(c));
    exact_attribute(t->h, c->spec->kind, cell);
    if (c->spec->bar && c->most > 0 && *cell)
        oc_buf_printf(&t->h->b, " style=\"background-size:%.2f%% 70%%\"",
                      100 * value_of(t, row, c->field) / c->most);
    oc_buf_char(&t->h->b, '>');
    if (c->spec->high) {
        range_bar(t, c, row);
    } else if (c->spec->pair) {
        pair_of_bars(t, c, row);
    } else if (c->spec->delta) {
        difference(t, c->spec->kind, cell);
    } else {
        if (*cell)
            oc_html_escaped(t->h, mark_of_quality(cell_of(t, row, c->quality)));
        oc_html_escaped(t->h, html_shown(&t->h->arena, c->spec->kind, cell));
    }
    oc_buf_str(&t->h->b, "</td>");
}

static void body_row(struct table *t, size_t row)
{
    oc_buf_str(&t->h->b, "<tr");
    if (t->spec->at)
        oc_buf_printf(&t->h->b, " data-at=\"%" PRIu32 "\"", t->spec->at[row]);
    if (t->spec->marked && t->spec->marked[row])
        oc_buf_str(&t->h->b, " class=\"marked\"");
    if (t->spec->status)
        oc_xml_attribute(
            &t->h->b, "class",
            oc_printf(&t->h->arena, "status-%s", cell_of(t, row, field_of(t->cells, t->spec->status))));
    oc_buf_char(&t->h->b, '>');
    for (size_t i = 0; i < t->n; i++)
        table_cell(t, &t->column[i], row);
    oc_buf_str(&t->h->b, "</tr>\n");
}

void oc_html_table(struct oc_html *h, const struct oc_html_table *spec, const struct oc_fields *rows)
{
    struct table t = {.h = h, .spec = spec, .cells = &rows->table};
    size_t n = rows->table.n_row ? rows->table.n_row - 1 : 0, most = spec->most ? spec->most : OC_HTML_ROWS;
    if (h->fragment && most > OC_FRAGMENT_ROWS)
        most = OC_FRAGMENT_ROWS;
    if (!n)
        return;
    for (size_t i = 0; i < spec->n_column; i++)
        add_column(&t, &spec->column[i]);
    oc_html_begin(h, spec->id, spec->title);
    oc_buf_printf(&h->b,
                  "<div class=\"scroll grid\" tabindex=\"0\" role=\"region\" aria-label=\"Table: %s\">\n"
                  "<table class=\"bars\" data-json=\"%s\">\n",
                  spec->title, spec->json ? spec->json : "");
    head_row(&t);
    for (size_t r = 0; r < n && r < most; r++)
        body_row(&t, r);
    oc_buf_str(&h->b, "</tbody>\n</table></div>\n");
    if (n > most)
        oc_html_note(h, oc_printf(&h->arena, "%zu of %zu rows; -f json and -f csv have all", most, n));
    oc_html_end(h);
}

void oc_html_list(struct oc_html *h, const struct oc_html_table *spec, const struct oc_row_list *rows)
{
    struct oc_fields o = {0};
    oc_row_list_fill(rows, &o);
    oc_html_table(h, spec, &o);
    oc_fields_free(&o);
}

void oc_html_texts(struct oc_html *h, const char *id, const char *title, struct oc_table *t)
{
    struct oc_html_column *column = OC_NEW_ARRAY(&h->arena, t->n_col + 1, struct oc_html_column);
    struct oc_fields rows = {.table = *t};
    for (size_t c = 0; c < t->n_col; c++) {
        column[c].title = *t->cell[c] ? t->cell[c] : "Side";
        column[c].kind = t->kinds[c] == 't' ? OC_HTML_TEXT : OC_HTML_CODE;
        t->cell[c] = column[c].field = oc_printf(&h->arena, "column%zu", c + 1);
    }
    oc_html_table(
        h, &(struct oc_html_table){.id = id, .title = title, .column = column, .n_column = t->n_col}, &rows);
    oc_table_free(t);
}

/* ---- histograms ------------------------------------------------------------------------------------- */

enum { POWERS = 24 };

static void histogram_bars(struct oc_html *h, const uint32_t *count, int low, int high, uint32_t most)
{
    for (int k = low; k <= high; k++) {
        const char *from = oc_si_text(&h->arena, pow(10, k), "");
        oc_buf_printf(&h->b, "<div><b>%" PRIu32 "</b><i style=\"height:%.1f%%\"></i><span>", count[k],
                      100.0 * count[k] / most);
        oc_html_escaped(h, from);
        oc_buf_str(&h->b, "</span></div>\n");
    }
}

void oc_html_histogram(struct oc_html *h, const char *field, const char *title, const struct oc_fields *rows)
{
    const struct table t = {.cells = &rows->table};
    int c = field_of(&rows->table, field), low = POWERS, high = -1;
    uint32_t count[POWERS] = {0}, most = 0;
    for (size_t r = 0; r + 1 < rows->table.n_row; r++) {
        double v = value_of(&t, r, c);
        int power = v >= 1 ? (int)floor(log10(v)) : 0;
        if (!(v > 0) || power >= POWERS)
            continue;
        most = ++count[power] > most ? count[power] : most;
        low = power < low ? power : low;
        high = power > high ? power : high;
    }
    if (low >= high)
        return;
    oc_html_begin(h, oc_printf(&h->arena, "%s-histogram", field),
                  oc_printf(&h->arena, "%s: number of models by power of ten", title));
    oc_buf_str(&h->b, "<div class=\"hist\">\n");
    histogram_bars(h, count, low, high, most);
    oc_buf_str(&h->b, "</div>\n");
    oc_html_end(h);
}

/* ---- Markdown --------------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 160, HEAD = MAX_COLUMNS / 3 };

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Characters without a special meaning in a table cell: an underscore inside a word has none. */
static bool is_harmless(const char *s)
{
    for (const char *p = s; *p; p++)
        if (!is_alnum(*p) && !strchr(" ,.()%:;/+-=?'", *p) &&
            !(*p == '_' && p > s && is_alnum(p[-1]) && is_alnum(p[1])))
            return false;
    return *s && !strstr(s, "://") && !strstr(s, "www.");
}

static void put_md(struct oc_buf *b, const char *p, const char *end)
{
    while (p < end) {
        const char *from = p;
        if (oc_uni_is_hidden(oc_utf8_next(&p, end)))
            oc_buf_char(b, '?');
        else
            oc_buf_add(b, from, (size_t)(p - from));
    }
}

/* The end of the first `columns` columns of the text. */
static const char *after(const char *p, const char *end, size_t columns)
{
    size_t n = 0;
    while (p < end) {
        const char *next = p;
        n += oc_uni_columns(oc_utf8_next(&next, end));
        if (n > columns)
            break;
        p = next;
    }
    return p;
}

/* The text without control characters, shortened in the middle when it is long. */
static void clean(struct oc_buf *b, const char *s, bool cut)
{
    const char *end = s + strlen(s);
    size_t columns = cut ? oc_utf8_columns(s, strlen(s)) : 0;
    if (columns <= MAX_COLUMNS) {
        put_md(b, s, end);
        return;
    }
    put_md(b, s, after(s, end, HEAD));
    oc_buf_str(b, "…");
    put_md(b, after(s, end, columns - (MAX_COLUMNS - HEAD - 1)), end);
}

/* A code span cannot contain its own fence, and tables split cells at bars before they parse code. A
 * <code> element with character references for all punctuation can contain anything and never forms a link
 * or mention. */
static void put_md_element(struct oc_buf *b, const char *s)
{
    oc_buf_str(b, "<code>");
    for (; *s; s++) {
        if (is_alnum(*s) || (unsigned char)*s >= 0x80)
            oc_buf_char(b, *s);
        else
            oc_buf_printf(b, "&#%u;", (unsigned char)*s);
    }
    oc_buf_str(b, "</code>");
}

static void code(struct oc_buf *b, const char *s, bool cut)
{
    struct oc_buf text = {0};
    clean(&text, s, cut);
    bool span = text.n && !strpbrk(text.data, "`|\\") && text.data[0] != ' ' && text.data[text.n - 1] != ' ';
    if (span)
        oc_buf_printf(b, "`%s`", text.data);
    else if (text.n)
        put_md_element(b, text.data);
    else
        oc_buf_char(b, '-');
    oc_buf_free(&text);
}

void oc_md_code(struct oc_buf *b, const char *s)
{
    code(b, s, true);
}

void oc_md_text(struct oc_buf *b, const char *s)
{
    if (is_harmless(s))
        oc_buf_str(b, s);
    else
        code(b, s, false);
}

/* ---- XML and HTML ----------------------------------------------------------------------------------- */

static const char *escape_of(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return NULL;
    }
}

/* Char of XML 1.0 without invisible characters and bidirectional overrides. */
static bool is_allowed(uint32_t c)
{
    return !oc_uni_is_hidden(c) && c != 0xfffe && c != 0xffff;
}

void oc_xml_text(struct oc_buf *b, const char *s)
{
    const char *end = s + strlen(s);
    while (s < end) {
        const char *from = s;
        uint32_t c = oc_utf8_next(&s, end);
        const char *escape = escape_of(c);
        if (escape)
            oc_buf_str(b, escape);
        else if (is_allowed(c))
            oc_buf_add(b, from, (size_t)(s - from));
        else
            oc_buf_str(b, "\xef\xbf\xbd");
    }
}

void oc_xml_attribute(struct oc_buf *b, const char *name, const char *text)
{
    oc_buf_printf(b, " %s=\"", name);
    oc_xml_text(b, text);
    oc_buf_char(b, '"');
}
