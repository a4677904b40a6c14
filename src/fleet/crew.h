/* Numbered pieces of work done by several processes, with the results in order. A piece that crashes, runs
 * out of memory or is killed costs its own result only: a new process takes over. Knows nothing of what the
 * work is. */
#ifndef OC_CREW_H
#define OC_CREW_H

#include "base/diag.h"

enum oc_crew_end {                    /* of a process that did not finish its piece */
                   OC_CREW_SIGNAL,    /* `number` is the signal */
                   OC_CREW_EXIT,      /* `number` is the exit code */
                   OC_CREW_NO_MEMORY, /* the library ran out of memory */
};

struct oc_crew {
    unsigned jobs; /* processes, at least 1 */
    size_t n;      /* pieces: 0 to n - 1 */
    size_t result_bytes;
    void *arg;
    /* In a process made by fork(): fills *result, which is all zero. It may not print. */
    void (*work)(void *arg, size_t index, void *result);
    /* The rest in the caller's process. Whether the result is there without work, and if so fills it. */
    bool (*ready)(void *arg, size_t index, void *result);
    void (*lost)(void *arg, size_t index, enum oc_crew_end end, int number, void *result);
    int (*done)(void *arg, size_t index, void *result, struct oc_err *err); /* in order; -1 ends it all */
    const volatile int *stop; /* not 0 after a signal: what was begun is finished, no more; NULL: never */
};

/* Results wait for those before them, a few thousand at most. Processes start when there is work for them and
 * take no notice of SIGINT. Returns 0 also when it was stopped; -1 if no process can be started or from done.
 */
int oc_crew_run(const struct oc_crew *crew, struct oc_err *err);

#endif
