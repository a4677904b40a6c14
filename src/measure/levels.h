/* Memory hierarchy: size and bandwidth of each level. The reported cache sizes are a hint where to search; a
 * growing working set shows where one core's bandwidth drops. */
#ifndef OC_LEVELS_H
#define OC_LEVELS_H

#include "measure/machine.h"
#include "measure/rates.h"

#define OC_MEMORY_LEVELS (OC_CACHE_LEVELS + 1)
#define OC_LEVEL_MODES   (2 * OC_STREAM_MODES) /* non-temporal stores, in the second half */

struct oc_level_rates {
    char name[8];                /* "L1" ... "DRAM" */
    struct oc_cache_claim claim; /* none for DRAM */
    uint64_t border_bytes;       /* of one cache: where the bandwidth drops; 0: nowhere, or DRAM */
    bool agrees;                 /* the measured size agrees with the reported one */
    uint64_t size_bytes; /* of one cache: the reported size if it agrees or none was measured, else the
                            measured size */
    struct oc_stream_place one, all;
    struct oc_rate rate[2][OC_LEVEL_MODES]; /* [0] one core, [1] all; best 0: not measured */
};

struct oc_level_effort {
    size_t most_bytes, least_bytes; /* memory for the DRAM measurement, all threads together */
    double touch_s;                 /* time limit of the allocation; then less memory is used */
    struct oc_effort sweep, cache, dram;
};

struct oc_levels {
    struct oc_level_rates level[OC_MEMORY_LEVELS];
    unsigned n;
    size_t block_bytes; /* working set used */
    double flatness;    /* rate of one core with all of it to the rate with half of it: near 1 outside of all
                           caches */
};

/* progress may be NULL. */
int oc_levels_measure(struct oc_team *team, unsigned threads, const struct oc_machine *machine,
                      uint32_t features, const struct oc_level_effort *effort,
                      void (*progress)(void *user, const char *what), void *user, struct oc_levels *out,
                      struct oc_err *err);

const char *oc_level_mode_name(unsigned mode); /* "copy-nt" */

#endif
