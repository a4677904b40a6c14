/* Input of the order search: steps, the buffers they touch, and precedence constraints. A buffer is live from
 * the first step that touches it (`input`: from the start) to the last one (`output`: to the end). */
#ifndef OC_REORDER_H
#define OC_REORDER_H

#include "base/arena.h"

struct oc_order_graph {
    uint32_t n_step, n_buffer;
    const uint32_t *touch_at, *touch; /* by step: distinct buffers, [touch_at[s], touch_at[s + 1]) */
    const uint32_t *needs_at, *needs; /* by step: steps that must precede it */
    const uint64_t *bytes;            /* by buffer */
    const bool *input, *output;       /* by buffer */
    const uint64_t *inner;            /* by step: temporary bytes */
    uint64_t base;                    /* bytes that are always live, in addition to the buffers */
    /* set by oc_order_link */
    const uint32_t *user_at, *user; /* by step: steps that need it */
    const uint32_t *by_at, *by;     /* by buffer: steps that touch it */
    uint64_t at_start;              /* bytes live before the first step */
    uint64_t once;                  /* bytes of unused inputs: live in the first step only */
};

/* Computes the derived members, in memory of the arena. */
void oc_order_link(struct oc_arena *arena, struct oc_order_graph *g);

/* The reversed problem: the reverse of a good order is a good order of the original. */
struct oc_order_graph oc_order_reverse(struct oc_arena *arena, const struct oc_order_graph *g);

/* Peak bytes of this order, and its (first) step, which may be NULL. */
uint64_t oc_order_peak(const struct oc_order_graph *g, const uint32_t *order, uint32_t *at);
bool oc_order_valid(const struct oc_order_graph *g,
                    const uint32_t *order); /* a permutation that respects the constraints */
uint64_t
oc_order_lower(const struct oc_order_graph *g); /* lower bound for any order: single steps, start and end */

/* ---- a run: steps executed so far and live buffers ----------------------------------------------- */

struct oc_order_run {
    const struct oc_order_graph *g;
    uint32_t *left;    /* by buffer: number of remaining steps that touch it */
    uint32_t *missing; /* by step: predecessors that have not run; OC_NONE: it has run itself */
    uint32_t *ready;   /* steps that can run, unordered */
    uint32_t *spot;    /* by step: its index in `ready` */
    uint32_t n_ready, done;
    uint64_t live;
};

void oc_order_run_open(struct oc_order_run *r,
                       const struct oc_order_graph *g); /* heap; oc_order_run_close frees it */
void oc_order_run_close(struct oc_order_run *r);
void oc_order_run_reset(struct oc_order_run *r);
/* Bytes live while step s runs next; *delta: change of the live bytes afterwards. */
uint64_t oc_order_run_cost(const struct oc_order_run *r, uint32_t s, int64_t *delta);
void oc_order_run_do(struct oc_order_run *r, uint32_t s);
void oc_order_run_undo(struct oc_order_run *r, uint32_t s); /* undoes the last step */

/* Runs every step that needs at most `bound` bytes and does not increase the live bytes: running such steps
 * first is never worse. Appends them to list[*n]. */
void oc_order_run_free_steps(struct oc_order_run *r, uint64_t bound, uint32_t *list, uint32_t *n);

/* ---- reorder ------------------------------------------------------------------------------------- */

/* Finds an order of the steps with a lower peak. The graph is split at steps that have the same position in
 * every order; each part gets greedy rules, a search that is exact if it completes, else searches in windows
 * around its peak. Deterministic; never worse than the given order (0, 1, 2 ...). */

struct oc_reorder {
    uint64_t before, after; /* peaks of the given order and of the new one */
    uint64_t lower;         /* lower bound of any order; equal to `after`: proven optimal */
    uint32_t parts;         /* number of parts */
    bool changed;
};

/* g is linked, its steps 0, 1, 2 ... are a valid order. work: about memory accesses, 0: a default of about a
 * second. order[n_step] is owned by the caller. */
void oc_reorder_make(const struct oc_order_graph *g, uint64_t work, uint32_t *order, struct oc_reorder *out);

/* ---- order search -------------------------------------------------------------------------------- */

/* Two ways to find an order with a low peak: greedy priority rules for any size, and a best-first search over
 * sets of executed steps (downsets), which is exact if it completes. */

/* The best order of several rules, forwards and backwards; its peak. */
uint64_t oc_order_greedy(const struct oc_order_graph *g, uint32_t *order);

struct oc_order_exact {
    bool solved;    /* `peak` is the minimum, or not above `enough` */
    bool found;     /* order was set: its peak is below `below` */
    uint64_t peak;  /* of the order found */
    uint64_t lower; /* lower bound of any order; above `enough` only if proven */
};

/* Searches for an order with a peak below `below`; stops at `enough`. Uses at most *work (about memory
 * accesses). beam 0: exact; else at most that many sets of each size are expanded, and nothing is proven. */
struct oc_order_exact oc_order_search(const struct oc_order_graph *g, uint32_t beam, uint64_t enough,
                                      uint64_t below, uint64_t *work, uint32_t *order);

#endif
