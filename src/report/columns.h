/* The columns of every table and of the CSV: one table from rows to cells. A column has a key (with the unit,
 * for CSV and JSON), a title (for the terminal), a kind of value, and a condition when it is shown. */
#ifndef OC_COLUMNS_H
#define OC_COLUMNS_H

#include "report/report.h"

enum oc_field_kind {
    OC_FIELD_TEXT,
    OC_FIELD_COUNT,    /* integer */
    OC_FIELD_SI,       /* operations, operations per second: powers of 1000 */
    OC_FIELD_GIGA,     /* a rate, shown in 1e9 a second */
    OC_FIELD_BYTES,    /* powers of 1000, as bandwidths; capacities are powers of 1024 */
    OC_FIELD_TIME,     /* seconds */
    OC_FIELD_ENERGY,   /* joules */
    OC_FIELD_FRACTION, /* shown as a percentage */
    OC_FIELD_RATIO     /* plain number */
};

struct oc_line { /* one shown row and its position */
    struct oc_report *r;
    struct oc_arena *arena; /* for texts of cells */
    const struct oc_row *row;
    struct oc_row *room; /* for rows that are not stored; NULL: all are */
    uint32_t rank;
    double cumulative_s;            /* cumulative, including this row */
    double cumulative_share;        /* likewise */
    const struct oc_column *column; /* column of the current cell */
};

struct oc_field {
    const char *text; /* NULL: none */
    double number;    /* NAN: unknown */
    uint64_t whole;   /* the exact value where a double would round it, else 0 */
};

enum oc_column_use { OC_COL_COMPACT = 1, OC_COL_CSV = 2 };

struct oc_column {
    const char *key, *title;
    uint8_t kind, use;
    bool left;                                    /* alignment; numbers are right-aligned */
    uint8_t min_width;                            /* > 0: may be truncated to this many characters */
    uint8_t drop;                                 /* > 0: dropped from narrow tables, largest first */
    bool quality;                                 /* marked when not exact */
    bool finished;                                /* reads what oc_row_finish sets */
    uint8_t index;                                /* argument for cells that share a function */
    bool (*available)(const struct oc_report *r); /* NULL: always */
    void (*get)(const struct oc_line *l, struct oc_field *c);
};
extern const struct oc_column oc_columns[]; /* and those for the report's hardware, r->extra */
extern const size_t oc_n_columns;

#define OC_MAX_COLUMNS 64
/* The columns of one use that apply to this report, in order. Returns their number. */
size_t oc_columns_for(const struct oc_report *r, unsigned use, const struct oc_column *out[OC_MAX_COLUMNS]);

/* Advances line->row to the next shown row and adds its cumulative time. Start from {.r, .arena}; {.column} too if only
 * cells of this column are read. False: end. */
bool oc_line_next(struct oc_line *l);

/* The value of a cell. Its text may be the row's own or in the line's arena. */
struct oc_field oc_field_of(const struct oc_column *col, const struct oc_line *l);
/* Formatted: "103.16 M", "12.3 us", "29.6 %"; "-" when unknown. Arena text. */
const char *oc_field_human(const struct oc_column *col, const struct oc_line *l);
/* Appends a cell of CSV (RFC 4180): quoted when necessary, quotes doubled. */
void oc_csv_text(struct oc_buf *out, const char *s);
/* Full precision, "" when unknown; times in nanoseconds. */
void oc_field_exact(const struct oc_column *col, const struct oc_line *l, struct oc_buf *out);

/* ---- group keys --------------------------------------------------------------------------------------- */

/* Keys of --group-by: type, module path, class and source line of the module, signature (type and shapes),
 * provider, precision, kernel, bound, join rule; several can be combined. */

enum { OC_MAX_GROUP_KEYS = 8 };

struct oc_group_by {
    uint8_t what;
    uint8_t depth; /* of module paths, 0: the whole path */
};

/* Parses "type,module:2". OC_EARG names the option and its choices. */
int oc_group_by_read(const char *option, const char *text, struct oc_group_by out[OC_MAX_GROUP_KEYS],
                     size_t *n, struct oc_err *err);

/* Sets `group` of the rows; unknown keys are "(unknown)". r NULL: only the rows are available (MegEngine's
 * own report). */
/* The key of a row's group: rows of several processes or devices are never summed. */
const char *oc_group_at(struct oc_arena *arena, const char *key, const struct oc_row *row);
void oc_group_keys(struct oc_report *r, const struct oc_group_by *by, size_t n, struct oc_rows *rows);

/* ---- aggregate ----------------------------------------------------------------------------------------- */

/* Aggregates rows to one row per group. */

enum oc_aggregate {
    OC_AGG_NONE,
    OC_AGG_MAX,
    OC_AGG_MIN,
    OC_AGG_SUM,
    OC_AGG_MEAN,
    OC_AGG_PERCENTILE, /* of the known values, interpolated linearly */
    OC_AGG_COUNT       /* number of rows; no other figure */
};

struct oc_reduction {
    enum oc_aggregate how;
    double percent; /* of OC_AGG_PERCENTILE: 50 is the median */
};

/* "sum", "median", "p90", "p99.9" ... False: none of these. */
bool oc_reduction_read(const char *text, struct oc_reduction *out);

/* Sum, mean, ... of the known values; NAN if none. A mean divides by all n (n >= 1). Reorders `v`. */
double oc_aggregate_of(struct oc_reduction how, double *v, size_t n);

/* One row per group (row.group; NULL: all rows are one group, named "all"), in order of first appearance, in
 * in->arena. Figures are aggregated by `how`, shapes are dropped, the info cell is group, count and "N/A". */
void oc_rows_aggregate(const struct oc_rows *in, struct oc_reduction how, struct oc_rows *out);

#endif
