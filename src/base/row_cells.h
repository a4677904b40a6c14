/* Tables of typed cells, independent of the format in which they are written. */
#ifndef OC_ROW_CELLS_H
#define OC_ROW_CELLS_H

#include <math.h>

#include "base/arena.h"

enum oc_datum_kind { OC_DATUM_TEXT, OC_DATUM_U64, OC_DATUM_I64, OC_DATUM_DOUBLE };

struct oc_cell_column {
    const char *name;
    uint8_t kind;     /* enum oc_datum_kind */
    bool required;    /* known in every row */
    const char *unit; /* "": none */
    const char *what;
};

struct oc_cell_table {
    const char *name; /* "models" */
    unsigned version; /* raised when the meaning of a column changes; columns may be added */
    const struct oc_cell_column *column;
    size_t n;
};

struct oc_datum {
    bool known;
    union {
        const char *text;
        uint64_t u64;
        int64_t i64;
        double number;
    } as;
};

static inline struct oc_datum oc_datum_text(const char *s) /* NULL: unknown */
{
    return (struct oc_datum){.known = s != NULL, .as.text = s};
}
static inline struct oc_datum oc_datum_u64(uint64_t v)
{
    return (struct oc_datum){.known = true, .as.u64 = v};
}
static inline struct oc_datum oc_datum_i64(int64_t v)
{
    return (struct oc_datum){.known = true, .as.i64 = v};
}
static inline struct oc_datum oc_datum_number(double v) /* not finite: unknown */
{
    return (struct oc_datum){.known = isfinite(v), .as.number = v};
}

/* Nanoseconds as outputs have them: rounded to a thousandth, which removes arithmetic error. */
static inline double oc_rounded_ns(double ns)
{
    return fabs(ns) < 9e12 ? round(ns * 1e3) / 1e3 : ns;
}

/* ---- parquet ------------------------------------------------------------------------------------------ */

/* Writes Apache Parquet: one table of typed cells, row by row, in row groups of bounded size. An unknown cell
 * is null. Texts are dictionary-encoded where they repeat; the codec is GZIP, with the zlib that is linked
 * anyway. Every column chunk has its null count, minimum and maximum. */

struct oc_err;
struct oc_parquet;

/* The metadata of the file contain the name and version of the table, and units and meaning of its columns.
 * The stream need not be seekable; check ferror at the end. */
struct oc_parquet *oc_parquet_open(const struct oc_cell_table *t, FILE *f);
void oc_parquet_row(struct oc_parquet *p, const struct oc_datum *cell);
void oc_parquet_close(struct oc_parquet *p);

#endif
