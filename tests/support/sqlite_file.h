/* SQLite files for tests, made of SQL. */
#ifndef TEST_SQLITE_FILE_H
#define TEST_SQLITE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Runs the statements on a new file. The path lives in static memory until the next call. */
const char *sqlite_file(const char *sql);

/* The same, as bytes; freed with free(). */
unsigned char *sqlite_bytes(const char *sql, size_t *n);

/* SQLite of this process has no memory left beyond what it uses now; and again as much as it likes. */
void sqlite_fill_heap(bool full);

#endif
