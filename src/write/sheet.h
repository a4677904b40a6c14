/* A small table for several formats: aligned for the terminal, Markdown, HTML. Cells are borrowed texts. */
#ifndef OC_SHEET_H
#define OC_SHEET_H

#include "base/arena.h"
#include "base/buf.h"

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
/* A section with a table; a row whose first cell is a word of `marks` (separated by blanks) gets it as its
 * class. NULL: none. */
void oc_sheet_html(const struct oc_sheet *s, const char *marks, struct oc_buf *b);

#endif
