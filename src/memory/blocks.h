/* A block of memory that grows at its end: takes and gives back pieces like an allocator, in O(log n) each.
 */
#ifndef OC_BLOCKS_H
#define OC_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct oc_blocks;

/* For at most n pieces. Best fit takes the smallest gap, otherwise first fit the lowest one; equal gaps: the
 * lowest. */
struct oc_blocks *oc_blocks_open(uint32_t n, bool best_fit);
/* Places piece i, 0 ... n - 1, each once; bytes are not 0. Returns its offset. */
uint64_t oc_blocks_take(struct oc_blocks *b, uint32_t i, uint64_t bytes);
void oc_blocks_give(struct oc_blocks *b, uint32_t i);
void oc_blocks_close(struct oc_blocks *b);

#endif
