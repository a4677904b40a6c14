/* Tables of text: the "fancy_grid", "simple" and "orgtbl" forms of Python's tabulate, with its column
 * types: a column whose cells all parse as integers, or all as numbers, is aligned on the decimal point
 * (in the second case reprinted with %g); every other column is text, stripped and left-aligned. Widths
 * are in characters.
 *
 * A grid is filled row by row and printed once. Texts are borrowed and must outlive the grid, except those
 * of oc_grid_record, which are copied into the arena. */
#ifndef OC_GRID_H
#define OC_GRID_H

#include "base/arena.h"
#include "base/buf.h"

enum oc_cell_kind {
    OC_CELL_TEXT, /* may look like a number */
    OC_CELL_FLOAT /* printed with %g in a column of numbers, as `text` otherwise */
};

struct oc_cell {
    enum oc_cell_kind kind;
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
