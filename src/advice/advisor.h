/* Shared by the rules: the kernels of a run, their connections in the graph, and the construction of
 * suggestions. Private to advice/. */
#ifndef OC_ADVISOR_H
#define OC_ADVISOR_H

#include <math.h>

#include "advice/advice.h"
#include "join/join.h"

struct oc_piece {             /* a unit of execution: a row of the report */
    const struct oc_row *row; /* of a report that stores none a blank one */
    const uint32_t *node;     /* nodes of the model, if there is one */
    uint32_t one;             /* capacity of node */
    uint32_t n_node;
    const char *name, *type, *bucket; /* bucket: reason why it is not an operator of the model; NULL: it may
                                       * be one */
    const struct oc_prof_rec *rec;    /* NULL without a profile */
    double computation;               /* of all runs; NAN */
    double time_ns, bytes, calls;     /* per run; NAN */
    bool told;                        /* as an operator that is fused into another one */
};

struct oc_advisor {
    struct oc_report *r;
    struct oc_arena *arena;   /* of the result */
    struct oc_arena scratch;  /* what rules need while they run */
    const struct oc_model *m; /* NULL: none */
    const struct oc_analysis *a;
    const struct oc_profile *p;
    const struct oc_join *j;
    const struct oc_device *d;
    struct oc_piece *piece;
    uint32_t n_piece;
    struct oc_row room; /* the row of all pieces where the report stores none */
    uint32_t *piece_of; /* by node, OC_NONE; NULL without a model */
    uint32_t *user;     /* by value: its only consumer, OC_NONE: none or several, or it is an output */
    bool *from_inputs;  /* by value, where dimensions are open: it depends on an input; NULL: not found yet */
    struct oc_advice_item *newest; /* of all that were made, kept or not */
    struct oc_advice *out;
};

/* Rules by family. */
void oc_advise_layout(struct oc_advisor *x);
void oc_advise_copies(struct oc_advisor *x);
void oc_advise_fallbacks(struct oc_advisor *x);
void oc_advise_fusion(struct oc_advisor *x);
void oc_advise_chains(struct oc_advisor *x);
void oc_advise_tiny(struct oc_advisor *x);
void oc_advise_fp32(struct oc_advisor *x);
void oc_advise_alignment(struct oc_advisor *x);
void oc_advise_causes(struct oc_advisor *x);
void oc_advise_qdq(struct oc_advisor *x);
void oc_advise_rates(struct oc_advisor *x);
void oc_advise_dynamic(struct oc_advisor *x);
void oc_advise_idle(struct oc_advisor *x);
void oc_advise_dataloader(struct oc_advisor *x);

/* Whether a runtime computes the results of the node in every run because dimensions are open, though the analysis has them. */
bool oc_advise_is_shape_work(struct oc_advisor *x, uint32_t node);

struct oc_anomaly; /* report/headline.h */
/* Sets the causes of n anomalies of the recording. */
void oc_advise_anomalies(struct oc_advisor *x, struct oc_anomaly *a, uint32_t n);

/* ---- suggestions ------------------------------------------------------------------------------------ */

/* A suggestion; it is part of the result after oc_advice_keep. */
struct oc_advice_item *oc_advice_new(struct oc_advisor *x, const char *id, const char *title);
void oc_advice_prove(struct oc_advice_item *f, const struct oc_piece *p, double time_ns, const char *text);
void oc_advice_prove_node(struct oc_advisor *x, struct oc_advice_item *f, uint32_t node, const char *text);
/* Adds it to the result unless its saving is at most a thousandth of a run. */
void oc_advice_keep(struct oc_advisor *x, struct oc_advice_item *f);
const char *oc_advice_time(struct oc_advisor *x, double ns);     /* "1.25 ms (12.3 % of a run)" */
const char *oc_advice_duration(struct oc_advisor *x, double ns); /* "1.25 ms" */
const char *oc_advice_bytes(struct oc_advisor *x, double bytes);

/* ---- the graph -------------------------------------------------------------------------------------- */

static inline bool oc_piece_timed(const struct oc_piece *p)
{
    return p->time_ns > 0;
}
bool oc_type_in(const char *type, const char *types); /* types: " Relu Clip " */
/* Whether the node is executed in a run. */
bool oc_advisor_runs(const struct oc_advisor *x, uint32_t node);
/* The node that produces the value, followed through views; OC_NONE: none. */
uint32_t oc_advisor_producer(const struct oc_advisor *x, uint32_t value);
double oc_advisor_value_bytes(const struct oc_advisor *x, uint32_t value);        /* NAN: unknown */
bool oc_advisor_is(const struct oc_advisor *x, uint32_t node, const char *types); /* OC_NONE: false */
const char *oc_advisor_name(struct oc_advisor *x, uint32_t node);

#endif
