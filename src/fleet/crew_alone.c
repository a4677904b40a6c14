/* Where the system has no fork: the jobs run in order in this process. */
#include "fleet/crew.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"

int oc_crew_run(const struct oc_crew *crew, struct oc_err *err)
{
    void *result = oc_xmalloc(crew->result_bytes);
    struct oc_buf bytes = {0};
    int rc = 0;
    for (size_t i = 0; i < crew->n && !rc && !(crew->stop && *crew->stop); i++) {
        memset(result, 0, crew->result_bytes);
        oc_buf_clear(&bytes);
        if (!crew->ready || !crew->ready(crew->arg, i, result))
            crew->work(crew->arg, i, result, &bytes);
        rc = crew->done(crew->arg, i, result, bytes.data, bytes.n, err);
    }
    oc_buf_free(&bytes);
    free(result);
    return rc;
}
