/* One reading of a file by one description: lines to rows. */
#ifndef OC_PRINTED_READ_H
#define OC_PRINTED_READ_H

#include <string.h>

#include "base/map.h"
#include "profile/csv_rows.h"
#include "profile/printed/format.h"

/* A number of a row under both readings of its marks, in nanoseconds if it is a time. */
struct oc_row_number {
    int role;
    struct oc_printed_number n;
};

struct oc_row_text {
    int role;
    const char *text;
};

enum { OC_ROW_TEXTS = OC_ROLE_STEP + 1 }; /* those that outlive the line */

struct oc_printed_row {
    const struct oc_printed_table *t;
    struct oc_row_text *text;            /* arena; those that are not empty, interned */
    struct oc_row_number *number;        /* arena */
    uint8_t n_text, n_number, kind, use; /* use: OC_USE_NONE, _RUN, _FACT */
    bool device, cycles, cut_name;
    int16_t use_fact;
    int32_t indent;
    uint32_t line;
    uint64_t where;
    struct oc_str key; /* of a pivot: its rows with the same one are one row */
};

struct oc_printed_fact {
    const char *text; /* NULL: the file does not state it */
    double value;     /* sum, or the only one; NAN: no number. Times are nanoseconds */
    uint32_t line;
};

struct oc_printed_reading {
    const struct oc_printed_format *f;
    struct oc_csv *c;
    struct oc_arena *arena;
    struct oc_map names;
    struct oc_printed_row *row; /* heap */
    size_t n, cap;
    struct oc_printed_fact fact[OC_PRINTED_FIELDS];
    struct oc_str carry[OC_PRINTED_FIELDS];     /* set by contexts */
    unsigned votes[OC_DECIMALS], *column_votes; /* by table, role and sign */
    /* the open table; NULL: none */
    const struct oc_printed_table *t;
    bool skipping; /* its rows are of another recording */
    struct oc_open_column {
        const struct oc_printed_column *c;
        size_t cell;
        double unit_ns; /* of the title or of the row of units; 0: none */
    } open[OC_PRINTED_CELLS];
    size_t n_open, n_cell, low, wide;
    char delimiter;
    struct oc_text_column *span;
    size_t base;
    size_t table_rows;
    bool wait_units;
    struct oc_buf header, before,
        line; /* texts of the title line, of the last line that is not empty, of this line */
    struct oc_str mark;
    uint64_t begun, has_rows; /* bits of tables */
    struct oc_map once;
    size_t frames, score, marks, most;
    size_t bad[OC_PRINTED_LEVELS]; /* damaged rows, by the level of their table */
    const char *no_rows, *unread; /* hints: of the last context; of a table without rows before another one */
    bool training, has_headers;
    bool hint;                   /* the title of a table was there */
    struct oc_str *cell, *title; /* heap: of a row, of a header */
    bool row_above;              /* the line before was a row of a <line> */
    bool cut, gap, has_device;   /* the file ends in a row; a page left out rows */
    struct oc_recording_count recordings;
    const struct oc_printed_table *next; /* the table that the second recording begins with */
    bool ends_recording, over;           /* the next row is of another recording; such a row was there */
    struct oc_err *err;
    int rc;
    char text[8192]; /* of joined fields of the row in work */
    size_t n_text;
};

/* Reads all lines. 0, or -1 with *err. most: rows, 0: no limit. */
int oc_printed_read(struct oc_printed_reading *r, const struct oc_printed_format *f, struct oc_csv *c,
                    struct oc_arena *a, size_t most, struct oc_err *err);
/* The name (`report`) of the table that was read, else of the first one whose header was there. */
const char *oc_printed_report(const struct oc_printed_reading *r);

/* What of a format a text has. */
struct oc_printed_look {
    bool header, hint, rows; /* of a table, or a line; a title that no row followed; rows, or damaged ones */
    size_t score;
};
void oc_printed_look(const struct oc_printed_format *f, struct oc_stream *s, struct oc_printed_look *out);
void oc_printed_read_free(struct oc_printed_reading *r);

/* The text of a role, "" if there is none. */
static inline const char *oc_printed_chars(const struct oc_printed_row *row, int role)
{
    for (uint8_t i = 0; i < row->n_text; i++)
        if (row->text[i].role == role)
            return row->text[i].text;
    return "";
}

static inline bool oc_printed_has(const struct oc_printed_row *row, int role)
{
    return oc_printed_chars(row, role)[0] != '\0';
}

static inline struct oc_str oc_printed_text(const struct oc_printed_row *row, int role)
{
    const char *s = oc_printed_chars(row, role);
    return oc_str(s, strlen(s));
}

/* The value of a row under the decimal sign of its column; NAN: none. */
double oc_printed_value(const struct oc_printed_reading *r, const struct oc_printed_row *row, int role);

#endif
