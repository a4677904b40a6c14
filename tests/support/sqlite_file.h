/* SQLite files for tests, created from SQL. */
#ifndef TEST_SQLITE_FILE_H
#define TEST_SQLITE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Executes the statements on a new file. The path is static and valid until the next call. */
const char *sqlite_file(const char *sql);

/* The same, as bytes; freed with free(). */
unsigned char *sqlite_bytes(const char *sql, size_t *n);

/* Limits SQLite of this process to its present memory; and removes the limit again. */
void sqlite_fill_heap(bool full);

#endif
