/* The report as a workbook of a spreadsheet: one sheet for each table, by libxlsxwriter. Numbers are numbers,
 * in the units of CSV; texts are never formulas. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/report.h"
#include "write/report_write.h"

#if __has_include(<xlsxwriter.h>) && !defined(OC_LINKED_LIBRARIES)
#include <xlsxwriter.h>

#define FUNCTIONS(X)                                                                                         \
    X(create, workbook_new)                                                                                  \
    X(finish, workbook_close)                                                                                \
    X(add_sheet, workbook_add_worksheet)                                                                     \
    X(add_format, workbook_add_format)                                                                       \
    X(properties, workbook_set_properties)                                                                   \
    X(bold, format_set_bold)                                                                                 \
    X(number_format, format_set_num_format)                                                                  \
    X(text, worksheet_write_string)                                                                          \
    X(number, worksheet_write_number)                                                                        \
    X(freeze, worksheet_freeze_panes)                                                                        \
    X(filter, worksheet_autofilter)                                                                          \
    X(width, worksheet_set_column)                                                                           \
    X(error_text, lxw_strerror)

OC_LIBRARY(xlsxwriter, FUNCTIONS, .name = "libxlsxwriter", .use = "spreadsheets", .package = "libxlsxwriter4",
           .soname = {"libxlsxwriter.so.4"});

/* Limits of the file format. */
enum { MOST_ROWS = 1048575, MOST_CHARACTERS = 32767, WIDE = 40, NARROW = 14 };
/* A double holds every integer up to here. */
#define MOST_EXACT 9007199254740992u

struct workbook {
    struct library lib;
    lxw_workbook *book;
    lxw_format *head, *percent, *count;
    lxw_worksheet *sheet;
    lxw_row_t row;
    lxw_error failed; /* the first error */
    struct oc_buf b;
};

static void keep(struct workbook *w, lxw_error e)
{
    if (!w->failed)
        w->failed = e;
}

/* Texts from files: without control characters, cut to what a cell holds. */
static const char *cell_text(struct workbook *w, const char *s)
{
    oc_buf_clear(&w->b);
    oc_buf_str(&w->b, s);
    oc_buf_char(&w->b, '\0');
    oc_make_visible(w->b.data);
    w->b.n = strlen(w->b.data);
    size_t n = 0;
    for (size_t characters = 0; n < w->b.n && characters < MOST_CHARACTERS; characters++)
        for (n++; n < w->b.n && ((unsigned char)w->b.data[n] & 0xc0) == 0x80;)
            n++;
    w->b.data[n] = '\0';
    return w->b.data;
}

static void put_text(struct workbook *w, lxw_col_t column, const char *s)
{
    if (s && *s)
        keep(w, w->lib.text(w->sheet, w->row, column, cell_text(w, s), w->row ? NULL : w->head));
}

static void put_number(struct workbook *w, lxw_col_t column, double v, lxw_format *format)
{
    if (isfinite(v))
        keep(w, w->lib.number(w->sheet, w->row, column, v, format));
    else if (isinf(v))
        put_text(w, column, "infinite");
}

/* Larger than a double holds: as text. */
static void put_whole(struct workbook *w, lxw_col_t column, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, v);
    if (v > MOST_EXACT)
        put_text(w, column, text);
    else
        put_number(w, column, (double)v, w->count);
}

static void begin_sheet(struct workbook *w, const char *name)
{
    w->sheet = w->lib.add_sheet(w->book, name);
    w->row = 0;
    if (!w->sheet)
        keep(w, LXW_ERROR_MEMORY_MALLOC_FAILED);
}

static void end_sheet(struct workbook *w, lxw_col_t columns)
{
    w->lib.freeze(w->sheet, 1, 0);
    if (columns && w->row > 1)
        keep(w, w->lib.filter(w->sheet, 0, 0, w->row - 1, (lxw_col_t)(columns - 1)));
}

/* ---- sheets ----------------------------------------------------------------------------------------- */

static void summary_sheet(struct workbook *w, struct oc_report *r)
{
    struct oc_summary s = {.line = NULL};
    begin_sheet(w, "summary");
    keep(w, w->lib.width(w->sheet, 0, 0, NARROW, NULL));
    keep(w, w->lib.width(w->sheet, 1, 1, 2 * WIDE, NULL));
    put_text(w, 0, "figure");
    put_text(w, 1, "value");
    oc_report_summary(r, &s);
    for (uint32_t i = 0; i < s.n; i++) {
        w->row++;
        put_text(w, 0, s.line[i].label);
        put_text(w, 1, s.line[i].text);
    }
    w->row++;
    free(s.line);
    end_sheet(w, 2);
}

static void put_field(struct workbook *w, lxw_col_t c, const struct oc_column *column,
                      const struct oc_line *l)
{
    struct oc_field f = {.number = NAN};
    struct oc_line at = *l;
    at.column = column;
    column->get(&at, &f);
    if (column->kind == OC_FIELD_TEXT)
        put_text(w, c, f.text);
    else if (f.whole)
        put_whole(w, c, f.whole);
    else
        put_number(w, c, column->kind == OC_FIELD_TIME ? oc_ns_of(f.number) : f.number,
                   column->kind == OC_FIELD_FRACTION ? w->percent : NULL);
}

/* The columns of CSV, with their names, which have the units. */
static void rows_sheet(struct workbook *w, struct oc_report *r)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_CSV, column);
    struct oc_arena scratch = {0};
    struct oc_line l = {.r = r, .arena = &scratch};
    begin_sheet(w, oc_report_grouped(r->o) ? "groups" : "operators");
    for (size_t i = 0; i < n; i++) {
        bool text = column[i]->kind == OC_FIELD_TEXT;
        put_text(w, (lxw_col_t)i, column[i]->key);
        keep(w, w->lib.width(w->sheet, (lxw_col_t)i, (lxw_col_t)i, text ? WIDE : NARROW, NULL));
    }
    for (w->row = 1; oc_line_next(&l); w->row++) {
        for (size_t i = 0; i < n; i++)
            put_field(w, (lxw_col_t)i, column[i], &l);
        oc_arena_free(&scratch);
    }
    end_sheet(w, (lxw_col_t)n);
}

static void types_sheet(struct workbook *w, const struct oc_analysis *a)
{
    static const char *const head[] = {"type",    "domain", "nodes",  "macs",   "flops",
                                       "int_ops", "bytes",  "params", "quality"};
    begin_sheet(w, "types");
    keep(w, w->lib.width(w->sheet, 0, (lxw_col_t)(OC_COUNT(head) - 1), NARROW, NULL));
    for (size_t i = 0; i < OC_COUNT(head); i++)
        put_text(w, (lxw_col_t)i, head[i]);
    for (uint32_t i = 0; i < a->n_by_type; i++) {
        const struct oc_type_total *t = &a->by_type[i];
        const uint64_t v[] = {t->nodes, t->macs, t->flops, t->ops, t->bytes, t->params};
        w->row = i + 1;
        put_text(w, 0, t->op_type);
        put_text(w, 1, t->domain);
        put_whole(w, 2, v[0]);
        for (size_t k = 1; k < OC_COUNT(v) && t->quality != OC_UNKNOWN; k++)
            put_whole(w, (lxw_col_t)(2 + k), v[k]);
        put_text(w, 8, oc_quality_name(t->quality));
    }
    w->row = a->n_by_type + 1;
    end_sheet(w, (lxw_col_t)OC_COUNT(head));
}

/* ---- the file --------------------------------------------------------------------------------------- */

int oc_xlsx_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err)
{
    struct library lib = {0};
    (void)o;
    uint32_t n = in->model ? in->model->n_node : 0;
    if (in->profile && in->profile->n_rec > n)
        n = in->profile->n_rec;
    if (n > MOST_ROWS)
        return oc_fail(err, OC_ELIMIT,
                       "a sheet has at most %d rows, the report may have %u: use --format csv", MOST_ROWS, n);
    if (oc_library_open(&xlsxwriter, &lib, err))
        return -1;
    oc_library_close(&lib);
    return 0;
}

/* The library writes to a path: that of an open temporary file. */
static bool make_book(struct workbook *w, FILE *to)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(to));
    w->book = w->lib.create(path);
    if (!w->book)
        return false;
    /* the same report gives the same file: 1980-01-01 */
    char title[] = "onnxcost";
    lxw_doc_properties made = {.title = title, .created = 315532800};
    keep(w, w->lib.properties(w->book, &made));
    w->head = w->lib.add_format(w->book);
    w->lib.bold(w->head);
    w->percent = w->lib.add_format(w->book);
    w->lib.number_format(w->percent, "0.0%");
    w->count = w->lib.add_format(w->book);
    w->lib.number_format(w->count, "#,##0");
    return true;
}

static bool copy_file(FILE *from, FILE *to)
{
    char piece[1 << 14];
    size_t n;
    rewind(from);
    while ((n = fread(piece, 1, sizeof(piece), from)) > 0)
        if (fwrite(piece, 1, n, to) != n)
            return false;
    return !ferror(from);
}

int oc_out_xlsx(struct oc_report *r, FILE *f, struct oc_err *err)
{
    struct workbook w = {.failed = LXW_NO_ERROR};
    FILE *file = tmpfile();
    if (!file)
        return oc_fail(err, OC_EIO, "cannot create a temporary file for the spreadsheet");
    if (oc_library_open(&xlsxwriter, &w.lib, err)) {
        fclose(file);
        return -1;
    }
    int rc = 0;
    if (make_book(&w, file)) {
        summary_sheet(&w, r);
        rows_sheet(&w, r);
        if (r->in->analysis)
            types_sheet(&w, r->in->analysis);
        lxw_error e = w.lib.finish(w.book);
        keep(&w, e);
        if (w.failed)
            rc = oc_fail(err, OC_EIO, "cannot write the spreadsheet: %s", w.lib.error_text(w.failed));
        else if (!copy_file(file, f))
            rc = oc_fail(err, OC_EIO, "cannot copy the spreadsheet");
    } else {
        rc = oc_fail(err, OC_EIO, "cannot create the spreadsheet");
    }
    oc_buf_free(&w.b);
    oc_library_close(&w.lib);
    fclose(file);
    return rc;
}

#else

int oc_xlsx_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err)
{
    (void)in;
    (void)o;
    return oc_fail(err, OC_ELIBRARY, "this build has no spreadsheets: build onnxcost with libxlsxwriter-dev");
}

int oc_out_xlsx(struct oc_report *r, FILE *f, struct oc_err *err)
{
    (void)f;
    return oc_xlsx_check(r->in, r->o, err);
}

#endif
