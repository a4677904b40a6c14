/* Folding of repeated work into runs. A generator makes nested repetition (layers in runs, with warm-up,
 * jitter, one odd run, a truncated end) from seeds; the number of runs must be right, or unknown where the
 * generator leaves nothing that distinguishes a run from a layer. */
#include "profile/run_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- sequences ---- */

enum { MOST = 1 << 20 };

struct made {
    uint32_t *symbol;
    uint8_t *flags;
    double *start_ns, *end_ns, now_ns;
    size_t n;
    uint64_t random;
};

static void begin(struct made *m, uint64_t seed)
{
    *m = (struct made){.symbol = calloc(MOST, sizeof(uint32_t)),
                       .flags = calloc(MOST, 1),
                       .start_ns = calloc(MOST, sizeof(double)),
                       .end_ns = calloc(MOST, sizeof(double)),
                       .random = seed * 0x9e3779b97f4a7c15u + 1};
    assert_non_null(m->end_ns);
}

static void end(struct made *m)
{
    free(m->symbol);
    free(m->flags);
    free(m->start_ns);
    free(m->end_ns);
}

static uint32_t below(struct made *m, uint32_t n) /* xorshift */
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (uint32_t)((m->random >> 20) % n);
}

static bool chance(struct made *m, uint32_t percent)
{
    return below(m, 100) < percent;
}

/* Gaps and durations vary by a factor of up to 2. */
static void launch(struct made *m, uint32_t symbol, uint8_t flags, double gap_ns)
{
    assert_true(m->n < MOST);
    m->now_ns += gap_ns * (1 + 0.01 * below(m, 100));
    m->symbol[m->n] = symbol;
    m->flags[m->n] = flags;
    m->start_ns[m->n] = m->now_ns;
    m->now_ns += 1000 + below(m, 1000);
    m->end_ns[m->n++] = m->now_ns;
}

static bool fold(const struct made *m, uint32_t iterations, struct oc_fold *out)
{
    struct oc_fold_in in = {.symbol = m->symbol,
                            .flags = m->flags,
                            .start_ns = m->start_ns,
                            .end_ns = m->end_ns,
                            .n = m->n,
                            .iterations = iterations};
    return oc_fold_find(&in, out);
}

/* Letters; '|' is a pause, '>' and '<' are copies to and from the device. */
static bool fold_text(const char *pattern, unsigned times, uint32_t iterations, struct oc_fold *out)
{
    struct made m;
    double gap_ns = 10;
    begin(&m, 1);
    for (unsigned k = 0; k < times; k++)
        for (const char *c = pattern; *c; c++) {
            if (*c != '|')
                launch(&m, *c < 'a' ? (uint32_t)(*c == '>') : (uint32_t)(*c - 'a' + 2),
                       *c == '>'   ? OC_FOLD_TO_DEVICE
                       : *c == '<' ? OC_FOLD_TO_HOST
                                   : 0,
                       gap_ns);
            gap_ns = *c == '|' ? 1000 : 10;
        }
    bool found = fold(&m, iterations, out);
    end(&m);
    return found;
}

static void check(const char *pattern, unsigned times, uint32_t runs, const char *confidence)
{
    struct oc_fold f;
    if (!fold_text(pattern, times, 0, &f))
        fail_msg("%s: unknown", pattern);
    if (f.n_run != runs || strcmp(f.confidence, confidence) != 0 || f.start[0] != 0)
        fail_msg("%s: %u runs from %zu, confidence %s", pattern, f.n_run, f.start[0], f.confidence);
    free(f.start);
}

static void check_unknown(const char *pattern, unsigned times)
{
    struct oc_fold f;
    if (fold_text(pattern, times, 0, &f))
        fail_msg("%s: %u runs", pattern, f.n_run);
}

static void layers_with_other_work_are_a_run(void **state)
{
    (void)state;
    check("eqkvoqkvoqkvoqkvoh", 10, 10, "medium");
    check("eqkvoqkvoqkvoqkvohs", 3, 3, "medium");
    check("eqkvoqkvoqkvoqkvoh", 500, 500, "medium");
}

/* Stages of a convolutional network: blocks that differ here and there. */
static void varied_blocks_are_a_run(void **state)
{
    (void)state;
    check("cbrmcbrcbarcbrcbarcbrcbcbarcbrcbarcbrcbcbarcbrcbarpfl", 10, 10, "medium");
    check_unknown("abcdefghijklmnopqrstuvwxyzabdfhjlnprtvxz", 10);
}

static void pauses_and_copies_separate_runs(void **state)
{
    (void)state;
    check("abcdef|", 8, 8, "high");
    check("qkvoqkvoqkvo|", 8, 8, "high"); /* layers only */
    check(">abcdef", 8, 8, "medium");
    check(">abcdef<", 8, 8, "medium");
    check("abcdef<", 8, 8, "medium");
}

static void what_may_be_a_layer_is_unknown(void **state)
{
    (void)state;
    check_unknown("abcdef", 20);
    check_unknown("qkvo", 320);
    check_unknown("a", 100);
    check_unknown("a|", 100);  /* a benchmark of one kernel */
    check_unknown(">a<", 100); /* and of its copies */
    check_unknown("abcdefghijklmnop", 1);
    check_unknown("abcdefghijklmnop", 2);
}

/* Each run has copies, and every tenth work of its own: the tenths may be runs or not. */
static void evidence_for_two_levels_is_unknown(void **state)
{
    (void)state;
    check_unknown(">abcdef>abcdef>abcdef>abcdef>abcdefxyz", 10);
    check_unknown("eqkvoqkvoqkvoqkvoheqkvoqkvoqkvoqkvohx", 10);
}

static void given_number_selects_the_level(void **state)
{
    (void)state;
    struct oc_fold f;
    assert_true(fold_text("abcdef", 20, 20, &f));
    assert_int_equal(f.n_run, 20);
    free(f.start);
    assert_true(fold_text("eqkvoqkvoqkvoqkvoheqkvoqkvoqkvoqkvohx", 10, 10, &f));
    assert_int_equal(f.n_run, 10);
    free(f.start);
    assert_false(fold_text("abcdef", 20, 7, &f));
    assert_null(f.start);
}

static void short_sequences_are_accepted(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 12; n++)
        check_unknown("ab>", n < 3 ? n : 0);
}

/* ---- generated cases ---- */

struct model {
    uint32_t layer[48], before[12], after[12];
    uint32_t n_layer, n_before, n_after, layers, runs, pause_ns, layer_pause_ns, jitter, alphabet;
    bool copies, ambiguous;
};

static void choose_model(struct made *m, struct model *x)
{
    static const uint32_t jitters[] = {0, 0, 5, 20, 40};
    uint32_t small = below(m, 4) == 0; /* few kernels, which layers and the rest share */
    *x = (struct model){.layers = chance(m, 10) ? 1 : 3 + below(m, 46), .n_layer = 6 + below(m, 40)};
    x->runs = chance(m, 50) ? 3 + below(m, 18) : 3 + below(m, 498);
    while ((size_t)x->runs * x->layers * x->n_layer > MOST / 2)
        x->runs = x->runs / 2 < 3 ? 3 : x->runs / 2, x->layers = x->layers > 6 ? x->layers / 2 : x->layers;
    x->n_before = chance(m, 85) ? 1 + below(m, 6) : 0;
    x->n_after = chance(m, 85) ? 1 + below(m, 6) : 0;
    x->pause_ns = chance(m, 40) ? 20000 : 10;
    x->layer_pause_ns = chance(m, 20) && x->n_before + x->n_after > 0 ? 60 : 10;
    x->copies = chance(m, 30);
    x->jitter = jitters[below(m, 5)];
    x->alphabet = small ? 8 + below(m, 5) : 400;
    for (uint32_t i = 0; i < x->n_layer; i++)
        x->layer[i] = below(m, small ? x->alphabet : 100);
    for (uint32_t i = 0; i < 12; i++) {
        x->before[i] = small ? below(m, x->alphabet) : 100 + i;
        x->after[i] = small ? below(m, x->alphabet) : 120 + i;
    }
    bool alone = x->layers < 3 || x->n_before + x->n_after == 0;
    bool pauses = x->layer_pause_ns > 10; /* of layers, none of runs */
    x->ambiguous = x->pause_ns == 10 && ((!x->copies && alone) || pauses);
}

enum { TRANSFER = 500 };

/* A kernel of a run: with jitter another variant, one more, or none. */
static void kernel(struct made *m, uint32_t symbol, double gap_ns, uint32_t *jitter)
{
    if (*jitter && below(m, *jitter) == 0) {
        *jitter = 0;
        uint32_t how = below(m, 3);
        if (how == 0)
            return;
        launch(m, 300 + below(m, 20), 0, gap_ns);
        if (how == 1)
            return;
        gap_ns = 10;
    }
    launch(m, symbol, 0, gap_ns);
}

static void run(struct made *m, const struct model *x, uint32_t jitter, uint32_t stop)
{
    size_t first = m->n;
    double gap_ns = x->pause_ns;
    if (x->copies) {
        launch(m, TRANSFER, OC_FOLD_TO_DEVICE, gap_ns);
        gap_ns = 10;
    }
    for (uint32_t i = 0; i < x->n_before; i++, gap_ns = 10)
        kernel(m, x->before[i], gap_ns, &jitter);
    for (uint32_t l = 0; l < x->layers; l++) {
        gap_ns = l || x->n_before || x->copies ? x->layer_pause_ns : gap_ns;
        for (uint32_t i = 0; i < x->n_layer && m->n - first < stop; i++, gap_ns = 10)
            kernel(m, x->layer[i], gap_ns, &jitter);
    }
    for (uint32_t i = 0; i < x->n_after && m->n - first < stop; i++)
        kernel(m, x->after[i], 10, &jitter);
    if (x->copies && m->n - first < stop)
        launch(m, TRANSFER + 1, OC_FOLD_TO_HOST, 10);
}

/* Other kernels in more than half of the places. */
static void warm_up(struct made *m, const struct model *x)
{
    uint32_t n = x->layers * x->n_layer;
    for (uint32_t i = 0; i < n; i++)
        launch(m, below(m, 3) ? 200 + below(m, 60) : x->layer[i % x->n_layer], 0, 10);
}

static void odd_run(struct made *m, const struct model *x)
{
    uint32_t n = x->layers * x->n_layer, extra = 1 + below(m, n / 3 + 2);
    size_t first = m->n;
    run(m, x, 0, UINT32_MAX);
    size_t at = first + 1 + below(m, (uint32_t)(m->n - first - 1));
    for (uint32_t i = 0; i < extra; i++) /* in the middle: moves the rest back */
        launch(m, 350 + i % 30, 0, 10);
    for (size_t i = m->n - 1; i >= at + extra; i--)
        m->symbol[i] = m->symbol[i - extra], m->flags[i] = m->flags[i - extra];
    for (size_t i = at; i < at + extra; i++)
        m->symbol[i] = 350 + (uint32_t)(i - at) % 30, m->flags[i] = 0;
}

static void generate(struct made *m, struct model *x)
{
    choose_model(m, x);
    uint32_t odd = chance(m, 40) && x->runs >= 5 ? 1 + below(m, x->runs - 2) : UINT32_MAX;
    for (uint32_t k = chance(m, 40) ? 1 + below(m, 2) : 0; k > 0; k--)
        warm_up(m, x);
    for (uint32_t k = 0; k < x->runs; k++) {
        if (k == odd)
            odd_run(m, x);
        else
            run(m, x, chance(m, x->jitter) ? x->layers * x->n_layer : 0, UINT32_MAX);
    }
    if (chance(m, 30)) /* the recording stops in a run */
        run(m, x, 0, 1 + below(m, x->layers * x->n_layer * 3 / 4));
}

static void generated_runs_are_right_or_unknown(void **state)
{
    (void)state;
    unsigned right = 0, unknown = 0, wrong = 0, missed = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct made m;
        struct model x;
        struct oc_fold f;
        begin(&m, seed);
        generate(&m, &x);
        bool found = fold(&m, 0, &f);
        bool good = found && f.n_run == x.runs;
        right += good;
        wrong += found && !good;
        unknown += !found && x.ambiguous;
        missed += !found && !x.ambiguous;
        if ((found && !good) || (!found && !x.ambiguous))
            print_message("seed %u: %u of %u runs; %u + %u x %u + %u launches, %zu in all, pause %u, layer "
                          "pause %u, copies %d, "
                          "jitter %u, alphabet %u\n",
                          (unsigned)seed, found ? f.n_run : 0, x.runs, x.n_before, x.layers, x.n_layer,
                          x.n_after, m.n, x.pause_ns, x.layer_pause_ns, x.copies, x.jitter, x.alphabet);
        free(f.start);
        end(&m);
    }
    print_message("%u right, %u unknown and ambiguous, %u missed, %u wrong\n", right, unknown, missed, wrong);
    assert_int_equal(wrong, 0);
    assert_int_equal(missed, 0);
    assert_true(right > 150 && unknown > 5); /* the generator makes both */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_with_other_work_are_a_run),
                                       cmocka_unit_test(varied_blocks_are_a_run),
                                       cmocka_unit_test(pauses_and_copies_separate_runs),
                                       cmocka_unit_test(what_may_be_a_layer_is_unknown),
                                       cmocka_unit_test(evidence_for_two_levels_is_unknown),
                                       cmocka_unit_test(given_number_selects_the_level),
                                       cmocka_unit_test(short_sequences_are_accepted),
                                       cmocka_unit_test(generated_runs_are_right_or_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
