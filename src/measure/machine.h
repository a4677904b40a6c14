/* Machine description of the operating system. On a virtual machine it may be wrong: these are hints for the
 * measurement, not results. */
#ifndef OC_MACHINE_H
#define OC_MACHINE_H

#include "base/arena.h"

#define OC_CACHE_LEVELS 4

struct oc_cache_claim {
    uint64_t bytes;     /* size of one; 0: there is none */
    unsigned instances; /* number among the measured processors */
    unsigned threads;   /* largest number of these processors that share one */
};

struct oc_machine {
    const char *model, *vendor; /* "Intel Xeon Processor", "Intel" */
    const char *system;         /* "Linux 6.1.0 x86_64" */
    bool is_virtual;
    unsigned processors;                          /* processors available to the process */
    struct oc_cache_claim cache[OC_CACHE_LEVELS]; /* data, by level: [0] is L1 */
    uint64_t memory_bytes, available_bytes;       /* 0: unknown */
};

/* threads: only the first so many processors count. Texts are in the arena. */
void oc_machine_ask(struct oc_arena *a, unsigned threads, struct oc_machine *out);

#endif
