/* Process pool for numbered jobs, with the results in order. A result has a fixed part and a list of bytes. A
 * job that crashes, runs out of memory or is killed loses its own result only: a new worker replaces the
 * process. */
#ifndef OC_WORKER_POOL_H
#define OC_WORKER_POOL_H

#include "base/arena.h"
#include "base/diag.h"

enum oc_worker_pool_end {                           /* of a worker that did not finish its job */
                          OC_WORKER_POOL_SIGNAL,    /* `number` is the signal */
                          OC_WORKER_POOL_EXIT,      /* `number` is the exit code */
                          OC_WORKER_POOL_NO_MEMORY, /* the library ran out of memory */
};

struct oc_worker_pool {
    unsigned jobs; /* number of workers, at least 1 */
    size_t n;      /* jobs: 0 to n - 1 */
    size_t result_bytes;
    void *arg;
    /* In a worker process (fork): sets *result, which is zeroed, and appends to `bytes`, which is empty. Must
     * not print. */
    void (*work)(void *arg, size_t index, void *result, struct oc_buf *bytes);
    /* The other callbacks run in the caller's process. */
    void (*lost)(void *arg, size_t index, enum oc_worker_pool_end end, int number, void *result);
    /* In order; -1 stops the pool. */
    int (*done)(void *arg, size_t index, void *result, const char *bytes, size_t n_bytes, struct oc_err *err);
    const volatile int
        *stop; /* not 0 after a signal: started jobs are finished, no new ones start; NULL: never */
};

/* Results wait for earlier ones, at most a few thousand, or 64 MiB of their bytes. Workers start on demand
 * and ignore SIGINT. Returns 0 also when stopped; -1 if no worker can be started or from done. */
int oc_worker_pool_run(const struct oc_worker_pool *pool, struct oc_err *err);

#endif
