/* Conservation of time: for every sample that an importer accepts, whole and truncated, the records contain
 * the time that was read, to the nanosecond. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ftw.h>
#include <unistd.h>
#include <cmocka.h>

#include "profile/profile.h"
#include "profile/time_summary.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static size_t n_read, n_whole;

/* ---- one profile ---- */

/* Layer information or counters without times have nothing to sum. */
static bool sums_are_missing(const struct oc_profile *p)
{
    bool timed = false;
    for (uint32_t i = 0; i < p->n_rec; i++)
        timed |= !isnan(p->rec[i].time_ns) || !isnan(p->rec[i].kernel_ns);
    return timed && isnan(p->imported_ns) && isnan(p->imported_kernel_ns);
}

static void assert_conserved(const struct oc_profile *p, const char *what)
{
    for (int device = 0; device < 2; device++) {
        struct oc_conserved c;
        oc_profile_conserved(p, device != 0, &c);
        if (isnan(device ? p->imported_kernel_ns : p->imported_ns))
            continue;
        if (!(fabs(c.lost_ns) < 1))
            fail_msg("%s: %s: %.3f ns read, %.3f ns lost", what, device ? "device" : "host", c.imported_ns,
                     c.lost_ns);
        n_read++;
    }
    if (t_finding(p, "E-conservation"))
        fail_msg("%s: %s", what, t_finding(p, "E-conservation"));
}

/* No operator outside its run, no device busy for longer than the runs, and no run time where the number of
 * runs is not known. */
static void assert_runs(const struct oc_profile *p, const char *what)
{
    if (t_finding(p, "E-runs"))
        fail_msg("%s: %s", what, t_finding(p, "E-runs"));
    if (!p->timeline)
        return;
    struct oc_time_summary *s = oc_time_summary_make(p, NULL);
    for (uint32_t i = 0; i < s->n_lane; i++)
        if (s->lane[i].device && s->lane[i].busy_ns > s->total_ns * (1 + 1e-9) + 1)
            fail_msg("%s: device busy for %.0f of %.0f ns", what, s->lane[i].busy_ns, s->total_ns);
    if (p->runs_total && s->run.n && s->run.n > p->runs_total)
        fail_msg("%s: the summary has %u runs, the report %u", what, s->run.n, p->runs_total);
    oc_time_summary_free(s);
}

static void check(const char *path, const char *what, bool whole)
{
    static const struct oc_profile_opts variant[] = {
        {0},
        {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_MEAN},
        {.warmup = 2, .stat = OC_STAT_SUM},
        {.warmup = 1, .stat = OC_STAT_MAX, .keep_events = true},
    };
    for (size_t i = 0; i < OC_COUNT(variant); i++) {
        struct oc_profile *p;
        struct oc_err e;
        if (oc_profile_open(path, &variant[i], &p, &e) != 0) {
            if (whole)
                print_message("%s\n", e.msg);
            return;
        }
        assert_conserved(p, what);
        assert_runs(p, what);
        if (whole && sums_are_missing(p))
            fail_msg("%s: times were not summed while reading (%s)", what, p->format);
        n_whole += whole && i == 0;
        oc_profile_close(p);
    }
}

/* ---- every file ---- */

/* The first part of the file, under its own name: the end of the name may determine the format. */
static void check_truncated(const char *path, unsigned percent)
{
    char dir[] = "/tmp/onnxcost-cut-XXXXXX", cut[400], what[400];
    struct oc_file f;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(oc_file_map(path, 0, &f, NULL), 0);
    snprintf(cut, sizeof(cut), "%s/%s", dir, strrchr(path, '/') + 1);
    snprintf(what, sizeof(what), "%u %% of %s", percent, path);
    FILE *out = fopen(cut, "wb");
    assert_non_null(out);
    fwrite(f.data, 1, f.size_bytes / 100 * percent, out);
    fclose(out);
    check(cut, what, false);
    oc_file_unmap(&f);
    unlink(cut);
    rmdir(dir);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    static const unsigned percent[] = {37, 98};
    struct oc_probed how;
    (void)ftw;
    if (type != FTW_F || st->st_size == 0 || oc_profile_probe(path, NULL, &how, NULL) != 0)
        return 0;
    check(path, path, true);
    for (size_t i = 0; i < OC_COUNT(percent); i++)
        check_truncated(path, percent[i]);
    return 0;
}

static void every_sample_conserves_time(void **state)
{
    (void)state;
    if (!t_sample("onnxruntime/ppocr_cls.onnx"))
        skip();
    n_read = n_whole = 0;
    assert_int_equal(nftw("../shared/samples", visit, 16, FTW_PHYS), 0);
    print_message("%zu samples, %zu sums compared\n", n_whole, n_read);
    assert_true(n_whole >= 75 && n_read > 75 * 8);
}

static int visit_whole(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    struct oc_probed how;
    (void)ftw;
    if (type == FTW_F && st->st_size && oc_profile_probe(path, NULL, &how, NULL) == 0)
        check(path, path, true);
    return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Profiles made by other people. */
static void every_wild_profile_conserves_time(void **state)
{
    (void)state;
    static const char archive[] = "../shared/cases/wild/wild.tar.gz";
    char dir[] = "/tmp/onnxcost-wild-XXXXXX", command[200];
    if (access(archive, R_OK) != 0) {
        print_message("SKIPPED: no '%s'\n", archive);
        skip();
    }
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof(command), "tar -xzf %s -C %s", archive, dir);
    assert_int_equal(system(command), 0);
    n_read = n_whole = 0;
    assert_int_equal(nftw(dir, visit_whole, 16, FTW_PHYS), 0);
    nftw(dir, remove_entry, 16, FTW_PHYS | FTW_DEPTH);
    print_message("%zu profiles, %zu sums compared\n", n_whole, n_read);
    assert_true(n_whole >= 60);
}

static void every_recorded_zoo_profile_conserves_time(void **state)
{
    (void)state;
    n_read = n_whole = 0;
    assert_int_equal(nftw("models/profiles", visit, 16, FTW_PHYS), 0);
    assert_true(n_whole >= 12);
}

/* ---- computed by hand ---- */

#define EVENT(cat, name, ts, dur, args)                                                                      \
    "{\"cat\" : \"" cat "\",\"pid\" :1,\"tid\" :1,\"dur\" :" #dur ",\"ts\" :" #ts                            \
    ",\"ph\" : \"X\",\"name\" :\"" name "\",\"args\" : {" args "}},\n"
#define NODE(name, ts, dur) EVENT("Node", name "_kernel_time", ts, dur, "\"op_name\" : \"Relu\"")

/* Load 40; run 1 of 100 with nodes of 30 and 20; run 2 of 90 with nodes of 25 and 15, the second with 5
 * inside it; 7 after the last run: the total is 40 + 100 + 90 + 7 = 237 us, whatever runs are dropped. */
static void time_of_a_small_trace_is_conserved(void **state)
{
    (void)state;
    static const char text[] =
        "[\n" EVENT("Session", "session_initialization", 0, 40, "") EVENT("Session", "model_run", 50, 100, "")
            NODE("a", 60, 30) NODE("b", 95, 20) EVENT("Session", "model_run", 200, 90, "") NODE("a", 205, 25)
                EVENT("Node", "if_kernel_time", 240, 15, "\"op_name\" : \"If\"") NODE("b", 242, 5)
                    NODE("c", 300, 7) "]";
    for (int32_t warmup = 0; warmup < 2; warmup++) {
        struct oc_err e;
        struct oc_profile_opts opts = {.warmup = t_warmup(warmup)};
        struct oc_profile *p = t_profile_text(text, &opts, &e);
        struct oc_conserved c;
        assert_non_null(p);
        oc_profile_conserved(p, false, &c);
        assert_true(c.imported_ns == 237e3 && c.lost_ns == 0);
        /* a, b, if without b: 25 + 5 + 10, and 30 + 20 in the first run */
        assert_true(c.operators_ns == (warmup ? 40e3 : 90e3));
        assert_true(t_rec(p, "a")->total_ns == (warmup ? 25e3 : 55e3));
        assert_true(t_rec(p, "if")->total_ns == 10e3);
        assert_true(isnan(p->imported_kernel_ns));
        oc_profile_close(p);
    }
}

/* A record with less time than was read is reported. */
static void lost_time_is_reported(void **state)
{
    (void)state;
    struct oc_prof_rec rec[2] = {{.total_ns = 100, .total_kernel_ns = NAN},
                                 {.bucket = "load", .total_ns = 20.25, .total_kernel_ns = 3}};
    struct oc_profile p = {.rec = rec, .n_rec = 2, .imported_ns = 121.5, .imported_kernel_ns = NAN};
    struct oc_conserved c;
    oc_profile_conserved(&p, false, &c);
    assert_true(c.operators_ns == 100 && c.buckets_ns == 20.25 && c.lost_ns == 1.25);
    assert_true(oc_time_is_lost(c.lost_ns, c.imported_ns));
    assert_false(oc_time_is_lost(0.99, 1e6));
    assert_false(oc_time_is_lost(NAN, NAN));
    oc_profile_conserved(&p, true, &c);
    assert_true(isnan(c.lost_ns) && c.buckets_ns == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_conserves_time),
        cmocka_unit_test(every_wild_profile_conserves_time),
        cmocka_unit_test(every_recorded_zoo_profile_conserves_time),
        cmocka_unit_test(time_of_a_small_trace_is_conserved),
        cmocka_unit_test(lost_time_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
