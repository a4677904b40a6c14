/* Rows of SQLite files. */
#include "profile/sqlite_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/os.h"

/* ---- the library ------------------------------------------------------------------------------------ */

#define FUNCTIONS(X)                                                                                         \
    X(open, sqlite3_open_v2)                                                                                 \
    X(close, sqlite3_close_v2)                                                                               \
    X(prepare, sqlite3_prepare_v2)                                                                           \
    X(step, sqlite3_step)                                                                                    \
    X(finalize, sqlite3_finalize)                                                                            \
    X(bind_text, sqlite3_bind_text)                                                                          \
    X(value, sqlite3_column_value)                                                                           \
    X(type, sqlite3_value_type)                                                                              \
    X(int64, sqlite3_value_int64)                                                                            \
    X(real, sqlite3_value_double)                                                                            \
    X(blob, sqlite3_value_blob)                                                                              \
    X(bytes, sqlite3_value_bytes)                                                                            \
    X(message, sqlite3_errmsg)                                                                               \
    X(errcode, sqlite3_extended_errcode)                                                                     \
    X(limit, sqlite3_limit)                                                                                  \
    X(config, sqlite3_db_config)                                                                             \
    X(progress, sqlite3_progress_handler)                                                                    \
    X(deserialize, sqlite3_deserialize)                                                                      \
    X(version, sqlite3_libversion)

OC_LIBRARY(sqlite, FUNCTIONS, .name = "libsqlite3", .use = "SQLite files", .package = "libsqlite3-0",
           .soname = {"libsqlite3.so.0"});

int oc_sqlite_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err)
{
    struct library lib;
    if (oc_library_open(&sqlite, &lib, err))
        return -1;
    snprintf(version, version_cap, "%s", lib.version());
    oc_library_file((void *)(uintptr_t)lib.version, file, file_cap);
    oc_library_close(&lib);
    return 0;
}

/* ---- opening ---------------------------------------------------------------------------------------- */

#define HEADER_BYTES  100
#define STEPS_A_CHECK 100000
#define MIN_ROW_BYTES 4
#define ROW_BYTES     (16 << 20)              /* the longest row that is read */
#define PLENTY_BYTES  ((size_t)4 * ROW_BYTES) /* below SQLite's own maximum */

struct oc_sqlite {
    struct library lib;
    sqlite3 *db;
    uint8_t *copy; /* bytes of oc_sqlite_open_mem */
    uint64_t size_bytes, rows_left, rows;
    const volatile int *stop;
    bool stopped;
    const struct oc_input_limits *limits;
    uint64_t checks_left; /* in units of STEPS_A_CHECK steps of SQLite's virtual machine */
    time_t last_second;   /* on the monotonic clock */
    bool late;
    bool greedy; /* SQLite's out-of-memory error is caused by the file */
};

static int is_over(void *user)
{
    struct oc_sqlite *db = user;
    db->late = (time_t)oc_now_s() > db->last_second;
    return db->late || db->checks_left == 0 || --db->checks_left == 0;
}

static void sqlite_rows_set_limits(struct oc_sqlite *db)
{
    static const struct {
        int id, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, ROW_BYTES},   {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_COLUMN, 500},         {SQLITE_LIMIT_EXPR_DEPTH, 50},
        {SQLITE_LIMIT_COMPOUND_SELECT, 3},  {SQLITE_LIMIT_VDBE_OP, 50000},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},     {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 10}, {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < OC_COUNT(limits); i++)
        db->lib.limit(db->db, limits[i].id, limits[i].value);
    db->lib.config(db->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    db->lib.config(db->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    db->lib.config(db->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    db->lib.config(db->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    db->rows_left = db->size_bytes / MIN_ROW_BYTES;
    uint64_t a_byte = oc_input_limit(db->limits, OC_LIMIT_SQLITE_STEPS);
    db->checks_left = 10 + (uint64_t)((double)db->size_bytes * (double)a_byte / STEPS_A_CHECK);
    db->last_second = (time_t)oc_now_s() + (time_t)oc_input_limit(db->limits, OC_LIMIT_SQLITE_SECONDS);
    db->lib.progress(db->db, STEPS_A_CHECK, is_over, db);
}

#define NO_MEMORY "SQLite: out of memory, or the file is damaged"

/* SQLite also returns this for some damaged files, which make it request too much memory. */
static bool is_out_of_memory(const struct oc_sqlite *db)
{
    int code = db->lib.errcode(db->db);
    return (code & 0xff) == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM;
}

/* After SQLite reports out of memory and before the query is repeated: tests whether memory is available,
 * so that a second failure is due to the file. The test allocates memory itself, which ends the program if
 * there is none; a memory limit set for SQLite alone is not detected. */
static bool is_memory_available(const struct oc_sqlite *db)
{
    free(oc_xmalloc(PLENTY_BYTES));
    /* the function is missing before SQLite 3.31 */
    void *found = oc_library_symbol(&db->lib, "sqlite3_hard_heap_limit64");
    __typeof__(sqlite3_hard_heap_limit64) *heap_limit;
    memcpy(&heap_limit, &found, sizeof(found));
    return heap_limit && heap_limit(-1) == 0;
}

static int fail_broken(struct oc_sqlite *db, struct oc_err *err)
{
    if (db->greedy)
        return oc_fail(err, OC_EFORMAT,
                       "damaged SQLite file: SQLite runs out of memory on it while memory is available");
    if (is_out_of_memory(db))
        return oc_fail(err, OC_ELIBRARY, NO_MEMORY);
    if (db->late)
        return oc_input_limit_fail(db->limits, OC_LIMIT_SQLITE_SECONDS, 0, err);
    if (!db->checks_left) {
        oc_input_limit_fail(db->limits, OC_LIMIT_SQLITE_STEPS, 0, err);
        return oc_err_prefix(err,
                             "reading takes more steps than the file size explains: the file may be damaged");
    }
    return oc_fail(err, OC_EFORMAT, "SQLite: %s", db->lib.message(db->db));
}

static int check_header(const uint8_t *head, size_t n, struct oc_err *err)
{
    if (n < HEADER_BYTES || memcmp(head, "SQLite format 3", 16) != 0) {
        bool gz = n > 2 && head[0] == 0x1f && head[1] == 0x8b;
        return oc_fail(err, OC_EFORMAT,
                       gz ? "compressed SQLite file: unpack it first (gunzip)" : "not an SQLite file");
    }
    return 0;
}

/* A file in WAL mode may have its newest rows in a second file, which is not read. */
static int check_wal(const char *path, const uint8_t *head, struct oc_err *err)
{
    struct stat st;
    struct oc_buf wal = {0};
    if (head[18] != 2 && head[19] != 2)
        return 0;
    oc_buf_printf(&wal, "%s-wal", path);
    bool pending = stat(wal.data, &st) == 0 && st.st_size > 0;
    oc_buf_free(&wal);
    return !pending ? 0
                    : oc_fail(err, OC_EFORMAT,
                              "part of its data is in '%s-wal': export it again, or run sqlite3 '%s' 'PRAGMA "
                              "wal_checkpoint(TRUNCATE)'",
                              path, path);
}

static int check_file(const char *path, uint64_t *size_bytes, struct oc_err *err)
{
    uint8_t head[HEADER_BYTES] = {0};
    struct stat st;
    int fd = oc_file_open(path);
    if (fd < 0)
        return oc_fail(err, OC_EIO,
                       errno == EXDEV ? "it is not inside the folder of --root" : "cannot be opened");
    size_t n = 0;
    for (ssize_t got = 1; n < sizeof(head) && got; n += got > 0 ? (size_t)got : 0)
        if ((got = read(fd, head + n, sizeof(head) - n)) < 0 && errno != EINTR)
            break;
    int rc = fstat(fd, &st);
    close(fd);
    *size_bytes = rc == 0 ? (uint64_t)st.st_size : 0;
    return check_header(head, n, err) || check_wal(path, head, err) ? -1 : 0;
}

/* "file:" URI: all but plain characters as %xx */
static void add_uri(struct oc_buf *uri, const char *path)
{
    oc_buf_str(uri, "file:");
    for (const char *s = path; *s; s++) {
        bool plain =
            (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || oc_is_digit(*s) || strchr("/._-", *s);
        if (plain)
            oc_buf_char(uri, *s);
        else
            oc_buf_printf(uri, "%%%02x", (unsigned)(unsigned char)*s);
    }
    oc_buf_str(uri, "?mode=ro&immutable=1");
}

static struct oc_sqlite *new_db(const struct oc_input_limits *limits)
{
    struct oc_sqlite *db = oc_xmalloc(sizeof(*db));
    memset(db, 0, sizeof(*db));
    db->limits = limits;
    db->checks_left = 1;
    return db;
}

/* The end of opening; failed: *err is set. */
static int sqlite_rows_opened(struct oc_sqlite **db, bool failed)
{
    if (!failed) {
        sqlite_rows_set_limits(*db);
        return 0;
    }
    oc_sqlite_close(*db);
    *db = NULL;
    return -1;
}

/* Standard input that has no name, which SQLite needs (a pipe's content in memory). */
static int open_nameless(const struct oc_input_limits *limits, struct oc_sqlite **out, struct oc_err *err)
{
    struct oc_file f;
    *out = NULL;
    if (oc_file_map_capped("-", limits, &f, err))
        return -1;
    int rc = oc_sqlite_open_mem(f.data, (size_t)f.size_bytes, limits, out, err);
    oc_file_unmap(&f);
    return rc;
}

int oc_sqlite_open(const char *path, const struct oc_input_limits *limits, struct oc_sqlite **out,
                   struct oc_err *err)
{
    if (!strcmp(path, "-") && access("/proc/self/fd/0", R_OK) == 0) {
        char *name = realpath("/proc/self/fd/0", NULL);
        free(name);
        if (!name)
            return open_nameless(limits, out, err);
    }
    struct oc_sqlite *db = *out = new_db(limits);
    struct oc_buf uri = {0};
    if (!strcmp(path, "-"))
        path = "/proc/self/fd/0";
    if (check_file(path, &db->size_bytes, err) || oc_library_open(&sqlite, &db->lib, err))
        return sqlite_rows_opened(out, true);
    add_uri(&uri, path);
    bool failed =
        db->lib.open(uri.data, &db->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) &&
        fail_broken(db, err);
    oc_buf_free(&uri);
    return sqlite_rows_opened(out, failed);
}

int oc_sqlite_open_mem(const void *data, size_t n, const struct oc_input_limits *limits,
                       struct oc_sqlite **out, struct oc_err *err)
{
    struct oc_sqlite *db = *out = new_db(limits);
    if (check_header(data, n, err) || oc_library_open(&sqlite, &db->lib, err))
        return sqlite_rows_opened(out, true);
    db->size_bytes = n;
    db->copy = oc_xmalloc(n);
    memcpy(db->copy, data, n);
    db->copy[18] = db->copy[19] = 1; /* a file without a log may still be marked as having one */
    bool failed = (db->lib.open(":memory:", &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ||
                   db->lib.deserialize(db->db, "main", db->copy, (sqlite3_int64)n, (sqlite3_int64)n,
                                       SQLITE_DESERIALIZE_READONLY)) &&
                  fail_broken(db, err);
    return sqlite_rows_opened(out, failed);
}

int oc_sqlite_open_stream(struct oc_stream *s, const struct oc_input_limits *limits, struct oc_sqlite **out,
                          struct oc_err *err)
{
    const char *path = oc_stream_path(s), *data;
    uint64_t offset;
    size_t n;
    if (*path)
        return oc_sqlite_open(path, limits, out, err);
    if (!oc_stream_fill(s, 0, &data, &n, &offset))
        return oc_fail(err, OC_EFORMAT, "not an SQLite file");
    while (oc_stream_fill(s, 0, &data, &n, &offset))
        continue;
    return oc_sqlite_open_mem(data, n, limits, out, err);
}

void oc_sqlite_close(struct oc_sqlite *db)
{
    if (!db)
        return;
    if (db->db)
        db->lib.close(db->db);
    oc_library_close(&db->lib);
    free(db->copy);
    free(db);
}

void oc_sqlite_stop_on(struct oc_sqlite *db, const volatile int *stop)
{
    db->stop = stop;
}

bool oc_sqlite_stopped(const struct oc_sqlite *db, uint64_t *rows)
{
    *rows = db->rows;
    return db->stopped;
}

static bool sqlite_rows_is_stopped(struct oc_sqlite *db)
{
    db->stopped |= db->stop && __atomic_load_n(db->stop, __ATOMIC_RELAXED);
    return db->stopped;
}

/* ---- tables ----------------------------------------------------------------------------------------- */

static int query_once(struct oc_sqlite *db, const char *sql, const char *first, const char *second)
{
    sqlite3_stmt *query = NULL;
    if (db->lib.prepare(db->db, sql, -1, &query, NULL) != SQLITE_OK)
        return -1;
    db->lib.bind_text(query, 1, first, -1, NULL);
    if (second)
        db->lib.bind_text(query, 2, second, -1, NULL);
    int rc = db->lib.step(query);
    db->lib.finalize(query);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

/* 1: the query has a row, 0: it has none, -1: it failed. */
static int query_exists(struct oc_sqlite *db, const char *sql, const char *first, const char *second)
{
    int there = query_once(db, sql, first, second);
    if (there >= 0 || !is_out_of_memory(db))
        return there;
    bool plenty = is_memory_available(db);
    there = query_once(db, sql, first, second);
    db->greedy = there < 0 && plenty && is_out_of_memory(db);
    return there;
}

/* SQLite writes "CREATE TABLE " for a table; other spellings may be those of virtual tables. */
static int find_table(struct oc_sqlite *db, const char *table)
{
    return query_exists(db,
                        "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?1 AND "
                        "sql LIKE 'create table%' LIMIT 1",
                        table, NULL);
}

int oc_sqlite_has_table(struct oc_sqlite *db, const char *table, struct oc_err *err)
{
    int there = find_table(db, table);
    return there < 0 ? fail_broken(db, err) : there;
}

/* Column values of the current row (unprotected sqlite3_value objects: single-threaded). */
static void get_cell(const struct library *lib, sqlite3_stmt *query, int i, struct oc_sqlite_cell *out)
{
    sqlite3_value *v = lib->value(query, i);
    switch (lib->type(v)) {
    case SQLITE_INTEGER:
        out->kind = OC_CELL_INT;
        out->i = lib->int64(v);
        break;
    case SQLITE_FLOAT:
        out->kind = OC_CELL_REAL;
        out->d = lib->real(v);
        break;
    case SQLITE_NULL:
        out->kind = OC_CELL_NULL;
        break;
    default:
        out->kind = OC_CELL_TEXT;
        out->s = lib->blob(v);
        out->n = (size_t)lib->bytes(v);
        out->s = out->s ? out->s : "";
    }
}

enum { MAX_TABLES = 256 };

int oc_sqlite_tables(struct oc_sqlite *db, const char *prefix, struct oc_arena *a, const char *const **name,
                     size_t *n, struct oc_err *err)
{
    static const char sql[] =
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'create table%' AND "
        "(name = ?1 OR substr(name, 1, length(?1) + 1) = ?1 || '_') ORDER BY name";
    const char **found = OC_NEW_ARRAY(a, MAX_TABLES, const char *);
    sqlite3_stmt *query = NULL;
    int rc = db->lib.prepare(db->db, sql, -1, &query, NULL);
    *n = 0;
    *name = found;
    if (rc == SQLITE_OK)
        db->lib.bind_text(query, 1, prefix, -1, NULL);
    while (rc == SQLITE_OK && *n < MAX_TABLES && (rc = db->lib.step(query)) == SQLITE_ROW) {
        struct oc_sqlite_cell cell = {.kind = OC_CELL_NULL};
        get_cell(&db->lib, query, 0, &cell);
        if (cell.kind == OC_CELL_TEXT)
            found[(*n)++] = oc_strndup(a, cell.s, strnlen(cell.s, cell.n));
        rc = SQLITE_OK;
    }
    db->lib.finalize(query);
    return rc == SQLITE_OK || rc == SQLITE_DONE ? 0 : fail_broken(db, err);
}

static int make_query(struct oc_sqlite *db, const char *table, const struct oc_sqlite_column *column,
                      size_t n, struct oc_buf *sql, struct oc_err *err)
{
    oc_buf_str(sql, "SELECT ");
    for (size_t i = 0; i < n; i++) {
        int there =
            query_exists(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column[i].name);
        if (there < 0)
            return fail_broken(db, err);
        if (!there && column[i].required)
            return oc_fail(err, OC_EFORMAT, "table '%s' has no column '%s'", table, column[i].name);
        oc_buf_printf(sql, there ? "%s\"%s\"" : "%sNULL", i ? ", " : "", column[i].name);
    }
    oc_buf_str(sql, " FROM main.\"");
    for (const char *s = table; *s; s++) {
        if (*s == '"')
            oc_buf_char(sql, '"');
        oc_buf_char(sql, *s);
    }
    oc_buf_char(sql, '"');
    return 0;
}

/* SQLite ran out of memory after this many rows: repeats the query and skips them. */
static void try_again(struct oc_sqlite *db, const char *sql, uint64_t rows)
{
    sqlite3_stmt *query = NULL;
    bool plenty = is_memory_available(db);
    int rc = db->lib.prepare(db->db, sql, -1, &query, NULL) == SQLITE_OK ? SQLITE_ROW : SQLITE_ERROR;
    for (uint64_t i = 0; i <= rows && rc == SQLITE_ROW && !sqlite_rows_is_stopped(db); i++)
        rc = db->lib.step(query);
    db->greedy = plenty && rc != SQLITE_ROW && is_out_of_memory(db);
    db->lib.finalize(query);
}

static int sqlite_rows_scan(struct oc_sqlite *db, sqlite3_stmt *query, const char *sql, const char *table,
                            size_t n_column, int (*row)(void *user, const struct oc_sqlite_cell *cell),
                            void *user, struct oc_err *err)
{
    struct oc_sqlite_cell cell[OC_SQLITE_MAX_COLUMNS];
    for (uint64_t done = 0;; done++) {
        int rc = db->lib.step(query);
        if (rc == SQLITE_DONE || sqlite_rows_is_stopped(db))
            return 0;
        if (rc != SQLITE_ROW) {
            bool no_memory = is_out_of_memory(db);
            if (no_memory)
                try_again(db, sql, done);
            if (no_memory && !db->greedy)
                return oc_fail(err, OC_ELIBRARY, "table '%s': " NO_MEMORY, table);
            fail_broken(db, err);
            return oc_err_prefix(err, "table '%s'", table);
        }
        if (!db->rows_left)
            return oc_fail(err, OC_EFORMAT,
                           "damaged SQLite file: table '%s' has more rows than the file can hold", table);
        db->rows_left--;
        db->rows++;
        for (size_t i = 0; i < n_column; i++)
            get_cell(&db->lib, query, (int)i, &cell[i]);
        if ((rc = row(user, cell)) != 0)
            return rc;
    }
}

int oc_sqlite_scan(struct oc_sqlite *db, const char *table, const struct oc_sqlite_column *column,
                   size_t n_column, int (*row)(void *user, const struct oc_sqlite_cell *cell), void *user,
                   struct oc_err *err)
{
    struct oc_buf sql = {0};
    sqlite3_stmt *query = NULL;
    int there = find_table(db, table), rc = 0;
    if (there <= 0 || n_column > OC_SQLITE_MAX_COLUMNS)
        return there < 0 ? fail_broken(db, err) : 0;
    if (make_query(db, table, column, n_column, &sql, err) != 0)
        rc = -1;
    else if (db->lib.prepare(db->db, sql.data, -1, &query, NULL) != SQLITE_OK)
        rc = fail_broken(db, err);
    else
        rc = sqlite_rows_scan(db, query, sql.data, table, n_column, row, user, err);
    db->lib.finalize(query);
    oc_buf_free(&sql);
    return rc;
}
