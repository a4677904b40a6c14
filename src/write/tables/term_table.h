/* A table for a terminal of a given width. If it does not fit, columns are dropped in order of priority,
 * then long texts are shortened; a line below the table names the dropped columns. */
#ifndef OC_TERM_TABLE_H
#define OC_TERM_TABLE_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"

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

#endif
