/* Rows of tables of an SQLite file, columns by name. The only place that knows SQLite; the library is loaded
 * when the first file is opened. Knows nothing of what tables mean.
 *
 * Files are not trusted: they are read as they lie (read-only, nothing beside them is read or written), only
 * ordinary tables are read (no views, triggers or virtual tables run), and a scan ends with an error when it
 * does more work than the size of the file explains, or takes too long (base/caps.h).
 *
 * Some broken files make SQLite ask for more memory than there ever is, which it tells as a lack of memory.
 * Those are OC_EFORMAT: the same fails again while plenty can be had. OC_ELIBRARY is left for a real lack. */
#ifndef OC_SQLITE_ROWS_H
#define OC_SQLITE_ROWS_H

#include "base/arena.h"

struct oc_sqlite;

/* Opens a file. Errors: OC_ELIBRARY (libsqlite3 is missing), OC_EFORMAT (no SQLite file, data in a -wal
 * file). */
int oc_sqlite_open(const char *path, const struct oc_caps *caps, struct oc_sqlite **out, struct oc_err *err);
/* The same for the bytes of a file, which are copied. */
int oc_sqlite_open_mem(const void *data, size_t n, const struct oc_caps *caps, struct oc_sqlite **out,
                       struct oc_err *err);
void oc_sqlite_close(struct oc_sqlite *db);

/* Scans end, without an error, once *stop is not 0. `stop` must stay until the file is closed; NULL: none. */
void oc_sqlite_stop_on(struct oc_sqlite *db, const volatile int *stop);
/* Whether the flag ended one, and after how many rows of all tables. */
bool oc_sqlite_stopped(const struct oc_sqlite *db, uint64_t *rows);

/* 1: it has, 0: it has not, -1 with *err. */
int oc_sqlite_has_table(struct oc_sqlite *db, const char *table, struct oc_err *err);

enum oc_cell_kind { OC_CELL_NULL, OC_CELL_INT, OC_CELL_REAL, OC_CELL_TEXT /* or bytes */ };

struct oc_cell {
    enum oc_cell_kind kind;
    int64_t i;
    double d;
    const char *s; /* n bytes, until the next row */
    size_t n;
};

struct oc_column {
    const char *name;
    bool required; /* its absence is an error; else the cells are NULL */
};

#define OC_SQLITE_MAX_COLUMNS 24

/* SQLite's version and file, as far as they are told. */
int oc_sqlite_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err);

/* Calls `row` for each row in the order of the file with one cell a column; a row function that returns other
 * than 0 ends the scan. A table that is not there has no rows. Returns 0, -1 with *err, or what `row`
 * returned. */
int oc_sqlite_scan(struct oc_sqlite *db, const char *table, const struct oc_column *column, size_t n_column,
                   int (*row)(void *user, const struct oc_cell *cell), void *user, struct oc_err *err);

#endif
