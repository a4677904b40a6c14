/* The databases of rocprofv3 and rocmProfileData. The files are in tests/fuzz/seeds/rocpd; per run they have
 * a copy to the device (1000 ns) and the kernels gemm (20000 ns) and relu (3000 ns). */
#include "profile/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "support/sqlite_file.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static struct oc_profile *open_file(const char *path)
{
    struct oc_profile *p = NULL;
    struct oc_conserved c;
    struct oc_err err = {0};
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEAN};
    if (oc_profile_open(path, &opts, &p, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "rocpd");
    oc_profile_conserved(p, true, &c);
    assert_true(fabs(c.lost_ns) < 1);
    return p;
}

static double copied_ns(const struct oc_profile *p)
{
    double ns = 0;
    for (uint32_t i = 0; i < p->n_kernel; i++)
        ns += p->kernel[i].kind == OC_EV_MEMCPY ? p->kernel[i].total_ns : 0;
    return ns;
}

/* The message of a marker is in the event of its region; the kernel has the stack id of the call inside it.
 */
static void kernels_belong_to_the_roctx_range_of_their_launch(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/fuzz/seeds/rocpd/markers.db");
    const struct oc_prof_rec *a = t_rec(p, "layer0"), *b = t_rec(p, "layer1");
    assert_non_null(a);
    assert_non_null(b);
    assert_string_equal(p->device, "AMD Instinct MI300X");
    assert_true(a->total_kernel_ns == (double)a->calls * 20000);
    assert_true(b->total_kernel_ns == (double)b->calls * 3000);
    assert_true(p->imported_kernel_ns == 3 * 24000.0);
    for (uint32_t i = 0; i < p->n_kernel; i++)
        if (p->kernel[i].kind == OC_EV_KERNEL)
            assert_string_equal(p->kernel[i].name,
                                p->kernel[i].rec == (uint32_t)(a - p->rec) ? "gemm(float*)" : "relu(float*)");
    oc_profile_close(p);
}

/* Schema 4 has the times in a table of their own. */
static void times_may_be_in_a_table_of_timestamps(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/fuzz/seeds/rocpd/timestamps.db");
    const struct oc_prof_rec *gemm = t_rec(p, "gemm(float*)"), *relu = t_rec(p, "relu(float*)");
    assert_non_null(gemm);
    assert_non_null(relu);
    assert_true(gemm->total_kernel_ns + relu->total_kernel_ns == 2 * 23000.0);
    assert_true(copied_ns(p) == 2 * 1000.0);
    oc_profile_close(p);
}

static void old_databases_have_operations(void **state)
{
    (void)state;
    struct oc_profile *p = open_file("tests/fuzz/seeds/rocpd/old.rpd");
    assert_string_equal(p->producer, "rocmProfileData");
    assert_true(t_rec(p, "gemm_kernel")->total_kernel_ns == 3 * 9000.0);
    assert_true(copied_ns(p) == 3 * 500.0);
    oc_profile_close(p);
}

#define TABLES                                                                                               \
    "CREATE TABLE rocpd_string_1(id INTEGER PRIMARY KEY, string TEXT);"                                      \
    "CREATE TABLE rocpd_info_kernel_symbol_1(id INTEGER PRIMARY KEY, kernel_name TEXT);"                     \
    "CREATE TABLE rocpd_kernel_dispatch_1(id INTEGER PRIMARY KEY, start, end, kernel_id, agent_id, "         \
    "event_id);"

/* Tables of two processes use the same ids for other names. */
static void each_process_has_its_own_names(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(sqlite_file(
        TABLES "CREATE TABLE rocpd_string_2(id INTEGER PRIMARY KEY, string TEXT);"
               "CREATE TABLE rocpd_info_kernel_symbol_2(id INTEGER PRIMARY KEY, kernel_name TEXT);"
               "CREATE TABLE rocpd_kernel_dispatch_2(start, end, kernel_id, agent_id);"
               "INSERT INTO rocpd_info_kernel_symbol_1 VALUES(1, 'a');"
               "INSERT INTO rocpd_info_kernel_symbol_2 VALUES(1, 'b');"
               "INSERT INTO rocpd_kernel_dispatch_1 VALUES(1, 100, 150, 1, 2, NULL);"
               "INSERT INTO rocpd_kernel_dispatch_2 VALUES(200, 270, 1, 2);"));
    assert_true(t_rec(p, "a")->total_kernel_ns == 50);
    assert_true(t_rec(p, "b")->total_kernel_ns == 70);
    oc_profile_close(p);
    unlink(sqlite_file(""));
}

static void rows_without_valid_times_are_counted(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(sqlite_file(
        TABLES
        "INSERT INTO rocpd_kernel_dispatch_1 VALUES(1, 100, 150, 9, 2, 77), (2, 100, 50, 1, 2, NULL), (3, "
        "'x', NULL, 1, 2, NULL), (4, -9223372036854775807, 9223372036854775807, 1, 2, NULL);"));
    assert_true(t_rec(p, "(unnamed kernel)")->total_kernel_ns == 50);
    assert_non_null(strstr(t_finding(p, "W-bad-event"), "3 rows"));
    oc_profile_close(p);
    unlink(sqlite_file(""));
}

#define FIRST_TIMES "(\"BeginNs\" INTEGER, \"EndNs\" INTEGER, "
#define FIRST_TABLES                                                                                         \
    "CREATE TABLE HIP " FIRST_TIMES "pid, tid, Name, args, \"Index\");"                                      \
    "CREATE TABLE OPS " FIRST_TIMES "\"dev-id\", \"queue-id\", Name, pid, tid, \"stream-id\", \"Index\");"   \
    "CREATE TABLE COPY " FIRST_TIMES "\"dev-id\", \"queue-id\", Name, pid, tid, \"stream-id\", \"Index\");"  \
    "CREATE TABLE KERN (\"Index\", KernelName);"

/* results.db of the first rocprof; a call has the number of the work that it launched, in its process. */
static void a_database_of_the_first_rocprof_is_read(void **state)
{
    (void)state;
    struct oc_profile *p = open_file(sqlite_file(
        FIRST_TABLES "INSERT INTO HIP VALUES(100, 110, 5, 5, 'hipMemcpy', '', 1), (120, 125, 5, 5, "
                     "'hipLaunchKernel', '', 2), (130, 250, 5, 5, 'hipDeviceSynchronize', '', 3);"
                     "INSERT INTO COPY VALUES(105, 109, 4, 0, 'CopyHostToDevice', 5, 5, 0, 1);"
                     "INSERT INTO OPS VALUES(200, 240, 4, 0, 'add(float*)', 5, 5, 1, 2), (250, 240, 4, 0, "
                     "'add(float*)', 5, 5, 1, 4);"));
    assert_string_equal(p->producer, "rocprof");
    assert_true(t_rec(p, "add(float*)")->total_kernel_ns == 40);
    assert_true(copied_ns(p) == 4);
    assert_non_null(strstr(t_finding(p, "W-bad-event"), "1 rows"));
    oc_profile_close(p);
    unlink(sqlite_file(""));
}

static void a_database_of_the_first_rocprof_without_kernels_is_an_error(void **state)
{
    (void)state;
    struct oc_profile *p;
    struct oc_err err = {0};
    assert_int_equal(oc_profile_open(sqlite_file(FIRST_TABLES), NULL, &p, &err), -1);
    assert_non_null(strstr(err.msg, "no device work"));
    assert_non_null(strstr(err.msg, "rocprof --hip-trace"));
    unlink(sqlite_file(""));
}

static void a_database_without_device_work_is_an_error(void **state)
{
    (void)state;
    struct oc_profile *p;
    struct oc_err err = {0};
    assert_int_equal(oc_profile_open(sqlite_file(TABLES), NULL, &p, &err), -1);
    assert_non_null(strstr(err.msg, "no device work"));
    unlink(sqlite_file(""));
}

static void a_database_of_another_program_is_an_error(void **state)
{
    (void)state;
    struct oc_profile *p;
    struct oc_err err = {0};
    struct oc_profile_opts opts = {.format = "rocpd"};
    assert_int_equal(oc_profile_open(sqlite_file("CREATE TABLE other(a)"), &opts, &p, &err), -1);
    assert_non_null(strstr(err.msg, "SQLite file without the tables of rocpd (rocpd_string)"));
    unlink(sqlite_file(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_belong_to_the_roctx_range_of_their_launch),
        cmocka_unit_test(times_may_be_in_a_table_of_timestamps),
        cmocka_unit_test(old_databases_have_operations),
        cmocka_unit_test(each_process_has_its_own_names),
        cmocka_unit_test(rows_without_valid_times_are_counted),
        cmocka_unit_test(a_database_of_the_first_rocprof_is_read),
        cmocka_unit_test(a_database_of_the_first_rocprof_without_kernels_is_an_error),
        cmocka_unit_test(a_database_without_device_work_is_an_error),
        cmocka_unit_test(a_database_of_another_program_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
