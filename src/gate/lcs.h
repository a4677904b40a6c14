/* Longest common subsequence of two sequences: near-linear time for similar sequences, never quadratic for
 * long ones. Exact for short sequences; for long ones the result is a common subsequence that may be
 * shorter than the longest. */
#ifndef OC_LCS_H
#define OC_LCS_H

#include <stddef.h>
#include <stdint.h>

/* Called for every pair of positions with a[i] == b[j], each position at most once. The pairs are
 * order-preserving as a set, but calls may come in any order. */
typedef void (*oc_lcs_fn)(void *user, uint32_t i, uint32_t j);

void oc_lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, oc_lcs_fn report, void *user);

/* Longest ascending subsequence: marks its members in `keep` (n bytes of 0 or 1). The values are distinct. */
void oc_ascending(const uint32_t *value, uint32_t n, uint8_t *keep);

#endif
