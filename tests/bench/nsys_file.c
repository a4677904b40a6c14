/* An Nsight Systems recording as an SQLite file, and the time that SQLite itself takes to read it.
 *   nsys_file make KERNELS FILE      runs of 100 kernels in 50 layers, one call per kernel
 *   nsys_file scan FILE              all rows of the two large tables, the columns that an importer needs */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAYERS  50
#define KERNELS 100 /* per run */

static const char tables[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=4096;"
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER "
    "NOT NULL, "
    "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, "
    "globalPid INTEGER, "
    "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
    "cacheConfig "
    "INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ "
    "INTEGER NOT NULL, "
    "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER "
    "NOT NULL, "
    "dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER "
    "NOT NULL, gridId "
    "INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass "
    "INTEGER NOT NULL, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, "
    "callchainId INTEGER);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId "
    "INTEGER, category "
    "INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId "
    "INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES(0, NULL, 75, NULL, NULL, NULL, 'TensorRT', 79037469288, NULL, NULL, 1);"
    "INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel'), (2, 'ExecutionContext::enqueueV3');"
    "BEGIN;";

static void must(int ok, sqlite3 *db)
{
    if (ok)
        return;
    fprintf(stderr, "nsys_file: %s\n", db ? sqlite3_errmsg(db) : "failed");
    exit(1);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    must(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, db);
    return s;
}

static void put(sqlite3 *db, sqlite3_stmt *s, int n, const sqlite3_int64 *v)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(s, i + 1, v[i]);
    must(sqlite3_step(s) == SQLITE_DONE, db);
    sqlite3_reset(s);
}

static void add_strings(sqlite3 *db)
{
    char sql[200];
    for (int i = 0; i < LAYERS; i++) {
        snprintf(sql, sizeof(sql), "INSERT INTO StringIds VALUES(%d, 'Conv_%d + Relu_%d')", 100 + i, i, i);
        must(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, db);
    }
    for (int i = 0; i < KERNELS; i++) {
        snprintf(sql, sizeof(sql),
                 "INSERT INTO StringIds VALUES(%d, 'sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_%d')",
                 200 + i, i / 3);
        must(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, db);
    }
}

static int make(long long n, const char *path)
{
    sqlite3 *db;
    unlink(path);
    must(sqlite3_open(path, &db) == SQLITE_OK, db);
    must(sqlite3_exec(db, tables, NULL, NULL, NULL) == SQLITE_OK, db);
    add_strings(db);
    sqlite3_stmt *kernel =
        prepare(db, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?1, ?2, 0, 1, NULL, 7, ?3, 79037464576, "
                    "?4, ?4, ?4, 1, 0, 128, 512, 1, 1, 256, 1, 1, 0, 49152, 0, 0, ?3, NULL, NULL, NULL)");
    sqlite3_stmt *call =
        prepare(db, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?1, ?2, 0, 79037469288, ?3, 1, 0, NULL)");
    sqlite3_stmt *range =
        prepare(db, "INSERT INTO NVTX_EVENTS VALUES(?1, ?2, 59, NULL, NULL, NULL, NULL, 79037469288, NULL, "
                    "?3, 1)");
    for (long long i = 0; i < n; i++) {
        long long call_ns = 1000 + i * 5000 + i % 1700, kernel_ns = 1000000 + i * 5000 + i % 900;
        if (i % KERNELS == 0)
            put(db, range, 3, (sqlite3_int64[]){call_ns - 200, call_ns + KERNELS * 5000LL - 2000, 2});
        if (i % 2 == 0)
            put(db, range, 3, (sqlite3_int64[]){call_ns - 100, call_ns + 7900, 100 + i / 2 % LAYERS});
        put(db, call, 3, (sqlite3_int64[]){call_ns, call_ns + 2000, i + 1});
        put(db, kernel, 4,
            (sqlite3_int64[]){kernel_ns, kernel_ns + 3000 + i * 7919 % 1000, i + 1, 200 + i % KERNELS});
    }
    must(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, db);
    sqlite3_finalize(kernel);
    sqlite3_finalize(call);
    sqlite3_finalize(range);
    return sqlite3_close(db) != SQLITE_OK;
}

static int scan(const char *path)
{
    static const char *const query[] = {
        "SELECT start, end, deviceId, streamId, correlationId, globalPid, demangledName, "
        "shortName, graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL",
        "SELECT start, end, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME"};
    sqlite3 *db;
    sqlite3_int64 sum = 0;
    must(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK, db);
    for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++) {
        sqlite3_stmt *s = prepare(db, query[i]);
        int n = sqlite3_column_count(s);
        while (sqlite3_step(s) == SQLITE_ROW)
            for (int k = 0; k < n; k++)
                sum += sqlite3_column_int64(s, k);
        sqlite3_finalize(s);
    }
    sqlite3_close(db);
    printf("%lld\n", (long long)sum);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        return make(strtoll(argv[2], NULL, 10), argv[3]);
    if (argc == 3 && strcmp(argv[1], "scan") == 0)
        return scan(argv[2]);
    return 2;
}
