#include "profile/sqlite_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "support/sqlite_file.h"

static const struct oc_column three[] = {{"a", true}, {"b", false}, {"c", false}};

/* Cells as text, "1|x|-;" a row. */
static int write_row(void *user, const struct oc_cell *c)
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

static int scan_of(const char *path, const char *table, struct oc_buf *text, struct oc_err *err)
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

static void assert_rows(const char *sql, const char *rows)
{
    struct oc_buf text = {0};
    struct oc_err err = {0};
    if (scan_of(sqlite_file(sql), "t", &text, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(text.data, rows);
    oc_buf_free(&text);
    unlink(sqlite_file(""));
}

static void rows_and_columns(void **state)
{
    (void)state;
    assert_rows(
        "CREATE TABLE t(b TEXT, x, a INTEGER); INSERT INTO t VALUES('p', 0, 1), (NULL, 0, -5), (2.5, 0, 'q')",
        "1|p|-;-5|-|-;q|2.5|-;");
    assert_rows("CREATE TABLE u(a)", ""); /* no such table */
    assert_rows("CREATE TABLE t(a INTEGER PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES(3, 4)",
                "3|4|-;");
    assert_rows("CREATE TABLE t(\"a\", \"b\"\"c\"); INSERT INTO t VALUES(1, 2)", "1|-|-;");
}

static void missing_column(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_err err = {0};
    assert_int_equal(scan_of(sqlite_file("CREATE TABLE t(b)"), "t", &text, &err), -1);
    assert_string_equal(err.msg, "table 't' has no column 'a'");
    oc_buf_free(&text);
    unlink(sqlite_file(""));
}

/* Views and virtual tables in the place of a table are not read, triggers do not run, and columns that are
 * computed do not count as columns. */
static void hostile_schemas(void **state)
{
    (void)state;
    assert_rows(
        "CREATE VIEW t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n",
        "");
    assert_rows("CREATE VIRTUAL TABLE t USING fts5(a)", "");
    assert_rows("CREATE TABLE t(a); INSERT INTO t VALUES(1); CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE "
                "FROM t; END",
                "1|-|-;");
    assert_rows("CREATE TABLE t(a, b AS (zeroblob(900000000))); INSERT INTO t(a) VALUES(1)", "1|-|-;");
}

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void data_in_a_log(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_err err = {0};
    char wal[110], path[100];
    /* a closed file in this mode has no log beside it */
    snprintf(path, sizeof(path), "%s",
             sqlite_file("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(8)"));
    snprintf(wal, sizeof(wal), "%s-wal", path);
    if (scan_of(path, "t", &text, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(text.data, "8|-|-;");
    write_file(wal, "x", 1);
    assert_int_equal(scan_of(path, "t", &text, &err), -1);
    assert_non_null(strstr(err.msg, "part of its data is in"));
    unlink(wal);
    unlink(path);
    oc_buf_free(&text);
}

static void what_is_no_database(void **state)
{
    (void)state;
    struct oc_sqlite *db;
    struct oc_err err = {0};
    assert_int_equal(oc_sqlite_open_mem("x", 1, NULL, &db, &err), -1);
    assert_string_equal(err.msg, "no SQLite file");
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

static void odd_paths(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    struct oc_err err = {0};
    size_t n;
    const char *path = "/tmp/onnxcost test#1?mode=rw&x%41.sqlite";
    unsigned char *data = sqlite_bytes("CREATE TABLE t(a); INSERT INTO t VALUES(8)", &n);
    write_file(path, data, n);
    int rc = scan_of(path, "t", &text, &err);
    unlink(path);
    free(data);
    assert_int_equal(rc, 0);
    assert_string_equal(text.data, "8|-|-;");
    oc_buf_free(&text);
}

/* ---- a flag that ends it ----------------------------------------------------------------------------------
 */

static volatile int stop;

static int third_is_enough(void *user, const struct oc_cell *c)
{
    size_t *rows = user;
    (void)c;
    stop = ++*rows == 3;
    return 0;
}

static void stopped_between_rows(void **state)
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
    assert_int_equal(seen, 3); /* and no other table is begun */
    oc_sqlite_close(db);
    unlink(sqlite_file(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_columns),     cmocka_unit_test(missing_column),
        cmocka_unit_test(hostile_schemas),      cmocka_unit_test(data_in_a_log),
        cmocka_unit_test(what_is_no_database),  cmocka_unit_test(odd_paths),
        cmocka_unit_test(stopped_between_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
