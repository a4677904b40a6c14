/* Small tables of texts, filled row by row and printed once: aligned text, or CSV (RFC 4180). Texts are
 * borrowed; text output replaces control characters with '?'. */
#ifndef OC_PLAIN_TABLE_H
#define OC_PLAIN_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/unicode.h"

struct oc_plain_table {
    size_t n_col;      /* set by the first OC_ROW */
    const char **cell; /* n_col per row, header first; on the heap */
    size_t n_row, cap_row;
    size_t width_chars;  /* for people; 0: no limit. A table that is wider is fitted as in term_table.h */
    const uint8_t *drop; /* by column, as in term_table.h; NULL: the last columns are left out first */
    uint8_t min_text;    /* texts keep at least this width while there are columns to drop; 0: 14 */
    bool changes;        /* colours for differences, as in term_table.h; needs bold_head */
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

#endif
