/* Where the system has no fork: the jobs run in order in this process. */
#include "fleet/worker_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

int oc_worker_pool_run(const struct oc_worker_pool *pool, struct oc_err *err)
{
    void *result = oc_xmalloc(pool->result_bytes);
    struct oc_buf bytes = {0};
    int rc = 0;
    for (size_t i = 0; i < pool->n && !rc && !(pool->stop && *pool->stop); i++) {
        memset(result, 0, pool->result_bytes);
        oc_buf_clear(&bytes);
        pool->work(pool->arg, i, result, &bytes);
        rc = pool->done(pool->arg, i, result, bytes.data, bytes.n, err);
    }
    oc_buf_free(&bytes);
    free(result);
    return rc;
}
