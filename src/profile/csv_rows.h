/* Rows of delimited text (RFC 4180) over a stream, and single lines of any text. Independent of profiles.
 *
 * Tools print notices, program output and several tables into one file, so quoting applies to rows only:
 * oc_csv_find scans a preamble line by line, and an unmatched quote in it is ignored.
 *
 * Rows: a quoted field may contain the delimiter, line ends and doubled quotes; text after its closing
 * quote is part of the field; a quote elsewhere is an ordinary character. Blanks around a field are
 * dropped unless quoted. CR LF and a UTF-8 byte order mark are understood. A row ends at the last field of
 * its line: a trailing delimiter gives one more, empty, field. Memory: one row; the stream limits its
 * length and its number of fields (base/diag.h).
 *
 * Views (struct oc_str) stay valid until the next call that reads. Errors are sticky: reading calls return
 * false, oc_csv_failed distinguishes end of data from failure. */
#ifndef OC_CSV_ROWS_H
#define OC_CSV_ROWS_H

#include "base/json_read.h"
#include "profile/profile.h"

#define OC_CSV_NONE SIZE_MAX

struct oc_csv;
struct oc_csv *oc_csv_open(struct oc_stream *s); /* the stream must outlive the reader */
void oc_csv_close(struct oc_csv *c);

/* Reads the next line unchanged, without its line end. */
bool oc_csv_line(struct oc_csv *c, struct oc_str *line);

/* Sets the delimiter for the following rows; '\0' (initially): a row is one field. */
void oc_csv_delimiter(struct oc_csv *c, char delimiter);

/* Reads the next row; an empty line is a row without fields. *field: an array of *n fields, owned by the
 * reader. */
bool oc_csv_row(struct oc_csv *c, const struct oc_str **field, size_t *n);

/* Skips to the first line that is_header accepts, split by one of , tab ; | (tried in this order; quotes
 * end at the end of the line). Keeps its delimiter and returns its fields. */
typedef bool oc_csv_is_header(void *ctx, const struct oc_str *field, size_t n);
bool oc_csv_find(struct oc_csv *c, oc_csv_is_header *is_header, void *ctx, const struct oc_str **field,
                 size_t *n);
/* The same; without such a line it fails: "no header line" and `what`. */
int oc_csv_need(struct oc_csv *c, oc_csv_is_header *is_header, void *ctx, const struct oc_str **field,
                size_t *n, const char *what, struct oc_err *err);

void oc_csv_unread(struct oc_csv *c); /* makes the next read return the last row or line again */

uint32_t oc_csv_line_number(const struct oc_csv *c); /* line number (from 1) of the first line of the row
                                                      * read last */
uint64_t oc_csv_offset(const struct oc_csv *c);      /* byte offset of that row */
/* The text ended without a line end after the row read last, inside quotes (that row is then not
 * returned), or in damaged .gz data. */
bool oc_csv_cut(const struct oc_csv *c);
bool oc_csv_failed(const struct oc_csv *c);
int oc_csv_error(const struct oc_csv *c, struct oc_err *err); /* reports the failure; returns -1 */
/* Fails at the row read last with "line 12: <message>", line and offset. Returns -1. */
int oc_csv_fail(const struct oc_csv *c, struct oc_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The maximum number of rows in a table, and the error for more. */
size_t oc_csv_max_rows(const struct oc_csv *c);
int oc_csv_too_many(const struct oc_csv *c, struct oc_err *err);

/* For probes: whether the buffer has a line that is_header accepts. False also for JSON. */
bool oc_csv_peek_header(const char *data, size_t n, oc_csv_is_header *is_header, void *ctx);

/* ---- field values ----------------------------------------------------------------------------------- */

struct oc_str oc_csv_trim(struct oc_str s);                                  /* trims blanks */
static inline struct oc_str oc_csv_between(const char *from, const char *to) /* without blanks at its ends */
{
    return oc_csv_trim((struct oc_str){from, (size_t)(to - from)});
}
struct oc_str oc_csv_word(struct oc_str *s);         /* removes the first word and the blanks around it */
bool oc_csv_same(struct oc_str s, const char *text); /* ignores ASCII case */

/* "Total Time (ns)", "Start(nsec)": splits the name from the text in the last brackets ("" if none). */
struct oc_str oc_csv_split_unit(struct oc_str header, struct oc_str *unit);

/* Index of the column with that header, or with that name before a unit in brackets; OC_CSV_NONE: none. */
size_t oc_csv_column(const struct oc_str *field, size_t n, const char *name);

/* The field, or "" after the end of the row. */
static inline struct oc_str oc_csv_at(const struct oc_str *field, size_t n, size_t column)
{
    return column < n ? field[column] : (struct oc_str){"", 0};
}

/* "1,205.00", "12.3%", "1.234s": parses the number (thousands separators in groups of three) and returns
 * the text after it without blanks. If `unit` is NULL nothing may follow. Accepts "inf" and "nan". */
bool oc_csv_number(struct oc_str s, double *out, struct oc_str *unit);
bool oc_csv_u64(struct oc_str s, uint64_t *out); /* exact; thousands separators as above */

/* Nanoseconds in one unit: ns nsec nsecond us usec µs ms s sec second ..., plurals. False: not a unit of
 * time. */
bool oc_csv_time_unit(struct oc_str unit, double *ns);
bool oc_csv_time(struct oc_str s, double *ns); /* a number with a unit of time: "129.811ms" */

/* A field of the column: a time in a unit, or a count. They fail with "column 'x': 'y' is not a time". */
int oc_csv_cell_time(const struct oc_csv *c, const char *column, struct oc_str cell, double unit_ns,
                     double *ns, struct oc_err *err);
int oc_csv_cell_count(const struct oc_csv *c, const char *column, struct oc_str cell, uint64_t *n,
                      struct oc_err *err);

/* ---- text table --------------------------------------------------------------------------------------- */

/* Tables printed for people: column widths come from a line of dashes. */

#define OC_TEXT_COLUMNS 32

struct oc_text_column {
    size_t from, to;
};

/* "-------  ------  ---": the number of columns; 0: not such a line (three at least). */
size_t oc_text_rule(struct oc_str line, struct oc_text_column *out);

/* Splits a line into fields; each column starts where the previous one ends, the last extends to the end
 * of the line. */
void oc_text_cut(struct oc_str line, const struct oc_text_column *span, size_t n, struct oc_str *out);

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
