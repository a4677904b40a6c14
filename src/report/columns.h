/* The columns of every table and of the CSV: one table of rows to cells. A column knows its key (for
 * machines, with the unit), its title (for people), its kind of value and when it has something to say. */
#ifndef OC_COLUMNS_H
#define OC_COLUMNS_H

#include "report/report.h"

enum oc_field_kind {
    OC_FIELD_TEXT,
    OC_FIELD_COUNT,    /* whole number */
    OC_FIELD_SI,       /* operations, operations per second: powers of 1000 */
    OC_FIELD_GIGA,     /* a rate, shown in 1e9 a second */
    OC_FIELD_BYTES,    /* powers of 1024 */
    OC_FIELD_TIME,     /* seconds */
    OC_FIELD_FRACTION, /* shown as per cent */
    OC_FIELD_RATIO     /* plain number */
};

struct oc_line { /* one shown row and its place */
    const struct oc_report *r;
    struct oc_arena *arena; /* for the texts of cells */
    const struct oc_row *row;
    uint32_t rank;
    double cumulative_s;            /* of this row and those above */
    const struct oc_column *column; /* whose cell is got */
};

struct oc_field {
    const char *text; /* NULL: none */
    double number;    /* NAN: not known */
    uint64_t whole;   /* the same where a double would round it, else 0 */
};

enum oc_column_use { OC_COL_COMPACT = 1, OC_COL_CSV = 2 };

struct oc_column {
    const char *key, *title;
    uint8_t kind, use;
    bool left;                                    /* alignment; numbers stand right */
    uint8_t min_width;                            /* > 0: may be cut down to this many characters */
    uint8_t drop;                                 /* > 0: left out of narrow tables, largest first */
    bool quality;                                 /* marked when not exact */
    uint8_t index;                                /* for cells that share a function */
    bool (*available)(const struct oc_report *r); /* NULL: always */
    void (*get)(const struct oc_line *l, struct oc_field *c);
};
extern const struct oc_column oc_columns[]; /* and those of the report's hardware, r->extra */
extern const size_t oc_n_columns;

#define OC_MAX_COLUMNS 64
/* The columns of one use that have something to say about this report, in order. Returns how many. */
size_t oc_columns_for(const struct oc_report *r, unsigned use, const struct oc_column *out[OC_MAX_COLUMNS]);

/* The next shown row: line->row advances, cumulative time is added up. Start from {.r, .arena}. False: end.
 */
bool oc_line_next(struct oc_line *l);

/* For people: "103.16 M", "12.3 us", "29.6 %"; "-" when not known. Arena text. */
const char *oc_field_human(const struct oc_column *col, const struct oc_line *l);
/* For machines: full precision, "" when not known; times in nanoseconds. */
void oc_field_exact(const struct oc_column *col, const struct oc_line *l, struct oc_buf *out);

#endif
