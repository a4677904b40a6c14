/* Ranks in one trace: files of several processes that a tool has put together. Their numbers of launches are equal, so
 * that only number and process together say which call launched a kernel; a kernel names its device, not its process.
 *
 * Where the events of a process follow each other in the file, a kernel belongs to the process whose events are around
 * it. Otherwise to the only process with a launch of its number, or to the one that all such kernels of its device
 * belong to. */
#ifndef OC_RANKS_H
#define OC_RANKS_H

#include "profile/core/timeline.h"

enum { OC_MAX_RANKS = 4096, OC_RANK_SHIFT = 48 };

struct oc_rank_process {
    int64_t process;
    uint64_t launches, kernels;
};

struct oc_ranks {
    struct oc_rank_process *rank; /* heap, in the order of the file */
    uint32_t n, cap, now, turns;  /* turns: how often another process follows */
};

/* Notes the process of an event of the host; returns its rank, an index. */
uint32_t oc_ranks_host(struct oc_ranks *r, int64_t process);
/* The rank of device work at this place of the file. */
static inline uint32_t oc_ranks_here(const struct oc_ranks *r)
{
    return r->now;
}

/* The number of a launch together with its rank, and that of an operator; 0: none. */
uint64_t oc_ranks_launch(struct oc_ranks *r, uint32_t rank, uint64_t number, bool device);
uint32_t oc_ranks_owner(uint32_t rank, uint32_t number);

/* After reading: lanes of devices, whose process is a rank so far, get that of the rank; where processes alternate in
 * the file, kernels get their rank. One process: lanes of devices name none. Frees the list. */
void oc_ranks_settle(struct oc_ranks *r, struct oc_timeline *t);

#endif
