/* What two sequences have in common, in order: near-linear in time for sequences that are alike, never
 * quadratic for those that are not. Exact for short ones; for long ones a common subsequence that need not be
 * the longest. */
#ifndef OC_LCS_H
#define OC_LCS_H

#include <stddef.h>
#include <stdint.h>

/* Called for every pair of places, a[i] == b[j], each place once; i and j grow together over all pairs,
 * though not from call to call. */
typedef void (*oc_lcs_fn)(void *user, uint32_t i, uint32_t j);

void oc_lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, oc_lcs_fn tell, void *user);

/* Longest ascending subsequence: marks its members in `keep` (n bytes of 0 or 1). The values are distinct. */
void oc_ascending(const uint32_t *value, uint32_t n, uint8_t *keep);

#endif
