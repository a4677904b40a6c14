/* The comparison of recordings: hand-made cases, and, where it is there, the vectors of the reference in
 * ../shared/cases/compare3. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "profile/core/run_spread.h"
#include "profile/profile.h"
#include "report/comparison.h"

enum { MOST = 8, MOST_RUNS = 4096 };
#define VECTORS "../shared/cases/compare3/vectors/"

/* Three recordings of one model on each side, milliseconds; the expected figures are those of the reference. */
static const struct oc_recorded calm[] = {{4562200, 0.04437609841827768, 29},
                                          {6388866.666666667, 0.43261763362265876, 29},
                                          {4710933.333333333, 0.05837239028547082, 29}},
                                after[] = {{4556800, 0.02528028138052319, 29},
                                           {4624200, 0.025064822817631807, 29},
                                           {4709866.666666667, 0.026276753549480822, 29}};

static void figures_equal_the_reference(void **state)
{
    struct oc_comparison c;
    (void)state;
    oc_compare_recorded(calm, 1, after, 1, OC_RECORDED_ALTERNATED, &c);
    assert_true(fabs(c.ratio - 0.998816) < 1e-6 && fabs(c.low - 0.924776) < 1e-6);
    assert_true(fabs(c.high - 1.078784) < 1e-6 && fabs(c.smallest - 0.080) < 5e-4);
    assert_int_equal(c.needed, 5);
    assert_int_equal(c.verdict, OC_COMPARED_SAME);
    oc_compare_recorded(calm, 3, after, 3, OC_RECORDED_ALTERNATED, &c);
    assert_true(fabs(c.ratio - 0.897429) < 1e-6 && fabs(c.low - 0.737926) < 1e-6);
    assert_true(fabs(c.high - 1.091408) < 1e-6);
    assert_int_equal(c.needed, 97);
    assert_int_equal(c.disturbed, 1);
    assert_int_equal(c.verdict, OC_COMPARED_SAME); /* three alternated recordings carry a verdict */
    oc_compare_recorded(calm, 3, after, 3, OC_RECORDED_APART, &c);
    assert_int_equal(c.verdict, OC_COMPARED_INCONCLUSIVE);
}

static void doubtful_recordings_carry_no_verdict(void **state)
{
    static const struct oc_recorded fast = {1e6, 0.01, 40}, slow = {2e6, 0.01, 40}, brief = {2e6, 0.01, 9},
                                    noisy = {2e6, 0.09, 40};
    struct oc_comparison c;
    struct oc_arena a = {0};
    (void)state;
    oc_compare_recorded(&fast, 1, &slow, 1, OC_RECORDED_APART, &c);
    assert_int_equal(c.verdict, OC_COMPARED_SLOWER);
    assert_int_equal(oc_compared_within(&c, 0.1), 0);
    assert_int_equal(oc_compared_within(&c, 1.5), 1);
    assert_int_equal(oc_compared_within(&c, 1.0), -1);
    assert_non_null(strstr(oc_compared_text(&c, &a), "slower by 100.0 % ("));
    oc_compare_recorded(&slow, 1, &fast, 1, OC_RECORDED_APART, &c);
    assert_int_equal(c.verdict, OC_COMPARED_FASTER);
    oc_compare_recorded(&fast, 1, &brief, 1, OC_RECORDED_APART, &c);
    assert_int_equal(c.verdict, OC_COMPARED_INCONCLUSIVE);
    assert_int_equal(oc_compared_within(&c, 0.1), -1);
    assert_non_null(strstr(oc_compared_note(&c, &a), "1 of 2 with fewer than 10 runs"));
    oc_compare_recorded(&fast, 1, &noisy, 1, OC_RECORDED_APART, &c);
    assert_int_equal(c.verdict, OC_COMPARED_INCONCLUSIVE);
    assert_non_null(strstr(oc_compared_note(&c, &a), "1 of 2 recordings disturbed"));
    oc_compare_recorded(&fast, 1, NULL, 0, OC_RECORDED_APART, &c);
    assert_true(isnan(c.ratio));
    assert_int_equal(oc_compared_within(&c, 0.1), -1);
    oc_arena_free(&a);
}

/* ---- vectors ---------------------------------------------------------------------------------------- */

/* A list of run times; the first two are warm-up runs. */
static void read_runs(const char *path, struct oc_recorded *out)
{
    static double ns[MOST_RUNS];
    struct oc_run_spread spread;
    FILE *f = fopen(path, "r");
    size_t n = 0;
    assert_non_null(f);
    for (int c; n < MOST_RUNS && (c = getc(f)) != EOF;)
        if (c >= '0' && c <= '9') {
            ungetc(c, f);
            assert_int_equal(fscanf(f, "%lf", &ns[n++]), 1);
        }
    fclose(f);
    assert_true(n > 6);
    oc_run_spread_of(ns + 2, n - 2, &spread);
    *out = (struct oc_recorded){spread.typical_ns, oc_run_spread_share(&spread), spread.n};
}

static void read_side(const char *name, char side, unsigned n, struct oc_recorded *out)
{
    glob_t files;
    char pattern[300];
    snprintf(pattern, sizeof(pattern), VECTORS "%s_*%c.json", name, side);
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= n);
    for (unsigned i = 0; i < n; i++)
        read_runs(files.gl_pathv[i], &out[i]);
    globfree(&files);
}

static void check_vector(FILE *f, const char *head)
{
    static const char *const orders[] = {"interleaved", "minute", "unknown"};
    char name[120], order[40], line[300], needed[40], verdict[40], result[40];
    unsigned n, at = 0;
    double ratio, low, high, smallest;
    struct oc_recorded a[MOST], b[MOST];
    struct oc_comparison c;
    assert_int_equal(sscanf(head, "# %119s k=%u: %*[^,], --order %39s", name, &n, order), 3);
    assert_true(n <= MOST);
    while (at < 2 && strcmp(orders[at], order) != 0)
        at++;
    read_side(name, 'a', n, a);
    read_side(name, 'b', n, b);
    oc_compare_recorded(a, n, b, n, (enum oc_recorded_order)at, &c);
    assert_true(fgets(line, sizeof(line), f) &&
                sscanf(line, "ratio %lf interval %lf %lf", &ratio, &low, &high) == 3);
    if (fabs(c.ratio - ratio) > 1e-6 || fabs(c.low - low) > 1e-6 || fabs(c.high - high) > 1e-6)
        fail_msg("%s: %f %f %f", head, c.ratio, c.low, c.high);
    assert_true(fgets(line, sizeof(line), f) && sscanf(line, "verdict: %39s", verdict) == 1);
    assert_true(strncmp(oc_compared_name(c.verdict), verdict, strcspn(verdict, ",")) == 0);
    assert_true(fgets(line, sizeof(line), f) && sscanf(strchr(line, ':'), ": %lf", &smallest) == 1);
    assert_true(fabs(100 * c.smallest - smallest) < 0.051);
    assert_true(fgets(line, sizeof(line), f) && sscanf(strchr(line, ':'), ": %39s", needed) == 1);
    assert_int_equal(c.needed, atoi(needed));
    assert_true(fgets(line, sizeof(line), f) && sscanf(line, "check: %39s", result) == 1);
    int within = oc_compared_within(&c, 0.05);
    assert_string_equal(within < 0 ? "inconclusive" : within ? "pass" : "fail", result);
}

static void vectors_of_the_reference(void **state)
{
    FILE *f = fopen(VECTORS "expected.txt", "r");
    char line[300];
    unsigned n = 0;
    (void)state;
    if (!f) {
        print_message("%s is not there\n", VECTORS);
        skip();
    }
    while (fgets(line, sizeof(line), f))
        if (*line == '#') {
            check_vector(f, line);
            n++;
        }
    fclose(f);
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_equal_the_reference),
        cmocka_unit_test(doubtful_recordings_carry_no_verdict),
        cmocka_unit_test(vectors_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
