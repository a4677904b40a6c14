/* Finds the iterations of a loop in a sequence of numbers: the longest stretch in which each element
 * equals the one a period later. */
#ifndef OC_REPEAT_H
#define OC_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oc_repeat {
    size_t first, period, count; /* count >= 2 whole periods from `first`; rest: length of a partial period
                                  * after them */
    size_t rest;
};

/* False: there is no such loop, or it covers less than half of the sequence. n < 2^32. */
bool oc_find_repeat(const uint32_t *v, size_t n, struct oc_repeat *out);

#endif
