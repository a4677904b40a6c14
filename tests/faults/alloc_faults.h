/* Shared state of alloc_faults.so and alloc_runs: a mapped file, named by $ALLOC_FAULTS. */
#ifndef ALLOC_FAULTS_H
#define ALLOC_FAULTS_H

#include <stdint.h>

enum { MAX_SITES = 1 << 20 };

struct alloc_faults {
    uint64_t fail_at;         /* the call that fails, 1 is the first; 0: none */
    uint64_t fail_on;         /* non-zero: all later calls fail too */
    uint64_t depth;           /* non-zero: fill site[], with this many callers */
    uint64_t calls, failed;   /* number so far, of the program and its children */
    uint64_t site[MAX_SITES]; /* call site of each call, as a hash of the callers */
};

#endif
