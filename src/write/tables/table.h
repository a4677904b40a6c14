/* Tables of texts, filled row by row and written once: aligned for a terminal, Markdown, CSV (RFC 4180), HTML
 * (html_page.h). Texts are borrowed; control characters are printed as '?'. */
#ifndef OC_TABLE_H
#define OC_TABLE_H

#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/unicode.h"

/* On a terminal of a given width columns are dropped in order of priority, then long texts are shortened; a line
 * below the table names the dropped columns. */
struct oc_table {
    const char *kinds; /* one letter per column: 't' text, 'c' names from files, 'n' numbers, aligned right;
                        * NULL: numbers */
    size_t n_col;      /* set by the first row */
    const char **cell; /* n_col per row, titles first; on the heap */
    size_t n_row, cap_row;
    size_t width_chars; /* 0: no limit */
    const uint8_t
        *drop; /* by column: > 0: may be dropped, largest value first; NULL: the last columns first */
    const uint8_t
        *min_width;   /* by column: > 0: texts may be shortened to this many characters; NULL: text to ... */
    uint8_t min_text; /* ... this many; 0: 14 */
    const double
        *share; /* by row, 0 to 1: share bar in the background of the first column with colour; or NULL */
    const char *empty;   /* printed below the titles of a table without rows, with a newline; NULL: nothing */
    bool color, changes; /* changes: differences are red if they grew, green if they shrank */
    bool headless; /* the first row is like the others, texts are not shortened, dropped columns not named */
};

/* Adds a row of the given texts. */
#define OC_ROW(table, ...)                                                                                   \
    oc_table_cells((table), (const char *const[]){__VA_ARGS__},                                              \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
void oc_table_cells(struct oc_table *t, const char *const *cell, size_t n);
void oc_table_row(struct oc_table *t,
                  const char *const *cell); /* n_col texts; of the first row as many as kinds */
/* The kinds of columns of numbers, then of names and other texts from files, in the arena. */
const char *oc_table_kinds(struct oc_arena *arena, size_t n_numbers, size_t n_texts);

/* Write the table and free its rows. */
size_t oc_table_print(struct oc_table *t, FILE *f); /* returns the number of columns that fit */
void oc_table_markdown(struct oc_table *t, FILE *f);
/* Adds a last column csv_version: columns may be added to a version; the meaning of a column never changes
 * within one. */
void oc_table_csv(struct oc_table *t, const char *version, FILE *f);
/* Every row ends with the cell `last`: for tables that are written row by row. */
void oc_table_csv_rows(struct oc_table *t, const char *last, FILE *f);
void oc_table_free(struct oc_table *t); /* the rows, where the table is not written */

/* The index of a format in a list such as "table, csv, json" (NULL: the first), or -1 and an error that names
 * what has these formats. */
int oc_format_of(const char *what, const char *format, const char *valid, struct oc_err *err);

/* ---- the default screen ------------------------------------------------------------------------------- */

/* A report without options has at most OC_SCREEN_LINES lines: what is above the tables is printed first, and the tables
 * get the lines that are left, but at least OC_LEAST_ROWS rows each. */
enum { OC_SCREEN_LINES = 25, OC_LEAST_ROWS = 2 };
/* Prints a part of a report and returns the number of its lines. */
size_t oc_print_counted(void (*print)(void *of, FILE *f), void *of, FILE *f);
/* Rows of a table, where `lines` others are printed, its title and its last lines among them. */
size_t oc_rows_left(size_t lines);
/* The same, unless the number of rows is given: top, 0 for all. */
size_t oc_top_rows(size_t top, size_t lines);

/* ---- line breaks ------------------------------------------------------------------------------------ */

/* Breaks a value into lines of a given width by the rules of Python's textwrap.wrap: at white space, after
 * hyphens inside words, and anywhere in words that are too long. */

/* Appends the lines of the text to out, joined by `joint`. An empty (or blank) text appends nothing.
 * Width is in characters and at least 1. */
void oc_wrap(const char *text, size_t width, const char *joint, struct oc_buf *out);

/* ---- short names ------------------------------------------------------------------------------------ */

/* Shortens names that are too wide for their column. Paths keep their end, other texts both ends; if
 * different names become equal, their common prefix is removed. */

/* Replaces every text wider than `width` columns in text[0], text[stride], ... (n of them) by one that
 * fits. Different texts stay different. The new texts are allocated in the arena. O(total length of the
 * texts). */
void oc_short_names(struct oc_arena *arena, const char **text, size_t stride, size_t n, size_t width);

/* ---- grid --------------------------------------------------------------------------------------------- */

/* Tables of text: the "fancy_grid", "simple" and "orgtbl" forms of Python's tabulate, with its column
 * types: a column whose cells all parse as integers, or all as numbers, is aligned on the decimal point
 * (in the second case reprinted with %g); every other column is text, stripped and left-aligned. Widths
 * are in characters.
 *
 * A grid is filled row by row and printed once. Texts are borrowed and must outlive the grid, except those
 * of oc_grid_record, which are copied into the arena. */

enum oc_grid_cell_kind {
    OC_GRID_TEXT, /* may look like a number */
    OC_GRID_FLOAT /* printed with %g in a column of numbers, as `text` otherwise */
};

struct oc_cell {
    enum oc_grid_cell_kind kind;
    const char *text;
    double number;
};

enum oc_grid_style { OC_GRID_FANCY, OC_GRID_SIMPLE, OC_GRID_ORG };

struct oc_grid {
    struct oc_arena *arena;
    uint32_t n_col;
    const char *const *header; /* n_col texts of one line, or NULL */
    struct oc_cell *cell;      /* n_row * n_col; on the heap */
    bool *continues;           /* by row: no rule above it; on the heap */
    size_t n_row, cap_row;
};

void oc_grid_init(struct oc_grid *g, struct oc_arena *arena, uint32_t n_col, const char *const *header);

/* Adds a row of n_col cells. */
void oc_grid_row(struct oc_grid *g, const struct oc_cell *cells);

/* Adds a record: every line of its cells becomes a row, without rules between them. */
void oc_grid_record(struct oc_grid *g, const char *const *cells);

/* Prints the table; every line ends with a newline. Frees the rows. */
void oc_grid_print(struct oc_grid *g, enum oc_grid_style style, struct oc_buf *out);

/* ---- markup ------------------------------------------------------------------------------------------- */

/* Text from files in Markdown, XML and HTML. */

/* Text from files in GitHub-flavoured Markdown. Any text is shown literally and has no effect: no markup,
 * cell, line, link, mention or issue number. */

/* A name as code. Names over 160 columns are shortened in the middle; "" becomes "-". */
void oc_md_code(struct oc_buf *b, const char *s);

/* Other text: unchanged if it is harmless, otherwise as code of any length. */
void oc_md_text(struct oc_buf *b, const char *s);

/* Text from files in XML 1.0 or HTML, in an element or between double quotes: escapes markup, writes line
 * ends and tabs as character references, and replaces characters that are not allowed (control characters,
 * invalid UTF-8, noncharacters) with U+FFFD. */

void oc_xml_text(struct oc_buf *b, const char *s);
/* ' name="text"' */
void oc_xml_attribute(struct oc_buf *b, const char *name, const char *text);

#endif
