/* Private to trial/: processes that measure one variant each, in turns. */
#ifndef OC_TRIAL_H
#define OC_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "onnxcost/trial.h"
#include "report/comparison.h"

/* One runtime with one set of options. */
struct oc_variant {
    const char *label;
    struct oc_record_opts opts;
    const char *failed; /* why it cannot run the model; NULL: it can, or was not tried */
    enum oc_code code;  /* of that error */
};

struct oc_trial { /* one process */
    struct oc_record_time time;
    bool loaded;
    /* see oc_record_info; turn_ns: arena */
    double probe_ns, fastest_probe_ns, turns_id;
    double *turn_ns;
    uint32_t n_turn;
};

struct oc_trials {
    struct oc_arena *a;
    /* Measures n variants (indices), each in a process of its own; *failed as in oc_record_in_turns, which oc_trials_begin
     * sets; a test sets its own. */
    int (*run)(struct oc_trials *t, const uint32_t *member, size_t n, struct oc_trial *out, size_t *failed,
               struct oc_err *err);
    void *arg; /* of a test */
    const struct oc_model *model;
    const struct oc_analysis *analysis;
    struct oc_variant *variant; /* heap: the owner of the trials frees it */
    uint32_t n, cap;
    double fastest_probe_ns; /* of all processes; 0: not known */
    uint32_t may_repeat;     /* disturbed processes without turns that may still be repeated */
    uint32_t part, parts;    /* the round that runs, of so many of its group at most */
    double group_from_s;     /* when the group began, on the monotonic clock */
    struct oc_trial_counts counts;
};

enum { OC_MOST_ROUNDS = 100, OC_USUAL_ROUNDS = 8 };

/* Variants that are measured together, one process of each in a round; they take turns, if there is memory for all. */
struct oc_trial_group {
    struct oc_trials *trials;
    const uint32_t *member; /* indices of variants */
    uint32_t n, rounds;
    uint32_t most;                          /* rounds that will be made at most */
    struct oc_trial *trial[OC_MOST_ROUNDS]; /* by round: n processes, arena; not in the order of time */
};

void oc_trials_begin(struct oc_trials *t, struct oc_arena *a, const struct oc_model *m,
                     const struct oc_analysis *analysis);
/* Adds a variant; its options are completed for a trial. */
struct oc_variant *oc_trials_add(struct oc_trials *t, const char *label, const struct oc_record_opts *opts);

/* Measures one more round, in the order of the members or, as in ABBA BAAB, the reverse one. A member that fails gets its
 * reason and ends the round. Returns -1 only when it was interrupted or nothing can work. */
int oc_trial_round(struct oc_trial_group *g, struct oc_err *err);
/* Whether a member has failed. */
bool oc_trial_group_failed(const struct oc_trial_group *g);

/* Member `b` against member `a` (positions in the group). */
void oc_trial_compare(const struct oc_trial_group *g, uint32_t a, uint32_t b, enum oc_trial_figure figure,
                      struct oc_comparison *out);

/* How many rounds are made at most: those that are given, in the range that there is; 0: the usual number. */
uint32_t oc_trial_rounds(uint32_t given);

/* Whether enough is known after these rounds to look at the result: after 3, 5 and the most. The level is that of the
 * look, so that all of them together are wrong in at most 6 of 100 cases. */
bool oc_trial_may_look(uint32_t rounds, uint32_t most, uint32_t n_tests, double *level);

const char *oc_trial_figure_name(enum oc_trial_figure f); /* "latency", "session", "first-run" */

#endif
