/* The table of operators in the form of MegEngine's profile_analyze, over any rows: a grid with several lines
 * a record, or one line a record for wikis. Columns that the original does not have are added at the right.
 */
#ifndef OC_DETAILS_H
#define OC_DETAILS_H

#include "base/buf.h"
#include "report/rows.h"

/* A further column: its header and the text of its cell (lines joined by newlines; arena or static text). */
struct oc_details_column {
    const char *header;
    const char *(*cell)(struct oc_arena *a, const struct oc_row *row);
};

struct oc_details {
    const char *time_title; /* "device self time"; NULL: the rows have no times, no columns about them */
    double total_s;         /* what 100 % is */
    const struct oc_details_column *extra;
    uint32_t n_extra;
    uint32_t max_shapes; /* of one cell, then "... (N shapes)"; 0: all. A cell makes its column as wide in
                            every row */
    bool ascii;          /* borders of ASCII characters */
};

/* Both end with a newline and use the rows' arena for what they build. */
void oc_details_grid(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out);
void oc_details_wiki(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out);

/* One line a record: the values of its info cell, separated by blanks. */
void oc_details_names(const struct oc_rows *rows, struct oc_buf *out);

#endif
