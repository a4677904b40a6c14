/* Results of a search for the version that changed the time (bisect.c), for their writer. */
#ifndef OC_BISECT_H
#define OC_BISECT_H

#include "trial/trial.h"

/* Two versions that were compared. */
struct oc_bisect_step {
    uint32_t from, to; /* versions */
    struct oc_comparison c;
    bool shown;    /* at the level of its look, which is stricter than that of the interval */
    bool confirms; /* measured again after the search had found it */
};

struct oc_bisect {
    struct oc_arena arena;
    struct oc_trials trials;
    struct oc_library_info *library; /* heap; by version, the oldest first */
    enum oc_trial_figure figure;
    uint32_t most;
    const char *model_path;
    struct oc_bisect_step *step; /* heap, in the order in which they were measured */
    uint32_t n_step, cap_step;
    uint32_t *found; /* heap: indices of the confirming steps, in the order of versions */
    uint32_t n_found, cap_found;
    uint32_t *vague; /* heap: steps that show a change of which no part is shown */
    uint32_t n_vague, cap_vague;
    bool *measured; /* arena, by version */
};

/* Searches among the variants of b->trials, which are in the order of their versions; `most` 0: the usual number. */
int oc_bisect_search(struct oc_bisect *b, bool all, struct oc_err *err);

#endif
