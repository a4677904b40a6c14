/* Liveness analysis of buffers (cost-semantics section 7). The peak of every analysis, the memory report and
 * arena plans use its live ranges. A step is an executed node, in order; bodies of local
 * functions replace their calls. A buffer is live from the step of its producer to that of its last reader,
 * both included: graph inputs from step 0, graph outputs to the last step. Views (cost-semantics 5.3) share
 * the buffer of their source. Constants, folded nodes and values that only the host reads (shapes)
 * have none. While a control-flow node runs, the bodies add their own peak to its step (`inner`):
 * loop-carried state counts twice, as input of the body and as output of the node; outputs of a scan count in
 * full from the first trip. Sizes are bytes; an unknown size counts 0 and makes the quality OC_UNKNOWN. */
#ifndef OC_LIVENESS_H
#define OC_LIVENESS_H

#include "analyze/analysis.h"
#include "analyze/engine.h"
#include "onnxcost_types.h"

enum oc_node_order {
    OC_ORDER_FILE,
    OC_ORDER_ORT /* of ONNX Runtime's sequential executor */
};

struct oc_liveness_opts {
    uint64_t align;      /* every buffer is rounded up to a multiple; 0: not */
    bool without_inputs; /* graph inputs and views of them belong to the caller and do not count */
    bool keep_inputs;    /* graph inputs stay live to the end */
    bool inplace;        /* element-wise and scatter operators reuse an input buffer that dies there */
    bool all;            /* without constant folding: folded nodes and shapes have buffers too */
    uint8_t kv_share;    /* enum oc_kv_share: past and present of attention operators share one buffer */
    enum oc_node_order order;
    /* By node: place in a recorded run, which replaces `order` in the main graph if it has every step, each
     * after its inputs; OC_NONE: not recorded. NULL: none. Must outlive the result. */
    const uint32_t *place;
};

/* The options of the analysis. */
struct oc_liveness_opts oc_liveness_opts_of(const struct oc_analysis *a);

struct oc_life {
    uint64_t bytes;       /* rounded up */
    uint32_t value;       /* the value it was created for; others may share it (views, in place) */
    uint32_t first, last; /* steps, first <= last */
    bool input, output; /* holds a graph input, a graph output; both: passed through, or a shared KV cache */
    uint8_t quality;    /* enum oc_quality of bytes; OC_UNKNOWN: bytes is 0, OC_LOWER: contains strings */
};

#define OC_LIFE_NONE   UINT32_MAX       /* the value takes no memory */
#define OC_LIFE_CALLER (UINT32_MAX - 1) /* it is in the caller's memory (without_inputs) */

struct oc_liveness {
    struct oc_arena arena;
    const struct oc_analysis *a;
    struct oc_liveness_opts opts;
    const uint32_t *step; /* node ids */
    uint32_t n_step;
    const struct oc_life *life; /* inputs, then in order of production */
    uint32_t n_life;
    const uint32_t *of_value; /* by value of the model, as oc_life_of says; NULL: a body */
    const struct oc_own_life {
        uint32_t value, life;
    } * own; /* of a body: its values, in order */
    uint32_t n_own;
    const uint64_t *live;  /* by step: bytes of the live buffers and `inner` */
    const uint64_t *inner; /* by step: largest peak of the bodies of a control-flow node, else 0 */
    uint64_t peak, lower;  /* largest of `live`; no order of the steps needs less than `lower` */
    uint32_t peak_step;    /* the first with the peak; OC_NONE without steps */
    uint8_t quality;       /* enum oc_quality of peak and lower */
};

/* Liveness of one graph: 0 is the model's main graph; a body is analysed on its own, without its captures.
 * The analysis must outlive it. */
struct oc_liveness *oc_liveness_make(const struct oc_analysis *a, uint32_t graph,
                                     const struct oc_liveness_opts *opts);
void oc_liveness_free(struct oc_liveness *l);

/* Of many bodies of one model, in turn: each takes time by its own size. */
struct oc_liveness_maker;
struct oc_liveness_maker *oc_liveness_maker_new(const struct oc_analysis *a,
                                                const struct oc_liveness_opts *opts);
struct oc_liveness *oc_liveness_of_body(struct oc_liveness_maker *k, uint32_t body);
/* Of the node's body with the largest peak; NULL: no body of the node runs. */
struct oc_liveness *oc_liveness_of_largest(struct oc_liveness_maker *k, uint32_t node);
void oc_liveness_maker_free(struct oc_liveness_maker *k);

/* The buffer of a value: index into life, OC_LIFE_NONE or OC_LIFE_CALLER. */
uint32_t oc_life_of(const struct oc_liveness *l, uint32_t value);

/* Slots of the keys (k 0) and the values (k 1) of a KV cache of the operator; false: none, or both in one. */
bool oc_cache_slots(const struct oc_node *n, unsigned k, uint32_t *in, uint32_t *out);

/* ---- liveness walk ------------------------------------------------------------------------------------ */

/* Private to the files of liveness analysis: liveness state of a graph and its bodies. */

struct oc_live_slot {
    struct oc_life l; /* last: that of the root of its group */
    uint32_t into;    /* buffer that it was merged into, itself, or OC_LIFE_CALLER */
    uint32_t tie;     /* union-find parent among buffers that die together (elements of a sequence) */
    uint32_t counted; /* step + 1 that counted it last, 0: none */
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
    bool has_caches; /* some operator has a KV cache */
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

/* Rounded up; 0 with quality OC_UNKNOWN if unknown */
uint64_t oc_live_bytes(const struct oc_live_builder *b, uint32_t value, uint8_t *quality);

/* liveness_walk.c: the liveness of one graph; freed by oc_live_walk_end, which also releases the buffers of a
 * body */
void oc_live_walk(struct oc_live_builder *b, uint32_t graph, bool main_graph, struct oc_live_walk *w);
void oc_live_walk_end(struct oc_live_walk *w, bool main_graph);
uint32_t oc_live_resolve(struct oc_live_builder *b, uint32_t slot);
/* The value's buffer in this graph; OC_LIFE_NONE also for one of an outer graph. */
uint32_t oc_live_own(const struct oc_live_walk *w, uint32_t value);

/* Outputs take over buffers that die */
void oc_live_reuse(struct oc_live_walk *w);
/* Whether the step's first output could reuse the buffer of the input value, if that dies. */
bool oc_live_may_reuse(const struct oc_live_walk *w, uint32_t step, uint32_t in);

/* liveness.c: sorts the steps into the runtime's order */
void oc_live_order(struct oc_live_walk *w, bool main_graph);

#endif
