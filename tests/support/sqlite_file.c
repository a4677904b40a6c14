#include "support/sqlite_file.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "sqlite_file: %s\n", what);
    abort();
}

const char *sqlite_file(const char *sql)
{
    static char path[64];
    sqlite3 *db;
    char *why = NULL;
    snprintf(path, sizeof(path), "/tmp/onnxcost-test-%ld.sqlite", (long)getpid());
    unlink(path);
    must(sqlite3_open(path, &db) == SQLITE_OK, "cannot create a file");
    int rc = sqlite3_exec(db, sql, NULL, NULL, &why);
    must(rc == SQLITE_OK, why ? why : "failed");
    sqlite3_close(db);
    return path;
}

unsigned char *sqlite_bytes(const char *sql, size_t *n)
{
    FILE *f = fopen(sqlite_file(sql), "rb");
    must(f != NULL, "cannot read the file");
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*n);
    must(data && fread(data, 1, *n, f) == *n, "cannot read the file");
    fclose(f);
    unlink(sqlite_file(""));
    return data;
}

void sqlite_fill_heap(bool full)
{
    sqlite3_int64 used = sqlite3_memory_used();
    sqlite3_hard_heap_limit64(!full ? 0 : used ? used : 1); /* 0: no limit */
}
