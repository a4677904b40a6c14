/* Steps and the buffers they touch, as the search for an order sees them: what must come before what, and how
 * many bytes live when steps have run. A buffer lives from the first step that touches it (`input`: from the
 * start) to the last one (`output`: to the end). Knows nothing of operators. */
#ifndef OC_ORDER_GRAPH_H
#define OC_ORDER_GRAPH_H

#include "base/arena.h"

struct oc_order_graph {
    uint32_t n_step, n_buffer;
    const uint32_t *touch_at, *touch; /* by step: distinct buffers, [touch_at[s], touch_at[s + 1]) */
    const uint32_t *needs_at, *needs; /* by step: steps that come before it */
    const uint64_t *bytes;            /* by buffer */
    const bool *input, *output;       /* by buffer */
    const uint64_t *inner;            /* by step: bytes it needs for itself */
    uint64_t base;                    /* bytes that live all the time beside the buffers */
    /* set by oc_order_link */
    const uint32_t *user_at, *user; /* by step: steps that need it */
    const uint32_t *by_at, *by;     /* by buffer: steps that touch it */
    uint64_t at_start;              /* live before the first step */
    uint64_t once;                  /* bytes of inputs that nobody touches: live in the first step only */
};

/* Fills in the rest, in memory of the arena. */
void oc_order_link(struct oc_arena *arena, struct oc_order_graph *g);

/* The steps order[from] ... order[to - 1] alone, in that order, while those before have run and those behind
 * have not; g is linked, so is the result. place: scratch, by buffer of g, OC_NONE everywhere and again so
 * afterwards. where: position in `order` by step. */
struct oc_order_graph oc_order_part(struct oc_arena *arena, const struct oc_order_graph *g,
                                    const uint32_t *order, const uint32_t *where, uint32_t from, uint32_t to,
                                    uint32_t *place);

/* The same read backwards: the reverse of a good order is one of the original. */
struct oc_order_graph oc_order_reverse(struct oc_arena *arena, const struct oc_order_graph *g);

/* Most bytes in one step of this order, and of which (the first such; may be NULL). */
uint64_t oc_order_peak(const struct oc_order_graph *g, const uint32_t *order, uint32_t *at);
bool oc_order_valid(const struct oc_order_graph *g, const uint32_t *order); /* all steps, none too early */
uint64_t
oc_order_lower(const struct oc_order_graph *g); /* no order needs less: single steps, start and end */

/* ---- a run: steps done so far and what lives ------------------------------------------------------------
 */

struct oc_order_run {
    const struct oc_order_graph *g;
    uint32_t *left;    /* by buffer: steps still to touch it */
    uint32_t *missing; /* by step: needs that have not run; OC_NONE: it has run itself */
    uint32_t *ready;   /* steps that may run, in no order */
    uint32_t *spot;    /* by step: its place in `ready` */
    uint32_t n_ready, done;
    uint64_t live;
};

void oc_order_run_open(struct oc_order_run *r,
                       const struct oc_order_graph *g); /* heap; oc_order_run_close frees it */
void oc_order_run_close(struct oc_order_run *r);
void oc_order_run_reset(struct oc_order_run *r);
/* Bytes live while step s runs next; *delta: what is live afterwards beyond now. */
uint64_t oc_order_run_cost(const struct oc_order_run *r, uint32_t s, int64_t *delta);
void oc_order_run_do(struct oc_order_run *r, uint32_t s);
void oc_order_run_undo(struct oc_order_run *r, uint32_t s); /* the last step done */

/* Runs every step that needs no more than `bound` bytes and leaves no more live than before: whatever the
 * best rest is, such steps can as well come first. Appends them to list[*n]. */
void oc_order_run_free_steps(struct oc_order_run *r, uint64_t bound, uint32_t *list, uint32_t *n);

#endif
