/* write/: The report in every format: out_NAME.c, a row in report_write.c. Nothing is computed here but
 * widths and texts: a figure that an output lacks belongs in report/. JSON and CSV are versioned; a changed
 * member needs the schema and the test of both.
 * Private to the folder: trace_doc.h. */

#include "write/report_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/pyfmt.h"
#include "report/what_if.h"
#include "write/tables/grid.h"
#include "write/tables/plain_table.h"

#define INFO_WIDTH 30
#define BAR_LENGTH 15
#define MAX_BAR    65536 /* ratio for negative times: unbounded */

/* ---- cells ------------------------------------------------------------------------------------------ */

/* Moves the buffer's contents into an arena text and empties the buffer. */
static const char *details_take(struct oc_arena *a, struct oc_buf *b)
{
    const char *s = oc_strndup(a, b->data ? b->data : "", b->n);
    oc_buf_clear(b);
    return s;
}

static const char *na_or_fixed(double v, unsigned decimals, char *buf)
{
    return oc_num_known(v) ? oc_py_fixed(v, decimals, buf) : "N/A";
}

/* "3.13\nMiB" */
static const char *scaled_cell(struct oc_arena *a, double v, double base, const char *plain_unit,
                               const char *unit)
{
    char buf[OC_PY_NUM];
    const char *prefix;
    v = oc_py_scaled(v, base, &prefix);
    return oc_printf(a, "%s\n%s%s", na_or_fixed(v, 2, buf), prefix, prefix[0] ? unit : plain_unit);
}

static const char *details_percent(double part, double whole, char *buf)
{
    return oc_py_fixed(part / whole * 100, 1, buf);
}

static const char *first_cell(struct oc_arena *a, const struct oc_details *d, uint32_t index, double time_s)
{
    char t[OC_PY_NUM], p[OC_PY_NUM];
    if (!d->time_title)
        return oc_printf(a, "#%u", index);
    return oc_printf(a, "#%u\n%s\n%s%%", index, oc_py_general3(time_s, t),
                     details_percent(time_s, d->total_s, p));
}

static const char *cumulative_cell(struct oc_arena *a, const struct oc_details *d, double time_s)
{
    char t[OC_PY_NUM], p[OC_PY_NUM];
    return oc_printf(a, "%s\n%s%%", oc_py_general3(time_s, t), details_percent(time_s, d->total_s, p));
}

static const char *info_cell(struct oc_arena *a, const struct oc_row *row, struct oc_buf *b)
{
    for (uint32_t i = 0; i < row->n_info; i++) {
        if (i)
            oc_buf_char(b, '\n');
        oc_wrap(row->info[i], INFO_WIDTH, "\n-  ", b);
    }
    return details_take(a, b);
}

static const char *shapes_cell(struct oc_arena *a, const struct oc_details *d, const struct oc_row_shape *s,
                               uint32_t n, uint8_t state, const char *joint, struct oc_buf *b)
{
    uint32_t shown = d->max_shapes && n > d->max_shapes ? d->max_shapes : n;
    if (state != OC_SHAPES_KNOWN)
        return state == OC_SHAPES_NONE ? "None" : "N/A";
    for (uint32_t i = 0; i < shown; i++) {
        oc_buf_str(b, i ? joint : "");
        oc_buf_str(b, s[i].text);
        if (s[i].strides) {
            oc_buf_str(b, "\n ");
            oc_buf_str(b, s[i].strides);
        }
    }
    if (shown < n)
        oc_buf_printf(b, "%s... (%u shapes)", joint, n);
    return details_take(a, b);
}

/* ---- the grid --------------------------------------------------------------------------------------- */

#define MAX_COLUMNS 64

static uint32_t grid_header(const struct oc_details *d, const char **h)
{
    static const char *const fixed[] = {"operator info", "computation", "FLOPS",     "memory",
                                        "bandwidth",     "in_shapes",   "out_shapes"};
    uint32_t n = 0;
    h[n++] = d->time_title ? d->time_title : "#";
    if (d->time_title)
        h[n++] = "cumulative";
    for (uint32_t i = 0; i < OC_COUNT(fixed); i++)
        h[n++] = fixed[i];
    for (uint32_t i = 0; i < d->n_extra && n < MAX_COLUMNS; i++)
        h[n++] = d->extra[i].header;
    return n;
}

void oc_details_grid(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out)
{
    struct oc_arena *a = rows->arena;
    struct oc_buf b = {0};
    struct oc_grid g;
    const char *cell[MAX_COLUMNS], *header[MAX_COLUMNS];
    oc_grid_init(&g, a, grid_header(d, header), header);
    double cumulative_s = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct oc_row *r = &rows->row[i];
        uint32_t n = 0;
        cumulative_s += r->time_s;
        cell[n++] = first_cell(a, d, i, r->time_s);
        if (d->time_title)
            cell[n++] = cumulative_cell(a, d, cumulative_s);
        cell[n++] = info_cell(a, r, &b);
        cell[n++] = scaled_cell(a, r->computation, 1000, "FLO", "FLO");
        cell[n++] = scaled_cell(a, oc_row_flops(r), 1000, "FLOPS", "FLOPS");
        cell[n++] = scaled_cell(a, r->memory, 1024, "byte", "iB");
        cell[n++] = scaled_cell(a, oc_row_bandwidth(r), 1024, "byte/s", "iB/s");
        cell[n++] = shapes_cell(a, d, r->in, r->n_in, r->in_state, "\n", &b);
        cell[n++] = shapes_cell(a, d, r->out, r->n_out, r->out_state, "\n", &b);
        for (uint32_t k = 0; k < d->n_extra && n < MAX_COLUMNS; k++)
            cell[n++] = d->extra[k].cell(a, r);
        oc_grid_record(&g, cell);
    }
    oc_buf_free(&b);
    oc_grid_print(&g, d->ascii ? OC_GRID_ASCII : OC_GRID_FANCY, out);
}

/* ---- the wiki table --------------------------------------------------------------------------------- */

struct wiki {
    const struct oc_details *d;
    struct oc_arena *a;
    struct oc_buf b;                             /* scratch */
    double max_time_s, max_flops, max_bandwidth; /* NAN: unknown */
    uint32_t n;                                  /* number of cells */
    struct oc_cell cell[MAX_COLUMNS];
    const char *header[MAX_COLUMNS];
};

/* Python's max(): a later value replaces the maximum only if it is larger. */
static double details_larger(double best, double v, bool first)
{
    return first || v > best ? v : best;
}

static void find_maxima(struct wiki *w, const struct oc_rows *rows)
{
    bool any[3] = {false};
    w->max_time_s = w->max_flops = w->max_bandwidth = NAN;
    for (uint32_t i = 0; i < rows->n; i++) {
        const double v[] = {rows->row[i].time_s, oc_row_flops(&rows->row[i]),
                            oc_row_bandwidth(&rows->row[i])};
        double *const max[] = {&w->max_time_s, &w->max_flops, &w->max_bandwidth};
        for (size_t k = 0; k < OC_COUNT(v); k++)
            if (oc_num_known(v[k])) {
                *max[k] = details_larger(*max[k], v[k], !any[k]);
                any[k] = true;
            }
    }
}

static void details_put_text(struct wiki *w, const char *header, const char *text)
{
    if (w->n == MAX_COLUMNS)
        return;
    w->header[w->n] = header;
    w->cell[w->n++] = (struct oc_cell){.text = text};
}

static void put_float(struct wiki *w, const char *header, double v)
{
    char buf[OC_PY_NUM];
    details_put_text(w, header, oc_strdup(w->a, oc_py_repr(v, buf)));
    w->cell[w->n - 1].kind = OC_CELL_FLOAT;
    w->cell[w->n - 1].number = v;
}

static void put_fixed1(struct wiki *w, const char *header, double v)
{
    char buf[OC_PY_NUM];
    details_put_text(w, header, oc_strdup(w->a, na_or_fixed(v, 1, buf)));
}

static void details_put_bar(struct wiki *w, const char *header, double v, double max)
{
    double length = oc_num_known(v) ? v / max * BAR_LENGTH : 0;
    if (isfinite(length) && length >= 1)
        oc_buf_pad(&w->b, '#', (size_t)fmin(length, MAX_BAR));
    details_put_text(w, header, details_take(w->a, &w->b));
}

static void put_times(struct wiki *w, const struct oc_row *r, double cumulative_s)
{
    char buf[OC_PY_NUM];
    if (!w->d->time_title)
        return;
    details_put_text(w, "time", oc_strdup(w->a, oc_py_general3(r->time_s, buf)));
    details_put_text(w, "ratio", oc_printf(w->a, "%s%%", details_percent(r->time_s, w->d->total_s, buf)));
    details_put_bar(w, "time bar", r->time_s, w->max_time_s);
    put_float(w, "cum-time", cumulative_s);
    put_float(w, "cum-time ratio", cumulative_s / w->d->total_s);
}

static void put_costs(struct wiki *w, const struct oc_row *r)
{
    double flops = oc_row_flops(r), bandwidth = oc_row_bandwidth(r);
    put_fixed1(w, "computation (MFLO)", r->computation / 1e6);
    put_fixed1(w, "MFLOPS", flops / 1e6);
    details_put_bar(w, "MFLOPS-bar", flops, w->max_flops);
    put_fixed1(w, "memory (MB)", r->memory / 1048576);
    put_fixed1(w, "bandwidth (MiB/s)", bandwidth / 1048576);
    details_put_bar(w, "bandwidth bar", bandwidth, w->max_bandwidth);
}

static void put_record(struct wiki *w, const struct oc_rows *rows, uint32_t i, double cumulative_s)
{
    const struct oc_row *r = &rows->row[i];
    w->n = 0;
    details_put_text(w, "#", oc_printf(w->a, "%u", i));
    put_times(w, r, cumulative_s);
    for (uint32_t k = 0; k < r->n_info; k++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): rows with info come with its keys */
        details_put_text(w, oc_printf(w->a, "opr %s", rows->info_key[k]), r->info[k]);
    put_costs(w, r);
    details_put_text(w, "in_shapes", shapes_cell(w->a, w->d, r->in, r->n_in, r->in_state, ", ", &w->b));
    details_put_text(w, "out_shapes", shapes_cell(w->a, w->d, r->out, r->n_out, r->out_state, ", ", &w->b));
    for (uint32_t k = 0; k < w->d->n_extra; k++)
        details_put_text(w, w->d->extra[k].header, w->d->extra[k].cell(w->a, r));
}

void oc_details_wiki(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out)
{
    struct wiki w = {.d = d, .a = rows->arena};
    struct oc_row none = oc_row_blank();
    const struct oc_rows empty = {.arena = rows->arena, .row = &none, .n = 1, .info_key = rows->info_key};
    const char *blank[] = {"", "", ""};
    none.info = blank;
    none.n_info = rows->info_key ? OC_COUNT(blank) : 0;
    struct oc_grid g;
    find_maxima(&w, rows);
    put_record(&w, rows->n ? rows : &empty, 0, 0); /* for the headers, which are equal for all rows */
    oc_grid_init(&g, w.a, w.n, w.header);
    double cumulative_s = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        cumulative_s += rows->row[i].time_s;
        put_record(&w, rows, i, cumulative_s);
        oc_grid_row(&g, w.cell);
    }
    oc_grid_print(&g, OC_GRID_ORG, out);
    oc_buf_free(&w.b);
}

void oc_details_names(const struct oc_rows *rows, struct oc_buf *out)
{
    for (uint32_t i = 0; i < rows->n; i++) {
        for (uint32_t k = 0; k < rows->row[i].n_info; k++) {
            oc_buf_str(out, k ? " " : "");
            oc_buf_str(out, rows->row[i].info[k]);
        }
        oc_buf_char(out, '\n');
    }
    if (!rows->n)
        oc_buf_char(out, '\n');
}

/* ---- compact table: one line per row ---------------------------------------------------------------- */

/* Keeps the sort column; "gap" is the title of the column wasted_ns. */
static bool is_order(const char *order, const struct oc_column *c)
{
    size_t n = strcspn(c->key, "_");
    for (const char *at = order; at && n; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        at += *at == '+';
        if ((strncmp(at, c->key, n) == 0 && (!at[n] || strchr(",_", at[n]))) ||
            (c->title && strncmp(at, c->title, strlen(c->title)) == 0))
            return true;
    }
    return false;
}

static void compact_table(struct oc_report *r, FILE *f)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    struct oc_term_table t = {.arena = &r->arena,
                              .n_column = oc_columns_for(r, OC_COL_COMPACT, column),
                              .n_row = r->shown.n,
                              .width_chars = r->o->width_chars,
                              .color = r->o->color};
    for (size_t c = 0; c < t.n_column; c++)
        t.column[c] = (struct oc_term_column){
            .title = column[c]->title,
            .left = column[c]->left,
            .min_width = column[c]->min_width,
            .drop = is_order(r->o->order_by, column[c]) ? 0 : column[c]->drop,
        };
    t.cell = OC_NEW_ARRAY(&r->arena, (size_t)t.n_row * t.n_column, const char *);
    struct oc_line l = {.r = r, .arena = &r->arena};
    while (oc_line_next(&l))
        for (size_t c = 0; c < t.n_column; c++)
            t.cell[l.rank * t.n_column + c] =
                strcmp(column[c]->key, "name") == 0 ? oc_row_label(r, l.row) : oc_field_human(column[c], &l);
    oc_term_table_print(&t, f);
}

static void details_put(struct oc_buf *b, FILE *f)
{
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

/* Names come from files: control characters could move the cursor. */
static const char *safe_text(struct oc_arena *arena, const char *s)
{
    return oc_make_visible(oc_strdup(arena, s));
}

/* ---- the summary ------------------------------------------------------------------------------------ */

static bool is_printed(const struct oc_report *r, const struct oc_summary_line *line)
{
    return r->o->verbose || !line->detail;
}

/* All lines with -v, otherwise the main lines and the warnings. */
static void details_print_summary(struct oc_report *r, FILE *f)
{
    struct oc_summary s = {0};
    const char *before = "";
    size_t width = 0;
    oc_report_summary(r, &s);
    for (uint32_t i = 0; i < s.n; i++)
        if (is_printed(r, &s.line[i]) && strlen(s.line[i].label) > width)
            width = strlen(s.line[i].label);
    for (uint32_t i = 0; i < s.n; i++) {
        if (!is_printed(r, &s.line[i]))
            continue;
        const char *label = strcmp(before, s.line[i].label) ? s.line[i].label : "";
        fprintf(f, "%s%-*s%s  ", r->o->color ? "\033[1m" : "", (int)width, label,
                r->o->color ? "\033[0m" : "");
        oc_plain_wrap(width + 2, r->o->width_chars, s.line[i].text, f);
        before = s.line[i].label;
    }
    free(s.line);
}

static bool details_wants(const struct oc_report *r, const char *part)
{
    return !r->o->print_only || !strcmp(r->o->print_only, part);
}

/* ---- MegEngine's forms ------------------------------------------------------------------------------ */

static const char *bound_cell(struct oc_arena *a, const struct oc_row *row)
{
    (void)a;
    return row->bound_by ? row->bound_by : "N/A";
}

static const char *roofline_cell(struct oc_arena *a, const struct oc_row *row)
{
    char buf[48];
    return isnan(row->roofline_s) ? "N/A"
                                  : oc_strdup(a, oc_format_time_ns(row->roofline_s * 1e9, buf, sizeof(buf)));
}

static const char *efficiency_cell(struct oc_arena *a, const struct oc_row *row)
{
    return isnan(row->efficiency) ? "N/A" : oc_printf(a, "%.1f%%", row->efficiency * 100);
}

enum { MAX_SHAPES = 64 };

static const struct oc_details_column hardware_columns[] = {
    {"bound by", bound_cell},
    {"roofline", roofline_cell},
    {"efficiency", efficiency_cell},
};

static void make_info_safe(struct oc_report *r)
{
    for (uint32_t i = 0; i < r->shown.n; i++) {
        struct oc_row *row = &r->shown.row[i];
        const char **info = OC_NEW_ARRAY(&r->arena, row->n_info, const char *);
        for (uint32_t k = 0; k < row->n_info; k++)
            info[k] = safe_text(&r->arena, row->info[k]);
        row->info = info;
    }
}

static void grid_table(struct oc_report *r, FILE *f)
{
    make_info_safe(r);
    struct oc_details d = {.time_title = r->has_time ? "self time" : NULL,
                           .total_s = r->total_s,
                           .max_shapes = MAX_SHAPES,
                           .ascii = r->o->style && !strcmp(r->o->style, "ascii"),
                           .extra = hardware_columns,
                           .n_extra = !r->in->device ? 0
                                      : r->has_time  ? 3
                                                     : 2};
    struct oc_buf b = {0};
    if (r->o->dump_only_opr)
        oc_details_names(&r->shown, &b);
    else if (r->o->confluence)
        oc_details_wiki(&r->shown, &d, &b);
    else
        oc_details_grid(&r->shown, &d, &b);
    details_put(&b, f);
    oc_buf_free(&b);
}

static bool as_grid(const struct oc_report *r)
{
    return r->o->dump_only_opr || r->o->confluence ||
           (r->o->style && (!strcmp(r->o->style, "grid") || !strcmp(r->o->style, "ascii")));
}

void oc_out_term(struct oc_report *r, FILE *f)
{
    if (details_wants(r, "summary"))
        details_print_summary(r, f);
    if (!r->o->print_only)
        fputc('\n', f);
    if (!r->o->print_only && !as_grid(r))
        oc_out_sizes(r, false, f);
    if (!r->o->print_only || !details_wants(r, "summary"))
        (as_grid(r) ? grid_table : oc_screen_is_default(r->o) ? oc_screen_print : compact_table)(r, f);
    if (r->what_if && !r->o->confluence && !r->o->dump_only_opr)
        oc_what_if_text(r->what_if, &r->arena, f);
}
