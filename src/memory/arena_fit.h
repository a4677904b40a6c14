/* Parts of the arena planner: boxes of one connected interval of steps, placement in a given order, and
 * searches for a better order. Boxes are sorted by their first step; sizes are rounded and not 0. */
#ifndef OC_ARENA_FIT_H
#define OC_ARENA_FIT_H

#include "base/arena.h"
#include "memory/arena_plan.h"

struct oc_fit {
    const struct oc_box *box;
    uint32_t n, n_step; /* steps count from 0 */
    uint32_t *earlier;  /* boxes before i in the list that share a step with it: [start[i], start[i + 1]) */
    uint64_t *start;    /* NULL: too many pairs, only oc_fit_skyline is possible */
    uint32_t *later;    /* boxes i + 1 ... later[i] - 1 share a step with i */
    uint64_t *weight;   /* live bytes by step */
    uint64_t best, target; /* smallest size so far; lower bound */
    uint64_t *best_offset, *offset;
    uint32_t *best_order, *order;
    const char *method;
    uint64_t work;   /* remaining work */
    void *scratch;   /* of oc_fit_order */
    bool exhaustive; /* best is the lower bound */
};

/* The arrays of boxes stay owned by the caller. */
void oc_fit_open(struct oc_fit *f, const struct oc_box *box, uint32_t n, uint64_t work);
void oc_fit_close(struct oc_fit *f);

/* Places the boxes in f->order: first fit (lowest offset) or best fit (smallest gap) among the placed boxes
 * that share steps. Keeps the result if it is the best so far. Returns the size, UINT64_MAX when aborted
 * because it exceeded `limit`. */
uint64_t oc_fit_order(struct oc_fit *f, bool smallest_gap, uint64_t limit, const char *method);

/* Places each box above everything placed in its steps: fast, leaves gaps. */
uint64_t oc_fit_skyline(struct oc_fit *f, const char *method);

/* In order of time, with a list of live boxes: needs no pairs. UINT64_MAX when the work limit was reached. */
uint64_t oc_fit_time(struct oc_fit *f, bool smallest_gap, const char *method);

/* Stores f->offset as the best placement if `size` is smaller than the best so far. */
void oc_fit_keep(struct oc_fit *f, uint64_t size, const char *method);

void oc_fit_spend(struct oc_fit *f, uint64_t work);

void oc_fit_search(struct oc_fit *f); /* local search over orders, until the work is used up */
void oc_fit_exact(struct oc_fit *f);  /* branch and bound, for few boxes */

#endif
