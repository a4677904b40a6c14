/* Private to the files of liveness analysis: liveness state of a graph and its bodies. */
#ifndef OC_LIVENESS_WALK_H
#define OC_LIVENESS_WALK_H

#include "analyze/engine.h"
#include "analyze/liveness.h"

struct oc_live_slot {
    struct oc_life l; /* last: that of the root of its group */
    uint32_t into;    /* buffer that it was merged into, itself, or OC_LIFE_CALLER */
    uint32_t tie;     /* union-find parent among buffers that die together (elements of a sequence) */
    uint32_t counted; /* liveness_sum.c: step + 1 that counted it last, 0: none */
    bool tied;        /* shared with others */
    bool fixed;       /* input of a body: never overwritten */
};

struct oc_live_builder { /* shared by a graph and its bodies, whose values are disjoint */
    const struct oc_analysis *a;
    const struct oc_model *m;
    struct oc_liveness_opts o;
    uint32_t *of;         /* by value, as in struct oc_liveness */
    uint32_t *host_reads; /* by value */
    uint32_t *made_by;    /* by value: scratch of liveness.c, OC_NONE between walks; NULL: file order */
    struct oc_live_slot *slot;
    uint32_t n, cap;
};

struct oc_live_walk { /* of one graph */
    struct oc_live_builder *b;
    const struct oc_graph *g;
    uint32_t base; /* its first slot */
    uint32_t *step, n, cap;
    uint64_t *live, *inner, peak, lower; /* inner: mostly 0, on untouched pages */
    uint32_t peak_step;
    uint8_t quality;
};

/* liveness_bytes.c: rounded up; 0 with quality OC_UNKNOWN if unknown */
uint64_t oc_live_bytes(const struct oc_live_builder *b, uint32_t value, uint8_t *quality);

/* liveness_walk.c: the liveness of one graph; freed by oc_live_walk_end, which also releases the buffers of a
 * body */
void oc_live_walk(struct oc_live_builder *b, uint32_t graph, bool main_graph, struct oc_live_walk *w);
void oc_live_walk_end(struct oc_live_walk *w, bool main_graph);
uint32_t oc_live_resolve(struct oc_live_builder *b, uint32_t slot);
uint32_t oc_live_tie_root(struct oc_live_builder *b, uint32_t slot);
/* The value's buffer in this graph; OC_LIFE_NONE also for one of an outer graph. */
uint32_t oc_live_own(const struct oc_live_walk *w, uint32_t value);
void oc_live_used(struct oc_live_walk *w, uint32_t value, uint32_t step);

/* liveness_reuse.c: outputs take over buffers that die */
void oc_live_reuse(struct oc_live_walk *w);
/* Whether the step's first output could reuse the buffer of the input value, if that dies. */
bool oc_live_may_reuse(const struct oc_live_walk *w, uint32_t step, uint32_t in);

/* liveness.c: sorts the steps into the runtime's order */
void oc_live_order(struct oc_live_walk *w, bool main_graph);

/* liveness_sum.c */
void oc_live_sum(struct oc_live_walk *w, bool main_graph);

#endif
