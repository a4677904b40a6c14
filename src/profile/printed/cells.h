/* How the lines of a printed table are cut into cells, and how titles are compared. */
#ifndef OC_PRINTED_CELLS_H
#define OC_PRINTED_CELLS_H

#include "profile/csv_rows.h"
#include "profile/printed/format.h"

/* "----  -----", "==== ===": the number of columns, two at least; 0: another line. */
size_t oc_cells_rule(struct oc_str line, struct oc_text_column *out);
/* A line of a frame around a table: only dashes, bars and corners. */
bool oc_cells_is_frame(struct oc_str line);
bool oc_cells_is_empty(struct oc_str line); /* but for bars */

/* Each returns the number of cells, OC_PRINTED_CELLS at most; of CSV OC_PRINTED_CSV_CELLS. */
size_t oc_cells_gaps(struct oc_str line, struct oc_str *out); /* two blanks or tabs between them */
size_t oc_cells_words(struct oc_str line, struct oc_str *out);
size_t oc_cells_bars(struct oc_str line, struct oc_str *out);
/* A title line: titles of the table where they fit, else words, each with a unit in brackets. */
size_t oc_cells_titles(const struct oc_printed_table *t, struct oc_str line, struct oc_str *out);
/* The delimited fields of a title line; quotes are removed, and end at the end of the line. */
size_t oc_cells_csv(struct oc_str line, char delimiter, struct oc_str *out);

/* An array of flat objects in JSON as lines with tabs between the cells, the first with the names. */
struct oc_stream;
void oc_printed_json_rows(struct oc_stream *s, struct oc_buf *out);

/* Joins surplus cells into the one at `wide`, so that n remain. */
size_t oc_cells_join(struct oc_str *cell, size_t n_cell, size_t n, size_t wide);

/* Whether the title of the cell is one of the column; *unit: in brackets after it, or "". */
bool oc_title_fits(const struct oc_printed_column *c, struct oc_str cell);
struct oc_str oc_title_unit(struct oc_str cell);
/* Whether the line has the text, without regard to case. */
bool oc_has_title(struct oc_str line, struct oc_str title);

#endif
