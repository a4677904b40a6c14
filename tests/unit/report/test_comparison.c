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
static const struct oc_recorded
    calm[] = {{4562200, 0.04437609841827768, 29, 0, false, 0, 0, 0, NULL, 0, false},
              {6388866.666666667, 0.43261763362265876, 29, 0, false, 0, 0, 0, NULL, 0, false},
              {4710933.333333333, 0.05837239028547082, 29, 0, false, 0, 0, 0, NULL, 0, false}},
    after[] = {{4556800, 0.02528028138052319, 29, 0, false, 0, 0, 0, NULL, 0, false},
               {4624200, 0.025064822817631807, 29, 0, false, 0, 0, 0, NULL, 0, false},
               {4709866.666666667, 0.026276753549480822, 29, 0, false, 0, 0, 0, NULL, 0, false}};

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
    static const struct oc_recorded fast = {1e6, 0.01, 40, 0, false, 0, 0, 0, NULL, 0, false},
                                    slow = {2e6, 0.01, 40, 0, false, 0, 0, 0, NULL, 0, false},
                                    brief = {2e6, 0.01, 9, 0, false, 0, 0, 0, NULL, 0, false},
                                    noisy = {2e6, 0.09, 40, 0, false, 0, 0, 0, NULL, 0, false};
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

/* Starts in seconds; 0: not known. */
static enum oc_recorded_order order_of(const char *sides, const double *start)
{
    struct oc_recorded side[2][MOST];
    size_t n[2] = {0, 0};
    for (size_t i = 0; sides[i]; i++) {
        unsigned s = sides[i] == 'B';
        side[s][n[s]++] = (struct oc_recorded){1e6, 0.01, 40, .started_s = start[i]};
    }
    return oc_recorded_order(side[0], n[0], side[1], n[1]);
}

static void order_in_time_follows_from_the_starts(void **state)
{
    static const double slow[] = {1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700}, unknown[] = {1000, 0},
                        near[] = {1000, 1005}, minute[] = {1000, 1006}, apart[] = {1000, 1061},
                        quick[] = {1000, 1010, 1020, 1060};
    (void)state;
    assert_int_equal(order_of("ABBABAAB", slow), OC_RECORDED_ALTERNATED);
    assert_int_equal(order_of("BAAB", slow), OC_RECORDED_ALTERNATED);
    assert_int_equal(order_of("ABBAAB", slow), OC_RECORDED_ALTERNATED);
    assert_int_equal(order_of("ABABAB", slow), OC_RECORDED_APART); /* A is always the first */
    assert_int_equal(order_of("AABB", slow), OC_RECORDED_APART);
    assert_int_equal(order_of("ABBAB", slow), OC_RECORDED_APART);
    assert_int_equal(order_of("AABB", quick), OC_RECORDED_MINUTE);
    assert_int_equal(order_of("AB", near), OC_RECORDED_ALTERNATED);
    assert_int_equal(order_of("AB", minute), OC_RECORDED_MINUTE);
    assert_int_equal(order_of("AB", apart), OC_RECORDED_APART);
    assert_int_equal(order_of("AB", unknown), OC_RECORDED_APART);
    assert_string_equal(oc_recorded_order_name(OC_RECORDED_ALTERNATED), "alternated");
}

/* Five recordings each. Expected ratios and verdicts: section 5 of the method by hand, with p values of 4e-18, 7e-5,
 * 0.88 and, where the runs of the row vary more, 0.31. */
static void rows_have_verdicts_at_a_false_discovery_rate(void **state)
{
    static const double a[] = {100, 101, 99, 100, 100}, half[] = {50, 51, 49, 50, 50},
                        more[] = {104, 105, 103, 104, 104}, same[] = {100, 100, 101, 100, 99.5},
                        none[] = {100, 100, 0, 100, 100};
    struct oc_recorded side[5];
    struct oc_comparison c;
    struct oc_arena arena = {0};
    struct oc_compared_row row[] = {{.ns = {a, half}},
                                    {.ns = {a, more}},
                                    {.ns = {a, same}},
                                    {.ns = {a, none}},
                                    {.ns = {a, more}, .variance = 0.01}};
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        side[i] = (struct oc_recorded){1e6, 0.01, 40, 0, false, 0, 0, 0, NULL, 0, false};
    oc_compare_recorded(side, 5, side, 5, OC_RECORDED_ALTERNATED, &c);
    oc_compare_rows(&c, row, 5);
    assert_true(fabs(row[0].ratio - 0.5) < 1e-3 && fabs(row[1].ratio - 1.04) < 1e-3);
    assert_int_equal(row[0].verdict, OC_COMPARED_FASTER);
    assert_int_equal(row[1].verdict, OC_COMPARED_SLOWER);
    assert_int_equal(row[2].verdict, OC_COMPARED_SAME);
    assert_true(isnan(row[3].ratio));
    assert_int_equal(row[3].verdict, OC_COMPARED_INCONCLUSIVE);
    assert_int_equal(row[4].verdict, OC_COMPARED_SAME); /* its runs vary more than that */
    assert_string_equal(oc_compared_row_text(row[0].ratio, row[0].verdict, &arena), "faster by 50.0 %");
    assert_string_equal(oc_compared_row_text(row[2].ratio, row[2].verdict, &arena), "no difference shown");
    assert_string_equal(oc_compared_row_text(NAN, row[3].verdict, &arena), "");
    oc_arena_free(&arena);
}

static void load_of_others_disturbs_a_recording(void **state)
{
    struct oc_recorded side[2] = {{1e6, 0.01, 40, .started_s = 5, .loaded = true},
                                  {2e6, 0.01, 40, .started_s = 6}};
    struct oc_comparison c;
    struct oc_arena a = {0};
    (void)state;
    oc_compare_recorded(&side[0], 1, &side[1], 1, OC_RECORDED_ALTERNATED, &c);
    assert_int_equal(c.verdict, OC_COMPARED_INCONCLUSIVE);
    assert_non_null(strstr(
        oc_compared_note(&c, &a),
        "1 of 2 recordings disturbed (spread above 8 %; 1 by other processes or machines); alternated"));
    oc_arena_free(&a);
}

/* The fastest probe of all recordings shows which ones did not have the vector units to themselves. */
static void slowed_vector_units_disturb_a_recording(void **state)
{
    struct oc_recorded side[2] = {{1e6, 0.01, 40, .started_s = 5, .probe_ns = 1.02, .probe_fastest_ns = 1},
                                  {2e6, 0.01, 40, .started_s = 6, .probe_ns = 1.15, .probe_fastest_ns = 1.1}};
    struct oc_comparison c;
    (void)state;
    oc_compare_recorded(&side[0], 1, &side[1], 1, OC_RECORDED_ALTERNATED, &c);
    assert_int_equal(c.loaded, 1);
    assert_int_equal(c.verdict, OC_COMPARED_INCONCLUSIVE);
    side[1].probe_ns = 1.09;
    oc_compare_recorded(&side[0], 1, &side[1], 1, OC_RECORDED_ALTERNATED, &c);
    assert_int_equal(c.loaded, 0);
    assert_int_equal(c.verdict, OC_COMPARED_SLOWER);
    side[0].probe_ns = side[0].probe_fastest_ns = 0; /* not known there */
    side[1].probe_ns = 1.3;
    oc_compare_recorded(&side[0], 1, &side[1], 1, OC_RECORDED_ALTERNATED, &c);
    assert_int_equal(c.loaded, 1);
}

/* n recordings of each side that took turns; B is slower by the factors exp(change). */
static void make_turns(const double *change, unsigned n, struct oc_recorded *a, struct oc_recorded *b)
{
    static const double drift[] = {1, 1.7, 0.8, 1.3, 2.1}; /* of the machine between the rounds */
    for (unsigned i = 0; i < n; i++) {
        a[i] = (struct oc_recorded){1e6 * drift[i], 0.01, 40, .started_s = 5 + i, .turns_id = 7 + i};
        b[i] = a[i];
        b[i].latency_ns *= exp(change[i]);
    }
}

/* By hand: mean 0.02, sum of squares 0.0002, prior 2 (0.015^2 + (0.35 * 0.01)^2) = 0.0004745 with 4 degrees of freedom: variance
 * (4 * 0.0004745 + 0.0002) / 8 = 0.00026225, standard error 0.0072422, t(8) = 2.306004, half of the interval 0.0167005. */
static void recordings_in_turns_are_compared_in_pairs(void **state)
{
    static const double change[] = {0.01, 0.02, 0.03, 0.02, 0.02};
    struct oc_recorded a[5], b[5];
    struct oc_comparison c;
    struct oc_arena arena = {0};
    (void)state;
    make_turns(change, 5, a, b);
    assert_int_equal(oc_recorded_order(a, 5, b, 5), OC_RECORDED_TURNS);
    oc_compare_recorded(a, 5, b, 5, OC_RECORDED_TURNS, &c);
    assert_true(fabs(log(c.ratio) - 0.02) < 1e-9);
    assert_true(fabs(log(c.low) - (0.02 - 0.0167005)) < 1e-6 &&
                fabs(log(c.high) - (0.02 + 0.0167005)) < 1e-6);
    assert_int_equal(c.verdict, OC_COMPARED_SLOWER);
    assert_non_null(strstr(oc_compared_note(&c, &arena), "5 and 5 recordings, recorded in turns; "));
    /* k = 2 is the first with t(3 + k) * sqrt(0.00026225 / k) <= ln 1.03 = 0.02956: 2.571 * 0.01145 = 0.02944 */
    assert_int_equal(c.needed, 2);
    oc_compare_recorded(a, 5, b, 5, OC_RECORDED_ALTERNATED, &c); /* the drift hides it */
    assert_int_equal(c.verdict, OC_COMPARED_SAME);
    oc_arena_free(&arena);
}

/* Eight turns; the central half of their differences is 0.04 wide: variance 0.01^2 + 0.04^2 / 8 = 0.0003, t(4) = 2.776445. */
static void differences_between_turns_widen_the_interval(void **state)
{
    static const double change[] = {0.1}, quiet[] = {100, 100, 100, 100, 100, 100, 100, 100};
    double ns[8];
    struct oc_recorded a[1], b[1];
    struct oc_comparison c;
    (void)state;
    for (unsigned i = 0; i < 8; i++)
        ns[i] = 100 * exp(i % 2 ? 0.12 : 0.08);
    make_turns(change, 1, a, b);
    a[0].turn_ns = quiet;
    b[0].turn_ns = ns;
    a[0].n_turn = b[0].n_turn = 8;
    oc_compare_recorded(a, 1, b, 1, OC_RECORDED_TURNS, &c);
    assert_true(fabs(log(c.low) - (0.1 - 2.776445 * sqrt(0.0003))) < 1e-6);
    assert_int_equal(c.verdict, OC_COMPARED_SLOWER);
    a[0].n_turn = 7; /* too few: 2 (0.015^2 + (0.35 * 0.01)^2) */
    oc_compare_recorded(a, 1, b, 1, OC_RECORDED_TURNS, &c);
    assert_true(fabs(log(c.low) - (0.1 - 2.776445 * sqrt(0.0004745))) < 1e-6);
}

static void what_disturbs_a_turn_disturbs_both(void **state)
{
    static const double change[] = {0.5};
    struct oc_recorded a[1], b[1];
    struct oc_comparison c;
    (void)state;
    make_turns(change, 1, a, b);
    a[0].loaded = b[0].loaded = true;
    a[0].spread = 0.1;
    oc_compare_recorded(a, 1, b, 1, OC_RECORDED_TURNS, &c);
    assert_int_equal(c.verdict, OC_COMPARED_SLOWER);
    assert_int_equal(c.disturbed, 2);
    a[0].runs = 9; /* too short all the same */
    oc_compare_recorded(a, 1, b, 1, OC_RECORDED_TURNS, &c);
    assert_int_equal(c.verdict, OC_COMPARED_INCONCLUSIVE);
}

static void only_pairs_of_one_round_took_turns(void **state)
{
    static const double change[] = {0, 0, 0};
    struct oc_recorded a[3], b[3];
    (void)state;
    make_turns(change, 3, a, b);
    assert_int_equal(oc_recorded_order(a, 2, b, 3), OC_RECORDED_MINUTE);
    assert_int_equal(oc_recorded_order(a, 2, b + 1, 2), OC_RECORDED_MINUTE);
    b[2].turns_id = 0;
    assert_int_equal(oc_recorded_order(a, 3, b, 3), OC_RECORDED_MINUTE);
    for (unsigned i = 0; i < 2; i++) { /* sessions are created in sequence */
        a[i] = oc_recorded_once(1e6, 5, 7 + i, false);
        b[i] = oc_recorded_once(1e6, 5, 7 + i, false);
    }
    assert_int_equal(oc_recorded_order(a, 2, b, 2), OC_RECORDED_ALTERNATED);
}

/* Two and two: change 0.2, sum of squares 2 * 0.0002; alone 2 degrees of freedom: variance 0.0002, standard error
 * sqrt(0.0002), t(2) = 4.302653. */
static void the_prior_is_not_for_what_a_process_does_once(void **state)
{
    struct oc_recorded a[2], b[2];
    struct oc_comparison c;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        a[i] = oc_recorded_once(1e6 * exp(i ? 0.01 : -0.01), 5, 7 + i, false);
        b[i] = oc_recorded_once(1e6 * exp(i ? 0.21 : 0.19), 5, 7 + i, false);
    }
    oc_compare_recorded(a, 2, b, 2, OC_RECORDED_ALTERNATED, &c);
    assert_true(fabs(log(c.low) - (0.2 - 4.302653 * sqrt(0.0002))) < 1e-6);
    /* k = 3: t(4) sqrt(2 * 0.0002 / 3) = 2.776 * 0.01155 = 0.032 > ln 1.03 = 0.0296; k = 4: t(6) * 0.01 = 0.0245 */
    assert_int_equal(c.needed, 4);
}

/* Rows of pairs have twice the variance of a row: once for each recording. */
static void rows_in_turns_are_compared_in_pairs(void **state)
{
    static const double change[] = {0, 0, 0, 0, 0}, earlier[] = {100, 170, 80, 130, 210},
                        later[] = {103, 175.1, 82.4, 133.9, 216.3};
    struct oc_recorded a[5], b[5];
    struct oc_comparison c;
    struct oc_compared_row row[] = {{.ns = {earlier, later}}, {.ns = {earlier, later}, .variance = 0.01}};
    (void)state;
    make_turns(change, 5, a, b);
    oc_compare_recorded(a, 5, b, 5, OC_RECORDED_TURNS, &c);
    oc_compare_rows(&c, row, 2);
    assert_true(fabs(row[0].ratio - 1.03) < 1e-6);
    assert_int_equal(row[0].verdict, OC_COMPARED_SLOWER);
    assert_int_equal(row[1].verdict, OC_COMPARED_SAME);
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
    *out = (struct oc_recorded){
        spread.typical_ns, oc_run_spread_share(&spread), spread.n, 0, false, 0, 0, 0, NULL, 0, false};
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
        cmocka_unit_test(order_in_time_follows_from_the_starts),
        cmocka_unit_test(rows_have_verdicts_at_a_false_discovery_rate),
        cmocka_unit_test(load_of_others_disturbs_a_recording),
        cmocka_unit_test(slowed_vector_units_disturb_a_recording),
        cmocka_unit_test(recordings_in_turns_are_compared_in_pairs),
        cmocka_unit_test(differences_between_turns_widen_the_interval),
        cmocka_unit_test(what_disturbs_a_turn_disturbs_both),
        cmocka_unit_test(only_pairs_of_one_round_took_turns),
        cmocka_unit_test(the_prior_is_not_for_what_a_process_does_once),
        cmocka_unit_test(rows_in_turns_are_compared_in_pairs),
        cmocka_unit_test(vectors_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
