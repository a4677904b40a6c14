/* Folding of repeated work into runs. A generator makes nested repetition (layers in runs, with warm-up,
 * jitter, one odd run, a truncated end) from seeds; the number of runs must be right, or unknown where the
 * generator leaves nothing that distinguishes a run from a layer. */
#include "profile/core/run_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- sequences ---- */

enum { MOST = 1 << 20, GROWN = 1000 /* symbols above: other shapes of the same name */ };

struct made {
    uint32_t *symbol, *name;
    uint8_t *flags;
    double *start_ns, *end_ns, now_ns;
    size_t n;
    uint64_t random;
};

static void begin(struct made *m, uint64_t seed)
{
    *m = (struct made){.symbol = calloc(MOST, sizeof(uint32_t)),
                       .name = calloc(MOST, sizeof(uint32_t)),
                       .flags = calloc(MOST, 1),
                       .start_ns = calloc(MOST, sizeof(double)),
                       .end_ns = calloc(MOST, sizeof(double)),
                       .random = seed * 0x9e3779b97f4a7c15u + 1};
    assert_non_null(m->end_ns);
}

static void end(struct made *m)
{
    free(m->symbol);
    free(m->name);
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

static bool fold(struct made *m, uint32_t iterations, struct oc_fold *out)
{
    for (size_t i = 0; i < m->n; i++)
        m->name[i] = m->symbol[i] % GROWN;
    struct oc_fold_in in = {.symbol = m->symbol,
                            .name = m->name,
                            .flags = m->flags,
                            .start_ns = m->start_ns,
                            .end_ns = m->end_ns,
                            .n = m->n,
                            .iterations = iterations};
    return oc_fold_find(&in, out);
}

/* Letters, capital ones of a backward pass; '|' is a pause, '>' and '<' are copies to and from the device. */
static bool fold_text(const char *pattern, unsigned times, uint32_t iterations, struct oc_fold *out)
{
    struct made m;
    double gap_ns = 10;
    begin(&m, 1);
    for (unsigned k = 0; k < times; k++)
        for (const char *c = pattern; *c; c++) {
            if (*c != '|')
                launch(&m,
                       *c >= 'a'   ? (uint32_t)(*c - 'a' + 2)
                       : *c >= 'A' ? (uint32_t)(*c - 'A' + 28)
                                   : (uint32_t)(*c == '>'),
                       *c == '>'                ? OC_FOLD_TO_DEVICE
                       : *c == '<'              ? OC_FOLD_TO_HOST
                       : *c >= 'A' && *c <= 'Z' ? OC_FOLD_BACKWARD
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

/* Copies of constants inside of the runs: where the file has whole runs only, its first launch starts one. */
static void whole_runs_start_with_the_file(void **state)
{
    (void)state;
    check("abcd><<ef<esbcdmrbcd><euxwbcdmuvwbcd>><<efbcd>><<euxwbcdmuvwbcd>><<efbcd>><<euxwbcduvwbcd>><<eyz",
          3, 3, "medium");
}

/* A layer has no pass of its own; several steps may belong to one update of the weights. */
static void forward_and_backward_passes_are_a_run(void **state)
{
    (void)state;
    check("lrlmMLKRLK", 8, 8, "medium");
    check("dqkvoqkvoOVKQOVKQD", 8, 8, "medium");
    check_unknown("MLKRLK", 8);
    check_unknown("lrlmMLKRLKlrlmMLKRLKlrlmMLKRLKlrlmMLKRLKlrlmMLKRLKxyz", 10);
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

/* A pause in each layer of one run: other work before the first and after the last one, joined to parts of a layer. A
 * recording that starts in a run, or other work with a pause of its own, is a loop of runs. */
static void pauses_inside_one_run_do_not_separate_runs(void **state)
{
    (void)state;
    static const char layers[] = "cdefghijklab|cdefghijklab|cdefghijklab|cdefghijklab|cdefghijklab|";
    char text[256];
    struct oc_fold f;
    snprintf(text, sizeof(text), "xyab|%scdefghijklwz", layers);
    check_unknown(text, 1);
    static const char *const before[] = {"ab|", "xy|", "xy|cdefghijklab|", ""};
    for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
        snprintf(text, sizeof(text), "%s%scdefghijklwz", before[i], layers);
        if (!fold_text(text, 1, 0, &f))
            fail_msg("%s: unknown", text);
        assert_int_equal(f.n_run, 6 + (i == 2));
        assert_string_equal(f.confidence, "high");
        free(f.start);
    }
    snprintf(text, sizeof(text), "xyab|%scdefghijklab", layers);
    assert_true(fold_text(text, 1, 0, &f));
    assert_int_equal(f.n_run, 6);
    free(f.start);
}

/* Pauses of 5000 ns between launches of 1000 to 2000 ns are those of a loop, ones of 10 ms may be anything. */
static void long_pauses_are_weak_evidence(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct made m;
        struct oc_fold f;
        begin(&m, 1);
        for (unsigned run = 0; run < 6; run++)
            for (uint32_t i = 0; i < 6; i++)
                launch(&m, i, 0, i ? 10 : k ? 1e7 : 5000);
        assert_true(fold(&m, 0, &f));
        assert_int_equal(f.n_run, 6);
        assert_string_equal(f.confidence, k ? "medium" : "high");
        free(f.start);
        end(&m);
    }
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

/* ---- generated cases ----
 *
 * A run is a list of sections: kernels, then a loop of equal parts (layers). The part of a loop may hold a
 * loop (heads of a layer, layers of a token). The recording has the runs, and around and in them what
 * recordings have: warm-up with other kernels, jitter, an odd run, a second stream, a truncated end. */

enum { SECTIONS = 4, LOOPS = 3, LONGEST = 48 };

enum shape_of_run { LAYERS, NESTED, DEEP, ENCODER_DECODER, GROWING, TRAINING, FLAT, TINY, SHAPES };
static const char *const shape_name[] = {"layers",  "nested",   "deep", "encoder = decoder",
                                         "growing", "training", "flat", "tiny"};

struct part {                               /* of a loop */
    uint32_t kernel[LONGEST], n, at, times; /* `times` parts of the next loop before kernel `at`; 0: none */
};

struct section {
    uint32_t kernel[LONGEST], n, loop, times;
};

struct model {
    enum shape_of_run shape;
    struct section section[SECTIONS];
    struct part loop[LOOPS];
    uint32_t runs, pause_ns, part_pause_ns, jitter, alphabet, growing, aux, noise, length;
    uint32_t warm_up, odd, tuned;
    bool copies, part_copies, cut, drop;
};

enum { TRANSFER = 500, MEMSET = 520, AUX = 540, TUNING = 560, OTHER = 300, ODD = 350 };

static void choose_kernels(struct made *m, const struct model *x, uint32_t *kernel, uint32_t n, uint32_t from)
{
    for (uint32_t i = 0; i < n; i++)
        kernel[i] = x->alphabet < 100 ? below(m, x->alphabet) : from + below(m, 60);
}

static uint32_t length_of(const struct model *x, uint32_t loop)
{
    const struct part *p = &x->loop[loop];
    return p->n + (p->times ? p->times * length_of(x, loop + 1) : 0);
}

static void choose_sections(struct made *m, struct model *x)
{
    bool nested = x->shape == NESTED || x->shape == DEEP;
    for (uint32_t i = 0; i < LOOPS; i++) {
        struct part *p = &x->loop[i];
        bool last = !nested || i == 1 + (x->shape == DEEP);
        p->n = last && !nested ? 6 + below(m, 40) : 2 + below(m, 12);
        p->at = below(m, p->n);
        p->times = last ? 0 : 3 + below(m, 14);
        choose_kernels(m, x, p->kernel, p->n, 60 * i);
    }
    for (uint32_t i = 0; i < SECTIONS; i++) {
        x->section[i].n = chance(m, 85) ? 1 + below(m, 6) : 0;
        for (uint32_t k = 0; k < 6; k++)
            x->section[i].kernel[k] = x->alphabet < 100 ? below(m, x->alphabet) : 200 + 12 * i + k;
    }
    uint32_t layers = nested ? 3 + below(m, 12) : 3 + below(m, 46);
    x->section[0].times = layers;
    if (x->shape == ENCODER_DECODER) {
        x->section[1].times = layers;
        x->section[1].n += x->section[1].n == 0;
    } else if (x->shape == TRAINING) {
        x->section[1].loop = 1; /* backward, then the optimizer with a few kernels for each parameter */
        x->section[2].loop = 2;
        x->section[1].times = layers;
        x->section[2].times = layers * (1 + below(m, 8));
        x->loop[2].n = 1 + below(m, 4);
    } else if (x->shape == FLAT) {
        x->section[0].times = 1;
    } else if (x->shape == TINY) {
        *x->section = (struct section){.kernel = {7, 8}, .n = 1 + below(m, 2)};
    }
    if (x->shape != TRAINING && x->shape != ENCODER_DECODER)
        x->section[2].n = 0;
    if (x->shape == TINY)
        x->section[1].n = 0;
    else if (nested)
        x->section[0].n += x->section[0].n == 0;
    x->section[3].n = 0;
}

/* Without a pause or copies of its own, a run is one if it has layers and other kernels; if the layers have
 * the same sign, runs cannot be distinguished from layers. */
static bool is_ambiguous(const struct model *x)
{
    uint32_t others = x->section[0].n + x->section[1].n + x->section[2].n;
    bool layers = x->shape != FLAT && x->shape != TINY && (others > 0 || x->shape == TRAINING);
    bool nested = x->shape == NESTED || x->shape == DEEP;
    if (x->shape == TINY || x->part_copies)
        return true;
    if (x->pause_ns > 10)
        return false;
    if (x->part_pause_ns > 10)
        return true;
    return !x->copies && (!layers || nested);
}

/* plain: layers in runs, with jitter, an odd run, warm-up and a truncated end, but nothing else. */
static void choose_model(struct made *m, struct model *x, bool plain)
{
    static const uint32_t jitters[] = {0, 0, 5, 20, 40};
    *x = (struct model){.shape = plain || below(m, 2) ? LAYERS : (enum shape_of_run)below(m, SHAPES),
                        .alphabet = chance(m, 25) ? 8 + below(m, 5) : 400};
    choose_sections(m, x);
    x->copies = chance(m, 30);
    for (uint32_t i = 0; i < SECTIONS; i++)
        x->length += x->section[i].n + x->section[i].times * length_of(x, x->section[i].loop);
    x->runs = chance(m, 50) ? 3 + below(m, 18) : 3 + below(m, 498);
    while (x->runs > 3 && (size_t)x->runs * x->length > MOST / 4)
        x->runs = x->runs / 2 < 3 ? 3 : x->runs / 2;
    x->pause_ns = chance(m, 40) ? 20000 : 10;
    x->part_pause_ns = chance(m, 20) && x->section[0].n + x->section[1].n > 0 ? 60 : 10;
    x->part_copies = x->section[0].n + x->section[1].n > 0 && chance(m, 5);
    x->jitter = jitters[below(m, 5)];
    x->growing = x->shape == GROWING ? 1u << below(m, 6) : 0; /* runs until the shape grows */
    x->aux = !plain && chance(m, 10) ? 1 + x->length / (4 + below(m, 100)) : 0;
    x->noise = !plain && chance(m, 15) ? 1 + below(m, 3) : 0;
    x->odd = chance(m, 40) && x->runs >= 5 ? 1 + below(m, x->runs - 2) : UINT32_MAX;
    x->drop = chance(m, 30);
    x->warm_up = chance(m, 30) ? 1 + below(m, 2) : 0;
    x->tuned = !plain && chance(m, 15);
    x->cut = chance(m, 30);
}

/* State of the run that is written. */
struct writing {
    const struct model *x;
    uint32_t run, jitter; /* one launch of `jitter` differs, 0: none */
    size_t first, stop;   /* launches */
    double gap_ns;
    uint32_t tuning; /* launches of other variants before each kernel */
};

/* A kernel of a run: with jitter another variant, one more, or none. */
static void kernel(struct made *m, struct writing *w, uint32_t symbol, uint8_t flags)
{
    double gap_ns = w->gap_ns;
    if (m->n - w->first >= w->stop)
        return;
    w->gap_ns = 10;
    for (uint32_t k = 0; k < w->tuning; k++)
        launch(m, TUNING + symbol % 7 + k / 3, 0, 10);
    if (w->jitter && !flags && below(m, w->jitter) == 0) {
        uint32_t how = below(m, 3);
        w->jitter = 0;
        if (how == 0)
            return;
        launch(m, OTHER + below(m, 20), 0, gap_ns);
        if (how == 1)
            return;
        gap_ns = 10;
    }
    if (w->x->growing && symbol % 5 == 0)
        symbol += GROWN * (1 + w->run / w->x->growing);
    launch(m, symbol, flags, gap_ns);
}

static void write_part(struct made *m, struct writing *w, uint32_t loop)
{
    const struct part *p = &w->x->loop[loop];
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t k = 0; i == p->at && k < p->times; k++)
            write_part(m, w, loop + 1);
        kernel(m, w, p->kernel[i], 0);
    }
}

static void write_run(struct made *m, struct writing *w)
{
    const struct model *x = w->x;
    uint32_t tuning = w->tuning; /* of the first part: its results serve the others */
    w->gap_ns = x->pause_ns;
    if (x->copies)
        kernel(m, w, TRANSFER, OC_FOLD_TO_DEVICE);
    for (uint32_t s = 0; s < SECTIONS; s++) {
        const struct section *c = &x->section[s];
        for (uint32_t i = 0; i < c->n; i++)
            kernel(m, w, c->kernel[i], 0);
        for (uint32_t k = 0; k < c->times; k++) {
            w->tuning = k ? 0 : tuning;
            w->gap_ns = m->n > w->first ? x->part_pause_ns : w->gap_ns;
            write_part(m, w, c->loop);
            if (x->part_copies)
                kernel(m, w, TRANSFER + 2, OC_FOLD_TO_HOST);
        }
    }
    if (x->copies)
        kernel(m, w, TRANSFER + 1, OC_FOLD_TO_HOST);
}

/* Moves the launches from `at` on by `n`: their times stay in order. */
static void insert(struct made *m, size_t at, uint32_t symbol, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        launch(m, 0, 0, 10);
    memmove(m->symbol + at + n, m->symbol + at, (m->n - n - at) * sizeof(*m->symbol));
    memmove(m->flags + at + n, m->flags + at, m->n - n - at);
    for (uint32_t i = 0; i < n; i++) {
        m->symbol[at + i] = symbol + i % 30;
        m->flags[at + i] = 0;
    }
}

static void remove_some(struct made *m, size_t at, uint32_t n)
{
    size_t rest = m->n - at - n;
    memmove(m->symbol + at, m->symbol + at + n, rest * sizeof(*m->symbol));
    memmove(m->flags + at, m->flags + at + n, rest);
    memmove(m->start_ns + at, m->start_ns + at + n, rest * sizeof(*m->start_ns));
    memmove(m->end_ns + at, m->end_ns + at + n, rest * sizeof(*m->end_ns));
    m->n -= n;
}

/* A run, then what disturbs it: launches of a second stream next to their usual place, memsets anywhere, and
 * in the odd run launches that are more or missing. */
static void make_run(struct made *m, const struct model *x, uint32_t run, size_t stop)
{
    uint32_t jitter = chance(m, x->jitter) ? x->length : 0;
    struct writing w = {.x = x, .run = run, .jitter = jitter, .first = m->n, .stop = stop};
    write_run(m, &w);
    size_t n = m->n - w.first;
    if (n < 4)
        return;
    for (uint32_t i = 0; i < x->aux; i++) {
        size_t at = w.first + 1 + (n - 1) * (i + 1) / (x->aux + 1) + i + below(m, 5);
        insert(m, at < m->n ? at : m->n, AUX + i % 3, 1);
    }
    for (uint32_t i = below(m, x->noise + 1); i > 0; i--)
        insert(m, w.first + 1 + below(m, (uint32_t)n - 1), MEMSET, 1);
    if (run == x->odd) {
        uint32_t some = 1 + below(m, (uint32_t)n / 3), at = 1 + below(m, (uint32_t)n - some);
        if (x->drop)
            remove_some(m, w.first + at, some);
        else
            insert(m, w.first + at, ODD, some);
    }
}

/* Other kernels in more than half of the places. */
static void warm_up(struct made *m, const struct model *x)
{
    for (uint32_t i = 0; i < x->length; i++)
        launch(m, below(m, 3) ? 200 + TUNING + below(m, 60) : x->loop->kernel[i % x->loop->n], 0, 10);
}

static void generate(struct made *m, struct model *x, bool plain)
{
    choose_model(m, x, plain);
    for (uint32_t k = x->warm_up; k > 0; k--)
        warm_up(m, x);
    if (x->tuned && x->shape != TINY) { /* the first run measures variants of each kernel */
        struct writing w = {.x = x, .first = m->n, .stop = SIZE_MAX, .tuning = 3 + below(m, 8)};
        write_run(m, &w);
    }
    for (uint32_t k = 0; k < x->runs; k++)
        make_run(m, x, k, SIZE_MAX);
    if (x->cut) /* the recording stops in a run */
        make_run(m, x, x->runs, 1 + below(m, x->length < 2 ? 1 : x->length * 3 / 4));
}

struct counts {
    unsigned right, unknown, missed, wrong;
};

/* Missed: unknown, but not ambiguous. */
static void count_seed(uint64_t seed, bool plain, struct counts *n)
{
    struct made m;
    struct model x;
    struct oc_fold f;
    begin(&m, seed);
    generate(&m, &x, plain);
    bool found = fold(&m, 0, &f), ambiguous = is_ambiguous(&x);
    bool good = found && (f.n_run == x.runs || f.n_run == x.runs + x.tuned);
    n->right += good;
    n->wrong += found && !good;
    n->unknown += !found && ambiguous;
    n->missed += !found && !ambiguous;
    if ((found && !good) || (!found && !ambiguous))
        print_message("%s seed %u (%s%s): %u of %u runs of %u launches, %u + %u x %u + %u, %zu in all, "
                      "pause %u, of a part %u, copies %d %d, jitter %u, odd %d%s, second stream %u, noise "
                      "%u, alphabet %u, growing %u, warm-up %u %u\n",
                      found ? "WRONG" : "missed", (unsigned)seed, shape_name[x.shape],
                      ambiguous ? ", ambiguous" : "", found ? f.n_run : 0, x.runs, x.length, x.section[0].n,
                      x.section[0].times, length_of(&x, 0), x.section[1].n, m.n, x.pause_ns, x.part_pause_ns,
                      x.copies, x.part_copies, x.jitter, (int)x.odd, x.drop ? " drop" : "", x.aux, x.noise,
                      x.alphabet, x.growing, x.warm_up, x.tuned);
    free(f.start);
    end(&m);
}

/* FOLD_SEEDS=FIRST-LAST: which cases, for a long search (make check-deep). */
static void check_seeds(bool plain, unsigned most_missed_permille)
{
#ifdef __SANITIZE_ADDRESS__
    unsigned first = 1, last = 20;
#else
    unsigned first = 1, last = 60;
#endif
    struct counts n = {0};
    const char *range = getenv("FOLD_SEEDS");
    if (range)
        assert_int_equal(sscanf(range, "%u-%u", &first, &last), 2);
    for (uint64_t seed = first; seed <= last; seed++)
        count_seed(seed, plain, &n);
    print_message("%u right, %u unknown and ambiguous, %u missed, %u wrong\n", n.right, n.unknown, n.missed,
                  n.wrong);
    assert_int_equal(n.wrong, 0);
    assert_true(1000 * n.missed <= most_missed_permille * (last - first + 1));
    assert_true(2 * n.right > last - first && 20 * n.unknown > last - first); /* the generator makes both */
}

static void generated_runs_of_layers_are_right_or_unknown(void **state)
{
    (void)state;
    check_seeds(true, 1); /* none is missed */
}

static void generated_runs_are_right_or_unknown(void **state)
{
    (void)state;
    check_seeds(false, 20); /* too few runs, one of them odd; kernels hidden in other streams */
}

/* Found by longer searches: few runs between warm-up and an odd run, pauses where few kinds of kernels make
 * up all, noise at equal distances, an odd run that ends early, a start that lacks its first kernel. */
static void rare_cases_are_right_or_unknown(void **state)
{
    (void)state;
    static const uint64_t plain[] = {317, 617, 630, 1218, 2300, 2367, 3339, 3478, 5233, 6560},
                          others[] = {10785, 11366, 20015, 20252, 20567};
    struct counts n = {0};
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        count_seed(plain[i], true, &n);
    assert_int_equal(n.right, sizeof(plain) / sizeof(*plain));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        count_seed(others[i], false, &n);
    assert_int_equal(n.wrong + n.missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_with_other_work_are_a_run),
                                       cmocka_unit_test(varied_blocks_are_a_run),
                                       cmocka_unit_test(pauses_and_copies_separate_runs),
                                       cmocka_unit_test(whole_runs_start_with_the_file),
                                       cmocka_unit_test(forward_and_backward_passes_are_a_run),
                                       cmocka_unit_test(what_may_be_a_layer_is_unknown),
                                       cmocka_unit_test(evidence_for_two_levels_is_unknown),
                                       cmocka_unit_test(pauses_inside_one_run_do_not_separate_runs),
                                       cmocka_unit_test(long_pauses_are_weak_evidence),
                                       cmocka_unit_test(given_number_selects_the_level),
                                       cmocka_unit_test(short_sequences_are_accepted),
                                       cmocka_unit_test(generated_runs_of_layers_are_right_or_unknown),
                                       cmocka_unit_test(generated_runs_are_right_or_unknown),
                                       cmocka_unit_test(rare_cases_are_right_or_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
