/* What alloc_faults.so and alloc_runs share: a mapped file, named by $ALLOC_FAULTS. */
#ifndef ALLOC_FAULTS_H
#define ALLOC_FAULTS_H

#include <stdint.h>

enum { MAX_SITES = 1 << 20 };

struct alloc_faults {
    uint64_t fail_at;         /* the call that fails, 1 is the first; 0: none */
    uint64_t fail_on;         /* other than 0: and all that follow */
    uint64_t depth;           /* other than 0: fill site[], with so many callers */
    uint64_t calls, failed;   /* so far, of the program and its children */
    uint64_t site[MAX_SITES]; /* where each call came from, as a hash of the callers */
};

#endif
