/* SQLite files for tests, made of SQL. */
#ifndef TEST_SQLITE_FILE_H
#define TEST_SQLITE_FILE_H

#include <stddef.h>

/* Runs the statements on a new file. The path lives in static memory until the next call. */
const char *sqlite_file(const char *sql);

/* The same, as bytes; freed with free(). */
unsigned char *sqlite_bytes(const char *sql, size_t *n);

#endif
