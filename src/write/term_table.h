/* A table for a terminal of a given width. Where it does not fit, columns are left out, those that matter
 * least first, then long texts are shortened; one line below the table names what is not shown. */
#ifndef OC_TERM_TABLE_H
#define OC_TERM_TABLE_H

#include "base/arena.h"

#include <stdio.h>

struct oc_term_column {
    const char *title;
    bool left;         /* alignment; numbers are aligned right */
    uint8_t min_width; /* > 0: texts may be shortened to this many characters */
    uint8_t drop;      /* > 0: left out where the table is too wide, largest first */
    size_t width;      /* set when the table is printed; 0: left out */
};

enum { OC_TERM_COLUMNS = 64 };

struct oc_term_table {
    struct oc_arena *arena;
    struct oc_term_column column[OC_TERM_COLUMNS];
    size_t n_column;
    const char **cell; /* row-major, n_column a row; texts from files: control characters are replaced */
    uint32_t n_row;
    unsigned width_chars; /* 0: no limit */
    bool color;
    const double *share; /* by row, 0 to 1: drawn behind the text of the first column when there is colour; or
                            NULL */
};

/* Prints the table; changes widths and cells. */
void oc_term_table_print(struct oc_term_table *t, FILE *f);

#endif
