/* The table of operators in the layout of MegEngine's profile_analyze, for any rows: a grid with several
 * lines per record, or one line per record for wikis. Columns that the original does not have are appended
 * at the right. */
#ifndef OC_DETAILS_H
#define OC_DETAILS_H

#include "base/buf.h"
#include "report/rows.h"

/* An additional column: its header and the function for the text of its cell (lines joined by newlines;
 * arena or static text). */
struct oc_details_column {
    const char *header;
    const char *(*cell)(struct oc_arena *a, const struct oc_row *row);
};

struct oc_details {
    const char *time_title; /* "device self time"; NULL: the rows have no times, no columns about them */
    double total_s;         /* the value of 100 % */
    const struct oc_details_column *extra;
    uint32_t n_extra;
    uint32_t max_shapes; /* maximum per cell, then "... (N shapes)"; 0: all. The width of a column is that
                          * of its widest cell */
    bool ascii;          /* draws borders with ASCII characters */
};

/* Both end with a newline and allocate in the rows' arena. */
void oc_details_grid(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out);
void oc_details_wiki(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out);

/* One line per record: the values of its info cell, separated by blanks. */
void oc_details_names(const struct oc_rows *rows, struct oc_buf *out);

#endif
