#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/formats/function_tables.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static struct oc_profile *open_mapped(const char *path, const char *map)
{
    struct oc_profile_opts opts = {.map = map};
    struct oc_profile *p;
    struct oc_err err = {0};
    if (oc_profile_open(path, &opts, &p, &err) != 0)
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "generic_csv");
    return p;
}

static struct oc_profile *open_sample(const char *name)
{
    const char *path = t_sample(name);
    if (!path)
        skip();
    return open_mapped(path, NULL);
}

static void check_conserved(const struct oc_profile *p, double imported_ns)
{
    struct oc_conserved c;
    oc_profile_conserved(p, false, &c);
    assert_true(fabs(c.imported_ns - imported_ns) < 1e-2);
    assert_true(fabs(c.lost_ns) < 1e-2);
}

/* Seconds with and without a unit letter: 1.25 + 0.5 + 0.125 + 0.125 = 2 s. */
static void reads_vtune(void **state)
{
    (void)state;
    struct oc_profile *p = open_mapped("tests/data/functions/vtune.tsv", NULL);
    assert_int_equal(p->n_rec, 4);
    assert_true(p->functions);
    const struct oc_prof_rec *gemm = t_rec(p, "MlasSgemmKernelFma3"),
                             *conv = t_rec(p, "jit_avx512_core_brgemm_conv");
    assert_string_equal(gemm->op_type, "gemm");
    assert_string_equal(gemm->provider, "libonnxruntime.so");
    assert_string_equal(conv->op_type, "conv");
    assert_true(gemm->time_ns == 1.25e9 && conv->time_ns == 0.5e9);
    assert_non_null(t_rec(p, "std::vector<int, std::allocator<int> >::push_back"));
    assert_string_equal(t_rec(p, "memcpy")->op_type, "copy");
    check_conserved(p, 2e9);
    oc_profile_close(p);
}

/* 200 ms of samples: 125, 50, and 12.5 % that are not listed. */
static void reads_perf_columns(void **state)
{
    (void)state;
    struct oc_profile *p = open_mapped("tests/data/functions/perf_n.txt", NULL);
    const struct oc_prof_rec *gemm = t_rec(p, "MlasSgemmKernelFma3");
    assert_true(gemm && gemm->time_ns == 125e6 && gemm->calls == 500);
    assert_string_equal(gemm->provider, "libonnxruntime.so");
    assert_string_equal(t_rec(p, "__memcpy_avx_unaligned_erms")->op_type, "copy");
    assert_string_equal(p->rec[2].bucket, "functions not listed");
    assert_true(fabs(p->rec[2].total_ns - 25e6) < 1e-3);
    check_conserved(p, 200e6);
    oc_profile_close(p);
}

/* 40.79 % of 1866750000 ns = 761447325 ns; all rows: 40.79 + 40.27 + 13.45 + 4.57 + 0.33 + 0.24 + 2 * 0.08 +
 * 2 * 0.03 + 10 * 0.01 = 99.97 %, within the rounding of 20 rows: no remainder. */
static void reads_perf_samples(void **state)
{
    (void)state;
    struct oc_profile *p = open_sample("cpu_profilers/perf_report_csv.txt");
    assert_int_equal(p->n_rec, 20);
    const struct oc_prof_rec *cosine = t_rec(p, "__cos_fma");
    assert_true(fabs(cosine->time_ns - 761447325) < 1e-3 && cosine->calls == 3046);
    assert_string_equal(cosine->provider, "libm.so.6");
    check_conserved(p, 0.9997 * 1866750000);
    oc_profile_close(p);
    /* with a call graph: the second percentage is the function's own; the truncated file lists two without
     * any */
    p = open_sample("cpu_profilers/perf_report_stdio.txt");
    assert_int_equal(p->n_rec, 3);
    assert_string_equal(p->rec[0].name, "__libc_start_call_main");
    assert_true(p->rec[0].time_ns == 0 && p->rec[1].time_ns == 0);
    check_conserved(p, 1866750000);
    oc_profile_close(p);
}

/* 60 % and 25 % are listed; 15 % are not. */
static void events_other_than_time_have_shares_and_no_times(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p =
        t_profile_text("# Samples: 1K of event 'cycles:u'\n# Event count (approx.): 100\n# Overhead  Symbol\n"
                       " 60.00%  [.] MlasSgemmKernel\n 25.00%  [.] f\n",
                       NULL, &err);
    assert_non_null(p);
    assert_string_equal(p->event, "cycles:u");
    assert_int_equal(p->n_rec, 3);
    assert_true(p->rec[0].share == 0.6 && p->rec[1].share == 0.25 && fabs(p->rec[2].share - 0.15) < 1e-12);
    assert_string_equal(p->rec[2].bucket, "functions not listed");
    for (uint32_t i = 0; i < p->n_rec; i++)
        assert_true(isnan(p->rec[i].time_ns) && isnan(p->rec[i].self_ns) && isnan(p->rec[i].total_ns));
    assert_true(isnan(p->imported_ns) && !p->runs_total);
    oc_profile_close(p);
}

/* stats.print_stats(1): shares are those of all functions. */
static void functions_that_pstats_does_not_list_have_the_rest_of_the_time(void **state)
{
    struct oc_err err = {0};
    (void)state;
    struct oc_profile *p =
        t_profile_text("         9 function calls (8 primitive calls) in 4.000 seconds\n\n"
                       "   Ordered by: internal time\n   List reduced from 5 to 1 due to restriction <1>\n\n"
                       "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
                       "        2    3.000    1.500    3.000    1.500 a.py:1(f)\n\n",
                       NULL, &err);
    assert_non_null(p);
    assert_int_equal(p->n_rec, 2);
    assert_true(p->rec[0].time_ns == 3e9 && fabs(p->rec[1].time_ns - 1e9) < 1e-3);
    assert_string_equal(p->rec[1].bucket, "functions not listed");
    assert_true(fabs(p->imported_ns - 4e9) < 1e-3);
    oc_profile_close(p);
}

/* The lines before the second table do not change what the first one counted. */
static void second_event_of_perf_is_another_table(void **state)
{
    struct oc_err err = {0};
    (void)state;
    struct oc_profile *p = t_profile_text(
        "# Samples: 1K of event 'cycles'\n# Event count (approx.): 100\n# Overhead  Symbol\n 60.00%  [.] f\n"
        "# Samples: 1K of event 'instructions'\n# Event count (approx.): 900\n# Overhead  Symbol\n"
        " 90.00%  [.] g\n",
        NULL, &err);
    if (!p)
        fail_msg("%s", err.msg);
    assert_string_equal(p->event, "cycles");
    assert_int_equal(p->n_rec, 2); /* f, and the functions not listed */
    assert_non_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
}

/* perf report of a group: a column per event, the first one is the leader. */
static void shares_of_a_group_are_those_of_its_first_event(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p = t_profile_text("# Samples: 1K of events 'anon group { cycles, instructions }'\n"
                                          "# Event count (approx.): 100\n"
                                          "#         Overhead  Command  Shared Object  Symbol\n"
                                          "    60.00%  48.00%  infer    libm.so.6      [.] MlasSgemmKernel\n"
                                          "    40.00%  52.00%  infer    libm.so.6      [.] f\n",
                                          NULL, &err);
    assert_non_null(p);
    assert_string_equal(p->event, "anon group { cycles, instructions }");
    assert_true(p->n_rec == 2 && p->rec[0].share == 0.6 && p->rec[1].share == 0.4);
    assert_string_equal(p->rec[0].name, "MlasSgemmKernel");
    assert_string_equal(p->rec[0].provider, "libm.so.6");
    oc_profile_close(p);
}

static void a_perf_table_without_its_event_is_rejected(void **state)
{
    (void)state;
    struct oc_err err = {0};
    assert_null(t_profile_text("# Overhead  Symbol\n 10.00%  [.] f\n", NULL, &err));
    assert_non_null(strstr(err.msg, "of event"));
    assert_null(t_profile_text("# Samples: 1 of event 'cpu-clock'\n# Overhead  Symbol\n 10.00%  [.] f\n",
                               NULL, &err));
    assert_non_null(strstr(err.msg, "Event count"));
}

/* Call counts exist only where gprof counted them. */
static void reads_gprof(void **state)
{
    (void)state;
    struct oc_profile *p = open_mapped("tests/data/functions/gprof.txt", NULL);
    assert_int_equal(p->n_rec, 2);
    assert_true(p->rec[0].calls == 36 && p->rec[0].time_ns == 0.27e9);
    assert_string_equal(p->rec[1].name, "operator new(unsigned long)");
    assert_true(p->rec[1].calls == 0 && isnan(p->rec[1].calls_per_run));
    oc_profile_close(p);
    p = open_sample("cpu_profilers/gprof.txt");
    assert_int_equal(p->n_rec, 3);
    assert_string_equal(t_rec(p, "conv2d")->op_type, "conv");
    check_conserved(p, 0.30e9);
    oc_profile_close(p);
}

/* Own times: 2 + 31 + 80 + 50 + 42 + 37 + 1 = 243 ms; "20/5" means 20 calls. */
static void reads_pstats(void **state)
{
    (void)state;
    struct oc_profile *p = open_sample("cpu_profilers/cprofile.cumulative.txt");
    assert_int_equal(p->n_rec, 14);
    assert_true(t_rec(p, "app/model.py:5(model)")->calls == 20);
    assert_true(fabs(t_rec(p, "{built-in method builtins.sum}")->time_ns - 31e6) < 1e-3);
    check_conserved(p, 243e6);
    oc_profile_close(p);
}

static struct oc_profile *read_mapped(const char *text, const char *map, struct oc_err *err)
{
    return t_profile_text(text, &(struct oc_profile_opts){.map = map}, err);
}

/* Units: of the field, of the map, of the header. A type column makes rows operators. */
static void maps_columns(void **state)
{
    (void)state;
    struct oc_err err = {0};
    struct oc_profile *p =
        read_mapped("note\nLayer;Kind;Total (us);N;GPU\nconv1;Conv;1,200.5;3;1ms\nTotal;;5 s;;\n",
                    "name=Layer,type=Kind,time=Total,calls=N,kernel=GPU", &err);
    assert_non_null(p);
    assert_int_equal(p->n_rec, 2);
    assert_false(p->functions);
    assert_true(p->rec[0].time_ns == 1200500 && p->rec[0].calls == 3 && p->rec[0].kernel_ns == 1e6);
    assert_string_equal(p->rec[0].op_type, "Conv");
    assert_true(p->rec[1].time_ns == 5e9);
    oc_profile_close(p);
    /* means of calls: each call is a run; 4 * 2.5 ms in total */
    p = read_mapped("a,\"b,c\",n\nf,2.5,4\n", "name=a, mean='b,c':ms, calls=n", &err);
    assert_non_null(p);
    assert_true(p->rec[0].time_ns == 2.5e6 && p->rec[0].total_ns == 10e6 && p->stat == OC_STAT_MEAN);
    assert_true(isnan(p->rec[0].energy_j));
    oc_profile_close(p);
}

/* An energy stands for what the time stands for: all calls, their mean with a statistic of calls, or one call. */
static void energies_are_those_of_the_times(void **state)
{
    (void)state;
    static const struct {
        const char *text, *map;
        double time_ns, energy_j;
    } table[] = {
        {"a,t (ms),E (mJ),n\nf,10,500,4\n", "name=a,type=a,time=t,energy=E,calls=n", 10e6, .5},
        {"a,t,E,n\nf,10ms,2 J,4\n", "name=a,type=a,time=t,energy=E,calls=n,min=t", 2.5e6, .5},
        {"a,t,E,n\nf,10,500,4\n", "name=a,type=a,mean=t:ms,energy=E:uJ,calls=n", 10e6, 500e-6},
        {"a,t,E\nf,10ms,3\xc2\xb5J\n", "name=a,type=a,mean=t,energy='E':kJ", 10e6, 3e-6},
    };
    for (size_t i = 0; i < OC_COUNT(table); i++) {
        struct oc_err err = {0};
        struct oc_profile *p = read_mapped(table[i].text, table[i].map, &err);
        if (!p)
            fail_msg("%zu: %s", i, err.msg);
        assert_int_equal(p->n_rec, 1);
        if (fabs(p->rec[0].time_ns / table[i].time_ns - 1) > 1e-12 ||
            fabs(p->rec[0].energy_j / table[i].energy_j - 1) > 1e-12)
            fail_msg("%zu: %g ns, %g J", i, p->rec[0].time_ns, p->rec[0].energy_j);
        oc_profile_close(p);
    }
    struct oc_err err = {0};
    struct oc_profile *p =
        read_mapped("a,t,E\nf,1,2\ng,1,\nh,1,0\n", "name=a,type=a,time=t:ms,energy=E:J", &err);
    assert_non_null(p);
    assert_true(p->rec[0].energy_j == 2 && isnan(p->rec[1].energy_j) && p->rec[2].energy_j == 0);
    oc_profile_close(p);
}

/* --iterations: the times and energies of a table are sums over so many runs. */
static void iterations_divide(void **state)
{
    (void)state;
    struct oc_err err = {0};
    const char *text = "a,t,E,n\nf,10,500,4\n";
    struct oc_profile *p = t_profile_text(
        text, &(struct oc_profile_opts){.map = "name=a,type=a,time=t:ms,energy=E:J,calls=n", .iterations = 4},
        &err);
    assert_non_null(p);
    assert_true(p->rec[0].time_ns == 2.5e6 && p->rec[0].energy_j == 125 && p->rec[0].calls_per_run == 1);
    assert_true(p->runs_total == 4 && p->runs_from == OC_RUNS_GIVEN && p->stat == OC_STAT_MEAN);
    oc_profile_close(p);
    /* means of calls are of one run: ignored, with a warning */
    p = t_profile_text(text, &(struct oc_profile_opts){.map = "name=a,type=a,mean=t:ms", .iterations = 4},
                       &err);
    assert_non_null(p);
    assert_true(p->rec[0].time_ns == 10e6 && p->runs_from == OC_RUNS_MEAN && p->diags.n == 1);
    oc_profile_close(p);
}

static void errors_name_the_column_or_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *map, *message;
    } bad[] = {
        {"a,b\nf,1\n", "name=a,time=b", "column 'b' has no unit: add it to the map, as in time='b':ms"},
        {"a,b\nf,x\n", "name=a,time=b:s", "line 2: column 'b': 'x' is not a time"},
        {"a,b,e\nf,1,2\n", "name=a,time=b:s,energy=e",
         "column 'e' has no unit: add it to the map, as in energy='e':mJ"},
        {"a,b,e\nf,1,-2\n", "name=a,time=b:s,energy=e:J", "line 2: column 'e': '-2' is not an energy"},
        {"a,b,e\nf,1,2 ms\n", "name=a,time=b:s,energy=e:J", "line 2: column 'e': '2 ms' is not an energy"},
        {"a,b\nf,1\n", "name=a,time=c:s", "no header line with the columns 'a' and 'c'"},
        {"a,b\nf,1\n", "name=a", "needs name=COLUMN and time=COLUMN"},
        {"a,b\nf,1\n", "name=a,nome=b", "'nome=b' is not KEY=COLUMN"},
        {"a,b\nf,1\n", "name=a,name=b", "'name' is given twice; give each key once"},
        {"a,b\nf,1\n", "name=a,time=", "'time' has no column; write time=COLUMN"},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_err err = {0};
        assert_null(read_mapped(bad[i].text, bad[i].map, &err));
        if (!strstr(err.msg, bad[i].message))
            fail_msg("%zu: %s", i, err.msg);
    }
}

static void only_tables_of_functions_are_read_as_such(void **state)
{
    (void)state;
    struct oc_stream *s = oc_stream_mem("a,b\n", 4);
    struct oc_csv *c = oc_csv_open(s);
    struct oc_profile p = {0};
    struct oc_rec_list list = {0};
    struct oc_err err = {0};
    assert_int_equal(oc_functions_read(c, &(struct oc_profile_opts){0}, &p, &list, &err), -1);
    assert_string_equal(err.msg, "no table of functions: name the columns with --map");
    oc_csv_close(c);
    oc_stream_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_vtune),
        cmocka_unit_test(reads_perf_columns),
        cmocka_unit_test(reads_perf_samples),
        cmocka_unit_test(events_other_than_time_have_shares_and_no_times),
        cmocka_unit_test(shares_of_a_group_are_those_of_its_first_event),
        cmocka_unit_test(a_perf_table_without_its_event_is_rejected),
        cmocka_unit_test(second_event_of_perf_is_another_table),
        cmocka_unit_test(functions_that_pstats_does_not_list_have_the_rest_of_the_time),
        cmocka_unit_test(reads_gprof),
        cmocka_unit_test(reads_pstats),
        cmocka_unit_test(maps_columns),
        cmocka_unit_test(energies_are_those_of_the_times),
        cmocka_unit_test(iterations_divide),
        cmocka_unit_test(errors_name_the_column_or_line),
        cmocka_unit_test(only_tables_of_functions_are_read_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
