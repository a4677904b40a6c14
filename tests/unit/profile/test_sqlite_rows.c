#include "profile/sqlite_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/sqlite_file.h"

static const struct oc_sqlite_column three[] = {{"a", true}, {"b", false}, {"c", false}};

/* Cells as text, "1|x|-;" per row. */
static int write_row(void *user, const struct oc_sqlite_cell *c)
{
    struct oc_buf *b = user;
    for (size_t i = 0; i < 3; i++) {
        if (i)
            oc_buf_char(b, '|');
        switch (c[i].kind) {
        case OC_CELL_INT:
            oc_buf_printf(b, "%lld", (long long)c[i].i);
            break;
        case OC_CELL_REAL:
            oc_buf_printf(b, "%.1f", c[i].d);
            break;
        case OC_CELL_TEXT:
            oc_buf_add(b, c[i].s, c[i].n);
            break;
        default:
            oc_buf_char(b, '-');
        }
    }
    oc_buf_char(b, ';');
    return b->n > 1000000 ? 7 : 0;
}

static int scan_table(const char *path, const char *table, struct oc_buf *text, struct oc_err *err)
{
    struct oc_sqlite *db;
    oc_buf_clear(text);
    oc_buf_str(text, "");
    if (oc_sqlite_open(path, NULL, &db, err))
        return -1;
    int rc = oc_sqlite_scan(db, table, three, 3, write_row, text, err);
    oc_sqlite_close(db);
    return rc;
}

static void check_rows(const char *sql, const char *rows)
{
    struct oc_buf text = {0};
    struct oc_err err = {0};
    if (scan_table(sqlite_file(sql), "t", &text, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(text.data, rows);
    oc_buf_free(&text);
    unlink(sqlite_file(""));
}

static void reads_rows_and_columns(void **state)
{
    (void)state;
    check_rows(
        "CREATE TABLE t(b TEXT, x, a INTEGER); INSERT INTO t VALUES('p', 0, 1), (NULL, 0, -5), (2.5, 0, 'q')",
        "1|p|-;-5|-|-;q|2.5|-;");
    check_rows("CREATE TABLE u(a)", ""); /* no such table */
    check_rows("CREATE TABLE t(a INTEGER PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES(3, 4)",
               "3|4|-;");
    check_rows("CREATE TABLE t(\"a\", \"b\"\"c\"); INSERT INTO t VALUES(1, 2)", "1|-|-;");
}

static void missing_column_is_an_error(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_err err = {0};
    assert_int_equal(scan_table(sqlite_file("CREATE TABLE t(b)"), "t", &text, &err), -1);
    assert_string_equal(err.msg, "table 't' has no column 'a'");
    oc_buf_free(&text);
    unlink(sqlite_file(""));
}

/* Views and virtual tables instead of a table are not read, triggers do not run, and generated columns do not
 * count as columns. */
static void hostile_schemas_are_not_executed(void **state)
{
    (void)state;
    check_rows(
        "CREATE VIEW t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n",
        "");
    check_rows("CREATE VIRTUAL TABLE t USING fts5(a)", "");
    check_rows("CREATE VIRTUAL TABLE t USING fts5(a, b, c); INSERT INTO t VALUES('x', 'y', 'z'); PRAGMA "
               "writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE /**/ VIRTUAL TABLE t USING "
               "fts5(a, b, c)' WHERE name = 't'",
               "");
    check_rows("CREATE TABLE t(a); INSERT INTO t VALUES(1); CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE "
               "FROM t; END",
               "1|-|-;");
    check_rows("CREATE TABLE t(a, b AS (zeroblob(900000000))); INSERT INTO t(a) VALUES(1)", "1|-|-;");
}

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void data_in_a_write_ahead_log_is_read(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_err err = {0};
    char wal[110], path[100];
    /* a closed file in this mode has no log file */
    snprintf(path, sizeof(path), "%s",
             sqlite_file("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(8)"));
    snprintf(wal, sizeof(wal), "%s-wal", path);
    if (scan_table(path, "t", &text, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(text.data, "8|-|-;");
    write_file(wal, "x", 1);
    assert_int_equal(scan_table(path, "t", &text, &err), -1);
    assert_non_null(strstr(err.msg, "part of its data is in"));
    unlink(wal);
    unlink(path);
    oc_buf_free(&text);
}

static int count_row(void *user, const struct oc_sqlite_cell *c);

static void store(unsigned char *at, unsigned n_byte, unsigned v)
{
    while (n_byte-- > 0) {
        at[n_byte] = (unsigned char)v;
        v >>= 8;
    }
}

/* Page 2 is the root of the table: a header of 12 bytes, the offsets of its cells, each of which begins with
 * the number of a page of rows. All are set to page 3, the later pages are cut off: the same 500 rows a
 * hundred times, from 12 KiB. */
static void repeated_pages_are_limited(void **state)
{
    (void)state;
    const unsigned page_bytes = 4096;
    size_t n, rows = 0;
    unsigned char *data = sqlite_bytes(
        "PRAGMA page_size = 4096; CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
        "FROM n LIMIT 50000) INSERT INTO t SELECT NULL FROM n",
        &n);
    unsigned char *root = data + page_bytes;
    unsigned n_cell = (unsigned)root[3] << 8 | root[4];
    assert_int_equal(root[0], 5); /* an inner page of a table */
    assert_true(n_cell > 50 && n > 50 * page_bytes);
    for (unsigned i = 0; i < n_cell; i++)
        store(root + ((unsigned)root[12 + 2 * i] << 8 | root[13 + 2 * i]), 4, 3);
    store(root + 8, 4, 3);
    store(data + 28, 4, 3); /* pages of the file */
    struct oc_sqlite *db;
    struct oc_err err = {0};
    if (oc_sqlite_open_mem(data, 3 * (size_t)page_bytes, NULL, &db, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(oc_sqlite_scan(db, "t", three, 1, count_row, &rows, &err), -1);
    assert_string_equal(err.msg, "damaged SQLite file: table 't' has more rows than the file can hold");
    assert_int_equal(err.code, OC_EFORMAT);
    assert_true(rows < 3 * page_bytes);
    oc_sqlite_close(db);
    free(data);
}

/* SQLite's own heap is full, ours is not: an error, and the program continues. */
static void sqlite_out_of_memory_is_an_error(void **state)
{
    (void)state;
    size_t n, rows = 0;
    unsigned char *data = sqlite_bytes("CREATE TABLE t(a); INSERT INTO t VALUES(8)", &n);
    struct oc_sqlite *db;
    struct oc_err err = {0};
    assert_int_equal(oc_sqlite_open_mem(data, n, NULL, &db, &err), 0);
    sqlite_fill_heap(true);
    int rc = oc_sqlite_scan(db, "t", three, 1, count_row, &rows, &err);
    sqlite_fill_heap(false);
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, OC_ELIBRARY);
    assert_string_equal(err.msg, "SQLite: out of memory, or the file is damaged");
    assert_int_equal(oc_sqlite_scan(db, "t", three, 1, count_row, &rows, &err), 0); /* now there is memory */
    assert_int_equal(rows, 1);
    oc_sqlite_close(db);
    free(data);
}

static int fill_heap(void *user, const struct oc_sqlite_cell *cell)
{
    sqlite_fill_heap(true);
    return count_row(user, cell);
}

/* The second row needs pages of its own. */
static void sqlite_out_of_memory_while_reading_is_an_error(void **state)
{
    (void)state;
    size_t n, rows = 0;
    unsigned char *data = sqlite_bytes("CREATE TABLE t(a); INSERT INTO t VALUES(8), (zeroblob(3000000))", &n);
    struct oc_sqlite *db;
    struct oc_err err = {0};
    assert_int_equal(oc_sqlite_open_mem(data, n, NULL, &db, &err), 0);
    int rc = oc_sqlite_scan(db, "t", three, 1, fill_heap, &rows, &err);
    sqlite_fill_heap(false);
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, OC_ELIBRARY);
    assert_string_equal(err.msg, "table 't': SQLite: out of memory, or the file is damaged");
    assert_int_equal(rows, 1);
    assert_int_equal(oc_sqlite_scan(db, "t", three, 1, count_row, &rows, &err), 0);
    assert_int_equal(rows, 3);
    oc_sqlite_close(db);
    free(data);
}

/* Of a file and of memory. */
static void opening_without_memory_is_an_error(void **state)
{
    (void)state;
    size_t n;
    static const char sql[] = "CREATE TABLE t(a); INSERT INTO t VALUES(8)";
    unsigned char *data = sqlite_bytes(sql, &n);
    const char *path = sqlite_file(sql);
    for (int file = 0; file < 2; file++) {
        struct oc_sqlite *db;
        struct oc_err err = {0};
        sqlite_fill_heap(true);
        int rc = file ? oc_sqlite_open(path, NULL, &db, &err) : oc_sqlite_open_mem(data, n, NULL, &db, &err);
        sqlite_fill_heap(false);
        assert_int_equal(rc, -1);
        assert_null(db);
        assert_int_equal(err.code, OC_ELIBRARY);
        assert_string_equal(err.msg, "SQLite: out of memory, or the file is damaged");
    }
    free(data);
    unlink(path);
}

/* Each quote in the name is written twice: the statement is longer than SQLite accepts. */
static void table_names_are_quoted(void **state)
{
    (void)state;
    enum { QUOTES = 600000 };
    char *name = malloc(QUOTES + 1);
    assert_non_null(name);
    memset(name, '"', QUOTES);
    name[QUOTES] = '\0';
    struct oc_buf sql = {0}, text = {0};
    struct oc_err err = {0};
    oc_buf_printf(&sql, "CREATE TABLE [%s](a); CREATE TABLE t(a); INSERT INTO t VALUES(7); ", name);
    oc_buf_str(&sql, "CREATE TABLE [t\" --](a); INSERT INTO [t\" --] VALUES(8);");
    const char *path = sqlite_file(sql.data);
    if (scan_table(path, "t\" --", &text, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(text.data, "8|-|-;"); /* not the row of t */
    assert_int_equal(scan_table(path, name, &text, &err), -1);
    assert_int_equal(err.code, OC_EFORMAT);
    assert_string_equal(err.msg, "SQLite: string or blob too big");
    unlink(path);
    oc_buf_free(&sql);
    oc_buf_free(&text);
    free(name);
}

/* SQLite reports that it lacks memory for this file, however much there is. */
static void file_that_exhausts_memory_is_an_error(void **state)
{
    (void)state;
    static const char path[] = "tests/fuzz/seeds/nsys_sqlite/no_memory.sqlite";
    size_t rows = 0;
    for (int full = 0; full < 2; full++) {
        struct oc_sqlite *db;
        struct oc_err err = {0};
        assert_int_equal(oc_sqlite_open(path, NULL, &db, &err), 0);
        if (full)
            sqlite_fill_heap(true);
        int there = oc_sqlite_has_table(db, "StringIds", &err);
        int rc = oc_sqlite_scan(db, "StringIds", three, 1, count_row, &rows, full ? NULL : &err);
        sqlite_fill_heap(false);
        assert_int_equal(there, -1);
        assert_int_equal(rc, -1);
        assert_int_equal(rows, 0);
        assert_int_equal(err.code, full ? OC_ELIBRARY : OC_EFORMAT);
        assert_string_equal(
            err.msg, full ? "SQLite: out of memory, or the file is damaged"
                          : "damaged SQLite file: SQLite runs out of memory on it while memory is available");
        oc_sqlite_close(db);
    }
}

static void rejects_files_that_are_not_databases(void **state)
{
    (void)state;
    struct oc_sqlite *db;
    struct oc_err err = {0};
    assert_int_equal(oc_sqlite_open_mem("x", 1, NULL, &db, &err), -1);
    assert_string_equal(err.msg, "not an SQLite file");
    char head[200] = "SQLite format 3";
    if (oc_sqlite_open_mem(head, sizeof(head), NULL, &db, &err) == 0) {
        assert_int_equal(oc_sqlite_scan(db, "t", three, 1, write_row, NULL, &err), -1);
        oc_sqlite_close(db);
    }
    assert_int_equal(oc_sqlite_open("/nonexistent/x", NULL, &db, &err), -1);
    assert_int_equal(oc_sqlite_open("/tmp", NULL, &db, &err), -1);
    memcpy(head, "\x1f\x8b", 2);
    assert_int_equal(oc_sqlite_open_mem(head, sizeof(head), NULL, &db, &err), -1);
    assert_non_null(strstr(err.msg, "unpack"));
}

static void paths_with_uri_characters_are_opened(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_err err = {0};
    size_t n;
    const char *path = "/tmp/onnxcost test#1?mode=rw&x%41.sqlite";
    unsigned char *data = sqlite_bytes("CREATE TABLE t(a); INSERT INTO t VALUES(8)", &n);
    write_file(path, data, n);
    int rc = scan_table(path, "t", &text, &err);
    unlink(path);
    free(data);
    assert_int_equal(rc, 0);
    assert_string_equal(text.data, "8|-|-;");
    oc_buf_free(&text);
}

/* ---- a flag that stops reading ---- */

static volatile int stop;

static int third_is_enough(void *user, const struct oc_sqlite_cell *c)
{
    size_t *rows = user;
    (void)c;
    stop = ++*rows == 3;
    return 0;
}

static void reading_stops_between_rows(void **state)
{
    (void)state;
    struct oc_sqlite *db;
    struct oc_err err = {0};
    size_t seen = 0;
    uint64_t rows;
    stop = 0;
    assert_int_equal(
        oc_sqlite_open(sqlite_file("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2), (3), (4), (5);"
                                   "CREATE TABLE u(a); INSERT INTO u VALUES(6)"),
                       NULL, &db, &err),
        0);
    oc_sqlite_stop_on(db, &stop);
    assert_int_equal(oc_sqlite_scan(db, "u", three, 3, third_is_enough, &seen, &err), 0);
    assert_false(oc_sqlite_stopped(db, &rows));
    assert_int_equal(oc_sqlite_scan(db, "t", three, 3, third_is_enough, &seen, &err), 0);
    assert_int_equal(seen, 3);
    assert_true(oc_sqlite_stopped(db, &rows));
    assert_int_equal(rows, 3); /* one of the first table */
    assert_int_equal(oc_sqlite_scan(db, "u", three, 3, third_is_enough, &seen, &err), 0);
    assert_int_equal(seen, 3); /* and no other table is started */
    oc_sqlite_close(db);
    unlink(sqlite_file(""));
}

static int count_row(void *user, const struct oc_sqlite_cell *c)
{
    (void)c;
    size_t *n = user;
    ++*n;
    return 0;
}

static int sleep_once(void *user, const struct oc_sqlite_cell *c)
{
    size_t *n = user;
    if (!*n)
        usleep(2100000);
    return count_row(user, c);
}

/* 120,000 rows of one byte each and 24 columns: about 3 million steps for a file of 1.3 MB. */
static void steps_and_time_are_limited(void **state)
{
    (void)state;
    struct oc_buf sql = {0};
    struct oc_sqlite_column column[OC_SQLITE_MAX_COLUMNS];
    char name[OC_SQLITE_MAX_COLUMNS][8];
    oc_buf_str(&sql,
               "CREATE TABLE t(c0); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
               "120000) INSERT INTO t SELECT i % 100 FROM n;");
    for (unsigned i = 0; i < OC_SQLITE_MAX_COLUMNS; i++) {
        snprintf(name[i], sizeof(name[i]), "c%u", i);
        column[i] = (struct oc_sqlite_column){name[i], true};
        if (i)
            oc_buf_printf(&sql, "ALTER TABLE t ADD COLUMN c%u;", i);
    }
    const char *path = sqlite_file(sql.data);
    oc_buf_free(&sql);
    const struct {
        struct oc_input_limits limits;
        int (*row)(void *user, const struct oc_sqlite_cell *cell);
        const char *why;
    } all[] = {
        {{.most = {[OC_LIMIT_SQLITE_STEPS] = 64}}, count_row, NULL},
        {{.most = {[OC_LIMIT_SQLITE_STEPS] = 1}},
         count_row,
         "more than 1 steps for a byte of SQLite's file (--limit sqlite-steps=N)"},
        {{.most = {[OC_LIMIT_SQLITE_SECONDS] = 1}},
         sleep_once,
         "more than 1 seconds in SQLite (--limit sqlite-seconds=N)"},
        {{.most = {[OC_LIMIT_SQLITE_SECONDS] = 100}}, sleep_once, NULL},
    };
    for (size_t i = 0; i < OC_COUNT(all); i++) {
        struct oc_err err = {0};
        struct oc_sqlite *db;
        size_t n = 0;
        assert_int_equal(oc_sqlite_open(path, &all[i].limits, &db, &err), 0);
        assert_int_equal(oc_sqlite_scan(db, "t", column, OC_SQLITE_MAX_COLUMNS, all[i].row, &n, &err),
                         all[i].why ? -1 : 0);
        oc_sqlite_close(db);
        if (!all[i].why) {
            assert_int_equal(n, 120000);
            continue;
        }
        assert_int_equal(err.code, OC_ELIMIT);
        assert_non_null(strstr(err.msg, all[i].why));
    }
    unlink(path);
}

/* What a schema could make SQLite execute: defaults, generated columns, indexes and checks with functions,
 * one that writes, one that loads a library, an endless view under a table's name. */
static void schema_code_is_never_executed(void **state)
{
    (void)state;
    check_rows(
        "CREATE TABLE t(a, b DEFAULT (hex(randomblob(9)))); INSERT INTO t VALUES(1, 2); CREATE INDEX i ON "
        "t(a) WHERE length(a) < 5",
        "1|2|-;");
    check_rows(
        "CREATE TABLE t(a, b GENERATED ALWAYS AS (hex(zeroblob(a))) STORED); INSERT INTO t(a) VALUES(1)",
        "1|-|-;");
    check_rows("CREATE TABLE x(a); CREATE VIEW t AS SELECT load_extension('/tmp/evil') AS a FROM x", "");
    struct oc_buf text = {0};
    struct oc_err err = {0};
    const char *path =
        sqlite_file("CREATE TABLE x(a); CREATE VIEW pragma_table_info AS WITH RECURSIVE n(name) AS (SELECT "
                    "'a' UNION ALL SELECT name FROM n) SELECT name FROM n; CREATE TABLE t(a); INSERT "
                    "INTO t VALUES(4)");
    assert_int_equal(scan_table(path, "t", &text, &err), -1); /* and it terminates */
    assert_string_equal(err.msg, "SQLite: 'pragma_table_info' is not a function");
    unlink(path);
    oc_buf_free(&text);
    check_rows("CREATE TABLE t(a); INSERT INTO t VALUES(4); CREATE TEMP TABLE t(a)", "4|-|-;");
}

/* For a file in WAL mode SQLite would create two more files. */
static void reading_creates_no_files(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_err err = {0};
    static const char *const end[] = {"-wal", "-shm", "-journal"};
    char path[100], other[120];
    snprintf(path, sizeof(path), "%s",
             sqlite_file("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(8)"));
    assert_int_equal(scan_table(path, "t", &text, &err), 0);
    for (size_t i = 0; i < OC_COUNT(end); i++) {
        snprintf(other, sizeof(other), "%s%s", path, end[i]);
        assert_int_equal(access(other, F_OK), -1);
    }
    unlink(path);
    oc_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows_and_columns),
        cmocka_unit_test(missing_column_is_an_error),
        cmocka_unit_test(hostile_schemas_are_not_executed),
        cmocka_unit_test(data_in_a_write_ahead_log_is_read),
        cmocka_unit_test(rejects_files_that_are_not_databases),
        cmocka_unit_test(paths_with_uri_characters_are_opened),
        cmocka_unit_test(reading_stops_between_rows),
        cmocka_unit_test(steps_and_time_are_limited),
        cmocka_unit_test(schema_code_is_never_executed),
        cmocka_unit_test(reading_creates_no_files),
        cmocka_unit_test(repeated_pages_are_limited),
        cmocka_unit_test(sqlite_out_of_memory_is_an_error),
        cmocka_unit_test(sqlite_out_of_memory_while_reading_is_an_error),
        cmocka_unit_test(file_that_exhausts_memory_is_an_error),
        cmocka_unit_test(opening_without_memory_is_an_error),
        cmocka_unit_test(table_names_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
