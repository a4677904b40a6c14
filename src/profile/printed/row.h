/* Rows under construction: from cells or from the fields of a line, through the steps of the description. Private to
 * read.c and row.c. */
#ifndef OC_PRINTED_ROW_H
#define OC_PRINTED_ROW_H

#include "profile/printed/read.h"

/* A row of cells, in the open table. 1: it is one, or is left out; 0: it is none; -1: an error. */
int oc_printed_take_cells(struct oc_printed_reading *r, const struct oc_str *cell, size_t n, size_t indent);
/* A line that matched; got: the texts of its template. */
int oc_printed_take_line(struct oc_printed_reading *r, const struct oc_printed_table *t,
                         const struct oc_str *got, size_t indent);
/* The name of the last row goes on. */
void oc_printed_wrap(struct oc_printed_reading *r, struct oc_str more);

/* A copy that outlives the line. */
struct oc_str oc_printed_keep(struct oc_printed_reading *r, struct oc_str s);
void oc_printed_set_fact(struct oc_printed_reading *r, int fact, struct oc_str text, double unit_ns,
                         bool last, bool sum);
/* Whether a table, or a row (t NULL), that begins in the line read last is of the recording that is read. calls: it is a
 * call of the runtime, which does not take the place of those that were read. */
bool oc_printed_begins(struct oc_printed_reading *r, const struct oc_printed_table *t, bool calls);

#endif
