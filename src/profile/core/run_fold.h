/* Folds the launches of a loop into runs: finds how often, and where, the same work repeats in a sequence of
 * kernels and copies (or of operators).
 *
 * Period search by n-gram anchors. Layers repeat inside a run, so that the shortest period is not a run. An
 * n-gram that recurs at regular distances is an anchor of a level, and so are pauses (run_levels.c); levels
 * nest, and the run is the highest one (run_fold.c). It is accepted only with evidence: a pause before each
 * run that is longer than all others, copies to or from the host, replay of a graph, a forward and a backward
 * pass, or repeated layers together with other launches. Without evidence, with evidence for two levels, if
 * levels contradict each other, if the first and the last repetition are joined to other work (layers of one
 * run), if the same additional work follows every few runs, or if launches outside would make more runs, the
 * runs are unknown. The search is made by names and shapes and by names alone, since shapes may grow from run
 * to run: the longer period counts. O(n log n) time for n launches. */
#ifndef OC_RUN_FOLD_H
#define OC_RUN_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum oc_fold_flag {
    OC_FOLD_TO_DEVICE = 1, /* a copy from the host */
    OC_FOLD_TO_HOST = 2,
    OC_FOLD_GRAPH = 4,   /* one launch that replays a recorded graph */
    OC_FOLD_BACKWARD = 8 /* an operator of a backward pass */
};

/* Launches of one queue in the order of their start. */
struct oc_fold_in {
    const uint32_t *symbol; /* equal for equal work, numbered from 0: names and launch shapes */
    const uint32_t
        *name; /* the same without shapes, for work whose shapes vary from run to run; NULL: none */
    const uint8_t *flags; /* enum oc_fold_flag; NULL: none */
    const double *start_ns, *end_ns;
    size_t n;
    uint32_t iterations; /* number of runs as given by the user; 0: unknown */
};

struct oc_fold {
    uint32_t n_run;
    size_t *start;          /* heap, n_run + 1: run k has the launches [start[k], start[k + 1]) */
    size_t cut;             /* launches from start[n_run] up to here are a truncated run */
    size_t length;          /* launches of the typical run */
    uint32_t layers;        /* equal parts of the typical run, 0: none */
    uint32_t uneven;        /* runs whose launches differ by more than 15 % from the typical ones */
    const char *confidence; /* "high": a pause or the user marks the runs; "medium" */
    const char *evidence;   /* "pauses between them" ... */
};

/* False: the runs are unknown. The caller frees out->start. */
bool oc_fold_find(const struct oc_fold_in *in, struct oc_fold *out);

/* ---- private to run_fold.c, run_levels.c and run_spread.c -------------------------------------------- */

/* Occurrences of an n-gram that is an anchor. */
struct oc_fold_level {
    size_t *at; /* heap, ascending */
    size_t n;
    size_t spacing; /* median distance */
    size_t regular; /* number of distances within the tolerance of the median */
    size_t support; /* number of n-grams at that distance */
};

/* The levels with the shortest spacing first: each has a constant number of occurrences of the level before;
 * the last may be one of pauses. `gap`: before each launch, in ns. Returns their number, at most `max`. */
size_t oc_fold_levels(const struct oc_fold_in *in, const double *gap, struct oc_fold_level *out, size_t max);

static inline bool oc_fold_regular(size_t distance, size_t spacing)
{
    size_t slack = spacing / 8 + 1;
    return distance + slack >= spacing && distance <= spacing + slack;
}

/* How much the launches of two ranges differ, by their number of each symbol: 0 equal, 1 disjoint. `count`
 * has a zero for each symbol, before and after. */
double oc_fold_difference(const struct oc_fold_in *in, size_t a, size_t a_end, size_t b, size_t b_end,
                          int32_t *count);
int32_t *oc_fold_counts(const struct oc_fold_in *in); /* heap, zeros */

struct oc_folding {
    const struct oc_fold_in *in; /* at most MAX_LOOK launches */
    const struct oc_fold_in *all;
    double *gap;     /* before each launch */
    double pause_ns; /* such gaps separate the runs; 0: none do */
    int32_t *count;
};

struct oc_fold_content {
    size_t from, to; /* a typical segment */
    bool transfer, to_device, graph;
    bool training; /* a forward and a backward pass */
    bool blocks;   /* varied ones */
    size_t distinct;
    uint32_t layers; /* 0: fewer than MIN_LAYERS */
    size_t inner_from, inner_to;
};

/* Describes the segment of the level that is most like the next one. `lag`: a length of layers to try, 0:
 * none. */
void oc_fold_look_inside(const struct oc_folding *f, const struct oc_fold_level *l, size_t lag,
                         struct oc_fold_content *c);

/* How many launches after `at` (back: before it) continue the typical segment from `phase`, again and again;
 * a few more or fewer, followed by equal ones, do not matter. *to_end: up to the first or last launch. */
size_t oc_fold_reach(const struct oc_fold_in *in, size_t at, const struct oc_fold_content *c, size_t phase,
                     bool back, bool *to_end);

/* Whether additional work follows every few runs: then those are parts of a longer run. One kind shows it if
 * it recurs often at one place of the run, or is a copy; of a few recurrences, two kinds must agree. */
bool oc_fold_is_part(const struct oc_folding *f, const struct oc_fold_content *c, const struct oc_fold *out);

/* ---- pauses ----------------------------------------------------------------------------------------- */

/* The longest pause of each segment: before launch `at`, between two symbols. */
struct oc_fold_pauses {
    size_t *at;
    double *ns, *ratio; /* to the second longest of the segment */
    uint32_t before, after;
    size_t n, same; /* number of segments, and of those with the pause between the most frequent symbols */
};

void oc_fold_find_gaps(struct oc_folding *f);
void oc_fold_find_pauses(const struct oc_folding *f, const struct oc_fold_level *l, struct oc_fold_pauses *p);
void oc_fold_free_pauses(struct oc_fold_pauses *p);
double oc_fold_median(const double *v, size_t n);

/* A pause that is the longest in most segments, by far, and always at the same place. */
bool oc_fold_is_clear(const struct oc_fold_pauses *p);

/* Pauses of a higher level: much longer than the others, after every `every`-th segment. */
struct oc_fold_long_pauses {
    size_t n, every; /* every 0: at no regular distance */
    bool doubtful;   /* at a distance that is regular only in part */
};
struct oc_fold_long_pauses oc_fold_find_long_pauses(const struct oc_fold_pauses *p, size_t spacing);

#define OC_FOLD_MIN_RUNS 3
#define OC_FOLD_MOST     0.8  /* of the runs */
#define OC_FOLD_LONGER   3.0  /* times the median: a pause of a higher level */
#define OC_FOLD_SKIP     8    /* launches that may differ */
#define OC_FOLD_DISTINCT 3    /* kernels of a run at least: fewer are a benchmark of one kernel */
#define OC_FOLD_ALIKE    0.15 /* ranges that differ less are the same work */

#endif
