/* Small tables of texts, filled row by row and printed once: aligned text, or CSV (RFC 4180). Texts are
 * borrowed; text output replaces control characters with '?'. */
#ifndef OC_PLAIN_TABLE_H
#define OC_PLAIN_TABLE_H

#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/unicode.h"

struct oc_plain_table {
    size_t n_col;      /* set by the first OC_ROW */
    const char **cell; /* n_col per row, header first; on the heap */
    size_t n_row, cap_row;
    size_t width_chars;  /* for people; 0: no limit. A table that is wider is fitted as in term_table.c */
    const uint8_t *drop; /* by column, as in term_table.c; NULL: the last columns are left out first */
    uint8_t min_text;    /* texts keep at least this width while there are columns to drop; 0: 14 */
    bool changes;        /* colours for differences, as in term_table.c; needs bold_head */
    bool bold_head, headless; /* headless: no titles in the first row; where it is too wide, the last columns
                                 are left out */
};

/* Adds a row of the given texts. */
#define OC_ROW(table, ...)                                                                                   \
    oc_plain_cells((table), (const char *const[]){__VA_ARGS__},                                              \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
void oc_plain_cells(struct oc_plain_table *t, const char *const *cell, size_t n);
void oc_plain_row(struct oc_plain_table *t, const char *const *cell); /* n_col texts */

/* Write the table and free its rows. */
/* The last n_left columns are left-aligned. Returns the number of columns that a headless table shows. */
size_t oc_plain_print(struct oc_plain_table *t, size_t n_left, FILE *f);
/* Adds a last column csv_version: columns may be added to a version; the meaning of a column never changes
 * within one. */
void oc_plain_csv(struct oc_plain_table *t, const char *version, FILE *f);
/* Every row ends with the cell `last`: for tables that are written row by row. */
void oc_plain_csv_rows(struct oc_plain_table *t, const char *last, FILE *f);
void oc_plain_free(struct oc_plain_table *t); /* the rows, where the table is not written */

/* The index of a format in a list such as "table, csv, json" (NULL: the first), or -1 and an error that names
 * what has these formats. */
int oc_format_of(const char *what, const char *format, const char *valid, struct oc_err *err);

/* Left-aligns the first n_first columns too: pads their cells to equal width. */
void oc_plain_left(struct oc_plain_table *t, size_t n_first, struct oc_arena *arena);

/* ---- sheet ------------------------------------------------------------------------------------------ */

/* A small table for several formats: aligned for the terminal, Markdown, HTML (html_page.h). Cells are
 * borrowed texts. */

struct oc_sheet {
    const char *title;       /* NULL: none */
    const char *kinds;       /* one letter per column: 't' text, 'c' names from files, 'n' numbers */
    const char *const *head; /* NULL: none */
    bool changes;            /* numbers with a sign are differences: coloured on a terminal */
    const char **cell;       /* heap */
    size_t n_row, cap_row;
};

void oc_sheet_row(struct oc_sheet *s, const char *const *cell);
void oc_sheet_free(struct oc_sheet *s);

/* width_chars: the last columns that do not fit are dropped; 0: no limit */
void oc_sheet_plain(const struct oc_sheet *s, unsigned width_chars, bool color, FILE *f);
void oc_sheet_markdown(const struct oc_sheet *s, FILE *f);

/* ---- term table --------------------------------------------------------------------------------------- */

/* A table for a terminal of a given width. If it does not fit, columns are dropped in order of priority,
 * then long texts are shortened; a line below the table names the dropped columns. */

struct oc_term_column {
    const char *title;
    bool left;         /* alignment; numbers are right-aligned */
    uint8_t min_width; /* > 0: texts may be shortened to this many characters */
    uint8_t drop;      /* > 0: dropped if the table is too wide, largest value first */
    size_t width;      /* set when the table is printed; 0: dropped */
};

enum { OC_TERM_COLUMNS = 64 };

struct oc_term_table {
    struct oc_arena *arena;
    struct oc_term_column column[OC_TERM_COLUMNS];
    size_t n_column;
    const char **cell; /* row-major, n_column a row; texts from files: control characters are replaced */
    uint32_t n_row;
    unsigned width_chars; /* 0: no limit */
    bool color, changes;  /* changes: differences are red if they grew, green if they shrank */
    const double *share;  /* by row, 0 to 1: share bar in the background of the first column with colour; or
                           * NULL */
};

/* Appends the text of a cell. "+1.2 MB", "< +0.1 %" are red, "-3 us", "> -0.1 %" green if `changes`. */
void oc_put_change(struct oc_buf *b, const char *text, bool changes);

/* Prints the table; changes widths and cells. */
void oc_term_table_print(struct oc_term_table *t, FILE *f);

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

enum oc_grid_style { OC_GRID_FANCY, OC_GRID_ASCII, OC_GRID_SIMPLE, OC_GRID_ORG };

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
