/* Small tables of texts, filled row by row and printed once: aligned for people, or as CSV (RFC 4180). Texts
 * are borrowed; control characters in them are shown as '?' to people. */
#ifndef OC_PLAIN_TABLE_H
#define OC_PLAIN_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

struct oc_plain_table {
    size_t n_col;
    const char **cell; /* n_col a row, the header first; heap */
    size_t n_row, cap_row;
    size_t width_chars; /* for people: the last columns are left out where they do not fit; 0: no limit */
    bool bold_head;
};

void oc_plain_row(struct oc_plain_table *t, const char *const *cell); /* n_col texts */
void oc_plain_print(const struct oc_plain_table *t, size_t n_left,
                    FILE *f); /* the last n_left columns stand left */
/* With a last column csv_version: columns may be added to a version, the meaning of one never changes in it.
 */
void oc_plain_csv(const struct oc_plain_table *t, const char *version, FILE *f);
/* Every row of it ends with the cell `last`: for tables that are written row by row. */
void oc_plain_csv_rows(const struct oc_plain_table *t, const char *last, FILE *f);
void oc_plain_free(struct oc_plain_table *t);

/* Makes the first n_first columns stand left too: their cells get the same width. */
void oc_plain_left(struct oc_plain_table *t, size_t n_first, struct oc_arena *arena);

/* One line of text for people. */
void oc_plain_text(struct oc_buf *b, const char *s);

/* The text, wrapped between words to `width` (0: not); its first line continues one that has `indent`
 * columns, the others are indented so. Longer words are cut. */
void oc_plain_wrap(size_t indent, size_t width, const char *text, FILE *f);

/* "label       text", wrapped between words to `width` (0: not); the text stands behind `label_width`. */
void oc_plain_say(const char *label, size_t label_width, size_t width, const char *text, FILE *f);

#endif
