/* Private to analyze/: one execution of the body of a Loop or Scan after another. */
#ifndef OC_LOOP_H
#define OC_LOOP_H

#include "analyze/control.h"

#define OC_MAX_STATES 64 /* carried values of one node */

struct oc_loop {
    uint32_t node, body;
    uint32_t first_state, n_state; /* carried values among the inputs of the node */
    uint32_t body_state;           /* first carried input of the body */
    uint32_t out_state;            /* first carried output of the body */
    bool counted;                  /* Loop: the body's first inputs are the trip number and the condition */
    bool scan8;                    /* Scan-8: the inputs of the node have a batch axis */
    bool unlimited;                /* Loop: M is absent or the largest integer */
    int64_t most;                  /* M of a Loop, trips of a Scan; -1: none or unknown */
    int go;                        /* the condition before the next trip: 1, 0, -1 unknown */
    struct oc_dim trips;           /* known, or a named unknown */
    struct oc_dim batch;           /* Scan-8 */
    size_t diags;                  /* warnings ... */
    uint32_t failed;               /* ... and failed nodes before the body */
    struct oc_type type[OC_MAX_STATES];        /* current carried types ... */
    const struct oc_data *data[OC_MAX_STATES]; /* ... and values; NULL: unknown */
};

/* loop.c */
/* Reads the inputs of the node: types and known values before the first trip. 0 or -1. */
int oc_loop_begin(struct oc_engine *e, uint32_t node, struct oc_loop *l);
/* Sets the inputs of the body before trip `at`, with the known values; at < 0: any trip, no values. */
void oc_loop_enter(struct oc_engine *e, const struct oc_loop *l, int64_t at);
/* Types, values and condition after a trip. Returns whether a type changed. */
bool oc_loop_leave(struct oc_engine *e, struct oc_loop *l);
/* The carried input i of the body, and the value of its next trip; OC_NONE: missing. */
uint32_t oc_loop_state_in(const struct oc_engine *e, const struct oc_loop *l, uint32_t i);
uint32_t oc_loop_state_out(const struct oc_engine *e, const struct oc_loop *l, uint32_t i);

/* trips.c */
/* The trips of a loop whose condition is computed from the trip number, constants and carried values that
 * follow from them. `trips` < 0: executes until the condition is false or l->most is reached, else that many
 * trips. Returns their number, -1: unknown. On success l has the values after the last trip. The values of
 * the body are left as in the last trip. */
int64_t oc_loop_evaluate(struct oc_engine *e, struct oc_loop *l, int64_t trips);

#endif
