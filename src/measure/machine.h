/* What the system says of the machine it runs on. A virtual machine may claim what its programs do not get:
 * these are hints for what to measure, not results. */
#ifndef OC_MACHINE_H
#define OC_MACHINE_H

#include "base/arena.h"

#define OC_CACHE_LEVELS 4

struct oc_cache_claim {
    uint64_t bytes;     /* of one; 0: there is none */
    unsigned instances; /* among the processors that are measured */
    unsigned threads;   /* of these processors that share one: at most */
};

struct oc_machine {
    const char *model, *vendor; /* "Intel Xeon Processor", "Intel" */
    const char *system;         /* "Linux 6.1.0 x86_64" */
    bool is_virtual;
    unsigned processors;                          /* that the process may use */
    struct oc_cache_claim cache[OC_CACHE_LEVELS]; /* data, by level: [0] is L1 */
    uint64_t memory_bytes, available_bytes;       /* 0: not known */
};

/* threads: the first so many processors are meant. Texts live in the arena. */
void oc_machine_ask(struct oc_arena *a, unsigned threads, struct oc_machine *out);

#endif
