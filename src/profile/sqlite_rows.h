/* Reads rows of tables of an SQLite file, columns by name. The only module that uses SQLite; the library
 * is loaded when the first file is opened. Independent of the meaning of the tables.
 *
 * Files are untrusted: they are opened read-only and no other file is read or written; only ordinary
 * tables are read (no views, triggers or virtual tables run); a scan ends with an error when it takes too
 * long or more steps than the file size explains (base/diag.h).
 *
 * Some broken files make SQLite request an impossible amount of memory, which it reports as out of memory.
 * Those are OC_EFORMAT: the same request fails again while memory is available. OC_ELIBRARY is reserved
 * for a real shortage. */
#ifndef OC_SQLITE_ROWS_H
#define OC_SQLITE_ROWS_H

#include <string.h>

#include "base/map.h"

struct oc_sqlite;

/* Opens a file. Errors: OC_ELIBRARY (libsqlite3 is missing), OC_EFORMAT (not an SQLite file, or data in a
 * -wal file). */
int oc_sqlite_open(const char *path, const struct oc_input_limits *limits, struct oc_sqlite **out,
                   struct oc_err *err);
/* The same for a buffer, which is copied. */
int oc_sqlite_open_mem(const void *data, size_t n, const struct oc_input_limits *limits,
                       struct oc_sqlite **out, struct oc_err *err);
/* By the path of the stream, or its bytes if it has none. */
struct oc_stream;
int oc_sqlite_open_stream(struct oc_stream *s, const struct oc_input_limits *limits, struct oc_sqlite **out,
                          struct oc_err *err);
void oc_sqlite_close(struct oc_sqlite *db);

/* Scans end without an error once *stop is not 0. `stop` must stay valid until the file is closed; NULL:
 * none. */
void oc_sqlite_stop_on(struct oc_sqlite *db, const volatile int *stop);
/* Whether the flag ended a scan, and after how many rows of all tables. */
bool oc_sqlite_stopped(const struct oc_sqlite *db, uint64_t *rows);

/* 1: the table exists, 0: it does not, -1 with *err. */
int oc_sqlite_has_table(struct oc_sqlite *db, const char *table, struct oc_err *err);

/* The names of ordinary tables that are `prefix` or begin with `prefix` and "_", sorted, in the arena.
 * Returns 0, -1 with *err. */
int oc_sqlite_tables(struct oc_sqlite *db, const char *prefix, struct oc_arena *a, const char *const **name,
                     size_t *n, struct oc_err *err);

enum oc_sqlite_cell_kind { OC_CELL_NULL, OC_CELL_INT, OC_CELL_REAL, OC_CELL_TEXT /* or length in bytes */ };

struct oc_sqlite_cell {
    enum oc_sqlite_cell_kind kind;
    int64_t i;
    double d;
    const char *s; /* n bytes, valid until the next row */
    size_t n;
};

static inline int64_t oc_cell_int(const struct oc_sqlite_cell *c, int64_t otherwise)
{
    return c->kind == OC_CELL_INT ? c->i : otherwise;
}

/* The text, "" if it is none. */
static inline const char *oc_cell_text(const struct oc_sqlite_cell *c, struct oc_map *names)
{
    return c->kind == OC_CELL_TEXT ? oc_intern(names, c->s, strnlen(c->s, c->n)) : "";
}

struct oc_sqlite_column {
    const char *name;
    bool required; /* its absence is an error; otherwise the cells are NULL */
};

#define OC_SQLITE_MAX_COLUMNS 24

/* SQLite's version and the file name, if known. */
int oc_sqlite_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err);

/* Calls `row` for each row in file order with one cell per column; a non-zero return value ends the scan.
 * A table that does not exist has no rows. Returns 0, -1 with *err, or the value that `row` returned. */
int oc_sqlite_scan(struct oc_sqlite *db, const char *table, const struct oc_sqlite_column *column,
                   size_t n_column, int (*row)(void *user, const struct oc_sqlite_cell *cell), void *user,
                   struct oc_err *err);

#endif
