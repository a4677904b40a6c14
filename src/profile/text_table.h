/* Tables printed for people: column widths come from a line of dashes. */
#ifndef OC_TEXT_TABLE_H
#define OC_TEXT_TABLE_H

#include "profile/profile.h"
#include "profile/csv_rows.h"

#define OC_TEXT_COLUMNS 32

struct oc_text_column {
    size_t from, to;
};

/* "-------  ------  ---": the number of columns; 0: not such a line (three at least). */
size_t oc_text_rule(struct oc_str line, struct oc_text_column *out);

/* Splits a line into fields; each column starts where the previous one ends, the last extends to the end
 * of the line. */
void oc_text_cut(struct oc_str line, const struct oc_text_column *span, size_t n, struct oc_str *out);

/* Splits a line into cells that two blanks or more separate, OC_TEXT_COLUMNS at most; returns their number. For
 * titles and cells that may be wider than their columns. */
size_t oc_text_cells(struct oc_str line, struct oc_str *out);

/* Several recordings in one log or README: their times must not be added up. */
struct oc_recording_count {
    unsigned n;
    uint32_t line[2]; /* of the first two */
};

/* Counts a recording that begins at the row read last. True: it is the first, which readers read. */
bool oc_recording_begins(struct oc_recording_count *r, const struct oc_csv *c);
/* Warns of the others; what: "tables". */
void oc_recordings_warn(const struct oc_recording_count *r, const char *what, struct oc_profile *p);

#endif
