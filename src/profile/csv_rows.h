/* Rows of delimited text (RFC 4180) over a stream, and single lines of any text. Knows nothing of profiles.
 *
 * Tools print notices, program output and several tables into one file, so quoting is a matter of rows only:
 * a preamble is looked through line by line (oc_csv_find), and a lone quote in it does no harm.
 *
 * Rows: a field in quotes may hold the delimiter, line ends and doubled quotes; text after its closing quote
 * is kept; a quote elsewhere is an ordinary character. Blanks around a field are dropped unless quoted. CR LF
 * and a UTF-8 byte order mark are understood. A row ends at the last field of its line: a trailing delimiter
 * gives one more, empty, field. Memory: one row, whose length and fields the stream limits (base/caps.h).
 *
 * Views (struct oc_str) stay valid until the next call that reads. Errors are sticky: reading calls return
 * false, oc_csv_failed tells end of data from failure. */
#ifndef OC_CSV_ROWS_H
#define OC_CSV_ROWS_H

#include "base/json_read.h"

#define OC_CSV_NONE SIZE_MAX

struct oc_csv;
struct oc_csv *oc_csv_open(struct oc_stream *s); /* the stream must outlive the reader */
void oc_csv_close(struct oc_csv *c);

/* The next line as it stands, without its line end. */
bool oc_csv_line(struct oc_csv *c, struct oc_str *line);

/* Splits by this from now on; '\0' (at first): a row is one field. */
void oc_csv_delimiter(struct oc_csv *c, char delimiter);

/* The next row; an empty line is a row without fields. *field: array of *n, of the reader. */
bool oc_csv_row(struct oc_csv *c, const struct oc_str **field, size_t *n);

/* Reads on to the first line that is_header accepts, split by one of , tab ; | (tried in this order; quotes
 * end at the end of the line); keeps its delimiter and returns its fields. The lines before are passed over.
 */
typedef bool oc_csv_is_header(void *ctx, const struct oc_str *field, size_t n);
bool oc_csv_find(struct oc_csv *c, oc_csv_is_header *is_header, void *ctx, const struct oc_str **field,
                 size_t *n);

void oc_csv_unread(struct oc_csv *c); /* the row or line last read comes again */

uint32_t oc_csv_line_number(const struct oc_csv *c); /* of the first line of the row last read, from 1 */
uint64_t oc_csv_offset(const struct oc_csv *c);      /* of its first byte */
/* The text ended without a line end behind the row last read, or inside quotes (then that row is not given),
 * or in damaged .gz data. */
bool oc_csv_cut(const struct oc_csv *c);
bool oc_csv_failed(const struct oc_csv *c);
int oc_csv_error(const struct oc_csv *c, struct oc_err *err); /* tells the failure; returns -1 */
/* Fails at the row last read: "line 12: <message>", with line and offset. Returns -1. */
int oc_csv_fail(const struct oc_csv *c, struct oc_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* How many rows a table may have, and the failure when there are more. */
size_t oc_csv_max_rows(const struct oc_csv *c);
int oc_csv_too_many(const struct oc_csv *c, struct oc_err *err);

/* The same in memory, for probes: the first line that is_header accepts. False: none, or JSON. *field is
 * allocated in `a`. */
bool oc_csv_peek_header(struct oc_arena *a, const char *data, size_t n, oc_csv_is_header *is_header,
                        void *ctx, const struct oc_str **field, size_t *n_field);

/* ---- what stands in fields ---------------------------------------------------------------------------- */

struct oc_str oc_csv_trim(struct oc_str s);          /* without blanks around it */
bool oc_csv_same(struct oc_str s, const char *text); /* ASCII case does not matter */

/* "Total Time (ns)", "Start(nsec)": the name and what is in the last brackets ("" if none). */
struct oc_str oc_csv_split_unit(struct oc_str header, struct oc_str *unit);

/* Position of the column whose name (without a unit in brackets) is `name`; OC_CSV_NONE: no such column. */
size_t oc_csv_column(const struct oc_str *field, size_t n, const char *name);

/* The field, or "" beyond the end of a row. */
static inline struct oc_str oc_csv_at(const struct oc_str *field, size_t n, size_t column)
{
    return column < n ? field[column] : (struct oc_str){"", 0};
}

/* "1,205.00", "12.3%", "1.234s": the number (thousands separators in groups of three) and what follows it,
 * blanks dropped. `unit` may be NULL: then nothing may follow. "inf" and "nan" are numbers. */
bool oc_csv_number(struct oc_str s, double *out, struct oc_str *unit);
bool oc_csv_u64(struct oc_str s, uint64_t *out); /* exact; separators as above */

/* Nanoseconds in a unit: ns nsec nsecond us usec µs ms s sec second ..., plurals; false: not a unit of time.
 */
bool oc_csv_time_unit(struct oc_str unit, double *ns);

#endif
