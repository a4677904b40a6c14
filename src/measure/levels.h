/* Levels of memory: where each one ends, and how fast it is. What the system claims about caches says where
 * to look; a working set that grows shows where one core's bandwidth falls. */
#ifndef OC_LEVELS_H
#define OC_LEVELS_H

#include "measure/machine.h"
#include "measure/rates.h"

#define OC_MEMORY_LEVELS (OC_CACHE_LEVELS + 1)
#define OC_LEVEL_MODES   (2 * OC_STREAM_MODES) /* the second half: with stores past the caches */

struct oc_level_rates {
    char name[8];                /* "L1" ... "DRAM" */
    struct oc_cache_claim claim; /* none for DRAM */
    uint64_t border_bytes;       /* of one cache: where bandwidth falls; 0: nowhere, or DRAM */
    bool agrees;                 /* the border is about where the system claims */
    uint64_t size_bytes; /* of one cache: the claim if it agrees or there is no border, else the border */
    struct oc_stream_place one, all;
    struct oc_rate rate[2][OC_LEVEL_MODES]; /* [0] one core, [1] all; best 0: not measured */
};

struct oc_level_effort {
    size_t most_bytes, least_bytes; /* memory that DRAM is measured with, all threads together */
    double touch_s;                 /* getting it may take so long, then less is used */
    struct oc_effort sweep, cache, dram;
};

struct oc_levels {
    struct oc_level_rates level[OC_MEMORY_LEVELS];
    unsigned n;
    size_t block_bytes; /* that was worked with */
    double flatness;    /* one core's rate at all of it to that at half of it: near 1 beyond all caches */
};

/* progress may be NULL. */
int oc_levels_measure(struct oc_team *team, unsigned threads, const struct oc_machine *machine,
                      uint32_t features, const struct oc_level_effort *effort,
                      void (*progress)(void *user, const char *what), void *user, struct oc_levels *out,
                      struct oc_err *err);

const char *oc_level_mode_name(unsigned mode); /* "copy-nt" */

#endif
